# SPDX-License-Identifier: GPL-2.0-or-later
# sm-failover: two HCAs back to back with an OpenSM each: on n0 of priority 1, on n1 of priority 9, which comes later. It
# asks its master every second, and takes over when two questions remain unanswered.
# Expected: SMInfo Get and GetResp; n0's OpenSM, which is master first, finds the other and hands over: SMInfo Set with
# attribute modifier 1 (HANDOVER). n1's sets ClientReregister, and n0 joins its groups there. Then n1's is killed; n0's
# notices by its polling and takes over, without a word to anyone; n1 joins again. At last n1's is started a second
# time: handover once more; then it is ended politely, but says nothing of it, so that n0's takes over as before.
# findings: noted sm.failover-rejoin sm.takeover-causes
#   Two hand-overs (SMInfo Set) and two takings-over; each time the SA answers from the other LID.
opensm -c /tmp/sm.conf >/dev/null
sed -i 's/^\(sminfo_polling_timeout\) .*/\1 1000/; s/^\(polling_retry_number\) .*/\1 2/' /tmp/sm.conf
second_sm() {   # on n1; its process is $FABRIC_SM2
    mkdir -p /tmp/osm2
    OSM_CACHE_DIR=/tmp/osm2 OSM_TMP_DIR=/tmp/osm2 \
        opensm -F /tmp/sm.conf -g 0x0011750000000110 -p 9 -f /tmp/osm2/log >/tmp/osm2/out 2>&1 &
    FABRIC_SM2=$!
}
both_ping() { fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 1 ping -c 2 -i 0.2 10.0.0.1; }
fabric_up && fabric_capture sm-failover.pcap && fabric_sm -F /tmp/sm.conf -p 1 && fabric_nets && both_ping || return 1
second_sm; fabric_await /tmp/osm2/out 'MASTER' && sleep 2 && both_ping || return 1
: > /tmp/osm/out
kill -KILL $FABRIC_SM2; wait $FABRIC_SM2 2>/dev/null
both_ping && fabric_await /tmp/osm/out 'MASTER' && sleep 2 && both_ping || return 1
second_sm; fabric_await /tmp/osm2/out 'MASTER' && sleep 2 && both_ping || return 1
: > /tmp/osm/out
kill $FABRIC_SM2; wait $FABRIC_SM2 2>/dev/null
fabric_await /tmp/osm/out 'MASTER' && sleep 2 && both_ping || return 1
fabric_capture_end

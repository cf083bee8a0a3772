# SPDX-License-Identifier: GPL-2.0-or-later
# sm-failover: two HCAs back to back with an OpenSM each: on n0 with priority 1, on n1 with priority 9, which starts later. A
# standby OpenSM polls the master every second, and takes over when two polls get no response.
# Expected: SMInfo Get and GetResp. n0's OpenSM, the first master, finds the other and hands over: SMInfo Set with
# attribute modifier 1 (HANDOVER). n1's OpenSM sets ClientReregister, and n0 joins its groups again. Then n1's is killed; n0's
# detects this by its polling and takes over without announcing it; n1 joins again. Finally n1's is started a second
# time: another handover. It is then terminated by a signal, announces nothing, and n0's takes over as before.
# findings: noted sm.failover-rejoin sm.takeover-causes
#   Two handovers (SMInfo Set) and two takeovers; each time the SA responds from the other LID.
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

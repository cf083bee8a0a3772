# SPDX-License-Identifier: GPL-2.0-or-later
# switch4: four HCAs on a switch in datagram mode, with all kinds of SA traffic. OpenSM runs on the first;
# n3 sends the requests, so that the responses cross the wire.
# Expected: all pairs ARP and ping; a ServiceRecord is set, read and deleted; InformInfo subscriptions to traps 66
# and 67, their Reports (with responses, and repeated while there is none), groups that are created and deleted, GetTable of
# MCMemberRecord, PathRecord, NodeRecord, PortInfoRecord and InformInfoRecord in several RMPP segments.
# findings: noted rfc4391.11.router-nonmember-join
#   sa-watch subscribes to traps 66 and 67 of all groups, as RFC 4391 section 11 says for a multicast router.
fabric_up topo=1 nhca=4 && fabric_capture switch4.pcap && fabric_sm && fabric_nets || return 1
for a in 0 1 2 3; do
    for b in 0 1 2 3; do
        [ $a = $b ] || fabric_on $a ping -q -c 1 10.0.0.$((b+1)) || return 1
    done
done
watcher=$(ls /sys/class/infiniband | sort -V | tail -1)
for n in 0 1 2 3; do fabric_on $n sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0; done
sa-watch "$watcher" 60 > /tmp/watch & pid=$!
fabric_await /tmp/watch '^subscribe 67' && fabric_join 1 ib1 239.10.20.30 && fabric_join 2 ib2 239.10.20.30 &&
    fabric_join 2 ib2 ff15::10:20 && fabric_on 3 ping -c 4 -i 0.3 -I ib3 239.10.20.30 &&
    fabric_on 3 ping -6 -c 4 -i 0.3 -I ib3 ff15::10:20 || return 1
fabric_leave
fabric_join 1 ib1 239.10.20.32 || return 1
sleep 0.5; fabric_leave; sleep 0.7
echo "saquery IIR: $(saquery -C "$watcher" -P 1 IIR | grep -c dump) records"
fabric_await /tmp/watch 'trap 67' && kill $pid; wait $pid; rc=$?; cat /tmp/watch; [ $rc = 0 ] || return 1
for what in MCMR PR NR PIR SR; do
    echo "saquery $what: $(saquery -C "$watcher" -P 1 $what | grep -c dump) records"
done
saquery -C "$watcher" -P 1 --src-to-dst "$(cat /sys/class/infiniband/"$watcher"/ports/1/lid):1" | grep -c dump
sa-watch "$watcher" 6 mute > /tmp/watch-mute & pid=$!
fabric_await /tmp/watch-mute '^subscribe 67' && fabric_join 1 ib1 239.10.20.31 || return 1
sleep 0.5; fabric_leave
wait $pid; rc=$?; cat /tmp/watch-mute; [ $rc = 0 ] || return 1
fabric_capture_end

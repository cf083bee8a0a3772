# SPDX-License-Identifier: GPL-2.0-or-later
# mlid-change: three HCAs on a switch. n1 joins 239.1.2.3; n2 pings it, and so joins it as a send-only member. n1 leaves it, and
# n2 leaves it some seconds after its last packet (with a short lifetime of the kernel's neighbour entries), so that the SA
# deletes the group. Other groups are created and get its MLID. Then n1 joins 239.1.2.3 again, which now has another MLID, and
# n2 pings it again.
# Expected: n2 sends each echo request to the MLID that the group has at that time; a Delete with JoinState 8.
sysctl -q -w net.ipv4.neigh.default.gc_interval=3
fabric_up topo=1 nhca=3 && fabric_capture mlid-change.pcap && fabric_sm && fabric_nets || return 1
for n in 0 1 2; do fabric_on $n sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0; done
there() { saquery -P 1 MCMR | grep -q 'ff12:401b:ffff::f01:203'; }
gone() { ! there; }
fabric_join 1 ib1 239.1.2.3 && sleep 1 && fabric_on 2 ping -c 4 -i 0.3 -I ib2 239.1.2.3 && there || return 1
fabric_leave
fabric_until gone && fabric_join 0 ib0 239.1.2.4 && sleep 0.5 && fabric_join 1 ib1 239.1.2.5 && sleep 0.5 && fabric_join 1 ib1 239.1.2.3 &&
    sleep 1 && fabric_on 2 ping -c 4 -i 0.3 -I ib2 239.1.2.3 || return 1
fabric_leave; sleep 1
fabric_capture_end

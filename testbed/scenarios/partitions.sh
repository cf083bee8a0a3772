# SPDX-License-Identifier: GPL-2.0-or-later
# partitions: three HCAs on a switch. P_Key 0x8001 (group MTU 4096) with child interfaces on n0 and n1;
# P_Key 0x8002 with child interfaces on n0, a full member, and n1, a limited one.
# Expected: a set of groups for each P_Key; the limited member's packets carry P_Key 0x0002, the MGIDs of its
# groups carry 8002.
# findings: noted partition.overlap
#   n1 is in three partitions.
cat > /tmp/partitions.conf <<'CONF'
Default=0x7fff,ipoib:ALL=full;
One=0x0001,ipoib,mtu=5:0x0011750000000100=full,0x0011750000000110=full;
Two=0x0002,ipoib:0x0011750000000100=full,0x0011750000000110=limited;
CONF
fabric_up topo=1 nhca=3 && fabric_capture partitions.pcap &&
    fabric_sm -P /tmp/partitions.conf && fabric_nets || return 1
fabric_child 0 8001 10.1.0.1 && fabric_child 1 8001 10.1.0.2 && fabric_child 0 8002 10.2.0.1 && fabric_child 1 8002 10.2.0.2 || return 1
fabric_on 0 ping -c 2 -i 0.2 10.0.0.3 && fabric_on 0 ping -c 2 -i 0.2 10.1.0.2 &&
    fabric_on 0 ping -c 2 -i 0.2 10.2.0.2 &&
    peer=$(fabric_link_local 1 ib1.8001) && fabric_on 0 ping -6 -c 1 "$peer%ib0.8001" || return 1
ip -n n1 link del ib1.8001; sleep 1
fabric_capture_end

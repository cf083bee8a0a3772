# SPDX-License-Identifier: GPL-2.0-or-later
# limited: three HCAs on a switch; n0 is a full member of the default partition and of 0x8002, n1 and n2 are limited members
# of both, with P_Keys 0x7fff and 0x0002.
# Expected: n0 reaches both; n1 and n2 do not reach each other: their ARP requests have the limited P_Key and are dropped
# by the receiver. Unicast, with a permanent neighbour entry, is not even sent: the SA finds no path.
# findings: noted partition.overlap
#   n1 and n2 are in two partitions each (n0's packets to its own OpenSM are never on the wire).
cat > /tmp/partitions.conf <<'CONF'
Default=0x7fff,ipoib:ALL=limited,0x0011750000000100=full;
Two=0x0002,ipoib:0x0011750000000100=full,0x0011750000000110=limited,0x0011750000000120=limited;
CONF
fabric_up topo=1 nhca=3 && fabric_capture limited.pcap && fabric_sm -P /tmp/partitions.conf && fabric_nets || return 1
fabric_child 0 8002 10.2.0.1 && fabric_child 1 8002 10.2.0.2 && fabric_child 2 8002 10.2.0.3 || return 1
for net in 10.0.0 10.2.0; do
    fabric_on 0 ping -c 2 -i 0.2 $net.2 && fabric_on 0 ping -c 2 -i 0.2 $net.3 && fabric_on 1 ping -c 1 $net.1 || return 1
    ! fabric_on 1 ping -c 2 -W 1 $net.3 || return 1
done
hardware=$(fabric_address 2 ib2)
ip -n n1 neigh replace 10.0.0.3 lladdr "$hardware" dev ib1 nud permanent
! fabric_on 1 ping -c 2 -W 1 10.0.0.3 || return 1
fabric_capture_end

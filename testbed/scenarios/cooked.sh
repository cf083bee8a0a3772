# SPDX-License-Identifier: GPL-2.0-or-later
# cooked: what tcpdump on a host captures of IPoIB: sll.pcap from ib1 (LINUX_SLL) and sll2.pcap from all interfaces
# (LINUX_SLL2), in addition to cooked.pcap, captured on the wire.
# Expected: ARP and neighbour discovery, multicast and unicast, ICMP; no link-layer address in the cooked header.
fabric_up && fabric_sm && fabric_nets && fabric_capture cooked.pcap || return 1
peer=$(fabric_link_local 1 ib1) || return 1
fabric_on 1 tcpdump -Z root -U -i ib1 -w /fabric-out/sll.pcap & one=$!
fabric_on 1 tcpdump -Z root -U -i any -w /fabric-out/sll2.pcap & all=$!
sleep 1.5
fabric_on 0 ping -c 2 -i 0.2 10.0.0.2 && fabric_on 0 ping -6 -c 2 -i 0.2 "$peer%ib0" || return 1
sleep 6     # neighbour revalidation, by unicast
kill $one $all; wait $one $all
fabric_capture_end

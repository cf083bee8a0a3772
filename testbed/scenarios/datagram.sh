# SPDX-License-Identifier: GPL-2.0-or-later
# datagram: two HCAs back to back, datagram mode, from the first packet of OpenSM to the leave of every
# group.
# Expected: joins (also of missing groups), router solicitations, MLD and IGMP reports, ARP, ICMP, a
# datagram of 8000 octets in IP fragments, NS and NA (multicast, and unicast by neighbour revalidation), an
# IPv4 and an IPv6 group: joined, pinged and left; then Deletes of MCMemberRecord when the interface goes
# down.
# findings: deviation rfc4391.10.subscribe-traps rfc4391.4.1.qkey-controlled
#   RFC 4391 section 10: a node that sends to a group without being a full member subscribes to traps 66 and 67; Linux never
#   does. Section 4.1: the Q_Key should be a controlled one (high-order bit 1); OpenSM's is 0x00000b1b.
fabric_up && fabric_capture datagram.pcap && fabric_sm && fabric_nets || return 1
sleep 1     # the router solicitations and listener reports that a new interface sends by itself
peer=$(fabric_link_local 1 ib1) && fabric_on 0 ping -c 3 -i 0.2 10.0.0.2 &&
    fabric_on 0 ping -c 1 -s 8000 10.0.0.2 && fabric_on 0 ping -6 -c 3 -i 0.2 "$peer%ib0" || return 1

fabric_on 1 sysctl -q -w net.ipv4.icmp_echo_ignore_broadcasts=0
fabric_join 1 ib1 239.1.2.3 && fabric_join 1 ib1 ff15::5:6 || return 1
sleep 1
fabric_on 0 ping -c 2 -i 0.2 -I ib0 239.1.2.3 && fabric_on 0 ping -6 -c 2 -i 0.2 -I ib0 ff15::5:6 || return 1
fabric_leave

sleep 5     # both sides revalidate their neighbour 5 s after the first use, by unicast
ip -n n1 link set ib1 down; sleep 0.5
fabric_capture_end

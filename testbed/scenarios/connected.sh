# SPDX-License-Identifier: GPL-2.0-or-later
# connected: two HCAs back to back, connected mode with MTU 65520.
# Expected: REQ, REP, RTU in both directions, ARP over UD, ICMP over RC, datagrams of 40000 octets in RC
# SEND First/Middle/Last, unicast NS and NA over RC, then DREQ and DREP when one interface goes down.
# findings: deviation rfc4755.3.5.service-id rfc4755.7.resolution-over-ud
#   RFC 4755 section 3.5: the Service-ID begins with 0x01; Linux's begins with 0x10. Section 7: ARP replies and NAs are
#   always UD packets; Linux sends unicast NAs over the connection. The scenario waits 6 s for these NAs.
fabric_up && fabric_capture connected.pcap && fabric_sm && fabric_nets connected:65520 || return 1
peer=$(fabric_link_local 1 ib1) && fabric_on 0 ping -c 3 -i 0.2 10.0.0.2 &&
    fabric_on 0 ping -c 1 -s 40000 10.0.0.2 && fabric_on 0 ping -6 -c 2 -i 0.2 "$peer%ib0" || return 1
sleep 6     # neighbour revalidation, by unicast: ARP over UD, NS and NA over RC
ip -n n1 link set ib1 down; sleep 1
fabric_capture_end

# SPDX-License-Identifier: GPL-2.0-or-later
# demo PROBE: two HCAs back to back, datagram mode; script/demo --live runs this. PROBE (ipoib-probe) uses the second HCA to
# test the kernel of n0.
# Expected: n1 joins its groups; ARP; a ping over IPv4 and one over IPv6; the probe's results are in probe.txt, without a failure.
# arguments: $IPOIB_BIN/ipoib-probe
# findings: violated rfc4391.6.reserved-zero rfc4391.9.1.1.reserved-flags rfc4755.2.2.one-ud-qp
#   In probe.pcapng: the probe sends Reserved 0xbeef and announces flags 0x3f on purpose, to check that the peer ignores both
#   (RFC 4391 sections 6 and 9.1.1). It sends requests from a second queue pair with the address of the first (RFC 4755 section
#   2.2), to see where the reply goes. It also sends ARP over a connection, which is no violation: the reply must be sent over UD
#   (RFC 4755 section 7).
fabric_up && fabric_capture demo.pcap && fabric_sm && fabric_nets || return 1
peer=$(fabric_link_local 0 ib0) && fabric_on 1 ping -c 2 -i 0.3 10.0.0.1 && fabric_on 1 ping -6 -c 1 "$peer%ib1" && sleep 1 || return 1
fabric_capture_end
"$1" -v -d vqib1 --source 10.0.0.77 -o /fabric-out/probe.txt -w /fabric-out/probe.pcapng 10.0.0.1 || { cat /fabric-out/probe.txt; return 1; }

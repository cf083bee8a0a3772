# SPDX-License-Identifier: GPL-2.0-or-later
# cm-reject: two HCAs back to back in connected mode; REQs that IPoIB rejects, or accepts from a program that is not IPoIB.
# Expected: REJ reason 8 (invalid Service-ID) for RFC 4755's 0x01 form and for a QPN that is not the
# interface's; REP, RTU, DREQ, DREP for Linux's 0x10 form from a program with private data of its own; then
# Linux's own REQ, rejected by a peer whose interface is down.
# findings: violated rfc4755.6.private-data
#   RFC 4755 section 6: every CM message that makes a connection has the private data; the program's last REQ has none.
fabric_up && fabric_sm && fabric_nets connected:65520 && fabric_capture cm-reject.pcap || return 1
hardware=$(fabric_address 1 ib1)
qpn=$(echo "$hardware" | cut -d: -f2-4 | tr -d :)
from=fe80::11:7500:0:100 to=fe80::11:7500:0:110
private=000000030000fff4        # IPoIB-CM private data: UD QPN 3, Receive MTU 65524
ib-connect $from $to "0x0100000000$qpn" $private; [ $? = 3 ] || return 1
ib-connect $from $to "0x1000000000777777" $private; [ $? = 3 ] || return 1
ib-connect $from $to "0x1000000000$qpn" $private || return 1
ib-connect $from $to "0x1000000000$qpn"; echo "without private data: $?"
sleep 0.5
ip -n n0 neigh replace 10.0.0.2 lladdr "$hardware" dev ib0 nud permanent
ip -n n1 link set ib1 down; sleep 0.5
! fabric_on 0 ping -c 3 -i 0.5 -W 0.5 10.0.0.2 || return 1
fabric_capture_end

# SPDX-License-Identifier: GPL-2.0-or-later
# source PROBE CHECK LIB: the IPv6 address of ipoib-probe's --source, which Linux tries to use too; a scenario for testbed/fabric
# once, results in TAP in /fabric-out/tap. h0 runs OpenSM, is the peer, and the other node; h1 is the probe's.
probe=$1
. "$3" || return 1
fabric_up && fabric_sm && fabric_nets datagram && peer=$(fabric_link_local 0 ib0) && fabric_on 1 ping -c 1 10.0.0.1 || return 1
# begin ADDRESS: starts the probe and waits until it defends the address
begin() {
    "$probe" -d vqib1 --timeout 3000 --format json -o /tmp/report --source "$1" "$peer" 2> /tmp/said & pid=$!
    fabric_until resolved "$1" || { echo "no reply from $1"; cat /tmp/said; return 1; }
}
resolved() { fabric_on 0 ping -c 1 -W 1 "$1%ib0"; ip -n n0 neigh show "$1" dev ib0 | grep lladdr; }
# ends STATUS
ends() { local got=0; wait $pid || got=$?; [ $got = "$1" ] || { echo "exit $got"; cat /tmp/said /tmp/report; return 1; }; }
dad_fails() { ip -n n0 -6 addr show dev ib0 | grep "$1.*dadfailed"; }
# RFC 4861 7.2.4: Linux detects duplicates of the address, the probe replies, and Linux does not take it
defends() {
    begin fe80::88 && ip -n n0 addr add fe80::88/64 dev ib0 && fabric_until dad_fails fe80::88
    local s=$?
    kill -0 $pid || { echo "the probe ended too early"; s=1; }
    ends 0 && no_failure && [ $s = 0 ]
}
# advertise ADDRESS: an unsolicited NA of h0's ib0 (RFC 4861 7.2.6) with its own link-layer address
advertise() {
    fabric_on 0 python3 -c '
import socket as s, sys
at = s.if_nametoindex("ib0")
k = s.socket(s.AF_INET6, s.SOCK_RAW, s.IPPROTO_ICMPV6)
k.setsockopt(s.IPPROTO_IPV6, s.IPV6_MULTICAST_HOPS, 255)
k.setsockopt(s.IPPROTO_IPV6, s.IPV6_MULTICAST_IF, at)
message = bytes([136, 0, 0, 0, 0x20, 0, 0, 0]) + s.inet_pton(s.AF_INET6, sys.argv[1])
option = bytes([2, 3, 0, 0]) + bytes.fromhex(sys.argv[2].replace(":", ""))
k.sendto(message + option, ("ff02::1", 0, 0, at))' "$1" "$(fabric_address 0 ib0)"
}
# RFC 4862 5.4: another node has the address
given_up() {
    begin fe80::89 && advertise fe80::89 && ends 2 && grep -q "source fe80::89: $(fabric_address 0 ib0) (QPN 0x.*, LID .*) has the address too" /tmp/report
}
before=$(members)
try "the probe replies to Linux's duplicate address detection" defends
try "an address that another node advertises is given up, and the node is named" given_up
left() { fabric_until same || { echo "$before"; echo "now:"; members; return 1; }; }
same() { [ "$(members)" = "$before" ]; }
try "the port is a member of the same groups as before" left
tap_end

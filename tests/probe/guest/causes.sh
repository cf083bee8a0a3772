# SPDX-License-Identifier: GPL-2.0-or-later
# causes PROBE CHECK LIB: what is wrong although the peer replies, or the SA does not; a scenario for testbed/fabric once, results in
# TAP in /fabric-out/tap. Four HCAs on a switch: h0 runs OpenSM, h1 is the probe's host, h2 is the peer, h3 another host.
probe=$1 check=$2
. "$3" || return 1
on1() { local want=$1; shift; fabric_on 1 "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
# why STAGE WORDS STATUS ARGUMENT...: the stage says WORDS
why() { local stage=$1 words=$2 want=$3; shift 3; on1 "$want" "$@"; local got=$?; says "$stage" "$words" && return $got; return 1; }
fresh() { fabric_on 1 ip neigh flush dev ib1; fabric_on 1 ping -c 1 -W 2 10.0.0.3 && fabric_on 1 ping -c 1 -W 2 10.0.0.4; }
six() { ip -n n$1 addr replace fd00::$2/64 dev ib$1 nodad; }
lid_of() { printf %04x $((16#$(sed s/0x// /sys/class/infiniband/vqib$1/ports/1/lid))); }
drop() { tc -n n$1 qdisc add dev ib$1 clsact; tc -n n$1 filter add dev ib$1 "${@:2}" action drop; }
drop_none() { tc -n n$1 qdisc del dev ib$1 clsact; }

{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'P1=0x0001, ipoib : ALL=full;'; } > /tmp/partitions
fabric_up nhca=4 topo=1 && fabric_sm -P /tmp/partitions && fabric_nets datagram && fresh || return 1
for i in 1 2 3; do six $i $((i+1)); done

# ---- this host

filtered() { drop 1 ingress protocol arp matchall; fabric_on 1 ip neigh flush dev ib1; why peer.ping "^fail .*the peer's ARP reply arrives at ib1, and this host drops it: a filter" 1 --why 10.0.0.3; local s=$?; drop_none 1; return $s; }
try "this host filters ARP" filtered
unsent() { drop 1 egress protocol ip matchall; why peer.ping '^fail .*: it does not leave ib1: a filter or a queueing discipline of this host' 1 --why 10.0.0.3; local s=$?
    why peer.ping 'it does not leave ib1' 1 --count 2 10.0.0.3; s=$((s+$?)); drop_none 1; return $s; }
try "this host filters what it sends" unsent
dropped() { drop 1 ingress protocol ipv6 matchall; fabric_on 1 ip -6 neigh flush dev ib1; why peer.ping "the peer's neighbour advertisement arrives at ib1, and this host drops it" 1 --why fd00::3; local s=$?; drop_none 1
    drop 1 ingress protocol ip matchall; why peer.ping 'its replies arrive at ib1, and this host drops them' 1 --why 10.0.0.3; s=$((s+$?)); drop_none 1; return $s; }
try "this host filters what arrives" dropped
# A request of this host's kernel for the peer's address would tell the peer that of this host: so its entry is permanent.
silent_arp() { fresh; ip -n n1 neigh replace 10.0.0.3 dev ib1 nud permanent lladdr "$(ip -n n1 neigh show 10.0.0.3 dev ib1 | sed 's/.*lladdr \([^ ]*\).*/\1/')"; fabric_on 1 sysctl -qw net.ipv4.conf.ib1.arp_ignore=8; fabric_on 2 ip neigh flush dev ib2; why peer.ping "the peer asks for this host's link-layer address, and this host does not answer: arp_ignore" 1 --why 10.0.0.3; local s=$?
    fabric_on 1 sysctl -qw net.ipv4.conf.ib1.arp_ignore=0; ip -n n1 neigh del 10.0.0.3 dev ib1; fresh; return $s; }
try "this host answers no ARP request" silent_arp
# By chance none of the first pings leaves.
half() { fabric_on 1 "$probe" --format json -o /tmp/report --why 10.0.0.3; case $? in 2) says peer.ping "is answered only sometimes\|answers TCP" ;; 1) says peer.ping "does not leave ib1" ;; *) return 1 ;; esac; }
lossy_queue() { tc -n n1 qdisc add dev ib1 root netem loss 50%; half; local s=$?; tc -n n1 qdisc del dev ib1 root; return $s; }
try "a queueing discipline of this host drops half" lossy_queue
foreign() { ip -n n1 addr add 172.30.9.1/32 dev lo; ip -n n1 route replace 10.0.0.0/24 dev ib1 src 172.30.9.1; why peer.ping "its route sends from 172.30.9.1, an address of lo and not of ib1" 2 --why 10.0.0.3; local s=$?
    ip -n n1 route replace 10.0.0.0/24 dev ib1 src 10.0.0.2; ip -n n1 addr del 172.30.9.1/32 dev lo; fresh; return $s; }
try "the route sends from an address of another interface" foreign
rule() { ip -n n1 rule add to 10.0.0.3 unreachable pref 100; why peer.own-side 'there is no route; ib1 has 10.0.0.2/24 -> .*ip rule show' 1 --why 10.0.0.3; local s=$?; ip -n n1 rule del pref 100; return $s; }
try "a rule forbids the address" rule
gateway() { ip -n n1 route add 10.0.0.3/32 via 10.0.0.4; why peer.own-side 'the route leads through the router 10.0.0.4 at ib1' 1 --why 10.0.0.3; local s=$?; ip -n n1 route del 10.0.0.3/32; return $s; }
try "a route through a gateway" gateway
vrf() { fabric_on 1 ip link add vrf-s type vrf table 10 && ip -n n1 link set vrf-s up && ip -n n1 link set ib1 master vrf-s && sleep 1
    on1 0 10.0.0.3 && says peer.port 'the route in the VRF of ib1' && says peer.ping "^pass"; local s=$?; ip -n n1 link del vrf-s; return $s; }
if ip link add vrf-x type vrf table 9 2>/dev/null; then ip link del vrf-x; try "an interface in a VRF" vrf; fi
lost_member() { python3 -c "$leave" vqib1 0011750000000110 || return 1; why fabric.join "^fail ib1 is up, but the SA did not list its port" 1 -d ib1 fabric; local s=$?
    ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1; six 1 2; return $s; }
leave='
import ctypes, struct, sys
u = ctypes.CDLL("libibumad.so.3"); u.umad_init()
fd = u.umad_open_port(sys.argv[1].encode(), 1); agent = u.umad_register(fd, 3, 2, 0, None)
record = bytes.fromhex("ff12401bffff000000000000ffffffff" "fe80000000000000" + sys.argv[2]) + bytes(16) + bytes([1]) + bytes(3)
mad = struct.pack(">BBBBHHQHHI", 1, 3, 2, 0x15, 0, 0, 0x77, 0x38, 0, 0) + bytes(24) + struct.pack(">Q", 1 << 0 | 1 << 1 | 1 << 16) + record
at, buffer = u.umad_size(), ctypes.create_string_buffer(u.umad_size() + 256)
ctypes.memmove(ctypes.addressof(buffer) + at, mad.ljust(256, b"\0"), 256)
u.umad_set_addr(buffer, 1, 1, 0, ctypes.c_int(0x80010000 - (1 << 32)))
length = ctypes.c_int(256)
failed = u.umad_send(fd, agent, buffer, 256, 1000, 3) < 0 or u.umad_recv(fd, buffer, ctypes.byref(length), 5000) < 0
sys.exit(failed or struct.unpack(">H", buffer.raw[at + 4 : at + 6])[0] != 0)'
try "the SA has lost this host's membership" lost_member
duplicate() { ip -n n3 addr add fd00::2/64 dev ib3 nodad; ip -n n1 addr del fd00::2/64 dev ib1; ip -n n1 addr add fd00::2/64 dev ib1; sleep 3
    why peer.own-side "duplicate address detection failed for fd00::2 of ib1" 1 --why fd00::3; local s=$?; ip -n n3 addr del fd00::2/64 dev ib3; six 1 2; return $s; }
try "duplicate address detection failed here" duplicate
down6() { ip -n n1 link set ib1 down; why peer.port 'no route to fd00::3: ib1 is down -> ip link set ib1 up' 2 --why fd00::3; local s=$?
    ip -n n1 link set ib1 up; fabric_link 1 ib1; six 1 2; return $s; }
try "this host's interface is down, IPv6" down6

police() { tc -n n1 qdisc add dev ib1 clsact; tc -n n1 filter add dev ib1 egress matchall action police rate 10gbit burst 1m mtu 1000 conform-exceed drop/pass
    why peer.ping-sizes '^fail .*ping of 2044 bytes does not leave ib1; up to 9[0-9]* bytes it does: a filter or a queueing discipline of this host' 1 10.0.0.3; local s=$?; drop_none 1; return $s; }
try "this host drops large packets" police
behind() { ip netns add far; ip -n n3 link add v3 type veth peer name far0 netns far; ip -n n3 addr add 10.5.0.1/24 dev v3; ip -n n3 link set v3 up; ip -n far addr add 10.5.0.9/24 dev far0; ip -n far link set far0 up; ip -n far route add default via 10.5.0.1
    fabric_on 3 sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.arp_ignore=1; ip -n n1 addr add 10.0.0.2/8 dev ib1; fresh
    why peer.no-reply '^inconclusive it is behind a router, .*: it replies to a packet that 10.0.0.4 (GID .*) forwards to it: the prefix of ib1, .*10.0.0.2/8, is too short.* -> .*ip route add 10.5.0.9 via 10.0.0.4' 2 --why 10.5.0.9; local s=$?
    why peer.no-reply '^inconclusive no such host, or it is off: .* or it is behind a router, and the prefix' 2 --why 10.5.0.8; s=$((s+$?))
    fabric_on 3 sysctl -qw net.ipv4.ip_forward=0 net.ipv4.conf.all.arp_ignore=0; ip -n n1 addr del 10.0.0.2/8 dev ib1; ip netns del far; return $s; }
try "the address is behind a router, by this host's prefix it is not" behind

# The SA's answer to the kernel's PathRecord query has the LID 0x30, where nobody is.
old_path() { fabric_rewrite s0.2 'if data+1=03 if data+3=81 if data+16=0035 if data+72=0011750000000120 set data+96=0030'; ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1; six 1 2; fabric_on 1 ping -c 1 -W 1 10.0.0.3; fabric_rewrite s0.2 off
    why peer.ping "^fail this host's ping is not answered: \(the probe's ping from the same address arrives at LID $((16#$(lid_of 2))); so ib1 has\|ib1 has\) an old path" 1 --why 10.0.0.3; local s=$?
    ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1; six 1 2; fresh || s=1; return $s; }
try "this host has an old path to the peer" old_path

# ---- the tables of the switch

# set_table ATTRIBUTE OFFSET OCTETS: changes the first block of the switch's linear (0x19) or multicast (0x1b) forwarding table by
# SubnGet and SubnSet (IBA 14.2.5.10, 14.2.5.12)
set_table() { python3 -c "$table" vqib1 "$(ibswitches -C vqib1 | sed -n 's/.* lid \([0-9]*\) .*/\1/p')" "$@"; }
table='
import ctypes, struct, sys
device, lid, attribute, at, octets = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 0), int(sys.argv[4]), bytes.fromhex(sys.argv[5])
u = ctypes.CDLL("libibumad.so.3"); u.umad_init()
fd = u.umad_open_port(device.encode(), 1); agent = u.umad_register(fd, 1, 1, 0, None); head = u.umad_size()
def ask(method, data):
    mad = struct.pack(">BBBBHHQHHI", 1, 1, 1, method, 0, 0, 0x55, attribute, 0, 0) + bytes(40) + data
    buffer, length = ctypes.create_string_buffer(head + 256), ctypes.c_int(256)
    ctypes.memmove(ctypes.addressof(buffer) + head, mad.ljust(256, b"\0"), 256)
    u.umad_set_addr(buffer, lid, 0, 0, 0)
    if u.umad_send(fd, agent, buffer, 256, 1000, 3) < 0 or u.umad_recv(fd, buffer, ctypes.byref(length), 5000) < 0: sys.exit("no answer")
    return buffer.raw[head + 64 : head + 128]
block = bytearray(ask(1, bytes(64))); block[at : at + len(octets)] = octets; ask(2, bytes(block))'
lft_hole() { local lid=$((16#$(lid_of 2))); set_table 0x19 $lid ff; why peer.reachable "the forwarding table of the switch with LID [0-9]* has no port for LID $lid" 1 --why 10.0.0.3; local s=$?
    set_table 0x19 $lid 03; fresh || s=1; return $s; }
try "a switch has no port for the peer" lft_hole
# A join makes the SM set the table again: what it sets is dropped meanwhile.
mft_hole() { fabric_fault h0 vl15=1; fabric_rewrite h0 'if data+1=81 if data+3=02 if data+16=001b drop'
    set_table 0x1b 0 001a; why fabric.forwarding '^fail the switch with LID [0-9]* does not forward the broadcast group (MLID 0xc000) to its port 2' 1 -d ib1 fabric; local s=$?
    why peer.own-side 'packets to the group do not reach this host: the switch with LID [0-9]* does not forward MLID 0xc000 to its port 2' 1 --why 10.0.0.3; s=$((s+$?))
    fabric_rewrite h0 off; fabric_fault h0 vl15=0; set_table 0x1b 0 001e; return $s; }
try "the switch does not forward the group to this host" mft_hole

# ---- the SA

no_paths() { fabric_rewrite h0 'if bth+5=000001 if data+1=03 if data+16=0035 drop'; ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1
    why peer.ping '^inconclusive .*ping is not answered, and the subnet manager (SA) does not answer PathRecord queries' 2 10.0.0.3; local s=$?
    fabric_rewrite h0 off; ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1; six 1 2; fresh || s=1; return $s; }
try "the SA answers no path query" no_paths

# ---- the peer

lost_peer() { python3 -c "$leave" vqib2 0011750000000120 || return 1; for i in 3 2 1; do ip -n n$i neigh flush dev ib$i; done
    why peer.no-reply "^inconclusive a port has lost the broadcast group: LID $((16#$(lid_of 2))) .* is in the group for neighbour solicitations of its link-local address" 2 --why 10.0.0.3; local s=$?
    ip -n n2 link set ib2 down; ip -n n2 link set ib2 up; fabric_link 2 ib2; six 2 3; fresh || s=1; return $s; }
try "the SA has lost the peer's membership" lost_peer
# n3 sends to the peer too: it is a member of the peer's solicited-node group, and receives nothing from it.
lost6() { ip -n n3 neigh flush dev ib3; fabric_on 3 ping -c 1 -W 2 fd00::3; ip -n n1 neigh flush dev ib1; fabric_rewrite s0.3 "if lrh+6=$(lid_of 1) drop"
    why peer.no-reply "^inconclusive no packet comes back from the peer's port: the SA says .* (LID $((16#$(lid_of 2)))) can be reached" 2 --why fd00::3; local s=$?
    fabric_rewrite s0.3 off; return $s; }
try "what this host sends to the peer is lost (IPv6)" lost6
no_arp() { fabric_on 2 sysctl -qw net.ipv4.conf.all.arp_ignore=8; for i in 3 2 1; do ip -n n$i neigh flush dev ib$i; done
    why peer.no-reply "^inconclusive the host is there, and requests to the group have no answer: .*LID $((16#$(lid_of 2))).* has the address: it replies to a ping that is sent to its queue pair, .*: its ARP is off or filtered" 2 --why 10.0.0.3; local s=$?
    why peer.no-reply '^inconclusive no such host' 2 --why 10.0.0.99; s=$((s+$?)); fabric_on 2 sysctl -qw net.ipv4.conf.all.arp_ignore=0; return $s; }
try "the peer answers no ARP request" no_arp
small() { ip -n n2 link set ib2 mtu 1500; fresh; why peer.ping-sizes "^fail the reply to this host's ping of 2044 bytes comes in fragments of 1500: the peer's MTU is smaller" 1 10.0.0.3; local s=$?
    why peer.ping-sizes "^fail .* comes in fragments of 1496" 1 fd00::3; s=$((s+$?)); ip -n n2 link set ib2 mtu 2044
    ip -n n1 link set ib1 mtu 1500; why peer.ping-sizes "^noted this host's ping of 1500 bytes, the MTU of ib1, is answered; the link's is 2044" 0 10.0.0.3; s=$((s+$?)); ip -n n1 link set ib1 mtu 2044; return $s; }
try "an MTU below that of the link" small
# As a router advertises it (RFC 4861 section 4.6.4).
advertised() { for i in 1 2; do fabric_on $i sysctl -qw net.ipv6.conf.ib$i.mtu=1500; done; why peer.ping-sizes '^pass' 0 fd00::3; local s=$?; for i in 1 2; do fabric_on $i sysctl -qw net.ipv6.conf.ib$i.mtu=2044; done; return $s; }
try "an MTU that all hosts have for IPv6" advertised
large() { fabric_rewrite s0.3 'if lrh+4=01 drop' 'if lrh+4=02 drop'
    why peer.ping-sizes '^fail .*ping of 2044 bytes, the MTU of ib1, is not answered; up to 9[0-9]* bytes it is: larger packets to the peer are lost' 1 10.0.0.3; local s=$?; fabric_rewrite s0.3 off; return $s; }
try "large packets to the peer are lost" large
back() { ip -n n2 link add other type veth; ip -n n2 link set other up; ip -n n2 route add 10.0.0.2/32 dev other; fabric_on 2 sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.ib2.rp_filter=1; ip -n n1 neigh del 10.0.0.3 dev ib1
    why peer.ping "the peer .* route back" 2 --why 10.0.0.3; local s=$?; ip -n n2 link del other; fabric_on 2 sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.ib2.rp_filter=0; return $s; }
fresh; try "the peer's route to this host leads elsewhere" back
type() { fabric_rewrite h2 'if data+0=0800 set data+0=88b5'; why peer.ping 'packets with the encapsulation type 0x88b5 arrived instead' 2 --why 10.0.0.3; local s=$?; fabric_rewrite h2 off; return $s; }
try "the peer sends IPv4 with another encapsulation type" type
other_gid() { fabric_rewrite h2 'if data+0=0806 set data+24=01300a000003'; ip -n n1 neigh flush dev ib1; on1 1 10.0.0.3 && is rfc4391.9.1.1.gid-of-port fail && says peer.ping 'a consequence of rfc4391.9.1.1.gid-of-port'; local s=$?; fabric_rewrite h2 off; fresh; return $s; }
try "the peer announces the GID of another port" other_gid
narrow() { ip -n n2 addr flush dev ib2 scope global; ip -n n2 addr add 10.0.0.3/31 dev ib2; ip -n n2 addr add 10.1.0.3/24 dev lo; fabric_on 2 sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.ib2.rp_filter=1; ip -n n1 addr add 10.0.0.130/24 dev ib1; ip -n n1 route replace 10.0.0.3/32 dev ib1 src 10.0.0.130; ip -n n1 neigh flush dev ib1
    why peer.ping "ARP requests leave ib1, and no answer arrives: the peer ignores requests from this host's address (its prefix or route back, rp_filter" 2 --why 10.0.0.3; local s=$?
    ip -n n1 route del 10.0.0.3/32; ip -n n1 addr del 10.0.0.130/24 dev ib1; ip -n n2 addr flush dev ib2 scope global; ip -n n2 addr del 10.1.0.3/24 dev lo; ip -n n2 addr add 10.0.0.3/24 dev ib2; six 2 3; fabric_on 2 sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.ib2.rp_filter=0; fresh; return $s; }
try "the peer's prefix is too long for this host" narrow
no_echo() { fabric_on 2 sysctl -qw net.ipv4.icmp_echo_ignore_all=1; why peer.ping "it answers TCP of this host, but not its ping from 10.0.0.2: a filter" 2 --why 10.0.0.3; local s=$?; fabric_on 2 sysctl -qw net.ipv4.icmp_echo_ignore_all=0; return $s; }
try "the peer drops ICMP echo" no_echo
mode() { local i; for i in 1 2; do fabric_on $i sh -c "echo $1 > /sys/class/net/ib$i/mode"; fabric_link $i ib$i; six $i $((i+1)); done; }
connected() { mode connected; fresh; local e s; for e in 00 01 02 04; do set -- "$@" "if bth+0=$e drop"; done; fabric_rewrite s0.3 "$@"
    why peer.ping 'it goes over a connection (RC), and connections to the peer do not work: messages over them are not acknowledged' 2 --why 10.0.0.3; s=$?; fabric_rewrite s0.3 off; mode datagram; fresh; return $s; }
try "packets of connections are lost" connected
filters6() { drop 2 ingress protocol ipv6 flower ip_proto icmpv6; ip -n n1 neigh flush dev ib1; why peer.no-reply "^inconclusive the peer's port replies, its interface does not: .* or drops ND" 2 --why fd00::3; local s=$?; drop_none 2; return $s; }
try "the peer filters neighbour discovery" filters6
deaf6() { fabric_rewrite s0.2 'if grh+24=ff drop'; ip -n n1 neigh flush dev ib1; fabric_on 1 ping -c 1 -W 2 10.0.0.4; why peer.no-reply '^inconclusive packets to groups do not reach this host: [1-3] other host.* advertisements to all nodes do not arrive here' 2 --why fd00::3; local s=$?; fabric_rewrite s0.2 off; six 1 2; return $s; }
try "packets to groups are not delivered to this host (IPv6)" deaf6
deaf() { fabric_rewrite s0.2 'if grh+24=ff drop'; fresh; why fabric.delivery '^inconclusive packets to groups do not reach this port: 2 hosts reply to ARP, by unicast, and none of' 2 -d ib1 fabric; local s=$?; fabric_rewrite s0.2 off
    fresh; on1 0 -d ib1 fabric && says fabric.delivery '^\(pass\|noted .*advertisements of 2 hosts to all IPv6 nodes arrive\)'; s=$((s+$?)); six 1 2; return $s; }
try "packets to groups are not delivered to this port" deaf
nobody6() { why peer.no-reply '^inconclusive no port of the link has the address: the SA has no group' 2 --why fd00::99; }
try "no port has the IPv6 address" nobody6
sums() { fabric_rewrite h2 'if data+0=0800 if data+13=01 set data+26=0000'; why peer.echo 'its replies have a wrong ICMP checksum' 2 --source 10.0.0.77 10.0.0.3; local s=$?; fabric_rewrite h2 off; return $s; }
try "the peer's replies have a wrong checksum" sums
# The clock of the emulated machine jumps now and then, on a busy host: one of three runs is to be in time.
one_way_in_time() { local begin=$SECONDS; on1 1 10.0.0.3 && says peer.reachable 'unicast to its port may be lost on the path' && [ $((SECONDS-begin)) -lt 30 ]; }
one_way() { fabric_rewrite h1 "if lrh+2=$(lid_of 2) drop"; one_way_in_time || one_way_in_time || one_way_in_time; local s=$?; fabric_rewrite h1 off; return $s; }
try "unicast to the peer is lost" one_way

# ---- while it is watched

twice() { (sleep 3; ip -n n3 addr add 10.0.0.3/24 dev ib3) & why peer.watch '^fail .*two ports have the address' 1 --count 12 --interval 1 10.0.0.3; local s=$?; ip -n n3 addr del 10.0.0.3/24 dev ib3; return $s; }
fresh; try "a second port takes the address" twice
expired() { (sleep 3; ip -n n1 addr del 10.0.0.2/24 dev ib1) & why peer.own-side "does not send the address to this link: there is no route" 1 --count 6 --interval 1 10.0.0.3; local s=$?; ip -n n1 addr add 10.0.0.2/24 dev ib1; return $s; }
try "this host's address is deleted" expired
child() { ip -n n$1 link add link ib$1 name ib$1.8001 type ipoib pkey 0x8001; ip -n n$1 link set ib$1.8001 up; ip -n n$1 addr add $2/24 dev ib$1.8001; fabric_link $1 ib$1.8001; }
other_link() { child 1 10.1.0.2; child 2 10.1.0.3; ip -n n2 addr add 10.0.0.33/24 dev ib2.8001; fabric_on 2 sysctl -qw net.ipv4.conf.all.arp_ignore=1; fresh
    why peer.no-reply '^inconclusive it is on the link of another interface: asked for there, it replies: at ib1.8001 (P_Key 0x8001), and not at ib1 -> ipoib-probe -d ib1.8001 10.0.0.33' 2 --why 10.0.0.33; local s=$?
    fabric_on 2 sysctl -qw net.ipv4.conf.all.arp_ignore=0; for i in 1 2; do ip -n n$i link del ib$i.8001; done; fresh || s=1; return $s; }
try "the address is on another interface's link" other_link

# ---- the subnet manager

no_path() { fabric_rewrite s0.2 'if data+1=03 if data+3=81 if data+16=0035 set data+4=0300'; on1 1 10.0.0.3 && says peer.own-side "the SA's path does not lead to it: it has none to LID" && [ "$(outcome rfc4391.9.1.1.gid-of-port)" != fail ]; local s=$?; fabric_rewrite s0.2 off; return $s; }
fresh; try "the SA has no paths" no_path
hangs() { kill -STOP "$FABRIC_SM"; why fabric.sm 'the SA at LID 1 does not answer; the port with LID 1 is alive' 1 -d ib1 fabric; local s=$?; kill -CONT "$FABRIC_SM"; sleep 2; return $s; }
try "the subnet manager hangs" hangs
two_masters() { fabric_fault h0 vl15=1; fabric_fault h3 vl15=1; local e; for e in h0 h3; do fabric_rewrite $e 'if data+1=81 if data+16=0020 drop' 'if data+1=01 if data+16=0020 drop'; done
    mkdir -p /tmp/osm3; OSM_CACHE_DIR=/tmp/osm3 OSM_TMP_DIR=/tmp/osm3 opensm -p 5 -d 2 -g 0x0011750000000130 -f /tmp/osm3/log > /tmp/osm3/out 2>&1 & local second=$!
    FABRIC_PATIENCE=40 fabric_until grep -q 'MASTER' /tmp/osm3/out; sleep 5; why fabric.sm 'the port with LID .* says that a subnet manager runs on it too' 2 -d ib1 fabric; local s=$?; kill -9 $second; wait $second 2>/dev/null; return $s; }
try "two masters that do not reach each other" two_masters
tap_end

# SPDX-License-Identifier: GPL-2.0-or-later
# why PROBE CHECK LIB: why a peer does not reply; a scenario for testbed/fabric once, results in TAP in /fabric-out/tap. Four HCAs on a
# switch: h0 runs OpenSM, h1 is the probe's host, h2 is the peer, h3 another host.
probe=$1 check=$2
. "$3" || return 1
on1() { local want=$1; shift; fabric_on 1 "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
# because STATUS WORDS [ARGUMENT...]: the cause is WORDS, found in time; the emulated machine is slow
because() { local want=$1 words=$2; shift 2; on1 "$want" --why "$@"; local got=$?; says peer.no-reply "^inconclusive $words" && return $got; cut -c1-300 /tmp/table; return 1; }
fresh() { fabric_on 1 ip neigh flush dev ib1; fabric_on 1 ping -c 1 -W 2 10.0.0.3 && fabric_on 1 ping -c 1 -W 2 10.0.0.4; }

{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'P1=0x0001, ipoib : ALL=limited;'; echo 'P2=0x0002, ipoib : ALL=full;'; echo 'P3=0x0003, ipoib : ALL=full;'; } > /tmp/partitions
fabric_up nhca=4 topo=1 && fabric_sm -P /tmp/partitions && fabric_nets datagram && fresh || return 1

replies() { on1 0 --why 10.0.0.3 && says peer.address '10.0.0.3 is at'; }
try "a peer that replies" replies
alone() { fabric_on 1 "$probe" --why 10.0.0.3 > /tmp/out && [ "$(cat /tmp/out)" = "10.0.0.3: it replies" ] &&
    { fabric_on 1 "$probe" --why 10.0.0.99 > /tmp/out; [ $? = 2 ]; } && [ "$(grep -vc '^  ' /tmp/out)" = 1 ] && ! grep -E '.{80}' /tmp/out && grep '^10.0.0.99: no such host, or it is off: ' /tmp/out && grep '^  -> check the address' /tmp/out; }
try "--why prints the cause alone" alone
no_host() { because 2 'no such host, or it is off: nothing wrong was found on this side' 10.0.0.99; }
try "no such host" no_host
down() { fresh; ip -n n1 link set ib1 down; because 2 "this host's interface is down: ib1 is down -> ip link set ib1 up" 10.0.0.99; local s=$?
    on1 1 --why 10.0.0.3 && says peer.own-side "^fail .*interface is down: ib1 is down"; s=$((s+$?))
    ip -n n1 link set ib1 up; fabric_link 1 ib1; return $s; }
try "this host's interface is down" down
peer_down() { fresh; ip -n n2 link set ib2 down; sleep 1; because 2 'the peer is not in the broadcast group: the SA does not list' 10.0.0.3; local s=$?
    fabric_on 1 ip neigh flush dev ib1; because 2 'no host replies, and some are not on the link: of 3 other ports .* 1 are not in' 10.0.0.3; s=$((s+$?))
    ip -n n2 link set ib2 up; fabric_link 2 ib2; return $s; }
try "the peer's interface is down" peer_down
removed() { fresh; ip -n n2 addr del 10.0.0.3/24 dev ib2; because 2 "the peer's port replies, its interface does not: the interface at .* replies to ping for its link-local address, and to nothing for this one: the address was removed" 10.0.0.3; local s=$?
    ip -n n2 addr add 10.0.0.3/24 dev ib2; return $s; }
try "the address was removed at the peer" removed
keys() { fresh; fabric_rewrite h2 'if deth+0=00000b1b set deth+0=00000b1c'; because 2 "the peer's port replies, its interface does not: .* answers nothing, for its link-local address either: .* wrong P_Key or Q_Key" 10.0.0.3; local s=$?
    ip -n n1 neigh del 10.0.0.3 dev ib1; because 2 "a port that may have the address is silent: LID [0-9]* .* wrong P_Key or Q_Key" 10.0.0.3; s=$((s+$?))
    fabric_rewrite h2 off; return $s; }
try "the peer sends with another Q_Key" keys
# The others verify their entries after some seconds, which tells this host their addresses.
own_lost() { fresh; fabric_rewrite h1 'if deth+0=00000b1b drop'; for i in 3 2 1; do ip -n n$i neigh flush dev ib$i; done; because 2 'this host reaches nobody on the link: the ports with LID [0-9, ]* .* though their connection managers answer: the packets of vqib1 port 1, or those to it, are lost' 10.0.0.3; local s=$?
    on1 2 10.0.0.0/29; s=$((s+$?)); grep -q 'the SA lists 3 other members of the broadcast group' /tmp/report; s=$((s+$?)); fabric_rewrite h1 off; return $s; }
try "what this host sends is lost" own_lost
unheard() { fresh; fabric_rewrite s0.3 'if grh+24=ff12401bffff000000000000ffffffff drop'; ip -n n2 neigh flush dev ib2; ip -n n1 neigh flush dev ib1; ip -n n1 neigh del 10.0.0.3 dev ib1
    because 2 'packets to the group do not reach the peer: LID [0-9]* has the address: it replies to a request to its queue pair' 10.0.0.3; local s=$?
    because 2 'no such host, or it is off: .*' 10.0.0.99; s=$((s+$?)); fabric_rewrite s0.3 off; return $s; }
try "the group is not delivered to a peer that this host does not know" unheard
permanent() { fresh; ip -n n2 link set ib2 arp off; ip -n n1 neigh replace 10.0.0.3 dev ib1 nud permanent lladdr "$(ip -n n1 neigh show 10.0.0.4 dev ib1 | sed 's/.*lladdr \([^ ]*\).*/\1/')"
    because 2 "the peer's port replies, its interface does not: the neighbour entry is permanent (made by hand) and may be wrong: that port also has 10.0.0.4; else: .* -> ip neigh del 10.0.0.3 dev ib1; test again" 10.0.0.3; local s=$?
    ip -n n1 neigh del 10.0.0.3 dev ib1; ip -n n2 link set ib2 arp on; return $s; }
try "a permanent entry leads to another host" permanent
wide() { ip -n n1 addr add 10.0.0.2/8 dev ib1; because 2 'no such host, or it is off: .* or it is behind a router, and the prefix of ib1, .*10.0.0.2/8, is too short' 10.5.0.9; local s=$?; ip -n n1 addr del 10.0.0.2/8 dev ib1; return $s; }
try "this host's prefix is too short" wide
unplugged() { fresh; fabric_port h2 DOWN; fabric_until eval '! saquery -C vqib1 NR | grep -qi 0x0011750000000120'; because 2 "the peer's port is gone: the SA has no port with the GID" 10.0.0.3; local s=$?
    fabric_port h2 UP; fabric_link 2 ib2; return $s; }
try "the peer's cable is out" unplugged
one_way() { fresh; fabric_fault h2 loss_ppm=1000000; because 2 "no packet comes back from the peer's port" 10.0.0.3; local s=$?; fabric_fault h2 loss_ppm=0; return $s; }
try "one direction is lost" one_way
netmask() { ip -n n1 addr flush dev ib1; ip -n n1 addr add 10.0.0.2/30 dev ib1; on1 2 --why 10.0.0.9 && says peer.port 'no route to 10.0.0.9.*ib1 10.0.0.2/30'; local s=$?
    on1 2 --why 10.0.0.3 && says peer.port 'broadcast address of the network of ib1'; s=$((s+$?))
    ip -n n1 addr flush dev ib1; ip -n n1 addr add 10.0.0.2/24 dev ib1; return $s; }
try "a wrong netmask, a broadcast address" netmask
old() { fresh; ip -n n1 neigh replace 10.0.0.3 dev ib1 nud permanent lladdr 00:00:00:77:fe:80:00:00:00:00:00:00:00:11:75:00:00:00:01:20
    on1 1 --why 10.0.0.3 && says peer.own-side '^fail .*neighbour table has an old address: the QPN differs: it has 00:00:00:77:.* -> ip neigh del 10.0.0.3 dev ib1'; local s=$?
    ip -n n1 neigh del 10.0.0.3 dev ib1; return $s; }
try "the neighbour table has an old queue pair" old
deaf_ping() { fresh; ip -n n2 neigh replace 10.0.0.2 dev ib2 nud permanent lladdr 80:00:00:99:fe:80:00:00:00:00:00:00:00:11:75:00:00:00:0d:ea
    on1 2 --why 10.0.0.3 && says peer.ping "^inconclusive it replies to the probe, but not to this host's ping from 10.0.0.2"; local s=$?
    ip -n n2 neigh del 10.0.0.2 dev ib2; on1 0 --why 10.0.0.3 && says peer.ping "^pass this host's ping is answered"; return $((s+$?)); }
try "the peer has an old address of this host" deaf_ping
elsewhere() { ip netns add pod; ip -n n1 link set ib1 netns pod; on1 0 --why -d vqib1 10.0.0.3; local s=$?; on1 1 --why 10.0.0.3 && says peer.own-side '^fail .*this host has no IPoIB interface there: none on vqib'; s=$((s+$?))
    ip -n pod link set ib1 netns n1; ip -n n1 addr add 10.0.0.2/24 dev ib1; ip -n n1 link set ib1 up; fabric_link 1 ib1; ip netns del pod; return $s; }
try "this host's interface is in another network namespace" elsewhere
deaf_here() { fresh; fabric_rewrite s0.2 'if lrh+2=c000 drop'; on1 0 --source 10.0.0.77 10.0.0.3 && says peer.broadcast '^noted it replied to echo requests only after'; local s=$?
    fabric_rewrite s0.2 off; on1 0 --source 10.0.0.78 10.0.0.3; return $((s+$?)); }
try "packets to the group do not reach this port" deaf_here
no_echo() { fabric_on 2 sysctl -qw net.ipv4.icmp_echo_ignore_all=1; on1 2 --source 10.0.0.77 10.0.0.3 && says peer.echo "^inconclusive it answers none of [1-6] echo requests: it drops ICMP echo, has no route back, or "; local s=$?
    fabric_on 2 sysctl -qw net.ipv4.icmp_echo_ignore_all=0; return $s; }
try "the peer drops ICMP echo" no_echo
limited() { for i in 1 2; do ip -n n$i link add link ib$i name ib$i.8001 type ipoib pkey 0x8001; ip -n n$i link set ib$i.8001 up; fabric_link $i ib$i.8001; done
    because 2 'this port is a limited member, and so are others' --pkey 0x8001 10.0.0.3; }
try "both are limited members" limited
lone() { ip -n n1 link add link ib1 name ib1.8002 type ipoib pkey 0x8002; ip -n n1 link set ib1.8002 up; fabric_link 1 ib1.8002; on1 0 -d ib1.8002 fabric && is fabric.forwarding skipped; local s=$?; ip -n n1 link del ib1.8002; return $s; }
try "a group of one member is not forwarded" lone
other() { for i in 1 2; do ip -n n$i link add link ib$i name ib$i.8002 type ipoib pkey 0x8002; ip -n n$i link set ib$i.8002 up; done
    ip -n n1 addr add 10.2.0.2/24 dev ib1.8002; ip -n n2 addr add 10.2.0.3/24 dev ib2.8002; fabric_link 1 ib1.8002; fabric_link 2 ib2.8002
    fabric_on 2 sysctl -qw net.ipv4.conf.all.arp_ignore=1
    on1 0 --why 10.2.0.3 && says peer.port 'through ib1.8002 (vqib1 port 1), P_Key 0x8002' && because 2 'it is on the link of another interface: asked for there, it replies: at ib1.8002 (P_Key 0x8002), and not at ib1 -> ipoib-probe -d ib1.8002 10.2.0.3' -d vqib1 10.2.0.3; }
try "another partition" other
elsewhere() { ip -n n2 link del ib2.8002; ip -n n2 link add link ib2 name ib2.8003 type ipoib pkey 0x8003; ip -n n2 link set ib2.8003 up; fabric_link 2 ib2.8003; ip -n n2 addr add 10.2.0.3/24 dev ib2.8003
    ip -n n1 neigh replace 10.2.0.3 dev ib1.8002 nud stale lladdr "$(ip -n n2 -br link show ib2.8003 | awk '{print $3}')"
    because 2 'the peer is not in the broadcast group: .*; it lists it in the group of partition 0x8001, 0x8003: the address may be on that interface, .* -> ipoib-probe --pkey 0x8001 10.2.0.3; ipoib-probe --pkey 0x8003 10.2.0.3; on the peer: ip -br addr' 10.2.0.3; }
try "the peer's interface is in another partition" elsewhere
dead_sm() { kill "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; because 2 'the subnet manager (SA) does not answer: there is no SA at LID 1' 10.0.0.3; }
try "the subnet manager is dead" dead_sm
cable() { fabric_port h1 DOWN; sleep 1; because 2 "this host's port has no link: vqib1 port 1 is Down" -d vqib1 10.0.0.3; }
try "this host's cable is out" cable
tap_end

# SPDX-License-Identifier: GPL-2.0-or-later
# ports PROBE CHECK LIB: a host with three adapters on two subnets; a scenario for testbed/fabric once, results in TAP in
# /fabric-out/tap. h0 runs an OpenSM and is a peer on the first subnet, h1 and h2 are the probe's there; h3 is the probe's on the second
# subnet, where h4 runs an OpenSM and is a peer.
probe=$1 check=$2
. "$3" || return 1
on1() { local want=$1; shift; fabric_on 1 "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }

fabric_up nhca=5 links=h0:s0.1,h1:s0.2,h2:s0.3,h3:s1.1,h4:s1.2 || return 1
second_sm() { mkdir -p /tmp/osm2; OSM_CACHE_DIR=/tmp/osm2 OSM_TMP_DIR=/tmp/osm2 opensm -g 0x0011750000000140 -f /tmp/osm2/log >/tmp/osm2/out 2>&1 & }
second_sm && fabric_sm || return 1
for i in 0 1 4; do ip netns add n$i; ip -n n$i link set lo up; done
for i in 0:0 1:1 2:1 3:1 4:4; do ip link set ib${i%:*} netns n${i#*:}; ip -n n${i#*:} link set ib${i%:*} up; done
ip -n n0 addr add 10.0.0.1/24 dev ib0; ip -n n1 addr add 10.0.0.2/24 dev ib1; ip -n n1 addr add 10.0.1.2/24 dev ib2
ip -n n1 addr add 10.0.3.2/24 dev ib3; ip -n n4 addr add 10.0.3.1/24 dev ib4
fabric_until fabric_on 1 ping -c 1 -W 1 10.0.0.1 && fabric_until fabric_on 1 ping -c 1 -W 1 10.0.3.1 || return 1

first() { on1 0 10.0.0.1 && says peer.port '^noted through ib1 (vqib1 port 1), P_Key 0xffff: the kernel.s route, source 10.0.0.2'; }
try "the port of the route: first subnet" first
second() { on1 0 10.0.3.1 && says peer.port '^noted through ib3 (vqib3 port 1), P_Key 0xffff'; }
try "the port of the route: second subnet" second
both() { on1 2 --timeout 200 10.0.0.1 10.0.3.1 10.0.9.9 && [ "$(targets)" = "0 1 2" ] && says peer.port ib1 && says peer.port ib3; }
try "targets of two subnets and of none in one run" both
named() { on1 2 -d vqib1 --timeout 200 10.0.3.1 && says peer.port "named by -d; the kernel's route does not"; }
try "the wrong port by -d: the line says so" named
zone() { peer6=$(fabric_link_local 4 ib4) && on1 0 "$peer6%ib3" && says peer.port 'through ib3'; }
try "a link-local address with its interface" zone
own() { on1 2 10.0.0.2; says peer.port 'through ib1 (vqib1 port 1), P_Key 0xffff: ib1 has the address itself'; }
try "an address of this host" own
# h0 and h4 have their interfaces in other namespaces: ports without one
fabric() { on1 0 fabric && [ "$(targets)" = "0 0 5" ] && [ "$(grep -c '^fabric.own-group.pass' /tmp/table)" = 2 ] &&
    [ "$(grep -c '^fabric.own-group.skipped' /tmp/table)" = 3 ] && [ "$(grep -c '^fabric.census.pass' /tmp/table)" = 2 ] &&
    says fabric.census 'the same subnet as that of fabric ib1'; }
try "fabric: three ports, groups and tables once a subnet" fabric
flux() { says fabric.own-flux 'interfaces may be on this link'; }
try "two adapters on one link: ARP flux" flux
down() { ip -n n1 link set ib3 down; on1 1 fabric && says fabric.interface '^fail ib3 is down -> ip link set ib3 up'; local s=$?
    ip -n n1 link set ib3 up; return $s; }
try "fabric: an interface that is down is not passed over" down
dead() { fabric_port h3 DOWN; sleep 1; on1 1 fabric && says fabric.port-state '^fail Down'; }
try "fabric: a cable that is unplugged" dead
unused() { ip -n n1 link set ib3 down; on1 0 fabric && says fabric.unused-ports 'vqib3 port 1 (ib3)' && on1 1 --all-ports fabric; }
try "fabric: a port that is not in use is named" unused
tap_end

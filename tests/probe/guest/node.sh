# SPDX-License-Identifier: GPL-2.0-or-later
# node PROBE CHECK LIB: ipoib-probe node on h1 while faults come and go; a scenario for testbed/fabric once, results in TAP in
# /fabric-out/tap. h0 runs OpenSM and is in a namespace; h1's interface is beside the kernel's debugfs.
probe=$1 check=$2
. "$3" || return 1
# node STATUS PATTERN [OPTION]...: runs it, and checks exit status and line
node() { local want=$1 pattern=$2; shift 2; "$probe" --state /tmp/state "$@" node > /tmp/line; local got=$?
    cat /tmp/line; [ $got = "$want" ] || { echo "exit $got, not $want"; return 1; }; grep -q -- "$pattern" /tmp/line; }
is_ok() { node 0 '^ok: ib1 0xffff mtu 2044'; }
comes_back() { fabric_until is_ok && is_ok; }
runs() { [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ]; }

both() { echo 'Default=0x7fff, ipoib : ALL=full;'; }
other() { both; echo 'Other=0x0001, ipoib : ALL=full;'; }
other > /tmp/partitions
fabric_up topo=1 && fabric_sm -P /tmp/partitions || return 1
ip netns add n0; ip link set ib0 netns n0; ip -n n0 link set ib0 up
ip link set ib1 up && fabric_until runs ib1 || return 1

try "a healthy node is ok" comes_back
kernel() { node 0 'node.joins  [1-9][0-9]* groups joined, 0 waiting' -v && node 0 'node.group .*MLID 0xc000' -v; }
try "what the kernel and OpenSM say" kernel
metrics() { node 0 '^ipoib_node_broadcast_member{device="vqib1",port="1",interface="ib1"} 1' --format prometheus; }
try "metrics" metrics
child() { ip link add link ib1 name ib1.8001 type ipoib pkey 0x8001 && ip link set ib1.8001 up && fabric_until runs ib1.8001 &&
    node 0 '^ok: ib1 0xffff mtu 2044, ib1.8001 0x8001 mtu 2044' && node 0 '^ok'; }
try "a child interface" child
quick() { local begin end; begin=$(date +%s%N); node 0 ''; end=$(date +%s%N); echo "$(((end-begin)/1000000)) ms"; [ $((end-begin)) -lt 1000000000 ]; }
try "it takes less than a second" quick

pkey() { both > /tmp/partitions; kill -HUP "$FABRIC_SM"; fabric_until node 1 'ib1.8001 0x8001: vqib1 port 1 is not in partition 0x8001'; }
try "the P_Key is taken away" pkey
pkey_back() { other > /tmp/partitions; kill -HUP "$FABRIC_SM"; fabric_until node 0 'ib1.8001 0x8001'; }
try "the P_Key comes back" pkey_back
deleted() { ip link del ib1.8001; node 0 '^degraded: ib1.8001: ib1.8001 was there in the last run'; comes_back; }
try "the child interface is deleted" deleted

cable() { fabric_port h1 DOWN; fabric_until node 1 'ib1 0xffff: vqib1 port 1 is Down'; }
try "the cable is unplugged" cable
cable_back() { fabric_port h1 UP && fabric_active h1 && fabric_until runs ib1 && fabric_until node 0 '^degraded: .* grew by' && comes_back; }
try "the cable is back: the flap is seen once" cable_back
down() { ip link set ib1 down; node 1 'ib1 is down; ip link set ib1 up'; local s=$?; ip link set ib1 up; fabric_until runs ib1 && comes_back && return $s; }
try "the interface is down" down

sm() { kill -KILL "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; rm -rf /tmp/osm; node 2 '^not judged: ib1 0xffff: \(the SA at LID . did not answer\|there is no SA\)'; }
try "the SM is killed" sm
sm_back() { fabric_sm -P /tmp/partitions && comes_back; }
try "the SM is back" sm_back
# An SM that does not ask for registrations: Linux keeps memberships that the SA does not have.
echo 'no_clients_rereg TRUE' > /tmp/opensm.conf
forgotten() { kill -KILL "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; rm -rf /tmp/osm; fabric_sm -F /tmp/opensm.conf -P /tmp/partitions
    node 1 'the SA does not have this port in the broadcast group of 0xffff, and the kernel has joined it'; }
try "an SM that forgot the membership" forgotten
again() { ip link set ib1 down; ip link set ib1 up; fabric_until runs ib1 && comes_back; }
try "down and up joins again" again
tap_end

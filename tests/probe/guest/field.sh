# SPDX-License-Identifier: GPL-2.0-or-later
# field PROBE CHECK LIB: faults that administrators meet; a scenario for testbed/fabric once, results in TAP in /fabric-out/tap. Three HCAs on
# a switch, port MTU 2048: h0 runs OpenSM and is the peer, h1 is the probe's, h2 is a second host.
probe=$1 check=$2
. "$3"
on1() { local want=$1; shift; fabric_on 1 "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
# checks that this is one of the outcomes of the rule
is() { result "$1" | grep -q "^$2" || { echo "$1 is not $2:"; result "$1"; return 1; }; }

fabric_up nhca=3 topo=1 ibmtu=4 && fabric_sm && fabric_nets datagram || return 1
fabric_on 1 ping -c 1 10.0.0.1 && fabric_on 1 ping -c 1 10.0.0.3 || return 1
peer6=$(fabric_link_local 0 ib0) || return 1
for i in $(seq 2 2 254); do echo "addr add 10.0.1.$i/24 dev ib0"; done | ip -n n0 -batch - || return 1

# ---- sweeps
sweep() { report 0 -d vqib1 --rate 2000 10.0.1.0/24 && no_failure && [ "$(targets)" = "0 0 127" ] &&
    says sweep.answers '127 of 254 addresses reply; no reply: 10.0.1.1, 10.0.1.3, ' &&
    says sweep.proxy '^noted 127 of them are at .*(QPN 0x'; }
# tests/unit/test_probe_sweep.c checks the duration, with simulated time: this machine is emulated and shared
try "254 addresses, every second one replies: no violation" sweep
mixed() { report 2 -d vqib1 --timeout 200 10.0.0.1 10.0.0.99 10.0.0.3 && [ "$(targets)" = "0 1 2" ]; }
try "named addresses: the one that does not reply was not tested" mixed
no_peer() { report 2 -d vqib1 --timeout 100 10.9.0.0/28 && says sweep.answers '^noted 0 of 14'; }
try "a prefix without a peer" no_peer
six() { report 0 -d vqib1 "$peer6/125" && says sweep.answers '1 of 8 addresses reply'; }
try "an IPv6 prefix" six
interrupted() { local s; env --default-signal=INT "$probe" -d vqib1 10.0.1.0/24 >/dev/null 2>&1 & sleep 2; kill -INT $!; wait $!; s=$?; [ $s = 130 ]; }
try "a sweep is interrupted: 130" interrupted

# ---- through an interface
# Without libibverbs devices the probe uses the interface itself
no_verbs() { local want=$1; shift
    fabric_on 1 unshare -m sh -c 'mount -t tmpfs none /dev/infiniband && exec "$@"' sh "$probe" --format json -o /tmp/report "$@"
    local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
packet() { no_verbs 0 -d ib1 -w /fabric-out/packet.pcapng 10.0.0.1 && no_failure && is rfc4391.6.reserved-ignored pass && is rfc4391.9.1.1.flags-ignored pass &&
    is rfc4391.9.2.arp-as-rfc826 pass && is rfc4391.6.grh-optional skipped && is rfc4391.13.qkey-controlled skipped; }
try "through ib1, without verbs" packet
by_interface() { on1 0 -d ib1 --only rfc4391.6.grh-optional 10.0.0.1 && is rfc4391.6.grh-optional pass && says peer.port 'through ib1 (vqib1 port 1), P_Key 0xffff: named by -d'; }
try "-d ib1 is its device, port and partition" by_interface
# Without the Reserved field and the flags, which the probe sets wrongly on purpose
try "its capture conforms" "$check" --only rfc4391.9.2 --only rfc4391.6.type --only rfc4391.6.encapsulation-header /fabric-out/packet.pcapng
packet6() { no_verbs 0 -d ib1 "$peer6" && no_failure && is rfc4391.9.3.nd-option-padding pass; }
try "an IPv6 peer through ib1" packet6
packets() { no_verbs 0 -d ib1 --rate 2000 10.0.1.0/28 && [ "$(targets)" = "0 0 7" ]; }
try "a sweep through ib1" packets
own6() { report 0 -d vqib1 --source fe80::77 "$peer6" && no_failure && is rfc4391.9.1.1.flags-ignored pass &&
    is peer.nd-padding noted; }
try "NS from the address of --source" own6

# ---- privileges
unprivileged() { fabric_on 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$probe" -d ib1 10.0.0.1 >/tmp/out 2>&1; [ $? = 3 ] && grep -q CAP_NET_RAW /tmp/out; }
try "no CAP_NET_RAW: exit status 3, and the message names it" unprivileged
dropped() { "$probe" -d vqib1 --timeout 3000 10.0.0.99 >/dev/null 2>&1 & local pid=$!; fabric_await /proc/$pid/status '^CapEff.*0000000000006000$'; local s=$?; kill $pid; wait $pid; return $s; }
try "only CAP_NET_RAW and CAP_IPC_LOCK remain" dropped

# ---- the fabric, from the host's view
healthy() { on1 0 -d vqib1 fabric && no_failure && is fabric.own-group pass && is fabric.mode pass && is fabric.own-groups pass &&
    is fabric.neighbours pass && is fabric.own-flux pass && is rfc4391.11.router-nonmember-join 'pass\|noted'; }
try "a healthy host and fabric" healthy
stale() { ip -n n1 neigh replace 10.0.0.1 dev ib1 nud permanent lladdr 00:00:00:77:fe:80:00:00:00:00:00:00:00:11:75:00:00:00:01:00
    on1 1 -d vqib1 fabric && is fabric.neighbours fail && says fabric.neighbours 'the neighbour table has 10.0.0.1 at 00:00:00:77:'; local s=$?
    ip -n n1 neigh replace 10.0.0.1 dev ib1 nud permanent lladdr 00:00:00:03:fe:80:00:00:00:00:00:00:00:11:75:00:00:00:09:99
    on1 1 -d vqib1 fabric && says fabric.neighbours '1 of [0-9]* neighbours .*10.0.0.1 moved from port fe80::11:7500:0:999 to port fe80::11:7500:0:100'; s=$((s+$?)); ip -n n1 neigh del 10.0.0.1 dev ib1; return $s; }
try "a neighbour entry with another GID than the peer's, and one with a GID that no port has" stale
twice() { ip -n n2 addr add 10.0.0.1/24 dev ib2; report 1 -d vqib1 10.0.0.1; is peer.arp-flux fail &&
    says peer.arp-flux 'GID fe80::.* and .*GID fe80::'; local s=$?
    report 1 -d vqib1 10.0.0.0/28; is peer.arp-flux fail; s=$((s+$?)); ip -n n2 addr del 10.0.0.1/24 dev ib2; return $s; }
try "two nodes reply for one address" twice
small() { ip -n n1 link set ib1 mtu 1500; on1 0 -d vqib1 fabric; says fabric.mode "^noted.*MTU 1500 bytes; the link's is 2044"; local s=$?; ip -n n1 link set ib1 mtu 2044; return $s; }
try "an interface whose MTU is not the link's" small

# ---- requests and responses of the SA, rewritten on the wire
# Changes JoinState SendOnlyFullMember to 0, which every SM rejects
send_only() { fabric_rewrite h1 'if data+3=02 if data+16=0038 if data+104=08 set data+104=00'
    on1 0 -d vqib1 fabric && is fabric.send-only-join noted && says fabric.send-only-join 'refused: status 0x0200'; local s=$?; fabric_rewrite h1 off; return $s; }
try "a send-only join that is rejected" send_only
# The master lists a second SM after its next sweep, which is every ten seconds.
second_sm() { for _ in 1 2 3 4 5; do on1 0 -d vqib1 fabric && says fabric.sm '\(standby\|discovering\), priority 0' && return; sleep 3; done; return 1; }
# A second OpenSM is standby; the SA's table (the second record is 32 bytes after the first) has it as master
masters() { mkdir -p /tmp/osm2; OSM_CACHE_DIR=/tmp/osm2 OSM_TMP_DIR=/tmp/osm2 opensm -g 0x0011750000000120 -p 0 -f /tmp/osm2/log >/tmp/osm2/out 2>&1 & local sm=$! s
    fabric_await /tmp/osm2/out STANDBY && second_sm && is fabric.sm pass &&
        fabric_rewrite h0 'if data+3=92 if data+16=0018 set data+112=03' && on1 1 -d vqib1 fabric && is fabric.sm fail && says fabric.sm 'two masters' &&
        is sm.one-master noted; s=$?; fabric_rewrite h0 off; kill $sm; wait $sm 2>/dev/null; return $s; }
try "two masters" masters

# ---- the SM restarts without client re-registration: its groups have no members
forgotten() { opensm -c /tmp/sm.conf >/dev/null; sed -i 's/^no_clients_rereg .*/no_clients_rereg TRUE/' /tmp/sm.conf; grep -q '^no_clients_rereg TRUE' /tmp/sm.conf || return 1
    kill "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; fabric_sm -F /tmp/sm.conf
    on1 1 -d vqib1 fabric; is fabric.own-groups fail && says fabric.own-groups 'this port is not in .*ff12:401b:ffff::1'; }
try "groups that the SA lost by a restart" forgotten
cured() { ip -n n1 link set ib1 down; ip -n n1 link set ib1 up; fabric_link 1 ib1 && sleep 2 && on1 0 -d vqib1 fabric && is fabric.own-groups pass; }
try "after the advised commands the groups exist" cured

# ---- the SM restarts with other partitions
again() { kill "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; rm -rf /tmp/osm; printf '%s\n' "$@" > /tmp/partitions
    local i; for i in 0 1 2; do ip -n n$i link set ib$i down; done; fabric_sm -P /tmp/partitions; }
mtu() { again 'Default=0x7fff, ipoib, mtu=5 : ALL=full;'; ip -n n1 link set ib1 up; report 1 -d vqib1 fabric; is fabric.mtu fail && is fabric.join fail && says fabric.join 'cause: the MTU:'; }
try "the group's MTU is above the port's: the driver's -22 is explained" mtu
rate() { again 'Default=0x7fff, ipoib, rate=10 : ALL=full;'; report 1 -d vqib1 fabric; is fabric.rate fail && says fabric.join 'cause: the rate:'; }
try "the group's rate is above the port's" rate
limited() { again 'Default=0x7fff, ipoib : ALL=full;' 'P1=0x8001, ipoib : 0x0011750000000100=full, 0x0011750000000110=limited;'
    report 0 -d vqib1 --pkey 0x8001 fabric; says fabric.pkey '0x0001 at index 1: limited member' && is partition.overlap noted; }
try "a limited member" limited
none() { again 'Default=0x7fff : ALL=full;'; report 1 -d vqib1 fabric; is fabric.broadcast-group fail && is fabric.join skipped; }
try "no broadcast group" none
# the switch has 1024 MLIDs
crowd() { again 'Default=0x7fff, ipoib :' $(seq -f 'mgid=ff12:601b:ffff::1:ff00:%g' 1000 1899) 'ALL=full;'; report 1 -d vqib1 fabric; is fabric.census fail && says fabric.census 'MLIDs of 1024;.* 900 solicited-node,.* 900 without a member -> groups without a member take most'; }
try "solicited-node groups without a member take most MLIDs" crowd
tap_end

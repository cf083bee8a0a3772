# SPDX-License-Identifier: GPL-2.0-or-later
# kernel PROBE CHECK LIB: ipoib-probe (and ipoib-check) against the kernel's IPoIB; a scenario for testbed/fabric once, results in TAP
# in /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the probe's, in partition 0x8001 too; then a peer in connected mode; then faults.
probe=$1 check=$2
. "$3" || return 1
no_harm() { members > /tmp/after; cat /tmp/before; diff /tmp/before /tmp/after && fabric_on 1 ping -c 1 -W 2 10.0.0.1; }

{ echo 'Default=0x7fff, ipoib : ALL=full;'; echo 'Other=0x0001 : 0x0011750000000110=full;'; } > /tmp/partitions
fabric_up && fabric_sm -P /tmp/partitions && fabric_nets datagram connected:65520 || return 1
peer6=$(fabric_link_local 0 ib0) && fabric_on 1 ping -c 1 10.0.0.1 && members > /tmp/before && grep -q ff12:401b:ffff::ffff:ffff /tmp/before || return 1

everything() { report 0 -d vqib1 --source 10.0.0.77 --disruptive -w /fabric-out/probe.pcapng 10.0.0.1 && no_failure &&
    is rfc4391.2.ud-supported pass && is rfc4391.6.grh-optional pass && is rfc4391.6.reserved-ignored pass &&
    is rfc4391.7.mtu-2044 pass && is rfc4391.9.1.qkey-match pass && [ "$(worst rfc4391.9.1.1.flags-ignored)" = pass ] &&
    is rfc4391.9.1.1.gid-from-port-guid pass && is rfc4391.8.u-bit pass && is rfc4755.3.1.ud-only-flags skipped &&
    is partition.invalid-dropped pass && is peer.sizes pass && is peer.numbers noted; }
try "a peer in datagram mode conforms" everything
try "the host's memberships are unchanged" no_harm
try "ipoib-check finds no violation in the peer's packets" eval \
    '"$check" --only rfc4391.9.2 --only rfc4391.8 --only rfc4391.10 /fabric-out/probe.pcapng'
# The probe waits a second before each request whose reply is evidence. The emulated machine is slow: the shortest of three runs counts
in_time() { local i s; for i in 1 2 3; do s=$(date +%s%N); report 0 -d vqib1 --only rfc4391.6 10.0.0.1 || return 1
    [ $(($(date +%s%N)-s)) -lt 6000000000 ] && return 0; done; echo "$(($(date +%s%N)-s)) ns"; return 1; }
try "--only rfc4391.6 takes less than 6 s" in_time
ipv6() { report 0 -d vqib1 --source fe80::77 "$peer6" && no_failure && is rfc4391.9.3.nd-option-padding pass &&
    is rfc4391.7.mtu-2044 pass && is rfc4391.6.reserved-ignored pass; }
try "an IPv6 peer" ipv6
connected() { report 0 -d vqib0 --source 10.0.0.78 10.0.0.2 && no_failure && is rfc4755.2.rfc4391-supported pass &&
    is rfc4391.7.mtu-2044 pass && is rfc4755.7.any-mode-accepted pass; }
try "a peer in connected mode, MTU 65520" connected
absent() { report 2 -d vqib1 --timeout 100 10.0.0.99; }
try "an absent peer: not tested" absent
in_use() { ip -n n0 addr add 10.0.0.50/24 dev ib0 && report 0 -d vqib1 --source 10.0.0.50 10.0.0.1 2>/tmp/said; grep 'in use' /tmp/said &&
    is rfc4391.7.mtu-2044 skipped && fabric_on 1 "$probe" -d vqib1 --source 10.0.0.2 --format json -o /tmp/report 10.0.0.1 2>/tmp/said;
    grep "in use, by this host's ib1" /tmp/said && is rfc4391.7.mtu-2044 skipped; }
try "--source with an address in use is rejected" in_use
fabric() { report 0 -d vqib1 fabric && is fabric.join pass && is fabric.census pass && is rfc4391.4.1.qkey-controlled deviation &&
    is sm.one-master pass; }
try "the fabric, healthy" fabric
own() { fabric_on 1 "$probe" -d vqib1 --format json -o /tmp/report fabric; is fabric.interface pass && is fabric.own-groups pass &&
    is fabric.sa-times noted && is fabric.known-faults pass && fabric_on 1 "$probe" -d vqib1 --format json -o /tmp/report 10.0.0.1; is peer.rdma-cm pass; }
try "the host's interface and groups; rdma_cm as applications use it" own
try "the fabric is unchanged" no_harm
killed() { local s i; for i in 1 2 3 4 5 6; do s=$([ $((i % 2)) = 0 ] && echo INT || echo KILL)
    env --default-signal=INT "$probe" -d vqib1 --source 10.0.0.77 10.0.0.1 >/dev/null 2>&1 & sleep 0.$((RANDOM % 9)); kill -$s $!; wait $!; done; }
try "SIGINT and SIGKILL at any time" eval 'killed; no_harm'
unprivileged() { setpriv --reuid 65534 --regid 65534 --clear-groups "$probe" -d vqib1 10.0.0.1 >/tmp/out 2>&1; [ $? = 3 ] && grep -q 'permission denied\|may not open\|not permitted' /tmp/out; }
try "without privilege: exit status 3, and the missing privilege" unprivileged
loss() { fabric_fault all loss_ppm=100000; "$probe" -d vqib1 --source 10.0.0.77 --format json -o /tmp/report 10.0.0.1; s=$?
    fabric_fault all loss_ppm=0; [ $s = 0 ] || [ $s = 2 ] && no_failure; }
try "10 % loss causes no violation" loss
# A packet without GRH whose length is 256 words or more is lost on the way to the peer: 36 bytes and 985 bytes of datagram, padded
lossy_path() { fabric_rewrite h1 off 'if lrh+4=01 drop' 'if lrh+4=02 drop'; report 1 -d vqib1 --source 10.0.0.77 10.0.0.1; local s=$?; fabric_rewrite h1 off
    [ $s = 0 ] && is peer.sizes fail && grep 'packets above 984 bytes are lost on the path; requests of up to 984 bytes arrive; replies of 2044 bytes arrive' /tmp/report &&
    [ "$(worst rfc4391.7.mtu-2044)" = inconclusive ]; }
try "a path that loses large packets is no violation of the peer" lossy_path
watched() { report 0 -d vqib1 --count 3 10.0.0.1 && is peer.watch pass && is peer.numbers noted && grep '"actual": "3 requests, 3 answered; nothing changed"' /tmp/report; }
try "--count: requests, a line each" watched
no_interface() { ip -n n1 link set ib1 down; sleep 1; members > /tmp/before; report 0 -d vqib1 10.0.0.1 && members > /tmp/after &&
    diff /tmp/before /tmp/after && report 0 -d vqib1 fabric && is fabric.join pass && members > /tmp/after && diff /tmp/before /tmp/after; }
try "without ib0 the probe joins and leaves" no_interface
no_sm() { kill "$FABRIC_SM"; wait "$FABRIC_SM" 2>/dev/null; report 1 -d vqib1 fabric; is fabric.sm fail && is fabric.broadcast-group skipped &&
    report 2 -d vqib1 --timeout 100 10.0.0.1 && { grep 'there is no SA at LID 1: ' /tmp/report || { cat /tmp/report; false; }; }; }
try "the SM dies" no_sm
port() { fabric_port h1 DOWN; sleep 1; report 1 -d vqib1 fabric; is fabric.port-state fail && is fabric.sm skipped; }
try "an unplugged cable" port
tap_end

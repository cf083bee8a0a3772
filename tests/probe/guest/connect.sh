# SPDX-License-Identifier: GPL-2.0-or-later
# connect PROBE CHECK LIB: ipoib-probe's connections to the kernel's IPoIB; a scenario for testbed/fabric once, results in TAP in
# /fabric-out/tap. h0 runs OpenSM, in datagram mode; h1 is in connected mode with MTU 65520. Linux announces RC in both modes.
probe=$1 check=$2
. "$3" || return 1
fabric_up && fabric_sm && fabric_nets datagram connected:65520 || return 1
peer6=$(fabric_link_local 1 ib1) || return 1    # no ping between the two: ib1 would make a connection for the reply
# are OUTCOME RULE...: checks that this is the worst outcome of each rule
are() { local want=$1 got rule; shift; for rule; do got=$(worst "rfc4755.$rule"); [ "$got" = "$want" ] || { echo "rfc4755.$rule: $got, not $want"; return 1; }; done; }
# prints the kernel's connections; a closed one remains for a short time (IBA 12.9.8.4: TimeWait)
connections() { rdma resource show qp | grep -c 'type [RU]C'; }
none_left() { local i; for i in $(seq 100); do [ "$(connections)" = 0 ] && return 0; sleep 0.1; done; rdma resource show qp; return 1; }

# The peer has no neighbour entry of the probe, that is with h0's GID, which ib0 also has, and another QPN than ib0's.
stranger() { local own; own=$(ip -n n0 -o link show ib0 | grep -oE 'infiniband [0-9a-f:]+' | cut -d' ' -f2)
    ip -n n1 neigh | grep lladdr | grep -v "$own" && return 1; return 0; }

# The behaviour of Linux 6.1, from the source (ipoib_cm.c) and from captures, by section of RFC 4755:
#   3.5   it listens on Service-ID 0x10... and not on the RFC's 0x01...: REJ with reason 8, a known deviation
#   3.2   its REP carries the UD QPN of its address; ib_cm sends that REJ, without private data, a known deviation
#   6     REP: Reserved 0, UD QPN, Receive MTU 65524 (IPOIB_CM_BUF_SIZE)
#   3.1   it sends the reply to a request with the flags 0xc0 over UD; it announces RC, and accepts REQs for RC
#   7     it replies to ARP that arrives over a connection by unicast_arp_send(), over UD for all flags of the neighbour
#   2     UD works during a connection and after it
# Checks that need --source are skipped.
without_source() { report 0 -d vqib0 --only rfc4755 10.0.0.2 && no_failure &&
    are deviation 3.5.service-id 3.2.ud-qpn-in-private-data &&
    are pass 6.private-data 6.reserved-zero 3.1.reply-to-ud-qpn 3.1.flags 7.resolution-over-ud 2.rfc4391-supported &&
    are skipped 2.1.multicast-over-ud 4.type 4.encapsulation-header 5.1.connection-mtu 7.any-mode-accepted 3.1.ud-only-flags &&
    is peer.second-connection noted && is peer.disconnect noted && grep -q 'answered by a DREP' /tmp/report && stranger; }
try "without --source: Service-ID, private data, resolution, disconnection; the peer stores nothing" without_source
try "no connection of this run remains" none_left

# With --source: the peer accepts IP over RC up to 65520 octets (the smaller Receive MTU minus 4), also with Reserved 0xbeef. The peer
# must first resolve the address, by a broadcast over UD. It replies over UD, because the flags of the address are 0, so its
# packets over connections (section 4) cannot be checked. It does not announce UC: REJ (reason 28, because its QP is an RC one).
with_source() { fabric_capture wire.pcap; report 0 -d vqib0 --source 10.0.0.78 --disruptive -w /fabric-out/probe.pcapng 10.0.0.2; local s=$?; fabric_capture_end && [ $s = 0 ] && no_failure &&
    are deviation 3.5.service-id 3.2.ud-qpn-in-private-data &&
    are pass 6.private-data 6.reserved-zero 3.1.reply-to-ud-qpn 3.1.flags 7.resolution-over-ud 2.rfc4391-supported &&
    are pass 2.1.multicast-over-ud 5.minimum-mtu 5.1.connection-mtu 7.any-mode-accepted && [ $(worst rfc4391.6.reserved-ignored) = pass ] &&
    are skipped 4.type 4.encapsulation-header && grep -q 'REJ, reason 28' /tmp/report && grep -q 'up to 65520 are answered' /tmp/report; }
try "with --source: IP over RC, sizes, a mode that the peer does not announce" with_source
try "the capture of the probe has the packets of the wire" python3 /fabric-out/on_wire.py /fabric-out/probe.pcapng /fabric-out/wire.pcap
# ipoib-check finds the same violated rules of RFC 4755 in the probe's capture and in the capture of the wire: the probe's own ARP
# over a connection is a violation; Linux's REJ of its own Service-ID, the probe's RTU (rdma_cm's is empty) and its Service-ID are known
# deviations. The REJ of the RFC's Service-ID is inconclusive until the peer has accepted a connection.
verdicts() { "$check" --only rfc4755 --format json "$1" | python3 -c '
import json, sys
for r in json.load(sys.stdin)["results"]: r["outcome"] in ("fail", "deviation") and print(r["id"], r["outcome"], r["actual"])' | sort -u; }
agree() { verdicts /fabric-out/probe.pcapng > /tmp/written; verdicts /fabric-out/wire.pcap > /tmp/on-wire; cat /tmp/written; diff /tmp/written /tmp/on-wire && grep -q 'no private data in the REJ' /tmp/written; }
try "ipoib-check reports the same for both" agree
again() { report 0 -d vqib0 --source 10.0.0.78 --only rfc4755.7 10.0.0.2 && no_failure && are pass 7.any-mode-accepted 7.resolution-over-ud; }
try "a single section" again

ipv6() { report 0 -d vqib0 --source fe80::78 "$peer6" && no_failure && are deviation 3.5.service-id &&
    are pass 2.1.multicast-over-ud 5.minimum-mtu 5.1.connection-mtu 7.any-mode-accepted 7.resolution-over-ud &&
    grep -q 'up to 65520 are answered' /tmp/report; }
try "IPv6" ipv6
# In datagram mode Linux nevertheless announces RC, accepts REQs, and receives up to 65520 octets (testbed/scenarios/mixed.sh).
datagram() { report 0 -d vqib1 --source 10.0.0.77 10.0.0.1 && no_failure && are deviation 3.5.service-id &&
    are pass 5.1.connection-mtu 7.any-mode-accepted 6.private-data; }
try "a peer in datagram mode accepts connections too" datagram
try "no connection remains" none_left

# ---- failures
killed() { local s i; for i in 1 2 3 4 5 6 7 8 9; do s=$(printf '%s\n' INT TERM KILL | sed -n $((i % 3 + 1))p)
    env --default-signal=INT "$probe" -d vqib0 --source 10.0.0.78 --only rfc4755 10.0.0.2 >/dev/null 2>&1 & sleep 1.$((RANDOM % 9)); kill -$s $!; wait $!; done; }
try "SIGINT, SIGTERM and SIGKILL at any time leave no connection" eval 'killed; none_left && fabric_on 0 ping -c 1 -W 2 10.0.0.2'
loss() { fabric_fault all loss_ppm=50000; "$probe" -d vqib0 --source 10.0.0.78 --only rfc4755 --format json -o /tmp/report 10.0.0.2; local s=$?
    fabric_fault all loss_ppm=0; [ $s = 0 ] || [ $s = 2 ] && no_failure; }
try "5 % loss causes no violation" loss
lost() { fabric_rewrite h1 'if bth+0=11 drop'; report 1 -d vqib0 10.0.0.2; local s=$?; fabric_rewrite h1 off; [ $s = 0 ] && are deviation 3.5.service-id && [ "$(worst rfc4755.7.resolution-over-ud)" != fail ] &&
    says peer.connections '^fail none of 2 messages over connections was acknowledged, and requests over UD are answered'; }
try "acknowledgements of connections are lost" lost
dies() { (sleep 1.5; ip -n n1 link set ib1 down) & "$probe" -d vqib0 --source 10.0.0.78 --timeout 100 --only rfc4755 --format json -o /tmp/report 10.0.0.2
    local s=$?; wait $!; ip -n n1 link set ib1 up; fabric_link 1 ib1; [ $s = 0 ] || [ $s = 2 ] && no_failure; }
try "no violation of a peer that disappears during the run" dies
# rdma_ucm is the kernel's part of librdmacm; the kernel loads it when a program opens its device
no_ucm() { echo 'install rdma_ucm /bin/false' > /etc/modprobe.d/no-ucm.conf; rmmod rdma_ucm || return 1; report 0 -d vqib0 --source 10.0.0.79 --only rfc4755 10.0.0.2; local s=$?; rm /etc/modprobe.d/no-ucm.conf; modprobe rdma_ucm; [ $s = 0 ] &&
    are skipped 5.1.connection-mtu 6.private-data && grep -q 'modprobe rdma_ucm' /tmp/report; }
try "without rdma_ucm the checks are skipped, with the reason" no_ucm
tap_end

# SPDX-License-Identifier: GPL-2.0-or-later
# watch PROBE CHECK LIB: what --count and --interval say of faults that begin meanwhile; a scenario for testbed/fabric once, results
# in TAP in /fabric-out/tap. Four HCAs on a switch: h0 runs OpenSM, h1 is the probe's host, h2 is the peer, h3 another host.
probe=$1 check=$2
. "$3" || return 1
# watch FAULT ARGUMENT...: runs the probe in the background and FAULT after its fourth request; the output is in /tmp/lines
watch() {
    local fault=$1; shift
    : > /tmp/lines; (exec ip netns exec n1 "$probe" "$@" 10.0.0.3 > /tmp/lines) & watched=$!
    fabric_await /tmp/lines ': reply 4 ' && $fault
}
# The output without line breaks has WORDS, and no line is longer than a terminal's.
shows() { tr -s ' \n' ' ' < /tmp/lines > /tmp/text; grep -qE "$1" /tmp/text && ! grep -E '.{80}' /tmp/lines || { cat /tmp/lines; return 1; }; }
# in_time: each request ended within two seconds of its time
in_time() {
    python3 -c '
import re, time
lines = [l for l in open("/tmp/lines") if re.match(r"[0-9-]{10} \S+  10\.0\.0\.3: (reply|no reply)", l)]
at = [(time.mktime(time.strptime(l[:19], "%Y-%m-%d %H:%M:%S")) - int(re.search(r"(?:reply|request) (\d+)", l).group(1))) for l in lines]
raise SystemExit(max(at) - min(at) > 2 or len(lines) < 8)' || { cat /tmp/lines; return 1; }
}
hang() { fabric_fault h2 loss_ppm=1000000; }
gap() { fabric_fault h2 loss_ppm=1000000; fabric_await /tmp/lines EVENT; fabric_fault h2 loss_ppm=0; }
limited() { echo 'Default=0x7fff, ipoib : ALL=limited, SELF=full;' > /tmp/partitions; kill -HUP "$FABRIC_SM"; }
down() { ip -n n1 link set ib1 down; }

echo 'Default=0x7fff, ipoib : ALL=full;' > /tmp/partitions
fabric_up nhca=4 topo=1 && fabric_sm -P /tmp/partitions && fabric_nets datagram || return 1

# The clock of the emulated machine may jump: one of three runs must keep the times.
one_of_three() { local i; for i in 1 2 3; do "$@" && return 0; done; return 1; }
hangs() { local s; watch hang --count 12; wait $watched; s=$?; fabric_fault h2 loss_ppm=0; [ $s = 1 ] && in_time && shows 'EVENT 10.0.0.3: no longer replies: no packet comes back from the peer.s port: .* \(LID [0-9]+\) .* its port is Active, .* host hangs'; }
try "a peer that hangs" one_of_three hangs
stopped() { local begin s; watch hang --interval 1; fabric_await /tmp/lines 'EVENT'; begin=$(date +%s); kill -INT $watched; wait $watched; s=$?; begin=$(($(date +%s)-begin)); fabric_fault h2 loss_ppm=0
    echo "exit $s after $begin s"; [ $s = 1 ] && [ $begin -le 4 ] && shows 'no packet comes back from the peer.s port: .* -> '; }
try "the cause after SIGINT" one_of_three stopped
lossy() { tc -n n1 qdisc add dev ib1 root netem loss 50%; watch gap --count 14; wait $watched; shows 'EVENT 10.0.0.3: replies again' && ! grep -q 'no packet of the probe' /tmp/text; local s=$?; tc -n n1 qdisc del dev ib1 root; return $s; }
try "no packet was lost is not said after a silence" one_of_three lossy
set_down() { watch down --count 10; wait $watched; shows "EVENT this host's ib1 is down"; local s=$?; ip -n n1 link set ib1 up; fabric_link 1 ib1; return $s; }
try "this host's interface is set down" set_down
both_limited() { watch limited --count 16; wait $watched; [ $? = 1 ] && shows "EVENT this host's port vqib1 1 .*0x7fff.* limited member" &&
    shows 'EVENT 10.0.0.3: no longer replies: both ports are limited members' && ! grep -E 'cable|another partition' /tmp/lines; }
try "both become limited members" both_limited
tap_end

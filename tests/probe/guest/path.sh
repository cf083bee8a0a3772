# SPDX-License-Identifier: GPL-2.0-or-later
# path PROBE CHECK LIB: packets that are lost between switches, and an SA that answers late; a scenario for testbed/fabric once, results
# in TAP in /fabric-out/tap. Three switches in a row: h0 runs OpenSM, h1 is the probe's host, h2 and h3 are peers behind one and two
# cables between switches.
probe=$1 check=$2
. "$3" || return 1
on1() { local want=$1; shift; fabric_on 1 "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
switch_lid() { ibswitches -C vqib1 | sed -n "s/.*virtual switch $1\".* lid \([0-9]*\) .*/\1/p"; }
# between FROM PORT TO PORT: the words about packets damaged on the way from one switch to the next
between() { echo "packets are damaged on the link between the switch with LID $(switch_lid "$1") (port $2) and the switch with LID $(switch_lid "$3") (port $4): port_rcv_errors grew by"; }
# advised STAGE: the first command of its advice runs; perfquery does not repeat a request that is lost
advised() { local command; command=$(result "$1" | sed 's/.*-> //; s/;.*//'); FABRIC_PATIENCE=30 fabric_until $command || { echo "does not run: $command"; return 1; }; }

fabric_up topo=chain && fabric_sm && fabric_nets datagram || return 1
for i in 0 2 3; do fabric_on 1 ping -c 1 -W 2 10.0.0.$((i+1)); done

# ---- a cable between two switches

# damaged END FAULT PEER STATUS WORDS ARGUMENT...: while that end has the fault, the stage peer.loss says WORDS, and the advice runs
# By chance the first three requests are lost: then once more.
lossy() { local words=$1 want=$2; shift 2; on1 "$want" "$@" && says peer.loss "$words" && { [ "$want" = 2 ] || advised peer.loss; }; }
damaged() { local end=$1 fault=$2 peer=10.0.0.$3 want=$4 words=$5; shift 5; fabric_fault "$end" "$fault"; lossy "$words" "$want" "$@" "$peer" || lossy "$words" "$want" "$@" "$peer"; local s=$?; fabric_fault "$end" "${fault%%=*}=0"; return $s; }
try "a cable damages packets to the peer's switch" damaged s0.5 vcrc_ppm=150000 3 1 "$(between 0 5 1 1)"
try "a cable damages packets from the peer's switch" damaged s1.1 vcrc_ppm=150000 3 1 "$(between 1 1 0 5)"
try "the second of two cables damages packets" damaged s1.2 vcrc_ppm=150000 4 1 "$(between 1 2 2 5)"
try "a cable damages packets, and only the cause is asked for" damaged s0.5 vcrc_ppm=150000 3 1 "$(between 0 5 1 1)" --why
uncounted() { damaged s0.5 loss_ppm=350000 3 2 'no port that shows its counters counts errors'; }
no_counter() { uncounted || uncounted; } # the loss is random
try "packets are lost, and no port counts it" no_counter
sound() { on1 0 10.0.0.3 && [ "$(outcome peer.loss)" = none ] && says peer.ping ^pass; }
try "no packet is lost" sound
mute() { fabric_rewrite h1 'if data+1=04 drop'; damaged s0.5 vcrc_ppm=350000 3 2 "and LIDs .*$(switch_lid 1).* show none"; local s=$?; fabric_rewrite h1 off; return $s; }
muted() { mute || mute; } # the loss is random
try "the switches do not show their counters" muted

# ---- a link with a smaller MTU

# Packets above 1200 bytes do not arrive: the LRH's length is in units of 4 bytes
narrow() { fabric_rewrite s0.5 'if lrh+4=02 drop'; on1 1 10.0.0.3 && says peer.ping-sizes '^fail .*is not answered; up to' && says peer.ping-sizes "the links: smpquery .* portinfo [0-9]* 1 | grep -i mtu; smpquery .* portinfo $(switch_lid 0) 5 | .*; smpquery .* portinfo $(switch_lid 1) 3 "; local s=$?; fabric_rewrite s0.5 off
    [ $s = 0 ] || return 1; bash -c "$(result peer.ping-sizes | sed 's/.*the links: //')" > /tmp/mtus && [ "$(grep -c 'NeighborMTU:.*4096' /tmp/mtus)" = 3 ] || { cat /tmp/mtus; return 1; }; }
try "large packets are lost between the switches" narrow

# ---- an SA that answers late

# late MS STATUS STAGE WORDS: what leaves the switch for the SM's host, but for SMPs, arrives MS milliseconds later
late() { fabric_fault s0.1 delay_us=$(($1*1000)); on1 "$2" -d ib1 fabric && says "$3" "$4"; local s=$?; fabric_fault s0.1 delay_us=0; sleep 20; return $s; }
ip -n n0 link set ib0 down
try "the SA answers after 3 s" late 3000 2 fabric.sm '^inconclusive the SA is slow: it answers after 3.0 s'
about() { late 1500 0 fabric.census '^pass' && ! grep 'did not answer\|cannot be listed' /tmp/report; }
try "the SA answers about when a query ends" about
dead() { fabric_rewrite s0.1 'if data+1=03 drop'; on1 1 -d ib1 fabric && says fabric.sm '^fail the SA at LID 1 does not answer'; local s=$?; fabric_rewrite s0.1 off; return $s; }
try "the SA does not answer" dead
tap_end

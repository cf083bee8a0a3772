# SPDX-License-Identifier: GPL-2.0-or-later
# kill PROBE CHECK LIB [TIMES [SEED]]: ipoib-probe is ended by SIGKILL and SIGINT at random times; a scenario for
# testbed/fabric once, results in TAP in /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the probe's, and its host has an interface.
probe=$1 times=${4:-50} seed=${5:-$RANDOM}
. "$3" || return 1
replies() { fabric_on 0 ping -c 1 -W 3 10.0.0.2 >/dev/null || { echo "the host's interface does not reply"; return 1; }; }
same() { members > /tmp/after; diff /tmp/before /tmp/after; }
# After SIGKILL a second process of the probe leaves the groups; it may end later than the probe.
none_runs() { ! pgrep -f "$probe"; }
same_soon() { local i; for i in $(seq 20); do same > /dev/null && none_runs > /dev/null && return 0; sleep 0.2; done; same && none_runs; }
# takes ARGUMENT...: prints the duration of a run without a signal, in ms; it is the upper limit of the random times of signals
takes() {
    local begin; begin=$(date +%s%N)
    "$probe" -d vqib1 --timeout 150 "$@" >/dev/null 2>&1 && echo $((($(date +%s%N)-begin)/1000000))
}
# one SIGNAL: ends a run; checks its exit status and the host
one() {
    local ms=$((RANDOM % peer_ms)) status arguments=("${peer[@]}")
    [ $((RANDOM % 3)) != 0 ] || { ms=$((RANDOM % fabric_ms)); arguments=(fabric); }
    members > /tmp/before
    env --default-signal=INT "$probe" -d vqib1 --timeout 150 "${arguments[@]}" >/dev/null 2>/tmp/said & local pid=$!
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
    kill -"$1" $pid 2>/dev/null; wait $pid; status=$?
    echo "SIG$1 after $ms ms, ${arguments[*]}: exit status $status"
    case $1$status in KILL137|INT130|KILL0|INT0) ;; *) cat /tmp/said; return 1 ;; esac
    ended=$((ended + (status != 0)))
    replies && if [ "$1" = KILL ]; then same_soon; else same && none_runs; fi
}

RANDOM=$seed; ended=0
fabric_up && fabric_sm && fabric_nets datagram && fabric_link_local 1 ib1 >/dev/null && fabric_on 0 ping -c 1 10.0.0.2 || return 1
sleep 2; members | grep -q ff12:401b:ffff::ffff:ffff || return 1
# a background command ignores SIGINT, at which ping prints its summary
ip netns exec n0 env --default-signal=INT ping -i 0.2 -W 3 10.0.0.2 > /tmp/flow & flow=$!
peer=(--source 10.0.0.77 10.0.0.1)
takes "${peer[@]}" && takes fabric && # the first run of each only loads its files
    peer_ms=$(takes "${peer[@]}") && fabric_ms=$(takes fabric) || return 1
for i in $(seq "$times"); do
    signal=$([ $((i % 2)) = 0 ] && echo INT || echo KILL)
    one $signal > /tmp/one 2>&1 || { cat /tmp/one; echo "at time $i"; }
done > /tmp/harm
no_harm() { ! grep . /tmp/harm; }
try "after $times times (seed $seed; $ended of them within a run) the host replies, and the SA has its memberships" no_harm
kill -INT $flow; wait $flow
lost=$(awk '/packets transmitted/ { print $1 - $4 }' /tmp/flow)
# one echo request may be in flight at the end
try "a ping to the host's interface gets a reply throughout ($lost lost)" [ "$lost" -le 1 ]
try "most signals ended a run ($ended of $times; one takes $peer_ms ms, of the fabric $fabric_ms)" [ $ended -ge $((times / 2)) ]
tap_end

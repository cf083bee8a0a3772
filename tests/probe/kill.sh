# SPDX-License-Identifier: GPL-2.0-or-later
# kill PROBE [MOMENTS [SEED]]: ipoib-probe is ended by SIGKILL and SIGINT at random moments; a scenario for testbed/fabric once, results
# in TAP in /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the probe's, and has an interface of the host's.
probe=$1 moments=${2:-50} seed=${3:-$RANDOM} tap=/fabric-out/tap n=0
: > $tap
say() { n=$((n+1)); echo "$1 $n - $2" >> $tap; }
# h1's groups with its JoinState in them, told with OpenSM's SM_Key. Send-only ones are left out: the kernel takes and drops them by
# itself, as it sends.
members() { saquery --smkey 1 -C vqib0 MCMR | awk '{ sub(/\.+/, " ") } $1 == "MGID" { group = $2 } $1 == "PortGid" { port = $2 }
    $1 == "JoinState" && port ~ /:110$/ && $2 !~ /8$/ { print group, $2 }' | sort; }
answers() { fabric_on 0 ping -c 1 -W 3 10.0.0.2 >/dev/null || { echo "the host's interface does not answer"; return 1; }; }
same() { members > /tmp/after; diff /tmp/before /tmp/after; }
# Behind a SIGKILL a process of the probe's undoes what stood; the probe itself has returned before.
same_soon() { local i; for i in $(seq 20); do same > /dev/null && return 0; sleep 0.2; done; same; }
# one SIGNAL: what became of the probe, and of the host
one() {
    local ms=$((RANDOM % 2500)) status arguments=(--source 10.0.0.77 10.0.0.1)
    [ $((RANDOM % 3)) != 0 ] || arguments=(fabric)
    members > /tmp/before
    env --default-signal=INT "$probe" -d vqib1 --timeout 150 "${arguments[@]}" >/dev/null 2>/tmp/said & local pid=$!
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
    kill -"$1" $pid 2>/dev/null; wait $pid; status=$?
    echo "SIG$1 after $ms ms, ${arguments[*]}: exit status $status"
    case $1$status in KILL137|INT130|KILL0|INT0) ;; *) cat /tmp/said; return 1 ;; esac
    ended=$((ended + (status != 0)))
    answers && if [ "$1" = KILL ]; then same_soon; else same; fi && ! pgrep -f "$probe" > /dev/null
}

RANDOM=$seed; ended=0
fabric_up && fabric_sm && fabric_nets datagram && fabric_link_local 1 ib1 >/dev/null && fabric_on 0 ping -c 1 10.0.0.2 || return 1
sleep 2; members | grep -q ff12:401b:ffff::ffff:ffff || return 1
# a background command ignores SIGINT, at which ping tells its sum
ip netns exec n0 env --default-signal=INT ping -i 0.2 -W 3 10.0.0.2 > /tmp/flow & flow=$!
for i in $(seq "$moments"); do
    signal=$([ $((i % 2)) = 0 ] && echo INT || echo KILL)
    one $signal > /tmp/one 2>&1 && continue
    say "not ok" "moment $i"; sed 's/^/# /' /tmp/one >> $tap
done
[ $n != 0 ] || say ok "after $moments moments (seed $seed; $ended of them within a run) the host answers, and the SA has its memberships"
kill -INT $flow; wait $flow
lost=$(awk '/packets transmitted/ { print $1 - $4 }' /tmp/flow)
[ "$lost" -le 1 ] && say ok "a ping to the host's interface is answered all the while" ||    # one may be under way at the end
    say "not ok" "$lost echo requests to the host's interface were not answered"
[ $ended -ge $((moments / 2)) ] && say ok "most of them were within a run" || say "not ok" "only $ended of $moments were within a run"
echo "1..$n" >> $tap
! grep -q '^not ok' $tap

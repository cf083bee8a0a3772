# SPDX-License-Identifier: GPL-2.0-or-later
# comes_up PROBE CHECK LIB: the host's interface comes up while ipoib-probe holds the port's only membership of its groups; a scenario
# for testbed/fabric once, results in TAP in /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the probe's, and has the interface.
probe=$1
. "$3" || return 1
fabric_up && fabric_sm && fabric_nets datagram && fabric_on 0 ping -c 1 10.0.0.2 || return 1
joined() { members | grep -q 'ff12:401b:ffff::ffff:ffff 0x1'; }
until_joined() { local i; for i in $(seq 50); do joined && return 0; sleep 0.1; done; members; return 1; }
# comes_up SIGNAL: it does so while the probe runs, which gets that signal then; "": it ends by itself
comes_up() {
    ip -n n1 link set ib1 down; sleep 1
    ! joined || { echo "the port is in the group before the run"; return 1; }
    ip netns exec n1 env --default-signal=INT "$probe" -d vqib1 --timeout 3000 10.0.0.99 > /tmp/out 2> /tmp/said & local pid=$!
    until_joined || return 1
    ip -n n1 link set ib1 up; sleep 1
    [ -z "$1" ] || kill -"$1" $pid
    wait $pid
    sleep 2 # a process beside the probe ends what SIGKILL leaves
    cat /tmp/said
    joined || { echo "the SA has lost the port"; members; return 1; }
    ip -n n0 neigh flush dev ib0 # so that the host is asked for by a broadcast
    fabric_on 0 ping -c 2 -W 2 10.0.0.2
}
try "the interface hears broadcasts after the run" comes_up ""
try "that the group is kept is said" grep -q 'stays in group ff12:401b:ffff::ffff:ffff.*ib1 is up' /tmp/said
try "the same after SIGINT" comes_up INT
try "the same after SIGKILL" comes_up KILL
tap_end

# SPDX-License-Identifier: GPL-2.0-or-later
# comes_up PROBE CHECK LIB: the host's interface comes up while ipoib-probe holds the port's only membership of its groups; a scenario
# for testbed/fabric once, results in TAP in /fabric-out/tap. h0 runs OpenSM and is the peer, h1 is the probe's, and has the interface.
probe=$1
. "$3" || return 1
fabric_up && fabric_sm && fabric_nets datagram && fabric_on 0 ping -c 1 10.0.0.2 || return 1
joined() { members | grep -q 'ff12:401b:ffff::ffff:ffff 0x1'; }
until_joined() { local i; for i in $(seq 50); do joined && return 0; sleep 0.1; done; members; return 1; }
# begin SECONDS: starts the probe, which waits so long for each of three replies; it holds the port's only membership
begin() {
    ip netns exec n1 env --default-signal=INT "$probe" -d vqib1 --timeout "$1"000 10.0.0.99 > /tmp/out 2> /tmp/said & pid=$!
    until_joined
}
# ends SIGNAL: ends the probe and checks the interface's groups. "": waits until the probe ends
ends() {
    kill -0 $pid || { echo "the probe ended too early"; cat /tmp/said /tmp/out; return 1; }
    [ -z "$1" ] || kill -"$1" $pid
    wait $pid
    sleep 2 # a second process leaves the groups after SIGKILL
    cat /tmp/said
    joined || { echo "the SA has lost the port"; members; return 1; }
    ip -n n0 neigh flush dev ib0 # so that the ARP request is a broadcast
    fabric_on 0 ping -c 2 -W 2 10.0.0.2
}
away() { ! joined; }
is_down() { ip -n n1 link set ib1 down && fabric_until away || { echo "the port is in the group before the run"; return 1; }; }
no_carrier() { ip -n n1 link show ib1 up | grep -q NO-CARRIER || { echo "ib1 runs, or is not UP:"; ip -n n1 link show ib1; return 1; }; }
# comes_up SIGNAL: the interface is set up while the probe runs
comes_up() { is_down && begin 3 && ip -n n1 link set ib1 up && fabric_link 1 ib1 && ends "$1"; }
# comes_late SIGNAL: the interface is UP from the start, but has no carrier: a rewriting rule drops its joins, which have a P_Key in
# the component mask (the probe's have none). When the rule is deleted, the kernel's repeated joins succeed
comes_late() {
    is_down && fabric_rewrite h1 'if data+1=03 if data+3=02 if data+16=0038 if data+52=00010083 drop' &&
        ip -n n1 link set ib1 up && fabric_until grep -q 'hits [1-9]' /sys/kernel/debug/vqib/h1/rewrite && begin 10 && no_carrier
    local s=$?
    fabric_rewrite h1 off
    [ $s = 0 ] && fabric_link 1 ib1 && ends "$1"
}
# replugged SIGNAL: while the probe runs, the cable is unplugged, the interface set up, and the cable plugged in again
replugged() {
    is_down && begin 20 && fabric_port h1 DOWN && ip -n n1 link set ib1 up && no_carrier && fabric_port h1 UP && fabric_active h1 &&
        fabric_link 1 ib1 && ends "$1"
}
try "the interface receives broadcasts after the run" comes_up ""
try "the probe says that it does not leave the group" grep -q 'stays in ff12:401b:ffff::ffff:ffff: ib1 may use it' /tmp/said
try "the same after SIGINT" comes_up INT
try "the same after SIGKILL" comes_up KILL
try "an interface that was UP without carrier, and joins during the run, receives broadcasts after it" comes_late INT
try "the probe says that it does not leave the group of that interface" grep -q 'stays in ff12:401b:ffff::ffff:ffff: ib1 may use it' /tmp/said
try "the same after SIGKILL, without a carrier before" comes_late KILL
try "a cable unplugged and plugged in again during the run: the interface receives broadcasts after the run" replugged INT
try "the same after SIGKILL, with a cable plugged in again" replugged KILL
tap_end

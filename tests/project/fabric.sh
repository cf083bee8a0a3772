#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# testbed/fabric: the commands of testbed/README.md, the example scenario in it, and the exit status of each
# command. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

fabric=$src/testbed/fabric
at_end() {
    "$fabric" stop "$work/stays" > /dev/null 2>&1
    rm -rf "$work"
}

"$fabric" build > "$work/said" 2>&1 || skip_all "the virtual fabric cannot be built here: $(tail -1 "$work/said")"

# ---- once
example() { sed -n '/^    # large: /,/^    fabric_capture_end$/s/^    //p' "$src/testbed/README.md"; }
once() {
    mkdir "$work/OUT"
    example > "$work/large.sh"
    grep -q 'ping -c 2 -s 4000' "$work/large.sh" && "$fabric" once "$work/large.sh" "$work/OUT"
}
try "the README's example of a scenario" once
fragments() {
    "$src/testbed/wire-list" "$work/OUT/large.pcap" | grep -c . &&
        "$bin/ipoib-check" "$work/OUT/large.pcap" | tail -1 | grep "judged, no violation:"
}
try "the capture of the example can be listed, and conforms" fragments

# ---- the clock of the machine
# The limit is less than the machine's time.
waits() {
    mkdir "$work/waits"
    echo 'sleep 400' > "$work/waits.sh"
    FABRIC_TIMEOUT=300 "$fabric" once "$work/waits.sh" "$work/waits"
}
try "a machine with the virtual clock does not wait" waits
try "another clock: 2" expect_status 2 env FABRIC_CLOCK=other "$fabric" once "$work/waits.sh" "$work/waits"

# ---- start, run, stop
try "start boots a machine" eval 'mkdir "$work/stays" && expect_status 0 "$fabric" start "$work/stays"'
chain='fabric_up topo=chain; fabric_sm; fabric_nets; fabric_on 0 ping -c 3 10.0.0.4'
try "the README has this command" grep -F "$chain" "$src/testbed/README.md"
try "a ping over three switches in it" expect_status 0 "$fabric" run "$work/stays" "$chain"
same_time() {
    local time
    time=$("$fabric" run "$work/stays" 'date +%s') && echo "$time, here $(date +%s)" && [ $(($(date +%s) - time)) -lt 120 ]
}
try "the machine has the time of this host" same_time
try "run returns the exit status of its commands" expect_status 7 "$fabric" run "$work/stays" 'exit 7'
try "run prints the output of its commands" eval '"$fabric" run "$work/stays" "echo said" | grep -x said'
try "stop powers the machine off" expect_status 0 "$fabric" stop "$work/stays"
try "run without a machine: 123" expect_status 123 "$fabric" run "$work/stays" true
try "stop without a machine: 123" expect_status 123 "$fabric" stop "$work/stays"

# ---- shell
# Input that arrives while the machine boots is lost in whole or in part.
type_until_seen() {
    while [ ! -e "$work/shell/seen" ]; do
        sleep 2
        printf '\ntouch /fabric-out/seen\n'
    done
    for _ in 1 2 3; do
        printf '\nexit\n'
        sleep 2
    done
}
shell() {
    mkdir "$work/shell"
    type_until_seen | timeout 120 script -qec "$fabric shell $work/shell" /dev/null
    [ -e "$work/shell/seen" ] || { echo "no shell"; return 1; }
}
try "a shell on a terminal" shell
try "without a terminal: 2" eval 'mkdir "$work/none"; expect_status 2 "$fabric" shell "$work/none" < /dev/null'
try "wrong usage: 2" expect_status 2 "$fabric" nonsense
finish

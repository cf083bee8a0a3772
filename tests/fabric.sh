#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# testbed/fabric: the commands of testbed/README.md, with the scenario that stands there as an example, and what each tells by its
# exit status. Results in TAP.
# test: machine
# test: here-only
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
fabric=$src/testbed/fabric
work=$(mktemp -d /tmp/ipoib-fabric-test.XXXXXX)
trap '"$fabric" stop "$work/stays" >/dev/null 2>&1; rm -rf "$work"' EXIT
n=0 failed=0
try() { n=$((n+1)); if "${@:2}" > "$work/said" 2>&1; then echo "ok $n - $1"; else failed=1; echo "not ok $n - $1"; tail -30 "$work/said" | sed 's/^/# /'; fi; }
# status WANTED COMMAND...
status() { local want=$1 got=0; shift; "$@" || got=$?; [ $got = "$want" ] || { echo "exit status $got, not $want"; return 1; }; }

"$fabric" build > "$work/said" 2>&1 || { echo "1..0 # SKIP the virtual fabric cannot be built here: $(tail -1 "$work/said")"; exit 0; }

# ---- once
example() { sed -n '/^    # large: /,/^    fabric_capture_end$/s/^    //p' "$src/testbed/README.md"; }
once() { mkdir "$work/OUT"; example > "$work/large.sh"; grep -q 'ping -c 2 -s 4000' "$work/large.sh" && status 0 "$fabric" once "$work/large.sh" "$work/OUT"; }
try "the README's example of a scenario" once
fragments() { "$src/testbed/wire-list" "$work/OUT/large.pcap" | grep -c . && "${IPOIB_BIN:-$src/build/bin}/ipoib-check" "$work/OUT/large.pcap" | tail -1 | grep CONFORMANT; }
try "its capture can be listed, and is conformant" fragments

# ---- start, run, stop
try "a machine that stays" eval 'mkdir "$work/stays" && status 0 "$fabric" start "$work/stays"'
chain='fabric_up topo=chain; fabric_sm; fabric_nets; fabric_on 0 ping -c 3 10.0.0.4'
grep -qF "$chain" "$src/testbed/README.md" || echo "# the README has another command"
try "a ping over three switches in it" status 0 "$fabric" run "$work/stays" "$chain"
try "the commands' exit status is told" status 7 "$fabric" run "$work/stays" 'exit 7'
try "and what they say" eval '"$fabric" run "$work/stays" "echo said" | grep -x said'
try "it is powered off" status 0 "$fabric" stop "$work/stays"
try "then none runs: 123" status 123 "$fabric" run "$work/stays" true
try "nor can one be stopped: 123" status 123 "$fabric" stop "$work/stays"

# ---- shell
shell() { mkdir "$work/shell"
    # what is typed while the machine boots is lost, or half of it is
    { while [ ! -e "$work/shell/seen" ]; do sleep 2; printf '\ntouch /fabric-out/seen\n'; done; for _ in 1 2 3; do printf '\nexit\n'; sleep 2; done; } |
        timeout 120 script -qec "$fabric shell $work/shell" /dev/null
    [ -e "$work/shell/seen" ] || { echo "no shell"; return 1; }; }
try "a shell on a terminal" shell
try "without a terminal: 2" eval 'mkdir "$work/none"; status 2 "$fabric" shell "$work/none" < /dev/null'
try "wrong usage: 2" status 2 "$fabric" nonsense
echo "1..$n"
exit $failed

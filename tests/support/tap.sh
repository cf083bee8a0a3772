# SPDX-License-Identifier: GPL-2.0-or-later
# Shared code of the shell tests in this folder: paths, a temporary folder for each test, and TAP results, which
# script/run-tests counts. A test of bash begins with
#   . "${0%/*}/../support/tap.sh"
# and ends with `finish`.
# shellcheck shell=bash
set -u
src=$(readlink -f "${IPOIB_SRC:-$(dirname "${BASH_SOURCE[0]}")/../..}")
bin=${IPOIB_BIN:-$src/build/bin}
work=$(mktemp -d /tmp/ipoib-test.XXXXXX) || exit 1
at_end() { rm -rf "$work"; } # a test with more to undo redefines it
trap at_end EXIT
tap_number=0 tap_failed=0

# tap STATUS NAME [FILE]: one result; if it failed, the end of FILE is printed
tap() {
    tap_number=$((tap_number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $tap_number - $2"
        return
    fi
    tap_failed=1
    echo "not ok $tap_number - $2"
    [ -z "${3:-}" ] || tail -n 40 "$3" | cut -c1-400 | sed 's/^/# /'
}

# try NAME COMMAND...: the command's exit status is the result
try() {
    "${@:2}" > "$work/try" 2>&1
    tap $? "$1" "$work/try"
}

# expect_status WANTED COMMAND...
expect_status() {
    local got=0
    "${@:2}" || got=$?
    [ $got = "$1" ] || { echo "exit status $got, not $1: ${*:2}"; return 1; }
}

skip() {
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

finish() {
    echo "1..$tap_number"
    exit $tap_failed
}

# on_fabric SCENARIO [ARGUMENT]...: runs it on the virtual fabric (testbed/fabric once). $work/out is /fabric-out there,
# and the scenario writes its results into /fabric-out/tap.
on_fabric() {
    local status=0
    "$src/testbed/fabric" once "$1" "$work/out" "${@:2}" > "$work/log" 2>&1 || status=$?
    if [ $status = 125 ] && [ ! -s "$work/out/tap" ]; then
        skip_all "the virtual fabric does not run here: $(tail -1 "$work/log")"
    fi
    [ -s "$work/out/tap" ] || { cat "$work/log"; echo "not ok 1 - the scenario started"; exit 1; }
    cat "$work/out/tap"
    return $status
}

# probe_on_fabric SCENARIO [ARGUMENT]...: tests/probe/guest/SCENARIO.sh
probe_on_fabric() {
    mkdir -p "$work/out" && cp "$bin/ipoib-probe" "$bin/ipoib-check" "$src"/tests/probe/guest/lib.sh "$src"/tests/probe/guest/on_wire.py "$work/out/" || exit 1
    on_fabric "$src/tests/probe/guest/$1.sh" /fabric-out/ipoib-probe /fabric-out/ipoib-check /fabric-out/lib.sh "${@:2}"
}

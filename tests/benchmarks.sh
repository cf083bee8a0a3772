#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The benchmarks still measure: each is run at its shortest, and what it prints is there. What it is, no test judges: machines are
# noisy. Results in TAP.
# test: here-only
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

# measures PATTERN COMMAND...
measures() {
    "${@:2}" > "$work/out" 2>&1
    local status=$?
    cat "$work/out"
    [ $status = 0 ] && grep -qE -- "$1" "$work/out"
}
try "script/bench-decode" measures 'CPU with / without the plugin [0-9.]+' "$src/script/bench-decode" --ratio-only --runs 1
try "script/bench-check" measures 'CPU ipoib-check / tshark [0-9.]+' "$src/script/bench-check" --runs 1
try "script/bench-capture" measures 'idle no frame +[0-9.]+ % of a core' "$src/script/bench-capture" --runs 1 --seconds 1 --only idle
try "the sweep's, on simulated time" measures . "${IPOIB_BUILD:-$src/build}/tests/test_probe_sweep" large
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The benchmarks still measure: each is run at its shortest, and what it prints is there. What it is, no test judges: machines are
# noisy. Results in TAP.
# test: here-only
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
n=0 failed=0
# measures NAME PATTERN COMMAND...
measures() { n=$((n+1)); if "${@:3}" > "$out" 2>&1 && grep -qE -- "$2" "$out"; then echo "ok $n - $1"
    else failed=1; echo "not ok $n - $1"; sed 's/^/# /' "$out" | tail -20; fi; }
measures "script/bench-decode" 'CPU with / without the plugin [0-9.]+' "$src/script/bench-decode" --ratio-only --runs 1
measures "script/bench-check" 'CPU ipoib-check / tshark [0-9.]+' "$src/script/bench-check" --runs 1
measures "script/bench-capture" 'idle no frame +[0-9.]+ % of a core' "$src/script/bench-capture" --runs 1 --seconds 1 --only idle
measures "the sweep's, on simulated time" '.' "${IPOIB_BUILD:-$src/build}/tests/test_probe_sweep" large
echo "1..$n"
exit $failed

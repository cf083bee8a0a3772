#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe is killed and interrupted at 50 random moments on the virtual fabric (tests/probe/kill.sh): nothing of the host's is
# lost. Arguments: MOMENTS SEED. Results in TAP.
# test: machine
# test: here-only
# test: timeout=1200
set -u
out=$(mktemp -d /tmp/ipoib-kill-test.XXXXXX)
trap 'rm -rf "$out"' EXIT
cp "$IPOIB_BIN/ipoib-probe" "$out/" || exit 1
FABRIC_TIMEOUT=1100 "$IPOIB_SRC/testbed/fabric" once "$IPOIB_SRC/tests/probe/kill.sh" "$out" /fabric-out/ipoib-probe "$@" > "$out/log" 2>&1
status=$?
if [ $status = 125 ]; then
    echo "1..0 # SKIP the virtual fabric does not run here: $(tail -1 "$out/log")"
    exit 0
fi
[ -s "$out/tap" ] || { cat "$out/log"; echo "not ok 1 - the scenario began"; exit 1; }
cat "$out/tap"
exit $status

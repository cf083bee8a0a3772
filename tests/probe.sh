#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe against the real kernel on the virtual fabric (tests/probe/kernel.sh): a healthy peer in both modes keeps what is
# asked, faults of the fabric are named, and nothing is left behind. Results in TAP.
# test: machine
# test: here-only
set -u
out=$(mktemp -d /tmp/ipoib-probe-test.XXXXXX)
trap 'rm -rf "$out"' EXIT
cp "$IPOIB_BIN/ipoib-probe" "$IPOIB_BIN/ipoib-check" "$IPOIB_SRC/tests/probe/lib.sh" "$out/" || exit 1
"$IPOIB_SRC/testbed/fabric" once "$IPOIB_SRC/tests/probe/kernel.sh" "$out" /fabric-out/ipoib-probe /fabric-out/ipoib-check /fabric-out/lib.sh > "$out/log" 2>&1
status=$?
if [ $status = 125 ]; then
    echo "1..0 # SKIP the virtual fabric does not run here: $(tail -1 "$out/log")"
    exit 0
fi
[ -s "$out/tap" ] || { cat "$out/log"; echo "not ok 1 - the scenario began"; exit 1; }
cat "$out/tap"
exit $status

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe against the deviant peer of tests/deviant on the virtual fabric: of a right peer it finds nothing, of each deviant
# one exactly the rule that is broken. Arguments: faults, to try these alone. Results in TAP.
# test: machine
# test: here-only
# test: timeout=1800
set -u
out=$(mktemp -d /tmp/ipoib-deviant-test.XXXXXX)
trap 'rm -rf "$out"' EXIT
cp "$IPOIB_BIN/ipoib-probe" "$IPOIB_BIN/deviant" "$out/" || exit 1
cp -r "$IPOIB_SRC/tests/deviant" "$out/run" || exit 1
FABRIC_TIMEOUT=1700 "$IPOIB_SRC/testbed/fabric" once "$IPOIB_SRC/tests/deviant/fabric.sh" "$out" /fabric-out/run "$@" > "$out/log" 2>&1
status=$?
if [ $status = 125 ]; then
    echo "1..0 # SKIP the virtual fabric does not run here: $(tail -1 "$out/log")"
    exit 0
fi
[ -s "$out/tap" ] || { cat "$out/log"; cat "$out/errors"; echo "not ok 1 - the scenario began"; exit 1; }
cat "$out/tap"
sed 's/^/# /' "$out/errors"
exit $status

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe against the deviant peer of tests/probe/deviant on the virtual fabric: it finds no violation of a conforming peer, and
# of each deviant peer only the violated rule. Arguments: the faults to try, or --each-rule; default: all. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

mkdir "$work/out" && cp "$bin/ipoib-probe" "$bin/deviant" "$work/out/" && cp -r "$src/tests/probe/deviant" "$work/out/run" || exit 1
FABRIC_TIMEOUT=3000 on_fabric "$src/tests/probe/deviant/fabric.sh" /fabric-out/run "$@"
status=$?
sed 's/^/# /' "$work/out/errors"
exit $status

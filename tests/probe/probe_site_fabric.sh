#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe node every ten seconds on sixteen hosts of the virtual fabric, while faults come and go (tests/probe/guest/site.sh);
# tests/probe/site_judge.py judges the runs. Arguments: SECONDS (400: each fault once; 3600 is the hour of doc/monitoring.md) and
# FOLDER, where the runs are kept for script/site-graph. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

seconds=${1:-400} out=${2:-$work/out} status=0
mkdir -p "$out" && cp "$bin/ipoib-probe" "$out/" || exit 1
FABRIC_TIMEOUT=$((seconds * 2 + 600)) "$src/testbed/fabric" once "$src/tests/probe/guest/site.sh" "$out" \
    /fabric-out/ipoib-probe "$seconds" > "$work/log" 2>&1 || status=$?
if [ $status = 125 ] && [ ! -e "$out/changes" ]; then
    skip_all "the virtual fabric does not run here: $(tail -1 "$work/log")"
fi
if [ $status != 0 ]; then
    cat "$work/log"
    echo "not ok 1 - the scenario ran: exit status $status"
    exit 1
fi
/usr/bin/python3 "$src/tests/probe/site_judge.py" "$out"

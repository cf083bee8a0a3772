#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the kernel module of the virtual fabric, with warnings as errors, and checks its style with the
# kernel's checkpatch.pl. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

# of STATUS NAME: prints one result, with the log; 125: skipped, because this host cannot run it
of() {
    if [ "$1" = 125 ]; then skip "$2" "$(tail -1 "$work/log")"; else tap "$1" "$2" "$work/log"; fi
}
"$src/testbed/fabric" build > "$work/log" 2>&1
of $? "the module is built without a warning"
"$src/testbed/checkpatch" > "$work/log" 2>&1
of $? "checkpatch.pl finds nothing"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The virtual fabric's kernel module is built, by compiler flags that make every warning an error, and checkpatch.pl, by which
# the kernel's developers judge style, finds nothing in it. Results in TAP.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

# of STATUS NAME: what is in the log belongs to it; 125: not here
of() {
    if [ "$1" = 125 ]; then skip "$2" "$(tail -1 "$work/log")"; else tap "$1" "$2" "$work/log"; fi
}
"$src/testbed/fabric" build > "$work/log" 2>&1
of $? "the module is built without a warning"
"$src/testbed/checkpatch" > "$work/log" 2>&1
of $? "checkpatch.pl finds nothing"
finish

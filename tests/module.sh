#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The virtual fabric's kernel module is built, by compiler flags that make every warning an error, and checkpatch.pl, by which
# the kernel's developers judge style, finds nothing in it. Results in TAP.
# test: machine
# test: here-only
set -u
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# tell NUMBER STATUS WHAT: what is in the log belongs to it
tell() {
    case $2 in
    0) echo "ok $1 - $3" ;;
    125) echo "ok $1 - $3 # SKIP $(tail -1 "$log")" ;;
    *) echo "not ok $1 - $3"; sed 's/^/# /' "$log"; failed=1 ;;
    esac
}
failed=0
"$src/testbed/fabric" build > "$log" 2>&1
status=$?
# A host that cannot build the module is skipped, a module that cannot be built is not.
grep -q 'the module was not built' "$log" && status=1
tell 1 $status "the module is built without a warning"
"$src/testbed/checkpatch" > "$log" 2>&1
tell 2 $? "checkpatch.pl finds nothing"
echo 1..2
exit $failed

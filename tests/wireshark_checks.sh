#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Wireshark's own checks of a dissector's source find nothing (script/wireshark-checks), but would find what is there.
# test: here-only
# Environment: IPOIB_SRC.
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
"$src/script/wireshark-checks" > "$work/said" 2>&1
case $? in
0) echo "ok 1 - $(tail -1 "$work/said"), nothing is found" ;;
75) echo "1..0 # SKIP $(sed -n 's/^skipped: //p' "$work/said")"; exit 0 ;;
*) echo "not ok 1 - Wireshark's own checks"; sed 's/^/# /' "$work/said"; failed=1 ;;
esac

# seeded NAME SED: is a fault in a copy of plugin/ found?
seeded() {
    mkdir -p "$work/$1"
    cp -r "$src/plugin" "$src/script" "$work/$1"
    sed -i "$2" "$work/$1/plugin/cm.c"
    ! cmp -s "$src/plugin/cm.c" "$work/$1/plugin/cm.c" && ! "$work/$1/script/wireshark-checks" > "$work/said" 2>&1
}
n=1
for fault in "length s/hf_message, tvb, MAD_ATTRIBUTE, 2/hf_message, tvb, MAD_ATTRIBUTE, 3/" "call s/^#include .plugin.*/&\nvoid f(char *p); void f(char *p) { sprintf(p, \"x\"); }/"; do
    n=$((n + 1))
    if seeded "${fault%% *}" "${fault#* }"; then echo "ok $n - a wrong ${fault%% *} is found"
    else echo "not ok $n - a wrong ${fault%% *} is found"; sed 's/^/# /' "$work/said"; failed=1; fi
done
echo "1..$n"
exit $failed

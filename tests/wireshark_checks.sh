#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Wireshark's own checks of a dissector's source find nothing (script/wireshark-checks), but would find what is there.
# Results in TAP.
# test: here-only
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

"$src/script/wireshark-checks" > "$work/said" 2>&1
status=$?
[ $status != 75 ] || skip_all "$(sed -n 's/^skipped: //p' "$work/said")"
tap $status "$(tail -1 "$work/said"), nothing is found" "$work/said"

# finds NAME SED: a fault in a copy of plugin/
finds() {
    mkdir -p "$work/$1"
    cp -r "$src/plugin" "$src/script" "$work/$1"
    sed -i "$2" "$work/$1/plugin/cm.c"
    ! cmp "$src/plugin/cm.c" "$work/$1/plugin/cm.c" && ! "$work/$1/script/wireshark-checks"
}
try "a wrong length is found" finds length 's/hf_message, tvb, MAD_ATTRIBUTE, 2/hf_message, tvb, MAD_ATTRIBUTE, 3/'
try "a wrong call is found" finds call 's/^#include .plugin.*/&\nvoid f(char *p); void f(char *p) { sprintf(p, "x"); }/'
finish

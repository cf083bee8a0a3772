#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# script/demo: what it shows of the captures that ship, and its usage. Results in TAP.
# test: here-only
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

shows() { grep -qE -- "$1" "$work/out" || { cat "$work/out"; return 1; }; }
two_pages() { wc -l < "$work/out"; [ "$(wc -l < "$work/out")" -le 130 ]; }
wrong_usage() { expect_status 2 "$src/script/demo" --nonsense 2>&1 | tee "$work/usage" && grep -q usage "$work/usage"; }

"$src/script/demo" > "$work/out" 2>&1
tap $? "exit status 0" "$work/out"
try "a join" shows 'Join ff12:401b:ffff::ffff:ffff .*FullMember'
try "ARP and its answer" shows '10\.0\.0\.[0-9]+ is at [08]'
try "a connection" shows 'CM REQ RC IPoIB connected mode'
try "a verdict" shows 'CONFORMANT|VIOLATED'
try "about two pages" two_pages
try "wrong usage: 2" wrong_usage
finish

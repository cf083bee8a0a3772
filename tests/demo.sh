#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# script/demo: what it shows of the captures that ship, and its usage. Results in TAP.
# test: here-only
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
n=0 failed=0
ok() { n=$((n+1)); echo "ok $n - $1"; }
not_ok() { n=$((n+1)); failed=1; echo "not ok $n - $1"; sed 's/^/# /' "$out" | tail -60; }
shows() { if grep -qE -- "$2" "$out"; then ok "$1"; else not_ok "$1"; fi; }

if "$src/script/demo" > "$out" 2>&1; then ok "exit status 0"; else not_ok "exit status 0"; fi
shows "a join" 'Join ff12:401b:ffff::ffff:ffff .*FullMember'
shows "ARP and its answer" '10\.0\.0\.[0-9]+ is at [08]'
shows "a connection" 'CM REQ RC IPoIB connected mode'
shows "a verdict" 'CONFORMANT|VIOLATED'
if [ "$(wc -l < "$out")" -le 130 ]; then ok "about two pages"; else not_ok "about two pages: $(wc -l < "$out") lines"; fi
"$src/script/demo" --nonsense > "$out" 2>&1
if [ $? = 2 ] && grep -q usage "$out"; then ok "wrong usage: 2"; else not_ok "wrong usage: 2"; fi
echo "1..$n"
exit $failed

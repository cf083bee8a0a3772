#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# script/demo --live: a fabric is booted, a kernel is probed on it, and what went over the wire is decoded and judged, on about two
# pages; where there is no qemu it says so. Results in TAP.
# test: machine
# test: here-only
set -u
src=${IPOIB_SRC:-$(dirname "$(readlink -f "$0")")/..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0

try() {
    n=$((n + 1))
    if "${@:2}" > "$work/try" 2>&1; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' "$work/try" | tail -40
        failed=1
    fi
}
has() { grep -qE "$1" "$work/out" || { echo "no $1 in:"; cat "$work/out" "$work/err"; return 1; }; }

# A PATH with all programs but qemu.
no_qemu() {
    cp -rs /usr/bin "$work/bin" && rm -f "$work"/bin/qemu-system-* || return 1
    PATH=$work/bin:/usr/sbin:/sbin "$src/script/demo" --live > "$work/out" 2> "$work/err"
    local status=$?
    cat "$work/out" "$work/err"
    [ $status = 125 ] && grep -q '^demo: the virtual fabric did not run: .*qemu-system-x86_64' "$work/err" && [ ! -s "$work/out" ]
}

"$src/script/demo" --live > "$work/out" 2> "$work/err"
status=$?
if [ $status = 125 ]; then
    echo "1..0 # SKIP $(tail -1 "$work/err")"
    exit 0
fi
succeeded() { cat "$work/out" "$work/err"; return $status; }
try "exit status 0" succeeded
try "the probe's verdicts" has '^ *pass +rfc4391\.6\.reserved-ignored'
try "the join of the broadcast group" has 'Joined ff12:401b:ffff::ffff:ffff .*FullMember'
try "ARP and its answer" has '10\.0\.0\.1 is at [08]'
try "a ping and its answer" has 'Echo \(ping\) reply'
try "the verdict on the kernels" has 'demo\.pcap: CONFORMANT'
try "what the probe breaks on purpose is found" has 'probe\.pcapng: VIOLATED'
pages() { wc -l < "$work/out"; [ "$(wc -l < "$work/out")" -le 150 ] && ! grep -q '.\{200\}' "$work/out"; }
try "about two pages" pages
try "without qemu: a clear message, and status 125" no_qemu
echo "1..$n"
exit $failed

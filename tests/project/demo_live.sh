#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# script/demo --live boots the virtual fabric, probes a kernel on it, and decodes and checks the captured packets, on about two
# pages. Without qemu it says so. Results in TAP.
# shellcheck source=tests/support/tap.sh
. "${0%/*}/../support/tap.sh"

has() { grep -qE "$1" "$work/out" || { echo "no $1 in:"; cat "$work/out" "$work/err"; return 1; }; }
two_pages() { wc -l < "$work/out"; [ "$(wc -l < "$work/out")" -le 150 ] && ! grep -q '.\{200\}' "$work/out"; }

# A PATH with all programs but qemu.
no_qemu() {
    cp -rs /usr/bin "$work/bin" && rm -f "$work"/bin/qemu-system-* || return 1
    PATH=$work/bin:/usr/sbin:/sbin "$src/script/demo" --live > "$work/out" 2> "$work/err"
    local status=$?
    cat "$work/out" "$work/err"
    [ $status = 125 ] && grep -q '^demo: the virtual fabric did not run: .*qemu-system-x86_64' "$work/err" && [ ! -s "$work/out" ]
}

"$src/testbed/fabric" build > "$work/err" 2>&1
[ $? != 125 ] || skip_all "$(tail -1 "$work/err")"
"$src/script/demo" --live > "$work/out" 2> "$work/err"
status=$?
[ $status != 125 ] || skip_all "$(tail -1 "$work/err")"
tap $status "exit status 0" "$work/err"
try "the probe's results" has '^ *pass +rfc4391\.6\.reserved-ignored'
try "the join of the broadcast group" has 'Joined ff12:401b:ffff::ffff:ffff .*FullMember'
try "ARP request and reply" has '10\.0\.0\.1 is at [08]'
try "echo request and reply" has 'Echo \(ping\) reply'
try "the verdict on the kernels" has 'demo\.pcap: .* judged, no violation: '
try "the probe's deliberate violations are found" has 'probe\.pcapng: .*: VIOLATED'
try "about two pages" two_pages
try "without qemu: a clear message, and status 125" no_qemu
finish

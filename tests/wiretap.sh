#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the wiretap plugin: pcap files of link type 247 open as InfiniBand, in every form that the format
# has, damaged ones end in an error and not in a crash, and all other files open as without the plugin.
#
# Environment: IPOIB_PLUGINS, what WIRESHARK_PLUGIN_DIR is to be: it holds X.Y/wiretap/*.so (other plugins are left out).
#
# Expected values are read from the files by wiretap_pcap.py, which shares no code with the plugin.
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

mkdir "$work/plugins" "$work/none" "$work/home" "$work/cap"
cp "$src"/testdata/*.pcap "$work/cap" || exit 2
for from in "$IPOIB_PLUGINS"/*/wiretap; do # and no other plugins: what they decode is not the question here
    version=$(basename "$(dirname "$from")")
    mkdir "$work/plugins/$version" && cp -R "$from" "$work/plugins/$version" || exit 2
done
chmod -R a+rX "$work" && chmod 777 "$work" "$work/home"

# Root loads no plugins from WIRESHARK_PLUGIN_DIR, so root becomes nobody. 20 seconds are a hang.
as_user=
[ "$(id -u)" -ne 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
with() { # PLUGIN-FOLDER PROGRAM ARGUMENT...
    folder=$1 program=$2
    shift 2
    timeout -k 1 20 $as_user env HOME="$work/home" TZ=UTC LC_ALL=C WIRESHARK_PLUGIN_DIR="$work/$folder" \
        "$program" "$@"
}
ws() { with plugins "$@"; }
pcap() { python3 "$src/tests/wiretap_pcap.py" "$@"; }

same() { # FILE FILE
    diff -u "$1" "$2"
}

# What tshark reads of a file: time, lengths and MD5 sum of each packet.
fields='-T fields -e frame.time_epoch -e frame.cap_len -e frame.len -e frame.md5_hash'
listed() { # FILE OPTION...
    file=$1
    shift
    ws tshark -r "$file" "$@" -o frame.generate_md5_hash:TRUE $fields 2>"$work/stderr"
}

reads_as() { # FILE EXPECTED-FROM OPTION...
    file=$1 from=$2
    shift 2
    pcap list "$from" >"$work/expected" && listed "$file" "$@" >"$work/got" && same "$work/expected" "$work/got"
}

reads_piped() { # FILE
    pcap list "$1" >"$work/expected" && cat "$1" | listed - >"$work/got" && same "$work/expected" "$work/got"
}

# The error of a program, and that there was one (but no crash and no hang).
fails_with() { # PATTERN PROGRAM ARGUMENT...
    pattern=$1
    shift
    ws "$@" >"$work/out" 2>&1
    status=$?
    cat "$work/out"
    [ $status -ne 0 ] && [ $status -lt 124 ] && grep -q "$pattern" "$work/out"
}

says() { # FILE PATTERN...: lines of capinfos
    ws capinfos "$1" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    shift
    for pattern; do
        grep -q "$pattern" "$work/out" || { echo "no line: $pattern"; cat "$work/out"; return 1; }
    done
}

opens_as_before() { # FILE
    for how in 'tshark -V -r' capinfos; do
        with none $how "$1" >"$work/without" 2>&1
        before=$?
        with plugins $how "$1" >"$work/with" 2>&1
        [ $? -eq $before ] && same "$work/without" "$work/with" || return 1
    done
}

opens_piped_as_before() { # FILE
    cat "$1" | with none tshark -r - >"$work/without" 2>&1
    before=$?
    cat "$1" | with plugins tshark -r - >"$work/with" 2>&1
    [ $? -eq $before ] && same "$work/without" "$work/with"
}

# A file cut anywhere: whole records are read; between records it ends well, within one with an error that
# says so. Without a whole file header it is not ours, and Wireshark says of it what it always said.
cut_anywhere() { # FILE
    size=$(wc -c <"$1")
    at=0
    while [ "$at" -lt "$size" ]; do
        head -c "$at" "$1" >"$work/cut.pcap"
        ws capinfos -M -T -r -c "$work/cut.pcap" >"$work/out" 2>&1
        status=$?
        expected=$(pcap complete "$work/cut.pcap")
        got=$(sed -n 's/.*cut\.pcap\t\([0-9]*\)$/\1/p' "$work/out")
        case $expected in
        header)  with none capinfos -M -T -r -c "$work/cut.pcap" >"$work/without" 2>&1
                 [ $? -eq $status ] && same "$work/without" "$work/out" ;;
        *' cut') [ $status -eq 1 ] && grep -q 'cut short in the middle of a packet' "$work/out" &&
                 [ "${got:-0} cut" = "$expected" ] ;;
        *)       [ $status -eq 0 ] && [ "$got" = "$expected" ] ;;
        esac || { echo "cut at $at: status $status, $got, expected $expected"; cat "$work/out"; return 1; }
        at=$((at + 1))
    done
}

# Whatever the fault: an answer or an error, in time.
survives() { # FILE...
    for file; do
        ws capinfos "$file" >"$work/out" 2>&1
        status=$?
        [ $status -le 2 ] || { echo "$file: status $status"; cat "$work/out"; return 1; }
    done
}

pcap make "$work" || exit 2
infiniband=$(pcap find 247 "$work"/cap/*.pcap)
[ -n "$infiniband" ] || { echo "no capture of link type 247 in testdata" >&2; exit 2; }
largest=$(ls -S $infiniband | head -1)

for file in $infiniband; do
    name=$(basename "$file" .pcap)
    try "capture-$name" reads_as "$file" "$file"
    try "capture-$name-two-pass" reads_as "$file" "$file" -2
    try "capture-$name-is-infiniband" says "$file" \
        '^File type: *Wireshark/libpcap pcap, InfiniBand link type (247)$' \
        '^File encapsulation:  InfiniBand$' \
        '^Number of interfaces in file: 1$' 'Encapsulation = InfiniBand (150 - infiniband)'
done

for form in little-usec little-nsec big-usec big-nsec; do
    try "form-$form" reads_as "$work/$form.pcap" "$work/$form.pcap"
    try "form-$form-two-pass" reads_as "$work/$form.pcap" "$work/$form.pcap" -2
done
try precision-usec says "$work/big-usec.pcap" 'precision:  microseconds (6)' 'file hdr: 65535 bytes'
try precision-nsec says "$work/big-nsec.pcap" 'precision:  nanoseconds (9)' 'Time resolution = 0x09'

gzip -c "$largest" >"$work/largest.pcap.gz"
try gzip reads_as "$work/largest.pcap.gz" "$largest"
try gzip-two-pass reads_as "$work/largest.pcap.gz" "$largest" -2
try pipe reads_piped "$largest"
try pipe-big-usec reads_piped "$work/big-usec.pcap"

for oddity in fcs-bits caplen-over-len no-octets snaplen-0 snaplen-huge long-fraction no-packets late-time; do
    try "oddity-$oddity" reads_as "$work/$oddity.pcap" "$work/$oddity.pcap"
done
try caplen-over-len-two-pass reads_as "$work/caplen-over-len.pcap" "$work/caplen-over-len.pcap" -2

for fault in caplen-262145 caplen-2g caplen-4g len-2g len-4g; do
    try "fault-$fault" fails_with 'record at offset 24 has .* is not a packet' tshark -r "$work/$fault.pcap"
done
try fault-reserved-bits fails_with 'reserved field not zero' tshark -r "$work/reserved-bits.pcap"
try fault-version fails_with 'version 2.3 of a file of link type 247' tshark -r "$work/version-2.3.pcap"
try fault-other-linktype fails_with 'network type 246 unknown' tshark -r "$work/linktype-246.pcap"
try fault-cut-tshark fails_with 'cut short in the middle of a packet' tshark -r "$work/cut-in-record.pcap"
try fault-cut-two-pass fails_with 'cut short in the middle of' tshark -2 -r "$work/cut-in-record.pcap"
try cut-anywhere cut_anywhere "$work/tiny.pcap"
try cut-anywhere-gzip survives "$work"/gzip-cut-*
try any-octet-changed survives "$work"/changed-*

ws editcap -F pcapng "$work/ethernet.pcap" "$work/ethernet.pcapng"
for file in $(pcap find other "$work"/cap/*.pcap) "$work/ethernet.pcap" "$work/ethernet.pcapng" \
    "$work/empty.pcap" "$work/text.txt" "$work/erf.pcap"; do
    try "as-before-$(basename "$file")" opens_as_before "$file"
done

try as-before-piped-pcap opens_piped_as_before "$work/ethernet.pcap"
try as-before-piped-pcapng opens_piped_as_before "$work/ethernet.pcapng"

saved() { # what a rewriting of it in this type must give: the same octets
    ws editcap -F pcap247 "$1" "$work/saved.pcap" && cmp "$1" "$work/saved.pcap"
}
saved_gzip() {
    ws tshark -r "$1" -F pcap247 -w "$work/saved.pcap.gz" && reads_as "$work/saved.pcap.gz" "$1"
}
range() { # records 2 to 4
    ws editcap -F pcap247 -r "$1" "$work/range.pcap" 2-4 && pcap list "$1" | sed -n 2,4p >"$work/expected" &&
        listed "$work/range.pcap" >"$work/got" && same "$work/expected" "$work/got"
}
merged() {
    ws mergecap -F pcap247 -w "$work/merged.pcap" "$@" &&
        for file; do pcap list "$file"; done | sort -s -n >"$work/expected" &&
        listed "$work/merged.pcap" >"$work/got" && same "$work/expected" "$work/got"
}
default_stays() {
    rm -f "$work/saved.any"
    ws tshark -r "$work/ethernet.pcap" -w "$work/saved.any" && says "$work/saved.any" '^File type: .* pcapng$'
}
try save-same-octets saved "$work/native-nsec.pcap"
try save-gzip saved_gzip "$largest"
try save-range range "$largest"
try save-merged merged "$work/little-usec.pcap" "$work/big-nsec.pcap" "$largest"
try save-default-stays default_stays
try save-ethernet-refused \
    fails_with "can't be written" editcap -F pcap247 "$work/ethernet.pcap" "$work/refused.pcap"

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the wiretap plugin: pcap files of link type 247 open as InfiniBand, in every form that the format
# has, damaged ones end in an error and not in a crash, and all other files open as without the plugin.
#
# usage: tests/wiretap.sh PLUGIN-DIR CAPTURE-DIR
#   PLUGIN-DIR   what WIRESHARK_PLUGIN_DIR is to be: it holds X.Y/wiretap/*.so (other plugins are left out)
#   CAPTURE-DIR  captures (*.pcap), at least one of link type 247; they are read, never written
# WIRESHARK_BIN may name the folder of the tshark, capinfos, editcap and mergecap to test (else: the PATH's).
#
# Expected values are read from the files by wiretap_pcap.py, which shares no code with the plugin.
set -u

[ $# -eq 2 ] || { echo "usage: $0 PLUGIN-DIR CAPTURE-DIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
bin=${WIRESHARK_BIN:+$WIRESHARK_BIN/}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/plugins" "$dir/none" "$dir/home" "$dir/cap"
cp "$2"/*.pcap "$dir/cap" || exit 2
for from in "$1"/*/wiretap; do # and no other plugins: what they decode is not the question here
    version=$(basename "$(dirname "$from")")
    mkdir "$dir/plugins/$version" && cp -R "$from" "$dir/plugins/$version" || exit 2
done
chmod -R a+rX "$dir" && chmod 777 "$dir" "$dir/home"
failed=0
passed=0

# Root loads no plugins from WIRESHARK_PLUGIN_DIR, so root becomes nobody. 20 seconds are a hang.
as_user=
[ "$(id -u)" -ne 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
with() { # PLUGIN-FOLDER PROGRAM ARGUMENT...
    folder=$1 program=$2
    shift 2
    timeout -k 1 20 $as_user env HOME="$dir/home" TZ=UTC LC_ALL=C WIRESHARK_PLUGIN_DIR="$dir/$folder" \
        "$bin$program" "$@"
}
ws() { with plugins "$@"; }
pcap() { python3 "$here/wiretap_pcap.py" "$@"; }

check() { # NAME COMMAND...: passes if the command does
    check_name=$1
    shift
    if "$@" >"$dir/log" 2>&1; then
        echo "ok $check_name"
        passed=$((passed + 1))
    else
        echo "not ok $check_name"
        sed 's/^/# /' "$dir/log" | head -20
        failed=$((failed + 1))
    fi
}

same() { # FILE FILE
    diff -u "$1" "$2"
}

# What tshark reads of a file: time, lengths and MD5 sum of each packet.
fields='-T fields -e frame.time_epoch -e frame.cap_len -e frame.len -e frame.md5_hash'
listed() { # FILE OPTION...
    file=$1
    shift
    ws tshark -r "$file" "$@" -o frame.generate_md5_hash:TRUE $fields 2>"$dir/stderr"
}

reads_as() { # FILE EXPECTED-FROM OPTION...
    file=$1 from=$2
    shift 2
    pcap list "$from" >"$dir/expected" && listed "$file" "$@" >"$dir/got" && same "$dir/expected" "$dir/got"
}

reads_piped() { # FILE
    pcap list "$1" >"$dir/expected" && cat "$1" | listed - >"$dir/got" && same "$dir/expected" "$dir/got"
}

# The error of a program, and that there was one (but no crash and no hang).
fails_with() { # PATTERN PROGRAM ARGUMENT...
    pattern=$1
    shift
    ws "$@" >"$dir/out" 2>&1
    status=$?
    cat "$dir/out"
    [ $status -ne 0 ] && [ $status -lt 124 ] && grep -q "$pattern" "$dir/out"
}

says() { # FILE PATTERN...: lines of capinfos
    ws capinfos "$1" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }
    shift
    for pattern; do
        grep -q "$pattern" "$dir/out" || { echo "no line: $pattern"; cat "$dir/out"; return 1; }
    done
}

opens_as_before() { # FILE
    for how in 'tshark -V -r' capinfos; do
        with none $how "$1" >"$dir/without" 2>&1
        before=$?
        with plugins $how "$1" >"$dir/with" 2>&1
        [ $? -eq $before ] && same "$dir/without" "$dir/with" || return 1
    done
}

opens_piped_as_before() { # FILE
    cat "$1" | with none tshark -r - >"$dir/without" 2>&1
    before=$?
    cat "$1" | with plugins tshark -r - >"$dir/with" 2>&1
    [ $? -eq $before ] && same "$dir/without" "$dir/with"
}

# A file cut anywhere: whole records are read; between records it ends well, within one with an error that
# says so. Without a whole file header it is not ours, and Wireshark says of it what it always said.
cut_anywhere() { # FILE
    size=$(wc -c <"$1")
    at=0
    while [ "$at" -lt "$size" ]; do
        head -c "$at" "$1" >"$dir/cut.pcap"
        ws capinfos -M -T -r -c "$dir/cut.pcap" >"$dir/out" 2>&1
        status=$?
        expected=$(pcap complete "$dir/cut.pcap")
        got=$(sed -n 's/.*cut\.pcap\t\([0-9]*\)$/\1/p' "$dir/out")
        case $expected in
        header)  with none capinfos -M -T -r -c "$dir/cut.pcap" >"$dir/without" 2>&1
                 [ $? -eq $status ] && same "$dir/without" "$dir/out" ;;
        *' cut') [ $status -eq 1 ] && grep -q 'cut short in the middle of a packet' "$dir/out" &&
                 [ "${got:-0} cut" = "$expected" ] ;;
        *)       [ $status -eq 0 ] && [ "$got" = "$expected" ] ;;
        esac || { echo "cut at $at: status $status, $got, expected $expected"; cat "$dir/out"; return 1; }
        at=$((at + 1))
    done
}

# Whatever the fault: an answer or an error, in time.
survives() { # FILE...
    for file; do
        ws capinfos "$file" >"$dir/out" 2>&1
        status=$?
        [ $status -le 2 ] || { echo "$file: status $status"; cat "$dir/out"; return 1; }
    done
}

pcap make "$dir" || exit 2
infiniband=$(pcap find 247 "$dir"/cap/*.pcap)
[ -n "$infiniband" ] || { echo "no capture of link type 247 in $2" >&2; exit 2; }
largest=$(ls -S $infiniband | head -1)

for file in $infiniband; do
    name=$(basename "$file" .pcap)
    check "capture-$name" reads_as "$file" "$file"
    check "capture-$name-two-pass" reads_as "$file" "$file" -2
    check "capture-$name-is-infiniband" says "$file" \
        '^File type: *Wireshark/libpcap pcap, InfiniBand link type (247)$' \
        '^File encapsulation:  InfiniBand$' \
        '^Number of interfaces in file: 1$' 'Encapsulation = InfiniBand (150 - infiniband)'
done

for form in little-usec little-nsec big-usec big-nsec; do
    check "form-$form" reads_as "$dir/$form.pcap" "$dir/$form.pcap"
    check "form-$form-two-pass" reads_as "$dir/$form.pcap" "$dir/$form.pcap" -2
done
check precision-usec says "$dir/big-usec.pcap" 'precision:  microseconds (6)' 'file hdr: 65535 bytes'
check precision-nsec says "$dir/big-nsec.pcap" 'precision:  nanoseconds (9)' 'Time resolution = 0x09'

gzip -c "$largest" >"$dir/largest.pcap.gz"
check gzip reads_as "$dir/largest.pcap.gz" "$largest"
check gzip-two-pass reads_as "$dir/largest.pcap.gz" "$largest" -2
check pipe reads_piped "$largest"
check pipe-big-usec reads_piped "$dir/big-usec.pcap"

for oddity in fcs-bits caplen-over-len no-octets snaplen-0 snaplen-huge long-fraction no-packets late-time; do
    check "oddity-$oddity" reads_as "$dir/$oddity.pcap" "$dir/$oddity.pcap"
done
check caplen-over-len-two-pass reads_as "$dir/caplen-over-len.pcap" "$dir/caplen-over-len.pcap" -2

for fault in caplen-262145 caplen-2g caplen-4g len-2g len-4g; do
    check "fault-$fault" fails_with 'record at offset 24 has .* is not a packet' tshark -r "$dir/$fault.pcap"
done
check fault-reserved-bits fails_with 'reserved field not zero' tshark -r "$dir/reserved-bits.pcap"
check fault-version fails_with 'version 2.3 of a file of link type 247' tshark -r "$dir/version-2.3.pcap"
check fault-other-linktype fails_with 'network type 246 unknown' tshark -r "$dir/linktype-246.pcap"
check fault-cut-tshark fails_with 'cut short in the middle of a packet' tshark -r "$dir/cut-in-record.pcap"
check fault-cut-two-pass fails_with 'cut short in the middle of' tshark -2 -r "$dir/cut-in-record.pcap"
check cut-anywhere cut_anywhere "$dir/tiny.pcap"
check cut-anywhere-gzip survives "$dir"/gzip-cut-*
check any-octet-changed survives "$dir"/changed-*

ws editcap -F pcapng "$dir/ethernet.pcap" "$dir/ethernet.pcapng"
for file in $(pcap find other "$dir"/cap/*.pcap) "$dir/ethernet.pcap" "$dir/ethernet.pcapng" \
    "$dir/empty.pcap" "$dir/text.txt" "$dir/erf.pcap"; do
    check "as-before-$(basename "$file")" opens_as_before "$file"
done

check as-before-piped-pcap opens_piped_as_before "$dir/ethernet.pcap"
check as-before-piped-pcapng opens_piped_as_before "$dir/ethernet.pcapng"

saved() { # what a rewriting of it in this type must give: the same octets
    ws editcap -F pcap247 "$1" "$dir/saved.pcap" && cmp "$1" "$dir/saved.pcap"
}
saved_gzip() {
    ws tshark -r "$1" -F pcap247 -w "$dir/saved.pcap.gz" && reads_as "$dir/saved.pcap.gz" "$1"
}
range() { # records 2 to 4
    ws editcap -F pcap247 -r "$1" "$dir/range.pcap" 2-4 && pcap list "$1" | sed -n 2,4p >"$dir/expected" &&
        listed "$dir/range.pcap" >"$dir/got" && same "$dir/expected" "$dir/got"
}
merged() {
    ws mergecap -F pcap247 -w "$dir/merged.pcap" "$@" &&
        for file; do pcap list "$file"; done | sort -s -n >"$dir/expected" &&
        listed "$dir/merged.pcap" >"$dir/got" && same "$dir/expected" "$dir/got"
}
default_stays() {
    rm -f "$dir/saved.any"
    ws tshark -r "$dir/ethernet.pcap" -w "$dir/saved.any" && says "$dir/saved.any" '^File type: .* pcapng$'
}
check save-same-octets saved "$dir/native-nsec.pcap"
check save-gzip saved_gzip "$largest"
check save-range range "$largest"
check save-merged merged "$dir/little-usec.pcap" "$dir/big-nsec.pcap" "$largest"
check save-default-stays default_stays
check save-ethernet-refused \
    fails_with "can't be written" editcap -F pcap247 "$dir/ethernet.pcap" "$dir/refused.pcap"

echo "# wiretap: $passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input: every test capture cut at every length, ended early at every length, and with single-octet
# faults. tshark must end well (no crash, no hang, no "Dissector bug"), in one pass and in two; no field of a
# cut frame may differ from the whole frame's; one pass, two passes and a filter must show the same.
#
#   tests/robust.sh [CAPTURE...]        default: testdata/*.pcap and testdata/built/*.pcap; output is TAP
#
# Environment: IPOIB_TSHARK (command that runs tshark with the plugin, default script/tshark), IPOIB_SRC (source
# tree), IPOIB_EVERY (use every N-th length and offset, default 1), IPOIB_TIMEOUT (seconds for one tshark,
# default 300).
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

every=${IPOIB_EVERY:-1}
limit=${IPOIB_TIMEOUT:-300}
read -ra tshark <<<"${IPOIB_TSHARK:-$src/script/tshark}"
# Wireshark's own RPC-over-RDMA dissector (4.0, 4.4) has a bug in two passes over cut SENDs, plugin or not
options=(-n --disable-protocol rpcordma)
mutate=(python3 "$src/tests/mutate.py")
export WIRESHARK_ABORT_ON_DISSECTOR_BUG=1

[ $# -gt 0 ] || set -- "$src"/testdata/*.pcap "$src"/testdata/built/*.pcap
chmod 755 "$work"

# Field names that the whole and the cut frame, and one and two passes, must agree on: what is in the packet.
# Left out is what depends on other packets, and what has no value of its own.
packet_fields() {
    "${tshark[@]}" -G fields 2>/dev/null | awk -F '\t' '
        $1 != "F" || $4 ~ /^FT_(NONE|STRING|FRAMENUM|PROTOCOL)$/ { next }
        $3 ~ /^ipoib\.(response|time|rule|connection|message|reassembled|entry)/ { next }
        $3 ~ /^ipoib\.(cm\.mtu|cm\.answers|cm\.service$|lladdr\.(ipv4|ipv6|name|host))/ { next }
        $3 ~ /^ipoib\./ { print $3 }' | sort -u
    printf '%s\n' arp.hw.type arp.proto.type arp.hw.size arp.opcode arp.src.hw arp.src.proto_ipv4 arp.dst.hw \
        arp.dst.proto_ipv4 infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn \
        infiniband.grh.dgid infiniband.deth.srcqp infiniband.mad.method
}

# run OUTPUT ARGUMENT...: tshark; its status, or 1 for a bug that it only names. OUTPUT.err: what it said.
run() {
    local out=$1 status=0
    shift
    timeout -k 5 "$limit" "${tshark[@]}" "${options[@]}" "$@" >"$out" 2>"$out.err" || status=$?
    if [ $status -ne 0 ]; then
        echo "exit status $status (124: not in $limit s); last line: $(tail -1 "$out" | cut -f1)" >>"$out.err"
    elif grep -qiE 'dissector bug|assertion|sanitizer|g_log|CRITICAL|WARNING \*\*' "$out.err" ||
        grep -m1 -E 'Dissector bug' "$out" >>"$out.err"; then
        status=1
    fi
    return $status
}

"${mutate[@]}" make "$work" --every "$every" "$@" >"$work/made" 2>&1 || {
    tap 1 'bad captures are made' "$work/made"
    finish
}
chmod -R a+rX "$work"

mapfile -t names < <(packet_fields)
[ "$(printf '%s\n' "${names[@]}" | grep -c '^ipoib\.')" -ge 20 ]
tap $? "the plugin's fields are known to tshark (${#names[@]} are compared)"
fields=(-T fields -E header=y -E separator=/t -E occurrence=a -E $'aggregator=\x1e' -e frame.number)
for n in "${names[@]}"; do
    fields+=(-e "$n")
done

for capture in "$work"/*-*.pcap*; do
    name=$(basename "$capture")
    count=$(awk -F'[ /]' -v n="$name:" 'index($0, n) { print $(NF - 1) }' "$work/made")
    run "$work/one" -r "$capture" "${fields[@]}"
    tap $? "$name, $count frames, one pass" "$work/one.err"
    run "$work/two" -2 -r "$capture" "${fields[@]}"
    tap $? "$name, two passes" "$work/two.err"
    run "$work/tree" -2 -r "$capture" -V
    tap $? "$name, whole trees" "$work/tree.err"
    "${mutate[@]}" agree "$work/one" "$work/two" >"$work/said" 2>&1
    tap $? "$name, one pass and two show the same" "$work/said"
    if [[ $name == cut-* ]]; then
        "${mutate[@]}" subset "${capture%.*}.index" "$work/one" >"$work/said" 2>&1
        tap $? "$name, cut frames show what whole ones show" "$work/said"
        run "$work/filtered" -r "$capture" -Y ipoib.lladdr "${fields[@]}"
        tap $? "$name, filtered" "$work/filtered.err"
        column=$(head -1 "$work/one" | tr '\t' '\n' | grep -nx ipoib.lladdr | cut -d: -f1)
        awk -F '\t' -v c="${column:-1}" 'NR == 1 || $c != ""' "$work/one" >"$work/wanted"
        "${mutate[@]}" agree "$work/wanted" "$work/filtered" >"$work/said" 2>&1
        tap $? "$name, filtered and not show the same" "$work/said"
    fi
done
finish

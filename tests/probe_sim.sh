#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-probe fabric against OpenSM on a simulated subnet (testbed/simulate): a healthy one; groups whose MTU, rate or both this
# port has not; a partition without a group; a P_Key that is not there; no SM. Results in TAP.
# test: here-only
# shellcheck source=tests/tap.sh
. "${0%/*}/tap.sh"

probe=$bin/ipoib-probe simulate=$src/testbed/simulate
expect_status 0 "$simulate" true > "$work/log" 2>&1 || {
    grep -q '^exit status 125' "$work/log" && skip_all "$(head -1 "$work/log")"
    cat "$work/log"
    exit 1
}

# fabric STATUS PARTITION ARGUMENT...: the probe's exit status is that with such a partition file; its JSON is left in report
fabric() {
    printf '%s\n' "$2" > "$work/partitions"
    expect_status "$1" timeout -k 1 60 "$simulate" -P "$work/partitions" "$probe" --format json -o "$work/report" "${@:3}" fabric ||
        { cat "$work/report"; return 1; }
}
result() { python3 -c '
import json, sys
for r in json.load(open(sys.argv[1]))["results"]:
    if r["id"] == sys.argv[2]: print(r["outcome"], r["actual"], "->", r.get("advice", ""))' "$work/report" "$1"; }
is() { result "$1" | grep -q "^$2" || { echo "$1 is not $2:"; result "$1"; return 1; }; }
says() { result "$1" | grep -q -- "$2" || { echo "$1 does not say $2:"; result "$1"; return 1; }; }
# What fails, one identifier a line. The simulator passes no Reports on: that no trap comes is the one fault of a healthy subnet.
failures() { python3 -c '
import json, sys
for r in json.load(open(sys.argv[1]))["results"]:
    if r["outcome"] == "fail": print(r["id"], r["actual"])' "$work/report"; }
but_traps() {
    local got
    got=$(failures)
    [ "$got" = "fabric.own-group trap 66 (created) did not come, trap 67 (deleted) did not come" ] || { echo "fails: $got"; return 1; }
}
healthy='Default=0x7fff, ipoib : ALL=full;'

good() { fabric 1 "$healthy" && but_traps && is fabric.join pass && is fabric.send-only-join pass &&
    is rfc4391.10.leave pass && is rfc4391.10.sendonly-semantics pass && is rfc4391.10.group-attributes pass &&
    is rfc4391.4.1.scope-search pass && is sm.one-master pass && says fabric.sm 'master, priority' &&
    is partition.default-pkey pass && is rfc4391.4.1.qkey-controlled deviation; }
try "a healthy subnet" good
# what OpenSM refuses (its osm_mcast_mgr and osm_sa_mcmember_record): another P_Key, Q_Key, SL, hop limit, TClass, flow label and scope
varied() { fabric 1 "$healthy" --disruptive && but_traps && says fabric.group-attributes 'refused: .*Q_Key, SL.*scope' &&
    says fabric.group-attributes 'accepted: MTU, rate'; }
try "groups with other attributes, and no fault is made of them" varied
# refused NAME PARTITION WORDS: nothing is said to be missing, and that is to blame
refused() { fabric 1 "$1" && is fabric.join fail && says fabric.join 'status 0x0200' && says fabric.join "to blame: $2" &&
    is fabric.own-groups skipped && is rfc4391.5.broadcast-group-exists pass; }
try "refused for its MTU" refused 'Default=0x7fff, ipoib, mtu=5 : ALL=full;' 'the MTU:'
try "refused for its rate" refused 'Default=0x7fff, ipoib, rate=12 : ALL=full;' 'the rate:'
rate() { refused 'Default=0x7fff, ipoib, rate=12 : ALL=full;' 'the rate:' && is fabric.rate fail; }
try "the rate is compared" rate
try "refused for both" refused 'Default=0x7fff, ipoib, mtu=5, rate=12 : ALL=full;' 'the MTU and the rate:'
none() { fabric 1 'Default=0x7fff : ALL=full;' && is fabric.broadcast-group fail && is fabric.join skipped && says fabric.broadcast-group 'flag ipoib'; }
try "a partition without a broadcast group" none
wide='Default=0x7fff :
mgid=ff15:401b:ffff::ffff:ffff, scope=5, mtu=4, rate=3, Q_Key=0x80000b1b
ALL=full;'
scope() { fabric 1 "$wide" && says rfc4391.4.1.scope-search 'found at 5' && is rfc4391.4.1.scope-link-local fail &&
    is rfc4391.4.1.qkey-controlled pass && is fabric.join pass; }
try "a scope of its own is found" scope
pkey() { fabric 1 "$healthy" --pkey 0x8042 && is fabric.pkey fail && says fabric.pkey 'not in the table' && is fabric.join skipped; }
try "a P_Key that the port has not" pkey
limited() { fabric 1 'Default=0x7fff, ipoib : ALL=limited;' && but_traps && is fabric.pkey noted && says fabric.pkey 'limited member'; }
try "a limited member" limited
# 1024 MLIDs are all that the simulated switch has. It hands up the first segment of a table alone: the census of them is on the virtual
# fabric (tests/probe/field.sh)
crowd() { printf 'Default=0x7fff, ipoib :\n'; for i in $(seq 0 1099); do printf 'mgid=ff12:601b:ffff::1:ff00:%x\n' $i; done; echo 'ALL=full;'; }
used_up() { fabric 1 "$(crowd)" && is fabric.join pass && is fabric.own-group fail && says fabric.own-group 'status 0x0100, no resources' &&
    says fabric.own-group 'are MLIDs left'; }
try "no MLID is left for a group" used_up
try "no peer without a queue pair: exit status 3" expect_status 3 timeout -k 1 60 "$simulate" "$probe" 10.0.0.1
finish

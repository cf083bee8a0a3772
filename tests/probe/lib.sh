# SPDX-License-Identifier: GPL-2.0-or-later
# What the scenarios of ipoib-probe have in common: results in TAP in /fabric-out/tap, and what the last report says. $probe is
# the program.
tap=/fabric-out/tap n=0
: > $tap
try() { n=$((n+1)); if "${@:2}" >/tmp/try 2>&1; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' /tmp/try | tail -40; fi >> $tap; }
# the outcome of a rule or stage in the last report
outcome() { python3 -c '
import json, sys
found = [r for r in json.load(open("/tmp/report"))["results"] if r["id"] == sys.argv[1]]
print(",".join(sorted({r["outcome"] for r in found})) or "none")' "$1"; }
# the worst of a rule's outcomes in the last report
worst() { python3 -c '
import json, sys
order = ["fail", "deviation", "noted", "pass", "inconclusive", "skipped", "none"]
found = [r["outcome"] for r in json.load(open("/tmp/report"))["results"] if r["id"] == sys.argv[1]]
print(min(found + ["none"], key=order.index))' "$1"; }
# report STATUS ARGUMENT...: the probe's exit status is that; its JSON is left in /tmp/report
report() { local want=$1; shift; "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
is() { local got; got=$(outcome "$1"); [ "$got" = "$2" ] || { echo "$1: $got, not $2"; return 1; }; }
no_failure() { ! python3 -c 'import json; print([r for r in json.load(open("/tmp/report"))["results"] if r["outcome"] == "fail"])' | grep -v '^\[\]$'; }
tap_end() { echo "1..$n" >> $tap; ! grep -q '^not ok' $tap; }

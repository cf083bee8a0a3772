# SPDX-License-Identifier: GPL-2.0-or-later
# Shared code of the scenarios of ipoib-probe: results in TAP in /fabric-out/tap, and queries of the last report. $probe is
# the program.
# Each start of a program in /fabric-out reads it from the host again.
cp "$probe" "${check:-$probe}" /tmp/ && probe=/tmp/${probe##*/} check=/tmp/$(basename "${check:-$probe}")
tap=/fabric-out/tap n=0
: > $tap
# Prints the duration of slow steps, to show where the time of a test goes
try() { local begin=$SECONDS; n=$((n+1)); if "${@:2}" >/tmp/try 2>&1; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' /tmp/try | tail -40; fi >> $tap
    [ $((SECONDS-begin)) -lt 5 ] || echo "# this took $((SECONDS-begin)) s" >> $tap; }
# Writes the last report as lines to /tmp/table: identifier, outcome, actual value and advice; the line "summary" has
# the numbers of targets. Once for each report, because python3 takes half a second to start in the emulated machine
table() { [ /tmp/table -nt /tmp/report ] || python3 -c '
import json
report = json.load(open("/tmp/report"))
for r in report["results"]:
    print(r["id"], r["outcome"], " ".join((r["actual"] + " -> " + r.get("advice", "")).split()), sep="\t")
s = report["summary"]
print("summary", s["violated"], s["unjudged"], s["conformant"])' > /tmp/table; }
# prints the outcomes of a rule or stage in the last report
outcome() { table; awk -F'\t' -v id="$1" '$1 == id { print $2 }' /tmp/table | sort -u | paste -sd, | sed 's/^$/none/'; }
# prints the worst of a rule's outcomes in the last report
worst() { local o; for o in fail deviation noted pass inconclusive skipped; do
    case ",$(outcome "$1")," in *",$o,"*) echo $o; return ;; esac; done; echo none; }
# result ID: prints outcome, actual value and advice of a rule or stage in the last report
result() { table; awk -F'\t' -v id="$1" '$1 == id { print $2, $3 }' /tmp/table; }
says() { result "$1" | grep -q -- "$2" || { echo "$1 does not say $2:"; result "$1"; return 1; }; }
# report STATUS ARGUMENT...: runs the probe, writes its JSON to /tmp/report, and checks its exit status
report() { local want=$1; shift; "$probe" --format json -o /tmp/report "$@"; local got=$?; [ $got = "$want" ] || { echo "exit $got"; cat /tmp/report; return 1; }; }
is() { local got; got=$(outcome "$1"); [ "$got" = "$2" ] || { echo "$1: $got, not $2"; return 1; }; }
no_failure() { table && ! awk -F'\t' '$2 == "fail"' /tmp/table | grep .; }
# numbers of targets: violated, not judged, conformant
targets() { table; awk '$1 == "summary" { print $2, $3, $4 }' /tmp/table; }
# prints h1's groups with its JoinStates, queried with OpenSM's SM_Key, except send-only ones: the kernel joins and leaves these
# depending on what it sends
members() { saquery --smkey 1 -C vqib0 MCMR | awk '{ sub(/\.+/, " ") } $1 == "MGID" { group = $2 } $1 == "PortGid" { port = $2 }
    $1 == "JoinState" && port ~ /:110$/ && $2 !~ /8$/ { print group, $2 }' | sort; }
tap_end() { echo "1..$n" >> $tap; ! grep -q '^not ok' $tap; }

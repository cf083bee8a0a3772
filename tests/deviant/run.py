#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py [FAULT...]: each fault of the deviant peer (or these), and ipoib-probe, which has to find it and nothing else.

It runs in the machine of the virtual fabric (tests/deviant/fabric.sh), with the programs in /fabric-out. Output: TAP."""
import json
import signal
import subprocess
import sys
import time

PROBE, DEVIANT = "/fabric-out/ipoib-probe", "/fabric-out/deviant"
ADDRESS, SOURCE, SOURCE6, ANSWER_MS = "10.0.0.9", "10.0.0.77", "fe80::77", "150"
REPORT = "/tmp/report.json"


class Peer:
    """A running deviant peer; address6 is its link-local address."""

    def __init__(self, device, fault):
        self.process = subprocess.Popen([DEVIANT, "-d", device, "-a", ADDRESS, "--" + fault], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("the deviant peer does not stand on the link")
        self.address6 = line[1]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


def probe(target, arguments=()):
    """What the probe finds: (rules and stages that fail, whether it could test, results, what it said, its exit status)"""
    source = SOURCE6 if ":" in target else SOURCE
    command = [PROBE, "-d", "vqib1", "--timeout", ANSWER_MS, "--format", "json", "-o", REPORT, "-w", "/tmp/last.pcapng"]
    command += [] if target == "fabric" else ["--source", source]
    run = subprocess.run(command + list(arguments) + [target], capture_output=True, text=True)
    report = json.load(open(REPORT))
    failed = {r["id"] for r in report["results"] if r["outcome"] == "fail"}
    return failed, report, run.stderr, run.returncode


def expectation(found):
    words = set(found.split())
    said = words & {"untested", "unusable"}
    return words - said, said


def explain(report, ids):
    for r in report["results"]:
        if r["id"] in ids:
            yield "%s %s: %s; %s" % (r["outcome"], r["id"], r["actual"], json.dumps(r.get("evidence")))


def judge(found, result):
    """What is wrong with what the probe found; nothing where it is as the table has it."""
    failed, report, said, status = result
    rules, words = expectation(found)
    complaints = ["%s is found, and is not there" % r for r in sorted(failed - rules)]
    complaints += ["%s is not found" % r for r in sorted(rules - failed)]
    if ("untested" in words) != any(t.get("error") for t in report["summary"]["targets"]):
        complaints.append("exit status %d: could it test?" % status)
    if ("unusable" in words) != ("in use" in said):
        complaints.append("of the source: %s" % said.strip())
    return complaints + list(explain(report, failed ^ rules)) if complaints else []


def check(option, probed, found, arguments=()):
    peers = [Peer("vqib2", option)]
    if "rival" in probed:
        peers.append(Peer("vqib3", "right"))
    try:
        target = ADDRESS if "ipv4" in probed else "fabric" if "fabric" in probed else peers[0].address6
        return judge(found, probe(target, arguments))
    finally:
        for p in peers:
            p.end()


def main():
    table = [line.rstrip("\n").split("\t") for line in
             subprocess.run([DEVIANT, "--table"], capture_output=True, text=True, check=True).stdout.splitlines()]
    chosen = [row for row in table if not sys.argv[1:] or row[0] in sys.argv[1:]]
    failures = 0
    for number, (option, probed, found, does) in enumerate(chosen, 1):
        begin = time.monotonic()
        try:
            complaints = check(option, probed, found)
        except Exception as e:          # the others are tried all the same
            complaints = [repr(e)]
        failures += bool(complaints)
        print("%sok %d - %s: %s" % ("not " if complaints else "", number, option, does))
        print("".join("# %s\n" % c for c in complaints) + "# %.1f s" % (time.monotonic() - begin), flush=True)
    print("1..%d" % len(chosen))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: machine
# test: here-only
# test: timeout=1800
"""Every scenario of the virtual fabric runs, leaves the capture of its wire, and ipoib-check judges that.

A scenario's head says what is expected of the judge, beside what its own commands check:
  # judged: OUTCOME RULE...   these rules fail ("violated") or deviate ("deviation") or are noted ("noted"); may stand
                              several times. Without a line of "violated" nothing may fail.
  # judged: not               its captures are not judged (another link type, or too long for a test)
  # arguments: ARGUMENT...    for the scenario, in a test

Environment: IPOIB_SRC, IPOIB_BIN. Output: TAP."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ.get("IPOIB_SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BIN = os.environ.get("IPOIB_BIN") or os.path.join(SRC, "build/bin")
FABRIC = os.path.join(SRC, "testbed/fabric")
CANNOT_RUN = 125
OUTCOMES = {"violated": "fail", "deviation": "deviation", "noted": "noted"}


def head(scenario):
    """What its comments say of the test: {outcome: rules}, or None for not judged; arguments."""
    expected, arguments, judged = {"fail": set()}, [], True
    for line in open(scenario):
        m = re.match(r"# (judged|arguments): (.*)", line)
        if not m:
            continue
        words = m.group(2).split()
        if m.group(1) == "arguments":
            arguments = words
        elif words[0] == "not":
            judged = False
        else:
            expected.setdefault(OUTCOMES[words[0]], set()).update(words[1:])
    return expected if judged else None, arguments


def judge(capture, expected):
    """What is wrong with the verdict on a capture; nothing where all is as expected."""
    out = subprocess.run([os.path.join(BIN, "ipoib-check"), "--format", "json", capture], capture_output=True, text=True)
    if out.returncode not in (0, 1):
        return ["%s: %s" % (os.path.basename(capture), out.stderr.strip())], set()
    found = {(r["outcome"], r["id"]) for r in json.loads(out.stdout)["results"]}
    failed = {rule for outcome, rule in found if outcome == "fail"}
    complaints = ["%s: %s is not kept" % (os.path.basename(capture), rule) for rule in sorted(failed - expected["fail"])]
    return complaints, found


def run(scenario, folder):
    expected, arguments = head(scenario)
    out = subprocess.run([FABRIC, "once", scenario, folder] + arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if out.returncode == CANNOT_RUN:
        return None, [(out.stderr.strip().splitlines() or ["?"])[-1]]
    if out.returncode:
        return False, ["exit status %d" % out.returncode] + (out.stdout + out.stderr).strip().splitlines()[-15:]
    if expected is None:
        return True, []
    captures = sorted(glob.glob(os.path.join(folder, "*.pcap")))
    if not captures:
        return False, ["it left no capture"]
    complaints, found = [], set()
    for capture in captures:
        wrong, seen = judge(capture, expected)
        complaints += wrong
        found |= seen
    for outcome, rules in expected.items():
        complaints += ["%s should be told as %s" % (rule, outcome) for rule in sorted(rules) if (outcome, rule) not in found]
    return not complaints, complaints


def main():
    failures = 0
    scenarios = sorted(glob.glob(os.path.join(SRC, "testbed/scenarios/*.sh")))
    scenarios = [s for s in scenarios if not sys.argv[1:] or os.path.basename(s)[:-3] in sys.argv[1:]]
    for number, scenario in enumerate(scenarios, 1):
        with tempfile.TemporaryDirectory(prefix="ipoib-scenario.") as folder:
            good, words = run(scenario, folder)
        name = os.path.basename(scenario)[:-3]
        if good is None:
            print("ok %d - %s # SKIP %s" % (number, name, words[0]))
            continue
        failures += not good
        print("%sok %d - %s" % ("" if good else "not ", number, name))
        print("".join("# %s\n" % w for w in words), end="")
        sys.stdout.flush()
    print("1..%d" % len(scenarios))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

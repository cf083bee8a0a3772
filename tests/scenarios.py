#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: machine
# test: alone
# test: here-only
# test: timeout=3000
"""Every scenario of the virtual fabric runs, leaves the capture of its wire, and ipoib-check judges that. What more there is
to see in what a scenario leaves, scenario_checks.py looks at.

  tests/scenarios.py [NAME...]       default: all of testbed/scenarios

A scenario's head says how a test runs it and what is expected of the judge:
  # judged: OUTCOME RULE...   these rules are told so ("violated", "deviation" or "noted"); may stand several times. A rule
                              that is not named as violated must not be. Why it is right, the lines after it say.
  # arguments: ARGUMENT...    for the scenario, in a test; $NAME is taken from the environment

Environment: IPOIB_SRC, IPOIB_BIN; FABRIC_JOBS, how many machines run at once (as many as there are processors, but two at
most, for a machine takes two); FABRIC_FAILED, a folder for what failed scenarios left. Output: TAP, and how long each took."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import scenario_checks
from tap import BIN, SRC, finish, remark, skip, tap

os.environ.update(IPOIB_SRC=SRC, IPOIB_BIN=BIN)  # for the arguments of the scenarios, scenario_checks and testbed/fabric
FABRIC = os.path.join(SRC, "testbed/fabric")
TIME_IS_UP = 124    # exit status of testbed/fabric: rarely, an emulated processor on a busy host stands still
CANNOT_RUN = 125    # likewise: this host cannot, and nothing was booted
OUTCOMES = {"violated": "fail", "deviation": "deviation", "noted": "noted"}
CAPTURES = (".pcap", ".pcapng", ".erf")


def head(scenario):
    """What its comments say of the test: {outcome: rules}; arguments."""
    expected, arguments = {"fail": set()}, []
    for line in open(scenario):
        m = re.match(r"# (judged|arguments): (.*)", line)
        if not m:
            continue
        words = m.group(2).split()
        if m.group(1) == "arguments":
            arguments = [os.path.expandvars(w) for w in words]
        else:
            expected.setdefault(OUTCOMES[words[0]], set()).update(words[1:])
    return expected, arguments


def judge(capture, expected):
    """What is wrong with the verdict on a capture, and all that was found: (outcome, rule)."""
    name = os.path.basename(capture)
    out = subprocess.run([os.path.join(BIN, "ipoib-check"), "--format", "json", capture], capture_output=True, text=True, check=False)
    if out.returncode not in (0, 1):
        return ["%s: exit status %d: %s" % (name, out.returncode, (out.stderr or out.stdout).strip())], set()
    results = json.loads(out.stdout)["results"]
    broken = [r for r in results if r["outcome"] == "fail" and r["id"] not in expected["fail"]]
    return (["%s: %s is not kept: %s: expected %s, actual %s, frames %s" %
             (name, r["id"], r["subject"], r["expected"], r["actual"], r["frames"]) for r in broken],
            {(r["outcome"], r["id"]) for r in results})


def judged(folder, expected):
    """What is wrong with the verdicts on all captures of a folder."""
    captures = sorted(c for c in glob.glob(os.path.join(folder, "*")) if c.endswith(CAPTURES))
    if not captures:
        return ["it left no capture"]
    complaints, found = [], set()
    for capture in captures:
        wrong, seen = judge(capture, expected)
        complaints += wrong
        found |= seen
    for outcome, rules in expected.items():
        complaints += ["%s should be told as %s" % (rule, outcome) for rule in sorted(rules) if (outcome, rule) not in found]
    return complaints


def boot(scenario, folder, arguments):
    return subprocess.run([FABRIC, "once", scenario, folder] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env={"FABRIC_TIMEOUT": "450", **os.environ})


def keep(name, folder, said):
    """Where FABRIC_FAILED names a folder, in a new one of that."""
    if os.environ.get("FABRIC_FAILED"):
        kept = tempfile.mkdtemp(prefix=name + ".", dir=os.environ["FABRIC_FAILED"])
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        with open(os.path.join(kept, "said"), "w", encoding="utf-8") as f:
            f.write(said)


def run(scenario):
    """Name, seconds, and [(True, False or None for skipped; what; words)]."""
    name, begin = os.path.basename(scenario)[:-3], time.monotonic()
    reason = scenario_checks.cannot(name)
    if reason:
        return name, 0, [(None, name, [reason])]
    expected, arguments = head(scenario)
    with tempfile.TemporaryDirectory(prefix="ipoib-scenario.") as folder:
        out = boot(scenario, folder, arguments)
        if out.returncode == TIME_IS_UP:
            remark("scenario %s: the emulated machine came to no end, and was booted anew" % name)
            out = boot(scenario, folder, arguments)
        said = out.stdout.strip().splitlines()
        if out.returncode == CANNOT_RUN:
            results = [(None, name, said[-1:] or ["testbed/fabric says nothing"])]
        elif out.returncode:
            results = [(False, name, ["exit status %d" % out.returncode] + said[-30:])]
        else:
            complaints = judged(folder, expected)
            results = [(not complaints, name, complaints)]
            results += [(ok, "%s: %s" % (name, what), words) for ok, what, words in scenario_checks.check(name, folder, out.stdout)]
        if any(ok is False for ok, *_ in results):
            keep(name, folder, out.stdout)
    return name, time.monotonic() - begin, results


def wanted(names):
    """The scenarios' files; the longest first, so that two machines end together."""
    there = {os.path.basename(s)[:-3]: s for s in glob.glob(os.path.join(SRC, "testbed/scenarios/*.sh"))}
    unknown = sorted(set(names) - set(there))
    if unknown:
        sys.exit("scenarios.py: no such scenario: %s" % ", ".join(unknown))
    late = {name: number for number, name in enumerate(scenario_checks.LONGEST)}
    return sorted((there[n] for n in names or there), key=lambda s: (late.get(os.path.basename(s)[:-3], len(late)), s))


def main():
    jobs = int(os.environ.get("FABRIC_JOBS") or min(2, os.cpu_count() or 1))
    for ok, what, words in scenario_checks.yardsticks():
        tap(ok, what, words)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, seconds, results in pool.map(run, wanted(sys.argv[1:])):
            for ok, what, words in results:
                if ok is None:
                    skip(what, words[0])
                else:
                    tap(ok, what, words)
            print("# %s took %.0f s" % (name, seconds), flush=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

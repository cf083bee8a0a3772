#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""site_judge.py FOLDER: judges the runs of ipoib-probe node that tests/probe/guest/site.sh wrote. Results in TAP.

A change is seen within one run if the first run that begins after it is effective has its result. Each later run
until the next change must have it, too. A run that overlaps the time in which a fault is switched is not judged. All
other runs must be ok. After a fault, one run may be degraded by the counters that the fault changed."""
import argparse
import collections
import re
import sys
from pathlib import Path

# kind of fault: results that a run may have, and the stage that has the problem
EXPECTED = {
    "cable": ({"fault"}, "node.port"),
    "loss": ({"not_judged"}, "node.group"),
    "pkey": ({"fault"}, "node.pkey"),
    "group": ({"fault"}, "node.group"),
    "errors": ({"degraded", "not_judged"}, "node.counters"),
    "fewlost": ({"ok"}, None),
    "mtu": ({"degraded"}, "node.mtu"),
    "sm": ({"not_judged"}, "node.group"),
}
LEAVE_COUNTERS = {"cable", "pkey", "group", "errors"}  # a fault of these kinds changes counters
TITLES = {"fewlost": "fewlost, which is no fault"}

Run = collections.namedtuple("Run", "begin end status word problems")
Switch = collections.namedtuple("Switch", "kind hosts begins effective")
Fault = collections.namedtuple("Fault", "kind hosts on off")


def read_runs(path):
    """All runs of a host; one whose metrics are not complete has no result."""
    for part in path.read_text().split("# run ")[1:]:
        begin, end, status = part.splitlines()[0].split()
        word = re.findall(r'^ipoib_node_status{status="(\w+)"} 1$', part, re.M)
        problems = re.findall(r'^ipoib_node_stage_problems{stage="([\w.]+)"} [1-9]', part, re.M)
        yield Run(
            float(begin), float(end), int(status), word[0] if len(word) == 1 else None, problems
        )


def read_faults(path):
    """The faults; one that was not switched off again is left out."""
    lines = [line.split() for line in path.read_text().splitlines()]
    switches = [
        (first[3], Switch(first[2], first[4:], float(first[0]), float(second[0])))
        for first, second in zip(lines[::2], lines[1::2])
        if first[1] == "begins" and second[1:] == ["effective", *first[2:]]
    ]
    return [
        Fault(on.kind, on.hosts, on, off)
        for (one, on), (other, off) in zip(switches[::2], switches[1::2])
        if one == "on" and other == "off" and on.kind == off.kind
    ]


def overlaps(run, switch):
    return run.end >= switch.begins and run.begin < switch.effective


class Judge:
    def __init__(self, folder, period):
        self.period = period
        self.runs = {
            path.name[1:]: list(read_runs(path)) for path in sorted(folder.glob("runs/h*"))
        }
        self.faults = read_faults(folder / "changes")
        self.wrong = collections.defaultdict(list)  # per kind, or "false alarm"
        self.seen = collections.defaultdict(list)  # per kind: seconds from the change to the result
        self.healthy = collections.defaultdict(list)
        self.judged = set()
        self.switching = 0

    def say(self, what, host, run, text):
        self.wrong[what].append(
            f"host {host}, run at {run.begin:.3f}: {run.word} {' '.join(run.problems)}: {text}"
        )

    def judge_fault(self, host, fault):
        """The runs while the fault is on, and the one or two after it."""
        words, stage = EXPECTED[fault.kind]
        during = [
            r for r in self.runs[host] if fault.on.effective <= r.begin and r.end < fault.off.begins
        ]
        later = [r for r in self.runs[host] if r.begin >= fault.off.effective]
        if not during or not later:
            self.wrong[fault.kind].append(f"host {host}: no run while it was on, or after it")
            return
        for i, run in enumerate(during):
            good = run.word in words and (stage is None or stage in run.problems)
            if fault.kind == "errors" and run.word == "not_judged":
                good = True  # all three packets with the answer had errors
            if not good:
                self.say(fault.kind, host, run, f"run {i + 1} while the fault is on")
        self.judged.update((host, r.begin) for r in during)
        if fault.kind != "fewlost":
            self.seen[fault.kind].append(during[0].end - fault.on.effective)
            self.judge_first_after(host, fault, later[0])

    def judge_first_after(self, host, fault, run):
        counters = (
            fault.kind in LEAVE_COUNTERS
            and run.word == "degraded"
            and run.problems == ["node.counters"]
        )
        if run.word == "ok" or counters:
            self.judged.add((host, run.begin))
        self.healthy[fault.kind].append(run.end - fault.off.effective)

    def judge_others(self, host):
        """Any other run must be ok."""
        switches = [s for f in self.faults if host in f.hosts for s in (f.on, f.off)]
        for run in self.runs[host]:
            if (host, run.begin) in self.judged:
                continue
            if any(overlaps(run, s) for s in switches):
                self.switching += 1
            elif run.word != "ok":
                self.say("false alarm", host, run, "without a fault")

    def judge_times(self, host):
        begins = [r.begin for r in self.runs[host]]
        for one, other in zip(begins, begins[1:]):
            if other - one > 1.5 * self.period:
                self.wrong["runs"].append(
                    f"host {host}: {other - one:.1f} s without a run, at {one:.3f}"
                )

    def judge(self):
        for fault in self.faults:
            for host in fault.hosts:
                self.judge_fault(host, fault)
        for host in self.runs:
            self.judge_others(host)
            self.judge_times(host)

    # ---- the report

    def results(self):
        """Title, and what is wrong."""
        runs = [r for of_host in self.runs.values() for r in of_host]
        minutes = (max(r.end for r in runs) - min(r.begin for r in runs)) / 60 if runs else 0
        yield f"{len(self.runs)} hosts ran it every {self.period} s: {len(runs)} runs, {minutes:.1f} minutes", (
            self.wrong["runs"] if len(self.runs) == 16 else ["not sixteen hosts"]
        )
        for kind in sorted({f.kind for f in self.faults}):
            hosts = [" ".join(f.hosts) if len(f.hosts) == 1 else "all" for f in self.faults]
            at = [h for h, f in zip(hosts, self.faults) if f.kind == kind]
            text = f"{TITLES.get(kind, kind)}: {len(at)} times, hosts {' '.join(at)}"
            if self.seen[kind]:
                text += (
                    f"; seen after {min(self.seen[kind]):.1f} to {max(self.seen[kind]):.1f} s, "
                    f"healthy after {min(self.healthy[kind]):.1f} to {max(self.healthy[kind]):.1f} s"
                )
            yield text, self.wrong[kind]
        if not self.faults:
            yield "faults were switched on and off", ["none"]
        alarms = self.wrong["false alarm"]
        yield f"false alarms: {len(alarms)}, while a fault was switched: {self.switching} runs", alarms


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--period", type=float, default=10)
    arguments = parser.parse_args()
    judge = Judge(arguments.folder, arguments.period)
    judge.judge()
    results = list(judge.results())
    for number, (title, wrong) in enumerate(results, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {title}")
        for line in wrong[:40]:
            print(f"# {line}")
    print(f"1..{len(results)}")
    return any(wrong for title, wrong in results)


if __name__ == "__main__":
    sys.exit(main())

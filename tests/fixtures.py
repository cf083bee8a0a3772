#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every rule that a capture can show has its fixtures, and the judge says of each what it must.

By the table itself (rules/table.def): MUST and SHOULD rules have a capture in which the check passes and one with one
fault, which raises that one failure, in its frame, and nothing else that its unchanged base does not raise; MAY rules
one that uses the freedom and raises nothing; INFO and DRAFT rules one in which they are noted. tests/frames/faults.py
makes them from real captures. Each is judged twice: where all failures count, and where Linux's deviations are known.

Environment: IPOIB_SRC, IPOIB_BUILD. Output: TAP; a remark says how many of the rules have their fixtures."""
import collections
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

from tap import BUILD, SRC, faultless, finish, remark

RULE = re.compile(r'^RULE\(\w+, "([^"]+)", \w+, "[^"]*",\s+(\w+), \w+, \w+, (\w+),', re.MULTILINE)
sys.path.insert(0, os.path.join(SRC, "tests/frames"))
from faults import fixture  # noqa: E402  (faults fills its tables)

NEEDS = {"MUST": {"pass", "fail"}, "SHOULD": {"pass", "fail"}, "MAY": {"use"}, "INFO": {"shown"}, "DRAFT": {"shown"}}
COUNTED = ("fail", "deviation")

Finding = collections.namedtuple("Finding", "frame rule outcome text")


def table():
    """{identifier: (level, how it can be seen)}"""
    with open(os.path.join(SRC, "rules/table.def"), encoding="utf-8") as f:
        text = f.read()
    rules = {rule: (level, seen) for rule, level, seen in RULE.findall(text)}
    assert len(rules) == len(re.findall(r"^RULE\(", text, re.MULTILINE)), "a row of the table that this does not read"
    return rules


def run(*arguments):
    done = subprocess.run([os.path.join(BUILD, "bin/findings"), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, "%s: %s" % (" ".join(arguments), done.stderr.strip()[:500] or done.returncode)
    return done.stdout.splitlines()


@functools.cache
def findings(capture, known):
    """All that are not passed, in their order."""
    rows = [line.split("\t", 3) for line in run("--deviations", known, "--frames", capture)]
    return [Finding(int(frame), rule, outcome, text) for frame, rule, outcome, text in rows]


@functools.cache
def passed(capture):
    """{rule: how often}"""
    rows = [line.split() for line in run("--deviations", "none", capture)]
    return {row[0]: int(row[1]) for row in rows}


def raised(capture, known):
    """{(rule, outcome): how often} of what counts."""
    return collections.Counter((f.rule, f.outcome) for f in findings(capture, known) if f.outcome in COUNTED)


def more(fixture, known):
    """What the fixture raises beyond its base, but for what may come along."""
    beyond = raised(fixture["capture"], known) - raised(fixture["base"], known)
    return {key: n for key, n in beyond.items() if key[0] not in fixture["also"]}


def judge_fail(fixture):
    complaints = []
    for known, outcome in (("none", "fail"), ("linux", fixture["linux"])):
        wanted = {(fixture["rule"], outcome): 1}
        beyond = more(fixture, known)
        if beyond != wanted:
            complaints.append("deviations %s: expected %s beyond the base, got %s" % (known, wanted, beyond))
        frames = [f.frame for f in findings(fixture["capture"], known) if (f.rule, f.outcome) == (fixture["rule"], outcome)]
        if fixture["frame"] not in frames:
            complaints.append("deviations %s: expected in frame %d, got it in %s" % (known, fixture["frame"], frames))
    return complaints


def judge_quiet(fixture):
    """Nothing beyond the base; and where Linux's deviations are known, no failure at all."""
    complaints = ["deviations %s: got %s beyond the base" % (known, beyond) for known in ("none", "linux")
                  for beyond in [more(fixture, known)] if beyond]
    complaints += ["frame %d: %s fails: %s" % (f.frame, f.rule, f.text) for f in findings(fixture["capture"], "linux")
                   if f.outcome == "fail" and f.rule not in fixture["also"]]
    return complaints


def judge_pass(fixture):
    return judge_quiet(fixture) + ([] if passed(fixture["capture"]).get(fixture["rule"]) else ["it never passes"])


def judge_use(fixture):
    told = ["frame %d: it is reported" % f.frame for f in findings(fixture["capture"], "none") if f.rule == fixture["rule"]]
    told += ["it is judged"] if fixture["rule"] in passed(fixture["capture"]) else []
    told += [] if passed(fixture["capture"]) else ["nothing in it is judged"]
    return judge_quiet(fixture) + told


def judge_shown(fixture):
    noted = [f.frame for f in findings(fixture["capture"], "linux") if (f.rule, f.outcome) == (fixture["rule"], "noted")]
    complaints = judge_quiet(fixture) + ([] if noted else ["it is never noted"])
    if fixture["frame"] and noted and fixture["frame"] not in noted:
        complaints.append("expected in frame %d, noted in %s" % (fixture["frame"], noted))
    return complaints


JUDGES = {"fail": judge_fail, "pass": judge_pass, "use": judge_use, "shown": judge_shown}


def judge_rule(level, fixtures):
    """What is wrong with a rule's fixtures; its level says which it needs."""
    lacking = NEEDS[level] - {f["kind"] for f in fixtures}
    complaints = ["it has no fixture: " + kind for kind in sorted(lacking)]
    for f in fixtures:
        complaints += ["%s (%s): %s" % (os.path.basename(f["capture"]), f["what"], c) for c in JUDGES[f["kind"]](f)]
    return complaints


def judge_editor():
    """Real packets, taken apart and put together, are the same again: lengths and CRCs are right in what is changed, too."""
    complaints = []
    for name in sorted({f.base for f in fixture.FIXTURES if fixture.is_real(f.base)} | {"datagram.pcap", "connected.pcap"}):
        other = [f.origin for f in fixture.tape(name).frames if f.packet.octets() != f.before]
        complaints += ["%s: frames %s are others" % (name, other)] if other else []
    return complaints


def judge_repeated(folder):
    """The same twice."""
    def contents(out):
        make(out)
        return {name: open(os.path.join(out, name), "rb").read() for name in os.listdir(out) if name.endswith(".pcap")}
    one, two = (contents(os.path.join(folder, name)) for name in ("one", "two"))
    return ["%s differs" % name for name in sorted(set(one) | set(two)) if one.get(name) != two.get(name)]


def make(folder):
    subprocess.run([sys.executable, os.path.join(SRC, "tests/frames/faults.py"), folder], check=True)
    with open(os.path.join(folder, "fixtures.json"), encoding="utf-8") as f:
        return json.load(f)


def main():
    rules = table()
    visible = [rule for rule, (_, seen) in rules.items() if "P" in seen]
    with tempfile.TemporaryDirectory() as folder:
        fixtures = make(os.path.join(folder, "fixtures"))
        good = 0
        for rule in visible:
            level = rules[rule][0]
            good += faultless("%s, %s" % (level, rule), judge_rule(level, [f for f in fixtures if f["rule"] == rule]))
        faultless("fixtures are of rules that a capture can show", sorted({f["rule"] for f in fixtures} - set(visible)))
        faultless("the editor of packets changes nothing by itself", judge_editor())
        faultless("the fixtures come out the same twice", judge_repeated(folder))
    remark("%d of the %d rules have their fixtures; %d no capture can show" % (good, len(rules), len(rules) - len(visible)))
    return finish()


if __name__ == "__main__":
    sys.exit(main())

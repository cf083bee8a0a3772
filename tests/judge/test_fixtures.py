# SPDX-License-Identifier: GPL-2.0-or-later
"""Every rule that a capture can show has its fixtures, and the checks report the expected result
for each.

The expectation follows from the table (lib/rules/table.def): MUST and SHOULD rules have a capture
in which the check passes and one with one fault, which raises this one failure, in its frame, and
nothing else that its unchanged base does not raise; MAY rules have one that uses the freedom and
raises nothing; INFO and DRAFT rules have one in which they are noted. tests/frames/faults.py makes
them from real captures. Each is checked twice: with all failures counted, and with Linux's known
deviations."""
import collections
import functools
import json
import os
import re
import subprocess
import sys

import pytest

from frames.faults import fixture  # faults fills the tables of fixture
from support import findings, table
from support.paths import SRC

NEEDS = {
    "MUST": {fixture.PASS, fixture.FAIL},
    "SHOULD": {fixture.PASS, fixture.FAIL},
    "MAY": {fixture.USE},
    "INFO": {fixture.SHOWN},
    "DRAFT": {fixture.SHOWN},
}
COUNTED = ("fail", "deviation")
KNOWN = pytest.mark.parametrize("known", ["none", "linux"])


RULES = {rule.id: (rule.level, rule.seen) for rule in table.read()}
VISIBLE = [rule for rule, (_, seen) in RULES.items() if "P" in seen]
KINDS = {rule: {f.kind for f in fixture.FIXTURES if f.rule == rule} for rule in VISIBLE}
COMPLETE = [rule for rule in VISIBLE if NEEDS[RULES[rule][0]] <= KINDS[rule]]
COMPLETENESS = (
    f"{len(COMPLETE)} of the {len(RULES)} rules have their fixtures; "
    f"a capture can show no violation of {len(RULES) - len(VISIBLE)} others"
)
REAL = {f.base for f in fixture.FIXTURES if fixture.is_real(f.base)}


@pytest.mark.parametrize("completeness", [COMPLETENESS], ids=[COMPLETENESS])
def test_all_rules_that_a_capture_can_show_are_counted(completeness):
    assert len(COMPLETE) == len(VISIBLE), completeness


@pytest.mark.parametrize("rule", VISIBLE)
def test_rule_has_the_fixtures_that_its_level_needs(rule):
    assert NEEDS[RULES[rule][0]] <= KINDS[rule]


def test_fixtures_are_of_rules_that_a_capture_can_show():
    assert {f.rule for f in fixture.FIXTURES} <= set(VISIBLE)


def make(folder):
    """The entries of the fixtures, in their order."""
    program = os.path.join(SRC, "tests/frames/faults.py")
    done = subprocess.run([sys.executable, program, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(folder / "fixtures.json", encoding="utf-8") as f:
        return json.load(f)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("fixtures"))


def cases(kind):
    """The fixtures of a kind, each as a pytest parameter: its entry in the table that faults.py
    writes."""

    def name(f):
        return f"{f.rule}{f.variant}" if f.make else f"{f.rule}@{f.base}"

    chosen = [(n, f) for n, f in enumerate(fixture.FIXTURES) if f.kind == kind]
    parameters = [pytest.param(n, id=name(f)) for n, f in chosen]
    return pytest.mark.parametrize("entry", parameters, indirect=True)


@pytest.fixture
def entry(request, made):
    assert len(made) == len(fixture.FIXTURES)
    entry, f = made[request.param], fixture.FIXTURES[request.param]
    assert (entry["rule"], entry["kind"], entry["what"]) == (f.rule, f.kind, f.what)
    return entry


@functools.cache
def found(capture, known):
    """All results except passes, in their order."""
    return findings.frames(capture, "--deviations", known)


@functools.cache
def passed(capture):
    """Rule to how often it passed, for the rules that were checked."""
    return {r: n.passed for r, n in findings.counts(capture, "--deviations", "none").items()}


def raised(capture, known):
    """(rule, outcome) to its count, for outcomes that count."""
    return collections.Counter(
        (f.rule, f.outcome) for f in found(capture, known) if f.outcome in COUNTED
    )


def beyond_base(entry, known):
    """The findings of the fixture beyond those of its base, without the allowed ones."""
    beyond = raised(entry["capture"], known) - raised(entry["base"], known)
    return {key: n for key, n in beyond.items() if key[0] not in entry["also"]}


def frames_of(entry, known, outcome):
    return [
        f.frame
        for f in found(entry["capture"], known)
        if (f.rule, f.outcome) == (entry["rule"], outcome)
    ]


def check_quiet(entry):
    """No finding beyond the base; and no failure at all with Linux's deviations known."""
    assert {known: beyond_base(entry, known) for known in ("none", "linux")} == {
        "none": {},
        "linux": {},
    }
    failed = [f for f in found(entry["capture"], "linux") if f.outcome == "fail"]
    assert not [f for f in failed if f.rule not in entry["also"]]


@KNOWN
@cases(fixture.FAIL)
def test_fault_raises_its_rule_in_its_frame_and_no_other(entry, known):
    outcome = "fail" if known == "none" else entry["linux"]
    assert beyond_base(entry, known) == {(entry["rule"], outcome): 1}, entry["what"]
    assert entry["frame"] in frames_of(entry, known, outcome), entry["what"]


def shown_values(entry):
    """(expected, actual) of the findings of the rule, as the report shows them."""
    texts = [f.text.split("|") for f in found(entry["capture"], "none") if f.rule == entry["rule"]]
    return [(re.sub(r" in frame \d+$", "", expected), actual) for expected, actual, *_ in texts]


@cases(fixture.FAIL)
def test_fault_is_not_shown_as_what_is_expected(entry):
    values = shown_values(entry)
    assert values and not [pair for pair in values if pair[0] == pair[1]]


# By hand from the fixtures: 2132 is 2100 of data, 8 of ICMP, 20 of IPv4, 4 of encapsulation.
VALUES = {
    ("rfc4391.9.1.2.qkey-from-join", ""): ("0x00000b1b", "0x80000b1c"),
    ("rfc4391.9.1.2.qkey-from-join", "-2"): ("0x80000b1b", "0x00000b1b"),
    ("rfc4391.7.link-mtu", ""): ("at most 2048 bytes", "2132 bytes"),
}


@pytest.mark.parametrize("rule, variant", VALUES)
def test_finding_shows_the_value_of_the_facts_and_of_the_packet(rule, variant, made):
    chosen = [(f.kind, f.rule, f.variant) for f in fixture.FIXTURES]
    entry = made[chosen.index((fixture.FAIL, rule, variant))]
    assert shown_values(entry) == [VALUES[rule, variant]]


@cases(fixture.PASS)
def test_check_passes_and_raises_nothing(entry):
    check_quiet(entry)
    assert passed(entry["capture"]).get(entry["rule"], 0) > 0, entry["what"]


@cases(fixture.USE)
def test_use_of_a_may_raises_nothing(entry):
    check_quiet(entry)
    assert not [f for f in found(entry["capture"], "none") if f.rule == entry["rule"]]
    assert passed(entry["capture"]), "nothing in it is judged"
    assert entry["rule"] not in passed(entry["capture"])


@cases(fixture.SHOWN)
def test_rule_is_noted_and_raises_nothing(entry):
    check_quiet(entry)
    noted = frames_of(entry, "linux", "noted")
    assert noted, entry["what"]
    if entry["frame"]:
        assert entry["frame"] in noted, entry["what"]


@pytest.mark.parametrize("name", sorted(REAL | {"datagram.pcap", "connected.pcap"}))
def test_unedited_frames_are_unchanged(name):
    """Real packets that are parsed and built again are the same, so lengths and CRCs are right in
    changed packets too."""
    frames = fixture.tape(name).frames
    assert not [f.origin for f in frames if f.packet.octets() != f.before]


def test_fixtures_are_reproducible(made, tmp_path):
    make(tmp_path)
    once = os.path.dirname(next(e["capture"] for e in made if e["kind"] == fixture.FAIL))

    def contents(folder):
        names = [name for name in os.listdir(folder) if name.endswith(".pcap")]
        return {name: open(os.path.join(folder, name), "rb").read() for name in names}

    one, two = contents(once), contents(tmp_path)
    assert one and sorted(one) == sorted(two)
    assert not [name for name in one if one[name] != two[name]]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Each way to violate a rule is found, or is inconclusive for a reason that tests/frames/variants
gives.

Each variant is checked as a capture on an InfiniBand link from the first SMP on (early); from after
the joins on (late); and as an ERF card, an IPoIB interface (LINKTYPE_IPOIB, 242) and a RoCE v2
network would have captured it. Its own frame must have the failure. python3 tests/judge/test_variants.py
prints the table with the results."""
import collections
import functools
import json
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import variants
from frames.variants import FAIL, INCONCLUSIVE, NOT_JUDGED, SILENT, forms, evidence
from support import findings, table
from support.check import run as run_check

NOT_THERE = "not there"  # the form has no frame that violates the rule
BATCH = 200  # captures in one run of ipoib-check

BY_RULE = collections.defaultdict(list)
for _variant in variants.VARIANTS:
    BY_RULE[_variant.rule].append(_variant)


def captured(variant, form):
    """(its capture, the names of its frames); None if the form has no frame that violates the
    rule."""
    w = variant.world()
    if form == "late":
        if not begins_late(w, variant.at):
            return None
        w.begin(variants.LATE)
    capture, names = forms.FORMS[form](w)
    return (capture, names) if variant.at in names else None


def begins_late(w, at):
    return variants.LATE in w.order and w.order.index(at) >= w.order.index(variants.LATE)


def frames_of(result):
    """The frames of the packets at fault, and those that proved it."""
    at_fault = [f for case in result["cases"] for f in case["frames"]]
    proved = [case["proved_frame"] for case in result["cases"] if "proved_frame" in case]
    return set(result["frames"] + at_fault + proved)


@functools.lru_cache(None)
def causes(rule):
    """Those that ipoib-check --list names."""
    done = run_check("--list", "--only", rule, "--format", "json")
    return {r["id"]: r["causes"] for r in json.loads(done.stdout)["rules"]}[rule]


def assert_causes(rule, result):
    """Each violation has one of its rule's causes, and that of a number its value."""
    for case in result["cases"] if result["outcome"] == "fail" else []:
        assert case["cause"] in causes(rule), (rule, case)
        assert case["cause"].endswith("-differs") == ("value" in case), (rule, case)


def check_rule(rule, paths):
    """Path to {outcome: frames} of the rule."""
    found = {path: {} for path in paths}
    for n in range(0, len(paths), BATCH):
        some = paths[n : n + BATCH]
        done = run_check("--deviations", "none", "--only", rule, "--format", "json", *some)
        for result in json.loads(done.stdout)["results"]:
            found[result["capture"]][result["outcome"]] = frames_of(result)
            assert_causes(rule, result)
    return found


def outcome(found, number):
    """FAIL in the variant's own frame; the results of the rule in other frames do not matter."""
    if number in found.get("fail", ()):
        return FAIL
    if "inconclusive" in found:
        return INCONCLUSIVE
    return SILENT if "pass" in found else NOT_JUDGED


def results(rule, form, chosen, folder):
    """Variant to its outcome."""
    paths, numbers = {}, {}
    for n, variant in enumerate(chosen):
        made = captured(variant, form)
        if made is None:
            continue
        path = os.path.join(str(folder), f"{n}.pcap")
        with open(path, "wb") as f:
            f.write(made[0])
        paths[variant], numbers[variant] = path, made[1].index(variant.at) + 1
    found = check_rule(rule, list(paths.values()))
    return {v: outcome(found[paths[v]], numbers[v]) if v in paths else NOT_THERE for v in chosen}


def wrong(rule, form, chosen, folder):
    """The differences from the table: (variant, expected, actual)."""
    got = results(rule, form, chosen, folder)
    bad = []
    for variant in chosen:
        expected = evidence.expected(variant, form)
        if got[variant] not in (NOT_THERE, expected):
            bad.append((variant.name(), expected, got[variant]))
    return bad


def one_of_each(rule):
    """Variants of the default partition; of those that differ only in a value, the first."""
    first = {}
    for v in BY_RULE[rule]:
        if v.base == "default":
            first.setdefault((v.at, v.way.rsplit(",", 1)[0]), v)
    return list(first.values())


# ---- the base


@pytest.mark.parametrize("base", variants.BASES)
def test_base_violates_no_rule(base):
    w = variants.base(base)
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


@pytest.mark.parametrize("form", forms.FORMS)
def test_base_violates_no_rule_in_any_form(form):
    w = variants.base("default").copy()
    if form == "late":
        w.begin(variants.LATE)
    assert findings.failures(forms.FORMS[form](w)[0], "--deviations", "none") == []


@pytest.mark.parametrize("form", forms.FORMS)
@pytest.mark.parametrize("what", variants.COUNTERPARTS)
def test_counterpart_violates_no_rule(what, form):
    w = variants.counterpart(what)
    if form == "late":
        w.begin(variants.LATE)
    assert findings.failures(forms.FORMS[form](w)[0], "--deviations", "none") == []


# ---- the table


def test_every_rule_has_variants():
    rules = [r for r in table.read() if r.document in ("RFC4391", "RFC4755")]
    wanted = {r.id for r in rules if r.level in ("MUST", "SHOULD") and r.seen in ("P", "PA")}
    assert wanted - set(BY_RULE) == set()


def test_variant_names_are_unique():
    names = collections.Counter(v.name() for v in variants.VARIANTS)
    assert [n for n, times in names.items() if times > 1] == []


@pytest.mark.parametrize("rule", BY_RULE)
def test_causes_are_words_of_which_none_is_there_twice(rule):
    assert causes(rule) and len(set(causes(rule))) == len(causes(rule))
    assert [c for c in causes(rule) if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", c)] == []


def test_every_missed_variant_has_a_reason():
    for variant in variants.VARIANTS:
        for form in forms.FORMS:
            if evidence.expected(variant, form) != FAIL:
                assert evidence.why(variant, form), (variant.name(), form)


@pytest.mark.parametrize("rule", BY_RULE)
def test_variants_are_found(rule, tmp_path):
    assert wrong(rule, "early", BY_RULE[rule], tmp_path) == []


@pytest.mark.parametrize("form", [f for f in forms.FORMS if f != "early"])
@pytest.mark.parametrize("rule", BY_RULE)
def test_variants_in_another_form(rule, form, tmp_path):
    assert wrong(rule, form, one_of_each(rule), tmp_path) == []


def rows(folder):
    yield "\t".join(("rule", "variant", "base", "frame", *forms.FORMS))
    for rule in BY_RULE:
        by_form = [results(rule, form, BY_RULE[rule], folder) for form in forms.FORMS]
        for v in BY_RULE[rule]:
            yield "\t".join((v.rule, v.way, v.base, v.at, *(got[v] for got in by_form)))


def main():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for row in rows(folder):
            print(row)


if __name__ == "__main__":
    main()

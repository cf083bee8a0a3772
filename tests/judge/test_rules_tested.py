# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule is checked and tested wherever the table says that a violation can be seen, and only
there.

tests/judge/test_fixtures.py asks for the captures: each rule that a capture can show has a fixture."""
import glob
import os
import re

import pytest

from support import table
from support.paths import SRC

RULES = table.read()
# Tests of the probe. tests/probe/deviant/README.md names the rules that no deviant peer can violate.
PROBE_TESTS = (
    "tests/unit/*probe*",
    "tests/probe/test_probe_*",
    "tests/probe/guest/*",
    "tests/probe/deviant/*",
)
CHECKS = ("lib/rules/*.c", "probe/**/*.c")
FOLDERS = ("judge", "plugin", "capture", "probe", "project", "unit")
TESTS = [f"tests/{folder}/*" for folder in FOLDERS]


def texts(*patterns):
    found = [p for g in patterns for p in glob.glob(os.path.join(SRC, g), recursive=True)]
    read = []
    for path in filter(os.path.isfile, found):
        with open(path, encoding="utf-8") as f:
            read.append(f.read())
    assert read, patterns
    return "\n".join(read)


PROBED, CHECKED, NAMED = texts(*PROBE_TESTS), texts(*CHECKS), texts(*TESTS)


def names(text, rule):
    """By its symbol, or by its whole identifier."""
    identifier = rf"(?<![\w.-]){re.escape(rule.id)}(?![\w-]|\.\w)"
    return re.search(rf"\bR_{rule.symbol}\b|{identifier}", text)


def ids(rules):
    return [rule.id for rule in rules]


def seen(*how):
    return [rule for rule in RULES if rule.seen in how]


def test_rules_that_only_a_probe_can_show_are_named_by_its_tests():
    assert ids(r for r in seen("A") if not names(PROBED, r)) == []


def test_requirements_that_a_probe_can_show_are_named_by_its_tests():
    """Notes (INFO, DRAFT) and permissions need a fixture only: the probe reports what it receives
    with the code that checks captures."""
    required = [r for r in seen("PA") if r.level in ("MUST", "SHOULD")]
    assert ids(r for r in required if not names(PROBED, r)) == []


def test_rules_that_can_be_seen_are_checked():
    """The use of a permission (MAY) is not reported, so no code looks for it."""
    assert ids(r for r in seen("P", "A", "PA") if r.level != "MAY" and not names(CHECKED, r)) == []


def test_rules_that_nothing_shows_are_not_checked():
    """A rule that is checked can be seen: the table must say so, and then a test is needed."""
    assert ids(r for r in seen("N", "S", "NONE") if names(CHECKED, r)) == []


@pytest.mark.parametrize("rule", seen("S"), ids=ids(seen("S")))
def test_rules_that_these_tools_keep_are_named_by_a_test(rule):
    assert names(NAMED, rule)

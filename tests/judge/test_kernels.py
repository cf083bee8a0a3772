# SPDX-License-Identifier: GPL-2.0-or-later
"""The known deviations on two kernels: testdata/linux-6.12 has captures of the same scenarios as testdata, of Linux
6.12. The rules that are violated are the same, and the frames are those of the table in doc/deviations.md."""
import os
import re

import pytest

from support import findings
from support.paths import SRC, TESTDATA

NEWER = "linux-6.12/{}-6.12.pcap"
NAMES = sorted(
    n[: -len("-6.12.pcap")]
    for n in os.listdir(os.path.join(TESTDATA, os.path.dirname(NEWER)))
    if n.endswith(".pcap")
)


def rules(name):
    """The rules of the capture's findings, with their outcomes."""
    found = findings.frames(os.path.join(TESTDATA, name), "--deviations", "linux")
    return {(f.rule, f.outcome) for f in found}


@pytest.mark.parametrize("name", NAMES)
def test_same_rules_on_both_kernels(name):
    assert rules(NEWER.format(name)) == rules(name + ".pcap")


def stated(column):
    """A column of frames of the table in doc/deviations.md: {(rule, capture): frames}."""
    with open(os.path.join(SRC, "doc", "deviations.md"), encoding="utf-8") as f:
        section = f.read().partition("\n## Linux 6.12\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (rfc[^|]+) \| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE)
    assert rows
    cited = re.compile(r"(?:(?<=; )|^)([a-z-]+) ([\d, ]+)")
    return {
        (row[0], capture): [int(frame) for frame in frames.split(",")]
        for row in rows
        for capture, frames in cited.findall(row[column].strip())
    }


@pytest.mark.parametrize("column, form", [(1, "{}.pcap"), (2, NEWER)])
def test_frames_of_the_table(column, form):
    table = stated(column)
    assert {capture for _, capture in table} == set(NAMES)
    for (rule, capture), frames in table.items():
        path = os.path.join(TESTDATA, form.format(capture))
        found = findings.frames(path, "--deviations", "linux")
        violating = {f.frame for f in found if (f.rule, f.outcome) == (rule, "deviation")}
        assert set(frames) <= violating, (rule, capture)


def test_every_deviation_is_in_the_table():
    found = {
        rule
        for name in NAMES
        for rule, outcome in rules(NEWER.format(name))
        if outcome == "deviation"
    }
    assert found == {rule for rule, _ in stated(2)} == {rule for rule, _ in stated(1)}

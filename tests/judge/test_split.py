# SPDX-License-Identifier: GPL-2.0-or-later
"""Both directions of one cable on two interfaces of a capture, or on two ports of an ERF card, have
the verdict of one interface. In each violating capture the same rules fail for the same entities; a
conformant one stays conformant."""
import functools
import glob
import os

import pytest

from frames.faults import fixture  # faults fills the tables of fixture
from support import capfile, findings, split
from support.paths import TESTDATA

COUNTED = ("fail", "deviation")

each_way = pytest.mark.parametrize("way", split.WAYS)


def records(capture):
    return [(f.time, f.data, f.wire) for f in capfile.parse(capture).frames]


def pcap(frames):
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


def violations(capture):
    """{(rule, entity)}"""
    found = findings.frames(capture, "--deviations", "none")
    return {(f.rule, f.text.split("|", 2)[2]) for f in found if f.outcome in COUNTED}


FAULTS = [f for f in fixture.FIXTURES if f.kind == fixture.FAIL]
PATHS = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))
PATHS += sorted(glob.glob(os.path.join(TESTDATA, "built", "*.pcap")))
REAL = [path for path in PATHS if capfile.read(path).linktype == capfile.INFINIBAND]


@functools.cache
def made():
    """Name to frames, for all captures that are split."""
    captures = {f.rule + f.variant: records(fixture.make_capture(f)[0].pcap()) for f in FAULTS}
    captures.update({os.path.basename(path): records(capfile.load(path)) for path in REAL})
    return captures


@functools.cache
def of_one_interface(name):
    return violations(pcap(made()[name]))


@pytest.fixture(scope="module")
def figures():
    """For each way the captures that lost violations, and those that did not."""
    seen = {way: {True: [], False: []} for way in split.WAYS}
    yield seen
    for way, of in seen.items():
        lost, kept = len(of[True]), len(of[False])
        print(f"\n{way}: {lost} of {lost + kept} violating captures lose a violation")


NAMES = [f.rule + f.variant for f in FAULTS] + [os.path.basename(path) for path in REAL]


@each_way
@pytest.mark.parametrize("name", NAMES)
def test_split_capture_violates_the_same_rules_of_the_same_entities(name, way, figures):
    expected, found = of_one_interface(name), violations(split.WAYS[way](made()[name]))
    if expected:
        figures[way][bool(expected - found)].append(name)
    assert found == expected


# ---- captures that begin late: both interfaces prove to be one subnet later, or never

STEP = 23  # frames


def late_violations(capture, skip):
    found = findings.frames(capture, "--deviations", "none", "--skip", str(skip))
    return {(f.rule, f.text.split("|", 2)[2]) for f in found if f.outcome in COUNTED}


@pytest.mark.parametrize("path", REAL, ids=os.path.basename)
def test_capture_that_begins_late_shows_no_other_violation(path, tmp_path):
    frames = made()[os.path.basename(path)]
    one, two = str(tmp_path / "one.pcap"), str(tmp_path / "two.pcapng")
    with open(one, "wb") as f:
        f.write(pcap(frames))
    with open(two, "wb") as f:
        f.write(split.WAYS["pcapng"](frames))
    skips = range(STEP, len(frames), STEP)
    added = {skip: late_violations(two, skip) - late_violations(one, skip) for skip in skips}
    assert not any(added.values()), added

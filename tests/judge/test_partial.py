# SPDX-License-Identifier: GPL-2.0-or-later
"""A packet that was not captured, or that was captured in the wrong order, is no violation: conformant
captures that begin later, that lost frames, or whose neighbouring frames were swapped show no failure.

Every real capture of testdata is checked as if it had begun with its 2nd, 5th, 8th ... frame, with 2
and 5 of a hundred frames lost at random (seeded), and with each two neighbouring frames swapped.
Except for the failures of the whole capture, none of these may show a failure.

Gaps in the PSNs of a port's GSI and SMI show losses. They do not show a P_Key table that the subnet
manager sets while the port is up, if the request and the response are both lost and the port's SMI
sends nothing more before the port joins. See also test_law.py."""
import glob
import os

import pytest

from support import capfile, findings
from support.paths import TESTDATA

STEP, SEEDS = 3, 40
CAPTURES = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))


def lost(permille):
    return [("--lose", permille, "--seed", str(seed)) for seed in range(1, SEEDS + 1)]


# The options of bin/findings, by the number of frames.
WAYS = {
    "later": lambda frames: [("--skip", str(n)) for n in range(1, frames, STEP)],
    "lost-2%": lambda _: lost("20"),
    "lost-5%": lambda _: lost("50"),
    "swapped": lambda frames: [("--swap", str(n)) for n in range(1, frames)],
}


def failures(capture, *options):
    return findings.failures(capture, "--deviations", "linux", *options)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("capture", CAPTURES, ids=map(os.path.basename, CAPTURES))
def test_part_of_a_capture_has_no_additional_violation(capture, how):
    # By rule: a finding about an entity moves to the entity's next frame if the first is missing.
    assert findings.counts(capture), "no rule applied in the whole"
    allowed = {rule for _, rule in failures(capture)}
    ways = WAYS[how](len(capfile.read(capture).frames))
    runs = {" ".join(options): failures(capture, *options) for options in ways}
    assert runs
    assert not {run: found for run, found in runs.items() if {r for _, r in found} - allowed}

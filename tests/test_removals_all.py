# SPDX-License-Identifier: GPL-2.0-or-later
"""No removal of 1 to 20 consecutive frames from a capture of testdata adds a violation: all of them
are tried."""
import re

from support.programs import run_script


def test_no_removal_adds_a_violation():
    run = run_script("degrade", "--jobs", "2", "--removals", "all")
    figure = re.match(r"0 of (\d+) removals add a violation", run.stdout.splitlines()[-1])
    assert figure and int(figure[1]) > 90000, run.stdout
    assert run.returncode == 0, run.stdout

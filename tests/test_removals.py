# SPDX-License-Identifier: GPL-2.0-or-later
"""Lost frames cause no violation: a capture of testdata without 1 to 20 consecutive frames shows no
violation that the whole capture does not show.

script/degrade removes the frames: here some, drawn at random; test_removals_all.py removes all."""

import pytest

from support.programs import run_script

PLAYED = """#!/usr/bin/python3
import json, os, sys
paths = [a for a in sys.argv[1:] if a.endswith(".pcap")]
case = {"subject": "group ff12::1", "actual": "it left", "frames": [2]}
bad = [p for p in paths if os.path.basename(p)[0].isdigit()]
result = {"id": "a.rule", "violation": True, "cases": [case], "further_cases": 0}
names = [{"name": p, "error": None, "ipoib_frames": 1} for p in paths]
json.dump({"results": [dict(result, capture=p) for p in bad], "summary": {"captures": names}}, sys.stdout)
"""


def degrade(*arguments, **environment):
    run = run_script("degrade", "--jobs", "2", "--seed", "1", *arguments, **environment)
    return run.returncode, run.stdout


@pytest.mark.parametrize("removals, gaps", [("3000", "1"), ("1500", "5")])
def test_no_removal_adds_a_violation(removals, gaps):
    status, output = degrade("--removals", removals, "--gaps", gaps)
    assert output.splitlines()[-1].startswith(f"0 of {removals} removals add a violation"), output
    assert status == 0, output


def test_removal_that_adds_a_violation_is_reported(tmp_path):
    """A simulated ipoib-check finds a violation in each capture from which frames were removed."""
    played = tmp_path / "ipoib-check"
    played.write_text(PLAYED)
    played.chmod(0o755)
    status, output = degrade("--removals", "3", IPOIB_BIN=str(tmp_path))
    lines = output.splitlines()
    assert status == 1 and len(lines) == 4, output
    assert all(": a.rule: group ff12::1: it left" in line for line in lines[:3]), output
    assert lines[3].startswith("3 of 3 removals add a violation"), output


def test_capture_that_cannot_be_read_is_an_error(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(b"no capture")
    assert degrade(str(path))[0] == 2

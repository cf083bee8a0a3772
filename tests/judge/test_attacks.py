# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformant captures that were once reported as violated (tests/judge/attacks/README.md)."""
import functools
import json
import os
import subprocess
import tarfile

import pytest

from support.paths import BIN, SRC

CAPTURES = os.path.join(SRC, "tests/judge/attacks/captures.tar.xz")
# Scenario and rule: why the rule still fails.
OPEN = {}


@functools.cache
def members():
    with tarfile.open(CAPTURES) as archive:
        return {m.name[:-5]: archive.extractfile(m).read() for m in archive.getmembers()}


@pytest.mark.parametrize("name", sorted(members()))
def test_conformant_capture_does_not_fail_its_rule(name):
    """An entry of OPEN whose capture passes fails too: it is to be removed from the list."""
    scenario, rule = name.split(".", 1)
    program = os.path.join(BIN, "ipoib-check")
    command = [program, "--strict", "--deviations", "none", "--format", "json", "-"]
    done = subprocess.run(command, input=members()[name], capture_output=True, check=False)
    results = json.loads(done.stdout)["results"]
    assert results
    failures = [r["actual"] for r in results if r["id"] == rule and r["outcome"] == "fail"]
    assert bool(failures) == ((scenario, rule) in OPEN), failures


def test_every_open_scenario_has_a_capture():
    assert {tuple(name.split(".", 1)) for name in members()} >= set(OPEN)

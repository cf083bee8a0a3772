# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual traffic that the RFCs allow (tests/frames/unusual*.py): ipoib-check finds no violation,
and gives a verdict."""
import json

import pytest

from frames import unusual
from support import check

LEAST = 60


def test_there_are_enough_scenarios():
    assert len(unusual.SCENARIOS) >= LEAST


@pytest.mark.parametrize("name", unusual.SCENARIOS)
def test_no_rule_is_violated(name, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(unusual.capture(name))
    done = check.run("--strict", "--deviations", "none", "--format", "json", str(path))
    results = [r for r in json.loads(done.stdout)["results"] if r["violation"]]
    assert results == []
    assert done.returncode == check.OK, done.err

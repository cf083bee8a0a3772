# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual traffic that the RFCs allow (tests/frames/unusual*.py): ipoib-check finds no violation, and judges it."""
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
    output = check.run("--strict", "--deviations", "none", str(path)).stdout.decode()
    done = check.run("--strict", "--deviations", "none", "--format", "json", str(path))
    assert done.returncode == check.OK, output

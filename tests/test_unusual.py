# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual traffic that the RFCs allow (tests/frames/unusual*.py): ipoib-check finds no violation,
and gives a verdict."""
import json

import pytest

from frames import unusual
from support import check

LEAST = 60
SCOPE = "rfc4391.4.1.scope-link-local"
# These links have a reason to violate this SHOULD; the rule's page says to accept the finding.
SHOWN = {"across_a_router": {SCOPE}, "scope_of_a_link_over_two_subnets": {SCOPE}}


def test_there_are_enough_scenarios():
    assert len(unusual.SCENARIOS) >= LEAST


@pytest.mark.parametrize("name", unusual.SCENARIOS)
def test_no_rule_is_violated(name, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(unusual.capture(name))
    done = check.run("--strict", "--deviations", "none", "--format", "json", str(path))
    results = [r for r in json.loads(done.stdout)["results"] if r["violation"]]
    assert {r["id"] for r in results} == SHOWN.get(name, set()), results
    assert done.returncode == (check.VIOLATED if name in SHOWN else check.OK), done.err

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check reports no violation that a frame which was not captured could explain, and finds the
violation where the capture shows that no such frame is missing: the subnet manager, the SA, joins and
groups. frames/missed has the tables."""
import json

import pytest

from frames import missed
from frames.fabric import QKEY
from frames.missed import groups, parameters, refused_joins, requests, running_host
from frames.variants import forms
from frames.world import A, SAME_ATTRIBUTES
from support import check

TOPICS = groups, parameters, refused_joins, requests, running_host


@pytest.mark.parametrize(**missed.parametrized(*TOPICS))
def test_verdict(case):
    case.check()


def test_the_requester_is_the_one_who_violates(tmp_path):
    capture = tmp_path / "refused.pcap"
    capture.write_bytes(forms.infiniband(refused_joins.asked(qkey=1))[0])
    text = check.run("--deviations", "none", str(capture)).stdout.decode()
    part = text[text.index(SAME_ATTRIBUTES) :]
    assert f"expected Q_Key 0x{QKEY:x}, found Q_Key 0x1, refused" in part
    assert part.index(f"sent by GID {A.gid}, LID {A.lid}") < part.index("more:")


def reasons(capture, rule, path):
    path.write_bytes(capture)
    done = check.run("--deviations", "none", "--only", rule, "--format", "json", str(path))
    results = json.loads(done.stdout)["results"]
    return {
        case["actual"] for r in results if r["outcome"] == "inconclusive" for case in r["cases"]
    }


@pytest.mark.parametrize("name, lost, text", running_host.MISSING)
def test_inconclusive_result_names_what_is_missing(name, lost, text, tmp_path):
    capture, _ = forms.infiniband(running_host.running(name, lost))
    found = reasons(capture, running_host.BY_NAME[name].rule, tmp_path / "capture.pcap")
    assert [reason for reason in found if text in reason], found

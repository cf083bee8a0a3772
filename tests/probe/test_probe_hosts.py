# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts that a sweep of ipoib-probe lists, and --baseline.

The interface and the peer are simulated (tests/support/played_interface.py): one of six addresses
replies. tests/unit/test_probe_swept.c has groups and switches, tests/unit/test_probe_sweep.c what the SA
knows."""
import json

import pytest

from support import check
from support.played_probe import IPV4, PROBE, need_to_play, played

PREFIX = "10.0.0.0/29"
VIOLATES = {"edits": {"22": "0001"}}  # the Reserved field
GID = "fe80::2:c903:0:2"
RESERVED = "rfc4391.6.reserved-zero"


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def run(given, *words):
    """(status, output, messages) of a sweep."""
    done = played(given, PROBE, "-d", "ib9", "--timeout", "200", *words, PREFIX)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    return got["status"], got["out"], got["err"]


def prefix_of(text):
    [target] = [t for t in json.loads(text)["summary"]["targets"] if t["name"] == PREFIX]
    return target


@pytest.fixture(scope="module", name="earlier")
def fixture_earlier(tmp_path_factory):
    """The report of a sweep without a problem."""
    path = tmp_path_factory.mktemp("earlier") / "sweep.json"
    assert run({}, "--format", "json", "-o", str(path))[0] == 0
    return path


def test_hosts_in_the_json_report(earlier):
    [host] = prefix_of(earlier.read_text())["hosts"]
    assert 0 < host.pop("median_us") < 1e6
    assert host == {"address": IPV4, "gid": GID, "lid": 0, "status": "ok"}
    [host] = prefix_of(run(VIOLATES, "--format", "json")[1])["hosts"]
    assert (host["status"], host["cause"]) == ("fault", RESERVED)


def test_table_in_the_text_report():
    """A host without a problem has its line in the table only."""
    status, out, _ = run({})
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith(f"{PREFIX}: 1 of 6 addresses reply")
    assert lines[1].split() == ["address", "host", "GID", "LID", "median", "result"]
    assert lines[2].split()[:4] == [IPV4, "-", GID, "-"] and lines[2].endswith(" ok")
    assert sum(IPV4 in line for line in lines) == 1
    status, out, _ = run({}, "-v")
    assert any(line.startswith(f"{IPV4}: CONFORMANT") for line in out.splitlines())


def test_problem_in_the_text_report():
    status, out, _ = run(VIOLATES)
    lines = out.splitlines()
    assert status == 1 and lines[0].startswith(f"{IPV4}: VIOLATED")
    assert f"  FAULT: {RESERVED}: 1 host: {IPV4}" in lines
    assert any(line.endswith("  FAULT") and IPV4 in line for line in lines)


def test_hosts_as_json_lines():
    lines = [json.loads(line) for line in run({}, "--format", "jsonl")[1].splitlines()]
    [host] = [line for line in lines if line["type"] == "host"]
    assert (host["target"], host["address"], host["status"]) == (PREFIX, IPV4, "ok")
    assert all("hosts" not in line for line in lines)


def test_report_with_hosts_is_merged(earlier):
    out = check.expect(0, "--merge", "--format", "json", str(earlier))
    assert PREFIX in [target["name"] for target in json.loads(out)["summary"]["targets"]]


# ---- --baseline


def test_nothing_changed(earlier):
    status, out, _ = run({}, "--baseline", str(earlier))
    assert status == 0 and f"  as in {earlier}" in out.splitlines()
    baseline = prefix_of(run({}, "--baseline", str(earlier), "--format", "json")[1])["baseline"]
    assert baseline == {"report": str(earlier), "complete": True, "changes": []}


def test_result_that_changed(earlier):
    """The exit status is that of the sweep."""
    status, out, _ = run(VIOLATES, "--baseline", str(earlier), "--format", "json")
    assert status == 1
    assert prefix_of(out)["baseline"]["changes"] == [
        {"change": "changed", "address": IPV4, "what": f"result {RESERVED}, was ok"}
    ]


def test_host_that_is_gone(earlier):
    """Also if nobody replies, and the prefix is not judged."""
    status, out, _ = run({"replies": False}, "--baseline", str(earlier))
    assert status == 2 and f"  gone since {earlier}: 1: {IPV4}" in out.splitlines()


def test_host_that_is_new(earlier, tmp_path):
    report = json.loads(earlier.read_text())
    prefix_of(earlier.read_text())
    for target in report["summary"]["targets"]:
        if "hosts" in target:
            target["hosts"] = []
    path = tmp_path / "none.json"
    path.write_text(json.dumps(report))
    status, out, _ = run({}, "--baseline", str(path))
    assert status == 0 and f"  new since {path}: 1: {IPV4}" in out.splitlines()


@pytest.mark.parametrize(
    "text, words",
    [
        (None, "No such file"),
        ("", "no JSON report"),
        ('{"summary": {"targets": []}}', "no hosts of a sweep"),
        (f'{{"summary": {{"targets": [{{"name": "{IPV4}"}}]}}}}', "no hosts of a sweep"),
    ],
    ids=["missing", "empty", "other", "peer"],
)
def test_baseline_that_is_none(tmp_path, text, words):
    """Nothing is sent."""
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    done = played({}, PROBE, "-d", "ib9", "--baseline", str(path), PREFIX)
    got = json.loads(done.stdout)
    assert (got["status"], got["out"], got["frames"]) == (2, "", []) and words in got["err"]


def test_baseline_is_not_overwritten(earlier):
    before = earlier.read_text()
    status, _, err = run({}, "--baseline", str(earlier), "--format", "json", "-o", str(earlier))
    assert status == 2 and "is the baseline" in err and earlier.read_text() == before


def test_baseline_without_a_prefix(earlier):
    done = played({}, PROBE, "-d", "ib9", "--baseline", str(earlier), IPV4)
    got = json.loads(done.stdout)
    assert got["status"] == 2 and "--baseline is for a prefix" in got["err"]

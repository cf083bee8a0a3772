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


def unwrapped(text):
    return " ".join(text.split())


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


# ---- merged reports

KNOWN = {"name": "node04 mlx5_0", "lid": 7, "switch_lid": 70, "median_us": 1500}


@pytest.fixture(scope="module", name="known")
def fixture_known(earlier, tmp_path_factory):
    """The report of a sweep with a fault of a host of which the SA knows all, and an earlier report."""
    path = tmp_path_factory.mktemp("known") / "node01.json"
    options = ["--baseline", str(earlier), "--format", "json", "-o", str(path)]
    assert run(VIOLATES, *options)[0] == 1
    return changed(path, lambda target: target["hosts"][0].update(KNOWN))


def changed(path, change):
    """The report, with a change of the prefix's entry."""
    report = json.loads(path.read_text())
    [target] = [t for t in report["summary"]["targets"] if t["name"] == PREFIX]
    change(target)
    path.write_text(json.dumps(report))
    return path


def merged(status, *words, err=""):
    return check.expect(status, "--merge", *map(str, words), err=err)


def test_merged_report_keeps_hosts_and_changes(known):
    before = prefix_of(known.read_text())
    after = prefix_of(merged(1, "--format", "json", known))
    assert after["hosts"] == before["hosts"] and after["hosts"][0]["median_us"] == 1500
    assert after["baseline"] == before["baseline"] and after["baseline"]["changes"]
    assert after["node"] == "node01"


def test_merged_reports_can_be_merged_again(known, tmp_path):
    path = tmp_path / "merged.json"
    merged(1, "--format", "json", "-o", path, known)
    assert prefix_of(merged(1, "--format", "json", path)) == prefix_of(path.read_text())
    assert merged(1, path) == merged(1, known)


def test_merged_text_has_the_table(known):
    lines = merged(1, known).splitlines()
    start = lines.index(next(line for line in lines if line.startswith(f"node01: {PREFIX}: 1 of")))
    while not lines[start + 1].startswith("  FAULT: "):
        start += 1
    groups, changes, heads, host = lines[start + 1 : start + 5]
    assert groups.startswith(f"  FAULT: {RESERVED}: 1 host at the switch with LID 70: {IPV4} (node")
    assert changes.startswith("  changed since ") and changes.endswith(f"{RESERVED}, was ok")
    assert heads.split() == ["address", "host", "GID", "LID", "median", "result"]
    assert host.split() == [IPV4, "node04", "mlx5_0", GID, "7", "1.50", "ms", "FAULT"]


def test_merged_text_without_a_problem(earlier):
    lines = merged(0, earlier).splitlines()
    assert sum(line.endswith("  ok") and IPV4 in line for line in lines) == 1
    assert not any("since" in line or "FAULT" in line for line in lines)


def test_merged_hosts_as_json_lines(known):
    lines = [json.loads(line) for line in merged(1, "--format", "jsonl", known).splitlines()]
    [host] = [line for line in lines if line["type"] == "host"]
    assert (host["node"], host["target"], host["address"]) == ("node01", PREFIX, IPV4)
    assert {key: host[key] for key in KNOWN} == KNOWN
    assert all("hosts" not in line for line in lines)


def test_merged_tests(known):
    """JUnit has the table in the text of the target; TAP has no table."""
    assert "node04" in merged(1, "--format", "junit", known)
    assert "node04" not in merged(1, "--format", "tap", known)


def test_merged_report_is_a_baseline(earlier, tmp_path):
    path = tmp_path / "merged.json"
    merged(0, "--format", "json", "-o", path, earlier)
    assert f"  as in {path}" in run({}, "--baseline", str(path))[1].splitlines()


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["hosts"][0].update(address="nowhere"),
        lambda t: t["hosts"][0].pop("gid"),
        lambda t: t["hosts"][0].update(status="fine"),
        lambda t: t["hosts"][0].update(lid=65536),
        lambda t: t["hosts"][0].update(lid="7"),
        lambda t: t["hosts"][0].update(median_us=-1),
        lambda t: t["baseline"].pop("report"),
        lambda t: t["baseline"].pop("complete"),
        lambda t: t["baseline"]["changes"][0].update(change="other"),
        lambda t: t["baseline"]["changes"][0].pop("address"),
    ],
)
def test_malformed_hosts_are_not_merged(known, tmp_path, change):
    path = tmp_path / "node02.json"
    path.write_text(known.read_text())
    out = merged(2, changed(path, change), err="a host of 10.0.0.0/29, or its baseline")
    assert "NOT JUDGED" in out and IPV4 not in out


def test_unknown_members_of_a_host_are_not_kept(known, tmp_path):
    path = tmp_path / "node02.json"
    path.write_text(known.read_text())
    changed(path, lambda t: t["hosts"][0].update(other="text", name=["node04"]))
    [host] = prefix_of(merged(1, "--format", "json", path))["hosts"]
    assert "other" not in host and "name" not in host


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
    assert status == 2 and f"gone since {earlier}: 1: {IPV4}" in unwrapped(out)
    assert f"{IPV4}: no such host, or it is off: " in unwrapped(out)


def with_further_hosts(earlier, path, octets):
    """The report, with hosts that nobody plays."""
    report = json.loads(earlier.read_text())
    for target in report["summary"]["targets"]:
        [host, *_] = target.get("hosts", [None])
        for octet in octets if host else ():
            target["hosts"].append({**host, "address": f"10.0.0.{octet}"})
    path.write_text(json.dumps(report))
    return path


def test_one_of_two_hosts_is_gone(earlier, tmp_path):
    """The baseline says that it was there: without it the prefix is not judged."""
    path = with_further_hosts(earlier, tmp_path / "more.json", [3])
    status, out, _ = run({}, "--baseline", str(path), "--format", "json")
    prefix = prefix_of(out)
    [change] = prefix["baseline"]["changes"]
    assert status == 2
    assert prefix["error"] == f"1 host of {path} does not reply any more: 10.0.0.3"
    assert (change["change"], change["address"]) == ("gone", "10.0.0.3")
    assert change["what"].startswith("no such host, or it is off: ")
    assert "ipoib-probe fabric" in change["advice"]


def test_causes_of_three_hosts_that_are_gone(earlier, tmp_path):
    path = with_further_hosts(earlier, tmp_path / "more.json", [3, 4, 5, 6])
    status, out, _ = run({}, "--baseline", str(path))
    text = unwrapped(out)
    assert status == 2 and "1 of 6 addresses reply" in text
    assert [f" 10.0.0.{x}: no such host" in text for x in (3, 4, 5, 6)] == [True] * 3 + [False]
    assert "of the others: ipoib-probe --why ADDRESS" in text


def test_own_address_in_the_baseline(earlier, tmp_path):
    """The report may be that of another host."""
    path = with_further_hosts(earlier, tmp_path / "more.json", [1])
    status, out, _ = run({"addresses": ["10.0.0.1/24"]}, "--baseline", str(path))
    assert status == 0 and f"as in {path}" in unwrapped(out)


def test_host_that_is_new(earlier, tmp_path):
    report = json.loads(earlier.read_text())
    prefix_of(earlier.read_text())
    for target in report["summary"]["targets"]:
        if "hosts" in target:
            target["hosts"] = []
    path = tmp_path / "none.json"
    path.write_text(json.dumps(report))
    status, out, _ = run({}, "--baseline", str(path))
    assert status == 0 and f"new since {path}: 1: {IPV4}" in unwrapped(out)


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe --format jsonl: an object a line, of a node, a fabric, a peer, a watched peer and a
sweep.

The interface and the peer are simulated (tests/support/played_interface.py). Expected:
doc/reports.md, JSON Lines."""
import json
import os
import re
from datetime import datetime, timedelta, timezone

import pytest

from support import room
from support.played_probe import IPV4, PROBE, need_to_play, played

JSONL = ["-d", "ib9", "--timeout", "200", "--format", "jsonl"]


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def run(given, *words, before=(), command=None):
    """(status, output, messages) of the probe."""
    done = played(given, *before, *(command or [PROBE, *JSONL, *words]))
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    return got["status"], got["out"], got["err"]


def lines_of(text):
    """The objects; each line is one, with its time."""
    assert text.endswith("\n") and "\n\n" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    now = datetime.now(timezone.utc)
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
        time = datetime.fromisoformat(line["time"].replace("Z", "+00:00"))
        assert abs(now - time) < timedelta(minutes=2)
        assert line["tool"] == "ipoib-probe"
    return lines


def kinds(lines):
    return [line["type"] for line in lines]


def test_peer():
    status, out, err = run({}, IPV4)
    lines = lines_of(out)
    assert (status, err) == (0, "")
    assert kinds(lines)[-2:] == ["target", "summary"] and set(kinds(lines)[:-2]) == {"result"}
    assert {r["target"] for r in lines[:-2]} == {IPV4}
    assert lines[-2]["name"] == IPV4 and lines[-2]["requests"]["sent"] > 4
    assert lines[-1]["verdict"] == "conformant" and "targets" not in lines[-1]


def test_fabric():
    """It has no SA here, so nothing is judged: each line says what is known."""
    status, out, _ = run({}, "fabric")
    lines = lines_of(out)
    assert status == 2 and kinds(lines)[-2:] == ["target", "summary"]
    stages = {r["id"]: r for r in lines[:-2]}
    assert stages["fabric.port-state"]["outcome"] == "pass"
    assert stages["fabric.port-state"]["level"] == "STAGE"
    assert lines[-1]["verdict"] == "unjudged" and lines[-2]["undone"]


def test_node(tmp_path):
    state = ["--state", str(tmp_path / "state")]
    down = {"sysfs": {"ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n"}}
    status, out, _ = run(down, *state, "node")
    lines = lines_of(out)
    assert status == 1 and kinds(lines)[-2:] == ["target", "summary"]
    [failed] = [r for r in lines[:-2] if r["outcome"] == "fail"]
    assert failed["id"] == "node.port" and failed["advice"].startswith("ibstat")
    assert lines[-1]["verdict"] == "violated"


def test_sweep():
    """The lines of a host come as soon as it is tested, those of the prefix at the end."""
    _, out, _ = run({}, "--node", "node01", "10.0.0.0/29")
    lines = lines_of(out)
    targets = [line["name"] for line in lines if line["type"] == "target"]
    assert sorted(targets) == ["10.0.0.0/29", IPV4]
    assert {line["node"] for line in lines} == {"node01"}
    [answers] = [line for line in lines if line.get("id") == "sweep.answers"]
    assert answers["actual"].startswith("1 of ")


# ---- --count


def test_watched_peer():
    """A line for each request, before the result."""
    status, out, _ = run({}, "--count", "3", IPV4)
    lines = lines_of(out)
    assert status == 0 and kinds(lines)[:3] == ["reply"] * 3
    assert [line["request"] for line in lines[:3]] == [1, 2, 3]
    assert all(line["target"] == IPV4 and 0 < line["time_us"] < 1e6 for line in lines[:3])
    assert "reply" not in kinds(lines[3:]) and kinds(lines)[-1] == "summary"


def test_watched_peer_that_stops():
    status, out, _ = run({"silent_after": 2}, "--count", "6", IPV4)
    lines = lines_of(out)
    assert status == 1
    assert kinds(lines)[:7] == ["reply"] * 2 + ["no_reply"] * 3 + ["change", "no_reply"]
    assert [line["request"] for line in lines[:7]] == [1, 2, 3, 4, 5, 5, 6]
    assert lines[5]["change"] == "silent" and lines[5]["text"].startswith("no longer replies")
    assert "time_us" not in lines[2]


def test_watched_port_that_changes():
    port = "ib9/device/infiniband/hca0/ports/1"
    given = {
        "sysfs_after": 2,
        "sysfs": {f"{port}/counters/link_downed": "3\n"},
        "sysfs_then": {f"{port}/state": "1: DOWN\n", f"{port}/counters/link_downed": "4\n"},
    }
    _, out, _ = run(given, "--count", "3", IPV4)
    changes = [line["change"] for line in lines_of(out) if line["type"] == "change"]
    assert sorted(changes) == ["counters", "own-port"]


def test_watched_peer_into_a_file(tmp_path):
    """The file has all lines."""
    path = tmp_path / "watch.jsonl"
    status, out, _ = run({}, "--count", "2", "-o", str(path), IPV4)
    lines = lines_of(path.read_text())
    assert (status, out) == (0, "") and kinds(lines)[:2] == ["reply", "reply"]


def test_interrupted_watch_ends_with_its_summary():
    given = {"after": "interrupt", "at": 3}
    _, out, _ = run(given, "--interval", "1", IPV4)
    lines = lines_of(out)
    assert kinds(lines)[-2:] == ["target", "summary"]


# ---- faults of the output


def shell(line, *words):
    return ["sh", "-c", line, "sh", PROBE, *JSONL, *words]


def test_full_disk_of_standard_output():
    status, _, err = run({}, command=shell('exec "$@" >/dev/full', IPV4))
    assert status == 2 and "No space left" in err


def test_closed_pipe():
    """The reader ends after a line: the probe ends its work, and says so."""
    line = '{ "$@"; echo "status $?" >&2; } | head -n 1 >/dev/null'
    status, _, err = run({}, command=shell(line, "--count", "4", IPV4))
    assert status == 0 and "status 2\n" in err and "Broken pipe" in err


def test_full_disk_keeps_the_old_file(tmp_path):
    """The lines follow on standard output."""
    path = tmp_path / "report.jsonl"
    path.write_text("old\n")
    limit = room.command(1000)
    done = played({}, "sh", "-c", '"$@" -o "$0" 10.0.0.2', str(path), *limit, PROBE, *JSONL)
    got = json.loads(done.stdout)
    assert got["status"] == 2 and "report" in got["err"]
    assert path.read_text() == "old\n" and os.listdir(tmp_path) == ["report.jsonl"]

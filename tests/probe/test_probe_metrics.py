# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe --format prometheus of peers, a fabric, a sweep and --count.

The interface and the peer are simulated (tests/support/played_interface.py). Expected:
doc/monitoring.md. Those of the target node are in test_probe_node.py."""
import json
import os
import re
import subprocess
import time

import pytest

from support import room
from support.needs import needs
from support.played_probe import IPV4, PROBE, need_to_play, played

METRICS = ["-d", "ib9", "--timeout", "200", "--format", "prometheus"]
PORT = "ib9/device/infiniband/hca0/ports/1"


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def run(given, *words, before=()):
    """(status, output, messages) of the probe."""
    done = played(given, *before, PROBE, *METRICS, *words)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    return got["status"], got["out"], got["err"]


def samples_of(text):
    """{series: value}; promtool accepts the text, and each series occurs once."""
    needs("promtool", "test")
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = [line for line in text.splitlines() if line[0] != "#"]
    samples = {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
    assert len(samples) == len(lines)
    assert all(name.startswith("ipoib_probe_") and '{target="' in name for name in samples)
    return samples


def series(name, target, **labels):
    """NAME{target="TARGET",...}"""
    pairs = ",".join(f'{key}="{value}"' for key, value in {"target": target, **labels}.items())
    return f"ipoib_probe_{name}{{{pairs}}}"


def status_of(samples, target):
    """The one status that is 1."""
    [status] = [
        word
        for word in ("ok", "fault", "not_judged")
        if samples[series("status", target, status=word)] == 1
    ]
    return status


def test_peer():
    status, out, err = run({}, IPV4)
    samples = samples_of(out)
    assert (status, err) == (0, "") and status_of(samples, IPV4) == "ok"
    assert samples[series("rules", IPV4, outcome="passed")] > 10
    assert samples[series("rules", IPV4, outcome="must_violated")] == 0
    assert samples[series("requests", IPV4, answered="first_try")] > 4
    assert samples[series("packets_lost", IPV4)] == 0
    least, median = (
        samples[series(f"response_{name}_seconds", IPV4, mode="ud")] for name in ("min", "median")
    )
    assert 0 < least <= median < 1
    assert abs(samples[series("last_run_timestamp_seconds", IPV4)] - time.time()) < 120
    assert not any("watch" in name or 'mode="rc"' in name for name in samples)


def test_peer_that_violates():
    status, out, _ = run({"edits": {"22": "0001"}}, IPV4)
    samples = samples_of(out)
    assert status == 1 and status_of(samples, IPV4) == "fault"
    assert samples[series("rules", IPV4, outcome="must_violated")] == 1


def test_silent_peer():
    status, out, _ = run({"replies": False}, IPV4)
    samples = samples_of(out)
    assert status == 2 and status_of(samples, IPV4) == "not_judged"
    assert not any("response" in name and "sa_" not in name for name in samples)


def test_fabric():
    """A stage without a result is a problem; one that an earlier failure stopped is not."""
    _, out, _ = run({}, "fabric")
    samples = samples_of(out)
    assert status_of(samples, "fabric") == "not_judged"
    assert samples[series("stage_problems", "fabric", stage="fabric.broadcast-group")] == 1
    assert samples[series("stage_problems", "fabric", stage="fabric.port-state")] == 0
    _, out, _ = run({"sysfs": {f"{PORT}/state": "1: DOWN\n"}}, "fabric")
    samples = samples_of(out)
    assert status_of(samples, "fabric") == "fault"
    assert samples[series("stage_problems", "fabric", stage="fabric.port-state")] == 1
    assert samples[series("stage_problems", "fabric", stage="fabric.broadcast-group")] == 0
    assert samples[series("stages", "fabric", outcome="fail")] == 1


def test_hosts_of_a_prefix_are_only_counted():
    """Labels are those of the command line, however many hosts reply."""
    prefix = "10.0.0.0/29"
    samples = samples_of(run({}, prefix)[1])
    assert samples[series("sweep_hosts", prefix, status="ok")] == 1
    assert samples[series("sweep_hosts", prefix, status="fault")] == 0
    assert {re.search(r'target="([^"]*)"', name).group(1) for name in samples} == {prefix}
    samples = samples_of(run({"edits": {"22": "0001"}}, prefix)[1])
    assert samples[series("sweep_hosts", prefix, status="fault")] == 1


def test_target_that_is_named_twice():
    """A series must not occur twice."""
    samples = samples_of(run({}, IPV4, IPV4)[1])
    assert status_of(samples, IPV4) == status_of(samples, f"{IPV4} (2)") == "ok"


# ---- --count


def test_watched_peer():
    status, out, _ = run({}, "--count", "3", IPV4)
    samples = samples_of(out)
    assert status == 0 and status_of(samples, IPV4) == "ok"
    assert samples[series("watch_requests_total", IPV4)] == 3
    assert samples[series("watch_up", IPV4)] == 1
    times = "watch_response_duration_seconds"
    counts = [v for k, v in samples.items() if k.startswith(f"ipoib_probe_{times}_bucket")]
    assert counts == sorted(counts) and len(counts) == 21
    assert samples[series(f"{times}_bucket", IPV4, le="+Inf")] == 3
    assert samples[series(f"{times}_count", IPV4)] == 3
    assert 0 < samples[series(f"{times}_sum", IPV4)] < 3
    assert samples[series(f"{times}_bucket", IPV4, le="0.8192")] == 3


def test_watched_peer_that_stops():
    samples = samples_of(run({"silent_after": 2}, "--count", "6", IPV4)[1])
    assert status_of(samples, IPV4) == "fault"
    assert samples[series("watch_requests_total", IPV4)] == 6
    assert samples[series("watch_response_duration_seconds_count", IPV4)] == 2
    assert samples[series("watch_up", IPV4)] == 0
    assert samples[series("watch_changes_total", IPV4, change="silent")] == 1
    assert samples[series("watch_changes_total", IPV4, change="moved")] == 0


def test_file_of_a_watched_peer_is_written_during_the_run(tmp_path):
    """The collector reads it while the probe runs; it is complete each time."""
    path = tmp_path / "peer.prom"
    line = '"$@" & sleep 1.5; cat "$0"; wait'
    words = ["-o", str(path), "--count", "4", IPV4]
    done = played({}, "sh", "-c", line, str(path), PROBE, *METRICS, *words)
    early = samples_of(json.loads(done.stdout)["out"])
    assert early[series("watch_requests_total", IPV4)] in (1, 2)
    assert series("status", IPV4, status="ok") not in early
    late = samples_of(path.read_text())
    assert late[series("watch_requests_total", IPV4)] == 4
    assert status_of(late, IPV4) == "ok"
    assert os.listdir(tmp_path) == ["peer.prom"]


# ---- faults of the output


@pytest.mark.parametrize("words", [[IPV4], ["--count", "2", IPV4], ["fabric"]])
def test_full_disk_keeps_the_old_metrics(tmp_path, words):
    """They follow on standard output then."""
    path = tmp_path / "peer.prom"
    path.write_text("old\n")
    status, out, err = run({}, "-o", str(path), *words, before=room.command(1000))
    assert status == 2 and path.read_text() == "old\n" and "peer.prom" in err
    assert samples_of(out) and os.listdir(tmp_path) == ["peer.prom"]


def test_folder_that_is_missing(tmp_path):
    status, out, err = run({}, "-o", str(tmp_path / "none" / "peer.prom"), IPV4)
    assert status == 2 and out == "" and "No such file" in err


def test_interrupted_run_keeps_the_old_metrics(tmp_path):
    path = tmp_path / "peer.prom"
    path.write_text("old\n")
    status, _, _ = run({"after": "interrupt", "at": 3}, "-o", str(path), IPV4)
    assert status == 130 and path.read_text() == "old\n"

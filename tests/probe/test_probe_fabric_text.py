# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of `ipoib-probe fabric` without a device: the cause once, and one line for the stages
that did not run."""
import json
import os

from support import wait
from support.paths import BIN

PROBE = os.path.join(BIN, "ipoib-probe")
CAUSE = "RDMA device"


def run(*arguments):
    return wait.run(
        [PROBE, "-d", "no-such-device", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_text():
    done = run("fabric")
    assert done.returncode == 3
    assert (done.stdout + done.stderr).count(CAUSE) == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "fabric: not usable, 1 problem"
    assert lines[1].split()[:2] == ["fail", "fabric.device"]
    passed = "1 stage passed; 20 stages not run: fabric.device failed; -v"
    assert any(line.startswith(passed) for line in lines)
    assert len(lines) <= 22 and max(map(len, lines)) < 80
    assert lines[-1] == "fabric: FAULT: 1 stage failed"


def test_text_of_everything():
    lines = run("-v", "fabric").stdout.splitlines()
    assert sum("skipped" in line for line in lines) == 1
    assert any("  20 stages not run: fabric.device failed" in line for line in lines)


def test_json_has_every_stage():
    report = json.loads(run("--format", "json", "fabric").stdout)
    stages = [r for r in report["results"] if r["level"] == "STAGE"]
    assert len(stages) == 22
    assert [r["outcome"] for r in stages] == ["fail"] + ["skipped"] * 20 + ["pass"]
    assert all(r["actual"] == "fabric.device failed" for r in stages[1:-1])
    assert stages[-1]["id"] == "fabric.known-faults"


def test_other_targets_are_named():
    done = run("10.0.0.1")
    assert CAUSE in done.stderr

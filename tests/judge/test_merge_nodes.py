# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --merge of the reports of 10,000 nodes: at most 10 seconds of a processor, and constant
memory, but for the names of the nodes and a byte for each node and stage.

The reports are those of ipoib-probe node on simulated hosts (tests/support/played_interface.py)."""
import json
import os
import re
import resource
import subprocess

import pytest

from support import wait
from support.check import CHECK, VIOLATED
from support.paths import BIN
from support.played_probe import PROBE, need_to_play, played

NODES, FEW = 10000, 1000
SECONDS = 10
PEAK = 24 << 10  # KiB
OF_A_NODE = 1  # KiB
SA = os.path.join(os.path.dirname(BIN), "tests", "played-sa.so")
GIDS = "ib9/device/infiniband/hca0/ports/1/gids/0"
FAULTS, SILENT = 50, 97  # each so-manieth node


def report(folder, sa):
    given = {"infiniband_mad": {"abi_version": "5\n"}, "sysfs": {GIDS: "fe80::1\n"}}
    playing = ["env", f"LD_PRELOAD={SA}", f"PLAYED_SA={sa}"]
    command = [PROBE, "--state", str(folder / "state"), "--format", "json", "node"]
    return json.loads(played(given, *playing, *command).stdout)["out"]


@pytest.fixture(scope="module", name="reports")
def fixture_reports(tmp_path_factory):
    need_to_play()
    folder = tmp_path_factory.mktemp("nodes")
    member, absent, silent = (report(folder, sa) for sa in ("member", "absent", "silent"))
    for i in range(NODES):
        text = absent if i % FAULTS == 0 else silent if i % SILENT == 0 else member
        (folder / f"node{i:05d}.json").write_text(text)
    return folder


def merge(folder, number, form):
    """(output, seconds of a processor, the peak of the memory in KiB)

    The peak is that of the whole report, which waits for its reader."""
    names = [f"node{i:05d}.json" for i in range(number)]
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [CHECK, "--merge", "--format", form, "-o", fifo, *names]
    with subprocess.Popen(command, cwd=folder) as process:
        try:
            wait.sleeps_in(process, "wait_for_partner", "ipoib-check")
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
                high = int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1))
            text = fifo.read_text()
            assert wait.end_of(process) == VIOLATED
        finally:
            process.kill()
    fifo.unlink()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return text, seconds, high


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "junit", "tap"])
def test_ten_thousand_nodes(reports, form, record_property):
    _, _, few = merge(reports, FEW, form)
    text, seconds, many = merge(reports, NODES, form)
    record_property("seconds, KiB of 1,000 and of 10,000 reports", f"{seconds:.1f}, {few}, {many}")
    print(f"{form}: {seconds:.1f} s, {few} and {many} KiB")
    assert seconds < SECONDS
    assert many < PEAK and many - few < (NODES - FEW) * OF_A_NODE
    assert text.count("node0") > 100


def test_totals(reports):
    text, _, _ = merge(reports, NODES, "json")
    summary = json.loads(text)["summary"]
    faults = len(range(0, NODES, FAULTS))
    silent = sum(i % FAULTS != 0 for i in range(0, NODES, SILENT))
    assert (summary["reports"], len(summary["nodes"])) == (NODES, NODES)
    assert (summary["violated"], summary["unjudged"]) == (faults, silent)
    [group] = [r for r in summary["rules"] if r["id"] == "node.group" and r["outcome"] == "fail"]
    assert group["nodes"] == faults and group["names"][:2] == ["node00000", "node00050"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/probe/site_judge.py says about runs of sixteen hosts: one fault, host 5, seconds 30 to 60."""
import subprocess
import sys

import pytest

from support.paths import SRC

JUDGE = f"{SRC}/tests/probe/site_judge.py"
PERIOD, RUNS = 10, 9
ON, OFF = (30.0, 31.0), (60.0, 65.0)  # begins, is effective
STAGES = ["node.port", "node.group", "node.counters", "node.mtu"]


def metrics(word, problems):
    yield from (
        f'ipoib_node_status{{status="{one}"}} {int(one == word)}'
        for one in ("ok", "degraded", "fault", "not_judged")
    )
    yield from (
        f'ipoib_node_stage_problems{{stage="{stage}"}} {int(stage in problems)}' for stage in STAGES
    )


def begin_of(host, number):
    """Host 5 begins its runs in the middle of a period: those of numbers 3, 4 and 5 see the fault."""
    return 5.0 + PERIOD * number + (host - 5) * 0.1


def judge(folder, *, kind="cable", edits=None, hosts=16, drop=(), changes=None):
    """(exit status, output); edits: (host, number of the run) -> result and stages with a problem."""
    (folder / "runs").mkdir()
    stage = {"cable": "node.port", "loss": "node.group", "mtu": "node.mtu"}.get(kind, "node.group")
    word = {"cable": "fault", "loss": "not_judged", "mtu": "degraded"}.get(kind, "ok")
    results = {(5, number): (word, [stage]) for number in (3, 4, 5)} if word != "ok" else {}
    results.update(edits or {})
    for host in range(hosts):
        with open(folder / "runs" / f"h{host}", "w", encoding="ascii") as out:
            for number in range(RUNS):
                if (host, number) in drop:
                    continue
                begin = begin_of(host, number)
                out.write(f"# run {begin} {begin + 0.1} 0\n")
                given = metrics(*results.get((host, number), ("ok", [])))
                out.writelines(line + "\n" for line in given)
    lines = [
        f"{time} {what} {kind} {switch} 5"
        for switch, times in (("on", ON), ("off", OFF))
        for what, time in zip(("begins", "effective"), times)
    ]
    (folder / "changes").write_text("\n".join(lines if changes is None else changes) + "\n")
    done = subprocess.run(
        [sys.executable, JUDGE, str(folder)], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout


COUNTERS = ("degraded", ["node.counters"])


@pytest.mark.parametrize(
    "kind, edits",
    [
        ("cable", {}),
        ("loss", {}),
        ("mtu", {}),
        ("fewlost", {}),
        ("cable", {(5, 6): COUNTERS}),
    ],
    ids=["cable", "loss", "mtu", "few lost", "the flap is named once"],
)
def test_good_runs(tmp_path, kind, edits):
    status, out = judge(tmp_path, kind=kind, edits=edits)
    assert status == 0 and "not ok" not in out, out
    assert f"{kind}" in out and "1 times, hosts 5" in out


@pytest.mark.parametrize("number", [2, 5])
@pytest.mark.parametrize("result", [("ok", []), ("fault", ["node.port"]), COUNTERS])
def test_run_while_the_fault_is_switched(tmp_path, number, result):
    """Any result is right."""
    begin = begin_of(5, number)
    switch = (begin - 1, begin + 1)
    on, off = (switch, OFF) if number == 2 else (ON, switch)
    lines = [
        f"{on[0]} begins cable on 5",
        f"{on[1]} effective cable on 5",
        f"{off[0]} begins cable off 5",
        f"{off[1]} effective cable off 5",
    ]
    status, out = judge(tmp_path, edits={(5, number): result}, changes=lines)
    assert status == 0, out


@pytest.mark.parametrize(
    "kind, edits, words",
    [
        ("cable", {(5, 3): ("ok", [])}, "run 1 while the fault is on"),
        ("cable", {(5, 4): ("ok", [])}, "run 2 while the fault is on"),
        ("cable", {(5, 3): ("fault", ["node.group"])}, "run 1 while the fault is on"),
        ("cable", {(5, 3): ("degraded", ["node.port"])}, "run 1 while the fault is on"),
        ("cable", {(5, 6): ("fault", ["node.port"])}, "without a fault"),
        ("cable", {(5, 6): COUNTERS, (5, 7): COUNTERS}, "without a fault"),
        ("cable", {(5, 6): ("degraded", ["node.counters", "node.mtu"])}, "without a fault"),
        ("loss", {(5, 6): COUNTERS}, "without a fault"),
        ("cable", {(6, 3): ("fault", ["node.port"])}, "host 6, run at 35.100: fault node.port"),
        ("cable", {(5, 1): COUNTERS}, "without a fault"),
        ("cable", {(5, 7): (None, [])}, "host 5, run at 75.000: None"),
        ("fewlost", {(5, 3): ("not_judged", ["node.group"])}, "while the fault is on"),
    ],
    ids=[
        "late",
        "not any more",
        "other stage",
        "other result",
        "not healthy",
        "degraded twice",
        "degraded by others",
        "no counters",
        "other host",
        "before",
        "no result",
        "false alarm of lost packets",
    ],
)
def test_bad_run(tmp_path, kind, edits, words):
    status, out = judge(tmp_path, kind=kind, edits=edits)
    assert status == 1 and out.count("\nnot ok") == 1 and words in out, out


def test_host_that_did_not_run(tmp_path):
    status, out = judge(tmp_path, drop=[(9, 4)])
    assert status == 1 and "host 9: 20.0 s without a run, at 35.400" in out


def test_fault_during_which_its_host_did_not_run(tmp_path):
    status, out = judge(tmp_path, drop=[(5, 3), (5, 4), (5, 5)])
    assert status == 1 and "host 5: no run while it was on" in out


def test_fifteen_hosts(tmp_path):
    status, out = judge(tmp_path, hosts=15)
    assert status == 1 and "# not sixteen hosts" in out


def test_no_fault(tmp_path):
    status, out = judge(tmp_path, kind="fewlost", changes=[])
    assert status == 1 and "not ok 2 - faults were switched on and off" in out

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe as a monitor runs it, when its surroundings fail: a full disk, a reader that does not
read, a device that vanishes and returns, two runs at once, a state of somebody else, a clock that
jumps. The result is clear, and a file of metrics is never half.

The interface and the SA are simulated (tests/support/played_interface.py, tests/probe/played_sa.c)."""
import json
import os
import re
import time

import pytest

from support.paths import BIN
from support.played_probe import IPV4, PROBE, need_to_play, played
from support.scrape import sample

SA = os.path.join(os.path.dirname(BIN), "tests", "played-sa.so")
PORT = "ib9/device/infiniband/hca0/ports/1"
OK = "ok: ib9 0xffff mtu 2044\n"
LAST = "ipoib_node_interface_carrier_changes_total"  # the last metric of the file


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def shell(script, *words, given=None, **sysfs):
    """Runs the script, whose "$@" is the probe with these words. (status, output, messages)"""
    files = {f"{PORT}/gids/0": "fe80::1\n", "ib9/carrier_changes": "2\n", **sysfs.pop("files", {})}
    everything = {"sysfs": files, "infiniband_mad": {"abi_version": "5\n"}, **(given or {})}
    playing = ["env", f"LD_PRELOAD={SA}", "PLAYED_SA=member"] if words[-1] == "node" else []
    done = played(everything, "sh", "-c", script, "sh", *playing, PROBE, *words)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    return got["status"], got["out"], got["err"]


def is_whole(text):
    return text.endswith("\n") and f"\n{LAST}{{" in text and text.startswith("# HELP ")


@pytest.fixture(name="node")
def fixture_node(tmp_path):
    return ["--state", str(tmp_path / "state")]


# ---- a full disk

FULL = """
mount -t tmpfs -o size=8k none {folder} && echo old >{folder}/ipoib.prom
head -c 4096 /dev/zero >{folder}/other 2>&1
"$@"; echo "status $?"; cat {folder}/ipoib.prom; ls -A {folder}
"""


@pytest.mark.parametrize("target", ["node", IPV4, "fabric"])
def test_full_disk(tmp_path, node, target):
    """The old file stays, nothing is left beside it, and what was found is printed."""
    folder = tmp_path / "full"
    folder.mkdir()
    options = node if target == "node" else ["-d", "ib9", "--timeout", "200"]
    words = [*options, "--format", "prometheus", "-o", f"{folder}/ipoib.prom", target]
    _, out, err = shell(FULL.format(folder=folder), *words)
    assert "No space left" in err and "ipoib.prom" in err
    assert out.endswith("status 2\nold\nipoib.prom\nother\n")
    assert out.startswith(OK if target == "node" else "# HELP ipoib_probe_status")


def test_full_disk_of_the_state(tmp_path):
    """The run is judged, and says that the next one has nothing to compare with."""
    folder = tmp_path / "full"
    folder.mkdir()
    script = f"""
mount -t tmpfs -o size=4k none {folder} && mkdir -m 700 {folder}/state
head -c 4096 /dev/zero >{folder}/other 2>&1
"$@"; echo "status $?"; ls -A {folder}/state
"""
    _, out, err = shell(script, "--state", f"{folder}/state", "node")
    assert out == f"{OK}status 0\n"
    assert "the state for the next run cannot be written: No space left" in err


# ---- a reader that does not read


def test_reader_that_does_not_read(tmp_path, node):
    """A run that waits for its reader keeps no other one from comparing, and a signal ends it."""
    script = f"""
mkfifo {tmp_path}/fifo
"$@" -o {tmp_path}/fifo & pid=$!
until [ -e {tmp_path}/state/node ]; do sleep 0.1; done; sleep 0.3
"$@" --format json
kill -TERM $pid; wait $pid; echo "status $?" >&2
"""
    _, out, err = shell(script, *node, "node")
    [state] = [r for r in json.loads(out)["results"] if r["id"] == "node.state"]
    assert state["outcome"] == "pass" and "another run" not in state["actual"]
    assert "status 143" in err and "interrupted" in err


def test_reader_of_a_peer_that_does_not_read(tmp_path):
    script = f"""
mkfifo {tmp_path}/fifo
"$@" & pid=$!
sleep 8; kill -TERM $pid; wait $pid; echo "status $?" >&2
"""
    words = ["-d", "ib9", "--timeout", "100", "--format", "jsonl", "-o", f"{tmp_path}/fifo", IPV4]
    _, out, err = shell(script, *words)
    assert out == "" and "status 143" in err and "interrupted" in err


# ---- two runs at once

TOGETHER = """
(for i in 1 2 3 4 5 6 7 8; do "$@" & done; wait; : >{copy}.end) &
until [ -e {copy}.end ]; do
    [ -e {path} ] && cat {path} >>{copy} && echo "%%" >>{copy}
done
wait; ls -A {folder}
"""


def test_eight_runs_at_once(tmp_path, node):
    """Each file that a collector sees is whole, whoever writes it."""
    folder, copy = tmp_path / "collected", tmp_path / "copy"
    folder.mkdir()
    path = folder / "ipoib.prom"
    script = TOGETHER.format(path=path, copy=copy, folder=folder)
    _, out, err = shell(script, *node, "--format", "prometheus", "-o", str(path), "node")
    assert out == "ipoib.prom\n" and err == ""
    assert is_whole(path.read_text())
    seen = copy.read_text().split("%%\n")[:-1] if copy.exists() else []
    assert all(is_whole(text) for text in seen)


# ---- a device that vanishes and returns


def test_device_that_vanishes_and_returns(tmp_path, node):
    """A fault while it is away, without stale numbers; then all is as before."""
    path = tmp_path / "ipoib.prom"
    words = [*node, "--format", "prometheus", "-o", str(path), "node"]
    one = {"hca0/ports/1/state": "4: ACTIVE\n"}
    both = {**one, "hca1/ports/1/state": "4: ACTIVE\n", "hca1/ports/1/link_layer": "IB\n"}
    both["hca1/ports/1/gids/0"] = "fe80::9\n"
    second = 'ipoib_node_port_state_id{device="hca1",port="1"}'
    for devices, status, there in ((both, 0, True), (one, 1, False), (one, 1, False)):
        got, _, _ = shell('"$@"', *words, given={"infiniband": devices})
        text = path.read_text()
        assert got == status and (second in text) == there
        assert sample(text, 'ipoib_node_status{status="fault"}') == status
    got, _, _ = shell('"$@"', *words, given={"infiniband": both})
    assert got == 0 and second in path.read_text()


def test_host_whose_only_device_vanishes(node):
    files = {name: None for name in ("ib9/type", f"{PORT}/state", f"{PORT}/gids/0")}
    assert shell('"$@"', *node, "node")[:2] == (0, OK)
    status, out, _ = shell('"$@"', *node, "node", files=files)
    assert status == 1 and out.startswith("fault: ") and "was there in an earlier run" in out
    assert shell('"$@"', *node, "node")[:2] == (0, OK)


# ---- the state


def stage_of_state(out):
    [state] = [r for r in json.loads(out)["results"] if r["id"] == "node.state"]
    return state["outcome"], state["actual"]


def test_state_of_somebody_else(tmp_path, node):
    if os.geteuid():
        pytest.skip("needs root")
    shell('"$@"', *node, "node")
    os.chown(tmp_path / "state" / "node", 12345, -1)
    status, out, _ = shell('"$@"', *node, "--format", "json", "node")
    assert status == 0 and "nothing is compared with the last run" in stage_of_state(out)[1]
    status, out, _ = shell('"$@"', *node, "--format", "json", "node")
    assert stage_of_state(out)[0] == "pass"  # it was replaced


def test_folder_of_somebody_else(tmp_path, node):
    if os.geteuid():
        pytest.skip("needs root")
    (tmp_path / "state").mkdir(mode=0o700)
    os.chown(tmp_path / "state", 12345, -1)
    status, out, _ = shell('"$@"', *node, "--format", "json", "node")
    outcome, text = stage_of_state(out)
    assert status == 0 and outcome != "pass" and str(tmp_path / "state") in text
    assert not os.listdir(tmp_path / "state")


def test_old_state(tmp_path, node):
    """A run of long ago in the same boot is compared: the growth has its time."""
    counter = f"{PORT}/counters/link_downed"
    shell('"$@"', *node, "node", files={counter: "3\n"})
    path = tmp_path / "state" / "node"
    path.write_text(re.sub(r"time \d+", "time 1", path.read_text()))
    status, out, _ = shell('"$@"', *node, "node", files={counter: "5\n"})
    assert status == 0 and out.startswith("degraded: ib9 0xffff: link_downed grew by 2 to 5, in ")


# ---- a clock that jumps


def test_clock_that_jumps(tmp_path, node):
    """The time of the run is that of the clock; durations and what is compared are not."""
    counter = f"{PORT}/counters/link_downed"
    path = tmp_path / "ipoib.prom"
    words = [*node, "--format", "prometheus", "-o", str(path), "node"]
    shell('"$@"', *words, files={counter: "3\n"})
    state = tmp_path / "state" / "node"
    for wall in (1, 4102444800000000):  # 1970, 2100
        state.write_text(re.sub(r"(time \d+) \d+", rf"\1 {wall}", state.read_text()))
        status, _, err = shell('"$@"', *words, files={counter: "3\n"})
        text = path.read_text()
        assert (status, err) == (0, "") and is_whole(text)
        assert sample(text, 'ipoib_node_status{status="ok"}') == 1
        assert sample(text, "ipoib_node_state_usable") == 1
        assert 0 <= sample(text, "ipoib_node_run_duration_seconds") < 30
        assert abs(sample(text, "ipoib_node_last_run_timestamp_seconds") - time.time()) < 60

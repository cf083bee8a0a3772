# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe node: the line, the exit status, what is compared with the last run, the metrics.

The interface and sysfs are simulated (tests/support/played_interface.py), and so is the SA
(tests/probe/played_sa.c). Expected: doc/monitoring.md."""
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import room
from support.paths import BIN
from support.played_probe import PROBE, need_to_play, played
from support.scrape import sample, scraped

SA = os.path.join(os.path.dirname(BIN), "tests", "played-sa.so")
PORT = "ib9/device/infiniband/hca0/ports/1"
GID = "fe80:0000:0000:0000:0002:c903:0000:0001\n"
OK = "ok: ib9 0xffff mtu 2044\n"
GET, MEMBER_RECORD, MGID_AND_PORT_GID = "0x01", "0x0038", "0x3"
ASKED = f"{GET} {MEMBER_RECORD} {MGID_AND_PORT_GID} 0xffff\n"


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


class Node:
    """Runs of one node. sysfs: files that differ from those of the healthy interface."""

    def __init__(self, folder):
        self.state, self.log = f"{folder}/state", f"{folder}/log"
        self.status = self.out = self.err = None

    def run(self, *options, sa="member", sysfs=None, given=None, before=()):
        """before: a command that runs the probe."""
        with open(self.log, "w", encoding="ascii"):
            pass
        playing = [f"LD_PRELOAD={SA}", f"PLAYED_SA={sa}", f"PLAYED_SA_LOG={self.log}"]
        everything = {
            "sysfs": {f"{PORT}/gids/0": GID, **(sysfs or {})},
            "infiniband_mad": {"abi_version": "5\n"},
            **(given or {}),
        }
        probe = [PROBE, "--state", self.state, *options, "node"]
        done = played(everything, *before, "env", *playing, *probe)
        assert done.returncode == 0, done.stderr
        got = json.loads(done.stdout)
        self.status, self.out, self.err = got["status"], got["out"], got["err"]
        assert not got["frames"]
        return self

    def expect(self, status, out):
        assert (self.status, self.out) == (status, out), self.err
        return self

    def stage(self, identifier):
        """(outcome, text, command) in the JSON report."""
        for result in json.loads(self.out)["results"]:
            if result["id"] == identifier:
                return result["outcome"], result["actual"], result.get("advice", "")
        raise AssertionError(f"{identifier} is not in {self.out}")

    def asked(self):
        with open(self.log, encoding="ascii") as f:
            return f.read()


@pytest.fixture(name="node")
def fixture_node(tmp_path):
    return Node(tmp_path)


# --- the line and the exit status


def test_healthy_node(node):
    """One request, which changes nothing; a second run is the same."""
    for _ in range(2):
        node.run().expect(0, OK)
        assert node.asked() == ASKED and node.err == ""


def test_modes_and_mtus(node):
    node.run(sysfs={"ib9/mtu": "4092\n"}, sa="member 5").expect(0, "ok: ib9 0xffff mtu 4092\n")
    connected = {"ib9/mtu": "65520\n", "ib9/mode": "connected\n"}
    node.run(sysfs=connected).expect(0, "ok: ib9 0xffff mtu 65520 connected\n")


def child(name, pkey, mtu="2044\n", **more):
    """Another interface of the same port."""
    group = f"00:ff:ff:ff:ff:12:40:1b:{pkey[2:4]}:{pkey[4:6]}:00:00:00:00:00:00:ff:ff:ff:ff\n"
    files = {"type": "32\n", "pkey": f"{pkey}\n", "mode": "datagram\n", "mtu": mtu}
    files |= {"flags": "0x1003\n", "dev_port": "0x0\n", "carrier": "1\n", "broadcast": group}
    port = {"state": "4: ACTIVE\n", "gids/0": GID, "pkeys/0": "0xffff\n", "pkeys/1": f"{pkey}\n"}
    port |= {"lid": "0x3\n", "sm_lid": "0x1\n"}
    files |= {f"device/infiniband/hca0/ports/1/{n}": text for n, text in port.items()} | more
    return {f"{name}/{n}": text for n, text in files.items()} | {f"{PORT}/pkeys/1": f"{pkey}\n"}


def test_interfaces_of_a_port_are_asked_about_in_turn(node):
    """One query a run: each interface has its turn, and one that is at odds keeps it."""
    two = child("ib9.8001", "0x8001")
    line = "ok: ib9 0xffff mtu 2044, ib9.8001 0x8001 mtu 2044\n"
    for pkey in ("0xffff", "0x8001", "0xffff"):
        node.run(sysfs=two).expect(0, line)
        assert node.asked() == f"{GET} {MEMBER_RECORD} {MGID_AND_PORT_GID} {pkey}\n"
    for _ in range(2):
        node.run(sysfs=two, sa="absent")
        assert node.status == 1 and node.out.startswith("fault: ib9.8001 0x8001: the SA does not")
        assert node.asked().endswith(" 0x8001\n")
    node.run(sysfs=two).expect(0, line)
    assert node.asked().endswith(" 0x8001\n")
    node.run(sysfs=two)
    assert node.asked().endswith(" 0xffff\n")


def test_interface_without_carrier_is_asked_about_first(node):
    two = child("ib9.8001", "0x8001", carrier="0\n")
    node.run(sysfs=two, sa="absent").expect(
        1,
        "fault: ib9.8001 0x8001: no carrier: the SA has no broadcast group of 0x8001, or this port "
        "is not in it; ipoib-probe -d ib9.8001 fabric\n",
    )


FAULTS = {  # name: files, answer of the SA, text, command
    "link": ({f"{PORT}/state": "1: DOWN\n"}, "member", "hca0 port 1 is Down", "ibstat hca0 1"),
    "SM": ({f"{PORT}/state": "2: INIT\n"}, "member", "is Initialize: no subnet manager", "ibstat"),
    "P_Key": ({f"{PORT}/pkeys/0": "0x8005\n"}, "member", "not in partition 0xffff", "partitions"),
    "down": ({"ib9/flags": "0x1002\n"}, "member", "ib9 is down", "ip link set ib9 up"),
    "membership": ({}, "absent", "the SA does not have this port in the", "ipoib-probe -d ib9"),
    "group": ({"ib9/carrier": "0\n"}, "absent", "no carrier: the SA has no broadcast", "fabric"),
    "carrier": ({"ib9/carrier": "0\n"}, "member", "ib9 is up, but has no carrier", "ib9 down"),
    "MTU": ({"ib9/mtu": "4092\n"}, "member", "MTU 4092, and the group 2044", "ib9 mtu 2044"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(node, name):
    sysfs, sa, text, command = FAULTS[name]
    node.run(sysfs=sysfs, sa=sa)
    assert node.status == 1 and node.out.count("\n") == 1
    assert re.fullmatch(
        f"fault: ib9 0xffff: .*{re.escape(text)}.*; .*{re.escape(command)}.*\n", node.out
    )
    assert node.run("--nagios", sysfs=sysfs, sa=sa).status == 2
    node.run().expect(0, OK)  # the next run sees that it is over


def test_port_that_is_not_active_is_not_asked_about(node):
    for state in ("1: DOWN\n", "2: INIT\n"):
        node.run(sysfs={f"{PORT}/state": state})
        assert node.asked() == ""


@pytest.mark.parametrize(
    "sa, status, text",
    [
        ("silent", 2, "the SA at LID 1 did not answer in time; sminfo"),
        ("no-sa", 2, "there is no SA at the SM's LID 1; sminfo -C hca0 -P 1 1"),
        ("busy", 2, "the SA at LID 1 is busy"),
        ("refused", 2, "the SA refuses: status 0x0700"),
        ("other", 2, "the SA's answer does not fit: its record is of group"),
        ("gone", 2, "the SA cannot be asked: the port is gone"),
        ("denied", 3, "this user may not ask the SA"),
    ],
)
def test_what_is_not_known_is_not_ok(node, sa, status, text):
    begin = time.monotonic()
    node.run(sa=sa)
    assert time.monotonic() - begin < 5
    assert node.status == status and node.out.startswith(f"not judged: ib9 0xffff: {text}")
    assert node.run("--nagios", sa=sa).status == 3


def test_silent_sa_costs_less_than_a_second(node):
    node.run("--format", "prometheus", sa="silent")
    assert 0.4 < sample(node.out, "ipoib_node_run_duration_seconds") < 1


def test_host_without_ports(node):
    none = {name: None for name in ("ib9/type", f"{PORT}/state")}
    node.run(sysfs=none)
    assert node.status == 3 and node.out.startswith("not judged: this host has no InfiniBand port")


def test_named_device_and_interface(node):
    """-d DEVICE is all interfaces of the device, or its ports."""
    two = child("ib9.8001", "0x8001")
    given = {"infiniband": {**SECOND, "hca0/ports/1/state": "4: ACTIVE\n"}}
    both = "ok: ib9 0xffff mtu 2044, ib9.8001 0x8001 mtu 2044\n"
    node.run("-d", "hca0", sysfs=two, given=given).expect(0, both)
    node.run("-d", "hca0", "-p", "1", sysfs=two, given=given).expect(0, both)
    node.run("-d", "ib9.8001", sysfs=two, given=given).expect(0, "ok: ib9.8001 0x8001 mtu 2044\n")
    node.run("-d", "hca1", sysfs=two, given=given).expect(0, "ok: hca1 port 1\n")
    for name in (["hca9"], ["hca1", "-p", "2"]):
        node.run("-d", *name, sysfs=two, given=given)
        assert node.status == 3 and f"this host has no {name[0]}" in node.out
        assert "hca0, hca1, ib9" in node.out


def test_device_of_another_namespace(node):
    """A container has the interface, and not the device: it is not down, and not OK either."""
    hidden = ("lid", "sm_lid", "state", "rate", "pkeys/0", "gids/0")
    sysfs = {f"{PORT}/{name}": None for name in hidden}
    node.run(sysfs=sysfs)
    assert node.status == 2 and "the SA cannot be asked" in node.out


def test_smaller_mtu_is_degraded(node):
    sysfs = {"ib9/mtu": "1500\n"}
    node.run(sysfs=sysfs).expect(
        0, "degraded: ib9 0xffff: ib9 has MTU 1500, and the group 2044; ip link set ib9 mtu 2044\n"
    )
    assert node.run("--strict", sysfs=sysfs).status == 1
    assert node.run("--nagios", sysfs=sysfs).status == 1


def test_details(node):
    node.run("-v")
    lines = node.out.splitlines()
    assert f"{lines[0]}\n" == OK and lines[-1].startswith("node ib9: OK")
    assert any("node.group" in line and "MLID 0xc000" in line for line in lines)
    json_run = node.run("--format", "json")
    assert json_run.stage("node.port")[0] == "pass" and json_run.status == 0


# --- what is compared with the last run


def counter(value, name="link_downed"):
    return {f"{PORT}/counters/{name}": f"{value}\n"}


def test_growth_of_counters(node):
    """The first run has nothing to compare with; growth is seen once."""
    node.run("--format", "json", sysfs=counter(3))
    assert "this is the first run since the boot" in node.stage("node.counters")[1]
    node.run(sysfs=counter(3)).expect(0, OK)
    node.run(sysfs=counter(5))
    assert re.fullmatch(
        r"degraded: ib9 0xffff: link_downed grew by 2 to 5, in \d+ s; check the cable .*\n",
        node.out,
    )
    node.run(sysfs=counter(5)).expect(0, OK)


@pytest.mark.parametrize(
    "before, after", [(counter(9), counter(0)), (counter(255), counter(255))], ids=["reset", "full"]
)
def test_counter_that_does_not_grow(node, before, after):
    node.run(sysfs=before)
    node.run(sysfs=after).expect(0, OK)


def test_few_symbol_errors_are_normal(node):
    node.run(sysfs=counter(1, "symbol_error"))
    node.run(sysfs=counter(4, "symbol_error")).expect(0, OK)


def test_flap_of_the_interface(node):
    node.run(sysfs={"ib9/carrier_changes": "2\n"})
    node.run(sysfs={"ib9/carrier_changes": "4\n"})
    assert "carrier_changes of the interface grew by 2 to 4" in node.out and node.status == 0


GROUPS = """GID: ff12:401b:ffff:0:0:0:ffff:ffff
  created: 4294893000
  queuelen:         0
  complete:       yes
  send_only:       no

GID: ff12:401b:ffff:0:0:0:0:1
  created: 4294893000
  queuelen:         0
  complete:        {}
  send_only:       {}

"""


@pytest.mark.parametrize(
    "complete, send_only, second",
    [("no", "no", "degraded"), ("no", "yes", "ok"), ("yes", "no", "ok")],
)
def test_group_that_is_not_joined(node, complete, send_only, second):
    """A join takes a while: only one that waits in two runs is a problem."""
    if not os.path.isdir("/sys/kernel/debug"):
        pytest.skip("needs a kernel with debugfs")
    given = {"debugfs": {"ib9_mcg": GROUPS.format(complete, send_only)}}
    node.run(given=given).expect(0, OK)
    assert node.run(given=given).out.startswith(f"{second}: ")


def test_interface_that_was_deleted_is_named_once(node):
    node.run(sysfs=child("ib9.8001", "0x8001"))
    node.run()
    assert node.status == 0 and node.out.startswith("degraded: ib9.8001: ib9.8001 was there in the")
    node.run().expect(0, OK)


SECOND = {
    f"hca1/ports/1/{name}": text
    for name, text in (("state", "4: ACTIVE\n"), ("gids/0", "fe80::9\n"), ("link_layer", "IB\n"))
}


def test_device_that_vanished_stays_a_fault(node):
    """A device does not go away by itself; it may come back."""
    both = {"infiniband": {**SECOND, "hca0/ports/1/state": "4: ACTIVE\n"}}
    one = {"infiniband": {"hca0/ports/1/state": "4: ACTIVE\n"}}
    node.run(given=both)
    assert node.status == 0, node.out
    for _ in range(2):
        node.run(given=one)
        assert node.status == 1 and "hca1 port 1 was there in an earlier run" in node.out
    node.run("-d", "ib9", given=one).expect(0, OK)
    node.run(given=one)
    assert node.status == 1
    node.run(given=both)
    assert node.status == 0, node.out


# --- the state's faults


def kept(node):
    return os.path.join(node.state, "node")


def put(node, text, mode=0o600):
    with open(kept(node), "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(kept(node), mode)


def state_of(node):
    with open(kept(node), encoding="ascii") as f:
        return f.read()


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda text: text[: len(text) // 2], "it is damaged"),
        (lambda text: "", "it is damaged"),
        (lambda text: text.replace("link", "lynk"), "it is damaged"),
        (lambda text: re.sub(r"time \d+", "time 99999999999999999", text), "in the future"),
        (lambda text: re.sub(r"boot \S+", "boot another", text), "it is of another boot"),
        (lambda text: "\0" * 5000, "it is damaged"),
        (lambda text: text.replace("node 1", "node 2"), "it is of another version"),
        (lambda text: text.replace("node 1", "node 2")[:-5], "it is damaged"),
        (lambda text: text * 2000, "it is damaged"),
        (lambda text: "other text\n" * 50, "it is damaged"),
    ],
    ids=[
        "half",
        "empty",
        "word",
        "future",
        "boot",
        "zeros",
        "version",
        "half version",
        "large",
        "other",
    ],
)
def test_damaged_state(node, change, why):
    """It is said, nothing is compared, and the next run has a good one."""
    node.run(sysfs=counter(3))
    assert os.stat(node.state).st_mode & 0o777 == 0o700
    assert os.stat(kept(node)).st_mode & 0o777 == 0o600
    put(node, change(state_of(node)))
    node.run("--format", "json", sysfs=counter(5))
    assert node.status == 0 and why in node.stage("node.state")[1]
    node.run(sysfs=counter(5)).expect(0, OK)
    node.run(sysfs=counter(6))
    assert node.out.startswith("degraded: ")


def test_state_that_others_may_write(node):
    node.run(sysfs=counter(3))
    os.chmod(kept(node), 0o666)
    node.run("--format", "json", sysfs=counter(5))
    assert "others may write to it" in node.stage("node.state")[1] and node.status == 0
    os.chmod(node.state, 0o777)
    node.run("--format", "json", sysfs=counter(7))
    assert "other users may write to it" in node.stage("node.state")[1] and node.status == 0


def test_state_that_is_a_link(node, tmp_path):
    node.run()
    os.rename(kept(node), tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", kept(node))
    node.run("--format", "json")
    assert "it cannot be read" in node.stage("node.state")[1] and node.status == 0
    assert not os.path.islink(kept(node))


def test_two_runs_at_once(node):
    """The second one says so, and compares and keeps nothing."""
    node.run(sysfs=counter(3))
    before = state_of(node)
    fd = os.open(node.state, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    node.run("--format", "json", sysfs=counter(5))
    assert "another run uses it" in node.stage("node.state")[1] and node.status == 0
    assert state_of(node) == before
    os.close(fd)
    assert node.run(sysfs=counter(5)).out.startswith("degraded: ")


def test_clock_that_jumps(node):
    """Times are since the boot: only the report names the jump."""
    node.run(sysfs=counter(3))
    put(node, re.sub(r"(time \d+) \d+", r"\1 1000000000000000", state_of(node)))
    node.run("--format", "json", sysfs=counter(3))
    outcome, text, _ = node.stage("node.state")
    assert outcome == "pass" and "the clock was set by +" in text and node.status == 0


# --- metrics


LABELS = '{device="hca0",port="1"}'
OF_INTERFACE = '{device="hca0",port="1",interface="ib9"}'


def test_metrics(node):
    node.run("--format", "prometheus", sysfs={**counter(3), "ib9/carrier_changes": "2\n"})
    assert node.status == 0
    for name, value in {
        'ipoib_node_status{status="ok"}': 1,
        'ipoib_node_status{status="fault"}': 0,
        f"ipoib_node_port_state_id{LABELS}": 4,
        f"ipoib_node_port_rate_bytes_per_second{LABELS}": 12.5e9,
        f"ipoib_node_link_downed_total{LABELS}": 3,
        f"ipoib_node_interface_carrier_changes_total{OF_INTERFACE}": 2,
        f"ipoib_node_interface_mtu_bytes{OF_INTERFACE}": 2044,
        f"ipoib_node_broadcast_mtu_bytes{OF_INTERFACE}": 2044,
        f"ipoib_node_broadcast_member{OF_INTERFACE}": 1,
        'ipoib_node_stage_problems{stage="node.group"}': 0,
    }.items():
        assert sample(node.out, name) == value
    assert abs(sample(node.out, "ipoib_node_last_run_timestamp_seconds") - time.time()) < 60


def test_metrics_of_a_fault(node):
    node.run("--format", "prometheus", sa="absent")
    assert node.status == 1
    assert sample(node.out, 'ipoib_node_status{status="fault"}') == 1
    assert sample(node.out, f"ipoib_node_broadcast_member{OF_INTERFACE}") == 0
    assert sample(node.out, 'ipoib_node_stage_problems{stage="node.group"}') == 1
    node.run("--format", "prometheus", sa="silent")
    assert sample(node.out, f"ipoib_node_sa_answered{OF_INTERFACE}") == 0
    assert "ipoib_node_broadcast_member" not in node.out  # not known


def all_counters():
    names = ("link_downed", "link_error_recovery", "port_rcv_errors", "port_xmit_discards")
    names += ("local_link_integrity_errors", "excessive_buffer_overrun_errors", "symbol_error")
    names += ("port_rcv_remote_physical_errors", "port_xmit_constraint_errors", "port_xmit_wait")
    names += ("port_rcv_constraint_errors",)
    return {path: text for name in names for path, text in counter(1, name).items()}


def test_promtool_accepts_the_metrics(node):
    if not shutil.which("promtool"):
        pytest.skip("needs promtool: script/bootstrap --with test")
    given = {"infiniband": SECOND}
    sysfs = {**all_counters(), **child("ib9.8001", "0x8001"), "ib9/carrier_changes": "2\n"}
    node.run("--format", "prometheus", sysfs=sysfs, given=given)
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=node.out,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    names = re.findall(r"^# TYPE (\S+)", node.out, re.MULTILINE)
    assert len(names) == len(set(names)) and len(names) > 25
    series = [line.rsplit(" ", 1)[0] for line in node.out.splitlines() if line[0] != "#"]
    assert len(series) == len(set(series))
    assert node.out.endswith("\n") and all(name.startswith("ipoib_node_") for name in names)


def test_node_exporter_exports_the_metrics(node, tmp_path):
    """Debian's node_exporter reads the file, and exports each sample as it is."""
    if not shutil.which("prometheus-node-exporter"):
        pytest.skip("needs node_exporter: script/bootstrap --with test")
    folder = tmp_path / "collected"
    folder.mkdir()
    path = folder / "ipoib.prom"
    node.run("--format", "prometheus", "-o", str(path), sysfs=all_counters())
    exported = scraped(folder)
    assert sample(exported, "node_textfile_scrape_error") == 0
    written = [line for line in path.read_text().splitlines() if line[0] != "#"]
    assert len(written) > 30
    for line in written:
        name, value = line.rsplit(" ", 1)
        labels = name.partition("{")[2].rstrip("}")
        found = [
            one
            for one in exported.splitlines()
            if one.startswith(name.partition("{")[0])
            and all(label in one for label in labels.split(",") if label)
        ]
        assert any(float(one.rsplit(" ", 1)[1]) == float(value) for one in found), line


def test_metrics_file_is_replaced(node, tmp_path):
    """The textfile collector never sees a part of it; the mode is the old file's."""
    path = tmp_path / "ipoib.prom"
    node.run("--format", "prometheus", "-o", str(path))
    assert node.out == "" and path.stat().st_mode & 0o777 == 0o666 & ~umask()
    first = path.stat().st_ino
    path.chmod(0o640)
    node.run("--format", "prometheus", "-o", str(path))
    assert path.stat().st_ino != first and path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir() if "prom" in p.name] == ["ipoib.prom"]


def umask():
    old = os.umask(0o022)
    os.umask(old)
    return old


def test_full_disk_keeps_the_old_metrics(node, tmp_path):
    """The line is on standard output then; the exit status is 2."""
    path = tmp_path / "ipoib.prom"
    path.write_text("old\n")
    limit = room.command(1000)
    node.run("--format", "prometheus", "-o", str(path), before=limit)
    assert (node.status, node.out, path.read_text()) == (2, OK, "old\n")
    assert "ipoib.prom" in node.err
    assert [p.name for p in tmp_path.iterdir() if "prom" in p.name] == ["ipoib.prom"]


def test_full_disk_of_the_state(node):
    """It is said, and the old state stays."""
    node.run(sysfs=counter(3))
    before = state_of(node)
    node.run(sysfs=counter(5), before=room.command(20))
    assert "the state for the next run cannot be written" in node.err and state_of(node) == before
    assert node.out.startswith("degraded: ") and os.listdir(node.state) == ["node"]


# --- options


def test_delay(node):
    begin = time.monotonic()
    node.run("--delay-up-to", "1").expect(0, OK)
    assert time.monotonic() - begin < 20


def test_signal_ends_the_delay(tmp_path):
    with subprocess.Popen(
        [PROBE, "--state", str(tmp_path / "s"), "--delay-up-to", "86400", "node"],
        stdout=subprocess.PIPE,
    ) as process:
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=20)[0] == b""
        assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--nagios", "fabric"], "are for the target node"),
        (["--delay-up-to", "5", "10.0.0.1"], "are for the target node"),
        (["node", "fabric"], "is tested alone"),
        (["-p", "1", "node"], "name it with --device"),
        (["-w", "x", "node"], "not for the target node"),
        (["--only", "fabric.join", "node"], "not for the target node"),
        (["--delay-up-to", "0", "node"], "--delay-up-to"),
    ],
)
def test_wrong_usage(arguments, words):
    done = subprocess.run([PROBE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == (3 if "--nagios" in arguments else 2) and words in done.stderr


def test_dry_run_names_the_one_request():
    done = subprocess.run([PROBE, "-n", "node"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines() if "SA Get" in line] == [
        "node.group"
    ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture with the firmware's sniffer of InfiniBand ports, on a played library of mstflint
(tests/capture/replay/mstflint.c) and played devices.

Expected: mstflint's sources of May 2026 (ibdump/ibdump.c, tools_layouts/icmd_layouts.c): the calls,
their order, and the 16 bytes of the command, written by hand."""
import contextlib
import errno
import fcntl
import functools
import glob
import os
import platform
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import time

import pytest

from support import wait
from support.capture import ALL, CAPTURE, FED, Running, contents, fed, frames_of, run, start
from support.capture import REPLAY, SIZE, summary
from support import capfile
from support.paths import SRC
from support.firmware import COUNT, LOCKS, PCI, QPN, RECORDS, Machine
from support.firmware import adapter_of_real_mstflint, libibverbs_is_played, own_run_and_tmp
from support.firmware import root_whose_tmp_is_a_link


@pytest.fixture(scope="module", autouse=True)
def fixture_own_run_and_tmp():
    own_run_and_tmp()


@pytest.fixture(name="machine")
def fixture_machine(fixture_own_run_and_tmp, folder):  # pylint: disable=unused-argument
    return Machine()


OPEN = [f"mopen {PCI}", "mread4 0xf0014"]
UNLOCK = ["mread4 0xf0014", "mwrite4 0x23f0 0xbadc0ffe"]
# word 1: bit 16 attach, bit 0 received; word 2: the port in the highest byte; word 3: the QPN
ATTACH_SENT = "icmd 0xc002 00000000 00010000 01000000 00000111 0"
ATTACH_RECEIVED = "icmd 0xc002 00000000 00010001 01000000 00000111 0"
DETACH_SENT = "icmd 0xc002 00000000 00000000 01000000 00000111 0"
DETACH_RECEIVED = "icmd 0xc002 00000000 00000001 01000000 00000111 0"
ATTACH, DETACH = [ATTACH_SENT, ATTACH_RECEIVED], [DETACH_SENT, DETACH_RECEIVED]
WHOLE = [*OPEN, *UNLOCK, *ATTACH, *UNLOCK, *DETACH, "mclose"]


# --- the order of calls


def test_calls_of_a_capture_are_ibdumps_one_by_one(machine):
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(
        0, summary(COUNT, SIZE, 0)
    )
    assert machine.calls() == WHOLE
    assert frames_of("f.pcap") == fed()
    assert machine.record() == "" and not machine.is_attached()


@pytest.mark.parametrize(
    "option, attach, detach",
    [("tx", ATTACH_SENT, DETACH_SENT), ("rx", ATTACH_RECEIVED, DETACH_RECEIVED)],
)
def test_one_direction_attaches_only_that(machine, option, attach, detach):
    arguments = machine.options("-w", "f.pcap", "-I", option, "--duration", "0.5")
    run(machine.scenario(), *arguments).expect(0)
    assert machine.calls() == [*OPEN, *UNLOCK, attach, *UNLOCK, detach, "mclose"]


def test_port_is_in_the_command(machine):
    scenario = machine.scenario("ports 2\n" + FED)
    run(scenario, *machine.options("-w", "f.pcap", "-i", "2"), *ALL).expect(0)
    assert machine.calls()[4] == "icmd 0xc002 00000000 00010000 02000000 00000111 0"


KNOWN = {0x209: 0x23F0, 0x20B: 0x23F0, 0x20D: 0x23F0, 0x20F: 0x23F0, 0x212: 0x23F0, 0x214: 0x23F0}
KNOWN |= {0x218: 0x23F0, 0x21C: 0x23F0, 0x21E: 0x1A023F0, 0x224: 0x1A023F0}


@pytest.mark.parametrize("hardware_id", KNOWN, ids=hex)
def test_word_of_each_known_adapter(machine, hardware_id):
    machine.play(f"id {0x10000 | hardware_id:#x}")
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0)
    assert machine.calls()[3] == f"mwrite4 {KNOWN[hardware_id]:#x} 0xbadc0ffe"


def test_verbs_is_the_default_elsewhere(machine):
    scenario = "device mlx4_0\n" + FED
    run(scenario, *machine.options("-w", "f.pcap"), *ALL).expect(0)
    run(
        "device mlx5_0\nport active ethernet\n" + FED, *machine.options("-w", "f.pcap"), *ALL
    ).expect(0)
    run(
        "device mlx5_0\n" + FED, *machine.options("-w", "f.pcap", "--sniffer", "verbs"), *ALL
    ).expect(0)
    assert machine.calls() == []


def test_library_is_not_in_the_capture(machine):
    process = start(machine.scenario("synthetic 100\nrate 100\n"), *machine.options("-w", "f.pcap"))
    process.wait_until(machine.is_attached, "it captures")
    with open(f"/proc/{process.pid}/maps", encoding="ascii") as f:
        assert "ccmdif" not in f.read()
    process.end(signal.SIGINT).expect(0)
    assert machine.calls() == WHOLE


# --- refusals, before anything is written to the adapter or the file


def refused(machine, *patterns, scenario=None, options=None):
    """A capture that is refused: nothing is attached, and an old file stays."""
    with open("old.pcap", "w", encoding="ascii") as f:
        f.write("old")
    result = run(
        scenario or machine.scenario(FED),
        *(options or machine.options()),
        "-w",
        "old.pcap",
        "--duration",
        "3",
    )
    result.expect(1, *patterns)
    with open("old.pcap", encoding="ascii") as f:
        assert f.read() == "old"
    assert not machine.is_attached() and machine.record() == ""
    return result


@pytest.mark.parametrize("hardware_id, text", [
    (0x1FF, "hardware id 0x1ff, which is not in the list"), (0x220, "not in the list"),
    (0x216, "not in the list"), (0xBAD0CAFE, "restricted mode"), (0xFFFFFFFF, "does not answer"),
], ids=lambda v: hex(v) if isinstance(v, int) else "")  # fmt: skip
def test_nothing_is_written_to_an_unknown_adapter(machine, hardware_id, text):
    machine.play(f"id {hardware_id:#x}")
    refused(machine, f"mlx5_0 port 1: .*{text}")
    assert machine.calls() == [*OPEN, "mclose"]


@pytest.mark.parametrize("number, text", [
    (errno.ENOENT, "mount the host's /sys"), (errno.ENOTSUP, "install a newer mstflint"),
    (errno.EPERM, "mstflint cannot open the adapter"), (0, "no reason given"),
])  # fmt: skip
def test_mopen_that_fails_says_what_to_do(machine, number, text):
    machine.play(f"open {number}")
    refused(machine, text)


def test_register_that_cannot_be_read(machine):
    refused(machine.play("read 1"), "registers cannot be accessed")
    assert machine.calls() == [*OPEN, "mclose"]


def test_register_that_cannot_be_written(machine):
    refused(machine.play("write 1"), "registers cannot be accessed")
    assert machine.calls() == [*OPEN, *UNLOCK, "mclose"]


@pytest.mark.parametrize("code, text", [
    (0x201, "does not know the command: update"), (0x205, "busy: end other firmware tools"),
    (0x206, "cannot reach the adapter's command interface"),
    (0x207, "mstflint cannot send firmware commands to this adapter: install a newer mstflint"),
    (0x208, "busy"), (0x20A, "busy"), (0x203, "another sniffer"),
    (0x20C, "does not know the version of the .* interface: install a newer mstflint"),
    (0x211, "busy"), (0x20E, "no memory for commands"), (0x20F, "may be in a restricted mode.*mstprivhost"),
], ids=lambda v: hex(v) if isinstance(v, int) else "")  # fmt: skip
def test_refused_command_says_what_to_do(machine, code, text):
    refused(
        machine.play(f"status 1 {code}"), f"{text}.*; without the sniffer, use --mode multicast"
    )
    assert machine.calls() == [*OPEN, *UNLOCK, ATTACH_SENT, "mclose"]


UNKNOWN_OUTCOMES = [
    (0x200, "registers cannot be accessed"), (0x209, "does not complete"),
    (0x20D, "reason that is not known: look for .*error 0x20d"), (0x999, "error 0x999"),
]  # fmt: skip


@pytest.mark.parametrize("code, text", UNKNOWN_OUTCOMES, ids=[hex(u[0]) for u in UNKNOWN_OUTCOMES])
def test_command_of_unknown_outcome_is_undone(machine, code, text):
    refused(machine.play(f"status 1 {code}"), text)
    assert machine.calls() == [*OPEN, *UNLOCK, ATTACH_SENT, *UNLOCK, DETACH_SENT, "mclose"]


def test_command_of_unknown_outcome_that_cannot_be_undone_stays_recorded(machine):
    machine.play("obeys 1", "status 1 0x209", "status 2 0x205", "status 3 0x205")
    run(machine.scenario(FED), *machine.options("-w", "f.pcap")).expect(
        1, "may still be copied.*does not complete"
    )
    assert machine.is_attached() and machine.record().split()[2:] == [str(QPN), "1", "0"]


def test_first_direction_is_detached_if_the_second_is_refused(machine):
    refused(machine.play("status 2 0x205"), "busy")
    assert machine.calls() == [*OPEN, *UNLOCK, *ATTACH, *UNLOCK, DETACH_SENT, "mclose"]


def test_first_direction_that_cannot_be_detached_then_is_reported(machine):
    machine.play("status 2 0x205", "status 3 0x205", "status 4 0x205")
    run(machine.scenario(FED), *machine.options("-w", "f.pcap")).expect(1, "still be copied.*busy")
    assert machine.record().split()[2:] == [str(QPN), "1", "0"]


def test_library_of_another_version(machine):
    other = shutil.copy(os.path.join(REPLAY, "mstflint", "other.so"), machine.folder)
    refused(machine, r"has no icmd_send_command\(\): install another version", options=(
        "--mstflint-library", other))  # fmt: skip


def test_library_that_is_missing(machine):
    refused(
        machine,
        "/run/mst/none.so: No such file",
        options=("--mstflint-library", "/run/mst/none.so"),
    )
    installed = glob.glob("/usr/lib*/mstflint/python_tools/ccmdif.so") + glob.glob(
        "/usr/lib/*/mstflint/python_tools/ccmdif.so"
    )
    if not installed:
        refused(machine, "install the package mstflint", options=("-s",))


def test_file_that_is_no_library(machine):
    machine.put(machine.library, "text")
    refused(machine, "cannot be loaded")


def test_virtual_function(machine):
    os.symlink("/run", f"{machine.function}/physfn")
    refused(machine, "virtual function.*physical function")
    assert machine.calls() == []


@pytest.mark.parametrize("other, advice", [
    ("mlx5_0", "capture on -d mlx5_0"), (None, "capture on the adapter's other device"),
])  # fmt: skip
def test_smi_part_of_an_adapter_with_planes(machine, other, advice):
    folder = f"{machine.function}/infiniband"
    shutil.copytree(f"{folder}/mlx5_0", f"{folder}/smi1", symlinks=True)
    if not other:
        shutil.rmtree(f"{folder}/mlx5_0")
    refused(machine, advice, scenario=f"device smi1\nsysfs {folder}/smi1\n{FED}")
    assert machine.calls() == []


def test_device_without_a_pci_function(machine):
    device = f"{machine.function}/infiniband/mlx5_0/device"
    os.unlink(device)
    refused(machine, "not in sysfs.*container")
    os.makedirs(f"{machine.function}/mlx5_core.sf.4")
    os.symlink("/sys/bus/pci/drivers/mlx5_core", f"{machine.function}/mlx5_core.sf.4/driver")
    os.symlink(f"{machine.function}/mlx5_core.sf.4", device)
    refused(machine, "mlx5_core.sf.4 is no PCI function")


def test_firmware_is_for_infiniband_ports_of_mlx5(machine):
    for scenario in ("device mlx4_0\n", "device mlx5_0\nport active ethernet\n"):
        options = machine.options("--sniffer", "firmware")
        run(scenario, *options, "-w", "f.pcap").expect(1, "use --sniffer verbs")


# --- the privileges


@pytest.mark.parametrize("path, change", [
    ("/run/mst/ccmdif.so", lambda p: os.chown(p, 1, 1)),
    ("/run/mst/ccmdif.so", lambda p: os.chmod(p, 0o775)),
    ("/run/mst/ccmdif.so", lambda p: os.chmod(p, 0o757)),
    ("/run/mst", lambda p: os.chown(p, 1, 0)),
    ("/run/mst", lambda p: os.chmod(p, 0o775)),
    ("/run/mst", lambda p: os.chmod(p, 0o1777)),
], ids=["owner", "group", "others", "folder's owner", "folder's group", "sticky folder"])  # fmt: skip
def test_library_that_others_can_change_is_refused(machine, path, change):
    change(path)
    refused(machine, f"{path}( belongs to another user|.*mode|)")
    assert machine.calls() == []


def test_link_to_a_library_of_another_user_is_refused(machine):
    os.makedirs("/tmp/user")
    hostile = shutil.copy(machine.library, "/tmp/user/ccmdif.so")
    os.symlink(hostile, "/run/mst/link.so")
    refused(machine, "/tmp.*mode 1777", options=("--mstflint-library", "/run/mst/link.so"))
    assert not os.path.exists("/tmp/user/calls")


def test_relative_path_is_refused(machine):
    refused(machine, "not an absolute path", options=("--mstflint-library", "ccmdif.so"))


def test_library_sees_no_environment(machine, monkeypatch):
    for name in ("CONNECTX_FLUSH", "MFT_DEBUG", "LD_PRELOAD_NOT", "MFT_CMD_SLEEP"):
        monkeypatch.setenv(name, "hostile")
    process = start(machine.scenario(), *machine.options("-w", "f.pcap"))
    process.wait_until(machine.is_attached, "it captures")
    with open(f"/proc/{helper_of(process)}/environ", "rb") as f:
        assert f.read() == b""
    assert "played mstflint" not in process.end(signal.SIGINT).expect(0).err


@pytest.mark.parametrize("folder_of_locks", [
    lambda: os.mkdir(LOCKS, 0o700) or os.chown(LOCKS, 1, 1),
    lambda: os.mkdir(LOCKS) or os.chmod(LOCKS, 0o777),
    lambda: os.mkdir(LOCKS) or os.chmod(LOCKS, 0o1777),
    lambda: os.symlink("/run", LOCKS),
    lambda: os.mkdir(LOCKS) or os.symlink("/run/x", f"{LOCKS}/{PCI}_config"),
], ids=["another user's", "writable", "sticky", "a link", "a link in it"])  # fmt: skip
def test_lock_folder_that_is_not_roots_is_refused(machine, folder_of_locks):
    folder_of_locks()
    refused(machine, "mstflint_lockfiles")
    assert machine.calls() == []
    if os.path.islink(LOCKS):
        os.unlink(LOCKS)


@pytest.mark.parametrize("mode", [0o777, 0o775], ids=oct)
def test_parent_of_the_lock_folder_must_be_roots(machine, mode):
    os.chmod("/tmp", mode)
    try:
        refused(machine, r"/tmp must belong to root and have the sticky bit: .*chmod 1777 /tmp")
    finally:
        os.chmod("/tmp", 0o1777)
    assert machine.calls() == []


def test_parent_of_the_lock_folder_must_be_no_link(machine):
    program = shutil.copy(CAPTURE, machine.folder)  # the tree and this folder may be in /tmp
    with contextlib.chdir(machine.folder), libibverbs_is_played():
        before = functools.partial(enter, root_whose_tmp_is_a_link(), machine.folder)
        command = [program, *machine.options("-w", "f.pcap")]
        result = Running(machine.scenario("synthetic 100\n"), command=command, before=before).end()
    result.expect(1, "/tmp must be a folder, and no link")
    assert machine.calls() == []


def test_lock_folder_is_roots_alone(machine):
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0)
    assert stat.S_IMODE(os.stat(LOCKS).st_mode) == 0o700


def enter(root, folder):
    os.chroot(root)
    os.chdir(folder)


def as_user():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def test_other_users_are_told_to_be_root(machine):
    os.chmod(".", 0o777)
    result = run(machine.scenario(FED), *machine.options("-w", "f.pcap"), before=as_user)
    result.expect(1, r"needs root: run ipoib-capture as root \(sudo\)")
    assert "; without the sniffer, use --mode multicast" in result.err
    assert machine.calls() == []


@pytest.mark.parametrize("limit", [1 << 16, 1 << 23])
def test_other_users_are_not_told_to_lock_more_memory(machine, limit):
    os.chmod(".", 0o777)

    def as_limited_user():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
        as_user()

    scenario = machine.scenario("memlock on\n" + FED)
    result = run(scenario, *machine.options("-w", "f.pcap"), before=as_limited_user)
    assert result.expect(1, "^ipoib-capture: mlx5_0 port 1: .*needs root").err.count("\n") == 1


@pytest.mark.parametrize("step", ["qp-ud", "init", "rtr"])
def test_root_without_a_right_is_not_told_to_use_file_capabilities(machine, step):
    scenario = machine.scenario(f"fail {step} EPERM\n" + FED)
    result = run(scenario, *machine.options("-w", "f.pcap")).expect(1, "with all capabilities")
    assert "setcap" not in result.err


@pytest.fixture(name="capable")
def fixture_capable(machine):  # pylint: disable=unused-argument
    """A copy of the program with file capabilities, and a folder in which everyone may write."""
    os.chmod(".", 0o777)
    program = shutil.copy(CAPTURE, "/run/ipoib-capture-capable")
    if os.system(f"setcap cap_net_raw,cap_sys_admin,cap_dac_override+ep {program}") != 0:
        pytest.skip("needs setcap: apt install libcap2-bin")
    return program


def of_user(scenario, *command):
    """Runs it as an ordinary user, on the played devices."""
    with libibverbs_is_played():
        return Running(scenario, command=command, before=as_user).end()


NOT_ENOUGH = (
    r"needs root: file capabilities \(setcap\) are not enough for it: run ipoib-capture as root"
)


def test_file_capabilities_are_not_enough(machine, capable):
    result = of_user(machine.scenario(), capable, *machine.options("-w", "f.pcap"))
    result.expect(1, NOT_ENOUGH, "; without the sniffer, use --mode multicast")
    assert not os.path.exists("f.pcap")
    result = of_user(machine.scenario(), capable, "--list", "--mstflint-library", machine.library)
    assert re.search(f"no \\(firmware\\): .*{NOT_ENOUGH}", result.expect(0).out.decode())
    # the same program as the same user can capture where the kernel starts the sniffer
    verbs = machine.options("-w", "v.pcap", "--sniffer", "verbs", "--count", str(COUNT))
    of_user("device mlx5_0\n" + FED, capable, *verbs).expect(0, summary(COUNT, SIZE, 0))
    assert machine.calls() == [] and not os.path.exists(RECORDS) and not os.path.exists(LOCKS)


def test_file_capabilities_do_not_start_the_second_process(machine, capable):
    command = (capable, "attach-sniffer", PCI, "1", "both", machine.library, "1")
    assert of_user(machine.scenario(), *command).status == 1
    assert machine.calls() == [] and not os.path.exists(LOCKS)


def test_file_capabilities_do_not_start_ibdump(machine, capable):
    Machine.put("/run/mst/ibdump", "#!/bin/sh\ntouch /run/mst/started\n")
    os.chmod("/run/mst/ibdump", 0o755)
    result = of_user(
        machine.scenario(), capable, "--sniffer", "ibdump", "--ibdump", "/run/mst/ibdump"
    )
    result.expect(1, r"ibdump needs root: run ipoib-capture as root \(sudo\)")
    assert not os.path.exists("/run/mst/started")


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except FileNotFoundError:  # it has ended
        return []


def helper_of(process):
    """The process ID of the capture's second process."""
    (child,) = children_of(process.pid)
    return child


def is_locked():
    """Whether a second process has the port's record."""
    for path in glob.glob(f"{RECORDS}/sniffer-*"):
        with open(path, "rb") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


# --- faults


def capturing(machine, *more):
    process = start(
        machine.scenario("synthetic 100\nrate 1000\n"), *machine.options("-w", "f.pcap"), *more
    )
    return process.wait_until(machine.is_attached, "it captures") and process


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM], ids=lambda s: s.name)
def test_sniffer_is_detached_after_the_capture_was_killed(machine, sig):
    process = capturing(machine)
    process.end(sig)
    wait.until(lambda: machine.calls()[-1] == "mclose", "it is detached", 20)
    assert machine.calls() == WHOLE and machine.record() == ""


def kill_both(machine):
    process = capturing(machine)
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(helper_of(process), signal.SIGKILL)
    process.kill()
    assert machine.is_attached()
    machine.forget_calls()


LEFT = [*UNLOCK, *DETACH]


def record_of_any_start(path):
    """A record without the identifier of this start of the machine."""
    with open(path, encoding="ascii") as f:
        return f.read()[36:]


def test_next_start_detaches_what_both_killed_processes_left(machine):
    kill_both(machine)
    assert machine.record().split()[2:] == [str(QPN), "1", "1"]
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(
        0, "an earlier capture was killed with its second process"
    )
    assert machine.calls() == [*OPEN, *LEFT, *WHOLE[2:]]


def test_record_that_was_written_over_a_longer_one_counts(machine):
    # as if the second process was killed before it could cut the rest off
    kill_both(machine)
    (path,) = glob.glob(f"{RECORDS}/sniffer-*")
    Machine.put(path, machine.record() + "1 1\n" + "nonsense\n" * 1000)
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0, "is detached")
    assert machine.calls() == [*OPEN, *LEFT, *WHOLE[2:]] and machine.record() == ""


def test_what_was_left_and_cannot_be_detached_stays_recorded(machine):
    kill_both(machine)
    record = machine.record()
    machine.play(*(f"status {n} 0x205" for n in range(1, 5)))
    result = run(machine.scenario(FED), *machine.options("-w", "g.pcap"), *ALL)
    result.expect(
        1, "that an earlier capture left attached cannot be detached: .*busy.* remove /run"
    )
    assert not [c for c in machine.calls() if c in ATTACH]
    assert machine.record() == record and not os.path.exists("g.pcap")
    machine.play()
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0, "is detached")
    assert machine.record() == ""


def test_what_was_left_before_the_driver_was_loaded_again_is_gone(machine):
    kill_both(machine)
    folder = f"{machine.function}/infiniband/mlx5_0"
    shutil.copytree(folder, f"{folder}.new", symlinks=True)
    os.rename(folder, f"{folder}.old")
    os.rename(f"{folder}.new", folder)
    result = run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0)
    assert "earlier" not in result.err
    assert machine.calls() == WHOLE


@pytest.mark.parametrize("change", [
    lambda path: os.unlink(path),
    lambda path: Machine.put(path, "0" * 36 + record_of_any_start(path)),
    lambda path: Machine.put(path, "nonsense"),
    lambda path: Machine.put(path, ""),
    lambda path: os.truncate(path, os.path.getsize(path) - 1),
    lambda path: Machine.put(path, "1" * 10**6),
], ids=["no record", "of an earlier start of the machine", "nonsense", "empty", "cut", "huge"])  # fmt: skip
def test_sniffer_without_an_own_record_is_not_detached(machine, change):
    kill_both(machine)
    change(glob.glob(f"{RECORDS}/sniffer-*")[0])
    result = run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0)
    assert "earlier" not in result.err
    assert machine.calls() == WHOLE


@pytest.mark.parametrize("forge", [
    lambda path: os.chown(RECORDS, 1, 1),
    lambda path: os.chmod(RECORDS, 0o777),
    lambda path: os.chown(path, 1, 1),
    lambda path: os.chmod(path, 0o666),
    lambda path: os.link(path, "/run/other"),
    lambda path: os.rename(path, "/run/other") or os.symlink("/run/other", path),
], ids=["folder's owner", "folder's mode", "owner", "mode", "hard link", "link"])  # fmt: skip
def test_forged_record_is_refused(machine, forge):
    kill_both(machine)
    forge(glob.glob(f"{RECORDS}/sniffer-*")[0])
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(1, RECORDS)
    assert machine.calls() == []
    for path in glob.glob("/run/other"):
        os.unlink(path)


ROUNDS = 6
VICTIMS = ["capture", "second process", "both"]


def end_roughly(process, victim):
    """Kills the capture, its second process, or both at once, whatever they do."""
    helpers = children_of(process.pid)
    os.kill(process.pid, signal.SIGSTOP)
    if victim != "capture":
        for helper in helpers:
            os.kill(helper, signal.SIGKILL)
    if victim != "second process":
        process.kill()
        return
    os.kill(process.pid, signal.SIGCONT)
    process.end()


@pytest.mark.parametrize("victim", VICTIMS)
def test_kill_at_any_moment_leaves_nothing_that_is_not_recorded(machine, victim):
    chance = random.Random(victim)
    for _ in range(ROUNDS):
        process = start(machine.scenario("synthetic 100\n"), *machine.options("-w", "k.pcap"))
        time.sleep(chance.random() * 0.15)
        end_roughly(process, victim)
        wait.until(lambda: not is_locked(), "the second process has ended", 20)
        assert not machine.is_attached() or machine.record().split()[2:] == [str(QPN), "1", "1"]
        run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL).expect(0)
        assert not machine.is_attached() and machine.record() == ""


def test_second_capture_on_the_port_is_refused(machine):
    first = capturing(machine)
    machine.forget_calls()
    run(machine.scenario(FED), *machine.options("-w", "g.pcap")).expect(
        1, "another ipoib-capture has the sniffer of this port"
    )
    assert machine.calls() == [] and machine.is_attached()
    first.end(signal.SIGINT).expect(0)
    assert machine.record() == ""


def test_capture_whose_second_process_is_killed_ends(machine):
    process = capturing(machine)
    os.kill(helper_of(process), signal.SIGKILL)
    process.end().expect(1, "the process that attaches the sniffer has ended")


def test_signal_for_all_processes_detaches_too(machine):
    # as a service manager sends it, here to the second process first
    process = capturing(machine)
    os.kill(helper_of(process), signal.SIGTERM)
    time.sleep(0.3)
    process.end(signal.SIGTERM).expect(0)
    assert machine.calls() == WHOLE and machine.record() == ""


def descriptors_of(pid):
    """What each descriptor of a process leads to."""
    folder = f"/proc/{pid}/fd"
    return {int(n): os.readlink(f"{folder}/{n}") for n in os.listdir(folder)}


def test_second_process_has_its_socket_and_the_device(machine):
    # the device: the kernel keeps the queue pair until the sniffer is detached
    inherited = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inherited, True)
    process = start(
        machine.scenario("synthetic 100\nrate 1000\n"),
        *machine.options("-w", "f.pcap"),
        pass_fds=(inherited,),
    )
    process.wait_until(machine.is_attached, "it captures")
    found = descriptors_of(helper_of(process))
    lock = f"{RECORDS}/sniffer-{PCI}-1"
    others = {n: to for n, to in found.items() if n > 3 and to != lock}
    assert found[0].startswith("socket:") and found[1] == found[2] == "/dev/null"
    assert found[3].startswith("/memfd:uverbs") and others == {}
    process.end(signal.SIGINT).expect(0)
    os.close(inherited)


def test_device_is_open_until_a_slow_library_has_detached(machine):
    machine.play("hang 3")
    process = capturing(machine)
    helper = helper_of(process)
    process.end(signal.SIGKILL)
    wait.until(lambda: machine.calls()[-1] == DETACH_SENT, "it detaches", 20)
    assert descriptors_of(helper)[3].startswith("/memfd:uverbs")
    run(machine.scenario(FED), *machine.options("-w", "g.pcap")).expect(
        1, "another ipoib-capture has .* its second process still detaches the sniffer: wait"
    )
    os.kill(helper, signal.SIGKILL)


def test_parent_that_ignores_the_end_of_children(machine):
    machine.play("status 3 0x205", "status 5 0x205")
    before = functools.partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
    clock = wait.Clock()
    run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL, before=before).expect(1)
    assert clock.seconds() < 15


def test_crash_in_the_library_says_that_nothing_is_attached(machine):
    refused(machine.play("crash"), "has crashed in mstflint's library.*nothing is attached")


def test_sniffer_that_cannot_be_detached_is_reported(machine):
    machine.play("status 3 0x205", "status 5 0x205")
    result = run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL)
    # the device stays open, and LeakSanitizer has a word about the played device's thread at the end
    result.expect(1, "cannot be detached: .*busy", f"{COUNT} packets, {SIZE} octets, 0 drops\n")
    assert frames_of("f.pcap") == fed()
    # the received direction is detached although the other is not; what stays is recorded
    assert machine.calls()[8:10] == DETACH
    assert machine.record().split()[2:] == [str(QPN), "1", "0"]


def test_adapter_that_disappears_is_not_written_to(machine):
    machine.play("gone 3")
    scenario = machine.scenario("synthetic 100\nrate 1000\nafter 300 remove\n")
    run(scenario, *machine.options("-w", "f.pcap")).expect(1, "the device was removed")
    assert machine.calls() == [
        *OPEN,
        *UNLOCK,
        *ATTACH,
        "mread4 0xf0014",
        "mread4 0xf0014",
        "mclose",
    ]


def with_a_leaping_clock(machine, monkeypatch):
    """The clock of programs that start from now on leaps when the library hangs
    (tests/capture/replay/leaping_clock.c), so that nearly all of the 20 s for a step are over."""
    monkeypatch.setenv("LD_PRELOAD", os.path.join(REPLAY, "leaping-clock.so"))
    monkeypatch.setenv("IPOIB_LEAP", f"{machine.folder}/hangs")
    options = os.environ.get("ASAN_OPTIONS", "")
    monkeypatch.setenv("ASAN_OPTIONS", f"{options}:verify_asan_link_order=0")


@pytest.mark.parametrize("what, step", [("open", "open"), ("command", "attach"), ("3", "detach")])
def test_library_that_hangs_does_not_hold_the_capture(machine, monkeypatch, what, step):
    machine.play(f"hang {what}")
    with_a_leaping_clock(machine, monkeypatch)
    clock = wait.Clock()
    result = run(machine.scenario(FED), *machine.options("-w", "f.pcap"), *ALL)
    result.expect(1, rf"mstflint's library does not answer \({step}, process \d+\)")
    background = (
        "nothing is attached" if step == "open" else "detaches the sniffer in the background"
    )
    assert background in result.err
    assert clock.seconds() < 40


def test_signal_ends_the_wait_for_a_library_that_hangs(machine):
    machine.play("hang open")
    process = start(machine.scenario(FED), *machine.options("-w", "f.pcap"))
    process.wait_until(machine.calls, "it opens the adapter")
    clock = wait.Clock()
    result = process.end(signal.SIGINT)
    assert result.status == 130 and clock.seconds() < 5, result.err


def test_queue_pair_that_fails_gets_the_sniffer_again(machine):
    scenario = machine.scenario("synthetic 100\nrate 10000\ntotal 6000\nat 2000 qp-error\n")
    arguments = machine.options("-w", "f.pcap", "--duration", "1.5")
    run(scenario, *arguments).expect(1, "created again", "failed 1 time")
    assert machine.calls() == [*OPEN, *UNLOCK, *ATTACH, *UNLOCK, *DETACH, *WHOLE[2:]]


def test_fifo_is_opened_before_the_sniffer_is_attached(machine):
    os.mkfifo("pipe")
    process = start(machine.scenario(FED), *machine.options("-w", "pipe"), *ALL)
    process.wait_until(lambda: machine.calls() == OPEN, "it waits for the reader")
    with open("pipe", "rb") as f:
        frames = contents(capfile.parse(f.read()))
    process.end().expect(0)
    assert frames == fed()
    assert machine.calls() == WHOLE


# --- Debian's mstflint


def test_real_library_is_loaded_and_finds_no_such_adapter(machine):
    places = glob.glob("/usr/lib/*/mstflint/python_tools/ccmdif.so")
    if not places:
        pytest.skip("needs mstflint: script/bootstrap --with test")
    text = "mstflint does not find the adapter's PCI function"
    refused(machine, text, options=("-s",))
    refused(machine, text, options=("-s", "--mstflint-library", places[0]))
    out = run(machine.scenario(), "--list").expect(0).out.decode()
    assert f"sniffer   no (firmware): {text}" in out
    assert os.listdir(LOCKS) == [f"{PCI}_mem"], "the library's lock file is where it was looked for"
    assert stat.S_IMODE(os.stat(f"{LOCKS}/{PCI}_mem").st_mode) & 0o077 == 0


@pytest.fixture(name="real")
def fixture_real(machine):  # pylint: disable=unused-argument
    """The real library, where the playing of an adapter's registers reaches it."""
    if platform.machine() != "x86_64":
        pytest.skip("an adapter's registers can be played on x86-64 only")
    places = glob.glob("/usr/lib/*/mstflint/python_tools/ccmdif.so")
    if not places:
        pytest.skip("needs mstflint: script/bootstrap --with test")
    return places[0]


def with_real_mstflint(machine, real, adapter):
    scenario = machine.scenario().replace("/run/mst/attached", f"{adapter.FOLDER}/attached") + FED
    arguments = ("-s", "--mstflint-library", real, "-w", "f.pcap", "--duration", "15", *ALL)
    return run(scenario, *arguments)


UNLOCK_WORD = "mwrite4 0x23f0 0xbadc0ffe"


# not ConnectX-9, which Debian 12's library does not know
@pytest.mark.parametrize("hardware_id", sorted(KNOWN)[:-1], ids=hex)
def test_real_library_writes_the_commands_into_the_registers(machine, real, hardware_id):
    unlock = f"mwrite4 {KNOWN[hardware_id]:#x} 0xbadc0ffe"
    with adapter_of_real_mstflint(hardware_id=hardware_id) as adapter:
        with_real_mstflint(machine, real, adapter).expect(0, summary(COUNT, SIZE, 0))
        assert adapter.calls() == [unlock, *ATTACH, unlock, *DETACH]
    assert frames_of("f.pcap") == fed() and machine.record() == ""


# the statuses of the firmware, which the library translates
@pytest.mark.parametrize("status, text", [
    (1, "does not know the command"), (2, "does not know the command"), (3, "another sniffer"),
    (4, "another sniffer"), (5, "busy"), (6, "no memory for commands"), (7, "restricted mode"),
])  # fmt: skip
def test_real_library_refuses_as_the_adapter_does(machine, real, status, text):
    with adapter_of_real_mstflint(status) as adapter:
        with_real_mstflint(machine, real, adapter).expect(1, text)
        assert adapter.calls() == [UNLOCK_WORD, ATTACH_SENT]
    assert machine.record() == ""


def test_real_library_waits_for_no_lock_of_another_tool(machine, real):
    os.mkdir(LOCKS, 0o700)
    with open(f"{LOCKS}/{PCI}_config", "w", encoding="ascii") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with adapter_of_real_mstflint() as adapter:
            with_real_mstflint(machine, real, adapter).expect(
                1, "another firmware tool holds its lock"
            )
            assert adapter.calls() == []


def test_real_library_writes_nothing_to_an_unknown_adapter(machine, real):
    with adapter_of_real_mstflint(hardware_id=0x1FF) as adapter:
        with_real_mstflint(machine, real, adapter).expect(1, "hardware id 0x1ff")
        assert adapter.calls() == []


# --- script/try-hardware


def test_report_about_an_adapter_has_no_addresses(machine):
    scenario = machine.scenario("gid fe80::2:c903:0:1\nlid 7\nsynthetic 100\nrate 100\n")
    command = [
        os.path.join(SRC, "script", "try-hardware"),
        "-d",
        "mlx5_0",
        "-t",
        "1",
        "-n",
        "192.0.2.7",
    ]
    Running(scenario, command=command).end(limit=120).expect(0)
    with open("try-hardware.txt", encoding="utf-8") as f:
        report = f.read()
    for part in (
        "== ports",
        "== sniffer: firmware",
        "== sniffer: verbs",
        "== multicast",
        "== probe",
    ):
        assert part in report, report
    assert "sniffer   no (firmware)" in report or "can be opened (firmware)" in report, report
    for address in ("c903", "192.0.2", "LID 7", os.uname().nodename, "/tmp/"):
        assert address not in report, report


def test_report_hides_each_form_of_an_address():
    host = "node7.a+b.example"
    text = (
        f"{host} node7, DLID 12 SLID 0x1c, lid: 7, LIDs 7 and 9, LIDs 4, 5 to 6;"
        " 02c903000001 0x0002c90300000001 fe80::1 10.0.0.2 00:11:22:33:44:55, mlx5_0 port 1"
    )
    script = os.path.join(SRC, "script", "try-hardware")
    command = (
        f"eval \"$(sed -n '/^any_of()/,/^}}/p; /^anonymous()/,/^}}/p' '{script}')\";"
        f" hostname() {{ [ \"$*\" = -s ] && echo node7 || echo '{host}'; }}; anonymous"
    )
    out = subprocess.run(["bash", "-c", command], input=text, capture_output=True, text=True,
                         check=True).stdout  # fmt: skip
    assert out == (
        "HOST HOST, DLID SLID, lid, LIDs, LIDs; GUID GUID ADDRESS ADDRESS ADDRESS, mlx5_0 port 1"
    )


# --- the list


def listed(machine, *more, **options):
    arguments = ("--list", "--mstflint-library", machine.library, *more)
    return run(machine.scenario(), *arguments, **options).expect(0).out.decode()


def test_list_opens_the_adapter_and_writes_nothing(machine):
    out = listed(machine)
    assert "    sniffer   can be opened (firmware): the command itself is not tried\n" in out
    assert machine.calls() == [*OPEN, "mclose"]


@pytest.mark.parametrize("mtu, mib", [(2048, 128), (4096, 256)])
def test_buffers_are_whole_pages(machine, mtu, mib):
    # ibdump's entries are 4096 bytes up to the MTU 2048, otherwise 8192: 32768 of them
    scenario = machine.scenario(f"mtu {mtu}\n{FED}")
    out = run(scenario, "--list").expect(0).out.decode()
    assert f"    memory    {mib} MiB registered (32768 buffers)" in out
    run(scenario, *machine.options("-w", "f.pcap"), *ALL).expect(0, summary(COUNT, SIZE, 0))


def test_list_says_what_is_missing_and_what_works_instead(machine):
    os.symlink("/run", f"{machine.function}/physfn")
    out = listed(machine)
    assert "    sniffer   no (firmware): it is a virtual function" in out
    assert "    instead   --mode multicast" in out
    os.unlink(f"{machine.function}/physfn")
    machine.play("id 0x1ff")
    assert "    sniffer   no (firmware): the adapter has hardware id 0x1ff" in listed(machine)


def test_list_of_another_user_says_that_root_is_needed(machine):
    os.chmod(".", 0o777)
    assert "no (firmware): the firmware's sniffer needs root" in listed(machine, before=as_user)
    assert machine.calls() == []


def test_list_during_a_capture_says_that_the_sniffer_is_in_use(machine):
    first = capturing(machine)
    assert "no (firmware): another ipoib-capture has the sniffer" in listed(machine)
    first.end(signal.SIGINT).expect(0)
    assert machine.record() == ""

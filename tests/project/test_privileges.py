# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with file capabilities: the limits for the user's environment, and the rights that
remain."""
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import termios

import pytest
from support import wait
from support.needs import needs, needs_own_mounts
from support.paths import BIN, SRC, testdata
from support.played_capture import REPLAY, wait_until
from support.played_capture import fixture_player  # noqa: F401

NOBODY = 65534
ENDING = 20  # seconds

# The library of the user: it reports that it was loaded.
SOURCE = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
    close(open("%s", O_WRONLY | O_CREAT, 0666));
}
"""

# libibverbs looks for a device's file before it loads a driver.
INSIDE = """
set -e
mount -t tmpfs none /dev
mkdir /dev/infiniband
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/infiniband/uverbs0 c 231 192
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
"""


@pytest.fixture(name="place")
def fixture_place():
    """A folder that every user may enter (only the owner may enter pytest's folders)."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for setcap and another user")
    needs_own_mounts()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield folder


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def make_trap(folder):
    """A driver of the user's, and a sysfs with a device that no other driver supports. Returns the
    environment that names them."""
    loaded, source = os.path.join(folder, "loaded"), os.path.join(folder, "trap.c")
    put(source, SOURCE % loaded)
    for name in ("trap-rdmav34.so", "libibumad.so.3"):
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", os.path.join(folder, name), source], check=True
        )
    for path, text in {
        "class/infiniband_verbs/abi_version": "6",
        "class/infiniband_verbs/uverbs0/abi_version": "1",
        "class/infiniband_verbs/uverbs0/ibdev": "trap0",
        "class/infiniband_verbs/uverbs0/dev": "231:192",
        "class/infiniband/trap0/node_type": "1",
    }.items():
        put(os.path.join(folder, "sys", path), text + "\n")
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    trap = os.path.join(folder, "trap")
    environment = {"SYSFS_PATH": os.path.join(folder, "sys"), "LD_LIBRARY_PATH": folder}
    return {**environment, "RDMAV_DRIVERS": trap, "IBV_DRIVERS": trap}, loaded


def run_as_nobody(program, arguments, environment):
    command = ["unshare", "-m", "sh", "-c", INSIDE, "sh", "env"]
    command += [f"{name}={value}" for name, value in environment.items()]
    return wait.run(
        [*command, program, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDING,
    )


@pytest.mark.parametrize(
    "name, arguments", [("ipoib-capture", ["--list"]), ("ipoib-probe", ["fabric"])]
)
def test_library_of_the_user_is_not_loaded(place, name, arguments):
    environment, loaded = make_trap(place)
    program = os.path.join(place, name)
    shutil.copy(os.path.join(BIN, name), program)
    done = run_as_nobody(program, arguments, environment)
    if not os.path.exists(loaded):
        pytest.skip(f"the trap does not work for a program without capabilities: {done.stderr}")
    os.unlink(loaded)
    done = subprocess.run(
        ["setcap", "cap_net_raw+ep", program], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"file capabilities cannot be set here: {done.stderr}")
    done = run_as_nobody(program, arguments, environment)
    assert "device" in done.stdout + done.stderr, "it did not run"
    assert not os.path.exists(loaded)


FLOW = "synthetic 100\nrate 1000\n"
GROUPS = "group ff12:401b:ffff::ffff:ffff 0xc000 0xb1b\n"
RAW, LOCK, FILES = (
    1 << 13,
    1 << 14,
    1 << 1,
)  # capabilities(7): CAP_NET_RAW, _IPC_LOCK, _DAC_OVERRIDE


def words(path):
    """The fields of a status file in /proc."""
    with open(path, encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def threads(pid):
    """The first thread, and the one that writes, which is the last. A thread between them is the
    simulated device's own."""
    numbers = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    return [words(f"/proc/{pid}/task/{n}/status") for n in (numbers[0], numbers[-1])]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(n) for n in f.read().split()]


def capture(player, path, *arguments, scenario=FLOW):
    """A capture whose devices are open: it writes already."""
    if os.geteuid() != 0:
        pytest.skip("needs root, which has capabilities to give back")
    process = player.start(scenario, "-s", "-w", path, *arguments)
    wait_until(
        lambda: os.path.exists(path) and os.path.getsize(path) > 2000 or process.poll() is not None,
        "frames",
    )
    assert process.poll() is None, process.communicate()
    return process


def expect_dropped(status, reserve):
    assert int(status["CapEff"], 16) == 0
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    assert int(status["CapPrm"], 16) & ~reserve == 0
    assert status["NoNewPrivs"] == "1"


def test_capture_gives_its_capabilities_back(player, tmp_path):
    process = capture(player, tmp_path / "out.pcap")
    for status in threads(process.pid):
        expect_dropped(status, RAW | LOCK)
    assert player.end(process, signal.SIGINT)[0] == 0


def test_capture_and_keeper_give_their_capabilities_back(player, tmp_path):
    arguments = ("--mode", "multicast")
    scenario = "lid 9\n" + GROUPS + FLOW
    process = capture(player, tmp_path / "out.pcap", *arguments, scenario=scenario)
    (keeper,) = children(process.pid)
    for status in threads(process.pid):
        expect_dropped(status, RAW | LOCK)
    for status in threads(keeper):
        expect_dropped(status, 0)
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: set(children(process.pid)) - {keeper}, "another keeper")
    (keeper,) = set(children(process.pid)) - {keeper}
    wait_until(lambda: words(f"/proc/{keeper}/status")["CapPrm"] == "0" * 16, "no capabilities")
    assert player.end(process, signal.SIGINT)[0] == 0


def test_series_in_a_folder_of_another_user(player, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a folder away")
    folder = tmp_path / "other"
    folder.mkdir(mode=0o755)
    os.chown(folder, NOBODY, NOBODY)
    options = ("--ring-packets", "100", "--ring-files", "2", "--count", "1000")
    status, _, err = player.run("synthetic 100\n", "-s", "-w", folder / "r.pcap", *options)
    assert status == 0, err
    assert len(os.listdir(folder)) == 2
    process = player.start(FLOW, "-s", "-w", folder / "s.pcap", "--ring-packets", "100")
    wait_until(lambda: len(os.listdir(folder)) > 5, "files")
    for state in threads(process.pid):
        assert int(state["CapPrm"], 16) & ~(RAW | LOCK | FILES) == 0
    assert player.end(process, signal.SIGINT)[0] == 0


def test_queue_pair_that_failed_is_replaced_without_capabilities(player, tmp_path):
    scenario = "synthetic 100\nrate 10000\nat 3000 qp-error\n"
    status, _, err = player.run(scenario, "-s", "-w", tmp_path / "o", "--duration", "1")
    assert status == 1
    assert "the queue pair failed 1 time:" in err
    assert "cannot be" not in err.replace("lost frames cannot be reported", "")


def test_lock_folder_of_another_user_is_refused(player):
    """In a /run/lock of its own: a user without a folder in /run/user, whose lock folder another
    user has made."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for another user")
    needs_own_mounts()
    folder = "/run/lock/ipoib-capture-65534"
    script = (
        f"set -e; mount -t tmpfs -o mode=1777 none /run/lock; mkdir -m 777 {folder}; chown 65533 {folder}\n"
        'exec setpriv --reuid 65534 --regid 65534 --clear-groups env "$@"'
    )
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        environment = player.environment("lid 9\n" + GROUPS + FLOW)
        scenario = shutil.copy(environment["IPOIB_REPLAY"], place)
        shutil.copytree(REPLAY, os.path.join(place, "replay"))
        program = shutil.copy(os.path.join(BIN, "ipoib-capture"), place)
        subprocess.run(["chmod", "-R", "a+rX", place], check=True)
        command = ["unshare", "-m", "sh", "-c", script, "sh", f"IPOIB_REPLAY={scenario}"]
        command += [f"LD_LIBRARY_PATH={place}/replay", program, "--mode", "multicast", "-s"]
        done = wait.run(
            [*command, "-w", os.path.join(place, "o"), "--count", "20"],
            capture_output=True,
            text=True,
            check=False,
            timeout=ENDING,
        )
    assert f"ipoib-capture: {folder}: belongs to another user (uid 65533): remove it" in done.stderr
    assert done.returncode == 0, done.stderr


# --- ipoib-check and convert: files of others are parsed without capabilities

CHECK, CONVERTER = os.path.join(BIN, "ipoib-check"), os.path.join(BIN, "ipoib-capture")
OWNER = 1 << 3  # CAP_FOWNER
OTHER_USER = 61234


class Reader:
    """A program that waits for the second half of its input in a FIFO, and so can be looked at."""

    def __init__(self, folder, *command, **more):
        self.fifo = os.path.join(folder, "fifo")
        os.mkfifo(self.fifo, 0o644)
        command = [self.fifo if a == "FIFO" else str(a) for a in command]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def feed(self, data):
        """The capabilities after the first half of the data was read, then the result."""
        with open(self.fifo, "wb", buffering=0) as f:
            f.write(data[: len(data) // 2])
            wait_until(lambda: self.has_read() or self.process.poll() is not None, "the first half")
            status = words(f"/proc/{self.process.pid}/status")
            f.write(data[len(data) // 2 :])
        out, err = self.process.communicate(timeout=ENDING)
        return status, out, err

    def has_read(self):
        """It has emptied the pipe, and sleeps."""
        with open(self.fifo, "rb", buffering=0, opener=nonblocking) as f:
            left = fcntl.ioctl(f, termios.FIONREAD, bytes(4))
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            state = f.read().rsplit(") ", 1)[1][0]
        return left == bytes(4) and state == "S"


def nonblocking(path, flags):
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


ENCAP = testdata("built/built-encap.pcap")


@pytest.fixture(name="home")
def fixture_home():
    """A folder of another user: only its owner may enter it."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for files of other users")
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "home")
        os.mkdir(inner)
        shutil.copy(ENCAP, os.path.join(inner, "secret.pcap"))
        os.chmod(os.path.join(inner, "secret.pcap"), 0o600)
        for path in (os.path.join(inner, "secret.pcap"), inner):
            os.chown(path, OTHER_USER, OTHER_USER)
        os.chmod(inner, 0o700)
        yield inner


READERS = {
    "check": ([CHECK, "FIFO"], 1),
    "report": ([CHECK, "-o", "OUT", "FIFO"], 1),
    "annotate": ([CHECK, "--annotate", "OUT", "FIFO"], 1),
    "convert": ([CONVERTER, "convert", "FIFO", "OUT"], 0),
    "share": ([CONVERTER, "convert", "--share", "FIFO", "OUT"], 0),
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_keep_nothing_in_folders_of_their_own(tmp_path, reader):
    if os.geteuid() != 0:
        pytest.skip("needs root, which has capabilities to give back")
    command, expected = READERS[reader]
    out = tmp_path / "out"
    running = Reader(tmp_path, *[out if a == "OUT" else a for a in command])
    status, _, err = running.feed(read_bytes(ENCAP))
    expect_dropped(status, 0)
    assert running.process.returncode == expected, err
    assert "OUT" not in command or out.stat().st_size > 100


@pytest.mark.parametrize("reader", ["report", "annotate", "convert", "share"])
def test_output_in_a_folder_of_another_user(tmp_path, home, reader):
    """A report is written at the end: what that needs stays, but is not effective. convert opens
    its output before it reads packets."""
    command, expected = READERS[reader]
    out = os.path.join(home, "out")
    running = Reader(tmp_path, *[out if a == "OUT" else a for a in command])
    status, _, err = running.feed(read_bytes(ENCAP))
    expect_dropped(status, 0 if running.process.args[0] == CONVERTER else FILES | OWNER)
    assert running.process.returncode == expected, err
    assert os.path.getsize(out) > 100


@pytest.mark.parametrize("name", ["ipoib-check", "ipoib-capture"])
def test_convert_and_check_read_a_file_that_only_root_may_read(home, name):
    path, out = os.path.join(home, "secret.pcap"), os.path.join(home, "out")
    command = {
        "ipoib-check": [CHECK, path, ENCAP, path],
        "ipoib-capture": [CONVERTER, "convert", path, out],
    }[name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if name == "ipoib-check" else 0), done.stderr
    assert "cannot be opened" not in done.stderr


def test_inputs_that_need_capabilities_are_opened_first(tmp_path, home):
    """Of several captures, reports and a baseline: the FIFO is read first."""
    report = os.path.join(home, "report.json")
    command = [CHECK, "--format", "json", "-o", report, os.path.join(home, "secret.pcap")]
    subprocess.run(command, check=False)
    os.chmod(report, 0o600)
    os.chown(report, OTHER_USER, OTHER_USER)
    secret = os.path.join(home, "secret.pcap")
    running = Reader(tmp_path, CHECK, "--baseline", report, "FIFO", secret, secret)
    status, out, err = running.feed(read_bytes(ENCAP))
    expect_dropped(status, 0)
    assert running.process.returncode == 0 and not err, (out, err)
    assert out.count("secret.pcap: ") >= 2
    os.unlink(running.fifo)
    running = Reader(tmp_path, CHECK, "--merge", "FIFO", report)
    status, out, err = running.feed(read_bytes(report))
    expect_dropped(status, 0)
    assert running.process.returncode == 1 and not err, (out, err)


def test_more_inputs_than_the_soft_limit_of_open_files(home):
    path = os.path.join(home, "secret.pcap")
    done = subprocess.run(
        [CHECK, *[path] * 80],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, 200)),
    )
    assert done.returncode == 1 and not done.stderr, done.stderr


def test_output_of_convert_gets_the_mode_of_its_input(home):
    """The file belongs to the owner of the folder, and has more readers."""
    path, out = os.path.join(home, "secret.pcap"), os.path.join(home, "out")
    put(out, "x")
    os.chown(out, OTHER_USER, OTHER_USER)
    os.chmod(out, 0o644)
    subprocess.run([CONVERTER, "convert", path, out], check=True, stderr=subprocess.DEVNULL)
    assert os.stat(out).st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name, arguments, expected",
    [("ipoib-check", ["FIFO", "SECRET"], 1), ("ipoib-capture", ["convert", "FIFO", "OUT"], 0)],
)
def test_file_capabilities_of_an_ordinary_user(place, home, name, arguments, expected):
    """A program that may read every file: cap_dac_read_search."""
    program, fifo_folder = os.path.join(place, name), os.path.join(place, "in")
    os.mkdir(fifo_folder, 0o755)
    shutil.copy(os.path.join(BIN, name), program)
    capabilities = "cap_dac_read_search,cap_net_raw+ep"
    done = subprocess.run(
        ["setcap", capabilities, program], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"file capabilities cannot be set here: {done.stderr}")
    words_of = {"SECRET": os.path.join(home, "secret.pcap"), "OUT": os.path.join(place, "out")}
    os.chmod(os.path.dirname(home), 0o755)
    command = [program, *[words_of.get(a, a) for a in arguments]]
    running = Reader(fifo_folder, *command, user=NOBODY, group=NOBODY, extra_groups=[])
    status, out, err = running.feed(read_bytes(ENCAP))
    expect_dropped(status, 0)
    assert running.process.returncode == expected, (out, err)
    assert "cannot be" not in err


# --- packaging/privileges: a group of users who are not root (tests/probe/probe_user.sh tries it)

SHIPPED = os.path.join(SRC, "packaging", "privileges")


def shipped(name):
    with open(os.path.join(SHIPPED, name), encoding="utf-8") as f:
        return [line for line in f.read().splitlines() if not line.startswith("#")]


def test_rules_of_udev():
    """Devices of InfiniBand only, for the group that the other files have too; no program is run."""
    rules = shipped("70-ipoib-tools.rules")
    form = r'SUBSYSTEM=="(infiniband_mad|infiniband_verbs|misc)", KERNEL=="(umad|uverbs|rdma_cm)[^"]*", GROUP="ipoib", MODE="0660"'
    assert len(rules) == 3
    assert [rule for rule in rules if not re.fullmatch(form, rule)] == []
    assert shipped("ipoib-tools.sysusers") == ["g ipoib -"]
    assert shipped("ipoib-tools.limits") == ["@ipoib - memlock 1048576"]


def test_systemd_reads_the_group():
    needs("systemd-sysusers", "test")
    command = ["systemd-sysusers", "--dry-run", os.path.join(SHIPPED, "ipoib-tools.sysusers")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_page_names_the_files():
    with open(os.path.join(SRC, "doc", "privileges.md"), encoding="utf-8") as f:
        text = f.read()
    assert [name for name in os.listdir(SHIPPED) if name not in text] == []

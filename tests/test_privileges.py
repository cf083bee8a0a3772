# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with file capabilities: the limits for the user's environment, and the rights that
remain."""
import os
import shutil
import signal
import subprocess
import tempfile

import pytest
from support import wait
from support.needs import needs_own_mounts
from support.paths import BIN
from support.played_capture import REPLAY, Player, wait_until

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


@pytest.fixture(name="player")
def fixture_player(tmp_path):
    player = Player(tmp_path)
    yield player
    player.clean()


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

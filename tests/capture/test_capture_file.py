# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that ipoib-capture creates: one writer for each, and their modes. tests/project/test_output_files.py
has the files of other users."""
import fcntl
import glob
import os
import pathlib
import re
import signal
import stat
import subprocess
import tempfile
import time

import pytest
from support import capfile, paths
from support.needs import needs
from support.played_capture import CAPTURE, PATIENCE, Player, wait_until

FLOW = "synthetic 100\nrate 1000\n"
LOCKED = "ipoib-capture: {}: another program holds a lock on this file\n"
DATAGRAM = paths.testdata("datagram.pcap")


@pytest.fixture(name="player")
def fixture_player(tmp_path):
    player = Player(tmp_path)
    yield player
    player.clean()


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def begin(player, path, *options):
    """A capture that has written some frames."""
    process = player.start(FLOW, "-s", "-w", path, *options)
    wait_until(lambda: size(path) > 2000, f"frames in {path}")
    return process


def expect_whole(path):
    frames = [f[-8:] for f in capfile.read(path).infiniband()]
    assert len(frames) > 10
    assert frames == [n.to_bytes(8, "big") for n in range(len(frames))]


@pytest.mark.parametrize("name", ["out.pcap", "link.pcap"])
def test_second_capture_into_one_file_is_refused(player, tmp_path, name):
    (tmp_path / "link.pcap").symlink_to("out.pcap")
    path = tmp_path / "out.pcap"
    first = begin(player, path)
    status, _, err = player.run(FLOW, "-s", "-w", name, "--count", "5")
    assert (status, LOCKED.format(name) in err) == (1, True), err
    assert player.end(first, signal.SIGINT)[0] == 0
    expect_whole(path)
    assert player.run(FLOW, "-s", "-w", path, "--count", "5")[0] == 0
    assert len(capfile.read(path).frames) == 5


def test_convert_into_the_file_of_a_capture_is_refused(player, tmp_path):
    path = tmp_path / "out.pcap"
    first = begin(player, path)
    done = subprocess.run(
        [CAPTURE, "convert", DATAGRAM, path], stderr=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 1
    assert LOCKED.format(path) in done.stderr
    assert player.end(first, signal.SIGINT)[0] == 0
    expect_whole(path)


RING = ("-s", "-w", "ring.pcap", "--ring-packets", "50", "--ring-files", "2")


def test_second_ring_of_the_same_name_is_refused(player, tmp_path):
    def files():
        return sorted(glob.glob(str(tmp_path / "ring_*")))

    first = player.start(FLOW, *RING)
    wait_until(lambda: files() and files()[-1] > str(tmp_path / "ring_00003"), "three files")
    status, _, err = player.run(FLOW, *RING, "--count", "5")
    assert (status, "ring.pcap: another capture is writing these files" in err) == (1, True), err
    other = [o.replace("ring.pcap", "other.pcap") for o in RING]
    assert player.run(FLOW, *other, "--count", "5")[0] == 0
    assert player.end(first, signal.SIGINT)[0] == 0
    assert len(files()) == 2, "the second capture leaves nothing"
    before = files()
    assert player.run(FLOW, *RING, "--count", "5")[0] == 0, "the lock ends with the capture"
    assert set(before) < set(files())


def test_old_file_of_a_ring_that_is_a_folder_now(player, tmp_path):
    def file(number):
        return glob.glob(str(tmp_path / f"ring_{number:05}_*"))

    process = player.start("synthetic 100\nrate 200\n", *RING)
    (old,) = wait_until(lambda: file(2), "the second file")
    os.unlink(old)
    os.mkdir(old)
    wait_until(lambda: file(6), "the sixth file")
    assert process.poll() is None, "the capture goes on"
    status, _, err = player.end(process, signal.SIGINT)
    assert status == 0, err
    says = f"{os.path.basename(old)}: is not removed: it is not the file of this capture any more\n"
    assert err.count(says) == err.count("is not removed") == 1, err


def test_series_started_again_keeps_the_files_before(player, tmp_path):
    for _ in range(3):  # mostly within one second
        assert player.run("synthetic 100\n", *RING, "--count", "10")[0] == 0
    files = glob.glob(str(tmp_path / "ring_*"))
    assert [len(capfile.read(path).frames) for path in files] == [10, 10, 10]


def name_in(folder, seconds, number=1):
    """The name that a file of the ring has if it is created in this second."""
    stamp = time.strftime("%Y%m%d%H%M%S", time.localtime(seconds))
    return folder / f"ring_{number:05}_{stamp}.pcap"


def test_series_takes_no_name_that_exists(player, tmp_path):
    """Every name that its first file could get is taken: by a file, or by a link to a file that
    does not exist."""
    taken = [name_in(tmp_path, int(time.time()) + n) for n in range(2 * PATIENCE)]
    for path in taken[::2]:
        path.write_text("precious")
    for path in taken[1::2]:
        path.symlink_to(tmp_path / "made")
    status, _, err = player.run("synthetic 100\n", *RING, "--count", "60")
    assert status == 0, err
    assert all(path.read_text() == "precious" for path in taken[::2])
    assert not (tmp_path / "made").exists()
    new = sorted(path.name[:11] for path in set(tmp_path.glob("ring_*")) - set(taken))
    assert new == ["ring_00002_", "ring_00003_"], "50 packets, and 10"


def test_ring_removes_only_files_that_it_made(player, tmp_path):
    process = player.start("synthetic 100\nrate 200\n", *RING)
    (old,) = wait_until(lambda: glob.glob(str(tmp_path / "ring_00001_*")), "the first file")
    other = tmp_path / "other"
    other.write_text("precious")
    other.rename(old)
    wait_until(lambda: glob.glob(str(tmp_path / "ring_00004_*")), "the fourth file")
    status, _, err = player.end(process, signal.SIGINT)
    assert status == 0, err
    assert pathlib.Path(old).read_text() == "precious"
    says = f"{os.path.basename(old)}: is not removed: it is not the file of this capture any more\n"
    assert err.count(says) == 1, err


def test_killed_capture_leaves_no_lock(player, tmp_path):
    path = tmp_path / "out.pcap"
    player.end(begin(player, path), signal.SIGKILL)
    assert player.run(FLOW, "-s", "-w", path, "--count", "5")[0] == 0
    first = player.start(FLOW, *RING)
    wait_until(lambda: glob.glob(str(tmp_path / "ring_00002*")), "two files")
    player.end(first, signal.SIGKILL)
    assert player.run(FLOW, *RING, "--count", "5")[0] == 0


def test_devices_and_pipes_are_not_locked(player, tmp_path):
    one = player.start(FLOW, "-s", "-w", "/dev/null", "--duration", "1")
    assert player.run(FLOW, "-s", "-w", "/dev/null", "--count", "5")[0] == 0
    assert player.end(one)[0] == 0
    os.mkfifo(tmp_path / "fifo")
    # the reader does not end between two writers: a program that opens a pipe waits for a reader
    reader = subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.DEVNULL)
    with reader, open(os.open(tmp_path / "fifo", os.O_RDWR), "wb", buffering=0):
        one = player.start(FLOW, "-s", "-w", "fifo", "--duration", "1")
        assert player.run(FLOW, "-s", "-w", "fifo", "--count", "5")[0] == 0
        assert player.end(one)[0] == 0


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("umask, expected", [(0o022, 0o600), (0, 0o600), (0o277, 0o400)])
def test_mode_of_a_new_file(player, tmp_path, umask, expected):
    assert player.run(FLOW, "-s", "-w", "new", "--count", "1", umask=umask)[0] == 0
    assert mode(tmp_path / "new") == expected
    assert player.run(FLOW, *RING, "--count", "1", umask=umask)[0] == 0
    assert mode(glob.glob(str(tmp_path / "ring_*"))[0]) == expected
    convert = [CAPTURE, "convert", DATAGRAM, tmp_path / "converted"]
    subprocess.run(convert, umask=umask, stderr=subprocess.DEVNULL, check=True)
    assert mode(tmp_path / "converted") == expected


def test_existing_file_keeps_its_mode(player, tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"x" * 100000)
    path.chmod(0o644)
    assert player.run(FLOW, "-s", "-w", path, "--count", "1")[0] == 0
    assert mode(path) == 0o644
    assert len(capfile.read(path).frames) == 1


def test_standard_output_by_its_names(player):
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        status, _, err = player.run(
            FLOW, "-s", "-w", name, "--count", "1", stdout=subprocess.DEVNULL
        )
        assert status == 0, err


def test_loop_of_links_is_an_error(player, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    status, _, err = player.run(FLOW, "-s", "-w", "a")
    assert status == 1
    assert "a: cannot be written: Too many levels of symbolic links" in err


def test_folder_as_output_is_an_error(player, tmp_path):
    for name in (tmp_path, f"{tmp_path}/"):
        status, _, err = player.run(FLOW, "-s", "-w", name)
        assert status == 1
        assert "is a directory: name a file" in err


def test_probe_into_the_file_of_a_capture_is_refused(tmp_path):
    path = tmp_path / "out.pcapng"
    probe = [os.path.join(paths.BIN, "ipoib-probe"), "-d", "no-such-device", "-w", path, "10.0.0.1"]
    with open(path, "wb") as f:
        f.write(b"precious")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_EX)
        done = subprocess.run(probe, stderr=subprocess.PIPE, text=True, check=False)
        assert f"ipoib-probe: {path}: another program holds a lock on this file\n" in done.stderr
        assert done.returncode == 2
        assert path.read_bytes() == b"precious"
    path.unlink()
    subprocess.run(probe, stderr=subprocess.DEVNULL, check=False, umask=0)
    assert mode(path) == 0o600


def calls_on(player, path, options=()):
    """The system calls on this output: their names, and the thread that makes them (0 is the first
    one)."""
    log = os.path.join(player.folder, "calls")
    subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=%file,%desc", "-o", log]
        + [CAPTURE, "-w", path, "-s", "--count", "20000", *options],
        env=player.environment("synthetic 1000\nburst 512\n"),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    with open(log, encoding="utf-8", errors="replace") as f:
        calls = re.findall(r"^(\d+) +(\w+)\((.*)$", f.read(), re.MULTILINE)
    threads = list(dict.fromkeys(thread for thread, _, _ in calls))
    calls = [call for call in calls if call[1] != "execve"]  # its arguments
    return {(threads.index(thread), name) for thread, name, rest in calls if str(path) in rest}


def test_every_output_is_written_by_the_same_system_calls(player, tmp_path):
    needs("strace", "test")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        on_disk = calls_on(player, tmp_path / "calls.pcap")
        in_memory = calls_on(player, os.path.join(memory, "calls.pcap"))
    writers = {thread for thread, name in on_disk if name == "write"}
    assert len(writers) == 1 and 0 not in writers, on_disk
    assert in_memory == on_disk
    to_device = calls_on(player, "/dev/null")
    assert {thread for thread, name in to_device if name == "write"} == writers, to_device

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture on devices that stand-ins for libibverbs and libibumad simulate:
tests/capture/replay/scenario.h.

A scenario is the text of such a file. A test runs the program in a folder of its own, which is the
current folder (the fixture `folder`): names of files in scenarios and on command lines are relative
to it."""
import ctypes
import functools
import itertools
import os
import random
import re
import secrets
import signal
import struct
import subprocess
import time

import pytest

from support import capfile
from support.paths import BIN, BUILD, testdata
from support.wait import communicate, until

CAPTURE = os.path.join(BIN, "ipoib-capture")
REPLAY = os.path.join(BUILD, "tests", "capture", "replay")
DATAGRAM = testdata("datagram.pcap")
FED = f"frames {DATAGRAM}\n"  # a scenario: these frames arrive, once
END_NOTE = "the link went down"
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@functools.cache
def is_sanitized():
    """Whether the program was built with a sanitizer, which makes it slow."""
    with open(CAPTURE, "rb") as f:
        program = f.read()
    return b"__asan_init" in program or b"__tsan_init" in program


SANITIZED = os.path.exists(CAPTURE) and is_sanitized()
numbered = itertools.count(1)


# --- scenarios


def new_device():
    """The name of a device that no other test uses: captures of one device share a lock of the
    machine."""
    return "hca" + secrets.token_hex(4)


def environment(scenario):
    """The environment in which the program finds the devices of a scenario."""
    path = os.path.abspath(f"scenario{next(numbered)}")
    with open(path, "w", encoding="ascii") as f:
        f.write(scenario if scenario.startswith("device") else "device hca0\n" + scenario)
    return {**os.environ, "IPOIB_REPLAY": path, "LD_LIBRARY_PATH": REPLAY}


def sysfs():
    """The line of a scenario for a device with a counter of its losses."""
    path = os.path.abspath(f"sysfs{next(numbered)}")
    os.makedirs(os.path.join(path, "ports/1/hw_counters"))
    with open(os.path.join(path, "ports/1/hw_counters/out_of_buffer"), "w", encoding="ascii") as f:
        f.write("0\n")
    return f"sysfs {path}\n"


def end_at(count):
    """The line of a scenario that makes the program print END_NOTE after this number of frames."""
    return f"at {count} port-down\n"


# --- running the program


class Result:
    """How the program ended: its exit status, stdout (bytes) and stderr (text)."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def expect(self, status, *patterns):
        """Asserts the exit status, and that stderr matches these patterns."""
        assert self.status == status, f"exit status {self.status}, not {status}\n{self.err}"
        for pattern in patterns:
            assert re.search(pattern, self.err), f"stderr does not match {pattern!r}:\n{self.err}"
        assert "replay:" not in self.err, self.err
        assert "Sanitizer" not in self.err, self.err
        return self

    def counts(self):
        """Packets, bytes and drops of the last line."""
        found = re.search(r"(\d+) packets, (\d+) octets, (\d+) drops", self.err)
        assert found, self.err
        return tuple(map(int, found.groups()))


class Running:
    """The running program. Its stdout is a pipe unless `stdout` says otherwise; its stderr is a
    file."""

    def __init__(self, scenario, *arguments, command=None, **more):
        self.err_path = os.path.abspath(f"stderr{next(numbered)}")
        before = more.pop("before", None)

        def prepare():
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a program ignores SIGHUP
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a failed test may leave it running
            if before:
                before()

        with open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                command or [CAPTURE, *arguments],
                env=environment(scenario),
                stdin=subprocess.DEVNULL,
                stdout=more.pop("stdout", subprocess.PIPE),
                stderr=err,
                preexec_fn=prepare,
                **more,
            )
        self.pid = self.process.pid
        self.stdout = self.process.stdout

    def err(self):
        """The text that it has written to stderr so far."""
        with open(self.err_path, "rb") as f:
            return f.read().decode(errors="replace")

    def has_ended(self):
        return self.process.poll() is not None

    def wait_until(self, condition, what):
        """Waits for a state of the running program. It is an error if the program ends before
        that."""

        def holds():
            ended = self.has_ended()
            value = condition()
            assert value or not ended, f"it ended before this: {what}\n{self.err()}"
            return value

        try:
            return until(holds, what, 60)
        except AssertionError:
            self.kill()
            raise

    def wait_for_file(self, path):
        self.wait_until(lambda: os.path.exists(path), f"{path} is there")
        return self

    def wait_for(self, pattern):
        """Waits until stderr matches."""
        self.wait_until(lambda: re.search(pattern, self.err()), f"stderr matches {pattern!r}")
        return self

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def end(self, sig=None, limit=60):
        """Sends the signal, if one is given, and waits for the end."""
        if sig is not None:
            self.signal(sig)
        try:
            out = communicate(self.process, limit)[0]
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f"it did not end in {limit} s\n{self.err()}")
        return Result(self.process.returncode, out or b"", self.err())

    def processor_time(self):
        """In seconds, of all of its threads."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as f:
            user, system = f.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def start(scenario, *arguments, **more):
    return Running(scenario, *arguments, **more)


def run(scenario, *arguments, **more):
    return start(scenario, *arguments, **more).end()


def run_all(scenario, total, *arguments, **more):
    """Runs until this number of frames has arrived, and ends the program by SIGTERM."""
    return (
        start(scenario + end_at(total), *arguments, **more).wait_for(END_NOTE).end(signal.SIGTERM)
    )


def summary(packets, size, drops):
    """A pattern of the last line of stderr."""
    return rf"ipoib-capture: {packets} packets, {size} octets, {drops} drops\n$"


def kill_at_any_time(begin, rounds, spared, longest, numbers_of=None):
    """Kills captures that begin() starts, which write k.pcap, up to `longest` seconds after they have
    begun to write; one of `spared` already while it starts. Whatever a capture wrote has whole
    packets in their order: the kernel may end a write at any byte, and on a busy machine some
    packets are lost. numbers_of: the frames' numbers. Yields after each capture."""
    chance, full = random.Random(4391), 0
    for n in range(rounds):
        process = begin()
        if n % spared:
            process.wait_until(lambda: size_of("k.pcap") > 0, "it writes")
        time.sleep(chance.random() * longest)
        process.kill()
        if size_of("k.pcap"):
            got = (numbers_of or numbers)(capfile.packets(capfile.load("k.pcap"), truncated=True))
            assert got == sorted(set(got)), n
            full += bool(got)
            os.unlink("k.pcap")
        yield
    assert full >= rounds // 2, f"only {full} of {rounds} wrote packets before they were killed"


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


# --- files


def erf_content(frame):
    """The bytes after the ERF header of a frame, whose header must be right in every field."""
    header = struct.unpack_from(">BBHHH", frame.data, 8)
    size = len(frame.data)
    assert header == (21, 4, size, 0, frame.wire - 16), f"{frame.data[:16].hex()}, {size} bytes"
    when = capfile.erf_time(frame.data)
    assert frame.time in (when, when // 1000 * 1000), "the record and the file have other times"
    return frame.data[16:]


def contents(capture):
    """The frames of a capture that the program wrote, without ERF headers, which are checked."""
    if capture.linktype != capfile.ERF:
        return [frame.data for frame in capture.frames]
    return [erf_content(frame) for frame in capture.frames]


def frames_of(path):
    return contents(capfile.read(path))


@functools.cache
def fed(path=DATAGRAM):
    """The frames of a capture that a scenario plays."""
    return [frame.data for frame in capfile.read(path).frames]


def write_frames(path, frames):
    """Writes a capture that a scenario can play."""
    records = [(0, bytes(frame), len(frame)) for frame in frames]
    with open(path, "wb") as f:
        f.write(capfile.pcap(capfile.INFINIBAND, records))


def numbers(frames):
    """The numbers at the end of synthetic frames."""
    return [int.from_bytes(frame[-8:], "big") for frame in frames]


def last_statistics(capture):
    """Code to number of the last statistics block."""
    return capture.statistics[-1][1]


def option_number(frame, code):
    """The number in an option of a pcapng frame; None if it has no such option."""
    value = frame.options.get(code)
    return value if value is None else int.from_bytes(value, "little")


FLAGS, DROPPED, COMMENT = 2, 4, 1  # options of a packet
RECEIVED, LOST_BY_DEVICE, LOST_BY_PROGRAM = 4, 5, 7  # options of a statistics block
INBOUND, OUTBOUND = 1, 2
COUNT = len(fed())
SIZE = sum(map(len, fed()))
ALL = ("--count", str(COUNT))

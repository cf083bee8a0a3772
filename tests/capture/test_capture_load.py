# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture at the rate of fast links, and killed while it writes; on simulated devices
(tests/capture/replay/).

Expected: synthetic frames carry their number: each is in the file once, in its order, or counted as
a drop."""
import glob
import os
import functools
import subprocess
import tempfile

import pytest

from support import capfile
from support.capture import kill_at_any_time
from support.capture import LOST_BY_DEVICE, LOST_BY_PROGRAM, RECEIVED, SANITIZED, contents
from support.capture import frames_of, last_statistics, numbers, run, run_all, start, summary, sysfs

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("form", ["erf", "pcapng"])
def test_capture_killed_at_any_time_leaves_whole_packets(form):
    begin = functools.partial(
        start,
        "synthetic 100\nrate 2000000\n",
        *("-w", "k.pcap", "-s", "-b", "13", "--format", form),
        stdout=subprocess.DEVNULL,
    )
    for _ in kill_at_any_time(begin, 6 if SANITIZED else 50, 10, 0.02):
        pass


def test_none_of_a_million_packets_at_the_devices_pace_is_lost():
    run(
        sysfs() + "synthetic 128\ntotal 1000000\n",
        *("-w", "m.pcap", "-s", "--count", "1000000"),
    ).expect(0, summary(1000000, 128000000, 0))
    data = capfile.load("m.pcap")
    assert len(data) == 24 + 160 * 1000000
    places = [n for n in range(0, 1000000, 997)]
    assert [int.from_bytes(data[24 + 160 * n + 152 : 24 + 160 * n + 160]) for n in places] == places


@pytest.mark.parametrize(
    "buffers, rate, faults",
    [
        ("15", 100000, ""),
        ("8", 1000000, ""),
        ("8", 1000000, "at 500 error 4\nat 60000 error 12\n"),
    ],
    ids=["many buffers", "few buffers", "failed completions"],
)
def test_device_that_does_not_wait_every_frame_is_captured_or_counted(buffers, rate, faults):
    total = rate // 5
    result = run_all(
        sysfs() + f"thread on\nsynthetic 128\nrate {rate}\ntotal {total}\n{faults}",
        total,
        *("-w", "t.pcapng", "-s", "-b", buffers, "--format", "pcapng"),
    )
    packets, _, drops = result.counts()
    assert packets + drops == total, result.err
    result.expect(1 if drops else 0)
    capture = capfile.read("t.pcapng")
    got = numbers(contents(capture))
    assert len(got) == packets
    assert got == sorted(set(got)), "each once, in their order"
    statistics = last_statistics(capture)
    assert statistics == {RECEIVED: total, LOST_BY_DEVICE: drops, LOST_BY_PROGRAM: 0}


def test_device_that_does_not_wait_and_whose_queue_pair_fails():
    scenario = sysfs() + "thread on\nsynthetic 128\nrate 50000\ntotal 20000\nat 10000 qp-error\n"
    run_all(scenario, 20000, "-w", "t.pcap", "-s").expect(1, "created again")
    got = numbers(frames_of("t.pcap"))
    assert got == sorted(set(got)) and len(got) >= 9000


def test_device_that_does_not_wait_and_goes_away():
    scenario = sysfs() + "thread on\nsynthetic 128\nrate 50000\nat 10000 remove\n"
    run(scenario, "-w", "t.pcap", "-s").expect(1, "the device was removed")
    got = numbers(frames_of("t.pcap"))
    assert got == sorted(set(got)) and len(got) >= 9000


# --- a file in memory: as one on a disk


@pytest.fixture
def memory():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        yield path


@pytest.mark.parametrize("pace", ["", "burst 512\n", "burst 20000\n", "thread on\nrate 200000\n"])
def test_file_in_memory_has_every_frame(memory, pace):
    name = os.path.join(memory, "m.pcap")
    run(
        sysfs() + "synthetic 1000\ntotal 60000\n" + pace,
        *("-w", name, "-s", "--count", "60000"),
    ).expect(0, summary(60000, 60000000, 0))
    assert numbers(frames_of(name)) == list(range(60000))


def test_series_in_memory_has_the_last_frames(memory):
    run(
        "synthetic 1000\nburst 512\n",
        *("-w", os.path.join(memory, "m.pcap"), "-s", "--count", "60000"),
        *("--ring-size", "10M", "--ring-files", "3"),
    ).expect(0, summary(60000, 60000000, 0))
    files = sorted(glob.glob(os.path.join(memory, "m_*.pcap")))
    got = numbers(sum((frames_of(path) for path in files), []))
    assert len(files) == 3 and got == list(range(got[0], 60000)) and got[0] < 40000

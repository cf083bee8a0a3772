# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture and clocks: the device's times in the files, packets that reach a pipe's reader at
once, and no processor time while no packet arrives; on simulated devices (tests/capture/replay/), whose
clocks the scenario sets."""
import glob
import os
import signal
import time

import pytest

from support import capfile, wait
from support.capture import SANITIZED, contents, numbers, run, start
from support.folders import open_folder

pytestmark = pytest.mark.usefixtures("folder")


CLOCKS = ("156250", "1000000", "wallclock")


@pytest.fixture(scope="module")
def clocked():
    """By the device's clock: a capture of 1.3 s, in which the program relates the clocks more than
    once; and its start and end times. The captures run at the same time."""
    before = os.getcwd()
    with open_folder() as path:
        os.chdir(path)
        begin = time.time()
        processes = [
            start(
                f"clock {clock}\nsynthetic 100\nrate 5000\ntotal 6500\n",
                *("-w", f"{clock}.pcapng", "-s", "--format", "pcapng", "--count", "6500"),
            )
            for clock in CLOCKS
        ]
        os.chdir(before)
        for process in processes:
            process.end().expect(0)
        end = time.time()
        yield {clock: (capfile.read(path / f"{clock}.pcapng"), begin, end) for clock in CLOCKS}


@pytest.mark.parametrize("clock", CLOCKS)
def test_frames_have_the_devices_own_times(clocked, clock):
    capture, begin, end = clocked[clock]
    assert numbers(contents(capture)) == list(range(6500))
    first, last = capture.frames[0].time / 1e9, capture.frames[-1].time / 1e9
    assert begin - 0.1 < first < last < end + 0.1  # on a busy machine it takes longer than 1.3 s
    assert last - first > 1.17


def read_live(scenario):
    process = start(scenario + "synthetic 100\nrate 20\ntotal 40\n", "-o", "-")
    clock = wait.Clock()
    data = b""
    while len(data) < 24 + 5 * 132:
        more = os.read(process.stdout.fileno(), 65536)
        assert more, process.err()
        data += more
    assert clock.seconds() < 2.5  # five frames arrive within 0.3 s
    process.end(signal.SIGTERM).expect(0)


def test_pipes_reader_gets_each_packet_at_once():
    read_live("")


ANOTHER_CLOCK = pytest.mark.parametrize("ahead", [-40000, 15000], ids=["40 s behind", "15 s ahead"])


@ANOTHER_CLOCK
def test_pipes_reader_gets_its_packets_by_the_hosts_clock(ahead):
    read_live(f"clock wallclock\nclock-ahead {ahead}\n")


@ANOTHER_CLOCK
def test_files_end_by_the_hosts_clock_and_have_the_devices_times(ahead):
    scenario = f"clock wallclock\nclock-ahead {ahead}\nsynthetic 100\nrate 1000\n"
    run(scenario, "-w", "c.pcap", "-s", "--ring-time", "30", "--duration", "0.8").expect(0)
    files = glob.glob("c_*.pcap")
    assert len(files) == 1, files
    when = capfile.read(files[0]).frames[-1].time / 1e9 - ahead / 1e3
    assert abs(when - time.time()) < 10


def test_times_increase_after_an_idle_time():
    run(  # without frames the counter gains 30 ms; frames arrive every 20 ms
        "clock 156250\nclock-drift 25000\nsynthetic 100\nrate 50\ntotal 10\nafter 0 pause 1200\n",
        *("-w", "d.pcapng", "-s", "--format", "pcapng", "--count", "10"),
    ).expect(0)
    times = [frame.time for frame in capfile.read("d.pcapng").frames]
    assert times == sorted(times)


def test_idle_capture_takes_no_processor_time_and_a_signal_ends_it_at_once():
    process = start("", "-w", "i.pcap", "-s").wait_for_file("i.pcap")
    time.sleep(0.3)  # of the start, which takes memory
    begin = process.processor_time()
    time.sleep(1)
    idle = process.processor_time() - begin
    took = wait.duration(lambda: process.end(signal.SIGINT).expect(0))
    assert took < (3 if SANITIZED else 0.5)
    assert SANITIZED or (begin < 0.3 and idle < 0.06), (begin, idle)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults during a live capture: failed completions, losses, a device that is removed, full disks,
readers that close, signals; on simulated devices (tests/capture/replay/).

Expected: synthetic frames carry their number, so the tests find a loss that is not counted."""
import os
import resource
import signal
import tempfile

import pytest

from support import capfile, wait
from support.capture import ALL, COMMENT, COUNT, DROPPED, END_NOTE, FED, LOST_BY_DEVICE
from support.capture import LOST_BY_PROGRAM, RECEIVED, SANITIZED, contents, end_at, frames_of
from support.capture import last_statistics, numbers, option_number, run, run_all, start, summary
from support.capture import sysfs

pytestmark = pytest.mark.usefixtures("folder")
PCAPNG = ("--format", "pcapng")
NO_LINK = END_NOTE  # the program's message at end_at()


# --- losses


def test_failed_completions_are_counted_and_their_buffers_used_again():
    faults = "".join(f"at {n * 10} error {4 + n % 2 * 8}\n" for n in range(1, 2001))
    result = run(
        "synthetic 100\ntotal 20002\n" + faults,
        *("-w", "x.pcapng", "-s", "-b", "6", *PCAPNG, "--count", "18002"),
    )
    result.expect(1, summary(18002, 1800200, 2000), "2000 frames could not be delivered")
    assert result.err.count("a receive failed") == 1, result.err
    capture = capfile.read("x.pcapng")
    got = numbers(contents(capture))
    assert got == [n for n in range(20002) if n == 0 or n % 10]
    drops = [option_number(frame, DROPPED) for frame in capture.frames]
    assert {n: drop for n, drop in zip(got, drops) if drop is not None} == {
        n * 10 + 1: 1 for n in range(1, 2001)
    }
    assert last_statistics(capture)[LOST_BY_DEVICE] == 2000
    assert last_statistics(capture)[RECEIVED] == 20002


def frames_with_one_of(length):
    """A scenario with a frame of this length in bytes between two of 100."""
    records = [(0, b"\0\2" + bytes(size - 2), size) for size in (100, length, 100)]
    with open("long.pcap", "wb") as f:
        f.write(capfile.pcap(capfile.INFINIBAND, records))
    return "frames long.pcap\n"


# LRH, GRH, BTH, DETH, payload, ICRC, VCRC (IBA 7.7, 8.3, 9.2, 9.3, 7.8) at an MTU of 4096
LONGEST = 8 + 40 + 12 + 8 + 4096 + 4 + 2


def test_frames_longer_than_a_buffer_are_drops_and_j_is_named():
    run_all(frames_with_one_of(5000), 3, "-w", "l.pcap", "-s").expect(1, "-j", summary(2, 200, 1))


@pytest.mark.parametrize(
    "more, length, options",
    [("", 5000, ["-j"]), ("mtu 4096\n", LONGEST, [])],
    ids=["-j", "MTU"],
)
def test_long_frames_fit_with_j_or_a_long_mtu(more, length, options):
    scenario = more + frames_with_one_of(length)
    run(scenario, "-w", "l.pcap", "-s", *options, "--count", "3").expect(
        0, summary(3, length + 200, 0)
    )


def test_devices_losses_are_counted_in_the_file_too():
    run(
        sysfs() + "synthetic 100\ntotal 30000\nat 1000 drop 7\nat 20000 drop 500\n",
        *("-w", "x.pcapng", "-s", *PCAPNG, "--count", "29493"),
    ).expect(1, summary(29493, 2949300, 507), "507 frames were lost by the device")
    statistics = last_statistics(capfile.read("x.pcapng"))
    assert statistics == {RECEIVED: 30000, LOST_BY_DEVICE: 507, LOST_BY_PROGRAM: 0}


def test_frames_that_find_no_buffer_are_counted():
    scenario = sysfs() + "synthetic 100\nrate 200000\nburst 10000\ntotal 100000\n"
    result = run_all(scenario, 100000, "-w", "x.pcap", "-s", "-b", "10").expect(1)
    packets, _, drops = result.counts()
    assert packets + drops == 100000 and drops > 50000, result.err
    assert len(frames_of("x.pcap")) == packets


def test_device_without_a_counter_is_reported():
    run(FED, "-w", "n.pcap", "-s", *ALL).expect(0, "no counter of lost frames")
    assert "no counter" not in run(sysfs() + FED, "-w", "n.pcap", "-s", *ALL).expect(0).err


# --- the queue pair and the device


@pytest.mark.parametrize("fault", ["qp-error", "cq-error"])
def test_queue_pair_in_error_is_replaced(fault):
    scenario = f"synthetic 100\nrate 30000\ntotal 20000\nat 5000 {fault}\nat 17000 {fault}\n"
    result = run_all(scenario, 20000, "-w", "x.pcapng", "-s", "-b", "12", *PCAPNG)
    result.expect(1, "created again", "the queue pair failed 2 times")
    capture = capfile.read("x.pcapng")
    got = numbers(contents(capture))
    assert got == sorted(set(got))
    assert (got[0], got[-1]) == (0, 19999)
    assert len(got) > (5000 if SANITIZED else 10000)  # it goes on after the first failure
    comments = [frame.options[COMMENT] for frame in capture.frames if COMMENT in frame.options]
    comments = [comment for comment in comments if b"queue pair" in comment]
    assert len(comments) == 2 and b"frames may be missing" in comments[0], comments


def test_queue_pair_that_fails_again_and_again_ends_the_capture():
    many = "".join(f"at {n} qp-error\n" for n in range(1, 300))
    run("synthetic 100\ntotal 1000\n" + many, "-w", "x.pcap", "-s").expect(
        1, "the queue pair failed too often"
    )


@pytest.mark.parametrize(
    "events",
    [
        ("lid 3", "lid 4", "cq-error"),
        ("qp-error", "lid 3", "cq-error"),
        ("lid 3", "qp-error", "cq-error", "lid 4"),
    ],
    ids=", ".join,
)
def test_failure_among_other_events_is_reported_once(events):
    scenario = "synthetic 100\nrate 30000\ntotal 15000\n"
    scenario += "".join(f"at 5000 {event}\n" for event in events)
    run_all(scenario, 15000, "-w", "x.pcap", "-s").expect(
        1, "created again", "the queue pair failed 1 time:"
    )
    got = numbers(frames_of("x.pcap"))
    assert got == sorted(set(got))
    assert (got[0], got[-1]) == (0, 14999)


FAULTS = {
    "remove": "the device was removed",
    "poll-error": "cannot be polled",
    "post-error": "receives cannot be posted",
}
FLOWS = {
    "at once": "at 5000 {}\n",
    "paced": "rate 10000\nafter 200 {}\n",
    "wall clock": "clock wallclock\nat 5000 {}\n",
}


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("fault", FAULTS)
def test_device_that_goes_away_or_fails_leaves_a_whole_file_and_status_1(fault, flow):
    scenario = FLOWS[flow].format(fault)
    if (fault, flow) == ("post-error", "paced"):  # uses up the buffers
        scenario = "rate 100000\nafter 300 post-error\n"
    run("synthetic 100\n" + scenario, "-w", "g.pcap", "-s").expect(1, FAULTS[fault])
    got = numbers(frames_of("g.pcap"))
    assert len(got) > 100 and got == list(range(len(got)))


def test_idle_device_that_goes_away_ends_the_capture():
    run("after 200 remove\n", "-w", "g.pcap", "-s").expect(
        1, "the device was removed", summary(0, 0, 0)
    )


def test_queue_error_before_the_device_event_names_the_cause():
    run(
        "thread on\nsynthetic 100\nrate 10000\nafter 300 poll-error\nafter 330 remove\n",
        *("-w", "g.pcap", "-s"),
    ).expect(1, "the device was removed")


def test_link_that_goes_down_and_comes_up_is_reported():
    run(
        "synthetic 100\nrate 1000\ntotal 500\nat 100 port-down\nat 200 port-up\n",
        *("-w", "d.pcap", "-s", "--count", "500"),
    ).expect(0, "link went down", "link is up")


# --- disks and readers


@pytest.mark.parametrize("options", [(), PCAPNG, ("-M", "1M")], ids=["erf", "pcapng", "memory"])
def test_full_disk_is_reported_and_counted(options):
    run(FED, "-w", "/dev/full", "-s", *options, *ALL).expect(
        1, "/dev/full: cannot be written.*No space", summary(0, 0, COUNT)
    )


def test_full_disk_as_standard_output_is_reported_and_counted():
    with open("/dev/full", "wb") as full:
        run(FED, "-w", "-", *ALL, stdout=full).expect(
            1, "standard output: cannot be written", summary(0, 0, COUNT)
        )


LIMIT = 1000003


def limit_files():
    """For the program: limits the size of its files to this number of bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


@pytest.mark.parametrize("options", [(), PCAPNG], ids=["erf", "pcapng"])
def test_disk_that_becomes_full_ends_the_file_with_a_whole_packet(options):
    scenario = "synthetic 100\ntotal 50000\n"
    result = run(scenario, "-w", "z.pcap", "-s", *options, before=limit_files)
    packets, size, drops = result.expect(1, "z.pcap: cannot be written").counts()
    assert numbers(frames_of("z.pcap")) == list(range(packets))
    assert size == 100 * packets and drops > 0, result.err
    assert LIMIT - 1003 - 300 < os.path.getsize("z.pcap") <= LIMIT


def test_memory_that_becomes_full_ends_the_file_with_a_whole_packet():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        name = os.path.join(memory, "limit.pcap")
        scenario = "synthetic 100\nburst 512\ntotal 50000\n"
        result = run(scenario, "-w", name, "-s", before=limit_files)
        packets, _, drops = result.expect(1, "cannot be written").counts()
        assert numbers(frames_of(name)) == list(range(packets)) and drops > 0, result.err


@pytest.mark.parametrize("rate", ["", "rate 1000\n"], ids=["fast", "slow"])
def test_closed_pipe_ends_the_capture_at_once(rate):
    process = start("synthetic 100\n" + rate, "-w", "-")
    process.stdout.read(1000)
    process.stdout.close()
    process.process.stdout = None
    process.end(limit=10).expect(1, "standard output: cannot be written.*Broken pipe")


def test_signal_ends_a_capture_with_a_stuck_reader_and_the_loss_is_counted():
    read_end, write_end = os.pipe()
    scenario = "synthetic 1000\nrate 10000\n" + end_at(5000)
    process = start(scenario, "-w", "-", stdout=write_end)
    os.close(write_end)
    process.wait_for(NO_LINK)
    clock = wait.Clock()
    result = process.end(signal.SIGTERM, limit=10).expect(1)
    assert clock.seconds() < (4 if SANITIZED else 1.5)
    packets, _, drops = result.counts()
    assert packets > 0 and drops > 1000, result.err
    os.close(read_end)


def test_own_losses_of_a_slow_writer_are_counted_in_the_file_too():
    # The reader starts in the middle: frames before that are lost, frames after it arrive.
    total = 20000 if SANITIZED else 60000
    read_end, write_end = os.pipe()
    middle = f"at {total // 2} port-down\nat {total} port-up\n"
    process = start(
        sysfs() + f"synthetic 1000\nwait on\nrate {total}\ntotal {total}\n" + middle,
        *("-w", "-", "-p", "1M", *PCAPNG),
        stdout=write_end,
    )
    os.close(write_end)
    process.wait_for(NO_LINK)
    with os.fdopen(read_end, "rb") as f:
        pieces = []
        is_stopped = False
        while piece := os.read(f.fileno(), 1 << 20):
            pieces.append(piece)
            if not is_stopped and "the link is up" in process.err():
                process.signal(signal.SIGTERM)
                is_stopped = True
    result = process.end().expect(1, "the reader of the pipe is too slow")
    packets, _, drops = result.counts()
    capture = capfile.parse(b"".join(pieces))
    got = numbers(contents(capture))
    assert len(got) == packets and packets + drops == total and drops > 1000, result.err
    dropped = [option_number(frame, DROPPED) or 0 for frame in capture.frames]
    gap = got[-1] + 1 - len(got)
    assert sum(dropped) == gap > 0, "the packet after a gap says how many frames are missing"
    statistics = last_statistics(capture)
    assert (statistics[LOST_BY_PROGRAM], statistics[LOST_BY_DEVICE]) == (drops, 0)


# --- signals


@pytest.mark.parametrize(
    "sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name
)
def test_signal_ends_the_capture_in_order(sig):
    process = start("synthetic 100\nrate 20000\n" + end_at(4000), "-w", "s.pcap")
    result = process.wait_for(NO_LINK).end(sig).expect(0)
    assert b"Interrupted (signal %d) - exiting ..." % sig in result.out
    got = numbers(frames_of("s.pcap"))
    assert got == list(range(len(got))) and len(got) > 1000

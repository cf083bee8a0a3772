# SPDX-License-Identifier: GPL-2.0-or-later
"""The messages of ipoib-capture name the true cause and give advice that helps."""
import os
import pty
import re
import resource
import signal
import subprocess
import time

import pytest
from support import capfile
from support.paths import testdata as shipped
from support.played_capture import CAPTURE, wait_until
from support.played_capture import fixture_player  # noqa: F401


def sysfs(folder):
    """A device's folder in sysfs with its counter of losses, and the line of the scenario that
    names it."""
    counters = folder / "sysfs/ports/1/hw_counters"
    counters.mkdir(parents=True)
    (counters / "out_of_buffer").write_text("0\n")
    return f"sysfs {folder}/sysfs\n"


def summary(err):
    found = re.search(r"ipoib-capture: (\d+) packets, (\d+) octets, (\d+) drops\n$", err)
    return tuple(map(int, found.groups()))


def captured(err):
    found = re.search(r"\nCaptured: +(\d+) packets, +(\d+) bytes\n", err)
    return tuple(map(int, found.groups()))


def test_stuck_reader_of_a_pipe(player):
    end, write_end = os.pipe()
    process = player.start("synthetic 1000\nrate 20000\n", "-w", "-", "-p", "64K", stdout=write_end)
    os.close(write_end)
    time.sleep(1.5)
    status, _, err = player.end(process, signal.SIGTERM)
    os.close(end)
    assert status == 1
    assert "ipoib-capture: standard output: the reader of the pipe does not read" in err
    assert re.search(r"\d+ frames were lost because the reader of the pipe does not read", err)
    assert "timed out" not in err
    assert "disk" not in err
    packets, octets, drops = summary(err)
    assert captured(err) == (packets, octets)
    assert drops > 1000


def test_slow_reader_of_a_pipe(player):
    end, write_end = os.pipe()
    options = ("-w", "-", "-p", "64K", "--duration", "1.5")
    process = player.start("synthetic 1000\nrate 20000\n", *options, stdout=write_end)
    os.close(write_end)
    time.sleep(0.8)
    with os.fdopen(end, "rb") as f:
        f.read()
    status, _, err = player.end(process)
    assert status == 1
    assert "because the reader of the pipe is too slow" in err
    assert "disk" not in err


def test_device_losses_after_the_queue_pair_failed(player, tmp_path):
    scenario = sysfs(tmp_path) + "synthetic 100\nrate 10000\ntotal 5000\nat 1000 drop 7\n"
    options = ("-s", "-w", "out", "--duration", "0.8")
    _, _, err = player.run(scenario, *options)
    assert "7 frames were lost by the device, which had no buffer left: use more (-b)" in err
    (tmp_path / "sysfs/ports/1/hw_counters/out_of_buffer").write_text("0\n")
    status, _, err = player.run(scenario + "at 2000 qp-error\n", *options)
    assert status == 1
    assert re.search(r"\d+ frames were lost by the device\n", err)
    assert "-b" not in err


def test_removed_device_with_losses_gets_no_advice_about_buffers(player, tmp_path):
    scenario = sysfs(tmp_path) + "synthetic 100\nrate 10000\nat 1000 drop 7\nat 3000 remove\n"
    status, _, err = player.run(scenario, "-s", "-w", "out")
    assert status == 1
    assert "7 frames were lost by the device\n" in err
    assert "the device was removed" in err and "-b" not in err


def test_removed_device_is_not_announced_as_a_failed_queue_pair(player):
    scenario = "thread on\nsynthetic 100\nrate 10000\nlater qp-raw EIO\nafter 200 qp-error\nafter 280 remove\n"
    status, _, err = player.run(scenario, "-s", "-w", "out")
    assert status == 1
    assert "the device was removed" in err
    assert "created again" not in err and "cannot be replaced" not in err


def test_queue_pair_that_cannot_be_made_again_gets_no_advice_of_the_start(player):
    scenario = "synthetic 100\nrate 10000\nlater qp-raw ENOMEM\nafter 200 qp-error\n"
    status, _, err = player.run(scenario, "-s", "-w", "out")
    assert status == 1
    assert "the failed queue pair cannot be replaced: no queue pair can be created: " in err
    assert "--mode" not in err and "-b" not in err and "created again" not in err


def test_memory_mode_has_its_writing_thread_before_the_capture(player):
    process = player.start("synthetic 100\nrate 1000\n", "-s", "-w", "out", "-M", "1M")
    wait_until(lambda: os.path.exists(f"{player.folder}/out"), "the file")
    wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 3, "the threads")
    time.sleep(0.3)
    assert os.path.getsize(f"{player.folder}/out") == 0, "it writes at the end"
    status, _, err = player.end(process, signal.SIGTERM)
    assert status == 0, err
    assert os.path.getsize(f"{player.folder}/out") > 24


def limit(maximum):
    return lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (maximum, maximum))


def test_memory_that_cannot_be_locked(player):
    if os.geteuid() != 0:
        pytest.skip("needs root: the message for other users says to run as root")
    status, _, err = player.run("fail mr ENOMEM\n", "-b", "12", preexec_fn=limit(1 << 20))
    assert status == 1
    assert "4096 buffers (" in err
    assert "run as root" not in err
    assert (
        "may lock 1 MiB of memory (memlock); raise that (ulimit -l), or ask for fewer (-b)" in err
    )


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ("--count 0", "--count needs a number of packets, not '0'"),
        ("-I up", "-I needs tx or rx, not 'up'"),
        ("-i 256", "-i needs a port, counted from 1, not '256'"),
        ("--mode x", "--mode needs sniffer or multicast, not 'x'"),
        ("--ring-size 1", "--ring-size needs a number of bytes, 1K or more, not '1'"),
        ("-b 21", "-b needs the log2 of the number of buffers, 0 to 20, not '21'"),
        ("--nonsense", "unknown option --nonsense"),
        ("out.pcap", "unknown argument out.pcap: name the output file with -w"),
        ("convert", "convert needs two file names, IN and OUT"),
        (
            "convert --format x a b",
            "--format x is unknown: name erf or 247, and pcap, pcapng or raw",
        ),
    ],
)
def test_usage_errors_are_sentences(player, arguments, sentence):
    status, out, err = player.run("", *arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith(f"ipoib-capture: {sentence}\nipoib-capture: try 'ipoib-capture "), err


def test_received_but_unwritten_frames_are_lost(player, tmp_path):
    status, _, err = player.run(
        "synthetic 100\ntotal 50000\n",
        *("-s", "-w", "out.pcap"),
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000003, 1000003)),
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
        ),
    )
    packets, octets, drops = summary(err)
    assert status == 1
    assert captured(err) == (packets, octets)
    assert packets == len(capfile.read(tmp_path / "out.pcap").frames)
    says = "ipoib-capture: out.pcap: cannot be written, so it is incomplete: File too large\n"
    assert err.count(says) == err.count("incomplete") == 1, err
    lost = re.search(r"(\d+) frames were received but not written: they are lost\n", err)
    assert 0 < int(lost[1]) <= drops


def test_progress_shows_losses_without_a_frame(player, tmp_path):
    counter = tmp_path / "sysfs/ports/1/hw_counters/out_of_buffer"
    with open(tmp_path / "progress", "w", encoding="ascii") as f:
        process = player.start(sysfs(tmp_path), "-w", "out", stdout=f)
        wait_until((tmp_path / "out").exists, "the file")
        time.sleep(0.5)
        counter.write_text("77\n")
        time.sleep(2.5)
        player.end(process, signal.SIGINT)
    assert "0 packets" in (tmp_path / "progress").read_text()
    assert "(77 lost)" in (tmp_path / "progress").read_text()


def test_capture_onto_a_terminal_is_refused(player):
    controller, terminal = pty.openpty()
    status, _, err = player.run("synthetic 100\n", "-w", "-", "--count", "1", stdout=terminal)
    assert status == 2
    assert "ipoib-capture: stdout is a terminal: name a file with -w, or pipe it\n" in err
    convert = [CAPTURE, "convert", shipped("datagram.pcap"), "-"]
    done = subprocess.run(convert, stdout=terminal, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "stdout is a terminal: name a file, or pipe it\n" in done.stderr
    os.set_blocking(controller, False)
    with pytest.raises(BlockingIOError):
        os.read(controller, 1)
    os.close(terminal)
    os.close(controller)


# 32,768 buffers have 32768 * (4096 + 192) bytes: 134 MiB. They are halved until the limit is met.
@pytest.mark.parametrize(
    "mib, mtu, buffers, registered",
    [
        (None, 2048, 32768, 134),
        (None, 4096, 32768, 142),  # 4096 bytes of payload, 256 of headers
        (8, 2048, 1024, 4),
        (4, 2048, 512, 2),
        (5, 2048, 1024, 4),
        (5, 4096, 1024, 4),
        (4.2, 2048, 1024, 4),  # 1024 * 4288 bytes
        (4.2, 4096, 512, 2),  # 1024 * 4544 bytes are more than 4.2 MiB
        (0, 2048, 0, 0),
    ],
)
def test_default_memory_keeps_the_limit_and_is_listed(player, mib, mtu, buffers, registered):
    maximum = limit(int(mib * 2**20)) if mib is not None else None
    scenario = f"mtu {mtu}\nsynthetic 100\n" + ("memlock on\n" if maximum else "")
    status, out, err = player.run(scenario, "--list", preexec_fn=maximum)
    assert status == 0
    if buffers:
        text = f"memory    {registered} MiB registered ({buffers} buffers), up to 256 MiB held"
    else:
        text = "memory    no buffers can be registered"
    assert text in out
    arguments = ("-s", "-w", "m.pcap", "--count", "10")
    status, out, err = player.run(scenario, *arguments, preexec_fn=maximum)
    assert status == (0 if buffers else 1), err
    assert (f"{buffers} buffers instead of 32768" in err) == (0 < buffers < 32768), err
    assert ("may lock 0 MiB of memory (memlock)" in err) == (buffers == 0), err


@pytest.mark.parametrize("mtu", [2048, 4096])
def test_buffers_take_the_largest_frame_of_the_mtu(player, mtu):
    size = mtu + 8 + 40 + 12 + 4 + 28 + 4 + 2  # LRH, GRH, BTH, XRCETH, AtomicETH, CRCs
    scenario = f"mtu {mtu}\nsynthetic {size}\n"
    status, _, err = player.run(scenario, "-s", "-w", "m.pcap", "--count", "10")
    assert status == 0 and f"10 packets, {10 * size} octets, 0 drops" in err

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture -r: the frames of another program's capture; and --sniffer ibdump, on a played ibdump.

Expected: the frames that were piped in; selections, rotation and counts as for a device."""
import functools
import glob
import os
import signal
import struct
import subprocess

import pytest

from support import capfile
from support.capture import CAPTURE, SANITIZED, contents, fed, frames_of, run, start, summary
from support.firmware import own_run_and_tmp
from support.paths import testdata as shipped


@pytest.fixture(autouse=True)
def fixture_folder(folder):  # pylint: disable=unused-argument
    pass


def pipe(data, *arguments, status=0):
    """Runs ipoib-capture -r - with these bytes as its standard input; returns its stderr."""
    done = subprocess.run(
        [CAPTURE, "-r", "-", "-s", *arguments], input=data, capture_output=True, check=False
    )
    err = done.stderr.decode()
    assert done.returncode == status, err
    assert "Sanitizer" not in err, err
    return err


def capture_of(name):
    with open(shipped(name), "rb") as f:
        return f.read()


DATA = capture_of("datagram.pcap")
SIZE = sum(map(len, fed()))


def erf_of(frames):
    """A classic pcap as ibdump writes it."""
    records = []
    for n, frame in enumerate(frames):
        head = struct.pack("<Q", (n + 1) << 32) + struct.pack(
            ">BBHHH", 21, 4, 16 + len(frame), 0, len(frame)
        )
        records.append(((n + 1) * 10**9, head + frame, 16 + len(frame)))
    return capfile.pcap(capfile.ERF, records)


@pytest.mark.parametrize("data", [DATA, erf_of(fed())], ids=["247", "erf"])
def test_frames_of_a_pipe_are_captured(data):
    assert f"117 packets, {SIZE} octets, 0 drops" in pipe(data, "-w", "s.pcap")
    assert frames_of("s.pcap") == fed()


def test_times_are_those_of_the_input():
    pipe(erf_of(fed()[:3]), "-w", "s.pcapng", "--format", "pcapng")
    assert [frame.time for frame in capfile.read("s.pcapng").frames] == [1e9, 2e9, 3e9]


def test_a_file_can_be_read_too():
    run("", "-r", shipped("datagram.pcap"), "-s", "-w", "s.pcap").expect(0, summary(117, SIZE, 0))
    assert frames_of("s.pcap") == fed()


def test_count_snaplen_selection_and_rotation():
    pipe(DATA, "-w", "c.pcap", "--count", "5", "--snaplen", "40")
    assert frames_of("c.pcap") == [frame[:40] for frame in fed()[:5]]
    err = pipe(DATA, "-w", "o.pcap", "--only", "sa")
    assert "left out: " in err and 0 < len(frames_of("o.pcap")) < 117
    pipe(DATA, "-w", "r.pcap", "--ring-packets", "50")
    rings = sorted(glob.glob("r_*.pcap"))
    assert [len(frames_of(name)) for name in rings] == [50, 50, 17]
    assert sum(map(frames_of, rings), []) == fed()


def test_frames_without_infiniband_keep_their_link_type():
    records = [(10**9 * n, bytes([8, 0, 0, 0, n]) + bytes(40), 45) for n in range(1, 4)]
    err = pipe(capfile.pcap(242, records), "-w", "i.pcap")
    assert "3 packets, 135 octets, 0 drops" in err
    capture = capfile.read("i.pcap")
    assert capture.linktype == 242
    assert [frame.data for frame in capture.frames] == [data for _, data, _ in records]


def test_ethernet_stays_ethernet():
    records = [(10**9, bytes(60), 60)]
    pipe(capfile.pcap(1, records), "-w", "e.pcap")
    assert capfile.read("e.pcap").linktype == 1


def test_link_type_0_is_no_infiniband():
    records = [(10**9 * n, b"\2\0\0\0" + bytes([69, n]) + bytes(40), 46) for n in range(3)]
    pipe(capfile.pcap(0, records), "-w", "n.pcap")
    capture = capfile.read("n.pcap")
    assert capture.linktype == 0
    assert [frame.data for frame in capture.frames] == [data for _, data, _ in records]


def test_link_type_above_16_bits_is_left_out():
    """libpcap from 1.10.5 on refuses such a file itself."""
    data = capfile.pcap(0x10000, [(10**9, bytes(60), 60)])
    said = pipe(data, "-w", "x.pcap", status=1)
    assert "1 packets were left out" in said or "linktype reserved field not zero" in said


def test_long_frames_are_truncated():
    data = capfile.pcap(capfile.INFINIBAND, [(10**9, bytes([0, 2]) + bytes(99998), 100000)])
    pipe(data, "-w", "l.pcapng", "--format", "pcapng")
    (frame,) = capfile.read("l.pcapng").frames
    assert len(frame.data) <= 65535 + 16


@pytest.mark.parametrize("data, text", [
    (b"", "standard input: "), (b"nonsense" * 10, "standard input: "),
], ids=["empty", "no capture"])  # fmt: skip
def test_input_that_is_no_capture_leaves_an_old_file_unchanged(data, text):
    with open("old.pcap", "w", encoding="ascii") as f:
        f.write("old")
    assert text in pipe(data, "-w", "old.pcap", status=1)
    with open("old.pcap", encoding="ascii") as f:
        assert f.read() == "old"


def test_input_that_is_cut_short_is_reported_and_its_packets_stay():
    err = pipe(DATA[:-10], "-w", "t.pcap", status=1)
    assert "standard input: " in err and "116 packets" in err
    assert frames_of("t.pcap") == fed()[:-1]


def test_other_packets_are_counted():
    data = erf_of(fed()[:2])
    ethernet = struct.pack("<Q", 9 << 32) + struct.pack(">BBHHH", 2, 4, 18 + 60, 0, 60) + bytes(62)
    data += struct.pack("<IIII", 9, 0, len(ethernet), len(ethernet)) + ethernet
    err = pipe(data, "-w", "m.pcap", status=1)
    assert "1 packets were left out" in err and "2 packets, " in err


@pytest.mark.parametrize("form", ["erf", "pcapng"])
def test_frames_without_a_byte_are_captured(form):
    data = capfile.pcap(capfile.INFINIBAND, [(10**9 * n, b"", 0) for n in range(1, 4)])
    assert "3 packets, 0 octets, 0 drops" in pipe(data, "-w", "e.pcap", "--format", form)


def test_time_that_no_capture_can_have_is_named():
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    interface = struct.pack("<IIHHII", 1, 20, 247, 0, 0, 20)
    packet = struct.pack("<IIIIIII", 6, 36, 0, 0x7FFFFFFF, 0, 4, 4) + b"\0\2ab"
    err = pipe(section + interface + packet + struct.pack("<I", 36), "-w", "t.pcap", status=1)
    assert "1 packets were left out: " in err and "no time between 1970 and 2106" in err


def test_many_frames_go_through_a_pipe_in_order():
    count = 5000 if SANITIZED else 60000
    frames = [b"\0\2" + bytes(90) + n.to_bytes(8, "big") for n in range(count)]
    pipe(capfile.pcap(capfile.INFINIBAND, [(0, f, len(f)) for f in frames]), "-w", "n.pcap")
    assert frames_of("n.pcap") == frames


def test_stream_is_written_while_it_is_read_and_a_signal_ends_it():
    read_end, write_end = os.pipe()
    process = start("", "-r", f"/dev/fd/{read_end}", "-w", "-", pass_fds=(read_end,))
    os.close(read_end)
    os.write(write_end, DATA)
    piece = b""
    while len(piece) < SIZE:
        piece += process.stdout.read1(1 << 16)
    process.end(signal.SIGINT).expect(0, "117 packets")
    os.close(write_end)


def test_options_of_devices_have_no_effect():
    assert "have no effect with -r" in pipe(DATA, "-w", "s.pcap", "-d", "mlx5_0")


# --- ibdump


@pytest.fixture(name="ibdump", scope="module")
def fixture_ibdump():
    """Makes a program that plays ibdump, with these lines of shell after the first."""
    own_run_and_tmp()
    os.makedirs("/run/played")

    def make(*lines):
        path = "/run/played/ibdump"
        with open(path, "w", encoding="ascii") as f:
            f.write('#!/bin/sh\necho "$@" > /run/played/arguments\nenv > /run/played/environment\n')
            f.write("".join(line + "\n" for line in lines))
        os.chmod(path, 0o755)
        return path

    return make


DEVICE = "device mlx5_0\nlid 1\n"


def of_ibdump(ibdump, *arguments, **more):
    return start(DEVICE, "--sniffer", "ibdump", "--ibdump", ibdump, "-s", *arguments, **more)


def test_frames_of_ibdump_are_captured(ibdump):
    path = ibdump("trap 'exit 0' INT", "cat /run/played/capture", "sleep 100 & wait")
    with open("/run/played/capture", "wb") as f:
        f.write(erf_of(fed()))
    arguments = ("-w", "i.pcapng", "--format", "pcapng", "--count", "117", "-b", "14", "-j")
    of_ibdump(path, *arguments).end().expect(0, summary(117, SIZE, 0))
    assert contents(capfile.read("i.pcapng")) == fed()
    with open("/run/played/arguments", encoding="ascii") as f:
        assert f.read() == "--ib-dev=mlx5_0 --ib-port=1 --write=- --max-burst=14 --jumbo-mtu\n"
    with open("/run/played/environment", encoding="ascii") as f:
        assert "IPOIB_REPLAY" not in f.read()


def test_direction_is_ibdumps_too(ibdump):
    path = ibdump("cat /run/played/capture")
    with open("/run/played/capture", "wb") as f:
        f.write(erf_of(fed()))
    of_ibdump(path, "-w", "d.pcap", "-I", "tx").end().expect(0)
    with open("/run/played/arguments", encoding="ascii") as f:
        assert "--direction=tx" in f.read()
    assert 0 < len(frames_of("d.pcap")) < 117


def test_ibdump_that_fails_is_reported(ibdump):
    result = of_ibdump(ibdump("echo no such adapter >&2", "exit 1"), "-w", "f.pcap").end()
    result.expect(1, "no such adapter", "ibdump: ")
    assert not os.path.exists("f.pcap")


def test_ibdump_that_fails_later_is_reported(ibdump):
    path = ibdump("cat /run/played/capture", "exit 3")
    with open("/run/played/capture", "wb") as f:
        f.write(erf_of(fed()))
    # as under a parent that ignores the end of its children
    before = functools.partial(signal.signal, signal.SIGCHLD, signal.SIG_IGN)
    of_ibdump(path, "-w", "f.pcap", before=before).end().expect(
        1, r"ibdump has failed \(exit status 3\)"
    )
    assert frames_of("f.pcap") == fed()


def test_ibdump_that_fills_the_pipe_can_end(ibdump):
    # it writes more than the slots have room for, and ends by the signal between two writes only
    path = ibdump(
        "trap 'stop=1' INT",
        "head -c 24 /run/played/capture",
        'while [ -z "$stop" ]; do tail -c +25 /run/played/capture; done',
        "echo ended > /run/played/ended",
    )
    with open("/run/played/capture", "wb") as f:
        f.write(erf_of(fed() * 100))
    of_ibdump(path, "-w", "f.pcap", "--count", "100").end().expect(0)
    assert os.path.exists("/run/played/ended")
    assert frames_of("f.pcap") == fed()[:100]


def test_ibdump_that_ignores_the_first_signal_is_ended(ibdump):
    path = ibdump("trap '' INT", "cat /run/played/capture", "exec sleep 100")
    with open("/run/played/capture", "wb") as f:
        f.write(erf_of(fed()))
    arguments = ("-w", "f.pcap", "--count", "117")
    of_ibdump(path, *arguments).end().expect(1, r"ibdump has failed \(signal 15\)")


def test_ibdump_of_another_user_is_refused(ibdump):
    path = ibdump("exit 0")
    os.chown(path, 1, 1)
    of_ibdump(path, "-w", "f.pcap").end().expect(1, "belongs to another user than root")
    os.chown(path, 0, 0)


def test_ibdump_that_is_missing(ibdump):  # pylint: disable=unused-argument
    result = start(DEVICE, "--sniffer", "ibdump", "-s", "-w", "f.pcap").end()
    result.expect(1, r"ibdump is not installed: build it from mstflint's source \(folder ibdump\)")

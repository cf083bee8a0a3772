# SPDX-License-Identifier: GPL-2.0-or-later
"""Common code of the tests of "ipoib-capture convert": the call of the program, its input files, a
reader of its output files."""
import os
import random
import re
import struct
import subprocess

import pytest

from support import capfile, wait
from support.capfile import ERF, ERF_INFINIBAND, ETHERNET, INFINIBAND, IPOIB
from support.paths import BIN

PROGRAM = os.path.join(BIN, "ipoib-capture")
# A sanitizer's finding has its own exit status, so that no test takes it for an error of the
# program.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99"}
SUMMARY = re.compile(r"ipoib-capture: [0-9]+ packets, [0-9]+ octets, [0-9]+ drops")
LIMIT = 60  # seconds for one run

# Two frames of 52 bytes, and the second that they were captured in.
A = bytes.fromhex("f0020001000d0002") + bytes(range(44))
B = bytes.fromhex("f0020002000d0001") + bytes(range(100, 144))
T = 1700000000


def at(nanoseconds, second=T):
    """A time in nanoseconds."""
    return second * 10**9 + nanoseconds


def call(*arguments, **how):
    """Runs the program. Output and messages are bytes; how: arguments of subprocess.run."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LIMIT, **how}
    if "input" not in how:
        how.setdefault("stdin", subprocess.DEVNULL)
    return wait.run([PROGRAM, *map(str, arguments)], env=ENVIRONMENT, check=False, **how)


def convert(*arguments, status=0, says=r" 0 drops$", **how):
    """Runs "convert"; checks the exit status, a message (a regular expression), and the summary in
    the last line.

    Returns the text on stderr."""
    result = call("convert", *arguments, **how)
    return check_end(result.returncode, result.stderr.decode(errors="replace"), status, says)


def check_end(got, errors, status, says):
    """Checks the exit status and the text on stderr, as convert() does."""
    assert got == status, f"exit status {got}, expected {status}; stderr: {errors}"
    assert re.search(says, errors, re.MULTILINE), f"expected {says!r}; stderr: {errors}"
    if status != 2:
        last = errors.splitlines()[-1]
        assert SUMMARY.fullmatch(last), f"no summary in the last line; stderr: {errors}"
    return errors


def read(path):
    """A capture that the program wrote; a pcapng file must be one little-endian section in
    nanoseconds."""
    data = capfile.load(path)
    capture = capfile.parse(data)
    if capture.format == "pcapng":
        _, section, endian = next(capfile.blocks(data))
        assert (endian, section[:16]) == ("<", capfile.section()[8:24]), section.hex()
        resolutions = [i.options.get(9) for i in capture.interfaces]
        assert set(resolutions) <= {b"\x09"}, resolutions
    return capture


def packets(path):
    """(link type, time, bytes on the wire, bytes, drops) of each packet of a file, as stored in the
    file."""
    capture = read(path)
    return [
        (
            capture.interfaces[f.interface].linktype,
            f.time,
            f.wire,
            f.data.hex(),
            struct.unpack("<Q", f.options[4])[0] if 4 in f.options else 0,  # epb_dropcount
        )
        for f in capture.frames
    ]


def frames(path):
    """(time, bytes captured, bytes on the wire, bytes) of each InfiniBand frame, for any link type.

    An ERF header must have the form that "convert" writes: type 21, flags 4, its own length, no
    losses."""
    capture, found = read(path), []
    for f in capture.frames:
        time, data, wire = f.time, f.data, f.wire
        if capture.interfaces[f.interface].linktype == ERF:
            time, header = capfile.erf_time(data), data[8:16]
            wire = struct.unpack(">H", header[6:])[0]
            expected = struct.pack(">BBHHH", ERF_INFINIBAND, 4, len(data), 0, wire)
            assert header == expected, f"ERF header {header.hex()}, expected {expected.hex()}"
            data = data[16:]
        found.append((time, len(data), wire, data.hex()))
    return found


# The input files.


def pcap(records, link=INFINIBAND, nanoseconds=True, **how):
    return capfile.pcap(link, records, nanoseconds, **{"snaplen": 65535, **how})


def pcapng(records, links=(INFINIBAND,), endian="<", resolution=9):
    """A pcapng file whose packets take turns on the interfaces; resolution: the digits of a
    second's fraction."""
    out = [capfile.section(endian)]
    for link in links:
        out.append(capfile.interface(link, endian=endian, values={9: bytes([resolution])}))
    for n, (time, data, wire) in enumerate(records):
        ticks = time // 10 ** (9 - resolution)
        out.append(capfile.packet(ticks, data, wire, n % len(links), endian))
    return b"".join(out)


def in_erf(records):
    """A pcap file of ERF records, all captured at one time."""
    return pcap([(at(0), r, len(r)) for r in records], link=ERF, nanoseconds=False)


def erf(stamp, data, wire, kind=ERF_INFINIBAND, **how):
    return capfile.erf_record_of(kind, (T << 32) + stamp, data, wire, **how)


def _timed_files():
    """Three frames in every kind of file, and times that a conversion may lose."""
    files = {}
    # From 999993 microseconds on, the ERF times of ibdump overflow; none of these may.
    three = [(at(999993000), A, 52), (at(999999000), B, 52), (at(0, T + 1), A, 52)]
    for name, endian in (("le", "<"), ("be", ">")):
        files[f"us-{name}.pcap"] = pcap(three, endian=endian, nanoseconds=False)
        files[f"ns-{name}.pcap"] = pcap(three, endian=endian)
        files[f"ng-{name}.pcapng"] = pcapng(three, endian=endian)
        files[f"ng-us-{name}.pcapng"] = pcapng(three, endian=endian, resolution=6)
    edge = [0, 1, 2, 4, 5, 499999999, 500000000, 500000001]
    edge += [999992999, 999993000, 999999998, 999999999]
    edge += random.Random(1).sample(range(10**9), 3000)
    seconds = [0, 1, 2**31 - 1, 2**31, 2**32 - 1] * 700
    times = [(at(n, s), A, 52) for s, n in zip(seconds, edge)]
    files["times.pcap"] = pcap(times)
    # tshark prints times after 2038 as negative ones
    files["until2038.pcap"] = pcap([r for r in times if r[0] < 2**31 * 10**9])
    return files


def _erf_files():
    """ERF records of all kinds, good and bad."""
    host = bytes.fromhex("1100000000000001")  # one extension header (Host ID), no further one
    two = bytes.fromhex("9100000000000001") + host
    extended = ERF_INFINIBAND | 0x80
    other = [
        erf(0, A, 52),
        erf(1, b"\0\0" + A, 52, kind=2),
        erf(2, b"", 0, kind=48, padding=8),
        erf(3, b"meta" * 2, 8, kind=27),
        erf(4, A, 52, kind=extended, extensions=host),
        erf(5, B, 52, kind=extended, extensions=two, lost=7, flags=5),
        erf(6, A, 52, padding=4),
        erf(7, B, 52, kind=25),
    ]
    no_extension = erf(0, host[:1] + A[:3], 4, kind=extended)  # the header announces it; 4 bytes
    bad = [erf(0, A, 52), b"short", erf(0, A, 52, kind=0), no_extension, erf(0, B, 52)]
    one = erf(0, A, 52)
    ibdump = [
        (at(u * 1000), erf(u * 4295, A, 52), 68)
        for u in (0, 1, 131072, 500000, 999992, 999993, 999999)
    ]
    moved = [(at(0, T + 3600), erf(2**31, A, 52), 68)]  # the time in the file was edited
    coarse = [(at(500000000), erf(2**31 + 500, A, 52), 68)]  # the record's time: 0.5 s + 116 ns
    return {
        "other.erf": b"".join(other),
        "other.pcap": in_erf(other),
        "infiniband.erf": other[0] + other[4] + other[5] + other[6],
        "bad.pcap": in_erf(bad),
        # like a record after editcap -s: rlen is still that of the whole one
        "cut.pcap": pcap([(at(0), one[:36], 68)], link=ERF, nanoseconds=False),
        "longer.pcap": pcap([(at(0), one + b"pad!", 72)], link=ERF, nanoseconds=False),
        "ibdump.pcap": pcap(ibdump, link=ERF, nanoseconds=False),
        "moved.pcap": pcap(moved, link=ERF, nanoseconds=False),
        "moved.pcapng": pcapng(moved, links=(ERF,)),
        "coarse.pcapng": pcapng(coarse, links=(ERF,), resolution=6),
        "text.erf": b"this is no capture file at all, it is only text\n",
    }


def _other_files():
    long = [(at(5), bytes(65520), 65520), (at(6), bytes(65519), 65519), (at(7), A, 65536)]
    return {
        "two.pcap": pcap([(at(1), A, 52), (at(999999999, T + 1), B, 52)]),
        "sliced.pcap": pcap([(at(5), A[:20], 52), (at(6), B[:1], 4000), (at(7), A, 52)]),
        "zero.pcap": pcap([(at(5), b"", 52), (at(6), A, 52)]),
        "none.pcap": pcap([]),
        "long.pcap": pcap(long, snaplen=262144),
        "ether.pcap": pcap([(at(5), A, 52)], link=ETHERNET),
        "wlan.pcap": pcap([(at(5), A, 52)], link=105),
        "both.pcapng": pcapng(
            [(at(5), A, 52), (at(6), erf(0, B, 52), 68)], links=(INFINIBAND, ERF)
        ),
        "ipoib242.pcap": pcap([(at(5), A, 52)], link=IPOIB),
        "mixed.pcapng": pcapng([(at(5), A, 52), (at(6), B, 52)], links=(INFINIBAND, ETHERNET)),
    }


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The folder with the input files."""
    folder = tmp_path_factory.mktemp("inputs")
    for name, data in {**_timed_files(), **_erf_files(), **_other_files()}.items():
        (folder / name).write_bytes(data)
    return folder

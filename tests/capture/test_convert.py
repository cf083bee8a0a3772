# SPDX-License-Identifier: GPL-2.0-or-later
"""The output of "ipoib-capture convert": files of every format, their bytes, times and lengths.

The real captures are those of link type 247 (INFINIBAND) in testdata. support/capfile.py, which
shares no code with the program, makes the other inputs and reads the outputs; tshark, capinfos and
tcpdump read them too, where they are installed. Errors and hostile input:
tests/capture/test_convert_errors.py."""
import functools
import glob
import gzip
import os
import re
import select
import struct
import subprocess
import time

import pytest

from support import capfile, wait
from support.capfile import ERF, INFINIBAND
from support.convert import A, B, ENVIRONMENT, LIMIT, PROGRAM, T
from support.convert import at, call, check_end, convert, frames, inputs, packets, read
from support.folders import open_folder
from support.needs import needs
from support.paths import TESTDATA, WITH_PLUGINS

__all__ = ["inputs"]  # a fixture
FORMATS = ["pcap", "pcapng", "erf"]
CAPTURES = {
    os.path.basename(path)[:-5]: path
    for path in sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))
    if capfile.read(path).linktype == INFINIBAND
}
each_capture = pytest.mark.parametrize("name", CAPTURES)
each_format = pytest.mark.parametrize("suffix", FORMATS)


def wireshark(*command):
    """Runs a program of the Wireshark suite without our plugins; returns its output."""
    result = wait.run(
        [*WITH_PLUGINS, *map(str, command)],
        env={**os.environ, "IPOIB_PLUGINS": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert result.returncode == 0, f"exit status {result.returncode}: {result.stderr}"
    return result.stdout


# Real captures: converted to every format and back.


@pytest.fixture(scope="module")
def there():
    """A function that converts a capture of testdata to a format, and returns the path of the
    output."""
    with open_folder() as folder:

        @functools.cache
        def path_of(name, suffix):
            convert(CAPTURES[name], folder / f"{name}.{suffix}")
            return folder / f"{name}.{suffix}"

        yield path_of


@pytest.fixture(scope="module")
def tshark_lines(there):
    """tshark's lines for each capture's pcap file. One run reads the frames of all these files in
    one file."""
    needs("tshark", "build")
    files = [capfile.load(there(name, "pcap")) for name in CAPTURES]
    assert len({data[:24] for data in files}) == 1, "the file headers differ"
    fields = ["frame.time_epoch", "frame.len", "frame.cap_len", "erf.types.type", "frame.protocols"]
    options = [word for field in fields for word in ("-e", field)]
    with open_folder() as folder:
        path = folder / "all.pcap"
        path.write_bytes(files[0][:24] + b"".join(data[24:] for data in files))
        lines = wireshark("tshark", "-r", path, "-T", "fields", "-E", "separator= ", *options)
    lines, found = lines.splitlines(), {}
    for name, data in zip(CAPTURES, files):
        count = len(capfile.parse(data).frames)
        found[name], lines = lines[:count], lines[count:]
    assert not lines, "tshark shows more frames than the files have"
    return found


@pytest.fixture(scope="module")
def capinfos_counts(there):
    """The number of packets that capinfos counts in each converted file."""
    needs("capinfos", "build")
    files = [there(name, suffix) for name in CAPTURES for suffix in FORMATS]
    lines = wireshark("capinfos", "-M", "-T", "-r", "-c", *files).splitlines()
    return {path: int(count) for path, count in (line.split("\t") for line in lines)}


def test_testdata_has_captures_of_link_type_247():
    assert CAPTURES


@each_format
@each_capture
def test_conversion_and_back_gives_the_same_frames(name, suffix, there, tmp_path):
    back = tmp_path / "back.pcap"
    convert("-f247", there(name, suffix), back)
    assert frames(there(name, suffix)) == frames(CAPTURES[name])
    assert packets(back) == packets(CAPTURES[name])


@each_capture
def test_tshark_reads_it(name, tshark_lines):
    """Time, lengths, ERF type and a protocol of every frame."""
    expected = [
        f"{f.time // 10**9}.{f.time % 10**9:09d} {f.wire} {len(f.data)} 21 infiniband"
        for f in capfile.read(CAPTURES[name]).frames
    ]
    got = [re.sub(r" erf:infiniband[^ ]*$", " infiniband", line) for line in tshark_lines[name]]
    assert got == expected


@each_format
@each_capture
def test_capinfos_and_tcpdump_count_the_packets(name, suffix, there, capinfos_counts):
    """libpcap reads no raw ERF files. It cannot print ERF: a line that begins with the time for
    each packet."""
    needs("tcpdump", "build")
    path = there(name, suffix)
    expected = len(capfile.read(CAPTURES[name]).frames)
    assert capinfos_counts[str(path)] == expected
    if suffix != "erf":
        result = subprocess.run(
            ["tcpdump", "-n", "-r", str(path)], capture_output=True, text=True, check=False
        )
        lines = [line for line in result.stdout.splitlines() if re.match(r"[0-9:.]* ", line)]
        assert len(lines) == expected, result.stderr


# The bytes of the files.

# The time of the first record is 1 ns = ceil(4.29) units; type 21, flags 4, rlen 68, wlen 52.
RECORD_A = "0500000000f15365 1504 0044 0000 0034" + A.hex()
RECORD_B = "fcffffff01f15365 1504 0044 0000 0034" + B.hex()


def test_pcap_is_byte_for_byte_as_ibdump_writes_it(inputs, tmp_path):
    """ibdump's header: d4c3b2a1 0200 0400 0 0 ffff0000 c5000000; both lengths of a record are 68 =
    0x44."""
    convert(inputs / "two.pcap", tmp_path / "out.pcap")
    expected = (
        "d4c3b2a1020004000000000000000000ffff0000c5000000"
        "00f1536500000000 4400000044000000"
        + RECORD_A
        + "01f153653f420f00 4400000044000000"
        + RECORD_B
    )
    assert capfile.load(tmp_path / "out.pcap").hex() == expected.replace(" ", "")


def test_raw_erf_is_byte_for_byte_the_records(inputs, tmp_path):
    convert(inputs / "two.pcap", tmp_path / "out.erf")
    assert capfile.load(tmp_path / "out.erf").hex() == (RECORD_A + RECORD_B).replace(" ", "")


def test_pcapng_has_the_time_of_the_file_and_that_of_the_record(inputs, tmp_path):
    convert(inputs / "two.pcap", tmp_path / "out.pcapng")
    assert packets(tmp_path / "out.pcapng") == [
        (ERF, 1700000000000000001, 68, RECORD_A.replace(" ", ""), 0),
        (ERF, 1700000001999999999, 68, RECORD_B.replace(" ", ""), 0),
    ]


def same_after_the_way_back(path, tmp_path, suffix):
    """Converts to a format and back; the resulting file must be the same byte for byte."""
    out, back = tmp_path / f"out.{suffix}", tmp_path / "back.pcap"
    convert(path, out)
    convert(out, back)
    assert capfile.load(back) == capfile.load(path), f"{path.name} differs after {suffix} and back"
    return out


def test_conversion_back_gives_the_same_file(inputs, tmp_path):
    same_after_the_way_back(inputs / "two.pcap", tmp_path, "erf")


# Times and lengths.


@pytest.mark.parametrize(
    "name",
    [
        f"{kind}-{endian}.{suffix}"
        for kind, suffix in (("us", "pcap"), ("ns", "pcap"), ("ng", "pcapng"), ("ng-us", "pcapng"))
        for endian in ("le", "be")
    ],
)
def test_input_of_either_byte_order_and_resolution_is_read(name, inputs, tmp_path):
    """No time overflows from 999993 microseconds on, as ibdump's times do."""
    convert(inputs / name, tmp_path / "out.pcap")
    assert frames(tmp_path / "out.pcap") == [
        (1700000000999993000, 52, 52, A.hex()),
        (1700000000999999000, 52, 52, B.hex()),
        (1700000001000000000, 52, 52, A.hex()),
    ]


@each_format
def test_nanoseconds_survive(suffix, inputs, tmp_path):
    same_after_the_way_back(inputs / "times.pcap", tmp_path, suffix)


@pytest.mark.parametrize("suffix", ["pcap", "pcapng"])
def test_tshark_shows_the_nanoseconds(suffix, inputs):
    needs("tshark", "build")
    times = [f.time for f in capfile.read(inputs / "until2038.pcap").frames]
    with open_folder() as folder:
        out = folder / f"out.{suffix}"
        convert(inputs / "until2038.pcap", out)
        got = wireshark("tshark", "-r", out, "-T", "fields", "-e", "frame.time_epoch").splitlines()
    assert got == [f"{t // 10**9}.{t % 10**9:09d}" for t in times]


@each_format
def test_both_lengths_of_sliced_packets_survive(suffix, inputs, tmp_path):
    out = same_after_the_way_back(inputs / "sliced.pcap", tmp_path, suffix)
    assert frames(out) == frames(inputs / "sliced.pcap")


def test_a_record_header_adds_16_bytes_to_both_lengths_in_the_file(inputs, tmp_path):
    convert(inputs / "sliced.pcap", tmp_path / "out.pcap")
    found = read(tmp_path / "out.pcap").frames
    assert [(len(f.data), f.wire) for f in found] == [(36, 68), (17, 4016), (68, 68)]


def test_no_packets(inputs, tmp_path):
    out = tmp_path / "out.pcap"
    convert(inputs / "none.pcap", out, says=": 0 packets, 0 octets, 0 drops")
    assert out.stat().st_size == 24


def test_both_link_types_of_infiniband_in_one_file(inputs, tmp_path):
    convert(inputs / "both.pcapng", tmp_path / "out.pcap")
    assert [f[1:] for f in frames(tmp_path / "out.pcap")] == [
        (52, 52, A.hex()),
        (52, 52, B.hex()),
    ]


@pytest.mark.parametrize("name, link", [("ipoib242.pcap", capfile.IPOIB), ("ether.pcap", 1)])
def test_other_link_types_are_copied_to_another_file_format(name, link, inputs, tmp_path):
    convert(inputs / name, tmp_path / "out.pcapng")
    assert packets(tmp_path / "out.pcapng") == [(link, at(5), 52, A.hex(), 0)]
    convert(tmp_path / "out.pcapng", tmp_path / "back.pcap")
    assert packets(tmp_path / "back.pcap") == packets(inputs / name)


@pytest.mark.parametrize("name", ["two.pcap", "ng-le.pcapng", "infiniband.erf"])
def test_compressed_pipe_gives_the_same_output(name, inputs, tmp_path):
    """Two members, as gzip writes when it appends to a file."""
    data = capfile.load(inputs / name)
    packed = gzip.compress(data[:50]) + gzip.compress(data[50:])
    convert("-", tmp_path / "out.pcap", input=packed)
    convert(inputs / name, tmp_path / "plain.pcap")
    assert capfile.load(tmp_path / "out.pcap") == capfile.load(tmp_path / "plain.pcap")


@pytest.mark.parametrize("endian", "<>")
def test_pcapng_drop_counts_are_copied(endian, tmp_path):
    values = {4: struct.pack(endian + "Q", 9)}
    data = capfile.section(endian) + capfile.interface(INFINIBAND, endian=endian)
    data += capfile.packet(at(5), A, endian=endian, values=values)
    data += capfile.packet(at(6), B, endian=endian)
    (tmp_path / "in.pcapng").write_bytes(data)
    convert(tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    assert [p[4] for p in packets(tmp_path / "out.pcapng")] == [9, 0]


# Streams.


def test_stdin_and_stdout_may_be_pipes(inputs, tmp_path):
    data, out = capfile.load(inputs / "two.pcap"), tmp_path / "out.pcap"
    with open(out, "wb") as f:
        convert("-", "-", input=data, stdout=f, says=": 2 packets, 104 octets, 0 drops")
    assert frames(out) == frames(inputs / "two.pcap")
    middle = call("convert", inputs / "two.pcap", "-").stdout
    assert call("convert", "-", "-", input=middle).stdout == data


def test_a_packet_passes_from_pipe_to_pipe_before_the_input_ends(inputs):
    process = subprocess.Popen(
        [PROGRAM, "convert", "-", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    with process:
        process.stdin.write(capfile.load(inputs / "two.pcap")[:92])
        process.stdin.flush()
        got, clock = b"", wait.Clock()
        while len(got) < 108 and clock.seconds() < LIMIT:
            if not select.select([process.stdout], [], [], 1)[0]:
                continue
            piece = os.read(process.stdout.fileno(), 108 - len(got))
            assert piece, f"the output ended after {len(got)} bytes: {process.stderr.read()}"
            got += piece
        assert len(got) == 108, f"{len(got)} bytes came in {LIMIT} s, expected 108"
        process.stdin.close()


# Formats: by name, or by the suffix of the output.


@pytest.mark.parametrize(
    "name, options, output, link, first",
    [
        pytest.param("two.pcap", "erf", "out.x", ERF, "d4c3b2a1", id="erf"),
        pytest.param("two.pcap", "247", "out.x", INFINIBAND, "4d3cb2a1", id="247-to-247"),
        pytest.param("two.pcap", "pcapng", "out.x", ERF, "0a0d0d0a", id="pcapng"),
        pytest.param("two.pcap", "247,pcapng", "out.x", INFINIBAND, "0a0d0d0a", id="247-pcapng"),
        pytest.param("two.pcap", "pcap", "out.pcapng", ERF, "d4c3b2a1", id="pcap-over-suffix"),
        pytest.param("two.pcap", "raw", "out.x", ERF, "05000000", id="raw"),
        pytest.param("infiniband.erf", "erf", "out.x", ERF, "d4c3b2a1", id="erf-to-erf"),
        pytest.param(
            "infiniband.erf", "247,pcapng", "out.x", INFINIBAND, "0a0d0d0a", id="erf-to-247-pcapng"
        ),
    ],
)
def test_format_option(name, options, output, link, first, inputs, tmp_path):
    convert("-f", options, inputs / name, tmp_path / output)
    assert capfile.load(tmp_path / output)[:4].hex() == first
    assert packets(tmp_path / output)[0][0] == link


# ERF records of all kinds.


@pytest.mark.parametrize("name", ["other.erf", "other.pcap"])
def test_records_without_an_infiniband_packet_are_left_out_and_counted(name, inputs, tmp_path):
    """Types 2 and 25 count as drops, 27 and 48 have no packet, the others are frames."""
    out = tmp_path / "out.pcapng"
    says = ": 4 packets, 208 octets, 2 drops"
    errors = convert(inputs / name, out, "-f247", status=1, says=says)
    for message in (
        "1 record left out: ERF type 2 ",
        "1 record left out: ERF type 25 ",
        "2 ERF records without a packet",
        "2 packets copied without ERF extension headers",
        "7 packets had been lost",
    ):
        assert message in errors
    assert [(link, wire, data, drops) for link, _, wire, data, drops in packets(out)] == [
        (INFINIBAND, 52, A.hex(), 0),
        (INFINIBAND, 52, A.hex(), 0),
        (INFINIBAND, 52, B.hex(), 7),
        (INFINIBAND, 52, A.hex(), 0),
    ]


@pytest.mark.parametrize(
    "name, options, suffix",
    [
        pytest.param("other.erf", "erf", "pcap", id="to-pcap"),
        pytest.param("other.erf", "erf,pcapng", "pcapng", id="to-pcapng"),
        pytest.param("other.pcap", "erf", "erf", id="from-pcap"),
    ],
)
def test_every_record_is_copied_byte_for_byte(name, options, suffix, inputs, tmp_path):
    out, back = tmp_path / f"out.{suffix}", tmp_path / "back.erf"
    convert("-f", options, inputs / name, out)
    convert("-f", "raw", out, back)
    assert capfile.load(back) == capfile.load(inputs / "other.erf")


def test_packets_that_are_no_records_are_counted(inputs, tmp_path):
    out = tmp_path / "out.pcap"
    says = ": 2 packets, 104 octets, 3 drops"
    errors = convert(inputs / "bad.pcap", out, status=1, says=says)
    assert "3 packets left out: no ERF record" in errors
    assert [data for _, _, _, data in frames(out)] == [A.hex(), B.hex()]


def test_record_that_snaplen_truncated(inputs, tmp_path):
    """20 bytes of the frame were captured; the length of the raw record is that of the captured
    bytes."""
    convert(inputs / "cut.pcap", tmp_path / "out.pcap")
    assert [(link, wire, data) for link, _, wire, data, _ in packets(tmp_path / "out.pcap")] == [
        (INFINIBAND, 52, A[:20].hex())
    ]
    convert(inputs / "cut.pcap", tmp_path / "out.erf")
    assert frames(tmp_path / "out.pcap") == frames(tmp_path / "out.erf")


def test_bytes_after_a_record_are_no_part_of_it(inputs, tmp_path):
    convert(inputs / "longer.pcap", tmp_path / "out.pcap")
    assert frames(tmp_path / "out.pcap") == [(1700000000000000000, 52, 52, A.hex())]


def test_inexact_times_of_ibdump_are_corrected(inputs, tmp_path):
    """The microseconds of the file are right; the last four records are late by more than one."""
    says = "4 packets had ibdump's inexact ERF time"
    convert(inputs / "ibdump.pcap", tmp_path / "out.pcap", says=says)
    times = [time for time, _, _, _ in frames(tmp_path / "out.pcap")]
    got = [(t - at(0)) // 1000 for t in times]
    assert got == [0, 1, 131072, 500000, 999992, 999993, 999999]


@pytest.mark.parametrize(
    "name, expected",
    [
        pytest.param("moved.pcap", at(500000000), id="pcap"),
        pytest.param("moved.pcapng", at(0, T + 3600), id="pcapng"),
        pytest.param("coarse.pcapng", at(500000116), id="coarse-time-of-the-file"),
    ],
)
def test_time_that_wireshark_shows_is_used(name, expected, inputs, tmp_path):
    """Wireshark shows the time of the pcap record in a pcap file, and that of the block in a pcapng
    file."""
    out, back = tmp_path / "out.pcap", tmp_path / "back.pcap"
    convert("-f247", inputs / name, out)
    assert [time for time, _, _, _ in frames(out)] == [expected]
    convert("-f", "raw", inputs / name, tmp_path / "out.erf")
    convert(tmp_path / "out.erf", back)
    assert capfile.load(back) == capfile.load(out)


def test_empty_packet_is_copied_except_to_raw_erf(inputs, tmp_path):
    same_after_the_way_back(inputs / "zero.pcap", tmp_path, "pcap")
    says = "1 packet left out: no byte"
    convert(inputs / "zero.pcap", tmp_path / "out.erf", status=1, says=says)


def test_packet_too_long_for_an_erf_record_is_left_out(inputs, tmp_path):
    """65519 bytes is the longest frame that a record can have."""
    out, back = tmp_path / "out.pcap", tmp_path / "back.pcap"
    says = ": 1 packets, 65519 octets, 2 drops"
    errors = convert(inputs / "long.pcap", out, status=1, says=says)
    assert "2 packets left out: too long" in errors
    convert(out, back)
    assert [captured for _, captured, _, _ in frames(back)] == [65519]


def test_long_packet_stays_in_link_type_247(inputs, tmp_path):
    convert("-f247", inputs / "long.pcap", tmp_path / "out.pcap")


@pytest.mark.parametrize("name", ["two.pcap", "infiniband.erf", "moved.pcapng"])
def test_input_compressed_by_gzip_gives_the_same_output(name, inputs, tmp_path):
    plain = inputs / name
    (tmp_path / "in.gz").write_bytes(gzip.compress(capfile.load(plain)))
    convert(plain, tmp_path / "plain.pcap")
    convert(tmp_path / "in.gz", tmp_path / "out.pcap")
    assert capfile.load(tmp_path / "out.pcap") == capfile.load(tmp_path / "plain.pcap")

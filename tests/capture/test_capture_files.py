# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that ipoib-capture writes from simulated devices (tests/capture/replay/).

Expected: the frames that were played, one by one; the golden file, written by hand in ibdump's
layout; the output of tshark, capinfos and tcpdump."""
import concurrent.futures
import glob
import os
import re
import signal
import struct
import subprocess
import time

import pytest

from support import capfile
from support.capture import ALL, CAPTURE, COUNT, FED, FLAGS, INBOUND, LOST_BY_DEVICE
from support.capture import LOST_BY_PROGRAM, OUTBOUND, RECEIVED, SIZE, contents, end_at, fed
from support.capture import frames_of, last_statistics, numbers, option_number, run, start, summary
from support.capture import write_frames
from support.folders import open_folder
from support.needs import needs
from support.paths import TSHARK

pytestmark = pytest.mark.usefixtures("folder")
ETHERNET = "port active ethernet\n" + FED


def test_erf_file_has_the_fed_frames():
    begin = time.time()
    run(FED, "-w", "a.pcap", "-s", *ALL).expect(
        0, summary(COUNT, SIZE, 0), rf"\nCaptured: +{COUNT} packets, +{SIZE} bytes\n"
    )
    data = capfile.load("a.pcap")
    assert data[:24].hex() == "d4c3b2a1020004000000000000000000ffff0000c5000000"
    capture = capfile.parse(data)
    assert contents(capture) == fed()
    times = [frame.time / 1e9 for frame in capture.frames]
    assert times == sorted(times)
    assert begin - 1 < times[0] and times[-1] < time.time() + 1


# The golden file is ibdump's, byte by byte. TTTTTTTT is the place of the four bytes of the seconds,
# which are the same three times in a row, UUUUUUUU for the microseconds, FFFFFFFF for the fraction
# of the second in units of 2^-32 s.
GOLDEN_FRAMES = (
    "0002000100040002" "640affff0000003000000001" "0123",  # LRH, BTH; 22 bytes
    "00020001000a0002"
    "64000001ffffff0000000a5a" + "00" * 20 + "beef",  # 42 bytes: 0x2a; a record of 58: 0x3a
    "0002" + "5a" * 298,  # 300 bytes: 0x012c; a record of 316: 0x013c
)
GOLDEN_HEADER = "d4c3b2a1" "0200" "0400" "00000000" "00000000" "ffff0000" "c5000000"
GOLDEN_TIMES = "FFFFFFFF" "TTTTTTTT"
GOLDEN = (
    "TTTTTTTT" "UUUUUUUU" "26000000" "26000000"
    + GOLDEN_TIMES + "15" "04" "0026" "0000" "0016" + GOLDEN_FRAMES[0],
    "TTTTTTTT" "UUUUUUUU" "3a000000" "3a000000"
    + GOLDEN_TIMES + "15" "04" "003a" "0000" "002a" + GOLDEN_FRAMES[1],
    "TTTTTTTT" "UUUUUUUU" "3c010000" "3c010000"
    + GOLDEN_TIMES + "15" "04" "013c" "0000" "012c" + GOLDEN_FRAMES[2],
)  # fmt: skip
# 28 bytes of the second frame: 28 + 16 = 0x2c; the length on the wire stays
GOLDEN_CUT = (
    GOLDEN[1]
    .replace("3a000000" "3a000000", "2c000000" "3a000000")
    .replace("003a" "0000" "002a", "002c" "0000" "002a")[:-28]
)


def check_golden(data, header=GOLDEN_HEADER, golden=GOLDEN):
    """The data equals `golden`, except for its times, which agree with each other and with the
    clock."""
    text, at = data.hex(), len(header)
    assert text[:at] == header
    for record in golden:
        got = text[at : at + len(record)]
        assert len(got) == len(record), f"truncated: {got}, expected {record}"
        assert all(a == b or b in "TUF" for a, b in zip(got, record)), f"{got}\nexpected {record}"
        sec, usec, fraction, again = struct.unpack("<IIII", bytes.fromhex(got[:16] + got[32:48]))
        assert sec == again and abs(sec - time.time()) < 100
        # no rounding into the next microsecond, or second
        assert fraction * 10**6 >> 32 == usec, (fraction, usec)
        at += len(record)
    assert at == len(text), f"more follows: {text[at:]}"


@pytest.fixture
def known():
    write_frames("known.pcap", map(bytes.fromhex, GOLDEN_FRAMES))
    return "frames known.pcap\n"


def test_golden_file(known):
    run(known, "-w", "golden.pcap", "-s", "--count", "3").expect(0, summary(3, 364, 0))
    check_golden(capfile.load("golden.pcap"))


def test_golden_file_on_standard_output(known):
    check_golden(run(known, "-w", "-", "--count", "3").expect(0).out)


def test_golden_file_from_memory(known):
    run(known, "-w", "golden.pcap", "-s", "-M", "1M", "--duration", "0.3").expect(0)
    check_golden(capfile.load("golden.pcap"))


def test_golden_file_truncated_by_snaplen(known):
    run(known, "-w", "golden.pcap", "-s", "--snaplen", "28", "--count", "2").expect(
        0, summary(2, 50, 0)
    )
    header = GOLDEN_HEADER.replace("ffff0000", "2c000000")
    check_golden(capfile.load("golden.pcap"), header, (GOLDEN[0], GOLDEN_CUT))


ROCE = "020000000001" "020000000002" "8915" + "00" * 8  # RoCE's EtherType; 22 bytes


@pytest.fixture
def known_ethernet():
    write_frames("known.pcap", [bytes.fromhex(ROCE)])
    return "port active ethernet\nframes known.pcap\n"


def test_golden_file_of_plain_ethernet(known_ethernet):
    run(known_ethernet, "-w", "golden.pcap", "-s", "--count", "1").expect(0)
    text = capfile.load("golden.pcap").hex()
    assert text[:48] == "d4c3b2a1" "0200" "0400" "00000000" "00000000" "ffff0000" "01000000"
    assert text[64:] == "16000000" "16000000" + ROCE


def test_golden_file_of_ethernet_in_erf_of_type_2(known_ethernet):
    run(known_ethernet, "-w", "golden.pcap", "-s", "--erf", "1", "--count", "1").expect(0)
    record = (
        "TTTTTTTT" "UUUUUUUU" "28000000" "28000000"
        + GOLDEN_TIMES + "02" "04" "0028" "0000" "0016" "0000" + ROCE
    )  # fmt: skip
    check_golden(capfile.load("golden.pcap"), golden=(record,))


def test_pcapng_file_has_the_fed_frames_name_directions_and_statistics():
    run(FED, "-w", "a.pcapng", "-s", "--format", "pcapng", "--comment", "a rack", *ALL).expect(
        0, summary(COUNT, SIZE, 0)
    )
    capture = capfile.read("a.pcapng")
    assert contents(capture) == fed()
    assert capture.linktype == capfile.ERF
    options = capture.interfaces[0].options
    assert (options[9], options[2], options[1]) == (b"\x09", b"hca0", b"a rack")
    assert options[3] == b"hca0 port 1, InfiniBand, sniffer mode"
    assert last_statistics(capture) == {RECEIVED: COUNT, LOST_BY_DEVICE: 0, LOST_BY_PROGRAM: 0}
    flags = [option_number(frame, FLAGS) or 0 for frame in capture.frames]
    sources = [struct.unpack_from(">H", frame, 6)[0] for frame in contents(capture)]
    own = {1: OUTBOUND, 0xFFFF: 0}  # the port has LID 1
    assert flags == [own.get(source, INBOUND) for source in sources]
    assert set(flags) == {0, INBOUND, OUTBOUND}, "the capture has all three"


# --- other readers

KINDS = {  # name: scenario, file, capinfos's type of its frames, options
    "erf.pcap": (FED, "v.pcap", "erf"),
    "erf.pcapng": (FED, "v.pcapng", "erf", "--format", "pcapng", "--comment", "a rack"),
    "snaplen.pcap": (FED, "w.pcap", "erf", "--snaplen", "60"),
    "snaplen.pcapng": (FED, "w.pcapng", "erf", "--format", "pcapng", "--snaplen", "61"),
    "memory.pcap": (FED, "x.pcap", "erf", "-M", "1M"),
    "series.pcap": (FED, "y.pcap", "erf", "--ring-packets", "100000"),
    "series.pcapng": (FED, "y.pcapng", "erf", "--ring-size", "10M", "--format", "pcapng"),
    "ethernet.pcap": (ETHERNET, "z.pcap", "ether"),
    "ethernet.pcapng": (ETHERNET, "z.pcapng", "ether", "--format", "pcapng"),
    "ethernet-erf.pcap": (ETHERNET, "u.pcap", "erf", "--erf", "1"),
    "ethernet-erf.pcapng": (ETHERNET, "u.pcapng", "erf", "--erf", "1", "--format", "pcapng"),
}
WHOLE = ("erf.pcap", "erf.pcapng")  # of InfiniBand, with all bytes


def ask(*command):
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", check=False
    )


def write_kind(kind):
    """Captures into a file of that kind; returns its absolute path."""
    scenario, name, _, *options = KINDS[kind]
    run(scenario, "-w", name, "-s", *options, *ALL).expect(0)
    found = (glob.glob("%s_*%s" % os.path.splitext(name)) or [name])[0]
    os.chmod(found, 0o644)
    return os.path.abspath(found)


@pytest.fixture(scope="module")
def kinds():
    """By the kind's name, a file of every kind and the output of tshark for it. Two tsharks run at
    a time."""
    fields = ("-T", "fields", "-e", "frame.number", "-e", "arp.opcode")
    before = os.getcwd()
    with open_folder() as path, concurrent.futures.ThreadPoolExecutor(2) as pool:
        os.chdir(path)
        files = {kind: write_kind(kind) for kind in KINDS}
        os.chdir(before)
        read = {kind: pool.submit(ask, *TSHARK, "-r", files[kind], *fields) for kind in KINDS}
        yield files, read


@pytest.mark.parametrize("kind", KINDS)
def test_tshark_reads_every_kind_of_file_without_a_complaint(kinds, kind):
    result = kinds[1][kind].result()
    err = result.stderr.decode()
    assert result.returncode == 0, err
    lines = result.stdout.decode().splitlines()
    assert len(lines) == COUNT, err
    assert not re.search("cut short|malformed|corrupt|error", err), err
    if kind in WHOLE:
        assert any(line.endswith("\t2") for line in lines), "no ARP reply was decoded"


@pytest.mark.parametrize("kind", KINDS)
def test_capinfos_knows_every_kind_of_file(kinds, kind):
    needs("capinfos", "build")
    result = ask("capinfos", "-M", "-T", "-r", "-m", "-c", "-E", kinds[0][kind])
    assert result.returncode == 0, result.stderr
    out = result.stdout.decode().strip()
    name = KINDS[kind][2]
    assert out.endswith(f",{name},{COUNT}") or f'"{name}","{COUNT}"' in out, out


@pytest.mark.parametrize("kind", KINDS)
def test_tcpdump_reads_every_packet_of_every_kind_of_file(kinds, kind):
    needs("tcpdump", "test")
    result = ask("tcpdump", "-r", kinds[0][kind], "-w", "-")  # all packets that it read
    assert result.returncode == 0, result.stderr
    assert b"truncated" not in result.stderr, result.stderr
    read, written = capfile.parse(result.stdout), capfile.read(kinds[0][kind])
    assert [frame.data for frame in read.frames] == [frame.data for frame in written.frames]


@pytest.mark.parametrize("kind", WHOLE)
def test_convert_makes_the_fed_frames_again(kinds, kind):
    subprocess.run(
        [CAPTURE, "convert", kinds[0][kind], "back.pcap"], check=True, capture_output=True
    )
    assert [frame.data for frame in capfile.read("back.pcap").frames] == fed()


# --- Ethernet, standard output, names


def test_ethernet_is_written_as_plain_frames():
    run(ETHERNET, "-w", "e.pcap", "-s", *ALL).expect(0)
    capture = capfile.read("e.pcap")
    assert capture.linktype == capfile.ETHERNET
    assert contents(capture) == fed()


def test_ethernet_is_written_in_erf_of_type_2_with_erf_1():
    run(ETHERNET, "-w", "e.pcap", "-s", "--erf", "1", *ALL).expect(0)
    capture = capfile.read("e.pcap")
    assert capture.linktype == capfile.ERF
    assert [frame.data[18:] for frame in capture.frames] == fed()
    assert {(frame.data[8], frame.data[16:18]) for frame in capture.frames} == {(2, b"\0\0")}


def test_ethernet_is_written_as_plain_frames_into_pcapng():
    run(ETHERNET, "-w", "e.pcapng", "-s", "--format=pcapng", *ALL).expect(0)
    capture = capfile.read("e.pcapng")
    assert capture.linktype == capfile.ETHERNET
    assert contents(capture) == fed()


def test_infiniband_without_erf_is_refused_as_by_ibdump():
    run(FED, "-w", "never.pcap", "--erf", "0").expect(1, "without ERF")
    assert not os.path.exists("never.pcap")


def test_file_on_standard_output_and_nothing_else():
    result = run(FED, "-w", "-", *ALL).expect(0, summary(COUNT, SIZE, 0))
    assert contents(capfile.parse(result.out)) == fed()


def test_default_names():
    run(FED, "-s", *ALL).expect(0)
    run(FED, "-s", "--format", "pcapng", *ALL).expect(0)
    assert frames_of("sniffer.pcap") == fed()
    assert frames_of("sniffer.pcapng") == fed()


def test_fifo_is_waited_for():
    os.mkfifo("fifo")
    process = start(FED, "-w", "fifo", "-s", *ALL)
    time.sleep(0.1)  # mostly it opens the file before its reader
    with open("fifo", "rb") as f:
        data = f.read()
    process.end().expect(0, summary(COUNT, SIZE, 0))
    assert [frame.data[16:] for frame in capfile.parse(data).frames] == fed()


def test_signal_ends_the_waiting_for_a_fifo():
    os.mkfifo("fifo")
    process = start(FED, "-w", "fifo", "-s")
    # it waits for a reader in open(), or will soon: the signal counts in both cases
    time.sleep(0.3)
    process.end(signal.SIGTERM).expect(128 + signal.SIGTERM, "interrupted: nothing was captured")


# --- memory, series


def test_memory_mode_ends_with_the_packet_that_crosses_the_size():
    result = run("synthetic 100\n", "-w", "m.pcap", "-M", "100000").expect(
        0, summary(758, 75800, 0)
    )
    assert b"Buffer full ..." in result.out
    # a record has 132 bytes: 758 of them exceed 100000
    assert numbers(frames_of("m.pcap")) == list(range(758))


def test_memory_mode_writes_when_a_signal_ends_it():
    process = start("synthetic 100\nrate 1000\n" + end_at(200), "-w", "n.pcap", "-M", "100M", "-s")
    process.wait_for("link went down").end(signal.SIGTERM).expect(0)
    got = numbers(frames_of("n.pcap"))
    assert len(got) > 50 and got == list(range(len(got)))


def test_series_by_size():
    run("synthetic 100\n", "-w", "r.pcap", "-s", "--count", "1000", "--ring-size", "10K").expect(0)
    files = sorted(glob.glob("r_*.pcap"))
    assert [int(name[2:7]) for name in files] == list(range(1, len(files) + 1))
    assert re.match(r"r_00001_\d{14}\.pcap$", files[0]), files
    assert all(os.path.getsize(name) <= 10240 for name in files) and 13 <= len(files) <= 15
    assert numbers(sum((frames_of(name) for name in files), [])) == list(range(1000))


def test_series_by_packets_keeps_the_last_files():
    options = ("--ring-packets", "100", "--ring-files", "3", "--format", "pcapng")
    run("synthetic 100\n", "-w", "s.pcapng", "-s", "--count", "1000", *options).expect(0)
    files = sorted(glob.glob("s_*.pcapng"))
    assert [name[:7] for name in files] == ["s_00008", "s_00009", "s_00010"]
    for first, name in zip((700, 800, 900), files):
        capture = capfile.read(name)
        assert numbers(contents(capture)) == list(range(first, first + 100))
        received = last_statistics(capture)[RECEIVED]
        assert received == first + 100, "the counts end each file"


def test_series_by_time():
    options = ("--duration", "1.1", "--ring-time", "0.25")
    run("synthetic 100\nrate 1000\n", "-w", "t.pcap", "-s", *options).expect(0)
    files = sorted(glob.glob("t_*.pcap"))
    assert 4 <= len(files) <= 5
    got = numbers(sum((frames_of(name) for name in files), []))
    assert got == list(range(len(got))) and len(got) > 800

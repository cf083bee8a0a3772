#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: clock
# test: newest
# test: timeout=900
# test: threads
"""ipoib-capture's live captures, on devices that the stand-in for libibverbs of tests/replay/ plays.

Environment: IPOIB_SRC, IPOIB_BUILD, IPOIB_BIN, IPOIB_TSHARK. Output: TAP.

What is written is held against what was fed, frame by frame, by a reader of pcap and pcapng of this file's own. Faults
are played (tests/replay/scenario.h): refusals, failed completions, losses, a device that goes away, disks that are full,
readers that leave, signals. Synthetic frames carry their number, so that a loss that is not counted is found."""
import glob
import itertools
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

from tap import BIN, BUILD, SRC, TSHARK, finish, run_tests, test

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the program heeds what nohup tells it, and this may run by nohup

CAPTURE = os.path.join(BIN, "ipoib-capture")
REPLAY = os.path.join(BUILD, "tests", "replay")
DATAGRAM = os.path.join(SRC, "testdata", "datagram.pcap")
ERF, INFINIBAND, ETHERNET = 197, 247, 1
EXT = itertools.count(1)
SANITIZED = any(word in open(CAPTURE, "rb").read() for word in (b"__asan_init", b"__tsan_init"))  # and so slow


# --- reading captures

def read_pcap(data, may_be_cut=False):
    """[(time in ns, wire length, octets, {})] of a classic pcap, and its link type."""
    unit = {b"\xd4\xc3\xb2\xa1": 1000, b"\x4d\x3c\xb2\xa1": 1}[data[:4]]
    frames, at = [], 24
    while at < len(data):
        if may_be_cut and (at + 16 > len(data) or at + 16 + struct.unpack_from("<I", data, at + 8)[0] > len(data)):
            break
        sec, sub, caplen, wirelen = struct.unpack_from("<IIII", data, at)
        assert at + 16 + caplen <= len(data), "cut short"
        frames.append((sec * 10**9 + sub * unit, wirelen, data[at + 16:at + 16 + caplen], {}))
        at += 16 + caplen
    return struct.unpack_from("<I", data, 20)[0], frames


def read_options(data):
    """{code: value} of a block's options."""
    options, at = {}, 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        options[code] = data[at + 4:at + 4 + length]
        at += 4 + length + -length % 4
    return options


def read_pcapng(data, may_be_cut=False):
    """Link type, frames with their options, the interface's options, the statistics [{code: value}]."""
    at, link, frames, interface, statistics = 0, None, [], {}, []
    while at < len(data):
        if may_be_cut and (at + 8 > len(data) or at + struct.unpack_from("<I", data, at + 4)[0] > len(data)):
            break
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and at + length <= len(data), "cut short"
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        body = data[at + 8:at + length - 4]
        if kind == 1:
            link, interface = struct.unpack_from("<H", body)[0], read_options(body[8:])
        elif kind == 5:
            statistics.append({code: struct.unpack("<Q", value)[0]
                               for code, value in read_options(body[12:]).items()})
        elif kind == 6:
            _, high, low, caplen, wirelen = struct.unpack_from("<IIIII", body)
            frames.append((high << 32 | low, wirelen, body[20:20 + caplen],
                           read_options(body[20 + caplen + -caplen % 4:])))
        at += length
    return link, frames, interface, statistics


def content(path):
    with open(path, "rb") as f:
        return f.read()


def frames_of(path):
    """The frames in a file that the program wrote, without ERF headers, which are checked."""
    data = content(path)
    link, frames = read_pcapng(data)[:2] if data[:4] == b"\x0a\x0d\x0d\x0a" else read_pcap(data)
    if link != ERF:
        return [octets for _, _, octets, _ in frames]
    out = []
    for when, wirelen, octets, _ in frames:
        stamp, kind, flags, rlen, lctr, wlen = struct.unpack_from("<QBB", octets) + struct.unpack_from(">HHH", octets, 10)
        assert (kind, flags, rlen, lctr, wlen) == (21, 4, len(octets), 0, wirelen - 16), octets[:16].hex()
        nanoseconds = (stamp >> 32) * 10**9 + ((stamp & 0xffffffff) * 10**9 >> 32)
        assert when == nanoseconds or when == nanoseconds // 1000 * 1000, "record and file tell different times"
        out.append(octets[16:])
    return out


def fed(path=DATAGRAM):
    return [octets for _, _, octets, _ in read_pcap(content(path))[1]]


def numbers(frames):
    """The numbers in synthetic frames."""
    return [int.from_bytes(octets[-8:], "big") for octets in frames]


# --- running the program

def environment(scenario):
    path = "scenario%d" % next(EXT)
    with open(path, "w") as f:
        f.write("device mlx5_0\n" + scenario if not scenario.startswith("device") else scenario)
    return {**os.environ, "IPOIB_REPLAY": os.path.abspath(path), "LD_LIBRARY_PATH": REPLAY}


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def expect(self, status, *texts):
        assert self.status == status, "exit status %s, expected %s\n%s" % (self.status, status, self.err)
        for text in texts:
            assert re.search(text, self.err), "%r is not in:\n%s" % (text, self.err)
        assert "replay:" not in self.err and "Sanitizer" not in self.err, self.err
        return self


def start(scenario, *arguments, **more):
    return subprocess.Popen([CAPTURE, *arguments], env=environment(scenario), stdin=subprocess.DEVNULL,
                            stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **more)


def end(process, timeout=60):
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("it did not end\n%s" % process.communicate()[1].decode(errors="replace"))
    return Result(process.returncode, out or b"", err.decode(errors="replace"))


def run(scenario, *arguments, **more):
    return end(start(scenario, *arguments, **more))


def after(scenario, seconds, *arguments, sig=signal.SIGINT, **more):
    """Runs, and sends a signal some time after the capture has begun."""
    process = start(scenario, *arguments, **more)
    path = arguments[arguments.index("-w") + 1]
    for _ in range(1000):
        if os.path.exists(path):
            break
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(sig)
    return end(process)


def summary(packets, octets, drops):
    return r"ipoib-capture: %s packets, %s octets, %s drops\n$" % (packets, octets, drops)


def sysfs():
    """A device's folder in sysfs with its counter of losses."""
    folder = os.path.abspath("sysfs%d" % next(EXT))
    os.makedirs(os.path.join(folder, "ports/1/hw_counters"))
    with open(os.path.join(folder, "ports/1/hw_counters/out_of_buffer"), "w") as f:
        f.write("0\n")
    return "sysfs %s\n" % folder


FED = "frames %s\n" % DATAGRAM
COUNT = len(fed())
SIZE = sum(len(octets) for octets in fed())
ALL = ("--count", str(COUNT))


# --- the files

@test("erf: what was fed, in ibdump's file")
def erf_file():
    begin = time.time()
    run(FED, "-w", "a.pcap", "-s", *ALL).expect(0, summary(COUNT, SIZE, 0), r"\nCaptured: +%d packets, +%d bytes\n" %
                                                (COUNT, SIZE))
    data = content("a.pcap")
    assert data[:24].hex() == "d4c3b2a1020004000000000000000000ffff0000c5000000"
    assert frames_of("a.pcap") == fed()
    times = [when for when, _, _, _ in read_pcap(data)[1]]
    assert begin - 1 < times[0] / 1e9 and times == sorted(times) and times[-1] / 1e9 < time.time() + 1


def make_capture(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, INFINIBAND))
        for octets in frames:
            f.write(struct.pack("<IIII", 0, 0, len(octets), len(octets)) + octets)


# The golden file: ibdump's, octet by octet. TTTTTTTT stands for the four octets of the seconds, which are the same three
# times in a row, UUUUUUUU for the microseconds, FFFFFFFF for the fraction of the second in units of 2^-32 s.
GOLDEN_FRAMES = (
    "0002000100040002" "640affff0000003000000001" "0123",                # LRH, BTH; 22 octets
    "00020001000a0002" "64000001ffffff0000000a5a" + "00" * 20 + "beef",  # 42 octets: 0x2a; a record of 58: 0x3a
    "0002" + "5a" * 298)                                                 # 300 octets: 0x012c; a record of 316: 0x013c
GOLDEN_HEADER = "d4c3b2a1" "0200" "0400" "00000000" "00000000" "ffff0000" "c5000000"
GOLDEN = (
    "TTTTTTTT" "UUUUUUUU" "26000000" "26000000" "FFFFFFFF" "TTTTTTTT" "15" "04" "0026" "0000" "0016" + GOLDEN_FRAMES[0],
    "TTTTTTTT" "UUUUUUUU" "3a000000" "3a000000" "FFFFFFFF" "TTTTTTTT" "15" "04" "003a" "0000" "002a" + GOLDEN_FRAMES[1],
    "TTTTTTTT" "UUUUUUUU" "3c010000" "3c010000" "FFFFFFFF" "TTTTTTTT" "15" "04" "013c" "0000" "012c" + GOLDEN_FRAMES[2])


def check_golden(data, header, golden):
    """DATA is what GOLDEN says, but for its times, which agree with each other and with the clock."""
    text, at = data.hex(), len(header)
    assert text.startswith(header), text[:48]
    for record in golden:
        got = text[at:at + len(record)]
        assert len(got) == len(record)
        assert all(a == b or b in "TUF" for a, b in zip(got, record)), (got, record)
        sec, usec, fraction, again = struct.unpack("<IIII", bytes.fromhex(got[:16] + got[32:48]))
        assert sec == again and abs(sec - time.time()) < 100
        assert fraction * 10**6 >> 32 == usec, (fraction, usec)  # no rounding into the next microsecond, or second
        at += len(record)
    assert at == len(text), "there is more"


@test("the golden file: a known list of frames, octet for octet, from a file and from standard output")
def golden():
    make_capture("known.pcap", map(bytes.fromhex, GOLDEN_FRAMES))
    known = "frames known.pcap\n"
    run(known, "-w", "golden.pcap", "-s", "--count", "3").expect(0, summary(3, 364, 0))
    check_golden(content("golden.pcap"), GOLDEN_HEADER, GOLDEN)
    check_golden(run(known, "-w", "-", "--count", "3").expect(0).out, GOLDEN_HEADER, GOLDEN)
    run(known, "-w", "golden.pcap", "-s", "-M", "1M", "--duration", "0.3").expect(0)
    check_golden(content("golden.pcap"), GOLDEN_HEADER, GOLDEN)
    # 28 octets of each frame, and the file says so: 28 + 16 = 0x2c; the length on the wire stays
    run(known, "-w", "golden.pcap", "-s", "--snaplen", "28", "--count", "2").expect(0, summary(2, 50, 0))
    cut = GOLDEN[1].replace("3a000000" "3a000000", "2c000000" "3a000000").replace("003a" "0000" "002a", "002c" "0000" "002a")
    check_golden(content("golden.pcap"), GOLDEN_HEADER.replace("ffff0000", "2c000000"), (GOLDEN[0], cut[:-28]))


@test("the golden file of Ethernet: plain, and in ERF of type 2")
def golden_ethernet():
    frame = "020000000001" "020000000002" "8915" + "00" * 8  # RoCE's EtherType; 22 octets
    make_capture("known.pcap", [bytes.fromhex(frame)])
    known = "port active ethernet\nframes known.pcap\n"
    run(known, "-w", "golden.pcap", "-s", "--count", "1").expect(0)
    text = content("golden.pcap").hex()
    assert text[:48] == "d4c3b2a1" "0200" "0400" "00000000" "00000000" "ffff0000" "01000000"
    assert text[64:] == "16000000" "16000000" + frame
    run(known, "-w", "golden.pcap", "-s", "--erf", "1", "--count", "1").expect(0)
    check_golden(content("golden.pcap"), GOLDEN_HEADER, (
        "TTTTTTTT" "UUUUUUUU" "28000000" "28000000" "FFFFFFFF" "TTTTTTTT" "02" "04" "0028" "0000" "0016" "0000" + frame,))


@test("pcapng: what was fed, with nanoseconds, name, directions, statistics")
def pcapng_file():
    run(FED, "-w", "a.pcapng", "-s", "--format", "pcapng", "--comment", "a rack", *ALL).expect(0, summary(COUNT, SIZE, 0))
    assert frames_of("a.pcapng") == fed()
    link, frames, interface, statistics = read_pcapng(content("a.pcapng"))
    assert link == ERF and interface[9] == b"\x09" and interface[2] == b"mlx5_0" and interface[1] == b"a rack"
    assert interface[3] == b"mlx5_0 port 1, InfiniBand, sniffer mode"
    assert statistics[-1] == {4: COUNT, 5: 0, 7: 0}
    for _, _, octets, options in frames:  # the port has LID 1; the record's header has 16 octets
        source = struct.unpack_from(">H", octets, 16 + 6)[0]
        flags = struct.unpack("<I", options[2])[0] if 2 in options else 0
        assert flags == (2 if source == 1 else 0 if source == 0xffff else 1), (source, flags)
    assert len({options.get(2) for _, _, _, options in frames}) == 3, "the capture has all three"


@test("tshark and capinfos read both files, and the plugin decodes them")
def tshark_reads():
    os.chmod(".", 0o755)
    for name in ("a.pcap", "a.pcapng"):
        os.chmod(name, 0o644)
        out = subprocess.run([*TSHARK, "-r", os.path.abspath(name), "-T", "fields", "-e", "frame.number", "-e", "arp.opcode"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
        lines = out.stdout.decode().splitlines()
        assert len(lines) == COUNT, out
        assert sum(line.endswith("\t2") for line in lines) > 0, "no ARP reply was decoded"


def outputs():
    """Every kind of file that there is, with what capinfos calls its frames."""
    ethernet = "port active ethernet\n" + FED
    for scenario, name, kind, *options in (
            (FED, "v.pcap", "erf"), (FED, "v.pcapng", "erf", "--format", "pcapng", "--comment", "a rack"),
            (FED, "w.pcap", "erf", "--snaplen", "60"), (FED, "w.pcapng", "erf", "--format", "pcapng", "--snaplen", "61"),
            (FED, "x.pcap", "erf", "-M", "1M"), (FED, "y.pcap", "erf", "--ring-packets", "100000"),
            (FED, "y.pcapng", "erf", "--ring-size", "10M", "--format", "pcapng"),
            (ethernet, "z.pcap", "ether"), (ethernet, "z.pcapng", "ether", "--format", "pcapng"),
            (ethernet, "u.pcap", "erf", "--erf", "1"), (ethernet, "u.pcapng", "erf", "--erf", "1", "--format", "pcapng")):
        run(scenario, "-w", name, "-s", *options, *ALL).expect(0)
        found = glob.glob("%s_*%s" % os.path.splitext(name)) or [name]
        os.chmod(found[0], 0o644)
        yield os.path.abspath(found[0]), kind


@test("tshark, capinfos and tcpdump read every kind of file, to its end and without a word of complaint")
def readers():
    def ask(*command):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                env={name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"})
        assert result.returncode == 0, (command, result)
        return result.stdout, result.stderr.decode()

    for path, kind in outputs():
        out, err = ask(*TSHARK, "-r", path, "-T", "fields", "-e", "frame.number")
        assert len(out.split()) == COUNT and not re.search("cut short|damaged|corrupt|error", err), (path, err)
        out, _ = ask("capinfos", "-M", "-T", "-r", "-m", "-c", "-E", path)
        assert out.decode().strip().endswith(",%s,%d" % (kind, COUNT)) or \
            re.search(r'"%s","%d"' % (kind, COUNT), out.decode()), (path, out)
        out, err = ask("tcpdump", "-r", path, "-w", "-")  # all of its packets, as it read them
        assert "truncated" not in err
        data = content(path)
        frames = (read_pcapng if path.endswith("ng") else read_pcap)(data)[1]
        assert [octets for _, _, octets, _ in read_pcap(out)[1]] == [octets for _, _, octets, _ in frames], path


@test("convert makes the fed frames of both files again")
def converts_back():
    for name in ("a.pcap", "a.pcapng"):
        subprocess.run([CAPTURE, "convert", name, "back.pcap"], check=True, stderr=subprocess.DEVNULL)
        assert fed("back.pcap") == fed()


@test("Ethernet: plain frames; ERF of type 2 with --erf 1")
def ethernet():
    scenario = "port active ethernet\n" + FED
    run(scenario, "-w", "e.pcap", "-s", *ALL).expect(0)
    assert read_pcap(content("e.pcap"))[0] == ETHERNET and frames_of("e.pcap") == fed()
    run(scenario, "-w", "e.pcap", "-s", "--erf", "1", *ALL).expect(0)
    link, frames = read_pcap(content("e.pcap"))
    assert link == ERF and [octets[18:] for _, _, octets, _ in frames] == fed()
    assert all(octets[8] == 2 and octets[16:18] == b"\0\0" for _, _, octets, _ in frames)
    run(scenario, "-w", "e.pcapng", "-s", "--format=pcapng", *ALL).expect(0)
    assert read_pcapng(content("e.pcapng"))[0] == ETHERNET and frames_of("e.pcapng") == fed()


@test("InfiniBand without ERF is refused as by ibdump")
def no_erf():
    run(FED, "-w", "never.pcap", "--erf", "0").expect(1, "without ERF")
    assert not os.path.exists("never.pcap")


@test("-w -: the file on standard output, nothing else")
def to_stdout():
    result = run(FED, "-w", "-", *ALL).expect(0, summary(COUNT, SIZE, 0))
    with open("stdout.pcap", "wb") as f:
        f.write(result.out)
    assert frames_of("stdout.pcap") == fed()


def read_live(scenario):
    process = start(scenario + "synthetic 100\nrate 20\ntotal 40\n", "-o", "-")
    begin = time.monotonic()
    data = b""
    while len(data) < 24 + 5 * 132:
        more = os.read(process.stdout.fileno(), 65536)
        assert more, "it ended"
        data += more
    assert time.monotonic() - begin < 2.5  # five frames come within 0.3 s
    process.send_signal(signal.SIGTERM)
    end(process).expect(0)


@test("a pipe's reader gets each packet at once")
def live_pipe():
    read_live("")


@test("the default name is sniffer.pcap, or sniffer.pcapng")
def default_names():
    run(FED, "-s", *ALL).expect(0)
    run(FED, "-s", "--format", "pcapng", *ALL).expect(0)
    assert frames_of("sniffer.pcap") == frames_of("sniffer.pcapng") == fed()


@test("progress and its end are ibdump's lines")
def progress():
    result = run("synthetic 100\nrate 1000\n", "-w", "p.pcap", "--duration", "2.5").expect(0)
    out = result.out.decode()
    for text in (' Device                         : "mlx5_0"\n', " Physical port                  : 1\n",
                 " Link layer                     : Infiniband\n", " Dump file                      : p.pcap\n",
                 " Sniffer WQEs (max burst size)  : 32768\n", "\nReady to capture (Press ^c to stop):\n"):
        assert text in out, out
    assert re.search(r"\rCaptured:  +\d+ packets,  +\d+ bytes     ", out), out
    assert run(FED, "-w", "p.pcap", "-s", *ALL).expect(0).out == b""


# --- options

@test("ibdump's options, short and long")
def ibdumps_options():
    for options in ("-d mlx5_0 -i 1 -b 12 -s", "--ib-dev=mlx5_0 --ib-port=1 --max-burst=12 --silent", "-T -s", "--conti -s",
                    "-p 1048576 -s", "--writer-thread 1M -s", "-j -s", "--jumbo-mtu -s", "--decap -s", "-E -s", "--erf 1 -s",
                    "-i 0x1 -s"):
        run(FED, "-w", "o.pcap", *options.split(), *ALL).expect(0, summary(COUNT, SIZE, 0))
        assert frames_of("o.pcap") == fed(), options
    for options, text in (("-q 5,6", "-q has no effect.*all queue pairs"), ("--src_qp 5", "-q has no effect"),
                          ("-m /dev/mst/x", "-m has no effect"), ("--a0-mode", "--a0-mode has no effect"),
                          ("--pkey 0x8001", "--pkey has no effect in sniffer mode"), ("--mode sniffer", "")):
        run(FED, "-o", "o.pcap", "-s", *options.split(), *ALL).expect(0, text)
        assert frames_of("o.pcap") == fed(), options


@test("-I keeps one direction")
def directions():
    def source(octets):
        return struct.unpack_from(">H", octets, 6)[0]
    for option, wanted in (("tx", lambda lid: lid in (1, 0xffff)), ("rx", lambda lid: lid != 1)):
        run(FED, "-w", "d.pcap", "-s", "-I", option, "--duration", "0.5").expect(0)
        assert frames_of("d.pcap") == [octets for octets in fed() if wanted(source(octets))], option


@test("a LID that changes while it runs changes the directions")
def lid_change():
    run("synthetic 100\ntotal 2000\nrate 2000\nat 1000 lid 2\n", "-w", "l.pcapng", "-s", "--format", "pcapng",
        "--count", "2000").expect(0)
    flags = [struct.unpack("<I", options[2])[0] for _, _, _, options in read_pcapng(content("l.pcapng"))[1]]
    assert flags[0] == 1 and flags[-1] == 2, "synthetic frames come from LID 2"


@test("--decap takes a mirroring switch's headers off")
def decap():
    inner = fed()[-1]
    wrapped = bytes.fromhex("0000000100000002" "00001123" "aabbccdd") + inner + b"\x12\x34"
    with open("mirror.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 247))
        for octets in (wrapped, inner):
            f.write(struct.pack("<IIII", 0, 0, len(octets), len(octets)) + octets)
    run("frames mirror.pcap\n", "-w", "d.pcap", "-s", "--decap", "--count", "2").expect(0)
    frames = read_pcap(content("d.pcap"))[1]
    assert [octets[16:] for _, _, octets, _ in frames] == [inner, inner]
    assert [octets[9] for _, _, octets, _ in frames] == [5, 4]
    run("frames mirror.pcap\n", "-w", "d.pcap", "-s", "--count", "2").expect(0)
    assert frames_of("d.pcap") == [wrapped, inner]


@test("--decap leaves Ethernet's frames alone, and says so")
def decap_ethernet():
    frame = bytes.fromhex("020000000001" "020000001123" "8915") + bytes(60)  # as InfiniBand's: a raw packet with a mirror's EtherType
    make_capture("ethernet.pcap", [frame])
    run("port active ethernet\nframes ethernet.pcap\n", "-w", "d.pcap", "-s", "--decap", "--count", "1").expect(
        0, "--decap has no effect on Ethernet", summary(1, len(frame), 0))
    assert frames_of("d.pcap") == [frame]


@test("--count, --duration, --snaplen")
def limits():
    run("synthetic 200\n", "-w", "c.pcap", "-s", "--count", "1001", "--snaplen", "60").expect(0, summary(1001, 60060, 0))
    frames = read_pcap(content("c.pcap"))[1]
    assert len(frames) == 1001 and all((wire, len(octets)) == (216, 76) for _, wire, octets, _ in frames)
    begin = time.monotonic()
    run("synthetic 200\nrate 100\n", "-w", "c.pcap", "-s", "--duration", "0.7").expect(0)
    assert 0.7 <= time.monotonic() - begin < (10 if SANITIZED else 3)
    assert 55 <= len(frames_of("c.pcap")) <= 72


@test("-M: memory until so many octets, the packet that crosses included")
def memory_mode():
    result = run("synthetic 100\n", "-w", "m.pcap", "-M", "100000").expect(0, summary(758, 75800, 0))
    assert b"Buffer full ..." in result.out
    assert numbers(frames_of("m.pcap")) == list(range(758))  # a record has 132 octets: 758 of them exceed 100000
    after("synthetic 100\nrate 1000\n", 0.5, "-w", "n.pcap", "-M", "100M", "-s", sig=signal.SIGTERM).expect(0)
    got = numbers(frames_of("n.pcap"))
    assert len(got) > 50 and got == list(range(len(got)))


@test("files of a series: by size, packets and time, the last ones kept")
def series():
    run("synthetic 100\n", "-w", "r.pcap", "-s", "--count", "1000", "--ring-size", "10K").expect(0)
    files = sorted(glob.glob("r_*.pcap"))
    assert [int(name[2:7]) for name in files] == list(range(1, len(files) + 1)) and re.match(r"r_00001_\d{14}\.pcap$", files[0])
    assert all(os.path.getsize(name) <= 10240 for name in files) and 13 <= len(files) <= 15
    assert numbers(sum((frames_of(name) for name in files), [])) == list(range(1000))
    run("synthetic 100\n", "-w", "s.pcapng", "-s", "--count", "1000", "--ring-packets", "100", "--ring-files", "3",
        "--format", "pcapng").expect(0)
    files = sorted(glob.glob("s_*.pcapng"))
    assert [name[:7] for name in files] == ["s_00008", "s_00009", "s_00010"]
    for number, name in enumerate(files):
        assert numbers(frames_of(name)) == list(range(700 + 100 * number, 800 + 100 * number))
        assert read_pcapng(content(name))[3][-1][4] == 800 + 100 * number, "the counts end each file"
    run("synthetic 100\nrate 1000\n", "-w", "t.pcap", "-s", "--duration", "1.1", "--ring-time", "0.25").expect(0)
    files = sorted(glob.glob("t_*.pcap"))
    assert 4 <= len(files) <= 5
    got = numbers(sum((frames_of(name) for name in files), []))
    assert got == list(range(len(got))) and len(got) > 800


@test("nonsense is refused with a message and status 2")
def usage():
    for arguments in ("--nonsense", "-x", "file", "-i 0", "-i x", "-i 256", "-b 21", "-b x", "-b -1", "-M 0", "-M x", "-p 0",
                      "-I up", "--erf 2", "--format pcap", "--mode x", "--count 0", "--count -1", "--duration 0",
                      "--duration x", "--duration 1e3", "--snaplen 0", "--snaplen 70000", "--ring-files 2", "--ring-size 1",
                      "-w - --ring-size 1M", "-M 1M -p 1M", "-M 1M --ring-size 1M", "-w", "--comment x", "-M 20000000T",
                      "--ring-size 99999999999G", "-i 18446744073709551617"):
        result = run(FED, *arguments.split()).expect(2, "ipoib-capture: ")
        assert "--help" in result.err and result.out == b"", arguments
    assert not os.path.exists("never.pcap")


@test("an option that is wrong is named as it was written, within several letters too")
def wrong_options():
    for arguments, text in (("-Xs", "unknown option -X"), ("-sX", "unknown option -X"), ("--silent -sXT", "unknown option -X"),
                            ("--nonsense", "unknown option --nonsense"), ("-s --nonsense=1", "unknown option --nonsense=1"),
                            ("--silent=1", "unknown option --silent=1"), ("--ring=1", "unknown option --ring=1"),
                            ("-w", "a value is missing after -w"), ("-sw", "a value is missing after -w"),
                            ("--write", "a value is missing after --write"), ("--count", "a value is missing after --count"),
                            ("convert -Xf", "unknown option -X"), ("convert -f", "-f needs a value"),
                            ("convert --format", "--format needs a value"), ("convert --x", "unknown option --x")):
        run(FED, *arguments.split()).expect(2, "(?m)^ipoib-capture: .*%s$" % text)


@test("help and version")
def help_and_version():
    for option in ("-h", "--help"):
        assert b"Usage: ipoib-capture [OPTION]" in run("", option).expect(0).out
    for option in ("-v", "--version"):
        assert re.match(rb"ipoib-capture \d", run("", option).expect(0).out)


# --- devices

@test("--list: ports, state, link layer, LID, GID, P_Keys, modes")
def listing():
    scenario = ("device mlx5_0\nports 2\nlid 7\ngid fe80::2:c903:0:1\npkeys 0xffff 0 0x8001\n"
                "device rxe0\nport down ethernet\nfail flow ENOSYS\ndevice cxgb4_0\ntransport iwarp\n"
                "device mlx5_9\nfail flow ENOTSUPP\ndevice mlx4_0\nfail flow EINVAL\ndevice mlx5_8\nfail qp-raw EPERM\nfail flow EPERM\n")
    out = run(scenario, "--list").expect(0).out.decode()
    blocks = re.split(r"^(?=\S)", out, flags=re.MULTILINE)[1:]
    assert len(blocks) == 7, out
    assert blocks[0] == ("mlx5_0 port 1: PORT_ACTIVE, InfiniBand, LID 7, MTU 2048\n    GID       fe80::2:c903:0:1\n"
                         "    P_Keys    0xffff 0x8001\n    sniffer   yes\n    multicast yes\n")
    assert blocks[1].startswith("mlx5_0 port 2: ")
    assert re.match(r"rxe0 port 1: PORT_DOWN, Ethernet, MTU 2048\n(.*\n)*    sniffer   no: .*mlx5 and mlx4", blocks[2])
    assert "multicast no: the link layer is Ethernet" in blocks[2]
    assert "sniffer   no: the device is for iWARP" in blocks[3] and "multicast no: the device is for iWARP" in blocks[3]
    assert "allow_sniffer_and_nic_rx_shared_tir" in blocks[4]
    assert "log_num_mgm_entry_size=-1" in blocks[5]
    assert "CAP_NET_RAW" in blocks[6]
    out = run("fail umad EACCES\n", "--list").expect(0).out.decode()
    assert "multicast no: this user may not ask the subnet administrator" in out


@test("--list -d: that device alone; other options have no effect, which is told")
def listing_one():
    scenario = "device mlx5_0\nports 2\ndevice mlx5_1\n"
    both = run(scenario, "--list").expect(0)
    assert both.err == ""
    out = b"".join(run(scenario, "--list", "-d", name).expect(0).out for name in ("mlx5_0", "mlx5_1"))
    assert out == both.out and both.out.count(b" port ") == 3
    assert run(scenario, "-d", "mlx5_7", "--list").expect(1, "no RDMA device mlx5_7; there is mlx5_0, mlx5_1").out == b""
    assert run(scenario, "--list", "-i", "1").expect(0, "with --list no option but -d has an effect").out == both.out


@test("every refusal names the cause and the way out, and leaves an old file alone")
def refusals():
    with open("old.pcap", "w") as f:
        f.write("old")
    for scenario, arguments, texts in (
            ("fail list ENOSYS\n", "", ["ib_uverbs"]),
            (FED, "-d mlx5_7", ["no RDMA device mlx5_7; there is mlx5_0"]),
            (FED, "-i 2", ["mlx5_0 has no port 2: it has 1"]),
            ("fail open EACCES\n", "", ["/dev/infiniband/uverbs0", "root"]),
            ("fail pd ENOMEM\n", "", ["protection domain"]),
            ("fail channel ENOMEM\n", "", ["completion channel"]),
            ("fail cq ENOMEM\n", "", ["completion queue of 32768 entries"]),
            ("fail mr ENOMEM\n", "", ["buffers .* cannot be registered", "-b"]),
            ("fail mr ENOMEM\n", "-b 12", ["4096 buffers .* cannot be registered", "-b"]),
            ("fail qp-raw EPERM\nfail flow EINVAL\n", "", ["CAP_NET_RAW", "setcap cap_net_raw"]),
            ("fail flow EPERM\n", "", ["CAP_NET_RAW", "setcap cap_net_raw"]),
            ("fail flow EOPNOTSUPP\n", "", ["allow_sniffer_and_nic_rx_shared_tir", "way out: --mode multicast"]),
            ("fail flow ENOTSUPP\n", "", ["allow_sniffer_and_nic_rx_shared_tir", "not supported"]),
            ("device rxe0\nfail flow ENOSYS\nport active ethernet\n", "", ["mlx5 and mlx4", "RoCE: tcpdump"]),
            ("device mlx4_0\nfail flow EINVAL\n", "", ["log_num_mgm_entry_size"]),
            ("device cxgb4_0\ntransport iwarp\n", "", ["iWARP"]),
            ("fail qp-raw EINVAL\nfail qp-ud EINVAL\n", "", ["no queue pair can be created"]),
            ("fail qp-raw ENOMEM\nfail qp-ud ENOMEM\n", "", ["ask for fewer buffers"]),
            ("fail init EINVAL\n", "", ["cannot be made ready"]),
            ("fail rtr EIO\n", "", ["cannot be made ready"])):
        run(scenario, "-w", "old.pcap", *arguments.split()).expect(1, *texts)
        assert content("old.pcap") == b"old", scenario
    result = subprocess.run([CAPTURE], env={**os.environ, "LD_LIBRARY_PATH": REPLAY, "IPOIB_REPLAY": "/dev/null"},
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert result.returncode == 1 and b"there is no RDMA device here" in result.stderr


@test("a queue pair of the other type is tried where one is refused")
def other_type():
    for scenario in ("fail qp-raw EINVAL\n", "device mlx4_0\nfail qp-ud EINVAL\n", "device mlx4_0\n"):
        run(scenario + FED, "-w", "u.pcap", "-s", *ALL).expect(0)
        assert frames_of("u.pcap") == fed()


@test("fewer buffers where the device has fewer; told where a number was asked for")
def fewer_buffers():
    result = run("max-qp-wr 1000\nmax-cqe 500\n" + FED, "-w", "f.pcap", *ALL).expect(0)
    assert b"burst size)  : 500\n" in result.out and "instead" not in result.err
    run("max-qp-wr 1000\n" + FED, "-w", "f.pcap", "-b", "12", *ALL).expect(0, "1000 buffers instead of 4096")
    run("synthetic 64\n", "-w", "f.pcap", "-s", "-b", "0", "--count", "1000").expect(0, summary(1000, 64000, 0))
    assert numbers(frames_of("f.pcap")) == list(range(1000))


@test("a port that is down, or tells no link layer, is waited for")
def quiet_ports():
    run("port down ib\n", "-w", "q.pcap", "-s", "--duration", "0.2").expect(0, "not active", summary(0, 0, 0))
    assert len(content("q.pcap")) == 24
    run("port active none\n" + FED, "-w", "q.pcap", "-s", *ALL).expect(0)
    assert frames_of("q.pcap") == fed()


@test("the device's own times, as counter and as time of day")
def device_times():
    for clock in ("156250", "1000000", "wallclock"):
        begin = time.time()
        run("clock %s\nsynthetic 100\nrate 5000\ntotal 10000\n" % clock, "-w", "t.pcapng", "-s", "--format", "pcapng",
            "--count", "10000").expect(0)
        frames = read_pcapng(content("t.pcapng"))[1]
        assert numbers(frames_of("t.pcapng")) == list(range(10000))
        assert begin - 0.1 < frames[0][0] / 1e9 < frames[-1][0] / 1e9 < time.time() + 0.1, clock
        assert 1.8 < (frames[-1][0] - frames[0][0]) / 1e9 < 2.3, clock


@test("a device whose clock is not the host's: files end, and a pipe's reader gets its packets, by the host's")
def another_clock():
    for ahead in (-40000, 15000):
        clock = "clock wallclock\nclock-ahead %d\n" % ahead
        run(clock + "synthetic 100\nrate 1000\n", "-w", "c%d.pcap" % ahead, "-s", "--ring-time", "30", "--duration", "1.5").expect(0)
        files = glob.glob("c%d_*.pcap" % ahead)
        assert len(files) == 1, files
        when = read_pcap(content(files[0]))[1][-1][0] / 1e9 - ahead / 1e3
        assert abs(when - time.time()) < 10, "the file has the device's times"
        read_live(clock)


@test("a device's counter that drifts: the first frame after an idle time has no older relation of the clocks than the next")
def drifting_counter():
    run("clock 156250\nclock-drift 10000\nsynthetic 100\nrate 50\ntotal 20\nafter 0 pause 3000\n", "-w", "d.pcapng", "-s",
        "--format", "pcapng", "--count", "20").expect(0)
    times = [when for when, _, _, _ in read_pcapng(content("d.pcapng"))[1]]
    assert times == sorted(times), times


# --- faults

@test("failed completions are counted, and their buffers used again")
def failed_completions():
    faults = "".join("at %d error %d\n" % (n * 10, 4 + n % 2 * 8) for n in range(1, 2001))
    result = run("synthetic 100\ntotal 20002\n" + faults, "-w", "x.pcapng", "-s", "-b", "6", "--format", "pcapng",
                 "--count", "18002").expect(1, summary(18002, 1800200, 2000), "2000 frames could not be delivered")
    assert result.err.count("a receive failed") == 1
    assert numbers(frames_of("x.pcapng")) == [n for n in range(20002) if n == 0 or n % 10]
    _, frames, _, statistics = read_pcapng(content("x.pcapng"))
    drops = {int.from_bytes(octets[-8:], "big"): struct.unpack("<Q", options[4])[0]
             for _, _, octets, options in frames if 4 in options}
    assert drops == {n * 10 + 1: 1 for n in range(1, 2001)}
    assert statistics[-1][5] == 2000 and statistics[-1][4] == 20002


@test("frames longer than a buffer are drops, and -j is named")
def too_long():
    with open("long.pcap", "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 247))
        for size in (100, 5000, 100):
            f.write(struct.pack("<IIII", 0, 0, size, size) + b"\0\2" + bytes(size - 2))
    run("frames long.pcap\n", "-w", "l.pcap", "-s", "--duration", "0.3").expect(1, "-j", summary(2, 200, 1))
    run("frames long.pcap\n", "-w", "l.pcap", "-s", "-j", "--count", "3").expect(0, summary(3, 5200, 0))
    run("mtu 4096\nframes long.pcap\n", "-w", "l.pcap", "-s", "--count", "3").expect(0, summary(3, 5200, 0))


@test("the device's losses are counted, in the file too")
def device_losses():
    run(sysfs() + "synthetic 100\ntotal 30000\nat 1000 drop 7\nat 20000 drop 500\n", "-w", "x.pcapng", "-s", "--format",
        "pcapng", "--count", "29493").expect(1, summary(29493, 2949300, 507), "507 frames were lost by the device")
    statistics = read_pcapng(content("x.pcapng"))[3]
    assert statistics[-1] == {4: 30000, 5: 507, 7: 0}
    result = run(sysfs() + "synthetic 100\nrate 200000\nburst 10000\ntotal 100000\n", "-w", "x.pcap", "-s", "-b", "10",
                 "--duration", "1").expect(1)
    packets, drops = map(int, re.search(r"(\d+) packets, \d+ octets, (\d+) drops", result.err).groups())
    assert packets + drops == 100000 and drops > 50000, result.err
    assert len(frames_of("x.pcap")) == packets


@test("a device without a counter: that is told")
def no_counter():
    run(FED, "-w", "n.pcap", "-s", *ALL).expect(0, "no counter of frames that it loses")
    assert "no counter" not in run(sysfs() + FED, "-w", "n.pcap", "-s", *ALL).expect(0).err


@test("a queue pair in error is made anew")
def queue_pair_error():
    for fault in ("qp-error", "cq-error"):
        run("synthetic 100\nrate 20000\ntotal 20000\nat 5000 %s\nat 9000 %s\n" % (fault, fault), "-w", "x.pcapng", "-s",
            "--format", "pcapng", "--duration", "1.5").expect(1, "made anew", "the queue pair failed 2 times")
        got = numbers(frames_of("x.pcapng"))
        assert got == sorted(set(got)) and got[0] == 0 and got[-1] == 19999 and len(got) > (5000 if SANITIZED else 15000), (fault, len(got))
        comments = [options[1] for _, _, _, options in read_pcapng(content("x.pcapng"))[1] if 1 in options]
        assert len(comments) == 2 and b"frames may be missing" in comments[0]
    many = "".join("at %d qp-error\n" % n for n in range(1, 300))
    run("synthetic 100\ntotal 1000\n" + many, "-w", "x.pcap", "-s").expect(1, "again and again")


@test("what else the device tells beside its failure neither hides that nor doubles it")
def told_beside_failure():
    for told in ("lid 3", "lid 4", "cq-error"), ("qp-error", "lid 3", "cq-error"), ("lid 3", "qp-error", "cq-error", "lid 4"):
        run("synthetic 100\nrate 20000\ntotal 20000\n" + "".join("at 5000 %s\n" % what for what in told), "-w", "x.pcap", "-s",
            "--duration", "1.5").expect(1, "made anew", "the queue pair failed 1 time:")
        got = numbers(frames_of("x.pcap"))
        assert got == sorted(set(got)) and got[0] == 0 and got[-1] == 19999, told


@test("a device that goes away, or whose queue fails: the file is whole, the status 1")
def gone():
    for fault, text in (("remove", "the device is gone"), ("poll-error", "cannot be polled"), ("post-error", "no receive can be")):
        for scenario in ("at 5000 %s\n" % fault, "rate 10000\nafter 300 %s\n" % fault, "clock wallclock\nat 5000 %s\n" % fault):
            if fault == "post-error" and "after" in scenario:
                scenario = "rate 100000\nafter 300 post-error\n"
            run("synthetic 100\n" + scenario, "-w", "g.pcap", "-s").expect(1, text)
            got = numbers(frames_of("g.pcap"))
            assert len(got) > 1000 and got == list(range(len(got))), (fault, scenario, len(got))
    run("after 300 remove\n", "-w", "g.pcap", "-s").expect(1, "the device is gone", summary(0, 0, 0))
    # the queue fails a moment before the device's event tells why
    run("thread on\nsynthetic 100\nrate 10000\nafter 300 poll-error\nafter 330 remove\n", "-w", "g.pcap", "-s").expect(1, "the device is gone")


@test("a link that goes down and comes again is told")
def link_down():
    run("synthetic 100\nrate 1000\ntotal 500\nat 100 port-down\nat 200 port-up\n", "-w", "d.pcap", "-s", "--count",
        "500").expect(0, "link went down", "link is up")


@test("a full disk: told, counted, status 1")
def disk_full():
    for options in ((), ("--format", "pcapng"), ("-M", "1M")):
        run(FED, "-w", "/dev/full", "-s", *options, *ALL).expect(1, "/dev/full: cannot be written.*No space",
                                                                summary(0, 0, COUNT))
    with open("/dev/full", "wb") as full:
        run(FED, "-w", "-", *ALL, stdout=full).expect(1, "standard output: cannot be written", summary(0, 0, COUNT))


@test("a disk that becomes full: the file ends with a whole packet, and the counts agree")
def file_limit():
    for options in ((), ("--format", "pcapng")):
        process = start("synthetic 100\ntotal 50000\n", "-w", "z.pcap", "-s", *options,
                        preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (1000003, 1000003)),
                                            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
        result = end(process).expect(1, "z.pcap: cannot be written")
        packets, octets, drops = map(int, re.search(r"(\d+) packets, (\d+) octets, (\d+) drops", result.err).groups())
        got = numbers(frames_of("z.pcap"))
        assert got == list(range(packets)) and octets == 100 * packets and drops > 0
        assert 999000 - 300 < os.path.getsize("z.pcap") <= 1000003


@test("a reader that leaves: told, status 1, at once")
def reader_leaves():
    for scenario in ("synthetic 100\n", "synthetic 100\nrate 1000\n"):
        process = start(scenario, "-w", "-")
        process.stdout.read(1000)
        process.stdout.close()
        process.stdout = None
        end(process, 10).expect(1, "standard output: cannot be written.*Broken pipe")


@test("a reader that does not read: a signal ends it within a second, and the loss is counted")
def reader_sleeps():
    read_end, write_end = os.pipe()
    process = start("synthetic 1000\nrate 10000\n", "-w", "-", stdout=write_end)
    os.close(write_end)
    time.sleep(1)
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    result = end(process, 10).expect(1)
    assert time.monotonic() - begin < (4 if SANITIZED else 1.5)
    packets, drops = map(int, re.search(r"(\d+) packets, \d+ octets, (\d+) drops", result.err).groups())
    assert packets > 0 and drops > 1000
    os.close(read_end)


@test("a writer too slow: own losses are counted, in the file too")
def slow_reader():
    total = 20000 if SANITIZED else 100000
    read_end, write_end = os.pipe()
    process = start(sysfs() + "synthetic 1000\nwait on\nrate %d\ntotal %d\n" % (total, total), "-w", "-", "-p", "1M", "--format",
                    "pcapng", "--duration", "2.5", stdout=write_end)
    os.close(write_end)
    time.sleep(1.2)
    with os.fdopen(read_end, "rb") as f:
        data = f.read()
    result = end(process).expect(1, "written too slowly")
    packets, drops = map(int, re.search(r"(\d+) packets, \d+ octets, (\d+) drops", result.err).groups())
    _, frames, _, statistics = read_pcapng(data)
    got = numbers([octets for _, _, octets, _ in frames])
    assert len(got) == packets and packets + drops == total and drops > 1000, result.err
    counted = sum(struct.unpack("<Q", options[4])[0] for _, _, _, options in frames if 4 in options)
    assert counted == got[-1] + 1 - len(got), "every gap is told by the packet behind it: %d of %d, %s" % (
        counted, got[-1] + 1 - len(got), statistics)
    assert statistics[-1][7] == drops and statistics[-1][5] == 0


@test("signals end it in order")
def signals():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if os.path.exists("s.pcap"):
            os.unlink("s.pcap")
        result = after("synthetic 100\nrate 20000\n", 0.6, "-w", "s.pcap", sig=sig).expect(0)
        assert b"Interrupted (signal %d) - exiting ..." % sig in result.out
        got = numbers(frames_of("s.pcap"))
        assert got == list(range(len(got))) and len(got) > 1000


@test("idle: a signal ends it at once, and it has used no processor time to speak of")
def idle():
    process = start("", "-w", "i.pcap", "-s")
    time.sleep(3)
    with open("/proc/%d/stat" % process.pid) as f:
        ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    end(process).expect(0)
    assert time.monotonic() - begin < (3 if SANITIZED else 0.5)
    # the start, which takes memory, included: less than 0.3 s of 3
    assert SANITIZED or ticks * 10 < 300, ticks


@test("killed at any moment: readable up to the last whole packet")
def killed():
    chance = random.Random(4391)
    for n in range(12 if SANITIZED else 100):
        form = ("pcapng", read_pcapng) if n % 2 else ("erf", read_pcap)
        process = start("synthetic 100\nrate 2000000\n", "-w", "k.pcap", "-s", "--format", form[0], stdout=subprocess.DEVNULL)
        time.sleep(0.02 + chance.random() * 0.12)
        process.kill()
        process.communicate()
        data = content("k.pcap") if os.path.exists("k.pcap") else b""
        if data:
            got = numbers([octets for _, _, octets, _ in form[1](data, True)[1]])  # the kernel may end a write anywhere
            assert got == sorted(set(got)), n  # the rate is such that a busy machine may lose some
            os.unlink("k.pcap")


@test("a million packets at the device's pace: none is lost, none is counted wrongly")
def a_million():
    run(sysfs() + "synthetic 128\ntotal 1000000\n", "-w", "m.pcap", "-s", "--count", "1000000").expect(
        0, summary(1000000, 128000000, 0))
    data = content("m.pcap")
    assert len(data) == 24 + 160 * 1000000
    for n in range(0, 1000000, 997):
        assert int.from_bytes(data[24 + 160 * n + 152:24 + 160 * n + 160], "big") == n
    os.unlink("m.pcap")


@test("a device that does not wait for the program: what is not captured is told, frame by frame")
def by_itself():
    for buffers, rate, faults in (("15", 100000, ""), ("8", 1000000, ""), ("8", 1000000, "at 500 error 4\nat 60000 error 12\n")):
        total = rate // (5 if SANITIZED else 2)
        run_scenario = sysfs() + "thread on\nsynthetic 128\nrate %d\ntotal %d\n%s" % (rate, total, faults)
        result = run(run_scenario, "-w", "t.pcapng", "-s", "-b", buffers, "--format", "pcapng", "--duration", "4")
        packets, drops = map(int, re.search(r"(\d+) packets, \d+ octets, (\d+) drops", result.err).groups())
        assert packets + drops == total, (buffers, result.err)
        result.expect(1 if drops else 0)
        got = numbers(frames_of("t.pcapng"))
        assert len(got) == packets and got == sorted(set(got)), "each once, in their order"
        assert read_pcapng(content("t.pcapng"))[3][-1] == {4: total, 5: drops, 7: 0}
    for fault, text in (("qp-error", "made anew"), ("remove", "the device is gone")):
        run(sysfs() + "thread on\nsynthetic 128\nrate 50000\nat 10000 %s\n" % fault, "-w", "t.pcap", "-s", "--duration",
            "1").expect(1, text)
        got = numbers(frames_of("t.pcap"))
        assert got == sorted(set(got)) and len(got) >= 9000, (fault, len(got))


@test("a file in memory, which the receiving thread writes itself when it has time")
def file_in_memory():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        name = os.path.join(folder, "m.pcap")
        for pace in ("", "burst 512\n", "burst 20000\n", "thread on\nrate 200000\n"):
            run(sysfs() + "synthetic 1000\ntotal 100000\n" + pace, "-w", name, "-s", "--count", "100000").expect(
                0, summary(100000, 10**8, 0))
            assert numbers(frames_of(name)) == list(range(100000)), pace
        os.unlink(name)
        run("synthetic 1000\nburst 512\n", "-w", name, "-s", "--count", "100000", "--ring-size", "10M", "--ring-files",
            "3").expect(0, summary(100000, 10**8, 0))
        files = sorted(glob.glob(os.path.join(folder, "m_*.pcap")))
        got = numbers(sum((frames_of(path) for path in files), []))
        assert len(files) == 3 and got == list(range(got[0], 100000)) and got[0] < 80000
    process = start("synthetic 100\nburst 512\ntotal 50000\n", "-w", "/dev/shm/ipoib-limit.pcap", "-s",
                    preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (1000003, 1000003)),
                                        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)))
    result = end(process).expect(1, "cannot be written")
    packets, drops = map(int, re.search(r"(\d+) packets, \d+ octets, (\d+) drops", result.err).groups())
    assert numbers(frames_of("/dev/shm/ipoib-limit.pcap")) == list(range(packets)) and drops > 0
    os.unlink("/dev/shm/ipoib-limit.pcap")


@test("a FIFO is waited for, and a signal ends the waiting")
def fifo():
    os.mkfifo("fifo")
    process = start(FED, "-w", "fifo", "-s", *ALL)
    time.sleep(0.3)
    with open("fifo", "rb") as f:
        data = f.read()
    end(process).expect(0, summary(COUNT, SIZE, 0))
    assert [octets[16:] for _, _, octets, _ in read_pcap(data)[1]] == fed()
    after(FED, 0.5, "-w", "fifo", "-s", sig=signal.SIGTERM).expect(1, "fifo: cannot be created")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run_tests(sys.argv[1:])
        os.chdir("/")
    return finish()


if __name__ == "__main__":
    sys.exit(main())

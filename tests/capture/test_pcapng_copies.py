# SPDX-License-Identifier: GPL-2.0-or-later
"""What a pcapng file says besides its packets is copied by "ipoib-capture convert" and "ipoib-check
--annotate": comments, interfaces, drop counts, statistics (draft-ietf-opsawg-pcapng section 4)."""
import os
import struct
import subprocess

import pytest

from frames.fabric import A, B, BROADCAST_MGID, Tape
from frames.messages import arp_request
from support import capfile
from support.check import run
from support.convert import convert
from support.paths import SRC

COMMENT, NAME, DESCRIPTION, HARDWARE, FLAGS, DROPS = 1, 2, 3, 2, 2, 4
START, END, RECEIVED, LOST, ACCEPTED, OS_LOST = 2, 3, 4, 5, 6, 7
SECOND = 1700000000
TEXTS = (b"rack", b"mlx5", b"cable", b"quiet", b"linux", b"dumpcap", b"noon")


def section(endian, **options):
    values = {COMMENT: b"seen in rack 7", HARDWARE: b"rack server", 3: b"linux", 4: b"dumpcap"}
    head = struct.pack(endian + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    body = head + capfile.options({**values, **options}, endian)
    return capfile.block(capfile.SECTION, body, endian)


def halves(ticks, endian):
    return struct.pack(endian + "II", ticks >> 32, ticks & 0xFFFFFFFF)


def statistics(endian, interface, ticks, received, lost, **options):
    """START: a second before. isb_usrdeliv is option 8."""
    values = {
        COMMENT: b"at noon",
        START: halves(ticks[0], endian),
        RECEIVED: struct.pack(endian + "Q", received),
        LOST: struct.pack(endian + "Q", lost),
        8: struct.pack(endian + "Q", received - lost),
    }
    head = struct.pack(endian + "I", interface) + halves(ticks[1], endian)
    return capfile.block(capfile.STATISTICS, head + capfile.options(values, endian), endian)


def described(endian):
    """Two sections. The second interface of the first is in microseconds, 10 s after the clock."""
    t = Tape()
    for _ in range(3):
        t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    frames = [octets for _, octets, _ in t.records]
    first = {NAME: b"hca0", DESCRIPTION: b"cable 1", COMMENT: b"quiet", 9: b"\x09"}
    first[8] = struct.pack(endian + "Q", 10**11)
    second = {NAME: b"mlx5_1", 9: b"\x06", 14: struct.pack(endian + "q", 10)}
    values = {
        COMMENT: b"quiet here",
        FLAGS: struct.pack(endian + "I", 1),
        DROPS: struct.pack(endian + "Q", 7),
    }
    micro = SECOND * 10**6
    return b"".join(
        [
            section(endian),
            capfile.interface(capfile.INFINIBAND, 0, endian, first),
            capfile.interface(capfile.INFINIBAND, 0, endian, second),
            capfile.packet(SECOND * 10**9 + 1, frames[0], endian=endian, values=values),
            capfile.packet(micro + 2, frames[1], number=1, endian=endian),
            statistics(endian, 0, (SECOND * 10**9, SECOND * 10**9 + 5), 100, 3),
            statistics(endian, 1, (micro, micro + 6), 200, 4),
            section(endian),
            capfile.interface(capfile.INFINIBAND, 0, endian, {NAME: b"mlx5_2"}),
            capfile.packet(micro + 3, frames[2], endian=endian),
            statistics(endian, 0, (micro, micro + 7), 300, 5),
        ]
    )


@pytest.fixture(params="<>", ids=["le", "be"])
def source(request, tmp_path):
    (tmp_path / "in.pcapng").write_bytes(described(request.param))
    return tmp_path / "in.pcapng"


def listed(path):
    """(type, interface, time, options) of each block; the output is little-endian, in ns. The
    options are a list, because a comment may be repeated."""
    heads = {capfile.SECTION: 16, capfile.INTERFACE: 8, capfile.STATISTICS: 12}
    for kind, body, endian in capfile.blocks(capfile.load(path)):
        assert endian == "<"
        number = time = None
        if kind in (capfile.STATISTICS, capfile.ENHANCED_PACKET):
            number, high, low = struct.unpack_from("<III", body)
            time = high << 32 | low
        at = heads.get(kind)
        if kind == capfile.ENHANCED_PACKET:
            (captured,) = struct.unpack_from("<I", body, 12)
            at = 20 + captured + -captured % 4
        yield kind, number, time, list(pairs(body[at:]))


def pairs(data):
    at = 0
    while at < len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            assert data[at:] == bytes(4)
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def number(value):
    return struct.pack("<Q", value)


def counted(interface, time, received, lost, *comment):
    start = halves((SECOND + (10 if interface else 0)) * 10**9, "<")
    if interface is None:
        interface, start = 0, halves(SECOND * 10**9, "<")
    options = [
        (START, start),
        (RECEIVED, number(received)),
        (LOST, number(lost)),
        (8, number(received - lost)),
    ]
    return capfile.STATISTICS, interface, time, [*comment, *options]


NS = SECOND * 10**9
FIRST_PACKET = [(FLAGS, struct.pack("<I", 1)), (DROPS, number(7))]


def test_convert_copies_all(source, tmp_path):
    out = tmp_path / "out.pcapng"
    convert(source, out)
    blocks = list(listed(out))
    noon = (COMMENT, b"at noon")
    assert [b[:3] for b in blocks] == [
        (capfile.SECTION, None, None),
        (capfile.INTERFACE, None, None),
        (capfile.INTERFACE, None, None),
        (capfile.ENHANCED_PACKET, 0, NS + 1),
        (capfile.ENHANCED_PACKET, 1, NS + 10 * 10**9 + 2000),
        counted(0, NS + 5, 100, 3)[:3],
        counted(1, NS + 10 * 10**9 + 6000, 200, 4)[:3],
        (capfile.SECTION, None, None),
        (capfile.INTERFACE, None, None),
        (capfile.ENHANCED_PACKET, 0, NS + 3000),
        counted(None, NS + 7000, 300, 5)[:3],
    ]
    for i in (0, 7):
        assert dict(blocks[i][3])[COMMENT] == b"seen in rack 7"
        assert dict(blocks[i][3])[HARDWARE] == b"rack server"
        assert dict(blocks[i][3])[4].startswith(b"ipoib-capture ")
    assert dict(blocks[1][3]) == {
        NAME: b"hca0",
        DESCRIPTION: b"cable 1",
        COMMENT: b"quiet",
        8: number(10**11),
        9: b"\x09",
    }
    assert dict(blocks[2][3]) == {NAME: b"mlx5_1", 9: b"\x09"}
    assert sorted(blocks[3][3]) == sorted([(COMMENT, b"quiet here"), *FIRST_PACKET])
    assert blocks[5] == counted(0, NS + 5, 100, 3, noon)
    assert blocks[6] == counted(1, NS + 10 * 10**9 + 6000, 200, 4, noon)
    assert blocks[10] == counted(None, NS + 7000, 300, 5, noon)


@pytest.mark.parametrize("content", ["erf", "247"])
def test_interfaces_have_the_link_type_of_the_output(content, source, tmp_path):
    convert("--format", content, source, tmp_path / "out.pcapng")
    blocks = list(capfile.blocks(capfile.load(tmp_path / "out.pcapng")))
    links = [struct.unpack_from("<H", body)[0] for kind, body, _ in blocks if kind == 1]
    assert links == [{"erf": capfile.ERF, "247": capfile.INFINIBAND}[content]] * 3


def test_convert_there_and_back_is_the_same_file(source, tmp_path):
    """The second conversion changes nothing: all is little-endian and in ns already."""
    convert("--format", "247", source, tmp_path / "a.pcapng")
    convert("--format", "erf", tmp_path / "a.pcapng", tmp_path / "b.pcapng")
    convert("--format", "247", tmp_path / "b.pcapng", tmp_path / "c.pcapng")
    assert capfile.load(tmp_path / "a.pcapng") == capfile.load(tmp_path / "c.pcapng")


def test_share_copies_counts_and_no_texts(source, tmp_path):
    convert("--share", source, tmp_path / "out.pcapng")
    data = capfile.load(tmp_path / "out.pcapng")
    assert not [t for t in TEXTS if t in data]
    blocks = list(listed(tmp_path / "out.pcapng"))
    assert [dict(b[3]) for b in blocks if b[0] == capfile.INTERFACE] == [{9: b"\x09"}] * 3
    assert sorted(blocks[3][3]) == sorted(FIRST_PACKET)
    assert blocks[5] == counted(0, NS + 5, 100, 3)
    assert blocks[10] == counted(None, NS + 7000, 300, 5)


# The options that "convert --share" copies (draft-ietf-opsawg-pcapng section 4); if_tsresol is new.
SHARED = {
    capfile.SECTION: [4],
    capfile.INTERFACE: [9],
    capfile.ENHANCED_PACKET: [FLAGS, DROPS],
    capfile.STATISTICS: [START, END, RECEIVED, LOST, ACCEPTED, OS_LOST, 8],
}
NAME_RESOLUTION, JOURNAL, SECRETS, CUSTOM = 4, 9, 10, 0xBAD


def with_all_options():
    """Every option from 1 to 20, with values of 4 and of 8 bytes, and custom ones (2988 to 19373)"""
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    ((_, frame, _),) = t.records
    for size in (4, 8):
        value = b"leakleak"[:size]
        values = {**{n: value for n in range(1, 21)}, 2988: b"leak" + value, 19373: b"leak" + value}
        head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + capfile.options(values)
        yield capfile.block(capfile.SECTION, head)
        yield capfile.interface(capfile.INFINIBAND, 0, "<", {**values, 9: b"\x09", 14: bytes(8)})
        yield capfile.packet(NS, frame, values=values)
        head = struct.pack("<I", 0) + halves(NS, "<") + capfile.options(values)
        yield capfile.block(capfile.STATISTICS, head)
        for kind in (NAME_RESOLUTION, JOURNAL, SECRETS, CUSTOM):
            yield capfile.block(kind, b"leak" * 4)


def test_share_copies_the_listed_options_only(tmp_path):
    (tmp_path / "in.pcapng").write_bytes(b"".join(with_all_options()))
    convert("--share", tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    blocks = list(listed(tmp_path / "out.pcapng"))
    assert {kind for kind, *_ in blocks} == set(SHARED)
    found = {kind: set() for kind in SHARED}
    for kind, _, _, options in blocks:
        found[kind].update(code for code, _ in options)
    assert found == {kind: set(codes) for kind, codes in SHARED.items()}
    assert dict(blocks[0][3])[4].startswith(b"ipoib-capture ")


def test_other_formats_have_packets_only(source, tmp_path):
    convert(source, tmp_path / "out.pcap")
    assert len(capfile.read(tmp_path / "out.pcap").frames) == 3


def annotated(source, tmp_path):
    done = run("--annotate", str(tmp_path / "out.pcapng"), str(source))
    return done.stdout.splitlines()[-1], list(listed(tmp_path / "out.pcapng"))


def test_annotate_copies_all(source, tmp_path):
    """The sections become one, whose last comment is the verdict."""
    verdict, blocks = annotated(source, tmp_path)
    comments = [text for code, text in blocks[0][3] if code == COMMENT]
    assert comments[:2] == [b"seen in rack 7"] * 2 and len(comments) == 3
    assert comments[2].endswith(verdict)
    assert dict(blocks[0][3])[HARDWARE] == b"rack server"
    assert [b[0] for b in blocks].count(capfile.SECTION) == 1
    interfaces = [dict(b[3]) for b in blocks if b[0] == capfile.INTERFACE]
    assert [i[NAME] for i in interfaces] == [b"hca0", b"mlx5_1", b"mlx5_2"]
    assert interfaces[0][COMMENT] == b"quiet" and interfaces[0][DESCRIPTION] == b"cable 1"
    frames = [b for b in blocks if b[0] == capfile.ENHANCED_PACKET]
    assert [b[1] for b in frames] == [0, 1, 2]
    assert [b[2] for b in frames] == [NS + 1, NS + 10 * 10**9 + 2000, NS + 3000]
    assert frames[0][3][: len(FIRST_PACKET) + 1] == [
        FIRST_PACKET[1],
        (COMMENT, b"quiet here"),
        FIRST_PACKET[0],
    ]
    counts = [(b[1], b[2], dict(b[3])[RECEIVED]) for b in blocks if b[0] == capfile.STATISTICS]
    assert counts == [
        (0, NS + 5, number(100)),
        (1, NS + 10 * 10**9 + 6000, number(200)),
        (2, NS + 7000, number(300)),
    ]


PLAIN = os.path.join(SRC, "script/with-plugins")


def run_plain(*command):
    """A program of Wireshark without this project."""
    environment = {**os.environ, "IPOIB_PLUGINS": "", "LC_ALL": "C"}
    return subprocess.run(
        [PLAIN, *map(str, command)], capture_output=True, text=True, env=environment, check=False
    )


def shown(*command):
    done = run_plain(*command)
    assert done.returncode == 0, done.stderr
    return done.stdout


NAMES = ["hca0", "mlx5_1", "mlx5_2"]
COPIED = ["Capture comment:     seen in rack 7", "Name = hca0", "Description = cable 1"]
COPIED += ["Comment = quiet", "Name = mlx5_1", "Number of stat entries = 1"]


def frames_shown(path):
    """Interface, time and comments of each frame."""
    fields = ("frame.interface_name", "frame.time_epoch", "frame.comment")
    options = [o for f in fields for o in ("-e", f)]
    text = shown("tshark", "-r", path, "-T", "fields", *options)
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("program", ["convert", "annotate"])
def test_wireshark_shows_what_is_copied(program, source, tmp_path):
    out = tmp_path / "out.pcapng"
    if program == "convert":
        convert(source, out)
    else:
        annotated(source, tmp_path)
    # capinfos 4.4 crashes on any file of several sections, so on the input too.
    if run_plain("capinfos", source).returncode == 0:
        text = shown("capinfos", out)
        for line in COPIED:
            assert line in text, text
    rows = frames_shown(out)
    assert [r[1] for r in rows] == [
        f"{SECOND}.000000001",
        f"{SECOND + 10}.000002000",
        f"{SECOND}.000003000",
    ]
    assert rows[0][2].startswith("quiet here")
    names = [r[0] for r in rows]
    # Wireshark 4.0 shows the interfaces of the first section in all sections, also of the input
    assert names == ([r[0] for r in frames_shown(source)] if program == "convert" else NAMES)


@pytest.mark.parametrize("fault", ["interface", "option", "short"])
def test_malformed_statistics_are_left_out(fault, tmp_path):
    """Wireshark reads the packets of such a file, too."""
    body = struct.pack("<III", 0, 0, 5)
    body = {
        "interface": struct.pack("<III", 9, 0, 5),
        "option": body + struct.pack("<HH", RECEIVED, 400) + bytes(8),
        "short": body[:8],
    }[fault]
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    time, octets, _ = t.records[0]
    data = [capfile.section(), capfile.interface(capfile.INFINIBAND)]
    data += [capfile.block(capfile.STATISTICS, body), capfile.packet(time, octets)]
    (tmp_path / "in.pcapng").write_bytes(b"".join(data))
    convert(tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    assert len(capfile.read(tmp_path / "out.pcapng").frames) == 1
    annotated(tmp_path / "in.pcapng", tmp_path)
    assert len(capfile.read(tmp_path / "out.pcapng").frames) == 1

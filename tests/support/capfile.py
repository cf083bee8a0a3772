# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading and writing capture files: pcap, pcapng, raw ERF, and snoop (only written). It shares no
code with the project's C.

Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, Endace ERF types reference, RFC 1761."""
import dataclasses
import struct

ETHERNET, ERF, IPOIB, INFINIBAND = 1, 197, 242, 247  # link types
PCAP_MICROSECONDS, PCAP_NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
SECTION, INTERFACE, STATISTICS, ENHANCED_PACKET = 0x0A0D0D0A, 1, 5, 6
ERF_INFINIBAND = 21


class CaptureError(ValueError):
    """The file is truncated, malformed or of an unknown format."""


@dataclasses.dataclass
class Frame:
    """A frame: its time in nanoseconds, its bytes, and the number of bytes on the wire."""

    time: int
    data: bytes
    wire: int
    interface: int = 0
    options: dict = dataclasses.field(default_factory=dict)  # pcapng: code to bytes
    comments: list = dataclasses.field(default_factory=list)  # pcapng: the texts, in their order


@dataclasses.dataclass
class Interface:
    """A pcapng interface, or the only one of a pcap file."""

    linktype: int
    snaplen: int = 0
    options: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Capture:
    """A whole capture file. statistics: the interface, and code to number, of each statistics
    block."""

    format: str  # "pcap", "pcapng" or "erf"
    interfaces: list
    frames: list
    statistics: list = dataclasses.field(default_factory=list)
    endian: str = "<"
    nanoseconds: bool = True

    @property
    def linktype(self):
        return self.interfaces[0].linktype

    def infiniband(self):
        """The bytes of each frame, without an ERF header. A malformed ERF header is an error."""
        if self.linktype != ERF:
            return [f.data for f in self.frames]
        return [erf_payload(f.data) for f in self.frames]


def load(path):
    with open(path, "rb") as f:
        return f.read()


def read(path, truncated=False):
    """The capture in a file; truncated: an incomplete record at its end is left out, and is not an
    error."""
    return parse(load(path), truncated)


def parse(data, truncated=False):
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return _parse_pcapng(data, truncated)
    if len(data) >= 24:
        for endian in "<>":
            (magic,) = struct.unpack_from(endian + "I", data)
            if magic in (PCAP_MICROSECONDS, PCAP_NANOSECONDS):
                return _parse_pcap(data, endian, magic == PCAP_NANOSECONDS, truncated)
    return _parse_erf(data, truncated)


def _parse_pcap(data, endian, nanoseconds, truncated):
    snaplen, link = struct.unpack_from(endian + "II", data, 16)
    frames, at, unit = [], 24, 1 if nanoseconds else 1000
    while at < len(data):
        if len(data) - at < 16 or len(data) - at - 16 < _u32(data, at + 8, endian):
            if truncated:
                break
            raise CaptureError(f"truncated record at offset {at}")
        seconds, fraction, captured, wire = struct.unpack_from(endian + "IIII", data, at)
        at += 16
        frames.append(Frame(seconds * 10**9 + fraction * unit, data[at : at + captured], wire))
        at += captured
    interface = Interface(link & 0x0FFFFFFF, snaplen)
    return Capture("pcap", [interface], frames, endian=endian, nanoseconds=nanoseconds)


def _u32(data, at, endian="<"):
    return struct.unpack_from(endian + "I", data, at)[0]


def blocks(data, truncated=False):
    """The (type, body, byte order) of each pcapng block."""
    at, endian = 0, "<"
    while at < len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a" and len(data) - at >= 12:
            endian = "<" if _u32(data, at + 8) == 0x1A2B3C4D else ">"
        if len(data) - at < 12 or len(data) - at < _u32(data, at + 4, endian):
            if truncated:
                return
            raise CaptureError(f"truncated block at offset {at}")
        kind, length = struct.unpack_from(endian + "II", data, at)
        if length < 12 or length % 4 or _u32(data, at + length - 4, endian) != length:
            raise CaptureError(f"malformed block at offset {at}")
        yield kind, data[at + 8 : at + length - 4], endian
        at += length


def each_option(data, endian="<"):
    """Yields code and bytes of each option of a pcapng block."""
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(endian + "HH", data, at)
        if code == 0:
            break
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4


def parse_options(data, endian="<"):
    """Code to bytes of a pcapng block's options; of several with one code, the last."""
    return dict(each_option(data, endian))


def _ticks(options):
    """The number of ticks in a second of an interface (if_tsresol, option 9)."""
    resolution = options.get(9, b"\6")[0]
    return 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution


def _parse_pcapng(data, truncated):
    capture = Capture("pcapng", [], [])
    for kind, body, endian in blocks(data, truncated):
        capture.endian = endian
        if kind == INTERFACE:
            link, snaplen = struct.unpack_from(endian + "HxxI", body)
            capture.interfaces.append(Interface(link, snaplen, parse_options(body[8:], endian)))
        elif kind == STATISTICS:
            values = parse_options(body[12:], endian)
            numbers = {
                c: struct.unpack(endian + "Q", v)[0] for c, v in values.items() if len(v) == 8
            }
            capture.statistics.append((_u32(body, 0, endian), numbers))
        elif kind == ENHANCED_PACKET:
            number, high, low, captured, wire = struct.unpack_from(endian + "IIIII", body)
            ticks = _ticks(capture.interfaces[number].options)
            options = list(each_option(body[20 + captured + -captured % 4 :], endian))
            comments = [value.decode() for code, value in options if code == 1]
            time = (high << 32 | low) * 10**9 // ticks
            octets = body[20 : 20 + captured]
            capture.frames.append(Frame(time, octets, wire, number, dict(options), comments))
    return capture


def packets(data, truncated=False):
    """Only the bytes of each packet of a pcap or pcapng file in little-endian: fast, for files of
    100,000 packets."""
    out, end, unpack = [], len(data), struct.Struct("<II").unpack_from
    if data[:4] != b"\x0a\x0d\x0d\x0a":
        at = 24
        while at + 16 <= end:
            captured, _ = unpack(data, at + 8)
            at += 16 + captured
            if at > end:
                at -= 16 + captured
                break
            out.append(data[at - captured : at])
    else:
        at = 0
        while at + 12 <= end:
            kind, length = unpack(data, at)
            if at + length > end:
                break
            if (
                length < 12
                or length % 4
                or data[at + 4 : at + 8] != data[at + length - 4 : at + length]
            ):
                raise CaptureError(f"malformed block at offset {at}")
            if kind == ENHANCED_PACKET:
                captured, _ = unpack(data, at + 20)
                out.append(data[at + 28 : at + 28 + captured])
            at += length
    if at != end and not truncated:
        raise CaptureError(f"truncated at offset {at}")
    return out


def _parse_erf(data, truncated):
    frames, at = [], 0
    while at < len(data):
        length = struct.unpack_from(">H", data, at + 10)[0] if len(data) - at >= 16 else 0
        if length < 16 or len(data) - at < length:
            if truncated:
                break
            raise CaptureError(f"no ERF record at offset {at}")
        record = data[at : at + length]
        wire = struct.unpack_from(">H", record, 14)[0]
        frames.append(Frame(erf_time(record), record, 16 + wire))
        at += length
    return Capture("erf", [Interface(ERF)], frames)


def erf_time(record):
    """The time of an ERF record in nanoseconds: 32.32, little-endian."""
    (stamp,) = struct.unpack_from("<Q", record)
    return (stamp >> 32) * 10**9 + ((stamp & 0xFFFFFFFF) * 10**9 >> 32)


def erf_payload(record):
    """The InfiniBand packet of an ERF record of type 21, after its extension headers."""
    kind, _, length = struct.unpack_from(">BBH", record, 8)
    if kind & 0x7F != ERF_INFINIBAND or length != len(record):
        raise CaptureError(f"ERF record of type {kind & 0x7F}, length {length} of {len(record)}")
    at, more = 16, kind & 0x80
    while more:
        more = record[at] & 0x80
        at += 8
    return record[at:]


# Writing. A record is (time in nanoseconds, bytes, number of bytes on the wire) or a Frame.


def _record(record):
    return (record.time, record.data, record.wire) if isinstance(record, Frame) else record


def records(packets, time=10**9, step=1000):
    """Records of whole packets, one after another."""
    return [(time + n * step, bytes(p), len(p)) for n, p in enumerate(packets)]


def record(time, data, cut=None):
    """A record that a snaplen truncated to this number of bytes."""
    return time, data if cut is None else data[:cut], len(data)


def pcap(linktype, frames, nanoseconds=False, endian="<", snaplen=262144):
    """A pcap file in microseconds or nanoseconds, in either byte order."""
    magic = PCAP_NANOSECONDS if nanoseconds else PCAP_MICROSECONDS
    out = [struct.pack(endian + "IHHiIII", magic, 2, 4, 0, 0, snaplen, linktype)]
    for time, data, wire in map(_record, frames):
        fraction = time % 10**9 // (1 if nanoseconds else 1000)
        out.append(struct.pack(endian + "IIII", time // 10**9, fraction, len(data), wire) + data)
    return b"".join(out)


def options(values, endian="<"):
    """pcapng options from code to bytes, with the end of options."""
    out = b""
    for code, value in values.items():
        out += struct.pack(endian + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)
    return out + struct.pack(endian + "HH", 0, 0) if values else b""


def block(kind, body, endian="<"):
    """A pcapng block, padded to 4 bytes."""
    body += b"\0" * (-len(body) % 4)
    length = struct.pack(endian + "I", len(body) + 12)
    return struct.pack(endian + "I", kind) + length + body + length


def section(endian="<"):
    return block(SECTION, struct.pack(endian + "IHHq", 0x1A2B3C4D, 1, 0, -1), endian)


def interface(linktype, snaplen=0, endian="<", values=None):
    """An interface in nanoseconds, unless values (its options) say otherwise."""
    values = {9: b"\x09"} if values is None else values
    head = struct.pack(endian + "HHI", linktype, 0, snaplen)
    return block(INTERFACE, head + options(values, endian), endian)


def packet(ticks, data, wire=None, number=0, endian="<", values=None):
    """An enhanced packet block; ticks have its interface's resolution."""
    wire = len(data) if wire is None else wire
    head = struct.pack(endian + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), wire)
    body = head + data + b"\0" * (-len(data) % 4) + options(values or {}, endian)
    return block(ENHANCED_PACKET, body, endian)


def pcapng(linktypes, frames, endian="<", snaplen=0):
    """A pcapng file of one section; linktypes: one, or a list with one for each interface."""
    if isinstance(linktypes, int):
        linktypes = [linktypes]
    out = [section(endian)] + [interface(link, snaplen, endian) for link in linktypes]
    for frame in frames:
        number = frame.interface if isinstance(frame, Frame) else 0
        time, data, wire = _record(frame)
        out.append(packet(time, data, wire, number, endian))
    return b"".join(out)


def erf_record(time, data, wire, flags=4):
    """An ERF record of type 21; rlen counts the header and the captured bytes, wlen those on the
    wire."""
    stamp = (time // 10**9) << 32 | ((time % 10**9 << 32) // 10**9)
    return erf_record_of(ERF_INFINIBAND, stamp, data, wire, flags)


def erf_record_of(kind, stamp, data, wire, flags=4, lost=0, extensions=b"", padding=0):
    """An ERF record of any type. stamp: 32.32 fixed point; kind: with bit 0x80 if extension headers
    follow."""
    length = 16 + len(extensions) + len(data) + padding
    head = struct.pack("<Q", stamp) + struct.pack(">BBHHH", kind, flags, length, lost, wire)
    return head + extensions + data + bytes(padding)


def erf_records(frames):
    """The frames for a file of link type ERF: each begins with its ERF header."""
    return [(t, erf_record(t, d, w), 16 + w) for t, d, w in map(_record, frames)]


def erf(frames):
    """A raw ERF file."""
    return b"".join(erf_record(*_record(f)) for f in frames)


def snoop(frames, datalink=26):
    """snoop version 2 (RFC 1761) in microseconds; datalink 26 is InfiniBand."""
    out = [b"snoop\0\0\0" + struct.pack(">II", 2, datalink)]
    for time, data, wire in map(_record, frames):
        padded = data + b"\0" * (-len(data) % 4)
        lengths = struct.pack(">IIII", wire, len(data), 24 + len(padded), 0)
        out.append(lengths + struct.pack(">II", time // 10**9, time % 10**9 // 1000) + padded)
    return b"".join(out)

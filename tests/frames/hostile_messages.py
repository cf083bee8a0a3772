# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of connected-mode messages that are made to exhaust a reassembling program.

Each function returns packets of LINKTYPE_INFINIBAND. No conformant sender makes them: a First and a
Middle hold exactly the path MTU, 256 bytes or more (IBA 9.4.1)."""
import frames.ib as ib

FIRST_PSN = 0x100
DATAGRAM = 65535  # the largest that an IPv4 header can state


def packet(position, payload, psn, qp=0x300):
    """An RC SEND. Its VCRC is 0: no part of the project checks it, and computing it is slow."""
    pad = -len(payload) % 4
    body = ib.bth(ib.RC | position, 0xFFFF, qp, psn & 0xFFFFFF, pad=pad) + payload + bytes(pad)
    head = ib.lrh(ib.LNH_BTH, 2, 1, (8 + len(body) + 4) // 4)
    return head + body + ib.icrc(head, b"", body) + b"\0\0"


def first(size=256, psn=FIRST_PSN, qp=0x300, total=DATAGRAM):
    """The First packet of an IPv4 datagram of this length."""
    header = ib.ipv4_header("10.0.0.1", "10.0.0.2", 17, total - 20)
    return packet(ib.FIRST, ib.encap(0x0800, header).ljust(size, b"\x55"), psn, qp)


def _endless(size, count, connections=1):
    qps = [0x300 + n for n in range(connections)]
    out = [first(256 if size < 256 else size, qp=qp) for qp in qps]
    for n in range(count - connections):
        middle = b"\xaa" * size
        out.append(
            packet(ib.MIDDLE, middle, FIRST_PSN + 1 + n // connections, qps[n % connections])
        )
    return out


def one_byte_middles(count):
    """A First, and Middles of one byte without end."""
    return _endless(1, count)


def empty_middles(count):
    """A First, and Middles of 0 bytes without end."""
    return _endless(0, count)


def full_size_middles(count):
    """A First, and Middles of 2048 bytes without end."""
    return _endless(2048, count)


def several_connections(count):
    """Sixteen messages at once, each of a connection of its own, with Middles of one byte."""
    return _endless(1, count, 16)


def repeated_firsts(count):
    """A First of the same message many times, each with a Middle of one byte after it."""
    out = []
    for n in range(count // 2):
        out += [first(), packet(ib.MIDDLE, b"\xaa", FIRST_PSN + 1 + n)]
    return out


def gaps(count):
    """A First, and only every second Middle, each of them three times."""
    middles = [FIRST_PSN + 2 + 2 * (n // 3) for n in range(count - 1)]
    return [first()] + [packet(ib.MIDDLE, b"\xaa", psn) for psn in middles]


def ends_ever_earlier(count):
    """Messages of 190 packets, 30 more after gaps, and Lasts that end the message earlier each
    time."""
    out, at = [], FIRST_PSN
    while len(out) < count:
        out.append(first(psn=at))
        out += [packet(ib.MIDDLE, b"\xaa", at + n) for n in range(1, 190)]
        far = range(192, 252, 2)
        out += [packet(ib.MIDDLE, b"\xaa", at + n) for n in far]
        out += [packet(ib.LAST, b"\xbb", at + n - 1) for n in reversed(far)]
        at += 256
    return out[:count]


def message(size, mtu, psn=FIRST_PSN, qp=0x300):
    """A conformant message: an IPv4 datagram of this length in packets of the path MTU."""
    header = ib.ipv4_header("10.0.0.1", "10.0.0.2", 17, size - 20)
    whole = ib.encap(0x0800, header + ib.udp("10.0.0.1", "10.0.0.2", 9, 9, bytes(size - 28)))
    parts = [whole[at : at + mtu] for at in range(0, len(whole), mtu)]
    positions = [ib.FIRST] + [ib.MIDDLE] * (len(parts) - 2) + [ib.LAST]
    return [packet(pos, part, psn + n, qp) for n, (pos, part) in enumerate(zip(positions, parts))]


KINDS = (
    one_byte_middles,
    empty_middles,
    full_size_middles,
    several_connections,
    repeated_firsts,
    gaps,
    ends_ever_earlier,
)

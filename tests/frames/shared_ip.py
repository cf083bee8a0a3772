# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of ARP, IPv4, IPv6, UDP, TCP, ICMP and IGMP: datagrams of every shape, without the
encapsulation header."""
from frames import ib
from frames.layout import LLADDR, Piece, join, junk, lay, summed

A4, B4, GROUP4 = "10.1.2.3", "10.1.2.77", "239.1.2.3"
A6, B6 = "fe80::2:c903:12:3456", "2001:db8:1:2:2:c903:12:9876"
GID_A, GID_B = "fe80::2:c903:12:3456", "fe80::2:c903:12:9876"
ADDRESS_A, ADDRESS_B = ib.lladdr(0x48, GID_A, 0x80), ib.lladdr(0x49, GID_B)
ICMP, IGMP, TCP, UDP, ICMPV6 = 1, 2, 6, 17, 58


# ---- ARP (RFC 826): fixed part; addresses of the sender and of the target


def arp(op=1, hrd=32, **lengths):
    message = ib.arp(op, ADDRESS_A, A4, ADDRESS_B, B4, hrd=hrd, **lengths)
    return lay(message, f"64k {LLADDR} 32m {LLADDR} 32m") + junk(6)


def arp_of_ethernet():
    message = ib.arp(1, bytes.fromhex("0202c9123456"), A4, bytes(6), B4, hrd=1)
    return lay(message, "64k 48z 32m 48z 32m")


def arp_of_ipv6():
    """Protocol addresses of 16 bytes"""
    fixed = ib.u16(32) + ib.u16(0x86DD) + b"\x14\x10" + ib.u16(1)
    data = fixed + ADDRESS_A + ib.ip6(A6) + ADDRESS_B + ib.ip6(B6)
    return lay(data, f"64k {LLADDR} 128m {LLADDR} 128m")


# ---- IPv4 (RFC 791)


def ipv4(protocol, payload, src=A4, dst=B4, options=Piece(), fragment=0, total=None):
    size = 20 + len(options)
    head = bytes([0x40 | size // 4, 0x10]) + ib.u16(total or size + len(payload)) + b"\x12\x34"
    head += ib.u16(fragment) + b"\x40" + bytes([protocol]) + bytes(2) + ib.ip4(src) + ib.ip4(dst)
    return summed(lay(head, "80k 16j 32m 32m") + options, 10) + payload + junk(3)


def pseudo4(protocol, size, src=A4, dst=B4):
    return ib.ip4(src) + ib.ip4(dst) + ib.u16(protocol) + ib.u16(size)


def pseudo6(protocol, size, src=A6, dst=B6):
    return ib.ip6(src) + ib.ip6(dst) + ib.u32(size) + ib.u32(protocol)


def udp(pseudo=pseudo4, payload=None, sport=5000, dport=5001, absent=False):
    payload = junk(9) if payload is None else payload
    size = 8 + len(payload)
    message = lay(ib.u16(sport) + ib.u16(dport) + ib.u16(size) + bytes(2), "48k 16j") + payload
    return message if absent else summed(message, 6, pseudo(UDP, size))


# kept: MSS, window scale, SACK permitted and blocks, timestamps (RFC 9293, RFC 7323, RFC 2018)
TCP_OPTIONS = lay(
    bytes.fromhex("020405b4 030307 0402 080a0000000100000002 050a0000000300000004 010101"),
    "232k 24q",
)
OTHER_TCP_OPTIONS = join(
    lay(bytes.fromhex("130a6b6579206d643573"), "16q z", False),  # MD5 signature, unknown kinds
    lay(bytes.fromhex("fd06cafe0102"), "16q z", False),
    lay(bytes.fromhex("0205414243"), "16q z", False),  # MSS of a wrong length
    lay(bytes.fromhex("000000"), "8q z"),
)


def tcp(pseudo=pseudo4, options=Piece()):
    offset = ib.u16((20 + len(options)) // 4 << 12 | 0x1B8)
    head = b"\x13\x88\x13\x89" + b"\x01\x02\x03\x04\x05\x06\x07\x08" + offset + b"\x10\x20"
    message = lay(head + bytes(4), "96k 4k 3z 9k 16k 16j 16z") + options + junk(9)
    return summed(message, 16, pseudo(TCP, len(message)))


def icmp(kind, fields, code=0, rest=12):
    """RFC 792: type, code, checksum; fields: the layout of the next 4 bytes"""
    data = bytes([kind, code]) + bytes(2) + b"\x0a\x01\x02\x4d"
    return summed(lay(data, "16k 16j " + fields) + junk(rest), 2)


ICMP_MESSAGES = {
    "echo": (8, "32k"),
    "echo reply": (0, "32k"),
    "unreachable": (3, "16z 16k"),  # MTU of the next hop (RFC 1191)
    "source quench": (4, "32z"),
    "redirect": (5, "32m"),
    "router advertisement": (9, "32z"),
    "time exceeded": (11, "32z"),
    "parameter problem": (12, "8k 24z"),
    "timestamp": (13, "32k"),
    "unknown": (42, "32z"),
}


def igmp(kind, text, data=b""):
    message = bytes([kind, 0x64]) + bytes(2) + data
    return summed(lay(message, text), 2)


GROUP = ib.ip4(GROUP4)
# type; maximum response time; group; S, QRV, QQIC; number of sources; sources (RFC 2236, RFC 3376)
IGMP_MESSAGES = {
    "query": igmp(0x11, "16k 16j 32m", GROUP),
    "v3 query": igmp(
        0x11, "16k 16j 32m 4z 12k 16k 64m", GROUP + b"\x0a\x7d\0\2" + ib.ip4(A4) + ib.ip4(B4)
    ),
    "v1 report": igmp(0x12, "8k 8z 16j 32m", GROUP),
    "v2 report": igmp(0x16, "8k 8z 16j 32m 32z", GROUP + bytes(4)),
    "leave": igmp(0x17, "8k 8z 16j 32m", GROUP),
    # two records: type, length of auxiliary data, number of sources, group, sources, data
    "v3 report": igmp(
        0x22,
        "8k 8z 16j 16z 16k 32k 32m 32m 32z 32k 32m",
        bytes(2) + b"\0\2" + b"\4\1\0\1" + GROUP + ib.ip4(A4) + bytes(4) + b"\2\0\0\0" + GROUP,
    ),
    "pim v1": igmp(0x14, "8k 8z 16j 32z 32z", GROUP + bytes(4)),
}

# Router alert is kept; record route and timestamps contain addresses.
IPV4_OPTIONS = join(
    lay(bytes.fromhex("94040000"), "32k", False),
    lay(bytes.fromhex("0707080a010203"), "16q z", False),
    lay(bytes.fromhex("01"), "8q", False),
    lay(bytes.fromhex("44080d010a010204"), "16q z", False),
    lay(bytes.fromhex("00000000"), "8q 24z"),
)


def ipv4_datagrams():
    yield "udp", ipv4(UDP, udp())
    yield "udp without checksum", ipv4(UDP, udp(absent=True))
    yield "tcp", ipv4(TCP, tcp())
    yield "tcp options", ipv4(TCP, tcp(options=TCP_OPTIONS))
    yield "other tcp options", ipv4(TCP, tcp(options=OTHER_TCP_OPTIONS))
    for name, (kind, fields) in ICMP_MESSAGES.items():
        yield "icmp " + name, ipv4(ICMP, icmp(kind, fields))
    for name, message in IGMP_MESSAGES.items():
        yield "igmp " + name, ipv4(IGMP, message, dst=GROUP4)
    yield "options", ipv4(UDP, udp(), options=IPV4_OPTIONS)
    yield "gre", ipv4(47, junk(20))
    yield "first fragment", ipv4(UDP, udp().put(6, b"\xca\xfe").sum_is_zero(6), fragment=0x2000)
    yield "later fragment", ipv4(UDP, junk(24), fragment=0x0003)
    yield "short total length", ipv4(UDP, junk(20), total=12)
    yield "version 5", lay(b"\x55" + bytes(30), "4k z")


# ---- IPv6 (RFC 8200)


def ipv6(protocol, payload, src=A6, dst=B6):
    head = b"\x6a\xb1\x23\x45" + ib.u16(len(payload)) + bytes([protocol, 64])
    return lay(head + ib.ip6(src) + ib.ip6(dst), "64k 128m 128m") + payload + junk(3)


HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION = 0, 43, 44, 60


def extension(following, text, data):
    """TEXT: of the data after the first two bytes"""
    assert len(data) % 8 == 6
    return lay(bytes([following, len(data) // 8]) + data, "16k " + text)


# router alert, jumbo payload; a trace (RFC 9486), whose length stays; Pad1 and PadN
OPTIONS = bytes.fromhex("05020000 c20400020000 3106010203040506 00 01020000 0000000000 0000")
HOP_BY_HOP_TEXT = "32k 48k 8q 8k 48z 8q 8q 8k 16z 40q 16q"


def fragment(following, offset, more):
    return lay(bytes([following, 0]) + ib.u16(offset << 3 | more) + b"\1\2\3\4", "8k 8z 13k 2z 33k")


def icmpv6(kind, text, data, rest=Piece(), code=0):
    """TEXT: of the data after the checksum. The code of an MLDv2 report is reserved."""
    head = "8k 8z" if kind == 143 else "16k"
    message = lay(bytes([kind, code]) + bytes(2) + data, f"{head} 16j {text}") + rest
    return ipv6(ICMPV6, summed(message, 2, pseudo6(ICMPV6, len(message))))


ICMPV6_MESSAGES = {
    "unreachable": (1, "32z"),
    "too big": (2, "32k"),
    "time exceeded": (3, "32z"),
    "parameter problem": (4, "32k"),
    "echo": (128, "32k"),
    "echo reply": (129, "32k"),
    "unknown": (200, "32z"),
}
GROUP6 = ib.ip6("ff02::1:ff12:3456")
# delay, reserved, group; S, QRV, QQIC; number of sources (RFC 2710, RFC 3810)
MLD_MESSAGES = {
    "v1 query": (130, "16k 16z 128m", b"\x27\x10\0\0" + GROUP6),
    "v2 query": (
        130,
        "16k 16z 128m 4z 12k 16k 128m",
        b"\x27\x10\0\0" + GROUP6 + b"\x0a\x7d\0\1" + ib.ip6(A6),
    ),
    "v1 report": (131, "32z 128m", bytes(4) + GROUP6),
    "done": (132, "32z 128m", bytes(4) + GROUP6),
    "v2 report": (
        143,
        "16z 16k 32k 128m 128m 32z 32k 128m",
        b"\0\0\0\2" + b"\4\1\0\1" + GROUP6 + ib.ip6(A6) + bytes(4) + b"\2\0\0\0" + GROUP6,
    ),
}


def ipv6_datagrams():
    yield "udp6", ipv6(UDP, udp(pseudo6))
    yield "tcp6", ipv6(TCP, tcp(pseudo6, TCP_OPTIONS))
    yield "esp6", ipv6(50, junk(20))
    for name, (kind, fields) in ICMPV6_MESSAGES.items():
        yield "icmpv6 " + name, icmpv6(kind, fields, b"\0\0\5\xdc", junk(12), code=1)
    for name, (kind, text, data) in MLD_MESSAGES.items():
        yield "mld " + name, icmpv6(kind, text, data)
    message = udp(pseudo6)
    hop = extension(UDP, HOP_BY_HOP_TEXT, OPTIONS)
    yield "hop by hop", ipv6(HOP_BY_HOP, hop + message)
    yield "destination options", ipv6(DESTINATION, extension(UDP, "48z", bytes(6)) + message)
    route = extension(UDP, "16k 32z 128z", b"\0\1" + bytes(4) + ib.ip6(A6))
    yield "routing", ipv6(ROUTING, route + message)
    first = message.put(6, b"\xca\xfe").sum_is_zero(6)
    yield "first fragment6", ipv6(FRAGMENT, fragment(UDP, 0, 1) + first)
    yield "later fragment6", ipv6(FRAGMENT, fragment(UDP, 3, 0) + junk(20))
    yield "whole fragment6", ipv6(FRAGMENT, fragment(UDP, 0, 0) + message)

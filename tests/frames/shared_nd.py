# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of Neighbour Discovery (RFC 4861): messages and options of every shape."""
from frames import ib
from frames.layout import LLADDR, Piece, join, junk, lay
from frames.shared_ip import A6, ADDRESS_A, B6, icmpv6

RS, RA, NS, NA, REDIRECT = 133, 134, 135, 136, 137

# The layout after the checksum, and the data (RFC 4861 section 4)
MESSAGES = {
    "rs": (RS, "32z", bytes(4)),
    # hop limit, M, O, H, Prf, P, two reserved bits (RFC 4191, RFC 4389); lifetime, times
    "ra": (RA, "14k 2z 80k", b"\x40\xc8\x07\x08" + bytes(8)),
    "ns": (NS, "32z 128m", bytes(4) + ib.ip6(B6)),
    "na": (NA, "3k 29z 128m", b"\xe0\0\0\0" + ib.ip6(B6)),
    "redirect": (REDIRECT, "32z 128m 128m", bytes(4) + ib.ip6(A6) + ib.ip6(B6)),
}


def option(kind, text, data, length=None):
    """TEXT: of the data after type and length"""
    assert (2 + len(data)) % 8 == 0
    head = bytes([kind, (2 + len(data)) // 8 if length is None else length])
    return lay(head + data, "16k " + text)


def rdnss(addresses, rest):
    data = bytes(2) + ib.u32(600) + addresses
    text = f"16z 32k {8 * len(addresses)}m"
    return option(25, text + f" {8 * rest}z" * bool(rest), data + bytes(rest))


PREFIX = b"\x40\xc0" + ib.u32(86400) + ib.u32(14400) + bytes(4) + ib.ip6("2001:db8:1:2::")
OPTIONS = {
    # two bytes that a rule checks (RFC 4391 section 9.3), the address
    "source address": option(1, f"16k {LLADDR}", bytes(2) + ADDRESS_A),
    "target address": option(2, f"16k {LLADDR}", bytes(2) + ADDRESS_A),
    "address of ethernet": option(1, "48z", bytes.fromhex("0202c9123456")),
    "long address": option(1, "240z", bytes(10) + ADDRESS_A),
    # length, L, A, R, reserved; lifetimes; reserved; prefix (section 4.6.2)
    "prefix": option(3, "11k 5z 64k 32z 128m", PREFIX),
    "short prefix": option(3, "176z", PREFIX[:22]),
    "long prefix": option(3, "11k 5z 64k 32z 128m 64z", PREFIX + bytes(8)),
    "redirected": option(4, "368z", bytes(46)),
    "mtu": option(5, "16z 32k", bytes(2) + ib.u32(2044)),
    "long mtu": option(5, "16z 32k 64z", bytes(2) + ib.u32(2044) + bytes(8)),
    "nonce": option(14, "48z", bytes(6)),
    "route": option(24, "176z", bytes(22)),
    # lifetime and addresses (RFC 8106); of an even length, half of an address is left over
    "rdnss": rdnss(ib.ip6(A6) + ib.ip6(B6), 0),
    "even rdnss": rdnss(ib.ip6(A6), 8),
    "empty rdnss": rdnss(b"", 0),
    "dnssl": option(31, "112z", bytes(14)),
}
# An option of length 0 ends the message; its type and length are kept.
ENDLESS = option(14, "48z", bytes(6), length=0) + junk(8)


def datagrams():
    for name, (kind, text, data) in MESSAGES.items():
        options = join(OPTIONS["source address"], OPTIONS["nonce"], OPTIONS["mtu"])
        yield name, icmpv6(kind, text, data, options)
        yield name + " without options", icmpv6(kind, text, data)
    kind, text, data = MESSAGES["ra"]
    for name, one in OPTIONS.items():
        yield "ra " + name, icmpv6(kind, text, data, one + OPTIONS["mtu"])
    yield "ra endless option", icmpv6(kind, text, data, OPTIONS["mtu"] + ENDLESS)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of DHCP messages (RFC 2131, RFC 2132, RFC 4361, RFC 4390)."""
from frames import ib
from frames.layout import LLADDR, Piece, join, junk, lay
from frames.shared_ip import A4, ADDRESS_A, B4, UDP, ipv4, udp

COOKIE = bytes.fromhex("63825363")
GUID, MAC = bytes.fromhex("0002c90300123456"), bytes.fromhex("0002c9123456")
ZERO_CHADDR = lay(bytes(16), "128j")  # shows only whether it is zero
TYPE = lay(bytes.fromhex("350101"), "24k")
END = lay(b"\xff", "8k")


def message(options, chaddr=ZERO_CHADDR, hlen=0, sname=None, file=None, cookie=COOKIE, htype=32):
    """op, htype, hlen, hops; xid; secs; flags, of which one bit is defined; addresses; chaddr"""
    head = bytes([1, htype, hlen, 0]) + b"\1\2\3\4\0\5\x80\0"
    addresses = join(*(lay(ib.ip4(a), "32m") for a in (A4, B4, "10.1.2.9", "10.1.2.10")))
    names = (sname or junk(64)) + (file or junk(128))
    magic = lay(cookie, "32k", False) if cookie == COOKIE else junk(4)
    return lay(head, "32k 32m 17k 15z") + addresses + chaddr + names + magic + options


def option(code, data, text):
    """TEXT: of the value"""
    return lay(bytes([code, len(data)]), "16k") + lay(data, text)


def client(data, text):
    return option(61, data, text)


IAID = b"\x03\x12\x34\x56"
# type; IAID; DUID: type, then a time and a hardware type, an enterprise number, or neither
DUIDS = {
    "llt": (b"\0\1\0\x20" + b"\x2c\x11\x22\x33" + GUID, "32k 32z 64m"),
    "llt of ethernet": (b"\0\1\0\1" + b"\x2c\x11\x22\x33" + MAC, "32k 32z 48m"),
    "llt of ipoib": (b"\0\1\0\x20" + b"\x2c\x11\x22\x33" + ADDRESS_A, f"32k 32z {LLADDR}"),
    "en": (b"\0\2\0\0\xab\x11" + b"0123456789", "48k 80m"),
    "ll": (b"\0\3\0\x20" + GUID, "32k 64m"),
    "uuid": (b"\0\4" + bytes(range(1, 17)), "16k 128m"),
    # the type is not kept, and the identity depends on it
    "ll of another type": (b"\0\3\x53\x45" + GUID, "16k 16z 64m"),
    "en of no enterprise": (b"\0\2SECR" + b"0123456789", "16k 32z 80m"),
}
CLIENTS = {
    **{"duid " + name: (b"\xff" + IAID + d, "8k 32m " + t) for name, (d, t) in DUIDS.items()},
    "mac": (b"\1" + MAC, "8k 48m"),
    "guid": (b"\x20" + GUID, "8k 64m"),
    "address": (b"\x20" + ADDRESS_A, f"8k {LLADDR}"),
    "text": (b"\0a name of a host", "8k 128m"),
    "type only": (b"\x20", "8k"),
    # of the length of an address of its type, but of another type
    "text of 20 bytes": (b"\0" + ADDRESS_A, "8k 160m"),
    "20 bytes of ethernet": (b"\1" + ADDRESS_A, "8k 160m"),
}
OPTIONS = {
    "subnet mask": (1, b"\xff\xff\xff\0", "32k"),
    "routers": (3, ib.ip4(A4) + ib.ip4(B4), "64m"),
    "name servers": (6, ib.ip4(A4), "32m"),
    "host name": (12, b"name", "32z"),
    "domain": (15, b"example.com", "88z"),
    "broadcast": (28, ib.ip4(A4), "32m"),
    "time servers": (42, ib.ip4(A4), "32m"),
    "requested address": (50, ib.ip4(A4), "32m"),
    "lease time": (51, ib.u32(3600), "32k"),
    "server": (54, ib.ip4(A4), "32m"),
    "parameters": (55, b"\1\3\6\x0f\x1f", "40z"),
    "maximum size": (57, ib.u16(1500), "16k"),
    "renewal": (58, ib.u32(1800), "32k"),
    "rebinding": (59, ib.u32(3000), "32k"),
    "vendor class": (60, b"anaconda", "64z"),
    "fqdn": (81, b"\0\0\0name", "56z"),
    "relay agent": (82, b"\1\4port", "48z"),
    "message type of two bytes": (53, b"\3\1", "8k 8z"),
    "empty message type": (53, b"", ""),
    "mask of a wrong length": (1, b"\xff\xff\xff", "24z"),
    "server of a wrong length": (54, b"\x0a\1\2\3\4", "40z"),
    "lease of a wrong length": (51, b"text!", "40z"),
}
# The client's hardware address by its type and length: a MAC address, a port GUID (iPXE), 16 bytes of
# a link-layer address, or another; the rest only shows whether it is zero.
CHADDRS = {
    (32, 6): lay(MAC, "48m") + junk(10),
    (1, 6): lay(MAC, "48m") + junk(10),
    (32, 8): lay(GUID, "64m") + junk(8),
    (32, 16): lay(ADDRESS_A[:16], "128m"),
    (32, 20): lay(ADDRESS_A[:16], "32k 96m"),
    (1, 20): lay(ADDRESS_A[:16], "128m"),
    (32, 7): lay(GUID[:7], "56m") + junk(9),
    (32, 0): junk(16),
}


def messages():
    for name, (data, text) in CLIENTS.items():
        yield "client " + name, message(TYPE + client(data, text) + END)
    data, text = CLIENTS["duid ll"]
    parts = client(data[:7], "8k 32m 16k") + client(data[7:], "16k 64m")
    yield "client in two parts", message(TYPE + parts + END)
    for name, one in OPTIONS.items():
        yield name, message(TYPE + option(*one) + END + junk(9))
    for (htype, hlen), chaddr in CHADDRS.items():
        yield f"htype {htype} hlen {hlen}", message(TYPE + END, chaddr, hlen, htype=htype)
    for name, both in (
        ("overloaded", lay(bytes.fromhex("340103"), "24k")),
        ("overloaded in two bytes", lay(bytes.fromhex("34020300"), "24k 8z")),
    ):
        server = option(54, ib.ip4(A4), "32m") + END
        sname, file = (server + junk(size - len(server)) for size in (64, 128))
        yield name, message(TYPE + both + END, sname=sname, file=file)
    yield "padded", message(TYPE + lay(bytes(3), "24q") + END + junk(5))
    yield "without cookie", message(junk(60), cookie=b"text")
    yield "unending", message(TYPE + lay(b"\x0c\x40", "16k") + junk(5))


def datagrams():
    for name, dhcp in messages():
        yield "dhcp " + name, ipv4(UDP, udp(payload=dhcp, sport=68, dport=67))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of every shape, for tests/capture/test_share_bits.py: link types and InfiniBand headers around what
the other files frames/shared_*.py build."""
from frames import ib
from frames import shared_dhcp, shared_ip, shared_mad, shared_nd
from frames.layout import LLADDR, Piece, join, junk, lay
from frames.shared_ip import A4, A6, ADDRESS_A, ADDRESS_B, B4, B6, GID_A, GID_B
from support import capfile
from support.capfile import ERF, ETHERNET, INFINIBAND, IPOIB

SLL, SLL2 = 113, 276


class Shape:
    """piece: the frame. before: (link type, frame) that the tool has seen before. alone: the frame
    has a sequence number, so that it may not be seen twice."""

    def __init__(self, linktype, piece, before=(), alone=False):
        self.linktype, self.piece, self.before, self.alone = linktype, piece, before, alone


# ---- InfiniBand headers (IBA 7.7, 8.3, 9.2, 9.3)

LRH_TEXT = "12k 2z 2k 16k 5z 11k 16k"  # VL, LVer, SL; reserved; LNH, DLID; reserved; length, SLID
GRH_TEXT = "64k 128m 128m"
BTH_TEXT = "34k 6z 24k 1k 7z 24k"  # to BECN; reserved; QPN, AckReq; reserved; PSN
DETH_TEXT = "32k 8z 24k"
UD_SEND, RC = 0x64, 0x00
QKEY = 0x0B1B


def bth(opcode, pad, qpn, psn):
    return lay(ib.bth(opcode, 0xFFFF, qpn, psn, pad=pad, ackreq=1), BTH_TEXT)


def crcs(transport, grh):
    """Right ones: only whether they are shows."""
    g = grh.data
    head = transport[: 8 + len(g)].data
    invariant = ib.icrc(head[:8], g, transport[8 + len(g) :].data)
    variant = ib.u16(ib.crc16_100b(transport.data + invariant))
    return lay(invariant + variant[::-1], "32j 16j")


def packet(opcode, extended, payload, grh=False, qpn=0x49, psn=77, right_crcs=False, lids=(1, 2)):
    """extended: DETH and other headers; pad bytes after the payload"""
    pad = -len(payload) % 4
    body = bth(opcode, pad, qpn, psn) + extended + payload + junk(pad)
    head = Piece()
    if grh:
        head = lay(ib.grh(GID_A, GID_B, len(body) + 4, 3, 5, 1), GRH_TEXT)
    words = (8 + len(head) + len(body) + 4) // 4
    lnh = ib.LNH_GRH if grh else ib.LNH_BTH
    whole = lay(ib.lrh(lnh, lids[1], lids[0], words, sl=1), LRH_TEXT) + head + body
    return whole + (crcs(whole, head) if right_crcs else lay(bytes(6), "32j 16j"))


def deth(qkey=QKEY, source=0x48):
    return lay(ib.deth(qkey, source), DETH_TEXT)


def ud(payload, **how):
    return packet(UD_SEND, deth(), payload, **how)


def mad(piece, qp=1, **how):
    return packet(UD_SEND, deth(0x80010000 if qp else 0, qp), piece, qpn=qp, **how)


# ---- datagrams in every link type


def datagrams():
    """(name, Ethertype, datagram)"""
    yield "arp", 0x0806, shared_ip.arp()
    yield "inarp", 0x0806, shared_ip.arp(8)
    yield "arp of ethernet", 0x0806, shared_ip.arp_of_ethernet()
    yield "arp of ipv6", 0x0806, shared_ip.arp_of_ipv6()
    yield "rarp", 0x8035, shared_ip.arp(3)
    for part in (shared_ip.ipv4_datagrams, shared_dhcp.datagrams):
        for name, datagram in part():
            yield name, 0x0800, datagram
    for part in (shared_ip.ipv6_datagrams, shared_nd.datagrams):
        for name, datagram in part():
            yield name, 0x86DD, datagram


def sll(ethertype, datagram):
    """packet type, hardware type, length; flags and QPN; half of a prefix; protocol"""
    return lay(ib.sll(ethertype, ADDRESS_A, b""), "48k 32k 32z 16k") + datagram


def sll2(ethertype, datagram):
    """protocol; reserved; interface to length; flags and QPN; half of a prefix"""
    return lay(ib.sll2(ethertype, ADDRESS_A, b""), "16k 16z 64k 32k 32z") + datagram


def encapsulated(ethertype, datagram):
    """RFC 4391 section 6: Type, Reserved, which a rule checks"""
    return lay(ib.encap(ethertype, b""), "32k") + datagram


def pseudo_address(payload):
    """LINKTYPE_IPOIB: 20 bytes without meaning, the destination's address"""
    return junk(20) + lay(ADDRESS_B, LLADDR) + payload


def pseudo_grh(payload):
    head = ib.ipoib242_grh(GID_A, GID_B, payload.data)[:40]
    return lay(head, GRH_TEXT) + payload


def known_queue_pairs():
    """ARP shows that the queue pairs of ud() are IPoIB's."""
    for op, source, target in ((1, 0x48, 0x49), (2, 0x49, 0x48)):
        message = ib.arp(op, ib.lladdr(source, GID_A), A4, ib.lladdr(target, GID_B), B4)
        extended = Piece(ib.deth(QKEY, source), "k" * 64)
        data = Piece(ib.encap(0x0806, message), "k" * 8 * (4 + len(message)))
        lids = (1, 2) if op == 1 else (2, 1)
        yield INFINIBAND, packet(UD_SEND, extended, data, qpn=target, lids=lids).data


def of_link_types():
    pair = list(known_queue_pairs())
    for title, make in (
        ("a cooked capture", lambda kind, d: Shape(SLL, sll(kind, d))),
        ("the second cooked form", lambda kind, d: Shape(SLL2, sll2(kind, d))),
        ("LINKTYPE_IPOIB", lambda kind, d: Shape(IPOIB, pseudo_address(encapsulated(kind, d)))),
        (
            "an InfiniBand packet",
            lambda kind, d: Shape(INFINIBAND, ud(encapsulated(kind, d)), pair),
        ),
    ):
        yield "datagrams in " + title, [(n, make(kind, d)) for n, kind, d in datagrams()]


# ---- ERF, Ethernet


def erf(piece, extensions=Piece(), padding=0):
    """The header is kept. Of extension headers the type is, of a Host ID also the source."""
    kind = capfile.ERF_INFINIBAND | (0x80 if len(extensions) else 0)
    record = capfile.erf_record_of(kind, 1 << 32, piece.data, len(piece))[:16]
    record = record[:10] + ib.u16(16 + len(extensions) + len(piece) + padding) + record[12:]
    return lay(record, "128k") + extensions + piece + junk(padding)


EXTENSIONS = join(
    lay(bytes.fromhex("85a1b1b2b3b4b5b6"), "8k 8k 48m"),  # Host ID, which is the first
    lay(bytes.fromhex("9001020304050607"), "8k 56z"),
    lay(bytes.fromhex("0501020304050607"), "8k 8k 48m"),
)
MAC_A, MAC_B = "02:00:5e:10:20:01", "02:00:5e:10:20:02"
GROUP_MAC = {"ipv4": "01:00:5e:01:02:03", "ipv6": "33:33:ff:12:34:56", "other": "01:80:c2:00:00:0e"}
MAC_TEXT, GROUP_MAC_TEXT = "48m", "24k 24m"


def ethernet(
    ethertype, payload, dst=MAC_B, src=MAC_A, dst_text=MAC_TEXT, src_text=MAC_TEXT, tags=b""
):
    head = lay(ib.mac(dst), dst_text) + lay(ib.mac(src), src_text)
    return head + lay(tags + ib.u16(ethertype), "k") + payload


def transport(payload, opcode=UD_SEND, extended=None):
    pad = -len(payload) % 4
    extended = deth() if extended is None else extended
    return bth(opcode, pad, 0x49, 77) + extended + payload + junk(pad)


def roce1(payload, dgid=GID_B, **how):
    """The ICRC and what follows are zero."""
    body = transport(payload)
    head = lay(ib.grh(GID_A, dgid, len(body) + 4, hop=1), GRH_TEXT)
    return ethernet(0x8915, head + body + junk(4) + junk(4), **how)


def roce2_udp(payload):
    body = transport(payload) + junk(4)
    head = ib.u16(0xC123) + ib.u16(4791) + ib.u16(8 + len(body)) + bytes(2)
    return lay(head, "48k 16z") + body


def roce2(payload, options=b"", dst4=B4, **how):
    """The checksums do not depend on the old ones; options are zero."""
    message = roce2_udp(payload)
    size = 20 + len(options)
    head = (
        bytes([0x40 | size // 4, 0x10])
        + ib.u16(size + len(message))
        + bytes.fromhex("123440004011")
    )
    head += bytes(2) + ib.ip4(A4) + ib.ip4(dst4)
    return ethernet(
        0x0800, lay(head, "80k 16z 32m 32m") + lay(options, "z") + message + junk(4), **how
    )


def roce2_ipv6(payload):
    message = roce2_udp(payload)
    head = b"\x6a\xb1\x23\x45" + ib.u16(len(message)) + b"\x11\x40"
    return ethernet(
        0x86DD, lay(head + ib.ip6(A6) + ib.ip6(B6), "64k 128m 128m") + message + junk(4)
    )


def of_ethernet():
    data = junk(27)
    yield "RoCE v1", Shape(ETHERNET, roce1(data))
    yield "RoCE v1 in VLANs", Shape(ETHERNET, roce1(data, tags=bytes.fromhex("88a8a06481002005")))
    yield "RoCE v2", Shape(ETHERNET, roce2(data))
    yield "RoCE v2 with options", Shape(ETHERNET, roce2(data, bytes.fromhex("8304040001010100")))
    yield "RoCE v2 over IPv6", Shape(ETHERNET, roce2_ipv6(data))
    group = ib.mgid_ipv6("ff02::1:ff12:3456")
    # the bits of the group follow from the replaced group, whatever they were
    six, four = ("16k 32z", "24k 24z")
    other_type = encapsulated(0x88CC, junk(20))
    yield "RoCE v1 to a group", Shape(
        ETHERNET, roce1(other_type, dgid=group, dst=GROUP_MAC["ipv6"], dst_text=six)
    )
    yield "RoCE v2 to a group", Shape(
        ETHERNET, roce2(data, dst4="239.1.2.3", dst=GROUP_MAC["ipv4"], dst_text=four)
    )
    yield "another group", Shape(
        ETHERNET, roce2(data, dst=GROUP_MAC["other"], dst_text=GROUP_MAC_TEXT)
    )
    yield "a group as the source", Shape(
        ETHERNET, roce2(data, src=GROUP_MAC["ipv4"], src_text=GROUP_MAC_TEXT)
    )
    yield "broadcast", Shape(ETHERNET, roce1(data, dst="ff:ff:ff:ff:ff:ff", dst_text="48k"))


# ---- InfiniBand packets of every kind


def operations():
    """Every operation of every transport (IBA table 38), whose payload is not IPoIB's. Of their
    extended headers only the AETH is kept."""
    reth, immediate, aeth = junk(16), junk(4), lay(ib.aeth(0x1F, 9), "32k")
    extended = {
        **{3: immediate, 5: immediate, 6: reth, 9: immediate, 10: reth, 11: reth + immediate},
        **{12: reth, 13: aeth, 15: aeth, 16: aeth, 17: aeth, 18: aeth + junk(8), 19: junk(28)},
        **{20: junk(28), 22: immediate, 23: immediate},
    }
    rd, xrc = junk(4) + deth(), junk(4)
    for title, base, first, known in (
        ("RC", 0x00, Piece(), (*range(0x15), 0x16, 0x17)),
        ("UC", 0x20, Piece(), range(12)),
        ("RD", 0x40, rd, range(0x15)),
        ("UD", 0x60, deth(), (4, 5)),
        ("XRC", 0xA0, xrc, (*range(0x15), 0x16, 0x17)),
    ):
        for operation in known:
            headers = first + extended.get(operation, Piece())
            payload = Piece() if operation in (12, 17, 18, 19, 20) else junk(17)
            yield f"{title} {operation:#04x}", Shape(
                INFINIBAND, packet(base | operation, headers, payload)
            )
    yield "congestion notification", Shape(INFINIBAND, packet(0x81, junk(16), Piece()))
    yield "unknown opcode", Shape(INFINIBAND, packet(0xE3, junk(8), junk(8)))


def headers():
    arp = encapsulated(0x0806, shared_ip.arp())
    pair = list(known_queue_pairs())
    yield "right CRCs", Shape(INFINIBAND, ud(arp, right_crcs=True), pair)
    yield "right CRCs and a GRH", Shape(INFINIBAND, ud(arp, grh=True, right_crcs=True), pair)
    yield "bytes after the VCRC", Shape(INFINIBAND, ud(arp) + junk(5), pair)
    yield "ERF", Shape(ERF, erf(ud(arp), padding=6))
    yield "ERF with extension headers", Shape(ERF, erf(ud(arp), EXTENSIONS))
    raw = lay(ib.lrh(0, 2, 1, 8), LRH_TEXT) + junk(24) + lay(bytes(2), "16j")
    yield "raw packet", Shape(INFINIBAND, raw)
    yield "raw packet of IPv6", Shape(INFINIBAND, raw.put(1, b"\1"))
    yield "unknown Type", Shape(INFINIBAND, ud(encapsulated(0x88CC, junk(40))), pair)
    yield "LINKTYPE_IPOIB with a GRH", Shape(IPOIB, pseudo_grh(arp))
    other = lay(ib.encap(0x0800, b""), "32z") + junk(40)
    yield "another protocol", Shape(INFINIBAND, ud(other.put(0, b"\x13\x37")))


# ---- management, and connections


def management():
    yield "subnet management", [
        (name, Shape(INFINIBAND, mad(piece, 0))) for name, piece in shared_mad.subnet_management()
    ]
    yield "other management", [
        (name, Shape(INFINIBAND, mad(piece))) for name, piece in shared_mad.gsi()
    ]


def handshake():
    """The messages of an IPoIB connection, and its data"""
    req = mad(shared_mad.req(shared_mad.IPOIB, shared_mad.IPOIB_PRIVATE, "64k"), lids=(1, 2))
    rep = mad(shared_mad.rep(shared_mad.IPOIB_PRIVATE), lids=(2, 1))
    rtu = mad(shared_mad.cm(ib.cm_rtu(7, 1, 2, shared_mad.PRIVATE), "64k ", "64k z"), lids=(1, 2))
    seen = []
    for name, piece in (("REQ", req), ("REP", rep), ("RTU", rtu)):
        yield f"{name} of IPoIB", Shape(INFINIBAND, piece, list(seen))
        seen.append((INFINIBAND, piece.data))
    whole = encapsulated(0x0800, shared_ip.ipv4(shared_ip.UDP, shared_ip.udp(payload=junk(300))))
    whole = whole[: len(whole) - 3]
    # the requester of the connection sends to QPN 0x51 from PSN 9 on (REQ, REP)
    only = packet(4, Piece(), whole, qpn=0x51, psn=9)
    yield "whole message", Shape(INFINIBAND, only, list(seen), alone=True)
    sizes = 128
    for n, operation in enumerate((0, 1, 2)):
        part = whole[sizes * n : sizes * (n + 1) if n < 2 else len(whole)]
        piece = packet(operation, Piece(), part, qpn=0x51, psn=9 + n)
        yield f"packet {n} of a message", Shape(INFINIBAND, piece, list(seen), alone=True)
        seen.append((INFINIBAND, piece.data))


def families():
    yield from of_link_types()
    yield "Ethernet", list(of_ethernet())
    yield "headers", list(headers())
    yield "operations", list(operations())
    yield from management()
    yield "connections", list(handshake())

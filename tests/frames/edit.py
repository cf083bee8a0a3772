# SPDX-License-Identifier: GPL-2.0-or-later
"""Real frames that are parsed, changed in one place and built again: lengths, pad and CRCs are
recomputed.

Packet is one InfiniBand packet, LRH to VCRC (LINKTYPE_INFINIBAND); its fields have names. Tape is a
capture whose frames keep their original numbers when other frames are inserted, removed or moved.
The layouts are those of ib.py, which names the documents.
"""
import copy
import functools
import ipaddress
import struct

from frames import ib
from support import capfile

LNH_GRH, UD, IPV4, IPV6, ICMPV6 = 3, 3, 0x0800, 0x86DD, 58


def _layout(part, text):
    """{name: (part, first bit, bits)} of "name offset size, ...", in octets, or in bits with a "b"."""
    fields = {}
    for name, *numbers in (entry.split() for entry in text.split(",")):
        at, size = (int(n[:-1]) if n.endswith("b") else 8 * int(n) for n in numbers)
        fields[name] = (part, at, size)
    return fields


FIELDS = {
    # IBA 7.7, 8.3, 9.2, 9.3.2
    **_layout("lrh", "vl 0b 4b, sl 1 4b, lnh 14b 2b, dlid 2 2, words 37b 11b, slid 6 2"),
    **_layout("grh", "tclass 4b 1, flow 12b 20b, hop 7 1, sgid 8 16, dgid 24 16"),
    **_layout("bth", "opcode 0 1, pad 10b 2b, pkey 2 2, destqp 5 3, psn 9 3"),
    **_layout("deth", "qkey 0 4, srcqp 5 3"),
    # RFC 4391 §6
    **_layout("payload", "type 0 2, reserved 2 2"),
    # after the encapsulation header: IPv4 (RFC 791), IPv6 (RFC 8200), ARP (RFC 826), ND (RFC 4861)
    **_layout("payload", "ipv4.length 6 2, ipv4.src 16 4, ipv4.dst 20 4"),
    **_layout("payload", "ipv6.length 8 2, ipv6.next 10 1, ipv6.src 12 16, ipv6.dst 28 16"),
    **_layout("payload", "arp.hrd 4 2, arp.hln 8 1, arp.pln 9 1, arp.sha.flags 12 1"),
    **_layout("payload", "arp.sha.qpn 13 3, arp.sha.gid 16 16, arp.tha.flags 36 1, arp.tpa 56 4"),
    **_layout("payload", "nd.target 52 16, nd.option.type 68 1, nd.option.length 69 1"),
    **_layout("payload", "nd.option.pad 70 2, nd.option.flags 72 1"),
    # management datagrams: IBA 13.4.2; SA: 15.2.1.1
    **_layout("payload", "mad.class 1 1, mad.version 2 1, mad.method 3 1, mad.status 4 2"),
    **_layout("payload", "mad.specific 6 2, mad.tid 8 8, mad.attribute 16 2, mad.modifier 20 4"),
    **_layout("payload", "sa.mask 48 8"),
    # MCMemberRecord: IBA 15.2.5.17; PathRecord: 15.2.5.16; both begin at 56
    **_layout("payload", "mcm.mgid 56 16, mcm.qkey 88 4, mcm.mlid 92 2, mcm.mtu_selector 94 2b"),
    **_layout("payload", "mcm.mtu 754b 6b, mcm.tclass 95 1, mcm.pkey 96 2, mcm.rate 786b 6b"),
    **_layout("payload", "mcm.life 794b 6b, mcm.sl 100 4b, mcm.flow 804b 20b, mcm.hop 103 1"),
    **_layout("payload", "mcm.join 836b 4b, path.dlid 96 2, path.mtu 882b 6b"),
    # CM: IBA 12.6.5, 12.6.8, 12.6.9; IPoIB's private data: RFC 4755 §6
    **_layout("payload", "cm.local 24 4, cm.remote 28 4, req.service 32 8, req.qpn 56 3"),
    **_layout("payload", "req.retries 573b 3b, req.pkey 72 2, req.ack_timeout 119 5b"),
    **_layout("payload", "req.private 164 8, req.private.reserved 164 1, req.private.qpn 165 3"),
    **_layout("payload", "req.private.mtu 168 4, rep.private.qpn 61 3, rep.private.mtu 64 4"),
    **_layout("payload", "rtu.private 32 8"),
    # SMP: IBA 14.2.1.2, 14.2.5.6; P_KeyTable: its entries, 2 octets each
    **_layout("payload", "smp.data 64 64, pkeys.0 64 2, pkeys.1 66 2, pkeys.2 68 2"),
    **_layout("payload", "port.lmc 789b 3b, port.neighbor_mtu 100 4b"),
}


def number_of(value, bits):
    """A field's value from an integer, octets, or the text of an IPv4 address, an IPv6 address, a
    GID."""
    if isinstance(value, str):
        value = ipaddress.ip_address(value).packed
    if isinstance(value, (bytes, bytearray)):
        assert len(value) * 8 == bits
        value = int.from_bytes(value, "big")
    assert 0 <= value < 1 << bits
    return value


class Packet:
    """p['name'] reads a field as an integer, p['name'] = ... sets it; octets() returns the packet
    with its lengths and CRCs."""

    def __init__(self, octets):
        self.lrh = bytearray(octets[:8])
        at = 8
        self.grh = bytearray(octets[at : at + 40]) if self.lrh[1] & 3 == LNH_GRH else bytearray()
        at += len(self.grh)
        self.bth = bytearray(octets[at : at + 12])
        at += 12
        self.deth = bytearray(octets[at : at + 8]) if self.bth[0] >> 5 == UD else bytearray()
        at += len(self.deth)
        pad = self.bth[1] >> 4 & 3
        self.payload = bytearray(octets[at : len(octets) - 6 - pad])

    def __getitem__(self, name):
        part, at, bits = FIELDS[name]
        octets = getattr(self, part)
        return int.from_bytes(octets, "big") >> (len(octets) * 8 - at - bits) & ((1 << bits) - 1)

    def __setitem__(self, name, value):
        part, at, bits = FIELDS[name]
        octets = getattr(self, part)
        shift = len(octets) * 8 - at - bits
        assert shift >= 0, name + ": the packet is too short"
        whole = int.from_bytes(octets, "big") & ~(((1 << bits) - 1) << shift)
        octets[:] = (whole | number_of(value, bits) << shift).to_bytes(len(octets), "big")

    def set(self, **fields):
        """Sets fields without a dot in their names; returns the packet, for one-liners."""
        for name, value in fields.items():
            self[name] = value
        return self

    def copy(self):
        """The tests copy millions of packets, and those of the module copy are slow."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value[:] if type(value) is bytearray else value
            for name, value in self.__dict__.items()
        }
        return other

    def is_still(self, octets):
        """Whether it is the packet of these bytes, in all parts."""
        return parts(octets).items() <= vars(self).items()

    def drop_grh(self):
        self.grh = bytearray()
        self["lnh"] = ib.LNH_BTH

    def add_grh(self, sgid, dgid):
        self.grh = bytearray(ib.grh(sgid, dgid, 0))
        self["lnh"] = ib.LNH_GRH

    def datagram(self, ethertype, octets):
        """Replaces the datagram in it."""
        self.payload = bytearray(ib.encap(ethertype, octets))

    def fix_checksums(self):
        """Lengths and checksums of IPv4's header, and of IPv6 with an ICMPv6 message immediately
        after its header."""
        p = self.payload
        if self["type"] == IPV4:
            self["ipv4.length"] = len(p) - 4
            p[14:16] = b"\0\0"
            p[14:16] = ib.u16(ib.inet_checksum(bytes(p[4:24])))
        elif self["type"] == IPV6 and self["ipv6.next"] == ICMPV6:
            self["ipv6.length"] = len(p) - 44
            p[46:48] = b"\0\0"
            pseudo = bytes(p[12:44]) + ib.u32(len(p) - 44) + ib.u32(ICMPV6)
            p[46:48] = ib.u16(ib.inet_checksum(pseudo + bytes(p[44:])))

    def octets(self):
        self["pad"] = -len(self.payload) % 4
        rest = bytes(self.bth + self.deth + self.payload) + bytes(self["pad"])
        if self.grh:
            self.grh[4:6] = ib.u16(len(rest) + 4)
        self["words"] = (8 + len(self.grh) + len(rest) + 4) // 4
        whole = bytes(self.lrh + self.grh) + rest + ib.icrc(self.lrh, self.grh, rest)
        return whole + struct.pack("<H", ib.crc16_100b(whole))


@functools.lru_cache(maxsize=10_000)
def parts(octets):
    """The parts of a packet, for comparison only."""
    return vars(Packet(octets))


class Frame:
    """origin: its number in the original capture; None: it is a new frame. before: its original
    bytes."""

    def __init__(self, time, packet, origin=None, before=None):
        self.time, self.packet, self.origin, self.before = time, packet, origin, before

    def octets(self):
        """Most frames are unchanged: their CRCs need not be computed again."""
        if self.before is not None and self.packet.is_still(self.before):
            return self.before
        return self.packet.octets()


class Tape:
    """Frames in their order. tape[n] is the packet of frame n of the original capture."""

    def __init__(self, path):
        capture = capfile.read(path)
        assert capture.linktype == capfile.INFINIBAND
        self.frames = [
            Frame(f.time, Packet(f.data), n, f.data) for n, f in enumerate(capture.frames, 1)
        ]

    def copy(self):
        other = copy.copy(self)
        other.frames = [Frame(f.time, f.packet.copy(), f.origin, f.before) for f in self.frames]
        return other

    def frame(self, n):
        return next(f for f in self.frames if f.origin == n)

    def __getitem__(self, n):
        return self.frame(n).packet

    def number(self, frame):
        """The current number of a frame, or of the frame that was number n."""
        return self.frames.index(frame if isinstance(frame, Frame) else self.frame(frame)) + 1

    def keep(self, *ranges):
        """Removes all frames except these: numbers, and (first, last) of ranges."""
        wanted = set()
        for r in ranges:
            wanted.update(range(r[0], r[1] + 1) if isinstance(r, tuple) else [r])
        self.frames = [f for f in self.frames if f.origin in wanted]

    def drop(self, *numbers):
        self.frames = [f for f in self.frames if f.origin not in numbers]

    def insert(self, after, packet):
        """Inserts a new frame after another (a frame, or its number), half-way to the next."""
        at = self.number(after)
        time = self.frames[at - 1].time
        time = (time + self.frames[at].time) // 2 if at < len(self.frames) else time + 1_000_000
        new = Frame(time, packet)
        self.frames.insert(at, new)
        return new

    def move(self, n, after):
        """Moves frame n after another."""
        packet, before = self[n], self.frame(n).before
        self.drop(n)
        new = self.insert(after, packet)
        new.origin, new.before = n, before
        return new

    def shift(self, n, seconds):
        """Moves frame n and all later ones by this time."""
        for f in self.frames[self.number(n) - 1 :]:
            f.time += int(seconds * 10**9)

    def renumber(self, slid, qpn=1):
        """Gives the packets of a port's GSI (QP1) or another UD QP PSNs without a gap: none of them
        is missing."""
        psn = None
        for p in (f.packet for f in self.frames):
            if p.deth and p["srcqp"] == qpn and p["slid"] == slid:
                psn = p["psn"] if psn is None else (psn + 1) & 0xFFFFFF
                p["psn"] = psn

    def pcap(self):
        records = [capfile.record(f.time, f.octets()) for f in self.frames]
        assert all(a[0] <= b[0] for a, b in zip(records, records[1:]))
        return capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Real frames as templates: addresses, PSNs and identifiers are filled in, checksums and CRCs are
corrected.

A Template is compiled once from a frame of testdata and filled in many times. Filling in is fast,
so a capture of 200,000 frames takes seconds: the VCRC is linear, so it is corrected for the changed
bytes, not computed again. The layouts are those of ib.py, which names the documents."""
import os
import zlib

from frames import edit

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")
UD, RC_MIDDLE, RC_LAST, RC_ACK = 0x64, 0x01, 0x02, 0x11  # IBA table 38
SA_CLASS, CM_CLASS, SMP_ROUTED, RESPONSE = 0x03, 0x07, 0x81, 0x80  # IBA 13.4.4, 13.4.5
PATH_RECORD, PORT_INFO = 0x35, 0x15
ICMP, IGMP, UDP, ICMPV6 = 1, 2, 17, 58
CRCS = 6  # bytes of ICRC and VCRC

# The two hosts of the captures: n0, which is A and has the SM, and n1, which is B.
GUIDS = {"a": bytes.fromhex("0011750000000100"), "b": bytes.fromhex("0011750000000110")}
IPS = {"a": bytes((10, 0, 0, 1)), "b": bytes((10, 0, 0, 2))}
QPNS = {"a": bytes((0, 0, 3)), "b": bytes((0, 0, 0x23))}
LID_A, LIDS_B = 1, (2, 3)  # B's LID back to back, and on a switch

# CM messages: (offset, size, field). A opens the connection, B closes it (IBA 12.6.5 to 12.6.12,
# RFC 4755 §6).
CM_SLOTS = {
    0x10: [
        (24, 4, "a_id"),
        (37, 3, "b.qpn"),
        (56, 3, "a_qpn"),
        (76, 2, "a.lid"),
        (78, 2, "b.lid"),
        (165, 3, "a.qpn"),
    ],
    0x13: [
        (24, 4, "b_id"),
        (28, 4, "a_id"),
        (36, 3, "b_qpn"),
        (44, 3, "start"),  # the PSN of A's first packet
        (61, 3, "b.qpn"),
    ],
    0x14: [(24, 4, "a_id"), (28, 4, "b_id")],
    0x15: [(24, 4, "b_id"), (28, 4, "a_id"), (32, 3, "a_qpn")],
    0x16: [(24, 4, "a_id"), (28, 4, "b_id")],
}


def _after_byte(value):
    for _ in range(8):
        value = (value >> 1) ^ (0xD008 if value & 1 else 0)  # 0x100b, bits reversed (IBA 7.8.2)
    return value


# _CHANGES[n][x]: how the VCRC changes if a byte with n bytes after it changes by XOR with x.
_CHANGES = [[_after_byte(n) for n in range(256)]]


def _vcrc_change(after):
    first = _CHANGES[0]
    while len(_CHANGES) <= after:
        _CHANGES.append([(c >> 8) ^ first[c & 0xFF] for c in _CHANGES[-1]])
    return _CHANGES[after]


def internet_checksum(data):
    """RFC 1071: the complement of the one's complement sum of 16-bit words."""
    if len(data) % 2:
        data = bytes(data) + b"\0"
    return 0xFFFF - (int.from_bytes(data, "big") % 0xFFFF or 0xFFFF)


def packet(capture, frame):
    """A frame of testdata, to be changed before it becomes a template."""
    return _tape(capture)[frame].copy()


_tapes = {}


def _tape(capture):
    if capture not in _tapes:
        _tapes[capture] = edit.Tape(os.path.join(TESTDATA, capture))
    return _tapes[capture]


class Template:
    """A frame between the hosts a and b, which are Hosts of mixes.py.

    sender: "a", "b" or "sm"; queue: which of its queue pairs numbers the packet: "psn0" (QP0),
    "psn1" (QP1) or "psn" (the IPoIB interface's), None on a connection, where the caller gives the
    PSN."""

    def __init__(self, source, more=(), lladdr_flags=None):
        """source: a packet; more: further slots in the payload; lladdr_flags: of each link-layer
        address, or as is."""
        self.lladdr_flags = lladdr_flags
        self.packet = p = source
        self.management = p.deth and p["srcqp"] <= 1
        self.grh_at = 8
        self.bth_at = 8 + len(p.grh)
        self.payload_at = self.bth_at + 12 + len(p.deth)
        self.sender, self.queue = self._sender()
        slots = self._header_slots()
        slots += [(self.payload_at + at, size, what) for at, size, what in self._payload_slots()]
        slots += [(self.payload_at + at, size, what) for at, size, what in more]
        self.octets = p.octets()
        self.payload_end = self.payload_at + len(p.payload)
        self.checksums = self._checksums()
        self._compile(slots)

    def _sender(self):
        p = self.packet
        if not p.deth:
            return None, None
        to_sm = self.management and p["mad.class"] in (SA_CLASS, SMP_ROUTED)
        from_b = p["slid"] in LIDS_B
        if to_sm and p["mad.class"] == SMP_ROUTED:
            from_b = bool(p["mad.method"] & RESPONSE)
        who = "b" if from_b else "sm" if to_sm else "a"
        return who, "psn%d" % p["srcqp"] if self.management else "psn"

    def _role_of_lid(self, lid):
        """SM and SA have no role: LID 1 is not replaced in packets that they send and receive."""
        if lid in LIDS_B:
            return "b"
        to_sm = self.management and self.packet["mad.class"] != CM_CLASS
        return "a" if lid == LID_A and not to_sm else None

    def _header_slots(self):
        p, slots = self.packet, []
        for field, at in (("dlid", 2), ("slid", 6)):
            role = self._role_of_lid(p[field])
            if role:
                slots.append((at, 2, role + ".lid"))
        bth = self.bth_at
        if not p.deth:
            return slots + [(bth + 5, 3, "dqp"), (bth + 9, 3, "psn")]
        for role, qpn in QPNS.items():
            if not self.management and p["destqp"] == int.from_bytes(qpn, "big"):
                slots.append((bth + 5, 3, role + ".qpn"))
            if not self.management and p["srcqp"] == int.from_bytes(qpn, "big"):
                slots.append((bth + 12 + 5, 3, role + ".qpn"))
        found = self._found(bytes(p.grh))
        slots += [(2, 2, w[:2] + "group") for _, _, w in found if w.endswith(".solicited")]
        return slots + [(self.grh_at + at, size, what) for at, size, what in found]

    def _found(self, octets):
        """Addresses of A and B, by their bytes: GUIDs, interface identifiers of IPv6,
        solicited-node groups."""
        slots = []
        for role, guid in GUIDS.items():
            patterns = (
                (guid, 0, 8, ".guid"),
                (b"\x02" + guid[1:], 0, 8, ".interface"),
                (b"\x01\xff" + guid[5:], 2, 3, ".solicited"),
            )
            for pattern, skip, size, what in patterns:
                at = octets.find(pattern)
                while at >= 0:
                    slots.append((at + skip, size, role + what))
                    at = octets.find(pattern, at + len(pattern))
        return slots

    def _payload_slots(self):
        p = self.packet
        if p["opcode"] in (RC_MIDDLE, RC_LAST):
            return []
        if p["opcode"] == RC_ACK:
            return [(1, 3, "msn")]
        head = bytes(p.payload[:256])
        slots = self._found(head)
        return slots + (self._mad_slots() if self.management else self._datagram_slots())

    def _mad_slots(self):
        p, slots = self.packet, [(12, 4, "tid")]
        kind, attribute = p["mad.class"], p["mad.attribute"]
        if kind == CM_CLASS:
            slots += CM_SLOTS[attribute]
        if kind == SA_CLASS and attribute == PATH_RECORD and p["mad.method"] & RESPONSE:
            slots += [(56 + 40, 2, "a.lid"), (56 + 42, 2, "b.lid")]
        if kind == SMP_ROUTED:
            slots.append((130, 1, "b.port"))  # the second hop of the initial path
            if attribute == PORT_INFO and int.from_bytes(p.payload[80:82], "big") in LIDS_B:
                slots.append((80, 2, "b.lid"))
        return slots

    def _datagram_slots(self):
        p, slots = self.packet, []
        kind = p["type"]
        places = {0x0800: (16, 20), 0x0806: (32, 56)}.get(kind, ())
        for role, ip in IPS.items():
            slots += [(at, 4, role + ".ip") for at in places if p.payload[at : at + 4] == ip]
        for role, qpn in QPNS.items():
            address = qpn + b"\xfe\x80" + bytes(6) + GUIDS[role]
            at = p.payload.find(address)
            while at >= 0:
                if self.lladdr_flags is not None:
                    p.payload[at - 1] = self.lladdr_flags
                slots.append((at, 3, role + ".qpn"))
                at = p.payload.find(address, at + 1)
        if kind == 0x0800:
            slots.append((8, 2, "ident"))
        return slots

    def _checksums(self):
        """(first covered byte, checksum's offset, of the pseudo header: first and last byte of
        addresses) of each."""
        p, at = self.packet, self.payload_at
        if p["opcode"] in (RC_MIDDLE, RC_LAST, RC_ACK) or self.management:
            return []
        if p["type"] == 0x86DD:
            field = {ICMPV6: 2, UDP: 6}[p["ipv6.next"]]
            return [(at + 44, at + 44 + field, (at + 12, at + 44), p["ipv6.next"])]
        if p["type"] != 0x0800:
            return []
        length = (p.payload[4] & 15) * 4
        body, protocol = at + 4 + length, p.payload[13]
        sums = [(at + 4, at + 14, None, body)]
        fragment = int.from_bytes(p.payload[10:12], "big") & 0x3FFF
        if fragment or p["ipv4.length"] != len(p.payload) - 4:
            return sums
        if protocol == UDP:
            return sums + [(body, body + 6, (at + 16, at + 24), UDP)]
        return sums + [(body, body + 2, None, self.payload_end)]

    def _compile(self, slots):
        changed = set()
        for at, size, _ in slots:
            changed.update(range(at, at + size))
        for _, at, _, _ in self.checksums:
            changed.update((at, at + 1))
        n = len(self.octets)
        if self.packet.deth:
            slots = slots + [(self.bth_at + 9, 3, "psn")]
            changed.update(range(self.bth_at + 9, self.bth_at + 12))
        changed.update(range(n - CRCS, n - 2))
        self.changed = [(at, self.octets[at], _vcrc_change(n - 3 - at)) for at in sorted(changed)]
        self.vcrc = int.from_bytes(self.octets[-2:], "little")
        roles = {"a": 0, "b": 1}
        self.slots = []
        for at, size, what in slots:
            role, _, key = what.rpartition(".")
            self.slots.append((at, at + size, roles.get(role, 2), key))

    def _fill_checksums(self, out):
        for first, at, addresses, last in self.checksums:
            out[at : at + 2] = b"\0\0"
            if addresses is None:
                value = internet_checksum(out[first:last])
            else:
                covered = out[first : self.payload_end]
                pseudo = out[slice(*addresses)] + bytes((0, last)) + len(covered).to_bytes(2, "big")
                value = internet_checksum(pseudo + covered)
                value = value or 0xFFFF if last == UDP else value
            out[at : at + 2] = value.to_bytes(2, "big")

    def _fill_icrc(self, out):
        """Fields that may change on the way count as ones (IBA 7.8.1)."""
        masked, bth = out[:-CRCS], self.bth_at
        if bth > 8:
            masked[:8] = b"\xff" * 8
            masked[8] |= 0x0F
            masked[9:12] = b"\xff" * 3
            masked[15] = 0xFF
        else:
            masked[0] |= 0xF0
        masked[bth + 4] = 0xFF
        out[-CRCS:-2] = zlib.crc32(masked).to_bytes(4, "little")

    def fill(self, a, b, sm, values):
        """The frame as a bytearray, LRH to VCRC."""
        if self.queue:
            values["psn"] = {"a": a, "b": b, "sm": sm}[self.sender].number(self.queue)
        out, who = bytearray(self.octets), (a.values, b.values, values)
        for first, last, role, key in self.slots:
            out[first:last] = who[role][key]
        self._fill_checksums(out)
        self._fill_icrc(out)
        vcrc = self.vcrc
        for at, before, table in self.changed:
            if out[at] != before:
                vcrc ^= table[out[at] ^ before]
        out[-2:] = vcrc.to_bytes(2, "little")
        return out

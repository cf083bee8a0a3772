# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of DHCP clients (RFC 4390), and conformant clients: captures in which n1 gets a lease,
renews it twice and releases it."""
from frames import ib
from frames.fixture import PASS, as_it_is, base, fail, passes

DHCP, CONFORMANT = "dhcp.pcap", "dhcp"
DISCOVER, REQUEST, DECLINE, ACK, RELEASE, INFORM = 1, 3, 4, 5, 7, 8  # RFC 2132 §9.6
OVERLOAD, MESSAGE_TYPE, SERVER, CLIENT_ID, END = 52, 53, 54, 61, 255
BROADCAST = 0x8000
N1_GUID = ib.gid("fe80::11:7500:0:110")[8:]
DUID_LL = b"\xff\0\0\0\x01\0\x03\0\x20" + N1_GUID
UDP, MESSAGE, COOKIE = (
    24,
    32,
    b"\x63\x82\x53\x63",
)  # offsets in the payload, after encapsulation and IPv4


class Message:
    """A DHCP message (RFC 2131 §2): its fixed part and its options, which put() writes back into
    the packet."""

    def __init__(self, packet):
        self.packet = packet
        self.fixed, self.options = packet.payload[MESSAGE : MESSAGE + 236], []
        rest = packet.payload[MESSAGE + 240 :]
        while rest and rest[0] != END:
            size = 1 if rest[0] == 0 else 2 + rest[1]
            if rest[0]:
                self.options.append((rest[0], bytes(rest[2:size])))
            rest = rest[size:]

    def __getitem__(self, code):
        return dict(self.options).get(code)

    def replace(self, code, *parts):
        """Replaces the option's data; several parts become several options; none removes it."""
        self.options = [o for o in self.options if o[0] != code] + [(code, p) for p in parts]

    def put(self, **fields):
        sizes = {"op": (0, 1), "htype": (1, 1), "hlen": (2, 1), "flags": (10, 2), "ciaddr": (12, 4)}
        sizes.update(giaddr=(24, 4), chaddr=(28, 16), sname=(44, 64), file=(108, 128))
        for name, value in fields.items():
            at, size = sizes[name]
            octets = value.to_bytes(size, "big") if isinstance(value, int) else value
            self.fixed[at : at + size] = octets.ljust(size, b"\0")
        options = b"".join(ib.u8(code) + ib.u8(len(data)) + data for code, data in self.options)
        self.send(bytes(self.fixed) + COOKIE + options + ib.u8(END))

    def send(self, octets, src=None, dst=None):
        """Replaces the UDP data in the packet; the ports stay, and the addresses unless they are
        given."""
        p = self.packet.payload
        src, dst = (
            text or ".".join(map(str, p[at : at + 4])) for text, at in ((src, 16), (dst, 20))
        )
        ports = [int.from_bytes(p[at : at + 2], "big") for at in (UDP, UDP + 2)]
        self.packet.datagram(
            0x0800, ib.ipv4(src, dst, 17, ib.udp(src, dst, *ports, octets), flags=0)
        )


def is_dhcp(p):
    return (
        len(p.payload) > MESSAGE + 240
        and p["type"] == 0x0800
        and p.payload[MESSAGE + 236 : MESSAGE + 240] == COOKIE
    )


def messages(t, kind):
    """The frames that hold DHCP messages of a type."""
    return [
        f for f in t.frames if is_dhcp(f.packet) and Message(f.packet)[MESSAGE_TYPE] == ib.u8(kind)
    ]


def first(t, kind):
    frame = messages(t, kind)[0]
    return frame, Message(frame.packet)


def change(t, kind, **fields):
    """Changes fields of the first message of a type; returns its frame."""
    frame, m = first(t, kind)
    m.put(**fields)
    return frame


def another(t, frame):
    """A message that is a copy of this frame, and follows it."""
    return Message(t.insert(frame, frame.packet.copy()).packet)


def without_identifier(frame, m):
    m.replace(CLIENT_ID)
    m.put()
    return frame


def renewal(t):
    frame = messages(t, REQUEST)[1]
    return frame, Message(frame.packet)


@base(CONFORMANT, DHCP, "renewals without the BROADCAST flag, the release with chaddr 0")
def conformant(t):
    for frame in messages(t, REQUEST)[1:]:
        Message(frame.packet).put(flags=0)
    change(t, RELEASE, chaddr=b"", sname=b"", flags=0)


# ---- captures that pass

as_it_is(
    PASS,
    CONFORMANT,
    "rfc4390.2.1.htype",
    "rfc4390.2.1.hlen",
    "rfc4390.2.1.chaddr",
    "rfc4390.2.1.client-identifier",
    "rfc4390.2.1.client-identifier-format",
    "rfc4390.2.2.broadcast-flag",
    "rfc4390.2.2.ciaddr-zero",
    "rfc4390.2.2.no-broadcast-flag",
)


@passes(
    "rfc4390.2.1.client-identifier",
    CONFORMANT,
    "the discover's client identifier is in the field file (RFC 2132 §9.3)",
)
def client_identifier_in_file(t):
    _, m = first(t, DISCOVER)
    data = m[CLIENT_ID]
    m.replace(CLIENT_ID)
    m.replace(OVERLOAD, b"\x01")
    m.put(file=ib.u8(CLIENT_ID) + ib.u8(len(data)) + data + ib.u8(END))


@passes(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "the discover's client identifier is in two options (RFC 3396)",
    variant="-2",
)
def client_identifier_in_parts(t):
    _, m = first(t, DISCOVER)
    data = m[CLIENT_ID]
    m.replace(CLIENT_ID, data[:3], data[3:])
    m.put()


@passes(
    "rfc4390.2.1.htype",
    CONFORMANT,
    "n1 relays the discover of an Ethernet client to the server (giaddr 10.0.0.2)",
    variant="-2",
)
def relayed_for_ethernet(t):
    m = another(t, first(t, DISCOVER)[0])
    m.replace(CLIENT_ID)
    m.put(htype=1, hlen=6, flags=0, giaddr=ib.ip4("10.0.0.2"), chaddr=ib.mac("02:00:00:00:00:01"))


@passes(
    "rfc4390.2.1.htype",
    CONFORMANT,
    "a router forwards the renewal of an Ethernet client to the server",
    variant="-3",
)
def routed_from_ethernet(t):
    m = another(t, renewal(t)[0])
    m.replace(CLIENT_ID)
    m.put(htype=1, hlen=6, ciaddr=ib.ip4("10.9.0.7"), chaddr=ib.mac("02:00:00:00:00:01"))
    m.send(bytes(m.packet.payload[MESSAGE:]), src="10.9.0.7")


@passes(
    "rfc4390.2.2.broadcast-flag",
    CONFORMANT,
    "n1 requests only parameters (DHCPINFORM), with ciaddr, by broadcast, without the flag",
    variant="-2",
)
def inform(t):
    m = another(t, first(t, DISCOVER)[0])
    m.replace(MESSAGE_TYPE, ib.u8(INFORM))
    m.put(flags=0, ciaddr=ib.ip4("10.0.0.2"))


@passes(
    "rfc4390.2.2.broadcast-flag",
    CONFORMANT,
    "n1 declines an address, by broadcast, without the flag: no reply is due",
    variant="-3",
)
def decline(t):
    m = another(t, first(t, REQUEST)[0])
    m.replace(MESSAGE_TYPE, ib.u8(DECLINE))
    m.put(flags=0)


@passes(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "n1 rebinds: its first renewal goes to 255.255.255.255, with ciaddr, without the flag",
    variant="-2",
)
def rebinding(t):
    to_all = first(t, DISCOVER)[0].packet
    frame, m = renewal(t)
    octets = bytes(m.packet.payload[MESSAGE:])
    m = Message(t.insert(frame, to_all.copy()).packet)
    m.send(octets, src="10.0.0.2")


@passes(
    "rfc4390.2.1.htype",
    CONFORMANT,
    "a BOOTP client of Ethernet type on the link: the RFC binds DHCP clients",
    variant="-4",
)
def bootp(t):
    m = another(t, first(t, DISCOVER)[0])
    m.options = []
    m.put(htype=1, hlen=6, flags=0, chaddr=ib.mac("02:00:00:00:00:01"))


@passes(
    "rfc4390.2.1.htype",
    CONFORMANT,
    "n1 has released its lease; its Ethernet interface has the address now, and renews it",
    variant="-5",
)
def address_of_another_interface(t):
    m = another(t, first(t, RELEASE)[0])
    m.replace(CLIENT_ID)
    m.replace(MESSAGE_TYPE, ib.u8(REQUEST))
    m.put(htype=1, hlen=6, chaddr=ib.mac("02:00:00:00:00:01"))
    m.packet.set(psn=m.packet["psn"] + 1)


@passes(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "n1 requests only parameters (DHCPINFORM) with the flag: it may have no lease",
    variant="-3",
)
def inform_with_flag(t):
    m = another(t, renewal(t)[0])
    m.replace(MESSAGE_TYPE, ib.u8(INFORM))
    m.put(flags=BROADCAST)


def inform_of_lease(t):
    """n1 sends a DHCPINFORM with the flag in place of its second renewal."""
    frame = messages(t, REQUEST)[2]
    m = Message(frame.packet)
    m.replace(MESSAGE_TYPE, ib.u8(INFORM))
    m.replace(CLIENT_ID, DUID_LL)
    m.put(flags=BROADCAST)
    return frame


@passes(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "the same after the first renewal, whose DHCPACK was not captured: it may be refused",
    variant="-4",
)
def inform_without_ack(t):
    t.drop(messages(t, ACK)[1].origin)
    inform_of_lease(t)


@passes(
    "rfc4390.2.1.chaddr",
    CONFORMANT,
    "the server's ACK has values that a client may not send: the RFC binds clients",
    variant="-2",
)
def server(t):
    change(t, ACK, htype=1, hlen=6, chaddr=ib.mac("02:00:00:00:00:01"))


# ---- one fault each


fail(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "n1, which has renewed its lease, sends a DHCPINFORM with the flag",
    variant="-6",
)(inform_of_lease)


fail("rfc4390.2.1.htype", CONFORMANT, "the discover has htype 1, Ethernet")(
    lambda t: change(t, DISCOVER, htype=1)
)


def change_of(found, **fields):
    """Changes fields of this message; returns its frame."""
    frame, m = found
    m.put(**fields)
    return frame


fail("rfc4390.2.1.htype", CONFORMANT, "the first renewal, by unicast, has htype 0", variant="-2")(
    lambda t: change_of(renewal(t), htype=0)
)

fail("rfc4390.2.1.htype", CONFORMANT, "the release has htype 31", variant="-3")(
    lambda t: change_of(first(t, RELEASE), htype=31)
)

fail("rfc4390.2.1.hlen", CONFORMANT, "the discover has hlen 20, the length of an IPoIB address")(
    lambda t: change(t, DISCOVER, hlen=20)
)


@fail("rfc4390.2.1.hlen", CONFORMANT, "the first renewal, by unicast, has hlen 16", variant="-2")
def hlen_in_renewal(t):
    frame, m = renewal(t)
    m.put(hlen=16)
    return frame


@fail(
    "rfc4390.2.1.hlen",
    CONFORMANT,
    "an IPoIB client's discover that a relay agent passes on has hlen 6",
    variant="-3",
)
def hlen_relayed(t):
    frame, m = first(t, DISCOVER)
    frame = t.insert(frame, frame.packet.copy())
    Message(frame.packet).put(hlen=6, giaddr=ib.ip4("10.0.0.2"))
    return frame


fail("rfc4390.2.1.chaddr", CONFORMANT, "the last byte of the discover's chaddr is 1")(
    lambda t: change(t, DISCOVER, chaddr=bytes(15) + b"\x01")
)

fail(
    "rfc4390.2.1.chaddr",
    CONFORMANT,
    "systemd-networkd's release, with 16 bytes of its link-layer address",
    variant="-2",
    linux="deviation",
)(lambda t: change(t, RELEASE, chaddr=ib.lladdr(0x23, "fe80::11:7500:0:110", 0x80)[:16]))


fail("rfc4390.2.1.client-identifier", CONFORMANT, "the discover has no client identifier")(
    lambda t: without_identifier(*first(t, DISCOVER))
)

fail(
    "rfc4390.2.1.client-identifier",
    CONFORMANT,
    "the first renewal has no client identifier",
    variant="-2",
)(lambda t: without_identifier(*renewal(t)))


def with_identifier(t, data, found=None):
    frame, m = found or first(t, DISCOVER)
    m.replace(CLIENT_ID, data)
    m.put()
    return frame


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "the discover's client identifier is type 32 and a link-layer address",
)(lambda t: with_identifier(t, b"\x20" + ib.lladdr(0x23, "fe80::11:7500:0:110", 0x80)))


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "the discover's client identifier ends after the IAID: there is no DUID",
    variant="-2",
)(lambda t: with_identifier(t, b"\xff\0\0\0\x01"))


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "NetworkManager's client identifier in the discover: type 32 and the port GUID",
    variant="-3",
    linux="deviation",
)(lambda t: with_identifier(t, b"\x20" + N1_GUID))


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "the discover's client identifier is type 32 and another GUID: no known deviation",
    variant="-4",
)(lambda t: with_identifier(t, b"\x20" + N1_GUID[:-1] + b"\x11"))


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "the client identifier in the first renewal is type 1 and another port's MAC address",
    variant="-5",
)(lambda t: with_identifier(t, b"\x01" + ib.mac("02:00:00:00:00:01"), renewal(t)))


fail(
    "rfc4390.2.1.client-identifier-format",
    CONFORMANT,
    "NetworkManager's client identifier in the first renewal: the request shows the port's GUID",
    variant="-6",
    linux="deviation",
)(lambda t: with_identifier(t, b"\x20" + N1_GUID, renewal(t)))


fail("rfc4390.2.2.broadcast-flag", CONFORMANT, "the discover is without the BROADCAST flag")(
    lambda t: change(t, DISCOVER, flags=0)
)

fail(
    "rfc4390.2.2.broadcast-flag",
    CONFORMANT,
    "the request for the offered address is without the BROADCAST flag",
    variant="-2",
)(lambda t: change(t, REQUEST, flags=0x7FFF))


fail("rfc4390.2.2.ciaddr-zero", CONFORMANT, "the discover has 10.0.0.2 in ciaddr")(
    lambda t: change(t, DISCOVER, ciaddr=ib.ip4("10.0.0.2"))
)

fail(
    "rfc4390.2.2.ciaddr-zero",
    CONFORMANT,
    "the request for the offered address has it in ciaddr, too",
    variant="-2",
)(lambda t: change_of(first(t, REQUEST), ciaddr=ib.ip4("10.0.0.76")))


@fail(
    "rfc4390.2.2.ciaddr-zero",
    CONFORMANT,
    "n1 asks for its address again (INIT-REBOOT: option 50, from 0.0.0.0), with it in ciaddr, too",
    variant="-3",
)
def reboots(t):
    frame, m = first(t, REQUEST)
    m.replace(SERVER)
    m.put(ciaddr=ib.ip4("10.0.0.76"))
    return frame


@fail(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "systemd-networkd's first renewal, with the BROADCAST flag",
    linux="deviation",
)
def no_broadcast_flag(t):
    frame, m = renewal(t)
    m.put(flags=BROADCAST)
    return frame


fail(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "systemd-networkd's release, with the BROADCAST flag",
    variant="-3",
    linux="deviation",
)(lambda t: change(t, RELEASE, flags=BROADCAST))


def with_flag(found):
    """The message of another client (DUID-LL), with the BROADCAST flag: no known deviation."""
    found[1].replace(CLIENT_ID, DUID_LL)
    return change_of(found, flags=BROADCAST)


fail(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "another client's first renewal (DUID-LL), with the BROADCAST flag: no known deviation",
    variant="-2",
)(lambda t: with_flag(renewal(t)))

fail(
    "rfc4390.2.2.no-broadcast-flag",
    CONFORMANT,
    "another client's release (DUID-LL), with the BROADCAST flag",
    variant="-4",
)(lambda t: with_flag(first(t, RELEASE)))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual datagrams and headers: routers, fragments, tunnels, DHCP, other Ethertypes and
protocols."""
from frames import ib
from frames.ib import ONLY, UD, Frame, encap
from frames.fabric import QKEY
from frames.subnet import Host, Subnet
from frames.unusual import link, met, on, resolved, scenario
from support import capfile

GROUP = "239.1.2.3"
ZERO, ALL = "0.0.0.0", "255.255.255.255"


def of_ip(s, a, b, protocol, body, **options):
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, protocol, body, **options)))


@on(resolved, 1, 2)
def grh_on_unicast(s, a, b):
    """A GRH is allowed in a subnet too (RFC 4391 section 6)."""
    s.ping(a, b, grh=True, hop=1)
    s.ping(a, b, seq=2)


@scenario
def across_a_router():
    """The peer is in another IB subnet: GRH, the router's LID, GIDs of two prefixes."""
    s = Subnet(scope=5, prefix="fec0:0:0:1::", hop=4)
    a = Host(1, prefix=s.prefix)
    far = Host(2, prefix="fec0:0:0:2::", lid=0x30)
    s.up(a)
    s.path(a, far, hop=4)
    s.arp_request(a, far.ip)
    s.arp_reply(far, a, grh=True, hop=3)
    s.ping(a, far, grh=True, hop=3)
    return s


@on(resolved, 1, 2)
def ipv4_fragments(s, a, b):
    """A datagram of 5000 octets in fragments of at most 2044."""
    data = ib.fill(5000)
    for at in range(0, 5000, 2024):
        part = data[at : at + 2024]
        more = at + 2024 < 5000
        head = bytearray(ib.ipv4_header(a.ip, b.ip, 17, len(part), flags=0))
        head[6:8] = ib.u16((0x2000 if more else 0) | at // 8)
        head[10:12] = b"\0\0"
        head[10:12] = ib.u16(ib.inet_checksum(bytes(head)))
        s.ud(a, b, encap(0x0800, bytes(head) + part))


@on(link, 1, 2)
def ipv6_fragments(s, a, b):
    s.resolve6(a, b)
    for at, more in ((0, 1), (1400, 0)):
        fragment = bytes((17, 0)) + ib.u16(at | more) + ib.u32(77)
        s.ud(a, b, encap(0x86DD, ib.ipv6(a.ll, b.ll, 44, fragment + ib.fill(1400), hop=64)))


@on(resolved, 1, 2)
def datagram_of_the_link_mtu(s, a, b):
    """2044 octets of IP, 2048 of payload."""
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, size=2044 - 28)))


@on(resolved, 1, 2)
def ipv4_options_and_ecn(s, a, b):
    """A header of 24 octets with a router alert, DSCP and ECN bits."""
    head = bytearray(
        b"\x46\xbb"
        + ib.u16(24 + 8)
        + bytes(4)
        + bytes((64, 17, 0, 0))
        + ib.ip4(a.ip)
        + ib.ip4(b.ip)
        + b"\x94\4\0\0"
    )
    head[10:12] = ib.u16(ib.inet_checksum(bytes(head)))
    s.ud(a, b, encap(0x0800, bytes(head) + ib.udp(a.ip, b.ip, 9, 9, b"")))


@on(resolved, 1, 2)
def tcp(s, a, b):
    for src, dst, flags in ((a, b, 2), (b, a, 0x12), (a, b, 0x10), (a, b, 0x11)):
        segment = (
            ib.u16(40000)
            + ib.u16(22)
            + ib.u32(1)
            + ib.u32(1)
            + bytes((0x50, flags))
            + ib.u16(64240)
            + bytes(4)
        )
        of_ip(s, src, dst, 6, segment)


@on(resolved, 1, 2)
def roce_v2_beside(s, a, b):
    """RoCE v2 over IPoIB: UDP port 4791 carries a packet of another QP."""
    inner = Frame(UD | ONLY, ib.fill(60), destqp=0x77, psn=3, qkey=0x1234, srcqp=0x78).body + bytes(
        4
    )
    of_ip(s, a, b, 17, ib.udp(a.ip, b.ip, 49152, 4791, inner))


@on(resolved, 1, 2)
def tunnels(s, a, b):
    """VXLAN with an Ethernet frame and an ARP of Ethernet in it; GRE; IP in IP."""
    mac = bytes(6)
    arp = ib.arp(1, mac, "192.0.2.1", mac, "192.0.2.2", hrd=1)
    inner = b"\xff" * 6 + mac + ib.u16(0x0806) + arp
    of_ip(s, a, b, 17, ib.udp(a.ip, b.ip, 50000, 4789, b"\x08" + bytes(7) + inner))
    of_ip(s, a, b, 47, bytes(2) + ib.u16(0x0800) + ib.ping4("192.0.2.1", "192.0.2.2"))
    of_ip(s, a, b, 4, ib.ping4("192.0.2.1", "192.0.2.2"))


@on(resolved, 1, 2)
def other_ethertypes(s, a, b):
    """LLDP, MPLS, 802.1X and an experimental one (RFC 4391 section 6)."""
    for kind in (0x88CC, 0x8847, 0x888E, 0x88B5):
        s.ud(a, b, encap(kind, ib.fill(46)))


@on(resolved, 1, 2)
def payloads_of_any_padding(s, a, b):
    for size in range(8):
        s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, seq=size, size=size)))


@on(resolved, 1, 2)
def ip_payload_shorter_than_the_frame(s, a, b):
    """Bytes after the IP datagram: a driver rounds the length up."""
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, size=5) + bytes(3)))


@on(met, 1, 2)
def other_users_of_datagrams(s, a, b):
    """A program has UD QPs with a Q_Key of its own on the same ports; MPI's start-up messages have
    arbitrary bytes."""
    one, two = a.also(qpn=0x4444), b.also(qpn=0x5555)
    for n, data in enumerate((b"\x08\x06\x00\x01" + ib.fill(52), b"\x01", b"", ib.fill(2000))):
        s.ud(one, two, data, qkey=0x01020304 + n)


@on(link, 1, 2)
def performance_management(s, a, b):
    """MADs of other classes at QP 1: performance (0x04), a vendor's (0x0A), congestion control
    (0x21)."""
    for kind in (0x04, 0x0A, 0x21):
        s.mad(a, b, (ib.mad_header(kind, 1, 1, s.next_tid(), 0x12)).ljust(256, b"\0"))
        s.mad(b, a, (ib.mad_header(kind, 1, 0x81, s.tid, 0x12)).ljust(256, b"\0"))
    s.meet(a, b)


def dhcp(op, kind, xid, ciaddr=ZERO, flags=0x8000, yiaddr=ZERO, options=b""):
    """RFC 4390 section 2.1: htype 32, hlen 0, chaddr 0, a client identifier of RFC 4361."""
    head = bytes((op, 32, 0, 0)) + ib.u32(xid) + ib.u16(0) + ib.u16(flags)
    head += (
        ib.ip4(ciaddr)
        + ib.ip4(yiaddr)
        + bytes(8)
        + bytes(16 + 64 + 128)
        + bytes.fromhex("63825363")
    )
    identifier = bytes((61, 19, 255)) + ib.u32(1) + bytes((0, 3, 0, 32)) + bytes(range(10))
    return head + bytes((53, 1, kind)) + identifier + options + b"\xff"


DISCOVER, OFFER, REQUEST, ACK, RELEASE, INFORM = 1, 2, 3, 5, 7, 8


def dhcp_datagram(src, dst, ports, message):
    return encap(0x0800, ib.ipv4(src, dst, 17, ib.udp(src, dst, *ports, message)))


UP, DOWN = (68, 67), (67, 68)


@on(link, 1, 2)
def dhcp_lease(s, a, server):
    """RFC 4390: broadcast while the client has no address; renewed by unicast without the broadcast
    flag; released."""
    for kind, reply_type in ((DISCOVER, OFFER), (REQUEST, ACK)):
        s.ud(a, s.broadcast(), dhcp_datagram(ZERO, ALL, UP, dhcp(1, kind, 7)))
        s.ud(
            server,
            s.broadcast(),
            dhcp_datagram(server.ip, ALL, DOWN, dhcp(2, reply_type, 7, yiaddr=a.ip)),
        )
    s.resolve(a, server)
    s.wait(600)
    s.ud(a, server, dhcp_datagram(a.ip, server.ip, UP, dhcp(1, REQUEST, 8, ciaddr=a.ip, flags=0)))
    s.ud(
        server,
        a,
        dhcp_datagram(server.ip, a.ip, DOWN, dhcp(2, ACK, 8, ciaddr=a.ip, flags=0, yiaddr=a.ip)),
    )
    s.ud(a, server, dhcp_datagram(a.ip, server.ip, UP, dhcp(1, RELEASE, 9, ciaddr=a.ip, flags=0)))


@on(met, 1, 2)
def dhcp_offer_of_an_address_in_use_before(s, a, server):
    """The client was restarted and asks for its old address without having it. The server has no
    link-layer address of it, so its offer to that address goes to the broadcast group."""
    s.wait(30)
    s.ud(a, s.broadcast(), dhcp_datagram(ZERO, ALL, UP, dhcp(1, DISCOVER, 7)))
    offer = dhcp(2, OFFER, 7, yiaddr=a.ip)
    s.ud(server, s.broadcast(), dhcp_datagram(server.ip, a.ip, DOWN, offer))
    s.path(a, server)


@on(link, 1, 2)
def dhcp_rebinding(s, a, server):
    """RFC 2131 section 4.4.5: the server does not respond; the client broadcasts its REQUEST with
    ciaddr, without the flag."""
    s.ud(a, s.broadcast(), dhcp_datagram(a.ip, ALL, UP, dhcp(1, REQUEST, 8, ciaddr=a.ip, flags=0)))
    s.path(server, a)
    s.ud(
        server,
        a,
        dhcp_datagram(server.ip, a.ip, DOWN, dhcp(2, ACK, 8, ciaddr=a.ip, flags=0, yiaddr=a.ip)),
    )


@on(link, 1, 2)
def dhcp_inform(s, a, server):
    s.ud(a, s.broadcast(), dhcp_datagram(a.ip, ALL, UP, dhcp(1, INFORM, 8, ciaddr=a.ip, flags=0)))


@on(resolved, 1, 2)
def dhcp_through_a_relay(s, relay, router):
    """A relay's unicast to a server on another link, of a client with an Ethernet address."""
    message = bytearray(dhcp(1, DISCOVER, 5, flags=0))
    message[1], message[2], message[3] = 1, 6, 1
    message[24:28], message[28:34] = ib.ip4("192.0.2.1"), bytes.fromhex("0200000000aa")
    s.ud(relay, router, dhcp_datagram(relay.ip, "198.51.100.1", (67, 67), bytes(message)))


@scenario
def roce_v2_on_ethernet():
    """IPoIB's ARP and an echo in RoCE v2, with another program's datagrams and Ethernet's own
    ARP."""
    records, a, b = [], Host(1), Host(2)

    def put(octets):
        records.append(capfile.record(1_700_000_000 * 10**9 + len(records) * 10**6, octets))

    def ud(src, dst, payload, qkey=QKEY):
        frame = Frame(
            UD | ONLY, payload, destqp=dst.qpn, psn=len(records), qkey=qkey, srcqp=src.qpn
        )
        put(frame.roce2(src.ip, dst.ip))

    ud(b, a, encap(0x0806, ib.arp(2, b.addr, b.ip, a.addr, a.ip)))
    ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip)))
    ud(a.also(qpn=0x999), b.also(qpn=0x998), ib.fill(80), 0x77)
    mac = ib.mac("02:00:00:00:00:01")
    put(b"\xff" * 6 + mac + ib.u16(0x0806) + ib.arp(1, mac, a.ip, bytes(6), b.ip, hrd=1))
    return capfile.pcap(capfile.ETHERNET, records, nanoseconds=True)


@scenario
def without_infiniband_headers():
    """LINKTYPE_IPOIB: the GRH or 40 octets in its place, then the encapsulation header."""
    a, b = Host(1), Host(2)
    broadcast = "ff12:401b:ffff::ffff:ffff"
    request = encap(0x0806, ib.arp(1, a.addr, a.ip, bytes(20), b.ip))
    reply = encap(0x0806, ib.arp(2, b.addr, b.ip, a.addr, a.ip))
    packets = [
        ib.ipoib242_grh(a.gid, broadcast, request),
        ib.ipoib242_dest(a.addr, reply),
        ib.ipoib242_dest(b.addr, encap(0x0800, ib.ping4(a.ip, b.ip))),
    ]
    return capfile.pcap(capfile.IPOIB, capfile.records(packets), nanoseconds=True)

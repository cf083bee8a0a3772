# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of DHCP leases, of replies to pings and of errors of ICMP, each with harmless
look-alikes. A case returns its tape and the events that it must raise: (event, frame, count, texts that
it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import (
    ACK,
    DISCOVER,
    NAK,
    OFFER,
    REQUEST,
    copy_last,
    goes_on,
    link,
    number,
)
from frames.connection import Link
from frames.events_link import icmp6_error, icmp_error
from frames.ib import ONLY, encap
from frames.messages import arp, udp4, udp6
from frames.unusual_datagrams import dhcp_datagram

CASES = []
RELEASE, DECLINE, INFORM = 7, 4, 8
ADDRESS = "10.0.0.9"


def case(build):
    CASES.append(build)
    return build


# ---- one address for two clients


def message(
    op, kind, xid, client, yiaddr="0.0.0.0", ciaddr="0.0.0.0", giaddr="0.0.0.0", options=b""
):
    """RFC 4390: no hardware address. client: of the identifier; None: without (RFC 2131 of servers)."""
    head = bytes((op, 32, 0, 0)) + ib.u32(xid) + ib.u16(0) + ib.u16(0x8000)
    addresses = b"".join(ib.ip4(a) for a in (ciaddr, yiaddr, "0.0.0.0", giaddr))
    identifier = b""
    if client is not None:
        identifier = bytes((61, 19, 255)) + ib.u32(client) + bytes((0, 3, 0, 32)) + bytes(10)
    rest = bytes(16 + 64 + 128) + bytes.fromhex("63825363") + bytes((53, 1, kind))
    return head + addresses + rest + identifier + options + b"\xff"


def asks(s, host, kind, xid, client, **fields):
    up = message(1, kind, xid, client, **fields)
    s.ud(host, s.broadcast(), dhcp_datagram("0.0.0.0", "255.255.255.255", (68, 67), up))


def gives(s, server, kind, xid, client=None, address=ADDRESS, seconds=3600, **fields):
    options = bytes((51, 4)) + ib.u32(seconds) if seconds else b""
    down = message(2, kind, xid, client, yiaddr=address, options=options, **fields)
    s.ud(server, s.broadcast(), dhcp_datagram(server.ip, "255.255.255.255", (67, 68), down))


def lease(s, host, server, client, xid=None, **fields):
    """Four messages, of which the last gives the address."""
    xid = 0x1000 + client if xid is None else xid
    asks(s, host, DISCOVER, xid, client)
    gives(s, server, OFFER, xid, **fields)
    asks(s, host, REQUEST, xid, client)
    gives(s, server, ACK, xid, **fields)


def renew(s, host, server, client, **fields):
    """The last two of them: the client has had an address before."""
    xid = 0x2000 + client
    asks(s, host, REQUEST, xid, client)
    gives(s, server, ACK, xid, **fields)


@case
def address_that_two_clients_get():
    """One server, and a second one that gives it again."""
    s, a, b, c = link()
    lease(s, a, c, 1)
    first = number(s)
    s.wait(60)
    lease(s, b, c, 2)
    texts = [b.gid, ADDRESS, a.gid, "server IP 10.0.0.3", "in frame %d" % first, "3600 s"]
    return s, [("duplicate_ip", number(s), 1, texts)]


@case
def address_that_two_servers_give():
    """The client identifier is in the replies (RFC 6842); the lease of the first has no end."""
    s, a, b, c = link()
    d = c.also(ip="10.0.0.4")
    lease(s, a, c, 1, seconds=0xFFFFFFFF)
    s.wait(10**6)
    asks(s, b, REQUEST, 0x77, 2)
    gives(s, d, ACK, 0x77, client=2)
    return s, [("duplicate_ip", number(s), 1, [b.gid, "server IP 10.0.0.4", "has no end"])]


@case
def address_that_is_free_again():
    """After a release, a refusal by the client or the server, the lease's end, another address of the
    client, and a new search."""
    s, a, b, c = link()
    requested = bytes((50, 4)) + ib.ip4(ADDRESS)
    for n, free in enumerate(
        (
            lambda: asks(s, a, RELEASE, 1, 1, ciaddr=ADDRESS),
            lambda: asks(s, a, DECLINE, 1, 1, options=requested),
            lambda: (asks(s, a, REQUEST, 2, 1), gives(s, c, NAK, 2, address="0.0.0.0")),
            lambda: s.wait(3600),
            lambda: renew(s, a, c, 1, address="10.0.0.10"),
            lambda: asks(s, a, DISCOVER, 3, 1),
        )
    ):
        s.wait(5000)
        lease(s, a, c, 1)
        free()
        lease(s, b, c, 2 + n)
    return s, [(name, frame, 1, []) for name, frame in refusals(s)]


def refusals(s):
    """Frames of DHCPDECLINE and DHCPNAK, which have their own event."""
    found = []
    for frame, record in enumerate(s.records, 1):
        if bytes((53, 1, DECLINE)) in record[1] or bytes((53, 1, NAK)) in record[1]:
            found.append(("dhcp_refused", frame))
    return found


def refuses(s, server, xid):
    options = bytes((54, 4)) + ib.ip4(server.ip)
    down = message(2, NAK, xid, None, options=options)
    s.ud(server, s.broadcast(), dhcp_datagram(server.ip, "255.255.255.255", (67, 68), down))


def asks_one_server(s, client, server, by):
    """The request names one server; one of the two refuses."""
    asks(s, client, REQUEST, 0x55, 1, options=bytes((54, 4)) + ib.ip4(server.ip))
    refuses(s, by, 0x55)


@case
def address_that_another_server_refuses():
    s, a, b, c = link()
    asks_one_server(s, a, b, by=c)
    texts = [a.gid, "another DHCP server, IP 10.0.0.3", "it asks IP 10.0.0.2 for"]
    return s, [("dhcp_refused", number(s), 1, texts)]


@case
def address_that_the_server_itself_refuses():
    s, a, b, _ = link()
    asks_one_server(s, a, b, by=b)
    return s, [("dhcp_refused", number(s), 1, [a.gid, "the DHCP server refuses the address"])]


@case
def address_that_one_host_gets_again():
    """The same client on another port, another client identifier of the same port, a renewed lease, a
    reply to an INFORM, replies without a request, through a relay, and of two clients that use one
    transaction ID; a tap has each twice."""
    s, a, b, c = link()
    lease(s, a, c, 1)
    renew(s, b, c, 1)
    renew(s, b, c, 2)
    renew(s, b, c, 2)
    asks(s, a, INFORM, 9, 1, ciaddr="10.0.0.1")
    gives(s, c, ACK, 9, address="0.0.0.0", seconds=0)
    gives(s, c, ACK, 10, client=3)
    lease(s, b, c, 2)
    copy_last(s)
    asks(s, a, REQUEST, 11, 1, giaddr="10.0.0.77")
    gives(s, c, ACK, 11, giaddr="10.0.0.77")
    lease(s, b, c, 2)
    asks(s, a, REQUEST, 12, 1)
    asks(s, c, REQUEST, 12, 4)
    gives(s, c, ACK, 12)
    return s, []


@case
def address_whose_release_may_be_lost():
    """A gap in the PSNs of the first client."""
    s, a, b, c = link()
    lease(s, a, c, 1)
    asks(s, a, RELEASE, 1, 1, ciaddr=ADDRESS)
    del s.records[-1]
    s.ping(a, c)
    lease(s, b, c, 2)
    return s, []


# ---- servers of different networks


def offers(s, server, xid, address, mask=24, own=None, kind=OFFER, giaddr="0.0.0.0"):
    """With the subnet mask and the server's identifier (RFC 2132 sections 3.3, 9.7)."""
    options = bytes((54, 4)) + ib.ip4(own or server.ip)
    if mask:
        options += bytes((1, 4)) + ib.u32((1 << 32) - (1 << 32 - mask))
    down = message(2, kind, xid, None, yiaddr=address, giaddr=giaddr, options=options)
    s.ud(server, s.broadcast(), dhcp_datagram(server.ip, "255.255.255.255", (67, 68), down))


@case
def servers_of_different_networks():
    """Each time that a client asks; a tap has the offers twice. The capture begins late."""
    s, a, b, c = link()
    del s.records[:]
    rogue = c.also(ip="192.168.122.1")
    for n in range(2):
        asks(s, a, DISCOVER, 7 + n, 1)
        offers(s, rogue, 7 + n, "192.168.122.55")
        copy_last(s)
        offers(s, b, 7 + n, "10.0.0.9")
        copy_last(s)
        s.wait(5)
    texts = ["LID 1", "IP 192.168.122.55/24 by the server IP 192.168.122.1", c.gid, "(frame 2)"]
    return s, [("dhcp_differs", 4, 2, texts + ["IP 10.0.0.9/24 by the server IP 10.0.0.2", b.gid])]


@case
def servers_of_one_network():
    """Two servers, with masks of different lengths; one with two networks; a boot server (PXE), which
    offers no address; without a mask; a relay that hands an offer on; other requests."""
    s, a, b, c = link()
    for xid, one, other in (
        (1, (b, 1, "10.0.0.9"), (c, 1, "10.0.0.77")),
        (2, (b, 2, "10.0.0.9", 24), (c, 2, "10.0.9.77", 16)),
        (3, (b, 3, "10.0.0.9"), (b, 3, "192.168.1.9")),
        (4, (b, 4, "10.0.0.9"), (c, 4, "0.0.0.0")),
        (5, (b, 5, "10.0.0.9"), (c, 5, "192.168.1.9", 0)),
        (6, (b, 6, "192.168.1.9", 24, "10.1.1.1"), (c, 6, "10.0.0.9", 24, "10.1.1.1")),
        (7, (b, 7, "10.0.0.9"), (c, 8, "192.168.1.9")),
    ):
        asks(s, a, DISCOVER, xid, 1)
        offers(s, *one)
        offers(s, *other)
        s.wait(1)
    asks(s, a, DISCOVER, 9, 1)
    offers(s, b, 9, "10.0.0.9")
    offers(s, c, 9, "192.168.1.9", kind=ACK)
    return s, []


# ---- replies to pings


def echo4(s, a, b, reply, ttl=64, seq=11, size=56, change=None, **options):
    body = bytearray(ib.icmp_echo(0x4242, seq, ib.fill(size), reply))
    if change:
        body[change] ^= 0x40
        body[2:4] = b"\0\0"
        body[2:4] = ib.u16(ib.inet_checksum(bytes(body)))
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, 1, bytes(body), ttl=ttl)), **options)


def echo6(s, a, b, kind, change=0, size=8):
    body = ib.u8(kind) + bytes(3) + ib.u16(7) + ib.u16(1) + ib.fill(size - 1) + ib.u8(change)
    s.icmp6(a, b, b.ll, body)


@case
def ping_with_two_replies():
    """By one port, and by another one that uses the address."""
    s, a, b, c = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    echo4(s, b, a, True)
    first = number(s)
    echo4(s, b, a, True)
    second = number(s)
    s.wait(1)
    echo4(s, a, b, False, seq=12)
    echo4(s, b, a, True, seq=12)
    echo4(s, c.also(ip=b.ip), a, True, seq=12, ttl=128)
    texts = [b.gid, "ping of IP 10.0.0.1", "another is in frame %d)" % first]
    return s, [("echo_wrong_answer", second, 2, texts)]


@case
def ping_that_another_port_answers_too():
    s, a, b, c = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    echo4(s, b, a, True)
    echo4(s, c.also(ip=b.ip), a, True)
    return s, [("echo_wrong_answer", number(s), 1, ["LID 3", "from LID 2"])]


@case
def pings_with_one_reply_each():
    """A tap's copy; the reply through a router, with a smaller TTL; requests of one number, of which the
    second was not captured, each second; and of which the third was not, five a second."""
    s, a, b, c = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    echo4(s, b, a, True)
    copy_last(s)
    echo4(s, a, b, False, seq=12)
    echo4(s, b, a, True, seq=12)
    echo4(s, c.also(ip=b.ip), a, True, ttl=63, seq=12)
    for seq, lost, seconds in ((13, 1, 1), (14, 2, 0.2)):
        for n in range(3):
            echo4(s, a, b, False, seq=seq)
            if n == lost:
                del s.records[-1]
            echo4(s, b, a, True, seq=seq)
            s.wait(seconds)
    return s, []


@case
def replies_with_other_data():
    s, a, b, c = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    echo4(s, b, a, True, change=40)
    first = number(s)
    echo4(s, a, b, False, seq=12)
    echo4(s, b, a, True, seq=12, size=48)
    echo6(s, c, a, 128)
    echo6(s, a, c, 129, change=7)
    return s, [
        ("echo_wrong_answer", first, 1, [b.gid, "other data", "in frame %d" % (first - 1)]),
        ("echo_wrong_answer", first + 2, 1, ["has 56 bytes of ICMP", "has 64"]),
        ("echo_wrong_answer", number(s), 1, [a.gid, "other data"]),
    ]


@case
def reply_that_was_changed_after_its_checksum():
    """One fault, one event."""
    s, a, b, _ = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    body = bytearray(ib.icmp_echo(0x4242, 11, ib.fill(56), True))
    body[2] ^= 0x40
    s.ud(b, a, encap(0x0800, ib.ipv4(b.ip, a.ip, 1, bytes(body))))
    return s, [("wrong_checksum", number(s), 1, [b.gid, "ICMP"])]


@case
def replies_with_the_same_data():
    """ICMP and ICMPv6, truncated by the capture, with an IPv4 option, of another code (which a reply need
    not have), of a number that two requests of different sizes have; and a reply in fragments."""
    s, a, b, _ = link()
    s.meet(a, b)
    echo4(s, a, b, False)
    echo4(s, b, a, True)
    time, octets, size = s.records[-1]
    s.records[-1] = time, octets[:70], size
    echo6(s, a, b, 128)
    echo6(s, b, a, 129)
    for size in (56, 80):
        echo4(s, a, b, False, seq=12, size=size)
    for size in (56, 80):
        echo4(s, b, a, True, seq=12, size=size)
    request = bytearray(ib.icmp_echo(0x4242, 13, ib.fill(56), False))
    request[1:4] = bytes(3)
    request[1] = 9
    request[2:4] = ib.u16(ib.inet_checksum(bytes(request)))
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, 1, bytes(request))))
    echo4(s, b, a, True, seq=13)
    echo4(s, a, b, False, seq=14, size=1400)
    whole = ib.icmp_echo(0x4242, 14, ib.fill(1400), True)
    s.ud(b, a, encap(0x0800, ib.ipv4(b.ip, a.ip, 1, whole[:800], flags=1)))
    return s, []


# ---- errors of ICMP


@case
def destinations_without_a_way():
    """A router has no route (3, 0; ICMPv6 1, 0), and a firewall forbids (3, 13)."""
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    for _ in range(2):
        icmp_error(s, a, b, 3, 0, ib.ipv4(b.ip, "10.9.9.9", 17, bytes(8)))
    icmp_error(s, a, b, 3, 13, ib.ipv4(b.ip, "10.9.9.9", 17, bytes(8)))
    icmp6_error(s, a, b, 1, 0, ib.ipv6(b.ll, "2001:db8::1", 17, bytes(8)))
    return s, [
        ("ip_unreachable", before + 1, 2, [a.gid, "10.9.9.9 cannot be", "network unreachable"]),
        ("ip_unreachable", before + 3, 1, ["communication administratively prohibited (ICMP)"]),
        ("ip_unreachable", before + 4, 1, ["2001:db8::1", "no route (ICMPv6)"]),
    ]


def through(s, a, b, ttl, ident, size=40):
    """b forwards a datagram. Returns what it reports of it when the TTL has ended."""
    body = ib.udp(a.ip, "10.9.9.9", 5000, 5001, ib.fill(size))
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, "10.9.9.9", 17, body, ttl=ttl, ident=ident)))
    return ib.ipv4(a.ip, "10.9.9.9", 17, body, ttl=1, ident=ident)


def time_exceeded(s, b, a, about, kept=576):
    body = bytes((11, 0)) + bytes(6) + about[:kept]
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    s.ud(b, a, encap(0x0800, ib.ipv4(b.ip, a.ip, 1, body)))


@case
def datagram_that_goes_round_elsewhere():
    s, a, b, _ = link()
    s.meet(a, b)
    for ident in (1, 2):
        time_exceeded(s, b, a, through(s, a, b, 64, ident))
    texts = [b.gid, a.ip, "10.9.9.9", "TTL of 64", "time exceeded"]
    return s, [("routing_loop", number(s) - 2, 2, texts)]


@case
def errors_that_are_no_loop():
    """Programs that trace a route, an error about a datagram that did not come by, one that has too
    little of it, and errors of the destination itself: no such port (3, 3; 1, 4)."""
    s, a, b, _ = link()
    s.meet(a, b)
    for ttl in (1, 2, 30):
        time_exceeded(s, b, a, through(s, a, b, ttl, ttl))
    about = through(s, a, b, 64, 77)
    del s.records[-1]
    time_exceeded(s, b, a, about)
    time_exceeded(s, b, a, through(s, a, b, 64, 78), kept=28)
    icmp_error(s, b, a, 3, 3, ib.ipv4(a.ip, b.ip, 17, bytes(8)))
    icmp6_error(s, b, a, 1, 4, ib.ipv6(a.ll, b.ll, 17, bytes(8)))
    goes_on(s)
    return s, []


def router_advertisement(s, b, hop):
    s.icmp6(b, s.group6("ff02::1"), "ff02::1", ib.nd_ra(hop=hop))


def through6(s, a, b, hop, n):
    """An echo request to another link, by the router b, which reports that it has ended."""
    body = ib.u8(128) + bytes(3) + ib.u16(7) + ib.u16(n) + ib.fill(40)
    datagram = bytearray(ib.icmpv6(a.ll, "2001:db8:9::1", body))
    datagram[7] = hop
    s.ud(a, b, encap(0x86DD, bytes(datagram)))
    icmp6_error(s, b, a, 3, 0, bytes(datagram))


@case
def datagrams_that_are_sent_with_a_ttl_of_1():
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    for ident in range(10):
        time_exceeded(s, b, a, through(s, a, b, 1, ident))
    texts = [b.gid, "to IP 10.0.0.1", "10.9.9.9 has ended", "8 since frame %d" % (before + 2)]
    return s, [("ip_unreachable", before + 16, 3, texts)]


@case
def hop_limit_of_1_that_a_router_advertises():
    s, a, b, _ = link()
    s.meet(a, b)
    router_advertisement(s, b, 1)
    advertised = number(s)
    for n in range(9):
        through6(s, a, b, 1, n)
    texts = ["2001:db8:9::1 has ended", "as this router advertises it in frame %d" % advertised]
    return s, [("ip_unreachable", advertised + 16, 2, texts)]


@case
def routes_that_are_traced_again_and_again():
    """Each time to a TTL of 3; what other routers report is not captured. A router that advertises 64
    after 1 is not the cause of a host's own default."""
    s, a, b, _ = link()
    s.meet(a, b)
    for n in range(10):
        time_exceeded(s, b, a, through(s, a, b, 1, 3 * n))
        for ttl in (2, 3):
            through(s, a, b, ttl, 3 * n + ttl)
    router_advertisement(s, b, 1)
    router_advertisement(s, b, 64)
    goes_on(s)
    return s, []


# ---- IP headers that do not fit their packet


def longer(datagram, more=20):
    """The datagram of IPv4 with a length that its message does not have, and a right checksum."""
    header = bytearray(datagram[4:24])
    header[2:4] = ib.u16(len(datagram) - 4 + more)
    header[10:12] = bytes(2)
    header[10:12] = ib.u16(ib.inet_checksum(bytes(header)))
    return datagram[:4] + bytes(header) + datagram[24:]


def longer6(datagram, more=20):
    return datagram[:8] + ib.u16(len(datagram) - 44 + more) + datagram[10:]


@case
def ip_that_is_longer_than_its_message():
    s, a, b, _ = link()
    s.meet(a, b)
    s.resolve6(a, b)
    s.ud(a, b, longer(udp4(a, b.ip, bytes(40))))
    first = number(s)
    s.ud(b, a, longer6(udp6(b, a.ll, bytes(40))))
    texts = ["88 bytes of IP", "68 bytes are there"], ["104 bytes of IP", "84 bytes are there"]
    return s, [("invalid_header", first + n, 1, texts[n]) for n in (0, 1)]


@case
def ip_that_is_longer_than_its_message_on_a_connection():
    s, a, b, _ = link()
    s.meet(a, b)
    connection = Link(s, a, b)
    connection.set_up()
    for psn in (0x100, 0x101):
        connection.packet(True, ONLY, udp4(a, b.ip, bytes(40)), psn)
    connection.packet(True, ONLY, longer(udp4(a, b.ip, bytes(40))), 0x102)
    return s, [("invalid_header", number(s), 1, ["88 bytes of IP", "68 bytes are there"])]


@case
def ip_that_is_cut_within_its_header():
    s, a, b, _ = link()
    s.meet(a, b)
    s.ud(a, b, udp4(a, b.ip)[:16])
    first = number(s)
    s.ud(b, a, udp6(b, a.ll)[:28])
    texts = ["20 bytes of IP header", "12 bytes"], ["40 bytes of IP header", "24 bytes"]
    return s, [("invalid_header", first + n, 1, texts[n]) for n in (0, 1)]


@case
def ip_that_is_shorter_than_its_message():
    """Bytes after the datagram, as a padded one has."""
    s, a, b, _ = link()
    s.meet(a, b)
    s.ud(a, b, udp4(a, b.ip) + bytes(6))
    return s, []


@case
def first_packet_of_a_long_message():
    s, a, b, _ = link()
    s.meet(a, b)
    connection = Link(s, a, b)
    connection.set_up()
    connection.send(True, udp4(a, b.ip, bytes(3000)))
    return s, []


@case
def ip_multicast_to_one_port():
    s, a, b, _ = link()
    s.meet(a, b)
    s.ud(a, b, udp4(a, "239.1.2.3"))
    first = number(s)
    s.ud(b, a, udp6(b, "ff0e::1:2"), grh=True)
    texts = [a.gid, "LID 2", "IP 239.1.2.3"], [b.gid, a.gid, "IP ff0e::1:2"]
    return s, [("invalid_header", first + n, 1, texts[n]) for n in (0, 1)]


@case
def ip_of_one_host_to_a_group():
    s, a, b, _ = link()
    group = s.join(a, s.group4("239.1.2.3"))
    group6 = s.join(a, s.group6("ff0e::1:2"))
    s.ud(a, group, udp4(a, "10.0.9.9"))
    first = number(s)
    s.ud(a, group6, udp6(a, b.ll))
    texts = [group, "IP 10.0.9.9"], [group6, "IP " + b.ll]
    return s, [("invalid_header", first + n, 1, texts[n]) for n in (0, 1)]


@case
def ip_to_the_right_group_and_to_all():
    """A directed broadcast goes to the broadcast group; its form depends on the sender's prefix."""
    s, a, b, _ = link()
    s.to_group4(a, "239.1.2.3", s.join(a, s.group4("239.1.2.3")))
    s.ud(a, s.broadcast(), udp4(a, "10.0.0.255"))
    s.ud(b, s.broadcast(), udp4(b, "255.255.255.255"))
    s.ud(a, s.group6("ff02::1"), udp6(a, "ff02::1"))
    return s, []


@case
def ip_from_an_address_of_many():
    s, a, b, _ = link()
    s.meet(a, b)
    s.ud(a, b, udp4(a.also(ip="239.1.2.3"), b.ip))
    first = number(s)
    s.ud(b, a, udp4(b.also(ip="255.255.255.255"), a.ip))
    texts = ["source IP 239.1.2.3"], ["source IP 255.255.255.255"]
    return s, [("invalid_header", first + n, 1, texts[n]) for n in (0, 1)]


@case
def arp_reply_to_another_port():
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.path(b, a)
    s.ud(b, a, arp(2, b, a), dlid=c.lid)
    texts = [b.gid, "LID 3", "for port " + a.gid, "has the LID 1"]
    return s, [("invalid_header", number(s), 1, texts)]


@case
def arp_reply_to_another_lid_of_the_port():
    """The port has an LMC; no port is known at the LID. And a reply to another subnet, with a GRH."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.ud(b, a, arp(2, b, a), dlid=0x21)
    s.ud(b, a, arp(2, b, a), dlid=c.lid, grh=True)
    return s, []

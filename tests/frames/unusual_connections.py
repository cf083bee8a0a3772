# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual connected mode (RFC 4755) and communication management (IBA chapter 12), all of it
allowed."""
from frames import ib
from frames.connection import MTU, Link
from frames.fabric import RC_FLAG, UC_FLAG, mad_frame
from frames.ib import FIRST, LAST, MIDDLE, ONLY, RC, Frame, encap
from frames.subnet import FromStart
from frames.unusual import link, on
from frames.unusual_management import managed

# IBA 12.6.7.2
NO_RESOURCES, TIMEOUT, INVALID_SERVICE_ID, STALE, CONSUMER = 3, 4, 8, 10, 28


def pair(flags=RC_FLAG, **options):
    """Two hosts that have resolved each other, whose addresses have these flags."""
    s, *hosts = link(1, 2, 3, **options)
    a, b, c = (h.also(flags=flags) for h in hosts)
    s.resolve(a, b)
    return s, a, b, c


@on(pair)
def connection(s, a, b, _unused):
    c = Link(s, a, b).open()
    c.ping()
    c.ping(2, 8000)
    c.close()


@on(pair, UC_FLAG)
def unreliable_connection(s, a, b, _unused):
    """RFC 4755 section 3.1: the UC flag; no acknowledgements."""
    c = Link(s, a, b, transport=1).open()
    c.ping()
    c.ping(2, 5000)


@on(pair, RC_FLAG | UC_FLAG)
def both_flags(s, a, b, _unused):
    Link(s, a, b).open().ping()
    Link(s, a, b, 2, transport=1).open().ping()


@on(managed, 1, 2, 3, subnet=FromStart)
def peers_have_the_address_before_a_restart(s, *hosts):
    """b's interface is restarted and gets another QPN. Until it asks again, c has the old address in
    its cache (RFC 4391 section 9.4), and sends a datagram and a REQ there."""
    a, b, c = (h.also(flags=RC_FLAG) for h in hosts)
    for peer in (a, c):
        s.resolve(peer, b)
    s.leave(b, s.broadcast())
    s.wait(1)
    new = b.also(qpn=0x800)
    s.join(new, s.broadcast())
    s.resolve(new, a)
    s.wait(10)
    s.ud(c, b, encap(0x0800, ib.ping4(c.ip, b.ip)))
    s.path(new, a)
    link_to_old = Link(s, c, b)
    link_to_old.ask()
    s.wait(1)
    link_to_old.b = new
    link_to_old.rej(INVALID_SERVICE_ID, link_to_old.private(False))
    s.wait(1)
    s.resolve(c, new)
    s.ping(c, new)


@on(managed, 1, 2, subnet=FromStart)
def two_interfaces_of_a_port_connect(s, *hosts):
    """A second interface of b's port, with the same P_Key and a join of its own."""
    a, b = (h.also(flags=RC_FLAG) for h in hosts)
    second = b.also(qpn=0x800, ip="10.0.0.22")
    s.join(second, s.broadcast())
    s.resolve(a, second)
    s.meet(b, a)
    s.wait(1)
    Link(s, second, a).open().ping()
    s.wait(1)
    s.path(b, a)


@on(pair)
def several_peers(s, a, b, c):
    """One UD QP, a connection to each peer."""
    s.resolve(a, c)
    s.resolve(b, c)
    for number, (one, two) in enumerate(((a, b), (a, c), (c, b)), 1):
        Link(s, one, two, number).open().ping()


@on(pair)
def two_connections_of_a_pair(s, a, b, _unused):
    """Section 3.2: a node may attempt further connections with the same Service-ID."""
    one, two = Link(s, a, b, 1).open(), Link(s, a, b, 2).open()
    one.ping()
    two.ping(2)


@on(pair)
def message_receipt_acknowledged(s, a, b, _unused):
    """An MRA gives the responder time."""
    c = Link(s, a, b)
    c.ask()
    c.mra(c.private(False))
    s.wait(2)
    c.rep(c.private(False))
    c.rtu(c.private(True))
    c.ping()


@on(pair)
def request_is_repeated(s, a, b, _unused):
    """IBA 12.10.8: the REQ, the REP and the RTU are sent twice, with the same IDs and contents."""
    c = Link(s, a, b)
    for step in (c.ask, lambda: c.rep(c.private(False)), lambda: c.rtu(c.private(True))):
        step()
        s.wait(0.5)
        step()
    c.ping()


@on(pair)
def rep_is_repeated_after_data(s, a, b, _unused):
    """IBA 12.9.8: the RTU is lost on its way, so the REP is sent again; the requester has begun to
    send, and repeats its RTU."""
    c = Link(s, a, b)
    c.ask()
    c.rep(c.private(False))
    s.wait(0.1)
    c.send(True, encap(0x0800, ib.ping4(a.ip, b.ip)))
    s.wait(0.5)
    c.rep(c.private(False))
    c.rtu(c.private(True))
    c.ping(2)


@on(pair)
def request_is_refused_and_tried_again(s, a, b, _unused):
    """No resources; a second later another REQ, with other IDs, is accepted."""
    c = Link(s, a, b)
    c.ask()
    c.rej(NO_RESOURCES, c.private(False))
    s.wait(1)
    Link(s, a, b, 2).open().ping()


@on(pair)
def refused_for_good(s, a, b, _unused):
    """The datagrams go over UD."""
    c = Link(s, a, b)
    c.ask()
    c.rej(CONSUMER, c.private(False))
    s.ping(a, b)


@on(pair)
def stale_connection(s, a, b, _unused):
    """The peer was restarted without state: it rejects a REQ that reuses IDs with 'stale
    connection'."""
    c = Link(s, a, b).open()
    c.ping()
    s.wait(60)
    again = Link(s, a, b)
    again.tid += 0x100
    again.ask()
    again.rej(STALE, again.private(False))
    s.wait(1)
    Link(s, a, b, 3).open().ping(2)


@on(pair)
def requester_gives_up(s, a, b, _unused):
    """No REP arrives in time: the requester sends REJ, reason timeout."""
    c = Link(s, a, b)
    c.ask()
    s.wait(10)
    c.mad(True, ib.cm_rej(c.tid, c.ids[0], 0, TIMEOUT, pdata=c.private(True)))
    s.ping(a, b)


@on(pair)
def connection_requests_cross(s, a, b, _unused):
    """RFC 4755 section 3.3: the host with the smaller address (flags 0, QPN 0x101) accepts, the
    other rejects."""
    one, two = Link(s, a, b, 1), Link(s, b, a, 2)
    one.ask()
    two.ask()
    one.rej(CONSUMER, one.private(False))
    two.rep(two.private(False))
    two.rtu(two.private(True))
    two.ping()


@on(pair)
def alternate_path(s, a, b, _unused):
    """LAP and APR: automatic path migration."""
    c = Link(s, a, b).open()
    c.ping()
    c.mad(True, ib.cm_lap(0x9001, *c.ids, c.qps[1], a.lid, b.lid, a.gid, b.gid, c.private(True)))
    c.mad(False, ib.cm_apr(0x9001, c.ids[1], c.ids[0], 0, c.private(False)))
    c.ping(2)


@on(pair)
def both_disconnect(s, a, b, _unused):
    """The DREQs cross; each gets its response."""
    c = Link(s, a, b).open()
    c.ping()
    c.dreq(c.private(True))
    c.mad(False, ib.cm_dreq(c.tid + 2, c.ids[1], c.ids[0], c.qps[0], c.private(False)))
    c.drep(c.private(False))
    c.mad(True, ib.cm_drep(c.tid + 2, *c.ids, c.private(True)))


@on(pair)
def disconnect_is_repeated(s, a, b, _unused):
    c = Link(s, a, b).open()
    c.ping()
    for _ in range(3):
        c.dreq(c.private(True))
        s.wait(1)
    c.drep(c.private(False))


@on(pair)
def ids_and_queue_pairs_are_reused(s, a, b, _unused):
    """After the end of a connection and its time-wait, the next one has the same IDs and QPNs."""
    for n in range(3):
        c = Link(s, a, b, psns=(0x100 * n, 0x7000 + n))
        c.tid += 0x20 * n
        c.open().ping(n)
        c.close()
        s.wait(30)


@on(pair)
def receive_mtus_differ(s, a, b, _unused):
    """Section 5.1: the smaller Receive MTU counts, minus 4 octets for the IP datagram: 4092."""
    c = Link(s, a, b)
    c.mtus = [MTU, 4096]
    c.open().ping(1, 4092 - 28)


@on(pair)
def largest_datagram(s, a, b, _unused):
    """An IP datagram of 65520 octets, in packets of 2048."""
    c = Link(s, a, b).open()
    c.ping(1, 65520 - 28)


@on(pair)
def retransmission(s, a, b, _unused):
    """A packet is lost before the receiver, which sends a NAK; the sender goes back (go-back-N)."""
    c = Link(s, a, b, psns=(100, 200)).open()
    message = encap(0x0800, ib.ping4(a.ip, b.ip, size=6000))
    parts = [message[:2048], message[2048:4096], message[4096:]]
    ops = (FIRST, MIDDLE, LAST)
    for n in (0, 1, 2):
        c.packet(True, ops[n], parts[n], 100 + n)
    c.ack(True, 101, 0x60)
    for n in (1, 2):
        c.packet(True, ops[n], parts[n], 100 + n)
    c.ack(True, 102)


@on(pair)
def receiver_not_ready(s, a, b, _unused):
    c = Link(s, a, b, psns=(100, 200)).open()
    message = encap(0x0800, ib.ping4(a.ip, b.ip))
    for syndrome in (0x20, 0x21, 0x1F):
        c.packet(True, ONLY, message, 100)
        c.ack(True, 100, syndrome)


@on(pair)
def data_before_the_rtu(s, a, b, _unused):
    """IBA 12.9.8.2: the first packet of the requester shows that the connection is set up; its RTU
    follows."""
    c = Link(s, a, b)
    c.ask()
    c.rep(c.private(False))
    c.send(True, encap(0x0800, ib.ping4(a.ip, b.ip)))
    c.rtu(c.private(True))
    c.ping(2)


@on(pair)
def datagrams_beside_a_connection(s, a, b, _unused):
    """Section 7: a packet may be sent over any mode; multicast and ARP stay on the UD QP."""
    c = Link(s, a, b).open()
    c.ping()
    s.ping(a, b, seq=2)
    s.join(a, s.group4("239.1.1.1"))
    s.to_group4(a, "239.1.1.1")
    s.arp_request(a, b.ip, dst=b, tha=b.addr)
    s.arp_reply(b, a)
    c.ping(3)


@on(pair)
def peer_that_does_not_connect(s, a, b, _unused):
    """Both have the RC flag and use datagrams only (section 3.1)."""
    s.ping(a, b)


@on(pair)
def peer_without_connected_mode(s, a, b, _unused):
    """One address has the RC flag, the other none."""
    plain = b.also(flags=0)
    s.resolve(a, plain)
    s.ping(a, plain)


@on(pair)
def ipv6_over_a_connection(s, a, b, _unused):
    """ND is resolved over UD, the echo goes over the connection."""
    s.resolve6(a, b)
    c = Link(s, a, b).open()
    body = ib.u8(128) + bytes(7) + ib.fill(100)
    c.send(True, encap(0x86DD, ib.icmpv6(a.ll, b.ll, body)))


@on(pair)
def other_protocols_beside(s, a, b, c):
    """An RDMA CM and an SDP connection between the same ports, with IDs that IPoIB's connections
    had on other hosts."""
    Link(s, a, b).open().ping()
    for number, service in (
        (5, 0x0000000001061234),
        (6, 0x0000000000010D3D),
        (7, 0x0002C90300001896),
        (8, int.from_bytes(ib.service_id_rfc(c.qpn).to_bytes(8, "big"), "little")),
    ):
        other = Link(s, a, c, number)
        other.set_up(service, b"", b"")
        other.send(True, ib.fill(300, number))
        other.packet(True, ib.WRITE_ONLY, ib.fill(64), 9, ext=ib.reth(0x1000, 7, 64))
        other.dreq()
        other.drep()


@on(pair)
def connection_whose_set_up_was_not_captured(s, a, b, _unused):
    """The protocol of these queue pairs is unknown."""
    c = Link(s, a, b)
    c.send(True, encap(0x0800, ib.ping4(a.ip, b.ip)))
    c.send(False, ib.fill(99))
    s.ping(a, b)


@on(pair)
def sidr_of_another_service(s, a, b, _unused):
    s.put(mad_frame(a, b, ib.cm_sidr_req(0x61, 0x1001, 0x0000000001061234), s.next_psn(a.lid, 1)))
    s.put(
        mad_frame(
            b,
            a,
            ib.cm_sidr_rep(0x61, 0x1001, 0x0000000001061234, 0, 0, status=1),
            s.next_psn(b.lid, 1),
        )
    )
    s.ping(a, b)


@on(pair)
def interface_is_closed(s, a, b, c):
    """Section 3.4: the connections are torn down, then the interface leaves the broadcast group."""
    s.resolve(a, c)
    one, two = Link(s, a, b, 1).open(), Link(s, a, c, 2).open()
    one.ping()
    two.ping()
    one.close()
    two.close()
    s.leave(a, s.broadcast())


@on(managed, 1, 2, subnet=FromStart)
def connection_stays_while_groups_are_joined_again(s, *hosts):
    """If the SM changes, Linux leaves all its groups and joins them again. The interface is not torn
    down, and neither are its connections (section 3.4)."""
    a, b = (h.also(flags=RC_FLAG) for h in hosts)
    s.resolve(a, b)
    c = Link(s, a, b).open()
    c.ping()
    s.wait(1)
    s.leave(a, s.broadcast())
    s.join(a, s.broadcast())
    s.wait(12)
    c.ping(2)
    c.close()


@on(link, 1, 2, pkey=32772)
def connection_in_a_child_partition(s, *hosts):
    a, b = (h.also(flags=RC_FLAG) for h in hosts)
    s.resolve(a, b)
    c = Link(s, a, b)
    # the P_Key of the REQ and of the packets is the partition's
    c.mad(
        True,
        ib.cm_req(
            c.tid,
            c.ids[0],
            ib.service_id_rfc(b.qpn),
            a.guid,
            c.qps[0],
            5,
            a.lid,
            b.lid,
            a.gid,
            b.gid,
            c.private(True),
            pkey=0x8004,
        ),
    )
    c.rep(c.private(False))
    c.rtu(c.private(True))
    message = encap(0x0800, ib.ping4(a.ip, b.ip))
    s.put(Frame(RC | ONLY, message, dlid=b.lid, slid=a.lid, destqp=c.qps[1], psn=5, pkey=0x8004))


@on(pair)
def ethernet_frames_in_several_packets(s, a, b, _unused):
    """Type 0x6558 (RFC 1701): its first byte is that of an IPv6 header, but Ethernet follows."""
    c = Link(s, a, b).open()
    ethernet = bytes.fromhex("0200c9030001") + bytes.fromhex("0200c9030002") + b"\x08\x00"
    c.send(True, encap(0x6558, ethernet + ib.ping4(a.ip, b.ip, size=1400) + bytes(2000)))
    c.ack(True, c.psns[0] - 1)


@on(pair)
def other_protocol_has_the_queue_pairs_of_an_ended_connection(s, a, b, _unused):
    """IBA 12.9.8: after the TimeWait, any connection may have them."""
    first = Link(s, a, b).open()
    first.ping()
    first.close()
    s.wait(60)
    second = Link(s, a, b, 2)
    second.qps = first.qps
    second.req(0x123456789ABCDEF0)
    second.rep()
    second.rtu()
    for up in (True, False, True):
        second.send(up, b"\xde\xad\xbe\xef" + bytes(range(60)))
    second.dreq()
    second.drep()
    s.path(a, b)
    s.path(b, a)

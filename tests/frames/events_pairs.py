# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of two hosts that do not reach each other, or only now and then, each with
harmless look-alikes. A case returns its tape and the events that it must raise: (event, frame, count,
texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import NO_RECORDS, copy_last, goes_on, link, number
from frames.ib import ONLY
from frames.messages import ping, udp4
from frames.subnet import Host, Subnet

CASES = []
LIMITED = 0x7FFF


def case(build):
    CASES.append(build)
    return build


# ---- connections that open and close again and again


def disconnect(c, by_requester=True, times=1, seconds=0.0):
    """DREQs of one end, and the other end's DREP."""
    own, other = (0, 1) if by_requester else (1, 0)
    for n in range(times):
        c.t.wait(seconds if n else 0)
        c.mad(by_requester, ib.cm_dreq(c.tid + 1, c.ids[own], c.ids[other], c.qps[other]))
    c.mad(not by_requester, ib.cm_drep(c.tid + 1, c.ids[other], c.ids[own]))


def rounds(s, a, b, n, life=0.3, pause=0.5, by_requester=True):
    """Connections of a to b, one after the other: five frames each."""
    for i in range(n):
        c = Link(s, a, b, number=i + 1).open()
        s.wait(life)
        disconnect(c, by_requester)
        s.wait(pause)


@case
def connections_that_the_responder_closes():
    """REQ, REP, RTU, DREQ, DREP: the DREQ of the third connection shows it."""
    s, a, b, _ = link()
    before = number(s)
    rounds(s, a, b, 6, by_requester=False)
    texts = [a.gid, b.gid, "3 times in 1.9 s since frame %d" % (before + 1), "the other end closes"]
    return s, [("connection_loop", before + 14, 4, texts)]


@case
def connections_that_the_requester_closes():
    s, a, b, _ = link()
    before = number(s)
    rounds(s, a, b, 3, life=3, pause=8)
    return s, [("connection_loop", before + 14, 1, ["3 times in 25.0 s", "it closes them itself"])]


@case
def connections_that_both_ends_close():
    s, a, b, _ = link()
    before = number(s)
    for n in range(3):
        c = Link(s, a, b, number=n + 1).open()
        s.wait(1)
        disconnect(c, by_requester=n % 2 == 0)
    return s, [("connection_loop", before + 14, 1, ["now the one end, now the other"])]


@case
def connections_whose_last_messages_are_lost():
    """Of each, only the DREP is captured."""
    s, a, b, _ = link()
    before = number(s)
    for n in range(3):
        c = Link(s, a, b, number=n + 1).open()
        s.wait(1)
        c.mad(False, ib.cm_drep(c.tid + 1, c.ids[1], c.ids[0]))
    return s, [("connection_loop", before + 12, 1, ["it closes them itself"])]


@case
def connections_of_both_directions():
    """RFC 4755 section 3: each host opens one of its own to send. Both are closed and opened once
    more, as after a restart of an interface."""
    s, a, b, _ = link()
    for n in (1, 3):
        there = Link(s, a, b, number=n).open()
        back = Link(s, b, a, number=n + 1).open()
        s.wait(1)
        disconnect(there)
        disconnect(back)
    return s, []


@case
def messages_of_one_connection_that_are_sent_again():
    """Three REQs and four DREQs are one connection. A tap has the last message twice."""
    s, a, b, _ = link()
    c = Link(s, a, b)
    c.ask()
    for _ in range(2):
        s.wait(4)
        c.ask()
    c.rep(c.private(False))
    c.rtu(c.private(True))
    disconnect(c, times=4, seconds=1)
    copy_last(s)
    return s, []


@case
def connections_that_live_for_a_minute():
    """The next one follows at once: new queue pairs for old ones."""
    s, a, b, _ = link()
    rounds(s, a, b, 5, life=60)
    return s, []


@case
def connections_that_are_used_now_and_then():
    """Each is closed soon, and the next one is opened when there is something to send."""
    s, a, b, _ = link()
    rounds(s, a, b, 5, pause=90)
    return s, []


@case
def connections_of_an_interface_that_is_restarted():
    """RFC 4755 section 3.4: an interface that goes down ends its connections."""
    s, a, b, _ = link()
    for n in range(4):
        c = Link(s, a, b, number=n + 1).open()
        s.leave(a, s.broadcast())
        s.wait(1)
        disconnect(c)
        s.join(a, s.broadcast())
    return s, []


@case
def connections_that_are_opened_one_beside_the_other():
    """The next one is there before the one before it is closed."""
    s, a, b, _ = link()
    before = Link(s, a, b, number=1).open()
    for n in range(2, 7):
        after = Link(s, a, b, number=n).open()
        s.wait(1)
        disconnect(before)
        before = after
    return s, []


# ---- packets to the LID that a port had before


def with_another_lid(s, c):
    """The connection's responder has the LID 20 now; the capture shows it by a datagram."""
    new = c.b.also(lid=20)
    s.wait(2)
    s.arp_request(new, "10.0.0.3")
    moved = ("moved", number(s), 1, ["LID 20", "LID 2"])
    s.wait(2)
    s.ping(Host(3), new)
    return moved


@case
def packets_sent_again_to_an_old_lid():
    """The first of them was acknowledged by nobody."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    moved = with_another_lid(s, c)
    first = number(s) + 1
    for _ in range(3):
        s.wait(0.5)
        c.packet(True, ONLY, udp4(c.a, c.b.ip), c.psns[0])
    return s, [
        moved,
        ("stale_path", first, 1, [a.gid, b.gid]),
        ("retransmission", first + 1, 2, ["to GID %s, LID 2 again" % b.gid]),
    ]


def reordered(lost):
    """The receiver gets the PSNs 0, 2, 1, 3 of four packets, and asks for the second. LOST: it is lost
    after the capture point, in order."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    first = c.psns[0]
    for n in (0, 1, 2, 3) if lost else (0, 2, 1, 3):
        c.packet(True, ONLY, udp4(a, b.ip), first + n)
        if n == 2:
            c.ack(True, first + 1, 0x60)
            nak = number(s)
    before = number(s)
    for n in (1, 2, 3):
        c.packet(True, ONLY, udp4(a, b.ip), first + n)
    c.ack(True, first + 3)
    return s, before, nak


@case
def packet_of_a_connection_that_comes_late():
    """The first of those that are sent again looks like a copy of the late one."""
    s, before, nak = reordered(False)
    texts = ["because a packet came late", "is in frame %d" % (nak + 1)]
    return s, [("retransmission", before + 2, 1, texts)]


@case
def packet_of_a_connection_that_is_lost():
    s, before, _ = reordered(True)
    return s, [("retransmission", before + 1, 2, ["because a packet was lost, or came late"])]


@case
def disconnect_requests_to_an_old_lid():
    """Three DREQs to the LID 2, without an answer."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    moved = with_another_lid(s, c)
    first = number(s) + 1
    for _ in range(3):
        c.dreq()
        s.wait(4)
    goes_on(s)
    return s, [
        moved,
        ("stale_path", first, 3, [a.gid, b.gid]),
        ("connection_lost", first + 3, 1, [a.gid, "GID %s, LID 2 has not answered" % b.gid]),
    ]


# ---- large pings


def fragment(a, b, seq, reply=False):
    """The first of two fragments of an echo message: more fragments follow (RFC 791)."""
    whole = bytearray(ping(a, b, seq=seq, size=2000, reply=reply))
    whole[4 + 6] = 0x20
    whole[4 + 10 : 4 + 12] = bytes(2)
    whole[4 + 10 : 4 + 12] = ib.u16(ib.inet_checksum(bytes(whole[4:24])))
    return bytes(whole)


def pinged(s, a, b, sizes, answered=(), late=0.0, seq=0):
    """Pings of these sizes of data, one each second; None: in fragments. Those of 'answered' have a
    reply, the large ones so late."""
    for size in sizes:
        for one, two, reply in ((a, b, False), (b, a, True))[: 1 + (size in answered)]:
            s.wait(late if reply and size != 56 else 0)
            of = dict(seq=seq, reply=reply)
            s.ud(one, two, ping(one, two, size=size, **of) if size else fragment(one, two, **of))
        s.wait(1)
        seq += 1


@case
def large_pings_that_were_answered_a_minute_before():
    """Then the MTU of the way changes: small ones are still answered, those of 1900 bytes are not. The
    datagrams have 28 bytes more. The third large one is the seventh frame."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pinged(s, a, b, (56, 1900), (56, 1900))
    before = number(s)
    pinged(s, a, b, (1900, 56) * 3, (56,), seq=20)
    goes_on(s)
    texts = ["3 requests of 1928 bytes or more since frame %d" % (before + 1)]
    texts.append("one of 84 bytes was answered in frame %d" % (before + 9))
    return s, [("large_lost", before + 10, 1, texts)]


@case
def large_pings_that_are_answered_later_than_small_ones():
    """Each large one two seconds later, again and again."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pinged(s, a, b, (56, 1900) * 5, (56, 1900), late=2)
    return s, []


@case
def host_that_goes_down_after_large_pings():
    """No size is answered any more: the size is not the cause."""
    s, a, b, c = link()
    s.resolve(a, b)
    pinged(s, a, b, (56, 1900), (56, 1900))
    before = number(s)
    pinged(s, a, b, (1900,) * 5, seq=20)
    s.wait(2)
    s.ping(a, c)
    return s, [("echo_unanswered", before + 6, 1, ["3 requests"])]


@case
def pings_in_fragments_that_were_answered_before():
    """The replies' size is not known, as only the first fragment is read: it is no evidence. A small
    one is answered at last."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pinged(s, a, b, (None,) * 3, (None,))
    before = number(s)
    pinged(s, a, b, (None,) * 6, seq=20)
    pinged(s, a, b, (56,) * 4, (56,), seq=40)
    texts = ["6 requests in fragments since frame %d" % (before + 1)]
    texts.append("one of 84 bytes was answered in frame %d" % (before + 10))
    return s, [
        ("echo_unanswered", before + 6, 1, ["3 requests"]),
        ("large_lost", before + 11, 1, texts),
    ]


# ---- hosts that look for each other


def look_for(s, a, b, times, back):
    """ARP requests of a for b, one each second; after the first ones, those of b for a."""
    for n in range(times):
        s.arp_request(a, b.ip)
        s.wait(0.5)
        if n < back:
            s.arp_request(b, a.ip)
        s.wait(0.5)


@case
def hosts_that_do_not_hear_each_other():
    """Each asks for the other, and both reach a third one. The second request of a is the first
    after a broadcast of b (frame 2), the fourth one the third; it may be answered for 1 s."""
    s, a, b, c = link()
    s.resolve(a, c)
    s.resolve(b, c)
    before = number(s)
    look_for(s, a, b, 6, 6)
    goes_on(s)
    texts = ["10.0.0.2", "although it announced its address in frame %d" % (before + 2)]
    return s, [
        ("arp_unanswered", before + 9, 3, texts),
        ("arp_unanswered", before + 10, 3, ["10.0.0.1"]),
    ]


@case
def hosts_of_which_one_hears_the_other():
    """a has the address of b from its broadcast, and stops after two more requests."""
    s, a, b, _ = link()
    look_for(s, a, b, 3, 1)
    s.path(b, a)
    goes_on(s)
    return s, []


@case
def hosts_that_answer_each_other_at_last():
    """By an ARP reply to the requester."""
    s, a, b, _ = link()
    look_for(s, a, b, 3, 3)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.arp_request(b, a.ip)
    s.arp_reply(a, b)
    goes_on(s)
    return s, []


@case
def probes_of_a_known_address():
    """Unicast ARP requests (RFC 1122 section 2.3.2.1), each answered; b asks by broadcast too."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for _ in range(8):
        s.arp_request(a, b.ip, dst=b)
        s.arp_reply(b, a)
        s.wait(0.5)
        s.arp_request(b, a.ip)
        s.arp_reply(a, b)
        s.wait(0.5)
    return s, []


@case
def hosts_that_do_not_hear_each_other_with_ipv6():
    s, a, b, _ = link()
    before = number(s)
    for _ in range(5):
        s.solicit(a, b.ll)
        s.wait(0.5)
        s.solicit(b, a.ll)
        s.wait(0.5)
    goes_on(s)
    return s, [("nd_unanswered", before + 9, 2, [b.ll]), ("nd_unanswered", before + 10, 2, [a.ll])]


@case
def hosts_that_probe_each_other_with_ipv6():
    """RFC 4861 section 7.3.3: solicitations to the address itself. b's show a that b is there."""
    s, a, b, _ = link()
    for _ in range(6):
        for one, two in ((a, b), (b, a)):
            s.icmp6(one, two, two.ll, ib.nd_ns(two.ll, ib.nd_lladdr_option(1, one.addr)))
            s.advertise(two, one, two.ll)
            s.wait(0.5)
    return s, []


# ---- limited members


def limited_link():
    """a and b have the P_Key 0x7fff, c has 0xffff; a and b reach c (IBA 10.9.3)."""
    s = Subnet(pkey=LIMITED)
    a, b, c = (Host(n) for n in (1, 2, 3))
    s.up(a, b, c)
    for host in (a, b):
        s.meet(host, c, back=0xFFFF)
    return s, a, b, c


@case
def limited_members_that_look_for_each_other():
    s, a, b, _ = limited_link()
    before = number(s)
    look_for(s, a, b, 4, 0)
    return s, [("arp_unanswered", before + 4, 1, [b.ip, "both are limited members", "0x7fff"])]


@case
def limited_members_that_ping_each_other():
    """They have the addresses from before."""
    s, a, b, _ = limited_link()
    before = number(s)
    pinged(s, a, b, (56,) * 4)
    s.wait(1)
    s.arp_request(a, "10.0.0.3")
    return s, [("echo_unanswered", before + 5, 1, [b.ip, "both are limited members"])]


# ---- a broadcast group that does not exist


@case
def broadcast_group_that_does_not_exist():
    """Of the partition 0x8001: the host asks for its record before it joins (RFC 4391 section 10), with
    and without its P_Key."""
    s, a, _, _ = link()
    before, group = number(s), s.broadcast(0x8001)
    for seconds, mask in ((1, 0), (2, ib.MCM["pkey"]), (4, 0), (8, ib.MCM["pkey"])):
        data = ib.mcmember(group, pkey=0x8001)
        s.ask(a, ib.GET, ib.ATTR_MC_MEMBER, data, ib.MCM["mgid"] | mask, b"", NO_RECORDS, 7)
        s.wait(seconds)
    texts = [a.gid, "no record of the broadcast group " + group, "0x8001"]
    return s, [("sa_refused", before + 6, 2, texts)]


@case
def broadcast_group_that_is_created():
    """It does not exist at first."""
    s, a, b, _ = link()
    group = s.broadcast(0x8001)
    for host in (a, b):
        s.query(host, group, found=False)
        s.wait(1)
    s.join(a, group, pkey=0x8001, create=True)
    s.query(b, group)
    return s, []


@case
def broadcast_group_with_another_qkey():
    """The SA has no record with this Q_Key, and one of the group."""
    s, a, _, _ = link()
    for _ in range(4):
        data = ib.mcmember(s.broadcast(), qkey=0x1234)
        mask = ib.MCM["mgid"] | ib.MCM["qkey"]
        s.ask(a, ib.GET, ib.ATTR_MC_MEMBER, data, mask, b"", NO_RECORDS, 7)
        s.wait(1)
    return s, []


@case
def broadcast_group_of_which_a_busy_sa_says_nothing():
    s, a, _, _ = link()
    before = number(s)
    for _ in range(4):
        data = ib.mcmember(s.broadcast(0x8001))
        s.ask(a, ib.GET, ib.ATTR_MC_MEMBER, data, ib.MCM["mgid"], status=1)
        s.wait(1)
    return s, [("sa_refused", before + 2, 4, ["Get(MCMemberRecord)", "0x0001, busy"])]


@case
def another_group_that_does_not_exist():
    """A sender looks now and then whether it has a receiver."""
    s, a, _, _ = link()
    for _ in range(5):
        s.query(a, s.group4("239.1.2.3"), found=False)
        s.wait(2)
    return s, []


# ---- requests after a pause


@case
def arp_requests_after_a_silent_minute():
    """No packet is captured for 70 s: the last one to a is not old for the capture."""
    s, a, b, _ = link()
    s.meet(a, b)
    s.wait(70)
    before = number(s)
    look_for(s, a, b, 4, 0)
    return s, [("arp_unanswered", before + 4, 1, [b.ip])]


@case
def arp_requests_after_a_minute_without_a_packet_to_their_sender():
    """The capture has packets of others all the time: it may not see those to a any more."""
    s, a, b, c = link()
    s.meet(a, b)
    for _ in range(70):
        s.to_group4(c, "224.0.0.1")
        s.wait(1)
    look_for(s, a, b, 5, 0)
    return s, []

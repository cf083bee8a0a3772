# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of two hosts that do not reach each other, or only now and then, each with
harmless look-alikes. A case returns its tape and the events that it must raise: (event, frame, count,
texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import copy_last, goes_on, link, number
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
            options = dict(seq=seq, reply=reply)
            s.ud(one, two, ping(one, two, size=size, **options) if size else fragment(one, two, **options))
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


# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of which the requester has no use, answers that come late, and requests that come too fast,
each with a harmless look-alike. A case returns its tape and the events that it must raise: (event,
frame, count, texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import copy_last, goes_on, link, number
from frames.fabric import SEND_ONLY
from frames.messages import ping, solicited_node

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- advertisements


def advertise(s, b, a, option=True, hop=255):
    """An advertisement of b to a, solicited, that overrides."""
    options = ib.nd_lladdr_option(2, b.addr) if option else b""
    datagram = bytearray(ib.icmpv6(b.ll, a.ll, ib.nd_na(b.ll, options)))
    datagram[7] = hop
    s.ud(b, a, ib.encap(0x86DD, bytes(datagram)))


def solicits(s, a, b, times, answer, group=True):
    s.join(a, s.group6(solicited_node(b.ll)), SEND_ONLY)
    for _ in range(times):
        if group:
            s.solicit(a, b.ll)
        else:
            body = ib.nd_ns(b.ll, ib.nd_lladdr_option(1, a.addr))
            s.icmp6(a, b, b.ll, body)
        answer()
        s.wait(1)
    goes_on(s)


@case
def advertisements_without_an_address():
    s, a, b, _ = link()
    before = number(s) + 2
    solicits(s, a, b, 4, lambda: advertise(s, b, a, option=False))
    texts = [b.ll, "but one without its link-layer address in frame %d" % (before + 6)]
    return s, [("nd_unanswered", before + 7, 2, texts)]


@case
def solicitations_that_the_target_does_not_get_although_it_has_joined():
    """A switch drops the packets to the group."""
    s, a, b, c = link()
    group = s.group6(solicited_node(b.ll))
    s.join(b, group)
    joined = number(s)
    s.resolve6(c, b)
    s.meet(c, a)
    before = number(s) + 2
    solicits(s, a, b, 4, lambda: None)
    texts = [b.ll, "has joined their group %s, MLID" % group, "in frame %d" % joined]
    return s, [("nd_unanswered", before + 4, 2, texts)]


@case
def advertisements_that_need_no_address():
    """The requester knows the address: it has solicited the host alone (RFC 4861 section 4.4)."""
    s, a, b, _ = link()
    solicits(s, a, b, 5, lambda: advertise(s, b, a, option=False), group=False)
    return s, []


@case
def advertisements_that_were_forwarded():
    s, a, b, _ = link()
    before = number(s) + 2
    solicits(s, a, b, 4, lambda: advertise(s, b, a, hop=254))
    return s, [
        ("invalid_header", before + 2, 4, [b.gid, "hop limit 254", "type 136"]),
        ("nd_unanswered", before + 9, 1, [b.ll, "hop limit is not 255, so it is discarded,"]),
    ]


@case
def advertisements_that_help():
    s, a, b, _ = link()
    solicits(s, a, b, 5, lambda: advertise(s, b, a))
    return s, []


# ---- requests that come too fast


def requests(s, a, ips, ms):
    for ip in ips:
        s.now += (ms - 1) * 10**6
        s.arp_request(a, ip)


@case
def request_that_is_repeated_all_the_time():
    """Each is answered; the reply of a tap's copy changes nothing."""
    s, a, b, _ = link()
    s.meet(a, b)
    s.wait(3)
    before = number(s)
    for _ in range(120):
        requests(s, a, [b.ip], 9)
        s.arp_reply(b, a)
    texts = [a.gid, "IP 10.0.0.2 100 times within 2 s, since frame %d" % (before + 1)]
    return s, [("request_storm", before + 199, 21, texts)]


@case
def search_of_many_addresses():
    """Three times, four addresses in 10 ms; and one address 20 times in a second, each twice by a tap."""
    s, a, b, _ = link()
    s.meet(a, b)
    for _ in range(3):
        requests(s, a, ["10.0.1.%d" % n for n in range(1, 200)], 2)
    for _ in range(60):
        requests(s, a, [b.ip], 49)
        copy_last(s)
        s.arp_reply(b, a)
    return s, []


# ---- acknowledgements that come late


def acknowledged(s, c, n, ms, twice=False):
    """Pings of a, answered by datagrams, of which the host of b acknowledges each after this time."""
    for seq in range(n):
        s.wait(1)
        c.send(True, ping(c.a, c.b, seq=seq))
        s.now += ms * 10**6
        c.ack(True, c.psns[0] - 1)
        if twice:
            copy_last(s)
        s.ud(c.b, c.a, ping(c.b, c.a, seq=seq, reply=True))


@case
def acknowledgements_that_come_late():
    s, a, b, _ = link()
    s.meet(a, b)
    c = Link(s, a, b).open()
    before = number(s)
    acknowledged(s, c, 12, 400)
    texts = [b.gid, "packets of GID %s, LID 1 late: 10 in a row" % a.gid, "frame %d" % (before + 1)]
    return s, [("ack_slow", before + 29, 3, texts)]


@case
def acknowledgements_of_which_some_come_late():
    """Nine in a row, each twice by a tap; 50 ms; and those of which the capture lost each second one."""
    s, a, b, _ = link()
    s.meet(a, b)
    c = Link(s, a, b).open()
    acknowledged(s, c, 9, 400, twice=True)
    acknowledged(s, c, 12, 50)
    for seq in range(30):
        s.wait(1)
        c.send(True, ping(a, b, seq=seq))
        if seq % 2:
            c.ack(True, c.psns[0] - 1)
        s.ud(b, a, ping(b, a, seq=seq, reply=True))
    return s, []

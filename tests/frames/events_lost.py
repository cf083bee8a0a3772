# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that lost the answers to requests, as the PSNs of who answers show, and the same without a
gap: there the requests have no answer. A case returns its tape and the events that it must raise:
(event, frame, count, texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import DISCOVER, OFFER, link, number
from frames.events_ip import asks, gives
from frames.fabric import mad_frame
from frames.messages import arp
from frames.subnet import PATH_BY_GIDS, FromStart, Host

CASES = []
PORT_COUNTERS, PERF_GET, PERF_GET_RESP = 0x0012, 0x01, 0x81


def case(build):
    CASES.append(build)
    return build


def several(s, *hosts):
    """b sends to a and c, so the capture point sees what it sends to any port."""
    a, b, c = hosts
    s.meet(a, b)
    s.meet(c, b)


def pings(s, a, b, lost, size=56, first=20):
    """One a second, answered by b: of these replies the capture has none. Then one is answered."""
    for i in range(8):
        s.wait(1)
        s.ud(a, b, echo(a, b, first + i, size))
        if lost:
            s.next_psn(b.lid, b.qpn)
    s.wait(1)
    s.ud(a, b, echo(a, b, first + 8, 56))
    s.ud(b, a, echo(b, a, first + 8, 56, True))


def echo(a, b, seq, size, reply=False):
    body = bytes(ib.icmp_echo(7, seq, ib.fill(size), reply))
    return ib.encap(0x0800, ib.ipv4(a.ip, b.ip, 1, body))


@case
def pings_without_replies():
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    pings(s, a, b, False)
    return s, [("echo_unanswered", before + 6, 2, ["3 requests"])]


@case
def pings_whose_replies_were_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    pings(s, a, b, True)
    return s, []


@case
def large_pings_without_replies():
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    pings(s, a, b, False, size=1900)
    return s, [("large_lost", before + 6, 2, ["3 requests of 1928 bytes"])]


def pings_of_two(size):
    """b answers c, and not a, whom it has answered nothing before."""
    s, a, b, c = link()
    s.resolve(a, b)
    s.meet(c, b)
    for i in range(4):
        s.wait(1)
        s.ud(a, b, echo(a, b, 20 + i, size))
        s.ping(c, b, seq=50 + i)
    s.wait(5)
    s.ping(c, b, seq=60)
    return s, number(s) - 1


@case
def large_pings_to_a_target_that_answers_small_ones_of_another():
    s, last = pings_of_two(1900)
    return s, [("echo_unanswered", last, 1, ["of 1928 bytes or more", "answers others"])]


@case
def pings_of_the_same_size_to_a_target_that_answers_another():
    """The size is not the cause, and the event does not name it."""
    s, last = pings_of_two(8)
    return s, [("echo_unanswered", last, 1, ["3 requests", "3 s after the last"])]


@case
def large_pings_whose_replies_were_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    pings(s, a, b, True, size=1900)
    return s, []


def arp_requests(s, a, b, lost):
    for _ in range(6):
        s.wait(1)
        s.arp_request(a, b.ip)
        if lost:
            s.next_psn(b.lid, b.qpn)
    s.wait(1)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)


@case
def arp_requests_without_replies():
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    arp_requests(s, a, b, False)
    return s, [("arp_unanswered", before + 4, 4, ["3 requests"])]


@case
def arp_requests_whose_replies_were_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    arp_requests(s, a, b, True)
    return s, []


def counters(s, a, b, method, tid):
    mad = ib.mad_header(4, 1, method, tid, PORT_COUNTERS).ljust(256, b"\0")
    s.put(mad_frame(a, b, mad, s.next_psn(a.lid, 1)))


def counter_requests(s, a, b, lost):
    for i in range(8):
        s.wait(1)
        counters(s, a, b, PERF_GET, 100 + i)
        if not 2 <= i < 7:
            counters(s, b, a, PERF_GET_RESP, 100 + i)
        elif lost:
            s.next_psn(b.lid, 1)


@case
def counters_of_which_some_have_no_answer():
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    counter_requests(s, a, b, False)
    return s, [("mad_unanswered", before + 8, 3, ["3 since frame"])]


@case
def counters_whose_answers_were_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    counter_requests(s, a, b, True)
    return s, []


def keep(s, at):
    """Only the frames for which at(DLID, SLID)."""
    lid = lambda octets, i: int.from_bytes(octets[i : i + 2], "big")
    s.records = [r for r in s.records if at(lid(r[1], 2), lid(r[1], 6))]


def to_one_host(at):
    """b sends to a, and some datagrams that the capture does not have."""
    s, a, b, c = link()
    s.meet(c, a)
    s.meet(a, b)
    keep(s, at)
    before = number(s)
    for i in range(8):
        s.wait(1)
        s.ud(a, b, echo(a, b, 20 + i, 56))
        for _ in range(3):
            s.next_psn(b.lid, b.qpn)
        s.arp_reply(b, a)
    return s, before


@case
def replies_that_only_another_host_misses():
    """At the port of a: the gaps of b are packets to others."""
    s, before = to_one_host(lambda dlid, slid: dlid >= 0xC000 or 1 in (dlid, slid))
    return s, [("echo_unanswered", before + 11, 1, ["3 requests"])]


@case
def replies_that_a_filter_left_out():
    """At a switch, which forwards what the SM sends to b, and c to a: the replies may be in the gaps,
    although b sends to one host only."""
    s, _ = to_one_host(lambda dlid, slid: True)
    return s, []


def pinged_without_a_reply(s, a, b):
    for i in range(6):
        s.wait(1)
        s.ud(a, b, echo(a, b, i, 56))


@case
def host_of_which_nothing_is_captured():
    """Its joins are answered, and none was captured: nor are its replies."""
    s, a, b, _ = link()
    pinged_without_a_reply(s, a, b)
    keep(s, lambda dlid, slid: slid != b.lid)
    return s, []


@case
def host_that_has_only_joined():
    s, a, b, _ = link()
    before = number(s)
    pinged_without_a_reply(s, a, b)
    return s, [("echo_unanswered", before + 6, 1, ["3 requests"])]


# ---- some of the answers


def pings_of_which(s, a, b, answered, n=48, gap=False):
    for i in range(n):
        s.wait(1)
        s.ud(a, b, echo(a, b, i, 56))
        if answered(i):
            s.ud(b, a, echo(b, a, i, 56, True))
        elif gap:
            s.next_psn(b.lid, b.qpn)


@case
def every_fourth_ping_without_a_reply():
    """The twentieth that has waited is followed by sixteen others."""
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    pings_of_which(s, a, b, lambda i: i % 4)
    texts = ["5 of 20 pings to IP 10.0.0.2", "first in frame %d" % (before + 1)]
    return s, [("echo_unanswered", before + 60, 1, texts)]


@case
def every_fourth_ping_whose_reply_was_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    pings_of_which(s, a, b, lambda i: i % 4, gap=True)
    return s, []


@case
def every_fourth_ping_at_the_port_of_the_requester():
    """What the target sends to others is missing too, so its reply may be."""
    s, a, b, _ = link()
    s.meet(a, b)
    pings_of_which(s, a, b, lambda i: i % 4, gap=True)
    return s, []


@case
def pings_that_a_host_of_the_link_forwards():
    """A load balancer, or a gateway to the same link: each is captured twice, and has one reply."""
    s, a, b, c = link()
    several(s, a, b, c)
    for i in range(48):
        s.wait(1)
        s.ud(a, c, echo(a, b, i, 56))
        s.ud(c, b, echo(a, b, i, 56))
        s.ud(b, a, echo(b, a, i, 56, True))
    return s, []


@case
def few_pings_without_a_reply():
    s, a, b, c = link()
    several(s, a, b, c)
    pings_of_which(s, a, b, lambda i: i % 12)
    return s, []


@case
def replies_that_were_captured_before_their_requests():
    s, a, b, c = link()
    several(s, a, b, c)
    for i in range(48):
        s.wait(1)
        s.ud(b, a, echo(b, a, i, 56, True))
        s.ud(a, b, echo(a, b, i, 56))
    return s, []


def resolutions(s, a, b, tries, n=8, gap=False):
    for _ in range(n):
        s.wait(20)
        for i in range(tries):
            s.wait(1)
            s.arp_request(a, b.ip)
            if gap and i:
                s.next_psn(b.lid, b.qpn)
        s.arp_reply(b, a)


@case
def requests_that_are_answered_at_the_second_try():
    s, a, b, c = link()
    several(s, a, b, c)
    before = number(s)
    resolutions(s, a, b, 2)
    texts = ["5 times in a row since frame %d" % (before + 1)]
    return s, [("arp_unanswered", before + 15, 4, texts)]


@case
def requests_that_are_answered_at_the_first_try():
    s, a, b, c = link()
    several(s, a, b, c)
    resolutions(s, a, b, 1)
    return s, []


@case
def requests_of_which_the_first_reply_was_lost():
    s, a, b, c = link()
    several(s, a, b, c)
    resolutions(s, a, b, 2, gap=True)
    return s, []


@case
def request_that_is_answered_to_all():
    """The reply goes to the broadcast group."""
    s, a, b, _ = link()
    before = number(s)
    for _ in range(4):
        s.wait(1)
        s.arp_request(a, b.ip)
        s.ud(b, s.broadcast(), arp(2, b, a))
    s.wait(2)
    s.to_group4(a, "224.0.0.1")
    texts = ["but one to the broadcast group in frame"]
    return s, [("arp_unanswered", before + 9, 1, texts)]


# ---- addresses that are never free


def probe(s, a, ip):
    s.wait(1)
    s.arp_request(a, ip, spa="0.0.0.0")


@case
def probes_that_one_port_answers_all():
    s, a, b, _ = link()
    before = number(s)
    for n in range(50, 54):
        probe(s, a, "10.0.0.%d" % n)
        s.arp_reply(b, a.also(ip="0.0.0.0"), ip="10.0.0.%d" % n)
    texts = [b.gid, "each of the 3", "since frame %d" % (before + 1)]
    return s, [("duplicate_ip", before + 6, 2, texts)]


@case
def probes_of_which_the_third_is_free():
    s, a, b, _ = link()
    for n in range(50, 56):
        probe(s, a, "10.0.0.%d" % n)
        if n % 3 != 1:
            s.arp_reply(b, a.also(ip="0.0.0.0"), ip="10.0.0.%d" % n)
    return s, []


# ---- answers that go astray


@case
def path_that_the_sa_sends_to_another_port():
    s, a, b, c = link()
    before = number(s)
    for _ in range(4):
        tid = s.next_tid()
        data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
        s.sa(a, s.sm, ib.GET, tid, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS)
        reply = ib.path_record(b.gid, a.gid, b.lid, a.lid, pkey=0xFFFF, reversible=1)
        s.sa(s.sm, c, ib.GET_RESP, tid, ib.ATTR_PATH_RECORD, reply, PATH_BY_GIDS, attr_offset=8)
        s.wait(1)
        s.ping(b, a)
    texts = ["path to " + b.gid, "frame %d answers it, but goes to LID 3" % (before + 2)]
    return s, [("sa_unanswered", number(s) - 2, 1, texts)]


@case
def offer_with_another_transaction_id():
    s, a, b, _ = link()
    s.resolve(b, a)
    before = number(s)
    for i in range(4):
        s.wait(4)
        asks(s, a, DISCOVER, 0x1234, 1)
        gives(s, b, OFFER, 0x3412)
        s.ping(b, a)
    texts = ["the reply in frame", "transaction ID 0x00003412"]
    return s, [("dhcp_unanswered", number(s) - 3, 1, texts)]


# ---- members with two LIDs of one group


@case
def group_of_which_two_members_get_two_lids():
    """The first one may have gone, and the group may have been created again: its port may have
    no power, and its leave may be lost."""
    s = FromStart()
    a, b = Host(1), Host(2)
    for host in (a, b):
        s.node_info(host)
        s.port_info(host)
        s.join(host, s.broadcast())
    group = s.group4("239.1.2.3")
    s.join(a, group)
    s.mlids[group] = 0xC020
    s.join(b, group)
    return s, []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that lost the answers to requests, as the PSNs of who answers show, and the same without a
gap: there the requests have no answer. A case returns its tape and the events that it must raise:
(event, frame, count, texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import link, number
from frames.fabric import mad_frame

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


@case
def replies_that_only_another_host_misses():
    """The capture has only what b sends to a: its many gaps are packets to others."""
    s, a, b, c = link()
    s.meet(a, b)
    before = number(s)
    for i in range(8):
        s.wait(1)
        s.ud(a, b, echo(a, b, 20 + i, 56))
        for _ in range(3):
            s.next_psn(b.lid, b.qpn)
        s.arp_reply(b, a)
    return s, [("echo_unanswered", before + 11, 1, ["3 requests"])]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures whose packets are easily counted wrong: messages that a connection sends again, answers that
are damaged or dropped, requests in several rounds. Beside each is what must be found. A case returns its
tape and the events that it must raise: (event, frame, count, texts that it has). NUMBER is the number of
the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import ACK, DISCOVER, REQUEST, goes_on, link, number
from frames.events_ip import ADDRESS, DECLINE, asks, gives
from frames.ib import ONLY
from frames.messages import ping
from frames.subnet import PATH_BY_GIDS, Host

CASES = []
RNR, REQUESTED_IP = 0x20 + 14, 50  # AETH syndrome (IBA table 45); option of DHCP


def case(build):
    CASES.append(build)
    return build


# ---- messages of a connection


def connected():
    s, a, b, c = link()
    s.resolve(a, c)
    return s, Link(s, a, b).open()


def sends_ping(c, psn, seq):
    c.packet(True, ONLY, ping(c.a, c.b, seq=seq), psn)


def others_go_on(s):
    """A packet to the requester: it is heard."""
    s.wait(4)
    s.ping(Host(3), Host(1))


@case
def ping_that_is_sent_again_for_seconds():
    """One message: the receiver has no buffer for 5 s."""
    s, c = connected()
    first = number(s) + 2
    for _ in range(5):
        sends_ping(c, c.psns[0], 1)
        c.ack(True, c.psns[0], RNR)
        s.wait(1.7)
    others_go_on(s)
    return s, [("rnr", first, 5, [])]


@case
def pings_of_one_number_on_a_connection():
    """The same number in three messages."""
    s, c = connected()
    for n in range(3):
        sends_ping(c, c.psns[0] + n, 1)
        c.ack(True, c.psns[0] + n)
        s.wait(1.7)
    others_go_on(s)
    return s, [("echo_unanswered", number(s) - 1, 1, ["3 requests"])]


@case
def acknowledgements_of_what_was_not_sent():
    """Their PSN is 5 ahead: the sender ignores them."""
    s, c = connected()
    first = number(s) + 3
    for _ in range(3):
        sends_ping(c, c.psns[0], 1)
        c.ack(True, c.psns[0] + 5)
        s.wait(0.5)
    texts = ["acknowledgement was captured, but of PSN %d" % (c.psns[0] + 5 & 0xFFFFFF)]
    return s, [("retransmission", first + 2, 1, texts)]


@case
def acknowledgements_that_do_not_arrive():
    s, c = connected()
    first = number(s) + 3
    for _ in range(3):
        sends_ping(c, c.psns[0], 1)
        c.ack(True, c.psns[0])
        s.wait(0.5)
    return s, [("retransmission", first + 2, 1, ["although an acknowledgement was captured; PSN"])]

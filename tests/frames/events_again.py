# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of requests that are sent again, and of the classes of management and the
protocols above IP that are followed only for events, each with harmless look-alikes. A case returns
its tape and the events that it must raise: (event, frame, count, texts that it has)."""
from frames import ib
from frames.events import ask_only, copy_last, goes_on, link, number
from frames.fabric import FULL, smp_frame

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- the same packet, with the same PSN


def send_again(s, times, seconds):
    """The last frame again, by a sender that does not count its PSNs."""
    octets = s.records[-1][1]
    for _ in range(times):
        s.wait(seconds)
        s.put(octets)


def set_pkeys(s, host):
    """A Set of the P_KeyTable, LID-routed, with the PSN 0."""
    mad = ib.lid_routed_smp(0x02, s.next_tid(), ib.PKEY_TABLE, 0, ib.u16(0xFFFF))
    s.put(smp_frame(mad, 0, host.lid, s.sm.lid))


@case
def smp_that_is_sent_again_with_its_psn():
    """The capture goes on only with further copies: the fourth comes 200 ms after the third."""
    s, a, _, _ = link()
    before = number(s)
    set_pkeys(s, a)
    send_again(s, 3, 1)
    texts = [a.gid, "3 requests of its P_KeyTable since frame %d" % (before + 1)]
    return s, [("smp_unanswered", before + 4, 1, texts)]


@case
def smp_that_is_sent_twice_and_captured_twice():
    """A tap has each of the two packets twice."""
    s, a, _, _ = link()
    set_pkeys(s, a)
    copy_last(s)
    send_again(s, 1, 1)
    copy_last(s)
    goes_on(s)
    return s, []


@case
def table_whose_segment_is_sent_again_with_its_psn():
    s, a, _, _ = link()
    before = number(s)
    header = ib.rmpp_header(1, ib.RMPP_ACTIVE, data1=1)
    s.sa(s.sm, a, ib.GET_TABLE_RESP, s.next_tid(), ib.ATTR_MC_MEMBER, rmpp=header)
    send_again(s, 2, 1)
    goes_on(s)
    texts = [a.gid, "segment 1", "3 times since frame %d" % (before + 1)]
    return s, [("rmpp_aborted", before + 4, 1, texts)]


@case
def join_that_is_sent_again_with_its_psn():
    s, a, _, _ = link()
    before = number(s)
    data, mask = s.request(a, s.group4("239.1.2.3"), FULL)
    ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0)
    send_again(s, 2, 1)
    goes_on(s)
    return s, [("sa_unanswered", before + 4, 1, ["join", "3 requests"])]


@case
def join_that_is_answered_when_it_was_sent_again():
    """The answer comes at once after the last: it is not slow."""
    s, a, _, _ = link()
    data, mask = s.request(a, s.group4("239.1.2.3"), FULL)
    ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0)
    send_again(s, 1, 2)
    reply = s.record(a, s.group4("239.1.2.3"), FULL)
    s.sa(s.sm, a, ib.GET_RESP, s.tid, ib.ATTR_MC_MEMBER, reply, mask, attr_offset=7)
    goes_on(s)
    return s, []


@case
def whole_exchange_that_is_captured_again_later():
    """Two captures in one file whose clocks differ by half a second: joins, ARP and pings."""
    s, a, b, _ = link()
    before = number(s)
    s.join(a, s.group4("239.1.2.3"))
    s.resolve(a, b)
    s.ping(a, b)
    s.node_info(a)
    s.wait(0.5)
    for _, octets, _ in s.records[before:]:
        s.put(octets)
    goes_on(s)
    return s, []


@case
def arp_request_that_is_sent_again_with_its_psn():
    s, a, b, _ = link()
    s.resolve(b, a)
    before = number(s)
    s.arp_request(a, "10.0.0.77")
    send_again(s, 2, 1)
    goes_on(s)
    return s, [("arp_unanswered", before + 4, 1, ["IP 10.0.0.77", "3 requests"])]

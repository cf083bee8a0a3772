# SPDX-License-Identifier: GPL-2.0-or-later
"""A port that reports to IP routers that it listens to a group, by IGMP or MLD, and never joined it: found
in a capture that has the port's start, and never in the harmless look-alikes."""
import pytest

from frames import ib
from frames.fabric import FULL, SEND_ONLY
from frames.messages import (
    igmp3_leave,
    igmp_leave,
    igmp_report,
    mld2_leave,
    mld_done,
    mld_report,
    nd,
    solicited_node,
)
from frames.subnet import FromStart, Host
from support import check, findings

RECEIVER, JOIN = "rfc4391.10.receiver-fullmember", "rfc4391.10.join-before-send"
LEAVE = "rfc4391.10.leave"
IPV4, IPV6 = "239.1.2.3", "ff0e::1:2"
ROUTERS = {IPV4: "224.0.0.22", IPV6: "ff02::16"}
BOTH = pytest.mark.parametrize("group", [IPV4, IPV6], ids=["IPv4", "IPv6"])


EXCLUDE = ib.u8(4) + bytes(3)  # a record without sources, and their number: it joins


def igmp3_report(src, group):
    """IGMPv3 Membership Report (RFC 3376 4.2)."""
    body = ib.u8(0x22) + bytes(5) + ib.u16(1) + EXCLUDE + ib.ip4(group)
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    return ib.encap(0x0800, ib.ipv4(src.ip, ROUTERS[group], 2, body, ttl=1))


def mld2_report(src, group):
    """Multicast Listener Report, version 2 (RFC 3810 5.2)."""
    return nd(src, ROUTERS[group], ib.u8(143) + bytes(5) + ib.u16(1) + EXCLUDE + ib.ip6(group))


def mgid(s, group):
    return (s.group6 if ":" in group else s.group4)(group)


def start(*hosts):
    """The subnet manager finds and brings up the ports, whose LIDs it sets first."""
    s = FromStart()
    for host in hosts:
        bring_up(s, host)
    s.up(*hosts)
    return s


def bring_up(s, host, lid=0):
    """lid: that the port has before; 0: it starts."""
    s.node_info(host)
    before = s.port_info_of(lid, state=ib.INIT, neighbor_mtu=4, mtu_cap=4)
    s.smp(host.lid & 0x3F, ib.GET, ib.PORT_INFO, b"", 1, before)
    s.pkey_table(host, 0xFFFF)
    s.port_info(host)


def report(s, host, group, seconds=6, to=None):
    """to: the group of the datagram; None: that of all routers, as of IGMP and MLD versions that
    report there."""
    s.wait(seconds)
    make = {IPV4: igmp_report, IPV6: mld_report} if to else {IPV4: igmp3_report, IPV6: mld2_report}
    s.ud(host, mgid(s, to or ROUTERS[group]), make[group](host, group))


def listener(group):
    """a, which reports the group; it has joined the group to which it sends its reports."""
    a, b = Host(1), Host(2)
    s = start(a, b)
    s.join(a, mgid(s, ROUTERS[group]))
    return s, a, b


def ends(s, a, b):
    """a's next request, and the SA's next packet."""
    s.wait(1)
    s.path(a, b)
    s.path(b, a)
    s.path(a, b)
    return {rule for _, rule in findings.failures(s.pcap())}


@BOTH
def test_it_never_joined(group):
    s, a, b = listener(group)
    for _ in range(2):
        report(s, a, group)
    assert ends(s, a, b) == {RECEIVER}


@BOTH
def test_one_report_is_inconclusive(group):
    """It may join after it, and leave again before it does."""
    s, a, b = listener(group)
    report(s, a, group)
    assert ends(s, a, b) == set()
    assert findings.counts(s.pcap())[RECEIVER].inconclusive == 1


OLD = {IPV4: "224.0.0.1", IPV6: "ff02::1"}


def query_of_the_old_version(s, host, group):
    """A general query of IGMPv2 or MLDv1 (RFC 2236 2, RFC 2710 3)."""
    body = ib.u8(0x11) + ib.u8(100) + bytes(2) + bytes(4)
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    ipv4 = ib.encap(0x0800, ib.ipv4(host.ip, OLD[IPV4], 2, body, ttl=1))
    mld = nd(host, OLD[IPV6], ib.u8(130) + bytes(3) + ib.u16(10000) + bytes(2) + bytes(16))
    s.ud(host, mgid(s, OLD[group]), ipv4 if group == IPV4 else mld)


def listens(s, a, group, state):
    """a joins the group in this state, if any, and reports it once."""
    if state:
        s.join(a, mgid(s, group), state)
    report(s, a, group, seconds=1)


@BOTH
@pytest.mark.parametrize("state", [None, SEND_ONLY, 8], ids=["none", "non", "full"])
def test_one_report_and_a_later_datagram(group, state):
    """The port's next datagram shows that it has not said since that it listens no more."""
    s, a, b = listener(group)
    listens(s, a, group, state)
    s.wait(5)
    s.meet(a, b)
    assert ends(s, a, b) == {RECEIVER}


def too_soon(s, a, b, group):
    s.wait(4.5)
    s.meet(a, b)
    s.wait(4)


def stops(s, a, b, group):
    s.wait(1)
    s.ud(a, mgid(s, ROUTERS[group]), {IPV4: igmp3_leave, IPV6: mld2_leave}[group](a, group))
    s.wait(6)
    s.meet(a, b)


def stops_in_a_lost_datagram(s, a, b, group):
    stops(s, a, b, group)
    del s.records[-5]


def is_brought_up_again(s, a, b, group):
    s.wait(6)
    bring_up(s, a)
    s.up(a)
    s.meet(a, b)


def joins(s, a, b, group):
    s.join(a, mgid(s, group))
    s.wait(6)
    s.meet(a, b)


def may_stop_silently(s, a, b, group):
    """RFC 2236 section 6, RFC 2710 section 5: only the last one that reported must say so."""
    query_of_the_old_version(s, b, group)
    s.wait(6)
    s.meet(a, b)


def reports_a_source(s, a, b, group):
    """It goes on with a source, and may stop with BLOCK_OLD_SOURCES."""
    one = a.ip if group == IPV4 else a.ll
    record = ib.u8(3) + bytes(1) + ib.u16(1)
    if group == IPV4:
        body = ib.u8(0x22) + bytes(5) + ib.u16(1) + record + ib.ip4(group) + ib.ip4(one)
        body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
        message = ib.encap(0x0800, ib.ipv4(a.ip, ROUTERS[group], 2, body, ttl=1))
    else:
        body = ib.u8(143) + bytes(5) + ib.u16(1) + record + ib.ip6(group) + ib.ip6(one)
        message = nd(a, ROUTERS[group], body)
    s.ud(a, mgid(s, ROUTERS[group]), message)
    s.wait(6)
    s.meet(a, b)


@BOTH
def test_one_report_to_a_group_that_it_has_not_joined(group):
    """Its MGID may be wrong, and so that which is made from it."""
    s, a, b = listener(group)
    s.leave(a, mgid(s, ROUTERS[group]))
    listens(s, a, group, None)
    s.wait(5)
    s.meet(a, b)
    assert ends(s, a, b) == {JOIN}


@BOTH
@pytest.mark.parametrize(
    "then",
    [too_soon, stops, stops_in_a_lost_datagram, is_brought_up_again, joins, may_stop_silently,
     reports_a_source],
)  # fmt: skip
def test_one_report_and_no_proof_that_it_listens_still(then, group):
    s, a, b = listener(group)
    listens(s, a, group, SEND_ONLY)
    then(s, a, b, group)
    assert RECEIVER not in ends(s, a, b)


@BOTH
@pytest.mark.parametrize("seconds, expected", [(4, 0), (6, 1)])
def test_one_report_and_no_later_datagram_is_suspected(group, seconds, expected, tmp_path):
    s, a, b = listener(group)
    listens(s, a, group, SEND_ONLY)
    s.wait(seconds - 1)
    assert ends(s, a, b) == set()
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    assert [rule for rule, *_ in check.suspicions(path)] == [RECEIVER] * expected


@BOTH
@pytest.mark.parametrize("then", [stops, joins])
def test_a_listener_that_stops_or_joins_is_not_suspected(then, group, tmp_path):
    s, a, b = listener(group)
    listens(s, a, group, SEND_ONLY)
    then(s, a, b, group)
    ends(s, a, b)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    assert check.suspicions(path) == []


@BOTH
def test_it_sends_its_report_to_the_group_itself(group):
    """Both requirements are violated: it sends, and it listens."""
    s, a, b = listener(group)
    for _ in range(2):
        report(s, a, group, to=group)
    assert ends(s, a, b) == {RECEIVER, JOIN}


@BOTH
def test_it_left_the_group(group):
    s, a, b = listener(group)
    s.join(a, mgid(s, group))
    s.wait(1)
    s.leave(a, mgid(s, group))
    for _ in range(2):
        report(s, a, group)
    assert ends(s, a, b) == {RECEIVER}


@BOTH
def test_it_joins_within_the_time(group):
    s, a, b = listener(group)
    report(s, a, group)
    s.join(a, mgid(s, group))
    report(s, a, group)
    assert ends(s, a, b) == set()


@BOTH
def test_it_reports_again_too_soon(group):
    s, a, b = listener(group)
    for _ in range(2):
        report(s, a, group, seconds=4)
    assert ends(s, a, b) == set()


@BOTH
@pytest.mark.parametrize("status", [None, 0x0100], ids=["no response", "refused"])
def test_it_has_tried_to_join(group, status):
    s, a, b = listener(group)
    report(s, a, group)
    s.join(a, mgid(s, group), status=status or 0)
    if status is None:
        del s.records[-1]
    report(s, a, group)
    assert RECEIVER not in ends(s, a, b)


@BOTH
def test_it_is_brought_up_again_between_the_reports(group):
    """It has its time again."""
    s, a, b = listener(group)
    report(s, a, group)
    s.wait(5)
    bring_up(s, a)
    s.up(a)
    s.join(a, mgid(s, ROUTERS[group]))
    report(s, a, group, seconds=0.1)
    assert ends(s, a, b) == set()


@BOTH
def test_the_capture_begins_later(group):
    """The join may have been before."""
    s, a, b = listener(group)
    del s.records[: len(s.records) - 2]
    for _ in range(3):
        report(s, a, group)
    assert ends(s, a, b) == set()


@BOTH
def test_its_join_may_be_lost(group):
    s, a, b = listener(group)
    s.join(a, mgid(s, group))
    del s.records[-2:]
    for _ in range(2):
        report(s, a, group)
    assert ends(s, a, b) == set()


@BOTH
def test_it_joins_to_send_only_and_then_as_full_member(group):
    s, a, b = listener(group)
    s.join(a, mgid(s, group), SEND_ONLY)
    report(s, a, group)
    s.join(a, mgid(s, group), FULL)
    report(s, a, group)
    assert RECEIVER not in ends(s, a, b)


@pytest.mark.parametrize(
    "message, group, to",
    [
        (igmp_leave, IPV4, "224.0.0.2"),
        (igmp3_leave, IPV4, ROUTERS[IPV4]),
        (mld_done, IPV6, "ff02::2"),
        (mld2_leave, IPV6, ROUTERS[IPV6]),
    ],
)
@pytest.mark.parametrize("leaves", [True, False])
def test_it_listens_no_more(message, group, to, leaves):
    """It may stay a FullMember to send to the group; a Delete that follows decides."""
    s, a, b = listener(group)
    s.join(a, mgid(s, group))
    s.join(a, mgid(s, to))
    s.ud(a, mgid(s, to), message(a, group))
    if leaves:
        s.leave(a, mgid(s, group))
    s.wait(15)
    assert ends(s, a, b) == set()
    assert findings.counts(s.pcap())[LEAVE].inconclusive == (not leaves)


ALL_HOSTS, ALL_NODES = "224.0.0.1", "ff02::1"


@pytest.mark.parametrize(
    "kept, judged",
    [("", False), (IPV4, True), (IPV6, True), ("255.255.255.255", True), (ALL_HOSTS, True)],
)
def test_its_interface_leaves_the_link(kept, judged):
    """Its groups, which it may leave in any order within some seconds. The others' packets show that
    the time is over."""
    s, a, b = listener(IPV4)
    for group in (IPV4, IPV6):
        s.join(a, mgid(s, group))
    its = (IPV4, ALL_HOSTS, IPV6, ALL_NODES, solicited_node(a.ll), ROUTERS[IPV4])
    for group in (*its, "255.255.255.255"):
        if group != kept:
            s.leave(a, mgid(s, group))
            s.wait(1)
    s.wait(15)
    s.path(b, a)
    assert bool(findings.counts(s.pcap())[LEAVE].inconclusive) == judged


def test_its_ipv6_is_switched_off():
    s, a, b = listener(IPV4)
    s.leave(a, mgid(s, ALL_NODES))
    s.wait(15)
    s.path(b, a)
    assert findings.counts(s.pcap())[LEAVE].inconclusive == 0


@BOTH
@pytest.mark.parametrize(
    "starts", [False, True], ids=["the link came up again", "the port started"]
)
def test_the_port_is_brought_up_before_its_next_request(group, starts):
    """Its PSNs go on if only its link was down: none of its requests before is missing."""
    s, a, b = listener(group)
    for _ in range(2):
        report(s, a, group)
    bring_up(s, a, 0 if starts else a.lid)
    assert ends(s, a, b) == (set() if starts else {RECEIVER})

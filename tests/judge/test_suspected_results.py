# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspicions of ipoib-check about what the SA said: a packet contradicts the JoinState that the SA gave
its port, the SA's report that a group does not exist, or the broadcast group's record, and only a
packet that was not captured could explain it. Each has its harmless look-alikes, which raise none.

lose() takes the last request and response of a tape away: the next packet of the port's GSI shows by
its PSN that one is missing."""
import json

import pytest

from frames import fabric, ib
from frames.events import copy_last, number
from frames.fabric import CREATED as CREATED_TRAP, DELETED as DELETED_TRAP, FULL, SEND_ONLY
from frames.ib import encap
from frames.messages import NOBODY, igmp_report, mld_report, udp4, udp6
from frames.subnet import FromStart, Host
from frames.suspected import GROUP, late, send
from support import check

SCOPE, TRAPS = "rfc4391.4.scope-consistent", "rfc4391.10.subscribe-traps"
JOINED, RECEIVER = "rfc4391.10.join-before-send", "rfc4391.10.receiver-fullmember"
MEMBER, EXISTS = "rfc4391.5.full-member-join", "rfc4391.5.broadcast-group-exists"
BEFORE_USE, ATTRIBUTES = "rfc4391.10.group-before-use", "rfc4391.10.group-attributes"
OTHERS = "rfc4391.10.group-other-attributes"
IN_A_PACKET = "in a packet that was not captured"
AGAIN = f"unless the port joined the group again {IN_A_PACKET}"
JOINED_ONCE = f"unless the port joined the group {IN_A_PACKET}"
AS_FULL = f"unless the port joined the group as FullMember {IN_A_PACKET}"
CREATED = f"unless a port created the group again {IN_A_PACKET}"
SCOPES = "rfc4391.4.scope-consistent"
MOVED = f"unless the interface joined a link of this scope {IN_A_PACKET}"
GROUP6 = "ff0e::1:2"


def suspected(s, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    return check.suspicions(path)


def lose(s):
    """The last request and its response were not captured."""
    del s.records[-2:]


def gap(s, host, peer):
    """A request of the host was not captured; a later one was."""
    s.path(host, peer)
    lose(s)
    s.wait(1)
    s.path(host, peer)
    s.wait(1)


class Of4:
    """A group of IPv4: its MGID, a datagram to it, a report by IGMP."""

    text = "ff12:401b:ffff::f01:203"
    mgid = staticmethod(lambda s: s.group4(GROUP))
    send = staticmethod(send)

    @staticmethod
    def report(s, host):
        s.wait(6)
        s.ud(host, s.group4(GROUP), igmp_report(host, GROUP))
        return number(s)


class Of6:
    """The same of IPv6, by MLD."""

    text = "ff12:601b:ffff::1:2"
    mgid = staticmethod(lambda s: s.group6(GROUP6))

    @staticmethod
    def send(s, host):
        s.wait(1)
        s.ud(host, s.group6(GROUP6), udp6(host, GROUP6, b"1234"))
        return number(s)

    @staticmethod
    def report(s, host):
        s.wait(6)
        s.ud(host, s.group6(GROUP6), mld_report(host, GROUP6))
        return number(s)


BOTH = pytest.mark.parametrize("of", [Of4, Of6], ids=["IPv4", "IPv6"])


def joined(of, state=FULL):
    """a joins the broadcast group, and the group in this state."""
    s, a, b, c = late()
    s.join(a, s.broadcast())
    s.wait(1)
    s.join(a, of.mgid(s), state)
    s.wait(1)
    return s, a, b, c


# ---- a port sends to a group after its leave


def left(of):
    """a joins and leaves the group. The last frame is the SA's response to the leave."""
    s, a, b, _ = joined(of)
    s.leave(a, of.mgid(s))
    s.wait(1)
    return s, a, b


@BOTH
def test_a_port_sends_to_a_group_that_it_has_left(of, tmp_path):
    s, a, b = left(of)
    response = number(s)
    gap(s, a, b)
    frame = of.send(s, a)
    texts = ("a member of the group", "it left the group", AGAIN)
    assert suspected(s, tmp_path) == [(JOINED, frame, response, *texts)]


@BOTH
def test_it_joins_again(of, tmp_path):
    s, a, b = left(of)
    gap(s, a, b)
    s.join(a, of.mgid(s))
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_it_joined_again_in_a_lost_packet_and_leaves_again(of, tmp_path):
    """The second leave shows that it was a member."""
    s, a, b = left(of)
    s.join(a, of.mgid(s))
    lose(s)
    s.path(a, b)
    of.send(s, a)
    s.wait(1)
    s.leave(a, of.mgid(s))
    assert suspected(s, tmp_path) == []


@BOTH
def test_it_was_asked_to_join_again(of, tmp_path):
    """The SM asks for it, as after its restart, and the join was not captured."""
    s, a, b = left(of)
    s.node_info(a)
    s.port_info(a, reregister=True)
    gap(s, a, b)
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_its_join_has_no_response(of, tmp_path):
    s, a, b = left(of)
    gap(s, a, b)
    s.join(a, of.mgid(s))
    del s.records[-1:]
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_the_interface_was_restarted(of, tmp_path):
    """It leaves the broadcast group too. Then it joins all groups again: a gap lost these joins."""
    s, a, b = left(of)
    s.leave(a, s.broadcast())
    gap(s, a, b)
    of.send(s, a)
    assert JOINED not in {one[0] for one in suspected(s, tmp_path)}


def test_the_datagram_may_have_been_sent_before_the_leave(tmp_path):
    s, a, b, _ = joined(Of4)
    gap(s, a, b)
    s.leave(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    assert suspected(s, tmp_path) == []


def test_every_frame_of_a_leave_is_captured_twice(tmp_path):
    s, a, b, _ = joined(Of4)
    s.leave(a, s.group4(GROUP))
    copy_last(s)
    s.wait(1)
    s.path(a, b)
    lose(s)
    s.wait(1)
    s.path(a, b)
    send(s, a)
    copy_last(s)
    [(rule, *_)] = suspected(s, tmp_path)
    assert rule == JOINED


def test_another_port_sends_to_the_group(tmp_path):
    """It joined before the capture."""
    s, a, b = left(Of4)
    gap(s, a, b)
    send(s, b)
    assert suspected(s, tmp_path) == []


# ---- a port whose join the SA refused

NO_RESOURCES, INVALID = 0x0100, 0x0200


def refused(of):
    """a joins the broadcast group; the SA refuses its join of the group in the last frame."""
    s, a, b, _ = late()
    s.join(a, s.broadcast())
    s.wait(1)
    s.join(a, of.mgid(s), status=NO_RESOURCES)
    s.wait(1)
    return s, a, b


@BOTH
@pytest.mark.parametrize("retries", [0, 2])
def test_a_port_sends_after_its_join_was_refused(of, retries, tmp_path):
    """That the SA refuses it again explains nothing."""
    s, a, b = refused(of)
    response = number(s)
    frame = of.send(s, a)
    for _ in range(retries):
        s.wait(1)
        s.join(a, of.mgid(s), status=NO_RESOURCES)
    texts = ("a member of the group", "its join was refused", AGAIN)
    assert suspected(s, tmp_path) == [(JOINED, frame, response, *texts)]


@BOTH
@pytest.mark.parametrize("answered", [True, False], ids=["granted", "no response"])
def test_its_next_join_is_granted(of, answered, tmp_path):
    s, a, b = refused(of)
    of.send(s, a)
    s.wait(1)
    s.join(a, of.mgid(s))
    if not answered:
        del s.records[-1:]
    assert suspected(s, tmp_path) == []


@BOTH
def test_an_earlier_join_has_no_response(of, tmp_path):
    s, a, b, _ = late()
    s.join(a, s.broadcast())
    s.join(a, of.mgid(s))
    del s.records[-1:]
    s.wait(1)
    s.join(a, of.mgid(s), status=NO_RESOURCES)
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_a_member_whose_second_join_is_refused(of, tmp_path):
    """It is still a member (IBA 15.2.5.17)."""
    s, a, b, _ = joined(of)
    s.join(a, of.mgid(s), status=NO_RESOURCES)
    s.wait(1)
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_it_was_asked_to_join_again_after_the_refusal(of, tmp_path):
    s, a, b = refused(of)
    s.node_info(a)
    s.port_info(a, reregister=True)
    s.wait(1)
    of.send(s, a)
    assert suspected(s, tmp_path) == []


def test_an_interface_whose_join_of_the_broadcast_group_was_refused(tmp_path):
    s, a, b, _ = late()
    s.join(a, s.broadcast(), status=INVALID)
    response = number(s)
    s.wait(1)
    frame = send(s, a)
    texts = ("a FullMember of the broadcast group", "its join was refused", JOINED_ONCE)
    assert suspected(s, tmp_path) == [(MEMBER, frame, response, *texts)]


def test_an_interface_that_joined_the_broadcast_group_after_all(tmp_path):
    s, a, b, _ = late()
    s.join(a, s.broadcast(), status=INVALID)
    s.wait(1)
    send(s, a)
    s.join(a, s.broadcast())
    assert suspected(s, tmp_path) == []


# ---- a listener whose join had another JoinState


@BOTH
def test_a_listener_that_joined_to_send_only(of, tmp_path):
    s, a, b, _ = joined(of, SEND_ONLY)
    response = number(s)
    gap(s, a, b)
    of.report(s, a)
    frame = of.report(s, a)
    texts = ("a FullMember of the group that it listens to", "a member without FullMember")
    found = [one for one in suspected(s, tmp_path) if one[0] == RECEIVER]
    assert found == [(RECEIVER, frame, response, *texts, AS_FULL)]


@BOTH
def test_the_first_report_may_come_before_the_join(of, tmp_path):
    s, a, b, _ = joined(of, SEND_ONLY)
    gap(s, a, b)
    of.report(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_a_listener_joins_as_full_member_later(of, tmp_path):
    """Its join was lost; it joins again when the interface is brought up again."""
    s, a, b, _ = joined(of, SEND_ONLY)
    gap(s, a, b)
    for _ in range(2):
        of.report(s, a)
    s.wait(1)
    s.join(a, of.mgid(s))
    assert suspected(s, tmp_path) == []


@BOTH
def test_a_listener_that_joined_before_the_capture(of, tmp_path):
    s, a, b, _ = late()
    s.path(a, b)
    for _ in range(3):
        of.report(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_a_listener_was_asked_to_join_again(of, tmp_path):
    s, a, b, _ = joined(of, SEND_ONLY)
    s.node_info(a)
    s.port_info(a, reregister=True)
    gap(s, a, b)
    for _ in range(2):
        of.report(s, a)
    assert suspected(s, tmp_path) == []


# ---- an interface that joined the broadcast group without FullMember


def on_link(state):
    """a joins the broadcast group in this state, then the group. The response to the first is
    frame 2."""
    s, a, b, c = late()
    s.join(a, s.broadcast(), state)
    s.wait(1)
    s.join(a, s.group4(GROUP))
    s.wait(1)
    return s, a, b, c


def test_an_interface_that_is_no_full_member_of_the_broadcast_group(tmp_path):
    s, a, b, _ = on_link(SEND_ONLY)
    gap(s, a, b)
    frame = send(s, a)
    texts = ("a FullMember of the broadcast group", "it joined without FullMember", AS_FULL)
    assert suspected(s, tmp_path) == [(MEMBER, frame, 2, *texts)]


def test_an_interface_joined_the_broadcast_group_as_full_member(tmp_path):
    s, a, b, _ = on_link(FULL)
    gap(s, a, b)
    send(s, a)
    assert suspected(s, tmp_path) == []


def test_a_program_joins_for_the_interface_and_the_sa_adds_the_states(tmp_path):
    """The interface joined before the capture: the response to the program has both bits."""
    s, a, b, _ = late()
    s.states[a.gid, s.broadcast()] = FULL
    s.join(a, s.broadcast(), SEND_ONLY)
    gap(s, a, b)
    send(s, a)
    assert suspected(s, tmp_path) == []


def test_another_scope_of_a_datagram_to_one_port_is_not_known(tmp_path):
    s, a, b, _ = on_link(SEND_ONLY)
    gap(s, a, b)
    s.ping(a, b)
    assert suspected(s, tmp_path) == []


# ---- a group that the SA said does not exist


def absent(group, host_of=lambda a, b: a):
    """The SA says to a that the group does not exist: frame 4. A packet of a comes before."""
    s, a, b, _ = late()
    s.path(a, b)
    s.wait(1)
    s.query(host_of(a, b), group(s), found=False)
    s.wait(1)
    return s, a, b


@BOTH
def test_a_datagram_to_a_group_that_does_not_exist(of, tmp_path):
    s, a, b = absent(of.mgid)
    gap(s, a, b)
    frame = of.send(s, a)
    texts = ("a group that the SA has", "the SA said that there is none", CREATED)
    assert suspected(s, tmp_path) == [(BEFORE_USE, frame, 4, *texts)]


@BOTH
def test_the_group_is_created_by_then(of, tmp_path):
    s, a, b = absent(of.mgid)
    gap(s, a, b)
    s.join(b, of.mgid(s))
    of.send(s, a)
    assert suspected(s, tmp_path) == []


@BOTH
def test_a_record_of_the_group_comes_later(of, tmp_path):
    """Its creation was lost."""
    s, a, b = absent(of.mgid)
    gap(s, a, b)
    of.send(s, a)
    s.wait(1)
    s.query(b, of.mgid(s))
    assert suspected(s, tmp_path) == []


@BOTH
def test_the_sa_lost_the_group_and_said_so_to_another_port(of, tmp_path):
    """As after its restart: a joined before."""
    s, a, b = absent(of.mgid, lambda a, b: b)
    gap(s, a, b)
    of.send(s, a)
    assert suspected(s, tmp_path) == []


def test_datagrams_of_a_link_without_broadcast_group(tmp_path):
    s, a, b = absent(lambda s: s.broadcast())
    gap(s, a, b)
    s.arp_request(a, b.ip, tha=NOBODY)
    texts = ("a broadcast group", "IPoIB datagrams, though the SA has no broadcast group")
    assert suspected(s, tmp_path) == [(EXISTS, number(s), 4, *texts, CREATED)]


def test_the_broadcast_group_is_created_by_then(tmp_path):
    s, a, b = absent(lambda s: s.broadcast())
    gap(s, a, b)
    s.join(b, s.broadcast())
    s.arp_request(a, b.ip)
    assert suspected(s, tmp_path) == []


# ---- a reply to ARP with another target than the requester


RFC826 = "rfc4391.9.2.arp-as-rfc826"
ANOTHER = "unless the reply answers another request, which was not captured"


def answered(target, ip=None):
    """a requests b's address: frame 1. b's reply in frame 2 has this target's link-layer address."""
    s, a, b, c = late()
    s.arp_request(a, b.ip)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, b.ip, target(a), ip or a.ip)))
    return s, a, b, c


@pytest.mark.parametrize(
    "target",
    [lambda a: Host(7, qpn=a.qpn).addr, lambda a: NOBODY],
    ids=["another GID", "no address"],
)
def test_a_reply_has_another_target(target, tmp_path):
    s, *_ = answered(target)
    texts = ("the requester's link-layer address", "another address", ANOTHER)
    assert suspected(s, tmp_path) == [(RFC826, 2, 1, *texts)]


def test_a_reply_has_the_requesters_address(tmp_path):
    s, *_ = answered(lambda a: a.addr)
    assert suspected(s, tmp_path) == []


def test_a_second_reply_may_answer_another_request(tmp_path):
    """Another interface has a's IP address too. Its request was not captured."""
    s, a, b, _ = answered(lambda a: a.addr)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, b.ip, Host(7, qpn=a.qpn).addr, a.ip)))
    assert suspected(s, tmp_path) == []


def test_a_reply_long_after_the_request(tmp_path):
    s, a, b, _ = late()
    s.arp_request(a, b.ip)
    s.wait(6)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, b.ip, Host(7, qpn=a.qpn).addr, a.ip)))
    assert suspected(s, tmp_path) == []


def test_a_reply_to_two_interfaces_with_one_address(tmp_path):
    """Both requests were captured; each gets its reply."""
    s, a, b, c = late()
    twin = c.also(ip=a.ip)
    for host in (a, twin):
        s.arp_request(host, b.ip)
    for host in (a, twin):
        s.arp_reply(b, host)
    assert suspected(s, tmp_path) == []


def test_an_announcement_to_all_has_no_target(tmp_path):
    s, a, b, _ = late()
    s.arp_request(a, b.ip)
    s.ud(b, s.broadcast(), encap(0x0806, ib.arp(2, b.addr, b.ip, NOBODY, b.ip)))
    assert suspected(s, tmp_path) == []


def test_a_reply_names_the_address_of_another_host_that_has_asked_too(tmp_path):
    """c's request has its reply. The reply to a goes to a's QPN, with c's address in it."""
    s, a, b, c = late()
    s.arp_request(c, b.ip)
    s.arp_reply(b, c)
    s.arp_request(a, b.ip)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, b.ip, c.addr, a.ip)))
    texts = ("the requester's link-layer address", "another address", ANOTHER)
    assert suspected(s, tmp_path) == [(RFC826, 4, 3, *texts)]


def known(s, *hosts):
    """The hosts have announced their addresses."""
    for host in hosts:
        s.arp_request(host, "10.0.0.99")


@pytest.mark.parametrize("asked", [False, True], ids=["never", "a minute ago"])
def test_a_reply_has_another_senders_ip(asked, tmp_path):
    """a asks for b's address; b answers with c's. Whether a has asked c before says nothing."""
    s, a, b, c = late()
    known(s, b, c)
    if asked:
        s.arp_request(a, c.ip)
        s.arp_reply(c, a)
        s.wait(60)
    s.arp_request(a, b.ip)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, c.ip, a.addr, a.ip)))
    texts = ("the requested IP address", "another address", ANOTHER)
    assert suspected(s, tmp_path) == [(RFC826, number(s), number(s) - 1, *texts)]


def test_an_address_that_moved_is_what_was_asked_for(tmp_path):
    """b has taken over c's address: a asked for it, and for b's own."""
    s, a, b, c = late()
    known(s, b, c)
    s.arp_request(a, b.ip)
    s.arp_request(a, c.ip)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, c.ip, a.addr, a.ip)))
    s.arp_reply(b, a)
    assert suspected(s, tmp_path) == []


def test_an_address_that_moved_is_announced_to_a_neighbour(tmp_path):
    """b has taken over c's address, and answers no request: a's has its reply."""
    s, a, b, c = late()
    known(s, b, c)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, c.ip, a.addr, a.ip)))
    assert suspected(s, tmp_path) == []


def answers_for_another(replies):
    """a asks for b's address; b answers with one that no host has announced. replies: b's right
    reply follows."""
    s, a, b, _ = late()
    known(s, b)
    s.arp_request(a, b.ip)
    s.ud(b, a, encap(0x0806, ib.arp(2, b.addr, "10.0.0.77", a.addr, a.ip)))
    if replies:
        s.arp_reply(b, a)
    return s


def test_a_reply_has_a_senders_ip_that_is_not_known(tmp_path):
    texts = ("the requested IP address", "another address", ANOTHER)
    assert suspected(answers_for_another(False), tmp_path) == [(RFC826, 3, 2, *texts)]


def test_the_right_reply_follows_the_announcement_to_a_neighbour(tmp_path):
    assert suspected(answers_for_another(True), tmp_path) == []


@pytest.mark.parametrize("known_there", [True, False], ids=["of another port", "of no known port"])
def test_a_reply_goes_to_another_lid(known_there, tmp_path):
    """a asks for b's address; b's reply goes to c's LID, or to one that may be a's by its LMC."""
    s, a, b, c = late()
    known(s, c)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a, dlid=c.lid if known_there else 99)
    texts = (f"the requester's LID {a.lid}", f"LID {c.lid}, which is another port's", ANOTHER)
    expected = [("rfc4391.9.1.1.arp-reply-qpn", 3, 2, *texts)] if known_there else []
    assert suspected(s, tmp_path) == expected


# ---- a group with other attributes than the broadcast group


def record(s, mgid, **changed):
    """The SA's record of a group, which b requests."""
    b = s.hosts[1]
    data = ib.mcmember(mgid)
    reply = s.record(s.sm, mgid, FULL, **changed)
    s.ask(b, ib.GET, ib.ATTR_MC_MEMBER, data, ib.MCM["mgid"], reply, 0, 7)
    s.wait(1)
    return number(s)


def two_records(of, **changed):
    s, *s.hosts = late()
    other = record(s, s.broadcast())
    return s, other, record(s, of.mgid(s), **changed)


CHANGED = [  # an attribute, the rule, its name
    ({"qkey": 0x80000BAD}, ATTRIBUTES, "Q_Key"),
    ({"mtu": 5}, ATTRIBUTES, "MTU"),
    ({"sl": 3}, ATTRIBUTES, "SL"),
    ({"hop": 9}, ATTRIBUTES, "HopLimit"),
    ({"rate": 2}, OTHERS, "rate"),
]


@BOTH
@pytest.mark.parametrize("changed, rule, name", CHANGED)
def test_the_record_of_a_group_has_another_attribute(of, changed, rule, name, tmp_path):
    s, other, frame = two_records(of, **changed)
    [(value, wanted)] = [(v, s.parameters[k]) for k, v in changed.items()]
    texts = (f"{name} 0x{wanted:x}", f"{name} 0x{value:x}")
    unless = "unless the broadcast group had other attributes when the group was created"
    assert suspected(s, tmp_path) == [(rule, frame, other, *texts, unless)]


def test_the_cause_names_the_attribute(tmp_path):
    """The report of another attribute with the same number is no baseline for this one."""
    reports = []
    for name in ("sl", "hop"):
        s, _, _ = two_records(Of4, **{name: 3})
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(s.pcap())
        reports.append(check.run("--format", "json", str(path)).stdout)
        (tmp_path / f"{name}.json").write_bytes(reports[-1])
    cases = [
        c
        for text in reports
        for r in json.loads(text)["results"]
        if r["outcome"] == "suspected"
        for c in r["cases"]
    ]
    assert [(c["cause"], c["value"]) for c in cases] == [
        ("sl-differs", 3),
        ("hoplimit-differs", 3),
    ]
    fails = ["--fail-on", "suspected", "--baseline", str(tmp_path / "sl.json")]
    check.expect(check.OK, *fails, str(tmp_path / "sl.pcap"))
    check.expect(check.VIOLATED, *fails, str(tmp_path / "hop.pcap"))


@BOTH
def test_the_record_of_a_group_has_the_same_attributes(of, tmp_path):
    s, _, _ = two_records(of)
    assert suspected(s, tmp_path) == []


@BOTH
def test_the_broadcast_group_has_changed(of, tmp_path):
    """The group may have the attributes of before the change, or of one before the capture."""
    s, _, _ = two_records(of)
    record(s, s.broadcast(), qkey=0x80000BAD)
    record(s, of.mgid(s))
    assert suspected(s, tmp_path) == []


def to_link(s, host, **fields):
    """A datagram to the broadcast group. Returns its number."""
    s.wait(1)
    s.to_group4(host, "10.255.255.255", s.broadcast(), **fields)
    return number(s)


@BOTH
@pytest.mark.parametrize(
    "changed, rule, name",
    [
        ({"qkey": 0x80000BAD}, ATTRIBUTES, "Q_Key"),
        ({"sl": 3}, ATTRIBUTES, "SL"),
        ({"hop": 9}, ATTRIBUTES, "HopLimit"),
        ({"tclass": 4}, OTHERS, "TClass"),
        ({"flow": 5}, OTHERS, "FlowLabel"),
    ],
)
def test_the_record_differs_from_the_datagrams_of_the_link(of, changed, rule, name, tmp_path):
    """The SA's record of the broadcast group was not captured."""
    s, a, b, c = late()
    s.hosts = [a, b, c]
    to_link(s, a)
    other = to_link(s, b)
    frame = record(s, of.mgid(s), **changed)
    [(value, wanted)] = [(v, s.parameters[k]) for k, v in changed.items()]
    texts = (f"{name} 0x{wanted:x}", f"{name} 0x{value:x}")
    unless = "unless the broadcast group had other attributes when the group was created"
    assert suspected(s, tmp_path) == [(rule, frame, other, *texts, unless)]


@BOTH
@pytest.mark.parametrize("hosts, of_record, of_last", [(1, 3, 0), (2, 0, 0), (2, 3, 3)])
def test_the_record_may_fit_the_link(of, hosts, of_record, of_last, tmp_path):
    """One sender may be wrong. The attributes are the same. The link's have changed, and the group was
    created before or after that."""
    s, *s.hosts = late()
    for host in s.hosts[:hosts]:
        to_link(s, host)
    if of_last:
        for host in s.hosts:
            to_link(s, host, sl=of_last)
    record(s, of.mgid(s), sl=of_record)
    assert suspected(s, tmp_path) == []


@BOTH
@pytest.mark.parametrize("groups", [1, 2])
def test_the_record_differs_from_the_datagrams_to_other_groups(of, groups, tmp_path):
    """No record was captured before. The datagrams to one group alone may be the wrong ones."""
    s, *s.hosts = late()
    for group in ("239.9.9.9", "239.9.9.10")[:groups]:
        for host in s.hosts:
            s.wait(1)
            s.to_group4(host, group)
    frame = record(s, of.mgid(s), sl=3)
    expected = [(ATTRIBUTES, frame, frame - 2)] if groups == 2 else []
    assert [one[:3] for one in suspected(s, tmp_path)] == expected


@BOTH
def test_the_broadcast_group_is_gone(of, tmp_path):
    """The link is created again, with other attributes: its earlier record says nothing."""
    s, a, b, c = late()
    s.join(b, s.broadcast())
    to_link(s, a)
    s.query(a, s.broadcast(), found=False)
    s.wait(1)
    s.join(c, of.mgid(s), sl=3)
    assert suspected(s, tmp_path) == []


@BOTH
def test_the_record_has_the_previous_attributes_of_the_link(of, tmp_path):
    s, *s.hosts = late()
    for sl in (3, 0):
        for host in s.hosts:
            to_link(s, host, sl=sl)
    record(s, of.mgid(s), sl=3)
    assert suspected(s, tmp_path) == []


def outcomes(s, rule, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    report = json.loads(check.run("--format", "json", str(path)).stdout)
    return {r["outcome"] for r in report["results"] if r["id"] == rule}


@BOTH
@pytest.mark.parametrize("sl", [3, 0])
@pytest.mark.parametrize(
    "shown, outcome",
    [
        ("report", "fail"),
        ("no report", "suspected"),
        ("older", "suspected"),
        ("again", "suspected"),
    ],
)
def test_the_group_was_created_with_other_attributes(of, shown, outcome, sl, tmp_path):
    """On a running host: the ports have sent requests before the capture, so the group may be older than
    the broadcast group's attributes of now. The SA's Report shows that it was created now; but not if
    it had a member before, or another record: then the Report may be late."""
    s, a, b, _ = late()
    if shown == "older":
        s.join(b, of.mgid(s), sl=sl)
    s.wait(1)
    s.join(a, s.broadcast())
    s.wait(1)
    s.join(a, of.mgid(s), sl=sl)
    if shown == "again":
        s.join(b, of.mgid(s), sl=2)
    if shown != "no report":
        s.report(b, fabric.CREATED, of.mgid(s))
    found = outcomes(s, ATTRIBUTES, tmp_path) & {"fail", "suspected"}
    assert found == ({outcome} if sl or shown == "again" else set())


def test_the_record_is_at_fault_and_the_report_of_the_group_proves_it(tmp_path):
    """The SA's response to the join has another SL, frame N; a Report that the group was created, which
    has no SL, is frame N + 1."""
    s, a, b, _ = late()
    s.join(a, s.broadcast())
    s.wait(1)
    s.join(a, s.group4(GROUP), sl=3)
    at_fault = number(s)
    s.report(b, fabric.CREATED, s.group4(GROUP))
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    report = json.loads(check.run("--format", "json", str(path)).stdout)
    [case] = [
        case
        for r in report["results"]
        if (r["id"], r["outcome"]) == (ATTRIBUTES, "fail")
        for case in r["cases"]
    ]
    assert (case["frames"], case["proved_frame"]) == ([at_fault], at_fault + 1)


# ---- a group with other attributes than other groups of the link


SECOND = "239.1.2.4"


def records(s, *changes):
    """The SA's records of groups, one after the other. Returns their numbers."""
    groups = [s.group6(GROUP6), s.group4(GROUP), s.group4(SECOND), s.group6("ff0e::1:3")]
    return [record(s, mgid, **changed) for mgid, changed in zip(groups, changes)]


@pytest.mark.parametrize("changes, deviant", [(({}, 1, {}), 1), (({}, {}, 1), 2)])
@pytest.mark.parametrize(
    "changed, rule, name",
    CHANGED
    + [
        ({"life": 5}, OTHERS, "packet life time"),
    ],
)
def test_the_record_differs_from_that_of_another_group(
    changes, deviant, changed, rule, name, tmp_path
):
    """The SA's record of the broadcast group was not captured. Two groups agree: before the third one, or
    with it."""
    s, *s.hosts = late()
    frames = records(s, *[changed if c else {} for c in changes])
    [(value, wanted)] = [(v, s.parameters[k]) for k, v in changed.items()]
    texts = (f"{name} 0x{wanted:x}", f"{name} 0x{value:x}")
    unless = "unless the broadcast group had other attributes when the group was created"
    expected = (rule, frames[deviant], frames[deviant - 1], *texts, unless)
    assert suspected(s, tmp_path) == [expected]


@pytest.mark.parametrize(
    "changes",
    [
        [{}, {"sl": 3}],
        [{}, {"sl": 3}, {"sl": 3}],
        [{}, {}, {"sl": 3}, {"sl": 3}],
        [{"life": 0}, {"life": 0}, {}],
    ],
    ids=["two groups", "changed", "changed after two", "life time of Linux"],
)
def test_the_records_of_the_link_may_be_right(changes, tmp_path):
    """The link's attributes have changed between two groups; or OpenSM has granted Linux's packet life
    time of 0 to some."""
    s, *s.hosts = late()
    records(s, *changes)
    assert suspected(s, tmp_path) == []


def test_the_broadcast_record_is_captured_later(tmp_path):
    """It has the attributes of the group that was suspected."""
    s, *s.hosts = late()
    records(s, {}, {"sl": 3}, {})
    record(s, s.broadcast(), sl=3)
    assert suspected(s, tmp_path) == []


def test_the_subnet_manager_starts_between_the_records(tmp_path):
    s, *s.hosts = late()
    records(s, {}, {})
    s.node_info(s.hosts[1])
    s.port_info(s.hosts[1], reregister=True)
    record(s, s.group4(SECOND), sl=3)
    assert suspected(s, tmp_path) == []


# ---- a group of another scope than the link's


def test_a_queue_pair_sends_to_groups_of_two_scopes(tmp_path):
    """No link of either is captured."""
    s, a, b, _ = late()
    scopes = {scope: ib.mgid_ipv4(GROUP, pkey=s.full(), scope=scope) for scope in (2, 5)}
    s.to_group4(b, GROUP, scopes[5])
    s.to_group4(a, GROUP, scopes[2])
    other = number(s)
    s.wait(1)
    s.to_group4(a, GROUP, scopes[5])
    unless = f"unless the interface joined a link of this scope {IN_A_PACKET}"
    expected = ("rfc4391.4.scope-consistent", number(s), other, "0x12", "0x15", unless)
    assert suspected(s, tmp_path) == [expected]


@pytest.mark.parametrize("link, sender", [("none", 0), ("later", 0), ("before", 0), ("none", 1)])
def test_a_datagram_to_a_group_of_another_scope(link, sender, tmp_path):
    """Of a's interface, which has sent to the link of the scope 2, or of b, which has not. The partition
    may have a link of the scope 5, too, of which c is a member."""
    s, *s.hosts = late()
    wide = ib.mgid_ipv4("255.255.255.255", pkey=s.full(), scope=5)
    other = to_link(s, s.hosts[0])
    if link == "before":
        s.arp_request(s.hosts[2], "10.0.0.9", dst=wide)
    s.wait(1)
    s.to_group4(s.hosts[sender], GROUP, ib.mgid_ipv4(GROUP, pkey=s.full(), scope=5))
    frame = number(s)
    s.wait(1)
    if link == "later":
        s.arp_request(s.hosts[2], "10.0.0.9", dst=wide)
    unless = f"unless the interface joined a link of this scope {IN_A_PACKET}"
    expected = [("rfc4391.4.scope-consistent", frame, other, "0x12", "0x15", unless)]
    assert suspected(s, tmp_path) == (expected if link == "none" and sender == 0 else [])


def test_a_known_deviation_is_no_suspicion(tmp_path):
    """OpenSM: a group that Linux creates gets the packet life time 0."""
    s, _, _ = two_records(Of4, life=0)
    assert suspected(s, tmp_path) == []


def test_known_deviations_leave_room_for_suspicions(tmp_path):
    """There are more of them than suspicions that can wait. The one that waits is explained."""
    s, _, _ = two_records(Of4, life=0)
    for n in range(300):
        record(s, s.group4(f"239.1.{n // 200}.{n % 200 + 1}"), life=0)
    a, b, _ = s.hosts
    s.query(a, s.group4("239.9.9.9"), found=False)
    s.wait(1)
    gap(s, a, b)
    s.to_group4(a, "239.9.9.9")
    (tmp_path / "before.pcap").write_bytes(s.pcap())
    [(rule, *_)] = check.suspicions(tmp_path / "before.pcap")
    assert rule == BEFORE_USE
    s.join(b, s.group4("239.9.9.9"))
    assert suspected(s, tmp_path) == []


# ---- joins of one port in two scopes


def test_a_member_of_one_scope_joins_a_group_of_another(tmp_path):
    s, a, b, _ = late()
    s.join(a, s.broadcast())
    joined = number(s)
    s.wait(1)
    s.join(a, ib.mgid_ipv4("239.9.9.9", scope=5))
    assert suspected(s, tmp_path) == [(SCOPES, number(s) - 1, joined, "0x12", "0x15", MOVED)]


def test_the_link_of_the_other_scope_is_captured_later(tmp_path):
    s, a, b, _ = late()
    s.join(a, s.broadcast())
    s.wait(1)
    s.join(a, ib.mgid_ipv4("239.9.9.9", scope=5))
    s.scope = 5
    s.join(b, s.broadcast())
    assert suspected(s, tmp_path) == []


# ---- a group that was deleted


def told_of_deletion(told=True):
    """b, its only FullMember, leaves the group that a has joined to send. The SA reports to a that
    it deleted it."""
    s, a, b, _ = late()
    s.path(a, b)
    s.join(b, s.group4(GROUP))
    s.join(a, s.group4(GROUP), SEND_ONLY)
    s.wait(1)
    s.leave(b, s.group4(GROUP))
    s.report(a if told else b, 67, s.group4(GROUP))
    report = number(s) - 1
    s.wait(1)
    return s, a, b, report


def test_a_member_sends_after_the_report_of_the_deletion(tmp_path):
    s, a, b, report = told_of_deletion()
    frame = send(s, a)
    texts = ("a group that the SA has", "the SA said that it was deleted", CREATED)
    assert suspected(s, tmp_path) == [(BEFORE_USE, frame, report, *texts)]


def test_the_deletion_was_reported_to_another_port(tmp_path):
    s, a, _, _ = told_of_deletion(told=False)
    send(s, a)
    assert suspected(s, tmp_path) == []


def test_the_group_is_created_again(tmp_path):
    s, a, b, _ = told_of_deletion()
    s.join(b, s.group4(GROUP))
    send(s, a)
    assert suspected(s, tmp_path) == []


# ---- a sender that ends its subscriptions


def ends_subscriptions(s, host):
    for trap in (CREATED_TRAP, DELETED_TRAP):
        data = ib.inform_info("::", trap, subscribe=0)
        s.ask(host, ib.SET, ib.ATTR_INFORM_INFO, data)
    s.wait(1)


def sends_only(subscribes=True):
    s, a, b, _ = late()
    s.path(a, b)
    s.join(b, s.group4(GROUP))
    s.join(a, s.group4(GROUP), SEND_ONLY)
    if subscribes:
        s.subscribe(a)
    s.wait(1)
    return s, a


def test_a_sender_ends_its_subscriptions(tmp_path):
    s, a = sends_only()
    ends_subscriptions(s, a)
    frame = send(s, a)
    [(rule, at, other, *_)] = suspected(s, tmp_path)
    assert (rule, at, other) == (TRAPS, frame, frame - 1)


def test_a_sender_that_subscribes_again(tmp_path):
    s, a = sends_only()
    ends_subscriptions(s, a)
    send(s, a)
    s.subscribe(a)
    send(s, a)
    assert suspected(s, tmp_path) == []


def test_a_sender_whose_subscription_was_not_captured(tmp_path):
    s, a, b, _ = late()
    s.path(a, b)
    s.join(b, s.group4(GROUP))
    s.join(a, s.group4(GROUP), SEND_ONLY)
    s.wait(1)
    send(s, a)
    assert suspected(s, tmp_path) == []


def refused_subscriptions(s, a):
    for trap in (CREATED_TRAP, DELETED_TRAP):
        info = ib.inform_info("::", trap)
        s.ask(a, ib.SET, ib.ATTR_INFORM_INFO, info, 0, info, NO_RESOURCES)
        s.wait(1)


def test_a_sender_whose_subscriptions_are_refused(tmp_path):
    s, a = sends_only(subscribes=False)
    refused_subscriptions(s, a)
    first = number(s) - 2
    frame = send(s, a)
    refused_subscriptions(s, a)
    [(rule, at, other, *_)] = suspected(s, tmp_path)
    assert (rule, at, other) == (TRAPS, frame, first)


@pytest.mark.parametrize("again", [True, False], ids=["then granted", "granted before"])
def test_a_sender_whose_subscriptions_are_refused_once(again, tmp_path):
    s, a = sends_only(subscribes=not again)
    refused_subscriptions(s, a)
    send(s, a)
    if again:
        s.subscribe(a)
    assert suspected(s, tmp_path) == []


# ---- a broadcast of another scope


def broadcast_of(scope):
    """a, whose broadcasts have scope 2, sends one of this scope: frame 2."""
    s, a, b, _ = late()
    s.arp_request(a, b.ip)
    s.wait(1)
    other = ib.mgid_ipv4("255.255.255.255", scope=scope)
    s.arp_request(a, b.ip, other)
    s.wait(1)
    return s, a, b, other


def test_a_broadcast_of_another_scope(tmp_path):
    s, a, b, _ = broadcast_of(5)
    s.arp_request(a, b.ip)
    found = [one[:2] for one in suspected(s, tmp_path)]
    assert (SCOPE, 2) in found


def test_the_interface_moves_to_the_link_of_another_scope(tmp_path):
    s, a, b, other = broadcast_of(5)
    s.arp_request(a, b.ip, other)
    assert SCOPE not in [one[0] for one in suspected(s, tmp_path)]


def test_the_sa_has_the_link_of_that_scope(tmp_path):
    """a has an interface on it, too, which joins again later."""
    s, a, b, other = broadcast_of(5)
    s.arp_request(a, b.ip)
    s.join(a, other)
    assert SCOPE not in [one[0] for one in suspected(s, tmp_path)]


# ---- the parameters of the link, and results that wait for a proof

QKEY_RULE, MTU_RULE = "rfc4391.9.1.2.qkey-from-join", "rfc4391.7.link-mtu"
PARAMETERS = "unless the SA gave the sender other parameters in a response that was not captured"
OTHER_QKEY = 0x80000B1C
CONTRADICTIONS = {
    QKEY_RULE: lambda s, a, b: s.ping(a, b, qkey=OTHER_QKEY),
    MTU_RULE: lambda s, a, b: s.ud(a, b, udp4(a, b.ip, bytes(2048))),
}


def with_record():
    """a joined before the capture, c joins: the record of the broadcast group is in frame 2."""
    s, a, b, c = late()
    s.join(c, s.broadcast())
    s.wait(1)
    return s, a, b, c


@pytest.mark.parametrize("rule", CONTRADICTIONS)
def test_a_datagram_contradicts_the_record_of_its_link(rule, tmp_path):
    s, a, b, _ = with_record()
    CONTRADICTIONS[rule](s, a, b)
    found = suspected(s, tmp_path)
    assert (rule, 3, 2, PARAMETERS) in [(*one[:3], one[5]) for one in found]


@pytest.mark.parametrize("rule", CONTRADICTIONS)
def test_the_sa_gives_other_parameters_later(rule, tmp_path):
    """Were they the group's before, too?"""
    s, a, b, c = with_record()
    CONTRADICTIONS[rule](s, a, b)
    s.wait(1)
    s.join(c, s.broadcast(), qkey=OTHER_QKEY)
    assert suspected(s, tmp_path) == []


@pytest.mark.parametrize("same", [True, False], ids=["the same record again", "no record since"])
def test_the_subnet_manager_started_before_the_datagram(same, tmp_path):
    s, a, b, c = with_record()
    s.node_info(a)
    s.port_info(a, reregister=True)
    s.wait(1)
    s.ping(a, b, qkey=OTHER_QKEY)
    s.wait(1)
    if same:
        s.join(c, s.broadcast())
    assert (QKEY_RULE in [one[0] for one in suspected(s, tmp_path)]) == same


@BOTH
@pytest.mark.parametrize("then", ["it ends", "a proof", "a join"])
def test_the_capture_ends_after_a_datagram_to_a_group_that_was_left(of, then, tmp_path):
    """Only the port's next request shows whether a join was lost."""
    s, a, b = left(of)
    response = number(s)
    frame = of.send(s, a)
    if then == "a proof":
        s.wait(1)
        s.path(a, b)
    elif then == "a join":
        s.join(a, of.mgid(s))
    texts = ("a member of the group", "it left the group", AGAIN)
    found = [(JOINED, frame, response, *texts)] if then == "it ends" else []
    assert suspected(s, tmp_path) == found


def test_the_capture_ends_after_two_such_datagrams(tmp_path):
    """The second one does not replace the suspicion."""
    s, a, b = left(Of4)
    frame = send(s, a)
    send(s, a)
    assert [one[:2] for one in suspected(s, tmp_path)] == [(JOINED, frame)]


def test_a_port_sends_on_a_link_whose_join_the_sa_refused(tmp_path):
    """Its whole start was captured; the capture ends."""
    s = FromStart()
    a = Host(1)
    s.node_info(a)
    s.port_info(a, state=ib.INIT)
    s.port_info(a)
    s.wait(1)
    s.join(a, s.broadcast(), status=NO_RESOURCES)
    refusal = number(s)
    s.wait(1)
    s.arp_request(a, "10.0.0.2")
    assert (MEMBER, number(s), refusal) in [one[:3] for one in suspected(s, tmp_path)]

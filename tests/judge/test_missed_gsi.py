# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of a port's GSI (QP1) that were not captured cause no violation.

In each capture every sender conforms, but frames that would show this are missing: no violation may
be found. Next to it, the PSNs, or a captured frame, show that no such frame is missing: the
violation must be found."""
import itertools

import pytest

from frames import ib
from frames.fabric import Node
from frames.subnet import Host, Subnet
from frames.variants import forms
from frames.fabric import FULL, JOIN_MASK, NON_MEMBER
from frames.ib import ACTIVE, PORT_INFO
from frames.messages import arp, udp4
from frames.world import (
    A,
    B,
    CREATE_MASK,
    NODES,
    OTHER_ATTRIBUTES,
    RC_IDS,
    RC_QPS,
    UC_IDS,
    UC_QPS,
    World,
    port_info,
)

from support import capfile, findings


def failures(w, form=forms.infiniband):
    """(frame, rule) of each violation."""
    capture, names = form(w)
    found = findings.failures(capture, "--deviations", "none")
    return [(names[frame - 1], rule) for frame, rule in found]


# ---- a port that received other parameters of the broadcast group before its first packet

GROUP, BROADCAST = "239.7.7.7", ("bcast", "255.255.255.255", 0xC000)
INVALID, NO_RECORDS = 0x0200, 0x0300


def creates(changed, refused, rejoins=False):
    """A joins the broadcast group. Then the SA changes a parameter of it, and B joins. A has not
    joined again since, and creates a group with the parameters that it received. refused: the SA
    refuses to create it. rejoins: A joins the broadcast group again after B."""
    w = World()
    before = {"tclass": 0, "sl": 0, "flow": 0, "hop": 0, **w.record}
    w.record = dict(before)
    w.join(A, *BROADCAST)
    w.record[changed] = OTHER_ATTRIBUTES[changed][0]
    w.join(B, *BROADCAST)
    if rejoins:
        w.join(A, "again", *BROADCAST[1:])
    w.query(A, "group", GROUP, 0)
    w["A.query.group.resp"]["mad.status"] = NO_RECORDS
    w.record = before
    record = w.member(GROUP, A, FULL, 0xC010)
    w.sa("A.create", A, ib.SET, ib.ATTR_MC_MEMBER, record, CREATE_MASK)
    if refused:
        w["A.create.resp"]["mad.status"] = INVALID
    return w


CHANGED = pytest.mark.parametrize("changed", OTHER_ATTRIBUTES)
REFUSED = pytest.mark.parametrize("refused", [False, True], ids=["created", "refused"])


@CHANGED
@REFUSED
@pytest.mark.parametrize("rejoins", [False, True], ids=["once", "again"])
def test_group_that_is_created_after_a_change_conforms(changed, refused, rejoins):
    assert failures(creates(changed, refused, rejoins)) == []


@CHANGED
@REFUSED
def test_missed_join_before_the_first_packet(changed, refused):
    w = creates(changed, refused)
    w.begin("B.join.bcast")
    assert failures(w) == []


@CHANGED
@REFUSED
def test_first_packet_that_no_join_precedes_is_found(changed, refused):
    w = creates(changed, refused)
    w.drop("A.join.bcast", "A.join.bcast.resp")
    assert failures(w) == [("A.create.resp", OTHER_ATTRIBUTES[changed][1])]


@CHANGED
@REFUSED
def test_port_that_joins_again_is_found(changed, refused):
    """A has the new parameters."""
    w = creates(changed, refused, rejoins=True)
    w.begin("B.join.bcast")
    assert failures(w) == [("A.create.resp", OTHER_ATTRIBUTES[changed][1])]


# ---- another port creates the group

OTHER_QKEY = ("qkey", OTHER_ATTRIBUTES["qkey"])


def created_by_another(*captured):
    """A joined the broadcast group before the SA changed its Q_Key; the capture begins later. B
    joins it in the capture. A creates a group with the Q_Key that it received, and B joins it.
    captured: the packets of A's join of the group that were captured."""
    w = World()
    w.psns[A.lid, 1] = 40
    w.smps(B)
    w.join(B, *BROADCAST)
    changed, (value, _) = OTHER_QKEY
    current, w.record = w.record, {**w.record, changed: value}
    if captured:
        member = w.member(GROUP, A, FULL, 0xC010)
        w.sa("A.create", A, ib.SET, ib.ATTR_MC_MEMBER, member, CREATE_MASK)
    for name in {"A.create", "A.create.resp"} & set(w.order) - set(captured):
        w.order.remove(name)
    w.join(B, "group", GROUP, 0xC010)
    w.record = current
    w.last_request(B)
    return w


@pytest.mark.parametrize(
    "captured",
    [("A.create",), ("A.create.resp",), ("A.create", "A.create.resp")],
    ids=["request", "response", "both"],
)
def test_group_that_a_port_with_other_parameters_created(captured):
    assert failures(created_by_another(*captured)) == []


def test_group_with_another_qkey_that_no_other_port_requested_is_found():
    rule = OTHER_QKEY[1][1]
    assert failures(created_by_another()) == [("B.join.group.resp", rule)]


def joined_before_first_packet(rejoined):
    """B's GSI sent packets before its first one in the capture, which follows the SA's response to
    its join. rejoined: B joined the broadcast group again in one of them, and the SA's response has
    other parameters, as the record of the group that B creates then; else they were no joins."""
    w = World()
    w.smps(A)
    w.join(A, *BROADCAST)
    w.psns[B.lid, 1] = 4
    w.join(B, *BROADCAST)
    del w.packets["B.join.bcast"], w.times["B.join.bcast"]
    w.order.remove("B.join.bcast")
    w.record = {**w.record, "qkey": OTHER_ATTRIBUTES["qkey"][0]}
    record = w.member(GROUP, B, FULL, 0xC010)
    w.psns[B.lid, 1] += rejoined
    w.sa("B.create", B, ib.SET, ib.ATTR_MC_MEMBER, record, CREATE_MASK)
    w.last_request(B)
    return w


def test_missed_join_before_the_first_packet_that_follows_a_response():
    assert failures(joined_before_first_packet(True)) == []


# ---- a response to an older request

MEMBER, BEFORE = "rfc4391.5.full-member-join", "rfc4391.10.join-before-send"


def arrange(w, *names):
    """Puts these frames into this order."""
    places = sorted(w.order.index(n) for n in names)
    times = sorted(w.times[n] for n in names)
    for place, time, name in zip(places, times, names):
        w.order[place], w.times[name] = name, time


def ask_elsewhere(w):
    """The SA answers B. The capture of A's port lacks these frames."""
    w.sa(f"B.ask.{len(w.packets)}", B, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"")


def at_port(w):
    """The capture of A's port."""
    w.order = [n for n in w.order if not n.startswith("B.")]
    return w


def joins_broadcast(w):
    """A joins the broadcast group, first as NonMember, then as FullMember."""
    ask_elsewhere(w)
    w.join(A, "first", *BROADCAST[1:], NON_MEMBER)
    w.join(A, "second", *BROADCAST[1:])
    w["A.join.second.resp"]["mcm.join"] = NON_MEMBER | FULL
    return "A.join.first", "A.join.second"


def joins_group(w):
    """A leaves a group and joins it again."""
    w.join(A, *BROADCAST)
    ask_elsewhere(w)
    w.join(A, "group", GROUP, 0xC010)
    ask_elsewhere(w)
    w.leave(A, "first", GROUP, 0xC010)
    w.join(A, "second", GROUP, 0xC010)
    return "A.leave.first", "A.join.second"


SITUATIONS = {joins_broadcast: MEMBER, joins_group: BEFORE}


def answers_later(situation):
    """A sends three requests before the SA answers them, the two of the situation and a join of
    another group, and then a datagram to the group. The SA answers other ports, too. Returns also
    the frames of the situation."""
    w = World()
    w.smps(A)
    first, second = situation(w)
    w.join(A, "other", NODES, 0xC001)
    requests = first, second, "A.join.other"
    arrange(w, *requests, *(n + ".resp" for n in requests))
    if situation is joins_broadcast:
        w.broadcast("A.send", A, arp(1, A, B, bytes(20)))
    else:
        w.ud("A.send", A, w.mgid(GROUP), udp4(A, GROUP), mlid=0xC010)
    w.last_request(A)
    return w, first, second


SITUATION = pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)


@SITUATION
def test_missed_requests_before_a_response(situation):
    """The response to the first request is captured after a request that shows the gap."""
    w, first, second = answers_later(situation)
    names = [n for at in (first, second) for n in (at, at + ".resp")]
    for count in range(len(names) + 1):
        for lost in itertools.combinations(names, count):
            one = at_port(w.copy())
            one.order = [n for n in one.order if n not in lost]
            assert failures(one) == [], lost


@SITUATION
def test_missed_requests_before_the_first_packet(situation):
    """The response to the first request is captured after the first packet of A's GSI."""
    w, _, second = answers_later(situation)
    at_port(w).begin("A.join.other")
    w.order.remove(second + ".resp")
    assert failures(w) == []


@SITUATION
def test_membership_that_no_missed_request_changes_is_found(situation):
    w, _, second = answers_later(situation)
    w.drop(second, second + ".resp")
    assert [rule for _, rule in failures(at_port(w))] == [SITUATIONS[situation]]


# ---- a REQ whose response was not captured, and a later REQ in the other direction

CROSSING = "rfc4755.3.3.simultaneous"
DOWN = 1  # PortState (IBA 14.2.5.6)
RESPONSE_TIMEOUT = 24 + 43  # in the MAD (IBA 12.6.5), and its flow control bits
OTHER_AT_LID = Node(A.lid, "fe80::2:c903:0:aaaa", 0x99, "10.0.0.9", "fe80::202:c903:0:aaaa")


def first_packet(_w):
    """The capture has no packet of A before the REQ."""


def joined_before(w):
    w.join(A, *BROADCAST)


def restarted(w):
    """A's port is brought up before; after() brings it up again."""
    w.smps(A)


def shared_lid(w):
    """A's port shares its LID with another one (IBA 4.1.1), which joins first."""
    mgid = w.mgid(BROADCAST[1])
    request = ib.mcmember(mgid, OTHER_AT_LID.gid, pkey=w.pkey, join=FULL)
    record = w.member(BROADCAST[1], OTHER_AT_LID, FULL, BROADCAST[2])
    kind = ib.SET, ib.ATTR_MC_MEMBER, request, JOIN_MASK, record
    w.sa("other.join", OTHER_AT_LID, *kind)
    w.join(A, *BROADCAST)


PRECEDING = [first_packet, joined_before, restarted, shared_lid]


def bring_up_again(w):
    """The PSNs of A's GSI start from 0 again."""
    for name, state in ("A.down", DOWN), ("A.up", ACTIVE):
        w.exchange_smp(name, A, ib.SET, PORT_INFO, 1, port_info(A, state))
    del w.psns[A.lid, 1]


def connects_in_turn(before):
    """B connects to A and ends the connection. Then A connects to B, which accepts, although its
    address is the larger one."""
    w = World()
    before(w)
    w.set_up("first", B, A, UC_IDS, UC_QPS)
    p = w["first.req"].payload
    p[RESPONSE_TIMEOUT] = 20 << 3 | p[RESPONSE_TIMEOUT] & 7  # 4.3 s
    w.end("first", B, A, UC_IDS, UC_QPS)
    if before is restarted:
        bring_up_again(w)
    w.set_up("second", A, B, RC_IDS, RC_QPS)
    return w


@pytest.mark.parametrize("before", PRECEDING, ids=lambda f: f.__name__)
def test_missed_response_to_a_req(before):
    w = connects_in_turn(before)
    names = [n for n in w.order if n.startswith("first.") and n != "first.req"]
    for count in range(len(names) + 1):
        for lost in itertools.combinations(names, count):
            one = w.copy()
            one.order = [n for n in w.order if n not in lost]
            assert failures(one) == [], lost


def test_missed_response_to_a_req_over_roce():
    """The GSI of a port without a LID is not followed."""
    w = connects_in_turn(joined_before)
    assert failures(w, forms.roce2) == []
    w.order = [n for n in w.order if n not in ("first.rep", "first.rtu", "first.dreq")]
    assert failures(w, forms.roce2) == []


@pytest.mark.parametrize("before", [first_packet, joined_before])
@pytest.mark.parametrize("late", [False, True], ids=["whole", "late"])
def test_req_without_a_response_is_found(before, late):
    """A sends its REQ instead of a response. late: A sent packets before the capture began."""
    w = connects_in_turn(before)
    w.drop(*[n for n in w.order if n.startswith("first.") and n != "first.req"])
    for n in w.order:
        p = w[n]
        if late and p["slid"] == A.lid and p["srcqp"] == 1:
            p["psn"] += 7
    found = [] if late and before is first_packet else [("second.rep", CROSSING)]
    assert failures(w) == found


# ---- a later connection of another protocol, with the same communication IDs

OTHER_SERVICE = 0x123456789ABCDEF0
OTHER_PRIVATE = bytes(range(0xA1, 0xA1 + 60))
PRIVATE_AT = {"req": 164, "rep": 60, "rtu": 32, "rej": 108}


def mra_to_req(w, tid):
    """B delays its REP."""
    mra = ib.cm_mra(tid, *reversed(RC_IDS), pdata=OTHER_PRIVATE)
    w.mad("second.mra", B, A, mra)
    arrange(w, "second.mra", "second.rep", "second.rtu")


def rej_of_req(w, tid):
    """B rejects the REQ. The REJ need not have an ID of B (IBA 12.6.7)."""
    w.drop("second.rep", "second.rtu")
    w.mad("second.rej", B, A, ib.cm_rej(tid, 0, RC_IDS[0], 28, pdata=OTHER_PRIVATE))


def rej_of_rep(w, tid):
    """A rejects the REP."""
    w.drop("second.rtu")
    w.mad("second.rej", A, B, ib.cm_rej(tid, *RC_IDS, 28, message=1, pdata=OTHER_PRIVATE))


def rej_of_timeout(w, tid):
    """No REP reaches A, which knows no ID of B."""
    w.drop("second.rep", "second.rtu")
    w.mad("second.rej", A, B, ib.cm_rej(tid, RC_IDS[0], 0, 4, pdata=OTHER_PRIVATE))


SET_UPS = [None, mra_to_req, rej_of_req, rej_of_rep, rej_of_timeout]
SET_UP = pytest.mark.parametrize("change", SET_UPS, ids=lambda f: f.__name__ if f else "rtu")
ENDED = pytest.mark.parametrize("ended", [True, False], ids=["ended", "end-is-missed"])


def reused_ids(change, ended):
    """A connects to B twice, with the same communication IDs, and the second time for another
    protocol, which has other private data."""
    w = World()
    w.join(A, *BROADCAST)
    w.join(B, *BROADCAST)
    w.set_up("first", A, B, RC_IDS, RC_QPS)
    w.end("first", A, B, RC_IDS, RC_QPS)
    w.set_up("second", A, B, RC_IDS, RC_QPS)
    if change:
        change(w, w["second.req"]["mad.tid"])
    w["second.req"]["req.service"] = OTHER_SERVICE
    for name in w.order:
        of, message = name.split(".")[:2]
        at = PRIVATE_AT.get(message)
        if of == "second" and at:
            w[name].payload[at : at + len(OTHER_PRIVATE)] = OTHER_PRIVATE
    if not ended:
        w.order = [n for n in w.order if n not in ("first.dreq", "first.drep")]
    return w


@SET_UP
@ENDED
def test_missed_req_with_the_same_ids(change, ended):
    w = reused_ids(change, ended)
    names = [n for n in w.order if n.startswith("second.")] + ["first.rep", "first.rtu"]
    for count in range(len(names) + 1):
        for lost in itertools.combinations(names, count):
            one = w.copy()
            one.order = [n for n in w.order if n not in lost]
            assert failures(one) == [], lost


@SET_UP
def test_private_data_of_the_same_connection_is_found(change):
    """The second connection is one of IPoIB."""
    w = reused_ids(change, True)
    req = w["first.req"].copy()
    req["mad.tid"] = w["second.req"]["mad.tid"]
    w["second.req"].payload = req.payload
    w["second.req"].before = None
    last = [n for n in w.order if n in ("second.mra", "second.rej", "second.rtu")]
    found = {frame for frame, rule in failures(w) if rule == "rfc4755.6.reserved-zero"}
    assert set(last) <= found


# ---- two rails


def rail(prefix, first):
    """A subnet that is captured from its start: (time, bytes) of each frame. Two hosts subscribe to
    the traps, and one joins to send only. first: number of the first host, whose LID is 1."""
    s = Subnet(prefix=prefix)
    s.psns = {(lid, 1): -1 for lid in (1, 2, s.sm.lid)}
    hosts = [Host(first + n, lid=1 + n, prefix=prefix) for n in range(2)]
    for host in hosts:
        s.node_info(host)
        s.pkey_table(host, 0xFFFF)
        s.port_info(host)
    s.up(*hosts)
    s.resolve6(*hosts)
    for host in hosts:
        s.ask(host, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"", 0, ib.class_port_info())
    return [(time + first, data) for time, data, *_ in s.records]


def two_rails(missed):
    """Both have the same LIDs and transaction IDs. missed: numbers of frames of the first one."""
    frames = []
    for interface, records in enumerate((rail("fe80::", 1), rail("fec0:0:0:7::", 0x101))):
        kept = [r for n, r in enumerate(records, 1) if interface or n not in missed]
        frames += [capfile.Frame(time, data, len(data), interface) for time, data in kept]
    frames.sort(key=lambda f: f.time)
    return capfile.pcapng([capfile.INFINIBAND] * 2, frames)


def test_missed_request_on_one_of_two_rails():
    """The response on one rail is not the response to the same request on the other."""
    conforming = {n: findings.failures(two_rails({n}), "--deviations", "none") for n in range(41)}
    assert not {n: found for n, found in conforming.items() if found}

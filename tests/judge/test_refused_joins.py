# SPDX-License-Identifier: GPL-2.0-or-later
"""A node asks the SA to create a group with attributes other than the broadcast group's, and the SA
refuses (ERR_REQ_INVALID, IBA 15.2.1.2).

"The MGID MUST use the same P_Key, Q_Key, SL, MTU, and HopLimit as those used in the broadcast-GID. The
rest of attributes SHOULD follow the values used in the broadcast-GID as well." (RFC 4391 section 10)
The violation is reported at the refusal. Requests that the sender may make, or that a packet that was
not captured may explain, are not reported."""
import pytest

from frames import ib, world
from frames.variants import forms
from frames.fabric import FULL, JOIN_MASK, QKEY, SEND_ONLY, SM
from frames.world import (
    A,
    B,
    CREATE_MASK,
    OTHER_ATTRIBUTES,
    SAME_ATTRIBUTES,
    SIMILAR_ATTRIBUTES,
    World,
)
from support import check, findings

INVALID, NO_RESOURCES, NO_RECORDS, DENIED = 0x0200, 0x0100, 0x0300, 0x0700
GROUP = "239.7.7.7"
SELECTED = ("mtu", "rate", "life")


def link():
    """All nodes have joined the broadcast group; their whole history is in the capture."""
    w = World()
    world.bring_up(w)
    return w


def request(w, node, state=FULL, group=GROUP, **changed):
    of = {**w.record, "sl": 0, "flow": 0, "hop": 0, "tclass": 0, **changed}
    return ib.mcmember(w.mgid(group), node.gid, pkey=w.pkey, join=state, **of)


def exchange(w, name, node, data, mask, status=INVALID, answer=None):
    """A join, and the SA's response of this status."""
    w.tid += 1
    w.mad(name, node, SM, ib.sa_mad(ib.SET, w.tid, ib.ATTR_MC_MEMBER, data, mask))
    data = answer or (bytes(len(data)) if status else data)
    octets = ib.sa_mad(
        ib.GET_RESP, w.tid, ib.ATTR_MC_MEMBER, data, mask, status=status, attr_offset=7
    )
    w.mad(name + ".resp", SM, node, octets)


def refused(w, *, node=A, mask=CREATE_MASK, status=INVALID, name="refused", **changed):
    exchange(w, name, node, request(w, node, **changed), mask, status)
    return w


# ---- a refused join changes no membership (IBA 15.2.5.17)

JOIN_BEFORE = "rfc4391.10.join-before-send"
BROADCAST = "255.255.255.255"


def member_is_refused(state):
    """A joins a group for sending only, then as this, which the SA refuses, and sends to it."""
    w = link()
    w.join(B, "g", GROUP, 0xC020)
    for trap in (66, 67):
        w.sa(f"A.sub.{trap}", A, ib.SET, ib.ATTR_INFORM_INFO, ib.inform_info("::", trap))
    w.join(A, "g", GROUP, 0xC020, SEND_ONLY)
    refused(w, state=state, mask=JOIN_MASK, status=NO_RESOURCES)
    return sends(w)


def sends(w, group=GROUP, mlid=0xC020):
    w.ud("datagram", A, w.mgid(group), world.udp4(A, group), mlid=mlid)
    for node in (A, B):
        w.last_request(node)
    return w


@pytest.mark.parametrize("state", [FULL, FULL | SEND_ONLY])
@pytest.mark.parametrize("begins", [None, "A.join.g.resp", "refused"])
def test_refused_join_leaves_the_membership(state, begins):
    w = member_is_refused(state)
    if begins:
        w.begin(begins)
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


def test_refused_join_after_a_join_whose_response_was_not_captured():
    w = member_is_refused(FULL)
    w.order.remove("A.join.g.resp")
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


def without_psns(w):
    """The PSNs of the SA's GSI do not show that a packet is missing."""
    for p in (w[n] for n in w.order):
        if p.deth and (p["slid"], p["srcqp"]) == (SM.lid, 1):
            p["psn"] = 0
    return w


def test_missed_response_of_an_sa_whose_psns_show_nothing():
    w = without_psns(member_is_refused(FULL))
    w.order.remove("A.join.g.resp")
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


@pytest.mark.parametrize("state", [FULL, SEND_ONLY])
def test_missed_response_about_the_broadcast_group(state):
    w = link()
    refused(w, state=state, group=BROADCAST, mask=JOIN_MASK, status=NO_RESOURCES)
    w = without_psns(sends(w, BROADCAST, 0xC000))
    w.order.remove("A.join.bcast.resp")
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


def test_refused_join_of_a_port_that_never_joined_is_found():
    w = link()
    w.join(B, "g", GROUP, 0xC020)
    refused(w, mask=JOIN_MASK, status=NO_RESOURCES)
    found = findings.failures(forms.infiniband(sends(w))[0], "--deviations", "none")
    assert [rule for _, rule in found] == [JOIN_BEFORE]


@pytest.mark.parametrize("state", [FULL, SEND_ONLY])
def test_full_member_of_the_broadcast_group_whose_further_join_is_refused(state):
    w = link()
    refused(w, state=state, group=BROADCAST, mask=JOIN_MASK, status=NO_RESOURCES)
    w = sends(w, BROADCAST, 0xC000)
    assert findings.failures(forms.infiniband(w)[0], "--deviations", "none") == []


def results(w):
    """(frame, rule) of each violation of the two rules, with its text."""
    found = findings.frames(forms.FORMS["early"](w)[0])
    both = [
        f for f in found if f.outcome == "fail" and f.rule in (SAME_ATTRIBUTES, SIMILAR_ATTRIBUTES)
    ]
    return [(w.order[f.frame - 1], f.rule) for f in both]


EACH = pytest.mark.parametrize("name", OTHER_ATTRIBUTES)


@EACH
def test_other_attribute_is_found_at_the_refusal(name):
    value, rule = OTHER_ATTRIBUTES[name]
    assert results(refused(link(), **{name: value})) == [("refused.resp", rule)]


def test_the_requester_is_the_one_who_violates(tmp_path):
    capture = tmp_path / "refused.pcap"
    capture.write_bytes(forms.FORMS["early"](refused(link(), qkey=1))[0])
    text = check.run("--deviations", "none", str(capture)).stdout.decode()
    part = text[text.index(SAME_ATTRIBUTES) :]
    assert f"expected Q_Key 0x{QKEY:x}, found Q_Key 0x1, refused" in part
    assert part.index(f"sent by GID {A.gid}, LID {A.lid}") < part.index("more:")


@EACH
def test_the_same_request_again_is_reported_once(name):
    value, rule = OTHER_ATTRIBUTES[name]
    w = refused(refused(link(), **{name: value}), name="again", node=B, **{name: value})
    assert results(w) == [("refused.resp", rule)]


@EACH
def test_a_record_that_follows_is_not_reported_again(name):
    """The SA refuses the request, then grants it, to another node."""
    value, rule = OTHER_ATTRIBUTES[name]
    w = refused(link(), **{name: value})
    record = request(w, B, **{name: value})
    exchange(w, "granted", B, record, CREATE_MASK, 0, record)
    assert results(w) == [("refused.resp", rule)]


# ---- requests that are allowed, or that say nothing


def test_refused_request_with_the_broadcast_groups_attributes():
    assert results(refused(link())) == []


@EACH
def test_component_that_the_mask_does_not_name(name):
    assert (
        results(
            refused(link(), mask=CREATE_MASK & ~ib.MCM[name], **{name: OTHER_ATTRIBUTES[name][0]})
        )
        == []
    )


@pytest.mark.parametrize("name", SELECTED)
def test_component_without_its_selector(name):
    mask = CREATE_MASK & ~ib.MCM[f"{name}_sel"]
    assert results(refused(link(), mask=mask, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.parametrize("selector", [0, 1, 3], ids=["greater", "less", "largest"])
def test_selector_that_is_not_exactly(name, selector):
    changed = {name: OTHER_ATTRIBUTES[name][0], f"{name}_sel": selector}
    assert results(refused(link(), **changed)) == []


@EACH
@pytest.mark.parametrize("status", [NO_RESOURCES, NO_RECORDS, DENIED])
def test_refusal_for_another_reason(name, status):
    assert results(refused(link(), status=status, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_join_that_creates_no_group(name):
    """IBA 15.2.5.17: only a FullMember creates it."""
    assert results(refused(link(), state=SEND_ONLY, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_group_that_exists(name):
    """The request creates no group. The group has the broadcast group's attributes."""
    w = link()
    record = request(w, B)
    exchange(w, "created", B, record, CREATE_MASK, 0, record)
    assert results(refused(w, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_group_that_exists_with_this_attribute(name):
    """Its creator chose the attribute; the port asks for the group as it is."""
    value, rule = OTHER_ATTRIBUTES[name]
    w = link()
    record = request(w, B, **{name: value})
    exchange(w, "created", B, record, CREATE_MASK, 0, record)
    assert results(refused(w, **{name: value})) == [("created.resp", rule)]


@EACH
def test_group_that_existed_before(name):
    """It was deleted, so the request would create it."""
    value, rule = OTHER_ATTRIBUTES[name]
    w = link()
    record = request(w, B)
    exchange(w, "created", B, record, CREATE_MASK, 0, record)
    w.leave(B, "group", GROUP, 0xC010)
    w.sa("B.get", B, ib.GET, ib.ATTR_MC_MEMBER, ib.mcmember(w.mgid(GROUP)), ib.MCM["mgid"], b"")
    w["B.get.resp"]["mad.status"] = NO_RECORDS
    assert results(refused(w, **{name: value})) == [("refused.resp", rule)]


@EACH
def test_group_of_another_protocol(name):
    """Its MGID has no signature of IPoIB (RFC 4391 section 4)."""
    w = link()
    data = bytearray(request(w, A, **{name: OTHER_ATTRIBUTES[name][0]}))
    data[2:4] = b"\x40\x01"
    exchange(w, "refused", A, bytes(data), CREATE_MASK)
    assert results(w) == []


@EACH
def test_group_of_a_partition_whose_broadcast_group_is_not_known(name):
    w = link()
    w.pkey = 0x8001
    assert results(refused(w, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_group_of_a_scope_whose_broadcast_group_is_not_known(name):
    w = link()
    data = bytearray(request(w, A, **{name: OTHER_ATTRIBUTES[name][0]}))
    data[1] = 0x18
    exchange(w, "refused", A, bytes(data), CREATE_MASK)
    assert results(w) == []


@EACH
def test_join_of_the_broadcast_group_itself(name):
    """The node learns the parameters by this join (section 5)."""
    w = refused(link(), group="255.255.255.255", **{name: OTHER_ATTRIBUTES[name][0]})
    assert results(w) == []


def broadcast(w, name, node, lost=(), **changed):
    """The node joins the broadcast group again; its record has other values."""
    record = request(w, node, group="255.255.255.255", **changed)
    exchange(w, name, node, record, JOIN_MASK, 0, record[:36] + ib.u16(0xC000) + record[38:])
    w.order = [n for n in w.order if n not in lost]


@EACH
@pytest.mark.parametrize("node", [A, B], ids=["its-own-join", "another-port's"])
def test_broadcast_group_that_has_changed(name, node):
    """A uses the new value, or the one before."""
    value = OTHER_ATTRIBUTES[name][0]
    for used in ({}, {name: value}):
        w = link()
        broadcast(w, "rejoin", node, **{name: value})
        assert results(refused(w, **used)) == []


@EACH
def test_broadcast_group_that_changes_while_the_request_waits(name):
    w = link()
    refused(w, **{name: OTHER_ATTRIBUTES[name][0]})
    broadcast(w, "rejoin", B, **{name: OTHER_ATTRIBUTES[name][0]})
    response = w.order.index("refused.resp")
    w.order.append(w.order.pop(response))
    for n in w.order[response:]:
        w.times[n] = w.now = w.now + world.GAP
    w.renumber()
    assert results(w) == []


@EACH
@pytest.mark.parametrize("lost", [("rejoin",), ("rejoin.resp",), ("rejoin", "rejoin.resp")])
def test_missed_join_of_the_broadcast_group(name, lost):
    """The parameters have changed; the capture lacks A's join, or the response to it."""
    w = link()
    broadcast(w, "rejoin", A, lost, **{name: OTHER_ATTRIBUTES[name][0]})
    assert results(refused(w, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_capture_that_begins_late(name):
    w = link()
    w.begin("A.join.nodes")
    assert results(refused(w, **{name: OTHER_ATTRIBUTES[name][0]})) == []


@EACH
def test_missed_record_of_a_group_that_exists(name):
    """The request would create no group."""
    w = link()
    record = request(w, B)
    exchange(w, "created", B, record, CREATE_MASK, 0, record)
    refused(w, **{name: OTHER_ATTRIBUTES[name][0]})
    for lost in (["created.resp"], ["created", "created.resp"]):
        one = w.copy()
        one.order = [n for n in w.order if n not in lost]
        assert results(one) == []


def with_gap(before, queried):
    """A response of the SA is missing before this frame. queried: the SA says before the request that
    it has no such group."""
    w = link()
    if queried:
        mgid = ib.mcmember(w.mgid(GROUP))
        w.sa("A.get", A, ib.GET, ib.ATTR_MC_MEMBER, mgid, ib.MCM["mgid"], b"")
        w["A.get.resp"]["mad.status"] = NO_RECORDS
    w.sa("B.path", B, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"", 0, ib.class_port_info())
    refused(w, qkey=1)
    for n in w.order[w.order.index(before) :]:
        p = w[n]
        if p.deth and p["srcqp"] == 1 and p["slid"] == SM.lid:
            p["psn"] += 1
    return results(w)


def test_missed_response_may_have_the_record():
    assert with_gap("D.join.nodes.resp", queried=False) == []
    assert with_gap("B.path.resp", queried=True) == []


def test_missed_response_before_the_sa_said_that_there_is_no_group():
    assert with_gap("D.join.nodes.resp", queried=True) == [("refused.resp", SAME_ATTRIBUTES)]


@EACH
@pytest.mark.parametrize("lost", ["refused", "refused.resp"])
def test_missed_request_or_refusal(name, lost):
    w = refused(link(), **{name: OTHER_ATTRIBUTES[name][0]})
    w.order.remove(lost)
    assert results(w) == []

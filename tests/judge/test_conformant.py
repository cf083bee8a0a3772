# SPDX-License-Identifier: GPL-2.0-or-later
"""No rule fails in a conformant capture that the model once misinterpreted.

Each function makes a capture in which every sender conforms, from real frames or from built ones.
To show that the checks ran, a rule must pass a number of times, or a violation in a copy of the
capture must be found."""
import collections

import pytest

from frames import fixture, ib, world
from frames.bases import CONSUMER_REJECT, CONTROLLED, N0, N1, join_again
from frames.build import erf_pcap
from frames.connection import Connection
from frames.fabric import A, B, C, D, FULL, Node, QKEY, SEND_ONLY, SM, Tape, mad_frame, ud_frame
from frames.messages import arp_reply, nd6, ping, solicited_node
from frames.faults import fixture as faults
from frames.ib import ONLY, RC, UD, Frame, encap
from frames.subnet import FromStart, Host, Subnet
from frames.variants import forms
from support import capfile, findings
from support.paths import testdata

HOUR = 3600 * 1000
NO_RECORDS = 0x0300  # IBA 15.2.1.2: ERR_NO_RECORDS
MCM_PORT_GID = 56 + 16  # in the MAD


LINUX = ("--deviations", "linux")
ENCAPSULATION = "rfc4391.6.encapsulation-header"
TO_QPN, PKEY = "rfc4391.9.1.1.traffic-to-qpn", "rfc4391.5.pkey-configured"
JOIN, GROUP = "rfc4391.10.join-before-send", "rfc4391.10.group-before-use"
ATTRIBUTES = "rfc4391.10.group-attributes"


def failures(capture):
    return findings.failures(capture, *LINUX)


def passes(capture, rule):
    count = findings.counts(capture, *LINUX).get(rule)
    return count.passed if count else 0


def conforms(capture):
    assert failures(capture) == []


# ---- who is who on RoCE v2


def other_protocol(srcqp):
    """A datagram of 2 bytes, which is too short for an encapsulation header."""
    return Frame(UD | ONLY, b"\x01\x02", destqp=0x99, psn=7, qkey=QKEY, srcqp=srcqp)


def roce2(*others):
    t = Tape()
    t.put(ud_frame(A, B, arp_reply(A, B), 1).roce2("10.1.0.1", "10.1.0.2"))
    t.put(ud_frame(A, B, ping(A, B), 2).roce2("10.1.0.1", "10.1.0.2"))
    for frame, src, dst in others:
        t.put(frame.roce2(src, dst))
    return capfile.pcap(capfile.ETHERNET, t.records)


def test_roce2_qp_of_another_host_is_another_qp():
    conforms(roce2((other_protocol(A.qpn), "10.1.0.3", "10.1.0.4")))


def test_roce2_fault_at_the_qp_of_the_same_host_is_found():
    assert (3, ENCAPSULATION) in failures(roce2((other_protocol(A.qpn), "10.1.0.1", "10.1.0.4")))


# ---- an IP moves


def solicitation(src, ip, target):
    sn = solicited_node(target.ll)
    return nd6(ip, sn, ib.nd_ns(target.ll, ib.nd_lladdr_option(1, src.addr)))


class CountingTape(Tape):
    """Each queue pair counts its packets (IBA 9.8.2.2)."""

    def __init__(self):
        super().__init__()
        self.sent = collections.Counter()

    def ud(self, src, dst, payload, **kw):
        self.put(ud_frame(src, dst, payload, self.sent[src.qpn], **kw).ib())
        self.sent[src.qpn] += 1


def fail_over(reply_to):
    """A service's address is first A's, then B's, which announces it (RFC 4861 §7.2.6); each sends
    a request to C, which responds."""
    t, service, group = CountingTape(), "fd00::9", ib.mgid_ipv6(solicited_node(C.ll))

    def advertise(to):
        t.ud(C, to, nd6(C.ll, service, ib.nd_na(C.ll, ib.nd_lladdr_option(2, C.addr))))

    t.ud(A, group, solicitation(A, service, C), mlid=0xC003)
    advertise(A)
    news = nd6(
        service, "ff02::1", ib.nd_na(service, ib.nd_lladdr_option(2, B.addr), flags=0x20000000)
    )
    t.put(ud_frame(B, ib.mgid_ipv6("ff02::1"), news, 50, mlid=0xC002).ib(), ms=HOUR)
    t.ud(B, group, solicitation(B, service, C), mlid=0xC003)
    advertise(reply_to)
    return erf_pcap(t)


@pytest.mark.parametrize("node", [pytest.param(A, id="old-port"), pytest.param(B, id="new-port")])
def test_ip_that_moved_may_get_replies_at_its_old_or_new_port(node):
    conforms(fail_over(node))


def test_ip_that_moved_may_not_get_replies_at_another_qp_of_its_port():
    other = Node(B.lid, B.gid, B.qpn + 1, B.ip, B.ll)
    assert (5, TO_QPN) in failures(fail_over(other))


def test_reply_at_a_third_port_may_answer_its_own_lost_solicitation():
    assert TO_QPN not in {rule for _, rule in failures(fail_over(D))}


# ---- groups of other protocols


@pytest.mark.parametrize("group", ["ff12:4001:ffff::ef01:203", "ff12::4711"])
def test_payload_of_another_protocol_that_looks_like_ipoib(group):
    """A program has a QP, a Q_Key and a group of its own at A's port. Its first payload looks like
    an IPoIB datagram; it sends another one to the group, and to a program at B's port."""
    w, after = world.everything(), "A.bcast"
    sent = [
        ("A.bcast", world.udp4(A, "239.1.2.3"), dict(dgid=group, dlid=0xC020)),
        ("A.bcast", b"\1\2\3", dict(dgid=group, dlid=0xC020)),
        ("A.ping", b"\1\2\3", dict(destqp=0x301)),
    ]
    for n, (like, payload, fields) in enumerate(sent):
        p = w[like].copy()
        p.payload = bytearray(payload)
        for field, value in dict(srcqp=0x300, qkey=0x77, psn=n, **fields).items():
            p[field] = value
        w.insert(after, f"program.{n}", p)
        after = f"program.{n}"
    capture = forms.infiniband(w)[0]
    assert findings.failures(capture, "--deviations", "none") == []
    assert passes(capture, "rfc4391.13.qkey-controlled") > 0


# ---- interface identifiers


@pytest.mark.parametrize(
    "address",
    [
        # a bond announces the address that is made from its first port's GUID from its second port
        "fe80::211:7500:0:999",
        # RFC 8064 §3, which updates RFC 4391: an identifier of RFC 7217 instead of one from the
        # link-layer address
        "fe80::9d3c:41e0:7b26:f58a",
    ],
    ids=["of-another-port", "opaque"],
)
def test_other_interface_identifier_is_a_note(address):
    t = fixture.tape("datagram.pcap")
    t[60]["ipv6.src"] = t[60]["nd.target"] = address
    t[60].fix_checksums()
    found = [f for f in findings.frames(t.pcap(), "--deviations", "none") if f.frame == 60]
    assert not [f for f in found if f.outcome == "fail"]
    assert ("rfc4391.8.interface-id-source", "noted") in {(f.rule, f.outcome) for f in found}


# ---- subnet management and administration


def own_gsi(frame, lid):
    p = frame.packet
    return p.deth and p["srcqp"] == 1 and p["slid"] == lid


def count_on(t, frame, lid):
    """The GSI of this port sent one more packet before the frame: its PSNs increase by one (IBA
    9.8.2.2)."""
    for f in t.frames[t.number(frame) - 1 :]:
        if own_gsi(f, lid):
            f.packet["psn"] += 1


def moved_host(own_table=b""):
    """switch4.pcap up to n1's join: n1 is moved to the switch's port 5, and a host that is only in
    another partition is connected to port 2, where n1 was. The subnet manager queries both; n1
    joins again. own_table: the table that it finds in n1's port. Each SMI counts its own responses.
    Returns the capture, and the number of n1's next response to the subnet manager: its PSN shows
    that no other one is missing."""
    t = fixture.tape("switch4.pcap")
    t.keep((1, 133))
    at, tid = t.frame(133), 0x1500002000
    of_n1 = [f.packet["psn"] for f in t.frames if is_response_of_port_2(f.packet)]
    psns = {5: max(of_n1) + 1, 2: 0}

    def respond(number, port, **octets):
        nonlocal at, tid
        p = t[number].copy()
        p["mad.tid"], tid = tid, tid + 1
        p["psn"], psns[port] = psns[port], psns[port] + 1
        p.payload[edit_at("path") + 2] = port
        for part, new in octets.items():
            p.payload[edit_at(part) : edit_at(part) + len(new)] = new
        at = t.insert(at, p)

    for number in (30, 104):  # NodeInfo; PortInfo, with its LID
        respond(number, 5)
    respond(50, 5, data=own_table)  # P_KeyTable
    respond(
        30,
        2,
        node_guid=bytes.fromhex("0011750000009900"),
        port_guid=bytes.fromhex("0011750000009910"),
    )
    respond(45, 2)  # PortInfo of a port that has no LID yet
    respond(50, 2, data=b"\x80\x01")
    join = t[132].copy()
    join["mad.tid"] += 0x100
    join["psn"] += 1
    at = t.insert(at, join)
    respond(30, 5)
    return t.pcap(), t.number(at)


def is_response_of_port_2(p):
    return (
        p["srcqp"] == 0
        and p["mad.method"] == ib.GET_RESP
        and p.payload[edit_at("path") + 2] == 2
        and p.payload[edit_at("path") + 3] == 0
    )


def edit_at(part):
    """The offset in a directed-route SMP (IBA 14.2.1.2, 14.2.5.3)."""
    return {"data": 64, "node_guid": 64 + 12, "port_guid": 64 + 20, "path": 128}[part]


def test_another_node_at_the_end_of_a_route_is_another_port():
    capture, _ = moved_host()
    conforms(capture)


def test_pkey_that_a_moved_port_lost_is_found():
    capture, response = moved_host(own_table=b"\x80\x01")
    assert (response, PKEY) in failures(capture)


def after_leave(alias=None, missed=True):
    """datagram.pcap, and n1 sends to 239.1.2.3, which it had left. If its new join was missed, the
    PSNs of its GSI show it. alias: the request of another GID at n1's LID before this: "join" the
    group, or "ask" whether it exists. Also returns the number of n1's next request after it, which
    shows whether a request was missed."""
    t = fixture.tape("datagram.pcap")
    if alias:
        request, response = t[19].copy(), t[20].copy()
        for p in (request, response):
            p.payload[MCM_PORT_GID : MCM_PORT_GID + 16] = ib.gid("fe80::11:7500:0:111")
            p["mad.tid"] += 0x100
        if alias == "ask":
            request["mad.method"], request["sa.mask"], response["mad.status"] = (
                ib.GET,
                ib.MCM["mgid"] | ib.MCM["port_gid"],
                NO_RECORDS,
            )
        request = t.insert(94, request)
        response = t.insert(request, response)
        for frame in (request, response):
            lid = frame.packet["slid"]
            before = max(
                f.packet["psn"] for f in t.frames[: t.number(frame) - 1] if own_gsi(f, lid)
            )
            count_on(t, frame, lid)
            frame.packet["psn"] = before + 1
    later = next(f for f in t.frames if f.origin and f.origin >= 104 and own_gsi(f, N1.lid))
    if missed:
        count_on(t, later, N1.lid)
    p = t[79].copy()
    p.set(slid=N1.lid, sgid=N1.gid, srcqp=N1.qpn)
    p["ipv4.src"] = N1.ip
    p.fix_checksums()
    sent = t.insert(later, p)
    t.renumber(N1.lid, N1.qpn)
    shows = next(f for f in t.frames[t.number(sent) :] if own_gsi(f, N1.lid))
    return t.pcap(), t.number(shows)


ALIASES = pytest.mark.parametrize("alias", [None, "join", "ask"])


@ALIASES
def test_second_gid_at_a_lid_is_an_alias_and_a_missed_join_no_violation(alias):
    conforms(after_leave(alias)[0])


@ALIASES
def test_send_after_leave_is_found_if_no_join_was_missed(alias):
    capture, shows = after_leave(alias, missed=False)
    assert (shows, JOIN) in failures(capture)


def no_records(mask, by=A):
    """The SA has no such record; then A sends to the group, without a join between its requests 1
    and the last frame. mask: the components of the query; None: the query was not captured. by: the
    node that queries."""
    t, group = Tape(), ib.mgid_ipv4("239.1.2.3")
    record = ib.mcmember(group, D.gid)
    other = ib.sa_mad(ib.GET, 0x77, ib.ATTR_MC_MEMBER, record, mask=BY_MGID)
    t.put(mad_frame(A, SM, other, 1).ib())
    if mask:
        query = ib.sa_mad(ib.GET, 0x55, ib.ATTR_MC_MEMBER, record, mask=mask)
        t.put(mad_frame(by, SM, query, 2 if by is A else 1).ib())
    response = ib.sa_mad(
        ib.GET_RESP, 0x55, ib.ATTR_MC_MEMBER, record, mask=mask or 0, status=NO_RECORDS
    )
    t.put(mad_frame(SM, by, response, 1).ib())
    t.ud(
        A,
        group,
        encap(
            0x0800, ib.ipv4(A.ip, "239.1.2.3", 17, ib.udp(A.ip, "239.1.2.3", 9, 9, b"1234"), ttl=1)
        ),
        mlid=0xC005,
    )
    t.put(mad_frame(A, SM, other, 3 if by is A and mask else 2).ib())
    return erf_pcap(t)


BY_MGID, BY_PORT = ib.MCM["mgid"], ib.MCM["mgid"] | ib.MCM["port_gid"]


@pytest.mark.parametrize(
    "mask", [pytest.param(None, id="unseen"), pytest.param(BY_PORT, id="group-and-port")]
)
def test_empty_response_to_another_query_does_not_mean_that_the_group_is_missing(mask):
    conforms(no_records(mask))


def test_empty_response_to_a_query_for_the_group_means_that_the_group_is_missing():
    assert (5, GROUP) in failures(no_records(BY_MGID))


def test_sender_that_may_have_joined_before_the_sa_lost_the_group():
    """The SA was restarted, and told another port that it has no such group."""
    conforms(no_records(BY_MGID, by=C))


# ---- a listener that stops to listen, and listens again

RECEIVER = "rfc4391.10.receiver-fullmember"
FULL, NO_RESOURCES = 1, 0x0100  # IBA 15.2.5.17, 15.2.3.1


def listens_again(*between, refused=False):
    """datagram.pcap: n1 joins 239.1.2.3 as SendOnlyFullMember (69, 70) and reports it by IGMP (73),
    and again 6 s later (78). between: copies of frames, 2 s before 78: 95 and 97, n1 leaves; 96, it
    reports that it no longer listens; 69 and 70, it joins. refused: the SA refuses this
    join, as FullMember: no resources."""
    t = fixture.tape("datagram.pcap")
    for n in (69, 70, 95):
        t[n]["mcm.join"] = 8
    t.shift(78, 4)
    at = 77
    for n in between:
        at = t.insert(at, t[n].copy())
        if n in (95, 97, 69, 70):
            at.packet["mad.tid"] += 0x100
        if refused:
            at.packet["mcm.join"] = FULL
            at.packet["mad.status"] = NO_RESOURCES if n == 70 else 0
    t.shift(78, 2)
    t.renumber(2)
    t.renumber(2, N1.qpn)
    return t.pcap()


def test_listener_that_never_joins_as_full_member_is_found():
    assert RECEIVER in {rule for _, rule in failures(listens_again())}


@pytest.mark.parametrize(
    "between",
    [(95, 97, 69, 70), (96,), (96, 95, 97, 69, 70)],
    ids=["leaves-and-joins", "stops-to-listen", "both"],
)
def test_time_to_join_as_full_member_counts_from_the_first_report_since_the_join(between):
    assert RECEIVER not in {rule for _, rule in failures(listens_again(*between))}


def test_refused_join_as_full_member_was_requested():
    """RFC 4391 10: the node must attempt a FullMember join; the SA decides."""
    assert RECEIVER not in {rule for _, rule in failures(listens_again(69, 70, refused=True))}


# ---- frames that were not captured


def without(name, first, last):
    """A capture of testdata without the frames from first to last."""
    capture = capfile.read(testdata(name))
    return real([f for n, f in enumerate(capture.frames, 1) if not first <= n <= last])


SCOPE, MLID = "rfc4391.4.scope-consistent", "rfc4391.10.mlid-as-dlid"
FULL_MEMBER, LISTENER = "rfc4391.5.full-member-join", "rfc4391.10.receiver-fullmember"
# The contents of the frames that are left out, from testdata/README.md.
LOST = [
    ("qpn-change.pcap", 9, 10, PKEY, "Set(P_KeyTable) and its response"),
    ("limited.pcap", 45, 50, PKEY, "Set(P_KeyTable) and its response, on a switch"),
    ("two-scopes.pcap", 12, 24, SCOPE, "a port is brought up, and joins its first broadcast group"),
    ("two-scopes.pcap", 46, 55, SCOPE, "all joins of the second interface but the last's response"),
    ("qpn-change.pcap", 114, 115, JOIN, "a new interface joins what the old one had left"),
    ("mlid-change.pcap", 277, 278, JOIN, "a join of a group that was left"),
    ("sm-restart.pcap", 105, 115, MLID, "joins at a new subnet manager, which assigns other MLIDs"),
]


@pytest.mark.parametrize(
    "name, first, last, rule, _", LOST, ids=[f"{name}-{what}" for name, _, _, _, what in LOST]
)
def test_missed_frames_raise_no_violation(name, first, last, rule, _):
    assert rule not in {r for _, r in failures(without(name, first, last))}


def no_second_pkey(set_again):
    """qpn-change.pcap, but n1 gets no second P_Key (9 and 10), and still joins the second partition
    (45). n1's SMI counts its packets (IBA 9.8.2.2). set_again: the subnet manager then sets the same
    table that n1 has."""
    t = fixture.tape("qpn-change.pcap")
    if set_again:
        for n in (9, 10):
            t[n].payload[64:68] = b"\xff\xff\0\0"
        return t.pcap()
    t.drop(9, 10)
    for n in (12, 14, 16, 84, 86, 149, 151, 203, 205):
        t[n]["psn"] -= 1
    return t.pcap()


@pytest.mark.parametrize("set_again", [False, True], ids=["never-set", "set-without-it"])
def test_pkey_missing_from_the_table_is_found_if_no_response_of_the_port_was_missed(set_again):
    assert PKEY in {rule for _, rule in failures(no_second_pkey(set_again))}


WAITING = [
    pytest.param(f, id=f"{f.rule}{f.variant}")
    for f in faults.FIXTURES
    if f.kind == faults.FAIL and f.rule in (JOIN, MLID, FULL_MEMBER, LISTENER)
]


@pytest.mark.parametrize("fault", WAITING)
def test_violation_that_a_missed_join_would_explain_is_inconclusive(fault):
    """The request that would show that no request was missed, and all later ones, have a PSN higher
    by one: one was missed."""
    t, shows = faults.make_capture(fault)
    count_on(t, [f for f in t.frames[:shows] if own_gsi(f, N1.lid)][-1], N1.lid)
    capture = t.pcap()
    assert fault.rule not in {rule for _, rule in failures(capture)}
    assert findings.counts(capture, *LINUX)[fault.rule].inconclusive


@pytest.mark.parametrize("fault", WAITING)
def test_violation_that_a_missed_join_would_explain_is_inconclusive_at_the_end(fault):
    """The capture ends before the request that shows that no request was missed."""
    t, shows = faults.make_capture(fault)
    t.frames = t.frames[: shows - 1]
    capture = t.pcap()
    assert fault.rule not in {rule for _, rule in failures(capture)}
    assert findings.counts(capture, *LINUX)[fault.rule].inconclusive


@pytest.mark.parametrize("seconds, proves", [(0.5, False), (60, True)])
def test_a_leave_in_the_frame_after_the_join(seconds, proves):
    """Adjacent frames may have been swapped, but not if a minute is between them."""
    s, hosts = Subnet(), (Host(1), Host(2))
    s.up(*hosts)
    group = s.join(hosts[0], s.group4("239.1.2.3"))
    s.wait(seconds)
    s.leave(hosts[0], group, state=SEND_ONLY, reply_state=FULL)
    s.wait(1)
    s.path(*hosts)
    found = {rule for _, rule in failures(s.pcap())}
    assert ("rfc4391.10.leave" in found) == proves


def other_scope():
    """datagram.pcap: n1, member of the broadcast group of scope 2, sends its router solicitation
    (39) to the routers' group of scope 5, which it did not join. Its next request is 42."""
    t = fixture.tape("datagram.pcap")
    t[39]["dgid"] = "ff15:601b:ffff::2"
    return t


def test_group_of_another_scope_is_found_if_no_join_was_missed():
    assert (42, SCOPE) in failures(other_scope().pcap())


def test_group_of_another_scope_is_of_another_interface_if_a_join_was_missed():
    t = other_scope()
    count_on(t, t.frame(42), N1.lid)
    conforms(t.pcap())


# ---- a join whose response was not captured: it may have had other parameters of the group


QKEY_FROM_JOIN = "rfc4391.9.1.2.qkey-from-join"
OTHER_ATTRIBUTES = "rfc4391.10.group-other-attributes"
NEW_GROUP = 70  # frame of datagram.pcap: the SA's response that creates a group for n1
UNCAPTURED = pytest.mark.parametrize("captured", [None, 16], ids=["lost", "truncated"])


def with_one(t, frame, captured):
    """The capture with this number of a frame's bytes; None: without the frame."""
    whole = capfile.parse(t.pcap()).frames
    n = t.number(frame) - 1
    one = [] if captured is None else [capfile.record(whole[n].time, whole[n].data, captured)]
    return capfile.pcap(capfile.INFINIBAND, whole[:n] + one + whole[n + 1 :], nanoseconds=True)


def joins_again_with_other_qkey():
    """The SA creates the broadcast group again, with another Q_Key. n1 joins it again and uses this
    Q_Key. n0, the SA's own port, did not join again yet."""
    t = fixture.tape("datagram.pcap")
    last = join_again(t, N1.gid, N1.lid, qkey=CONTROLLED)
    t.renumber(N1.lid)
    for p in (f.packet for f in t.frames[t.number(last) :]):
        if p.deth and p["slid"] == N1.lid and p["srcqp"] == N1.qpn:
            p["qkey"] = CONTROLLED
    return t


@UNCAPTURED
def test_response_to_the_first_join_may_have_had_another_qkey(captured):
    """RFC 4391 section 9.1.2: the Q_Key is the one of the sender's own join."""
    t = joins_again_with_other_qkey()
    assert QKEY_FROM_JOIN not in [rule for _, rule in failures(t.pcap())]
    assert QKEY_FROM_JOIN not in [rule for _, rule in failures(with_one(t, 20, captured))]


def sends_until_it_joins_again(between):
    """The SM asks for registration again, with another Q_Key in the broadcast group, and the same
    MLID. a sends a datagram between its request and the response; the capture has it after the
    response: the two ports' frames are swapped. between: frames of b between these two."""
    s, a, b = FromStart(), Host(1), Host(2)
    for host in (a, b):
        s.port_info(host)
    s.up(a, b)
    s.meet(a, b)
    before = s.parameters["qkey"]
    s.parameters["qkey"] = before + 1
    for host in (a, b):
        s.port_info(host, reregister=True)
    s.up(b)
    s.join(a, s.broadcast())
    for _ in range(between):
        s.ud(b, a, ping(b, a))
    s.ud(a, b, ping(a, b), qkey=before)
    s.subscribe(a)
    return s.pcap()


def test_datagram_on_its_way_while_the_sender_joins_again():
    assert failures(sends_until_it_joins_again(0)) == []


def test_datagram_long_after_the_sender_joined_again_is_found():
    found = failures(sends_until_it_joins_again(20))
    assert QKEY_FROM_JOIN in [rule for _, rule in found]


def other_lifetimes(capture, first):
    found = findings.failures(capture, "--deviations", "none")
    return [n for n, rule in found if rule == OTHER_ATTRIBUTES and n >= first]


@UNCAPTURED
def test_response_to_a_later_join_may_have_had_another_lifetime(captured):
    """RFC 4391 section 10: a new group has the attributes of the broadcast group. OpenSM gives the
    new groups another packet lifetime, 0. It is right if the SA created the broadcast group again
    with this lifetime before: another port receives it when it joins."""
    t = fixture.tape("datagram.pcap")
    assert other_lifetimes(t.pcap(), NEW_GROUP) == [70, 72, 75]
    again = join_again(t, "fe80::11:7500:0:120", 4, life=0)
    assert other_lifetimes(t.pcap(), t.number(NEW_GROUP)) == []
    assert other_lifetimes(with_one(t, again, captured), NEW_GROUP) == []


# ---- corrupt packets


QKEY_LOW = (
    8 + 12 + 8 + 56 + 35
)  # the last byte of the Q_Key in an MCMemberRecord's packet without GRH
ADDRESS_FRAMES = {41: "arp-request", 44: "arp-reply", 60: "neighbour-advertisement"}


def records():
    return [(f.time, f.data, f.wire) for f in capfile.read(testdata("datagram.pcap")).frames]


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]


def real(frames):
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


def with_copy(number, at):
    """datagram.pcap, with a copy after this frame in which one bit of this byte differs."""
    frames = records()
    time, data, wire = frames[number - 1]
    frames.insert(number, (time + 1, flipped(data, at), wire))
    return real(frames)


def test_corrupt_join_response_changes_no_fact():
    conforms(with_copy(20, QKEY_LOW))  # n1's join of the broadcast group, and its response


@pytest.mark.parametrize("number", ADDRESS_FRAMES, ids=ADDRESS_FRAMES.values())
def test_corrupt_address_changes_no_fact(number):
    """One bit in each of the last 48 bytes before the CRCs, where the address is."""
    size = len(records()[number - 1][1])
    failed = {at: failures(with_copy(number, at)) for at in range(size - 6 - 48, size - 6)}
    assert not {at: found for at, found in failed.items() if found}


def test_other_qkey_after_an_intact_join_response_is_found():
    t = fixture.tape("datagram.pcap")
    t[20]["mcm.qkey"] ^= 0x40
    assert failures(t.pcap())


def other_icrcs():
    """datagram.pcap, with the same wrong ICRC in all packets."""
    wrong = b"\x12\x34\x56\x78"
    return real([(time, data[:-6] + wrong + data[-2:], wire) for time, data, wire in records()])


def test_source_without_right_icrcs_conforms():
    conforms(other_icrcs())


@pytest.mark.parametrize("rule", [JOIN, ATTRIBUTES, TO_QPN])
def test_source_without_right_icrcs_updates_the_model(rule):
    assert passes(other_icrcs(), rule) == passes(real(records()), rule) > 0


# ---- after a connection's end


def ended(refused, *payloads, ms=HOUR):
    """An IPoIB connection is rejected, or carries a datagram and is ended; then the requester's QP
    receives more packets."""
    t = Tape()
    c = Connection(t, ids=(0xA0000001, 0) if refused else (0xA0000001, 0xB0000001))
    if refused:
        c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 2048))
        c.rej(CONSUMER_REJECT, ib.private_data(B.qpn, 0))
    else:
        c.set_up()
        c.send(False, ping(B, A))
        c.dreq()
        c.drep()
    for n, payload in enumerate(payloads):
        t.put(
            Frame(
                RC | ONLY, payload, dlid=A.lid, slid=B.lid, destqp=c.qps[0], psn=0x333 + n, ackreq=1
            ).ib(),
            ms=ms,
        )
    return erf_pcap(t), len(t.records)


@pytest.mark.parametrize("refused", [False, True], ids=["ended", "refused"])
def test_qp_of_a_closed_connection_may_belong_to_another_program(refused):
    """The connection setup of that program needs no CM."""
    conforms(ended(refused, b"\x01\x02\x03", ib.fill(64, 9))[0])


def test_ipoib_in_flight_when_a_connection_ends_is_checked():
    capture, last = ended(False, encap(0x0800, ib.ping4(B.ip, "239.1.2.3")), ms=1)
    assert (last, "rfc4755.2.1.multicast-over-ud") in failures(capture)


def test_ipoib_after_a_reject_is_checked():
    """The PSN of the requester's next GSI packet shows that it set up no other connection."""
    t = Tape()
    c = Connection(t, ids=(0xA0000001, 0))
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 2048))
    c.rej(CONSUMER_REJECT, ib.private_data(B.qpn, 0))
    c.packet(False, ONLY, ping(B, A), 1)
    assert failures(erf_pcap(t)) == []
    query = ib.path_record(SM.gid, A.gid)
    query = ib.sa_mad(ib.GET, 0x7E, ib.ATTR_PATH_RECORD, query, 0x0C)  # DGID, SGID
    t.mad(A, SM, query)
    assert failures(erf_pcap(t)) == [(4, "rfc4755.2.3.connection-before-ip")]


# ---- where the records of the SA are known to be current, as in a probe


def test_each_datagram_above_the_mtu_is_reported_where_records_are_current():
    """RFC 4391 section 7: the link MTU is 2044 octets. The same datagram of 2100 octets of data is
    sent twice: a probe that did not know its peer at the first one finds the second."""
    t = fixture.tape("datagram.pcap")
    t[45].datagram(0x0800, ib.ping4(N0.ip, N1.ip, size=2100))
    t.insert(45, t[45].copy())
    t.renumber(N0.lid, N0.qpn)
    mtu = "rfc4391.7.link-mtu"
    found = findings.failures(t.pcap(), *LINUX, "--current")
    assert [frame for frame, rule in found if rule == mtu] == [45, 46]
    assert [rule for _, rule in failures(t.pcap())].count(mtu) == 1  # a proof is reported once

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check reports no violation if a frame that was not captured, or one that was captured in
the wrong order, could explain what it sees.

Most tests come in pairs. In the capture of the first one, every sender conforms, but frames that
would show this are missing: no violation may be found. In the capture of the second one, the
situation is the same, but the PSNs show that no such frame is missing: the violation must be
found."""
import glob
import os

import pytest

from frames import fixture, ib, variants, world
from frames.bases import CONTROLLED, N0, N1, N3, is_ipoib, is_mcmember, join_again
from frames.build import erf_pcap
from frames.connection import Connection
from frames.fabric import A, B, BROADCAST_MGID, C, D, GSI, JOIN_MASK, SM, Tape, mad_frame, ud_frame
from frames.messages import arp_request, broadcast_record, nd6, ping, solicited_node
from frames.fault_datagrams import ping_group
from frames.ib import ONLY, encap
from frames.subnet import FromStart, Host, SMP_GET
from frames.variants import evidence, forms  # noqa: F401  (evidence: enters the variants)
from support import capfile, findings
from support.paths import TESTDATA

PKEY = "rfc4391.5.pkey-configured"
QKEY_FROM_JOIN, LINK_MTU = "rfc4391.9.1.2.qkey-from-join", "rfc4391.7.link-mtu"
PARAMETERS, ATTRIBUTES = "rfc4391.5.join-parameters-used", "rfc4391.10.group-attributes"
TO_QPN, TRAPS = "rfc4391.9.1.1.traffic-to-qpn", "rfc4391.10.subscribe-traps"
SERVICE_ID, UD_QPN = "rfc4755.3.5.service-id", "rfc4755.3.2.ud-qpn-in-private-data"
ARP, BEFORE_IP = "rfc4391.9.2.arp-as-rfc826", "rfc4755.2.3.connection-before-ip"
GROUP, EXISTS = "rfc4391.10.group-before-use", "rfc4391.5.broadcast-group-exists"
CROSSING, GROUP_MTU = "rfc4755.3.3.simultaneous", "rfc4391.4.1.group-mtu"


def failures(capture, rule=None, deviations="linux"):
    found = findings.failures(capture, "--deviations", deviations)
    return [(frame, r) for frame, r in found if rule in (None, r)]


def conforms(capture):
    assert failures(capture) == []


def gsi(frame, lid):
    p = frame.packet
    return p.deth and p["srcqp"] == 1 and p["slid"] == lid


# ---- a join that was not captured, after a change of the group's parameters

MTU_4096 = 5


def ipoib_with(p, change):
    if change == "qkey":
        p["qkey"] = CONTROLLED
    elif change == "sl":
        p["sl"] = 3


def record_with(p, change):
    if change == "qkey" and p["mcm.qkey"]:
        p["mcm.qkey"] = CONTROLLED
    elif change == "sl" and p["mcm.mlid"]:
        p.payload[100] = 3 << 4 | p.payload[100] & 0x0F
    elif change == "mtu" and p["mcm.mtu"]:
        p["mcm.mtu"] = MTU_4096


def rejoined(change, missed=True):
    """datagram.pcap; after 68 all nodes use other parameters, and n1's join, whose response has
    them, is not in the capture. They send with a GRH (an ARP request of each node) and without it
    (if the MTU has grown, echo requests of 3000 bytes). missed: the PSNs of n1's GSI show that one
    of its requests is missing; else that none is."""
    t = fixture.tape("datagram.pcap")
    for n, like, node, lid in ((72, 41, N0, 1), (75, 41, N1, 2)):
        p = t[like].copy().set(slid=lid, sgid=node.gid, srcqp=node.qpn)
        p["arp.sha.qpn"], p["arp.sha.gid"] = node.qpn, node.gid
        p.payload[32:36] = ib.ip4(node.ip)
        p.payload[56:60] = ib.ip4("10.0.0.77")
        t.insert(n, p)
    if change == "mtu":
        for n in (80, 81):
            t[n].datagram(
                0x0800, ib.ping4(*((N1.ip, N0.ip) if n == 80 else (N0.ip, N1.ip)), size=3000)
            )
            t[n].set(dlid=1 if n == 80 else 2, destqp=(N0 if n == 80 else N1).qpn).drop_grh()
    for f in t.frames[t.number(68) :]:
        if is_ipoib(f.packet):
            ipoib_with(f.packet, change)
        elif is_mcmember(f.packet):
            record_with(f.packet, change)
        if missed and gsi(f, N1.lid):
            f.packet["psn"] += 1
    for node in (N0, N1):
        t.renumber(node.lid, node.qpn)
    return t.pcap()


CHANGES = {"qkey": QKEY_FROM_JOIN, "sl": PARAMETERS, "mtu": LINK_MTU}


@pytest.mark.parametrize("change", CHANGES)
def test_missed_join_after_a_change_of_parameters(change):
    conforms(rejoined(change))


@pytest.mark.parametrize("change, rule", CHANGES.items(), ids=CHANGES)
def test_other_parameters_without_a_missed_join_are_found(change, rule):
    found = {r for _, r in failures(rejoined(change, missed=False))}
    assert rule in found and ATTRIBUTES in found


@pytest.mark.parametrize("change", CHANGES)
def test_missed_joins_after_a_client_reregistration(change):
    """sm-restart.pcap: the SM asks n1 to join again in 77 (ClientReregister, IBA 14.2.5.6). None of
    n1's joins is captured, and all requests that n1 makes before it sends are missed."""
    t = fixture.tape("sm-restart.pcap")
    t.keep((1, 78), (94, 95), (100, 111))
    p = t[94].copy().set(dlid=0xC000, destqp=0xFFFFFF, psn=0x99)
    p.add_grh(ib.gid(N1.gid), ib.gid(BROADCAST_MGID))
    t.insert(94, p)
    if change == "mtu":
        t[101].datagram(0x0800, ib.ping4(N1.ip, N0.ip, size=3000))
        t[102].datagram(0x0800, ib.ping4(N0.ip, N1.ip, size=3000))
    for f in t.frames[t.number(78) :]:
        ipoib_with(f.packet, change)
    conforms(t.pcap())


@pytest.mark.parametrize("times", [1, 2], ids=["once", "captured-twice"])
def test_mlid_of_a_datagram_sent_before_the_join_response(times):
    """datagram.pcap: n1 joins the group of 36 again, and the response has another MLID; a copy of
    36 follows immediately. In 37, n1 asks the SA for another group."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 40))
    group = next(p for p in (t[21], t[22], t[24], t[27]) if p["mcm.mgid"] == t[36]["dgid"])
    reply = next(p for p in (t[23], t[25], t[26], t[28]) if p["mcm.mgid"] == t[36]["dgid"])
    request, response = group.copy(), reply.copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    response["mcm.mlid"] = 0xC00F
    at = t.insert(36, request)
    for _ in range(times):
        at = t.insert(at, response.copy())
    t.insert(at, t[36].copy())
    t.frames = t.frames[: t.number(37)]
    t.renumber(2)
    conforms(t.pcap())


def lost_rejoin(change, missed=True):
    """datagram.pcap; n1 uses other parameters after 68, as if its interface had been restarted.
    n1's next captured request, 71, is the first packet whose PSN can show a lost request. missed:
    it shows that n1's join with the new parameters was not captured; else that n1 sent none."""
    t = fixture.tape("datagram.pcap")
    t.drop(69, 70)  # n1 joins 239.1.2.3: request and response
    p = t[41].copy().set(slid=2, sgid=N1.gid, srcqp=N1.qpn)
    p["arp.sha.qpn"], p["arp.sha.gid"] = N1.qpn, N1.gid
    p.payload[32:36] = ib.ip4(N1.ip)
    at = t.insert(68, p)
    long = t[64].copy()
    long.datagram(0x0800, ib.ping4(N1.ip, N0.ip, size=3000 if change == "mtu" else 8))
    long.set(dlid=1, destqp=N0.qpn)
    ipoib_with(p, change)
    ipoib_with(long, change)
    t.insert(at, long)
    t.renumber(2)
    t.renumber(2, N1.qpn)
    for f in t.frames[t.number(71) - 1 :]:
        if missed and gsi(f, N1.lid):
            f.packet["psn"] += 1
    return t.pcap()


@pytest.mark.parametrize("change", CHANGES)
def test_missed_join_that_only_the_next_request_shows(change):
    found = {r for _, r in failures(lost_rejoin(change))}
    assert found.isdisjoint(CHANGES.values())


@pytest.mark.parametrize("change, rule", CHANGES.items(), ids=CHANGES)
def test_other_parameters_are_found_at_the_next_request(change, rule):
    """Frame 71 keeps its number: two frames before it are removed, and two are inserted."""
    assert (71, rule) in failures(lost_rejoin(change, missed=False))


BEFORE = {"qkey": CONTROLLED}, {"hop": 5}, {"mtu": 3}


@pytest.mark.parametrize("earlier", BEFORE, ids=lambda earlier: next(iter(earlier)))
@pytest.mark.parametrize("first", [6, 15, 19])
def test_missed_record_before_a_change(earlier, first):
    """datagram.pcap: LID 4 joins after 50 and gets other parameters. n0 and n1 use the old ones.
    Their only record, 20, was not captured, nor were the frames from `first` to 20. Groups that n1
    creates later have the old parameters, too."""
    t = fixture.tape("datagram.pcap")
    at = join_again(t, "fe80::11:7500:0:120", 4, **earlier)
    t.insert(at, t[41].copy())
    t.drop(*range(first, 21))
    conforms(t.pcap())


def sa_changes(psn_of_n1):
    """datagram.pcap: n0, the SA's port, whose requests do not reach the wire, has another Q_Key in
    49; n1, which received the group's Q_Key, sends its next request in 69 with this PSN."""
    t = fixture.tape("datagram.pcap")
    t[49]["qkey"] = CONTROLLED
    t[69]["psn"] = psn_of_n1
    return [f for f in failures(t.pcap()) if f[1] == QKEY_FROM_JOIN]


def test_missed_join_of_the_sas_port():
    assert sa_changes(psn_of_n1=9) == []


def test_other_qkey_of_the_sas_port_is_found():
    assert sa_changes(psn_of_n1=8) == [(69, QKEY_FROM_JOIN)]


def advertised(lid, psn):
    """datagram.pcap: n1 responds to n0's solicitation (59) in 60. Here 60 goes to QPN 0x25 of this
    LID and has this PSN; 14 is the next PSN of n1's QP."""
    t = fixture.tape("datagram.pcap")
    t[60].set(dlid=lid, destqp=0x25, psn=psn)
    return failures(t.pcap(), "rfc4755.3.1.reply-to-ud-qpn")


@pytest.mark.parametrize("lid, psn", [(3, 14), (1, 15)], ids=["another-port", "second-response"])
def test_reply_to_a_missed_solicitation(lid, psn):
    assert advertised(lid, psn) == []


def test_reply_to_another_qpn_is_found():
    assert [n for n, _ in advertised(lid=1, psn=14)] == [60]


def test_missed_join_response():
    """n1 joins again after 50 and gets another Q_Key; the response is not in the capture."""
    t = fixture.tape("datagram.pcap")
    t.frames.remove(join_again(t, N1.gid, 2, qkey=CONTROLLED))
    for f in t.frames[t.number(50) :]:
        if is_ipoib(f.packet) and f.packet["slid"] == 2:
            f.packet["qkey"] = CONTROLLED
        if gsi(f, N1.lid):
            f.packet["psn"] += 1
    assert [r for n, r in failures(t.pcap()) if n <= t.number(58)] == []


PATH_MASK = 0x0C  # DGID, SGID (IBA 15.2.5.16)


def asks_next(t, port, psn):
    """The port's GSI sends a request with the PSN after its last one: no request between them is
    missing."""
    query = ib.path_record(SM.gid, port.gid)
    mad = ib.sa_mad(ib.GET, 0x7E, ib.ATTR_PATH_RECORD, query, PATH_MASK)
    t.put(mad_frame(port, SM, mad, psn).ib())


def late_joiner(qkey):
    """The capture begins after A's join; C joins, gets the current Q_Key, and A sends."""
    t = Tape()
    record = broadcast_record(port_gid=C.gid)
    t.sa(C, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.sa(SM, C, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.ud(C, BROADCAST_MGID, arp_request(C, D.ip))
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n))
    t.ud(A, B, ping(A, B), qkey=qkey)
    t.ud(A, B, ping(A, B), qkey=qkey, grh=True)
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip), qkey=qkey)
    t.ud(C, D, ping(C, D), qkey=qkey)
    asks_next(t, C, 2)
    return erf_pcap(t)


def test_port_that_joined_before_the_capture_may_have_another_qkey():
    """A may use the other Q_Key until it joins again; C may not."""
    assert failures(late_joiner(0x80000B1C)) == [(17, QKEY_FROM_JOIN)]


# ---- a P_Key table that was set again


def other_partition(seconds, missed):
    """datagram.pcap: n1's table has only 0xffff (8), and n1 joins the broadcast group of 0x8005 in
    19, this much later than in the original. 90 is n1's next response to the SM. missed: its PSN
    shows that a response is missing before it, as to a Set(P_KeyTable)."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 20), (89, 92))
    for n in (19, 20):
        t[n]["mcm.mgid"], t[n]["mcm.pkey"] = "ff12:401b:8005::ffff:ffff", 0x8005
    t.shift(19, seconds)
    t[90]["psn"] += missed
    return failures(t.pcap(), PKEY), t.number(90)


@pytest.mark.parametrize("seconds", [0, 10, 3600])
def test_missed_change_of_the_pkey_table(seconds):
    assert other_partition(seconds, missed=True)[0] == []


@pytest.mark.parametrize("seconds", [0, 10, 3600])
def test_partition_that_no_missed_table_explains_is_found(seconds):
    found, response = other_partition(seconds, missed=False)
    assert found == [(response, PKEY)]


# ---- an announcement of a new QPN that was not captured


def new_qpn(capture, old, new, restarted=True):
    """The capture up to the first IPv4 unicast to the new QP, without the packets that the new QP
    sent. restarted: the joins of the restarted interface are in the capture; else n1's next request
    shows that it did not join again. Returns the capture and its number of frames."""
    t = fixture.tape(capture)
    request = t[157].copy().set(psn=t[92]["psn"])
    first = next(
        n
        for n, f in enumerate(t.frames)
        if f.packet.deth and f.packet["destqp"] == new and f.packet["type"] == 0x0800
    )
    t.frames = [
        f
        for n, f in enumerate(t.frames[: first + 1])
        if not (f.packet.deth and f.packet["srcqp"] == new)
        and (
            restarted or n < t.number(91) or f.packet.deth and f.packet["srcqp"] != 1 or n == first
        )
    ]
    if not restarted:  # n1's next request: it did not join again
        t.insert(t.frames[-1], request)
    return t.pcap(), len(t.frames)


def test_missed_announcement_of_a_new_qpn():
    capture, _ = new_qpn("qpn-change.pcap", 0x25, 0x31)
    conforms(capture)


def test_traffic_to_a_qpn_that_no_restart_explains_is_found():
    capture, last = new_qpn("qpn-change.pcap", 0x25, 0x31, restarted=False)
    assert failures(capture, TO_QPN) == [(last, TO_QPN)]


def connects(restarted, responder=0x35):
    """qpn-change-cm.pcap: n0 connects to the QPN 0x35 of n1 (190); the ARP reply with this QPN is
    missed. responder: the UD QPN in n1's REP (191)."""
    t = fixture.tape("qpn-change-cm.pcap")
    t[191]["rep.private.qpn"] = responder
    t.keep((1, 110), (138, 191)) if restarted else t.keep((1, 110), 190, 191)
    t.frames = [f for f in t.frames if not (f.packet.deth and f.packet["srcqp"] == 0x35)]
    t.renumber(1)
    t.renumber(2)
    return t.pcap()


def qpn_failures(capture):
    """The failures of the rules about the QPN. That Linux's Service-ID starts with another byte is
    a known deviation and no failure here."""
    return [r for _, r in failures(capture) if r in (SERVICE_ID, UD_QPN)]


def test_connection_to_a_new_qpn_whose_announcement_was_missed():
    assert qpn_failures(connects(True)) == []


def test_connection_to_a_qpn_that_no_restart_explains_is_found():
    assert set(qpn_failures(connects(False, responder=0x36))) == {SERVICE_ID, UD_QPN}


def test_connection_to_a_qpn_that_the_responder_names_is_of_another_interface():
    assert qpn_failures(connects(False)) == []


# ---- a response to InformInfo that was not captured


def subscribed(*missed, refused=False):
    t = fixture.tape("subscribed")
    if refused:
        t[274]["mad.status"] = 0x0200
    t.drop(*missed)
    t.renumber(5)
    return t.pcap()


def lacking_subscribers(capture):
    """How many senders do not subscribe, except n1 and n2, which never do, as all Linux hosts."""
    return len(failures(capture, TRAPS, "none")) - 2


@pytest.mark.parametrize("missed", [(272,), (274,), (272, 274)])
def test_missed_subscription_responses(missed):
    assert lacking_subscribers(subscribed(*missed)) == 0


def test_rejected_subscription_does_not_count():
    assert lacking_subscribers(subscribed(refused=True)) == 1


# ---- two IP addresses of one interface

ALIAS = "10.0.0.101"


def request_arp(ip, to=BROADCAST_MGID, psn=0):
    """A requests B's address from this IP address of its own."""
    return ud_frame(A, to, encap(0x0806, ib.arp(1, A.addr, ip, bytes(20), B.ip)), psn).ib()


def reply_arp(ip):
    return ud_frame(B, A, encap(0x0806, ib.arp(2, B.addr, B.ip, A.addr, ip))).ib()


def later(psn):
    """Two datagrams of A; the second one was certainly sent after all frames before them."""
    return [(ud_frame(A, B, ping(A, B), n).ib(), 20) for n in (psn, psn + 1)]


def arps(*frames, first=()):
    """C announces its IP address, and `first`; the frames follow a minute later. A frame is its
    bytes, or these and the milliseconds since the one before it."""
    t = Tape()
    t.put(ud_frame(C, BROADCAST_MGID, arp_request(C, D.ip)).ib())
    for octets in first:
        t.put(octets)
    for i, frame in enumerate(frames):
        octets, ms = frame if isinstance(frame, tuple) else (frame, 1)
        t.put(octets, ms=ms if i else 60000)
    return erf_pcap(t)


TO = pytest.mark.parametrize("to", [BROADCAST_MGID, B], ids=["multicast", "unicast"])
TARGET = pytest.mark.parametrize("ip", [B.ip, C.ip, ALIAS], ids=["own", "third", "alias"])


@TO
@TARGET
def test_reply_to_an_ip_whose_request_was_missed(ip, to):
    """The IP address may have moved to A. The response to the first request was missed, too."""
    conforms(arps(request_arp(A.ip, to), reply_arp(ip), *later(2)))
    conforms(
        arps(request_arp(A.ip, to, psn=1), reply_arp(ip), *later(2))
    )  # the missed one came first


@TO
@TARGET
def test_reply_to_an_ip_captured_before_its_request(ip, to):
    frames = (
        request_arp(A.ip, to),
        reply_arp(ip),
        request_arp(ip, to, psn=1),
        reply_arp(A.ip),
        *later(2),
    )
    conforms(arps(*frames))


@TARGET
def test_reply_to_an_ip_without_a_later_datagram(ip):
    conforms(arps(request_arp(A.ip), reply_arp(ip)))
    conforms(arps(request_arp(A.ip), reply_arp(ip), request_arp(A.ip)))  # captured twice


@pytest.mark.parametrize("ip", [B.ip, C.ip], ids=["own", "third"])
def test_reply_to_an_ip_of_another_port_is_found(ip):
    assert failures(arps(request_arp(A.ip), reply_arp(ip), *later(1))) == [(5, ARP)]
    before = [ud_frame(A, BROADCAST_MGID, arp_request(A, D.ip), 7).ib()]  # its PSN is not 0
    capture = arps(request_arp(A.ip, psn=8), reply_arp(ip), *later(9), first=before)
    assert failures(capture) == [(6, ARP)]


def test_neighbour_advertisement_to_an_alias_whose_solicitation_was_missed():
    t, sn = Tape(), solicited_node(C.ll)
    t.ud(
        A,
        ib.mgid_ipv6(sn),
        nd6(A.ll, sn, ib.nd_ns(C.ll, ib.nd_lladdr_option(1, A.addr))),
        mlid=0xC003,
    )
    t.ud(C, A, nd6(C.ll, "fd00::1", ib.nd_na(C.ll, ib.nd_lladdr_option(2, C.addr))))
    conforms(erf_pcap(t))


# ---- neighbouring frames that were swapped

CAPTURES = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))


@pytest.mark.parametrize("capture", CAPTURES, ids=map(os.path.basename, CAPTURES))
def test_swapped_neighbouring_frames_raise_no_violation(capture):
    allowed = {rule for _, rule in failures(capture)}
    swaps = range(1, len(capfile.read(capture).frames))
    found = {
        n: findings.failures(capture, "--deviations", "linux", "--swap", str(n)) for n in swaps
    }
    assert not {n: f for n, f in found.items() if {r for _, r in f} - allowed}


def before_rep(transport=0, ms=1, between=0, up=True, missed=0, copied=False):
    """The responder joins. A datagram over the connection was captured before the REP. up: the
    requester sent it; else the responder. between: number of frames of other nodes between the two.
    ms: time from the frame before the REP to the REP. missed: number of packets of the responder's
    GSI that are missing before the REP. copied: the REQ is captured a second time, before the
    REP."""
    t = Tape()
    record = broadcast_record(port_gid=B.gid)
    t.sa(B, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    joined = t.psns[B.lid, GSI]
    t.sa(SM, B, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t, transport=transport, psns=(1, 1))
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, 65524))
    c.packet(up, ONLY, ping(A, B) if up else ping(B, A), 1)
    for n in range(between):
        t.ud(C, D, ping(C, D, seq=n))
    if copied:
        t.put(t.records[2][1])
    rep = ib.cm_rep(c.tid, c.ids[1], c.ids[0], c.qps[1], 1, B.guid, ib.private_data(B.qpn, 65524))
    t.put(mad_frame(B, A, rep, joined + 1 + missed).ib(), ms=ms)
    c.rtu(ib.private_data(A.qpn, 65524))
    return erf_pcap(t), len(t.records) - 1


BOTH_TRANSPORTS = pytest.mark.parametrize("transport", [0, 1], ids=["rc", "uc"])


@BOTH_TRANSPORTS
@pytest.mark.parametrize(
    "ms, between", [(1, 0), (500, 0), (1, 5)], ids=["neighbour", "slow-neighbour", "within"]
)
def test_requesters_data_close_before_the_rep_may_be_swapped(transport, ms, between):
    conforms(before_rep(transport, ms, between)[0])


@BOTH_TRANSPORTS
@pytest.mark.parametrize("ms, between", [(1, 8), (11, 1)], ids=["frames", "time"])
def test_data_before_the_rep_beyond_the_window_is_found(transport, ms, between):
    capture, rep = before_rep(transport, ms, between)
    assert failures(capture) == [(rep, BEFORE_IP)]


@BOTH_TRANSPORTS
def test_responders_data_before_its_own_rep_is_found(transport):
    """Two frames of one port are never swapped."""
    capture, rep = before_rep(transport, up=False)
    assert failures(capture) == [(rep, BEFORE_IP)]


@BOTH_TRANSPORTS
@pytest.mark.parametrize("between", [0, 10], ids=["within", "beyond"])
def test_rep_may_be_the_copy_of_another_capture_point(transport, between):
    """Requests with the same PSN show that two capture points see the packets, one of them later
    than the other. A request that is sent again has a PSN of its own."""
    conforms(before_rep(transport, between=between, up=False, copied=True)[0])


@BOTH_TRANSPORTS
@pytest.mark.parametrize("up", [True, False], ids=["requester", "responder"])
def test_rep_may_be_a_copy_of_one_that_was_missed(transport, up):
    """The RTU may have been lost, so the responder repeats its REP (IBA 12.9.8)."""
    capture, _ = before_rep(transport, between=8, up=up, missed=1)
    assert failures(capture, BEFORE_IP) == []


def to_deleted(after):
    """switch4.pcap: n3 pings 239.10.20.32; the SA reports the deletion of this group to n3 in
    441."""
    t = fixture.tape("switch4.pcap")
    t.insert(after, ping_group(t[322], N3, 5, "239.10.20.32", 0xC00C))
    t.renumber(5, N3.qpn)
    return t


def test_datagram_at_the_time_of_its_groups_deletion():
    assert GROUP not in {rule for _, rule in failures(to_deleted(441).pcap())}


def test_datagram_to_a_group_that_was_deleted_before_is_found():
    """It is reported at n3's next request, 448, which shows that it did not join again."""
    t = to_deleted(447)
    assert (t.number(448), GROUP) in failures(t.pcap())


def test_datagram_to_a_deleted_group_after_a_missed_request_is_inconclusive():
    """One of n3's requests was not captured: it may be the join that creates the group again."""
    t = to_deleted(447)
    t.drop(448)
    conforms(t.pcap())


def test_datagram_sent_before_the_join_response():
    """n1 joins again after 50 and gets another Q_Key; a datagram with the old one follows the
    response immediately."""
    t = fixture.tape("datagram.pcap")
    at = t.insert(join_again(t, N1.gid, 2, qkey=CONTROLLED), t[50].copy())
    t.frames = t.frames[: t.number(at)]
    conforms(t.pcap())


LATER = 20  # ms: order is certain after 10 (lib/model/order.h)


def asked_and_missing(*more, told=True):
    """The SA reports to A, if told, and to C that it has no such group; then A sends to it. more:
    "join": before that, C requests to create the group, and the SA's response was not captured, so A
    may send; "refusal": the SA's response, a refusal, was captured, so A may not send. Without them A
    may not send either."""
    t, group = Tape(), ib.mgid_ipv4("239.1.2.3")
    record = ib.mcmember(group, C.gid, pkey=0xFFFF, join=1)
    mask = ib.MCM["mgid"]
    t.put(mad_frame(A, SM, ib.sa_mad(ib.GET, 0x53, ib.ATTR_MC_MEMBER, record, mask), 1).ib())
    if told:
        t.sa(SM, A, ib.GET_RESP, 0x53, ib.ATTR_MC_MEMBER, record, mask, status=0x0300)
    if more or not told:
        t.sa(C, SM, ib.GET, 0x55, ib.ATTR_MC_MEMBER, record, mask)
        t.sa(SM, C, ib.GET_RESP, 0x55, ib.ATTR_MC_MEMBER, record, mask, status=0x0300)
    if "join" in more:
        t.sa(C, SM, ib.SET, 0x56, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    if "refusal" in more:
        t.sa(SM, C, ib.GET_RESP, 0x56, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=0x0200)
    udp = ib.udp(A.ip, "239.1.2.3", 9, 9, b"1234")
    t.ud(A, group, encap(0x0800, ib.ipv4(A.ip, "239.1.2.3", 17, udp, ttl=1)), mlid=0xC005)
    # A's next request (its PSN follows): A did not join before. The SA's next response: no program
    # of A did
    t.put(mad_frame(A, SM, ib.sa_mad(ib.GET, 0x57, ib.ATTR_MC_MEMBER, record, mask), 2).ib())
    t.mad(
        SM, A, ib.sa_mad(ib.GET_RESP, 0x57, ib.ATTR_MC_MEMBER, record, mask, status=0x0300), LATER
    )
    return erf_pcap(t)


def test_missed_response_to_the_join_that_creates_a_group():
    conforms(asked_and_missing("join"))


# without "join", the SA has sent one packet, so its PSNs show nothing: A's request counts
@pytest.mark.parametrize("more, at", [((), 4), (("join", "refusal"), 9)], ids=["none", "refused"])
def test_group_that_no_port_created_is_found(more, at):
    assert (at, GROUP) in failures(asked_and_missing(*more))


def test_group_that_another_port_does_not_find():
    """A may have joined before the capture, and the SA may have been restarted since."""
    conforms(asked_and_missing(told=False))


# ---- through an InfiniBand router

REMOTE = "2001:db8:0:2:2:c903:0:77"
ROUTER_LID = 9


def routed(src_gid, hop, sl, slid):
    """The link's broadcast group has HopLimit 64 and SL 2, which C gets when it joins. C sends.
    Then an ARP request follows with this GID, HopLimit, SL and LID: those of a sender behind a
    router, or C's own."""
    t = Tape()
    record = ib.mcmember(
        BROADCAST_MGID.replace("ff12", "ff15"),
        "2001:db8:0:1:9803:9b03:66:de52",
        qkey=0x80000B1B,
        mlid=0xC000,
        mtu_sel=2,
        mtu=4,
        pkey=0xFFFF,
        rate_sel=2,
        rate=3,
        sl=2,
        hop=64,
        scope=5,
        join=1,
    )
    t.sa(C, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.sa(SM, C, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000B1B)
    lladdr = ib.lladdr(0x77, src_gid)
    frame = ib.Frame(
        ib.UD | ONLY,
        encap(0x0806, ib.arp(1, lladdr, "10.0.0.77", bytes(20), D.ip)),
        dlid=0xC000,
        slid=slid,
        dgid="ff15:401b:ffff::ffff:ffff",
        sgid=src_gid,
        destqp=0xFFFFFF,
        qkey=0x80000B1B,
        srcqp=0x77,
        hop=hop,
        sl=sl,
    )
    t.put(frame.ib())
    asks_next(t, C, 2)
    return erf_pcap(t)


@pytest.mark.parametrize("hop, sl", [(63, 2), (63, 0), (60, 5)])
def test_multicast_through_a_router(hop, sl):
    assert failures(routed(REMOTE, hop, sl, ROUTER_LID)) == []


@pytest.mark.parametrize("hop, sl", [(63, 2), (64, 5), (65, 2)])
def test_parameters_of_a_port_that_joined_in_the_capture_are_checked(hop, sl):
    assert failures(routed("2001:db8:0:1:9803:9b03:66:de52", hop, sl, C.lid)) == [(13, PARAMETERS)]


# ---- a REQ whose time is over

TIMEOUT, RETRIES = 24 + 43, 24 + 51  # in the MAD: IBA 12.6.5


def crossing(seconds, exponent=20, retries=0, repeated=()):
    """B sends a REQ to A, which does not respond. This many seconds later A sends a REQ to B, and B
    accepts it although B's own REQ is still pending, unless that has timed out; B's address is the
    larger one, so it should refuse. exponent: of the REQ's response timeout, 4.096 us * 2^exponent
    (20: 4.3 s). retries: how often B may repeat its REQ; repeated: the times when it does.
    Returns the capture and the number of the REP's frame."""
    t = Tape()
    mad = bytearray(
        ib.cm_req(
            0x77,
            7,
            ib.service_id_rfc(A.qpn),
            B.guid,
            0x203,
            1,
            B.lid,
            A.lid,
            B.gid,
            A.gid,
            ib.private_data(B.qpn, 65524),
        )
    )
    mad[TIMEOUT] = exponent << 3 | mad[TIMEOUT] & 7
    mad[RETRIES] = retries << 4
    now = 0
    for at in (0, *repeated):
        t.mad(B, A, bytes(mad), ms=int(1000 * (at - now)) or 1)
        now = at
    ab = Connection(t, A, B, ids=(1, 2), qps=(0x101, 0x202), tid=0x99)
    request = ib.cm_req(
        0x99,
        1,
        ib.service_id_rfc(B.qpn),
        A.guid,
        0x101,
        1,
        A.lid,
        B.lid,
        A.gid,
        B.gid,
        ib.private_data(A.qpn, 65524),
    )
    t.put(mad_frame(A, B, request, 0).ib(), ms=int(1000 * (seconds - now)))
    ab.rep(ib.private_data(B.qpn, 65524))
    ab.rtu(ib.private_data(A.qpn, 65524))
    return erf_pcap(t), len(t.records) - 1


@pytest.mark.parametrize(
    "seconds, exponent, repeated",
    [(5, 20, ()), (30, 20, (4.2,)), (1, 14, ()), (1, 14, (0.06, 0.12, 0.18))],
)
def test_timed_out_req_crosses_no_other(seconds, exponent, repeated):
    capture, _ = crossing(seconds, exponent, len(repeated), repeated)
    assert failures(capture, deviations="none") == []


@pytest.mark.parametrize(
    "seconds, exponent, repeated", [(1, 20, ()), (4, 20, ()), (6, 20, (4.2,)), (70, 25, ())]
)
def test_pending_req_is_crossed(seconds, exponent, repeated):
    capture, rep = crossing(seconds, exponent, len(repeated), repeated)
    assert failures(capture, deviations="none") == [(rep, CROSSING)]


# ---- a capture that begins late, with two scopes in one partition


def record_of(scope, node, **kw):
    mgid = BROADCAST_MGID.replace("ff12", "ff1%x" % scope)
    r = dict(qkey=0x80000005, mlid=0xC005, mtu_sel=2, mtu=4, pkey=0xFFFF, scope=scope, join=1)
    r.update(kw)
    return ib.mcmember(mgid, node.gid, **r)


def two_scopes(*sent, state=None):
    """A partition with two broadcast groups. A joined that of scope 2 before the capture, and joins
    that of scope 5, which has another Q_Key, in the capture. If state is given, the capture has
    instead D's join of the broadcast group of scope 8, and the SA's response has this status.
    sent: the datagrams that follow: (source, destination, Q_Key, options)."""
    t = Tape()
    record = record_of(5, A)
    if not state:
        t.sa(A, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.sa(SM, A, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    else:
        record = record_of(8, D, join=1)
        t.sa(D, SM, ib.SET, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.sa(SM, D, ib.GET_RESP, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=state)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000002)
    for src, dst, qkey, options in sent:
        payload = ping(src, dst) if not isinstance(dst, str) else arp_request(src, D.ip)
        t.ud(src, dst, payload, qkey=qkey, **options)
    asks_next(t, D if state else A, 2)
    return erf_pcap(t)


@pytest.mark.parametrize("grh", [False, True], ids=["no-grh", "grh"])
def test_link_of_another_scope_has_another_qkey(grh):
    """B, and another interface of A, use the Q_Key of scope 2; A joined scope 5 in the capture."""
    a2 = type(A)(A.lid, A.gid, 0x49, "10.2.0.1", A.ll)
    sent = [(B, C, 0x80000002, {"grh": grh}), (a2, C, 0x80000002, {"grh": grh})]
    assert failures(two_scopes(*sent)) == []


def test_other_qkey_on_the_link_that_was_joined_is_found():
    on_link = (A, "ff15:401b:ffff::ffff:ffff", 0x80000005, {"mlid": 0xC005})
    found = failures(two_scopes(on_link, (A, B, 0x80000002, {})))
    assert found == [(14, QKEY_FROM_JOIN)]


NO_GROUP = 0x0600  # IBA 15.2.3: ERR_REQ_INSUFFICIENT_COMPONENTS


def test_scope_without_a_broadcast_group_and_one_that_was_joined_before():
    """A node searches the scopes from the local one outwards (RFC 4391 §4.1)."""
    sent = [
        (A, "ff15:401b:ffff::ffff:ffff", 0x80000005, {"mlid": 0xC005}),
        (A, B, 0x80000005, {}),
    ]
    assert failures(two_scopes(*sent, state=NO_GROUP)) == []


def no_broadcast_group(psn, joins=False, told=A):
    """A asks the SA for another group (PSN 1), or for the broadcast group. The SA tells a port that
    there is no broadcast group of scope 8. Then A sends on this link (frame 12 or 13), or joins
    another group of it (PSN 2). A's last request has the PSN that is given."""
    t = Tape()
    other, record = ib.mcmember(ib.mgid_ipv4("239.1.2.3"), A.gid), record_of(8, told)
    first = ib.sa_mad(ib.GET, 0x53, ib.ATTR_MC_MEMBER, other, ib.MCM["mgid"])
    join = ib.sa_mad(ib.SET, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.put(mad_frame(A, SM, join if told is A else first, 1).ib())
    if told is not A:
        t.mad(told, SM, join)
    t.sa(SM, told, ib.GET_RESP, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=NO_GROUP)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000002)
    group = "ff18:401b:ffff::16"
    if joins:
        record = ib.mcmember(group, A.gid, qkey=0x80000005, mlid=0xC005, mtu=4, pkey=0xFFFF, join=1)
        mad = ib.sa_mad(ib.SET, 0x13, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.put(mad_frame(A, SM, mad, 2).ib())
        t.sa(SM, A, ib.GET_RESP, 0x13, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    else:
        t.ud(A, group, arp_request(A, D.ip), qkey=0x80000005, mlid=0xC005)
    asks_next(t, A, psn)
    path = ib.path_record(SM.gid, A.gid)
    t.mad(SM, A, ib.sa_mad(ib.GET_RESP, 0x7E, ib.ATTR_PATH_RECORD, path, PATH_MASK), LATER)
    return erf_pcap(t)


JOINS_OR_SENDS = pytest.mark.parametrize("joins", [False, True], ids=["sends", "joins"])


@JOINS_OR_SENDS
def test_missed_join_that_creates_the_broadcast_group(joins):
    """The PSN of A's last request shows that an earlier one was not captured."""
    psn = 4 if joins else 3
    assert EXISTS not in {rule for _, rule in failures(no_broadcast_group(psn, joins))}


@JOINS_OR_SENDS
def test_traffic_of_a_scope_without_a_broadcast_group_is_found(joins):
    """The PSN of A's last request shows that no request of A's QP1 before it is missing. If the SA
    has sent two packets before, its next one (15) shows that no other response is missing."""
    at, psn = (15, 3) if joins else (13, 2)
    assert (at, EXISTS) in failures(no_broadcast_group(psn, joins))


@JOINS_OR_SENDS
def test_broadcast_group_that_another_port_does_not_find(joins):
    """A may have joined before the capture, and the SA may have been restarted since."""
    psn = 3 if joins else 2
    assert EXISTS not in {rule for _, rule in failures(no_broadcast_group(psn, joins, told=D))}


def test_traffic_of_a_port_whose_requests_are_not_captured_is_inconclusive():
    sent = (A, "ff18:401b:ffff::16", 0x80000005, {"mlid": 0xC005})
    assert failures(two_scopes(sent, state=NO_GROUP)) == []


# ---- a path whose MTU the subnet manager's policy lowers


@pytest.mark.parametrize("mtu", [1, 3])
def test_path_with_a_smaller_mtu_than_the_groups(mtu):
    t = fixture.tape("datagram.pcap")
    t[43]["path.mtu"] = mtu
    capture = t.pcap()
    conforms(capture)
    count = findings.counts(capture, "--deviations", "linux")[GROUP_MTU]
    assert (count.failed, count.inconclusive) == (0, 1)


def smaller_mtu(missed):
    """datagram.pcap: n1's PortInfo has NeighborMTU 1024; n1 joins the broadcast group, whose MTU is
    2048, in 20. 90 is n1's next response to the SM. missed: its PSN shows that a response before it
    was not captured, for example to a Set(PortInfo) with another NeighborMTU."""
    t = fixture.tape("datagram.pcap")
    for n in (*range(9, 15), 92):
        t[n]["port.neighbor_mtu"] = 3
    t[90]["psn"] += missed
    t[92]["psn"] += missed
    return failures(t.pcap(), GROUP_MTU)


def test_port_whose_link_has_a_smaller_mtu_than_the_group_is_found():
    assert smaller_mtu(missed=False) == [(90, GROUP_MTU)]


def test_missed_change_of_the_ports_mtu():
    assert smaller_mtu(missed=True) == []


def test_missed_change_of_the_ports_mtu_before_the_join():
    """90, whose PSN shows that an SMP is missing, comes before the join; 92 comes after it."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 20), (89, 92))
    for n in range(9, 15):
        t[n]["port.neighbor_mtu"] = 3
    for n in (90, 89):
        t.move(n, 18)
    for n in (90, 92):
        t[n]["psn"] += 1
    assert failures(t.pcap(), GROUP_MTU) == []


# ---- a connection after a refused one


LIDS = A.lid, B.lid, A.gid, B.gid
STALE, CONSUMER, DUPLICATE = 10, 28, 30  # IBA 12.6.7.2


def after_refusal(missed, other=False, reason=CONSUMER):
    """B refuses A's REQ; then A's QP gets a datagram of B, or of another port. A's next request
    follows. missed: its PSN shows that a packet of A's GSI is missing, as the second REQ."""
    t, record = Tape(), broadcast_record(port_gid=A.gid)
    t.sa(A, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    joined = t.psns[A.lid, GSI]
    t.sa(SM, A, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t)
    data = ib.private_data(A.qpn, 65524)
    req = ib.cm_req(c.tid, c.ids[0], ib.service_id_rfc(B.qpn), A.guid, c.qps[0], 1, *LIDS, data)
    t.put(mad_frame(A, B, req, joined + 1).ib())
    c.mad(False, ib.cm_rej(c.tid, c.ids[1], c.ids[0], reason, 0, b""))
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n))
    if other:
        c.b = C
    c.packet(False, ONLY, ping(c.b, A), 1)
    asks_next(t, A, joined + 2 + missed)
    return failures(erf_pcap(t), BEFORE_IP)


FROM = pytest.mark.parametrize("other", [False, True], ids=["responder", "another-port"])


@FROM
def test_missed_set_up_after_a_refusal(other):
    assert after_refusal(1, other) == []


def test_data_after_a_refusal_is_found():
    assert after_refusal(0) == [(15, BEFORE_IP)]


def test_data_of_a_connection_that_the_receiver_ended():
    """The other port does not know that A has ended their connection, and sends on."""
    assert after_refusal(0, other=True) == []


@pytest.mark.parametrize("reason", [STALE, DUPLICATE])
def test_data_of_an_older_connection_that_the_refusal_names(reason):
    assert after_refusal(0, reason=reason) == []


# ---- requests of a program from its own queue pair, which the PSNs of the port's GSI do not show


class Exchanges(Tape):
    """Requests to the SA and its responses; the PSNs of each GSI are counted."""

    def __init__(self):
        super().__init__()
        self.sent = dict.fromkeys((SM.lid, A.lid, D.lid), 0)

    def gsi(self, src, dst, mad):
        self.put(mad_frame(src, dst, mad, self.sent[src.lid]).ib(), ms=20)
        self.sent[src.lid] += 1

    def exchange(self, port, method, record, mask, status=0, attribute=ib.ATTR_MC_MEMBER):
        tid = 0x900 + len(self.records)
        self.gsi(port, SM, ib.sa_mad(method, tid, attribute, record, mask))
        mad = ib.sa_mad(ib.GET_RESP, tid, attribute, record, mask, status=status)
        self.gsi(SM, port, mad)

    def path(self, port):
        query = ib.path_record(SM.gid, port.gid)
        self.exchange(port, ib.GET, query, PATH_MASK, attribute=ib.ATTR_PATH_RECORD)


def sends_as_send_only(t):
    """A joined the broadcast group without FullMember; it sends on the link."""
    t.exchange(A, ib.SET, record_of(2, A, join=4), JOIN_MASK)
    yield
    for _ in range(2):
        t.ud(A, BROADCAST_MGID, arp_request(A, D.ip), qkey=0x80000005, mlid=0xC005)


BY_PROGRAM = pytest.mark.parametrize(
    "situation, rule",
    [
        (sends_as_send_only, "rfc4391.5.full-member-join"),
    ],
    ids=["full-member"],
)


def by_program(situation, missed, others=0, ports=(A, D), copies=False):
    """missed: the PSNs of the SA's GSI show that a response of the SA is missing, as to a join of a
    program. others: responses that are missing before. ports: the ports whose packets are captured.
    copies: each third frame was captured twice."""
    t = Exchanges()
    other = ib.mcmember(ib.mgid_ipv4("239.9.9.9"), A.gid)
    t.exchange(A, ib.GET, other, ib.MCM["mgid"])  # the request has A's GID and LID
    for port in ports:
        t.path(port)
    for _ in range(others):
        t.sent[SM.lid] += 1
        t.path(A)
    before = situation(t)
    next(before)
    t.sent[SM.lid] += missed
    list(before)
    for _ in range(5):
        t.path(A)
    if copies:
        t.records = [r for i, r in enumerate(t.records) for _ in range(1 + (i % 3 == 0))]
    return {rule for _, rule in failures(erf_pcap(t))}


@BY_PROGRAM
@pytest.mark.parametrize("others", [0, 1, 3, 6])
@pytest.mark.parametrize("copies", [False, True], ids=["once", "copies"])
def test_missed_join_of_a_program(situation, rule, others, copies):
    """However many responses are missing: the capture has those to several ports."""
    assert rule not in by_program(situation, 1, others, copies=copies)


@BY_PROGRAM
@pytest.mark.parametrize("others", [0, 1, 3, 6])
@pytest.mark.parametrize("copies", [False, True], ids=["once", "copies"])
def test_no_join_of_a_program_is_found(situation, rule, others, copies):
    assert rule in by_program(situation, 0, others, copies=copies)


@BY_PROGRAM
def test_no_join_is_found_in_the_capture_of_a_host(situation, rule):
    """It sees only the SA's responses to its own port: many are missing."""
    assert rule in by_program(situation, 3, 6, ports=(A,))


def variant(name):
    return next(v for v in variants.VARIANTS if v.name() == name)


def by_queue_pair(name, sent, missed):
    """A variant, which violates its rule in the frame `sent`. missed: the PSNs of the SA's GSI show
    that a response around this frame is missing, as to a request of another queue pair."""
    w = variant(name).world()
    for later in w.order[w.order.index(sent) + 1 :]:
        p = w[later]
        if p.deth and p["srcqp"] == 1 and p["slid"] == world.SM.lid:
            p["psn"] += missed
    rule = name.split(":")[0]
    return failures(forms.FORMS["early"](w)[0], rule, "none")


# The facts (lib/rules/fact_kinds.def) that rest on "no such request was made", each with a variant.
NO_REQUEST = {
    "NO_JOIN": ("rfc4391.10.join-before-send: IPv4 multicast, never joined", "C.mcast4"),
    "NO_JOIN, a query": (
        "rfc4391.10.join-before-send: Get of the record only, g4",
        "A.mcast4",
    ),
    "NO_JOIN, refused": ("rfc4391.5.full-member-join: refused, IPv4 unicast", "C.ping"),
    "NO_MEMBERSHIP": ("rfc4391.10.join-before-send: IPv4 multicast, after leaving", "C.mcast4"),
    "JOIN_STATE": ("rfc4391.5.full-member-join: NonMember, IPv4 unicast", "C.ping"),
    "SUBSCRIPTIONS": ("rfc4391.10.subscribe-traps: neither", "A.ns"),
    "SUBSCRIPTIONS, refused": ("rfc4391.10.subscribe-traps: refused", "A.ns"),
    "NO_OTHER_LINK": ("rfc4391.4.scope-consistent: IPv4 multicast", "A.mcast4"),
    "NO_OTHER_LINK, a join": (
        "rfc4391.4.scope-consistent: Set (join as FullMember)",
        "B.join.g4",
    ),
    "MEMBERSHIP": (
        "rfc4391.10.receiver-fullmember: IGMP report, SendOnlyFullMember",
        "B.igmp.again",
    ),
    "GROUP_ABSENT": ("rfc4391.10.group-before-use: Get, no records", "nine"),
    "GROUP_ABSENT, deleted": (
        "rfc4391.10.group-before-use: Report of trap 67, IPv4 multicast",
        "C.mcast4",
    ),
    "NO_BROADCAST": (
        "rfc4391.5.broadcast-group-exists: IPv4 multicast; the SA knows none",
        "A.mcast4",
    ),
    "NO_BROADCAST, a join": (
        "rfc4391.5.broadcast-group-exists: Set: another group is joined",
        "A.join.nodes.resp",
    ),
    "NEIGHBOUR": ("rfc4391.9.1.1.traffic-to-qpn: IPv4 unicast", "C.ping"),
    "UD_QPNS": ("rfc4755.3.2.ud-qpn-in-private-data: RC, REQ, another QPN", "rc.req"),
    "UD_QPNS, the peer's": ("rfc4755.3.5.service-id: RC, the QPN is another", "rc.req"),
}


@pytest.mark.parametrize("name, sent", NO_REQUEST.values(), ids=NO_REQUEST)
def test_missed_request_of_another_queue_pair(name, sent):
    assert by_queue_pair(name, sent, 1) == []


@pytest.mark.parametrize("name, sent", NO_REQUEST.values(), ids=NO_REQUEST)
def test_no_request_of_another_queue_pair_is_found(name, sent):
    assert by_queue_pair(name, sent, 0) != []


# ---- copies of another capture point


def after_leave(copies):
    """A sends three datagrams to a group and leaves it. copies: that many of the datagrams, the last
    ones, are captured again after the SA's response to the leave; else A sends one more."""
    w = world.World()
    w.smps(world.A)
    w.join(world.A, "bcast", "255.255.255.255", 0xC000)
    group = "g4", world.GROUP_IPV4, 0xC007
    w.join(world.A, *group)
    send = lambda name: w.ud(
        name, world.A, w.mgid(group[1]), world.udp4(world.A, group[1]), mlid=group[2]
    )
    for n in range(3):
        send(f"data.{n}")
    w.leave(world.A, *group)
    for n in range(3 - copies, 3):
        w.insert(w.order[-1], f"copy.{n}", w[f"data.{n}"].copy())
    if not copies:
        send("late")
    w.now += world.GAP
    w.last_request(world.A)
    return forms.infiniband(w)[0]


@pytest.mark.parametrize("copies", [1, 2])
def test_copy_of_a_datagram_from_before_the_leave(copies):
    """The PSNs of a queue pair increase by one (IBA 9.8.2.2): it has sent the datagram before."""
    assert failures(after_leave(copies)) == []


def test_datagram_after_the_leave_is_found():
    assert [rule for _, rule in failures(after_leave(0))] == ["rfc4391.10.join-before-send"]


# ---- another protocol's datagrams, truncated

QKEY_CONTROLLED = "rfc4391.13.qkey-controlled"


def other_datagrams(snaplen, payload):
    """Datagrams of another protocol, whose Q_Key a program chose. The first bytes are those of an
    encapsulation header and of an IP header, and the others are not."""
    t = Tape()
    for n in range(2):
        t.ud(A, B, payload, qkey=0x01234567)
    records = [(time, data[:snaplen], len(data)) for time, data, *_ in t.records]
    return capfile.pcap(capfile.INFINIBAND, records)


OTHER_V4 = encap(0x0800, b"\x45" + bytes([255] * 60))
OTHER_V6 = encap(0x86DD, b"\x60" + bytes([255] * 60))


@pytest.mark.parametrize("snaplen", [32, 33, 35, 40, 200])
@pytest.mark.parametrize("payload", [OTHER_V4, OTHER_V6], ids=["ipv4", "ipv6"])
def test_truncated_datagram_of_another_protocol(payload, snaplen):
    assert failures(other_datagrams(snaplen, payload)) == []


@pytest.mark.parametrize("snaplen", [40, 200])
def test_truncated_datagram_with_an_uncontrolled_qkey_is_found(snaplen):
    assert [rule for _, rule in failures(other_datagrams(snaplen, ping(A, B)))] == [QKEY_CONTROLLED]


# ---- an address that changes soon after it was resolved

QPN_CHANGE = os.path.join(TESTDATA, "qpn-change.pcap")
# A host solicits its peer, which advertises its QPN, 0x25. The peer's interface is restarted with
# another one, 0x31: its reports, a join of a group, and a router solicitation, which the host does
# not receive. The host sends to 0x25. The peer's next request has the PSN after that of the join.
RESTARTED = (79, 80, 123, 124, 138, 141, 142, 157)


def test_sender_may_use_the_address_of_the_reply():
    """The same within a tenth of a second, so that the reply is recent, but its address is older than
    the peer's last one. The CRCs of the peer's datagrams are wrong."""
    whole = capfile.read(QPN_CHANGE)
    records = []
    for n, number in enumerate(RESTARTED):
        data = whole.frames[number - 1].data
        if number in (80, 123, 138):
            data = data[:-6] + bytes(b ^ 0x55 for b in data[-6:])
        records.append(capfile.record(n * 8 * 10**6, data))
    conforms(capfile.pcap(whole.interfaces[0].linktype, records, nanoseconds=True))


# ---- the start of a port


def set_again(lost):
    """a joins the broadcast group when the SM has brought its port up. Later the SM sets a's
    PortInfo again. lost: the Set that gave the port its LID, the join and their responses were not
    captured."""
    s, a, b = FromStart(), Host(1), Host(2)
    s.node_info(a)
    no_lid = bytes(31) + b"\x02\x22" + bytes(31)  # PortInfo: Init, LID 0
    s.smp(a.lid, SMP_GET, 0x0015, modifier=1, reply=no_lid)
    first = len(s.records)
    s.port_info(a)
    s.join(a, s.broadcast())
    if lost:
        del s.records[first:]
    s.subscribe(a)
    s.wait(1)
    s.port_info(a)
    s.arp_request(a, b.ip)
    s.wait(1)
    for _ in range(2):
        s.path(a, b)
    return s.pcap()


@pytest.mark.parametrize("lost", [False, True])
def test_set_of_a_port_that_has_sent_is_not_its_start(lost):
    conforms(set_again(lost))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of subnet administration, subnet management, DHCP and of addresses that two
ports have, each with a harmless look-alike. A case returns its tape and the events that it must raise:
(event, frame, count, texts that it has). NUMBER is the number of the last frame so far.
"""
from frames import ib
from frames.connection import Link
from frames.fabric import FULL, SEND_ONLY, mad_frame, smp_frame
from frames.ib import ONLY, Frame, encap
from frames.messages import ping, solicited_node
from frames.subnet import PATH_BY_GIDS, FromStart, Host, Subnet
from frames.unusual_datagrams import dhcp, dhcp_datagram

INVALID, NO_RECORDS = 0x0200, 0x0300
DISCOVER, OFFER, REQUEST, DECLINE, ACK, NAK = 1, 2, 3, 4, 5, 6
RMPP_STOP, RMPP_ABORT = 3, 4
CASES = []


def case(build):
    CASES.append(build)
    return build


def link(n=3, subnet=Subnet):
    """Hosts that are up on a link."""
    s = subnet()
    hosts = [Host(i + 1) for i in range(n)]
    s.up(*hosts)
    return s, *hosts


def number(s):
    return len(s.records)


def copy_last(s):
    """A tap has the last frame twice."""
    s.records.append(s.records[-1])


def ask_only(s, host, method, attribute, data, mask, seconds=4, times=1):
    """Requests that the SA does not answer, with one transaction ID."""
    tid = s.next_tid()
    for _ in range(times):
        s.sa(host, s.sm, method, tid, attribute, data, mask)
        s.wait(seconds)


def goes_on(s, seconds=5):
    """The capture goes on: a packet that answers nothing."""
    s.wait(seconds)
    s.to_group4(Host(3), "224.0.0.1")


# ---- subnet administration


@case
def joins_of_which_the_second_is_answered():
    """The answer is to both, so only the two joins after it have none."""
    s, a, _, _ = link()
    group = s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0.1)
    s.join(a, group)
    for _ in range(2):
        ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0.2)
    goes_on(s)
    return s, []


@case
def subscription_refused():
    s, a, _, _ = link()
    data = ib.inform_info("::", 66)
    for _ in range(2):
        s.ask(a, ib.SET, ib.ATTR_INFORM_INFO, data, status=INVALID)
    return s, [("sa_refused", number(s) - 2, 2, ["Set(InformInfo)", "0x0200"])]


@case
def query_without_a_result():
    """RFC 4391 §10: a host asks whether a group exists before it creates it."""
    s, a, _, _ = link()
    s.query(a, s.group4("239.1.2.3"), found=False)
    s.ask(a, ib.GET, ib.ATTR_SERVICE_RECORD, ib.service_record(1, a.gid), 1, status=NO_RECORDS)
    return s, []


@case
def service_without_an_answer():
    s, a, _, _ = link()
    before = number(s)
    data = ib.service_record(1, a.gid)
    ask_only(s, a, ib.SET, ib.ATTR_SERVICE_RECORD, data, 3, seconds=1, times=3)
    goes_on(s)
    return s, [("sa_unanswered", before + 4, 1, ["Set(ServiceRecord)", "3 requests"])]


@case
def service_that_is_answered_late():
    s, a, _, _ = link()
    data, tid = ib.service_record(1, a.gid), s.next_tid()
    for _ in range(2):
        s.sa(a, s.sm, ib.SET, tid, ib.ATTR_SERVICE_RECORD, data, 3)
        s.wait(1)
    asked = number(s)
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_SERVICE_RECORD, data, 3)
    s.join(a, s.group4("239.1.2.4"))
    return s, [("sa_slow", asked + 1, 1, ["LID 1"])]


@case
def a_thousand_paths_without_an_answer():
    """1,500 requests, each with its transaction ID, one in a millisecond. Those after 200 ms wait for
    an answer; the capture goes on for 3 s."""
    s, a, b, _ = link()
    before = number(s)
    data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    for _ in range(1500):
        ask_only(s, a, ib.GET, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS, seconds=0)
    goes_on(s)
    return s, [("sa_unanswered", before + 1501, 1, ["path to " + b.gid, "201 requests"])]


@case
def a_thousand_paths_that_are_answered():
    s, a, b, _ = link()
    for _ in range(700):
        s.path(a, b)
    return s, []


def join_with_another_answer(s, a, lost=False):
    """The response has the transaction ID of no request. lost: of a request that was not captured."""
    group = s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    if lost:
        s.next_psn(a.lid, 1)
    s.sa(a, s.sm, ib.SET, s.next_tid(), ib.ATTR_MC_MEMBER, data, mask)
    s.sa(s.sm, a, ib.GET_RESP, 0x99999, ib.ATTR_MC_MEMBER, s.record(a, group, FULL), mask)
    return group


@case
def join_with_another_transaction_id():
    """A ping to the requester, 4 s later, shows that the capture goes on."""
    s, a, b, _ = link()
    s.resolve(b, a)
    join_with_another_answer(s, a)
    s.wait(4)
    s.ping(b, a)
    frame = number(s) - 1
    return s, [("sa_unanswered", frame, 1, ["join", "frame %d answers it" % (frame - 1)])]


@case
def join_whose_earlier_request_was_lost():
    """The requester's PSNs show that a request is missing before: it may be the one that is
    answered."""
    s, a, b, _ = link()
    s.resolve(b, a)
    join_with_another_answer(s, a, lost=True)
    s.wait(4)
    s.ping(b, a)
    return s, []


@case
def join_in_a_capture_that_starts_late():
    """The request is the first packet of its port: an earlier one may have had the other ID."""
    s, a, b = Subnet(), Host(1), Host(2)
    join_with_another_answer(s, a)
    s.wait(4)
    s.ping(b, a)
    return s, []


@case
def join_with_two_answers():
    """The answer to an earlier request, then that to the request itself."""
    s, a, b, _ = link()
    s.resolve(b, a)
    group = join_with_another_answer(s, a)
    s.sa(s.sm, a, ib.GET_RESP, s.tid, ib.ATTR_MC_MEMBER, s.record(a, group, FULL))
    s.wait(4)
    s.ping(b, a)
    return s, []


def reports(s, b, times, tid):
    note = ib.notice(66, s.group4("239.1.2.3"), s.sm.lid, s.sm.gid)
    for _ in range(times):
        s.sa(s.sm, b, ib.REPORT, tid, ib.ATTR_NOTICE, note)
        s.wait(1)
    return note


@case
def report_without_an_answer():
    """Two Reports, each sent three times: one event of one host."""
    s, _, b, _ = link()
    before = number(s)
    for _ in range(2):
        reports(s, b, 3, s.next_tid())
    goes_on(s)
    return s, [("report_unanswered", before + 4, 2, [b.gid, "3 since frame %d" % (before + 1)])]


@case
def report_that_is_answered_late():
    s, _, b, _ = link()
    tid = s.next_tid()
    note = reports(s, b, 2, tid)
    s.sa(b, s.sm, ib.REPORT_RESP, tid, ib.ATTR_NOTICE, note)
    reports(s, b, 1, s.next_tid())
    return s, []


@case
def reports_copied_by_a_tap():
    s, _, b, _ = link()
    reports(s, b, 1, s.next_tid())
    s.now -= 10**9
    copy_last(s)
    copy_last(s)
    return s, []


def rmpp(s, a, kind, status):
    header = ib.rmpp_header(kind, ib.RMPP_ACTIVE, status=status)
    s.sa(s.sm, a, ib.GET_TABLE_RESP, s.next_tid(), ib.ATTR_MC_MEMBER, rmpp=header)


@case
def table_that_is_aborted():
    """IBA 13.6.2.1: ABORT, status 121: bad RMPP type; STOP, status 1: resources exhausted."""
    s, a, _, _ = link()
    rmpp(s, a, RMPP_ABORT, 121)
    copy_last(s)
    s.now += 10**9
    rmpp(s, a, RMPP_STOP, 1)
    return s, [
        ("rmpp_aborted", number(s) - 2, 1, ["MCMemberRecord", "LID 1", "121, wrong RMPP type"]),
        ("rmpp_aborted", number(s), 1, ["1, resources exhausted"]),
    ]


@case
def table_that_is_acknowledged():
    s, a, _, _ = link()
    rmpp(s, a, ib.RMPP_ACK, 0)
    return s, []


def segments(s, a, times, ack=None):
    """Segment 1 of a table, one a second; an ACK of this segment after the last."""
    tid = s.next_tid()
    for _ in range(times):
        header = ib.rmpp_header(1, ib.RMPP_ACTIVE, data1=1)
        s.sa(s.sm, a, ib.GET_TABLE_RESP, tid, ib.ATTR_MC_MEMBER, rmpp=header)
        s.wait(1 if ack is None else 0.1)
    if ack:
        header = ib.rmpp_header(ib.RMPP_ACK, ib.RMPP_ACTIVE, data1=ack)
        s.sa(a, s.sm, ib.GET_TABLE, tid, ib.ATTR_MC_MEMBER, rmpp=header)
    goes_on(s)


@case
def table_that_is_not_acknowledged():
    s, a, _, _ = link()
    before = number(s)
    segments(s, a, 3)
    texts = [a.gid, "segment 1", "MCMemberRecord", "LID 9", "3 times since frame %d" % (before + 1)]
    return s, [("rmpp_aborted", before + 4, 1, texts)]


@case
def table_that_is_acknowledged_at_the_third_try():
    """The ACK is of the next segment."""
    s, a, _, _ = link()
    segments(s, a, 3, ack=2)
    return s, []


# ---- subnet management


def node_info_only(s, host, tid):
    mad = ib.directed_smp(ib.GET, tid, ib.NODE_INFO, 0, b"", (0, 1, host.lid))
    s.put(smp_frame(mad, s.next_psn("sm", host.lid)))


@case
def smp_without_an_answer():
    """The SM's sweep: NodeInfo three times with one transaction ID. b answers."""
    s, a, b, _ = link()
    for host in (a, b):
        s.node_info(host)
    before, tid = number(s), s.next_tid()
    for _ in range(3):
        node_info_only(s, a, tid)
        s.wait(1)
        s.node_info(b)
    return s, [("smp_unanswered", before + 8, 1, ["directed route 0,1,1", "NodeInfo"])]


@case
def smp_whose_answers_are_lost_now_and_then():
    s, a, b, _ = link()
    s.node_info(b)
    for n in range(8):
        if n % 2:
            s.node_info(a)
        else:
            node_info_only(s, a, s.next_tid())
        s.wait(1)
        s.node_info(b)
    return s, []


@case
def smp_copied_by_a_tap():
    s, a, b, _ = link()
    s.node_info(b)
    node_info_only(s, a, s.next_tid())
    s.now += 10**9
    copy_last(s)
    copy_last(s)
    return s, []


@case
def smps_of_which_no_answer_was_captured():
    """The capture point sees one direction."""
    s, a, _, _ = link()
    for _ in range(4):
        mad = ib.directed_smp(ib.GET, s.next_tid(), ib.NODE_INFO, 0, b"", (0, 1, a.lid))
        s.put(smp_frame(mad, s.next_psn("sm", a.lid)))
        s.wait(40)
    return s, []


@case
def handover_without_an_answer():
    """Set(SMInfo) with the control value 1 (IBA 14.4.1), each 300 ms, to a port that has a LID."""
    s, a, b, _ = link()
    before = number(s)
    for n in range(4):
        mad = ib.lid_routed_smp(0x02, s.next_tid(), 0x20, 1, bytes(64))
        s.put(smp_frame(mad, n + 1, b.lid, s.sm.lid))
        s.wait(0.1)
        s.join(a, s.group4("239.1.2.3"))
        s.wait(0.2)
    return s, [("smp_unanswered", before + 10, 1, ["LID 2", "3 requests of its SMInfo"])]


def refuse(s, host, attribute, status=0x001C):
    """A Set to the port at the end of a route, and its answer with a status."""
    tid = s.next_tid()
    for method, sender in ((0x02, "sm"), (0x81, "port")):
        mad = bytearray(ib.directed_smp(method, tid, attribute, 0, bytes(64), (0, 1, host.lid)))
        if method == 0x81:
            mad[5] |= status
        s.put(smp_frame(mad, s.next_psn(sender, host.lid)))


@case
def forwarding_table_that_a_switch_refuses():
    """MulticastForwardingTable (IBA 14.2.5.12); a port without an SM refuses SMInfo."""
    s, a, _, _ = link()
    for attribute in (0x1B, 0x1B, 0x20):
        refuse(s, a, attribute)
    texts = ["directed route 0,1,1", "MulticastForwardingTable", "0x001c"]
    return s, [("smp_refused", number(s) - 4, 2, texts)]


def switch_port(s, state, flags=0):
    """PortInfo of port 2 of the switch at the end of a route: it has no LID."""
    data = s.port_info_of(0, neighbor_mtu=4, mtu_cap=4, state=state)
    s.smp(3, ib.GET, ib.PORT_INFO, b"", 2 | flags, data)


@case
def port_of_a_switch_that_goes_down():
    """State 1 is Down, 2 Initialize, 4 Active. The highest bit of the modifier is a flag."""
    s, _, _, _ = link()
    for state, flags in ((1, 0), (2, 0), (4, 0), (4, 1 << 31), (1, 0), (1, 1 << 31)):
        switch_port(s, state, flags)
    return s, [("port_state", number(s) - 2, 1, ["port 2", "route 0,1,3", "Down"])]


def bring_up(s, host, answers):
    """Set(PortInfo) of the state Active, and these states in the answers."""
    for state in answers:
        data = s.port_info_of(host.lid, neighbor_mtu=4, mtu_cap=4, state=4)
        reply = s.port_info_of(host.lid, neighbor_mtu=4, mtu_cap=4, state=state)
        s.smp(host.lid, 0x02, ib.PORT_INFO, data, 1, reply)


@case
def port_that_does_not_come_up():
    s, a, _, _ = link()
    before = number(s)
    bring_up(s, a, (2, 2, 2))
    texts = ["port 1", "3 times since frame %d" % (before + 1), "Initialize"]
    return s, [("port_state", before + 6, 1, texts)]


@case
def port_that_comes_up_at_last():
    s, a, _, _ = link()
    bring_up(s, a, (2, 2, 4, 4))
    return s, []


def port_counters(s, host, values):
    """PortCounters of port 1 (IBA 16.1.3.5): the data begin at byte 64."""
    data = bytearray(192)
    data[1] = 1
    for at, value in values.items():
        data[at : at + 2] = ib.u16(value)
    mad = ib.mad_header(4, 1, ib.GET_RESP, s.next_tid(), 0x0012) + bytes(40) + bytes(data)
    s.put(mad_frame(host, s.sm, mad, s.next_psn(host.lid, 1)))


@case
def counters_of_errors():
    s, a, _, _ = link()
    port_counters(s, a, {4: 17, 14: 500})
    return s, [("port_errors", number(s), 1, ["SymbolErrorCounter 17, PortXmitDiscards 500"])]


@case
def counters_without_errors():
    """Relay errors of a switch (12) are everyday; data and packets (24 to 39) are no errors."""
    s, a, _, _ = link()
    port_counters(s, a, {12: 3000, 26: 9000, 34: 700})
    return s, []


# ---- DHCP


def discover(s, a, xid, kind=DISCOVER):
    request = dhcp_datagram("0.0.0.0", "255.255.255.255", (68, 67), dhcp(1, kind, xid))
    s.ud(a, s.broadcast(), request)


def offer(s, b, xid, kind=OFFER):
    reply = dhcp_datagram(b.ip, "255.255.255.255", (67, 68), dhcp(2, kind, xid, yiaddr=b.ip))
    s.ud(b, s.broadcast(), reply)


@case
def dhcp_without_an_answer():
    s, a, _, _ = link()
    before = number(s)
    for _ in range(5):
        discover(s, a, 0x1234)
        s.wait(4)
    return s, [("dhcp_unanswered", before + 4, 2, [a.gid, "3 requests", "DHCPDISCOVER"])]


@case
def dhcp_answer_to_the_third_request():
    """RFC 2131 section 4.1: requests after 4 s and 8 s. The server tests the address for 1 s."""
    s, a, b, _ = link()
    for seconds in (4, 8, 1):
        discover(s, a, 0x1234)
        s.wait(seconds)
    offer(s, b, 0x1234)
    goes_on(s)
    return s, []


@case
def dhcp_whose_offers_are_lost_now_and_then():
    s, a, b, _ = link()
    for n in range(6):
        discover(s, a, 0x1234)
        if n % 2:
            offer(s, b, 0x1234)
        s.wait(4)
    return s, []


@case
def dhcp_copied_by_a_tap():
    s, a, _, _ = link()
    discover(s, a, 0x1234)
    s.now += 2 * 10**9
    copy_last(s)
    copy_last(s)
    return s, []


@case
def dhcp_refused():
    s, a, b, _ = link()
    discover(s, a, 0x1234, REQUEST)
    offer(s, b, 0x1234, NAK)
    nak = number(s)
    discover(s, a, 0x1235, DECLINE)
    return s, [
        ("dhcp_refused", nak, 1, [a.gid, "DHCPNAK"]),
        ("dhcp_refused", number(s), 1, [a.gid, "DHCPDECLINE"]),
    ]


@case
def dhcp_granted():
    s, a, b, _ = link()
    discover(s, a, 0x1234, REQUEST)
    offer(s, b, 0x1234, ACK)
    return s, []


# ---- addresses that two ports have


def pretend(s, host, **other):
    """Another port with the host's LID, QPN or GID, and with an IP address of its own."""
    twin = host.also(ip="10.0.0.77", **other)
    announcement = encap(0x0806, ib.arp(1, twin.addr, twin.ip, bytes(20), twin.ip))
    s.put(s.datagram(twin, s.broadcast(), announcement, mlid=s.mlid(s.broadcast())))


OTHER_GID = "fe80::2:c903:0:99"


@case
def two_ports_with_one_lid():
    """a, its twin, and a again, by a packet without a GRH: its IP address says whose it is."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pretend(s, a, gid=OTHER_GID)
    twin = number(s)
    s.wait(1)
    s.ping(a, b)
    return s, [("duplicate_lid", twin + 1, 1, [a.gid, OTHER_GID, "frame %d" % twin])]


@case
def lid_that_another_port_gets():
    """a is gone; a host with another GID has its LID and its QPN."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for _ in range(3):
        pretend(s, a, gid=OTHER_GID)
        s.wait(1)
    return s, []


@case
def virtual_functions_with_one_lid():
    """IBA 4.1.1: they share the LID; each has queue pairs of its own."""
    s, a, b, _ = link()
    for _ in range(2):
        s.arp_request(a, b.ip)
        pretend(s, a, gid=OTHER_GID, qpn=0x999)
        s.wait(1)
    return s, []


def started(s, host, **fields):
    s.node_info(host)
    s.port_info(host, **fields)


def two_lids(lmc=None, far=23):
    """a sends with two LIDs in turn; lmc: of its PortInfo; None: it was not captured. 16 is
    the lowest LID of a range of eight."""
    s, a, b = FromStart(), Host(3, lid=16), Host(2)
    if lmc is not None:
        started(s, a, lmc=lmc)
    s.up(a, b)
    s.arp_request(a, b.ip)
    pretend(s, a, lid=far)
    twin = number(s)
    s.wait(1)
    s.arp_request(a, b.ip)
    return s, a, twin


@case
def two_ports_with_one_gid():
    s, a, twin = two_lids(lmc=0)
    return s, [
        ("moved", twin, 1, ["LID 16"]),
        ("duplicate_gid", twin + 1, 1, [a.gid, "LID 23 in frame %d" % twin]),
    ]


@case
def port_with_several_lids():
    """LMC 3: the port has the LIDs 16 to 23 (IBA 4.1.3)."""
    return two_lids(lmc=3)[0], []


@case
def port_that_may_have_several_lids():
    """Its PortInfo was not captured. An LMC of 7 gives it 128 LIDs."""
    return two_lids()[0], []


@case
def two_ports_with_one_gid_and_distant_lids():
    s, a, twin = two_lids(far=0x301)
    return s, [
        ("moved", twin, 1, ["LID 16"]),
        ("moved", twin + 1, 1, ["LID 769"]),
        ("duplicate_gid", twin + 1, 1, ["LID 769"]),
    ]


def two_routes(s, b):
    """PortInfo with b's GUID from the ends of two directed routes, with the LIDs 2 and 20. Returns
    the second port and the frame of the Set that gives it its LID."""
    b20 = b.also(lid=20)
    started(s, b)
    started(s, b20)
    return b20, number(s) - 1


@case
def two_ports_with_one_guid():
    """A sweep of the SM a second later: the first port still has its LID. The SM sweeps again."""
    s, a, b, _ = link()
    b20, there = two_routes(s, b)
    found = []
    for _ in range(3):
        s.wait(1)
        started(s, b, set_it=False)
        found.append(number(s))
        started(s, b20, set_it=False)
    return s, [("duplicate_gid", found[0], 1, [b.gid, "LID 20 in frame %d" % there])]


@case
def port_that_is_plugged_in_elsewhere():
    """It sends from its new LID."""
    s, a, b, _ = link()
    b20, _ = two_routes(s, b)
    s.wait(2)
    s.arp_request(b20, a.ip)
    return s, [("moved", number(s), 1, [b.gid, "LID 20", "LID 2"])]


@case
def port_that_two_routes_reach():
    """Two links between switches: one port, one LID."""
    s, a, b, _ = link()
    for hops in (2, 20, 2, 20):
        s.smp(hops, ib.GET, ib.NODE_INFO, b"", 0, ib.node_info(b.guid, 8))
        s.smp(hops, ib.GET, ib.PORT_INFO, s.port_info_of(b.lid, neighbor_mtu=4, mtu_cap=4), 1)
        s.wait(1)
    return s, []


def detect(s, a, b, override=True):
    """a looks for a port with its address, and b says that it has it."""
    group = solicited_node(a.ll)
    s.solicit(a, a.ll, "::")
    flags = 0x20000000 if override else 0
    s.advertise(b, s.group6("ff02::1"), a.ll, "ff02::1", flags=flags)
    answer = number(s)
    s.wait(1)
    return group, answer


@case
def duplicate_address_that_is_used():
    s, a, b, _ = link()
    _, answer = detect(s, a, b)
    s.ud(a, s.group6("ff02::1"), encap(0x86DD, ib.ipv6(a.ll, "ff02::1", 59, b"")))
    return s, [
        ("address_taken", answer, 1, [a.ll]),
        ("duplicate_ip", number(s), 1, [a.ll, b.gid, "frame %d" % answer]),
    ]


@case
def duplicate_address_that_is_not_used():
    """Each time that the interface comes up; a tap has it twice."""
    s, a, b, _ = link()
    first = detect(s, a, b)[1]
    copy_last(s)
    s.wait(70)
    detect(s, a, b)
    s.ping(b, a)
    texts = [a.gid, a.ll, "duplicate address detection", b.gid, "LID 2", "may not use"]
    return s, [("address_taken", first, 2, texts)]


@case
def address_of_the_capture_that_a_host_looks_for():
    """The joins of the host were not captured, but its other address."""
    s, a, b, c = link()
    del s.records[:]
    s.solicit(a, c.ll)
    s.advertise(c, a, c.ll)
    same = a.also(ll="2001:db8::5")
    s.solicit(same, same.ll, "::")
    s.advertise(b, s.group6("ff02::1"), same.ll, "ff02::1", flags=0x20000000)
    return s, [("address_taken", number(s), 1, [same.ll, b.gid])]


@case
def address_that_a_tool_looks_for():
    """ipoib-probe resolves addresses from :: and 0.0.0.0, by a queue pair of its own, to send only; and
    a host that had no address yet, whose joins were not captured."""
    s, a, b, c = link()
    tool = a.also(qpn=0x777, ip="0.0.0.0", ll="::")
    s.join(a, s.group6(solicited_node(b.ll)), SEND_ONLY)
    s.solicit(tool, b.ll, "::")
    s.advertise(b, s.group6("ff02::1"), b.ll, "ff02::1", flags=0x20000000)
    s.arp_request(tool, b.ip)
    s.arp_reply(b, tool)
    del s.records[:]
    detect(s, c, b)
    s.arp_request(c, b.ip, spa="0.0.0.0")
    s.arp_reply(b, c.also(ip="0.0.0.0"))
    return s, []


def conflict(s, a, b, ip):
    """RFC 5227 section 2.1: three probes, of which the first is answered."""
    for n in range(3):
        s.arp_request(a, ip, spa="0.0.0.0")
        if not n:
            s.arp_reply(b, a.also(ip="0.0.0.0"), ip=ip)
            answer = number(s)
        s.wait(1)
    return answer


@case
def address_that_an_arp_probe_finds():
    s, a, b, c = link()
    s.meet(a, c)
    answer = conflict(s, a, b, b.ip)
    texts = [a.gid, "IP " + b.ip, "ARP probe", b.gid, "LID 2", "may not use"]
    return s, [("address_taken", answer, 1, texts)]


@case
def address_that_is_chosen_at_random():
    """RFC 3927: the host takes another one. And an address that nobody has."""
    s, a, b, c = link()
    s.meet(a, c)
    conflict(s, a, b, "169.254.7.7")
    for _ in range(3):
        s.arp_request(a, "10.0.0.77", spa="0.0.0.0")
        s.wait(1)
    s.arp_request(a, "10.0.0.77", spa="10.0.0.77")
    return s, []


@case
def address_that_a_proxy_advertises():
    """RFC 4389: without the Override flag."""
    s, a, b, _ = link()
    detect(s, a, b, override=False)
    s.ud(a, s.group6("ff02::1"), encap(0x86DD, ib.ipv6(a.ll, "ff02::1", 59, b"")))
    return s, []


# ---- connections


@case
def response_without_an_rtu():
    s, a, b, _ = link()
    c, before = Link(s, a, b), number(s)
    c.ask()
    for _ in range(4):
        c.rep(c.private(False))
        s.wait(3)
    goes_on(s)
    texts = [b.gid, "no RTU", "3 since frame %d" % (before + 2)]
    return s, [("connection_unanswered", before + 6, 1, texts)]


def requests_to_connect(s, a, b, n=3):
    """n REQs, 4 s between two."""
    c = Link(s, a, b)
    for i in range(n):
        s.wait(4 if i else 0)
        c.req(ib.service_id_rfc(b.qpn), ib.private_data(a.qpn, 65524))
    return c


@case
def response_to_the_third_request():
    s, a, b, _ = link()
    c = requests_to_connect(s, a, b)
    s.wait(1)
    c.rep(c.private(False))
    c.mad(True, ib.cm_rtu(c.tid, *c.ids))
    goes_on(s)
    return s, []


@case
def third_request_that_takes_more_time():
    """IBA 12.6.6: an MRA."""
    s, a, b, _ = link()
    c = requests_to_connect(s, a, b)
    c.mad(False, ib.cm_mra(c.tid, c.ids[1], c.ids[0], 0, 20))
    goes_on(s)
    return s, []


@case
def response_whose_rtu_is_lost():
    """IBA 12.9.7.1: data stand for the RTU."""
    s, a, b, _ = link()
    c = Link(s, a, b)
    c.ask()
    c.rep(c.private(False))
    c.ping()
    for _ in range(2):
        s.wait(3)
        c.rep(c.private(False))
    return s, []


def send_with_pkey(c, pkey):
    """One more packet of the requester, with this P_Key."""
    of = dict(dlid=c.b.lid, slid=c.a.lid, destqp=c.qps[1], psn=c.psns[0], ackreq=1)
    c.t.put(Frame(ib.RC | ONLY, ping(c.a, c.b), pkey=pkey, **of))


@case
def connection_with_another_pkey():
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    send_with_pkey(c, 0x8123)
    return s, [("wrong_pkey", number(s), 1, [a.gid, "P_Key 0x8123", "has P_Key 0xffff"])]


def load(c, status):
    """The requester asks for an alternate path (IBA 12.6.9), and the responder answers."""
    of = (c.tid, c.ids[0], c.ids[1])
    c.mad(True, ib.cm_lap(*of, c.qps[1], c.a.lid, c.b.lid, c.a.gid, c.b.gid))
    c.mad(False, ib.cm_apr(c.tid, c.ids[1], c.ids[0], status))


@case
def alternate_path_that_is_refused():
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    load(c, 0)
    load(c, 5)
    return s, [("connection_refused", number(s), 1, [b.gid, a.gid, "APR status 5"])]


@case
def connection_of_a_limited_member():
    """The highest bit of the P_Key is the membership: partition 0x7fff is the same."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    send_with_pkey(c, 0x7FFF)
    return s, []

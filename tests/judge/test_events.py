# SPDX-License-Identifier: GPL-2.0-or-later
"""The events of ipoib-check: each from frames built by hand, and a harmless look-alike that must not
raise it. Events change neither the verdict nor the exit status.

The expected frames are counted from the functions that build the captures: NUMBER is the number of
the last frame so far."""
import json
import os
import random

import pytest

from frames import ib
from frames import events as more
from frames import (
    events_again,
    events_answers,
    events_doubt,
    events_heard,
    events_ip,
    events_link,
    events_lost,
    events_mixed,
    events_ordinary,
    events_pairs,
    events_ports,
    events_routes,
    events_services,
    events_silent,
    events_tables,
    events_tcp,
)
from frames.connection import Link
from frames.events import ask_only, copy_last, goes_on, link, number
from frames.fabric import FULL, JOIN_MASK, LEAVE_MASK, SEND_ONLY, mad_frame
from frames.ib import ONLY, Frame
from frames.messages import ping, udp4
from frames.subnet import CREATE, PATH_BY_GIDS, FromStart, Host, Subnet
from support import capfile, check
from support.paths import SRC, TESTDATA, testdata

BUSY, NO_RESOURCES, INVALID, NO_RECORDS, DENIED = 0x0001, 0x0100, 0x0200, 0x0300, 0x0700
UNANSWERED = "_unanswered"


def events_of(path, *arguments):
    """The events of the JSON report."""
    done = check.run("--format", "json", *arguments, str(path))
    [capture] = json.loads(done.stdout)["summary"]["captures"]
    return capture["events"]


def ask_join(s, host, group, **options):
    data, mask = s.request(host, group, FULL)
    ask_only(s, host, ib.SET, ib.ATTR_MC_MEMBER, data, mask, **options)


# ---- cases: each returns (its tape, [(event, frame, count, texts that it has), ...])

CASES = more.CASES + events_link.CASES + events_again.CASES + events_pairs.CASES
CASES += events_answers.CASES + events_ip.CASES + events_lost.CASES + events_ports.CASES
CASES += events_routes.CASES + events_silent.CASES + events_doubt.CASES
CASES += events_ordinary.CASES + events_mixed.CASES + events_heard.CASES
CASES += events_tables.CASES + events_tcp.CASES + events_services.CASES


def case(build):
    CASES.append(build)
    return build


@case
def join_refused():
    s, a, _, _ = link()
    group, found = s.group4("239.1.2.3"), []
    for status, words in (
        (BUSY, "busy"),
        (NO_RESOURCES, "ERR_NO_RESOURCES"),
        (INVALID, "ERR_REQ_INVALID"),
        (DENIED, "ERR_REQ_DENIED"),
    ):
        s.join(a, group, status=status)
        found.append(("join_refused", number(s), 1, [words, group]))
    return s, found


@case
def join_refused_again_and_again():
    s, a, _, _ = link()
    for _ in range(5):
        s.join(a, s.group4("239.1.2.3"), status=NO_RESOURCES)
    return s, [("join_refused", number(s) - 8, 5, ["0x0100"])]


@case
def join_refused_with_a_copy():
    s, a, _, _ = link()
    s.join(a, s.group4("239.1.2.3"), status=NO_RESOURCES)
    first = number(s)
    copy_last(s)
    return s, [("join_refused", first, 1, [])]


@case
def join_refused_for_its_qkey():
    """The group has the Q_Key 0x80000b1b: the request names another one."""
    s, a, b, _ = link()
    group = s.join(b, s.group4("239.1.2.3"))
    data = ib.mcmember(group, a.gid, pkey=0xFFFF, join=FULL, qkey=0x1234)
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, JOIN_MASK | ib.MCM["qkey"], data, INVALID)
    return s, [("join_refused", number(s), 1, ["requests Q_Key 0x1234, the group has 0x80000b1b"])]


@case
def join_refused_for_its_mtu():
    """The request wants an MTU of 4096 bytes exactly (code 5); the broadcast group has 2048."""
    s, a, _, _ = link()
    group = s.group4("239.1.2.3")
    of = {k: v for k, v in s.parameters.items() if k != "life"}
    data = ib.mcmember(
        group, a.gid, pkey=0xFFFF, join=FULL, mtu_sel=2, rate_sel=2, **{**of, "mtu": 5}
    )
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, CREATE, data, INVALID)
    return s, [
        ("join_refused", number(s), 1, ["MTU 4096 bytes, the broadcast group has 2048 bytes"])
    ]


def refused_with_port_mtu(now, most=4, status=INVALID):
    """The MTU codes in the PortInfo of a, which joins the broadcast group of 2048 bytes (code 4)."""
    s, a, _, _ = link(subnet=FromStart)
    s.node_info(a)
    data = s.port_info_of(a.lid, neighbor_mtu=now, mtu_cap=most)
    s.smp(a.lid, ib.GET, ib.PORT_INFO, data, 1)
    s.join(a, s.broadcast(), status=status)
    return s


@case
def join_refused_for_the_mtu_of_its_port():
    s = refused_with_port_mtu(3)
    texts = ["the MTU of its port is 1024 bytes (NeighborMTU in", "the group has 2048 bytes"]
    return s, [("join_refused", number(s), 1, texts)]


@pytest.mark.parametrize("of", [(4,), (5, 5), (3, 4, DENIED), (0, 0)])
def test_a_join_that_is_refused_for_another_reason(of, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(refused_with_port_mtu(*of).pcap())
    [event] = [e for e in events_of(path) if e["name"] == "join_refused"]
    assert "MTU" not in event["what"]


@case
def join_that_is_redirected():
    """Status 2: another port serves the request (IBA 13.5.2), if the host follows."""
    s, a, _, _ = link()
    s.join(a, s.group4("239.1.2.3"), status=0x0002)
    return s, [("join_refused", number(s), 1, ["redirection required"])]


@case
def leave_refused():
    s, a, _, _ = link()
    data = ib.mcmember(s.group4("224.0.0.1"), a.gid, join=FULL)
    s.ask(a, ib.DELETE, ib.ATTR_MC_MEMBER, data, LEAVE_MASK, data, INVALID)
    return s, [("leave_refused", number(s), 1, ["ERR_REQ_INVALID"])]


@case
def join_without_an_answer():
    """Each 4 s, longer than Linux waits: the fourth request follows the time of the third, and a later
    packet that of the fourth."""
    s, a, _, _ = link()
    before = number(s)
    ask_join(s, a, s.group4("239.1.2.3"), times=4)
    goes_on(s)
    return s, [
        ("sa_unanswered", before + 4, 2, ["join", "3 requests since frame %d" % (before + 1)])
    ]


@case
def three_joins_at_the_end_of_the_capture():
    """They may still be answered."""
    s, a, _, _ = link()
    ask_join(s, a, s.group4("239.1.2.3"), seconds=1, times=3)
    goes_on(s, 1)
    return s, []


def join_at_the_third_try(s, a, ms):
    """Requests each 3 s, and an answer so long after the last."""
    tid, group = s.next_tid(), s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    for n in range(3):
        s.wait(3 if n else 0)
        s.sa(a, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
    s.wait(ms / 1000 - 2)
    s.to_group4(Host(3), "224.0.0.1")
    s.wait(2)
    reply = ib.sa_mad(ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, s.record(a, group, FULL), mask)
    s.mad(s.sm, a, reply)
    goes_on(s)


@case
def join_that_is_answered_at_the_third_try():
    """The SA has sent nothing before: 8.5 s."""
    s, a, _, _ = link()
    before = number(s)
    join_at_the_third_try(s, a, 2500)
    return s, [("sa_slow", before + 5, 1, ["8.5 s"])]


@case
def join_that_is_answered_after_its_time():
    """It was reported as unanswered before: this event is taken back."""
    s, a, _, _ = link()
    before = number(s)
    join_at_the_third_try(s, a, 6000)
    return s, [("sa_slow", before + 5, 1, ["12.0 s"])]


@case
def join_without_an_answer_in_a_file_that_is_out_of_order():
    """The file has the packets of each receive queue for half a second, one queue after the other: the
    answer may stand before the request."""
    s, a, b, _ = link()
    for _ in range(3):
        s.wait(0.5)
        s.ping(a, b)
        s.wait(-0.4)
        s.ping(b, a)
    ask_join(s, a, s.group4("239.1.2.3"))
    s.join(b, s.group4("239.1.2.4"))
    return s, []


@case
def path_without_an_answer():
    s, a, b, _ = link()
    before = number(s)
    data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    ask_only(s, a, ib.GET, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS, seconds=1, times=3)
    goes_on(s)
    return s, [("sa_unanswered", before + 4, 1, ["path to " + b.gid])]


@case
def join_without_an_answer_by_the_sequence_of_the_sa():
    """One request. The SA's next packet, 4 s later, has the next PSN."""
    s, a, b, _ = link()
    ask_join(s, a, s.group4("239.1.2.3"))
    s.join(b, s.group4("239.1.2.4"))
    return s, [("sa_unanswered", number(s), 1, ["1 request", "no packet of the SA is missing"])]


@case
def join_whose_answer_was_lost():
    """As above, but the SA's answer has a PSN."""
    s, a, b, _ = link()
    s.join(a, s.group4("239.1.2.3"))
    s.records.pop()
    s.wait(4)
    s.join(b, s.group4("239.1.2.4"))
    return s, []


@case
def join_whose_lost_answer_was_the_second_packet_of_the_sa():
    """The PSN of a queue pair's first captured packet says nothing of those before it."""
    s, a, b = FromStart(), Host(1), Host(2)
    s.join(a, s.broadcast())
    s.join(b, s.broadcast())
    s.records.pop()
    s.wait(4)
    s.join(a, s.group4("239.1.2.4"))
    s.join(b, s.group4("239.1.2.4"))
    return s, []


@case
def join_that_is_answered_late():
    s, a, _, _ = link()
    tid, group = s.next_tid(), s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    for _ in range(2):
        s.sa(a, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
        s.wait(1)
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, s.record(a, group, FULL), mask)
    late = number(s)
    s.join(a, s.group4("239.1.2.4"))
    return s, [("sa_slow", late, 1, ["LID 1 after 1.0 s"])]


@case
def join_copied_by_a_tap():
    s, a, _, _ = link()
    ask_join(s, a, s.group4("239.1.2.3"), seconds=0)
    copy_last(s)
    copy_last(s)
    return s, []


@case
def join_of_a_port_that_hears_nothing():
    """No packet to the requester was captured: the capture may have only one direction."""
    s = Subnet()
    ask_join(s, Host(1), s.group4("239.1.2.3"), times=4)
    return s, []


@case
def path_refused():
    s, a, b, _ = link()
    data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    for _ in range(2):
        s.ask(a, ib.GET, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS, data, NO_RECORDS)
    return s, [("path_refused", number(s) - 2, 2, [b.gid, "ERR_NO_RECORDS"])]


@case
def two_holders():
    """b and c have 10.0.0.2, and a resolves it: both reply; b announces it again by a request."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.arp_reply(c, a, ip=b.ip)
    moved = number(s)
    s.wait(5)
    s.arp_request(b, a.ip)
    return s, [("moved", moved, 1, [b.gid]), ("duplicate_ip", number(s), 1, [c.gid])]


@case
def takeover():
    """c takes over the address of b, which is silent, and gives it back: each by gratuitous ARP."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.wait(5)
    s.arp_request(c, b.ip, spa=b.ip)
    there = number(s)
    s.wait(5)
    s.arp_request(b, b.ip, spa=b.ip)
    return s, [("moved", there, 1, [b.gid]), ("moved", number(s), 1, [c.gid])]


@case
def another_qpn():
    """b's interface was restarted: the same port announces the address with another QPN."""
    s, a, b, _ = link()
    s.meet(a, b)
    s.wait(5)
    s.arp_request(b.also(qpn=0x999), a.ip)
    return s, [("moved", number(s), 1, [b.ip, "QPN changed from 0x000102 to 0x000999"])]


@case
def second_interface_with_the_same_link_local_address():
    """Two interfaces of a port on one partition: both advertise the address of the port's GUID."""
    s, a, b, _ = link()
    second = b.also(qpn=0x999)
    for host in (b, second, b, second):
        s.advertise(host, a, b.ll)
        s.wait(1)
    return s, []


def set_lid(s, host, lid, **fields):
    """The SM gives the port at the end of the host's route a LID; returns the port with this LID."""
    data = s.port_info_of(lid, neighbor_mtu=4, mtu_cap=4, **fields)
    s.smp(host.lid & 0x3F, ib.SET, ib.PORT_INFO, data, 1)
    return host.also(lid=lid)


@case
def another_lid_by_the_sm():
    """PortInfo has the LMC 0: 2 and 3 are not LIDs of one port. a has not asked for the path again."""
    s, a, b, c = link()
    s.meet(a, b)
    s.node_info(b)
    s.port_info(b)
    b3 = set_lid(s, b, 3)
    moved = number(s) - 1
    s.wait(2)
    s.ping(c, b3)
    for seq in range(3):
        s.ud(a, b, ping(a, b, seq=seq))
    texts = [a.ip, "LID 2, which is not that of " + b.gid, "LID 3"]
    return s, [
        ("moved", moved, 1, [b.gid, "LID 3", "LID 2"]),
        ("stale_path", number(s) - 2, 3, texts),
    ]


@case
def another_lid_by_a_datagram():
    """The SMPs were not captured: b's ARP request has another SLID. 2 and 20 share no LMC."""
    s, a, b, c = link()
    s.meet(a, b)
    b20 = b.also(lid=20)
    s.wait(2)
    s.arp_request(b20, c.ip)
    moved = number(s)
    s.wait(2)
    s.ping(c, b20)
    s.ud(a, b, ping(a, b))
    stale = number(s)
    s.ping(c, b20)
    return s, [("moved", moved, 1, ["LID 20", "LID 2"]), ("stale_path", stale, 1, [b.gid])]


@case
def another_lid_by_a_path():
    """The SA's path to b has another DLID, from which b replies."""
    s, a, b, c = link()
    s.meet(a, b)
    b20 = b.also(lid=20)
    s.path(c, b20)
    s.ping(c, b20)
    moved = number(s)
    s.wait(2)
    s.ping(a, c)
    s.ud(a, b, ping(a, b))
    return s, [("moved", moved, 1, []), ("stale_path", number(s), 1, [])]


@case
def path_to_a_lid_that_no_port_has():
    """b still sends from its LID. Packets to it are not stale."""
    s, a, b, c = link()
    s.meet(a, b)
    s.path(c, b.also(lid=20))
    path = number(s)
    s.ud(c, b.also(lid=20), udp4(c, b.ip))
    s.wait(2)
    s.ping(a, b)
    s.ping(a, b)
    texts = ["LID 20 to " + b.gid, "LID 2", "SA"]
    return s, [("stale_path", path + 3, 1, texts)]


@case
def path_to_a_new_lid_of_a_silent_port():
    """Nothing shows which LID it has."""
    s, a, b, c = link()
    s.meet(a, b)
    s.path(c, b.also(lid=20))
    s.wait(2)
    s.ud(a, b, ping(a, b))
    return s, []


@case
def old_lid_that_another_port_has_now():
    """The SM swaps two LIDs: a's packets to LID 2 are for b by their QPN, or by their GRH."""
    s, a, b, c = link()
    for host in (b, c):
        s.resolve(a, host)
        s.node_info(host)
        s.port_info(host)
    b3, moved = set_lid(s, b, 3), number(s) - 1
    c2 = set_lid(s, c, 2)
    s.wait(2)
    s.ud(a, c2, ping(a, c2))
    s.ud(c2, a, ping(c2, a, reply=True))
    s.ud(a, b, ping(a, b))
    s.ud(a, b, ping(a, b), grh=True)
    s.ping(a, b3)
    return s, [
        ("moved", moved, 1, [b.gid]),
        ("moved", moved + 2, 1, [c.gid]),
        ("stale_path", number(s) - 3, 2, [b.gid]),
    ]


@case
def packet_on_the_way_while_the_lid_changes():
    """a's packet to the old LID was captured within the window in which frames may be swapped."""
    s, a, b, c = link()
    s.meet(a, b)
    s.wait(2)
    s.arp_request(b.also(lid=20), c.ip)
    s.ud(a, b, ping(a, b))
    return s, [("moved", number(s) - 1, 1, [])]


@case
def lmc_that_the_capture_shows():
    """PortInfo: b has the LIDs 2 and 3."""
    s, a, b, c = link()
    s.node_info(b)
    s.port_info(b, lmc=1)
    for lid in (2, 3, 2, 3):
        s.wait(1)
        s.meet(a, b.also(lid=lid))
    return s, []


@case
def lmc_that_the_capture_does_not_show():
    """The SMPs were not captured: 2 and 3, or 64 and 127, may be LIDs of one port."""
    s, a, _, _ = link()
    for first, second in ((2, 3), (64, 127)):
        b = Host(first)
        for lid in (first, second, first, second):
            s.wait(1)
            s.arp_request(b.also(lid=lid), a.ip)
            s.arp_reply(a, b.also(lid=lid))
            s.ping(a, b.also(lid=lid))
    return s, []


@case
def lid_that_changes_back():
    """The port has its first LID again: packets to it arrive."""
    s, a, b, c = link()
    s.meet(a, b)
    found = []
    for lid in (20, 2):
        s.wait(2)
        s.arp_request(b.also(lid=lid), c.ip)
        found.append(("moved", number(s), 1, []))
    s.wait(2)
    s.ping(a, c)
    s.ping(a, b)
    return s, found


@case
def capture_that_starts_after_the_move():
    s, a, b, c = link()
    del s.records[:]
    s.arp_request(b.also(lid=20), c.ip)
    s.wait(2)
    s.ping(a, c)
    s.ud(a, b, ping(a, b))
    return s, []


@case
def probe_of_an_address():
    """RFC 5227: c probes the address of b from 0.0.0.0, three times, and does not take it."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    for _ in range(3):
        s.arp_request(c, b.ip, spa="0.0.0.0")
        s.wait(1)
    s.arp_request(b, a.ip)
    return s, []


@case
def anycast_address():
    """RFC 4861 section 7.2.7: advertisements of an anycast address have no Override flag."""
    s, a, b, c = link()
    for host in (b, c, b):
        s.advertise(host, a, "2001:db8::ffff", flags=0x40000000)
    return s, []


@case
def announcement_to_another_group():
    s, a, _, _ = link()
    group = s.join(a, s.group4("239.1.2.3"))
    s.arp_request(a, a.ip, dst=group)
    return s, [("announcement_lost", number(s), 1, [group, s.broadcast()])]


@case
def takeover_to_a_group_without_the_membership_bit():
    """RFC 4391 section 4: the P_Key in the MGID has the bit, so this is no link's broadcast group."""
    s, a, b, c = link()
    s.arp_request(b, a.ip)
    group = s.join(c, ib.mgid_ipv4("255.255.255.255", pkey=0x7FFF, scope=s.scope))
    s.arp_request(c, b.ip, dst=group, spa=b.ip)
    texts = [c.gid, group, s.broadcast()]
    return s, [
        ("moved", number(s), 1, [c.gid, "announces the address, but not to all hosts"]),
        ("announcement_lost", number(s), 1, texts),
    ]


@case
def takeover_that_is_not_announced():
    """c only replies to a request for the address."""
    s, a, b, c = link()
    s.arp_request(b, a.ip)
    s.arp_request(a, b.ip)
    s.arp_reply(c, a, ip=b.ip)
    return s, [("moved", number(s), 1, [c.gid, "it replies with the address; before, GID"])]


@case
def announcement_to_the_link():
    s, a, _, _ = link()
    s.arp_request(a, a.ip)
    return s, []


@case
def connection_refused():
    s, a, b, _ = link()
    c = Link(s, a, b)
    for _ in range(2):
        c.req(ib.service_id_rfc(b.qpn), ib.private_data(a.qpn, 65524))
        c.rej(8)
    return s, [("connection_refused", number(s) - 2, 2, ["reason 8", a.gid])]


@case
def connection_that_the_requester_gives_up():
    """A REJ of the requester, reason 4 (timeout), for the REQ that has no answer."""
    s, a, b, _ = link()
    c = Link(s, a, b)
    c.req(ib.service_id_rfc(b.qpn), ib.private_data(a.qpn, 65524))
    c.mad(True, ib.cm_rej(c.tid, c.ids[0], 0, 4))
    return s, [("connection_refused", number(s), 1, ["gives up", "reason 4", b.gid])]


@case
def connection_without_an_answer():
    s, a, b, _ = link()
    before = number(s)
    more.requests_to_connect(s, a, b)
    goes_on(s)
    return s, [("connection_unanswered", before + 4, 1, [b.gid])]


@case
def connection_lost():
    """NAK 3, remote operational error (IBA table 45): AETH syndrome 0x63."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    c.ack(True, c.psns[0], 0x63)
    return s, [("connection_lost", number(s), 1, ["NAK 3", b.gid])]


@case
def connection_that_loses_a_packet():
    """NAK 0, PSN sequence error: the sender repeats the packet."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    c.ack(True, c.psns[0], 0x60)
    c.ping()
    c.close()
    return s, []


def slow_join(s, host, ms, requests=1):
    """A join whose answer comes so late after the last request, all with one transaction ID."""
    tid, group = s.next_tid(), s.group4("239.1.2.3")
    data, mask = s.request(host, group, FULL)
    for _ in range(requests):
        s.wait(1)
        s.sa(host, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
    reply = ib.sa_mad(ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, s.record(host, group, FULL), mask)
    s.mad(s.sm, host, reply, ms=ms)


@case
def answers_after_a_second_and_more():
    """Of two hosts: the cause is the SA."""
    s, a, b, _ = link()
    slow_join(s, a, 1500)
    first = number(s)
    slow_join(s, b, 2000)
    return s, [("sa_slow", first, 2, ["LID 9", "request of LID 1 after 1.5 s"])]


@case
def answer_after_less_than_a_second():
    s, a, _, _ = link()
    slow_join(s, a, 999)
    return s, []


@case
def answer_to_the_second_request():
    """The first answer was lost: 2 s after the first request, and at once after the second."""
    s, a, _, _ = link()
    slow_join(s, a, 1, requests=2)
    return s, []


def retried_join(s, a, b, n):
    """n requests, one each 0.3 s as Linux repeats them; the SA answers b meanwhile."""
    tid, group = s.next_tid(), s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    for _ in range(n):
        s.sa(a, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
        s.wait(0.3)
    s.path(b, a)
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, s.record(a, group, FULL), mask)


@case
def answer_after_many_retries():
    """The third request shows that the first two had no answer."""
    s, a, b, _ = link()
    retried_join(s, a, b, 5)
    return s, [("sa_slow", number(s), 1, ["LID 1 after 1.5 s"])]


@case
def answer_after_many_retries_whose_answers_were_lost():
    """A packet of the SA is missing: the answer to an earlier request. No packet to a shows that
    the capture point sees such answers."""
    s, a, b, _ = link()
    s.records = s.records[-4:]
    s.sa(s.sm, a, ib.GET_RESP, s.next_tid(), ib.ATTR_MC_MEMBER, bytes(52), 0)
    s.records.pop()
    retried_join(s, a, b, 5)
    return s, []


@case
def answer_without_its_request():
    """The capture starts late: an answer alone is not late."""
    s, a, _, _ = link()
    slow_join(s, a, 5000)
    del s.records[:-1]
    return s, []


@case
def trap_64_whose_repress_is_late():
    """A Report waits for the host, not for the SA."""
    s, a, b, _ = link()
    tid, note = s.next_tid(), ib.notice(66, s.group4("239.1.2.3"), s.sm.lid, s.sm.gid)
    s.sa(s.sm, a, ib.REPORT, tid, ib.ATTR_NOTICE, note)
    s.wait(3)
    s.sa(a, s.sm, ib.REPORT_RESP, tid, ib.ATTR_NOTICE, note)
    return s, []


# ---- packets of connections that are sent again


def connected():
    """An open connection of a to b with an acknowledged ping in both directions."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    c.ping()
    return s, c


def send_again(c, psn, seconds=0.0):
    """An Only packet with a datagram of a."""
    c.t.wait(seconds)
    c.packet(True, ONLY, udp4(c.a, c.b.ip), psn)


@case
def packets_sent_again_after_a_nak():
    """The second of three packets was lost behind the capture point. 0x60: PSN sequence error.
    The first packet of the connection has the PSN 0xfffffe, the ping the next one."""
    s, c = connected()
    assert c.psns[0] == 0xFFFFFF
    first = c.psns[0]
    for n in range(3):
        send_again(c, first + n)
    c.ack(True, first + 1, 0x60)
    nak = number(s)
    send_again(c, first + 1)
    send_again(c, first + 2)
    c.ack(True, first + 2)
    return s, [("retransmission", nak + 1, 2, [c.a.gid, c.b.gid, "NAK", "PSN 0 "])]


@case
def packet_sent_again_without_an_acknowledgement():
    """As the timeout of the sender runs out. The fourth time it is acknowledged."""
    s, c = connected()
    first = number(s) + 1
    for _ in range(4):
        send_again(c, c.psns[0], 0.5)
    c.ack(True, c.psns[0])
    return s, [("retransmission", first + 1, 3, ["no acknowledgement"])]


@case
def packet_sent_again_although_it_was_acknowledged():
    """The acknowledgement was lost after the capture point; the third time is certainly no copy."""
    s, c = connected()
    for _ in range(3):
        send_again(c, c.psns[0], 0.5)
        c.ack(True, c.psns[0])
    return s, [("retransmission", number(s) - 1, 1, ["although an acknowledgement was captured"])]


@case
def packet_sent_again_after_a_corrupt_acknowledgement():
    """Its receiver dropped it, so the sender's timeout runs out. The one before is right."""
    s, c = connected()
    send_again(c, c.psns[0], 0.5)
    c.ack(True, c.psns[0])
    _, octets, _ = s.records.pop()
    s.put(octets[:-6] + bytes([octets[-6] ^ 1]) + octets[-5:])
    send_again(c, c.psns[0], 0.5)
    return s, [("retransmission", number(s), 1, ["no acknowledgement"])]


@case
def packets_that_a_tap_has_twice():
    """At once; and one after the packet that follows it."""
    s, c = connected()
    for n in range(4):
        send_again(c, c.psns[0] + n)
        copy_last(s)
    c.ack(True, c.psns[0] + 3)
    copy_last(s)
    s.records[-3:-1] = s.records[-2:-4:-1]
    return s, []


@case
def packet_that_a_second_capture_point_has_later():
    """After its acknowledgement: files of two machines, merged with a clock that is wrong."""
    s, c = connected()
    for n in range(4):
        send_again(c, c.psns[0] + n)
        data = s.records[-1]
        c.ack(True, c.psns[0] + n)
        s.wait(1)
        s.records.append((s.now, *data[1:]))
        s.wait(1)
    return s, []


@case
def data_without_acknowledgements_in_the_capture():
    """One direction: a packet that comes twice may be a copy; a third one is not."""
    s, c = connected()
    del s.records[:]
    c.open()
    for _ in range(2):
        send_again(c, c.psns[0], 0.5)
    send_again(c, c.psns[0] + 1, 0.5)
    return s, []


@case
def first_packet_that_is_lost_before_the_capture_point():
    """After the NAK, it is captured for the first time, and the next one for the second."""
    s, c = connected()
    first = c.psns[0]
    send_again(c, first + 1)
    c.ack(True, first, 0x60)
    send_again(c, first)
    send_again(c, first + 1)
    return s, [("retransmission", number(s), 1, ["NAK"])]


@case
def private_data_of_zeros():
    """A REQ without private data has no Receive MTU that differs."""
    s, a, b, _ = link()
    c = Link(s, a, b)
    c.set_up(ib.service_id_rfc(b.qpn), a_pd=bytes(8))
    return s, []


@case
def unreliable_connection():
    """UC has no acknowledgements; a tap has packets twice."""
    s, a, b, _ = link()
    c = Link(s, a, b, transport=1).open()
    c.ping()
    for _ in range(3):
        send_again(c, c.psns[0], 0.5)
    return s, []


@case
def receiver_without_a_buffer():
    """RNR NAK, timer 14: 1.28 ms (IBA table 45). The packet that is sent again is no event of its
    own. The answers that a tap has twice count once."""
    s, c = connected()
    first = number(s) + 2
    for _ in range(3):
        send_again(c, c.psns[0])
        s.wait(0.1)
        c.ack(True, c.psns[0], 0x20 + 14)
        copy_last(s)
        s.wait(0.1)
    send_again(c, c.psns[0])
    c.ack(True, c.psns[0])
    return s, [("rnr", first, 3, [c.b.gid, c.a.gid, "1.28 ms"])]


@case
def two_receive_mtus():
    s, a, b, _ = link()
    c = Link(s, a, b)
    c.set_up(ib.service_id_rfc(b.qpn), b_pd=ib.private_data(b.qpn, 4096))
    return s, [("mtu_mismatch", number(s) - 1, 1, ["65524", "4096", "4092"])]


@case
def trap_of_a_port():
    """Trap 144, sent three times until the SM represses it, and the everyday trap 66."""
    s, a, b, _ = link()
    s.report(b, 66, s.group4("239.1.2.3"))
    s.report(b, 65, a.gid)
    return s, [("trap", number(s) - 1, 1, ["trap 65", a.gid])]


@case
def port_that_goes_down():
    s, a, b, _ = link()
    s.node_info(a)
    s.port_info(a)
    s.port_info(a, set_it=False, state=ib.ACTIVE)
    s.port_info(a, set_it=False, state=ib.INIT)
    return s, [("port_state", number(s), 1, ["Initialize"])]


@case
def port_that_stays_up():
    s, a, b, _ = link()
    s.node_info(a)
    for _ in range(3):
        s.port_info(a, set_it=False, state=ib.ACTIVE)
    return s, []


@case
def port_info_refused():
    s, a, _, _ = link()
    tid = s.next_tid()
    mad = ib.lid_routed_smp(0x02, tid, ib.PORT_INFO, 1, bytes(64))
    for method, status in ((0x02, 0), (0x81, 0x001C)):
        data = bytearray(mad)
        data[3], data[4:6] = method, status.to_bytes(2, "big")
        src, dst = (s.sm, a) if method == 2 else (a, s.sm)
        qps = dict(destqp=0, srcqp=0, qkey=0, vl=15)
        s.put(Frame(ib.UD | ONLY, bytes(data), dlid=dst.lid, slid=src.lid, psn=tid, **qps))
    return s, [("smp_refused", number(s), 1, ["PortInfo", "0x001c"])]


@case
def another_sm():
    s, a, b, _ = link()
    s.sm = Host(8)
    s.join(a, s.group4("239.1.2.3"))
    return s, [("sm_changed", number(s), 1, ["LID 9"])]


@case
def arp_without_an_answer():
    s, a, b, _ = link()
    s.path(a, b)
    before = number(s)
    for _ in range(4):
        s.arp_request(a, "10.0.0.77")
        s.wait(1)
    return s, [("arp_unanswered", before + 4, 1, ["10.0.0.77", "3 requests"])]


@case
def arp_answer_to_the_third_request():
    s, a, b, _ = link()
    s.path(a, b)
    for seconds in (1, 1, 0.3):
        s.arp_request(a, b.ip)
        s.wait(seconds)
    s.arp_reply(b, a)
    goes_on(s)
    return s, []


@case
def nd_answer_to_the_third_request():
    s, a, b, _ = link()
    for seconds in (1, 1, 0.3):
        s.solicit(a, b.ll)
        s.wait(seconds)
    s.advertise(b, a, b.ll)
    goes_on(s)
    return s, []


@case
def arp_whose_answer_is_lost():
    s, a, b, _ = link()
    for n in range(6):
        s.arp_request(a, b.ip)
        s.wait(1)
        if n % 2:
            s.arp_reply(b, a)
    return s, []


@case
def arp_scan_without_waiting():
    """Three requests within 3 ms wait for no answer."""
    s, a, b, _ = link()
    s.path(a, b)
    for _ in range(3):
        s.arp_request(a, "10.0.0.77")
    return s, []


@case
def nd_without_an_answer():
    s, a, b, _ = link()
    before = number(s)
    for _ in range(3):
        s.solicit(a, b.ll)
        s.wait(1)
    goes_on(s)
    return s, [("nd_unanswered", before + 4, 1, [b.ll])]


@case
def duplicate_address_detection():
    """RFC 4862: solicitations from :: want no answer."""
    s, a, b, _ = link()
    for _ in range(3):
        s.solicit(a, a.ll, "::")
        s.wait(1)
    return s, []


def pings(s, a, b, n, replies):
    for seq in range(n):
        s.ud(a, b, ping(a, b, seq=seq))
        if seq in replies:
            s.ud(b, a, ping(b, a, seq=seq, reply=True))
        s.wait(1)


@case
def ping_without_an_answer():
    s, a, b, _ = link()
    s.resolve(a, b)
    before = number(s)
    pings(s, a, b, 5, ())
    goes_on(s)
    return s, [("echo_unanswered", before + 6, 1, ["10.0.0.2", "3 requests"])]


@case
def pings_that_are_answered_slowly():
    """One each 200 ms, and each reply 1.2 s after its request."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for seq in range(18):
        if seq < 12:
            s.ud(a, b, ping(a, b, seq=seq))
        if seq >= 6:
            s.ud(b, a, ping(b, a, seq=seq - 6, reply=True))
        s.wait(0.2)
    goes_on(s)
    return s, []


@case
def pings_that_are_answered_together():
    """A host that was busy for 4 s. Another packet of it comes first."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pings(s, a, b, 4, ())
    s.ud(b, a, udp4(b, a.ip))
    for seq in range(4):
        s.ud(b, a, ping(b, a, seq=seq, reply=True))
    goes_on(s)
    return s, []


@case
def ping_with_lost_answers():
    """Two of three replies are missing: the loss of packets is not the loss of a host."""
    s, a, b, _ = link()
    s.resolve(a, b)
    pings(s, a, b, 9, (2, 5, 8))
    return s, []


@case
def ping_flood():
    """Ten requests on the way before the first reply."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for seq in range(10):
        s.ud(a, b, ping(a, b, seq=seq))
    for seq in range(10):
        s.ud(b, a, ping(b, a, seq=seq, reply=True))
    s.wait(2)
    s.ping(a, b)
    return s, []


def sized(s, a, b, sizes, answered):
    """Pings of these sizes of data, one each second; those of 'answered' have a reply."""
    for seq, size in enumerate(sizes):
        s.ud(a, b, ping(a, b, seq=seq, size=size))
        if size in answered:
            s.ud(b, a, ping(b, a, seq=seq, size=size, reply=True))
        s.wait(1)


@case
def large_pings_without_an_answer():
    """The datagrams have 28 bytes more. Between the large ones a small one is answered."""
    s, a, b, _ = link()
    s.resolve(a, b)
    before = number(s)
    sized(s, a, b, (56, 1900, 1900, 56, 1900, 1900), (56,))
    goes_on(s)
    return s, [("large_lost", before + 9, 1, ["3 requests", "84 bytes", a.ip, b.ip])]


@case
def large_pings_without_an_answer_at_last():
    """The small ones were answered before; b still sends to a."""
    s, a, b, _ = link()
    s.resolve(a, b)
    before = number(s)
    sized(s, a, b, (56, 1900, 1900, 1900), (56,))
    s.wait(2)
    s.ud(b, a, udp4(b, a.ip))
    return s, [("large_lost", before + 6, 1, ["since frame %d" % (before + 3)])]


@case
def small_pings_after_the_large_ones():
    s, a, b, _ = link()
    s.resolve(a, b)
    sized(s, a, b, (1900, 1900, 1900, 56), (56,))
    goes_on(s)
    return s, [("large_lost", number(s), 1, ["of 1928 bytes or more", "one of 84 bytes"])]


@case
def host_that_goes_down_while_it_is_pinged():
    """The small ones are not answered any more either."""
    s, a, b, c = link()
    s.resolve(a, b)
    sized(s, a, b, (56, 56), (56,))
    sized(s, a, b, (56, 56, 56, 56), ())
    s.wait(1)
    s.ping(a, c)
    return s, [("echo_unanswered", number(s) - 1, 1, [])]


@case
def large_pings_with_lost_answers():
    """Two of three: the loss of packets."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for _ in range(4):
        sized(s, a, b, (56, 1900, 1900, 1901), (56, 1901))
    return s, []


@case
def large_pings_in_fragments():
    """Their replies come in one packet, over a connection."""
    s, a, b, _ = link()
    s.resolve(a, b)
    sized(s, a, b, (56,), (56,))
    for seq in range(4):
        s.ud(a, b, events_pairs.fragment(a, b, seq))
        s.ud(b, a, ping(b, a, seq=seq, size=2000, reply=True))
        s.wait(1)
    before = number(s)
    sized(s, a, b, (56,) * 70, (56,))
    for seq in range(5):
        s.ud(a, b, events_pairs.fragment(a, b, seq))
        s.wait(1)
    goes_on(s)
    return s, [("large_lost", before + 140 + 6, 1, ["3 requests in fragments", "84 bytes"])]


def send_only(s, host, group):
    s.join(host, s.group4(group), SEND_ONLY)
    return s.group4(group)


def whole_link():
    """The capture has all packets of the SA."""
    s = FromStart()
    a, b, c = (Host(n) for n in (1, 2, 3))
    s.up(a, b, c)
    return s, a, b, c


@case
def groups_that_only_senders_have_joined():
    """Each counts once. Its member leaves in a third one: then nobody receives it either."""
    s, a, b, c = whole_link()
    groups = [send_only(s, a, "239.1.2.%d" % n) for n in range(3)]
    s.join(c, groups[2])
    s.leave(c, groups[2])
    s.wait(2)
    found = number(s) + 1
    for n in (0, 0, 1, 2):
        s.to_group4(a, "239.1.2.%d" % n)
    return s, [("groups_without_members", found, 3, [groups[0], a.gid])]


@case
def groups_that_have_a_receiver():
    """It joins before the sender, or a moment after it."""
    s, a, b, c = whole_link()
    s.join(b, s.group4("239.1.2.3"))
    for n in (3, 4):
        send_only(s, a, "239.1.2.%d" % n)
    s.to_group4(a, "239.1.2.4")
    s.join(c, s.group4("239.1.2.4"))
    s.wait(2)
    for n in (3, 4):
        s.to_group4(a, "239.1.2.%d" % n)
    return s, []


@case
def group_whose_receivers_joined_before_the_capture():
    s, a, _, _ = link()
    send_only(s, a, "239.1.2.3")
    s.wait(2)
    s.to_group4(a, "239.1.2.3")
    return s, []


@case
def group_that_did_not_exist_before():
    """The capture starts late, but the SA said that there is no such group."""
    s, a, _, _ = link()
    s.query(a, s.group4("239.1.2.3"), found=False)
    group = send_only(s, a, "239.1.2.3")
    s.wait(2)
    s.to_group4(a, "239.1.2.3")
    return s, [("groups_without_members", number(s), 1, [group])]


@case
def group_that_is_reported_as_deleted_although_it_has_members():
    """Trap 67 is about an earlier group (IBA 13.4.9): b and c joined this one before."""
    s, a, b, c = link()
    group = s.group4("239.1.2.3")
    for host in (b, c):
        s.join(host, group)
    s.report(a, 67, group)
    send_only(s, a, "239.1.2.3")
    s.wait(2)
    s.to_group4(a, "239.1.2.3")
    return s, []


@case
def group_of_routers():
    """IGMPv3 reports go to 224.0.0.22 (RFC 3376), which only routers join as receivers."""
    s, a, b, c = whole_link()
    send_only(s, a, "224.0.0.22")
    s.wait(2)
    s.to_group4(a, "224.0.0.22")
    return s, []


@case
def no_multicast_lid_left():
    """The SA refuses a further group: the groups without receivers hold LIDs."""
    s, a, b, c = whole_link()
    for n in range(4):
        send_only(s, a, "239.1.2.%d" % n)
    s.join(b, s.group4("239.1.2.0"))
    s.join(b, s.group4("239.1.3.0"), status=NO_RESOURCES)
    refused = ("join_refused", number(s), 1, ["ERR_NO_RESOURCES"])
    return s, [refused, ("groups_without_members", number(s), 3, [])]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_events(case, tmp_path):
    s, expected = case()
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    found = events_of(path)
    assert [(e["name"], e["frame"], e["count"]) for e in found] == [e[:3] for e in expected], found
    for event, (_, _, _, texts) in zip(found, expected):
        for text in texts:
            assert text in event["what"] + event["who"], event
        assert event["cause_frame"] < event["frame"] <= event["last_frame"]


def test_only_two_limited_members_are_called_so(tmp_path):
    """c has the full P_Key, and a looks for it (IBA 10.9.3)."""
    s, a, _, c = events_pairs.limited_link()
    events_pairs.look_for(s, a, c, 4, 0)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    [event] = events_of(path)
    assert event["name"] == "arp_unanswered" and "limited" not in event["what"]


@pytest.mark.parametrize("source", ["b's", "b's, IPv6", "another", "none"])
def test_a_silent_host_whose_address_another_port_has(source, tmp_path):
    """The event names the port that sends to a group from the address since."""
    s, d = events_silent.failed_over(source.split(",")[0], "IPv6" in source)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    [event] = [e for e in events_of(path) if e["name"] == "host_silent"]
    is_named = "GID %s, LID 4 sends from its address, IP" % d.gid in event["what"]
    assert is_named == source.startswith("b's")
    assert ("no announcement of it was captured" in event["what"]) == is_named


@pytest.mark.parametrize(
    "options, is_named",
    [
        ({}, True),
        ({"is_late": True}, True),
        ({"v6": True}, True),
        ({"several": True}, False),
    ],
)
def test_hosts_of_two_scopes(options, is_named, tmp_path):
    """a looks for d. A queue pair that sends to groups of two scopes may be on either link."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(events_heard.other_scope(**options).pcap())
    found = [e for e in events_of(path) if e["name"].endswith(UNANSWERED)]
    of_a = [e for e in found if "LID 1" in e["who"]]
    assert len(of_a) == 1
    assert (events_heard.SCOPES in of_a[0]["what"]) == is_named


@pytest.mark.parametrize("second_block", [[], [0x8001]])
def test_only_a_partition_that_was_taken_out_is_called_so(second_block, tmp_path):
    """The P_Key may be in another block of the table."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(events_heard.taken_out(*second_block)[0].pcap())
    [event] = events_of(path)
    assert ("P_Key table" in event["what"]) == (not second_block)


@pytest.mark.parametrize("filtered", [True, False])
def test_filter_that_leaves_qp1_out_suspects_nobody(filtered, tmp_path):
    """The subnet manager brings a host up that sends at once: it has not joined. Without any packet of
    QP1, this is not known; with the join of another host, it is suspected."""
    s = FromStart()
    a, b = Host(1), Host(2)
    s.node_info(a)
    s.smp(a.lid, ib.GET, ib.PORT_INFO, b"", 1, s.port_info_of(0, state=ib.INIT))
    s.port_info(a, state=ib.ARMED)
    s.port_info(a)
    if not filtered:
        s.up(b)
    s.arp_request(a, b.ip)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    text = check.run(str(path)).stdout.decode()
    assert ("found it never joined it" in text) != filtered
    assert not filtered or "Violated, but not proved" not in text


def test_every_event_has_a_case():
    with open(os.path.join(SRC, "lib/analysis/events.def"), encoding="utf-8") as f:
        names = {line.split('"')[1] for line in f if line.startswith("EVENT(")}
    assert names == {e[0] for case in CASES for e in case()[1]}


# ---- the reports


def refusals(n):
    s, a, _, _ = link()
    for i in range(n):
        s.join(a, s.group4("239.1.2.%d" % i), status=NO_RESOURCES)
    return s.pcap()


def event_lines(path, *arguments):
    """The lines of the section Events of the text report, and its last line."""
    lines = check.run(*arguments, str(path)).stdout.decode().splitlines()
    first = lines.index("Events: what happened on the link (notes, no violations)") + 1
    return [line.strip() for line in lines[first : lines.index("", first)]], lines[-1]


@pytest.mark.parametrize("n", [20, 21])
def test_text_has_20_lines_of_events_and_counts_all(n, tmp_path):
    """21 refusals of one host are one line."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(refusals(n))
    found = [e["frame"] for e in events_of(path)]
    lines, last = event_lines(path)
    assert ": NO VIOLATION PROVED, but %d events (join_refused): " % n in last
    if n == 20:
        assert len(lines) == 21 and lines[20] == "more: ipoib-check --explain join_refused"
    else:
        assert lines[0].startswith(
            "frame %d: join_refused: 21 events, last in frame %d; the first: GID "
            % (found[0], found[-1])
        )
        assert lines[1] == "21 events on 1 line: ipoib-check -v lists all"
    whole, _ = event_lines(path, "-v")
    assert [int(line[6 : line.index(":")]) for line in whole[:-1]] == found
    assert check.run(str(path)).returncode == check.run("-v", str(path)).returncode


def test_events_of_many_ports_are_one_line(tmp_path):
    """37 hosts, each refused once, two of them twice; and a trap."""
    s, a, _, _ = link()
    s.report(a, 65, a.gid)
    for n in (*range(10, 47), 10, 11):
        group = s.group4("239.1.%d.%d" % (n, len(s.records) % 250))
        s.join(Host(n), group, status=NO_RESOURCES)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    lines, last = event_lines(path)
    assert ", but 40 events (join_refused, trap): " in last
    assert ": join_refused: 37 ports, 39 events, last in frame %d; " % number(s) in lines[0]
    assert ": trap: LID 9: " in lines[1]
    assert lines[2] == "40 events on 2 lines: ipoib-check -v lists all"


@pytest.mark.parametrize("targets, shown", [(3, 4), (30, 2)])
def test_causes_come_before_consequences(targets, shown, tmp_path):
    """A monitoring host asks for addresses that nobody has; then the SA refuses a join. JSON has the
    capture's order."""
    s, a, b, c = link()
    s.resolve(a, c)
    for n in range(targets):
        events_pairs.look_for(s, a, Host(100 + n), 3, 0)
        s.ping(c, a)
    s.join(b, s.group4("239.1.2.3"), status=NO_RESOURCES)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    lines, _ = event_lines(path)
    assert ": join_refused: " in lines[0]
    assert len([line for line in lines[:shown] if line.startswith("frame ")]) == shown
    assert all(": arp_unanswered: " in line for line in lines[1:shown])
    assert [e["name"] for e in events_of(path)] == ["arp_unanswered"] * targets + ["join_refused"]


def test_changes_come_after_causes(tmp_path):
    """A trap, a moved address, and then a refusal. Of changes alone, the verdict has no "but"."""
    s, a, b, _ = link()
    s.report(a, 65, a.gid)
    s.arp_request(a, b.ip)
    s.arp_request(b.also(qpn=0x999), a.ip)
    s.arp_request(b, a.ip)
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    lines, last = event_lines(path)
    assert [line.split(": ")[1] for line in lines[:2]] == ["trap", "moved"]
    assert ", with 2 events (trap, moved): " in last
    s.join(b, s.group4("239.1.2.3"), status=NO_RESOURCES)
    path.write_bytes(s.pcap())
    lines, last = event_lines(path)
    assert [line.split(": ")[1] for line in lines[:3]] == ["join_refused", "trap", "moved"]
    assert ", but 3 events (join_refused, trap, moved): " in last


def test_two_masters_come_first(tmp_path):
    """The event that explains the others of its kind."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(events_silent.two_subnet_managers()[0].pcap())
    lines, _ = event_lines(path)
    assert "take the ports from each other" in lines[0]


def test_a_full_table_says_so(tmp_path):
    """The table has 16384 entries. The reports name it, and the verdict does not depend on it."""
    s, a, _ = link(2)
    for i in range(16384 + 10):
        record = ib.path_record("fe80::%x:1" % (i + 1), a.gid)
        reply = ib.sa_mad(ib.GET_RESP, i + 1, ib.ATTR_PATH_RECORD, record, 0, NO_RECORDS)
        s.put(mad_frame(s.sm, a, reply, s.next_psn(s.sm.lid, 1)))
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    done = check.run(str(path))
    text = done.stdout.decode()
    assert "the table of events of the link: full from frame" in text
    assert "10 entries refused: further events are not listed" in text
    assert "NOT JUDGED" not in text and "16384 events" in text


def test_events_change_neither_verdict_nor_exit_status(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(refusals(1))
    done = check.run("--strict", str(path))
    assert done.returncode == check.OK and b", but 1 event (join_refused): " in done.stdout


def test_junit_has_the_events(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(refusals(1))
    text = check.run("--format", "junit", str(path)).stdout.decode()
    assert ": join_refused: " in text[text.index("<system-out>") :]


def merge(tmp_path, *args):
    return check.run("--merge", *args, cwd=tmp_path).stdout.decode()


def test_merged_reports_have_the_events(tmp_path):
    """23 refusals: the text has one line of them, the other formats all."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(refusals(23))
    check.run("--format", "json", "-o", "node1.json", str(path), cwd=tmp_path)
    events = events_of(path)
    whole = json.loads(merge(tmp_path, "--format", "json", "node1.json"))
    assert whole["summary"]["captures"][0]["events"] == events
    text = merge(tmp_path, "node1.json").splitlines()
    assert ", but 23 events (join_refused): " in text[0]
    first = events[0]
    assert text[1].startswith(
        "  event         frame %d: join_refused: 23 events, last in frame %d; the first: %s: %s"
        % (first["frame"], events[-1]["frame"], first["who"], first["what"])
    )
    assert text[2] == "  23 events on 1 line: the capture's own report lists them"
    junit = merge(tmp_path, "--format", "junit", "node1.json")
    assert ": join_refused: " in junit[junit.index("<system-out>") :]


@pytest.mark.parametrize("change", [{"name": "future"}, {"count": 0}, {"frame": -1}, {"what": 1}])
def test_report_with_a_malformed_event_is_not_merged(change, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(refusals(1))
    check.run("--format", "json", "-o", "node1.json", str(path), cwd=tmp_path)
    report = json.loads((tmp_path / "node1.json").read_text())
    report["summary"]["captures"][0]["events"][0].update(change)
    (tmp_path / "node1.json").write_text(json.dumps(report))
    done = check.run("--merge", "node1.json", cwd=tmp_path)
    assert done.returncode == check.UNJUDGED and b"an event of" in done.stderr


def test_annotated_captures_have_the_events(tmp_path):
    path, out = tmp_path / "capture.pcap", tmp_path / "out.pcapng"
    path.write_bytes(refusals(1))
    [event] = events_of(path)
    check.run("--annotate", str(out), str(path))
    comment = "event: join_refused: %s: %s; see: ipoib-check --explain join_refused"
    assert (comment % (event["who"], event["what"])).encode() in out.read_bytes()


def test_explain_prints_the_page():
    text = check.run("--explain", "join_refused").stdout.decode()
    assert text.startswith("join_refused\n") and "ipoib.analysis.join_refused" in text


# ---- real captures


# Events that a lost packet must not add, besides those about unanswered requests.
OF_NO_LOSS = {"large_lost", "sa_slow", "stale_path", "moved", "retransmission", "rnr"}
OF_NO_LOSS |= {"groups_without_members", "connection_loop"}


def kinds(path):
    """These events: the name, and who it happened to."""
    return {
        (e["name"], e["who"])
        for e in events_of(path)
        if e["name"].endswith(UNANSWERED) or e["name"] in OF_NO_LOSS
    }


@pytest.mark.parametrize("name", sorted(n for n in os.listdir(TESTDATA) if n.endswith(".pcap")))
def test_one_percent_loss_adds_no_event(name, tmp_path):
    capture = capfile.read(testdata(name))
    before = kinds(testdata(name))
    for seed in range(8):
        draw = random.Random(f"{name} {seed}")
        kept = [(f.time, f.data) for f in capture.frames if draw.random() >= 0.01]
        path = tmp_path / f"{seed}.pcap"
        records = [capfile.record(time, data) for time, data in kept]
        path.write_bytes(capfile.pcap(capture.linktype, records, nanoseconds=True))
        assert kinds(path) <= before, seed

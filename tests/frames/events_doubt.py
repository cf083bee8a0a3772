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
from frames.subnet import PATH_BY_GIDS, SMP_SET, Host

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


# ---- answers of the SA


def paths(s, a, b, answer):
    """Three requests, each after the answer to the one before. Then the capture goes on."""
    data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    values = dict(dlid=b.lid, slid=a.lid, reversible=1, pkey=0xFFFF, mtu=4, rate=3, life=18)
    record = ib.path_record(b.gid, a.gid, mtu_sel=2, rate_sel=2, life_sel=2, **values)
    for _ in range(3):
        tid = s.next_tid()
        s.sa(a, s.sm, ib.GET, tid, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS)
        s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_PATH_RECORD, record, PATH_BY_GIDS, attr_offset=8)
        answer()
        s.wait(2)
    s.wait(4)
    s.ping(Host(3), a)


def change_last(s, change):
    time, octets, *rest = s.records[-1]
    s.records[-1] = (time, change(bytearray(octets)), *rest)


@case
def answers_with_a_wrong_crc():
    """They are there, whatever has damaged them."""

    def damage(octets):
        octets[100] ^= 1
        return bytes(octets)

    s, a, b, c = link()
    s.resolve(a, c)
    paths(s, a, b, lambda: change_last(s, damage))
    return s, []


@case
def answers_with_another_qkey_than_that_of_qp1():
    def other_qkey(octets):
        of = dict(dlid=1, slid=9, destqp=1, srcqp=1, qkey=0x0B1B)
        psn = int.from_bytes(octets[17:20], "big")
        return ib.Frame(ib.UD | ONLY, bytes(octets[28:284]), psn=psn, **of).ib()

    s, a, b, c = link()
    s.resolve(a, c)
    before = number(s)
    paths(s, a, b, lambda: change_last(s, other_qkey))
    texts = ["path to " + b.gid, "frame %d answers it, but with the Q_Key" % (before + 6)]
    return s, [
        ("sa_wrong_answer", before + 2, 3, ["Q_Key 0x00000b1b instead of 0x80010000"]),
        ("sa_unanswered", before + 6, 1, texts),
    ]


@case
def answers_with_the_qkey_of_qp1():
    s, a, b, c = link()
    s.resolve(a, c)
    paths(s, a, b, lambda: None)
    return s, []


# ---- DHCP


def requested(address):
    return bytes((REQUESTED_IP, 4)) + ib.ip4(address)


def declines(s, a, server, wanted, given):
    asks(s, a, DISCOVER, 7, 1)
    asks(s, a, REQUEST, 7, 1, options=requested(wanted))
    gives(s, server, ACK, 7, address=given)
    asks(s, a, DECLINE, 8, 1, options=requested(given))
    return number(s)


@case
def address_that_the_client_did_not_ask_for():
    s, a, b, _ = link()
    frame = declines(s, a, b, ADDRESS, "10.0.0.19")
    texts = ["it asked for IP 10.0.0.9, and the DHCPACK in frame %d has IP 10.0.0.19" % (frame - 1)]
    return s, [("dhcp_refused", frame, 1, texts)]


@case
def address_that_another_host_has():
    s, a, b, c = link()
    s.arp_request(c, b.ip)
    frame = declines(s, a, b, c.ip, c.ip)
    return s, [("dhcp_refused", frame, 1, ["another host uses the address, GID " + c.gid])]


@case
def address_of_a_host_that_was_not_captured():
    s, a, b, _ = link()
    frame = declines(s, a, b, ADDRESS, ADDRESS)
    return s, [("dhcp_refused", frame, 1, ["of which nothing was captured"])]


# ---- ARP in rounds


def rounds(s, a, targets, times, seconds=8.0):
    """Two requests for each target in each round."""
    for _ in range(times):
        for target in targets:
            for _ in range(2):
                s.arp_request(a, target)
                s.wait(1)
        s.wait(seconds)


@case
def pairs_of_arp_requests_without_a_reply():
    s, a, b, c = link()
    s.meet(a, c)
    before = number(s)
    rounds(s, a, ["10.0.0.50"], 3)
    goes_on(s)
    texts = ["6 requests since frame %d" % (before + 1), "10.0.0.50"]
    return s, [("arp_unanswered", number(s), 1, texts)]


@case
def pairs_of_arp_requests_with_a_reply_between():
    s, a, b, c = link()
    s.meet(a, c)
    rounds(s, a, [b.ip], 2)
    s.resolve(a, b)
    rounds(s, a, [b.ip], 2)
    goes_on(s)
    return s, []


@case
def scan_of_addresses_that_nobody_has():
    """Two requests for each, and again ten minutes later, four times."""
    s, a, b, c = link()
    s.meet(a, c)
    rounds(s, a, ["10.0.0.%d" % n for n in range(50, 60)], 4, seconds=600)
    goes_on(s)
    return s, []


@case
def address_that_is_only_probed():
    """RFC 5227 section 2.1.1: from 0.0.0.0."""
    s, a, b, c = link()
    s.meet(a, c)
    for _ in range(8):
        s.arp_request(a, "10.0.0.50", spa="0.0.0.0")
        s.wait(6)
    goes_on(s)
    return s, []


# ---- takeovers


def fight(s, a, ports, times, seconds):
    """The ports announce the address in turns, by gratuitous ARP. Returns the frames."""
    frames = []
    for n in range(times):
        port = ports[n % 2]
        s.wait(seconds)
        s.arp_request(port, port.ip)
        frames.append(number(s))
        s.ping(a, port)
    return frames


@case
def address_that_two_hosts_take_from_each_other():
    s, a, b, _ = link()
    d = Host(20).also(ip=b.ip)
    s.meet(a, b)
    frames = fight(s, a, (d, b), 6, 5)
    fought = ("duplicate_ip", frames[3], 3, [b.gid, d.gid, "since frame %d" % frames[0]])
    moves = [("moved", frames[0], 2, [d.gid]), ("moved", frames[1], 1, [b.gid])]
    return s, [*moves, fought]


@case
def address_that_moves_three_times():
    s, a, b, _ = link()
    d = Host(20).also(ip=b.ip)
    s.meet(a, b)
    frames = fight(s, a, (d, b), 3, 5)
    return s, [("moved", frames[0], 2, [d.gid]), ("moved", frames[1], 1, [b.gid])]


@case
def address_that_fails_over_each_15_seconds():
    """A bond of ports of two adapters."""
    s, a, b, _ = link()
    d = Host(20).also(ip=b.ip)
    s.meet(a, b)
    frames = fight(s, a, (d, b), 5, 15)
    return s, [("moved", frames[0], 3, [d.gid]), ("moved", frames[1], 2, [b.gid])]


@case
def address_that_fails_over_between_the_ports_of_an_adapter():
    s, a, b, c = link()
    s.meet(a, b)
    frames = fight(s, a, (c.also(ip=b.ip), b), 5, 5)
    return s, [("moved", frames[0], 3, [c.gid]), ("moved", frames[1], 2, [b.gid])]


OTHER = 0x8005


def partitions():
    """Each host has an interface on a second partition, with an address of its own."""
    s, a, b, c = link()
    children = [host.also(ip="10.5.0.%d" % n, qpn=0x500 + n) for n, host in enumerate((a, b, c))]
    s.up(*children, pkey=OTHER)
    s.meet(children[0], children[1], pkey=OTHER)
    s.meet(children[0], children[2], pkey=OTHER)
    return s, c, children


def ping_in_vain(s, x, y, heard):
    for n in range(3):
        s.ud(x, y, ping(x, y, seq=20 + n), OTHER)
        s.wait(1)
    s.wait(4)
    s.ping(heard, x, pkey=OTHER)
    return number(s) - 1


@case
def address_that_is_announced_in_another_partition():
    s, c, (x, y, z) = partitions()
    s.arp_request(c.also(ip=y.ip), y.ip)
    taken = number(s)
    texts = ["another partition (P_Key 0xffff) in frame %d, by GID %s" % (taken, c.gid)]
    return s, [("echo_unanswered", ping_in_vain(s, x, y, z), 1, [*texts, "0xffff"])]


@case
def address_that_two_partitions_have():
    """Each has its own 10.5.0.1, and both reply."""
    s, c, (x, y, z) = partitions()
    s.arp_request(c.also(ip=y.ip), y.ip)
    for _ in range(4):
        s.ping(x, y, pkey=OTHER)
        s.wait(1)
    return s, []


# ---- subnet managers


def sets(s, host, manager):
    s.node_info(host)
    info = s.port_info_of(host.lid, sm=manager)
    s.smp(host.lid, SMP_SET, ib.PORT_INFO, info, 1)


@case
def ports_with_another_subnet_manager():
    """It asks nobody to register again. Then its SA answers: the same event."""
    s, a, b, _ = link()
    other = Host(8)
    for host in (a, b):
        sets(s, host, s.sm)
    first = number(s) + 4
    for host in (a, b):
        sets(s, host, other)
    s.sm = other
    s.join(a, s.group4("239.1.2.3"))
    return s, [("sm_changed", first, 3, ["LID 8", "MasterSMLID", "LID 9"])]


@case
def ports_that_the_same_subnet_manager_sets_again():
    s, a, b, _ = link()
    for _ in range(3):
        for host in (a, b):
            sets(s, host, s.sm)
    return s, []


def sm_info(s, host, state):
    """From LID to LID. IBA 14.2.5.13."""
    data = ib.u64(host.guid) + bytes(8) + ib.u32(7) + ib.u8(0x50 | state)
    mad = ib.mad_header(1, 1, ib.GET_RESP, s.next_tid(), 0x0020) + bytes(40) + data
    qps = dict(destqp=0, srcqp=0, qkey=0, vl=15, psn=s.next_psn(host.lid, 0))
    s.put(ib.Frame(ib.UD | ONLY, mad.ljust(256, b"\0"), dlid=1, slid=host.lid, **qps))


def asks_with(s, a, b, states):
    data = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    for state in states:
        s.sa(a, s.sm, ib.GET, s.next_tid(), ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS)
        s.wait(1)
        sm_info(s, s.sm, state)
    goes_on(s)
    return number(s)


@case
def subnet_manager_that_is_standby():
    s, a, b, _ = link()
    frame = asks_with(s, a, b, (2, 2, 2))
    texts = ["its subnet manager is standby, by the SMInfo in frame %d" % (frame - 1)]
    return s, [("sa_unanswered", frame, 1, texts)]


@case
def subnet_manager_that_becomes_the_master():
    s, a, b, _ = link()
    return s, [("sa_unanswered", asks_with(s, a, b, (2, 2, 3)), 1, ["3 s after the last"])]

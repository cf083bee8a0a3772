# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in which a host does not get what it needs, although others are answered: each with a harmless
look-alike. A case returns its tape and the events that it must raise: (event, frame, count, texts that it
has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import DISCOVER, REQUEST, ask_only, goes_on, link, number
from frames.fabric import FULL, LEAVE_MASK, SEND_ONLY, smp_frame
from frames.ib import encap
from frames.messages import NOBODY, ping, solicited_node
from frames.subnet import PATH_BY_GIDS, FromStart, Host, Subnet
from frames.unusual_datagrams import UP, dhcp, dhcp_datagram

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- pings to a group


def group_ping(s, a, group, answered, seq, ttl=64):
    s.wait(1)
    s.ud(a, s.group4(group), encap(0x0800, ib.ping4(a.ip, group, seq=seq)))
    for host in answered:
        reply = ib.icmp_echo(0x4242, seq, ib.fill(56), True)
        s.ud(host, a, encap(0x0800, ib.ipv4(host.ip, a.ip, 1, reply, ttl=ttl)))


def member_stops(last, goes_on_with=True, leaves=False, misses=False, others=True, ttl=64):
    """b and c answer four pings of a, c the others; b still has its ping with a answered."""
    s, a, b, c = link()
    group = "239.5.6.7"
    for host in (b, c):
        s.join(host, s.group4(group))
        s.meet(a, host)
    for seq in range(4):
        group_ping(s, a, group, (b, c), seq, ttl)
    if leaves:
        s.leave(b, s.group4(group))
    if misses:
        s.next_psn(b.lid, b.qpn)
    for seq in range(4, last):
        group_ping(s, a, group, (c,) if others else (), seq, ttl)
        if goes_on_with:
            s.ping(a, b, seq=100 + seq)
    return s, b, s.group4(group)


@case
def member_that_no_longer_hears_its_group():
    s, b, group = member_stops(11)
    texts = [b.gid, group, "5 since frame", "it answered 4"]
    return s, [("group_unheard", number(s) - 7, 2, texts)]


@case
def member_that_has_left_the_group():
    s, _, _ = member_stops(11, leaves=True)
    return s, []


@case
def member_that_misses_four_pings():
    s, _, _ = member_stops(8)
    return s, []


@case
def members_that_are_all_silent():
    s, _, _ = member_stops(11, others=False)
    return s, []


@case
def member_of_which_a_packet_was_not_captured():
    s, _, _ = member_stops(11, misses=True)
    return s, []


@case
def host_behind_a_router_that_no_longer_answers():
    s, _, _ = member_stops(11, ttl=63)
    return s, []


# ---- replies that are late


def late_replies(answered, size=56):
    """Six requests, one each second; the capture goes on; then the replies to some of them."""
    s, a, b, _ = link()
    s.meet(a, b)
    for seq in range(10, 16):
        s.wait(1)
        s.ud(a, b, ping(a, b, seq=seq, size=size))
    goes_on(s)
    reported = number(s)
    for seq in answered:
        s.ud(b, a, ping(b, a, seq=seq, size=size, reply=True))
    goes_on(s)
    return s, reported


@case
def replies_that_are_late():
    s, _ = late_replies(range(10, 16))
    return s, []


@case
def large_replies_that_are_late():
    s, _ = late_replies(range(10, 16), size=1800)
    return s, []


@case
def reply_to_the_last_request_only():
    s, reported = late_replies([15])
    return s, [("echo_unanswered", reported - 1, 2, ["3 requests"])]


# ---- subnet administration


def comes_up(keep=lambda frames: frames):
    """The SM sets up a port by directed routes, and its joins have no answer. keep: the SMPs that are
    captured, of the two of each request."""
    s, a = Subnet(), Host(1)
    s.node_info(a)
    s.port_info(a)
    s.records[:] = keep(s.records)
    group = s.broadcast()
    data, mask = s.request(a, group, FULL, create=False)
    for _ in range(3):
        ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask)
    goes_on(s)
    return s, group


@case
def joins_of_a_port_that_comes_up():
    """Each with a new transaction ID. No packet has the port's LID as its destination."""
    s, group = comes_up()
    return s, [("sa_unanswered", number(s), 1, [group, "3 requests since frame 5"])]


@case
def joins_of_a_port_whose_responses_only_were_captured():
    s, _ = comes_up(lambda frames: frames[1::2])
    return s, []


@case
def joins_of_a_port_whose_requests_only_were_captured():
    s, _ = comes_up(lambda frames: frames[::2])
    return s, []


@case
def join_that_is_answered_at_once_with_a_new_transaction_id():
    """The SA has been silent, and is not slow: those before have no answer."""
    s, a, _, _ = link()
    group = s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    before = number(s)
    for _ in range(3):
        ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask)
    s.join(a, group)
    goes_on(s)
    return s, [("sa_unanswered", before + 4, 1, ["3 requests since frame %d" % (before + 1)])]


def others_talk(s, seconds):
    """Nothing is sent to the other hosts."""
    for _ in range(seconds):
        s.to_group4(Host(3), "224.0.0.1")
        s.wait(1)


def repeats_its_join(one_tid, leaves=False):
    """Eleven joins, long after the last packet to the host."""
    s, a, _, _ = link()
    group = s.group4("239.1.2.3")
    data, mask = s.request(a, group, FULL)
    leave = ib.mcmember(group, a.gid, join=FULL)
    others_talk(s, 70)
    before = number(s)
    for _ in range(1 if one_tid else 11):
        times = 11 if one_tid else 1
        ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=3, times=times)
        if leaves:
            ask_only(s, a, ib.DELETE, ib.ATTR_MC_MEMBER, leave, LEAVE_MASK, seconds=3)
    goes_on(s)
    return s, before


@case
def join_that_is_sent_eleven_times():
    """The host would stop if it had an answer, whatever the capture sees of those to it."""
    s, before = repeats_its_join(True)
    texts = ["join", "11 requests since frame %d" % (before + 1)]
    return s, [("sa_unanswered", number(s), 1, texts)]


@case
def eleven_joins_of_a_group():
    s, before = repeats_its_join(False)
    texts = ["join", "11 requests since frame %d" % (before + 1)]
    return s, [("sa_unanswered", number(s), 1, texts)]


@case
def eleven_joins_of_a_group_that_the_host_leaves():
    """The capture has only what the host sends, and each may have an answer."""
    s, _ = repeats_its_join(False, leaves=True)
    return s, []


@case
def eleven_requests_of_a_path_of_which_the_capture_has_no_answer():
    """A program may ask again and again."""
    s, a, b, _ = link()
    others_talk(s, 70)
    path = ib.path_record(b.gid, a.gid, pkey=0xFFFF, reversible=1, numb=1)
    for _ in range(11):
        ask_only(s, a, ib.GET, ib.ATTR_PATH_RECORD, path, PATH_BY_GIDS, seconds=3)
    goes_on(s)
    return s, []


# ---- joins of members


def asks_to_join(s, host, times, seconds=10, asks=True, leaves=False):
    """The SM sets ClientReregister in each sweep, and the host joins a group again."""
    group = s.group4("224.0.0.1")
    for _ in range(times):
        s.wait(seconds)
        if asks:
            s.port_info(host, reregister=True)
        if leaves:
            s.leave(host, group)
        s.join(host, group, create=False)


def swept():
    s, a = FromStart(), Host(1)
    s.node_info(a)
    s.port_info(a)
    s.up(a, Host(2), Host(3))
    return s, a


@case
def port_that_is_asked_to_join_in_each_sweep():
    s, a = swept()
    asks_to_join(s, a, 8)
    texts = ["224.0.0.1", "5 times again", "ClientReregister", "5 times, last in frame"]
    texts[0] = s.group4("224.0.0.1")
    return s, [("rejoins", number(s) - 8, 3, texts)]


@case
def port_that_joins_again_and_again_unasked():
    s, a = swept()
    asks_to_join(s, a, 7, asks=False)
    return s, [("rejoins", number(s) - 2, 2, ["5 times again since frame"])]


@case
def port_that_is_asked_to_join_after_a_failover():
    s, a = swept()
    asks_to_join(s, a, 2)
    return s, []


@case
def host_that_restarts_its_interface_again_and_again():
    s, a = swept()
    asks_to_join(s, a, 8, asks=False, leaves=True)
    return s, []


@case
def port_whose_requests_are_missing_now_and_then():
    """It may have left the group."""
    s, a = swept()
    for _ in range(8):
        asks_to_join(s, a, 1)
        s.next_psn(a.lid, 1)
    return s, []


@case
def join_that_is_repeated_for_a_lost_answer():
    s, a = swept()
    asks_to_join(s, a, 12, seconds=0.1, asks=False)
    return s, []


# ---- subnet management


def sets_alone(s, host, times, tid=None, answer_get=True):
    """A Get(PortInfo), and Sets that have no response."""
    if answer_get:
        s.port_info(host, set_it=False)
    data = s.port_info_of(host.lid)
    for _ in range(times):
        mad = ib.directed_smp(ib.SET, tid or s.next_tid(), ib.PORT_INFO, 1, data, (0, 1, host.lid))
        s.put(smp_frame(mad, s.next_psn("sm", host.lid)))
        s.wait(0.2)


@case
def sets_without_an_answer_beside_gets():
    """The port has another M_Key (IBA 14.2.4.1). Other ports answer."""
    s, a, b, _ = link()
    for host in (a, b):
        s.node_info(host)
    before = number(s)
    for _ in range(2):
        sets_alone(s, a, 3)
        s.wait(0.3)
        s.node_info(b)
        s.wait(10)
    texts = ["3 requests of its PortInfo", "answers Get, in frame %d" % (before + 2), "M_Key"]
    return s, [("smp_unanswered", before + 6, 4, texts)]


@case
def sets_that_are_answered_at_the_third_try():
    s, a, b, _ = link()
    for host in (a, b):
        s.node_info(host)
    for _ in range(2):
        sets_alone(s, a, 2)
        s.port_info(a)
        s.wait(0.3)
        s.node_info(b)
    return s, []


@case
def sets_and_gets_of_one_transaction_id():
    """The response may be that to either."""
    s, a, b, _ = link()
    for host in (a, b):
        s.node_info(host)
    for _ in range(4):
        sets_alone(s, a, 1, tid=7, answer_get=False)
        data = s.port_info_of(a.lid)
        mad = ib.directed_smp(ib.GET_RESP, 7, ib.PORT_INFO, 1, data, (0, 1, a.lid))
        s.put(smp_frame(mad, s.next_psn("port", a.lid)))
        s.node_info(b)
    return s, []


# ---- ARP


def asks_again(s, a, b, times, seconds=1.0, unicast=False, heard=False):
    """Requests in rounds of three, each with a reply. heard: then the requester sends a datagram."""
    for n in range(times):
        s.arp_request(a, b.ip, **(dict(dst=b) if unicast else {}))
        s.arp_reply(b, a)
        if heard:
            s.to_group4(b, "224.0.0.1")
            s.ping(a, b)
        s.wait(4 if n % 3 == 2 else seconds)


@case
def requests_that_are_repeated_although_answered():
    """Two within 3 s of a reply in each round of three."""
    s, a, b, _ = link()
    before = number(s)
    asks_again(s, a, b, 12)
    texts = [b.ip, "6 times since frame %d" % (before + 2), "the answers do not reach it"]
    return s, [("arp_unanswered", before + 17, 3, texts)]


@case
def requests_that_are_repeated_and_their_answers_used():
    s, a, b, _ = link()
    asks_again(s, a, b, 12, heard=True)
    return s, []


@case
def requests_to_the_target_alone_that_are_repeated():
    """Linux asks the target itself whether it is still there."""
    s, a, b, _ = link()
    s.meet(a, b)
    asks_again(s, a, b, 12, unicast=True)
    return s, []


@case
def requests_that_are_repeated_each_30_seconds():
    s, a, b, _ = link()
    asks_again(s, a, b, 12, seconds=30)
    return s, []


# ---- partitions


def taken_out(*others, capacity=128):
    """Two hosts on the partition 0x8001, which the SM takes out of b's table; then a pings b in vain.
    others: entries of b's second block. capacity: of its whole table."""
    s, a, b = Subnet(pkey=0x8001), Host(1), Host(2)
    info = ib.node_info(b.guid, capacity, 0x1003, 0x2C9)

    def node_info():
        s.smp(b.lid, ib.GET, ib.NODE_INFO, b"", 0, info)

    node_info()
    s.port_info(b)
    s.pkey_table(b, 0xFFFF, 0x8001)
    if others:
        entries = b"".join(map(ib.u16, others)).ljust(64, b"\0")
        s.smp(b.lid, ib.SET, ib.PKEY_TABLE, entries, 1)
    s.up(a, b)
    s.meet(a, b)
    s.pkey_table(b, 0xFFFF)
    frame = number(s) - 1
    node_info()
    for n in range(3):
        s.ud(a, b, ping(a, b, seq=2 + n))
        s.wait(1)
    s.wait(4)
    s.to_group4(a, "224.0.0.1")
    return s, a, b, frame


@case
def partition_that_is_taken_out_of_the_table():
    s, a, b, frame = taken_out()
    texts = ["P_Key table", "(frame %d) has no entry of the partition 0x8001" % frame]
    return s, [("echo_unanswered", number(s), 1, texts)]


# ---- announcements


def two_scopes(sender):
    """a and b are on the link of scope 2; a program of b joins a broadcast group of scope 5 too, and
    announces an address to it. sender: what b sends before."""
    s, a, b, _ = link()
    other = ib.mgid_ipv4("255.255.255.255", pkey=0xFFFF, scope=5)
    sender(s, a, b)
    s.join(b, other, create=True)
    s.ud(b, other, encap(0x0806, ib.arp(1, b.addr, b.ip, NOBODY, b.ip)))
    return s, other


@case
def announcement_to_the_broadcast_group_of_another_scope():
    s, other = two_scopes(lambda s, a, b: s.arp_request(b, a.ip))
    return s, [("announcement_lost", number(s), 1, [other, s.broadcast()])]


@case
def announcement_on_a_link_of_another_scope():
    """Nothing shows that the queue pair is on the link of scope 2."""
    s, _ = two_scopes(lambda s, a, b: None)
    return s, []


@case
def announcement_of_a_second_interface_of_another_scope():
    """The port's second queue pair is on the link of scope 5."""
    s, a, b, _ = link()
    s.arp_request(b, a.ip)
    second = b.also(qpn=b.qpn + 1, ip="10.0.0.77")
    other = ib.mgid_ipv4("255.255.255.255", pkey=0xFFFF, scope=5)
    s.join(b, other, create=True)
    request = ib.arp(1, second.addr, second.ip, NOBODY, second.ip)
    s.ud(second, other, encap(0x0806, request))
    return s, []


def other_scope(is_late=False, v6=False, several=False):
    """a is on the link of scope 2, d on that of scope 5. They look for each other."""
    s, a, b, _ = link()
    d = Host(4)
    s.scope = 5
    s.up(d)
    if is_late:
        del s.records[:]
    s.scope = 2
    s.meet(a, b)
    if several:
        s.to_group4(d, "224.0.0.1", s.group4("224.0.0.1").replace("ff15", "ff12"))
    for host, other, scope in ((d, a, 5), (a, d, 2)):
        s.scope = scope
        if v6:
            s.join(host, s.group6(solicited_node(other.ll)), SEND_ONLY)
        for _ in range(4):
            if v6:
                s.solicit(host, other.ll)
            else:
                s.arp_request(host, other.ip)
            s.wait(1)
    s.ping(a, b)
    s.wait(2)
    s.ping(b, a)
    return s


SCOPES = "its groups have the scope 0x2, those of the other the scope 0x5"


# ---- DHCP, captured at another host than the client


def discovers(kind=DISCOVER, flags=0x8000, other=True, heard=True):
    """Captured at c. OTHER: b sends to the group too; HEARD: what is sent to b was captured."""
    s, a, b, c = link()
    del s.records[:]
    if other:
        s.arp_request(b, c.ip)
    if heard:
        s.ping(b, c)
    before = number(s)
    for _ in range(5):
        message = dhcp(1, kind, 0x1234, flags=flags)
        s.ud(a, s.broadcast(), dhcp_datagram("0.0.0.0", "255.255.255.255", UP, message))
        s.wait(4)
    return s, a, before


@case
def dhcp_without_an_answer_at_another_host():
    """RFC 2131 section 4.1: the answer to a request with the BROADCAST flag goes to all."""
    s, a, before = discovers()
    return s, [("dhcp_unanswered", before + 4, 2, [a.gid, "3 requests", "DHCPDISCOVER"])]


@case
def dhcp_whose_answers_go_to_the_client_alone():
    return discovers(flags=0)[0], []


@case
def dhcp_after_an_offer_that_was_not_captured():
    return discovers(REQUEST)[0], []


@case
def dhcp_where_no_other_broadcast_was_captured():
    return discovers(other=False)[0], []


@case
def dhcp_where_one_direction_was_captured():
    """As at the server, whose own packets are not in the capture."""
    return discovers(heard=False)[0], []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of which one event is the cause of the others: a host that stops sending, a port that does not
join again after a failover of the SM, two SMs, packets with another SL than their path, packets that go
round; each with a harmless look-alike. A case returns its tape and the events that it must raise: (event, frame, count, texts that it
has). NUMBER is the number of the last frame so far."""
from frames.connection import Link
from frames.events import link, number, two_lids
from frames import ib
from frames.ib import ONLY
from frames.messages import ping, ping6, udp4, udp6
from frames.subnet import Host, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- hosts that stop sending


def pings_alone(s, a, b, times=3, seq=100):
    for n in range(times):
        s.ud(a, b, ping(a, b, seq=seq + n))
        s.wait(1)


def asks_alone(s, a, b, times=3):
    for _ in range(times):
        s.arp_request(a, b.ip)
        s.wait(1)


def met():
    s, a, b, c = link()
    for one, other in ((a, b), (c, b), (a, c)):
        s.meet(one, other)
    return s, a, b, c


def asked_in_vain():
    """b sends nothing after the first ping. The last frame before, and those with which a's pings and
    c's requests have been unanswered for long enough."""
    s, a, b, c = met()
    s.ping(a, b)
    last = number(s)
    pings_alone(s, a, b)
    s.wait(3)
    s.ping(c, a)
    echo = number(s) - 1
    asks_alone(s, c, b)
    s.ping(a, c)
    return s, a, b, last, echo, number(s) - 1


@case
def host_that_stops_sending():
    """Two others ask it, one by pings, one by ARP; they talk to each other."""
    s, _, _, last, echo, arp = asked_in_vain()
    texts = ["LID 2", "after frame %d" % last, "2 ports ask it"]
    return s, [
        ("echo_unanswered", echo, 1, []),
        ("arp_unanswered", arp, 1, []),
        ("host_silent", arp, 1, texts),
    ]


@case
def host_that_does_not_send_for_a_time():
    """b asks the SA for a path again, after a and c have asked it in vain."""
    s, a, b, last, echo, arp = asked_in_vain()
    s.path(b, a)
    again = number(s) - 1
    texts = ["LID 2", "sends again, in frame %d;" % again, "after frame %d, and 2 ports" % last]
    return s, [
        ("echo_unanswered", echo, 1, []),
        ("arp_unanswered", arp, 1, []),
        ("host_silent", arp, 1, texts),
    ]


@case
def host_whose_gid_another_port_has():
    """What is sent to it may go to the other port: it is not silent."""
    s, a, twin = two_lids(lmc=0)
    b, c = Host(2), Host(5)
    s.up(c)
    for one, other in ((b, a), (c, a), (b, c)):
        s.meet(one, other)
    pings_alone(s, b, a)
    s.wait(3)
    s.ping(c, b)
    echo = number(s) - 1
    asks_alone(s, c, a)
    s.ping(b, c)
    arp = number(s) - 1
    return s, [
        ("moved", twin, 1, []),
        ("duplicate_gid", twin + 1, 1, [a.gid]),
        ("echo_unanswered", echo, 1, []),
        ("arp_unanswered", arp, 1, []),
    ]


def fails_over(s, a, b, c, source, v6=False):
    """b falls silent; a datagram to a group comes from another port. a and c look for b."""
    d = Host(4, ip=b.ip).also(ll=b.ll)
    s.up(d)
    if source == "b's":
        s.ud(d, s.group6("ff02::1"), udp6(d, "ff02::1")) if v6 else s.to_group4(d, "224.0.0.1")
    elif source == "another":
        s.to_group4(d.also(ip="10.0.0.4"), "224.0.0.1")
    for one in (a, c):
        if v6:
            for _ in range(3):
                s.ud(one, b, ping6(one, b))
                s.wait(1)
        else:
            pings_alone(s, one, b)
        s.wait(3)
        s.ping(a, c)
    return d


def failed_over(source, v6=False):
    s, a, b, c = met()
    if v6:
        s.resolve6(a, b)
        s.ud(b, a, ping6(b, a))
    d = fails_over(s, a, b, c, source, v6)
    return s, d


@case
def host_that_answers_nothing_and_sends():
    """Its datagrams to another group were captured."""
    s, a, b, c = met()
    pings_alone(s, a, b)
    s.to_group4(b, "224.0.0.1")
    s.wait(3)
    s.ping(c, a)
    echo = number(s) - 1
    asks_alone(s, c, b)
    s.to_group4(b, "224.0.0.1")
    return s, [("echo_unanswered", echo, 1, []), ("arp_unanswered", number(s), 1, [])]


@case
def host_that_was_never_heard():
    """Two ask for an address that nobody has."""
    s, a, b, c = met()
    for one in (a, c):
        for _ in range(3):
            s.arp_request(one, "10.0.0.77")
            s.wait(1)
    s.ping(a, c)
    return s, [("arp_unanswered", number(s) - 4, 1, []), ("arp_unanswered", number(s) - 1, 1, [])]


# ---- the SM moves


def failover(rejoins):
    """The SA answers from LID 8: the joins of those who join again. Then a looks for b."""
    s, a, b, c = met()
    s.sm = Host(8)
    s.wait(20)
    s.join(c, s.broadcast())
    changed = number(s)
    if rejoins:
        s.join(b, s.broadcast())
    s.wait(20)
    s.arp_request(a, b.ip)
    s.wait(1)
    asks_alone(s, a, b, 2)
    s.ping(c, a)
    return s, changed


@case
def port_that_does_not_join_again():
    s, changed = failover(False)
    arp = number(s) - 1
    texts = ["LID 2", "broadcast group", "last join: frame", "ClientReregister"]
    return s, [
        ("sm_changed", changed, 1, ["LID 8"]),
        ("arp_unanswered", arp, 1, []),
        ("rejoin_missing", arp, 1, texts),
    ]


@case
def port_that_joins_again_and_is_away():
    s, changed = failover(True)
    return s, [("sm_changed", changed, 1, ["LID 8"]), ("arp_unanswered", number(s) - 1, 1, [])]


def restart(rejoins):
    """The SM is restarted at its LID, and asks all ports to register again."""
    s, a, b, c = met()
    s.wait(20)
    asked = []
    for host in (a, b, c):
        s.node_info(host)
        s.port_info(host, reregister=True)
        asked.append(number(s) - 1)
    for host in (a, b, c) if rejoins else (a, c):
        s.join(host, s.broadcast())
    s.wait(20)
    asks_alone(s, a, b)
    s.ping(c, a)
    return s, asked[1]


@case
def port_that_does_not_join_again_after_a_restart():
    s, asked = restart(False)
    texts = ["LID 2", "asked it to (ClientReregister)"]
    return s, [
        ("arp_unanswered", number(s) - 1, 1, []),
        ("rejoin_missing", number(s) - 1, 1, texts),
    ]


def forgotten(joins):
    """The SA has lost its groups: c creates the broadcast group anew, with another MLID. Then a looks
    for b."""
    s, a, b, c = met()
    s.wait(20)
    s.mlids[s.broadcast()] = 0xC0AB
    for host in joins:
        s.join((a, b, c)[host], s.broadcast())
    s.wait(20)
    s.mlids[s.broadcast()] = 0xC0AB if 0 in joins else 0xC000
    asks_alone(s, a, b)
    s.ping(c, a)
    return s, number(s) - 1


@case
def port_that_joined_a_group_that_the_sa_has_lost():
    s, asked = forgotten((2, 0))
    texts = ["LID 2", "LID 0xc000", "LID 0xc0ab"]
    texts += ["hear each other; the port has not joined again, as the subnet manager has not asked"]
    return s, [("arp_unanswered", asked, 1, []), ("rejoin_missing", asked, 1, texts)]


@case
def ports_that_joined_a_group_that_the_sa_has_lost():
    """The one that asks too."""
    s, asked = forgotten((2,))
    return s, [
        ("arp_unanswered", asked, 1, []),
        ("rejoin_missing", asked, 1, ["LID 2"]),
        ("rejoin_missing", asked, 1, ["LID 1"]),
    ]


@case
def ports_that_join_a_group_with_another_mlid():
    s, asked = forgotten((2, 0, 1))
    return s, [("arp_unanswered", asked, 1, [])]


@case
def port_that_joins_again_after_a_restart():
    s, _ = restart(True)
    return s, [("arp_unanswered", number(s) - 1, 1, [])]


def managers(*lids, seconds=20):
    """The SA answers from one after the other."""
    s, a, _, _ = link()
    frames = []
    for lid in lids:
        s.wait(seconds)
        s.sm = Host(lid)
        s.join(a, s.group4("239.1.2.3"))
        frames.append(number(s))
    return s, frames


@case
def two_subnet_managers():
    s, frames = managers(8, 9, 8, 9, 8)
    return s, [
        ("sm_changed", frames[0], 3, ["LID 8", "before, it was at LID 9"]),
        ("sm_changed", frames[1], 2, ["LID 9", "before, it was at LID 8"]),
        ("sm_changed", frames[4], 1, ["5 times since frame %d" % frames[0], "two subnet managers"]),
    ]


@case
def subnet_manager_that_fails_and_comes_back_twice():
    s, frames = managers(8, 9, 8, 9)
    return s, [("sm_changed", frames[0], 2, ["LID 8"]), ("sm_changed", frames[1], 2, ["LID 9"])]


@case
def subnet_manager_that_is_maintained_five_times_in_a_day():
    s, frames = managers(8, 9, 8, 9, 8, seconds=9000)
    return s, [("sm_changed", frames[0], 3, ["LID 8"]), ("sm_changed", frames[1], 2, ["LID 9"])]


# ---- service levels


def with_sl(sl, other=None):
    s, a, b, _ = link(subnet=lambda: Subnet(sl=3))
    s.resolve(a, b)
    if other is not None:
        s.path(a, b, sl=other)
    s.wait(1)
    s.ud(a, b, ping(a, b), sl=sl)
    return s


@case
def datagrams_with_another_sl():
    s = with_sl(0)
    return s, [("wrong_sl", number(s), 1, ["LID 1", "SL 0", "SL 3"])]


@case
def datagrams_with_the_sl_of_the_path():
    return with_sl(3), []


@case
def datagrams_with_one_of_two_sls():
    """The SA gave both: it may choose by the service."""
    return with_sl(0, other=1), []


def many_udp(s, a, b, **last):
    """More than are summed of a sender (checksums.c): UDP like that of most captures. The last one differs."""
    for n in range(20):
        s.ud(a, b, udp4(a, b.ip, b"%03d" % n * 20), **(last if n == 19 else {}))


@case
def udp_with_another_sl():
    s, a, b, _ = link()
    s.resolve(a, b)
    s.wait(1)
    many_udp(s, a, b, sl=5)
    return s, [("wrong_sl", number(s), 1, ["LID 1", "SL 5", "SL 0"])]


@case
def udp_with_the_sl_0_on_a_path_with_another():
    s, a, b, _ = link(subnet=lambda: Subnet(sl=3))
    s.resolve(a, b)
    s.wait(1)
    many_udp(s, a, b, sl=0)
    return s, [("wrong_sl", number(s), 1, ["LID 1", "SL 0", "SL 3"])]


# ---- P_Keys of datagrams to one port


@case
def udp_with_the_pkey_of_another_partition():
    s, a, b, _ = met()
    many_udp(s, a, b, pkey=0x8006)
    return s, [("wrong_pkey", number(s), 1, ["0x8006", "0xffff", "LID 2"])]


@case
def udp_with_one_sl_and_pkey():
    s, a, b, _ = met()
    s.wait(1)
    many_udp(s, a, b)
    return s, []


@case
def datagrams_with_the_pkey_of_another_partition():
    """Both queue pairs are those of the partition 0xffff."""
    s, a, b, _ = met()
    s.ud(a, b, ping(a, b, seq=7), pkey=0x8006)
    return s, [("wrong_pkey", number(s), 1, ["0x8006", "0xffff", "LID 2"])]


@case
def datagrams_in_two_partitions():
    """An interface each, with its queue pair."""
    s, a, b, _ = met()
    one, two = (Host(n, qpn=0x200 + n, ip="10.1.0.%d" % n) for n in (1, 2))
    for host in (one, two):
        s.join(host, s.broadcast(0x8006), pkey=0x8006)
    s.meet(one, two, pkey=0x8006)
    s.meet(a, b)
    return s, []


# ---- neighbour solicitations whose advertisements are not heard


def solicits_again(s, a, b, times, heard=False):
    """In rounds of three, each with an advertisement."""
    s.resolve6(a, b)
    before = number(s)
    for n in range(times):
        s.wait(4 if n % 3 == 0 else 1)
        s.solicit(a, b.ll)
        s.advertise(b, a, b.ll)
        if heard:
            s.ping(a, b)
    return before


@case
def solicitations_that_are_repeated_although_answered():
    s, a, b, _ = link()
    before = solicits_again(s, a, b, 12)
    texts = ["neighbour solicitations", b.ll, "6 times", "the answers do not reach it"]
    return s, [("nd_unanswered", before + 17, 3, texts)]


@case
def solicitations_that_are_repeated_and_their_answers_used():
    s, a, b, _ = link()
    solicits_again(s, a, b, 12, heard=True)
    return s, []


# ---- packets that go round between switches


def copies(times, ns, to_group):
    """A datagram, and copies of it that come so long after each other."""
    s, a, b, _ = link()
    s.meet(a, b)
    if to_group:
        s.to_group4(a, "224.0.0.1")
    else:
        s.ud(a, b, ping(a, b, seq=9))
    for _ in range(times):
        s.now += ns
        s.records.append((s.now, *s.records[-1][1:]))
    return s, b


@case
def datagram_that_goes_round():
    s, b = copies(9, 100000, False)
    return s, [("switching_loop", number(s) - 5, 1, ["LID %d" % b.lid, "5 times"])]


@case
def datagram_to_a_group_that_goes_round():
    s, _ = copies(30, 100000, True)
    return s, [("switching_loop", number(s) - 19, 1, ["12 times"])]


def group_packets(s, host, times, seconds=1, group="224.0.0.1"):
    """A packet to a group, captured so often in each microsecond."""
    s.wait(seconds)
    s.to_group4(host, group)
    for _ in range(times - 1):
        s.now += 1000
        s.records.append((s.now, *s.records[-1][1:]))


@case
def datagram_to_a_group_that_goes_round_fast():
    """Those before were captured once, this one 60 times within 60 us."""
    s, a, _, _ = link()
    for _ in range(4):
        group_packets(s, a, 1)
    group_packets(s, a, 60)
    return s, [("switching_loop", number(s) - 55, 1, ["5 times"])]


@case
def datagram_that_goes_round_in_a_doubled_capture():
    s, a, _, _ = link()
    for _ in range(4):
        group_packets(s, a, 2)
    group_packets(s, a, 60)
    return s, [("switching_loop", number(s) - 52, 1, ["8 times"])]


@case
def first_datagram_to_a_group_that_goes_round():
    """Broadcasts come once; the tree of one group has a loop."""
    s, a, _, _ = link()
    s.join(a, s.group4("239.1.2.3"))
    for _ in range(4):
        group_packets(s, a, 1, group="255.255.255.255")
    group_packets(s, a, 40, group="239.1.2.3")
    return s, [("switching_loop", number(s) - 35, 1, ["5 times"])]


@case
def first_datagram_to_an_ipv6_group_that_goes_round():
    """The link has no broadcasts, but packets to ff02::1."""
    s, a, b, _ = link()
    for _ in range(4):
        s.wait(1)
        s.advertise(b, s.group6("ff02::1"), b.ll, "ff02::1")
    s.wait(1)
    s.solicit(a, b.ll)
    for _ in range(39):
        s.now += 1000
        s.records.append((s.now, *s.records[-1][1:]))
    return s, [("switching_loop", number(s) - 35, 1, ["5 times"])]


@case
def first_datagram_to_a_group_in_a_mirror_of_all_ports():
    """The broadcasts before came as often."""
    s, a, _, _ = link()
    s.join(a, s.group4("239.1.2.3"))
    for _ in range(4):
        group_packets(s, a, 14, group="255.255.255.255")
    group_packets(s, a, 40, group="239.1.2.3")
    return s, []


@case
def mirror_of_all_ports_of_a_group():
    """It may lose some copies."""
    s, a, _, _ = link()
    for times in (12, 13, 14, 12, 12, 14):
        group_packets(s, a, times)
    return s, []


@case
def mirror_of_ports_that_join_the_group():
    s, a, _, _ = link()
    group = s.group4("224.0.0.1")
    for _ in range(4):
        group_packets(s, a, 1)
    for octet in range(31, 41):
        s.join(Host(octet), group)
    group_packets(s, a, 11)
    return s, []


@case
def datagram_that_both_ports_of_a_link_are_mirrored_with():
    s, _ = copies(3, 1000, False)
    return s, []


@case
def datagram_to_a_group_that_36_ports_are_mirrored_with():
    s, _ = copies(35, 1000, True)
    return s, []


# ---- a connection whose sender begins with another PSN


def begins_with(psn, begin):
    """The REP says that a's first packet has the PSN begin."""
    s, a, b, _ = link()
    c = Link(s, a, b, psns=(0x10, begin)).open()
    rep = number(s) - 1
    for _ in range(2):
        c.packet(True, ONLY, udp4(a, b.ip), psn)
        s.wait(0.1)
        c.ack(True, begin, 0x60)
    return s, rep


@case
def sender_that_does_not_begin_with_the_psn_of_the_rep():
    s, rep = begins_with(0x5000, 0x4000)
    texts = ["waits for PSN %d" % 0x4000, "with which the connection begins (frame %d)" % rep]
    return s, [
        ("wrong_psn", rep + 3, 1, ["named PSN %d" % 0x4000]),
        ("retransmission", rep + 4, 1, texts),
    ]


# ---- hosts that answer late


def late_pings(s, a, b, times, seconds, seq=200):
    for n in range(times):
        s.ud(a, b, ping(a, b, seq=seq + n))
        s.wait(seconds)
        s.ud(b, a, ping(b, a, seq=seq + n, reply=True))
        s.wait(3)


@case
def host_that_answers_late():
    """The fourth reply comes 14 s after the first, but five are wanted."""
    s, a, b, c = met()
    prompt = number(s)
    s.ping(a, b, seq=150)
    first = number(s) + 2
    late_pings(s, a, b, 6, 1.8)
    texts = ["LID 2", "5 pings in a row since frame %d" % first, "after 1.8 s"]
    texts.append("it answered at once in frame %d" % (prompt + 2))
    return s, [("host_slow", number(s) - 2, 2, texts)]


@case
def host_that_always_answers_late():
    s, a, b, c = link()
    s.resolve(a, b)
    s.meet(a, c)
    late_pings(s, a, b, 4, 2)
    s.ping(a, c, seq=3)
    late_pings(s, a, b, 1, 2, seq=300)
    return s, [("host_slow", number(s), 1, ["others answer at once"])]


@case
def all_answers_are_late():
    """Nobody answers at once: a link that is slow, or a capture with a clock that runs fast."""
    s, a, b, c = link()
    s.resolve(a, b)
    late_pings(s, a, b, 8, 1.8)
    return s, []


@case
def host_that_is_late_four_times():
    s, a, b, c = met()
    for start in (300, 400):
        late_pings(s, a, b, 4, 2, seq=start)
        s.ping(a, b, seq=start + 50)
    return s, []


@case
def host_that_stood_still():
    """It answers all that has waited at once."""
    s, a, b, c = met()
    for n in range(2):
        s.ud(a, b, ping(a, b, seq=300 + n))
        s.wait(1)
    for n in range(2):
        s.ud(b, a, ping(b, a, seq=300 + n, reply=True))
    s.ping(a, b, seq=310)
    return s, []


@case
def host_behind_a_router():
    """Its replies have a smaller TTL."""
    s, a, b, c = met()
    for n in range(7):
        s.ud(a, b, ping(a, b, seq=300 + n))
        s.wait(1.8)
        reply = ib.icmp_echo(0x4242, 300 + n, ib.fill(56), True)
        s.ud(b, a, ib.encap(0x0800, ib.ipv4(b.ip, a.ip, 1, reply, ttl=61)))
        s.wait(3)
    return s, []

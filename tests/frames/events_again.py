# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of requests that are sent again, and of the classes of management and the
protocols above IP that are followed only for events, each with harmless look-alikes. A case returns
its tape and the events that it must raise: (event, frame, count, texts that it has)."""
from frames import ib
from frames.events import ask_only, copy_last, goes_on, link, number, refuse
from frames.events_link import icmp6_error, icmp_error
from frames.fabric import FULL, QKEY, mad_frame, smp_frame
from frames.ib import encap
from frames.messages import ping, udp4
from frames.subnet import Host, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- the same packet, with the same PSN


def send_again(s, times, seconds):
    """The last frame again, by a sender that does not count its PSNs."""
    octets = s.records[-1][1]
    for _ in range(times):
        s.wait(seconds)
        s.put(octets)


def set_pkeys(s, host):
    """A Set of the P_KeyTable, LID-routed, with the PSN 0."""
    mad = ib.lid_routed_smp(0x02, s.next_tid(), ib.PKEY_TABLE, 0, ib.u16(0xFFFF))
    s.put(smp_frame(mad, 0, host.lid, s.sm.lid))


@case
def smp_that_is_sent_again_with_its_psn():
    """The capture goes on only with further copies: the fourth comes 200 ms after the third."""
    s, a, _, _ = link()
    before = number(s)
    set_pkeys(s, a)
    send_again(s, 3, 1)
    texts = [a.gid, "3 requests of its P_KeyTable since frame %d" % (before + 1)]
    return s, [("smp_unanswered", before + 4, 1, texts)]


@case
def smp_that_is_sent_twice_and_captured_twice():
    """A tap has each of the two packets twice."""
    s, a, _, _ = link()
    set_pkeys(s, a)
    copy_last(s)
    send_again(s, 1, 1)
    copy_last(s)
    goes_on(s)
    return s, []


@case
def table_whose_segment_is_sent_again_with_its_psn():
    s, a, _, _ = link()
    before = number(s)
    header = ib.rmpp_header(1, ib.RMPP_ACTIVE, data1=1)
    s.sa(s.sm, a, ib.GET_TABLE_RESP, s.next_tid(), ib.ATTR_MC_MEMBER, rmpp=header)
    send_again(s, 2, 1)
    goes_on(s)
    texts = [a.gid, "segment 1", "3 times since frame %d" % (before + 1)]
    return s, [("rmpp_aborted", before + 4, 1, texts)]


@case
def join_that_is_sent_again_with_its_psn():
    s, a, _, _ = link()
    before = number(s)
    data, mask = s.request(a, s.group4("239.1.2.3"), FULL)
    ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0)
    send_again(s, 2, 1)
    goes_on(s)
    return s, [("sa_unanswered", before + 4, 1, ["join", "3 requests"])]


@case
def join_that_is_answered_when_it_was_sent_again():
    """The answer comes at once after the last: it is not slow."""
    s, a, _, _ = link()
    data, mask = s.request(a, s.group4("239.1.2.3"), FULL)
    ask_only(s, a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=0)
    send_again(s, 1, 2)
    reply = s.record(a, s.group4("239.1.2.3"), FULL)
    s.sa(s.sm, a, ib.GET_RESP, s.tid, ib.ATTR_MC_MEMBER, reply, mask, attr_offset=7)
    goes_on(s)
    return s, []


@case
def whole_exchange_that_is_captured_again_later():
    """Two captures in one file whose clocks differ by half a second: joins, ARP and pings."""
    s, a, b, _ = link()
    before = number(s)
    s.join(a, s.group4("239.1.2.3"))
    s.resolve(a, b)
    s.ping(a, b)
    s.node_info(a)
    s.wait(0.5)
    for _, octets, _ in s.records[before:]:
        s.put(octets)
    goes_on(s)
    return s, []


@case
def arp_request_that_is_sent_again_with_its_psn():
    s, a, b, _ = link()
    s.resolve(b, a)
    before = number(s)
    s.arp_request(a, "10.0.0.77")
    send_again(s, 2, 1)
    goes_on(s)
    return s, [("arp_unanswered", before + 4, 1, ["IP 10.0.0.77", "3 requests"])]


# ---- other management classes


def counters_request(s, a, b, method=ib.GET, tid=None):
    """Get(PortCounters) of performance management (IBA 16.1.3.5), and its answer by GET_RESP."""
    mad = ib.mad_header(4, 1, method, tid or s.next_tid(), 0x0012) + bytes(40) + bytes(192)
    s.put(mad_frame(a, b, mad, s.next_psn(a.lid, 1)))


@case
def counters_without_an_answer():
    """perfquery repeats its request with the same transaction ID after a second."""
    s, a, b, _ = link()
    before, tid = number(s), s.next_tid()
    for _ in range(3):
        counters_request(s, s.sm, b, tid=tid)
        s.wait(1)
        s.join(a, s.group4("239.1.2.3"))
    goes_on(s)
    texts = [b.gid, "of LID 9: performance management (class 0x04), attribute 0x0012: 3 since"]
    return s, [("mad_unanswered", before + 8, 1, texts)]


@case
def counters_that_are_answered_at_the_third_try():
    s, a, b, _ = link()
    tid = s.next_tid()
    for _ in range(3):
        s.wait(1)
        counters_request(s, a, b, tid=tid)
    counters_request(s, b, a, ib.GET_RESP, tid)
    goes_on(s)
    return s, []


# ---- lanes


def widths(s, host, enabled, supported, active):
    """PortInfo with LinkWidthEnabled, LinkWidthSupported and LinkWidthActive (IBA 14.2.5.6)."""
    data = bytearray(s.port_info_of(host.lid, neighbor_mtu=4, mtu_cap=4))
    data[29:32] = bytes((enabled, supported, active))
    s.smp(host.lid, ib.GET, ib.PORT_INFO, b"", 1, bytes(data))


@case
def link_of_one_lane():
    """Enabled and supported are 1X and 4X (bits 0 and 1); 0xff enables all that are supported."""
    s, a, b, _ = link()
    widths(s, a, 3, 3, 1)
    first = number(s)
    widths(s, a, 3, 3, 1)
    widths(s, b, 0xFF, 3, 1)
    return s, [
        ("link_degraded", first, 2, ["route 0,1,1", "port 1", "1X", "4X"]),
        ("link_degraded", number(s), 1, ["route 0,1,2"]),
    ]


@case
def links_that_have_their_widths():
    """4X; 1X, because no more is enabled, or supported; 4X, although 12X is enabled; 2X, of HDR."""
    s, a, _, _ = link()
    for of in ((3, 3, 2), (1, 3, 1), (0xFF, 1, 1), (0xB, 0xB, 2), (0x13, 0x13, 16)):
        widths(s, a, *of)
    return s, []


# ---- checksums


def wrong(datagram, at):
    """The octet at this place, counted from the IP header, is another one."""
    at += 4
    return datagram[:at] + bytes((datagram[at] ^ 0x55,)) + datagram[at + 1 :]


def udp6(a, b, ports, data):
    length = 8 + len(data)
    head = ib.u16(ports[0]) + ib.u16(ports[1]) + ib.u16(length)
    pseudo = ib.ip6(a) + ib.ip6(b) + ib.u32(length) + ib.u32(17)
    check = ib.inet_checksum(pseudo + head + b"\0\0" + data)
    return encap(0x86DD, ib.ipv6(a, b, 17, head + ib.u16(check or 0xFFFF) + data))


@case
def checksums_that_are_wrong():
    """Of the IPv4 header, of UDP with an odd length, of ICMP, of UDP over IPv6."""
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    s.ud(a, b, wrong(ping(a, b), 10))
    s.ud(a, b, wrong(ping(a, b, seq=2), 10))
    s.ud(a, b, wrong(udp4(a, b.ip, b"odd"), 30))
    s.ud(a, b, wrong(ping(a, b, seq=3), 40))
    s.ud(b, a, wrong(udp6(b.ll, a.ll, (5001, 5001), bytes(2000)), 1000))
    return s, [
        ("wrong_checksum", before + 1, 2, [a.gid, "to IP 10.0.0.2", "wrong IPv4 checksum"]),
        ("wrong_checksum", before + 3, 1, [a.gid, "wrong UDP checksum"]),
        ("wrong_checksum", before + 4, 1, [a.gid, "wrong ICMP checksum"]),
        ("wrong_checksum", before + 5, 1, [b.gid, "to IP " + a.ll, "wrong UDP checksum"]),
    ]


@case
def checksums_that_are_right_or_absent():
    """UDP over IPv4 without one, a fragment, padding behind the datagram."""
    s, a, b, _ = link()
    s.meet(a, b)
    without = bytearray(udp4(a, b.ip, b"odd"))
    without[4 + 26 : 4 + 28] = b"\0\0"
    s.ud(a, b, bytes(without))
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, 17, bytes(64), flags=1)))
    s.ud(a, b, udp4(a, b.ip, b"odd") + b"padding.")
    s.ud(b, a, udp6(b.ll, a.ll, (5001, 5001), bytes(1999)))
    s.ud(b, a, without6(udp6(b.ll, a.ll, (5001, 4789), bytes(60))))  # VXLAN (RFC 6935)
    return s, []


def without6(datagram):
    """UDP over IPv6 with the checksum 0."""
    return datagram[: 4 + 46] + b"\0\0" + datagram[4 + 48 :]


@case
def checksums_that_ipv6_needs():
    """UDP over IPv6 without one is dropped (RFC 8200 section 8.1)."""
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    for i in range(3):
        s.ud(b, a, without6(udp6(b.ll, a.ll, (5001, 5001), bytes(i + 1))))
    return s, [("wrong_checksum", before + 1, 3, [b.gid, "wrong UDP checksum", "drops it"])]


@case
def checksums_that_are_all_wrong():
    """No sender has a right one, as after a program that hides addresses; the eighth shows it."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    before = number(s)
    for seq in range(5):
        for one, two in ((a, b), (b, a), (c, a), (a, c)):
            s.ud(one, two, wrong(ping(one, two, seq=seq), 10))
    texts = ["no IPv4 checksum of any sender is right since frame %d" % (before + 1)]
    return s, [("wrong_checksum", before + 8, 13, texts)]


@case
def checksums_that_are_wrong_until_one_is_right():
    """So it is the fault of the senders, of which each has an event again."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    for seq in range(5):
        for one, two in ((a, b), (b, a)):
            s.ud(one, two, wrong(ping(one, two, seq=seq), 10))
    s.ud(c, a, ping(c, a))
    s.ud(a, b, wrong(ping(a, b, seq=9), 10))
    return s, [("wrong_checksum", number(s), 1, [a.gid, "the receiver drops it"])]


@case
def checksums_of_one_sender_that_are_all_wrong():
    s, a, b, _ = link()
    s.arp_request(a, b.ip)
    before = number(s)
    for seq in range(12):
        s.ud(a, b, wrong(ping(a, b, seq=seq), 10))
    return s, [("wrong_checksum", before + 1, 12, [a.gid, "the receiver drops it"])]


@case
def checksums_of_a_sample():
    """After eight right datagrams of UDP, each sixteenth is summed. From a wrong one on, all are
    summed again. ICMP has a sample of its own."""
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    right = udp4(a, b.ip, b"odd")
    for _ in range(8):
        s.ud(a, b, right)
    for _ in range(8 + 1 + 3):
        s.ud(a, b, wrong(right, 30))
    s.ud(a, b, wrong(ping(a, b), 40))
    return s, [
        ("wrong_checksum", before + 17, 4, [a.gid, "wrong UDP checksum"]),
        ("wrong_checksum", before + 21, 1, [a.gid, "wrong ICMP checksum"]),
    ]


@case
def right_checksums_of_a_sample():
    s, a, b, _ = link()
    s.meet(a, b)
    for i in range(40):
        s.ud(a, b, udp4(a, b.ip, bytes(range(i))))
        s.ud(b, a, udp6(b.ll, a.ll, (5001, 5001), bytes(range(i))))
    return s, []


# ---- loops


def through(s, a, b, ttl, ident=77):
    s.ud(a, b, udp4(Host(7), "10.7.7.7", bytes(40), ttl=ttl, ident=ident))


@case
def datagram_that_goes_round():
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    for ttl in range(8, 0, -1):
        through(s, *((b, a) if ttl % 2 else (a, b)), ttl)
    texts = ["of IP 10.0.0.7 to IP 10.7.7.7", "3 times since frame %d" % (before + 1)]
    return s, [("routing_loop", before + 4, 5, texts)]


@case
def datagrams_that_do_not_go_round():
    """A router that sends one back to the link; traceroute, by larger and larger TTLs; the same
    again, with its TTL."""
    s, a, b, c = link()
    for pair in ((a, b), (b, c), (a, c)):
        s.meet(*pair)
    through(s, a, b, 64)
    through(s, b, c, 63)
    for ttl in range(1, 9):
        through(s, a, b, ttl, ident=78)
    for ident in range(79, 87):
        through(s, a, b, 100 - ident, ident=ident)
    for _ in range(5):
        through(s, a, b, 64, ident=99)
    return s, []


# ---- TCP

SYN, RST, ACK = 2, 4, 16


def tcp(s, a, b, ports, flags, seq=1000, ack=0, data=b"", window=64240):
    head = ib.u16(ports[0]) + ib.u16(ports[1]) + ib.u32(seq) + ib.u32(ack)
    head += bytes((0x50, flags)) + ib.u16(window)
    pseudo = ib.ip4(a.ip) + ib.ip4(b.ip) + ib.u16(6) + ib.u16(20 + len(data))
    check = ib.inet_checksum(pseudo + head + bytes(4) + data)
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, 6, head + ib.u16(check) + b"\0\0" + data)))


def again(s, times, *segment, **options):
    """A segment that is sent so often, at 0, 1, 3 and 7 s."""
    for n in range(times):
        tcp(s, *segment, **options)
        s.wait(1 << n)


@case
def connection_of_tcp_without_an_answer():
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    again(s, 5, a, b, (40000, 22), SYN)
    texts = [a.gid, "IP 10.0.0.2, TCP port 22", "(SYN)", "4 times since frame %d" % (before + 1)]
    return s, [("tcp_unanswered", before + 4, 2, texts)]


@case
def connections_of_tcp_with_an_answer():
    """Answered at the third try, refused, and of a capture point that sees one direction."""
    s, a, b, _ = link()
    s.meet(a, b)
    again(s, 3, a, b, (40000, 22), SYN)
    tcp(s, b, a, (22, 40000), SYN | ACK, 5000, 1001)
    for port in range(5):
        tcp(s, a, b, (40001, 23), SYN)
        tcp(s, b, a, (23, 40001), RST | ACK, 0, 1001)
        s.wait(1 + port)
    for _ in range(70):
        goes_on(s, 1)
    again(s, 5, a, b, (40002, 22), SYN)
    return s, []


def connected(s, a, b):
    s.meet(a, b)
    tcp(s, a, b, (40000, 22), SYN)
    tcp(s, b, a, (22, 40000), SYN | ACK, 5000, 1001)
    tcp(s, a, b, (40000, 22), ACK, 1001, 5001, bytes(20))
    tcp(s, b, a, (22, 40000), ACK, 5001, 1021)


@case
def large_segment_that_is_never_acknowledged():
    """A duplicate acknowledgement of the small one before it, and later data, change nothing."""
    s, a, b, _ = link()
    connected(s, a, b)
    before = number(s)
    tcp(s, a, b, (40000, 22), ACK, 1021, 5001, bytes(1960))
    tcp(s, a, b, (40000, 22), ACK, 2981, 5001, bytes(100))
    tcp(s, b, a, (22, 40000), ACK, 5001, 1021)
    again(s, 3, a, b, (40000, 22), ACK, 1021, 5001, bytes(1960))
    return s, [("tcp_unanswered", before + 6, 1, ["segment of 1960 bytes", "port 22"])]


@case
def segments_that_are_acknowledged():
    """At the third try; and bytes that probe a window of 0 for three seconds."""
    s, a, b, _ = link()
    connected(s, a, b)
    again(s, 3, a, b, (40000, 22), ACK, 1021, 5001, bytes(1960))
    tcp(s, b, a, (22, 40000), ACK, 5001, 2981, window=0)
    for _ in range(6):
        tcp(s, a, b, (40000, 22), ACK, 2981, 5001, b"x")
        tcp(s, b, a, (22, 40000), ACK, 5001, 2981, window=0)
        s.wait(0.5)
    return s, []


# ---- DHCPv6

SOLICIT, ADVERTISE6, REQUEST6, REPLY6, RELEASE6, DECLINE6 = 1, 2, 3, 7, 8, 9
NO_ADDRESSES = ib.u16(13) + ib.u16(2) + ib.u16(2)


def dhcp6(s, a, kind, xid=0x123456):
    """From a client to ff02::1:2 (RFC 8415 section 7.1)."""
    message = bytes((kind,)) + ib.u24(xid) + ib.u16(8) + ib.u16(2) + ib.u16(0)
    s.ud(a, s.group6("ff02::1:2"), udp6(a.ll, "ff02::1:2", (546, 547), message))


def reply6(s, server, a, kind, options, xid=0x123456):
    message = bytes((kind,)) + ib.u24(xid) + options
    s.ud(server, a, udp6(server.ll, a.ll, (547, 546), message))


def association(option):
    """IA_NA with an option."""
    return ib.u16(3) + ib.u16(12 + len(option)) + bytes(12) + option


def clients6():
    s, a, b, _ = link()
    s.join(a, s.group6("ff02::1:2"))
    s.resolve6(b, a)
    return s, a, b


@case
def dhcp6_without_an_answer():
    s, a, _ = clients6()
    before = number(s)
    for _ in range(3):
        dhcp6(s, a, SOLICIT)
        s.wait(1)
    goes_on(s)
    return s, [("dhcp_unanswered", before + 4, 1, [a.gid, "3 requests", "DHCPv6 Solicit"])]


@case
def dhcp6_that_is_answered():
    """At the third try; a Release of an address that the server does not know."""
    s, a, b = clients6()
    for _ in range(3):
        dhcp6(s, a, SOLICIT)
        s.wait(1)
    reply6(s, b, a, ADVERTISE6, association(b""))
    dhcp6(s, a, RELEASE6, 7)
    reply6(s, b, a, REPLY6, association(ib.u16(13) + ib.u16(2) + ib.u16(3)), 7)
    goes_on(s)
    return s, []


@case
def dhcp6_that_is_refused():
    """NoAddrsAvail (2) in the message, and in the IA; then a Decline."""
    s, a, b = clients6()
    for options in (NO_ADDRESSES, association(NO_ADDRESSES)):
        dhcp6(s, a, SOLICIT)
        reply6(s, b, a, ADVERTISE6, options)
    refused = ("dhcp_refused", number(s) - 2, 2, [a.gid, "status 2, NoAddrsAvail"])
    dhcp6(s, a, DECLINE6, 9)
    return s, [refused, ("dhcp_refused", number(s), 1, [a.gid, "declines"])]


# ---- what a third look at captures found


@case
def attributes_that_a_port_refuses():
    """GUIDInfo, SLtoVLMappingTable and VLArbitrationTable (IBA 14.2.5), by status 0x001c."""
    s, a, _, _ = link()
    found = []
    for attribute, name in ((0x14, "GUIDInfo"), (0x17, "SLtoVL"), (0x18, "VLArbitrationTable")):
        refuse(s, a, attribute)
        found.append(("smp_refused", number(s), 1, [name, "0x001c"]))
    return s, found


def counters(s, host, octets):
    """PortCounters of port 1 (IBA 16.1.3.5)."""
    data = bytearray(192)
    data[1] = 1
    for at, octet in octets.items():
        data[at] = octet
    mad = ib.mad_header(4, 1, ib.GET_RESP, s.next_tid(), 0x0012) + bytes(40) + bytes(data)
    s.put(mad_frame(host, s.sm, mad, s.next_psn(host.lid, 1)))


@case
def counters_of_less_than_a_byte():
    """Byte 19 has two of them; the relay errors of bytes 12 and 13 are everyday ones."""
    s, a, b, c = link()
    counters(s, a, {19: 0xF3, 22: 1, 23: 44})
    text = "LocalLinkIntegrityErrors 15, ExcessiveBufferOverrunErrors 3, VL15Dropped 300"
    first = ("port_errors", number(s), 1, [text])
    counters(s, b, {19: 0x05})
    second = ("port_errors", number(s), 1, ["errors: ExcessiveBufferOverrunErrors 5"])
    counters(s, c, {13: 9})
    return s, [first, second]


def answered_join(s, a, group, state, **changed):
    data, mask = s.request(a, s.group4(group), FULL)
    reply = s.record(a, s.group4(group), state, **changed)
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, reply, offset=7)


@case
def join_that_is_granted_otherwise():
    """Send-only (4) instead of full (1); MTU 1024 (code 3) instead of exactly 2048."""
    s, a, _, _ = link()
    answered_join(s, a, "239.1.2.3", 4)
    first = ("sa_wrong_answer", number(s), 1, ["JoinState 1 by JoinState 4"])
    answered_join(s, a, "239.1.2.4", FULL, mtu=3)
    texts = ["exactly 2048 bytes, by one of 1024 bytes"]
    return s, [first, ("sa_wrong_answer", number(s), 1, texts)]


@case
def join_that_is_granted_with_more():
    """The state has the bit of an earlier send-only join too."""
    s, a, _, _ = link()
    answered_join(s, a, "239.1.2.3", 5)
    return s, []


@case
def path_with_a_lid_of_no_port():
    s, a, b, c = link()
    found = []
    for to, lid in ((b, 0), (c, 0xC003)):
        s.path(a, to, dlid=lid)
        found.append(("sa_wrong_answer", number(s), 1, [to.gid, "LID 0x%04x" % lid]))
    return s, found


@case
def udp_that_is_longer_than_its_datagram():
    s, a, b, _ = link()
    s.meet(a, b)
    for length in (48, 200, 201):
        datagram = bytearray(udp4(a, b.ip, bytes(40)))
        datagram[4 + 24 : 4 + 28] = ib.u16(length) + b"\0\0"
        s.ud(a, b, bytes(datagram))
    texts = [a.gid, "to IP 10.0.0.2", "length 200", "48 bytes"]
    return s, [("invalid_header", number(s) - 1, 2, texts)]


@case
def tcp_whose_set_up_lacks_its_last_step():
    s, a, b, _ = link()
    s.meet(a, b)
    tcp(s, a, b, (40000, 22), SYN)
    before = number(s)
    again(s, 4, b, a, (22, 40000), SYN | ACK, 5000, 1001)
    return s, [("tcp_unanswered", before + 4, 1, [b.gid, "answer to a request to connect"])]


@case
def counters_that_are_refused():
    """Status 0x000c: the attribute is not supported (IBA 13.4.7)."""
    s, a, b, _ = link()
    for n in range(2):
        counters_request(s, a, b)
        mad = ib.mad_header(4, 1, ib.GET_RESP, s.tid, 0x0012, status=0x000C) + bytes(232)
        s.put(mad_frame(b, a, mad, s.next_psn(b.lid, 1)))
    texts = [b.gid, "of LID 1", "0x000c", "performance management", "attribute 0x0012"]
    return s, [("mad_refused", number(s) - 2, 2, texts)]


def too_big(s, a, b, errors, seconds):
    """b forwards for a, and says that the datagrams are too big, by ICMP or ICMPv6."""
    for n in range(errors):
        if b.flags:
            icmp6_error(s, b, a, 2, 0, ib.ipv6("2001:db8::1", "2001:db8::9", 59, bytes(1900)))
        else:
            icmp_error(s, b, a, 3, 4, ib.ipv4(a.ip, "10.9.9.9", 17, bytes(1900), ident=n))
        s.wait(seconds)


@case
def datagrams_that_do_not_get_smaller():
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    too_big(s, a, b, 4, 1)
    too_big(s, a, b.also(flags=0x80), 3, 1.5)
    return s, [
        ("mtu_mismatch", before + 3, 2, [b.gid, "IP 10.9.9.9 needs smaller datagrams (ICMP,"]),
        ("mtu_mismatch", before + 7, 1, ["IP 2001:db8::9 needs smaller datagrams (ICMPv6,"]),
    ]


@case
def datagrams_that_get_smaller():
    """Ten errors at once, when a sender learns the MTU, and again after ten minutes."""
    s, a, b, _ = link()
    s.meet(a, b)
    for _ in range(2):
        too_big(s, a, b, 10, 0)
        s.wait(600)
    return s, []


@case
def link_that_is_too_small_for_ipv6():
    """MTU code 3: 1024 bytes, of which the encapsulation header has four. The advertisement has no GRH,
    so its sender's mode is not known."""
    s, a, b, _ = link(subnet=lambda: Subnet(mtu=3))
    s.resolve(a, b)
    s.resolve6(a, b)
    first = next(n for n, r in enumerate(s.records, 1) if b"\x86\xdd" in r[1][60:80])
    return s, [("mtu_mismatch", first, 1, [a.gid, "IPv6", "1020 bytes"])]


def marked(s, a, b, bit, payload):
    """A switch has set a bit of the BTH's Resv8a, which the ICRC does not have."""
    s.ud(a, b, payload)
    time, octets, size = s.records[-1]
    bth = 48 if octets[1] & 3 == 3 else 8
    octets = octets[: bth + 4] + bytes((octets[bth + 4] | bit,)) + octets[bth + 5 : -2]
    s.records[-1] = time, octets + ib.crc16_100b(octets).to_bytes(2, "little"), size


@case
def packets_that_met_congestion():
    """FECN (0x80) on the way, and BECN (0x40) back; the other bits of the byte are reserved."""
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    for _ in range(3):
        marked(s, a, b, 0x80, udp4(a, b.ip, b"x"))
        marked(s, b, a, 0x40, udp4(b, a.ip, b"x"))
        marked(s, b, a, 0x3F, udp4(b, a.ip, b"x"))
    return s, [
        ("congestion", before + 1, 3, [a.gid, "to LID 2", "FECN"]),
        ("congestion", before + 2, 3, [b.gid, "to LID 1", "BECN"]),
    ]


@case
def members_of_a_group_with_two_qkeys():
    """The second member does not name a Q_Key in its request."""
    s, a, b, _ = link()
    group = s.group4("239.1.2.3")
    s.join(a, group)
    before = number(s)
    data, mask = s.request(b, group, FULL)
    for qkey in (0x777, QKEY):
        reply = s.record(b, group, FULL, qkey=qkey)
        s.ask(b, ib.SET, ib.ATTR_MC_MEMBER, data, mask & ~ib.MCM["qkey"], reply, offset=7)
    texts = [b.gid, group, "0x00000777", "LID 1 it gave 0x80000b1b"]
    return s, [("sa_wrong_answer", before + 2, 1, texts)]


@case
def path_without_an_mtu():
    s, a, b, _ = link()
    s.path(a, b, mtu=0)
    return s, [("sa_wrong_answer", number(s), 1, [b.gid, "MTU code 0"])]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in which hosts exchange UDP datagrams without any fault, of which the analysis looks at
few things only (lib/analysis/ordinary.c), and then one with a fault: each that ordinary.c must leave
to the other watchers. A case returns its tape and the events that it must raise."""
from frames import ib
from frames.events import goes_on, link, number
from frames.events_again import REQUEST6, through, udp6, wrong
from frames.events_ip import longer, longer6
from frames.messages import ping, udp4
from frames.subnet import Host

CASES = []
# The first 8 datagrams of a sender and a protocol are summed, and then one of 16: not the next three.
ORDINARY = 12


def case(build):
    CASES.append(build)
    return build


def after_ordinary():
    s, a, b, _ = link()
    s.meet(a, b)
    s.resolve6(a, b)
    for n in range(ORDINARY):
        s.ud(a, b, udp4(a, b.ip, bytes(40 + n), ident=n))
        s.ud(b, a, udp6(b.ll, a.ll, (5001, 5001), bytes(40 + n)))
    return s, a, b


def with_length(datagram, length):
    """UDP in IPv4 with another length in its header, and without a checksum."""
    return datagram[:28] + ib.u16(length) + b"\0\0" + datagram[32:]


@case
def ordinary_datagrams_of_all_sizes():
    """Also without a checksum, without data, with padding after the datagram, and an old one again."""
    s, a, b = after_ordinary()
    for size in range(60):
        s.ud(a, b, udp4(a, b.ip, bytes(size), ident=size))
        s.ud(b, a, udp6(b.ll, a.ll, (5001, 5001), bytes(size)))
    s.ud(a, b, with_length(udp4(a, b.ip, bytes(40)), 48))
    s.ud(a, b, udp4(a, b.ip, bytes(40)) + bytes(20))
    s.ud(a, b, udp4(a, b.ip, bytes(40), ident=0))
    return s, []


@case
def wrong_checksum_of_a_header_after_ordinary_datagrams():
    s, a, b = after_ordinary()
    s.ud(a, b, wrong(udp4(a, b.ip, bytes(40)), 10))
    return s, [("wrong_checksum", number(s), 1, [a.gid, "wrong IPv4 checksum"])]


@case
def wrong_checksum_in_the_sample_after_ordinary_datagrams():
    """The next four are not in the sample."""
    s, a, b = after_ordinary()
    first = number(s)
    for _ in range(5):
        s.ud(a, b, wrong(udp4(a, b.ip, bytes(40)), 40))
    for _ in range(5):
        s.ud(b, a, wrong(udp6(b.ll, a.ll, (5001, 5001), bytes(40)), 60))
    return s, [
        ("wrong_checksum", first + 5, 1, [a.gid, "wrong UDP checksum"]),
        ("wrong_checksum", first + 10, 1, [b.gid, "wrong UDP checksum"]),
    ]


@case
def wrong_lengths_after_ordinary_datagrams():
    s, a, b = after_ordinary()
    first = number(s)
    s.ud(a, b, longer(udp4(a, b.ip, bytes(40))))
    s.ud(b, a, longer6(udp6(b.ll, a.ll, (5001, 5001), bytes(40))))
    s.ud(a, b, with_length(udp4(a, b.ip, bytes(40)), 49))
    return s, [
        ("invalid_header", first + 1, 1, [a.gid, "88 bytes of IP"]),
        ("invalid_header", first + 2, 1, [b.gid, "108 bytes of IP"]),
        ("invalid_header", first + 3, 1, [a.gid, "length 49 in the UDP header"]),
    ]


@case
def addresses_of_many_after_ordinary_datagrams():
    s, a, b = after_ordinary()
    first = number(s)
    s.ud(a, b, udp4(a.also(ip="239.1.2.3"), b.ip, bytes(40)))
    s.ud(a, b, udp4(a, "239.1.2.3", bytes(40)))
    s.ud(b, a, udp6("ff02::7", a.ll, (5001, 5001), bytes(40)))
    return s, [
        ("invalid_header", first + 1, 1, [a.gid, "source IP 239.1.2.3"]),
        ("invalid_header", first + 2, 1, [a.gid, "destination IP 239.1.2.3"]),
        ("invalid_header", first + 3, 1, [b.gid, "source IP ff02::7"]),
    ]


@case
def loop_after_ordinary_datagrams():
    s, a, b = after_ordinary()
    before = number(s)
    for ttl in range(8, 0, -1):
        through(s, *((b, a) if ttl % 2 else (a, b)), ttl)
    texts = ["10.7.7.7", "since frame %d" % (before + 1)]
    return s, [("routing_loop", before + 4, 5, texts)]


def round6(s, a, b, to, hop):
    datagram = bytearray(udp6("2001:db8::7", to, (5001, 5001), bytes(40)))
    datagram[11] = hop
    s.ud(*((b, a) if hop % 2 else (a, b)), bytes(datagram))


@case
def loop_of_ipv6_after_ordinary_datagrams():
    """No router forwards a datagram to a link-local address: whatever has smaller hop limits there is
    none that goes round."""
    s, a, b = after_ordinary()
    for hop in range(8, 0, -1):
        round6(s, a, b, b.ll, hop)
    before = number(s)
    for hop in range(8, 0, -1):
        round6(s, a, b, "2001:db8:9::1", hop)
    texts = ["2001:db8:9::1", "since frame %d" % (before + 1)]
    return s, [("routing_loop", before + 4, 5, texts)]


@case
def dhcp6_to_one_server_after_ordinary_datagrams():
    s, a, b = after_ordinary()
    message = bytes((REQUEST6,)) + ib.u24(0x123456) + ib.u16(8) + ib.u16(2) + ib.u16(0)
    before = number(s)
    for _ in range(3):
        s.ud(b, a, udp6(b.ll, a.ll, (546, 547), message))
        s.wait(1)
    s.ud(a, b, ping(a, b))
    goes_on(s)
    return s, [("dhcp_unanswered", before + 5, 1, [b.gid, "3 requests", "DHCPv6 Request"])]


@case
def two_senders_with_one_place_in_the_table():
    """The table of the sample has 1,024 places, by the LID: each of these two replaces the other, so
    all their datagrams are summed."""
    s, a, b, _ = link()
    other = Host(50, lid=a.lid + 1024)
    s.up(other)
    s.meet(a, b)
    s.meet(other, b)
    for n in range(ORDINARY):
        s.ud(a, b, udp4(a, b.ip, bytes(40 + n), ident=n))
        s.ud(other, b, udp4(other, b.ip, bytes(40 + n), ident=n))
    s.ud(a, b, wrong(udp4(a, b.ip, bytes(40)), 40))
    first = number(s)
    s.ud(other, b, wrong(udp4(other, b.ip, bytes(40)), 40))
    return s, [
        ("wrong_checksum", first, 1, [a.gid, "wrong UDP checksum"]),
        ("wrong_checksum", first + 1, 1, [other.gid, "wrong UDP checksum"]),
    ]

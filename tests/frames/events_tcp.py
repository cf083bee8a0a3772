# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with receivers of TCP that have no room, and harmless look-alikes. A case returns its tape
and the events that it must raise: (event, frame, count, texts that it has). NUMBER is the number of the
last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import copy_last, link, number
from frames.ib import encap

CASES = []
FIN, SYN, RST, ACK = 1, 2, 4, 16
READER, WRITER = 1191, 51002


def case(build):
    CASES.append(build)
    return build


def segment(one, two, ports, flags, seq, ack, data=b"", window=0, v6=False):
    """RFC 9293 section 3.1."""
    head = ib.u16(ports[0]) + ib.u16(ports[1]) + ib.u32(seq) + ib.u32(ack)
    head += bytes((0x50, flags)) + ib.u16(window)
    if v6:
        pseudo = ib.ip6(one.ll) + ib.ip6(two.ll) + ib.u32(20 + len(data)) + ib.u32(6)
    else:
        pseudo = ib.ip4(one.ip) + ib.ip4(two.ip) + ib.u16(6) + ib.u16(20 + len(data))
    check = ib.inet_checksum(pseudo + head + bytes(4) + data)
    body = head + ib.u16(check) + b"\0\0" + data
    if v6:
        return encap(0x86DD, ib.ipv6(one.ll, two.ll, 6, body, hop=64))
    return encap(0x0800, ib.ipv4(one.ip, two.ip, 6, body))


class Transfer:
    """a writes, b reads. b has acknowledged all before 'next'."""

    def __init__(self, s, a, b, v6=False, connection=None, taps=1):
        self.s, self.a, self.b, self.v6, self.taps = s, a, b, v6, taps
        self.connection, self.next = connection, 70000

    def send(self, up, *args, **options):
        one, two = (self.a, self.b) if up else (self.b, self.a)
        ports = (WRITER, READER) if up else (READER, WRITER)
        message = segment(one, two, ports, *args, v6=self.v6, **options)
        if self.connection:
            self.connection.send(up, message)
        else:
            self.s.ud(one, two, message)
        for _ in range(1, self.taps):
            copy_last(self.s)

    def data(self, length=1000):
        self.send(True, ACK, self.next, 1, bytes(length), window=500)
        self.next += length

    def acknowledge(self, window=0, flags=ACK, data=b"", seq=1):
        self.send(False, flags, seq, self.next, data, window=window)

    def probe(self, byte=False):
        """Linux sends the byte before again, without it; others send the next byte."""
        seq = self.next if byte else self.next - 1
        self.send(True, ACK, seq, 1, b"x" if byte else b"", window=500)

    def stall(self, probes, byte=False, seconds=0.2):
        """The window 0, and probes with twice the pause each time."""
        self.data()
        self.acknowledge()
        for n in range(probes):
            self.s.wait(seconds * 2**n)
            self.probe(byte)
            self.acknowledge()


def texts(host, since, probes=5):
    return [
        host.gid,
        "TCP port %d has had no room (window 0)" % READER,
        "TCP port %d, since frame %d, for 6 s" % (WRITER, since),
        "answers %d window probes" % probes,
    ]


def transfer(**options):
    s, a, b, _ = link()
    s.meet(a, b)
    if options.get("v6"):
        s.resolve6(a, b)
    return s, b, Transfer(s, a, b, **options), number(s)


@case
def receiver_without_room():
    """Probes at 0.2, 0.6, 1.4, 3, 6.2 and 12.6 s: the fifth is the first after 5 s."""
    s, b, t, before = transfer()
    t.stall(6)
    return s, [("tcp_zero_window", before + 12, 2, texts(b, before + 2))]


@case
def receiver_of_ipv6_without_room():
    s, b, t, before = transfer(v6=True)
    t.stall(5, byte=True)
    return s, [("tcp_zero_window", before + 12, 1, texts(b, before + 2))]


@case
def receiver_without_room_on_a_connection():
    s, a, b, _ = link()
    s.meet(a, b)
    connection = Link(s, a, b).open()
    before = number(s)
    Transfer(s, a, b, connection=connection).stall(5)
    return s, [("tcp_zero_window", before + 12, 1, texts(b, before + 2))]


@case
def receiver_without_room_that_a_tap_has_twice():
    s, b, t, before = transfer(taps=2)
    t.stall(5)
    return s, [("tcp_zero_window", before + 23, 1, texts(b, before + 3))]


@case
def receiver_without_room_since_before_the_capture():
    """Only probes and their answers. The receiver takes the byte of a probe, and has no more room."""
    s, b, t, before = transfer()
    for n in range(6):
        t.probe(byte=True)
        t.next += n == 2
        t.acknowledge()
        s.wait(0.2 * 2**n)
    return s, [("tcp_zero_window", before + 12, 1, texts(b, before + 2))]


@case
def receiver_that_sends_without_room():
    """Its own data have the window 0 too, and prove nothing."""
    s, b, t, before = transfer()
    t.data()
    for n in range(8):
        t.acknowledge(data=b"answer", seq=1 + 6 * n)
        t.send(True, ACK, t.next, 7 + 6 * n, window=500)
        s.wait(2)
    return s, []


@case
def receivers_with_room():
    """Opened after 3 s, and closed again, with another byte or the same; the update was not captured, but
    what came after it; and segments that end a connection."""
    s, _, t, _ = transfer()
    for _ in range(2):
        t.stall(4)
        s.wait(2.8)
        t.acknowledge(window=600)
    t.stall(4)
    s.wait(2.8)
    t.acknowledge(window=1)
    for _ in range(3):
        t.acknowledge()
        s.wait(2)
    for _ in range(8):
        s.wait(2)
        t.data()
        t.acknowledge()
    for flags in (RST, RST | ACK, FIN | ACK, SYN | ACK):
        for _ in range(3):
            s.wait(2)
            t.acknowledge(flags=flags)
    return s, []

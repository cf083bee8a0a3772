#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for measurements: mixes.py MIX FRAMES FILE [HOSTS], MIX one of datagrams, connected,
management.

Real frames of testdata between many hosts (template.py): the SM finds each host, which joins its
groups; then pairs of hosts exchange packets, eight pairs at a time, with their frames interleaved.
PSNs, transaction IDs, communication IDs, QPNs of connections, groups and IPv4 identifications never
repeat; checksums and CRCs are right. Records are ERF in a pcap file, which any Wireshark opens
without the plugin. The same arguments give the same file.

datagrams   ARP, UDP over IPv4 and IPv6 (64 to 1264 bytes of data), IPv4 fragments of 8,000 bytes,
            ping
connected   RC in both directions: CM set-up and end, UDP in one packet, messages of 5,000 and
            40,000 bytes, acknowledgements
management  a sweep of SMPs, joins and leaves with reports, PathRecords, CM set-up and end, ARP, ND

Standard output: the number of bytes in messages of several packets."""
import collections
import random
import struct
import sys
import os

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import ib, template  # noqa: E402
from frames.template import Template, packet  # noqa: E402
from support import capfile  # noqa: E402

HOSTS, ACTIVE = 64, 8  # hosts, and pairs of them that exchange packets at the same time
HOSTS_MAX = 240  # each has a port of the switch and a solicited-node group of its own
STEP = 10_000  # nanoseconds from frame to frame
START = 1_700_000_000 * 10**9
FIRST_LID, FIRST_SOLICITED, FIRST_GROUP, LAST_GROUP = 16, 0xC100, 0xC400, 0xF000
RC_FLAG = 0x80  # of a link-layer address (RFC 4755 §3.1)
IPV4_GROUPS = ib.gid("ff12:401b:ffff::")[:12]
UDP_PORT = 5001
SIZES = range(64, 1265, 80)

B2B, CM_B2B, SWITCH = "datagram.pcap", "connected.pcap", "port-reset-cm.pcap"


class Host:
    """A port's addresses, and the number of packets that each of its queue pairs has sent."""

    def __init__(self, number):
        guid = struct.pack(">Q", 0x0011750000010000 + number)
        self.values = {
            "lid": ib.u16(FIRST_LID + number),
            "guid": guid,
            "interface": b"\x02" + guid[1:],
            "solicited": guid[5:],
            "ip": bytes((10, 0, 1 + number // 200, 1 + number % 200)),
            "qpn": ib.u24(0x40 + number),
            "port": ib.u8(2 + number),
            "group": ib.u16(FIRST_SOLICITED + number),  # MLID of its solicited-node group
        }
        mgid = ib.gid("ff12:601b:ffff::1:ff00:0")[:13] + guid[5:]
        self.solicited = {"mgid": mgid, "mlid": self.values["group"]}
        self.sent = collections.Counter()
        self.qpns = 0x1000

    def number(self, queue):
        """The PSN of the next packet from a queue pair."""
        self.sent[queue] += 1
        return ib.u24(self.sent[queue] & 0xFFFFFF)

    def new_qpn(self):
        self.qpns += 2
        return ib.u24(self.qpns)


def udp_header(size):
    """The template fills in the checksum; longer datagrams over IPv4 have none (RFC 768)."""
    return struct.pack(">HHHH", 40000, UDP_PORT, 8 + size, 0)


def udp4(echo, size):
    """An echo request of testdata as UDP with this number of bytes of data."""
    echo.payload[24:] = udp_header(size) + ib.fill(size)
    echo["ipv4.length"] = len(echo.payload) - 4
    return as_udp(echo)


def udp6(echo, size):
    echo.payload[44:] = udp_header(size) + ib.fill(size)
    echo["ipv6.length"], echo["ipv6.next"] = 8 + size, template.UDP
    return echo


def as_udp(echo):
    """The packet, or a part of it that starts with an IPv4 header, with UDP as its protocol; both
    headers have 8 bytes."""
    echo.payload[13] = template.UDP
    return echo


def start_of_udp(echo, size):
    """The first part of an echo request as that of a UDP datagram."""
    echo.payload[24:32] = udp_header(size)
    return as_udp(echo)


def join(request, response, capture=SWITCH):
    """A Set or Delete of a MCMemberRecord and its response, for any group (IBA 15.2.5.17)."""
    mgid, mlid = (56, 16, "mgid"), (92, 2, "mlid")
    asked = packet(capture, request)
    return (
        Template(asked, [mgid, mlid] if asked["mcm.mlid"] else [mgid]),
        Template(packet(capture, response), [mgid, mlid]),
    )


def pair_of(request, response, capture=SWITCH):
    return Template(packet(capture, request)), Template(packet(capture, response))


class Fabric:
    """The hosts, the SM, and the counters for identifiers that never repeat."""

    def __init__(self, hosts):
        self.hosts = [Host(n) for n in range(hosts)]
        self.sm = Host(0)  # its LID is in the templates
        self.random = random.Random(1)
        self.counters = collections.Counter()
        self.long_bytes = 0

    def fresh(self, name, size, first=1):
        self.counters[name] += 1
        return (first + self.counters[name]).to_bytes(size, "big")

    def frame(self, template_, a, b, **values):
        values.setdefault("ident", ib.u16(self.random.getrandbits(16)))
        values.setdefault("tid", self.fresh("tid", 4))
        return template_.fill(a, b, self.sm, values)

    def exchange(self, pair, a, b, **values):
        """A request and its response: one transaction ID."""
        tid = self.fresh("tid", 4)
        for template_ in pair:
            yield self.frame(template_, a, b, tid=tid, **values)

    def group(self):
        """MGID and MLID of a new IPv4 group, and the group (RFC 4391 §4)."""
        n = self.counters["group"] = self.counters["group"] + 1
        low = 0x0F000000 + (n & 0xFFFFFF) + 0x100
        mlid = FIRST_GROUP + n % (LAST_GROUP - FIRST_GROUP)
        return {
            "mgid": IPV4_GROUPS + ib.u32(low),
            "mlid": ib.u16(mlid),
            "group": ib.u32(0xE0000000 | low),
        }


class Management:
    """The messages of the SM, the SA and the CM; ARP and ND."""

    def __init__(self, rc):
        flags = RC_FLAG if rc else 0
        self.setup = [  # NodeInfo, NodeDescription, PortInfo, P_KeyTable; Set(PortInfo) with the LID, Armed, Active
            pair_of(17, 20),
            pair_of(21, 23),
            pair_of(22, 24),
            pair_of(25, 26),
            pair_of(34, 36),
            pair_of(47, 50),
            pair_of(55, 56),
        ]
        self.sweep = [pair_of(147, 150), pair_of(151, 152), pair_of(153, 154)]
        self.class_port_info = pair_of(57, 58)
        self.first_joins = [pair_of(65, 66), pair_of(69, 72), pair_of(70, 75)]
        self.join_solicited = join(71, 76)
        self.further_joins = [pair_of(79, 80), pair_of(87, 88), pair_of(97, 100)]
        self.join = join(93, 94)
        self.leave = join(95, 97, B2B)
        self.join_to_send = join(79, 80)
        self.leave_to_send = join(113, 121, CM_B2B)
        group = [(40, 4, "group")]
        self.igmp_joined = Template(packet(SWITCH, 101), group)
        self.igmp_left = Template(packet(B2B, 96), group)
        self.path = pair_of(105, 106)
        self.arp = [Template(packet(SWITCH, n), lladdr_flags=flags) for n in (104, 107)]
        self.nd = [Template(packet(B2B, n), lladdr_flags=flags) for n in (59, 60)]
        self.connect = [Template(packet(SWITCH, n)) for n in (108, 109, 111)]
        self.disconnect = [Template(packet(CM_B2B, n)) for n in (108, 109)]


def host_appears(f, m, host):
    """The SM finds the port, the interface joins its groups, solicited-node group included."""
    for pair in m.setup:
        yield from f.exchange(pair, f.sm, host)
    yield from f.exchange(m.class_port_info, f.sm, host)
    for pair in m.first_joins:
        yield from f.exchange(pair, f.sm, host)
    yield from f.exchange(m.join_solicited, f.sm, host, **host.solicited)
    for pair in m.further_joins:
        yield from f.exchange(pair, f.sm, host)


def resolve(f, m, a, b):
    """ARP: a sends a broadcast request, b replies."""
    for template_ in m.arp:
        yield f.frame(template_, a, b)


class Connection:
    """From a to b: RC packets go one way, acknowledgements the other."""

    def __init__(self, f, a, b):
        self.f, self.a, self.b = f, a, b
        self.next, self.messages = f.random.getrandbits(24), 0
        self.values = {
            "a_id": f.fresh("id", 4, 0x10000000),
            "b_id": f.fresh("id", 4, 0x20000000),
            "a_qpn": a.new_qpn(),
            "b_qpn": b.new_qpn(),
        }

    def open(self, m):
        tid = self.f.fresh("tid", 4)
        for template_ in m.connect:
            yield self.f.frame(
                template_, self.a, self.b, tid=tid, start=ib.u24(self.next), **self.values
            )

    def close(self, m):
        yield from self.f.exchange(m.disconnect, self.a, self.b, **self.values)

    def send(self, message, acknowledgement):
        """The packets of a message, and its acknowledgement, which has the Last's PSN (IBA
        9.7.5)."""
        ident, psn = ib.u16(self.f.random.getrandbits(16)), None
        for template_ in message:
            psn = ib.u24(self.next)
            self.next = (self.next + 1) & 0xFFFFFF
            yield self.f.frame(
                template_, self.a, self.b, psn=psn, dqp=self.values["b_qpn"], ident=ident
            )
        self.messages += 1
        yield self.f.frame(
            acknowledgement,
            self.a,
            self.b,
            psn=psn,
            dqp=self.values["a_qpn"],
            msn=ib.u24(self.messages),
        )


def talk_datagrams(f, m):
    """One pair's packets: both directions of UDP, IPv4 and IPv6 in turn; fragments and ping now and
    then."""
    ipv4 = [Template(udp4(packet(B2B, 45), n)) for n in SIZES]
    ipv6 = [Template(udp6(packet(B2B, 61), n)) for n in SIZES]
    fragments = [Template(start_of_udp(packet(B2B, 51), 8000))]
    fragments += [Template(as_udp(packet(B2B, n))) for n in (52, 53, 54)]
    ping = [Template(packet(B2B, n)) for n in (45, 46, 61, 62)]

    def talk(a, b):
        yield from resolve(f, m, a, b)
        for n in range(40):
            one, other = (a, b) if n % 2 else (b, a)
            yield f.frame(f.random.choice(ipv6 if n % 4 > 1 else ipv4), one, other)
        ident = ib.u16(f.random.getrandbits(16))
        for template_ in fragments:
            yield f.frame(template_, a, b, ident=ident)
        for template_ in ping:
            yield f.frame(template_, a, b)

    return talk


def long_message(parts, size):
    """First, Middles and Last of testdata as one UDP datagram; the data's size is the echo's."""
    first = start_of_udp(packet(*parts[0]), size)
    return [Template(first)] + [Template(packet(*part)) for part in parts[1:]]


def talk_connected(f, m):
    """One pair's packets: set-up in both directions, then messages of one packet and of several; at
    the end DREQ, DREP."""
    single = [Template(udp4(packet(CM_B2B, 47), n)) for n in SIZES]
    messages = [
        (long_message([(CM_B2B, n) for n in range(63, 73)], 40000), 40000),
        (long_message([("mixed.pcap", n) for n in (52, 53)], 5000), 5000),
    ]
    acknowledgement = Template(packet(CM_B2B, 49))

    def exchange(one, n):
        if n % 8 == 3 or n % 4 == 2:
            message, size = messages[0] if n % 8 == 3 else messages[1]
            f.long_bytes += size + 28 + 4  # UDP and IPv4 headers, encapsulation header
            return one.send(message, acknowledgement)
        return one.send([f.random.choice(single)], acknowledgement)

    def talk(a, b):
        yield from resolve(f, m, a, b)
        both = [Connection(f, a, b), Connection(f, b, a)]
        for one in both:
            yield from one.open(m)
        for n in range(96):
            yield from exchange(both[n // 8 % 2], n)
        for one in both:
            yield from one.close(m)

    return talk


def talk_management(f, m):
    """One pair's packets: b is swept, a and b find each other and connect; groups are created and
    deleted."""

    def talk(a, b):
        for pair in m.sweep:
            yield from f.exchange(pair, f.sm, b)
        yield from f.exchange(m.class_port_info, f.sm, b)
        group = f.group()
        yield from f.exchange(m.join, f.sm, b, **group)
        yield f.frame(m.igmp_joined, f.sm, b, **group)
        yield from f.exchange(m.join_to_send, f.sm, a, **b.solicited)
        yield from resolve(f, m, a, b)
        for one, other in ((a, b), (b, a)):
            yield from f.exchange(m.path, one, other)
        for template_ in m.nd:
            yield f.frame(template_, a, b)
        connection = Connection(f, a, b)
        yield from connection.open(m)
        yield from connection.close(m)
        yield f.frame(m.igmp_left, f.sm, b, **group)
        yield from f.exchange(m.leave, f.sm, b, **group)
        yield from f.exchange(m.leave_to_send, f.sm, a, **b.solicited)

    return talk


MIXES = {
    "datagrams": (talk_datagrams, False),
    "connected": (talk_connected, True),
    "management": (talk_management, True),
}


def frames_of(mix, hosts=HOSTS):
    """(fabric, its endless frames)"""
    make, rc = MIXES[mix]
    f, m = Fabric(hosts), Management(rc)

    def frames():
        for host in f.hosts:
            yield from host_appears(f, m, host)
        talk, n = make(f, m), 0
        active = []
        while True:
            while len(active) < ACTIVE:  # all even hosts with all odd ones
                a, b = 2 * n % hosts, (2 * n + 1 + 2 * (2 * n // hosts)) % hosts
                active.append(talk(f.hosts[a], f.hosts[b]))
                n += 1
            for one in list(active):
                frame = next(one, None)
                if frame is None:
                    active.remove(one)
                else:
                    yield frame

    return f, frames()


def write(mix, count, path, hosts=HOSTS):
    """Returns the number of bytes in messages of several packets."""
    fabric, frames = frames_of(mix, hosts)
    head = struct.Struct("<IIII").pack
    with open(path, "wb") as out:
        out.write(capfile.pcap(capfile.ERF, [], nanoseconds=True))
        for n in range(count):
            frame, time = next(frames), START + n * STEP
            record = capfile.erf_record(time, frame, len(frame))
            out.write(head(time // 10**9, time % 10**9, len(record), len(record)))
            out.write(record)
    return fabric.long_bytes


def main():
    mix, count, path = sys.argv[1:4]
    hosts = int(sys.argv[4]) if len(sys.argv) > 4 else HOSTS
    if hosts % 2 or not 2 * ACTIVE <= hosts <= HOSTS_MAX:
        sys.exit("mixes.py: HOSTS is even, from %d to %d" % (2 * ACTIVE, HOSTS_MAX))
    print(write(mix, int(count), path, hosts))


if __name__ == "__main__":
    main()

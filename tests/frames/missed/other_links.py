# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of other links in the same file do not change what ipoib-check reports about a subnet.

The window in which frames may have been captured in another order (lib/model/order.h) counts only
frames of the same subnet. A capture that began late lacks frames of its own subnet only."""
from frames import ib
from frames.connection import MTU, Connection
from frames.fabric import A, B, C, D, JOIN_MASK, SM, Tape
from frames.ib import ONLY, UD, Frame
from frames.messages import broadcast_record, ping
from frames.missed import CONFORMS, Case, by, has, lacks, rules
from frames.subnet import Host, Subnet
from support import capfile

BEFORE_IP = "rfc4755.2.3.connection-before-ip"
ATTRIBUTES, OTHER_QKEY = "rfc4391.10.group-attributes", 0x80005678
MAC = bytes.fromhex("020000000001020000000002")
ROCE_PORT = 4791


def tcp():
    return MAC + ib.u16(0x0800) + ib.ipv4("192.0.2.1", "192.0.2.2", 6, bytes(20))


def roce2(inner):
    datagram = ib.udp("192.0.2.1", "192.0.2.2", 49152, ROCE_PORT, inner + bytes(4))
    return MAC + ib.u16(0x0800) + ib.ipv4("192.0.2.1", "192.0.2.2", 17, datagram)


def roce2_data():
    return roce2(ib.bth(0x04, 0xFFFF, 0x77, 1) + ib.fill(64))


def other_fabric():
    """A datagram of another program, on a second fabric."""
    ports = {"dlid": 0x32, "slid": 0x31, "destqp": 0x77, "srcqp": 0x78}
    return Frame(UD | ONLY, ib.fill(64), qkey=1, psn=1, **ports).ib()


def data_before_the_rep(between):
    """B joins. Then its REP to A's REQ is captured after data from A, which A sent after the REP
    arrived. The PSNs of B's GSI show that no REP is missing. between: number of frames of other
    ports that are captured between the two."""
    t, record = Tape(), broadcast_record(port_gid=B.gid)
    t.sa(B, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.sa(SM, B, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t)
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, MTU))
    c.packet(True, ONLY, ping(A, B), c.psns[0])
    for n in range(between):
        t.ud(C, D, ping(C, D, seq=n))
    c.rep(ib.private_data(B.qpn, MTU))
    c.rtu(ib.private_data(A.qpn, MTU))
    return t


def beside(between, other, count):
    """Frames of another interface are before each frame."""
    t = data_before_the_rep(between)
    frames = []
    for time, data, wire in t.records:
        frames += [capfile.Frame(time, other(), len(other()), 1)] * count
        frames.append(capfile.Frame(time, data, wire, 0))
    link = capfile.INFINIBAND if other == other_fabric else capfile.ETHERNET
    return capfile.pcapng([capfile.INFINIBAND, link], frames)


# ---- a capture that began late


def with_wrong_group(s, host, late=False):
    """The host joins the broadcast group and then a group whose Q_Key differs. The PSNs of its GSI
    begin at 0, which shows that the capture has all its requests; late: they do not."""
    s.psns[host.lid, 1] = 1000 if late else -1
    s.join(host, s.broadcast())
    s.join(host, s.group4("239.1.2.3"), qkey=OTHER_QKEY)


def request(s, host, late):
    """The host's first request in the capture."""
    s.psns[host.lid, 1] = 1000 if late else -1
    s.path(host, host)


def on_interfaces(*tapes):
    """Interface n has the frames of tape n. All frames are in the order of time."""
    frames = [
        capfile.Frame(time, data, wire, n)
        for n, records in enumerate(tapes)
        for time, data, wire in records
    ]
    return capfile.pcapng([capfile.INFINIBAND] * len(tapes), sorted(frames, key=lambda f: f.time))


def two_fabrics(first_late, second_late):
    """a is in the first fabric; c, of another subnet prefix, makes its request in the second one
    before that."""
    s, other = Subnet(), Subnet(prefix="fec0:0:0:1::")
    request(other, Host(5, prefix=other.prefix), second_late)
    s.wait(1)
    with_wrong_group(s, Host(2), first_late)
    return on_interfaces(s.records, other.records)


def two_taps(late, seen, first):
    """Host a is on interface 0, c on interface 1. A multicast datagram of c on both of them shows
    that they see one subnet, before c's request (seen: 0), before a's joins (1) or after a has
    joined the broadcast group (2). late: of c's GSI, requests before the capture are missing. One
    of them may have been about other parameters of the broadcast group. first: the interface of the
    first frame."""
    s = Subnet()
    a, c, taps = Host(2), Host(5), ([], [])

    def keep(*numbers):
        for n in numbers:
            taps[n].extend(s.records)
        s.records = []

    def multicast():
        s.arp_request(c, a.ip)
        keep(0, 1)

    if first == 0:
        request(s, Host(7), False)
        keep(0)
    if seen == 0:
        multicast()
    request(s, c, late)
    keep(1)
    if seen == 1:
        multicast()
    s.psns[a.lid, 1] = -1
    s.join(a, s.broadcast())
    keep(0)
    if seen == 2:
        multicast()
    s.join(a, s.group4("239.1.2.3"), qkey=OTHER_QKEY)
    keep(0)
    return on_interfaces(*taps)


case = by(Case, deviations=None)
OTHERS = (tcp, roce2_data, other_fabric)
CASES = [
    *[
        case(
            f"close data before the REP, {count} {other.__name__}",
            CONFORMS,
            by(beside, 0, other, count),
        )
        for other in OTHERS
        for count in (0, 1, 20)
    ],
    *[
        case(
            f"data long before the REP, {count} {other.__name__}",
            rules(BEFORE_IP),
            by(beside, 9, other, count),
        )
        for other in OTHERS
        for count in (0, 20)
    ],
    # RFC 4391 section 10: the group has the attributes of the broadcast group. What the capture of
    # another fabric lacks has not changed those.
    case("another fabric is whole", rules(ATTRIBUTES), by(two_fabrics, False, False)),
    case("another fabric began late", rules(ATTRIBUTES), by(two_fabrics, False, True)),
    case("the fabric began late", lacks(ATTRIBUTES), by(two_fabrics, True, False)),
    *[
        case(
            f"another interface, {'late' if late else 'whole'}, link seen {seen}, first {first}",
            (lacks if late else has)(ATTRIBUTES),
            by(two_taps, late, seen, first),
        )
        for late in (False, True)
        for seen in range(3)
        for first in (0, 1)
    ],
]

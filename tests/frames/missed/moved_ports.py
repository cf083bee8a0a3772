# SPDX-License-Identifier: GPL-2.0-or-later
"""A LID became another port's, a queue pair another connection's, or the subnet manager started again,
in frames that were not captured."""
from frames import ib
from frames.connection import Connection
from frames.fabric import A, B, FULL, JOIN_MASK, Tape
from frames.ib import ACTIVE, ARMED, INIT, ONLY
from frames.messages import big, ping
from frames.missed import CONFORMS, Case, by, has, lacks, rule_set
from frames.subnet import SMP_GET, SMP_SET, Host, Subnet

FULL_MEMBER, BEFORE_SEND = "rfc4391.5.full-member-join", "rfc4391.10.join-before-send"
TYPE, CONNECTION_MTU = "rfc4755.4.type", "rfc4755.5.1.connection-mtu"
GID, ATTRIBUTES = "rfc4391.9.1.1.gid-of-port", "rfc4391.10.group-attributes"
SA, GROUP = 9, "239.1.2.3"


def start(s, host, route, lmc=0, named=True):
    """The port has no LID; the SM gives it one and makes it active. The PSNs of its GSI begin at 0.
    named: the capture has its NodeInfo."""
    info = ib.node_info(host.guid, 8, 0x1003)
    if named:
        s.smp(route, SMP_GET, 0x0011, reply=info)
    s.smp(route, SMP_GET, 0x0015, modifier=1, reply=s.port_info_of(0, state=INIT, lmc=lmc))
    for state in (0, ARMED, ACTIVE):
        s.smp(route, SMP_SET, 0x0015, s.port_info_of(host.lid, state=state, lmc=lmc), 1)
    s.psns[host.lid, 1] = -1


def miss(s, host, packets=1):
    """Packets of its GSI that were not captured."""
    s.psns[host.lid, 1] += packets


def witness(s, *hosts):
    """Hosts that join: the SA's record of the broadcast group is known."""
    for host in hosts:
        start(s, host, host.lid)
        s.join(host, s.broadcast())


# ---- a LID that became another port's


def request_from_the_lid(another):
    """b sends without a join. The next request from its LID has the PSN 0. If another port with the
    LID sends it, b's join may be missing. unseen: the SMPs that started the other port were not
    captured."""
    s = Subnet()
    a, b = Host(2), Host(4)
    witness(s, a)
    start(s, b, 4)
    s.arp_request(b, a.ip)
    s.wait(1)
    s.path(a, a)
    if another:
        b = Host(5, lid=b.lid)
        if another == "started":
            start(s, b, 5)
        s.join(b, s.broadcast())
    s.path(b, a)
    s.path(a, b)
    return s.pcap()


def lids_exchanged(moved):
    """b announces its GID from a's LID. moved: both ports join from the other's LID before, so the
    SM has exchanged the LIDs. The PSNs of both GSIs are the same, so they show no gap."""
    s = Subnet()
    a, b = Host(2), Host(4)
    witness(s, a, b)
    a2, b2 = a.also(lid=b.lid), b.also(lid=a.lid)
    if moved:
        s.join(a2, s.broadcast())
        s.join(b2, s.broadcast())
        s.arp_request(a2, b.ip)
        s.arp_reply(b2, a2)
    else:
        s.arp_request(a, b.ip)
        s.arp_request(a, b.ip)
        s.arp_reply(b2, b)
    s.path(*((a2, b2) if moved else (a, b)))
    s.path(*((b2, a2) if moved else (b, a)))
    return s.pcap()


def virtual_function(moved):
    """v shares a's LID (IBA 4.1.1) and leaves the broadcast group; the capture began after its
    join. moved: v comes up at another LID; its join there was not captured. The later request from
    a's LID shows nothing about that."""
    s = Subnet()
    a, v = Host(2), Host(5, lid=2)
    s.leave(v, s.broadcast())
    v2 = v.also(lid=7) if moved else v
    s.arp_request(v2, v2.ip)
    s.path(a, Host(3))
    return s.pcap()


# ---- ports with an LMC


def after_the_base_lid():
    """a has LMC 2. Then it sends from LID 2, so the SM has assigned it another LID, and its LMC is
    not known. b, with LID 3, is another port: its request shows nothing about a's."""
    s = Subnet()
    a, b = Host(1, lid=8), Host(3)
    witness(s, Host(5), b)
    start(s, a, 1, lmc=2)
    a2 = a.also(lid=2)
    s.arp_request(a2, b.ip)
    s.wait(1)
    s.path(b, a2)
    s.path(b, a2)
    return s.pcap()


def path_of_the_last_lid(missed):
    """a has LMC 2 and the LIDs 16 to 19; its path is from LID 19. b has LID 20. a sends. If a's join
    was missed, a's next request shows it, or the SA's next packet, not b's request."""
    s = Subnet()
    a, b = Host(16), Host(20)
    witness(s, b)
    start(s, a, 16, lmc=2)
    s.path(a, b, slid=a.lid + 3)
    miss(s, a, missed)
    s.psns[SA, 1] += missed  # the SA's response
    s.arp_request(a, b.ip)
    s.wait(1)
    s.path(b, a)
    s.path(b, a)
    s.path(a, b)
    return s.pcap()


# ---- a subnet manager that started again


def restarted(tid=None):
    """The broadcast group is known. Then the SM starts again with another Q_Key; nothing of this
    was captured, up to a response that has another group's record. tid: the transaction ID of its
    request; None: the request was captured, and no restart was missed, so the group is wrong."""
    s = Subnet()
    a = Host(2)
    witness(s, a)
    old = s.tid
    for _ in range(5):
        s.path(a, a)
    mgid = s.group4(GROUP)
    if tid is None:
        s.join(a, mgid, qkey=0x80005678)
        return s.pcap()
    s.wait(30)
    s.parameters["qkey"] = 0x80005678
    s.psns[SA, 1], s.psns[a.lid, 1] = 4000, 5000
    record = s.record(a, mgid, FULL)
    tid = old if tid == "old" else s.next_tid()
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, record, JOIN_MASK, attr_offset=7)
    s.path(a, a)
    return s.pcap()


# ---- a QP that became another connection's

FIRST = 0xFFFFF0  # PSN


def ipoib_connection():
    """With Receive MTU 2048."""
    t = Tape()
    c = Connection(t, psns=(FIRST, FIRST))
    private = (ib.private_data(A.qpn, 2048), ib.private_data(B.qpn, 2048))
    c.set_up(ib.service_id_rfc(B.qpn), *private)
    return t, c, private[0]


def reused(payload, later):
    """After an echo request over a connection, its QP receives the payload with a PSN that is so
    much larger. If that is far, the connection has ended since then, and another one has the QP; the
    capture has none of their CM messages."""
    t, c, data = ipoib_connection()
    c.rtu(data)
    c.packet(True, ONLY, ping(A, B), FIRST)
    c.packet(True, ONLY, payload, FIRST + later)
    return t.erf_pcap()


def before_any_data():
    """The PSN of the first packet is not the one in the REP."""
    t, c, _ = ipoib_connection()
    c.packet(True, ONLY, NO_TYPE, FIRST + 0x700000)
    return t.erf_pcap()


NO_TYPE = b"\x02" + bytes(63)
NOT_JOINED = rule_set(FULL_MEMBER, BEFORE_SEND)
CASES = [
    Case("first request from a LID, started port", CONFORMS, by(request_from_the_lid, "started")),
    Case("first request from a LID, unseen port", CONFORMS, by(request_from_the_lid, "unseen")),
    Case("first request from a LID, the same port", NOT_JOINED, by(request_from_the_lid, None)),
    Case("LIDs were exchanged", lacks(GID), by(lids_exchanged, True)),
    Case("LIDs were not exchanged", has(GID), by(lids_exchanged, False)),
    Case("virtual function that moved", lacks(BEFORE_SEND), by(virtual_function, True)),
    Case("virtual function that stays", has(BEFORE_SEND), by(virtual_function, False)),
    Case("LID that follows the base LID", CONFORMS, after_the_base_lid),
    Case("path of the last LID, missed join", CONFORMS, by(path_of_the_last_lid, 1)),
    Case("path of the last LID, no join", NOT_JOINED, by(path_of_the_last_lid, 0)),
    # old: the request with the same transaction ID has its response already
    Case("response after a restart of the SM, new ID", lacks(ATTRIBUTES), by(restarted, "new")),
    Case("response after a restart of the SM, old ID", lacks(ATTRIBUTES), by(restarted, "old")),
    Case("response to a captured request", has(ATTRIBUTES), restarted),
    *[
        Case(
            f"{what} {psn} on a QP of IPoIB",
            (has if near else lacks)(rule),
            by(reused, data, later),
        )
        for what, data, rule in (
            ("no Type", NO_TYPE, TYPE),
            ("long datagram", big(A, B, 3000), CONNECTION_MTU),
        )
        for psn, later, near in (
            ("next", 1, True),
            ("later", 0x30000, True),
            ("far", 0x700000, False),
        )
    ],
    Case("no Type before any data", lacks(TYPE), before_any_data, deviations=None),
]

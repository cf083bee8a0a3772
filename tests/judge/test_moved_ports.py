# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check reports no violation if a LID became another port's, a QP became another
connection's, or the subnet manager started again, in frames that were not captured.

The tests come in pairs, as in test_missed.py: in the second capture the PSNs show that no such
frame is missing, and the violation must be found."""
import pytest

from frames import ib
from frames.build import erf_pcap
from frames.connection import Connection
from frames.fabric import A, B, Tape
from frames.messages import big, ping
from frames.ib import ONLY
from frames.fabric import FULL, JOIN_MASK
from frames.subnet import Host, SMP_GET, SMP_SET, Subnet
from support import findings

FULL_MEMBER, BEFORE_SEND = "rfc4391.5.full-member-join", "rfc4391.10.join-before-send"
TYPE, CONNECTION_MTU = "rfc4755.4.type", "rfc4755.5.1.connection-mtu"
GID, ATTRIBUTES = "rfc4391.9.1.1.gid-of-port", "rfc4391.10.group-attributes"
INIT, ARMED, ACTIVE = 2, 3, 4
SA, GROUP = 9, "239.1.2.3"


def found(s):
    return {rule for _, rule in findings.failures(s.pcap(), "--deviations", "none")}


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


@pytest.mark.parametrize("another", ["started", "unseen", None])
def test_first_request_from_the_lid(another):
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
    assert found(s) == (set() if another else {FULL_MEMBER, BEFORE_SEND})


@pytest.mark.parametrize("moved", [True, False], ids=["moved", "stays"])
def test_lids_were_exchanged_unseen(moved):
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
    assert (GID in found(s)) == (not moved)


@pytest.mark.parametrize("moved", [True, False], ids=["moved", "stays"])
def test_virtual_function_moved_unseen(moved):
    """v shares a's LID (IBA 4.1.1) and leaves the broadcast group; the capture began after its
    join. moved: v comes up at another LID; its join there was not captured. The later request from
    a's LID shows nothing about that."""
    s = Subnet()
    a, v = Host(2), Host(5, lid=2)
    s.leave(v, s.broadcast())
    v2 = v.also(lid=7) if moved else v
    s.arp_request(v2, v2.ip)
    s.path(a, Host(3))
    assert (BEFORE_SEND in found(s)) == (not moved)


# ---- ports with an LMC


def test_lid_that_follows_the_base_lid_unseen():
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
    assert found(s) == set()


@pytest.mark.parametrize("missed", [0, 1])
def test_path_of_the_last_lid(missed):
    """a has LMC 2 and the LIDs 16 to 19; its path is from LID 19. b has LID 20. a sends. If a's join
    was missed, only a's next request shows it, not b's."""
    s = Subnet()
    a, b = Host(16), Host(20)
    witness(s, b)
    start(s, a, 16, lmc=2)
    s.path(a, b, slid=a.lid + 3)
    miss(s, a, missed)
    s.arp_request(a, b.ip)
    s.wait(1)
    s.path(b, a)
    s.path(b, a)
    s.path(a, b)
    assert found(s) == (set() if missed else {FULL_MEMBER, BEFORE_SEND})


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
        return s
    s.wait(30)
    s.parameters["qkey"] = 0x80005678
    s.psns[SA, 1], s.psns[a.lid, 1] = 4000, 5000
    record = s.record(a, mgid, FULL)
    tid = old if tid == "old" else s.next_tid()
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, record, JOIN_MASK, attr_offset=7)
    s.path(a, a)
    return s


@pytest.mark.parametrize("tid", ["new", "old"])
def test_response_without_its_request_after_a_restart(tid):
    """old: the request with the same transaction ID has its response already."""
    assert ATTRIBUTES not in found(restarted(tid))


def test_response_to_a_captured_request_is_found():
    assert ATTRIBUTES in found(restarted())


# ---- a QP that became another connection's

FIRST = 0xFFFFF0  # PSN


def reused(payload, later):
    """An IPoIB connection with Receive MTU 2048, and an echo request over it. Then its QP receives
    the payload with a PSN that is so much larger. far: the connection has ended since then, and
    another one has the QP; the capture has none of their CM messages."""
    t = Tape()
    c = Connection(t, psns=(FIRST, FIRST))
    private = (ib.private_data(A.qpn, 2048), ib.private_data(B.qpn, 2048))
    c.set_up(ib.service_id_rfc(B.qpn), *private)
    c.rtu(private[0])
    c.packet(True, ONLY, ping(A, B), FIRST)
    c.packet(True, ONLY, payload, FIRST + later)
    return {rule for _, rule in findings.failures(erf_pcap(t), "--deviations", "none")}


@pytest.mark.parametrize("later, is_found", [(1, True), (0x30000, True), (0x700000, False)])
@pytest.mark.parametrize(
    "payload, rule", [(b"\x02" + bytes(63), TYPE), (big(A, B, 3000), CONNECTION_MTU)]
)
def test_qp_of_another_connection(payload, rule, later, is_found):
    assert (rule in reused(payload, later)) == is_found


def test_qp_of_another_connection_before_any_data():
    """The PSN of the first packet is not the one in the REP."""
    t = Tape()
    c = Connection(t, psns=(FIRST, FIRST))
    private = (ib.private_data(A.qpn, 2048), ib.private_data(B.qpn, 2048))
    c.set_up(ib.service_id_rfc(B.qpn), *private)
    c.packet(True, ONLY, b"\x02" + bytes(63), FIRST + 0x700000)
    assert TYPE not in {rule for _, rule in findings.failures(erf_pcap(t))}

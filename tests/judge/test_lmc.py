# SPDX-License-Identifier: GPL-2.0-or-later
"""A port with an LMC has several LIDs (IBA 4.1.3), but one GSI and the same queue pairs at each of
them. ipoib-check finds the same violations whichever LID a packet comes from or goes to, and none
if the packets conform."""
import pytest

from frames import ib
from frames.ib import ONLY, encap
from frames.fabric import QKEY
from frames.subnet import Host, Subnet
from frames.unusual_connections import MTU, RC_FLAG, Link
from support import findings
from test_moved_ports import start

LMC, GROUP = 2, "239.1.2.3"
LIDS = pytest.mark.parametrize("bits", [(0, 0), (1, 2), (3, 0)], ids=str)


class Fabric(Subnet):
    """The SM has set an LMC of 2. Packets of a port are numbered together, whatever their LID.
    Frames are 20 ms apart, so that their order is certain."""

    lmc = LMC

    def next_psn(self, lid, qpn):
        directed = isinstance(lid, str)
        return super().next_psn(lid if directed else lid >> self.lmc << self.lmc, qpn)

    def put(self, frame, ms=20):
        super().put(frame, ms)


def ports(*bases):
    """Ports of these base LIDs, whose whole history is in the capture; all have the same QPN."""
    s = Fabric()
    hosts = [Host(n, lid=n, qpn=0x48, flags=RC_FLAG) for n in bases]
    s.psns[8, 1] = -1  # of the SM
    for route, host in enumerate(hosts, 1):
        start(s, host, route, lmc=LMC)
    s.up(*hosts)
    return s, hosts


def spread(bits):
    """A link of a, b and c, and a and b at other LIDs, after a and b have resolved each other."""
    s, (a, b, c) = ports(4, 12, 16)
    s.resolve(a, b)
    a2, b2 = (h.also(lid=h.lid + of) for h, of in zip((a, b), bits))
    s.wait(1)
    return s, a, b, c, a2, b2


def found(s, *hosts):
    """The rules violated. hosts: they send a last request, from another LID."""
    s.wait(1)
    for host in hosts:
        s.path(host.also(lid=host.lid + 1), host)
    return {rule for _, rule in findings.failures(s.pcap(), "--deviations", "none")}


def connect(s, a, b, number=1):
    return Link(s, a, b, number)


@LIDS
@pytest.mark.parametrize("joined", [True, False])
def test_join(bits, joined):
    s, a, b, c, a2, _ = spread(bits)
    s.join(b, s.group4(GROUP))
    if joined:
        s.join(a2, s.group4(GROUP))
    s.to_group4(a.also(lid=a.lid + 3), GROUP)
    assert found(s, a, b, c) == (set() if joined else {"rfc4391.10.join-before-send"})


@LIDS
@pytest.mark.parametrize("joined", [True, False])
def test_join_of_the_broadcast_group(bits, joined):
    s, (a, b) = ports(4, 12)
    c = Host(16, lid=16, qpn=0x48)
    start(s, c, 3, lmc=LMC)
    c2 = c.also(lid=c.lid + bits[0])
    if joined:
        s.join(c2, s.broadcast())
    s.arp_request(c2, a.ip)
    rules = {"rfc4391.5.full-member-join", "rfc4391.10.join-before-send"}
    assert found(s, c, a, b) == (set() if joined else rules)


@LIDS
@pytest.mark.parametrize("qkey", [QKEY, QKEY + 1])
def test_qkey(bits, qkey):
    s, a, b, c, a2, b2 = spread(bits)
    s.ping(a2, b2, qkey=qkey)
    assert found(s, a, b, c) == (set() if qkey == QKEY else {"rfc4391.9.1.2.qkey-from-join"})


@LIDS
@pytest.mark.parametrize("mlid", [None, 0xC055])
def test_mlid(bits, mlid):
    s, a, b, c, a2, _ = spread(bits)
    group = s.join(a2, s.group4(GROUP))
    s.to_group4(a2, GROUP, dlid=mlid or s.mlid(group))
    assert found(s, a, b, c) == ({"rfc4391.10.mlid-as-dlid"} if mlid else set())


@LIDS
@pytest.mark.parametrize("qpn", [0x48, 0x77])
def test_private_data(bits, qpn):
    s, a, b, c, a2, b2 = spread(bits)
    link = connect(s, a, b)
    link.ask()
    link.a, link.b = a2, b2
    link.rep(ib.private_data(qpn, MTU))
    link.rtu(link.private(True))
    rule = "rfc4755.3.2.ud-qpn-in-private-data"
    assert found(s, a, b, c) == (set() if qpn == b.qpn else {rule})


@LIDS
@pytest.mark.parametrize("early", [False, True])
def test_data_before_the_rep(bits, early):
    s, a, b, c, a2, b2 = spread(bits)
    link = connect(s, a, b)
    link.ask()
    link.a, link.b = a2, b2
    if early:
        link.packet(False, ONLY, encap(0x0800, ib.ping4(b.ip, a.ip)), link.psns[1])
    s.wait(1)
    link.rep(link.private(False))
    link.rtu(link.private(True))
    link.ping()
    assert found(s, a, b, c) == ({"rfc4755.2.3.connection-before-ip"} if early else set())


@LIDS
@pytest.mark.parametrize("smaller", [True, False], ids=["smaller", "larger"])
def test_crossing_requests(bits, smaller):
    """a has the smaller address, so it accepts b's REQ."""
    s, a, b, c, a2, b2 = spread(bits)
    one, two = connect(s, a, b), connect(s, b, a, 2)
    one.ask()
    two.ask()
    accepted, refused = (two, one) if smaller else (one, two)
    one.a, one.b, two.a, two.b = a2, b2, b2, a2
    refused.rej(28, refused.private(False))
    accepted.rep(accepted.private(False))
    accepted.rtu(accepted.private(True))
    accepted.ping()
    assert found(s, a, b, c) == (set() if smaller else {"rfc4755.3.3.simultaneous"})


@LIDS
def test_request_given_up(bits):
    """b withdraws its REQ before it accepts a's, so the two do not cross."""
    s, a, b, c, a2, b2 = spread(bits)
    one, two = connect(s, a, b), connect(s, b, a, 2)
    two.ask()
    one.ask()
    two.a = b2
    two.mad(True, ib.cm_rej(two.tid, two.ids[0], 0, 4, pdata=two.private(True)))
    one.b = b2
    one.rep(one.private(False))
    one.rtu(one.private(True))
    assert found(s, a, b, c) == set()


# ---- the SMPs with the LMC were not captured


def unknown():
    """a and b are up; each has joined from its third LID, and has its first one in a path."""
    s = Fabric()
    a, b = (Host(n, lid=n, qpn=0x48, flags=RC_FLAG) for n in (4, 12))
    s.up(a.also(lid=a.lid + 2), b.also(lid=b.lid + 2))
    s.resolve(a, b)
    return s, a, b


def moved(link, a, b):
    """The next message is between these LIDs."""
    link.a, link.b = link.a.also(lid=a), link.b.also(lid=b)
    return link


@pytest.mark.parametrize("last", [0, 1, 2])
@pytest.mark.parametrize("first", [0, 1, 2])
def test_request_given_up_from_an_unknown_lid(first, last):
    s, a, b = unknown()
    one, two = connect(s, a, b), connect(s, b, a, 2)
    two.ask()
    one.ask()
    moved(two, b.lid + first, a.lid)
    two.mad(True, ib.cm_rej(two.tid, two.ids[0], 0, 4, pdata=two.private(True)))
    moved(one, a.lid, b.lid + last)
    one.rep(one.private(False))
    one.rtu(one.private(True))
    assert found(s, a, b) == set()


@pytest.mark.parametrize("to", [0, 1, 2])
@pytest.mark.parametrize("answer", ["rep", "rej"])
def test_answer_to_an_unknown_lid(answer, to):
    """a's REQ follows the response to b's, so the two do not cross."""
    s, a, b = unknown()
    one, two = connect(s, a, b), connect(s, b, a, 2)
    two.ask()
    moved(two, b.lid + to, a.lid + to)
    if answer == "rep":
        two.rep(two.private(False))
    else:
        two.rej(3, two.private(False))
    one.ask()
    one.rep(one.private(False))
    one.rtu(one.private(True))
    assert found(s, a, b) == set()


def test_lid_of_the_range_becomes_another_ports():
    """The SM takes the LMC from a, and gives d one of its LIDs. a stays silent, d joins and
    sends."""
    s, (a, b) = ports(4, 12)
    s.to_group4(a.also(lid=6), GROUP, mgid=s.broadcast())
    start(s, a, 1, lmc=0)
    s.join(a, s.broadcast())
    d = Host(20, lid=6, qpn=0x48)
    s.lmc, s.psns[9, 1] = 0, s.psns[8, 1]
    start(s, d, 3)
    s.up(d)
    s.meet(d, b)
    assert found(s, b) == set()

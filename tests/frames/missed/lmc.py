# SPDX-License-Identifier: GPL-2.0-or-later
"""A port with an LMC has several LIDs (IBA 4.1.3), but one GSI and the same queue pairs at each of
them. ipoib-check finds the same violations whichever LID a packet comes from or goes to, and none
if the packets conform."""
from frames import ib
from frames.connection import MTU, Link
from frames.fabric import MS, QKEY, RC_FLAG
from frames.ib import ONLY
from frames.messages import ping
from frames.missed import CONFORMS, Case, by, rule_set
from frames.missed.moved_ports import start
from frames.subnet import Host, Subnet

LMC, GROUP = 2, "239.1.2.3"
LIDS = {"base": (0, 0), "others": (1, 2), "last": (3, 0)}  # of a and b, after the base LID


class Fabric(Subnet):
    """The SM has set an LMC of 2. Packets of a port are numbered together, whatever their LID.
    Frames are 20 ms apart, so that their order is certain."""

    lmc, step = LMC, 20 * MS

    def next_psn(self, lid, qpn):
        directed = isinstance(lid, str)
        return super().next_psn(lid if directed else lid >> self.lmc << self.lmc, qpn)


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


def ended(s, *hosts):
    """The capture ends with a request of each of the hosts, from another LID."""
    s.wait(1)
    for host in hosts:
        s.path(host.also(lid=host.lid + 1), host)
    return s.pcap()


def sends_to_group(bits, joins):
    s, a, b, c, a2, _ = spread(bits)
    s.join(b, s.group4(GROUP))
    if joins:
        s.join(a2, s.group4(GROUP))
    s.to_group4(a.also(lid=a.lid + 3), GROUP)
    return ended(s, a, b, c)


def sends_to_broadcast_group(bits, joins):
    s, (a, b) = ports(4, 12)
    c = Host(16, lid=16, qpn=0x48)
    start(s, c, 3, lmc=LMC)
    c2 = c.also(lid=c.lid + bits[0])
    if joins:
        s.join(c2, s.broadcast())
    s.arp_request(c2, a.ip)
    return ended(s, c, a, b)


def with_qkey(bits, qkey):
    s, a, b, c, a2, b2 = spread(bits)
    s.ping(a2, b2, qkey=qkey)
    return ended(s, a, b, c)


def with_mlid(bits, mlid):
    s, a, b, c, a2, _ = spread(bits)
    group = s.join(a2, s.group4(GROUP))
    s.to_group4(a2, GROUP, dlid=mlid or s.mlid(group))
    return ended(s, a, b, c)


def answers(one, data):
    one.rep(data)
    one.rtu(one.private(True))


def with_private_data(bits, qpn):
    s, a, b, c, a2, b2 = spread(bits)
    one = Link(s, a, b)
    one.ask()
    one.a, one.b = a2, b2
    answers(one, ib.private_data(qpn, MTU))
    return ended(s, a, b, c)


def data_before_the_rep(bits, early):
    s, a, b, c, a2, b2 = spread(bits)
    one = Link(s, a, b)
    one.ask()
    one.a, one.b = a2, b2
    if early:
        one.packet(False, ONLY, ping(b, a), one.psns[1])
    s.wait(1)
    answers(one, one.private(False))
    one.ping()
    return ended(s, a, b, c)


def crossing_requests(bits, smaller):
    """a has the smaller address, so it accepts b's REQ."""
    s, a, b, c, a2, b2 = spread(bits)
    one, two = Link(s, a, b), Link(s, b, a, 2)
    one.ask()
    two.ask()
    accepted, refused = (two, one) if smaller else (one, two)
    one.a, one.b, two.a, two.b = a2, b2, b2, a2
    refused.rej(28, refused.private(False))
    answers(accepted, accepted.private(False))
    accepted.ping()
    return ended(s, a, b, c)


def given_up(two):
    """The requester withdraws its REQ."""
    two.mad(True, ib.cm_rej(two.tid, two.ids[0], 0, 4, pdata=two.private(True)))


def request_given_up(bits):
    """b withdraws its REQ before it accepts a's, so the two do not cross."""
    s, a, b, c, a2, b2 = spread(bits)
    one, two = Link(s, a, b), Link(s, b, a, 2)
    two.ask()
    one.ask()
    two.a = b2
    given_up(two)
    one.b = b2
    answers(one, one.private(False))
    return ended(s, a, b, c)


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


def given_up_from_unknown_lid(first, last):
    s, a, b = unknown()
    one, two = Link(s, a, b), Link(s, b, a, 2)
    two.ask()
    one.ask()
    given_up(moved(two, b.lid + first, a.lid))
    answers(moved(one, a.lid, b.lid + last), one.private(False))
    return ended(s, a, b)


def answer_to_unknown_lid(answer, to):
    """a's REQ follows the response to b's, so the two do not cross."""
    s, a, b = unknown()
    one, two = Link(s, a, b), Link(s, b, a, 2)
    two.ask()
    moved(two, b.lid + to, a.lid + to)
    if answer == "rep":
        two.rep(two.private(False))
    else:
        two.rej(3, two.private(False))
    one.ask()
    answers(one, one.private(False))
    return ended(s, a, b)


def lid_of_the_range_moves():
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
    return ended(s, b)


# What is done with one value, which conforms, and with another one, which violates the rules.
PAIRS = [
    ("join", sends_to_group, True, False, ["rfc4391.10.join-before-send"]),
    (
        "join of the broadcast group",
        sends_to_broadcast_group,
        True,
        False,
        ["rfc4391.5.full-member-join", "rfc4391.10.join-before-send"],
    ),
    ("Q_Key", with_qkey, QKEY, QKEY + 1, ["rfc4391.9.1.2.qkey-from-join"]),
    ("MLID", with_mlid, None, 0xC055, ["rfc4391.10.mlid-as-dlid"]),
    ("private data", with_private_data, 0x48, 0x77, ["rfc4755.3.2.ud-qpn-in-private-data"]),
    ("data before the REP", data_before_the_rep, False, True, ["rfc4755.2.3.connection-before-ip"]),
    ("crossing REQs", crossing_requests, True, False, ["rfc4755.3.3.simultaneous"]),
]
CASES = [
    case
    for where, bits in LIDS.items()
    for what, make, good, bad, rules in PAIRS
    for case in (
        Case(f"{what}, {where} LIDs", CONFORMS, by(make, bits, good)),
        Case(f"{what}, {where} LIDs, violated", rule_set(*rules), by(make, bits, bad)),
    )
]
CASES += [
    *[Case(f"REQ given up, {n} LIDs", CONFORMS, by(request_given_up, LIDS[n])) for n in LIDS],
    *[
        Case(
            f"REQ given up, unknown LIDs {first} and {last}",
            CONFORMS,
            by(given_up_from_unknown_lid, first, last),
        )
        for first in range(3)
        for last in range(3)
    ],
    *[
        Case(f"{answer} to unknown LID {to}", CONFORMS, by(answer_to_unknown_lid, answer, to))
        for answer in ("rep", "rej")
        for to in range(3)
    ],
    Case("LID of the range becomes another port's", CONFORMS, lid_of_the_range_moves),
]

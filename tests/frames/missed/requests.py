# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of a port's GSI (QP1) that were not captured: joins, and responses of the SA."""
from frames import ib
from frames.fabric import FULL, NON_MEMBER
from frames.messages import arp, udp4
from frames.missed import CONFORMS, Case, by, exactly, rules, subsets
from frames.subnet import Host, Subnet
from frames.world import A, B, CREATE_MASK, NODES, OTHER_ATTRIBUTES, World
from support import capfile

# ---- a port that received other parameters of the broadcast group before its first packet

GROUP, BROADCAST = "239.7.7.7", ("bcast", "255.255.255.255", 0xC000)
INVALID, NO_RECORDS = 0x0200, 0x0300


def creates(changed, refused, rejoins=False, begins=None, dropped=()):
    """A joins the broadcast group. Then the SA changes a parameter of it, and B joins. A has not
    joined again since, and creates a group with the parameters that it received. refused: the SA
    refuses to create it. rejoins: A joins the broadcast group again after B.
    begins: the capture's first frame. dropped: frames that were not sent."""
    w = World()
    before = {"tclass": 0, "sl": 0, "flow": 0, "hop": 0, **w.record}
    w.record = dict(before)
    w.join(A, *BROADCAST)
    w.record[changed] = OTHER_ATTRIBUTES[changed][0]
    w.join(B, *BROADCAST)
    if rejoins:
        w.join(A, "again", *BROADCAST[1:])
    w.query(A, "group", GROUP, 0)
    w["A.query.group.resp"]["mad.status"] = NO_RECORDS
    w.record = before
    record = w.member(GROUP, A, FULL, 0xC010)
    w.sa("A.create", A, ib.SET, ib.ATTR_MC_MEMBER, record, CREATE_MASK)
    if refused:
        w["A.create.resp"]["mad.status"] = INVALID
    w.drop(*dropped)
    if begins:
        w.begin(begins)
    return w


def of_change(changed, refused):
    """The cases of one parameter."""
    what = f"{changed} changed, {'refused' if refused else 'created'}"
    found = exactly(("A.create.resp", OTHER_ATTRIBUTES[changed][1]))
    join, first = ("A.join.bcast", "A.join.bcast.resp"), "B.join.bcast"
    make = by(creates, changed, refused)
    return [
        Case(f"{what}: group after it", CONFORMS, make),
        Case(f"{what}: group after it and a new join", CONFORMS, by(make, rejoins=True)),
        Case(f"{what}: missed join before the first packet", CONFORMS, by(make, begins=first)),
        Case(f"{what}: no join before the first packet", found, by(make, dropped=join)),
        Case(f"{what}: port joins again", found, by(make, rejoins=True, begins=first)),
    ]


CHANGES = [
    case
    for changed in OTHER_ATTRIBUTES
    for refused in (False, True)
    for case in of_change(changed, refused)
]


# ---- another port creates the group

OTHER_QKEY = ("qkey", OTHER_ATTRIBUTES["qkey"])


def created_by_another(*captured):
    """A joined the broadcast group before the SA changed its Q_Key; the capture begins later. B
    joins it in the capture. A creates a group with the Q_Key that it received, and B joins it.
    captured: the packets of A's join of the group that were captured."""
    w = World()
    w.psns[A.lid, 1] = 40
    w.smps(B)
    w.join(B, *BROADCAST)
    changed, (value, _) = OTHER_QKEY
    current, w.record = w.record, {**w.record, changed: value}
    if captured:
        member = w.member(GROUP, A, FULL, 0xC010)
        w.sa("A.create", A, ib.SET, ib.ATTR_MC_MEMBER, member, CREATE_MASK)
    for name in {"A.create", "A.create.resp"} & set(w.order) - set(captured):
        w.order.remove(name)
    w.join(B, "group", GROUP, 0xC010)
    w.record = current
    w.last_request(B)
    return w


def joined_before_first_packet(rejoined):
    """B's GSI sent packets before its first one in the capture, which follows the SA's response to
    its join. rejoined: B joined the broadcast group again in one of them, and the SA's response has
    other parameters, as the record of the group that B creates then; else they were no joins."""
    w = World()
    w.smps(A)
    w.join(A, *BROADCAST)
    w.psns[B.lid, 1] = 4
    w.join(B, *BROADCAST)
    del w.packets["B.join.bcast"], w.times["B.join.bcast"]
    w.order.remove("B.join.bcast")
    w.record = {**w.record, "qkey": OTHER_ATTRIBUTES["qkey"][0]}
    record = w.member(GROUP, B, FULL, 0xC010)
    w.psns[B.lid, 1] += rejoined
    w.sa("B.create", B, ib.SET, ib.ATTR_MC_MEMBER, record, CREATE_MASK)
    w.last_request(B)
    return w


REQUEST, RESPONSE = "A.create", "A.create.resp"
OTHER_PORTS = [
    *[
        Case(
            f"group that another port created, {what} captured",
            CONFORMS,
            by(created_by_another, *names),
        )
        for what, names in (
            ("request", [REQUEST]),
            ("response", [RESPONSE]),
            ("both", [REQUEST, RESPONSE]),
        )
    ],
    Case(
        "group that no other port created",
        exactly(("B.join.group.resp", OTHER_QKEY[1][1])),
        created_by_another,
    ),
    Case(
        "missed join before the first packet that follows a response",
        CONFORMS,
        by(joined_before_first_packet, True),
    ),
]


# ---- a response to an older request

MEMBER, BEFORE = "rfc4391.5.full-member-join", "rfc4391.10.join-before-send"


def arrange(w, *names):
    """Puts these frames into this order."""
    places = sorted(w.order.index(n) for n in names)
    times = sorted(w.times[n] for n in names)
    for place, time, name in zip(places, times, names):
        w.order[place], w.times[name] = name, time


def ask_elsewhere(w):
    """The SA answers B. The capture of A's port lacks these frames."""
    w.sa(f"B.ask.{len(w.packets)}", B, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"")


def at_port(w):
    """The capture of A's port."""
    w.order = [n for n in w.order if not n.startswith("B.")]
    return w


def joins_broadcast(w):
    """A joins the broadcast group, first as NonMember, then as FullMember."""
    ask_elsewhere(w)
    w.join(A, "first", *BROADCAST[1:], NON_MEMBER)
    w.join(A, "second", *BROADCAST[1:])
    w["A.join.second.resp"]["mcm.join"] = NON_MEMBER | FULL
    return "A.join.first", "A.join.second"


def joins_group(w):
    """A leaves a group and joins it again."""
    w.join(A, *BROADCAST)
    ask_elsewhere(w)
    w.join(A, "group", GROUP, 0xC010)
    ask_elsewhere(w)
    w.leave(A, "first", GROUP, 0xC010)
    w.join(A, "second", GROUP, 0xC010)
    return "A.leave.first", "A.join.second"


SITUATIONS = {joins_broadcast: MEMBER, joins_group: BEFORE}


def answers_later(situation):
    """A sends three requests before the SA answers them, the two of the situation and a join of
    another group, and then a datagram to the group. The SA answers other ports, too. Returns also
    the frames of the situation."""
    w = World()
    w.smps(A)
    first, second = situation(w)
    w.join(A, "other", NODES, 0xC001)
    requests = first, second, "A.join.other"
    arrange(w, *requests, *(n + ".resp" for n in requests))
    if situation is joins_broadcast:
        w.broadcast("A.send", A, arp(1, A, B, bytes(20)))
    else:
        w.ud("A.send", A, w.mgid(GROUP), udp4(A, GROUP), mlid=0xC010)
    w.last_request(A)
    return w, first, second


def in_capture_of_port(situation):
    return at_port(answers_later(situation)[0])


def of_first_two(requests, w):
    """All choices of the frames of these two requests."""
    return subsets([n for at in requests for n in (at, at + ".resp") if n in w.order])


def later_than_first_packet(situation):
    """The response to the first request is captured after the first packet of A's GSI."""
    w, _, second = answers_later(situation)
    at_port(w).begin("A.join.other")
    w.order.remove(second + ".resp")
    return w


def only_first(situation):
    w, _, second = answers_later(situation)
    w.drop(second, second + ".resp")
    return at_port(w)


FIRST_TWO = {
    joins_broadcast: ("A.join.first", "A.join.second"),
    joins_group: ("A.leave.first", "A.join.second"),
}
OLDER = [
    case
    for situation, rule in SITUATIONS.items()
    for case in (
        Case(
            f"{situation.__name__}: missed requests before a response",
            CONFORMS,
            by(in_capture_of_port, situation),
            lost=by(of_first_two, FIRST_TWO[situation]),
        ),
        Case(
            f"{situation.__name__}: missed requests before the first packet",
            CONFORMS,
            by(later_than_first_packet, situation),
        ),
        Case(
            f"{situation.__name__}: no request is missing",
            rules(rule),
            by(only_first, situation),
        ),
    )
]


# ---- two rails


def rail(prefix, first):
    """A subnet that is captured from its start: (time, bytes) of each frame. Two hosts subscribe to
    the traps, and one joins to send only. first: number of the first host, whose LID is 1."""
    s = Subnet(prefix=prefix)
    s.psns = {(lid, 1): -1 for lid in (1, 2, s.sm.lid)}
    hosts = [Host(first + n, lid=1 + n, prefix=prefix) for n in range(2)]
    for host in hosts:
        s.node_info(host)
        s.pkey_table(host, 0xFFFF)
        s.port_info(host)
    s.up(*hosts)
    s.resolve6(*hosts)
    for host in hosts:
        s.ask(host, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"", 0, ib.class_port_info())
    return [(time + first, data) for time, data, *_ in s.records]


def two_rails(missed):
    """Both have the same LIDs and transaction IDs. missed: numbers of frames of the first one."""
    frames = []
    for interface, records in enumerate((rail("fe80::", 1), rail("fec0:0:0:7::", 0x101))):
        kept = [r for n, r in enumerate(records, 1) if interface or n not in missed]
        frames += [capfile.Frame(time, data, len(data), interface) for time, data in kept]
    frames.sort(key=lambda f: f.time)
    return capfile.pcapng([capfile.INFINIBAND] * 2, frames)


def missed_on_first_rail(number):
    """The response on one rail is not the response to the same request on the other."""
    return Case(f"two rails, frame {number} of the first", CONFORMS, by(two_rails, {number}))


CASES = [*CHANGES, *OTHER_PORTS, *OLDER, *map(missed_on_first_rail, range(41))]

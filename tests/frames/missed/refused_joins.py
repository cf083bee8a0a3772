# SPDX-License-Identifier: GPL-2.0-or-later
"""A node asks the SA to create a group with attributes other than the broadcast group's, and the SA
refuses (ERR_REQ_INVALID, IBA 15.2.1.2).

"The MGID MUST use the same P_Key, Q_Key, SL, MTU, and HopLimit as those used in the broadcast-GID. The
rest of attributes SHOULD follow the values used in the broadcast-GID as well." (RFC 4391 section 10)
The violation is reported at the refusal. Requests that the sender may make, or that a packet that was
not captured may explain, are not reported."""
from frames import ib, world
from frames.fabric import FULL, JOIN_MASK, SEND_ONLY, SM
from frames.messages import udp4
from frames.missed import CONFORMS, Case, after, by, exactly, rules, shift_psns, these
from frames.world import A, B, CREATE_MASK, OTHER_ATTRIBUTES, SAME_ATTRIBUTES, SIMILAR_ATTRIBUTES
from frames.world import World

INVALID, NO_RESOURCES, NO_RECORDS, DENIED = 0x0200, 0x0100, 0x0300, 0x0700
GROUP = "239.7.7.7"
SELECTED = ("mtu", "rate", "life")


def link():
    """All nodes have joined the broadcast group; their whole history is in the capture."""
    w = World()
    world.bring_up(w)
    return w


def request(w, node, state=FULL, group=GROUP, **changed):
    of = {**w.record, "sl": 0, "flow": 0, "hop": 0, "tclass": 0, **changed}
    return ib.mcmember(w.mgid(group), node.gid, pkey=w.pkey, join=state, **of)


def exchange(w, name, node, data, mask, status=INVALID, answer=None):
    """A join, and the SA's response of this status."""
    w.tid += 1
    w.mad(name, node, SM, ib.sa_mad(ib.SET, w.tid, ib.ATTR_MC_MEMBER, data, mask))
    data = answer or (bytes(len(data)) if status else data)
    octets = ib.sa_mad(
        ib.GET_RESP, w.tid, ib.ATTR_MC_MEMBER, data, mask, status=status, attr_offset=7
    )
    w.mad(name + ".resp", SM, node, octets)


def refused(w, *, node=A, mask=CREATE_MASK, status=INVALID, name="refused", **changed):
    exchange(w, name, node, request(w, node, **changed), mask, status)
    return w


# ---- a refused join changes no membership (IBA 15.2.5.17)

JOIN_BEFORE = "rfc4391.10.join-before-send"
BROADCAST = "255.255.255.255"


def member_is_refused(state):
    """A joins a group for sending only, then as this, which the SA refuses, and sends to it."""
    w = link()
    w.join(B, "g", GROUP, 0xC020)
    for trap in (66, 67):
        w.sa(f"A.sub.{trap}", A, ib.SET, ib.ATTR_INFORM_INFO, ib.inform_info("::", trap))
    w.join(A, "g", GROUP, 0xC020, SEND_ONLY)
    refused(w, state=state, mask=JOIN_MASK, status=NO_RESOURCES)
    return sends(w)


def sends(w, group=GROUP, mlid=0xC020):
    w.ud("datagram", A, w.mgid(group), udp4(A, group), mlid=mlid)
    for node in (A, B):
        w.last_request(node)
    return w


def without_psns(w):
    """The PSNs of the SA's GSI do not show that a packet is missing."""
    for p in (w[n] for n in w.order):
        if p.deth and (p["slid"], p["srcqp"]) == (SM.lid, 1):
            p["psn"] = 0
    return w


def asked(**options):
    return refused(link(), **options)


# ---- a refused join changes no membership


def lone_request():
    """A was never a member."""
    w = link()
    w.join(B, "g", GROUP, 0xC020)
    refused(w, mask=JOIN_MASK, status=NO_RESOURCES)
    return sends(w)


def silent_sa():
    return without_psns(member_is_refused(FULL))


def broadcast_is_refused(state, silent=False):
    """A full member of the broadcast group asks for another JoinState of it, and sends."""
    w = link()
    refused(w, state=state, group=BROADCAST, mask=JOIN_MASK, status=NO_RESOURCES)
    w = sends(w, BROADCAST, 0xC000)
    return without_psns(w) if silent else w


def begins(name, make, *args):
    w = make(*args)
    w.begin(name)
    return w


STATES = {"full": FULL, "send only": SEND_ONLY, "both": FULL | SEND_ONLY}
MEMBERS = [
    *[
        Case(f"member keeps its membership, {n}", CONFORMS, by(member_is_refused, STATES[n]))
        for n in ("full", "both")
    ],
    *[
        Case(
            f"capture begins with {first}, {n}",
            CONFORMS,
            by(begins, first, member_is_refused, STATES[n]),
        )
        for n in ("full", "both")
        for first in ("A.join.g.resp", "refused")
    ],
    Case(
        "missed response to the join",
        CONFORMS,
        by(member_is_refused, FULL),
        lost=these("A.join.g.resp"),
    ),
    Case(
        "missed response, the SA's PSNs show nothing",
        CONFORMS,
        silent_sa,
        lost=these("A.join.g.resp"),
    ),
    *[
        Case(
            f"missed response about the broadcast group, {n}",
            CONFORMS,
            by(broadcast_is_refused, STATES[n], silent=True),
            lost=these("A.join.bcast.resp"),
        )
        for n in ("full", "send only")
    ],
    Case("port that never joined", rules(JOIN_BEFORE), lone_request),
    *[
        Case(
            f"further join of the broadcast group, {n}",
            CONFORMS,
            by(broadcast_is_refused, STATES[n]),
        )
        for n in ("full", "send only")
    ],
]


# ---- requests that are at fault, that are allowed, or that say nothing


def asked_again(changed):
    return refused(asked(**changed), name="again", node=B, **changed)


def granted_to_another(changed):
    """The SA refuses the request, then grants it, to another node."""
    w = asked(**changed)
    record = request(w, B, **changed)
    exchange(w, "granted", B, record, CREATE_MASK, 0, record)
    return w


def existing(changed, attributes=(), deleted=False):
    """B has created the group with these attributes, and deletes it, or not."""
    w = link()
    record = request(w, B, **dict(attributes))
    exchange(w, "created", B, record, CREATE_MASK, 0, record)
    if deleted:
        w.leave(B, "group", GROUP, 0xC010)
        asks_for_group(w, B, "B.get")
    return refused(w, **changed)


def asks_for_group(w, node, name):
    """The SA knows no such group."""
    mgid = ib.mcmember(w.mgid(GROUP))
    w.sa(name, node, ib.GET, ib.ATTR_MC_MEMBER, mgid, ib.MCM["mgid"], b"")
    w[f"{name}.resp"]["mad.status"] = NO_RECORDS


def with_mgid(changed, at, octets):
    """The MGID of the request has other octets."""
    w = link()
    data = bytearray(request(w, A, **changed))
    data[at : at + len(octets)] = octets
    exchange(w, "refused", A, bytes(data), CREATE_MASK)
    return w


def of_partition(changed):
    w = link()
    w.pkey = 0x8001
    return refused(w, **changed)


def broadcast(w, name, node, **changed):
    """The node joins the broadcast group again; its record has other values."""
    record = request(w, node, group=BROADCAST, **changed)
    exchange(w, name, node, record, JOIN_MASK, 0, record[:36] + ib.u16(0xC000) + record[38:])


def parameters_changed(node, changed, used):
    """The broadcast group's parameters have changed. A uses the new value, or the one before."""
    w = link()
    broadcast(w, "rejoin", node, **changed)
    return refused(w, **used)


def parameters_change_while_it_waits(changed):
    w = asked(**changed)
    broadcast(w, "rejoin", B, **changed)
    response = w.order.index("refused.resp")
    w.order.append(w.order.pop(response))
    for n in w.order[response:]:
        w.times[n] = w.now = w.now + world.GAP
    w.renumber()
    return w


def with_gap(before, queried):
    """A response of the SA is missing before this frame. queried: the SA says before the request that
    it has no such group."""
    w = link()
    if queried:
        asks_for_group(w, A, "A.get")
    w.sa("B.path", B, ib.GET, ib.ATTR_CLASS_PORT_INFO, b"", 0, ib.class_port_info())
    refused(w, qkey=1)
    shift_psns(w, [before, *after(w, before)], [SM.lid])
    return w


def other(name, expected, make, **options):
    return Case(name, expected, make, of=BOTH, deviations=None, **options)


BOTH = SAME_ATTRIBUTES, SIMILAR_ATTRIBUTES
GET_BEFORE, GET_AFTER = "D.join.nodes.resp", "B.path.resp"


def of_attribute(name):
    """The cases of one attribute that is not the broadcast group's."""
    value, rule = OTHER_ATTRIBUTES[name]
    new, found = {name: value}, exactly(("refused.resp", rule))
    created = exactly(("created.resp", rule))
    rows = [
        ("found at the refusal", found, by(asked, **new)),
        ("the same again is reported once", found, by(asked_again, new)),
        ("a record that follows is not reported again", found, by(granted_to_another, new)),
        ("the mask does not name it", CONFORMS, by(asked, mask=CREATE_MASK & ~ib.MCM[name], **new)),
        *[
            (f"refused for reason {n:#x}", CONFORMS, by(asked, status=n, **new))
            for n in (NO_RESOURCES, NO_RECORDS, DENIED)
        ],
        # IBA 15.2.5.17: only a FullMember creates a group
        ("join that creates no group", CONFORMS, by(asked, state=SEND_ONLY, **new)),
        # the request creates no group; its creator chose the attribute
        ("group that exists", CONFORMS, by(existing, new)),
        ("group that exists with it", created, by(existing, new, new)),
        ("group that was deleted", found, by(existing, new, deleted=True)),
        # RFC 4391 section 4: no signature of IPoIB
        ("group of another protocol", CONFORMS, by(with_mgid, new, 2, b"\x40\x01")),
        ("scope without a known broadcast group", CONFORMS, by(with_mgid, new, 1, b"\x18")),
        ("partition without a known broadcast group", CONFORMS, by(of_partition, new)),
        # the node learns the parameters by this join (section 5)
        ("broadcast group itself", CONFORMS, by(asked, group=BROADCAST, **new)),
        *[
            (
                f"{what} is used after a change, {who} join",
                CONFORMS,
                by(parameters_changed, node, new, used),
            )
            for who, node in (("its own", A), ("another port's", B))
            for what, used in (("old value", {}), ("new value", new))
        ],
        ("change while the request waits", CONFORMS, by(parameters_change_while_it_waits, new)),
        ("capture begins late", CONFORMS, by(begins, "A.join.nodes", by(asked, **new))),
    ]
    changed, there = by(parameters_changed, A, new, new), by(existing, new)
    refusal = by(asked, **new)
    lost = [
        ("join of the broadcast group", changed, these("rejoin")),
        ("response about the broadcast group", changed, these("rejoin.resp")),
        ("exchange about the broadcast group", changed, these("rejoin", "rejoin.resp")),
        ("record of a group that exists", there, these("created.resp")),
        ("exchange about a group that exists", there, these("created", "created.resp")),
        ("request", refusal, these("refused")),
        ("refusal", refusal, these("refused.resp")),
    ]
    return [other(f"{name}: {what}", expected, make) for what, expected, make in rows] + [
        other(f"{name}: missed {what}", CONFORMS, make, lost=names) for what, make, names in lost
    ]


def of_selector(name):
    """Component of a request with another selector than "exactly", or without it."""
    new = {name: OTHER_ATTRIBUTES[name][0]}
    mask = CREATE_MASK & ~ib.MCM[f"{name}_sel"]
    selectors = {"greater": 0, "less": 1, "largest": 3}
    return [
        other(f"{name}: without its selector", CONFORMS, by(asked, mask=mask, **new)),
        *[
            other(f"{name}: selector {n}", CONFORMS, by(asked, **new, **{f"{name}_sel": value}))
            for n, value in selectors.items()
        ],
    ]


CASES = [
    *MEMBERS,
    *[case for name in OTHER_ATTRIBUTES for case in of_attribute(name)],
    *[case for name in SELECTED for case in of_selector(name)],
    other("the broadcast group's attributes", CONFORMS, asked),
    other("missed response may have the record", CONFORMS, by(with_gap, GET_BEFORE, False)),
    other("missed response after the SA knew no group", CONFORMS, by(with_gap, GET_AFTER, True)),
    other(
        "missed response before the SA knew no group",
        exactly(("refused.resp", SAME_ATTRIBUTES)),
        by(with_gap, GET_BEFORE, True),
    ),
]

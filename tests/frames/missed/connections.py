# SPDX-License-Identifier: GPL-2.0-or-later
"""CM messages that were not captured, and unusual but conformant sequences of them: the set-up of two
connections at once, earlier connections, and those of other protocols."""
from frames import ib
from frames.fabric import C
from frames.messages import arp, ping
from frames.missed import CONFORMS, Case, any_of, by, exactly, excludes, includes, these
from frames.variants import forms
from frames.world import A, B, RC_IDS, RC_QPS, RECV_MTU, UC_IDS, UC_QPS, World

BROADCAST = ("bcast", "255.255.255.255", 0xC000)
CROSSING, BEFORE_IP = "rfc4755.3.3.simultaneous", "rfc4755.2.3.connection-before-ip"
MTU, TYPE = "rfc4755.5.1.connection-mtu", "rfc4755.4.type"
HEADER = "rfc4755.4.encapsulation-header"
TIMEOUT, CONSUMER = 4, 28  # IBA 12.6.7.2
REJ_REQ, REJ_REP, REJ_NONE = 0, 1, 2  # IBA 12.6.7
UC = 1
ROUTER = 0x30


def joined():
    w = World()
    for node in (A, B, C):
        w.smps(node)
        w.join(node, *BROADCAST)
    return w


def private(node, mtu=RECV_MTU):
    return ib.private_data(node.qpn, mtu)


def req(w, name, a, b, number, qp, psn=0x100, service=None, transport=0, data=None):
    w.tid += 1
    service = service or ib.service_id_rfc(b.qpn)
    path = a.lid, b.lid, a.gid, b.gid
    data = data or private(a)
    octets = ib.cm_req(
        w.tid, number, service, a.guid, qp, psn, *path, data, transport=transport, pkey=w.pkey
    )
    w.mad(name, a, b, octets)
    return w.tid


def rep(w, name, b, a, tid, ids, qp, psn=0x200, data=None):
    octets = ib.cm_rep(tid, ids[1], ids[0], qp, psn, b.guid, data or private(b))
    w.mad(name, b, a, octets)


def rtu(w, name, a, b, tid, ids, data=None):
    w.mad(name, a, b, ib.cm_rtu(tid, *ids, data or private(a)))


def rej(w, name, a, b, tid, ids, reason, message=REJ_REQ):
    w.mad(name, a, b, ib.cm_rej(tid, *ids, reason, message, pdata=private(a)))


def last_requests(w):
    """They show which packets of the GSIs are missing."""
    w.last_request(A)
    w.last_request(B)
    return w


# ---- REQs that cross: A's address is the smaller one, so A accepts and B rejects (RFC 4755 3.3)


def crossed(accepted=True):
    """A sends a REQ, and B one before its response. B rejects A's, and A accepts B's, or not."""
    w = joined()
    first = req(w, "first.req", A, B, RC_IDS[0], RC_QPS[0])
    second = req(w, "second.req", B, A, UC_IDS[0], UC_QPS[0])
    rej(w, "first.rej", B, A, first, (0, RC_IDS[0]), CONSUMER)
    if accepted:
        rep(w, "second.rep", A, B, second, UC_IDS, UC_QPS[1])
    return w, second


def requester_rejects_the_rep(w, tid):
    rej(w, "second.rej", B, A, tid, UC_IDS, CONSUMER, REJ_REP)


def responder_gives_up(w, tid):
    rej(w, "second.rej", A, B, tid, UC_IDS[::-1], CONSUMER, REJ_NONE)


def accepted_late(repeated, received=False):
    """A sends a REQ, and B one before its response. A accepts B's. Then B accepts A's. repeated: A
    repeats its REQ before that, because the first one was lost. received: B sends an MRA for A's
    REQ before its own."""
    w = joined()
    first = req(w, "first.req", A, B, RC_IDS[0], RC_QPS[0])
    octets = bytes(w["first.req"].payload)
    if received:
        mra = ib.cm_mra(first, *RC_IDS[::-1], pdata=private(B))
        w.mad("first.mra", B, A, mra)
    second = req(w, "second.req", B, A, UC_IDS[0], UC_QPS[0])
    rep(w, "second.rep", A, B, second, UC_IDS, UC_QPS[1])
    rtu(w, "second.rtu", B, A, second, UC_IDS)
    if repeated:
        w.mad("first.again", A, B, octets, seconds=4.3)
    rep(w, "first.rep", B, A, first, RC_IDS, RC_QPS[1])
    rtu(w, "first.rtu", A, B, first, RC_IDS)
    return last_requests(w)


def given_up(between=False, asks=False):
    """B gives up its REQ with a REJ, which A's REQ may cross. Then B accepts A's REQ. asks: B sends
    a request to the SA before that, whose PSN shows whether the REJ was missed."""
    w = joined()
    first = req(w, "first.req", B, A, UC_IDS[0], UC_QPS[0])
    second = req(w, "second.req", A, B, RC_IDS[0], RC_QPS[0]) if between else None
    rej(w, "first.rej", B, A, first, (UC_IDS[0], 0), TIMEOUT)
    if asks:
        w.subscribe(B, 66)
    if not between:
        second = req(w, "second.req", A, B, RC_IDS[0], RC_QPS[0])
    rep(w, "second.rep", B, A, second, RC_IDS, RC_QPS[1])
    rtu(w, "second.rtu", A, B, second, RC_IDS)
    return last_requests(w)


SECOND = A.also(qpn=0x900, ip="10.0.0.11")


def resolved(second):
    w = joined()
    for n, node in enumerate((A, second)):
        w.broadcast(f"ask.{n}", node, arp(1, node, B, bytes(20)))
        w.ud(f"answer.{n}", B, node, arp(2, B, node))
    return w


def two_interfaces(second):
    """A's port has two interfaces. B sends a REQ to the second one, and the first one, or the
    second, sends one to B, which accepts it."""
    w = resolved(SECOND)
    sender = SECOND if second else A
    own = req(w, "first.req", B, SECOND, UC_IDS[0], UC_QPS[0])
    tid = req(w, "second.req", sender, B, RC_IDS[0], RC_QPS[0])
    rep(w, "second.rep", B, sender, tid, RC_IDS, RC_QPS[1])
    rep(w, "first.rep", SECOND, B, own, UC_IDS, UC_QPS[1])
    return last_requests(w)


# ---- a sender whose connection the receiver has ended


def sends_on(accepted, mtu):
    """C has a UC connection to A, which ends it; C does not receive the DREQ. A uses the QP for a
    connection to B, and C sends on."""
    w = joined()
    qp, psns = RC_QPS[0], iter(range(0x100, 0x200))

    def send(name, size=56):
        w.data(name, C, A, qp, next(psns), ping(C, A, size=size), transport=UC)

    old = req(w, "old.req", C, A, 0xC1, 0x301, transport=UC)
    rep(w, "old.rep", A, C, old, (0xC1, 0xA9), qp, psn=0x100)
    rtu(w, "old.rtu", C, A, old, (0xC1, 0xA9))
    send("old.1")
    w.mad("old.dreq", A, C, ib.cm_dreq(0x99, 0xA9, 0xC1, 0x301))
    w.now += 60 * 10**9
    new = req(w, "new.req", A, B, RC_IDS[0], qp, transport=UC)
    send("old.2")
    if accepted:
        rep(w, "new.rep", B, A, new, RC_IDS, RC_QPS[1], data=private(B, mtu))
        rtu(w, "new.rtu", A, B, new, RC_IDS)
    else:
        rej(w, "new.rej", B, A, new, (0, RC_IDS[0]), CONSUMER)
    w.now += 10**9
    send("old.3", 1500)
    return last_requests(w)


# ---- data of the responder before a REP that may be a repeated one


def lost_rtu():
    """IBA 12.9.8: the requester's data shows the responder that the connection is set up, but the
    RTU was lost, so the REP is repeated."""
    w = joined()
    tid = req(w, "c.req", A, B, RC_IDS[0], RC_QPS[0])
    rep(w, "c.rep", B, A, tid, RC_IDS, RC_QPS[1])
    w.data("c.ping", A, B, RC_QPS[1], 0x200, ping(A, B))
    w.data("c.pong", B, A, RC_QPS[0], 0x100, ping(B, A, reply=True))
    w.now += 10**9
    rep(w, "c.again", B, A, tid, RC_IDS, RC_QPS[1])
    rtu(w, "c.rtu", A, B, tid, RC_IDS)
    return last_requests(w)


def refused_after_data():
    """The requester sends data, and then a REJ instead of the RTU. Its data allows that of the
    responder (IBA 12.9.8)."""
    w = joined()
    tid = req(w, "c.req", A, B, RC_IDS[0], RC_QPS[0])
    rep(w, "c.rep", B, A, tid, RC_IDS, RC_QPS[1])
    w.data("c.ping", A, B, RC_QPS[1], 0x200, ping(A, B))
    rej(w, "c.rej", A, B, tid, RC_IDS, CONSUMER, REJ_REP)
    w.data("c.pong", B, A, RC_QPS[0], 0x100, ping(B, A, reply=True))
    return last_requests(w)


# ---- alternate paths (IBA 12.8.1) of a later connection of another protocol

OTHER_SERVICE = 0x123456789ABCDEF0
OTHER_PRIVATE = bytes(range(0xA1, 0xA1 + 60))
ALTERNATE = 0x21, 0x22  # LIDs of A and B
LIKE_IPV4 = ib.u16(0x0800) + bytes(62)  # another protocol's data: a number and zeros
PLAIN_IPV4 = ping(A, B)[4:]  # without an encapsulation header


def send(w, name, up, qp, psn, payload):
    """Over the alternate path."""
    src, dst = ALTERNATE if up else ALTERNATE[::-1]
    w.put(name, ib.Frame(ib.RC | ib.ONLY, payload, dlid=dst, slid=src, destqp=qp, psn=psn))


def migrates(w, name, qp, private_data=b""):
    w.tid += 1
    gids = A.gid, B.gid
    w.mad(name + ".lap", A, B, ib.cm_lap(w.tid, *RC_IDS, qp, *ALTERNATE, *gids, private_data))
    w.mad(name + ".apr", B, A, ib.cm_apr(w.tid, *RC_IDS[::-1]))


def two_pings(w):
    """As many show that data with the next PSN is the connection's."""
    w.data("first.ping", A, B, RC_QPS[1], 0x200, ping(A, B))
    w.data("first.again", A, B, RC_QPS[1], 0x201, ping(A, B))


def migrates_later(psn, payload=LIKE_IPV4):
    """The first connection has an alternate path. The payload is sent on it, with this PSN."""
    w = joined()
    w.set_up("first", A, B, RC_IDS, RC_QPS)
    migrates(w, "first", RC_QPS[1])
    two_pings(w)
    w.now += 60 * 10**9
    send(w, "late", True, RC_QPS[1], psn, payload)
    return w


def other_queue_pairs(lap_qp):
    """A later connection has the same communication IDs and other QPs. Its REQ, REP and RTU were
    not captured, and it has an alternate path. Another connection has the first one's QP."""
    w = joined()
    w.set_up("first", A, B, RC_IDS, RC_QPS)
    two_pings(w)
    w.now += 60 * 10**9
    migrates(w, "later", lap_qp)
    send(w, "late", True, RC_QPS[1], 0x202, LIKE_IPV4)
    return w


# ---- data of another protocol on the QPs of an IPoIB connection


def other_data(psn, ended=False, seconds=60, payload=LIKE_IPV4):
    """IPoIB on a connection; then two messages on its QP with this payload, from this PSN on. The set-up of their connection was not captured. ended: the DREQ and the DREP
    of the first connection were captured."""
    w = joined()
    w.set_up("first", A, B, RC_IDS, RC_QPS)
    two_pings(w)
    if ended:
        w.end("first", A, B, RC_IDS, RC_QPS)
    w.now += seconds * 10**9
    for n in range(2):
        w.data(f"late.{n}", A, B, RC_QPS[1], psn + n, payload)
    return w


def no_header(psn, ended=False):
    return other_data(psn, ended, payload=PLAIN_IPV4)


# ---- the cases


def given_up_after_an_rep(ends):
    w, tid = crossed()
    ends(w, tid)
    return last_requests(w)


def smaller_address_rejects():
    w, tid = crossed(accepted=False)
    rej(w, "second.rej", A, B, tid, (0, UC_IDS[0]), CONSUMER)
    return last_requests(w)


def repeated_before_the_response():
    """The RTU's PSN shows that no later repetition was missed."""
    w = accepted_late(repeated=True)
    again = w["first.again"]
    w.drop("first.again")
    w.insert("second.req", "first.again", again)
    w.renumber()
    return w


def to_another_interface():
    """The second interface, whose address is the smallest, sends a REQ to B, which sends one to the
    first interface. B accepts, although its address is larger."""
    third = A.also(qpn=0x30, ip="10.0.0.12")
    w = resolved(third)
    tid = req(w, "first.req", third, B, RC_IDS[0], RC_QPS[0])
    own = req(w, "second.req", B, A, UC_IDS[0], UC_QPS[0])
    rep(w, "first.rep", B, third, tid, RC_IDS, RC_QPS[1])
    rep(w, "second.rep", A, B, own, UC_IDS, UC_QPS[1])
    return last_requests(w)


def dropped(w, *names):
    w.drop(*names)
    return w


def begins(make, name):
    w = make()
    w.begin(name)
    return w


def own_end_is_too_long():
    """The next packet of A's GSI shows that none is missing."""
    w = sends_on(True, 1024)
    w["old.3"]["slid"] = B.lid
    return dropped(w, "old.2")


def from_another_lid(far):
    """B's data has another LID than its CM messages. If B is in another subnet, both are those of
    routers."""
    b = B.also(gid="2001:db8::2:c902:24:f636") if far else B
    w = joined()
    tid = req(w, "c.req", A, b, RC_IDS[0], RC_QPS[0])
    rep(w, "c.rep", b, A, tid, RC_IDS, RC_QPS[1], data=private(b, 1024))
    w.data("c.long", b, A, RC_QPS[0], 0x100, ping(b, A, size=1500))
    w["c.long"]["slid"] = ROUTER
    return last_requests(w)


def from_a_further_lid(lmc):
    """With LMC 1, B has the LIDs 2 and 3 (IBA 4.1.3)."""
    w = World()
    w.smps(A)
    w.smps(B)
    for name in "B.portinfo", "B.portinfo.resp":
        w[name].payload[64 + 34] |= lmc
    w.join(A, *BROADCAST)
    w.join(B, *BROADCAST)
    tid = req(w, "c.req", A, B, RC_IDS[0], RC_QPS[0])
    rep(w, "c.rep", B, A, tid, RC_IDS, RC_QPS[1], data=private(B, 1024))
    w.data("c.long", B, A, RC_QPS[0], 0x100, ping(B, A, size=1500))
    w["c.long"]["slid"] = B.lid + 1
    return last_requests(w)


BOTH = any_of("first.", "second.")
CONNECTION = any_of("c.")
LATE = lambda make, first: by(begins, make, first)
FORMS = {"InfiniBand": forms.infiniband, "RoCE": forms.roce2}
ACCEPTED = {"accepted": True, "refused": False}
ITS_TYPE = exactly(("late.0", TYPE), ("late.1", TYPE))  # the message violates it
ITS_HEADER = exactly(("late.0", HEADER), ("late.1", HEADER))

CROSSING_REQUESTS = [
    # A's address is the smaller one, so A accepts and B rejects (RFC 4755 3.3)
    *[
        Case(
            f"missed REP before a REJ, {end.__name__}",
            CONFORMS,
            by(given_up_after_an_rep, end),
            lost=BOTH,
        )
        for end in (requester_rejects_the_rep, responder_gives_up)
    ],
    Case("REJ by the smaller address", exactly(("second.rej", CROSSING)), smaller_address_rejects),
    # only an outstanding REQ counts, and B's is not outstanding any more
    Case(
        "repeated REQ after the response to the other",
        CONFORMS,
        by(accepted_late, repeated=True),
        lost=any_of("first.", "second.", most=2),
    ),
    # when B received A's REQ, B had none outstanding
    Case(
        "REQ that the responder received before it sent its own",
        CONFORMS,
        by(accepted_late, repeated=False, received=True),
        lost=any_of("first.re", "first.rt", "second."),
    ),
    Case(
        "late acceptance of a REQ that was not repeated",
        exactly(("first.rep", CROSSING)),
        by(accepted_late, repeated=False),
    ),
    Case(
        "REQ that was repeated before the response to the other",
        exactly(("first.rtu", CROSSING)),
        repeated_before_the_response,
    ),
    *[
        Case(
            f"requester that gives up {when}, {what}",
            CONFORMS,
            by(given_up, between, asks),
            lost=BOTH,
        )
        for when, between in (("before", False), ("crossing", True))
        for what, asks in (("no request", False), ("request", True))
    ],
    Case(
        "acceptance of a crossing REQ",
        exactly(("second.rep", CROSSING)),
        lambda: dropped(given_up(), "first.rej"),
    ),
    # the link-layer address, not the port, shows an outstanding REQ
    Case("REQs of different interfaces", CONFORMS, by(two_interfaces, False), lost=BOTH),
    Case("REQ to another interface", CONFORMS, to_another_interface, lost=BOTH),
    Case("REQs of one interface", exactly(("first.rep", CROSSING)), by(two_interfaces, True)),
]

ENDED_BY_THE_RECEIVER = [
    *[
        Case(
            f"sender that does not know the end, {what}, {form}",
            CONFORMS,
            by(sends_on, accepted, 1024),
            lost=any_of("old.", "new.", most=2),
            form=FORMS[form],
        )
        for what, accepted in ACCEPTED.items()
        for form in FORMS
    ],
    *[
        Case(
            f"sender that does not know the end, late, {what}, {form}",
            CONFORMS,
            LATE(by(sends_on, accepted, 1024), "old.2"),
            form=FORMS[form],
        )
        for what, accepted in ACCEPTED.items()
        for form in FORMS
    ],
    Case("long datagram of the end", exactly(("A.last", MTU)), own_end_is_too_long),
    Case("long datagram from a router", includes(("c.long", MTU)), by(from_another_lid, True)),
    Case("long datagram from another LID", excludes("c.long", MTU), by(from_another_lid, False)),
    Case("long datagram from a further LID", includes(("c.long", MTU)), by(from_a_further_lid, 1)),
    Case("long datagram, no further LID", excludes("c.long", MTU), by(from_a_further_lid, 0)),
]

REPEATED_REP = [
    *[
        Case(
            f"missed REP before the responder's data, {form}",
            CONFORMS,
            lost_rtu,
            lost=CONNECTION,
            form=FORMS[form],
        )
        for form in FORMS
    ],
    Case("responder's data after data and a REJ", CONFORMS, refused_after_data),
    Case("missed REP, late", CONFORMS, LATE(lost_rtu, "c.req"), lost=CONNECTION),
    Case(
        "responder's data before its REP",
        exactly(("c.again", BEFORE_IP)),
        lambda: dropped(lost_rtu(), "c.rep"),
    ),
]

SET_UP = these("first.req", "first.rep", "first.rtu")
OTHER_CONNECTIONS = [
    # PSNs of another connection start anywhere in 24 bits (IBA 9.7.2)
    *[
        Case(f"{what} PSN on an alternate path", CONFORMS, by(migrates_later, psn))
        for what, psn in (("far", 0x900000), ("near", 0x20A))
    ],
    Case("wrong Type on an alternate path", exactly(("late", TYPE)), by(migrates_later, 0x202)),
    Case("alternate path of a later connection", CONFORMS, by(other_queue_pairs, 0x404)),
    Case(
        "alternate path of the connection",
        exactly(("late", TYPE)),
        by(other_queue_pairs, RC_QPS[1]),
    ),
    *[
        Case(f"near PSN after a pause, {what}", CONFORMS, by(other_data, 0x20A, ended))
        for what, ended in (("not ended", False), ("ended", True))
    ],
    Case("next PSN after a pause", ITS_TYPE, by(other_data, 0x202)),
    Case("no header, next PSN after a pause", ITS_HEADER, by(no_header, 0x202)),
    Case("no header, near PSN after a pause", CONFORMS, by(no_header, 0x20A)),
    Case("no header, next PSN after the end", CONFORMS, by(no_header, 0x202, ended=True)),
    Case("near PSN on an unknown connection", CONFORMS, by(other_data, 0x20A), lost=SET_UP),
    Case("next PSN on an unknown connection", ITS_TYPE, by(other_data, 0x202), lost=SET_UP),
]

CASES = [*CROSSING_REQUESTS, *ENDED_BY_THE_RECEIVER, *REPEATED_REP, *OTHER_CONNECTIONS]

# SPDX-License-Identifier: GPL-2.0-or-later
"""CM messages of an earlier connection that were not captured: its REQ was answered in a message that
is missing, or a later connection of another protocol has its communication IDs."""
from frames import ib
from frames.fabric import FULL, JOIN_MASK, Node
from frames.ib import ACTIVE, DOWN, PORT_INFO
from frames.missed import CONFORMS, Case, any_of, by, exactly, includes, these
from frames.variants import forms
from frames.world import A, B, RC_IDS, RC_QPS, UC_IDS, UC_QPS, World, port_info

BROADCAST = ("bcast", "255.255.255.255", 0xC000)
# ---- a REQ whose response was not captured, and a later REQ in the other direction

CROSSING = "rfc4755.3.3.simultaneous"
RESPONSE_TIMEOUT = 24 + 43  # in the MAD (IBA 12.6.5), and its flow control bits
OTHER_AT_LID = Node(A.lid, "fe80::2:c903:0:aaaa", 0x99, "10.0.0.9", "fe80::202:c903:0:aaaa")


def first_packet(_w):
    """The capture has no packet of A before the REQ."""


def joined_before(w):
    w.join(A, *BROADCAST)


def restarted(w):
    """A's port is brought up before; after() brings it up again."""
    w.smps(A)


def shared_lid(w):
    """A's port shares its LID with another one (IBA 4.1.1), which joins first."""
    mgid = w.mgid(BROADCAST[1])
    request = ib.mcmember(mgid, OTHER_AT_LID.gid, pkey=w.pkey, join=FULL)
    record = w.member(BROADCAST[1], OTHER_AT_LID, FULL, BROADCAST[2])
    kind = ib.SET, ib.ATTR_MC_MEMBER, request, JOIN_MASK, record
    w.sa("other.join", OTHER_AT_LID, *kind)
    w.join(A, *BROADCAST)


PRECEDING = [first_packet, joined_before, restarted, shared_lid]


def bring_up_again(w):
    """The PSNs of A's GSI start from 0 again."""
    for name, state in ("A.down", DOWN), ("A.up", ACTIVE):
        w.exchange_smp(name, A, ib.SET, PORT_INFO, 1, port_info(A, state))
    del w.psns[A.lid, 1]


def connects_in_turn(before):
    """B connects to A and ends the connection. Then A connects to B, which accepts, although its
    address is the larger one."""
    w = World()
    before(w)
    w.set_up("first", B, A, UC_IDS, UC_QPS)
    p = w["first.req"].payload
    p[RESPONSE_TIMEOUT] = 20 << 3 | p[RESPONSE_TIMEOUT] & 7  # 4.3 s
    w.end("first", B, A, UC_IDS, UC_QPS)
    if before is restarted:
        bring_up_again(w)
    w.set_up("second", A, B, RC_IDS, RC_QPS)
    return w


def request_alone(before, late):
    """A sends its REQ instead of a response. late: A sent packets before the capture began."""
    w = connects_in_turn(before)
    w.drop(*[n for n in w.order if n.startswith("first.") and n != "first.req"])
    for n in w.order:
        p = w[n]
        if late and p["slid"] == A.lid and p["srcqp"] == 1:
            p["psn"] += 7
    return w


CROSSED = exactly(("second.rep", CROSSING))
OVER_ROCE = by(connects_in_turn, joined_before)  # the GSI of a port without a LID is not followed
UNANSWERED = [
    *[
        Case(
            f"missed response to a REQ, {before.__name__}",
            CONFORMS,
            by(connects_in_turn, before),
            lost=any_of("first.", but=("first.req",)),
        )
        for before in PRECEDING
    ],
    Case("response to a REQ, RoCE", CONFORMS, OVER_ROCE, form=forms.roce2),
    Case(
        "missed response to a REQ, RoCE",
        CONFORMS,
        OVER_ROCE,
        form=forms.roce2,
        lost=these("first.rep", "first.rtu", "first.dreq"),
    ),
    *[
        Case(
            f"REQ without a response, {before.__name__}, {'late' if late else 'whole'}",
            CONFORMS if late and before is first_packet else CROSSED,
            by(request_alone, before, late),
        )
        for before in (first_packet, joined_before)
        for late in (False, True)
    ],
]


def arrange(w, *names):
    """Puts these frames into this order."""
    places = sorted(w.order.index(n) for n in names)
    times = sorted(w.times[n] for n in names)
    for place, time, name in zip(places, times, names):
        w.order[place], w.times[name] = name, time


# ---- a later connection of another protocol, with the same communication IDs

OTHER_SERVICE = 0x123456789ABCDEF0
OTHER_PRIVATE = bytes(range(0xA1, 0xA1 + 60))
PRIVATE_AT = {"req": 164, "rep": 60, "rtu": 32, "rej": 108}


def mra_to_req(w, tid):
    """B delays its REP."""
    mra = ib.cm_mra(tid, *reversed(RC_IDS), pdata=OTHER_PRIVATE)
    w.mad("second.mra", B, A, mra)
    arrange(w, "second.mra", "second.rep", "second.rtu")


def rej_of_req(w, tid):
    """B rejects the REQ. The REJ need not have an ID of B (IBA 12.6.7)."""
    w.drop("second.rep", "second.rtu")
    w.mad("second.rej", B, A, ib.cm_rej(tid, 0, RC_IDS[0], 28, pdata=OTHER_PRIVATE))


def rej_of_rep(w, tid):
    """A rejects the REP."""
    w.drop("second.rtu")
    w.mad("second.rej", A, B, ib.cm_rej(tid, *RC_IDS, 28, message=1, pdata=OTHER_PRIVATE))


def rej_of_timeout(w, tid):
    """No REP reaches A, which knows no ID of B."""
    w.drop("second.rep", "second.rtu")
    w.mad("second.rej", A, B, ib.cm_rej(tid, RC_IDS[0], 0, 4, pdata=OTHER_PRIVATE))


SET_UPS = [None, mra_to_req, rej_of_req, rej_of_rep, rej_of_timeout]


def reused_ids(change, ended):
    """A connects to B twice, with the same communication IDs, and the second time for another
    protocol, which has other private data."""
    w = World()
    w.join(A, *BROADCAST)
    w.join(B, *BROADCAST)
    w.set_up("first", A, B, RC_IDS, RC_QPS)
    w.end("first", A, B, RC_IDS, RC_QPS)
    w.set_up("second", A, B, RC_IDS, RC_QPS)
    if change:
        change(w, w["second.req"]["mad.tid"])
    w["second.req"]["req.service"] = OTHER_SERVICE
    for name in w.order:
        of, message = name.split(".")[:2]
        at = PRIVATE_AT.get(message)
        if of == "second" and at:
            w[name].payload[at : at + len(OTHER_PRIVATE)] = OTHER_PRIVATE
    if not ended:
        w.order = [n for n in w.order if n not in ("first.dreq", "first.drep")]
    return w


def of_the_same_protocol(change):
    """The second connection is one of IPoIB, and has the other private data."""
    w = reused_ids(change, True)
    req = w["first.req"].copy()
    req["mad.tid"] = w["second.req"]["mad.tid"]
    w["second.req"].payload = req.payload
    w["second.req"].before = None
    return w


# How the second set-up goes on, and the messages after it that have private data.
LAST_MESSAGES = {
    None: ["second.rtu"],
    mra_to_req: ["second.mra", "second.rtu"],
    rej_of_req: ["second.rej"],
    rej_of_rep: ["second.rej"],
    rej_of_timeout: ["second.rej"],
}


def of_set_up(change):
    what = change.__name__ if change else "rtu"
    return [
        *[
            Case(
                f"missed REQ with the same IDs, {what}, {'ended' if ended else 'end is missed'}",
                CONFORMS,
                by(reused_ids, change, ended),
                lost=any_of("second.", "first.rep", "first.rtu"),
            )
            for ended in (True, False)
        ],
        Case(
            f"private data of the same connection, {what}",
            includes(*[(frame, "rfc4755.6.reserved-zero") for frame in LAST_MESSAGES[change]]),
            by(of_the_same_protocol, change),
        ),
    ]


CASES = [*UNANSWERED, *[case for change in SET_UPS for case in of_set_up(change)]]

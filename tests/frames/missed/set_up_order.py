# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of CM messages and data: frames that were captured in another order than they were sent, a
REQ whose time is over, a connection after a refused one."""
from frames import ib
from frames.connection import MTU, Connection
from frames.fabric import A, B, C, D, GSI, JOIN_MASK, SM, Tape, mad_frame
from frames.ib import ONLY
from frames.messages import broadcast_record, ping
from frames.missed import CONFORMS, Case, asks_next, by, exactly, of_tape

BEFORE_IP, CROSSING = "rfc4755.2.3.connection-before-ip", "rfc4755.3.3.simultaneous"


def before_rep(transport=0, ms=1, between=0, up=True, missed=0, copied=False):
    """The responder joins. A datagram over the connection was captured before the REP. up: the
    requester sent it; else the responder. between: number of frames of other nodes between the two.
    ms: time from the frame before the REP to the REP. missed: number of packets of the responder's
    GSI that are missing before the REP. copied: the REQ is captured a second time, before the
    REP."""
    t = Tape()
    record = broadcast_record(port_gid=B.gid)
    t.sa(B, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    joined = t.psns[B.lid, GSI]
    t.sa(SM, B, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t, transport=transport, psns=(1, 1))
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, MTU))
    c.packet(up, ONLY, ping(A, B) if up else ping(B, A), 1)
    for n in range(between):
        t.ud(C, D, ping(C, D, seq=n))
    if copied:
        t.put(t.records[2][1])
    rep = ib.cm_rep(c.tid, c.ids[1], c.ids[0], c.qps[1], 1, B.guid, ib.private_data(B.qpn, MTU))
    t.put(mad_frame(B, A, rep, joined + 1 + missed).ib(), ms=ms)
    c.rtu(ib.private_data(A.qpn, MTU))
    return of_tape(t, REP=len(t.records) - 1)


# ---- a REQ whose time is over

TIMEOUT, RETRIES = 24 + 43, 24 + 51  # in the MAD: IBA 12.6.5


def crossing(seconds, exponent=20, retries=0, repeated=()):
    """B sends a REQ to A, which does not respond. This many seconds later A sends a REQ to B, and B
    accepts it although B's own REQ is still pending, unless that has timed out; B's address is the
    larger one, so it should refuse. exponent: of the REQ's response timeout, 4.096 us * 2^exponent
    (20: 4.3 s). retries: how often B may repeat its REQ; repeated: the times when it does."""
    t = Tape()
    ba = Connection(t, B, A, ids=(7, 0), qps=(0x203, 0), tid=0x77, psns=(1, 0))
    mad = bytearray(ba.request(ib.service_id_rfc(A.qpn), ib.private_data(B.qpn, MTU)))
    mad[TIMEOUT] = exponent << 3 | mad[TIMEOUT] & 7
    mad[RETRIES] = retries << 4
    now = 0
    for at in (0, *repeated):
        t.mad(B, A, bytes(mad), ms=int(1000 * (at - now)) or 1)
        now = at
    ab = Connection(t, A, B, ids=(1, 2), qps=(0x101, 0x202), tid=0x99, psns=(1, 0x10))
    request = ab.request(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, MTU))
    t.put(mad_frame(A, B, request, 0).ib(), ms=int(1000 * (seconds - now)))
    ab.rep(ib.private_data(B.qpn, MTU))
    ab.rtu(ib.private_data(A.qpn, MTU))
    return of_tape(t, REP=len(t.records) - 1)


# ---- a connection after a refused one


STALE, CONSUMER, DUPLICATE = 10, 28, 30  # IBA 12.6.7.2


def after_refusal(missed, other=False, reason=CONSUMER):
    """B refuses A's REQ; then A's QP gets a datagram of B, or of another port. A's next request
    follows. missed: its PSN shows that a packet of A's GSI is missing, as the second REQ."""
    t, record = Tape(), broadcast_record(port_gid=A.gid)
    t.sa(A, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    joined = t.psns[A.lid, GSI]
    t.sa(SM, A, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t)
    c.psns[0] = 1
    req = c.request(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, MTU))
    t.put(mad_frame(A, B, req, joined + 1).ib())
    c.mad(False, ib.cm_rej(c.tid, c.ids[1], c.ids[0], reason, 0, b""))
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n))
    if other:
        c.b = C
    c.packet(False, ONLY, ping(c.b, A), 1)
    asks_next(t, A, joined + 2 + missed)
    return t.erf_pcap()


# ---- the cases

case = by(Case, deviations="linux")
EARLY = exactly(("REP", BEFORE_IP))


def of_transport(name, transport):
    make = by(before_rep, transport)
    rows = [
        ("neighbour", CONFORMS, by(make)),
        ("slow neighbour", CONFORMS, by(make, ms=500)),
        ("5 frames between", CONFORMS, by(make, between=5)),
        ("8 frames between", EARLY, by(make, between=8)),
        ("11 ms later", EARLY, by(make, ms=11, between=1)),
        # two frames of one port are never swapped
        ("the responder's data", EARLY, by(make, up=False)),
        # requests with the same PSN show that two capture points see the packets, one of them later
        # than the other; a request that is sent again has a PSN of its own
        ("copy of another capture point", CONFORMS, by(make, up=False, copied=True)),
        ("later copy of it", CONFORMS, by(make, between=10, up=False, copied=True)),
    ]
    # the RTU may have been lost, so the responder repeats its REP (IBA 12.9.8)
    missed = {
        "requester": by(make, between=8, up=True, missed=1),
        "responder": by(make, between=8, up=False, missed=1),
    }
    return [
        *[case(f"data before the REP, {name}, {what}", *row) for what, *row in rows],
        *[
            case(
                f"missed REP before data of the {who}, {name}", CONFORMS, repeated, of=(BEFORE_IP,)
            )
            for who, repeated in missed.items()
        ],
    ]


def timed(name, expected, *rows):
    """A row: seconds, exponent, when the REQ is repeated."""
    return [
        Case(
            f"{name}, {seconds} s, exponent {exponent}, repeated {repeated}",
            expected,
            by(crossing, seconds, exponent, len(repeated), repeated),
        )
        for seconds, exponent, repeated in rows
    ]


CASES = [
    *of_transport("RC", 0),
    *of_transport("UC", 1),
    *timed(
        "timed out REQ",
        CONFORMS,
        (5, 20, ()),
        (30, 20, (4.2,)),
        (1, 14, ()),
        (1, 14, (0.06, 0.12, 0.18)),
    ),
    *timed(
        "pending REQ",
        exactly(("REP", CROSSING)),
        (1, 20, ()),
        (4, 20, ()),
        (6, 20, (4.2,)),
        (70, 25, ()),
    ),
    *[
        case(f"after a refusal, {name}", expected, make, of=(BEFORE_IP,))
        for name, expected, make in (
            ("missed set-up", CONFORMS, by(after_refusal, 1)),
            ("missed set-up, data of another port", CONFORMS, by(after_refusal, 1, True)),
            ("data", exactly((15, BEFORE_IP)), by(after_refusal, 0)),
            # the other port does not know that A has ended their connection, and sends on
            ("data of a connection that the receiver ended", CONFORMS, by(after_refusal, 0, True)),
            ("stale connection", CONFORMS, by(after_refusal, 0, reason=STALE)),
            ("duplicate", CONFORMS, by(after_refusal, 0, reason=DUPLICATE)),
        )
    ],
]

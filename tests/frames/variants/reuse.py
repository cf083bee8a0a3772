# SPDX-License-Identifier: GPL-2.0-or-later
"""Queue pairs that a later connection has (IBA 12.9.8). All of it is allowed.

A queue pair of an ended or a refused connection is free after its TimeWait, for any connection and
any protocol, as requester's or as responder's."""
from frames import ib
from frames.variants import conforming
from frames.variants.connections import QUIET, connect_again, refuse, set_private
from frames.messages import ping
from frames.world import A, B, RC_QPS, RECV_MTU

MESSAGES = ("req", "rep", "rtu")
SECOND_IDS, SECOND_QPN, SECOND_TID = (0xB9, 0xA9), 0x909, 0x7A02
ALTERNATE_LID = 0x21
SMALL, LARGE = 2048, 8192  # Receive MTUs


def mad(w, name, after, src, octets):
    """A message of A's or B's GSI, a millisecond after another frame."""
    p = w["rc.req" if src is A else "rc.rep"].copy()
    p.payload = bytearray(octets)
    w.insert(after, name, p)
    w.times[name] = w.times[after] + 10**6


def second(w, after, req=None):
    """B connects to A, whose REP names the queue pair that A had in the first connection."""
    (b_id, a_id), own = SECOND_IDS, [ib.private_data(n.qpn, RECV_MTU) for n in (A, B)]
    request = ib.cm_req(
        SECOND_TID, b_id, ib.service_id_rfc(A.qpn), B.guid, SECOND_QPN, 0x100,
        B.lid, A.lid, B.gid, A.gid, own[1],
    )  # fmt: skip
    mad(w, "second.req", after, B, request)
    if req:
        req(w["second.req"])
    rep = ib.cm_rep(SECOND_TID, a_id, b_id, RC_QPS[0], 0x200, A.guid, own[0])
    mad(w, "second.rep", "second.req", A, rep)
    mad(w, "second.rtu", "second.rep", B, ib.cm_rtu(SECOND_TID, b_id, a_id, own[1]))


def set_alternate_path(req, local, remote):
    """The REQ's alternate path is its primary one with other LIDs (IBA 12.6.5)."""
    primary = bytes(req.payload[76:120])
    req.payload[120:164] = ib.u16(local) + ib.u16(remote) + primary[4:]


def second_data(w, after, pong, lid=A.lid):
    """Data of the second connection, from B."""
    w.insert(after, "second.data", pong.copy().set(destqp=RC_QPS[0], psn=0x200, dlid=lid))
    w.times["second.data"] = w.times[after] + 10**6


def refuse_first(w):
    """B rejects A's REQ; nothing else of this connection remains. Returns its pong."""
    pong = w["rc.pong"]
    refuse(w, "rc")
    w.drop(*[n for n in w.order if n.startswith("rc.") and n not in ("rc.req", "rc.rej")])
    return pong


@conforming("the queue pair of a refused REQ responds to a later one")
def refused_responds(w):
    pong = refuse_first(w)
    second(w, "rc.rej")
    second_data(w, "uc.ping6", pong)
    w.renumber()


@conforming("the same; the REQs cross, and the REJ comes after the REP")
def refused_responds_before_rej(w):
    """RFC 4755 3.3: A, whose address is smaller, accepts B's REQ. It knows that B refuses."""
    pong = refuse_first(w)
    second(w, "rc.req")
    w.times["rc.rej"] = w.times["second.rep"] + 10**5
    w.order.remove("rc.rej")
    w.order.insert(w.order.index("second.rep") + 1, "rc.rej")
    second_data(w, "uc.ping6", pong)
    w.renumber()


@conforming("the queue pair of an ended connection gets data at its alternate LID")
def ended_has_alternate_path(w):
    """Both connections have A's second LID in their alternate path, to which the second migrates
    (IBA 17.2.8)."""
    set_alternate_path(w["rc.req"], ALTERNATE_LID, B.lid)
    second(w, "uc.drep", lambda req: set_alternate_path(req, B.lid, ALTERNATE_LID))
    second_data(w, "second.rtu", w["rc.pong"], ALTERNATE_LID)
    w.delay("second.req", QUIET["rc"])
    w.renumber()


@conforming("a later connection with the same queue pairs has larger Receive MTUs")
def larger_receive_mtus(w):
    for message in ("REQ", "REP"):
        set_private(w, "rc", message, ib.u32(SMALL), 4)
    connect_again(w)
    for name, at in (("again.req", 164), ("again.rep", 60)):
        w[name].payload[at + 4 : at + 8] = ib.u32(LARGE)
    w["again.ping"].payload = bytearray(ping(A, B, size=3000))
    w["again.pong"].payload = bytearray(ping(B, A, size=3000, reply=True))


def other_protocol(w):
    """The same with a connection of another protocol, which the capture of an IPoIB interface does
    not have."""
    connect_again(w)
    w["again.req"]["req.service"] = 0x123456789ABCDEF0
    for message, at in (("req", 164), ("rep", 60), ("rtu", 32)):
        w[f"again.{message}"].payload[at : at + 8] = b"\xa5" * 8
    for name in ("ping", "pong"):
        w[f"again.{name}"].payload = bytearray(b"\xde\xad\xbe\xef" + bytes(range(60)))


@conforming("a REP to a REQ that timed out comes after the next REQ with the same ID")
def late_rep(w):
    """The second connection's DREQ is lost on its way, so there is no DREP, and B goes on."""
    first, late = w["rc.req"].copy(), w["rc.rep"].copy()
    for p in (first, late):
        p["mad.tid"] = SECOND_TID
    late["cm.local"] = SECOND_IDS[0]
    late.payload[36:39] = ib.u24(SECOND_QPN)
    w.insert("B.mld.again", "first.req", first)
    w.insert("rc.req", "first.rep", late)
    w.insert("uc.drep", "data", w["rc.pong"].copy().set(psn=0x102))
    w.delay("data", QUIET["rc"])
    w.drop("rc.drep")

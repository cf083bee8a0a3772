# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections: set-up, data, the end (RFC 4755)."""
from frames import ib
from frames.edit import Packet
from frames.variants import INCONCLUSIVE, broken, change, conforming
from frames.variants.groups import ALL
from frames.fabric import C, Node
from frames.messages import arp, igmp_report, mld_report, na, ns, ping, ping6, udp4, udp6
from frames.world import A, B, GROUP_IPV4, NODES, RC_IDS, RC_QPS, RECV_MTU, UC_IDS, UC_QPS

DATA = {
    "RC, IPv4": "rc.ping",
    "RC, IPv4, by the responder": "rc.pong",
    "RC, IPv6": "rc.ping6",
    "UC, IPv4": "uc.ping",
    "UC, IPv4, by the responder": "uc.pong",
    "UC, IPv6": "uc.ping6",
}
# ---- 2.1, 7: what goes over UD


def to_many(a, b):
    """What a must not send to b over a connection."""
    advertisement = ib.nd_na(a.ll, ib.nd_lladdr_option(2, a.addr), 0x20000000)
    return {
        "IPv4 multicast": udp4(a, GROUP_IPV4),
        "IPv4 broadcast": udp4(a, "255.255.255.255"),
        "IGMP report": igmp_report(a, GROUP_IPV4),
        "IPv6 multicast": udp6(a, NODES),
        "MLD report": mld_report(a, NODES),
        "neighbour solicitation": ns(a, b),
        "router solicitation": ib.encap(0x86DD, ib.icmpv6(a.ll, "ff02::2", ib.nd_rs())),
        "router advertisement": ib.encap(0x86DD, ib.icmpv6(a.ll, NODES, ib.nd_ra())),
        "neighbour advertisement": ib.encap(0x86DD, ib.icmpv6(a.ll, NODES, advertisement)),
    }


def replies(a, b):
    return {
        "ARP reply": arp(2, a, b),
        "Inverse ARP reply": arp(9, a, b),  # RFC 2390
        "neighbour advertisement": na(a, b),
    }


for mode, a, b in (("rc", A, B), ("uc", B, A)):
    for way, payload in to_many(a, b).items():

        @broken("rfc4755.2.1.multicast-over-ud", f"{mode.upper()}, {way}", f"{mode}.ping", ALL)
        def multicast(w, name=f"{mode}.ping", payload=payload):
            w[name].payload = bytearray(payload)

    for way, payload in {
        "IPv4 multicast": udp4(a, GROUP_IPV4, bytes(3000)),
        "IPv6 multicast": udp6(a, NODES, bytes(3000)),
    }.items():

        @broken(
            "rfc4755.2.1.multicast-over-ud",
            f"{mode.upper()}, {way} in several packets",
            f"{mode}.ping6",
        )
        def multicast_in_parts(w, name=f"{mode}.ping6", payload=payload):
            in_parts(w, name, payload)

    for way, payload in replies(a, b).items():

        @broken("rfc4755.7.resolution-over-ud", f"{mode.upper()}, {way}", f"{mode}.ping", ALL)
        def reply(w, name=f"{mode}.ping", payload=payload):
            w[name].payload = bytearray(payload)


for mode, a, b in (("rc", A, B), ("uc", B, A)):
    for address in ("10.0.0.255", "10.0.255.255", "10.255.255.255"):

        @broken(
            "rfc4755.2.1.multicast-over-ud",
            f"{mode.upper()}, directed broadcast {address}",
            f"{mode}.ping",
            early=INCONCLUSIVE,
            why="the subnet mask is not in the packet",
        )
        def directed_broadcast(w, name=f"{mode}.ping", a=a, address=address):
            w[name].payload = bytearray(udp4(a, address))


@conforming("IPv4 over RC to hosts whose addresses end in 255 and 127")
def host_like_a_broadcast(w):
    w["rc.ping"].payload = bytearray(udp4(A, "10.7.0.255"))
    w["rc.pong"].payload = bytearray(udp4(B, "10.0.0.127"))


# ---- 2.3: before and after the connection


def early_frame(w, name, after, like, qpn):
    p = w[like].copy()
    p["destqp"] = qpn
    w.insert(after, name, p)
    w.times[name] = w.times[after] + 10**6


def move_before_rtu(w, mode, back, seconds=1, after=None):
    """The responder's data comes after its REP, this long before the RTU."""
    p = w[back]
    w.order.remove(back)
    w.insert(after or f"{mode}.rep", "early", p)
    w.insert("early", "between", w["C.ping"].copy())
    w.renumber_qp(C)
    w.delay(f"{mode}.rtu", seconds)


for mode, like, back, qps in (
    ("rc", "rc.ping", "rc.pong", RC_QPS),
    ("uc", "uc.ping", "uc.pong", UC_QPS),
):

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, the responder before its REP",
        "early",
    )
    def responder_early(w, mode=mode, back=back, qps=qps):
        early_frame(w, "early", f"{mode}.req", back, qps[0])

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, the requester before the REP",
        "early",
    )
    def requester_early(w, mode=mode, like=like, qps=qps):
        early_frame(w, "early", f"{mode}.req", like, qps[1])
        w.insert("early", "between", w["C.ping"].copy())
        w.delay(f"{mode}.rep", 1)

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, the requester right before the REP",
        "early",
        early=INCONCLUSIVE,
        why="neighbours in a capture may have been sent in the other order",
    )
    def requester_nearly_early(w, mode=mode, like=like, qps=qps):
        early_frame(w, "early", f"{mode}.req", like, qps[1])

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, the responder after its REP, and before the RTU",
        "early",
    )
    def before_rtu(w, mode=mode, back=back):
        move_before_rtu(w, mode, back)

    @conforming(f"{mode.upper()}, the responder right before the RTU")
    def nearly_before_rtu(w, mode=mode, back=back):
        move_before_rtu(w, mode, back, 0)

    @conforming(f"{mode.upper()}, the responder before the RTU, but after data")
    def after_first_data(w, mode=mode, like=like):
        w.order.remove(like)
        w.insert(f"{mode}.rep", like, w[like])
        move_before_rtu(w, mode, back, after=like)

    @conforming(f"{mode.upper()}, the same; the first data was not captured")
    def first_data_is_lost(w, mode=mode, like=like, back=back):
        w.order.remove(like)
        move_before_rtu(w, mode, back)

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, without a set-up",
        f"{mode}.ping6",
    )
    def no_set_up(w, mode=mode):
        w.drop(*(f"{mode}.{name}" for name in ("req", "rep", "rtu", "dreq", "drep")))

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, to another queue pair after a REJ",
        f"{mode}.ping6",
    )
    def refused_and_elsewhere(w, mode=mode):
        refuse(w, mode)
        w.drop(f"{mode}.dreq", f"{mode}.drep")

    @broken("rfc4755.2.3.connection-before-ip", f"{mode.upper()}, after a REJ", "late")
    def after_refusal(w, mode=mode, back=back, qps=qps):
        refuse(w, mode)
        w.drop(
            *[
                n
                for n in w.order
                if n.startswith(mode) and n not in (f"{mode}.req", f"{mode}.rej", back)
            ]
        )
        p = w[back]
        w.order.remove(back)
        p["destqp"] = qps[0]
        w.insert(f"{mode}.rej", "late", p)


# The REQs' ACK timeout is 2^18 of 4.096 us, 1.07 s, which may last four times as long (IBA
# 9.7.6.1.3): 4.3 s. With 7 retries, an RC packet may be transmitted again for 34.4 s. A driver may
# send what it had queued for 5 s more.
QUIET = {"rc": 40, "uc": 10}


def after_end(w, mode, like, seconds=None):
    """Data some time after the DREP; the leaves of both nodes follow it."""
    p = w[like].copy()
    p["psn"] += 2
    w.insert("uc.drep", "late", p)
    w.delay("late", QUIET[mode] if seconds is None else seconds)


for mode in ("rc", "uc"):
    for who, like in (("requester", f"{mode}.ping"), ("responder", f"{mode}.pong")):

        @broken(
            "rfc4755.2.3.connection-before-ip",
            f"{mode.upper()}, after the DREP, {who}",
            "late",
            ALL,
        )
        def after_drep(w, mode=mode, like=like):
            after_end(w, mode, like)

        @broken(
            "rfc4755.2.3.connection-before-ip",
            f"{mode.upper()}, 8 s after the DREP, {who}",
            "late",
            early=INCONCLUSIVE,
            why="the TimeWait of the connection may not be over, in which Linux goes on sending",
        )
        def soon_after_drep(w, mode=mode, like=like):
            after_end(w, mode, like, 8)


def end_by_responder(w, mode):
    """The responder sends the DREQ, and the requester the DREP."""
    dreq, drep = w[f"{mode}.dreq"], w[f"{mode}.drep"]
    ids, qps = {"rc": (RC_IDS, RC_QPS), "uc": (UC_IDS, UC_QPS)}[mode]
    for p in (dreq, drep):
        p["slid"], p["dlid"] = p["dlid"], p["slid"]
    dreq.payload[24:32] = ib.u32(ids[1]) + ib.u32(ids[0])
    dreq.payload[32:35] = ib.u24(qps[0])
    drep.payload[24:32] = ib.u32(ids[0]) + ib.u32(ids[1])
    w.renumber()


def after_dreq(w, mode, sender, seconds, peer=False):
    """The sender ends the connection, and gets no response; then it sends data. peer: its peer ends the
    connection instead."""
    after_end(w, mode, f"{mode}.{'ping' if sender == 'requester' else 'pong'}", seconds)
    if (sender == "responder") != peer:
        end_by_responder(w, mode)
    w.drop(f"{mode}.drep")


for mode in ("rc", "uc"):
    for sender in ("requester", "responder"):

        @broken(
            "rfc4755.2.3.connection-before-ip",
            f"{mode.upper()}, after the sender's DREQ, {sender}",
            "late",
        )
        def after_own_dreq(w, mode=mode, sender=sender):
            after_dreq(w, mode, sender, QUIET[mode])


for sender in ("requester", "responder"):

    @conforming(f"data after a DREQ that the {sender} may not have received")
    def after_dreq_of_the_peer(w, sender=sender):
        after_dreq(w, "rc", sender, QUIET["rc"], peer=True)

    @conforming(f"data of the {sender} soon after its DREQ")
    def soon_after_own_dreq(w, sender=sender):
        after_dreq(w, "rc", sender, 1)


def go_on(w, mode, sender, step, peer=False, messages=3, acknowledged=False, start=1):
    """After several messages, the sender's DREQ and the DREP: messages with new PSNs, the first 1 s
    later (start). peer: its peer has ended the connection. acknowledged: each, and all data before
    the DREQ (RC)."""
    like, after = f"{mode}.{'ping' if sender == 'requester' else 'pong'}", "uc.drep"
    newest = max(p["psn"] for p in w.packets.values() if p["destqp"] == w[like]["destqp"])
    if (sender == "responder") != peer:
        end_by_responder(w, mode)
    last = max((n for n in w.order if w[n]["destqp"] == w[like]["destqp"]), key=w.order.index)
    newest += 1
    p = w[like].copy()
    p["psn"] = newest
    w.insert(last, "early", p)
    if acknowledged:
        acknowledge(w, after, "early.ack", mode, sender, newest)
        after = "early.ack"
    for n in range(messages):
        p = w[like].copy()
        p["psn"] = newest + 1 + n
        w.insert(after, f"late.{n}", p)
        w.delay(f"late.{n}", step if n else start)
        after = f"late.{n}"
        if acknowledged:
            acknowledge(w, after, f"late.{n}.ack", mode, sender, newest + 1 + n)
            after = f"late.{n}.ack"


def acknowledge(w, after, name, mode, sender, psn):
    """The receiver of the sender's data acknowledges it, up to this PSN (IBA 9.7.5.1)."""
    of = w[f"{mode}.{'pong' if sender == 'requester' else 'ping'}"]
    ids = {name: of[name] for name in ("slid", "dlid", "destqp", "pkey")}
    octets = ib.Frame(ib.RC | ib.ACK, b"", psn=psn, ext=ib.aeth(0x1F, 1), **ids).ib()
    w.insert(after, name, Packet(octets))


for mode in ("rc", "uc"):
    for sender in ("requester", "responder"):

        @broken(
            "rfc4755.2.3.connection-before-ip",
            f"{mode.upper()}, goes on for 2 s after its DREQ and the DREP, {sender}",
            "late.2",
            ALL,
        )
        def goes_on(w, mode=mode, sender=sender):
            go_on(w, mode, sender, 0.5)

        @conforming(f"{mode.upper()}, one burst of the {sender} after its DREQ and the DREP")
        def burst_after_end(w, mode=mode, sender=sender):
            go_on(w, mode, sender, 0.02)

        @conforming(f"{mode.upper()}, the {sender} goes on after the DREQ of its peer")
        def peer_goes_on(w, mode=mode, sender=sender):
            go_on(w, mode, sender, 0.5, peer=True)


# The TimeWait of one ACK timeout lasts 4.3 s at most.
for sender in ("requester", "responder"):

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"goes on after its DREP and the TimeWait, {sender}",
        "late.2",
    )
    def goes_on_after_drep(w, sender=sender):
        go_on(w, "rc", sender, 0.5, peer=True, start=12)

    @conforming(f"the {sender} goes on 8 s after its DREP")
    def goes_on_soon_after_drep(w, sender=sender):
        go_on(w, "rc", sender, 0.5, peer=True, start=8)

    @conforming(f"one burst of the {sender} after its DREP and the TimeWait")
    def burst_after_drep(w, sender=sender):
        go_on(w, "rc", sender, 0.02, peer=True, start=12)


for sender in ("requester", "responder"):

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"goes on after its DREQ, and all was acknowledged, {sender}",
        "late.1",
    )
    def goes_on_acknowledged(w, sender=sender):
        go_on(w, "rc", sender, 0.5, messages=2, acknowledged=True)

    @conforming(f"two late messages of the {sender} after its DREQ, without an ACK")
    def two_messages(w, sender=sender):
        go_on(w, "rc", sender, 0.5, messages=2)

    @conforming(f"one late message of the {sender} after its DREQ, and an ACK")
    def one_message(w, sender=sender):
        go_on(w, "rc", sender, 0.5, messages=1, acknowledged=True)


@conforming("data right after the DREP, which was sent before")
def data_in_transit(w):
    p = w["rc.ping"].copy()
    p["psn"] += 2
    w.insert("rc.drep", "late", p)


def connect_again(w):
    """The queue pairs of the ended connection are used by the next one, 40 s later."""
    after = "uc.drep"
    for message in ("req", "rep", "rtu"):
        p = w[f"rc.{message}"].copy()
        p["mad.tid"] = 0x7A01
        p.payload[24:28] = ib.u32({"req": 0xC1, "rep": 0xD1, "rtu": 0xC1}[message])
        if message != "req":
            p.payload[28:32] = ib.u32({"rep": 0xC1, "rtu": 0xD1}[message])
        w.insert(after, f"again.{message}", p)
        after = f"again.{message}"
        w.times[after] += 10**6
    for name in ("ping", "pong"):
        p = w[f"rc.{name}"].copy()
        w.insert(after, f"again.{name}", p)
        after = f"again.{name}"
        w.times[after] += 10**6
    w.delay("again.req", QUIET["rc"])
    w.renumber()


@conforming("a later connection has the queue pairs of an ended one")
def queue_pairs_used_again(w):
    connect_again(w)


for lost in ("rep", "req and rep", "req, rep and rtu"):

    @conforming(f"the same; its {lost} was not captured")
    def set_up_is_lost(w, lost=lost):
        connect_again(w)
        for message in ("req", "rep", "rtu"):
            if message in lost:
                w.order.remove(f"again.{message}")


ENDS = {"rc": (A, B, RC_IDS), "uc": (B, A, UC_IDS)}


def refuse(w, mode, reason=28):
    """The responder rejects the REQ."""
    a, b, ids = ENDS[mode]
    p = w[f"{mode}.rep"].copy()
    tid = p["mad.tid"]
    p.payload = bytearray(ib.cm_rej(tid, 0, ids[0], reason, pdata=ib.private_data(b.qpn, RECV_MTU)))
    w.insert(f"{mode}.req", f"{mode}.rej", p)
    w.drop(f"{mode}.rep", f"{mode}.rtu")


def refuse_rep(w, mode, private, reason=28, but=()):
    """The requester rejects the REP: the REJ takes the place of the RTU (RFC 4755 3.2). Of the
    connection's other frames, only these remain."""
    _, _, ids = ENDS[mode]
    p = w[f"{mode}.rtu"]
    octets = ib.cm_rej(p["mad.tid"], *ids, reason, message=1, pdata=private)
    p.payload = bytearray(octets)
    remain = [f"{mode}.{name}" for name in ("req", "rep", "rtu", *but)]
    w.drop(*[n for n in w.order if n.startswith(mode) and n not in remain])


for mode, like in (("rc", "rc.ping"), ("uc", "uc.ping"), ("rc", "rc.ping6")):
    own = ib.private_data(ENDS[mode][0].qpn, RECV_MTU)
    what = f"{mode.upper()}, {'IPv6' if like.endswith('6') else 'IPv4'}"

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{what}, the requester after a REJ of the REP",
        like,
    )
    def after_refused_rep(w, mode=mode, like=like, own=own):
        refuse_rep(w, mode, own, but=(like.split(".")[1],))

    for reason in (10, 30):  # IBA 12.6.7.2

        @conforming(f"{what}, the requester after a REJ of the REP, reason {reason}")
        def on_an_older_connection(w, mode=mode, like=like, own=own, reason=reason):
            refuse_rep(w, mode, own, reason, but=(like.split(".")[1],))

    @conforming(f"{what}, after a REJ of the REP, and a REQ that was not captured")
    def next_req_is_lost(w, mode=mode, like=like, own=own):
        refuse_rep(w, mode, own, but=(like.split(".")[1],))
        sender = ENDS[mode][0].lid
        for n in w.order[w.order.index(like) :]:
            p = w[n]
            if p.deth and p["srcqp"] == 1 and p["slid"] == sender:
                p["psn"] += 1


for mode in ("rc", "uc"):
    own = ib.private_data(ENDS[mode][0].qpn, RECV_MTU)

    @broken(
        "rfc4755.2.3.connection-before-ip",
        f"{mode.upper()}, the responder after a REJ of the REP",
        f"{mode}.pong",
    )
    def responder_after_refusal(w, mode=mode, own=own):
        refuse_rep(w, mode, own, but=("pong",))


# ---- 3.2, 3.5, 5, 6: the messages

PRIVATE = {"REQ": ("req", 164), "REP": ("rep", 60), "RTU": ("rtu", 32), "REJ": ("rej", 108)}


def set_private(w, mode, message, octets, offset=0, suffix=""):
    name, at = PRIVATE[message]
    if message == "REJ":
        refuse(w, mode)
    w[f"{mode}.{name}{suffix}"].payload[at + offset : at + offset + len(octets)] = octets


def repeat(w, name):
    """The sender repeats its message, as after a time-out (IBA 12.9.8)."""
    w.insert(name, f"{name}.again", w[name].copy())
    w.renumber()


for mode in ("rc", "uc"):
    for message, (name, _) in PRIVATE.items():
        M = mode.upper()

        @broken(
            "rfc4755.3.2.ud-qpn-in-private-data", f"{M}, {message}, no QPN", f"{mode}.{name}", ALL
        )
        def no_qpn(w, mode=mode, message=message):
            set_private(w, mode, message, bytes(3), 1)

        @broken(
            "rfc4755.3.2.ud-qpn-in-private-data",
            f"{M}, {message}, another QPN",
            f"{mode}.{name}",
            ALL,
        )
        def other_qpn(w, mode=mode, message=message):
            set_private(w, mode, message, b"\0\x09\x99", 1)

        for what, qpn in {
            "of multicast": 0xFFFFFF,
            "of the GSI": 1,
            "of its queue pair": (RC_QPS if mode == "rc" else UC_QPS)[message == "REP"],
        }.items():
            if "its queue pair" in what and message not in ("REQ", "REP"):
                continue

            @broken(
                "rfc4755.3.2.ud-qpn-in-private-data",
                f"{M}, {message}, the QPN {what}",
                f"{mode}.{name}",
                ALL,
            )
            def no_ud_qpn(w, mode=mode, message=message, qpn=qpn):
                set_private(w, mode, message, ib.u24(qpn), 1)

        if message in ("REQ", "REP"):

            @broken(
                "rfc4755.3.2.ud-qpn-in-private-data",
                f"{M}, repeated {message}, another QPN",
                f"{mode}.{name}.again",
                ALL,
            )
            def repeated_with_other_qpn(w, mode=mode, message=message, name=name):
                repeat(w, f"{mode}.{name}")
                set_private(w, mode, message, b"\0\x09\x99", 1, ".again")

            @conforming(f"{M}, repeated {message}")
            def repeated(w, mode=mode, name=name):
                repeat(w, f"{mode}.{name}")

        if message == "REJ":  # without private data, the others violate section 6

            @broken(
                "rfc4755.3.2.ud-qpn-in-private-data", f"{M}, {message}, nothing", f"{mode}.{name}"
            )
            def nothing(w, mode=mode, message=message):
                set_private(w, mode, message, bytes(8))

        if message != "REJ":

            @broken("rfc4755.6.private-data", f"{M}, {message}, nothing", f"{mode}.{name}", ALL)
            def no_private(w, mode=mode, message=message):
                set_private(w, mode, message, bytes(8))

        if message in ("REP", "RTU"):

            @broken("rfc4755.6.private-data", f"{M}, {message}, no Receive MTU", f"{mode}.{name}")
            def no_mtu(w, mode=mode, message=message):
                set_private(w, mode, message, bytes(4), 4)

        for value in (1, 0xFF):

            @broken("rfc4755.6.reserved-zero", f"{M}, {message}, 0x{value:02x}", f"{mode}.{name}")
            def reserved(w, mode=mode, message=message, value=value):
                set_private(w, mode, message, bytes([value]))

    for what, octets in {"nothing": bytes(8), "another QPN": ib.private_data(0x999, 4096)}.items():

        @broken(
            "rfc4755.3.2.ud-qpn-in-private-data",
            f"{M}, REJ of the REP, {what}",
            f"{mode}.rtu",
        )
        def refused_rep(w, mode=mode, octets=octets):
            refuse_rep(w, mode, octets)

    @broken("rfc4755.5.1.receive-mtu", M + ", REQ", f"{mode}.req", ALL)
    def req_without_mtu(w, mode=mode):
        set_private(w, mode, "REQ", bytes(4), 4)

    for message, name in (("REQ", "req"), ("REP", "rep"), ("RTU", "rtu")):
        for value in (71, 1):

            @broken("rfc4755.5.minimum-mtu", f"{M}, {message}, {value}", f"{mode}.{name}")
            def tiny(w, mode=mode, message=message, value=value):
                set_private(w, mode, message, ib.u32(value), 4)

        for value in ((1 << 31) + 1, 0xFFFFFFFF):

            @broken("rfc4755.5.message-size", f"{M}, {message}, {value}", f"{mode}.{name}")
            def huge(w, mode=mode, message=message, value=value):
                set_private(w, mode, message, ib.u32(value), 4)

    for message in ("REQ", "REP"):

        @broken("rfc4755.5.minimum-mtu", f"{M}, {message} 1000, IPv6", f"{mode}.ping6", ALL)
        def small_for_ipv6(w, mode=mode, message=message):
            set_private(w, mode, message, ib.u32(1000), 4)

        for frame in ("pong", "ping"):

            @broken(
                "rfc4755.5.1.connection-mtu",
                f"{M}, {message} 2048, IPv4, {frame} of 3000 octets",
                f"{mode}.{frame}",
            )
            def longer(w, mode=mode, message=message, frame=frame):
                set_private(w, mode, message, ib.u32(2048), 4)
                a, b, _ = ENDS[mode]
                a, b = (b, a) if frame == "pong" else (a, b)
                w[f"{mode}.{frame}"].payload = bytearray(ping(a, b, size=3000))

        for part in ("only", "first"):

            @broken(
                "rfc4755.5.1.connection-mtu", f"{M}, {message} 2048, {part} packet", f"{mode}.ping"
            )
            def too_long(w, mode=mode, message=message, part=part):
                set_private(w, mode, message, ib.u32(2048), 4)
                a, b, _ = ENDS[mode]
                p = w[f"{mode}.ping"]
                p.payload = bytearray(ping(a, b, size=3000))
                if part == "first":
                    del p.payload[2048:]
                    p["opcode"] = p["opcode"] & 0xE0 | ib.FIRST

    for what, sid in {
        "the QPN is another": ib.service_id_rfc(0x999),
        "Type 1": 1 << 48,
        "Reserved 1": 1 << 24,
        "Reserved 0x010000": 1 << 40,
        "block 0x10": 0x11 << 56,
        "block 0": 1 << 56,
    }.items():

        @broken("rfc4755.3.5.service-id", f"{M}, {what}", f"{mode}.req", ALL)
        def service_id(w, mode=mode, sid=sid):
            p = w[f"{mode}.req"]
            p["req.service"] = sid if sid & 0xFFFFFF else p["req.service"] ^ sid

    for block in (0x01, 0x10):

        @broken(
            "rfc4755.3.5.service-id",
            f"{M}, little-endian byte order, block 0x{block:02x}",
            f"{mode}.req",
            ALL,
        )
        def little_endian(w, mode=mode, block=block):
            p = w[f"{mode}.req"]
            octets = ib.u64(p["req.service"] & 0xFFFFFF | block << 56)
            p["req.service"] = int.from_bytes(octets, "little")


for mode in ("rc", "uc"):
    for qpn in (0, 1, 0xFFFFFF):  # SMI, GSI (IBA 13.5.1), multicast (IBA 10.5.1)

        @broken("rfc4755.3.5.service-id", f"{mode.upper()}, QPN 0x{qpn:06x}", f"{mode}.req", ALL)
        def no_interface_has_it(w, mode=mode, qpn=qpn):
            w[f"{mode}.req"]["req.service"] = 1 << 56 | qpn


# ---- 3.2, 6: the MRA, which is "exchanged in setting up" too (IBA 12.6.6, 12.9.8)


def delay_response(w, mode, of, private):
    """The receiver of the REQ or REP says in an MRA that it needs more time."""
    a, b, ids = ENDS[mode]
    name = f"{mode}.{of.lower()}"
    sender, local, remote = (b, ids[1], ids[0]) if of == "REQ" else (a, ids[0], ids[1])
    p = w[f"{mode}.rep" if of == "REQ" else f"{mode}.req"].copy()
    octets = ib.cm_mra(w[name]["mad.tid"], local, remote, "REQ REP".split().index(of))
    p.payload = bytearray(octets)
    p.payload[34 : 34 + len(private(sender))] = private(sender)
    w.insert(name, f"{mode}.mra", p)
    w.renumber()


for mode in ("rc", "uc"):
    for of in ("REQ", "REP"):
        M = f"{mode.upper()}, MRA to the {of}"
        for what, rule, private in (
            ("nothing", "rfc4755.6.private-data", lambda n: b""),
            ("no Receive MTU", "rfc4755.6.private-data", lambda n: ib.private_data(n.qpn, 0)),
            ("0x01", "rfc4755.6.reserved-zero", lambda n: b"\1" + ib.private_data(n.qpn, 4096)[1:]),
            (
                "no QPN",
                "rfc4755.3.2.ud-qpn-in-private-data",
                lambda n: ib.private_data(0, RECV_MTU),
            ),
            (
                "another QPN",
                "rfc4755.3.2.ud-qpn-in-private-data",
                lambda n: ib.private_data(0x999, RECV_MTU),
            ),
            ("71", "rfc4755.5.minimum-mtu", lambda n: ib.private_data(n.qpn, 71)),
            ("1", "rfc4755.5.minimum-mtu", lambda n: ib.private_data(n.qpn, 1)),
            (
                "2^31 + 1",
                "rfc4755.5.message-size",
                lambda n: ib.private_data(n.qpn, (1 << 31) + 1),
            ),
            ("2^32 - 1", "rfc4755.5.message-size", lambda n: ib.private_data(n.qpn, 0xFFFFFFFF)),
        ):

            @broken(rule, f"{M}, {what}", f"{mode}.mra")
            def mra(w, mode=mode, of=of, private=private):
                delay_response(w, mode, of, private)

        @conforming(f"{M} with private data")
        def mra_conforms(w, mode=mode, of=of):
            delay_response(w, mode, of, lambda n: ib.private_data(n.qpn, RECV_MTU))


@conforming("MRA to a LAP, without private data")
def mra_to_a_lap(w):
    """The connection is set up already (IBA 12.8)."""
    delay_response(w, "rc", "REP", lambda n: b"")
    p = w["rc.mra"]
    p.payload[32] = 2 << 6
    w.order.remove("rc.mra")
    w.order.insert(w.order.index("rc.ping6") + 1, "rc.mra")
    w.times["rc.mra"] = w.times["rc.ping6"] + 10**6
    w.renumber()


# ---- 3.4: the end

for mode, node in (("rc", "A"), ("uc", "B")):
    # the next request of the node, or of its peer with the SA's response
    for who in (node, "B" if node == "A" else "A"):

        @broken("rfc4755.3.4.teardown", f"{mode.upper()}, then a request of {who}", "later", ALL)
        def nothing_follows(w, mode=mode, node=node, who=who):
            w.drop(f"{mode}.dreq", f"{mode}.drep")
            w.drop(*(n for n in w.order if n.startswith(("A.last", "B.last"))))
            after = w.order[-1]
            for n in ("", ".resp"):
                p = w[f"{who}.last{n}"].copy()
                p["mad.tid"] = 0x7780
                w.insert(after, "later" + n, p)
                after = "later" + n
            w.delay("later", 12)
            w.renumber()

    @broken("rfc4755.3.4.teardown", f"{mode.upper()}, the interface joins again", "again", ALL)
    def never_ended(w, mode=mode, node=node):
        w.drop(f"{mode}.dreq", f"{mode}.drep")
        after = f"{node}.leave.bcast.resp"
        for n in ("", ".resp"):
            p = w[f"{node}.join.bcast{n}"].copy()
            p["mad.tid"] = 0x7780
            w.insert(after, "again" + n, p)
            after = "again" + n
        w.delay("again", 12)
        w.renumber()

    def returns(w, mode, node, qpn):
        """The node's interface is down for a moment, and announces this QPN then."""
        w.drop(f"{mode}.dreq", f"{mode}.drep")
        w.drop(*(n for n in w.order if n.startswith(("A.last", "B.last"))))
        for after, like, name, tid in (
            (f"{node}.leave.bcast.resp", "join.bcast", "again", 0x7780),
            (w.order[-1], "last", "later", 0x7781),
        ):
            for n in ("", ".resp"):
                p = w[f"{node}.{like}{n}"].copy()
                p["mad.tid"] = tid
                w.insert(after, name + n, p)
                after = name + n
        was = {"A": A, "B": B}[node]
        now = Node(was.lid, was.gid, qpn, was.ip, was.ll, was.flags)
        w.send("again.resp", "announce", now, "A.bcast", arp(1, now, now, bytes(20)))
        w.delay("later", 12)
        w.renumber()

    @broken("rfc4755.3.4.teardown", f"{mode.upper()}, back with another QPN", "later", ALL)
    def returns_as_another(w, mode=mode, node=node):
        returns(w, mode, node, 0x777)

    @conforming(f"{mode.upper()}, back with the same QPN, its connection stays")
    def returns_as_before(w, mode=mode, node=node):
        returns(w, mode, node, {"A": A, "B": B}[node].qpn)

    # the next request of the node shows that it did not join again before the data
    @broken("rfc4755.3.4.teardown", f"{mode.upper()}, data 12 s later", f"{node}.last")
    def data_after_end(w, mode=mode, node=node):
        w.drop(f"{mode}.dreq", f"{mode}.drep")
        p = w[f"{mode}.ping"].copy()
        p["psn"] += 2
        w.insert(f"{node}.leave.bcast.resp", "data", p)
        w.delay("data", 12)
        w.renumber()


# ---- 4: the header of a connected message

for way, name in DATA.items():
    for length in (1, 2, 3):

        @broken("rfc4755.4.encapsulation-header", f"{way}, {length} octets", name)
        def cut_header(w, name=name, length=length):
            del w[name].payload[length:]

    @broken("rfc4755.4.encapsulation-header", f"{way}, none", name, ALL)
    def no_header(w, name=name):
        del w[name].payload[:4]

    change("rfc4391.6.reserved-zero", way, name, {"reserved": 1})
    for value in (5, 0x05FF):
        change("rfc4755.4.type", f"{way}, 0x{value:04x}", name, {"type": value})
    wrong = 0x86DD if "IPv4" in way else 0x0800
    change("rfc4755.4.type", f"{way}, of the other IP version", name, {"type": wrong}, ALL)
    for said, value in (("ARP", 0x0806), ("RARP", 0x8035)):
        change("rfc4755.4.type", f"{way}, said to be {said}", name, {"type": value})


def in_parts(w, name, message):
    """The message in this frame and others that follow it: First, Middle, Last."""
    p = w[name]
    for n in range(0, len(message), 2048):
        last = n + 2048 >= len(message)
        part = p.copy()
        part["opcode"] = p["opcode"] & 0xE0 | (ib.LAST if last else ib.MIDDLE if n else ib.FIRST)
        part["psn"] = p["psn"] + n // 2048
        part.payload = bytearray(message[n : n + 2048])
        if n == 0:
            w.packets[name] = part
            part.before = None
        else:
            before = name if n == 2048 else f"{name}.{n // 2048}"
            w.insert(before, f"{name}.{n // 2048 + 1}", part)


def jumbogram(src, dst):
    """An IPv6 datagram without a length in its header (RFC 2675), which shows only its packets'."""
    octets = bytearray(ping6(src, dst, RECV_MTU))
    octets[8:10] = bytes(2)
    return bytes(octets)


for mode, (a, b) in {"rc": (A, B), "uc": (B, A)}.items():
    for way, message in {
        "another Ethertype": ib.encap(0x88B5, bytes(RECV_MTU)),
        "a jumbogram": jumbogram(a, b),
        "bytes after the datagram": ping(a, b) + bytes(RECV_MTU),
    }.items():

        @broken(
            "rfc4755.5.1.connection-mtu",
            f"{mode.upper()}, {way} in several packets",
            f"{mode}.ping6.3",
        )
        def too_long_in_parts(w, name=f"{mode}.ping6", message=message):
            in_parts(w, name, message)

        @conforming(f"{mode.upper()}, {way} in several packets, as long as the Receive MTU")
        def longest_in_parts(w, name=f"{mode}.ping6", message=message):
            in_parts(w, name, message[:RECV_MTU])

        @conforming(f"{mode.upper()}, {way} in several packets, of two messages")
        def two_messages(w, name=f"{mode}.ping6", message=message):
            """The Last of one message and the First of the next were not captured."""
            in_parts(w, name, message[:4096] + message[2048:4096])
            w[f"{name}.3"]["psn"] += 2
            w.order.remove(f"{name}.2")

    for size in (2200, 4000):
        for way, message in {"IPv4": ping(a, b, size=size), "IPv6": ping6(a, b, size)}.items():

            @broken(
                "rfc4755.4.encapsulation-header",
                f"{mode.upper()}, {way} in several packets, {size} octets, none",
                f"{mode}.ping6",
            )
            def no_header_in_parts(w, name=f"{mode}.ping6", message=message):
                in_parts(w, name, message[4:])

            # The protocol type of ARP is at the place of the length of IPv4, and of the flow label.
            @broken(
                "rfc4755.4.type",
                f"{mode.upper()}, {way} in several packets, {size} octets, said to be ARP",
                f"{mode}.ping6",
            )
            def arp_in_parts(w, name=f"{mode}.ping6", message=message):
                label = b"\x12\x34" if message[4] >> 4 == 6 else message[6:8]
                in_parts(w, name, ib.u16(0x0806) + message[2:6] + label + message[8:])


# ---- 3.3: crossing REQs


def cross(w):
    """B sends a REQ while A's REQ waits: rc.req, uc.req; then both respond."""
    for name in ("uc.req",):
        p = w[name]
        w.order.remove(name)
        w.insert("rc.req", name, p)
    for name in ("rc.ping", "rc.pong", "rc.ping6", "uc.ping", "uc.pong", "uc.ping6"):
        w.order.remove(name)
    w.renumber()


@broken("rfc4755.3.3.simultaneous", "the larger address accepts", "rc.rep", ALL)
def larger_accepts(w):
    cross(w)  # B's address is the larger, and its REP to A's REQ is rc.rep


@broken("rfc4755.3.3.simultaneous", "the smaller address refuses", "uc.rej", ALL)
def smaller_refuses(w):
    cross(w)
    refuse(w, "uc")
    w.order.remove("uc.rej")
    w.order.insert(w.order.index("rc.rep"), "uc.rej")
    w.times["uc.rej"] = w.times["rc.rep"] - 10**6
    w.drop("uc.dreq", "uc.drep")


@broken(
    "rfc4755.3.3.simultaneous",
    "the larger address refuses with reason 8",
    "rc.rej",
    early=INCONCLUSIVE,
    why="the responder may have refused for a reason other than the crossing",
)
def refuses_with_another_reason(w):
    cross(w)
    refuse(w, "rc", reason=8)
    w.order.remove("rc.rej")
    w.order.insert(w.order.index("uc.req") + 1, "rc.rej")
    w.times["rc.rej"] = w.times["uc.req"] + 10**6
    w.drop("rc.dreq", "rc.drep")

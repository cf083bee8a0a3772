# SPDX-License-Identifier: GPL-2.0-or-later
"""Link-layer addresses that nodes learnt from frames that were not captured: a new QPN, another IP
address, an older reply."""
import os

from frames import fixture, ib
from frames.fabric import A, B, BROADCAST_MGID, C, D, Tape, ud_frame
from frames.ib import encap
from frames.messages import NOBODY, arp_request, nd, ns, ping
from frames.missed import CONFORMS, Case, by, exactly, of_real, rule_set
from support import capfile
from support.paths import TESTDATA

ARP, TO_QPN = "rfc4391.9.2.arp-as-rfc826", "rfc4391.9.1.1.traffic-to-qpn"
SERVICE_ID, UD_QPN = "rfc4755.3.5.service-id", "rfc4755.3.2.ud-qpn-in-private-data"
REPLY_TO = "rfc4755.3.1.reply-to-ud-qpn"


def advertised(lid, psn):
    """datagram.pcap: n1 responds to n0's solicitation (59) in 60. Here 60 goes to QPN 0x25 of this
    LID and has this PSN; 14 is the next PSN of n1's QP."""
    t = fixture.tape("datagram.pcap")
    t[60].set(dlid=lid, destqp=0x25, psn=psn)
    return of_real(t)


# ---- an announcement of a new QPN that was not captured


def new_qpn(capture, old, new, restarted=True):
    """The capture up to the first IPv4 unicast to the new QP, without the packets that the new QP
    sent. restarted: the joins of the restarted interface are in the capture; else n1's next request
    shows that it did not join again. The last frame is the first such unicast, or n1's request."""
    t = fixture.tape(capture)
    request = t[157].copy().set(psn=t[92]["psn"])
    first = next(
        n
        for n, f in enumerate(t.frames)
        if f.packet.deth and f.packet["destqp"] == new and f.packet["type"] == 0x0800
    )
    t.frames = [
        f
        for n, f in enumerate(t.frames[: first + 1])
        if not (f.packet.deth and f.packet["srcqp"] == new)
        and (
            restarted or n < t.number(91) or f.packet.deth and f.packet["srcqp"] != 1 or n == first
        )
    ]
    if not restarted:  # n1's next request: it did not join again
        t.insert(t.frames[-1], request)
    return t.pcap(), [*range(1, len(t.frames)), "last"]


def connects(restarted, responder=0x35):
    """qpn-change-cm.pcap: n0 connects to the QPN 0x35 of n1 (190); the ARP reply with this QPN is
    missed. responder: the UD QPN in n1's REP (191)."""
    t = fixture.tape("qpn-change-cm.pcap")
    t[191]["rep.private.qpn"] = responder
    t.keep((1, 110), (138, 191)) if restarted else t.keep((1, 110), 190, 191)
    t.frames = [f for f in t.frames if not (f.packet.deth and f.packet["srcqp"] == 0x35)]
    t.renumber(1)
    t.renumber(2)
    return t.pcap()


# ---- two IP addresses of one interface

ALIAS = "10.0.0.101"


def request_arp(ip, to=BROADCAST_MGID, psn=0):
    """A requests B's address from this IP address of its own."""
    return ud_frame(A, to, encap(0x0806, ib.arp(1, A.addr, ip, NOBODY, B.ip)), psn).ib()


def reply_arp(ip):
    return ud_frame(B, A, encap(0x0806, ib.arp(2, B.addr, B.ip, A.addr, ip))).ib()


def later(psn):
    """Two datagrams of A; the second one was certainly sent after all frames before them."""
    return [(ud_frame(A, B, ping(A, B), n).ib(), 20) for n in (psn, psn + 1)]


def arps(*frames, first=()):
    """C announces its IP address, and `first`; the frames follow a minute later. A frame is its
    bytes, or these and the milliseconds since the one before it."""
    t = Tape()
    t.put(ud_frame(C, BROADCAST_MGID, arp_request(C, D.ip)).ib())
    for octets in first:
        t.put(octets)
    for i, frame in enumerate(frames):
        octets, ms = frame if isinstance(frame, tuple) else (frame, 1)
        t.put(octets, ms=ms if i else 60000)
    return t.erf_pcap()


def advertised_to_alias():
    t = Tape()
    t.ud(A, ib.mgid_ipv6("ff02::1:ff66:de52"), ns(A, C), mlid=0xC003)
    t.ud(C, A, nd(C, "fd00::1", ib.nd_na(C.ll, ib.nd_lladdr_option(2, C.addr))))
    return t.erf_pcap()


# ---- an address that changes soon after it was resolved

QPN_CHANGE = os.path.join(TESTDATA, "qpn-change.pcap")
# A host solicits its peer, which advertises its QPN, 0x25. The peer's interface is restarted with
# another one, 0x31: its reports, a join of a group, and a router solicitation, which the host does
# not receive. The host sends to 0x25. The peer's next request has the PSN after that of the join.
RESTARTED = (79, 80, 123, 124, 138, 141, 142, 157)


def address_of_the_reply():
    """The same within a tenth of a second, so that the reply is recent, but its address is older than
    the peer's last one. The CRCs of the peer's datagrams are wrong."""
    whole = capfile.read(QPN_CHANGE)
    records = []
    for n, number in enumerate(RESTARTED):
        data = whole.frames[number - 1].data
        if number in (80, 123, 138):
            data = data[:-6] + bytes(b ^ 0x55 for b in data[-6:])
        records.append(capfile.record(n * 8 * 10**6, data))
    return capfile.pcap(whole.interfaces[0].linktype, records, nanoseconds=True)


# ---- the cases


def reply_to(ip, *more, to=BROADCAST_MGID, psn=0, first=()):
    """B replies to this IP address, which A has not named in the request that was captured."""
    return arps(request_arp(A.ip, to, psn), reply_arp(ip), *more, first=first)


def reply_naming(target, psn, asked=True):
    """B replies to A, with another interface as the target; that one's next datagrams have this PSN
    and the one after it. asked: A's request was captured."""
    t = Tape()
    t.put(ud_frame(C, BROADCAST_MGID, arp_request(C, D.ip)).ib())
    if asked:
        t.put(request_arp(A.ip), ms=60000)
    t.put(ud_frame(B, A, encap(0x0806, ib.arp(2, B.addr, B.ip, target.addr, A.ip))).ib())
    for n, ms in ((psn, 20), (psn + 1, 20)):
        t.put(ud_frame(C, B, ping(C, B), n).ib(), ms=ms)
    return t.erf_pcap()


def reply_naming_nobody(psn):
    """B replies to A, with the target 0; A's next datagrams have this PSN and the one after it."""
    to_nobody = ud_frame(B, A, encap(0x0806, ib.arp(2, B.addr, B.ip, NOBODY, A.ip))).ib()
    return arps(request_arp(A.ip), to_nobody, *later(psn))


def before_its_request(ip, to):
    more = request_arp(ip, to, psn=1), reply_arp(A.ip), *later(2)
    return reply_to(ip, *more, to=to)


case = by(Case, deviations="linux")
CHANGED = ("qpn-change.pcap", 0x25, 0x31)
BEFORE = [ud_frame(A, BROADCAST_MGID, arp_request(A, D.ip), 7).ib()]  # its PSN is not 0
OTHERS = {"own": B.ip, "third": C.ip}
IPS = {**OTHERS, "alias": ALIAS}
QPN_RULES = (SERVICE_ID, UD_QPN)

CASES = [
    case(
        "reply to another port's missed solicitation",
        CONFORMS,
        by(advertised, 3, 14),
        of=(REPLY_TO,),
    ),
    case("second reply to a missed solicitation", CONFORMS, by(advertised, 1, 15), of=(REPLY_TO,)),
    case("reply to another QPN", exactly((60, REPLY_TO)), by(advertised, 1, 14), of=(REPLY_TO,)),
    case("missed announcement of a new QPN", CONFORMS, by(new_qpn, *CHANGED)),
    case(
        "QPN that no restart explains",
        exactly(("last", TO_QPN)),
        by(new_qpn, *CHANGED, False),
        of=(TO_QPN,),
    ),
    # that Linux's Service-ID starts with another byte is a known deviation
    case(
        "connection to a new QPN, missed announcement", CONFORMS, by(connects, True), of=QPN_RULES
    ),
    case(
        "connection to a QPN, no restart",
        rule_set(*QPN_RULES),
        by(connects, False, 0x36),
        of=QPN_RULES,
    ),
    case(
        "connection to a QPN that the responder names", CONFORMS, by(connects, False), of=QPN_RULES
    ),
    *[
        row
        for what, ip in IPS.items()
        for where, to in (("multicast", BROADCAST_MGID), ("unicast", B))
        for row in (
            # the IP address may have moved to A; the response to the first request was missed, too
            case(
                f"missed request for {what} IP, {where}",
                CONFORMS,
                by(reply_to, ip, *later(2), to=to),
            ),
            case(
                f"missed first request for {what} IP, {where}",
                CONFORMS,
                by(reply_to, ip, *later(2), to=to, psn=1),
            ),
            case(
                f"reply before the request for {what} IP, {where}",
                CONFORMS,
                by(before_its_request, ip, to),
            ),
        )
    ],
    *[
        row
        for what, ip in IPS.items()
        for row in (
            case(f"no later datagram, {what} IP", CONFORMS, by(reply_to, ip)),
            case(
                f"request captured twice, {what} IP", CONFORMS, by(reply_to, ip, request_arp(A.ip))
            ),
        )
    ],
    *[
        row
        for what, ip in OTHERS.items()
        for row in (
            case(f"reply to {what} IP", exactly((5, ARP)), by(reply_to, ip, *later(1))),
            case(
                f"reply to {what} IP, later PSNs",
                exactly((6, ARP)),
                by(reply_to, ip, *later(9), psn=8, first=BEFORE),
            ),
        )
    ],
    case("reply that names a third interface", exactly((5, ARP)), by(reply_naming, C, 1)),
    # its request from A's IP address is missing, or A's
    case("reply to a third interface, missed request", CONFORMS, by(reply_naming, C, 2)),
    case(
        "reply that names a third interface, missed request",
        CONFORMS,
        by(reply_naming, C, 1, False),
    ),
    case("reply that names no address", exactly((5, ARP)), by(reply_naming_nobody, 1)),
    case("reply that names no address, missed request", CONFORMS, by(reply_naming_nobody, 2)),
    case("reply that names its sender", CONFORMS, by(reply_naming, B, 1)),
    case("advertisement to an alias", CONFORMS, advertised_to_alias),
    case("address of a recent reply", CONFORMS, address_of_the_reply),
]

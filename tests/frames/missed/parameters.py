# SPDX-License-Identifier: GPL-2.0-or-later
"""The parameters of the broadcast group, the P_Key table and the MTU of a port changed in frames that
were not captured. Frames of real captures have their original numbers."""
from frames import fixture, ib
from frames.bases import CONTROLLED, N0, N1, is_ipoib, is_mcmember, join_again
from frames.fabric import A, B, BROADCAST_MGID, C, D, JOIN_MASK, SM, Tape
from frames.ib import ONLY, encap
from frames.messages import arp_request, broadcast_record, ping
from frames.missed import CONFORMS, Case, Expected, Outcome
from frames.missed import asks_next, by, exactly, has, includes, lacks, of_real, rules
from frames.subnet import SMP_GET, FromStart, Host
from support import capfile

PKEY = "rfc4391.5.pkey-configured"
QKEY_FROM_JOIN, LINK_MTU = "rfc4391.9.1.2.qkey-from-join", "rfc4391.7.link-mtu"
PARAMETERS, ATTRIBUTES = "rfc4391.5.join-parameters-used", "rfc4391.10.group-attributes"
GROUP_MTU = "rfc4391.4.1.group-mtu"


def gsi(frame, lid):
    p = frame.packet
    return p.deth and p["srcqp"] == 1 and p["slid"] == lid


# ---- a join that was not captured, after a change of the group's parameters

MTU_4096 = 5


def ipoib_with(p, change):
    if change == "qkey":
        p["qkey"] = CONTROLLED
    elif change == "sl":
        p["sl"] = 3


def record_with(p, change):
    if change == "qkey" and p["mcm.qkey"]:
        p["mcm.qkey"] = CONTROLLED
    elif change == "sl" and p["mcm.mlid"]:
        p.payload[100] = 3 << 4 | p.payload[100] & 0x0F
    elif change == "mtu" and p["mcm.mtu"]:
        p["mcm.mtu"] = MTU_4096


def rejoined(change, missed=True):
    """datagram.pcap; after 68 all nodes use other parameters, and n1's join, whose response has
    them, is not in the capture. They send with a GRH (an ARP request of each node) and without it
    (if the MTU has grown, echo requests of 3000 bytes). missed: the PSNs of n1's GSI show that one
    of its requests is missing; else that none is."""
    t = fixture.tape("datagram.pcap")
    for n, like, node, lid in ((72, 41, N0, 1), (75, 41, N1, 2)):
        p = t[like].copy().set(slid=lid, sgid=node.gid, srcqp=node.qpn)
        p["arp.sha.qpn"], p["arp.sha.gid"] = node.qpn, node.gid
        p.payload[32:36] = ib.ip4(node.ip)
        p.payload[56:60] = ib.ip4("10.0.0.77")
        t.insert(n, p)
    if change == "mtu":
        for n in (80, 81):
            t[n].datagram(
                0x0800, ib.ping4(*((N1.ip, N0.ip) if n == 80 else (N0.ip, N1.ip)), size=3000)
            )
            t[n].set(dlid=1 if n == 80 else 2, destqp=(N0 if n == 80 else N1).qpn).drop_grh()
    for f in t.frames[t.number(68) :]:
        if is_ipoib(f.packet):
            ipoib_with(f.packet, change)
        elif is_mcmember(f.packet):
            record_with(f.packet, change)
        if missed and gsi(f, N1.lid):
            f.packet["psn"] += 1
    for node in (N0, N1):
        t.renumber(node.lid, node.qpn)
    return of_real(t)


CHANGES = {"qkey": QKEY_FROM_JOIN, "sl": PARAMETERS, "mtu": LINK_MTU}


def lost_rejoin(change, missed=True):
    """datagram.pcap; n1 uses other parameters after 68, as if its interface had been restarted.
    n1's next captured request, 71, is the first packet whose PSN can show a lost request. missed:
    it shows that n1's join with the new parameters was not captured; else that n1 sent none."""
    t = fixture.tape("datagram.pcap")
    t.drop(69, 70)  # n1 joins 239.1.2.3: request and response
    p = t[41].copy().set(slid=2, sgid=N1.gid, srcqp=N1.qpn)
    p["arp.sha.qpn"], p["arp.sha.gid"] = N1.qpn, N1.gid
    p.payload[32:36] = ib.ip4(N1.ip)
    at = t.insert(68, p)
    long = t[64].copy()
    long.datagram(0x0800, ib.ping4(N1.ip, N0.ip, size=3000 if change == "mtu" else 8))
    long.set(dlid=1, destqp=N0.qpn)
    ipoib_with(p, change)
    ipoib_with(long, change)
    t.insert(at, long)
    t.renumber(2)
    t.renumber(2, N1.qpn)
    for f in t.frames[t.number(71) - 1 :]:
        if missed and gsi(f, N1.lid):
            f.packet["psn"] += 1
    return of_real(t)


def sa_changes(psn_of_n1):
    """datagram.pcap: n0, the SA's port, whose requests do not reach the wire, has another Q_Key in
    49; n1, which received the group's Q_Key, sends its next request in 69 with this PSN."""
    t = fixture.tape("datagram.pcap")
    t[49]["qkey"] = CONTROLLED
    t[69]["psn"] = psn_of_n1
    return of_real(t)


def late_joiner(qkey):
    """The capture begins after A's join; C joins, gets the current Q_Key, and A sends."""
    t = Tape()
    record = broadcast_record(port_gid=C.gid)
    t.sa(C, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.sa(SM, C, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.ud(C, BROADCAST_MGID, arp_request(C, D.ip))
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n))
    t.ud(A, B, ping(A, B), qkey=qkey)
    t.ud(A, B, ping(A, B), qkey=qkey, grh=True)
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip), qkey=qkey)
    t.ud(C, D, ping(C, D), qkey=qkey)
    asks_next(t, C, 2)
    return t.erf_pcap()


def reregistered(change):
    """sm-restart.pcap: the SM asks n1 to join again in 77 (ClientReregister, IBA 14.2.5.6). None of
    n1's joins is captured, and all requests that n1 makes before it sends are missed."""
    t = fixture.tape("sm-restart.pcap")
    t.keep((1, 78), (94, 95), (100, 111))
    p = t[94].copy().set(dlid=0xC000, destqp=0xFFFFFF, psn=0x99)
    p.add_grh(ib.gid(N1.gid), ib.gid(BROADCAST_MGID))
    t.insert(94, p)
    if change == "mtu":
        t[101].datagram(0x0800, ib.ping4(N1.ip, N0.ip, size=3000))
        t[102].datagram(0x0800, ib.ping4(N0.ip, N1.ip, size=3000))
    for f in t.frames[t.number(78) :]:
        ipoib_with(f.packet, change)
    return of_real(t)


def before_the_join_response(times):
    """datagram.pcap: n1 joins the group of 36 again, and the response has another MLID; a copy of
    36 follows immediately. In 37, n1 asks the SA for another group. times: how often the response was
    captured."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 40))
    group = next(p for p in (t[21], t[22], t[24], t[27]) if p["mcm.mgid"] == t[36]["dgid"])
    reply = next(p for p in (t[23], t[25], t[26], t[28]) if p["mcm.mgid"] == t[36]["dgid"])
    request, response = group.copy(), reply.copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    response["mcm.mlid"] = 0xC00F
    at = t.insert(36, request)
    for _ in range(times):
        at = t.insert(at, response.copy())
    t.insert(at, t[36].copy())
    t.frames = t.frames[: t.number(37)]
    t.renumber(2)
    return of_real(t)


def missed_record(first, **earlier):
    """datagram.pcap: LID 4 joins after 50 and gets other parameters. n0 and n1 use the old ones.
    Their only record, 20, was not captured, nor were the frames from `first` to 20. Groups that n1
    creates later have the old parameters, too."""
    t = fixture.tape("datagram.pcap")
    at = join_again(t, "fe80::11:7500:0:120", 4, **earlier)
    t.insert(at, t[41].copy())
    t.drop(*range(first, 21))
    return of_real(t)


def missed_join_response():
    """n1 joins again after 50 and gets another Q_Key; the response is not in the capture."""
    t = fixture.tape("datagram.pcap")
    t.frames.remove(join_again(t, N1.gid, 2, qkey=CONTROLLED))
    for f in t.frames[t.number(50) :]:
        if is_ipoib(f.packet) and f.packet["slid"] == 2:
            f.packet["qkey"] = CONTROLLED
        if gsi(f, N1.lid):
            f.packet["psn"] += 1
    return of_real(t)


def sent_before_the_join_response():
    """n1 joins again after 50 and gets another Q_Key; a datagram with the old one follows the
    response immediately."""
    t = fixture.tape("datagram.pcap")
    at = t.insert(join_again(t, N1.gid, 2, qkey=CONTROLLED), t[50].copy())
    t.frames = t.frames[: t.number(at)]
    return of_real(t)


# ---- a P_Key table that was set again


def other_partition(seconds, missed):
    """datagram.pcap: n1's table has only 0xffff (8), and n1 joins the broadcast group of 0x8005 in
    19, this much later than in the original. 90 is n1's next response to the SM. missed: its PSN
    shows that a response is missing before it, as to a Set(P_KeyTable)."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 20), (89, 92))
    for n in (19, 20):
        t[n]["mcm.mgid"], t[n]["mcm.pkey"] = "ff12:401b:8005::ffff:ffff", 0x8005
    t.shift(19, seconds)
    t[90]["psn"] += missed
    return of_real(t)


# ---- through an InfiniBand router

REMOTE = "2001:db8:0:2:2:c903:0:77"
ROUTER_LID = 9


def routed(src_gid, hop, sl, slid):
    """The link's broadcast group has HopLimit 64 and SL 2, which C gets when it joins. C sends.
    Then an ARP request follows with this GID, HopLimit, SL and LID: those of a sender behind a
    router, or C's own."""
    t = Tape()
    record = ib.mcmember(
        BROADCAST_MGID.replace("ff12", "ff15"),
        "2001:db8:0:1:9803:9b03:66:de52",
        qkey=0x80000B1B,
        mlid=0xC000,
        mtu_sel=2,
        mtu=4,
        pkey=0xFFFF,
        rate_sel=2,
        rate=3,
        sl=2,
        hop=64,
        scope=5,
        join=1,
    )
    t.sa(C, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.sa(SM, C, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000B1B)
    lladdr = ib.lladdr(0x77, src_gid)
    frame = ib.Frame(
        ib.UD | ONLY,
        encap(0x0806, ib.arp(1, lladdr, "10.0.0.77", bytes(20), D.ip)),
        dlid=0xC000,
        slid=slid,
        dgid="ff15:401b:ffff::ffff:ffff",
        sgid=src_gid,
        destqp=0xFFFFFF,
        qkey=0x80000B1B,
        srcqp=0x77,
        hop=hop,
        sl=sl,
    )
    t.put(frame.ib())
    asks_next(t, C, 2)
    return t.erf_pcap()


# ---- a path whose MTU the subnet manager's policy lowers


def smaller_mtu(missed):
    """datagram.pcap: n1's PortInfo has NeighborMTU 1024; n1 joins the broadcast group, whose MTU is
    2048, in 20. 90 is n1's next response to the SM. missed: its PSN shows that a response before it
    was not captured, for example to a Set(PortInfo) with another NeighborMTU."""
    t = fixture.tape("datagram.pcap")
    for n in (*range(9, 15), 92):
        t[n]["port.neighbor_mtu"] = 3
    t[90]["psn"] += missed
    t[92]["psn"] += missed
    return of_real(t)


def smaller_mtu_and_an_smp(attribute, missed):
    """The same, without a further response of n1: 89 is the SM's next SMP, with this attribute.
    missed: its PSN shows that another one before it was not captured."""
    t = fixture.tape("datagram.pcap")
    for n in range(9, 15):
        t[n]["port.neighbor_mtu"] = 3
    t.keep((1, 89))
    t[89]["mad.attribute"] = attribute
    t[89]["psn"] += missed
    return of_real(t)


def smaller_mtu_before_the_join():
    """90, whose PSN shows that an SMP is missing, comes before the join; 92 comes after it."""
    t = fixture.tape("datagram.pcap")
    t.keep((1, 20), (89, 92))
    for n in range(9, 15):
        t[n]["port.neighbor_mtu"] = 3
    for n in (90, 89):
        t.move(n, 18)
    for n in (90, 92):
        t[n]["psn"] += 1
    return of_real(t)


def path_with_mtu(mtu):
    t = fixture.tape("datagram.pcap")
    t[43]["path.mtu"] = mtu
    return of_real(t)


# ---- another protocol's datagrams, truncated

QKEY_CONTROLLED = "rfc4391.13.qkey-controlled"


def other_datagrams(snaplen, payload):
    """Datagrams of another protocol, whose Q_Key a program chose. The first bytes are those of an
    encapsulation header and of an IP header, and the others are not."""
    t = Tape()
    for n in range(2):
        t.ud(A, B, payload, qkey=0x01234567)
    records = [(time, data[:snaplen], len(data)) for time, data, *_ in t.records]
    return capfile.pcap(capfile.INFINIBAND, records)


OTHER_V4 = encap(0x0800, b"\x45" + bytes([255] * 60))
OTHER_V6 = encap(0x86DD, b"\x60" + bytes([255] * 60))


# ---- the start of a port


def set_again(lost):
    """a joins the broadcast group when the SM has brought its port up. Later the SM sets a's
    PortInfo again. lost: the Set that gave the port its LID, the join and their responses were not
    captured."""
    s, a, b = FromStart(), Host(1), Host(2)
    s.node_info(a)
    no_lid = bytes(31) + b"\x02\x22" + bytes(31)  # PortInfo: Init, LID 0
    s.smp(a.lid, SMP_GET, 0x0015, modifier=1, reply=no_lid)
    first = len(s.records)
    s.port_info(a)
    s.join(a, s.broadcast())
    if lost:
        del s.records[first:]
    s.subscribe(a)
    s.wait(1)
    s.port_info(a)
    s.arp_request(a, b.ip)
    s.wait(1)
    for _ in range(2):
        s.path(a, b)
    return s.pcap()


# ---- the cases

case = by(Case, deviations="linux")
UNTIL_58 = Expected("nothing up to frame 58", lambda found: all(n and n > 58 for n, _ in found))
OWN_GID = "2001:db8:0:1:9803:9b03:66:de52"  # of C

CASES = [
    *[
        row
        for change, rule in CHANGES.items()
        for row in (
            case(f"{change} changed, missed join", CONFORMS, by(rejoined, change)),
            case(
                f"{change} changed, no missed join",
                has(rule, ATTRIBUTES),
                by(rejoined, change, missed=False),
            ),
            case(f"{change} changed, client reregistration", CONFORMS, by(reregistered, change)),
            case(
                f"{change} changed, the next request shows it",
                lacks(*CHANGES.values()),
                by(lost_rejoin, change),
            ),
            case(
                f"{change} changed, the next request shows no join",
                includes((71, rule)),
                by(lost_rejoin, change, missed=False),
            ),
        )
    ],
    case("MLID of a datagram before the join response", CONFORMS, by(before_the_join_response, 1)),
    case("the same, captured twice", CONFORMS, by(before_the_join_response, 2)),
    *[
        case(
            f"missed record with another {name}, from {first}",
            CONFORMS,
            by(missed_record, first, **{name: value}),
        )
        for name, value in (("qkey", CONTROLLED), ("hop", 5), ("mtu", 3))
        for first in (6, 15, 19)
    ],
    case("missed join of the SA's port", CONFORMS, by(sa_changes, 9), of=(QKEY_FROM_JOIN,)),
    case(
        "other Q_Key of the SA's port",
        exactly((69, QKEY_FROM_JOIN)),
        by(sa_changes, 8),
        of=(QKEY_FROM_JOIN,),
    ),
    case("missed response to a join", UNTIL_58, missed_join_response),
    case("datagram sent before the join response", CONFORMS, sent_before_the_join_response),
    # A may use the other Q_Key until it joins again; C may not
    case(
        "port that joined before the capture",
        exactly((17, QKEY_FROM_JOIN)),
        by(late_joiner, 0x80000B1C),
    ),
    *[
        row
        for seconds in (0, 10, 3600)
        for row in (
            case(
                f"missed P_Key table, {seconds} s",
                CONFORMS,
                by(other_partition, seconds, True),
                of=(PKEY,),
            ),
            case(
                f"partition of no table, {seconds} s",
                exactly((90, PKEY)),
                by(other_partition, seconds, False),
                of=(PKEY,),
            ),
        )
    ],
    *[
        case(
            f"through a router, HopLimit {hop}, SL {sl}",
            CONFORMS,
            by(routed, REMOTE, hop, sl, ROUTER_LID),
        )
        for hop, sl in ((63, 2), (63, 0), (60, 5))
    ],
    *[
        case(
            f"own port, HopLimit {hop}, SL {sl}",
            exactly((13, PARAMETERS)),
            by(routed, OWN_GID, hop, sl, C.lid),
        )
        for hop, sl in ((63, 2), (64, 5), (65, 2))
    ],
    *[
        row
        for mtu in (1, 3)
        for row in (
            case(f"path with the smaller MTU {mtu}", CONFORMS, by(path_with_mtu, mtu)),
            Outcome(
                f"path with the smaller MTU {mtu}, the rule",
                Expected("is inconclusive once", lambda c: (c.failed, c.inconclusive) == (0, 1)),
                GROUP_MTU,
                by(path_with_mtu, mtu),
                deviations="linux",
            ),
        )
    ],
    case(
        "link with a smaller MTU", exactly((90, GROUP_MTU)), by(smaller_mtu, False), of=(GROUP_MTU,)
    ),
    case("missed change of the port's MTU", CONFORMS, by(smaller_mtu, True), of=(GROUP_MTU,)),
    case(
        "a switch is asked after it",
        exactly((89, GROUP_MTU)),
        by(smaller_mtu_and_an_smp, 0x0012, False),
        of=(GROUP_MTU,),
    ),
    case(
        "a switch is asked after a missed SMP",
        CONFORMS,
        by(smaller_mtu_and_an_smp, 0x0012, True),
        of=(GROUP_MTU,),
    ),
    case(
        "another SM is asked after it",
        CONFORMS,
        by(smaller_mtu_and_an_smp, 0x0020, False),
        of=(GROUP_MTU,),
    ),
    case("the same before the join", CONFORMS, smaller_mtu_before_the_join, of=(GROUP_MTU,)),
    *[
        case(
            f"another protocol's datagram, {what}, {snaplen} bytes",
            CONFORMS,
            by(other_datagrams, snaplen, data),
        )
        for what, data in (("IPv4", OTHER_V4), ("IPv6", OTHER_V6))
        for snaplen in (32, 33, 35, 40, 200)
    ],
    *[
        case(
            f"uncontrolled Q_Key, {snaplen} bytes",
            rules(QKEY_CONTROLLED),
            by(other_datagrams, snaplen, ping(A, B)),
        )
        for snaplen in (40, 200)
    ],
    case("Set of a port that has sent", CONFORMS, by(set_again, False)),
    case("Set of a port, its start was missed", CONFORMS, by(set_again, True)),
]

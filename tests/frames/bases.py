# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that several fixtures start from: real ones, shortened, or changed to conform to a rule
that Linux violates."""
from frames import ib
from frames.fabric import RC_FLAG, Node
from frames.fixture import base

QKEY, CONTROLLED = 0x00000B1B, 0x80000B1B
SA, MC_MEMBER = ib.CLASS_SA, ib.ATTR_MC_MEMBER


base("bring-up", "datagram.pcap", "1-20: n1's port is brought up, n1 joins the broadcast group")(
    lambda t: t.keep((1, 20))
)


base(
    "bring-up, sweep",
    "datagram.pcap",
    "1-20, 89-92: bring-up; the SM asks for n1's NodeInfo and PortInfo again",
)(lambda t: t.keep((1, 20), (89, 92)))


base(
    "joins",
    "datagram.pcap",
    "1-43: bring-up, n1's joins, the first solicitations, ARP request, path query",
)(lambda t: t.keep((1, 43)))


@base(
    "n1-asks",
    "datagram.pcap",
    "1-20, 33-35, 41-43: n1 joins the broadcast group, sends an ARP request to it, and asks the SA",
)
def n1_asks(t):
    t.keep((1, 20), (33, 35), (41, 43))
    p = t[41].set(slid=N1.lid, sgid=N1.gid, srcqp=N1.qpn, psn=0)
    p["arp.sha.qpn"], p["arp.sha.gid"] = N1.qpn, N1.gid
    p.payload[32:36] = ib.ip4(N1.ip)
    t.renumber(N1.lid)


@base(
    "middle",
    "datagram.pcap",
    "41, 44-50 with a controlled Q_Key: ARP and ICMP echo; no join is in the capture",
)
def middle(t):
    t.keep(41, (44, 50))
    with_controlled_qkey(t)


@base(
    "controlled", "datagram.pcap", "all Q_Keys of IPoIB are 0x80000b1b, as RFC 4391 §4.1 wants them"
)
def with_controlled_qkey(t):
    for f in t.frames:
        p = f.packet
        if p.deth and p["qkey"] == QKEY:
            p["qkey"] = CONTROLLED
        elif is_mcmember(p) and p["mcm.qkey"] == QKEY:
            p["mcm.qkey"] = CONTROLLED


base("controlled-bring-up", "controlled", "1-20 of it")(lambda t: t.keep((1, 20)))


@base(
    "no-flags",
    "datagram.pcap",
    "link-layer addresses without the RC flag, as of nodes without connected mode",
)
def no_flags(t):
    for f in t.frames:
        p = f.packet
        if is_arp(p):
            p["arp.sha.flags"] = p["arp.tha.flags"] = 0
        elif lladdr_option(p):
            p.payload[lladdr_option(p) + 4] = 0
            p.fix_checksums()


@base(
    "reports", "datagram.pcap", "78 and what follows 6 s later: n1 reports 239.1.2.3 by IGMP twice"
)
def reports(t):
    t.shift(78, 6)


@base(
    "new-qpn",
    "datagram.pcap",
    "1-49, 69, 70; after 48 n1's interface is restarted: it leaves and joins the broadcast group (made "
    "from 19 and 20) and announces QPN 0x000025, from that QP; 49 goes to the old QPN at once",
)
def new_qpn(t):
    t.keep((1, 49), (69, 70))
    at = 48
    for n, (request, response) in enumerate((leave_of(t), (t[19].copy(), t[20].copy()))):
        request["mad.tid"] = response["mad.tid"] = t[19]["mad.tid"] + 0x100 + n
        at = t.insert(t.insert(at, request), response)
    p = t[41].copy()
    p.set(slid=2, sgid=N1.gid, srcqp=NEW_QPN)
    p["arp.sha.qpn"], p["arp.sha.gid"], p["arp.tpa"] = NEW_QPN, N1.gid, N1.ip
    p.payload[32:36] = ib.ip4(N1.ip)
    t.insert(at, p)
    t.renumber(2)


@base(
    "subscribed",
    "switch4.pcap",
    "1-264; n3's subscriptions (271-274) come before it first sends to a group",
)
def subscribed(t):
    t.keep((1, 264), (271, 274))
    for n, after in ((271, 174), (272, 271), (273, 272), (274, 273)):
        t.move(n, after)
    t.renumber(5)


# ---- connections


@base("set-up", "connected.pcap", "1-46, 48: n0 connects to n1; no data")
def set_up(t):
    t.keep((1, 46), 48)


@base(
    "rfc-set-up",
    "connected.pcap",
    "1-46, 48: with RFC 4755's Service-ID, and private data in the RTU",
)
def rfc_set_up(t):
    set_up(t)
    t[45]["req.service"] = ib.service_id_rfc(N1.qpn)
    fill_rtu(t, 48, N0.qpn)


@base("rtu-set-up", "connected.pcap", "1-46, 48: with private data in the RTU")
def rtu_set_up(t):
    set_up(t)
    fill_rtu(t, 48, N0.qpn)


@base(
    "rfc-echoes",
    "connected.pcap",
    "1-62: with RFC 4755's Service-IDs, and private data in the RTUs",
)
def rfc_echoes(t):
    t.keep((1, 62))
    with_rfc_service_ids(t)
    fill_rtu(t, 48, N0.qpn)
    fill_rtu(t, 53, N1.qpn)


@base("long-echo", "connected.pcap", "1-62: the echo request in 55 has 3000 octets of data")
def long_echo(t):
    t.keep((1, 62))
    t[55].datagram(0x0800, ib.ping4(N0.ip, N1.ip, seq=2, size=3000))


base("echoes", "connected.pcap", "1-62: both connections, three ICMP echoes")(
    lambda t: t.keep((1, 62))
)


base("ipv6-echoes", "connected.pcap", "1-62, 85-95: ICMP and ICMPv6 echoes, no long message")(
    lambda t: t.keep((1, 62), (85, 95))
)


@base(
    "crossing",
    "connected.pcap",
    "1-45, 50-54: n1's REQ (50) crosses n0's (45); n1, whose address is larger, sends REJ, reason 28; n0 sends REP",
)
def crossing(t):
    t.keep((1, 46), (50, 54))
    t.move(50, 45)
    becomes_rej(t[46], N1)
    all_of_gsi(t)


@base(
    "rfc-crossing",
    "crossing",
    "with RFC 4755's Service-IDs, and private data in the RTU",
)
def rfc_crossing(t):
    with_rfc_service_ids(t)
    fill_rtu(t, 53, N1.qpn)


@base(
    "again",
    "connected.pcap",
    "the whole, and 12 s after it n1 joins the broadcast group again (copies of 20 and 21)",
)
def again(t):
    request, response = t[20].copy(), t[21].copy()
    request["mad.tid"] = response["mad.tid"] = t[115]["mad.tid"] + 0x100
    at = t.insert(123, request)
    at.time += 12 * 10**9
    t.insert(at, response)
    all_of_gsi(t)


@base(
    "late",
    "connected.pcap",
    "the whole, and 12 s after it an echo request on the first connection (a copy of 59, the next PSN)",
)
def late(t):
    p = t[59].copy()
    p["psn"] = t[106]["psn"] + 1
    t.insert(123, p).time += 12 * 10**9


def becomes_rej(rep, node):
    """The node's REP becomes a REJ, reason 28."""
    ids = rep["mad.tid"], rep["cm.local"], rep["cm.remote"]
    rep.payload = bytearray(ib.cm_rej(*ids, CONSUMER_REJECT, pdata=ib.private_data(node.qpn, 0)))


def with_rfc_service_ids(t):
    """The REQs of the two nodes get the form of RFC 4755 §3.5."""
    t[45]["req.service"] = ib.service_id_rfc(N1.qpn)
    t[50]["req.service"] = ib.service_id_rfc(N0.qpn)


def fill_rtu(t, n, qpn):
    """The RTU gets the private data of RFC 4755 §6."""
    t[n]["rtu.private"] = ib.private_data(qpn, RECEIVE_MTU)


def all_of_gsi(t):
    """Gives the packets of the two nodes' GSIs PSNs without a gap: none of them is missing in the
    capture."""
    for slid in (N0.lid, N1.lid):
        t.renumber(slid)


def leave_of(t):
    """The request to leave and its response, made from the join in 19 and 20 of datagram.pcap."""
    request, response = t[19].copy(), t[20].copy()
    request["mad.method"], response["mad.method"] = ib.DELETE, ib.DELETE_RESP
    response["mcm.join"] = 0
    return request, response


def join_again(t, gid, lid, **parameters):
    """After 50 of datagram.pcap, a port joins the broadcast group, as n1 did in 19 and 20, and gets
    other parameters."""
    request, response = t[19].copy().set(slid=lid), t[20].copy().set(dlid=lid)
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    for p in (request, response):
        p.payload[72:88] = ib.gid(gid)
    for name, value in parameters.items():
        response["mcm." + name] = value
    return t.insert(t.insert(50, request), response)


# ---- who is who; testdata/README.md


N0 = Node(1, "fe80::11:7500:0:100", 0x03, "10.0.0.1", "fe80::211:7500:0:100", RC_FLAG)
N3 = Node(5, "fe80::11:7500:0:130", 0x63, "10.0.0.4", "fe80::211:7500:0:130", RC_FLAG)  # of switch4
N1 = Node(2, "fe80::11:7500:0:110", 0x23, "10.0.0.2", "fe80::211:7500:0:110", RC_FLAG)
NEW_QPN = 0x25
CONSUMER_REJECT = 28  # IBA 12.6.7.2
RECEIVE_MTU = 65524  # of the REQs in connected.pcap
ND_OPTIONS = {133: 52, 135: 68, 136: 68}  # RS, NS, NA: the offset of their options in the payload


def is_mcmember(p):
    return p.deth and p["destqp"] == 1 and p["mad.class"] == SA and p["mad.attribute"] == MC_MEMBER


def is_ipoib(p):
    return p.deth and p["qkey"] in (QKEY, CONTROLLED) and len(p.payload) >= 4


def is_arp(p):
    return is_ipoib(p) and p["type"] == 0x0806


def lladdr_option(p):
    """The offset of the source or target link-layer address option of an RS, NS or NA; 0: it has
    none. The bytes of a Nonce option (RFC 3971 §5.3.2) may be in its place."""
    if (
        not is_ipoib(p)
        or p["type"] != 0x86DD
        or p["ipv6.next"] != 58
        or p.payload[44] not in ND_OPTIONS
    ):
        return 0
    at = ND_OPTIONS[p.payload[44]]
    return at if p.payload[at : at + 2] in (b"\x01\x03", b"\x02\x03") else 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""A small fabric that conforms to every rule, from the subnet manager's first SMP to the last
leave; variants violate rules in it.

Four nodes and a subnet manager. A and B accept connections, C and D do not. Every frame has a name,
as "A.arp.request"; world["A.arp.request"] is its packet, which a variant changes. Lengths and CRCs
are recomputed. Each port's QP1 counts its PSNs from 0, so that a missing frame is visible. Frames
are 20 ms apart, so that their order is certain.
"""
import copy

from frames import fabric, ib
from frames.fabric import C, D, FULL, JOIN_MASK, LEAVE_MASK, MS, MTU_2048, QKEY, SEND_ONLY, SM
from frames.fabric import Fabric, smp_frame
from frames.edit import Packet
from frames.ib import ACTIVE, INIT, NODE_INFO, PKEY_TABLE, PORT_INFO
from frames.messages import RARP, NOBODY, arp, igmp_report, mld_report, na, nd, ns, ns_unicast
from frames.messages import ping, ping6, solicited_node, udp4, udp6
from support import capfile

GAP = 20 * MS
RC, UC = fabric.RC_FLAG, fabric.UC_FLAG
GROUP_IPV4, NODES, ROUTERS = "239.1.2.3", "ff02::1", "ff02::2"

# Attributes of a group other than the broadcast group's, and the rule that each of them violates.
SAME_ATTRIBUTES = "rfc4391.10.group-attributes"
SIMILAR_ATTRIBUTES = "rfc4391.10.group-other-attributes"
OTHER_ATTRIBUTES = {
    "qkey": (QKEY + 1, SAME_ATTRIBUTES),
    "mtu": (5, SAME_ATTRIBUTES),
    "sl": (3, SAME_ATTRIBUTES),
    "hop": (9, SAME_ATTRIBUTES),
    "tclass": (4, SIMILAR_ATTRIBUTES),
    "flow": (0x12345, SIMILAR_ATTRIBUTES),
    "rate": (2, SIMILAR_ATTRIBUTES),
    "life": (7, SIMILAR_ATTRIBUTES),
}
CREATE_MASK = JOIN_MASK | sum(
    ib.MCM[n] for n in "qkey tclass sl flow hop mtu mtu_sel rate rate_sel life life_sel".split()
)
RECV_MTU = 4096

A, B = (node.also(flags=RC | UC) for node in (fabric.A, fabric.B))
NAMES = {A: "A", B: "B", C: "C", D: "D", SM: "SM"}
# C's and D's GUIDs have the u bit 1, so they do not show whether they are modified (RFC 4391 8).


def port_info(node, state=ACTIVE, neighbor_mtu=MTU_2048, lid=None):
    lid = node.lid if lid is None else lid
    return ib.port_info("fe80::", lid, SM.lid, state, neighbor_mtu)


class World(Fabric):
    """pkey: the link's partition. limited: nodes that are its limited members. qkey: of the
    broadcast group."""

    first_psn, step = 0, GAP

    def __init__(self, pkey=0xFFFF, limited=(), **record):
        super().__init__()
        self.pkey, self.limited = pkey, limited
        self.record = dict(
            qkey=QKEY, mtu_sel=2, mtu=MTU_2048, rate_sel=2, rate=3, life_sel=2, life=18
        )
        self.record.update(record)
        self.packets, self.times, self.order = {}, {}, []

    # ---- frames

    def put(self, name, frame, seconds=0.0):
        assert name not in self.packets, name
        self.now += self.step + int(seconds * 10**9)
        octets = frame.ib()
        self.packets[name], self.times[name] = Packet(octets), self.now
        self.packets[name].before = octets
        self.order.append(name)

    def __getitem__(self, name):
        return self.packets[name]

    def copy(self):
        other = copy.copy(self)
        other.packets = {n: p.copy() for n, p in self.packets.items()}
        other.times, other.order, other.psns = dict(self.times), list(self.order), dict(self.psns)
        return other

    def insert(self, after, name, packet):
        """Inserts a frame after another one, half-way to the next."""
        at = self.order.index(after)
        self.order.insert(at + 1, name)
        packet.before = None
        self.packets[name], self.times[name] = packet, self.times[after] + GAP // 2
        return packet

    def send(self, after, name, src, like, payload, seconds=0.0):
        """Inserts a UD packet of src after another frame: with the headers of the packet `like`,
        which may be another node's, and this payload. src's later packets are renumbered."""
        p = self.packets[like].copy()
        p["slid"], p["srcqp"] = src.lid, src.qpn
        if p.grh:
            p["sgid"] = src.gid
        p.payload = bytearray(payload)
        self.insert(after, name, p)
        self.times[name] += int(seconds * 10**9)
        self.renumber_qp(src)
        return p

    def renumber_qp(self, node):
        """Numbers the PSNs of the node's UD QP in the order of the capture."""
        its = [self.packets[n] for n in self.order]
        its = [p for p in its if p.deth and (p["slid"], p["srcqp"]) == (node.lid, node.qpn)]
        for psn, p in enumerate(its):
            p["psn"] = psn

    def drop(self, *names):
        """Removes these frames as if they had never existed: later packets of the port's QP1 are
        numbered accordingly."""
        self.order = [n for n in self.order if n not in names]
        self.renumber()

    def renumber(self):
        """Numbers QP1's PSNs in the order of the capture, from 0 for each port."""
        psn = {}
        for name in self.order:
            p = self.packets[name]
            if p.deth and p["srcqp"] == 1:
                p["psn"] = psn.get(p["slid"], 0)
                psn[p["slid"]] = p["psn"] + 1

    def begin(self, name):
        """Makes the capture begin with this frame."""
        self.order = self.order[self.order.index(name) :]

    def number(self, name):
        return self.order.index(name) + 1

    def delay(self, name, seconds):
        """Delays this frame and all that follow."""
        for n in self.order[self.order.index(name) :]:
            self.times[n] += int(seconds * 10**9)

    def octets(self, name):
        p = self.packets[name]
        before = getattr(p, "before", None)
        return before if before is not None and p.is_still(before) else p.octets()

    def records(self):
        return [capfile.record(self.times[n], self.octets(n)) for n in self.order]

    # ---- datagrams

    def pkey_of(self, node):
        return self.pkey & 0x7FFF if node in self.limited else self.pkey

    def ud(self, name, src, dst, payload, seconds=0.0, **fields):
        of = dict(pkey=self.pkey_of(src), qkey=self.record["qkey"], **fields)
        self.put(name, self.datagram(src, dst, payload, **of), seconds)

    def broadcast(self, name, src, payload, **kw):
        self.ud(name, src, self.mgid("255.255.255.255"), payload, mlid=0xC000, **kw)

    def mgid(self, group):
        text = ib.mgid_ipv6 if ":" in group else ib.mgid_ipv4
        return text(group, pkey=self.pkey)

    # ---- management

    def smps(self, node):
        """The subnet manager brings the port up (IBA 14.4.4): NodeInfo, PortInfo, P_KeyTable."""
        name = NAMES[node]
        table = ib.u16(self.pkey_of(node))
        if self.pkey != 0xFFFF:
            table = ib.u16(0xFFFF) + table
        for what, method, attribute, modifier, data in (
            ("nodeinfo", ib.GET, NODE_INFO, 0, ib.node_info(node.guid, 32)),
            ("pkeys", ib.SET, PKEY_TABLE, 0, table),
            ("nolid", ib.GET, PORT_INFO, 1, port_info(node, INIT, lid=0)),
            ("portinfo", ib.SET, PORT_INFO, 1, port_info(node)),
        ):
            self.exchange_smp(f"{name}.{what}", node, method, attribute, modifier, data)

    def sweep(self, node):
        """The subnet manager asks for the port's PortInfo again. The PSN of the response shows that
        no SMP before it is missing."""
        self.exchange_smp(f"{NAMES[node]}.sweep", node, ib.GET, PORT_INFO, 1, port_info(node))

    def exchange_smp(self, name, node, method, attribute, modifier, data):
        """An SMP and its response, name and name + ".resp"."""
        tid, route = self.next_tid(), (0, node.lid)
        asked = data if method == ib.SET else b""
        mad = ib.directed_smp(method, tid, attribute, modifier, asked, route, returned=())
        self.put(name, smp_frame(mad, self.next_psn(SM.lid, fabric.SMI)))
        mad = ib.directed_smp(ib.GET_RESP, tid, attribute, modifier, data, route, pointer=0)
        self.put(name + ".resp", smp_frame(mad, self.next_psn(node.lid, fabric.SMI)))

    def mad(self, name, src, dst, octets, seconds=0.0):
        self.put(name, self.management(src, dst, octets), seconds)

    def sa(self, name, node, method, attribute, data=b"", mask=0, record=None, seconds=0.0):
        """A request and its response, name and name + ".resp"."""
        self.tid += 1
        self.mad(name, node, SM, ib.sa_mad(method, self.tid, attribute, data, mask), seconds)
        response = ib.DELETE_RESP if method == ib.DELETE else ib.GET_RESP
        record = data if record is None else record
        offset = {ib.ATTR_MC_MEMBER: 7}.get(attribute, 0)
        octets = ib.sa_mad(response, self.tid, attribute, record, mask, attr_offset=offset)
        self.mad(name + ".resp", SM, node, octets)

    def member(self, group, node, state, mlid):
        of = dict(mlid=mlid, pkey=self.pkey, scope=2, join=state, **self.record)
        return ib.mcmember(self.mgid(group), node.gid, **of)

    def join(self, node, name, group, mlid, state=FULL):
        request = ib.mcmember(self.mgid(group), node.gid, pkey=self.pkey, join=state)
        response = self.member(group, node, state, mlid)
        kind = ib.SET, ib.ATTR_MC_MEMBER, request, JOIN_MASK, response
        self.sa(f"{NAMES[node]}.join.{name}", node, *kind)

    def leave(self, node, name, group, mlid, state=FULL, seconds=0.0):
        request = ib.mcmember(self.mgid(group), node.gid, join=state)
        response = self.member(group, node, 0, mlid)
        kind = ib.DELETE, ib.ATTR_MC_MEMBER, request, LEAVE_MASK, response
        self.sa(f"{NAMES[node]}.leave.{name}", node, *kind, seconds=seconds)

    def query(self, node, name, group, mlid):
        """Requests the record of the group: does it exist (RFC 4391 10)?"""
        request, response = ib.mcmember(self.mgid(group)), self.member(group, SM, 0, mlid)
        response = response[:16] + bytes(16) + response[32:]
        kind = ib.GET, ib.ATTR_MC_MEMBER, request, ib.MCM["mgid"], response
        self.sa(f"{NAMES[node]}.query.{name}", node, *kind)

    def subscribe(self, node, trap):
        data = ib.inform_info("::", trap)
        self.sa(f"{NAMES[node]}.subscribe.{trap}", node, ib.SET, ib.ATTR_INFORM_INFO, data)

    def last_request(self, node):
        """A request that shows that no request before it is missing."""
        kind = ib.GET, ib.ATTR_CLASS_PORT_INFO, b"", 0, ib.class_port_info()
        self.sa(f"{NAMES[node]}.last", node, *kind)

    # ---- connections

    def set_up(self, name, a, b, ids, qps, transport=0):
        """REQ, REP, RTU with the private data that RFC 4755 6 requires."""
        own, other = (ib.private_data(n.qpn, RECV_MTU) for n in (a, b))
        self.tid += 1
        req = ib.cm_req(
            self.tid, ids[0], ib.service_id_rfc(b.qpn), a.guid, qps[0], 0x100,
            a.lid, b.lid, a.gid, b.gid, own, transport=transport, pkey=self.pkey,
        )  # fmt: skip
        self.mad(name + ".req", a, b, req)
        rep = ib.cm_rep(self.tid, ids[1], ids[0], qps[1], 0x200, b.guid, other)
        self.mad(name + ".rep", b, a, rep)
        self.mad(name + ".rtu", a, b, ib.cm_rtu(self.tid, *ids, own))

    def refuse(self, name, a, b, local, remote, tid, reason):
        octets = ib.cm_rej(tid, local, remote, reason, pdata=ib.private_data(a.qpn, RECV_MTU))
        self.mad(name, a, b, octets)

    def end(self, name, a, b, ids, qps):
        self.tid += 1
        self.mad(name + ".dreq", a, b, ib.cm_dreq(self.tid, *ids, qps[1]))
        self.mad(name + ".drep", b, a, ib.cm_drep(self.tid, ids[1], ids[0]))

    def data(self, name, src, dst, qpn, psn, payload, transport=0, op=ib.ONLY):
        of = dict(dlid=dst.lid, slid=src.lid, pkey=self.pkey_of(src), destqp=qpn, psn=psn)
        base, ackreq = ((ib.RC, 1), (ib.UC, 0))[transport]
        self.put(name, ib.Frame(base | op, payload, ackreq=ackreq, **of))


RC_IDS, RC_QPS = (0xA1, 0xB1), (0x101, 0x202)
UC_IDS, UC_QPS = (0xB2, 0xA2), (0x203, 0x104)


def everything(pkey=0xFFFF, limited=(), **record):
    """All traffic of the four nodes; it violates no rule."""
    w = World(pkey, limited, **record)
    bring_up(w)
    for node in (A, B, C, D):
        w.sweep(node)
    resolve(w)
    exchange(w)
    connect(w)
    shut_down(w)
    return w


def bring_up(w):
    for node in (A, B, C, D):
        w.smps(node)
    for node in (A, B, C, D):
        w.join(node, "bcast", "255.255.255.255", 0xC000)
        w.join(node, "nodes", NODES, 0xC001)
    w.join(B, "snm", solicited_node(B.ll), 0xC003)
    w.join(D, "snm", solicited_node(D.ll), 0xC004)
    w.join(B, "routers", ROUTERS, 0xC005)
    w.join(B, "g4", GROUP_IPV4, 0xC007)
    for node, groups in ((A, ("snm", "routers", "g4")), (C, ("snm", "g4"))):
        w.subscribe(node, 66)
        w.subscribe(node, 67)
        for name in groups:
            group, mlid = group_of(node, name)
            w.query(node, name, group, mlid)
            w.join(node, name, group, mlid, SEND_ONLY)


def group_of(node, name):
    """The group that a node sends to by this name, and its MLID."""
    snm = (solicited_node(B.ll), 0xC003) if node in (A, B) else (solicited_node(D.ll), 0xC004)
    return {"snm": snm, "routers": (ROUTERS, 0xC005), "g4": (GROUP_IPV4, 0xC007)}[name]


def resolve(w):
    for requester, responder in ((A, B), (C, D)):
        a, b = NAMES[requester], NAMES[responder]
        w.broadcast(f"{a}.arp.request", requester, arp(1, requester, responder, NOBODY))
        w.ud(f"{b}.arp.reply", responder, requester, arp(2, responder, requester))
        group, mlid = group_of(requester, "snm")
        w.ud(f"{a}.ns", requester, w.mgid(group), ns(requester, responder), mlid=mlid)
        w.ud(f"{b}.na", responder, requester, na(responder, requester))
    w.broadcast("D.arp.announce", D, arp(1, D, D, NOBODY))
    w.ud("D.arp.revalidate", D, C, arp(1, D, C, NOBODY))
    w.ud("C.arp.reply", C, D, arp(2, C, D))
    w.ud("D.ns.unicast", D, C, ns_unicast(D, C))
    w.ud("C.na", C, D, na(C, D))
    w.broadcast("A.rarp.request", A, arp(3, A, A, ethertype=RARP))
    w.ud("B.rarp.reply", B, A, arp(4, B, A, ethertype=RARP))
    w.ud("A.inarp.request", A, B, arp(8, A, B))  # RFC 2390
    w.ud("B.inarp.reply", B, A, arp(9, B, A))
    rs = nd(A, ROUTERS, ib.nd_rs(ib.nd_lladdr_option(1, A.addr)))
    w.ud("A.rs", A, w.mgid(ROUTERS), rs, mlid=0xC005)
    ra = nd(B, NODES, ib.nd_ra(ib.nd_lladdr_option(1, B.addr)))
    w.ud("B.ra", B, w.mgid(NODES), ra, mlid=0xC001)
    target = ib.nd_lladdr_option(2, D.addr)
    w.ud("B.redirect", B, A, nd(B, A.ll, ib.nd_redirect(D.ll, "2001:db8::4", target)))


def exchange(w):
    for a, b in ((A, B), (C, D)):
        x, y = NAMES[a], NAMES[b]
        w.ud(f"{x}.ping", a, b, ping(a, b))
        w.ud(f"{y}.pong", b, a, ping(b, a, reply=True))
        w.ud(f"{x}.ping.grh", a, b, ping(a, b, seq=2), grh=True)
        w.ud(f"{x}.ping6", a, b, ping6(a, b))
        w.ud(f"{x}.ping6.grh", a, b, ping6(a, b), grh=True)
    w.ud("A.mcast4", A, w.mgid(GROUP_IPV4), udp4(A, GROUP_IPV4), mlid=0xC007)
    w.ud("C.mcast4", C, w.mgid(GROUP_IPV4), udp4(C, GROUP_IPV4), mlid=0xC007)
    w.ud("A.mcast6", A, w.mgid(NODES), udp6(A, NODES), mlid=0xC001)
    w.broadcast("A.bcast", A, udp4(A, "255.255.255.255"))
    w.ud("B.igmp", B, w.mgid(GROUP_IPV4), igmp_report(B, GROUP_IPV4), mlid=0xC007)
    w.ud("B.mld", B, w.mgid(ROUTERS), mld_report(B, ROUTERS), mlid=0xC005)
    w.ud("B.igmp.again", B, w.mgid(GROUP_IPV4), igmp_report(B, GROUP_IPV4), mlid=0xC007, seconds=8)
    w.ud("B.mld.again", B, w.mgid(ROUTERS), mld_report(B, ROUTERS), mlid=0xC005)


def connect(w):
    w.set_up("rc", A, B, RC_IDS, RC_QPS)
    w.data("rc.ping", A, B, RC_QPS[1], 0x200, ping(A, B, seq=3))
    w.data("rc.pong", B, A, RC_QPS[0], 0x100, ping(B, A, seq=3, reply=True))
    w.data("rc.ping6", A, B, RC_QPS[1], 0x201, ping6(A, B))
    w.set_up("uc", B, A, UC_IDS, UC_QPS, transport=1)
    w.data("uc.ping", B, A, UC_QPS[1], 0x200, ping(B, A, seq=4), transport=1)
    w.data("uc.pong", A, B, UC_QPS[0], 0x100, ping(A, B, seq=4, reply=True), transport=1)
    w.data("uc.ping6", B, A, UC_QPS[1], 0x201, ping6(B, A), transport=1)
    w.end("rc", A, B, RC_IDS, RC_QPS)
    w.end("uc", B, A, UC_IDS, UC_QPS)


def shut_down(w):
    for node, state, groups in (
        (A, SEND_ONLY, ("snm", "routers", "g4")),
        (C, SEND_ONLY, ("snm", "g4")),
        (B, FULL, ("g4", "routers", "snm")),
        (D, FULL, ("snm",)),
    ):
        for name in groups:
            group, mlid = group_of(node, name)
            w.leave(node, name, group, mlid, state)
        w.leave(node, "nodes", NODES, 0xC001)
        w.leave(node, "bcast", "255.255.255.255", 0xC000)
        w.last_request(node)

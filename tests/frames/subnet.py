# SPDX-License-Identifier: GPL-2.0-or-later
"""A subnet whose nodes all conform to the RFCs: hosts join through the SA before they send, resolve
addresses before they use them, and number their packets.

For scenarios; fabric.py makes the frames."""
import ipaddress

from frames import ib
from frames.fabric import CREATED, DELETED, FULL, JOIN_MASK, LEAVE_MASK, MTU_2048, QKEY, SEND_ONLY
from frames.fabric import Node, Tape, smp_frame
from frames.ib import encap
from frames.messages import (
    NOBODY,
    advertisement,
    arp,
    nd6,
    ping,
    solicitation,
    solicited_node,
    udp4,
)

CREATE = JOIN_MASK | sum(
    ib.MCM[n] for n in "qkey mtu_sel mtu tclass rate_sel rate sl flow hop".split()
)
PATH_BY_GIDS = 0x380C  # DGID, SGID, Reversible, NumbPath, P_Key (IBA 15.2.5.16)
MOST_RATE = 3
SMP_GET, SMP_SET, SMP_RESP = ib.GET, ib.SET, ib.GET_RESP
EXACTLY = dict(mtu_sel=2, rate_sel=2, life_sel=2)


def modified(guid):
    """The interface identifier of an EUI-64 whose u bit is 0: the bit is toggled (RFC 4391 §8)."""
    return guid ^ 1 << 57


class Host(Node):
    """An interface. number n: LID n, port GUID 00:02:c9:03:00:00:00:n, IPv4 10.0.0.n."""

    def __init__(self, n, qpn=None, prefix="fe80::", lid=None, ip=None, flags=0):
        guid = 0x0002C90300000000 + n
        gid = str(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + guid))
        ll = str(ipaddress.IPv6Address((0xFE80 << 112) + modified(guid)))
        super().__init__(lid or n, gid, qpn or 0x100 + n, ip or f"10.0.0.{n}", ll, flags)


class Subnet(Tape):
    """The SM has LID 9."""

    def __init__(self, scope=2, pkey=0xFFFF, prefix="fe80::", **broadcast):
        super().__init__()
        self.scope, self.pkey, self.prefix = scope, pkey, prefix
        self.sm = Host(9, prefix=prefix)
        self.parameters = dict(
            qkey=QKEY, mtu=MTU_2048, rate=MOST_RATE, life=18, sl=0, flow=0, hop=0, tclass=0
        )
        self.parameters.update(broadcast)
        self.mlids, self.states = {}, {}  # of groups; of members, in the SA

    # ---- management

    def ask(self, host, method, attribute, data, mask=0, reply=None, status=0, offset=0, sa=None):
        """A request to the SA and its response, which has the reply's data, or the request's."""
        tid, sa = self.next_tid(), sa or self.sm
        self.sa(host, sa, method, tid, attribute, data, mask)
        response = ib.GET_RESP if method == ib.SET else 0x80 | method
        data = data if reply is None else reply
        options = dict(status=status, attr_offset=offset)
        self.sa(sa, host, response, tid, attribute, data, mask, **options)

    def broadcast(self, pkey=None):
        return ib.mgid_ipv4("255.255.255.255", pkey=self.full(pkey), scope=self.scope)

    def full(self, pkey=None):
        return (self.pkey if pkey is None else pkey) | 0x8000

    def group4(self, group, pkey=None):
        return ib.mgid_ipv4(group, pkey=self.full(pkey), scope=self.scope)

    def group6(self, group, pkey=None):
        return ib.mgid_ipv6(group, pkey=self.full(pkey), scope=self.scope)

    def mlid(self, mgid):
        return self.mlids.setdefault(mgid, 0xC000 + len(self.mlids))

    def record(self, host, mgid, state, pkey=None, **changed):
        """The SA's response: the parameters are the broadcast group's, 'exactly'."""
        of = {**self.parameters, **changed}
        group = dict(mlid=self.mlid(mgid), pkey=self.full(pkey), scope=self.scope, **EXACTLY)
        return ib.mcmember(mgid, host.gid, join=state, **group, **of)

    def request(self, host, mgid, state, pkey=None, create=True):
        if not create:
            return ib.mcmember(mgid, host.gid, pkey=self.full(pkey), join=state), JOIN_MASK
        of = {k: v for k, v in self.parameters.items() if k != "life"}
        data = ib.mcmember(
            mgid, host.gid, pkey=self.full(pkey), join=state, mtu_sel=2, rate_sel=2, **of
        )
        return data, CREATE

    def join(self, host, mgid, state=FULL, pkey=None, create=None, status=0, **changed):
        """The broadcast group exists already; another one is created if needed."""
        create = mgid != self.broadcast(pkey) if create is None else create
        data, mask = self.request(host, mgid, state, pkey, create)
        now = self.state(host, mgid) | state
        reply = data if status else self.record(host, mgid, now, pkey, **changed)
        self.ask(host, ib.SET, ib.ATTR_MC_MEMBER, data, mask, reply, status, offset=7)
        if not status:
            self.states[host.gid, mgid] = now
        return mgid

    def state(self, host, mgid):
        """The JoinState of a member in the SA."""
        return self.states.get((host.gid, mgid), 0)

    def leave(self, host, mgid, state=FULL, pkey=None, reply_state=None):
        """reply_state: the JoinState in the response; None: the one that remains."""
        data = ib.mcmember(mgid, host.gid, join=state)
        now = self.states[host.gid, mgid] = self.state(host, mgid) & ~state
        reply = self.record(host, mgid, now if reply_state is None else reply_state, pkey)
        self.ask(host, ib.DELETE, ib.ATTR_MC_MEMBER, data, LEAVE_MASK, reply, offset=7)

    def query(self, host, mgid, found=True):
        """Requests the record of the group: does it exist?"""
        data = ib.mcmember(mgid)
        reply = self.record(self.sm, mgid, FULL) if found else b""
        self.ask(
            host, ib.GET, ib.ATTR_MC_MEMBER, data, ib.MCM["mgid"], reply, 0 if found else 0x0300, 7
        )

    def subscribe(self, host):
        """Subscribes to the creation and the deletion of any group."""
        for trap in (CREATED, DELETED):
            self.ask(host, ib.SET, ib.ATTR_INFORM_INFO, ib.inform_info("::", trap))

    def report(self, host, trap, mgid):
        tid, note = self.next_tid(), ib.notice(trap, mgid, self.sm.lid, self.sm.gid)
        self.sa(self.sm, host, ib.REPORT, tid, ib.ATTR_NOTICE, note)
        self.sa(host, self.sm, ib.REPORT_RESP, tid, ib.ATTR_NOTICE, note)

    def path(self, a, b, pkey=None, **changed):
        """a requests its path to b."""
        pkey = self.full(pkey)
        data = ib.path_record(b.gid, a.gid, pkey=pkey, reversible=1, numb=1)
        values = dict(dlid=b.lid, slid=a.lid, reversible=1, pkey=pkey, **EXACTLY)
        values.update(mtu=self.parameters["mtu"], rate=MOST_RATE, life=18, sl=self.parameters["sl"])
        reply = ib.path_record(b.gid, a.gid, **{**values, **changed})
        self.ask(a, ib.GET, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS, reply, offset=8)

    def up(self, *hosts, pkey=None):
        """The interfaces come up: the broadcast group, the traps, the groups of all nodes."""
        for host in hosts:
            self.join(host, self.broadcast(pkey), pkey=pkey)
            self.subscribe(host)
            for mgid in (self.group4("224.0.0.1", pkey), self.group6("ff02::1", pkey)):
                self.join(host, mgid, pkey=pkey)
            self.join(host, self.group6(solicited_node(host.ll), pkey), pkey=pkey)

    # ---- IPoIB

    def ud(self, src, dst, payload, pkey=None, grh=False, **options):
        """To a host, or to a group by its MGID."""
        names = ["qkey", "sl"]
        if isinstance(dst, str):
            names += ["hop", "tclass", "flow"]
            options = {"mlid": self.mlid(dst), **options}
        of = {name: self.parameters[name] for name in names}
        of["pkey"] = self.pkey if pkey is None else pkey
        super().ud(src, dst, payload, grh=grh, **{**of, **options})

    def arp_request(self, src, ip, dst=None, pkey=None, spa=None, tha=NOBODY, **options):
        request = encap(0x0806, ib.arp(1, src.addr, spa or src.ip, tha, ip))
        self.ud(src, dst or self.broadcast(pkey), request, pkey, **options)

    def arp_reply(self, src, dst, ip=None, pkey=None, **options):
        self.ud(src, dst, arp(2, src.also(ip=ip or src.ip), dst), pkey, **options)

    def resolve(self, a, b, pkey=None, back=None):
        """a resolves b's address by ARP, and requests the path from the SA; b has a's address from
        the request, and requests the path too."""
        self.arp_request(a, b.ip, pkey=pkey)
        if back is None:
            self.path(b, a, pkey)
        self.arp_reply(b, a, pkey=pkey if back is None else back)
        self.path(a, b, pkey)

    def ping(self, a, b, pkey=None, back=None, seq=1, **options):
        """An echo request and its reply."""
        self.ud(a, b, ping(a, b, seq=seq), pkey, **options)
        back = pkey if back is None else back
        self.ud(b, a, ping(b, a, seq=seq, reply=True), back, **options)

    def meet(self, a, b, **options):
        self.resolve(a, b, **options)
        self.ping(a, b, **options)

    def to_group4(self, src, group, mgid=None, pkey=None, data=b"1234", ttl=1, **options):
        datagram = udp4(src, group, data, (5001, 5002), ttl=ttl)
        self.ud(src, mgid or self.group4(group, pkey), datagram, pkey, **options)

    def icmp6(self, src, dst, to, body, source=None, **options):
        """An ICMPv6 message to an IPv6 address, of a host or a group."""
        self.ud(src, dst, nd6(source or src.ll, to, body), **options)

    def solicit(self, a, target, source=None, **options):
        """a sends its solicitation to the target's group, which it has joined to send."""
        group = solicited_node(target)
        self.icmp6(a, self.group6(group), group, solicitation(a, target), source, **options)

    def advertise(self, b, to, target, address=None, flags=0x60000000, **options):
        body = advertisement(b, target, flags=flags)
        self.icmp6(b, to, address or to.ll, body, target, **options)

    def resolve6(self, a, b):
        self.join(a, self.group6(solicited_node(b.ll)), SEND_ONLY)
        self.solicit(a, b.ll)
        self.path(b, a)
        self.advertise(b, a, b.ll)
        self.path(a, b)

    # ---- subnet management, by directed routes: the SM's packets have no gap in their PSNs

    def smp(self, port, method, attribute, data=b"", modifier=0, reply=None):
        """A Get or Set of the SM to the port at the end of a route, and the response."""
        tid = self.next_tid()
        for method, data in ((method, data), (SMP_RESP, data if reply is None else reply)):
            sender = "port" if method == SMP_RESP else "sm"
            mad = ib.directed_smp(method, tid, attribute, modifier, data, (0, 1, port))
            self.put(smp_frame(mad, self.next_psn(sender, port)))

    def port_info_of(self, lid, sm=None, state=ib.ACTIVE, reregister=False, **fields):
        """PortInfo of a port with this LID (IBA 14.2.5.6)."""
        of = dict(width=2, speed_supported=0x20, speed=0x22, guid_cap=8, **fields)
        of["timeout"] = int(reregister) << 7 | 18
        return ib.port_info(self.prefix, lid, (sm or self.sm).lid, state, **of)

    def port_info(self, host, set_it=True, mtu=MTU_2048, **fields):
        """Set(PortInfo): the GID prefix, LID, SM's LID, PortState and LMC."""
        data = self.port_info_of(host.lid, neighbor_mtu=mtu, mtu_cap=mtu, **fields)
        self.smp(host.lid & 0x3F, SMP_SET if set_it else SMP_GET, ib.PORT_INFO, data, 1)

    def pkey_table(self, host, *pkeys):
        data = b"".join(map(ib.u16, pkeys)).ljust(64, b"\0")
        self.smp(host.lid & 0x3F, SMP_SET, ib.PKEY_TABLE, data)

    def node_info(self, host):
        """NodeInfo (IBA 14.2.5.3): a channel adapter of one port."""
        data = ib.node_info(host.guid, 8, 0x1003, 0x2C9)
        self.smp(host.lid & 0x3F, SMP_GET, ib.NODE_INFO, b"", 0, data)


class FromStart(Subnet):
    """Each queue pair's first packet has PSN 0: the capture has all of its packets."""

    first_psn = 0

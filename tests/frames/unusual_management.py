# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual subnet management and administration: ports, partitions, paths and managers change."""
from frames import ib
from frames.fabric import FULL, QKEY, smp_frame
from frames.ib import encap
from frames.sa_records import MTU_2048, MTU_4096, guid_record, pkey_record, port_record
from frames.subnet import FromStart, Host, Subnet
from frames.unusual import link, on, scenario

GROUP = "239.1.2.3"
ACTIVE, DOWN = 4, 1
REDIRECT = 0x0002  # IBA 13.4.7: the class is at another offset


def initialise(s, *hosts, pkeys=(0xFFFF,), **options):
    """The SM configures the ports, then the interfaces come up."""
    for host in hosts:
        s.node_info(host)
        s.pkey_table(host, *pkeys)
        s.port_info(host, **options)


def managed(*numbers, subnet=Subnet, **options):
    """A link whose ports' whole history is in the capture."""
    s = subnet(**options)
    hosts = [Host(n, prefix=s.prefix) for n in numbers]
    initialise(s, *hosts)
    s.up(*hosts)
    return (s, *hosts)


@scenario
def joins_by_the_default_gid_and_sends_by_another():
    """A port has its GID of the default prefix beside that of the subnet's prefix (IBA 4.1.1)."""
    s = FromStart(prefix="fec0:0:0:1::")
    a, b = (Host(n, prefix=s.prefix) for n in (1, 2))
    by_default = a.also(gid="fe80::2:c903:0:1")
    initialise(s, a, b)
    s.up(by_default, b)
    s.resolve(a, b)
    s.ping(a, b)
    s.to_group4(a, "224.0.0.1", s.group4("224.0.0.1"))
    s.wait(1)
    s.resolve(b, a)
    s.ping(b, a)
    for host in (by_default, a):
        s.path(host, b)
    return s


def full_round(s, *hosts):
    """The interfaces join everything again."""
    s.wait(1)
    s.up(*hosts)


@on(managed, 1, 2)
def ports_are_initialised(s, a, b):
    s.meet(a, b)


@scenario
def several_pkeys_of_a_port():
    """The table has three P_Keys, one of them limited; an interface in each full one."""
    s = Subnet()
    a, b = Host(1), Host(2)
    initialise(s, a, b, pkeys=(0xFFFF, 0x8001, 0x0003))
    s.up(a, b)
    s.meet(a, b)
    child = [h.also(qpn=h.qpn + 0x1000, ip=h.ip.replace("10.0.0", "10.1.0")) for h in (a, b)]
    s.up(*child, pkey=0x8001)
    s.meet(*child, pkey=0x8001)
    return s


@on(managed, 1, 2)
def pkey_is_added_later(s, a, b):
    for host in (a, b):
        s.pkey_table(host, 0xFFFF, 0x8007)
    child = [h.also(qpn=h.qpn + 0x1000, ip=h.ip.replace("10.0.0", "10.7.0")) for h in (a, b)]
    s.up(*child, pkey=0x8007)
    s.meet(*child, pkey=0x8007)


def set_by_lid(s, host, attribute, data, modifier=0):
    """The SM sets the attribute by a LID-routed SMP (IBA 14.2.1.1); the port responds."""
    tid = s.next_tid()
    for src, dst, method in ((s.sm, host, 0x02), (host, s.sm, 0x81)):
        sender = "sm" if src is s.sm else "port"
        mad = ib.lid_routed_smp(method, tid, attribute, modifier, data)
        s.put(smp_frame(mad, s.next_psn(sender, host.lid & 0x3F), dst.lid, src.lid))


@on(managed, 1, 2)
def pkey_is_added_by_lid(s, a, b):
    for host in (a, b):
        set_by_lid(s, host, 0x16, ib.u16(0xFFFF) + ib.u16(0x8007))
    child = [h.also(qpn=h.qpn + 0x1000, ip=h.ip.replace("10.0.0", "10.7.0")) for h in (a, b)]
    s.up(*child, pkey=0x8007)
    s.meet(*child, pkey=0x8007)
    for host in (a, b):
        s.pkey_table(host, 0xFFFF, 0x8007)


@on(managed, 1, 2, pkey=65535)
def membership_changes_from_full_to_limited(s, a, b):
    """The port joined as full member; its table then has the limited P_Key, with which it sends to
    a full member."""
    s.meet(a, b)
    s.pkey_table(b, 0x7FFF)
    s.wait(1)
    s.ping(b, a, pkey=0x7FFF, back=0xFFFF, seq=2)


@scenario
def several_paths_by_lmc():
    """LMC 1: each port has two LIDs; packets come from and go to either."""
    s = Subnet()
    a, b = Host(2), Host(4)
    initialise(s, a, b, lmc=1)
    s.up(a, b)
    s.meet(a, b)
    s.path(a, b, dlid=b.lid + 1, slid=a.lid + 1)
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, seq=5)), slid=a.lid + 1, dlid=b.lid + 1)
    s.ud(b, a, encap(0x0800, ib.ping4(b.ip, a.ip, seq=5, reply=True)), slid=b.lid + 1)
    return s


@scenario
def multicast_from_the_second_lid():
    s = Subnet()
    a, b = Host(2), Host(4)
    initialise(s, a, b, lmc=2)
    s.up(a, b)
    s.arp_request(a, b.ip, slid=a.lid + 3)
    s.path(b, a)
    s.arp_reply(b, a)
    return s


@on(managed, 1, 2)
def lid_changes(s, a, b):
    """The SM gives b another LID and requests its re-registration; the peers query the path and use
    it."""
    s.meet(a, b)
    moved = b.also(lid=0x22)
    s.port_info(moved, reregister=True)
    full_round(s, moved)
    s.meet(a, moved)


@on(managed, 1, 2, 3)
def lids_of_two_ports_are_exchanged(s, a, b, c):
    s.meet(a, b)
    s.meet(a, c)
    b2, c2 = b.also(lid=3), c.also(lid=2)
    s.smp(2, 2, 0x0015, s.port_info_of(b2.lid, reregister=True), 1)
    s.smp(3, 2, 0x0015, s.port_info_of(c2.lid, reregister=True), 1)
    s.psns[2, 1], s.psns[3, 1] = s.psns[3, 1], s.psns[2, 1]
    full_round(s, b2, c2)
    s.meet(a, b2)
    s.meet(a, c2)


@on(managed, 1, 2)
def clients_register_again(s, a, b):
    """ClientReregister: the SM has lost the groups, which get other MLIDs."""
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    for host in (a, b):
        s.port_info(host, reregister=True)
    s.mlids = {mgid: mlid + 0x40 for mgid, mlid in s.mlids.items()}
    full_round(s, a, b)
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    s.meet(a, b)


@on(managed, 1, 2, subnet=FromStart)
def active_port_is_set_to_active(s, a, b):
    """In a sweep, the SM sets the PortState of ports to Active that are Active already."""
    group = s.join(b, s.group4(GROUP))
    s.query(a, group)
    s.join(a, group)
    s.wait(1)
    s.subscribe(a)
    for host in (a, b):
        s.port_info(host)
    s.to_group4(a, GROUP)
    s.wait(1)
    s.path(a, b)


@on(managed, 1, 2)
def sm_failover_to_another_lid(s, a, b):
    """The standby becomes master: other LID, other GID; it sets these in PortInfo, and the ports
    register with it."""
    s.meet(a, b)
    s.wait(20)
    s.sm = Host(8)
    for host in (a, b):
        s.port_info(host, reregister=True)
    full_round(s, a, b)
    s.meet(a, b)


@on(managed, 1, 2)
def sm_failover_with_new_lids(s, a, b):
    """The new master assigns new LIDs, the old master's LID goes to a host."""
    s.meet(a, b)
    s.wait(20)
    s.sm = Host(8)
    a2, b2 = a.also(lid=0x31), b.also(lid=9)
    for route, host in ((1, a2), (2, b2)):
        s.smp(route, 2, 0x0015, s.port_info_of(host.lid, reregister=True), 1)
    s.psns[9, 1] = 0x400
    full_round(s, a2, b2)
    s.meet(a2, b2)


@on(managed, 1, 2)
def sm_handover_with_a_new_qkey(s, a, b):
    """The new master's broadcast group has another Q_Key, which all nodes use once they have joined
    again."""
    s.meet(a, b)
    s.wait(20)
    s.sm = Host(8)
    s.parameters["qkey"] = QKEY + 0x100
    for host in (a, b):
        s.port_info(host, reregister=True)
    full_round(s, a, b)
    s.meet(a, b)


@on(managed, 1, 2, 3)
def new_sm_has_no_group_yet(s, a, b, c):
    """The standby becomes master and has lost all groups. a asks for two of them; b goes on to send to
    them until it registers again."""
    s.join(b, s.group4(GROUP))
    s.meet(a, b)
    s.wait(20)
    s.sm = Host(8)
    for host in (a, b, c):
        s.port_info(host, reregister=True)
    for mgid in (s.group4(GROUP), s.broadcast()):
        s.query(a, mgid, found=False)
    s.to_group4(b, GROUP)
    s.ping(b, c, seq=2)
    full_round(s, a, b, c)
    s.join(b, s.group4(GROUP))
    s.to_group4(b, GROUP)
    s.meet(a, b)


@on(managed, 1, 2)
def port_flaps(s, a, b):
    """The cable is unplugged: the port goes down, is initialised again and its interface joins
    again, without a leave."""
    s.meet(a, b)
    s.port_info(b, state=DOWN, set_it=False)
    s.wait(5)
    s.port_info(b, state=2, set_it=False)
    s.port_info(b)
    full_round(s, b)
    s.meet(a, b)


@on(managed, 1, 2)
def host_is_restarted(s, a, b):
    """PSNs, QPN and transaction IDs start again."""
    s.meet(a, b)
    s.port_info(b, state=DOWN, set_it=False)
    s.wait(60)
    s.psns = {of: psn for of, psn in s.psns.items() if of[0] != b.lid}
    new = b.also(qpn=0x77)
    initialise(s, new)
    s.up(new)
    s.meet(a, new)


@on(managed, 1, 2)
def path_changes(s, a, b):
    """The path is queried again after a minute; the response has another SL."""
    s.meet(a, b)
    s.wait(60)
    s.path(a, b, sl=1)
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, seq=2)), sl=1)


@on(link, 1, 2)
def no_path(s, a, b):
    """The SA has no path; the sender sends nothing."""
    s.arp_request(a, "10.0.0.5")
    data = ib.path_record("fe80::2:c903:0:55", a.gid, pkey=0xFFFF, reversible=1, numb=1)
    s.ask(a, ib.GET, ib.ATTR_PATH_RECORD, data, 0x380C, b"", 0x0300, 8)
    s.meet(a, b)


@on(link, 1, 2)
def sa_redirects(s, a, b):
    """IBA 13.5.2: the response redirects to another QP of another port, which gets and serves the
    join."""
    other = Host(7)
    group = s.group4(GROUP)
    data, mask = s.request(a, group, FULL)
    redirect = (
        bytes(8)
        + ib.gid(other.gid)
        + bytes(4)
        + ib.u16(other.lid)
        + ib.u16(0xFFFF)
        + ib.u32(1)
        + ib.u32(ib.QKEY_GSI)
    )
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, redirect, REDIRECT)
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, s.record(a, group, FULL), offset=7, sa=other)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def service_records(s, a, b):
    record = ib.service_record(0x1000000000AAAA, a.gid, name=b"storage")
    for _ in range(2):
        s.ask(a, ib.SET, ib.ATTR_SERVICE_RECORD, record, 0x47, offset=22)
        s.wait(30)
    s.meet(a, b)


@on(link, 1, 2)
def join_for_another_port(s, a, b):
    """The SA's ProxyJoin: a partition manager joins for a port and says so in the record."""
    group = s.group4(GROUP)
    data, mask = s.request(b, group, FULL)
    s.ask(
        s.sm.also(lid=7, gid="fe80::2:c903:0:7"),
        ib.SET,
        ib.ATTR_MC_MEMBER,
        data,
        mask | ib.MCM["proxy"],
        s.record(b, group, FULL, proxy=1),
        offset=7,
    )
    s.to_group4(b, GROUP)


@on(link, 1)
def sm_on_a_host(s, a):
    """The SM's port has an IPoIB interface too; its joins are local and do not appear on another
    host's cable."""
    manager = s.sm
    s.up(manager)
    s.meet(a, manager)


@scenario
def capture_begins_late():
    """No join was captured."""
    s = Subnet()
    a, b = Host(1), Host(2)
    s.meet(a, b)
    s.to_group4(a, GROUP)
    return s


@on(link, 1, 2)
def subscriptions_expire(s, a, b):
    """A host cancels its subscriptions, and subscribes again before it sends to a group once
    more."""
    for trap in (66, 67):
        s.ask(a, ib.SET, ib.ATTR_INFORM_INFO, ib.inform_info("::", trap, subscribe=0))
    s.subscribe(a)
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def membership_is_queried(s, a, b):
    """Tools query single records of a group and a port."""
    data = ib.mcmember(s.broadcast(), b.gid)
    s.ask(
        a,
        ib.GET,
        ib.ATTR_MC_MEMBER,
        data,
        ib.MCM["mgid"] | ib.MCM["port_gid"],
        s.record(b, s.broadcast(), FULL),
        offset=7,
    )
    s.meet(a, b)


@on(link, 1, 2, mtu=MTU_4096)
def a_port_restarts_with_a_smaller_mtucap(s, a, b):
    """The SA's records before and after the restart. The SA removed the port from its groups when it
    was down, and refuses its join (RFC 4391 section 5)."""
    port_record(s, a, b, MTU_4096)
    s.meet(a, b)
    s.states = {member: state for member, state in s.states.items() if member[0] != b.gid}
    s.psns[b.lid, 1] = -1  # its GSI counts from 0
    port_record(s, a, b, MTU_2048)
    s.join(b, s.broadcast(), status=0x0200)
    s.path(b, a)
    s.path(a, b)


@on(link, 1, 2)
def the_sm_takes_a_pkey_away_and_gives_it_back(s, a, b):
    """The interface leaves its groups while it has no P_Key, and joins them again."""
    pkey_record(s, a, b, 0xFFFF)
    s.meet(a, b)
    s.leave(b, s.broadcast())
    pkey_record(s, a, b, 0x8001)
    pkey_record(s, a, b, 0x8001, 0xFFFF)
    full_round(s, b)
    s.meet(b, a)


@on(link, 1, 2)
def a_virtual_function_has_an_alias_guid(s, a, b):
    """It shares the LID (IBA 4.1.1), with a queue pair of its own."""
    virtual = b.also(gid="fe80::2:c903:0:beef", qpn=0x777, ip="10.0.0.77")
    guid_record(s, a, b, 0x0002C9030000BEEF)
    s.up(virtual)
    s.meet(a, virtual)
    s.meet(a, b)


@scenario
def datagram_on_its_way_when_the_p_key_is_taken():
    """The SM removes the link's P_Key from a's table. A datagram sent before is captured after it."""
    s = FromStart(pkey=0x8007)
    a, b = Host(1), Host(2)
    initialise(s, a, b, pkeys=(0xFFFF, 0x8007))
    s.up(a, b)
    s.meet(a, b)
    s.pkey_table(a, 0xFFFF)
    s.ping(a, b)
    s.node_info(a)
    return s

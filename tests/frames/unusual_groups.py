# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual multicast (RFC 4391 sections 4, 5, 10 and 11), all of it allowed."""
from frames import ib
from frames.ib import encap
from frames.fabric import CREATED, DELETED, FULL, JOIN_MASK, LEAVE_MASK, NON_MEMBER, QKEY, SEND_ONLY
from frames.messages import igmp_leave, igmp_report, mld_done, mld_report
from frames.subnet import FromStart, Host, Subnet
from frames.unusual import link, met, on, scenario
from frames.unusual_management import initialise, managed

GROUP = "239.1.2.3"
SEND_ONLY_FULL = 8  # IBA 15.2.5.17: SendOnlyFullMember
REFUSED, NO_RESOURCES = 0x0200, 0x0100
MTU_1024, MTU_4096 = 3, 5
MCM_PKEY = 42  # its place in an MCMemberRecord (IBA 15.2.5.17)
BUSY = 0x0001  # IBA 13.4.7


@on(link, 1, 2)
def send_only_member(s, a, b):
    group = s.join(b, s.group4(GROUP))
    s.query(a, group)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)


@on(link, 1)
def send_only_full_member_creates(s, a):
    """A SendOnlyFullMember counts for the creation of the group."""
    s.join(a, s.group4(GROUP), SEND_ONLY_FULL)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def send_only_member_becomes_full_member(s, a, b):
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.join(a, group, FULL)
    s.to_group4(a, GROUP)
    s.leave(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)


@scenario
def subscribes_after_its_first_datagram():
    """Section 10 requires that senders subscribe to the traps, not that they do it before they
    send."""
    s = FromStart()
    a, b = Host(1), Host(2)
    initialise(s, a, b)
    for host in (a, b):
        s.join(host, s.broadcast())
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.wait(1)
    s.subscribe(a)
    s.to_group4(a, GROUP)
    s.path(a, b)
    return s


@on(managed, 1, 2, subnet=FromStart)
def subscribes_again_after_it_joined_again(s, a, b):
    """The SM asks for registration; a joins its groups again and sends before it subscribes
    again."""
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, SEND_ONLY)
    for host in (a, b):
        s.port_info(host, reregister=True)
    for host in (a, b):
        s.join(host, s.broadcast())
    s.join(b, group)
    s.states[a.gid, group] = 0
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.join(a, s.group4("224.0.0.1"))
    s.wait(1)
    s.subscribe(a)
    s.to_group4(a, GROUP)


def joins_twice(s, a, b):
    """a joins b's group, to send only and as full member."""
    group = s.join(b, s.group4(GROUP))
    for state in (SEND_ONLY, FULL):
        s.join(a, group, state)
    return group


def leave_with_echo(s, host, mgid, state):
    """The SM of Intel (opa-fm) returns the record of the request: the JoinState that was left."""
    s.leave(host, mgid, state, reply_state=state)
    s.wait(1)


@on(managed, 1, 2, subnet=FromStart)
def leaves_one_join_state_with_an_echo(s, a, b):
    """a gives up SendOnlyNonMember and remains FullMember: it reports its membership, and leaves."""
    group = joins_twice(s, a, b)
    leave_with_echo(s, a, group, SEND_ONLY)
    for _ in range(2):
        report = b"\x16\0" + ib.u16(~(0x1600 + 0xEF01 + 0x0203) & 0xFFFF) + ib.ip4(GROUP)
        s.ud(a, group, encap(0x0800, ib.ipv4(a.ip, GROUP, 2, report, ttl=1)))
        s.wait(10)
    leave_with_echo(s, a, group, FULL)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.path(a, b)


@on(managed, 1, 2, subnet=FromStart)
def leaves_full_membership_with_an_echo(s, a, b):
    """a gives up FullMember, remains SendOnlyNonMember, sends, and gives up this too."""
    group = joins_twice(s, a, b)
    leave_with_echo(s, a, group, FULL)
    s.to_group4(a, GROUP)
    leave_with_echo(s, a, group, SEND_ONLY)
    s.path(a, b)


@on(managed, 1, 2, subnet=FromStart)
def program_leaves_the_broadcast_group_with_an_echo(s, a, b):
    """A program joined the broadcast group to send, and leaves it; the interface is still up."""
    s.join(a, s.broadcast(), SEND_ONLY)
    leave_with_echo(s, a, s.broadcast(), SEND_ONLY)
    s.meet(a, b)
    s.wait(1)
    s.path(a, b)


@on(link, 1, 2)
def all_join_states_at_once(s, a, b):
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, FULL | NON_MEMBER | SEND_ONLY)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def multicast_router(s, a, router):
    """RFC 4391 section 11: it queries the groups, joins them as NonMember, subscribes, and forwards
    from another link."""
    group = s.join(a, s.group4(GROUP))
    data = ib.mcmember("::", pkey=0xFFFF)
    table = ib.rmpp_table(0x77, ib.ATTR_MC_MEMBER, [s.record(a, group, FULL)], 56)
    s.sa(router, s.sm, ib.GET_TABLE, 0x77, ib.ATTR_MC_MEMBER, data, ib.MCM["pkey"])
    for segment in table:
        s.mad(s.sm, router, segment)
    s.join(router, group, NON_MEMBER)
    s.join(router, group, SEND_ONLY)
    datagram = ib.ipv4("192.0.2.77", GROUP, 17, ib.udp("192.0.2.77", GROUP, 9, 9, b"far"), ttl=7)
    s.ud(router, group, encap(0x0800, datagram))


@on(link, 1, 2)
def router_learns_of_a_new_group(s, a, router):
    group = s.join(a, s.group4(GROUP))
    s.report(router, CREATED, group)
    s.join(router, group, NON_MEMBER)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def fallback_to_all_routers(s, a, router):
    """No listener on the link: the datagram goes to the all-router group, if its scope is beyond
    the link (section 10)."""
    routers = s.join(router, s.group4("224.0.0.2"))
    s.join(a, routers, SEND_ONLY)
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, routers, ttl=8)


@on(link, 1, 2)
def fallback_to_the_broadcast_group(s, a, router):
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, s.broadcast(), ttl=8)


@on(link, 1, 2)
def group_is_created_after_the_fallback(s, a, b):
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, s.broadcast(), ttl=8)
    group = s.join(b, s.group4(GROUP))
    s.report(a, CREATED, group)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP, ttl=8)


@on(link, 1, 2)
def group_is_deleted_and_made_again_with_another_mlid(s, a, b):
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.leave(b, group)
    s.report(a, DELETED, group)
    s.wait(5)
    s.mlids[group] = 0xC0F0
    s.join(b, group)
    s.report(a, CREATED, group)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def groups_share_an_mlid(s, a, b):
    """IBA 10.5.1: the SM may give groups of one partition the same MLID."""
    one, two = s.group4("239.0.0.1"), s.group4("239.0.0.2")
    s.mlids[one] = s.mlids[two] = 0xC077
    for host in (a, b):
        s.join(host, one)
        s.join(host, two)
    s.to_group4(a, "239.0.0.1")
    s.to_group4(b, "239.0.0.2")


@on(link, 1, 2)
def leaves_and_joins_again(s, a, b):
    group = s.join(b, s.group4(GROUP))
    for _ in range(3):
        s.join(a, group)
        s.to_group4(a, GROUP)
        s.leave(a, group)
        s.wait(2)


@on(link, 1, 2)
def join_is_refused_and_tried_again(s, a, b):
    """The SA is busy, then has no resources; the third attempt succeeds, and the sender sends only
    after it."""
    group = s.join(b, s.group4(GROUP))
    for status in (BUSY, NO_RESOURCES):
        s.join(a, group, status=status)
        s.wait(1)
    s.join(a, group)
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def join_request_is_repeated(s, a, b):
    """The response is late: the request is sent twice with one transaction ID, and so is the
    response."""
    group = s.group4(GROUP)
    data, mask = s.request(a, group, FULL)
    tid = s.next_tid()
    for _ in range(2):
        s.sa(a, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
        s.wait(1)
    for _ in range(2):
        s.sa(
            s.sm,
            a,
            ib.GET_RESP,
            tid,
            ib.ATTR_MC_MEMBER,
            s.record(a, group, FULL),
            mask,
            attr_offset=7,
        )
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def join_asks_for_at_least(s, a, b):
    """The selector 'greater than' (0) of MTU and rate; the response has the group's exact
    values."""
    group = s.group4(GROUP)
    of = {k: v for k, v in s.parameters.items() if k != "life"}
    data = ib.mcmember(group, a.gid, pkey=0xFFFF, join=FULL, **{**of, "mtu": MTU_1024, "rate": 2})
    s.ask(
        a,
        ib.SET,
        ib.ATTR_MC_MEMBER,
        data,
        ib.MCM["mgid"]
        | ib.MCM["port_gid"]
        | ib.MCM["pkey"]
        | ib.MCM["join"]
        | ib.MCM["mtu_sel"]
        | ib.MCM["mtu"]
        | ib.MCM["rate_sel"]
        | ib.MCM["rate"]
        | ib.MCM["qkey"]
        | ib.MCM["sl"]
        | ib.MCM["flow"]
        | ib.MCM["tclass"],
        s.record(a, group, FULL),
        offset=7,
    )
    s.to_group4(a, GROUP)


@on(link, 1, 2)
def igmp_versions(s, a, querier):
    """IGMPv2 report and leave, an IGMPv3 report, a querier (RFC 2236, 3376)."""
    group = s.join(a, s.group4(GROUP))
    routers, v3 = s.group4("224.0.0.2"), s.group4("224.0.0.22")
    for mgid in (routers, v3):
        s.join(querier, mgid)
        s.join(a, mgid, SEND_ONLY)

    def send(host, to, mgid, body):
        body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
        s.ud(host, mgid, encap(0x0800, ib.ipv4(host.ip, to, 2, body, ttl=1)))

    send(querier, "224.0.0.1", s.group4("224.0.0.1"), bytes((0x11, 100, 0, 0)) + bytes(4))
    send(a, GROUP, group, bytes((0x16, 0, 0, 0)) + ib.ip4(GROUP))
    send(a, "224.0.0.22", v3, bytes((0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0)) + ib.ip4(GROUP))
    send(a, "224.0.0.2", routers, bytes((0x17, 0, 0, 0)) + ib.ip4(GROUP))
    s.leave(a, group)


def stops(s, a, b, message, group):
    """a reports by this message that it listens no more."""
    to = "ff02::2" if ":" in group else "224.0.0.2"
    routers = (s.group6 if ":" in group else s.group4)(to)
    s.join(b, routers)
    s.join(a, routers, SEND_ONLY)
    s.ud(a, routers, message(a, group))


def goes_on(s, a, b):
    """Requests of a, long after the report."""
    for _ in range(3):
        s.wait(20)
        s.path(a, b)


@on(managed, 1, 2, subnet=FromStart)
def listener_leaves_some_seconds_later(s, a, b):
    s.meet(a, b)
    group = s.join(a, s.group4(GROUP))
    stops(s, a, b, igmp_leave, GROUP)
    s.wait(4)
    s.path(a, b)
    s.leave(a, group)
    goes_on(s, a, b)


@on(managed, 1, 2, subnet=FromStart)
def listener_listens_again(s, a, b):
    s.meet(a, b)
    group = s.join(a, s.group4(GROUP))
    stops(s, a, b, igmp_leave, GROUP)
    s.ud(a, group, igmp_report(a, GROUP))
    goes_on(s, a, b)


@on(managed, 1, 2, subnet=FromStart)
def listener_goes_on_sending(s, a, b):
    """A FullMember may send (RFC 4391 section 10 names what is needed at least)."""
    s.meet(a, b)
    s.join(a, s.group4(GROUP))
    stops(s, a, b, igmp_leave, GROUP)
    s.wait(15)
    s.to_group4(a, GROUP)
    goes_on(s, a, b)


@on(managed, 1, 2, subnet=FromStart)
def listener_of_two_groups_with_one_mgid(s, a, b):
    """The MGID has no scope of the IPv6 group (section 4)."""
    s.meet(a, b)
    group = s.join(a, s.group6("ff02::1:2"))
    for ip in ("ff02::1:2", "ff05::1:2"):
        s.ud(a, group, mld_report(a, ip))
    stops(s, a, b, mld_done, "ff05::1:2")
    goes_on(s, a, b)


@on(managed, 1, 2, subnet=FromStart)
def listener_whose_first_group_of_two_was_heard(s, a, b):
    s.meet(a, b)
    group = s.join(a, s.group6("ff02::1:2"))
    s.ud(a, group, mld_report(a, "ff02::1:2"))
    stops(s, a, b, mld_done, "ff05::1:2")
    goes_on(s, a, b)


@on(link, 1, 2)
def ipv4_broadcasts(s, a, b):
    """255.255.255.255, and a subnet's and a net's broadcast, all through the broadcast group
    (section 5)."""
    for to in ("255.255.255.255", "10.0.0.255", "10.255.255.255"):
        s.to_group4(a, to, s.broadcast())


@on(link, 1, 2)
def group_addresses_of_28_bits(s, a, b):
    """No two IPv4 groups differ only in the bits above the 28th: 224.0.0.5 to 239.255.255.255."""
    for group in ("224.0.0.5", "232.1.1.1", "239.128.255.255", "239.255.255.250"):
        s.join(a, s.group4(group))
        s.to_group4(a, group)


@on(met, 1, 2, sl=3, tclass=32, flow=74565, hop=9)
def parameters_other_than_zero(s, a, b):
    """SL, TClass, FlowLabel and HopLimit of the broadcast group are not 0, and all nodes use
    them."""
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)


@on(met, 1, 2, mtu=MTU_4096)
def group_mtu_of_4096(s, a, b):
    """The IPoIB MTU is 4092: a datagram of 4092 octets, and one of 4000 to a group."""
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, size=4092 - 28)))
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP, data=bytes(4000 - 28))


@scenario
def group_made_by_the_first_host():
    """Section 5: the broadcast group may be created by the first node, with a rate of its own
    choice."""
    s = Subnet(rate=6)
    a, b = Host(1), Host(2)
    s.join(a, s.broadcast(), create=True)
    s.subscribe(a)
    s.up(b)
    s.arp_request(a, b.ip)
    s.path(b, a)
    s.arp_reply(b, a)
    return s


@on(met, 1, 2)
def child_partition(s, a, b):
    """The interface of P_Key 0x8001 has a QPN, a broadcast group and a Q_Key of its own."""
    child = 0x8001
    one, two = (h.also(qpn=h.qpn + 0x1000, ip=h.ip.replace("10.0.0", "10.1.0")) for h in (a, b))
    s.parameters["qkey"] = QKEY + 5
    s.up(one, two, pkey=child)
    s.meet(one, two, pkey=child)


@on(link, 1, 2, pkey=32770)
def limited_members(s, server, client):
    """A limited member sends with the P_Key without its high bit to a full member; the group's
    P_Key has the bit."""
    s.resolve(client, server, pkey=0x0002, back=0x8002)
    s.ping(client, server, pkey=0x0002, back=0x8002)
    s.arp_request(client, server.ip, pkey=0x0002)


@on(link, 1, 2)
def limited_member_of_the_default_partition(s, server, client):
    s.resolve(client, server, pkey=0x7FFF, back=0xFFFF)
    s.ping(client, server, pkey=0x7FFF, back=0xFFFF)


@on(met, 1, 2)
def limited_member_is_told_its_own_pkey(s, server, client):
    """It asks with its P_Key, which the SA returns. The groups have the full one."""
    for mgid in (s.broadcast(), s.group4(GROUP)):
        data = ib.mcmember(mgid, client.gid, pkey=0x7FFF, join=FULL)
        reply = bytearray(s.record(client, mgid, FULL))
        reply[MCM_PKEY : MCM_PKEY + 2] = ib.u16(0x7FFF)
        s.ask(client, ib.SET, ib.ATTR_MC_MEMBER, data, JOIN_MASK, bytes(reply), offset=7)
    s.to_group4(client, GROUP, pkey=0x7FFF)


@on(met, 1, 2, pkey=32773)
def partition_without_the_default_one(s, a, b):
    """The link's P_Key is 0x8005; management stays in the default partition."""


@on(link, 1, 2, pkey=32769)
def example_partition_of_the_rfc(s, a, b):
    """RFC 4391 section 4's example has P_Key 0x8000."""
    s.join(b, s.group4("224.0.0.2"))
    s.meet(a, b)


@on(link, 1, 2)
def receiver_that_never_sends(s, a, b):
    group = s.join(a, s.group4(GROUP))
    s.join(b, group)
    for n in range(4):
        s.to_group4(a, GROUP, data=bytes((n,)))


@on(met, 1, 2)
def groups_of_other_protocols(s, a, b):
    """A program has a group without an IPoIB signature, and one group of a transient MGID, with
    Q_Keys of its own."""
    other = "ff12:a01b:fe80::1"
    asked = dict(pkey=0xFFFF, join=FULL, qkey=0x11111111, mtu=MTU_1024, mtu_sel=2)
    told = dict(mlid=0xC123, rate=2, rate_sel=2, scope=2, sl=2)
    data, reply = (ib.mcmember(other, a.gid, **of) for of in (asked, {**asked, **told}))
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, LEAVE_MASK, reply, offset=7)
    s.mlids[other] = 0xC123
    s.ud(a.also(qpn=0x5555), other, ib.fill(100, 7), qkey=0x11111111, sl=2)


@on(link, 1, 2)
def table_of_groups_in_segments(s, a, b):
    """The SA responds to GetTable(MCMemberRecord) in RMPP segments; the requester acknowledges."""
    groups = [s.join(b, s.group4(f"239.0.1.{n}")) for n in range(8)]
    records = [s.record(b, g, FULL) for g in groups]
    data = ib.mcmember("::", pkey=0xFFFF)
    s.sa(a, s.sm, ib.GET_TABLE, 0x99, ib.ATTR_MC_MEMBER, data, ib.MCM["pkey"])
    for n, segment in enumerate(ib.rmpp_table(0x99, ib.ATTR_MC_MEMBER, records, 56), 1):
        s.mad(s.sm, a, segment)
        ack = ib.rmpp_header(ib.RMPP_ACK, ib.RMPP_ACTIVE, n, n + 8)
        s.sa(a, s.sm, ib.GET_TABLE_RESP, 0x99, ib.ATTR_MC_MEMBER, rmpp=ack)
    s.join(a, groups[3], SEND_ONLY)
    s.to_group4(a, "239.0.1.3")


@on(link, 1, 2, scope=5, prefix="fec0:0:0:1::", hop=3)
def scope_of_a_link_over_two_subnets(s, a, b):
    """Section 4.1: a link that spans IB subnets has a wider scope; all its groups have the same
    bits."""
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    s.meet(a, b)


@on(link, 1, 2)
def creation_is_refused_after_the_broadcast_group_changed(s, a, b):
    """b has joined the broadcast group again, and has its new Q_Key; a asks for a group with the one
    that it has. The SA refuses (ERR_REQ_INVALID); a joins the broadcast group again, then creates
    the group."""
    group = s.group4(GROUP)
    old, mask = s.request(a, group, FULL)
    s.parameters["qkey"] += 0x100
    s.join(b, s.broadcast())
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, old, mask, bytes(len(old)), REFUSED, 7)
    s.join(a, s.broadcast())
    for host in (a, b):
        s.join(host, group)
    s.to_group4(a, GROUP)

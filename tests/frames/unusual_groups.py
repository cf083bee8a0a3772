# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual multicast (RFC 4391 sections 4, 5, 10 and 11), all of it allowed."""
from frames import ib
from frames.ib import encap
from frames.fabric import CREATED, DELETED, FULL, NON_MEMBER, QKEY, SEND_ONLY
from frames.subnet import FromStart, Host, Subnet
from frames.unusual import link, scenario
from frames.unusual_management import initialise, managed

GROUP = "239.1.2.3"
SEND_ONLY_FULL = 8  # IBA 15.2.5.17: SendOnlyFullMember
REFUSED, NO_RESOURCES = 0x0200, 0x0100
MTU_1024, MTU_4096 = 3, 5
BUSY = 0x0001  # IBA 13.4.7


@scenario
def send_only_member():
    s, a, b = link(1, 2)
    group = s.join(b, s.group4(GROUP))
    s.query(a, group)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    return s


@scenario
def send_only_full_member_creates():
    """A SendOnlyFullMember counts for the creation of the group."""
    s, a = link(1)
    s.join(a, s.group4(GROUP), SEND_ONLY_FULL)
    s.to_group4(a, GROUP)
    return s


@scenario
def send_only_member_becomes_full_member():
    s, a, b = link(1, 2)
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.join(a, group, FULL)
    s.to_group4(a, GROUP)
    s.leave(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    return s


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


@scenario
def subscribes_again_after_it_joined_again():
    """The SM asks for registration; a joins its groups again and sends before it subscribes
    again."""
    s, a, b = managed(1, 2, subnet=FromStart)
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
    return s


def leave_with_echo(s, host, mgid, state):
    """The SM of Intel (opa-fm) returns the record of the request: the JoinState that was left."""
    s.leave(host, mgid, state, reply_state=state)
    s.wait(1)


@scenario
def leaves_one_join_state_with_an_echo():
    """a gives up SendOnlyNonMember and remains FullMember: it reports its membership, and leaves."""
    s, a, b = managed(1, 2, subnet=FromStart)
    group = s.join(b, s.group4(GROUP))
    for state in (SEND_ONLY, FULL):
        s.join(a, group, state)
    leave_with_echo(s, a, group, SEND_ONLY)
    for _ in range(2):
        report = b"\x16\0" + ib.u16(~(0x1600 + 0xEF01 + 0x0203) & 0xFFFF) + ib.ip4(GROUP)
        s.ud(a, group, encap(0x0800, ib.ipv4(a.ip, GROUP, 2, report, ttl=1)))
        s.wait(10)
    leave_with_echo(s, a, group, FULL)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP)
    s.path(a, b)
    return s


@scenario
def leaves_full_membership_with_an_echo():
    """a gives up FullMember, remains SendOnlyNonMember, sends, and gives up this too."""
    s, a, b = managed(1, 2, subnet=FromStart)
    group = s.join(b, s.group4(GROUP))
    for state in (SEND_ONLY, FULL):
        s.join(a, group, state)
    leave_with_echo(s, a, group, FULL)
    s.to_group4(a, GROUP)
    leave_with_echo(s, a, group, SEND_ONLY)
    s.path(a, b)
    return s


@scenario
def program_leaves_the_broadcast_group_with_an_echo():
    """A program joined the broadcast group to send, and leaves it; the interface is still up."""
    s, a, b = managed(1, 2, subnet=FromStart)
    s.join(a, s.broadcast(), SEND_ONLY)
    leave_with_echo(s, a, s.broadcast(), SEND_ONLY)
    s.meet(a, b)
    s.wait(1)
    s.path(a, b)
    return s


@scenario
def all_join_states_at_once():
    s, a, b = link(1, 2)
    group = s.join(b, s.group4(GROUP))
    s.join(a, group, FULL | NON_MEMBER | SEND_ONLY)
    s.to_group4(a, GROUP)
    return s


@scenario
def multicast_router():
    """RFC 4391 section 11: it queries the groups, joins them as NonMember, subscribes, and forwards
    from another link."""
    s, a, router = link(1, 2)
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
    return s


@scenario
def router_learns_of_a_new_group():
    s, a, router = link(1, 2)
    group = s.join(a, s.group4(GROUP))
    s.report(router, CREATED, group)
    s.join(router, group, NON_MEMBER)
    s.to_group4(a, GROUP)
    return s


@scenario
def fallback_to_all_routers():
    """No listener on the link: the datagram goes to the all-router group, if its scope is beyond
    the link (section 10)."""
    s, a, router = link(1, 2)
    routers = s.join(router, s.group4("224.0.0.2"))
    s.join(a, routers, SEND_ONLY)
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, routers, ttl=8)
    return s


@scenario
def fallback_to_the_broadcast_group():
    s, a, router = link(1, 2)
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, s.broadcast(), ttl=8)
    return s


@scenario
def group_is_created_after_the_fallback():
    s, a, b = link(1, 2)
    s.query(a, s.group4(GROUP), found=False)
    s.to_group4(a, GROUP, s.broadcast(), ttl=8)
    group = s.join(b, s.group4(GROUP))
    s.report(a, CREATED, group)
    s.join(a, group, SEND_ONLY)
    s.to_group4(a, GROUP, ttl=8)
    return s


@scenario
def group_is_deleted_and_made_again_with_another_mlid():
    s, a, b = link(1, 2)
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
    return s


@scenario
def groups_share_an_mlid():
    """IBA 10.5.1: the SM may give groups of one partition the same MLID."""
    s, a, b = link(1, 2)
    one, two = s.group4("239.0.0.1"), s.group4("239.0.0.2")
    s.mlids[one] = s.mlids[two] = 0xC077
    for host in (a, b):
        s.join(host, one)
        s.join(host, two)
    s.to_group4(a, "239.0.0.1")
    s.to_group4(b, "239.0.0.2")
    return s


@scenario
def leaves_and_joins_again():
    s, a, b = link(1, 2)
    group = s.join(b, s.group4(GROUP))
    for _ in range(3):
        s.join(a, group)
        s.to_group4(a, GROUP)
        s.leave(a, group)
        s.wait(2)
    return s


@scenario
def join_is_refused_and_tried_again():
    """The SA is busy, then has no resources; the third attempt succeeds, and the sender sends only
    after it."""
    s, a, b = link(1, 2)
    group = s.join(b, s.group4(GROUP))
    for status in (BUSY, NO_RESOURCES):
        s.join(a, group, status=status)
        s.wait(1)
    s.join(a, group)
    s.to_group4(a, GROUP)
    return s


@scenario
def join_request_is_repeated():
    """The response is late: the request is sent twice with one transaction ID, and so is the
    response."""
    s, a, b = link(1, 2)
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
    return s


@scenario
def join_asks_for_at_least():
    """The selector 'greater than' (0) of MTU and rate; the response has the group's exact
    values."""
    s, a, b = link(1, 2)
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
    return s


@scenario
def igmp_versions():
    """IGMPv2 report and leave, an IGMPv3 report, a querier (RFC 2236, 3376)."""
    s, a, querier = link(1, 2)
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
    return s


@scenario
def ipv4_broadcasts():
    """255.255.255.255, and a subnet's and a net's broadcast, all through the broadcast group
    (section 5)."""
    s, a, b = link(1, 2)
    for to in ("255.255.255.255", "10.0.0.255", "10.255.255.255"):
        s.to_group4(a, to, s.broadcast())
    return s


@scenario
def group_addresses_of_28_bits():
    """No two IPv4 groups differ only in the bits above the 28th: 224.0.0.5 to 239.255.255.255."""
    s, a, b = link(1, 2)
    for group in ("224.0.0.5", "232.1.1.1", "239.128.255.255", "239.255.255.250"):
        s.join(a, s.group4(group))
        s.to_group4(a, group)
    return s


@scenario
def parameters_other_than_zero():
    """SL, TClass, FlowLabel and HopLimit of the broadcast group are not 0, and all nodes use
    them."""
    s, a, b = link(1, 2, sl=3, tclass=0x20, flow=0x12345, hop=9)
    s.meet(a, b)
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    return s


@scenario
def group_mtu_of_4096():
    """The IPoIB MTU is 4092: a datagram of 4092 octets, and one of 4000 to a group."""
    s, a, b = link(1, 2, mtu=MTU_4096)
    s.meet(a, b)
    s.ud(a, b, encap(0x0800, ib.ping4(a.ip, b.ip, size=4092 - 28)))
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP, data=bytes(4000 - 28))
    return s


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


@scenario
def child_partition():
    """The interface of P_Key 0x8001 has a QPN, a broadcast group and a Q_Key of its own."""
    s, a, b = link(1, 2)
    s.meet(a, b)
    child = 0x8001
    one, two = (h.also(qpn=h.qpn + 0x1000, ip=h.ip.replace("10.0.0", "10.1.0")) for h in (a, b))
    s.parameters["qkey"] = QKEY + 5
    s.up(one, two, pkey=child)
    s.meet(one, two, pkey=child)
    return s


@scenario
def limited_members():
    """A limited member sends with the P_Key without its high bit to a full member; the group's
    P_Key has the bit."""
    s, server, client = link(1, 2, pkey=0x8002)
    s.resolve(client, server, pkey=0x0002, back=0x8002)
    s.ping(client, server, pkey=0x0002, back=0x8002)
    s.arp_request(client, server.ip, pkey=0x0002)
    return s


@scenario
def limited_member_of_the_default_partition():
    s, server, client = link(1, 2)
    s.resolve(client, server, pkey=0x7FFF, back=0xFFFF)
    s.ping(client, server, pkey=0x7FFF, back=0xFFFF)
    return s


@scenario
def partition_without_the_default_one():
    """The link's P_Key is 0x8005; management stays in the default partition."""
    s, a, b = link(1, 2, pkey=0x8005)
    s.meet(a, b)
    return s


@scenario
def example_partition_of_the_rfc():
    """RFC 4391 section 4's example has P_Key 0x8000."""
    s, a, b = link(1, 2, pkey=0x8001)
    s.join(b, s.group4("224.0.0.2"))
    s.meet(a, b)
    return s


@scenario
def receiver_that_never_sends():
    s, a, b = link(1, 2)
    group = s.join(a, s.group4(GROUP))
    s.join(b, group)
    for n in range(4):
        s.to_group4(a, GROUP, data=bytes((n,)))
    return s


@scenario
def groups_of_other_protocols():
    """A program has a group without an IPoIB signature, and one group of a transient MGID, with
    Q_Keys of its own."""
    s, a, b = link(1, 2)
    s.meet(a, b)
    other = "ff12:a01b:fe80::1"
    data = ib.mcmember(
        other, a.gid, pkey=0xFFFF, join=FULL, qkey=0x11111111, mtu=MTU_1024, mtu_sel=2
    )
    reply = ib.mcmember(
        other,
        a.gid,
        pkey=0xFFFF,
        join=FULL,
        qkey=0x11111111,
        mtu=MTU_1024,
        mtu_sel=2,
        mlid=0xC123,
        rate=2,
        rate_sel=2,
        scope=2,
        sl=2,
    )
    s.ask(
        a,
        ib.SET,
        ib.ATTR_MC_MEMBER,
        data,
        ib.MCM["mgid"] | ib.MCM["port_gid"] | ib.MCM["join"],
        reply,
        offset=7,
    )
    s.mlids[other] = 0xC123
    s.ud(a.also(qpn=0x5555), other, ib.fill(100, 7), qkey=0x11111111, sl=2)
    return s


@scenario
def table_of_groups_in_segments():
    """The SA responds to GetTable(MCMemberRecord) in RMPP segments; the requester acknowledges."""
    s, a, b = link(1, 2)
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
    return s


@scenario
def scope_of_a_link_over_two_subnets():
    """Section 4.1: a link that spans IB subnets has a wider scope; all its groups have the same
    bits."""
    s, a, b = link(1, 2, scope=5, prefix="fec0:0:0:1::", hop=3)
    s.join(a, s.group4(GROUP))
    s.to_group4(a, GROUP)
    s.meet(a, b)
    return s


@scenario
def creation_is_refused_after_the_broadcast_group_changed():
    """b has joined the broadcast group again, and has its new Q_Key; a asks for a group with the one
    that it has. The SA refuses (ERR_REQ_INVALID); a joins the broadcast group again, then creates
    the group."""
    s, a, b = link(1, 2)
    group = s.group4(GROUP)
    old, mask = s.request(a, group, FULL)
    s.parameters["qkey"] += 0x100
    s.join(b, s.broadcast())
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, old, mask, bytes(len(old)), REFUSED, 7)
    s.join(a, s.broadcast())
    for host in (a, b):
        s.join(host, group)
    s.to_group4(a, GROUP)
    return s

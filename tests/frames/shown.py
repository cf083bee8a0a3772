# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that use the freedom of a MAY rule, that raise the notes of INFO and DRAFT rules, or in
which checks pass that no real capture passes."""
from frames import ib
from frames.bases import CONTROLLED, N0, N1, join_again, lladdr_option
from frames.edit import Packet
from frames.fixture import PASS, SHOWN, USE, as_it_is, passes, shown, use, sets

DATAGRAM, CONNECTED, PARTITIONS = "datagram.pcap", "connected.pcap", "partitions.pcap"
NON_MEMBER, FULL_MEMBER = 2, 1
MTU_1024, MTU_4096 = 3, 5
REFUSED = 0x0200  # IBA 15.2.3: ERR_REQ_INVALID
PATH_HAS_QOS_CLASS = 1 << 14  # IBA 15.2.5.16
NO_RESOURCES = 3  # IBA 12.6.7.2
BROADCAST_GID = "ff12:401b:ffff::ffff:ffff"

# ---- captures that pass

as_it_is(
    PASS,
    DATAGRAM,
    "rfc4391.4.mgid-t-flag",
    "rfc4391.4.mgid-format",
    "rfc4391.4.mgid-signature-ipv4",
    "rfc4391.4.mgid-signature-ipv6",
    "rfc4391.4.mgid-pkey",
    "rfc4391.4.mgid-group-id-ipv4",
    "rfc4391.4.mgid-group-id-ipv6",
    "rfc4391.4.scope-consistent",
    "rfc4391.4.1.pkey-full-member",
    "rfc4391.4.1.group-mtu",
    "rfc4391.4.1.scope-link-local",
    "rfc4391.5.broadcast-group-exists",
    "rfc4391.5.full-member-join",
    "rfc4391.5.join-parameters-used",
    "rfc4391.5.pkey-configured",
    "rfc4391.6.encapsulation-header",
    "rfc4391.6.reserved-zero",
    "rfc4391.6.type",
    "rfc4391.6.grh-on-multicast",
    "rfc4391.7.mtu-2044",
    "rfc4391.7.link-mtu",
    "rfc4391.8.u-bit",
    "rfc4391.8.1.link-local-form",
    "rfc4391.9.1.1.traffic-to-qpn",
    "rfc4391.9.1.1.gid-of-port",
    "rfc4391.9.1.1.gid-from-port-guid",
    "rfc4391.9.1.1.format",
    "rfc4391.9.1.2.qkey-from-join",
    "rfc4391.9.2.arp-hardware-type",
    "rfc4391.9.2.arp-hardware-length",
    "rfc4391.9.2.arp-as-rfc826",
    "rfc4391.9.3.nd-option-length",
    "rfc4391.9.3.nd-option-padding",
    "rfc4391.10.group-before-use",
    "rfc4391.10.join-before-send",
    "rfc4391.10.group-attributes",
    "rfc4391.10.group-other-attributes",
    "rfc4391.10.leave",
    "rfc4391.10.mlid-as-dlid",
    "rfc4391.10.receiver-fullmember",
    "rfc4755.3.1.flags",
    "rfc4755.3.1.reply-to-ud-qpn",
)
as_it_is(
    PASS,
    CONNECTED,
    "rfc4755.2.1.multicast-over-ud",
    "rfc4755.2.2.one-ud-qp",
    "rfc4755.2.3.connection-before-ip",
    "rfc4755.3.2.ud-qpn-in-private-data",
    "rfc4755.3.4.teardown",
    "rfc4755.4.type",
    "rfc4755.4.encapsulation-header",
    "rfc4755.5.minimum-mtu",
    "rfc4755.5.message-size",
    "rfc4755.5.1.receive-mtu",
    "rfc4755.5.1.connection-mtu",
    "rfc4755.6.private-data",
    "rfc4755.6.reserved-zero",
    "rfc4755.7.resolution-over-ud",
)
as_it_is(PASS, "switch4.pcap", "rfc4391.10.subscribe-traps")
as_it_is(PASS, "no-flags", "rfc4391.9.1.1.reserved-flags", "rfc4391.9.1.1.arp-reply-qpn")
as_it_is(PASS, "controlled", "rfc4391.13.qkey-controlled", "rfc4391.4.1.qkey-controlled")
as_it_is(PASS, "rfc-set-up", "rfc4755.3.5.service-id")
as_it_is(PASS, "crossing", "rfc4755.3.3.simultaneous")


@passes("rfc4391.4.broadcast-mapping", DATAGRAM, "n0 pings 255.255.255.255, by the broadcast-GID")
def broadcast_mapping(t):
    to_broadcast(t, "255.255.255.255")


@passes(
    "rfc4391.9.4.revalidate-arp",
    "new-qpn",
    "n0 sends its third echo request to the new QPN, 70 s later",
)
def revalidated(t):
    t[49]["destqp"] = 0x25
    t.shift(49, 70)


@passes(
    "rfc4391.9.2.arp-as-rfc826",
    DATAGRAM,
    "n0 requests n1's address under 10.0.0.11 too before n1 replies to both",
)
def arp_of_two_ips(t):
    request, response = t[41].copy(), t[44].copy()
    request.payload[32:36] = ib.ip4("10.0.0.11")
    response["arp.tpa"] = "10.0.0.11"
    t.insert(41, request)
    t.insert(44, response)


SERVICE = "2001:db8::1"  # an IPv6 address that moves from port to port


def solicited_from_service(t):
    t[59]["ipv6.src"] = t[60]["ipv6.dst"] = SERVICE
    for n in (59, 60):
        t[n].fix_checksums()


@passes(
    "rfc4755.3.1.reply-to-ud-qpn",
    DATAGRAM,
    "2001:db8::1 moves from n0 to another port, which solicits n1 and gets an advertisement",
)
def answer_to_another_port(t):
    solicited_from_service(t)
    gid, qpn = "fe80::11:7500:0:101", 0x33
    request, response = t[59].copy().set(slid=3, sgid=gid, srcqp=qpn), t[60].copy().set(
        dlid=3, destqp=qpn
    )
    at = lladdr_option(request) + 4
    request.payload[at : at + 20] = ib.lladdr(qpn, gid, 0x80)
    request.fix_checksums()
    t.insert(t.insert(66, request), response)
    t.renumber(2, N1.qpn)


@passes(
    "rfc4755.3.1.reply-to-ud-qpn",
    DATAGRAM,
    "n1 advertises itself to 2001:db8::1 on another QPN, whose solicitation is not in the capture",
    variant="-2",
)
def answer_to_the_unseen(t):
    solicited_from_service(t)
    t.insert(66, t[60].copy().set(destqp=0x25))
    t.renumber(2, N1.qpn)


@passes(
    "rfc4391.6.reserved-zero",
    DATAGRAM,
    "another program sends from the earlier QP of n1's interface with its own Q_Key",
)
def qpn_used_again(t):
    p = t[50].copy().set(qkey=0x1EE7A330)
    p.payload = bytearray(b"\x03\x11\x22\x33" + bytes(range(60)))
    t.insert(117, p)


def another_joins(t, **parameters):
    """After 50, a port with LID 4 joins the broadcast group, as n1 did in 19 and 20, and gets other
    parameters."""
    return join_again(t, "fe80::11:7500:0:120", 4, **parameters)


@passes(
    "rfc4391.9.1.2.qkey-from-join",
    DATAGRAM,
    "the broadcast group has another Q_Key when another port joins; n1 has not joined again",
)
def qkey_before_change(t):
    another_joins(t, qkey=CONTROLLED)


@passes(
    "rfc4391.5.join-parameters-used",
    DATAGRAM,
    "the broadcast group has another HopLimit when another port joins; n0 broadcasts as before",
)
def parameters_before_change(t):
    t.insert(another_joins(t, hop=5), t[41].copy())


@passes(
    "rfc4391.7.link-mtu",
    DATAGRAM,
    "the broadcast group has a smaller MTU when another port joins; n1 has not joined again",
)
def mtu_before_change(t):
    another_joins(t, mtu=MTU_1024)


@passes(
    "rfc4391.4.1.group-mtu",
    DATAGRAM,
    "n1 asks for the path to a port that is not on the link; its MTU is 1024",
)
def path_to_storage(t):
    request, response = t[42].copy(), t[43].copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    for p in (request, response):
        p.payload[64:80] = ib.gid("fe80::2:c903:0:abc")
    response["path.dlid"], response["path.mtu"] = 9, MTU_1024
    t.insert(t.insert(50, request), response)


@passes(
    "rfc4391.4.1.group-mtu",
    DATAGRAM,
    "n1 asks for its path to n0 with a QoS class; its MTU is 1024",
    variant="-2",
)
def path_of_another_service(t):
    t[42]["sa.mask"] |= PATH_HAS_QOS_CLASS
    t[43]["path.mtu"] = MTU_1024


@passes(
    "rfc4391.9.1.1.gid-of-port",
    "middle",
    "the hosts exchange their LIDs; n0's ARP request and n1's reply show it",
)
def exchanged_lids(t):
    request, response, hello = (
        t[41].copy().set(slid=2),
        t[44].copy().set(slid=1, dlid=2),
        t[41].copy().set(slid=1),
    )
    hello.set(sgid=N1.gid, srcqp=N1.qpn)
    hello["arp.sha.gid"], hello["arp.sha.qpn"], hello["arp.tpa"] = N1.gid, N1.qpn, N0.ip
    hello.payload[32:36] = ib.ip4(N1.ip)
    t.insert(t.insert(t.insert(50, request), hello), response)


def to_broadcast(t, group):
    """n0's ping in 79 goes to an IPv4 group through the broadcast-GID."""
    t[79].set(dgid=BROADCAST_GID, dlid=0xC000)
    t[79]["ipv4.dst"] = group
    t[79].fix_checksums()
    return 79


# ---- uses of MAY rules

as_it_is(USE, PARTITIONS, "rfc4391.7.other-mtus")  # the group of P_Key 0x8001 has MTU 4096
as_it_is(USE, CONNECTED, "rfc4755.2.optional", "rfc4755.5.exchange-mtu")
# n0 connects to n1, n1 responds over UD and never connects
as_it_is(USE, "mixed.pcap", "rfc4755.3.1.connection-not-required", "rfc4755.7.send-any-mode")


@use(
    "rfc4391.6.other-types",
    DATAGRAM,
    "n0 sends LLDP, Type 0x88cc, in place of its second echo request",
)
def other_types(t):
    # chassis and port by name, time to live, end (IEEE 802.1AB)
    t[47].datagram(0x88CC, bytes.fromhex("0203 07 6e30 0404 05 696230 0602 0078 0000"))
    return 47


sets(
    "rfc4755.3.1.both-flags",
    DATAGRAM,
    "n0's address in its ARP reply has RC and UC set",
    {86: {"arp.sha.flags": 0xC0}},
    enter=use,
)


@use(
    "rfc4755.3.2.further-req",
    "rfc-set-up",
    "n0 asks for another connection with the same Service-ID; n1 refuses: no resources",
)
def further_req(t):
    req, rej = t[45].copy(), t[46].copy()
    req["mad.tid"], req["cm.local"], req["req.qpn"] = req["mad.tid"] + 1, req["cm.local"] + 1, 0x0B
    rej.payload = bytearray(
        ib.cm_rej(
            req["mad.tid"],
            rej["cm.local"] + 1,
            req["cm.local"],
            NO_RESOURCES,
            pdata=ib.private_data(N1.qpn, 0),
        )
    )
    at = t.insert(48, req)
    t.insert(at, rej)
    return at


@use(
    "rfc4755.3.4.teardown-on-expiry",
    CONNECTED,
    "1-109: n1 ends its connection, its interface stays",
)
def teardown_on_expiry(t):
    t.keep((1, 109))
    return 108


# ---- notes

as_it_is(SHOWN, DATAGRAM, "rfc4391.10.query-sa-first", "rfc4755.3.query-on-broadcast")
as_it_is(SHOWN, CONNECTED, "rfc4755.5.default-mtu", "rfc4755.7.1.rc-timers")
as_it_is(SHOWN, PARTITIONS, "partition.overlap")
as_it_is(SHOWN, "foreign.pcap", "ulp.identify")


shown(
    "rfc4755.3.query-on-broadcast",
    CONNECTED,
    "n1's neighbour solicitation goes over the connection",
    variant="-2",
)(lambda t: 104)


@shown(
    "rfc4755.3.query-on-broadcast",
    CONNECTED,
    "n0's ARP request goes over the connection",
    variant="-3",
)
def arp_request_over_connection(t):
    question = t[98].payload
    t.frame(98).packet = t[86].copy()
    t[98].payload = question
    t[98]["psn"], t[104]["psn"] = t[104]["psn"], t[104]["psn"] + 1
    return 98


sets(
    "rfc4391.3.same-partition",
    "middle",
    "n0's third echo request has Q_Key 0x80000b1c; n1's QP sends with 0x80000b1b",
    {49: {"qkey": 0x80000B1C}},
    enter=shown,
)
sets(
    "rfc4391.4.1.group-sl",
    DATAGRAM,
    "n0 pings 239.1.2.3 with SL 1; the broadcast group has SL 0",
    {79: {"sl": 1}},
    enter=shown,
)


@shown(
    "rfc4391.5.join-mtu-supported",
    "joins",
    "n1 asks to join 224.0.0.1 again with an MTU of 4096; the group's is 2048, the SA refuses",
)
def join_mtu_supported(t):
    request, response = t[22].copy(), t[25].copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    request["mcm.mtu"] = MTU_4096
    response["mad.status"] = REFUSED
    at = t.insert(t.insert(40, request), response)
    t.renumber(2)
    return at


@shown("rfc4391.5.broadcast-service", DATAGRAM, "n0's ARP request goes to the group of 224.0.0.1")
def broadcast_service(t):
    t[41].set(dgid="ff12:401b:ffff::1", dlid=0xC002)
    return 41


@shown(
    "rfc4391.8.interface-id-source",
    DATAGRAM,
    "n1 advertises fe80::2, made of its LID",
)
def interface_id_source(t):
    t[60]["ipv6.src"] = t[60]["nd.target"] = "fe80::2"
    t[60].fix_checksums()
    return 60


@shown(
    "rfc4391.9.1.gid-across-subnets",
    DATAGRAM,
    "n0's third echo request has a GRH, within the subnet",
)
def gid_across_subnets(t):
    t[49].add_grh(N0.gid, N1.gid)
    return 49


@shown("rfc4391.9.3.nd-messages", DATAGRAM, "the option of n1's solicitation is a target option")
def nd_messages(t):
    t[93]["nd.option.type"] = 2
    t[93].fix_checksums()
    return 93


shown(
    "rfc4391.10.all-router-fallback",
    DATAGRAM,
    "n0 pings 239.9.9.9, which has no group, by the broadcast-GID",
)(lambda t: to_broadcast(t, "239.9.9.9"))


shown(
    "rfc4391.10.forward-after-create",
    DATAGRAM,
    "n0 pings 239.1.2.3 by the broadcast-GID, although the group of 239.1.2.3 exists",
)(lambda t: to_broadcast(t, "239.1.2.3"))


@shown("rfc4391.11.router-nonmember-join", DATAGRAM, "n1 joins 239.1.2.3 as NonMember too")
def router_nonmember_join(t):
    request, response = t[69].copy(), t[70].copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    request["mcm.join"], response["mcm.join"] = NON_MEMBER, NON_MEMBER | FULL_MEMBER
    at = t.insert(70, request)
    t.insert(at, response)
    return at


@shown(
    "transport.services", DATAGRAM, "n0's third echo request goes to the same QP as an RC packet"
)
def transport_services(t):
    p = t[49]
    t.frame(49).packet = Packet(
        ib.Frame(
            ib.RC | ib.ONLY,
            bytes(p.payload),
            dlid=p["dlid"],
            slid=p["slid"],
            destqp=p["destqp"],
            psn=p["psn"],
        ).ib()
    )
    return 49


# ---- partitions


@shown("partition.default-pkey", "bring-up", "n1's P_Key table has only 0x8005; it joins no group")
def default_pkey(t):
    t.keep((1, 16))
    t[8]["pkeys.0"] = 0x8005
    return 9  # the first that contains the port's LID


@shown("partition.membership-twins", DATAGRAM, "n1's P_Key table has 0x8005 and 0x0005 too")
def membership_twins(t):
    t[8]["pkeys.1"], t[8]["pkeys.2"] = 0x8005, 0x0005
    return 9


sets(
    "partition.limited-to-limited",
    PARTITIONS,
    "n0's echo request has P_Key 0x0002, as n1's QP sends",
    {299: {"pkey": 0x0002}},
    enter=shown,
)
sets(
    "partition.value-format",
    "controlled",
    "n0's third echo request has P_Key 0x8000",
    {49: {"pkey": 0x8000}},
    enter=shown,
)


# ---- subnet management


SET_METHOD, GET_RESPONSE = 0x02, 0x81  # IBA 14.2.2
SM_INFO, HANDOVER, MASTER, STANDBY = 0x0020, 1, 3, 2  # IBA 14.2.5.13, 14.4.1
GUID_N0, GUID_N1 = 0x0011750000000100, 0x0011750000000110


def sm_info(like, method, guid, state, slid, dlid, modifier=0):
    """An SMP by LID with SMInfo: GUID, SM_Key, ActCount, Priority (4 bits), SMState (4) (IBA
    14.2.5.13)."""
    p = like.copy()
    p.set(slid=slid, dlid=dlid)
    data = ib.u64(guid) + ib.u64(0) + ib.u32(1) + ib.u8(state)
    p.payload = bytearray(
        (ib.mad_header(0x01, 1, method, 0x5D1F, SM_INFO, modifier) + bytes(40) + data).ljust(
            256, b"\0"
        )
    )
    return p


@shown("sm.one-master", DATAGRAM, "n0 and then n1 respond that they are the master")
def one_master(t):
    at = t.insert(50, sm_info(t[9], GET_RESPONSE, GUID_N0, MASTER, 1, 2))
    return t.insert(at, sm_info(t[9], GET_RESPONSE, GUID_N1, MASTER, 2, 1))


shown("sm.takeover-causes", DATAGRAM, "n0's subnet manager hands the subnet over to n1's")(
    lambda t: t.insert(50, sm_info(t[9], SET_METHOD, GUID_N0, MASTER, 1, 2, HANDOVER))
)
sets(
    "sm.failover-rejoin",
    PARTITIONS,
    "the SA's last response is from LID 4, where the request went",
    {319: {"dlid": 4}, 323: {"slid": 4}},
    at=323,
    enter=shown,
)


@shown("sm.lmc-paths", DATAGRAM, "n1's port has LMC 1")
def lmc_paths(t):
    for n in (9, 10, 11, 12, 13, 14, 92):
        t[n]["port.lmc"] = 1
    return 9


# ---- drafts


sets(
    "draft.6.1.link-mtu-1500",
    "bring-up",
    "the broadcast group has MTU 1024",
    {20: {"mcm.mtu": MTU_1024}},
    enter=shown,
)


@shown(
    "draft.7.ipv6-broadcast-group",
    "joins",
    "n1 joins ff12:601b:ffff::1 without the broadcast group",
)
def ipv6_broadcast_group(t):
    t.drop(19, 20)
    return 21


@shown("draft.7.all-router-group", DATAGRAM, "n0 advertises itself as a router")
def all_router_group(t):
    p = t[34].copy()
    p.set(dgid="ff12:601b:ffff::1", dlid=0xC001)
    p.datagram(0x86DD, ib.icmpv6(N0.ll, "ff02::1", ib.nd_ra(ib.nd_lladdr_option(1, N0.addr))))
    return t.insert(40, p)


sets(
    "draft02.8.example-pkey",
    DATAGRAM,
    "n0's router solicitation goes to ff12:601b:7fff::2",
    {34: {"dgid": "ff12:601b:7fff::2"}},
    enter=shown,
    also=["rfc4391.4.mgid-pkey"],
)

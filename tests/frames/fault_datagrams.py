# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of datagrams: the encapsulation header, MGIDs, the use of groups, Q_Key and MTU (RFC 4391
§4, 5, 6, 7, 9.1.2, 10, 13).

n0's joins are not on the wire, because the subnet manager runs there: a packet of n0 to an unknown
group does not violate a rule about joins. The set-up of n1's port is captured, so all of its
memberships are known.
"""
from frames import ib
from frames.bases import CONTROLLED, N0, N1, N3, join_again
from frames.fixture import fail, sets

DATAGRAM = "datagram.pcap"
REFUSED, NO_RECORDS = 0x0200, 0x0300  # IBA 15.2.3: ERR_REQ_INVALID, ERR_NO_RECORDS

# ---- MGIDs (RFC 4391 §4)


sets(
    "rfc4391.4.mgid-t-flag",
    DATAGRAM,
    "n0's router solicitation goes to ff02:601b:ffff::2, T = 0",
    {34: {"dgid": "ff02:601b:ffff::2"}},
)
sets(
    "rfc4391.4.mgid-format",
    DATAGRAM,
    "n0's router solicitation goes to ff32:601b:ffff::2, another flag set besides T",
    {34: {"dgid": "ff32:601b:ffff::2"}},
)
sets(
    "rfc4391.4.mgid-signature-ipv4",
    DATAGRAM,
    "n0 pings 239.1.2.3 by an MGID with the signature of IPv6",
    {79: {"dgid": "ff12:601b:ffff::f01:203"}},
)
sets(
    "rfc4391.4.mgid-signature-ipv6",
    DATAGRAM,
    "n0 pings ff15::5:6 by an MGID with the signature of IPv4",
    {83: {"dgid": "ff12:401b:ffff::5:6"}},
)
sets(
    "rfc4391.4.mgid-pkey",
    DATAGRAM,
    "n0's router solicitation: P_Key 0x8001 in the MGID, 0xffff in the BTH",
    {34: {"dgid": "ff12:601b:8001::2"}},
)
sets(
    "rfc4391.4.mgid-group-id-ipv4",
    DATAGRAM,
    "n0 pings 239.1.2.3 by the MGID of 239.1.2.4",
    {79: {"dgid": "ff12:401b:ffff::f01:204"}},
)
sets(
    "rfc4391.4.mgid-group-id-ipv4",
    DATAGRAM,
    "n0 pings 239.1.2.3 by an MGID with all 32 bits of the group",
    {79: {"dgid": "ff12:401b:ffff::ef01:203"}},
    variant="-2",
)
sets(
    "rfc4391.4.mgid-group-id-ipv6",
    DATAGRAM,
    "n0 pings ff15::5:6 by the MGID of ff15::5:7",
    {83: {"dgid": "ff12:601b:ffff::5:7"}},
)


@fail("rfc4391.4.broadcast-mapping", DATAGRAM, "n0 pings 255.255.255.255 by the MGID of 239.1.2.3")
def broadcast_mapping(t):
    t[79]["ipv4.dst"] = "255.255.255.255"
    t[79].fix_checksums()
    return 79


@fail(
    "rfc4391.4.scope-consistent",
    DATAGRAM,
    "n1, member of the broadcast group with scope 2, joins, uses and leaves the all-routers group with scope 5",
)
def scope_consistent(t):
    for n in (37, 38, 110, 113):
        t[n]["mcm.mgid"] = "ff15:601b:ffff::2"
    for n in (39, 68):
        t[n]["dgid"] = "ff15:601b:ffff::2"
    return 37


sets(
    "rfc4391.4.1.pkey-full-member",
    DATAGRAM,
    "n0's ARP request goes to a broadcast-GID with P_Key 0x7fff",
    {41: {"dgid": "ff12:401b:7fff::ffff:ffff"}},
)


# ---- encapsulation (RFC 4391 §6)


@fail("rfc4391.6.encapsulation-header", DATAGRAM, "n0's echo request ends after Type")
def encapsulation_header(t):
    del t[45].payload[2:]
    return 45


sets(
    "rfc4391.6.reserved-zero",
    DATAGRAM,
    "n0's echo request has Reserved 0x0001",
    {45: {"reserved": 1}},
)
sets(
    "rfc4391.6.type",
    DATAGRAM,
    "n0's echo request over IPv4 has the Type of IPv6",
    {45: {"type": 0x86DD}},
)


@fail("rfc4391.6.grh-on-multicast", DATAGRAM, "n0's ARP request goes to MLID 0xc000 without a GRH")
def grh_on_multicast(t):
    t[41].drop_grh()
    return 41


# ---- the parameters of a join (RFC 4391 §5, 7, 9.1.2, 13)


@fail(
    "rfc4391.5.join-parameters-used",
    DATAGRAM,
    "n0's ARP request has TClass 0x20; the broadcast group's is 0",
)
def join_parameters_used(t):
    t[41]["tclass"] = 0x20
    return 42  # n1's next request (PSN 7 after 6 in 37): it got no other parameters


sets(
    "rfc4391.5.join-parameters-used",
    DATAGRAM,
    "n0's ARP request has HopLimit 9; the broadcast group's is 0",
    {41: {"hop": 9}},
    at=42,
    variant="-2",
)


@fail(
    "rfc4391.7.link-mtu",
    DATAGRAM,
    "n0's echo request has 2100 octets of data in one datagram; the group's MTU is 2048",
)
def link_mtu(t):
    t[45].datagram(0x0800, ib.ping4(N0.ip, N1.ip, size=2100))
    return 69  # n1's next request (PSN 8 after 7 in 42)


sets(
    "rfc4391.9.1.2.qkey-from-join",
    DATAGRAM,
    "n0's third echo request has Q_Key 0x80000b1c; the join response has 0x00000b1b",
    {49: {"qkey": 0x80000B1C}},
    at=69,
)


@fail(
    "rfc4391.9.1.2.qkey-from-join",
    DATAGRAM,
    "n1 joins again, the response has Q_Key 0x80000b1b; n1 still uses the earlier one",
    variant="-2",
)
def qkey_before_join(t):
    join_again(t, N1.gid, 2, qkey=CONTROLLED)
    t.renumber(2)
    return 69  # 55 has the old one; in 69 n1's next request shows that it did not join again


sets(
    "rfc4391.13.qkey-controlled",
    "middle",
    "n0's third echo request has Q_Key 0x00000b1c, the high-order bit 0",
    {49: {"qkey": 0x00000B1C}},
)


# ---- groups in use (RFC 4391 §10)


@fail(
    "rfc4391.10.group-before-use",
    "switch4.pcap",
    "n3 pings 239.10.20.32, after the SA reported its deletion by trap 67",
)
def group_before_use(t):
    t.insert(447, ping_group(t[322], N3, 5, "239.10.20.32", 0xC00C))
    t.renumber(5, N3.qpn)
    return 448  # n3's next request: it did not join again


@fail(
    "rfc4391.10.group-before-use",
    DATAGRAM,
    "n1 pings 239.9.9.9, after the SA responded that there is no such group",
    variant="-2",
)
def group_missing(t):
    request, response = t[69].copy(), t[70].copy()
    for p in (request, response):
        p["mad.tid"] = t[69]["mad.tid"] + 0x100
        p.payload[56:] = bytes(200)
        p["sa.mask"] = ib.MCM["mgid"]
    request["mad.method"], response["mad.status"] = ib.GET, NO_RECORDS
    request["mcm.mgid"] = ib.mgid_ipv4("239.9.9.9")
    at = t.insert(78, request)
    at = t.insert(at, response)
    t.insert(at, ping_group(t[79], N1, 2, "239.9.9.9", 0xC00C))
    t.renumber(2)
    t.renumber(2, N1.qpn)
    return 95  # n1's next request: it did not join


@fail(
    "rfc4391.10.join-before-send",
    "joins",
    "the SA rejects n1's join of the all-routers group; n1 solicits nevertheless",
    variant="-2",
)
def join_refused(t):
    t[38].payload[56:] = t[37].payload[56:]
    t[38]["mad.status"] = REFUSED
    # 42 is n1's first request after 39, the solicitation: it did not join again. The SA's packets
    # show nothing more: its own port has an interface, and too many of its PSNs are missing.
    return 42


@fail("rfc4391.10.join-before-send", DATAGRAM, "n1 pings 239.1.2.3, which it has left")
def join_before_send(t):
    t.insert(97, ping_group(t[79], N1, 2, "239.1.2.3", 0xC007))
    t.renumber(2, N1.qpn)
    return 98  # n1's next request: it did not join again


@fail(
    "rfc4391.10.mlid-as-dlid",
    DATAGRAM,
    "n1's router solicitation has DLID 0xc00c; the SA gave n1 MLID 0xc006",
)
def mlid_as_dlid(t):
    t[39]["dlid"] = 0xC00C
    return 42  # n1's next request: it did not join again, so it got no other MLID


@fail("rfc4391.10.subscribe-traps", "subscribed", "n3 does not subscribe", linux="deviation")
def subscribe_traps(t):
    t.drop(271, 272, 273, 274)
    t.renumber(5)
    return 215  # n3's next request: it did not subscribe before


@fail(
    "rfc4391.10.subscribe-traps",
    "subscribed",
    "n3 subscribes to one of the two traps only",
    variant="-2",
)
def subscribe_one_trap(t):
    t.drop(273, 274)
    t.renumber(5)
    return 215


@fail(
    "rfc4391.10.subscribe-traps",
    "subscribed",
    "n3 does not subscribe; its join for sending asks for a packet life time too, unlike Linux's",
    variant="-3",
)
def subscribe_traps_of_another_stack(t):
    assert t[177]["sa.mask"] == 0x173F7
    t[177]["sa.mask"] = 0x17FF7
    return subscribe_traps(t)


def ping_group(like, node, lid, group, mlid):
    """An ICMP echo request to an IPv4 group, as that in 'like', from another node."""
    p = like.copy()
    p.set(dlid=mlid, slid=lid, sgid=node.gid, dgid=ib.mgid_ipv4(group), srcqp=node.qpn)
    p["ipv4.src"], p["ipv4.dst"] = node.ip, group
    p.fix_checksums()
    return p

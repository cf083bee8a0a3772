# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of joins, leaves and the SA's responses (RFC 4391 §4.1, 5, 7, 10)."""
from frames import ib
from frames.fixture import fail, sets

DATAGRAM = "datagram.pcap"
REFUSED, TOO_FEW_COMPONENTS = (
    0x0200,
    0x0600,
)  # IBA 15.2.3: ERR_REQ_INVALID, ERR_REQ_INSUFFICIENT_COMPONENTS
SEND_ONLY_NON_MEMBER, SEND_ONLY_FULL_MEMBER = 4, 8
MTU_1024, EXACTLY = 3, 2  # IBA 15.2.5.17


sets(
    "rfc4391.4.1.qkey-controlled",
    "controlled-bring-up",
    "the SA's response gives the broadcast group Q_Key 0x00000b1c",
    {20: {"mcm.qkey": 0x00000B1C}},
)


@fail(
    "rfc4391.4.1.group-mtu",
    "bring-up, sweep",
    "the link of n1's port has NeighborMTU 1024; n1 joins the broadcast group of 2048",
)
def group_mtu(t):
    for n in (*range(9, 15), 92):
        t[n]["port.neighbor_mtu"] = MTU_1024
    return 90  # n1's first SMP after 20: the SM did not set the MTU again


@fail(
    "rfc4391.4.1.scope-link-local",
    "bring-up",
    "the broadcast-GID has scope 1, in the join and its response",
)
def scope_link_local(t):
    for n in (19, 20):
        t[n]["mcm.mgid"] = "ff11:401b:ffff::ffff:ffff"
    return 20


@fail(
    "rfc4391.5.broadcast-group-exists",
    "n1-asks",
    "the SA responds that there is no broadcast group; n1 sends nevertheless",
)
def broadcast_group_exists(t):
    tid, request = t[20]["mad.tid"], t[19].payload
    t[20].payload[48:] = request[48:]
    t[20]["mad.status"] = TOO_FEW_COMPONENTS
    assert t[20]["mad.tid"] == tid
    return 42  # n1's first request after 41, its datagram: it did not join again


@fail("rfc4391.5.full-member-join", "joins", "n1 joins the broadcast group as SendOnlyNonMember")
def full_member_join(t):
    for n in (19, 20):
        t[n]["mcm.join"] = SEND_ONLY_NON_MEMBER
    # 29, its first datagram, shows an interface on the link; its next request: no further join
    return 37


@fail(
    "rfc4391.5.pkey-configured",
    "bring-up, sweep",
    "n1 joins the broadcast group of P_Key 0x8005, which its table does not have",
)
def pkey_configured(t):
    for n in (19, 20):
        t[n]["mcm.mgid"], t[n]["mcm.pkey"] = "ff12:401b:8005::ffff:ffff", 0x8005
    return 90  # n1's first SMP after 19: the SM did not set the table again


@fail(
    "rfc4391.7.mtu-2044",
    "partitions.pcap",
    "n2's join of the broadcast group asks for an MTU of exactly 1024; the group's is 2048",
)
def mtu_2044(t):
    t[120]["sa.mask"] |= ib.MCM["mtu_sel"] | ib.MCM["mtu"]
    t[120]["mcm.mtu_selector"], t[120]["mcm.mtu"] = EXACTLY, MTU_1024
    return 120


@fail(
    "rfc4391.10.group-attributes",
    DATAGRAM,
    "239.1.2.3 has MTU 1024 in n1's join, its response and the leave; the broadcast group 2048",
)
def group_attributes(t):
    for n in (69, 70, 97):
        t[n]["mcm.mtu"] = MTU_1024
    return 70


@fail(
    "rfc4391.10.group-attributes",
    DATAGRAM,
    "239.1.2.3 has HopLimit 1 there, the broadcast group 0",
    variant="-2",
)
def group_attributes_hop(t):
    for n in (69, 70, 97):
        t[n]["mcm.hop"] = 1
    return 70


sets(
    "rfc4391.10.group-attributes",
    DATAGRAM,
    "the SA's record of 239.1.2.3 has P_Key 0x8001; n1's join, the MGID and the link have 0xffff",
    {70: {"mcm.pkey": 0x8001}},
    variant="-3",
)


@fail(
    "rfc4391.10.group-other-attributes",
    DATAGRAM,
    "239.1.2.3 has TClass 0x20 there, the broadcast group 0",
)
def group_other_attributes(t):
    for n in (69, 70, 97):
        t[n]["mcm.tclass"] = 0x20
    return 70


sets(
    "rfc4391.10.leave",
    DATAGRAM,
    "n1, FullMember of 239.1.2.3, asks to leave as SendOnlyFullMember; the SA refuses",
    {95: {"mcm.join": SEND_ONLY_FULL_MEMBER}, 97: {"mad.status": REFUSED}},
    at=95,
)


@fail(
    "rfc4391.10.receiver-fullmember",
    "reports",
    "n1, which reports 239.1.2.3 by IGMP, joined it as SendOnlyFullMember",
)
def receiver_fullmember(t):
    for n in (69, 70, 95):
        t[n]["mcm.join"] = SEND_ONLY_FULL_MEMBER
    return 95  # n1's first request after 78, the second report: it did not join again

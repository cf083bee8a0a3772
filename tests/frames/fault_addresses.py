# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of link-layer addresses, ARP and Neighbour Discovery (RFC 4391 §8, 9; RFC 4755 §2.2,
3.1)."""
from frames.bases import N0, N1
from frames.fixture import fail, sets

DATAGRAM = "datagram.pcap"

# ---- interface identifiers (RFC 4391 §8): n1's neighbour advertisement


def advertise(t, address):
    p = t[60]
    p["ipv6.src"] = p["nd.target"] = address
    p.fix_checksums()
    return 60


fail(
    "rfc4391.8.u-bit",
    DATAGRAM,
    "n1 advertises fe80::11:7500:0:110: its GUID's u bit, 0, not toggled",
)(lambda t: advertise(t, "fe80::11:7500:0:110"))


fail(
    "rfc4391.8.1.link-local-form",
    DATAGRAM,
    "n1 advertises fe80:0:0:1:211:7500:0:110: bits 10 to 63 are not 0",
)(lambda t: advertise(t, "fe80:0:0:1:211:7500:0:110"))


# ---- the 20 octets (RFC 4391 §9.1.1, RFC 4755 §3.1): n0's ARP reply in 86, n1's in 44


sets(
    "rfc4391.9.1.1.reserved-flags",
    DATAGRAM,
    "n0's address in its ARP reply begins with 0x01",
    {86: {"arp.sha.flags": 0x01}},
)
sets(
    "rfc4755.3.1.flags",
    DATAGRAM,
    "n0's address in its ARP reply begins with 0x81: RC, and a reserved flag",
    {86: {"arp.sha.flags": 0x81}},
)
sets(
    "rfc4391.9.1.1.reserved-flags",
    DATAGRAM,
    "n0's address in its ARP reply begins with 0x20, as MLNX_OFED's do",
    {86: {"arp.sha.flags": 0x20}},
    variant="-2",
    linux="deviation",
)
sets(
    "rfc4755.3.1.flags",
    DATAGRAM,
    "n0's address in its ARP reply begins with 0xa0, as MLNX_OFED's do in connected mode",
    {86: {"arp.sha.flags": 0xA0}},
    variant="-2",
    linux="deviation",
)
sets(
    "rfc4755.3.1.flags",
    DATAGRAM,
    "n0's address in its ARP reply begins with 0x60: MLNX_OFED has no UC",
    {86: {"arp.sha.flags": 0x60}},
    variant="-3",
)
sets(
    "rfc4391.9.1.1.gid-of-port",
    DATAGRAM,
    "n0's address in its ARP reply has n1's GID",
    {86: {"arp.sha.gid": N1.gid}},
)


@fail(
    "rfc4391.9.1.1.gid-from-port-guid",
    DATAGRAM,
    "n1's address in its ARP reply has a GID of no port",
)
def gid_from_port_guid(t):
    t[44]["arp.sha.gid"] = "fe80::11:7500:0:1ff"
    return 69  # n1's first request after 44: it did not join with another GID


@fail("rfc4391.9.1.1.format", DATAGRAM, "n0's ARP reply ends within the target's address")
def address_format(t):
    del t[86].payload[4 + 44 :]
    return 86


sets(
    "rfc4391.9.1.1.arp-reply-qpn",
    "no-flags",
    "n1's ARP reply goes to QPN 0x000005; the requester's is 0x000003",
    {44: {"destqp": 5}},
)
sets(
    "rfc4755.3.1.reply-to-ud-qpn",
    DATAGRAM,
    "n1's ARP reply goes to QPN 0x000005; the requester's, with the RC flag, is 0x000003",
    {44: {"destqp": 5}},
)
sets(
    "rfc4755.3.1.reply-to-ud-qpn",
    DATAGRAM,
    "n1's neighbour advertisement goes to QPN 0x000005; the requester's is 0x000003",
    {60: {"destqp": 5}},
    variant="-2",
    also=["rfc4391.9.1.1.traffic-to-qpn"],
)
sets(
    "rfc4755.2.2.one-ud-qp",
    "connected.pcap",
    "n1's ARP request names QPN 0x000023, with the RC flag, and its sender is 0x000024",
    {98: {"srcqp": 0x24}},
)


@fail(
    "rfc4391.9.1.1.traffic-to-qpn",
    DATAGRAM,
    "n0's third echo request goes to QPN 0x000099; n1's address has 0x000023",
)
def traffic_to_qpn(t):
    t[49]["destqp"] = 0x99
    return 69  # n1's next request (PSN 8 after 7 in 42): it did not join again, with another QPN


@fail(
    "rfc4391.9.4.revalidate-arp",
    "new-qpn",
    "n0's third echo request, to the earlier QPN of n1, is sent once more, 21 minutes later",
)
def revalidate_arp(t):
    again = t[49].copy()
    again["psn"] += 1
    t.shift(t.insert(49, again), 21 * 60)
    return 69  # n1's next request: it was not restarted again


# ---- ARP (RFC 4391 §9.2)


sets(
    "rfc4391.9.2.arp-hardware-type",
    DATAGRAM,
    "n0's ARP reply has hardware type 1",
    {86: {"arp.hrd": 1}},
)
sets(
    "rfc4391.9.2.arp-hardware-length",
    DATAGRAM,
    "n0's ARP reply has hardware length 19",
    {86: {"arp.hln": 19}},
)


@fail(
    "rfc4391.9.2.arp-as-rfc826",
    DATAGRAM,
    "n0's ARP reply has protocol length 3, and IP addresses of 3 octets",
)
def arp_protocol_length(t):
    t[86]["arp.pln"] = 3
    for end in (60, 36):  # after the target's and the sender's IP address
        del t[86].payload[end - 1]
    return 86


@fail(
    "rfc4391.9.2.arp-as-rfc826",
    DATAGRAM,
    "n0's ARP reply to n1 has n0's own IP address as its target",
    variant="-2",
)
def arp_reply_target(t):
    t[86]["arp.tpa"] = N0.ip
    return 88  # n1's next datagram: it sent no other request


# ---- Neighbour Discovery (RFC 4391 §9.3): n1's neighbour solicitation


@fail(
    "rfc4391.9.3.nd-option-length",
    DATAGRAM,
    "the source option of n1's solicitation has length 4, 8 bytes of zero after the address",
)
def nd_option_length(t):
    t[93]["nd.option.length"] = 4
    t[93].payload += bytes(8)
    t[93].fix_checksums()
    return 93


@fail(
    "rfc4391.9.3.nd-option-padding",
    DATAGRAM,
    "the source option of n1's solicitation has 0x0001 before the address",
)
def nd_option_padding(t):
    t[93]["nd.option.pad"] = 1
    t[93].fix_checksums()
    return 93

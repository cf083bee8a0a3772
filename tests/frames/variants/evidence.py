# SPDX-License-Identifier: GPL-2.0-or-later
"""For each form of a capture, the results of rules that it does not show fully: the result, and the
reason."""
from frames.variants import FAIL, INCONCLUSIVE, NOT_JUDGED, SILENT
from frames.variants import connections, datagrams, groups, links, reuse  # they fill the table

SA, SMPS = "the joins were not captured", "the port's set-up was not captured"
REPEATED = "the REP may be a copy of one that was not captured"
SET_UP = "ports without a LID are not followed: another set-up may not have been captured"
RESPONSE = "the response to the first REQ may not have been captured"
ADDRESSES = "the link-layer addresses that it had before were not captured"
NO_HEADERS = "without InfiniBand headers"
NO_GUID = "the solicitation has no link-layer address, and the frame no InfiniBand headers"
NO_GRH = "RoCE v2 has no GRH, and so no MGID"
NOTHING_SAYS = "RoCE v2 has no MGID, and nothing before says that the datagram is IPoIB's"
NO_DLID = "RoCE v2 has no DLID, and so the packet may be multicast"
NO_SA = "RoCE v2 has no subnet administration"
MGID = (
    "rfc4391.4.mgid-t-flag",
    "rfc4391.4.mgid-signature-ipv4",
    "rfc4391.4.mgid-signature-ipv6",
    "rfc4391.4.mgid-pkey",
    "rfc4391.4.mgid-group-id-ipv4",
    "rfc4391.4.mgid-group-id-ipv6",
    "rfc4391.4.broadcast-mapping",
    "rfc4391.4.mgid-format",
    "rfc4391.4.1.pkey-full-member",
    "rfc4391.6.grh-on-multicast",
)
JOINS = (  # rules that need the SA's responses
    "rfc4391.4.scope-consistent",
    "rfc4391.5.full-member-join",
    "rfc4391.5.join-parameters-used",
    "rfc4391.7.link-mtu",
    "rfc4391.9.1.2.qkey-from-join",
    "rfc4391.10.group-before-use",
    "rfc4391.10.join-before-send",
    "rfc4391.10.mlid-as-dlid",
    "rfc4391.10.subscribe-traps",
    "rfc4391.10.leave",
    "rfc4391.10.receiver-fullmember",
)
NO_GRH_ON_THEM = ("ARP reply", "InARP reply", "neighbour advertisement")
ONLY_IP = ("IPv4", "IPv6")
FLAGS = ("rfc4391.9.1.1.reserved-flags", "rfc4755.3.1.flags")
HEADERS = ("rfc4391.6.type", "rfc4391.6.encapsulation-header")
PORTS = (  # rules that need the whole history of the port
    "rfc4391.9.1.1.gid-of-port",
    "rfc4391.9.1.1.gid-from-port-guid",
)

NO_IB_HEADERS = (  # rules that need headers or the history of an InfiniBand link
    "rfc4755.2.1.multicast-over-ud",
    "rfc4755.7.resolution-over-ud",
    "rfc4755.2.3.connection-before-ip",
    "rfc4755.5.minimum-mtu",
    "rfc4755.5.1.connection-mtu",
    "rfc4755.3.4.teardown",
    "rfc4755.4.encapsulation-header",
    "rfc4755.4.type",
    "rfc4391.5.broadcast-group-exists",
    "rfc4391.5.full-member-join",
    "rfc4391.5.join-parameters-used",
    "rfc4391.7.link-mtu",
    "rfc4391.9.1.2.qkey-from-join",
    "rfc4391.13.qkey-controlled",
    "rfc4391.10.group-before-use",
    "rfc4391.10.mlid-as-dlid",
    "rfc4391.6.grh-on-multicast",
    "rfc4391.9.1.1.traffic-to-qpn",
    "rfc4391.9.1.1.arp-reply-qpn",
    "rfc4755.3.1.reply-to-ud-qpn",
    "rfc4391.9.1.1.gid-of-port",
    "rfc4391.9.1.1.gid-from-port-guid",
    "rfc4755.2.2.one-ud-qp",
    "rfc4391.9.4.revalidate-arp",
)

# form -> [(prefix of the rule, words of the variant's way, result, why)]; the first match counts
INC, NOT, NEW = (
    INCONCLUSIVE,
    NOT_JUDGED,
    "the QP was not known to be an interface's before this frame",
)
EARLIER_LID = "the responder may have a path to an earlier LID of the requester"
# the sender's resolution, which is in the capture, is all the evidence
RESOLVED = [
    ("rfc4391.9.1.1.traffic-to-qpn", "not resolved", INC, datagrams.UNRESOLVED),
    ("rfc4391.9.1.1.traffic-to-qpn", "resolved 6 s before", INC, datagrams.RESOLVED_BEFORE),
    ("rfc4391.9.1.1.traffic-to-qpn", "group", FAIL, ""),
]
# no port has such a GID
INVALID_GIDS = [
    ("rfc4391.9.1.1.gid-of-port", way, FAIL, "")
    for way in ("multicast GID", "Reserved GID", "all zeros")
]
RESULTS = {
    "early": [],
    "erf": [],
    "late": [
        ("rfc4391.9.2.arp-as-rfc826", "its sender as target", INC, SMPS),
        ("rfc4391.9.1.1.arp-reply-qpn", "another port's LID", INC, EARLIER_LID),
        (
            "rfc4755.3.1.reply-to-ud-qpn",
            "another port's LID",
            SILENT,
            "the LID's port is not known",
        ),
        ("rfc4391.4.mgid-signature-ipv6", "router advertisement, signature 0", INC, NEW),
        ("rfc4391.5.broadcast-group-exists", "", NOT, SA),
        ("rfc4391.5.pkey-configured", "IPv4 to", NOT, SMPS),
        ("rfc4391.10.group-attributes", "GetTable", INC, SA),
        ("rfc4391.5.full-member-join", "sent to no group", INC, SMPS),
        ("rfc4391.5.full-member-join", "left", FAIL, ""),
        ("rfc4391.10.group-other-attributes", "GetTable", INC, SA),
        ("rfc4755.3.2.ud-qpn-in-private-data", "another QPN", INC, ADDRESSES),
        ("rfc4755.2.3.connection-before-ip", "UC, the responder", FAIL, ""),
        ("rfc4755.2.3.connection-before-ip", "before the RTU", FAIL, ""),
        ("rfc4755.2.3.connection-before-ip", "without a set-up", INC, SMPS),
        ("rfc4755.2.3.connection-before-ip", "before", INC, REPEATED),
        ("rfc4755.3.3.simultaneous", "", INC, RESPONSE),
        ("rfc4755.3.5.service-id", "the QPN is another", INC, ADDRESSES),
        *RESOLVED,
        ("rfc4391.9.1.1.traffic-to-qpn", "unicast", INC, ADDRESSES),
        *(("rfc4755.2.2.one-ud-qp", way, INC, SMPS) for way in (*NO_GRH_ON_THEM, *ONLY_IP)),
        ("rfc4391.10.mlid-as-dlid", "a unicast LID", FAIL, ""),
        *((rule, "", INC, SA) for rule in JOINS),
        *INVALID_GIDS,
        *((rule, "", INC, SMPS) for rule in PORTS),
    ],
    "242": [
        *((rule, "those of the request", INC, NO_HEADERS) for rule in FLAGS),
        ("rfc4391.4.mgid-pkey", "", INC, NO_HEADERS),
        ("rfc4391.4.mgid-format", "0xfe for 0xff", SILENT, NO_HEADERS),
        ("rfc4391.4.mgid-format", "a port's GID", SILENT, NO_HEADERS),
        ("rfc4391.4.mgid-signature", "signature 0x", FAIL, ""),
        ("rfc4391.4.broadcast-mapping", "to one port", SILENT, NO_HEADERS),
        ("rfc4391.9.2.arp-as-rfc826", "as target", SILENT, NO_HEADERS),
        ("rfc4391.8.u-bit", "duplicate address detection", SILENT, NO_GUID),
        ("rfc4391.8.u-bit", "source", SILENT, NO_HEADERS),
        ("rfc4391.8.u-bit", "without an option", SILENT, NO_HEADERS),
        *((rule, "", NOT, NO_HEADERS) for rule in NO_IB_HEADERS),
    ],
    "roce2": [
        ("rfc4391.9.1.1.arp-reply-qpn", "another port's LID", SILENT, NO_DLID),
        ("rfc4755.3.1.reply-to-ud-qpn", "another port's LID", SILENT, NO_DLID),
        *((rule, "those of the request", INC, SET_UP) for rule in FLAGS),
        ("rfc4391.4.broadcast-mapping", "to one port", FAIL, ""),
        ("rfc4391.9.2.arp-as-rfc826", "as target", INC, SET_UP),
        ("rfc4391.9.1.1.arp-reply-qpn", "the QPN of multicast", INC, NO_DLID),
        ("rfc4391.9.1.1.traffic-to-qpn", "advertisement to the QPN of multicast", FAIL, ""),
        ("rfc4755.3.1.reply-to-ud-qpn", "advertisement to the QPN of multicast", FAIL, ""),
        ("rfc4391.9.1.1.traffic-to-qpn", "the QPN of multicast", SILENT, NO_DLID),
        ("rfc4755.3.1.reply-to-ud-qpn", "the QPN of multicast", INC, NO_DLID),
        ("rfc4391.8.u-bit", "duplicate address detection", SILENT, NO_GRH),
        ("rfc4391.8.u-bit", "source", SILENT, NO_GRH),
        ("rfc4391.8.u-bit", "without an option", SILENT, NO_GRH),
        ("rfc4755.3.2.ud-qpn-in-private-data", "another QPN", INC, ADDRESSES),
        ("rfc4755.2.3.connection-before-ip", "before", INC, REPEATED),
        ("rfc4755.2.3.connection-before-ip", "after a REJ", INC, SET_UP),
        ("rfc4755.2.3.connection-before-ip", "after the DREP", INC, SET_UP),
        ("rfc4755.2.3.connection-before-ip", "after the sender's DREQ", INC, SET_UP),
        ("rfc4755.2.3.connection-before-ip", "goes on", FAIL, ""),
        ("rfc4755.2.3.connection-before-ip", "without a set-up", INC, SET_UP),
        ("rfc4755.3.3.simultaneous", "", INC, RESPONSE),
        ("rfc4755.3.5.service-id", "block 0x10", FAIL, ""),
        ("rfc4755.3.5.service-id", "little-endian", FAIL, ""),
        ("rfc4755.3.5.service-id", "QPN 0x", FAIL, ""),
        ("rfc4755.3.5.service-id", "", INC, ADDRESSES),
        ("rfc4755.3.4.teardown", "", NOT, NO_SA),
        ("rfc4391.5.broadcast-group-exists", "", NOT, NO_SA),
        ("rfc4391.5.pkey-configured", "IPv4 to", NOT, NO_SA),
        ("rfc4391.7.link-mtu", "", INC, NO_SA),
        ("rfc4391.9.1.2.qkey-from-join", "", INC, NO_SA),
        *((rule, way, FAIL, "") for rule in HEADERS for way in ("RARP", "InARP")),
        ("rfc4391.6.type", "ARP request", SILENT, NOTHING_SAYS),
        ("rfc4391.6.encapsulation-header", "ARP request", SILENT, NOTHING_SAYS),
        *RESOLVED,
        ("rfc4391.9.1.1.traffic-to-qpn", "unicast", INC, ADDRESSES),
        ("rfc4391.9.4.revalidate-arp", "", INC, NO_SA),
        ("rfc4755.2.2.one-ud-qp", "", INC, NO_SA),
        *((rule, "", NOT, NO_GRH) for rule in MGID),
        *INVALID_GIDS,
        *((rule, "", INC, NO_SA) for rule in PORTS),
        *((rule, "", NOT, NO_SA) for rule in JOINS),
    ],
}


def result(variant, form):
    """(expected, why)"""
    for rule, words, expected_, why_ in RESULTS[form]:
        if variant.rule.startswith(rule) and words in variant.way:
            return expected_, why_
    return variant.early, variant.why


def expected(variant, form):
    return result(variant, form)[0]


def why(variant, form):
    return result(variant, form)[1]


assert connections and datagrams and groups and links

# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of connections (RFC 4755).

In connected.pcap 45, 46 and 48 are REQ, REP and RTU of n0's connection to n1, 50, 51 and 53 those
of n1's to n0; 47 and 55 are echo requests on the first."""
from frames import ib
from frames.bases import CONSUMER_REJECT, N0, N1, all_of_gsi, becomes_rej
from frames.fixture import fail, sets, tape

CONNECTED = "connected.pcap"
QPN_OF_N0 = 5  # of the first connection


# ---- set-up


sets(
    "rfc4755.3.2.ud-qpn-in-private-data",
    "set-up",
    "n1's REP has UD QPN 0 in its private data",
    {46: {"rep.private.qpn": 0}},
)
sets(
    "rfc4755.3.2.ud-qpn-in-private-data",
    "set-up",
    "n1's REP has UD QPN 0x000099, of none of its addresses",
    {46: {"rep.private.qpn": 0x99}},
    variant="-2",
)


@fail(
    "rfc4755.3.2.ud-qpn-in-private-data",
    "set-up",
    "n0's REQ has its QPN of the connection in its private data",
    variant="-5",
)
def connected_qpn(t):
    t[45]["req.private.qpn"] = QPN_OF_N0
    return 45


def reject(t):
    """n1 responds to n0's REQ with a REJ without private data."""
    rep = t[46]
    rep.payload = bytearray(
        ib.cm_rej(rep["mad.tid"], rep["cm.local"], rep["cm.remote"], CONSUMER_REJECT)
    )
    t.drop(48)
    return 46


fail(
    "rfc4755.3.2.ud-qpn-in-private-data",
    "set-up",
    "n1's REJ has no private data; the REQ has Linux's Service-ID",
    variant="-3",
    linux="deviation",
)(reject)


fail(
    "rfc4755.3.2.ud-qpn-in-private-data",
    "rfc-set-up",
    "n1's REJ has no private data; the REQ has the RFC's Service-ID",
    variant="-4",
)(reject)


@fail(
    "rfc4755.3.5.service-id",
    "rfc-set-up",
    "n0's REQ asks for the UD QPN 0x000024; n1's address has 0x000023",
)
def service_id(t):
    t[45]["req.service"] = ib.service_id_rfc(0x24)
    return 46  # n1's next packet of its GSI: it did not join again, with another QPN


sets(
    "rfc4755.5.1.receive-mtu", "set-up", "n0's REQ has Receive MTU 0", {45: {"req.private.mtu": 0}}
)
sets(
    "rfc4755.6.private-data", "set-up", "n1's REP has no Receive MTU", {46: {"rep.private.mtu": 0}}
)
sets(
    "rfc4755.6.private-data",
    "set-up",
    "n0's REQ has private data of zeros",
    {45: {"req.private": 0}},
    variant="-2",
)
sets(
    "rfc4755.6.private-data",
    "rtu-set-up",
    "n0's RTU has no private data; the REQ has Linux's Service-ID",
    {48: {"rtu.private": 0}},
    variant="-3",
    linux="deviation",
)
sets(
    "rfc4755.6.private-data",
    "rfc-set-up",
    "n0's RTU has no private data; the REQ has the RFC's Service-ID",
    {48: {"rtu.private": 0}},
    variant="-4",
)
sets(
    "rfc4755.6.reserved-zero",
    "set-up",
    "the Reserved octet of n0's REQ is 1",
    {45: {"req.private.reserved": 1}},
)
sets(
    "rfc4755.5.minimum-mtu",
    "set-up",
    "n0's REQ has Receive MTU 71: 67 octets of IP",
    {45: {"req.private.mtu": 71}},
)
sets(
    "rfc4755.5.message-size",
    "set-up",
    "n0's REQ has Receive MTU 2^31 + 1",
    {45: {"req.private.mtu": (1 << 31) + 1}},
)


@fail(
    "rfc4755.3.3.simultaneous",
    "crossing",
    "n0, whose address is smaller, responds to n1's REQ with REJ, reason 28",
)
def smaller_rejects(t):
    becomes_rej(t[51], N0)
    t.drop(52, 53, 54)
    return 51


@fail(
    "rfc4755.3.3.simultaneous",
    "crossing",
    "n1, whose address is larger, responds to n0's REQ with REP, as Linux does",
    variant="-2",
    linux="deviation",
)
def larger_accepts(t):
    t[46].payload = tape(CONNECTED)[46].payload
    return 46


fail(
    "rfc4755.3.3.simultaneous",
    "rfc-crossing",
    "n1, whose address is larger, responds to n0's REQ with REP; the REQs have the RFC's Service-ID",
    variant="-3",
)(larger_accepts)


# ---- data


@fail(
    "rfc4755.2.3.connection-before-ip",
    "echoes",
    "n1 sends an echo reply to the requester's QP before its REP",
)
def connection_before_ip(t):
    t.insert(45, t[52].copy().set(destqp=QPN_OF_N0))
    return 46


@fail(
    "rfc4755.2.3.connection-before-ip",
    "crossing",
    "n1 sends an echo reply to the QP of the REQ that it refused",
    variant="-2",
)
def ip_after_refusal(t):
    late = t.insert(54, t[52].copy().set(destqp=QPN_OF_N0))
    # n0's next GSI packet, a response of the SA: it set up no other connection for this QP
    request = t.insert(late, t[42].copy().set(psn=t[53]["psn"] + 1))
    return t.insert(request, t[43].copy().set(psn=t[51]["psn"] + 1))


@fail(
    "rfc4755.2.1.multicast-over-ud",
    CONNECTED,
    "n0 sends an echo request to 239.1.2.3 over the connection",
)
def multicast_over_ud(t):
    t[55]["ipv4.dst"] = "239.1.2.3"
    t[55].fix_checksums()
    return 55


sets(
    "rfc4755.4.type",
    CONNECTED,
    "n0's echo request over IPv4 has the Type of IPv6",
    {55: {"type": 0x86DD}},
)


@fail("rfc4755.4.encapsulation-header", CONNECTED, "n0's echo request ends after Type")
def encapsulation_header(t):
    del t[55].payload[2:]
    return 55


sets(
    "rfc4755.5.1.connection-mtu",
    "long-echo",
    "n1's REP has Receive MTU 2048; n0's second echo request has 3028 bytes",
    {46: {"rep.private.mtu": 2048}},
    at=55,
)
sets(
    "rfc4755.5.minimum-mtu",
    "ipv6-echoes",
    "n1's REP has Receive MTU 1000; n0 sends IPv6 over the connection",
    {46: {"rep.private.mtu": 1000}},
    at=88,
    variant="-2",
)


@fail("rfc4755.7.resolution-over-ud", CONNECTED, "n0's ARP reply goes over the connection")
def resolution_over_ud(t):
    reply = t[99].payload
    t.frame(99).packet = t[55].copy()
    t[99].payload = reply
    t[99]["psn"] = t[106]["psn"]
    for n in (106, 107):  # the next message on this connection, and its acknowledgement
        t[n]["psn"] += 1
    return 99


def advertisement(t):
    """n1's NA goes over the connection that n1 requested, after its last message there, 61."""
    p = tape(CONNECTED)[86].copy()
    p["psn"] = t[61]["psn"] + 1
    return t.insert(62, p)


fail(
    "rfc4755.7.resolution-over-ud",
    "echoes",
    "n1's NA goes over a connection whose REQ has Linux's Service-ID",
    variant="-2",
    linux="deviation",
)(advertisement)


fail(
    "rfc4755.7.resolution-over-ud",
    "rfc-echoes",
    "n1's NA goes over a connection whose REQ has the RFC's Service-ID",
    variant="-3",
)(advertisement)


# ---- the end


@fail(
    "rfc4755.3.4.teardown",
    "again",
    "n1's interface leaves and joins the broadcast group, its connection with n0 is not ended",
)
def teardown(t):
    t.drop(108, 109)
    all_of_gsi(t)
    return t.frames[-2]


@fail(
    "rfc4755.3.4.teardown",
    "late",
    "n1's connection with n0 is not ended; 12 s after n1 left it carries an echo request",
    variant="-2",
)
def data_after_leave(t):
    t.drop(117, 118)
    query = t.insert(t.frames[-1], t[42].copy())
    all_of_gsi(t)
    return query  # n1's next request: it did not join again


@fail(
    "rfc4755.3.4.teardown",
    CONNECTED,
    "n1's connection with n0 is not ended; 12 s after n1 left it sends a request to the SA",
    variant="-3",
)
def request_after_leave(t):
    t.drop(108, 109)
    query = t.insert(t.frames[-1], t[42].copy())
    query.time += 12 * 10**9
    all_of_gsi(t)
    return query


assert N0.qpn < N1.qpn  # so n0's address is the smaller one (RFC 4755 §3.3)

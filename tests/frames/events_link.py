# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of packets that do not fit what the subnet's managers say, or that receivers
drop, each with harmless look-alikes. A case returns its tape and the events that it must raise:
(event, frame, count, texts that it has). NUMBER is the number of the last frame so far."""
import ipaddress

from frames import ib
from frames.connection import Link
from frames.events import NO_RECORDS, copy_last, link, number
from frames.fabric import FULL, smp_frame
from frames.ib import encap
from frames.messages import ping, solicited_node, udp4
from frames.subnet import PATH_BY_GIDS, SMP_SET, Host, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- P_Key tables


def brought_up(*pkeys):
    """A host that the SM brings up, with these P_Keys."""
    s, a = Subnet(), Host(1)
    s.node_info(a)
    s.port_info(a)
    s.pkey_table(a, *pkeys)
    s.node_info(a)
    return s, a


@case
def pkey_that_is_limited_in_the_table():
    """The SM gives the port 0x7fff only: its adapter has no full P_Key to send with."""
    s, a = brought_up(0x7FFF)
    s.up(a)
    before = number(s)
    s.arp_request(a, "10.0.0.2")
    copy_last(s)
    s.arp_request(a, "10.0.0.3")
    texts = [a.gid, "P_Key 0xffff", "only the limited one"]
    return s, [("wrong_pkey", before + 1, 2, texts)]


@case
def pkey_that_is_not_in_the_table_any_more():
    """The SM takes the partition 0x8001 out of the table. It sends on."""
    s, a = brought_up(0xFFFF, 0x8001)
    s.pkey_table(a, 0xFFFF)
    s.node_info(a)
    s.up(a)
    s.arp_request(a, "10.0.0.2", dst=s.broadcast(0x8001), pkey=0x8001)
    return s, [("wrong_pkey", number(s), 1, ["P_Key 0x8001", "none of this partition"])]


@case
def pkeys_that_are_in_the_table():
    """Both memberships of a partition, of which the full one is in another place."""
    s, a = brought_up(0x7FFF, 0x8001, 0xFFFF)
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []


@case
def pkey_table_whose_next_change_was_lost():
    """An answer of the port is missing, as its PSNs show: it may be the one to another Set."""
    s, a = brought_up(0x7FFF)
    s.next_psn("port", a.lid)
    s.node_info(a)
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []


@case
def pkey_table_whose_change_is_not_answered():
    """The port has its table from before until it has answered the Set."""
    s, a = brought_up(0xFFFF)
    data = ib.u16(0x7FFF).ljust(64, b"\0")
    mad = ib.directed_smp(SMP_SET, s.next_tid(), ib.PKEY_TABLE, 0, data, (0, 1, a.lid))
    s.put(smp_frame(mad, s.next_psn("sm", a.lid)))
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []


# ---- answers of the SA


def path_request(s, a, b, pkey=0xFFFF):
    return ib.path_record(b.gid, a.gid, pkey=pkey, reversible=1, numb=1)


def answered_path(s, a, b, reply, **options):
    s.ask(a, ib.GET, ib.ATTR_PATH_RECORD, path_request(s, a, b), PATH_BY_GIDS, reply, **options)


@case
def join_answered_with_another_group():
    s, a, _, _ = link()
    group, other = s.group4("239.1.2.3"), s.group4("239.1.2.4")
    data, mask = s.request(a, group, FULL)
    reply = s.record(a, other, FULL)
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, mask, reply, offset=7)
    return s, [("sa_wrong_answer", number(s), 1, [a.gid, group, "another one, " + other])]


@case
def join_answered_with_a_unicast_lid():
    s, a, _, _ = link()
    group = s.group4("239.1.2.3")
    s.mlids[group] = 5
    s.join(a, group)
    return s, [("sa_wrong_answer", number(s), 1, [group, "LID 0x0005", "no multicast LID"])]


@case
def join_answered_with_the_last_multicast_lid():
    """IBA 4.1.1: 0xfffe is a multicast LID, 0xffff is not."""
    s, a, _, _ = link()
    for group, lid in (("239.1.2.3", 0xFFFE), ("239.1.2.4", 0xFFFF)):
        s.mlids[s.group4(group)] = lid
        s.join(a, s.group4(group))
    return s, [("sa_wrong_answer", number(s), 1, ["LID 0xffff"])]


@case
def join_of_a_group_that_the_sa_chooses():
    """Without an MGID, the SA makes one (IBA 15.2.5.17)."""
    s, a, _, _ = link()
    data, mask = s.request(a, "::", FULL)
    reply = s.record(a, "ff12:a01b:fe80::1", FULL)
    s.ask(a, ib.SET, ib.ATTR_MC_MEMBER, data, mask & ~ib.MCM["mgid"], reply, offset=7)
    return s, []


@case
def late_answer_with_a_transaction_id_of_long_ago():
    """Two minutes after the request, the transaction ID may be that of another one."""
    s, a, _, _ = link()
    data, mask = s.request(a, s.group4("239.1.2.3"), FULL)
    tid = s.next_tid()
    s.sa(a, s.sm, ib.SET, tid, ib.ATTR_MC_MEMBER, data, mask)
    s.wait(120)
    reply = s.record(a, s.group4("239.1.2.4"), FULL)
    s.sa(s.sm, a, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, reply, mask, attr_offset=7)
    return s, [("sa_slow", number(s), 1, [])]


@case
def path_of_another_partition():
    s, a, b, _ = link()
    reply = ib.path_record(b.gid, a.gid, b.lid, a.lid, pkey=0x8001)
    answered_path(s, a, b, reply, offset=8)
    texts = ["path to " + b.gid, "P_Key 0xffff", "P_Key 0x8001"]
    return s, [("sa_wrong_answer", number(s), 1, texts)]


@case
def path_to_another_port():
    s, a, b, c = link()
    reply = ib.path_record(c.gid, a.gid, c.lid, a.lid)
    answered_path(s, a, b, reply, offset=8)
    return s, [("sa_wrong_answer", number(s), 1, [b.gid, c.gid])]


@case
def path_of_a_limited_member():
    """0x7fff is the partition of 0xffff; the answer may name the port by its default prefix."""
    s, a, b, _ = link()
    reply = ib.path_record(b.gid, a.gid, b.lid, a.lid, pkey=0x7FFF, mtu=4)
    answered_path(s, a, b, reply, offset=8)
    return s, []


def path_table(s, a, b, mask, records=b"", status=0):
    """GetTable(PathRecord): the SA answers with these records."""
    tid = s.next_tid()
    s.sa(a, s.sm, ib.GET_TABLE, tid, ib.ATTR_PATH_RECORD, path_request(s, a, b), mask)
    flags = ib.RMPP_ACTIVE | ib.RMPP_FIRST | ib.RMPP_LAST
    header = ib.rmpp_header(ib.RMPP_DATA, flags, 1, 20 + len(records))
    options = dict(status=status, attr_offset=8 if records else 0, rmpp=header)
    s.sa(s.sm, a, ib.GET_TABLE_RESP, tid, ib.ATTR_PATH_RECORD, records, mask, **options)


@case
def table_without_a_path():
    s, a, b, c = link()
    path_table(s, a, b, PATH_BY_GIDS)
    first = number(s)
    path_table(s, a, c, PATH_BY_GIDS, status=NO_RECORDS)
    texts = [a.gid, "table is empty"]
    return s, [
        ("path_refused", first, 1, texts + [b.gid]),
        ("path_refused", number(s), 1, texts + [c.gid]),
    ]


@case
def table_with_a_path_or_of_all_ports():
    """The second one asks for all paths from the port: that there is none names no destination."""
    s, a, b, _ = link()
    path_table(s, a, b, PATH_BY_GIDS, ib.path_record(b.gid, a.gid, b.lid, a.lid))
    path_table(s, a, b, PATH_BY_GIDS & ~4)
    return s, []


# ---- MTUs


def large(s, a, b, size):
    """A datagram with so many bytes after the UD headers."""
    s.ud(a, b, udp4(a, b.ip, bytes(size - 4 - 20 - 8)))


@case
def path_with_a_smaller_mtu():
    """1024 bytes (code 3): a datagram of 1024 bytes fits, one of 1025 does not."""
    s, a, b, _ = link()
    s.path(a, b, mtu=3)
    asked = number(s)
    large(s, a, b, 1024)
    large(s, b, a, 2048)
    large(s, a, b, 1025)
    texts = [a.gid, "1025 bytes to GID " + b.gid, "MTU of the path is 1024"]
    assert asked == number(s) - 3
    return s, [("mtu_mismatch", number(s), 1, texts)]


@case
def path_that_has_the_whole_mtu_again():
    s, a, b, _ = link()
    s.path(a, b, mtu=3)
    s.path(a, b)
    large(s, a, b, 2048)
    return s, []


@case
def path_of_which_the_requester_limits_the_mtu():
    """MTU selector and MTU (bits 16 and 17 of the mask): another program wants exactly 1024."""
    s, a, b, _ = link()
    data = ib.path_record(b.gid, a.gid, mtu_sel=2, mtu=3, reversible=1, numb=1)
    reply = ib.path_record(b.gid, a.gid, b.lid, a.lid, mtu_sel=2, mtu=3)
    s.ask(a, ib.GET, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS | 3 << 16, reply, offset=8)
    large(s, a, b, 2048)
    return s, []


def router_advertisement(s, router, mtu):
    """With the options MTU and source link-layer address (RFC 4861 sections 4.2, 4.6.4)."""
    options = ib.u8(5) + ib.u8(1) + ib.u16(0) + ib.u32(mtu) + ib.nd_lladdr_option(1, router.addr)
    s.icmp6(router, s.group6("ff02::1"), "ff02::1", ib.nd_ra(options))


@case
def router_that_advertises_a_larger_mtu():
    """The broadcast group has an MTU of 2048 bytes, so the link 2044."""
    s, a, _, _ = link()
    router_advertisement(s, a, 2044)
    router_advertisement(s, a, 2045)
    return s, [("mtu_mismatch", number(s), 1, ["MTU 2045", "IPoIB MTU of 2044"])]


@case
def router_in_connected_mode():
    s, a, b, _ = link()
    Link(s, a, b).open()
    router_advertisement(s, a, 65520)
    return s, []


# ---- headers


def in_order(s, a):
    """Two datagrams with right headers: the sender has shown right CRCs."""
    s.arp_request(a, "10.0.0.8")
    s.arp_request(a, "10.0.0.9")


def with_crcs(octets, right=True):
    """A packet with a GRH, from the LRH to the pad, and its CRCs. right: else the ICRC is wrong."""
    crc = ib.icrc(octets[:8], octets[8:48], octets[48:])
    whole = octets + (crc if right else bytes(4))
    return whole + ib.crc16_100b(whole).to_bytes(2, "little")


def change_grh(s, at, octets):
    """The last frame has other bytes in its GRH (IBA 8.3)."""
    _, old, _ = s.records.pop()
    s.now -= s.step
    at += 8
    s.put(with_crcs(old[:at] + octets + old[at + len(octets) : -6]))


@case
def grh_with_another_version():
    """IPVer (the high 4 bits) 4."""
    s, a, _, _ = link()
    in_order(s, a)
    for _ in range(2):
        s.arp_request(a, "10.0.0.2")
        change_grh(s, 0, b"\x40")
    copy_last(s)
    texts = [a.gid, "to " + s.broadcast(), "IPVer) 4 in the GRH instead of 6"]
    return s, [("invalid_header", number(s) - 2, 2, texts)]


@case
def grh_with_another_length():
    s, a, _, _ = link()
    in_order(s, a)
    s.arp_request(a, "10.0.0.2")
    change_grh(s, 4, ib.u16(20))
    return s, [("invalid_header", number(s), 1, ["PayLen) 20 in the GRH, but "])]


@case
def multicast_to_another_qp():
    s, a, _, _ = link()
    in_order(s, a)
    s.arp_request(a, "10.0.0.2", destqp=0x23)
    return s, [("invalid_header", number(s), 1, ["destination QP 0x000023 instead of 0xffffff"])]


def with_vls(code):
    """All ports have OperationalVLs of this code (IBA 14.2.5.6): 3 means VL 0 to 3."""
    s, a, b = Subnet(), Host(1), Host(2)
    for host in (a, b):
        s.node_info(host)
        data = bytearray(s.port_info_of(host.lid, neighbor_mtu=4, mtu_cap=4))
        data[43] = code << 4
        s.smp(host.lid, SMP_SET, ib.PORT_INFO, bytes(data), 1)
    s.up(a, b)
    s.resolve(a, b)
    return s, a, b


@case
def vl_that_no_port_has():
    s, a, b = with_vls(3)
    for vl in (3, 4, 4):
        s.ud(a, b, ping(a, b), vl=vl)
    texts = [a.gid, "VL 4", "more than 4 VLs"]
    return s, [("invalid_header", number(s) - 1, 2, texts)]


@case
def vl_that_another_port_may_have():
    """Without PortInfo; and with the code 0, which is no number of VLs."""
    s, a, b = with_vls(0)
    s.ud(a, b, ping(a, b), vl=5)
    return s, []


ROUTED = "fec0:0:0:5::77"


@case
def hop_limit_to_another_subnet():
    """By the router at b's LID: hop limit 1 is its last one, 2 is enough."""
    s, a, b, _ = link()
    s.resolve(a, b)
    for hop in (2, 1):
        s.ud(a, b.also(gid=ROUTED), ping(a, b), grh=True, hop=hop)
    return s, [("invalid_header", number(s), 1, [ROUTED, "hop limit 1"])]


@case
def hop_limit_from_another_subnet():
    """The router has counted it down; and within the subnet it may be 0."""
    s, a, b, _ = link()
    s.resolve(a, b)
    s.ud(b.also(gid=ROUTED), a, ping(b, a), grh=True, hop=0)
    s.ud(a, b, ping(a, b), grh=True, hop=0)
    s.ud(a, b.also(gid="fe80::77"), ping(a, b), grh=True, hop=0)
    return s, []


@case
def lids_that_no_port_can_have():
    s, a, b, _ = link()
    s.resolve(a, b)
    s.ud(a, b, ping(a, b))
    s.ud(a, b, ping(a, b), dlid=0xFFFF)
    first = number(s)
    for _ in range(2):
        s.ud(a, b, ping(a, b), slid=0xC005)
    return s, [
        ("invalid_header", first, 1, ["destination LID 0xffff"]),
        ("invalid_header", first + 1, 2, ["source LID 0xc005"]),
    ]


@case
def headers_that_are_corrupt():
    """The same values with a wrong ICRC: the packet was damaged on the way."""
    s, a, b, _ = link()
    in_order(s, a)
    s.arp_request(a, "10.0.0.2", destqp=0x23)
    _, octets, _ = s.records.pop()
    s.put(with_crcs(octets[:-6], right=False))
    return s, []


# ---- duplicate address detection, and errors of ICMP


def looks_for(s, host, target):
    """A solicitation from the unspecified address (RFC 4862 section 5.4.2)."""
    s.icmp6(host, s.group6(solicited_node(target)), solicited_node(target), ib.nd_ns(target), "::")


@case
def two_ports_that_look_for_one_address():
    s, a, b, _ = link()
    looks_for(s, a, "2001:db8::5")
    looks_for(s, b, "2001:db8::5")
    copy_last(s)
    return s, [("duplicate_ip", number(s) - 1, 1, [b.gid, a.gid, "2001:db8::5", "both want it"])]


@case
def ports_that_look_for_addresses_one_after_the_other():
    """The same port again, another address, and another port after two seconds."""
    s, a, b, _ = link()
    looks_for(s, a, "2001:db8::5")
    looks_for(s, a, "2001:db8::5")
    looks_for(s, b, "2001:db8::6")
    s.wait(2)
    looks_for(s, b, "2001:db8::5")
    return s, []


def icmp_error(s, a, b, kind, code, about):
    """a reports to b an error about the datagram (RFC 792)."""
    body = ib.u8(kind) + ib.u8(code) + ib.u16(0) + ib.u32(0) + about[:28]
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    s.ud(a, b, encap(0x0800, ib.ipv4(a.ip, b.ip, 1, body)))


def icmp6_error(s, a, b, kind, code, about):
    """The same by ICMPv6 (RFC 4443)."""
    s.icmp6(a, b, b.ll, ib.u8(kind) + ib.u8(code) + ib.u16(0) + ib.u32(0) + about)


@case
def router_without_a_reply():
    """Host unreachable (3, 1) and address unreachable (1, 3)."""
    s, a, b, _ = link()
    for _ in range(2):
        icmp_error(s, a, b, 3, 1, ib.ipv4(b.ip, "10.9.9.9", 17, bytes(8)))
    first = number(s) - 1
    icmp6_error(s, a, b, 1, 3, ib.ipv6("2001:db8::2", "2001:db8:9::9", 59, b""))
    return s, [
        ("arp_unanswered", first, 2, [a.gid, "to IP 10.0.0.2 that IP 10.9.9.9 is unreachable"]),
        ("nd_unanswered", number(s), 1, [a.gid, "IP 2001:db8:9::9 is unreachable"]),
    ]


@case
def host_that_lacks_fragments():
    """Fragment reassembly time exceeded: (11, 1), and (3, 1) in ICMPv6."""
    s, a, b, _ = link()
    icmp_error(s, a, b, 11, 1, ib.ipv4(b.ip, a.ip, 17, bytes(8)))
    icmp6_error(s, a, b, 3, 1, ib.ipv6(b.ll, a.ll, 59, b""))
    texts = [a.gid, "a fragment is missing"]
    return s, [("large_lost", number(s) - 1, 1, texts), ("large_lost", number(s), 1, texts)]


@case
def errors_of_another_kind():
    """A closed port (3, 3 and 1, 4), a hop limit at its end (11, 0 and 3, 0), and an error that was
    captured without the datagram that it is about."""
    s, a, b, _ = link()
    for kind, code in ((3, 3), (11, 0)):
        icmp_error(s, a, b, kind, code, ib.ipv4(b.ip, a.ip, 17, bytes(8)))
    for kind, code in ((1, 4), (3, 0)):
        icmp6_error(s, a, b, kind, code, ib.ipv6(b.ll, a.ll, 59, b""))
    icmp6_error(s, a, b, 1, 3, b"")
    return s, []


# ---- redirects


def redirect(s, router, host, to, hop, v6=False):
    """RFC 792, RFC 4861 section 4.5."""
    if v6:
        body = ib.u8(137) + ib.u8(0) + ib.u16(0) + ib.u32(0)
        s.icmp6(
            router,
            host,
            host.ll,
            body + ipaddress.ip_address(hop).packed + ipaddress.ip_address(to).packed,
        )
        return
    about = ib.ipv4(host.ip, to, 17, bytes(8))
    body = ib.u8(5) + ib.u8(1) + ib.u16(0) + ipaddress.ip_address(hop).packed + about[:28]
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    s.ud(router, host, encap(0x0800, ib.ipv4(router.ip, host.ip, 1, body)))


@case
def host_that_is_redirected_again_and_again():
    """The third redirect shows it; the host sends to two destinations."""
    s, a, b, c = link()
    s.meet(a, b)
    before = number(s)
    for n in range(8):
        redirect(s, a, b, (c.ip, "10.0.0.99")[n % 2], (c.ip, "10.0.0.99")[n % 2])
        s.wait(0.5)
    texts = [b.gid, b.ip, "router, IP " + a.ip, "IP 10.0.0.3 is on its own link", "3 times"]
    return s, [("redirects", before + 5, 4, texts)]


@case
def host_whose_default_router_is_the_wrong_one():
    s, a, b, c = link()
    s.meet(a, b)
    before = number(s)
    for _ in range(3):
        redirect(s, a, b, "10.9.9.9", c.ip)
        s.wait(1)
    return s, [("redirects", before + 3, 1, ["IP 10.9.9.9 has the next hop IP 10.0.0.3"])]


@case
def host_that_is_redirected_again_and_again_by_ipv6():
    s, a, b, c = link()
    s.meet(a, b)
    before = number(s)
    for _ in range(3):
        redirect(s, a, b, c.ll, c.ll, v6=True)
        s.wait(1)
    return s, [("redirects", before + 3, 1, ["IP %s is on its own link" % c.ll, a.ll])]


@case
def redirects_that_are_obeyed():
    """One for each destination, a second one for a datagram that was on its way, and one after the
    host has forgotten it."""
    s, a, b, _ = link()
    s.meet(a, b)
    for n in range(8):
        for _ in range(2):
            redirect(s, a, b, "10.0.0.%d" % (90 + n), "10.0.0.%d" % (90 + n))
            s.wait(0.01)
        s.wait(1)
    s.wait(600)
    redirect(s, a, b, "10.0.0.90", "10.0.0.90")
    return s, []

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the nodes of a fabric send each other: datagrams with the encapsulation header (RFC 4391
section 6) that carry ARP, Neighbour Discovery, echo requests and reports of group members."""
import ipaddress

from frames import ib
from frames.fabric import A, BROADCAST_LID, BROADCAST_MGID, QKEY, TO_GROUP
from frames.ib import encap

ARP, RARP, IPV4, IPV6 = 0x0806, 0x8035, 0x0800, 0x86DD
NOBODY = bytes(20)  # the target's link-layer address in a request
SOURCE, TARGET = 1, 2  # options of Neighbour Discovery
UDP, IGMP = 17, 2


def broadcast_lladdr(mgid=BROADCAST_MGID):
    """Link-layer address of a group: QPN 0xffffff and the MGID (IBA 10.5.2; Linux sets it so in its
    packets)."""
    return ib.lladdr(TO_GROUP, mgid)


def arp(op, src, dst, tha=None, ethertype=ARP):
    tha = dst.addr if tha is None else tha
    return encap(ethertype, ib.arp(op, src.addr, src.ip, tha, dst.ip))


def arp_request(src, target_ip, sha=None, **kw):
    sha = src.addr if sha is None else sha
    return encap(ARP, ib.arp(1, sha, src.ip, NOBODY, target_ip, **kw))


def arp_reply(src, dst):
    return arp(2, src, dst)


def ping(src, dst, **kw):
    return encap(IPV4, ib.ping4(src.ip, dst.ip, **kw))


def udp4(src, group, data=b"some data", ports=(5001, 5001), **kw):
    datagram = ib.udp(src.ip, group, *ports, data)
    return encap(IPV4, ib.ipv4(src.ip, group, UDP, datagram, **kw))


def big(src, dst, length, seq=1):
    """An encapsulated IPv4 UDP packet whose IP length is 'length'.

    Its data are 16-bit words that count up from seq * 0x1000, so that every place in it is known.
    """
    n = length - 28
    data = b"".join(ib.u16(seq * 0x1000 + i & 0xFFFF) for i in range((n + 1) // 2))[:n]
    return udp4(src, dst.ip, data, (5001, 5002))


# ---- IPv6


def solicited_node(ll):
    """ff02::1:ffXX:XXXX of a unicast address (RFC 4291 §2.7.1)."""
    raw = ib.ip6("ff02::1:ff00:0")[:13] + ib.ip6(ll)[13:]
    return ipaddress.IPv6Address(raw).compressed


def nd6(src_ip, dst_ip, body):
    return encap(IPV6, ib.icmpv6(src_ip, dst_ip, body))


def nd(src, dst_ip, body, src_ip=None):
    return nd6(src_ip or src.ll, dst_ip, body)


def solicitation(src, target):
    """The message without an IP header."""
    return ib.nd_ns(target, ib.nd_lladdr_option(SOURCE, src.addr))


def advertisement(src, target=None, **kw):
    return ib.nd_na(target or src.ll, ib.nd_lladdr_option(TARGET, src.addr), **kw)


def ns(src, dst):
    return nd(src, solicited_node(dst.ll), solicitation(src, dst.ll))


def ns_unicast(src, dst):
    return nd(src, dst.ll, solicitation(src, dst.ll))


def na(src, dst):
    return nd(src, dst.ll, advertisement(src))


def ping6(src, dst, size=8):
    body = ib.u8(128) + bytes(3) + ib.u16(7) + ib.u16(1) + ib.fill(size)
    return nd(src, dst.ll, body)


def udp6(src, group, data=b"some data"):
    """An ICMPv6 message of a type that is unknown here."""
    return nd(src, group, ib.u8(200) + bytes(3) + data)


# ---- reports of group members


def igmp_report(src, group):
    """IGMPv2 Membership Report (RFC 2236 2)."""
    body = ib.u8(0x16) + bytes(3) + ib.ip4(group)
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    return encap(IPV4, ib.ipv4(src.ip, group, IGMP, body, ttl=1))


def igmp_leave(src, group):
    """IGMPv2 Leave Group, to all routers (RFC 2236 2)."""
    body = ib.u8(0x17) + bytes(3) + ib.ip4(group)
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    return encap(IPV4, ib.ipv4(src.ip, "224.0.0.2", IGMP, body, ttl=1))


def igmp3_leave(src, group):
    """IGMPv3: the host includes no source of the group any more (RFC 3376 4.2)."""
    body = ib.u8(0x22) + bytes(6) + ib.u8(1) + ib.u8(3) + bytes(3) + ib.ip4(group)
    body = body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:]
    return encap(IPV4, ib.ipv4(src.ip, "224.0.0.22", IGMP, body, ttl=1))


def mld_done(src, group):
    """Multicast Listener Done, to all routers (RFC 2710 3)."""
    return nd(src, "ff02::2", ib.u8(132) + bytes(7) + ib.ip6(group))


def mld2_leave(src, group):
    """MLDv2: the host includes no source of the group any more (RFC 3810 5.2)."""
    record = ib.u8(3) + bytes(3) + ib.ip6(group)
    return nd(src, "ff02::16", ib.u8(143) + bytes(6) + ib.u8(1) + record)


def mld_report(src, group):
    """Multicast Listener Report, version 1 (RFC 2710 3)."""
    return nd(src, group, ib.u8(131) + bytes(7) + ib.ip6(group))


# ---- the SA


# The parameters of the broadcast group in the SA's responses: 'exactly' (2) MTU 2048 (code 4) and 10
# Gb/s (code 3).
GROUP = {"qkey": QKEY, "pkey": 0xFFFF, "mtu_sel": 2, "mtu": 4, "rate_sel": 2, "rate": 3}
GROUP.update({"life_sel": 2, "life": 18, "scope": 2})


def broadcast_record(**kw):
    """The broadcast group in the SA's response to a join."""
    of = {"port_gid": A.gid, "mlid": BROADCAST_LID, "join": 1, **GROUP}
    return ib.mcmember(BROADCAST_MGID, **{**of, **kw})

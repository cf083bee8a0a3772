#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the hand-built captures of testdata/built: build.py OUTDIR [--check].

Each function below makes one capture; the comment at each frame describes it, and
expect/built-NAME.txt lists the fields that a decoder must show. The output depends only on this
code. --check writes nothing and reports whether OUTDIR holds exactly these files.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import ib  # noqa: E402
from frames.connection import Connection  # noqa: E402
from frames.fabric import A, B, C, D, SM, BROADCAST_MGID, JOIN_MASK, LEAVE_MASK  # noqa: E402
from frames.fabric import QKEY, Tape, ud_frame  # noqa: E402
from frames.ib import FIRST, LAST, MIDDLE, ONLY, WRITE_ONLY, arp, encap, lladdr  # noqa: E402
from frames.messages import (
    GROUP,
    NOBODY,
    arp_reply,
    arp_request,
    big,
    broadcast_lladdr,
)  # noqa: E402
from frames.messages import broadcast_record, nd6, ping, solicited_node, udp4  # noqa: E402
from frames.write import write  # noqa: E402
from support import capfile  # noqa: E402


def udp_of(src, dst, n):
    return udp4(src, dst.ip, ib.fill(n), (5001, 5002))


def erf_pcap(tape):
    return tape.erf_pcap()


# ---- encapsulation header -------------------------------------------------------------------------


def encap_types():
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))  # 1 ARP, multicast with GRH
    t.ud(A, B, ping(A, B))  # 2 IPv4, unicast, no GRH
    t.ud(B, A, ping(B, A, reply=True), grh=True)  # 3 IPv4, unicast with GRH
    t.ud(A, BROADCAST_MGID, encap(0x8035, arp(3, A.addr, "0.0.0.0", A.addr, "0.0.0.0")))  # 4 RARP
    echo6 = ib.icmpv6(
        A.ll, B.ll, ib.u8(128) + ib.u8(0) + ib.u16(0) + ib.u16(7) + ib.u16(1) + ib.fill(8)
    )
    t.ud(A, B, encap(0x86DD, echo6))  # 5 IPv6
    lldp = bytes.fromhex(
        "0207 04 0002c9001895 0403 07 6230 0602 0078 0000"
    )  # chassis, port, lifetime, end
    t.ud(A, B, encap(0x88CC, lldp))  # 6 another Ethertype: LLDP
    t.ud(A, B, encap(0x88B5, ib.fill(5)))  # 7 one without a dissector, pad 3
    t.ud(A, B, encap(0x0800, ib.ping4(A.ip, B.ip), reserved=0x1234))  # 8 Reserved is not 0
    return erf_pcap(t)


def encap_lengths():
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))  # 1 makes A's QP known
    t.ud(B, A, arp_reply(B, A))  # 2 and B's
    for n in (8, 7, 6, 5):  # 3-6 pad 0, 1, 2, 3
        t.ud(A, B, udp_of(A, B, n))
    t.ud(A, B, b"")  # 7 no payload
    t.ud(A, B, b"\x08")  # 8 one octet
    t.ud(A, B, b"\x08\x06")  # 9 two: only the Type
    t.ud(A, B, b"\x08\x00\x00")  # 10 three
    t.ud(A, B, encap(0x0800))  # 11 header and nothing after it
    t.ud(A, B, encap(0xC0DE, ib.fill(24)))  # 12 first octet 0xC0
    t.ud(
        A, B, encap(0x0806, ib.arp(1, A.addr, A.ip, NOBODY, B.ip)[:30])
    )  # 13 an ARP that ends early
    return erf_pcap(t)


# ---- link types: the same three packets in each link type and file format ------------------------


def carried(form):
    """ARP request, ARP reply, ping; 'form' makes the link layer's bytes of (src, dst, encapsulated,
    psn)."""
    t = Tape()
    t.put(form(A, BROADCAST_MGID, arp_request(A, B.ip), 1))
    t.put(form(B, A, arp_reply(B, A), 1))
    t.put(form(A, B, ping(A, B), 2))
    return t.records


def native(src, dst, payload, psn):
    return ud_frame(src, dst, payload, psn).ib()


def carrier_erf_pcap():
    return capfile.pcap(197, capfile.erf_records(carried(native)))


def carrier_erf_pcap_be_ns():
    return capfile.pcap(197, capfile.erf_records(carried(native)), nanoseconds=True, endian=">")


def carrier_erf_pcapng():
    return capfile.pcapng(197, capfile.erf_records(carried(native)))


def carrier_erf():
    return capfile.erf(carried(native))


def carrier_247_pcapng():
    return capfile.pcapng(247, carried(native))


def carrier_247_pcap():
    return capfile.pcap(247, carried(native))


def carrier_247_pcap_be_ns():
    return capfile.pcap(247, carried(native), nanoseconds=True, endian=">")


def carrier_242():
    t = Tape()
    t.put(
        ib.ipoib242_dest(broadcast_lladdr(), arp_request(A, B.ip))
    )  # 1 destination form, broadcast
    t.put(ib.ipoib242_dest(A.addr, arp_reply(B, A)))  # 2 destination form, unicast
    t.put(
        ib.ipoib242_grh("2001:db8:0:1:2:c903:0:1895", B.gid, ping(A, B))
    )  # 3 GRH, SGID of another prefix
    t.put(ib.ipoib242_grh(A.gid, BROADCAST_MGID, arp_request(A, B.ip)))  # 4 GRH, broadcast
    return capfile.pcap(242, t.records)


def carrier_snoop():
    return capfile.snoop(carried(lambda src, dst, payload, psn: payload))


def cooked(make):
    """A capture of Linux on ib0 in cooked mode: the link-layer header (Type, Reserved) is
    dropped."""

    def form(src, dst, payload, psn):
        kind = 1 if isinstance(dst, str) else 0
        return make(int.from_bytes(payload[:2], "big"), src.addr, payload[4:], kind)

    return form


def carrier_sll():
    return capfile.pcap(113, carried(cooked(ib.sll)))


def carrier_sll2():
    return capfile.pcap(276, carried(cooked(ib.sll2)))


def carrier_roce1():
    def form(src, dst, payload, psn):
        return ud_frame(src, dst, payload, psn, grh=True).roce1()

    return capfile.pcap(1, carried(form))


def carrier_roce2():
    def form(src, dst, payload, psn):
        return ud_frame(src, dst, payload, psn).roce2(src.ip.replace("10.0.", "10.1."), "10.1.0.9")

    return capfile.pcap(1, carried(form))


# ---- sliced captures ------------------------------------------------------------------------------


def sliced():
    """Octets with a GRH: LRH 0-7, GRH 8-47, BTH 48-59, DETH 60-67, header 68-71, ARP 72-127 (56
    octets: fixed part 72-79, sender 80-99, its IP 100-103, target 104-123, its IP 124-127).
    Without: LRH 0-7, BTH 8-19, DETH 20-27, header 28-31, IPv4 32-51, ICMP from 52."""
    req = ud_frame(A, BROADCAST_MGID, arp_request(A, B.ip), 1).ib()
    echo = ud_frame(A, B, ping(A, B), 2).ib()
    t = Tape()
    for cut in (
        4,  # 1 in the LRH
        30,  # 2 in the GRH
        54,  # 3 in the BTH
        64,  # 4 in the DETH
        70,  # 5 after Type
        76,  # 6 in ARP's fixed part
        90,  # 7 in the sender's link-layer address
        104,  # 8 after the sender
        110,
    ):  # 9 in the target's link-layer address
        t.put(req, cut)
    for cut in (
        30,  # 10 after Type
        42,  # 11 in the IPv4 header
        60,  # 12 after the ICMP header
        100,
    ):  # 13 in the data
        t.put(echo, cut)
    t.put(req)  # 14 whole
    return erf_pcap_sliced(t)


def erf_pcap_sliced(tape):
    return capfile.pcap(197, capfile.erf_records(tape.records), snaplen=144)


def sliced_247():
    """The same truncations, LINKTYPE 247 in pcapng."""
    req = ud_frame(A, BROADCAST_MGID, arp_request(A, B.ip), 1).ib()
    t = Tape()
    for cut in (70, 90, 104):
        t.put(req, cut)
    return capfile.pcapng(247, t.records, snaplen=104)


# ---- ARP and RARP ---------------------------------------------------------------------------------


def arp_forms():
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))  # 1 request
    t.ud(B, A, arp_reply(B, A))  # 2 reply
    t.ud(C, BROADCAST_MGID, arp_request(C, C.ip))  # 3 gratuitous
    t.ud(D, BROADCAST_MGID, encap(0x0806, arp(1, D.addr, "0.0.0.0", NOBODY, D.ip)))  # 4 probe
    t.ud(
        D, BROADCAST_MGID, encap(0x8035, arp(3, D.addr, "0.0.0.0", D.addr, "0.0.0.0"))
    )  # 5 RARP request
    t.ud(A, D, encap(0x8035, arp(4, A.addr, A.ip, D.addr, D.ip)))  # 6 RARP reply
    for flags in (0x80, 0x40, 0xC0, 0x3F):  # 7-10 flag octet
        t.ud(A, BROADCAST_MGID, arp_request(A, D.ip, sha=lladdr(A.qpn, A.gid, flags)))
    # 11 group as target
    t.ud(A, BROADCAST_MGID, encap(0x0806, arp(1, A.addr, A.ip, broadcast_lladdr(), B.ip)))
    return erf_pcap(t)


def arp_duplicate():
    t = Tape()
    t.ud(B, A, arp_reply(B, A))  # 1 B has 10.0.0.2
    # 2 the same B, now with RC
    t.ud(B, A, encap(0x0806, arp(2, lladdr(B.qpn, B.gid, 0x80), B.ip, A.addr, A.ip)))
    t.ud(D, A, encap(0x0806, arp(2, D.addr, B.ip, A.addr, A.ip)))  # 3 D claims it as well
    return erf_pcap(t)


def arp_faults():
    t = Tape()
    six = bytes.fromhex("0002c9001895")
    t.ud(
        A, BROADCAST_MGID, encap(0x0806, arp(1, six, A.ip, bytes(6), B.ip))
    )  # 1 type 32, hardware length 6
    t.ud(
        A, BROADCAST_MGID, encap(0x0806, arp(1, six, A.ip, bytes(6), B.ip, hrd=1))
    )  # 2 type 1 (Ethernet)
    # 3 a load balancer's announcement: addresses shortened, so the hardware type is 0x052f
    t.ud(
        A,
        BROADCAST_MGID,
        encap(0x0806, bytes.fromhex("052ffe80000000000000f452140300") + bytes(41)),
    )
    # 4 length beyond the packet
    t.ud(A, BROADCAST_MGID, encap(0x0806, arp(1, A.addr, A.ip, NOBODY, B.ip, hln=21)))
    # 5 protocol is not IPv4
    t.ud(A, BROADCAST_MGID, encap(0x0806, arp(1, A.addr, A.ip, NOBODY, B.ip, pro=0x86DD)))
    # 6 ends in the target address
    t.ud(A, BROADCAST_MGID, encap(0x0806, arp(1, A.addr, A.ip, NOBODY, B.ip)[:44]))
    return erf_pcap(t)


# ---- Neighbour Discovery --------------------------------------------------------------------------


def nd_messages():
    t = Tape()
    sn = solicited_node(C.ll)
    ns = ib.nd_ns(C.ll, ib.nd_lladdr_option(1, A.addr))
    t.ud(A, ib.mgid_ipv6(sn), nd6(A.ll, sn, ns), mlid=0xC003)  # 1 NS
    t.ud(
        C, A, nd6(C.ll, A.ll, ib.nd_na(C.ll, ib.nd_lladdr_option(2, lladdr(C.qpn, C.gid, 0x80))))
    )  # 2 NA
    rs = ib.nd_rs(ib.nd_lladdr_option(1, A.addr))
    t.ud(A, ib.mgid_ipv6("ff02::2"), nd6(A.ll, "ff02::2", rs), mlid=0xC004)  # 3 RS
    ra = ib.nd_ra(ib.nd_lladdr_option(1, B.addr))
    t.ud(B, ib.mgid_ipv6("ff02::1"), nd6(B.ll, "ff02::1", ra), mlid=0xC005)  # 4 RA
    body = ib.nd_redirect(D.ll, "2001:db8::4", ib.nd_lladdr_option(2, D.addr))
    t.ud(B, A, nd6(B.ll, A.ll, body))  # 5 Redirect, target option
    both = ib.nd_lladdr_option(1, B.addr) + ib.nd_lladdr_option(2, D.addr)
    body = ib.nd_redirect(D.ll, "2001:db8::4", both)
    t.ud(B, A, nd6(B.ll, A.ll, body))  # 6 Redirect, both options
    t.ud(
        A, B, nd6(A.ll, B.ll, ib.nd_ns(B.ll, ib.nd_lladdr_option(1, A.addr)))
    )  # 7 unicast NS (reachability)
    t.ud(B, A, nd6(B.ll, A.ll, ib.nd_na(B.ll, flags=0x40000000)))  # 8 NA without an option
    return erf_pcap(t)


def nd_faults():
    t = Tape()
    sn = solicited_node(C.ll)
    mgid = ib.mgid_ipv6(sn)
    opt = ib.nd_lladdr_option(1, A.addr, pad=b"\xaa\x55")
    t.ud(A, mgid, nd6(A.ll, sn, ib.nd_ns(C.ll, opt)), mlid=0xC003)  # 1 pad octets not 0
    short = ib.u8(1) + ib.u8(1) + A.addr[:6]
    # 2 length 1: 6 of 20
    t.ud(A, ib.mgid_ipv6("ff02::2"), nd6(A.ll, "ff02::2", ib.nd_rs(short)), mlid=0xC004)
    # 3 runs beyond
    t.ud(A, mgid, nd6(A.ll, sn, ib.nd_ns(C.ll, ib.nd_lladdr_option(1, A.addr)[:16])), mlid=0xC003)
    zero = ib.u8(1) + ib.u8(0) + bytes(6)
    t.ud(A, mgid, nd6(A.ll, sn, ib.nd_ns(C.ll, zero)), mlid=0xC003)  # 4 length 0
    four = ib.nd_lladdr_option(1, A.addr, length=4) + bytes(8)
    t.ud(A, mgid, nd6(A.ll, sn, ib.nd_ns(C.ll, four)), mlid=0xC003)  # 5 length 4: 8 octets too many
    eth = ib.u8(2) + ib.u8(1) + bytes.fromhex("0200000000aa")
    t.ud(C, A, nd6(C.ll, A.ll, ib.nd_na(C.ll, eth)))  # 6 NA with an Ethernet-like option
    return erf_pcap(t)


# ---- MGIDs ----------------------------------------------------------------------------------------


def mgids():
    t = Tape()
    datagram = ib.udp(A.ip, "10.0.0.255", 5001, 5002, ib.fill(12))
    bcast = encap(0x0800, ib.ipv4(A.ip, "10.0.0.255", 17, datagram))
    igmp = encap(
        0x0800, ib.ipv4(A.ip, "224.0.0.22", 17, ib.udp(A.ip, "224.0.0.22", 9, 9, b"1234"), ttl=1)
    )
    six = nd6(A.ll, "ff02::1:ff66:de52", ib.nd_ns(C.ll, ib.nd_lladdr_option(1, A.addr)))
    t.ud(A, BROADCAST_MGID, bcast)  # 1 broadcast-GID
    t.ud(A, "ff12:601b:ffff::1:ff66:de52", six, mlid=0xC003)  # 2 IPv6 solicited node
    t.ud(A, "ff12:401b:8001::16", igmp, mlid=0xC004, pkey=0x8001)  # 3 another partition
    t.ud(A, "ff15:401b:ffff::16", igmp, mlid=0xC005)  # 4 scope 5, site-local
    t.ud(A, "ff1e:401b:ffff::16", igmp, mlid=0xC006)  # 5 scope 14, global
    t.ud(A, "ff02:401b:ffff::16", igmp, mlid=0xC007)  # 6 T = 0
    t.ud(A, "ff12:401c:ffff::16", igmp, mlid=0xC008)  # 7 unknown signature
    t.ud(A, "ff12:401b:8::2", igmp, mlid=0xC009, pkey=0x8008)  # 8 a draft's P_Key
    t.ud(A, ib.mgid_ipv4("239.255.1.2"), igmp, mlid=0xC00A)  # 9 the upper 4 bits are dropped
    t.ud(A, "ff32:401b:ffff::16", igmp, mlid=0xC00B)  # 10 flags 3
    # 11 IPv6 group of scope 5
    t.ud(A, ib.mgid_ipv6("ff05::1:3"), nd6(A.ll, "ff05::1:3", ib.nd_rs()), mlid=0xC00C)
    return erf_pcap(t)


# ---- communication management ---------------------------------------------------------------------


def cm_handshake():
    t = Tape()
    c = Connection(t)
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, 65524))  # 1 REQ
    c.mra(ib.private_data(B.qpn, 2048))  # 2 MRA
    c.rep(ib.private_data(B.qpn, 2048))  # 3 REP
    c.rtu(ib.private_data(A.qpn, 65524))  # 4 RTU
    c.send(True, ping(A, B))  # 5 data, PSN 0xfffffe
    c.send(False, ping(B, A, reply=True))  # 6 data the other way
    c.mad(
        True,
        ib.cm_lap(
            0x2222,
            c.ids[0],
            c.ids[1],
            c.qps[1],
            A.lid,
            B.lid,
            A.gid,
            B.gid,
            ib.private_data(A.qpn, 65524),
        ),
    )  # 7 LAP
    c.mad(False, ib.cm_apr(0x2222, c.ids[1], c.ids[0], 2))  # 8 APR, status 2
    c.dreq(ib.private_data(A.qpn, 65524))  # 9 DREQ
    c.drep(ib.private_data(B.qpn, 2048))  # 10 DREP
    return erf_pcap(t)


def cm_linux():
    t = Tape()
    c = Connection(t, ids=(0x00000007, 0x00000009), tid=0x500000001)
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 65524))  # 1 REQ
    c.rep(ib.private_data(B.qpn, 65524))  # 2 REP
    c.rtu()  # 3 RTU, nothing in its private data
    c.send(True, ping(A, B))  # 4
    c.dreq()  # 5
    c.drep()  # 6
    d = Connection(t, ids=(0x00000008, 0x0000000A), qps=(0x000103, 0x000204), tid=0x500000003)
    d.req(
        ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 65524, reserved=0x5A)
    )  # 7 Reserved is not 0
    d.rep(ib.private_data(B.qpn, 4096, reserved=0xFF))  # 8
    d.rtu()  # 9
    return erf_pcap(t)


def cm_reject():
    t = Tape()
    c = Connection(t, ids=(0xA0000011, 0), tid=0x3001)
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, 65524))  # 1
    c.rej(8, ib.private_data(B.qpn, 0))  # 2 REJ: invalid Service-ID
    c = Connection(t, ids=(0xA0000012, 0), tid=0x3002)
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 65524))  # 3
    c = Connection(t, ids=(0xA0000013, 0), tid=0x3003)
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 2048))  # 4
    c.ids = (0xA0000012, 0)
    c.rej(10, ib.private_data(B.qpn, 2048), tid=0x9999)  # 5 stale; the ID is 3's, the TID another
    c.ids = (0xA0000013, 0)
    c.rej(28, ib.private_data(B.qpn, 2048), ari=b"\x01\x02\x03")  # 6 consumer reject: responds to 4
    c = Connection(t, ids=(0xA0000014, 0), tid=0x3004)
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 65524))  # 7
    c.rej(8)  # 8 as Linux sends it: no private data
    return erf_pcap(t)


def cm_crossing():
    """RFC 4755 §3.3: A's address is the smaller (QPN 0x48 < 0x405), so A accepts and B rejects."""
    t = Tape()
    ab = Connection(t, A, B, ids=(1, 2), qps=(0x000101, 0x000202), tid=0x77)
    ba = Connection(t, B, A, ids=(1, 2), qps=(0x000203, 0x000104), tid=0x77)  # same IDs, same TID
    ab.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, 65524))  # 1 REQ of A
    ba.req(ib.service_id_rfc(A.qpn), ib.private_data(B.qpn, 32768))  # 2 REQ of B
    ab.rej(28, ib.private_data(B.qpn, 32768))  # 3 B rejects A's
    ba.rep(ib.private_data(A.qpn, 65524))  # 4 A accepts B's
    ba.rtu(ib.private_data(B.qpn, 32768))  # 5
    ba.send(True, ping(B, A))  # 6 B to A, QP 0x000104
    ba.send(False, ping(A, B, reply=True))  # 7 A to B, QP 0x000203
    return erf_pcap(t)


SDP_SID = 0x0000000000010000 + 3389  # SDP: 0x10000 + TCP port (IBA annex A4.6)
RDMA_IP_SID = 0x0000000001061234  # RDMA IP CM: prefix, protocol 6, port 0x1234 (IBA annex A11)
SRP_SID = 0x0002C90300001896  # SRP: a target's own 64 bits, in practice its GUID


def rdma_ip_private():
    """Private data of an RDMA IP CM REQ (IBA annex A11): version, IP version 4, port, addresses."""
    addresses = bytes(12) + ib.ip4(A.ip) + bytes(12) + ib.ip4(B.ip)
    return b"\0" + b"\x40" + ib.u16(0xC001) + addresses + b"consumer"


def cm_reuse():
    t = Tape()
    c = Connection(t)
    c.set_up()  # 1-3 IPoIB
    c.send(True, ping(A, B))  # 4 is IPoIB
    c.dreq()  # 5
    c.drep()  # 6
    # the same IDs and QPs; the PSNs of each connection start anywhere (IBA 12.7.31)
    c = Connection(t, tid=0x1115, psns=(0x20, 0x30))
    c.set_up(SDP_SID, b"", b"")  # 7-9 SDP
    c.send(True, ping(A, B))  # 10 looks like IPoIB, is SDP's
    c.dreq()  # 11
    c.drep()  # 12
    c = Connection(t, tid=0x1119, psns=(0x40, 0x50))
    c.set_up(b_pd=ib.private_data(B.qpn, 9000))  # 13-15 IPoIB again, MTU 8996
    c.send(True, ping(A, B))  # 16 is IPoIB
    return erf_pcap(t)


def cm_uc():
    t = Tape()
    c = Connection(t, transport=1)
    c.set_up(ib.service_id_rfc(B.qpn))  # 1-3 UC
    c.send(True, ping(A, B))  # 4 UC SEND Only
    c.send(True, big(A, B, 3000))  # 5, 6 First, Last
    c.send(True, big(A, B, 6000), skip=(1,))  # 7, 8 First, Last; Middle lost
    return erf_pcap(t)


def cm_sidr():
    t = Tape()
    service = ib.service_id_rfc(B.qpn)
    req = ib.cm_sidr_req(0x61, 0x1001, service, pdata=ib.private_data(A.qpn, 2048))
    t.mad(A, B, req)  # 1
    rep = ib.cm_sidr_rep(0x61, 0x1001, service, B.qpn, QKEY, pdata=ib.private_data(B.qpn, 2048))
    t.mad(B, A, rep)  # 2
    t.mad(A, B, ib.cm_sidr_req(0x62, 0x1002, RDMA_IP_SID))  # 3 another protocol
    t.mad(B, A, ib.cm_sidr_rep(0x62, 0x1002, RDMA_IP_SID, 0, 0, status=1))  # 4 not supported
    return erf_pcap(t)


# ---- connected mode: data -------------------------------------------------------------------------


def rc_messages():
    """Messages of 2048-octet packets: IP length + 4 octets of header over 2048 each."""
    t = Tape()
    c = Connection(t)
    c.set_up()  # 1-3
    c.send(True, big(A, B, 5000))  # 4-6 PSN 0xfffffe, 0xffffff, 0: 2048, 2048, 908
    c.send(True, ping(A, B))  # 7 Only, PSN 1
    c.send(False, big(B, A, 4001))  # 8, 9 the other way: 2048, 1957 + 3 pad
    c.send(True, big(A, B, 6100), twice=(1,))  # 10-13 First 2, Middle 3, Middle 3 again, Last 4
    c.send(True, big(A, B, 8100), skip=(1,))  # 14-16 First 5, (6 lost), Middle 7, Last 8
    c.send(True, ping(A, B, seq=2))  # 17 Only, PSN 9: goes on after the loss
    c.send(True, big(A, B, 8000), skip=(3,))  # 18-20 First 10, Middle 11, 12, (13 lost)
    c.send(True, big(A, B, 3001))  # 21, 22 a new First 14 and its Last, 957 + 3 pad
    c.send(True, big(A, B, 4100), skip=(0,))  # 23, 24 (First 16 lost), Middle 17, Last 18
    c.send(True, big(A, B, 2044))  # 25 Only of exactly 2048, PSN 19
    return erf_pcap(t)


def rc_interleaved():
    """Two connections between the same ports, their packets mixed; and both directions of one."""
    t = Tape()
    c = Connection(t, psns=(100, 500))
    d = Connection(
        t, ids=(0xA0000002, 0xB0000002), qps=(0x000103, 0x000204), tid=0x2222, psns=(100, 500)
    )
    c.set_up()  # 1-3
    d.set_up()  # 4-6
    one, two, back = big(A, B, 5000, 1), big(A, B, 4500, 2), big(B, A, 6000, 3)
    for n, op in enumerate(
        (FIRST, MIDDLE, LAST)
    ):  # 7-15: c, d, c's other direction, in turn; same PSNs
        c.packet(True, op, one[n * 2048 : (n + 1) * 2048], 100 + n)
        d.packet(True, op, two[n * 2048 : (n + 1) * 2048], 100 + n)
        c.packet(False, op, back[n * 2048 : (n + 1) * 2048], 100 + n)
    return erf_pcap(t)


def rc_burst():
    """A burst of losses over two messages, before the capture; all packets are retransmitted
    (go-back-N)."""
    t = Tape()
    c = Connection(t, psns=(0, 500))
    c.set_up()  # 1-3
    one, two = big(A, B, 5000, 1), big(A, B, 3000, 2)
    packets = [
        (FIRST, one[:2048]),
        (MIDDLE, one[2048:4096]),
        (LAST, one[4096:]),
        (FIRST, two[:2048]),
        (LAST, two[2048:]),
    ]
    for psn in (0, 4, 1, 2, 3, 4):  # 4-9: the first 4 belongs to no known message
        c.packet(True, *packets[psn], psn)
    return erf_pcap(t)


def rc_largest():
    """The largest message of Linux: 65524 octets at path MTU 4096, 16 packets."""
    t = Tape()
    c = Connection(t)
    c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 65524), mtu=5)  # 1 path MTU 4096
    c.rep(ib.private_data(B.qpn, 65524))  # 2
    c.rtu()  # 3
    c.send(True, big(A, B, 65520), mtu=4096)  # 4-19
    return erf_pcap(t)


# ---- traffic that is never IPoIB -----------------------------------------------------------------


def never():
    t = Tape()
    lure = ping(A, B)  # 0800 0000 45...
    x = Connection(t, qps=(0x000301, 0x000302))
    write = ib.reth(0x7F0000001000, 0x1234, len(lure))
    x.packet(True, WRITE_ONLY, lure, 1, ext=write)  # 1 RDMA WRITE Only to an unknown QP
    c = Connection(t, ids=(0xA1, 0xB1), qps=(0x000401, 0x000402), tid=0x4001)
    c.set_up(RDMA_IP_SID, rdma_ip_private(), b"")  # 2-4
    c.send(True, lure)  # 5 SEND of an RDMA IP CM connection
    c.send(False, lure)  # 6
    c = Connection(t, ids=(0xA2, 0xB2), qps=(0x000501, 0x000502), tid=0x4002)
    c.set_up(SDP_SID, b"", b"")  # 7-9
    c.send(True, lure)  # 10 SDP
    c = Connection(t, ids=(0xA3, 0xB3), qps=(0x000601, 0x000602), tid=0x4003)
    c.set_up(SRP_SID, b"", b"")  # 11-13
    c.send(True, lure)  # 14 SRP
    c = Connection(t, ids=(0xA4, 0xB4), qps=(0x000701, 0x000702), tid=0x4004)
    c.set_up()  # 15-17 IPoIB
    c.packet(True, WRITE_ONLY, lure, 0x20, ext=write)  # 18 RDMA WRITE Only on it
    c.packet(True, MIDDLE, lure, 0x30)  # 19 a Middle without a First
    c.packet(True, LAST, lure, 0x40)  # 20 a Last without a First
    c.packet(False, ib.READ_RESP_ONLY, lure, 0x50, ext=ib.aeth(0, 1))  # 21 RDMA READ response
    c.packet(False, ib.ACK, b"", 0x60, ext=ib.aeth(0, 2))  # 22 acknowledge
    c.packet(True, ONLY, lure, 0x70)  # 23 and a real one
    return erf_pcap(t)


# ---- subnet administration ------------------------------------------------------------------------

SNM_MGID = "ff12:601b:ffff::1:ff66:de52"
CREATE_MASK = 0x173F7  # the mask that Linux sets when it may have to create the group


def sa_transactions():
    t = Tape()
    mcm, get, rset, resp = ib.ATTR_MC_MEMBER, ib.GET, ib.SET, ib.GET_RESP
    # 1 join
    t.sa(
        A,
        SM,
        rset,
        0x101,
        mcm,
        ib.mcmember(BROADCAST_MGID, A.gid, pkey=0xFFFF, join=1),
        JOIN_MASK,
    )
    t.sa(SM, A, resp, 0x101, mcm, broadcast_record(), JOIN_MASK, attr_offset=7)  # 2
    create = ib.mcmember(
        SNM_MGID, A.gid, qkey=QKEY, mtu_sel=2, mtu=5, pkey=0xFFFF, rate_sel=2, rate=3, join=8
    )
    t.sa(A, SM, rset, 0x102, mcm, create, CREATE_MASK)  # 3 send-only join that creates
    t.sa(SM, A, resp, 0x102, mcm, create, CREATE_MASK, status=0x0200)  # 4 refused: invalid
    t.sa(A, SM, rset, 0x103, mcm, ib.mcmember(SNM_MGID, A.gid, pkey=0xFFFF, join=1), JOIN_MASK)  # 5
    t.sa(
        SM,
        A,
        resp,
        0x103,
        mcm,
        ib.mcmember(SNM_MGID, A.gid, pkey=0xFFFF, join=1),
        JOIN_MASK,
        status=0x0600,
    )  # 6 too few components
    t.sa(
        A, SM, ib.DELETE, 0x104, mcm, ib.mcmember(BROADCAST_MGID, A.gid, join=1), LEAVE_MASK
    )  # 7 leave
    t.sa(
        SM, A, ib.DELETE_RESP, 0x104, mcm, broadcast_record(join=0), LEAVE_MASK, attr_offset=7
    )  # 8
    t.sa(
        A,
        SM,
        get,
        0x105,
        ib.ATTR_PATH_RECORD,
        ib.path_record(B.gid, A.gid, pkey=0xFFFF, reversible=1, numb=1),
        0x380C,
    )  # 9 DGID, SGID, Reversible, NumbPath, P_Key
    t.sa(
        SM,
        A,
        resp,
        0x105,
        ib.ATTR_PATH_RECORD,
        ib.path_record(
            B.gid,
            A.gid,
            dlid=B.lid,
            slid=A.lid,
            reversible=1,
            mtu_sel=2,
            mtu=4,
            rate_sel=2,
            rate=3,
            life_sel=2,
            life=18,
        ),
        0x380C,
        attr_offset=8,
    )  # 10
    t.sa(A, SM, get, 0x106, mcm, ib.mcmember(ib.mgid_ipv4("224.0.0.2")), ib.MCM["mgid"])  # 11 query
    t.sa(SM, A, resp, 0x106, mcm, b"", ib.MCM["mgid"], status=0x0300)  # 12 no records
    service = ib.service_record(ib.service_id_rfc(A.qpn), A.gid, name=b"IPoIB")
    t.sa(A, SM, rset, 0x107, ib.ATTR_SERVICE_RECORD, service, 0x47)  # 13 ServiceRecord
    t.sa(SM, A, resp, 0x107, ib.ATTR_SERVICE_RECORD, service, 0x47, attr_offset=22)  # 14
    for tid, trap in ((0x108, 66), (0x109, 67)):  # 15-18 subscriptions
        inform = ib.inform_info(ib.mgid_ipv4("224.0.0.22"), trap)
        t.sa(A, SM, rset, tid, ib.ATTR_INFORM_INFO, inform)
        t.sa(SM, A, resp, tid, ib.ATTR_INFORM_INFO, inform)
    for tid, trap in ((0x201, 66), (0x202, 67)):  # 19-22 notices
        note = ib.notice(trap, ib.mgid_ipv4("224.0.0.22"), SM.lid, SM.gid)
        t.sa(SM, A, ib.REPORT, tid, ib.ATTR_NOTICE, note)
        t.sa(A, SM, ib.REPORT_RESP, tid, ib.ATTR_NOTICE, note)
    t.sa(A, SM, get, 0x10A, ib.ATTR_CLASS_PORT_INFO)  # 23
    t.sa(SM, A, resp, 0x10A, ib.ATTR_CLASS_PORT_INFO, ib.class_port_info(capmask=0x2602))  # 24
    nm = ib.mcmember(ib.mgid_ipv4("224.0.0.2"), A.gid, pkey=0xFFFF, join=2)
    t.sa(A, SM, rset, 0x10B, mcm, nm, JOIN_MASK)  # 25 NonMember (a router's), no response
    return erf_pcap(t)


def table_records(n):
    groups = [("ff12:401b:ffff::10%x" % i, 0xC010 + i) for i in range(n)]
    return [ib.mcmember(mgid, mlid=mlid, **GROUP) for mgid, mlid in groups]


def sa_table():
    t = Tape()
    mask = ib.MCM["pkey"]

    def ask(tid):
        t.sa(A, SM, ib.GET_TABLE, tid, ib.ATTR_MC_MEMBER, ib.mcmember("::", pkey=0xFFFF), mask)

    def put(segment):
        t.mad(SM, A, segment)

    def ack(tid, segment):
        t.sa(
            A,
            SM,
            ib.GET_TABLE_RESP,
            tid,
            ib.ATTR_MC_MEMBER,
            rmpp=ib.rmpp_header(ib.RMPP_ACK, ib.RMPP_ACTIVE, segment, segment + 64),
        )

    ask(0x301)  # 1
    one, two, three = ib.rmpp_table(0x301, ib.ATTR_MC_MEMBER, table_records(10), 56)
    put(one)  # 2 octets 0-199: records 0-2, 3 begins
    ack(0x301, 1)  # 3
    put(two)  # 4 200-399
    put(three)  # 5 400-559
    ack(0x301, 3)  # 6
    ask(0x302)  # 7
    one, two, three = ib.rmpp_table(0x302, ib.ATTR_MC_MEMBER, table_records(9), 64)
    put(one)  # 8 AttributeOffset 8: 12 octets between
    put(two)  # 9
    put(two)  # 10 the same segment again
    put(three)  # 11
    ack(0x302, 3)  # 12
    ask(0x303)  # 13
    for segment in ib.rmpp_table(0x303, ib.ATTR_MC_MEMBER, table_records(2), 56):
        put(segment)  # 14 both in one segment
    ask(0x304)  # 15
    one, two, three = ib.rmpp_table(0x304, ib.ATTR_MC_MEMBER, table_records(10), 56)
    put(one)  # 16
    put(three)  # 17 the second segment is lost
    ask(0x305)  # 18
    for segment in ib.rmpp_table(0x305, ib.ATTR_MC_MEMBER, [], 56):
        put(segment)  # 19 an empty table
    return erf_pcap(t)


FIXTURES = {
    "built-encap.pcap": encap_types,
    "built-lengths.pcap": encap_lengths,
    "built-carrier-erf.pcap": carrier_erf_pcap,
    "built-carrier-erf-be-ns.pcap": carrier_erf_pcap_be_ns,
    "built-carrier-erf.pcapng": carrier_erf_pcapng,
    "built-carrier.erf": carrier_erf,
    "built-carrier-247.pcapng": carrier_247_pcapng,
    "built-carrier-247.pcap": carrier_247_pcap,
    "built-carrier-247-be-ns.pcap": carrier_247_pcap_be_ns,
    "built-carrier-242.pcap": carrier_242,
    "built-carrier.snoop": carrier_snoop,
    "built-carrier-sll.pcap": carrier_sll,
    "built-carrier-sll2.pcap": carrier_sll2,
    "built-carrier-roce1.pcap": carrier_roce1,
    "built-carrier-roce2.pcap": carrier_roce2,
    "built-sliced.pcap": sliced,
    "built-sliced-247.pcapng": sliced_247,
    "built-arp.pcap": arp_forms,
    "built-arp-duplicate.pcap": arp_duplicate,
    "built-arp-faults.pcap": arp_faults,
    "built-nd.pcap": nd_messages,
    "built-nd-faults.pcap": nd_faults,
    "built-mgid.pcap": mgids,
    "built-cm.pcap": cm_handshake,
    "built-cm-linux.pcap": cm_linux,
    "built-cm-reject.pcap": cm_reject,
    "built-cm-crossing.pcap": cm_crossing,
    "built-cm-reuse.pcap": cm_reuse,
    "built-cm-uc.pcap": cm_uc,
    "built-cm-sidr.pcap": cm_sidr,
    "built-rc.pcap": rc_messages,
    "built-rc-interleaved.pcap": rc_interleaved,
    "built-rc-burst.pcap": rc_burst,
    "built-rc-largest.pcap": rc_largest,
    "built-never.pcap": never,
    "built-sa.pcap": sa_transactions,
    "built-sa-table.pcap": sa_table,
}


if __name__ == "__main__":
    sys.exit(write(sys.argv, __doc__, FIXTURES))

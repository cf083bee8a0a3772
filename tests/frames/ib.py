# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds InfiniBand frames, octet by octet, for the fixtures in testdata/built.

Independent of the C code on purpose: every layout here was taken from the document named in the
docstring, so that the decoder and its tests do not share a mistake.  Standard library only.
All integers are unsigned; everything on the wire is most significant octet first unless said so.
IBA is the InfiniBand Architecture Specification, volume 1.
"""
import functools
import ipaddress
import struct
import zlib

from support import capfile

# ---- small helpers --------------------------------------------------------------------------------


def u8(v):
    return struct.pack(">B", v)


def u16(v):
    return struct.pack(">H", v)


def u24(v):
    return struct.pack(">I", v)[1:]


def u32(v):
    return struct.pack(">I", v)


def u64(v):
    return struct.pack(">Q", v)


@functools.lru_cache(maxsize=10_000)
def gid(text):
    """16 octets of a GID or MGID written as an IPv6 address (IBA 4.1.1)."""
    return ipaddress.IPv6Address(text).packed


@functools.lru_cache(maxsize=10_000)
def ip4(text):
    return ipaddress.IPv4Address(text).packed


ip6 = gid


def fill(n, start=0):
    """n octets that count upwards: a lost or moved octet is visible."""
    return bytes((start + i) & 0xFF for i in range(n))


# ---- CRCs -----------------------------------------------------------------------------------------


def _crc16_of_octet(crc):
    for _ in range(8):
        crc = (crc >> 1) ^ (0xD008 if crc & 1 else 0)  # 0xd008 is 0x100b, bits reversed
    return crc


_CRC16 = [_crc16_of_octet(octet) for octet in range(256)]


def crc16_100b(data):
    """VCRC (IBA 7.8.2): polynomial 0x100B, preset to ones, complemented, bits in reversed order."""
    return _vcrc_of(bytes(data))


@functools.lru_cache(maxsize=10_000)
def _vcrc_of(data):
    """Most frames of a test are those of the test before: a capture begins with the same ones."""
    crc = 0xFFFF
    for octet in data:
        crc = crc >> 8 ^ _CRC16[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFF


def icrc(lrh_octets, grh_octets, rest):
    """ICRC (IBA 7.8.1): Ethernet CRC-32; fields that may change on the way count as ones.

    With a GRH: the whole LRH, and TClass, FlowLabel and HopLimit of the GRH; without: LRH.VL.
    Always: BTH.Resv8a, the fifth octet of the BTH. 'rest' runs from the BTH to the last pad octet.
    """
    lrh_m, grh_m, rest_m = bytearray(lrh_octets), bytearray(grh_octets), bytearray(rest)
    if grh_m:
        lrh_m[:] = b"\xff" * 8
        grh_m[0] |= 0x0F
        grh_m[1:4] = b"\xff" * 3
        grh_m[7] = 0xFF
    else:
        lrh_m[0] |= 0xF0
    return icrc_of(lrh_m + grh_m, rest_m)


def icrc_of(before, rest):
    """The ICRC if the bytes before the BTH are masked already."""
    rest_m = bytearray(rest)
    rest_m[4] = 0xFF
    return struct.pack("<I", zlib.crc32(bytes(before) + bytes(rest_m)) & 0xFFFFFFFF)


# ---- IBA headers ----------------------------------------------------------------------------------

LNH_RAW, LNH_IPV6, LNH_BTH, LNH_GRH = 0, 1, 2, 3  # IBA 7.7.5


def lrh(lnh, dlid, slid, words, sl=0, vl=0, lver=0):
    """Local Route Header, 8 octets (IBA 7.7).  'words': LRH to ICRC, in units of 4 octets."""
    return u8(vl << 4 | lver) + u8(sl << 4 | lnh) + u16(dlid) + u16(words) + u16(slid)


def grh(sgid, dgid, paylen, tclass=0, flow=0, hop=0, nxthdr=0x1B):
    """Global Route Header, 40 octets (IBA 8.3).  'paylen': octets from after the GRH to the
    ICRC."""
    return (
        u32(6 << 28 | tclass << 20 | flow)
        + u16(paylen)
        + u8(nxthdr)
        + u8(hop)
        + gid(sgid)
        + gid(dgid)
    )


def bth(opcode, pkey, destqp, psn, pad=0, se=0, mig=0, ackreq=0, tver=0):
    """Base Transport Header, 12 octets (IBA 9.2)."""
    return (
        u8(opcode)
        + u8(se << 7 | mig << 6 | pad << 4 | tver)
        + u16(pkey)
        + u8(0)
        + u24(destqp)
        + u32(ackreq << 31 | psn)
    )


def deth(qkey, srcqp):
    """Datagram Extended Transport Header, 8 octets (IBA 9.3.2)."""
    return u32(qkey) + u8(0) + u24(srcqp)


def aeth(syndrome, msn):
    """Acknowledge Extended Transport Header, 4 octets (IBA 9.3.5)."""
    return u8(syndrome) + u24(msn)


def reth(va, rkey, length):
    """RDMA Extended Transport Header, 16 octets (IBA 9.3.3)."""
    return u64(va) + u32(rkey) + u32(length)


# Opcodes (IBA 9.2.1): transport in the upper three bits, operation in the lower five
RC, UC, UD = 0x00, 0x20, 0x60
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = 0x00, 0x01, 0x02, 0x03, 0x04, 0x05
WRITE_FIRST, WRITE_ONLY, READ_RESP_ONLY, ACK = 0x06, 0x0A, 0x10, 0x11


class Frame:
    """One IB packet from its parts.  'pad' None: as many pad octets as make a multiple of four.

    ib() gives LRH to VCRC (ERF type 21, LINKTYPE_INFINIBAND); transport() BTH to pad (for RoCE).
    """

    def __init__(
        self,
        opcode,
        payload=b"",
        *,
        dlid=0,
        slid=0,
        dgid=None,
        sgid=None,
        pkey=0xFFFF,
        destqp=0,
        psn=0,
        qkey=None,
        srcqp=0,
        ext=b"",
        pad=None,
        sl=0,
        vl=0,
        hop=0,
        tclass=0,
        flow=0,
        se=0,
        ackreq=0,
    ):
        self.pad = -len(payload) % 4 if pad is None else pad
        dth = deth(qkey, srcqp) if qkey is not None else b""
        self.body = (
            bth(opcode, pkey, destqp, psn, pad=self.pad & 3, se=se, ackreq=ackreq)
            + dth
            + ext
            + payload
            + b"\0" * self.pad
        )
        self.dlid, self.slid, self.dgid, self.sgid = dlid, slid, dgid, sgid
        self.sl, self.vl, self.hop, self.tclass, self.flow = sl, vl, hop, tclass, flow

    def grh(self):
        if self.dgid is None:
            return b""
        return grh(self.sgid, self.dgid, len(self.body) + 4, self.tclass, self.flow, self.hop)

    def ib(self):
        g = self.grh()
        octets = 8 + len(g) + len(self.body) + 4
        head = lrh(LNH_GRH if g else LNH_BTH, self.dlid, self.slid, octets // 4, self.sl, self.vl)
        whole = head + g + self.body + icrc(head, g, self.body)
        return whole + struct.pack("<H", crc16_100b(whole))

    def roce1(self, dst="02:00:00:00:00:02", src="02:00:00:00:00:01"):
        """RoCE v1: Ethertype 0x8915, then GRH to ICRC, no VCRC (IBA annex A16)."""
        g = self.grh()
        return mac(dst) + mac(src) + u16(0x8915) + g + self.body + icrc(b"\xff" * 8, g, self.body)

    def roce2(
        self, saddr="10.1.0.1", daddr="10.1.0.2", dst="02:00:00:00:00:02", src="02:00:00:00:00:01"
    ):
        """RoCE v2: UDP port 4791 in place of LRH and GRH (IBA annex A17).

        A17.3.3: the ICRC counts 8 octets of ones for the LRH, and TOS, TTL and header checksum of
        IPv4 and the UDP checksum as ones.
        """
        udp_head = u16(0xC000) + u16(4791) + u16(8 + len(self.body) + 4) + u16(0)
        ip_head = ipv4_header(saddr, daddr, 17, len(udp_head) + len(self.body) + 4)
        m = bytearray(ip_head + udp_head)
        m[1] = m[8] = 0xFF
        m[10:12] = m[26:28] = b"\xff\xff"
        crc = icrc_of(b"\xff" * 8 + m, self.body)
        return mac(dst) + mac(src) + u16(0x0800) + ip_head + udp_head + self.body + crc


def mac(text):
    return bytes(int(x, 16) for x in text.split(":"))


# ---- IPoIB ----------------------------------------------------------------------------------------


def encap(ethertype, payload=b"", reserved=0):
    """Encapsulation header, 4 octets: Type, Reserved (RFC 4391 §6, figure 3)."""
    return u16(ethertype) + u16(reserved) + payload


def lladdr(qpn, gid_text, flags=0):
    """20-octet link-layer address: Reserved/Flags, QPN, GID (RFC 4391 §9.1.1, RFC 4755 §3.1)."""
    return u8(flags) + u24(qpn) + gid(gid_text)


def mgid_ipv4(group, pkey=0xFFFF, scope=2, flags=1, signature=0x401B):
    """MGID of an IPv4 group (RFC 4391 §4, figure 1): the low 28 bits of the group, the rest 0.

    255.255.255.255 is the exception (figure 2): the broadcast-GID ends in 32 ones.
    """
    low = (
        0xFFFFFFFF if group == "255.255.255.255" else int(ipaddress.IPv4Address(group)) & 0x0FFFFFFF
    )
    raw = u8(0xFF) + u8(flags << 4 | scope) + u16(signature) + u16(pkey) + bytes(6) + u32(low)
    return str(ipaddress.IPv6Address(raw))


def mgid_ipv6(group, pkey=0xFFFF, scope=2, flags=1, signature=0x601B):
    """MGID of an IPv6 group: the low 80 bits of the group (RFC 4391 §4)."""
    raw = u8(0xFF) + u8(flags << 4 | scope) + u16(signature) + u16(pkey) + ip6(group)[6:]
    return str(ipaddress.IPv6Address(raw))


def arp(op, sha, spa, tha, tpa, hrd=32, hln=None, pln=4, pro=0x0800):
    """ARP and RARP (RFC 826, RFC 903): hardware type 32, hardware length 20 (RFC 4391 §9.2)."""
    return (
        u16(hrd)
        + u16(pro)
        + u8(len(sha) if hln is None else hln)
        + u8(pln)
        + u16(op)
        + sha
        + ip4(spa)
        + tha
        + ip4(tpa)
    )


# ---- IP -------------------------------------------------------------------------------------------


def inet_checksum(data):
    """Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return s ^ 0xFFFF


def ipv4_header(src, dst, proto, paylen, ttl=64, ident=0x1234, flags=2):
    """IPv4 header without options, 20 octets (RFC 791 §3.1); flags 2 = do not fragment."""
    h = (
        b"\x45\0"
        + u16(20 + paylen)
        + u16(ident)
        + u16(flags << 13)
        + u8(ttl)
        + u8(proto)
        + b"\0\0"
        + ip4(src)
        + ip4(dst)
    )
    return h[:10] + u16(inet_checksum(h)) + h[12:]


def ipv4(src, dst, proto, payload, **kw):
    return ipv4_header(src, dst, proto, len(payload), **kw) + payload


def icmp_echo(ident, seq, data, reply=False):
    """ICMP echo (RFC 792)."""
    m = u8(0 if reply else 8) + u8(0) + u16(0) + u16(ident) + u16(seq) + data
    return m[:2] + u16(inet_checksum(m)) + m[4:]


def udp(src, dst, sport, dport, data):
    """UDP over IPv4 with its checksum (RFC 768)."""
    h = u16(sport) + u16(dport) + u16(8 + len(data))
    c = inet_checksum(ip4(src) + ip4(dst) + u16(17) + u16(8 + len(data)) + h + b"\0\0" + data)
    return h + u16(c or 0xFFFF) + data


def ping4(src, dst, seq=1, size=56, reply=False, ident=0x4242):
    """A whole IPv4 echo request of 28 + size octets."""
    return ipv4(src, dst, 1, icmp_echo(ident, seq, fill(size), reply))


def ipv6(src, dst, nxt, payload, hop=255):
    """IPv6 header, 40 octets (RFC 8200 §3)."""
    return u32(6 << 28) + u16(len(payload)) + u8(nxt) + u8(hop) + ip6(src) + ip6(dst) + payload


def icmpv6(src, dst, body):
    """ICMPv6 in IPv6, checksum over the pseudo-header (RFC 4443 §2.3)."""
    pseudo = ip6(src) + ip6(dst) + u32(len(body)) + u32(58)
    c = inet_checksum(pseudo + body)
    return ipv6(src, dst, 58, body[:2] + u16(c) + body[4:])


def nd_lladdr_option(kind, address, length=3, pad=b"\0\0"):
    """Source (1) or Target (2) Link-layer Address option (RFC 4861 §4.6.1, RFC 4391 §9.3).

    Length is in units of 8 octets: 3; two bytes of zero precede the 20 of the address.
    """
    return u8(kind) + u8(length) + pad + address


def nd_ns(target, options=b""):
    """Neighbor Solicitation (RFC 4861 §4.3)."""
    return u8(135) + u8(0) + u16(0) + u32(0) + ip6(target) + options


def nd_na(target, options=b"", flags=0x60000000):
    """Neighbor Advertisement (RFC 4861 §4.4); flags S and O by default."""
    return u8(136) + u8(0) + u16(0) + u32(flags) + ip6(target) + options


def nd_rs(options=b""):
    """Router Solicitation (RFC 4861 §4.1)."""
    return u8(133) + u8(0) + u16(0) + u32(0) + options


def nd_ra(options=b"", hop=64, lifetime=1800):
    """Router Advertisement (RFC 4861 §4.2)."""
    return u8(134) + u8(0) + u16(0) + u8(hop) + u8(0) + u16(lifetime) + u32(0) + u32(0) + options


def nd_redirect(target, destination, options=b""):
    """Redirect (RFC 4861 §4.5)."""
    return u8(137) + u8(0) + u16(0) + u32(0) + ip6(target) + ip6(destination) + options


# ---- management datagrams -------------------------------------------------------------------------

CLASS_SA, CLASS_CM = 0x03, 0x07  # IBA 13.4.4
GET, SET, GET_RESP, TRAP, REPORT, REPORT_RESP = 0x01, 0x02, 0x81, 0x05, 0x06, 0x86  # IBA 13.4.5
SEND = 0x03
GET_TABLE, GET_TABLE_RESP, DELETE, DELETE_RESP = 0x12, 0x92, 0x15, 0x95  # IBA 15.2.2
ATTR_CLASS_PORT_INFO, ATTR_NOTICE, ATTR_INFORM_INFO = 0x0001, 0x0002, 0x0003  # IBA 13.4.8
ATTR_SERVICE_RECORD, ATTR_PATH_RECORD, ATTR_MC_MEMBER = 0x0031, 0x0035, 0x0038  # IBA 15.2.5
QKEY_GSI = 0x80010000  # IBA 15.4.2: well-known Q_Key of QP 1


def mad_header(mgmt_class, class_version, method, tid, attr, modifier=0, status=0):
    """Common MAD header, 24 octets (IBA 13.4.2)."""
    return (
        u8(1)
        + u8(mgmt_class)
        + u8(class_version)
        + u8(method)
        + u16(status)
        + u16(0)
        + u64(tid)
        + u16(attr)
        + u16(0)
        + u32(modifier)
    )


RMPP_DATA, RMPP_ACK = 1, 2
RMPP_ACTIVE, RMPP_FIRST, RMPP_LAST = 1, 2, 4


def rmpp_header(kind=0, flags=0, data1=0, data2=0, status=0, resp_time=0x1F, version=1):
    """RMPP header, 12 octets (IBA 13.6.2): version, type, RRespTime (5) | Flags (3), status, data
    1, 2.

    DATA: segment number, payload length; ACK: segment number, new window last.  All zero (but for
    the callers that say otherwise) when RMPP is not active."""
    if not kind:
        return bytes(12)
    return (
        u8(version) + u8(kind) + u8(resp_time << 3 | flags) + u8(status) + u32(data1) + u32(data2)
    )


def sa_mad(
    method, tid, attr, data=b"", mask=0, status=0, modifier=0, attr_offset=0, sm_key=0, rmpp=None
):
    """SA MAD, 256 octets (IBA 15.2.1.1): header 24, RMPP 12, SM_Key 8, AttributeOffset 2, Reserved
    2, ComponentMask 8, data 200.  AttributeOffset counts 8 octets."""
    m = (
        mad_header(CLASS_SA, 2, method, tid, attr, modifier, status)
        + (rmpp or rmpp_header())
        + u64(sm_key)
        + u16(attr_offset)
        + u16(0)
        + u64(mask)
        + data
    )
    assert len(m) <= 256
    return m.ljust(256, b"\0")


def mcmember(
    mgid,
    port_gid="::",
    qkey=0,
    mlid=0,
    mtu_sel=0,
    mtu=0,
    tclass=0,
    pkey=0,
    rate_sel=0,
    rate=0,
    life_sel=0,
    life=0,
    sl=0,
    flow=0,
    hop=0,
    scope=0,
    join=0,
    proxy=0,
):
    """MCMemberRecord, 52 octets (IBA 15.2.5.17)."""
    r = (
        gid(mgid)
        + gid(port_gid)
        + u32(qkey)
        + u16(mlid)
        + u8(mtu_sel << 6 | mtu)
        + u8(tclass)
        + u16(pkey)
        + u8(rate_sel << 6 | rate)
        + u8(life_sel << 6 | life)
        + u32(sl << 28 | flow << 8 | hop)
        + u8(scope << 4 | join)
        + u24(proxy << 23)
    )
    assert len(r) == 52
    return r


# Component mask of the MCMemberRecord: one bit per component, in the record's order (IBA 15.2.5.17)
MCM = {
    name: 1 << bit
    for bit, name in enumerate(
        "mgid port_gid qkey mlid mtu_sel mtu tclass pkey rate_sel rate life_sel life sl flow hop scope join proxy".split()
    )
}


def path_record(
    dgid,
    sgid,
    dlid=0,
    slid=0,
    pkey=0xFFFF,
    sl=0,
    mtu_sel=0,
    mtu=0,
    rate_sel=0,
    rate=0,
    life_sel=0,
    life=0,
    numb=0,
    reversible=0,
    flow=0,
    hop=0,
    tclass=0,
    service_id=0,
):
    """PathRecord, 64 octets (IBA 15.2.5.16)."""
    r = (
        u64(service_id)
        + gid(dgid)
        + gid(sgid)
        + u16(dlid)
        + u16(slid)
        + u32(flow << 8 | hop)
        + u8(tclass)
        + u8(reversible << 7 | numb)
        + u16(pkey)
        + u16(sl)
        + u8(mtu_sel << 6 | mtu)
        + u8(rate_sel << 6 | rate)
        + u8(life_sel << 6 | life)
        + u8(0)
        + bytes(6)
    )
    assert len(r) == 64
    return r


def service_record(
    service_id, service_gid, pkey=0xFFFF, lease=0xFFFFFFFF, key=bytes(16), name=b"", data=b""
):
    """ServiceRecord, 176 octets (IBA 15.2.5.14)."""
    r = (
        u64(service_id)
        + gid(service_gid)
        + u16(pkey)
        + u16(0)
        + u32(lease)
        + key
        + name.ljust(64, b"\0")
        + data.ljust(64, b"\0")
    )
    assert len(r) == 176
    return r


def notice(trap, mgid, issuer_lid, issuer_gid, kind=3, producer=4, toggle=0, count=0):
    """Notice, 80 octets (IBA 13.4.8.2); DataDetails of traps 64 to 67: 6 octets reserved, GID (IBA
    14.2.5.1).

    kind 3: informational; producer 4: class manager.  The IssuerGID is the last 16 octets."""
    details = (bytes(6) + gid(mgid)).ljust(54, b"\0")
    r = (
        u8(0x80 | kind)
        + u24(producer)
        + u16(trap)
        + u16(issuer_lid)
        + u16(toggle << 15 | count)
        + details
        + gid(issuer_gid)
    )
    assert len(r) == 80
    return r


def inform_info(
    gid_text,
    trap,
    subscribe=1,
    lid_begin=0xFFFF,
    lid_end=0,
    kind=0xFFFF,
    qpn=1,
    resp_time=0x13,
    producer=0xFFFFFF,
):
    """InformInfo, 36 octets (IBA 13.4.8.3)."""
    r = (
        gid(gid_text)
        + u16(lid_begin)
        + u16(lid_end)
        + u16(0)
        + u8(1)
        + u8(subscribe)
        + u16(kind)
        + u16(trap)
        + u24(qpn)
        + u8(resp_time)
        + u8(0)
        + u24(producer)
    )
    assert len(r) == 36
    return r


def class_port_info(capmask=0, capmask2=0, resp_time=0x12, trap_gid="::", trap_lid=0):
    """ClassPortInfo, 72 octets (IBA 13.4.8.1)."""
    r = (
        u8(1)
        + u8(2)
        + u16(capmask)
        + u32(capmask2 << 5 | resp_time)
        + bytes(16)
        + bytes(4)
        + bytes(4)
        + bytes(4)
        + bytes(4)
        + gid(trap_gid)
        + bytes(4)
        + u16(trap_lid)
        + u16(0)
        + bytes(4)
        + bytes(4)
    )
    assert len(r) == 72
    return r


def rmpp_table(tid, attr, records, stride, status=0, segment_data=200):
    """GetTableResp of several records as RMPP DATA segments; a list of 256-octet MADs.

    IBA 15.2.1.1: records are AttributeOffset x 8 octets apart, back to back across segments.  IBA
    13.6.2.1: PayloadLength of the first segment is that of all segments, of the last that of the
    last, both with the 20 octets of SA header (SM_Key to ComponentMask) that each segment
    carries."""
    assert stride % 8 == 0
    table = b"".join(r.ljust(stride, b"\0") for r in records)
    parts = [table[i : i + segment_data] for i in range(0, len(table), segment_data)] or [b""]
    out = []
    for n, part in enumerate(parts, 1):
        flags = RMPP_ACTIVE | (RMPP_FIRST if n == 1 else 0) | (RMPP_LAST if n == len(parts) else 0)
        length = 0
        if n == 1:
            length = len(table) + 20 * len(parts)
        if n == len(parts):
            length = len(part) + 20 if n > 1 else len(table) + 20
        out.append(
            sa_mad(
                GET_TABLE_RESP,
                tid,
                attr,
                part,
                status=status,
                attr_offset=stride // 8,
                rmpp=rmpp_header(RMPP_DATA, flags, n, length),
            )
        )
    return out


# ---- subnet management (IBA chapter 14) ------------------------------------------------------------

SMP_ROUTED, SMP_DIRECTED, SMP_SIZE = 0x01, 0x81, 256  # IBA 13.4.4, 14.2.1
NODE_INFO, PORT_INFO, PKEY_TABLE = 0x11, 0x15, 0x16  # IBA 14.2.5
DOWN, INIT, ARMED, ACTIVE = 1, 2, 3, 4  # PortState, IBA 14.2.5.6
D_BIT = 0x8000  # of the status: a response by a directed route


def directed_smp(method, tid, attribute, modifier, data, route, pointer=1, returned=None):
    """A directed-route SMP over these ports, 0 first (IBA 14.2.1.2): status with D bit, hop pointer,
    hop count, M_Key, DrSLID and DrDLID, data of 64 octets, initial and return path."""
    status = D_BIT if method == GET_RESP else 0
    head = mad_header(SMP_DIRECTED, 1, method, tid, attribute, modifier, status)
    head = head[:6] + u8(pointer) + u8(len(route) - 1) + head[8:]
    paths = [bytes(p).ljust(64, b"\0") for p in (route, route if returned is None else returned)]
    return head + u64(0) + u32(0xFFFFFFFF) + bytes(28) + data.ljust(64, b"\0") + b"".join(paths)


def lid_routed_smp(method, tid, attribute, modifier, data=b""):
    """A LID-routed SMP (IBA 14.2.1.1)."""
    header = mad_header(SMP_ROUTED, 1, method, tid, attribute, modifier)
    return (header + bytes(40) + data).ljust(SMP_SIZE, b"\0")


def node_info(guid, partitions, device=0, vendor=0):
    """NodeInfo of a channel adapter with one port (IBA 14.2.5.3)."""
    guids = u64(guid) * 3  # of the system, the node, the port
    return u32(0x01010101) + guids + u16(partitions) + u16(device) + u32(0) + u8(1) + u24(vendor)


def port_info(prefix, lid, sm_lid, state=ACTIVE, neighbor_mtu=4, **fields):
    """PortInfo (IBA 14.2.5.6): GID prefix, LID, SM's LID, LocalPortNum 1, PortState, NeighborMTU;
    and the octets of PORT_INFO_OCTETS that are given."""
    data = bytearray(64)
    data[8:18] = gid(prefix)[:8] + u16(lid)
    data[18:20] = u16(sm_lid)
    data[28], data[32], data[33], data[36] = 1, state, 0x52, neighbor_mtu << 4
    for name, value in {"mtu_cap": 4, **fields}.items():
        data[PORT_INFO_OCTETS[name]] |= value
    return bytes(data)


# Link widths; LinkSpeedSupported is in the octet of PortState; LMC; link speeds; MTUCap; GUIDCap;
# ClientReregister and SubnetTimeOut.
PORT_INFO_OCTETS = dict(
    width=31, speed_supported=32, lmc=34, speed=35, mtu_cap=41, guid_cap=50, timeout=51
)


# ---- communication management (IBA chapter 12) ----------------------------------------------------

CM_REQ, CM_MRA, CM_REJ, CM_REP, CM_RTU, CM_DREQ, CM_DREP = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16
CM_SIDR_REQ, CM_SIDR_REP, CM_LAP, CM_APR = 0x17, 0x18, 0x19, 0x1A  # IBA 16.7.3


def cm_mad(attr, tid, body):
    """CM MAD, 256 octets: method Send, class version 2, data from octet 24 (IBA 16.7.1)."""
    assert len(body) <= 232
    return mad_header(CLASS_CM, 2, SEND, tid, attr) + body.ljust(232, b"\0")


def private_data(ud_qpn, recv_mtu, reserved=0):
    """Private data of IPoIB-CM, 8 octets: Reserved, UD QPN, Receive MTU (RFC 4755 §6)."""
    return u8(reserved) + u24(ud_qpn) + u32(recv_mtu)


def service_id_rfc(qpn):
    """Service-ID of RFC 4755 §3.5: 0x01, Type 0, three octets Reserved, UD QPN."""
    return 0x01 << 56 | qpn


def service_id_linux(qpn):
    """Service-ID that Linux sends: 0x10 where the RFC has 0x01 (its IPOIB_CM_IETF_ID)."""
    return 0x10 << 56 | qpn


def cm_req(
    tid,
    comm_id,
    service_id,
    guid,
    qpn,
    psn,
    slid,
    dlid,
    sgid,
    dgid,
    pdata=b"",
    transport=0,
    pkey=0xFFFF,
    mtu=4,
    qkey=0,
    alt=False,
):
    """REQ (IBA 12.6.5): private data of 92 octets at octet 140.  transport 0 RC, 1 UC; mtu 4 =
    2048."""
    path = (
        u16(slid)
        + u16(dlid)
        + gid(sgid)
        + gid(dgid)
        + u24(0)
        + u8(3)
        + u8(0)  # flow label, rate 10 Gb/s
        + u8(0)
        + u8(0 << 4 | 1 << 3)
        + u8(18 << 3)
    )  # tclass, hop, SL|local, timeout
    assert len(path) == 44
    body = (
        u32(comm_id)
        + u32(0)
        + u64(service_id)
        + u64(guid)
        + u32(0)
        + u32(qkey)
        + u24(qpn)
        + u8(1)
        + u24(0)
        + u8(1)
        + u24(0)
        + u8(20 << 3 | transport << 1 | 1)
        + u24(psn)
        + u8(20 << 3 | 7)
        + u16(pkey)
        + u8(mtu << 4 | 7)
        + u8(15 << 4)
        + path
        + (path if alt else bytes(44))
    )
    assert len(body) == 140
    return cm_mad(CM_REQ, tid, body + pdata.ljust(92, b"\0"))


def cm_mra(tid, local, remote, message=0, timeout=20, pdata=b""):
    """MRA (IBA 12.6.6): message 0 REQ, 1 REP, 2 LAP; private data of 222 octets at 10."""
    return cm_mad(
        CM_MRA, tid, u32(local) + u32(remote) + u8(message << 6) + u8(timeout << 3) + pdata
    )


def cm_rej(tid, local, remote, reason, message=0, ari=b"", pdata=b""):
    """REJ (IBA 12.6.7): message 0 REQ, 1 REP, 2 none; ARI of 72 octets at 12, private data of 148
    at 84."""
    return cm_mad(
        CM_REJ,
        tid,
        u32(local)
        + u32(remote)
        + u8(message << 6)
        + u8(len(ari) << 1)
        + u16(reason)
        + ari.ljust(72, b"\0")
        + pdata,
    )


def cm_rep(tid, local, remote, qpn, psn, guid, pdata=b"", qkey=0):
    """REP (IBA 12.6.8): private data of 196 octets at 36."""
    return cm_mad(
        CM_REP,
        tid,
        u32(local)
        + u32(remote)
        + u32(qkey)
        + u24(qpn)
        + u8(0)
        + u24(0)
        + u8(0)
        + u24(psn)
        + u8(0)
        + u8(1)
        + u8(1)
        + u8(15 << 3 | 1)
        + u8(7 << 5 | 1 << 4)
        + u64(guid)
        + pdata,
    )


def cm_rtu(tid, local, remote, pdata=b""):
    """RTU (IBA 12.6.9): private data of 224 octets at 8."""
    return cm_mad(CM_RTU, tid, u32(local) + u32(remote) + pdata)


def cm_dreq(tid, local, remote, remote_qpn, pdata=b""):
    """DREQ (IBA 12.6.10): private data of 220 octets at 12."""
    return cm_mad(CM_DREQ, tid, u32(local) + u32(remote) + u24(remote_qpn) + u8(0) + pdata)


def cm_drep(tid, local, remote, pdata=b""):
    """DREP (IBA 12.6.11): private data of 224 octets at 8."""
    return cm_mad(CM_DREP, tid, u32(local) + u32(remote) + pdata)


def cm_lap(tid, local, remote, remote_qpn, slid, dlid, sgid, dgid, pdata=b""):
    """LAP (IBA 12.8.1): private data of 168 octets at 64."""
    body = (
        u32(local)
        + u32(remote)
        + u32(0)
        + u24(remote_qpn)
        + u8(20 << 3)
        + u32(0)
        + u16(slid)
        + u16(dlid)
        + gid(sgid)
        + gid(dgid)
        + u24(0)
        + u8(0)
        + u8(0)
        + u8(3)
        + u8(1 << 3)
        + u8(18 << 3)
    )
    assert len(body) == 64
    return cm_mad(CM_LAP, tid, body + pdata)


def cm_apr(tid, local, remote, status=0, pdata=b""):
    """APR (IBA 12.8.2): additional information of 72 octets at 12, private data of 148 at 84."""
    return cm_mad(
        CM_APR, tid, u32(local) + u32(remote) + u8(0) + u8(status) + u16(0) + bytes(72) + pdata
    )


def cm_sidr_req(tid, request_id, service_id, pkey=0xFFFF, pdata=b""):
    """SIDR_REQ (IBA 12.11.1): private data of 216 octets at 16."""
    return cm_mad(CM_SIDR_REQ, tid, u32(request_id) + u16(pkey) + u16(0) + u64(service_id) + pdata)


def cm_sidr_rep(tid, request_id, service_id, qpn, qkey, status=0, pdata=b""):
    """SIDR_REP (IBA 12.11.2): additional information of 72 octets at 24, private data of 136 at
    96."""
    return cm_mad(
        CM_SIDR_REP,
        tid,
        u32(request_id)
        + u8(status)
        + u8(0)
        + u16(0)
        + u24(qpn)
        + u8(0)
        + u64(service_id)
        + u32(qkey)
        + bytes(72)
        + pdata,
    )


# ---- link types other than native IB --------------------------------------------------------------


def ipoib242_dest(dest, encapsulated):
    """LINKTYPE_IPOIB 242, unicast form: 20 octets of zero, destination address of 20, then Type,
    Reserved."""
    assert len(dest) == 20
    return bytes(20) + dest + encapsulated


def ipoib242_grh(sgid, dgid, encapsulated):
    """LINKTYPE_IPOIB 242 with a genuine GRH in the 40 octets (IBA 8.3), then Type, Reserved.

    PayLen counts what follows the GRH on the wire: BTH 12, DETH 8, payload, pad, ICRC 4.
    """
    paylen = 12 + 8 + len(encapsulated) + -len(encapsulated) % 4 + 4
    return grh(sgid, dgid, paylen, hop=1) + encapsulated


def sll(ethertype, address, payload, kind=0):
    """Linux cooked capture v1 (LINKTYPE_LINUX_SLL 113): kind, ARPHRD 32, length 20, 8 octets of
    address."""
    return u16(kind) + u16(32) + u16(20) + address[:8] + u16(ethertype) + payload


def sll2(ethertype, address, payload, kind=0, ifindex=4):
    """Linux cooked capture v2 (LINKTYPE_LINUX_SLL2 276), 20 octets of header."""
    return (
        u16(ethertype) + u16(0) + u32(ifindex) + u16(32) + u8(kind) + u8(20) + address[:8] + payload
    )


# ---- real frames -----------------------------------------------------------------------------------


def crcs(path):
    """How many complete packets of a LINKTYPE_INFINIBAND pcap file have our ICRC and VCRC; how many
    do not."""
    good = bad = 0
    capture = capfile.read(path)
    for frame in capture.frames:
        d = frame.data
        if capture.linktype != capfile.INFINIBAND or len(d) != frame.wire:
            continue
        g = d[8:48] if d[1] & 3 == LNH_GRH else b""
        right = (
            icrc(d[:8], g, d[8 + len(g) : -6]) == d[-6:-2]
            and struct.pack("<H", crc16_100b(d[:-2])) == d[-2:]
        )
        good, bad = good + right, bad + (not right)
    return good, bad

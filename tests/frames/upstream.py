#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the captures of testdata/upstream, of doc/upstream.md: upstream.py OUTDIR [--check].

Each shows one fault of Wireshark's own dissectors with as few frames as possible. A conformant
sender may send every frame except ud_four. --check writes nothing and reports whether OUTDIR holds
exactly these files.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import ib  # noqa: E402
from frames.build import erf_pcap, table_records  # noqa: E402
from frames.connection import Connection  # noqa: E402
from frames.fabric import A, B, BROADCAST_MGID, C, SM, Tape, mad_frame, ud_frame  # noqa: E402
from frames.messages import (
    arp_request,
    big,
    broadcast_lladdr,
    broadcast_record,
    nd6,
    ping,
)  # noqa: E402
from frames.ib import LAST, ONLY, RC, UD, WRITE_ONLY, Frame, encap  # noqa: E402
from frames.write import write  # noqa: E402
from support import capfile  # noqa: E402

T0 = 1_700_000_000 * 10**9


def one(octets, cut=None):
    """An ERF capture of one frame."""
    t = Tape()
    t.put(octets, cut)
    return erf_pcap(t)


def broadcast_arp():
    return [capfile.record(T0, ud_frame(A, BROADCAST_MGID, arp_request(A, B.ip)).ib())]


def linktype_247_pcap():
    return capfile.pcap(247, broadcast_arp())


def linktype_247_pcapng():
    return capfile.pcapng(247, broadcast_arp())


def dlt242_grh():
    """An ARP request by broadcast; HopLmt 1, NxtHdr 0x1b, PayLen 12 + 8 + 60 + 4 = 84."""
    return capfile.pcap(
        242, [capfile.record(T0, ib.ipoib242_grh(A.gid, BROADCAST_MGID, arp_request(A, B.ip)))]
    )


def dlt242_type():
    """LLDP (IEEE 802.1AB), which is sent on IPoIB links too, by its Ethertype 0x88cc (RFC 4391
    §6)."""
    lldp = bytes.fromhex("0207 04 0002c9001895 0403 07 6230 0602 0078 0000")
    return capfile.pcap(
        242, [capfile.record(T0, ib.ipoib242_dest(broadcast_lladdr(), encap(0x88CC, lldp)))]
    )


def rmpp():
    """GetTableResp of two MCMemberRecords in one segment: RRespTime 0x1f and Flags 7 (Active,
    First, Last) in a byte."""
    table = ib.rmpp_table(0x1001, ib.ATTR_MC_MEMBER, table_records(2), 56)
    assert len(table) == 1 and table[0][26] == 0x1F << 3 | 7
    return one(mad_frame(SM, A, table[0]).ib())


def rmpp_segments():
    """Five records 56 bytes apart: the fourth begins in the first segment and ends in the
    second."""
    t = Tape()
    for segment in ib.rmpp_table(0x1002, ib.ATTR_MC_MEMBER, table_records(5), 56):
        t.mad(SM, A, segment)
    return erf_pcap(t)


def sa_crc():
    """A join's response: 256 bytes of MAD, then ICRC and VCRC."""
    return one(
        mad_frame(
            SM, A, ib.sa_mad(ib.GET_RESP, 0x1003, ib.ATTR_MC_MEMBER, broadcast_record(join=1))
        ).ib()
    )


def notice():
    """Report of trap 66: a group was created."""
    body = ib.notice(66, BROADCAST_MGID, SM.lid, SM.gid)
    return one(mad_frame(SM, A, ib.sa_mad(ib.REPORT, 0x1004, ib.ATTR_NOTICE, body)).ib())


def cm_source():
    """A REQ that is sent with a GRH, so that its source is a GID."""
    req = ib.cm_req(
        0x1005,
        1,
        ib.service_id_linux(B.qpn),
        A.guid,
        0x101,
        0,
        A.lid,
        B.lid,
        A.gid,
        B.gid,
        ib.private_data(A.qpn, 65524),
    )
    return one(
        Frame(
            UD | ONLY,
            req,
            dlid=B.lid,
            slid=A.lid,
            dgid=B.gid,
            sgid=A.gid,
            hop=64,
            destqp=1,
            qkey=ib.QKEY_GSI,
            srcqp=1,
        ).ib()
    )


def cm_sdp():
    """A connection to the IPoIB UD QPN 0x010405, whose bit 16 is set, and an ARP request on it."""
    t = Tape()
    c = Connection(t)
    c.set_up(ib.service_id_rfc(0x010405))
    c.send(True, arp_request(A, B.ip))
    return erf_pcap(t)


def ud_empty():
    return one(ud_frame(A, B, b"").ib())


def ud_four():
    """The encapsulation header of an IPv4 packet and nothing after it."""
    return one(ud_frame(A, B, encap(0x0800)).ib())


def pad():
    """Seven bytes of data after an encapsulation header with an Ethertype for experiments: PadCnt
    1."""
    return one(ud_frame(A, B, encap(0x88B5, ib.fill(7))).ib())


def sliced():
    """A ping of 1000 bytes, truncated to 128 by a snaplen."""
    return one(ud_frame(A, B, ping(A, B, size=1000)).ib(), cut=128)


def write_as_ip():
    """An RDMA WRITE Only on a connection whose set-up is not in the capture; its data are the
    peer's memory."""
    lure = ping(A, B)
    ext = ib.reth(0x7F0000001000, 0x1234, len(lure))
    return one(
        Frame(RC | WRITE_ONLY, lure, dlid=B.lid, slid=A.lid, destqp=0x301, psn=1, ext=ext).ib()
    )


def rc_first():
    """An IPv4 packet of 3000 bytes over a connection with path MTU 2048: SEND First and Last."""
    t = Tape()
    c = Connection(t)
    c.set_up(ib.service_id_rfc(B.qpn))
    c.send(True, big(A, B, 3000))
    return erf_pcap(t)


def rc_last():
    """The end of a message of two packets; the capture starts after the first."""
    return one(
        Frame(RC | LAST, ib.fill(952), dlid=B.lid, slid=A.lid, destqp=0x202, psn=2, ackreq=1).ib()
    )


def rc_short():
    """A SEND Only of 8 bytes, of an unknown protocol."""
    return one(
        Frame(RC | ONLY, ib.fill(8), dlid=B.lid, slid=A.lid, destqp=0x202, psn=1, ackreq=1).ib()
    )


def nd_option():
    """A Neighbor Solicitation with a Source Link-layer Address of 20 octets: Length 3, two octets
    of zero first."""
    return one(ud_frame(A, C, nd6(A.ll, C.ll, ib.nd_ns(C.ll, ib.nd_lladdr_option(1, A.addr)))).ib())


CAPTURES = {
    "linktype-247.pcap": linktype_247_pcap,
    "linktype-247.pcapng": linktype_247_pcapng,
    "dlt242-grh.pcap": dlt242_grh,
    "dlt242-type.pcap": dlt242_type,
    "rmpp.pcap": rmpp,
    "rmpp-segments.pcap": rmpp_segments,
    "sa-crc.pcap": sa_crc,
    "notice.pcap": notice,
    "cm-source.pcap": cm_source,
    "cm-sdp.pcap": cm_sdp,
    "ud-empty.pcap": ud_empty,
    "ud-four.pcap": ud_four,
    "pad.pcap": pad,
    "sliced.pcap": sliced,
    "write-as-ip.pcap": write_as_ip,
    "rc-first.pcap": rc_first,
    "rc-last.pcap": rc_last,
    "rc-short.pcap": rc_short,
    "nd-option.pcap": nd_option,
}


if __name__ == "__main__":
    sys.exit(write(sys.argv, __doc__, CAPTURES, keep=("README.md",)))

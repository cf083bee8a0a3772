# SPDX-License-Identifier: GPL-2.0-or-later
"""The builder of fabrics: their nodes, and the frames that these send.

A Fabric makes frames: it keeps the time, and counts the PSNs of each queue pair and the transaction
IDs. What it does not know is how its frames are kept: a Tape records them in their order (build.py,
and subnet.py, whose nodes conform to the RFCs), a World gives each a name, so that it can be changed
later (world.py). messages.py has what the frames carry, connection.py connections between two nodes.
The layouts are those of ib.py, which names the documents."""
import copy

from frames import ib
from frames.ib import ONLY, UD, Frame
from support import capfile

T0 = 1_700_000_000 * 10**9  # 2023-11-14 22:13:20 UTC
MS = 10**6

BROADCAST_MGID = "ff12:401b:ffff::ffff:ffff"
BROADCAST_LID = 0xC000
QKEY = 0x80000B1B
TO_GROUP = 0xFFFFFF  # the destination QPN of multicast
SMI, GSI = 0, 1  # QP0, QP1
PERMISSIVE = 0xFFFF  # the LIDs of a directed-route SMP
MTU_2048 = 4
FULL, NON_MEMBER, SEND_ONLY = 1, 2, 4  # JoinState, IBA 15.2.5.17
CREATED, DELETED = 66, 67  # traps
RC_FLAG, UC_FLAG = 0x80, 0x40
# The components of a request to leave, and to join a group that exists.
LEAVE_MASK = ib.MCM["mgid"] | ib.MCM["port_gid"] | ib.MCM["join"]
JOIN_MASK = LEAVE_MASK | ib.MCM["pkey"]


class Node:
    """One IPoIB interface: LID, GID, UD QPN, IPv4 and link-local address, flags of its link-layer
    address."""

    def __init__(self, lid, gid, qpn, ip, ll, flags=0):
        self.lid, self.gid, self.qpn, self.ip, self.ll, self.flags = lid, gid, qpn, ip, ll, flags

    @property
    def guid(self):
        return int.from_bytes(ib.gid(self.gid)[8:], "big")

    @property
    def addr(self):
        return ib.lladdr(self.qpn, self.gid, self.flags)

    def also(self, **other):
        """The same node with other values: another address, LID or QPN."""
        node = copy.copy(self)
        node.__dict__.update(other)
        return node


A = Node(1, "fe80::2:c903:0:1895", 0x000048, "10.0.0.1", "fe80::202:c903:0:1895")
B = Node(2, "fe80::2:c902:24:f636", 0x000405, "10.0.0.2", "fe80::202:c902:24:f636")
C = Node(3, "fe80::9803:9b03:66:de52", 0x00114B, "10.0.0.3", "fe80::9a03:9b03:66:de52")
D = Node(4, "fe80::e8eb:d303:93:ae10", 0x001049, "10.0.0.4", "fe80::eaeb:d303:93:ae10")
SM = Node(16, "fe80::8:f104:0:10", 0x000050, "10.0.0.16", "fe80::208:f104:0:10")


def ud_frame(src, dst, payload, psn=0, grh=False, mlid=BROADCAST_LID, **fields):
    """UD SEND Only from one interface to another (Node), or to a group (MGID text) at this MLID."""
    of = dict(slid=src.lid, sgid=src.gid, qkey=QKEY, srcqp=src.qpn, psn=psn)
    if isinstance(dst, str):
        of.update(dlid=mlid, dgid=dst, destqp=TO_GROUP)
    else:
        of.update(dlid=dst.lid, dgid=dst.gid if grh else None, destqp=dst.qpn)
    return Frame(UD | ONLY, payload, **{**of, **fields})


def mad_frame(src, dst, mad, psn=0):
    """A MAD from QP 1 to QP 1 (IBA 13.5.1)."""
    qps = dict(destqp=GSI, srcqp=GSI, qkey=ib.QKEY_GSI)
    return Frame(UD | ONLY, mad, dlid=dst.lid, slid=src.lid, psn=psn, **qps)


def smp_frame(mad, psn=0, dlid=PERMISSIVE, slid=PERMISSIVE):
    """An SMP from QP 0 to QP 0, on VL 15 (IBA 13.5.1); without LIDs by a directed route."""
    qps = dict(destqp=SMI, srcqp=SMI, qkey=0, vl=15)
    return Frame(UD | ONLY, bytes(mad), dlid=dlid, slid=slid, psn=psn, **qps)


class Fabric:
    """first_psn: the PSN of the first packet of each queue pair. 0: its port has just started; else
    the capture begins late. step: the time from a frame to the next one."""

    first_psn, step = 1, MS

    def __init__(self):
        self.now, self.tid, self.psns = T0, 0x1000, {}

    def wait(self, seconds):
        self.now += int(seconds * 1000) * MS

    def next_tid(self):
        self.tid += 1
        return self.tid

    def next_psn(self, port, qpn):
        """Each queue pair counts its packets to all destinations in one sequence (IBA 9.8.2.2)."""
        self.psns[port, qpn] = self.psns.get((port, qpn), self.first_psn - 1) + 1
        return self.psns[port, qpn]

    def datagram(self, src, dst, payload, **fields):
        return ud_frame(src, dst, payload, self.next_psn(src.lid, src.qpn), **fields)

    def management(self, src, dst, mad):
        return mad_frame(src, dst, mad, self.next_psn(src.lid, GSI))


class Tape(Fabric):
    """Frames in their order."""

    def __init__(self):
        super().__init__()
        self.records = []

    def put(self, frame, cut=None, ms=None):
        """frame: a Frame, or its bytes. cut: only this many bytes are captured."""
        self.now += self.step if ms is None else ms * MS
        octets = frame.ib() if isinstance(frame, Frame) else frame
        self.records.append(capfile.record(self.now, octets, cut))

    def ud(self, src, dst, payload, **fields):
        """A datagram to an interface (Node), or to a group (MGID text)."""
        self.put(self.datagram(src, dst, payload, **fields))

    def mad(self, src, dst, mad, ms=None):
        """A MAD from one port's GSI to another's."""
        self.put(self.management(src, dst, mad), ms=ms)

    def sa(self, src, dst, *args, **options):
        """A MAD of the SA's class; ib.sa_mad() has its arguments."""
        self.mad(src, dst, ib.sa_mad(*args, **options))

    def pcap(self):
        return capfile.pcap(capfile.INFINIBAND, self.records, nanoseconds=True)

    def erf_pcap(self):
        return capfile.pcap(capfile.ERF, capfile.erf_records(self.records))

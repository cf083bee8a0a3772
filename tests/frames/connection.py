# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections (RFC 4755) between two nodes of a fabric, whose frames a Tape records."""
from frames import ib
from frames.fabric import A, B
from frames.ib import FIRST, LAST, MIDDLE, ONLY, RC, UC, Frame, encap

MTU = 65524  # the Receive MTU of Linux


class Connection:
    """One connection: 'a' is the requester, 'b' the responder. Each has a communication ID, a QP
    and a first PSN."""

    def __init__(
        self,
        tape,
        a=A,
        b=B,
        ids=(0xA0000001, 0xB0000001),
        qps=(0x000101, 0x000202),
        tid=0x1111,
        psns=(0xFFFFFE, 0x000010),
        transport=0,
    ):
        self.t, self.a, self.b, self.ids, self.qps, self.tid = tape, a, b, ids, qps, tid
        self.psns, self.transport = list(psns), transport

    def ends(self, up):
        """Sender and receiver; up: from a to b."""
        return (self.a, self.b) if up else (self.b, self.a)

    def mad(self, up, mad):
        self.t.mad(*self.ends(up), mad)

    def request(self, service_id, pdata=b"", mtu=4):
        """The REQ."""
        a, b = self.a, self.b
        path = a.lid, b.lid, a.gid, b.gid
        of = self.tid, self.ids[0], service_id, a.guid, self.qps[0], self.psns[0]
        return ib.cm_req(*of, *path, pdata, transport=self.transport, mtu=mtu)

    def req(self, *args, **options):
        self.mad(True, self.request(*args, **options))

    def rep(self, pdata=b""):
        of = self.tid, self.ids[1], self.ids[0], self.qps[1], self.psns[1], self.b.guid
        self.mad(False, ib.cm_rep(*of, pdata))

    def rtu(self, pdata=b""):
        self.mad(True, ib.cm_rtu(self.tid, self.ids[0], self.ids[1], pdata))

    def mra(self, pdata=b""):
        self.mad(False, ib.cm_mra(self.tid, self.ids[1], self.ids[0], pdata=pdata))

    def rej(self, reason, pdata=b"", tid=None, ari=b""):
        self.mad(False, ib.cm_rej(tid or self.tid, 0, self.ids[0], reason, ari=ari, pdata=pdata))

    def dreq(self, pdata=b""):
        self.mad(True, ib.cm_dreq(self.tid + 1, self.ids[0], self.ids[1], self.qps[1], pdata))

    def drep(self, pdata=b""):
        self.mad(False, ib.cm_drep(self.tid + 1, self.ids[1], self.ids[0], pdata))

    def set_up(self, service_id=None, a_pd=None, b_pd=None):
        """REQ, REP, RTU; by default IPoIB as Linux does it."""
        if service_id is None:
            service_id = ib.service_id_linux(self.b.qpn)
        self.req(service_id, ib.private_data(self.a.qpn, 65524) if a_pd is None else a_pd)
        self.rep(ib.private_data(self.b.qpn, 65524) if b_pd is None else b_pd)
        self.rtu()

    def asks_for_ack(self, op):
        return op in (LAST, ONLY)

    def packet(self, up, op, payload, psn, ext=b"", transport=None):
        """One packet on the connection; up: from a to b."""
        src, dst = self.ends(up)
        of = dict(dlid=dst.lid, slid=src.lid, destqp=self.qps[1 if up else 0], ext=ext)
        base = (RC, UC)[self.transport] if transport is None else transport
        ackreq = int(self.asks_for_ack(op))
        self.t.put(Frame(base | op, payload, psn=psn & 0xFFFFFF, ackreq=ackreq, **of))

    @staticmethod
    def operation(n, parts):
        """The opcode of packet n of a message."""
        if parts == 1:
            return ONLY
        return FIRST if n == 0 else LAST if n == parts - 1 else MIDDLE

    def send(self, up, message, mtu=2048, skip=(), twice=()):
        """A message as SEND Only or First, Middle ..., Last; PSNs continue after the last one used.

        'skip': numbers of packets that the capture misses; 'twice': those that are retransmitted at
        once."""
        side = 0 if up else 1
        parts = [message[i : i + mtu] for i in range(0, len(message), mtu)] or [b""]
        for n, part in enumerate(parts):
            psn = self.psns[side] + n
            if n not in skip:
                self.packet(up, self.operation(n, len(parts)), part, psn)
            if n in twice:
                self.packet(up, self.operation(n, len(parts)), part, psn)
        self.psns[side] = (self.psns[side] + len(parts)) & 0xFFFFFF


class Link(Connection):
    """A connection between two hosts of a subnet, as RFC 4755 requires it: private data in each
    message."""

    def __init__(self, s, a, b, number=1, **options):
        ids = (0xA0000000 + number, 0xB0000000 + number)
        qps = (0x1000 + 2 * number, 0x1001 + 2 * number)
        super().__init__(s, a, b, ids=ids, qps=qps, tid=0x5000 + 16 * number, **options)
        self.mtus = [MTU, MTU]

    def private(self, up):
        host = self.a if up else self.b
        return ib.private_data(host.qpn, self.mtus[0 if up else 1])

    def ask(self):
        self.req(ib.service_id_rfc(self.b.qpn), self.private(True))

    def open(self):
        self.ask()
        self.rep(self.private(False))
        self.rtu(self.private(True))
        return self

    def close(self, up=True):
        self.dreq(self.private(True))
        self.drep(self.private(False))

    def asks_for_ack(self, op):
        return super().asks_for_ack(op) and not self.transport

    def ack(self, up, psn, syndrome=0x1F):
        """An acknowledgement by the side that receives; syndrome 0x60: PSN sequence error, 0x20:
        RNR."""
        self.packet(not up, ib.ACK, b"", psn, ext=ib.aeth(syndrome, 1))

    def ping(self, seq=1, size=56):
        for up, (one, two) in ((True, (self.a, self.b)), (False, (self.b, self.a))):
            self.send(up, encap(0x0800, ib.ping4(one.ip, two.ip, seq=seq, size=size, reply=not up)))
            if not self.transport:
                self.ack(up, self.psns[0 if up else 1] - 1)

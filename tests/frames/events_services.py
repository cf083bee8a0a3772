# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with services other than IPoIB that refuse connections, and harmless look-alikes. A case
returns its tape and the events that it must raise: (event, frame, count, texts that it has). NUMBER is
the number of the last frame so far."""
from frames import ib
from frames.connection import Connection
from frames.events import copy_last, link, number

CASES = []
LUSTRE, NFS = 988, 20049
CONSUMER, SERVICE, REDIRECTION = 28, 8, 25


def case(build):
    CASES.append(build)
    return build


def service_id(port):
    """IBA annex A11: the prefix 00 00 00 00 01, the IP protocol, the port."""
    return 0x0000000001060000 | port


def private(a, b, v6):
    """IBA annex A11.2.2: version, protocol version and port, then both addresses in 16 bytes each."""
    if v6:
        return bytes((0, 0x60)) + ib.u16(40000) + ib.ip6(a.ll) + ib.ip6(b.ll)
    return bytes((0, 0x40)) + ib.u16(40000) + bytes(12) + ib.ip4(a.ip) + bytes(12) + ib.ip4(b.ip)


def request(s, a, b, n, service, v6=False):
    c = Connection(s, a, b, (0xA100 + n, 0xB100 + n), (0x3000 + n, 0x4000 + n), 0x7000 + n)
    c.req(service, private(a, b, v6))
    return c


def refusals(s, a, b, times, service=service_id(LUSTRE), seconds=3, reason=SERVICE, first=0, **of):
    """REQs, each of which the other end refuses. Returns the frame of the first REJ."""
    frame = number(s) + 2
    for n in range(times):
        request(s, a, b, first + n, service, **of).rej(reason)
        s.wait(seconds)
    return frame


@case
def service_that_nobody_offers():
    s, a, b, _ = link()
    first = refusals(s, a, b, 5)
    texts = [b.gid, "all 3 connections of GID " + a.gid, "RDMA IP CM (TCP port space), port 988"]
    texts += ["0x00000000010603dc, since frame %d" % first, "reason 8", "no program listens there"]
    return s, [("connection_refused", first + 4, 3, texts)]


@case
def service_that_nobody_offers_by_ipv6():
    """A tap has each packet twice."""
    s, a, b, _ = link()
    before = number(s)
    for n in range(4):
        c = request(s, a, b, n, service_id(NFS), v6=True)
        copy_last(s)
        c.rej(SERVICE)
        copy_last(s)
        s.wait(2)
    return s, [
        ("connection_refused", before + 11, 2, ["port 20049, ", "since frame %d" % (before + 3)])
    ]


@case
def services_that_refuse_a_client():
    """Two services of one host, one by RDMA IP CM, one with an identifier of its own. The capture begins
    after the joins."""
    s, a, b, _ = link()
    del s.records[:]
    for n in range(3):
        for service in (service_id(LUSTRE), 0x12345678ABCDEF01):
            request(s, a, b, 8 * n + (service > 2**32), service).rej(CONSUMER)
        s.wait(1)
    texts = ["reason 28, consumer reject"]
    return s, [
        ("connection_refused", 10, 1, texts + ["port 988"]),
        ("connection_refused", 12, 1, texts + ["unknown service, Service-ID 0x12345678abcdef01"]),
    ]


@case
def services_that_refuse_now_and_then():
    """Twice, as a tool that looks for it; at once; each minute, as a monitor; with a connection between;
    sent elsewhere (IBA 12.6.7.2: reason 25); two hosts; REJs that come again."""
    s, a, b, c = link()
    refusals(s, a, b, 2)
    refusals(s, a, b, 4, service_id(NFS), seconds=0, first=16)
    refusals(s, a, b, 4, service_id(1), seconds=60, first=32)
    refusals(s, a, b, 2, service_id(3260), first=48)
    accepted = request(s, a, b, 56, service_id(3260))
    accepted.rep()
    accepted.rtu()
    refusals(s, a, b, 2, service_id(3260), first=57)
    refusals(s, a, b, 4, service_id(4420), reason=REDIRECTION, first=64)
    refusals(s, a, b, 2, service_id(18515), first=80)
    refusals(s, a, c, 2, service_id(18515), first=96)
    again = request(s, c, b, 112, service_id(18515))
    for _ in range(4):
        again.rej(SERVICE)
        s.wait(1)
    return s, []

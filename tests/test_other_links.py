# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of other links in the same file do not change what ipoib-check reports about a subnet.

The window in which frames may have been captured in another order (lib/model/order.h) counts only
frames of the same subnet."""
import pytest

from frames import ib
from frames.build import A, B, C, D, JOIN_MASK, SM, Connection, Tape, broadcast_record, ping, sa
from frames.ib import ONLY, UD, Frame
from support import capfile, findings

BEFORE_IP = "rfc4755.2.3.connection-before-ip"
MAC = bytes.fromhex("020000000001020000000002")
ROCE_PORT = 4791


def tcp():
    return MAC + ib.u16(0x0800) + ib.ipv4("192.0.2.1", "192.0.2.2", 6, bytes(20))


def roce2(inner):
    datagram = ib.udp("192.0.2.1", "192.0.2.2", 49152, ROCE_PORT, inner + bytes(4))
    return MAC + ib.u16(0x0800) + ib.ipv4("192.0.2.1", "192.0.2.2", 17, datagram)


def roce2_data():
    return roce2(ib.bth(0x04, 0xFFFF, 0x77, 1) + ib.fill(64))


def other_fabric():
    """A datagram of another program, on a second fabric."""
    ports = {"dlid": 0x32, "slid": 0x31, "destqp": 0x77, "srcqp": 0x78}
    return Frame(UD | ONLY, ib.fill(64), qkey=1, psn=1, **ports).ib()


def data_before_the_rep(between):
    """B joins. Then its REP to A's REQ is captured after data from A, which A sent after the REP
    arrived. The PSNs of B's GSI show that no REP is missing. between: number of frames of other
    ports that are captured between the two."""
    t, record = Tape(), broadcast_record(port_gid=B.gid)
    sa(t, B, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    sa(t, SM, B, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    c = Connection(t)
    c.req(ib.service_id_rfc(B.qpn), ib.private_data(A.qpn, 65524))
    c.packet(True, ONLY, ping(A, B), c.psns[0])
    for n in range(between):
        t.ud(C, D, ping(C, D, seq=n))
    c.rep(ib.private_data(B.qpn, 65524))
    c.rtu(ib.private_data(A.qpn, 65524))
    return t


def beside(t, other, count):
    """The frames of a tape, with frames of another interface before each."""
    frames = []
    for time, data, wire in t.records:
        frames += [capfile.Frame(time, other(), len(other()), 1)] * count
        frames.append(capfile.Frame(time, data, wire, 0))
    link = capfile.INFINIBAND if other == other_fabric else capfile.ETHERNET
    return capfile.pcapng([capfile.INFINIBAND, link], frames)


def found(capture):
    return [rule for _, rule in findings.failures(capture)]


@pytest.mark.parametrize("count", [0, 1, 20])
@pytest.mark.parametrize("other", [tcp, roce2_data, other_fabric])
def test_order_of_neighbours_is_uncertain(other, count):
    assert found(beside(data_before_the_rep(0), other, count)) == []


@pytest.mark.parametrize("count", [0, 20])
@pytest.mark.parametrize("other", [tcp, roce2_data, other_fabric])
def test_data_long_before_the_rep_is_found(other, count):
    assert found(beside(data_before_the_rep(9), other, count)) == [BEFORE_IP]

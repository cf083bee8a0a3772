# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of the frame that a finding is about, which Wireshark highlights when the finding is
selected: for findings of the model that are about a field of the frame in which they are shown.

The expected offsets are those of IBA and RFC 4391, in a packet without GRH."""
import xml.etree.ElementTree as ET

import pytest

from frames.faults import fixture  # faults fills the tables of fixture
from frames.subnet import Host, Subnet
from support import findings
from support.paths import testdata
from support.wireshark import tshark

LRH_SLID, LRH_SIZE, BTH_SIZE, DETH_SIZE = 6, 8, 12, 8  # IBA 7.7, 9.2, 9.3.2
MAD = LRH_SIZE + BTH_SIZE + DETH_SIZE
MODIFIER = MAD + 20  # IBA 13.4.3
SMP_DATA = MAD + 64  # IBA 14.2.1.1, 14.2.1.2
PORT_INFO_LMC, SM_INFO_STATE, PKEY_TABLE_SIZE = 34, 20, 64  # IBA 14.2.5.6, 14.2.5.13, 14.2.5.7
TWINS = (0xFFFF, 0x8005, 0x0005)


def places(capture, rule):
    """(frame, first byte, bytes) of each finding of the rule."""
    found = findings.places(capture, "--deviations", "none")
    return [(p.frame, p.start, p.end - p.start) for p in found if p.rule == rule]


@pytest.mark.parametrize(
    "capture, rule, frame, start, size",
    [
        ("lmc.pcap", "sm.lmc-paths", 49, SMP_DATA + PORT_INFO_LMC, 1),
        ("sm-failover.pcap", "sm.failover-rejoin", 86, LRH_SLID, 2),
        ("sm-failover.pcap", "sm.takeover-causes", 86, LRH_SLID, 2),
        ("sm-failover.pcap", "sm.takeover-causes", 61, MODIFIER, 4),
        ("sm-failover.pcap", "sm.one-master", 169, SMP_DATA + SM_INFO_STATE, 1),
    ],
)
def test_field_of_subnet_management(capture, rule, frame, start, size):
    assert (frame, start, size) in places(testdata(capture), rule)


def with_pkeys(pkeys, known=True):
    """The SM sets a port's P_Key table. known: the port's LID is known before."""
    s, host = Subnet(), Host(2)
    s.node_info(host)
    if known:
        s.port_info(host)
    s.pkey_table(host, *pkeys)
    if not known:
        s.port_info(host)
    return s.pcap()


@pytest.mark.parametrize(
    "rule, pkeys",
    [
        ("partition.overlap", TWINS),
        ("partition.membership-twins", TWINS),
        ("partition.default-pkey", (0x8005,)),
    ],
)
def test_pkey_table(rule, pkeys):
    """Frame 5: the Set of the table, after NodeInfo and PortInfo. If the table was captured before
    the port was known, frame 5 shows that, and the table is in another frame."""
    assert places(with_pkeys(pkeys), rule) == [(5, SMP_DATA, PKEY_TABLE_SIZE)]
    assert places(with_pkeys(pkeys, known=False), rule) == [(5, 0, 0)]


def test_type_of_ipv6_over_a_connection_with_a_small_mtu():
    """RFC 4755 section 5: the connection must carry 1280 octets. The encapsulation header's Type
    says that the datagram is IPv6."""
    rule = "rfc4755.5.minimum-mtu"
    f = next(f for f in fixture.FIXTURES if (f.rule, f.variant) == (rule, "-2"))
    capture = fixture.make_capture(f)[0].pcap()
    assert [(start, size) for _, start, size in places(capture, rule)] == [(LRH_SIZE + BTH_SIZE, 2)]


def test_wireshark_highlights_the_bytes():
    """lmc.pcap, frame 49: the line of the finding in the tree."""
    path = testdata("lmc.pcap")
    out = tshark("-r", path, "-Y", "frame.number == 49", "-T", "pdml", check=True).stdout
    lines = ET.fromstring(out).iterfind(".//field[@name='ipoib.conformance']/field")
    shown = [(int(line.get("pos")), int(line.get("size"))) for line in lines]
    assert shown == [(SMP_DATA + PORT_INFO_LMC, 1)]

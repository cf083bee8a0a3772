# SPDX-License-Identifier: GPL-2.0-or-later
"""Wireshark calls the heuristic dissector that matched last first. SDP's matches every connection
whose Service-ID has bit 16 set, and so IPoIB's to a UD QPN above 0xffff."""
import pytest

from frames import ib
from frames.build import SDP_SID, erf_pcap
from frames.connection import Connection
from frames.fabric import A, Node, Tape
from frames.messages import ping
from support.wireshark import tshark

LARGE = Node(2, "fe80::2:c902:24:f636", 0x010405, "10.0.0.2", "fe80::202:c902:24:f636")


def connections(*services):
    """Setup, one SEND and end of a connection for each service; the same datagram in each."""
    t = Tape()
    for n, service in enumerate(services, 1):
        c = Connection(t, b=LARGE, ids=(n, 0x100 + n), qps=(0x200 + n, 0x300 + n), tid=0x1000 * n)
        ipoib = service != SDP_SID
        c.set_up(
            service,
            ib.private_data(A.qpn, 2044) if ipoib else b"",
            ib.private_data(LARGE.qpn, 2044) if ipoib else b"",
        )
        c.send(True, ping(A, LARGE))
        c.dreq()
        c.drep()
    return erf_pcap(t)


IPOIB = ib.service_id_linux(LARGE.qpn)


@pytest.mark.parametrize(
    "services",
    [
        (IPOIB, SDP_SID, IPOIB),
        (SDP_SID, IPOIB, IPOIB, SDP_SID),
        (IPOIB, IPOIB, SDP_SID, SDP_SID, IPOIB),
    ],
)
@pytest.mark.parametrize("passes", [[], ["-2"]])
def test_a_connection_is_its_own_protocol_whichever_came_before(tmp_path, services, passes):
    path = tmp_path / "competing.pcap"
    path.write_bytes(connections(*services))
    fields = ["-T", "fields", "-e", "frame.protocols", "-Y", "infiniband.bth.destqp != 1"]
    protocols = tshark("-r", str(path), *passes, *fields, check=True).stdout.split()
    expected = ["infiniband_sdp" if service == SDP_SID else "ipoib" for service in services]
    assert [p.split(":")[2] for p in protocols] == expected


def test_the_private_data_of_ipoib_is_no_other_protocols(tmp_path):
    """SDP's heuristic knows its messages by the Service-ID, bit 16 of which IPoIB's has too."""
    path = tmp_path / "private.pcap"
    path.write_bytes(connections(SDP_SID, IPOIB))
    fields = ["-T", "fields", "-e", "frame.protocols", "-Y", "infiniband.mad.attributeid == 0x10"]
    of_sdp, of_ipoib = tshark("-r", str(path), *fields, check=True).stdout.split()
    assert "sdp" in of_sdp and "sdp" not in of_ipoib

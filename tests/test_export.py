# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets written with a display filter: those that it matches, and those whose bytes they show.

Wireshark writes the frames that dissectors mark for File, Export Specified Packets and for
`tshark -2 -Y FILTER -w FILE`. The frames here are counted by hand: testdata/README.md lists those
of connected.pcap, and tests/frames/expect/built-sa-table.pcap.txt those of the tables."""
import pytest

from support import capfile
from support.folders import open_folder
from support.paths import testdata
from support.wireshark import tshark

PINGS = [47, 52, 55, 57, 59, 61]  # three requests and replies, of one packet each
MESSAGES = [*range(63, 73), *range(74, 84)]  # First, eight Middles, Last: a request and a reply
# Record 3 of two tables begins in the segment before that in which it ends.
RECORD_3, RECORD_3_ENDS = [2, 4, 8, 9], [4, 9]


def exported(capture, *options):
    """The numbers, in the capture, of the frames that tshark writes."""
    with open_folder(0o1777) as folder:  # tshark may be another user
        tshark("-r", testdata(capture), *options, "-w", folder / "out", check=True)
        written = capfile.read(folder / "out").frames
    number = {f.time: n for n, f in enumerate(capfile.read(testdata(capture)).frames, 1)}
    return [number[frame.time] for frame in written]


@pytest.mark.parametrize(
    "capture, wanted, frames",
    [
        ("connected.pcap", "icmp", [*PINGS, *MESSAGES]),
        ("connected.pcap", "icmp.type == 0 && ipv6", []),
        ("built/built-sa-table.pcap", "ipoib.mgid == ff12:401b:ffff::103", RECORD_3),
        ("built/built-sa-table.pcap", "ipoib.mgid == ff12:401b:ffff::100", [2, 8, 14, 16]),
    ],
    ids=["message", "none", "record over two segments", "record in one segment"],
)
def test_two_passes_write_the_packets_that_others_depend_on(capture, wanted, frames):
    assert exported(capture, "-2", "-Y", wanted) == frames


@pytest.mark.parametrize(
    "capture, wanted, frames",
    [
        ("connected.pcap", "icmp", [*PINGS, 72, 83]),
        ("built/built-sa-table.pcap", "ipoib.mgid == ff12:401b:ffff::103", RECORD_3_ENDS),
    ],
    ids=["message", "record over two segments"],
)
def test_one_pass_writes_a_packet_before_another_depends_on_it(capture, wanted, frames):
    """As doc/wireshark.md says."""
    assert exported(capture, "-Y", wanted) == frames

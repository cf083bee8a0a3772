# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets written with a display filter: those that it matches, and those whose bytes they show.

Wireshark writes the frames that dissectors mark for File, Export Specified Packets and for
`tshark -2 -Y FILTER -w FILE`. tshark 4.4 and 4.6 ignore these marks, those of Wireshark's own IP
dissector too. The frames here are counted by hand: testdata/README.md lists those of connected.pcap,
and tests/frames/expect/built-sa-table.pcap.txt those of the tables."""
import pytest

from support import capfile
from support.folders import open_folder
from support.paths import testdata
from support.wireshark import tshark

PINGS = [47, 52, 55, 57, 59, 61]  # three requests and replies, of one packet each
FIRSTS_AND_MIDDLES = [*range(63, 72), *range(74, 83)]  # of a request and a reply of 40,000 bytes
LASTS = [72, 83]


def exported(capture, *options):
    """The numbers, in the capture, of the frames that tshark writes."""
    with open_folder(0o1777) as folder:  # tshark may be another user
        tshark("-r", testdata(capture), *options, "-w", folder / "out", check=True)
        written = capfile.read(folder / "out").frames
    number = {f.time: n for n, f in enumerate(capfile.read(testdata(capture)).frames, 1)}
    return [number[frame.time] for frame in written]


@pytest.fixture(name="marks_count", scope="module")
def writes_ip_fragments():
    """Whether this tshark writes the frames that dissectors mark: 51 to 53 are the first fragments
    of an echo request (testdata/README.md), whose last fragment the filter matches."""
    count = {51, 52, 53} <= set(exported("datagram.pcap", "-2", "-Y", "icmp"))
    assert count or " 4.0." not in tshark("--version", check=True).stdout.splitlines()[0]
    return count


@pytest.mark.parametrize(
    "capture, wanted, matched, needed",
    [
        ("connected.pcap", "icmp", [*PINGS, *LASTS], FIRSTS_AND_MIDDLES),
        ("connected.pcap", "icmp.type == 0 && ipv6", [], []),
        ("built/built-sa-table.pcap", "ipoib.mgid == ff12:401b:ffff::103", [4, 9], [2, 8]),
        ("built/built-sa-table.pcap", "ipoib.mgid == ff12:401b:ffff::100", [2, 8, 14, 16], []),
    ],
    ids=["message", "none", "record over two segments", "record in one segment"],
)
def test_packets_that_others_depend_on(capture, wanted, matched, needed, marks_count):
    """In one pass, tshark has written a packet before another one depends on it."""
    assert exported(capture, "-Y", wanted) == matched
    both = sorted(matched + needed) if marks_count else matched
    assert exported(capture, "-2", "-Y", wanted) == both

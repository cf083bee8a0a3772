# SPDX-License-Identifier: GPL-2.0-or-later
"""The position of the plugin's lines in the tree, in the text of tshark -V: MADs under InfiniBand and
before the CRCs, which are the packet's last bytes; addresses, requests and responses below ARP and
Neighbour Discovery."""
import functools
import re

import pytest

from frames.fixture import tape
from support import capfile, shown
from support.paths import testdata
from support.wireshark import tshark

MADS = ("IPoIB: Subnet Administration", "IPoIB: Communication Management")
ADDRESSES = "IPoIB link-layer addresses"
PLACE_OF = {"arp": "Address Resolution Protocol", "icmpv6": "Internet Control Message Protocol v6"}
CAPTURES = (
    "connected.pcap",
    "partitions.pcap",
    "foreign.pcap",
    "built/built-carrier.erf",
    "built/built-carrier-247.pcap",
    "built/built-carrier-roce2.pcap",
    "built/built-sa-table.pcap",
    "built/built-nd-faults.pcap",
)


@functools.lru_cache(maxsize=None)
def trees(capture, *options):
    """For each frame its tree: (level, text) of each line."""
    out = tshark("-r", testdata(capture), *options, "-V", check=True).stdout
    return [
        [(len(line) - len(line.lstrip(" ")), line.strip()) for line in frame.splitlines()]
        for frame in re.split(r"\n\n(?=Frame \d+:)", out.strip())
    ]


def below(tree, heading):
    """The lines one level below each top-level line that starts so."""
    found, inside = [], False
    for level, text in tree:
        if level == 0:
            inside = text.startswith(heading)
        elif inside and level == 4:
            found.append(text)
    return found


def position(lines, start):
    return next(i for i, text in enumerate(lines) if text.startswith(start))


@pytest.mark.parametrize("capture", CAPTURES)
def test_mads_are_shown_under_infiniband_before_the_crcs(capture):
    for tree in trees(capture):
        lines = below(tree, "InfiniBand")
        mads = [text for _, text in tree if text.startswith(MADS)]
        assert [text for text in lines if text.startswith(MADS)] == mads
        if mads:
            assert position(lines, "MAD Header") < position(lines, MADS)
            assert lines[-2:][0].startswith("Invariant CRC") or lines[-1].startswith("Invariant")
    assert capture.startswith("built") or any(below(t, "InfiniBand") for t in trees(capture))


def test_both_kinds_of_mads_are_in_a_capture():
    """connected.pcap: 20, a join; 45, a REQ."""
    frames = trees("connected.pcap")
    assert MADS[0] in below(frames[19], "InfiniBand")
    assert MADS[1] + ", REQ" in below(frames[44], "InfiniBand")


@pytest.mark.parametrize("capture", CAPTURES)
def test_nothing_of_infiniband_follows_the_crcs(capture):
    for tree in trees(capture):
        lines = below(tree, "InfiniBand")
        crcs = [i for i, text in enumerate(lines) if re.match("(Invariant|Variant) CRC", text)]
        assert crcs == list(range(len(lines) - len(crcs), len(lines))), lines


@pytest.mark.parametrize("capture", CAPTURES)
def test_addresses_are_below_the_message_that_has_them(capture):
    for tree in trees(capture):
        places = [below(tree, heading).count(ADDRESSES) for heading in PLACE_OF.values()]
        assert sum(places) == [text for _, text in tree].count(ADDRESSES)


def test_request_and_response_are_below_arp_and_nd():
    """connected.pcap: ARP request 41 and reply 44, NS 85 and NA 86."""
    frames = trees("connected.pcap", "-2")
    arp, icmpv6 = PLACE_OF["arp"], PLACE_OF["icmpv6"]
    assert below(frames[40], arp)[-2:] == [ADDRESSES, "[Response in: 44]"]
    assert below(frames[43], arp)[-3:-1] == [ADDRESSES, "[Request in: 41]"]
    assert below(frames[84], icmpv6)[-1] == "[Response in: 86]"
    assert below(frames[85], icmpv6)[-2] == "[Request in: 85]"
    assert re.match(r"\[Response time: (0\.0033|3\.3)", below(frames[85], icmpv6)[-1])


def test_response_that_is_truncated_keeps_its_place(tmp_path):
    """connected.pcap: NS 85, NA 86, whose option is truncated."""
    octets = [tape("connected.pcap").frame(n).octets() for n in (85, 86)]
    cut = [capfile.record(0, octets[0]), capfile.record(10**6, octets[1], len(octets[1]) - 10)]
    (tmp_path / "cut.pcap").write_bytes(capfile.pcap(capfile.INFINIBAND, cut, nanoseconds=True))
    tmp_path.chmod(0o755)
    lines = below(trees(str(tmp_path / "cut.pcap"))[1], PLACE_OF["icmpv6"])
    assert lines[-2] == "[Request in: 1]"
    # Wireshark 4.6 prints milliseconds
    assert re.search(r"time: (0\.001000000 seconds|1\.000000 milliseconds)\]$", lines[-1])


def info(capture, frames):
    all_frames = shown.show(testdata(capture)).frames
    return [shown.values(all_frames[n], "_ws.col.Info")[0] for n in frames]


def test_other_protocols_connections_are_named_in_info_on_cm_messages_only():
    """foreign.pcap: REP 112 and DREQ 138 of a connection; its data 114 to 137."""
    name = "[RDMA IP CM (TCP port space)]"
    assert all(name in text for text in info("foreign.pcap", (112, 138)))
    assert not any("[" in text for text in info("foreign.pcap", range(114, 138)))


def test_other_protocols_connections_are_named_in_the_tree():
    tree = trees("foreign.pcap")[113]
    named = [text for text in below(tree, "InfiniBand") if text.startswith("[Connection:")]
    assert len(named) == 1 and named[0].endswith("(RDMA IP CM (TCP port space))]")

# SPDX-License-Identifier: GPL-2.0-or-later
"""One pass, two passes, a filter and a reload show the same of a capture, and no state remains.

The tests compare the ipoib.* fields, Info and addresses of every frame of every capture in
testdata: `tshark`, `tshark -2`, `tshark -Y` with a filter that most frames pass and, where sharkd
is installed, one process that loads a capture, another one and the first again. Only a second pass
shows links to later frames. sharkd dissects frames that are truncated at every length several
times, and always shows the same."""
import functools
import json
import os
import re

import pytest

from frames import ib
from frames.fixture import tape
from frames.unusual import link
from frames.unusual_addresses import announce
from support import capfile, shown
from support.folders import open_folder
from support.paths import TESTDATA, testdata
from support.wireshark import ask_sharkd, load, tshark

# A second pass has these from later frames.
FORWARD = {"ipoib.response_in", "ipoib.reassembled.in"}
COLUMNS = ["frame.protocols", *shown.COLUMNS]
# Texts in Info, by Wireshark's dissectors and ours, that need a later frame.
LATER = re.compile(
    r", reassembled in \d+| \(reply in \d+\)| \(no response found!\)| \(multicast\)| \[Reassembled in #\d+\]"
)
REAL = sorted(n for n in os.listdir(TESTDATA) if n.endswith(".pcap"))
BUILT = sorted("built/" + n for n in os.listdir(testdata("built")) if n.startswith("built-"))


@functools.lru_cache(maxsize=None)
def compared():
    ours = [name for name in shown.fields() if name.startswith("ipoib.")]
    assert ours, "the plugin has no fields"
    return COLUMNS + [name for name in ours if name not in FORWARD]


def show(capture, way=shown.ONE_PASS):
    """The compared fields of each frame."""
    frames = shown.show(capture, way).frames
    return {
        n: {f: LATER.sub("", ",".join(shown.values(frame, f))) for f in compared()}
        for n, frame in frames.items()
    }


def differences(a, b):
    """The frames of b that differ from a: the first three fields of each frame."""
    out = []
    for n in b:
        pairs = {f: (a.get(n, {}).get(f), b[n][f]) for f in b[n]}
        differing = [f"{f}: {x} and {y}" for f, (x, y) in pairs.items() if x != y]
        if differing:
            out.append(f"frame {n}: {differing[:3]}")
    return out


def test_corpus_is_not_empty():
    assert REAL and BUILT


@pytest.mark.parametrize("name", REAL + BUILT, scope="module")
def test_two_passes_show_the_same_as_one(name):
    one, two = show(testdata(name)), show(testdata(name), shown.TWO_PASSES)
    assert differences(one, two) + differences(two, one) == []


@pytest.mark.parametrize("name", REAL, scope="module")
def test_filtered_output_equals_that_of_the_whole(name):
    assert differences(show(testdata(name)), show(testdata(name), shown.LATE)) == []


# ---- one process of sharkd ------------------------------------------------------------------------


def ask_frame(n):
    return {"method": "frame", "params": {"frame": n, "proto": True, "columns": True}}


@pytest.fixture(scope="module")
def shown_in_turn():
    """The responses of one process about two captures in turn, the first of them three times."""
    captures = ["connected.pcap", "datagram.pcap", "connected.pcap", "connected.pcap"]
    requests = []
    for capture in captures:
        requests += [load(testdata(capture)), {"method": "frames", "params": {}}]
        requests += [ask_frame(n) for n in range(1, 81)]
    responses = ask_sharkd(requests)
    each = len(requests) // len(captures)
    return [responses[i * each : (i + 1) * each] for i in range(len(captures))]


def differing(a, b):
    return [f"response {i}: {x} and {y}" for i, (x, y) in enumerate(zip(a, b)) if x != y]


def test_sharkd_shows_connections(shown_in_turn):
    assert "ipoib.connection" in json.dumps(shown_in_turn[0])


def test_another_file_leaves_no_state(shown_in_turn):
    assert differing(shown_in_turn[0], shown_in_turn[2]) == []


def test_the_same_file_again_shows_the_same(shown_in_turn):
    assert differing(shown_in_turn[2], shown_in_turn[3]) == []


def test_truncated_frames_show_the_same_again(open_path):
    """The bytes of an ARP request and of a CM REQ, truncated at every length; sharkd dissects each
    several times."""
    times = 7
    whole = [tape("connected.pcap").frame(n).octets() for n in (41, 45)]
    records = [(n - 1, data[:n], len(data)) for data in whole for n in range(1, len(data))]
    capture = open_path / "truncated.pcap"
    capture.write_bytes(capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    asked = [ask_frame(n) for n in range(1, len(records) + 1) for _ in range(times)]
    responses = ask_sharkd([load(capture)] + asked)[1:]
    shown = [responses[i * times : (i + 1) * times] for i in range(len(records))]
    assert [n for n, same in enumerate(shown, 1) if any(s != same[0] for s in same)] == []


def test_datagram_of_another_sender_is_the_same_in_two_passes(open_path):
    """The LID is not one of the connection's ends: the datagram is IPoIB, but of no connection."""
    t = tape("connected.pcap")
    t[59]["slid"] = 99
    capture = open_path / "another.pcap"
    capture.write_bytes(t.pcap())
    one, two = show(capture), show(capture, shown.TWO_PASSES)
    assert differences(one, two) == []
    assert ":ipoib:" in one[59]["frame.protocols"]


# ---- RoCE v2 over a connection: the state of the outer packet does not apply to the inner one


@pytest.fixture(scope="module")
def nested():
    """connected.pcap with a RoCE v2 packet in frame 59, as shown in one pass and in two."""
    t = tape("connected.pcap")
    inner = ib.bth(0x04, 0xFFFF, 0x77, 1) + ib.encap(0x0800, bytes(24)) + bytes(4)
    udp = ib.udp("10.0.0.1", "10.0.0.2", 49152, 4791, inner)
    t[59].datagram(0x0800, ib.ipv4("10.0.0.1", "10.0.0.2", 17, udp))
    with open_folder() as folder:
        capture = folder / "nested.pcap"
        capture.write_bytes(t.pcap())
        return show(capture), show(capture, shown.TWO_PASSES)


def test_nested_packet_is_the_same_in_two_passes(nested):
    one, two = nested
    assert differences(one, two) == []


def test_only_the_outer_packet_is_ipoib(nested):
    protocols = nested[0][59]["frame.protocols"]
    assert (protocols.count("ipoib"), protocols.count("infiniband")) == (1, 2), protocols


# ---- an address with more IP addresses than a search by frame looks at (HISTORY_DEPTH_BY_FRAME)

PROXIED = 300


@pytest.fixture(scope="module")
def proxied():
    """A port announces one IP address after the other for its link-layer address, as with proxy
    ARP: the last PROXIED frames."""
    s, a, _ = link(1, 2)
    for n in range(PROXIED):
        announce(s, a, f"10.1.{n // 200}.{n % 200 + 1}")
    with open_folder() as folder:
        capture = folder / "proxied.pcap"
        capture.write_bytes(s.pcap())
        yield str(capture)


def test_seen_with_ip_is_the_address_up_to_this_frame(proxied):
    """One pass and two: each announcement shows its own address, the newest at its frame."""
    for options in ([], ["-2"]):
        run = tshark(*options, "-r", proxied, "-Y", "arp.isgratuitous", "-T", "fields",
                     "-e", "arp.src.proto_ipv4", "-e", "ipoib.lladdr.ipv4")  # fmt: skip
        rows = [line.split("\t") for line in run.stdout.splitlines()][-PROXIED:]
        assert len(rows) == PROXIED, run.stderr
        assert [r for r in rows if r[1].split(",") != r[:1]] == []


def test_frames_selected_in_any_order_show_the_same(proxied):
    frames = list(range(1, 41)) + [PROXIED // 2, PROXIED]
    forward = ask_sharkd([load(proxied)] + [ask_frame(n) for n in frames])[1:]
    backward = ask_sharkd([load(proxied)] + [ask_frame(n) for n in reversed(frames)])[1:]
    trees = [[json.dumps(a.get("result", a)) for a in x] for x in (forward, backward)]
    assert "Seen with IP: 10.1.0.1" in trees[0][-2] + "".join(trees[0])
    assert trees[0] == trees[1][::-1]

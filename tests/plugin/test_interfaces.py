# SPDX-License-Identifier: GPL-2.0-or-later
"""Several subnets in one capture: the model does not use on one interface what another interface
shows.

Two real captures have the same LIDs, P_Keys and MGIDs, but different Q_Keys, MLIDs, scopes and
communication IDs. They are put into one pcapng as two interfaces, or one ERF file as two ports,
frame by frame in turn. ipoib-check and the plugin must find in it what they find in each single
capture: by default if the ports' GUIDs differ too, as those of two fabrics do, and if the user says
so also where the GUIDs are the same."""
import collections
import itertools
import json
import os
import re
import subprocess
import tempfile

import pytest

from frames import edit
from support import capfile, check, shown, split
from support.paths import BIN, testdata

CHECK = os.path.join(BIN, "ipoib-check")
PAIRS = [
    ("datagram.pcap", "connected.pcap"),
    ("two-scopes.pcap", "sm-failover.pcap"),
    ("connected.pcap", "connected.pcap"),
    ("cm-reject.pcap", "retransmit.pcap"),
    ("partitions.pcap", "switch4.pcap"),
]
FIELDS = ["ipoib.rule.id", "ipoib.rule.deviation", "ipoib.note.id"]


SPLIT = "connected.pcap"
WAYS = [("pcapng", "auto"), ("erf", "auto"), ("pcapng", "each"), ("erf", "each")]
GUID, OTHER_GUID = (
    b"\x11\x75\0\0\0",
    b"\x11\x75\0\x77\0",
)  # of all ports; also as interface identifiers


def with_other_guids(path, folder):
    """The capture as a fabric of other ports, with the same LIDs, would produce it."""
    capture = capfile.read(path)
    for frame in capture.frames:
        frame.data = edit.Packet(frame.data.replace(GUID, OTHER_GUID)).octets()
    other = os.path.join(folder, "other.pcap")
    with open(other, "wb") as out:
        out.write(capfile.pcap(capfile.INFINIBAND, capture.frames, nanoseconds=True))
    return other


def later(data):
    """The same packet, sent later: its queue pair has counted its PSNs."""
    packet = edit.Packet(data)
    packet["psn"] += 1000
    return packet.octets()


class Pair:
    """Two captures, the file with both in turn, and for each of its frames the capture (0, 1) and
    the number there."""

    def __init__(self, names, way, mode, folder):
        self.mode = mode
        self.paths = [testdata(name) for name in names]
        if mode == "auto":
            self.paths[1] = with_other_guids(self.paths[1], folder)
        captures = [capfile.read(path) for path in self.paths]
        assert [c.linktype for c in captures] == [capfile.INFINIBAND] * 2
        assert all(c.nanoseconds for c in captures)
        frames, self.origin = [], []
        for number, turn in enumerate(itertools.zip_longest(*(c.frames for c in captures)), 1):
            for which, frame in enumerate(turn):
                if frame:
                    frame.interface = which
                    frames.append(frame)
                    self.origin.append((which, number))
        self.both = os.path.join(folder, "both." + way)
        with open(self.both, "wb") as out:
            out.write(split.FILES[way](frames))


def pair_id(value):
    return "+".join(n[:-5] if n.endswith(".pcap") else n for n in value)


@pytest.fixture(scope="module", params=[(*p, *w) for p in PAIRS for w in WAYS], ids=pair_id)
def pair(request):
    with tempfile.TemporaryDirectory(prefix="ipoib-interfaces.") as folder:
        os.chmod(folder, 0o755)  # tshark may run as another user
        yield Pair(request.param[:2], *request.param[2:], folder)


def output(command, statuses):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in statuses, f"{command}: exit {done.returncode}: {done.stderr[:2000]}"
    return done.stdout


def by_check(path, mode="auto"):
    """How often each rule had each outcome except pass and inconclusive; ipoib-check does not list
    every frame."""
    counts = collections.Counter()
    command = [CHECK, "--format", "json", "--interfaces", mode, path]
    for r in json.loads(output(command, (0, 1)))["results"]:
        if r["outcome"] in ("fail", "deviation", "noted"):
            counts[r["id"], r["outcome"]] += r["count"]
    return counts


def shown_with(path, mode=None):
    """The frames of a capture; None: with the default mode."""
    preferences = ("-o", f"ipoib.interfaces:{mode}") if mode else ()
    return shown.show(path, shown.ONE_PASS, *preferences).frames


def by_tshark(path, mode=None):
    """(frame, rule, outcome) of each finding."""
    found = []
    for number, frame in shown_with(path, mode).items():
        ids, deviations, notes = (shown.values(frame, field) for field in FIELDS)
        outcomes = {"0": "fail", "False": "fail"}
        found += [(number, i, outcomes.get(d, "deviation")) for i, d in zip(ids, deviations)]
        found += [(number, note, "noted") for note in notes]
    return sorted(found)


def test_plugin_finds_the_same_as_in_each_capture_separately(pair):
    alone = [by_tshark(path) for path in pair.paths]
    found = [[], []]
    for frame, rule, outcome in by_tshark(pair.both, pair.mode):
        which, number = pair.origin[frame - 1]
        found[which].append((number, rule, outcome))
    assert alone[0] and alone[1]
    for which in (0, 1):
        assert sorted(found[which]) == alone[which], pair.paths[which]


@pytest.mark.skipif(not os.path.exists(CHECK), reason="ipoib-check is not built")
def test_ipoib_check_counts_the_sum_of_both(pair):
    expected = by_check(pair.paths[0]) + by_check(pair.paths[1])
    assert expected
    assert by_check(pair.both, pair.mode) == expected


# ---- the tables' column Interface


def erf_in_pcapng(frames):
    """The ports of one card, which is one interface of the file."""
    records = [
        (f.time, capfile.erf_record(f.time, f.data, f.wire, 4 | f.interface), 16 + f.wire)
        for f in frames
    ]
    return capfile.pcapng(capfile.ERF, records)


def column(table, path, name):
    """The cells of a column of -z ipoib,TABLE."""
    answer = shown.show(path, shown.STATISTICS)
    lines = shown.table(answer, "IPoIB " + table.capitalize()).splitlines()
    begin = lines[0].index(name)
    return [re.split(" {2,}", line[begin:])[0] for line in lines[1:]]


@pytest.mark.parametrize("table", ["peers", "groups", "connections"])
@pytest.mark.parametrize(
    "form, names",
    [
        (split.pcapng, {"0", "1"}),
        (split.erf, {"0", "1"}),
        (split.erf_in_pcap, {"0", "1"}),
        (erf_in_pcapng, {"0, ERF port 0", "0, ERF port 1"}),
    ],
    ids=["pcapng", "erf", "erf-in-pcap", "erf-in-pcapng"],
)
def test_tables_tell_two_fabrics_apart(open_path, table, form, names):
    paths = [testdata(SPLIT), with_other_guids(testdata(SPLIT), str(open_path))]
    pairs = zip(*(capfile.read(path).frames for path in paths))
    frames = [
        capfile.Frame(f.time, f.data, f.wire, port) for p in pairs for port, f in enumerate(p)
    ]
    path = open_path / "both"
    path.write_bytes(form(frames))
    found = collections.Counter(column(table, str(path), "Interface"))
    assert set(found) == names
    assert len(set(found.values())) == 1


# ---- sections


@pytest.mark.parametrize("endian", "<>")
@pytest.mark.parametrize("mode", ["auto", "each"])
def test_interfaces_of_two_sections_are_two(open_path, mode, endian):
    """A pcapng file with a section for each of two fabrics: both are on the first interface of
    their section. Byte order is a section's own."""
    paths = [testdata("datagram.pcap"), testdata("connected.pcap")]
    if mode == "auto":
        paths[1] = with_other_guids(paths[1], str(open_path))
    captures = [capfile.read(path).frames for path in paths]
    path = open_path / "sections.pcapng"
    path.write_bytes(
        capfile.pcapng(capfile.INFINIBAND, captures[0])
        + capfile.pcapng(capfile.INFINIBAND, captures[1], endian)
    )
    first, second = map(by_tshark, paths)
    later = [(len(captures[0]) + frame, rule, outcome) for frame, rule, outcome in second]
    assert by_tshark(str(path), mode) == first + later
    assert by_check(str(path), mode) == by_check(paths[0]) + by_check(paths[1])


# ---- what the user decides


def response_frames(path, mode=None):
    """The frames for which tshark shows the request."""
    frames = shown_with(path, mode).items()
    return [n for n, frame in frames if shown.values(frame, "ipoib.response_to")]


@pytest.fixture(params=["pcapng", "erf"])
def directions(request, open_path):
    """A capture whose directions are on two interfaces."""
    frames = [(f.time, f.data, f.wire) for f in capfile.read(testdata(SPLIT)).frames]
    path = open_path / f"split.{request.param}"
    path.write_bytes(split.WAYS[request.param](frames))
    return str(path)


@pytest.mark.parametrize("mode", ["auto", "one"])
def test_directions_of_a_cable_are_one_subnet(directions, mode):
    assert by_tshark(directions, mode) == by_tshark(testdata(SPLIT))
    assert by_check(directions, mode) == by_check(testdata(SPLIT))
    assert response_frames(directions, mode) == response_frames(testdata(SPLIT)) != []


def test_each_interface_is_a_subnet_with_interfaces_each(directions):
    linked = response_frames(testdata(SPLIT))
    assert len(response_frames(directions, "each")) < len(linked) / 2
    assert by_tshark(directions, "each") != by_tshark(testdata(SPLIT))
    assert by_check(directions, "each") != by_check(testdata(SPLIT))


def test_two_fabrics_are_one_with_interfaces_one(pair):
    alone = by_check(pair.paths[0]) + by_check(pair.paths[1])
    assert by_check(pair.both, "one") != alone


def test_unknown_interface_mode_is_refused():
    done = check.run("--interfaces", "two", testdata(SPLIT))
    assert done.returncode == check.UNJUDGED
    assert "--interfaces needs auto, one or each, not 'two'" in done.err


# ---- interfaces that were taken for one subnet


ERF_PORTS = "ERF ports 0 and 1 of interface 0"


@pytest.mark.parametrize("form, names", [("pcapng", "interfaces 0 and 1"), ("erf", ERF_PORTS)])
def test_contradiction_is_reported_once(open_path, form, names):
    """Two fabrics: the first frames of one are split by direction, then each fabric is on its own
    interface."""
    one = capfile.read(testdata("switch4.pcap")).frames
    other = capfile.read(with_other_guids(testdata("switch4.pcap"), str(open_path))).frames
    begin = split.by_direction([(f.time, f.data, f.wire) for f in one[:60]])
    both = [
        capfile.Frame(f.time, later(f.data), f.wire, n)
        for p in zip(one, other)
        for n, f in enumerate(p)
    ]
    path = open_path / f"contradiction.{form}"
    path.write_bytes(split.FILES[form](begin + both))
    done = check.run(str(path))
    assert done.err.count("were taken for one subnet") == 1
    assert f"{names} were taken for one subnet" in done.err
    frames = shown_with(path).values()
    assert sum(bool(shown.values(f, "ipoib.interfaces.contradiction")) for f in frames) == 1

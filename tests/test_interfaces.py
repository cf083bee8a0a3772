# SPDX-License-Identifier: GPL-2.0-or-later
"""Several subnets in one capture: what is seen on one interface is not known on another.

Two real captures whose LIDs, GIDs, P_Keys and MGIDs are the same, but not all that goes with them (Q_Key, MLIDs, scope,
communication IDs), are put into one pcapng as two interfaces, frame by frame in turn. What ipoib-check and the plugin
find in it must be what they find in each alone."""
import collections
import itertools
import json
import os
import subprocess
import tempfile

import pytest

from support import capfile
from support.paths import BIN, TSHARK, testdata

CHECK = os.path.join(BIN, "ipoib-check")
PAIRS = [
    ("datagram.pcap", "connected.pcap"),
    ("two-scopes.pcap", "sm-failover.pcap"),
    ("connected.pcap", "connected.pcap"),
    ("cm-reject.pcap", "retransmit.pcap"),
    ("partitions.pcap", "switch4.pcap"),
]
FIELDS = ["frame.number", "ipoib.rule.id", "ipoib.rule.deviation", "ipoib.note.id"]


class Pair:
    """Two captures, the file with both in turn, and of each of its frames the capture (0, 1) and the number there."""

    def __init__(self, names, folder):
        self.paths = [testdata(name) for name in names]
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
        self.both = os.path.join(folder, "both.pcapng")
        with open(self.both, "wb") as out:
            out.write(capfile.pcapng([capfile.INFINIBAND] * 2, frames))


@pytest.fixture(scope="module", params=PAIRS, ids=lambda names: "+".join(n[:-5] for n in names))
def pair(request):
    with tempfile.TemporaryDirectory(prefix="ipoib-interfaces.") as folder:
        os.chmod(folder, 0o755)  # tshark may run as another user
        yield Pair(request.param, folder)


def output(command, statuses):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in statuses, f"{command}: exit {done.returncode}: {done.stderr[:2000]}"
    return done.stdout


def by_check(path):
    """How often each rule had each outcome but pass and inconclusive; ipoib-check does not list every frame."""
    counts = collections.Counter()
    for r in json.loads(output([CHECK, "--format", "json", path], (0, 1)))["results"]:
        if r["outcome"] in ("fail", "deviation", "noted"):
            counts[r["id"], r["outcome"]] += r["count"]
    return counts


def by_tshark(path):
    """(frame, rule, outcome) of each finding."""
    options = [option for field in FIELDS for option in ("-e", field)]
    wanted = ["-Y", "ipoib.rule.id || ipoib.note.id", "-T", "fields", *options]
    found = []
    for row in output([*TSHARK, "-r", path, *wanted], (0,)).splitlines():
        number, ids, deviations, notes = row.split("\t")
        judged = zip(ids.split(","), deviations.split(",")) if ids else []
        outcomes = {"0": "fail", "False": "fail"}
        found += [(int(number), rule, outcomes.get(d, "deviation")) for rule, d in judged]
        found += [(int(number), note, "noted") for note in notes.split(",") if note]
    return sorted(found)


def test_plugin_finds_in_each_frame_what_it_finds_there_alone(pair):
    alone = [by_tshark(path) for path in pair.paths]
    found = [[], []]
    for frame, rule, outcome in by_tshark(pair.both):
        which, number = pair.origin[frame - 1]
        found[which].append((number, rule, outcome))
    assert alone[0] and alone[1]
    for which in (0, 1):
        assert sorted(found[which]) == alone[which], pair.paths[which]


@pytest.mark.skipif(not os.path.exists(CHECK), reason="ipoib-check is not built")
def test_ipoib_check_counts_the_sum_of_both(pair):
    expected = by_check(pair.paths[0]) + by_check(pair.paths[1])
    assert expected
    assert by_check(pair.both) == expected

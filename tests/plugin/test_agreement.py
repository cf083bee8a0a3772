# SPDX-License-Identifier: GPL-2.0-or-later
"""The findings of every capture are the same in ipoib-check's decoder and checks without Wireshark
(parity), in one pass, in two passes, filtered, and when the file is opened again.

The test runs on each Wireshark version. test_passes.py compares all fields of the plugin,
test_same_report.py the reports, test_parity.py the decoded values."""
import collections
import glob
import os

import pytest

from support import findings, shown
from support.paths import TESTDATA
from support.wireshark import ask_sharkd, load, tshark

CAPTURES = sorted(
    path
    for pattern in ("*.pcap", "*.pcapng", "*.erf")
    for path in glob.glob(os.path.join(TESTDATA, "**", pattern), recursive=True)
)
FIELDS = ["ipoib.rule.id", "ipoib.note.id", "ipoib.rule.actual"]
EACH_CAPTURE = pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)


def findings_in(path, way=shown.ONE_PASS):
    """Frame to the values of FIELDS, for the frames with a finding; and the report."""
    answer = shown.show(path, way)
    rows = {
        n: [",".join(shown.values(frame, field)) for field in FIELDS]
        for n, frame in answer.frames.items()
    }
    return {n: row for n, row in rows.items() if any(row)}, shown.report(answer)


@pytest.fixture(scope="module")
def one_pass():
    """Capture to what one pass shows, and the report."""
    return {path: findings_in(path) for path in CAPTURES}


def test_there_are_captures_with_findings(one_pass):
    assert len(CAPTURES) >= 75
    assert sum(bool(frames) for frames, _ in one_pass.values()) >= 30


@EACH_CAPTURE
def test_parity(path, one_pass):
    """Without Wireshark the same frames have findings of the same rules. The plugin shows those of a
    frame in another order: violations come before known deviations."""
    expected = collections.defaultdict(lambda: ([], []))
    asked = ("--deviations", "linux", "--suspicions")
    for f in sorted(findings.frames(path, *asked), key=lambda f: f.rule):
        expected[f.frame][f.outcome == "noted"].append(f.rule)
    found = {
        n: tuple(sorted(v.split(",")) if v else [] for v in row[:2])
        for n, row in one_pass[path][0].items()
    }
    assert found == dict(expected)


@EACH_CAPTURE
def test_two_passes(path, one_pass):
    assert findings_in(path, shown.TWO_PASSES) == one_pass[path]


@EACH_CAPTURE
def test_filtered(path, one_pass):
    """A display filter hides frames, and changes nothing in the others. Statistics count all."""
    frames, report = one_pass[path]
    late = {n: row for n, row in frames.items() if n >= shown.FIRST}
    assert findings_in(path, shown.LATE) == (late, report)


@pytest.fixture(scope="module")
def opened():
    """Capture to what one process shows that opens all captures in turn, and then all in the other
    order."""
    columns = {f"column{n}": f"{name}:0" for n, name in enumerate(FIELDS)}
    frames = {"method": "frames", "params": columns}
    order = CAPTURES + CAPTURES[::-1]
    responses = ask_sharkd([request for path in order for request in (load(path), frames)])
    found = collections.defaultdict(list)
    for path, response in zip(order, responses[1::2]):
        rows = {frame["num"]: frame["c"] for frame in response.get("result", [])}
        found[path].append({n: row for n, row in rows.items() if any(row)})
    return found


@EACH_CAPTURE
def test_reloaded(path, one_pass, opened):
    assert opened[path] == [one_pass[path][0]] * 2


@pytest.mark.parametrize("wanted", ["!ipoib.rule.id", "frame.len > 140"])
@pytest.mark.parametrize("name", ["connected.pcap", "foreign.pcap", "built/built-nd-faults.pcap"])
def test_read_filter(name, wanted):
    """A read filter drops frames, and Wireshark gives their numbers to other frames. Each frame has
    its own findings, not those of a frame that was dropped."""
    path = os.path.join(TESTDATA, name)
    columns = [word for field in ["frame.time_epoch", *FIELDS] for word in ("-e", field)]
    read, displayed = (
        tshark("-r", path, *options, "-T", "fields", *columns, check=True).stdout.splitlines()
        for options in (["-2", "-R", wanted], ["-Y", wanted])
    )
    assert read == displayed

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --format jsonl: an object a line, with the same contents as the JSON report.

The captures are testdata's; support/check.py describes their contents."""
import json
import os
import subprocess

import pytest

from support import check, room
from support.check import CHECK, CONNECTED, ENCAP, OK, UNJUDGED, VIOLATED, expect
from support.paths import testdata

EVENTS = testdata("sm-failover.pcap")


def lines_of(text):
    """The objects; each line is one."""
    assert text.endswith("\n") and "\n\n" not in text
    return [json.loads(line) for line in text.splitlines()]


def without(line, *names):
    return {k: v for k, v in line.items() if k not in ("type", "tool", "version", *names)}


def of_type(lines, kind, *dropped):
    return [without(line, *dropped) for line in lines if line["type"] == kind]


@pytest.mark.parametrize(
    "status, captures",
    [(VIOLATED, [ENCAP]), (OK, [CONNECTED]), (VIOLATED, [CONNECTED, ENCAP]), (OK, [EVENTS])],
    ids=["violated", "conformant", "two", "events"],
)
def test_same_contents_as_json(status, captures):
    whole = json.loads(expect(status, "--format", "json", *captures))
    lines = lines_of(expect(status, "--format", "jsonl", *captures))
    assert {(line["tool"], line["version"]) for line in lines} == {
        (whole["tool"], whole["version"])
    }
    assert of_type(lines, "result") == whole["results"]
    given = whole["summary"].pop("captures")
    assert of_type(lines, "event", "capture") == [e for c in given for e in c.pop("events")]
    assert of_type(lines, "capture") == given
    assert of_type(lines, "summary") == [whole["summary"]]
    assert lines[-1]["type"] == "summary"


def test_each_event_names_its_capture():
    lines = lines_of(expect(OK, "--format", "jsonl", EVENTS))
    events = of_type(lines, "event")
    assert events and {event["capture"] for event in events} == {EVENTS}


def test_node_is_in_each_line():
    lines = lines_of(expect(VIOLATED, "--format", "jsonl", "--node", "node01", ENCAP))
    assert {line["node"] for line in lines} == {"node01"}


def test_same_capture_gives_the_same_report():
    once, again = (expect(VIOLATED, "--format", "jsonl", ENCAP) for _ in range(2))
    assert once == again


def test_capture_that_cannot_be_read_has_a_line(tmp_path):
    path = tmp_path / "broken.pcap"
    path.write_bytes(b"none")
    out = expect(UNJUDGED, "--format", "jsonl", str(path), err="broken.pcap")
    kinds = [line["type"] for line in lines_of(out)]
    assert kinds == ["capture", "summary"]


def test_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.jsonl"
    expect(VIOLATED, "--format", "jsonl", "-o", str(path), ENCAP)
    first = path.read_text()
    lines_of(first)
    done = subprocess.run(
        [*room.command(1000), CHECK, "--format", "jsonl", "-o", str(path), CONNECTED],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == UNJUDGED and "report.jsonl" in done.stderr
    assert path.read_text() == first and os.listdir(tmp_path) == ["report.jsonl"]


def test_full_disk_of_standard_output():
    with open("/dev/full", "wb") as full:
        done = check.run("--format", "jsonl", ENCAP, stdout=full)
    assert done.returncode == UNJUDGED and "No space left" in done.err


def test_closed_pipe():
    """A reader that has ended is an error, not a verdict."""
    read, write = os.pipe()
    os.close(read)
    done = check.run("--format", "jsonl", ENCAP, stdout=write)
    os.close(write)
    assert done.returncode == UNJUDGED and "Broken pipe" in done.err


def test_list_has_no_lines():
    expect(UNJUDGED, "--list", "--format", "jsonl", err="--list prints text or json")


# ---- merged reports


@pytest.fixture(name="reports")
def fixture_reports(tmp_path):
    paths = []
    for name, capture in (("node01", ENCAP), ("node02", CONNECTED), ("node03", EVENTS)):
        paths.append(str(tmp_path / f"{name}.json"))
        check.run("--format", "json", "-o", paths[-1], capture)
    return paths


def test_merged_lines_have_the_same_contents(reports):
    whole = json.loads(expect(VIOLATED, "--merge", "--format", "json", *reports))
    lines = lines_of(expect(VIOLATED, "--merge", "--format", "jsonl", *reports))
    summary = whole["summary"]
    assert of_type(lines, "result") == whole["results"]
    assert {line["node"] for line in lines if line["type"] == "result"} == {
        "node01",
        "node02",
        "node03",
    }
    captures = [line for line in lines if line["type"] == "capture"]
    given = summary.pop("captures")
    assert of_type(lines, "event", "capture", "node", "file") == [
        e for c in given for e in c.pop("events")
    ]
    assert [without({**c, "tool": 0}) for c in captures] == [without(c) for c in given]
    assert of_type(lines, "node") == summary.pop("nodes")
    assert of_type(lines, "rule") == summary.pop("rules")
    assert not summary.pop("targets")
    assert of_type(lines, "summary") == [summary]


def test_merged_event_names_its_capture_and_node(reports):
    lines = lines_of(expect(VIOLATED, "--merge", "--format", "jsonl", *reports))
    events = of_type(lines, "event")
    assert events and {(e["capture"], e["node"]) for e in events} == {(EVENTS, "node03")}


def test_merged_report_that_is_missing_has_a_line(reports):
    out = expect(VIOLATED, "--merge", "--format", "jsonl", *reports, "/nowhere", err="/nowhere")
    [missing] = [
        line
        for line in lines_of(out)
        if line.get("node") == "/nowhere" or line.get("file") == "/nowhere"
    ]
    assert missing["verdict"] == "unjudged" and missing["type"] == "capture"

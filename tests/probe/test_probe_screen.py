# SPDX-License-Identifier: GPL-2.0-or-later
"""The text report of ipoib-probe: a target fits on a terminal of 80 columns and 24 lines, with what
failed first and the verdict last; -v lists everything.

Expected: doc/probe.md, "Reports"."""
import concurrent.futures
import json
import re

import pytest

from support.played_probe import IPV4, PROBE, need_to_play, played

LINES = 22  # the command is on the line before, the prompt on the one after
DOWN = {"ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n"}
EVERY_FIELD = {"22": "0001", "24": "0001", "32": "c1"}
RUNS = {  # name: members of Peer, arguments, first line, lines in this order
    "conforms": (
        {},
        [IPV4],
        f"{IPV4}: reachable (only address resolution is tested), no problem found",
        [
            "  noted         peer.numbers  ",
            "  noted         peer.port  ",
            "  noted         peer.address  ",
            "-v lists every stage",
        ],
    ),
    "two fields": (
        {"edits": EVERY_FIELD},
        [IPV4],
        f"{IPV4}: reachable (only address resolution is tested), 2 problems",
        [
            "  noted         peer.numbers  ",
            "  fail          rfc4391.6.reserved-zero  ",
            "                  expected  0x0000",
            "                  found     0x0001",
            "                  more: ipoib-probe --explain rfc4391.6.reserved-zero",
            "  fail          rfc4391.9.2.arp-hardware-type  ",
            f"{IPV4}: VIOLATED: 2 MUSTs violated",
        ],
    ),
    "silent": (
        {"replies": False},
        [IPV4],
        f"{IPV4}: not reachable",
        [
            "  cause         peer.no-reply  no such host, or it is off: ",
            "                  -> check the address",
            f"{IPV4}: NOT JUDGED: no reply from {IPV4} to 3 ARP requests, 100 ms each",
        ],
    ),
    "stops": (
        {"silent_after": 3},
        [IPV4],
        f"{IPV4}: no longer reachable, 2 open questions",
        [
            "  cause         peer.no-reply  ",
            "                  -> check the address",
            "  inconclusive  peer.end  ",
        ],
    ),
    "two ports": (
        {"second_station": True},
        [IPV4],
        f"{IPV4}: reachable (only address resolution is tested), 1 problem",
        ["  fail          peer.arp-flux", "                  -> "],
    ),
    "port down": (
        {"sysfs": DOWN},
        ["fabric"],
        "fabric: not usable, 1 problem",
        [
            "  fail          fabric.port-state  Down: there is no link",
            "                  -> ibstat hca0 1; check the cable, ",
            "2 stages passed; 19 stages not run: fabric.port-state failed; -v",
            "fabric: FAULT: 1 stage failed",
        ],
    ),
    "no SA": ({}, ["fabric"], "fabric: not fully tested", ["7 stages passed; 15 stages not run"]),
}


def text_of(given, *arguments):
    done = played(given, PROBE, "-d", "ib9", "--timeout", "100", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["out"]


@pytest.fixture(scope="module")
def texts():
    """The text of each run, and that with -v. The probe mostly waits, so several run at the same
    time."""
    need_to_play()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        begun = {
            (name, more): pool.submit(text_of, given, *more, *arguments)
            for name, (given, arguments, *_) in RUNS.items()
            for more in ((), ("-v",))
        }
        yield lambda name, *more: begun[name, more].result()


@pytest.mark.parametrize("name", RUNS)
def test_screen(texts, name):
    _, _, first, expected = RUNS[name]
    lines = texts(name).splitlines()
    assert len(lines) <= LINES and max(map(len, lines)) < 80
    if "no longer reachable" in first or ": reachable" in first:
        assert re.fullmatch(rf"{IPV4}: replies after \d+\.\d\d ms; testing it", lines.pop(0))
    assert lines[0] == first
    at = 0
    for line in expected:
        found = [i for i in range(at, len(lines)) if lines[i].startswith(line)]
        assert found, (line, lines)
        at = found[0]
    assert "  pass " not in texts(name), "passes are a count"


def test_no_fact_twice(texts):
    for fact in ("no such host", "no reply", "nothing wrong was"):
        assert texts("silent").count(fact) == 1, fact


@pytest.mark.parametrize("name", ["conforms", "two fields", "no SA"])
def test_everything(texts, name):
    """With -v passes have lines of their own; first line and verdict are the same."""
    short, whole = texts(name), texts(name, "-v")
    assert "\n  pass          " in whole and "\n  skipped       " in whole
    first = [
        next(line for line in text.splitlines() if not line.endswith("; testing it"))
        for text in (short, whole)
    ]
    assert first[0] == first[1]
    verdict = " ".join(short[short.rindex("\n\n") :].split())
    assert " ".join(whole.split()).endswith(verdict)

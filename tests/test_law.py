# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of degradation (script/law): chains of lost, truncated, duplicated and swapped frames,
other CRCs, interfaces, clocks and file formats add no violation to a capture that conforms; other
CRCs, interfaces and formats remove none from one that violates.

This test runs some chains of a fixed seed; test_law_all.py runs 100,000 of another seed each
time."""
import re

import pytest

from support import capfile, chains, containers, corpus, steps
from support.paths import testdata
from support.programs import run_script

PLAYED = """#!/usr/bin/python3
import json, os, sys
paths = [a for a in sys.argv[1:] if a.startswith("/")]
case = {"subject": "group ff12::1", "actual": "it left", "frames": [2]}
bad = [p for p in paths if b"\\x08\\x06" in open(p, "rb").read() and os.path.getsize(p) != %d]
result = {"id": "a.rule", "violation": True, "cases": [case], "further_cases": 0}
names = [{"name": p, "error": None, "ipoib_frames": 1} for p in paths]
json.dump({"results": [dict(result, capture=p) for p in bad], "summary": {"captures": names}}, sys.stdout)
"""


def run(*arguments, **environment):
    done = run_script("law", "--jobs", "2", *arguments, **environment)
    return done.returncode, done.stdout


def test_no_chain_breaks_the_law():
    status, output = run("--seed", "1", "--chains", "4000")
    assert output.splitlines()[-1].startswith("0 of 4000 chains break the law"), output
    assert status == 0, output


def test_chain_that_breaks_the_law_is_reduced_and_can_be_replayed(tmp_path):
    """A simulated ipoib-check finds a violation in each file with an ARP Type whose size is not
    that of the whole capture."""
    path = testdata("datagram.pcap")
    played = tmp_path / "ipoib-check"
    whole = chains.Whole.of("whole", capfile.load(path))
    played.write_text(PLAYED % len(chains.Chain([], containers.Container()).apply(whole)))
    played.chmod(0o755)
    status, output = run("--chains", "20", "--seed", "3", path, IPOIB_BIN=str(tmp_path))
    assert status == 1, output
    name = re.search(r"^(\S+:3:\d+) adds a.rule: group ff12::1: it left$", output, re.MULTILINE)
    assert re.search(r"^    with .*; only frames \d+$", output, re.MULTILINE), output
    status, again = run("--replay", name[1], path, IPOIB_BIN=str(tmp_path))
    assert status == 1 and again.splitlines()[0] == name[0], again


def test_file_that_is_no_capture_is_an_error(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(b"no capture")
    assert run(str(path))[0] == 2


# ---- the steps themselves


@pytest.fixture(scope="module")
def datagram():
    return chains.Whole.of("datagram.pcap", capfile.load(testdata("datagram.pcap")))


def numbers(frames):
    return [f.number for f in frames]


def test_the_same_seed_draws_the_same_chain(datagram):
    one, two = (chains.draw("7", 3, datagram, True) for _ in range(2))
    assert str(one) == str(two) and one.apply(datagram) == two.apply(datagram)
    assert str(one) != str(chains.draw("8", 3, datagram, True))


def test_swap_preserves_the_order_of_each_sender(datagram):
    every = set(datagram.numbers())
    swapped = steps.Swap(every, datagram.linktype)(datagram.frames)
    assert numbers(swapped) != numbers(datagram.frames)
    assert [f.time for f in swapped] == [f.time for f in datagram.frames]
    for port in datagram.ports():
        sent = [f.number for f in swapped if steps.slid(f.data) == port]
        assert sent == sorted(sent)


def test_duplicates_come_after_their_frame_within_the_window(datagram):
    doubled = steps.Duplicate({5: 0, 50: 7}, datagram.linktype)(datagram.frames)
    assert len(doubled) == len(datagram.frames) + 2
    assert numbers(doubled)[4:6] == [5, 5]
    places = [n for n, f in enumerate(doubled) if f.number == 50]
    between = doubled[places[0] + 1 : places[1]]
    assert steps.slid(doubled[places[0]].data) not in [steps.slid(f.data) for f in between]


def test_duplicates_of_many_frames_stay_within_the_window(datagram):
    doubled = steps.Duplicate({n: n % 8 for n in datagram.numbers()}, datagram.linktype)
    places = {}
    for place, frame in enumerate(doubled(datagram.frames)):
        places.setdefault(frame.number, []).append(place)
    distances = {two - one for one, two in places.values()}
    assert max(distances) <= steps.WINDOW_FRAMES and len(distances) > 2


def test_removed_truncated_and_sliced_frames(datagram):
    assert numbers(steps.Remove({1, 3})(datagram.frames))[:2] == [2, 4]
    assert len(steps.Cut({2: 10})(datagram.frames)[1].data) == 10
    assert max(len(f.data) for f in steps.Slice(64)(datagram.frames)) == 64


@pytest.mark.parametrize("how", steps.CRC_WAYS)
def test_crcs_of_one_port_are_replaced(datagram, how):
    changed = steps.Crcs(how, frozenset({2}))(datagram.frames)
    for before, after in zip(datagram.frames, changed):
        is_changed = steps.slid(before.data) == 2
        assert (before.data != after.data) == is_changed
        assert before.data[:-6] == after.data[: len(before.data) - 6]


def test_a_clock_shifts_one_interface(datagram):
    split = steps.Split(2, datagram.linktype)(datagram.frames)
    assert {f.interface for f in split} == {0, 1}
    shifted = steps.Clock(1, 500)(split)
    assert {b.time - a.time for a, b in zip(split, shifted)} == {0, 500}
    assert numbers(shifted) == numbers(split)


def test_every_form_holds_the_same_frames(datagram):
    split = steps.Split(2, datagram.linktype)
    for form in containers.possible(datagram.linktype, 2):
        data = chains.Chain([split], containers.Container(form)).apply(datagram)
        again = chains.Whole.of(form, data)
        assert [f.data for f in again.frames] == [f.data for f in datagram.frames]
        assert [f.interface for f in again.frames] == [f.interface for f in split(datagram.frames)]


def test_the_corpus_has_captures_of_both_kinds():
    names = corpus.everything()
    assert {"datagram.pcap", "built/built-arp.pcap", "unusual/vrrp"} <= set(names)
    assert sum(name.endswith(".fail.pcap") for name in names) > 70

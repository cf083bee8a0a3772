# SPDX-License-Identifier: GPL-2.0-or-later
"""Recall (script/recall): of the violations that tests/frames knows, ipoib-check finds enough in
complete captures, and in captures that miss a few frames or that began on a running host."""
import re

import pytest

from support import capfile, recall
from support.programs import run_script

EVERY = 12  # takes each 12th variant: some seconds
RUNNING_HOST_GOAL = 92  # per cent of the variants
NOTHING_FOUND = """#!/bin/sh
echo '{"results": []}'
"""


def run(*arguments, every=EVERY, **environment):
    options = ("--jobs", "2", "--seed", "1", "--every", str(every), *arguments)
    done = run_script("recall", *options, **environment)
    return done.returncode, done.stdout


def found(output, line):
    return float(re.search(rf"^{line}: .*\((\S+) % found, ", output, re.M)[1])


def test_enough_violations_are_found():
    losses = ("--loss", "complete", "--loss", "random", "--loss", "doubled")
    status, output = run("--seeds", "2", *losses)
    assert status == 0, output
    assert found(output, "fixtures doubled") == 100, output
    assert found(output, "variants doubled") >= found(output, "variants complete"), output
    assert found(output, "fixtures complete") == 100, output
    assert found(output, "variants complete") >= 95, output
    assert found(output, "variants random") >= 90, output


def test_enough_violations_are_found_without_smps():
    status, output = run("--loss", "no-smps", every=1)
    assert status == 0, output
    assert found(output, "variants no-smps") >= RUNNING_HOST_GOAL, output


def test_fewer_than_the_goal_is_a_failure(tmp_path):
    program = tmp_path / "ipoib-check"
    program.write_text(NOTHING_FOUND)
    program.chmod(0o755)
    options = ("--loss", "complete", "--only", "rfc4391.6.type: ", "--list")
    status, output = run(*options, IPOIB_BIN=str(tmp_path))
    assert status == 1, output
    assert re.search(
        r"^variants complete: 0 found, 0 suspected, 0 inconclusive, \d+ silent", output, re.M
    )
    assert re.search(r"^    silent: rfc4391\.6\.type: ", output, re.M), output


# ---- the losses themselves


@pytest.fixture(scope="module")
def sample():
    return recall.chosen_variants(200)[0]


def frames(sample, loss, seed=1):
    return [f.data for f in capfile.parse(sample.pcap(loss, seed)).frames]


def test_capture_without_smps_has_all_other_frames(sample):
    whole, left = frames(sample, "complete"), frames(sample, "no-smps")
    assert left == [data for data in whole if not recall.is_smp(data)]
    assert 0 < len(left) < len(whole) == len(sample.records)


def test_late_capture_has_the_violation_and_all_later_frames(sample):
    whole = frames(sample, "complete")
    for seed in range(20):
        late = frames(sample, "late", seed)
        assert late == whole[-len(late) :] and len(late) >= len(whole) - sample.at


def test_doubled_capture_has_every_frame_twice():
    records = [(time, bytes([n])) for n, time in enumerate((0, 0, 400_000, 2_000_000))]
    order = {later: [r[1][0] for r in recall.doubled(records, later)] for later in recall.COPIES}
    assert order == {
        0: [0, 0, 1, 1, 2, 2, 3, 3],
        2: [0, 1, 2, 0, 3, 1, 2, 3],
        recall.LATER: [0, 1, 2, 0, 1, 2, 3, 3],
    }
    for later in recall.COPIES:
        times = [r[0] for r in recall.doubled(records, later)]
        assert times == sorted(times)


def test_random_loss_takes_one_per_cent_and_is_drawn_again_from_its_seed(sample):
    size = len(sample.records)
    lost = sum(size - len(frames(sample, "random", seed)) for seed in range(100))
    assert 0.5 * size < lost < 1.5 * size
    assert frames(sample, "random", 7) == frames(sample, "random", 7)

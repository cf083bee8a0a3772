# SPDX-License-Identifier: GPL-2.0-or-later
"""Each benchmark runs at its shortest and prints its measurement. No test checks the figures,
because machines are noisy."""
import os
import re
import subprocess

import pytest

from support.paths import BUILD
from support.programs import run_script

RATIO = r"[0-9.]+ \([0-9.]+ to [0-9.]+\)"
MIXES = ("datagrams", "connected", "management")


@pytest.mark.parametrize(
    "name, options, measured",
    [
        (
            "bench-decode",
            ["--frames", "4000", "--runs", "1"],
            [rf"{mix} +CPU with / without the plugin +{RATIO} +1\.[01]5" for mix in MIXES]
            + [rf"{mix} +memory with / without +{RATIO}" for mix in MIXES]
            + [rf"{mix} +ipoib-check, us a frame +{RATIO} +0\.5" for mix in MIXES]
            + [r"connected +bytes of reassembled messages +[1-9][0-9]+"],
        ),
        (
            "bench-check",
            ["--frames", "4000", "--runs", "1"],
            [rf"{mix} +CPU ipoib-check / tshark {RATIO}" for mix in MIXES],
        ),
        (
            "bench-capture",
            ["--runs", "1", "--seconds", "1", "--only", "share", "--only", "wanted"],
            [
                rf"share a million frames a second, {output} +[0-9.]+ % of a core"
                for output in ("/dev/null", "tmpfs", "disk", "pipe")
            ]
            + [
                r"share no frame, /dev/null +[0-9.]+ % of a core",
                r"loss 5 million/s, 1 % wanted, tmpfs +[0-9]+ came",
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("bench-") else "",
)
def test_benchmark_measures(name, options, measured):
    run = run_script(name, *options)
    assert run.returncode == 0, run.stdout
    for pattern in measured:
        assert re.search(pattern, run.stdout), (pattern, run.stdout)


def test_sweep_measures_on_simulated_time():
    run = subprocess.run(
        [os.path.join(BUILD, "tests", "test_probe_sweep"), "large"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert run.stdout.strip()

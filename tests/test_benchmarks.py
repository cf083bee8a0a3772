# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmarks still measure: each runs at its shortest, and prints what it measures. No test judges the numbers, since
machines are noisy."""
import os
import re
import subprocess

import pytest

from support.paths import BUILD
from support.programs import run_script


@pytest.mark.parametrize(
    "name, options, measured",
    [
        (
            "bench-decode",
            ["--ratio-only", "--runs", "1"],
            r"CPU with / without the plugin [0-9.]+",
        ),
        ("bench-check", ["--runs", "1"], r"CPU ipoib-check / tshark [0-9.]+"),
        (
            "bench-capture",
            ["--runs", "1", "--seconds", "1", "--only", "idle"],
            r"idle no frame +[0-9.]+ % of a core",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("bench-") else "",
)
def test_benchmark_measures(name, options, measured):
    run = run_script(name, *options)
    assert run.returncode == 0, run.stdout
    assert re.search(measured, run.stdout), run.stdout


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten copies of all captures with random bytes go through tshark and the plugin, in two runs; for a
longer time script/noise reads each capture alone."""
import re

from support.programs import run_script


def test_random_bytes_cause_no_failure():
    run = run_script("noise", "--together", "10", NOISE="0.01")
    assert run.returncode == 0, run.stdout
    assert re.search(
        r"captures, 10 times each: 2 runs, 0 at fault$", run.stdout.strip()
    ), run.stdout

# SPDX-License-Identifier: GPL-2.0-or-later
"""Each capture with random bytes goes once through tshark and the plugin; script/noise repeats this
a thousand times."""
import re

from support.programs import run_script


def test_random_bytes_cause_no_failure():
    run = run_script("noise", "2", NOISE="0.01")
    assert run.returncode == 0, run.stdout
    assert re.search(
        r"captures, 2 times each: \d+ runs, 0 at fault$", run.stdout.strip()
    ), run.stdout

# SPDX-License-Identifier: GPL-2.0-or-later
"""A million chains of the law of degradation (test_law.py), of another seed each time, and every
removal of 1 to 20 consecutive frames from a capture of testdata. The output has the seed."""
import glob
import os
import re

from support.paths import TESTDATA
from support.programs import run_script

CHAINS = 1_000_000


def law(*arguments):
    done = run_script("law", "--jobs", "2", *arguments)
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()[-1]


def test_no_chain_breaks_the_law():
    assert law("--chains", str(CHAINS)).startswith(f"0 of {CHAINS} chains break")


def test_no_removal_adds_a_violation():
    last = law("--longest", "20", *sorted(glob.glob(os.path.join(TESTDATA, "*.pcap"))))
    figure = re.match(r"0 of (\d+) chains break the law", last)
    assert figure and int(figure[1]) > 90000, last

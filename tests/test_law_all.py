# SPDX-License-Identifier: GPL-2.0-or-later
"""100,000 chains of the law of degradation (test_law.py), of another seed each time. The output has
the seed."""
from support.programs import run_script

CHAINS = 100000


def test_no_chain_breaks_the_law():
    done = run_script("law", "--jobs", "2", "--chains", str(CHAINS))
    print(done.stdout)
    assert done.stdout.splitlines()[-1].startswith(f"0 of {CHAINS} chains break"), done.stdout
    assert done.returncode == 0, done.stdout

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests run at least 95 % of the lines of each of wire, model and rules (script/coverage)."""
import re

from support.needs import needs
from support.programs import run_script


def test_at_least_95_percent_of_the_lines_are_run(capsys):
    needs("gcovr", "coverage")
    run = run_script("coverage")
    with capsys.disabled():  # the figures, for the reader of the results
        for line in re.findall(r"^[a-z/]*: .* of [0-9]* lines, .*$", run.stdout, re.MULTILINE):
            print("\ncoverage of", line, end="")
    assert run.returncode == 0, run.stdout

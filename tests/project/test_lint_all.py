# SPDX-License-Identifier: GPL-2.0-or-later
"""script/lint with clang's static analysis finds nothing."""
from support.needs import needs
from support.programs import run_script
from test_lint import TOOLS


def test_lint_with_static_analysis_finds_nothing():
    for tool in TOOLS:
        needs(tool, "lint")
    run = run_script("lint")
    assert run.returncode == 0, run.stdout

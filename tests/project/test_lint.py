# SPDX-License-Identifier: GPL-2.0-or-later
"""script/lint with cppcheck, clang-tidy and the other tools finds nothing. clang's static
analysis is of the release tier (test_lint_all.py)."""
from support.needs import needs
from support.programs import run_script

TOOLS = ["cppcheck", "clang-tidy", "clang-format", "shellcheck", "black", "aspell", "codespell"]


def test_lint_finds_nothing():
    for tool in TOOLS:
        needs(tool, "lint")
    run = run_script("lint", "--fast")
    assert run.returncode == 0, run.stdout

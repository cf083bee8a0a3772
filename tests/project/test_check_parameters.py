# SPDX-License-Identifier: GPL-2.0-or-later
"""script/check-parameters, on the output of clang-tidy for functions with six and seven parameters."""
import os
import shutil
import subprocess

import pytest

from support.needs import needs
from support.paths import SRC

SOURCE = """void six(int a, int b, int c, int d, int e, int f);
void six(int a, int b, int c, int d, int e, int f) { (void)a, (void)b, (void)c, (void)d, (void)e, (void)f; }
void seven(int a, int b, int c, int d, int e, int f, int g);
void seven(int a, int b, int c, int d, int e, int f, int g) { six(a, b, c, d, e, f); (void)g; }
"""
STALE = "script/long-parameter-lists: seven has at most six parameters: remove its line\n"


@pytest.fixture(name="check")
def fixture_check(tmp_path):
    """Checks a source with this list."""
    (tmp_path / "script").mkdir()
    shutil.copy(os.path.join(SRC, "script/check-parameters"), tmp_path / "script")
    shutil.copy(os.path.join(SRC, ".clang-tidy"), tmp_path)

    def check(names, source, *options):
        needs("clang-tidy", "lint")
        (tmp_path / "script/long-parameter-lists").write_text("# words\n" + names)
        (tmp_path / "a.c").write_text(source)
        tidy = subprocess.run(
            ["clang-tidy", "--quiet", "--checks=-clang-analyzer-*", "a.c", "--"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        command = [tmp_path / "script/check-parameters", *options]
        done = subprocess.run(command, input=tidy.stdout, stdout=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode()

    return check


def test_function_with_seven_parameters_is_a_finding(check):
    status, out = check("", SOURCE)
    assert status == 1 and "'seven' exceeds" in out and "7 parameters (threshold 6)" in out
    assert "'six'" not in out


def test_listed_function_is_accepted(check):
    assert check("seven\n", SOURCE, "--all") == (0, "")


@pytest.mark.parametrize("options, result", [(["--all"], (1, STALE)), ([], (0, ""))])
def test_line_that_is_not_needed_is_a_finding_if_all_was_checked(check, options, result):
    assert check("seven\n", SOURCE.split("void seven")[0], *options) == result

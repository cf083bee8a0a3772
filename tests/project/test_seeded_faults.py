# SPDX-License-Identifier: GPL-2.0-or-later
"""script/seed-faults puts faults into a copy of the tree and says which of them the tests notice. The
tree is a project of two functions here, with tests of which one checks nothing."""
import os
import re
import shutil
import subprocess

import pytest

from support.paths import BUILD, SRC
from support.programs import run_script

PROJECT = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.18)
project(sums C)
enable_testing()
add_executable(sums sums.c)
add_test(NAME sum COMMAND sums)
add_test(NAME blind COMMAND sums 1)
set_tests_properties(sum blind PROPERTIES LABELS quick)
""",
    "sums.c": """
static int sum(int a, int b) { return a + b; }
int main(int argc, char **argv) { (void)argv; return argc == 1 && sum(2, 3) != 5; }
""",
    "tests/seeded-faults": """
[noticed]
file = sums.c
old = a + b
new = a - b
tests = sum

[overlooked]
file = sums.c
old = a + b
new = a - b
tests = blind

[broken]
file = sums.c
old = a + b
new = a +
tests = sum
""",
}


@pytest.fixture(name="seed")
def _seed(tmp_path):
    """Runs the script on the project: exit status, and output."""
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "script").mkdir()
    for name in ("seed-faults", "ctest_run.py"):
        shutil.copy(os.path.join(SRC, "script", name), tmp_path / "script")
    (tmp_path / ".gitignore").write_text("/build-*/\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    def run(*arguments):
        done = subprocess.run(
            [tmp_path / "script/seed-faults", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_fault_is_noticed(seed):
    status, out = seed("--only", "^noticed$")
    assert status == 0, out
    assert re.search(r"^noticed +noticed by sum \(", out, re.MULTILINE)
    assert "1 of 1 faults noticed" in out


def test_a_fault_that_the_nearest_tests_overlook_is_noticed_by_the_quick_set(seed):
    status, out = seed("--only", "^overlooked$")
    assert status == 1 and re.search(r"^overlooked +NOT NOTICED", out, re.MULTILINE), out
    status, out = seed("--only", "^overlooked$", "--set", "quick")
    assert status == 0 and "noticed by sum" in out


def test_a_fault_that_does_not_build_is_an_error(seed):
    status, out = seed("--only", "^(broken|noticed)$")
    assert status == 2 and "broken does not build" in out
    assert "noticed by sum" in out  # the others are tried


def test_tests_that_fail_without_a_fault_notice_nothing(seed, tmp_path):
    (tmp_path / "sums.c").write_text(PROJECT["sums.c"].replace("!= 5", "!= 6"))
    status, out = seed("--only", "^noticed$")
    assert status == 2 and "without a fault these tests fail: sum" in out


@pytest.mark.parametrize(
    "old, message",
    [("a * b", "noticed: 0 times"), ("sum", "noticed: 2 times"), ("a - b", "are the same")],
)
def test_an_entry_that_does_not_fit_is_an_error(seed, tmp_path, old, message):
    table = tmp_path / "tests/seeded-faults"
    table.write_text(PROJECT["tests/seeded-faults"].replace("old = a + b", f"old = {old}", 1))
    if old == "a - b":
        (tmp_path / "sums.c").write_text(PROJECT["sums.c"].replace("a + b", "a - b"))
    status, out = seed("--check", "--only", "^noticed$")
    assert status == 2 and message in out


def test_the_faults_of_this_project_fit():
    done = run_script("seed-faults", "--check")
    assert (done.returncode, done.stdout) == (0, "60 faults fit\n")


def test_the_tests_that_the_entries_name_exist():
    listed = subprocess.run(["ctest", "--test-dir", BUILD, "-N"], capture_output=True, text=True)
    names = re.findall(r"^ *Test +#\d+: (\S+)$", listed.stdout, re.MULTILINE)
    with open(os.path.join(SRC, "tests/seeded-faults"), encoding="utf-8") as f:
        wanted = re.findall(r"^tests = (.*)$", f.read(), re.MULTILINE)
    parts = {part for line in wanted for part in line.split("|")}
    assert names and parts
    assert [part for part in parts if not any(re.fullmatch(part, n) for n in names)] == []

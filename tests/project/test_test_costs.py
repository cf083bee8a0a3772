# SPDX-License-Identifier: GPL-2.0-or-later
"""script/test-costs: what tests cost, and how often they start tshark.

The tests here are shell commands. Their CPU time is known: a loop runs until it has used as much."""
import os
import re
import shutil
import subprocess

import pytest

from support.paths import SRC

USED = 1  # seconds of CPU time
BUSY = f"""import resource
while resource.getrusage(resource.RUSAGE_SELF).ru_utime < {USED}: pass
"""
PAGE = """# Page

<!-- script/test-costs --write: begin -->
old
<!-- end -->
after
"""


@pytest.fixture(name="tree")
def _tree(tmp_path):
    """A tree with the scripts, and a build folder with three tests."""
    for folder in ("script", "tests/support", "doc", "plugin/profile", "build/plugins/9.8/epan"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("test-costs", "run-tests", "ctest_run.py", "with-plugins"):
        shutil.copy(os.path.join(SRC, "script", name), tmp_path / "script")
    for name in ("isolated", "limited.py", "wait.py"):
        shutil.copy(os.path.join(SRC, "tests", "support", name), tmp_path / "tests/support")
    (tmp_path / "tests/allowed-skips").write_text("")
    (tmp_path / "tests/costs").write_text("# Head\nstarts 50 3\nother 12 4\n")
    (tmp_path / "doc/contributing.md").write_text(PAGE)
    (tmp_path / "build/busy.py").write_text(BUSY)
    (tmp_path / "build/plugins/9.8/epan/ipoib.so").touch()
    fake = tmp_path / "bin/tshark"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    start = f"{tmp_path}/script/with-plugins"
    programs = {
        "unit/busy": (f"python3 {tmp_path}/build/busy.py", "unit ci"),
        "starts": (f"{start} tshark -v; {start} tshark -r 'a b'; {start} true", "tshark ci"),
        "asan/starts": (f"{start} tshark -v", "asan tshark ci"),
    }
    lines = []
    for name, (command, labels) in programs.items():
        path = tmp_path / "build" / name.replace("/", "-")
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)
        lines.append(f'add_test({name} "{tmp_path}/tests/support/isolated" 60 "{path}")')
        lines.append(
            f'set_tests_properties({name} PROPERTIES LABELS "{labels.replace(" ", ";")}"'
            f' ENVIRONMENT "IPOIB_TEST={name};IPOIB_BUILD={tmp_path}/build")'
        )
    (tmp_path / "build/CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(tree, *arguments):
    environment = {**os.environ, "PATH": f"{tree}/bin:{os.environ['PATH']}"}
    environment.pop("IPOIB_PLUGINS", None)
    done = subprocess.run(
        [tree / "script/test-costs", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def rows(text):
    """First cell to the others, of all tables."""
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines()]
    return {row[0].strip("`"): row[1:] for row in cells if len(row) > 2}


def test_tables_have_cpu_time_and_starts(tree):
    status, out, errors = run(tree, "--all")
    assert status == 0, errors + out
    found = rows(out)
    assert int(found["unit/busy"][0]) >= USED and found["unit/busy"][2] == "0"
    assert found["starts"][2] == "2"  # of tshark; true is no program of Wireshark
    assert [found[g][0] for g in ("unit", "tshark", "asan", "all")] == ["1", "1", "1", "3"]
    assert [found[g][3] for g in ("unit", "tshark", "asan", "all")] == ["0", "2", "1", "3"]
    assert out.index("\n| `unit/busy`") < out.index("\n| `starts`")
    assert re.fullmatch(r"`starts` \d+", found["tshark"][4])


def test_only_the_last_run_counts(tree):
    assert run(tree, "--all")[0] == 0
    assert run(tree, "--only", "^starts$")[0] == 0
    _, out, _ = run(tree)
    assert rows(out)["all"][0] == "1"


def test_page_has_the_tables_between_its_marks(tree):
    assert run(tree, "--write", "--only", "^starts$")[0] == 0
    page = (tree / "doc/contributing.md").read_text()
    assert re.search(
        r"begin -->\n`script/test-costs --only .*`, on (.|\n)*\| `starts` (.|\n)*<!-- end -->\nafter\n$",
        page,
    )
    assert "old" not in page


def test_times_of_long_tests_are_renewed(tree):
    """starts takes less than four seconds, and another test was not measured."""
    assert run(tree, "--write", "--only", "^starts$")[0] == 0
    assert (tree / "tests/costs").read_text() == "# Head\nother 12 4\n"


def test_times_of_long_tests_are_in_their_order(tree):
    times = tree / "build/Testing/Temporary/CTestCostData.txt"
    assert run(tree, "--all")[0] == 0
    times.write_text("starts 1 11.4\nunit/busy 1 30\nasan/starts 1 2\n---\n")
    assert run(tree, "--write")[0] == 0
    lines = (tree / "tests/costs").read_text().splitlines()
    assert [line.rsplit(" ", 1)[0] for line in lines[1:]] == [
        "unit/busy 30",
        "other 12",
        "starts 11",
    ]
    assert lines[2] == "other 12 4" and 1 <= int(lines[1].split()[2]) <= 5


LOG = """        Start 1: unit/busy
  1/3 Test  #1: unit/busy ............***Failed   99.00 sec
  1/3 Test  #1: unit/busy ............   Passed   30.26 sec
        Start 2: starts
  2/3 Test #20: starts ...............***Failed   11.40 sec
  3/3 Test  #3: asan/starts ..........***Skipped   0.10 sec
100% tests passed
"""


def test_times_of_a_run_that_was_logged(tree):
    """No test runs, and what the log does not say is no 0."""
    (tree / "log").write_text(LOG)
    status, out, errors = run(tree, "--log", str(tree / "log"))
    assert status == 0, errors
    found = rows(out)
    assert found["all"][:4] == ["3", "-", "42", "-"]
    assert found["tshark"] == ["1", "-", "11", "-", "`starts` 11"]
    assert found["unit/busy"] == ["-", "30", "-"]
    assert "need most time" in out and not (tree / "build/costs").exists()
    assert run(tree, "--write", "--log", str(tree / "log"))[0] == 0
    # The CPU time of `starts` was known before; without one a test counts as busy.
    assert (
        tree / "tests/costs"
    ).read_text() == "# Head\nunit/busy 30 30\nother 12 4\nstarts 11 3\n"


def test_log_without_a_test_is_nothing(tree):
    (tree / "log").write_text("bootstrap: step 1 of 2: configuring build/\n")
    assert run(tree, "--log", str(tree / "log"))[0] == 2


def test_without_a_run_there_is_nothing_to_print(tree):
    status, _, errors = run(tree)
    assert status == 2 and "nothing was measured" in errors


def test_times_of_a_run_that_was_logged_with_its_folder(tree):
    (tree / "log").write_text(LOG)
    (tree / "folder").mkdir()
    (tree / "folder/cpu.starts").write_text("starts\n0m1.0s 0m0.5s\n1m2.0s 0m0.5s\n")
    (tree / "folder/starts").write_text("starts /usr/bin/tshark -v\nstarts /usr/bin/true\n")
    arguments = ["--log", str(tree / "log"), "--folder", str(tree / "folder")]
    assert rows(run(tree, *arguments)[1])["starts"] == ["64", "11", "1"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""script/demo: its output for the captures that ship with the project, and its usage."""
import os
import re

import pytest

from support.needs import run_without_installing
from support.paths import SRC
from support.programs import run_script


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    script = os.path.join(SRC, "script", "demo")
    return run_without_installing([script], tmp_path_factory.mktemp("bin"))


def test_exit_status(demo):
    assert demo.returncode == 0, demo.stdout


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"Join ff12:401b:ffff::ffff:ffff .*FullMember", id="a-join"),
        pytest.param(r"10\.0\.0\.[0-9]+ is at [08]", id="ARP-and-its-reply"),
        pytest.param(r"CM REQ RC IPoIB, QPN", id="a-connection"),
        pytest.param(r"CONFORMANT|VIOLATED", id="a-verdict"),
    ],
)
def test_shows(demo, pattern):
    assert re.search(pattern, demo.stdout), demo.stdout


def test_about_two_pages(demo):
    shown = demo.stdout[demo.stdout.index("\n== ") :]  # without the output of the build
    assert len(shown.splitlines()) <= 128, demo.stdout


def test_wrong_usage():
    run = run_script("demo", "--nonsense")
    assert run.returncode == 2, run.stdout
    assert "usage" in run.stdout

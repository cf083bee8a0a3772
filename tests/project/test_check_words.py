# SPDX-License-Identifier: GPL-2.0-or-later
"""script/check-words accepts the project's texts, and finds a misspelt word in a document and in a
comment."""
import os
import shutil
import subprocess

import pytest

from support.needs import needs
from support.paths import SRC

MISSPELT = "rec" + "ieved"  # in two parts, because the check reads this file too


@pytest.fixture(autouse=True)
def tools():
    needs("aspell", "lint")
    needs("codespell", "lint")


def check(root):
    command = [os.path.join(root, "script", "check-words")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_project_has_no_misspelt_word():
    assert check(SRC) == (0, "")


@pytest.mark.parametrize(
    "name, text, says",
    [
        ("page.md", "One pakket over InfiniBand.\n", "page.md:1: pakket"),
        ("page.md", "The adapter's QPNs and `pakket`.\n", ""),
        ("page.md", "From `a` one pakket to `b`.\n", "page.md:1: pakket"),
        ("page.md", "See [the page](pakket.md), file.pakket and pakket2.\n", ""),
        ("file.c", f"/* One packet is {MISSPELT}. */\n", f"{MISSPELT} ==> received"),
    ],
)
def test_misspelt_word(name, text, says, tmp_path):
    (tmp_path / "script").mkdir()
    for script in ("check-words", "check-links", "words"):
        shutil.copy(os.path.join(SRC, "script", script), tmp_path / "script")
    (tmp_path / "page.md").write_text("# A page\n")
    (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    status, output = check(tmp_path)
    assert status == (1 if says else 0), output
    assert says in output

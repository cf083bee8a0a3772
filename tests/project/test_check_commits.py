# SPDX-License-Identifier: GPL-2.0-or-later
"""script/check-commits in a clone of its own: messages of new commits, and trees without commits."""
import os
import shutil
import subprocess

import pytest

from support.paths import SRC

NEW, OLD = "2026-12-01T12:00:00+0000", "2026-11-01T12:00:00+0000"
GOOD = "rules: wait for the answer\n\nA lost request is no fault."
LIMIT = "rules: " + "x" * 65  # 72 characters


def git(folder, *arguments, date=NEW):
    names = {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    subprocess.run(
        ["git", "-C", folder, *arguments], env={**os.environ, **names, **dates}, check=True
    )


def commit(folder, message, date=NEW):
    git(folder, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", message, date=date)


def check(folder):
    done = subprocess.run(
        [folder / "script/check-commits"], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    (folder / "script").mkdir(parents=True)
    shutil.copy(os.path.join(SRC, "script", "check-commits"), folder / "script")
    return folder


@pytest.fixture
def clone(tree):
    git(tree, "init", "--quiet")
    commit(tree, "an old commit", OLD)
    return tree


@pytest.mark.parametrize(
    "message, says",
    [
        (GOOD, None),
        (LIMIT + "\n\nWhy.", None),
        ("wire, rules: one table\n\nWhy.", None),
        ('Revert "rules: wait"\n\nWhy.', None),
        (LIMIT + "x\n\nWhy.", "has 73 characters, more than 72"),
        ("rules: wait for the answer", "no body"),
        ("rules: wait\nfor the answer", "the line after the subject is not empty"),
        ("Wait for the answer\n\nWhy.", 'not "area: what changes"'),
    ],
)
def test_message(clone, message, says):
    commit(clone, message)
    commit(clone, GOOD)
    status, out = check(clone)
    assert (status, bool(out)) == ((1, True) if says else (0, False)), out
    assert not says or (says in out and len(out.splitlines()) == 1)


def test_shallow_clone_is_checked(clone, tmp_path):
    commit(clone, "bad")
    commit(clone, "worse")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{clone}", "shallow")
    shutil.copytree(clone / "script", tmp_path / "shallow/script")
    status, out = check(tmp_path / "shallow")
    assert status == 1 and "(worse)" in out and "(bad)" not in out


def test_tree_without_commits_of_its_own_is_accepted(tree):
    assert check(tree) == (0, "")
    git(tree.parent, "init", "--quiet")  # a tree that another project has copied
    commit(tree.parent, "bad")
    assert check(tree) == (0, "")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: the same commit gives the same bytes. tests/project/bare installs them on a bare
Debian and removes them."""
import filecmp
import os

import pytest

from support.needs import needs, run_without_installing
from support.paths import SRC


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Two folders with the packages of the same commit, and what script/package printed for
    each."""
    for tool in ("dpkg-shlibdeps", "file"):
        needs(tool, "package")
    script = os.path.join(SRC, "script", "package")
    built = []
    for name in ("a", "b"):
        folder, programs = tmp_path_factory.mktemp(name), tmp_path_factory.mktemp("bin")
        built.append((folder, run_without_installing([script, str(folder)], programs)))
    return built


def debs(folder):
    return sorted(path.name for path in folder.glob("*.deb"))


@pytest.mark.parametrize("number", [0, 1], ids=["built", "built-again"])
def test_packages_are_built(packages, number):
    folder, run = packages[number]
    assert run.returncode == 0, run.stdout
    assert len(debs(folder)) == 3, f"{debs(folder)}\n{run.stdout}"


def test_packages_are_the_same(packages):
    (first, _), (second, _) = packages
    assert debs(first), "there are no packages"
    assert debs(first) == debs(second)
    differing = [n for n in debs(first) if not filecmp.cmp(first / n, second / n, shallow=False)]
    assert differing == []

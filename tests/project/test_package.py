# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: the same commit gives the same bytes, the fields are true, and lintian finds no
error. tests/project/bare installs them on a bare Debian and removes them."""
import filecmp
import io
import os
import re
import subprocess
import tarfile

import pytest

from support.needs import needs, run_without_installing
from support.paths import SRC
from support.programs import run

SUMMARIES = {
    "ipoib-tools": "IP over InfiniBand: capture, conformance check and link diagnosis",
    "ipoib-tools-doc": "IP over InfiniBand: guides, rules and events",
    "wireshark-plugin-ipoib": "Wireshark plugin for IP over InfiniBand",
}
MAINTAINER = "A Builder <builder@debian.org>"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Two folders with the packages of the same commit, and what script/package printed for
    each."""
    for tool in ("dpkg-shlibdeps", "file"):
        needs(tool, "package")
    os.environ.update(DEBFULLNAME=MAINTAINER.split(" <")[0], DEBEMAIL=MAINTAINER[:-1].split("<")[1])
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
    folder, done = packages[number]
    assert done.returncode == 0, done.stdout
    assert len(debs(folder)) == 3, f"{debs(folder)}\n{done.stdout}"


def test_packages_are_the_same(packages):
    (first, _), (second, _) = packages
    assert debs(first), "there are no packages"
    assert debs(first) == debs(second)
    differing = [n for n in debs(first) if not filecmp.cmp(first / n, second / n, shallow=False)]
    assert differing == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_fields_are_true(packages, name):
    (path,) = packages[0][0].glob(f"{name}_*.deb")
    text = subprocess.run(
        ["dpkg-deb", "--field", path], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    fields = dict(re.findall(r"^(\S+): (.*(?:\n .*)*)", text, re.MULTILINE))
    summary, *description = fields["Description"].splitlines()
    assert summary == SUMMARIES[name] and len(summary) <= 80
    assert description
    assert (fields["Package"], fields["Source"]) == (name, "ipoib-tools")
    assert fields["Maintainer"] == MAINTAINER
    assert (fields["Architecture"] == "all") == (name == "ipoib-tools-doc")
    assert ("libwireshark" in fields.get("Depends", "")) == (name == "wireshark-plugin-ipoib")
    assert not {"Pre-Depends", "Essential", "Conflicts"} & set(fields)


def test_packages_run_no_scripts(packages):
    for path in packages[0][0].glob("*.deb"):
        listed = subprocess.run(
            ["dpkg-deb", "--ctrl-tarfile", path], stdout=subprocess.PIPE, check=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(listed)) as control:
            names = {os.path.basename(name) for name in control.getnames()} - {"."}
        assert names == {"control", "md5sums"}


def test_lintian_finds_no_error(packages):
    needs("lintian", "release")
    command = ["lintian", "--fail-on", "error,warning", "--tag-display-limit", "0"]
    if os.geteuid() == 0:
        command += ["--allow-root"]
    done = run([*command, *sorted(map(str, packages[0][0].glob("*.deb")))])
    assert done.returncode == 0, done.stdout

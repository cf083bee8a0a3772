# SPDX-License-Identifier: GPL-2.0-or-later
"""Installing from source, and the target uninstall, which leaves nothing: README.md, Uninstall.

A folder is configured for each kind of installation; its programs are those of the build, so that
nothing is compiled. tests/project/bare installs and removes the Debian packages."""
import os
import re
import shutil
import subprocess

import pytest

from support.paths import BUILD, SRC

README = os.path.join(SRC, "README.md")
PROGRAMS = {"ipoib-capture", "ipoib-check", "ipoib-probe"}
KINDS = {"tools": "OFF", "everything": "ON"}  # IPOIB_PLUGIN


def cmake(folder, *arguments):
    done = subprocess.run(
        ["cmake", *arguments],
        env={**os.environ, "DESTDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def paths(folder):
    """The files and links in a folder, and its folders with the project's name."""
    found = [path.relative_to(folder) for path in folder.rglob("*")]
    return {
        str(path) for path in found if not (folder / path).is_dir() or "ipoib" in path.name.lower()
    }


@pytest.fixture(params=KINDS)
def installed(request, tmp_path):
    """The kind, its build folder, and the folder with what was installed."""
    build, root = tmp_path / "build", tmp_path / "root"
    options = [f"-DIPOIB_PLUGIN={KINDS[request.param]}", "-DIPOIB_TESTS=OFF"]
    cmake(root, "-S", SRC, "-B", str(build), "-G", "Ninja", *options)
    for name in ("bin", "plugins") if request.param == "everything" else ("bin",):
        shutil.copytree(os.path.join(BUILD, name), build / name, dirs_exist_ok=True)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/other").touch()
    cmake(root, "--install", str(build), "--prefix", "/usr")
    return request.param, build, root


def test_uninstall_leaves_nothing(installed):
    kind, build, root = installed
    before = paths(root)
    assert {f"usr/bin/{name}" for name in PROGRAMS} < before
    assert any(path.endswith("extcap/ipoib-capture") for path in before)
    assert any("/man1/" in path for path in before) and any(
        "/doc/rules/" in path for path in before
    )
    completions = {path for path in before if "completion" in path}
    assert {os.path.basename(path) for path in completions} == PROGRAMS | {"_ipoib"}
    assert any(path.endswith(".so") for path in before) == (kind == "everything")
    assert any("profiles/IPoIB/" in path for path in before) == (kind == "everything")
    cmake(root, "--build", str(build), "--target", "uninstall")
    assert paths(root) == {"usr/bin/other"}
    assert (root / "usr/share/man").exists()  # it belongs to others too


def test_readme_has_the_commands():
    with open(README, encoding="utf-8") as f:
        section = re.search(r"\n## Uninstall\n(.*?)\n## ", f.read(), re.DOTALL).group(1)
    assert "cmake --build build --target uninstall" in section
    assert "apt purge ipoib-tools ipoib-tools-doc wireshark-plugin-ipoib" in section

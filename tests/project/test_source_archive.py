# SPDX-License-Identifier: GPL-2.0-or-later
"""script/package --source: the archive has the files of the source, is the same each time, and makes
itself again without git. tests/project/bare builds and tests what it unpacks from it."""
import os
import subprocess
import tarfile

import pytest

from support.paths import SRC
from support.programs import run

GENERATED = ("build", ".git/")


def archive(source, folder):
    done = run([os.path.join(source, "script", "package"), "--source", str(folder)])
    assert done.returncode == 0, done.stdout
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory):
    return archive(SRC, tmp_path_factory.mktemp("source"))


def names(path):
    """The files in an archive, without its folder."""
    with tarfile.open(path) as tar:
        members = tar.getmembers()
    assert {(m.uid, m.gid, m.mode & 0o7022) for m in members} == {(0, 0, 0)}
    found = [m.name.partition("/") for m in members]
    assert {folder for folder, _, _ in found} == {path.name[: -len(".tar.gz")]}
    return [name for _, _, name in found]


def test_archive_is_the_same_each_time(made, tmp_path):
    assert archive(SRC, tmp_path).read_bytes() == made.read_bytes()


def test_checksum(made):
    subprocess.run(["sha256sum", "--check", f"{made.name}.sha256"], cwd=made.parent, check=True)


def test_archive_has_the_source(made):
    found = names(made)
    assert len(found) == len(set(found)) > 1000
    wanted = {"CMakeLists.txt", "LICENSE", "README.md", "CHANGES", "script/bootstrap", ".ci/run"}
    assert wanted <= set(found)
    assert [name for name in found if name.startswith(GENERATED)] == []


def test_archive_without_git(made, tmp_path):
    with tarfile.open(made) as tar:
        tar.extractall(tmp_path)
    (tree,) = (path for path in tmp_path.iterdir())
    (tree / "build").mkdir()
    (tree / "build" / "object.o").touch()
    again = tmp_path / "again"
    again.mkdir()
    assert names(archive(tree, again)) == names(made)

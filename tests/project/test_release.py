# SPDX-License-Identifier: GPL-2.0-or-later
"""script/release: the checksums of what it makes, and what it refuses. The parts have their own tests."""
import os
import subprocess

from support.paths import SRC
from support.programs import run

RELEASE = os.path.join(SRC, "script", "release")


def test_source_with_checksums(tmp_path):
    out = tmp_path / "out"
    done = run([RELEASE, "--only", "source", str(out)])
    assert done.returncode == 0, done.stdout
    archive, sums = sorted(path.name for path in out.iterdir())[::-1]
    assert archive.startswith("ipoib-tools-") and archive.endswith(".tar.gz")
    assert sums == "SHA256SUMS"
    assert (out / sums).read_text().split()[1] == archive
    subprocess.run(["sha256sum", "--check", "--strict", sums], cwd=out, check=True)


def test_a_part_is_added(tmp_path):
    (tmp_path / "debian-12").mkdir()
    (tmp_path / "debian-12" / "some.deb").write_text("made before")
    done = run([RELEASE, "--only", "source", str(tmp_path)])
    assert done.returncode == 0, done.stdout
    names = [line.split()[1] for line in (tmp_path / "SHA256SUMS").read_text().splitlines()]
    assert len(names) == 2 and "debian-12/some.deb" in names


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "old").write_text("")
    done = run([RELEASE, str(tmp_path)])
    assert done.returncode == 2 and "not empty" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_usage(tmp_path):
    for wrong in (["--only", "snap"], ["--only"], ["--all"], [str(tmp_path), "more"]):
        done = run([RELEASE, *wrong])
        assert done.returncode == 2 and done.stdout.startswith("usage: script/release")

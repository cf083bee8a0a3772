# SPDX-License-Identifier: GPL-2.0-or-later
"""Skips tests whose tools are missing."""
import os
import shutil
import subprocess

import pytest

from support.programs import run


def needs(tool, package_set):
    """Skips the test if the program is not installed; the reason names the command that installs
    it."""
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}: script/bootstrap --with {package_set}")


def needs_own_mounts():
    """Skips the test if it can have no mount namespace of its own, as a user or in a chroot. Without
    it a mount of the test would be one of the host."""
    command = ["unshare", "--mount", "true"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs a mount namespace of its own: {done.stderr.strip()}")


def run_without_installing(command, folder):
    """Runs a program that calls script/bootstrap. If bootstrap would install packages, the test is
    skipped.

    folder: an empty folder for an apt-get that installs nothing. stderr is part of stdout."""
    wanted = folder / "wanted"
    for name in ("apt-get", "sudo"):
        (folder / name).write_text(f"#!/bin/sh\necho \"$@\" >> '{wanted}'\nexit 100\n")
        (folder / name).chmod(0o755)
    done = run(command, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    if wanted.exists():
        pytest.skip("packages are missing: script/bootstrap")
    return done

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the programs in script/."""
import os
import subprocess

from support.paths import SRC


def run_script(name, *arguments, **environment):
    """Runs script/NAME: its exit status, and stdout with stderr in it as text."""
    return subprocess.run(
        [os.path.join(SRC, "script", name), *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )

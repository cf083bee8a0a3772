# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the programs in script/."""
import os
import subprocess

from support.paths import SRC


def run(command, **options):
    """Its exit status, and stdout with stderr in it as text."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
        **options,
    )


def run_script(name, *arguments, **environment):
    """Runs script/NAME."""
    command = [os.path.join(SRC, "script", name), *arguments]
    return run(command, env={**os.environ, **environment})


def script(name):
    """A function: the exit status and the output of script/NAME with its arguments."""

    def check(*arguments):
        done = run_script(name, *arguments)
        return done.returncode, done.stdout

    return check

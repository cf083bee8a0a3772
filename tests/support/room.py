# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that cannot grow, as on a full disk (RLIMIT_FSIZE).

A program of script/coverage could write its counters in part only, after which no program can add to them: they
go to a folder of their own."""
import os
import resource
import signal
import tempfile

FOLDER = tempfile.TemporaryDirectory()  # removed at the end
COUNTERS = {"GCOV_PREFIX": FOLDER.name, "GCOV_PREFIX_STRIP": "99", "GCOV_ERROR_FILE": "/dev/null"}


def at_most(size, action=signal.SIG_DFL):
    """For preexec_fn. Python ignores SIGXFSZ; the programs get the default."""

    def limit():
        os.environ.update(COUNTERS)
        signal.signal(signal.SIGXFSZ, action)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def command(size):
    """The same before a command."""
    return ("env", *(f"{k}={v}" for k, v in COUNTERS.items()), "prlimit", f"--fsize={size}")

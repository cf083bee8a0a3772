# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command with a limit, for tests/support/isolated:

    limited.py SECONDS COMMAND [ARGUMENT]...

The seconds are those of wait.Clock, which grow with the load. After them, or after SIGTERM, SIGINT or
SIGHUP, it ends the command and its process group: by SIGTERM, after 5 seconds by SIGKILL. Exit status:
that of the command, 128 + N if signal N ended it, 124 after the limit, which the last line says."""
import contextlib
import os
import signal
import subprocess
import sys
import time

import wait

GRACE = 5  # seconds between SIGTERM and SIGKILL


def send(process, number):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def end(process):
    send(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    send(process, signal.SIGKILL)
    process.wait()


class Interrupted(BaseException):
    """A signal; the argument is its number."""


def interrupt(number, _):
    raise Interrupted(number)


def say_limit(limit, took, command):
    if took > 1.5 * float(limit):
        print(f"isolated: the machine was busy: {limit} s took {took:.0f} s")
    print(f"isolated: ended after {limit} s: {' '.join(command)}", flush=True)


def main(limit, command):
    begin = time.monotonic()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)
    process = subprocess.Popen(command, preexec_fn=os.setpgrp)
    try:
        status = wait.end_of(process, float(limit))
    except subprocess.TimeoutExpired:
        took = time.monotonic() - begin
        end(process)
        say_limit(limit, took, command)
        return 124
    except Interrupted as interruption:
        end(process)
        return 128 + interruption.args[0]
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

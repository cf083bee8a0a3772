# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits for a state, with a generous limit, so that a busy machine causes no failure."""
import time

LIMIT = 120  # seconds


def until(condition, what, limit=LIMIT):
    """Repeats the call until condition() is true, and returns its value."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"after {limit} s still not: {what}"
        time.sleep(0.01)


def sleeps_in(process, function, program):
    """Waits until this program was started in the process, and sleeps in this function of the
    kernel."""

    def name(link):
        with open(f"/proc/{process.pid}/{link}", encoding="utf-8") as f:
            return f.read()

    def is_there():
        assert process.poll() is None, f"{program} ended with {process.returncode}"
        return name("comm").strip() == program[:15] and function in name("wchan")

    until(is_there, f"{program} sleeps in {function}")

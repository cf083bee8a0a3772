# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits, with limits that grow with the load of the machine, so that a busy machine causes no failure.

All limits are seconds of a Clock. tests/support/isolated uses this module too, so it needs only Python."""
import contextlib
import os
import subprocess
import threading
import time

LIMIT = 120  # seconds
MOST = 8  # times a limit may grow; tests/registry.cmake has the same number


def slowness():
    """How many processes are ready to run on each processor, at least 1. What needs a processor
    takes that many times longer. /proc/loadavg: proc(5); 1 where it is not mounted."""
    try:
        with open("/proc/loadavg", encoding="ascii") as f:
            running = int(f.read().split()[3].split("/")[0])
    except OSError:
        return 1.0
    return min(max(1.0, running / len(os.sched_getaffinity(0))), MOST)


class Clock:
    """Counts the seconds in which this machine was idle but for this process: on a busy machine it
    runs more slowly. It looks at the load at each call of seconds(), about once a second."""

    def __init__(self):
        self.last, self.counted, self.slowness = time.monotonic(), 0.0, slowness()

    def seconds(self):
        now, load = time.monotonic(), slowness()
        self.counted += (now - self.last) * 2 / (load + self.slowness)
        self.last, self.slowness = now, load
        return self.counted


def until(condition, what, limit=LIMIT):
    """Repeats the call until condition() is true, and returns its value."""
    clock = Clock()
    while True:
        value = condition()
        if value:
            return value
        assert clock.seconds() < limit, f"after {limit} s still not: {what}"
        time.sleep(0.01)


def end_of(process, limit=LIMIT):
    """Waits for the end of a process. Returns its status; as Popen.wait(), raises
    TimeoutExpired."""
    clock = Clock()
    while True:
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            if clock.seconds() >= limit:
                raise subprocess.TimeoutExpired(process.args, limit) from None


def communicate(process, limit=LIMIT):
    """As Popen.communicate() without input: returns the outputs."""
    clock = Clock()
    while True:
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            if clock.seconds() >= limit:
                raise subprocess.TimeoutExpired(process.args, limit) from None


def feed(process, data):
    """Writes the input in another thread. Popen.communicate() writes no more of it when it is called
    again after a time-out."""
    pipe, process.stdin = process.stdin, None
    if not data:
        pipe.close()
        return

    def write():
        with contextlib.suppress(BrokenPipeError), pipe:
            pipe.write(data)

    threading.Thread(target=write, daemon=True).start()


def run(command, timeout=LIMIT, check=False, **options):
    """As subprocess.run()."""
    data = options.pop("input", None)
    if data is not None:
        options["stdin"] = subprocess.PIPE
    if options.pop("capture_output", False):
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **options) as process:
        if data is not None:
            feed(process, data)
        try:
            out, err = communicate(process, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def duration(function):
    """The seconds of a Clock that a short call took."""
    clock = Clock()
    function()
    return clock.seconds()


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

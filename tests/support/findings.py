# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs bin/findings, which prints the findings in a capture. A capture is a path, or a file's
bytes."""
import collections
import functools
import os
import re
import subprocess
import tempfile

from support.paths import BUILD

PROGRAM = os.path.join(BUILD, "bin/findings")
NOT_READ = 3  # exit status: libpcap cannot read the capture

Finding = collections.namedtuple("Finding", "frame rule outcome text")
Place = collections.namedtuple("Place", "frame rule outcome start end")
Count = collections.namedtuple("Count", "passed failed deviated inconclusive noted first")


@functools.lru_cache(maxsize=None)
def server():
    """The program, which answers all requests of this process."""
    return subprocess.Popen(
        [PROGRAM, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def served(request):
    """What the program prints for the arguments of the request; None if it fails."""
    process, lines = server(), []
    process.stdin.write(request + "\n")
    process.stdin.flush()
    for line in process.stdout:
        status = re.fullmatch(r"= (\d+)\n", line)
        if status:
            return "".join(lines) if status[1] == "0" else None
        lines.append(line)
    server.cache_clear()
    return None


def run(capture, *options):
    if not isinstance(capture, str):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
            f.write(capture)
            f.flush()
            return run(f.name, *options)
    output = served("\t".join([*options, os.path.abspath(capture)]))
    command = [PROGRAM, *options, capture]
    if output is None:  # for its messages and its exit status
        return subprocess.run(command, capture_output=True, text=True)
    return subprocess.CompletedProcess(command, 0, output, "")


def rows(capture, *options):
    done = run(capture, *options)
    assert done.returncode == 0, f"{done.args}: exit status {done.returncode}: {done.stderr[:500]}"
    return done.stdout.splitlines()


def frames(capture, *options):
    """All findings except passed and inconclusive ones, in their order."""
    parts = [row.split("\t", 3) for row in rows(capture, "--frames", *options)]
    return [Finding(int(frame), *rest) for frame, *rest in parts]


def places(capture, *options):
    """The bytes at fault of each of these findings: their first byte, and the one after them. Both
    are 0 if they are not in the frame."""
    found = []
    for row in rows(capture, "--places", *options):
        frame, rule, outcome, offset, length, _ = row.split("\t", 5)
        start, end = int(offset), int(offset) + int(length)
        found.append(Place(int(frame), rule, outcome, start, end))
    return found


def failures(capture, *options):
    """(frame, rule) of each failure."""
    return [(f.frame, f.rule) for f in frames(capture, *options) if f.outcome == "fail"]


def parse_counts(text):
    parts = [row.split() for row in text.splitlines()]
    return {rule: Count(*map(int, numbers)) for rule, *numbers in parts}


def counts(capture, *options):
    """For each rule how often it had which outcome."""
    return parse_counts("".join(row + "\n" for row in rows(capture, *options)))

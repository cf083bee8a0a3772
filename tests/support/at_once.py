# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a file of pytest as N processes at once, each with a part of its tests:

    at_once.py N PYTEST...

For tests that wait and use no processor meanwhile: replies that do not come, time limits. Every N-th
test is in the same part (--part in tests/conftest.py). The outputs follow each other, also after SIGTERM, which
ends the parts too; script/run-tests adds their counts. Exit status: the highest of the parts'."""
import signal
import subprocess
import sys
import tempfile

NO_TESTS = 5  # pytest's exit status


def interrupt(*_):
    raise KeyboardInterrupt


def statuses(parts):
    """The exit status of each part; after a signal that of the parts that it ended."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        return [process.wait() for process, _ in parts]
    except KeyboardInterrupt:
        for process, _ in parts:
            process.terminate()
        return [process.wait() for process, _ in parts]


def show(output):
    output.seek(0)
    sys.stdout.write(output.read().decode(errors="replace"))
    sys.stdout.flush()


def main(number, command):
    parts = []
    for part in range(1, number + 1):
        output = tempfile.TemporaryFile()
        arguments = [*command, "--part", f"{part}/{number}"]
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.STDOUT)
        parts.append((process, output))
    found = statuses(parts)
    for _, output in parts:
        show(output)
    ended = [status if status >= 0 else 128 - status for status in found]
    return max(status for status in ended if status != NO_TESTS or set(ended) == {NO_TESTS})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))

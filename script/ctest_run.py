# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of CTest, read line by line as it goes on, for script/run-tests.

`ctest -V` prints each line of test number 5 as "5: LINE", a line when a test starts, and one when it
ends. So the results are known up to the moment at which a run is interrupted; CTest's JUnit file
exists only if the run is complete."""
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import time

TAP_LINE = re.compile(
    r"^(not )?ok\b(?: +\d+)?(?:[ -]+(.*?))?(?:\s*#\s*skip\S*\s*(.*))?$", re.IGNORECASE
)
TAP_SKIP_ALL = re.compile(r"^1\.\.0\s*#\s*skip\S*\s*(.*)", re.IGNORECASE)
PYTEST_END = re.compile(r"^=+ (.*\b(?:passed|failed|skipped|errors?)\b.*) in [\d.]+s.*=+$")
PYTEST_SKIP = re.compile(r"^SKIPPED \[(\d+)\] (?:\S+: )?(.*)$")
PYTEST_CASE = re.compile(r"^\S+::.* (PASSED|FAILED|ERROR) +\[ *\d+%\]$")

CTEST_START = re.compile(r"^ *Start +(\d+): (.*)$")
CTEST_OUTPUT = re.compile(r"^(\d+): (.*)$")
CTEST_LAST_OF_HEAD = "Test timeout computed to be: "  # before it: command, folder, environment
CTEST_END = re.compile(r"^ *\d+/\d+ Test +#(\d+): .*?(\*\*\*\w.*?|   Passed) +([\d.]+) sec")
CTEST_DEPENDENCY = re.compile(r"^Failed test dependencies: ")
QUARTERS = 4  # of a processor: CTest counts these (tests/registry.cmake)
STATUS = {"Passed": "pass", "***Skipped": "skip"}  # all others: fail


class Program:
    """The result of one CTest test: its counts, and the reasons of skipped cases.

    status: pass, fail, skip, or early: the run was interrupted while it ran."""

    def __init__(self, name, status, seconds, output):
        self.name, self.status, self.seconds, self.output = name, status, seconds, output
        self.passed = self.failed = 0
        self.skips = []  # reasons
        self.count()

    def count(self):
        lines = self.output.splitlines()
        for line in lines:
            self.count_tap(line) or self.count_pytest(line)
        if not any(map(PYTEST_END.match, lines)):
            self.count_pytest_cases(lines)
        if self.status == "fail":
            self.failed = max(self.failed, 1)
        elif self.status == "skip":
            self.passed, self.skips = 0, self.skips or [self.last_line()]
        elif self.status == "pass" and not self.passed and not self.skips:
            self.passed = 1

    def count_tap(self, line):
        result, nothing = TAP_LINE.match(line), TAP_SKIP_ALL.match(line)
        if nothing:
            self.skips.append(nothing.group(1))
        elif result and result.group(3) is not None:
            self.skips.append(f"{result.group(2) or ''}: {result.group(3)}")
        elif result and result.group(1):
            self.failed += 1
        elif result:
            self.passed += 1
        return bool(nothing or result)

    def count_pytest(self, line):
        skip, end = PYTEST_SKIP.match(line), PYTEST_END.match(line)
        if skip:
            self.skips += [skip.group(2)] * int(skip.group(1))
        elif end:
            counts = collections.Counter()
            for number, what in re.findall(r"(\d+) (passed|failed|error)", end.group(1)):
                counts[what] += int(number)
            self.passed += counts["passed"]
            self.failed += counts["failed"] + counts["error"]

    def count_pytest_cases(self, lines):
        """Counts the cases of a pytest that was ended before it printed its counts."""
        results = [case.group(1) for case in map(PYTEST_CASE.match, lines) if case]
        self.passed += results.count("PASSED")
        self.failed += len(results) - results.count("PASSED")

    def last_line(self):
        lines = self.output.strip().splitlines()
        return lines[-1] if lines else "no reason given"


class Running:
    """A test that has started: its name and what it has printed."""

    def __init__(self, name):
        self.name, self.begin, self.lines, self.in_head = name, time.monotonic(), [], True

    def add(self, line):
        if self.in_head and line.startswith(CTEST_LAST_OF_HEAD):
            self.in_head = False
            self.lines.clear()
        else:
            self.lines.append(line)

    def ended(self, status, seconds):
        return Program(self.name, status, seconds, "\n".join(self.lines))


class Results:
    """What is known of a run: the programs that ended, and the tests that run."""

    def __init__(self):
        self.programs = []
        self.running = {}  # by CTest's number
        self.latest = None

    def read(self, line):
        """Takes one line of CTest. Returns whether it says that a test starts or ends."""
        start, end = CTEST_START.match(line), CTEST_END.match(line)
        if start:
            self.latest = self.running[start.group(1)] = Running(start.group(2))
        elif end:
            self.end(*end.groups())
        else:
            self.keep_output(line)
        return bool(start or end)

    def end(self, number, status, seconds):
        test = self.running.pop(number)
        self.programs.append(test.ended(STATUS.get(status.strip(), "fail"), float(seconds)))

    def keep_output(self, line):
        output = CTEST_OUTPUT.match(line)
        if CTEST_DEPENDENCY.match(line):
            self.latest.add(line)
        elif output and output.group(1) in self.running:
            self.running[output.group(1)].add(output.group(2))

    def interrupt(self):
        """The programs that run have ended. Returns them."""
        now = time.monotonic()
        early = [test.ended("early", now - test.begin) for test in self.running.values()]
        self.programs += early
        self.running = {}
        return early


def names_of(build, chosen):
    """The names of the chosen tests; None if CTest cannot list them."""
    command = ["ctest", "--test-dir", build, "--show-only=json-v1", *chosen]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return None
    return [test["name"] for test in json.loads(done.stdout)["tests"]]


class Interruption:
    """Ends CTest soon after this program got a signal. why: the reason, or None."""

    GRACE = 0.5  # seconds in which CTest passes on what tests have printed

    def __init__(self):
        self.process, self.number = None, 0
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.take)
        signal.signal(signal.SIGALRM, lambda *_: self.end())

    def take(self, number, _):
        if not self.number:
            self.number = number
            signal.setitimer(signal.ITIMER_REAL, self.GRACE)

    def end(self):
        # The tests end when CTest ends (tests/support/isolated).
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)

    def watch(self, process):
        self.process = process
        if self.number:  # the signal came before the process was known
            self.end()

    @property
    def why(self):
        return signal.Signals(self.number).name if self.number else None


def parallel(jobs):
    """CTest's option for so many processors, of which a test that waits takes a part. With one job all tests run alone."""
    return ["--parallel", str(jobs * QUARTERS if jobs > 1 else 1)]


def run_ctest(build, jobs, chosen, interruption):
    """Runs the chosen tests. Returns the results, and why they are incomplete, or None.

    CTest is in a session of its own, so that the signals of a terminal reach only this program, and
    ends with this program."""
    command = ["setpriv", "--pdeathsig", "KILL", "ctest", "--test-dir", build, "--verbose"]
    command += [*parallel(jobs), *chosen]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
    )
    interruption.watch(process)
    results = Results()
    for raw in process.stdout:
        line = raw.decode(errors="replace").rstrip("\n")
        if results.read(line):
            print(line, flush=True)
    status = process.wait()
    interruption.watch(None)
    return results, interruption.why or (f"signal {-status} to ctest" if status < 0 else None)

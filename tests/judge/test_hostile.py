# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile captures: a million groups, addresses, connections, contradictory joins, reused IDs. The
model's memory stays below the limit that lib/model/fabric.h states, time and findings grow in
proportion to the capture, and nothing crashes.

build/bin/findings checks each capture (tests/judge/hostile.c) at SMALL and at four times as many entries.
User time is the least of up to five runs, because noise only adds time. Four times the entries may
take SLOWER times the time: 4 is linear, 16 quadratic. Table limits lie between the two sizes;
SECONDS_AN_ENTRY makes sure that entries beyond a limit are not slow. Programs with AddressSanitizer
check smaller captures, if these programs are built.

`pytest -rP tests/judge/test_hostile.py` prints the times and the peak memory of each kind.

Environment: IPOIB_ASAN_BIN (programs with AddressSanitizer, default build-asan/bin)."""
import functools
import os
import re
import subprocess
import sys

import pytest

from support.paths import BIN, SRC

ASAN = os.environ.get("IPOIB_ASAN_BIN") or os.path.join(SRC, "build-asan", "bin")

SMALL, LARGE, MILLION, ALL, SANITIZED = 100000, 400000, 1000000, 270000, 5000
SLOWER = 8.0
SECONDS_AN_ENTRY = 50e-6  # a few us are usual; a walk through a table of 65,536 takes ms
FINDINGS_AN_ENTRY = 30  # failures and notes in the few frames of an entry
PROGRAM = 24 << 20  # bytes of the program without a model; 8 MiB are the deduplication cache
# Linux counts the memory of the process that starts a program as the program's own: a small process
# starts it. It writes the wait status, the user time in s and the peak memory in kB to the file
# descriptor that is its first argument.
STARTER = """
import os, sys
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
os.write(int(sys.argv[1]), f"{status} {usage.ru_utime} {usage.ru_maxrss}".encode())
"""


def constant(path, name):
    """NAME = 1 << N, or #define NAME N, in a header."""
    with open(os.path.join(SRC, path), encoding="utf-8") as f:
        form = r"#define %s (\d+)" if "MEMORY" in name else r"\b%s = 1 << (\d+)"
        m = re.search(form % name, f.read())
    assert m, f"{path} has no {name}"
    return int(m.group(1)) if "MEMORY" in name else 1 << int(m.group(1))


CONNECTIONS, NEIGHBOURS, QPNS, GROUPS, ENDPORTS, MEMORY = (
    constant("lib/model/fabric.h", f"FABRIC_{name}_MAX")
    for name in ("CONNECTIONS", "NEIGHBOURS", "QPNS", "GROUPS", "ENDPORTS", "MEMORY")
)
STREAMS, RUNS = (
    constant("lib/model/stream.h", name) for name in ("STREAMS_MAX", "STREAM_RUNS_MAX")
)
ROUTES = constant("lib/model/fabric.h", "FABRIC_ROUTES_MAX")

# Bytes of each structure (tests/unit/test_memory.c), and of all that a kind of capture fills.
GROUP, MEMBER, LINK = 200, 80, 100
NEIGHBOUR, ENDPORT, PKEYS, ROUTE, QP = 160, 160, 80, 160, 64
CONNECTION, FLOW, OPEN, RUN = 300, 80, 320, 40
KEEPS = {
    "groups-joined": GROUPS * GROUP,
    "groups-colliding": GROUPS * GROUP,
    "groups-sent-to": GROUPS * GROUP,
    "joins-contradictory": 0,
    "broadcasts": GROUPS * (GROUP + LINK),
    "members": 4 * GROUPS * MEMBER + ENDPORTS * ENDPORT,
    "addresses": NEIGHBOURS * NEIGHBOUR + ENDPORTS * ENDPORT + QPNS * QP,
    "address-with-many-ips": NEIGHBOURS * NEIGHBOUR,
    "ip-with-many-addresses": NEIGHBOURS * NEIGHBOUR + ENDPORTS * ENDPORT + QPNS * QP,
    "ip-with-many-qpns": NEIGHBOURS * NEIGHBOUR,
    "qps": QPNS * QP,
    "reports": 0,
    "connections": CONNECTIONS * CONNECTION + ENDPORTS * ENDPORT,
    "connections-of-one-pair": CONNECTIONS * CONNECTION + 4 * CONNECTIONS * FLOW,
    "ids-again-and-again": CONNECTIONS * CONNECTION,
    "requests-crossing": CONNECTIONS * CONNECTION,
    "messages-far-apart": 4 * CONNECTIONS * FLOW + STREAMS * (OPEN + RUN),
    "messages-with-gaps": 0,
    "ports": ROUTES * ROUTE + ENDPORTS * (ENDPORT + PKEYS),
    "routes-to-one-port": ROUTES * ROUTE,
    "all": MEMORY,
}
each_kind = pytest.mark.parametrize("kind", [kind for kind in KEEPS if kind != "all"])


class Run:
    """One run on a capture: exit status, user time in s, peak memory in bytes, findings except
    passes."""

    def __init__(self, kind, entries, folder=BIN):
        self.what = f"{kind}, {entries} entries"
        maker = subprocess.Popen(
            [os.path.join(folder, "hostile"), kind, str(entries)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        measured, report = os.pipe()
        findings = [os.path.join(folder, "findings"), "-"]
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", STARTER, str(report), *findings],
            stdin=maker.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[report],
        )
        os.close(report)
        maker.stdout.close()
        output, errors = process.communicate()
        lines, self.errors = output.decode().splitlines(), errors.decode(errors="replace")
        with open(measured, encoding="ascii") as f:
            numbers = f.read().split()
        assert len(numbers) == 3, f"{self.what}: not measured: {self.errors}"
        made = maker.wait()
        self.status = int(numbers[0]) or process.returncode or made
        self.seconds, self.memory = float(numbers[1]), int(numbers[2]) * 1024
        counts = [[int(n) for n in line.split()[1:]] for line in lines]
        self.found = sum(fail + deviation + noted for _, fail, deviation, _, noted, _ in counts)
        self.checked = sum(sum(c[:5]) for c in counts)
        print(f"{self.what}: {self.seconds:.2f} s and {self.memory / 1e6:.1f} MB")

    def assert_checked(self):
        assert self.status == 0, f"{self.what}: exit status {self.status}; stderr: {self.errors}"

    def assert_memory_below(self, limit):
        assert self.memory <= limit, f"{self.what}: {self.memory} bytes, limit {limit}"


@functools.cache
def first_run(kind, entries):
    return Run(kind, entries)


def growth(kind):
    """How much slower four times the entries are; repeats the run if needed, to remove noise."""
    small = [first_run(kind, SMALL).seconds, Run(kind, SMALL).seconds]
    large = [first_run(kind, LARGE).seconds]
    while min(large) / max(min(small), 0.01) > SLOWER and len(large) < 5:
        large.append(Run(kind, LARGE).seconds)
    return min(large) / max(min(small), 0.01)


def test_the_limit_of_each_kind_is_known():
    listed = subprocess.run(
        [os.path.join(BIN, "hostile"), "--list"], stdout=subprocess.PIPE, text=True, check=True
    )
    assert sorted(listed.stdout.split()) == sorted(KEEPS)


@each_kind
def test_capture_is_checked(kind):
    for entries in (SMALL, LARGE):
        first_run(kind, entries).assert_checked()
    assert first_run(kind, SMALL).checked


@each_kind
def test_memory_has_its_limit(kind):
    first_run(kind, LARGE).assert_memory_below(KEEPS[kind] + PROGRAM)


@each_kind
def test_time_grows_linearly(kind):
    ratio = growth(kind)
    assert ratio <= SLOWER, f"four times the entries take {ratio:.1f} times the time"
    each = first_run(kind, LARGE).seconds / LARGE
    assert each <= SECONDS_AN_ENTRY, f"{each * 1e6:.0f} us an entry"


@each_kind
def test_findings_grow_linearly(kind):
    found = first_run(kind, LARGE).found
    print(f"{kind}: {found / LARGE:.1f} findings an entry")
    assert found <= FINDINGS_AN_ENTRY * LARGE, f"{found} findings for {LARGE} entries"


@pytest.mark.parametrize(
    "kind, entries",
    [
        ("groups-joined", MILLION),
        ("groups-sent-to", MILLION),
        ("addresses", MILLION),
        ("connections", MILLION),
        ("all", ALL),
    ],
)
def test_memory_of_a_large_capture_has_its_limit(kind, entries):
    run = Run(kind, entries)
    run.assert_checked()
    run.assert_memory_below(KEEPS[kind] + PROGRAM)


@pytest.mark.parametrize("kind", KEEPS)
def test_sanitizers_find_nothing(kind):
    for program in ("hostile", "findings"):
        if not os.path.exists(os.path.join(ASAN, program)):
            pytest.skip("there are no programs with AddressSanitizer: script/test builds them")
    run = Run(kind, SANITIZED, ASAN)
    run.assert_checked()
    assert not run.errors, run.errors[:2000]

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: here-only
# test: timeout=1200
"""Hostile captures: a million groups, addresses, connections, joins that contradict each other, IDs used again. What is
remembered stays below the limit that model/fabric.h states, time grows as the capture does, findings too, and nothing
crashes.

    tests/hostile.py [KIND...]        default: all that build/bin/hostile --list names

Environment: IPOIB_SRC, IPOIB_BIN, IPOIB_ASAN_BIN (programs with AddressSanitizer, default build-asan/bin). Output: TAP.

Each capture (tests/hostile.c) is judged by build/bin/findings at SMALL and at four times as many entries; user time is the
least of up to five runs, for noise only adds. Four times the entries may take SLOWER times the time: 4 if it is linear, 16
if it grows as the square. Table limits lie between the two sizes; that what comes beyond a limit is not slow by itself is what
SECONDS_AN_ENTRY is for. Where there are programs with AddressSanitizer, they judge smaller ones."""
import os
import re
import subprocess
import sys

from tap import BIN, SRC, faultless, finish

ASAN = os.environ.get("IPOIB_ASAN_BIN") or os.path.join(SRC, "build-asan", "bin")

SMALL, LARGE, MILLION, ALL, SANITIZED = 100000, 400000, 1000000, 270000, 5000
SLOWER = 8.0
SECONDS_AN_ENTRY = 50e-6  # a few us are usual; one that walks a table of 65,536 takes ms
FINDINGS_AN_ENTRY = 30    # failures and notes, of the few frames that an entry has
PROGRAM = 20 << 20        # octets of the program without a model; Linux counts this one, which starts it, as well
IN_MILLIONS = ("groups-joined", "groups-sent-to", "addresses", "connections")


def constant(path, name):
    """NAME = 1 << N, or #define NAME N, in a header."""
    with open(os.path.join(SRC, path)) as f:
        m = re.search(r"\b%s(?: = 1 << |  *)(\d+)" % name, f.read())
    assert m, "%s has no %s" % (path, name)
    return int(m.group(1)) if "MEMORY" in name else 1 << int(m.group(1))


CONNECTIONS, NEIGHBOURS, QPNS, GROUPS, ENDPORTS, MEMORY = (
    constant("model/fabric.h", "FABRIC_%s_MAX" % name)
    for name in ("CONNECTIONS", "NEIGHBOURS", "QPNS", "GROUPS", "ENDPORTS", "MEMORY"))
STREAMS, RUNS = (constant("model/stream.h", name) for name in ("STREAMS_MAX", "STREAM_RUNS_MAX"))
ROUTES = constant("model/subnet.c", "ROUTES_MAX")

# Octets of one each, as tests/unit/test_memory.c holds them, and of what a kind of capture makes the model keep.
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


class Run:
    """One capture judged: exit status, user time in s, peak memory in octets, findings that are no passes."""

    def __init__(self, kind, entries, folder=BIN):
        maker = subprocess.Popen([os.path.join(folder, "hostile"), kind, str(entries)], stdout=subprocess.PIPE)
        judge = subprocess.Popen([os.path.join(folder, "findings"), "-"], stdin=maker.stdout, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE if folder == ASAN else None)
        maker.stdout.close()
        lines = judge.stdout.read().decode().splitlines()
        self.errors = judge.stderr.read().decode() if judge.stderr else ""
        _, self.status, usage = os.wait4(judge.pid, 0)
        judge.returncode = self.status
        self.status = self.status or maker.wait()
        self.seconds, self.memory = usage.ru_utime, usage.ru_maxrss * 1024
        counts = [[int(n) for n in line.split()[1:]] for line in lines]
        self.told = sum(fail + deviation + noted for _, fail, deviation, _, noted, _ in counts)
        self.judged = sum(sum(c[:5]) for c in counts)


def growth(kind, first, larger):
    """How much slower four times the entries are; noise is measured away, if there is need to."""
    small = [first.seconds, Run(kind, SMALL).seconds]
    large = [larger.seconds]
    while min(large) / max(min(small), 0.01) > SLOWER and len(large) < 5:
        large.append(Run(kind, LARGE).seconds)
    return min(large) / max(min(small), 0.01)


def memory_problem(run, kind):
    limit = KEEPS[kind] + PROGRAM
    return "%d octets, limit %d" % (run.memory, limit) if run.memory > limit else ""


def check_kind(kind):
    small, large = Run(kind, SMALL), Run(kind, LARGE)
    print("# %s: %.2f s and %.1f MB for %d, %.2f s and %.1f MB for %d; %.1f findings an entry"
          % (kind, small.seconds, small.memory / 1e6, SMALL, large.seconds, large.memory / 1e6, LARGE, large.told / LARGE))
    faultless(kind + ": is judged",
              "exit status %d, %d" % (small.status, large.status) if small.status or large.status or not small.judged else "")
    faultless(kind + ": memory has its limit", memory_problem(large, kind))
    ratio = growth(kind, small, large)
    each = large.seconds / LARGE
    faultless(kind + ": time grows as the capture does",
              "four times the entries take %.1f times the time" % ratio if ratio > SLOWER else
              "%.0f us an entry" % (each * 1e6) if each > SECONDS_AN_ENTRY else "")
    faultless(kind + ": so do findings", "%d for %d entries" % (large.told, LARGE) if large.told > FINDINGS_AN_ENTRY * LARGE else "")


def check_large(kind, entries):
    run = Run(kind, entries)
    print("# %s: %.2f s and %.1f MB for %d" % (kind, run.seconds, run.memory / 1e6, entries))
    faultless("%s, %d: memory has its limit" % (kind, entries),
              "exit status %d" % run.status if run.status else memory_problem(run, kind))


def check_sanitized(kind):
    run = Run(kind, SANITIZED, ASAN)
    faultless(kind + ": nothing wrong in the sanitizers' eyes",
              "exit status %d: %s" % (run.status, run.errors[:200]) if run.status or run.errors else "")


def main():
    listed = subprocess.run([os.path.join(BIN, "hostile"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    kinds = sys.argv[1:] or listed
    faultless("each kind's limit is known", ", ".join(set(listed) ^ set(KEEPS)))
    for kind in kinds:
        if kind == "all":
            check_large(kind, ALL)
        else:
            check_kind(kind)
        if kind in IN_MILLIONS:
            check_large(kind, MILLION)
        if os.path.exists(os.path.join(ASAN, "hostile")) and os.path.exists(os.path.join(ASAN, "findings")):
            check_sanitized(kind)
    return finish()


sys.exit(main())

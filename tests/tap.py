# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of this folder share: where things are, and how they tell their results (TAP, as script/run-tests reads it).

A test is either a call of tap(), or a function with the decorator @test(name), which fails by an exception; run_tests() calls
them all. finish() ends a program of either kind."""
import os
import shlex
import sys
import time

SRC = os.path.abspath(os.environ.get("IPOIB_SRC") or os.path.join(os.path.dirname(__file__), ".."))
BUILD = os.path.abspath(os.environ.get("IPOIB_BUILD") or os.path.join(SRC, "build"))
BIN = os.path.abspath(os.environ.get("IPOIB_BIN") or os.path.join(BUILD, "bin"))
TSHARK = shlex.split(os.environ.get("IPOIB_TSHARK") or os.path.join(SRC, "script", "tshark"))
SHARKD = shlex.split(os.environ.get("IPOIB_SHARKD") or os.path.join(SRC, "script", "with-plugins") + " sharkd")
COMPLAINTS_SHOWN, COMPLAINT_LENGTH = 40, 2000

tests = []  # (name, function)
number = failures = 0


class Skip(Exception):
    """Raised by a test that cannot be made here; its text is the reason."""


def tap(good, name, complaints=()):
    """Tells one result. complaints, a text or several, are shown where it is not good."""
    global number, failures
    number += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", number, name))
    lines = [line for text in ([complaints] if isinstance(complaints, str) else complaints) for line in str(text).splitlines()]
    for line in () if good else lines[:COMPLAINTS_SHOWN]:
        print("#", line[:COMPLAINT_LENGTH])
    if not good and len(lines) > COMPLAINTS_SHOWN:
        print("# and %d lines more" % (len(lines) - COMPLAINTS_SHOWN))
    sys.stdout.flush()
    return bool(good)


def faultless(name, complaints):
    """A result that is good if there is no complaint."""
    return tap(not complaints, name, complaints)


def skip(name, reason):
    tap(True, "%s # SKIP %s" % (name, reason))


def remark(text):
    """For whoever reads the summary."""
    print("# remark: %s" % text)


def finish():
    """The plan, and the exit status."""
    print("1..%d" % number)
    return 1 if failures else 0


def test(name):
    def wrap(function):
        tests.append((name, function))
        return function
    return wrap


def run_tests(only=()):
    """All, or those whose name has one of the texts of ONLY in it, or whose function is called so: these with their seconds."""
    for name, function in tests:
        if only and not any(text in name or text == function.__name__ for text in only):
            continue
        begin = time.monotonic()
        try:
            function()
            tap(True, name)
        except Skip as why:
            skip(name, why)
        except Exception as fault:  # whatever it is, the other tests run
            line, text = fault.__traceback__.tb_next.tb_lineno, str(fault).replace("\\n", "\n")  # of octets, too
            tap(False, name, "%s, line %d: %s" % (type(fault).__name__, line, text))
        if only:
            print("# %.1f s" % (time.monotonic() - begin), flush=True)

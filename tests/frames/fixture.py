# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the rules' fixtures, and the captures that they start from.

A fixture is a function under one of the decorators below; it is called with a copy of its base, a
Tape, which it changes. The base is a real capture of testdata by its name, or a capture derived
from one, under @base. Fixtures return the frame (or its number in the real capture) that must have
the finding.
"""
import os

from frames import edit

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")

FAIL, PASS, USE, SHOWN = "fail", "pass", "use", "shown"

BASES = {}  # name -> (description, function)
FIXTURES = []  # in their order
_tapes = {}


class Fixture:
    """kind: FAIL: one fault, a failure of the rule in one frame; PASS: the check passes; USE: the
    traffic uses the freedom of a MAY rule, and nothing is reported; SHOWN: the rule is noted.

    make None: the base itself is the fixture. linux: the outcome if the deviations of Linux are
    known. also: rules that may have a finding too, because the documents say so; no other rule may
    have one."""

    def __init__(self, kind, rule, base, what, make=None, variant="", linux="fail", also=()):
        self.kind, self.rule, self.base, self.what, self.make = kind, rule, base, what, make
        self.variant, self.linux, self.also = variant, linux, sorted(also)

    def name(self):
        """The name of its file."""
        return (
            "%s.%s%s.pcap" % (self.rule, self.kind, self.variant)
            if self.make
            else base_file(self.base)
        )


def _decorator(kind):
    def of(rule, base_name, what, **options):
        def enter(make):
            FIXTURES.append(Fixture(kind, rule, base_name, what, make, **options))
            return make

        return enter

    return of


fail, passes, use, shown = (_decorator(kind) for kind in (FAIL, PASS, USE, SHOWN))


def sets(rule, base_name, what, fields, at=None, enter=fail, **options):
    """Other values of fields of frames, {number: {name: value}}: a fault, unless enter is another
    decorator. at: the frame that must have the finding; None: the only one that is changed."""

    def make(t):
        for number, changed in fields.items():
            for name, value in changed.items():
                t[number][name] = value
        return at or next(iter(fields))

    enter(rule, base_name, what, **options)(make)


def as_it_is(kind, base_name, *rules):
    """The base is the fixture of these rules."""
    for rule in rules:
        FIXTURES.append(Fixture(kind, rule, base_name, "the capture as it is"))


def base(name, of, what):
    """A capture that others start from; made from a real one by the function below."""

    def enter(make):
        BASES[name] = ("%s: %s" % (of, what), of, make)
        return make

    return enter


def is_real(name):
    return name not in BASES


def base_file(name):
    return os.path.join(TESTDATA, name) if is_real(name) else "base.%s.pcap" % name


def tape(name):
    """A copy of the base, which is read and made once."""
    if name not in _tapes:
        if is_real(name):
            _tapes[name] = edit.Tape(os.path.join(TESTDATA, name))
        else:
            _, of, make = BASES[name]
            _tapes[name] = tape(of)
            make(_tapes[name])
    return _tapes[name].copy()


def make_capture(fixture):
    """(its tape, the number of the frame with the finding; 0: none has one)"""
    t = tape(fixture.base)
    at = fixture.make(t)
    return t, t.number(at) if at is not None else 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of variants: the ways to violate each rule, each with a capture that does so.

A variant is a change to frames.world.everything(), which conforms to every rule. The topic files of
this package enter theirs by broken() and change(). tests/judge/test_variants.py checks all of them.
"""
import functools

from frames import world
from frames.fabric import C, D

FAIL, INCONCLUSIVE = "fail", "inconclusive"
NOT_JUDGED = "not judged"  # no result of the rule in the capture
SILENT = "silent"  # the rule passes for other frames
BASES = {
    "default": {},
    "child": {"pkey": 0x8001},
    "limited": {"pkey": 0x8001, "limited": (C, D)},
}
VARIANTS = []
COUNTERPARTS = {}  # what it is, to a function that changes the world; no rule is violated
# A capture that begins late begins with this frame: no SMPs, no joins.
LATE = "A.arp.request"


class Variant:
    """rule: the violated rule; way: how it is violated; at: the name of the frame with the finding;
    base: one of BASES.

    early: the result in the whole capture; why: the reason for a result other than FAIL.
    evidence.py has the results of other forms of the capture."""

    def __init__(self, rule, way, at, make, base="default", early=FAIL, why=""):
        self.rule, self.way, self.at, self.make, self.base = rule, way, at, make, base
        self.early, self.why = early, why

    def name(self):
        suffix = "" if self.base == "default" else f" ({self.base})"
        return f"{self.rule}: {self.way}{suffix}"

    def world(self):
        """The capture, as a world; its frame `at` has the finding."""
        w = base(self.base).copy()
        self.make(w)
        return w


@functools.cache
def base(name):
    return world.everything(**BASES[name])


def broken(rule, way, at, bases=("default",), **options):
    """Enters a function that violates the rule; it is called with the world."""

    def enter(make):
        for name in bases:
            VARIANTS.append(Variant(rule, way, at, make, name, **options))
        return make

    return enter


def conforming(what):
    """Enters a function that makes unusual traffic that looks like a variant and violates no
    rule."""

    def enter(make):
        assert what not in COUNTERPARTS
        COUNTERPARTS[what] = make
        return make

    return enter


def counterpart(what):
    """The capture, as a world."""
    w = base("default").copy()
    COUNTERPARTS[what](w)
    return w


def set_fields(packet, fields):
    for name, value in fields.items():
        packet[name] = value
    if packet.deth and packet["qkey"] == world.QKEY or not packet.deth:
        packet.fix_checksums()


def change(rule, way, at, fields, bases=("default",), **options):
    """Sets fields of one packet to other values; `frames` names more packets that change in the
    same way."""
    frames = options.pop("frames", (at,))

    def make(w):
        for name in frames:
            set_fields(w[name], fields)

    broken(rule, way, at, bases, **options)(make)

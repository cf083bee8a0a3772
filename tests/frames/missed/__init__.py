# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of captures that lack frames, or have them in another order than they were sent: how the
frames are built, which of them were not captured, and what ipoib-check must report.

Most cases come in pairs. In the first capture every sender conforms, but frames that would show this
are missing: no violation may be found. In the second one the situation is the same, but the PSNs, or
a captured frame, show that no such frame is missing: the violation must be found. Each file here has
one topic; test_missed*.py in tests/judge check all its CASES."""
import functools
import itertools
import re

from frames import ib, world
from frames.fabric import SM, mad_frame
from frames.variants import forms
from support import findings

by = functools.partial  # how the frames of a case are built


class Violation(tuple):
    """(frame, rule). A frame is its name, or its number. text: its other words, where a frame's number
    is replaced by its name."""

    def __new__(cls, finding, names):
        number = re.compile(r"\bframe (\d+)")
        name = lambda n: names[int(n) - 1] if names else int(n)
        violation = super().__new__(cls, (name(finding.frame), finding.rule))
        violation.text = number.sub(lambda m: f"frame {name(m[1])}", finding.text)
        return violation


class Expected:
    """What the violations must be."""

    def __init__(self, text, holds):
        self.text, self.holds = text, holds


def exactly(*violations):
    return Expected(f"exactly {violations}", lambda found: found == list(violations))


def rules(*names):
    return Expected(f"these rules: {names}", lambda found: [r for _, r in found] == list(names))


def rule_set(*names):
    return Expected(f"only these rules: {names}", lambda found: {r for _, r in found} == set(names))


def has(*names):
    return Expected(f"among others {names}", lambda found: set(names) <= {r for _, r in found})


def lacks(*names):
    return Expected(f"none of {names}", lambda found: not set(names) & {r for _, r in found})


def includes(*violations):
    return Expected(f"among others {violations}", lambda found: set(violations) <= set(found))


def excludes(frame, rule):
    return Expected(f"no {rule} in {frame}", lambda found: (frame, rule) not in found)


def count(number):
    return Expected(f"{number} violations", lambda found: len(found) == number)


CONFORMS = exactly()
SOMETHING = Expected("a violation", bool)


class Case:
    """make: returns the capture: a World, or the bytes of a file, or these and the names of its frames.
    expected: of what is found if the
    names are missed that each element of lost has, a function of the World. of: only violations of
    these rules, and of these outcomes, count. form: of variants/forms.py. deviations: the option of ipoib-check.
    """

    def __init__(
        self,
        name,
        expected,
        make,
        *,
        lost=None,
        of=(),
        form=None,
        deviations="none",
        outcomes=("fail",),
    ):
        self.name, self.expected, self.make, self.lost = name, expected, make, lost
        self.of, self.form, self.outcomes = of, form or forms.infiniband, outcomes
        self.options = ("--deviations", deviations) if deviations else ()

    def captures(self):
        """(the file's bytes, the names of its frames or None, the names that are missed)"""
        made = self.make()
        if not isinstance(made, world.World):
            yield (made, None, ()) if isinstance(made, bytes) else (*made, ())
            return
        for lost in self.lost(made) if self.lost else [()]:
            yield *self.form(without(made, *lost)), lost

    def check(self):
        for capture, names, lost in self.captures():
            found = [
                Violation(f, names)
                for f in findings.frames(capture, *self.options)
                if f.outcome in self.outcomes and (f.rule in self.of or not self.of)
            ]
            assert self.expected.holds(found), f"{self.expected.text}; {lost} missed: {found}"


class Outcome(Case):
    """expected: of the counts of the rule's results."""

    def __init__(self, name, expected, rule, make, **options):
        super().__init__(name, expected, make, **options)
        self.rule = rule

    def check(self):
        for capture, _, lost in self.captures():
            counts = findings.counts(capture, *self.options)[self.rule]
            assert self.expected.holds(counts), f"{self.expected.text}; {lost} missed: {counts}"


FAILS = Expected("fails", lambda counts: counts.failed)
INCONCLUSIVE = Expected("is inconclusive", lambda counts: not counts.failed and counts.inconclusive)


class Places(Case):
    """expected: (frame, first byte, end) of the bytes at fault of the rule."""

    def __init__(self, name, expected, rule, make):
        super().__init__(name, expected, make, of=(rule,))

    def check(self):
        for capture, names, _ in self.captures():
            places = findings.places(capture, *self.options)
            found = [(names[p.frame - 1], p.start, p.end) for p in places if p.rule in self.of]
            assert found == self.expected


def without(w, *lost):
    one = w.copy()
    one.order = [n for n in w.order if n not in lost]
    return one


def subsets(names, most=None):
    """All choices of up to `most` names."""
    sizes = range((len(names) if most is None else most) + 1)
    return [lost for size in sizes for lost in itertools.combinations(names, size)]


def any_of(*starts, but=(), most=None):
    """A function: all choices of frames whose names begin so."""

    def lost(w):
        return subsets([n for n in w.order if n.startswith(starts) and n not in but], most)

    return lost


def these(*names):
    """A function: these frames are missed."""
    return lambda w: [names]


def shift_psns(w, names, lids, by_how_many=1):
    """The GSIs of these LIDs have later PSNs in these frames: packets before them are missing."""
    for p in (w[n] for n in names):
        if p.deth and p["srcqp"] == 1 and p["slid"] in lids:
            p["psn"] += by_how_many


def of_tape(t, **names):
    """A capture with names for some of its frames: name to number."""
    named = {number: name for name, number in names.items()}
    return t.erf_pcap(), [named.get(n, n) for n in range(1, len(t.records) + 1)]


def of_real(t):
    """A real capture that was changed. Its frames have their original numbers; new ones are None."""
    return t.pcap(), [f.origin for f in t.frames]


def after(w, name):
    return w.order[w.order.index(name) + 1 :]


PATH_MASK = 0x0C  # DGID, SGID (IBA 15.2.5.16)


def asks_next(t, port, psn):
    """The port's GSI sends a request with the PSN after its last one: no request between them is
    missing."""
    query = ib.path_record(SM.gid, port.gid)
    mad = ib.sa_mad(ib.GET, 0x7E, ib.ATTR_PATH_RECORD, query, PATH_MASK)
    t.put(mad_frame(port, SM, mad, psn))


def parametrized(*topics):
    """The arguments of pytest.mark.parametrize for all cases of these files."""
    cases = [(topic.__name__.rsplit(".", 1)[1], c) for topic in topics for c in topic.CASES]
    names = [f"{topic}: {c.name}" for topic, c in cases]
    assert len(set(names)) == len(names), "two cases have the same name"
    return dict(argnames="case", argvalues=[c for _, c in cases], ids=names)

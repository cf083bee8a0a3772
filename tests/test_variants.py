# SPDX-License-Identifier: GPL-2.0-or-later
"""Each way in which a rule can be broken is found, or is inconclusive for a reason that tests/frames/variants gives.

Each variant is judged as it is captured on an InfiniBand link from the first SMP on (early); beginning
behind the joins (late); and as an ERF card, an IPoIB interface (LINKTYPE_IPOIB, 242) and a RoCE v2
network would have captured it. tests/variants.tsv lists the results; this program writes it:
python3 tests/test_variants.py > tests/variants.tsv"""
import collections
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from frames import variants, world
from frames.variants import FAIL, INCONCLUSIVE, carriers, connections, datagrams, groups, links
from support import capfile, findings
from support.paths import SRC

TABLE = os.path.join(SRC, "tests/variants.tsv")
FORMS = ("early", "late", "erf", "242", "roce2")
NOT_THERE = "-"  # the form has no frame that breaks the rule
assert connections and datagrams and groups and links  # they fill the table
NAMES = collections.Counter(v.name() for v in variants.VARIANTS)


def captured(variant, form):
    """(its capture, the names of its frames)"""
    w = variant.world()
    if form == "late":
        if variants.LATE not in w.order or w.order.index(variant.at) < w.order.index(variants.LATE):
            return None, []
        w.begin(variants.LATE)
    return carriers.FORMS.get(form, carriers.infiniband)(w)


def outcome(rule, at, capture, names):
    """What the capture shows of the rule: in the frame FAIL, or anywhere INCONCLUSIVE."""
    found = findings.frames(capture, "--deviations", "none")
    frames = [f.frame for f in found if f.rule == rule and f.outcome == "fail"]
    if at in [names[n - 1] for n in frames]:
        return FAIL
    count = findings.counts(capture, "--deviations", "none").get(rule)
    return INCONCLUSIVE if count and count.inconclusive else "silent"


def result(variant, form):
    capture, names = captured(variant, form)
    if capture is None or variant.at not in names:
        return NOT_THERE
    return outcome(variant.rule, variant.at, capture, names)


def rows():
    yield "\t".join(("rule", "variant", "base", "frame", *FORMS, "why"))
    for v in variants.VARIANTS:
        yield "\t".join((v.rule, v.way, v.base, v.at, *(result(v, f) for f in FORMS), v.why))


if __name__ == "__main__":
    for row in rows():
        print(row)

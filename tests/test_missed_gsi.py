# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets of a port's GSI (QP1) that were not captured cause no violation.

In each capture every sender conforms, but frames that would show this are missing: no violation may
be found. Next to it, the PSNs, or a captured frame, show that no such frame is missing: the
violation must be found."""
import pytest

from frames import ib
from frames.variants import forms
from frames.world import A, B, FULL, JOIN_MASK, QKEY, World
from support import findings


def failures(w):
    """(frame, rule) of each violation."""
    found = findings.failures(forms.infiniband(w)[0], "--deviations", "none")
    return [(w.order[frame - 1], rule) for frame, rule in found]


# ---- a port that received other parameters of the broadcast group before its first packet

MUST, SHOULD = "rfc4391.10.group-attributes", "rfc4391.10.group-other-attributes"
GROUP, BROADCAST = "239.7.7.7", ("bcast", "255.255.255.255", 0xC000)
CHANGES = {
    "qkey": (QKEY + 1, MUST),
    "mtu": (5, MUST),
    "sl": (3, MUST),
    "hop": (9, MUST),
    "tclass": (4, SHOULD),
    "flow": (0x12345, SHOULD),
    "rate": (2, SHOULD),
    "life": (7, SHOULD),
}
ATTRIBUTES = sum(
    ib.MCM[n] for n in "qkey tclass sl flow hop mtu mtu_sel rate rate_sel life life_sel".split()
)
INVALID, NO_RECORDS = 0x0200, 0x0300


def creates(changed, refused, rejoins=False):
    """A joins the broadcast group. Then the SA changes a parameter of it, and B joins. A has not
    joined again since, and creates a group with the parameters that it received. refused: the SA
    refuses to create it. rejoins: A joins the broadcast group again after B."""
    w = World()
    before = {"tclass": 0, "sl": 0, "flow": 0, "hop": 0, **w.record}
    w.record = dict(before)
    w.join(A, *BROADCAST)
    w.record[changed] = CHANGES[changed][0]
    w.join(B, *BROADCAST)
    if rejoins:
        w.join(A, "again", *BROADCAST[1:])
    w.query(A, "group", GROUP, 0)
    w["A.query.group.resp"]["mad.status"] = NO_RECORDS
    w.record = before
    record = w.member(GROUP, A, FULL, 0xC010)
    w.sa("A.create", A, ib.SET, ib.ATTR_MC_MEMBER, record, JOIN_MASK | ATTRIBUTES)
    if refused:
        w["A.create.resp"]["mad.status"] = INVALID
    return w


CHANGED = pytest.mark.parametrize("changed", CHANGES)
REFUSED = pytest.mark.parametrize("refused", [False, True], ids=["created", "refused"])


@CHANGED
@REFUSED
@pytest.mark.parametrize("rejoins", [False, True], ids=["once", "again"])
def test_group_that_is_created_after_a_change_conforms(changed, refused, rejoins):
    assert failures(creates(changed, refused, rejoins)) == []


@CHANGED
@REFUSED
def test_missed_join_before_the_first_packet(changed, refused):
    w = creates(changed, refused)
    w.begin("B.join.bcast")
    assert failures(w) == []


@CHANGED
@REFUSED
def test_first_packet_that_no_join_precedes_is_found(changed, refused):
    w = creates(changed, refused)
    w.drop("A.join.bcast", "A.join.bcast.resp")
    assert failures(w) == [("A.create.resp", CHANGES[changed][1])]


@CHANGED
@REFUSED
def test_port_that_joins_again_is_found(changed, refused):
    """A has the new parameters."""
    w = creates(changed, refused, rejoins=True)
    w.begin("B.join.bcast")
    assert failures(w) == [("A.create.resp", CHANGES[changed][1])]

# SPDX-License-Identifier: GPL-2.0-or-later
"""A later connection has the queue pairs of an ended or a refused one (frames/variants/reuse.py).

No rule fails, whichever of the messages that end the first connection and set up the second one are
missed. The violations that the captures look like are found: tests/judge/test_variants.py."""
import itertools

import pytest

from frames import variants
from frames.variants import evidence, forms, reuse  # noqa: F401 (evidence: enters the variants)
from frames.variants.connections import QUIET
from frames.world import A, B
from support import findings

CAPTURES = [
    what for what, make in variants.COUNTERPARTS.items() if make.__module__ == reuse.__name__
]
OTHER_PROTOCOL = "a later connection with the same queue pairs is of another protocol"


def failures(w):
    return findings.failures(forms.FORMS["early"](w)[0])


def messages(w):
    """The CM messages of A's first RC connection and of later ones."""
    names = [n for n in w.order if n.startswith(("rc.", "first.", "again.", "second."))]
    return [n for n in names if w[n].deth and n not in ("rc.req", "rc.rep", "rc.rtu")]


def other_protocol():
    w = variants.base("default").copy()
    reuse.other_protocol(w)
    return w


@pytest.mark.parametrize("what", [*CAPTURES, OTHER_PROTOCOL])
def test_conforms_whichever_messages_are_missed(what):
    w = other_protocol() if what == OTHER_PROTOCOL else variants.counterpart(what)
    names = messages(w)
    for count in range(len(names) + 1):
        for lost in itertools.combinations(names, count):
            one = w.copy()
            one.order = [n for n in w.order if n not in lost]
            assert failures(one) == [], lost


TOO_LONG = "rfc4755.5.1.connection-mtu"


def too_long(missed):
    """A's Receive MTU is 2048, and B sends 3028 bytes after a pause that is longer than the TimeWait.
    missed: the PSNs of these ports' GSIs show that
    a packet of theirs is missing between the set-up and the data."""
    way = f"{TOO_LONG}: RC, REQ 2048, IPv4, pong of 3000 octets"
    w = next(v for v in variants.VARIANTS if v.name() == way).world()
    pong = w["rc.pong"]
    w.order.remove("rc.pong")
    w.insert("uc.ping6", "rc.pong", pong)
    w.delay("rc.pong", QUIET["rc"])
    for name in w.order[w.order.index("rc.rtu") + 1 :]:
        p = w[name]
        if p.deth and p["srcqp"] == 1 and p["slid"] in missed:
            p["psn"] += 1
    return [rule for _, rule in failures(w)]


@pytest.mark.parametrize("missed", [(), (A.lid,), (B.lid,)], ids=["none", "receiver", "sender"])
def test_long_datagram_is_found_if_one_end_has_no_gap(missed):
    """Both ends would send a REQ or a REP for a later connection of the queue pair."""
    assert too_long(missed) == [TOO_LONG]


def test_long_datagram_may_be_of_a_later_connection_if_both_ends_have_gaps():
    assert too_long((A.lid, B.lid)) == []

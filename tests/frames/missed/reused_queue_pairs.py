# SPDX-License-Identifier: GPL-2.0-or-later
"""A later connection has the queue pairs of an ended or a refused one (frames/variants/reuse.py).

No rule fails, whichever of the messages that end the first connection and set up the second one are
missed. The violations that the captures look like are found: tests/judge/test_variants.py."""
from frames import variants
from frames.missed import CONFORMS, Case, after, by, rules, shift_psns, subsets
from frames.variants import evidence, reuse  # noqa: F401 (evidence: enters the variants)
from frames.variants.connections import QUIET
from frames.world import A, B

CAPTURES = [
    what for what, make in variants.COUNTERPARTS.items() if make.__module__ == reuse.__name__
]
OTHER_PROTOCOL = "a later connection with the same queue pairs is of another protocol"


def messages(w):
    """The CM messages of A's first RC connection and of later ones."""
    names = [n for n in w.order if n.startswith(("rc.", "first.", "again.", "second."))]
    return [n for n in names if w[n].deth and n not in ("rc.req", "rc.rep", "rc.rtu")]


def other_protocol():
    w = variants.base("default").copy()
    reuse.other_protocol(w)
    return w


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
    shift_psns(w, after(w, "rc.rtu"), missed)
    return w


def choices(w):
    return subsets(messages(w))


case = by(Case, deviations=None)
CASES = [
    *[case(what, CONFORMS, by(variants.counterpart, what), lost=choices) for what in CAPTURES],
    case(OTHER_PROTOCOL, CONFORMS, other_protocol, lost=choices),
    # both ends would send a REQ or a REP for a later connection of the queue pair
    *[
        case(f"long datagram, gap of {what}", expected, by(too_long, lids))
        for what, expected, lids in (
            ("none", rules(TOO_LONG), []),
            ("the receiver", rules(TOO_LONG), [A.lid]),
            ("the sender", rules(TOO_LONG), [B.lid]),
            ("both", CONFORMS, [A.lid, B.lid]),
        )
    ],
]

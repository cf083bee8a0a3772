# SPDX-License-Identifier: GPL-2.0-or-later
"""A CM message names a UD QPN that no announced address of its port has.

That is a violation (RFC 4755 section 3.2: the sender's UD QPN; 3.5: the responder's), unless an
interface has this QPN and its announcement was not captured. IPoIB that the queue pair sends, before
the message or after it, shows such an interface. The violation is reported at a later packet of the
SA: its PSN shows that no response of the SA is missing."""
import re

from frames import ib, variants
from frames.missed import CONFORMS, Case, Expected, after, by, shift_psns, these
from frames.variants.connections import set_private
from frames.world import A, B, NAMES

UD_QPN, SERVICE_ID = "rfc4755.3.2.ud-qpn-in-private-data", "rfc4755.3.5.service-id"
OTHER = 0x777  # the QPN that the messages name
OTHER_PARTITION = 0x8001
# What names the QPN: its frame, the node whose QPN it is, the rule.
MESSAGES = {
    "REQ": ("rc.req", A, UD_QPN),
    "Service-ID": ("rc.req", B, SERVICE_ID),
    "REP": ("rc.rep", B, UD_QPN),
    "RTU": ("rc.rtu", A, UD_QPN),
}
PROOF = "A.leave.snm.resp"  # the SA's first packet after the connections
BEFORE = ("B.mld.again",)  # the frame before rc.req
# All frames between the messages and the proof, but the first and the last of them.
AFTER = ("rc.rtu", "uc.ping6", "A.leave.snm")


def names_other(message):
    w = variants.base("default").copy()
    name, _, _ = MESSAGES[message]
    if message == "Service-ID":
        w[name]["req.service"] = ib.service_id_rfc(OTHER)
    else:
        set_private(w, "rc", message, ib.u24(OTHER), 1)
    return w


def sends(w, node, *after, pkey=None):
    """The node's other queue pair sends an IPoIB datagram after each of these frames."""
    for psn, name in enumerate(after):
        p = w["A.ping" if node is A else "B.pong"].copy().set(srcqp=OTHER, psn=psn)
        if pkey:
            p["pkey"] = pkey
        w.insert(name, f"{NAMES[node]}.other.{name}", p)


def named(*claims):
    """The violations are found at the SA's packet; each names the message's frame."""

    def is_named(violation, rule, frame):
        text = re.escape(f"in frame {frame}") + r"(?![\w.])"
        return violation == (PROOF, rule) and re.search(text, violation.text)

    def holds(found):
        rest = [v for v in found if not any(is_named(v, *claim) for claim in claims)]
        return len(found) == len(claims) and not rest

    return Expected(f"at {PROOF}: {claims}", holds)


def sending(message, *frames, node=None, pkey=None):
    """The queue pair of the message's node, or of another one, sends after each of the frames."""
    w = names_other(message)
    sends(w, node or MESSAGES[message][1], *frames, pkey=pkey)
    return w


def both_name(other):
    """The Service-ID and the REP name the responder's queue pair, or two."""
    w = names_other("Service-ID")
    set_private(w, "rc", "REP", ib.u24(other), 1)
    return w


def any_other(w):
    """Each frame but those of the other queue pair."""
    return [(name,) for name in w.order if ".other." not in name]


def with_gap(message, lid):
    """A packet of the GSI of this LID before the first one after the message, or the message itself,
    was not captured."""
    w = names_other(message)
    name, node, _ = MESSAGES[message]
    frames = after(w, name)
    if lid == node.lid:
        frames = [name, *frames]
    shift_psns(w, frames, [lid])
    return w


def claim(name, expected, make, **options):
    return Case(name, expected, make, of=(UD_QPN, SERVICE_ID), deviations=None, **options)


def of_message(message):
    frame, node, rule = MESSAGES[message]
    found, peer = named((rule, frame)), B if node is A else A
    sa = names_other(message)["A.leave.snm.resp"]["slid"]
    places = {"before": BEFORE, "after": AFTER, "both": BEFORE + AFTER}
    rows = [
        ("queue pair never sends IPoIB", found, by(names_other, message)),
        *[
            (f"queue pair sends after {n}", CONFORMS, by(sending, message, n))
            for n in BEFORE + AFTER
        ],
        *[
            (f"the other port's sends after {n}", found, by(sending, message, n, node=peer))
            for n in BEFORE + AFTER
        ],
        *[
            (
                f"another partition's sends {what}",
                found,
                by(sending, message, *n, pkey=OTHER_PARTITION),
            )
            for what, n in places.items()
        ],
        # the response to the join of the interface that has the QPN; one of the port's requests
        ("missed response of the SA", CONFORMS, by(with_gap, message, sa)),
        ("missed request of the port", CONFORMS, by(with_gap, message, node.lid)),
    ]
    another = by(sending, message, AFTER[1])
    return [
        *[claim(f"{message}: {what}", expected, make) for what, expected, make in rows],
        claim(f"{message}: any other frame is missed too", CONFORMS, another, lost=any_other),
        *[
            claim(
                f"{message}: missed {n} of another queue pair",
                found,
                by(names_other, message),
                lost=these(n),
            )
            for n in ("C.ping", "A.mcast4", "rc.pong", "uc.ping6")
        ],
    ]


CASES = [
    *[case for message in MESSAGES for case in of_message(message)],
    # the requester learnt the QPN from a second interface of the responder
    claim("both sides name one queue pair", CONFORMS, by(both_name, OTHER)),
    claim(
        "both sides name different ones",
        named((SERVICE_ID, "rc.req"), (UD_QPN, "rc.rep")),
        by(both_name, OTHER + 1),
    ),
]

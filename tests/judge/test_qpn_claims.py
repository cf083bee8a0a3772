# SPDX-License-Identifier: GPL-2.0-or-later
"""A CM message names a UD QPN that no announced address of its port has.

That is a violation (RFC 4755 section 3.2: the sender's UD QPN; 3.5: the responder's), unless an
interface has this QPN and its announcement was not captured. IPoIB that the queue pair sends, before
the message or after it, shows such an interface. The violation is reported at a later packet of the
SA: its PSN shows that no response of the SA is missing."""
import re

import pytest

from frames import ib, variants
from frames.variants import forms
from frames.variants.connections import set_private
from frames.world import A, B, NAMES
from support import findings

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


def found(w):
    """The rules' violations: the frame that proves each, and its text."""
    capture, _ = forms.FORMS["early"](w)
    rules = (UD_QPN, SERVICE_ID)
    return [f for f in findings.frames(capture) if f.outcome == "fail" and f.rule in rules]


def is_found(w, message):
    """Exactly this violation is found, at the SA's packet; it names the message's frame."""
    name, _, rule = MESSAGES[message]
    one = found(w)
    return [(f.frame, f.rule) for f in one] == [
        (w.number(PROOF), rule)
    ] and f"in frame {w.number(name)}" in one[0].text


EACH = pytest.mark.parametrize("message", MESSAGES)


@EACH
def test_queue_pair_that_never_sends_ipoib(message):
    assert is_found(names_other(message), message)


@EACH
@pytest.mark.parametrize("after", BEFORE + AFTER)
def test_queue_pair_that_sends_ipoib(message, after):
    w = names_other(message)
    sends(w, MESSAGES[message][1], after)
    assert found(w) == []


@EACH
@pytest.mark.parametrize("after", BEFORE + AFTER)
def test_queue_pair_of_the_other_port_is_another(message, after):
    """The other node of the connection has a queue pair with this QPN, and sends IPoIB from it."""
    w = names_other(message)
    sends(w, B if MESSAGES[message][1] is A else A, after)
    assert is_found(w, message)


@EACH
@pytest.mark.parametrize("after", [BEFORE, AFTER, BEFORE + AFTER], ids=["before", "after", "both"])
def test_queue_pair_of_another_partition_is_no_interface_of_the_connection(message, after):
    w = names_other(message)
    sends(w, MESSAGES[message][1], *after, pkey=OTHER_PARTITION)
    assert is_found(w, message)


@pytest.mark.parametrize("other", [OTHER, OTHER + 1], ids=["same", "another"])
def test_both_sides_name_the_responders_queue_pair(other):
    """The requester learnt the QPN from a second interface of the responder. If the responder names
    another, both are wrong."""
    w = names_other("Service-ID")
    set_private(w, "rc", "REP", ib.u24(other), 1)
    reported = {(f.rule, re.search(r"in frame (\d+)", f.text)[1]) for f in found(w)}
    wrong = {(SERVICE_ID, str(w.number("rc.req"))), (UD_QPN, str(w.number("rc.rep")))}
    assert reported == (wrong if other != OTHER else set())


# ---- losses


@EACH
def test_any_other_frame_is_missed_too(message):
    """An interface has the QPN; of its datagrams only one after the message was captured. Then each
    other frame in turn is missed too."""
    w = names_other(message)
    sends(w, MESSAGES[message][1], AFTER[1])
    for lost in w.order:
        if ".other." not in lost:
            one = w.copy()
            one.order.remove(lost)
            assert found(one) == [], lost


def shift(w, after, lid, by=1):
    """The GSI's packets after this frame have later PSNs: one before them was not captured."""
    for name in w.order[w.order.index(after) + 1 :]:
        p = w[name]
        if p.deth and p["srcqp"] == 1 and p["slid"] == lid:
            p["psn"] += by


@EACH
def test_missed_response_of_the_sa(message):
    """The response may be that to the join of the interface that has the QPN."""
    w = names_other(message)
    shift(w, MESSAGES[message][0], w["A.leave.snm.resp"]["slid"])
    assert found(w) == []


@EACH
def test_missed_request_of_the_port(message):
    w = names_other(message)
    name, node, _ = MESSAGES[message]
    before = w.order[w.order.index(name) - 1]
    shift(w, before, node.lid)
    assert found(w) == []


@EACH
@pytest.mark.parametrize("lost", ["C.ping", "A.mcast4", "rc.pong", "uc.ping6"])
def test_missed_datagram_of_another_queue_pair_explains_nothing(message, lost):
    w = names_other(message)
    w.order.remove(lost)
    assert is_found(w, message)

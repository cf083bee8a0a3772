# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture that began on a running host has no SMP. Joins, requests to the SA and address
resolution take the place of the PortInfo Set: violations are found with them, and are inconclusive
where a packet that was not captured could explain them."""
from frames import variants
from frames.missed import CONFORMS, FAILS, INCONCLUSIVE, Case, Outcome, by
from frames.variants import evidence, forms

GID, MEMBER, QPN = (
    "rfc4391.9.1.1.gid-of-port",
    "rfc4391.5.full-member-join",
    "rfc4391.9.1.1.traffic-to-qpn",
)
assert evidence  # it fills the table
BY_NAME = {v.name(): v for v in variants.VARIANTS}


def running(name, lost=(), late=None):
    """The variant's capture without SMPs and without these frames; the frame `late` and all that
    follow come 10 s later."""
    w = BY_NAME[name].world()
    if late:
        w.delay(late, 10)
    smps = [n for n in w.order if w[n].deth and w[n]["destqp"] == forms.SMI]
    assert smps and set(lost) <= set(w.order)
    w.order = [n for n in w.order if n not in smps and n not in lost]
    return w


FOUND = [
    f"{GID}: ARP reply, another port's",
    f"{GID}: ARP request, another port's",
    f"{GID}: neighbour solicitation, another port's",
    f"{MEMBER}: NonMember, ARP request",
    f"{MEMBER}: SendOnlyNonMember, IPv6 multicast",
    f"{QPN}: IPv4 unicast",
    f"{QPN}: IPv6 unicast with GRH",
]


GID_ARP, MEMBER_ARP = f"{GID}: ARP request, another port's", f"{MEMBER}: NonMember, ARP request"
# C sends the ARP request, with D's GID in it; C is the member; C sends the ping to D.
NOT_PROVED = [
    # The lost packet of C's GSI may have been the join of a GID that moved from D to C.
    (GID_ARP, ["C.query.snm"], None),
    (GID_ARP, ["C.join.g4"], None),
    # D did not name its GID.
    (GID_ARP, ["D.join.*"], None),
    # The lost packet may have been C's join as FullMember.
    (MEMBER_ARP, ["C.query.snm"], None),
    (MEMBER_ARP, ["C.join.g4", "C.join.g4.resp"], None),
    # C's join was not captured.
    (MEMBER_ARP, ["C.join.bcast", "C.join.bcast.resp"], None),
    # D's interface may have restarted, with another QPN: the SA's lost packet may answer its join.
    (f"{QPN}: IPv4 unicast", ["A.leave.snm.resp"], None),
    # The entry in C's ARP cache may have changed.
    (f"{QPN}: IPv4 unicast", [], "C.ping"),
    # C may have an older entry: it got no reply.
    (f"{QPN}: IPv4 unicast", ["D.arp.reply"], None),
    # D's requests before its reply were not captured.
    (f"{QPN}: IPv4 unicast", ["D.join.*"], None),
]


def frames_of(name, patterns):
    order = BY_NAME[name].world().order
    return [n for n in order for p in patterns if n == p or p[-1] == "*" and n.startswith(p[:-1])]


# What is missing, which the text of the inconclusive result names.

SET = "the SM's PortInfo Set that brought the port up was not captured"
MISSING = [
    ("rfc4391.5.pkey-configured: broadcast group", (), "the port's P_Key table is not known"),
    ("rfc4391.4.1.group-mtu: NeighborMTU 256", (), "the port's PortInfo was not captured"),
    ("rfc4391.10.subscribe-traps: neither", (), SET),
    ("rfc4391.4.scope-consistent: IPv6 multicast", (), SET),
    ("rfc4755.3.5.service-id: RC, the QPN is another", (), SET),
    (MEMBER_ARP, ("C.join.bcast", "C.join.bcast.resp"), SET),
    (MEMBER_ARP, ("C.join.bcast.resp",), "the SA's response to it, was not captured"),
]


def without_smps(base):
    w = variants.base(base).copy()
    w.order = [n for n in w.order if not (w[n].deth and w[n]["destqp"] == forms.SMI)]
    return w


def without_frames(name, patterns, late):
    return running(name, frames_of(name, patterns), late)


CASES = [
    *[Outcome(name, FAILS, BY_NAME[name].rule, by(running, name)) for name in FOUND],
    *[
        Outcome(
            f"{name}, missed {missed}, late {late}",
            INCONCLUSIVE,
            BY_NAME[name].rule,
            by(without_frames, name, missed, late),
        )
        for name, missed, late in NOT_PROVED
    ],
    *[
        Case(f"base {base} without SMPs", CONFORMS, by(without_smps, base))
        for base in variants.BASES
    ],
]

# SPDX-License-Identifier: GPL-2.0-or-later
"""One fault, one finding: no bytes of a frame have findings of two rules, and a variant has one
failure in its frame.

In every capture of testdata, every fixture, every unusual capture and every variant. ALLOWED lists
the pairs of rules that may be found together, each with the reason."""
import itertools

import pytest

from frames import fixture, ib, variants
from frames.subnet import FromStart, Host, Subnet
from frames.variants import forms, groups
from frames.variants import evidence  # it fills the table of variants
from frames.world import GROUP_IPV4
from support import corpus, findings

assert evidence
ALLOWED = {
    # the Get before the join was for the group with the right MGID
    ("draft02.8.example-pkey", "rfc4391.10.query-sa-first"),
    ("rfc4391.10.query-sa-first", "rfc4391.4.mgid-format"),
    ("rfc4391.10.query-sa-first", "rfc4391.4.mgid-group-id-ipv4"),
    ("rfc4391.10.query-sa-first", "rfc4391.4.mgid-pkey"),
    ("rfc4391.10.query-sa-first", "rfc4391.4.mgid-t-flag"),
    # the first says once for the capture that the broadcast group is used, the second which group
    # should be
    ("rfc4391.10.all-router-fallback", "rfc4391.10.forward-after-create"),
    # two facts about the headers: the source QPN is wrong, and the request is unicast, which is fine
    ("rfc4755.2.2.one-ud-qp", "rfc4755.3.query-on-broadcast"),
    # the note says which draft has such a P_Key
    ("draft02.8.example-pkey", "rfc4391.4.mgid-pkey"),
    # two notes about the LID of the SA: it has moved, because another subnet manager took over
    ("sm.failover-rejoin", "sm.takeover-causes"),
}
# Pairs of failures in the frame of a variant.
BOTH = {
    # an interface that never joined the broadcast group sends to it
    ("rfc4391.10.join-before-send", "rfc4391.5.full-member-join"),
    # a report of IGMPv2 or MLDv1 is sent to the group that the port listens to
    ("rfc4391.10.join-before-send", "rfc4391.10.receiver-fullmember"),
    # a join as SendOnlyNonMember: one requirement is for receivers, the other for senders
    ("rfc4391.10.receiver-fullmember", "rfc4391.10.subscribe-traps"),
    # IPv4's signature before an IPv6 group: the group ID is no IPv4 address either
    ("rfc4391.4.mgid-group-id-ipv4", "rfc4391.4.mgid-signature-ipv6"),
    # an IPoIB interface sends to a group of another protocol, and with a Q_Key that is not controlled
    ("rfc4391.13.qkey-controlled", "rfc4391.4.mgid-signature-ipv4"),
}


def captured():
    """Name to capture: a variant's has the name of its rule in front."""
    made = dict(corpus.everything())
    for v in variants.VARIANTS:
        made[f"variant {v.name()}"] = forms.infiniband(v.world())[0]
    return made


@pytest.fixture(scope="module")
def found():
    """Name to the places of its findings."""
    return {
        name: findings.places(capture, "--deviations", "none")
        for name, capture in captured().items()
    }


def pairs(places):
    """Pairs of findings of two rules in the same frame."""
    for _, frame in itertools.groupby(sorted(places), key=lambda p: p.frame):
        for one, other in itertools.combinations(list(frame), 2):
            if one.rule != other.rule:
                yield one, other


def rules_of(one, other):
    return tuple(sorted((one.rule, other.rule)))


def overlap(one, other):
    return one.start < other.end and other.start < one.end


def test_no_bytes_have_two_findings(found):
    seen = {}
    for name, places in found.items():
        for one, other in pairs(places):
            if overlap(one, other):
                seen.setdefault(rules_of(one, other), (name, one, other))
    assert [case for rules, case in seen.items() if rules not in ALLOWED] == []
    assert ALLOWED - set(seen) == set(), "these pairs do not occur: remove them"


def test_report_of_a_group_does_not_repeat_the_finding_of_its_join():
    """The node that created the group is at fault; the SM reports it to each subscriber."""
    rule = "rfc4391.4.mgid-t-flag"
    w = variants.base("default").copy()
    joined = ("B.join.g4", "B.join.g4.resp", "B.leave.g4", "B.leave.g4.resp")
    groups.edit_mgid(w, joined, groups.set_octets(1, b"\x02"))
    groups.report_group(w, 66, groups.set_octets(1, b"\x02"), GROUP_IPV4)
    failed = [f for f in findings.failures(forms.infiniband(w)[0]) if f[1] == rule]
    assert failed == [(w.number("B.join.g4"), rule)]


@pytest.mark.parametrize("source", ["fe80::e011:7500:0:100", "fe80::211:7500:0:100"])
def test_wrong_type_over_a_connection_is_one_fault(source):
    """An IPv6 datagram with Type 0x0800 (RFC 4755 section 4). In the place of IPv4's destination
    are four bytes of its source, which may look like a multicast address."""
    t = fixture.tape("connected.pcap").copy()
    ping = t[88]  # an IPv6 echo request over the connection
    ping["type"] = 0x0800
    ping["ipv6.src"] = source
    failed = [rule for frame, rule in findings.failures(t.pcap()) if frame == 88]
    assert failed == ["rfc4755.4.type"]


def test_variant_has_one_failure_in_its_frame(found):
    seen = {}
    for v in variants.VARIANTS:
        name = f"variant {v.name()}"
        number = forms.infiniband(v.world())[1].index(v.at) + 1
        failed = [p for p in found[name] if p.frame == number and p.outcome == "fail"]
        for one, other in pairs(failed):
            seen.setdefault(rules_of(one, other), (name, one, other))
    assert [case for rules, case in seen.items() if rules not in BOTH] == []
    assert BOTH - set(seen) == set(), "these pairs do not occur: remove them"


def test_a_port_that_subscribes_again_is_noted_once():
    """A subscription is for one trap, and a host repeats both, such as after the SM's restart."""
    s, a = Subnet(), Host(1)
    s.up(a)
    s.subscribe(a)
    rule = "rfc4391.11.router-nonmember-join"
    noted = [f.frame for f in findings.frames(s.pcap()) if f.rule == rule]
    assert len(noted) == 1


@pytest.mark.parametrize("trap, noted", [(64, 0), (66, 1), (67, 1), (0xFFFF, 1)])
def test_a_subscription_to_the_traps_of_groups_is_noted(trap, noted):
    """Trap 64 says that a port can be reached (IBA 13.4.8.2): it is about no group."""
    s, a = FromStart(), Host(1)
    s.ask(a, ib.SET, ib.ATTR_INFORM_INFO, ib.inform_info("::", trap))
    rule = "rfc4391.11.router-nonmember-join"
    assert len([f for f in findings.frames(s.pcap()) if f.rule == rule]) == noted

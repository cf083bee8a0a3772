# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains that broke the law of degradation (script/law) once, in their smallest form: the law holds
there now."""
import pytest

from support import chains, containers, corpus, law, steps
from support.steps import Crcs, Cut, Slice, Swap

INFINIBAND = 247
# The capture, its remaining frames (None: all), the steps, the situation.
FOUND = [
    ("rfc4391.7.link-mtu.fail.pcap", None, [Crcs("none", None)], "a long datagram without CRCs"),
    ("built/built-cm-reuse.pcap", {1, 8}, [], "a REP of a missed REQ that reuses IDs"),
    ("unusual/ids_and_queue_pairs_are_reused", {52, 56, 57, 62}, [], "the same after IP"),
    ("qpn-change.pcap", {102, 123, 124, 126, 157}, [Cut({124: 52})], "a join that was cut"),
    ("mlid-change.pcap", {291, 315, 319, 324, 327}, [Cut({319: 113})], "a join cut in its record"),
    (
        "unusual/send_only_member_becomes_full_member",
        {33, 34},
        [Swap({33}, INFINIBAND)],
        "a request to leave after its response",
    ),
    ("rfc4390.2.1.chaddr.fail-2.pcap", {64}, [Slice(316)], "a deviation whose client was cut"),
]


@pytest.fixture(scope="module")
def files():
    return corpus.everything()


@pytest.mark.parametrize("name, left, more, what", FOUND, ids=[f[3] for f in FOUND])
def test_the_law_holds(files, name, left, more, what):
    whole = chains.Whole.of(name, files[name])
    lost = set(whole.numbers()) - (left or set(whole.numbers()))
    plain = chains.Chain([], containers.Container("pcapng"))
    chain = chains.Chain([steps.Remove(lost), *more], plain.container)
    assert not left or lost
    before, after = law.judge_files([plain.apply(whole), chain.apply(whole)])
    assert (before - after if before else after) == set()

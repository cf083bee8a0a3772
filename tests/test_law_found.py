# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains that broke the law of degradation (script/law) once, in their smallest form: the law holds
there now."""
import pytest

from support import chains, containers, corpus, law, steps
from support.steps import Clock, Crcs, Cut, Duplicate, Slice, Split, Swap

INFINIBAND = 247
MINUTE = 60 * 10**9


def clocks(port, ns):
    """The frames of this port (a LID) arrive on an interface of their own; its clock differs."""
    return [Split(port, INFINIBAND), Clock(1, ns)]


def without(frames, *lost):
    """All frames of a capture that has this number, except the lost ones."""
    return set(range(1, frames + 1)) - set(lost)


# The capture, its remaining frames (None: all), the steps, the situation.
FOUND = [
    (
        "unusual/peers_have_the_address_before_a_restart",
        without(89, 58, 64),
        [],
        "both replies with the address that an interface had before its restart",
    ),
    (
        "unusual/two_interfaces_of_a_port_connect",
        without(61, 42),
        [],
        "the reply of a second interface, whose join was captured",
    ),
    (
        "unusual/active_port_is_set_to_active",
        without(53, 41, 42),
        [],
        "a join before the SM set an active port to Active",
    ),
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
    (
        "rfc4390.2.1.chaddr.fail-2.pcap",
        {64},
        [Slice(316)],
        "a deviation whose client was truncated",
    ),
    (
        "unusual/leaves_and_joins_again",
        {32, 34, 35, 36},
        [Swap({35}, INFINIBAND), Duplicate({34: 1}, INFINIBAND)],
        "a datagram that is repeated after the response to a later leave",
    ),
    (
        "unusual/group_is_deleted_and_made_again_with_another_mlid",
        {*range(1, 34), 40},
        [],
        "a group that is made again unseen",
    ),
    ("qpn-change.pcap", None, clocks(1, MINUTE), "an address that changed, by another clock"),
    ("rfc4391.9.4.revalidate-arp.fail.pcap", None, clocks(1, -MINUTE), "the same, violated"),
    ("rfc4755.3.1.reply-to-ud-qpn.fail-2.pcap", None, clocks(2, MINUTE), "a late NA, by its clock"),
    ("rfc4391.9.2.arp-as-rfc826.fail-2.pcap", None, clocks(2, -MINUTE), "a late ARP reply"),
    ("rfc4755.3.3.simultaneous.fail.pcap", None, clocks(1, MINUTE), "crossing REQs, by two clocks"),
    (
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        {59, 60, 62, 64, 66, 67},
        [Swap({59}, INFINIBAND)],
        "a solicitation after its response",
    ),
    (
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        {58, 59, 60, 62, 64, 66, 67},
        [Cut({60: 39})],
        "an advertisement that was cut before its target",
    ),
    (
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        {59, 60, 62, 64, 66, 67},
        [Swap({59}, INFINIBAND), Cut({60: 89})],
        "the same, captured before its solicitation",
    ),
    (
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        {50, *range(54, 61), 62, 64, 66, 67},
        [Duplicate({59: 1}, INFINIBAND, 5000000)],
        "a solicitation that was captured twice, and a missed one",
    ),
    (
        "unusual/lids_of_two_ports_are_exchanged",
        {14, 17, 60, 110},
        [],
        "an exchange of two LIDs that was not captured",
    ),
    (
        "sm.failover-rejoin.shown.pcap",
        None,
        [Cut({43: 162, 48: 198, 57: 96})],
        "a P_Key table whose directed route was truncated",
    ),
    (
        "unusual/leaves_and_joins_again",
        None,
        [Swap({30}, INFINIBAND), Duplicate({29: 1}, INFINIBAND), Cut({30: 96})],
        "a leave, cut before its MGID, after its response",
    ),
    (
        "base.again.pcap",
        {*range(45, 107), *range(122, 126)},
        [],
        "a DREQ missed by a capture that begins with the connection",
    ),
    (
        "unusual/rep_is_repeated_after_data",
        None,
        [Swap({43}, INFINIBAND)],
        "a REP before its REQ, and repeated",
    ),
    (
        "qpn-change.pcap",
        {101, 124, 127, 157},
        [],
        "a leave without its request, before the port's first request",
    ),
    (
        "counterpart/the_same_its_rep_was_not_captured",
        None,
        [Cut({147: 158})],
        "a REQ that was cut, after the end of a connection with its queue pairs",
    ),
    (
        "counterpart/a_later_connection_has_the_queue_pairs_of_an_ended_one",
        {131, 132, 137, 139, 143, 144, 145, 148, 150, 174},
        [],
        "a REP without its REQ, after the end of a connection with its queue pair",
    ),
    (
        "counterpart/the_same_the_REQs_cross_and_the_REJ_comes_after_the_REP",
        {*range(1, 132), *range(133, 187)},
        [Cut({133: 60})],
        "a REP that was cut, before the REJ of the connection that had its queue pair",
    ),
    (
        "two-scopes.pcap",
        {70, 71, 72, 73, 82, 84, 87, 88, 94},
        [Duplicate({88: 1}, INFINIBAND), *clocks(1, 1)],
        "an NA to the interface of another scope, with the same link-local address",
    ),
    (
        "two-scopes.pcap",
        {*range(101, 110), 112},
        [],
        "the same, after a unicast solicitation to the other interface",
    ),
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
    before, after = law.check_files([plain.apply(whole), chain.apply(whole)])
    assert (before - after if before else after) == set()

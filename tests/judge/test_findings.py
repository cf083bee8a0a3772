# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings in testdata: on real Linux traffic only Linux's known deviations, in the built captures
the violations that were built in. Each is counted by hand from testdata/README.md and
tests/frames/build.py."""
import glob
import os

import pytest

from frames import edit, ib
from support import capfile, findings
from support.paths import TESTDATA, testdata

SERVICE_ID, UD_QPN, PRIVATE = (
    "rfc4755.3.5.service-id",
    "rfc4755.3.2.ud-qpn-in-private-data",
    "rfc4755.6.private-data",
)
TRAPS = "rfc4391.10.subscribe-traps"
QKEY, QKEYS = "rfc4391.4.1.qkey-controlled", "rfc4391.13.qkey-controlled"
LIFE, OVER_UD = "rfc4391.10.group-other-attributes", "rfc4755.7.resolution-over-ud"


def linux(**counts):
    """How often each deviation is found: in connections by message (reqs, rtus, rejs), of
    partitions with traffic (qkeys), of partitions whose broadcast group's record was captured
    (joined), of groups whose records were captured (groups), of senders (senders), of neighbour
    advertisements over connections (nd)."""
    n = {
        k: counts.get(k, 0)
        for k in ("reqs", "rtus", "rejs", "qkeys", "joined", "groups", "senders", "nd")
    }
    found = {
        SERVICE_ID: n["reqs"],
        UD_QPN: n["rejs"],
        PRIVATE: n["rtus"],
        QKEYS: n["qkeys"],
        QKEY: n["joined"],
        LIFE: n["groups"],
        TRAPS: n["senders"],
        OVER_UD: n["nd"],
    }
    return {k: v for k, v in found.items() if v}


# The known deviations in the captures that testdata/README.md describes.
DEVIATIONS = {
    # joins of n1: all-nodes twice, solicited-node, MLDv2, all-routers; datagram: IGMPv3 and the two
    # groups of 69-78 too
    "datagram.pcap": linux(qkeys=1, joined=1, groups=8, senders=1),
    # neighbour advertisements: NA 86, NA 106
    "connected.pcap": linux(reqs=2, rtus=2, qkeys=1, joined=1, groups=5, senders=1, nd=2),
    "mixed.pcap": linux(reqs=1, rtus=1, qkeys=1, joined=1, groups=5, senders=1),
    "loss.pcap": linux(reqs=4, rtus=4, qkeys=1),
    "retransmit.pcap": linux(reqs=2, rtus=2, qkeys=1),
    "foreign.pcap": linux(qkeys=1),
    # REQs 5, 11, 17, 35, 37, 39 have Linux's form; RTUs 13, 19; REJs 6, 36, 38, 40. 3 has the RFC's:
    # its REJ, 4, is inconclusive, because n1 has not accepted a connection yet. 17's private data
    # is 0
    "cm-reject.pcap": linux(reqs=6, rtus=2, rejs=4, qkeys=1),
    # systemd-networkd: renewals 59 and 62, release 64 (both rules)
    "dhcp.pcap": {
        **linux(qkeys=1, joined=1, groups=5, senders=1),
        "rfc4390.2.2.no-broadcast-flag": 3,
        "rfc4390.2.1.chaddr": 1,
    },
    # three partitions: joins of n1 in each, of n2 in the default one; both n1 and n2 send
    "partitions.pcap": linux(qkeys=3, joined=3, groups=16, senders=2),
    # n1, n2, n3: their solicited-node groups, all-nodes twice, MLDv2, IGMPv3, all-routers,
    # 239.10.20.30 to .32, ff15::10:20
    "switch4.pcap": linux(qkeys=1, joined=1, groups=13, senders=3),
    "built-nd-faults.pcap": {"rfc4391.9.3.nd-option-length": 1},  # 2
}

# The violations that were built in.
FAILURES = {
    "built-arp.pcap": {"rfc4391.9.1.1.reserved-flags": 1},  # 10: flags 0x3f
    "built-arp-faults.pcap": {
        "rfc4391.9.2.arp-hardware-type": 2,  # 2, 3
        "rfc4391.9.2.arp-hardware-length": 2,  # 1, 4
        "rfc4391.9.2.arp-as-rfc826": 1,  # 5: addresses of 4 bytes said to be of IPv6
        "rfc4391.9.1.1.format": 1,
    },  # 6
    "built-encap.pcap": {"rfc4391.6.reserved-zero": 1},
    "built-lengths.pcap": {
        "rfc4391.6.encapsulation-header": 3,  # 8 to 10: 1 to 3 bytes
        "rfc4391.6.type": 1,  # 11: nothing after the header
        "rfc4391.9.1.1.format": 1,
    },  # 13
    "built-mgid.pcap": {
        "rfc4391.4.mgid-t-flag": 1,  # 6
        "rfc4391.4.mgid-format": 1,  # 10
        "rfc4391.4.mgid-pkey": 1,  # 8: the draft's P_Key, 0x0008, lacks the membership bit
        "rfc4391.4.mgid-signature-ipv4": 1,  # 7
        "rfc4391.4.mgid-group-id-ipv4": 2,
    },  # 8, 9: reports to 224.0.0.22, on the groups of 224.0.0.2 and 239.255.1.2
    "built-nd-faults.pcap": {
        "rfc4391.9.1.1.format": 1,  # 3: the message ends within the option
        "rfc4391.9.3.nd-option-length": 3,  # 4, 5, 6; 2 is a router solicitation with Ethernet's option
        "rfc4391.9.3.nd-option-padding": 1,
    },  # 1
    "built-cm-linux.pcap": {"rfc4755.6.reserved-zero": 2},  # 7, 8
    # 3: an RTU without private data, of a connection with the RFC's Service-ID
    "built-cm-uc.pcap": {PRIVATE: 1},
}
FAILURES["cm-reject.pcap"] = {PRIVATE: 1}  # 17: a program's REQ with private data of zeros

CAPTURES = sorted(
    glob.glob(os.path.join(TESTDATA, "*.pcap"))
    + glob.glob(os.path.join(TESTDATA, "built", "*.pcap"))
)


def names(paths):
    return [os.path.basename(path) for path in paths]


@pytest.mark.parametrize("capture", CAPTURES, ids=names(CAPTURES))
def test_capture_has_its_expected_violations_and_deviations_only(capture):
    name, done = os.path.basename(capture), findings.run(capture, "--deviations", "linux")
    if done.returncode == findings.NOT_READ:
        pytest.skip("libpcap cannot read it")
    assert done.returncode == 0, done.stderr
    counts = findings.parse_counts(done.stdout)
    failed = {rule: n.failed for rule, n in counts.items() if n.failed}
    deviated = {rule: n.deviated for rule, n in counts.items() if n.deviated}
    assert failed == FAILURES.get(name, {})
    if name in DEVIATIONS:
        assert deviated == DEVIATIONS[name]


def test_expectations_name_existing_captures():
    assert set(FAILURES) | set(DEVIATIONS) <= set(names(CAPTURES))


def test_at_least_1000_checks_pass_in_all_captures():
    total = 0
    for path in CAPTURES:
        counts = findings.parse_counts(findings.run(path, "--deviations", "linux").stdout)
        total += sum(n.passed for n in counts.values())
    assert total >= 1000


def tape(name):
    return edit.Tape(testdata(name))


def frames(capture, rule, outcome):
    found = findings.frames(capture, "--deviations", "none")
    return [f.frame for f in found if (f.rule, f.outcome) == (rule, outcome)]


def failed_and_inconclusive(capture, rule):
    count = findings.counts(capture)[rule]
    return count.failed, count.inconclusive


def records(t):
    return [capfile.record(f.time, f.octets()) for f in t.frames]


def infiniband(frames):
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


def with_reserved(icrc):
    """datagram.pcap, frame 45 (LRH, BTH, DETH: 28 bytes) with a Reserved field of 0x1234; icrc
    None: the ICRC is unchanged."""
    frames = records(tape("datagram.pcap"))
    time, data, wire = frames[44]
    data = data[:30] + b"\x12\x34" + data[32:]
    if icrc is not None:
        data = data[:-6] + icrc + data[-2:]
    frames[44] = time, data, wire
    return infiniband(frames)


@pytest.mark.parametrize(
    "icrc, expected",
    [pytest.param(None, (0, 1), id="wrong"), pytest.param(bytes(4), (1, 0), id="none")],
)
def test_fault_in_a_packet_with_this_icrc(icrc, expected):
    """A receiver drops a packet whose ICRC is wrong: no sender violates a rule. An ICRC of 0 shows
    nothing."""
    assert failed_and_inconclusive(with_reserved(icrc), "rfc4391.6.reserved-zero") == expected


def test_corrupt_packet_does_not_hide_the_same_fault_in_a_whole_one():
    """datagram.pcap: n0's ARP reply in 86 has the RC flag and a reserved flag; before it, the same
    packet with a wrong ICRC."""
    t = tape("datagram.pcap")
    t[86]["arp.sha.flags"] = 0x81
    t.insert(85, t[86].copy())
    frames = records(t)
    time, data, wire = frames[85]
    frames[85] = time, data[:-6] + bytes([data[-6] ^ 0xFF]) + data[-5:], wire
    assert failed_and_inconclusive(infiniband(frames), "rfc4755.3.1.flags") == (1, 1)


def test_finding_about_a_port_and_a_group_applies_to_that_group_only():
    """datagram.pcap: n1 leaves the group of 224.0.0.22 after 72, as in 114 and 116, but still sends
    reports to it, between reports to ff02::16, which has the same low 32 bits, and which it has not
    left. Its next request, 76, shows that it did not join again."""
    t = tape("datagram.pcap")
    t.insert(t.insert(72, t[114].copy()), t[116].copy())
    t.renumber(2)
    assert frames(t.pcap(), "rfc4391.10.join-before-send", "fail") == [76]


@pytest.fixture(scope="module")
def twins():
    """datagram.pcap; n1's table has only both forms of the default P_Key."""
    t = tape("datagram.pcap")
    t[8]["pkeys.0"], t[8]["pkeys.1"], t[8]["pkeys.2"] = 0xFFFF, 0x7FFF, 0
    return t.pcap()


def test_both_forms_of_a_pkey_are_noted(twins):
    assert frames(twins, "partition.membership-twins", "noted")


def test_both_forms_of_a_pkey_are_one_partition(twins):
    assert frames(twins, "partition.overlap", "noted") == []


def test_sender_unlike_linux_has_no_known_deviation():
    """datagram.pcap: n1 joins to send as Linux does, with JoinState 8 (27, 28), and never
    subscribes; here with JoinState 4."""
    t = tape("datagram.pcap")
    assert [t[n]["mcm.join"] for n in (27, 28)] == [8, 8]
    t[27]["mcm.join"] = t[28]["mcm.join"] = 4
    found = findings.failures(t.pcap(), "--deviations", "linux")
    assert (37, TRAPS) in found  # n1's next request after its datagram 29


def outcomes(t, rule):
    """How often the rule failed, was a known deviation, and was inconclusive."""
    count = findings.counts(t.pcap(), "--deviations", "linux")[rule]
    return count.failed, count.deviated, count.inconclusive


def rejections(requested, accepted, order):
    """cm-reject.pcap: n1 rejects a REQ with the Service-ID `requested` with reason 8 (3, 4), and
    accepts one with `accepted` (11 to 16); these ranges of frames, in this order."""
    t = tape("cm-reject.pcap")
    t[3]["req.service"], t[11]["req.service"] = requested, accepted
    t.keep(*order)
    last = order[0][1]
    for n in range(order[1][0], order[1][1] + 1):
        t.move(n, last)
        last = n
    t.renumber(1)
    t.renumber(2)
    return t


RFC, LINUX = ib.service_id_rfc(0x23), ib.service_id_linux(0x23)
REFUSED, ACCEPTED = (3, 4), (11, 16)


@pytest.mark.parametrize(
    "requested, accepted, order, expected",
    [
        pytest.param(RFC, LINUX, (ACCEPTED, REFUSED), (0, 1, 3), id="linux"),
        pytest.param(RFC, LINUX, (REFUSED, ACCEPTED), (0, 0, 4), id="not-known-yet"),
        pytest.param(RFC, RFC, (ACCEPTED, REFUSED), (1, 0, 3), id="another-stack"),
        pytest.param(LINUX, RFC, (ACCEPTED, REFUSED), (1, 0, 3), id="another-stack-refuses-linux"),
        pytest.param(LINUX, RFC, (REFUSED, ACCEPTED), (0, 1, 3), id="linux-requests"),
    ],
)
def test_rej_of_the_service_id_is_of_the_stack_that_listens_on_the_other(
    requested, accepted, order, expected
):
    """A responder that does not listen on the Service-ID of a REQ shows its own when it accepts a
    connection. The UD QPNs in 3, 11 and 12 are inconclusive: the capture has no address."""
    assert outcomes(rejections(requested, accepted, order), UD_QPN) == expected


@pytest.mark.parametrize(
    "service_id, expected",
    [
        pytest.param(LINUX, (0, 2, 0), id="linux"),
        pytest.param(RFC, (2, 0, 0), id="another-stack"),
        pytest.param(None, (0, 0, 2), id="not-captured"),
    ],
)
def test_advertisement_over_a_connection_with_this_service_id(service_id, expected):
    """connected.pcap: NA 86 on the connection of REQ 50, NA 106 on that of REQ 45; None: neither is
    in the capture."""
    t = tape("connected.pcap")
    if service_id is None:
        t.drop(45, 50)
    else:
        t[45]["req.service"] = service_id
        t[50]["req.service"] = service_id & ~0xFFFFFF | 0x03
    assert outcomes(t, OVER_UD) == expected


def test_advertisement_over_an_unknown_connection_does_not_hide_one_over_the_next():
    """connected.pcap with the RFC's Service-IDs: before n1's REQ (50), n1 sends NA 86 to the same
    QP, on a connection whose REQ is not in the capture."""
    t = tape("connected.pcap")
    t[50]["req.service"] = ib.service_id_rfc(0x03)
    early = t[86].copy()
    early["psn"] += 0x100000  # of another connection; with the same PSN, 86 were its copy
    t.insert(44, early)
    assert outcomes(t, OVER_UD) == (1, 1, 1)


@pytest.mark.parametrize(
    "seconds, expected", [pytest.param(0, [47], id="now"), pytest.param(3600, [], id="an-hour-ago")]
)
def test_req_crosses_a_req_of_this_age(seconds, expected):
    """connected.pcap: n1's REQ (50) is first, its response is not in the capture; n0's (45, REP 46)
    is this much later."""
    t = tape("connected.pcap")
    t.keep((1, 46), 48, 50)
    t.move(50, 44)
    for slid in (1, 2):
        t.renumber(slid)
    t.shift(45, seconds)
    assert frames(t.pcap(), "rfc4755.3.3.simultaneous", "fail") == expected


def test_truncated_reqs_are_inconclusive():
    """connected.pcap, no frame longer than 150 bytes: both REQs end before their private data."""
    cut = [capfile.record(f.time, f.octets(), 150) for f in tape("connected.pcap").frames]
    rule = "rfc4755.3.2.ud-qpn-in-private-data"
    assert failed_and_inconclusive(infiniband(cut), rule) == (0, 2)


LINK_NOTES = ("rfc4755.5.default-mtu", "rfc4755.7.1.rc-timers")


def link_notes(t):
    found = findings.frames(t.pcap())
    return {rule: [f.frame for f in found if f.rule == rule] for rule in LINK_NOTES}


def test_notes_about_the_link_are_not_repeated_for_a_second_connection():
    """connected.pcap: REQ 45 and REP 46, REQ 50 and REP 51 have the same Receive MTU, both REQs the
    same timers, and P_Key 0xffff."""
    t = tape("connected.pcap")
    assert t[45]["req.private.mtu"] == t[50]["req.private.mtu"] == 65524
    assert t[45]["req.pkey"] == t[50]["req.pkey"] == 0xFFFF
    assert link_notes(t) == {rule: [45] for rule in LINK_NOTES}


def test_notes_about_the_link_are_reported_for_each_link():
    """The same, but the second connection is of the partition 0x8001."""
    t = tape("connected.pcap")
    t[50]["req.pkey"] = 0x8001
    assert link_notes(t) == {rule: [45, 50] for rule in LINK_NOTES}


def test_each_receive_mtu_of_a_link_is_noted_once():
    """The same, but n1 takes 4,096 octets: REP 46, REQ 50. n0's value is in 45 and 51."""
    t = tape("connected.pcap")
    t[46]["rep.private.mtu"] = t[50]["req.private.mtu"] = 4096
    assert link_notes(t)["rfc4755.5.default-mtu"] == [45, 46]


@pytest.mark.parametrize("selector, noted", [(0, 1), (1, 0), (2, 1), (3, 0)])
def test_refused_join_whose_mtu_contradicts_the_groups_is_noted(selector, noted):
    """n1 asks to join 224.0.0.1 again with MTU 4096, the group has 2048, the SA refuses. The
    selector says what is wanted: 0 more than 4096, 1 less, 2 exactly, 3 the largest available,
    where the MTU in the request does not count (IBA 15.2.5.17)."""
    t = tape("datagram.pcap")
    request, response = t[22].copy(), t[25].copy()
    request["mad.tid"] = response["mad.tid"] = request["mad.tid"] + 0x100
    request["mcm.mtu_selector"], request["mcm.mtu"], response["mad.status"] = selector, 5, 0x0200
    t.insert(t.insert(40, request), response)
    t.renumber(2)
    counts = findings.counts(t.pcap())
    assert getattr(counts.get("rfc4391.5.join-mtu-supported"), "noted", 0) == noted

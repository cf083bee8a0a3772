# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspicions of ipoib-check: two captured values contradict each other, and only a packet that was not
captured could explain it. Each case is built by hand, and has harmless look-alikes, which raise none.

The frames of a case are counted from the function that builds it: NUMBER is the number of the last
frame so far. The values are those that the function gives to ud()."""
import json
import xml.etree.ElementTree as ElementTree

import pytest

from frames import ib
from frames.events import copy_last, link, number
from frames.fabric import DELETED
from frames.messages import ping
from frames.subnet import Host
from frames.suspected import GROUP, another_sl, late, send
from support import check
from support.check import OK, VIOLATED, expect

MLID, QKEY = "rfc4391.10.mlid-as-dlid", "rfc4391.9.1.2.qkey-from-join"
PARAMETERS = "rfc4391.5.join-parameters-used"
RECORD = "unless the SA gave the sender another %s in a response that was not captured"
TRAFFIC = (
    "unless a response of the SA that was not captured changed the group's %s, or the other packet is "
    "the wrong one"
)


def suspected(data, tmp_path, *arguments):
    """The suspicions of the JSON report: (rule, frame, other frame, expected, found, unless)."""
    path = tmp_path / "capture.pcap"
    path.write_bytes(data)
    return check.suspicions(path, *arguments)


# ---- with other datagrams to the group


OF_TRAFFIC = [
    ("mlid", 0xC0AA, MLID, "MLID 0xc000", "MLID 0xc0aa", "MLID"),
    ("qkey", 0x80000BAD, QKEY, "Q_Key 0x80000b1b", "Q_Key 0x80000bad", "Q_Key"),
    ("sl", 3, PARAMETERS, "SL 0", "SL 3", "SL"),
    ("hop", 7, PARAMETERS, "HopLimit 0", "HopLimit 7", "HopLimit"),
    ("tclass", 0x20, PARAMETERS, "TClass 0x00", "TClass 0x20", "TClass"),
    ("flow", 5, PARAMETERS, "FlowLabel 0x00000", "FlowLabel 0x00005", "FlowLabel"),
]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_TRAFFIC)
def test_one_datagram_differs_from_the_others(field, value, rule, expected, found, name, tmp_path):
    s, a, b, _ = late()
    other = send(s, a)
    frame = send(s, b, **{field: value})
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == [(rule, frame, other, expected, found, TRAFFIC % name)]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_TRAFFIC)
def test_a_sender_differs_once(field, value, rule, expected, found, name, tmp_path):
    """It sent with the value of another sender before, and does so again."""
    s, a, b, _ = late()
    send(s, a)
    other = send(s, b)
    frame = send(s, b, **{field: value})
    send(s, b)
    assert suspected(s.pcap(), tmp_path) == [(rule, frame, other, expected, found, TRAFFIC % name)]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_TRAFFIC)
def test_a_sender_differs_once_from_itself(field, value, rule, expected, found, name, tmp_path):
    """No other sender is captured. Its value has not changed for good."""
    s, a, _, _ = late()
    other = send(s, a)
    frame = send(s, a, **{field: value})
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == [(rule, frame, other, expected, found, TRAFFIC % name)]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_TRAFFIC)
def test_the_values_of_one_sender_alone_are_not_suspicious(
    field, value, rule, expected, found, name, tmp_path
):
    """The SA may have told it so in a response that was not captured."""
    s, a, _, _ = late()
    for fields in ({}, {}, {field: value}, {field: value}):
        send(s, a, **fields)
    assert suspected(s.pcap(), tmp_path) == []


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_TRAFFIC)
def test_all_senders_change_to_the_value(field, value, rule, expected, found, name, tmp_path):
    """The group was created again, with other values: one sender after the other has them."""
    s, a, b, c = late()
    for host, fields in ((a, {}), (b, {}), (b, {field: value}), (a, {}), (c, {field: value})):
        send(s, host, **fields)
    send(s, a, **{field: value})
    send(s, b, **{field: value})
    assert suspected(s.pcap(), tmp_path) == []


# ---- datagrams to one port: the Q_Key of the link


def known(s, *hosts):
    """Their GIDs are known: each announces its address to the broadcast group."""
    for host in hosts:
        s.arp_request(host, host.ip)


def to_port(s, src, dst, **fields):
    s.wait(1)
    s.ud(src, dst, ping(src, dst), **fields)
    return number(s)


def test_a_datagram_to_a_port_differs_from_the_others_of_the_link(tmp_path):
    s, a, b, _ = late()
    known(s, a, b)
    other = to_port(s, a, b)
    frame = to_port(s, b, a, qkey=0x80000BAD)
    to_port(s, a, b)
    texts = ("Q_Key 0x80000b1b", "Q_Key 0x80000bad", TRAFFIC % "Q_Key")
    assert suspected(s.pcap(), tmp_path) == [(QKEY, frame, other, *texts)]


def test_the_q_key_of_one_sender_alone_is_not_suspicious(tmp_path):
    s, a, b, _ = late()
    known(s, a)
    for fields in ({}, {"qkey": 0x80000BAD}, {}):
        to_port(s, a, b, **fields)
    assert suspected(s.pcap(), tmp_path) == []


def test_the_q_key_of_one_group_differs_from_the_others(tmp_path):
    """All groups of a link have one Q_Key. b uses another one once, in a group of its own."""
    s, a, b, _ = late()
    other = s.group4("239.9.9.9")
    s.mlid(other)
    send(s, a)
    frame = send(s, b, mgid=other, qkey=0x80000BAD)
    send(s, b)
    assert [of[:3] for of in suspected(s.pcap(), tmp_path)] == [(QKEY, frame, frame - 1)]


def test_the_q_key_of_a_group_of_another_link(tmp_path):
    s, a, b, _ = late()
    other = s.group4(GROUP).replace("ff12", "ff15")
    s.mlid(other)
    send(s, a)
    send(s, b.also(qpn=0x999), mgid=other, qkey=0x80000BAD)
    send(s, b)
    assert suspected(s.pcap(), tmp_path) == []


def test_all_senders_change_to_the_q_key_of_the_link(tmp_path):
    s, a, b, c = late()
    known(s, a, b, c)
    new = {"qkey": 0x80000BAD}
    for src, dst, fields in ((a, b, {}), (b, a, new), (a, b, {}), (c, b, new), (a, b, new)):
        to_port(s, src, dst, **fields)
    assert suspected(s.pcap(), tmp_path) == []


# ---- with the SA's record of the group


OF_RECORD = [of for of in OF_TRAFFIC if of[0] != "qkey"]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_RECORD)
def test_a_datagram_differs_from_the_record(field, value, rule, expected, found, name, tmp_path):
    """b joined before the capture, c joins in it. A rule compares the Q_Key with the record of the
    broadcast group."""
    s, _, b, c = late()
    s.join(c, s.group4(GROUP))
    record = number(s)
    s.ping(c, b)
    frame = send(s, b, **{field: value})
    assert suspected(s.pcap(), tmp_path) == [(rule, frame, record, expected, found, RECORD % name)]


def test_a_sender_that_joins_again_is_not_suspicious(tmp_path):
    """It had the values of an earlier group. It joins in the capture, and has those of this one."""
    s, _, b, c = late()
    s.join(c, s.group4(GROUP))
    s.ping(c, b)
    send(s, b, mlid=0xC0AA)
    s.wait(1)
    s.join(b, s.group4(GROUP))
    send(s, b)
    assert suspected(s.pcap(), tmp_path) == []


def test_the_record_has_the_value_later(tmp_path):
    """The SA gave the group another MLID. b has it, from a response that was not captured; then c
    joins, and the SA's record has it too."""
    s, a, b, c = late()
    group = s.group4(GROUP)
    s.join(a, group)
    send(s, a)
    send(s, b, mlid=0xC0AA)
    s.wait(1)
    s.mlids[group] = 0xC0AA
    s.join(c, group)
    assert suspected(s.pcap(), tmp_path) == []


def test_members_use_the_previous_value_after_a_change(tmp_path):
    """The group is created again with another MLID; b has not joined it again so far."""
    s, a, b, c = late()
    group = s.group4(GROUP)
    s.join(a, group)
    send(s, a)
    send(s, b)
    s.wait(1)
    s.mlids[group] = 0xC0AA
    s.join(c, group)
    send(s, b, mlid=0xC000)
    assert suspected(s.pcap(), tmp_path) == []


@pytest.mark.parametrize("reported", ["before", "after", "not"])
def test_the_sa_reports_that_it_deleted_the_group(reported, tmp_path):
    """The host of the subnet manager joined the group again; its own requests are not on the wire. The
    Report to another port may be captured after the datagram."""
    s, a, b, c = late()
    group = s.group4(GROUP)
    s.join(c, group)
    record = number(s)
    s.ping(a, c)
    if reported == "before":
        s.report(a, DELETED, group)
    frame = send(s, b, mlid=0xC0AA)
    if reported == "after":
        s.report(a, DELETED, group)
    expected = [(MLID, frame, record, "MLID 0xc000", "MLID 0xc0aa", RECORD % "MLID")]
    assert suspected(s.pcap(), tmp_path) == (expected if reported == "not" else [])


# ---- with datagrams to other groups of the link


OTHER = "239.9.9.9"
OF_LINK = [one for one in OF_TRAFFIC if one[0] in ("sl", "hop")]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
def test_a_datagram_differs_from_those_to_another_group(
    field, value, rule, expected, found, name, tmp_path
):
    """All groups of a link have the SL and the HopLimit of its broadcast group (RFC 4391 10)."""
    s, a, b, _ = late()
    other = send(s, a)
    s.to_group4(b, OTHER, **{field: value})
    frame = number(s)
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == [(rule, frame, other, expected, found, TRAFFIC % name)]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
def test_a_datagram_differs_from_the_record_of_the_broadcast_group(
    field, value, rule, expected, found, name, tmp_path
):
    s, a, b, c = late()
    s.join(c, s.broadcast())
    record = number(s)
    s.wait(1)
    s.to_group4(b, OTHER, **{field: value})
    expected = [(rule, number(s), record, expected, found, RECORD % name)]
    assert suspected(s.pcap(), tmp_path) == expected


@pytest.mark.parametrize("field, value", [("tclass", 0x20), ("flow", 5), ("mlid", 0xC0AA)])
def test_groups_may_differ_in_other_values(field, value, tmp_path):
    """That the groups have one TClass and FlowLabel is a SHOULD; each has its own MLID."""
    s, a, b, _ = late()
    send(s, a)
    s.to_group4(b, OTHER, **{field: value})
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == []


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
def test_two_senders_use_the_other_value(field, value, rule, expected, found, name, tmp_path):
    """The link's value has changed."""
    s, a, b, c = late()
    send(s, a)
    for host, group in ((b, OTHER), (c, OTHER), (a, GROUP)):
        s.wait(1)
        s.to_group4(host, group, **{field: value})
    assert suspected(s.pcap(), tmp_path) == []


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
def test_one_sender_uses_the_other_value_in_two_groups(
    field, value, rule, expected, found, name, tmp_path
):
    """It does so in each; another group of the same sender is no second witness."""
    s, a, b, _ = late()
    other = send(s, a)
    for group in (OTHER, "239.9.9.10"):
        s.wait(1)
        s.to_group4(b, group, **{field: value})
    frame = number(s)
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == [
        (rule, at, other, expected, found, TRAFFIC % name) for at in (frame - 1, frame)
    ]


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
@pytest.mark.parametrize("explained_by", ["sender", "record", "join", "delete"])
def test_the_group_has_the_other_value(
    explained_by, field, value, rule, expected, found, name, tmp_path
):
    """The members of the group got it from the SA: the group's record is the wrong one. Or the sender
    had it from the link before, which the SA deleted, or which the sender has joined again."""
    s, a, b, c = late()
    group = s.group4(OTHER)
    known(s, b)
    send(s, a)
    s.to_group4(b, OTHER, **{field: value})
    s.wait(1)
    if explained_by == "sender":
        s.to_group4(c, OTHER, **{field: value})
    elif explained_by == "record":
        s.join(c, group, **{field: value})
    elif explained_by == "join":
        s.join(b, s.broadcast())
    else:
        s.report(a, DELETED, s.broadcast())
    send(s, a)
    send(s, c)
    record = ["rfc4391.10.group-attributes"] if explained_by == "record" else []
    assert [of[0] for of in suspected(s.pcap(), tmp_path)] == record


@pytest.mark.parametrize("field, value, rule, expected, found, name", OF_LINK)
def test_a_sender_of_another_link_and_a_remote_one(
    field, value, rule, expected, found, name, tmp_path
):
    """Another scope is another link; a router changes the values."""
    s, a, b, _ = late()
    router, remote = Host(8), Host(5, prefix="fec0::", lid=8)
    s.ping(router, a)
    send(s, a)
    s.to_group4(b, OTHER, mgid=ib.mgid_ipv4(OTHER, pkey=0xFFFF, scope=5), **{field: value})
    s.to_group4(remote, OTHER, **{field: value})
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == []


def test_another_scope_is_another_group(tmp_path):
    """The same IPv4 group in two links of one partition."""
    s, a, b, _ = late()
    for host, scope, mlid in ((a, 2, 0xC000), (b, 5, 0xC005), (a, 2, 0xC000)):
        send(s, host, mgid=ib.mgid_ipv4(GROUP, pkey=0xFFFF, scope=scope), mlid=mlid)
    assert suspected(s.pcap(), tmp_path) == []


def test_a_copy_is_one_suspicion(tmp_path):
    s, a, b, _ = late()
    other = send(s, a)
    frame = send(s, b, sl=3)
    copy_last(s)
    send(s, a)
    [found] = suspected(s.pcap(), tmp_path)
    assert found[:3] == (PARAMETERS, frame, other)


def test_a_routed_datagram_may_have_another_hop_limit_and_sl(tmp_path):
    """From a port of another subnet: the packet has the LID of the router (IBA 8.3.6)."""
    s, a, b, _ = late()
    remote = Host(5, prefix="fec0::", lid=8)
    router = Host(8)
    s.ping(router, a)
    for host, fields in ((a, dict(hop=64)), (remote, dict(hop=63, sl=2)), (b, dict(hop=64))):
        send(s, host, **fields)
    assert suspected(s.pcap(), tmp_path) == []


def test_a_capture_from_the_start_has_no_suspicion(tmp_path):
    s, a, b, c = link()
    group = s.join(a, s.group4(GROUP))
    for host in (b, c):
        s.join(host, group)
    for host in (a, b, c, a):
        send(s, host)
    assert suspected(s.pcap(), tmp_path) == []


def test_the_ports_join_again_after_a_restart_of_the_subnet_manager(tmp_path):
    """The SM asks c to register again, and gives the group another MLID. The record before is of the
    earlier group: b's join was not captured, and it has the new MLID."""
    s, a, b, c = late()
    group = s.group4(GROUP)
    s.join(a, group)
    send(s, a)
    s.node_info(c)
    s.port_info(c, reregister=True)
    s.ping(a, c)
    send(s, b, mlid=0xC0AA)
    send(s, a)
    assert suspected(s.pcap(), tmp_path) == []


def test_a_proved_violation_is_no_suspicion_any_more(tmp_path):
    """b's first datagram differs from the record, and the SA may have given it another MLID. Then it
    joins, and its next datagram differs from what the SA gave it: that is a claim, which its next
    request proves."""
    s, _, b, c = late()
    group = s.group4(GROUP)
    s.join(c, group)
    s.ping(c, b)
    send(s, b, mlid=0xC0AA)
    s.join(b, group)
    s.ping(c, b)
    send(s, b, mlid=0xC0AA)
    s.path(b, c)
    assert suspected(s.pcap(), tmp_path) == []


# ---- the reports


UNLESS = TRAFFIC % "SL"
FOUND = "expected SL 0, found SL 3"
SUBJECT = "group ff12:401b:ffff::f01:203"


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "sl.pcap"
    path.write_bytes(another_sl().pcap())
    return str(path)


def json_of(status, *arguments):
    return json.loads(expect(status, "--format", "json", *arguments))


def test_text(capture):
    text = expect(OK, capture)
    part = text[text.index("\nSuspected: ") : text.index("\nInconclusive: ")].splitlines()
    assert part[-4:] == [
        "      1 time: " + FOUND,
        f"        {SUBJECT}: frame 2; the other value is in frame 1",
        "        sent by GID fe80::2:c903:0:2, LID 2",
        "      " + UNLESS,
    ]
    assert "no violation: NO VIOLATION PROVED, 1 SUSPECTED: " in text.splitlines()[-1]


def test_json(capture):
    report = json_of(OK, capture)
    [result] = [r for r in report["results"] if r["outcome"] == "suspected"]
    [one] = result["cases"]
    assert (result["violation"], result["count"], one["frames"]) == (False, 1, [2])
    assert (one["other_frame"], one["reason"]) == (1, UNLESS)
    assert one["senders"] == ["GID fe80::2:c903:0:2, LID 2"]
    [counts] = [c["rules"] for c in report["summary"]["captures"]]
    assert (counts["suspected"], counts["must_violated"]) == (1, 0)
    assert report["summary"]["no_violation_proved"] == 1
    assert "fail_on" not in report["summary"]


def junit_of(status, *arguments):
    root = ElementTree.fromstring(expect(status, "--format", "junit", *arguments))
    [case] = [c for c in root.iter("testcase") if c.get("name") == PARAMETERS]
    return {child.tag: child.get("message") for child in case}


def test_junit(capture):
    [(tag, message)] = junit_of(OK, capture).items()
    assert tag == "skipped" and message.startswith(f"suspected: {SUBJECT}: {FOUND} ({UNLESS}); ")
    [(tag, message)] = junit_of(VIOLATED, "--fail-on", "suspected", capture).items()
    assert tag == "failure" and message.startswith(f"suspected: {SUBJECT}: {FOUND} ({UNLESS}); ")


def tap_of(status, *arguments):
    lines = expect(status, "--format", "tap", *arguments).splitlines()
    [at] = [i for i, line in enumerate(lines) if PARAMETERS in line and "ok " in line[:7]]
    return lines[at], lines[at : lines.index("  ...", at)]


def test_tap(capture):
    line, block = tap_of(OK, capture)
    assert line.startswith("ok ") and f"# SKIP suspected: {SUBJECT}: {FOUND}" in line
    assert "      other_frame: 1" in block
    line, _ = tap_of(VIOLATED, "--fail-on", "suspected", capture)
    assert line.startswith("not ok ") and "SKIP" not in line


def test_exit_status_with_fail_on(capture):
    text = expect(VIOLATED, "--fail-on", "suspected", capture)
    assert "NO VIOLATION PROVED, 1 SUSPECTED: " in text.splitlines()[-1]
    expect(OK, "--fail-on", "violated", capture)
    expect(OK, "--fail-on", "suspected", "--only", "rfc4391.6", capture)
    summary = json_of(VIOLATED, "--fail-on", "suspected", capture)["summary"]
    assert (summary["verdict"], summary["exit_status"]) == ("conformant", VIOLATED)
    assert summary["fail_on"] == "suspected"


def test_merged_reports_keep_it(capture, tmp_path):
    plain, failing, merged = (str(tmp_path / n) for n in ("a.json", "b.json", "m.json"))
    expect(OK, "--format", "json", "-o", plain, capture)
    expect(VIOLATED, "--format", "json", "--fail-on", "suspected", "-o", failing, capture)
    text = expect(OK, "--merge", plain)
    assert "\nSuspected\n  " + PARAMETERS in text and "1 SUSPECTED" in text
    expect(VIOLATED, "--merge", plain, failing)
    expect(VIOLATED, "--merge", "--format", "json", "-o", merged, plain, failing)
    expect(VIOLATED, "--merge", merged)
    [tally] = [
        r
        for r in json.loads(open(merged, encoding="utf-8").read())["summary"]["rules"]
        if r["outcome"] == "suspected"
    ]
    assert (tally["id"], tally["nodes"], tally["count"]) == (PARAMETERS, 2, 2)


def test_baseline(capture, tmp_path):
    first, second = (str(tmp_path / n) for n in ("a.json", "b.json"))
    expect(OK, "--format", "json", "-o", first, capture)
    with_it = ["--fail-on", "suspected", "--baseline"]
    expect(OK, "--format", "json", "-o", second, *with_it, first, capture)
    [known] = [
        r
        for r in json.loads(open(second, encoding="utf-8").read())["results"]
        if r["outcome"] == "known"
    ]
    assert (known["id"], known["reason"]) == (PARAMETERS, "suspected, known from the baseline")
    expect(OK, *with_it, second, capture)


def test_a_suspicion_of_the_baseline_does_not_excuse_a_violation(capture, tmp_path):
    """The report of the capture, with the result of another rule and value: a violation there."""
    report = tmp_path / "a.json"
    expect(VIOLATED, "--format", "json", "-o", str(report), check.ENCAP)
    text = report.read_text().replace('"outcome": "fail"', '"outcome": "suspected"')
    report.write_text(text)
    expect(VIOLATED, "--baseline", str(report), check.ENCAP)


def test_annotated_capture(capture, tmp_path):
    out = tmp_path / "out.pcapng"
    expect(OK, "--annotate", str(out), capture)
    written = out.read_bytes()
    comment = (
        f"suspected: {PARAMETERS} (RFC 4391, section 5): {SUBJECT}: {FOUND}; sent by "
        f"GID fe80::2:c903:0:2, LID 2; {UNLESS}; the other value is in frame 1; see: "
    )
    assert written.count(comment.encode()) == 1
    assert written.count(b"suspected: ") == 1

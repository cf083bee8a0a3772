# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics: -z ipoib,conformance[,json], events, peers, groups, connections and tree, and the
windows' tables in sharkd.

The expected values were read by hand from testdata/README.md and the frames (QPNs, LIDs and
addresses in ARP and Neighbour Discovery, the SA's MCMemberRecords, the CM messages), not from our
own output. The tests request every table in one pass and in two. They also compare the conformance
report with that of ipoib-check."""
import collections
import functools
import json
import os
import re
import subprocess

import pytest

from frames.fixture import tape
from support import capfile, shown
from support.paths import BIN, testdata
from support.wireshark import ask_sharkd, asked, load, tshark

RULE = "=" * 67
TABLES = ("events", "peers", "groups", "connections", "conformance")
in_each_mode = pytest.mark.parametrize(
    "way",
    [
        pytest.param(shown.STATISTICS, id="one-pass"),
        pytest.param(shown.TWO_PASSES, id="two-passes"),
    ],
)


# ---- values that were read by hand


def gid(port):
    return "fe80::11:7500:0:%d" % port


def link_local(port):
    return "fe80::211:7500:0:%d" % port


def peer(ip, qpn, port, pkey, lid, first, last, mtu="2044"):
    """All of Linux's addresses have the RC flag, in datagram mode too: see the bytes in
    arp.src.hw. The broadcast group has an MTU of 2048 bytes; none of the captures has an event."""
    return [
        ip,
        "0x80",
        "0x%06x" % qpn,
        gid(port),
        "UD, RC",
        pkey,
        "0",
        str(lid),
        mtu,
        str(first),
        str(last),
        "0",
        "current",
    ]


# The Receive MTU in the REQ and the REP is 65524.
BOTH = "2044, connected 65520"


PEERS = {
    "datagram.pcap": [
        peer(link_local(100), 0x03, 100, "0xffff", 1, 34, 103),
        peer(link_local(110), 0x23, 110, "0xffff", 2, 39, 93),
        peer("10.0.0.1", 0x03, 100, "0xffff", 1, 41, 86),
        peer("10.0.0.2", 0x23, 110, "0xffff", 2, 44, 85),
    ],
    "connected.pcap": [
        peer(link_local(100), 0x03, 100, "0xffff", 1, 33, 96, BOTH),
        peer(link_local(110), 0x23, 110, "0xffff", 2, 39, 104, BOTH),
        peer("10.0.0.1", 0x03, 100, "0xffff", 1, 41, 99, BOTH),
        peer("10.0.0.2", 0x23, 110, "0xffff", 2, 44, 98, BOTH),
    ],
    # n1, whose packets have P_Key 0x0002, is on the link of 0x8002
    "partitions.pcap": [
        peer(link_local(100), 0x03, 100, "0xffff", 1, 104, 327),
        peer(link_local(110), 0x23, 110, "0xffff", 3, 143, 184),
        peer(link_local(120), 0x43, 120, "0xffff", 4, 151, 245),
        peer(link_local(100), 0x05, 100, "0x8001", 1, 190, 306, "4092"),
        peer(link_local(110), 0x25, 110, "0x8001", 3, 243, 307, "4092"),
        peer(link_local(100), 0x07, 100, "0x8002", 1, 266, 326),
        peer("10.0.0.1", 0x03, 100, "0xffff", 1, 271, 271),
        peer("10.0.0.3", 0x43, 120, "0xffff", 4, 274, 274),
        peer("10.1.0.1", 0x05, 100, "0x8001", 1, 279, 279, "4092"),
        peer("10.1.0.2", 0x25, 110, "0x8001", 3, 282, 282, "4092"),
        peer(link_local(110), 0x27, 110, "0x8002", 3, 292, 292),
        peer("10.2.0.1", 0x07, 100, "0x8002", 1, 293, 293),
        peer("10.2.0.2", 0x27, 110, "0x8002", 3, 296, 296),
    ],
}


def group(rest, ip, mlid, frame, members=0, pkey="ffff", signature="601b", mtu=2048):
    return [
        "ff12:%s:%s:%s" % (signature, pkey, rest),
        ip,
        "0x" + pkey,
        "0",
        "0x%04x" % mlid,
        str(mtu),
        "0x00000b1b",
        "0",
        "10 Gb/s",
        str(members),
        str(frame),
        "present",
    ]


def unconfirmed(rest, ip, pkey="ffff"):
    """n0's solicited-node group: n0 sends to it, but its join never reaches the wire."""
    return [
        "ff12:601b:%s:%s" % (pkey, rest),
        ip,
        "0x" + pkey,
        "0",
        "-",
        "-",
        "-",
        "-",
        "-",
        "0",
        "",
        "unconfirmed",
    ]


def ipv4(rest, ip, *args, **kw):
    return group(rest, ip, *args, signature="401b", **kw)


BROADCAST = (":ffff:ffff", "255.255.255.255 (broadcast)")
NODE = {n: (":1:ff00:%d" % n, "ff02::1:ff00:%d" % n) for n in (100, 110, 120)}
# MLID and frame of the SA's last GetResp(MCMemberRecord). In the first two captures n1 leaves all
# at the end.
GROUPS = {
    "datagram.pcap": [
        group(":16", "ff02::16", 0xC004, 28),
        unconfirmed(*NODE[100]),
        ipv4(*BROADCAST, 0xC000, 20),
        group(":1", "ff02::1", 0xC001, 23),
        ipv4(":1", "224.0.0.1", 0xC002, 25),
        group(*NODE[110], 0xC005, 26),
        group(":2", "ff02::2", 0xC006, 38),
        ipv4(":f01:203", "239.1.2.3", 0xC007, 70),
        ipv4(":16", "224.0.0.22", 0xC008, 72),
        group(":5:6", "ff02::5:6", 0xC009, 75),
    ],
    "connected.pcap": [
        group(":16", "ff02::16", 0xC004, 29),
        unconfirmed(*NODE[100]),
        ipv4(*BROADCAST, 0xC000, 21),
        group(":1", "ff02::1", 0xC001, 25),
        ipv4(":1", "224.0.0.1", 0xC002, 26),
        group(*NODE[110], 0xC005, 27),
        group(":2", "ff02::2", 0xC006, 38),
    ],
    # default partition: n1 and n2 stay; 0x8001: n1 leaves (310-325); 0x8002: n1 stays
    "partitions.pcap": [
        group(":16", "ff02::16", 0xC006, 133, 2),
        unconfirmed(*NODE[100]),
        ipv4(*BROADCAST, 0xC000, 121, 2),
        group(":1", "ff02::1", 0xC003, 128, 2),
        ipv4(":1", "224.0.0.1", 0xC004, 129, 2),
        group(*NODE[110], 0xC008, 109, 1),
        group(":2", "ff02::2", 0xC007, 148, 2),
        group(*NODE[120], 0xC009, 130, 1),
        group(":16", "ff02::16", 0xC00D, 179, pkey="8001", mtu=4096),
        unconfirmed(*NODE[100], pkey="8001"),
        ipv4(*BROADCAST, 0xC001, 164, pkey="8001", mtu=4096),
        group(":1", "ff02::1", 0xC00A, 172, pkey="8001", mtu=4096),
        ipv4(":1", "224.0.0.1", 0xC00B, 176, pkey="8001", mtu=4096),
        group(*NODE[110], 0xC00E, 178, pkey="8001", mtu=4096),
        group(":2", "ff02::2", 0xC00F, 240, pkey="8001", mtu=4096),
        group(":16", "ff02::16", 0xC013, 260, 1, pkey="8002"),
        unconfirmed(*NODE[100], pkey="8002"),
        ipv4(*BROADCAST, 0xC002, 248, 1, pkey="8002"),
        group(":1", "ff02::1", 0xC010, 254, 1, pkey="8002"),
        ipv4(":1", "224.0.0.1", 0xC011, 255, 1, pkey="8002"),
        group(*NODE[110], 0xC014, 256, 1, pkey="8002"),
        group(":2", "ff02::2", 0xC015, 289, 1, pkey="8002"),
    ],
}


def connection(number, service, requester, responder, mtu, frames, state):
    return [
        str(number),
        "0x%016x" % service,
        "RC",
        "0xffff",
        "0",
        *requester,
        *responder,
        mtu,
        *[str(f) if f else "" for f in frames],
        state,
    ]


def side(lid, port, qpn, ud_qpn):
    return [
        "LID %d, %s" % (lid, gid(port)),
        "0x%06x" % qpn if qpn else "-",
        "0x%06x" % ud_qpn if qpn else "-",
    ]


# frames: REQ, REP, RTU, REJ, DREQ, DREP. MTU: both Receive MTUs are 65524 (RFC 4755 section 5.1).
CONNECTIONS = {
    "datagram.pcap": [],
    "partitions.pcap": [],
    "connected.pcap": [
        connection(
            1,
            0x1000000000000023,
            side(1, 100, 0x05, 0x03),
            side(2, 110, 0x25, 0x23),
            "65520",
            (45, 46, 48, 0, 108, 109),
            "closed",
        ),
        connection(
            2,
            0x1000000000000003,
            side(2, 110, 0x27, 0x23),
            side(1, 100, 0x07, 0x03),
            "65520",
            (50, 51, 53, 0, 117, 118),
            "closed",
        ),
    ],
}
# cm-reject.pcap: REJ to each REQ but two, in testdata/README.md; those of SRP, SDP and the like in
# foreign.pcap are not IPoIB's.
REJECTED = [(3, 4), (5, 6), (35, 36), (37, 38), (39, 40)]


# ---- reading the text


def blocks(text):
    """The printed tables: title -> (rows, lines after them); a row is its cells by the header's
    columns."""
    out = {}
    for part in re.findall("^" + RULE + r"\n(.*?)^" + RULE + r"\n", text, re.S | re.M):
        title, header, *lines = part.splitlines()
        width = max(map(len, lines + [header]))
        table = [header] + [
            l
            for l in lines
            if not l.startswith("(") and " frames, " not in l and not l.startswith("Verdict:")
        ]
        rest = [l for l in lines if l not in table]
        padded = [l.ljust(width) for l in table]
        # columns are separated where every row has two blanks
        gap = [all(l[i : i + 2] == "  " for l in padded) for i in range(width - 1)] + [False]
        starts, inside = [0], False
        for i in range(width):
            if inside and not gap[i] and gap[i - 1] and all(l[i] == " " for l in padded):
                starts.append(i + 1)
            inside = True
        ends = starts[1:] + [width]
        rows = [[l[s:e].strip() for s, e in zip(starts, ends)] for l in padded[1:]]
        out[title] = rows, rest
    return out


def table(name, path, way=shown.STATISTICS, *preferences):
    """(rows, lines after them) of one table."""
    return blocks(shown.show(path, way, *preferences).statistics)["IPoIB " + name.capitalize()]


@pytest.mark.parametrize("name", TABLES)
def test_one_statistic_prints_one_table(name):
    path = testdata("connected.pcap")
    r = tshark("-q", "-z", "ipoib," + name, "-r", path, check=True)
    assert blocks(r.stdout) == {"IPoIB " + name.capitalize(): table(name, path)}, r.stdout


# ---- events, peers, groups, connections

# Frames 4, 8 and so on: the REJs of node 2.
EVENTS = {
    "cm-reject.pcap": [
        [
            "4",
            "connection_refused",
            "5",
            "40",
            "3",
            "GID %s, LID 2" % gid(110),
            "it refuses the connection with GID %s, LID 1: reason 8, invalid Service-ID" % gid(100),
        ]
    ],
    "connected.pcap": [],
}
EXPECTED = {"events": EVENTS, "peers": PEERS, "groups": GROUPS, "connections": CONNECTIONS}


@in_each_mode
@pytest.mark.parametrize(
    "name, path", [(name, path) for name, captures in EXPECTED.items() for path in captures]
)
def test_table(name, path, way):
    rows, rest = table(name, testdata(path), way)
    assert rows == EXPECTED[name][path]
    if not rows:
        assert len(rest) == 1 and rest[0].startswith("(no "), rest


def test_peers_have_the_numbers_of_their_events():
    """qpn-change: four events of node 1, and the new QPN of node 2."""
    rows, _ = table("peers", testdata("qpn-change.pcap"))
    assert {(row[3], row[11]) for row in rows} == {(gid(100), "4"), (gid(110), "1")}


def test_rejected_connections():
    rows, _ = table("connections", testdata("cm-reject.pcap"))
    assert [(int(r[12]), int(r[15])) for r in rows if r[-1] == "rejected"] == REJECTED


def test_accepted_connections_among_rejected_ones():
    rows, _ = table("connections", testdata("cm-reject.pcap"))
    assert [r[-1] for r in rows].count("closed") == 2


# ---- conformance


@functools.lru_cache(maxsize=None)
def counted(path):
    """How often the packets name each rule: id -> [failures, deviations, notes]."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for frame in shown.show(path).frames.values():
        ids, deviations, notes = (
            shown.values(frame, f"ipoib.{f}") for f in ("rule.id", "rule.deviation", "note.id")
        )
        for rule, deviation in zip(ids, deviations):
            found[rule][deviation in ("1", "True")] += 1
        for rule in notes:
            found[rule][2] += 1
    return dict(found)


def conformance_json(path, way=shown.STATISTICS, *preferences):
    return shown.report(shown.show(path, way, *preferences))


def report_of(name):
    return conformance_json(testdata(name))


def outcomes(report):
    """How often the report names each rule: id -> [failures, deviations, notes]."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for r in report["results"]:
        if r["outcome"] in ("fail", "deviation", "noted"):
            found[r["id"]][("fail", "deviation", "noted").index(r["outcome"])] += r["count"]
    return dict(found)


def comparable(report):
    """The common part of the reports of the plugin and of ipoib-check: the results, and the
    summary. Only ipoib-check counts gaps in time."""
    keys = "id level document section outcome count subject expected actual reason frames text"
    summary = {k: v for k, v in report["summary"]["captures"][0].items() if k != "name"}
    summary["unseen"] = [u for u in summary["unseen"] if u["code"] != "pauses"]
    return [{k: r[k] for k in keys.split()} for r in report["results"]], summary


def check_against_ipoib_check(path, report):
    program = os.path.join(BIN, "ipoib-check")
    if not os.path.exists(program):
        pytest.skip("ipoib-check is not built here")
    other = subprocess.run(
        [program, "--format", "json", path], capture_output=True, text=True, check=False
    )
    assert other.stdout.startswith("{"), other.stderr
    (results, summary), (other_results, other_summary) = map(
        comparable, (report, json.loads(other.stdout))
    )
    assert [p for p in zip(results, other_results) if p[0] != p[1]] == []
    assert len(results) == len(other_results)
    assert summary == other_summary


ARP_FAULTS = "built/built-arp-faults.pcap"
of_judged = pytest.mark.parametrize(
    "name", ["connected.pcap", "datagram.pcap", "partitions.pcap", ARP_FAULTS]
)


@of_judged
def test_conformance_json_is_json(name):
    assert report_of(name)["tool"] == "ipoib-plugin"


@of_judged
def test_conformance_json_sums_up_what_the_packets_show(name):
    assert outcomes(report_of(name)) == counted(testdata(name))


@of_judged
def test_conformance_json_is_the_same_in_two_passes(name):
    assert conformance_json(testdata(name), shown.TWO_PASSES) == report_of(name)


@of_judged
def test_conformance_json_is_the_same_with_a_filter(name):
    """Nothing else is asked of this tshark."""
    path = testdata(name)
    only = ["-q", "-Y", "frame.number == 1", "-z", "ipoib,conformance,json"]
    alone = json.loads(tshark(*only, "-r", path, check=True).stdout)
    assert shown.without_capture(alone) == report_of(name)


@of_judged
def test_conformance_json_is_that_of_ipoib_check(name):
    check_against_ipoib_check(testdata(name), report_of(name))


@of_judged
def test_conformance_table_counts_what_the_json_counts(name):
    rows, _ = table("conformance", testdata(name))
    words = ("pass", "fail", "suspected", "deviation", "inconclusive", "noted")
    results = report_of(name)["results"]
    counts = {(r["id"], r["outcome"]): r["count"] for r in results}
    passed = {i for i, word in counts if word == "pass"}
    found = {i for i, word in counts if word not in ("pass", "inconclusive") or i not in passed}
    wanted = {i: [counts.get((i, w), 0) for w in words] for i in found}
    assert {r[0]: [int(n) for n in r[3:9]] for r in rows} == wanted


@of_judged
def test_conformance_table_has_the_worst_first_then_the_verdict(name):
    rows, rest = table("conformance", testdata(name))
    order = ["fail", "suspected", "deviation", "inconclusive", "noted"]
    ranks = [order.index(r[2]) for r in rows]
    assert ranks == sorted(ranks), rows
    assert rest[-1:] == ["Verdict: " + report_of(name)["summary"]["verdict"]], rest


def test_source_option_is_that_of_ipoib_check(open_path):
    """n1's advertisement has its link-layer address in a source option, which receivers ignore (RFC
    4861 section 4.4), with another QPN than that of its packets 4000 s later: no receiver has
    cached that QPN."""
    t = tape("datagram.pcap")
    t[60]["nd.option.type"] = 1
    t[60].payload[73:76] = bytes([0, 0, 0x99])
    t[60].fix_checksums()
    t.shift(61, 4000)
    path = open_path / "source-option.pcap"
    path.write_bytes(t.pcap())
    check_against_ipoib_check(str(path), conformance_json(str(path)))


# ---- verdicts; the hardware types of frames 2 and 3 are not 32: see tests/frames/build.py

HARDWARE_TYPE = "rfc4391.9.2.arp-hardware-type"


def test_json_names_the_frames_of_violations():
    wrong = [
        (r["count"], r["frames"], r["violation"])
        for r in report_of(ARP_FAULTS)["results"]
        if r["id"] == HARDWARE_TYPE and r["outcome"] == "fail"
    ]
    assert wrong == [(2, [2, 3], True)]


def test_table_names_the_frames_of_violations():
    rows, _ = table("conformance", testdata(ARP_FAULTS))
    assert {r[0]: r[9] for r in rows}.get(HARDWARE_TYPE) == "2, 3"


def test_violations_are_listed_first():
    rows, _ = table("conformance", testdata(ARP_FAULTS))
    assert rows[0][1:3] == ["MUST", "fail"]


@pytest.mark.parametrize(
    "name, verdict", [(ARP_FAULTS, "violated"), ("connected.pcap", "conformant")]
)
def test_verdict(name, verdict):
    assert report_of(name)["summary"]["verdict"] == verdict


def test_without_known_deviations_linux_is_not_conformant():
    strict = conformance_json(
        testdata("connected.pcap"), shown.STATISTICS, "-o", "ipoib.deviations:none"
    )["summary"]
    assert (strict["verdict"], strict["deviations"]) == ("violated", "none")


@pytest.mark.parametrize(
    "name, options, error",
    [
        (
            "connected.pcap",
            ["-o", "ipoib.conformance:FALSE"],
            "the preference ipoib.conformance is off",
        ),
        (
            "datagram.pcap",
            ["-o", "ipoib.deviations:/nonexistent"],
            "known deviations: /nonexistent: No such file or directory",
        ),
        (
            "connected.pcap",
            ["--disable-protocol", "ipoib"],
            "the protocol IPoIB is disabled",
        ),
    ],
    ids=["checks-are-off", "deviations-cannot-be-read", "protocol-is-disabled"],
)
def test_no_verdict(name, options, error):
    report = conformance_json(testdata(name), shown.STATISTICS, *options)
    summary = report["summary"]
    assert report["results"] == []
    assert (summary["verdict"], summary["captures"][0]["error"]) == ("unjudged", error)


@pytest.mark.parametrize("name", EXPECTED)
def test_tables_without_conformance_checks(name):
    path = testdata("connected.pcap")
    without = table(name, path, shown.STATISTICS, "-o", "ipoib.conformance:FALSE")
    assert without == table(name, path)


def without_protocol(name):
    path = testdata("connected.pcap")
    return shown.show(path, shown.STATISTICS, "--disable-protocol", name)


EMPTY = {
    "events": "no event was found",
    "peers": "no ARP or Neighbour Discovery of IPoIB was seen",
    "groups": "the SA reported no IPoIB group",
    "connections": "no IPoIB connection was requested",
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("protocol, text", [("ipoib", "IPoIB"), ("infiniband", "InfiniBand")])
def test_empty_table_names_the_disabled_protocol(name, protocol, text):
    answer = without_protocol(protocol)
    text = f"\n({EMPTY[name]}: the protocol {text} is disabled)\n"
    assert text in answer.statistics, answer.errors


def test_verdict_names_the_disabled_protocol_below_ipoib():
    answer = without_protocol("infiniband")
    assert shown.report(answer)["summary"]["verdict"] == "unjudged"
    wanted = "Verdict: unjudged: the protocol InfiniBand is disabled\n"
    assert wanted in answer.statistics, answer.errors


# ---- the tree


def branches(text):
    """Branch -> {name: count}; the branch's own count has the name ""."""
    found, branch = {}, None
    for line in text.splitlines():
        m = re.match(r"^( *)(\S.*?)  +(\d+)  ", line)
        if m and not m[1]:
            branch = found.setdefault(m[2], {"": int(m[3])})
        elif m and branch is not None:
            branch[m[2]] = int(m[3])
    return found


def tree(name, way=shown.STATISTICS):
    text = shown.show(testdata(name), way).statistics
    return branches(re.search(r"^IPoIB Packets:\n.*?^-+\n(.*?)^-+$", text, re.M | re.S).group(1))


def test_tree_address_resolution():
    # ARP 41, 44, 98, 99; NS, NA 85, 86, 104, 106; duplicate address detection 18, 31; solicitations
    # 33, 39, 96, 97
    assert tree("connected.pcap")["Address resolution"] == {
        "": 14,
        "ARP request": 2,
        "ARP reply": 2,
        "ND neighbor solicitation": 4,
        "ND neighbor advertisement": 2,
        "ND router solicitation": 4,
    }


def test_tree_communication_management():
    wanted = {"": 10, "REQ": 2, "REP": 2, "RTU": 2, "DREQ": 2, "DREP": 2}
    assert tree("connected.pcap")["Communication management"] == wanted


def test_tree_six_joins_and_six_leaves():
    got = tree("connected.pcap")["Subnet administration"]
    methods = ("Set", "GetResp", "Delete", "DeleteResp")
    wanted = {m + "(MCMemberRecord)": 6 for m in methods}
    assert {k: v for k, v in got.items() if "MCMember" in k} == wanted


def test_tree_message_fragments():
    """Two messages of 40000 bytes in ten packets each."""
    assert tree("connected.pcap")["Mode"].get("connected, RC, part of a message") == 20


@pytest.mark.parametrize("branch, column", [("noted", 2), ("known deviation", 1)])
def test_tree_findings(branch, column):
    wanted = sum(n[column] for n in counted(testdata("connected.pcap")).values())
    assert tree("connected.pcap")["Findings"][branch] == wanted


def test_tree_is_the_same_in_two_passes():
    assert tree("connected.pcap", shown.TWO_PASSES) == tree("connected.pcap")


def test_tree_of_one_frame_by_a_filter():
    only = ["-q", "-z", "ipoib,tree,frame.number == 41"]
    r = tshark(*only, "-r", testdata("connected.pcap"), check=True)
    assert branches(r.stdout)["Type"] == {"": 1, "ARP": 1}


@pytest.mark.parametrize("seconds", [2**46, 2**60, 2**63 - 1])
def test_tree_of_frames_whose_times_are_far_apart(open_path, seconds):
    """Wireshark's own trees (plen,tree) crash from 2**60 seconds on."""
    octets = [f.octets() for f in tape("datagram.pcap").frames[:2]]
    path = open_path / "far.pcapng"
    path.write_bytes(
        capfile.section()
        + capfile.interface(capfile.INFINIBAND, values={9: b"\0"})  # in seconds
        + capfile.packet(0, octets[0])
        + capfile.packet(seconds, octets[1])
        + capfile.packet(1, octets[0])
    )
    assert tshark("-q", "-r", str(path), "-z", "ipoib,tree").returncode == 0


def test_tree_types():
    """IPv4: the second and later fragments carry the encapsulation header too."""
    frames = shown.show(testdata("datagram.pcap")).frames.values()
    types = collections.Counter(v for f in frames for v in shown.values(f, "ipoib.type"))
    names = {"IPv4": "0x0800", "IPv6": "0x86dd", "ARP": "0x0806"}
    got = {k: v for k, v in tree("datagram.pcap")["Type"].items() if k}
    assert got == {k: types[v] for k, v in names.items()}


def test_tree_destinations():
    """One datagram, the first ARP request, goes to the broadcast group."""
    frames = shown.show(testdata("datagram.pcap")).frames.values()
    gids = [shown.values(f, "infiniband.grh.dgid") for f in frames if shown.values(f, "ipoib.type")]
    groups = sum(bool(gid) and gid[0].startswith("ff") for gid in gids)
    got = tree("datagram.pcap")["Destination"]
    assert got["broadcast"] == gids.count(["ff12:401b:ffff::ffff:ffff"]) == 1
    assert (got["multicast"], got["unicast"]) == (groups - 1, len(gids) - groups)


def test_tree_of_a_cooked_capture_has_all_frames():
    assert tree("sll.pcap")["Mode"] == {"": 18, "unknown (no InfiniBand headers)": 18}


# ---- captures without IPoIB


@pytest.fixture(
    params=[
        ("empty", capfile.INFINIBAND, []),
        ("empty-ethernet", capfile.ETHERNET, []),
        # a frame of an experimental Ethertype
        ("no-ipoib", capfile.ETHERNET, [bytes(12) + b"\x88\xb5" + bytes(46)]),
    ],
    ids=lambda p: p[0],
)
def without_ipoib(request, open_path):
    """The path of a capture without IPoIB."""
    name, linktype, frames = request.param
    path = open_path / (name + ".pcap")
    path.write_bytes(capfile.pcap(linktype, capfile.records(frames, time=0)))
    return str(path)


def all_tables(path, way):
    """tshark's output of all statistics at once, and our tables in it."""
    text = shown.show(path, way).statistics
    return text, blocks(text)


@in_each_mode
def test_without_ipoib_tables_say_that_they_are_empty(without_ipoib, way):
    text, found = all_tables(without_ipoib, way)
    assert sorted(found) == sorted("IPoIB " + t.capitalize() for t in TABLES), text
    assert all(rows == [] and rest[0].startswith("(") for rows, rest in found.values()), text


@in_each_mode
def test_without_ipoib_there_is_no_verdict(without_ipoib, way):
    text, found = all_tables(without_ipoib, way)
    _, rest = found["IPoIB Conformance"]
    assert rest[-1] == "Verdict: unjudged: there is no IPoIB in it", text


@in_each_mode
def test_without_ipoib_the_json_verdict_is_not_judged(without_ipoib, way):
    report = conformance_json(without_ipoib, way)
    assert (report["results"], report["summary"]["unjudged"]) == ([], 1)


# ---- arguments


def test_table_and_json_at_once():
    both = ["-z", "ipoib,conformance", "-z", "ipoib,conformance,json"]
    out = tshark("-q", *both, "-r", testdata("connected.pcap")).stdout
    assert "Verdict: conformant" in out and '"tool"' in out and out.count(RULE) == 2, out


@pytest.mark.parametrize(
    "argument",
    ["ipoib,peers,ip", "ipoib,conformance,jsonx", "ipoib,conformance,json,ip", "ipoib,groupsx"],
)
def test_wrong_argument_is_refused(argument):
    r = tshark("-q", "-z", argument, "-r", testdata("connected.pcap"))
    assert r.returncode != 0 and not r.stdout, r.stdout[:200]
    assert "takes no filter" in r.stderr


@pytest.mark.parametrize("name", TABLES + ("conformance,json", "tree"))
def test_help_names_statistic(name):
    listed = asked(None, "-z", "help")
    assert "ipoib," + name in (listed.stdout + listed.stderr).split()


# ---- windows

WINDOWS = [  # in this order, all from one process
    ("peers", "partitions.pcap"),
    ("peers", "connected.pcap"),
    ("connections", "connected.pcap"),
    ("groups", "partitions.pcap"),
    ("peers", "partitions.pcap"),
    ("events", "cm-reject.pcap"),
]


@pytest.fixture(scope="module")
def windows():
    """sharkd's response for each window."""
    requests = []
    for name, path in WINDOWS:
        requests.append(load(testdata(path)))
        requests.append({"method": "tap", "params": {"tap0": "nstat:ipoib," + name}})
    return ask_sharkd(requests)[1::2]


@pytest.mark.parametrize(
    "number",
    range(len(WINDOWS)),
    ids=[f"{n}-{name}-{path}" for n, (name, path) in enumerate(WINDOWS)],
)
def test_window(windows, number):
    """Its rows, without the number in front, are those of the table."""
    name, path = WINDOWS[number]
    rows = windows[number]["result"]["taps"][0]["tables"][0]["i"]
    assert [[str(cell).strip() for cell in row[1:]] for row in rows] == EXPECTED[name][path]


@pytest.mark.parametrize(
    "name, verdict",
    [
        ("connected.pcap", "conformant"),
        (ARP_FAULTS, "violated"),
        ("upstream/rc-last.pcap", "unjudged: there is no IPoIB in it"),
    ],
)
def test_window_of_conformance_starts_with_the_verdict(name, verdict):
    requests = [
        load(testdata(name)),
        {"method": "tap", "params": {"tap0": "nstat:ipoib,conformance"}},
    ]
    window = ask_sharkd(requests)[1]["result"]["taps"][0]["tables"][0]["i"]
    rows, _ = table("conformance", testdata(name))
    in_window = [[*row[:3], row[4], row[9]] for row in rows]  # rule, level, outcome, failed, frames
    assert [[str(cell) for cell in row[1:]] for row in window[1:]] == in_window
    failed = sum(r["count"] for r in report_of(name)["results"] if r["outcome"] == "fail")
    assert window[0][1:] == ["all rules", "", verdict, failed, ""]


def test_window_sorts_frame_numbers_as_numbers(windows):
    """connected.pcap: Wireshark sorts text by its bytes; the DREQs of the connections."""
    rows = windows[2]["result"]["taps"][0]["tables"][0]["i"]
    column = [row[1 + 16] for row in rows]
    assert sorted(column) == sorted(column, key=int) and len(set(map(len, column))) == 1

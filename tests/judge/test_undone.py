# SPDX-License-Identifier: GPL-2.0-or-later
"""A flood must not blind the checker. A table that is full refuses entries: the reports say which
table, from which frame on and how many entries, and the verdict is VIOLATED or NOT JUDGED.

Each capture fills a table at its real limit (lib/model/fabric.h). tests/unit/test_undone.c has the
other tables, with small limits."""
import json
import os
import struct
import subprocess

import pytest

from frames import fabric, ib, messages, variants
from frames.variants import connections, datagrams, forms, links  # they enter their variants
from support import capfile, check
from support.paths import BIN
from support.wireshark import tshark

assert connections and datagrams and links
ADDRESSES = 1 << 18  # limit of ports, of addresses and of queue pairs
INTERFACES = (1 << 16) - 1
LINK_MTU, TYPE, RESERVED = "rfc4391.7.link-mtu", "rfc4391.6.type", "rfc4391.6.reserved-zero"
LONG_AGO = 946684800 * 10**9  # ns: the year 2000
WHY = "the table of ports was full, so violations may not have been found"

# An ARP request of a port, whose numbers flood() replaces. Without CRCs: they are 0.
SENDER = fabric.Node(1, "fe80::2:c903:ff00:0", 0x100, "10.0.0.0", "fe80::1")
REQUEST = fabric.ud_frame(
    SENDER, fabric.BROADCAST_MGID, messages.arp_request(SENDER, "10.255.255.1")
)
LID, GID, PSN, QPN = 6, 8 + 8, 8 + 40 + 9, 8 + 40 + 12 + 5
SHA = 8 + 40 + 12 + 8 + 4 + 8


def flood(n):
    """n ARP requests, each of another port, at the LIDs from 1 on."""
    frame = bytearray(REQUEST.ib()[:-6] + bytes(6))
    for i in range(n):
        gid = struct.pack(">QQ", 0xFE80 << 48, 0x2C9030000000000 + i)
        frame[LID : LID + 2] = struct.pack(">H", 1 + i % 40000)
        frame[GID : GID + 16] = gid
        frame[PSN : PSN + 3] = frame[QPN : QPN + 3] = struct.pack(">I", 0x100 + i)[1:]
        frame[SHA : SHA + 24] = struct.pack(">I16sI", 0x100 + i, gid, 0x0A000000 + i)
        yield capfile.record(LONG_AGO + i * 100000, bytes(frame))


def world(rule, way):
    """A capture from the joins on, with this violation; and the name of the frame that has it."""
    [v] = [v for v in variants.VARIANTS if (v.rule, v.way, v.base) == (rule, way, "default")]
    w = v.world()
    w.begin("A.join.bcast")
    return w, v.at


def conformant():
    w = variants.base("default").copy()
    w.begin("A.join.bcast")
    return w


def write(path, n, w):
    path.write_bytes(capfile.pcap(capfile.INFINIBAND, [*flood(n), *w.records()], nanoseconds=True))
    return str(path)


def report(path, *options):
    done = check.run("--format", "json", *options, str(path))
    document = json.loads(done.stdout)
    assert document["summary"]["exit_status"] == done.returncode
    return document, done.returncode


def tables(document):
    """table -> (frame, refused) of the only capture."""
    [capture] = document["summary"]["captures"]
    assert {u["code"] for u in capture["undone"]} <= {"table-full"}
    return {u["table"]: (u["frame"], u["refused"]) for u in capture["undone"]}


def frames_of(document, rule):
    """The frames that the failures of the rule name."""
    return {
        c["frames"][0]
        for r in document["results"]
        if (r["id"], r["outcome"]) == (rule, "fail")
        for c in r["cases"]
    }


# ---- other ports were seen at the LIDs before


@pytest.mark.parametrize("n", [0, 1000])
def test_other_ports_at_the_same_lids_hide_no_violation(n, tmp_path):
    """The sender of the violation has the LID of one of the thousand."""
    w, at = world(LINK_MTU, "IPv4 unicast")
    document, status = report(write(tmp_path / "a.pcap", n, w))
    assert status == check.VIOLATED and tables(document) == {}
    assert frames_of(document, LINK_MTU) == {n + 1 + w.order.index(at)}


def test_other_ports_at_the_same_lids_make_no_violation(tmp_path):
    document, status = report(write(tmp_path / "a.pcap", 1000, conformant()))
    assert status == check.OK and tables(document) == {}


# ---- more ports, addresses and queue pairs than the tables keep

FLOOD = ADDRESSES + 1000


@pytest.fixture(scope="module")
def flooded(tmp_path_factory):
    """A conformant capture after a flood."""
    return write(tmp_path_factory.mktemp("flood") / "a.pcap", FLOOD, conformant())


def test_flood_makes_a_conformant_capture_not_judged(flooded):
    document, status = report(flooded)
    [capture] = document["summary"]["captures"]
    assert status == check.UNJUDGED
    assert (capture["verdict"], capture["error"]) == ("unjudged", WHY)
    assert capture["rules"]["judged"] > 0 and capture["rules"]["must_violated"] == 0
    found = tables(document)
    assert set(found) == {"ports", "addresses", "queue-pairs"}
    for frame, refused in found.values():
        assert frame == ADDRESSES + 1  # the first that the tables have no room for
        assert FLOOD - ADDRESSES <= refused < FLOOD - ADDRESSES + 200


def test_rules_that_rest_on_absence_give_the_table_as_the_reason(flooded):
    document, _ = report(flooded, "--only", "rfc4391.9.1.1.traffic-to-qpn")
    reasons = [c["actual"] for r in document["results"] for c in r["cases"]]
    assert any(r.startswith("the table of ports is full") for r in reasons), reasons


def test_text_report_says_what_was_left_undone(flooded):
    done = check.run(flooded)
    lines = done.stdout.decode().splitlines()
    at = lines.index("Undone: a table of the checker was full")
    assert f"  the table of queue pairs: full from frame {ADDRESSES + 1} on, " in "\n".join(
        lines[at:]
    )
    assert any("editcap" in line for line in lines[at:])
    lists = [n for n, line in enumerate(lines) if line.startswith(("Noted", "Inconclusive: "))]
    assert lists and at < min(lists)
    assert "NOT JUDGED" in lines[-1] and WHY in lines[-1]


def test_junit_and_tap_say_that_it_was_not_judged(flooded):
    junit = check.run("--format", "junit", flooded).stdout.decode()
    tap = check.run("--format", "tap", flooded).stdout.decode()
    assert f'<error message="{WHY}"' in junit
    assert tap.splitlines()[2].startswith("not ok 1 - ") and WHY in tap


def test_merged_report_keeps_what_was_left_undone(flooded, tmp_path):
    alone, merged = tmp_path / "alone.json", tmp_path / "merged.json"
    check.run("--format", "json", "-o", str(alone), flooded)
    for source, target in ((alone, merged), (merged, tmp_path / "twice.json")):
        done = check.run("--merge", "--format", "json", "-o", str(target), str(source))
        assert done.returncode == check.UNJUDGED, done.err
        before, after = (json.loads(p.read_text()) for p in (source, target))
        assert tables(after) == tables(before) != {}
        assert after["summary"]["captures"][0]["verdict"] == "unjudged"


@pytest.mark.parametrize(
    "undone",
    [[{"table": "ports"}], [{"code": "table-full", "table": "x", "frame": 1, "refused": 1}]],
)
def test_malformed_list_is_no_report(undone, tmp_path):
    path = tmp_path / "a.json"
    document, _ = report(check.DATAGRAM)
    document["summary"]["captures"][0]["undone"] = undone
    path.write_text(json.dumps(document))
    assert "what was left undone" in check.run("--merge", str(path)).err


def test_baseline_does_not_make_it_judged(flooded, tmp_path):
    path = tmp_path / "baseline.json"
    check.run("--format", "json", "-o", str(path), flooded)
    document, status = report(flooded, "--baseline", str(path))
    assert status == check.UNJUDGED and set(tables(document)) == {
        "ports",
        "addresses",
        "queue-pairs",
    }


def test_rules_of_a_single_packet_need_no_table(tmp_path):
    """The datagram is recognised by its keys only: its Type is no Ethertype."""
    w, at = world(TYPE, "IPv4 unicast, 0x0005")
    path = write(tmp_path / "a.pcap", FLOOD, w)
    document, status = report(path)
    assert status == check.VIOLATED and "ports" in tables(document)
    assert frames_of(document, TYPE) == {FLOOD + 1 + w.order.index(at)}
    last = check.run(path).stdout.decode().splitlines()[-1]
    assert "VIOLATED" in last and last.endswith(WHY)


# ---- every other table at its limit

# kind of tests/hostile.c -> entries that it needs, table that they fill
KINDS = {
    "groups-sent-to": (70000, "groups"),
    "members": (280000, "members"),
    "address-with-many-ips": (270000, "addresses"),
    "qps": (270000, "queue-pairs"),
    "connections": (140000, "connections"),
    "messages-far-apart": (270000, "messages"),
    "messages-with-gaps": (1000, "message-gaps"),
    "ports": (140000, "routes"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_full_table_is_reported(kind, tmp_path):
    entries, table = KINDS[kind]
    path = tmp_path / "a.pcap"
    with open(path, "wb") as f:
        subprocess.run([os.path.join(BIN, "hostile"), kind, str(entries)], stdout=f, check=True)
    document, status = report(path)
    found = tables(document)
    assert table in found, found
    assert status == check.UNJUDGED
    for frame, refused in found.values():
        assert 1 < frame < document["summary"]["captures"][0]["frames"] and refused > 0


def test_packets_of_too_many_interfaces_are_judged(tmp_path):
    """The first frame of each interface is counted; the last one has a violation."""
    w, at = world(RESERVED, "IPv4 broadcast")
    frames = [capfile.Frame(*r, interface=i) for i, r in enumerate(flood(INTERFACES + 1))]
    time, data, wire = w.records()[w.order.index(at)]
    frames.append(capfile.Frame(time, data, wire, interface=INTERFACES))
    path = tmp_path / "a.pcapng"
    path.write_bytes(capfile.pcapng([capfile.INFINIBAND] * (INTERFACES + 1), frames))
    document, status = report(path)
    assert status == check.VIOLATED and tables(document)["interfaces"] == (INTERFACES + 1, 2)
    assert frames_of(document, RESERVED) == {INTERFACES + 2}


# ---- the plugin


def test_plugin_says_what_was_left_undone(flooded):
    done = tshark("-q", "-z", "ipoib,conformance", "-r", flooded)
    assert f"the table of queue pairs: full from frame {ADDRESSES + 1} on" in done.stdout
    assert f"Verdict: unjudged: {WHY}" in done.stdout
    document = json.loads(tshark("-q", "-z", "ipoib,conformance,json", "-r", flooded).stdout)
    assert tables(document) == tables(report(flooded)[0])
    assert document["summary"]["exit_status"] == check.UNJUDGED


def test_plugin_says_that_it_does_not_show_all_findings(tmp_path):
    """More findings than it stores: datagrams whose Reserved field is not 0."""
    stored = 100000
    w, at = world(RESERVED, "IPv4 broadcast")
    time, data, _ = w.records()[w.order.index(at)]
    frame, records = bytearray(data[:-6] + bytes(6)), []
    for i in range(stored + 10):
        frame[PSN : PSN + 3] = i.to_bytes(3, "big")
        records.append(capfile.record(time + i, bytes(frame)))
    path = tmp_path / "a.pcap"
    path.write_bytes(capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    out = tshark("-q", "-z", "ipoib,conformance", "-r", str(path)).stdout
    assert "the table of findings that the plugin shows: full from frame " in out
    assert "packets from there on show none; the statistics count all" in out
    document = json.loads(tshark("-q", "-z", "ipoib,conformance,json", "-r", str(path)).stdout)
    assert set(tables(document)) == {"shown-findings"}
    assert document["summary"]["verdict"] == "violated"

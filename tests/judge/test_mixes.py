# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures that the benchmarks use (frames/mixes.py) are conformant and complete, and repeat no
packet."""
import collections
import hashlib

import pytest

from frames import edit, mixes
from support import capfile, check
from support.wireshark import matches, tshark

FRAMES, HOSTS = 4000, 16
ACKNOWLEDGE = 0x11  # operation code (IBA table 38)
WARNING = "0x600000"  # Wireshark's severity
# Display filters: each mix must have frames of each.
CONTENTS = {
    "datagrams": [
        "arp.opcode == 1",
        "arp.opcode == 2",
        "ip && udp",
        "ipv6 && udp",
        "ip.fragment.count == 4",
    ]
    + ["icmp.type == 0", "icmpv6.type == 129"],
    "connected": [f"infiniband.bth.opcode == {n}" for n in (0, 1, 2, 4, 17)]
    + [
        f"infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == {n}"
        for n in (0x10, 0x13, 0x14, 0x15, 0x16)
    ],
    "management": [
        f"infiniband.mad.mgmtclass == 7 && infiniband.mad.attributeid == {n}"
        for n in (0x10, 0x13, 0x14, 0x15, 0x16)
    ]
    + [
        "infiniband.mad.mgmtclass == 0x81",
        "igmp",
        "arp",
        "icmpv6.type == 135",
        "icmpv6.type == 136",
    ]
    + [f"infiniband.mad.mgmtclass == 3 && infiniband.mad.method == {m}" for m in (1, 2, 0x15)],
}


@pytest.fixture(scope="module", params=list(mixes.MIXES))
def mix(request, tmp_path_factory):
    """(name, path, bytes of messages of several packets)"""
    folder = tmp_path_factory.mktemp("mix")
    folder.chmod(0o755)
    path = str(folder / (request.param + ".pcap"))
    return request.param, path, mixes.write(request.param, FRAMES, path, HOSTS)


def packets(path):
    return [edit.Packet(octets) for octets in capfile.read(path).infiniband()]


def test_same_arguments_same_file(mix, tmp_path):
    name, path, _ = mix
    mixes.write(name, FRAMES, tmp_path / "again", HOSTS)
    digests = [hashlib.sha256(capfile.load(p)).digest() for p in (path, tmp_path / "again")]
    assert digests[0] == digests[1]


def test_crcs_lengths_and_checksums_are_right(mix):
    """Some frames, checked with the code that makes the fixtures, which computes each CRC from all
    bytes."""
    for octets in capfile.read(mix[1]).infiniband()[::61]:
        p = edit.Packet(octets)
        assert p.octets() == octets


def test_tshark_sees_nothing_malformed(mix):
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    bad = f"_ws.malformed || _ws.expert.severity >= {WARNING}"
    run = tshark("-r", mix[1], *checks, "-Y", bad, "-T", "fields", "-e", "_ws.expert.message")
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""


def test_no_violation(mix):
    report = check.expect(check.OK, mix[1])
    assert f"{mix[1]}: " in report and "rules judged, no violation: " in report


def test_mix_has_what_it_is_named_after(mix):
    found = matches(mix[1], CONTENTS[mix[0]])
    assert [wanted for wanted, frames in found.items() if not frames] == []


def test_psns_count_up(mix):
    """Each queue pair numbers its packets without gap and repetition (IBA 9.7.2, 9.8.2)."""
    last = {}
    for p in packets(mix[1]):
        if p["opcode"] == ACKNOWLEDGE or (p.deth and p["srcqp"] == 0):
            continue  # the PSN is that of another packet (IBA 9.7.5); a directed route does not name the sender
        queue = (p["slid"], p["srcqp"]) if p.deth else (p["slid"], p["dlid"], p["destqp"])
        assert p["psn"] == last.get(queue, p["psn"] - 1) + 1 & 0xFFFFFF, queue
        last[queue] = p["psn"]
    assert len(last) > HOSTS


def test_transaction_ids_are_fresh(mix):
    """Only a request, its response and, in the CM, the end of the three-way handshake share an
    ID."""
    seen = collections.Counter()
    for p in packets(mix[1]):
        if p.deth and p["srcqp"] <= 1:
            seen[p["mad.class"], p["mad.tid"]] += 1
    assert seen
    assert all(n <= (3 if kind == 7 else 2) for (kind, _), n in seen.items())


def test_no_frame_is_repeated(mix):
    frames = capfile.read(mix[1]).infiniband()
    assert len(frames) == FRAMES == len(set(frames))


def test_messages_of_several_packets_are_reassembled(mix):
    name, path, expected = mix
    run = tshark("-r", path, "-T", "fields", "-e", "ipoib.reassembled.length")
    assert run.returncode == 0, run.stderr
    reassembled = sum(int(n) for n in run.stdout.split())
    assert (reassembled > 0) == (name == "connected")
    # the last messages may not end in the file: at most one in each of two directions of each pair
    assert expected - 2 * mixes.ACTIVE * 40032 <= reassembled <= expected

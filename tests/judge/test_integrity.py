# SPDX-License-Identifier: GPL-2.0-or-later
"""The meaning of a wrong ICRC: the packet is corrupt if its source has sent a right ICRC before. It
means nothing if all ICRCs of the source are wrong, as those of simulators and of rewritten captures
are.

IBA 7.8: a receiver drops a packet whose ICRC is wrong, so its contents cannot be attributed to the
sender. A source is a sending port: its GID if the packet has a GRH, else its LID; the sender
computes the ICRC, and no switch or router does (IBA 7.8.1)."""
import glob
import json
import os
import random
import re
import struct

import pytest

from frames import edit, ib
from frames.faults import fixture  # faults fills the tables of fixture
from support import capfile, check, findings
from support.paths import TESTDATA, testdata
from support.wireshark import tshark

LNH_GRH = 3
LRH_SLID, LRH, GRH = 6, 8, 40
TYPE, RESERVED = 8 + 12 + 8, "rfc4391.6.reserved-zero"  # offset of the Type in a packet without GRH
COUNTED = ("fail", "deviation")
TRIES = 64  # number of ICRCs of a source that are checked while none is right

REWRITINGS = {
    "zero": lambda n, icrc: bytes(4),
    "junk": lambda n, icrc: random.Random(n).randbytes(4),
    "inverted": lambda n, icrc: bytes(b ^ 0xFF for b in icrc),
}
each_rewriting = pytest.mark.parametrize("how", REWRITINGS)


def records(capture):
    return [(f.time, f.data, f.wire) for f in capfile.parse(capture).frames]


def of(name):
    return records(capfile.load(testdata(name)))


def pcap(frames):
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


def with_icrc(n, frame, how):
    time, data, wire = frame
    return time, data[:-6] + REWRITINGS[how](n, data[-6:-2]) + data[-2:], wire


def rewritten(frames, how, chosen=lambda n, data: True):
    """The capture with other ICRCs in the chosen frames; n counts from 1."""
    return pcap([with_icrc(n, f, how) if chosen(n, f[1]) else f for n, f in enumerate(frames, 1)])


def violations(capture):
    """(frame, rule, outcome, expected value, actual value, entity)"""
    found = findings.frames(capture, "--deviations", "none")
    return [
        f._replace(text=re.sub(r" in frame \d+", "", f.text)) for f in found if f.outcome in COUNTED
    ]


def without_frames(found):
    return sorted(f[1:] for f in found)


def slid(data):
    return struct.unpack_from(">H", data, LRH_SLID)[0]


def has_grh(data):
    return data[1] & 3 == LNH_GRH


# ---- all ICRCs of a capture are wrong


FAULTS = [f for f in fixture.FIXTURES if f.kind == fixture.FAIL]
FAULT_IDS = [f.rule + f.variant for f in FAULTS]
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=FAULT_IDS)


def made(fault):
    """(its frames, the number of the frame that carries the finding)"""
    tape, at = fixture.make_capture(fault)
    return records(tape.pcap()), at


@each_fault
def test_violation_is_found_whatever_the_icrcs_are(fault):
    frames, _ = made(fault)
    right = violations(pcap(frames))
    assert fault.rule in {f.rule for f in right}
    assert {how: violations(rewritten(frames, how)) for how in REWRITINGS} == dict.fromkeys(
        REWRITINGS, right
    )


REAL = [
    path
    for path in sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))
    + sorted(glob.glob(os.path.join(TESTDATA, "built", "*.pcap")))
    if capfile.read(path).linktype == capfile.INFINIBAND
]


@pytest.mark.parametrize("path", REAL, ids=map(os.path.basename, REAL))
def test_capture_shows_the_same_whatever_its_icrcs_are(path):
    frames = [f for f in records(capfile.load(path)) if f[2] == len(f[1]) >= LRH + 12 + 6]
    right = violations(pcap(frames))
    assert {how: violations(rewritten(frames, how)) for how in REWRITINGS} == dict.fromkeys(
        REWRITINGS, right
    )


# ---- a corrupt packet among right ones


def masked(data):
    """The bits (byte, bit) that the ICRC does not protect (IBA 7.8.1), and those that say where the
    ICRC is."""
    bits = {(4, b) for b in range(3)} | {(5, b) for b in range(8)}  # the LRH's length
    if not has_grh(data):
        return bits | {(0, b) for b in range(4, 8)} | {(LRH + 4, b) for b in range(8)}
    bits |= {(at, b) for at in range(LRH) for b in range(8)}
    bits |= {(LRH, b) for b in range(4)}
    bits |= {(LRH + at, b) for at in (1, 2, 3, 7, GRH + 4) for b in range(8)}
    return bits


def flips(data):
    """Copies of the packet, each with one bit inverted that the ICRC protects."""
    spared = masked(data)
    for at in range(len(data) - 6):
        for bit in range(8):
            if (at, bit) not in spared:
                yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def inserted(frames, number, packets):
    """The capture with more packets after frame number."""
    time = frames[number - 1][0] if number else frames[0][0] - 1
    more = [(time, data, len(data)) for data in packets]
    return frames[:number] + more + frames[number:]


# an ARP request, which is multicast with a GRH; the reply; an SA path query; a neighbour
# solicitation; an echo request
@pytest.mark.parametrize("number", [19, 20, 41, 44, 45, 59])
def test_packet_with_any_bit_wrong_adds_and_removes_nothing(number):
    """This includes the bits that name the sending port: then the fault names a sender that does
    not exist."""
    frames = of("datagram.pcap")
    copies = list(flips(frames[number - 1][1]))
    assert len(copies) > 400
    found = violations(pcap(inserted(frames, number, copies)))
    assert without_frames(found) == without_frames(violations(pcap(frames)))


@each_fault
def test_corrupt_copy_of_a_violating_packet_adds_and_removes_nothing(fault):
    """The copy is after its frame, so its source has sent a right ICRC; or before it, where its
    source is known."""
    frames, at = made(fault)
    right = violations(pcap(frames))
    data = frames[at - 1][1]
    corrupt = data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]
    places = [at] + [at - 1] * any(slid(d) == slid(data) for _, d, _ in frames[: at - 1])
    for place in places:
        found = violations(pcap(inserted(frames, place, [corrupt])))
        assert without_frames(found) == without_frames(right)
        assert place + 1 not in {f.frame for f in found}


def flipped_at_random(data, rng):
    """The packet with one bit inverted that the ICRC protects."""
    spared = masked(data)
    while True:
        at, bit = rng.randrange(len(data) - 6), rng.randrange(8)
        if (at, bit) not in spared:
            return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


CONFORMANT = [path for path in REAL if os.path.dirname(path) == TESTDATA]


@pytest.mark.parametrize("path", CONFORMANT, ids=map(os.path.basename, CONFORMANT))
def test_randomly_corrupted_packets_raise_no_violation(path):
    """One packet of 20 counts as lost; tests/judge/test_partial.py loses them."""
    frames = records(capfile.load(path))
    allowed = {rule for _, rule in findings.failures(path, "--deviations", "linux")}
    for seed in range(4):
        rng, hit = random.Random(seed), frames[:1]
        for time, data, wire in frames[1:]:
            hit.append((time, flipped_at_random(data, rng) if rng.random() < 0.05 else data, wire))
        failed = findings.failures(pcap(hit), "--deviations", "linux")
        assert not [f for f in failed if f[1] not in allowed], seed


# ---- sources that differ


def with_reserved(frames, number):
    """datagram.pcap with a Reserved field that is not 0 in a packet without GRH; its ICRC stays
    unchanged."""
    time, data, wire = frames[number - 1]
    assert not has_grh(data)
    frames = list(frames)
    frames[number - 1] = time, data[: TYPE + 2] + b"\x12\x34" + data[TYPE + 4 :], wire
    return frames


def reserved_fails(capture):
    return [f.frame for f in violations(capture) if f.rule == RESERVED]


N0, N1 = 1, 2  # LIDs
FROM_N1, FROM_N0 = 45, 46  # an echo request and its reply


def test_the_frames_are_of_the_two_ports():
    frames = of("datagram.pcap")
    assert (slid(frames[FROM_N1 - 1][1]), slid(frames[FROM_N0 - 1][1])) in [(N1, N0), (N0, N1)]


@each_rewriting
@pytest.mark.parametrize("number", [FROM_N1, FROM_N0])
def test_source_with_wrong_icrcs_is_checked_despite_one_with_right_ones(how, number):
    frames = with_reserved(of("datagram.pcap"), number)
    sender = slid(frames[number - 1][1])
    capture = rewritten(frames, how, lambda n, data: slid(data) == sender)
    assert reserved_fails(capture) == [number]


@pytest.mark.parametrize("number", [FROM_N1, FROM_N0])
def test_corrupt_packet_of_a_source_with_right_icrcs_is_not_checked(number):
    """The other port's ICRCs are all wrong; this port's are right, except in this packet."""
    frames = with_reserved(of("datagram.pcap"), number)
    sender = slid(frames[number - 1][1])
    capture = rewritten(frames, "junk", lambda n, data: slid(data) != sender)
    assert reserved_fails(capture) == []


def of_echoes(n):
    """n copies of the first echo request of datagram.pcap."""
    time, data, wire = of("datagram.pcap")[FROM_N1 - 1]
    return [(time + k, data, wire) for k in range(n)]


def test_corrupt_first_packet_of_a_capture_is_checked():
    """No packet before it shows that ICRCs are computed here: it may come from a simulator."""
    assert reserved_fails(pcap(with_reserved(of_echoes(5), 1))) == [1]
    assert reserved_fails(pcap(with_reserved(of_echoes(5), 2))) == []


def from_lid(frame, lid, right=True):
    """The packet as another port sends it, or (right None) with its ICRC unchanged."""
    packet = edit.Packet(frame[1])
    packet["slid"] = lid
    data = packet.octets()
    if right is None:
        return frame[0], data[:-6] + frame[1][-6:], frame[2]
    if not right:
        data = data[:-6] + bytes(b ^ 0xFF for b in data[-6:-2]) + data[-2:]
    return frame[0], data, frame[2]


def test_corrupt_first_packet_of_a_port_is_not_checked_if_other_icrcs_are_right():
    """A wrong bit in the SLID names a port that sent nothing else: one packet does not make a
    source."""
    echoes = of_echoes(6)
    frames = echoes[:3] + [from_lid(f, 77) for f in echoes[3:]]
    assert reserved_fails(pcap(with_reserved(frames, 4))) == []


def test_second_corrupt_packet_of_a_port_without_right_icrcs_is_checked():
    echoes = of_echoes(6)
    frames = echoes[:3] + [from_lid(f, 77, right=False) for f in echoes[3:]]
    assert reserved_fails(pcap(with_reserved(frames, 4))) == []
    assert reserved_fails(pcap(with_reserved(frames, 5))) == [5]


@pytest.mark.parametrize("wrong, expected", [(TRIES - 1, []), (TRIES, [TRIES + 2])])
def test_source_is_given_up_after_a_number_of_wrong_icrcs(wrong, expected):
    """A right ICRC shows that the source computes ICRCs, but only among the first that are
    checked."""
    echoes = of_echoes(wrong + 2)
    frames = [with_icrc(n, f, "inverted") for n, f in enumerate(echoes[:wrong])] + echoes[wrong:]
    assert reserved_fails(pcap(with_reserved(frames, wrong + 2))) == expected


def test_sender_is_the_port_with_and_without_a_grh(tmp_path):
    """The ICRCs of n1's MADs, without a GRH, are right; those of all its IPoIB packets are wrong, of
    which the multicasts have a GRH. Each of them is corrupt."""
    frames, path = of("datagram.pcap"), tmp_path / "wrong.pcap"

    def is_ipoib(data):
        deth = LRH + GRH * has_grh(data) + 12
        return slid(data) == N1 and int.from_bytes(data[deth + 5 : deth + 8], "big") > 1

    chosen = [data for _, data, _ in frames if is_ipoib(data)]
    assert {has_grh(data) for data in chosen} == {True, False}
    path.write_bytes(rewritten(frames, "inverted", lambda n, data: is_ipoib(data)))
    not_seen = check.run(str(path)).stdout.decode().split("\n\n", 1)[0].replace("\n", " ")
    assert f"{len(chosen)} packets corrupt" in not_seen and "right CRC" not in not_seen


def routed(frame, right):
    """The packet as a router forwards it: its own SLID, the SGID of the sender in another
    subnet."""
    packet = edit.Packet(frame[1])
    packet.add_grh(ib.gid("fec0:0:0:7::99"), ib.gid("fec0:0:0:8::1"))
    packet["reserved"] = 0x1234
    data = packet.octets()
    if not right:
        data = data[:-6] + bytes(b ^ 0xFF for b in data[-6:-2]) + data[-2:]
    return frame[0], data, len(data)


def test_router_does_not_compute_the_icrcs_of_forwarded_packets():
    """The router's own ICRCs are right, those of the sender beyond it are all wrong: the sender's
    packets are checked. If these are right too, the sender's corrupt packet is not checked,
    whatever router forwarded it."""
    echoes = of_echoes(7)
    wrong = echoes[:4] + [routed(f, False) for f in echoes[4:]]
    assert RESERVED in {f.rule for f in violations(pcap(wrong))}
    one = [routed(echoes[0], True), from_lid(routed(echoes[1], False), 78, None)]
    assert reserved_fails(pcap([one[0]])) == [1]
    assert reserved_fails(pcap(one)) == [1]


def test_interface_of_a_capture_has_sources_of_its_own(tmp_path):
    """The same port on two interfaces: right ICRCs on one do not matter for the other, which may be
    another capture's."""
    frames = of_echoes(6)
    wrong = [with_icrc(n, f, "inverted") for n, f in enumerate(with_reserved(frames, 4)[3:])]

    def reserved(*interfaces):
        mixed = [
            capfile.Frame(time, data, wire, number)
            for (time, data, wire), number in zip(frames[:3] + wrong, interfaces)
        ]
        path = tmp_path / "two.pcapng"
        path.write_bytes(capfile.pcapng([capfile.INFINIBAND] * 2, mixed))
        results = json.loads(check.run("--format", "json", str(path)).stdout)["results"]
        return sum(r["count"] for r in results if (r["id"], r["outcome"]) == (RESERVED, "fail"))

    assert reserved(0, 0, 0, 1, 1, 1) == 1
    assert reserved(0, 0, 0, 0, 0, 0) == 0


def test_packets_of_other_protocols_show_that_a_source_computes_icrcs():
    """No rule checks the PSNs of a foreign queue pair: the result must not depend on which packets
    a rule checks."""
    first = of_echoes(2)
    time, data, wire = first[0]
    data = data[:8] + b"\x04" + data[9:]  # an RC SEND Only of an unknown connection
    data = data[:-6]
    data += ib.icrc(data[:8], b"", data[8:]) + b"\0\0"
    frames = [(time, data, wire), first[1]]
    assert reserved_fails(pcap(with_reserved(frames, 2))) == []


# ---- fields that the ICRC does not protect: the VCRC does (IBA 7.8.2)

VCRC = 2  # bytes
SHOWN = 2  # number of right VCRCs that show that a source computes VCRCs


def variant_flips(data):
    """Copies of the packet, each with one bit inverted that only the VCRC protects, except the
    length's, which says where the CRCs are."""
    length = {(4, b) for b in range(8)} | {(5, b) for b in range(8)}
    for at, bit in sorted(masked(data) - length):
        yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def with_vcrc(n, frame, how):
    time, data, wire = frame
    return time, data[:-VCRC] + REWRITINGS[how](n, bytes(2) + data[-VCRC:])[-VCRC:], wire


def vcrc_is_right(data):
    return ib.crc16_100b(data[:-VCRC]) == int.from_bytes(data[-VCRC:], "little")


def test_the_vcrcs_of_testdata_are_right():
    assert all(vcrc_is_right(data) for _, data, _ in of("datagram.pcap"))


@pytest.mark.parametrize("number", [19, 20, 41, 44, 45, 59])
def test_packet_with_any_variant_bit_wrong_adds_and_removes_nothing(number):
    """Its ICRC is still right. VL, SL, DLID, SLID; traffic class, flow label, hop limit; the BTH's
    reserved bits."""
    frames = of("datagram.pcap")
    copies = list(variant_flips(frames[number - 1][1]))
    assert len(copies) >= (60 if has_grh(frames[number - 1][1]) else 12)
    found = violations(pcap(inserted(frames, number, copies)))
    assert without_frames(found) == without_frames(violations(pcap(frames)))


@pytest.mark.parametrize("number", [19, 20, 41, 44, 45, 59])
def test_length_with_any_bit_wrong_adds_nothing(number):
    """The CRCs are not where the length says. The packet counts as lost, so it may remove findings
    that need a complete capture."""
    frames = of("datagram.pcap")
    data = frames[number - 1][1]
    copies = [
        data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        for at in (4, 5)
        for bit in range(8)
    ]
    found = violations(pcap(inserted(frames, number, copies)))
    assert not [
        f for f in without_frames(found) if f not in without_frames(violations(pcap(frames)))
    ]


@pytest.mark.parametrize("path", CONFORMANT, ids=map(os.path.basename, CONFORMANT))
def test_randomly_corrupted_variant_fields_raise_no_violation(path):
    frames = records(capfile.load(path))
    allowed = {rule for _, rule in findings.failures(path, "--deviations", "linux")}
    for seed in range(4):
        rng, hit, seen = random.Random(seed), [], {}
        for time, data, wire in frames:
            sender = data[LRH + 8 : LRH + 24] if has_grh(data) else slid(data)
            seen[sender] = seen.get(sender, 0) + 1
            whole = wire == len(data) > LRH + 12
            if whole and seen[sender] > SHOWN and rng.random() < 0.05:
                data = rng.choice(list(variant_flips(data)))
            hit.append((time, data, wire))
        failed = findings.failures(pcap(hit), "--deviations", "linux")
        assert not [f for f in failed if f[1] not in allowed], seed


@each_fault
def test_violation_is_found_whatever_the_vcrcs_are(fault):
    """Simulators, ERF without VCRC, rewritten captures."""
    frames, _ = made(fault)
    right = violations(pcap(frames))
    for how in REWRITINGS:
        rewritten_vcrcs = [with_vcrc(n, f, how) for n, f in enumerate(frames, 1)]
        assert violations(pcap(rewritten_vcrcs)) == right, how
    without_vcrc = [(time, data[:-VCRC], wire - VCRC) for time, data, wire in frames]
    assert violations(pcap(without_vcrc)) == right


@pytest.mark.parametrize("right", range(SHOWN + 2))
def test_a_vcrc_counts_where_its_source_has_shown_right_ones(right):
    """One right VCRC may be chance, where random bytes are in its place: 64 are checked, and each
    is right once in 65,536."""
    echoes = of_echoes(right + 1)
    time, data, wire = echoes[-1]
    packet = edit.Packet(data)
    packet["reserved"] = 0x1234
    wrong = (time, packet.octets()[:-VCRC] + b"\x5a\xa5", wire)
    assert reserved_fails(pcap([*echoes[:-1], wrong])) == ([] if right >= SHOWN else [right + 1])


def test_source_without_right_vcrcs_is_checked_despite_one_with_right_ones():
    """A merged capture: only the VCRCs of one of the sources are right."""
    frames = of("datagram.pcap")
    time, data, wire = frames[FROM_N1 - 1]
    packet = edit.Packet(data)
    packet["reserved"] = 0x1234
    frames[FROM_N1 - 1] = time, packet.octets(), wire
    sender = slid(data)
    assert reserved_fails(pcap(frames)) == [FROM_N1]
    capture = [
        with_vcrc(n, f, "junk") if slid(f[1]) == sender else f for n, f in enumerate(frames, 1)
    ]
    assert reserved_fails(pcap(capture)) == [FROM_N1]


# ---- the plugin and ipoib-check


SAMPLE = [
    "rfc4391.6.reserved-zero",
    "rfc4755.3.5.service-id",
    "rfc4391.9.1.1.traffic-to-qpn",
    "rfc4391.10.join-before-send",
]


def sample():
    """Captures: faults with all ICRCs rewritten, and with one source's ICRCs rewritten."""
    chosen = [next(f for f in FAULTS if f.rule == rule) for rule in SAMPLE]
    for fault, how in zip(chosen, ["zero", "junk", "inverted", "junk"]):
        frames, at = made(fault)
        yield f"{fault.rule}-{how}", rewritten(frames, how)
    sender = slid(frames[at - 1][1])
    yield "one-source", rewritten(frames, "junk", lambda n, data: slid(data) == sender)
    corrupt = inserted(frames, at, list(flips(frames[at - 1][1]))[:100])
    yield "corrupt", pcap(corrupt)


@pytest.mark.parametrize("name, capture", sample(), ids=[name for name, _ in sample()])
def test_plugin_and_ipoib_check_agree(name, capture, tmp_path):
    path = str(tmp_path / "capture.pcap")
    with open(path, "wb") as f:
        f.write(capture)
    wanted = ["-T", "fields", "-e", "frame.number", "-e", "ipoib.rule.id"]
    options = ["-o", "ipoib.deviations:none", "-Y", "ipoib.rule.id"]
    shown = [
        (int(number), rule)
        for number, rules in (
            row.split("\t") for row in tshark("-r", path, *options, *wanted).stdout.splitlines()
        )
        for rule in rules.split(",")
    ]
    assert shown == [(f.frame, f.rule) for f in violations(capture)]
    report = check.run("--format", "json", "--deviations", "none", path)
    results = json.loads(report.stdout)["results"]
    counted = {r["id"]: r["count"] for r in results if r["outcome"] == "fail"}
    assert counted == {rule: [r for _, r in shown].count(rule) for _, rule in shown}


@each_rewriting
def test_ipoib_check_fails_a_violating_capture_whatever_its_icrcs_are(how, tmp_path):
    path = str(tmp_path / "capture.pcap")
    fault = next(f for f in FAULTS if f.rule == RESERVED)
    with open(path, "wb") as f:
        f.write(rewritten(made(fault)[0], how))
    assert check.run(path).returncode == check.VIOLATED

# SPDX-License-Identifier: GPL-2.0-or-later
"""A connection whose set-up was not captured is recognised by its flow: three messages that look like
IPoIB, with consecutive PSNs. What follows on it is IPoIB's, whatever it contains, and a violation
there is suspected; so is one after the end of a connection. Then what must not be taken for it: other
programs that use the queue pair afterwards, or another one. On a flow that is not recognised, a
message whose header has one wrong field is inconclusive."""
import json

import pytest

from frames import ib
from frames.connection import Link
from frames.events import number
from frames.ib import FIRST, LAST, ONLY, ONLY_IMM, WRITE_ONLY, encap
from frames.messages import udp4
from frames.suspected import late
from support import check, recall

TYPE, RESERVED, HEADER = (
    "rfc4755.4.type",
    "rfc4391.6.reserved-zero",
    "rfc4755.4.encapsulation-header",
)
OVER_UD = "rfc4755.7.resolution-over-ud"
UNLESS = (
    "unless the queue pair is not that of the earlier IPoIB packets any more: the set-up of the "
    "connection was not captured"
)
RECOGNISED = 3
RETH = bytes(16)


class Flow:
    """Packets from a to b on a connection whose set-up was not captured."""

    def __init__(self, good=RECOGNISED, psn=0x1000):
        self.s, self.a, self.b, _ = late()
        self.link, self.psn = Link(self.s, self.a, self.b), psn
        for _ in range(good):
            self.datagram()

    def put(self, op, payload, ext=b"", skip=0):
        self.psn += 1 + skip
        self.s.wait(0.01)
        self.link.packet(True, op, payload, self.psn, ext=ext)
        return number(self.s)

    def datagram(self, reserved=0, skip=0):
        of = udp4(self.a, self.b.ip, b"1234")
        return self.put(ONLY, of[:2] + ib.u16(reserved) + of[4:], skip=skip)

    def message(self, header=b"\x08\0\0\0", skip=0):
        """A datagram in two packets; the First has this header. Returns the number of the First."""
        message = header + udp4(self.a, self.b.ip, bytes(3000))[4:]
        frame = self.put(FIRST, message[:2048], skip=skip)
        self.put(LAST, message[2048:])
        return frame

    def other(self):
        """A message of another program: an RPC header, as NFS has it."""
        return self.put(ONLY, bytes(range(1, 65)))

    def answered(self):
        """b acknowledges the last packet."""
        self.link.ack(True, self.psn)

    def found(self, tmp_path):
        path = tmp_path / "capture.pcap"
        path.write_bytes(self.s.pcap())
        return check.suspicions(path)

    def results(self, tmp_path, outcome):
        """[(rule, first frame)]"""
        path = tmp_path / "capture.pcap"
        path.write_bytes(self.s.pcap())
        report = json.loads(check.run("--format", "json", str(path)).stdout)
        rules = (TYPE, RESERVED, HEADER)
        of = [r for r in report["results"] if r["id"] in rules and r["outcome"] == outcome]
        return [(r["id"], c["frames"][0]) for r in of for c in r["cases"]]


def suspected(rule, frame, expected, actual):
    return [(rule, frame, "flow 1", expected, actual, UNLESS)]


def test_a_reserved_field_that_is_not_zero(tmp_path):
    f = Flow()
    frame = f.datagram(reserved=0x12)
    assert f.found(tmp_path) == suspected(RESERVED, frame, "0x0000", "0x0012")


def test_the_texts_name_the_first_frame_of_the_flow(tmp_path):
    """It has no other value."""
    f, path, out = Flow(), tmp_path / "capture.pcap", tmp_path / "out.pcapng"
    frame = f.datagram(reserved=0x12)
    path.write_bytes(f.s.pcap())
    text = check.run("--annotate", str(out), str(path)).stdout.decode()
    words = "; its flow is IPoIB's since frame 1"
    assert f"frame {frame}{words}" in text and "other value" not in text
    assert words.encode() in out.read_bytes()
    tap = check.run("--format", "tap", str(path)).stdout.decode()
    assert "      flow_frame: 1\n" in tap and "other_frame" not in tap


def test_merged_reports_keep_the_flow(tmp_path):
    f, path, report = Flow(), tmp_path / "capture.pcap", tmp_path / "a.json"
    f.datagram(reserved=0x12)
    path.write_bytes(f.s.pcap())
    check.run("--format", "json", "-o", str(report), str(path))
    merged = json.loads(check.run("--merge", "--format", "json", str(report)).stdout)
    [case] = [c for r in merged["results"] if r["outcome"] == "suspected" for c in r["cases"]]
    assert case["flow_frame"] == 1 and "other_frame" not in case


def test_a_datagram_without_the_encapsulation_header(tmp_path):
    f = Flow()
    frame = f.put(ONLY, udp4(f.a, f.b.ip, b"1234")[4:])
    texts = ("4 bytes of encapsulation header", "an IPv4 datagram without it")
    assert f.found(tmp_path) == suspected(HEADER, frame, *texts)


def test_acknowledgements_and_long_messages_do_not_end_it(tmp_path):
    f = Flow()
    f.answered()
    f.message()
    f.answered()
    frame = f.datagram(reserved=0x12)
    assert f.found(tmp_path) == suspected(RESERVED, frame, "0x0000", "0x0012")


def test_the_first_packet_of_a_message(tmp_path):
    f = Flow()
    frame = f.message(b"\x08\0\0\x12")
    assert f.found(tmp_path) == suspected(RESERVED, frame, "0x0000", "0x0012")


def test_messages_of_several_packets_count_too(tmp_path):
    f = Flow(good=0)
    for _ in range(RECOGNISED):
        f.message()
    frame = f.datagram(reserved=0x12)
    assert f.found(tmp_path) == suspected(RESERVED, frame, "0x0000", "0x0012")


@pytest.mark.parametrize("parts", [1, 2])
def test_one_message_shows_that_the_next_type_is_ipoibs(parts, tmp_path):
    """The PSN goes on: the violation is proved."""
    f = Flow(good=0)
    f.message()
    wrong = b"\x86\xdd\0\0"
    frame = f.message(wrong) if parts == 2 else f.put(ONLY, wrong + udp4(f.a, f.b.ip, b"1")[4:])
    assert f.results(tmp_path, "fail") == [(TYPE, frame)]


WRONG_FIELDS = {
    "Reserved": (b"\x08\0\x12\x34", RESERVED),
    "the Type of IPv6": (b"\x86\xdd\0\0", TYPE),
}


@pytest.mark.parametrize("header, rule", WRONG_FIELDS.values(), ids=WRONG_FIELDS)
@pytest.mark.parametrize("parts", [1, 2])
def test_one_wrong_field_on_a_flow_that_is_not_recognised(header, rule, parts, tmp_path):
    """Nothing before it shows that the connection is IPoIB's."""
    f = Flow(good=0)
    frame = f.message(header) if parts == 2 else f.put(ONLY, header + udp4(f.a, f.b.ip, b"1")[4:])
    assert f.results(tmp_path, "inconclusive") == [(rule, frame)]
    assert f.results(tmp_path, "fail") == [] and f.found(tmp_path) == []


NOT_IPOIB = {
    "both fields are wrong": lambda f: f.message(b"\x86\xdd\x12\x34"),
    "another Type": lambda f: f.message(b"\x12\x34\0\0"),
    "no header": lambda f: f.message(b""),
    "no datagram": lambda f: f.put(FIRST, b"\x08\0\x12\x34" + bytes(range(200)) * 10),
    "another program": lambda f: f.other(),
}


@pytest.mark.parametrize("make", NOT_IPOIB.values(), ids=NOT_IPOIB)
def test_other_messages_are_not_judged(make, tmp_path):
    f = Flow(good=0)
    make(f)
    for outcome in ("fail", "suspected", "inconclusive"):
        assert f.results(tmp_path, outcome) == []


def ended():
    """A connection that a and b set up and end, with three datagrams on it."""
    f = Flow(good=0)
    f.link.open()
    f.psn = f.link.psns[1] - 1
    for _ in range(RECOGNISED):
        f.datagram()
    f.link.close()
    return f


def test_a_sender_goes_on_after_the_end_of_the_connection(tmp_path):
    f = ended()
    frame = f.put(ONLY, udp4(f.a, f.b.ip, b"1234")[4:])
    [(rule, at, _, _, actual, unless)] = f.found(tmp_path)
    assert (rule, at, actual) == (HEADER, frame, "an IPv4 datagram without it")
    assert unless == "unless another connection has the queue pair by now: its own has ended"


def test_another_program_has_the_queue_pair_after_the_end_of_the_connection(tmp_path):
    f = ended()
    f.psn += 0x5000
    for _ in range(3):
        f.other()
    f.put(ONLY, udp4(f.a, f.b.ip, b"1234")[4:])
    assert f.found(tmp_path) == []


@pytest.mark.parametrize("later", recall.COPIES, ids=["at once", "two frames", "a millisecond"])
def test_every_frame_is_captured_twice(later, tmp_path):
    """One suspicion, in the first of the two frames."""
    f = Flow()
    f.datagram(reserved=0x12)
    f.s.records = recall.doubled(f.s.records, later)
    [(rule, *_)] = f.found(tmp_path)
    assert rule == RESERVED


def test_two_messages_are_too_few(tmp_path):
    f = Flow(good=RECOGNISED - 1)
    f.datagram(reserved=0x12)
    assert f.found(tmp_path) == []


def test_messages_with_a_gap_between_them_are_too_few(tmp_path):
    f = Flow(good=2)
    f.datagram(skip=1)
    f.datagram(reserved=0x12)
    assert f.found(tmp_path) == []


def test_a_jump_of_the_psn_ends_it(tmp_path):
    f = Flow()
    f.datagram(reserved=0x12, skip=1)
    assert f.found(tmp_path) == []


ENDS = {
    "RDMA": lambda f: f.put(WRITE_ONLY, bytes(64), ext=RETH),
    "immediate data": lambda f: f.put(ONLY_IMM, bytes(64), ext=bytes(4)),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_another_program_has_the_queue_pair(end, tmp_path):
    """NFS, rsocket and MPI use RDMA, or immediate data: their messages are not judged."""
    f = Flow()
    end(f)
    f.other()
    f.datagram(reserved=0x12)
    assert f.found(tmp_path) == []


def test_another_program_sets_up_a_connection(tmp_path):
    """A REP names the queue pair, for the Service-ID of NFS over RDMA."""
    f = Flow()
    nfs = Link(f.s, f.a, f.b)
    nfs.req(0x0000000001064E21)
    nfs.rep()
    f.other()
    assert f.found(tmp_path) == []


def test_another_queue_pair(tmp_path):
    f = Flow()
    f.link.qps = (0x2222, 0x3333)
    f.other()
    assert f.found(tmp_path) == []


def test_arp_over_a_connection_needs_no_recognised_flow(tmp_path):
    """ARP with InfiniBand's hardware type is IPoIB's: the violation is proved."""
    f = Flow(good=0)
    frame = f.put(ONLY, encap(0x0806, ib.arp(2, f.a.addr, f.a.ip, f.b.addr, f.b.ip)))
    path = tmp_path / "capture.pcap"
    path.write_bytes(f.s.pcap())
    report = json.loads(check.run("--format", "json", str(path)).stdout)
    failed = [
        (r["id"], r["cases"][0]["frames"]) for r in report["results"] if r["outcome"] == "fail"
    ]
    assert failed == [(OVER_UD, [frame])]


# ---- what the rule of the set-up says

BEFORE_IP = "rfc4755.2.3.connection-before-ip"
NO_SET_UP = "the set-up of the connection was not captured"
OTHER_PSN = (
    "the PSN is not one of the connection that was set up for the queue pair: its packets are not "
    "judged as those of the connection"
)


def undecided(f, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(f.s.pcap())
    report = json.loads(check.run("--format", "json", str(path)).stdout)
    cases = [c for r in report["results"] if r["id"] == BEFORE_IP for c in r["cases"]]
    return [(c["actual"], c["frames"]) for c in cases]


def test_the_set_up_was_not_captured(tmp_path):
    """Once, at the second message that looks like IPoIB: one may be damaged."""
    f = Flow(good=1)
    f.datagram()
    frame = number(f.s)
    f.datagram()
    f.datagram()
    assert undecided(f, tmp_path) == [(NO_SET_UP, [frame])]


def test_another_program_has_no_set_up_of_ipoib(tmp_path):
    f = Flow(good=0)
    for _ in range(4):
        f.other()
    assert undecided(f, tmp_path) == []


@pytest.mark.parametrize("psn", [0x1000, 0x900000], ids=["near", "far"])
def test_data_with_other_psns_than_the_set_up_says(psn, tmp_path):
    """The set-up of a later connection may not have been captured; the second message shows that
    there is one. A near PSN is one of the same connection: packets before it were not captured."""
    f = Flow(good=0, psn=psn)
    f.link.open()
    f.datagram()
    frame = number(f.s)
    f.datagram()
    later = [(OTHER_PSN, [frame]), (NO_SET_UP, [number(f.s)])]
    assert undecided(f, tmp_path) == ([] if psn == 0x1000 else later)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every scenario of the virtual fabric runs and leaves the capture of its wire, and ipoib-check
finds in it what the scenario expects. Further tests check the effect of the fabric's switches,
faults and capturing HCAs on packets, in the captures of the scenarios.

    pytest tests/project/test_scenarios.py [--scenario NAME]...     default: all of testbed/scenarios

Comments at the top of a scenario say how the test runs it and which findings to expect:
  # findings: OUTCOME RULE...   ipoib-check reports these rules with this outcome: "violated",
                                "deviation", "noted" or "inconclusive". Several such lines are
                                allowed. ipoib-check must report no other rule as violated. The next
                                lines give the reason for the findings.
  # arguments: ARGUMENT...      arguments of the scenario; the test replaces $NAME by the
                                environment variable
  # clock: CLOCK                the machine's clock (testbed/README.md)

Environment: FABRIC_FAILED, a folder for the output of failed scenarios.

A scenario boots one machine, whose results all of its tests use. tests/frames/ib.py, with which the
tests check packets, is written from the IBA only, and shares no code with the fabric's module."""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import warnings

import pytest

from frames import ib
from support import capfile
from support.needs import needs
from support.paths import BIN, SRC

FABRIC = os.path.join(SRC, "testbed/fabric")
SCENARIOS = {
    os.path.basename(path)[: -len(".sh")]: path
    for path in sorted(glob.glob(os.path.join(SRC, "testbed/scenarios/*.sh")))
}
# Exit statuses of testbed/fabric. 124: on a busy host, rarely, an emulated processor stops.
TIME_IS_UP, CANNOT_RUN = 124, 125
OUTCOMES = {
    "violated": "fail",
    "deviation": "deviation",
    "noted": "noted",
    "inconclusive": "inconclusive",
}
CAPTURES = (".pcap", ".pcapng", ".erf")
SNIFFING = ("sniffer", "multicast")  # these need an ipoib-capture with libibverbs

of_scenario = pytest.mark.parametrize("scenario", SCENARIOS, indirect=True)


def only_of(name):
    """For a test that checks the output of one scenario."""
    assert name in SCENARIOS
    return pytest.mark.parametrize("scenario", [name], indirect=True)


class Left:
    """The output of a scenario: the exit status of testbed/fabric, its console, a folder, and the
    expected findings."""

    def __init__(self, name, folder, run, expected):
        self.name, self.folder, self.expected = name, folder, expected
        self.status, self.console = run.returncode, run.stdout

    def path(self, file):
        return os.path.join(self.folder, file)

    def frames(self, file):
        """The frames of one of its captures, without ERF headers."""
        return capfile.read(self.path(file)).infiniband()

    def file_frames(self):
        """The frames of the capture with the scenario's name."""
        return self.frames(self.name + ".pcap")


def head(path):
    """The comments for the test at the top of a scenario: {outcome: rules}; arguments; clock."""
    expected, arguments, clock = {"fail": set()}, [], "virtual"
    environment = {**os.environ, "IPOIB_SRC": SRC, "IPOIB_BIN": BIN}
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    for line in lines:
        m = re.match(r"# (findings|arguments|clock): (.*)", line)
        if m and m[1] == "arguments":
            arguments = [
                re.sub(r"\$(\w+)", lambda v: environment.get(v[1], v[0]), w) for w in m[2].split()
            ]
        elif m and m[1] == "clock":
            clock = m[2]
        elif m:
            outcome, *rules = m[2].split()
            expected.setdefault(OUTCOMES[outcome], set()).update(rules)
    return expected, arguments, clock


def needs_of(name):
    """Skips the test if the scenario cannot run here."""
    needs("qemu-system-x86_64", "fabric")
    if name == "cluster":
        needs("clush", "cluster")
    if name in SNIFFING:
        program = os.path.join(BIN, "ipoib-capture")
        run = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True, check=False)
        if "--mode sniffer" not in run.stdout:
            pytest.skip("this build of ipoib-capture captures nothing (libibverbs was missing)")


def boot(path, folder, arguments, clock):
    return subprocess.run(
        [FABRIC, "once", path, folder, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        env={
            "FABRIC_TIMEOUT": "450",
            "FABRIC_CLOCK": clock,
            **os.environ,
            "IPOIB_SRC": SRC,
            "IPOIB_BIN": BIN,
        },
    )


def keep(left):
    """If FABRIC_FAILED names a folder, copies the output of a scenario into a new folder there."""
    if os.environ.get("FABRIC_FAILED"):
        kept = tempfile.mkdtemp(prefix=left.name + ".", dir=os.environ["FABRIC_FAILED"])
        shutil.copytree(left.folder, kept, dirs_exist_ok=True)
        with open(os.path.join(kept, "said"), "w", encoding="utf-8") as f:
            f.write(left.console)


def run_scenario(name, folder):
    """The output of the scenario; a text: the reason why it cannot run here."""
    expected, *how = head(SCENARIOS[name])
    run = boot(SCENARIOS[name], folder, *how)
    if run.returncode == TIME_IS_UP:
        warnings.warn(f"scenario {name}: the emulated machine did not end, and was booted again")
        run = boot(SCENARIOS[name], folder, *how)
    if run.returncode == CANNOT_RUN:
        return (run.stdout.strip().splitlines() or ["testbed/fabric says nothing"])[-1]
    return Left(name, folder, run, expected)


class Scenarios:
    """The output of each scenario that ran, by its name. It runs once for all of its tests, failed
    or not."""

    def __init__(self, folder):
        self.folder, self.left, self.failed = folder, {}, set()

    def get(self, name):
        if name not in self.left:
            folder = os.path.join(self.folder, name)
            os.mkdir(folder)
            self.left[name] = run_scenario(name, folder)
        if isinstance(self.left[name], str):
            pytest.skip(self.left[name])
        return self.left[name]


@pytest.fixture(scope="module")
def scenarios():
    with tempfile.TemporaryDirectory(prefix="ipoib-scenarios.") as folder:
        every = Scenarios(folder)
        yield every
        for name in sorted(every.failed & set(every.left)):
            keep(every.left[name])


@pytest.fixture
def scenario(request, scenarios):
    """The output of the scenario."""
    needs_of(request.param)
    failed = request.session.testsfailed
    yield scenarios.get(request.param)
    if request.session.testsfailed > failed:
        scenarios.failed.add(request.param)


@pytest.fixture
def left(scenario):
    """The output of a scenario that succeeded."""
    if scenario.status != 0:
        pytest.fail(f"the scenario ended with {scenario.status}", pytrace=False)
    return scenario


# ---- all scenarios


@of_scenario
def test_scenario_passes(scenario):
    last = "\n".join(scenario.console.strip().splitlines()[-30:])
    assert scenario.status == 0, f"exit status {scenario.status}\n{last}"


def compare(capture, expected):
    """The differences of the findings in a capture from the expected ones, and all findings:
    (outcome, rule)."""
    name = os.path.basename(capture)
    out = subprocess.run(
        [os.path.join(BIN, "ipoib-check"), "--format", "json", capture],
        capture_output=True,
        text=True,
        check=False,
    )
    if out.returncode not in (0, 1):
        said = (out.stderr or out.stdout).strip()
        return [f"{name}: exit status {out.returncode}: {said}"], set()
    results = json.loads(out.stdout)["results"]
    broken = [r for r in results if r["outcome"] == "fail" and r["id"] not in expected["fail"]]
    complaints = [
        f"{name}: {r['id']} is violated: {r['subject']}: "
        f"expected {r['expected']}, actual {r['actual']}, frames {r['frames']}"
        for r in broken
    ]
    return complaints, {(r["outcome"], r["id"]) for r in results}


@of_scenario
def test_verdict(left):
    """On all captures of the scenario."""
    captures = sorted(c for c in glob.glob(left.path("*")) if c.endswith(CAPTURES))
    assert captures, "the scenario left no capture"
    complaints, found = [], set()
    for capture in captures:
        wrong, seen = compare(capture, left.expected)
        complaints += wrong
        found |= seen
    for outcome, rules in left.expected.items():
        missing = sorted(rule for rule in rules if (outcome, rule) not in found)
        complaints += [f"{rule} should be reported as {outcome}" for rule in missing]
    assert not complaints, "\n".join(complaints)


# ---- the tests' own CRCs

# A congestion notification packet of RoCE v2 as a ConnectX-4 Lx sent it, from IP header to ICRC;
# from the tests of scapy (test/contrib/roce.uts, "RoCE CNP captured on ConnectX-4 Lx").
CONNECTX_CNP = bytes.fromhex(
    "45c2003c718c4000401191610a0011010a001201"
    "000012b700280000"
    "8100ffff4000011800000000" + "00" * 16 + "82fd002a"
)


def test_icrc_is_that_of_a_frame_by_a_connectx_4_lx():
    """The computation of the tests agrees with hardware that is not part of this project."""
    ip_udp, rest = CONNECTX_CNP[:28], CONNECTX_CNP[28:]
    masked = bytearray(ip_udp)
    masked[1] = masked[8] = 0xFF  # TOS, TTL: IBA A17.3.3
    masked[10:12] = masked[26:28] = b"\xff\xff"  # checksums
    # The ICRC of a packet with a GRH counts its LRH as ones; IPv4 and UDP headers replace the GRH.
    assert ib.icrc_of(b"\xff" * 8 + bytes(masked), rest[:-4]).hex() == rest[-4:].hex()


def lids(packet):
    """(source, destination)"""
    return struct.unpack_from(">H", packet, 6)[0], struct.unpack_from(">H", packet, 2)[0]


def echo_requests(packets):
    """The sequence numbers of the ICMP echo requests over UD without GRH, in order of arrival, for
    each ping (identifier)."""
    pings = {}
    for p in packets:
        is_ud = p[1] & 3 == 2 and p[8] == 0x64
        if is_ud and p[28:32] == b"\x08\0\0\0" and p[41] == 1 and p[52] == 8:
            identifier, sequence = struct.unpack_from(">HH", p, 56)
            pings.setdefault(identifier, []).append(sequence)
    return list(pings.values())


def crcs_right(packet):
    """(ICRC, VCRC)"""
    grh = packet[8:48] if packet[1] & 3 == 3 else b""
    return (
        packet[-6:-2] == ib.icrc(packet[:8], grh, packet[8 + len(grh) : -6]),
        packet[-2:] == struct.pack("<H", ib.crc16_100b(packet[:-2])),
    )


# ---- chain: h0 to h3 in a row


@only_of("chain")
@pytest.mark.parametrize("to, links", [("h1", 2), ("h2", 3), ("h3", 4)])
def test_each_packet_is_on_every_link_unchanged(left, to, links):
    found = re.findall(r"^LID of (h\d) (0x[0-9a-f]+)\r?$", left.console, re.M)
    lid = {h: int(n, 16) for h, n in found}
    seen = collections.Counter(
        p for p in left.file_frames() if lids(p) == (lid["h0"], lid[to]) and p[0] >> 4 != 15
    )
    whole = sum(n == links for n in seen.values())
    counts = collections.Counter(seen.values())
    assert whole >= 3, counts
    # Some packets were on their way while the cable was unplugged.
    assert len(seen) - whole <= 3, counts
    assert max(seen.values()) == links, counts


# ---- cluster: sixteen nodes in one report, which names the deviating nodes


@pytest.fixture
def summary(left):
    with open(left.path("merged.json"), encoding="utf-8") as f:
        return json.load(f)["summary"]


@only_of("cluster")
def test_report_has_sixteen_nodes(summary):
    everywhere = sorted(f"n{n}" for n in range(16))
    assert sorted(n["name"] for n in summary["nodes"]) == everywhere


@only_of("cluster")
def test_all_nodes_are_conformant(summary):
    assert {n["verdict"] for n in summary["nodes"]} == {"conformant"}


@only_of("cluster")
def test_two_nodes_differ_from_the_others(summary):
    found = [r for r in summary["rules"] if r["outcome"] in ("fail", "deviation", "noted")]
    names = {r["id"]: r["names"] for r in found if len(r["names"]) < 16}
    assert names == {"fabric.mode": ["n5"], "partition.overlap": ["n9"]}


# ---- corrupt: packets with a GRH too, for ARP requests are hit like all others


@pytest.fixture
def corrupted(left):
    """The corrupt packets, the wrong VCRCs at the switch and the wrong ICRCs at h1, as the scenario
    counts them; the packets' CRCs."""
    counters = r"corrupted (\d+), bad VCRC at the switch (\d+), bad ICRC at h1 (\d+)"
    counted = re.search(counters, left.console)
    assert counted, left.console
    return [int(n) for n in counted.groups()], [crcs_right(p) for p in left.file_frames()]


@only_of("corrupt")
def test_switch_drops_the_packets_with_a_wrong_vcrc(corrupted):
    (_, switch, _), crcs = corrupted
    assert sum(not vcrc for _, vcrc in crcs) == switch


@only_of("corrupt")
def test_hca_drops_the_packets_with_only_a_wrong_icrc(corrupted):
    (_, _, hca), crcs = corrupted
    assert crcs.count((False, True)) == hca


@only_of("corrupt")
def test_no_other_packet_has_a_wrong_crc(corrupted):
    (all_corrupted, _, _), crcs = corrupted
    assert len(crcs) - crcs.count((True, True)) == all_corrupted


# ---- datagram


@only_of("datagram")
def test_packets_with_a_grh_without_one_and_on_vl15(left):
    kinds = {(p[1] & 3 == 3, p[0] >> 4 == 15) for p in left.file_frames()}
    assert kinds >= {(True, False), (False, False), (False, True)}


@only_of("datagram")
def test_crcs_are_those_of_the_iba(left):
    wrong = [n for n, p in enumerate(left.file_frames(), 1) if crcs_right(p) != (True, True)]
    assert wrong == []


# ---- disorder: five pings


@pytest.fixture
def pings(left):
    found = echo_requests(left.file_frames())
    assert len(found) == 5, found
    return dict(zip(["delayed", "doubled", "late", "lost", "last"], found))


@only_of("disorder")
def test_delayed_packets_arrive_in_order(pings):
    assert pings["delayed"] + pings["last"] == [1, 2, 3, 1, 2]


@only_of("disorder")
def test_some_packets_are_duplicated_in_order(pings):
    doubled = pings["doubled"]
    assert len(doubled) > 52
    assert sorted(set(doubled)) == list(range(1, 51))
    assert doubled == sorted(doubled)


@only_of("disorder")
def test_some_packets_are_late_and_none_is_lost(pings):
    assert sorted(pings["late"]) == list(range(1, 51))
    assert pings["late"] != sorted(pings["late"])


@only_of("disorder")
def test_drop_next_drops_the_next_packets(pings):
    """ARP may be among the three packets that drop_next drops."""
    missing = [n for n in range(1, 11) if n not in pings["lost"]]
    assert missing and missing == [1, 2, 3][: len(missing)], pings["lost"]


# ---- multicast


def without_unknown(packet):
    """The frame with 0 in the fields that no completion has: VL; SE, M; A; PSN; both CRCs (IBA 7.7,
    9.2, 7.8)."""
    p = bytearray(packet)
    p[0], p[49], p[56:60], p[-6:] = 0, p[49] & 0x30, bytes(4), bytes(6)
    return bytes(p)


@pytest.fixture
def rebuilt(left):
    """The frames that ipoib-capture rebuilds from completions."""
    return left.frames("multicast.erf")


def arp_requests(frames):
    return [p for p in frames if p[68:72] == b"\x08\x06\0\0" and p[72 + 6 : 72 + 8] == b"\0\1"]


@only_of("multicast")
def test_results_of_the_machine(left):
    """The scenario writes results of its own, in TAP."""
    with open(left.path("tap"), encoding="utf-8") as f:
        results = re.findall(r"^(not )?ok \d+ - (.*)", f.read(), re.M)
    assert results, "there are none"
    assert [name for failed, name in results if failed] == []


@only_of("multicast")
def test_rebuilt_frames_are_those_of_the_wire(left, rebuilt):
    """In all fields that a completion has."""
    sent = [p for p in left.file_frames() if p[1] & 3 == 3 and p[48] == 0x64]
    wire = {without_unknown(p) for p in sent}
    assert [p.hex() for p in rebuilt if p not in wire] == []


@only_of("multicast")
def test_n3_sees_the_arp_request_of_n1_for_n2(rebuilt):
    wanted = bytes([10, 0, 0, 2]), bytes([10, 0, 0, 3])
    ends = [(p[72 + 28 : 72 + 32], p[72 + 52 : 72 + 56]) for p in arp_requests(rebuilt)]
    assert wanted in ends


@only_of("multicast")
def test_n3_sees_the_neighbour_solicitation_of_n1_for_n2(rebuilt):
    assert any(p[68:70] == b"\x86\xdd" and p[72 + 40] == 135 for p in rebuilt)


@only_of("multicast")
def test_both_pings_to_a_later_group_are_captured(rebuilt):
    own = lids(arp_requests(rebuilt)[0])[0]
    group = bytes([239, 1, 2, 3])
    seen = [
        p for p in rebuilt if p[72 + 16 : 72 + 20] == group and p[72 + 9] == 1 and lids(p)[0] != own
    ]
    assert len(seen) == 2, [p.hex() for p in seen]


# ---- qp-reset


@only_of("qp-reset")
def test_psns_restart_once(left):
    """n1's UD queue pair is QPN 0x23 (HCA 1 has used up 32 before): UD SEND Only without and with a
    GRH, the DETH's source QP."""
    psns = []
    for p in left.file_frames():
        bth = 48 if p[1] & 3 == 3 else 8
        if p[bth] == 0x64 and p[0] >> 4 != 15 and p[bth + 17 : bth + 20] == b"\0\0\x23":
            psns.append(int.from_bytes(p[bth + 9 : bth + 12], "big"))
    falls = [(a, b) for a, b in zip(psns, psns[1:]) if b < a]
    assert len(falls) == 1 and falls[0][1] == psns[0], psns


# ---- sniffer


@pytest.fixture
def sniffed(left):
    """The frames on the wire, and those of the capturing HCA."""
    wire, found = left.file_frames(), left.frames("sniffer.erf")
    assert len(found) > 30 and found[0] in wire, f"{len(found)} frames were sniffed"
    return wire, found


@only_of("sniffer")
def test_frames_were_sniffed_that_were_on_the_wire(sniffed):
    assert sniffed


@only_of("sniffer")
def test_sniffed_frames_are_those_of_the_wire_in_its_order_and_byte_for_byte(sniffed):
    wire, found = sniffed
    both = wire[wire.index(found[0]) :]  # the wire's capture ended first
    assert [p.hex() for p in found[: len(both)]] == [p.hex() for p in both]

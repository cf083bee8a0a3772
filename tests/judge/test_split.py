# SPDX-License-Identifier: GPL-2.0-or-later
"""Both directions of one cable on two interfaces of a capture, or on two ports of an ERF card, have
the verdict of one interface. In each violating capture the same rules fail for the same entities; a
conformant one stays conformant.

The same holds for captures of two machines that were merged by time, as mergecap does it, while their
clocks differed. Every sender conforms, but frames of one clock appear before frames of the other one
that were sent earlier. The merged file has two interfaces, or one interface for both machines."""
import functools
import glob
import json
import os

import pytest

from frames import ib, unusual, unusual_management
from frames.faults import fixture  # faults fills the tables of fixture
from frames.subnet import FromStart, Host
from support import capfile, check, findings, split
from support.paths import TESTDATA

COUNTED = ("fail", "deviation")

each_way = pytest.mark.parametrize("way", split.WAYS)


def records(capture):
    return [(f.time, f.data, f.wire) for f in capfile.parse(capture).frames]


def pcap(frames):
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


def violations(capture, *options):
    """{(rule, entity)}"""
    found = findings.frames(capture, "--deviations", "none", *options)
    return {(f.rule, f.text.split("|", 2)[2]) for f in found if f.outcome in COUNTED}


FAULTS = [f for f in fixture.FIXTURES if f.kind == fixture.FAIL]
PATHS = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))
PATHS += sorted(glob.glob(os.path.join(TESTDATA, "built", "*.pcap")))
REAL = [path for path in PATHS if capfile.read(path).linktype == capfile.INFINIBAND]


@functools.cache
def made():
    """Name to frames, for all captures that are split."""
    captures = {f.rule + f.variant: records(fixture.make_capture(f)[0].pcap()) for f in FAULTS}
    captures.update({os.path.basename(path): records(capfile.load(path)) for path in REAL})
    return captures


@functools.cache
def of_one_interface(name):
    return violations(pcap(made()[name]))


@pytest.fixture(scope="module")
def figures():
    """For each way the captures that lost violations, and those that did not."""
    seen = {way: {True: [], False: []} for way in split.WAYS}
    yield seen
    for way, of in seen.items():
        lost, kept = len(of[True]), len(of[False])
        print(f"\n{way}: {lost} of {lost + kept} violating captures lose a violation")


NAMES = [f.rule + f.variant for f in FAULTS] + [os.path.basename(path) for path in REAL]


@each_way
@pytest.mark.parametrize("name", NAMES)
def test_split_capture_violates_the_same_rules_of_the_same_entities(name, way, figures):
    expected, found = of_one_interface(name), violations(split.WAYS[way](made()[name]))
    if expected:
        figures[way][bool(expected - found)].append(name)
    assert found == expected


# ---- captures that begin late: both interfaces prove to be one subnet later, or never

STEP = 23  # frames


@pytest.mark.parametrize("path", REAL, ids=os.path.basename)
def test_capture_that_begins_late_shows_no_other_violation(path, tmp_path):
    frames = made()[os.path.basename(path)]
    one, two = str(tmp_path / "one.pcap"), str(tmp_path / "two.pcapng")
    with open(one, "wb") as f:
        f.write(pcap(frames))
    with open(two, "wb") as f:
        f.write(split.WAYS["pcapng"](frames))
    skips = range(STEP, len(frames), STEP)
    late = [(str(skip), ("--skip", str(skip))) for skip in skips]
    added = {skip: violations(two, *begin) - violations(one, *begin) for skip, begin in late}
    assert not any(added.values()), added


# ---- two clocks

MS = 10**6
OFFSETS = [offset * MS for offset in (-70_000, -3_000, -300, -30, -2, 2, 30, 300, 3_000)]
SCENARIOS = [
    "connection",
    "connection_requests_cross",
    "data_before_the_rtu",
    "ids_and_queue_pairs_are_reused",
    "interface_is_closed",
    "largest_datagram",
    "lids_of_two_ports_are_exchanged",
    "request_is_repeated",
]
SLID_LOW = 7  # offset of the lower byte of the source LID


def by_direction(records):
    port = split.port_of(records)
    return [split.direction(data, port) for _, data, _ in records]


def by_sender(records):
    """Ports with even and with odd LIDs."""
    return [data[SLID_LOW] & 1 for _, data, _ in records]


def merged(records, interfaces, offset):
    """The frames in the order of their times, if the clock of interface 1 differs by offset."""
    frames = [
        capfile.Frame(time + offset * interface, data, wire, interface)
        for (time, data, wire), interface in zip(records, interfaces)
    ]
    return sorted(frames, key=lambda f: f.time)


def one_interface(frames):
    return pcap([(f.time, f.data, f.wire) for f in frames])


def violated(captures, tmp_path):
    """(capture, rule) of all violations"""
    paths = []
    for name, octets in captures.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(octets)
    done = check.run("--deviations", "none", "--format", "json", *map(str, paths))
    results = json.loads(done.stdout)["results"]
    assert {r["capture"] for r in results} == {str(p) for p in paths}
    return {(r["capture"].rsplit("/", 1)[1], r["id"]) for r in results if r["outcome"] == "fail"}


@pytest.mark.parametrize("name", SCENARIOS)
def test_conformant_traffic_in_the_order_of_two_clocks_does_not_fail(name, tmp_path):
    records = unusual.SCENARIOS[name]().records
    captures = {}
    for divide in (by_direction, by_sender):
        for offset in OFFSETS:
            frames = merged(records, divide(records), offset)
            what = f"{divide.__name__}{offset // MS}"
            captures[what + ".pcapng"] = split.pcapng(frames)
            captures[what + ".pcap"] = one_interface(frames)
    assert violated(captures, tmp_path) == set()


# ---- two capture points, each with what its port sends and receives


def seen_by(records, lid, others=()):
    """What a capture at this port has: packets to groups come to all ports, and those of directed
    routes to that of the SM, which is not at the other ports."""
    seen = []
    for time, data, wire in records:
        slid, dlid = split.lids(data)
        is_routed = split.PERMISSIVE in (slid, dlid) and not others
        if is_routed or lid in (slid, dlid) or split.MULTICAST <= dlid < split.PERMISSIVE:
            seen.append((time, data, wire))
    return seen


def two_points(records, ports, offset):
    """The frames of both in the order of their times, if the second one's clock differs."""
    one, two = ports
    whole = seen_by(records, one)
    whole += [(t + offset, *rest) for t, *rest in seen_by(records, two, ports)]
    return pcap(sorted(whole, key=lambda r: r[0]))


def sends_when_it_has_joined():
    """b sends to a group as soon as it has joined, and asks the SA again."""
    s, a, b = FromStart(), Host(1), Host(2)
    for host in (a, b):
        without_lid = s.port_info_of(0, state=ib.INIT)
        s.smp(host.lid, ib.GET, ib.PORT_INFO, b"", 1, without_lid)
        unusual_management.initialise(s, host)
    s.up(a)
    s.wait(1)
    s.query(b, s.broadcast())
    s.up(b)
    for _ in range(3):
        s.to_group4(b, "224.0.0.1")
        s.wait(0.3)
    s.join(b, s.group4("239.1.1.1"))
    s.wait(2)
    s.to_group4(a, "224.0.0.1")
    return s


# A copy on the same interface comes within a second (model/copies.h).
COPIED = [offset * MS for offset in (-700, -300, -65, -30, -2, 2, 30, 65, 300, 700)]
POINTS = {name: unusual.SCENARIOS[name] for name in ("interface_is_closed", "largest_datagram")}
POINTS["sends_when_it_has_joined"] = sends_when_it_has_joined


@pytest.mark.parametrize("name", POINTS)
def test_conformant_traffic_of_two_points_with_two_clocks_does_not_fail(name, tmp_path):
    records = POINTS[name]().records
    captures = {
        f"{one}-{two}-{offset // MS}.pcap": two_points(records, (one, two), offset)
        for one, two in ((1, 2), (2, 1))
        for offset in COPIED
    }
    assert violated(captures, tmp_path) == set()


# ---- a request that is repeated after its response looks reversed too, if its first copy was lost

QKEY = "rfc4391.9.1.2.qkey-from-join"
OTHER_LID = 9


def with_reversed_exchange(seconds):
    """n0 uses a wrong Q_Key in 49, this long after a path request of another port (a copy of 42)
    that was captured after its response (a copy of 43)."""
    t = fixture.tape("datagram.pcap")
    t[49]["qkey"] = 0x80000B1C
    response, request = t[43].copy().set(dlid=OTHER_LID), t[42].copy().set(slid=OTHER_LID, psn=0)
    response["mad.tid"] = request["mad.tid"] = t[42]["mad.tid"] + 0x300
    t.insert(20, response)
    t.insert(40, request)
    t.shift(49, seconds)
    t.renumber(1)
    return t.pcap()


@pytest.mark.parametrize("seconds, found", [(0, False), (700, True)])
def test_reversed_exchange_counts_for_ten_minutes(seconds, found, tmp_path):
    captures = {"capture.pcap": with_reversed_exchange(seconds)}
    assert (("capture.pcap", QKEY) in violated(captures, tmp_path)) == found

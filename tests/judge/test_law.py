# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of degradation (script/law): chains of lost, truncated, duplicated and swapped frames,
other CRCs, interfaces, clocks and file formats add no violation to a capture that conforms; other
CRCs, interfaces and formats, and a copy of every frame, remove none from one that violates; copies
alone change none of any capture; lost frames alone add none to any.

The last part is about the steps of a chain (fuzz/law_steps.c) and the files of chains: what they do to
the frames of a real capture.

This test runs chains and removals of a fixed seed. test_law_all.py runs more chains, of another seed
each time, and every removal."""
import glob
import gzip
import os
import re
import subprocess

import pytest

from support import capfile, check, corpus, split
from support.paths import BUILD, TESTDATA, testdata
from support.programs import run_script

REAL = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))


def law(*arguments):
    done = run_script("law", "--jobs", "2", *map(str, arguments))
    return done.returncode, done.stdout


def figures(output):
    """Chains that break the law, and all chains."""
    return list(
        map(int, re.match(r"(\d+) of (\d+) chains break", output.splitlines()[-1]).groups())
    )


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    assert law("--write", folder) == (0, "")
    return sorted(folder.iterdir())


def test_no_chain_breaks_the_law(captures):
    status, output = law("--seed", "1", "--chains", "24000", *captures)
    assert figures(output) == [0, 24000] and status == 0, output


@pytest.mark.parametrize("gaps", [1, 5])
def test_no_removal_adds_a_violation(gaps):
    """A removal leaves out gaps of 1 to 20 consecutive frames."""
    status, output = law("--seed", "1", "--gaps", gaps, "--chains", "5000", *REAL)
    assert figures(output) == [0, 5000] and status == 0, output


@pytest.mark.parametrize("later", [0, 2, -1], ids=["at-once", "2-frames-later", "1-ms-later"])
@pytest.mark.parametrize("how", range(4), ids=["same", "interface", "vl", "interface-and-vl"])
def test_every_frame_captured_twice_changes_no_violation(captures, later, how):
    status, output = law("--chain", f"double {later} {how}", *captures)
    assert figures(output) == [0, len(captures)] and status == 0, output


def test_the_corpus_has_captures_of_each_kind():
    names = corpus.everything()
    assert {"datagram.pcap", "built/built-arp.pcap", "unusual/vrrp"} <= set(names)
    assert sum(name.endswith(".fail.pcap") for name in names) > 70
    assert any(name.startswith("counterpart/") for name in names)


# ---- a chain that breaks the law is found

ARP = b"\x08\x06\x00\x00\x00\x20"


@pytest.fixture(name="spoilt", scope="module")
def spoilt_capture(tmp_path_factory):
    """Junk at the end of a capture that has ICRCs is corrupt, and no violation; once the frames with
    right ICRCs are lost, nothing shows that, and the law is broken. No sender sends such frames, so
    no real capture has them."""
    frames = capfile.read(testdata("datagram.pcap")).frames
    arp = next(f for f in frames if ARP in f.data)
    frames = frames[-10:]
    spoilt = bytearray(arp.data)
    at = bytes(spoilt).index(ARP)
    spoilt[at + 2] = 0x12  # the Reserved field of the encapsulation header; the ICRC is now wrong
    path = tmp_path_factory.mktemp("spoilt") / "spoilt.pcap"
    records = [(f.time, f.data, f.wire) for f in frames]
    records.append((frames[-1].time + 1, bytes(spoilt), arp.wire))
    path.write_bytes(capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    return path


def found(status, output):
    """The name of the chain that broke the law, and its smallest form."""
    pattern = rf"^(\S.*) adds {check.RESERVED}: .*\n    with (keep \d+)$"
    assert status == 1, output
    return re.search(pattern, output, re.M).groups()


def test_chain_that_breaks_the_law_is_reduced_and_can_be_run_again(spoilt, tmp_path):
    kept = tmp_path / "kept"
    name, chain = found(*law("--chains", "2000", "--seed", "3", "--keep", kept, spoilt))
    assert found(*law("--replay", name, spoilt)) == (name, chain)
    assert found(*law("--chain", chain, spoilt)) == ("spoilt.pcap", chain)
    assert check.RESERVED in check.expect(check.VIOLATED, str(kept / name))


def test_removal_that_breaks_the_law_is_reduced_and_can_be_run_again(spoilt):
    found(*law("--longest", "1000", spoilt))
    name, chain = found(*law("--gaps", "2", "--seed", "1", "--chains", "500", spoilt))
    assert found(*law("--gaps", "2", "--replay", name, spoilt)) == (name, chain)


def test_what_is_no_capture_or_no_chain_is_an_error(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(b"no capture")
    assert law(path)[0] == 2
    assert law(tmp_path / "missing.pcap")[0] == 2
    for chain in ("remove", "remove 0", "remove 9999", "swap 7", "cut 1:x", "CRCs all", "as erf2"):
        assert law("--chain", chain, testdata("datagram.pcap"))[0] == 2, chain


# ---- the steps of a chain, and its files

PROGRAM = os.path.join(BUILD, "tests/law-chains")
WHOLE = capfile.read(testdata("datagram.pcap")).frames
WINDOW_NS, WINDOW_FRAMES = 10_000_000, 8  # lib/model/order.h
CRCS = 6
WAYS = ("zeros", "junk", "inverted", "no-VCRC", "none", "not-captured")
FORMS = ("pcap", "pcap-microseconds", "pcap-big-endian")
OF_INTERFACES = ("pcapng", "pcapng-big-endian", "erf", "erf-in-pcap")


def written(folder, *arguments):
    """The name and bytes of the files of these chains of the capture."""
    command = [PROGRAM, "--files", str(folder), *arguments, testdata("datagram.pcap")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(name="after")
def after_chain(tmp_path):
    """A function: the frames after a chain."""

    def frames(chain):
        data = written(tmp_path, "--chain", chain)["datagram.pcap"]
        if chain.endswith("gzip"):
            data = gzip.decompress(data)
        return capfile.parse(data).frames

    return frames


def slid(frame):
    return split.lids(frame.data)[0]


def octets(frames):
    return [f.data for f in frames]


def times(frames):
    return [f.time for f in frames]


def test_the_same_seed_draws_the_same_chains(tmp_path):
    files = []
    for name, seed in (("one", "7"), ("two", "7"), ("three", "8")):
        folder = tmp_path / name
        folder.mkdir()
        files.append(list(written(folder, "--chains", "20", "--seed", seed).values()))
    assert sorted(files[0]) == sorted(files[1]) != sorted(files[2])
    assert len(files[0]) == 20


def test_swap_keeps_the_times_and_the_order_of_each_sender(after):
    swapped = after(f"swap {WINDOW_NS} all")
    assert octets(swapped) != octets(WHOLE) and times(swapped) == times(WHOLE)
    for port in set(map(slid, WHOLE)) - {split.PERMISSIVE}:
        sent = [[f.data for f in frames if slid(f) == port] for frames in (swapped, WHOLE)]
        assert sent[0] == sent[1]


def test_copy_comes_after_its_frame_and_before_the_next_of_its_port(after):
    doubled = after(f"duplicate {WINDOW_NS} 5:0,50:7")
    assert len(doubled) == len(WHOLE) + 2
    assert doubled[4].data == doubled[5].data == WHOLE[4].data
    first, second = [n for n, f in enumerate(doubled) if f.data == WHOLE[49].data]
    assert 1 <= second - first <= WINDOW_FRAMES
    assert slid(WHOLE[49]) not in [slid(f) for f in doubled[first + 1 : second]]


def test_copies_of_many_frames_stay_within_the_window(after):
    later = ",".join(f"{n}:{n % 8}" for n in range(1, len(WHOLE) + 1))
    doubled = octets(after(f"duplicate {WINDOW_NS} {later}"))
    assert sorted(doubled) == sorted(2 * octets(WHOLE))
    places = [[n for n, data in enumerate(doubled) if data == f.data] for f in WHOLE]
    distances = {place[1] - place[0] for place in places if len(place) == 2}
    assert max(distances) <= WINDOW_FRAMES and len(distances) > 2


@pytest.mark.parametrize("later, how", [(0, 0), (2, 1), (-1, 2), (-1, 3)])
def test_every_frame_is_captured_twice(after, later, how):
    """The copy may have another VL, which is in the first byte, and its VCRC."""
    doubled = after(f"double {later} {how}")
    assert times(doubled) == sorted(times(doubled)) and len(doubled) == 2 * len(WHOLE)
    changes = how & 2
    for n, frame in enumerate(WHOLE):
        same = [f for f in doubled if f.data[1:-2] == frame.data[1:-2]]
        assert len(same) == 2, n
        assert {f.interface for f in same} == ({0, 2} if how & 1 else {0})
        assert (same[0].data != same[1].data) == bool(changes)
    places = [n for n, f in enumerate(doubled) if f.data[1:-2] == WHOLE[0].data[1:-2]]
    assert places[1] - places[0] == later + 1 or later == -1


def test_frames_are_removed_or_kept(after):
    assert octets(after("remove 1,3-4")) == [WHOLE[1].data] + octets(WHOLE[4:])
    assert octets(after("keep 2,5-6")) == [WHOLE[n].data for n in (1, 4, 5)]


def test_frames_end_early(after):
    assert octets(after("cut 2:10,3-4:20")) == [
        f.data[: {2: 10, 3: 20, 4: 20}.get(n)] for n, f in enumerate(WHOLE, 1)
    ]
    sliced = after("slice 64")
    assert [f.data[:64] for f in WHOLE] == octets(sliced)
    assert [f.wire for f in WHOLE] == [f.wire for f in sliced]


@pytest.mark.parametrize("how", WAYS)
def test_crcs_of_a_port_are_replaced(after, how):
    of_port = [str(n) for n, f in enumerate(WHOLE, 1) if slid(f) == 2]
    changed = after(f"CRCs {how} {','.join(of_port)}")
    for before, now in zip(WHOLE, changed, strict=True):
        assert (before.data != now.data) == (slid(before) == 2)
        assert before.data[:-CRCS] == now.data[: len(before.data) - CRCS]


def test_a_clock_shifts_one_interface(after):
    shifted = after("split 2; clock 1 500")
    assert octets(shifted) == octets(WHOLE)
    apart = {(f.interface, f.time - before.time) for before, f in zip(WHOLE, shifted)}
    assert apart == {(0, 0), (1, 500)}


def directions():
    return [split.direction(f.data, 2) for f in WHOLE]


@pytest.mark.parametrize("form", FORMS + OF_INTERFACES)
@pytest.mark.parametrize("compressed", ["", " gzip"], ids=["plain", "gzip"])
def test_every_form_holds_the_same_frames(after, form, compressed):
    frames = after(f"{'split 2; ' if form in OF_INTERFACES else ''}as {form}{compressed}")
    assert len(frames) == len(WHOLE)
    is_erf = form.startswith("erf")
    assert [capfile.erf_payload(f.data) if is_erf else f.data for f in frames] == octets(WHOLE)
    interfaces = [f.data[9] & 3 if is_erf else f.interface for f in frames]
    assert interfaces == (directions() if form in OF_INTERFACES else [0] * len(WHOLE))
    unit = 1000 if form == "pcap-microseconds" else 1
    for before, frame in zip(WHOLE, frames):
        assert 0 <= before.time - frame.time < max(unit, 1 + is_erf)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of the law of degradation (fuzz/law_steps.c) and the files of its chains: what they do
to the frames of a real capture."""
import gzip
import os
import subprocess

import pytest

from support import capfile, split
from support.paths import BUILD, testdata

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

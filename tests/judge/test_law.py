# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of degradation (script/law): chains of lost, truncated, duplicated and swapped frames,
other CRCs, interfaces, clocks and file formats add no violation to a capture that conforms; other
CRCs, interfaces and formats remove none from one that violates; lost frames alone add none to any.

This test runs chains and removals of a fixed seed. test_law_all.py runs more chains, of another seed
each time, and every removal."""
import glob
import os
import re

import pytest

from support import capfile, check, corpus
from support.paths import TESTDATA, testdata
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

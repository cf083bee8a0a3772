# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of degradation in one process (fuzz/law_chains.c): more chains than test_law.py, without
file formats."""
import os
import re
import subprocess

import pytest

from support import capfile
from support.paths import BUILD, testdata
from support.programs import run_script

PROGRAM = os.path.join(BUILD, "tests/law-chains")


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    written = run_script("law", "--write", str(folder))
    assert written.returncode == 0, written.stdout
    return sorted(map(str, folder.iterdir()))


def test_no_chain_breaks_the_law(captures):
    status, output = run("--random", "20000", "--seed", "1", *captures)
    assert re.search(r"^0 of 20000 chains break the law", output, re.MULTILINE), output
    assert status == 0


REFUSED = "counterpart_{}_the_responder_after_a_REJ_of_the_REP_which_it_has_not_received"
STAYS = "unusual_connection_stays_while_groups_are_joined_again"
BROKEN_ONCE = {
    "a REP that was cut and captured before its REQ, and repeated after data of the requester": (
        ("unusual_rep_is_repeated_after_data", 7, 165295),
    ),
    "a REP that was lost before its REJ": (
        (REFUSED.format("RC_IPv6"), 4, 36055),
        (REFUSED.format("UC_IPv4"), 4, 170741),
    ),
    "a join whose response follows data": ((STAYS, 1, 325),),
    "a leave's copied response that follows the next join": ((STAYS, 1, 59221),),
    "a port's first request, after a response to it": (
        ("unusual_program_leaves_the_broadcast_group_with_an_echo", 3, 306265),
    ),
}


@pytest.mark.parametrize("name", BROKEN_ONCE)
def test_chain_that_broke_the_law_once(captures, name):
    for capture, seed, number in BROKEN_ONCE[name]:
        (path,) = (c for c in captures if c.endswith(capture))
        status, output = run("--random", "1", "--first", str(number), "--seed", str(seed), path)
        assert status == 0, output


def test_chain_that_breaks_the_law_is_found_and_can_be_repeated(tmp_path):
    """Junk at the end of a capture that has ICRCs is corrupt, and no violation; once the frames with
    right ICRCs are lost, nothing shows that, and the law is broken. No sender sends such frames, so
    no real capture has them."""
    frames = capfile.read(testdata("datagram.pcap")).frames
    arp = next(f for f in frames if b"\x08\x06\x00\x00\x00\x20" in f.data)
    spoilt = bytearray(arp.data)
    at = bytes(spoilt).index(b"\x08\x06\x00\x00\x00\x20")
    spoilt[at + 2] = 0x12  # the Reserved field of the encapsulation header; the ICRC is now wrong
    path = tmp_path / "spoilt.pcap"
    records = [(f.time, f.data, f.wire) for f in frames]
    records.append((frames[-1].time + 1, bytes(spoilt), arp.wire))
    path.write_bytes(capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    status, output = run("--random", "2000", "--seed", "3", str(path))
    assert status == 1, output
    line = re.search(
        r"^spoilt.pcap adds rfc4391.6.reserved-zero: .* \(seed 3, chain (\d+)\): .+$", output, re.M
    )
    again = run("--random", "1", "--first", line[1], "--seed", "3", str(path))
    assert again[0] == 1 and again[1].splitlines()[0] == line[0]


def test_file_that_is_no_capture_is_wrong_usage(tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_text("no capture")
    assert run(str(path))[0] == 2
    assert run("--random", "many", testdata("datagram.pcap"))[0] == 2

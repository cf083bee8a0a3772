# SPDX-License-Identifier: GPL-2.0-or-later
"""fuzz/fuzz_plugin.c dissects several inputs as one file, and writes the sequence down, so that a
fault that needs earlier inputs can be reproduced."""
import os
import struct

import pytest

from support import capfile
from support.paths import BUILD, testdata
from support.programs import run_script

REPLAY = os.path.join(BUILD, "tests", "replay_fuzz_plugin")
MAGIC = b"ipoibseq"
INFINIBAND = 0  # the first of fuzz/linktypes.h

pytestmark = pytest.mark.skipif(
    not os.path.exists(REPLAY), reason="the harness of the plugin is for Wireshark before 4.2"
)


def one_input(octets):
    """Frames in the format of fuzz/frames.h: link type, time, bytes captured, bytes truncated."""
    return b"".join(struct.pack(">BBHH", INFINIBAND, 3, len(o), 0) + o for o in octets)


def sequence_of(inputs):
    return MAGIC + b"".join(struct.pack(">I", len(i)) + i for i in inputs)


@pytest.fixture
def folder(tmp_path):
    """As root, the programs of the Wireshark suite run as nobody, and write there."""
    for path in list(tmp_path.parents)[:2]:
        path.chmod(0o755)
    tmp_path.chmod(0o1777)
    return tmp_path


@pytest.fixture
def inputs(folder):
    """(contents, paths): a capture in three parts."""
    frames = capfile.read(testdata("connected.pcap")).infiniband()
    parts = [one_input(frames[n : n + 41]) for n in (0, 41, 82)]
    paths = [folder / f"input{n}" for n in range(len(parts))]
    for path, part in zip(paths, parts):
        path.write_bytes(part)
    return parts, paths


def replay(paths, **environment):
    settings = {f"IPOIB_FUZZ_{k.upper()}": str(v) for k, v in environment.items()}
    done = run_script("with-plugins", REPLAY, *map(str, paths), **settings)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_inputs_of_the_open_file_are_recorded(inputs, folder):
    parts, paths = inputs
    replay(paths, sequence=folder / "sequence")
    assert (folder / "sequence").read_bytes() == sequence_of(parts)


def test_new_file_discards_earlier_inputs(inputs, folder):
    parts, paths = inputs
    replay(paths, sequence=folder / "sequence", reset=2)
    assert (folder / "sequence").read_bytes() == sequence_of(parts[2:])


def test_recorded_sequence_is_an_input(inputs, folder):
    parts, paths = inputs
    (folder / "sequence").write_bytes(sequence_of(parts))
    replay([paths[0], folder / "sequence"], sequence=folder / "again")
    assert (folder / "again").read_bytes() == sequence_of(parts)


def test_a_truncated_sequence_is_an_input_too(inputs, folder):
    parts, _ = inputs
    whole, cuts = sequence_of(parts), folder / "cuts"
    cuts.mkdir()
    for size in (len(MAGIC), len(MAGIC) + 3, len(MAGIC) + 4, len(MAGIC) + 100, len(whole) - 1):
        (cuts / str(size)).write_bytes(whole[:size])
    assert "5 inputs" in replay([cuts])

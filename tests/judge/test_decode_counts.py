# SPDX-License-Identifier: GPL-2.0-or-later
"""Each decoder of lib/wire runs at most once for a frame: in the captures of testdata, and in every
rule's fixtures."""
import glob
import os
import subprocess
import sys

import pytest

from support.paths import BUILD, SRC, TESTDATA

PROGRAM = os.path.join(BUILD, "bin/decode-counts")


def decode_counts(paths):
    return subprocess.run([PROGRAM, *paths], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("fixtures"))
    program = os.path.join(SRC, "tests/frames/faults.py")
    subprocess.run([sys.executable, "-B", program, folder], check=True, stdout=subprocess.DEVNULL)
    return sorted(glob.glob(os.path.join(folder, "*.pcap")))


def test_captures_of_testdata():
    """RoCE v2 inside IPoIB is a packet of its own, which the tools do not dissect."""
    paths = sorted(glob.glob(os.path.join(TESTDATA, "*.pcap")))
    done = decode_counts(paths + sorted(glob.glob(os.path.join(TESTDATA, "built", "*.pcap"))))
    assert done.returncode == 0, done.stdout[:2000] + done.stderr
    totals = dict(line.split() for line in done.stdout.splitlines())
    assert [name for name, n in totals.items() if int(n) == 0] == [], "a decoder never ran"


def test_fixtures(fixtures):
    assert len(fixtures) > 100
    done = decode_counts(fixtures)
    assert done.returncode == 0, done.stdout[:2000] + done.stderr

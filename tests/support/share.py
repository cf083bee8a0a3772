# SPDX-License-Identifier: GPL-2.0-or-later
"""The captures that "ipoib-capture convert --share" accepts, and their findings."""
import glob
import json
import os

import pytest

from support import capfile
from support.check import run
from support.convert import convert
from support.paths import TESTDATA

# The link types that can contain InfiniBand or IPoIB, and that of the shared file.
LINKTYPES = {
    capfile.ERF: capfile.ERF,
    capfile.INFINIBAND: capfile.ERF,
    capfile.IPOIB: capfile.IPOIB,
    capfile.ETHERNET: capfile.ETHERNET,
    113: 113,  # Linux cooked captures
    276: 276,
}


def link(path):
    try:
        return {i.linktype for i in capfile.read(path).interfaces}
    except (capfile.CaptureError, IndexError):
        return set()


CAPTURES = sorted(
    path
    for pattern in ("*.pcap", "*.pcapng", "*.erf")
    for path in glob.glob(os.path.join(TESTDATA, "**", pattern), recursive=True)
    if link(path) and link(path) <= set(LINKTYPES)
)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """Path of a capture to the path of the anonymised one."""
    folder, made = tmp_path_factory.mktemp("shared"), {}

    def make(path):
        if path not in made:
            made[path] = folder / (os.path.basename(path) + ".pcapng")
            convert("--share", path, made[path])
        return made[path]

    return make


def rules(path):
    """(rule, outcome) to count, and the verdict."""
    report = json.loads(run("--format", "json", "--deviations", "none", str(path)).stdout)
    counts = {(r["id"], r["outcome"]): r["count"] for r in report["results"]}
    return report["summary"]["captures"][0]["verdict"], counts


def packets(path):
    capture = capfile.read(path)
    erf = [i.linktype == capfile.ERF for i in capture.interfaces]
    return [f.data[16:] if erf[f.interface] else f.data for f in capture.frames]

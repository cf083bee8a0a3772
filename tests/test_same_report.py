# SPDX-License-Identifier: GPL-2.0-or-later
"""-z ipoib,conformance,json and ipoib-check --format json are one report: equal but for tool,
version and subject."""
import glob
import json
import os
import struct
import subprocess

import pytest

from support import capfile
from support.check import run
from support.folders import open_folder
from support.paths import TESTDATA, TSHARK, testdata

CAPTURES = sorted(
    path
    for pattern in ("*.pcap", "*.pcapng", "*.erf")
    for path in glob.glob(os.path.join(TESTDATA, "**", pattern), recursive=True)
)


def without_subject(report):
    """The report without the names of program and capture."""
    for name in ("tool", "version", "subject"):
        report.pop(name)
    for result in report["results"]:
        result.pop("capture")
    for capture in report["summary"]["captures"]:
        capture.pop("name")
    return report


def of_plugin(path):
    command = [*TSHARK, "-q", "-z", "ipoib,conformance,json", "-r", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stderr
    return json.loads(done.stdout)


def test_all_captures_are_compared():
    assert len(CAPTURES) >= 75


def compare(path):
    plugin, check = of_plugin(path), json.loads(run("--format", "json", path).stdout)
    assert (plugin["tool"], check["tool"]) == ("ipoib-plugin", "ipoib-check")
    plugin, check = without_subject(plugin), without_subject(check)
    assert [p for p in zip(plugin["results"], check["results"]) if p[0] != p[1]] == []
    assert plugin == check
    assert list(plugin) == list(check)


@pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)
def test_plugin_and_ipoib_check_write_the_same_report(path):
    compare(path)


@pytest.mark.parametrize("missing", [2, 6], ids=["vcrc", "crcs"])
def test_pcapng_of_link_type_247_without_crcs(missing):
    """Wireshark does not know this link type in pcapng; the plugin recognises the frames."""
    frames = capfile.read(testdata("datagram.pcap")).infiniband()
    data = capfile.pcapng(capfile.INFINIBAND, capfile.records([f[:-missing] for f in frames]))
    with open_folder() as folder:
        capture = folder / "capture.pcapng"
        capture.write_bytes(data)
        compare(str(capture))


def test_pcapng_with_custom_blocks():
    """A custom block (pcapng 4.9) has a frame number in Wireshark, but is no captured frame."""
    frames = capfile.read(testdata("datagram.pcap")).infiniband()
    custom = capfile.block(0xBAD, struct.pack("<I", 32473) + b"text")
    data = capfile.section() + capfile.interface(capfile.INFINIBAND)
    for n, frame in enumerate(frames):
        data += capfile.packet(10**9 + n * 1000, frame) + custom
    with open_folder() as folder:
        capture = folder / "capture.pcapng"
        capture.write_bytes(data)
        compare(str(capture))

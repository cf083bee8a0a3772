# SPDX-License-Identifier: GPL-2.0-or-later
"""-z ipoib,conformance,json and ipoib-check --format json are one report: equal but for tool,
version and subject."""
import glob
import json
import os
import struct

import pytest

from frames import edit
from support import capfile, shown
from support.check import run
from support.folders import open_folder
from support.paths import TESTDATA, testdata

CAPTURES = sorted(
    path
    for pattern in ("*.pcap", "*.pcapng", "*.erf")
    for path in glob.glob(os.path.join(TESTDATA, "**", pattern), recursive=True)
)


# What the plugin does not see, or not of all frames: Wireshark's dissectors do not pass on some
# packets whose captured bytes end early (doc/reports.md, Not seen).
OF_THE_FILE = (
    "lost-",
    "marked-",
    "all-",
    "unknown-link-type",
    "times-back",
    "time-unit",
    "old-times",
    "truncated-",
)


def without_tool(report):
    for name in ("tool", "version"):
        report.pop(name)
    for capture in report["summary"]["captures"]:
        capture["unseen"] = [u for u in capture["unseen"] if not u["code"].startswith(OF_THE_FILE)]
    return report


def of_plugin(path):
    return shown.report(shown.show(path, shown.STATISTICS))


def test_all_captures_are_compared():
    assert len(CAPTURES) >= 75


def compare(path):
    plugin = of_plugin(path)
    check = shown.without_capture(json.loads(run("--format", "json", path).stdout))
    assert (plugin["tool"], check["tool"]) == ("ipoib-plugin", "ipoib-check")
    plugin, check = without_tool(plugin), without_tool(check)
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


# Bits of the LRH (IBA 7.7) and the BTH (IBA 9.2) that only the tools' first look reads: (offset, mask)
RESERVED = {"reserved-2": (1, 0x0C), "reserved-5": (4, 0xF8)}  # receivers ignore them
VERSIONS = {
    "link-version": (0, 0x01),
    "transport-version": (9, 0x0F),
}  # receivers drop such packets


def with_bits(data, at, mask, bth=8):
    """The packet with these bits set in the LRH or the BTH, and recomputed CRCs."""
    if at > 7 and data[1] & 3 == 3:  # a GRH is before the BTH
        at += 40
    changed = bytearray(data)
    changed[at] |= mask
    return edit.Packet(bytes(changed)).octets()


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
@pytest.mark.parametrize("bits", [*RESERVED, *VERSIONS])
def test_headers_with_other_bits_are_read_alike(bits, form):
    """A violation in a packet with reserved bits is found. One of another version is not decoded."""
    frames = capfile.read(testdata("datagram.pcap")).infiniband()
    number = next(
        n
        for n, f in enumerate(frames)
        if f[1] & 3 == 2 and f[28:30] == b"\x08\x00" and f[8] == 0x64
    )
    packet = edit.Packet(frames[number])
    packet["reserved"] = 0x1234  # RFC 4391 section 6
    frames[number] = with_bits(packet.octets(), *{**RESERVED, **VERSIONS}[bits])
    records = capfile.records(frames)
    with open_folder() as folder:
        capture = folder / "capture"
        capture.write_bytes(getattr(capfile, form)(capfile.INFINIBAND, records))
        compare(str(capture))
        report = json.loads(run("--format", "json", str(capture)).stdout)
    found = [r for r in report["results"] if r["id"].endswith("reserved-zero")]
    assert bool([r for r in found if r["outcome"] == "fail"]) == (bits in RESERVED), found


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


@pytest.mark.parametrize("form", ["pcap", "pcapng", "erf"])
def test_erf_records_with_padding(form):
    """Capture cards pad records to a multiple of 8 bytes: the bytes after the length on the wire
    are not part of the packet. Receivers drop a packet whose VCRC is wrong (IBA 7.8)."""
    frames = capfile.read(testdata("datagram.pcap")).infiniband()
    last = max(n for n, f in enumerate(frames) if f[1] & 3 == 2 and f[28:30] == b"\x08\x00")
    packet = edit.Packet(frames[last])
    packet["reserved"] = 0x1234  # RFC 4391 section 6
    wrong = packet.octets()
    frames[last] = wrong[:-1] + bytes([wrong[-1] ^ 1])
    records = []
    for time, data, wire in capfile.records(frames):
        stamp, padding = (time << 32) // 10**9, -len(data) % 8
        padded = capfile.erf_record_of(capfile.ERF_INFINIBAND, stamp, data, wire, padding=padding)
        records.append((time, padded, len(padded)))
    with open_folder() as folder:
        path = folder / f"capture.{form}"
        if form == "erf":
            path.write_bytes(b"".join(data for _, data, _ in records))
        else:
            path.write_bytes(getattr(capfile, form)(capfile.ERF, records))
        compare(str(path))
        report = json.loads(run("--format", "json", str(path)).stdout)
    found = [r for r in report["results"] if r["id"].endswith("reserved-zero")]
    assert [r["outcome"] for r in found] == ["inconclusive", "pass"], found


def test_time_of_an_erf_record_in_classic_pcap():
    """Wireshark shows the time in the record, not the time of the file, which may differ."""
    capture = capfile.read(testdata("built/built-never.pcap"))
    for number, frame in enumerate(capture.frames):
        frame.time += number % 2 * 10 * 10**9
    with open_folder() as folder:
        path = folder / "capture.pcap"
        path.write_bytes(capfile.pcap(capfile.ERF, capture.frames))
        compare(str(path))

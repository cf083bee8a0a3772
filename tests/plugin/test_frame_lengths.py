# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of link type 247 whose number of bytes contradicts their LRH: the plugin and ipoib-check
have the same findings, in pcap and in pcapng.

The frame is an echo request of a Linux kernel whose Reserved field is 1 (RFC 4391 section 6), in
many shapes. Its LRH.PktLen counts 4-byte words up to the ICRC (IBA 7.7)."""
import struct

import pytest

from frames.fixture import tape
from support import capfile, findings
from support.check import RESERVED
from support.folders import open_folder
from support.wireshark import tshark

VCRC = 2  # bytes at the end


class EchoRequests:
    """Each is another packet: the queue pair counts its PSNs (IBA 9.8.2.2)."""

    def __init__(self):
        self.tape = tape("datagram.pcap")
        self.tape[45]["reserved"] = 1

    def next(self, vcrc):
        self.tape[45]["psn"] += 1
        data = self.tape.frame(45).octets()
        return data if vcrc else data[:-VCRC]


def with_words(data, words):
    """The frame with another LRH.PktLen (the low 11 bits of bytes 4 and 5)."""
    (old,) = struct.unpack_from(">H", data, 4)
    return data[:4] + struct.pack(">H", old & 0xF800 | words) + data[6:]


def shapes():
    """name -> (bytes, length on the wire)"""
    requests = EchoRequests()
    words = (len(requests.next(True)) - VCRC) // 4
    found = {}
    for name, vcrc in (("vcrc", True), ("no vcrc", False)):
        for n in range(65):
            data = requests.next(vcrc)
            found[f"{name}, {n} more"] = (data + bytes(n), len(data) + n)
        for n in (0, 1, 2, 5, words - 1, words + 1, words + 16, 0x7FF):
            for shape, cut, more in (("", None, 0), (", 4 more", None, 4), (", truncated", 60, 0)):
                data = with_words(requests.next(vcrc), n) + bytes(more)
                found[f"{name}, PktLen {n}{shape}"] = (data[:cut], len(data))
        for n in (0, 7, 8, 19, 20, 27, 28, 32, 40, 60):
            for shape, wire in ((" captured", 0), (" captured, 4 more", 4)):
                data = requests.next(vcrc)
                found[f"{name}, {n}{shape}"] = (data[:n], len(data) + wire)
            found[f"{name}, only {n}"] = (requests.next(vcrc)[:n], n)
    return found


SHAPES = shapes()


@pytest.fixture(name="found", scope="module")
def both_findings():
    """format -> the findings of the plugin, and those without Wireshark: name -> rules."""
    found = {}
    records = [(10**9 * n, data, wire) for n, (data, wire) in enumerate(SHAPES.values(), 1)]
    with open_folder() as folder:
        for kind, write in (("pcap", capfile.pcap), ("pcapng", capfile.pcapng)):
            path = folder / f"shapes.{kind}"
            path.write_bytes(write(capfile.INFINIBAND, records))
            found[kind] = rules_of_plugin(path), rules_of_check(path)
    return found


def rules_of_plugin(path):
    run = tshark("-r", path, "-T", "fields", "-e", "ipoib.rule.id", "-e", "ipoib.note.id")
    assert run.returncode == 0, run.stderr
    rows = [line.replace("\t", ",").split(",") for line in run.stdout.splitlines()]
    assert len(rows) == len(SHAPES)
    return {name: sorted(filter(None, row)) for name, row in zip(SHAPES, rows)}


def rules_of_check(path):
    """bin/findings has ipoib-check's decoders and rules; it prints the findings of each frame."""
    rules = {name: [] for name in SHAPES}
    names = list(SHAPES)
    for finding in findings.frames(str(path), "--deviations", "linux"):
        rules[names[finding.frame - 1]].append(finding.rule)
    return {name: sorted(of_frame) for name, of_frame in rules.items()}


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
def test_plugin_and_check_agree(kind, found):
    plugin, expected = found[kind]
    assert {n: plugin[n] for n in SHAPES if plugin[n] != expected[n]} == {}


def test_both_formats_have_the_same_findings(found):
    assert found["pcap"] == found["pcapng"]


@pytest.mark.parametrize("kind", ["pcap", "pcapng"])
@pytest.mark.parametrize(
    "name", ["vcrc, 0 more", "vcrc, 4 more", "vcrc, 64 more", "no vcrc, 0 more", "vcrc, PktLen 0"]
)
def test_fault_is_found(name, kind, found):
    assert RESERVED in found[kind][0][name]

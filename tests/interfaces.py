#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several subnets in one capture: what is seen on one interface is not known on another.

Two real captures whose LIDs, GIDs, P_Keys and MGIDs are the same, but not all that goes with them (Q_Key, MLIDs, scope,
communication IDs), are put into one pcapng as two interfaces, frame by frame in turn. What ipoib-check and the plugin
find in it must be what they find in each alone.

Environment: IPOIB_SRC, IPOIB_BIN, IPOIB_TSHARK. Output: TAP."""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

from tap import BIN, SRC, TSHARK, finish, tap

PAIRS = [("datagram.pcap", "connected.pcap"), ("two-scopes.pcap", "sm-failover.pcap"), ("connected.pcap", "connected.pcap"),
         ("cm-reject.pcap", "retransmit.pcap"), ("partitions.pcap", "switch4.pcap")]
INFINIBAND = 247


def read(path):
    """Records of a little-endian pcap of nanoseconds: (ns, octets)."""
    data = open(path, "rb").read()
    magic, = struct.unpack_from("<I", data)
    assert magic == 0xa1b23c4d, path
    at, out = 24, []
    while at < len(data):
        sec, ns, cap, _ = struct.unpack_from("<IIII", data, at)
        out.append((sec * 10**9 + ns, data[at + 16:at + 16 + cap]))
        at += 16 + cap
    return out


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(frames):
    """frames: (interface, ns, octets); two interfaces."""
    out = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    for _ in range(2):
        out += block(1, struct.pack("<HHI", INFINIBAND, 0, 0) + struct.pack("<HHBxxx", 9, 1, 9) + struct.pack("<HH", 0, 0))
    for interface, ns, octets in frames:
        out += block(6, struct.pack("<IIIII", interface, ns >> 32, ns & 0xffffffff, len(octets), len(octets)) + octets)
    return out


def interleave(a, b):
    """Both captures in turn, and which frame of which each frame of the result is."""
    frames, origin = [], []
    for i in range(max(len(a), len(b))):
        for which, records in ((0, a), (1, b)):
            if i < len(records):
                frames.append((which,) + records[i])
                origin.append((which, i + 1))
    return frames, origin


def by_check(path):
    """How often each rule had each outcome but pass and inconclusive; ipoib-check does not list every frame."""
    out = subprocess.run([os.path.join(BIN, "ipoib-check"), "--format", "json", path], capture_output=True, text=True)
    counts = collections.Counter()
    for r in json.loads(out.stdout)["results"]:
        if r["outcome"] in ("fail", "deviation", "noted"):
            counts[r["id"], r["outcome"]] += r["count"]
    return counts


def by_tshark(path):
    rows = subprocess.run(TSHARK + ["-r", path, "-Y", "ipoib.rule.id || ipoib.note.id", "-T", "fields", "-e", "frame.number",
                                    "-e", "ipoib.rule.id", "-e", "ipoib.rule.deviation", "-e", "ipoib.note.id"],
                          capture_output=True, text=True, check=True).stdout
    found = []
    for row in rows.splitlines():
        number, ids, deviations, notes = row.split("\t")
        told = list(zip(ids.split(","), deviations.split(","))) if ids else []
        found += [(int(number), i, "fail" if d in ("0", "False") else "deviation") for i, d in told]
        found += [(int(number), n, "noted") for n in notes.split(",") if n]
    return sorted(found)


def check_frames(paths, both, origin):
    """By the plugin: each finding in its own frame."""
    alone = [by_tshark(p) for p in paths]
    found = [[], []]
    for frame, rule, outcome in by_tshark(both):
        which, number = origin[frame - 1]
        found[which].append((number, rule, outcome))
    complaints = []
    for which in (0, 1):
        complaints += ["of %d too much %s, lacking %s" % (which + 1, sorted(set(found[which]) - set(alone[which]))[:8],
                                                          sorted(set(alone[which]) - set(found[which]))[:8])]
    good = [sorted(f) for f in found] == alone and alone[0] and alone[1]
    return good, complaints


def check_counts(paths, both, _):
    """By ipoib-check: the sum of both."""
    wanted, found = by_check(paths[0]) + by_check(paths[1]), by_check(both)
    return found == wanted and wanted, ["too much %s, lacking %s" % (found - wanted, wanted - found)]


def main():
    tools = [("the plugin", check_frames)]
    if os.path.exists(os.path.join(BIN, "ipoib-check")):
        tools.append(("ipoib-check", check_counts))
    with tempfile.TemporaryDirectory(prefix="ipoib-interfaces.") as folder:
        os.chmod(folder, 0o755)
        for one, other in PAIRS:
            paths = [os.path.join(SRC, "testdata", n) for n in (one, other)]
            frames, origin = interleave(*map(read, paths))
            both = os.path.join(folder, "both.pcapng")
            with open(both, "wb") as out:
                out.write(pcapng(frames))
            for name, check in tools:
                good, complaints = check(paths, both, origin)
                tap(good, "%s and %s, by %s" % (one, other, name), complaints)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

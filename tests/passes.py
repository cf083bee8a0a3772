#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One pass, two passes, filtered and read again: a capture shows the same, and no state is left behind.

Of every capture in testdata the ipoib.* fields, Info and addresses of every frame are compared: `tshark`, `tshark -2`,
`tshark -Y` with a filter that most frames pass and, where sharkd is there, the same process that loads a capture,
another one and the first again. Links to frames that come later are known to a second pass alone. Of frames cut at every
length sharkd shows the same however often it is asked.

Environment: IPOIB_SRC, IPOIB_TSHARK, IPOIB_SHARKD (default: script/with-plugins sharkd). Output: TAP."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from sharkd import ask_sharkd
from tap import SRC, TSHARK, faultless, finish, skip, tap

sys.path.insert(0, os.path.join(SRC, "tests/frames"))
import ib  # noqa: E402
from fixture import tape  # noqa: E402

# known from later frames
FORWARD = {"ipoib.response_in", "ipoib.reassembled.in"}
# Wireshark's own RPC-over-RDMA has a bug of its own in second passes (doc/upstream.md)
QUIET = ["--disable-protocol", "rpcordma"]
# what Wireshark's own dissectors and ours write into Info once they know a later frame
LATER = re.compile(r", reassembled in \d+| \(reply in \d+\)| \(no response found!\)| \(multicast\)| \[Reassembled in #\d+\]")


def fields():
    out = subprocess.run(TSHARK + ["-G", "fields"], capture_output=True, text=True, check=True).stdout
    rows = (line.split("\t") for line in out.splitlines())
    return sorted({r[2] for r in rows if r[0] == "F" and r[2].startswith("ipoib.")} - FORWARD)


def show(capture, names, options):
    command = TSHARK + QUIET + options + ["-r", capture, "-T", "fields", "-e", "frame.number", "-e", "frame.protocols",
                                          "-e", "_ws.col.Source", "-e", "_ws.col.Destination", "-e", "_ws.col.Info"]
    for name in names:
        command += ["-e", name]
    rows = subprocess.run(command, capture_output=True, text=True)
    if rows.returncode:
        return {"error": rows.stderr}
    return {line.split("\t")[0]: LATER.sub("", line) for line in rows.stdout.splitlines()}


def differences(a, b):
    out = []
    for n in b:
        if a.get(n) != b[n]:
            columns = [x for x in zip(a.get(n, "").split("\t"), b[n].split("\t")) if x[0] != x[1]]
            out.append("frame %s: %s" % (n, columns[:3]))
    return out


def load(capture):
    return {"method": "load", "params": {"file": os.path.abspath(capture)}}


def ask_frame(n):
    return {"method": "frame", "params": {"frame": n, "proto": True, "columns": True}}


def show_in_turn(captures):
    """Every frame's tree of each capture in turn, from one process."""
    requests = []
    for capture in captures:
        requests += [load(capture), {"method": "frames", "params": {}}] + [ask_frame(n) for n in range(1, 81)]
    answers = ask_sharkd(requests)
    per = len(requests) // len(captures)
    return answers and [answers[i * per:(i + 1) * per] for i in range(len(captures))]


def reload_test():
    first, other = (os.path.join(SRC, "testdata", n) for n in ("connected.pcap", "datagram.pcap"))
    shown = show_in_turn([first, other, first, first])
    if shown is None:
        skip("reloading leaves no state", "sharkd does not run here")
        return
    complaints = ["answer %d differs" % i for i, (a, b) in enumerate(zip(shown[0], shown[2])) if a != b]
    tap(not complaints and "ipoib.connection" in json.dumps(shown[0]), "another file between: nothing is left of it", complaints)
    complaints = ["answer %d differs" % i for i, (a, b) in enumerate(zip(shown[2], shown[3])) if a != b]
    faultless("the same file again shows the same", complaints)


def written(folder, name, records):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(ib.pcap(247, records, ns=True))
    return path


def again_test(folder):
    """The octets of an ARP request and of a CM REQ, cut at every length: each is dissected as often as one looks at it."""
    times = 7
    whole = [tape("connected.pcap").frame(n).octets() for n in (41, 45)]
    records = [ib.rec(i, octets, cut) for octets in whole for i, cut in enumerate(range(1, len(octets)))]
    capture = written(folder, "cut.pcap", records)
    answers = ask_sharkd([load(capture)] + [ask_frame(n) for n in range(1, len(records) + 1) for _ in range(times)])
    if answers is None:
        skip("cut frames show the same again", "sharkd does not run here")
        return
    shown = [answers[1 + i * times:1 + (i + 1) * times] for i in range(len(records))]
    differ = [n for n, same in enumerate(shown, 1) if any(s != same[0] for s in same)]
    faultless("cut frames show the same again", "differ: %s" % differ if differ else "")


def nested_test(folder, names):
    """RoCE v2 over a connection: of the packet within nothing is known, however much is of the one that carries it."""
    t = tape("connected.pcap")
    inner = ib.bth(0x04, 0xffff, 0x77, 1) + ib.encap(0x0800, bytes(24)) + bytes(4)
    t[59].datagram(0x0800, ib.ipv4("10.0.0.1", "10.0.0.2", 17, ib.udp("10.0.0.1", "10.0.0.2", 49152, 4791, inner)))
    capture = written(folder, "nested.pcap", [ib.rec(f.time, f.octets()) for f in t.frames])
    one, two = show(capture, names, []), show(capture, names, ["-2"])
    faultless("RoCE v2 over a connection: two passes show what one does", differences(one, two))
    protocols = one["59"].split("\t")[1]
    tap(protocols.count("ipoib") == 1 and protocols.count("infiniband") == 2, "RoCE v2 over a connection: the outer packet alone is IPoIB",
        protocols)


def main():
    names = fields()
    captures = sorted(glob.glob(os.path.join(SRC, "testdata/*.pcap")) + glob.glob(os.path.join(SRC, "testdata/built/*.*")))
    for capture in [c for c in captures if not c.endswith((".md", "README"))]:
        one, two = show(capture, names, []), show(capture, names, ["-2"])
        name = os.path.basename(capture)
        complaints = differences(one, two) + differences(two, one)
        tap(not complaints and "error" not in one, name + ": two passes show what one does", complaints)
        if "built" in capture:
            continue
        faultless(name + ": filtered shows what the whole does", differences(one, show(capture, names, ["-Y", "frame.number > 3"])))
    reload_test()
    with tempfile.TemporaryDirectory(prefix="ipoib-passes.") as folder:
        os.chmod(folder, 0o755)
        again_test(folder)
        nested_test(folder, names)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

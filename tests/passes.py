#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One pass, two passes, filtered and read again: a capture shows the same, and no state is left behind.

Of every capture in testdata the ipoib.* fields, Info and addresses of every frame are compared: `tshark`, `tshark -2`,
`tshark -Y` with a filter that most frames pass and, where sharkd is there, the same process that loads a capture,
another one and the first again. Links to frames that come later are known to a second pass alone.

Environment: IPOIB_SRC, IPOIB_TSHARK, IPOIB_SHARKD (default: script/with-plugins sharkd). Output: TAP."""
import glob
import json
import os
import re
import subprocess
import sys

from tap import SHARKD, SRC, TSHARK, faultless, finish, skip, tap

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


def ask_sharkd(captures):
    """Every frame's tree of each capture in turn, from one process."""
    requests = []
    for capture in captures:
        requests.append({"method": "load", "params": {"file": os.path.abspath(capture)}})
        requests.append({"method": "frames", "params": {}})
        requests += [{"method": "frame", "params": {"frame": n, "proto": True, "columns": True}} for n in range(1, 81)]
    text = "".join(json.dumps(dict(r, jsonrpc="2.0", id=i)) + "\n" for i, r in enumerate(requests, 1))
    out = subprocess.run(SHARKD + ["-"], input=text, capture_output=True, text=True, timeout=300)
    answers = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
    per = len(requests) // len(captures)
    if len(answers) != len(requests):
        return None
    strip = lambda a: {k: v for k, v in a.items() if k != "id"}
    return [[strip(a) for a in answers[i * per:(i + 1) * per]] for i in range(len(captures))]


def reload_test():
    first, other = (os.path.join(SRC, "testdata", n) for n in ("connected.pcap", "datagram.pcap"))
    try:
        shown = ask_sharkd([first, other, first, first])
    except FileNotFoundError:
        shown = None
    if shown is None:
        skip("reloading leaves no state", "sharkd does not run here")
        return
    complaints = ["answer %d differs" % i for i, (a, b) in enumerate(zip(shown[0], shown[2])) if a != b]
    tap(not complaints and "ipoib.connection" in json.dumps(shown[0]), "another file between: nothing is left of it", complaints)
    complaints = ["answer %d differs" % i for i, (a, b) in enumerate(zip(shown[2], shown[3])) if a != b]
    faultless("the same file again shows the same", complaints)


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
    return finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What was not seen is no fault: conformant captures that began later, or lost frames, show no failure.

Every real capture of testdata is judged as if it had begun with its 2nd, 5th, 8th ... frame, and with 2 and 5 of a hundred
frames lost at random (seeded). But for what its whole shows, there must be no failure in any of these.

Losses show by gaps in the PSNs of a port's GSI. They are not seen where a request and its answer are both lost and the port
asks for nothing else before it sends, nor of what the subnet manager tells a port (its P_Key table): with other seeds, less
than one run in a thousand shows a failure (join-before-send, mlid-as-dlid, pkey-configured).

Environment: IPOIB_SRC, IPOIB_BUILD. Output: TAP."""
import glob
import os
import subprocess
import sys

from tap import BUILD, SRC, faultless, finish

STEP, SEEDS = 3, 40


def failures(capture, *options):
    """(frame, rule) of each failure; None: it could not be judged."""
    out = subprocess.run([os.path.join(BUILD, "bin/findings"), "--deviations", "linux", "--frames", *options, capture],
                         capture_output=True, text=True)
    rows = [line.split("\t") for line in out.stdout.splitlines()]
    return None if out.returncode else {(int(r[0]), r[1]) for r in rows if r[2] == "fail"}


def frames(capture):
    data, at, n = open(capture, "rb").read(), 24, 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
        n += 1
    return n


def main():
    captures = sorted(glob.glob(os.path.join(SRC, "testdata/*.pcap")))
    for capture in captures:
        # a fault that stands for its whole subject moves to the subject's next frame where the first is missing
        allowed = {rule for _, rule in failures(capture)}
        runs = [("--skip", str(n)) for n in range(1, frames(capture), STEP)]
        runs += [("--lose", permille, "--seed", str(seed)) for permille in ("20", "50") for seed in range(1, SEEDS + 1)]
        complaints = []
        for options in runs:
            found = failures(capture, *options)
            if found is None or {rule for _, rule in found} - allowed:
                complaints.append("%s: %s" % (" ".join(options), found))
        faultless("%s, %d times in parts" % (os.path.basename(capture), len(runs)), complaints)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

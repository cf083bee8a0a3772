#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The preferences do what they say: reassembly on and off, and the limit on unfinished messages; Wireshark's own for RoCE v2, too.

built-rc-interleaved.pcap holds three whole messages, their Firsts before their Middles before their Lasts; with no
memory for unfinished messages but the one at hand, each First drives out the one before, and only the third is left. connected.pcap's two
messages come one after the other, and need none. Environment: IPOIB_SRC, IPOIB_TSHARK. Output: TAP."""
import os
import subprocess
import sys
import tempfile

from tap import SRC, TSHARK, finish, tap

CASES = [  # preference, alternating messages that are put together, messages one after the other
    ("ipoib.reassembly_limit:256", 3, 2),
    ("ipoib.reassembly_limit:0", 1, 2),
    ("ipoib.reassemble:FALSE", 0, 0),
]


def reassembled(capture, preference):
    out = subprocess.run(TSHARK + ["-o", preference, "-r", os.path.join(SRC, "testdata", capture), "-Y",
                                   "ipoib.reassembled.length", "-T", "fields", "-e", "frame.number"],
                         capture_output=True, text=True, check=True)
    return len(out.stdout.split())


ROCE2_PORT, OTHER_PORT = 4791, 4792
ROCE2_CASES = [  # port of the capture, options, how many of its three frames are IPoIB's
    (ROCE2_PORT, [], 3),
    (ROCE2_PORT, ["-d", "udp.port==4791,dns"], 0),
    (ROCE2_PORT, ["-o", "infiniband.rroce.port:4792"], 0),
    (OTHER_PORT, ["-o", "infiniband.rroce.port:4792"], 3),
]


def roce2_test(folder):
    """The port is whose the user says it is, and what is no RoCE v2 then is not judged."""
    with open(os.path.join(SRC, "testdata/built/built-carrier-roce2.pcap"), "rb") as f:
        data = f.read()
    for port, options, wanted in ROCE2_CASES:
        path = os.path.join(folder, "%d.pcap" % port)
        with open(path, "wb") as f:
            f.write(data.replace(ROCE2_PORT.to_bytes(2, "big"), port.to_bytes(2, "big")))
        out = subprocess.run(TSHARK + options + ["-q", "-r", path, "-z", "ipoib,conformance"], capture_output=True, text=True)
        tap("3 frames, %d with IPoIB." % wanted in out.stdout, "RoCE v2 on port %d, %s" % (port, " ".join(options) or "by default"),
            out.stdout + out.stderr)


def main():
    for preference, alternating, in_turn in CASES:
        seen = reassembled("built/built-rc-interleaved.pcap", preference), reassembled("connected.pcap", preference)
        tap(seen == (alternating, in_turn), preference, "%d and %d" % seen)
    with tempfile.TemporaryDirectory(prefix="ipoib-preferences.") as folder:
        os.chmod(folder, 0o755)
        roce2_test(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

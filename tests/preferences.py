#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The preferences do what they say: reassembly on and off, and the limit on unfinished messages.

built-rc-interleaved.pcap holds three whole messages, their Firsts before their Middles before their Lasts; with no
memory for unfinished messages but the one at hand, each First drives out the one before, and only the third is left. connected.pcap's two
messages come one after the other, and need none. Environment: IPOIB_SRC, IPOIB_TSHARK. Output: TAP."""
import os
import subprocess
import sys

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


def main():
    for preference, alternating, in_turn in CASES:
        seen = reassembled("built/built-rc-interleaved.pcap", preference), reassembled("connected.pcap", preference)
        tap(seen == (alternating, in_turn), preference, "%d and %d" % seen)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs ipoib-probe node once for each of many nodes, one after the other, within the simulated
interface (tests/support/played_interface.py):

    many_nodes.py FIRST NUMBER FOLDER PROGRAM...

Each node has its own GID and LID, and its own state in FOLDER. It prints JSON: the seconds, and how
often each exit status and each line came."""
import collections
import json
import subprocess
import sys
import time

PORT = "/sys/class/net/ib9/device/infiniband/hca0/ports/1"


def write(name, text):
    with open(f"{PORT}/{name}", "w", encoding="ascii") as f:
        f.write(text)


def gid_of(number):
    return f"fe80:0000:0000:0000:0002:c903:{number >> 16:04x}:{number & 0xFFFF:04x}\n"


def main(first, number, folder, command):
    statuses, lines = collections.Counter(), collections.Counter()
    begin = time.monotonic()
    for node in range(first, first + number):
        write("gids/0", gid_of(node))
        write("lid", f"{node:#x}\n")
        done = subprocess.run(
            [*command, "--state", f"{folder}/{node}", "node"],
            capture_output=True,
            text=True,
            check=False,
        )
        statuses[str(done.returncode)] += 1
        lines[done.stdout + done.stderr] += 1
    seconds = time.monotonic() - begin
    json.dump({"seconds": seconds, "statuses": statuses, "lines": lines}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])

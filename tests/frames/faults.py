#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the rules' fixtures: faults.py OUTDIR, or faults.py --list.

Each starts from a real capture of testdata. RULE.fail.pcap has one fault, which the decorated
function makes; fixture.py explains RULE.pass, RULE.use and RULE.shown. base.NAME.pcap are the
derived captures that they start from (bases.py). OUTDIR/fixtures.json is the table: rule, kind,
capture, base, frame that must have the finding (0: none), outcome if Linux's deviations are known,
rules with additional findings, one sentence. --list prints the table of faults. The output depends
only on testdata and this code.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import (
    bases,
    fault_addresses,
    fault_connections,
    fault_datagrams,
    fault_dhcp,
)  # noqa: E402
from frames import fault_groups, fixture, shown  # noqa: E402

MODULES = (
    bases,
    fault_datagrams,
    fault_groups,
    fault_addresses,
    fault_connections,
    fault_dhcp,
    shown,
)  # they fill fixture's tables


def write(out, name, tape):
    with open(os.path.join(out, name), "wb") as f:
        f.write(tape.pcap())


def entry(out, f):
    frame = 0
    if f.make:
        t, frame = fixture.make_capture(f)
        write(out, f.name(), t)
    return {
        "rule": f.rule,
        "kind": f.kind,
        "capture": os.path.join(out, f.name()),
        "frame": frame,
        "base": os.path.join(out, fixture.base_file(f.base)),
        "linux": f.linux,
        "also": f.also,
        "what": f.what,
    }


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if argv[1] == "--list":
        for f in fixture.FIXTURES:
            base = fixture.BASES[f.base][0] if f.base in fixture.BASES else f.base
            print("%s\t%s\t%s\t%s" % (f.rule, f.kind, base, f.what))
        return 0
    out = os.path.abspath(argv[1])
    os.makedirs(out, exist_ok=True)
    for name in fixture.BASES:
        write(out, fixture.base_file(name), fixture.tape(name))
    with open(os.path.join(out, "fixtures.json"), "w") as f:
        json.dump([entry(out, x) for x in fixture.FIXTURES], f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

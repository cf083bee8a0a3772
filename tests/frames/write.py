# SPDX-License-Identifier: GPL-2.0-or-later
"""The program that writes a folder of captures: PROGRAM OUTDIR [--check]."""
import os
import sys


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def write(argv, usage, captures, keep=None):
    """captures: name to function. --check writes nothing, and reports which files differ. keep: other
    files that may be in the folder; None: any. Returns the exit status."""
    if len(argv) not in (2, 3) or argv[1].startswith("-") or argv[2:] not in ([], ["--check"]):
        print(usage, file=sys.stderr)
        return 2
    out, check, bad = argv[1], len(argv) == 3, 0
    os.makedirs(out, exist_ok=True)
    for name, make in captures.items():
        path, data = os.path.join(out, name), make()
        if not check:
            with open(path, "wb") as f:
                f.write(data)
        elif read(path) != data:
            print(f"{path}: differs from what {os.path.basename(argv[0])} makes")
            bad = 1
    for name in (
        sorted(set(os.listdir(out)) - {*captures, *(keep or ())}) if keep is not None else []
    ):
        print(f"{os.path.join(out, name)}: is not made by {os.path.basename(argv[0])}")
        bad = 1
    return bad

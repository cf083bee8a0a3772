# SPDX-License-Identifier: GPL-2.0-or-later
"""The expectations of tests/frames/expect: which values tshark shows of a capture. The README there
describes the files, which are written by hand from the documents."""
import os
import re

from support.paths import SRC

EXPECT = os.path.join(SRC, "tests", "frames", "expect")
COLUMNS = {
    "info": "_ws.col.Info",
    "src": "_ws.col.Source",
    "dst": "_ws.col.Destination",
    "proto": "frame.protocols",
}
CAPTURES = sorted(n[: -len(".txt")] for n in os.listdir(EXPECT) if n.endswith(".txt"))


class Line:
    """One line of an expectation: its frames, its mode, the expected value."""

    def __init__(self, where, frames, mode, field, op, value):
        self.where, self.frames, self.mode = where, frames, mode
        self.field, self.op, self.value = field, op, value


def frame_set(text):
    """'1,3-5' as a set of numbers; '*' as None, all."""
    if text == "*":
        return None
    out = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        out.update(range(int(first), int(last or first) + 1))
    return out


def parse(path):
    """(lines, frame count or None) of an expectation file and the files that it includes."""
    lines, count = [], None
    with open(path, encoding="utf-8") as f:
        text = f.read().split("\n")
    for number, raw in enumerate(text, 1):
        line = re.sub(r"(^|\s)#(\s.*|$)", "", raw).strip()
        if not line:
            continue
        where = f"{os.path.basename(path)}:{number}"
        if line.startswith("include "):
            more, n = parse(os.path.join(os.path.dirname(path), line.split(None, 1)[1]))
            lines += more
            count = n if n is not None else count
            continue
        m = re.fullmatch(r"frames\s*=\s*(\d+)", line)
        if m:
            count = int(m[1])
            continue
        m = re.fullmatch(
            r"([\d,*-]+)(?:@([12]))?\s+(!)?([\w.-]+)(?:\s+(=|~|!~|has|all)(?:\s+(.*))?)?", line
        )
        if not m or (m[3] and m[5]) or (m[5] and m[6] is None):
            raise ValueError(f"{where}: cannot be read: {line}")
        op = "absent" if m[3] else (m[5] or "present")
        lines.append(
            Line(where, frame_set(m[1]), int(m[2] or 0), COLUMNS.get(m[4], m[4]), op, m[6])
        )
    return lines, count


def of_capture(name):
    """(lines, frame count or None) of a capture of CAPTURES."""
    return parse(os.path.join(EXPECT, name + ".txt"))


def fields():
    """The fields of all expectations."""
    return {line.field for name in CAPTURES for line in of_capture(name)[0]}

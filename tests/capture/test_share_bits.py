# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share lets only those bits through that doc/sharing.md lists.

Each frame is one shape of frame. bin/shown-bits changes its bits, anonymises it with the same key,
and compares: a change that shows must be in the table beside the frame (frames/layout.py)."""
import os
import subprocess

import pytest

from frames.layout import JUDGED, KEPT, MAPPED, STRUCTURE, Piece
from frames.shared_frames import families
from support.paths import BIN

FAMILIES = dict(families())
CUTS = 12  # truncations of each frame
VALUES = 4  # a checksum or CRC is right, wrong or absent; a CRC also depends on another one


def line(shape, size, kind):
    piece = shape.piece[:size]
    shown, maybe = piece.mask(KEPT, MAPPED), piece.mask(STRUCTURE)
    if size < len(shape.piece):
        # a part of a field that is mapped, or of a header that is kept as a whole, is zero
        shown, maybe = bytes(size), bytes(a | b for a, b in zip(shown, maybe))
    judged = bytes(0xFF if b else 0 for b in piece.mask(JUDGED))
    words = [b.hex() for b in (piece.data, shown, maybe, judged)]
    return " ".join([kind, str(shape.linktype), str(len(shape.piece)), *words]), shown


def sizes(shape):
    """All bytes, and fewer."""
    whole = len(shape.piece)
    step = max(1, whole // (2 if shape.alone else CUTS))
    return [whole, *range(whole - 1, 1, -step)]


def shown_bits(lines):
    program = os.path.join(BIN, "shown-bits")
    done = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [answer.split() for answer in done.stdout.splitlines()]


def run(shapes):
    """For each shape and size: (name, shape, expected mask, found mask, values, new frame)."""
    lines, asked = [], []
    for name, shape in shapes:
        lines.append("forget")
        for linktype, frame in shape.before:
            lines.append(f"before {linktype} {len(frame)} {frame.hex()}")
        for size in sizes(shape):
            text, expected = line(shape, size, "alone" if shape.alone else "frame")
            lines.append(text)
            asked.append((name, shape, expected))
    answers = shown_bits(lines)
    assert len(answers) == len(asked)
    for (name, shape, expected), (found, values, new) in zip(asked, answers):
        yield name, shape, expected, bytes.fromhex(found), int(values), bytes.fromhex(new)


def text_of(mask):
    """The bytes of a mask that are not 0, with their offsets."""
    return " ".join(f"{at}:{byte:02x}" for at, byte in enumerate(mask) if byte) or "nothing"


def same_fields(piece, new):
    """The mapped fields of a whole frame that are as before, unless they are all zero."""
    for first, end in piece.mapped:
        if len(new) == len(piece) and piece.data[first:end] == new[first:end]:
            if any(new[first:end]):
                yield f"{first} to {end}"


@pytest.mark.parametrize("family", FAMILIES)
def test_only_listed_bits_show(family):
    wrong = []
    for name, shape, expected, found, values, new in run(FAMILIES[family]):
        title = f"{name}, {len(new)} bytes: "
        leaks = bytes(f & ~e & 0xFF for e, f in zip(expected, found))
        missing = bytes(e & ~f & 0xFF for e, f in zip(expected, found))
        if any(leaks):
            wrong.append(title + f"shows {text_of(leaks)}")
        if any(missing):
            wrong.append(title + f"does not show {text_of(missing)}")
        if values > VALUES:
            wrong.append(title + f"{values} values of a checksum or CRC")
        wrong += [title + f"the same bytes {field}" for field in same_fields(shape.piece, new)]
    assert not wrong, "\n".join(wrong)

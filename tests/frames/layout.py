# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of a frame, and what "ipoib-capture convert --share" lets through of each bit.

The tables in frames/shared_*.py that use this module are written from the documents that they name
and from doc/sharing.md, not from the project's code."""
from frames import ib

# What happens to a field: the change of a bit of it
KEPT = "k"  # shows, because the bit is kept
MAPPED = "m"  # shows, because the value is replaced by another one; a field is not what it was
ZERO = "z"  # never shows
STRUCTURE = "q"  # may show: kind or length of a part that is not kept
JUDGED = "j"  # shows only whether a checksum or CRC is right, wrong or absent


class Piece:
    """data, one letter for each bit of it, and the (first, end) byte of each field that is mapped."""

    def __init__(self, data=b"", letters="", mapped=()):
        assert len(letters) == 8 * len(data), (len(letters) / 8, len(data))
        self.data, self.letters, self.mapped = bytes(data), letters, tuple(mapped)

    def __add__(self, other):
        n = len(self.data)
        moved = [(first + n, end + n) for first, end in other.mapped]
        return Piece(self.data + other.data, self.letters + other.letters, [*self.mapped, *moved])

    def __len__(self):
        return len(self.data)

    def __getitem__(self, part):
        first, end, step = part.indices(len(self.data))
        assert step == 1
        mapped = [(a - first, b - first) for a, b in self.mapped if first <= a and b <= end]
        return Piece(self.data[first:end], self.letters[8 * first : 8 * end], mapped)

    def mask(self, *letters):
        """The bits that have one of these letters, as bytes."""
        bits = "".join("1" if c in letters else "0" for c in self.letters)
        return int(bits or "0", 2).to_bytes(len(self.data), "big")

    def put(self, at, data):
        """The same with other data at this offset."""
        changed = self.data[:at] + data + self.data[at + len(data) :]
        return Piece(changed, self.letters, self.mapped)

    def sum_is_zero(self, at):
        """With a checksum at this offset that becomes zero, because it covers other packets too."""
        letters = self.letters[: 8 * at] + 16 * ZERO + self.letters[8 * at + 16 :]
        return Piece(self.data, letters, self.mapped)


def fields_of(text, data):
    """ "16k 5z k": 16 kept bits, 5 zeros, the rest kept."""
    out, mapped, size = "", [], 8 * len(data)
    for word in text.split():
        bits = int(word[:-1]) if word[:-1] else size - len(out)
        if word[-1] == MAPPED:
            mapped.append((len(out) // 8, (len(out) + bits) // 8))
        out += word[-1] * bits
    assert len(out) == size, (text, len(out), size)
    return Piece(data, out, mapped)


def lay(data, text, junk=True):
    """DATA with these fields. Zero bits of it are filled with other bits, because senders do."""
    piece = fields_of(text, data)
    if not junk:
        return piece
    fill = bytes(b"\x5a\xa7\x6b\xd5"[i % 4] for i in range(len(data)))
    zero = piece.mask(ZERO)
    mixed = bytes(d & ~z & 0xFF | f & z for d, f, z in zip(data, fill, zero))
    return Piece(mixed, piece.letters, piece.mapped)


def join(*pieces):
    out = Piece()
    for piece in pieces:
        out = out + piece
    return out


def junk(size):
    return lay(bytes(size), "z")


def summed(piece, at, pseudo=b""):
    """With the right checksum at this offset (RFC 1071)."""
    piece = piece.put(at, bytes(2))
    return piece.put(at, ib.u16(ib.inet_checksum(pseudo + piece.data)))


LLADDR = "32k 128m"  # flags, QPN; GID (RFC 4391 section 9.1.1)

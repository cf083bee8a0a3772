# SPDX-License-Identifier: GPL-2.0-or-later
"""The transformations of a capture in the law of degradation, as steps of a chain.

A step refers to frames by their numbers in the whole capture, so it has the same meaning after
other steps, or without them. It is called with the frames (Seen), and returns them."""
import dataclasses
import random
import struct
import typing
import zlib

from support import capfile, split

VCRC, CRCS, PERMISSIVE = 2, 6, 0xFFFF
LRH_SLID, LNH_GRH, SGID = 6, 3, slice(16, 32)
WINDOW_NS = 10_000_000  # lib/model/order.h: ORDER_MS
WINDOW_FRAMES = 8  # the same: ORDER_FRAMES
MAC_SOURCE = slice(6, 12)


class Seen(typing.NamedTuple):
    """A captured frame: number in the whole capture, time in ns, bytes, bytes on the wire,
    interface."""

    number: int
    time: int
    data: bytes
    wire: int
    interface: int = 0


# ---- who sent a frame


def slid(data):
    return struct.unpack_from(">H", data, LRH_SLID)[0]


def port_of_sender(linktype, data):
    """The identity of the sending port; None: unknown."""
    if linktype == capfile.ETHERNET and len(data) >= 14:
        return data[MAC_SOURCE]
    if linktype != capfile.INFINIBAND or len(data) < split.LRH:
        return None
    return None if slid(data) == PERMISSIVE else slid(data)


def gid_of_sender(data):
    has_grh = len(data) >= 48 and data[1] & 3 == LNH_GRH
    return data[SGID] if has_grh else None


def sources(frames):
    """The sets of LIDs whose packets share no GID: an ICRC's source is a LID or, with a GRH, a
    GID."""
    groups = {}
    for data in (f.data for f in frames if len(f.data) >= split.LRH):
        names = {slid(data), gid_of_sender(data)} - {None}
        for other in [groups[name] for name in names if name in groups]:
            names |= other
        groups.update(dict.fromkeys(names, names))
    return {frozenset(n for n in g if isinstance(n, int)) for g in map(frozenset, groups.values())}


# ---- steps


@dataclasses.dataclass
class Remove:
    """These frames are not captured."""

    numbers: set

    def __call__(self, frames):
        return [f for f in frames if f.number not in self.numbers]


@dataclasses.dataclass
class Cut:
    """Frames end early: number to the remaining bytes."""

    lengths: dict

    def __call__(self, frames):
        most = self.lengths.get
        return [f._replace(data=f.data[: most(f.number, len(f.data))]) for f in frames]


@dataclasses.dataclass
class Slice:
    """All frames end early, truncated by a snaplen."""

    snaplen: int

    def __call__(self, frames):
        return [f._replace(data=f.data[: self.snaplen]) for f in frames]


@dataclasses.dataclass
class Duplicate:
    """Frames are captured twice: number to how many frames later, within the window, and before the
    port's next frame."""

    later: dict
    linktype: int
    window: int = WINDOW_NS

    def __call__(self, frames):
        out, waiting = [], []  # waiting: place in out after which the copy is due, and the copy
        for frame in frames:
            last = len(out) + len(waiting) - 1  # place of the last copy, if all came now
            due = [w for w in waiting if w[0] <= last or self._is_due(w[1], frame)]
            waiting = [w for w in waiting if w not in due]
            out += [copy._replace(time=out[-1].time) for _, copy in due]
            out.append(frame)
            if frame.number in self.later:
                most = min(self.later[frame.number], WINDOW_FRAMES - 1)
                waiting.append((len(out) + most, frame))
        return out + [copy._replace(time=out[-1].time) for _, copy in waiting]

    def _is_due(self, copy, frame):
        """Must the copy come before this frame of the same port, or after the window?"""
        one, two = (port_of_sender(self.linktype, f.data) for f in (copy, frame))
        return one in (two, None) or frame.time - copy.time > self.window


@dataclasses.dataclass
class Swap:
    """Frames are swapped with the next one, if another port sent it within the window. Times stay
    in order."""

    numbers: set
    linktype: int
    window: int = WINDOW_NS

    def __call__(self, frames):
        out, at = list(frames), 0
        while at + 1 < len(out):
            a, b = out[at], out[at + 1]
            near = abs(b.time - a.time) <= self.window
            swapped = a.number in self.numbers and near and self._other_port(a, b)
            if swapped:
                out[at], out[at + 1] = b._replace(time=a.time), a._replace(time=b.time)
            at += 1 + swapped
        return out

    def _other_port(self, a, b):
        one, two = (port_of_sender(self.linktype, f.data) for f in (a, b))
        return one is not None and two is not None and one != two


@dataclasses.dataclass
class Clock:
    """An interface's clock differs by a constant; the frames stay in their order. No time is
    negative."""

    interface: int
    ns: int

    def __call__(self, frames):
        shift = self.ns if min(f.time for f in frames) + self.ns >= 0 else -self.ns
        return [
            f._replace(time=f.time + shift) if f.interface == self.interface else f for f in frames
        ]


@dataclasses.dataclass
class Split:
    """Frames of this port arrive on interface 1, all others on interface 0. port: a LID, or an
    Ethernet address."""

    port: typing.Any
    linktype: int

    def __call__(self, frames):
        return [f._replace(interface=self._direction(f.data)) for f in frames]

    def _direction(self, data):
        if self.linktype == capfile.INFINIBAND:
            return split.direction(data, self.port)
        return int(port_of_sender(self.linktype, data) == self.port)


def _junk(data):
    """The same bytes for the same packet: a switch's copy of a multicast packet has the same
    ICRC."""
    return random.Random(zlib.crc32(data)).randbytes(CRCS)


CRC_WAYS = {
    "zeros": lambda data: data[:-CRCS] + bytes(CRCS),
    "junk": lambda data: data[:-CRCS] + _junk(data),
    "inverted ICRC": lambda d: d[:-CRCS] + bytes(b ^ 0xFF for b in d[-CRCS:-VCRC]) + d[-VCRC:],
    "no VCRC": lambda data: data[:-VCRC],
    "none": lambda data: data[:-CRCS],
    "none captured": lambda data: data[:-CRCS],
}


@dataclasses.dataclass
class Crcs:
    """All CRCs of some LIDs (None: of all) are replaced. "none": the file declares that it has
    none."""

    how: str
    lids: typing.Optional[frozenset]

    def __call__(self, frames):
        return [self._replaced(f) if self._chosen(f) else f for f in frames]

    def _chosen(self, frame):
        whole = len(frame.data) == frame.wire >= split.LRH + 12 + CRCS
        return whole and (self.lids is None or slid(frame.data) in self.lids)

    def _replaced(self, frame):
        data = CRC_WAYS[self.how](frame.data)
        wire = frame.wire if self.how == "none captured" else len(data)
        return frame._replace(data=data, wire=wire)

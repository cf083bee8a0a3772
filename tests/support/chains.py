# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains of transformations, drawn at random. The draw depends only on the seed, the chain's number
and the capture."""
import collections
import dataclasses
import random

from support import capfile, containers, steps

MOST_STEPS = 5
SECOND = 10**9
# A chain may duplicate frames and swap them, before or after that. Each step takes a part of the
# window: together they stay within it.
SWAP_NS, DUPLICATE_NS = steps.WINDOW_NS // 4, steps.WINDOW_NS // 2


@dataclasses.dataclass
class Whole:
    """A capture before any step."""

    name: str
    linktype: int
    frames: list

    @classmethod
    def of(cls, name, data):
        """Of a file's bytes. An ERF record's InfiniBand packet is taken out of it."""
        capture = capfile.parse(data)
        if capture.linktype == capfile.ERF:
            frames = [
                steps.Seen(n, f.time, capfile.erf_payload(f.data), f.wire - 16, f.data[9] & 3)
                for n, f in enumerate(capture.frames, 1)
            ]
            return cls(name, capfile.INFINIBAND, frames)
        frames = [
            steps.Seen(n, f.time, f.data, f.wire, f.interface)
            for n, f in enumerate(capture.frames, 1)
        ]
        return cls(name, capture.linktype, frames)

    def numbers(self):
        return [f.number for f in self.frames]

    def ports(self):
        """The sending ports, the one with the most frames first."""
        counts = collections.Counter(
            steps.port_of_sender(self.linktype, f.data) for f in self.frames
        )
        del counts[None]
        return [port for port, _ in counts.most_common()]


@dataclasses.dataclass
class Chain:
    """The file that the container writes after the steps."""

    steps: list
    container: containers.Container

    def frames(self, whole):
        frames = whole.frames
        for step in self.steps:
            if frames:
                frames = step(frames)
        return frames

    def apply(self, whole):
        """The file's bytes; None if no frame is left."""
        frames = self.frames(whole)
        return self.container.write(whole.linktype, frames) if frames else None

    def __str__(self):
        form = self.container.form + ", gzip" * self.container.compressed
        return "; ".join([*map(str, self.steps), form])


# ---- steps for captures that conform


def _some(rng, numbers):
    """Some frames: gaps, single frames, the start, the end, or nearly all."""
    share = rng.choice((0.01, 0.05, 0.3))
    kind, size = rng.randrange(6), len(numbers)
    if kind == 0:
        return set(rng.sample(numbers, max(1, int(share * size))))
    if kind == 1:
        return set(numbers[: rng.randrange(size)])
    if kind == 2:
        return set(numbers[rng.randrange(size) :])
    if kind == 3:
        return {n for n in numbers if rng.random() < 0.8}
    gaps = set()
    for _ in range(rng.choice((1, 1, 2, 5))):
        first = rng.randrange(size)
        gaps.update(numbers[first : first + rng.randint(1, 20)])
    return gaps


def _remove(rng, whole):
    """Some frames, or the frames that one port sends."""
    ports = whole.ports()
    if ports and rng.random() < 0.1:
        port = rng.choice(ports)
        sender = lambda f: steps.port_of_sender(whole.linktype, f.data)
        return steps.Remove({f.number for f in whole.frames if sender(f) == port})
    return steps.Remove(_some(rng, whole.numbers()))


def _cut(rng, whole):
    return steps.Cut({n: rng.randrange(250) for n in _some(rng, whole.numbers())})


def _slice(rng, whole):
    return steps.Slice(rng.choice((rng.randrange(8, 400), 64, 96, 128, 256)))


def _duplicate(rng, whole):
    chosen = _some(rng, whole.numbers())
    later = {n: rng.choice((0, 0, 1, 3, steps.WINDOW_FRAMES - 2)) for n in chosen}
    return steps.Duplicate(later, whole.linktype, DUPLICATE_NS)


def _swap(rng, whole):
    return steps.Swap(_some(rng, whole.numbers()), whole.linktype, SWAP_NS)


def _clock(rng, whole):
    ns = rng.choice((1, 1000, SECOND // 1000, SECOND, 60 * SECOND, 86400 * SECOND))
    return steps.Clock(rng.randrange(2), rng.choice((-1, 1)) * ns * rng.randint(1, 9))


# ---- steps for all captures


def _crcs(rng, whole):
    lids = None
    if rng.random() < 0.5:
        lids = frozenset().union(*_sample(rng, sorted(map(sorted, steps.sources(whole.frames)))))
    return steps.Crcs(rng.choice(list(steps.CRC_WAYS)), lids)


def _all_crcs(rng, whole):
    return steps.Crcs(rng.choice(list(steps.CRC_WAYS)), None)


def _sample(rng, groups):
    return rng.sample(groups, rng.randint(1, len(groups)))


def _split(rng, whole):
    """Mostly at the port that sends the most frames."""
    ports = whole.ports()
    if not ports:
        return steps.Clock(0, 0)
    return steps.Split(ports[0] if rng.random() < 0.5 else rng.choice(ports), whole.linktype)


LOSING = (_remove, _remove, _remove, _cut, _slice, _duplicate, _swap, _clock, _split, _crcs)
KEEPING = (_split, _all_crcs)
ONCE = (
    _duplicate,
    _swap,
    _split,
    _slice,
    _clock,
    _crcs,
    _all_crcs,
)  # a second one may undo the first, or leave the window


def _possible(rule, whole):
    infiniband = whole.linktype == capfile.INFINIBAND
    return infiniband or rule not in (_crcs, _all_crcs)


def draw(seed, number, whole, conforms):
    """The chain of this number."""
    rng = random.Random(f"{seed}:{number}:{whole.name}")
    of = [rule for rule in (LOSING if conforms else KEEPING) if _possible(rule, whole)]
    rules = rng.choices(of, k=rng.randint(1, MOST_STEPS)) if of else []
    rules = [r for n, r in enumerate(rules) if r not in ONCE or r not in rules[:n]]
    rules.sort(key=lambda rule: rule is _clock)  # a clock applies to the interface of a split
    chosen = [rule(rng, whole) for rule in rules]
    interfaces = 1 + max((f.interface for f in whole.frames), default=0)
    if any(isinstance(step, steps.Split) for step in chosen):
        interfaces = 2
    form = rng.choice(containers.possible(whole.linktype, interfaces))
    return Chain(chosen, containers.Container(form, rng.random() < 0.1))

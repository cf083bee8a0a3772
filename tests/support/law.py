# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of degradation, on chains of transformations.

No chain adds a violation to a capture without one: a frame that was not captured is not the
sender's fault. Other CRCs, another file format, and an interface for each direction hide no
violation of a capture with violations."""
import concurrent.futures
import dataclasses
import os
import tempfile

from support import chains, steps, verdicts

MOST_TRIES = 3000  # tries in the search for a smaller chain

# (start of the capture's name, rule): the law does not hold there yet, with the reason.
OPEN = set()


def check_files(files):
    """The violations of each file's bytes; an empty set where there is none (None)."""
    with tempfile.TemporaryDirectory(prefix="ipoib-law.") as folder:
        os.chmod(folder, 0o755)
        paths = []
        for number, data in enumerate(files):
            if data is not None:
                paths.append(os.path.join(folder, str(number)))
                with open(paths[-1], "wb") as f:
                    f.write(data)
        found = dict(zip(paths, verdicts.check_captures(paths))) if paths else {}
        return [
            {violation for violation, _ in found.get(os.path.join(folder, str(n)), ())}
            for n in range(len(files))
        ]


@dataclasses.dataclass
class Case:
    """A capture, the violations of the whole, and the chain of this number."""

    whole: chains.Whole
    known: set
    seed: str
    number: int

    def conforms(self):
        return not self.known

    def chain(self):
        return chains.draw(self.seed, self.number, self.whole, self.conforms())

    def against(self, found):
        """The violations that are added, or lost, against the law."""
        return self.known - found if self.known else found

    def is_open(self, violation):
        return any(self.whole.name.startswith(name) and violation[0] == rule for name, rule in OPEN)

    def name(self):
        return f"{self.whole.name}:{self.seed}:{self.number}"


class Corpus:
    """Captures, each with the violations of the whole."""

    def __init__(self, files):
        self.wholes = {name: chains.Whole.of(name, data) for name, data in files.items()}
        self.known = {}
        names = list(self.wholes)
        plain = chains.Chain([], None)
        for at in range(0, len(names), verdicts.BATCH):
            part = names[at : at + verdicts.BATCH]
            found = check_files([_as_it_is(plain, self.wholes[name]) for name in part])
            self.known.update(zip(part, found))

    def case(self, name, seed, number):
        return Case(self.wholes[name], self.known[name], seed, number)

    def draw(self, seed, first, count):
        """The cases of these numbers, with the captures in turn."""
        names = sorted(name for name, whole in self.wholes.items() if whole.frames)
        return [self.case(names[n % len(names)], seed, n) for n in range(first, first + count)]


def _as_it_is(chain, whole):
    interfaces = 1 + max((f.interface for f in whole.frames), default=0)
    form = "pcap" if interfaces == 1 else "pcapng"
    chain = dataclasses.replace(chain, container=chains.containers.Container(form))
    return chain.apply(whole)


def broken(cases):
    """(case, violations against the law) of each case whose chain violates it."""
    found = check_files([case.chain().apply(case.whole) for case in cases])
    pairs = [(case, case.against(of)) for case, of in zip(cases, found)]
    return [(case, against) for case, against in pairs if against]


def run(cases, jobs):
    """The same for any number of cases, as they are found."""
    batches = [cases[at : at + verdicts.BATCH] for at in range(0, len(cases), verdicts.BATCH)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(broken, batches):
            yield from found


# ---- a smaller chain that breaks the law too


class Search:
    """Removes steps, parts of steps and frames while one of the violations remains."""

    def __init__(self, case, against):
        self.case, self.wanted, self.tries = case, min(against), 0
        self.chain, self.left_out = case.chain(), set()

    def breaks(self, candidates):
        """The first of the (chain, frames left out) that violates the law; None: there is none."""
        self.tries += len(candidates)
        found = check_files([self._file(*c) for c in candidates])
        fits = (c for c, of in zip(candidates, found) if self.wanted in self.case.against(of))
        return next(fits, None)

    def _file(self, chain, left_out):
        return _without(chain, left_out).apply(self.case.whole)

    def _try(self, candidates):
        found = self.breaks(candidates) if self.tries < MOST_TRIES else None
        if found:
            self.chain, self.left_out = found
        return found is not None

    def _with_steps(self, changed):
        return dataclasses.replace(self.chain, steps=changed), self.left_out

    def _fewer_steps(self):
        all_steps = self.chain.steps
        without = [all_steps[:n] + all_steps[n + 1 :] for n in range(len(all_steps))]
        return self._try([self._with_steps(some) for some in without])

    def _smaller_steps(self):
        candidates = []
        for n, step in enumerate(self.chain.steps):
            for smaller in _halves(step):
                changed = self.chain.steps[:n] + [smaller] + self.chain.steps[n + 1 :]
                candidates.append(self._with_steps(changed))
        return self._try(candidates[: verdicts.BATCH])

    def _fewer_frames(self, size):
        """Removes each run of this number of frames that can be removed."""
        numbers = [n for n in self.case.whole.numbers() if n not in self.left_out]
        runs = [set(numbers[at : at + size]) for at in range(0, len(numbers), size)]
        while runs and self.tries < MOST_TRIES:
            part = runs[: verdicts.BATCH]
            before = self.left_out
            found = self._try([(self.chain, before | some) for some in part])
            tried = 1 + part.index(self.left_out - before) if found else len(part)
            runs = runs[tried:]

    def smallest(self):
        self._smallest_chain()
        if self.case.conforms():  # a violating capture keeps its frames
            size = max(1, len(self.case.whole.frames) // 4)
            while size and self.tries < MOST_TRIES:
                self._fewer_frames(size)
                size //= 2
        self._smallest_chain()
        return self

    def _smallest_chain(self):
        while self._fewer_steps() or self._smaller_steps():
            pass

    def capture(self):
        """The file's bytes."""
        return self._file(self.chain, self.left_out)

    def __str__(self):
        left = [n for n in self.case.whole.numbers() if n not in self.left_out]
        return f"{self.chain}; only frames {ranges(left)}"


def ranges(numbers):
    """1, 2, 3, 7 as 1-3, 7."""
    runs = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _without(chain, left_out):
    first = [steps.Remove(left_out)] if left_out else []
    return dataclasses.replace(chain, steps=first + chain.steps)


def _halves(step):
    """The step with half of its frames."""
    for field in ("numbers", "lengths", "later"):
        of = sorted(getattr(step, field, ()))
        for half in (of[: len(of) // 2], of[len(of) // 2 :]) if len(of) > 1 else ():
            whole = getattr(step, field)
            kept = set(half) if isinstance(whole, set) else {n: whole[n] for n in half}
            yield dataclasses.replace(step, **{field: kept})

# SPDX-License-Identifier: GPL-2.0-or-later
"""Recall: how many violations ipoib-check finds in captures that show less than everything, or every
frame twice.

A sample is a capture with one violation: a fixture or a variant. A loss is a way in which frames
were not captured. The outcome of a sample is FOUND, SUSPECTED (or not proved: the report shows the
violation with both values, and not as a finding), INCONCLUSIVE or SILENT, from the results of the
violated rule."""
import collections
import concurrent.futures
import json
import os
import random
import tempfile

from frames import variants
from frames.faults import fixture  # faults fills the tables of fixture
from frames.variants import evidence
from support import capfile, check

FOUND, SUSPECTED, INCONCLUSIVE, SILENT = "found", "suspected", "inconclusive", "silent"
OUTCOMES = (FOUND, SUSPECTED, INCONCLUSIVE, SILENT)
LOSSES = ("complete", "no-smps", "late", "random", "doubled")
MILLISECOND, LATER = 1_000_000, "a millisecond later"
COPIES = (0, 2, LATER)
PERCENT = 1  # of the frames, in the loss "random"
COMPLETE_GOAL = 95  # per cent of the variants that are found in complete captures
RANDOM_GOAL = 90  # per cent of these that are found with random losses
BATCH = 100  # captures in one run of ipoib-check
SMI = 0
LNH_GRH, LRH, GRH, BTH_DEST_QP = 3, 8, 40, slice(5, 8)


class Sample:
    """kind: "fixtures" or "variants"; rule: the violated one; at: index of the frame with the
    violation."""

    def __init__(self, kind, name, rule, records, at):
        self.kind, self.name, self.rule = kind, name, rule
        self.records, self.at = records, at

    def pcap(self, loss, seed):
        """The capture with this loss, drawn with this seed."""
        kept = WAYS[loss](self, random.Random(f"{seed}:{self.name}"))
        return capfile.pcap(capfile.INFINIBAND, kept, nanoseconds=True)


def is_smp(data):
    """An SMP: it goes to QP0 (IBA 13.5.1)."""
    at = LRH + (GRH if data[1] & 3 == LNH_GRH else 0)
    return int.from_bytes(data[at:][BTH_DEST_QP], "big") == SMI


def _complete(sample, _):
    return sample.records


def _without_smps(sample, _):
    """A capture that began when the ports were up already."""
    return [r for r in sample.records if not is_smp(r[1])]


def _late(sample, draw):
    """A capture that began between the first frame and the violation."""
    return sample.records[draw.randint(0, sample.at) :]


def _random(sample, draw):
    return [r for r in sample.records if draw.random() * 100 >= PERCENT]


def _doubled(sample, draw):
    """Every frame twice: the copy at once, after two more frames, or a millisecond later."""
    return doubled(sample.records, draw.choice(COPIES))


def doubled(records, later):
    """later: how many frames later the copy of each frame comes, or LATER."""
    out, copied = [], 0
    for n in range(len(records) + 1):
        while copied < n and (n == len(records) or _is_due(records, copied, n, later)):
            time, *rest = records[copied]
            last = records[n - 1][0]
            out.append((max(time + MILLISECOND, last) if later == LATER else last, *rest))
            copied += 1
        out += records[n : n + 1]
    return out


def _is_due(records, first, following, later):
    """Does the copy of the first record come before the following one?"""
    if later == LATER:
        return records[following][0] - records[first][0] > MILLISECOND
    return following - first > later


WAYS = dict(zip(LOSSES, (_complete, _without_smps, _late, _random, _doubled)))


# ---- the samples


def of_fixture(f):
    tape, number = fixture.make_capture(f)
    frames = capfile.parse(tape.pcap())
    if not number or frames.linktype != capfile.INFINIBAND:
        return None
    records = [(r.time, r.data, r.wire) for r in frames.frames]
    return Sample("fixtures", f.name(), f.rule, records, number - 1)


def of_variant(variant):
    w = variant.world()
    return Sample("variants", variant.name(), variant.rule, w.records(), w.number(variant.at) - 1)


def fixtures():
    made = (of_fixture(f) for f in fixture.FIXTURES if f.make and f.kind == fixture.FAIL)
    return [sample for sample in made if sample]


def chosen_variants(step=1):
    """Each step-th of the variants that a complete capture shows."""
    shown = [v for v in variants.VARIANTS if evidence.expected(v, "early") == variants.FAIL]
    return [of_variant(v) for v in shown[::step]]


# ---- outcomes


def _outcome(outcomes):
    if "fail" in outcomes:
        return FOUND
    if outcomes & {"suspected", "unproved"}:
        return SUSPECTED
    return INCONCLUSIVE if "inconclusive" in outcomes else SILENT


def check_samples(samples, loss, seed):
    """The outcome of each of these samples."""
    with tempfile.TemporaryDirectory(prefix="ipoib-recall.") as folder:
        os.chmod(folder, 0o755)
        paths = [os.path.join(folder, f"{n}.pcap") for n in range(len(samples))]
        for path, sample in zip(paths, samples):
            with open(path, "wb") as f:
                f.write(sample.pcap(loss, seed))
        only = [word for rule in sorted({s.rule for s in samples}) for word in ("--only", rule)]
        done = check.run("--deviations", "none", *only, "--format", "json", *paths)
        found = collections.defaultdict(set)
        for result in json.loads(done.stdout)["results"]:
            found[result["capture"], result["id"]].add(result["outcome"])
        return [_outcome(found[path, sample.rule]) for path, sample in zip(paths, samples)]


def measure(samples, loss, seed, jobs):
    """[(sample, outcome)]"""
    batches = [samples[at : at + BATCH] for at in range(0, len(samples), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        got = list(pool.map(lambda batch: check_samples(batch, loss, seed), batches))
    return [pair for batch, of in zip(batches, got) for pair in zip(batch, of)]


def percent(results, *outcomes):
    """Of the results, those with one of these outcomes; by default FOUND."""
    found = sum(outcome in (outcomes or (FOUND,)) for _, outcome in results)
    return 100 * found / len(results)

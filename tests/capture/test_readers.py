# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check and "ipoib-capture convert" read the same: the same files, the same packets, the same
errors in the same words. A converted capture has the same findings, if the format can hold
everything.

Captures: those of the tests, of every link type, in every file format, compressed and not; changed
ones; the inputs of fuzzing."""
import collections
import gzip
import json
import os
import random
import re
import tarfile
import zlib

import pytest

from support import capfile, check, containers, convert, corpus
from support.capfile import ERF, INFINIBAND
from support.paths import SRC, testdata

BATCH = 100  # captures in one run of ipoib-check
SEED, CHANGES = 4391, 6
NOT_OURS = re.compile("link type .* cannot contain IP over InfiniBand|has no interface")
PADDING = 48  # type of an ERF record
# What a program read. frames: their number; others: those that ipoib-check took for IPoIB, or
# those that convert left out; error: why it ended early, or None.
Read = collections.namedtuple("Read", "frames others error")


def archived(path):
    with tarfile.open(os.path.join(SRC, path)) as archive:
        for member in archive.getmembers():
            if member.isfile():
                yield os.path.basename(member.name), archive.extractfile(member).read()


def in_another_format(name, data):
    """The capture in a format that is drawn by its name, compressed or not."""
    capture, draw = capfile.parse(data, truncated=True), random.Random(name)
    linktype = capture.linktype
    if len({i.linktype for i in capture.interfaces}) > 1 or linktype == ERF:
        return gzip.compress(data)
    interfaces = 1 + max((f.interface for f in capture.frames), default=0)
    form = draw.choice(containers.possible(linktype, interfaces))
    return containers.Container(form, draw.random() < 0.5).write(linktype, capture.frames)


def changed(name, data):
    """Some copies that are truncated, some with wrong bytes."""
    draw = random.Random(f"{SEED} {name}")
    for n in range(CHANGES):
        copy = bytearray(data)
        if n % 2:
            del copy[draw.randrange(len(copy)) :]
        else:
            for _ in range(draw.randint(1, 8)):
                copy[draw.randrange(len(copy))] = draw.choice((0, 1, 0x7F, 0xFF))
        yield f"{name}.{n}", bytes(copy)


def original_captures():
    return {**corpus.everything(), **dict(archived("tests/judge/attacks/captures.tar.xz"))}


def hostile_captures():
    found = {}
    for name, data in corpus.testdata_captures().items():
        if "carrier" in name or "linktype" in name:
            found.update(changed(name, data))
            found.update(changed(name + ".gz", gzip.compress(data)))
    found.update(archived("fuzz/corpus/fuzz_convert.tar.xz"))
    return found


def mixed_captures():
    """pcapng files of which the first packet, or the first interface, has another link type."""
    ours = [
        capfile.Frame(f.time, f.data, f.wire, 1)
        for f in capfile.read(testdata("built/built-carrier-247.pcap")).frames
    ]
    other = capfile.Frame(1, bytes(60), 60, 0)
    late = [capfile.section(), capfile.interface(105), capfile.packet(1, other.data)]
    late += [capfile.interface(INFINIBAND)]
    late += [capfile.packet(f.time // 1000, f.data, number=1) for f in ours]
    return {
        "first-packet.pcapng": capfile.pcapng([105, INFINIBAND], [other, *ours]),
        "late-interface.pcapng": b"".join(late),
        "no-packet.pcapng": capfile.pcapng([105, INFINIBAND], []),
        "other.pcapng": capfile.pcapng([105], [other]),
    }


SETS = {
    "original": original_captures,
    "rewritten": lambda: {n: in_another_format(n, d) for n, d in original_captures().items()},
    "hostile": hostile_captures,
    "mixed": mixed_captures,
}


def stored(captures, folder):
    """Name to path."""
    paths = {}
    for n, (name, data) in enumerate(captures.items()):
        paths[name] = str(folder / f"{n}-{os.path.basename(name)}")
        with open(paths[name], "wb") as f:
            f.write(data)
    return paths


def checked(paths):
    """Path to what ipoib-check read and found: Read, and its results without the capture's name."""
    found = {}
    for at in range(0, len(paths), BATCH):
        batch = paths[at : at + BATCH]
        done = check.run("--deviations", "none", "--format", "json", *batch)
        report = json.loads(done.stdout)
        errors = dict(re.findall(r"^ipoib-check: (/\S+): (.*)$", done.err, re.MULTILINE))
        results = collections.defaultdict(list)
        for result in report["results"]:
            results[result.pop("capture")].append(result)
        for capture in report["summary"]["captures"]:
            path = capture.pop("name")
            error = errors.get(path)
            if error and "taken for one subnet" in error:
                error = None
            error = error and error.removesuffix("; it is checked up to there")
            read = Read(capture["frames"], capture["ipoib_frames"], error)
            found[path] = (read, {"capture": capture, "results": results[path]})
    assert set(found) == set(paths)
    return found


def converted(path, out, *options):
    """What convert read, and its exit status."""
    done = convert.call("convert", *options, path, out)
    lines = done.stderr.decode(errors="replace").splitlines()
    assert done.returncode in (0, 1) and lines, f"{path}: {done}"
    mine = [line.removeprefix(f"ipoib-capture: {path}: ") for line in lines[:-1]]
    errors = [line for line in mine if not line[0].isdigit()]
    assert len(errors) <= 1, errors
    skipped = [re.match(r"(\d+) ERF records? without a packet", line) for line in mine]
    counts = re.fullmatch(r"ipoib-capture: (\d+) packets, \d+ octets, (\d+) drops", lines[-1])
    written, left_out = map(int, counts.groups())
    left_out += sum(int(m[1]) for m in skipped if m)
    return Read(written + left_out, left_out, errors[0] if errors else None), done.returncode


def is_raw_erf(data):
    """The format has no magic number; these are those of the other formats, in both byte orders."""
    numbers = (0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34, capfile.SECTION)
    others = [n.to_bytes(4, order) for n in numbers for order in ("big", "little")]
    return data[:4] not in [*others, b"snoo"]


def padding_records(data):
    """The padding records of a raw ERF file, to which Wireshark and ipoib-check give no number."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error):
            return 0
    if not is_raw_erf(data):
        return 0
    at = count = 0
    while at + 16 <= len(data):
        kind, length = data[at + 8] & 0x7F, int.from_bytes(data[at + 10 : at + 12], "big")
        if length < 16 or not 0 < kind <= PADDING or at + length > len(data):
            break
        count += kind == PADDING
        at += length
    return count


def difference(of_check, of_convert, padding):
    """What is different, or nothing."""
    if of_convert.error and NOT_OURS.match(of_convert.error):
        return of_check.others and f"convert refuses {of_check.others} frames of IPoIB"
    if of_convert.error != of_check.error:
        return f"errors: {of_check.error!r}, convert: {of_convert.error!r}"
    if of_convert.frames - padding != of_check.frames:
        return f"frames: {of_check.frames}, convert: {of_convert.frames} ({padding} padding)"
    return None


@pytest.mark.parametrize("kind", SETS)
def test_both_read_the_same(kind, tmp_path):
    captures = SETS[kind]()
    paths = stored(captures, tmp_path)
    found, wrong = checked(list(paths.values())), {}
    for n, (name, path) in enumerate(paths.items()):
        options = ("-f", "erf,pcapng") if n % 2 else ()
        read, _ = converted(path, "/dev/null", *options)
        different = difference(found[path][0], read, padding_records(captures[name]))
        if different:
            wrong[name] = different
    assert len(paths) >= len(mixed_captures())
    assert not wrong


def formats_for(capture):
    """The options of convert that keep what the capture has, and names of files for them."""
    erf_ports = capture.linktype == ERF
    if capture.linktype not in (INFINIBAND, ERF):
        return {"pcap": (), "pcapng": ()}
    found = {"pcapng": ("-f", "erf,pcapng")}
    if len(capture.interfaces) == 1:
        found.update({"pcap": ("-f", "erf,pcap"), "erf": ()})
    if not erf_ports:
        found["247.pcapng"] = ("-f", "247,pcapng")
    return found


def test_converted_captures_have_the_same_findings(tmp_path):
    paths = stored(original_captures(), tmp_path)
    found, outputs, left_out = checked(list(paths.values())), {}, set()
    for n, (name, path) in enumerate(paths.items()):
        formats = formats_for(capfile.read(path, truncated=True))
        suffixes = (
            formats if name in corpus.testdata_captures() else [list(formats)[n % len(formats)]]
        )
        for suffix in suffixes:
            out = f"{path}.out.{suffix}"
            read, status = converted(path, out, *formats[suffix])
            if read.others:
                left_out.add((name, suffix))
            elif not read.error:
                outputs[out] = (name, path)
                assert status == 0
    after = checked(list(outputs))
    wrong = {out: name for out, (name, path) in outputs.items() if after[out] != found[path]}
    assert len(outputs) > len(paths)
    assert not wrong
    assert not left_out

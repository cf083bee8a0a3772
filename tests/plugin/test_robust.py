# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input: every packet of the captures in testdata and testdata/built, truncated at every
length, ending early at every length, and with faults of one byte. tshark must succeed (no crash, no
hang, no "Dissector bug"), in one pass and in two; no field of a truncated frame may differ from
that of the whole frame; one pass, two passes and a filter must show the same.

cut    every frame whole and then at every length below its own, as a small snaplen truncates it
       (captured length < length on the wire)
short  the same, but the length on the wire is less too: frames that end early
fault  every frame with one byte inverted, and with one bit inverted, at every offset

The frames of one link type are one capture. Those of link type 247 are pcapng, which stock
Wireshark opens. Of frames with more than LONG bytes, only the first and last lengths and offsets
are used. Of a capture, at most SAME frames of one length are used (of the built ones: all).

Environment: IPOIB_EVERY (use every N-th length and offset, default 1), IPOIB_TIMEOUT (seconds for
one tshark, default 300)."""
import collections
import functools
import glob
import mmap
import os
import re
import subprocess
import sys

import pytest

from support import capfile
from support.capfile import ERF, ERF_INFINIBAND, INFINIBAND
from support.folders import open_folder
from support.needs import needs
from support.paths import SRC, TESTDATA, TSHARK
from support.wireshark import registered_fields

EVERY = int(os.environ.get("IPOIB_EVERY") or 1)
LIMITED = os.path.join(SRC, "tests", "support", "limited.py")
LIMIT = int(os.environ.get("IPOIB_TIMEOUT") or 300)
LONG, HEAD, TAIL, SAME = 400, 200, 24, 2
SEND_FIRST = ("0", "32")  # RC and UC SEND First (IBA 9.2.1)
TABLE = "0x92"  # SubnAdmGetTableResp (IBA 15.2.2)
SEPARATOR = "\x1e"  # between the values of a field
# Wireshark's own RPC-over-RDMA dissector (4.0, 4.4) has a bug in two passes over truncated SENDs.
OPTIONS = ["-n", "--disable-protocol", "rpcordma"]


# The bad captures.


def frames_of(path):
    """Link type and (bytes, length on the wire) of the whole frames of a capture; ERF records
    without their header."""
    capture, seen, found = capfile.read(path, truncated=True), collections.Counter(), []
    for frame in capture.frames:
        data, wire = frame.data, frame.wire
        if capture.linktype == ERF:
            if len(data) < 16 or data[8] & 0x7F != ERF_INFINIBAND:
                continue
            data, wire = data[16:], int.from_bytes(data[14:16], "big")
        if len(data) != wire:
            continue  # truncated already
        seen[wire] += 1
        if os.path.basename(path).startswith("built-") or seen[wire] <= SAME:
            found.append((data, wire))
    return capture.linktype, found


def frames_by_link():
    found = collections.defaultdict(list)
    for folder in (TESTDATA, os.path.join(TESTDATA, "built")):
        for path in sorted(glob.glob(os.path.join(folder, "*.pcap"))):
            link, frames = frames_of(path)
            found[link] += frames
    return found


def places(length):
    """The used ones of the lengths (or offsets) 0 to length - 1."""
    if length <= LONG:
        return range(0, length, EVERY)
    return [*range(0, HEAD, EVERY), *range(length - TAIL, length)]


def cut_frames(frames, early=False):
    """The frames, and for each the number of the whole frame that it is made from. early: the
    length on the wire is less too."""
    found, wholes = [], []
    for data, wire in frames:
        found.append((data, wire))
        whole = len(found)
        found += [(data[:n], n if early else wire) for n in places(len(data))]
        wholes += [whole] * (len(found) - len(wholes))
    return found, wholes


def fault_frames(frames):
    for data, wire in frames:
        for offset in places(len(data)):
            for mask in (0xFF, 1 << offset % 8):
                bad = bytearray(data)
                bad[offset] ^= mask
                yield bytes(bad), wire


FRAMES = frames_by_link()
BAD = [f"{kind}-{link}" for kind in ("cut", "short", "fault") for link in sorted(FRAMES)]
each_bad = pytest.mark.parametrize("name", BAD)
each_cut = pytest.mark.parametrize("name", [name for name in BAD if name.startswith("cut-")])


def make(name):
    """Writes a bad capture; returns the number of its frames."""
    kind, link = name.split("-")
    link = int(link)
    if kind == "fault":
        frames = list(fault_frames(FRAMES[link]))
    else:
        frames = cut_frames(FRAMES[link], kind == "short")[0]
    time = 1_700_000_000 * 10**9
    records = [(time + n * 10**6, data, wire) for n, (data, wire) in enumerate(frames)]
    if link == INFINIBAND:
        return capfile.pcapng(link, records), len(records)
    return capfile.pcap(link, capfile.erf_records(records) if link == ERF else records), len(
        records
    )


# tshark.


@pytest.fixture(scope="module")
def compared():
    """The fields that must be equal in the whole and the truncated frame, and in one pass and two:
    those of the packet.

    Fields that depend on other packets, and fields without a value of their own, are left out."""
    needs(TSHARK[0], "build")
    names = set()
    for cells in registered_fields():
        if cells[0] != "F" or re.fullmatch("FT_(NONE|STRING|FRAMENUM|PROTOCOL)", cells[3]):
            continue
        if re.match(r"ipoib\.(response|time|rule|connection|message|reassembled|entry)", cells[2]):
            continue
        if re.match(
            r"ipoib\.(cm\.mtu|cm\.answers|cm\.service$|lladdr\.(ipv4|ipv6|name|host))", cells[2]
        ):
            continue
        if cells[2].startswith("ipoib."):
            names.add(cells[2])
    return (
        sorted(names)
        + (
            "arp.hw.type arp.proto.type arp.hw.size arp.opcode arp.src.hw arp.src.proto_ipv4 arp.dst.hw "
            "arp.dst.proto_ipv4 infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn "
            "infiniband.grh.dgid infiniband.deth.srcqp infiniband.mad.method"
        ).split()
    )


class Run:
    """One run of tshark: where its output is, and its errors."""

    def __init__(self, path, *arguments):
        self.path = path
        command = [sys.executable, LIMITED, str(LIMIT), *TSHARK, *OPTIONS, *map(str, arguments)]
        with open(path, "wb") as output:
            result = subprocess.run(
                command,
                env={**os.environ, "WIRESHARK_ABORT_ON_DISSECTOR_BUG": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                check=False,
            )
        self.errors = result.stderr.decode(errors="replace")
        self.fault = self._fault(result.returncode)

    def _fault(self, status):
        if status:
            last = self._last_line().split(b"\t")[0]
            return f"exit status {status} (124: not in {LIMIT} s); last line: {last}"
        bug = r"dissector bug|assertion|sanitizer|g_log|CRITICAL|WARNING \*\*"
        if re.search(bug, self.errors, re.IGNORECASE):
            return "stderr names a bug"
        if os.path.getsize(self.path):
            with open(self.path, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as text:
                at = text.find(b"Dissector bug")
                if at >= 0:
                    return f"the output names a bug: {text[max(at - 200, 0) : at + 200]}"
        return ""

    def _last_line(self):
        with open(self.path, "rb") as f:
            f.seek(max(os.path.getsize(self.path) - 100000, 0))
            return (f.read().splitlines() or [b""])[-1]

    def assert_good(self):
        assert not self.fault, f"{self.fault}; stderr: {self.errors[-4000:]}"

    def rows(self):
        """The names of the fields, and the lines by frame number."""
        with open(self.path, encoding="utf-8", errors="replace") as f:
            head, *lines = f.read().split("\n")
        numbered = ((line.split("\t", 1)[0], line) for line in lines)
        return head.split("\t"), {int(n): line for n, line in numbered if n.isdigit()}


@pytest.fixture(scope="module")
def runs(compared):
    """A function that makes a bad capture and runs tshark on it, once for each mode."""
    fields = ["-T", "fields", "-E", "header=y", "-E", "separator=/t", "-E", "occurrence=a"]
    fields += ["-E", f"aggregator={SEPARATOR}", "-e", "frame.number"]
    fields += [word for name in compared for word in ("-e", name)]
    ways = {
        "one-pass": fields,
        "two-passes": ["-2", *fields],
        "trees": ["-2", "-V"],
        "filtered": ["-Y", "ipoib.lladdr", *fields],
    }
    with open_folder() as folder:

        @functools.cache
        def capture(name):
            data, count = make(name)
            (folder / name).write_bytes(data)
            print(f"{name}: {count} frames")
            return folder / name

        @functools.cache
        def run(name, way):
            result = Run(folder / f"{name}.{way}", "-r", capture(name), *ways[way])
            if way == "trees":
                os.unlink(result.path)  # hundreds of megabytes
            return result

        yield run


# The comparisons.


def shown_of(complaints):
    return "\n".join(complaints[:20] + [f"{len(complaints)} in all"])


def values(cell):
    return cell.replace(SEPARATOR, ",") or "nothing"


def assert_agree(head, one, head_two, two):
    """The same rows, with the same values."""
    assert head == head_two
    assert one, "no frames: nothing was tested"
    assert sorted(two) == sorted(one), f"not in both: {sorted(set(one) ^ set(two))[:20]}"
    complaints = []
    for number in one:
        if one[number] == two[number]:
            continue
        for name, a, b in zip(head, one[number].split("\t"), two[number].split("\t")):
            if a != b:
                complaints.append(f"frame {number} {name}: {values(a)} and {values(b)}")
    assert not complaints, shown_of(complaints)


def longest(cells):
    """The longest list of a field's values in these frames."""
    return max(cells, key=lambda cell: cell.count(SEPARATOR) + bool(cell))


def in_order(got, reference):
    """Whether the values are the reference's, in order, with some left out."""
    rest = iter(reference)
    return all(value in rest for value in got)


def test_tshark_knows_the_fields_of_the_plugin(compared):
    ours = [name for name in compared if name.startswith("ipoib.")]
    assert len(ours) >= 20, f"only {ours} of {len(compared)} fields that are compared"


@each_bad
def test_one_pass_exits_normally(name, runs):
    runs(name, "one-pass").assert_good()


@each_bad
def test_two_passes_exit_normally(name, runs):
    runs(name, "two-passes").assert_good()


@each_bad
def test_whole_trees_exit_normally(name, runs):
    runs(name, "trees").assert_good()


@each_bad
def test_one_pass_and_two_show_the_same(name, runs):
    assert_agree(*runs(name, "one-pass").rows(), *runs(name, "two-passes").rows())


@each_cut
def test_truncated_frames_show_values_of_whole_frames(name, runs):
    """Each field of a truncated frame has the first values of the same field of the whole frame, or
    none.

    A SEND First that can be reassembled with its Last shows its packet there; a truncated one shows
    its own start. The reference of its truncations is the longest of them. A truncated segment of a
    table that is sent again need not show the record that began in the segment before it: values
    may be missing there."""
    wholes = cut_frames(FRAMES[int(name.split("-")[1])])[1]
    head, lines = runs(name, "one-pass").rows()
    assert len(lines) == len(wholes), f"{len(lines)} frames shown of {len(wholes)}"
    opcode, method = head.index("infiniband.bth.opcode"), head.index("infiniband.mad.method")
    families = collections.defaultdict(list)
    for number, whole in enumerate(wholes, 1):
        families[whole].append((number, lines[number].split("\t")))
    complaints, compared_fields = [], 0
    for whole, family in families.items():
        reference = family[0][1]
        may_lack = reference[method] == TABLE
        if reference[opcode] in SEND_FIRST:
            reference = [longest(column) for column in zip(*(cells for _, cells in family))]
        for number, cells in family[1:]:
            for field, got, expected in zip(head[1:], cells[1:], reference[1:]):
                if not got:
                    continue
                compared_fields += 1
                if got == expected:
                    continue
                got_values = got.split(SEPARATOR)
                reference_values = expected.split(SEPARATOR) if expected else []
                if may_lack and in_order(got_values, reference_values):
                    continue
                if not may_lack and got_values == reference_values[: len(got_values)]:
                    continue
                complaints.append(
                    f"frame {number} (of {whole}) {field}: {values(got)}, whole frame has {values(expected)}"
                )
    assert not complaints, shown_of(complaints)
    assert compared_fields, "no field in any cut frame: nothing was tested"


@each_cut
def test_filter_exits_normally(name, runs):
    runs(name, "filtered").assert_good()


@each_cut
def test_filtered_and_not_show_the_same(name, runs):
    head, lines = runs(name, "one-pass").rows()
    column = head.index("ipoib.lladdr")
    wanted = {number: line for number, line in lines.items() if line.split("\t")[column]}
    assert_agree(head, wanted, *runs(name, "filtered").rows())

# SPDX-License-Identifier: GPL-2.0-or-later
"""What Wireshark shows of a capture: one run of tshark for each way to read it, with all fields and
statistics that tests ask for. A test takes what it needs; the answer is kept (support.kept), so that
the next test does not start tshark again.

The ways are those whose results may differ:

ONE_PASS, TWO_PASSES  the fields of all frames; the statistics
LATE                  the same of the frames that a display filter leaves: FIRST and later ones
STATISTICS            only the statistics: Wireshark builds no protocol trees for the frames

A field that is not in ALL yet is added to OTHERS, or to the expectations of tests/frames/expect."""
import collections
import functools
import json
import re

from support import expectations, kept
from support.wireshark import asked, registered_fields

FIRST = 4  # the first frame that LATE shows
ONE_PASS, TWO_PASSES, LATE, STATISTICS = (), ("-2",), ("-Y", f"frame.number >= {FIRST}"), ("-q",)
AGGREGATOR = "\x1e"  # between the values of a field
PRINTED = ["-E", "occurrence=a", "-E", "separator=/t", "-E", "aggregator=" + AGGREGATOR]
READING = ["-n", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
COLUMNS = ["_ws.col.Source", "_ws.col.Destination", "_ws.col.Info"]
OTHERS = """
frame.number frame.protocols frame.time_epoch ipoib
infiniband.grh.sgid infiniband.grh.dgid infiniband.lrh.slid infiniband.lrh.dlid
infiniband.mad.mgmtclass infiniband.payload data.data tcp.payload udp.payload
infiniband.nodeinfo.systemimageguid infiniband.nodeinfo.nodeguid infiniband.nodeinfo.portguid
infiniband.sminfo.guid infiniband.cm.req.localcaguid infiniband.cm.rep.localcaguid
infiniband.cm.req.localgid.ipv6 icmpv6.nd.ns.target_address icmpv6.nd.na.target_address
ipv6.src ipv6.dst ip.src ip.dst arp.src.proto_ipv4""".split()
TABLES = ("events", "peers", "groups", "connections", "conformance", "conformance,json", "tree")
COUNTED = ("ip", "ipv6", "ipoib", "ipoib.gid")
STATISTIC = [f"ipoib,{t}" for t in TABLES]
STATISTIC += [f"{kind},{t}" for kind in ("conv", "endpoints") for t in COUNTED]
Shown = collections.namedtuple("Shown", "frames statistics errors")


@functools.lru_cache(maxsize=None)
def known():
    """The fields and protocols that this Wireshark has, of those that tests may name."""
    return {row[2] for row in registered_fields()}


@functools.lru_cache(maxsize=None)
def fields():
    """All fields: those of the plugin, those of the expectations, OTHERS; only known ones."""
    ours = {name for name in known() if name.startswith("ipoib.")}
    wanted = sorted((ours | expectations.fields() | set(OTHERS)) & known())
    return COLUMNS + [name for name in wanted if name not in COLUMNS]


@functools.lru_cache(maxsize=None)
def asked_for():
    return frozenset(fields())


def arguments(way, preferences):
    command = [*READING, *preferences, *way]
    if way != STATISTICS:
        columns = [word for name in fields() for word in ("-e", name)]
        command += ["-T", "fields", *PRINTED, *columns]
    return command + [word for name in STATISTIC for word in ("-z", name)]


def split(text):
    """The rows of the fields, and the statistics: those begin with a line of = or with JSON."""
    begin = re.search(r"^(?:={10,}|\{)$", text, re.MULTILINE)
    at = begin.start() if begin else len(text)
    return text[:at].split("\n")[:-1], text[at:]  # splitlines() would split at AGGREGATOR too


def parsed(rows):
    """{frame: {field: [values]}}; a field without a value is left out."""
    names, found = fields(), {}
    number = names.index("frame.number")
    for row in rows:
        cells = row.split("\t")
        shown = {n: c.split(AGGREGATOR) for n, c in zip(names, cells) if c}
        found[int(cells[number])] = shown
    return found


def run(capture, way=ONE_PASS, *preferences):
    """What tshark answers, also if it fails."""
    return asked(capture, *arguments(way, preferences))


def show(capture, way=ONE_PASS, *preferences):
    """The frames and statistics of a capture. preferences: -o and others, which name no file."""
    return parsed_answer(str(capture), kept.digest_of(capture), way, preferences)


@functools.lru_cache(maxsize=8)  # the tests of one capture follow each other
def parsed_answer(capture, _digest, way, preferences):
    done = run(capture, way, *preferences)
    assert done.returncode == 0, f"{capture} {way}: exit status {done.returncode}: {done.stderr}"
    rows, statistics = split(done.stdout)
    return Shown(parsed(rows), statistics, done.stderr)


def values(frame, field):
    """The values of a field in a frame of show()."""
    assert field in asked_for() or field not in known(), f"{field}: add it to OTHERS"
    return frame.get(field, [])


def without_capture(found):
    """A report without the names of its capture."""
    found.pop("subject")
    for named in found["results"]:
        named.pop("capture")
    for named in found["summary"]["captures"]:
        named.pop("name")
    return found


def report(shown):
    """-z ipoib,conformance,json, without the capture's name: another test may have named it."""
    text = re.search(r"^\{$.*?^\}$", shown.statistics, re.MULTILINE | re.DOTALL)
    return without_capture(json.loads(text.group()))


def table(shown, title):
    """The lines of Wireshark's own table with this title, up to the next line of =."""
    found = re.search(
        rf"^{re.escape(title)}\n(.*?)^=+$", shown.statistics, re.MULTILINE | re.DOTALL
    )
    assert found, f"no {title}: {shown.statistics[:200]}"
    return found.group(1)

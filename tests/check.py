#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check as users and CI meet it: exit statuses, files of every kind, its four formats, its errors.

Environment: IPOIB_SRC, IPOIB_BIN. Output: TAP.

The captures are testdata's. What is in them, by hand: frame 8 of built-encap has a Reserved field that is not 0
(tests/frames/build.py, encap_types), which breaks rfc4391.6.reserved-zero; nothing else in it breaks a MUST. connected
is two Linux kernels: the Service-IDs of its two REQs begin with 0x10 (rfc4755.3.5.service-id, a known deviation of
Linux), and OpenSM's Q_Key is not a controlled one (rfc4391.4.1.qkey-controlled, SHOULD)."""
import gzip
import json
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from tap import BIN, SRC, finish, run_tests, test

CHECK = os.path.join(BIN, "ipoib-check")
ENCAP = os.path.join(SRC, "testdata/built/built-encap.pcap")
CONNECTED = os.path.join(SRC, "testdata/connected.pcap")
RESERVED, SERVICE_ID, QKEY = "rfc4391.6.reserved-zero", "rfc4755.3.5.service-id", "rfc4391.4.1.qkey-controlled"
OK, VIOLATED, UNJUDGED = 0, 1, 2
ERF, INFINIBAND, ETHERNET = 197, 247, 1


def run(*args, stdin=b"", **options):
    p = subprocess.run([CHECK, *args], input=stdin, stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                       timeout=60, **options)
    p.err = p.stderr.decode()
    return p


def expect(status, *args, err="", **options):
    """Runs and returns stdout; the message must have err in it, and there is none where err is ''."""
    p = run(*args, **options)
    shown = "%s: exit %d, stderr %r" % (args, p.returncode, p.err)
    assert p.returncode == status, shown
    assert (err in p.err) if err else not p.err, shown
    return (p.stdout or b"").decode()


def report(status, *args, **options):
    return json.loads(expect(status, "--format", "json", *args, **options))


def found(document, outcome, capture=None):
    """Identifier -> result, of one outcome."""
    return {r["id"]: r for r in document["results"] if r["outcome"] == outcome and capture in (None, r["capture"])}


# ---- files

folder = tempfile.mkdtemp(prefix="ipoib-check.")


def store(name, octets):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(octets)
    return path


def load(path):
    with open(path, "rb") as f:
        return f.read()


def packets(path):
    """(ns, octets) of a little-endian classic pcap."""
    data = load(path)
    unit = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[struct.unpack_from("<I", data)[0]]
    at, found_packets = 24, []
    while at < len(data):
        sec, fraction, caplen, wirelen = struct.unpack_from("<IIII", data, at)
        assert caplen == wirelen
        found_packets.append((sec * 10**9 + fraction * unit, data[at + 16:at + 16 + caplen]))
        at += 16 + caplen
    return found_packets


def linktype(path):
    return struct.unpack_from("<I", load(path), 20)[0]


class Pcapng:
    def __init__(self, order="<"):
        self.order = order
        self.octets = b""
        self.block(0x0a0d0d0a, self.pack("IHHq", 0x1a2b3c4d, 1, 0, -1))

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        self.octets += self.pack("II", kind, len(body) + 12) + body + self.pack("I", len(body) + 12)

    def interface(self, link, resolution=None):
        option = b"" if resolution is None else self.pack("HHBxxxHH", 9, 1, resolution, 0, 0)
        self.block(1, self.pack("HHI", link, 0, 0) + option)

    def packet(self, interface, ticks, octets):
        self.block(6, self.pack("IIIII", interface, ticks >> 32, ticks & 0xffffffff, len(octets), len(octets)) + octets)


def pcap(link, *frames):
    head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link)
    return head + b"".join(struct.pack("<IIII", 1, 0, len(f), len(f)) + f for f in frames)


# ---- verdicts

@test("conformant: 0; the deviations are listed, not counted")
def _():
    out = expect(OK, CONNECTED)
    assert "CONFORMANT" in out.splitlines()[-1] and SERVICE_ID in out and "Known deviations" in out
    assert "frames 45" in out or "frame 45" in out


@test("violated: 1; rule, section, sentence, values and frame are there")
def _():
    out = expect(VIOLATED, ENCAP)
    for part in (RESERVED, "RFC 4391, section 6", "The Reserved field", "expected 0x0000, found 0x1234", "frame 8", "MUST"):
        assert part in out, part
    assert "VIOLATED" in out.splitlines()[-1]
    assert "\033" not in out


@test("--deviations none counts everything; a list that is not there is wrong usage")
def _():
    assert SERVICE_ID in found(report(OK, "--only", SERVICE_ID, CONNECTED), "deviation")
    assert SERVICE_ID in found(report(VIOLATED, "--deviations", "none", "--only", SERVICE_ID, CONNECTED), "fail")
    assert SERVICE_ID in found(report(VIOLATED, "--deviations=none", CONNECTED), "fail")
    expect(UNJUDGED, "--deviations", "nosuch", CONNECTED, err="nosuch")


@test("--deviations FILE")
def _():
    mine = store("mine.conf", b"[%s]\nreason=ours\n" % RESERVED.encode())
    document = report(OK, "--deviations", mine, ENCAP)
    assert found(document, "deviation")[RESERVED]["reason"] == "ours"


@test("--strict counts SHOULD")
def _():
    args = ["--deviations", "none", "--only", QKEY, CONNECTED]
    result = found(report(OK, *args), "fail")[QKEY]
    assert result["level"] == "SHOULD" and result["violation"] is False
    result = found(report(VIOLATED, "--strict", *args), "fail")[QKEY]
    assert result["violation"] is True
    assert "--strict" in expect(OK, *args)


@test("--only selects by identifier and by its beginning")
def _():
    assert set(found(report(VIOLATED, "--only", RESERVED, ENCAP), "fail")) == {RESERVED}
    expect(VIOLATED, "--only", "rfc4391.6", ENCAP)
    expect(OK, "--only", "rfc4391.9", ENCAP)
    expect(VIOLATED, "--only", "rfc4391.9", "--only", "rfc4391.6", ENCAP)
    for r in report(OK, "--only", "rfc4391.9", ENCAP)["results"]:
        assert r["id"].startswith("rfc4391.9.")


@test("usage that is wrong: 2")
def _():
    expect(UNJUDGED, err="no capture")
    expect(UNJUDGED, "--only", "rfc4391.60", ENCAP, err="rfc4391.60")
    expect(UNJUDGED, "--only", "", ENCAP, err="no rule")
    expect(UNJUDGED, "--only", "rfc4391.2.ud-supported", ENCAP, err="no capture can show")
    expect(UNJUDGED, "--format", "html", ENCAP, err="html")
    expect(UNJUDGED, "--nosuch", ENCAP, err="ipoib-check: unrecognized option")
    expect(UNJUDGED, "--list", ENCAP, err="--list")
    expect(UNJUDGED, "--list", "--format", "tap", err="--list")
    expect(UNJUDGED, "--list", "--strict", err="--list judges nothing")
    expect(UNJUDGED, "--list", "--deviations", "none", err="--list judges nothing")


@test("--help and --version")
def _():
    assert "--deviations" in expect(OK, "--help")
    assert re.fullmatch(r"ipoib-check \d+\.\d+\.\d+\n", expect(OK, "--version"))


# ---- files of every kind

@test("what cannot be read: 2")
def _():
    expect(UNJUDGED, "/nonexistent", err="No such file")
    expect(UNJUDGED, folder, err="Is a directory")
    expect(UNJUDGED, store("empty", b""), err="is empty")
    expect(UNJUDGED, store("three", b"abc"), err="too short")
    expect(UNJUDGED, os.path.join(SRC, "README.md"), err="no capture file")
    expect(UNJUDGED, os.path.join(SRC, "testdata/built/built-carrier.snoop"), err="snoop")
    expect(UNJUDGED, store("zst", b"\x28\xb5\x2f\xfd" + bytes(40)), err="zstd")


@test("no IPoIB in it: 2")
def _():
    document = report(UNJUDGED, store("none.pcap", pcap(ETHERNET)))
    assert document["summary"]["captures"][0]["error"] == "there is no IPoIB in it"
    ethernet = bytes(12) + b"\x08\x00" + bytes(46)
    assert report(UNJUDGED, store("ether.pcap", pcap(ETHERNET, ethernet)))["summary"]["captures"][0]["frames"] == 1
    assert "no IPoIB" in expect(UNJUDGED, store("unknown.pcap", pcap(9999, ethernet)))


@test("cut within a packet: 2, judged up to there; 1 where that is violated")
def _():
    whole = load(ENCAP)
    document = report(UNJUDGED, store("cut.pcap", whole[:-1]), err="is cut short")  # frame 8 is the last
    capture = document["summary"]["captures"][0]
    assert capture["frames"] == 7 and capture["verdict"] == "unjudged" and "cut short" in capture["error"]
    more = whole + struct.pack("<IIII", 1, 0, 100, 100) + bytes(50)
    document = report(VIOLATED, store("more.pcap", more), err="is cut short")
    assert document["summary"]["captures"][0]["frames"] == 8 and RESERVED in found(document, "fail")
    erf = load(os.path.join(SRC, "testdata/built/built-carrier.erf"))
    expect(UNJUDGED, store("cut.erf", erf[:-1]), err="is cut short")
    ng = load(os.path.join(SRC, "testdata/built/built-carrier-erf.pcapng"))
    expect(UNJUDGED, store("cut.pcapng", ng[:-1]), err="is cut short")


@test("a damaged file: 2, judged up to there")
def _():
    wrong = load(ENCAP) + struct.pack("<IIII", 1, 0, 0x7fffffff, 0x7fffffff)
    expect(VIOLATED, store("wrong.pcap", wrong), err="damaged")
    good = load(os.path.join(SRC, "testdata/built/built-carrier-erf.pcapng"))
    expect(UNJUDGED, store("wrong.pcapng", good + struct.pack("<III", 6, 13, 13)), err="damaged")


@test("several files: each by itself, the worst decides")
def _():
    missing = os.path.join(folder, "missing")
    expect(OK, CONNECTED, CONNECTED)
    expect(UNJUDGED, CONNECTED, missing, err="missing")
    expect(VIOLATED, missing, ENCAP, CONNECTED, err="missing")
    document = report(VIOLATED, ENCAP, CONNECTED)
    assert [c["verdict"] for c in document["summary"]["captures"]] == ["violated", "conformant"]
    assert RESERVED in found(document, "fail", ENCAP) and not found(document, "fail", CONNECTED)
    assert expect(VIOLATED, ENCAP, CONNECTED).splitlines()[-1] == "2 captures: 1 violated, 0 not judged, 1 conformant"


@test("standard input, gzip")
def _():
    whole = load(ENCAP)
    assert report(VIOLATED, "-", stdin=whole)["subject"] == "standard input"
    expect(OK, "-", stdin=load(CONNECTED))
    expect(UNJUDGED, "-", stdin=b"", err="standard input: is empty")
    expect(VIOLATED, store("encap.pcap.gz", gzip.compress(whole)))
    expect(VIOLATED, "-", stdin=gzip.compress(whole))
    ng = load(os.path.join(SRC, "testdata/built/built-carrier-247.pcapng"))
    expect(OK, store("ng.gz", gzip.compress(ng)))
    packed = gzip.compress(load(CONNECTED))
    expect(UNJUDGED, store("cut.gz", packed[:len(packed) // 2]), err="end too early")
    expect(UNJUDGED, store("crc.gz", packed[:-8] + bytes(8)), err="cannot be read")


@test("the same packets in every container and carrier: the same verdict")
def _():
    for name in ("247.pcap", "247-be-ns.pcap", "247.pcapng", "erf.pcap", "erf-be-ns.pcap", "erf.pcapng", "242.pcap", "sll.pcap",
                 "sll2.pcap", "roce1.pcap", "roce2.pcap"):
        expect(OK, os.path.join(SRC, "testdata/built/built-carrier-" + name))
    expect(OK, os.path.join(SRC, "testdata/built/built-carrier.erf"))


def resolved(path, order, resolution, ticks):
    ng = Pcapng(order)
    ng.interface(linktype(path), resolution)
    for ns, octets in packets(path):
        ng.packet(0, ticks(ns), octets)
    return store("resolution.pcapng", ng.octets)


@test("pcapng: resolutions and byte orders change nothing")
def _():
    expected = report(OK, CONNECTED)["results"]
    for r in expected:
        r["capture"] = os.path.join(folder, "resolution.pcapng")
    for order in "<>":
        for resolution, ticks in ((None, lambda ns: ns // 1000), (6, lambda ns: ns // 1000), (9, lambda ns: ns),
                                  (0x80 | 20, lambda ns: (ns << 20) // 10**9), (0x80 | 30, lambda ns: (ns << 30) // 10**9)):
            assert report(OK, resolved(CONNECTED, order, resolution, ticks))["results"] == expected, (order, resolution)


@test("pcapng: link types in one file, and frames numbered as Wireshark does")
def _():
    ng = Pcapng()
    ng.interface(ETHERNET)
    ng.interface(ERF)
    frames = packets(ENCAP)
    ng.block(4, struct.pack("<HH", 0, 0))           # names: no frame
    ng.packet(0, 0, bytes(60))                      # 1
    ng.block(0xbad, struct.pack("<I", 32473))       # 2: custom
    for ns, octets in frames:
        ng.packet(1, ns // 1000, octets)            # 3 to 10; what was frame 8 is 10
        ng.block(0x7777, b"unknown!")               # no frame
    result = found(report(VIOLATED, store("links.pcapng", ng.octets)), "fail")[RESERVED]
    assert result["frames"] == [10], result


@test("pcapng: what is seen on one interface is not known on another")
def _():
    rule = "rfc4391.9.1.2.qkey-from-join"
    path = os.path.join(SRC, "testdata/datagram.pcap")

    def split(of_packet):
        ng = Pcapng()
        ng.interface(linktype(path), 9)
        ng.interface(linktype(path), 9)
        for ns, octets in packets(path):
            ng.packet(of_packet(octets), ns, octets)
        document = report(OK, "--only", rule, "--only", "rfc4391.6", store("split.pcapng", ng.octets))
        return found(document, "pass").get(rule, {"count": 0})["count"]

    def is_mad(octets):  # LRH of 8 octets, its next header 2: BTH; 3: GRH of 40. BTH octets 5 to 7: the QP, 0 and 1 for MADs
        bth = 8 + (40 if octets[1] & 3 == 3 else 0)
        return octets[1] & 2 and int.from_bytes(octets[bth + 5:bth + 8], "big") < 2

    assert split(lambda octets: 0) > 0
    assert split(lambda octets: 1) > 0
    assert split(lambda octets: 0 if is_mad(octets) else 1) == 0


# ---- formats

@test("JSON: its shape")
def _():
    document = report(VIOLATED, ENCAP)
    assert document["tool"] == "ipoib-check" and document["subject"] == ENCAP and document["version"]
    result = found(document, "fail")[RESERVED]
    assert result["level"] == "MUST" and result["section"] == "6" and result["document"] == "RFC 4391"
    assert result["expected"] == "0x0000" and result["actual"] == "0x1234" and result["frames"] == [8]
    assert result["count"] == 1 and result["violation"] is True and len(result["cases"]) == 1
    assert found(document, "pass")[RESERVED]["count"] == 7
    for r in document["results"]:
        assert r["outcome"] in ("pass", "fail", "deviation", "inconclusive", "noted") and r["count"] > 0
        assert sum(c["count"] for c in r["cases"]) + r["further_cases"] == (0 if r["outcome"] == "pass" else r["count"])
    assert len({(r["id"], r["outcome"]) for r in document["results"]}) == len(document["results"])
    assert document["summary"]["verdict"] == "violated" and document["summary"]["exit_status"] == 1


def junit(status, *args, **options):
    path = store("report.xml", expect(status, "--format", "junit", *args, **options).encode())
    lint = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", os.path.join(SRC, "tests/junit.xsd"), path],
                          stderr=subprocess.PIPE, text=True)
    assert lint.returncode == 0, lint.stderr
    return ElementTree.parse(path).getroot()


@test("JUnit: valid, and its counts are right")
def _():
    root = junit(VIOLATED, ENCAP, CONNECTED, "/nonexistent", err="No such file")
    suites = root.findall("testsuite")
    assert [s.get("failures") for s in suites] == ["1", "0", "0"] and [s.get("errors") for s in suites] == ["0", "0", "1"]
    for s in suites:
        cases = s.findall("testcase")
        assert len({c.get("name") for c in cases}) == len(cases) == int(s.get("tests"))
        for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert len(s.findall("testcase/" + element)) == int(s.get(attribute))
    failure = suites[0].find("testcase[@name='%s']/failure" % RESERVED)
    assert failure.get("type") == "MUST" and "0x1234" in failure.get("message") and "frame 8" in failure.get("message")
    skipped = suites[1].find("testcase[@name='%s']/skipped" % SERVICE_ID)
    assert skipped.get("message").startswith("known deviation")
    assert "Known deviations" in suites[1].find("system-out").text
    assert len(suites[0].findall("testcase")) == len(suites[1].findall("testcase"))


def read_tap(text):
    """{description: (ok, directive)} of TAP 13, strictly; {number of the test: lines of its YAML}."""
    lines = text.splitlines()
    assert lines[0] == "TAP version 13"
    plan = re.fullmatch(r"1\.\.(\d+)", lines[1])
    tests, yaml, inside = {}, {}, False
    for line in lines[2:]:
        m = re.fullmatch(r"(not )?ok (\d+) - ((?:[^#\\]|\\[#\\])+?)(?: # (SKIP) ((?:[^#\\]|\\[#\\])+))?", line)
        if inside:
            assert line == "  ..." or re.match(r"  (  )*(- )?[a-z]+:( |$)", line), line
            inside = line != "  ..."
            yaml[len(tests)] += [line]
        elif line == "  ---":
            assert len(tests) not in yaml
            yaml[len(tests)], inside = [], True
        elif not line.startswith("# "):
            assert m, line
            assert int(m.group(2)) == len(tests) + 1
            name = re.sub(r"\\(.)", r"\1", m.group(3))
            assert name not in tests
            tests[name] = (not m.group(1), m.group(4))
    assert not inside and len(tests) == int(plan.group(1)), (len(tests), plan)
    return tests, yaml


@test("TAP: strictly read, and by prove where it is installed")
def _():
    out = expect(VIOLATED, "--format", "tap", ENCAP, CONNECTED, "/nonexistent", err="No such file")
    tests, yaml = read_tap(out)
    assert {n for n, (ok, _) in tests.items() if not ok} == {ENCAP + ": " + RESERVED, "/nonexistent: could be judged"}
    assert tests[CONNECTED + ": " + SERVICE_ID] == (True, "SKIP")
    assert tests[CONNECTED + ": could be judged"] == (True, None)
    number = 1 + list(tests).index(ENCAP + ": " + RESERVED)
    assert '      actual: "0x1234"' in yaml[number] and "      frames: [8]" in yaml[number]
    if shutil.which("prove"):
        for status, args, path in ((1, [ENCAP], "bad.tap"), (0, [CONNECTED], "good.tap")):
            store(path, run("--format", "tap", *args).stdout)
            prove = subprocess.run(["prove", "--exec", "cat", os.path.join(folder, path)], stdout=subprocess.PIPE, text=True)
            assert prove.returncode == status and "Parse errors" not in prove.stdout, prove.stdout


@test("names of any octets make no report invalid")
def _():
    names = [b"# SKIP x.pcap", b"a\\#\\", b"\xff\xfe.pcap", b"line\nend\ttab.pcap", b"\x1b[31mred", b"<&\"']]>.pcap",
             b"\xe2\x80\xae\xef\xbf\xbf.pcap", b" "]
    paths = []
    for name in names:
        paths.append(os.path.join(folder.encode(), name))
        shutil.copy(ENCAP, paths[-1])
    assert len(junit(VIOLATED, *paths).findall("testsuite")) == len(names)
    tests, _ = read_tap(expect(VIOLATED, "--format", "tap", *paths))
    assert sum(not ok for ok, _ in tests.values()) == len(names)
    assert len(report(VIOLATED, *paths)["summary"]["captures"]) == len(names)
    out = expect(VIOLATED, *paths)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\uffff]", out) and "\\x0aend\\x09tab" in out
    p = run(os.path.join(folder.encode(), b"no\x1b[2Jthing\n"))
    assert p.returncode == 2 and p.err.count("\n") == 1 and "\033" not in p.err


@test("the list of deviations is a file with a name of any octets: no report is invalid, and --merge takes it")
def _():
    for name, plain in ((b"a\xff.conf", "a\\xff.conf"), (b"b\x1b[31m.conf", "b\\x1b[31m.conf")):
        path = os.path.join(folder.encode(), name)
        shutil.copy(os.path.join(SRC, "rules/deviations/linux.conf"), path)
        document = report(OK, "--deviations", path, CONNECTED)
        assert document["summary"]["deviations"] == os.path.join(folder, plain)
        value = junit(OK, "--deviations", path, CONNECTED).find("testsuite/properties/property[@name='deviations']").get("value")
        assert value == os.path.join(folder, plain)
        written = store("deviations.json", json.dumps(document).encode())
        assert report(OK, "--merge", written)["summary"]["captures"][0]["deviations"] == os.path.join(folder, plain)
        for form in ("text", "tap"):
            assert "\033" not in expect(OK, "--format", form, "--deviations", path, CONNECTED)


@test("--list: every rule of the table once, in columns; as JSON too")
def _():
    table = re.findall(r'^RULE\(\w+, "([^"]+)"', load(os.path.join(SRC, "rules/table.def")).decode(), re.MULTILINE)
    assert len(table) == 144
    lines = expect(OK, "--list").splitlines()
    assert [line.split()[0] for line in lines] == table
    starts = {re.search(r"  (MUST|SHOULD|MAY|INFO|DRAFT) ", line).start(1) for line in lines}
    assert len(starts) == 1
    listed = json.loads(expect(OK, "--list", "--format", "json"))["rules"]
    assert [r["id"] for r in listed] == table
    assert next(r for r in listed if r["id"] == RESERVED)["level"] == "MUST"
    assert all(r["capture"] or r["probe"] or r["unseen"] for r in listed)
    chosen = expect(OK, "--list", "--only", "rfc4391.6").splitlines()
    assert chosen and all(line.startswith("rfc4391.6.") for line in chosen)


# ---- where reports go

@test("-o: the file is the report, replaced at once, also through a link; its mode is kept")
def _():
    target, link = store("report.txt", b"old"), os.path.join(folder, "link")
    os.chmod(target, 0o640)
    os.symlink("report.txt", link)
    assert expect(VIOLATED, "-o", link, ENCAP) == ""
    assert load(target).decode() == expect(VIOLATED, ENCAP)
    assert os.path.islink(link) and os.stat(target).st_mode & 0o777 == 0o640
    assert [n for n in os.listdir(folder) if n.startswith("report.txt")] == ["report.txt"]
    assert expect(VIOLATED, "-o", "-", ENCAP) == load(target).decode()
    expect(OK, "--list", "--output=" + target)
    assert load(target).decode() == expect(OK, "--list")
    os.unlink(target)  # a link that names nothing is replaced itself
    expect(VIOLATED, "-o", link, ENCAP)
    assert not os.path.islink(link) and not os.path.exists(target) and load(link).decode() == expect(VIOLATED, ENCAP)


@test("-o: a pipe and a device are written to, not replaced; where there is no room or no right, nothing is left")
def _():
    fifo, place = os.path.join(folder, "fifo"), os.path.join(folder, "place")
    os.mkfifo(fifo)
    p = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
    expect(VIOLATED, "-o", fifo, ENCAP)
    assert p.communicate(timeout=60)[0].decode() == expect(VIOLATED, ENCAP) and not os.path.isfile(fifo)
    os.mkdir(place)
    for args in ((ENCAP,), ("--list",), ("--merge", store("merge-me.json", run("--format", "json", ENCAP).stdout))):
        small = run("-o", os.path.join(place, "report"), *args, restore_signals=False,  # SIGXFSZ stays ignored
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        assert small.returncode == UNJUDGED and "File too large" in small.err and not os.listdir(place), (args, small.err)
        expect(UNJUDGED, "-o", folder, *args, err="Is a directory")


@test("-o: a capture is never overwritten")
def _():
    path = store("precious.pcap", load(ENCAP))
    expect(UNJUDGED, "-o", path, path, err="is a capture")
    os.link(path, path + "2")
    expect(UNJUDGED, "-o", path + "2", path, err="is a capture")
    with open(path, "rb") as f:
        p = subprocess.run([CHECK, "-o", path, "-"], stdin=f, stderr=subprocess.PIPE)
    assert p.returncode == 2 and load(path) == load(ENCAP)


@test("a report that cannot be written: 2, and said")
def _():
    expect(UNJUDGED, "-o", "/dev/full", ENCAP, err="No space left")
    expect(UNJUDGED, "-o", os.path.join(folder, "no/such/folder"), ENCAP, err="cannot be written")
    with open("/dev/full", "wb") as full:
        expect(UNJUDGED, ENCAP, stdout=full, err="No space left")
        expect(UNJUDGED, "--list", stdout=full, err="No space left")
        expect(UNJUDGED, "--help", stdout=full, err="No space left")
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as closed:
        expect(UNJUDGED, CONNECTED, stdout=closed, err="Broken pipe")
    p = subprocess.run(["sh", "-c", 'exec "$0" "$1" >&-', CHECK, CONNECTED], stderr=subprocess.PIPE, text=True)
    assert p.returncode == 2 and "cannot be written" in p.stderr, p


@test("interrupted: 130, no report, no verdict")
def _():
    target = os.path.join(folder, "interrupted.txt")
    p = subprocess.Popen([CHECK, "-o", target, CONNECTED, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    p.stdin.write(load(ENCAP))
    p.stdin.flush()
    while os.path.basename(os.readlink("/proc/%d/exe" % p.pid)) != "ipoib-check":
        time.sleep(0.01)
    with open("/proc/%d/wchan" % p.pid) as f:  # until it waits for more
        for _ in range(500):
            f.seek(0)
            if "pipe" in f.read():
                break
            time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    out, err = b"", b""
    try:
        p.wait(10)
    finally:
        p.kill()
        out, err = p.stdout.read(), p.stderr.read()
        p.stdin.close()
    assert p.returncode == 130 and out == b"" and b"interrupted" in err, (p.returncode, out, err)
    assert not os.path.exists(target)


def on_terminal(args, env=None, feed=()):
    """Runs with stdout and stderr on a terminal; feed: octets and pauses for stdin. What came on the terminal."""
    master, slave = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment.update({"TERM": "xterm", **(env or {})})
    p = subprocess.Popen([CHECK, *args], stdin=subprocess.PIPE, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    for part in feed:
        if isinstance(part, bytes):
            p.stdin.write(part)
            p.stdin.flush()
        else:
            time.sleep(part)
    p.stdin.close()
    seen = b""
    while True:
        try:
            ready, _, _ = select.select([master], [], [], 20)
            part = os.read(master, 65536) if ready else b""
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        seen += part
    p.wait(20)
    os.close(master)
    return seen


@test("colours on a terminal alone, and not with NO_COLOR")
def _():
    assert b"\033[1;31mVIOLATED" in on_terminal([ENCAP])
    assert b"\033" not in on_terminal([ENCAP], {"NO_COLOR": "1"})
    assert b"\033" not in on_terminal([ENCAP], {"TERM": "dumb"})
    assert b"\033" not in on_terminal(["--format", "json", ENCAP])


@test("progress on a terminal, after a second")
def _():
    frame = packets(ENCAP)[0][1]
    part = b"".join(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame for _ in range(3000))
    quick = on_terminal(["-"], feed=[pcap(ERF), part])
    assert b"frames\033[K" not in quick
    slow = on_terminal(["-"], feed=[pcap(ERF), part, 1.2, part])
    assert re.search(rb"\rstandard input: [1-9]\d* frames\033\[K.*\r\033\[K.*: 6000 frames", slow, re.DOTALL), slow[:300]


def main():
    try:
        run_tests()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --merge: reports of many nodes become one.

The captures are testdata's; support/check.py describes their contents."""
import json
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from support import capfile, check, reports, wait
from support.check import CHECK, CONNECTED, DATAGRAM, ENCAP, JOIN, OK, QKEY, RESERVED
from support.check import UNJUDGED, VIOLATED, load
from support.paths import SRC

PEAK = 16 << 10  # KiB, for any number of reports: twice the measured amount of memory


class Folder:
    """A test's own reports, by names without a folder: the name of a report is the name of its
    node."""

    def __init__(self, path):
        self.path = path

    def run(self, *args, **options):
        return check.run(*args, cwd=self.path, **options)

    def expect(self, status, *args, **options):
        return check.expect(status, *args, cwd=self.path, **options)

    def load(self, name):
        return load(os.path.join(self.path, name))

    def json(self, name):
        return json.loads(self.load(name))

    def store(self, name, content):
        """Writes bytes, or anything else as JSON."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    def write_report(self, name, *args):
        """A report of captures."""
        self.run("--format", "json", "-o", name, *args)
        return self.json(name)

    def merged(self, status, *args, **options):
        return json.loads(self.expect(status, "--merge", "--format", "json", *args, **options))


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("reports"))
    folder.write_report("n1.json", ENCAP)
    folder.write_report("n2.json", CONNECTED)
    folder.write_report("n3.json", DATAGRAM, CONNECTED)
    folder.store("empty.json", b"")
    folder.store("foreign.json", {"results": [], "summary": {}})
    folder.store("cut.json", folder.load("n1.json")[:3000])
    return folder


@pytest.fixture
def folder(originals, tmp_path):
    """Good and bad reports, the same for every test."""
    shutil.copytree(originals.path, tmp_path / "work")
    return Folder(tmp_path / "work")


# ---- good reports


def test_text_is_by_node_and_by_rule(folder):
    lines = folder.expect(VIOLATED, "--merge", "n1.json", "n2.json", "n3.json").splitlines()
    assert lines[0].startswith(f"n1: {ENCAP}: 21 of 73 rules judged, 1 violated: VIOLATED: 1 MUST")
    assert RESERVED in lines[1]
    assert "expected 0x0000, found 0x1234" in lines[2]
    assert "frame 8" in lines[3]
    at = lines.index(next(line for line in lines if line.startswith("  " + QKEY)))
    assert "section 4.1" in lines[at] and "at 2 of 3 nodes, 3 findings" in lines[at]
    assert lines[at + 2].strip() == "n2, n3"
    assert lines[-2:] == [
        "3 reports, 4 captures: 1 violated, 0 not judged, 3 conformant",
        "3 nodes: 1 violated, 0 not judged, 2 conformant",
    ]


def test_conformant_reports_have_status_0(folder):
    folder.expect(OK, "--merge", "n2.json", "n3.json")


def test_standard_input_is_a_report(folder):
    out = folder.expect(VIOLATED, "--merge", "-", "n2.json", input=folder.load("n1.json"))
    assert out.startswith("standard input: ")


@pytest.fixture
def whole(folder):
    return folder.merged(VIOLATED, "n1.json", "n2.json", "n3.json")


def test_json_has_every_result_unchanged_with_node_and_file(folder, whole):
    given = [
        dict(r, node=n, file=n + ".json")
        for n in ("n1", "n2", "n3")
        for r in folder.json(n + ".json")["results"]
    ]
    assert whole["results"] == given


def test_json_summary(whole):
    s = whole["summary"]
    assert (s["verdict"], s["exit_status"], s["reports"]) == ("violated", 1, 3)
    assert (s["violated"], s["unjudged"], s["conformant"]) == (1, 0, 3)
    assert len(s["captures"]) == 4
    assert not s["targets"]
    assert [(n["name"], n["verdict"], n["conformant"]) for n in s["nodes"]] == [
        ("n1", "violated", 0),
        ("n2", "conformant", 1),
        ("n3", "conformant", 2),
    ]


def test_json_summary_of_rules(whole):
    rules = {(r["id"], r["outcome"]): r for r in whole["summary"]["rules"]}
    reserved, qkey = rules[RESERVED, "fail"], rules[QKEY, "deviation"]
    assert (reserved["names"], reserved["level"]) == (["n1"], "MUST")
    assert reserved["violation"]
    assert (qkey["names"], qkey["count"]) == (["n2", "n3"], 3)
    for key, r in rules.items():
        results = [x for x in whole["results"] if (x["id"], x["outcome"]) == key]
        assert r["count"] == sum(x["count"] for x in results), key
        assert r["nodes"] == len(r["names"]), key


def suites(folder, *args):
    """For each suite of a valid JUnit report the tests: name, and the messages of its elements."""
    path = folder.store("junit.xml", folder.run("--format", "junit", *args).stdout)
    assert check.schema_errors(path) is None
    return [
        [(c.get("name"), [(k.tag, k.get("message")) for k in c]) for c in s.findall("testcase")]
        for s in ElementTree.parse(path).getroot()
    ]


def test_junit_has_the_tests_that_the_reports_have(folder):
    merged = suites(folder, "--merge", "n1.json", "n3.json")
    assert merged == suites(folder, ENCAP, DATAGRAM, CONNECTED)


def test_junit_has_one_test_of_an_empty_report(folder):
    assert len(suites(folder, "--merge", "n1.json", "empty.json")[1]) == 1


def test_tap_has_the_tests_that_the_reports_have_with_the_node_before_the_name(folder):
    out = folder.expect(VIOLATED, "--merge", "--format", "tap", "n1.json", "n2.json")
    alone = folder.expect(VIOLATED, "--format", "tap", ENCAP, CONNECTED)
    assert out.replace("- n1: ", "- ").replace("- n2: ", "- ") == alone


def test_strictness_deviations_and_rules_are_those_of_each_report(folder):
    folder.write_report("strict.json", "--strict", "--deviations", "none", DATAGRAM)
    folder.write_report("only.json", "--only", "rfc4755", CONNECTED)
    whole = folder.merged(VIOLATED, "strict.json", "n3.json", "only.json")
    captures = whole["summary"]["captures"]
    assert [(c["node"], c["strict"], c["deviations"], c["only"]) for c in captures] == [
        ("strict", True, "none", []),
        ("n3", False, "linux", []),
        ("n3", False, "linux", []),
        ("only", False, "linux", ["rfc4755"]),
    ]
    assert [c["verdict"] for c in captures] == ["violated"] + ["conformant"] * 3


@pytest.mark.parametrize("form", ["json", "text", "tap"])
def test_merged_reports_merge_to_the_same_as_all_at_once(folder, form):
    args = ["--merge", "--format", "json"]
    first = folder.expect(VIOLATED, *args, "n1.json", "empty.json", err="empty")
    folder.store("a.json", first.encode())
    folder.store("b.json", folder.expect(OK, *args, "n2.json", "n3.json").encode())
    args = ["--merge", "--format", form]
    names = ["n1.json", "empty.json", "n2.json", "n3.json"]
    once = folder.expect(VIOLATED, *args, *names, err="empty")
    assert folder.expect(VIOLATED, *args, "a.json", "b.json") == once


def test_repeated_capture_keeps_all_results(folder):
    folder.write_report("twice.json", CONNECTED, CONNECTED)
    whole = folder.merged(OK, "twice.json", "n2.json")
    assert len(whole["results"]) == 3 * len(folder.json("n2.json")["results"])


def test_reports_with_the_same_name_belong_to_one_node(folder):
    folder.store("copy/n2.json", folder.load("n2.json"))
    whole = folder.merged(OK, "n2.json", "copy/n2.json")
    assert [(n["name"], n["conformant"]) for n in whole["summary"]["nodes"]] == [("n2", 2)]
    folder.store("again.json", whole)
    assert folder.merged(OK, "again.json")["summary"]["nodes"] == whole["summary"]["nodes"]


# ---- the borders of files


@pytest.fixture
def halves(folder):
    """Two files of CONNECTED, split in its middle: all joins are in the first."""
    capture = capfile.read(CONNECTED)
    middle = len(capture.frames) // 2
    for name, frames in (("1", capture.frames[:middle]), ("2", capture.frames[middle:])):
        data = capfile.pcap(capture.linktype, frames, capture.nanoseconds, capture.endian)
        folder.store(f"half-{name}.pcap", data)


def names_by_rule(whole):
    return {(r["id"], r["outcome"]): r["names"] for r in whole["summary"]["rules"]}


def test_halves_of_a_capture_are_inconclusive_and_not_violated(folder, halves):
    for n in "12":
        folder.write_report(f"half-{n}.json", f"half-{n}.pcap")
    by = names_by_rule(folder.merged(OK, "half-1.json", "half-2.json"))
    assert by[JOIN, "pass"] == ["half-1"]
    assert by[JOIN, "inconclusive"] == ["half-2"]


def test_conclusive_half_decides_for_the_node(folder, halves):
    for n in "12":
        folder.write_report(f"half-{n}.json", "--node", "n", f"half-{n}.pcap")
    together = folder.merged(OK, "half-1.json", "half-2.json")
    assert [n["name"] for n in together["summary"]["nodes"]] == ["n"]
    by = names_by_rule(together)
    assert by[JOIN, "pass"] == ["n"] and (JOIN, "inconclusive") not in by
    # The counts of both outcomes remain in the results.
    outcomes = {r["outcome"] for r in together["results"] if r["id"] == JOIN}
    assert outcomes == {"pass", "inconclusive"}


# ---- bad reports


def fail_of(document):
    return next(r for r in document["results"] if r["id"] == RESERVED and r["outcome"] == "fail")


BAD = {
    "a number for an object": (lambda d: d.update(summary=7), "is malformed"),
    "no results": (lambda d: d.pop("results"), "is malformed"),
    "another tool": (lambda d: d.update(tool="nmap"), "no report of ipoib-check"),
    "no capture": (lambda d: d["summary"].update(captures=[]), "no capture"),
    "a result of another capture": (
        lambda d: fail_of(d).update(capture="b.pcap"),
        "belongs to no capture or target",
    ),
    "a result twice": (
        lambda d: d["results"].append(fail_of(d)),
        "belongs to no capture or target",
    ),
    "a result left out": (lambda d: d["results"].remove(fail_of(d)), "give another verdict"),
    "a verdict that is not that of the findings": (
        lambda d: d["summary"]["captures"][0].update(verdict="conformant"),
        "verdict",
    ),
    "an unknown rule": (lambda d: fail_of(d).update(id="rfc9999.1.x"), "does not know"),
    "an unknown selector": (lambda d: d["summary"].update(only=["rfc9999"]), "does not know"),
    "an unknown outcome": (lambda d: fail_of(d).update(outcome="maybe"), "is malformed"),
    "a count of cases that is not the rule's": (
        lambda d: fail_of(d).update(count=2),
        "do not agree",
    ),
    "a negative count": (lambda d: fail_of(d).update(count=-1), "do not agree"),
    "too many frames": (lambda d: fail_of(d).update(frames=[1] * 11), "do not agree"),
    "a frame that is no number": (lambda d: fail_of(d).update(frames=["8"]), "do not agree"),
    "a case without its texts": (lambda d: fail_of(d)["cases"][0].pop("actual"), "do not agree"),
    "an escape sequence": (
        lambda d: fail_of(d).update(text="\033[2J"),
        "characters that no report has",
    ),
    "an escape sequence for a name": (
        lambda d: d.update({"\033[2J": 1}),
        "characters that no report has",
    ),
    "no settings": (lambda d: d["summary"].pop("strict"), "made with are missing"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_report_has_status_2_and_the_others_count(folder, what):
    change, message = BAD[what]
    document = folder.json("n1.json")
    change(document)
    folder.store("bad.json", document)
    whole = folder.merged(UNJUDGED, "n2.json", "bad.json", "n3.json", err="bad.json: ")
    captures = whole["summary"]["captures"]
    bad = next(c for c in captures if c["node"] == "bad")
    assert message in bad["error"]
    assert bad["verdict"] == "unjudged"
    assert len(captures) == 4
    assert [r for r in whole["results"] if r["node"] == "bad"] == []
    expected = sum(len(folder.json(n)["results"]) for n in ("n2.json", "n3.json"))
    assert len(whole["results"]) == expected
    folder.store("again.json", whole)
    again = folder.merged(UNJUDGED, "again.json")
    assert again["summary"]["nodes"] == whole["summary"]["nodes"]


@pytest.mark.parametrize(
    "name, message",
    [
        pytest.param("empty.json", "empty", id="empty"),
        pytest.param("cut.json", "not valid JSON", id="truncated"),
        pytest.param("foreign.json", "no report", id="foreign"),
        pytest.param("missing.json", "No such file", id="missing"),
        pytest.param(".", "Is a directory", id="folder"),
        pytest.param(ENCAP, "not valid JSON", id="capture"),
    ],
)
def test_file_that_is_no_report_has_status_2_and_the_others_count(folder, name, message):
    out = folder.expect(UNJUDGED, "--merge", "n2.json", name, "n3.json", err=message)
    assert out.splitlines()[-1] == "3 nodes: 0 violated, 1 not judged, 2 conformant"
    folder.expect(VIOLATED, "--merge", name, "n1.json", err=message)


def test_list_of_rules_is_refused_as_a_report(folder):
    folder.store("rules.json", folder.expect(OK, "--list", "--format", "json").encode())
    folder.expect(UNJUDGED, "--merge", "rules.json", err="list of rules")


@pytest.mark.parametrize("kind", ["cut", "flipped", "zero"])
def test_changed_byte_or_beginning_of_a_report_gives_an_error_or_a_report(folder, kind):
    """At 120 places of a small report."""
    folder.write_report("small.json", "--only", "rfc4391.6", ENCAP)
    data = folder.load("small.json")
    for at in range(0, len(data), max(1, len(data) // 120)):
        rest = {
            "cut": b"",
            "flipped": bytes([data[at] ^ 0x41]) + data[at + 1 :],
            "zero": b"\0" + data[at + 1 :],
        }
        folder.store("mutant.json", data[:at] + rest[kind])
        done = folder.run("--merge", "--format", "json", "mutant.json", "n2.json")
        assert done.returncode in (VIOLATED, UNJUDGED), (at, done.returncode, done.err)
        captures = json.loads(done.stdout)["summary"]["captures"]
        assert captures[-1]["node"] == "n2", at
        if kind == "cut" and data[at:].strip():
            assert done.returncode == UNJUDGED, at


# ---- usage


def test_no_report_has_status_2(folder):
    folder.expect(UNJUDGED, "--merge", err="no report given")


@pytest.mark.parametrize(
    "option", ["--strict", "--only rfc4755", "--deviations none", "--list"], ids=str
)
def test_checking_options_with_merge_are_wrong_usage(folder, option):
    folder.expect(UNJUDGED, "--merge", *option.split(), "n1.json", err="--merge checks no capture")


@pytest.mark.parametrize("args", [["--merge", "n1.json"], [ENCAP]], ids=["merge", "text"])
def test_node_without_a_json_report_to_write_is_wrong_usage(folder, args):
    folder.expect(UNJUDGED, "--node", "x", *args, err="--node names")


def test_output_never_overwrites_a_report_to_be_merged(folder):
    before = folder.load("n1.json")
    message = "is a report to be merged"
    folder.expect(UNJUDGED, "--merge", "-o", "n1.json", "n2.json", "n1.json", err=message)
    assert folder.load("n1.json") == before


def test_output_to_a_full_device_has_status_2(folder):
    folder.expect(UNJUDGED, "--merge", "-o", "/dev/full", "n1.json", err="No space left")


def test_interrupted_wait_for_a_report_has_status_130_and_no_output(folder):
    with subprocess.Popen(
        [CHECK, "--merge", "-o", "interrupted.txt", "n1.json", "-"],
        cwd=folder.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as p:
        try:
            p.stdin.write(b"{")
            p.stdin.flush()
            wait.sleeps_in(p, "pipe", "ipoib-check")  # for the next byte
            p.send_signal(signal.SIGINT)
            wait.end_of(p)
        finally:
            p.kill()
        out, err = p.stdout.read(), p.stderr.read()
    assert (p.returncode, out) == (130, b""), err
    assert err == b"ipoib-check: interrupted: there is no report\n"
    assert not (folder.path / "interrupted.txt").exists()


def peak(folder, *args):
    """KiB, when the whole report is built and waits for a reader. (wait4() would include Python's
    own memory.)"""
    fifo = folder.path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([CHECK, *args, "-o", fifo], cwd=folder.path, stderr=subprocess.PIPE) as p:
        try:
            wait.sleeps_in(p, "wait_for_partner", "ipoib-check")
            with open(f"/proc/{p.pid}/status", encoding="utf-8") as f:
                high = int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1))
            assert fifo.read_bytes()
            assert wait.end_of(p) == 0, p.stderr.read()
        finally:
            p.kill()
    fifo.unlink()
    return high


@pytest.mark.parametrize("form", ["json", "text", "junit", "tap"])
def test_memory_does_not_grow_with_the_reports(folder, form, record_property):
    """1,000 reports take as much as 10."""
    (folder.path / "many").mkdir()
    names = ["many/node%04d.json" % i for i in range(1000)]
    for name in names:
        os.symlink("../n2.json", folder.path / name)
    few, many = (peak(folder, "--merge", "--format", form, *n) for n in (names[:10], names))
    record_property("KiB of 10 and of 1,000 reports", f"{few}, {many}")
    assert many < few + 4096
    assert many < PEAK


# ---- reports of ipoib-probe


def test_probe_reports_without_a_device(folder):
    """The list of deviations has a name of any bytes."""
    source = os.path.join(SRC, "lib/rules/deviations/linux.conf")
    shutil.copy(source, os.path.join(os.fsencode(folder.path), b"a\xff\x1b.conf"))
    options = ["--deviations", b"a\xff\x1b.conf", "fabric"]
    folder.store("fabric.json", reports.without_device(*options, cwd=folder.path))
    folder.store("peer.json", reports.without_device("10.0.0.2"))
    whole = folder.merged(VIOLATED, "fabric.json", "peer.json")
    targets = whole["summary"]["targets"]
    assert [(t["node"], t["verdict"], t["deviations"]) for t in targets] == [
        ("fabric", "violated", "a\\xff\\x1b.conf"),
        ("peer", "unjudged", "linux"),
    ]
    assert all(t["error"] for t in targets)
    outcomes = {r["id"]: r["outcome"] for r in whole["summary"]["rules"]}
    assert outcomes["fabric.device"] == "fail"


def test_probe_report_without_a_device_and_a_conformant_capture_have_status_2(folder):
    folder.store("peer.json", reports.without_device("10.0.0.2"))
    folder.merged(UNJUDGED, "peer.json", "n2.json")


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    path = tmp_path_factory.mktemp("simulated") / "probe.json"
    reports.of_simulated_subnet(path)
    return load(path)


def test_probe_report_and_a_capture_in_json(folder, simulated):
    folder.store("probe.json", simulated)
    whole = folder.merged(VIOLATED, "probe.json", "n2.json")
    given = json.loads(simulated)["results"]
    assert [r for r in whole["results"] if "target" in r] == [
        dict(r, node="probe", file="probe.json") for r in given
    ]
    summary = whole["summary"]
    assert [t["name"] for t in summary["targets"]] == ["fabric"]
    assert len(summary["captures"]) == 1
    # The simulator passes no traps on.
    stage = next(r for r in summary["rules"] if r["id"] == "fabric.own-group")
    assert (stage["level"], stage["outcome"], stage["names"]) == ("STAGE", "fail", ["probe"])
    assert stage["violation"]


def test_inconclusive_cases_of_a_probe_are_in_junit_and_tap(folder, simulated):
    """A rule that the probe saw pass once, and could not decide another time."""
    report = json.loads(simulated)
    passed = next(r for r in report["results"] if r["outcome"] == "pass" and r["level"] == "MUST")
    case = {**passed["cases"][0], "count": 1, "expected": "", "actual": "no reply came in time"}
    undecided = {**passed, "outcome": "inconclusive", "count": 1, "cases": [case]}
    report["results"].append(undecided)
    folder.store("probe.json", report)
    junit = folder.expect(VIOLATED, "--merge", "--format", "junit", "probe.json")
    path = folder.store("merged.xml", junit.encode())
    assert check.schema_errors(path) is None
    out = ElementTree.fromstring(junit).find(".//system-out").text
    assert f"\ninconclusive  {passed['id']}\n  1 time: no reply came in time\n" in out
    tap = folder.expect(VIOLATED, "--merge", "--format", "tap", "probe.json")
    after = tap.split("  inconclusive:\n    - count: 1\n")[1].split("  ...\n")[0]
    assert '      actual: "no reply came in time"\n' in after
    assert f'  help: "ipoib-probe --explain {passed["id"]}"\n' in tap


def test_probe_report_and_a_capture_in_text(folder, simulated):
    folder.store("probe.json", simulated)
    out = folder.expect(VIOLATED, "--merge", "probe.json", "n2.json")
    assert "Stages of a fabric, failed\n  fabric.own-group  at 1 of 2 nodes" in out
    assert "2 reports, 2 captures and targets: 1 violated, 0 not judged, 1 conformant" in out

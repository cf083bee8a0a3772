#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: here-only
"""ipoib-check --merge, and the recipes of doc/cluster.md as they stand there.

Environment: IPOIB_SRC, IPOIB_BIN. Output: TAP.

What is in the captures, by hand: frame 8 of built-encap has a Reserved field that is not 0 (rfc4391.6.reserved-zero, MUST),
connected and datagram are Linux kernels whose broadcast group has OpenSM's Q_Key (rfc4391.4.1.qkey-controlled, SHOULD, a known
deviation). connected-1 and connected-2 are the two halves of connected: all joins are in the first."""
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from tap import BIN, SRC, Skip, finish, remark, run_tests, test

CHECK = os.path.join(BIN, "ipoib-check")
ENCAP = os.path.join(SRC, "testdata/built/built-encap.pcap")
CONNECTED, DATAGRAM = (os.path.join(SRC, "testdata", name) for name in ("connected.pcap", "datagram.pcap"))
RESERVED, QKEY, JOIN = "rfc4391.6.reserved-zero", "rfc4391.4.1.qkey-controlled", "rfc4391.10.join-before-send"
OK, VIOLATED, UNJUDGED = 0, 1, 2
PEAK = 16 << 10  # KiB of memory that merging takes, however many reports there are: twice what is measured

folder = tempfile.mkdtemp(prefix="ipoib-merge.")


def call(*args, cwd=folder, **options):
    return subprocess.run([CHECK, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, cwd=cwd, text=True, **options)


def expect(status, *args, err="", **options):
    """stdout; stderr must have err in it, and be empty where err is."""
    p = call(*args, **options)
    assert p.returncode == status and (err in p.stderr if err else not p.stderr), (args, p.returncode, p.stderr, p.stdout[-500:])
    return p.stdout


def load(path):
    with open(os.path.join(folder, path), "rb") as f:
        return f.read()


def store(name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def judge(name, *args):
    """A report of its own."""
    call("--format", "json", "-o", name, *args)
    return json.loads(load(name))


def merged(status, *args, **options):
    return json.loads(expect(status, "--merge", "--format", "json", *args, **options))


def halves(path):
    """A classic little-endian pcap, cut between two packets in the middle."""
    octets = load(path)
    starts, at = [], 24
    while at < len(octets):
        starts.append(at)
        at += 16 + struct.unpack_from("<I", octets, at + 8)[0]
    middle = starts[len(starts) // 2]
    return octets[:middle], octets[:24] + octets[middle:]


def prepare():
    judge("n1.json", ENCAP)
    judge("n2.json", CONNECTED)
    judge("n3.json", DATAGRAM, CONNECTED)
    store("empty.json", b"")
    store("foreign.json", {"results": [], "summary": {}})
    store("cut.json", load("n1.json")[:3000])


# ---- what becomes of good reports

@test("by node and by rule; the worst decides")
def _():
    out = expect(VIOLATED, "--merge", "n1.json", "n2.json", "n3.json")
    lines = out.splitlines()
    assert lines[0].startswith("n1: %s: VIOLATED: 1 MUST violated" % ENCAP) and RESERVED in lines[1]
    assert "expected 0x0000, found 0x1234" in lines[2] and "frame 8" in lines[3]
    at = lines.index(next(line for line in lines if line.startswith("  " + QKEY)))
    assert "section 4.1" in lines[at] and "at 2 of 3 nodes, 3 findings" in lines[at] and lines[at + 2].strip() == "n2, n3"
    assert lines[-2:] == ["3 reports, 4 captures: 1 violated, 0 not judged, 3 conformant", "3 nodes: 1 violated, 0 not judged, 2 conformant"]
    expect(OK, "--merge", "n2.json", "n3.json")
    assert expect(VIOLATED, "--merge", "-", "n2.json", input=load("n1.json").decode()).startswith("standard input: ")


@test("JSON: every result as it was, with its node and file; the summary's numbers")
def _():
    whole = merged(VIOLATED, "n1.json", "n2.json", "n3.json")
    given = [dict(r, node=n, file=n + ".json") for n in ("n1", "n2", "n3") for r in json.loads(load(n + ".json"))["results"]]
    assert whole["results"] == given
    s = whole["summary"]
    assert (s["verdict"], s["exit_status"], s["reports"]) == ("violated", 1, 3)
    assert (s["violated"], s["unjudged"], s["conformant"]) == (1, 0, 3) and len(s["captures"]) == 4 and not s["targets"]
    assert [(n["name"], n["verdict"], n["conformant"]) for n in s["nodes"]] == [
        ("n1", "violated", 0), ("n2", "conformant", 1), ("n3", "conformant", 2)]
    rule = {(r["id"], r["outcome"]): r for r in s["rules"]}
    assert rule[RESERVED, "fail"]["names"] == ["n1"] and rule[RESERVED, "fail"]["violation"] and rule[RESERVED, "fail"]["level"] == "MUST"
    assert rule[QKEY, "deviation"]["names"] == ["n2", "n3"] and rule[QKEY, "deviation"]["count"] == 3
    for (name, _), r in rule.items():
        count = sum(x["count"] for x in whole["results"] if (x["id"], x["outcome"]) == (name, r["outcome"]))
        assert r["count"] == count and r["nodes"] == len(r["names"])


@test("JUnit and TAP have the tests that the reports' own have, the node before the name")
def _():
    def suites(*args):
        path = store("junit.xml", call("--format", "junit", *args).stdout.encode())
        subprocess.run(["xmllint", "--noout", "--nonet", "--schema", os.path.join(SRC, "tests/junit.xsd"), path], check=True,
                       stderr=subprocess.DEVNULL)
        return [[(c.get("name"), [(k.tag, k.get("message")) for k in c]) for c in s.findall("testcase")]
                for s in ElementTree.parse(path).getroot()]

    assert suites("--merge", "n1.json", "n3.json") == suites(ENCAP, DATAGRAM, CONNECTED)
    assert len(suites("--merge", "n1.json", "empty.json")[1]) == 1
    out = expect(VIOLATED, "--merge", "--format", "tap", "n1.json", "n2.json")
    alone = call("--format", "tap", ENCAP, CONNECTED).stdout
    assert out.replace("- n1: ", "- ").replace("- n2: ", "- ") == alone


@test("strictness, deviations and rules are each report's own")
def _():
    judge("strict.json", "--strict", "--deviations", "none", DATAGRAM)
    judge("only.json", "--only", "rfc4755", CONNECTED)
    whole = merged(VIOLATED, "strict.json", "n3.json", "only.json")
    captures = whole["summary"]["captures"]
    assert [(c["node"], c["strict"], c["deviations"], c["only"]) for c in captures] == [
        ("strict", True, "none", []), ("n3", False, "linux", []), ("n3", False, "linux", []), ("only", False, "linux", ["rfc4755"])]
    assert [c["verdict"] for c in captures] == ["violated"] + ["conformant"] * 3


@test("merged reports can be merged: the same as all at once")
def _():
    store("a.json", expect(VIOLATED, "--merge", "--format", "json", "n1.json", "empty.json", err="empty").encode())
    store("b.json", expect(OK, "--merge", "--format", "json", "n2.json", "n3.json").encode())
    for form in ("json", "text", "tap"):
        once = expect(VIOLATED, "--merge", "--format", form, "n1.json", "empty.json", "n2.json", "n3.json", err="empty")
        assert expect(VIOLATED, "--merge", "--format", form, "a.json", "b.json") == once, form


@test("one capture twice, and twice the same node: nothing is mixed up")
def _():
    judge("twice.json", CONNECTED, CONNECTED)
    whole = merged(OK, "twice.json", "n2.json")
    assert len(whole["results"]) == 3 * len(json.loads(load("n2.json"))["results"])
    store("copy/n2.json", load("n2.json"))
    whole = merged(OK, "n2.json", "copy/n2.json")
    assert [(n["name"], n["conformant"]) for n in whole["summary"]["nodes"]] == [("n2", 2)]
    store("again.json", whole)
    assert merged(OK, "again.json")["summary"]["nodes"] == whole["summary"]["nodes"]


# ---- the borders of files

@test("halves of a capture: inconclusive, never a fault; --node: what one half decides is decided")
def _():
    for i, octets in enumerate(halves(CONNECTED), 1):
        store("half-%d.pcap" % i, octets)
        judge("half-%d.json" % i, "half-%d.pcap" % i)
        judge("node-half-%d.json" % i, "--node", "n", "half-%d.pcap" % i)
    by = {(r["id"], r["outcome"]): r["names"] for r in merged(OK, "half-1.json", "half-2.json")["summary"]["rules"]}
    assert by[JOIN, "pass"] == ["half-1"] and by[JOIN, "inconclusive"] == ["half-2"]
    together = merged(OK, "node-half-1.json", "node-half-2.json")
    assert [n["name"] for n in together["summary"]["nodes"]] == ["n"]
    by = {(r["id"], r["outcome"]): r["names"] for r in together["summary"]["rules"]}
    assert by[JOIN, "pass"] == ["n"] and (JOIN, "inconclusive") not in by
    # the counts of both outcomes remain in the results
    assert {r["outcome"] for r in together["results"] if r["id"] == JOIN} == {"pass", "inconclusive"}


# ---- bad reports

def altered(change):
    document = json.loads(load("n1.json"))
    change(document)
    return document


def fail_of(document):
    return next(r for r in document["results"] if r["id"] == RESERVED and r["outcome"] == "fail")


BAD = {
    "a number for an object": (lambda d: d.update(summary=7), "is damaged"),
    "no results": (lambda d: d.pop("results"), "is damaged"),
    "another tool": (lambda d: d.update(tool="nmap"), "no report of ipoib-check"),
    "no capture": (lambda d: d["summary"].update(captures=[]), "no capture"),
    "a result of another capture": (lambda d: fail_of(d).update(capture="b.pcap"), "nothing that the summary knows"),
    "a result twice": (lambda d: d["results"].append(fail_of(d)), "nothing that the summary knows"),
    "a result left out": (lambda d: d["results"].remove(fail_of(d)), "do not come to its verdict"),
    "a verdict that is not that of the findings": (lambda d: d["summary"]["captures"][0].update(verdict="conformant"), "verdict"),
    "an unknown rule": (lambda d: fail_of(d).update(id="rfc9999.1.x"), "does not know"),
    "an unknown selector": (lambda d: d["summary"].update(only=["rfc9999"]), "does not know"),
    "an unknown outcome": (lambda d: fail_of(d).update(outcome="maybe"), "is damaged"),
    "a count of cases that is not the rule's": (lambda d: fail_of(d).update(count=2), "do not agree"),
    "a negative count": (lambda d: fail_of(d).update(count=-1), "do not agree"),
    "too many frames": (lambda d: fail_of(d).update(frames=[1] * 11), "do not agree"),
    "a frame that is no number": (lambda d: fail_of(d).update(frames=["8"]), "do not agree"),
    "a case without its texts": (lambda d: fail_of(d)["cases"][0].pop("actual"), "do not agree"),
    "an escape sequence": (lambda d: fail_of(d).update(text="\033[2J"), "characters that no report has"),
    "an escape sequence for a name": (lambda d: d.update({"\033[2J": 1}), "characters that no report has"),
    "no settings": (lambda d: d["summary"].pop("strict"), "judged by"),
}


@test("a damaged or foreign report: 2, said, and nothing else is lost")
def _():
    for what, (change, said) in BAD.items():
        store("bad.json", altered(change))
        whole = merged(UNJUDGED, "n2.json", "bad.json", "n3.json", err="bad.json: ")
        bad = next(c for c in whole["summary"]["captures"] if c["node"] == "bad")
        assert said in bad["error"] and bad["verdict"] == "unjudged", (what, bad)
        assert len(whole["summary"]["captures"]) == 4 and not [r for r in whole["results"] if r["node"] == "bad"], what
        assert len(whole["results"]) == sum(len(json.loads(load(n))["results"]) for n in ("n2.json", "n3.json")), what
        store("again.json", whole)
        assert merged(UNJUDGED, "again.json")["summary"]["nodes"] == whole["summary"]["nodes"], what
    for name, said in (("empty.json", "empty"), ("cut.json", "damaged"), ("foreign.json", "no report"), ("missing.json", "No such file"),
                       (".", "Is a directory"), (ENCAP, "no JSON")):
        out = expect(UNJUDGED, "--merge", "n2.json", name, "n3.json", err=said)
        assert out.splitlines()[-1] == "3 nodes: 0 violated, 1 not judged, 2 conformant", out
        expect(VIOLATED, "--merge", name, "n1.json", err=said)
    store("rules.json", expect(OK, "--list", "--format", "json").encode())
    expect(UNJUDGED, "--merge", "rules.json", err="list of rules")


@test("every octet of a report changed, and every beginning of it: an error or a report, nothing else")
def _():
    judge("small.json", "--only", "rfc4391.6", ENCAP)
    octets = load("small.json")
    for at in range(0, len(octets), max(1, len(octets) // 120)):
        for bad in (octets[:at], octets[:at] + bytes([octets[at] ^ 0x41]) + octets[at + 1:], octets[:at] + b"\0" + octets[at + 1:]):
            store("mutant.json", bad)
            p = call("--merge", "--format", "json", "mutant.json", "n2.json")
            assert p.returncode in (VIOLATED, UNJUDGED), (at, p.returncode, p.stderr)
            assert [c["node"] for c in json.loads(p.stdout)["summary"]["captures"]][-1] == "n2"
            assert bad != octets[:at] or p.returncode == UNJUDGED or not octets[at:].strip(), at


@test("wrong usage: 2")
def _():
    expect(UNJUDGED, "--merge", err="no report given")
    for option in (["--strict"], ["--only", "rfc4755"], ["--deviations", "none"], ["--list"]):
        expect(UNJUDGED, "--merge", *option, "n1.json", err="--merge judges nothing")
    expect(UNJUDGED, "--merge", "--node", "x", "n1.json", err="--node names")
    expect(UNJUDGED, "--node", "x", ENCAP, err="--node names")
    before = load("n1.json")
    expect(UNJUDGED, "--merge", "-o", "n1.json", "n2.json", "n1.json", err="is a report to be merged")
    assert load("n1.json") == before
    expect(UNJUDGED, "--merge", "-o", "/dev/full", "n1.json", err="No space left")


@test("interrupted while it waits for a report: 130, no report")
def _():
    p = subprocess.Popen([CHECK, "--merge", "-o", "interrupted.txt", "n1.json", "-"], cwd=folder, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdin.write(b"{")
    p.stdin.flush()
    while True:  # the first octet was read: it waits for the next
        with open("/proc/%d/wchan" % p.pid) as f:
            if "pipe" in f.read():
                break
    p.send_signal(signal.SIGINT)
    p.wait(20)
    out, err = p.stdout.read(), p.stderr.read()
    p.stdin.close()
    assert p.returncode == 130 and not out and err == b"ipoib-check: interrupted: there is no report\n", (p.returncode, out, err)
    assert not os.path.exists(os.path.join(folder, "interrupted.txt"))


def peak(*args):
    """KiB, when the whole report is made and waits for a reader. (What wait4() tells begins with what Python has.)"""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    p = subprocess.Popen([CHECK, *args, "-o", fifo], cwd=folder, stderr=subprocess.PIPE)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with open("/proc/%d/wchan" % p.pid) as f:
            if "wait_for_partner" in f.read():
                break
        assert p.poll() is None, p.stderr.read()
        time.sleep(0.01)
    with open("/proc/%d/status" % p.pid) as f:
        high = int(re.search(r"VmHWM:\s+(\d+) kB", f.read()).group(1))
    with open(fifo, "rb") as f:
        assert f.read() and p.wait(60) == 0
    os.unlink(fifo)
    return high


@test("memory does not grow with the reports: 1,000 as 10")
def _():
    os.mkdir(os.path.join(folder, "many"))
    paths = ["many/node%04d.json" % i for i in range(1000)]
    for path in paths:
        os.symlink("../n2.json", os.path.join(folder, path))
    for form in ("json", "text", "junit", "tap"):
        few, many = (peak("--merge", "--format", form, *some) for some in (paths[:10], paths))
        remark("merging 1,000 reports, %s: %d KiB at most, 10 reports: %d KiB" % (form, many, few))
        assert many < few + 4096 and many < PEAK, (form, few, many)


# ---- doc/cluster.md

def recipe(name):
    """The indented commands behind <!-- recipe: NAME -->."""
    with open(os.path.join(SRC, "doc/cluster.md"), encoding="utf-8") as f:
        text = f.read()
    block = re.search(r"<!-- recipe: %s -->\n\n((?:    .*\n|\n)+)" % re.escape(name), text)
    assert block, "doc/cluster.md has no recipe " + name
    FOLLOWED.add(name)
    return "\n".join(line[4:] for line in block.group(1).splitlines()) + "\n"


FOLLOWED = set()
NODES = ["node%02d" % i for i in range(1, 17)]


def site(name, **programs):
    """A folder with the captures of 16 nodes, of which node03 violates; programs stand before those of the machine."""
    place = os.path.join(folder, name)
    for node in NODES:
        store("%s/captures/%s.pcapng" % (name, node), load(ENCAP if node == "node03" else DATAGRAM))
    for program, text in programs.items():
        path = store("%s/bin/%s" % (name, program.replace("_", "-")), b"#!/bin/sh\n" + text.encode())
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    env = {"PATH": "%s/bin:%s:%s" % (place, BIN, os.environ["PATH"])}
    return place, {**os.environ, **env}


def follow(place, env, text):
    p = subprocess.run(["sh", "-c", text], cwd=place, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, timeout=300)
    return p


def needs(program, packages="cluster"):
    if not shutil.which(program):
        subprocess.run([os.path.join(SRC, "script/bootstrap"), "--with", packages, "--packages-only"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    if not shutil.which(program):
        raise Skip("%s is not to be had" % program)


def ends(p, status, last):
    assert p.returncode == status and p.stdout.splitlines()[-1] == last, (p.returncode, p.stdout[-800:], p.stderr[-800:])


JUDGED = "16 nodes: 1 violated, 0 not judged, 15 conformant"

# What the ssh of these tests does instead: the command runs here. Its last two arguments are host and command.
SSH = 'while [ $# -gt 2 ]; do shift; done; NODE=$1 exec sh -c "$2"\n'


def probe_report():
    """A real report of ipoib-probe, of a simulated subnet (testbed/simulate)."""
    path = os.path.join(folder, "probe.json")
    p = subprocess.run([os.path.join(SRC, "testbed/simulate"), os.path.join(BIN, "ipoib-probe"), "--format", "json", "-o", path, "fabric"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode == 125:
        raise Skip(p.stderr.splitlines()[-1])
    return path


def without_device(*args):
    """What ipoib-probe writes where there is no device: also where there is one, none has this name."""
    p = subprocess.run([os.path.join(BIN, "ipoib-probe"), "-d", "no-such-device", "--format", "json", *args], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 3, (p.returncode, p.stderr)
    return p.stdout


@test("a report of ipoib-probe without a device; its list of deviations has a name of any octets")
def _():
    shutil.copy(os.path.join(SRC, "rules/deviations/linux.conf"), os.path.join(folder.encode(), b"a\xff\x1b.conf"))
    store("fabric.json", without_device("--deviations", b"a\xff\x1b.conf", "fabric").encode())
    store("peer.json", without_device("10.0.0.2").encode())
    whole = merged(VIOLATED, "fabric.json", "peer.json")
    assert [(t["node"], t["verdict"], t["deviations"]) for t in whole["summary"]["targets"]] == [
        ("fabric", "violated", "a\\xff\\x1b.conf"), ("peer", "unjudged", "linux")]
    assert all(t["error"] for t in whole["summary"]["targets"])
    assert {r["id"]: r["outcome"] for r in whole["summary"]["rules"]}["fabric.device"] == "fail"
    merged(UNJUDGED, "peer.json", "n2.json")


@test("a report of ipoib-probe: its stages, and captures beside it")
def _():
    given = json.loads(load(probe_report()))
    whole = merged(VIOLATED, "probe.json", "n2.json")
    assert [r for r in whole["results"] if "target" in r] == [dict(r, node="probe", file="probe.json") for r in given["results"]]
    assert [t["name"] for t in whole["summary"]["targets"]] == ["fabric"] and len(whole["summary"]["captures"]) == 1
    stage = next(r for r in whole["summary"]["rules"] if r["id"] == "fabric.own-group")  # the simulator passes no traps on
    assert stage["level"] == "STAGE" and stage["outcome"] == "fail" and stage["violation"] and stage["names"] == ["probe"]
    out = expect(VIOLATED, "--merge", "probe.json", "n2.json")
    assert "Stages of a fabric, failed\n  fabric.own-group  at 1 of 2 nodes" in out
    assert "2 reports, 2 captures and targets: 1 violated, 0 not judged, 1 conformant" in out


@test("recipe: ClusterShell, the nodes ask by ipoib-probe (ssh is played); who says nothing is missed")
def _():
    text = recipe("clush probe")
    needs("clush")
    report, none = probe_report(), store("no-device.json", without_device("fabric").encode())
    probe = ('case $NODE in node07) cat "%s"; exit 3;; node11) echo "sh: ipoib-probe: not found" >&2; exit 127;; esac\n' % none +
             'cat "%s"\nexit 1\n' % report)
    place, env = site("clush-probe", ssh=SSH, ipoib_probe=probe)
    p = follow(place, env, text)
    ends(p, VIOLATED, "16 nodes: 15 violated, 1 not judged, 0 conformant")
    assert re.search(r"^node07: fabric: VIOLATED: ", p.stdout, re.MULTILINE) and "fabric.device  at 1 of 16 nodes" in p.stdout
    assert re.search(r"^node11: .*NOT JUDGED: ", p.stdout, re.MULTILINE)


@test("recipe: ClusterShell's exec worker judges captures here")
def _():
    text = recipe("clush exec")
    needs("clush")
    ends(follow(*site("clush-exec"), text), VIOLATED, JUDGED)


@test("recipe: GNU parallel")
def _():
    text = recipe("parallel")
    needs("parallel")
    ends(follow(*site("parallel"), text), VIOLATED, JUDGED)


@test("recipe: more reports than a command line holds")
def _():
    text = recipe("tree")
    needs("parallel")
    place, env = site("tree")
    follow(place, env, recipe("parallel"))
    ends(follow(place, env, text), VIOLATED, JUDGED)


SLURM = os.path.join(SRC, "tests/cluster/slurm")
WAIT = '\nfor _ in $(seq 600); do [ "$(squeue -h | wc -l)" = 0 ] && break; sleep 0.2; done; squeue >&2\ncat merged.txt\n'


@test("recipe: a Slurm job array, on a Slurm of one node")
def _():
    script, submit = recipe("slurm script"), recipe("slurm submit")
    needs("sbatch", "slurm")
    place, env = site("slurm")
    store("slurm/judge.sbatch", script.encode())
    only_tested = re.sub(r"sbatch --parsable (.*)\)$", r"sbatch --test-only \1 2>&1)", submit.split("sbatch --dep")[0], flags=re.MULTILINE)
    p = follow(place, env, "exec %s sh -c '%s'" % (SLURM, only_tested.replace("'", "'\\''") + 'echo "$job"'))
    if p.returncode == 125:
        raise Skip(p.stderr.splitlines()[-1])
    assert p.returncode == 0 and " to start at " in p.stdout, (p.stdout, p.stderr)
    p = follow(place, env, "exec %s sh -c '%s'" % (SLURM, (submit + WAIT).replace("'", "'\\''")))
    ends(p, OK, JUDGED)
    assert len(os.listdir(os.path.join(place, "reports"))) == 16
    with open(os.path.join(place, "merge.log"), encoding="utf-8") as f:
        assert not f.read()


@test("recipe: two files joined are judged as one")
def _():
    text = recipe("join")
    needs("mergecap")
    place, env = site("join")
    subprocess.run([os.path.join(BIN, "ipoib-capture"), "convert", CONNECTED, os.path.join(place, "whole.pcap")], check=True,
                   stderr=subprocess.DEVNULL)
    for i, octets in enumerate(halves(os.path.join(place, "whole.pcap")), 1):
        store("join/ring_%05d.pcap" % i, octets)
    p = follow(place, env, text)
    assert p.returncode == OK and "inconclusive" not in p.stdout and "CONFORMANT" in p.stdout, (p.stdout[-500:], p.stderr)


@test("every command of doc/cluster.md is in a recipe that is tested")
def _():
    with open(os.path.join(SRC, "doc/cluster.md"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    begins = [i for i, line in enumerate(lines) if line.startswith("    ") and (lines[i - 1], lines[i - 2][:4]) != ("", "    ") and
              not lines[i - 1].startswith("    ")]
    names = [re.fullmatch(r"<!-- recipe: (.*) -->", lines[i - 2]) for i in begins]
    assert begins and all(names), [lines[i] for i, name in zip(begins, names) if not name]
    assert {name.group(1) for name in names} == FOLLOWED, FOLLOWED


def main():
    prepare()
    run_tests()
    shutil.rmtree(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

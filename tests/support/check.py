# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs ipoib-check, and names the captures that its tests use.

Their contents, read by hand: frame 8 of built-encap has a Reserved field that is not 0
(tests/frames/build.py, encap_types), which violates rfc4391.6.reserved-zero (MUST); nothing else in
it violates a MUST. connected and datagram are Linux kernels: in connected the Service-IDs of its
two REQs begin with 0x10 (rfc4755.3.5.service-id, a known deviation of Linux), and the Q_Key of the
broadcast group is OpenSM's, not a controlled one (rfc4391.4.1.qkey-controlled, SHOULD, a known
deviation)."""
import json
import os
import subprocess

from support import wait
from support.paths import BIN, SRC, testdata

CHECK = os.path.join(BIN, "ipoib-check")
ENCAP = testdata("built/built-encap.pcap")
CONNECTED, DATAGRAM = testdata("connected.pcap"), testdata("datagram.pcap")
RESERVED = "rfc4391.6.reserved-zero"
SERVICE_ID = "rfc4755.3.5.service-id"
QKEY = "rfc4391.4.1.qkey-controlled"
JOIN = "rfc4391.10.join-before-send"
OK, VIOLATED, UNJUDGED = 0, 1, 2


def run(*args, stdout=subprocess.PIPE, **options):
    """Its output is bytes, its messages (err) are text."""
    if "stdin" not in options:
        options.setdefault("input", b"")
    done = wait.run([CHECK, *args], stdout=stdout, stderr=subprocess.PIPE, timeout=300, **options)
    done.err = done.stderr.decode(errors="replace")
    return done


def expect(status, *args, err="", **options):
    """stdout of a run with this exit status; its message must contain err, and must be empty if err
    is ''."""
    done = run(*args, **options)
    shown = (
        f"{args}: exit {done.returncode}, stderr {done.err!r}, stdout {(done.stdout or b'')[-500:]}"
    )
    assert done.returncode == status, shown
    assert (err in done.err) if err else not done.err, shown
    return (done.stdout or b"").decode()


def other_frame(case):
    return f"flow {case['flow_frame']}" if "flow_frame" in case else case["other_frame"]


def suspicions(path, *arguments):
    """The suspicions of the JSON report: (rule, frame, other frame, expected, found, unless). The other
    frame is `flow N` if it is the first one of the packet's flow."""
    report = json.loads(run("--format", "json", *arguments, str(path)).stdout)
    return [
        (r["id"], c["frames"][0], other_frame(c), c["expected"], c["actual"], c["reason"])
        for r in report["results"]
        if r["outcome"] == "suspected"
        for c in r["cases"]
    ]


def schema_errors(path):
    """xmllint's errors for a JUnit report; None: no error."""
    schema = os.path.join(SRC, "tests/support/junit.xsd")
    command = ["xmllint", "--noout", "--nonet", "--schema", schema, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr if done.returncode else None


def load(path):
    with open(path, "rb") as f:
        return f.read()

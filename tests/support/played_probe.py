# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs ipoib-probe through a simulated interface (played_interface.py)."""
import json
import os
import subprocess
import sys

import pytest

from support.paths import BIN, SRC

PLAYED = os.path.join(SRC, "tests", "support", "played_interface.py")
PROBE = os.path.join(BIN, "ipoib-probe")
NAMESPACES = ["unshare", "--net", "--mount"] + (["--map-root-user"] if os.geteuid() else [])
IPV4, IPV6 = "10.0.0.2", "fe80::202:c903:0:2"


def played(given, *command):
    return subprocess.run(
        [*NAMESPACES, sys.executable, PLAYED, json.dumps(given), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


class Run:
    """A run of the probe: exit status, outputs, the frames that it sent, and its report (empty if
    it printed none)."""

    def __init__(self, done):
        assert done.returncode == 0, done.stderr
        got = json.loads(done.stdout)
        self.status, self.out, self.err = got["status"], got["out"], got["err"]
        self.frames = [bytes.fromhex(f) for f in got["frames"]]
        self.report = json.loads(self.out) if self.out else {}

    def outcomes(self, outcome):
        """{identifier: what was found} of the results with this outcome."""
        return {r["id"]: r["actual"] for r in self.report["results"] if r["outcome"] == outcome}

    @property
    def trouble(self):
        return self.report["summary"]["targets"][0]["error"]


def refuse(given, *command):
    run = Run(played(given, *command))
    assert run.status == 3 and not run.frames
    return run.trouble


def need_to_play():
    """Skips the test if nothing can be simulated here."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("needs /dev/net/tun")
    done = played({}, "true")
    if done.returncode:
        pytest.skip(f"needs namespaces and a TUN device: {done.stderr.splitlines()[-1:]}")

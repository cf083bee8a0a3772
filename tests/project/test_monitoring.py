# SPDX-License-Identifier: GPL-2.0-or-later
"""What packaging/monitoring ships for ipoib-probe node: Prometheus' alerts, the systemd units, the
check of Node Health Check, the command of Nagios."""
import os
import re
import subprocess

import pytest

from support.needs import needs
from support.paths import SRC

SHIPPED = os.path.join(SRC, "packaging", "monitoring")
SERVICE = os.path.join(SHIPPED, "ipoib-probe-node.service")
MOST_EXPOSED = 25  # tenths, of systemd-analyze security: "OK" ends at 49


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def text_of(name):
    with open(os.path.join(SHIPPED, name), encoding="utf-8") as f:
        return f.read()


def test_alerts():
    """Each alert fires for its node, and for no other (rules-test.yml)."""
    needs("promtool", "test")
    tests = os.path.join(SRC, "tests", "project", "rules-test.yml")
    done = run("promtool", "check", "rules", os.path.join(SHIPPED, "ipoib.rules.yml"))
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("promtool", "test", "rules", tests)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(tests, encoding="utf-8") as f:
        tested = set(re.findall(r"alertname: (\w+)", f.read()))
    assert tested == set(re.findall(r"alert: (\w+)", text_of("ipoib.rules.yml")))


def test_alerts_use_metrics_that_exist():
    with open(os.path.join(SRC, "probe", "node", "prometheus.c"), encoding="utf-8") as f:
        source = f.read()
    for name in re.findall(r"ipoib_node_\w+", text_of("ipoib.rules.yml")):
        assert f'"{name}"' in source, name


def test_units(tmp_path):
    needs("systemd-analyze", "test")
    done = run(
        "systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", SERVICE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("ipoib-probe-node.service", "ipoib-probe-node.timer"):
        unit = re.sub(r"^Documentation=.*\n", "", text_of(name), flags=re.MULTILINE)
        (tmp_path / name).write_text(unit.replace("/usr/bin/ipoib-probe", "/bin/true"))
    done = run("systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir())))
    said = [line for line in done.stderr.splitlines() if "ipoib" in line]
    assert not said and done.returncode == 0, done.stderr


@pytest.mark.parametrize("status, healthy", [(0, True), (1, False), (2, True), (3, False)])
def test_node_health_check(tmp_path, status, healthy):
    """A run that is not judged drains no node."""
    probe = tmp_path / "ipoib-probe"
    probe.write_text(f'#!/bin/sh\necho "line $*"\nexit {status}\n')
    probe.chmod(0o755)
    script = f'die() {{ echo "die $*"; }}; . {SHIPPED}/ipoib.nhc; check_ipoib_node -d ib0'
    done = run("bash", "-c", script, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (done.returncode == 0) == healthy and done.stderr == ""
    said = "die 1 check_ipoib_node:  line --state /run/ipoib-probe-nhc -d ib0 node\n"
    assert done.stdout == ("" if healthy else said)


def test_each_monitor_has_a_state_of_its_own():
    """The growth of a counter is seen once for each state."""
    states = [
        re.findall(r"--state (\S+)", text_of(name))
        for name in ("ipoib-probe-node.service", "ipoib.nhc", "nagios.cfg")
    ]
    assert all(len(found) == 1 for found in states) and len({s[0] for s in states}) == 3

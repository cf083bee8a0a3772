# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of ipoib-probe on their way: Debian's node_exporter collects the files, Debian's Prometheus
scrapes it, evaluates the alerts and answers the queries of the dashboard.

The interface, the SA and the peer are simulated (tests/support/played_interface.py,
tests/probe/played_sa.c)."""
import json
import os

import pytest

from support.dashboard import expressions, names_of
from support.needs import needs
from support.paths import BIN, SRC
from support.played_probe import IPV4, PROBE, need_to_play, played
from support.scrape import exporter, prometheus

RULES = os.path.join(SRC, "packaging", "monitoring", "ipoib.rules.yml")
SA = os.path.join(os.path.dirname(BIN), "tests", "played-sa.so")
PORT = "ib9/device/infiniband/hca0/ports/1"
SYSFS = {
    f"{PORT}/gids/0": "fe80:0000:0000:0000:0002:c903:0000:0001\n",
    "ib9/carrier_changes": "2\n",
    **{
        f"{PORT}/counters/{name}": "1\n"
        for name in ("link_downed", "port_rcv_errors", "symbol_error", "port_xmit_discards")
    },
}


@pytest.fixture(autouse=True, scope="module")
def fixture_tools():
    need_to_play()
    needs("prometheus", "test")
    needs("prometheus-node-exporter", "test")


def write(folder, name, *words, sa="member"):
    """A run of the probe that writes its metrics as the collector's file."""
    given = {"sysfs": SYSFS, "infiniband_mad": {"abi_version": "5\n"}}
    playing = ["env", f"LD_PRELOAD={SA}", f"PLAYED_SA={sa}"] if words[-1] == "node" else []
    options = ["--format", "prometheus", "-o", str(folder / name), "--timeout", "200"]
    done = played(given, *playing, PROBE, *options, *words)
    assert done.returncode == 0 and json.loads(done.stdout)["status"] in (0, 1, 2), done.stdout


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory):
    """(Prometheus, the folder of the collector, the state's folder)"""
    folder = tmp_path_factory.mktemp("site")
    collected = folder / "collected"
    collected.mkdir()
    state = ["--state", str(folder / "state")]
    write(collected, "ipoib.prom", *state, "node")
    write(collected, "ipoib-fabric.prom", "-d", "ib9", "fabric")
    write(collected, "ipoib-peer.prom", "-d", "ib9", "--count", "2", IPV4)
    with exporter(collected) as address, prometheus(folder, address, RULES) as server:
        server.wait_for("ipoib_node_status")
        yield server, collected, state


def test_each_sample_arrives(site):
    """And the three files are no trouble for each other."""
    server, collected, _ = site
    assert server.wait_for("node_textfile_scrape_error")[0][1] == 0
    written = set()
    for path in collected.iterdir():
        written |= {line.split("{")[0].split(" ")[0] for line in path.read_text().splitlines()}
    written.discard("#")
    found = {labels["__name__"] for labels, _ in server.query('{__name__=~"ipoib_.*"}')}
    assert found == written and len(found) > 40


def test_queries_of_the_dashboard(site):
    """Prometheus takes each; those about what this site has give a result."""
    server, _, _ = site
    for expression in expressions():
        server.query(expression)
    for expression in ("sum by (status) (ipoib_node_status)", "ipoib_probe_watch_up == 1"):
        assert server.query(expression), expression
    known = {labels["__name__"] for labels, _ in server.query('{__name__=~"ipoib_.*"}')}
    assert names_of(expressions()) <= known


def test_alerts_are_loaded(site):
    server, _, _ = site
    rules = [rule for group in server.api("rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 3
    server.wait_for("ipoib_node_status")
    assert all(rule["health"] in ("ok", "unknown") for rule in rules), rules


def test_fault_is_seen_at_the_next_scrape(site):
    """And so is its end. The alert is pending until it has lasted."""
    server, collected, state = site
    assert not server.query('ipoib_node_status{status="fault"} == 1')
    write(collected, "ipoib.prom", *state, "node", sa="absent")
    server.wait_for('ipoib_node_status{status="fault"} == 1')
    server.wait_for('ALERTS{alertname="IpoibNodeFault",alertstate="pending"}')
    assert server.query('ipoib_node_stage_problems{stage="node.group"} == 1')
    write(collected, "ipoib.prom", *state, "node")
    server.wait_for('ipoib_node_status{status="ok"} == 1')

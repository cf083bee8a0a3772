# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether this host's own ping reaches the hosts of a sweep.

Expected: doc/probe.md, "Sweeps"."""
import pytest

from support.played_probe import PROBE, Run, need_to_play, played

PREFIX = "10.0.0.0/29"
KERNEL = {"addresses": ["10.0.0.1/24"]}
SEE = "; see ipoib-probe ADDRESS"
PING = ("peer.ping", "peer.ping-sizes")


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def sweep(given, *words):
    """The run, and of each host the stages of ping that have no result."""
    command = [PROBE, "--format", "json", "--timeout", "100", *words, PREFIX]
    run = Run(played({**KERNEL, **given}, *command))
    found = {}
    for r in run.report["results"]:
        if r["id"] in PING and r["outcome"] == "inconclusive":
            found.setdefault(r["target"], []).append((r["id"], r["actual"], r["advice"]))
    return run, found


def passed(run):
    return sum(r["id"] == "peer.ping" and r["outcome"] == "pass" for r in run.report["results"])


def test_hosts_that_answer():
    run, found = sweep({"hosts": {"3": {}, "4": {}}})
    assert not found and passed(run) == 3


def test_host_that_answers_only_the_probe():
    run, found = sweep({"hosts": {"3": {"echo": False}, "4": {}}})
    text = "it replies to the probe, but not to this host's ping" + SEE
    assert found == {"10.0.0.3": [("peer.ping", text, "ipoib-probe 10.0.0.3")]}
    assert passed(run) == 2 and run.status == 2


def test_host_that_loses_large_packets():
    """RFC 4391 section 7: 2044 bytes, here with a group of 2048."""
    run, found = sweep({"hosts": {"3": {"largest": 2043}}})
    text = "it answers this host's ping, but none of 2044 bytes, the MTU of ib9" + SEE
    assert found == {"10.0.0.3": [("peer.ping-sizes", text, "ipoib-probe 10.0.0.3")]}
    assert run.status == 2


def test_only_host_that_is_silent():
    """A single one may be at fault itself."""
    _, found = sweep({"echo": False})
    assert [id for id, _, _ in found["10.0.0.2"]] == ["peer.ping"]


def test_no_host_answers():
    """It is this host: said once."""
    run, found = sweep({"echo": False, "hosts": {"3": {"echo": False}, "4": {"echo": False}}})
    [prefix] = [t for t in run.report["summary"]["targets"] if t["name"] == PREFIX]
    assert not found and not passed(run) and run.status == 2
    assert prefix["error"].startswith(
        "none of 3 hosts that reply to the probe answers this host's ping through ib9: "
    )


@pytest.mark.parametrize(
    "words, given",
    [
        (["-d", "ib9"], {}),
        (["--pkey", "0xffff"], {}),
        (["--only", "peer.address"], {}),
        ([], {"addresses": []}),
    ],
    ids=["named port", "named partition", "other stage", "no address"],
)
def test_no_ping(words, given):
    """The kernel may use another port, or cannot send."""
    run, found = sweep({"echo": False, "hosts": {"3": {"echo": False}}, **given}, *words)
    assert not found and not passed(run)
    assert all("ping" not in (t.get("error") or "") for t in run.report["summary"]["targets"])

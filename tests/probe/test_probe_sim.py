# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe fabric against OpenSM on a simulated subnet (testbed/simulate): a healthy one; groups
whose MTU, rate or both this port does not support; a partition without a group; a P_Key that does
not exist; no free MLID.

Expected: the responses of Debian 12's OpenSM to each partition file. The simulator forwards no
Reports: the missing trap is the only fault of a healthy subnet."""
import concurrent.futures
import json
import os
import re
import subprocess

import pytest

from support.paths import BIN, SRC

SIMULATE = os.path.join(SRC, "testbed", "simulate")
PROBE = os.path.join(BIN, "ipoib-probe")
CANNOT_RUN = 125

HEALTHY = "Default=0x7fff, ipoib : ALL=full;"
WIDE = """Default=0x7fff :
mgid=ff15:401b:ffff::ffff:ffff, scope=5, mtu=4, rate=3, Q_Key=0x80000b1b
ALL=full;"""
# The simulated switch has 1024 MLIDs. It forwards only the first segment of a table: their census
# is tested on the virtual fabric (tests/probe/guest/field.sh).
CROWD = "\n".join(
    ["Default=0x7fff, ipoib :"]
    + [f"mgid=ff12:601b:ffff::1:ff00:{i:x}" for i in range(1100)]
    + ["ALL=full;"]
)
OTHER = "Default=0x7fff : ALL=full;\nOther=0x0001, ipoib : ALL=full;"
# The host has no interface on the simulated port, which is a fault unless the port is named.
NAMED = ("-d", "ibsim0")
SUBNETS = {  # name: partition file, more arguments of the probe
    "healthy": (HEALTHY,),
    "default port": (HEALTHY, "-d"),
    "other group": (OTHER,),
    "disruptive": (HEALTHY, "--disruptive"),
    "MTU": ("Default=0x7fff, ipoib, mtu=5 : ALL=full;",),
    "rate": ("Default=0x7fff, ipoib, rate=12 : ALL=full;",),
    "MTU and rate": ("Default=0x7fff, ipoib, mtu=5, rate=12 : ALL=full;",),
    "no group": ("Default=0x7fff : ALL=full;",),
    "wide": (WIDE,),
    "no such P_Key": (HEALTHY, "--pkey", "0x8042"),
    "limited": ("Default=0x7fff, ipoib : ALL=limited;",),
    "no MLIDs": (CROWD,),
}


def simulate(folder, *arguments):
    """Runs testbed/simulate, whose library makes folders in the current one; returns the command's
    exit status."""
    return subprocess.run(
        ["timeout", "-k", "1", "60", SIMULATE, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


class Report:
    """The probe's report of a simulated subnet."""

    def __init__(self, results):
        self.results = results

    def of(self, identifier):
        """[(outcome, text)] of a stage or rule."""
        return [
            (r["outcome"], f"{r['actual']} -> {r.get('advice', '')}")
            for r in self.results
            if r["id"] == identifier
        ]

    def expect(self, identifier, outcome=None, *patterns):
        """Asserts that a result has this outcome, and that one matches each pattern."""
        found = self.of(identifier)
        if outcome is not None:
            assert outcome in [o for o, _ in found], f"{identifier} is not {outcome}: {found}"
        for pattern in patterns:
            assert any(re.search(pattern, text) for _, text in found), f"not {pattern!r}: {found}"

    def failures(self):
        return [f"{r['id']} {r['actual']}" for r in self.results if r["outcome"] == "fail"]

    def expect_traps_alone(self):
        """Only the traps fail, which the simulator does not forward."""
        assert self.failures() == [
            "fabric.own-group trap 66 (created) not received, trap 67 (deleted) not received"
        ]


def probe_subnet(folder, partitions, *arguments):
    """Probes a simulated subnet: the exit status of the program, and its report."""
    (folder / "partitions").write_text(partitions + "\n")
    named = () if arguments == ("-d",) else (*NAMED, *arguments)
    probe = (PROBE, "--format", "json", "-o", str(folder / "report"), *named, "fabric")
    return simulate(folder, "-P", str(folder / "partitions"), *probe), folder / "report"


@pytest.fixture(scope="module")
def subnets(tmp_path_factory):
    """The report of each subnet, by its name. OpenSM mostly waits, so four subnets run at the same
    time."""
    first = simulate(tmp_path_factory.mktemp("subnet"), "true")
    if first.returncode == CANNOT_RUN:
        pytest.skip((first.stderr + first.stdout).splitlines()[0])
    assert first.returncode == 0, first.stderr
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        begun = {
            name: pool.submit(probe_subnet, tmp_path_factory.mktemp("subnet"), *subnet)
            for name, subnet in SUBNETS.items()
        }

        def report_of(name):
            done, path = begun[name].result()
            assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
            return Report(json.loads(path.read_text())["results"])

        yield report_of


def test_healthy_subnet(subnets):
    report = subnets("healthy")
    report.expect_traps_alone()
    for identifier in (
        "fabric.join",
        "fabric.send-only-join",
        "rfc4391.10.leave",
        "rfc4391.10.sendonly-semantics",
        "rfc4391.10.group-attributes",
        "rfc4391.4.1.scope-search",
        "sm.one-master",
        "partition.default-pkey",
    ):
        report.expect(identifier, "pass")
    report.expect("fabric.sm", None, "master, priority")
    report.expect("rfc4391.4.1.qkey-controlled", "deviation")


def test_groups_with_other_attributes_are_no_fault(subnets):
    """OpenSM (osm_mcast_mgr, osm_sa_mcmember_record) refuses another P_Key, Q_Key, SL, hop limit,
    TClass, flow label and scope."""
    report = subnets("disruptive")
    report.expect_traps_alone()
    report.expect(
        "fabric.group-attributes", None, "refused: .*Q_Key, SL.*scope", "accepted: MTU, rate"
    )


@pytest.mark.parametrize(
    "subnet, words",
    [("MTU", "the MTU:"), ("rate", "the rate:"), ("MTU and rate", "the MTU and the rate:")],
)
def test_refused_join_says_what_is_to_blame(subnets, subnet, words):
    """The message does not claim that a component is missing."""
    report = subnets(subnet)
    report.expect("fabric.join", "fail", "status 0x0200", f"cause: {words}")
    report.expect("fabric.own-groups", "skipped")
    report.expect("rfc4391.5.broadcast-group-exists", "pass")


def test_rate_is_compared(subnets):
    """The rate of the port has its name in partitions.conf: 10 Gb/s is code 3 (IBA 15.2.5.17)."""
    report = subnets("rate")
    report.expect("fabric.rate", "fail")
    advice = [r["advice"] for r in report.results if r["id"] == "fabric.rate"]
    assert re.search(r"\(rate=3 is 10 Gb/s\)", advice[0]), advice


def test_partition_without_a_broadcast_group(subnets):
    report = subnets("no group")
    report.expect("fabric.broadcast-group", "fail", "flag ipoib")
    report.expect("fabric.join", "skipped")


def test_partition_that_has_the_group_is_named(subnets):
    report = subnets("other group")
    report.expect("fabric.broadcast-group", "fail", "; 0x8001 has one -> .*--pkey 0x8001")


def test_default_port_needs_an_interface(subnets):
    subnets("default port").expect(
        "fabric.interface",
        "fail",
        "^no IPoIB interface on ibsim0 port 1 for partition 0xffff -> modprobe ib_ipoib; dmesg",
    )
    subnets("healthy").expect("fabric.interface", "noted", "^no IPoIB interface on ibsim0 port 1")


def test_group_of_another_scope_is_found(subnets):
    report = subnets("wide")
    report.expect("rfc4391.4.1.scope-search", None, "found at 5")
    assert report.of("rfc4391.4.1.scope-link-local") == []  # the link may span IB subnets
    report.expect("rfc4391.4.1.qkey-controlled", "pass")
    report.expect("fabric.join", "pass")


def test_pkey_that_the_port_does_not_have(subnets):
    report = subnets("no such P_Key")
    report.expect("fabric.pkey", "fail", "is not in partition")
    report.expect("fabric.join", "skipped")


def test_limited_member(subnets):
    report = subnets("limited")
    report.expect_traps_alone()
    report.expect("fabric.pkey", "noted", "limited member")


def test_no_mlid_is_left_for_a_group(subnets):
    report = subnets("no MLIDs")
    report.expect("fabric.join", "pass")
    report.expect("fabric.own-group", "fail", "status 0x0100, no resources", "MLIDs are left")


def test_peer_without_a_queue_pair_is_exit_status_3(subnets, tmp_path):
    done = simulate(tmp_path, PROBE, "10.0.0.1")
    assert done.returncode == 3, (done.returncode, done.stdout, done.stderr)

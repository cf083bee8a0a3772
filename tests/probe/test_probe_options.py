# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of ipoib-probe, without a device: wrong usage ends with 2 and a message, no
device with 3, and --list and --dry-run need none.

Expected: doc/man/ipoib-probe.1; the schema tests/support/junit.xsd."""
import json
import os
import re
import subprocess

import pytest

from support import wait
from support.needs import needs
from support.paths import BIN, SRC

PROBE = os.path.join(BIN, "ipoib-probe")
# A device that cannot exist: even on a machine with an adapter nothing is sent.
NOWHERE = ("-d", "no-such-device")


def probe(status, *arguments):
    """Runs ipoib-probe, which must end with this exit status."""
    done = wait.run([PROBE, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("", "no target"),
        ("nonsense", "no IPv4 or IPv6 address"),
        ("224.0.0.1", "not the address of one host"),
        ("::", "not the address of one host"),
        ("10.0.0.0/15", "too many addresses"),
        ("fd00::/115", "too many addresses"),
        ("10.0.0.0/33", "no prefix length"),
        ("10.0.0.0/", "no prefix length"),
        ("224.0.0.0/24", "not the address of hosts"),
        ("--only rfc9999 10.0.0.1", "no rule or stage is named"),
        ("--only fabric.nothing fabric", "no rule or stage is named"),
        ("--only sweep 10.0.0.0/29", "no rule or stage is named"),
        ("--pkey 0x10000 10.0.0.1", "--pkey"),
        ("--pkey 0x8000 10.0.0.1", "--pkey needs the P_Key of a partition"),
        ("--rate 0 10.0.0.1", "--rate needs a number from 1 to 100000, not '0'"),
        ("--timeout -5 10.0.0.1", "--timeout"),
        ("--source 224.0.0.1 10.0.0.1", "--source"),
        ("--source 10.0.0.1 10.0.0.1", "cannot be a target"),
        (
            "--format xml 10.0.0.1",
            "--format needs text, json, junit, tap, jsonl or prometheus, not 'xml'",
        ),
        ("--count 0 10.0.0.1", "--count needs a number from 1 to 1000000000"),
        ("--interval 0 10.0.0.1", "--interval needs a number from 1 to 86400"),
        ("--count 3 fabric", "--count and --interval are for one peer"),
        ("--count 3 10.0.0.1 10.0.0.2", "--count and --interval are for one peer"),
        ("--interval 3 10.0.0.0/29", "--count and --interval are for one peer"),
        ("--interval 3 --why 10.0.0.1", "--count and --interval are for one peer"),
        ("--node n1 10.0.0.1", "--node"),
        ("--list 10.0.0.1", "probes nothing"),
        ("--source 10.0.0.77 fabric", "leave it out for the target fabric"),
        ("-w - 10.0.0.1", "writes to a file"),
    ],
)
def test_wrong_usage(arguments, words):
    done = probe(2, *arguments.split())
    assert words in done.stderr
    assert not done.stdout


def test_empty_node_is_wrong_usage():
    done = probe(2, "--node", "", "--format", "json", "10.0.0.1")
    assert "--node" in done.stderr
    assert not done.stdout


def test_one_file_for_capture_and_report_is_wrong_usage(tmp_path):
    done = probe(2, "-w", f"{tmp_path}/same", "-o", f"{tmp_path}/./same", "10.0.0.1")
    assert "is the report's file" in done.stderr and not done.stdout
    assert not list(tmp_path.iterdir()), "nothing was written"


def test_report_over_the_capture_by_another_name_is_wrong_usage(tmp_path):
    old = tmp_path / "same"
    old.write_text("of before")
    os.link(old, tmp_path / "link")
    done = probe(2, "-w", str(old), "-o", f"{tmp_path}/link", "10.0.0.1")
    assert "is the report's file" in done.stderr and not done.stdout
    assert old.read_text() == "of before"


def test_two_files_are_fine(tmp_path):
    old = tmp_path / "same"
    old.write_text("of before")
    probe(3, *NOWHERE, "-w", str(old), "-o", f"{tmp_path}/report", "10.0.0.1")
    assert sorted(os.listdir(tmp_path)) == ["report", "same"]


# --- no device


def test_no_device_is_exit_status_3_and_the_report_says_so():
    done = probe(3, *NOWHERE, "10.0.0.1")
    assert "RDMA device" in done.stderr
    assert "NOT JUDGED" in done.stdout


def test_interface_that_is_no_ipoib_interface_is_named():
    assert (
        "lo is a network interface, but not an IPoIB one" in probe(3, "-d", "lo", "10.0.0.1").stderr
    )


def test_list_of_selected_rules_has_no_empty_part():
    *_, last = probe(0, "--list", "--only", "rfc4755").stdout.splitlines()
    assert not last.endswith(":")


@pytest.fixture(scope="module")
def report():
    """The JSON report of a probe without a device."""
    return json.loads(probe(3, *NOWHERE, "--format", "json", "fabric", "10.0.0.1").stdout)


def test_no_device_gives_a_json_report(report):
    assert report["tool"] == "ipoib-probe"
    assert [t["name"] for t in report["summary"]["targets"]] == ["fabric", "10.0.0.1"]


def test_report_names_no_node_by_itself(report):
    assert "node" not in report


def test_node_is_plain_text_in_the_report():
    done = probe(3, *NOWHERE, "--format", "json", "--node", "n\n7", "fabric")
    assert json.loads(done.stdout)["node"] == "n\\x0a7"


def test_diagnosis_ends_at_the_device(report):
    stages = {r["id"]: r for r in report["results"]}
    assert stages["fabric.device"]["outcome"] == "fail"
    assert stages["fabric.device"]["advice"]
    assert stages["fabric.join"]["outcome"] == "skipped"


def test_every_result_has_the_members_that_are_promised(report):
    promised = {"id", "level", "section", "outcome", "expected", "actual", "evidence"}
    for result in report["results"]:
        assert promised <= set(result), result


def test_verdict_counts_the_stages_that_failed():
    last = probe(3, *NOWHERE, "fabric").stdout.splitlines()[-1]
    assert last == "fabric: FAULT: 1 stage failed"


@pytest.fixture(scope="module")
def tap():
    """The report of a probe without a device, in TAP."""
    return probe(3, *NOWHERE, "--format", "tap", "fabric").stdout


def test_tap_report_has_the_failed_stage(tap):
    assert tap.startswith("TAP version 13")
    assert "not ok 2 - fabric: fabric.device" in tap


def test_tap_report_has_a_plan_of_all_its_results(tap):
    lines = tap.splitlines()
    results = [line for line in lines if line.startswith(("ok ", "not ok "))]
    assert lines[1] == f"1..{len(results)}"


def test_junit_report_is_valid():
    needs("xmllint", "test")
    done = probe(3, *NOWHERE, "--format", "junit", "fabric")
    schema = os.path.join(SRC, "tests", "support", "junit.xsd")
    valid = subprocess.run(
        ["xmllint", "--noout", "--schema", schema, "-"],
        input=done.stdout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert valid.returncode == 0, valid.stderr


# --- stages: --explain, --list and the pages

PAGES = os.path.join(SRC, "doc", "stages")
STAGES = sorted(n[:-3] for n in os.listdir(PAGES) if n != "README.md")


def named_in_sources():
    """The stages that the probe's sources name."""
    found = set()
    for folder, _, names in os.walk(os.path.join(SRC, "probe")):
        for name in names:
            if name.endswith(".c"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    found |= set(
                        re.findall(r'"((?:fabric|node|peer|sweep|link)\.[a-z-]+)"', f.read())
                    )
    return found


def test_every_stage_has_a_page_and_is_in_the_index():
    with open(os.path.join(PAGES, "README.md"), encoding="utf-8") as f:
        index = re.findall(r"^\| \[`([a-z.-]+)`\]\(\1\.md\) \| .+ \|$", f.read(), re.M)
    assert sorted(index) == STAGES == sorted(named_in_sources())


def test_every_stage_is_explained():
    for stage in STAGES:
        out = probe(0, "--explain", stage).stdout
        assert out.startswith(stage + "\n\n") and "All stages" not in out
        for heading in ("WHAT IT MEANS", "HOW IT IS CHECKED", "WHAT TO DO"):
            assert f"\n{heading}\n" in out, stage
        assert max(map(len, out.splitlines())) < 80, stage


def test_every_rule_of_the_probe_says_how_it_checks_it():
    listed = json.loads(probe(0, "--list", "--format", "json").stdout)
    for check in listed["checks"]:
        for rule in check["rules"]:
            out = " ".join(probe(0, "--explain", rule).stdout.split())
            assert f"- {check['check']}: sends {check['sends']}; expects {check['expects']}" in out
    for other in listed["other_rules"]:
        assert "HOW THE PROBE CHECKS IT\nIt looks at" in probe(0, "--explain", other["id"]).stdout


def test_rule_of_a_capture_has_no_check_of_the_probe():
    assert "PROBE CHECKS" not in probe(0, "--explain", "rfc4755.3.3.simultaneous").stdout


def test_list_of_a_stage():
    out = probe(0, "--list", "--only", "fabric.pkey").stdout
    assert "\n  fabric.pkey " in out and "fabric.pkey-twins" not in out and "echo" not in out


# --- without a device


def test_list_names_the_checks_of_what_is_selected():
    out = probe(0, "--list", "--only", "rfc4391.6").stdout
    assert "rfc4391.6.reserved-ignored" in out
    assert "one-qp" not in out


def test_list_has_every_rule_that_a_probe_can_look_at():
    listed = json.loads(probe(0, "--list", "--format", "json").stdout)
    rules = {rule for check in listed["checks"] + listed["stages"] for rule in check["rules"]}
    rules |= {other["id"] for other in listed["other_rules"]}
    command = [f"{BIN}/ipoib-check", "--list", "--format", "json"]
    table = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["rules"]
    assert rules == {rule["id"] for rule in table if rule["probe"]}


def test_dry_run_needs_no_device():
    out = probe(0, "--dry-run", "10.0.0.2", "fe80::2", "fabric").stdout
    for text in ("Nothing was sent", "only with --source", "fabric.census"):
        assert text in out

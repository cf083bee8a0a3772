# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --require: rules that must have been checked.

The captures are testdata's; support/check.py describes their contents. built-encap has no
connection, so no rule of RFC 4755 §3.5 applies to it; connected has two, whose Service-IDs are a
known deviation."""
import json

import pytest

from support.check import CONNECTED, ENCAP, OK, RESERVED, SERVICE_ID, UNJUDGED, VIOLATED
from support.check import expect, run
from support.paths import testdata

PLAIN = testdata("built/built-carrier-247.pcap")  # conformant; no connection
NOT_SEEN = "rfc4391.9.1.2.qkey-from-join"  # no join is in built-carrier: inconclusive


def report(status, *args, **options):
    return json.loads(expect(status, "--format", "json", *args, **options))


def requiring(*selectors):
    return [part for s in selectors for part in ("--require", s)]


@pytest.mark.parametrize(
    "selectors",
    [
        pytest.param([RESERVED], id="passed"),
        pytest.param([SERVICE_ID], id="known-deviation"),
        pytest.param(["rfc4755.3.5"], id="group"),
        pytest.param([RESERVED, "rfc4755"], id="several"),
    ],
)
def test_required_rule_that_was_checked_has_status_0(selectors):
    expect(OK, *requiring(*selectors), CONNECTED)


def test_required_rule_that_was_violated_has_status_1():
    expect(VIOLATED, *requiring(RESERVED), ENCAP)


def test_required_rule_that_did_not_apply_has_status_2_and_is_named():
    document = report(UNJUDGED, *requiring(SERVICE_ID), PLAIN, err=SERVICE_ID)
    assert document["summary"]["verdict"] == "unjudged"
    assert document["summary"]["exit_status"] == UNJUDGED
    [required] = document["summary"]["required"]
    assert (required["selector"], required["judged"]) == (SERVICE_ID, False)
    assert required["why"] == "nothing in the captures is about it"
    assert document["summary"]["captures"][0]["verdict"] == "conformant"


def test_inconclusive_required_rule_has_status_2_and_names_the_evidence():
    done = run("--format", "json", *requiring(NOT_SEEN), PLAIN)
    [inconclusive] = [
        r
        for r in json.loads(done.stdout)["results"]
        if (r["id"], r["outcome"]) == (NOT_SEEN, "inconclusive")
    ]
    assert done.returncode == UNJUDGED
    assert NOT_SEEN in done.err and inconclusive["actual"] in done.err, done.err


def test_required_group_names_the_rules_that_are_inconclusive():
    out = expect(UNJUDGED, *requiring("rfc4391.9.1.2"), PLAIN, err=NOT_SEEN)
    last = out.splitlines()[-1]
    assert last.startswith("required rfc4391.9.1.2: NOT JUDGED: ") and NOT_SEEN in last


def test_required_identifier_is_that_rule_only():
    """rfc4391.4.1.qkey-controlled was not checked; another rule of the same section does not
    replace it."""
    only = ["--only", "rfc4391.4", "--require", "rfc4391.4.1.qkey-controlled"]
    expect(UNJUDGED, *only, PLAIN, err="rfc4391.4.1.qkey-controlled")


# ---- --min-judged


def judged(path):
    return json.loads(run("--format", "json", path).stdout)["summary"]["captures"][0]["rules"][
        "judged"
    ]


@pytest.mark.parametrize("more, status", [(0, OK), (1, UNJUDGED)])
def test_fewer_judged_rules_than_required_have_status_2(more, status):
    number = judged(CONNECTED) + more
    words = f"--min-judged {number}: {CONNECTED}: {number - 1} rules judged" if more else ""
    document = report(status, "--min-judged", str(number), CONNECTED, err=words)
    assert document["summary"]["min_judged"] == number
    assert document["summary"]["exit_status"] == status
    assert document["summary"]["captures"][0]["verdict"] == "conformant"
    last = expect(status, "--min-judged", str(number), CONNECTED, err=words).splitlines()[-1]
    assert ("NOT JUDGED" in last) is bool(more)


def test_each_capture_must_judge_the_number_of_rules():
    number = str(judged(CONNECTED))
    expect(UNJUDGED, "--min-judged", number, CONNECTED, PLAIN, err=PLAIN)
    assert judged(PLAIN) < int(number)


def test_violation_precedes_too_few_judged_rules():
    expect(VIOLATED, "--min-judged", "100", ENCAP, err="--min-judged 100")


@pytest.mark.parametrize("number", ["0", "x", "-1", "100000"])
def test_number_of_judged_rules_is_a_number_of_rules(number):
    done = run("--min-judged", number, CONNECTED)
    assert done.returncode == UNJUDGED and done.stdout == b"" and "--min-judged" in done.err


def test_number_of_judged_rules_is_not_an_option_of_merge():
    assert run("--merge", "--min-judged", "1", CONNECTED).returncode == UNJUDGED


def test_violation_precedes_unchecked_rules():
    expect(VIOLATED, *requiring(SERVICE_ID), ENCAP, err=SERVICE_ID)


def test_required_rule_may_be_checked_in_any_capture():
    document = report(OK, *requiring(SERVICE_ID), PLAIN, CONNECTED)
    [required] = document["summary"]["required"]
    assert (required["judged"], required["why"]) == (True, None)


def test_report_without_required_rules_has_no_such_member():
    assert "required" not in report(OK, PLAIN)["summary"]


def test_merged_report_keeps_the_required_rule(tmp_path):
    path = tmp_path / "n1.json"
    run("--format", "json", "-o", path, *requiring(SERVICE_ID), PLAIN)
    expect(UNJUDGED, "--merge", path)


@pytest.mark.parametrize(
    "args, message",
    [
        pytest.param(["--require", "rfc9999", PLAIN], "no rule", id="unknown"),
        pytest.param(["--require", "", PLAIN], "no rule", id="empty"),
        pytest.param(
            ["--require", "rfc4391.2.ud-supported", PLAIN], "no capture", id="a-probe-shows-it"
        ),
        pytest.param(
            ["--require", "rfc4391.10.query-sa-first", PLAIN], "no capture", id="of-level-INFO"
        ),
        pytest.param(
            ["--only", "rfc4391", "--require", "rfc4755", PLAIN], "--only", id="not-selected"
        ),
        pytest.param(["--merge", "--require", "rfc4755", PLAIN], "checks no capture", id="merge"),
        pytest.param(["--list", "--require", "rfc4755"], "checks no capture", id="list"),
    ],
)
def test_required_rules_in_wrong_usage_have_status_2(args, message):
    expect(UNJUDGED, *args, err=message)

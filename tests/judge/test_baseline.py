# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --baseline: violations that are in an earlier report do not count.

Two violations are the same if rule, subject and cause are the same, with the observed number, or the
actual text if the cause does not say all of it. built-encap has one violation of a MUST: the Reserved
field of frame 8 is 0x1234. built-arp has another: flags 0x3f in a link-layer address."""
import json
import xml.etree.ElementTree as ElementTree

import pytest

from frames.build import erf_pcap
from frames.fabric import A, B, Tape
from frames.messages import ping
from support.check import CONNECTED, ENCAP, OK, RESERVED, SERVICE_ID, UNJUDGED, VIOLATED
from support.check import expect, load, run
from support.paths import testdata

ARP = testdata("built/built-arp.pcap")
FLAGS = "rfc4391.9.1.1.reserved-flags"


def report(status, *args, **options):
    return json.loads(expect(status, "--format", "json", *args, **options))


def outcomes(document, rule):
    return {r["outcome"]: r for r in document["results"] if r["id"] == rule}


@pytest.fixture
def baseline(tmp_path):
    """Writes the report of captures, or the given text, and returns its path."""

    def make(*args, content=None):
        path = tmp_path / "baseline.json"
        if content is None:
            content = run("--format", "json", *args).stdout
        path.write_bytes(content)
        return path

    return make


def test_violation_of_the_baseline_does_not_count(baseline):
    known = baseline(ENCAP)
    document = report(OK, "--baseline", known, ENCAP)
    result = outcomes(document, RESERVED)["known"]
    assert (result["actual"], result["frames"], result["violation"]) == ("0x1234", [8], False)
    assert result["reason"] == "known from the baseline"
    assert "fail" not in outcomes(document, RESERVED)
    [capture] = document["summary"]["captures"]
    assert (capture["verdict"], capture["rules"]["known"]) == ("conformant", 1)
    assert document["summary"]["baseline"] == str(known)


def test_text_lists_known_violations(baseline):
    lines = expect(OK, "--baseline", baseline(ENCAP), ENCAP).splitlines()
    assert "Known from the baseline" in lines
    assert "1 violation known from the baseline" in lines[-1]
    assert RESERVED in lines[lines.index("Known from the baseline") + 1]


def test_new_violation_of_another_rule_has_status_1(baseline):
    document = report(VIOLATED, "--baseline", baseline(ENCAP), ARP)
    assert "fail" in outcomes(document, FLAGS)


def test_new_violation_with_a_known_one_has_status_1(baseline):
    document = report(VIOLATED, "--baseline", baseline(ENCAP), ENCAP, ARP)
    assert set(outcomes(document, RESERVED)) >= {"known"}
    assert [c["verdict"] for c in document["summary"]["captures"]] == ["conformant", "violated"]


def reserved(*values):
    """Datagrams from A to B whose encapsulation headers have these Reserved fields."""
    t = Tape()
    for value in values:
        payload = ping(A, B)
        t.ud(A, B, payload[:2] + value.to_bytes(2, "big") + payload[4:])
    return erf_pcap(t)


def store(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    return tmp_path / name


def test_another_value_of_the_same_rule_is_new(baseline, tmp_path):
    known = baseline(store(tmp_path, "old.pcap", reserved(1)))
    document = report(VIOLATED, "--baseline", known, store(tmp_path, "new.pcap", reserved(1, 2)))
    found = outcomes(document, RESERVED)
    assert [c["actual"] for c in found["known"]["cases"]] == ["0x0001"]
    assert [c["actual"] for c in found["fail"]["cases"]] == ["0x0002"]


def changed(baseline, change):
    """A baseline of the capture with the Reserved field 1, whose case of it was changed."""

    def make(capture):
        document = json.loads(run("--format", "json", capture).stdout)
        [case] = outcomes(document, RESERVED)["fail"]["cases"]
        assert (case["cause"], case["value"], case["actual"]) == ("value-differs", 1, "0x0001")
        change(case)
        return baseline(content=json.dumps(document).encode())

    return make


SAME = {
    "another text": lambda case: case.update(actual="one"),
    "an earlier version": lambda case: (case.pop("cause"), case.pop("value")),
}
OTHERS = {
    "another number": lambda case: case.update(value=2),
    "another cause": lambda case: case.update(cause="sl-differs"),
    "an earlier version, another text": lambda case: (
        case.pop("cause"),
        case.pop("value"),
        case.update(actual="one"),
    ),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_the_number_decides_whatever_its_text_is(change, baseline, tmp_path):
    capture = store(tmp_path, "a.pcap", reserved(1))
    document = report(OK, "--baseline", changed(baseline, change)(capture), capture)
    assert set(outcomes(document, RESERVED)) == {"known"}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_another_number_or_cause_is_new(change, baseline, tmp_path):
    capture = store(tmp_path, "a.pcap", reserved(1))
    document = report(VIOLATED, "--baseline", changed(baseline, change)(capture), capture)
    assert "fail" in outcomes(document, RESERVED)


@pytest.mark.parametrize(
    "value", [-1, 2**53, "1", None], ids=["negative", "large", "text", "none"]
)
def test_a_cause_needs_a_number(value, baseline, tmp_path):
    capture = store(tmp_path, "a.pcap", reserved(1))
    made = changed(baseline, lambda case: case.update(value=value))(capture)
    expect(UNJUDGED, "--baseline", made, capture, err="malformed")


# Their texts say more than the cause.
VARYING = {"full-member-not-subscribed", "other-form", "reply-over-connection"}


def failures(capture):
    """The report of a capture without known deviations, and its cases that have no number."""
    document = json.loads(run("--deviations", "none", "--format", "json", capture).stdout)
    failed = [r for r in document["results"] if r["outcome"] == "fail"]
    cases = [c for r in failed for c in r["cases"] if "value" not in c]
    assert {c["cause"] for c in cases} > VARYING
    return document, cases


def rules_without_number(document):
    failed = [r for r in document["results"] if r["outcome"] == "fail"]
    return {r["id"] for r in failed if any("value" not in c for c in r["cases"])}


def known_again(document, baseline):
    content = baseline(content=json.dumps(document).encode())
    done = run("--deviations", "none", "--format", "json", "--baseline", content, CONNECTED)
    return {r["id"] for r in json.loads(done.stdout)["results"] if r["outcome"] == "fail"}


def test_the_cause_decides_whatever_its_text_is(baseline):
    document, cases = failures(CONNECTED)
    for case in cases:
        if case["cause"] not in VARYING:
            case["actual"] = "reworded"
    assert known_again(document, baseline) == set()


def test_another_cause_or_a_text_that_says_more_is_new(baseline):
    document, cases = failures(CONNECTED)
    for case in cases:
        case["actual"] = "reworded"
        if case["cause"] not in VARYING:
            case["cause"] = "another"
    assert known_again(document, baseline) == rules_without_number(document)


def test_a_report_of_an_earlier_version_has_texts(baseline):
    document, cases = failures(CONNECTED)
    for case in cases:
        del case["cause"]
    assert known_again(document, baseline) == set()


def test_another_subject_with_the_same_value_is_new(baseline):
    """In ARP, the subject is the link-layer address: the test changes the address in the report."""
    document = json.loads(run("--format", "json", ARP).stdout)
    [case] = outcomes(document, FLAGS)["fail"]["cases"]
    report(OK, "--baseline", baseline(content=json.dumps(document).encode()), ARP)
    assert case["subject"]
    case["subject"] = case["subject"].replace("QPN 0x", "QPN 0xf")
    known = baseline(content=json.dumps(document).encode())
    assert "fail" in outcomes(report(VIOLATED, "--baseline", known, ARP), FLAGS)


def test_frame_and_number_of_findings_do_not_matter(baseline, tmp_path):
    known = baseline(store(tmp_path, "old.pcap", reserved(1)))
    report(OK, "--baseline", known, store(tmp_path, "new.pcap", reserved(0, 1, 1)))


def test_should_violation_in_a_strict_baseline_is_known(baseline):
    args = ["--deviations", "none", "--strict", CONNECTED]
    expect(VIOLATED, *args)
    report(OK, "--baseline", baseline("--deviations", "none", CONNECTED), *args)


def test_deviation_in_the_baseline_is_not_a_known_violation(baseline):
    """Only violations are known: a known deviation of the baseline that counts now is new."""
    document = report(VIOLATED, "--baseline", baseline(CONNECTED), "--deviations=none", CONNECTED)
    assert "fail" in outcomes(document, SERVICE_ID)


def test_report_with_a_baseline_is_the_next_baseline(baseline):
    again = run("--format", "json", "--baseline", baseline(ENCAP), ENCAP).stdout
    report(OK, "--baseline", baseline(content=again), ENCAP)


def test_report_with_a_baseline_can_be_merged(baseline, tmp_path):
    checked = run("--format", "json", "--baseline", baseline(ENCAP), ENCAP).stdout
    path = store(tmp_path, "n1.json", checked)
    document = report(OK, "--merge", path)
    assert outcomes(document, RESERVED)["known"]["node"] == "n1"
    assert "Known from the baselines" in expect(OK, "--merge", path)


def test_merged_report_is_a_baseline_of_all_its_captures(baseline, tmp_path):
    one = store(tmp_path, "n1.json", run("--format", "json", ENCAP).stdout)
    two = store(tmp_path, "n2.json", run("--format", "json", ARP).stdout)
    merged = run("--merge", "--format", "json", one, two).stdout
    report(OK, "--baseline", baseline(content=merged), ENCAP, ARP)


def test_baseline_of_an_older_version_with_another_verdict_is_read(baseline):
    """The verdict that an older version gave does not matter."""
    document = json.loads(run("--format", "json", ENCAP).stdout)
    document["summary"]["captures"][0]["verdict"] = "conformant"
    report(OK, "--baseline", baseline(content=json.dumps(document).encode()), ENCAP)


def test_cases_beyond_the_ten_of_a_report_are_counted(baseline, tmp_path):
    """A report has ten cases of a rule. The eleventh is counted, but the report does not have its
    value."""
    path = store(tmp_path, "many.pcap", reserved(*range(1, 13)))
    document = report(VIOLATED, "--baseline", baseline(path), path, err="further cases")
    found = outcomes(document, RESERVED)
    assert (found["known"]["count"], found["fail"]["count"]) == (10, 2)


@pytest.mark.parametrize("form", ["junit", "tap"])
def test_known_violation_is_skipped_in_tests(baseline, form):
    out = expect(OK, "--format", form, "--baseline", baseline(ENCAP), ENCAP)
    if form == "tap":
        [line] = [line for line in out.splitlines() if "ok " in line and RESERVED in line]
        assert line.startswith("ok ") and "# SKIP known from the baseline" in line
        return
    [case] = [
        c
        for c in ElementTree.fromstring(out.encode()).iter("testcase")
        if c.get("name") == RESERVED
    ]
    assert case.find("skipped").get("message").startswith("known from the baseline")


# ---- files that are no baseline

NO_CASES = {"cases": [{"subject": "x"}]}


def spoilt(change):
    document = json.loads(run("--format", "json", ENCAP).stdout)
    change(document)
    return json.dumps(document).encode()


def with_case_too_many(document):
    result = outcomes(document, RESERVED)["fail"]
    result["cases"] *= 11
    result["count"] = 11


@pytest.mark.parametrize(
    "content, message",
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"{", "not valid JSON", id="cut"),
        pytest.param(b"{}", "no report", id="other-JSON"),
        pytest.param(load(ENCAP), "not valid JSON", id="a-capture"),
        pytest.param(b"[" * 100000, "not valid JSON", id="deep"),
        pytest.param(spoilt(with_case_too_many), "malformed", id="too-many-cases"),
        pytest.param(
            spoilt(lambda d: outcomes(d, RESERVED)["fail"].update(NO_CASES)),
            "malformed",
            id="case-without-texts",
        ),
        pytest.param(
            spoilt(lambda d: outcomes(d, RESERVED)["fail"].update(id="rfc4391.6.new-rule")),
            "does not know",
            id="unknown-rule",
        ),
        pytest.param(
            spoilt(lambda d: d["summary"].update(captures=[])), "malformed", id="without-captures"
        ),
    ],
)
def test_unreadable_baseline_has_status_2_and_no_report(baseline, content, message):
    path = baseline(content=content)
    assert expect(UNJUDGED, "--baseline", path, ENCAP, err=message) == ""


def test_missing_baseline_has_status_2():
    assert expect(UNJUDGED, "--baseline", "/nonexistent/b.json", ENCAP, err="No such file") == ""


def test_probe_report_is_refused_as_a_baseline(baseline):
    content = spoilt(
        lambda d: d.update(
            tool="ipoib-probe",
            results=[],
            summary={
                "strict": False,
                "deviations": "linux",
                "only": [],
                "targets": [{"name": "x"}],
            },
        )
    )
    expect(UNJUDGED, "--baseline", baseline(content=content), ENCAP, err="no capture")


def test_output_never_overwrites_the_baseline(baseline):
    path = baseline(ENCAP)
    before = path.read_bytes()
    expect(UNJUDGED, "--baseline", path, "-o", path, ENCAP, err="baseline")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "args", [["--merge", "--baseline", "x", ENCAP], ["--list", "--baseline", "x"]], ids=str
)
def test_baseline_with_a_mode_that_checks_nothing_has_status_2(args):
    expect(UNJUDGED, *args, err="checks no capture")

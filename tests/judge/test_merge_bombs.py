# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports from untrusted sources: ipoib-check --merge reads them fast, and its output
is in proportion.

doc/reports.md lists the members of a report, and the message for a file that is not a report. Each
bomb is a modified report of ipoib-check."""
import itertools
import json
import os
import resource
import subprocess

import pytest

from support import capfile, paths, wait

CHECK = os.path.join(paths.BIN, "ipoib-check")
SECONDS = 20  # of CPU time; the reports here take at most two, and without limits minutes or more
TIMES, BYTES = 12, 64 << 10  # output: times the input, plus the size for a small report
FORMATS = ("text", "json", "junit", "tap")


@pytest.fixture(scope="module")
def report():
    """The text of a good report."""
    capture = paths.testdata("built/built-encap.pcap")
    p = subprocess.run([CHECK, "--format", "json", capture], stdout=subprocess.PIPE)
    return p.stdout.decode()


def merge(path, form):
    return check("--merge", "--format", form, str(path))


def check(*args):
    """(status, output and errors, CPU seconds)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = wait.run([CHECK, *args], capture_output=True, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return p.returncode, p.stdout, p.stderr, seconds


def added(report, **members):
    return json.dumps({**json.loads(report), **members})


def with_results(report, change, count):
    """The first result many times, each changed by its number."""
    whole = json.loads(report)
    first = whole["results"][0]
    whole["results"] += [change(dict(first), n) for n in range(count)]
    return json.dumps(whole)


def deep(report):
    nested = '{"a":' * 2000 + "1" + "}" * 2000
    return report.replace("{", '{"x": [' + ",".join([nested] * 40) + "],", 1)


def deep_in_results(report):
    nested = "[" * 2000 + "]" * 2000
    return report.replace('"capture"', '"x": [' + ",".join([nested] * 100) + '], "capture"', 1)


def deeper_than_any(report):
    return report.replace("{", '{"x": ' + "[" * 400000 + "]" * 400000 + ",", 1)


def wide_where_a_text_belongs(report):
    nested = "[" * 1500 + "]" * 1500
    return report.replace('"reason": ""', '"reason": [' + ",".join([nested] * 100) + "]")


def unknown_members(report):
    return added(report, **{f"unknown{n}": [n, {"a": n}] for n in range(30000)})


def unknown_identifiers(report):
    return with_results(report, lambda r, n: {**r, "id": f"no.rule.{n}"}, 8000)


def repeated_identifiers(report):
    return with_results(report, lambda r, n: r, 8000)


def unknown_outcomes(report):
    return with_results(report, lambda r, n: {**r, "outcome": f"x{n}"}, 8000)


def many_stages(report):
    stage = {"level": "STAGE", "advice": "", "outcome": "pass"}
    return with_results(report, lambda r, n: {**r, **stage, "id": f"stage.{n}"}, 8000)


def long_node(report):
    return added(report, node="n" * (1 << 20))


def long_identifier(report):
    return with_results(report, lambda r, n: {**r, "id": "i" * (1 << 20)}, 1)


def long_capture_name(report):
    return report.replace("built-encap.pcap", "n" * (1 << 20))


def long_selector(report):
    whole = json.loads(report)
    whole["summary"]["only"] = ["rfc"] * 300000
    return json.dumps(whole)


def duplicated_keys(report):
    return report.replace("{", "{" + '"a": 1,' * 200000, 1)


def huge_numbers(report):
    return report.replace('"count": ', '"count": ' + "9" * 500000)


def huge_count(report):
    return report.replace('"further_cases": 0', '"further_cases": 9223372036854775807')


def huge_float(report):
    return report.replace('"count": ', '"count": 1e999, "x": ')


BOMBS = (
    deep,
    deep_in_results,
    deeper_than_any,
    wide_where_a_text_belongs,
    unknown_members,
    unknown_identifiers,
    repeated_identifiers,
    unknown_outcomes,
    many_stages,
    long_node,
    long_identifier,
    long_capture_name,
    long_selector,
    duplicated_keys,
    huge_numbers,
    huge_count,
    huge_float,
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_report_that_is_too_large_is_refused(tmp_path, report, bomb, form):
    path = tmp_path / "bomb.json"
    text = bomb(report)
    assert text != report
    path.write_text(text)
    status, out, errors, seconds = merge(path, form)
    assert status in (1, 2)
    assert seconds <= SECONDS
    assert len(out) <= TIMES * len(text) + BYTES
    assert len(errors) <= 4096
    if form == "json":
        json.loads(out)


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_baseline_that_is_too_large_is_refused(tmp_path, bomb, report):
    """0: it is a report with additions, and has the capture's violation; 1: it has another
    violation; 2: it is not a report."""
    path, capture = tmp_path / "bomb.json", paths.testdata("built/built-encap.pcap")
    path.write_text(bomb(report))
    status, out, errors, seconds = check("--format", "json", "--baseline", str(path), capture)
    assert status in (0, 1, 2)
    assert seconds <= SECONDS
    assert len(out) <= TIMES * BYTES
    assert len(errors) <= 4096
    assert (status == 2) == (out == b"")


def texts(bits, collide):
    """2 to the power of bits different texts of one length. All have one hash of GLib's (33 * 97 + 66 ==
    33 * 98 + 33), or their hashes differ."""
    parts = ("aB", "b!") if collide else ("aB", "c!")
    return ["".join(p) for p in itertools.product(parts, repeat=bits)]


def glib_hash(text):
    value = 5381
    for octet in text.encode():
        value = (value * 33 + octet) % (1 << 32)
    return value


@pytest.fixture(scope="module")
def empty_report(tmp_path_factory):
    """A report on a capture without packets, which has no results."""
    path = tmp_path_factory.mktemp("empty") / "empty.pcap"
    path.write_bytes(capfile.pcap(capfile.INFINIBAND, []))
    return json.loads(check("--format", "json", str(path))[1])


@pytest.mark.parametrize("member", ["name", "node"])
def test_names_that_collide_cost_no_more_than_others(tmp_path, empty_report, member):
    assert len({glib_hash(text) for text in texts(10, True)}) == 1
    assert len({glib_hash(text) for text in texts(10, False)}) == 1024
    first, seconds = empty_report["summary"]["captures"][0], {}
    for collide in (False, True):
        path = tmp_path / f"{collide}.json"
        captures = [{**first, member: text} for text in texts(14, collide)]
        summary = {**empty_report["summary"], "captures": captures, "unjudged": len(captures)}
        path.write_text(json.dumps({**empty_report, "summary": summary}))
        status, out, errors, seconds[collide] = merge(path, "json")
        assert (status, errors) == (2, b"")
        assert len(json.loads(out)["summary"]["captures"]) == len(captures)
    assert seconds[True] < 2 * seconds[False] + 0.2, seconds


def test_members_that_are_not_known_are_left_out(tmp_path, report):
    path = tmp_path / "node.json"
    path.write_text(added(report, unknown={"deep": [[1]]}))
    status, out, _, _ = merge(path, "json")
    assert status == 1 and b"deep" not in out
    path.write_text(report)
    assert merge(path, "json")[1] == out


def test_long_node_name_is_truncated(tmp_path, report):
    path = tmp_path / "node.json"
    path.write_text(added(report, node="n" * 300))
    _, out, _, _ = merge(path, "json")
    nodes = {r["node"] for r in json.loads(out)["results"]}
    assert len(nodes) == 1
    (node,) = nodes
    assert len(node) < 256 and node.startswith("nnn") and node.endswith("...")


def test_every_member_of_a_good_report_stays(tmp_path, report):
    path = tmp_path / "node.json"
    path.write_text(report)
    merged = json.loads(merge(path, "json")[1])
    for result in merged["results"]:
        del result["node"], result["file"]
    assert merged["results"] == json.loads(report)["results"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of findings in reports: the sender, values in the usual notation, and the command that
explains the rule."""
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from frames import ib
from frames.build import A, B, Tape, erf_pcap, nd6
from frames.missed import qpn_claims
from frames.variants import forms
from support.check import CONNECTED, ENCAP, RESERVED, SERVICE_ID, VIOLATED, expect, run
from support.paths import testdata

LEAVE, PRIVATE_DATA = "rfc4391.10.leave", "rfc4755.6.private-data"
HELP = "ipoib-check --explain " + RESERVED
ARP_FAULTS = testdata("built/built-arp-faults.pcap")


def results(*args):
    """(rule, outcome) to result."""
    report = json.loads(run("--format", "json", *args).stdout)
    return {(r["id"], r["outcome"]): r for r in report["results"]}


def option_of_length_1(folder):
    """The finding about an advertisement of B with an option of 8 bytes, as on Ethernet."""
    t, option = Tape(), bytes([2, 1]) + B.addr[:6]
    t.ud(B, A, nd6(B.ll, A.ll, ib.nd_na(B.ll, option)))
    path = folder / "na.pcap"
    path.write_bytes(erf_pcap(t))
    return results(str(path))["rfc4391.9.3.nd-option-length", "fail"]


# ---- the way to the rule's page


def test_text_has_one_line_for_each_rule_that_failed():
    lines = [l.strip() for l in expect(VIOLATED, ENCAP).splitlines() if "--explain" in l]
    assert lines == ["more: " + HELP]


def test_json_has_the_command_in_each_result():
    for (rule, _), result in results(ENCAP, CONNECTED).items():
        assert result["help"] == "ipoib-check --explain " + rule


def test_explain_command_works():
    assert expect(0, *results(ENCAP)[RESERVED, "fail"]["help"].split()[1:]).startswith(RESERVED)


def test_junit_has_the_command_in_the_message():
    root = ElementTree.fromstring(run("--format", "junit", ENCAP).stdout)
    messages = [f.get("message") for f in root.iter("failure")]
    assert len(messages) == 1 and messages[0].endswith("; see: " + HELP)


def test_tap_has_the_command_in_the_details():
    assert f'  help: "{HELP}"' in run("--format", "tap", ENCAP).stdout.decode().splitlines()


# ---- the packet at fault, and the one that proves it


@pytest.fixture(name="claimed")
def fixture_claimed(tmp_path):
    """A capture whose REQ has a QPN that no interface has, which only the SA's next packet proves;
    and the numbers of the two frames."""
    w = qpn_claims.names_other("REQ")
    data, names = forms.infiniband(w)
    path = tmp_path / "claimed.pcap"
    path.write_bytes(data)
    frame, _, rule = qpn_claims.MESSAGES["REQ"]
    return str(path), rule, names.index(frame) + 1, names.index(qpn_claims.PROOF) + 1


def test_frames_are_those_at_fault_and_the_proof_is_apart(claimed, tmp_path):
    capture, rule, fault, proved = claimed
    result = results(capture)[rule, "fail"]
    [case] = result["cases"]
    assert result["frames"] == case["frames"] == [fault]
    assert case["proved_frame"] == proved and "frame" not in case["expected"]
    text = expect(VIOLATED, capture)
    assert re.search(rf": frame {fault}; proved in frame {proved}\n", text)
    tap = run("--format", "tap", capture).stdout.decode()
    assert f"      frames: [{fault}]\n      proved_frame: {proved}\n" in tap
    message = f"; proved in frame {proved}; frame {fault}; sent by "
    assert message in run("--format", "junit", capture).stdout.decode()
    report = tmp_path / "report.json"
    report.write_bytes(run("--format", "json", capture).stdout)
    assert results("--merge", str(report))[rule, "fail"]["cases"] == [case]


def test_comment_of_the_proof_names_the_frame_at_fault(claimed, tmp_path):
    capture, rule, fault, proved = claimed
    out = tmp_path / "out.pcapng"
    run("--annotate", str(out), capture)
    comment = (
        f"MUST violated in frame {fault}, which this packet proves: {rule} (RFC 4755, section "
    )
    assert comment.encode() in out.read_bytes()


# ---- inconclusive rules


def test_junit_and_tap_show_why_a_rule_is_inconclusive():
    """CI services show the reason of a skipped test."""
    rule, _ = next(key for key in results(ENCAP) if key[1] == "inconclusive")
    only = ["--only", rule, "--only", RESERVED]
    root = ElementTree.fromstring(run("--format", "junit", *only, ENCAP).stdout)
    case = root.find(f".//testcase[@name='{rule}']/skipped")
    assert case.get("message").startswith("inconclusive: ")
    tap = run("--format", "tap", *only, ENCAP).stdout.decode()
    assert re.search(rf"^ok \d+ - .*{re.escape(rule)} # SKIP inconclusive: .+$", tap, re.MULTILINE)


def test_junit_and_tap_show_inconclusive_cases_of_rules_that_other_packets_decide():
    """testdata/README.md: the capture begins after the ports joined; frame 25 is a leave of a group
    whose join is missing, and the REJ in frame 4 has no private data."""
    capture = testdata("cm-reject.pcap")
    found = results(capture)
    leave, qpn = LEAVE, "rfc4755.3.2.ud-qpn-in-private-data"
    assert (leave, "pass") in found and (qpn, "deviation") in found
    reasons = {rule: found[rule, "inconclusive"]["cases"][0]["actual"] for rule in (leave, qpn)}
    root = ElementTree.fromstring(run("--format", "junit", capture).stdout)
    assert root.find(f".//testcase[@name='{leave}']").find("*") is None
    assert re.search(
        rf"^  {leave}  1 time: {reasons[leave]}", root.find(".//system-out").text, re.M
    )
    text = root.find(f".//testcase[@name='{qpn}']/skipped").text
    assert f"\nInconclusive:\n  3 times: {reasons[qpn]}\n" in text
    tap = run("--format", "tap", capture).stdout.decode()
    for rule, start in ((leave, r"ok \d+ - \S+: "), (qpn, r"ok \d+ - \S+: ")):
        block = re.search(rf"^{start}{rule}(?: # .*)?\n  ---\n((?:  .*\n)+?)  \.\.\.$", tap, re.M)
        assert "  inconclusive:\n    - count: " in block[1]
        assert f'      actual: "{reasons[rule]}"\n' in block[1].split("  inconclusive:\n")[1]
        assert f'  help: "ipoib-check --explain {rule}"\n' in block[1]


# ---- rules with several outcomes


def listed(heading, text):
    """Rules of a group of the text report, each with its lines."""
    group = re.search(rf"^{heading}\n((?:  .*\n)+)", text, re.MULTILINE)[1]
    return re.findall(r"^  (\S+)  (.*\n(?:   .*\n)*)", group, re.MULTILINE)


def test_rule_listed_with_another_outcome_says_as_what_it_counts():
    """testdata/README.md: the private data of the REQ in frame 17 is zeros (a violation); the RTUs
    in 13 and 19 have none (a known deviation of Linux). It is one rule in two groups."""
    text = expect(VIOLATED, testdata("cm-reject.pcap"))
    verdict = text.splitlines()[-1]
    deviations = dict(listed("Known deviations", text))
    [elsewhere] = [rule for rule, lines in deviations.items() if "this rule is counted" in lines]
    assert elsewhere == PRIVATE_DATA
    assert "\n      this rule is counted under: MUST, violated\n" in deviations[elsewhere]
    assert f" {len(deviations) - 1} known deviations of " in verdict
    inconclusive = listed("Inconclusive: .*", text)
    assert (LEAVE, True) in [
        (r, l.endswith("; this rule is counted as passed\n")) for r, l in inconclusive
    ]
    counted = [rule for rule, lines in inconclusive if "this rule is counted" not in lines]
    assert 0 < len(counted) < len(inconclusive)
    assert f", {len(counted)} rules inconclusive, " in verdict


# ---- the sender


def test_known_parts_of_the_sender_are_named():
    """Frame 8 of built-encap is a datagram without GRH (tests/frames/build.py, encap_types): its
    LID is known."""
    [case] = results(ENCAP)[RESERVED, "fail"]["cases"]
    assert re.search(r"(^|, )LID \d+$", case["senders"][0])
    assert "\n        sent by " + case["senders"][0] in expect(VIOLATED, ENCAP)


def test_sender_of_nd_is_named_by_ip_address_and_lid(tmp_path):
    case = option_of_length_1(tmp_path)["cases"][0]
    assert case["senders"] == [f"IP {B.ll}, LID {B.lid}"]


def test_sender_of_arp_has_its_ip_address():
    senders = [
        s
        for (_, outcome), r in results(ARP_FAULTS).items()
        if outcome == "fail"
        for c in r["cases"]
        for s in c["senders"]
    ]
    assert senders and any(re.match(r"IP \d+\.\d+\.\d+\.\d+, ", s) for s in senders)


def test_passes_and_notes_have_no_sender():
    for (_, outcome), result in results(ENCAP, CONNECTED).items():
        if outcome in ("noted", "inconclusive"):
            assert all(c["senders"] == [] for c in result["cases"])


def test_known_deviations_name_the_sender_too():
    [case, *_] = results(CONNECTED)[SERVICE_ID, "deviation"]["cases"]
    assert case["senders"]


# ---- values


def test_length_is_decimal(tmp_path):
    """RFC 4391 section 9.3: the length is 3, in units of 8 bytes."""
    failed = option_of_length_1(tmp_path)
    assert (failed["expected"], failed["actual"]) == ("3", "1")


def test_hardware_type_is_decimal():
    failed = results(ARP_FAULTS)["rfc4391.9.2.arp-hardware-type", "fail"]
    assert failed["expected"] == "32"
    assert all(c["actual"].isdecimal() for c in failed["cases"])


@pytest.mark.parametrize("name", ["partitions.pcap", "limited.pcap", "datagram.pcap"])
def test_links_are_named_by_the_p_key_of_full_members(name):
    subjects = {c["subject"] for r in results(testdata(name)).values() for c in r["cases"]}
    assert not [s for s in subjects if "partition" in s]

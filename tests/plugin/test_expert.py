# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings as Wireshark's expert information: an expert field for each rule that a capture can
show.

The frames of built-nd-faults.pcap, from nd_faults() of tests/frames/build.py: frame 1 has a wrong
padding, frame 2 is a Router Solicitation with Ethernet's option (a known deviation), frame 3 is a
message that ends within the address; frames 4, 5 and 6 have options of length 0, 4 and 1."""
import collections
import os
import re
import subprocess

import pytest

from frames.faults import fixture  # faults fills the tables of fixture
from frames.suspected import another_sl
from support import shown
from support.paths import BIN, SRC, testdata
from support.wireshark import tshark

FAULTS = testdata("built/built-nd-faults.pcap")
LENGTH = "ipoib.rfc4391.9.3.nd-option-length"
PADDING = "ipoib.rfc4391.9.3.nd-option-padding"
Item = collections.namedtuple("Item", "severity protocol summary")


def rules():
    """(identifier, who can see a violation) of the table."""
    with open(os.path.join(SRC, "lib/rules/table.def"), encoding="utf-8") as f:
        return re.findall(
            r'^RULE\(\w+, "([^"]+)",[^"]*"[^"]*",\s+"[^"]*", \w+, \w+, \w+, (\w+),', f.read(), re.M
        )


def experts(*arguments):
    """The lines of -z expert."""
    out = tshark("-r", FAULTS, *arguments, "-q", "-z", "expert", check=True).stdout
    items, severity = [], None
    for line in out.splitlines():
        if match := re.match(r"(Errors|Warns|Notes|Chats) \(", line):
            severity = match.group(1)
        elif match := re.match(r" +\d+ +Protocol +(\S+)  (.*)$", line):
            items.append(Item(severity, match.group(1), match.group(2)))
    return items


def frames_with(field, capture=FAULTS, way=shown.ONE_PASS, *preferences):
    """The frames in which tshark shows a field."""
    found = shown.show(capture, way, *preferences).frames
    return [number for number, frame in found.items() if shown.values(frame, field)]


def frames(display_filter, *arguments):
    out = tshark(
        "-r", FAULTS, *arguments, "-Y", display_filter, "-T", "fields", "-e", "frame.number"
    )
    assert out.returncode == 0, out.stderr
    return [int(n) for n in out.stdout.split()]


def test_items_are_listed_under_ipoib_with_what_was_expected_the_sender_and_the_section():
    found = experts()
    assert {i.protocol for i in found} == {"IPoIB"}
    length = [i.summary for i in found if i.summary.startswith("Wrong ND option length: 4")]
    assert len(length) == 1
    assert length[0].startswith(
        "Wrong ND option length: 4, expected 3, sent by IP fe80::202:c903:0:1895"
    )
    assert length[0].endswith("(RFC 4391 9.3)")


def test_a_violated_must_is_a_warning_and_a_known_deviation_a_note():
    counts = collections.Counter(i.severity for i in experts())
    assert counts["Warns"] == 5
    assert counts["Notes"] == 1


@pytest.mark.parametrize(
    "field, expected",
    [
        (LENGTH, [4, 5, 6]),
        (PADDING, [1]),
        ("ipoib.deviation", [2]),
        ("ipoib.rule.violated", [1, 3, 4, 5, 6]),
        ("ipoib.rule.known", [2]),
    ],
)
def test_field_finds_its_frames(field, expected):
    assert frames_with(field) == expected


@pytest.mark.parametrize(
    "wanted, expected",
    [(LENGTH, [4, 5, 6]), ('_ws.expert.severity == "Warning" && ipoib.rule.id', [1, 3, 4, 5, 6])],
)
def test_filter_finds_its_frames(wanted, expected):
    assert frames(wanted) == expected


def test_without_known_deviations_the_rule_has_the_frame():
    assert frames(LENGTH, "-o", "ipoib.deviations:none") == [2, 4, 5, 6]


def test_the_violations_of_a_frame_come_before_its_known_deviations():
    """Frame 17 of cm-reject.pcap: Linux's Service-ID, and private data of zeros."""
    frame = shown.show(testdata("cm-reject.pcap")).frames[17]
    wanted = ["rfc4755.6.private-data", "rfc4755.3.5.service-id"]
    assert shown.values(frame, "ipoib.rule.id") == wanted


@pytest.mark.parametrize("frame, short", [(1, False), (2, True), (4, False), (6, True)])
def test_info_says_that_an_option_of_8_bytes_has_no_ipoib_address(frame, short):
    (info,) = shown.values(shown.show(FAULTS).frames[frame], "_ws.col.Info")
    assert info.endswith(" [no IPoIB address]") == short


def test_reason_of_1000_characters_is_whole(tmp_path):
    reason = " ".join(f"word {n:03}" for n in range(112))[:1000]
    assert len(reason) == 1000
    (tmp_path / "mine.conf").write_text(f"[{LENGTH[6:]}]\nreason={reason}\n", encoding="utf-8")
    mine = ["-o", f"ipoib.deviations:{tmp_path / 'mine.conf'}"]
    command = ["-r", FAULTS, *mine, "-Y", "ipoib.rule.deviation == 1", "-T", "fields"]
    out = tshark(*command, "-e", "ipoib.rule.reason", check=True).stdout
    assert set(out.splitlines()) == {reason}


@pytest.fixture
def suspicion(open_path):
    path = open_path / "suspected.pcap"
    path.write_bytes(another_sl().erf_pcap())
    return str(path)


@pytest.mark.parametrize("passes", [[], ["-2"]])
def test_a_suspicion_is_a_note_of_its_frame_in_each_pass(suspicion, passes):
    """Frame 2 has the SL 3, the frames 1 and 3 have 0."""
    fields = ["frame.number", "ipoib.rule.id", "ipoib.rule.other_frame", "ipoib.rule.expected"]
    fields += ["ipoib.rule.actual", "ipoib.rule.mark", "_ws.expert.severity"]
    command = ["-r", suspicion, *passes, "-Y", "ipoib.rule.suspected && ipoib.suspected"]
    out = tshark(*command, "-T", "fields", *[a for f in fields for a in ("-e", f)], check=True)
    [line] = out.stdout.splitlines()
    rule = "rfc4391.5.join-parameters-used"
    *shown_fields, severity = line.split("\t")
    assert shown_fields == ["2", rule, "1", "SL 0", "SL 3", "suspected: " + rule]
    assert severity == "4194304"  # PI_NOTE
    assert not tshark(*command[:-1], "ipoib.rule.violated", check=True).stdout


def test_the_statistics_count_a_suspicion(suspicion):
    out = tshark("-r", suspicion, "-q", "-z", "ipoib,conformance", check=True).stdout
    assert re.search(r"rfc4391\.5\.join-parameters-used +MUST +suspected .* 2$", out, re.M), out
    assert "1 suspected," in out and "Verdict: no violation proved" in out


def test_a_changed_severity_changes_no_verdict():
    change = f'uat:expert_severity:"{LENGTH}","Error"'
    changed = experts("-o", change)
    assert [i.severity for i in changed if i.summary.startswith("Wrong ND option length: 4")] == [
        "Errors"
    ]
    verdict = [
        tshark("-r", FAULTS, *a, "-q", "-z", "ipoib,conformance", check=True).stdout
        for a in ([], ["-o", change])
    ]
    assert "Verdict: violated" in verdict[0]
    assert verdict[0] == verdict[1]


def test_the_tree_has_the_requirement_and_the_command_that_explains_it():
    out = tshark("-r", FAULTS, "-V", "-Y", "frame.number == 5", check=True).stdout
    assert "[Requirement: The Source/Target Link-layer Address options have type 1 or 2" in out
    assert "[Explained by: ipoib-check --explain rfc4391.9.3.nd-option-length]" in out


def test_each_rule_that_a_capture_can_show_has_a_field():
    visible = [r for r, seen in rules() if "P" in seen]
    assert len(visible) > 100
    assert [r for r in visible if f"ipoib.{r}" not in shown.known()] == []


# ---- findings that a later packet proves


@pytest.mark.parametrize(
    "rule, proved, at_fault, sender",
    [  # from the fixtures' descriptions; n0 has LID 1, n1 LID 2. n1's path query is the proof.
        ("rfc4391.5.join-parameters-used", 42, 41, r"IP 10\.0\.0\.1, GID \S+:100, LID 1"),
        ("rfc4391.10.mlid-as-dlid", 42, 39, r"IP fe80::211:7500:0:110, GID \S+:110, LID 2"),
    ],
)
def test_finding_names_the_packet_at_fault_and_its_sender(
    open_path, rule, proved, at_fault, sender
):
    made = next(f for f in fixture.FIXTURES if f.rule == rule and f.kind == fixture.FAIL)
    capture = str(open_path / "late.pcap")
    with open(capture, "wb") as f:
        f.write(fixture.make_capture(made)[0].pcap())
    out = tshark(
        *["-r", capture, "-Y", f"ipoib.{rule}", "-T", "fields", "-e", "frame.number"],
        *["-e", "ipoib.rule.frame", "-e", "ipoib.rule.sender"],
        check=True,
    ).stdout
    number, frame, name = out.rstrip("\n").split("\t")
    assert (int(number), int(frame)) == (proved, at_fault)
    assert re.fullmatch(sender, name)
    report = subprocess.run([os.path.join(BIN, "ipoib-check"), capture], capture_output=True)
    assert f"sent by {name}\n" in report.stdout.decode()


def test_finding_about_this_packet_has_no_other_frame():
    assert frames_with("ipoib.rule.frame") == []


# ---- pcapng of link type 247 without the wiretap plugin: its packets cannot be saved

CANNOT_SAVE = "ipoib.cannot_save"
BUILTIN_READER = ("-X", "read_format:Wireshark/... - pcapng")


@pytest.mark.parametrize("way", [shown.ONE_PASS, shown.TWO_PASSES], ids=["one-pass", "two-passes"])
@pytest.mark.parametrize(
    "capture, expected",
    [
        ("built/built-carrier-247.pcapng", [1]),
        ("built/built-sliced-247.pcapng", [1]),
        ("built/built-carrier-erf.pcapng", []),
    ],
)
def test_first_frame_of_pcapng_247_says_that_it_cannot_be_saved(capture, expected, way):
    assert frames_with(CANNOT_SAVE, testdata(capture), way, *BUILTIN_READER) == expected


@pytest.mark.parametrize("capture", ["built/built-carrier-247.pcapng", "connected.pcap"])
def test_no_note_for_what_can_be_saved(capture):
    assert frames_with(CANNOT_SAVE, testdata(capture)) == []


def test_note_names_the_command_that_helps_and_is_no_finding():
    capture = testdata("built/built-carrier-247.pcapng")
    run = tshark("-r", capture, *BUILTIN_READER, "-q", "-z", "expert,note", check=True)
    assert re.search(r"Protocol +IPoIB +.*ipoib-capture convert IN OUT", run.stdout), run.stdout
    verdict = shown.show(capture, shown.STATISTICS, *BUILTIN_READER).statistics
    assert "IPoIB Conformance" in verdict
    assert "convert" not in verdict and "cannot" not in verdict


def test_what_the_note_says_is_true(tmp_path):
    """tshark refuses to write the packets, and writes those of the converted file."""
    capture, erf = testdata("built/built-carrier-247.pcapng"), str(tmp_path / "erf.pcapng")
    refused = tshark("-r", capture, *BUILTIN_READER, "-w", os.devnull)
    assert refused.returncode != 0, "pcapng of link type 247 can be saved: remove the note"
    assert tshark("-r", capture, "-w", os.devnull).returncode == 0
    command = [os.path.join(BIN, "ipoib-capture"), "convert", capture, erf]
    subprocess.run(command, check=True, capture_output=True)
    assert tshark("-r", erf, "-w", os.devnull).returncode == 0
    assert tshark("-r", erf, "-Y", CANNOT_SAVE, check=True).stdout == ""

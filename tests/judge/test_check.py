# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check as users and CI use it: exit statuses, files of every kind, its four formats, its
errors.

The captures are testdata's; support/check.py describes their contents."""
import collections
import configparser
import glob
import gzip
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree

import pytest

from frames import ib
from frames.build import A, B, Tape, erf_pcap, nd6
from support import capfile, wait
from support.check import (
    CHECK,
    CONNECTED,
    ENCAP,
    OK,
    QKEY,
    RESERVED,
    SERVICE_ID,
    UNJUDGED,
    VIOLATED,
)
from support.check import expect, load, run, schema_errors
from support.paths import SRC, testdata
from support.room import at_most

WHOLE = capfile.read(ENCAP)


def report(status, *args, **options):
    return json.loads(expect(status, "--format", "json", *args, **options))


def found(document, outcome, capture=None):
    """Identifier to result, for one outcome."""
    return {
        r["id"]: r
        for r in document["results"]
        if r["outcome"] == outcome and capture in (None, r["capture"])
    }


@pytest.fixture
def store(tmp_path):
    """Writes a file into the test's folder and returns its path."""

    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


def pcap(link, *frames):
    return capfile.pcap(link, capfile.records(frames))


# ---- verdicts


def test_conformant_has_status_0_and_lists_the_deviations():
    out = expect(OK, CONNECTED)
    assert "CONFORMANT" in out.splitlines()[-1]
    assert SERVICE_ID in out and "Known deviations" in out
    assert "frames 45" in out or "frame 45" in out


def test_violated_has_status_1_and_shows_rule_section_sentence_values_and_frame():
    out = expect(VIOLATED, ENCAP)
    for part in (
        RESERVED,
        "RFC 4391, section 6",
        "The Reserved field",
        "expected 0x0000, found 0x1234",
        "frame 8",
        "MUST",
    ):
        assert part in out
    assert "VIOLATED" in out.splitlines()[-1]
    assert "\033" not in out


def test_known_deviation_does_not_count():
    assert SERVICE_ID in found(report(OK, "--only", SERVICE_ID, CONNECTED), "deviation")


@pytest.mark.parametrize(
    "args",
    [["--deviations", "none", "--only", SERVICE_ID], ["--deviations=none"]],
    ids=["only-this-rule", "all-rules"],
)
def test_deviations_none_counts_everything(args):
    assert SERVICE_ID in found(report(VIOLATED, *args, CONNECTED), "fail")


def test_verdict_names_the_implementation_of_known_deviations():
    """connected: Linux's Service-IDs, and OpenSM's Q_Key."""
    out = expect(OK, CONNECTED)
    assert re.search(r"\d+ known deviations of OpenSM and Linux", out.splitlines()[-1])
    assert "      known deviation of OpenSM: the default Q_Key" in out
    reason = found(report(OK, CONNECTED), "deviation")[SERVICE_ID]["reason"]
    assert reason.startswith("known deviation of Linux: ")


def option_of_length_1(message, source):
    """A Neighbour Discovery message of B with 6 of its address's 20 bytes in an option of 8, as on
    Ethernet."""
    t, option = Tape(), bytes([1 if source else 2, 1]) + B.addr[:6]
    t.ud(B, A, nd6(B.ll, A.ll, message(option)))
    return erf_pcap(t)


LENGTH = "rfc4391.9.3.nd-option-length"


def test_ethernet_option_in_a_router_solicitation_is_a_known_deviation(store):
    path = store("rs.pcap", option_of_length_1(ib.nd_rs, True))
    known = found(report(OK, "--only", LENGTH, path), "deviation")[LENGTH]
    assert known["reason"].startswith("known deviation of user-space daemons: ")
    expect(VIOLATED, "--only", LENGTH, "--deviations", "none", path)


@pytest.mark.parametrize(
    "message, source",
    [
        pytest.param(lambda option: ib.nd_ns(A.ll, option), True, id="NS"),
        pytest.param(lambda option: ib.nd_na(B.ll, option), False, id="NA"),
    ],
)
def test_ethernet_option_in_another_message_is_a_violation(store, message, source):
    path = store("other.pcap", option_of_length_1(message, source))
    assert LENGTH in found(report(VIOLATED, "--only", LENGTH, path), "fail")


LISTS = glob.glob(os.path.join(SRC, "lib/rules/deviations/*.conf"))


@pytest.mark.parametrize("path", LISTS, ids=[os.path.basename(path) for path in LISTS])
def test_each_listed_deviation_has_a_pattern_and_an_implementation(path):
    groups = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    groups.read(path)
    assert groups.sections()
    for group in groups.sections():
        keys = set(groups[group])
        assert {"implementation", "reason", "source"} <= keys, group
        assert "actual" in keys or {"cause", "value"} <= keys, group
        pattern = "actual" if "actual" in keys else "cause"
        assert groups[group][pattern].strip("*?"), group


def test_deviations_of_a_missing_list_are_wrong_usage():
    expect(UNJUDGED, "--deviations", "nosuch", CONNECTED, err="nosuch")


def test_deviations_of_a_file(store):
    mine = store("mine.conf", b"[%s]\nreason=ours\n" % RESERVED.encode())
    document = report(OK, "--deviations", mine, ENCAP)
    assert found(document, "deviation")[RESERVED]["reason"] == "ours"


@pytest.mark.parametrize(
    "lines, what",
    [
        (b"actual=0x1\xff*\nreason=ours\n", "UTF-8"),
        (b"implementation=A\xff\nreason=ours\n", "UTF-8"),
        (b"reason=\xff\n", "UTF-8"),
        (b"reason=\n", "there is no reason"),
        (b"actual=0x1234\n", "there is no reason"),
        (b"implementation=A:B\nreason=ours\n", "colon"),
        (b"reason=ours\nexpects=0\n", "unknown key 'expects'"),
        (b"reason=ours\n[%s]\nreason=again\n" % RESERVED.encode(), "appears twice"),
        (b"reason=ours\n [%s] \nreason=again\n" % RESERVED.encode(), "appears twice"),
    ],
)
def test_list_of_deviations_with_an_error_is_refused(lines, what, store):
    """A pattern that is left out would match every value and hide violations."""
    mine = store("mine.conf", b"[%s]\n" % RESERVED.encode() + lines)
    expect(UNJUDGED, "--deviations", mine, ENCAP, err=what)


def test_list_of_deviations_may_be_a_pipe(tmp_path):
    pipe = tmp_path / "list"
    os.mkfifo(pipe)
    text = f"[{RESERVED}]\nreason=ours\n"
    writer = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
    writer.start()
    document = report(OK, "--deviations", str(pipe), ENCAP)
    assert found(document, "deviation")[RESERVED]["reason"] == "ours"


def test_groups_of_one_rule_with_different_words(store):
    name = RESERVED.encode()
    mine = store("mine.conf", b"[%s a]\nactual=no\nreason=A\n[%s b]\nreason=B\n" % (name, name))
    document = report(OK, "--deviations", mine, ENCAP)
    assert found(document, "deviation")[RESERVED]["reason"] == "B"


LONG_REASON = " ".join(f"word {n:03}" for n in range(112))[:1000]


@pytest.mark.parametrize("form", ["json", "text", "junit", "tap"])
def test_reason_of_1000_characters_is_whole(store, form):
    assert len(LONG_REASON) == 1000
    mine = store("mine.conf", f"[{RESERVED}]\nreason={LONG_REASON}\n".encode())
    text = expect(OK, "--deviations", mine, "--format", form, ENCAP)
    assert LONG_REASON in " ".join(text.split())


def test_strict_counts_should():
    args = ["--deviations", "none", "--only", QKEY, CONNECTED]
    result = found(report(OK, *args), "fail")[QKEY]
    assert result["level"] == "SHOULD" and result["violation"] is False
    result = found(report(VIOLATED, "--strict", *args), "fail")[QKEY]
    assert result["violation"] is True
    assert "--strict" in expect(OK, *args)


COOKED = 113
IPOIB_HARDWARE = 32
# packet to us, hardware address 0; IPv4 (0x0800) without InfiniBand or IPoIB header: no rule
PLAIN_IPV4 = struct.pack(">HHH8sH", 0, IPOIB_HARDWARE, 8, bytes(8), 0x0800) + bytes.fromhex(
    "4500001c00010000401100000a0000010a000002" "0007000700080000"
)


def test_capture_without_a_checked_must_has_status_2(store):
    path = store("plain.pcap", pcap(COOKED, PLAIN_IPV4))
    capture = report(UNJUDGED, path)["summary"]["captures"][0]
    assert (capture["ipoib_frames"], capture["verdict"]) == (1, "unjudged")
    assert capture["error"] == "no MUST was judged"
    last = expect(UNJUDGED, path).splitlines()[-1]
    assert ": 0 of 73 rules judged: NOT JUDGED: no MUST was judged" in last


def test_summary_counts_checked_and_applicable_rules(table_of_levels):
    """Counted from --list: MUST and SHOULD that a capture can show; "judged" are those that passed,
    failed or deviated."""
    document = report(OK, CONNECTED)
    results, counts = document["results"], document["summary"]["captures"][0]["rules"]
    checked = {r["id"] for r in results if r["outcome"] in ("pass", "fail", "deviation")}
    assert counts["applicable"] == len(table_of_levels)
    assert counts["judged"] == len(checked & table_of_levels) > 0
    words = "%d of %d rules judged, no violation" % (counts["judged"], counts["applicable"])
    assert expect(OK, CONNECTED).splitlines()[-1].startswith(f"{CONNECTED}: {words}: CONFORMANT: ")


def test_verdict_line_says_first_what_was_judged():
    """Counted in the report: built-encap has one violated MUST."""
    document = report(VIOLATED, ENCAP)
    counts = document["summary"]["captures"][0]["rules"]
    words = "%d of %d rules judged, 1 violated" % (counts["judged"], counts["applicable"])
    assert expect(VIOLATED, ENCAP).splitlines()[-1].startswith(f"{ENCAP}: {words}: VIOLATED: ")


def test_conformant_alone_means_that_no_rule_is_inconclusive():
    """The join is not in built-carrier, so rules about it are inconclusive; connected is complete."""
    plain = testdata("built/built-carrier-247.pcap")
    for path, partial in ((plain, True), (CONNECTED, False)):
        [capture] = report(OK, path)["summary"]["captures"]
        assert (capture["rules"]["inconclusive"] > 0) is partial
        assert capture["verdict"] == "conformant"
        last = expect(OK, path).splitlines()[-1]
        assert ("judged, no violation: NO VIOLATION PROVED: " in last) is partial
        assert ("CONFORMANT" in last) is not partial


def test_summary_counts_of_the_selected_rules_only():
    counts = report(OK, "--only", "rfc4755", CONNECTED)["summary"]["captures"][0]["rules"]
    listed = json.loads(expect(OK, "--list", "--only", "rfc4755", "--format", "json"))["rules"]
    assert counts["applicable"] == len(
        [r for r in listed if r["capture"] and r["level"] in ("MUST", "SHOULD")]
    )


@pytest.fixture(scope="module")
def table_of_levels():
    """The identifiers of level MUST and SHOULD that a capture can show."""
    listed = json.loads(expect(OK, "--list", "--format", "json"))["rules"]
    return {r["id"] for r in listed if r["capture"] and r["level"] in ("MUST", "SHOULD")}


@pytest.mark.parametrize(
    "selectors, status",
    [
        pytest.param(["rfc4391.6"], VIOLATED, id="with-the-violation"),
        pytest.param(["rfc4391.9"], OK, id="without"),
        pytest.param(["rfc4391.9", "rfc4391.6"], VIOLATED, id="both"),
    ],
)
def test_only_selects_by_the_beginning_of_identifiers(selectors, status):
    expect(status, *[part for s in selectors for part in ("--only", s)], ENCAP)


def test_only_selects_one_rule():
    assert set(found(report(VIOLATED, "--only", RESERVED, ENCAP), "fail")) == {RESERVED}


def test_only_leaves_out_all_other_rules():
    identifiers = [r["id"] for r in report(OK, "--only", "rfc4391.9", ENCAP)["results"]]
    assert [i for i in identifiers if not i.startswith("rfc4391.9.")] == []


WRONG_USAGE = {
    "": "no capture",
    "--only rfc4391.60 CAPTURE": "rfc4391.60",
    "--only rfc4391.2.ud-supported CAPTURE": "no capture can show",
    "--format html CAPTURE": "html",
    "--nosuch CAPTURE": "ipoib-check: unknown option",
    "--list CAPTURE": "--list",
    "--list --format tap": "--list",
    "--list --strict": "--list checks no capture",
    "--list --deviations none": "--list checks no capture",
}


@pytest.mark.parametrize("args", WRONG_USAGE, ids=lambda args: args or "no-argument")
def test_wrong_usage_has_status_2(args):
    words = [ENCAP if word == "CAPTURE" else word for word in args.split()]
    expect(UNJUDGED, *words, err=WRONG_USAGE[args])


def test_only_with_an_empty_argument_has_status_2():
    expect(UNJUDGED, "--only", "", ENCAP, err="no rule")


def test_help_names_the_options():
    assert "--deviations" in expect(OK, "--help")


def test_version():
    assert re.fullmatch(r"ipoib-check \d+\.\d+\.\d+\n", expect(OK, "--version"))


# ---- files of every kind


@pytest.mark.parametrize(
    "path, message",
    [
        ("/nonexistent", "No such file"),
        ("/", "Is a directory"),
        (os.path.join(SRC, "README.md"), "no capture file"),
        (testdata("built/built-carrier.snoop"), "snoop"),
    ],
    ids=["missing", "folder", "text", "snoop"],
)
def test_path_without_a_capture_has_status_2(path, message):
    expect(UNJUDGED, path, err=message)


@pytest.mark.parametrize(
    "data, message",
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"abc", "too short", id="three-bytes"),
        pytest.param(b"\x28\xb5\x2f\xfd" + bytes(40), "zstd", id="zstd"),
    ],
)
def test_file_that_is_no_capture_has_status_2(store, data, message):
    expect(UNJUDGED, store("content", data), err=message)


NOT_IPOIB = bytes(12) + b"\x08\x00" + bytes(46)


def test_capture_without_frames_has_status_2(store):
    document = report(UNJUDGED, store("none.pcap", pcap(capfile.ETHERNET)))
    assert document["summary"]["captures"][0]["error"] == "there is no IPoIB in it"


def test_capture_without_ipoib_has_status_2(store):
    document = report(UNJUDGED, store("ether.pcap", pcap(capfile.ETHERNET, NOT_IPOIB)))
    assert document["summary"]["captures"][0]["frames"] == 1


def test_unknown_link_type_has_status_2(store):
    assert "no IPoIB" in expect(UNJUDGED, store("unknown.pcap", pcap(9999, NOT_IPOIB)))


def test_truncated_file_is_checked_and_has_status_2(store):
    path = store("cut.pcap", load(ENCAP)[:-1])  # frame 8 is the last
    capture = report(UNJUDGED, path, err="is cut short")["summary"]["captures"][0]
    assert (capture["frames"], capture["verdict"]) == (7, "unjudged")
    assert "cut short" in capture["error"]


def test_truncated_file_with_a_violation_has_status_1(store):
    more = load(ENCAP) + struct.pack("<IIII", 1, 0, 100, 100) + bytes(50)
    document = report(VIOLATED, store("more.pcap", more), err="is cut short")
    assert document["summary"]["captures"][0]["frames"] == 8
    assert RESERVED in found(document, "fail")


@pytest.mark.parametrize("name", ["built-carrier.erf", "built-carrier-erf.pcapng"])
def test_truncated_file_of_another_format_has_status_2(store, name):
    expect(UNJUDGED, store(name, load(testdata("built/" + name))[:-1]), err="is cut short")


def test_malformed_pcap_is_checked_up_to_the_error(store):
    wrong = load(ENCAP) + struct.pack("<IIII", 1, 0, 0x7FFFFFFF, 0x7FFFFFFF)
    expect(VIOLATED, store("wrong.pcap", wrong), err="is malformed: ")


def test_malformed_pcapng_has_status_2(store):
    good = load(testdata("built/built-carrier-erf.pcapng"))
    wrong = good + struct.pack("<III", capfile.ENHANCED_PACKET, 13, 13)
    expect(UNJUDGED, store("wrong.pcapng", wrong), err="is malformed: ")


MISSING = "/nonexistent/missing"


@pytest.mark.parametrize(
    "status, paths, message",
    [
        pytest.param(OK, [CONNECTED, CONNECTED], "", id="conformant-conformant"),
        pytest.param(UNJUDGED, [CONNECTED, MISSING], "missing", id="conformant-missing"),
        pytest.param(
            VIOLATED, [MISSING, ENCAP, CONNECTED], "missing", id="missing-violated-conformant"
        ),
    ],
)
def test_worst_of_several_files_decides(status, paths, message):
    expect(status, *paths, err=message)


def test_each_of_several_files_has_its_own_verdict():
    document = report(VIOLATED, ENCAP, CONNECTED)
    assert [c["verdict"] for c in document["summary"]["captures"]] == ["violated", "conformant"]
    assert RESERVED in found(document, "fail", ENCAP)
    assert not found(document, "fail", CONNECTED)
    last = expect(VIOLATED, ENCAP, CONNECTED).splitlines()[-1]
    assert last == (
        "2 captures: 1 violated, 0 not judged, 1 conformant; not seen: 2 datagrams not judged "
        "(an EtherType that no rule looks at: neither IP nor ARP)"
    )


def test_standard_input_has_its_name_in_the_report():
    assert report(VIOLATED, "-", input=load(ENCAP))["subject"] == "standard input"


@pytest.mark.parametrize(
    "status, data, message",
    [
        pytest.param(OK, load(CONNECTED), "", id="pcap"),
        pytest.param(UNJUDGED, b"", "standard input: is empty", id="empty"),
        pytest.param(VIOLATED, gzip.compress(load(ENCAP)), "", id="gzip"),
    ],
)
def test_standard_input_is_read(status, data, message):
    expect(status, "-", input=data, err=message)


PACKED = gzip.compress(load(CONNECTED))


@pytest.mark.parametrize(
    "status, data, message",
    [
        pytest.param(VIOLATED, gzip.compress(load(ENCAP)), "", id="pcap"),
        pytest.param(
            OK, gzip.compress(load(testdata("built/built-carrier-247.pcapng"))), "", id="pcapng"
        ),
        pytest.param(UNJUDGED, PACKED[: len(PACKED) // 2], "is truncated", id="truncated"),
        pytest.param(UNJUDGED, PACKED[:-8] + bytes(8), "cannot be read", id="wrong-crc"),
    ],
)
def test_gzip_file_is_read(store, status, data, message):
    expect(status, store("capture.gz", data), err=message)


LINKTYPE_CAPTURES = [
    "-247.pcap",
    "-247-be-ns.pcap",
    "-247.pcapng",
    "-erf.pcap",
    "-erf-be-ns.pcap",
    "-erf.pcapng",
    "-242.pcap",
    "-sll.pcap",
    "-sll2.pcap",
    "-roce1.pcap",
    "-roce2.pcap",
    ".erf",
]


def test_every_link_type_of_the_table_has_a_capture():
    table = load(os.path.join(SRC, "lib", "wire", "linktypes.def")).decode()
    numbers = {int(n) for n in re.findall(r"^LINKTYPE\(\w+, (\d+),", table, re.MULTILINE)}
    assert len(numbers) >= 6
    captured = {
        load(testdata("built/built-carrier" + name))
        for name in LINKTYPE_CAPTURES
        if name.endswith(".pcap")
    }
    order = {0xD4: "<", 0x4D: "<", 0xA1: ">"}
    assert numbers == {
        struct.unpack_from(order[data[0]] + "I", data, 20)[0] & 0xFFFF for data in captured
    }


@pytest.mark.parametrize("name", LINKTYPE_CAPTURES)
def test_same_packets_in_this_link_type_have_the_same_verdict(name):
    expect(OK, testdata("built/built-carrier" + name))


# ---- pcapng


def resolution(value):
    """The options of an interface with this if_tsresol; None: without."""
    return {} if value is None else {9: bytes([value])}


@pytest.fixture(scope="module")
def connected_results():
    return report(OK, CONNECTED)["results"]


@pytest.mark.parametrize("endian", "<>", ids=["little-endian", "big-endian"])
@pytest.mark.parametrize(
    "value, ticks",
    [
        pytest.param(None, lambda ns: ns // 1000, id="default"),
        pytest.param(6, lambda ns: ns // 1000, id="10^-6"),
        pytest.param(9, lambda ns: ns, id="10^-9"),
        pytest.param(0x80 | 20, lambda ns: (ns << 20) // 10**9, id="2^-20"),
        pytest.param(0x80 | 30, lambda ns: (ns << 30) // 10**9, id="2^-30"),
    ],
)
def test_pcapng_resolution_and_byte_order_change_nothing(
    store, connected_results, endian, value, ticks
):
    capture = capfile.read(CONNECTED)
    data = capfile.section(endian)
    data += capfile.interface(capture.linktype, 0, endian, resolution(value))
    for f in capture.frames:
        data += capfile.packet(ticks(f.time), f.data, endian=endian)
    path = store("resolution.pcapng", data)
    expected = [dict(r, capture=path) for r in connected_results]
    assert report(OK, path)["results"] == expected


def test_pcapng_frames_of_all_interfaces_are_numbered_as_wireshark_does(store):
    data = capfile.section() + capfile.interface(capfile.ETHERNET, values={})
    data += capfile.interface(capfile.ERF, values={})
    data += capfile.block(4, struct.pack("<HH", 0, 0))  # names: no frame
    data += capfile.packet(0, bytes(60))  # 1
    data += capfile.block(0xBAD, struct.pack("<I", 32473))  # 2: custom
    for f in WHOLE.frames:
        data += capfile.packet(f.time // 1000, f.data, number=1)  # 3 to 10; frame 8 is now 10
        data += capfile.block(0x7777, b"unknown!")  # no frame
    result = found(report(VIOLATED, store("links.pcapng", data)), "fail")[RESERVED]
    assert result["frames"] == [10]


def is_mad(packet):
    """LRH of 8 bytes, its next header 2: BTH; 3: GRH of 40. BTH bytes 5 to 7: the QP, 0 and 1 for
    MADs."""
    bth = 8 + (40 if packet[1] & 3 == 3 else 0)
    return bool(packet[1] & 2) and int.from_bytes(packet[bth + 5 : bth + 8], "big") < 2


@pytest.mark.parametrize(
    "interface_of, mode, is_known",
    [
        pytest.param(lambda packet: 0, "each", True, id="all-on-the-first"),
        pytest.param(lambda packet: 1, "each", True, id="all-on-the-second"),
        pytest.param(lambda packet: 0 if is_mad(packet) else 1, "each", False, id="MADs-apart"),
        pytest.param(lambda packet: 0 if is_mad(packet) else 1, "auto", True, id="MADs-on-another"),
    ],
)
def test_pcapng_facts_of_one_interface_count_on_another(store, interface_of, mode, is_known):
    """The same port GUIDs at the same LIDs show that both interfaces are on one subnet."""
    rule = "rfc4391.9.1.2.qkey-from-join"
    capture = capfile.read(testdata("datagram.pcap"))
    for frame in capture.frames:
        frame.interface = interface_of(frame.data)
    path = store("split.pcapng", capfile.pcapng([capture.linktype] * 2, capture.frames))
    options = ["--interfaces", mode, "--only", rule, "--only", "rfc4391.6"]
    passed = found(report(OK, *options, path), "pass")
    assert (rule in passed and passed[rule]["count"] > 0) == is_known


# ---- formats


def test_json_head_and_summary():
    document = report(VIOLATED, ENCAP)
    assert (document["tool"], document["subject"]) == ("ipoib-check", ENCAP)
    assert document["version"]
    assert document["summary"]["verdict"] == "violated"
    assert document["summary"]["exit_status"] == 1


def test_json_result():
    document = report(VIOLATED, ENCAP)
    result = found(document, "fail")[RESERVED]
    expected = {
        "level": "MUST",
        "section": "6",
        "document": "RFC 4391",
        "expected": "0x0000",
        "actual": "0x1234",
        "frames": [8],
        "count": 1,
        "violation": True,
    }
    assert {key: result[key] for key in expected} == expected
    assert len(result["cases"]) == 1
    assert found(document, "pass")[RESERVED]["count"] == 7


def test_json_counts_agree():
    results = report(VIOLATED, ENCAP)["results"]
    for r in results:
        assert r["outcome"] in ("pass", "fail", "deviation", "inconclusive", "noted")
        assert r["count"] > 0
        cases = sum(c["count"] for c in r["cases"]) + r["further_cases"]
        assert cases == (0 if r["outcome"] == "pass" else r["count"]), r
    assert len({(r["id"], r["outcome"]) for r in results}) == len(results)


@pytest.fixture
def junit(store):
    """The root of a report; the report is valid."""

    def make(status, *args, **options):
        path = store("report.xml", expect(status, "--format", "junit", *args, **options).encode())
        assert schema_errors(path) is None
        return ElementTree.parse(path).getroot()

    return make


def test_junit_is_valid_and_its_counts_are_right(junit):
    root = junit(VIOLATED, ENCAP, CONNECTED, "/nonexistent", err="No such file")
    suites = root.findall("testsuite")
    assert [s.get("failures") for s in suites] == ["1", "0", "0"]
    assert [s.get("errors") for s in suites] == ["0", "0", "1"]
    for s in suites:
        cases = s.findall("testcase")
        assert len({c.get("name") for c in cases}) == len(cases) == int(s.get("tests"))
        elements = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        for attribute, element in elements.items():
            assert len(s.findall("testcase/" + element)) == int(s.get(attribute))
    failure = suites[0].find(f"testcase[@name='{RESERVED}']/failure")
    assert failure.get("type") == "MUST"
    assert "0x1234" in failure.get("message") and "frame 8" in failure.get("message")
    skipped = suites[1].find(f"testcase[@name='{SERVICE_ID}']/skipped")
    assert skipped.get("message").startswith("known deviation")
    assert "Known deviations" in suites[1].find("system-out").text
    assert len(suites[0].findall("testcase")) == len(suites[1].findall("testcase"))


Tap = collections.namedtuple("Tap", "tests yaml")


def parse_tap(text):
    """TAP 13, strictly: tests: description to (ok, directive); yaml: number of the test to the
    lines of its YAML."""
    lines = text.splitlines()
    assert lines[0] == "TAP version 13"
    plan = re.fullmatch(r"1\.\.(\d+)", lines[1])
    tests, yaml, inside = {}, {}, False
    for line in lines[2:]:
        m = re.fullmatch(
            r"(not )?ok (\d+) - ((?:[^#\\]|\\[#\\])+?)(?: # (SKIP) ((?:[^#\\]|\\[#\\])+))?", line
        )
        if inside:
            assert line == "  ..." or re.match(r"  (  )*(- )?[a-z_]+:( |$)", line), line
            inside = line != "  ..."
            yaml[len(tests)] += [line]
        elif line == "  ---":
            assert len(tests) not in yaml
            yaml[len(tests)], inside = [], True
        elif not line.startswith("# "):
            assert m, line
            assert int(m.group(2)) == len(tests) + 1
            name = re.sub(r"\\(.)", r"\1", m.group(3))
            assert name not in tests
            tests[name] = (not m.group(1), m.group(4))
    assert not inside and len(tests) == int(plan.group(1)), (len(tests), plan)
    return Tap(tests, yaml)


def test_tap_read_strictly():
    paths = [ENCAP, CONNECTED, "/nonexistent"]
    tap = parse_tap(expect(VIOLATED, "--format", "tap", *paths, err="No such file"))
    assert {n for n, (ok, _) in tap.tests.items() if not ok} == {
        ENCAP + ": " + RESERVED,
        "/nonexistent: could be judged",
    }
    assert tap.tests[CONNECTED + ": " + SERVICE_ID] == (True, "SKIP")
    assert tap.tests[CONNECTED + ": could be judged"] == (True, None)
    number = 1 + list(tap.tests).index(ENCAP + ": " + RESERVED)
    assert '      actual: "0x1234"' in tap.yaml[number]
    assert "      frames: [8]" in tap.yaml[number]


@pytest.mark.skipif(not shutil.which("prove"), reason="needs prove (perl)")
@pytest.mark.parametrize("capture, status", [(ENCAP, 1), (CONNECTED, 0)], ids=["bad", "good"])
def test_tap_read_by_prove(store, capture, status):
    path = store("report.tap", run("--format", "tap", capture).stdout)
    prove = subprocess.run(["prove", "--exec", "cat", path], capture_output=True, text=True)
    assert prove.returncode == status, prove.stdout + prove.stderr
    assert "Parse errors" not in prove.stdout


@pytest.fixture
def odd_names(tmp_path):
    """Copies of a capture under names with arbitrary bytes."""
    names = [
        b"# SKIP x.pcap",
        b"a\\#\\",
        b"\xff\xfe.pcap",
        b"line\nend\ttab.pcap",
        b"\x1b[31mred",
        b"<&\"']]>.pcap",
        b"\xe2\x80\xae\xef\xbf\xbf.pcap",
        b" ",
    ]
    folder = tmp_path / "names"
    folder.mkdir()
    return [shutil.copy(ENCAP, os.path.join(os.fsencode(folder), name)) for name in names]


def test_names_of_any_bytes_in_junit(junit, odd_names):
    assert len(junit(VIOLATED, *odd_names).findall("testsuite")) == len(odd_names)


def test_names_of_any_bytes_in_tap(odd_names):
    tests = parse_tap(expect(VIOLATED, "--format", "tap", *odd_names)).tests
    assert sum(not ok for ok, _ in tests.values()) == len(odd_names)


def test_names_of_any_bytes_in_json(odd_names):
    assert len(report(VIOLATED, *odd_names)["summary"]["captures"]) == len(odd_names)


def test_names_of_any_bytes_in_text(odd_names):
    out = expect(VIOLATED, *odd_names)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\uffff]", out)
    assert "\\x0aend\\x09tab" in out


def test_names_of_any_bytes_in_messages(tmp_path):
    done = run(os.path.join(os.fsencode(tmp_path), b"no\x1b[2Jthing\n"))
    assert done.returncode == UNJUDGED
    assert done.err.count("\n") == 1 and "\033" not in done.err


@pytest.fixture(
    params=[(b"a\xff.conf", "a\\xff.conf"), (b"b\x1b[31m.conf", "b\\x1b[31m.conf")],
    ids=["no-UTF-8", "escape"],
)
def odd_list(request, tmp_path):
    """The path of a list of deviations, and its name in reports."""
    name, plain = request.param
    path = os.path.join(os.fsencode(tmp_path), name)
    shutil.copy(os.path.join(SRC, "lib/rules/deviations/linux.conf"), path)
    return path, str(tmp_path / plain)


def test_list_of_deviations_of_any_name_in_json_which_merge_takes(store, odd_list):
    path, plain = odd_list
    document = report(OK, "--deviations", path, CONNECTED)
    assert document["summary"]["deviations"] == plain
    merged = report(OK, "--merge", store("deviations.json", json.dumps(document).encode()))
    assert merged["summary"]["captures"][0]["deviations"] == plain


def test_list_of_deviations_of_any_name_in_junit(junit, odd_list):
    path, plain = odd_list
    root = junit(OK, "--deviations", path, CONNECTED)
    value = root.find("testsuite/properties/property[@name='deviations']").get("value")
    assert value == plain


@pytest.mark.parametrize("form", ["text", "tap"])
def test_list_of_deviations_of_any_name_for_people(odd_list, form):
    assert "\033" not in expect(OK, "--format", form, "--deviations", odd_list[0], CONNECTED)


# ---- the list of rules


@pytest.fixture(scope="module")
def table():
    text = load(os.path.join(SRC, "lib/rules/table.def")).decode()
    return re.findall(r'^RULE\(\w+, "([^"]+)"', text, re.MULTILINE)


def test_list_has_every_rule_of_the_table_once_in_columns(table):
    assert table
    lines = expect(OK, "--list").splitlines()
    assert [line.split()[0] for line in lines] == table
    starts = {re.search(r"  (MUST|SHOULD|MAY|INFO|DRAFT) ", line).start(1) for line in lines}
    assert len(starts) == 1


def test_list_as_json(table):
    listed = json.loads(expect(OK, "--list", "--format", "json"))["rules"]
    assert [r["id"] for r in listed] == table
    assert next(r for r in listed if r["id"] == RESERVED)["level"] == "MUST"
    assert [r["id"] for r in listed if not (r["capture"] or r["probe"] or r["unseen"])] == []


def test_list_of_some_rules():
    chosen = expect(OK, "--list", "--only", "rfc4391.6").splitlines()
    assert chosen
    assert [line for line in chosen if not line.startswith("rfc4391.6.")] == []


# ---- where reports go


def test_output_replaces_the_file_also_through_a_link_and_keeps_its_mode(store, tmp_path):
    target, link = store("report.txt", b"old"), str(tmp_path / "link")
    os.chmod(target, 0o640)
    os.symlink("report.txt", link)
    assert expect(VIOLATED, "-o", link, ENCAP) == ""
    assert load(target).decode() == expect(VIOLATED, ENCAP)
    assert os.path.islink(link)
    assert os.stat(target).st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "report.txt"]


def test_output_of_a_link_that_names_no_file_creates_its_target(tmp_path):
    target, link = tmp_path / "report.txt", tmp_path / "link"
    os.symlink("report.txt", link)
    expect(VIOLATED, "-o", link, ENCAP)
    assert os.path.islink(link) and not target.is_symlink()
    assert target.read_text() == expect(VIOLATED, ENCAP)


def test_output_of_a_dash_is_standard_output():
    assert expect(VIOLATED, "-o", "-", ENCAP) == expect(VIOLATED, ENCAP)


def test_output_of_the_list(store):
    target = store("list.txt", b"old")
    expect(OK, "--list", "--output=" + target)
    assert load(target).decode() == expect(OK, "--list")


def test_output_is_written_into_a_pipe(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as cat:
        expect(VIOLATED, "-o", fifo, ENCAP)
        assert wait.communicate(cat)[0].decode() == expect(VIOLATED, ENCAP)
    assert fifo.is_fifo()


@pytest.fixture(params=["check", "list", "merge"])
def work(request, store):
    """The arguments of each run that writes a report."""
    if request.param == "merge":
        return ["--merge", store("merge-me.json", run("--format", "json", ENCAP).stdout)]
    return {"check": [ENCAP], "list": ["--list"]}[request.param]


def test_output_without_room_leaves_no_file(tmp_path, work):
    place = tmp_path / "place"
    place.mkdir()
    small = run(
        "-o",
        place / "report",
        *work,
        restore_signals=False,  # SIGXFSZ stays ignored
        preexec_fn=at_most(100, signal.SIG_IGN),
    )
    assert small.returncode == UNJUDGED and "File too large" in small.err, small.err
    assert os.listdir(place) == []


def test_output_into_a_folder_has_status_2(tmp_path, work):
    expect(UNJUDGED, "-o", tmp_path, *work, err="is a directory: name a file")


def test_output_never_overwrites_a_capture(store):
    path = store("precious.pcap", load(ENCAP))
    expect(UNJUDGED, "-o", path, path, err="is a capture")
    os.link(path, path + "2")
    expect(UNJUDGED, "-o", path + "2", path, err="is a capture")
    with open(path, "rb") as f:
        assert run("-o", path, "-", stdin=f).returncode == UNJUDGED
    assert load(path) == load(ENCAP)


def test_output_to_a_full_device_has_status_2():
    expect(UNJUDGED, "-o", "/dev/full", ENCAP, err="No space left")


def test_output_to_a_missing_folder_has_status_2(tmp_path):
    expect(UNJUDGED, "-o", tmp_path / "no/such/folder", ENCAP, err="cannot be written")


@pytest.mark.parametrize("args", [[ENCAP], ["--list"], ["--help"]], ids=["check", "list", "help"])
def test_full_standard_output_has_status_2(args):
    with open("/dev/full", "wb") as full:
        expect(UNJUDGED, *args, stdout=full, err="No space left")


def test_broken_pipe_has_status_2():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "wb") as closed:
        expect(UNJUDGED, CONNECTED, stdout=closed, err="Broken pipe")


def test_closed_standard_output_has_status_2():
    command = ["sh", "-c", 'exec "$0" "$1" >&-', CHECK, CONNECTED]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    assert done.returncode == UNJUDGED and "cannot be written" in done.stderr, done.stderr


def test_interrupted_run_has_status_130_and_no_report(tmp_path):
    target = tmp_path / "interrupted.txt"
    with subprocess.Popen(
        [CHECK, "-o", target, CONNECTED, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as p:
        try:
            p.stdin.write(load(ENCAP))
            p.stdin.flush()
            wait.sleeps_in(p, "pipe", "ipoib-check")  # for the rest of the capture
            p.send_signal(signal.SIGINT)
            wait.end_of(p)
        finally:
            p.kill()
        out, err = p.stdout.read(), p.stderr.read()
    assert (p.returncode, out) == (130, b""), err
    assert b"interrupted" in err
    assert not target.exists()


# ---- on a terminal


class Terminal:
    """ipoib-check with stdout and stderr on a terminal."""

    def __init__(self, args, env):
        self.master, slave = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        environment.update({"TERM": "xterm", **env})
        self.process = subprocess.Popen(
            [CHECK, *args], stdin=subprocess.PIPE, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        self.seen = b""

    def feed(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, seconds):
        """Takes the terminal's output within this time. False: its other end is closed, or there is
        no more output."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        try:
            part = os.read(self.master, 65536) if ready else b""
        except OSError:  # the other end is closed
            part = b""
        self.seen += part
        return bool(part)

    def end(self):
        """All output of the terminal until the program ended."""
        self.process.stdin.close()
        while self.read(60):
            pass
        assert wait.end_of(self.process) in (OK, VIOLATED, UNJUDGED), self.seen
        return self.seen


@pytest.fixture
def terminal():
    """Runs on a terminal: arguments and environment."""
    running = []

    def start(args, env=None):
        running.append(Terminal(args, env or {}))
        return running[-1]

    yield start
    for t in running:
        t.process.kill()
        t.process.wait()
        os.close(t.master)


def test_terminal_shows_colours(terminal):
    assert b"\033[1;31mVIOLATED" in terminal([ENCAP]).end()


@pytest.mark.parametrize(
    "args, env",
    [
        pytest.param([ENCAP], {"NO_COLOR": "1"}, id="NO_COLOR"),
        pytest.param([ENCAP], {"TERM": "dumb"}, id="dumb"),
        pytest.param(["--format", "json", ENCAP], {}, id="json"),
    ],
)
def test_terminal_shows_no_colours(terminal, args, env):
    shown = terminal(args, env).end()
    assert b"\033" not in shown
    assert shown


HEAD = pcap(capfile.ERF)
FRAMES = pcap(capfile.ERF, *[WHOLE.frames[0].data] * 3000)[len(HEAD) :]


def test_terminal_shows_no_progress_in_the_first_second(terminal):
    """Only a run that took less than a second counts; a busy machine may need several runs."""
    for _ in range(60):
        begin = time.monotonic()
        quick = terminal(["-"])
        quick.feed(HEAD + FRAMES)
        shown = quick.end()
        if time.monotonic() - begin < 1:
            assert b"frames\033[K" not in shown
            return
    pytest.fail("no run took less than a second")


def test_terminal_shows_progress_after_a_second_and_removes_it(terminal):
    begin, fed = time.monotonic(), 0
    slow = terminal(["-"])
    slow.feed(HEAD)

    def shows_progress():
        nonlocal fed
        slow.feed(FRAMES)
        fed += 3000
        slow.read(0.05)
        return b"frames\033[K" in slow.seen

    wait.until(shows_progress, "progress on the terminal")
    assert time.monotonic() - begin >= 1
    shown = slow.end()
    pattern = rb"\rstandard input: [1-9]\d* frames\033\[K.*\r\033\[K.*: %d frames" % fed
    assert re.search(pattern, shown, re.DOTALL), shown[:300]

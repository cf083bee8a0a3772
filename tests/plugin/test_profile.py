# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark profile (plugin/profile): Wireshark finds it, its columns show the named values,
and each of its colouring rules, buttons and macros is a filter that matches its purpose in real
traffic.

The contents of the real traffic are from testdata/README.md, which describes the frames of these
captures. The colours are readable and distinguishable, also by people with red-green colour blindness,
and in dark mode, because each rule sets both colours."""
import collections
import itertools
import os
import re

import pytest

from frames.faults import fixture  # faults fills the tables of fixture
from frames.suspected import another_sl
from support.folders import open_folder
from support.paths import SRC, testdata
from support.wireshark import found_by, matches, tshark

PROFILE = os.path.join(SRC, "plugin/profile")
WINDOW = 1400  # pixels: the width of the window that the columns fit into
CAPTURES = ["connected.pcap", "cm-reject.pcap"]
MACRO_ARGUMENTS = {  # all found in connected.pcap
    "ipoib_rule": "rfc4391.10.subscribe-traps",
    "ipoib_qpn": "0x25",
    "ipoib_gid": "fe80::11:7500:0:110",
    "ipoib_group": "255.255.255.255",
}


def lines(name):
    with open(os.path.join(PROFILE, name), encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def colours():
    """Name and filter of each colouring rule."""
    return [line.split("@", 3)[1:3] for line in lines("colorfilters")]


def rgb(text):
    """Linear RGB, 0 to 1, of a colour in the file (sRGB with 16 bits)."""
    values = [int(v) / 65535 for v in text.split(",")]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def rule_colours():
    """Name to background and text colour of each colouring rule."""
    found = {}
    for line in lines("colorfilters"):
        background, text = re.findall(r"\[([\d,]+)\]", line)[-2:]
        found[line.split("@")[1]] = rgb(background), rgb(text)
    return found


def buttons():
    """Label and filter of each button."""
    return [re.findall(r'"([^"]*)"', line)[1:3] for line in lines("dfilter_buttons")]


def macros():
    return [line.split('"')[1] for line in lines("dfilter_macros")]


IN_PROFILE = ("-C", "IPoIB")


def in_profile(*arguments):
    return tshark(*IN_PROFILE, *arguments)


@pytest.fixture(scope="module")
def captures():
    """CAPTURES, one with a violated SHOULD (the broadcast group has scope 1), and one with a suspicion."""
    made = next(
        f for f in fixture.FIXTURES
        if f.rule == "rfc4391.4.1.scope-link-local" and f.kind == fixture.FAIL
    )  # fmt: skip
    with open_folder() as folder:
        violated = folder / "advice.pcap"
        violated.write_bytes(fixture.make_capture(made)[0].pcap())
        suspected = folder / "suspected.pcap"
        suspected.write_bytes(another_sl().pcap())
        yield [*map(testdata, CAPTURES), str(violated), str(suspected)]


@pytest.fixture(scope="module")
def frames_found(captures):
    """How many frames of these captures each colouring rule and button matches; a filter that does
    not compile fails the tests."""
    filters = sorted({expression for _, expression in colours() + buttons()})
    found = collections.Counter()
    for capture in captures:
        found.update(matches(capture, filters, *IN_PROFILE))
    return found


def test_columns_show_the_rule():
    run = in_profile("-r", testdata("connected.pcap"), "-Y", "frame.number == 45")
    assert re.search(r"^ *45 .*CM REQ.* rfc4755\.3\.5\.service-id", run.stdout), (
        run.stdout + run.stderr
    )


@pytest.mark.parametrize("name, expression", [pytest.param(*c, id=c[0]) for c in colours()])
def test_colouring_rule_finds_frames(name, expression, frames_found):
    # No MUST is violated in these captures, and none has TCP or UDP.
    least = 0 if "MUST" in name or name.startswith(("TCP", "UDP")) else 1
    assert frames_found[expression] >= least, expression


def test_refusals_are_coloured_also_if_they_have_a_known_deviation():
    """cm-reject.pcap: the three REJ at the end have one. The first rule that matches colours."""
    path = testdata("cm-reject.pcap")
    frames = (36, 38, 40)
    rules = {f"frame.number == {n} && ({e})": (n, name) for n in frames for name, e in colours()}
    found = matches(path, list(rules), *IN_PROFILE)
    first = {n: name for f, (n, name) in reversed(rules.items()) if found[f]}
    assert first == dict.fromkeys(frames, "IPoIB: refused by the SA or by CM")


@pytest.mark.parametrize("name", ["sll.pcap", "sll2.pcap"])
@pytest.mark.parametrize(
    "expression",
    [dict(colours())["IPoIB: ARP and ND"], dict(buttons())["ARP/ND"]],
    ids=["colour", "button"],
)
def test_address_resolution_in_cooked_captures_is_found(name, expression):
    """The frames with Types 0x0806, and 0x86dd with ICMPv6 types 133 to 137."""
    run = in_profile("-r", testdata(name), "-Y", expression)
    found = [int(n) for n in re.findall(r"^ *(\d+) ", run.stdout, re.MULTILINE)]
    assert found == [1, 2, 3, 8, 9, 14, 15, 16, 17, 18], run.stderr


@pytest.mark.parametrize("label, expression", [pytest.param(*b, id=b[0]) for b in buttons()])
def test_button_finds_frames(label, expression, frames_found):
    assert frames_found[expression] >= (0 if label == "Violated" else 1), expression


@pytest.mark.parametrize("name", macros())
def test_macro_finds_frames(name):
    expression = "${%s:%s}" % (name, MACRO_ARGUMENTS[name])
    assert found_by(testdata("connected.pcap"), expression, *IN_PROFILE) >= 1


def test_dmacros_has_the_macros_of_dfilter_macros():
    """Wireshark 4.4 and later reads dmacros, earlier versions read dfilter_macros."""
    newer = dict(re.match(r'"(\w+)" (.*)', line).groups() for line in lines("dmacros"))
    older = dict(re.match(r'"(\w+)","(.*)"$', line).groups() for line in lines("dfilter_macros"))
    assert newer == {name: text.replace(r"\x22", '"') for name, text in older.items()}


# Columns.


def widths():
    return dict(re.findall(r'"([^"]+)", (\d+)', "\n".join(lines("recent"))))


def test_columns_fit_into_the_window():
    columns = re.findall(r'"[^"]+", "(%\w+(?::[\w.]+(?=:))?)', "\n".join(lines("preferences")))
    assert list(widths()) == columns
    assert sum(map(int, widths().values())) <= WINDOW - 55  # the map of colours and the scroll bar
    assert columns[-2:] == ["%i", "%Cus:ipoib.rule.mark"]
    assert int(widths()["%i"]) >= WINDOW / 3


CHARACTER = 7.9  # pixels: the width of a character of the packet list
ARROW = 28  # pixels: the margins of the first column, and its arrow to a related packet


def test_frame_numbers_of_six_digits_are_not_cut():
    assert int(widths()["%m"]) >= 6 * CHARACTER + ARROW


# Frames of connected.pcap, from its bytes:
# 45: local QPN 0x000005, private data 00 000003 0000fff4, Service-ID 0x1000000000000023
# 46: local QPN 0x000025, private data 00 000023 0000fff4; the MTU is 65524 - 4 (RFC 4755 5.1)
# 48: private data of zeros
# 21: MLID 0xc000, JoinState 1, MTU code 4, rate code 3, Q_Key 0x00000b1b
# 27: the solicited-node group of fe80::211:7500:0:110, MLID 0xc005
# 43: DLID 1, MTU code 5
@pytest.mark.parametrize(
    "frame, visible, rest",
    [
        (
            45,
            "CM REQ RC IPoIB, QPN 0x000005, Receive MTU 65524",
            ", UD QPN 0x000003 to 0x000023",
        ),
        (
            46,
            "CM REP, QPN 0x000025, Receive MTU 65524, IPoIB MTU 65520",
            ", UD QPN 0x000023",
        ),
        (48, "CM RTU, IPoIB MTU 65520", ""),
        (
            21,
            "Joined ff12:401b:ffff::ffff:ffff (255.255.255.255), MLID 0xc000",
            ", FullMember, MTU 2048, 10 Gb/s, Q_Key 0xb1b",
        ),
        (
            27,
            "Joined ff12:601b:ffff::1:ff00:110 (ff02::1:ff00:110)",
            ", MLID 0xc005, FullMember, MTU 2048, 10 Gb/s, Q_Key 0xb1b",
        ),
        (
            43,
            "SA GetResp PathRecord to fe80::11:7500:0:100, LID 1, MTU 4096",
            ", from fe80::11:7500:0:110",
        ),
    ],
    ids=[
        "connection-request",
        "connection-reply",
        "connection-ready",
        "broadcast-join",
        "solicited-node-join",
        "path",
    ],
)
def test_info_is_not_cut_before_its_most_important_values(frame, visible, rest):
    run = in_profile(
        *["-r", testdata("connected.pcap"), "-Y", f"frame.number == {frame}"],
        *["-T", "fields", "-e", "_ws.col.Info"],
    )
    assert run.stdout.strip() == visible + rest
    assert len(visible) * CHARACTER <= int(widths()["%i"])


# The tabs of Conversations and Endpoints.


@pytest.fixture(scope="module")
def protocols():
    """The short names of the protocols."""
    run = tshark("-G", "protocols", check=True)
    return {line.split("\t")[1] for line in run.stdout.splitlines()}


@pytest.mark.parametrize("window", ["conversation", "endpoint"])
def test_both_tabs_of_ipoib_are_shown(window, protocols):
    values = [line for line in lines("recent") if line.startswith(f"gui.{window}_tabs: ")]
    tabs = re.findall(r'"([^"]+)"', "".join(values))
    assert len(values) == 1
    assert tabs[:2] == ["IPoIB", "IPoIB GID"]
    assert set(tabs) <= protocols


# The column Mode.


@pytest.mark.parametrize("number, mode", [(17, "UD"), (47, "RC")])
def test_mode_is_two_letters(number, mode):
    run = in_profile("-r", testdata("connected.pcap"), "-Y", f"frame.number == {number}")
    assert re.search(rf" {mode} ", run.stdout), run.stdout + run.stderr


# Colours. Contrast is that of WCAG 2.1 (AA: 4.5). Distance is CIE 1976, in which 2.3 is just
# noticeable side by side. The matrices simulate complete red and green blindness (Machado and
# others 2009).

VISION = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
XYZ_OF_RGB = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE_POINT = [0.9505, 1, 1.089]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def contrast(one, other):
    """The contrast ratio of WCAG 2.1."""
    high, low = sorted((times(XYZ_OF_RGB, c)[1] for c in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def cielab(colour, vision):
    seen = [min(1, max(0, v)) for v in times(VISION[vision], colour)]
    x, y, z = (
        v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116
        for v in (a / b for a, b in zip(times(XYZ_OF_RGB, seen), WHITE_POINT))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_text_of_each_colour_is_readable():
    weak = {n: contrast(*c) for n, c in rule_colours().items() if contrast(*c) < 4.5}
    assert not weak


@pytest.mark.parametrize("vision", VISION)
def test_colours_are_distinguishable(vision):
    seen = {name: cielab(c[0], vision) for name, c in rule_colours().items()}
    seen["no rule"] = cielab([1, 1, 1], vision)
    near = {}
    for one, other in itertools.combinations(seen, 2):
        distance = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other])) ** 0.5
        if distance < 14:
            near[one, other] = distance
    assert not near


# The button Trouble: events, and requests without a response. Frames 3 and 4 of built-arp are an announcement (RFC 5227: sender and
# target address are equal) and a probe (sender address 0.0.0.0), which needs no reply. In
# qpn-change, node 2 had a new QPN: frame 136 was sent to the old one; its ARP reply in frame 159
# shows the new one. In cm-reject, frame 4 is the first REJ.


@pytest.mark.parametrize(
    "capture, due, not_due",
    [
        ("qpn-change.pcap", {136, 159}, set()),
        ("cm-reject.pcap", {4}, {3, 5}),
        ("built/built-arp.pcap", set(), {3, 4}),
    ],
)
def test_trouble_finds_events_and_requests_that_need_a_response(capture, due, not_due):
    expression = dict(buttons())["Trouble"]
    run = in_profile(
        "-2", "-r", testdata(capture), "-Y", expression, "-T", "fields", "-e", "frame.number"
    )
    found = set(map(int, run.stdout.split()))
    assert due <= found and not found & not_due, run.stderr

# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark profile (plugin/profile): Wireshark finds it, its columns show the named values,
and each of its colouring rules, buttons and macros is a filter that matches its purpose in real
traffic.

The contents of the real traffic are from testdata/README.md, which describes the frames of these
captures."""
import os
import re

import pytest

from support.paths import SRC, testdata
from support.wireshark import tshark

PROFILE = os.path.join(SRC, "plugin/profile")
# The administrator of two-scopes.pcap violated a SHOULD.
CAPTURES = ["connected.pcap", "cm-reject.pcap", "two-scopes.pcap"]
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


def buttons():
    """Label and filter of each button."""
    return [re.findall(r'"([^"]*)"', line)[1:3] for line in lines("dfilter_buttons")]


def macros():
    return [line.split('"')[1] for line in lines("dfilter_macros")]


def in_profile(*arguments):
    return tshark("-C", "IPoIB", *arguments)


def frames_found(expression, captures=tuple(CAPTURES)):
    """How many frames of these captures a filter matches; a filter that does not compile fails the
    test."""
    found = 0
    for capture in captures:
        run = in_profile("-r", testdata(capture), "-Y", expression)
        assert run.returncode == 0, f"{capture}: {expression}: {run.stderr}"
        found += len(run.stdout.splitlines())
    return found


def test_columns_show_the_rule():
    run = in_profile("-r", testdata("connected.pcap"), "-Y", "frame.number == 45")
    assert re.search(r"^ *45 .*rfc4755\.3\.5\.service-id .*CM REQ", run.stdout), (
        run.stdout + run.stderr
    )


@pytest.mark.parametrize("name, expression", [pytest.param(*c, id=c[0]) for c in colours()])
def test_colouring_rule_finds_frames(name, expression):
    # None of these captures violates a MUST, or has TCP or UDP.
    least = 0 if "MUST" in name or name.startswith(("TCP", "UDP")) else 1
    assert frames_found(expression) >= least, expression


@pytest.mark.parametrize("label, expression", [pytest.param(*b, id=b[0]) for b in buttons()])
def test_button_finds_frames(label, expression):
    assert frames_found(expression) >= (0 if label == "Violated" else 1), expression


@pytest.mark.parametrize("name", macros())
def test_macro_finds_frames(name):
    expression = "${%s:%s}" % (name, MACRO_ARGUMENTS[name])
    assert frames_found(expression, ["connected.pcap"]) >= 1, expression


def test_dmacros_has_the_macros_of_dfilter_macros():
    """Wireshark 4.4 and later reads dmacros, earlier versions read dfilter_macros."""
    newer = dict(re.match(r'"(\w+)" (.*)', line).groups() for line in lines("dmacros"))
    older = dict(re.match(r'"(\w+)","(.*)"$', line).groups() for line in lines("dfilter_macros"))
    assert newer == {name: text.replace(r"\x22", '"') for name, text in older.items()}

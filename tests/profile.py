#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Wireshark profile (plugin/profile): it is found, its columns show what they name, and each of its colouring rules,
buttons and macros is a filter that finds in real traffic what it is for. TAP on stdout.

Environment: IPOIB_SRC, IPOIB_TSHARK."""
import os
import re
import subprocess
import sys

from tap import SRC, TSHARK, finish, tap

PROFILE = os.path.join(SRC, "plugin/profile")
# Frame numbers by hand: testdata/README.md tells what these captures hold.
CONNECTED = os.path.join(SRC, "testdata/connected.pcap")
CM_REJECT = os.path.join(SRC, "testdata/cm-reject.pcap")
TWO_SCOPES = os.path.join(SRC, "testdata/two-scopes.pcap")  # its administrator broke a SHOULD


def tshark(*arguments):
    run = subprocess.run(TSHARK + ["-C", "IPoIB", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run.stdout, run.stderr, run.returncode


def lines(name):
    with open(os.path.join(PROFILE, name), encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def finds(what, expression, captures=(CONNECTED, CM_REJECT, TWO_SCOPES), least=1):
    found, errors = 0, ""
    for capture in captures:
        out, err, status = tshark("-r", capture, "-Y", expression)
        found += len(out.splitlines())
        errors += err if status else ""
    tap(not errors and found >= least, what, errors or "%u frames" % found)


def check_columns():
    out, err, _ = tshark("-r", CONNECTED, "-Y", "frame.number == 45")
    tap(re.search(r"^ *45 .*rfc4755\.3\.5\.service-id .*CM REQ", out), "the columns show the rule", out + err)


def check_colours():
    for line in lines("colorfilters"):
        _, name, expression, _ = line.split("@", 3)
        # no real capture here breaks a MUST, none of these has TCP or UDP
        finds("colour: " + name, expression, least=0 if "MUST" in name or name.startswith(("TCP", "UDP")) else 1)


def check_buttons():
    for line in lines("dfilter_buttons"):
        _, label, expression, _ = re.findall(r'"([^"]*)"', line)
        finds("button: " + label, expression, least=0 if label == "Violated" else 1)


def check_macros():
    used = {"ipoib_rule": "rfc4391.10.subscribe-traps", "ipoib_qpn": "0x25", "ipoib_gid": "fe80::11:7500:0:110",
            "ipoib_group": "255.255.255.255"}
    for line in lines("dfilter_macros"):
        name = line.split('"')[1]
        finds("macro: " + name, "${%s:%s}" % (name, used[name]), (CONNECTED,))
    newer = dict(re.match(r'"(\w+)" (.*)', line).groups() for line in lines("dmacros"))
    older = dict(re.match(r'"(\w+)","(.*)"$', line).groups() for line in lines("dfilter_macros"))
    tap(newer == {name: text.replace(r"\x22", '"') for name, text in older.items()},
        "dmacros (Wireshark 4.4 and later) has the macros of dfilter_macros", (newer, older))


check_columns()
check_colours()
check_buttons()
check_macros()
sys.exit(finish())

# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark with the plugin shows the contents of the test captures as the documents define them.

tests/frames/expect has a file for each capture (the README there describes the format), written by
hand from the documents. tshark reads each capture twice, in one pass and in two (-2)."""
import ipaddress
import os
import re
import subprocess
import sys

import pytest

from frames import ib
from frames.fixture import tape
from support import shown
from support.expectations import CAPTURES, of_capture
from support.paths import SRC, TESTDATA
from support.wireshark import tshark

BUILT = os.path.join(TESTDATA, "built")
MODES = {"one-pass": shown.ONE_PASS, "two-passes": shown.TWO_PASSES}
PASSES = {shown.ONE_PASS: 1, shown.TWO_PASSES: 2}  # as the expectations name them


# ---- comparing values -----------------------------------------------------------------------------


def forms(value):
    """The ways to read a printed value: text, number, bytes, IPv6 address; values agree if they
    share one."""
    v = value.strip().lower()
    v = {"true": "1", "false": "0"}.get(v, v)
    out = {("text", v)}
    try:
        out.add(("number", int(v, 0) if v.startswith("0x") else int(v, 10)))
    except ValueError:
        pass
    if re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2})*", v):
        out.add(("bytes", v.replace(":", "")))
    if re.fullmatch(r"([0-9a-f]{2}){4,}", v):
        out.add(("bytes", v))
    if v.count(":") >= 2:
        try:
            out.add(("ipv6", ipaddress.IPv6Address(v).packed))
        except ValueError:
            pass
    return out


def same(a, b):
    return bool(forms(a) & forms(b))


def are_same(got, wanted):
    return len(got) == len(wanted) and all(same(g, w) for g, w in zip(got, wanted))


def contains(got, wanted):
    """The values contain every wanted value, each as often as it is wanted."""
    rest = list(got)
    for w in wanted:
        hit = next((g for g in rest if same(g, w)), None)
        if hit is None:
            return False
        rest.remove(hit)
    return True


def values(text):
    return [v.strip() for v in text.split(",")]


def holds(line, got):
    """Whether the values of a frame's field (a list, empty if absent) match the line."""
    if line.op == "absent":
        return not got
    if line.op == "present":
        return bool(got)
    if line.op == "~":
        return bool(re.search(line.value, ",".join(got)))
    if line.op == "!~":
        return not re.search(line.value, ",".join(got))
    if line.op == "has":
        return contains(got, values(line.value))
    return are_same(got, values(line.value))


# ---- what tshark shows ----------------------------------------------------------------------------


def errors_of(run):
    """tshark's error messages ("" if none)."""
    noise = [
        x
        for x in run.stderr.split("\n")
        if x and "Running as user" not in x and "could be dangerous" not in x
    ]
    if run.returncode:
        return f"exit status {run.returncode}: {' '.join(noise)[:300]}"
    bad = [
        x
        for x in noise
        if re.search(r"(?i)dissector bug|assert|error|not match|sanitizer|cut short", x)
    ]
    return " ".join(bad)[:300]


def complaints(capture, lines, count, mode):
    """The differences of one capture in one mode: unexpected and missing values."""
    run = shown.run(capture, mode)
    frames, error = shown.parsed(shown.split(run.stdout)[0]), errors_of(run)
    out = [error] if error else []
    if count is not None and len(frames) != count:
        out.append(f"{len(frames)} frames, expected {count}")
    for line in lines if frames else []:
        if line.mode not in (0, PASSES[mode]):
            continue
        if line.op == "all":
            chosen = sorted(line.frames or frames)
            got = [v for n in chosen for v in shown.values(frames.get(n, {}), line.field)]
            if not are_same(got, values(line.value)):
                out.append(
                    f"{line.where}: frames together {line.field}: "
                    f"expected {line.value}, got {','.join(got) or 'nothing'}"
                )
            continue
        for number in sorted(frames if line.frames is None else line.frames):
            if number not in frames:
                out.append(f"{line.where}: no frame {number}")
                continue
            got = shown.values(frames[number], line.field)
            if not holds(line, got):
                wanted = {"absent": "nothing", "present": "a value"}.get(line.op)
                out.append(
                    f"{line.where}: frame {number} {line.field}: "
                    f"expected {wanted or line.op + ' ' + line.value}, got {','.join(got) or 'nothing'}"
                    + (" (no such field)" if line.field not in shown.fields() else "")
                )
    return out


# ---- the captures ---------------------------------------------------------------------------------

BUILT_CAPTURES = sorted(n for n in os.listdir(BUILT) if n.startswith("built-"))


def find(name):
    """The path of a capture, which may be a built one."""
    paths = [os.path.join(folder, name) for folder in (BUILT, TESTDATA)]
    return next((p for p in paths if os.path.exists(p)), None)


def test_built_captures_are_what_build_py_makes():
    build = os.path.join(SRC, "tests", "frames", "build.py")
    made = subprocess.run(
        [sys.executable, "-B", build, BUILT, "--check"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.parametrize("name", ["datagram.pcap", "connected.pcap"])
def test_crcs_of_real_frames_are_what_the_builder_makes(name):
    """These captures are of real traffic, with ICRC and VCRC."""
    good, bad = ib.crcs(find(name))
    assert good > 0 and bad == 0, f"{good} right, {bad} wrong"


def test_built_captures_exist():
    assert BUILT_CAPTURES


@pytest.mark.parametrize("name", BUILT_CAPTURES)
def test_built_capture_has_an_expectation(name):
    assert name in CAPTURES


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CAPTURES)
def test_capture_shows_what_is_expected(name, mode):
    capture = find(name)
    assert capture, f"there is no capture {name}"
    found = complaints(capture, *of_capture(name), MODES[mode])
    assert not found, "\n".join(found)


# ---- real frames with a change that no capture has ------------------------------------------------


def with_immediate(p):
    """A UD SEND with immediate data (IBA 9.2.1): not IPoIB, whatever its MGID."""
    p["opcode"] = 0x65
    p.payload[:0] = bytes(4)


def mra_of_lap(p):
    p.payload = bytearray(ib.cm_mra(p["mad.tid"], p["cm.local"], p["cm.remote"], message=2))


def rej_of_none(p):
    p.payload = bytearray(ib.cm_rej(p["mad.tid"], p["cm.local"], p["cm.remote"], 4, message=2))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "name, number, change, wanted",
    [
        ("datagram.pcap", 41, with_immediate, "MGID: ff12:401b:ffff::ffff:ffff"),
        ("connected.pcap", 48, mra_of_lap, "Refers to: LAP (2)"),
        ("connected.pcap", 48, rej_of_none, "Refers to: no message (2)"),
    ],
)
def test_tree_of_a_changed_frame_shows_the_value(open_path, name, number, change, wanted, mode):
    t = tape(name)
    change(t[number])
    path = open_path / name
    path.write_bytes(t.pcap())
    out = tshark(*MODES[mode], "-V", "-r", str(path), "-Y", f"frame.number == {number}")
    near = [line for line in out.stdout.splitlines() if wanted.split(":")[0] in line]
    assert wanted in out.stdout, near or out.stderr

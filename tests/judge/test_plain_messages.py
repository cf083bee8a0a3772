# SPDX-License-Identifier: GPL-2.0-or-later
"""Text from a user or an untrusted source never reaches a terminal unescaped: no ESC, no line end,
no invalid UTF-8.

Each program gets such names as files, options and values; each line of its output is plain text,
and shows them escaped."""
import os
import subprocess

import pytest

from support import wait
from support.paths import BIN

ESC, ESCAPED = b"a\x1b[31m\n\xff\xc2\x9bz", b"a\\x1b[31m\\x0a\\xff\\x9bz"
PROGRAMS = (
    ["ipoib-check"],
    ["ipoib-check", "--merge"],
    ["ipoib-capture"],
    ["ipoib-capture", "convert"],
    ["ipoib-probe"],
)
# Arguments that each program refuses; the name in them is shown.
REFUSED = ([ESC], [b"--" + ESC], [b"--help=" + ESC])
VALUES = {
    "ipoib-check": [b"--format", b"--deviations", b"--only", b"--output=/nowhere/"],
    "ipoib-probe": [b"--format", b"--deviations", b"--only", b"--device", b"--port", b"--pkey"]
    + [b"--source", b"--rate", b"--timeout"],
    "ipoib-capture": [b"--device", b"--write=/nowhere/", b"--multicast", b"--output"],
}


def messages(command, cwd):
    """stdout and stderr of a program that must refuse its arguments."""
    program = os.fsencode(os.path.join(BIN, command[0]))
    words = [w if isinstance(w, bytes) else w.encode() for w in command[1:]]
    p = wait.run(
        [program, *words], stdin=subprocess.DEVNULL, capture_output=True, cwd=cwd, timeout=30
    )
    assert p.returncode != 0
    return p.stdout, p.stderr


def assert_plain(text):
    assert all(c.isprintable() or c == "\n" for c in text.decode("utf-8"))


def assert_said_plainly(command, cwd):
    out, err = messages(command, cwd)
    assert_plain(out)
    assert_plain(err)
    for line in err.splitlines():
        assert line.startswith(command[0].encode() + b": ")
    return err


@pytest.mark.parametrize("refused", REFUSED, ids=("file", "option", "value-too-many"))
@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
def test_name(tmp_path, program, refused):
    err = assert_said_plainly([*program, *refused], tmp_path)
    two_names = program[-1] == "convert" and refused == [ESC]
    takes_no_value = b"takes no value" in err  # names the option, not the text
    assert ESCAPED in err or two_names or takes_no_value


def test_names_of_convert(tmp_path):
    assert ESCAPED in assert_said_plainly(["ipoib-capture", "convert", ESC, b"out.pcap"], tmp_path)


@pytest.mark.parametrize(
    "program, option", [(p, o) for p, options in VALUES.items() for o in options]
)
def test_value(tmp_path, program, option):
    words = [option + ESC, b"x"] if option.endswith(b"/") else [option, ESC, b"x"]
    assert_said_plainly([program, *words], tmp_path)


@pytest.mark.parametrize("program", ("ipoib-check", "ipoib-capture", "ipoib-probe"))
def test_letter(tmp_path, program):
    """An option of one byte that is not a letter."""
    assert b"\\x1b" in assert_said_plainly([program, b"-\x1b"], tmp_path)


@pytest.mark.parametrize("content", (b"", b"no capture", b"{"))
@pytest.mark.parametrize("args", ([], ["--merge"], ["--format", "tap"], ["--format", "junit"]))
def test_name_of_a_file_that_cannot_be_checked(tmp_path, args, content):
    """The report has its name, too."""
    with open(os.path.join(os.fsencode(tmp_path), ESC), "wb") as f:
        f.write(content)
    assert ESCAPED in assert_said_plainly(["ipoib-check", *args, ESC], tmp_path)

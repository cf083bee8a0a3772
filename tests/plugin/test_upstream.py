# SPDX-License-Identifier: GPL-2.0-or-later
"""doc/upstream.md is right: Wireshark without the plugin shows its text for each capture of
testdata/upstream.

Each fault of the page has a command, which runs exactly as printed there. It must print the text
under "Shows" in every version that the page names. In another version, or if it prints the text
under "Should show", a warning reports it, because Wireshark may have corrected the fault. The
captures are those that tests/frames/upstream.py makes; each is on the page and in
testdata/upstream/README.md. With the plugin, the command prints the right text, where the page says
that it is right."""
import collections
import functools
import os
import re
import subprocess
import sys
import warnings

import pytest

from support.paths import SRC

FOLDER = "testdata/upstream"
# One fault of the page: heading, the command, both outputs, the versions
FAULT = re.compile(
    r"### (?P<name>[^\n]*)\n\n    (?P<command>IPOIB_PLUGINS= script/tshark [^\n]*)\n\n"
    r"Shows:\n\n(?P<shows>(?:    [^\n]*\n)+)\nShould show:\n\n(?P<should>(?:    [^\n]*\n)+)\n"
    r"(?P<why>.*?)\n\nSeen in (?P<versions>[\d., and]+)\. With the plugin: (?P<plugin>right|the same|partly right)\.\n",
    re.DOTALL,
)
Fault = collections.namedtuple("Fault", "name command shows should versions plugin")


def page(name):
    with open(os.path.join(SRC, name), encoding="utf-8") as f:
        return f.read()


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def sections(text):
    """The text of each fault by its heading."""
    parts = re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0][len("### ") :]: part for part in parts}


def fault(section):
    """A fault of the page; None if the section does not have its form."""
    m = FAULT.match(section)
    return m and Fault(
        m["name"],
        m["command"],
        lines(m["shows"]),
        lines(m["should"]),
        re.findall(r"\d+\.\d+", m["versions"]),
        m["plugin"],
    )


SECTIONS = sections(page("doc/upstream.md"))
FAULTS = [f for f in map(fault, SECTIONS.values()) if f]
each_fault = pytest.mark.parametrize("each", [pytest.param(f, id=f.name) for f in FAULTS])


@functools.lru_cache(maxsize=None)
def run(command):
    """The lines that the page's command prints; those of stderr, if there are none on stdout."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=SRC,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return lines(done.stdout) or lines(done.stderr)


@pytest.fixture(scope="module")
def version():
    """The version of tshark, such as 4.0."""
    said = run("IPOIB_PLUGINS= script/tshark --version")
    found = re.search(r"\b(\d+\.\d+)\.\d+", said[0] if said else "")
    assert found, f"tshark does not say its version: {said}"
    return found[1]


def test_captures_are_those_that_upstream_py_makes():
    done = subprocess.run(
        [sys.executable, "-B", "tests/frames/upstream.py", FOLDER, "--check"],
        cwd=SRC,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def captures():
    return {n for n in os.listdir(os.path.join(SRC, FOLDER)) if n != "README.md"}


def test_every_capture_has_its_fault_on_the_page():
    shown = {m for f in FAULTS for m in re.findall(FOLDER + r"/([\w.-]+)", f.command)}
    assert shown == captures()


def test_every_capture_has_its_line_in_the_readme():
    readme = page(FOLDER + "/README.md")
    listed = set(re.findall(r"^\| ([\w.-]+\.pcap(?:ng)?) \|", readme, re.MULTILINE))
    assert listed == captures()


@pytest.mark.parametrize("heading", SECTIONS)
def test_fault_has_command_outputs_and_versions(heading):
    assert fault(SECTIONS[heading]), SECTIONS[heading]


@each_fault
def test_actual_and_expected_output_differ(each):
    assert each.shows != each.should


@each_fault
def test_wireshark_shows_what_the_page_says(each, version):
    got = run(each.command)
    if got == each.should:
        warnings.warn(f"Wireshark {version} has mended: {each.name}")
    elif got != each.shows and version not in each.versions:
        warnings.warn(f"Wireshark {version} shows something else: {each.name}")
    else:
        assert got == each.shows


@each_fault
def test_plugin_shows_what_the_page_says(each):
    """If the page does not say that the plugin is right, its statement is valid as long as
    Wireshark has the fault."""
    got = run(each.command.replace("IPOIB_PLUGINS= ", "", 1))
    is_now = {tuple(each.shows): "the same", tuple(each.should): "right"}.get(
        tuple(got), "partly right"
    )
    if each.plugin != "right" and run(each.command) != each.shows:
        return
    assert is_now == each.plugin, f"prints: {got[:5]}, should print: {each.should}"

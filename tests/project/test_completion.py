# SPDX-License-Identifier: GPL-2.0-or-later
"""The completion of bash and zsh: it has the options of the programs' tables, and completes what was
typed."""
import os
import pty
import subprocess

import pytest
from support import wait
from support.needs import needs
from support.paths import BIN, SRC

FOLDER = os.path.join(SRC, "packaging", "completion")
# What was typed, and the words that are offered. Other words may be offered too after "...".
BASH = [
    ("ipoib-check --form", ["--format"]),
    ("ipoib-check --format ", ["text", "json", "junit", "tap", "jsonl"]),
    ("ipoib-check --format = j", ["json", "junit", "jsonl"]),
    ("ipoib-check --format =", ["text", "json", "junit", "tap", "jsonl"]),
    ("ipoib-check -v --fail-on s", ["suspected"]),
    ("ipoib-check --min-judged ", []),
    ("ipoib-check --require rfc4391.2.", ["rfc4391.2.multicast-supported", "..."]),
    ("ipoib-check --deviations l", ["linux"]),
    ("ipoib-check --deviations one", ["one.pcap"]),
    ("ipoib-check one", ["one.pcap"]),
    ("ipoib-check -o a", ["a b"]),
    ("ipoib-probe ", ["fabric", "node"]),
    ("ipoib-probe --all-ports f", ["fabric"]),
    ("ipoib-probe --explain fabric.jo", ["fabric.join"]),
    ("ipoib-probe --state ", ["a b"]),
    ("ipoib-probe --device no-such", []),
    ("ipoib-capture con", ["convert"]),
    ("ipoib-capture -w one", ["one.pcap"]),
    ("ipoib-capture --only ipoib,s", ["ipoib,sa", "ipoib,smp"]),
    ("ipoib-capture --share", []),
    ("ipoib-capture convert --share", ["--share", "--share-key"]),
    ("ipoib-capture convert -f erf,pcapn", ["erf,pcapng"]),
    ("ipoib-capture convert one", ["one.pcap"]),
    ("ipoib-capture --mode m", ["multicast"]),
]
# What was typed, and the line after the Tab key.
ZSH = [
    ("ipoib-check --fail-on s", "ipoib-check --fail-on suspected "),
    ("ipoib-check --format=ju", "ipoib-check --format=junit "),
    ("ipoib-check --explain rfc4755.7.reso", "ipoib-check --explain rfc4755.7.resolution-over-ud "),
    ("ipoib-check --deviations li", "ipoib-check --deviations linux "),
    ("ipoib-check on", "ipoib-check one.pcap "),
    ("ipoib-check --min", "ipoib-check --min-judged="),
    ("ipoib-probe fab", "ipoib-probe fabric "),
    ("ipoib-probe --only fabric.jo", "ipoib-probe --only fabric.join "),
    ("ipoib-probe --state a", "ipoib-probe --state a\\ b/"),
    ("ipoib-capture con", "ipoib-capture convert "),
    ("ipoib-capture --sniffer ver", "ipoib-capture --sniffer verbs "),
    ("ipoib-capture convert --share-k", "ipoib-capture convert --share-key="),
    ("ipoib-capture convert on", "ipoib-capture convert one.pcap "),
    ("ipoib-capture --only ipoib,sm", "ipoib-capture --only ipoib,smp,"),
]
ENVIRONMENT = {"PATH": f"{BIN}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "vt100"}


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "one.pcap").touch()
    (folder / "a b").mkdir()
    return folder


def test_files_have_the_options_of_the_tables():
    subprocess.run([os.path.join(SRC, "script/completions"), "--check"], check=True)


@pytest.mark.parametrize("typed, expected", BASH, ids=[typed for typed, _ in BASH])
def test_bash(place, typed, expected):
    script = (
        f"set -u; source {FOLDER}/ipoib.bash\n"
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ipoib "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    words = typed.split(" ")
    done = wait.run(
        ["bash", "--norc", "-c", script, "bash", *words],
        cwd=place,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    offered = [line for line in done.stdout.splitlines() if line]
    if "..." in expected:
        assert set(expected) - {"..."} < set(offered)
    else:
        assert offered == expected


def test_bash_completes_each_program():
    script = f"source {FOLDER}/ipoib.bash; complete -p ipoib-check ipoib-probe ipoib-capture"
    subprocess.run(["bash", "--norc", "-c", script], stdout=subprocess.DEVNULL, check=True)


def test_zsh_reads_the_file():
    needs("zsh", "test")
    done = subprocess.run(
        ["zsh", "-f", "-n", f"{FOLDER}/_ipoib"], stderr=subprocess.PIPE, check=True
    )
    assert done.stderr == b""


def test_zsh(place, tmp_path):
    """A shell on a terminal: the Tab key, and a key that writes the line into a file."""
    needs("zsh", "test")
    lines, setup = tmp_path / "lines", tmp_path / "setup"
    setup.write_text(
        f"fpath=({FOLDER} $fpath); autoload -Uz compinit; compinit -u -d {tmp_path}/dump\n"
        f'cd {place}; write-line() {{ print -r -- "$BUFFER" >> {lines}; BUFFER=; }}\n'
        "zle -N write-line; bindkey '^X' write-line; bindkey '^I' expand-or-complete\n"
        f": > {lines}\n"
    )
    terminal, other = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-f", "-i"],
        stdin=other,
        stdout=subprocess.DEVNULL,
        stderr=other,
        env={**ENVIRONMENT, "HOME": str(tmp_path)},
        start_new_session=True,
    )
    os.close(other)
    try:
        os.write(terminal, f". {setup}\r".encode())
        wait.until(lambda: lines.exists(), "the shell is ready")
        for number, (typed, _) in enumerate(ZSH, 1):
            os.write(terminal, typed.encode() + b"\t\x18")
            wait.until(
                lambda n=number: lines.read_text().count("\n") >= n, f"completion of {typed}"
            )
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)
    assert lines.read_text().splitlines() == [line for _, line in ZSH]

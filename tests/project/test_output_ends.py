# SPDX-License-Identifier: GPL-2.0-or-later
"""How outputs end when something goes wrong: signals, files that cannot grow, outputs that are one
file. What was there before stays, or the program says what is missing.

Expected: a signal gives 128 plus its number (doc/reports.md), and the counts of the last line are
those of the file, read by tests/support/capfile.py."""
import contextlib
import os
import re
import shutil
import signal
import subprocess

import pytest
from support import capfile, paths, wait
from support.check import ENCAP
from support.needs import needs
from support.room import at_most

CHECK, CAPTURE, PROBE = (
    os.path.join(paths.BIN, name) for name in ("ipoib-check", "ipoib-capture", "ipoib-probe")
)
PROGRAMS = {"ipoib-check": CHECK, "ipoib-capture": CAPTURE, "ipoib-probe": PROBE}
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
NO_DEVICE = ("-d", "no-such-device")


@pytest.fixture(name="folder")
def fixture_folder(tmp_path, monkeypatch):
    shutil.copy(ENCAP, tmp_path / "in.pcap")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(program, *arguments, **more):
    return subprocess.run(
        [PROGRAMS[program], *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **more},
    )


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def end_by_signal(process, number, function):
    """Sends the signal while the program sleeps in this function of the kernel."""
    wait.sleeps_in(process, function, os.path.basename(process.args[0]))
    process.send_signal(number)
    status = wait.end_of(process)
    return status, process.stderr.read()


def start(program, *arguments, **more):
    return subprocess.Popen(
        [PROGRAMS[program], *arguments],
        stderr=subprocess.PIPE,
        text=True,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **more},
    )


# ---- signals


WAITING = {
    "check": ("ipoib-check", "-o", "out", "-"),
    "annotate": ("ipoib-check", "--annotate", "out", "-"),
    "merge": ("ipoib-check", "--merge", "-o", "out", "-"),
    "baseline": ("ipoib-check", "-o", "out", "--baseline", "/dev/stdin", "in.pcap"),
    "deviations": ("ipoib-check", "-o", "out", "--deviations", "/dev/stdin", "in.pcap"),
    "convert": ("ipoib-capture", "convert", "-", "out"),
    "key": ("ipoib-capture", "convert", "--share-key", "/dev/stdin", "in.pcap", "out"),
    "probe": ("ipoib-probe", "-o", "out", "--deviations", "/dev/stdin", "fabric"),
}


@SIGNALS
@pytest.mark.parametrize("reader", WAITING)
def test_first_signal_before_the_first_byte(folder, reader, number):
    (folder / "out").write_text("old")
    with start(*WAITING[reader], stdin=subprocess.PIPE) as process:
        status, err = end_by_signal(process, number, "pipe")
    assert status == 128 + number and "interrupted: " in err, err
    assert (folder / "out").read_text() == "old"


FIFO = {
    "report": ("ipoib-check", "-o", "fifo", "in.pcap"),
    "list": ("ipoib-check", "--list", "-o", "fifo"),
    "annotate": ("ipoib-check", "--annotate", "fifo", "in.pcap"),
    "merge": ("ipoib-check", "--merge", "-o", "fifo", "report.json"),
    "convert": ("ipoib-capture", "convert", "in.pcap", "fifo"),
    "probe-list": ("ipoib-probe", "--list", "-o", "fifo"),
    "probe": ("ipoib-probe", *NO_DEVICE, "-o", "fifo", "fabric"),
    "probe-capture": ("ipoib-probe", *NO_DEVICE, "-w", "fifo", "fabric"),
}


@SIGNALS
@pytest.mark.parametrize("writer", FIFO)
def test_signal_while_a_fifo_has_no_reader(folder, writer, number):
    os.mkfifo("fifo")
    run("ipoib-check", "--format", "json", "-o", "report.json", "in.pcap")
    with start(*FIFO[writer]) as process:
        status, err = end_by_signal(process, number, "wait_for_partner")
    assert status == 128 + number and "interrupted: " in err, err
    assert "Interrupted system call" not in err


@SIGNALS
def test_signal_while_the_report_is_printed(folder, number):
    """The reader of the report does not read: the annotated capture would be written after it. The
    pipe is full before the program starts, because the program shares its flag O_NONBLOCK."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write_end, b"x" * 4096)
    os.set_blocking(write_end, True)
    with start(
        "ipoib-check", "--annotate", "out", "--format", "json", ENCAP, stdout=write_end
    ) as p:
        os.close(write_end)
        status, err = end_by_signal(p, number, "pipe")
    os.close(read_end)
    assert status == 128 + number and "interrupted: " in err, err
    assert names(folder) == ["in.pcap"]


@pytest.mark.parametrize("number", ["INT", "TERM", "HUP"])
def test_signal_between_the_report_and_the_annotated_capture(folder, number):
    needs("strace", "test")
    inject = f"inject=write:signal={number}:when=1"
    command = ["strace", "-o", "calls", "-P", "/dev/null", "-e", inject, CHECK]
    with open("/dev/null", "wb") as null:
        done = subprocess.run(
            [*command, "--annotate", "out", "in.pcap"],
            stdout=null,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "OUT of --annotate is not written" in done.stderr, done
    assert done.returncode == 128 + getattr(signal, "SIG" + number)
    assert not (folder / "out").exists()


def trace(out, *options):
    command = ["strace", "-o", "calls", "-e", "trace=openat", *options, CAPTURE, "convert"]
    done = subprocess.run([*command, "in.pcap", out], stderr=subprocess.PIPE, check=False)
    with open("calls", encoding="utf-8") as f:
        return done, f.readlines()


@pytest.mark.parametrize("number", ["INT", "TERM"])
def test_signal_while_convert_opens_its_output(folder, number):
    needs("strace", "test")
    for name in ("first", "out"):
        (folder / name).write_text("old")
    _, calls = trace("first")
    opened = [n for n, call in enumerate(calls, 1) if '"first", O_WRONLY' in call]
    done, _ = trace("out", "-e", f"inject=openat:signal={number}:when={opened[0]}")
    assert done.returncode == 128 + getattr(signal, "SIG" + number), done
    assert b"interrupted: nothing is written" in done.stderr
    assert (folder / "out").read_text() == "old"


# ---- files that cannot grow


@pytest.mark.parametrize(
    "command",
    [
        ("ipoib-check", "--list", "-o", "out"),
        ("ipoib-check", "-o", "out", "in.pcap"),
        ("ipoib-check", "--annotate", "out", "in.pcap"),
        ("ipoib-probe", "--list", "-o", "out"),
    ],
)
@pytest.mark.parametrize("old", [False, True])
def test_limit_of_the_size_of_files(folder, command, old):
    if old:
        (folder / "out").write_text("old")
    before = names(folder)
    done = run(*command, preexec_fn=at_most(100))
    assert done.returncode == 2 and "File too large" in done.stderr, done
    assert names(folder) == before
    assert not old or (folder / "out").read_text() == "old"


@pytest.mark.parametrize("size", [0, 10, 200, 1000, 4096, 9000])
@pytest.mark.parametrize("name", ["out.pcap", "out.pcapng", "out.erf"])
@pytest.mark.parametrize("appended", [False, True])
def test_convert_counts_what_is_in_its_output(folder, name, size, appended):
    """OUT ends after a whole packet."""
    capture = os.path.join(paths.TESTDATA, "crossing.pcap")
    arguments, stdout = (name,), subprocess.PIPE
    if appended:
        arguments, stdout = ("--format", name[4:].replace("erf", "raw"), "-"), open(name, "ab")
    done = run(
        "ipoib-capture", "convert", capture, *arguments, preexec_fn=at_most(size), stdout=stdout
    )
    last = done.stderr.splitlines()[-1]
    packets, _, drops = map(int, re.findall(r"\d+", last))
    assert done.returncode == 1 and "File too large" in done.stderr and drops > 0, done
    length = (folder / name).stat().st_size
    assert length <= size
    found = capfile.read(name).frames if length else []
    assert len(found) == packets
    assert packets > 0 or size <= 200


# ---- an old capture of the probe


@pytest.mark.parametrize("more", [("fabric",), ("10.0.0.1",), ("-o", ".", "fabric")])
def test_capture_stays_if_the_probe_has_nothing_for_it(folder, more):
    (folder / "out").write_text("old")
    done = run("ipoib-probe", *NO_DEVICE, "-w", "out", *more)
    assert done.returncode in (2, 3), done
    says = ".: is a directory" if "." in more else "out: no packet was sent or received"
    assert says in done.stderr and (folder / "out").read_text() == "old"


# ---- two outputs that are one file


@pytest.mark.parametrize(
    "command, says",
    [
        (("ipoib-check", "--annotate", "x", "-o", "y", "in.pcap"), "x: is the report"),
        (("ipoib-check", "--annotate", "y", "-o", "x", "in.pcap"), "y: is the report"),
        (("ipoib-check", "--annotate", "/dev/stdout", "in.pcap"), "/dev/stdout: is the report"),
        (("ipoib-check", "--annotate", "/dev/fd/1", "-o", "-", "in.pcap"), "is the report"),
        (("ipoib-probe", "-o", "x", "-w", "y", "fabric"), "y: is the report's file"),
        (("ipoib-probe", "-o", "./x", "-w", "x", "fabric"), "x: is the report's file"),
        (("ipoib-probe", "-w", "/dev/stdout", "fabric"), "/dev/stdout: is the report's file"),
        (("ipoib-capture", "convert", "--share-key", "x", "in.pcap", "x"), "x: is the key file"),
        (("ipoib-capture", "convert", "--share-key", "x", "in.pcap", "y"), "y: is the key file"),
        (("ipoib-capture", "convert", "--share-key", "y", "in.pcap", "x"), "x: is the key file"),
    ],
)
def test_two_outputs_of_one_name(folder, command, says):
    """y is a link to x, which does not exist."""
    (folder / "y").symlink_to("x")
    done = run(*command)
    assert done.returncode in (1, 2) and says in done.stderr, done
    assert done.stdout == "" and names(folder) == ["in.pcap", "y"]


# ---- messages


@pytest.mark.parametrize(
    "program", [("ipoib-check", "--list", "-o"), ("ipoib-probe", "--list", "-o")]
)
@pytest.mark.parametrize(
    "name, says",
    [
        (".", "is a directory: name a file"),
        ("socket", "is a socket: name a file"),
        ("", "the name of the file is empty"),
        ("no/such", "cannot be written: No such file or directory"),
    ],
)
def test_names_that_cannot_be_an_output(folder, program, name, says):
    subprocess.run(
        ["python3", "-c", "import socket; socket.socket(socket.AF_UNIX).bind('socket')"], check=True
    )
    done = run(*program, name)
    assert done.returncode == 2 and f"{name}: {says}" in done.stderr, done

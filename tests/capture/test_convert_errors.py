# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of "ipoib-capture convert": truncated, malformed or hostile input, output that cannot be
written, wrong usage.

The messages and exit statuses are those of the manual page; support/capfile.py makes the inputs and
reads the outputs."""
import fcntl
import functools
import gzip
import lzma
import os
import random
import re
import shlex
import signal
import struct
import subprocess
import termios

import pytest

from support import capfile, wait
from support.capfile import ERF, ETHERNET, INFINIBAND
from support.convert import A, B, ENVIRONMENT, LIMIT, PROGRAM
from support.paths import BUILD
from support.convert import at, call, check_end, convert, frames, inputs, packets, pcap, pcapng

__all__ = ["inputs"]  # a fixture


def shell(script, *arguments, **how):
    """Runs the program from a shell, as "$@" of the script."""
    command = ["sh", "-c", script, "sh", PROGRAM, *map(str, arguments)]
    how = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": LIMIT, **how}
    return wait.run(command, env=ENVIRONMENT, check=False, **how)


# Input that cannot be read.


@pytest.mark.parametrize(
    "name, says",
    [
        pytest.param(
            "nothing.pcap", "nothing.pcap: cannot be opened: No such file", id="no-such-file"
        ),
        pytest.param(".", "cannot be opened: Is a directory", id="directory"),
        pytest.param("/dev/null", "is empty", id="empty-file"),
        pytest.param("text.erf", "is no capture file", id="text-file"),
        pytest.param("wlan.pcap", r"link type 105 .*cannot contain IP over InfiniBand", id="wlan"),
    ],
)
def test_input_is_refused(name, says, inputs, tmp_path):
    """No output file is made without an input."""
    convert(inputs / name, tmp_path / "out.pcap", status=1, says=says)
    assert not (tmp_path / "out.pcap").exists()


def test_compressed_pipe_that_ends_too_early(inputs, tmp_path):
    data = gzip.compress(capfile.load(inputs / "two.pcap"))[:-12]
    says = "standard input: cannot be read to its end: the compressed data is truncated"
    convert("-", tmp_path / "out.pcap", status=1, says=says, input=data)


def test_corrupt_compressed_data(inputs, tmp_path):
    """The first block has the reserved type 3 (RFC 1951 section 3.2.3)."""
    whole = gzip.compress(capfile.load(inputs / "two.pcap"))
    (tmp_path / "bad.gz").write_bytes(whole[:10] + b"\x07" + whole[11:])
    says = "bad.gz: cannot be read: the compressed data is corrupt"
    convert(tmp_path / "bad.gz", tmp_path / "out.pcap", status=1, says=says)


def test_other_compression_is_refused(inputs, tmp_path):
    inner = lzma.compress(capfile.load(inputs / "two.pcap"))
    for name, data in (("two.pcap.xz", inner), ("two.pcap.xz.gz", gzip.compress(inner))):
        (tmp_path / name).write_bytes(data)
        says = f"{name}: is compressed"
        convert(tmp_path / name, tmp_path / "out.pcap", status=1, says=says)


@pytest.mark.parametrize("name", ["two.pcap", "infiniband.erf"])
def test_compressed_data_that_end_too_early(name, inputs, tmp_path):
    data = gzip.compress(capfile.load(inputs / name))
    (tmp_path / "short.gz").write_bytes(data[: len(data) - 12])
    says = "short.gz: cannot be read to its end: the compressed data is truncated"
    convert(tmp_path / "short.gz", tmp_path / "out.pcap", status=1, says=says)


def test_compressed_input_is_not_overwritten(inputs, tmp_path):
    path = tmp_path / "two.pcap.gz"
    path.write_bytes(gzip.compress(capfile.load(inputs / "two.pcap")))
    before = path.read_bytes()
    convert(path, path, status=1, says="is the input itself")
    assert path.read_bytes() == before


def test_packets_of_other_link_types_are_left_out(inputs, tmp_path):
    """The first of the two is of link type 247."""
    out = tmp_path / "out.pcap"
    says = "mixed.pcapng: 1 packet left out: of link type 1, which cannot be written as 197"
    for options in ([], ["-f", "erf,pcapng"]):
        errors = convert(*options, inputs / "mixed.pcapng", out, status=1, says=says)
        assert errors.endswith("1 packets, 52 octets, 1 drops\n")
        assert [f[3] for f in frames(out)] == [A.hex()]


@pytest.mark.parametrize("links", [(INFINIBAND, ETHERNET), (ETHERNET, INFINIBAND)])
def test_each_interface_of_pcapng_keeps_a_link_type_of_its_own(links, tmp_path):
    """Whichever is the first"""
    (tmp_path / "in.pcapng").write_bytes(pcapng([(at(5), A, 52), (at(6), B, 52)], links))
    convert(tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    written = {INFINIBAND: ERF, ETHERNET: ETHERNET}
    assert [p[0] for p in packets(tmp_path / "out.pcapng")] == [written[l] for l in links]
    assert [f[3] for f in frames(tmp_path / "out.pcapng")] == [A.hex(), B.hex()]


@pytest.mark.parametrize("share", [[], ["--share"]])
def test_interfaces_that_become_one_are_told(share, tmp_path):
    """Classic pcap has no interfaces, by which the rules distinguish subnets."""
    records = [(at(5), A, 52), (at(6), B, 52)]
    says = "several interfaces are now those of one.*ends with .pcapng to keep the interfaces"
    (tmp_path / "two.pcapng").write_bytes(pcapng(records, links=(INFINIBAND, INFINIBAND)))
    (tmp_path / "one.pcapng").write_bytes(pcapng(records))
    convert(*share, tmp_path / "two.pcapng", tmp_path / "out.pcap", says=says)
    for name, out in (("two", "out.pcapng"), ("one", "out.pcap")):
        errors = convert(*share, tmp_path / f"{name}.pcapng", tmp_path / out)
        assert "several interfaces" not in errors


def test_frames_without_infiniband_headers_are_not_written_as_erf(inputs, tmp_path):
    says = "ipoib242.pcap: 1 packet left out: of link type 242, which cannot be written as 197"
    convert("-f", "erf", inputs / "ipoib242.pcap", tmp_path / "out.pcap", status=1, says=says)


@pytest.mark.parametrize(
    "name, length",
    [
        pytest.param("two.pcap", 130, id="pcap"),
        pytest.param("infiniband.erf", 130, id="raw"),
        pytest.param("infiniband.erf", 76, id="raw-header"),
    ],
)
def test_the_packets_before_a_truncation_are_written(name, length, inputs, tmp_path):
    (tmp_path / "short").write_bytes(capfile.load(inputs / name)[:length])
    says = "short: .*(truncated|cut short)"
    errors = convert(tmp_path / "short", tmp_path / "out.pcap", status=1, says=says)
    assert ": 1 packets, 52 octets" in errors
    assert [data for _, _, _, data in frames(tmp_path / "out.pcap")] == [A.hex()]


def test_malformed_raw_erf(inputs, tmp_path):
    malformed = tmp_path / "malformed.erf"
    malformed.write_bytes(capfile.load(inputs / "infiniband.erf")[:68] + bytes(60))
    says = "no ERF record at offset 68"
    assert ": 1 packets" in convert(malformed, tmp_path / "out.pcap", status=1, says=says)


# Output that cannot be written.


def test_output_that_cannot_be_created(inputs):
    says = "cannot be written: "
    convert(inputs / "two.pcap", "/nonexistent/out.pcap", status=1, says=says)


@pytest.mark.parametrize("name", ["erf", "pcapng", "raw"])
def test_disk_is_full(name, inputs):
    says = "/dev/full: cannot be written.*No space"
    convert("-f", name, inputs / "two.pcap", "/dev/full", status=1, says=says)


def test_disk_that_becomes_full_is_an_error(inputs):
    says = "/dev/full: cannot be written.*No space"
    convert(inputs / "times.pcap", "/dev/full", status=1, says=says)


def test_stdout_is_full(inputs):
    says = "standard output: cannot be written.*No space"
    with open("/dev/full", "wb") as full:
        convert(inputs / "two.pcap", "-", status=1, says=says, stdout=full)


def test_stdout_is_closed(inputs):
    result = shell('exec "$@" >&-', "convert", inputs / "two.pcap", "-")
    says = "standard output: cannot be written"
    check_end(result.returncode, result.stderr.decode(), status=1, says=says)


def test_help_to_a_full_disk_fails():
    with open("/dev/full", "wb") as full:
        result = call("--help", stdout=full)
    assert result.returncode == 1, result.stderr


def test_output_does_not_take_the_place_of_a_closed_stderr(inputs, tmp_path):
    """A file that is opened while stderr is closed becomes file 2, and would get the messages."""
    with open(inputs / "two.pcap", "rb") as f:
        result = shell('exec "$@" 2>&-', "convert", "-", tmp_path / "out.pcap", stdin=f)
    assert result.returncode == 0
    assert frames(tmp_path / "out.pcap") == frames(inputs / "two.pcap")


def converting_much(folder):
    """The program, whose output is a pipe that does not hold all of it."""
    (folder / "large.pcap").write_bytes(
        pcap([(10**9 + n, A * 20, 1040) for n in range(20000)], snaplen=262144)
    )
    return subprocess.Popen(
        [PROGRAM, "convert", folder / "large.pcap", "-"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def test_reader_of_the_output_ends(tmp_path):
    process = converting_much(tmp_path)
    assert len(process.stdout.read(100)) == 100
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert wait.end_of(process, LIMIT) == 1, errors
    assert b"Broken pipe" in errors


# A signal: the output has the packets so far, and the program says so.


def unread(pipe):
    """Number of bytes in the pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def interrupt(process, number, function):
    """Sends a signal while the program sleeps in this function of the kernel; its messages."""
    wait.sleeps_in(process, function, "ipoib-capture")
    process.send_signal(number)
    errors = process.stderr.read().decode()
    process.stderr.close()
    return check_end(
        wait.end_of(process, LIMIT), errors, 1, "interrupted: .*has the packets converted so far"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["out.pcap", "out.pcapng", "out.erf"])
def test_signal_while_the_input_is_awaited(number, name, inputs, tmp_path):
    three = pcap([(at(n), A, 52) for n in range(3)])
    process = subprocess.Popen(
        [PROGRAM, "convert", "-", tmp_path / name],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    process.stdin.write(three[:-10])  # the third packet is incomplete
    process.stdin.flush()
    wait.until(lambda: unread(process.stdin) == 0, "the input is read")
    errors = interrupt(process, number, "pipe_read")
    process.stdin.close()
    assert "Interrupted system call" not in errors
    assert "2 packets" in errors
    assert len(frames(tmp_path / name)) == 2


def test_signal_while_the_output_is_not_read(tmp_path):
    process = converting_much(tmp_path)
    interrupt(process, signal.SIGINT, "pipe_write")
    process.stdout.close()


# The output is the input itself: under each name the file stays unchanged.


@pytest.fixture
def same(inputs, tmp_path):
    """A file, a hard link and a symbolic link to it."""
    path = tmp_path / "same.pcap"
    path.write_bytes(capfile.load(inputs / "two.pcap"))
    os.link(path, tmp_path / "hard.pcap")
    os.symlink("same.pcap", tmp_path / "soft.pcap")
    return path


@pytest.mark.parametrize("output", ["same.pcap", "./same.pcap", "hard.pcap", "soft.pcap"])
def test_the_input_is_not_overwritten(output, same, inputs):
    convert("same.pcap", output, status=1, says="is the input itself", cwd=same.parent)
    assert capfile.load(same) == capfile.load(inputs / "two.pcap")


def test_the_input_on_stdin_is_not_overwritten(same, inputs):
    with open(same, "rb") as f:
        convert("-", same, status=1, says="is the input itself", stdin=f)
    assert capfile.load(same) == capfile.load(inputs / "two.pcap")


def test_nothing_is_appended_to_the_input(same, inputs):
    with open(same, "ab") as f:
        convert(same, "-", status=1, says="is the input itself", stdout=f)
    assert capfile.load(same) == capfile.load(inputs / "two.pcap")


# Usage.


@pytest.mark.parametrize(
    "arguments, says",
    [
        pytest.param("", "needs two file names", id="no-names"),
        pytest.param("two.pcap", "needs two file names", id="one-name"),
        pytest.param("a b c", "needs two file names", id="three-names"),
        pytest.param("--nonsense a b", "unknown option --nonsense", id="unknown-option"),
        pytest.param("--format nonsense a b", "format nonsense is unknown", id="unknown-format"),
        pytest.param("--format erf,247 a b", "contradicts itself", id="format-contradiction"),
        pytest.param("a b --format", "needs a value", id="format-without-value"),
        pytest.param("--format 247 two.pcap out.erf", "raw ERF file cannot have", id="247-raw"),
    ],
)
def test_usage_error(arguments, says, inputs):
    convert(*shlex.split(arguments), status=2, says=says, cwd=inputs)


@pytest.mark.parametrize(
    "arguments, status, says",
    [
        pytest.param("--help", 0, "Usage: ipoib-capture .OPTION", id="help"),
        pytest.param("-h", 0, "Usage: ipoib-capture .OPTION", id="help-short"),
        pytest.param("convert --help", 0, "IN OUT", id="convert-help"),
        pytest.param("-v", 0, "^ipoib-capture [0-9]", id="version"),
        pytest.param("confert", 2, "unknown argument confert", id="unknown-subcommand"),
    ],
)
def test_help_and_version(arguments, status, says):
    result = call(*shlex.split(arguments), stderr=subprocess.STDOUT)
    output = result.stdout.decode()
    assert result.returncode == status, output
    assert re.search(says, output, re.MULTILINE), f"expected {says!r} in: {output}"


# Hostile input: no signal kills the program, and it loses no packet before the truncation.

# Where the file's header and each of its packets end.
ENDS = {
    "two.pcap": (24, 92, 160),
    "ng-le.pcapng": None,
    "other.erf": None,
    "infiniband.erf": (0, 68, 144, 228, 300),
}
each_hostile = pytest.mark.parametrize("name", ENDS)


def stream(data, name):
    """Exit status and stderr of a conversion from pipe to pipe."""
    result = call("convert", "--format", name, "-", "-", input=data, timeout=20)
    return result.returncode, result.stderr.decode(errors="replace")


def complaint_about_prefix(name, length, status, errors):
    """The error in the program's handling of the first bytes of a file, or nothing."""
    ends = ENDS[name]
    last = errors.strip().splitlines()[-1] if errors.strip() else ""
    if status not in (0, 1) or not re.search(r"\d+ packets, \d+ octets, \d+ drops$", last):
        return "expected exit status 0 or 1, and a summary"
    if ends:
        whole = max(0, sum(end <= length for end in ends) - 1)
        if f" {whole} packets" not in errors:
            return f"expected {whole} packets"
        if (status == 0) != (length > 0 and length in ends):
            return "expected status 0 exactly where a packet ends"
    return ""


def is_sanitized():
    return b"__asan_init" in capfile.load(PROGRAM)


def complaints_in_one_process(cases, folder):
    """The cases as inputs of fuzz/fuzz_convert.c, which converts each to every format: a program with
    AddressSanitizer takes longer to start and end than for a thousand conversions. The statuses and
    messages of the program itself are those of the ordinary build."""
    for number, (_, data, _) in enumerate(cases):
        (folder / str(number)).write_bytes(data)
    harness = os.path.join(BUILD, "tests", "replay_fuzz_convert")
    done = wait.run([harness, folder], env=ENVIRONMENT, capture_output=True)
    is_good = done.returncode == 0 and f"- {len(cases)} inputs".encode() in done.stdout
    return [] if is_good else [done.stderr[-4000:].decode(errors="replace")]


def complaints_about(cases, complaint, folder):
    """cases: (name, input, output format). complaint(name, status, errors): what is wrong, if
    anything is."""
    if is_sanitized():
        return complaints_in_one_process(cases, folder)
    complaints = []
    for name, data, output in cases:
        status, errors = stream(data, output)
        wrong = complaint(name, status, errors)
        if wrong:
            complaints.append(f"{name}: {wrong}; exit status {status}: {errors[-200:]}")
    return complaints


@each_hostile
def test_every_prefix_of_an_input_is_handled(name, inputs, tmp_path):
    whole = capfile.load(inputs / name)
    cases = [(n, whole[:n], "erf,pcapng" if n % 2 else "erf,raw") for n in range(len(whole))]
    assert cases
    complaint = functools.partial(complaint_about_prefix, name)
    assert not complaints_about(cases, complaint, tmp_path)


def changed(whole, rng):
    """The input with up to eight other bytes."""
    data = bytearray(whole)
    for _ in range(rng.randint(1, 8)):
        value = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        data[rng.randrange(len(data))] = value
    return bytes(data)


def complaint_about_change(_, status, errors):
    if status in (0, 1) and re.search(r" drops$", errors.strip()):
        return ""
    return "expected exit status 0 or 1, and a summary"


@each_hostile
def test_randomly_changed_input_is_handled(name, inputs, tmp_path):
    whole, rng = capfile.load(inputs / name), random.Random(f"4391 {name}")
    outputs = ("247", "247,pcapng", "erf", "raw")
    cases = [(f"change {n}", changed(whole, rng), rng.choice(outputs)) for n in range(120)]
    assert not complaints_about(cases, complaint_about_change, tmp_path)


def test_memory_does_not_grow_with_the_input(inputs):
    """400 MB pass through 48 MB of address space."""
    if is_sanitized():
        pytest.skip("a sanitizer reserves more address space than the limit")
    packet = capfile.pcap(capfile.INFINIBAND, [(10**9, bytes(4096), 4096)])[24:]
    with subprocess.Popen(
        ["sh", "-c", 'ulimit -v 49152; exec "$@"', "sh", PROGRAM, "convert", "-", "/dev/null"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        bufsize=0,
    ) as process:
        try:
            process.stdin.write(capfile.load(inputs / "none.pcap"))
            for _ in range(100):
                _write_all(process.stdin, packet * 1000)
            process.stdin.close()
        except BrokenPipeError:
            pass  # the messages say why
        errors = process.stderr.read().decode()
    assert process.returncode == 0, errors
    assert ": 100000 packets, 409600000 octets" in errors


def _write_all(pipe, data):
    data = memoryview(data)
    while data:
        data = data[pipe.write(data) :]

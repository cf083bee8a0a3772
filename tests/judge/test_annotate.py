# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-check --annotate writes findings as packet comments, which a Wireshark without the plugin
shows."""
import glob
import json
import os
import resource
import struct
import subprocess

import pytest

from frames.fabric import A, B, Tape
from support import capfile
from support.check import CONNECTED, ENCAP, OK, RESERVED, UNJUDGED, VIOLATED, expect, run
from support.paths import SRC, TESTDATA, testdata

# tshark without this build's plugins and without installed plugins of this project
PLAIN = [os.path.join(SRC, "script/with-plugins"), "tshark"]
CAPTURES = sorted(
    path
    for pattern in ("*.pcap", "*.pcapng", "*.erf")
    for path in glob.glob(os.path.join(TESTDATA, "**", pattern), recursive=True)
)
SHOWN = ("fail", "deviation", "noted")


def tshark(path, *fields):
    """The fields of each frame, as tshark without the plugin shows them."""
    names = [option for field in fields for option in ("-e", field)]
    command = [*PLAIN, "-r", str(path), "-T", "fields", *names]
    environment = {**os.environ, "IPOIB_PLUGINS": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def annotate(path, out, *args):
    done = run("--format", "json", "--annotate", str(out), *args, str(path))
    return json.loads(done.stdout), done


def infiniband(capture):
    """The frames of a capture without ERF headers. No capture of testdata has ERF extension
    headers."""
    erf = [i.linktype == capfile.ERF for i in capture.interfaces]
    return [f.data[16:] if erf[f.interface] else f.data for f in capture.frames]


@pytest.mark.parametrize("name", ["connected.pcap", "built/built-encap.pcap"])
def test_findings_are_frame_comments(name, tmp_path):
    report, done = annotate(testdata(name), tmp_path / "out.pcapng")
    assert done.returncode == report["summary"]["exit_status"] and not done.err
    wanted = {}
    for r in report["results"]:
        for case in r["cases"] if r["outcome"] in SHOWN else []:
            for frame in [case["proved_frame"]] if "proved_frame" in case else case["frames"]:
                wanted.setdefault(frame, set()).add(r["id"])
    shown = tshark(tmp_path / "out.pcapng", "frame.number", "frame.comment")
    for number, comment in shown:
        missing = [i for i in wanted.get(int(number), ()) if i not in comment]
        assert not missing, (number, comment)
    assert {int(n) for n, comment in shown if comment} >= set(wanted)


def test_comment_has_the_text_of_the_report(tmp_path):
    annotate(ENCAP, tmp_path / "out.pcapng", "--only", RESERVED)
    comments = {
        int(n): c for n, c in tshark(tmp_path / "out.pcapng", "frame.number", "frame.comment")
    }
    assert comments.pop(8) == (
        "MUST violated: rfc4391.6.reserved-zero (RFC 4391, section 6): expected 0x0000, found 0x1234; "
        f"sent by IP {A.ip}, GID {A.gid}, LID {A.lid}; see: ipoib-check --explain rfc4391.6.reserved-zero"
    )
    assert set(comments.values()) == {""}


def test_verdict_is_the_section_comment(tmp_path):
    out = tmp_path / "out.pcapng"
    text = expect(VIOLATED, "--annotate", str(out), ENCAP)
    _, body, endian = next(capfile.blocks(capfile.load(out)))
    comment = capfile.parse_options(body[16:], endian)[1].decode()
    assert comment.endswith(text.splitlines()[-1]) and comment.startswith("ipoib-check ")


@pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)
def test_frames_times_and_interfaces_are_unchanged(path, tmp_path):
    out = tmp_path / "out.pcapng"
    annotate(path, out)
    before, after = capfile.read(path), capfile.read(out)
    for frame in before.frames:  # libpcap leaves out bytes beyond the snaplen of the file
        frame.data = frame.data[: before.interfaces[0].snaplen or None]
    assert infiniband(after) == infiniband(before)
    assert [f.interface for f in after.frames] == [f.interface for f in before.frames]
    links = [
        capfile.ERF if i.linktype == capfile.INFINIBAND else i.linktype for i in before.interfaces
    ]
    assert [i.linktype for i in after.interfaces] == links
    own = before.format == "pcap" and before.linktype == capfile.ERF  # the record's time is shown
    times = [capfile.erf_time(f.data) if own else f.time for f in before.frames]
    assert max(abs(f.time - t) for f, t in zip(after.frames, times)) <= 1


@pytest.mark.parametrize("name", ["built/built-carrier-erf.pcap", "built/built-carrier-erf.pcapng"])
def test_wireshark_shows_unchanged_times(name, tmp_path):
    annotate(testdata(name), tmp_path / "out.pcapng")
    fields = ("frame.time_epoch", "frame.len")
    assert tshark(tmp_path / "out.pcapng", *fields) == tshark(testdata(name), *fields)


def test_annotated_file_gives_the_same_report(tmp_path):
    before, _ = annotate(CONNECTED, tmp_path / "out.pcapng")
    after = json.loads(run("--format", "json", str(tmp_path / "out.pcapng")).stdout)
    for report in (before, after):
        for result in report["results"]:
            result.pop("capture")
    assert after["results"] == before["results"]


def test_interface_names_are_copied(tmp_path):
    t = Tape()
    for _ in range(2):
        t.ud(A, B, b"\x08\x06\0\0" + bytes(56))
    data = capfile.section()
    for name in (b"mlx5_0", b"mlx5_1"):
        data += capfile.interface(
            capfile.INFINIBAND, 65535, values={2: name, 3: b"port 1", 9: b"\6"}
        )
    for number, (time, octets, _) in enumerate(t.records):
        data += capfile.packet(time // 1000, octets, number=number)
    (tmp_path / "in.pcapng").write_bytes(data)
    annotate(tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    after = capfile.read(tmp_path / "out.pcapng")
    assert [(i.options[2], i.options[3]) for i in after.interfaces] == [
        (b"mlx5_0", b"port 1"),
        (b"mlx5_1", b"port 1"),
    ]
    assert [f.interface for f in after.frames] == [0, 1]
    assert [f.time // 1000 for f in after.frames] == [r[0] // 1000 for r in t.records]


@pytest.mark.parametrize("endian", "<>")
def test_packet_comments_and_drop_counts_are_copied(endian, tmp_path):
    t = Tape()
    for _ in range(2):
        t.ud(A, B, b"\x08\x06\0\0" + bytes(56))
    time, octets, _ = t.records[0]
    options = {1: "seen in the lab: größer".encode(), 4: struct.pack(endian + "Q", 7)}
    data = capfile.section(endian) + capfile.interface(capfile.INFINIBAND, endian=endian)
    data += capfile.packet(time, octets, endian=endian, values=options)
    data += capfile.packet(time, octets, endian=endian)
    (tmp_path / "in.pcapng").write_bytes(data)
    annotate(tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    first, second = capfile.read(tmp_path / "out.pcapng").frames
    assert struct.unpack("<Q", first.options[4])[0] == 7
    assert 4 not in second.options
    assert (tmp_path / "out.pcapng").read_bytes().count(options[1]) == 1
    assert tshark(tmp_path / "out.pcapng", "frame.comment")[0][0].startswith(options[1].decode())


def test_standard_output(tmp_path):
    done = run("--annotate", "-", "-o", str(tmp_path / "report"), ENCAP)
    assert done.returncode == VIOLATED and len(capfile.parse(done.stdout).frames) == 8
    expect(UNJUDGED, "--annotate", "-", ENCAP, err="-o")


@pytest.mark.parametrize(
    "args, err",
    [
        ([ENCAP, CONNECTED], "--annotate takes one capture"),
        (["--merge", ENCAP], "--merge checks no capture"),
    ],
)
def test_wrong_usage(args, err, tmp_path):
    expect(UNJUDGED, "--annotate", str(tmp_path / "out.pcapng"), *args, err=err)
    assert not (tmp_path / "out.pcapng").exists()


def test_output_over_the_input_is_refused(tmp_path):
    path = tmp_path / "a.pcap"
    path.write_bytes(capfile.load(ENCAP))
    expect(UNJUDGED, "--annotate", str(path), str(path), err="is the capture to be checked")
    assert path.read_bytes() == capfile.load(ENCAP)


def test_report_and_annotated_capture_in_one_file_are_refused(tmp_path):
    """Also if the file does not exist yet, by another path to its folder."""
    out = tmp_path / "out"
    other = str(tmp_path / ".." / tmp_path.name / "out")
    expect(UNJUDGED, "--annotate", str(out), "-o", other, ENCAP, err="is the report")
    assert not out.exists()
    expect(UNJUDGED, "--annotate", "-", "-o", "-", ENCAP, err="write the report to a file")


@pytest.mark.parametrize("content", [None, b"", b"no capture"])
def test_output_is_not_written_without_a_capture(content, tmp_path):
    """OUT and CAPTURE may be in the wrong order: then OUT is the user's only capture."""
    capture, out = tmp_path / "capture.pcap", tmp_path / "out.pcapng"
    capture.write_bytes(capfile.load(ENCAP))
    if content is not None:
        out.write_bytes(content)
    assert run("--annotate", str(capture), str(out)).returncode == UNJUDGED
    assert capture.read_bytes() == capfile.load(ENCAP)


def test_reason_of_1000_characters_is_whole(tmp_path):
    reason = " ".join(f"word {n:03}" for n in range(112))[:1000]
    (tmp_path / "mine.conf").write_text(f"[{RESERVED}]\nreason={reason}\n", encoding="utf-8")
    out = tmp_path / "out.pcapng"
    expect(OK, "--deviations", str(tmp_path / "mine.conf"), "--annotate", str(out), ENCAP)
    comments = [c for _, c in tshark(out, "frame.number", "frame.comment") if c]
    assert any(f"; {reason}; see: ipoib-check --explain {RESERVED}" in c for c in comments)


def test_full_disk_is_an_error():
    expect(UNJUDGED, "--annotate", "/dev/full", CONNECTED, err="/dev/full: ")


def no_space_in_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_full_temporary_folder_is_an_error():
    """The capture is short, so that the temporary file is written only at the end."""
    expect(
        UNJUDGED,
        "--annotate",
        "/dev/null",
        ENCAP,
        err="--annotate: cannot write a temporary file in /tmp: File too large",
        preexec_fn=no_space_in_files,
    )


def test_truncated_file_is_annotated_up_to_the_truncation(tmp_path):
    path = tmp_path / "cut.pcap"
    path.write_bytes(capfile.load(CONNECTED)[:-10])
    done = run("--annotate", str(tmp_path / "out.pcapng"), str(path))
    assert done.returncode == UNJUDGED
    whole = len(capfile.read(CONNECTED).frames)
    assert len(capfile.read(tmp_path / "out.pcapng").frames) == whole - 1

# SPDX-License-Identifier: GPL-2.0-or-later
"""The wiretap plugin: pcap files of link type 247 open as InfiniBand, in every form of the format;
malformed ones cause an error, not a crash; all other files open as without the plugin; packets are
saved as ERF, in the default format of each program, and a Wireshark without the plugin opens them.

support/capfile.py, which shares no code with the plugin, makes the files and gives the expected
values. Programs run with only our wiretap plugin: the dissector is not tested here. sharkd reads a
frame by random access, as two passes of tshark do; editcap reads in sequence."""
import collections
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

from support import capfile, wait
from support.capfile import ERF, ETHERNET, INFINIBAND
from support.folders import open_folder
from support.needs import needs
from support.paths import BUILD, TESTDATA, WITH_PLUGINS

LIMIT = 60  # seconds for one program
UNASSIGNED = 246  # a link type
PLUGINS = os.environ.get("IPOIB_PLUGINS") or os.path.join(BUILD, "plugins")
CAPTURES = {path: capfile.read(path) for path in sorted(glob.glob(f"{TESTDATA}/*.pcap"))}
OURS = {os.path.basename(p)[:-5]: p for p, c in CAPTURES.items() if c.linktype == INFINIBAND}
OTHERS = {os.path.basename(p): p for p, c in CAPTURES.items() if c.linktype != INFINIBAND}
LARGEST = max(OURS.values(), key=os.path.getsize)


# The files.


def acknowledge(psn):
    """An RC Acknowledge: LRH (IBA 7.7), BTH (9.2), AETH (9.5), then room for ICRC and VCRC; 30
    bytes."""
    lrh = struct.pack(">BBHHH", 0x00, 0x02, 2, 7, 1)
    bth = struct.pack(">BBHII", 0x11, 0x00, 0xFFFF, 7, psn)
    return lrh + bth + struct.pack(">I", 0x1F000000) + bytes(6)


def acknowledges(unit=1):
    """Five packets a second apart; unit: nanoseconds in a unit of their time stamps."""
    return [
        ((1700000000 + n) * 10**9 + (123456 + n) * unit, acknowledge(n), 30) for n in range(5)
    ]


def pcap(records, linktype=INFINIBAND, nanoseconds=True, **how):
    return capfile.pcap(linktype, records, nanoseconds, **{"snaplen": 65535, **how})


def with_number(data, offset, number):
    """The file with another little-endian 32-bit number at an offset. 24 is the first record's: its
    header has the seconds, the fraction, the captured length and the length on the wire."""
    return data[:offset] + struct.pack("<I", number) + data[offset + 4 :]


def forms():
    """Both byte orders, microseconds and nanoseconds."""
    files = {}
    for endian, name in (("<", "little"), (">", "big")):
        files[f"{name}-usec.pcap"] = pcap(acknowledges(1000), endian=endian, nanoseconds=False)
        files[f"{name}-nsec.pcap"] = pcap(acknowledges(), endian=endian)
    return files


def oddities():
    """Files that are unusual, but not malformed."""
    packets, late = acknowledges(), 0xFFFFFFFF * 10**9 + 999999999
    time, data, _ = packets[0]
    long_fraction = pcap([(10**10, data, 30), (10**10, data, 30)], nanoseconds=False)
    long_fraction = with_number(long_fraction, 24 + 4, 2500001)
    return {
        "fcs-bits.pcap": pcap(packets, INFINIBAND | 0x04000000 | 2 << 28),
        "caplen-over-len.pcap": pcap([(time, data, 20), packets[1]]),
        "no-bytes.pcap": pcap([(10**9 + 2, b"", 30), (10**9 + 3, b"", 0), packets[1]]),
        "snaplen-0.pcap": pcap(packets, snaplen=0),
        "snaplen-huge.pcap": pcap(packets, snaplen=0xFFFFFFFF),
        "long-fraction.pcap": with_number(long_fraction, 24 + 46 + 4, 0xFFFFFFFF),
        "no-packets.pcap": pcap([]),
        "late-time.pcap": pcap([(late, data, 30)]),
    }


def faults():
    """Files that are malformed: their name, and what the error must say."""
    packets = acknowledges()
    good = pcap([packets[0]] + packets)
    no_packet = "record at offset 24 has .* is not a packet"
    return {
        "caplen-262145": (with_number(with_number(good, 32, 262145), 36, 262145), no_packet),
        "caplen-2g": (with_number(good, 32, 0x80000000), no_packet),
        "caplen-4g": (with_number(with_number(good, 32, 0xFFFFFFFF), 36, 0xFFFFFFFF), no_packet),
        "len-2g": (with_number(good, 36, 0x80000000), no_packet),
        "len-4g": (with_number(good, 36, 0xFFFFFFFF), no_packet),
        "reserved-bits": (pcap(packets, INFINIBAND | 0x10000), "reserved field not zero"),
        "version-2.3": (
            with_number(good, 4, 2 | 3 << 16),
            "version 2.3 of a file of link type 247",
        ),
        "linktype-246": (pcap(packets, UNASSIGNED), "network type 246 unknown"),
    }


def others():
    """Files that the plugin must not claim."""
    arp = bytes.fromhex(
        "ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
        "020000000001 c0000201 000000000000 c0000202"
    )
    time = 1700000000 * 10**9
    frames = [(time + 5000, arp, len(arp))]
    erf = capfile.erf_records([(time, acknowledge(1), 30)])
    return {
        "ethernet.pcap": pcap(frames, ETHERNET, nanoseconds=False),
        "ethernet.pcapng": capfile.pcapng(ETHERNET, frames),
        "erf.pcap": pcap([(time + 5, data, len(data)) for _, data, _ in erf], ERF),
        "empty.pcap": b"",
        "text.txt": b"not a capture\n",
    }


TINY = pcap(acknowledges()[:2], endian=">")
WELL_FORMED = {**forms(), **oddities()}
FAULTS = faults()
MADE = {
    **WELL_FORMED,
    **{f"{name}.pcap": data for name, (data, _) in FAULTS.items()},
    **others(),
    "native-nsec.pcap": pcap(acknowledges(), endian="<" if sys.byteorder == "little" else ">"),
    "truncated-in-record.pcap": TINY[:-1],
}


@pytest.fixture(scope="module")
def made():
    """The folder with the files that are made here."""
    with open_folder() as folder:
        for name, data in MADE.items():
            (folder / name).write_bytes(data)
        yield folder


@pytest.fixture
def folder():
    """A folder for the files of one test."""
    with open_folder(0o1777) as path:  # the programs may be another user
        yield path


# The programs.


@pytest.fixture(scope="module")
def our_plugin():
    """A plugin folder with only our wiretap plugin."""
    found = glob.glob(os.path.join(PLUGINS, "*", "wiretap"))
    assert found, f"no wiretap plugin in {PLUGINS}"
    with open_folder() as plugins:
        for path in found:
            version = os.path.basename(os.path.dirname(path))
            shutil.copytree(path, plugins / version / "wiretap")
        yield str(plugins)


NO_PLUGIN = ""  # as a plugin folder


def call(plugins, *command, stdin=None):
    """Runs a program of the Wireshark suite; its output is bytes."""
    needs(command[0], "build")
    how = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    return wait.run(
        [*WITH_PLUGINS, *map(str, command)],
        env={**os.environ, "IPOIB_PLUGINS": plugins, "TZ": "UTC", "LC_ALL": "C"},
        capture_output=True,
        timeout=LIMIT,
        check=False,
        **how,
    )


def good(plugins, *command, stdin=None):
    """The same; it must succeed. Returns its output."""
    result = call(plugins, *command, stdin=stdin)
    errors = result.stderr.decode(errors="replace")
    assert result.returncode == 0, f"exit status {result.returncode}: {errors}"
    return result.stdout


def result_of(result):
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def ask_sharkd(plugins, calls):
    """sharkd's responses, and its messages. A request is a method and its parameters."""
    requests = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": parameters})
        for n, (method, parameters) in enumerate(calls, 1)
    ]
    result = call(plugins, "sharkd", "-", stdin="\n".join(requests + [""]).encode())
    errors = result.stderr.decode(errors="replace")
    assert result.returncode == 0, f"exit status {result.returncode}: {errors}"
    lines = [line for line in result.stdout.decode().splitlines() if line.startswith("{")]
    responses = {a.pop("id"): a for a in map(json.loads, lines)}
    assert len(responses) == len(
        calls
    ), f"{len(responses)} responses to {len(calls)} requests: {errors}"
    return [responses[n] for n in sorted(responses)], errors


# Values that a program reads from a file: time, lengths and MD5 sum of each packet.

COLUMNS = ["frame.time_epoch", "frame.cap_len", "frame.len", "frame.md5_hash"]


def listed(frames):
    """The same of frames, in the notation of tshark and sharkd."""
    return [
        [
            f"{f.time // 10**9}.{f.time % 10**9:09d}",
            str(len(f.data)),
            str(f.wire),
            hashlib.md5(f.data).hexdigest(),
        ]
        for f in frames
    ]


def expected_of(path):
    return listed(capfile.read(path).frames)


def tshark_lists(plugins, *arguments, stdin=None):
    options = ["-o", "frame.generate_md5_hash:TRUE", "-T", "fields"]
    options += [word for column in COLUMNS for word in ("-e", column)]
    output = good(plugins, "tshark", *arguments, *options, stdin=stdin).decode()
    return [line.split("\t") for line in output.splitlines()]


def records(frames):
    return [(f.time, f.data.hex(), f.wire) for f in frames]


def as_saved(frames):
    """Records of frames as ERF keeps them: a length on the wire below the captured one becomes the
    captured one, and a pcap time has 32 bits of seconds."""
    return [(f.time, f.data.hex(), max(f.wire, len(f.data))) for f in frames]


def saved_records(data, kind="pcapng"):
    """Records of the packets in the ERF records of a saved file; the length on the wire is that of
    the record, which Wireshark reads. A pcapng file without packets has no
    interface."""
    saved = capfile.parse(data)
    assert saved.format == kind and {i.linktype for i in saved.interfaces} <= {ERF}
    return [
        (f.time, capfile.erf_payload(f.data).hex(), struct.unpack_from(">H", f.data, 14)[0])
        for f in saved.frames
    ]


WELL_FORMED_NAMES = [*OURS, *WELL_FORMED]
each_well_formed = pytest.mark.parametrize("name", WELL_FORMED_NAMES)
each_capture = pytest.mark.parametrize("name", OURS)


def path_of(name, made):
    """A capture of testdata, or a file that is made here."""
    return OURS.get(name) or str(made / name)


@pytest.fixture(scope="module")
def sharkd_lists(made, our_plugin):
    """For each well-formed file the responses of sharkd: that it opened the file, and its
    packets."""
    columns = {f"column{n}": f"{column}:1" for n, column in enumerate(COLUMNS)}
    calls = [("setconf", {"name": "frame.generate_md5_hash", "value": "TRUE"})]
    for name in WELL_FORMED_NAMES:
        calls += [("load", {"file": path_of(name, made)}), ("frames", columns)]
    responses, errors = ask_sharkd(our_plugin, calls)
    return {
        name: (responses[1 + 2 * n], responses[2 + 2 * n], errors)
        for n, name in enumerate(WELL_FORMED_NAMES)
    }


@each_well_formed
def test_random_access_gives_the_packets(name, sharkd_lists, made):
    opened, shown, errors = sharkd_lists[name]
    assert opened == {"jsonrpc": "2.0", "result": {"status": "OK"}}, errors
    assert [frame["c"] for frame in shown["result"]] == expected_of(path_of(name, made))


@each_well_formed
def test_reading_in_sequence_gives_the_packets(name, made, our_plugin):
    path = path_of(name, made)
    saved = good(our_plugin, "editcap", path, "-")
    assert saved_records(saved) == as_saved(capfile.read(path).frames)


@pytest.mark.parametrize("passes", [[], ["-2"]], ids=["one-pass", "two-passes"])
@pytest.mark.parametrize("name", ["big-nsec.pcap", "caplen-over-len.pcap"])
def test_tshark_reads(name, passes, made, our_plugin):
    assert tshark_lists(our_plugin, "-r", made / name, *passes) == expected_of(made / name)


@pytest.mark.parametrize("passes", [[], ["-2"]], ids=["one-pass", "two-passes"])
def test_tshark_reads_the_packets_of_all_captures(passes, our_plugin, folder):
    frames = [frame for path in OURS.values() for frame in capfile.read(path).frames]
    (folder / "all.pcap").write_bytes(pcap(frames, snaplen=262144))
    assert tshark_lists(our_plugin, "-r", folder / "all.pcap", *passes) == listed(frames)


@pytest.mark.parametrize("passes", [[], ["-2"]], ids=["one-pass", "two-passes"])
def test_tshark_reads_gzip(passes, our_plugin, folder):
    path = folder / "largest.pcap.gz"
    path.write_bytes(gzip.compress(capfile.load(LARGEST)))
    assert tshark_lists(our_plugin, "-r", path, *passes) == expected_of(LARGEST)


@pytest.mark.parametrize("name", ["largest", "big-usec.pcap"])
def test_tshark_reads_a_pipe(name, made, our_plugin):
    path = LARGEST if name == "largest" else made / name
    got = tshark_lists(our_plugin, "-r", "-", stdin=capfile.load(path))
    assert got == expected_of(path)


# capinfos's output for the files.


@pytest.fixture(scope="module")
def information(made, our_plugin):
    """For each well-formed file the lines of capinfos."""
    paths = [path_of(name, made) for name in WELL_FORMED_NAMES]
    output = good(our_plugin, "capinfos", *paths).decode()
    found = {}
    for part in re.split(r"^File name: *", output, flags=re.MULTILINE)[1:]:
        path, text = part.split("\n", 1)
        found[path] = text
    return {name: found.get(path, "") for name, path in zip(WELL_FORMED_NAMES, paths)}


def assert_says(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.MULTILINE), f"expected {pattern!r} in: {text}"


@each_capture
def test_the_encapsulation_is_erf(name, information):
    assert_says(
        information[name],
        r"^File type: *Wireshark/.* - (nanosecond )?pcap$",
        r"^File encapsulation:  Extensible Record Format$",
        r"^Number of interfaces in file: 1$",
        r"Encapsulation = Extensible Record Format \(98 - erf\)",
    )


@pytest.mark.parametrize(
    "name, patterns",
    [
        ("big-usec.pcap", [r"precision:  microseconds \(6\)", "file hdr: 65535 bytes"]),
        ("big-nsec.pcap", [r"precision:  nanoseconds \(9\)", "Time resolution = 0x09"]),
    ],
)
def test_precision(name, patterns, information):
    assert_says(information[name], *patterns)


# Malformed, truncated and changed files.


def assert_fails(result, says):
    """The program ends with an error, but not by a signal (128 and more in a shell's count)."""
    status, output, errors = result_of(result)
    assert 0 < status < 124, f"exit status {status}: {output}{errors}"
    assert re.search(says, output + errors), f"expected {says!r} in: {output}{errors}"


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_an_error(name, made, our_plugin):
    assert_fails(call(our_plugin, "capinfos", made / f"{name}.pcap"), FAULTS[name][1])


def test_tshark_names_a_fault(made, our_plugin):
    result = call(our_plugin, "tshark", "-r", made / "caplen-4g.pcap")
    assert_fails(result, FAULTS["caplen-4g"][1])


@pytest.mark.parametrize("passes", [[], ["-2"]], ids=["one-pass", "two-passes"])
def test_tshark_names_a_truncated_record(passes, made, our_plugin):
    result = call(our_plugin, "tshark", *passes, "-r", made / "truncated-in-record.pcap")
    assert_fails(result, "cut short in the middle of")


def count_packets(plugins, paths):
    """One run of capinfos over many files: its result, and the number of packets of each file that
    it counted."""
    result = call(plugins, "capinfos", "-M", "-T", "-r", "-c", *paths)
    lines = [line.split("\t") for line in result.stdout.decode().splitlines()]
    return result, {path: int(count) for path, count in lines}


@pytest.fixture(scope="module")
def shortened():
    """A file of two packets at every length: the kind of the remainder ("header", "whole", "part")
    to {path: whole records}."""
    found = collections.defaultdict(dict)
    with open_folder() as shorter:
        for length in range(len(TINY)):
            path, data = shorter / f"{length:03d}.pcap", TINY[:length]
            path.write_bytes(data)
            if length < 24:
                found["header"][str(path)] = None
                continue
            count = len(capfile.parse(data, truncated=True).frames)
            whole = length == 24 + count * (16 + 30)
            found["whole" if whole else "part"][str(path)] = count
        assert [len(found[kind]) for kind in ("header", "whole", "part")] == [24, 2, 90]
        yield found


def test_file_without_a_whole_header_is_as_without_the_plugin(shortened, our_plugin):
    paths = shortened["header"]
    got, _ = count_packets(our_plugin, paths)
    expected, _ = count_packets(NO_PLUGIN, paths)
    assert result_of(got) == result_of(expected)


def test_file_that_ends_after_a_record_is_no_error(shortened, our_plugin):
    result, counts = count_packets(our_plugin, shortened["whole"])
    assert result.returncode == 0 and not result.stderr, result.stderr.decode()
    assert counts == shortened["whole"]


def test_file_that_ends_within_a_record_is_an_error_after_the_whole_records(shortened, our_plugin):
    result, counts = count_packets(our_plugin, shortened["part"])
    errors = result.stderr.decode()
    assert result.returncode == 1, errors
    for path, count in shortened["part"].items():
        message = f'"{path}" appears to have been cut short in the middle of a packet'
        assert message in errors, f"expected {message!r} in: {errors}"
        assert counts.get(path, 0) == count, path


def assert_survives(plugins, paths):
    """Whatever the fault is: a result or an error for every file, in time."""
    result = call(plugins, "capinfos", *paths)
    status, output, errors = result_of(result)
    assert status <= 2, f"exit status {status}: {output[-1000:]}{errors[-1000:]}"
    silent = [path.name for path in paths if path.name not in output + errors]
    assert not silent, f"capinfos says nothing of {silent}; {errors[-1000:]}"


def test_gzip_file_of_any_length(our_plugin, folder):
    compressed, paths = gzip.compress(TINY, mtime=0), []
    for length in range(len(compressed)):
        paths.append(folder / f"gzip-{length:03d}.pcap.gz")
        paths[-1].write_bytes(compressed[:length])
    assert_survives(our_plugin, paths)


def test_any_byte_of_the_headers_inverted(our_plugin, folder):
    paths = []
    for offset in range(24 + 16):
        changed = bytearray(TINY)
        changed[offset] ^= 0xFF
        paths.append(folder / f"changed-{offset:02d}.pcap")
        paths[-1].write_bytes(changed)
    assert_survives(our_plugin, paths)


# All other files open as without the plugin.

OTHER_NAMES = [*OTHERS, *others()]
each_other = pytest.mark.parametrize("name", OTHER_NAMES)


def other_path(name, made):
    return OTHERS.get(name) or str(made / name)


def without_numbers(tree):
    """A protocol tree without the numbers of fields ("e"), which depend on the order in which
    plugins are loaded."""
    if isinstance(tree, list):
        return [without_numbers(item) for item in tree]
    if isinstance(tree, dict):
        return {key: without_numbers(value) for key, value in tree.items() if key != "e"}
    return tree


@pytest.fixture(scope="module")
def trees(made, our_plugin):
    """sharkd's trees with our plugin, and without: for each other file the responses (opened, and
    all of each frame), and the messages."""

    def shown(plugins):
        calls, owners = [], []
        for name in OTHER_NAMES:
            path = other_path(name, made)
            frames = capfile.read(path).frames if name not in ("empty.pcap", "text.txt") else []
            calls.append(("load", {"file": path}))
            numbers = range(1, len(frames) + 1)
            calls += [("frame", {"frame": n, "proto": True, "bytes": True}) for n in numbers]
            owners += [name] * (1 + len(frames))
        responses, errors = ask_sharkd(plugins, calls)
        found = {name: [] for name in OTHER_NAMES}
        for name, shown_of_it in zip(owners, responses):
            found[name].append(without_numbers(shown_of_it))
        return found, errors

    return shown(our_plugin), shown(NO_PLUGIN)


@each_other
def test_other_file_is_shown_as_without_the_plugin(name, trees):
    (got, got_errors), (expected, expected_errors) = trees
    assert got[name] == expected[name]
    assert got_errors == expected_errors


@each_other
def test_capinfos_describes_other_file_as_without_the_plugin(name, made, our_plugin):
    path = other_path(name, made)
    got, expected = call(our_plugin, "capinfos", path), call(NO_PLUGIN, "capinfos", path)
    assert result_of(got) == result_of(expected)


@pytest.mark.parametrize("name", ["sll.pcap", "ethernet.pcapng", "text.txt"])
def test_tshark_prints_other_file_as_without_the_plugin(name, made, our_plugin):
    command = ["tshark", "-V", "-r", other_path(name, made)]
    assert result_of(call(our_plugin, *command)) == result_of(call(NO_PLUGIN, *command))


@pytest.mark.parametrize("name", ["ethernet.pcap", "ethernet.pcapng"])
def test_other_file_from_a_pipe_is_shown_as_without_the_plugin(name, our_plugin):
    got = call(our_plugin, "tshark", "-r", "-", stdin=MADE[name])
    expected = call(NO_PLUGIN, "tshark", "-r", "-", stdin=MADE[name])
    assert result_of(got) == result_of(expected)


# Packets are saved as ERF, which a Wireshark without the plugin opens.


def assert_opens_without_the_plugin(path, frames):
    assert tshark_lists(NO_PLUGIN, "-r", path) == listed(frames)


SAVERS = {
    "tshark": lambda path, out: ("tshark", "-r", path, "-w", out),
    "editcap": lambda path, out: ("editcap", path, out),
    "mergecap": lambda path, out: ("mergecap", "-w", out, path),
}


@pytest.mark.parametrize("program", SAVERS)
@pytest.mark.parametrize("kind", ["default", "pcap", "nsecpcap"])
def test_saved_packets_open_without_the_plugin(program, kind, our_plugin, folder):
    saved = folder / "saved"
    options = () if kind == "default" else ("-F", kind)
    name, *arguments = SAVERS[program](LARGEST, saved)
    good(our_plugin, name, *options, *arguments)
    assert_opens_without_the_plugin(saved, capfile.read(LARGEST).frames)


def test_saving_as_pcap_keeps_the_time_of_the_file(made, our_plugin):
    path = made / "big-usec.pcap"
    saved = good(our_plugin, "editcap", "-F", "pcap", path, "-")
    assert saved_records(saved, "pcap") == as_saved(capfile.read(path).frames)


def test_the_time_of_the_erf_record_is_that_of_the_frame(our_plugin):
    """Rounded up to a unit of 2^-32 s, so that its whole nanoseconds are the time."""
    saved = good(our_plugin, "editcap", LARGEST, "-")
    times = [capfile.erf_time(frame.data) for frame in capfile.parse(saved).frames]
    assert times == [frame.time for frame in capfile.read(LARGEST).frames]


def test_saving_as_gzip(our_plugin, folder):
    saved = folder / "saved.pcap.gz"
    good(our_plugin, "tshark", "-r", LARGEST, "-F", "pcap", "-w", saved)
    assert tshark_lists(NO_PLUGIN, "-r", saved) == expected_of(LARGEST)


def test_saving_a_range(our_plugin):
    saved = good(our_plugin, "editcap", "-r", LARGEST, "-", "2-4")
    assert saved_records(saved) == as_saved(capfile.read(LARGEST).frames[1:4])


def test_saving_truncated_packets(our_plugin, folder):
    saved = folder / "sliced.pcapng"
    good(our_plugin, "editcap", "-s", 40, LARGEST, saved)
    frames = capfile.read(LARGEST).frames
    sliced = [capfile.Frame(f.time, f.data[:40], f.wire) for f in frames]
    assert_opens_without_the_plugin(saved, sliced)


def test_saving_merged_files(made, our_plugin):
    paths = [made / "little-nsec.pcap", made / "big-nsec.pcap", LARGEST]
    saved = capfile.parse(good(our_plugin, "mergecap", "-w", "-", *paths))
    frames = [frame for path in paths for frame in capfile.read(path).frames]
    expected = sorted(frames, key=lambda frame: frame.time)
    assert saved.infiniband() == [frame.data for frame in expected]
    assert [frame.time for frame in saved.frames] == [frame.time for frame in expected]


def test_merging_with_a_capture_of_erf(made, our_plugin, folder):
    saved = folder / "merged"
    good(our_plugin, "mergecap", "-a", "-F", "pcap", "-w", saved, made / "erf.pcap", LARGEST)
    expected = [expected_of(LARGEST)[-1]]
    assert tshark_lists(NO_PLUGIN, "-r", saved)[-1:] == expected


def test_a_packet_that_is_too_long_for_erf_is_truncated(our_plugin, folder):
    """No InfiniBand packet is that long: LRH.PktLen has 11 bits and counts 4 bytes each."""
    data, path, saved = bytes(70000), folder / "long.pcap", folder / "saved.pcap"
    path.write_bytes(pcap([(10**9, data, 70000)], snaplen=262144))
    assert tshark_lists(our_plugin, "-r", path) == expected_of(path)
    good(our_plugin, "editcap", "-F", "pcap", path, saved)
    [(_, captured, wire, _)] = tshark_lists(NO_PLUGIN, "-r", saved)
    assert (captured, wire) == ("65535", "65535")


def test_the_default_format_stays_pcapng(made, our_plugin):
    saved = good(our_plugin, "tshark", "-r", made / "ethernet.pcap", "-w", "-")
    assert capfile.parse(saved).format == "pcapng"

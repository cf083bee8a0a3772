# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture as Wireshark's extcap, on the simulated devices of tests/capture/replay/: its extcap
sentences, captures into a FIFO that is closed, and tshark itself with it.

Expected: the frames that were played; Wireshark's doc/extcap.adoc. Each test of multicast mode has
a device of its own, because captures of one device share a lock of the machine."""
import os
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from support import capfile, wait
from support.capture import CAPTURE, FED, RECEIVED, SANITIZED, environment, fed, last_statistics
from support.capture import new_device, run, start
from support.needs import needs
from support.paths import BUILD, TSHARK

pytestmark = pytest.mark.usefixtures("folder")
INTERFACE = "ipoib-hca0-1"
GROUP = "ff12:401b:ffff::ffff:ffff 0xc000 0xb1b"
PATIENCE = 10  # seconds; a program that hangs never ends
LIMIT = 60  # seconds for tshark, likewise


def lines(scenario, *arguments, status=0):
    return run(scenario, *arguments).expect(status).out.decode().splitlines()


def sentences(text):
    """[(word, {key: value})] of extcap's lines, parsed as Wireshark does: a value ends at the first
    brace."""
    return [
        (line.split(" ", 1)[0], dict(re.findall(r"\{([^={]+)=([^}]*)\}", line))) for line in text
    ]


class Fifo:
    """A capture on a device of its own into a FIFO, and the FIFO's reading end."""

    def __init__(self, scenario, *arguments):
        device = new_device()
        os.mkfifo("fifo")
        self.device = device
        self.process = start(
            f"device {device}\n{scenario}",
            *("--capture", "--extcap-interface", f"ipoib-{device}-1", "--fifo", "fifo"),
            *arguments,
        )
        self.reader = open("fifo", "rb", buffering=0)

    def read_frames(self, count):
        """Reads until this number of frames has arrived."""
        data = b""
        while not data or len(capfile.parse(data, truncated=True).frames) < count:
            piece = self.reader.read(65536)
            assert piece, f"it ended after {len(data)} bytes\n{self.process.err()}"
            data += piece
        return data


MANY = """device hca0
ports 2
device rxe0
port active ethernet
device cxgb4_0
transport iwarp
device hca9
fail open EACCES
device hca-odd
port down ib
"""


@pytest.mark.parametrize("version", ["4.0", "4.6.9"])
def test_interfaces_are_the_infiniband_ports_also_of_devices_that_cannot_be_opened(version):
    shown = sentences(lines(MANY, "--extcap-interfaces", f"--extcap-version={version}"))
    assert [word for word, _ in shown] == ["extcap"] + 4 * ["interface"]
    assert shown[0][1]["version"] == run("", "--version").out.decode().split()[-1]
    assert [values["value"] for _, values in shown[1:]] == [
        "ipoib-hca0-1",
        "ipoib-hca0-2",
        "ipoib-hca9-1",
        "ipoib-hca-odd-1",
    ]
    assert shown[1][1]["display"] == "ipoib-capture: hca0 port 1"


def test_no_device_is_no_error():
    result = subprocess.run(
        [CAPTURE, "--extcap-interfaces"],
        env={**environment(""), "IPOIB_REPLAY": "/dev/null"},
        capture_output=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == b""


def test_version_is_one_sentence():
    assert len(sentences(lines("", "--extcap-version"))) == 1


def test_link_type_is_erf():
    arguments = ("--extcap-interface", "ipoib-hca-odd-1", "--extcap-dlts")
    assert lines("device hca-odd\n", *arguments)[0].startswith("dlt {number=197}{name=ERF}")


def configuration(scenario):
    return sentences(lines(scenario, "--extcap-interface", INTERFACE, "--extcap-config"))


@pytest.fixture
def config():
    return configuration("fail flow EOPNOTSUPP\n")


def calls_of(config):
    """The option of each number."""
    return {v["number"]: v["call"] for word, v in config if word == "arg"}


@pytest.mark.parametrize(
    "scenario, mode", [("", "sniffer"), ("fail flow EOPNOTSUPP\n", "multicast")]
)
def test_configuration_begins_with_the_mode_that_the_port_can_do(scenario, mode):
    config = configuration(scenario)
    calls = calls_of(config)
    defaults = {
        calls[v["arg"]]: v["value"]
        for word, v in config
        if word == "value" and v["default"] == "true"
    }
    assert defaults == {"--mode": mode, "--groups": "all"}
    for word, values in config:
        if word == "arg":
            assert "display" in values
            assert values["type"] in ("selector", "multicheck", "string", "unsigned", "boolflag")


def test_configuration_has_options_of_the_usage(config):
    usage = run("", "--help").out.decode()
    assert calls_of(config)
    for call in calls_of(config).values():
        assert call in usage, call


def test_tooltips_are_the_texts_of_the_usage(config):
    usage = " ".join(run("", "--help").out.decode().split())
    shown = {values["call"]: values["tooltip"] for word, values in config if word == "arg"}
    assert shown["--groups"] == "Set the groups of multicast mode (default: all)"
    for call, text in shown.items():
        assert f"{text[0].lower()}{text[1:]}" in usage, call


def test_options_take_the_values_of_the_configuration(config):
    calls, tried = calls_of(config), 0
    for word, values in config:
        if word == "value":
            option = (calls[values["arg"]], values["value"])
            scenario = f"device {new_device()}\n{FED}"
            run(scenario, *option, "-w", "x.pcap", "-s", "--duration", "0.1").expect(0)
            tried += 1
    assert tried


def test_no_capture_filter_is_fine():
    assert lines("", "--extcap-interface", INTERFACE, "--extcap-capture-filter", "") == []


def test_capture_filter_is_refused_with_what_to_do_instead():
    shown = lines("", "--extcap-interface", INTERFACE, "--extcap-capture-filter", "arp")
    assert len(shown) == 1 and "no capture filters" in shown[0] and "display filter" in shown[0]


@pytest.fixture(name="reader")
def read_fifo():
    """The reading end of the FIFO x. As dumpcap does, it does not wait for a writer."""
    os.mkfifo("x")
    with open(os.open("x", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as reader:
        yield reader


def refuse(reader, scenario, *arguments):
    """Runs a capture that cannot start. Returns its result; it has opened and closed the FIFO, so
    that the reader need not wait."""
    result = run(scenario, *arguments)
    if "--capture" in arguments and "--fifo" in arguments:
        poll = select.poll()
        poll.register(reader, 0)
        assert poll.poll(0) == [(reader.fileno(), select.POLLHUP)], "the FIFO was not opened"
    assert reader.read() in (b"", None) and result.out == b""
    return result


def test_capture_with_a_filter_is_refused(reader):
    capture = ("--capture", "--extcap-interface", INTERFACE, "--fifo", "x")
    result = refuse(reader, "", *capture, "--extcap-capture-filter=arp")
    result.expect(2, "no capture filters")


@pytest.mark.parametrize(
    "arguments",
    [
        "--extcap-dlts",
        "--extcap-interface x --extcap-dlts",
        "--extcap-interface ipoib-hca0 --extcap-config",
        "--extcap-interface ipoib-hca0-0 --extcap-dlts",
        "--extcap-interface ipoib--1 --extcap-dlts",
        f"--extcap-interface {INTERFACE}",
        f"--capture --extcap-interface {INTERFACE}",
        "--capture --fifo x",
        f"--capture --extcap-interface {INTERFACE} --fifo x --nonsense",
        f"--capture --extcap-interface {INTERFACE} --fifo x --snaplen 99999",
    ],
)
def test_wrong_usage_is_refused_with_a_message_and_status_2(arguments, reader):
    refuse(reader, "", *arguments.split()).expect(2, "ipoib-capture: ")


@pytest.mark.parametrize(
    "scenario, interface, patterns",
    [
        ("", "ipoib-hca7-1", ["no RDMA device hca7"]),
        ("fail flow EPERM\n", INTERFACE, ["CAP_NET_RAW", "setcap"]),
        ("fail open EACCES\n", INTERFACE, ["permission denied: /dev/infiniband"]),
        ("port down ib\n", INTERFACE, ["not active .*when the link is up"]),
    ],
    ids=["no such device", "no rights", "no permission", "no link"],
)
def test_capture_that_is_not_possible_is_refused(scenario, interface, patterns, reader):
    capture = ("--capture", "--extcap-interface", interface, "--fifo", "x")
    refuse(reader, scenario, *capture).expect(1, *patterns)


def test_sigterm_ends_the_wait_for_the_reader_of_the_fifo():
    os.mkfifo("x")
    process = start("", "--capture", "--extcap-interface", INTERFACE, "--fifo", "x")
    time.sleep(0.5)  # by then it waits
    assert not process.has_ended(), process.err()
    process.signal(signal.SIGTERM)
    assert wait.end_of(process.process, PATIENCE) == -signal.SIGTERM


@pytest.mark.parametrize("make", [None, "file"], ids=["nothing", "a file"])
def test_fifo_must_exist(make):
    if make:
        with open("x", "wb") as f:
            f.write(b"old")
    capture = ("--capture", "--extcap-interface", INTERFACE, "--fifo", "x")
    says = "is a regular file, not a FIFO" if make else "there is no such FIFO"
    run(FED, *capture).expect(2, f"x: {says}")
    if make:
        with open("x", "rb") as f:
            assert f.read() == b"old"
    else:
        assert not os.path.exists("x")


def test_link_of_another_user_in_a_shared_folder_is_not_followed(reader):
    """The same check as for -w (lib/cli/create.h)."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a link of another user")
    os.mkdir("shared")
    os.chmod("shared", 0o1777)
    os.symlink("../x", "shared/x")
    os.chown("shared/x", 65534, 65534, follow_symlinks=False)
    capture = ("--capture", "--extcap-interface", INTERFACE, "--fifo", "shared/x")
    run(FED, *capture).expect(
        2, "shared/x: (x is a symbolic link of another user|.*Permission denied)"
    )
    assert reader.read() in (b"", None)


MULTICAST = ("--mode", "multicast", "--pkey", "", "--snaplen", "")


@pytest.mark.parametrize("more", [(), MULTICAST], ids=["sniffer", "multicast"])
def test_sigterm_ends_a_capture_with_all_frames_and_an_empty_stderr(more):
    fifo = Fifo(f"group {GROUP}\nrate 1000\n{FED}", *more)
    data = fifo.read_frames(1 if more else len(fed()))
    clock = wait.Clock()
    fifo.process.signal(signal.SIGTERM)
    data += fifo.reader.read()
    assert clock.seconds() < PATIENCE, "too late"
    result = fifo.process.end().expect(0)
    assert (result.out, result.err) == (b"", "")
    fifo.reader.close()
    capture = capfile.parse(data)
    options = capture.interfaces[0].options
    assert capture.format == "pcapng" and capture.linktype == capfile.ERF
    assert options[2].decode() == fifo.device
    assert last_statistics(capture)[RECEIVED] == len(capture.frames)
    got = [frame.data[16:] for frame in capture.frames]
    if more:
        assert len(got) == 1 and b"rebuilt" in options[1]
    else:
        assert got == fed()


@pytest.mark.parametrize(
    "flow",
    ["", "synthetic 100\nrate 1000\n", "synthetic 100\nrate 500000\n"],
    ids=["idle", "slow", "fast"],
)
@pytest.mark.parametrize("more", [(), ("--mode", "multicast")], ids=["sniffer", "multicast"])
def test_closed_fifo_ends_a_capture_without_a_message(more, flow):
    fifo = Fifo(f"group {GROUP}\n{flow}", *more)
    assert fifo.reader.read(100)[:4] == b"\x0a\x0d\x0d\x0a"
    time.sleep(0.3)  # by then an idle capture sleeps, a fast one waits for its reader
    fifo.reader.close()
    result = fifo.process.end(limit=PATIENCE)
    assert (result.out, result.err) == (b"", "")


def test_options_reach_the_capture_and_losses_are_reported():
    # All arrive at once, however busy the machine is: each of 1024 buffers takes one; one is an
    # error.
    fifo = Fifo(
        "synthetic 100\nrate 100000\nburst 3000\ntotal 3000\nat 1000 error 12\n",
        *("--snaplen", "60", "--max-burst", "10", "--jumbo-mtu"),
    )
    data = fifo.read_frames(1023)
    fifo.process.signal(signal.SIGTERM)
    frames = capfile.parse(data + fifo.reader.read()).frames
    fifo.reader.close()
    fifo.process.end().expect(
        1, "1 frames could not be delivered", "1023 packets, 61380 octets, 1 drops"
    )
    assert len(frames) == 1023
    assert {(len(frame.data), frame.wire) for frame in frames} == {(76, 116)}


# --- Wireshark


def install_extcap(missing=False):
    """Makes the extcap folder; missing: the device has gone when the capture begins."""
    os.mkdir("extcap")
    if not missing:
        shutil.copy(CAPTURE, "extcap")  # no link: another user may be unable to enter its folder
        return
    shutil.copy(CAPTURE, "ipoib-capture")
    script = f"""#!/bin/sh
        case " $* " in *" --capture "*) export IPOIB_REPLAY=/dev/null ;; esac
        exec {os.path.abspath("ipoib-capture")} "$@"
        """
    with open("extcap/ipoib-capture", "w", encoding="ascii") as f:
        f.write(script)
    os.chmod("extcap/ipoib-capture", 0o755)


def tshark(scenario, *arguments, missing=False):
    install_extcap(missing)
    with subprocess.Popen(
        [*TSHARK, *arguments],
        env={**environment(scenario), "WIRESHARK_EXTCAP_DIR": os.path.abspath("extcap")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = wait.communicate(process, LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with dumpcap and the extcap
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


with_extcaps = pytest.mark.skipif(
    bool(os.environ.get("IPOIB_PRELOAD")),
    reason="script/with-plugins leaves extcaps out where IPOIB_PRELOAD is set",
)
FIELDS = [
    *("-T", "fields", "-e", "infiniband.lrh.dlid", "-e", "arp.opcode"),
    *("-e", "frame.interface_name"),
]


@with_extcaps
def test_tshark_lists_the_port():
    result = tshark(FED, "-D")
    pattern = rf"^\d+\. {INTERFACE} \(ipoib-capture: hca0 port 1\)$"
    assert re.search(pattern, result.stdout, re.MULTILINE), result


@with_extcaps
def test_tshark_captures_live_in_sniffer_mode():
    result = tshark(f"rate 500\n{FED}", "-i", INTERFACE, "-c", str(len(fed())), *FIELDS)
    got = [line.split("\t") for line in result.stdout.splitlines()]
    assert result.returncode == 0 and len(got) == len(fed()), result
    assert [int(dlid) for dlid, _, _ in got] == [f[2] << 8 | f[3] for f in fed()]
    assert "2" in [opcode for _, opcode, _ in got], "the plugin decodes ARP replies"


@with_extcaps
def test_tshark_captures_live_in_multicast_mode():
    device = new_device()
    result = tshark(
        f"device {device}\ngroup {GROUP}\nsynthetic 100\nrate 100\n",
        *("-i", f"ipoib-{device}-1", "-o", f"extcap.ipoib_{device}_1.mode:multicast", "-c", "20"),
        *FIELDS,
    )
    assert result.returncode == 0, result
    dlids = {line.split("\t")[0] for line in result.stdout.splitlines()}
    assert dlids == {str(0xC000)}, result


MULTICAST_OPTION = "-oextcap.ipoib_{device}_1.mode:multicast"
NO_FILTERS = "there are no capture filters for InfiniBand: capture without one"


@with_extcaps
@pytest.mark.parametrize(
    "scenario, options, text",
    [
        ("fail open EACCES\n", [], "permission denied: /dev/infiniband/uverbs0"),
        (
            f"group {GROUP}\n",
            [MULTICAST_OPTION, "-oextcap.ipoib_{device}_1.pkey:0x8123"],
            "0x8123",
        ),
        ("port down ib\n", [], "is not active"),
        ("port down ib\n", [MULTICAST_OPTION], "is not active"),
        ("", ["-f", "arp"], NO_FILTERS),
        ("", [], "no RDMA device"),
    ],
    ids=[
        *("permission", "partition", "port down", "port down, multicast"),
        *("capture filter", "no device"),
    ],
)
def test_tshark_ends_and_says_why_a_capture_cannot_start(scenario, options, text):
    device = new_device()
    result = tshark(
        f"device {device}\n{scenario}",
        *("-i", f"ipoib-{device}-1", "-c", "1"),
        *(option.format(device=device) for option in options),
        missing=text == "no RDMA device",
    )
    assert result.stdout == "" and "ipoib-capture: " in result.stderr, result
    assert text in result.stderr, result
    assert "no device named" not in result.stderr, "Wireshark has not found the FIFO"


def test_installation_is_in_the_extcap_folder_of_this_wireshark():
    needs("tshark", "build")
    install = subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", os.path.abspath("usr")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert install.returncode == 0, install.stderr
    shown = subprocess.run(["tshark", "-G", "folders"], capture_output=True, text=True, check=True)
    folders = [
        line.split(":", 1)[1].strip()
        for line in shown.stdout.splitlines()
        if "xtcap path" in line and "ersonal" not in line
    ]
    assert folders and folders[0].startswith("/usr/"), shown.stdout
    link = os.path.abspath("usr" + folders[0][len("/usr") :] + "/ipoib-capture")
    assert os.path.islink(link) and os.path.samefile(link, "usr/bin/ipoib-capture"), link
    assert not os.readlink(link).startswith("/"), "it would break where the tree is packaged"

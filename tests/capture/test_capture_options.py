# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture's options for live captures, the list of devices, and the options that it refuses;
on simulated devices (tests/capture/replay/).

Expected: the frames that were played; ibdump's options and lines; doc/man/ipoib-capture.1."""
import os
import re
import struct
import subprocess
import time

import pytest

from support import capfile, wait
from support.capture import ALL, CAPTURE, COUNT, FED, FLAGS, INBOUND, OUTBOUND, REPLAY, SANITIZED
from support.capture import SIZE, fed, frames_of, numbers, option_number, run, run_all, summary
from support.capture import write_frames

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    "options",
    [
        "-d hca0 -i 1 -b 12 -s",
        "--ib-dev=hca0 --ib-port=1 --max-burst=12 --silent",
        "-T -s",
        "--conti -s",
        "-p 1048576 -s",
        "--writer-thread 1M -s",
        "-j -s",
        "--jumbo-mtu -s",
        "--decap -s",
        "-E -s",
        "--erf 1 -s",
        "-i 0x1 -s",
    ],
)
def test_ibdumps_option(options):
    run(FED, "-w", "o.pcap", *options.split(), *ALL).expect(0, summary(COUNT, SIZE, 0))
    assert frames_of("o.pcap") == fed()


@pytest.mark.parametrize(
    "options, text",
    [
        ("-q 5,6", "-q has no effect.*all queue pairs"),
        ("--src_qp 5", "-q has no effect"),
        ("-m /dev/mst/x", "-m has no effect"),
        ("--a0-mode", "--a0-mode has no effect"),
        ("--pkey 0x8001", "--pkey has no effect in sniffer mode"),
        ("--mode sniffer", ""),
    ],
)
def test_option_without_an_effect_is_reported(options, text):
    run(FED, "-o", "o.pcap", "-s", *options.split(), *ALL).expect(0, text)
    assert frames_of("o.pcap") == fed()


def test_progress_and_its_end_are_ibdumps_lines():
    result = run("synthetic 100\nrate 1000\n", "-w", "p.pcap", "--duration", "1.3").expect(0)
    out = result.out.decode()
    for text in (
        ' Device                         : "hca0"\n',
        " Physical port                  : 1\n",
        " Link layer                     : Infiniband\n",
        " Dump file                      : p.pcap\n",
        " Sniffer WQEs (max burst size)  : 32768\n",
        "\nReady to capture (Press ^c to stop):\n",
    ):
        assert text in out, out
    assert re.search(r"\rCaptured:  +\d+ packets,  +\d+ bytes     ", out), out


def test_silent_shows_no_progress():
    assert run(FED, "-w", "p.pcap", "-s", *ALL).expect(0).out == b""


@pytest.mark.parametrize(
    "option, is_wanted",
    [("tx", lambda lid: lid in (1, 0xFFFF)), ("rx", lambda lid: lid != 1)],
    ids=["tx", "rx"],
)
def test_one_direction(option, is_wanted):
    run_all(FED, COUNT, "-w", "d.pcap", "-s", "-I", option).expect(0)
    wanted = [frame for frame in fed() if is_wanted(struct.unpack_from(">H", frame, 6)[0])]
    assert frames_of("d.pcap") == wanted


def test_lid_change_during_the_capture_changes_the_directions():
    run(
        "synthetic 100\ntotal 2000\nrate 4000\nat 1000 lid 2\n",
        *("-w", "l.pcapng", "-s", "--format", "pcapng", "--count", "2000"),
    ).expect(0)
    flags = [option_number(frame, FLAGS) for frame in capfile.read("l.pcapng").frames]
    assert flags[0] == INBOUND
    assert flags[-1] == OUTBOUND, "synthetic frames come from LID 2"


@pytest.fixture
def mirrored():
    """A scenario with a frame as a mirroring switch encapsulates it, and the same frame; both."""
    inner = fed()[-1]
    wrapped = bytes.fromhex("0000000100000002" "00001123" "aabbccdd") + inner + b"\x12\x34"
    write_frames("mirror.pcap", [wrapped, inner])
    return "frames mirror.pcap\n", wrapped, inner


def test_decap_removes_the_headers_of_a_mirroring_switch(mirrored):
    scenario, _, inner = mirrored
    run(scenario, "-w", "d.pcap", "-s", "--decap", "--count", "2").expect(0)
    frames = capfile.read("d.pcap").frames
    assert [frame.data[16:] for frame in frames] == [inner, inner]
    assert [frame.data[9] for frame in frames] == [5, 4]


def test_without_decap_the_headers_of_a_mirroring_switch_stay(mirrored):
    scenario, wrapped, inner = mirrored
    run(scenario, "-w", "d.pcap", "-s", "--count", "2").expect(0)
    assert frames_of("d.pcap") == [wrapped, inner]


def test_decap_on_ethernet_is_ignored_and_reported():
    # like InfiniBand's: a raw packet with a mirror's EtherType
    frame = bytes.fromhex("020000000001" "020000001123" "8915") + bytes(60)
    write_frames("ethernet.pcap", [frame])
    scenario = "port active ethernet\nframes ethernet.pcap\n"
    run(scenario, "-w", "d.pcap", "-s", "--decap", "--count", "1").expect(
        0, "--decap has no effect on Ethernet", summary(1, len(frame), 0)
    )
    assert frames_of("d.pcap") == [frame]


def test_count_and_snaplen():
    run("synthetic 200\n", "-w", "c.pcap", "-s", "--count", "1001", "--snaplen", "60").expect(
        0, summary(1001, 60060, 0)
    )
    frames = capfile.read("c.pcap").frames
    assert [(frame.wire, len(frame.data)) for frame in frames] == [(216, 76)] * 1001


def test_duration():
    arguments = ("-w", "c.pcap", "-s", "--duration", "0.7")
    begin, clock = time.monotonic(), wait.Clock()
    run("synthetic 200\nrate 100\n", *arguments).expect(0)
    took = time.monotonic() - begin
    assert took >= 0.7 and clock.seconds() < (10 if SANITIZED else 3)
    assert 55 <= len(frames_of("c.pcap")) <= 100 * took + 2


@pytest.mark.parametrize(
    "arguments",
    [
        "--nonsense",
        "-x",
        "file",
        "-i 0",
        "-i x",
        "-i 256",
        "-b 21",
        "-b x",
        "-b -1",
        "-M 0",
        "-M x",
        "-p 0",
        "-I up",
        "--erf 2",
        "--format pcap",
        "--mode x",
        "--count 0",
        "--count -1",
        "--duration 0",
        "--duration x",
        "--duration 1e3",
        "--snaplen 0",
        "--snaplen 70000",
        "--ring-files 2",
        "--ring-size 1",
        "-w - --ring-size 1M",
        "-M 1M -p 1M",
        "-M 1M --ring-size 1M",
        "-w",
        "--comment x",
        "-M 20000000T",
        "--ring-size 99999999999G",
        "-i 18446744073709551617",
    ],
)
def test_wrong_usage_is_refused_with_a_message_and_status_2(arguments):
    result = run(FED, *arguments.split()).expect(2, "ipoib-capture: ", "--help")
    assert result.out == b""
    assert not [name for name in os.listdir() if name.endswith((".pcap", ".pcapng"))]


@pytest.mark.parametrize(
    "arguments, text",
    [
        ("-Xs", "unknown option -X"),
        ("-sX", "unknown option -X"),
        ("--silent -sXT", "unknown option -X"),
        ("--nonsense", "unknown option --nonsense"),
        ("-s --nonsense=1", "unknown option --nonsense=1"),
        ("--silent=1", "--silent takes no value"),
        ("-\N{LATIN SMALL LETTER E WITH ACUTE}", "unknown option: not an ASCII letter"),
        ("--ring=1", "unknown option --ring=1"),
        ("-w", "-w needs a value"),
        ("-sw", "-w needs a value"),
        ("--write", "--write needs a value"),
        ("--count", "--count needs a value"),
        ("convert -Xf", "unknown option -X"),
        ("convert -f", "-f needs a value"),
        ("convert --format", "--format needs a value"),
        ("convert --x", "unknown option --x"),
    ],
)
def test_wrong_option_is_named_as_it_was_written(arguments, text):
    run(FED, *arguments.split()).expect(2, f"(?m)^ipoib-capture: .*{text}$")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(option):
    assert b"Usage: ipoib-capture [OPTION]" in run("", option).expect(0).out


@pytest.mark.parametrize("option", ["-v", "--version"])
def test_version(option):
    assert re.match(rb"ipoib-capture \d", run("", option).expect(0).out)


# --- devices

DEVICES = """device hca0
ports 2
lid 7
gid fe80::2:c903:0:1
pkeys 0xffff 0 0x8001
device rxe0
port down ethernet
fail flow ENOSYS
device cxgb4_0
transport iwarp
device mlx5_9
port active ethernet
fail flow ENOTSUPP
device mlx4_0
fail flow EINVAL
device hca8
fail qp-raw EPERM
fail flow EPERM
device mlx5_7
fail qp-raw EINVAL
"""


@pytest.fixture
def listed():
    """The parts of --list, one for each port."""
    out = run(DEVICES, "--list").expect(0).out.decode()
    parts = re.split(r"^(?=\S)", out, flags=re.MULTILINE)[1:]
    assert len(parts) == 8, out
    return parts


def test_list_shows_ports_state_link_layer_lid_gid_pkeys_and_modes(listed):
    assert listed[0] == (
        "hca0 port 1: PORT_ACTIVE, InfiniBand, LID 7, MTU 2048\n    GID       fe80::2:c903:0:1\n"
        "    P_Keys    0xffff 0x8001\n    sniffer   yes (verbs)\n    multicast yes\n"
        "    memory    134 MiB registered (32768 buffers), up to 256 MiB held for the file\n"
    )
    assert listed[1].startswith("hca0 port 2: ")
    assert re.match(
        r"rxe0 port 1: PORT_DOWN, Ethernet, MTU 2048\n(.*\n)*    sniffer   no \(verbs\): .*mlx5",
        listed[2],
    ), listed[2]


IS_ROOT = os.geteuid() == 0
NO_FIRMWARE = "its PCI function is not in sysfs" if IS_ROOT else "the firmware's sniffer needs root"


@pytest.mark.parametrize(
    "part, text",
    [
        (2, "multicast no: the link layer is Ethernet"),
        (3, "sniffer   no (verbs): the device is for iWARP"),
        (3, "multicast no: the device is for iWARP"),
        (4, "allow_sniffer_and_nic_rx_shared_tir"),
        (5, "log_num_mgm_entry_size=-1"),
        (6, "CAP_NET_RAW"),
        (7, f"sniffer   no (firmware): {NO_FIRMWARE}"),
        (7, "    instead   --mode multicast: ARP"),
        (7, "multicast yes"),
    ],
)
def test_list_says_why_a_mode_is_not_possible(listed, part, text):
    assert text in listed[part]


def test_list_says_that_a_subnet_manager_runs_on_the_port():
    out = run("sm on\n", "--list").expect(0).out.decode()
    assert "note      a subnet manager runs on this port" in out
    assert "note" not in run("", "--list").expect(0).out.decode()


def test_capture_on_the_port_of_a_subnet_manager_warns():
    run("sm on\n" + FED, "-w", "f.pcap", "-s", *ALL).expect(0, "a subnet manager runs on this port")


def test_list_names_users_who_may_not_query_the_sa():
    out = run("fail umad EACCES\n", "--list").expect(0).out.decode()
    assert "multicast no: the SA cannot be queried: permission denied" in out


class TestListOfOneDevice:
    scenario = "device hca0\nports 2\ndevice hca1\n"

    def test_list_of_one_device(self):
        both = run(self.scenario, "--list").expect(0)
        assert both.err == ""
        each = [run(self.scenario, "--list", "-d", name).expect(0).out for name in ("hca0", "hca1")]
        assert b"".join(each) == both.out
        assert both.out.count(b" port ") == 3

    def test_list_of_a_missing_device_is_refused(self):
        result = run(self.scenario, "-d", "hca7", "--list")
        result.expect(1, "no RDMA device hca7; there is hca0, hca1")
        assert result.out == b""

    def test_list_names_options_without_effect(self):
        result = run(self.scenario, "--list", "-i", "1")
        result.expect(0, "with --list no option but -d and --mstflint-library has an effect")
        assert result.out == run(self.scenario, "--list").out


REFUSALS = {  # name: scenario, arguments, texts
    "no uverbs": ("fail list ENOSYS\n", "", ["ib_uverbs"]),
    "no such device": (FED, "-d hca7", ["no RDMA device hca7; there is hca0"]),
    "no such port": (FED, "-i 2", ["hca0 has no port 2: it has 1"]),
    "open EACCES": ("fail open EACCES\n", "", ["/dev/infiniband/uverbs0", "root"]),
    "open EIO": ("fail open EIO\n", "", ["cannot be opened: Input.*: look for errors"]),
    "query device": ("fail query-device EIO\n", "", ["query the device: Input.*: look for errors"]),
    "query port": ("fail query-port EIO\n", "", ["query the port: Input.*: look for errors"]),
    "pd": ("fail pd ENOMEM\n", "", ["protection domain: .*: end other programs"]),
    "channel": ("fail channel 24\n", "", ["completion channel: .*: raise the limit of open files"]),
    "cq": ("fail cq ENOMEM\n", "", ["completion queue of 32768 entries: .*: end other programs"]),
    "mr": (
        "fail mr ENOMEM\n",
        "",
        [
            r"buffers .* cannot be registered: .*(ulimit -l\)(, or run as root)?|end other programs.*)\n"
        ],
    ),
    "memory": (FED, "-p 30000G", ["cannot allocate .*: use a smaller SIZE \\(-p\\)"]),
    "memory of -M": (FED, "-M 60000G", ["cannot allocate .*: use a smaller SIZE \\(-M\\)"]),
    "mr of 4096": ("fail mr ENOMEM\n", "-b 12", ["4096 buffers .* cannot be registered", "-b"]),
    "qp EPERM": (
        "fail qp-raw EPERM\nfail flow EINVAL\n",
        "",
        ["CAP_NET_RAW", "setcap cap_net_raw"],
    ),
    "flow EPERM": ("fail flow EPERM\n", "", ["CAP_NET_RAW", "setcap cap_net_raw"]),
    "flow EOPNOTSUPP": (
        "device mlx5_0\nfail flow EOPNOTSUPP\n",
        "--sniffer verbs",
        ["mlx5 devices have no verbs sniffer", "--sniffer firmware", "; use --mode multicast"],
    ),
    "flow ENOTSUPP": (
        "device mlx5_0\nfail flow ENOTSUPP\nport active ethernet\n",
        "",
        ["allow_sniffer_and_nic_rx_shared_tir", "not supported", "RoCE"],
    ),
    "flow EINVAL, unknown driver": (
        "device mana_0\nfail flow EINVAL\n",
        "",
        ["no verbs sniffer of this driver", "Invalid argument", "; use --mode multicast"],
    ),
    "rxe": (
        "device rxe0\nfail flow ENOSYS\nport active ethernet\n",
        "",
        ["mlx5, mlx4 and .since 2025. bnxt_re", "capture RoCE with tcpdump"],
    ),
    "bnxt_re": (
        "device bnxt_re0\nfail flow ENOSYS\nport active ethernet\n",
        "",
        ["bnxt_re devices .* of 2025 or newer", "capture RoCE with tcpdump"],
    ),
    "mlx4": ("device mlx4_0\nfail flow EINVAL\n", "", ["log_num_mgm_entry_size"]),
    "iwarp": ("device cxgb4_0\ntransport iwarp\n", "", ["iWARP"]),
    "qp EINVAL": (
        "fail qp-raw EINVAL\nfail qp-ud EINVAL\n",
        "",
        ["no queue pair can be created"],
    ),
    "qp ENOMEM": ("fail qp-raw ENOMEM\nfail qp-ud ENOMEM\n", "", ["ask for fewer buffers"]),
    "init": ("fail init EINVAL\n", "", ["cannot be made ready"]),
    "rtr": ("fail rtr EIO\n", "", ["cannot be made ready"]),
}


@pytest.mark.parametrize("scenario, arguments, texts", REFUSALS.values(), ids=list(REFUSALS))
def test_refusal_names_cause_and_remedy_and_leaves_an_old_file_unchanged(
    folder, scenario, arguments, texts
):
    old = folder / "old.pcap"
    old.write_text("old")
    run(scenario, "-w", "old.pcap", *arguments.split()).expect(1, *texts)
    assert old.read_text() == "old"


def test_no_device_is_an_error():
    result = subprocess.run(
        [CAPTURE],
        env={**os.environ, "LD_LIBRARY_PATH": REPLAY, "IPOIB_REPLAY": "/dev/null"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    assert b"there is no RDMA device here" in result.stderr


# --- the type of the queue pair: a UD queue pair with a flow is dangerous on mlx5


def with_driver(folder, name):
    """The line of a scenario for a device whose kernel driver has this name."""
    device = folder / f"sysfs-{name}" / "device"
    device.mkdir(parents=True)
    (device / "driver").symlink_to(f"/sys/bus/pci/drivers/{name}")
    return f"sysfs {device.parent}\n"


@pytest.mark.parametrize("other", ["fail qp-ud EINVAL\n", "fail qp-raw EINVAL\n", ""])
def test_both_types_of_queue_pair_are_tried_on_mlx4(other):
    run("device mlx4_0\n" + other + FED, "-w", "u.pcap", "-s", *ALL).expect(0)
    assert frames_of("u.pcap") == fed()


@pytest.mark.parametrize("device", ["mlx5_0", "hfi1_0", "ibp3s0"])
def test_ud_queue_pair_is_tried_on_mlx4_only(device):
    options = ("--sniffer", "verbs", "-w", "u.pcap", "-s", *ALL)
    run(f"device {device}\nfail qp-raw EINVAL\n" + FED, *options).expect(
        1, "no queue pair can be created: Invalid argument", "--mode multicast"
    )


@pytest.mark.parametrize(
    "name, driver, status", [("mlx4_0", "mlx5_core", 1), ("ibp3s0", "mlx4_core", 0)]
)
def test_driver_and_not_the_name_decides_on_the_type(folder, name, driver, status):
    scenario = f"device {name}\n" + with_driver(folder, driver) + "fail qp-raw EINVAL\n" + FED
    run(scenario, "--sniffer", "verbs", "-w", "u.pcap", "-s", *ALL).expect(status)


def test_fewer_buffers_where_the_device_has_fewer():
    result = run("max-qp-wr 1000\nmax-cqe 500\n" + FED, "-w", "f.pcap", *ALL).expect(0)
    assert b"burst size)  : 500\n" in result.out
    assert "instead" not in result.err


def test_fewer_buffers_than_asked_for_are_reported():
    run("max-qp-wr 1000\n" + FED, "-w", "f.pcap", "-b", "12", *ALL).expect(
        0, "1000 buffers instead of 4096"
    )


def test_one_buffer_is_enough():
    run("synthetic 64\n", "-w", "f.pcap", "-s", "-b", "0", "--count", "1000").expect(
        0, summary(1000, 64000, 0)
    )
    assert numbers(frames_of("f.pcap")) == list(range(1000))


def test_port_that_is_down_is_waited_for():
    run("port down ib\n", "-w", "q.pcap", "-s", "--duration", "0.2").expect(
        0, "not active", summary(0, 0, 0)
    )
    assert os.path.getsize("q.pcap") == 24


def test_port_without_a_link_layer_is_captured_from():
    run("port active none\n" + FED, "-w", "q.pcap", "-s", *ALL).expect(0)
    assert frames_of("q.pcap") == fed()

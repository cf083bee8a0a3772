# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture's multicast mode, on the simulated devices and the simulated subnet administration
(SA) of tests/capture/replay/.

Expected: the rebuilt frames are those that were played, except for the fields that no completion
has; the SA's log lists the groups that were joined and left. Each test has a device of its own,
because captures of one device share a lock of the machine."""
import os
import re
import signal
import subprocess
import time

import pytest

from support import capfile
from support.capture import kill_at_any_time
from support.capture import CAPTURE, DROPPED, END_NOTE, FED, FLAGS, INBOUND, LOST_BY_DEVICE
from support.capture import LOST_BY_PROGRAM, RECEIVED, SANITIZED, contents, end_at, fed, frames_of
from support.capture import last_statistics, new_device, option_number, run, run_all, start, summary
from support.capture import sysfs
from support.folders import open_folder
from support.paths import TSHARK
from support.wait import duration, until

pytestmark = pytest.mark.usefixtures("folder")
BROADCAST, ROUTERS = "ff12:401b:ffff::ffff:ffff", "ff12:601b:ffff::2"
LATE, GONE = "ff12:401b:ffff::f01:203", "ff12:401b:ffff::f01:204"
PACKED = {
    BROADCAST: bytes.fromhex("ff12401bffff000000000000ffffffff"),
    ROUTERS: bytes.fromhex("ff12601bffff00000000000000000002"),
}
BOTH = ((BROADCAST, 0xC000), (ROUTERS, 0xC006))
MULTICAST = ("--mode", "multicast")
PCAPNG = ("--format", "pcapng")


class Link:
    """A port of a device that no other test uses, the groups of its subnet, and the log of its
    SA."""

    def __init__(self):
        self.device = new_device()
        self.log = os.path.abspath(f"{self.device}.log")

    def play(self, more="", groups=BOTH, qkey=0xB1B):
        """A scenario with these groups. No played frame has the port's LID."""
        if os.path.exists(self.log):
            os.unlink(self.log)
        lines = "".join(f"group {mgid} {mlid:#x} {qkey:#x}\n" for mgid, mlid in groups)
        return f"device {self.device}\nlid 9\nsa-log {self.log}\n{lines}{more}"

    def logged(self):
        """The SA's log, line by line."""
        return capfile.load(self.log).decode().splitlines() if os.path.exists(self.log) else []

    def did(self, what, mgid):
        return f"{what} {mgid} 2" in self.logged()

    def memberships(self):
        """The result of the log: the groups that the port is in; and how often it joined one."""
        held, joins, log = {}, 0, self.logged()
        for line in log:
            assert not line.startswith("queued"), f"a response of the SA was not received: {line}"
            what, mgid, state = line.split()
            assert what != "deny", f"the port wants to leave what it does not hold: {log}"
            assert state == "2", f"the port joins as something else than NonMember: {line}"
            joins += what == "join"
            held[mgid] = held.get(mgid, 0) | 2 if what == "join" else held.get(mgid, 0) & ~2
        return {mgid for mgid, state in held.items() if state}, joins

    def left(self, joins=None):
        """The port has left all groups; after a kill its keeper process needs some time for that."""
        until(lambda: not self.memberships()[0], f"all groups are left: {self.logged()}", 10)
        if joins is not None:
            assert self.memberships()[1] == joins, self.logged()


@pytest.fixture
def link():
    return Link()


def begin(scenario, *arguments, **more):
    """Starts, and waits until the file exists: it is created when the groups are known."""
    path = arguments[arguments.index("-w") + 1]
    return start(scenario, *MULTICAST, *arguments, **more).wait_for_file(path)


def datagrams():
    """The datagrams to groups among the played frames: IBA 7.7, 8.3, 9.2."""
    return [
        f
        for f in fed()
        if f[1] & 3 == 3 and f[48] == 0x64 and f[53:56] == b"\xff\xff\xff" and f[32] == 0xFF
    ]


def sent_to(*mgids):
    """The played datagrams to these groups, with 0 in the fields that a completion does not
    have."""
    packed = [PACKED[mgid] for mgid in mgids]
    return [blanked(f) for f in datagrams() if f[32:48] in packed]


def blanked(frame):
    """The frame with 0 in the fields that a completion does not have: VL; SE, M; A; PSN; both
    CRCs."""
    f = bytearray(frame)
    f[0], f[49], f[56:60], f[-6:] = 0, f[49] & 0x30, bytes(4), bytes(6)
    return bytes(f)


def numbers(frames):
    """The numbers of synthetic datagrams: the last 8 bytes before the CRCs."""
    return [int.from_bytes(f[-14:-6], "big") for f in frames]


def texts(frames):
    return [f.hex() for f in frames]


# --- what is written


@pytest.mark.parametrize("form", ["erf", "pcapng"])
def test_frames_to_the_groups_are_rebuilt_from_lrh_to_vcrc(link, form):
    expected = sent_to(BROADCAST, ROUTERS)
    assert len(sent_to(BROADCAST)) >= 1 and len(sent_to(ROUTERS)) >= 2, "the capture has both"
    result = run(
        link.play(FED),
        *(*MULTICAST, "-w", "a.cap", "-s", "--format", form, "--count", str(len(expected))),
    )
    result.expect(0, summary(len(expected), sum(map(len, expected)), 0))
    assert texts(frames_of("a.cap")) == texts(expected)
    link.left(2)


def test_pcapng_says_the_mode_that_frames_are_rebuilt_and_the_counts(link):
    count = len(sent_to(BROADCAST, ROUTERS))
    run(link.play(FED), *MULTICAST, "-w", "a.cap", "-s", *PCAPNG, "--count", str(count)).expect(0)
    capture = capfile.read("a.cap")
    options = capture.interfaces[0].options
    assert options[3].decode() == f"{link.device} port 1, InfiniBand, multicast mode"
    assert b"rebuilt" in options[1]
    assert last_statistics(capture) == {RECEIVED: count, LOST_BY_DEVICE: 0, LOST_BY_PROGRAM: 0}
    flags = {option_number(frame, FLAGS) for frame in capture.frames}
    assert flags == {INBOUND}, "all came from others"


def test_comment_follows_the_note_that_frames_are_rebuilt(link):
    arguments = ("-w", "a.cap", "-s", *PCAPNG, "--comment", "a rack", "--count", "1")
    run(link.play(FED), *MULTICAST, *arguments).expect(0)
    assert re.search(rb"rebuilt.*\na rack$", capfile.read("a.cap").interfaces[0].options[1])


def test_tshark_decodes_the_frames_and_finds_no_fault_in_them(link):
    run(link.play(FED), *MULTICAST, "-w", "b.pcap", "-s", "--count", "3").expect(0)
    os.chmod("b.pcap", 0o644)
    fields = ("frame.number", "ipoib.type", "ipoib.rule.id", "_ws.malformed")
    result = subprocess.run(
        [*TSHARK, "-r", os.path.abspath("b.pcap"), "-T", "fields"]
        + [word for field in fields for word in ("-e", field)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 3, result
    noted = r"rfc4391.4.1.qkey-controlled|rfc4391.13.qkey-controlled"
    for line in lines:
        assert re.match(rf"\d\t0x(0800|0806|86dd)\t({noted}|,)*\t$", line), line


def test_groups_broadcast_is_the_broadcast_group_only(link):
    run_all(
        link.play(FED), len(fed()), *MULTICAST, "--groups", "broadcast", "-w", "a.pcap", "-s"
    ).expect(0)
    assert texts(frames_of("a.pcap")) == texts(sent_to(BROADCAST))
    link.left(1)


OTHER = "ff12:401b:8001::ffff:ffff"


@pytest.mark.parametrize(
    "option, first",
    [
        ("--pkey 0x8001", OTHER),
        ("--pkey 1", OTHER),
        ("--pkey 32769", OTHER),
        ("", BROADCAST),
        ("--pkey 0x7fff", BROADCAST),
    ],
    ids=["full member", "limited member", "decimal", "default", "default, limited"],
)
def test_pkey_names_the_partition_with_or_without_its_membership_bit(link, option, first):
    groups = [(BROADCAST, 0xC000), (OTHER, 0xC001)]
    scenario = link.play(
        "pkeys 0xffff 0x7001 0x8001 1\nsynthetic 100\n",
        groups if first == BROADCAST else groups[::-1],
    )
    run(scenario, *MULTICAST, *option.split(), "-w", "p.pcap", "-s", "--count", "10").expect(0)
    pkeys = {f[50:52].hex() for f in frames_of("p.pcap")}
    assert pkeys == {"8001" if first == OTHER else "ffff"}
    assert {line.split()[1] for line in link.logged() if line.startswith("join")} == {first}


def test_table_of_200000_members_is_read(link):
    """An SA that lists members: 11 MB, most of them of one group, the others of another
    partition."""
    expected = sent_to(BROADCAST, ROUTERS)
    arguments = (*MULTICAST, "-w", "a.cap", "-s", "--count", str(len(expected)))
    result = run(link.play("sa-members 200000\n" + FED), *arguments)
    result.expect(0, summary(len(expected), sum(map(len, expected)), 0))
    assert texts(frames_of("a.cap")) == texts(expected)
    link.left(2)


def test_table_above_the_bound_is_named_and_dropped(link):
    """64 MiB; it is removed from the kernel's queue, where it would block the responses after
    it."""
    running = start(link.play("sa-members 1200000\n"), *MULTICAST, "-w", "a.cap", "-s")
    running.wait_for(r"the groups cannot be listed: the SA's response is larger than 64 MiB")
    running.end(signal.SIGTERM)
    link.left(0)


def test_partition_without_the_port_is_refused(link):
    scenario = link.play("pkeys 0xffff 0x7001 0x8001 1\nsynthetic 100\n")
    run(scenario, *MULTICAST, "--pkey", "0x8002", "-w", "never.pcap").expect(
        1, "not in partition 0x8002; it has the P_Keys 0xffff 0x7001 0x8001 0x0001"
    )
    assert not os.path.exists("never.pcap")


@pytest.mark.parametrize("wrong", ["0", "0x8000", "0x10000", "x", ""])
def test_wrong_pkey_is_refused(link, wrong):
    run(link.play(), *MULTICAST, "--pkey", wrong).expect(2, "--pkey", "P_Key")


def test_wrong_groups_are_refused(link):
    run(link.play(), *MULTICAST, "--groups", "some").expect(2, "all or broadcast")


# --- groups that come and go. The program asks the SA every 2 s: these captures run side by side.


def later(link):
    """A group is created, and one is deleted."""
    more = f"group {LATE} 0xc00a 0xb1b 1000\ngroup {GONE} 0xc00b 0xb1b 0 1000\n"
    return link.play(more, [(BROADCAST, 0xC000)]), ()


def recreated(link):
    """Both groups are deleted and created again, with their old MLIDs."""
    return link.play("sa-recreates 1000\n"), ()


def recreated_by_host(link):
    """Like recreated, and the host is a member; then another group is created."""
    more = f"sa-recreates 1000\nsa-recreates-state 1\ngroup {LATE} 0xc00a 0xb1b 1500\n"
    return link.play(more), ()


def another_qkey(link):
    """Both groups are created again with another Q_Key and their old MLIDs."""
    groups = "".join(
        f"group {mgid} {mlid:#x} {rest}\n"
        for rest in ("0xb1b 0 1000", "0xb1c 1000")
        for mgid, mlid in BOTH
    )
    return link.play(groups + FED + "rate 1000\ntotal 1000000\n", []), ("-s",)


def gone_group(link):
    """A group is deleted; later the queue pair fails."""
    groups = f"group {BROADCAST} 0xc000 0xb1b\ngroup {ROUTERS} 0xc006 0xb1b 0 1000\n"
    flow = "rate 4000\ntotal 1000000\nwhen fail qp-error\n"
    return link.play(groups + FED + flow, []), ("-s",)


def no_link(link):
    """No broadcast group at first."""
    more = f"group {BROADCAST} 0xc000 0xb1b 1500\nsynthetic 100\nrate 100\n"
    return link.play(more, []), ("-s", "--count", "20")


def silent_at_first(link):
    """The SA does not respond for 2 s."""
    more = "sa-silent 0 2000\nsynthetic 100\nrate 1000\n"
    return link.play(more), ("-s", "--count", "20")


def silent(link):
    """The SA does not respond."""
    return link.play("sa-silent 0\n"), ("-s",)


class Slow:
    """A capture that waits for the program's next request to the SA, in a folder of its own."""

    def __init__(self, plan):
        self.folder = os.path.abspath(plan.__name__)
        os.mkdir(self.folder)
        os.chdir(self.folder)
        self.link = Link()
        scenario, options = plan(self.link)
        self.path = os.path.join(self.folder, "a.pcap")
        self.process = start(scenario, *MULTICAST, "-w", self.path, *options)

    def frames(self):
        """The frames that it has written so far."""
        data = capfile.load(self.path) if os.path.exists(self.path) else b""
        return contents(capfile.parse(data, truncated=True)) if len(data) >= 24 else []


@pytest.fixture(scope="module")
def slow():
    """The captures of the plans above, by the plan; they start at the same time."""
    plans = (later, recreated, recreated_by_host, another_qkey)
    plans += (gone_group, no_link, silent_at_first, silent)
    before = os.getcwd()
    with open_folder() as path:
        begun = {}
        try:
            for plan in plans:
                os.chdir(path)
                begun[plan] = Slow(plan)
            os.chdir(before)
            yield begun
        finally:
            for capture in begun.values():
                if not capture.process.has_ended():
                    capture.process.kill()


def await_log(capture, what, mgid):
    """Waits until the SA's log contains this."""
    capture.process.wait_until(
        lambda: capture.link.did(what, mgid), f"{what} {mgid}: {capture.link.logged()}"
    )


def test_later_groups_are_joined_and_deleted_groups_are_not_left(slow):
    capture = slow[later]
    await_log(capture, "join", LATE)
    capture.process.end(signal.SIGTERM).expect(0)
    assert capture.link.did("leave", LATE) and capture.link.did("leave", BROADCAST)
    assert not capture.link.did("leave", GONE), "there is nothing to leave"


def test_recreated_groups_are_joined_again(slow):
    capture = slow[recreated]
    capture.process.wait_until(lambda: capture.link.memberships()[1] == 4, "joined again")
    capture.process.end(signal.SIGTERM).expect(0)
    capture.link.left(4)


def test_recreated_groups_with_only_the_host_are_not_left(slow):
    capture = slow[recreated_by_host]
    await_log(capture, "join", LATE)  # its last action after its second request
    capture.process.end(signal.SIGTERM).expect(0)
    log = capture.link.logged()
    assert [line for line in log if LATE not in line] == [
        f"join {BROADCAST} 2",
        f"join {ROUTERS} 2",
    ]


def test_link_with_groups_recreated_with_another_qkey_is_still_captured(slow):
    capture = slow[another_qkey]
    wanted = {("c000", 0xB1C), ("c006", 0xB1C)}

    def captured():
        return [(f[2:4].hex(), int.from_bytes(f[60:64], "big")) for f in capture.frames()]

    capture.process.wait_until(lambda: wanted <= set(captured()), f"{wanted} are captured")
    result = capture.process.end(signal.SIGTERM).expect(0, "the link has another Q_Key now")
    assert "not captured" not in result.err, result.err
    qkeys = [qkey for _, qkey in captured()]
    assert qkeys == sorted(qkeys) and set(qkeys) == {0xB1B, 0xB1C}
    assert {dlid for dlid, qkey in captured() if qkey == 0xB1C} == {"c000", "c006"}
    capture.link.left(4)


def expect_late_groups(capture, text, left):
    """The capture says so, and has all packets in the end."""
    capture.process.end(limit=30).expect(0, text, summary(20, "3480", 0))
    capture.link.left(left)


def test_no_broadcast_group_yet_is_reported_and_waited_for(slow):
    expect_late_groups(slow[no_link], "no IPoIB broadcast group for P_Key 0xffff yet", 1)


def test_silent_sa_is_reported_and_a_signal_ends_the_capture(slow):
    process = slow[silent].process
    process.wait_for(r"the SA \(LID 1\) does not answer")
    assert duration(lambda: process.end(signal.SIGTERM)) < (4 if SANITIZED else 1)


def test_silent_sa_is_queried_again_soon(slow):
    text = "does not answer; the groups are joined when it does"
    expect_late_groups(slow[silent_at_first], text, 2)


# --- the subnet administrator and the port


def test_group_with_another_qkey_is_reported_and_not_captured(link):
    text = (
        "group ff12:401b:ffff::1 has Q_Key 0x00000b1c, the broadcast group 0x00000b1b: "
        "its frames are not captured"
    )
    scenario = link.play("group ff12:401b:ffff::1 0xc009 0xb1c\n" + FED)
    run_all(scenario, len(fed()), *MULTICAST, "-w", "o.pcap").expect(0, text)


def test_group_that_the_sa_refuses_is_reported_and_captured_while_the_host_is_a_member(link):
    result = run_all(
        link.play("sa-refuses 0x0200\n" + FED), len(fed()), *MULTICAST, "-w", "o.pcap"
    ).expect(0, f"the SA refuses this port as a member of group {BROADCAST}", "0x0200")
    assert len(frames_of("o.pcap")) == len(sent_to(BROADCAST)) + len(sent_to(ROUTERS))
    assert result.err.count("refuses this port") == 2, result.err


def test_sa_that_no_longer_answers_is_reported_before_the_last_line(link):
    scenario = link.play("sa-silent 200\nsynthetic 100\nrate 1000\n")
    begin(scenario, "-w", "s.pcap", "-s", "--duration", "0.5").end().expect(
        0, "left in the background", summary(r"\d+", r"\d+", 0)
    )


def test_port_that_is_down_is_waited_for(link):
    run(link.play("port down ib\n"), *MULTICAST, "-w", "d.pcap", "--duration", "0.3").expect(
        0, "not active", "joined when it is"
    )
    link.left(0)


# rfc4391.13.protected: the missing privilege is named, and nothing is sent without it.
REFUSALS = {  # name: scenario, arguments, texts
    "Ethernet": (
        "port active ethernet\n",
        "",
        ["link layer is Ethernet", "capture RoCE with tcpdump"],
    ),
    "iWARP": ("transport iwarp\n", "", ["iWARP", "tcpdump"]),
    "umad EACCES": (
        "fail umad EACCES\n",
        "",
        ["the SA cannot be queried: permission denied", "run as root"],
    ),
    "umad EIO": ("fail umad EIO\n", "", ["umad. cannot be opened", "modprobe ib_umad"]),
    "qp EPERM": ("fail qp-ud EPERM\n", "", ["CAP_NET_RAW", "setcap"]),
    "qp ENOMEM": ("fail qp-ud ENOMEM\n", "", ["fewer buffers"]),
    "init EPERM": ("fail init EPERM\n", "", ["CAP_NET_RAW", "setcap"]),
    "rtr": ("fail rtr EIO\n", "", ["cannot be made ready"]),
    "cq": ("fail cq ENOMEM\n", "", ["completion queue of 4096 entries"]),
    "open EACCES": ("fail open EACCES\n", "", ["/dev/infiniband/uverbs0"]),
    "no such device": ("", "-d mlx5_none", ["no RDMA device mlx5_none; there is {device}"]),
    "no such port": ("", "-i 2", ["{device} has no port 2"]),
    "no P_Keys": ("pkeys 0\n", "", ["not in partition", "P_Keys: none"]),
}


@pytest.mark.parametrize("more, arguments, patterns", REFUSALS.values(), ids=list(REFUSALS))
def test_refusal_names_the_remedy_and_leaves_an_old_file_unchanged(
    folder, link, more, arguments, patterns
):
    old = folder / "old.pcap"
    old.write_text("old")
    run(link.play(more), *MULTICAST, "-w", "old.pcap", *arguments.split()).expect(
        1, *(pattern.format(device=link.device) for pattern in patterns)
    )
    assert old.read_text() == "old"
    link.left(0)


def test_group_that_cannot_be_attached_is_reported(link):
    run(link.play("fail attach ENOMEM\n"), *MULTICAST, "-w", "d.pcap", "--duration", "0.3").expect(
        0, "group .* cannot be received"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "--nonsense",
        "file",
        "-i 0",
        "-b 21",
        "-M 0",
        "-I up",
        "--count 0",
        "--duration x",
        "--snaplen 70000",
        "--ring-files 2",
        "-w - --ring-size 1M",
        "-M 1M -p 1M",
        "--comment x",
        "--mode multi",
    ],
)
def test_wrong_usage_is_refused_with_a_message_and_status_2(link, arguments):
    result = run(link.play(), *MULTICAST, *arguments.split()).expect(2, "ipoib-capture: ", "--help")
    assert result.out == b""
    assert not os.path.exists(link.log), "nothing was joined"


# --- faults


def test_failed_completions_are_counted(link):
    faults = "".join(f"at {n * 10} error 12\n" for n in range(1, 101))
    run(
        link.play("synthetic 100\ntotal 1002\n" + faults),
        *(*MULTICAST, "-w", "x.pcapng", "-s", "-b", "6", *PCAPNG, "--count", "902"),
    ).expect(1, summary(902, 902 * 174, 100), "100 frames could not be delivered")
    capture = capfile.read("x.pcapng")
    assert numbers(contents(capture)) == [n for n in range(1002) if n == 0 or n % 10]
    assert sum(DROPPED in frame.options for frame in capture.frames) == 100


def test_losses_of_the_device_are_counted(link):
    run(
        link.play(sysfs() + "synthetic 100\ntotal 3000\nat 100 drop 7\n"),
        *(*MULTICAST, "-w", "x.pcap", "-s", "--count", "2993"),
    ).expect(1, summary(2993, 2993 * 174, 7), "7 frames were lost by the device")


def test_frames_longer_than_a_buffer_are_counted(link):
    scenario = link.play("synthetic 5000\ntotal 3\n")
    run_all(scenario, 3, *MULTICAST, "-w", "x.pcap", "-s").expect(1, summary(0, 0, 3), "-j")


@pytest.mark.parametrize("fault", ["qp-error", "cq-error"])
def test_queue_pair_in_error_is_replaced_and_attached_again(link, fault):
    # without a rate: the device waits while the program replaces the queue pair
    flow = f"synthetic 100\ntotal 20000\nat 5000 {fault}\nat 9000 {fault}\n"
    run_all(link.play(flow), 20000, *MULTICAST, "-w", "x.pcap", "-s").expect(
        1, "created again", "the queue pair failed 2 times"
    )
    got = numbers(frames_of("x.pcap"))
    assert got == sorted(set(got))
    assert (got[0], got[-1]) == (0, 19999)
    assert len(got) > 15000


def test_another_lid_or_sm_joins_the_groups_again(link):
    process = begin(link.play("synthetic 100\nrate 1000\nat 300 lid 2\n"), "-w", "l.pcap", "-s")
    process.wait_until(lambda: link.memberships()[1] == 4, "joined again")
    time.sleep(0.2)  # there are no more joins
    process.end(signal.SIGTERM).expect(0)
    held, joins = link.memberships()
    assert joins == 4 and not held, link.logged()


@pytest.mark.parametrize(
    "fault, text",
    [
        ("remove", "the device was removed"),
        ("poll-error", "cannot be polled"),
        ("post-error", "receives cannot be posted"),
    ],
)
def test_device_that_goes_away_or_fails_leaves_a_whole_file_and_no_group(link, fault, text):
    scenario = link.play(f"synthetic 100\nat 20000 {fault}\n")
    run(scenario, *MULTICAST, "-w", "g.pcap", "-s").expect(1, text)
    got = numbers(frames_of("g.pcap"))
    assert len(got) > 10000 and got == list(range(len(got)))
    link.left(2)


@pytest.mark.parametrize("options", [(), PCAPNG, ("-M", "1M")], ids=["erf", "pcapng", "memory"])
def test_full_disk_is_reported_and_the_groups_are_left(link, options):
    scenario = link.play("synthetic 100\ntotal 50\n")
    run(scenario, *MULTICAST, "-w", "/dev/full", "-s", *options, "--count", "50").expect(
        1, "/dev/full: cannot be written.*No space", summary(0, 0, 50)
    )
    link.left(2)


@pytest.mark.parametrize("rate", ["", "rate 1000\n"], ids=["fast", "slow"])
def test_closed_pipe_is_reported_and_the_groups_are_left(link, rate):
    shell = f"{CAPTURE} --mode multicast -w - | head -c 1000 > headed; exit 0"
    start(link.play("synthetic 100\n" + rate), command=["sh", "-c", shell]).end(limit=20).expect(
        0, "standard output: cannot be written.*Broken pipe"
    )
    data = capfile.load("headed")
    assert len(data) == 1000 and capfile.parse(data, truncated=True).frames
    link.left(2)


# --- the end


@pytest.mark.parametrize(
    "sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name
)
def test_signal_ends_the_capture_after_the_groups_are_left(link, sig):
    flow = "synthetic 100\nrate 1000\n" + end_at(150)
    process = begin(link.play(flow), "-w", "s.pcap", "-s").wait_for(END_NOTE)
    assert duration(lambda: process.end(sig).expect(0)) < (3 if SANITIZED else 0.7)
    held, joins = link.memberships()
    assert not held and joins == 2, link.logged()
    got = numbers(frames_of("s.pcap"))
    assert got == list(range(len(got))) and len(got) > 50


@pytest.mark.parametrize("form", ["erf", "pcapng"])
def test_capture_killed_at_any_time_leaves_whole_packets_and_no_group(link, form):
    begin = lambda: start(
        link.play("synthetic 100\nrate 500000\n"),
        *(*MULTICAST, "-w", "k.pcap", "-s", "--format", form),
        stdout=subprocess.DEVNULL,
    )
    for _ in kill_at_any_time(begin, 6 if SANITIZED else 50, 3, 0.03, numbers):
        link.left()


def test_keeper_of_the_groups_that_is_killed_is_replaced_and_the_groups_are_left_at_the_end(link):
    process = begin(link.play("synthetic 100\nrate 1000\n"), "-w", "k.pcap", "-s")
    process.wait_until(lambda: link.memberships()[1] == 2, "the groups are joined")
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as f:
        os.kill(int(f.read()), signal.SIGKILL)
    process.wait_until(lambda: link.memberships()[1] == 4, "another keeper has joined the groups")
    process.end(signal.SIGTERM).expect(0, "another is started")
    link.left(4)


def test_of_two_captures_on_a_port_the_last_one_leaves_the_groups(link):
    scenario = link.play("synthetic 100\nrate 100\n")
    one = begin(scenario, "-w", "one.pcap", "-s")
    other = start(scenario, *MULTICAST, "-w", "other.pcap", "-s")
    try:
        other.wait_for_file("other.pcap")
        other.wait_until(lambda: link.memberships()[1] == 4, "both have joined")
        one.end(signal.SIGTERM).expect(0)
        assert not any(line.startswith("leave") for line in link.logged()), link.logged()
    finally:
        result = other.end(signal.SIGTERM)
    result.expect(0)
    assert sum(line.startswith("leave") for line in link.logged()) == 2, link.logged()


def test_idle_capture_takes_no_processor_time(link):
    process = begin(link.play(), "-w", "i.pcap", "-s")
    time.sleep(0.3)
    before = process.processor_time()
    time.sleep(1)
    idle = process.processor_time() - before
    process.end(signal.SIGINT).expect(0)
    assert SANITIZED or (before < 0.15 and idle < 0.05), (before, idle)


# The last test, because the next request to the SA is seconds after the start.
def test_deleted_group_is_not_captured_even_by_a_new_queue_pair(slow):
    capture = slow[gone_group]
    groups = lambda: [f[2:4].hex() for f in capture.frames()]
    alone = lambda: set(groups()[-40:]) == {"c000"}
    capture.process.wait_until(alone, "only frames of the other group follow")
    assert "c006" in groups()
    before = len(groups())
    with open(os.path.join(capture.folder, "fail"), "x", encoding="ascii"):
        pass
    capture.process.wait_until(lambda: len(groups()) > before + 100, "100 frames more")
    capture.process.end(signal.SIGTERM).expect(1, "failed 1 time:")
    assert set(groups()[before:]) == {"c000"}, groups()[before:]

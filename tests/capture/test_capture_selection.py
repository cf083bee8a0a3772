# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture --only: the packets that are captured, left out and counted; on simulated devices
(tests/capture/replay/).

Expected: the tests build each packet (tests/frames/), so its kind is known before the program reads
it."""
import random

import pytest

from frames import fabric, ib, messages
from frames.build import SDP_SID
from frames.connection import Connection
from frames.fabric import A, B, C, Tape
from support import capfile
from support.capture import COMMENT, RECEIVED, contents, end_at, frames_of, last_statistics, run
from support.capture import start, summary, sysfs, write_frames

pytestmark = pytest.mark.usefixtures("folder")
ACCEPTED = 6  # isb_filteraccept
KINDS = ("ipoib", "cm", "sa", "smp", "other")
QKEY_OF_USERS = 0x1234


def labelled(kind, *octets):
    return [(kind, frame) for frame in octets]


def ud(payload, **more):
    more = {"dlid": 2, "slid": 1, "destqp": 0x405, "srcqp": 0x48, "qkey": fabric.QKEY, **more}
    return ib.Frame(ib.UD | ib.ONLY, payload, **more).ib()


def mad(kind_class, destqp=1, qkey=ib.QKEY_GSI, srcqp=1):
    return ud(bytes([1, kind_class]) + bytes(254), destqp=destqp, qkey=qkey, srcqp=srcqp)


def datagrams():
    """Datagrams of IPoIB and of other protocols."""
    ipoib = [
        fabric.ud_frame(A, fabric.BROADCAST_MGID, messages.arp_request(A, B.ip)).ib(),
        fabric.ud_frame(A, B, messages.arp_reply(A, B)).ib(),
        fabric.ud_frame(A, B, messages.arp_reply(A, B), grh=True).ib(),
        fabric.ud_frame(B, A, messages.ping(B, A)).ib(),
        ud(ib.u16(0x86DD) + ib.u16(0) + bytes(40)),
        ud(ib.u16(0x8035) + ib.u16(0) + bytes(28)),
        ud(ib.u16(0x0800) + ib.u16(0x5A5A) + bytes(20)),  # Reserved is not 0: must be captured
        # any packet to an IPoIB group: an unknown Type is a violation
        fabric.ud_frame(A, fabric.BROADCAST_MGID, ib.u16(0x9999) + bytes(30)).ib(),
    ]
    other = [
        ud(ib.u16(0x1234) + bytes(62), qkey=QKEY_OF_USERS),
        fabric.ud_frame(A, "ff12::1", ib.u16(0x9999) + bytes(30)).ib(),  # not an IPoIB MGID
        ud(b"", qkey=QKEY_OF_USERS),
    ]
    return labelled("ipoib", *ipoib) + labelled("other", *other)


def management():
    """MADs by their class and queue pair."""
    return (
        labelled("smp", mad(0x01, destqp=0, qkey=0, srcqp=0), mad(0x81, destqp=0, qkey=0, srcqp=0))
        # the third: a response to a requester that has a queue pair of its own
        + labelled("sa", mad(0x03), mad(0x03, srcqp=0x77), mad(0x03, destqp=0x77))
        + labelled("cm", mad(0x07))
        + labelled("other", mad(0x04), mad(0x06))  # performance, device management
    )


def connection(service_id, kind, a=A, **more):
    """A connection's packets: setup, messages, acknowledgements both ways, end."""
    tape = Tape()
    c = Connection(tape, a=a, **more)
    c.set_up(service_id)
    setup = len(tape.records)
    c.send(True, messages.big(A, B, 5000))
    c.send(False, messages.ping(B, A))
    for up in (True, False):
        c.packet(up, ib.ACK, b"", 5, ext=ib.aeth(0, 1), transport=ib.RC)
    data = len(tape.records)
    c.dreq()
    c.drep()
    frames = [record[1] for record in tape.records]
    return (
        labelled("cm", *frames[:setup])
        + labelled(kind, *frames[setup:data])
        + labelled("cm", *frames[data:])
    )


def connections():
    return (
        connection(ib.service_id_linux(B.qpn), "ipoib")
        + connection(SDP_SID, "other", a=C, ids=(7, 8))  # the same QPNs, of another port
        + connection(SDP_SID, "other", tid=0x1115)  # the same QPNs again
        + connection(ib.service_id_rfc(B.qpn), "ipoib", tid=0x1119)
        + connection(
            ib.service_id_rfc(B.qpn), "ipoib", transport=1, ids=(9, 10), qps=(0x301, 0x302)
        )
    )


def opened_before():
    """A connection whose setup was not captured: the first packet that starts a datagram identifies
    it."""
    tape = Tape()
    c = Connection(tape, ids=(11, 12), qps=(0x401, 0x402))
    c.send(True, messages.big(A, B, 5000), skip=(0,))  # the rest of a message
    rest = len(tape.records)
    c.send(True, messages.big(A, B, 5000))
    frames = [record[1] for record in tape.records]
    return labelled("other", *frames[:rest]) + labelled("ipoib", *frames[rest:])


def not_for_ipoib():
    return labelled(
        "other",
        ib.Frame(
            ib.RC | ib.WRITE_ONLY, bytes(64), dlid=2, slid=1, destqp=0x999, ext=bytes(16)
        ).ib(),
        ib.Frame(ib.RC | ib.ONLY, bytes(64), dlid=2, slid=1, destqp=0x999).ib(),
        ib.lrh(ib.LNH_RAW, 2, 1, 16) + bytes(58),
        ib.lrh(ib.LNH_IPV6, 2, 1, 16) + bytes(58),
        ib.lrh(ib.LNH_BTH, 2, 1, 2),  # ends after the LRH
    )


ALL = datagrams() + management() + connections() + opened_before() + not_for_ipoib()


def left_out(only, offered):
    counts = {kind: sum(k == kind for k, _ in offered) for kind in KINDS if kind not in only}
    parts = ", ".join(f"{kind} {count}" for kind, count in counts.items() if count)
    total = sum(counts.values())
    return rf"drops; left out: {total} \({parts}\)\n$" if total else r"drops; left out: 0\n$"


@pytest.mark.parametrize(
    "only", ["ipoib", "cm", "sa", "smp", "ipoib,cm", "smp,sa", "ipoib,cm,sa,smp"]
)
def test_wanted_packets_are_captured_in_order_and_others_counted(only):
    kinds = only.split(",")
    write_frames("in.pcap", [frame for _, frame in ALL])
    wanted = [frame for kind, frame in ALL if kind in kinds]
    result = run(
        "frames in.pcap\n" + end_at(len(ALL)),
        *("-w", "o.pcap", "-s", "--only", only, "--count", str(len(wanted))),
    )
    assert frames_of("o.pcap") == wanted
    result.expect(0, rf"{len(wanted)} packets, {sum(map(len, wanted))} octets, 0 drops; left out")


def offer(count):
    """A mix of which about one packet in fifty is selected, with a seed of its own."""
    chance = random.Random(4755)
    rare = datagrams()[:8] + management()[:2]
    common = not_for_ipoib()
    return [chance.choice(rare if chance.random() < 0.02 else common) for _ in range(count)]


@pytest.mark.parametrize("form", ["erf", "pcapng"])
def test_counts_of_a_large_offer(form):
    offered = offer(20000)
    wanted = [frame for kind, frame in offered if kind == "ipoib"]
    write_frames("in.pcap", [frame for _, frame in offered])
    process = start(
        sysfs() + "frames in.pcap\nat 20000 port-down\n",
        *("-w", "o", "-s", "--only", "ipoib", "--format", form),
    )
    result = process.wait_for("the link went down").end(15)
    size = sum(map(len, wanted))
    result.expect(0, rf"{len(wanted)} packets, {size} octets, 0 " + left_out(("ipoib",), offered))
    capture = capfile.read("o")
    assert contents(capture) == wanted
    if form == "pcapng":
        statistics = last_statistics(capture)
        assert statistics[RECEIVED] == 20000 and statistics[ACCEPTED] == len(wanted)


# The port of the simulated device has LID 1: SLID 1 is sent, other packets are received.
DIRECTIONS = {"tx": ("received", lambda frame: frame[6:8] == b"\0\1")}
DIRECTIONS["rx"] = ("sent", lambda frame: frame[6:8] != b"\0\1")


@pytest.mark.parametrize("form", ["erf", "pcapng"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("only", [None, "ipoib"])
def test_packets_of_the_other_direction_are_counted(form, direction, only):
    offered = [(kind, frame) for kind, frame in ALL if frame[2:8] != b"\0\1\0\1"]
    missing, is_wanted = DIRECTIONS[direction]
    write_frames("in.pcap", [frame for _, frame in offered])
    there = [(kind, frame) for kind, frame in offered if is_wanted(frame)]
    wanted = [frame for kind, frame in there if only in (None, kind)]
    counts = [(missing, len(offered) - len(there))]
    if only:
        counts += [(kind, sum(k == kind for k, _ in there)) for kind in KINDS if kind != only]
    parts = ", ".join(f"{name} {count}" for name, count in counts if count)
    assert counts[0][1] > 10 and len(wanted) > 5
    options = ("--only", only) if only else ()
    process = start(
        "frames in.pcap\n" + end_at(len(offered)),
        *("-w", "o", "-s", "-I", direction, "--format", form, *options),
    )
    result = process.wait_for("the link went down").end(15)
    total = len(offered) - len(wanted)
    result.expect(
        0, rf"{len(wanted)} packets, \d+ octets, 0 drops; left out: {total} \({parts}\)\n$"
    )
    capture = capfile.read("o")
    assert contents(capture) == wanted
    if form == "pcapng":
        statistics = last_statistics(capture)
        assert statistics[RECEIVED] == len(offered) and statistics[ACCEPTED] == len(wanted)
        note = f"-I {direction}{' --only ipoib' if only else ''}: other packets were left out"
        with open("o", "rb") as f:
            assert note.encode() in f.read()


def test_pcapng_says_that_packets_were_left_out():
    write_frames("in.pcap", [frame for _, frame in datagrams()])
    run("frames in.pcap\n", *("-w", "o", "--format", "pcapng", "--only", "ipoib", "--count", "8"))
    with open("o", "rb") as f:
        assert b"--only ipoib: other packets were left out" in f.read()


def test_device_that_does_not_wait_loses_no_wanted_packet_uncounted():
    offered = offer(10000)
    write_frames("in.pcap", [frame for _, frame in offered])
    scenario = sysfs() + "thread on\nrate 50000\nframes in.pcap\n" + end_at(10000)
    result = start(scenario, *("-w", "o", "-s", "--only", "ipoib"))
    result = result.wait_for("the link went down").end(15)
    wanted = sum(kind == "ipoib" for kind, _ in offered)
    packets_, _, drops = result.counts()
    assert packets_ <= wanted <= packets_ + drops


def test_whole_packets_of_each_kind_without_the_option():
    write_frames("in.pcap", [frame for _, frame in ALL])
    total = sum(len(frame) for _, frame in ALL)
    run("frames in.pcap\n", *("-w", "o", "-s", "--count", str(len(ALL)))).expect(
        0, summary(len(ALL), total, 0)
    )
    assert frames_of("o") == [frame for _, frame in ALL]


@pytest.mark.parametrize("value", ["", "ipoib,", ",cm", "ip", "ipoib cm", "other", "ipoib,,cm"])
def test_other_kinds_are_refused(value):
    run("synthetic 100\n", "-w", "o", "--only", value).expect(
        2, "--only needs some of ipoib, cm, sa and smp"
    )


def test_ethernet_has_nothing_to_select_by():
    run(
        "port active ethernet\nsynthetic 100\n", *("-w", "o", "--only", "ipoib", "--count", "3")
    ).expect(0, "--only has no effect on Ethernet", r"3 packets, 300 octets, 0 drops\n$")

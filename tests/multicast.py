#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: clock
# test: newest
# test: lock=groups of the played device
# test: timeout=600
"""ipoib-capture's multicast mode, on the played devices and the played subnet administrator of tests/replay/.

Environment and output as tests/capture.py (IPOIB_SRC, IPOIB_BUILD, IPOIB_BIN, IPOIB_TSHARK), whose reader and runner of
programs this uses. The rebuilt frames are held against the frames that were fed, but for what no completion tells."""
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

import capture
from capture import (CAPTURE, SANITIZED, Result, content, end, environment, fed, frames_of, read_pcap, read_pcapng, run, start,
                     summary, sysfs)
from tap import TSHARK, test, tests

tests.clear()  # those are tests/capture.py's own
BROADCAST, ROUTERS = "ff12:401b:ffff::ffff:ffff", "ff12:601b:ffff::2"
LOG = "sa.log"
MULTICAST = ("--mode", "multicast")


def play(more="", groups=((BROADCAST, 0xc000), (ROUTERS, 0xc006)), qkey=0xb1b):
    """A scenario with these groups; the port's LID is nobody's in what is fed."""
    if os.path.exists(LOG):
        os.unlink(LOG)
    lines = "".join("group %s %#x %#x\n" % (mgid, mlid, qkey) for mgid, mlid in groups)
    return "lid 9\nsa-log %s\n" % os.path.abspath(LOG) + lines + more


FED = "frames %s\n" % capture.DATAGRAM


def groups_of(frames):
    """Of what was fed, the datagrams to these groups: IBA 7.7, 8.3, 9.2."""
    return [f for f in frames if f[1] & 3 == 3 and f[48] == 0x64 and f[53:56] == b"\xff\xff\xff" and f[32] == 0xff]


def to(mgid):
    packed = bytes.fromhex({BROADCAST: "ff12401bffff000000000000ffffffff", ROUTERS: "ff12601bffff00000000000000000002"}[mgid])
    return [f for f in groups_of(fed()) if f[32:48] == packed]


def untold(frame):
    """The frame with 0 where a completion tells nothing: VL; SE, M; A; PSN; both CRCs."""
    f = bytearray(frame)
    f[0], f[49], f[56:60], f[-6:] = 0, f[49] & 0x30, bytes(4), bytes(6)
    return bytes(f)


def numbers(frames):
    """Of synthetic datagrams: the last 8 octets before the CRCs."""
    return [int.from_bytes(f[-14:-6], "big") for f in frames]


def memberships():
    """What the played SA's log leaves: {group: states}; and how often something was joined."""
    held, joins = {}, 0
    for line in content(LOG).decode().splitlines() if os.path.exists(LOG) else ():
        what, mgid, state = line.split()
        assert what != "deny", "the port would leave what it does not hold: " + line
        assert state == "2", "the port joined as something else than NonMember: " + line
        joins += what == "join"
        held[mgid] = held.get(mgid, 0) | 2 if what == "join" else held.get(mgid, 0) & ~2
    return {mgid for mgid, state in held.items() if state}, joins


def left(joins=None):
    """All that was joined was left again; at the end of a killed capture that takes the keeper a moment."""
    for _ in range(300):
        held, count = memberships()
        if not held:
            break
        time.sleep(0.01)
    assert not held, held
    assert joins is None or count == joins, count


def begin(scenario, *arguments, wait="never", **more):
    """Starts, and waits until the file is there (it is created when the groups were told)."""
    process = start(scenario, *MULTICAST, *arguments, **more)
    path = arguments[arguments.index("-w") + 1]
    for _ in range(1000):
        if os.path.exists(path) or process.poll() is not None:
            break
        time.sleep(0.01)
    return process


@test("what was sent to the groups, rebuilt from LRH to VCRC, and nothing else")
def rebuilt():
    wanted = to(BROADCAST) + to(ROUTERS)
    expected = [untold(f) for f in groups_of(fed()) if f in wanted]
    assert len(to(BROADCAST)) >= 1 and len(to(ROUTERS)) >= 2, "the capture has both"
    for form in ("erf", "pcapng"):
        result = run(play(FED), *MULTICAST, "-w", "a.cap", "-s", "--format", form, "--count", str(len(expected)))
        result.expect(0, summary(len(expected), sum(map(len, expected)), 0))
        assert [f.hex() for f in frames_of("a.cap")] == [f.hex() for f in expected]
        left(2)
    _, frames, interface, statistics = read_pcapng(content("a.cap"))
    assert interface[3] == b"mlx5_0 port 1, InfiniBand, multicast mode"
    assert b"rebuilt" in interface[1] and statistics[-1] == {4: len(expected), 5: 0, 7: 0}
    assert all(struct.unpack("<I", options[2])[0] == 1 for _, _, _, options in frames), "all came from others"
    run(play(FED), *MULTICAST, "-w", "a.cap", "-s", "--format", "pcapng", "--comment", "a rack", "--count", "1").expect(0)
    assert re.search(rb"rebuilt.*\na rack$", read_pcapng(content("a.cap"))[2][1])


@test("tshark decodes them, and finds no fault in them")
def tshark_reads():
    run(play(FED), *MULTICAST, "-w", "b.pcap", "-s", "--count", "3").expect(0)
    os.chmod(".", 0o755)
    os.chmod("b.pcap", 0o644)
    out = subprocess.run([*TSHARK, "-r", os.path.abspath("b.pcap"), "-T", "fields", "-e", "frame.number", "-e", "ipoib.type", "-e",
                          "ipoib.rule.id", "-e", "_ws.malformed"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, check=True).stdout.decode()
    assert len(out.splitlines()) == 3 and all(re.match(r"\d\t0x(0800|0806|86dd)\t(rfc4391.4.1.qkey-controlled|rfc4391.13.qkey-controlled|,)*\t$", line)
                                              for line in out.splitlines()), out


@test("--groups broadcast: the broadcast group alone")
def broadcast_only():
    run(play(FED), *MULTICAST, "--groups", "broadcast", "-w", "a.pcap", "-s", "--duration", "0.5").expect(0)
    assert frames_of("a.pcap") == [untold(f) for f in to(BROADCAST)]
    left(1)


@test("--pkey: the partition, with or without its membership bit; one that the port is not in is refused")
def partitions():
    other = "ff12:401b:8001::ffff:ffff"
    scenario = "pkeys 0xffff 0x7001 0x8001 1\nsynthetic 100\n"
    for option, first in ((("--pkey", "0x8001"), other), (("--pkey", "1"), other), (("--pkey", "32769"), other),
                          ((), BROADCAST), (("--pkey", "0x7fff"), BROADCAST)):
        groups = [(BROADCAST, 0xc000), (other, 0xc001)]
        run(play(scenario, groups if first == BROADCAST else groups[::-1]), *MULTICAST, *option, "-w", "p.pcap", "-s", "--count",
            "10").expect(0)
        frames = frames_of("p.pcap")
        assert {f[50:52].hex() for f in frames} == {"8001" if first == other else "ffff"}, option
        assert set(re.findall(r"join (\S+)", content(LOG).decode())) == {first}
    run(play(scenario), *MULTICAST, "--pkey", "0x8002", "-w", "never.pcap").expect(
        1, "not in partition 0x8002; it has the P_Keys 0xffff 0x7001 0x8001 0x0001")
    assert not os.path.exists("never.pcap")
    for wrong in ("0", "0x8000", "0x10000", "x", ""):
        run(play(), *MULTICAST, "--pkey", wrong).expect(2, "--pkey", "P_Key")
    run(play(), *MULTICAST, "--groups", "some").expect(2, "all or broadcast")


@test("groups that come later are followed, and left where they go")
def later():
    late = "ff12:401b:ffff::f01:203"
    process = begin(play("group %s 0xc00a 0xb1b 1000\ngroup ff12:401b:ffff::f01:204 0xc00b 0xb1b 0 1000\n" % late, [(BROADCAST, 0xc000)]),
                    "-w", "l.pcap")
    for _ in range(400):
        if b"join " + late.encode() in content(LOG):
            break
        time.sleep(0.01)
    else:
        raise AssertionError("it was not joined")
    process.send_signal(signal.SIGTERM)
    end(process).expect(0)
    joined = content(LOG).decode()
    assert "leave " + late in joined and "leave " + BROADCAST in joined
    assert "leave ff12:401b:ffff::f01:204" not in joined, "the group was gone: nothing is left that is not there"


@test("groups that were deleted and made anew, under their old MLIDs: joined again, or not left where only the host is in them")
def made_anew():
    begin(play("sa-anew 1000\n"), "-w", "n.pcap", "--duration", "4.5").wait()
    left(4)
    os.unlink("n.pcap")
    begin(play("sa-anew 1000\nsa-anew-state 1\n"), "-w", "n.pcap", "--duration", "4.5").wait()
    assert memberships()[1] == 2 and "leave" not in content(LOG).decode()


@test("a link whose groups were made anew with another Q_Key, under their old MLIDs: they are heard on")
def another_qkey():
    groups = "".join("group %s %#x %s\n" % (mgid, mlid, rest) for rest in ("0xb1b 0 1000", "0xb1c 1000")
                     for mgid, mlid in ((BROADCAST, 0xc000), (ROUTERS, 0xc006)))
    process = begin(play(groups + FED + "rate 1000\ntotal 4500\n", []), "-w", "q.pcap", "-s", "--duration", "4.5")
    result = end(process).expect(0, "the link has another Q_Key now")
    assert "not captured" not in result.err, result.err
    frames = frames_of("q.pcap")
    qkeys = [int.from_bytes(f[60:64], "big") for f in frames]
    assert qkeys == sorted(qkeys) and set(qkeys) == {0xb1b, 0xb1c}
    assert {f[2:4].hex() for f, qkey in zip(frames, qkeys) if qkey == 0xb1c} == {"c000", "c006"}
    left(4)


@test("a group that is gone is not heard, also by a queue pair that was made anew since")
def gone_group():
    groups = "group %s 0xc000 0xb1b\ngroup %s 0xc006 0xb1b 0 1000\n" % (BROADCAST, ROUTERS)
    process = begin(play(groups + FED + "rate 1000\ntotal 4500\nat 3500 qp-error\n", []), "-w", "g.pcap", "-s", "--duration", "4.5")
    end(process).expect(1, "failed 1 time:")
    heard = [f[2:4].hex() for f in frames_of("g.pcap")]
    last = heard[-len(heard) // 6:]
    assert "c006" in heard and set(last) == {"c000"}, heard


@test("no broadcast group yet: waited for, told; then frames come")
def no_link():
    process = begin(play("group %s 0xc000 0xb1b 1500\nsynthetic 100\nrate 100\n" % BROADCAST, []), "-w", "w.pcap", "-s", "--count", "20")
    end(process, 30).expect(0, "no IPoIB broadcast group for P_Key 0xffff yet", summary(20, "3480", 0))
    left(1)


@test("a group with another Q_Key is told and not heard; one that the SA refuses is told and heard as the host hears it")
def odd_groups():
    run(play("group ff12:401b:ffff::1 0xc009 0xb1c\n" + FED), *MULTICAST, "-w", "o.pcap", "--duration", "0.5").expect(
        0, r"group ff12:401b:ffff::1 has Q_Key 0x00000b1c, the broadcast group 0x00000b1b: its frames are not captured")
    result = run(play("sa-refuses 0x0200\n" + FED), *MULTICAST, "-w", "o.pcap", "--duration", "0.5").expect(
        0, "does not let the port into group %s" % BROADCAST, "0x0200")
    assert len(frames_of("o.pcap")) == len(to(BROADCAST)) + len(to(ROUTERS))
    assert result.err.count("does not let") == 2


@test("a subnet administrator that does not answer: told; a signal ends it within a second")
def silent():
    process = start(play("sa-silent 0\n"), *MULTICAST, "-w", "s.pcap", "-s")
    time.sleep(3)
    begin_time = time.monotonic()
    process.send_signal(signal.SIGTERM)
    err = end(process).err
    assert time.monotonic() - begin_time < (4 if SANITIZED else 1), "too late"
    assert re.search(r"the subnet administrator \(LID 1\) does not answer", err), err


@test("a subnet administrator that was silent: asked again soon, its groups are joined")
def silent_at_first():
    process = begin(play("sa-silent 0 2000\nsynthetic 100\nrate 1000\n"), "-w", "s.pcap", "-s", "--count", "20")
    end(process, 20).expect(0, "does not answer: the groups are joined once it does", summary(20, "3480", 0))
    left(2)


@test("a subnet administrator that answers no more: the end is told, the counts are the last line all the same")
def silent_at_the_end():
    scenario = "device mlx5_7\n" + play("sa-silent 200\nsynthetic 100\nrate 1000\n")  # the next test's is another: this one's keeper lives on a while
    process = begin(scenario, "-w", "s.pcap", "-s", "--duration", "0.5")
    end(process).expect(0, "being left in the background", summary(r"\d+", r"\d+", 0))


@test("a port that is down is waited for; Ethernet, iWARP, missing rights and devices are refused, with the way out")
def refusals():
    run(play("port down ib\n"), *MULTICAST, "-w", "d.pcap", "--duration", "0.3").expect(0, "not active", "joined once it is")
    left(0)
    with open("old.pcap", "w") as f:
        f.write("old")
    for more, arguments, texts in (
            ("port active ethernet\n", "", ["link layer is Ethernet", "RoCE: tcpdump"]),
            ("transport iwarp\n", "", ["iWARP", "tcpdump"]),
            ("fail umad EACCES\n", "", ["may not ask the subnet administrator", "run as root"]),
            ("fail umad EIO\n", "", ["umad. cannot be opened", "modprobe ib_umad"]),
            ("fail qp-ud EPERM\n", "", ["CAP_NET_RAW", "setcap"]),
            ("fail qp-ud ENOMEM\n", "", ["fewer buffers"]),
            ("fail init EPERM\n", "", ["CAP_NET_RAW", "setcap"]),
            ("fail rtr EIO\n", "", ["cannot be made ready"]),
            ("fail cq ENOMEM\n", "", ["completion queue of 4096 entries"]),
            ("fail open EACCES\n", "", ["/dev/infiniband/uverbs0"]),
            ("", "-d mlx5_7", ["no RDMA device mlx5_7; there is mlx5_0"]),
            ("", "-i 2", ["mlx5_0 has no port 2"]),
            ("pkeys 0\n", "", ["not in partition", "P_Keys: none"])):
        run(play(more), *MULTICAST, "-w", "old.pcap", *arguments.split()).expect(1, *texts)
        assert content("old.pcap") == b"old", more
        left(0)
    run(play("fail attach ENOMEM\n"), *MULTICAST, "-w", "d.pcap", "--duration", "0.3").expect(0, "group .* cannot be received")


@test("nonsense is refused with a message and status 2, in this mode too")
def usage():
    for arguments in ("--nonsense", "file", "-i 0", "-b 21", "-M 0", "-I up", "--count 0", "--duration x", "--snaplen 70000",
                      "--ring-files 2", "-w - --ring-size 1M", "-M 1M -p 1M", "--comment x", "--mode multi"):
        result = run(play(), *MULTICAST, *arguments.split()).expect(2, "ipoib-capture: ")
        assert "--help" in result.err and result.out == b"", arguments
    assert not os.path.exists(LOG), "nothing was joined"


@test("failed completions, losses of the device, frames longer than a buffer: counted")
def losses():
    faults = "".join("at %d error 12\n" % (n * 10) for n in range(1, 101))
    run(play("synthetic 100\ntotal 1002\n" + faults), *MULTICAST, "-w", "x.pcapng", "-s", "-b", "6", "--format", "pcapng", "--count",
        "902").expect(1, summary(902, 902 * 174, 100), "100 frames could not be delivered")
    assert numbers(frames_of("x.pcapng")) == [n for n in range(1002) if n == 0 or n % 10]
    drops = [options for _, _, _, options in read_pcapng(content("x.pcapng"))[1] if 4 in options]
    assert len(drops) == 100
    run(play(sysfs() + "synthetic 100\ntotal 3000\nat 100 drop 7\n"), *MULTICAST, "-w", "x.pcap", "-s", "--count", "2993").expect(
        1, summary(2993, 2993 * 174, 7), "7 frames were lost by the device")
    run(play("synthetic 5000\ntotal 3\n"), *MULTICAST, "-w", "x.pcap", "-s", "--duration", "0.4").expect(1, summary(0, 0, 3), "-j")


@test("a queue pair in error is made anew, and attached again")
def queue_pair_error():
    for fault in ("qp-error", "cq-error"):
        run(play("synthetic 100\nrate 20000\ntotal 20000\nat 5000 %s\nat 9000 %s\n" % (fault, fault)), *MULTICAST, "-w", "x.pcap",
            "-s", "--duration", "1.5").expect(1, "made anew", "the queue pair failed 2 times")
        got = numbers(frames_of("x.pcap"))
        assert got == sorted(set(got)) and got[0] == 0 and got[-1] == 19999 and len(got) > (5000 if SANITIZED else 15000), (fault, len(got))


@test("another LID or SM: the groups are joined again")
def port_changes():
    run(play("synthetic 100\nrate 1000\nat 500 lid 2\n"), *MULTICAST, "-w", "l.pcap", "-s", "--duration", "1.2").expect(0)
    held, joins = memberships()
    assert joins == 4 and not held, (joins, held)


@test("a device that goes away, or whose queue fails: the file is whole, the groups are left, the status is 1")
def gone():
    for fault, text in (("remove", "the device is gone"), ("poll-error", "cannot be polled"), ("post-error", "no receive can be")):
        run(play("synthetic 100\nat 20000 %s\n" % fault), *MULTICAST, "-w", "g.pcap", "-s").expect(1, text)
        got = numbers(frames_of("g.pcap"))
        assert len(got) > 10000 and got == list(range(len(got))), (fault, len(got))
        left(2)


@test("a full disk, a reader that leaves: told, status 1, the groups are left")
def no_room():
    for options in ((), ("--format", "pcapng"), ("-M", "1M")):
        result = run(play("synthetic 100\ntotal 50\n"), *MULTICAST, "-w", "/dev/full", "-s", *options, "--count", "50")
        result.expect(1, "/dev/full: cannot be written.*No space", summary(0, 0, 50))
        left(2)
    for scenario in ("synthetic 100\n", "synthetic 100\nrate 1000\n"):
        process = subprocess.Popen(["sh", "-c", '"$0" --mode multicast -w - | head -c 1000 > headed; exit 0', CAPTURE],
                                   env=environment(play(scenario)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        end(process, 20).expect(0, "standard output: cannot be written.*Broken pipe")
        assert len(content("headed")) == 1000 and read_pcap(content("headed"), True)[1]
        left(2)


@test("ended by a signal: the groups are left before it ends, at once")
def signals():
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if os.path.exists("s.pcap"):
            os.unlink("s.pcap")
        process = begin(play("synthetic 100\nrate 1000\n"), "-w", "s.pcap", "-s")
        time.sleep(0.2)
        begin_time = time.monotonic()
        process.send_signal(sig)
        end(process).expect(0)
        assert time.monotonic() - begin_time < (3 if SANITIZED else 0.7)
        held, joins = memberships()
        assert not held and joins == 2, (held, joins)
        got = numbers(frames_of("s.pcap"))
        assert got == list(range(len(got))) and len(got) > 50


@test("killed at any moment: readable up to the last whole packet, and all groups are left")
def killed():
    chance = random.Random(4391)
    for n in range(12 if SANITIZED else 100):
        form = ("pcapng", read_pcapng) if n % 2 else ("erf", read_pcap)
        process = start(play("synthetic 100\nrate 500000\n"), *MULTICAST, "-w", "k.pcap", "-s", "--format", form[0], stdout=subprocess.DEVNULL)
        time.sleep(0.01 + chance.random() * 0.15)
        process.kill()
        process.communicate()
        data = content("k.pcap") if os.path.exists("k.pcap") else b""
        if data:
            got = numbers([octets for _, _, octets, _ in form[1](data, True)[1]])
            assert got == sorted(set(got)), n
            os.unlink("k.pcap")
        left()


@test("the keeper of the groups is killed: another takes its place, and leaves them at the end")
def keeper_killed():
    process = begin(play("synthetic 100\nrate 1000\n"), "-w", "k.pcap", "-s")
    time.sleep(0.3)
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as f:
        os.kill(int(f.read()), signal.SIGKILL)
    for _ in range(300):
        if memberships()[1] == 4:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    end(process).expect(0, "another is started")
    left(4)


@test("of two captures on a port the last one leaves the groups")
def two():
    scenario = play("synthetic 100\nrate 100\n")
    one, other = begin(scenario, "-w", "one.pcap", "-s"), None
    try:
        other = begin(scenario, "-w", "other.pcap", "-s")
        time.sleep(0.2)
        one.send_signal(signal.SIGTERM)
        end(one).expect(0)
        assert "leave" not in content(LOG).decode()
    finally:
        other.send_signal(signal.SIGTERM)
    end(other).expect(0)
    assert content(LOG).decode().count("leave") == 2


@test("idle: a signal ends it at once, and it has used no processor time to speak of")
def idle():
    process = begin(play(), "-w", "i.pcap", "-s")
    time.sleep(3)
    with open("/proc/%d/stat" % process.pid) as f:
        ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
    process.send_signal(signal.SIGINT)
    end(process).expect(0)
    assert SANITIZED or ticks * 10 < 150, ticks


if __name__ == "__main__":
    sys.exit(capture.main())

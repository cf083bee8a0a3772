# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages that are made to exhaust resources: the plugin's time and memory stay in proportion to
the capture.

A datagram has at most 65,535 bytes after its IP header, and the encapsulation header before it (RFC
4755 §2); all packets of its message except the last have 256 bytes or more (IBA 9.4.1). So a
message of more than some hundred packets, or of more bytes, is not a datagram, and the plugin need
not keep any of it."""
import os
import resource
import subprocess

import pytest

from frames import hostile_messages as hostile
from support import capfile, wait
from support.needs import needs
from support.paths import BIN, WITH_PLUGINS

FRAMES = 40_000
SLOWER = 3  # times plain tshark ...
SECONDS = 2  # ... plus the delay of a busy machine
MIB = 1 << 20
LIMIT = 1  # MiB for incomplete messages
MORE_MEMORY = 48 * MIB  # the plugin's limit for FRAMES packets besides incomplete messages


def run(command, plugins=True, seconds=120):
    """(output, CPU seconds, peak bytes) of a command and its child processes."""
    env = dict(os.environ)
    if not plugins:
        env["IPOIB_PLUGINS"] = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as p:
        try:
            out, err = wait.communicate(p, seconds)
        finally:
            p.kill()
    assert p.returncode == 0, err
    return out.decode()


def measured(command, plugins=True):
    """(CPU seconds, peak bytes), measured in a process of its own, of which this is the only
    child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run(command, plugins)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = used.ru_utime + used.ru_stime
            os.write(writing, b"%f %d" % (seconds, used.ru_maxrss * 1024))
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as f:
        words = f.read().split()
    assert os.waitpid(child, 0)[1] == 0, f"{command} failed or took too long"
    return float(words[0]), int(words[1])


def tshark(path, *args):
    return WITH_PLUGINS + ["tshark", "-o", f"ipoib.reassembly_limit:{LIMIT}", "-r", path, *args]


def tshark_alone(path):
    """Its dissector of RPC over RDMA dissects unclaimed messages, and reassembles them in quadratic
    time."""
    return WITH_PLUGINS + ["tshark", "--disable-protocol", "rpcordma", "-r", path]


def erf(packets):
    """A file of packets that Wireshark can also read without the plugins."""
    return b"".join(capfile.erf_record(t, d, wire) for t, d, wire in capfile.records(packets))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Readable for the user that tshark runs as."""
    path = tmp_path_factory.mktemp("messages")
    for p in (path, path.parent, path.parent.parent):
        os.chmod(p, 0o755)
    return path


@pytest.fixture(scope="module", params=hostile.KINDS, ids=lambda kind: kind.__name__)
def capture(request, folder):
    path = folder / f"{request.param.__name__}.pcap"
    path.write_bytes(erf(request.param(FRAMES)))
    return str(path)


def test_time_and_memory_of_the_plugin(capture):
    needs("tshark", "wireshark")
    plain, plain_memory = measured(tshark_alone(capture), plugins=False)
    seconds, memory = measured(tshark(capture))
    assert seconds <= SLOWER * plain + SECONDS, f"{seconds} s; without the plugin {plain} s"
    assert memory <= plain_memory + MORE_MEMORY, f"{memory >> 20} MiB; {plain_memory >> 20} MiB"


def test_time_of_ipoib_check(capture):
    command = [os.path.join(BIN, "ipoib-check"), "--quiet", capture]
    seconds, _ = measured(["sh", "-c", '"$@" >&2; test $? -le 2', "sh", *command])
    assert seconds <= SECONDS


def shown(folder, packets, *args):
    path = folder / "shown.pcap"
    path.write_bytes(erf(packets))
    return run(tshark(str(path), *args))


def fields(folder, packets, *names, two_passes=False):
    args = ["-T", "fields"] + [word for name in names for word in ("-e", name)]
    lines = shown(folder, packets, *(["-2"] if two_passes else []), *args).splitlines()
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize("two_passes", (False, True))
@pytest.mark.parametrize("mtu", (256, 4096))
@pytest.mark.parametrize("size", (65535, 65000))
def test_longest_datagram_is_reassembled(folder, size, mtu, two_passes):
    needs("tshark", "wireshark")
    rows = fields(
        folder, hostile.message(size, mtu), "ipoib.reassembled.length", two_passes=two_passes
    )
    assert [r[0] for r in rows if r[0]] == [str(size + 4)]


def test_abandoned_message_is_shown_as_incomplete(folder):
    needs("tshark", "wireshark")
    packets = hostile.one_byte_middles(400)
    packets.append(hostile.packet(hostile.ib.LAST, b"\xbb", hostile.FIRST_PSN + 400))
    rows = fields(folder, packets, "ipoib.message", "ipoib.message.index", "ipoib.reassembled.in")
    assert [r[:2] for r in rows] == [["1", str(n)] for n in range(401)]
    assert not any(r[2] for r in rows)


def test_message_after_an_abandoned_one_is_reassembled(folder):
    needs("tshark", "wireshark")
    packets = hostile.one_byte_middles(400) + hostile.message(3000, 2048, psn=0x1000)
    rows = fields(folder, packets, "ipoib.reassembled.length")
    assert [r[0] for r in rows if r[0]] == ["3004"]


def test_abandoned_message_raises_no_violation(folder):
    """A rule fails neither for this message nor for a complete one: the rules are those of the
    datagram in the First."""
    needs("tshark", "wireshark")
    few = fields(folder, hostile.one_byte_middles(100), "ipoib.rule.id")
    many = fields(folder, hostile.one_byte_middles(1000), "ipoib.rule.id")
    assert many[:100] == few and not any(r[0] for r in many[100:])

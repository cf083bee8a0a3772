# SPDX-License-Identifier: GPL-2.0-or-later
"""pcapng files with interfaces of link type 247: their packets are InfiniBand, those of other
interfaces are what they are without the plugin, and all can be saved.

Wireshark's own reader reads the files; the wiretap plugin finds the interfaces of link type 247.
support/capfile.py, which shares no code with the plugin, makes the files."""
import gzip
import os
import subprocess

import pytest

from frames.fixture import tape
from support import capfile
from support.capfile import ERF, ETHERNET, INFINIBAND, interface, packet, section
from support.folders import open_folder
from support.paths import TSHARK
from support.wireshark import tshark

UNASSIGNED = 246  # a link type
# Numbers of Wireshark's encapsulations
AS_ERF, AS_ETHERNET, AS_UNKNOWN = "98", "1", "0"
SECOND = 10**9
IB = tape("datagram.pcap").frame(41).octets()
OTHER = bytes(60)


def of(linktype, number=0, endian="<"):
    """A packet of an interface with this link type."""
    return packet(SECOND, IB if linktype == INFINIBAND else OTHER, number=number, endian=endian)


def together(*linktypes, endian="<"):
    """A section with these interfaces, and a packet of each."""
    interfaces = [interface(link, endian=endian) for link in linktypes]
    packets = [of(link, n, endian) for n, link in enumerate(linktypes)]
    return section(endian) + b"".join(interfaces + packets)


def late(first, second):
    """The second interface follows a packet of the first one."""
    return together(first) + interface(second) + of(second, 1) + of(first)


FILES = {
    "one interface": (together(INFINIBAND), [AS_ERF]),
    "big-endian": (together(INFINIBAND, endian=">"), [AS_ERF]),
    "two interfaces": (together(INFINIBAND, INFINIBAND), [AS_ERF, AS_ERF]),
    "before another": (together(INFINIBAND, ETHERNET), [AS_ERF, AS_ETHERNET]),
    "after another": (together(ETHERNET, INFINIBAND), [AS_ETHERNET, AS_ERF]),
    "after a packet": (late(ETHERNET, INFINIBAND), [AS_ETHERNET, AS_ERF, AS_ETHERNET]),
    "before a packet": (late(INFINIBAND, ETHERNET), [AS_ERF, AS_ETHERNET, AS_ERF]),
    "second section": (
        together(ETHERNET) + together(INFINIBAND, endian=">"),
        [AS_ETHERNET, AS_ERF],
    ),
    "first section": (
        together(INFINIBAND, endian=">") + together(ETHERNET, INFINIBAND),
        [AS_ERF, AS_ETHERNET, AS_ERF],
    ),
    "no packet": (section() + interface(INFINIBAND), []),
    "unknown": (together(UNASSIGNED), [AS_UNKNOWN]),
    "unknown section": (together(INFINIBAND) + together(UNASSIGNED), [AS_ERF, AS_UNKNOWN]),
    "ERF": (section() + interface(ERF), []),
}
SAVED = {AS_ERF: ERF, AS_ETHERNET: ETHERNET}  # link types
each_file = pytest.mark.parametrize("name", FILES)


@pytest.fixture(scope="module", name="files")
def made():
    with open_folder(0o1777) as folder:  # tshark may be another user
        for name, (data, _) in FILES.items():
            (folder / name).write_bytes(data)
            (folder / f"{name}.gz").write_bytes(gzip.compress(data))
        yield folder


def encapsulations(*options, env=None):
    fields = ("-T", "fields", "-e", "frame.encap_type")
    run = tshark(*options, *fields, check=True, env={**os.environ, **(env or {})})
    return run.stdout.split()


@each_file
def test_one_pass_in_sequence(name, files):
    assert encapsulations("-r", files / name) == FILES[name][1]


@each_file
def test_second_pass_with_random_access_also_in_gzip(name, files):
    assert encapsulations("-r", files / f"{name}.gz", "-2") == FILES[name][1]


@pytest.mark.parametrize("name", ["one interface", "after a packet", "first section"])
def test_pipe(name):
    command = [*TSHARK, "-r", "-", "-T", "fields", "-e", "frame.encap_type"]
    done = subprocess.run(command, input=FILES[name][0], capture_output=True, check=True)
    assert done.stdout.decode().split() == FILES[name][1]


# tshark 4.0 itself can save neither an unknown link type nor two sections with different ones.
CAN_BE_SAVED = [name for name in FILES if "unknown" not in name and "section" not in name]


@pytest.mark.parametrize("name", CAN_BE_SAVED)
def test_packets_are_saved(name, files):
    """A Wireshark without the plugin opens the saved file."""
    saved, expected = files / f"{name}.saved", FILES[name][1]
    tshark("-r", files / name, "-w", saved, check=True)
    capture = capfile.read(saved)
    links = [capture.interfaces[frame.interface].linktype for frame in capture.frames]
    assert links == [SAVED[encapsulation] for encapsulation in expected]
    packets = [
        capfile.erf_payload(f.data) if link == ERF else f.data
        for f, link in zip(capture.frames, links)
    ]
    assert packets == [IB if encapsulation == AS_ERF else OTHER for encapsulation in expected]
    assert encapsulations("-r", saved, env={"IPOIB_PLUGINS": ""}) == expected


@pytest.mark.parametrize("name", ["one interface", "after a packet", "first section"])
def test_truncated_file_is_an_error_as_without_the_plugin(name, files):
    whole = FILES[name][0]
    for length in sorted({len(whole) - 1, len(whole) - 40, len(whole) // 2, 30}):
        path = files / "part"
        path.write_bytes(whole[:length])
        with_plugin, without = (
            tshark("-r", path, "-T", "fields", "-e", "frame.len", env={**os.environ, **more})
            for more in ({}, {"IPOIB_PLUGINS": ""})
        )
        assert with_plugin.stdout == without.stdout
        assert with_plugin.stderr == without.stderr
        assert with_plugin.returncode == without.returncode

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures by the firmware's sniffer: a played library of mstflint (tests/capture/replay/mstflint.c)
in a machine whose /run and /tmp are the test's own."""
import contextlib
import ctypes
import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

import pytest

from support.capture import CAPTURE, REPLAY, fed
from support.paths import BUILD, SRC

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000  # linux/mount.h
MNT_DETACH = 2  # sys/mount.h
PCI = "0000:3b:00.0"
RECORDS = "/run/ipoib-capture"
LOCKS = "/tmp/mstflint_lockfiles"
QPN = 0x111  # of the played libibverbs
COUNT = len(fed())


def _mount(source, target, kind, flags):
    if LIBC.mount(source, target, kind, flags, None) != 0:
        pytest.skip(f"needs to mount: {os.strerror(ctypes.get_errno())}")


def _place_of_library(name):
    """Where the dynamic linker finds it for ipoib-capture."""
    listed = subprocess.run(["ldd", CAPTURE], capture_output=True, text=True, check=True).stdout
    return re.search(rf"{re.escape(name)} => (/\S+)", listed).group(1)


def own_run_and_tmp():
    """Gives this process and its children folders /run and /tmp of their own."""
    os.umask(0o022)  # script/coverage has 0, and what others may write is refused
    if os.geteuid() != 0:
        pytest.skip("needs root: only root can load mstflint's library")
    if LIBC.unshare(CLONE_NEWNS) != 0:
        pytest.skip("needs a mount namespace of its own")
    _mount(b"none", b"/", None, MS_REC | MS_PRIVATE)
    kept = {path: os.open(path, os.O_PATH) for path in (SRC, BUILD) if path.startswith("/tmp/")}
    for folder, mode in ((b"/run", 0o755), (b"/tmp", 0o1777)):
        _mount(b"tmpfs", folder, b"tmpfs", 0)
        os.chmod(folder, mode)
    for path, fd in kept.items():  # a tree in /tmp stays where it is
        os.makedirs(path, exist_ok=True)
        _mount(f"/proc/self/fd/{fd}".encode(), path.encode(), None, MS_BIND | MS_REC)
        os.close(fd)
    os.chdir(SRC)


def root_whose_tmp_is_a_link():
    """A root folder with everything of this one, but /tmp is a link. The caller has mounts of its
    own."""
    root = tempfile.mkdtemp(dir="/run")
    for name in os.listdir("/"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
        elif os.path.isdir(f"/{name}") and name != "tmp":
            os.mkdir(f"{root}/{name}")
            _mount(f"/{name}".encode(), f"{root}/{name}".encode(), None, MS_BIND | MS_REC)
    os.symlink("/run", f"{root}/tmp")
    return root


@contextlib.contextmanager
def libibverbs_is_played():
    """In this time, the system's libibverbs is the played one: for a program with file capabilities,
    which takes no library from LD_LIBRARY_PATH. The caller has mounts of its own."""
    place = os.path.realpath(_place_of_library("libibverbs.so.1"))
    played = os.path.realpath(os.path.join(REPLAY, "libibverbs.so.1"))
    _mount(played.encode(), place.encode(), None, MS_BIND)
    try:
        yield
    finally:
        LIBC.umount2(place.encode(), MNT_DETACH)


def lines_of(path):
    """Those of a file; none if it does not exist."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as f:
        return f.read().splitlines()


class Adapter:
    """A ConnectX-6 for the real mstflint: its PCI function in sysfs, and registers that
    tests/capture/replay/registers.c plays. `status` is that of each command."""

    SIZE, STATUS, COMMANDS = 0x4300000, 0x42FFFFC, 0x4000000
    FOLDER = f"/sys/bus/pci/devices/{PCI}"

    def __init__(self, status, hardware_id):
        os.makedirs(self.FOLDER)
        self._put_function()
        self._put_registers(
            {
                self.COMMANDS + 0x1000: 0x300,  # size of the mailbox
                0xF0014: hardware_id,
                self.STATUS: status,
            }
        )

    def _put_function(self):
        for name, text in {"vendor": "0x15b3", "device": "0x101b", "class": "0x020700"}.items():
            Machine.put(f"{self.FOLDER}/{name}", text + "\n")
        # PCI: vendor, device, command, status (capabilities), class; the first capability
        config = bytearray(
            struct.pack("<HHHHI", 0x15B3, 0x101B, 6, 0x10, 0x02070000).ljust(256, b"\0")
        )
        config[0x34], config[0x60:0x64] = 0x60, bytes([9, 0, 0x18, 0])
        with open(f"{self.FOLDER}/config", "wb") as f:
            f.write(config)

    def _put_registers(self, values):
        with open(f"{self.FOLDER}/registers", "wb") as f:
            f.truncate(self.SIZE)
            for address, value in values.items():
                f.seek(address)
                f.write(struct.pack("<I", value))

    def calls(self):
        return lines_of(f"{self.FOLDER}/calls")


@contextlib.contextmanager
def adapter_of_real_mstflint(status=0, hardware_id=0x20F):
    """An adapter in sysfs, for processes that use the played libibverbs. The caller has mounts of
    its own."""
    place = b"/sys/bus/pci/devices"
    if not os.path.isdir(place):
        pytest.skip("needs PCI devices in sysfs")
    _mount(b"none", place, b"tmpfs", 0)
    try:
        with libibverbs_is_played():
            yield Adapter(status, hardware_id)
    finally:
        LIBC.umount2(place, MNT_DETACH)


class Machine:
    """A machine with an adapter, and with the played library in /run/mst."""

    def __init__(self):
        self.folder = "/run/mst"
        for used in (self.folder, RECORDS, LOCKS, "/run/sys"):
            shutil.rmtree(used, ignore_errors=True)
        os.makedirs(self.folder)
        self.library = shutil.copy(os.path.join(REPLAY, "mstflint", "ccmdif.so"), self.folder)
        self.function = f"/run/sys/devices/{PCI}"
        os.makedirs(f"{self.function}/infiniband/mlx5_0/ports/1/hw_counters")
        os.symlink(self.function, f"{self.function}/infiniband/mlx5_0/device")
        os.symlink("/sys/bus/pci/drivers/mlx5_core", f"{self.function}/driver")
        self.put(f"{self.function}/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", "0\n")

    @staticmethod
    def put(path, text):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    def play(self, *lines):
        """What the library does: lines of its script."""
        self.put(f"{self.folder}/script", "".join(line + "\n" for line in lines))
        return self

    def calls(self):
        """The calls of the library so far."""
        return lines_of(f"{self.folder}/calls")

    def forget_calls(self):
        if os.path.exists(f"{self.folder}/calls"):
            os.unlink(f"{self.folder}/calls")

    def is_attached(self):
        return os.path.exists(f"{self.folder}/attached")

    def scenario(self, more=""):
        """The adapter of a played libibverbs."""
        return (
            f"device mlx5_0\nsysfs {self.function}/infiniband/mlx5_0\n"
            f"firmware {self.folder}/attached\n{more}"
        )

    def options(self, *more):
        return ("-s", "--mstflint-library", self.library, "--duration", "15", *more)

    @staticmethod
    def record():
        """The record of what is attached; empty: nothing."""
        files = glob.glob(f"{RECORDS}/sniffer-*")
        if not files:
            return ""
        with open(files[0], encoding="ascii") as f:
            return f.read()

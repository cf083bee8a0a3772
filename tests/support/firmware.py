# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures by the firmware's sniffer: a played library of mstflint (tests/capture/replay/mstflint.c)
in a machine whose /run and /tmp are the test's own."""
import contextlib
import ctypes
import glob
import os
import re
import shutil
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
        try:
            with open(f"{self.folder}/calls", encoding="ascii") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

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

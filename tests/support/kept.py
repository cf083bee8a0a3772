# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of tshark that a run of the tests keeps: what was asked once about a capture is not asked
again.

A kept answer is a file in the build folder. Its name is a digest of everything that the answer
depends on: the plugins, the programs that run, the environment, the arguments and the bytes of the
capture. So an answer is never out of date; script/test empties the folder, for its size only. Tests
that run at the same time wait for each other, and never see half an answer."""
import contextlib
import fcntl
import functools
import glob
import hashlib
import json
import os
import shutil
import subprocess
import time

from support.paths import BUILD, TSHARK, WITH_PLUGINS

PATIENCE = 60  # seconds: a process that hangs or is stopped must not keep the others
FOLDER = os.path.join(BUILD, "kept-answers")
# Variables that may change an answer. IPOIB_TEST and IPOIB_COSTS only name the run.
VARIABLES = ("IPOIB_", "WIRESHARK_", "LC_", "LANG", "TZ", "G_", "ASAN_", "UBSAN_")
OF_THE_RUN = ("IPOIB_TEST", "IPOIB_COSTS", "IPOIB_SRC")


@functools.lru_cache(maxsize=None)
def digest_of_version(path, _changed, _size):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def digest_of(path):
    state = os.stat(path)
    return digest_of_version(path, state.st_mtime_ns, state.st_size)


def programs():
    """The files whose bytes decide what tshark answers."""
    plugins = os.environ.get("IPOIB_PLUGINS", os.path.join(BUILD, "plugins"))
    found = [shutil.which("tshark"), *WITH_PLUGINS, TSHARK[0]]
    found += glob.glob(os.path.join(plugins, "*", "*", "*.so")) if plugins else []
    return sorted({os.path.realpath(path) for path in found if path and os.path.isfile(path)})


def name_of(capture, arguments):
    """The name of the answer. A capture's own name counts only by its ending, by which Wireshark
    chooses the order of its readers."""
    environment = {
        k: v for k, v in os.environ.items() if k.startswith(VARIABLES) and k not in OF_THE_RUN
    }
    parts = [
        [digest_of(path) for path in programs()],
        sorted(environment.items()),
        [TSHARK, arguments],
        [os.path.splitext(capture)[1], digest_of(capture)] if capture else [],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read(path):
    """The kept answer; None if there is none, or a broken one (a full disk)."""
    try:
        with open(path, encoding="utf-8") as f:
            return subprocess.CompletedProcess(**json.load(f))
    except (OSError, ValueError):
        return None


def write(path, done):
    """Keeps a good answer. One that cannot be written is not kept."""
    text = json.dumps({n: getattr(done, n) for n in ("args", "returncode", "stdout", "stderr")})
    part = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        with open(part, "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(part, path)


@contextlib.contextmanager
def locked(path):
    """One process at a time: the others find the answer when they enter. The lock only saves work:
    after PATIENCE, and without a folder that can be written, a process goes on without it."""
    try:
        os.makedirs(FOLDER, exist_ok=True)
        lock = open(path + ".lock", "w", encoding="utf-8")
    except OSError:
        yield
        return
    with lock:
        until = time.monotonic() + PATIENCE
        while not is_locked(lock) and time.monotonic() < until:
            time.sleep(0.05)
        yield


def is_locked(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def answer(capture, arguments, start):
    """The kept answer to these arguments about a capture (None: about none), else what start()
    returns."""
    path = os.path.join(FOLDER, name_of(capture and str(capture), [str(a) for a in arguments]))
    kept = read(path)
    if kept:
        return kept
    with locked(path):
        kept = read(path)
        if kept:
            return kept
        done = start()
        if done.returncode == 0:
            write(path, done)
        return done

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs ipoib-capture on the devices that the libraries of tests/capture/replay/ simulate."""
import os
import signal
import subprocess

import pytest

from support import wait
from support.paths import BIN, BUILD

CAPTURE = os.path.join(BIN, "ipoib-capture")
REPLAY = os.path.join(BUILD, "tests", "capture", "replay")
PATIENCE = 60  # seconds until a program that should have ended is a failure


class Player:
    """Starts captures whose scenarios are in a folder, and ends those that a failed test leaves
    running."""

    def __init__(self, folder):
        self.folder, self.started = str(folder), []

    def environment(self, scenario):
        path = os.path.join(self.folder, f"scenario{len(self.started)}")
        with open(path, "w", encoding="ascii") as f:
            f.write("device hca0\n" + scenario)
        return {**os.environ, "IPOIB_REPLAY": path, "LD_LIBRARY_PATH": REPLAY}

    def start(self, scenario, *arguments, stdout=subprocess.PIPE, **more):
        process = subprocess.Popen(
            [CAPTURE, *map(str, arguments)],
            env=self.environment(scenario),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )
        self.started.append(process)
        return process

    def end(self, process, number=None):
        """Exit status, standard output and standard error, after this signal if one is given."""
        if number is not None:
            process.send_signal(number)
        out, err = wait.communicate(process, PATIENCE)
        return process.returncode, out, err

    def run(self, scenario, *arguments, **more):
        return self.end(self.start(scenario, *arguments, **more))

    def clean(self):
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.fixture(name="player")
def fixture_player(tmp_path):
    """For tests that import it: a Player whose captures end with the test."""
    player = Player(tmp_path)
    yield player
    player.clean()


def wait_until(condition, what):
    """Waits until the condition holds, and returns its value."""
    return wait.until(condition, what, PATIENCE)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Real reports of ipoib-probe, for tests of programs that read reports."""
import os
import subprocess

import pytest

from support.paths import BIN, SRC

PROBE = os.path.join(BIN, "ipoib-probe")
NOT_HERE = 125  # exit status of testbed/simulate and tests/cluster/slurm: cannot run here


def skip_if_not_here(done):
    """Skips the test if the program reports that it cannot run here."""
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr.strip().splitlines()[-1])


def of_simulated_subnet(path):
    """Writes the report of a subnet that testbed/simulate simulates."""
    simulate = os.path.join(SRC, "testbed/simulate")
    # the host has no interface on that port: a fault, unless the port is named
    command = [simulate, PROBE, "-d", "ibsim0", "--format", "json", "-o", path, "fabric"]
    folder = os.path.dirname(path)  # the simulator makes files in the current folder
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    skip_if_not_here(done)
    assert os.path.exists(path), done.stderr


def without_device(*args, cwd=None):
    """The report of a host without a device: no device has this name, even on a host with
    devices."""
    command = [PROBE, "-d", "no-such-device", "--format", "json", *args]
    done = subprocess.run(command, cwd=cwd, capture_output=True)
    assert done.returncode == 3, (done.returncode, done.stderr)
    return done.stdout

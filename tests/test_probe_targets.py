# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets of ipoib-probe: what is no host on an IPoIB link is refused in a sentence that says why."""
import os
import subprocess

import pytest

from support.paths import BIN

PROBE = os.path.join(BIN, "ipoib-probe")


def run(*arguments):
    # The device does not exist: nothing is sent on a machine that has an adapter.
    return subprocess.run(
        [PROBE, "-d", "no-such-device", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "target, why",
    [
        ("", "a target is empty"),
        ("/24", "is no IPv4 or IPv6 address"),
        ("127.0.0.1", "loopback"),
        ("127.3.0.0/16", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("::ffff:224.0.0.1", "multicast"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("::ffff:0.0.0.0", "unspecified"),
        ("255.255.255.255", "broadcast"),
        ("240.0.0.1", "reserved"),
        ("0.1.2.3", "this network"),
        ("::ffff:10.0.0.0/120", "write the prefix as one of IPv4"),
    ],
)
def test_refused(target, why):
    done = run(target)
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stderr.startswith("ipoib-probe: ") and done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize("source", ["", "::1", "127.0.0.1", "::ffff:127.0.0.1", "ff02::1", "::"])
def test_source_refused(source):
    done = run("--source", source, "10.0.0.1")
    assert done.returncode == 2
    assert "--source" in done.stderr


@pytest.mark.parametrize(
    "target", ["10.0.0.2", "::ffff:10.0.0.2", "::ffff:a00:2", "fe80::2", "fd00::2", "223.255.255.1"]
)
def test_taken(target):
    assert run("--dry-run", target).returncode == 0


def test_mapped_is_ipv4():
    # The probe's own address cannot be a target too: so the two are one address to it.
    done = run("--source", "10.0.0.2", "::ffff:10.0.0.2")
    assert done.returncode == 2
    assert "cannot be a target too" in done.stderr
    assert "only of IPv6 targets" in run("--dry-run", "::ffff:10.0.0.2").stdout

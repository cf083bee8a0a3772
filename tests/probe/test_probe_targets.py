# SPDX-License-Identifier: GPL-2.0-or-later
"""The targets of ipoib-probe: a target that cannot be a host on an IPoIB link is refused with a
sentence that says why."""
import os

import pytest

from support import wait
from support.needs import needs_own_mounts
from support.paths import BIN

PROBE = os.path.join(BIN, "ipoib-probe")


def run(*arguments):
    # The device does not exist: nothing is sent on a machine that has an adapter.
    return wait.run(
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
    # The probe's own address cannot be a target: this shows that the two are one address.
    done = run("--source", "10.0.0.2", "::ffff:10.0.0.2")
    assert done.returncode == 2
    assert "cannot be a target too" in done.stderr
    assert "IPv6 targets only" in run("--dry-run", "::ffff:10.0.0.2").stdout


# ---- host names, without a network: a hosts file of the test's own


HOSTS = """\
127.0.1.1 loop.test
10.0.0.2 ib4.test
fd00::2 ib6.test
10.0.0.3 both.test
fd00::3 both.test
127.0.1.1 mixed.test
10.0.0.4 mixed.test
"""


def named(tmp_path, *arguments):
    """Runs the probe where /etc/hosts is the only source of names; the files are bound in a mount
    namespace."""
    (tmp_path / "hosts").write_text(HOSTS)
    (tmp_path / "nsswitch").write_text("hosts: files\n")
    bind = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec "$@"'
    needs_own_mounts()
    if not os.path.exists("/etc/nsswitch.conf"):
        pytest.skip("no /etc/nsswitch.conf to bind over")
    return wait.run(
        ["unshare", "--mount", "sh", "-c", bind, "sh"]
        + [str(tmp_path / "hosts"), str(tmp_path / "nsswitch")]
        + [PROBE, "-d", "no-such-device", "--dry-run", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments, address",
    [
        (["ib4.test"], "10.0.0.2"),
        (["ib6.test"], "fd00::2"),
        (["-4", "both.test"], "10.0.0.3"),
        (["-6", "both.test"], "fd00::3"),
        (["-4", "mixed.test"], "10.0.0.4"),
    ],
)
def test_the_address_of_a_name_is_printed(tmp_path, arguments, address):
    done = named(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"ipoib-probe: {arguments[-1]} is {address}\n"
    assert f"\n{arguments[-1]} ({address}):\n" in done.stdout
    other = "IPv4" if ":" in address else "IPv6"
    assert f"{other} targets only" in done.stdout


@pytest.mark.parametrize(
    "arguments, why",
    [
        (["nobody.test"], "as a host name"),
        (["-6", "ib4.test"], "as a host name"),
        (["loop.test"], "loopback"),
        (["-4", "fd00::2"], "-4 is given"),
        (["-6", "10.0.0.2"], "-6 is given"),
        (["-6", "10.0.0.0/24"], "-6 is given"),
        (["-4", "-6", "both.test"], "exclude each other"),
        (["ib4.test/24"], "no IPv4 or IPv6 address"),
        (["10.0.0.256"], "no IPv4 or IPv6 address"),
        (["10.0.2"], "no IPv4 or IPv6 address"),
        (["0x0a000002"], "no IPv4 or IPv6 address"),
        (["fe80::2%ib4"], "this host has no interface ib4"),
        (["10.0.0.2%lo"], "only an IPv6 address may name its interface"),
    ],
)
def test_names_that_are_refused(tmp_path, arguments, why):
    done = named(tmp_path, *arguments)
    assert done.returncode == 2
    assert why in done.stderr
    hint = "ipoib-probe: try 'ipoib-probe --help'\n"  # after an error in the options
    assert done.stderr.removesuffix(hint).count("\n") == 1 and not done.stdout

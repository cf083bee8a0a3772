# SPDX-License-Identifier: GPL-2.0-or-later
"""Times out of range, and many interfaces, in pcapng files (draft-ietf-opsawg-pcapng 4.2:
if_tsresol, if_tsoffset).

The plugin and ipoib-check find the same in such a file, and neither stops."""
import json
import os
import struct

import pytest

from support import capfile, paths, wait
from support.needs import needs
from support.paths import BIN, TSHARK

TSRESOL, TSOFFSET = 9, 14
LAST_SECOND = 2**63 // 10**9  # of 64 bits of nanoseconds
SECOND_TICKS, NANOSECONDS = 0, 9
INTERFACES = 1 << 16


def check(path):
    """The result of ipoib-check: (rules that fail, exit status, errors)."""
    p = wait.run(
        [os.path.join(BIN, "ipoib-check"), "--format", "json", path],
        capture_output=True,
        timeout=60,
    )
    results = json.loads(p.stdout)["results"]
    fails = {r["id"] for r in results if r["outcome"] in ("fail", "deviation")}
    return fails, p.returncode, p.stderr.decode()


def tshark(path, *args):
    p = wait.run(TSHARK + ["-r", path, *args], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    return p.stdout


def shown(path):
    """The rules that fail in Wireshark's tree."""
    fields = tshark(path, "-Y", "ipoib.rule.id", "-T", "fields", "-e", "ipoib.rule.id")
    return {rule for line in fields.splitlines() for rule in line.split(",")}


def write(folder, *blocks):
    path = folder / "capture.pcapng"
    path.write_bytes(capfile.section() + b"".join(blocks))
    os.chmod(path, 0o644)
    for p in (folder, folder.parent, folder.parent.parent):
        os.chmod(p, 0o755)
    return str(path)


def frames():
    """Real traffic, as ERF records, which Wireshark can read in pcapng."""
    real = capfile.read(paths.testdata("connected.pcap")).frames
    return [capfile.Frame(*record) for record in capfile.erf_records(real)]


def interface(resolution, offset):
    values = {TSRESOL: bytes([resolution]), TSOFFSET: struct.pack("<q", offset)}
    return capfile.interface(capfile.ERF, values=values)


def checked(folder, resolution, offset):
    ticks_a_second = 1 if resolution == SECOND_TICKS else 10**9
    start = frames()[0].time
    packets = [
        capfile.packet((f.time - start) * ticks_a_second // 10**9, f.data, f.wire)
        for f in frames()
    ]
    return write(folder, interface(resolution, offset), *packets)


@pytest.mark.parametrize("resolution", (SECOND_TICKS, NANOSECONDS))
@pytest.mark.parametrize(
    "offset",
    (
        0,
        -1,
        LAST_SECOND - 1,
        LAST_SECOND,
        -LAST_SECOND - 1,
        10**10,
        -(10**10),
        2**62,
        -(2**63),
    ),
)
def test_plugin_and_check_agree_on_odd_times(tmp_path, offset, resolution):
    needs("tshark", "wireshark")
    path = checked(tmp_path, resolution, offset)
    fails, status, errors = check(path)
    assert status in (0, 1) and not errors
    assert fails == shown(path)


@pytest.mark.parametrize("last", (INTERFACES - 1, INTERFACES))
def test_high_interface_numbers_stay_distinct(tmp_path, last):
    """The same frames on the first interface and on one whose number has 16 bits, or 17, have the
    same results."""
    needs("tshark", "wireshark")
    described = capfile.interface(capfile.ERF) * (last + 1)
    some = frames()[:60]
    packets = [capfile.packet(n, f.data, f.wire, 0) for n, f in enumerate(some)]
    packets += [capfile.packet(n, f.data, f.wire, last) for n, f in enumerate(some)]
    path = write(tmp_path, described, *packets)
    each = ("-o", "ipoib.interfaces:each")
    rows = tshark(path, *each, "-Y", "ipoib", "-T", "fields", "-e", "frame.number").split()
    early, late = [int(n) for n in rows if int(n) <= 60], [int(n) - 60 for n in rows if int(n) > 60]
    assert early == late and early
    assert check(path)[1:] in ((0, ""), (1, ""))


def test_file_of_very_many_interfaces_is_refused(tmp_path):
    path = write(tmp_path, capfile.interface(capfile.ERF, values={}) * ((1 << 20) + 1))
    assert "one interface more than 1,048,576" in check(path)[2]

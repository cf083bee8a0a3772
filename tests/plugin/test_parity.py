# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin and the decoder without state agree: for every capture of testdata, tshark's fields
equal those of bin/wire-fields."""
import collections
import glob
import ipaddress
import os
import subprocess

import pytest

from support import shown
from support.paths import BUILD, TESTDATA

FIELDS = """ipoib.type ipoib.reserved ipoib.lladdr ipoib.lladdr.flags ipoib.lladdr.flags.rc ipoib.lladdr.flags.uc
ipoib.lladdr.flags.reserved ipoib.lladdr.flags.tss ipoib.lladdr.qpn ipoib.lladdr.gid ipoib.mgid ipoib.mgid.flags ipoib.mgid.transient
ipoib.mgid.scope ipoib.mgid.signature ipoib.mgid.pkey ipoib.mgid.ipv4 ipoib.mgid.ipv6 ipoib.sa.status
ipoib.sa.join_state ipoib.sa.mtu ipoib.sa.rate ipoib.sa.component_mask ipoib.cm.service_id ipoib.cm.service_id.qpn
ipoib.cm.ud_qpn ipoib.cm.recv_mtu ipoib.cm.reserved""".split()
NOT_READ = 3  # exit status of wire-fields: libpcap cannot read the capture
# fields that a decoder without state reads in a REQ only
STATEFUL = {
    "ipoib.cm.ud_qpn",
    "ipoib.cm.recv_mtu",
    "ipoib.cm.reserved",
    "ipoib.cm.service_id",
    "ipoib.cm.service_id.qpn",
}


def normal(value):
    """One spelling for a value: numbers as numbers, booleans as 0 and 1, IPv6 compressed, bytes
    without colons."""
    if value in ("True", "False"):
        return int(value == "True")
    for read in (lambda v: int(v, 0), lambda v: str(ipaddress.ip_address(v))):
        try:
            return read(value)
        except ValueError:
            pass
    return value.replace(":", "").lower()


def values(text):
    return [normal(v) for v in text.split(",")] if text else []


CAPTURES = sorted(
    glob.glob(os.path.join(TESTDATA, "*.pcap*"))
    + glob.glob(os.path.join(TESTDATA, "built", "*.pcap*"))
)
Shown = collections.namedtuple("Shown", "foreign message fields")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == NOT_READ:
        return None
    assert done.returncode == 0, f"{command}: exit status {done.returncode}: {done.stderr[:2000]}"
    return done.stdout


def by_wire(capture):
    """Frame to its fields (None: no InfiniBand); None: libpcap cannot read the capture."""
    out = output(os.path.join(BUILD, "bin/wire-fields"), capture)
    if out is None:
        return None
    frames = {}
    for line in out.splitlines():
        number, *rest = line.split("\t")
        fields = (part.split("=", 1) for part in rest)
        frames[int(number)] = None if rest == ["-"] else {k: values(v) for k, v in fields}
    return frames


def by_tshark(capture):
    frames = {}
    for number, frame in shown.show(capture).frames.items():
        message = ",".join(shown.values(frame, "ipoib.cm.message"))
        service = ",".join(shown.values(frame, "ipoib.connection.service"))
        # data of another protocol's connection: the decoder without state sees no connection
        foreign = service not in ("", "1", "2") and not message
        fields = {f: [normal(v) for v in shown.values(frame, f)] for f in FIELDS}
        frames[number] = Shown(foreign, message, fields)
    return frames


@pytest.fixture(scope="module")
def compared():
    """Capture to the number of values that were compared."""
    return {}


@pytest.mark.parametrize("capture", CAPTURES, ids=map(os.path.basename, CAPTURES))
def test_decoder_and_plugin_show_the_same_fields(capture, compared):
    wire, tshark = by_wire(capture), by_tshark(capture)
    compared[capture] = 0
    if wire is None:
        pytest.skip("libpcap cannot read it")
    assert len(wire) == len(tshark)
    differences = []
    for number, fields in wire.items():
        of_tshark = tshark[number]
        if fields is None or of_tshark.foreign:
            continue
        for field in FIELDS:
            if field in STATEFUL and of_tshark.message != "0x0010":
                continue
            decoded = fields.get(field, [])
            compared[capture] += len(decoded)
            found = of_tshark.fields[field]
            if decoded != found:
                differences.append(f"frame {number} {field}: decoder {decoded}, tshark {found}")
    assert not differences


def test_at_least_1000_values_were_compared(compared):
    if set(compared) != set(CAPTURES):
        pytest.skip("only some of the captures were compared")
    assert sum(compared.values()) >= 1000

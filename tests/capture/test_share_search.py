# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share leaves none of a capture's addresses and payload; and each fixture
of a rule has the same findings as before.

tshark, not the project's decoder, reads the addresses and payload from the captures."""
import ipaddress
import os

import pytest

from support import shown
from support.convert import convert
from support.share import CAPTURES, packets, rules, shared
from judge.test_fixtures import make

of_captures = pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)
ENCAPSULATIONS = tuple(bytes.fromhex(t + "0000") for t in ("0800", "0806", "86dd"))
# Fields with addresses of hosts. Wireshark's own fields of SA records are left out: it misses
# the start of records in the later segments of a table.
ADDRESSES = """infiniband.grh.sgid infiniband.grh.dgid ipoib.lladdr.gid ipv6.src ipv6.dst icmpv6.nd.ns.target_address
icmpv6.nd.na.target_address infiniband.cm.req.localgid.ipv6 ipoib.mgid""".split()
GUIDS = """infiniband.nodeinfo.systemimageguid infiniband.nodeinfo.nodeguid infiniband.nodeinfo.portguid
infiniband.sminfo.guid infiniband.cm.req.localcaguid infiniband.cm.rep.localcaguid""".split()
CLASS = "infiniband.mad.mgmtclass"
PAYLOAD = ["data.data", "tcp.payload", "udp.payload", "infiniband.payload"]


def stays(address):
    """Addresses with a general meaning, which identify no host."""
    a = ipaddress.ip_address(address)
    if a.version == 6 and a.is_multicast:
        return (
            int(a) & (1 << 80) - 1 < 0x20000
            or int(a) & 0xFFFFFFFF == 0xFFFFFFFF
            or a.packed[2:4] == b"\x40\x1b"
        )
    return a.is_unspecified or a.is_loopback or int(a) & (1 << 64) - 1 == 0


def words(path, fields):
    """The words of these fields in a capture. Wireshark takes a NodeRecord of the SA (class 3) for a
    NodeInfo, which begins 4 bytes later: there GUIDs are left out."""
    assert len(shown.known().intersection(ADDRESSES + GUIDS + PAYLOAD)) >= 13
    found = set()
    for frame in shown.show(path).frames.values():
        record = shown.values(frame, CLASS) == ["0x03"]
        for field in fields:
            if field not in GUIDS or not record:
                found.update(w for v in shown.values(frame, field) for w in v.split(","))
    return found


@of_captures
def test_no_address_or_guid_is_left(path, shared):
    left = b"".join(packets(shared(path)))
    for address in {w for w in words(path, ADDRESSES) if not stays(w)}:
        octets = ipaddress.ip_address(address).packed
        assert octets not in left, address
        assert octets[0] == 0xFF or octets[8:] not in left, address
    for guid in words(path, GUIDS):
        octets = int(guid, 0).to_bytes(8, "big")
        assert not any(octets[:2]) or octets not in left, guid


@of_captures
def test_no_payload_is_left(path, shared):
    """Of the bytes after the headers of IP, UDP and TCP no 8 in a row remain, except zeros and
    repetitions."""
    left = b"".join(packets(shared(path)))
    pieces = {left[at : at + 8] for at in range(len(left) - 7)}
    # the payload of UDP is an InfiniBand packet, with headers, in RoCE v2
    fields = [f for f in PAYLOAD if f != "udp.payload" or "roce2" not in path]
    for word in {w for w in words(path, fields) if len(w) >= 16}:
        data = bytes.fromhex(word.replace(":", ""))
        if data[236:240] == b"\x63\x82\x53\x63":
            continue  # DHCP has a test of its own
        headers = 52 if data[:4] in ENCAPSULATIONS else 0  # headers are kept
        for at in range(headers, len(data) - 7):
            piece = data[at : at + 8]
            assert len(set(piece)) < 4 or piece not in pieces, (at, piece.hex())


def test_shared_fixtures_have_the_same_verdict(tmp_path):
    """Captures with one fault each, and rare conformant ones."""
    captures = {entry["capture"] for entry in make(tmp_path)}
    assert len(captures) > 150
    for path in sorted(captures):
        out = tmp_path / "shared.pcapng"
        convert("--share", path, out)
        assert rules(out) == rules(path), path

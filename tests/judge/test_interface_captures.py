# SPDX-License-Identifier: GPL-2.0-or-later
"""LINKTYPE_IPOIB as Solaris and illumos write it: frames as the IP layer of the interface has them,
without the changes that the driver makes to a packet that it sends or receives. What the driver
changes is no violation.

The tests come in pairs: in the second capture the form is none that the driver changes, and the
violation must be found."""
import pytest

from frames import ib
from frames.fabric import A, B
from frames.messages import arp_request
from support import capfile, findings
from support.convert import convert
from support.wireshark import tshark

PADDING, FLAGS = "rfc4391.9.3.nd-option-padding", "rfc4391.9.1.1.reserved-flags"
FULL_MEMBER = "rfc4391.4.1.pkey-full-member"


def capture(frames):
    return capfile.pcap(capfile.IPOIB, capfile.records(frames), nanoseconds=True)


def found(*frames):
    return [rule for _, rule in findings.failures(capture(frames), "--deviations", "none")]


def to_group(mgid, encapsulated):
    """The destination's address in the pseudo header: QPN 0xffffff and the MGID."""
    return ib.ipoib242_dest(ib.lladdr(0xFFFFFF, mgid), encapsulated)


def test_address_without_scope_and_pkey():
    assert found(to_group("ff10:401b::ffff:ffff", arp_request(A, B.ip))) == []


@pytest.mark.parametrize("mgid", ["ff12:401b:7fff::ffff:ffff", "ff12:401b::ffff:ffff"])
def test_broadcast_group_without_the_membership_bit_is_found(mgid):
    assert found(to_group(mgid, arp_request(A, B.ip))) == [FULL_MEMBER]


def test_grh_without_scope_and_pkey_is_found():
    """The packet itself has this MGID."""
    frame = ib.ipoib242_grh(A.gid, "ff10:401b::ffff:ffff", arp_request(A, B.ip))
    assert found(frame) == [FULL_MEMBER]


def neighbours(option_of):
    """B's solicitation of A, and B's advertisement. option_of: the option for a type."""
    solicitation = ib.nd_ns(A.ll, option_of(1))
    group = "ff02::1:ff00:1895"
    request = ib.icmpv6(B.ll, group, solicitation)
    reply = ib.icmpv6(B.ll, A.ll, ib.nd_na(B.ll, option_of(2)))
    return [
        to_group("ff10:601b::1:ff00:1895", ib.encap(0x86DD, request)),
        ib.ipoib242_dest(A.addr, ib.encap(0x86DD, reply)),
    ]


# With the QPN 0x48, the bytes of the option may also be an address after the padding, of the QPN
# 0x48fe80. The prefix of that GID would not be fe80::/64.
SMALL_QPN, OTHER_PREFIX = 0x48, "fec0::7:2:c902:24:f636"


def before_the_padding(qpn, gid=B.gid):
    """The IP layer has the address after the option's length; the driver moves it by two bytes."""
    return neighbours(lambda kind: bytes([kind, 3]) + ib.lladdr(qpn, gid) + bytes(2))


@pytest.mark.parametrize("gid", [B.gid, OTHER_PREFIX], ids=["default", "other-prefix"])
@pytest.mark.parametrize("qpn", [B.qpn, SMALL_QPN])
def test_address_before_the_padding(qpn, gid):
    """Informational notes would be wrong, too."""
    assert findings.frames(capture(before_the_padding(qpn, gid)), "--deviations", "none") == []


@pytest.mark.parametrize("flags", [0x20, 0xA0], ids=hex)
def test_address_of_mlnx_ofed_before_the_padding(flags):
    """Its flag does not make the bytes an address after the padding."""
    frames = neighbours(lambda kind: bytes([kind, 3]) + ib.lladdr(B.qpn, B.gid, flags) + bytes(2))
    assert findings.frames(capture(frames), "--deviations", "none") == []


def shown(frames, folder, fields=("nd.padding", "lladdr.flags", "lladdr.qpn", "lladdr.gid")):
    """The fields of the options, for each frame."""
    path = folder / "interface.pcap"
    path.write_bytes(capture(frames))
    options = [o for f in fields for o in ("-e", "ipoib." + f)]
    done = tshark("-r", path, "-T", "fields", "-E", "occurrence=l", *options, check=True)
    return [tuple(row.split("\t")) for row in done.stdout.splitlines()]


def of_option(qpn, gid):
    return ("0x0000", "0x00", f"0x{qpn:06x}", gid)


@pytest.mark.parametrize(
    "qpn, gid", [(B.qpn, B.gid), (SMALL_QPN, B.gid), (B.qpn, OTHER_PREFIX)], ids=str
)
def test_address_before_the_padding_is_shown(qpn, gid, open_path):
    assert shown(before_the_padding(qpn, gid), open_path) == [of_option(qpn, gid)] * 2


@pytest.mark.parametrize("gid", [B.gid, OTHER_PREFIX], ids=["default", "other-prefix"])
@pytest.mark.parametrize("qpn", [B.qpn, SMALL_QPN])
def test_shared_address_before_the_padding(qpn, gid, tmp_path):
    """One address in both frames, not B's, in its place; and no finding."""
    (tmp_path / "in.pcap").write_bytes(capture(before_the_padding(qpn, gid)))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    shared = (tmp_path / "out.pcap").read_bytes()
    options = {data[-22:] for data in capfile.packets(shared)}
    (option,) = options
    assert option[:4] == ib.lladdr(qpn, gid)[:4] and option[20:] == bytes(2)
    assert option[12:20] != ib.gid(gid)[8:]
    assert findings.frames(shared, "--deviations", "none") == []


@pytest.mark.parametrize("gid", [B.gid, "fe80::2:c902:24:0"], ids=["gid", "gid-with-final-zeros"])
@pytest.mark.parametrize("qpn", [B.qpn, SMALL_QPN])
def test_address_after_the_padding_is_shown(qpn, gid, open_path):
    frames = neighbours(lambda kind: bytes([kind, 3]) + bytes(2) + ib.lladdr(qpn, gid))
    assert shown(frames, open_path) == [of_option(qpn, gid)] * 2


def test_parts_of_an_address_are_not_shown_if_its_place_is_not_known(open_path):
    frames = before_the_padding(SMALL_QPN, OTHER_PREFIX)
    assert shown(frames, open_path, ["nd.padding"]) == [("",), ("",)]


def test_address_before_the_padding_is_found_in_a_cooked_capture():
    """Linux's IP layer has the option as it is in the packet."""
    inner = neighbours(lambda kind: bytes([kind, 3]) + B.addr + bytes(2))[1][44:]
    record = capfile.records([ib.sll(0x86DD, B.addr, inner)])
    data = capfile.pcap(113, record, nanoseconds=True)
    assert [rule for _, rule in findings.failures(data)] == [FLAGS]


@pytest.mark.parametrize(
    "option, rule",
    [
        (bytes.fromhex("0001") + B.addr, PADDING),
        (B.addr + bytes.fromhex("0001"), FLAGS),
        (bytes(2) + ib.lladdr(B.qpn, B.gid, flags=1), FLAGS),
    ],
    ids=["padding", "padding-at-the-end", "flags"],
)
def test_other_forms_of_the_option_are_found(option, rule):
    assert rule in found(*neighbours(lambda kind: bytes([kind, 3]) + option))

# SPDX-License-Identifier: GPL-2.0-or-later
"""RoCE v2 that only Wireshark reaches, in a tunnel, in fragments, or quoted by an ICMP error: it is
decoded, but neither observed nor checked. So the plugin finds what ipoib-check finds."""
import json

import pytest

from frames import ib
from frames.ib import ONLY, UD, Frame, encap
from frames.unusual import link
from support import capfile
from support.check import run
from support.wireshark import tshark

A, B = "192.0.2.1", "192.0.2.2"
RULE = "rfc4391.6.reserved-zero"
ETHERNET_HEADER, IPV4_HEADER = 14, 20
GRE, UDP, ICMP = 47, 17, 1
VXLAN_PORT, MORE_FRAGMENTS = 4789, 0x2000
FRAGMENT = 64  # octets of each fragment; a multiple of 8


def roce2():
    """RoCE v2 with a datagram whose Reserved field is not 0 (RFC 4391 section 6)."""
    datagram = encap(0x0800, ib.ping4("10.0.0.1", "10.0.0.2"), reserved=1)
    return Frame(UD | ONLY, datagram, destqp=0x101, psn=1, qkey=0xB1B, srcqp=0x102).roce2()


def ethernet(ip):
    return ib.mac("02:00:00:00:00:0b") + ib.mac("02:00:00:00:00:0a") + ib.u16(0x0800) + ip


def between(protocol, data):
    return [ethernet(ib.ipv4(A, B, protocol, data))]


def in_gre():
    """RFC 2784: flags and version 0, then the Ethertype."""
    return between(GRE, ib.u16(0) + ib.u16(0x0800) + roce2()[ETHERNET_HEADER:])


def in_vxlan():
    """RFC 7348: flag I, then the VXLAN network identifier."""
    return between(UDP, ib.udp(A, B, 50000, VXLAN_PORT, b"\x08" + bytes(7) + roce2()))


def in_icmp_error():
    """RFC 792: destination unreachable, port unreachable; it quotes the datagram."""
    body = bytes((3, 3)) + bytes(6) + roce2()[ETHERNET_HEADER:]
    return between(ICMP, body[:2] + ib.u16(ib.inet_checksum(body)) + body[4:])


def fragment(data, at):
    part = data[at : at + FRAGMENT]
    more = MORE_FRAGMENTS if at + FRAGMENT < len(data) else 0
    head = bytearray(ib.ipv4_header(A, B, UDP, len(part), flags=0))
    head[6:8] = ib.u16(more | at // 8)
    head[10:12] = bytes(2)
    head[10:12] = ib.u16(ib.inet_checksum(bytes(head)))
    return ethernet(bytes(head) + part)


def in_fragments():
    """RFC 791: three fragments."""
    data = roce2()[ETHERNET_HEADER + IPV4_HEADER :]
    return [fragment(data, at) for at in range(0, len(data), FRAGMENT)]


HIDDEN = [in_gre, in_vxlan, in_icmp_error, in_fragments]


@pytest.fixture
def capture(open_path):
    """Writes a capture of frames, a second apart."""

    def write(frames):
        path = open_path / "tunnels.pcap"
        records = [(n * 10**9, data, len(data)) for n, data in enumerate(frames)]
        path.write_bytes(capfile.pcap(capfile.ETHERNET, records, nanoseconds=True))
        return str(path)

    return write


def reports(path):
    """Results and summary of the plugin, and those of ipoib-check."""
    plugin = tshark("-q", "-z", "ipoib,conformance,json", "-r", path).stdout
    for text in (plugin, run("--format", "json", path).stdout):
        report = json.loads(text)
        for named in report["results"] + report["summary"]["captures"]:
            named.pop("capture", None)
            named.pop("name", None)
        # the plugin sees no frame without InfiniBand, and counts no times
        for c in report["summary"]["captures"]:
            c["unseen"] = [
                u for u in c["unseen"] if u["code"] not in ("other-protocols", "old-times")
            ]
        yield report["results"], report["summary"]


@pytest.mark.parametrize("carried", HIDDEN, ids=lambda f: f.__name__)
def test_plugin_and_ipoib_check_find_the_same(capture, carried):
    plugin, check = reports(capture(carried()))
    assert plugin == check
    assert RULE not in json.dumps(plugin[0])


@pytest.mark.parametrize("carried", HIDDEN, ids=lambda f: f.__name__)
def test_wireshark_shows_the_datagram(capture, carried):
    shown = tshark("-r", capture(carried()), "-Y", "ipoib.reserved == 1").stdout
    assert len(shown.splitlines()) == 1


def test_without_a_tunnel_both_find_it(capture):
    plugin, check = reports(capture([roce2()]))
    assert plugin == check
    assert RULE in json.dumps(plugin[0])


def test_fragments_that_are_not_reassembled_are_not_checked(capture):
    shown = tshark(
        *["-o", "ip.defragment:FALSE", "-r", capture(in_fragments())],
        *["-q", "-z", "ipoib,conformance"],
    ).stdout
    assert "0 with IPoIB" in shown


def test_quoted_solicitation_has_no_response(open_path):
    """RFC 4443 section 3.1: an error quotes a solicitation, which this frame does not make."""
    s, a, b = link(1, 2)
    quoted = ib.icmpv6(a.ll, b.ll, ib.nd_ns(b.ll, ib.nd_lladdr_option(1, a.addr)))
    error = ib.icmpv6(b.ll, a.ll, ib.u8(1) + bytes(7) + quoted)
    advertisement = ib.icmpv6(b.ll, a.ll, ib.nd_na(b.ll, ib.nd_lladdr_option(2, b.addr)))
    for message in (error, advertisement):
        s.ud(b, a, encap(0x86DD, message))
    path = open_path / "quoted.pcap"
    path.write_bytes(s.pcap())
    assert "Neighbor Solicitation" in tshark("-r", str(path), "-V").stdout
    matched = "icmpv6.type == 136 and (ipoib.response_in or ipoib.response_to)"
    assert tshark("-r", str(path), "-Y", matched).stdout == ""

# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share: a capture without private data, which has the same findings as
before."""
import ipaddress
import os
import subprocess

import pytest

from frames import ib
from frames.build import A, B, Tape, erf_pcap
from support import capfile
from support.convert import convert
from support.paths import TSHARK, testdata
from support.share import CAPTURES, LINKTYPES, packets, rules, shared


of_captures = pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)


def test_every_capture_of_infiniband_is_tried():
    assert len(CAPTURES) >= 60


@of_captures
def test_shared_capture_has_the_same_verdict(path, shared):
    assert rules(shared(path)) == rules(path)


@of_captures
def test_frames_lengths_and_times_stay(path, shared):
    before, after = capfile.read(path), capfile.read(shared(path))
    assert {i.linktype for i in after.interfaces} == {
        LINKTYPES[i.linktype] for i in before.interfaces[:1]
    }
    cap = before.interfaces[0].snaplen or None
    lengths = [
        len(p[: cap - 16 if cap and before.linktype == capfile.ERF else cap]) for p in packets(path)
    ]
    assert [len(p) for p in packets(shared(path))] == lengths
    assert [round(f.time, -3) for f in after.frames] == [round(f.time, -3) for f in before.frames]


@of_captures
def test_node_names_are_removed(path, shared):
    left = b"".join(packets(shared(path)))
    for name in (b"node", b"OpenSM", b"localhost", b"sim", b"rxe", b"mlx"):
        if name in b"".join(packets(path)):
            assert name not in left


def test_checksums_are_right(shared):
    """tshark checks all checksums."""
    path = shared(testdata("mixed.pcap"))
    checks = [
        "ip.checksum.status",
        "udp.checksum.status",
        "tcp.checksum.status",
        "icmpv6.checksum.status",
    ]
    options = [o for c in ("ip", "udp", "tcp") for o in ("-o", c + ".check_checksum:TRUE")]
    wrong = " || ".join(f'{c} == "Bad"' for c in checks)
    command = [*TSHARK, *options, "-r", str(path), "-Y", wrong]
    assert subprocess.run(command, capture_output=True, text=True).stdout == ""


def test_each_address_has_one_replacement(shared):
    """Addresses that are equal before are equal after, and different ones different."""
    columns = ["-e", "frame.number", "-e", "arp.src.proto_ipv4", "-e", "ip.src", "-e", "ip.dst"]

    def shown(path):
        command = [*TSHARK, "-r", str(path), "-T", "fields", *columns]
        out = subprocess.run(command, capture_output=True, text=True).stdout
        return [w for l in out.splitlines() for w in l.split("\t")[1:]]

    path = testdata("datagram.pcap")
    addresses = set(zip(shown(path), shown(shared(path))))
    assert len(addresses) == len({b for b, _ in addresses}) == len({a for _, a in addresses})
    before, after = zip(*[(b, a) for b, a in addresses if b.startswith("10.")])
    assert all(a.startswith("10.") for a in after)
    networks = [
        {ipaddress.ip_network(x + "/24", strict=False) for x in side} for side in (before, after)
    ]
    assert len(networks[0]) == len(networks[1])


def test_link_local_multicast_and_scope_are_unchanged(shared):
    left = b"".join(packets(shared(testdata("datagram.pcap"))))
    assert bytes.fromhex("ff12401bffff00000000 0000ffffffff".replace(" ", "")) in left
    assert bytes.fromhex("ff12601bffff0000000000000000") in left
    assert bytes.fromhex("fe80000000000000") in left


def test_payload_and_tcp_text_are_removed(tmp_path):
    t = Tape()
    udp = ib.udp(A.ip, B.ip, 5000, 5001, b"secret of a company")
    t.ud(A, B, ib.encap(0x0800, ib.ipv4(A.ip, B.ip, 17, udp)))
    (tmp_path / "in.pcap").write_bytes(erf_pcap(t))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    data = (tmp_path / "out.pcap").read_bytes()
    assert b"secret" not in data and ipaddress.ip_address(A.gid).packed not in data


def test_dhcp_has_other_addresses_and_no_names(shared):
    """dhcp.pcap is systemd-networkd and dnsmasq; its findings of RFC 4390 are tested above."""
    fields = ["dhcp.client_id.duid", "dhcp.hw.ipoib", "dhcp.option.dhcp_server_id", "dhcp.ip.your"]
    fields += ["dhcp.client_id.iaid", "dhcp.option.hostname", "dhcp.option.vendor_class_id"]

    def shown(path):
        names = [
            o for f in ("dhcp.id", "dhcp.option.dhcp", *fields[2:4], *fields[5:]) for o in ("-e", f)
        ]
        command = [*TSHARK, "-r", str(path), "-Y", "dhcp", "-T", "fields", *names]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    path = testdata("dhcp.pcap")
    before, after = shown(path), shown(shared(path))
    assert before and [b[:2] for b in before] == [a[:2] for a in after]
    for b, a in zip(before, after):
        for old, new in zip(b[2:], a[2:]):
            assert not old or old == "0.0.0.0" or old != new, (old, new)


def test_each_run_has_its_own_key(tmp_path):
    for name in ("a.pcap", "b.pcap"):
        convert("--share", testdata("datagram.pcap"), tmp_path / name)
    assert (tmp_path / "a.pcap").read_bytes() != (tmp_path / "b.pcap").read_bytes()


def test_output_is_erf_unless_247_is_asked_for(tmp_path):
    for args, wanted in (([], capfile.ERF), (["--format", "247"], capfile.INFINIBAND)):
        for name in ("datagram.pcap", "built/built-carrier-247.pcap"):
            convert("--share", *args, testdata(name), tmp_path / "out.pcap")
            assert capfile.read(tmp_path / "out.pcap").linktype == wanted


def test_records_of_other_types_are_left_out(tmp_path):
    """Provenance (27) names the host; the tool does not anonymise Ethernet (2)."""
    frame = packets(testdata("datagram.pcap"))[0]
    records = [
        capfile.erf_record_of(27, 1 << 32, b"\0\x03\0\x08hostname", 12),
        capfile.erf_record_of(21, 1 << 32, frame, len(frame)),
        capfile.erf_record_of(2, 1 << 32, b"\0\0" + bytes(60), 60),
    ]
    (tmp_path / "in.erf").write_bytes(b"".join(records))
    convert(
        "--share",
        tmp_path / "in.erf",
        tmp_path / "out.erf",
        status=1,
        says="type 2 is not InfiniBand",
    )
    assert len(capfile.read(tmp_path / "out.erf").frames) == 1


def test_host_in_an_extension_header_is_replaced(tmp_path):
    host = bytes.fromhex("0501a1b2c3d4e5f6")
    frame = packets(testdata("datagram.pcap"))[0]
    record = capfile.erf_record_of(21 | 0x80, 1 << 32, frame, len(frame), extensions=host)
    (tmp_path / "in.erf").write_bytes(record)
    convert("--share", tmp_path / "in.erf", tmp_path / "out.erf")
    after = (tmp_path / "out.erf").read_bytes()
    assert after[16:18] == host[:2] and after[18:24] not in (host[2:], bytes(6))

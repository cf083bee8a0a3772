# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share: a capture without private data, which has the same findings as
before."""
import ipaddress
import os
import subprocess

import pytest

from frames import ib
from frames.build import erf_pcap
from frames.fabric import A, B, BROADCAST_MGID, SM, Tape
from frames.messages import arp_reply, arp_request
from support import capfile
from support.check import run
from support.convert import call, convert
from support.paths import TSHARK, testdata
from support.share import CAPTURES, LINKTYPES, packets, rules, shared


of_captures = pytest.mark.parametrize("path", CAPTURES, ids=os.path.basename)
HEADERS = 28  # LRH, BTH, DETH


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
    assert before and [b[1] for b in before] == [a[1] for a in after]
    transactions = {(b[0], a[0]) for b, a in zip(before, after)}
    assert (
        len(transactions) == len({b for b, _ in transactions}) == len({a for _, a in transactions})
    )
    for b, a in zip(before, after):
        for old, new in zip(b[:1] + b[2:], a[:1] + a[2:]):
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


def share_payloads(tmp_path, *payloads):
    """What the payloads of UD packets from A to B are in the shared capture. ARP, in the first two
    packets, shows that these queue pairs are IPoIB's."""
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    t.ud(B, A, arp_reply(B, A))
    for payload in payloads:
        t.ud(A, B, payload)
    (tmp_path / "in.pcap").write_bytes(erf_pcap(t))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    shared = packets(tmp_path / "out.pcap")[2:]
    return [p[HEADERS : HEADERS + len(o)] for p, o in zip(shared, payloads)]


ECHO6 = ib.icmpv6(A.ll, B.ll, bytes.fromhex("80000000 00010001") + bytes(16))
BARE = {
    "ipv4": ib.ping4(A.ip, B.ip),
    "ipv6": ECHO6,
    "arp": ib.arp(1, A.addr, A.ip, bytes(20), B.ip),
}


@pytest.mark.parametrize("body", BARE)
def test_missing_encapsulation_header_stays_missing(body, tmp_path):
    (shared,) = share_payloads(tmp_path, BARE[body])
    verdict, found = rules(tmp_path / "in.pcap")
    assert ("rfc4391.6.encapsulation-header", "fail") in found
    assert rules(tmp_path / "out.pcap") == (verdict, found)
    for address in (A, B):
        assert ib.ip4(address.ip) not in shared and ib.ip6(address.ll)[8:] not in shared


@pytest.mark.parametrize("kind", [0x0800, 0x86DD])
def test_body_that_is_no_ip_datagram_keeps_its_first_half_byte(kind, tmp_path):
    (shared,) = share_payloads(tmp_path, ib.encap(kind, b"secret of a company in clear text"))
    assert shared == ib.encap(kind, b"\x70" + bytes(32))
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


def test_addresses_after_the_wrong_type_are_replaced(tmp_path):
    """An IPv6 datagram after the Type of IPv4 and the reverse."""
    source, target = "2001:db8:1234:5678::1", "2001:db8:1234:5678::2"
    six = ib.ipv6(source, target, 59, b"")
    a, b = share_payloads(tmp_path, ib.encap(0x0800, six), ib.encap(0x86DD, BARE["ipv4"]))
    assert a[:12] == ib.encap(0x0800, six)[:12] and b[:8] == ib.encap(0x86DD, BARE["ipv4"])[:8]
    assert ib.ip6(source)[:4] not in a and ib.ip4(A.ip) not in b
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


def test_hop_by_hop_options_are_padding(tmp_path):
    """Except router alert (RFC 2711), which MLD needs. 0x31 is a trace (RFC 9486)."""
    trace = bytes.fromhex("310e") + b"a trace of IPs"
    alert, short = bytes.fromhex("05020000"), bytes.fromhex("31ff") + b"long"
    options = alert + trace + bytes.fromhex("0104") + b"text"
    for option, wanted in (
        (options, alert + bytes.fromhex("010e") + bytes(14) + bytes.fromhex("0104") + bytes(4)),
        (short, bytes(6)),
    ):
        extension = bytes([59, len(option) // 8]) + option
        packet = ib.ipv6("2001:db8::1", "2001:db8::2", 0, extension)
        (shared,) = share_payloads(tmp_path, ib.encap(0x86DD, packet))
        assert shared[44:46] == extension[:2] and shared[46:] == wanted


def test_mtu_option_keeps_the_mtu_only(tmp_path):
    """RFC 4861 section 4.6.4: 8 bytes. A longer one may hold anything."""
    option = bytes.fromhex("0502 0000 000007fc") + b"anything"
    packet = ib.icmpv6(A.ll, "ff02::1", ib.nd_ra(option))
    (shared,) = share_payloads(tmp_path, ib.encap(0x86DD, packet))
    assert shared[-16:] == option[:8] + bytes(8)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_option_after_a_prefix_option_of_any_length_is_unchanged(length, tmp_path):
    """RFC 4861 section 4.6.2: 4 times 8 bytes. The prefix of a shorter one is not there."""
    prefix, mtu = bytes([3, length]).ljust(8 * length, b"p"), bytes.fromhex("0501 0000 000007fc")
    packet = ib.icmpv6(A.ll, "ff02::1", ib.nd_ra(prefix + mtu))
    (shared,) = share_payloads(tmp_path, ib.encap(0x86DD, packet))
    option = shared[-8 * (length + 1) :]
    assert option[:2] == prefix[:2] and option[-8:] == mtu and b"ppp" not in option[12:-8]


def smp(management, method, attribute, data):
    """IBA 14.2.1: the M_Key, then reserved bytes (with the LIDs of a directed route), the data, and
    the paths of a directed route or reserved bytes."""
    head = ib.mad_header(management, 1, method, 7, attribute)
    rest = data.ljust(64, b"x") + b"y" * 128
    return head + bytes(8) + bytes.fromhex("ffffffff") + b"r" * 28 + rest


@pytest.mark.parametrize("management", [0x01, 0x81])
@pytest.mark.parametrize("attribute, size", [(0x11, 40), (0x12, 20), (0x17, 8), (0x20, 21)])
def test_reserved_bytes_of_an_smp_are_zero(management, attribute, size, tmp_path):
    t = Tape()
    t.mad(A, B, smp(management, 0x81, attribute, b"\1" * size))
    (tmp_path / "in.pcap").write_bytes(erf_pcap(t))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    (shared,) = [p[HEADERS : HEADERS + 256] for p in packets(tmp_path / "out.pcap")]
    directed = management == 0x81
    assert b"rrr" not in shared and b"xxx" not in shared
    assert shared[32:36] == (b"\xff" * 4 if directed else bytes(4))
    assert shared[128:] == bytes(128)  # a route of no hops


def test_bytes_around_the_gid_of_a_notice_are_zero(tmp_path):
    """IBA 14.2.5.1, traps 64 to 67: 6 bytes reserved, the GID, 32 bytes of padding."""
    notice = bytearray(ib.notice(66, ib.mgid_ipv4("224.1.2.3"), 16, SM.gid))
    notice[10:16], notice[32:64] = b"before", b"secret of a company after a GID."
    t = Tape()
    t.mad(SM, A, ib.sa_mad(6, 7, 2, bytes(notice)))
    (tmp_path / "in.pcap").write_bytes(erf_pcap(t))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    (shared,) = [p[HEADERS + 56 : HEADERS + 136] for p in packets(tmp_path / "out.pcap")]
    assert shared[:10] == notice[:10] and shared[10:16] == bytes(6) and shared[32:64] == bytes(32)
    assert shared[16:22] == notice[16:22]  # flags, scope, signature and P_Key


GROUP6, GROUP4 = "ff02::1:ff12:3456", "239.12.34.56"


def group_frames():
    """RoCE: RFC 2464 section 7 and RFC 1112 section 6.4 give the MAC addresses of the groups."""
    to = {"dlid": 0xC001, "slid": 1, "destqp": 0xFFFFFF, "qkey": 1, "srcqp": 2, "psn": 1}
    payload = ib.encap(0x0800, ib.ping4(A.ip, B.ip))
    mac6, mac4 = "33:33:ff:12:34:56", "01:00:5e:0c:22:38"
    first = ib.Frame(0x64, payload, dgid=GROUP6, sgid=A.gid, **to).roce1(mac6)
    return [first, ib.Frame(0x64, payload, **to).roce2("10.1.0.1", GROUP4, mac4)]


def test_mac_address_of_a_group_follows_the_group(tmp_path):
    records = [(10**18, f, len(f)) for f in group_frames()]
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(capfile.ETHERNET, records))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    six, four = packets(tmp_path / "out.pcap")
    assert six[:3] == bytes.fromhex("3333ff") and four[:3] == bytes.fromhex("01005e")
    assert six[2:6] == six[14 + 36 : 14 + 40] and six[3:6] != bytes.fromhex("123456")
    assert (four[3], four[4:6]) == (four[31] & 0x7F, four[32:34])
    assert four[3:6] != bytes.fromhex("0c2238")


def raw_packet(lnh):
    """IBA 7.7.5: no ICRC. Raw packets have a header of an Ethertype (0) or of IPv6 (1)."""
    ip = ib.ipv6("2001:db8::1", "2001:db8::2", 59, b"\0\0\0\0text")
    whole = ib.lrh(lnh, 2, 1, (8 + len(ip)) // 4) + ip
    return whole + ib.crc16_100b(whole).to_bytes(2, "little")


@pytest.mark.parametrize("lnh", [0, 1])
def test_raw_packet_keeps_its_first_header_only(lnh, tmp_path):
    packet = raw_packet(lnh)
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(capfile.INFINIBAND, [(10**18, packet, 62)]))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    (shared,) = packets(tmp_path / "out.pcap")
    assert shared[:-2] == packet[:8] + bytes(len(packet) - 10)


def test_truncated_crc_is_zero(tmp_path):
    """It would be a checksum of the removed payload."""
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    ((_, packet, _),) = t.records
    records = [(10**18, packet[:-n], len(packet)) for n in (1, 3, 5)]
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(capfile.INFINIBAND, records))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    one, three, five = packets(tmp_path / "out.pcap")
    assert one[-1:] == bytes(1) and three[-3:] == bytes(3) and five[-1:] == bytes(1)


def without_payload(kind):
    """The link type, and a frame captured up to the end of the headers before the InfiniBand ones
    (RoCE) or before the encapsulation header."""
    frame = ib.Frame(0x64, b"", destqp=1, qkey=1, srcqp=2, dgid=B.gid, sgid=A.gid)
    data = ib.encap(0x0800, ib.ping4(A.ip, B.ip))
    return {
        "roce1": (capfile.ETHERNET, frame.roce1()[:14]),
        "roce2": (capfile.ETHERNET, frame.roce2()[:42]),
        "242": (capfile.IPOIB, ib.ipoib242_dest(A.addr, data)[:40]),
        "sll": (113, ib.sll(0x0800, A.addr, data)[:16]),
        "sll2": (276, ib.sll2(0x0800, A.addr, data)[:20]),
    }[kind]


@pytest.mark.parametrize("kind", ["roce1", "roce2", "242", "sll", "sll2"])
def test_frame_captured_up_to_its_outer_headers_keeps_them(kind, tmp_path):
    linktype, frame = without_payload(kind)
    data = capfile.pcap(linktype, [(10**18, frame, 100)])
    (tmp_path / "in.pcap").write_bytes(data)
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    (shared,) = packets(tmp_path / "out.pcap")
    kept = {"roce1": (12, 14), "roce2": (12, 26), "242": (20, 26), "sll": (0, 10), "sll2": (0, 16)}
    first, end = kept[kind]
    kept_bytes = bytearray(shared[first:end]), bytearray(frame[first:end])
    if kind == "roce2":
        for part in kept_bytes:
            part[12:14] = b"\0\0"  # checksum of IPv4
    assert kept_bytes[0] == kept_bytes[1] and any(kept_bytes[0])


CUT = ["built/built-carrier-" + name for name in ("242", "247", "roce1", "roce2", "sll", "sll2")]
CUT += ["built/built-cm", "built/built-nd", "built/built-sa", "built/built-rc", "dhcp"]


@pytest.mark.parametrize("name", CUT)
def test_frames_captured_to_any_length(name, tmp_path):
    """A frame in which no InfiniBand packet begins is left out. The sanitizers of the variant "asan"
    see accesses beyond the frame."""
    capture = capfile.read(testdata(name + ".pcap"))
    head = 16 if capture.linktype == capfile.ERF else 0
    sizes = {len(f.data): f for f in capture.frames}
    records = [
        (f.time, f.data[:n], f.wire) for f in sizes.values() for n in range(head, len(f.data) + 1)
    ]
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(capture.linktype, records))
    done = call("convert", "--share", tmp_path / "in.pcap", tmp_path / "out.pcap")
    after = capfile.read(tmp_path / "out.pcap")
    left_out = len(records) - len(after.frames)
    assert done.returncode == (1 if left_out else 0), done.stderr
    assert left_out < 60 * len(sizes)
    whole = [f for f in after.frames if len(f.data) == max(sizes)]
    assert whole and run("--format", "json", str(tmp_path / "out.pcap")).stdout


TEXT = b"secret of a company."


@pytest.mark.parametrize("kind", [2, 3, 4, 5, 8])
def test_tcp_option_of_a_wrong_length_is_removed(kind, tmp_path):
    """MSS, window scale, SACK and timestamps keep their values only if they have their length."""
    good = bytes.fromhex("020405b4 030307 0402 080a 0000000100000002 050a 0000000300000004 010101")
    bad = bytes([kind, 23]) + TEXT + b"!\1"
    for options in (good, bad):
        head = bytes(12) + bytes([(20 + len(options)) // 4 << 4]) + bytes(7)
        packet = ib.ipv4(A.ip, B.ip, 6, head + options)
        (shared,) = share_payloads(tmp_path, ib.encap(0x0800, packet))
        assert shared[44:] == (good if options is good else b"\1" * len(bad))


@pytest.mark.parametrize("option, size", [(1, 4), (51, 4), (55, 20), (57, 2)])
def test_dhcp_number_of_a_wrong_length_is_removed(option, size, tmp_path):
    """A parameter list (55) may be any text."""
    message = bytes.fromhex("01200000") + bytes(232) + bytes.fromhex("63825363 350101")
    for n in (size, len(TEXT)):
        data = message + bytes([option, n]) + TEXT[:n] + b"\xff"
        udp = ib.udp(A.ip, "255.255.255.255", 68, 67, data)
        packet = ib.ipv4(A.ip, "255.255.255.255", 17, udp)
        (shared,) = share_payloads(tmp_path, ib.encap(0x0800, packet))
        assert shared[-n - 1 : -1] == (TEXT[:n] if n == size and option != 55 else bytes(n))

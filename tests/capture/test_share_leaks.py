# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share: text and addresses in places where senders leave old contents of
their buffers, or where only some programs have an address; and addresses of every kind. tests/capture/test_share_bits.py changes every
bit; these are frames as they occur."""
import ipaddress
import struct

import pytest

from frames import ib
from frames.fabric import A, B, BROADCAST_MGID, SM, Tape
from frames.messages import arp_request
from support import capfile
from support.convert import convert
from support.share import packets, rules

HEADERS = 28  # LRH, BTH, DETH
GUID = bytes.fromhex("0002c90300123456")
MAC = bytes.fromhex("0002c9123456")


def shared_frames(tmp_path, linktype, frames, *options):
    """The frames after sharing; frames: (bytes, size on the wire)"""
    records = [(10**18 + n, data, size) for n, (data, size) in enumerate(frames)]
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(linktype, records))
    convert(*options or ["--share"], tmp_path / "in.pcap", tmp_path / "out.pcap")
    return packets(tmp_path / "out.pcap")


def shared_ud(tmp_path, *payloads):
    """The payloads of UD packets from A to B after sharing"""
    t = Tape()
    t.ud(A, BROADCAST_MGID, arp_request(A, B.ip))
    for payload in payloads:
        t.ud(A, B, payload)
    frames = [(data, len(data)) for _, data, _ in t.records]
    shared = shared_frames(tmp_path, capfile.INFINIBAND, frames)[1:]
    return [s[HEADERS : HEADERS + len(p)] for s, p in zip(shared, payloads)]


def smp(hops, pointer, returned):
    """A directed-route Get(NodeInfo) or its response; the paths go on with text (IBA 14.2.1.2)."""
    status = 0x8000 if returned else 0
    head = ib.mad_header(0x81, 1, 0x81 if returned else 1, 7, 0x11, status=status)
    head = head[:6] + bytes([pointer, hops]) + head[8:]
    path = (bytes([0]) + bytes(range(1, hops + 1))) + (b"stack of OpenSM " * 4)[hops + 1 :]
    return head + bytes(8) + b"\xff\xff\xff\xff" + bytes(28) + bytes(64) + path + path


@pytest.mark.parametrize("returned", [False, True])
def test_path_of_an_smp_ends_with_its_hops(returned, tmp_path):
    t = Tape()
    t.mad(A, B, smp(3, 0 if returned else 1, returned))
    frames = [(data, len(data)) for _, data, _ in t.records]
    (shared,) = shared_frames(tmp_path, capfile.INFINIBAND, frames)
    mad = shared[HEADERS : HEADERS + 256]
    path = b"\0\1\2\3".ljust(64, b"\0")
    assert mad[128:192] == path
    assert mad[192:] == (path if returned else bytes(64))


def dhcp(hlen, chaddr, identifier):
    """RFC 2131: with a client identifier"""
    head = bytes([1, 32, hlen, 0]) + bytes(24) + chaddr.ljust(16, b"\0") + bytes(192)
    options = bytes.fromhex("63825363 350101 3d") + bytes([len(identifier)]) + identifier
    message = ib.udp("0.0.0.0", "255.255.255.255", 68, 67, head + options + b"\xff")
    return ib.encap(0x0800, ib.ipv4("0.0.0.0", "255.255.255.255", 17, message))


BEFORE_DHCP = 4 + 20 + 8
CHADDR, CLIENT = BEFORE_DHCP + 28, BEFORE_DHCP + 240 + 5


def test_chaddr_of_ipxe_is_the_guid(tmp_path):
    """8 bytes: the port GUID, replaced as in every other place"""
    key = tmp_path / "key"
    address = ib.lladdr(0x48, "fe80::202:c903:12:3456")
    arp = ib.encap(0x0806, ib.arp(1, address, A.ip, bytes(20), B.ip))
    message = dhcp(8, GUID, b"\xff\1\2\3\4\0\3\0\x20" + GUID)
    t = Tape()
    for payload in (arp, message):
        t.ud(A, B, payload)
    frames = [(data, len(data)) for _, data, _ in t.records]
    found = shared_frames(tmp_path, capfile.INFINIBAND, frames, "--share-key", key)
    in_arp, in_dhcp = (f[HEADERS:] for f in found)
    identifier = in_arp[4 + 8 + 4 + 8 :][:8]
    replaced = bytes([identifier[0] ^ 2]) + identifier[1:]
    assert replaced != GUID
    assert in_dhcp[CHADDR : CHADDR + 16] == replaced + bytes(8)
    assert in_dhcp[CLIENT : CLIENT + 1] == b"\xff"
    assert in_dhcp[CLIENT + 9 : CLIENT + 17] == replaced


def test_chaddr_of_ethernet_is_the_mac_address(tmp_path):
    """6 bytes; the same replacement as that of the Ethernet header of RoCE"""
    key = tmp_path / "key"
    t = Tape()
    t.ud(A, B, dhcp(6, MAC, b"\1" + MAC))
    ((_, frame, _),) = t.records
    found = shared_frames(tmp_path, capfile.INFINIBAND, [(frame, len(frame))], "--share-key", key)
    text = ":".join(f"{b:02x}" for b in MAC)
    roce = ib.Frame(0x64, b"", destqp=5, qkey=1, srcqp=2).roce2(src=text)
    (outer,) = shared_frames(tmp_path, capfile.ETHERNET, [(roce, len(roce))], "--share-key", key)
    message = found[0][HEADERS:]
    assert message[CHADDR : CHADDR + 16] == outer[6:12] + bytes(10)
    assert message[CLIENT : CLIENT + 7] == b"\1" + outer[6:12]
    assert outer[6:12] != MAC and outer[9:12] != MAC[3:]


def test_chaddr_of_another_length_is_only_not_zero(tmp_path):
    """RFC 4390 section 2.1 requires zeros, so the violation stays visible."""
    for chaddr, wanted in ((b"secret of client", bytes(15) + b"\1"), (bytes(16), bytes(16))):
        (shared,) = shared_ud(tmp_path, dhcp(0, chaddr, b"\1" + MAC))
        assert shared[CHADDR : CHADDR + 16] == wanted


TEXT = b"rack17-node0042-east"  # as long as a link-layer address


@pytest.mark.parametrize(
    "hlen, chaddr, identifier, kept",
    [
        (16, TEXT[:16], b"\0", b"\0"),
        (255, TEXT[:16], b"\0", b"\0"),
        (0, b"", b"\0" + TEXT, b"\0"),
        (0, b"", b"\1" + TEXT, b"\1"),
        (0, b"", b"A" + TEXT, b"\0"),  # a text without a type
        (0, b"", b"\xff\1\2\3\4" + TEXT, b"\xff"),
        (0, b"", b"\xff\1\2\3\4\0\3" + TEXT, b"\xff"),
        (0, b"", b"\xff\1\2\3\4\0\2" + TEXT, b"\xff"),
    ],
)
def test_identity_that_is_no_address_is_mapped_as_a_whole(hlen, chaddr, identifier, kept, tmp_path):
    """No two bytes of a text stay in a row."""
    (shared,) = shared_ud(tmp_path, dhcp(hlen, chaddr, identifier))
    after = shared[CHADDR : CHADDR + 16] + shared[CLIENT : CLIENT + len(identifier)]
    assert after[16:17] == kept and any(after[:16]) == any(chaddr)
    assert not {TEXT[n : n + 3] for n in range(18)} & {after[n : n + 3] for n in range(len(after))}


def test_transaction_that_is_an_address_is_replaced(tmp_path):
    """gPXE and old versions of iPXE: the last four bytes of the link-layer address. Messages of one
    transaction still have one."""
    xid = GUID[4:]
    messages = [
        m[: BEFORE_DHCP + 4] + xid + m[BEFORE_DHCP + 8 :] for m in [dhcp(8, GUID, b"\0")] * 2
    ]
    one, two = (s[BEFORE_DHCP + 4 :][:4] for s in shared_ud(tmp_path, *messages))
    assert one == two != xid and GUID[5:] not in one


def dhcp_request(options, hlen=0, chaddr=b"", sname=b""):
    """A renewal by unicast: ciaddr, no broadcast flag"""
    head = bytes([1, 32, hlen, 0]) + bytes(8) + ib.ip4(A.ip) + bytes(12) + chaddr.ljust(16, b"\0")
    message = head + sname.ljust(64, b"\0") + bytes(128) + bytes.fromhex("63825363") + options
    return ib.encap(0x0800, ib.ipv4(A.ip, B.ip, 17, ib.udp(A.ip, B.ip, 68, 67, message)))


IDENTIFIER = b"\x3d\x0f\xff\1\2\3\4\0\3\0\x20" + GUID[:6]


@pytest.mark.parametrize(
    "options, how",
    [
        (b"\x35\1\3" + IDENTIFIER, {}),
        (b"\x35\2\3\0" + IDENTIFIER, {}),  # lengths that are too large
        (b"\x35\2\3\0", {}),
        (b"\x35\1\3\x34\2\2\0", {"sname": IDENTIFIER + b"\xff"}),
        (b"\x35\1\3" + IDENTIFIER, {"hlen": 6, "chaddr": GUID}),
        (b"\x35\1\3" + IDENTIFIER, {"hlen": 6, "chaddr": GUID[:3] + GUID[5:]}),
        (b"\x35\1\3" + IDENTIFIER, {"hlen": 8, "chaddr": GUID}),
        (b"\x35\1\3" + IDENTIFIER, {"hlen": 0, "chaddr": GUID}),
    ],
)
def test_verdict_of_dhcp_stays(options, how, tmp_path):
    shared_ud(tmp_path, dhcp_request(options + b"\xff", **how))
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


def test_time_of_a_duid_is_zero(tmp_path):
    """DUID-LLT: type 1, hardware type, time, address (RFC 8415 section 11.2)"""
    identifier = b"\xff\1\2\3\4" + bytes.fromhex("0001 0020 2c112233") + GUID
    (shared,) = shared_ud(tmp_path, dhcp(0, bytes(16), identifier))
    after = shared[CLIENT : CLIENT + len(identifier)]
    assert after[5:9] == identifier[5:9] and after[9:13] == bytes(4)
    assert after[13:] != GUID and any(after[13:])


def test_rdnss_option_of_an_even_length_ends_with_zeros(tmp_path):
    """One address is 3 units of 8 bytes long with the head, two are 5 (RFC 8106)."""
    option = bytes.fromhex("1904 0000 00000258") + ib.ip6("2001:db8::53") + b"a secret"
    (shared,) = shared_ud(tmp_path, ib.encap(0x86DD, ib.icmpv6(A.ll, "ff02::1", ib.nd_ra(option))))
    assert shared[-32:-24] == option[:8] and shared[-8:] == bytes(8)
    assert any(shared[-24:-8]) and shared[-24:-8] != option[8:24]


@pytest.mark.parametrize("size", [12, 16, 19])
def test_checksum_of_a_truncated_ipv4_header_is_zero(size, tmp_path):
    """It is a sum of the real addresses, and those that were not captured cannot be replaced."""
    payload = ib.encap(0x0800, ib.ping4(A.ip, B.ip))
    t = Tape()
    t.ud(A, B, payload)
    ((_, frame, _),) = t.records
    cut = frame[: HEADERS + 4 + size]
    (shared,) = shared_frames(tmp_path, capfile.INFINIBAND, [(cut, len(frame))])
    assert shared[HEADERS : HEADERS + 4 + 10] == payload[: 4 + 10]
    assert shared[HEADERS + 4 + 10 : HEADERS + 4 + 12] == bytes(2)


# ---- an identity has one replacement, and few addresses stay


def udp4(address):
    message = ib.udp(address, address, 5000, 5001, b"")
    return ib.encap(0x0800, ib.ipv4(address, address, 17, message))


def udp6(source, target):
    return ib.encap(0x86DD, ib.ipv6(source, target, 59, b""))


def found4(payload):
    """The destination"""
    return str(ipaddress.ip_address(payload[20:24]))


def found6(payload):
    """(source, destination)"""
    return tuple(str(ipaddress.ip_address(payload[n : n + 16])) for n in (12, 28))


STAY = ["0.0.0.0", "127.0.0.1", "255.255.255.255", "224.0.0.1", "224.0.0.251"]
# Each other address changes, and stays in this network.
CHANGE = {
    "10.20.30.254": "10.0.0.0/8",
    "10.20.255.254": "10.0.0.0/8",
    "172.31.254.254": "172.16.0.0/12",
    "192.168.254.254": "192.168.0.0/16",
    "192.168.255.254": "192.168.255.0/24",
    "169.254.255.254": "169.254.0.0/16",
    "127.77.66.55": "127.0.0.0/8",
    "0.1.2.3": "0.0.0.0/8",
    "240.1.2.3": "240.0.0.0/4",
    "254.99.98.97": "240.0.0.0/4",
    "255.1.2.3": "240.0.0.0/4",
    "255.255.255.254": "240.0.0.0/4",
    "224.0.1.1": "224.0.0.0/4",
    "239.255.255.255": "239.0.0.0/8",
}


def test_only_listed_ipv4_addresses_stay(tmp_path):
    """Each other one differs between ten keys."""
    found = {a: set() for a in [*STAY, *CHANGE]}
    for _ in range(10):
        for a, payload in zip(found, shared_ud(tmp_path, *map(udp4, found))):
            found[a].add(found4(payload))
    assert all(found[a] == {a} for a in STAY)
    for a, network in CHANGE.items():
        network = ipaddress.ip_network(network, strict=False)
        assert len(found[a]) > 1 and all(ipaddress.ip_address(x) in network for x in found[a])


@pytest.mark.parametrize(
    "group, stays",
    [
        ("ff02::1", True),
        ("ff02::fb", True),
        ("ff05::101", True),
        ("ff02::1:3", True),
        ("ff15::1234", False),  # a transient group (RFC 3307)
        ("ff12::1:cafe", False),
        ("ff08::beef", False),
        ("ff0e::ffff:239.1.2.3", False),  # of RoCE
    ],
)
def test_only_assigned_group_numbers_stay(group, stays, tmp_path):
    (shared,) = shared_ud(tmp_path, udp6(A.ll, group))
    after = ipaddress.ip_address(found6(shared)[1])
    assert (after == ipaddress.ip_address(group)) == stays
    assert after.packed[:2] == ipaddress.ip_address(group).packed[:2]


def test_interface_identifier_0_is_the_same_in_its_group(tmp_path):
    """A neighbour solicitation of a subnet-router anycast address (RFC 4291 section 2.6.1) goes to
    ff02::1:ff00:0."""
    target = "2001:db8:1:2::"
    (shared,) = shared_ud(tmp_path, udp6(target, "ff02::1:ff00:0"))
    source, group = found6(shared)
    assert source.endswith("::") and group == "ff02::1:ff00:0" and source != target


def dhcp_of(operation, hlen, chaddr):
    """A message of an Ethernet client (iPXE), or a reply to it"""
    payload = dhcp(hlen, chaddr, b"\1" + chaddr)
    at = BEFORE_DHCP
    return payload[:at] + bytes([operation, 1]) + payload[at + 2 :]


def test_mac_address_of_ipxe_is_the_same_in_request_and_reply(tmp_path):
    """All but the middle of the port GUID; only the request has this port in its GRH."""
    client, server = (
        ib.Frame(
            0x64,
            dhcp_of(n, 6, MAC),
            dlid=0xC001,
            slid=n,
            destqp=0xFFFFFF,
            qkey=1,
            srcqp=2,
            sgid=sgid,
            dgid=BROADCAST_MGID,
        ).ib()
        for n, sgid in ((1, "fe80::2:c903:12:3456"), (2, "fe80::2:c903:12:9999"))
    )
    frames = [(f, len(f)) for f in (client, server)]
    one, two = shared_frames(tmp_path, capfile.INFINIBAND, frames)
    at = HEADERS + 40 + CHADDR
    assert one[at : at + 6] == two[at : at + 6] != MAC
    guid = one[8 + 16 : 8 + 24]
    assert one[at : at + 6] == guid[:3] + guid[5:]


def test_ipv4_address_in_a_gid_is_the_same_as_outside(tmp_path):
    """RoCE: the GID ::ffff:10.1.2.3 (InfiniBand annex A17), in IPv6 and in IPv4"""
    six, four = shared_ud(tmp_path, udp6("::ffff:10.1.2.3", "::ffff:10.1.2.4"), udp4("10.1.2.3"))
    source = six[12:28]
    assert source[:12] == bytes(10) + b"\xff\xff" and source[12:] == four[20:24]
    assert source[12:] != ib.ip4("10.1.2.3")


def test_different_short_identities_have_different_replacements(tmp_path):
    identities = [b"\0" + bytes([n]) for n in range(256)]
    shared = shared_ud(tmp_path, *(dhcp(0, bytes(16), i) for i in identities))
    assert len({s[CLIENT + 1] for s in shared}) == 256


# The same bits in a report and in the MGID of the datagram that it is in, whatever is before them
def igmp_report(group):
    return ib.ipv4(A.ip, group, 2, bytes.fromhex("16000000") + ib.ip4(group))


def mld_report(group):
    target = "ff02::" + group.split("::")[1]
    return ib.icmpv6(A.ll, target, bytes.fromhex("83000000 00000000") + ib.ip6(group))


@pytest.mark.parametrize(
    "group, mgid, kind",
    [
        ("239.1.2.3", "ff12:401b:ffff::f01:203", 0x0800),
        ("10.1.2.3", "ff12:401b:ffff::a01:203", 0x0800),  # no multicast addresses
        ("224.0.0.22", "ff12:401b:ffff::16", 0x0800),
        ("0.0.0.22", "ff12:401b:ffff::16", 0x0800),
        ("ff02::1:ff12:3456", "ff12:601b:ffff::1:ff12:3456", 0x86DD),
        ("2::1:ff12:3456", "ff12:601b:ffff::1:ff12:3456", 0x86DD),
        ("2001:db8::12:3456", "ff12:601b:ffff::12:3456", 0x86DD),
    ],
)
def test_group_in_a_report_is_the_one_in_its_mgid(group, mgid, kind, tmp_path):
    datagram = (igmp_report if kind == 0x0800 else mld_report)(group)
    t = Tape()
    t.ud(A, mgid, ib.encap(kind, datagram))
    frames = [(data, len(data)) for _, data, _ in t.records]
    (shared,) = shared_frames(tmp_path, capfile.INFINIBAND, frames)
    gid, message = shared[8 + 24 : 8 + 40], shared[HEADERS + 40 + 4 : -6]
    if kind == 0x0800:
        reported = message[24:28]
        assert reported[0] & 15 == gid[12] and reported[1:] == gid[13:]
        assert reported[0] >> 4 == ib.ip4(group)[0] >> 4
    else:
        assert message[48 + 6 : 64] == gid[6:]


def test_port_guid_0_has_the_same_findings(tmp_path):
    """The GUID, the interface identifier of it, and the group of this one belong together."""
    source, group = "fe80::200:0:0:0", "ff02::1:ff00:0"
    option = b"\1\3\0\0" + ib.lladdr(0x48, "fe80::")
    ns = bytes.fromhex("87000000 00000000") + ib.ip6(source) + option
    t = Tape()
    t.ud(A, "ff12:601b:ffff::1:ff00:0", ib.encap(0x86DD, ib.icmpv6(source, group, ns)))
    frames = [(data, len(data)) for _, data, _ in t.records]
    shared_frames(tmp_path, capfile.INFINIBAND, frames)
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


def test_request_is_remembered_whatever_its_addresses_are(tmp_path):
    """A reply is judged by its request. Which requests the model remembers does not depend on the
    addresses, which are others after sharing: these two had one place in its memory."""
    one, two = ib.lladdr(0x63, "fe80::11:7500:0:130", 0x80), ib.lladdr(
        3, "fe80::11:7500:0:100", 0x80
    )
    messages = [
        ib.arp(1, one, "10.0.0.4", bytes(20), "10.0.0.1"),
        ib.arp(1, one, "10.0.0.4", bytes(20), "10.0.0.3"),
        ib.arp(2, two, "10.0.0.1", one, "10.0.0.4"),
    ]
    lids = [(5, 1), (5, 4), (1, 5)]
    frames = [
        ib.Frame(
            0x64,
            ib.encap(0x0806, m),
            slid=slid,
            dlid=dlid,
            destqp=0x63 if dlid == 5 else 3,
            srcqp=3 if dlid == 5 else 0x63,
            qkey=0xB1B,
            psn=n,
        ).ib()
        for n, (m, (slid, dlid)) in enumerate(zip(messages, lids))
    ]
    shared_frames(tmp_path, capfile.INFINIBAND, [(f, len(f)) for f in frames])
    verdict, found = rules(tmp_path / "in.pcap")
    assert found[("rfc4391.9.2.arp-as-rfc826", "pass")] == 4  # each message, and the reply's target
    assert rules(tmp_path / "out.pcap") == (verdict, found)


# ---- Service-IDs

NODE = 0x0002C90300A1B2C0
# SRP's login: 8 zeros, tag, length of requests; 12 bytes; port identifiers of both sides
LOGIN = bytes(8) + b"tag of 8" + ib.u32(300) + bytes(12) + 2 * ib.u64(NODE) + ib.u64(NODE + 1) * 2


def srp_req(service):
    guid = 0x0002C90300B11000
    return ib.cm_req(7, 1, service, guid, 0x45, 9, 1, 2, A.gid, B.gid, LOGIN)


def test_service_id_of_srp_is_the_replaced_guid(tmp_path):
    """Linux's target has its node GUID as Service-ID. The connection is still SRP's."""
    node = ib.u64(NODE)
    info = b"\1\1\1\1" + ib.u64(NODE + 3) + node + ib.u64(NODE + 1) + bytes(12)
    path, target = ib.path_record(B.gid, A.gid, service_id=NODE), "fe80::2:c903:a1:b2c1"
    t = Tape()
    t.mad(A, B, srp_req(NODE))
    t.mad(A, B, ib.cm_sidr_req(7, 1, NODE))
    t.mad(A, B, ib.cm_sidr_rep(7, 1, NODE, 5, 6))
    t.mad(A, SM, ib.sa_mad(ib.GET, 1, ib.ATTR_PATH_RECORD, path, 0xF))
    t.mad(A, SM, ib.sa_mad(ib.SET, 1, 0x31, ib.service_record(NODE, target), 0x7F))
    t.mad(B, A, ib.mad_header(1, 1, 0x81, 7, 0x11) + bytes(40) + info + bytes(64 - len(info) + 128))
    frames = [(data, len(data)) for _, data, _ in t.records]
    shared = [f[HEADERS:] for f in shared_frames(tmp_path, capfile.INFINIBAND, frames)]
    places = [32, 32, 36, 56, 56, 64 + 12]
    found = {s[at : at + 8] for s, at in zip(shared, places)}
    assert len(found) == 1 and node not in b"".join(shared)
    assert found.pop()[:1] == node[:1]
    assert b"tag of" not in b"".join(shared)
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


@pytest.mark.parametrize(
    "service, stays",
    [
        (0x0100000000000048, True),  # IPoIB, with a QPN
        (0x1000000000000048, True),
        (0x0000000001060CBC, True),  # RDMA IP CM, TCP port 3260
        (0x000000000113ABCD, True),
        (0x000000000001ABCD, True),  # SDP
        (0x000000000002ABCD, True),  # librdmacm's IPoIB
        (0x02000000000000AB, False),  # local OS
        (0x0000000002060CBC, False),
        (0x00000000000000AB, False),
        (0x1070FD0300A1B2C0, False),  # GUIDs
        (0xF45214030012AB34, False),
    ],
)
def test_service_ids_with_a_port_or_a_qpn_stay(service, stays, tmp_path):
    """Others are mapped. The block, which a rule checks, is the same."""
    t = Tape()
    t.mad(A, B, ib.cm_req(7, 1, service, 0, 0x45, 9, 1, 2, A.gid, B.gid))
    frames = [(data, len(data)) for _, data, _ in t.records]
    (shared,) = shared_frames(tmp_path, capfile.INFINIBAND, frames)
    after = int.from_bytes(shared[HEADERS + 32 : HEADERS + 40], "big")
    assert (after == service) == stays
    assert rules(tmp_path / "out.pcap") == rules(tmp_path / "in.pcap")


def test_reserved_flags_of_a_packet_are_zero(tmp_path):
    """draft-ietf-opsawg-pcapng section 4.3.1: of epb_flags, bits 12 to 23"""
    frame = frame_of(1, bytes(20))
    options = {2: struct.pack("<I", 0xFFFFFFFF)}
    blocks = [
        capfile.section(),
        capfile.interface(capfile.INFINIBAND),
        capfile.packet(10**18, frame, len(frame), values=options),
    ]
    (tmp_path / "in.pcapng").write_bytes(b"".join(blocks))
    convert("--share", tmp_path / "in.pcapng", tmp_path / "out.pcapng")
    (after,) = capfile.read(tmp_path / "out.pcapng").frames
    assert after.options[2] == struct.pack("<I", 0xFF000FFF)


# ---- a VCRC that would be 0


def frame_of(psn, payload):
    return ib.Frame(0x64, payload, dlid=2, slid=1, destqp=5, psn=psn, qkey=1, srcqp=2).ib()


def vcrc(psn):
    """Of the shared frame, whose payload is zero"""
    return int.from_bytes(frame_of(psn, bytes(20))[-2:], "little")


def psn_with_vcrc_0():
    """A CRC is affine: each bit of the PSN changes the same bits of it."""
    changes = [vcrc(1 << bit) ^ vcrc(0) for bit in range(24)]
    psn, crc = 0, vcrc(0)
    for n in range(1, 1 << 24):  # in the order of a Gray code
        bit = (n & -n).bit_length() - 1
        psn, crc = psn ^ 1 << bit, crc ^ changes[bit]
        if crc == 0:
            return psn
    raise AssertionError("no such PSN")


def test_vcrc_does_not_become_0(tmp_path):
    """0 counts as "no VCRC": a reserved bit of the BTH, which the ICRC does not cover, is set."""
    psn = psn_with_vcrc_0()
    before, plain = frame_of(psn, b"\x13\x37 is not IPoIB's!!!"), frame_of(psn, bytes(20))
    assert plain[-2:] == bytes(2) != before[-2:]
    (shared,) = shared_frames(tmp_path, capfile.INFINIBAND, [(before, len(before))])
    crc = int.from_bytes(shared[-2:], "little")
    assert crc != 0 and crc == ib.crc16_100b(shared[:-2])
    assert shared[:-2] == plain[:12] + b"\x04" + plain[13:-2]


def test_roce_with_an_impossible_header_length_is_left_out(tmp_path):
    """The InfiniBand packet would begin within the IP header, and its fields be real addresses."""
    frame = ib.Frame(0x64, bytes(20), destqp=5, qkey=1, srcqp=2).roce2()
    bad = frame[:14] + b"\x43" + frame[15:28] + b"\x12\xb7\0\x30" + frame[32:]
    records = [(10**18, bad, len(bad)), (10**18, frame, len(frame))]
    (tmp_path / "in.pcap").write_bytes(capfile.pcap(capfile.ETHERNET, records))
    convert("--share", tmp_path / "in.pcap", tmp_path / "out.pcap", status=1, says="1 drops")
    assert len(packets(tmp_path / "out.pcap")) == 1

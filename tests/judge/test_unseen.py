# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture has not, or what was not judged in it: it is counted, all formats say it, and the
verdict is not plainly CONFORMANT.

The captures are datagram.pcap (117 frames, every CRC right, no frame is truncated) and connected.pcap
with a defect added, and a world of tests/frames that ends at its violation."""
import json
import os
import re
import struct

import pytest

from frames import ib, variants
from frames.connection import Link
from frames.events import link, number
from frames.events_ports import changes_lid
from frames.fabric import ud_frame
from frames.messages import ping, ping6
from frames.subnet import FromStart, Host
from frames.variants import connections, datagrams, forms, links  # they enter their variants
from support import capfile, check
from support.paths import SRC, testdata
from support.wireshark import tshark

assert connections and datagrams and forms and links
FRAMES = capfile.read(check.DATAGRAM).frames
PING = 44  # index of frame 45, an echo request over UD
LINK_MTU = "rfc4391.7.link-mtu"
IFRECV, IFDROP, ACCEPT, OSDROP, DROPCOUNT, FLAGS = 4, 5, 6, 7, 4, 2
FILTER, COMMENT, LOCAL_BLOCK, CUSTOM_BLOCK = 11, 1, 0x80000001, 0x0BAD
BTH, ETHERNET_LINK, UNKNOWN_LINK = 8, 1, 147


def pcap(frames, linktype=capfile.INFINIBAND):
    return capfile.pcap(linktype, [(f.time, f.data, f.wire) for f in frames], nanoseconds=True)


def changed(index, change, frames=FRAMES):
    """The frames with one of them changed."""
    f = frames[index]
    new = capfile.Frame(f.time, change(f.data), f.wire)
    return frames[:index] + [new] + frames[index + 1 :]


def put(data, at, value):
    return data[:at] + bytes([value]) + data[at + 1 :]


def ng(options=None, statistics=b"", at=PING, described=None):
    """As pcapng, with options of one packet, statistics at the end, options of the interface."""
    values = {9: b"\x09", **(described or {})}
    out = capfile.section() + capfile.interface(capfile.INFINIBAND, values=values)
    for i, f in enumerate(FRAMES):
        out += capfile.packet(f.time, f.data, values=options if options and i == at else None)
    return out + statistics


def statistics(values):
    return capfile.block(5, struct.pack("<III", 0, 0, 0) + capfile.options(values))


def u64(n):
    return struct.pack("<Q", n)


def second_interface(linktype):
    """Frame 45 belongs to an interface of another link type."""
    frames = [
        capfile.Frame(f.time, f.data, f.wire, interface=int(i == PING))
        for i, f in enumerate(FRAMES)
    ]
    return capfile.pcapng([capfile.INFINIBAND, linktype], frames)


def erf(lost=0, flags=4, kind=21):
    return b"".join(
        capfile.erf_record_of(
            kind if i == PING else 21,
            capfile_time(f.time),
            f.data,
            len(f.data),
            flags=flags if i == PING else 4,
            lost=lost if i == PING else 0,
        )
        for i, f in enumerate(FRAMES)
    )


def capfile_time(ns):
    return (ns // 10**9 << 32) | ((ns % 10**9 << 32) // 10**9)


def left_out(described):
    """Of 217 packets, none was dropped and 127 accepted: 90 are left out."""
    counts = statistics({IFRECV: u64(217), IFDROP: u64(0), ACCEPT: u64(127)})
    return ng(statistics=counts, described=described)


def obsolete(drops):
    """As obsolete Packet Blocks, with a drops count at frame 45."""
    out = capfile.section() + capfile.interface(capfile.INFINIBAND, values={9: b"\x09"})
    for i, f in enumerate(FRAMES):
        n = len(f.data)
        head = struct.pack(
            "<HHIIII", 0, drops if i == PING else 0, f.time >> 32, f.time & 0xFFFFFFFF, n, n
        )
        out += capfile.block(2, head + f.data + bytes(-n % 4))
    return out


def all_corrupt():
    flag = {FLAGS: struct.pack("<I", 1 << 24)}
    out = capfile.section() + capfile.interface(capfile.INFINIBAND, values={9: b"\x09"})
    return out + b"".join(capfile.packet(f.time, f.data, values=flag) for f in FRAMES)


def cut(n):
    f = FRAMES[PING]
    return pcap(FRAMES[:PING] + [capfile.Frame(f.time, f.data[:n], f.wire)] + FRAMES[PING + 1 :])


def connected_without(*numbers):
    return without(check.CONNECTED, *numbers)


def without(path, *numbers):
    frames = capfile.read(path).frames
    return pcap([f for i, f in enumerate(frames, 1) if i not in numbers])


def switch_without(number):
    return without(testdata("switch4.pcap"), number)


def datagrams_without(*numbers):
    return without(check.DATAGRAM, *numbers)


def no_acknowledgements():
    """Without the ACKs (opcode 0x11 after an LRH without GRH): no packet of a message is missing."""
    frames = capfile.read(check.CONNECTED).frames
    return pcap([f for f in frames if f.data[1] & 3 == 3 or f.data[BTH] != 0x11])


def pause(days):
    """After frame 60."""
    later = int(days * 86400) * 10**9
    return pcap(
        [
            capfile.Frame(f.time + (later if i > 60 else 0), f.data, f.wire)
            for i, f in enumerate(FRAMES, 1)
        ]
    )


def times_back():
    frames = [
        capfile.Frame(f.time - (3600 * 10**9 if i > 60 else 0), f.data, f.wire)
        for i, f in enumerate(FRAMES, 1)
    ]
    return pcap(frames)


def since_1970(seconds):
    """Each frame so long after the start of 1970, and the file's own time after it."""
    frames = [
        capfile.Frame(f.time - FRAMES[0].time + seconds * 10**9, f.data, f.wire) for f in FRAMES
    ]
    return pcap(frames)


def table(offset, records, segments=1):
    """A response of the SA to GetTable(PathRecord); its first frame is that of the first segment."""
    s, a, b = link(2)
    data = ib.path_record(b.gid, a.gid, dlid=b.lid, slid=a.lid, pkey=0xFFFF) * records
    tid = s.next_tid()
    s.sa(a, s.sm, ib.GET_TABLE, tid, ib.ATTR_PATH_RECORD, data[:64], 1 << 2 | 1 << 3)
    for n in range(segments):
        flags = ib.RMPP_ACTIVE | (ib.RMPP_FIRST if n == 0 else 0)
        flags |= ib.RMPP_LAST if n == segments - 1 else 0
        part = data[200 * n : 200 * (n + 1)]
        header = ib.rmpp_header(ib.RMPP_DATA, flags, n + 1, 20 + len(part))
        options = dict(attr_offset=offset, rmpp=header)
        s.sa(s.sm, a, ib.GET_TABLE_RESP, tid, ib.ATTR_PATH_RECORD, part, **options)
    return s.pcap(), number(s) - segments + 1


# ---- packets that are not judged


def sealed(body):
    """A packet without GRH, from the LRH to its pad, with its CRCs."""
    words = (len(body) + 4) // 4
    body = body[:4] + struct.pack(">H", words) + body[6:]
    whole = body + ib.icrc(body[:8], b"", body[8:])
    return whole + struct.pack("<H", ib.crc16_100b(whole))


def edited(at, value):
    return lambda d: sealed(d[:at] + value + d[at + len(value) : -6])


def carrying(payload, destqp=None):
    """Frame 45 with another payload after its DETH, and to this QPN."""

    def change(d):
        pad = -len(payload) % 4
        flags = bytes([d[BTH + 1] & 0xCF | pad << 4])
        to = d[BTH + 5 : BTH + 8] if destqp is None else destqp.to_bytes(3, "big")
        headers = d[: BTH + 1] + flags + d[BTH + 2 : BTH + 5] + to + d[BTH + 8 : BTH + 20]
        return sealed(headers + payload + bytes(pad))

    frames = changed(PING, change)
    f = frames[PING]
    frames[PING] = capfile.Frame(f.time, f.data, len(f.data))
    return pcap(frames)


def ipv4(protocol, body, fragment=0, length=None):
    head = struct.pack(
        ">BBHHHBBH4s4s",
        *(0x45, 0, length or 20 + len(body), 9, fragment, 64, protocol, 0),
        *(bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])),
    )
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    return b"\x08\0\0\0" + head[:10] + struct.pack(">H", total ^ 0xFFFF) + head[12:] + body


def ipv6(following, body):
    address = b"\xfe\x80" + bytes(13)
    head = struct.pack(">IHBB", 6 << 28, len(body), following, 255)
    return b"\x86\xdd\0\0" + head + address + b"\1" + address + b"\2" + body


NS = b"\x87\0\0\0" + bytes(20)  # its checksum does not matter
AH = b"\x3a\4" + bytes(22)  # 6 words of 4 octets: length field 4
FRAGMENT, LATER_FRAGMENT = b"\x3a\0\0\1\0\0\0\1", b"\x3a\0\0\x18\0\0\0\1"
DHCP = struct.pack(">HHHH", 68, 67, 308, 0) + bytes(192)
DATA = 58  # index of an RC SEND Only of connected.pcap
RC_IMMEDIATE, RC_INVALIDATE, UD_IMMEDIATE, RD_SEND = b"\x05", b"\x17", b"\x65", b"\x44"
RDMA_READ_RESPONSE = b"\x0e"  # of several packets, Middle: no further header


def connected(change):
    return pcap(changed(DATA, change, capfile.read(check.CONNECTED).frames))


def stranger(payload_start):
    """A last frame to a QP of which nothing is known."""
    frames = capfile.read(check.CONNECTED).frames
    f = frames[DATA]
    data = edited(BTH + 5, b"\0\0\x99")(f.data)
    data = edited(BTH + 12, payload_start)(data)
    return pcap(frames + [capfile.Frame(frames[-1].time + 10**8, data, f.wire)])


NOT_JUDGED = {
    "UD immediate": (
        lambda: pcap(changed(PING, edited(BTH, UD_IMMEDIATE))),
        {"with-immediate": (1, 45)},
    ),
    "RC immediate": (lambda: connected(edited(BTH, RC_IMMEDIATE)), {"with-immediate": (1, 59)}),
    "RC invalidate": (lambda: connected(edited(BTH, RC_INVALIDATE)), {"with-immediate": (1, 59)}),
    "RDMA": (lambda: connected(edited(BTH, RDMA_READ_RESPONSE)), {"rdma-of-ipoib": (1, 59)}),
    "RD": (lambda: pcap(changed(PING, edited(BTH, RD_SEND))), {"other-transport": (1, 45)}),
    "no MAD": (lambda: carrying(b"\x88\xb5\0\0" + bytes(60), destqp=0), {"no-mad": (1, 45)}),
    "IP cut": (lambda: carrying(b"\x08\0\0\0\x45\0\0\0"), {"malformed-ip": (1, 45)}),
    "IP length": (
        lambda: carrying(ipv4(1, bytes(64), length=1000)),
        {"malformed-ip": (1, 45)},
    ),
    "ND behind AH": (lambda: carrying(ipv6(51, AH + NS)), {"hidden-nd": (1, 45)}),
    "ND in fragments": (lambda: carrying(ipv6(44, FRAGMENT + NS)), {"hidden-nd": (1, 45)}),
    "DHCP in fragments": (
        lambda: carrying(ipv4(17, DHCP, fragment=0x2000)),
        {"fragmented-dhcp": (1, 45)},
    ),
    "unknown QP": (
        lambda: stranger(b"\x08\0\x12\x34"),
        {"unknown-connections": (1, 124)},
    ),
    "unknown QP, the Type of IPv6": (
        lambda: stranger(b"\x86\xdd\0\0"),
        {"unknown-connections": (1, 124)},
    ),
}
JUDGED = {
    "few datagrams of ESP": lambda: carrying(ipv4(50, bytes(64))),
    "as it was": lambda: pcap(changed(PING, edited(BTH, b"\x64"))),
    "IP": lambda: carrying(ipv4(1, bytes(64))),
    "echo in fragments": lambda: carrying(ipv6(44, FRAGMENT + b"\x80" + bytes(23))),
    "later fragment": lambda: carrying(ipv6(44, LATER_FRAGMENT + NS)),
    "UDP in fragments": lambda: carrying(
        ipv4(17, struct.pack(">HHHH", 68, 53, 308, 0) + bytes(192), fragment=0x2000)
    ),
    "another Type": lambda: stranger(b"\x12\x34\x12\x34"),
    "both fields are wrong": lambda: stranger(b"\x86\xdd\x12\x34"),
}


# name -> capture, {code: (count, first frame)}. Frame 45 is the one changed.
WITHHOLD = {
    "isb_ifdrop": (
        lambda: ng(statistics=statistics({IFDROP: u64(5000)})),
        {"lost-interface": (5000, 0)},
    ),
    "isb_osdrop": (lambda: ng(statistics=statistics({OSDROP: u64(7)})), {"lost-system": (7, 0)}),
    # statistics are totals: the second block repeats the first
    "statistics twice": (
        lambda: ng(statistics=statistics({IFDROP: u64(5)}) + statistics({IFDROP: u64(8)})),
        {"lost-interface": (8, 0)},
    ),
    "epb_dropcount": (lambda: ng({DROPCOUNT: u64(9)}), {"lost-before-packet": (9, 45)}),
    "ERF loss counter": (lambda: erf(lost=1000), {"lost-records": (1000, 45)}),
    "epb_flags": (lambda: ng({FLAGS: struct.pack("<I", 1 << 24)}), {"marked-corrupt": (1, 45)}),
    "isb_filteraccept": (lambda: left_out(None), {"unaccepted": (90, 0)}),
    "drops count": (lambda: obsolete(9), {"lost-before-packet": (9, 45)}),
    "ERF DS error": (lambda: erf(flags=0x24), {"card-errors": (1, 45)}),
    "ERF truncated": (lambda: erf(flags=0x0C), {"cut-records": (1, 45)}),
    "ERF rx error": (lambda: erf(flags=0x14), {"marked-corrupt": (1, 45)}),
    "wrong ICRC": (
        lambda: pcap(changed(PING, lambda d: put(d, len(d) - 5, d[-5] ^ 1))),
        {"corrupt-crc": (1, 45)},
    ),
    "wrong VCRC": (
        lambda: pcap(changed(PING, lambda d: put(d, len(d) - 1, d[-1] ^ 1))),
        {"corrupt-crc": (1, 45)},
    ),
    "link type": (lambda: second_interface(UNKNOWN_LINK), {"unknown-link-type": (1, 45)}),
    "ERF record type": (lambda: erf(kind=2), {"unknown-link-type": (1, 45)}),
    "no headers": (lambda: cut(12), {"truncated-headers": (1, 45)}),
    "nothing captured": (lambda: cut(0), {"truncated-headers": (1, 45)}),
    "LVer": (
        lambda: pcap(changed(PING, lambda d: put(d, 0, d[0] | 1))),
        {"unknown-version": (1, 45)},
    ),
    "TVer": (
        lambda: pcap(changed(PING, lambda d: put(d, BTH + 1, d[BTH + 1] | 1))),
        {"unknown-version": (1, 45)},
    ),
    "raw": (lambda: pcap(changed(PING, lambda d: put(d, 1, d[1] & 0xFC))), {"raw": (1, 45)}),
    "GRH without a BTH": (
        lambda: pcap(changed(17, lambda d: put(d, 8 + 6, 0x11))),  # NxtHdr of a multicast
        {"no-bth": (1, 18)},
    ),
    "opcode": (
        lambda: pcap(changed(PING, lambda d: put(d, BTH, 0xC4))),
        {"unknown-opcode": (1, 45)},
    ),
    # 66 and 67 are in the middle of a message of connected.pcap, 72 and 83 end messages
    "message's middle": (
        lambda: connected_without(66),
        {"incomplete-messages": (1, 0), "missing-psns": (1, 66)},
    ),
    "messages' ends": (
        lambda: connected_without(72, 83),
        {"incomplete-messages": (2, 0), "missing-psns": (2, 84)},
    ),
    # 456, 458, 459, 460 of switch4.pcap are the four segments of a table of the SA
    "a segment of a table": (lambda: switch_without(459), {"incomplete-tables": (1, 456)}),
    "a table's end": (lambda: switch_without(460), {"incomplete-tables": (1, 456)}),
    # 45 is a REQ, 46 its REP, 48 its RTU
    "REQ without REP": (lambda: connected_without(46, 48), {"unanswered-requests": (1, 45)}),
    "times": (times_back, {"times-back": (1, 61)}),
    "VLAN": (lambda: carrying(b"\x81\x00\0\0" + bytes(64)), {"vlan-tags": (1, 45)}),
    "MACsec": (lambda: carrying(b"\x88\xe5\0\0" + bytes(64)), {"other-ethertypes": (1, 45)}),
}
WITHHOLD.update(NOT_JUDGED)
# a word is enough: everything that was captured is judged
MENTION = {
    "truncated contents": (lambda: cut(100), {"truncated-contents": (1, 45)}),
    "seconds since a start": (lambda: since_1970(60), {"old-times": (117, 1)}),
    "if_filter": (
        lambda: left_out({FILTER: b"\0lid 2"}),
        {"filtered": (90, 0), "filtered-interfaces": (1, 0)},
    ),
    "if_filter without statistics": (
        lambda: ng(described={FILTER: b"\0lid 2"}),
        {"filtered-interfaces": (1, 0)},
    ),
    "Ethernet": (lambda: second_interface(ETHERNET_LINK), {"other-protocols": (1, 45)}),
    "two days": (lambda: pause(2), {"pauses": (1, 61)}),
    "twenty minutes": (lambda: pause(1 / 72), {"pauses": (1, 61)}),
    # 37 requests a join, 38 grants it
    "SA request": (lambda: datagrams_without(38), {"unanswered-sa-requests": (1, 37)}),
    # 63, 65, 67 have the PSNs 16, 17, 18 of a QP; its next packet is frame 79, 76 without them
    "PSNs": (lambda: datagrams_without(63, 65, 67), {"missing-psns": (3, 76)}),
    "no acknowledgements": (no_acknowledgements, {"unacknowledged-connections": (2, 45)}),
    "filter in a comment": (lambda: left_out({COMMENT: b"--only ipoib"}), {"filtered": (90, 0)}),
    "block": (
        lambda: ng(statistics=capfile.block(LOCAL_BLOCK, bytes(8))),
        {"unknown-blocks": (1, 0)},
    ),
}


def write(tmp_path, data):
    path = tmp_path / "a"
    path.write_bytes(data)
    return str(path)


def report(path, *options):
    done = check.run("--format", "json", *options, path)
    return json.loads(done.stdout), done.returncode


def unseen(document):
    [capture] = document["summary"]["captures"]
    return {u["code"]: (u["count"], u["frame"]) for u in capture["unseen"]}


def text_of(path):
    return check.run(path).stdout.decode().splitlines()


@pytest.mark.parametrize("name", WITHHOLD)
def test_capture_is_not_plainly_conformant(name, tmp_path):
    make, expected = WITHHOLD[name]
    path = write(tmp_path, make())
    document, status = report(path)
    assert unseen(document) == expected
    assert (status, document["summary"]["verdict"]) == (check.OK, "conformant")
    assert document["summary"]["no_violation_proved"] == 1
    lines = text_of(path)
    count = next(iter(expected.values()))[0]
    assert lines[1].startswith(f"Not seen: {count} ")
    assert re.search(f": NO VIOLATION PROVED(, but [^:]*)?: {count} ", lines[-1])


@pytest.mark.parametrize("name", MENTION)
def test_word_without_effect_on_the_verdict(name, tmp_path):
    make, expected = MENTION[name]
    path = write(tmp_path, make())
    assert unseen(report(path)[0]) == expected
    lines = text_of(path)
    assert lines[1].startswith("Not seen: ") and ": CONFORMANT: " in lines[-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ng(),
        lambda: ng(statistics=capfile.block(CUSTOM_BLOCK, bytes(8))),
        lambda: obsolete(0xFFFF),  # not known
        lambda: erf(),
        lambda: pcap(FRAMES),
        lambda: since_1970(946684800),
        *JUDGED.values(),
    ],
)
def test_nothing_is_said_of_a_whole_capture(make, tmp_path):
    path = write(tmp_path, make())
    assert unseen(report(path)[0]) == {}
    assert not any("Not seen" in line for line in text_of(path))


def only_unseen(path):
    """Of a capture without IPoIB."""
    document, status = report(path)
    assert status == check.UNJUDGED
    assert document["summary"]["captures"][0]["error"] == "there is no IPoIB in it"
    return unseen(document)


def test_infiniband_in_a_file_of_ethernet_is_named(tmp_path):
    """Packets without the LRH, and so of another length, are none."""
    path = write(tmp_path, pcap(FRAMES, linktype=ETHERNET_LINK))
    assert only_unseen(path) == {"wrong-link-type": (117, 1)}
    assert "editcap -T infiniband" in text_of(path)[1]
    frames = [capfile.Frame(f.time, f.data[8:], f.wire - 8) for f in FRAMES]
    path = write(tmp_path, pcap(frames, linktype=ETHERNET_LINK))
    assert only_unseen(path) == {"other-protocols": (117, 1)}


def roce2(f, port=4791):
    """A datagram to this UDP port; the first bytes of the packet are a BTH."""
    udp = ib.u16(49152) + ib.u16(port) + ib.u16(8 + 40) + bytes(2) + bytes([4]) + bytes(39)
    ip = bytes([0x45, 0]) + ib.u16(20 + len(udp)) + bytes(4) + bytes([64, 17]) + bytes(10)
    data = bytes(12) + b"\x08\x00" + ip + udp
    return capfile.Frame(f.time, data, len(data))


def test_roce_is_named(tmp_path):
    path = write(tmp_path, pcap([roce2(f) for f in FRAMES], linktype=ETHERNET_LINK))
    assert only_unseen(path) == {"roce": (117, 1)}
    assert "of RoCE" in text_of(path)[1]
    path = write(tmp_path, pcap([roce2(f, 4790) for f in FRAMES], linktype=ETHERNET_LINK))
    assert only_unseen(path) == {"other-protocols": (117, 1)}


def test_only_corrupt_datagrams_are_not_judged(tmp_path):
    path = write(tmp_path, all_corrupt())
    document, status = report(path)
    assert status == check.UNJUDGED and unseen(document)["marked-corrupt"] == (117, 1)
    assert document["summary"]["captures"][0]["error"] == (
        "every datagram with IPoIB in it is corrupt"
    )


def test_senders_without_a_right_crc_are_named(tmp_path):
    """Simulators write any value: they are judged all the same."""
    frames = [
        capfile.Frame(f.time, f.data[:-6] + bytes(b ^ 0x55 for b in f.data[-6:]), f.wire)
        for f in FRAMES
    ]
    document, status = report(write(tmp_path, pcap(frames)))
    assert status == check.OK and set(unseen(document)) == {"unused-crcs"}


def test_a_sender_without_a_right_vcrc_is_named(tmp_path):
    """LID 2 has wrong VCRCs and right ICRCs, all others are right: its link may be broken."""
    of_lid_2 = [f.data[6:8] == b"\0\2" for f in FRAMES]
    assert 8 <= sum(of_lid_2) < len(FRAMES) - 8
    frames = [
        capfile.Frame(f.time, f.data[:-1] + bytes([f.data[-1] ^ 0x55]), f.wire) if it else f
        for f, it in zip(FRAMES, of_lid_2)
    ]
    document, status = report(write(tmp_path, pcap(frames)))
    assert status == check.OK and unseen(document)["wrong-vcrcs"] == (1, 0)


def test_senders_that_all_lack_vcrcs_are_not_named(tmp_path):
    """The program that captured has no VCRCs, or few: a port's first packets are corrupt."""
    wrong = [
        capfile.Frame(f.time, f.data[:-1] + bytes([f.data[-1] ^ 0x55]), f.wire) for f in FRAMES
    ]
    for frames in (wrong, wrong[:5] + FRAMES[5:], FRAMES):
        document, _ = report(write(tmp_path, pcap(frames)))
        assert "wrong-vcrcs" not in unseen(document)


def test_equal_times_are_named(tmp_path):
    """Ten packets or more, all with one time; nine may have the same."""
    same = [capfile.Frame(FRAMES[0].time, f.data, f.wire) for f in FRAMES]
    other = same[:-1] + [FRAMES[-1]]
    for frames, expected in (
        (same, (117, 1)),
        (same[:10], (10, 1)),
        (same[:9], None),
        (other, None),
    ):
        document, _ = report(write(tmp_path, pcap(frames)))
        assert unseen(document).get("equal-times") == expected


def up(n=3):
    s = FromStart()
    hosts = [Host(i + 1) for i in range(n)]
    s.up(*hosts)
    return s, *hosts


def codes(s, tmp_path):
    document, _ = report(write(tmp_path, s.pcap()))
    return {c: of for c, of in unseen(document).items() if c != "unused-crcs"}


@pytest.mark.parametrize("change", [None, "lost", "before"])
def test_smps_without_a_response_are_named(change, tmp_path):
    """The responses of three ports in a row are lost, or each is captured before its request."""
    s, *hosts = up()
    for host in hosts:
        s.node_info(host)
        asked = len(s.records) - 1
        if change == "lost":
            del s.records[-1]
        elif change == "before":
            s.records[-2:] = s.records[:-3:-1]
    s.wait(4)
    s.ping(hosts[0], hosts[1])
    assert codes(s, tmp_path) == ({"unanswered-smps": (3, asked - 2)} if change == "lost" else {})


def test_smps_that_two_interfaces_have_are_answered(tmp_path):
    """The second one has each SMP 3 us later: at first it may see another subnet."""
    s, *hosts = up()
    for host in hosts:
        s.node_info(host)
    s.wait(4)
    s.ping(hosts[0], hosts[1])
    frames = [
        capfile.Frame(time + 3000 * n, data, wire, interface=n)
        for time, data, wire in s.records[-8:]
        for n in (0, 1)
    ]
    path = write(tmp_path, capfile.pcapng([capfile.INFINIBAND] * 2, frames))
    assert "unanswered-smps" not in unseen(report(path)[0])


@pytest.mark.parametrize("lost", [True, False])
def test_packets_of_connections_are_missing(lost, tmp_path):
    """Those that the way loses are sent again; the others were lost by the capture."""
    s, a, b, _ = up()
    s.meet(a, b)
    c = Link(s, a, b).open()
    for seq in range(12):
        c.send(True, ping(a, b, seq=seq), skip=(0,) if seq % 3 == 1 else ())
        if seq % 3 == 2 and not lost:
            c.ack(True, c.psns[0] - 2, 0x60)
            c.psns[0] -= 2
            c.send(True, ping(a, b, seq=seq - 1))
            c.send(True, ping(a, b, seq=seq))
        c.ack(True, c.psns[0] - 1)
    missing = codes(s, tmp_path).get("missing-psns", (0, 0))
    assert missing[0] == (4 if lost else 0)


@pytest.mark.parametrize("told", [True, False])
def test_packets_from_another_lid_are_not_missing(told, tmp_path):
    """The SM changes the LID of a port, and back: its queue pair counts on. Untold, they are missing."""
    s, a, _, _ = link()
    changes_lid(s, a, (1, 20, 1))
    if not told:
        s.records = [r for r in s.records if r[1][2:4] != b"\xff\xff"]
    assert (codes(s, tmp_path).get("missing-psns", (0, 0))[0] > 0) != told


def test_packets_of_another_subnet_are_not_missing(tmp_path):
    """Two routers forward those of one host in turn: each has half of them."""
    s, a, b, c = up()
    far = Host(7, prefix="fec0:0:0:1::")
    for n in range(30):
        router = (b, c)[n % 2]
        of = dict(grh=True, pkey=s.pkey, qkey=s.parameters["qkey"])
        psn = s.next_psn(far.lid, far.qpn)
        s.put(ud_frame(far.also(lid=router.lid), a, ping(far, a, seq=n, reply=True), psn, **of))
    assert codes(s, tmp_path) == {}


def at_times(times):
    return [capfile.Frame(time * 10**6, f.data, f.wire) for time, f in zip(times, FRAMES)]


def test_a_clock_that_stands_still_is_named(tmp_path):
    """Fifty packets or more at the end, four times as many as had one time before."""
    n = len(FRAMES)
    for times, expected in (
        (list(range(20)) + [19] * n, (n - 19, 20)),
        (list(range(n - 48)) + [n - 49] * 48, None),
        ([i // 12 for i in range(60)] + [5] * n, (n - 60, 61)),
        ([i // 15 for i in range(60)] + [4] * n, None),
    ):
        document, _ = report(write(tmp_path, pcap(at_times(times))))
        assert unseen(document).get("equal-times") == expected


@pytest.mark.parametrize("kind, is_named", [("all", True), ("one later", False), ("whole", False)])
def test_microseconds_taken_for_nanoseconds_are_named(kind, is_named, tmp_path):
    """All times are in the first millisecond of their second, for more than five seconds. A clock of
    whole seconds has none in it."""
    rest = [0 if kind == "whole" else i * 83123 % 10**6 for i in range(len(FRAMES))]
    if kind == "one later":
        rest[50] = 10**6
    frames = [
        capfile.Frame(f.time // 10**9 * 10**9 + i // 10 * 10**9 + rest[i], f.data, f.wire)
        for i, f in enumerate(FRAMES)
    ]
    document, _ = report(write(tmp_path, pcap(frames)))
    assert unseen(document).get("time-unit") == ((117, 1) if is_named else None)


@pytest.mark.parametrize(
    "size, wire, is_named", [(6, False, True), (2, False, False), (6, True, False)]
)
def test_packets_without_crcs_are_named(size, wire, is_named, tmp_path):
    """The LRH counts the ICRC. Without the VCRC, or truncated, it is no news."""
    frames = [
        capfile.Frame(f.time, f.data[:-size], len(f.data) - (0 if wire else size)) for f in FRAMES
    ]
    document, _ = report(write(tmp_path, pcap(frames)))
    assert unseen(document).get("no-crcs") == ((117, 0) if is_named else None)


def test_the_page_names_what_does_not_change_the_verdict():
    with open(os.path.join(SRC, "lib/model/unseen.def"), encoding="utf-8") as f:
        entries = re.findall(r'UNSEEN\(\w+, "([a-z-]+)",.*?(true|false)\)', f.read(), re.S)
    with open(os.path.join(SRC, "doc/reports.md"), encoding="utf-8") as f:
        page = f.read()
    table = page[page.index("| `code` in JSON |") : page.index("These do not change the verdict")]
    codes = [
        c for row in table.split("\n| ")[1:] for c in re.findall("`([a-z-]+)`", row.split(" | ")[0])
    ]
    listed = page[page.index("These do not change the verdict") :].split("\n\n")[0].split(". ")[0]
    assert sorted(codes) == sorted(name for name, _ in entries)
    mentions = sorted(name for name, withholds in entries if withholds == "false")
    assert sorted(re.findall("`([a-z-]+)`", listed)) == mentions


def test_packets_that_are_twice_are_named(tmp_path):
    """A tap before and behind a switch; one that has a part twice; and a few that come again."""
    for each, least in ((1, 100), (3, 10), (40, 0)):
        frames = [f for i, f in enumerate(FRAMES) for _ in range(2 if i % each == 0 else 1)]
        document, _ = report(write(tmp_path, pcap(frames)))
        count, first = unseen(document).get("captured-twice", (0, 0))
        assert least <= count <= len(FRAMES) // each + 1 and (first > 1) == (least > 0)


@pytest.mark.parametrize("kind, is_named", [("groups", True), ("all", False), ("two links", False)])
def test_groups_that_are_delivered_twice_are_named(kind, is_named, tmp_path):
    """On the link of a; a doubled capture has all twice, one of two links other unicast packets too."""
    s, a, b, c = link()
    s.records.clear()
    for n in range(12):
        s.ping(a, b if n % 2 else c, seq=n)
        if kind == "two links":
            s.ping(b, c, seq=100 + n)
        s.arp_request(b, "10.0.0.%d" % (100 + n))
        s.arp_request(a, "10.0.0.%d" % (100 + n))
    is_twice = lambda octets: kind == "all" or (octets[2] >= 0xC0 and octets[7] == b.lid)
    s.records = [
        (when + 3000 * copy, octets, *rest)
        for when, octets, *rest in s.records
        for copy in range(2 if is_twice(octets) else 1)
    ]
    assert codes(s, tmp_path).get("groups-twice", (0, 0))[0] == (12 if is_named else 0)


@pytest.mark.parametrize("after_ms, is_named", [((240,), True), ((1,), False), ((28, 56), False)])
def test_merged_captures_with_two_clocks_are_named(after_ms, is_named, tmp_path):
    """Two captures of one exchange; a doubled capture, and a loop, have other times."""
    s, a, b, _ = link()
    s.records.clear()
    for n in range(12):
        s.ping(a, b, seq=n)
        s.wait(0.5)
    copies = [0] + [ms * 10**6 for ms in after_ms]
    s.records = sorted(
        ((when + later, *rest) for when, *rest in s.records for later in copies),
        key=lambda r: r[0],
    )
    assert codes(s, tmp_path).get("clocks-differ", (0, 0))[0] == (24 if is_named else 0)


def over_a_connection(times, seconds, doubled):
    """200 messages, each sent so often, and acknowledged; and each packet of the file captured twice."""
    s, a, b, _ = link()
    c = Link(s, a, b).open()
    message = ib.encap(0x0800, ib.ping4(a.ip, b.ip))
    for _ in range(200):
        c.send(True, message)
        for _ in range(times - 1):
            s.wait(seconds)
            c.packet(True, ib.ONLY, message, c.psns[0] - 1)
        c.ack(True, c.psns[0] - 1)
    copies = range(2 if doubled else 1)
    frames = [(when + copy * 1000, *rest) for when, *rest in s.records for copy in copies]
    return capfile.pcap(capfile.INFINIBAND, frames, nanoseconds=True)


@pytest.mark.parametrize("keep, is_named", [("from", True), ("to", True), ("both", False)])
def test_a_capture_of_one_direction_is_named(keep, is_named, tmp_path):
    """A connection on which one side only sends, and the other acknowledges, has two directions."""
    s, a, b, _ = link()
    s.records.clear()
    c = Link(s, a, b).open()
    for _ in range(60):
        c.send(True, ib.encap(0x0800, ib.ping4(a.ip, b.ip)))
        c.ack(True, c.psns[0] - 1)
    place = {"from": 6, "to": 2, "both": 0}[keep]
    is_kept = lambda octets: not place or octets[place : place + 2] == ib.u16(a.lid)
    s.records = [r for r in s.records if is_kept(r[1])]
    assert (codes(s, tmp_path).get("one-direction", (0, 0))[0] >= 60) == is_named


@pytest.mark.parametrize("count, is_named", [(9, False), (10, True)])
def test_a_short_capture_of_one_direction_is_named(count, is_named, tmp_path):
    """Two packets to single ports each time, of one host."""
    s, a, b, _ = link()
    s.records.clear()
    for n in range(count):
        s.ud(a, b, ping(a, b, seq=n))
        s.path(a, b)
    s.records = [r for r in s.records if r[1][6:8] == ib.u16(a.lid)]
    found = codes(s, tmp_path).get("one-direction", (0, 0))
    assert found == ((2 * count, 0) if is_named else (0, 0))


@pytest.mark.parametrize("what", ["nothing", "ARP", "ND", "a MAD", "fewer", "IPv6"])
def test_a_capture_without_management_is_named(what, tmp_path):
    """Twenty datagrams, and nothing that tells an address or a path."""
    s, a, b, _ = link()
    s.records.clear()
    for n in range(19 if what == "fewer" else 20):
        one, two = (a, b) if n % 2 else (b, a)
        s.ud(one, two, ping6(one, two) if what == "IPv6" else ping(one, two, seq=n))
    if what == "ARP":
        s.arp_reply(b, a)
    elif what == "ND":
        s.advertise(b, a, b.ll)
    elif what == "a MAD":
        s.path(a, b)
    is_named = what in ("nothing", "IPv6")
    assert codes(s, tmp_path).get("no-management") == ((20, 0) if is_named else None)


@pytest.mark.parametrize("count", [19, 20])
def test_a_capture_of_connected_packets_alone_is_named(count, tmp_path):
    """It begins after the set-up of the connection, and each datagram is in two packets."""
    s, a, b, _ = link()
    connection = Link(s, a, b)
    s.records.clear()
    for n in range(count):
        one, two = (b, a) if n % 2 else (a, b)
        connection.send(n % 2 == 0, ping(one, two, seq=n, size=3000))
    named = (count, 0) if count == 20 else None
    assert codes(s, tmp_path).get("no-management") == named


def shifted(records, first, last):
    """Each record with its length, and the octets of the one before, cut or filled up."""
    for n in range(last, first - 1, -1):
        when, octets, size = records[n]
        before = records[n - 1][1]
        records[n] = when, before[: len(octets)].ljust(len(octets), b"\x5a"), size


@pytest.mark.parametrize("change", ["shifted", "padded", "cut"])
def test_records_that_do_not_agree_with_their_lrh_are_named(change, tmp_path):
    """A small packet and a large one in turns: of the shifted, each second is too short, each other too
    long. Padding at the end, and a snapshot length, are harmless."""
    s, a, b, _ = link()
    first = number(s)
    for n in range(10):
        s.ud(a, b, ping(a, b, size=8 if n % 2 else 400))
    if change == "shifted":
        shifted(s.records, first + 2, first + 9)
    elif change == "padded":
        s.records = [(when, octets + bytes(6), size) for when, octets, size in s.records]
    else:
        s.records = [(when, octets[:100], size or len(octets)) for when, octets, size in s.records]
    found = codes(s, tmp_path).get("wrong-lengths")
    assert found == ((8, first + 3) if change == "shifted" else None)


@pytest.mark.parametrize(
    "times, seconds, doubled, is_named",
    [(1, 0, True, True), (2, 0.5, False, False), (3, 0.00005, False, False)],
)
def test_a_doubled_capture_of_a_connection_is_named(times, seconds, doubled, is_named, tmp_path):
    """Acknowledgements count for nothing; what is sent again, after a timeout or at once, is no copy."""
    path = write(tmp_path, over_a_connection(times, seconds, doubled))
    count, _ = unseen(report(path)[0]).get("captured-twice", (0, 0))
    assert count > 200 if is_named else not count


@pytest.mark.parametrize(
    "offset, records, segments, is_named",
    [(0, 2, 1, True), (0, 7, 3, True), (7, 2, 1, True)]
    + [(0, 0, 1, False), (0, 1, 1, False), (8, 2, 1, False), (8, 7, 3, False)],
)
def test_tables_without_an_offset(offset, records, segments, is_named, tmp_path):
    """AttributeOffset counts 8 bytes; a PathRecord has 64. It may be 0 with one record or none."""
    data, first = table(offset, records, segments)
    path = write(tmp_path, data)
    named = unseen(report(path)[0]).get("tables-without-offset")
    assert named == ((1, first) if is_named else None)
    assert ("NO VIOLATION PROVED: 1 table of the SA not judged" in text_of(path)[-1]) == is_named


def test_all_formats_show_it(tmp_path):
    path = write(tmp_path, WITHHOLD["isb_osdrop"][0]())
    words = "7 packets lost by the system (isb_osdrop)"
    assert words in check.run("--format", "junit", path).stdout.decode()
    assert f"# not seen: {words}" in check.run("--format", "tap", path).stdout.decode().splitlines()


def test_merged_reports_keep_it(tmp_path):
    source, merged, twice = (tmp_path / f"{name}.json" for name in "abc")
    path = write(tmp_path, WITHHOLD["epb_dropcount"][0]())
    check.run("--format", "json", "-o", str(source), path)
    for given, made in ((source, merged), (merged, twice)):
        check.expect(check.OK, "--merge", "--format", "json", "-o", str(made), str(given))
        document = json.loads(made.read_text())
        assert unseen(document) == {"lost-before-packet": (9, 45)}
        assert document["summary"]["no_violation_proved"] == 1
    last = check.run("--merge", str(merged)).stdout.decode().splitlines()[-2:]
    assert last == [
        "1 report, 1 capture: 0 violated, 0 not judged, 1 no violation proved, 0 conformant",
        "1 node: 0 violated, 0 not judged, 1 no violation proved, 0 conformant",
    ]


@pytest.mark.parametrize(
    ("demand", "line"),
    [
        (
            ["--require", "rfc4755.6.private-data"],
            "a: required rfc4755.6.private-data: NOT JUDGED: nothing in the captures is about it",
        ),
        (["--min-judged", "60"], ": NOT JUDGED: 47 rules judged, at least 60 required"),
    ],
)
def test_merged_reports_keep_the_demands(demand, line, tmp_path):
    given = tmp_path / "a.json"
    done = check.run("--format", "json", "-o", str(given), *demand, check.DATAGRAM)
    assert done.returncode == check.UNJUDGED
    for made in ("b", "c"):
        merged = tmp_path / f"{made}.json"
        check.expect(check.UNJUDGED, "--merge", "--format", "json", "-o", str(merged), str(given))
        document = json.loads(merged.read_text())
        assert document["summary"]["verdict"] == "unjudged"
        assert document["summary"]["nodes"][0]["verdict"] == "unjudged"
        assert document["summary"]["captures"][0]["verdict"] == "conformant"
        given = merged
    out = check.run("--merge", str(given)).stdout.decode().splitlines()
    assert any(text.endswith(line) for text in out)
    assert out[-1] == "1 node: 0 violated, 1 not judged, 0 conformant"


@pytest.mark.parametrize(
    "change",
    [{"min_judged": "60"}, {"min_judged": 1000}, {"required": [{"selector": "rfc4391.6"}]}],
)
def test_malformed_demand_is_no_report(change, tmp_path):
    path = tmp_path / "a.json"
    document, _ = report(check.DATAGRAM)
    document["summary"].update(change)
    path.write_text(json.dumps(document))
    done = check.run("--merge", str(path))
    assert done.returncode == check.UNJUDGED and "is malformed" in done.err


@pytest.mark.parametrize(
    "given",
    [[{"code": "x", "count": 1, "frame": 1}], [{"code": "raw", "count": 0, "frame": 1}], [{}]],
)
def test_malformed_list_is_no_report(given, tmp_path):
    path = tmp_path / "a.json"
    document, _ = report(check.DATAGRAM)
    document["summary"]["captures"][0]["unseen"] = given
    path.write_text(json.dumps(document))
    assert "what was not seen" in check.run("--merge", str(path)).err


def test_several_captures_are_counted_apart(tmp_path):
    path = write(tmp_path, WITHHOLD["raw"][0]())
    last = check.run(path, check.DATAGRAM).stdout.decode().splitlines()[-1]
    assert last == (
        "2 captures: 0 violated, 0 not judged, 1 no violation proved, 1 conformant; "
        "not seen: 1 packet not decoded (raw packet)"
    )


def test_plugin_says_it(tmp_path):
    path = write(tmp_path, WITHHOLD["wrong ICRC"][0]())
    out = tshark("-q", "-z", "ipoib,conformance", "-r", path).stdout
    assert "Not seen: 1 packet corrupt (wrong ICRC or VCRC) in frame 45" in out
    assert "Verdict: no violation proved" in out


# ---- a failure without a proof


BEFORE_IP = "rfc4755.2.3.connection-before-ip"


def ends_at_violation(rule=BEFORE_IP, way="RC, without a set-up"):
    """IP on a queue pair without a connection; the sender's next SA request is missing."""
    v = next(v for v in variants.VARIANTS if (v.rule, v.way) == (rule, way))
    w = v.world()
    n = 1 + w.order.index(v.at)
    return n, w.records()[:n], w.records()


def result_of(document, rule, outcome):
    found = [r for r in document["results"] if (r["id"], r["outcome"]) == (rule, outcome)]
    return found[0] if found else None


def test_violation_that_waits_for_its_proof_is_no_pass(tmp_path):
    n, records, _ = ends_at_violation()
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document, status = report(path)
    found = result_of(document, BEFORE_IP, "unproved")
    assert status == check.OK and found["frames"] == [n] and not found["violation"]
    assert found["reason"].startswith("waits for the next ")
    assert found["reason"].endswith(": the capture ends before it")
    lines = text_of(path)
    assert "NO VIOLATION PROVED" in lines[-1]
    at = lines.index("Violated, but not proved")
    assert lines[at + 1].startswith(f"  {BEFORE_IP} ")
    assert any(f"frame {n}" in line for line in lines[at:])
    assert any(line.strip().startswith("not proved: waits for ") for line in lines[at:])
    required = check.run("--require", BEFORE_IP, path)
    assert required.returncode == check.UNJUDGED


def test_captured_value_makes_it_suspected(tmp_path):
    """A datagram longer than the link's MTU contradicts the SA's record, which was captured."""
    n, records, _ = ends_at_violation(LINK_MTU, "IPv4 unicast")
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document, status = report(path)
    found = result_of(document, LINK_MTU, "suspected")
    assert status == check.OK and found["frames"] == [n]
    assert found["cases"][0]["other_frame"] < n and found["reason"].startswith("unless the SA ")
    assert not result_of(document, LINK_MTU, "unproved")
    assert check.run("--fail-on", "suspected", path).returncode == check.VIOLATED


def test_proof_makes_it_a_violation(tmp_path):
    _, _, records = ends_at_violation()
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document, status = report(path)
    assert status == check.VIOLATED and not result_of(document, BEFORE_IP, "unproved")


TEARDOWN = "rfc4755.3.4.teardown"


def stays(seconds, lost=()):
    """A's interface leaves, without a DREQ. So long after it, only D sends something."""
    v = next(v for v in variants.VARIANTS if v.rule == TEARDOWN and "then a request" in v.way)
    w = v.world()
    w.order = [n for n in w.order[: w.order.index(v.at)] if n not in lost]
    w.delay("D.last", seconds)
    return 1 + w.order.index("A.leave.bcast"), w.records()


@pytest.mark.parametrize("seconds, expected", ((11, True), (5, False)))
def test_connection_that_stays_and_nothing_more_of_its_ends(tmp_path, seconds, expected):
    frame, records = stays(seconds)
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document, status = report(path)
    found = result_of(document, TEARDOWN, "unproved")
    assert status == check.OK and bool(found) == expected
    assert not found or found["frames"] == [frame]


def test_connection_that_stays_and_a_packet_that_was_not_captured(tmp_path):
    """The DREQ may be that packet."""
    _, records = stays(11, lost=("A.leave.g4",))
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document, _ = report(path)
    assert result_of(document, TEARDOWN, "inconclusive")


def test_baseline_and_merge_keep_an_unproved_failure(tmp_path):
    _, records, _ = ends_at_violation()
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    source = tmp_path / "a.json"
    check.run("--format", "json", "-o", str(source), path)
    merged = check.expect(check.OK, "--merge", str(source))
    assert "Violated, but not proved" in merged and "NO VIOLATION PROVED" in merged
    assert report(path, "--baseline", str(source))[1] == check.OK


def test_plugin_counts_an_unproved_failure(tmp_path):
    _, records, _ = ends_at_violation()
    path = write(tmp_path, capfile.pcap(capfile.INFINIBAND, records, nanoseconds=True))
    document = json.loads(tshark("-q", "-z", "ipoib,conformance,json", "-r", path).stdout)
    assert result_of(document, BEFORE_IP, "unproved")
    assert document["summary"]["no_violation_proved"] == 1

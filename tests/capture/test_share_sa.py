# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share: records of the SA keep no bytes that have no meaning. Senders
reuse buffers, so such bytes may be addresses of earlier messages.

Layouts: IBA 15.2.5, MCMemberRecord and PathRecord with the bits of their component masks."""
import pytest

from frames import ib
from frames.build import erf_pcap
from frames.fabric import A, SM, Tape
from support.convert import convert
from support.share import packets

DATA = 56  # offset of the records in a MAD (IBA 15.2.1.1)
SM_INFO_RECORD, PORT_INFO_RECORD, NODE_RECORD = 0x18, 0x12, 0x11


def components(text):
    """Component: (first bit in the record, number of bits), in the order of the mask."""
    found, first = {}, 0
    for name, size in (entry.split(":") for entry in text.split(",")):
        found[name.strip()] = (first, int(size))
        first += int(size)
    return found


# The components in their order, with their bits.
MC_MEMBER = components(
    """
    MGID: 128, PortGID: 128, Q_Key: 32, MLID: 16, MTUSelector: 2, MTU: 6, TClass: 8, P_Key: 16,
    RateSelector: 2, Rate: 6, PacketLifeTimeSelector: 2, PacketLifeTime: 6, SL: 4, FlowLabel:
    20, HopLimit: 8, Scope: 4, JoinState: 4, ProxyJoin: 1
    """
)
PATH = components(
    """
    ServiceID's upper half: 32, ServiceID's lower half: 32, DGID: 128, SGID: 128, DLID: 16,
    SLID: 16, RawTraffic: 1, reserved: 3, FlowLabel: 20, HopLimit: 8, TClass: 8, Reversible: 1,
    NumbPath: 7, P_Key: 16, QoSClass: 12, SL: 4, MTUSelector: 2, MTU: 6, RateSelector: 2, Rate:
    6, PacketLifeTimeSelector: 2, PacketLifeTime: 6, Preference: 8
    """
)
GIDS = ("MGID", "PortGID", "DGID", "SGID")
HALVES = ("ServiceID's upper half", "ServiceID's lower half")  # mapped, if both are there
MAPPED = (*GIDS, *HALVES)
RESERVED = ("reserved",)
RECORDS = {ib.ATTR_MC_MEMBER: MC_MEMBER, ib.ATTR_PATH_RECORD: PATH}
JUNK = b"\xff" * 200


def shared(tmp_path, *mads):
    """The data of each MAD after sharing, 200 bytes."""
    t = Tape()
    for mad in mads:
        t.mad(A, SM, mad)
    (tmp_path / "in.pcap").write_bytes(erf_pcap(t))
    convert("--share", "--format", "247", tmp_path / "in.pcap", tmp_path / "out.pcap")
    return [packet[-256 - 6 + DATA : -6] for packet in packets(tmp_path / "out.pcap")]


def bits(first, count, size=200):
    return ((1 << count) - 1) << (8 * size - first - count)


def cases():
    for attribute, components in RECORDS.items():
        for n, (name, place) in enumerate(components.items()):
            yield pytest.param(attribute, n, name, place, id=f"{attribute:#x} {name}")


@pytest.mark.parametrize("attribute, n, name, place", cases())
def test_request_keeps_the_named_component_only(attribute, n, name, place, tmp_path):
    (data,) = shared(tmp_path, ib.sa_mad(ib.SET, 1, attribute, JUNK, 1 << n))
    left, expected = int.from_bytes(data, "big"), 0 if name in RESERVED + HALVES else bits(*place)
    assert bool(left) == bool(expected) and left & ~expected == 0, data.hex()
    assert name in GIDS or left == expected, data.hex()


@pytest.mark.parametrize("attribute", RECORDS)
def test_request_without_components_keeps_nothing(attribute, tmp_path):
    assert shared(tmp_path, ib.sa_mad(ib.GET_TABLE, 1, attribute, JUNK, 0)) == [bytes(200)]


@pytest.mark.parametrize("attribute", RECORDS)
def test_refused_request_keeps_what_the_request_keeps(attribute, tmp_path):
    """OpenSM sends the request's record back."""
    mask = 1 << 4
    request, refusal, other = shared(
        tmp_path,
        ib.sa_mad(ib.SET, 1, attribute, JUNK, mask),
        ib.sa_mad(ib.GET_RESP, 1, attribute, JUNK, mask, status=0x0200),
        ib.sa_mad(ib.GET_RESP, 1, attribute, JUNK, 0, status=0x0300),
    )
    assert request == refusal and any(request) and not any(other)


@pytest.mark.parametrize("attribute", RECORDS)
def test_response_keeps_all_components_and_nothing_else(attribute, tmp_path):
    """The mask of a response has no meaning."""
    (data,) = shared(tmp_path, ib.sa_mad(ib.GET_RESP, 1, attribute, JUNK, 0))
    kept = [n for n in RECORDS[attribute] if n not in MAPPED + RESERVED]
    expected = sum(bits(*RECORDS[attribute][name]) for name in kept)
    mapped = sum(bits(*place) for name, place in RECORDS[attribute].items() if name in MAPPED)
    assert int.from_bytes(data, "big") & ~mapped == expected


def rmpp(segment, flags, length):
    return ib.rmpp_header(ib.RMPP_DATA, ib.RMPP_ACTIVE | flags, segment, length)


def test_table_keeps_nothing_between_and_after_its_records(tmp_path):
    """Five records of 52 bytes, 56 bytes apart, in two segments: the fourth is split (168 to 220),
    the fifth ends at byte 76 of the second."""
    records = [ib.mcmember("ff12:401b:ffff::1", qkey=n, pkey=0xFFFF) for n in range(1, 6)]
    stream = b"".join(r + b"\xee" * 4 for r in records)
    whole = 2 * 20 + len(stream)  # each segment counts its SA header (IBA 13.6.2.1)
    last = 20 + len(stream) - 200
    first, second = shared(
        tmp_path,
        ib.sa_mad(
            ib.GET_TABLE_RESP,
            1,
            ib.ATTR_MC_MEMBER,
            stream[:200],
            attr_offset=7,
            rmpp=rmpp(1, ib.RMPP_FIRST, whole),
        ),
        ib.sa_mad(
            ib.GET_TABLE_RESP,
            1,
            ib.ATTR_MC_MEMBER,
            stream[200:].ljust(200, b"\xee"),
            attr_offset=7,
            rmpp=rmpp(2, ib.RMPP_LAST, last),
        ),
    )
    both = first + second
    for n in range(5):
        record = both[56 * n : 56 * n + 56]
        assert record[32:36] == (n + 1).to_bytes(4, "big") and record[52:] == bytes(4)
    assert b"\xee" not in both and not any(second[80:])


def table(mgid, lost=()):
    """24 records of one group and port, in seven segments. Record 7 begins 8 bytes before the third
    one, which cuts its MGID into halves; record 21 begins 24 bytes before the seventh, which cuts
    its PortGID. Returns the segments without those in `lost`."""
    record = ib.mcmember(mgid, "fe80::2:c903:12:3456", pkey=0xFFFF)
    segments = ib.rmpp_table(7, ib.ATTR_MC_MEMBER, [record] * 24, 56)
    return [mad for n, mad in enumerate(segments, 1) if n not in lost]


@pytest.mark.parametrize(
    "mgid",
    [
        "ff12:401b:ffff::f12:3456",
        "ff15:601b:ffff:12:3456:789a:bcde:f012",
        "ff15:601b:ffff::5:6789:abcd:ef01",
        "ff15:601b:ffff::5:6789",
        "ff12:601b:ffff::1:ff12:3456",  # a solicited-node group
        "ff12:601b:ffff::1",  # ff02::1, which stays
        "ff12:a01b:ffff::12:3456",  # of another protocol
    ],
)
def test_gids_in_two_segments_are_mapped_as_whole_ones(mgid, tmp_path):
    stream = b"".join(shared(tmp_path, *table(mgid)))
    gids = [stream[56 * n : 56 * n + 32] for n in range(24)]
    assert len(set(gids)) == 1
    assert (gids[0][:16] == ib.gid(mgid)) == (mgid == "ff12:601b:ffff::1")
    assert gids[0][:6] == ib.gid(mgid)[:6] and gids[0][16:24] == ib.gid("fe80::")[:8]
    assert gids[0][24:] != ib.gid("fe80::2:c903:12:3456")[8:]


@pytest.mark.parametrize("lost, at", [(2, 1), (6, 5)])
def test_second_half_without_the_first_is_cleared(lost, at, tmp_path):
    data = shared(tmp_path, *table("ff12:401b:ffff::f12:3456", {lost}))
    assert data[at][:8] == bytes(8) and any(data[at][8:])


def test_acknowledgement_keeps_nothing(tmp_path):
    """An ACK has no records (IBA 13.6.2.3)."""
    ack = ib.rmpp_header(ib.RMPP_ACK, ib.RMPP_ACTIVE, 1, 65)
    mad = ib.sa_mad(ib.GET_TABLE_RESP, 1, ib.ATTR_MC_MEMBER, JUNK, rmpp=ack)
    assert shared(tmp_path, mad) == [bytes(200)]


GUID, KEY = bytes.fromhex("a1a2a3a4a5a6a7a8"), bytes.fromhex("b1b2b3b4b5b6b7b8")


def pieces(data):
    return {data[i : i + 3] for i in range(len(data) - 2)}


def test_key_and_guid_of_a_subnet_manager_are_gone(tmp_path):
    """SMInfoRecord: LID, 2 reserved bytes, then SMInfo: GUID, SM_Key, ActCount (IBA 15.2.5.10)."""
    record = b"\0\1\0\0" + GUID + KEY + b"\0\0\0\x63" + b"\x23"
    (data,) = shared(tmp_path, ib.sa_mad(ib.GET_RESP, 1, SM_INFO_RECORD, record))
    assert data[:4] == record[:4] and data[20:25] == record[20:]
    assert not pieces(data) & (pieces(GUID) | pieces(KEY)) and not any(data[12:20])
    assert any(data[4:12])


def test_key_of_a_port_is_gone(tmp_path):
    """PortInfoRecord: LID, port, options, then PortInfo: M_Key, GidPrefix, LID, SMLID (IBA
    15.2.5.3, 14.2.5.6)."""
    prefix = bytes.fromhex("20010db811223344")
    record = b"\0\7\1\0" + KEY + prefix + b"\0\7\0\1" + b"\2\x51\x48\x6a"
    (data,) = shared(tmp_path, ib.sa_mad(ib.GET_RESP, 1, PORT_INFO_RECORD, record))
    assert data[:4] == record[:4] and not any(data[4:12])
    assert data[20:28] == record[20:] and not pieces(data) & (pieces(KEY) | pieces(prefix[4:]))


def test_node_is_asked_for_by_its_guid(tmp_path):
    """NodeRecord: LID, 2 reserved bytes, NodeInfo; bit 7 of the mask is the NodeGUID (IBA
    15.2.5.2)."""
    (data,) = shared(
        tmp_path, ib.sa_mad(ib.GET, 1, NODE_RECORD, JUNK[:16] + GUID + JUNK[24:], 1 << 7)
    )
    assert any(data[16:24]) and data[16:24] != GUID
    assert not any(data[:16]) and not any(data[24:])

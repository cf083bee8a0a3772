# SPDX-License-Identifier: GPL-2.0-or-later
"""What the SA's response to GetTable(MCMemberRecord) teaches: it comes in RMPP segments of 200 bytes
(IBA 13.6.2.1), and records of 56 bytes follow each other across the segments (IBA 15.2.1.1)."""
from frames import ib
from frames.fabric import FULL
from frames.missed import CONFORMS, Case, Places, by, exactly, lacks
from frames.subnet import Host, Subnet

ATTRIBUTES, MLID = "rfc4391.10.group-attributes", "rfc4391.10.mlid-as-dlid"
GROUPS = 12
OVER_TWO = 3  # bytes 168 to 223 of the table: it begins in segment 1 and ends in segment 2
OVER_TWO_LATER = 7  # bytes 392 to 447: 8 of them in segment 2, the others in segment 3
IN_SECOND, IN_THIRD = 4, 8
OTHER_QKEY, OTHER_MLID = 0x80000C1C, 0xC0FF


def group(s, n):
    return s.group4(f"239.0.1.{n}")


def link():
    """Two hosts that the capture shows from the start."""
    s, a, b = Subnet(), Host(1), Host(2)
    for host in (a, b):
        s.psns[host.lid, 1] = -1  # a GSI that has just started counts from 0
        s.node_info(host)
        s.port_info(host)
    s.up(a, b)
    return s, a, b


def get_table(s, a, lost=(), changed=None, ack_method=ib.GET_TABLE, first_size=256):
    """a requests the table of the groups, which no host of the capture has joined. Returns the
    frames of the segments; those in `lost` were not captured. changed: {number: values};
    first_size: bytes of the first segment's MAD"""
    others = Host(5)
    records = []
    for n in range(GROUPS):
        of = {"mgid": group(s, n), **(changed or {}).get(n, {})}
        records.append(s.record(others, of.pop("mgid"), FULL, **of))
    tid, data = s.next_tid(), ib.mcmember("::", pkey=0xFFFF)
    s.sa(a, s.sm, ib.GET_TABLE, tid, ib.ATTR_MC_MEMBER, data, ib.MCM["pkey"])
    frames = []
    for n, segment in enumerate(ib.rmpp_table(tid, ib.ATTR_MC_MEMBER, records, 56), 1):
        s.mad(s.sm, a, segment[:first_size] if n == 1 else segment)
        if n in lost:
            s.records.pop()
        frames.append(len(s.records))
        ack = ib.rmpp_header(ib.RMPP_ACK, ib.RMPP_ACTIVE, n, n + 8)
        s.sa(a, s.sm, ack_method, tid, ib.ATTR_MC_MEMBER, rmpp=ack)
    return frames


IN = {0: (1,), OVER_TWO: (1, 2), IN_SECOND: (2,), OVER_TWO_LATER: (2, 3), IN_THIRD: (3,)}


# Where the data of a segment begin: LRH, BTH, DETH, then MAD, RMPP and SA header (IBA 13.6.2, 15.2.1)
SEGMENT_DATA = 8 + 12 + 8 + 24 + 12 + 20
# MCMemberRecord has 52 bytes (IBA 15.2.5.17): 6 to 15 are the MGID's group ID (RFC 4391 §4), 32 to 35
# the Q_Key, 40 and 41 the P_Key.
QKEY = (ATTRIBUTES, {"qkey": OTHER_QKEY})
PKEY = (ATTRIBUTES, {"pkey": 0x8001})
GROUP_ID = ("rfc4391.4.mgid-group-id-ipv4", {"mgid": "ff12:401b:ffff:1::f00:1"})


def named(s, names):
    """The capture, and the names of its frames."""
    return s.pcap(), [names.get(n, n) for n in range(1, len(s.records) + 1)]


def of_table(**options):
    s, a, _ = link()
    frames = get_table(s, a, **options)
    return named(s, {frame: f"segment {n}" for n, frame in enumerate(frames, 1)})


def send_to_another_mlid(lost):
    """a sends to the group of the record in two segments, with another MLID than the SA's; its next
    request shows that it has not joined."""
    s, a, b = link()
    get_table(s, a, lost)
    s.wait(1)
    s.to_group4(a, f"239.0.1.{OVER_TWO}", dlid=OTHER_MLID)
    s.wait(1)
    s.path(a, b)
    return named(s, {len(s.records) - 1: "request"})


def without_rmpp(wrong):
    """RMPP's payload length says how many records there are (IBA 13.6.2.1). Without it, the bytes
    after the first record may be those of an older message. wrong: the record with another Q_Key.
    """
    s, a, _ = link()
    records = [
        s.record(Host(5), group(s, i), FULL, **({"qkey": OTHER_QKEY} if i == wrong else {}))
        for i in (0, 1)
    ]
    tid, wanted = s.next_tid(), ib.mcmember("::", pkey=0xFFFF)
    s.sa(a, s.sm, ib.GET_TABLE, tid, ib.ATTR_MC_MEMBER, wanted, ib.MCM["pkey"])
    data = b"".join(r.ljust(56, b"\0") for r in records)
    s.sa(s.sm, a, ib.GET_TABLE_RESP, tid, ib.ATTR_MC_MEMBER, data, attr_offset=7)
    return named(s, {len(s.records): "response"})


def acknowledged(method):
    s, a, b = link()
    get_table(s, a, ack_method=method)
    s.path(b, a)
    return s.pcap()


def in_segment(n, lost=()):
    """The violation is found in the record's last segment, also if another segment is lost: the
    records' places follow from the segment's number."""
    if set(IN[n]) & set(lost):
        return CONFORMS
    return exactly((f"segment {IN[n][-1]}", ATTRIBUTES))


def of_fault(number, fault, start, end):
    """The bytes at fault are those in the last segment of the record."""
    rule, changed = fault
    expected = [(f"segment {IN[number][-1]}", start + SEGMENT_DATA, end + SEGMENT_DATA)]
    name = f"bytes at fault in record {number}, {', '.join(changed)}"
    return Places(name, expected, rule, by(of_table, changed={number: changed}))


OTHER = {"qkey": OTHER_QKEY}
CASES = [
    *[
        Case(
            f"another Q_Key in record {n}, lost segments {lost}",
            in_segment(n, lost),
            by(of_table, lost=lost, changed={n: OTHER}),
            of=(ATTRIBUTES,),
        )
        for n in IN
        for lost in ((), (1,), (2,))
    ],
    of_fault(0, QKEY, 32, 36),
    of_fault(OVER_TWO, QKEY, 0, 4),  # the first bytes of segment 2
    of_fault(OVER_TWO_LATER, QKEY, 24, 28),
    of_fault(0, GROUP_ID, 6, 16),
    of_fault(OVER_TWO_LATER, GROUP_ID, 0, 8),  # two of its bytes are in segment 2
    of_fault(OVER_TWO, GROUP_ID, 0, 20),  # in segment 1: all that segment 2 has of the record
    of_fault(OVER_TWO, PKEY, 8, 10),
    of_fault(OVER_TWO_LATER, PKEY, 32, 34),
    Case(
        "record in two segments",
        exactly(("request", MLID)),
        by(send_to_another_mlid, ()),
        of=(MLID,),
    ),
    Case(
        "record whose first segment is lost", CONFORMS, by(send_to_another_mlid, (1,)), of=(MLID,)
    ),
    Case(
        "record whose second segment is lost", CONFORMS, by(send_to_another_mlid, (2,)), of=(MLID,)
    ),
    # the bytes of its second record are as many as those that the next segment's first record lacks;
    # they are not that record's
    Case(
        "segment that is too short",
        CONFORMS,
        by(of_table, changed={OVER_TWO: OTHER}, first_size=24 + 12 + 20 + 88),
        of=(ATTRIBUTES,),
    ),
    Case(
        "first record without RMPP",
        exactly(("response", ATTRIBUTES)),
        by(without_rmpp, 0),
        of=(ATTRIBUTES,),
    ),
    Case("second record without RMPP", CONFORMS, by(without_rmpp, 1), of=(ATTRIBUTES,)),
    *[
        Case(
            f"the requester's acknowledgements, {what}",
            lacks("sm.failover-rejoin"),
            by(acknowledged, method),
            outcomes=("fail", "deviation", "noted"),
        )
        for what, method in (("GetTable", ib.GET_TABLE), ("GetTableResp", ib.GET_TABLE_RESP))
    ],
]

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of management datagrams: classes, methods and attributes of every shape. Layouts:
IBA chapters 12 to 15, with the section beside each."""
from frames import ib
from frames.layout import Piece, join, junk, lay
from frames.shared_ip import GID_A, GID_B

GID, GROUP = ib.gid(GID_A), ib.gid("ff12:401b:ffff::f12:3456")
GUID = bytes.fromhex("0002c90300123456")
KEY = bytes.fromhex("b1b2b3b4b5b6b7b8")
NAME = bytes(0x41 + i % 25 for i in range(64))
TRAP, TRAP_REPRESS = 5, 7


def header(management, method, attribute, version=1, status=0, modifier=1):
    """IBA 13.4.3: bytes 6 and 7 are those of a class, bytes 18 and 19 reserved. The modifier of
    an unknown class may be anything."""
    known = management in (0x01, 0x81, 0x03, 0x07)
    data = ib.mad_header(management, version, method, 0x1234, attribute, modifier, status)
    return lay(data, "48k 16z 80k 16z " + ("32k" if known else "32z"))


def whole(*pieces):
    """256 bytes"""
    piece = join(*pieces)
    return piece + junk(256 - len(piece))


def gone(data):
    return lay(data, "z")


# ---- subnet management (IBA 14.2)

NODE_INFO = b"\1\1\1\2" + GUID + GUID + GUID + bytes.fromhex("0080 1011 000000a0 01 0002c9")
# (attribute, data, layout), IBA 14.2.5
SMP_ATTRIBUTES = {
    "NodeDescription": (0x10, NAME, "512m"),
    "NodeInfo": (0x11, NODE_INFO, "32k 64m 64m 64m 96k"),
    "SwitchInfo": (0x12, b"\x11" * 20, "133k 11z 16k"),
    "GUIDInfo": (0x14, GUID * 8, "512m"),
    # M_Key; prefix; LID to link down; protect bits, 3 reserved, LMC; ... to GUIDCap, reregister;
    # subnet timeout, 3 reserved, response time; errors, credit; 8 reserved, latency; CapabilityMask2,
    # extended speeds, 3 reserved, extended speed
    "PortInfo": (
        0x15,
        KEY + ib.gid("2001:db8::")[:8] + b"\x11" * 48,
        "64z 64m 144k 2k 3z 3k 128k 3k 5k 3z 5k 24k 8z 24k 24k 3z 5k",
    ),
    "P_KeyTable": (0x16, b"\xff\xff" * 32, "512k"),
    "SLtoVLMappingTable": (0x17, b"\x12" * 8, "64k"),
    "VLArbitrationTable": (0x18, b"\x01\x20" * 32, "512z"),
    "LinearForwardingTable": (0x19, b"\1" * 64, "512k"),
    "MulticastForwardingTable": (0x1B, b"\1" * 64, "512k"),
    "SMInfo": (0x20, GUID + KEY + b"\0\0\0\x63\x23", "64m 64z 40k"),
    "VendorDiag": (0x30, b"\1" * 64, "512z"),
    "unknown": (0xFF10, b"\1" * 64, "512z"),
}


def smp_data(data, text, valid):
    piece = lay(data, text if valid else "z")
    return piece + junk(64 - len(piece))


def lid_routed(head, data):
    """M_Key and 32 bytes reserved, data, 128 bytes reserved"""
    return whole(head, gone(KEY), junk(32), data)


def directed(method, attribute, data, hops, pointer, response):
    """IBA 14.2.1.2. A response has all entries of the return path, a request on its way those up to
    the hop pointer; entry 0 is reserved."""
    head = ib.mad_header(0x81, 1, method, 7, attribute, 1, 0x8000 if response else 0)
    head = head[:6] + bytes([pointer, hops]) + head[8:]
    returned = hops if response else max(0, pointer - 1)
    path = [
        junk(1) + lay(bytes(range(1, n + 1)), "k" if n else "") + junk(63 - n)
        for n in (hops, returned)
    ]
    lids = lay(b"\xff\xff\xff\xff", "32k")
    return whole(lay(head, "144k 16z 32k"), gone(KEY), lids, junk(28), data, path[0], path[1])


def notice_data(trap, generic, details, text):
    head = ib.u8((0x80 if generic else 0) | 3) + ib.u24(0x0002C9) + ib.u16(trap) + b"\0\1\0\2"
    return lay(head, "80k") + lay(details, text) + junk(54 - len(details))


LID = b"\0\7"
NOTICES = {
    "vendor": (128, False, b"", ""),
    "link state": (128, True, LID, "16k"),
    "integrity": (129, True, bytes(2) + LID, "16z 16k"),
    "capabilities": (144, True, bytes(2) + LID, "16z 16k"),
    "system GUID": (145, True, bytes(2) + LID + bytes(2) + GUID, "16z 16k 16z 64z"),
    "bad M_Key": (256, True, bytes(2) + LID, "16z 16k"),
    "bad P_Key": (257, True, bytes(2) + LID + LID, "16z 32k"),
    "unknown": (999, True, b"", ""),
}


def subnet_management():
    for name, (attribute, data, text) in SMP_ATTRIBUTES.items():
        for method, status, valid in (
            (1, 0, False),
            (2, 0, True),
            (0x81, 0, True),
            (0x81, 4, False),
        ):
            head = header(0x01, method, attribute, status=status)
            title = f"SMP {method:#x} {name} status {status}"
            yield title, lid_routed(head, smp_data(data, text, valid))
        data = smp_data(data, text, True)
        yield f"directed response {name}", directed(0x81, attribute, data, 3, 0, True)
    data = smp_data(NODE_INFO, "z", False)
    for hops, pointer in ((0, 0), (3, 0), (3, 1), (3, 3), (3, 4), (63, 64)):
        yield f"directed request {hops} {pointer}", directed(1, 0x11, data, hops, pointer, False)
    for name, (trap, generic, details, text) in NOTICES.items():
        data = notice_data(trap, generic, details, text)
        for method in (TRAP, TRAP_REPRESS):
            yield f"trap {method} {name}", lid_routed(header(0x01, method, 2), data)
    yield "Get notice", lid_routed(header(0x01, 1, 2), junk(64))


# ---- subnet administration (IBA 15.2)

NO_RMPP = lay(bytes(12), "8z 8z 5z 2z 1q 8z 32z 32z")
REPORT, REPORT_RESP, GET_TABLE_RESP = 0x06, 0x86, 0x92


def rmpp(kind, flags, text):
    return lay(ib.rmpp_header(kind, flags | ib.RMPP_ACTIVE, 1, 300), text)


def sa(method, attribute, data, mask=0, rmpp_head=NO_RMPP, status=0, offset=0):
    """SM_Key; AttributeOffset; reserved; component mask; data"""
    sa_head = gone(KEY) + lay(ib.u16(offset) + bytes(2) + ib.u64(mask), "16k 16z 64k")
    return whole(header(0x03, method, attribute, 2, status), rmpp_head, sa_head, data)


# Records with the layout of their valid components (IBA 15.2.5)
MC_MEMBER = (
    ib.ATTR_MC_MEMBER,
    ib.mcmember(
        "ff12:401b:ffff::f12:3456",
        GID_A,
        0xB1B,
        0xC001,
        2,
        4,
        3,
        0xFFFF,
        2,
        3,
        2,
        18,
        1,
        5,
        9,
        2,
        1,
        1,
    ),
    "128m 128m 137k 23z",
)
PATH = (
    ib.ATTR_PATH_RECORD,
    ib.path_record(GID_A, GID_B, 1, 2, numb=1, mtu=4, rate=3, life=18, service_id=5),
    "64m 128m 128m 33k 3z 108k 48z",
)
RECORDS = {
    "MCMemberRecord": MC_MEMBER,
    "PathRecord": PATH,
    "NodeRecord": (0x11, LID + bytes(2) + NODE_INFO + NAME, "16k 16z 32k 64m 64m 64m 96k 512m"),
    "PortInfoRecord": (
        0x12,
        LID + b"\1\0" + KEY + ib.gid("2001:db8::")[:8] + b"\x11" * 44,
        "32k 64z 64m 144k 2k 3z 3k 128k 3k 5k 3z 5k 24k 8z 24k",
    ),
    "SMInfoRecord": (0x18, LID + bytes(2) + GUID + KEY + b"\0\0\0\x63\x23", "16k 16z 64m 64z 40k"),
    "LinkRecord": (0x20, b"\0\7\1\2\0\x08", "48k"),
    "GuidInfoRecord": (0x30, LID + b"\1" + bytes(5) + GUID * 8, "24k 40z 512m"),
    "ServiceRecord": (
        0x31,
        ib.service_record(7, GID_A, key=KEY + KEY, name=NAME, data=NAME),
        "64m 128m 16k 16z 32k 128z 512m 512z",
    ),
    "P_KeyTableRecord": (0x33, LID + b"\0\1\1" + bytes(3) + b"\xff\xff" * 32, "40k 24z 512k"),
    "VLArbitrationTableRecord": (0x36, b"\1" * 72, "z"),
}
INFORM_INFO = (3, ib.inform_info("::", 0xFFFF, qpn=1), "128m 32k 16z 72k 3z 5k 8z 24k")
CLASS_PORT_INFO = (
    1,
    ib.class_port_info(0x10, 2, trap_gid=GID_B)[:8] + GID + bytes(16) + ib.gid(GID_B) + bytes(16),
    "64k 128m 128z 128m 128z",
)
EVERY = 2**64 - 1


def records():
    for name, (attribute, data, text) in RECORDS.items():
        yield f"GetResp {name}", sa(ib.GET_RESP, attribute, lay(data, text))
        yield f"Get {name}, no component", sa(ib.GET, attribute, gone(data))
        yield f"Set {name}, all components", sa(ib.SET, attribute, lay(data, text), EVERY)
        yield f"refused {name}", sa(ib.GET_RESP, attribute, gone(data), 0, status=0x0200)
    attribute, data, text = MC_MEMBER
    two = gone(data[:16]) + lay(data[16:36], "128m 32k") + gone(data[36:])
    yield "PortGID and Q_Key", sa(ib.SET, attribute, two, 6)
    yield "Q_Key refused", sa(ib.GET_RESP, attribute, two, 6, status=0x0200)
    attribute, data, text = INFORM_INFO
    for method in (ib.SET, ib.GET_RESP):
        yield f"InformInfo {method:#x}", sa(method, attribute, lay(data, text))
    attribute, data, text = CLASS_PORT_INFO
    yield "GetResp ClassPortInfo", sa(ib.GET_RESP, attribute, lay(data, text))
    yield "Get ClassPortInfo", sa(ib.GET, attribute, gone(data))
    yield "Get InformInfo", sa(ib.GET, 3, gone(INFORM_INFO[1]))


def notices():
    for trap in (64, 66):
        details = bytes(6) + GROUP
        data = notice_data(trap, True, details, "48z 128m") + lay(GID, "128m")
        for method in (REPORT, REPORT_RESP):
            yield f"notice {trap} {method:#x}", sa(method, 2, data)
    for name, (trap, generic, details, text) in NOTICES.items():
        data = notice_data(trap, generic, details, text) + lay(GID, "128m")
        yield "notice " + name, sa(REPORT, 2, data)
    data = notice_data(66, False, b"", "") + lay(GID, "128m")
    yield "notice vendor 66", sa(REPORT, 2, data)


def tables():
    """The segments of a table: two records, 56 bytes apart (IBA 13.6.2)"""
    attribute, data, text = MC_MEMBER
    table = lay(data, text) + junk(4) + lay(data, text) + junk(4)
    last = rmpp(ib.RMPP_DATA, ib.RMPP_FIRST | ib.RMPP_LAST, "96k").put(8, ib.u32(20 + 112))
    yield "whole table", sa(GET_TABLE_RESP, attribute, table, rmpp_head=last, offset=7)
    ack = rmpp(ib.RMPP_ACK, 0, "96k")
    yield "acknowledgement", sa(GET_TABLE_RESP, attribute, junk(112), rmpp_head=ack, offset=7)
    for kind in (3, 4):
        stop = rmpp(kind, 0, "32k 64z")
        yield f"RMPP type {kind}", sa(
            GET_TABLE_RESP, attribute, junk(112), rmpp_head=stop, offset=7
        )
    # the second segment of more than two, without a length: of record 3 the bytes from 32 on,
    # records 4 to 6, of record 7 half of its MGID
    record = lay(data, text) + junk(4)
    middle = rmpp(ib.RMPP_DATA, 0, "64k 32z").put(4, ib.u32(2))
    segment = join(lay(data[32:], "137k 23z"), junk(4), record, record, record, record[:8])
    yield "middle of a table", sa(GET_TABLE_RESP, attribute, segment, rmpp_head=middle, offset=7)
    yield "unknown table", sa(GET_TABLE_RESP, 0x36, junk(112), rmpp_head=middle, offset=9)


# ---- communication management (IBA 12.6 to 12.11)

# LIDs, GIDs; flow label, 6 reserved, rate; traffic class, hop limit; SL, SubnetLocal, 3 reserved;
# timeout, 3 reserved
PATH_TEXT = "32k 128m 128m 20k 6z 22k 5k 3z 5k 3z"
REQ_REST = f"64m 32z 192k {PATH_TEXT} {PATH_TEXT} "  # after the Service-ID
IPOIB, OTHER = ib.service_id_rfc(0x48), 0x1000000012345
PRIVATE = ib.private_data(0x48, 65524)


def cm(data, text, private="z"):
    """TEXT: from the communication IDs to the private data; PRIVATE: of these"""
    return lay(data[:24], "48k 16z 80k 16z 32k") + lay(data[24:], text + private)


def req(service, private, service_text="64m"):
    data = ib.cm_req(
        7, 1, service, int.from_bytes(GUID, "big"), 0x50, 9, 1, 2, GID_A, GID_B, PRIVATE, alt=True
    )
    return cm(data, f"32k 32z {service_text} {REQ_REST}", private)


def rep(private):
    data = ib.cm_rep(7, 2, 1, 0x51, 10, int.from_bytes(GUID, "big"), PRIVATE)
    return cm(data, "120k 8z 24k 8z 24k 8z 28k 4z 64m ", private)


def cm_messages():
    yield "REQ", req(OTHER, "z")
    yield "REP", rep("z")
    yield "MRA", cm(ib.cm_mra(7, 2, 1, pdata=PRIVATE), "64k 2k 6z 5k 3z ")
    ari = b"information"
    yield "REJ", cm(ib.cm_rej(7, 2, 1, 28, ari=ari, pdata=PRIVATE), "64k 2k 6z 7k 1z 16k 576z ")
    yield "RTU", cm(ib.cm_rtu(7, 1, 2, PRIVATE), "64k ")
    yield "DREQ", cm(ib.cm_dreq(7, 1, 2, 0x51, PRIVATE), "64k 24k 8z ")
    yield "DREP", cm(ib.cm_drep(7, 2, 1, PRIVATE), "64k ")
    lap = "64k 32z 29k 3z 32z 32k 128m 128m 20k 4z 16k 2z 11k 3z 5k 3z "
    yield "LAP", cm(ib.cm_lap(7, 1, 2, 0x51, 1, 2, GID_A, GID_B, PRIVATE), lap)
    yield "APR", cm(ib.cm_apr(7, 2, 1, 3, PRIVATE), "64k 16k 16z 576z ")
    yield "SIDR_REQ", cm(ib.cm_sidr_req(7, 1, OTHER, pdata=PRIVATE), "48k 16z 64m ")
    sidr_rep = ib.cm_sidr_rep(7, 1, OTHER, 5, 6, pdata=PRIVATE)
    yield "SIDR_REP", cm(sidr_rep, "48k 16z 24k 8z 64m 32k 576z ")
    yield "unknown CM", whole(header(0x07, 3, 0x77, 2))


IPOIB_PRIVATE = "64k z"  # RFC 4755 section 6


def other_classes():
    """Performance, vendor, application; BM, device management, SNMP, with all bytes of them"""
    for management in (0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x10, 0x20, 0x30):
        for method in (1, 2, 3, 0x81):
            yield f"class {management:#x} {method:#x}", whole(header(management, method, 0x12))


def gsi():
    """(name, MAD) on QP 1"""
    for part in (records, notices, tables, cm_messages, other_classes):
        yield from part()

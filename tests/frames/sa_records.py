# SPDX-License-Identifier: GPL-2.0-or-later
"""A host asks the SA for its records of a port: PortInfoRecord, P_KeyTableRecord and GUIDInfoRecord (IBA
15.2.5.3, 15.2.5.11, 15.2.5.18). Each function waits a second before and after, and returns the number of
the last frame."""
from frames import ib

PORT_RECORD, GUID_RECORD, PKEY_RECORD = 0x12, 0x30, 0x33
BY_LID, BY_LID_AND_BLOCK = 1, 3
MTU_256, MTU_1024, MTU_2048, MTU_4096 = 1, 3, 4, 5  # IBA 14.2.5.6


def ask(s, asks, attribute, host, record, mask=BY_LID):
    s.wait(1)
    s.ask(asks, ib.GET, attribute, ib.u16(host.lid), mask, record, offset=9)
    s.wait(1)
    return len(s.records)


def port_record(s, asks, host, mtu, cap=None, lid=None, state=ib.ACTIVE, prefix=None):
    """cap: MTUCap, if it is not the NeighborMTU. lid, prefix: in its PortInfo."""
    lid, prefix = host.lid if lid is None else lid, prefix or s.prefix
    fields = dict(neighbor_mtu=mtu, mtu_cap=cap or mtu)
    info = ib.port_info(prefix, lid, s.sm.lid, state, **fields)
    return ask(s, asks, PORT_RECORD, host, ib.u16(host.lid) + b"\x01\0" + info)


def blocks_of(*pkeys):
    return b"".join(map(ib.u16, pkeys)).ljust(64, b"\0")


def table_records(host, blocks):
    head = lambda n: ib.u16(host.lid) + ib.u16(n) + bytes((1, 0, 0, 0))
    return [head(n) + block for n, block in enumerate(blocks)]


def pkey_record(s, asks, host, *pkeys, mask=BY_LID):
    (record,) = table_records(host, [blocks_of(*pkeys)])
    return ask(s, asks, PKEY_RECORD, host, record, mask)


def pkey_table(s, asks, host, blocks, lost=()):
    """GetTable, in segments of 200 bytes. lost: those that were not captured."""
    s.wait(1)
    tid, records = s.next_tid(), table_records(host, blocks)
    s.sa(asks, s.sm, ib.GET_TABLE, tid, PKEY_RECORD, ib.u16(host.lid), BY_LID)
    for n, segment in enumerate(ib.rmpp_table(tid, PKEY_RECORD, records, 72), 1):
        s.mad(s.sm, asks, segment)
        if n in lost:
            s.records.pop()
    s.wait(1)
    return len(s.records)


def guid_record(s, asks, host, *aliases):
    """The port GUID and these alias GUIDs."""
    guids = b"".join(g.to_bytes(8, "big") for g in (host.guid, *aliases)).ljust(64, b"\0")
    return ask(s, asks, GUID_RECORD, host, ib.u16(host.lid) + bytes(6) + guids)

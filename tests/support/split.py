# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture whose two directions are written as two interfaces, like those of a network tap or an
ERF card with two ports.

The captured cable is that of the port from or to which the most packets go. Packets from this port
are one direction, all others are the other. Packets of a directed route have no LIDs: the direction
bit (IBA 14.2.1.2) says whether they are on the way out or back."""
import collections
import struct

from support import capfile

LRH_DLID, LRH_SLID, LRH = 2, 6, 8
MULTICAST, PERMISSIVE = 0xC000, 0xFFFF
BTH_SIZE, DETH_SIZE, GRH_SIZE, LNH_GRH = 12, 8, 40, 3
CLASS_DIRECTED, MAD_CLASS, MAD_STATUS = 0x81, 1, 4


def lids(data):
    """(SLID, DLID)"""
    return struct.unpack_from(">H", data, LRH_SLID)[0], struct.unpack_from(">H", data, LRH_DLID)[0]


def port_of(frames):
    """The LID of the captured cable's port."""
    seen = collections.Counter()
    for _, data, _ in frames:
        if len(data) >= LRH:
            seen.update(lid for lid in set(lids(data)) if 0 < lid < MULTICAST)
    return max(seen, key=lambda lid: (seen[lid], -lid), default=0)


def comes_back(data):
    """Is it a packet of a directed route on its way back?"""
    at = LRH + (GRH_SIZE if data[1] & 3 == LNH_GRH else 0) + BTH_SIZE + DETH_SIZE
    mad = data[at:]
    return (
        len(mad) > MAD_STATUS and mad[MAD_CLASS] == CLASS_DIRECTED and bool(mad[MAD_STATUS] & 0x80)
    )


def direction(data, port):
    """0 or 1"""
    if len(data) < LRH:
        return 0
    slid, dlid = lids(data)
    if PERMISSIVE in (slid, dlid):
        return int(comes_back(data))
    return int(slid == port)


def by_direction(frames):
    """The frames, each with its interface."""
    port = port_of(frames)
    return [capfile.Frame(time, data, wire, direction(data, port)) for time, data, wire in frames]


def pcapng(frames):
    """A pcapng file of frames on two interfaces."""
    return capfile.pcapng([capfile.INFINIBAND] * 2, frames)


def erf(frames):
    """A raw ERF file of frames on two ports of a card (flags, bits 0 and 1)."""
    return b"".join(capfile.erf_record(f.time, f.data, f.wire, 4 | f.interface) for f in frames)


def erf_in_pcap(frames):
    """The same as a pcap file, whose frames' times may go backwards."""
    records = [
        (f.time, capfile.erf_record(f.time, f.data, f.wire, 4 | f.interface), 16 + f.wire)
        for f in frames
    ]
    return capfile.pcap(capfile.ERF, records, nanoseconds=True)


FILES = {"pcapng": pcapng, "erf": erf_in_pcap}
# from records to the file with an interface for each direction
WAYS = {
    "pcapng": lambda frames: pcapng(by_direction(frames)),
    "erf": lambda frames: erf(by_direction(frames)),
}

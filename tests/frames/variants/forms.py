# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms (link types and capture points) of one capture; each is (the file's bytes, the names
of its frames)."""

from frames import ib
from support import capfile

GSI, SMI = 1, 0


def infiniband(w):
    return capfile.pcap(capfile.INFINIBAND, w.records(), nanoseconds=True), list(w.order)


def erf(w):
    return capfile.pcap(capfile.ERF, capfile.erf_records(w.records()), nanoseconds=True), list(
        w.order
    )


def is_management(p):
    return bool(p.deth) and p["destqp"] in (GSI, SMI)


def pseudo_header(p):
    """The bytes of LINKTYPE_IPOIB before the encapsulation header: the GRH, or the destination's
    address."""
    if p.grh:
        return bytes(p.grh)
    return bytes(20) + ib.lladdr(p["destqp"], "::")


def ipoib(w):
    """The capture of an IPoIB interface: no management, and only complete messages of a
    connection."""
    names = [n for n in w.order if not is_management(w[n])]
    names = [n for n in names if w[n].deth or w[n]["opcode"] & 0x1F == ib.ONLY]
    records = []
    for name in names:
        w.octets(name)  # lengths
        records.append(
            capfile.record(w.times[name], pseudo_header(w[name]) + bytes(w[name].payload))
        )
    return capfile.pcap(242, records, nanoseconds=True), names


def address(lid):
    return f"239.0.{lid >> 8}.{lid & 255}" if lid >= 0xC000 else f"10.1.{lid >> 8}.{lid & 255}"


def roce_frame(p):
    """RoCE v2 (IBA annex A17): no LRH, no GRH; the ports are IP addresses."""
    body = bytes(p.bth + p.deth + p.payload) + bytes(p["pad"])
    frame = ib.Frame(p["opcode"])
    frame.body = body
    return frame.roce2(address(p["slid"]), address(p["dlid"]))


def roce2(w):
    """As RoCE v2: connections and their management, and datagrams; there is no subnet manager."""
    names = [n for n in w.order if not is_management(w[n]) or w[n].payload[1] == ib.CLASS_CM]
    records = []
    for name in names:
        w.octets(name)
        records.append(capfile.record(w.times[name], roce_frame(w[name])))
    return capfile.pcap(1, records, nanoseconds=True), names


FORMS = {"early": infiniband, "late": infiniband, "erf": erf, "242": ipoib, "roce2": roce2}

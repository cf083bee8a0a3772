#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""on_wire.py PCAPNG WIRE: compares what ipoib-probe wrote about its connections with a capture of the wire.

The probe reconstructs the CM messages from the events of librdmacm, and splits messages into packets. The capture of the wire
(LINKTYPE 247) has the original packets."""
import struct
import sys

ERF_HEADER, LRH, GRH, BTH, DETH = 16, 8, 40, 12, 8
REQ, REJ, REP, RTU, DREQ, DREP = 0x10, 0x12, 0x13, 0x14, 0x15, 0x16
SENDS = (0, 1, 2, 4)  # RC; UC's are 0x20 above


def pcap(path):
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16 : at + 16 + size]
        at += 16 + size


def pcapng(path):
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28 + ERF_HEADER : at + 28 + captured]
        at += size


def number(octets):
    return int.from_bytes(octets, "big")


def message(mad):
    """The fields of a CM MAD that the probe can know; offsets of IBA 12.6, after the MAD header of 24 bytes."""
    kind, d = number(mad[16:18]), mad[24:]
    if kind == REQ:
        return (
            "REQ",
            d[8:16].hex(),
            number(d[32:35]),
            d[43] >> 1 & 3,
            d[47] & 7,
            d[48:50].hex(),
            d[52:56].hex(),
            d[56:88].hex(),
            d[140:148].hex(),
        ), (number(d[44:47]), d[50] >> 4, d[95] >> 3)
    if kind == REP:
        return ("REP", number(d[12:15]), number(d[20:23]), d[36:].hex()), None
    if kind == REJ:
        return ("REJ", d[8] >> 6, number(d[10:12]), d[84:].hex()), None
    if kind == DREQ:
        return ("DREQ", number(d[8:11])), None
    return ({RTU: "RTU", DREP: "DREP"}.get(kind, kind),), None


def read(packets):
    """Returns the CM messages without duplicates, and the connected packets of both directions by destination QPN."""
    messages, data, seen = [], {}, set()
    for p in packets:
        bth = LRH + (GRH if p[1] & 3 == 3 else 0)
        opcode, qpn, psn = p[bth], number(p[bth + 5 : bth + 8]), number(p[bth + 9 : bth + 12])
        pad = p[bth + 1] >> 4 & 3
        body = p[bth + BTH : number(p[4:6]) % 2048 * 4 - 4 - pad]
        if opcode == 0x64 and qpn == 1 and body[DETH + 1] == 7:
            mad = body[DETH:]
            key = (mad[16:18], mad[24:32], p[6:8])
            if key not in seen:
                seen.add(key)
                messages.append(message(mad))
        elif opcode & ~0x20 in SENDS and psn not in [one[1] for one in data.get(qpn, [])]:
            data.setdefault(qpn, []).append((opcode, psn, body.hex()))
    return messages, data


def main():
    (written, written_data), (wire, wire_data) = read(pcapng(sys.argv[1])), read(pcap(sys.argv[2]))
    good = len(written) == len(wire) and len(written) > 0
    for i, (a, b) in enumerate(zip(written, wire)):
        # PSN, path MTU and timeout of a REQ are known only after the REP
        accepted = a[1] and i + 1 < len(written) and written[i + 1][0][0] == "REP"
        if a[0] != b[0] or (accepted and a[1] != b[1]):
            print("written:", a, "on the wire:", b)
            good = False
    if written_data != wire_data or not written_data:
        print(
            "packets written to",
            {q: len(v) for q, v in written_data.items()},
            "on the wire to",
            {q: len(v) for q, v in wire_data.items()},
        )
        good = False
    print(
        len(written),
        "messages and",
        sum(map(len, written_data.values())),
        "packets written;",
        len(wire),
        "messages on the wire",
    )
    sys.exit(not good)


main()

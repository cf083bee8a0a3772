#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Classic pcap files for tests/wiretap.sh: an independent reader, and a maker of whole and damaged files.

  wiretap_pcap.py list FILE        a line per packet: time, captured octets, octets, MD5 sum (as of tshark)
  wiretap_pcap.py find TYPE FILE.. the files of link type TYPE ('other': all but 247)
  wiretap_pcap.py complete FILE    what a cut file holds: 'header', 'N' or 'N cut'
  wiretap_pcap.py make DIR         write the test files to DIR
"""
import gzip
import hashlib
import os
import struct
import sys

USEC, NSEC = 0xA1B2C3D4, 0xA1B23C4D
INFINIBAND, ETHERNET, ERF, UNASSIGNED = 247, 1, 197, 246


def header_of(data):
    """(byte order, units per second, link type) or None."""
    if len(data) < 24:
        return None
    for order in "<>":
        magic = struct.unpack(order + "I", data[:4])[0]
        if magic in (USEC, NSEC):
            linktype = struct.unpack(order + "I", data[20:24])[0] & 0xFFFF
            return order, 10**9 if magic == NSEC else 10**6, linktype
    return None


def records(data):
    """Yield (seconds, nanoseconds, packet, original length); then None if the file ends within a record."""
    order, units, _ = header_of(data)
    at = 24
    while at < len(data):
        if at + 16 > len(data):
            yield None
            return
        seconds, fraction, caplen, length = struct.unpack(order + "4I", data[at:at + 16])
        packet = data[at + 16:at + 16 + caplen]
        if len(packet) < caplen:
            yield None
            return
        yield seconds + fraction // units, fraction % units * (10**9 // units), packet, length
        at += 16 + caplen


def read(path):
    with open(path, "rb") as f:
        return f.read()


def show(path):
    for seconds, nanoseconds, packet, length in records(read(path)):
        print(f"{seconds}.{nanoseconds:09d}\t{len(packet)}\t{length}\t{hashlib.md5(packet).hexdigest()}")


def find(wanted, paths):
    for path in paths:
        header = header_of(read(path))
        if header and (header[2] != INFINIBAND if wanted == "other" else header[2] == int(wanted)):
            print(path)


def complete(path):
    data = read(path)
    if not header_of(data):
        print("header")
        return
    found = list(records(data))
    print(f"{len(found) - 1} cut" if found and found[-1] is None else len(found))


def file_of(packets, order="<", magic=NSEC, linktype=INFINIBAND, snaplen=65535, version=(2, 4)):
    """packets: (seconds, fraction, packet[, captured length to claim, original length to claim])."""
    data = struct.pack(order + "IHHiIII", magic, *version, 0, 0, snaplen, linktype)
    for seconds, fraction, packet, *claimed in packets:
        caplen, length = claimed or (len(packet), len(packet))
        data += struct.pack(order + "4I", seconds, fraction, caplen, length) + packet
    return data


def acknowledge(psn):
    """An RC Acknowledge: LRH (IBA 7.7), BTH (9.2), AETH (9.5), then room for ICRC and VCRC; 30 octets."""
    lrh = struct.pack(">BBHHH", 0x00, 0x02, 2, 7, 1)
    bth = struct.pack(">BBHII", 0x11, 0x00, 0xFFFF, 7, psn)
    return lrh + bth + struct.pack(">I", 0x1F000000) + bytes(6)


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o644)


def make_forms(folder):
    packets = [(1700000000 + n, 123456 + n, acknowledge(n)) for n in range(5)]
    for order, order_name in (("<", "little"), (">", "big")):
        for magic, unit_name in ((USEC, "usec"), (NSEC, "nsec")):
            write(folder, f"{order_name}-{unit_name}.pcap", file_of(packets, order, magic))
    write(folder, "native-nsec.pcap", file_of(packets, "="))
    return packets


def make_oddities(folder, packets):
    one = packets[0]
    write(folder, "fcs-bits.pcap", file_of(packets, linktype=INFINIBAND | 0x04000000 | 2 << 28))
    write(folder, "caplen-over-len.pcap", file_of([one + (30, 20), packets[1]]))
    write(folder, "no-octets.pcap", file_of([(1, 2, b"", 0, 30), (1, 3, b"", 0, 0), packets[1]]))
    write(folder, "snaplen-0.pcap", file_of(packets, snaplen=0))
    write(folder, "snaplen-huge.pcap", file_of(packets, snaplen=0xFFFFFFFF))
    long = [(10, 2500001, one[2]), (10, 0xFFFFFFFF, one[2])]
    write(folder, "long-fraction.pcap", file_of(long, magic=USEC))
    write(folder, "no-packets.pcap", file_of([]))
    write(folder, "late-time.pcap", file_of([(0xFFFFFFFF, 999999999, one[2])]))


def make_faults(folder, packets):
    seconds, fraction, packet = packets[0]
    for name, caplen, length in (("caplen-262145", 262145, 262145), ("caplen-2g", 0x80000000, 30),
                                 ("caplen-4g", 0xFFFFFFFF, 0xFFFFFFFF), ("len-2g", 30, 0x80000000),
                                 ("len-4g", 30, 0xFFFFFFFF)):
        write(folder, f"{name}.pcap", file_of([(seconds, fraction, packet, caplen, length)] + packets))
    write(folder, "reserved-bits.pcap", file_of(packets, linktype=INFINIBAND | 0x00010000))
    write(folder, "version-2.3.pcap", file_of(packets, version=(2, 3)))
    write(folder, "linktype-246.pcap", file_of(packets, linktype=UNASSIGNED))

    tiny = file_of(packets[:2], ">")
    write(folder, "tiny.pcap", tiny)
    write(folder, "cut-in-record.pcap", tiny[:-1])
    squeezed = gzip.compress(tiny, mtime=0)
    for at in range(len(squeezed)):
        write(folder, f"gzip-cut-{at:03d}.pcap.gz", squeezed[:at])
    for at in range(24 + 16):
        changed = bytearray(tiny)
        changed[at] ^= 0xFF
        write(folder, f"changed-{at:02d}.pcap", bytes(changed))


def make_others(folder):
    arp = bytes.fromhex("ffffffffffff 020000000001 0806 0001 0800 06 04 0001"
                        "020000000001 c0000201 000000000000 c0000202")
    write(folder, "ethernet.pcap", file_of([(1700000000, 5, arp)], magic=USEC, linktype=ETHERNET))
    # One ERF record of type 21 (InfiniBand): time, type, flags, rlen, lctr, wlen.
    erf = struct.pack("<Q", 1700000000 << 32) + struct.pack(">BBHHH", 21, 4, 16 + 30, 0, 30) + acknowledge(1)
    write(folder, "erf.pcap", file_of([(1700000000, 5, erf)], linktype=ERF))
    write(folder, "empty.pcap", b"")
    write(folder, "text.txt", b"not a capture\n")


def make(folder):
    packets = make_forms(folder)
    make_oddities(folder, packets)
    make_faults(folder, packets)
    make_others(folder)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "find":
        find(arguments[0], arguments[1:])
    else:
        {"list": show, "complete": complete, "make": make}[command](*arguments)

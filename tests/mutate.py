#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes bad captures out of good ones, and judges what tshark showed of the cut ones.

    mutate.py make OUTDIR [--every N] CAPTURE...    writes cut-*, short-*, fault-* captures by link type
    mutate.py subset INDEX FIELDS                   what cut frames show is what whole ones show
    mutate.py agree FIELDS1 FIELDS2 [COLUMN...]     the same rows in both, but for the named columns

FIELDS: output of tshark -T fields -E header=y -E aggregator=(octet 0x1e), frame.number first

cut    every frame whole and then at every length below its own, as a capture with a small snaplen has it
       (captured length < length); cut-*.index has the number of the whole frame for every frame
short  the same, but the length on the wire is cut too: frames that end early
fault  every frame with one octet inverted, and with one bit inverted, at every offset

CAPTURE is classic pcap; LINKTYPE 247 is written as pcapng, which stock Wireshark opens.  Of frames beyond
LONG octets, only the first and last of their lengths and offsets are used.  --every N takes every N-th of the
lengths.  Of a capture, the frames of one length are taken SAME times at most (the built ones: always).
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'frames'))
import ib                                                                               # noqa: E402

LONG, HEAD, TAIL, SAME = 400, 200, 24, 2
LINK_ERF, LINK_IB = 197, 247


def frames_of(path):
    """(link type, [(time, octets, wire length)]); ERF records without their header, as LINK_ERF."""
    link, records, _, _ = ib.read_pcap(path)
    built = os.path.basename(path).startswith('built-')
    seen, out = {}, []
    for t, data, wire in records:
        if link == LINK_ERF:
            if len(data) < 16 or data[8] & 0x7f != 21:
                continue
            data, wire = data[16:], struct.unpack('>H', data[14:16])[0]
        if len(data) != wire:
            continue                                    # cut already
        seen[wire] = seen.get(wire, 0) + 1
        if built or seen[wire] <= SAME:
            out.append((t, data, wire))
    return link, out


def places(n, every):
    """Which of the lengths (or offsets) 0 to n - 1 to use."""
    if n <= LONG:
        return range(0, n, every)
    return [*range(0, HEAD, every), *range(n - TAIL, n)]


def cut_frames(frames, every, shorten):
    """Records, and for each the number of the whole frame that it comes from."""
    records, index = [], []
    for t, data, wire in frames:
        records.append((t, data, wire))
        whole = len(records)
        index.append(whole)
        for n in places(len(data), every):
            records.append((t, data[:n], n if shorten else wire))
            index.append(whole)
    return records, index


def fault_frames(frames, every):
    records = []
    for t, data, wire in frames:
        for at in places(len(data), every):
            for mask in (0xff, 1 << at % 8):
                bad = bytearray(data)
                bad[at] ^= mask
                records.append((t, bytes(bad), wire))
    return records


def write(folder, name, link, records, index=None):
    records = [(ib_time(i), d, w) for i, (_, d, w) in enumerate(records)]
    if link == LINK_ERF:
        blob = ib.pcap(link, ib.erf_records(records))
    elif link == LINK_IB:
        blob = ib.pcapng(link, records)
    else:
        blob = ib.pcap(link, records)
    path = os.path.join(folder, '%s-%d.%s' % (name, link, 'pcapng' if link == LINK_IB else 'pcap'))
    with open(path, 'wb') as f:
        f.write(blob)
    if index:
        with open(os.path.splitext(path)[0] + '.index', 'w') as f:
            f.writelines('%d\n' % i for i in index)
    print('%s: %d frames' % (path, len(records)))


def ib_time(i):
    return 1_700_000_000 * 10**9 + i * 1000_000


def make(argv):
    folder, every = argv[0], 1
    captures = argv[1:]
    if captures[:1] == ['--every']:
        every, captures = int(captures[1]), captures[2:]
    by_link = {}
    for path in captures:
        link, frames = frames_of(path)
        by_link.setdefault(link, []).extend(frames)
    os.makedirs(folder, exist_ok=True)
    for link, frames in sorted(by_link.items()):
        records, index = cut_frames(frames, every, False)
        write(folder, 'cut', link, records, index)
        write(folder, 'short', link, cut_frames(frames, every, True)[0])
        write(folder, 'fault', link, fault_frames(frames, every))
    return 0


# ---- judging --------------------------------------------------------------------------------------


def rows(path):
    """Header (field names) and rows by frame number of a -T fields -E header=y output."""
    with open(path, encoding='utf-8', errors='replace') as f:
        lines = f.read().split('\n')
    head = lines[0].split('\t')
    out = {}
    for line in lines[1:]:
        cells = line.split('\t')
        if cells[0].isdigit():
            out[int(cells[0])] = cells
    return head, out


def report(complaints, shown=20):
    for c in complaints[:shown]:
        print(c)
    if len(complaints) > shown:
        print('... and %d more' % (len(complaints) - shown))
    return 1 if complaints else 0


SEND_FIRST = ('0', '32')                                # RC and UC SEND First (IBA 9.2.1)
TABLE = '0x92'                                          # SubnAdmGetTableResp (IBA 15.2.2)


def longest(table, index, whole, column):
    """The longest list of values that the whole frame or one of its cuts has."""
    values = [table[n][column] for n in range(whole, len(index) + 1) if index[n - 1] == whole and n in table]
    return max(values, key=lambda v: v.count('\x1e') + bool(v))


def in_order(got, ref):
    """Whether 'got' is 'ref' with some values left out."""
    rest = iter(ref)
    return all(g in rest for g in got)


def subset(argv):
    """Each field of a cut frame has the first values of the same field of the whole frame, or none.

    A SEND First that can be put together with its Last shows its packet there; cut, it shows its own
    beginning.  Its cuts are held against the longest of them instead.  A segment of a table that comes again,
    cut, need not show the record that began in the segment before it: there, values may be missing.
    """
    with open(argv[0]) as f:
        index = [int(x) for x in f]
    head, table = rows(argv[1])
    opcode, method = head.index('infiniband.bth.opcode'), head.index('infiniband.mad.method')
    complaints, shown_fields, refs = [], 0, {}
    if len(table) != len(index):
        complaints.append('%d frames shown of %d' % (len(table), len(index)))
    for number, whole in enumerate(index, 1):
        if number not in table or whole not in table or number == whole:
            continue
        if whole not in refs:
            first = table[whole][opcode] in SEND_FIRST
            refs = {whole: table[whole]}
            if first:
                refs[whole] = [longest(table, index, whole, c) for c in range(len(head))]
        for name, got, ref in zip(head[1:], table[number][1:], refs[whole][1:]):
            if not got:
                continue
            shown_fields += 1
            got, ref = got.split('\x1e'), ref.split('\x1e') if ref else []
            good = in_order(got, ref) if table[whole][method] == TABLE else got == ref[:len(got)]
            if not good:
                complaints.append('frame %d (of %d) %s: %s, whole frame has %s' %
                                  (number, whole, name, ','.join(got), ','.join(ref) or 'nothing'))
    if not shown_fields and not complaints:
        complaints.append('no field in any cut frame: nothing was tested')
    return report(complaints)


def agree(argv):
    head, one = rows(argv[0])
    head2, two = rows(argv[1])
    skip = set(argv[2:])
    complaints = [] if head == head2 else ['other columns']
    if not one:
        complaints.append('no frames: nothing was tested')
    for number in sorted(set(one) & set(two)):
        for name, a, b in zip(head, one[number], two[number]):
            if a != b and name not in skip:
                a, b = (v.replace('\x1e', ',') or 'nothing' for v in (a, b))
                complaints.append('frame %d %s: %s and %s' % (number, name, a, b))
    lost = set(two) - set(one)
    if lost:
        complaints.append('frames in one output only: %s' % sorted(lost)[:10])
    return report(complaints)


def main(argv):
    verbs = {'make': (make, 2, None), 'subset': (subset, 2, 2), 'agree': (agree, 2, None)}
    verb, least, most = verbs.get(argv[1] if len(argv) > 1 else '', (None, 0, 0))
    rest = argv[2:]
    if not verb or len(rest) < least or (most is not None and len(rest) > most):
        print(__doc__, file=sys.stderr)
        return 2
    return verb(rest)


if __name__ == '__main__':
    sys.exit(main(sys.argv))

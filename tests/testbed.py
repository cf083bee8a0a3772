#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: machine
# test: here-only
# test: timeout=1800
"""The virtual fabric itself: what its switches, faults and sniffing HCAs do to packets, seen in what scenarios of testbed/
leave behind. Output is TAP.

  tests/testbed.py [SCENARIO...]      default: all that have a check here

Environment: IPOIB_SRC (source tree), IPOIB_BIN (folder of ipoib-capture).
"""
import binascii
import collections
import os
import re
import struct
import subprocess
import sys
import tempfile

SRC = os.environ.get('IPOIB_SRC') or os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BIN = os.environ.get('IPOIB_BIN') or os.path.join(SRC, 'build', 'bin')
NO_MACHINE = 125    # exit status of testbed/fabric
number = failures = 0


def tap(ok, what, detail=''):
    global number, failures
    number += 1
    failures += not ok
    print('%sok %u - %s' % ('' if ok else 'not ', number, what), flush=True)
    for line in () if ok else str(detail).splitlines()[-30:]:
        print('#', line)


def skip(what, reason):
    global number
    number += 1
    print('ok %u - %s # SKIP %s' % (number, what, reason), flush=True)


def equal(found, expected, what):
    tap(found == expected, what, 'found %s, expected %s' % (found, expected))


# --- captures

def records(name):
    """The records of a pcap file, without their headers."""
    with open(name, 'rb') as f:
        data = f.read()
    at = 24
    while at < len(data):
        length, = struct.unpack_from('<I', data, at + 8)
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def lids(packet):
    """(source, destination)"""
    return struct.unpack_from('>H', packet, 6)[0], struct.unpack_from('>H', packet, 2)[0]


def echo_requests(packets):
    """The sequence numbers of the ICMP echo requests over UD without GRH, as they came, for each ping (identifier)."""
    pings = {}
    for p in packets:
        if p[1] & 3 == 2 and p[8] == 0x64 and p[28:32] == b'\x08\0\0\0' and p[41] == 1 and p[52] == 8:
            identifier, sequence = struct.unpack_from('>HH', p, 56)
            pings.setdefault(identifier, []).append(sequence)
    return list(pings.values())


def vcrc(octets):
    """CRC-16 of polynomial 0x100B, bit by bit (IBA 7.8.2)."""
    crc = 0xffff
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0xd008 if crc & 1 else 0)
    return crc ^ 0xffff


def icrc(packet):
    """The Ethernet's CRC-32 over what no switch or router changes (IBA 7.8.1); for packets without a GRH."""
    masked = bytearray(packet[:-6])
    masked[0] |= 0xf0
    masked[12] = 0xff
    return binascii.crc32(masked)


def crcs_right(packet):
    """(ICRC, VCRC)"""
    return (struct.unpack_from('<I', packet, len(packet) - 6)[0] == icrc(packet),
            struct.unpack_from('<H', packet, len(packet) - 2)[0] == vcrc(packet[:-2]))


# --- checks of what a scenario left: its folder, and what it said

def check_chain(out, said):
    packets = list(records(out + '/chain.pcap'))
    lid = {h: int(n, 16) for h, n in re.findall(r'^LID of (h\d) (0x[0-9a-f]+)$', said, re.M)}
    for a, b, links in (('h0', 'h1', 2), ('h0', 'h2', 3), ('h0', 'h3', 4)):
        seen = collections.Counter(p for p in packets if lids(p) == (lid[a], lid[b]) and p[0] >> 4 != 15)
        whole = sum(n == links for n in seen.values())     # one or the other was under way while the cable was out
        tap(whole >= 3 and len(seen) - whole <= 3 and max(seen.values()) == links,
            'each packet from %s to %s is on %u links, unchanged' % (a, b, links), collections.Counter(seen.values()))


def check_damage(out, said):
    packets = [p for p in records(out + '/damage.pcap') if p[1] & 3 == 2]
    counted = re.search(r'damaged (\d+), bad VCRC at the switch (\d+), bad ICRC at h1 (\d+)', said)
    on_cable = sum(not crcs_right(p)[1] for p in packets)
    in_device = sum(crcs_right(p) == (False, True) for p in packets)
    equal(on_cable, int(counted.group(2)), 'as many packets have a wrong VCRC as the switch has dropped')
    equal(in_device, int(counted.group(3)), 'as many have only a wrong ICRC as the HCA has dropped')
    equal(sum(crcs_right(p) != (True, True) for p in packets), int(counted.group(1)), 'no other packet has a wrong CRC')


def check_disorder(out, _):
    pings = echo_requests(records(out + '/disorder.pcap'))
    tap(len(pings) == 5, 'five pings', pings)
    delayed, twice, late, lost, last = pings
    equal(delayed + last, [1, 2, 3, 1, 2], 'a delay changes nothing else, and at the end all is in order')
    tap(len(twice) > 52 and sorted(set(twice)) == list(range(1, 51)) and twice == sorted(twice),
        'some come twice, in order', twice)
    tap(late != sorted(late) and sorted(late) == list(range(1, 51)), 'some come late, none is lost', late)
    missing = [n for n in range(1, 11) if n not in lost]     # ARP may have been among the three that drop_next took
    tap(missing and missing == [1, 2, 3][:len(missing)], 'the next ones are missing where drop_next was set', missing)


def check_sniffer(out, _):
    wire = list(records(out + '/sniffer.pcap'))
    sniffed = [r[16:] for r in records(out + '/sniffer.erf')]      # ERF header
    tap(len(sniffed) > 30 and sniffed[0] in wire, 'frames were sniffed, and were on the wire', len(sniffed))
    equal([p.hex() for p in sniffed], [p.hex() for p in wire[wire.index(sniffed[0]):]],
          'from the first on they are what was on the wire, in its order, octet for octet')


SCENARIOS = {   # what is run, its arguments, what is checked beyond its exit status
    'chain': ([], check_chain),
    'cable': ([], None),
    'damage': ([], check_damage),
    'disorder': ([], check_disorder),
    'enforcement': ([], None),
    'topologies': ([], None),
    'sniffer': ([os.path.join(BIN, 'ipoib-capture')], check_sniffer),
    'soak': ([], None),
}


def can_sniff():
    run = subprocess.run([os.path.join(BIN, 'ipoib-capture'), '--help'], stdout=subprocess.PIPE, text=True, check=False)
    return '--mode=sniffer' in run.stdout


def run_scenario(name):
    arguments, check = SCENARIOS[name]
    if name == 'sniffer' and not can_sniff():
        skip(name, 'this build of ipoib-capture has no sniffer (libibverbs was missing)')
        return
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run([SRC + '/testbed/fabric', 'once', SRC + '/testbed/scenarios/%s.sh' % name, out] + arguments,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors='replace', env=dict(os.environ, FABRIC_TIMEOUT='600'), check=False)
        if run.returncode == NO_MACHINE and 'the machine' not in run.stdout:
            skip(name, run.stdout.strip().splitlines()[-1])
            return
        tap(run.returncode == 0, 'scenario %s does as it says' % name, run.stdout)
        if run.returncode == 0 and check:
            check(out, run.stdout)


def main():
    for name in sys.argv[1:] or SCENARIOS:
        run_scenario(name)
    print('1..%u' % number)
    sys.exit(failures > 0)


if __name__ == '__main__':
    main()

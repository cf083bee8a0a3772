#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the judge finds in testdata: on real Linux traffic its known deviations and nothing else, in the built captures
the faults that were built in, each counted by hand from testdata/README.md and tests/frames/build.py.

Environment: IPOIB_SRC, IPOIB_BUILD. Output: TAP."""
import glob
import os
import subprocess
import sys
import tempfile

from tap import BUILD, SRC, finish, skip, tap

sys.path.insert(0, os.path.join(SRC, "tests/frames"))
import edit  # noqa: E402
import ib  # noqa: E402

NOT_READ = 3  # exit status of findings: libpcap cannot read the capture
SERVICE_ID, UD_QPN, PRIVATE = "rfc4755.3.5.service-id", "rfc4755.3.2.ud-qpn-in-private-data", "rfc4755.6.private-data"
TRAPS = "rfc4391.10.subscribe-traps"
QKEY, QKEYS = "rfc4391.4.1.qkey-controlled", "rfc4391.13.qkey-controlled"
LIFE, OVER_UD = "rfc4391.10.group-other-attributes", "rfc4755.7.resolution-over-ud"


def linux(**counts):
    """How often which deviation is told: of connections by message (reqs, rtus, rejs), of partitions that send (qkeys),
    whose broadcast group's record is seen (joined), of groups whose records are seen (groups), of senders (senders)."""
    n = {k: counts.get(k, 0) for k in ("reqs", "rtus", "rejs", "qkeys", "joined", "groups", "senders", "nd")}
    told = {SERVICE_ID: n["reqs"], UD_QPN: n["rtus"] + n["rejs"], PRIVATE: n["rtus"], QKEYS: n["qkeys"], QKEY: n["joined"],
            LIFE: n["groups"], TRAPS: n["senders"], OVER_UD: n["nd"]}
    return {k: v for k, v in told.items() if v}


# What is known to deviate, in the captures that are described in testdata/README.md.
DEVIATIONS = {
    # joins of n1: all-nodes twice, solicited-node, MLDv2, all-routers; datagram: IGMPv3 and the two groups of 69-78 too
    "datagram.pcap": linux(qkeys=1, joined=1, groups=8, senders=1),
    "connected.pcap": linux(reqs=2, rtus=2, qkeys=1, joined=1, groups=5, senders=1, nd=2),  # NA 86, NA 106
    "mixed.pcap": linux(reqs=1, rtus=1, qkeys=1, joined=1, groups=5, senders=1),
    "loss.pcap": linux(reqs=4, rtus=4, qkeys=1),
    "retransmit.pcap": linux(reqs=2, rtus=2, qkeys=1),
    "foreign.pcap": linux(qkeys=1),
    # REQs 5, 11, 17, 35, 37, 39 have Linux's form, 3 the RFC's; RTUs 13, 19; REJs 4, 6, 36, 38, 40; 17's private data is 0
    "cm-reject.pcap": linux(reqs=6, rtus=2, rejs=5, qkeys=1),
    # three partitions: joins of n1 in each, of n2 in the default one; both n1 and n2 send
    "partitions.pcap": linux(qkeys=3, joined=3, groups=16, senders=2),
    # n1, n2, n3: their solicited-node groups, all-nodes twice, MLDv2, IGMPv3, all-routers, 239.10.20.30 to .32, ff15::10:20
    "switch4.pcap": linux(qkeys=1, joined=1, groups=12, senders=3),
}

# The faults that were built in.
FAILURES = {
    "built-arp.pcap": {"rfc4391.9.1.1.reserved-flags": 1},            # 10: flags 0x3f
    "built-arp-faults.pcap": {"rfc4391.9.2.arp-hardware-type": 2,     # 2, 3
                              "rfc4391.9.2.arp-hardware-length": 2,   # 1, 4
                              "rfc4391.9.1.1.format": 1},             # 6
    "built-encap.pcap": {"rfc4391.6.reserved-zero": 1},
    "built-lengths.pcap": {"rfc4391.6.encapsulation-header": 3,       # 8 to 10: 1 to 3 octets
                           "rfc4391.9.1.1.format": 1},                # 13
    "built-mgid.pcap": {"rfc4391.4.mgid-t-flag": 1,                   # 6
                        "rfc4391.4.mgid-format": 1,                   # 10
                        "rfc4391.4.mgid-group-id-ipv4": 1},           # 9: a report to 224.0.0.22 on 239.255.1.2's group
    "built-nd-faults.pcap": {"rfc4391.9.3.nd-option-length": 3,       # 2, 5, 6
                             "rfc4391.9.3.nd-option-padding": 1},     # 1
    "built-cm-linux.pcap": {"rfc4755.6.reserved-zero": 2},            # 7, 8
}
FAILURES["cm-reject.pcap"] = {PRIVATE: 1}  # 17: a program's REQ whose private data is all zero
# A scope beyond the link is the administrator's choice, against a SHOULD.
FAILURES["two-scopes.pcap"] = {"rfc4391.4.1.scope-link-local": 1}


def with_reserved(icrc):
    """datagram.pcap, frame 45 (LRH, BTH, DETH: 28 octets) with a Reserved field of 0x1234, and that ICRC or as it was."""
    data, at = bytearray(open(os.path.join(SRC, "testdata/datagram.pcap"), "rb").read()), 24
    for _ in range(44):
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
    length = int.from_bytes(data[at + 8:at + 12], "little")
    data[at + 16 + 30:at + 16 + 32] = b"\x12\x34"
    if icrc is not None:
        data[at + 16 + length - 6:at + 16 + length - 2] = icrc
    return data


def damaged_first():
    """datagram.pcap: n0's ARP reply in 86 has the RC flag and a reserved one; before it, the same with a wrong ICRC."""
    t = edit.Tape(os.path.join(SRC, "testdata/datagram.pcap"))
    t[86]["arp.sha.flags"] = 0x81
    t.insert(85, t[86].copy())
    records = [ib.rec(f.time, f.octets()) for f in t.frames]
    time, octets, *rest = records[85]
    records[85] = (time, octets[:-6] + bytes([octets[-6] ^ 0xff]) + octets[-5:], *rest)
    return ib.pcap(edit.LINKTYPE_INFINIBAND, records, ns=True)


def run_on(octets, *options):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        f.write(octets)
        f.flush()
        return subprocess.run([os.path.join(BUILD, "bin/findings"), *options, f.name], capture_output=True, text=True).stdout.splitlines()


def counted(octets, rule):
    """(failures, inconclusive) of a rule in a capture's octets."""
    row = next(line.split() for line in run_on(octets) if line.startswith(rule + " "))
    return int(row[2]), int(row[4])


def frames(octets, rule, outcome):
    rows = (line.split("\t") for line in run_on(octets, "--deviations", "none", "--frames"))
    return [int(row[0]) for row in rows if row[1:3] == [rule, outcome]]


def left_one_of_two():
    """datagram.pcap: n1 leaves the group of 224.0.0.22 behind 72, as in 114 and 116, but goes on to report to it, between
    reports to ff02::16, the same low 32 bits, which it has not left."""
    t = edit.Tape(os.path.join(SRC, "testdata/datagram.pcap"))
    t.insert(t.insert(72, t[114].copy()), t[116].copy())
    t.renumber(2)
    return t.pcap()


def twins():
    """datagram.pcap with both forms of the default P_Key, and no other, in n1's table."""
    t = edit.Tape(os.path.join(SRC, "testdata/datagram.pcap"))
    t[8]["pkeys.0"], t[8]["pkeys.1"], t[8]["pkeys.2"] = 0xffff, 0x7fff, 0
    return t.pcap()


def old_request(seconds):
    """connected.pcap: n1's REQ (50) is the first, its answer is not in the capture; n0's (45, REP 46) comes that much later."""
    t = edit.Tape(os.path.join(SRC, "testdata/connected.pcap"))
    t.keep((1, 46), 48, 50)
    t.move(50, 44)
    for slid in (1, 2):
        t.renumber(slid)
    t.shift(45, seconds)
    return t.pcap()


def cut_requests():
    """connected.pcap, no frame longer than 150 octets: both REQs end before their private data."""
    t = edit.Tape(os.path.join(SRC, "testdata/connected.pcap"))
    return ib.pcap(edit.LINKTYPE_INFINIBAND, [ib.rec(f.time, f.octets(), 150) for f in t.frames], ns=True)


def check_connections():
    found = [frames(old_request(seconds), "rfc4755.3.3.simultaneous", "fail") for seconds in (0, 3600)]
    tap(found == [[47], []], "a REQ of an hour ago crosses no other", "REP for REJ in frames %s, an hour later %s" % tuple(found))
    counts = counted(cut_requests(), "rfc4755.3.2.ud-qpn-in-private-data")
    tap(counts == (0, 2), "REQs that the capture cut are inconclusive", "failures and inconclusive: %d, %d" % counts)


def check_told_once():
    found = frames(left_one_of_two(), "rfc4391.10.join-before-send", "fail")
    tap(found == [75], "what is told of a port and a group is that group's alone", "told in frames %s" % found)
    found = [frames(twins(), rule, "noted") for rule in ("partition.membership-twins", "partition.overlap")]
    tap(found[0] and not found[1], "both forms of a P_Key are one partition", "twins noted in %s, overlap in %s" % tuple(found))


def check_damage():
    """A packet whose ICRC is wrong was dropped by its receiver: nobody is at fault; with an ICRC of 0 nobody knows."""
    counts = [counted(with_reserved(icrc), "rfc4391.6.reserved-zero") for icrc in (None, bytes(4))]
    tap(counts == [(0, 1), (1, 0)], "a damaged packet is nobody's fault",
        "failures and inconclusive with a wrong ICRC, and without one: %s" % counts)
    counts = counted(damaged_first(), "rfc4755.3.1.flags")
    tap(counts == (1, 1), "a damaged packet does not hide the same fault in a whole one", "failures and inconclusive: %d, %d" % counts)


def main():
    captures = sorted(glob.glob(os.path.join(SRC, "testdata/*.pcap")) + glob.glob(os.path.join(SRC, "testdata/built/*.pcap")))
    passes = 0
    for capture in captures:
        name = os.path.basename(capture)
        out = subprocess.run([os.path.join(BUILD, "bin/findings"), "--deviations", "linux", capture], capture_output=True, text=True)
        if out.returncode == NOT_READ:
            skip(name, "libpcap cannot read it")
            continue
        failed, deviated = {}, {}
        for line in out.stdout.splitlines():
            rule, passed, fails, deviations, *_ = line.split()
            passes += int(passed)
            if int(fails):
                failed[rule] = int(fails)
            if int(deviations):
                deviated[rule] = int(deviations)
        good = out.returncode == 0 and failed == FAILURES.get(name, {}) and deviated == DEVIATIONS.get(name, deviated)
        tap(good, name, ["expected to fail %s, to deviate %s" % (FAILURES.get(name, {}), DEVIATIONS.get(name)),
                         "failed %s, deviated %s %s" % (failed, deviated, out.stderr.strip()[:500])])
    check_damage()
    check_told_once()
    check_connections()
    if passes < 1000:
        tap(False, "enough checks pass for a test", "only %d" % passes)
    return finish()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model must not take for something else: conformant captures in which it once could, and no rule fails in them.

Each function makes a capture, in which nobody does anything wrong, from real frames or from none; it says what shows that
the judge looked: a rule that passes so many times, or faults that are put into a copy of it and must be found.

Environment: IPOIB_SRC, IPOIB_BUILD. Output: TAP."""
import os
import subprocess
import sys
import tempfile

from tap import BUILD, SRC, finish, run_tests, test

sys.path.insert(0, os.path.join(SRC, "tests/frames"))
import ib  # noqa: E402
from build import A, B, C, D, QKEY, Tape, arp_reply, erf_pcap, nd6, ping, solicited_node, ud_frame  # noqa: E402
from ib import ONLY, UD, Frame  # noqa: E402

HOUR = 3600 * 1000
ETHERNET = 1


def findings(capture, *options):
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        f.write(capture)
        f.flush()
        out = subprocess.run([os.path.join(BUILD, "bin/findings"), "--deviations", "linux", *options, f.name], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout.splitlines()


def failures(capture):
    """[(frame, rule)]"""
    rows = (line.split("\t") for line in findings(capture, "--frames"))
    return [(int(row[0]), row[1]) for row in rows if row[2] == "fail"]


def passes(capture, rule):
    rows = (line.split() for line in findings(capture))
    return {row[0]: int(row[1]) for row in rows}.get(rule, 0)


def conforms(capture):
    failed = failures(capture)
    assert not failed, failed


# ---- who is who on RoCE v2


def other_protocol(srcqp):
    """A datagram of 2 octets, which no encapsulation header has room in."""
    return Frame(UD | ONLY, b"\x01\x02", destqp=0x99, psn=7, qkey=QKEY, srcqp=srcqp)


def roce2(*others):
    t = Tape()
    t.put(ud_frame(A, B, arp_reply(A, B), 1).roce2("10.1.0.1", "10.1.0.2"))
    t.put(ud_frame(A, B, ping(A, B), 2).roce2("10.1.0.1", "10.1.0.2"))
    for frame, src, dst in others:
        t.put(frame.roce2(src, dst))
    return ib.pcap(ETHERNET, t.records)


@test("RoCE v2: the QPs of one host are not those of another")
def roce2_hosts():
    conforms(roce2((other_protocol(A.qpn), "10.1.0.3", "10.1.0.4")))
    assert (3, "rfc4391.6.encapsulation-header") in failures(roce2((other_protocol(A.qpn), "10.1.0.1", "10.1.0.4")))


# ---- an IP moves


def solicitation(src, ip, target):
    sn = solicited_node(target.ll)
    return nd6(ip, sn, ib.nd_ns(target.ll, ib.nd_lladdr_option(1, src.addr)))


def fail_over(answer_to):
    """A service's address is A's, then B's, which says so as RFC 4861 §7.2.6 has it; each asks C, which answers."""
    t, service, group = Tape(), "fd00::9", ib.mgid_ipv6(solicited_node(C.ll))

    def answer(to):
        t.ud(C, to, nd6(C.ll, service, ib.nd_na(C.ll, ib.nd_lladdr_option(2, C.addr))))
    t.ud(A, group, solicitation(A, service, C), mlid=0xc003)
    answer(A)
    news = nd6(service, "ff02::1", ib.nd_na(service, ib.nd_lladdr_option(2, B.addr), flags=0x20000000))
    t.put(ud_frame(B, ib.mgid_ipv6("ff02::1"), news, 50, mlid=0xc002).ib(), ms=HOUR)
    t.ud(B, group, solicitation(B, service, C), mlid=0xc003)
    answer(answer_to)
    return erf_pcap(t)


@test("an IP that moved to another port is answered there, or, if it has just moved, where it was")
def ip_moves():
    for node in (A, B):
        conforms(fail_over(node))
    assert (5, "rfc4391.9.1.1.traffic-to-qpn") in failures(fail_over(D))


if __name__ == "__main__":
    run_tests()
    sys.exit(finish())

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
import edit  # noqa: E402
import fixture  # noqa: E402
import ib  # noqa: E402
from bases import CONSUMER_REJECT, N1  # noqa: E402
from build import (A, B, C, D, QKEY, SM, Connection, Tape, arp_reply, erf_pcap, mad_frame, nd6, ping,  # noqa: E402
                   solicited_node, ud_frame)
from ib import ONLY, RC, UD, Frame, encap  # noqa: E402

HOUR = 3600 * 1000
ETHERNET = 1
NO_RECORDS = 0x0300         # IBA 15.2.1.2: ERR_NO_RECORDS
MCM_PORT_GID = 56 + 16      # in the MAD


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


# ---- what subnet management and administration tell


def own_gsi(frame, lid):
    p = frame.packet
    return p.deth and p["srcqp"] == 1 and p["slid"] == lid


def count_on(t, frame, lid):
    """One more was sent by the GSI of this port before the frame: its PSNs count up by it (IBA 9.8.2.2)."""
    for f in t.frames[t.number(frame) - 1:]:
        if own_gsi(f, lid):
            f.packet["psn"] += 1


def moved_host(own_table=b""):
    """switch4.pcap up to n1's join: n1 is moved to the switch's port 5, and to port 2, where it was, comes a host that is in
    another partition alone. The subnet manager asks both; n1 joins again. own_table: what it finds in n1's."""
    t = fixture.tape("switch4.pcap")
    t.keep((1, 133))
    at, tid = t.frame(133), 0x1500002000

    def answer(number, port, **octets):
        nonlocal at, tid
        p = t[number].copy()
        p["mad.tid"], tid = tid, tid + 1
        p.payload[edit_at("path") + 2] = port
        for part, new in octets.items():
            p.payload[edit_at(part):edit_at(part) + len(new)] = new
        at = t.insert(at, p)
    for number in (30, 104):                # NodeInfo; PortInfo, with its LID
        answer(number, 5)
    answer(50, 5, data=own_table)           # P_KeyTable
    answer(30, 2, node_guid=bytes.fromhex("0011750000009900"), port_guid=bytes.fromhex("0011750000009910"))
    answer(45, 2)                           # PortInfo of one that has no LID so far
    answer(50, 2, data=b"\x80\x01")
    join = t[132].copy()
    join["mad.tid"] += 0x100
    join["psn"] += 1
    at = t.insert(at, join)
    return t.pcap(), t.number(at)


def edit_at(part):
    """Where it is in a directed-route SMP (IBA 14.2.1.2, 14.2.5.3)."""
    return {"data": 64, "node_guid": 64 + 12, "port_guid": 64 + 20, "path": 128}[part]


@test("another node at the end of a route is not the port that was there before")
def another_node():
    capture, _ = moved_host()
    conforms(capture)
    capture, join = moved_host(own_table=b"\x80\x01")
    assert (join, "rfc4391.5.pkey-configured") in failures(capture)


def after_leave(alias=None, missed=True):
    """datagram.pcap, and n1 sends to 239.1.2.3, which it had left; if its new join was missed, the PSNs of its GSI tell.
    alias: what another GID at n1's LID does before, "join" or "ask" whether it is in a group."""
    t = fixture.tape("datagram.pcap")
    if alias:
        question, answer = t[19].copy(), t[20].copy()
        for p in (question, answer):
            p.payload[MCM_PORT_GID:MCM_PORT_GID + 16] = ib.gid("fe80::11:7500:0:111")
            p["mad.tid"] += 0x100
        if alias == "ask":
            question["mad.method"], question["sa.mask"], answer["mad.status"] = ib.GET, ib.MCM["mgid"] | ib.MCM["port_gid"], NO_RECORDS
        question = t.insert(94, question)
        answer = t.insert(question, answer)
        for frame in (question, answer):
            lid = frame.packet["slid"]
            before = max(f.packet["psn"] for f in t.frames[:t.number(frame) - 1] if own_gsi(f, lid))
            count_on(t, frame, lid)
            frame.packet["psn"] = before + 1
    later = next(f for f in t.frames if f.origin and f.origin >= 104 and own_gsi(f, N1.lid))
    if missed:
        count_on(t, later, N1.lid)
    p = t[79].copy()
    p.set(slid=N1.lid, sgid=N1.gid, srcqp=N1.qpn)
    p["ipv4.src"] = N1.ip
    p.fix_checksums()
    sent = t.insert(later, p)
    return t.pcap(), t.number(sent)


@test("a GID at the LID of a port that has a name is another name of it")
def aliases():
    for alias in (None, "join", "ask"):
        conforms(after_leave(alias)[0])
        capture, sent = after_leave(alias, missed=False)
        assert (sent, "rfc4391.10.join-before-send") in failures(capture), alias


def no_records(mask):
    """The SA has no such record; then A sends to the group. mask: what C had asked for; None: that was not captured."""
    t, group = Tape(), ib.mgid_ipv4("239.1.2.3")
    record = ib.mcmember(group, D.gid)
    if mask:
        t.put(mad_frame(C, SM, ib.sa_mad(ib.GET, 0x55, ib.ATTR_MC_MEMBER, record, mask=mask), 1).ib())
    t.put(mad_frame(SM, C, ib.sa_mad(ib.GET_RESP, 0x55, ib.ATTR_MC_MEMBER, record, mask=mask or 0, status=NO_RECORDS), 1).ib())
    t.ud(A, group, encap(0x0800, ib.ipv4(A.ip, "239.1.2.3", 17, ib.udp(A.ip, "239.1.2.3", 9, 9, b"1234"), ttl=1)), mlid=0xc005)
    return erf_pcap(t)


@test("that the SA has no record is said of a group only where it was asked for the group alone")
def records_of_what():
    conforms(no_records(None))
    conforms(no_records(ib.MCM["mgid"] | ib.MCM["port_gid"]))
    assert (3, "rfc4391.10.group-before-use") in failures(no_records(ib.MCM["mgid"]))


# ---- damaged packets


QKEY_LOW = 8 + 12 + 8 + 56 + 35     # in a MCMemberRecord's packet without GRH, the last octet of the Q_Key


def records():
    return ib.read_pcap(os.path.join(SRC, "testdata/datagram.pcap"))[1]


def flipped(octets, at):
    return octets[:at] + bytes([octets[at] ^ 0x40]) + octets[at + 1:]


def real(frames):
    return ib.pcap(edit.LINKTYPE_INFINIBAND, frames, ns=True)


def with_copies(*copies):
    """datagram.pcap, with a copy right behind each of these frames in which one bit is another: (frame, octet)."""
    frames = records()
    for number, at in sorted(copies, reverse=True):
        time, octets, wire = frames[number - 1]
        frames.insert(number, (time + 1, flipped(octets, at), wire))
    return real(frames)


@test("nothing is learnt from a packet that was damaged on its way")
def damaged():
    conforms(with_copies((20, QKEY_LOW)))       # n1's join of the broadcast group, answered
    for number in (41, 44, 60):                 # ARP request and reply, neighbour advertisement: each bit of the address counts
        size = len(records()[number - 1][1])
        for at in range(size - 6 - 48, size - 6):
            conforms(with_copies((number, at)))
    t = fixture.tape("datagram.pcap")
    t[20]["mcm.qkey"] ^= 0x40
    assert failures(t.pcap())


@test("of a source whose ICRCs are never right, all is learnt")
def other_icrcs():
    whole = [(time, octets[:-6] + b"\x12\x34\x56\x78" + octets[-2:], wire) for time, octets, wire in records()]
    for rule in "rfc4391.10.join-before-send", "rfc4391.10.group-attributes", "rfc4391.9.1.1.traffic-to-qpn":
        assert passes(real(whole), rule) == passes(real(records()), rule) > 0, rule
    conforms(real(whole))


# ---- behind a connection's end


def ended(refused, *payloads, ms=HOUR):
    """An IPoIB connection is refused, or carries a datagram and is ended; then there is more at the asker's QP."""
    t = Tape()
    c = Connection(t, ids=(0xa0000001, 0) if refused else (0xa0000001, 0xb0000001))
    if refused:
        c.req(ib.service_id_linux(B.qpn), ib.private_data(A.qpn, 2048))
        c.rej(CONSUMER_REJECT, ib.private_data(B.qpn, 0))
    else:
        c.set_up()
        c.send(False, ping(B, A))
        c.dreq()
        c.drep()
    for n, payload in enumerate(payloads):
        t.put(Frame(RC | ONLY, payload, dlid=A.lid, slid=B.lid, destqp=c.qps[0], psn=0x333 + n, ackreq=1).ib(), ms=ms)
    return erf_pcap(t), len(t.records)


@test("the QP of a connection that is over may be another program's, whose set-up needs no CM")
def other_program():
    for refused in (False, True):
        conforms(ended(refused, b"\x01\x02\x03", ib.fill(64, 9))[0])


@test("what looks like IPoIB behind a connection's end is judged: it was on its way, or nobody may send it")
def under_way():
    capture, last = ended(False, encap(0x0800, ib.ping4(B.ip, "239.1.2.3")), ms=1)
    assert (last, "rfc4755.2.1.multicast-over-ud") in failures(capture)
    capture, last = ended(True, ping(B, A), ms=1)
    assert failures(capture) == [(last, "rfc4755.2.3.connection-before-ip")], failures(capture)


if __name__ == "__main__":
    run_tests()
    sys.exit(finish())

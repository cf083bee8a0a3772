# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fabric's switches, faults and sniffing HCAs do to packets, seen in what scenarios of testbed/ leave behind, beyond
what the scenarios themselves look at. Called by scenarios.py.

check_NAME(folder, said) is of the scenario NAME: its folder, and what it printed. It gives (ok, what, words to explain)."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "frames"))
import ib  # noqa: E402  (builds frames from the IBA alone; knows nothing of our module)

LONGEST = ["cluster", "multicast", "dull", "soak", "qpn-change", "port-reset", "sm-failover"]   # measured


def result(ok, what, detail=""):
    return ok, what, [] if ok else str(detail).splitlines()[-30:]


def equal(found, expected, what):
    return result(found == expected, what, "found %s, expected %s" % (found, expected))


# --- captures

def records(name):
    """The records of a pcap or ERF-in-pcap file, without their headers."""
    with open(name, "rb") as f:
        data = f.read()
    at = 24
    while at < len(data):
        length, = struct.unpack_from("<I", data, at + 8)
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def lids(packet):
    """(source, destination)"""
    return struct.unpack_from(">H", packet, 6)[0], struct.unpack_from(">H", packet, 2)[0]


def echo_requests(packets):
    """The sequence numbers of the ICMP echo requests over UD without GRH, as they came, for each ping (identifier)."""
    pings = {}
    for p in packets:
        if p[1] & 3 == 2 and p[8] == 0x64 and p[28:32] == b"\x08\0\0\0" and p[41] == 1 and p[52] == 8:
            identifier, sequence = struct.unpack_from(">HH", p, 56)
            pings.setdefault(identifier, []).append(sequence)
    return list(pings.values())


def crcs_right(packet):
    """(ICRC, VCRC)"""
    grh = packet[8:48] if packet[1] & 3 == 3 else b""
    return (packet[-6:-2] == ib.icrc(packet[:8], grh, packet[8 + len(grh):-6]),
            packet[-2:] == struct.pack("<H", ib.crc16_100b(packet[:-2])))


# --- the yardstick itself

# A congestion notification packet of RoCE v2 as a ConnectX-4 Lx sent it, from IP header to ICRC; from the tests of scapy
# (test/contrib/roce.uts, "RoCE CNP captured on ConnectX-4 Lx").
CONNECTX_CNP = bytes.fromhex("45c2003c718c4000401191610a0011010a001201" "000012b700280000" "8100ffff4000011800000000" +
                             "00" * 16 + "82fd002a")


def yardsticks():
    """That what packets are measured with here agrees with hardware that nobody of us has made."""
    ip_udp, rest = CONNECTX_CNP[:28], CONNECTX_CNP[28:]
    masked = bytearray(ip_udp)
    masked[1] = masked[8] = 0xff                            # TOS, TTL: IBA A17.3.3
    masked[10:12] = masked[26:28] = b"\xff\xff"             # checksums
    # The ICRC of a packet with a GRH counts its LRH as ones; IPv4 and UDP header stand where the GRH did.
    yield equal(ib.icrc_of(b"\xff" * 8 + bytes(masked), rest[:-4]).hex(), rest[-4:].hex(), "ICRC: that of a frame by a ConnectX-4 Lx")


# --- scenarios

def check_chain(folder, said):
    packets = list(records(folder + "/chain.pcap"))
    lid = {h: int(n, 16) for h, n in re.findall(r"^LID of (h\d) (0x[0-9a-f]+)\r?$", said, re.M)}
    for a, b, links in (("h0", "h1", 2), ("h0", "h2", 3), ("h0", "h3", 4)):
        seen = collections.Counter(p for p in packets if lids(p) == (lid[a], lid[b]) and p[0] >> 4 != 15)
        whole = sum(n == links for n in seen.values())     # one or the other was under way while the cable was out
        yield result(whole >= 3 and len(seen) - whole <= 3 and max(seen.values()) == links,
                     "each packet from %s to %s is on %u links, unchanged" % (a, b, links), collections.Counter(seen.values()))


def check_cluster(folder, _):
    """Sixteen nodes in one report, and what is not so everywhere is told of the nodes where it is."""
    with open(os.path.join(folder, "merged.json"), encoding="utf-8") as f:
        summary = json.load(f)["summary"]
    everywhere = sorted("n%d" % n for n in range(16))
    yield equal(sorted(n["name"] for n in summary["nodes"]), everywhere, "sixteen nodes")
    yield equal({n["verdict"] for n in summary["nodes"]}, {"conformant"}, "all conformant")
    told = [r for r in summary["rules"] if r["outcome"] in ("fail", "deviation", "noted")]
    yield equal({r["id"]: r["names"] for r in told if len(r["names"]) < 16}, {"fabric.mode": ["n5"], "partition.overlap": ["n9"]},
                "two nodes are not as the others")


def check_damage(folder, said):
    packets = list(records(folder + "/damage.pcap"))     # with a GRH too: ARP requests are hit like all others
    counted = re.search(r"damaged (\d+), bad VCRC at the switch (\d+), bad ICRC at h1 (\d+)", said)
    on_cable = sum(not crcs_right(p)[1] for p in packets)
    in_device = sum(crcs_right(p) == (False, True) for p in packets)
    yield equal(on_cable, int(counted.group(2)), "as many packets have a wrong VCRC as the switch has dropped")
    yield equal(in_device, int(counted.group(3)), "as many have only a wrong ICRC as the HCA has dropped")
    yield equal(sum(crcs_right(p) != (True, True) for p in packets), int(counted.group(1)), "no other packet has a wrong CRC")


def check_datagram(folder, _):
    packets = list(records(folder + "/datagram.pcap"))
    kinds = {(p[1] & 3 == 3, p[0] >> 4 == 15) for p in packets}
    yield result(kinds >= {(True, False), (False, False), (False, True)}, "packets with a GRH, without one, and on VL15", kinds)
    wrong = [number for number, p in enumerate(packets, 1) if crcs_right(p) != (True, True)]
    yield equal(wrong, [], "their ICRCs and VCRCs are what the IBA says")


def check_disorder(folder, _):
    pings = echo_requests(records(folder + "/disorder.pcap"))
    if len(pings) != 5:
        yield result(False, "five pings", pings)
        return
    delayed, twice, late, lost, last = pings
    yield equal(delayed + last, [1, 2, 3, 1, 2], "a delay changes nothing else, and at the end all is in order")
    yield result(len(twice) > 52 and sorted(set(twice)) == list(range(1, 51)) and twice == sorted(twice), "some come twice, in order", twice)
    yield result(late != sorted(late) and sorted(late) == list(range(1, 51)), "some come late, none is lost", late)
    missing = [n for n in range(1, 11) if n not in lost]     # ARP may have been among the three that drop_next took
    yield result(missing and missing == [1, 2, 3][:len(missing)], "the next ones are missing where drop_next was set", missing)


def untold(packet):
    """With 0 for what no completion tells: VL; SE, M; A; PSN; both CRCs (IBA 7.7, 9.2, 7.8)."""
    p = bytearray(packet)
    p[0], p[49], p[56:60], p[-6:] = 0, p[49] & 0x30, bytes(4), bytes(6)
    return bytes(p)


def check_multicast(folder, _):
    with open(folder + "/tap", encoding="utf-8") as f:
        for failed, what in re.findall(r"^(not )?ok \d+ - (.*)", f.read(), re.M):
            yield result(not failed, what)
    wire = {untold(p) for p in records(folder + "/multicast.pcap") if p[1] & 3 == 3 and p[48] == 0x64}
    got = [r[16:] for r in records(folder + "/multicast.erf")]
    yield equal([p.hex() for p in got if p not in wire], [], "every rebuilt frame is one of the wire, in all that is told of it")
    arp = [p for p in got if p[68:72] == b"\x08\x06\0\0" and p[72 + 6:72 + 8] == b"\0\1"]
    yield result(any(p[72 + 28:72 + 32] == bytes([10, 0, 0, 2]) and p[72 + 52:72 + 56] == bytes([10, 0, 0, 3]) for p in arp),
                 "n1's ARP request for n2 is seen by n3", [p.hex() for p in arp])
    yield result(any(p[68:70] == b"\x86\xdd" and p[72 + 40] == 135 for p in got), "n1's Neighbour Solicitation for n2 is seen too")
    pings = [p for p in got if p[72 + 16:72 + 20] == bytes([239, 1, 2, 3]) and p[72 + 9] == 1 and lids(p)[0] != lids(arp[0])[0]]
    yield equal(len(pings), 2, "both pings to a group that came later are seen")


def check_qp_reset(folder, _):
    # n1's UD queue pair is QPN 0x23 (HCA 1 has used up 32 before): UD SEND Only without and with a GRH, the DETH's source QP
    psns = []
    for p in records(folder + "/qp-reset.pcap"):
        bth = 48 if p[1] & 3 == 3 else 8
        if p[bth] == 0x64 and p[0] >> 4 != 15 and p[bth + 17:bth + 20] == b"\0\0\x23":
            psns.append(int.from_bytes(p[bth + 9:bth + 12], "big"))
    falls = [(a, b) for a, b in zip(psns, psns[1:]) if b < a]
    yield result(len(falls) == 1 and falls[0][1] == psns[0], "n1's PSNs begin anew, once, as they began", psns)


def check_sniffer(folder, _):
    wire = list(records(folder + "/sniffer.pcap"))
    sniffed = [r[16:] for r in records(folder + "/sniffer.erf")]      # ERF header
    yield result(len(sniffed) > 30 and sniffed[0] in wire, "frames were sniffed, and were on the wire", len(sniffed))
    both = wire[wire.index(sniffed[0]):]  # the wire's capture ended first
    yield equal([p.hex() for p in sniffed[:len(both)]], [p.hex() for p in both],
                "from the first on they are what was on the wire, in its order, octet for octet")


def check(name, folder, said):
    """All that the check of this scenario finds, if it has one."""
    function = globals().get("check_" + name.replace("-", "_"))
    try:
        return list(function(folder, said)) if function else []
    except (OSError, ValueError, LookupError, AttributeError, struct.error):     # a capture that is not there, or other than thought
        return [result(False, "what it left can be looked at", traceback.format_exc())]


def cannot(name):
    """Why this scenario cannot be run with this build; None if it can."""
    if name == "cluster" and not shutil.which("clush"):
        subprocess.run([os.path.join(os.environ["IPOIB_SRC"], "script/bootstrap"), "--with", "cluster", "--packages-only"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if not shutil.which("clush"):
            return "ClusterShell is not to be had"
    if name not in ("sniffer", "multicast"):
        return None
    run = subprocess.run([os.path.join(os.environ["IPOIB_BIN"], "ipoib-capture"), "--help"], stdout=subprocess.PIPE, text=True, check=False)
    return None if "--mode=sniffer" in run.stdout else "this build of ipoib-capture captures nothing (libibverbs was missing)"

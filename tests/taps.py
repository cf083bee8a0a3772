#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics: -z ipoib,conformance[,json], peers, groups, connections and tree, and the windows' tables by sharkd.

What is expected was read by hand in testdata/README.md and in the frames (QPNs, LIDs and addresses in ARP and Neighbour
Discovery, the SA's MCMemberRecords, the CM messages), not in our own output. Every table is asked for in one pass and in two.

Environment: IPOIB_SRC, IPOIB_TSHARK, IPOIB_BIN (ipoib-check, to agree with), IPOIB_SHARKD (default: script/with-plugins
sharkd). Output: TAP."""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from sharkd import ask_sharkd
from tap import BIN, SRC, TSHARK, finish, skip, tap

sys.path.insert(0, os.path.join(SRC, "tests/frames"))
from fixture import tape  # noqa: E402

RULE = "=" * 67
TABLES = ("peers", "groups", "connections", "conformance")


def same(got, wanted, name):
    tap(got == wanted, name, ["got    %r" % (got,), "wanted %r" % (wanted,)])


def capture(name):
    return os.path.join(SRC, "testdata", name)


def tshark(options, path):
    return subprocess.run(TSHARK + options + ["-r", path], capture_output=True, text=True, timeout=300)


# ---- what was read by hand

def gid(port):
    return "fe80::11:7500:0:%d" % port


def link_local(port):
    return "fe80::211:7500:0:%d" % port


def peer(ip, qpn, port, pkey, lid, first, last):
    """Linux' addresses all have the RC flag, in datagram mode too: see the octets in arp.src.hw."""
    return [ip, "0x80", "0x%06x" % qpn, gid(port), "UD, RC", pkey, "0", str(lid), str(first), str(last), "current"]


PEERS = {
    "datagram.pcap": [peer(link_local(100), 0x03, 100, "0xffff", 1, 34, 103), peer(link_local(110), 0x23, 110, "0xffff", 2, 39, 93),
                      peer("10.0.0.1", 0x03, 100, "0xffff", 1, 41, 86), peer("10.0.0.2", 0x23, 110, "0xffff", 2, 44, 85)],
    "connected.pcap": [peer(link_local(100), 0x03, 100, "0xffff", 1, 33, 96), peer(link_local(110), 0x23, 110, "0xffff", 2, 39, 104),
                       peer("10.0.0.1", 0x03, 100, "0xffff", 1, 41, 99), peer("10.0.0.2", 0x23, 110, "0xffff", 2, 44, 98)],
    # n1, whose packets have P_Key 0x0002, is on the link of 0x8002
    "partitions.pcap": [peer(link_local(100), 0x03, 100, "0xffff", 1, 104, 327), peer(link_local(110), 0x23, 110, "0xffff", 3, 143, 184),
                        peer(link_local(120), 0x43, 120, "0xffff", 4, 151, 245), peer(link_local(100), 0x05, 100, "0x8001", 1, 190, 306),
                        peer(link_local(110), 0x25, 110, "0x8001", 3, 243, 307), peer(link_local(100), 0x07, 100, "0x8002", 1, 266, 326),
                        peer("10.0.0.1", 0x03, 100, "0xffff", 1, 271, 271), peer("10.0.0.3", 0x43, 120, "0xffff", 4, 274, 274),
                        peer("10.1.0.1", 0x05, 100, "0x8001", 1, 279, 279), peer("10.1.0.2", 0x25, 110, "0x8001", 3, 282, 282),
                        peer(link_local(110), 0x27, 110, "0x8002", 3, 292, 292), peer("10.2.0.1", 0x07, 100, "0x8002", 1, 293, 293),
                        peer("10.2.0.2", 0x27, 110, "0x8002", 3, 296, 296)],
}


def group(rest, ip, mlid, frame, members=0, pkey="ffff", signature="601b", mtu=2048):
    return ["ff12:%s:%s:%s" % (signature, pkey, rest), ip, "0x" + pkey, "0", "0x%04x" % mlid, str(mtu), "0x00000b1b", "0", "10 Gb/s",
            str(members), "there", str(frame)]


def heard_of(rest, ip, pkey="ffff"):
    """n0's solicited-node group: it sends there, but its join never reaches the wire."""
    return ["ff12:601b:%s:%s" % (pkey, rest), ip, "0x" + pkey, "0", "-", "-", "-", "-", "-", "0", "heard of", ""]


def ipv4(rest, ip, *args, **kw):
    return group(rest, ip, *args, signature="401b", **kw)


BROADCAST = (":ffff:ffff", "255.255.255.255 (broadcast)")
NODE = {n: (":1:ff00:%d" % n, "ff02::1:ff00:%d" % n) for n in (100, 110, 120)}
# MLID and frame of the SA's last GetResp(MCMemberRecord). In the first two captures n1 leaves all at the end.
GROUPS = {
    "datagram.pcap": [group(":16", "ff02::16", 0xc004, 28), heard_of(*NODE[100]), ipv4(*BROADCAST, 0xc000, 20), group(":1", "ff02::1", 0xc001, 23),
                      ipv4(":1", "224.0.0.1", 0xc002, 25), group(*NODE[110], 0xc005, 26), group(":2", "ff02::2", 0xc006, 38),
                      ipv4(":f01:203", "239.1.2.3", 0xc007, 70), ipv4(":16", "224.0.0.22", 0xc008, 72),
                      group(":5:6", "ff02::5:6", 0xc009, 75)],
    "connected.pcap": [group(":16", "ff02::16", 0xc004, 29), heard_of(*NODE[100]), ipv4(*BROADCAST, 0xc000, 21), group(":1", "ff02::1", 0xc001, 25),
                       ipv4(":1", "224.0.0.1", 0xc002, 26), group(*NODE[110], 0xc005, 27), group(":2", "ff02::2", 0xc006, 38)],
    # default partition: n1 and n2 stay; 0x8001: n1 leaves (310-325); 0x8002: n1 stays
    "partitions.pcap": [group(":16", "ff02::16", 0xc006, 133, 2), heard_of(*NODE[100]), ipv4(*BROADCAST, 0xc000, 121, 2),
                        group(":1", "ff02::1", 0xc003, 128, 2), ipv4(":1", "224.0.0.1", 0xc004, 129, 2), group(*NODE[110], 0xc008, 109, 1),
                        group(":2", "ff02::2", 0xc007, 148, 2), group(*NODE[120], 0xc009, 130, 1),
                        group(":16", "ff02::16", 0xc00d, 179, pkey="8001", mtu=4096), heard_of(*NODE[100], pkey="8001"),
                        ipv4(*BROADCAST, 0xc001, 164, pkey="8001", mtu=4096), group(":1", "ff02::1", 0xc00a, 172, pkey="8001", mtu=4096),
                        ipv4(":1", "224.0.0.1", 0xc00b, 176, pkey="8001", mtu=4096), group(*NODE[110], 0xc00e, 178, pkey="8001", mtu=4096),
                        group(":2", "ff02::2", 0xc00f, 240, pkey="8001", mtu=4096),
                        group(":16", "ff02::16", 0xc013, 260, 1, pkey="8002"), heard_of(*NODE[100], pkey="8002"),
                        ipv4(*BROADCAST, 0xc002, 248, 1, pkey="8002"), group(":1", "ff02::1", 0xc010, 254, 1, pkey="8002"),
                        ipv4(":1", "224.0.0.1", 0xc011, 255, 1, pkey="8002"), group(*NODE[110], 0xc014, 256, 1, pkey="8002"),
                        group(":2", "ff02::2", 0xc015, 289, 1, pkey="8002")],
}


def connection(number, service, requester, responder, mtu, frames, state):
    return [str(number), "0x%016x" % service, "RC", "0xffff", *requester, *responder, mtu, *[str(f) if f else "" for f in frames], state]


def side(lid, port, qpn, ud_qpn):
    return ["LID %d, %s" % (lid, gid(port)), "0x%06x" % qpn if qpn else "-", "0x%06x" % ud_qpn if qpn else "-"]


# frames: REQ, REP, RTU, REJ, DREQ, DREP. MTU: both Receive MTUs are 65524 (RFC 4755 section 5.1).
CONNECTIONS = {
    "datagram.pcap": [],
    "partitions.pcap": [],
    "connected.pcap": [
        connection(1, 0x1000000000000023, side(1, 100, 0x05, 0x03), side(2, 110, 0x25, 0x23), "65520", (45, 46, 48, 0, 108, 109), "closed"),
        connection(2, 0x1000000000000003, side(2, 110, 0x27, 0x23), side(1, 100, 0x07, 0x03), "65520", (50, 51, 53, 0, 117, 118), "closed")],
}
# cm-reject.pcap: REJ to each REQ but two, in testdata/README.md; SRP, SDP and the like of foreign.pcap are nobody's here.
REJECTED = [(3, 4), (5, 6), (35, 36), (37, 38), (39, 40)]


# ---- reading the text

def blocks(text):
    """The tables that were printed: title -> (header, rows, lines behind them); a row is its cells by the header's columns."""
    out = {}
    for part in re.findall("^" + RULE + r"\n(.*?)^" + RULE + r"\n", text, re.S | re.M):
        title, header, *lines = part.splitlines()
        width = max(map(len, lines + [header]))
        table = [header] + [l for l in lines if not l.startswith("(") and " frames, " not in l and not l.startswith("Verdict:")]
        rest = [l for l in lines if l not in table]
        padded = [l.ljust(width) for l in table]
        # a border of columns: two blanks in every row
        gap = [all(l[i:i + 2] == "  " for l in padded) for i in range(width - 1)] + [False]
        starts, inside = [0], False
        for i in range(width):
            if inside and not gap[i] and gap[i - 1] and all(l[i] == " " for l in padded):
                starts.append(i + 1)
            inside = True
        ends = starts[1:] + [width]
        out[title] = ([header], [[l[s:e].strip() for s, e in zip(starts, ends)] for l in padded[1:]], rest)
    return out


def table(name, path, options):
    r = tshark(["-q", "-z", "ipoib," + name] + options, path)
    found = blocks(r.stdout)
    title = "IPoIB " + name.capitalize()
    if r.returncode or list(found) != [title]:
        return None, None, ["exit status %d, stderr %r, tables %r" % (r.returncode, r.stderr, list(found))]
    return found[title]


def check_tables(name, wanted):
    for path, rows in wanted.items():
        for options in ([], ["-2"]):
            _, got, rest = table(name, capture(path), options)
            label = "%s of %s%s" % (name, path, ", two passes" if options else "")
            if rows:
                same(got, rows, label)
            else:
                tap(got == [] and len(rest) == 1 and rest[0].startswith("(no "), label + ": said to be empty", [repr((got, rest))])


def check_rejected():
    _, got, _ = table("connections", capture("cm-reject.pcap"), [])
    rejected = [(int(r[11]), int(r[14])) for r in got or [] if r[-1] == "rejected"]
    same(rejected, REJECTED, "connections of cm-reject.pcap: REQs and REJs of those refused")
    same([r[-1] for r in got or []].count("closed"), 2, "connections of cm-reject.pcap: two were taken and ended")


# ---- conformance

def counted(path):
    """How often each rule is named in the packets: id -> [failures, deviations, notes]."""
    out = tshark(["-T", "fields", "-e", "ipoib.rule.id", "-e", "ipoib.rule.deviation", "-e", "ipoib.note.id"], path).stdout
    found = collections.defaultdict(lambda: [0, 0, 0])
    for line in out.splitlines():
        ids, deviations, notes = line.split("\t")
        for rule, deviation in zip(ids.split(",") if ids else [], deviations.split(",")):
            found[rule][deviation in ("1", "True")] += 1
        for rule in notes.split(",") if notes else []:
            found[rule][2] += 1
    return dict(found)


def conformance_json(path, options=()):
    out = tshark(["-q", "-z", "ipoib,conformance,json", *options], path).stdout
    try:
        return json.loads(out)
    except ValueError:
        return None


def told(report):
    found = collections.defaultdict(lambda: [0, 0, 0])
    for r in report["results"]:
        if r["outcome"] in ("fail", "deviation", "noted"):
            found[r["id"]][("fail", "deviation", "noted").index(r["outcome"])] += r["count"]
    return dict(found)


def comparable(report):
    keys = ("id", "level", "document", "section", "outcome", "count", "subject", "expected", "actual", "reason", "frames", "text")
    summary = {k: v for k, v in report["summary"]["captures"][0].items() if k != "name"}
    return [{k: r[k] for k in keys} for r in report["results"]], summary


def check_against_ipoib_check(path, report):
    label = "conformance,json of %s: as ipoib-check has it" % os.path.basename(path)
    program = os.path.join(BIN, "ipoib-check")
    if not os.path.exists(program):
        return skip(label, "ipoib-check is not built here")
    other = subprocess.run([program, "--format", "json", path], capture_output=True, text=True)
    try:
        wanted = json.loads(other.stdout)
    except ValueError:
        return tap(False, label, [other.stderr])
    got, wanted = comparable(report), comparable(wanted)
    differences = [repr(pair) for pair in zip(got[0], wanted[0]) if pair[0] != pair[1]]
    tap(got == wanted, label, differences + [repr(got[1]), repr(wanted[1])])


def check_rows(path, report):
    """The text's rows count what the JSON counts, the worst first."""
    _, rows, rest = table("conformance", path, [])
    words = ("pass", "fail", "deviation", "inconclusive", "noted")
    counts = {(r["id"], r["outcome"]): r["count"] for r in report["results"]}
    wanted = {r["id"]: [counts.get((r["id"], w), 0) for w in words] for r in report["results"]}
    same({r[0]: [int(n) for n in r[3:8]] for r in rows}, wanted, "conformance of %s: counts" % os.path.basename(path))
    order = {"fail": 0, "deviation": 1, "inconclusive": 2, "noted": 3, "pass": 4}
    ranks = [order[r[2]] for r in rows]
    verdict = "Verdict: " + report["summary"]["verdict"]
    tap(ranks == sorted(ranks) and rest[-1:] == [verdict], "conformance of %s: worst first, then the verdict" % os.path.basename(path), rest)


def check_conformance():
    for name in ("connected.pcap", "datagram.pcap", "partitions.pcap", "built/built-arp-faults.pcap"):
        path = capture(name)
        report = conformance_json(path)
        tap(report is not None and report["tool"] == "ipoib-plugin", "conformance,json of %s is JSON" % name)
        same(told(report), counted(path), "conformance,json of %s: what the packets show, summed up" % name)
        same(conformance_json(path, ["-2"]), report, "conformance,json of %s: the same in two passes" % name)
        same(conformance_json(path, ["-Y", "frame.number == 1"]), report, "conformance,json of %s: the same filtered" % name)
        check_against_ipoib_check(path, report)
        check_rows(path, report)


def check_source_option(folder):
    """n1's advertisement has its link-layer address in a source option, which receivers ignore (RFC 4861 section 4.4), with
    another QPN than its packets go to 4000 s later: nobody was told of that QPN."""
    t = tape("datagram.pcap")
    t[60]["nd.option.type"] = 1
    t[60].payload[73:76] = bytes([0, 0, 0x99])
    t[60].fix_checksums()
    t.shift(61, 4000)
    path = os.path.join(folder, "source-option.pcap")
    with open(path, "wb") as f:
        f.write(t.pcap())
    check_against_ipoib_check(path, conformance_json(path))


def check_verdicts():
    # hardware types other than 32 in frames 2 and 3: see tests/frames/build.py
    faults = conformance_json(capture("built/built-arp-faults.pcap"))
    wrong = [r for r in faults["results"] if r["id"] == "rfc4391.9.2.arp-hardware-type" and r["outcome"] == "fail"]
    same([(r["count"], r["frames"], r["violation"]) for r in wrong], [(2, [2, 3], True)], "the faults of built-arp-faults.pcap: which frames")
    same(faults["summary"]["verdict"], "violated", "built-arp-faults.pcap is violated")
    _, rows, _ = table("conformance", capture("built/built-arp-faults.pcap"), [])
    same({r[0]: r[8] for r in rows}.get("rfc4391.9.2.arp-hardware-type"), "2, 3", "the faults of built-arp-faults.pcap: frames in the table")
    same(rows[0][1:3], ["MUST", "fail"], "the faults of built-arp-faults.pcap stand first")
    same(conformance_json(capture("connected.pcap"))["summary"]["verdict"], "conformant", "connected.pcap is conformant")
    strict = conformance_json(capture("connected.pcap"), ["-o", "ipoib.deviations:none"])
    same((strict["summary"]["verdict"], strict["summary"]["deviations"]), ("violated", "none"), "without known deviations it is not")
    off = conformance_json(capture("connected.pcap"), ["-o", "ipoib.conformance:FALSE"])
    same((off["results"], off["summary"]["verdict"], off["summary"]["captures"][0]["error"]),
         ([], "unjudged", "the preference ipoib.conformance is off"), "judging that is switched off is no verdict")
    for name in ("peers", "groups", "connections"):
        same(table(name, capture("connected.pcap"), ["-o", "ipoib.conformance:FALSE"]), table(name, capture("connected.pcap"), []),
             "judging that is switched off leaves %s as they are" % name)
    lost = conformance_json(capture("datagram.pcap"), ["-o", "ipoib.deviations:/nonexistent"])
    same((lost["results"], lost["summary"]["verdict"], lost["summary"]["captures"][0]["error"]),
         ([], "unjudged", "known deviations: /nonexistent: No such file or directory"), "a list of deviations that cannot be read is no verdict")


# ---- the tree

def tree(path, options=(), argument=""):
    out = tshark(["-q", "-z", "ipoib,tree" + argument, *options], path).stdout
    found, branch = {}, None
    for line in out.splitlines():
        m = re.match(r"^( *)(\S.*?)  +(\d+)  ", line)
        if m and not m[1]:
            branch = found.setdefault(m[2], {"": int(m[3])})
        elif m and branch is not None:
            branch[m[2]] = int(m[3])
    return found


def check_tree():
    path = capture("connected.pcap")
    got = tree(path)
    # ARP 41, 44, 98, 99; NS, NA 85, 86, 104, 106; duplicate address detection 18, 31; solicitations 33, 39, 96, 97
    same(got["Address resolution"], {"": 14, "ARP request": 2, "ARP reply": 2, "ND neighbor solicitation": 4, "ND neighbor advertisement": 2,
                                     "ND router solicitation": 4}, "tree of connected.pcap: address resolution")
    same(got["Communication management"], {"": 10, "REQ": 2, "REP": 2, "RTU": 2, "DREQ": 2, "DREP": 2}, "tree of connected.pcap: CM")
    same({k: v for k, v in got["Subnet administration"].items() if "MCMember" in k},
         {m + "(MCMemberRecord)": 6 for m in ("Set", "GetResp", "Delete", "DeleteResp")}, "tree of connected.pcap: six joins, six leaves")
    # two messages of 40000 octets in ten packets each
    same(got["Mode"].get("connected, RC, part of a message"), 20, "tree of connected.pcap: parts of messages")
    notes = counted(path)
    same(got["Findings"]["noted"], sum(n[2] for n in notes.values()), "tree of connected.pcap: notes")
    same(got["Findings"]["known deviation"], sum(n[1] for n in notes.values()), "tree of connected.pcap: deviations")
    same(tree(path, ["-2"]), got, "tree of connected.pcap: two passes")
    same(tree(path, argument=",frame.number == 41")["Type"], {"": 1, "ARP": 1}, "tree of connected.pcap, filtered: one ARP request")
    # IPv4: the second and later fragments carry the encapsulation header too
    types = collections.Counter(tshark(["-T", "fields", "-e", "ipoib.type"], capture("datagram.pcap")).stdout.split())
    names = {"IPv4": "0x0800", "IPv6": "0x86dd", "ARP": "0x0806"}
    got = tree(capture("datagram.pcap"))
    same({k: v for k, v in got["Type"].items() if k}, {k: types[v] for k, v in names.items()}, "tree of datagram.pcap: types")
    same(tree(capture("sll.pcap"))["Mode"], {"": 18, "not told by the carrier": 18}, "tree of sll.pcap: all frames")


# ---- captures without IPoIB, and wrong arguments

def write_pcap(path, linktype, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, linktype))
        for frame in frames:
            f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def check_nothing(folder):
    # an Ethernet frame of an experimental Ethertype
    for name, linktype, frames in (("empty", 247, []), ("empty-ethernet", 1, []), ("no-ipoib", 1, [bytes(12) + b"\x88\xb5" + bytes(46)])):
        path = os.path.join(folder, name + ".pcap")
        write_pcap(path, linktype, frames)
        everything = [x for t in TABLES + ("tree",) for x in ("-z", "ipoib," + t)]
        for options in ([], ["-2"]):
            r = tshark(["-q"] + options + everything, path)
            found = blocks(r.stdout)
            label = name + ".pcap" + (", two passes" if options else "")
            good = r.returncode == 0 and sorted(found) == sorted("IPoIB " + t.capitalize() for t in TABLES)
            tap(good and all(rows == [] and rest[0].startswith("(") for _, rows, rest in found.values()),
                label + ": empty tables that say so", [r.stdout, r.stderr])
            verdict = [rest for title, (_, _, rest) in found.items() if title == "IPoIB Conformance"]
            same([v[-1] for v in verdict], ["Verdict: unjudged: there is no IPoIB in it"], label + ": no verdict")
            report = conformance_json(path, options)
            same((report["results"], report["summary"]["unjudged"]), ([], 1), label + ": JSON")


def check_arguments():
    path = capture("connected.pcap")
    both = tshark(["-q", "-z", "ipoib,conformance", "-z", "ipoib,conformance,json"], path).stdout
    tap("Verdict: conformant" in both and '"tool"' in both and both.count(RULE) == 2, "the table and the JSON at once")
    for argument in ("ipoib,peers,ip", "ipoib,conformance,jsonx", "ipoib,conformance,json,ip", "ipoib,groupsx"):
        r = tshark(["-q", "-z", argument], path)
        tap(r.returncode != 0 and "takes no filter" in r.stderr and not r.stdout, "-z %s is refused" % argument, [r.stdout[:200], r.stderr])
    listed = subprocess.run(TSHARK + ["-z", "help"], capture_output=True, text=True)
    names = (listed.stdout + listed.stderr).split()
    wanted = ["ipoib,%s" % t for t in TABLES + ("conformance,json", "tree")]
    same([w for w in wanted if w not in names], [], "-z help names them all")


# ---- windows

def window_rows(answer):
    """The rows of a table, without the number that stands first."""
    tables = answer["result"]["taps"][0]["tables"]
    return [[str(cell) for cell in row[1:]] for row in tables[0]["i"]]


def check_windows():
    names = [("partitions.pcap", "peers", PEERS), ("connected.pcap", "peers", PEERS), ("connected.pcap", "connections", CONNECTIONS),
             ("partitions.pcap", "groups", GROUPS), ("partitions.pcap", "peers", PEERS)]
    requests = []
    for path, name, _ in names:
        requests += [{"method": "load", "params": {"file": os.path.abspath(capture(path))}},
                     {"method": "tap", "params": {"tap0": "nstat:ipoib," + name}}]
    answers = ask_sharkd(requests)
    if answers is None:
        return skip("windows", "sharkd does not run here")
    for (path, name, wanted), answer in zip(names, answers[1::2]):
        same(window_rows(answer), wanted[path], "window of %s, %s" % (name, path))


def main():
    check_tables("peers", PEERS)
    check_tables("groups", GROUPS)
    check_tables("connections", CONNECTIONS)
    check_rejected()
    check_conformance()
    check_verdicts()
    check_tree()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        check_nothing(folder)
        check_source_option(folder)
    check_arguments()
    check_windows()
    return finish()


if __name__ == "__main__":
    sys.exit(main())

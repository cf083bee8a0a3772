# SPDX-License-Identifier: GPL-2.0-or-later
"""Two fabrics in one file, and two partitions with one MLID, each with a harmless look-alike. A case
returns its tape and the events that it must raise: (event, frame, count, texts that it has)."""
from frames import ib
from frames.events import link, number
from frames.ib import encap

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- LIDs


def announce(s, host):
    """A gratuitous ARP request of the host."""
    message = encap(0x0806, ib.arp(1, host.addr, host.ip, bytes(20), host.ip))
    s.put(s.datagram(host, s.broadcast(), message, mlid=s.mlid(s.broadcast())))


def in_turn(s, hosts):
    """Hosts of another fabric have their LIDs and QPNs, and send in turn with them. Returns the frame
    of the first packet that each host sends after its twin."""
    twins = [h.also(gid="fe80::2:c903:1:%x" % h.lid, ip="10.9.0.%d" % (10 + h.lid)) for h in hosts]
    shown = []
    for turn in range(2):
        for host, twin in zip(hosts, twins):
            announce(s, host)
            if turn:
                shown.append(number(s))
            s.wait(0.6)
            announce(s, twin)
            s.wait(0.6)
    return shown


def two_ports(hosts, shown):
    return [("duplicate_lid", frame, 2, [h.gid]) for h, frame in zip(hosts, shown)]


@case
def two_fabrics_in_one_file():
    """The third LID shows it."""
    s, *hosts = link()
    shown = in_turn(s, hosts)
    lids = "LIDs %d, %d and %d are" % tuple(h.lid for h in hosts)
    return s, two_ports(hosts, shown) + [("two_fabrics", shown[2], 1, [lids])]


@case
def two_lids_with_two_ports():
    """A fault of the subnet manager, but one fabric."""
    s, *hosts = link()
    shown = in_turn(s, hosts[:2])
    return s, two_ports(hosts, shown)


# ---- MLIDs


def other_link(mlid):
    """A host joins the broadcast group of another partition, which has that MLID; None: the same."""
    s, a, b, _ = link()
    other = s.broadcast(0x8001)
    s.mlids[other] = s.mlid(s.broadcast()) if mlid is None else mlid
    s.join(a, other, pkey=0x8001)
    first = number(s)
    s.join(b, other, pkey=0x8001)
    return s, first


@case
def two_partitions_with_one_mlid():
    s, first = other_link(None)
    texts = ["0xc000", "0xffff", "0x8001"]
    return s, [("shared_mlid", first, 2, texts)]


@case
def two_partitions_with_two_mlids():
    s, _ = other_link(0xC077)
    return s, []


@case
def two_groups_of_a_partition_with_one_mlid():
    """IBA 15.2.5.17 allows it."""
    s, a, b, _ = link()
    group = s.group4("239.1.2.3")
    s.mlids[group] = s.mlid(s.broadcast())
    s.join(a, group)
    s.join(b, group)
    return s, []

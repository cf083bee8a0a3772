# SPDX-License-Identifier: GPL-2.0-or-later
"""Two fabrics in one file, and two partitions with one MLID, each with a harmless look-alike. A case
returns its tape and the events that it must raise: (event, frame, count, texts that it has)."""
import socket
import struct

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


def other_ports_in_turn(are_ports):
    """Hosts of another fabric have their LIDs, and other QPNs. are_ports: they have a NodeInfo."""
    s, *hosts = link()
    twins = [
        h.also(gid="fe80::2:c903:1:%x" % h.lid, ip="10.9.0.%d" % h.lid, qpn=h.qpn + 99)
        for h in hosts
    ]
    for host, twin in zip(hosts, twins):
        s.node_info(host)
        if are_ports:
            s.node_info(twin)
    for _ in range(2):
        for host in hosts + twins:
            announce(s, host)
            s.wait(0.6)
    return s, hosts, number(s)


@case
def two_fabrics_with_other_qpns():
    s, hosts, last = other_ports_in_turn(True)
    lids = "LIDs %d, %d and %d are" % tuple(h.lid for h in hosts)
    return s, [("two_fabrics", last - 3, 1, [lids])]


@case
def virtual_functions_of_three_ports():
    """They share the LIDs of their ports, and have no NodeInfo."""
    s, _, _ = other_ports_in_turn(False)
    return s, []


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


# ---- routers


def advertisement(
    s,
    router,
    lifetime=0,
    length=64,
    flags=0xC0,
    valid=86400,
    preferred=None,
    prefix=True,
    other=0,
):
    """A router advertisement to all nodes (RFC 4861 section 4.2, 4.6.2)."""
    preferred = valid if preferred is None else preferred
    option = struct.pack(">BBBBIII", 3, 4, length, flags, valid, preferred, 0)
    option += socket.inet_pton(socket.AF_INET6, "2001:db8:5::")
    body = struct.pack(">BBHBBHII", 134, 0, 0, 64, other, lifetime, 0, 0)
    message = ib.icmpv6(router.ll, "ff02::1", body + (option if prefix else b""))
    group = s.group6("ff02::1")
    s.put(s.datagram(router, group, encap(0x86DD, message), mlid=s.mlid(group)))


def advertised(times, seconds=1, **fields):
    s, a, b, _ = link()
    s.join(a, s.group6("ff02::1"))
    for _ in range(times):
        advertisement(s, a, **fields)
        s.wait(seconds)
    return s, a


@case
def router_with_a_prefix_of_80_bits():
    s, a = advertised(2, length=80)
    return s, [("router_useless", number(s) - 1, 2, [a.gid, "2001:db8:5::/80"])]


@case
def router_with_a_prefix_of_48_bits_for_routes():
    """On the link, and not for addresses."""
    s, _ = advertised(6, length=48, flags=0x80)
    return s, []


@case
def router_with_a_prefix_that_is_preferred_longer_than_valid():
    """Hosts ignore it (RFC 4862 section 5.5.3 c); for the link, it is valid."""
    s, a = advertised(2, lifetime=1800, valid=3600, preferred=7200)
    texts = [a.gid, "2001:db8:5::/64", "preferred lifetime, 7200 s", "valid lifetime, 3600 s"]
    return s, [("router_useless", number(s) - 1, 2, texts)]


@case
def router_with_only_such_a_prefix_offers_nothing():
    s, a = advertised(6, flags=0x40, valid=3600, preferred=7200)
    return s, [
        ("router_useless", number(s) - 5, 6, [a.gid, "preferred lifetime"]),
        ("router_useless", number(s) - 2, 3, [a.gid, "router lifetime 0"]),
    ]


@case
def router_with_a_prefix_whose_lifetimes_are_equal():
    s, _ = advertised(6, lifetime=1800, valid=3600, preferred=3600)
    return s, []


@case
def router_with_a_prefix_for_routes_whose_lifetimes_do_not_matter():
    """On the link, and not for addresses."""
    s, _ = advertised(6, flags=0x80, valid=3600, preferred=7200)
    return s, []


@case
def router_that_offers_nothing():
    s, a = advertised(6, flags=0)
    return s, [("router_useless", number(s) - 2, 3, [a.gid, "router lifetime 0"])]


@case
def router_that_ends():
    """Three advertisements with lifetime 0 (RFC 4861 section 6.2.5), of which one is lost."""
    s, _ = advertised(3, seconds=10, prefix=False)
    return s, []


@case
def router_of_dhcpv6():
    s, _ = advertised(6, prefix=False, other=0x80)
    return s, []


@case
def router_that_is_the_default_router_only():
    s, _ = advertised(6, prefix=False, lifetime=1800)
    return s, []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in which something looks like a change of a port, an address or a path, and is none: the
capture has packets late or twice, a cable was moved, a datagram takes an unusual way. Beside each is
the change itself. A case returns its tape and the events that it must raise: (event, frame, count, texts
that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import ask_only, goes_on, link, number
from frames.events_ip import time_exceeded
from frames.events_lost import echo
from frames.fabric import FULL, SEND_ONLY
from frames.subnet import SMP_GET, SMP_SET, FromStart, Host, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- states of ports


def responses(s, host, *states):
    """Set(PortInfo) and its response, for each state."""
    for state in states:
        s.port_info(host, state=state)


@case
def response_that_was_captured_late():
    """Armed, then Active: the response with Armed comes last, with a lower PSN."""
    s, a, _, _ = link()
    s.node_info(a)
    responses(s, a, ib.ARMED, ib.ACTIVE)
    s.records.append(s.records.pop(-3))
    return s, []


@case
def responses_that_a_second_capture_point_has_three_seconds_later():
    s, a, _, _ = link()
    s.node_info(a)
    first = number(s)
    responses(s, a, ib.INIT, ib.ARMED, ib.ACTIVE)
    copies = [record[1] for record in s.records[first:]]
    s.wait(3)
    for octets in copies:
        s.put(octets)
    return s, []


@case
def another_host_at_the_port_of_a_switch():
    """The NodeInfo of the route shows it. Its port has no LID at first."""
    s, a, _, _ = link()
    new = Host(20, lid=a.lid)
    s.node_info(a)
    responses(s, a, ib.ACTIVE)
    s.node_info(new)
    s.smp(a.lid, SMP_GET, ib.PORT_INFO, b"", 1, s.port_info_of(0, state=ib.INIT))
    return s, []


@case
def another_host_whose_node_info_was_lost():
    """The request of its NodeInfo has no response: which port has the LID 8 is not known."""
    s, a, _, _ = link()
    s.node_info(a)
    responses(s, a, ib.ACTIVE)
    s.node_info(a)
    del s.records[-1]
    s.smp(a.lid, SMP_GET, ib.PORT_INFO, b"", 1, s.port_info_of(0, state=ib.INIT))
    s.smp(a.lid, SMP_SET, ib.PORT_INFO, s.port_info_of(8, state=ib.INIT), 1)
    return s, []


@case
def same_host_that_goes_down():
    s, a, _, _ = link()
    s.node_info(a)
    responses(s, a, ib.ACTIVE)
    s.wait(2)
    s.node_info(a)
    responses(s, a, ib.INIT)
    return s, [("port_state", number(s), 1, [a.gid, "Initialize"])]


# ---- LIDs


def gives_lid(s, host, port, lid):
    """The port at the route 0,1,PORT is the host's, and gets the LID."""
    info = ib.node_info(host.guid, 8, 0x1003, 0x2C9)
    s.smp(port, SMP_GET, ib.NODE_INFO, b"", 0, info)
    s.smp(port, SMP_SET, ib.PORT_INFO, s.port_info_of(lid), 1)


def broadcasts(s, host, lid):
    sender = host.also()
    sender.lid = lid
    s.arp_request(sender, "10.0.0.99")


@case
def lid_that_two_ports_get():
    """Both use it. Their QPNs differ, as those of virtual functions would."""
    s, a, b, _ = link()
    gives_lid(s, a, 1, 1)
    gives_lid(s, b, 2, 1)
    given = number(s)
    s.wait(2)
    broadcasts(s, a, 1)
    first = number(s)
    broadcasts(s, b, 1)
    texts = [a.gid, "second port, GID " + b.gid, "frame %d" % given]
    return s, [("moved", given - 1, 1, [b.gid]), ("duplicate_lid", first, 1, texts)]


@case
def lid_that_two_ports_get_and_one_replies_from():
    """a sends to single ports only, without a GRH: its IP address says that it is a."""
    s, a, b, c = link()
    s.meet(c, a)
    gives_lid(s, a, 1, 1)
    gives_lid(s, b, 2, 1)
    given = number(s)
    s.wait(2)
    s.ping(c, a)
    texts = [a.gid, "second port, GID " + b.gid, "frame %d" % given]
    return s, [("moved", given - 1, 1, [b.gid]), ("duplicate_lid", number(s), 1, texts)]


@case
def lid_that_another_port_gets_and_replies_from():
    """The SM gives a's LID to b, and a another one: only b sends from it."""
    s, a, b, c = link()
    s.meet(c, b)
    gives_lid(s, b, 2, 1)
    gives_lid(s, a, 1, 21)
    given = number(s)
    s.wait(2)
    b.lid = 1
    s.ping(c, b)
    return s, [("moved", given - 5, 1, [b.gid]), ("moved", given - 1, 1, [a.gid])]


def changes_lid(s, host, lids):
    """The SM gives the port these LIDs, and it sends 60 packets from each, all in one sequence of PSNs."""
    first = []
    for lid in lids:
        gives_lid(s, host, 1, lid)
        first.append(number(s))
        for _ in range(60):
            s.wait(0.1)
            sender = host.also()
            sender.lid = lid
            s.to_group4(sender, "224.0.0.1")
            for other in lids:
                s.psns[other, host.qpn] = s.psns[lid, host.qpn]
    return first


@case
def lid_that_two_managers_change():
    """The same route: it is one port."""
    s, a, _, _ = link()
    first = changes_lid(s, a, (1, 20, 1, 20, 1))
    return s, [
        ("moved", first[1] - 1, 2, [a.gid, "LID 20"]),
        ("moved", first[2] - 1, 2, [a.gid, "LID 1 "]),
    ]


def joins_at(s, host, lid):
    """A request of the port to the SA, from this LID, that has no answer."""
    sender = host.also()
    sender.lid = lid
    data, mask = s.request(host, s.group4("239.1.2.3"), FULL)
    ask_only(s, sender, ib.SET, ib.ATTR_MC_MEMBER, data, mask, seconds=1)


@case
def lid_that_two_ports_get_at_the_start():
    """The first one only asks the SA: the answers go to the other port."""
    s, a, b = Subnet(), Host(1), Host(2)
    gives_lid(s, a, 1, 1)
    gives_lid(s, b, 2, 1)
    s.wait(2)
    joins_at(s, b, 1)
    joins_at(s, a, 1)
    texts = [a.gid, "second port, GID " + b.gid, "frame 8"]
    return s, [("duplicate_lid", number(s), 1, texts)]


@case
def lid_that_another_port_gets_at_the_start():
    """The first one has another LID then."""
    s, a, b = Subnet(), Host(1), Host(2)
    gives_lid(s, a, 1, 1)
    gives_lid(s, b, 2, 1)
    gives_lid(s, a, 1, 3)
    s.wait(2)
    joins_at(s, b, 1)
    joins_at(s, a, 3)
    return s, [("moved", number(s) - 3, 1, [a.gid])]


@case
def lids_that_are_exchanged():
    s, a, b, _ = link()
    gives_lid(s, a, 1, 1)
    gives_lid(s, b, 2, 2)
    s.wait(2)
    gives_lid(s, b, 2, 1)
    gives_lid(s, a, 1, 2)
    moved = number(s)
    s.wait(2)
    broadcasts(s, a, 2)
    broadcasts(s, b, 1)
    names = [("moved", moved - 4 - 1, 1, [b.gid]), ("moved", moved - 1, 1, [a.gid])]
    return s, names


# ---- IP addresses


@case
def request_that_two_hosts_answer():
    """Once, 2 ms apart."""
    s, a, b, _ = link()
    d = Host(20).also(ip=b.ip)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    first = number(s)
    s.arp_reply(d, a)
    texts = [d.gid, b.gid, "has answered in frame %d" % first]
    return s, [("duplicate_ip", number(s), 1, texts)]


@case
def request_that_both_ports_of_an_adapter_answer():
    """Their GUIDs are neighbours: the host answers for its address at each port."""
    s, a, b, c = link()
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.arp_reply(c.also(ip=b.ip), a)
    return s, [("moved", number(s), 1, [c.gid])]


@case
def requests_of_which_another_host_answers_the_second():
    s, a, b, _ = link()
    d = Host(20).also(ip=b.ip)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    s.wait(30)
    s.arp_request(a, b.ip)
    s.arp_reply(d, a)
    return s, [("moved", number(s), 1, [d.gid])]


def fails_over(s, a, ports, lost):
    """Gratuitous ARP, which the capture may have lost, then an ordinary request."""
    frames = []
    for i in range(3):
        port = ports[i % 2]
        if i:
            s.wait(10)
            s.arp_request(port, port.ip)
            if lost:
                del s.records[-1]
        s.arp_request(port, a.ip)
        frames.append(number(s))
        s.arp_reply(a, port)
    return frames


@case
def failovers_whose_announcements_were_lost():
    s, a, b, c = link()
    for host in (b, c):
        s.meet(host, a)
        s.meet(host, Host(4))
    frames = fails_over(s, a, (b, c.also(ip=b.ip)), True)
    return s, [("moved", frames[1], 1, [c.gid]), ("moved", frames[2], 1, [b.gid])]


@case
def failovers_without_announcements():
    """The same without a gap in the PSNs: both ports use the address."""
    s, a, b, c = link()
    for host in (b, c):
        s.meet(host, a)
    ports, frames = (b, c.also(ip=b.ip)), []
    for i in range(3):
        s.wait(10)
        s.arp_request(ports[i % 2], a.ip)
        frames.append(number(s))
        s.arp_reply(a, ports[i % 2])
    return s, [("moved", frames[1], 1, [c.gid]), ("duplicate_ip", frames[2], 1, [b.gid])]


# ---- ways


@case
def datagram_that_passes_four_routers():
    """Each sends it once, with a lower TTL."""
    s, a, b, c = link()
    hosts = [a, b, c, Host(4), Host(5), Host(6)]
    for i in range(5):
        body = ib.udp(a.ip, "10.9.9.9", 5000, 5001, ib.fill(40))
        datagram = ib.ipv4(a.ip, "10.9.9.9", 17, body, ttl=64 - i, ident=7)
        s.ud(hosts[i], hosts[i + 1], ib.encap(0x0800, datagram))
    return s, []


def trace(s, a, b, answers):
    """Pings with a small TTL to a host behind b."""
    far = b.also(ip="10.9.0.5")
    for i in range(6):
        request = bytes(ib.icmp_echo(7, i, ib.fill(56), False))
        datagram = ib.ipv4(a.ip, far.ip, 1, request, ttl=1 + i % 2)
        s.ud(a, b, ib.encap(0x0800, datagram))
        if answers:
            time_exceeded(s, b, a, datagram)
        s.wait(1)
    goes_on(s)


@case
def pings_that_trace_a_route():
    s, a, b, _ = link()
    s.meet(a, b)
    trace(s, a, b, True)
    return s, []


@case
def pings_with_a_small_ttl_without_an_answer():
    s, a, b, _ = link()
    s.meet(a, b)
    before = number(s)
    trace(s, a, b, False)
    return s, [("echo_unanswered", before + 6, 2, ["10.9.0.5"])]


# ---- connections


def crossing(refuses_first):
    """REQs of b and of a cross; b has the larger address. One of them refuses the other's."""
    s, a, b, _ = link()
    s.meet(a, b)
    one, other = Link(s, a, b, 1), Link(s, b, a, 2)
    one.req(ib.service_id_linux(b.qpn), ib.private_data(a.qpn, 65524))
    other.req(ib.service_id_linux(a.qpn), ib.private_data(b.qpn, 65524))
    s.wait(0.02)
    (one if refuses_first else other).rej(
        28, ib.private_data((b if refuses_first else a).qpn, 65524)
    )
    return s, a, b


@case
def request_that_must_be_refused():
    """RFC 4755 section 3.3: b's address is the larger one."""
    return crossing(True)[0], []


@case
def request_that_must_be_refused_in_a_capture_that_begins_late():
    s, _, _ = crossing(True)
    del s.records[: number(s) - 3]
    return s, []


@case
def request_that_must_not_be_refused():
    s, a, b = crossing(False)
    return s, [("connection_refused", number(s), 1, [a.gid, "reason 28"])]


# ---- the SA


@case
def sa_that_answers_from_both_of_its_lids():
    """Its port has the LMC 1: LIDs 8 and 9. Its GSI counts on."""
    s, a, b, _ = link()
    for i in range(4):
        sa = s.sm.also()
        sa.lid = 8 + i % 2
        sm, s.sm = s.sm, sa
        s.psns[8, 1] = s.psns[9, 1] = max(s.psns.get((8, 1), 0), s.psns[9, 1])
        s.path(a, b)
        s.sm = sm
    return s, []


@case
def group_that_the_host_of_the_sa_receives():
    """Its joins are not on the wire; later it sends a datagram."""
    s = FromStart()
    a, b, c = (Host(n) for n in (1, 2, 3))
    s.up(a, b, c)
    s.join(a, s.group4("239.1.2.3"), SEND_ONLY)
    s.wait(2)
    s.to_group4(a, "239.1.2.3")
    s.ud(s.sm, a, echo(s.sm, a, 1, 56))
    s.to_group4(a, "239.1.2.3")
    return s, []


# ---- another subnet


@case
def port_of_another_subnet_behind_two_routers():
    """Its packets come from the LIDs of the routers."""
    s, a, b, _ = link()
    far = Host(30, prefix="fec0:0:0:1::")
    for i in range(6):
        s.wait(2)
        router = far.also()
        router.lid = (0x20, 0x30)[i % 2]
        s.psns[router.lid, far.qpn] = i
        s.arp_request(router, b.ip, hop=62)
    return s, []


@case
def port_of_another_subnet_in_a_capture_that_begins_late():
    """No join and no PortInfo shows the prefix of the subnet."""
    s, a, _, _ = link()
    far = Host(30, prefix="fec0:0:0:1::")
    routers = far.also(lid=0x20), far.also(lid=0x3F0)
    s.records.clear()
    for i in range(12):
        s.wait(1)
        s.ud(a, routers[0], echo(a, far, i, 56), grh=True, hop=64)
        s.ud(routers[i % 2], a, echo(far, a, i, 56, True), grh=True, hop=62)
        if i % 3 == 2:
            s.arp_request(routers[i // 3 % 2], a.ip, hop=62)
            s.arp_reply(a, routers[0], grh=True, hop=64)
    return s, []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a switch that cut a port off, and a connection that begins with a wrong PSN: each with a harmless
look-alike. A case returns its tape and the events that it must raise: (event, frame, count, texts that it
has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.connection import Link
from frames.events import number
from frames.events_routes import get_node_info, send
from frames.ib import ONLY
from frames.messages import ping, udp4
from frames.subnet import PATH_BY_GIDS, SMP_RESP, SMP_SET, Host, Subnet

CASES = []
SWITCH = Host(0x77)
SL_TO_VL, LINEAR, MULTICAST = 0x0017, 0x0019, 0x001B
NO_PORT = 0xFF
AT = 4  # the port of the switch to which host n is connected is n + 4


def case(build):
    CASES.append(build)
    return build


def set_table(s, attribute, data, modifier=0):
    """Returns the frame of the Set."""
    tid = s.next_tid()
    send(s, SMP_SET, (0, 1), tid, attribute, data, modifier)
    send(s, SMP_RESP, (0, 1), tid, attribute, data, modifier)
    return number(s) - 1


def lids(ports):
    """A block of the LinearForwardingTable; PORTS: by LID."""
    return bytes(ports.get(lid, NO_PORT) for lid in range(64))


def groups(*masks):
    return b"".join(map(ib.u16, masks)).ljust(64, b"\0")


def at(*hosts):
    return {host.lid: host.lid + AT for host in hosts}


def fabric(sl=0):
    """Three hosts at one switch; the SM asks who they are, and sets the tables."""
    s = Subnet(sl=sl)
    hosts = [Host(n + 1) for n in range(3)]
    get_node_info(s, SWITCH, (0, 1))
    for host in hosts:
        get_node_info(s, host, (0, 1, host.lid + AT))
    set_table(s, LINEAR, lids(at(*hosts)))
    s.up(*hosts)
    set_table(s, MULTICAST, groups(*[0x00E0] * 8))
    a, b, c = hosts
    for one, other in ((a, b), (c, b), (a, c)):
        s.meet(one, other)
    return s, a, b, c


def pings_in_vain(s, a, b, c, sends=True):
    """Nothing reaches b; SENDS: it is there."""
    for n in range(3):
        s.ud(a, b, ping(a, b, seq=100 + n))
        s.wait(1)
    if sends:
        s.to_group4(b, "224.0.0.1")
    s.wait(3)
    s.ping(c, a)
    return number(s) - 1


@case
def lid_that_leads_to_another_port():
    s, a, b, c = fabric()
    wrong = set_table(s, LINEAR, lids({**at(a, b, c), b.lid: 9}))
    found = pings_in_vain(s, a, b, c)
    texts = ["LID 2 to the port 9 since frame %d" % wrong, "it is at the port 6"]
    return s, [("echo_unanswered", found, 1, []), ("path_cut", found, 1, texts)]


@case
def lid_that_leads_nowhere():
    s, a, b, c = fabric()
    wrong = set_table(s, LINEAR, lids(at(a, c)))
    set_table(s, LINEAR, lids(at(a, c)))
    found = pings_in_vain(s, a, b, c)
    texts = ["LID 2 to none since frame %d" % wrong]
    return s, [("echo_unanswered", found, 1, []), ("path_cut", found, 1, texts)]


@case
def lid_of_a_port_that_is_gone():
    """The subnet manager removes it afterwards."""
    s, a, b, c = fabric()
    set_table(s, LINEAR, lids(at(a, c)))
    found = pings_in_vain(s, a, b, c, sends=False)
    return s, [("echo_unanswered", found, 1, [])]


@case
def lid_of_a_port_whose_cable_was_moved():
    """It is at the port 9 now, and does not answer for another reason."""
    s, a, b, c = fabric()
    get_node_info(s, b, (0, 1, 9))
    set_table(s, LINEAR, lids({**at(a, b, c), b.lid: 9}))
    found = pings_in_vain(s, a, b, c)
    return s, [("echo_unanswered", found, 1, [])]


@case
def lid_that_leads_to_its_port_again():
    s, a, b, c = fabric()
    set_table(s, LINEAR, lids({**at(a, b, c), b.lid: 9}))
    set_table(s, LINEAR, lids(at(a, b, c)))
    found = pings_in_vain(s, a, b, c)
    return s, [("echo_unanswered", found, 1, [])]


def asks_again(table, repeats=3, is_early=False):
    """b repeats a request to the SA after each answer. TABLE: of the LIDs, set before the ports are active.
    IS_EARLY: it is set before the SM knows of b."""
    s = Subnet()
    a, b, c = hosts = [Host(n + 1) for n in range(3)]
    get_node_info(s, SWITCH, (0, 1))
    wrong = set_table(s, LINEAR, lids(table(a, b, c))) if is_early else 0
    for host in hosts:
        get_node_info(s, host, (0, 1, host.lid + AT))
    for state in (ib.INIT, ib.ARMED, ib.ACTIVE):
        for host in hosts:
            data = s.port_info_of(host.lid, state=state)
            for method in (SMP_SET, SMP_RESP):
                send(s, method, (0, 1, host.lid + AT), s.next_tid(), ib.PORT_INFO, data, 1)
        if not wrong:
            wrong = set_table(s, LINEAR, lids(table(a, b, c)))
    before, tid = number(s), s.next_tid()
    values = dict(pkey=0xFFFF, reversible=1)
    for _ in range(repeats):
        data = ib.path_record(a.gid, b.gid, numb=1, **values)
        s.sa(b, s.sm, ib.GET, tid, ib.ATTR_PATH_RECORD, data, PATH_BY_GIDS)
        reply = ib.path_record(a.gid, b.gid, a.lid, b.lid, mtu=4, rate=3, life=18, **values)
        s.sa(s.sm, b, ib.GET_RESP, tid, ib.ATTR_PATH_RECORD, reply, PATH_BY_GIDS, attr_offset=8)
        s.wait(1)
    return s, b, before, wrong


@case
def lid_that_never_had_a_port():
    s, b, before, wrong = asks_again(lambda a, b, c: at(a, c))
    texts = [b.gid, "LID 2 to none since frame %d" % wrong, "it is at the port 6"]
    return s, [("path_cut", before + 5, 1, texts)]


@case
def lid_that_has_its_port_after_the_port_was_brought_up():
    return asks_again(at)[0], []


@case
def lid_without_a_port_before_the_port_was_found():
    """The table that was set then was not captured."""
    return asks_again(lambda a, b, c: at(a, c), is_early=True)[0], []


@case
def lid_without_a_port_whose_request_is_sent_again_once():
    return asks_again(lambda a, b, c: at(a, c), repeats=2)[0], []


def swept(*sweeps):
    """Sweeps of the SM, each with the ports of the switch at which it finds one GUID."""
    s, a = Subnet(), Host(1)
    get_node_info(s, SWITCH, (0, 1))
    for ports in sweeps:
        for port in ports:
            get_node_info(s, a, (0, 1, port))
        s.wait(10)
    return s


@case
def guid_at_two_ports_of_a_switch():
    s = swept((5, 7), (5, 7), (5, 7))
    texts = ["0x%016x" % Host(1).guid, "ports 5 and 7 of one switch", "2 times"]
    return s, [("duplicate_gid", number(s) - 4, 2, texts)]


@case
def guid_of_a_port_whose_cable_was_moved():
    return swept((5,), (5, 7), (7,), (7,)), []


@case
def guid_of_a_port_whose_cable_is_moved_again_and_again():
    return swept((5,), (7,), (5,), (7,), (5,)), []


def asks_in_vain(s, a, b, c):
    for _ in range(3):
        s.arp_request(a, b.ip)
        s.wait(1)
    s.to_group4(b, "224.0.0.1")
    s.ping(c, a)
    return number(s) - 2


@case
def group_that_does_not_lead_to_a_member():
    s, a, b, c = fabric()
    wrong = set_table(s, MULTICAST, groups(*[0x00A0] * 8))
    set_table(s, MULTICAST, groups(*[0x00A0] * 7, 0x00E0))
    found = asks_in_vain(s, a, b, c)
    texts = ["port 6 since frame %d" % wrong, "ff12:401b:ffff::ffff:ffff"]
    return s, [("arp_unanswered", found, 1, []), ("path_cut", found, 1, texts)]


@case
def group_that_leads_to_a_member_that_does_not_answer():
    s, a, b, c = fabric()
    set_table(s, MULTICAST, groups(*[0x00E0] * 8))
    found = asks_in_vain(s, a, b, c)
    return s, [("arp_unanswered", found, 1, [])]


@case
def group_that_a_port_has_left():
    s, a, b, c = fabric()
    s.leave(b, s.broadcast())
    set_table(s, MULTICAST, groups(*[0x00A0] * 8))
    for _ in range(3):
        s.arp_request(a, b.ip)
        s.wait(1)
    s.ping(c, a)
    return s, [("arp_unanswered", number(s) - 1, 1, [])]


def discards(sl):
    """Each SL has the VL of its number; SL: VL 15."""
    vls = [vl if vl != sl else 15 for vl in range(15)] + [0]
    return bytes(vls[n] << 4 | vls[n + 1] for n in range(0, 16, 2))


@case
def sl_that_a_switch_discards():
    """From a, at port 5, to b, at port 6."""
    s, a, b, c = fabric(sl=3)
    wrong = set_table(s, SL_TO_VL, discards(3), 0x0506)
    found = pings_in_vain(s, a, b, c)
    texts = ["SL 3 from the port 5 to the port 6 since frame %d" % wrong]
    return s, [("echo_unanswered", found, 1, []), ("path_cut", found, 1, texts)]


@case
def sl_of_no_path_that_a_switch_discards():
    s, a, b, c = fabric(sl=3)
    set_table(s, SL_TO_VL, discards(4), 0x0506)
    set_table(s, SL_TO_VL, discards(3), 0x0706)
    found = pings_in_vain(s, a, b, c)
    return s, [("echo_unanswered", found, 1, [])]


# ---- the first PSN of a connection


def begins_with(psn, times=2):
    """The REP says that a's first packet has the PSN 0x4000."""
    s = Subnet()
    a, b = Host(1), Host(2)
    s.up(a, b)
    c = Link(s, a, b, psns=(0x10, 0x4000)).open()
    rep = number(s) - 1
    for n in range(times):
        c.packet(True, ONLY, udp4(a, b.ip), psn + n)
        s.wait(0.1)
        c.ack(True, 0x4000, 0x60)
        s.wait(0.1)
    return s, rep


@case
def sender_that_begins_with_its_own_psn():
    s, rep = begins_with(0x800010)
    texts = ["LID 1", "it named PSN %d" % 0x4000, "in frame %d" % rep]
    return s, [("wrong_psn", rep + 3, 1, texts)]


@case
def sender_whose_first_packets_are_lost():
    s, rep = begins_with(0x4004)
    return s, []

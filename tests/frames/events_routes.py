# SPDX-License-Identifier: GPL-2.0-or-later
"""SMPs over several routes, of several subnet managers, and Sets beside Gets: each is told from the
others. A case returns its tape and the events that it must raise: (event, frame, count, texts that it
has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import link, number
from frames.fabric import smp_frame
from frames.subnet import SMP_GET, SMP_RESP, SMP_SET, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


def send(s, method, route, tid, attribute=ib.NODE_INFO, data=b"", modifier=0, psn=None):
    """An SMP of the subnet manager, or the response of the port at the end of the route."""
    sender = ("port", route) if method == SMP_RESP else ("sm", tid >> 32)
    mad = ib.directed_smp(method, tid, attribute, modifier, data, route)
    s.put(smp_frame(mad, s.next_psn(*sender) if psn is None else psn))


def get_node_info(s, host, route, agent=0):
    """The upper half of the transaction ID tells the subnet managers apart."""
    tid = agent << 32 | s.next_tid()
    send(s, SMP_GET, route, tid)
    send(s, SMP_RESP, route, tid, data=ib.node_info(host.guid, 8, 0x1003, 0x2C9))


# ---- the same packet again


def sent_again(answered):
    """A subnet management interface that does not count its PSNs sends the same packet again, while
    another port answers over its own route. ANSWERED: the port answers the third one."""
    s, a, b, _ = link()
    route, other = (0, 1, a.lid), (0, 1, b.lid)
    get_node_info(s, a, route)
    get_node_info(s, b, other)
    before, tid = number(s), s.next_tid()
    for n in range(3):
        send(s, SMP_GET, route, tid, psn=1000)
        if answered and n == 2:
            send(s, SMP_RESP, route, tid, data=ib.node_info(a.guid, 8, 0x1003, 0x2C9))
        s.wait(1)
        get_node_info(s, b, other)
    s.wait(5)
    get_node_info(s, b, other)
    return s, before


@case
def smp_that_is_sent_again_with_its_psn():
    s, before = sent_again(False)
    texts = ["directed route 0,1,1", "3 requests of its NodeInfo"]
    return s, [("smp_unanswered", before + 8, 1, texts)]


@case
def smp_that_is_sent_again_and_answered():
    return sent_again(True)[0], []


# ---- long routes: 15 ports on the way are kept with a question


def over(ports, answered, other=None):
    """Routes of so many ports that differ in the last one; OTHER: one of them is this one. The port
    at its end answers; ANSWERED: both do."""
    s, a, b, _ = link()
    way = (0,) + (1,) * (ports - 1)
    route, other = way + (7,), other or way + (8,)
    get_node_info(s, a, route)
    get_node_info(s, b, other)
    before, tid = number(s), s.next_tid()
    for _ in range(3):
        send(s, SMP_GET, route, tid)
        if answered:
            send(s, SMP_RESP, route, tid, data=ib.node_info(a.guid, 8, 0x1003, 0x2C9))
        s.wait(1)
        get_node_info(s, b, other)
    return s, before


def unanswered_over(ports):
    s, before = over(ports, False)
    route = ",".join("0" + "1" * (ports - 1) + "7")
    return s, [("smp_unanswered", before + 8, 1, ["directed route " + route, "3 requests"])]


@case
def smp_without_an_answer_over_fourteen_ports():
    return unanswered_over(14)


@case
def smp_without_an_answer_over_fifteen_ports():
    return unanswered_over(15)


@case
def smp_with_an_answer_over_fifteen_ports():
    return over(15, True)[0], []


@case
def smps_over_sixteen_ports_are_not_followed():
    return over(16, False, (0, 1, 2))[0], []


@case
def smps_over_sixty_three_ports_are_not_followed():
    return over(63, False, (0, 1, 2))[0], []


# ---- a Set beside the Get of the same


def set_beside_get(s, a, b, unanswered):
    """The port answers one of the two."""
    route, other = (0, 1, a.lid), (0, 1, b.lid)
    info = s.port_info_of(a.lid, neighbor_mtu=4, mtu_cap=4, state=ib.ACTIVE)
    get_node_info(s, a, route)
    before, tid = number(s), s.next_tid()
    for _ in range(3):
        send(s, unanswered, route, tid, ib.PORT_INFO, info, 1)
        answered = s.next_tid()
        send(s, SMP_GET + SMP_SET - unanswered, route, answered, ib.PORT_INFO, info, 1)
        send(s, SMP_RESP, route, answered, ib.PORT_INFO, info, 1)
        s.wait(1)
        get_node_info(s, b, other)
    return before


@case
def set_without_an_answer_whose_get_has_one():
    s, a, b, _ = link()
    before = set_beside_get(s, a, b, SMP_SET)
    return s, [
        ("smp_unanswered", before + 14, 1, ["directed route 0,1,1", "3 requests", "PortInfo"])
    ]


@case
def get_without_an_answer_whose_set_has_one():
    """The response has what the Get asks for."""
    s, a, b, _ = link()
    set_beside_get(s, a, b, SMP_GET)
    return s, []


@case
def set_that_is_answered_each_time():
    """No Get is open beside it."""
    s, a, b, _ = link()
    route, info, tid = (0, 1, a.lid), s.port_info_of(a.lid, state=ib.ACTIVE), s.next_tid()
    get_node_info(s, a, route)
    for _ in range(4):
        for method in (SMP_SET, SMP_RESP):
            send(s, method, route, tid, ib.PORT_INFO, info, 1)
        s.wait(1)
        get_node_info(s, b, (0, 1, b.lid))
    return s, []


@case
def gets_and_sets_of_many_ports():
    """More than there are places for: a question that gives its place to another is none."""
    s = Subnet()
    for n in range(3000):
        route, tid = (0, 1 + n // 60, 1 + n % 60), s.next_tid()
        send(s, SMP_GET, route, tid, ib.PORT_INFO, b"", 1)
        send(s, SMP_SET, route, tid + 1, ib.PORT_INFO, bytes(64), 1)
        for answered in (tid, tid + 1):
            send(s, SMP_RESP, route, answered, ib.PORT_INFO, bytes(64), 1)
        s.tid += 1
    s.wait(5)
    get_node_info(s, s.sm, (0, 1))
    return s, []


# ---- two subnet managers


def goes_down(lossy_agent):
    """The port was Active, and is in Initialize. Two managers look at the same ports in turn; the
    capture lost a packet of one of them after the NodeInfo of the port."""
    s, a, b, _ = link()
    up = s.port_info_of(a.lid, neighbor_mtu=4, mtu_cap=4, state=ib.ACTIVE)
    down = s.port_info_of(a.lid, neighbor_mtu=4, mtu_cap=4, state=ib.INIT)
    of_b = s.port_info_of(b.lid, neighbor_mtu=4, mtu_cap=4, state=ib.ACTIVE)

    def port_info(host, data, agent):
        tid = agent << 32 | s.next_tid()
        send(s, SMP_GET, (0, 1, host.lid), tid, ib.PORT_INFO, b"", 1)
        send(s, SMP_RESP, (0, 1, host.lid), tid, ib.PORT_INFO, data, 1)

    for _ in range(12):
        for agent in (0, 1):
            get_node_info(s, a, (0, 1, a.lid), agent)
            get_node_info(s, b, (0, 1, b.lid), agent)
    port_info(b, of_b, 1)
    port_info(a, up, 0)
    s.next_psn("sm", lossy_agent)
    port_info(a, up, 0)
    port_info(b, of_b, 1)
    port_info(b, of_b, 1)
    port_info(a, down, 0)
    return s, a


@case
def port_that_goes_down_while_packets_of_another_manager_are_lost():
    s, a = goes_down(1)
    return s, [("port_state", number(s), 1, [a.gid, "Initialize"])]


@case
def port_that_may_have_been_replaced_while_packets_of_its_manager_were_lost():
    return goes_down(0)[0], []

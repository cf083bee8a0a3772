# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures with events of packets that do not fit what the subnet's managers say, or that receivers
drop, each with harmless look-alikes. A case returns its tape and the events that it must raise:
(event, frame, count, texts that it has). NUMBER is the number of the last frame so far."""
from frames import ib
from frames.events import copy_last, number
from frames.fabric import smp_frame
from frames.subnet import SMP_SET, Host, Subnet

CASES = []


def case(build):
    CASES.append(build)
    return build


# ---- P_Key tables


def brought_up(*pkeys):
    """A host that the SM brings up, with these P_Keys."""
    s, a = Subnet(), Host(1)
    s.node_info(a)
    s.port_info(a)
    s.pkey_table(a, *pkeys)
    s.node_info(a)
    return s, a


@case
def pkey_that_is_limited_in_the_table():
    """The SM gives the port 0x7fff only: its adapter has no full P_Key to send with."""
    s, a = brought_up(0x7FFF)
    s.up(a)
    before = number(s)
    s.arp_request(a, "10.0.0.2")
    copy_last(s)
    s.arp_request(a, "10.0.0.3")
    texts = [a.gid, "P_Key 0xffff", "only the limited one"]
    return s, [("wrong_pkey", before + 1, 2, texts)]


@case
def pkey_that_is_not_in_the_table_any_more():
    """The SM takes the partition 0x8001 out of the table. It sends on."""
    s, a = brought_up(0xFFFF, 0x8001)
    s.pkey_table(a, 0xFFFF)
    s.node_info(a)
    s.up(a)
    s.arp_request(a, "10.0.0.2", dst=s.broadcast(0x8001), pkey=0x8001)
    return s, [("wrong_pkey", number(s), 1, ["P_Key 0x8001", "none of this partition"])]


@case
def pkeys_that_are_in_the_table():
    """Both memberships of a partition, of which the full one is in another place."""
    s, a = brought_up(0x7FFF, 0x8001, 0xFFFF)
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []


@case
def pkey_table_whose_next_change_was_lost():
    """An answer of the port is missing, as its PSNs show: it may be the one to another Set."""
    s, a = brought_up(0x7FFF)
    s.next_psn("port", a.lid)
    s.node_info(a)
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []


@case
def pkey_table_whose_change_is_not_answered():
    """The port has its table from before until it has answered the Set."""
    s, a = brought_up(0xFFFF)
    data = ib.u16(0x7FFF).ljust(64, b"\0")
    mad = ib.directed_smp(SMP_SET, s.next_tid(), ib.PKEY_TABLE, 0, data, (0, 1, a.lid))
    s.put(smp_frame(mad, s.next_psn("sm", a.lid)))
    s.up(a)
    s.arp_request(a, "10.0.0.2")
    return s, []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures that begin late, with datagrams to one group: the senders joined it before."""
from frames.events import number
from frames.subnet import Host, Subnet

GROUP = "239.1.2.3"


def late(n=3):
    """A subnet with n hosts; the group's MLID is 0xc000."""
    s = Subnet()
    hosts = [Host(i + 1) for i in range(n)]
    s.mlid(s.group4(GROUP))
    return s, *hosts


def send(s, host, **fields):
    """A datagram to the group. Returns its number."""
    s.wait(1)
    s.to_group4(host, GROUP, **fields)
    return number(s)


def another_sl():
    """b's datagram in frame 2 has the SL 3; a's in the frames 1 and 3 have 0."""
    s, a, b, _ = late()
    for host, fields in ((a, {}), (b, {"sl": 3}), (a, {})):
        send(s, host, **fields)
    return s

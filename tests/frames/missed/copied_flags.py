# SPDX-License-Identifier: GPL-2.0-or-later
"""Unknown flags in an address that the sender copied from another node's message.

The sender of an address must send these flags as 0 (RFC 4391 section 9.1.1, RFC 4755 section 3.1).
The target of a Redirect is another node (RFC 4861 section 4.5), and the router has its address from
a message of that node, which may not be in the capture. So the router's packet decides nothing."""
from frames import ib
from frames.missed import Expected, Outcome, by
from frames.unusual import link

RULES = {0x01: "rfc4391.9.1.1.reserved-flags", 0x81: "rfc4755.3.1.flags"}


def redirected(flags, of_router):
    """The flags are in the Redirect's option, or in the option of the router's solicitation."""
    s, a, router, better = link(1, 2, 3)
    s.resolve6(a, router)
    addr = ib.lladdr(better.qpn, better.gid, flags)
    body = ib.nd_redirect(better.ll, "2001:db8::99", ib.nd_lladdr_option(2, addr))
    if of_router:
        own = ib.lladdr(router.qpn, router.gid, flags)
        body = ib.nd_ns(a.ll, ib.nd_lladdr_option(1, own))
    s.icmp6(router, a, a.ll, body)
    return s.pcap()


NOTHING = Expected("is inconclusive once", lambda c: (c.failed, c.inconclusive) == (0, 1))
ONE = Expected("fails once", lambda c: c.failed == 1)
CASES = [
    Outcome(f"{what}, {flags:#x}", expected, rule, by(redirected, flags, router), deviations=None)
    for what, expected, router in (
        ("a Redirect decides nothing", NOTHING, False),
        ("the router's own address does", ONE, True),
    )
    for flags, rule in RULES.items()
]

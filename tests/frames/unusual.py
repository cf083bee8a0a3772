# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual traffic whose senders all do what the RFCs allow: no rule may fail.

A scenario is a function that returns the Subnet with its frames (or a file's bytes). The scenarios
are written from the texts of RFC 4391, 4755 and 4390 and of IBA volume 1, not from our checks."""
import functools

from frames.subnet import Host, Subnet

SCENARIOS = {}  # name to function


def scenario(make):
    assert make.__name__ not in SCENARIOS
    SCENARIOS[make.__name__] = make
    return make


def on(make, *numbers, **options):
    """Enters a function that adds frames to the subnet that make() returns, with its hosts."""

    def enter(add):
        @functools.wraps(add)
        def whole():
            subnet, *hosts = make(*numbers, **options)
            add(subnet, *hosts)
            return subnet

        return scenario(whole)

    return enter


def link(*numbers, **options):
    """A subnet, and hosts of these numbers whose interfaces are up."""
    subnet = Subnet(**options)
    hosts = [Host(n, prefix=subnet.prefix) for n in numbers]
    subnet.up(*hosts)
    return (subnet, *hosts)


def resolved(*numbers, **options):
    """A link whose first host has resolved the second one's address."""
    subnet, *hosts = link(*numbers, **options)
    subnet.resolve(*hosts[:2])
    return (subnet, *hosts)


def met(*numbers, **options):
    """The same, and they have sent each other an echo."""
    subnet, *hosts = resolved(*numbers, **options)
    subnet.ping(*hosts[:2])
    return (subnet, *hosts)


def capture(name):
    """The file's bytes."""
    made = SCENARIOS[name]()
    return made if isinstance(made, bytes) else made.pcap()


from frames import unusual_addresses  # noqa: E402,F401 they fill the table
from frames import unusual_connections  # noqa: E402,F401
from frames import unusual_datagrams  # noqa: E402,F401
from frames import unusual_groups  # noqa: E402,F401
from frames import unusual_management  # noqa: E402,F401
from frames import unusual_neighbours  # noqa: E402,F401

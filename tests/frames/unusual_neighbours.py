# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual Neighbour Discovery and IPv6 (RFC 4861, 4862, 8981), all of it allowed."""
from frames import ib
from frames.messages import solicited_node
from frames.ib import encap
from frames.fabric import SEND_ONLY
from frames.subnet import FromStart, Host
from frames.unusual import link, on
from frames.unusual_management import managed

ANY, ALL_NODES, ALL_ROUTERS = "::", "ff02::1", "ff02::2"
OVERRIDE, SOLICITED, ROUTER = 0x20000000, 0x40000000, 0x80000000
GLOBAL = "2001:db8::"


def echo6(s, a, b, source, target, **options):
    """An echo request and its reply."""
    for src, dst, one, other, kind in ((a, b, source, target, 128), (b, a, target, source, 129)):
        body = ib.u8(kind) + ib.u8(0) + ib.u16(0) + ib.u16(7) + ib.u16(1) + ib.fill(32)
        s.ud(src, dst, encap(0x86DD, ib.icmpv6(one, other, body)), **options)


@on(link, 1, 2)
def duplicate_address_detection(s, a, b):
    """RFC 4862: the solicitation has the source ::, without an option; there is no response."""
    group = solicited_node(a.ll)
    s.icmp6(a, s.group6(group), group, ib.nd_ns(a.ll), ANY)
    s.wait(1)
    s.resolve6(b, a)
    echo6(s, b, a, b.ll, a.ll)


@on(link, 1, 2)
def duplicate_address_is_defended(s, a, b):
    """The response to a solicitation from :: goes to all nodes (RFC 4861 section 7.2.4)."""
    address = GLOBAL + "1"
    group = solicited_node(address)
    for host in (a, b):
        s.join(host, s.group6(group))
    s.icmp6(b, s.group6(group), group, ib.nd_ns(address), ANY)
    body = ib.nd_na(address, ib.nd_lladdr_option(2, a.addr), flags=OVERRIDE)
    s.icmp6(a, s.group6(ALL_NODES), ALL_NODES, body, address)


@on(link, 1, 2)
def privacy_addresses(s, a, b):
    """RFC 8981: a global address whose interface identifier is random, besides the link-local
    one."""
    temporary, server = GLOBAL + "5d3f:91aa:7c02:1b44", GLOBAL + "2"
    s.join(a, s.group6(solicited_node(temporary)))
    s.join(b, s.group6(solicited_node(server)))
    s.join(a, s.group6(solicited_node(server)), SEND_ONLY)
    s.solicit(a, server, temporary)
    s.path(b, a)
    s.advertise(b, a, server, temporary)
    s.path(a, b)
    echo6(s, a, b, temporary, server)


@on(link, 1, 2)
def unsolicited_advertisement_of_a_new_qpn(s, a, b):
    """RFC 4861 section 7.2.6: an interface whose QPN changed announces it to all nodes."""
    s.resolve6(a, b)
    echo6(s, a, b, a.ll, b.ll)
    new = b.also(qpn=0x7102)
    s.leave(b, s.broadcast())
    s.wait(3)
    s.up(new)
    body = ib.nd_na(b.ll, ib.nd_lladdr_option(2, new.addr), flags=OVERRIDE)
    s.icmp6(new, s.group6(ALL_NODES), ALL_NODES, body)
    echo6(s, a, new, a.ll, b.ll)


def restarted(*numbers):
    """The first host's interface gets another QPN; the others have resolved it before, and only the
    second one receives the new address."""
    s, a, *peers = managed(*numbers, subnet=FromStart)
    for peer in peers:
        s.resolve(peer, a)
    s.leave(a, s.broadcast())
    s.wait(1)
    new = a.also(qpn=0x7102)
    s.join(new, s.broadcast())
    s.resolve(new, peers[0])
    return s, a, new, *peers


def echo_request(s, src, dst):
    s.ud(src, dst, encap(0x0800, ib.ping4(src.ip, dst.ip)))


@on(restarted, 1, 2, 3)
def linux_revalidates_an_old_entry_when_it_uses_it(s, a, new, _unused, b):
    """An hour after the QPN changed, b has something to send: it uses its stale entry, and asks five
    seconds later, first the old address, then all nodes (RFC 4861 section 7.3.3; RFC 4391 section
    9.4: periodically)."""
    s.wait(3600)
    for _ in range(5):
        echo_request(s, b, a)
        s.wait(1)
    for _ in range(3):
        s.arp_request(b, a.ip, a)
        s.wait(1)
    s.resolve(b, new)
    s.ping(b, new)


@on(restarted, 1, 2, 3)
def bsd_revalidates_an_entry_in_use_after_20_minutes(s, a, new, _unused, b):
    """b sends all the time. Its entry ends 20 minutes after it was made."""
    for _ in range(19):
        echo_request(s, b, a)
        s.wait(60)
    s.resolve(b, new)
    s.ping(b, new)


@on(restarted, 1, 2, 3)
def two_functions_of_an_adapter_use_an_old_address(s, a, new, c, b):
    """b and its virtual function share a LID (IBA 4.1.1); each uses its stale entry for a moment, half
    an hour apart."""
    function = Host(4, lid=b.lid)
    s.up(function)
    echo_request(s, b, a)
    s.resolve(b, new)
    s.wait(1800)
    echo_request(s, function, a)
    s.resolve(function, new)
    s.ping(c, new)


@on(link, 1, 2, 3)
def anycast(s, a, b, c):
    """Two routers respond for one anycast address, both without the override flag (RFC 4861 section
    7.2.7)."""
    address = GLOBAL + "ffff"
    group = s.group6(solicited_node(address))
    for host, state in ((b, 1), (c, 1), (a, SEND_ONLY)):
        s.join(host, group, state)
    s.solicit(a, address)
    for host in (b, c):
        s.path(host, a)
        s.advertise(host, a, address, flags=SOLICITED)
    s.path(a, b)
    echo6(s, a, b, a.ll, address)


@on(link, 1, 2)
def unreachability_detection(s, a, b):
    """RFC 4861 section 7.2.2 and 7.2.4: a unicast solicitation and its response need no option."""
    s.resolve6(a, b)
    s.wait(30)
    s.icmp6(a, b, b.ll, ib.nd_ns(b.ll))
    s.icmp6(b, a, a.ll, ib.nd_na(b.ll, flags=SOLICITED))


@on(link, 1, 2, 3)
def redirect(s, a, router, better):
    """A router redirects a host to a better first hop on the link, and gives its link-layer
    address."""
    s.resolve6(a, router)
    body = ib.nd_redirect(better.ll, GLOBAL + "99", ib.nd_lladdr_option(2, better.addr))
    s.icmp6(router, a, a.ll, body)
    s.path(a, better)
    datagram = ib.icmpv6(a.ll, GLOBAL + "99", ib.u8(128) + bytes(7) + ib.fill(16))
    s.ud(a, better, encap(0x86DD, datagram))


@on(link, 1, 2, 3)
def redirect_without_an_option(s, a, router, better):
    s.resolve6(a, router)
    s.icmp6(router, a, a.ll, ib.nd_redirect(better.ll, GLOBAL + "99"))


@on(link, 1, 2)
def router_solicitation_and_advertisement(s, a, router):
    """The first solicitation has the source ::, without an option; the advertisement has several
    options."""
    s.join(router, s.group6(ALL_ROUTERS))
    s.join(a, s.group6(ALL_ROUTERS), SEND_ONLY)
    s.icmp6(a, s.group6(ALL_ROUTERS), ALL_ROUTERS, ib.nd_rs(), ANY)
    s.icmp6(a, s.group6(ALL_ROUTERS), ALL_ROUTERS, ib.nd_rs(ib.nd_lladdr_option(1, a.addr)))
    prefix = (
        ib.u8(3)
        + ib.u8(4)
        + b"\x40\xc0"
        + ib.u32(2592000)
        + ib.u32(604800)
        + bytes(4)
        + ib.gid(GLOBAL)
    )
    mtu = ib.u8(5) + ib.u8(1) + bytes(2) + ib.u32(2044)
    options = mtu + ib.nd_lladdr_option(1, router.addr) + prefix
    s.icmp6(router, s.group6(ALL_NODES), ALL_NODES, ib.nd_ra(options))


@on(link, 1, 2)
def router_advertisement_of_load_sharing(s, a, router):
    """RFC 4861 section 6.2.3: a router may leave its link-layer address out, and is solicited for
    it."""
    s.icmp6(router, s.group6(ALL_NODES), ALL_NODES, ib.nd_ra())
    s.resolve6(a, router)


@on(link, 1, 2)
def proxy_neighbour_discovery(s, a, router):
    """A router responds for a host on another link (RFC 4861 section 7.2.8), without the override
    flag."""
    far = GLOBAL + "7:1"
    s.join(router, s.group6(solicited_node(far)))
    s.join(a, s.group6(solicited_node(far)), SEND_ONLY)
    s.solicit(a, far)
    s.path(router, a)
    body = ib.nd_na(far, ib.nd_lladdr_option(2, router.addr), flags=SOLICITED)
    s.icmp6(router, a, a.ll, body)
    s.path(a, router)
    echo6(s, a, router, a.ll, far)


@on(link, 1, 2)
def nonce_option_beside(s, a, b):
    """RFC 7527: a solicitation carries a Nonce option."""
    group = solicited_node(a.ll)
    nonce = ib.u8(14) + ib.u8(1) + ib.fill(6)
    s.icmp6(a, s.group6(group), group, ib.nd_ns(a.ll, nonce), ANY)
    s.resolve6(b, a)


@on(link, 1)
def interface_identifier_of_a_modified_guid(s, a):
    """RFC 4391 section 8: a GUID whose u bit is 1 already is a modified EUI-64, and is not
    changed."""
    guid = 0x0202C903000000AA
    b = Host(10).also(gid="fe80::202:c903:0:aa", ll="fe80::202:c903:0:aa")
    assert b.guid == guid
    s.up(b)
    s.resolve6(a, b)


@on(link, 1, 2)
def multicast_listener_reports(s, a, querier):
    """MLDv2 reports to ff02::16 with a router alert, version 1 reports, a querier."""
    v2 = s.group6("ff02::16")
    s.join(querier, v2)
    s.join(a, v2, SEND_ONLY)
    alert = bytes((58, 0, 5, 2, 0, 0, 1, 0))

    def send(host, mgid, to, body):
        checked = ib.icmpv6(host.ll, to, body)[40:]
        s.ud(host, mgid, encap(0x86DD, ib.ipv6(host.ll, to, 0, alert + checked, hop=1)))

    query = bytes((130, 0, 0, 0)) + ib.u16(10000) + ib.u16(0) + bytes(16) + bytes((2, 125, 0, 0))
    send(querier, s.group6(ALL_NODES), ALL_NODES, query)
    record = bytes((4, 0, 0, 0)) + ib.gid("ff02::1:3")
    send(a, v2, "ff02::16", bytes((143, 0, 0, 0, 0, 0, 0, 1)) + record)
    group = s.join(a, s.group6("ff02::1:3"))
    send(a, group, "ff02::1:3", bytes((131, 0, 0, 0, 0, 0, 0, 0)) + ib.gid("ff02::1:3"))


@on(link, 1, 2)
def wider_ipv6_scopes(s, a, b):
    """IPv6 groups of site and organisation scope use the scope bits of the broadcast group in their
    MGIDs (section 4)."""
    for group in ("ff05::1:3", "ff08::5", "ff0e::101"):
        mgid = s.join(b, s.group6(group))
        s.join(a, mgid, SEND_ONLY)
        s.ud(a, mgid, encap(0x86DD, ib.ipv6(a.ll, group, 17, bytes(8), hop=4)))


@on(link, 1, 2)
def solicited_twice_in_a_moment(s, a, b):
    """Two solicitations and their responses follow each other; the second response is captured
    before the second solicitation."""
    s.resolve6(a, b)
    s.advertise(b, a, b.ll)
    s.solicit(a, b.ll)
    echo6(s, a, b, a.ll, b.ll)


@on(link, 1, 2)
def sources_next_to_the_link_local_prefix(s, a, b):
    """fec0::/10 (RFC 3879, deprecated) may have any bits after its prefix; fe80::/64 any interface
    identifier."""
    s.resolve6(a, b)
    echo6(s, a, b, "fec0:0:0:1::1", "fec1::1")
    echo6(s, a, b, "fe80::1", "fe80::ffff:ffff:ffff:ffff")

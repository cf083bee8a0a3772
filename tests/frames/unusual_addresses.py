# SPDX-License-Identifier: GPL-2.0-or-later
"""Unusual ARP and RARP (RFC 826, 903, 2390, 5227), all of it allowed."""
from frames import ib
from frames.ib import encap
from frames.messages import NOBODY
from frames.subnet import Host
from frames.unusual import link, met, on

ZERO = "0.0.0.0"
SERVICE = "10.0.0.100"


def announce(s, host, ip, op=1, **options):
    """A gratuitous ARP: sender and target address are the same."""
    s.ud(host, s.broadcast(), encap(0x0806, ib.arp(op, host.addr, ip, NOBODY, ip)), **options)


@on(link, 1, 2, 3)
def vrrp(s, a, b, c):
    """Two routers share an address; IPoIB has no virtual MAC: the master responds with its own
    link-layer address."""
    group = s.group4("224.0.0.18")
    for router in (a, b):
        s.join(router, group)

    def advertise(router, priority):
        body = bytes((0x31, 7, priority, 1, 0, 100, 0, 0)) + ib.ip4(SERVICE)
        s.ud(router, group, encap(0x0800, ib.ipv4(router.ip, "224.0.0.18", 112, body, ttl=255)))

    advertise(a, 200)
    announce(s, a, SERVICE)
    s.resolve(c, a.also(ip=SERVICE))
    s.ping(c, a.also(ip=SERVICE))
    s.wait(4)
    advertise(b, 100)
    announce(s, b, SERVICE)
    s.resolve(c, b.also(ip=SERVICE))
    s.ping(c, b.also(ip=SERVICE), seq=2)


@on(link, 1, 2, 3)
def bonding_active_backup(s, a, a2, c):
    """The bond's address moves to its second port, which has another LID, GID and QPN, and
    announces it."""
    bond = a2.also(ip=a.ip)
    s.meet(c, a)
    announce(s, bond, a.ip)
    s.path(c, bond)
    s.ping(c, bond, seq=2)
    s.wait(120)
    announce(s, a, a.ip, op=2)
    s.ping(c, a, seq=3)


@on(link, 1, 2)
def proxy_arp(s, a, router):
    """A router replies for an address on another link (RFC 1027)."""
    far = router.also(ip="10.9.9.9")
    s.resolve(a, far)
    s.ping(a, far)
    s.meet(a, router)


@on(link, 1, 2)
def gratuitous_arp(s, a, b):
    for op in (1, 2):
        announce(s, a, a.ip, op)
    s.path(b, a)
    s.ud(b, a, encap(0x0800, ib.ping4(b.ip, a.ip)))


@on(link, 1, 2)
def gratuitous_arp_with_own_target(s, a, b):
    """Some hosts repeat their link-layer address as target (RFC 5227 section 2.3 says 'ignored,
    SHOULD be zeroes')."""
    s.ud(a, s.broadcast(), encap(0x0806, ib.arp(1, a.addr, a.ip, a.addr, a.ip)))
    s.meet(b, a)


@on(link, 1, 2, 3)
def gratuitous_reply_to_a_neighbour(s, a, b, c):
    """After a failover, a host announces its address by replies to single neighbours; sender and
    target are the same ('ARP Announcement', RFC 5227 section 3)."""
    s.meet(b, a)
    s.arp_request(a, a.ip, spa=ZERO)
    for flags in (0, 0x80):
        sender = a.also(flags=flags).addr
        for neighbour in (b, c):
            s.ud(a, neighbour, encap(0x0806, ib.arp(2, sender, a.ip, sender, a.ip)))
    s.ping(b, a)


@on(link, 1, 2)
def arp_probe_and_announcement(s, a, b):
    """RFC 5227: three probes from 0.0.0.0, two announcements."""
    for _ in range(3):
        s.arp_request(a, a.ip, spa=ZERO)
        s.wait(1)
    for _ in range(2):
        announce(s, a, a.ip)
        s.wait(2)
    s.meet(b, a)


@on(met, 1, 2)
def arp_probe_is_defended(s, a, b):
    """The address is in use: its owner replies to the probe, whose sender address is 0.0.0.0, and
    announces."""
    newcomer = Host(4, ip=ZERO)
    s.up(newcomer)
    s.arp_request(newcomer, b.ip, spa=ZERO)
    s.path(b, newcomer)
    s.arp_reply(b, newcomer)
    announce(s, b, b.ip)


@on(link, 1, 2)
def arp_answer_by_broadcast(s, a, b):
    """RFC 5227 section 2.6: a reply may be sent by broadcast."""
    s.arp_request(a, b.ip)
    s.ud(b, s.broadcast(), encap(0x0806, ib.arp(2, b.addr, b.ip, a.addr, a.ip)))
    s.path(a, b)
    s.ping(a, b)


@on(link, 1, 2)
def rarp(s, a, server):
    """RFC 903: the request is broadcast, the server's reply unicast."""
    s.ud(a, s.broadcast(), encap(0x8035, ib.arp(3, a.addr, ZERO, a.addr, ZERO)))
    s.path(server, a)
    s.ud(server, a, encap(0x8035, ib.arp(4, server.addr, server.ip, a.addr, a.ip)))


@on(link, 1, 2)
def rarp_announces_a_migrated_machine(s, a, b):
    """A hypervisor announces a guest's link-layer address by a RARP request, which gets no
    reply."""
    for _ in range(3):
        s.ud(a, s.broadcast(), encap(0x8035, ib.arp(3, a.addr, ZERO, a.addr, ZERO)))
    s.meet(b, a)


@on(met, 1, 2)
def inverse_arp(s, a, b):
    """RFC 2390: operations 8 and 9, both unicast."""
    s.ud(a, b, encap(0x0806, ib.arp(8, a.addr, a.ip, b.addr, ZERO)))
    s.ud(b, a, encap(0x0806, ib.arp(9, b.addr, b.ip, a.addr, a.ip)))


@on(met, 1, 2)
def unicast_arp_request(s, a, b):
    """A cache entry is validated by a unicast request (RFC 1122 section 2.3.2.1)."""
    s.wait(60)
    s.arp_request(a, b.ip, dst=b, tha=b.addr)
    s.arp_reply(b, a)
    s.ping(a, b, seq=2)


@on(link, 1, 2)
def two_addresses_of_an_interface(s, a, b):
    second = b.also(ip="10.0.1.2")
    s.meet(a, b)
    s.resolve(a, second)
    s.ping(a, second)


@on(link, 1, 2, 3)
def two_interfaces_answer(s, a, b, b2):
    """Both interfaces of a host reply for one address ('ARP flux'); the last reply is used."""
    other = b2.also(ip=b.ip)
    s.arp_request(a, b.ip)
    for host in (b, other):
        s.path(host, a)
    s.arp_reply(b, a)
    s.arp_reply(other, a)
    s.path(a, other)
    s.ping(a, other)


@on(met, 1, 2, 3)
def address_moves_to_a_new_owner(s, a, b, c):
    """The old host is removed; after a minute another one has its address, and a client sends a
    request again."""
    s.wait(90)
    heir = c.also(ip=b.ip)
    announce(s, heir, b.ip)
    s.meet(a, heir)


@on(met, 1, 2)
def interface_made_again_with_another_qpn(s, a, b):
    """The driver is loaded again: the same port and address, another QPN; the interface leaves,
    joins and announces it."""
    s.leave(b, s.broadcast())
    new = b.also(qpn=0x9102)
    s.wait(5)
    s.up(new)
    announce(s, new, b.ip)
    s.meet(a, new)


@on(link, 1, 2)
def several_interfaces_on_a_port(s, a, b):
    """Two interfaces of one P_Key on one port, each with a QPN; they have one GID."""
    second = b.also(qpn=0x2202, ip="10.0.7.2")
    s.up(second)
    s.meet(a, b)
    s.meet(a, second)


@on(link, 1, 2)
def alias_gids_of_virtual_functions(s, a, vf1):
    """Two virtual functions share the LID of their port; each has a GID and a QPN of its own."""
    vf2 = Host(0x42, lid=2)
    s.up(vf2)
    s.meet(a, vf1)
    s.meet(a, vf2)
    s.meet(vf1, vf2)


@on(link, 1, 2)
def request_for_oneself_between_virtual_functions(s, a, vf1):
    """A multicast packet of one virtual function is looped back to the port for the others."""
    vf2 = Host(0x42, lid=2)
    s.up(vf2)
    s.arp_request(vf1, vf2.ip)
    s.records.append(s.records[-1])
    s.path(vf2, vf1)
    s.arp_reply(vf2, vf1)
    s.ping(vf1, vf2)


@on(link, 1, 2)
def static_entries(s, a, b):
    """RFC 4391 section 9.4: no ARP, the entries are static."""
    s.path(a, b)
    s.path(b, a)
    for seq in range(3):
        s.ping(a, b, seq=seq)


@on(link, 1, 2)
def requests_cross(s, a, b):
    """Both send a request at the same time, both reply."""
    s.arp_request(a, b.ip)
    s.arp_request(b, a.ip)
    s.path(a, b)
    s.path(b, a)
    s.arp_reply(b, a)
    s.arp_reply(a, b)
    s.ping(a, b)


@on(link, 1, 2)
def unanswered_requests(s, a, b):
    for _ in range(5):
        s.arp_request(a, "10.0.0.77")
        s.wait(1)
    s.meet(a, b)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The encapsulation header, link-layer addresses, ARP and Neighbour Discovery (RFC 4391 sections 6,
8 and 9)."""
from frames import ib
from frames.fabric import Node
from frames.messages import solicited_node
from frames.variants import INCONCLUSIVE, base, broken, change, conforming
from frames.variants.groups import ALL, IPV4, IPV6
from frames.variants.links import EVERY, UNICAST
from frames.fabric import C, D
from frames.messages import arp, nd, ping, ping6, udp4
from frames.world import A, B, GROUP_IPV4

MULTICAST = {**IPV4, **IPV6}
FEW = ("IPv4 unicast", "ARP request", "neighbour solicitation")

# ---- RFC 4391 6: the header


def bases_of(way):
    return ALL if way in FEW else ("default",)


for way, name in EVERY.items():
    change("rfc4391.6.reserved-zero", way, name, {"reserved": 1}, bases_of(way))
    change("rfc4391.6.reserved-zero", f"{way}, 0xff00", name, {"reserved": 0xFF00})
    change("rfc4391.6.type", f"{way}, 0x0005", name, {"type": 5}, bases_of(way))
    change("rfc4391.6.type", f"{way}, 0x05ff", name, {"type": 0x05FF})
    for length in (1, 2, 3):

        @broken("rfc4391.6.encapsulation-header", f"{way}, {length} octets", name)
        def cut_header(w, name=name, length=length):
            del w[name].payload[length:]

    @broken("rfc4391.6.type", f"{way}, nothing after the header", name)
    def no_datagram(w, name=name):
        del w[name].payload[4:]

    @broken("rfc4391.6.encapsulation-header", f"{way}, none", name, bases_of(way))
    def no_header(w, name=name):
        del w[name].payload[:4]


TYPES = {"IPv4": 0x0800, "IPv6": 0x86DD, "ARP": 0x0806, "RARP": 0x8035}
KIND = {0x0800: "IPv4", 0x86DD: "IPv6", 0x0806: "ARP", 0x8035: "RARP"}
for way, name in EVERY.items():
    for said, value in TYPES.items():

        def contradict(w, name=name, value=value):
            w[name]["type"] = value

        real = KIND[base("default")[name]["type"]]
        if real != said:
            broken("rfc4391.6.type", f"{way}, said to be {said}", name)(contradict)


@broken("rfc4391.6.type", "IPv4, unicast, ones that are no IPv4 header", "C.ping")
def ones(w):
    w["C.ping"].payload[4:] = b"\xff" * 24


for way, name in MULTICAST.items():

    @broken("rfc4391.6.grh-on-multicast", way, name, bases_of(way))
    def no_grh(w, name=name):
        w[name].drop_grh()


# ---- RFC 4391 8: interface identifiers


def speak_as(w, name, address):
    """Sets the sender's link-local address in the header and, for an advertisement, in its
    target."""
    p = w[name]
    if p.payload[44] == 136:
        p["nd.target"] = address
    else:
        p["ipv6.src"] = address
    p.fix_checksums()


BY_HAND = "a global address may have been set by hand or by DHCPv6, not made by the node"
SPEAKERS = {
    "neighbour solicitation": ("A.ns", "fe80::{}2:c903:0:1895"),
    "router solicitation": ("A.rs", "fe80::{}2:c903:0:1895"),
    "router advertisement": ("B.ra", "fe80::{}2:c902:24:f636"),
    "neighbour advertisement": ("B.na", "fe80::{}2:c902:24:f636"),
}
for way, (name, address) in SPEAKERS.items():

    @broken("rfc4391.8.u-bit", way, name, ALL)
    def not_toggled(w, name=name, address=address):
        speak_as(w, name, address.format(""))

    if way != "router advertisement":  # its source is link-local (RFC 4861 4.2)

        @broken("rfc4391.8.u-bit", f"{way}, global address", name, early=INCONCLUSIVE, why=BY_HAND)
        def not_toggled_global(w, name=name, address=address):
            speak_as(w, name, address.format("").replace("fe80::", "2001:db8::"))

        @conforming(f"{way}, global address with the modified EUI-64")
        def toggled_global(w, name=name, address=address):
            speak_as(w, name, address.format("20").replace("fe80::", "2001:db8::"))

        @conforming(f"{way}, global address that differs from the GUID in another bit")
        def like_the_guid(w, name=name, address=address):
            speak_as(w, name, address.format("").replace("fe80::2:", "2001:db8::3:"))

    @conforming(f"{way}, a modified EUI-64 of another GUID")
    def another_eui(w, name=name, address=address):
        """A bond over two ports (its address is made from the first port's GUID), or an address set
        by hand."""
        speak_as(w, name, address.format("20").replace("c90", "c91"))

    @broken("rfc4391.8.1.link-local-form", f"{way}, bits 10 to 63", name, ALL)
    def not_zero(w, name=name, address=address):
        speak_as(w, name, address.format("20").replace("::", ":0:0:1:"))

    @broken("rfc4391.8.1.link-local-form", f"{way}, bit 10", name)
    def fe90(w, name=name, address=address):
        speak_as(w, name, address.format("20").replace("fe80", "fea0"))


SOURCES = {
    "IPv6 multicast": "A.mcast6",
    "IPv6 unicast": "C.ping6",
    "IPv6 unicast with GRH": "A.ping6.grh",
    "MLD report": "B.mld",
    "RC, IPv6": "rc.ping6",
    "UC, IPv6": "uc.ping6",
}
for way, name in SOURCES.items():
    for source in ("fe80:0:0:1:202:c903:0:1895", "fe90::202:c903:0:1895"):

        @broken("rfc4391.8.1.link-local-form", f"{way}, {source}", name)
        def source_not_zero(w, name=name, source=source):
            w[name]["ipv6.src"] = source
            w[name].fix_checksums()


for way, (name, source) in {
    "IPv6 multicast": ("A.mcast6", "fe80::2:c903:0:1895"),
    "IPv6 unicast with GRH": ("A.ping6.grh", "fe80::2:c903:0:1895"),
    "MLD report": ("B.mld", "fe80::2:c902:24:f636"),
}.items():

    @broken("rfc4391.8.u-bit", f"source, {way}", name)
    def source_not_toggled(w, name=name, source=source):
        w[name]["ipv6.src"] = source
        w[name].fix_checksums()


# ---- RFC 4391 8: advertisements without a link-layer address option (RFC 4861 7.2.4)


def advertise(w, target, source=B.ll):
    """B responds for this address, without an option; the packet has a GRH."""
    p = w["B.na"]
    p.payload = bytearray(ib.encap(0x86DD, ib.icmpv6(source, A.ll, ib.nd_na(target))))
    p.add_grh(ib.gid(B.gid), ib.gid(A.gid))


for rule, ways in {
    "rfc4391.8.u-bit": {"the GUID with u = 0": "fe80::2:c902:24:f636"},
    "rfc4391.8.1.link-local-form": {
        "bits 10 to 63": "fe80:0:0:1:202:c902:24:f636",
        "bit 10": "fea0::202:c902:24:f636",
    },
}.items():
    for way, target in ways.items():
        for from_, source in (("", B.ll), (", from a global address", "2001:db8::2")):

            @broken(rule, f"advertisement without an option, {way}{from_}", "B.na")
            def advertised(w, target=target, source=source):
                advertise(w, target, source)


for what, target in {
    "its own address": B.ll,
    "another host's": "fe80::202:c903:0:1895",
    "an opaque one": "fe80::5d3f:91aa:7c24:f636",
    "the GUID with u = 0 of another port": "fe80::2:c903:0:1895",
    "a global one": "2001:db8::2:c902:24:f636",
}.items():

    @conforming(f"advertisement without an option, {what}")
    def advertised_conforms(w, target=target):
        advertise(w, target)


# ---- RFC 4391 8: duplicate address detection (RFC 4862 5.4.2)


def detect_duplicates(w, target):
    """B, before it uses the address: a solicitation from ::, without an option."""
    group = solicited_node(target)
    body = ib.encap(0x86DD, ib.icmpv6("::", group, ib.nd_ns(target)))
    w.send("A.ns", "B.dad", B, "A.ns", body)


TARGETS = {
    "rfc4391.8.u-bit": {"the GUID with u = 0": "fe80::2:c902:24:f636"},
    "rfc4391.8.1.link-local-form": {
        "bits 10 to 63": "fe80:0:0:1:202:c902:24:f636",
        "bit 10": "fea0::202:c902:24:f636",
        "bit 63, an opaque identifier": "fe80:0:0:1:5d3f:91aa:7c24:f636",
    },
}
for rule, ways in TARGETS.items():
    for way, target in ways.items():

        @broken(rule, f"duplicate address detection, {way}", "B.dad", ALL)
        def tentative(w, target=target):
            detect_duplicates(w, target)


for way, target in {
    "global": "2001:db8::2:c902:24:f636",
    "unique local": "fd00::2:c902:24:f636",
}.items():

    @broken(
        "rfc4391.8.u-bit",
        f"duplicate address detection, {way}, the GUID with u = 0",
        "B.dad",
        early=INCONCLUSIVE,
        why=BY_HAND,
    )
    def tentative_global(w, target=target):
        detect_duplicates(w, target)


IDENTIFIERS = {
    "the modified EUI-64": "fe80::202:c902:24:f636",
    "a modified EUI-64 of another GUID": "fe80::202:c912:24:f636",  # a bond's second port
    "another host's address": "fe80::202:c903:0:1895",  # A's, set by hand
    "opaque": "fe80::5d3f:91aa:7c02:1b44",  # RFC 7217
    "a LID": "fe80::2",  # RFC 4391 8
    "by hand": "fe80::53",
    "global": "2001:db8::202:c902:24:f636",
    "global, opaque": "2001:db8::5d3f:91aa:7c02:1b44",
    "global, by hand": "2001:db8::2",
}
for what, target in IDENTIFIERS.items():

    @conforming(f"duplicate address detection, {what}")
    def tentative_conforms(w, target=target):
        detect_duplicates(w, target)
        group = w.mgid(solicited_node(target))
        if group != w.mgid(solicited_node(B.ll)):
            w["B.dad"].set(dgid=group, dlid=0xC010)
            join_for(w, "B", group, 0xC010)

    @conforming(f"source of an IPv6 datagram, {what}")
    def source_conforms(w, source=target):
        w["A.mcast6"]["ipv6.src"] = source
        w["A.mcast6"].fix_checksums()


def join_for(w, node, mgid, mlid):
    """The node joins one more group, before its sweep."""
    after = f"{node}.join.snm.resp"
    for part in ("", ".resp"):
        p = w[f"{node}.join.snm{part}"].copy()
        p["mad.tid"], p["mcm.mgid"] = 0x77A0, ib.gid(mgid)
        if part:
            p["mcm.mlid"] = mlid
        w.insert(after, f"{node}.join.more{part}", p)
        after = f"{node}.join.more{part}"
    w.renumber()


# ---- RFC 4391 9.1.1, RFC 4755 3.1: the 20 octets

ARP = {
    "ARP request": "C.arp.request",
    "ARP reply": "D.arp.reply",
    "ARP announcement": "D.arp.announce",
    "ARP unicast request": "D.arp.revalidate",
    "RARP request": "A.rarp.request",
    "RARP reply": "B.rarp.reply",
    "InARP request": "A.inarp.request",
    "InARP reply": "B.inarp.reply",
}
ND_OPTIONS = {  # offset of the option in the payload
    "neighbour solicitation": ("C.ns", 68),
    "neighbour solicitation, unicast": ("D.ns.unicast", 68),
    "neighbour advertisement": ("D.na", 68),
    "router solicitation": ("A.rs", 52),
    "router advertisement": ("B.ra", 60),
    "redirect": ("B.redirect", 84),
}
FLAGS = {"0x01": 0x01, "0x20": 0x20, "0x3f": 0x3F}


def set_flags(w, name, at, value):
    w[name].payload[at] = value
    w[name].fix_checksums()


PLACES = {way: (name, 12) for way, name in ARP.items()}
PLACES.update({way: (name, at + 4) for way, (name, at) in ND_OPTIONS.items()})
COPIED = {"early": INCONCLUSIVE, "why": "the target sent the address, not the router"}
for way, (name, at) in PLACES.items():
    judged = COPIED if way == "redirect" else {}
    for text, value in FLAGS.items():
        broken(
            "rfc4391.9.1.1.reserved-flags",
            f"{way}, {text}",
            name,
            bases_of(way) if value == 1 else ("default",),
            **judged,
        )(lambda w, name=name, at=at, value=value: set_flags(w, name, at, value))
        for mode, bit in (("RC", 0x80), ("UC", 0x40), ("RC and UC", 0xC0)):
            broken("rfc4755.3.1.flags", f"{way}, {mode} and {text}", name, **judged)(
                lambda w, name=name, at=at, value=value | bit: set_flags(w, name, at, value)
            )


for way, name in UNICAST.items():
    change("rfc4391.9.1.1.traffic-to-qpn", way, name, {"destqp": 0x99}, ALL)
IN_GROUPS = {
    "IPv4 unicast in the broadcast group": ("A.bcast", ping, "C.arp.request", "D.arp.reply"),
    "IPv6 unicast in the all-nodes group": ("A.mcast6", ping6, "C.ns", "D.na"),
}
UNRESOLVED = "the sender's prefix may make the address a directed broadcast: it did not resolve it"
RESOLVED_BEFORE = "the sender may have another prefix by now"
for way, (like, datagram, request, reply) in IN_GROUPS.items():

    @broken("rfc4391.9.1.1.traffic-to-qpn", way, "to.all", ALL)
    def unicast_in_group(w, like=like, datagram=datagram):
        w.send("C.ping", "to.all", C, like, datagram(C, D))["pkey"] = w.pkey_of(C)

    @broken("rfc4391.9.1.1.traffic-to-qpn", f"{way}, right after the reply", "to.all")
    def just_resolved(w, like=like, datagram=datagram, reply=reply):
        """The reply may have been captured too early; C's request was not."""
        w.send(reply, "to.all", C, like, datagram(C, D))

    @broken("rfc4391.9.1.1.traffic-to-qpn", f"{way}, after a second request", "to.all")
    def resolved_before(w, like=like, datagram=datagram, request=request):
        """D did not reply to C's second request before the datagram."""
        w.send("C.ping", "C.again", C, request, w[request].payload)["pkey"] = w.pkey_of(C)
        w.send("C.again", "to.all", C, like, datagram(C, D), -0.005)

    @broken(
        "rfc4391.9.1.1.traffic-to-qpn",
        f"{way}, not resolved",
        "to.all",
        early=INCONCLUSIVE,
        why=UNRESOLVED,
    )
    def not_resolved(w, like=like, datagram=datagram):
        w.send("A.ping", "to.all", A, like, datagram(A, D))

    @broken(
        "rfc4391.9.1.1.traffic-to-qpn",
        f"{way}, resolved 6 s before",
        "to.all",
        early=INCONCLUSIVE,
        why=RESOLVED_BEFORE,
    )
    def resolved_long_before(w, like=like, datagram=datagram):
        later = w.order[w.order.index("C.ping") :]
        for name in later:
            w.times[name] += 6 * 10**9
        w.send("C.ping", "to.all", C, like, datagram(C, D))


@conforming("directed broadcasts in the broadcast group")
def directed_broadcasts(w):
    for address in ("10.0.0.255", "10.255.255.255"):
        w.send("C.ping", address, C, "A.bcast", udp4(C, address))


def announce(w, name, node, ip):
    """An ARP announcement (RFC 5227) of another IP address of the node."""
    twin = Node(node.lid, node.gid, node.qpn, ip, node.ll, node.flags)
    w.send("A.ping", name, node, "A.bcast", arp(1, twin, twin, bytes(20)))


@conforming("a directed broadcast that is another host's address in a shorter prefix")
def directed_broadcast_other_prefix(w):
    """A has 10.0.0.1/29; D has 10.0.0.7/24, too (RFC 1122 3.3.6)."""
    announce(w, "D.announces", D, "10.0.0.7")
    w.send("D.announces", "to.all", A, "A.bcast", udp4(A, "10.0.0.7"))


@conforming("an address that two hosts announce, in the broadcast group")
def address_of_two_hosts(w):
    announce(w, "B.announces", B, "10.0.0.101")
    announce(w, "D.announces", D, "10.0.0.101")
    w.send("B.announces", "to.all", A, "A.bcast", udp4(A, "10.0.0.101"))


change("rfc4391.9.1.1.traffic-to-qpn", "neighbour advertisement", "D.na", {"destqp": 0x99}, ALL)
change("rfc4391.9.1.1.arp-reply-qpn", "ARP reply", "D.arp.reply", {"destqp": 0x99}, ALL)
change("rfc4391.9.1.1.arp-reply-qpn", "ARP reply to QP 1", "D.arp.reply", {"destqp": 1}, ALL)
change(
    "rfc4391.9.1.1.arp-reply-qpn", "ARP reply to a unicast request", "C.arp.reply", {"destqp": 0x99}
)
change("rfc4755.3.1.reply-to-ud-qpn", "ARP reply", "B.arp.reply", {"destqp": 0x99}, ALL)
for rule, at, name, other in (
    ("rfc4391.9.1.1.arp-reply-qpn", "C.arp.reply", "D.arp.reply", A),
    ("rfc4755.3.1.reply-to-ud-qpn", "A.rarp.request", "B.arp.reply", D),
):  # at: the requester's next datagram that is certainly later
    change(rule, "ARP reply to another port's LID", at, {"dlid": other.lid}, frames=(name,))
for rule, way, name in (
    ("rfc4391.9.1.1.arp-reply-qpn", "ARP reply", "D.arp.reply"),
    ("rfc4755.3.1.reply-to-ud-qpn", "ARP reply", "B.arp.reply"),
    ("rfc4755.3.1.reply-to-ud-qpn", "neighbour advertisement", "B.na"),
    ("rfc4391.9.1.1.traffic-to-qpn", "neighbour advertisement", "D.na"),
):
    change(rule, f"{way} to the QPN of multicast", name, {"destqp": 0xFFFFFF})
for rule, name, sender, like in (
    ("rfc4755.3.1.reply-to-ud-qpn", "B.na", B, "B.ra"),
    ("rfc4391.9.1.1.traffic-to-qpn", "D.na", D, "C.ns"),
):

    @broken(rule, "neighbour advertisement in a group", name, ALL)
    def advertised_to_group(w, name=name, sender=sender, like=like):
        p, group = w[name], w[like]
        p["dlid"], p["destqp"] = group["dlid"], 0xFFFFFF
        p.add_grh(sender.gid, group["dgid"])


for rule, name, sender in (
    ("rfc4391.9.1.1.arp-reply-qpn", "D.arp.reply", D),
    ("rfc4755.3.1.reply-to-ud-qpn", "B.arp.reply", B),
):

    @broken(
        rule,
        "ARP reply in the broadcast group",
        name,
        early=INCONCLUSIVE,
        why="a host may broadcast its replies (RFC 5227 2.6)",
    )
    def reply_to_group(w, name=name, sender=sender):
        p, group = w[name], w["A.bcast"]
        p["dlid"], p["destqp"] = group["dlid"], 0xFFFFFF
        p.add_grh(sender.gid, group["dgid"])


@conforming("an ARP reply for an IPv4 link-local address, in the broadcast group (RFC 3927)")
def reply_for_link_local(w):
    local = Node(D.lid, D.gid, D.qpn, "169.254.7.7", D.ll, D.flags)
    w.send("A.bcast", "C.request", C, "A.bcast", arp(1, C, local, bytes(20)))
    w.send("C.request", "D.reply", D, "A.bcast", arp(2, local, C))


change("rfc4755.3.1.reply-to-ud-qpn", "InARP reply", "B.inarp.reply", {"destqp": 0x99}, ALL)
change("rfc4755.3.1.reply-to-ud-qpn", "neighbour advertisement", "B.na", {"destqp": 0x99}, ALL)


@broken("rfc4391.9.1.1.arp-reply-qpn", "InARP reply", "D.inarp.reply", ALL)
def inverse_reply(w):
    w.send("C.ping", "C.inarp.request", C, "C.ping", arp(8, C, D))
    w.send("C.inarp.request", "D.inarp.reply", D, "D.pong", arp(9, D, C))["destqp"] = 0x99


@conforming("Inverse ARP between nodes without connected mode")
def inverse_arp_conforms(w):
    w.send("C.ping", "C.inarp.request", C, "C.ping", arp(8, C, D))
    w.send("C.inarp.request", "D.inarp.reply", D, "D.pong", arp(9, D, C))


@conforming("RARP reply about another host (RFC 903)")
def rarp_about_another_host(w):
    """A asks for C's IP address; the reply goes to A, and its target is C."""
    w["A.rarp.request"].payload = bytearray(arp(3, A, C, ethertype=0x8035))
    w["B.rarp.reply"].payload = bytearray(arp(4, B, C, ethertype=0x8035))


def resolve_again(w, a, b):
    """A second solicitation right after the exchange; its response goes to another QPN."""
    ns, na = f"{a}.ns", f"{b}.na"
    again = w.insert(na, f"{ns}.again", w[ns].copy())
    wrong = w.insert(f"{ns}.again", f"{na}.again", w[na].copy())
    w.times[f"{na}.again"] += 10**6
    wrong["destqp"] = 0x99
    for name in w.order[w.order.index(f"{ns}.again") :]:
        p = w[name]
        for sent in (again, wrong):
            same = p.deth and p["srcqp"] == sent["srcqp"] and p["slid"] == sent["slid"]
            if same and p["srcqp"] != 1:
                p["psn"] += 1


@broken("rfc4755.3.1.reply-to-ud-qpn", "second neighbour advertisement", "B.na.again", ALL)
def second_advertisement(w):
    resolve_again(w, "A", "B")


@broken("rfc4391.9.1.1.traffic-to-qpn", "second neighbour advertisement", "D.na.again", ALL)
def second_advertisement_without_flags(w):
    resolve_again(w, "C", "D")


def other_gid(w, name, at, text):
    w[name].payload[at + 4 : at + 20] = ib.gid(text)
    w[name].fix_checksums()


def no_address(w, name, at):
    w[name].payload[at : at + 20] = bytes(20)
    w[name].fix_checksums()


def other_qpn(w, name, at, qpn):
    w[name].payload[at + 1 : at + 4] = qpn.to_bytes(3, "big")
    w[name].fix_checksums()


NODES = {"A": A, "B": B, "C": C, "D": D}
OWNERS = {"A": B, "B": A, "C": D, "D": C}
ANNOUNCED = {k: v for k, v in PLACES.items() if "RARP" not in k and "redirect" not in k}
for way, (name, at) in ANNOUNCED.items():
    broken("rfc4391.9.1.1.gid-of-port", f"{way}, another port's", name, bases_of(way))(
        lambda w, name=name, at=at: other_gid(w, name, at, OWNERS[name[0]].gid)
    )
    broken("rfc4391.9.1.1.gid-of-port", f"{way}, multicast GID", name, bases_of(way))(
        lambda w, name=name, at=at: other_gid(w, name, at, w.mgid("255.255.255.255"))
    )
    broken("rfc4391.9.1.1.gid-of-port", f"{way}, the Reserved GID", name, bases_of(way))(
        lambda w, name=name, at=at: other_gid(w, name, at, "::")
    )
    broken("rfc4391.9.1.1.gid-of-port", f"{way}, all zeros", name)(
        lambda w, name=name, at=at: no_address(w, name, at)
    )
    broken("rfc4391.9.1.1.gid-from-port-guid", f"{way}, of no port", name, bases_of(way))(
        lambda w, name=name, at=at: other_gid(w, name, at, "fe80::dead:beef:0:1")
    )
    broken("rfc4391.9.1.1.gid-of-port", f"{way}, another prefix", name)(
        lambda w, name=name, at=at: other_gid(
            w, name, at, f"fec0::7:{NODES[name[0]].gid.partition('::')[2]}"
        )
    )
    broken("rfc4391.9.1.1.format", f"{way}, the QPN of multicast", name, bases_of(way))(
        lambda w, name=name, at=at: other_qpn(w, name, at, 0xFFFFFF)
    )
    for qpn in (0, 1):
        broken("rfc4391.9.1.1.format", f"{way}, QPN {qpn}", name)(
            lambda w, name=name, at=at, qpn=qpn: other_qpn(w, name, at, qpn)
        )
    broken("rfc4755.2.2.one-ud-qp", way, name, ALL if way == "ARP reply" else ("default",))(
        lambda w, name=name: w[name].set(srcqp=0x999)
    )
for way, name in ARP.items():
    for length in (20, 43, 55):

        @broken("rfc4391.9.1.1.format", f"{way}, {length} octets", name)
        def arp_ends(w, name=name, length=length):
            del w[name].payload[4 + length :]

    change("rfc4391.9.2.arp-hardware-type", f"{way}, 1", name, {"arp.hrd": 1}, bases_of(way))
    change("rfc4391.9.2.arp-hardware-type", f"{way}, 31", name, {"arp.hrd": 31})
    for length in (6, 8, 19, 21, 0):
        change("rfc4391.9.2.arp-hardware-length", f"{way}, {length}", name, {"arp.hln": length})

    @broken("rfc4391.9.2.arp-hardware-length", f"{way}, addresses of 8 octets", name)
    def short_addresses(w, name=name):
        p = w[name].payload
        p[4:] = p[4:8] + b"\x08" + p[9:12] + p[12:20] + p[32:36] + p[36:44] + p[56:60]

    for value in (0, 0xFFFF):  # RFC 5494 3

        @broken("rfc4391.9.2.arp-as-rfc826", f"{way}, operation {value}", name)
        def reserved_operation(w, name=name, value=value):
            w[name].payload[10:12] = ib.u16(value)

    @broken("rfc4391.9.2.arp-as-rfc826", f"{way}, operation with its low byte first", name)
    def swapped_operation(w, name=name):
        w[name].payload[10:12] = w[name].payload[11:9:-1]

    @broken("rfc4391.9.2.arp-as-rfc826", f"{way}, addresses of IPv4 said to be of IPv6", name)
    def other_protocol(w, name=name):
        w[name].payload[6:8] = ib.u16(0x86DD)

    for value in (0x0806, 0x8035):  # ARP and RARP have no addresses of their own

        @broken("rfc4391.9.2.arp-as-rfc826", f"{way}, protocol 0x{value:04x}", name)
        def protocol_without_addresses(w, name=name, value=value):
            w[name].payload[6:8] = ib.u16(value)

    @broken("rfc4391.9.2.arp-as-rfc826", f"{way}, protocol length 3", name, bases_of(way))
    def protocol_length(w, name=name):
        w[name]["arp.pln"] = 3
        for end in (60, 36):
            del w[name].payload[end - 1]

    for length in (0, 3, 6, 16):
        change(
            "rfc4391.9.2.arp-as-rfc826",
            f"{way}, only the length, {length}",
            name,
            {"arp.pln": length},
        )


@conforming("a cluster's common IP address with a group's link-layer address")
def address_of_a_group(w):
    group = b"\0\xff\xff\xff" + ib.gid(w.mgid(GROUP_IPV4))
    w["D.arp.announce"].payload = bytearray(
        ib.encap(0x0806, ib.arp(1, group, "10.0.0.100", group, "10.0.0.100"))
    )


@conforming("ARP with an experimental operation (RFC 5494)")
def experimental_operation(w):
    w["D.arp.revalidate"].payload[10:12] = ib.u16(24)
    w.drop("C.arp.reply")


@conforming("ARP of another protocol, with addresses of another length")
def arp_of_another_protocol(w):
    w["D.arp.announce"].payload = bytearray(
        ib.encap(
            0x0806,
            ib.u16(32) + ib.u16(0x88B5) + ib.u8(20) + ib.u8(6) + ib.u16(1)
            + D.addr + bytes(6) + D.addr + bytes(6),
        )
    )  # fmt: skip


TARGET = "in a reply, the target's address may be a copy from a request that was not captured"
for rule, value in (("rfc4391.9.1.1.reserved-flags", 0x04), ("rfc4755.3.1.flags", 0x84)):
    change(
        rule,
        f"ARP reply, the target's, 0x{value:02x}, those of the request are 0",
        "C.arp.reply",  # the requester's next datagram that is certainly later
        {"arp.tha.flags": value},
        frames=("D.arp.reply",),
    )
for way, name in (("InARP reply", "B.inarp.reply"),):
    for rule, value in (("rfc4391.9.1.1.reserved-flags", 0x04), ("rfc4755.3.1.flags", 0x84)):
        change(
            rule,
            f"{way}, the target's, 0x{value:02x}",
            name,
            {"arp.tha.flags": value},
            early=INCONCLUSIVE,
            why=TARGET,
        )

change(
    "rfc4391.9.2.arp-as-rfc826",
    "ARP reply, its own IP as target",
    "C.arp.reply",  # the requester's next datagram that is certainly later
    {"arp.tpa": D.ip},
    ALL,
    frames=("D.arp.reply",),
)
change(
    "rfc4391.9.2.arp-as-rfc826",
    "ARP reply, another's IP as target",
    "C.arp.reply",
    {"arp.tpa": A.ip},
    frames=("D.arp.reply",),
)


@broken("rfc4391.9.2.arp-as-rfc826", "ARP reply, its sender as target", "D.na")
def reply_to_itself(w):  # at: the sender's next datagram that is certainly later
    p = w["D.arp.reply"].payload
    p[36:56] = p[12:32]


@conforming("two ARP requests, and the replies in the other order")
def replies_in_other_order(w):
    second = Node(D.lid, D.gid, D.qpn, "10.0.0.44", D.ll, D.flags)
    w.send("D.arp.announce", "C.first", C, "A.bcast", arp(1, C, D, bytes(20)))
    w.send("C.first", "C.second", C, "A.bcast", arp(1, C, second, bytes(20)))
    w.send("C.second", "D.second", D, "D.arp.reply", arp(2, second, C))
    w.send("D.second", "D.first", D, "D.arp.reply", arp(2, D, C))


change(
    "rfc4391.9.2.arp-as-rfc826",
    "ARP reply, an unknown IP as target",
    "D.arp.reply",
    {"arp.tpa": "10.0.0.77"},
    early=INCONCLUSIVE,
    why="the requester may have another IP, for which it asked in a frame that was not captured",
)

for way, (name, at) in ND_OPTIONS.items():

    def octets(w, name=name, at=at, offset=1, value=b""):
        w[name].payload[at + offset : at + offset + len(value)] = value
        w[name].fix_checksums()

    for length in (0, 1, 2, 4, 255):
        broken(
            "rfc4391.9.3.nd-option-length",
            f"{way}, {length}",
            name,
            bases_of(way) if length == 0 else ("default",),
        )(lambda w, octets=octets, length=length: octets(w, value=bytes([length])))

    @broken("rfc4391.9.3.nd-option-length", f"{way}, Ethernet's 1", name)
    def ethernet(w, name=name, at=at):
        w[name].payload[at + 1 :] = b"\x01" + bytes.fromhex("0200000000aa")
        w[name].fix_checksums()

    for text, value in (("0x0001", b"\0\1"), ("0xffff", b"\xff\xff")):
        broken("rfc4391.9.3.nd-option-padding", f"{way}, {text}", name, bases_of(way))(
            lambda w, octets=octets, value=value: octets(w, offset=2, value=value)
        )

    @broken("rfc4391.9.3.nd-option-padding", f"{way}, after the address", name, bases_of(way))
    def padded_behind(w, name=name, at=at):
        address = bytearray(w[name].payload[at + 4 : at + 24])
        address[0] = 0x80
        w[name].payload[at + 2 : at + 24] = address + bytes(2)
        w[name].fix_checksums()

    @broken("rfc4391.9.1.1.format", f"{way}, the option ends early", name)
    def option_ends(w, name=name):
        del w[name].payload[-8:]
        w[name].fix_checksums()


# ---- RFC 4391 9.4


def old_qpn(w, like):
    """D's interface is restarted: it leaves and joins the broadcast group, and announces another
    QPN; C still uses the old one then and 21 minutes later."""
    w.delay("D.arp.announce", 1)
    at = w.order[w.order.index("D.arp.announce") - 1]
    for n, name in enumerate(("leave", "join")):
        for part in ("", ".resp"):
            p = w[f"D.{name}.bcast{part}"].copy()
            p["mad.tid"] = 0xA000 + n
            w.insert(at, f"D.{name}.bcast.again{part}", p)
            at = f"D.{name}.bcast.again{part}"
    p = w["D.arp.announce"]
    p["arp.sha.qpn"] = p["srcqp"] = 0x2001
    w.drop(
        "D.arp.revalidate",
        "D.ns.unicast",
        "C.arp.reply",
        "C.na",
        *[n for n in w.order if n.startswith("D.pong")],
    )
    w.drop(*[n for n in UNICAST.values() if n != like])
    first = w[like].copy()
    first["psn"] -= 1
    w.insert("D.arp.announce", "first", first)
    w.delay("A.ping", 21 * 60)


for way, name in UNICAST.items():
    if "IPv4" in way:

        @broken("rfc4391.9.4.revalidate-arp", way, name, ALL)
        def goes_on(w, name=name):
            old_qpn(w, name)

        @broken("rfc4391.9.1.1.traffic-to-qpn", f"{way}, the previous QPN after the new", name)
        def goes_back(w, name=name):
            old_qpn(w, name)
            w["first"]["destqp"] = 0x2001


# ---- RFC 4755 2.2: a datagram from another QP than the announced one

for way, name in (
    ("IPv4 unicast", "A.ping"),
    ("IPv6 unicast", "A.ping6"),
    ("IPv4 multicast", "A.mcast4"),
    ("IPv6 multicast", "A.mcast6"),
):
    change("rfc4755.2.2.one-ud-qp", way, name, {"srcqp": 0x999, "psn": 0})


# ---- RFC 4391 7: the destination of a datagram reports a smaller MTU

TOO_BIG = "the MTU may be configured"


def too_big(destination):
    """C reports to D that its datagram to this destination needs an MTU of 1500."""
    about = ib.ipv4(D.ip, destination, 17, bytes(2024))[:28]
    error = b"\3\4" + bytes(4) + ib.u16(1500) + about
    error = error[:2] + ib.u16(ib.inet_checksum(error)) + error[4:]
    return bytearray(ib.encap(0x0800, ib.ipv4(C.ip, D.ip, 1, error)))


@broken("rfc4391.7.mtu-2044", "ICMP of IPv4", "C.ping", early=INCONCLUSIVE, why=TOO_BIG)
def too_big_ipv4(w):
    w["C.ping"].payload = too_big(C.ip)


@broken("rfc4391.7.mtu-2044", "ICMPv6", "C.ping", early=INCONCLUSIVE, why=TOO_BIG)
def too_big_ipv6(w):
    of = ib.ipv6(D.ll, C.ll, 17, bytes(2004))[:1000]
    w["C.ping"].payload = bytearray(nd(C, D.ll, b"\2\0\0\0" + ib.u32(1500) + of))


@conforming("a router reports the MTU of another link")
def too_big_beyond_a_router(w):
    w["C.ping"].payload = too_big("192.0.2.1")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Joining, using and leaving groups; Q_Key and MTU (RFC 4391 sections 5, 7, 9.1.2, 10 and 13)."""
from frames import ib
from frames.fabric import SM
from frames.variants import INCONCLUSIVE, broken, change, conforming
from frames.variants.groups import ALL, FIVE, IPV4, IPV6, all_joins, get_table, table_record
from frames.edit import Packet
from frames.fabric import C, D, SEND_ONLY, smp_frame
from frames.ib import PKEY_TABLE, PORT_INFO, lid_routed_smp
from frames.messages import udp4
from frames.world import A, B, GROUP_IPV4, NAMES, port_info

REFUSED, NO_RECORDS, TOO_FEW = 0x0200, 0x0300, 0x0600  # IBA 15.2.3
LAST = {
    "A": "rc.req",
    "B": "rc.rep",
    "C": "C.leave.snm",
    "D": "D.leave.snm",
}  # the sender's next request
UNICAST = {"IPv4 unicast": "C.ping", "IPv4 unicast with GRH": "C.ping.grh", "IPv6 unicast": "C.ping6",
           "IPv6 unicast with GRH": "C.ping6.grh"}  # fmt: skip
REPLIES = {"ARP reply": "D.arp.reply", "neighbour advertisement": "D.na", "redirect": "B.redirect",
           "RARP reply": "B.rarp.reply", "InARP request": "A.inarp.request"}  # fmt: skip
EVERY = {**IPV4, **IPV6, **UNICAST, **REPLIES}


def next_response(node, group=""):
    """The SA's next packet was seen, which shows that no response to a join of the sender is missing.
    The SA sends nothing between the groups' traffic and the leaves of A, the first one of which is
    that of "snm"."""
    return "A.leave.routers.resp" if (node, group) == ("A", "snm") else "A.leave.snm.resp"


def without(names, w):
    """Removes frames as if they had never existed; with the responses to requests."""
    w.drop(*[n for name in names for n in (name, name + ".resp")])


def silence(w, node, but=()):
    """Of the node's IPoIB packets over UD, only these frames remain."""
    drop = [
        n for n in w.order
        if w[n].deth and w[n]["srcqp"] == node.qpn and w[n]["slid"] == node.lid and n not in but
    ]  # fmt: skip
    w.drop(*drop)


# ---- RFC 4391 5: the broadcast group


def lacks_group(w, status):
    """The SA refuses each join of the broadcast group: there is none."""
    for name in [n for n in w.order if ".join.bcast.resp" in n]:
        w[name]["mad.status"] = status
    w.drop(*[n for n in w.order if ".join." in n and ".bcast" not in n])


NO_SCOPE = (
    "a datagram to one port does not show the scope of its link; another scope may have a group"
)
for way, name in {**IPV4, **UNICAST, "NS": "A.ns"}.items():
    scopeless = {"early": INCONCLUSIVE, "why": NO_SCOPE} if way in UNICAST else {}

    @broken("rfc4391.5.broadcast-group-exists", f"{way}; the SA knows none", name, **scopeless)
    def no_group(w, name=name):
        lacks_group(w, TOO_FEW)
        others = [n for n in w.order if w[n].deth and w[n]["qkey"] == 0x80000B1B and n != name]
        w.drop(*others)


@broken("rfc4391.5.broadcast-group-exists", "Set: another group is joined", "A.join.nodes.resp")
def group_joined_without(w):
    w["A.join.bcast.resp"]["mad.status"] = TOO_FEW


OTHER_JOINS = {4: "SendOnlyNonMember", 8: "SendOnlyFullMember", 2: "NonMember"}
for state, what in OTHER_JOINS.items():

    def join_as(w, node, state=state):
        name = "ABCD"[node.lid - 1]
        for n in (f"{name}.join.bcast", f"{name}.join.bcast.resp", f"{name}.leave.bcast"):
            w[n]["mcm.join"] = state

    @broken("rfc4391.5.full-member-join", f"{what}, ARP request", next_response("C"), ALL)
    def member_arp(w, join_as=join_as):
        join_as(w, C)

    for way, name in UNICAST.items():

        @broken("rfc4391.5.full-member-join", f"{what}, {way}", next_response("C"))
        def member_unicast(w, join_as=join_as, name=name):
            join_as(w, C)
            silence(w, C, but=("C.arp.reply", name))

    @broken("rfc4391.5.full-member-join", f"{what}, IPv6 multicast", next_response("A"))
    def member_multicast(w, join_as=join_as):
        join_as(w, A)
        silence(w, A, but=("A.mcast6",))


@broken("rfc4391.5.full-member-join", "never joined, ARP request", next_response("C"), ALL)
def never_joined(w):
    without(["C.join.bcast", "C.leave.bcast"], w)


@broken("rfc4391.5.full-member-join", "never joined, IPv4 unicast", next_response("C"))
def never_joined_unicast(w):
    without(["C.join.bcast", "C.leave.bcast"], w)
    silence(w, C, but=("C.arp.reply", "C.ping"))


@broken("rfc4391.5.full-member-join", "refused, IPv4 unicast", next_response("C"))
def refused_unicast(w):
    w["C.join.bcast.resp"]["mad.status"] = REFUSED
    silence(w, C, but=("C.arp.reply", "C.ping"))


@broken("rfc4391.5.full-member-join", "refused, neighbour solicitation", next_response("C"))
def refused_multicast(w):
    w["C.join.bcast.resp"]["mad.status"] = REFUSED
    silence(w, C, but=("C.ns",))


def leave_link(w, node, after, seconds):
    """The node leaves the broadcast group; all later frames come these seconds later."""
    for frame in (f"{node}.leave.bcast", f"{node}.leave.bcast.resp"):
        p = w[frame]
        w.order.remove(frame)
        w.insert(after, frame, p)
        after = frame
    w.renumber()
    w.delay(w.order[w.order.index(after) + 1], seconds)


for way, name in {"IPv4 unicast": "C.ping", "IPv6 unicast": "C.ping6"}.items():

    @broken("rfc4391.5.full-member-join", f"left, {way}", name)
    def left_link(w, name=name):
        leave_link(w, "C", "B.redirect", 20)
        silence(w, C, but=("C.arp.request", "C.arp.reply", name))


@broken("rfc4391.5.full-member-join", "left, IPv4 unicast, it sent to no group", "C.ping")
def left_link_unknown(w):
    leave_link(w, "C", "B.redirect", 20)
    silence(w, C, but=("C.arp.reply", "C.ping"))


@conforming("an interface that leaves the broadcast group and joins again at once")
def joins_again(w):
    leave_link(w, "C", "B.redirect", 2)
    after = w.order[w.order.index("C.mcast4") - 1]
    for suffix in ("", ".resp"):
        p = w["C.join.bcast" + suffix].copy()
        p["mad.tid"] = 0x7790
        w.insert(after, "C.again" + suffix, p)
        after = "C.again" + suffix
    w.renumber()


for field, value in (("tclass", 0x20), ("flow", 5), ("hop", 9), ("sl", 3)):
    for way, name in {**IPV4, **IPV6}.items():
        change("rfc4391.5.join-parameters-used", f"{way}, {field}", name, {field: value})
change(
    "rfc4391.5.join-parameters-used",
    "ARP request, sl",
    "A.arp.request",
    {"sl": 3},
    ("child", "limited"),
)


def other_pkey(w, names):
    for name in names:
        octets = bytearray(w[name]["mcm.mgid"].to_bytes(16, "big"))
        octets[4:6] = b"\x80\x05"
        w[name]["mcm.mgid"], w[name]["mcm.pkey"] = bytes(octets), 0x8005


for way, name in {
    "broadcast group": "B.join.bcast",
    "IPv4 group": "B.join.g4",
    "IPv6 group": "B.join.routers",
    "SendOnlyNonMember": "A.join.g4",
}.items():

    @broken("rfc4391.5.pkey-configured", way, name[0] + ".sweep.resp", ("default", "child"))
    def pkey_of_no_port(w, name=name):
        other_pkey(w, [name, name + ".resp"])


@broken("rfc4391.5.pkey-configured", "IPv4 to one port", "A.again.resp")
def datagram_with_the_pkey_of_no_port(w):
    w["A.ping"]["pkey"] = 0x8005
    w.exchange_smp("A.again", A, ib.GET, PORT_INFO, 1, port_info(A))


@broken("rfc4391.5.pkey-configured", "IPv4 to a group", "A.again.resp")
def group_datagram_with_the_pkey_of_no_port(w):
    w["A.mcast4"]["pkey"] = 0x8005
    w.exchange_smp("A.again", A, ib.GET, PORT_INFO, 1, port_info(A))


def lid_routed(w, after, node, attribute, modifier, data, name="by-lid"):
    """The SM sets an attribute of the port by its LID; the port responds."""
    name = f"{NAMES[node]}.{name}"
    for src, dst, method in ((SM, node, ib.SET), (node, SM, ib.GET_RESP)):
        octets = lid_routed_smp(method, 0x7001, attribute, modifier, data)
        frame = smp_frame(octets, 0, dst.lid, src.lid)
        w.insert(after, name, Packet(frame.ib()))
        after, name = name, name + ".resp"
    w.times[after] = w.times[after.removesuffix(".resp")] + 10**6
    psns = {}
    for n in w.order:  # QP0 of each port counts the SMPs of both kinds
        p = w[n]
        if p.deth and p["srcqp"] == 0:
            port = sender_of_smp(n, node)
            p["psn"] = psns[port] = psns.get(port, -1) + 1


def sender_of_smp(name, node):
    return name[0] if name.endswith(".resp") else "SM"


@broken("rfc4391.5.pkey-configured", "removed by a LID-routed SMP", "B.sweep.resp", ("child",))
def pkey_is_removed(w):
    lid_routed(w, "B.portinfo.resp", B, PKEY_TABLE, 0, ib.u16(0xFFFF))


@broken("rfc4391.5.pkey-configured", "IPv4 to others by a limited member", "A.again.resp")
def limited_member_with_the_full_pkey(w):
    w.exchange_smp("A.again", A, ib.GET, PORT_INFO, 1, port_info(A))
    lid_routed(w, "A.portinfo.resp", A, PKEY_TABLE, 0, ib.u16(0x7FFF))


@conforming("a limited member joins with the full P_Key, as Linux does, and sends with its own")
def limited_member_sends(w):
    w.exchange_smp("A.again", A, ib.GET, PORT_INFO, 1, port_info(A))
    lid_routed(w, "A.portinfo.resp", A, PKEY_TABLE, 0, ib.u16(0x7FFF))
    for name in w.order:
        p = w[name]
        if name.startswith("A.") and p.deth and p["srcqp"] == A.qpn:
            p["pkey"] = 0x7FFF


def write_blocks(w, *blocks):
    """B's NodeInfo has PartitionCap 128 (IBA 14.2.5.3); the SM writes each block of its table."""
    w["B.nodeinfo.resp"].payload[64 + 28 : 64 + 30] = ib.u16(128)
    after = "B.portinfo.resp"
    for block, entries in enumerate(blocks):
        lid_routed(w, after, B, PKEY_TABLE, block, entries, f"block{block}")
        after = f"B.block{block}.resp"


@broken("rfc4391.5.pkey-configured", "removed from a table of 4 blocks", "B.sweep.resp", ("child",))
def pkey_is_removed_from_blocks(w):
    write_blocks(w, ib.u16(0xFFFF), b"", b"", b"")


@conforming("the P_Key is in another block of the port's table, written before the capture")
def pkey_in_unseen_block(w):
    write_blocks(w, ib.u16(0x8005))


@conforming("the P_Key is in the third block of the port's table")
def pkey_in_third_block(w):
    write_blocks(w, ib.u16(0x8005), b"", ib.u16(0xFFFF), b"")


@broken("rfc4391.4.1.group-mtu", "NeighborMTU 1024, LID-routed", "B.sweep.resp")
def neighbour_mtu_by_lid(w):
    lid_routed(w, "B.portinfo.resp", B, PORT_INFO, 1, port_info(B, neighbor_mtu=3))
    w["B.sweep.resp"]["port.neighbor_mtu"] = 3


# ---- RFC 4391 7: MTU


def small_mtu(w, selector, mtu):
    p = w["B.join.bcast"]
    p["sa.mask"] |= ib.MCM["mtu_sel"] | ib.MCM["mtu"]
    p["mcm.mtu_selector"], p["mcm.mtu"] = selector, mtu
    for name in ("B.join.bcast", "B.join.bcast.resp"):
        w.order.remove(name)
    at = w.order.index("C.join.bcast")
    w.order[at:at] = ["B.join.bcast", "B.join.bcast.resp"]
    w.times["B.join.bcast"] = w.times["C.join.bcast"] - 2 * 10**6
    w.times["B.join.bcast.resp"] = w.times["C.join.bcast"] - 10**6
    w.renumber()


for what, selector, mtu in (
    ("exactly 1024", 2, 3),
    ("exactly 256", 2, 1),
    ("less than 2048", 1, 4),
    ("less than 512", 1, 2),
):

    @broken("rfc4391.7.mtu-2044", f"Set, {what}", "B.join.bcast", ("default", "child"))
    def join_of_less(w, selector=selector, mtu=mtu):
        small_mtu(w, selector, mtu)


def large4(src, dst_ip):
    return ib.encap(0x0800, ib.ipv4(src.ip, dst_ip, 17, ib.udp(src.ip, dst_ip, 9, 9, bytes(2100))))


def large6(src, dst_ip):
    return ib.encap(0x86DD, ib.icmpv6(src.ll, dst_ip, ib.u8(200) + bytes(2100)))


for way, name in {
    **UNICAST,
    "IPv4 multicast": "A.mcast4",
    "IPv4 broadcast": "A.bcast",
    "IPv6 multicast": "A.mcast6",
}.items():

    @broken("rfc4391.7.link-mtu", way, name, ALL if way == "IPv4 unicast" else ("default",))
    def too_large(w, name=name):
        p = w[name]
        four, to_one = p["type"] == 0x0800, p["dlid"] < 0xC000
        of4, of6 = (D.ip, D.ll) if to_one else (GROUP_IPV4, "ff02::1")
        p.payload = bytearray(large4(A, of4) if four else large6(A, of6))


@broken("rfc4391.7.link-mtu", "another Ethertype", "C.ping")
def too_large_other(w):
    w["C.ping"].payload = bytearray(ib.encap(0x88B5, bytes(2100)))


# ---- RFC 4391 9.1.2, 13: the Q_Key

for way, name in EVERY.items():
    change(
        "rfc4391.9.1.2.qkey-from-join",
        way,
        name,
        {"qkey": 0x80000B1C},
        ALL if way == "ARP request" else ("default",),
    )
    change(
        "rfc4391.13.qkey-controlled",
        way,
        name,
        {"qkey": 0x00000B1B},
        ALL if way == "ARP request" else ("default",),
    )


@broken("rfc4391.13.qkey-controlled", "the group's Q_Key is not controlled", "A.arp.request")
def group_uncontrolled(w):
    all_joins(w, qkey=0x0B1B)
    for name in w.order:
        if w[name].deth and w[name]["qkey"] == 0x80000B1B:
            w[name]["qkey"] = 0x0B1B


# ---- RFC 4391 10: groups in use

NINE = "239.9.9.9"


def ask_missing(w, after, method=ib.GET, mask=ib.MCM["mgid"], status=NO_RECORDS):
    """A requests the group of 239.9.9.9; the SA responds that it does not exist."""
    request, response = w["A.query.g4"].copy(), w["A.query.g4.resp"].copy()
    for p, name in ((request, "request"), (response, "response")):
        p["mad.tid"] = 0x7777
        p["mcm.mgid"] = w.mgid(NINE)
        p["sa.mask"] = mask
        w.insert(after, name, p)
        after = name
    request["mad.method"] = method
    response["mad.status"] = status
    w.renumber()
    return after


def to_missing(w, after, src=A, mlid=0xC00C, like="A.mcast4"):
    """A datagram to 239.9.9.9."""
    p = w[like].copy()
    p.payload = bytearray(udp4(src, NINE))
    p.set(dgid=w.mgid(NINE), dlid=mlid)
    w.insert(after, "nine", p)
    w.renumber_qp(src)


for status, what in ((NO_RECORDS, "no records"), (TOO_FEW, "too few components")):

    @broken("rfc4391.10.group-before-use", f"Get, {what}", "nine", ALL)
    def missing_asked(w, status=status):
        ask_missing(w, "C.join.g4.resp", status=status)
        to_missing(w, "A.mcast6")

    @broken("rfc4391.10.group-before-use", f"Get, {what}, IPv6", "nine")
    def missing_asked_v6(w, status=status):
        ask_missing(w, "C.join.g4.resp", status=status)
        for n in ("request", "response"):
            w[n]["mcm.mgid"] = w.mgid("ff02::9:9")
        p = w.insert("A.mcast6", "nine", w["A.mcast6"].copy())
        p["dgid"] = w.mgid("ff02::9:9")
        w.renumber_qp(A)


def deleted(w, group, after, name="deleted"):
    """The SA reports to A by trap 67 that the group was deleted (IBA 14.4.9)."""
    note = ib.sa_mad(
        ib.REPORT, 0x7778, ib.ATTR_NOTICE, ib.notice(67, w.mgid(group), SM.lid, SM.gid)
    )
    p = w["A.join.g4.resp"].copy()
    p.payload = bytearray(note)
    w.insert(after, name, p)
    w.renumber()


def all_leave(w, after):
    """All members of the group of GROUP_IPV4 leave it; returns the name of the last frame."""
    for name in ("A.leave.g4", "C.leave.g4", "B.leave.g4"):
        for frame in (name, name + ".resp"):
            p = w[frame]
            w.order.remove(frame)
            w.insert(after, frame, p)
            after = frame
    w.renumber()
    return after


MCAST4 = ("A.mcast4", "C.mcast4", "B.igmp", "B.igmp.again")

for way, name in {"IPv4 multicast": "C.mcast4", "IGMP report": "B.igmp"}.items():

    @broken("rfc4391.10.group-before-use", f"Report of trap 67, {way}", name)
    def used_after_deletion(w, name=name):
        deleted(w, GROUP_IPV4, all_leave(w, "C.join.g4.resp"))
        w.drop(*[n for n in MCAST4 if n != name])


def receivers_leave(w, after):
    """The only FullMember of the group of GROUP_IPV4 leaves it."""
    for frame in ("B.leave.g4", "B.leave.g4.resp"):
        p = w[frame]
        w.order.remove(frame)
        w.insert(after, frame, p)
        after = frame
    w.renumber()
    w.drop("B.igmp", "B.igmp.again")
    return after


@broken("rfc4391.10.group-before-use", "Report of trap 67, a member that only sends", "A.mcast4")
def sent_after_deletion(w):
    deleted(w, GROUP_IPV4, receivers_leave(w, "C.join.g4.resp"))
    w.drop("C.mcast4")


@conforming("no Report of trap 67 to a member that only sends")
def deletion_not_told(w):
    deleted(w, GROUP_IPV4, receivers_leave(w, "C.join.g4.resp"))
    w.drop("A.mcast4")


@conforming("a Report of trap 67 that is late: the members joined after the deletion")
def late_report(w):
    deleted(w, GROUP_IPV4, "C.join.g4.resp")


@conforming("a Report of trap 67 that is late and repeated: all have left and joined again")
def late_report_again(w):
    last = all_leave(w, "C.join.g4.resp")
    for node, like in (("B", "B.join.g4"), ("C", "C.join.g4"), ("A", "A.join.g4")):
        for suffix in ("", ".resp"):
            p = w[like + suffix].copy()
            p["mad.tid"] = 0x7780 + ord(node)
            w.insert(last, f"{node}.again{suffix}", p)
            last = f"{node}.again{suffix}"
    deleted(w, GROUP_IPV4, last)
    deleted(w, GROUP_IPV4, "deleted", "repeated")


@conforming("a Report of trap 67 about the broadcast group that is late")
def late_report_of_broadcast(w):
    deleted(w, "255.255.255.255", "C.join.g4.resp")


for way, (node, name, group) in {
    "IPv4 multicast": ("C", "C.mcast4", "g4"),
    "neighbour solicitation": ("A", "A.ns", "snm"),
    "router solicitation": ("A", "A.rs", "routers"),
    "IPv6 multicast": ("A", "A.mcast6", "nodes"),
    "router advertisement": ("B", "B.ra", "nodes"),
    "IGMP report": ("B", "B.igmp", "g4"),
    "MLD report": ("B", "B.mld", "routers"),
    "ARP request": ("C", "C.arp.request", "bcast"),
}.items():
    bases = ALL if way == "IPv4 multicast" else ("default",)

    @broken(
        "rfc4391.10.join-before-send", f"{way}, never joined", next_response(node, group), bases
    )
    def sent_without(w, node=node, group=group):
        without([f"{node}.join.{group}", f"{node}.query.{group}", f"{node}.leave.{group}"], w)

    @broken("rfc4391.10.join-before-send", f"{way}, refused", next_response(node, group), bases)
    def sent_refused(w, node=node, group=group):
        w[f"{node}.join.{group}.resp"]["mad.status"] = REFUSED
        without([f"{node}.leave.{group}"], w)

    @broken(
        "rfc4391.10.join-before-send", f"{way}, after leaving", next_response(node, group), bases
    )
    def sent_after_leaving(w, node=node, group=group):
        after = f"{node}.join.{group}.resp"
        for name in (f"{node}.leave.{group}", f"{node}.leave.{group}.resp"):
            p = w[name]
            w.order.remove(name)
            w.insert(after, name, p)
            after = name
        w.renumber()

    if way in ("IGMP report", "MLD report"):
        for what, make in {
            "never joined": sent_without,
            "after leaving": sent_after_leaving,
        }.items():
            broken("rfc4391.10.receiver-fullmember", f"{way}, {what}", next_response(node))(make)

    change("rfc4391.10.mlid-as-dlid", way, LAST[node], {"dlid": 0xC099}, bases, frames=(name,))
    change("rfc4391.10.mlid-as-dlid", f"{way}, a unicast LID", name, {"dlid": 0x99})

for group in ("snm", "routers", "g4"):

    @broken(
        "rfc4391.10.join-before-send", f"Get of the record only, {group}", next_response("A", group)
    )
    def asked_only(w, group=group):
        without([f"A.join.{group}", f"A.leave.{group}"], w)


for way, names in {
    "neither": ("A.subscribe.66", "A.subscribe.67"),
    "only creation": ("A.subscribe.67",),
    "only deletion": ("A.subscribe.66",),
}.items():

    @broken("rfc4391.10.subscribe-traps", way, next_response("A"), ALL)
    def subscribe(w, names=names):
        without(names, w)


@broken("rfc4391.10.subscribe-traps", "refused", next_response("A"))
def subscription_refused(w):
    for name in ("A.subscribe.66.resp", "A.subscribe.67.resp"):
        w[name]["mad.status"] = REFUSED


def unsubscribe(w, group=None):
    """A cancels a subscription to trap 67: of all groups, or of this one."""
    after = "A.join.g4.resp"
    for n, name in enumerate(("A.subscribe.67", "A.subscribe.67.resp")):
        p = w[name].copy()
        p["mad.tid"] = 0x7779
        p.payload[56 + 23] = 0
        if group:
            p.payload[56:72] = ib.gid(w.mgid(group))
        w.insert(after, f"unsubscribe.{n}", p)
        after = f"unsubscribe.{n}"
    w.renumber()


@broken("rfc4391.10.subscribe-traps", "unsubscribed", next_response("A"))
def unsubscribed(w):
    unsubscribe(w)


@conforming("a sender cancels its subscription to one group, and remains subscribed to all")
def unsubscribed_from_one(w):
    unsubscribe(w, NINE)


def subscribe_with(w, at, octets):
    """A's InformInfos have these octets there (IBA 13.4.8.3)."""
    for name in ("A.subscribe.66", "A.subscribe.67"):
        for n in (name, name + ".resp"):
            w[n].payload[56 + at : 56 + at + len(octets)] = octets


for way, at, octets in (
    ("to notices of type urgent", 24, ib.u16(1)),
    ("to notices of switches", 33, ib.u24(2)),
    ("to trap 64", 26, ib.u16(64)),
):

    @broken("rfc4391.10.subscribe-traps", "only " + way, next_response("A"))
    def subscribed_to_others(w, at=at, octets=octets):
        subscribe_with(w, at, octets)


@broken(
    "rfc4391.10.subscribe-traps",
    "only to another group",
    next_response("A"),
    early=INCONCLUSIVE,
    why="which single groups a port subscribed to is not kept",
)
def subscribed_to_another_group(w):
    subscribe_with(w, 0, ib.gid(w.mgid(NINE)))


for what, at, octets in (
    ("informational notices", 24, ib.u16(3)),
    ("class managers", 33, ib.u24(4)),
    ("all traps", 26, ib.u16(0xFFFF)),
    ("the group only", 0, ib.gid("ff12:401b:ffff::f01:203")),
):

    @conforming(f"a sender subscribes to {what}")
    def subscribed_narrowly(w, at=at, octets=octets):
        subscribe_with(w, at, octets)


def refuse_creation(w, field, value):
    """C asks the SA to create a group with this attribute, exactly; the SA refuses."""
    selected = [f"{field}_sel"] if field in ("mtu", "rate", "life") else []
    request, response = w["C.join.bcast"].copy(), w["C.join.bcast.resp"].copy()
    for p in (request, response):
        p["mad.tid"] = 0x7790
    request["sa.mask"] |= sum(ib.MCM[name] for name in [field, *selected])
    record = ib.mcmember(
        w.mgid(FIVE), C.gid, pkey=w.pkey, join=1, **{field: value, **dict.fromkeys(selected, 2)}
    )
    request.payload[56 : 56 + len(record)] = record
    response["mad.status"] = REFUSED
    response.payload[56 : 56 + len(record)] = bytes(len(record))
    w.insert("C.join.nodes.resp", "refused", request)
    w.insert("refused", "refused.resp", response)
    w.renumber()


RECORD = {
    "rfc4391.10.group-attributes": {"qkey": 0x80000B1C, "mtu": 5, "sl": 3, "hop": 7},
    "rfc4391.10.group-other-attributes": {"tclass": 0x20, "flow": 9, "rate": 2, "life": 11},
}
for rule, fields in RECORD.items():
    for field, value in fields.items():
        for way, name in {
            "Set, the response": "B.join.g4.resp",
            "Set, the response, IPv6": "B.join.routers.resp",
            "Set, the response to a send-only join": "A.join.g4.resp",
            "Get, the response": "A.query.g4.resp",
        }.items():
            change(
                rule,
                f"{way}, {field}",
                name,
                {"mcm." + field: value},
                ALL if way == "Set, the response" else ("default",),
            )

        @broken(rule, f"GetTable, {field}", "table.0")
        def in_table(w, field=field, value=value):
            get_table(w, [table_record(w, FIVE, **{field: value})])


# frames/missed/refused_joins.py has the other attributes
@broken("rfc4391.10.group-attributes", "Set, refused, qkey", "refused.resp")
def creation_with_another_qkey(w):
    refuse_creation(w, "qkey", 0x80000B1C)


@broken("rfc4391.10.group-other-attributes", "Set, refused, rate", "refused.resp")
def creation_with_another_rate(w):
    refuse_creation(w, "rate", 2)


@broken("rfc4391.10.group-attributes", "Set, the response, limited P_Key", "B.join.g4.resp")
def group_of_a_limited_pkey(w):
    w["B.join.g4.resp"]["mcm.pkey"] = w.pkey & 0x7FFF


@broken("rfc4391.10.group-attributes", "Set, the response, P_Key", "B.join.g4.resp")
def group_of_another_pkey(w):
    for name in ("B.join.g4", "B.join.g4.resp"):
        w[name]["mcm.pkey"] = 0x8002


for way, (node, group) in {
    "the broadcast group": ("A", "bcast"),
    "an IPv4 group": ("B", "g4"),
    "an IPv6 group": ("D", "snm"),
}.items():
    for state, what in OTHER_JOINS.items():
        change(
            "rfc4391.10.leave",
            f"{way}, Delete as {what}",
            f"{node}.leave.{group}",
            {"mcm.join": state},
            ALL if state == SEND_ONLY else ("default",),
        )

for way, (name, group) in {"IGMP": ("C.leave.snm", "g4"), "MLD": ("B.leave.g4", "routers")}.items():
    for state, what in OTHER_JOINS.items():

        @broken("rfc4391.10.receiver-fullmember", f"{way} report, {what}", next_response("B"), ALL)
        def listens_otherwise(w, group=group, state=state):
            for n in (f"B.join.{group}", f"B.join.{group}.resp", f"B.leave.{group}"):
                w[n]["mcm.join"] = state

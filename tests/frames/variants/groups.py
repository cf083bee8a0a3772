# SPDX-License-Identifier: GPL-2.0-or-later
"""Multicast GIDs and the broadcast group (RFC 4391 sections 4 and 4.1)."""

from frames import ib
from frames.fabric import SM
from frames.variants import INCONCLUSIVE, SILENT, broken, conforming
from frames.fabric import QKEY
from frames.messages import udp4
from frames.world import A, B, GROUP_IPV4

ALL = ("default", "child", "limited")
IPV4 = {
    "IPv4 multicast": "A.mcast4",
    "IPv4 broadcast": "A.bcast",
    "ARP request": "A.arp.request",
    "ARP announcement": "D.arp.announce",
    "RARP request": "A.rarp.request",
    "IGMP report": "B.igmp",
}
IPV6 = {
    "IPv6 multicast": "A.mcast6",
    "neighbour solicitation": "A.ns",
    "router solicitation": "A.rs",
    "router advertisement": "B.ra",
    "MLD report": "B.mld",
}
SA = {
    "Set (join as FullMember)": ("B.join.g4", "B.join.g4.resp"),
    "Set (join as SendOnlyNonMember)": ("A.join.g4", "A.join.g4.resp"),
    "Set, the response": ("B.join.g4.resp",),
    "Get, the response": ("A.query.g4.resp",),
    "Set of the broadcast group": ("B.join.bcast", "B.join.bcast.resp"),
    "Set of an IPv6 group": ("B.join.routers", "B.join.routers.resp"),
}


def mgid_octets(value):
    return bytearray(value.to_bytes(16, "big"))


def edit_mgid(w, names, edit):
    """edit(octets) changes the MGID of each of the frames: the GRH's DGID, or the record's."""
    for name in names:
        p = w[name]
        field = "mcm.mgid" if p["destqp"] == 1 else "dgid"
        octets = mgid_octets(p[field])
        edit(octets)
        p[field] = bytes(octets)


def each(rule, edit, ways, bases=("default",), **options):
    for way, names in ways.items():
        names = (names,) if isinstance(names, str) else names
        at = names[0]
        broken(rule, way, at, bases, **options)(lambda w, names=names: edit_mgid(w, names, edit))


def set_octets(at, octets):
    def edit(mgid):
        mgid[at : at + len(octets)] = octets

    return edit


# ---- other messages of the SA

LEAVES = {
    "Delete": ("B.leave.g4", "B.leave.g4.resp"),
    "Delete of an IPv6 group": ("B.leave.routers", "B.leave.routers.resp"),
}


def without_pkey(w):
    """B's join of an IPv4 group leaves out the P_Key (IBA 15.2.5.17)."""
    w["B.join.g4"]["sa.mask"] &= ~ib.MCM["pkey"]


def refuse_join(w):
    """The SA refuses B's join of an IPv4 group, so that B sends nothing to it."""
    w["B.join.g4.resp"]["mad.status"] = 0x0200
    w.drop("B.leave.g4", "B.leave.g4.resp", "B.igmp", "B.igmp.again")


def refuse_leave(w):
    w["B.leave.g4.resp"]["mad.status"] = 0x0200


def lose_leave(w):
    """B's Delete was not captured; the SA's DeleteResp was."""
    w.order.remove("B.leave.g4")


def get_table(w, records):
    """A requests the groups of the link; the SA responds with these records, in segments (IBA
    13.6)."""
    request = w["A.query.g4"].copy()
    wanted = ib.mcmember("::", pkey=w.pkey)
    octets = ib.sa_mad(ib.GET_TABLE, 0x7791, ib.ATTR_MC_MEMBER, wanted, ib.MCM["pkey"])
    request.payload = bytearray(octets)
    w.insert("A.ping", "table", request)
    after = "table"
    for n, octets in enumerate(ib.rmpp_table(0x7791, ib.ATTR_MC_MEMBER, records, 56)):
        segment = w["A.query.g4.resp"].copy()
        segment.payload = bytearray(octets)
        w.insert(after, f"table.{n}", segment)
        after = f"table.{n}"
        w.times[after] = w.times["table"] + (n + 1) * 10**5
    w.renumber()


def table_record(w, group, edit=None, **fields):
    """The record of a group without its members, as the SA gives it to an untrusted requester."""
    octets = bytearray(ib.gid(w.mgid(group)))
    if edit:
        edit(octets)
    record = {**w.record, **fields}
    return ib.mcmember(bytes(octets), mlid=0xC00B, pkey=w.pkey, scope=2, **record)


# records before that of the group, and the segment in which it ends: 200 octets each, the first
# record after 0 octets
PLACES = {
    "the first record": (0, "table.0"),
    "a record in two segments": (3, "table.1"),
    "a later segment": (5, "table.1"),
}


def in_other_messages(rule, what, edit):
    """The MGID of an IPv4 group, in each message of the SA that has one."""
    for way, names in LEAVES.items():
        if "IPv6" not in way or rule != "rfc4391.4.mgid-group-id-ipv4":
            each(rule, edit, {f"{way}, {what}": names})
    joined = ("B.join.g4", "B.join.g4.resp", "B.leave.g4", "B.leave.g4.resp")
    for way, names, at, prepare in (
        ("Set without P_Key", joined, "B.join.g4", without_pkey),
        ("Set, refused", joined[:2], "B.join.g4", refuse_join),
        ("Delete, refused", LEAVES["Delete"], "B.leave.g4", refuse_leave),
        ("DeleteResp alone", LEAVES["Delete"], "B.leave.g4.resp", lose_leave),
    ):

        @broken(rule, f"{way}, {what}", at)
        def in_message(w, names=names, prepare=prepare):
            edit_mgid(w, names, edit)
            prepare(w)

    for way, (before, at) in PLACES.items():

        @broken(rule, f"GetTable, {way}, {what}", at)
        def in_table(w, before=before):
            others = [table_record(w, f"239.6.6.{n}") for n in range(before)]
            get_table(w, [*others, table_record(w, FIVE, edit)])


@conforming("GetTable, Set without P_Key")
def other_messages(w):
    without_pkey(w)
    get_table(w, [table_record(w, f"239.6.6.{n}") for n in range(6)])


# ---- T flag and format

FIVE = "239.5.5.5"

each("rfc4391.4.mgid-t-flag", set_octets(1, b"\x02"), {**IPV4, **IPV6, **SA}, ALL)
each("rfc4391.4.mgid-format", set_octets(1, b"\x32"), {**IPV4, **IPV6, **SA})
each(
    "rfc4391.4.mgid-format",
    set_octets(1, b"\x92"),
    {"flag 8, IPv4": "A.mcast4", "flag 8, NS": "A.ns"},
)

in_other_messages("rfc4391.4.mgid-t-flag", "T = 0", set_octets(1, b"\x02"))
in_other_messages("rfc4391.4.mgid-format", "flags 3", set_octets(1, b"\x32"))
each(
    "rfc4391.4.mgid-format",
    set_octets(0, b"\xfe"),
    {f"0xfe for 0xff, {way}": name for way, name in {**IPV4, **IPV6}.items()},
)
each(
    "rfc4391.4.mgid-format",
    set_octets(0, ib.gid(B.gid)),
    {f"a port's GID, {way}": name for way, name in {**IPV4, **IPV6}.items()},
)

# ---- Reports of the SM that a group was created or deleted


def report_group(w, trap, edit, group=FIVE):
    """The SM reports a group whose creator's join was not captured (IBA 14.2.5.1). edit: as in
    edit_mgid()."""
    octets = bytearray(ib.gid(w.mgid(group)))
    edit(octets)
    notice = ib.notice(trap, bytes(octets), SM.lid, SM.gid)
    p = w["A.subscribe.66.resp"].copy()
    p.payload = bytearray(ib.sa_mad(ib.REPORT, 0x7790, ib.ATTR_NOTICE, notice))
    w.insert("A.ping", "report", p)
    w.renumber()


def reported(rule, way, edit, traps=(66, 67), group=FIVE, **options):
    for trap in traps:

        @broken(rule, f"Report of trap {trap}, {way}", "report", **options)
        def report_of_group(w, trap=trap):
            report_group(w, trap, edit, group)


reported("rfc4391.4.mgid-t-flag", "T = 0", set_octets(1, b"\x02"))
reported("rfc4391.4.mgid-t-flag", "T = 0, IPv6", set_octets(1, b"\x02"), group="ff02::5:5")
reported("rfc4391.4.mgid-format", "flags 3", set_octets(1, b"\x32"))
reported("rfc4391.4.mgid-format", "flags 9", set_octets(1, b"\x92"))
reported(
    "rfc4391.4.mgid-pkey",
    "another P_Key",
    set_octets(4, b"\x80\x02"),
    early=INCONCLUSIVE,
    why="a Report does not contain the P_Key of the group",
)
reported(
    "rfc4391.4.scope-consistent",
    "scope 5",
    set_octets(1, b"\x15"),
    early=INCONCLUSIVE,
    why="a Report does not name the node that created the group, and so not its link",
)
for signature in (0x401C, 0):
    reported(
        "rfc4391.4.mgid-signature-ipv4",
        f"0x{signature:04x}",
        set_octets(2, ib.u16(signature)),
        early=SILENT,
        why="nothing shows that the group is IPoIB's: other protocols have other signatures",
    )
reported(
    "rfc4391.4.1.pkey-full-member",
    "the broadcast group",
    set_octets(4, b"\x7f\xff"),
    traps=(66,),
    group="255.255.255.255",
)
WIDER = "a wider scope may be configured, and no capture shows that it is a default"
WIDER_SCOPE = dict(early=INCONCLUSIVE, why=WIDER)
SCOPES = {0: {}, 1: {}, 3: WIDER_SCOPE, 5: WIDER_SCOPE, 8: WIDER_SCOPE, 0xE: WIDER_SCOPE, 0xF: {}}
for scope, options in SCOPES.items():
    reported(
        "rfc4391.4.1.scope-link-local",
        f"the broadcast group, scope {scope}",
        set_octets(1, bytes([0x10 | scope])),
        traps=(66,),
        group="255.255.255.255",
        **options,
    )

OTHERS = {
    "an IPv4 group": (FIVE, set_octets(0, b"")),
    "an IPv6 group": ("ff02::5:5", set_octets(0, b"")),
    "the broadcast group": ("255.255.255.255", set_octets(0, b"")),
    "a group of the RDMA CM": (FIVE, set_octets(1, b"\x0e\x40\x01")),
}
for what, (group, edit) in OTHERS.items():

    @conforming(f"Report that {what} was created")
    def created(w, group=group, edit=edit):
        report_group(w, 66, edit, group)


# ---- signatures

for signature, what in ((0x601B, "IPv6's"), (0x401C, "0x401c"), (0, "0"), (0xA01B, "0xa01b")):
    each(
        "rfc4391.4.mgid-signature-ipv4",
        set_octets(2, ib.u16(signature)),
        {f"{way}, signature {what}": name for way, name in IPV4.items()},
    )
for signature, what in ((0x401B, "IPv4's"), (0x601C, "0x601c"), (0, "0"), (0xFFFF, "0xffff")):
    each(
        "rfc4391.4.mgid-signature-ipv6",
        set_octets(2, ib.u16(signature)),
        {f"{way}, signature {what}": name for way, name in IPV6.items()},
    )

# ---- P_Key

each("rfc4391.4.mgid-pkey", set_octets(4, b"\x80\x02"), {**IPV4, **IPV6}, ALL)
each("rfc4391.4.mgid-pkey", set_octets(4, b"\x80\x02"), SA, ("default", "child"))

# The P_Key without the membership bit is not the link's (RFC 4391 4.1, 10).
LIMITED = {"default": b"\x7f\xff", "child": b"\0\1", "limited": b"\0\1"}
for base_, octets in LIMITED.items():
    each(
        "rfc4391.4.mgid-pkey",
        set_octets(4, octets),
        {
            f"{way}, without the membership bit": name
            for way, name in {**IPV4, **IPV6, **SA}.items()
            if name not in ("A.bcast", "D.arp.announce") and "ARP" not in way
            if "broadcast" not in way
        },
        (base_,),
    )


@broken(
    "rfc4391.4.mgid-pkey", "limited member, without the membership bit", "C.mcast4", ("limited",)
)
def limited_members_own(w):
    edit_mgid(w, ["C.mcast4"], set_octets(4, b"\0\1"))


@broken("rfc4391.4.mgid-pkey", "Set, without the membership bit, nor in the record", "B.join.g4")
def limited_in_record(w):
    for name in ("B.join.g4", "B.join.g4.resp"):
        w[name]["mcm.pkey"] = 0x7FFF
    edit_mgid(w, ["B.join.g4", "B.join.g4.resp"], set_octets(4, b"\x7f\xff"))


in_other_messages("rfc4391.4.mgid-pkey", "without the membership bit", set_octets(4, b"\x7f\xff"))
reported("rfc4391.4.mgid-pkey", "without the membership bit", set_octets(4, b"\x7f\xff"))

# ---- group IDs

each(
    "rfc4391.4.mgid-group-id-ipv4",
    set_octets(12, b"\x0f\x01\x02\x04"),
    {"IPv4 multicast, another group": "A.mcast4", "IGMP report, another group": "B.igmp"},
)
HIGH = {
    "bits 28 to 31 set": set_octets(12, b"\xef\x01\x02\x03"),
    "bit 79 set": set_octets(6, b"\x80"),
    "bit 32 set": set_octets(11, b"\x01"),
}
for high, edit in HIGH.items():
    ways = {"IPv4 multicast": "A.mcast4", "IGMP report": "B.igmp"}
    ways.update({k: v for k, v in SA.items() if "group" not in k})
    each("rfc4391.4.mgid-group-id-ipv4", edit, {f"{w}, {high}": n for w, n in ways.items()})
    reported("rfc4391.4.mgid-group-id-ipv4", high, edit)
in_other_messages("rfc4391.4.mgid-group-id-ipv4", "bit 79 set", HIGH["bit 79 set"])
each("rfc4391.4.mgid-group-id-ipv6", set_octets(15, b"\x77"), IPV6)
each(
    "rfc4391.4.mgid-group-id-ipv6",
    set_octets(6, b"\x01"),
    {f"{w}, bit 79": n for w, n in IPV6.items()},
)


# ---- 255.255.255.255


@broken("rfc4391.4.broadcast-mapping", "to the group of 239.1.2.3", "A.mcast4", ALL)
def to_another_group(w):
    w["A.mcast4"].payload = bytearray(w["A.bcast"].payload)


@broken("rfc4391.4.broadcast-mapping", "to the low 28 bits, as of other groups", "A.bcast")
def mapped_as_a_group(w):
    edit_mgid(w, ["A.bcast"], set_octets(12, b"\x0f\xff\xff\xff"))


@broken("rfc4391.4.broadcast-mapping", "to one port", "C.ping")
def broadcast_to_one(w):
    w["C.ping"].payload = bytearray(udp4(B, "255.255.255.255"))


# ---- scope

SCOPED = {k: v for k, v in {**IPV4, **IPV6}.items() if "broadcast" not in k and "ARP" not in k}
SCOPED["ARP request, broadcast"] = "A.arp.request"


# A join is itself a request; the SA's next packet outside the window of order is the proof.
@broken("rfc4391.4.scope-consistent", "Set (join as FullMember)", "A.subscribe.66.resp", ALL)
def join_of_another_scope(w):
    edit_mgid(
        w, ["B.join.g4", "B.join.g4.resp", "B.leave.g4", "B.leave.g4.resp"], set_octets(1, b"\x15")
    )


@broken("rfc4391.4.scope-consistent", "Set (join as SendOnlyNonMember)", "C.subscribe.66.resp")
def send_only_join_of_another_scope(w):
    edit_mgid(w, ["A.join.g4", "A.join.g4.resp"], set_octets(1, b"\x15"))


for way_, name_ in {"Get, the response": "A.query.g4.resp", "GetTable": "table.0"}.items():

    @broken(
        "rfc4391.4.scope-consistent",
        way_,
        name_,
        early=INCONCLUSIVE,
        why="the record does not name the node that created the group, and so not its link",
    )
    def record_of_another_scope(w, name=name_):
        if name == "table.0":
            get_table(w, [table_record(w, FIVE, set_octets(1, b"\x15"))])
        else:
            edit_mgid(w, ["A.query.g4", name], set_octets(1, b"\x15"))


# The sender's next request and the SA's next packet were seen.
SETTLED = {"A": "A.leave.snm.resp", "B": "A.leave.snm.resp", "C": "C.leave.snm"}
for way_, name_ in SCOPED.items():

    @broken("rfc4391.4.scope-consistent", way_, SETTLED[name_[0]])
    def datagram_of_another_scope(w, name=name_):
        edit_mgid(w, [name], set_octets(1, b"\x15"))


# ---- the broadcast group's record

each("rfc4391.4.1.pkey-full-member", set_octets(4, b"\x7f\xff"), {
    "ARP request": "A.arp.request",
    "ARP announcement": "D.arp.announce",
    "RARP request": "A.rarp.request",
    "IPv4 broadcast": "A.bcast",
    "Set (join)": ("B.join.bcast", "B.join.bcast.resp"),
    "Delete": ("B.leave.bcast", "B.leave.bcast.resp"),
    "Set, the response": ("B.join.bcast.resp",),
})  # fmt: skip


@broken("rfc4391.4.1.pkey-full-member", "Set, the response, the record", "B.join.bcast.resp")
def limited_pkey_in_the_record(w):
    w["B.join.bcast.resp"]["mcm.pkey"] = w.pkey & 0x7FFF


def all_joins(w, **fields):
    for name in w.order:
        if ".join." in name and name.endswith(".resp"):
            for field, value in fields.items():
                w[name]["mcm." + field] = value


for qkey in (0x00000B1B, 0, 0x7FFFFFFF):

    @broken(
        "rfc4391.4.1.qkey-controlled", f"Set, the response, 0x{qkey:08x}", "A.join.bcast.resp", ALL
    )
    def uncontrolled(w, qkey=qkey):
        all_joins(w, qkey=qkey)


@broken("rfc4391.4.1.qkey-controlled", "Get, the response", "A.query.snm.resp")
def uncontrolled_reported(w):
    bcast = w["A.join.bcast.resp"]["mcm.mgid"]
    for name in ("A.query.snm", "A.query.snm.resp"):
        w[name]["mcm.mgid"] = bcast.to_bytes(16, "big")
    w["A.query.snm.resp"]["mcm.qkey"] = 0x0B1B


@broken("rfc4391.4.1.qkey-controlled", "GetTable", "table.0")
def uncontrolled_in_table(w):
    get_table(w, [table_record(w, "255.255.255.255", qkey=0x0B1B)])


# The response to the next SMP shows that the SM has not changed the port's MTU or P_Key table.
@broken("rfc4391.4.1.group-mtu", "NeighborMTU 1024, Set(PortInfo)", "B.sweep.resp", ALL)
def neighbour_mtu(w):
    for name in ("B.portinfo", "B.portinfo.resp", "B.sweep.resp"):
        w[name]["port.neighbor_mtu"] = 3


@broken("rfc4391.4.1.group-mtu", "NeighborMTU 256", "D.sweep.resp")
def neighbour_mtu_256(w):
    for name in ("D.portinfo", "D.portinfo.resp", "D.sweep.resp"):
        w[name]["port.neighbor_mtu"] = 1


@broken("rfc4391.4.1.group-mtu", "the group's MTU is 4096", "A.sweep.resp")
def group_mtu_4096(w):
    all_joins(w, mtu=5)


for scope, options in SCOPES.items():

    @broken(
        "rfc4391.4.1.scope-link-local",
        f"scope {scope}",
        "A.join.bcast.resp",
        ("default", "child"),
        **options,
    )
    def other_scope(w, scope=scope):
        for name in w.order:
            if ".bcast" in name and ("join" in name or "leave" in name):
                edit_mgid(w, [name], set_octets(1, bytes([0x10 | scope])))


# ---- groups of other protocols

FOREIGN = {"RDMA CM": "ff12:4001:ffff::ef01:203", "another protocol": "ff12::4711"}


def interface_sends(w, group):
    """A's QPN is in its ARP request."""
    w.send("A.bcast", "A.foreign", A, "A.bcast", udp4(A, GROUP_IPV4))["dgid"] = group


for what, group in FOREIGN.items():

    @broken("rfc4391.13.qkey-controlled", f"IPoIB interface, a group of {what}", "A.foreign")
    def uncontrolled_in_group(w, group=group):
        interface_sends(w, group)
        w["A.foreign"]["qkey"] = 0x77

    @broken("rfc4391.9.1.2.qkey-from-join", f"IPoIB interface, a group of {what}", "A.foreign")
    def other_qkey_in_group(w, group=group):
        interface_sends(w, group)
        w["A.foreign"]["qkey"] = QKEY + 1

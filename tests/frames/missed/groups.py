# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups that a port joined, left or created, or subscriptions to their traps, in frames that were not
captured; scopes with and without a broadcast group."""
from frames import fixture, ib, variants, world
from frames.bases import N3
from frames.fabric import A, B, BROADCAST_MGID, C, D, JOIN_MASK, SM, Tape, mad_frame
from frames.fault_datagrams import ping_group
from frames.ib import encap
from frames.messages import arp_request, ping, udp4
from frames.missed import CONFORMS, PATH_MASK, SOMETHING, Case, after, asks_next, by, count, exactly
from frames.missed import has, includes, lacks, of_real, rules, shift_psns
from frames.variants import evidence  # noqa: F401  (evidence: enters the variants)

QKEY_FROM_JOIN, TRAPS = "rfc4391.9.1.2.qkey-from-join", "rfc4391.10.subscribe-traps"
GROUP, EXISTS = "rfc4391.10.group-before-use", "rfc4391.5.broadcast-group-exists"


# ---- a response to InformInfo that was not captured


def subscribed(*missed, refused=False):
    t = fixture.tape("subscribed")
    if refused:
        t[274]["mad.status"] = 0x0200
    t.drop(*missed)
    t.renumber(5)
    return of_real(t)


# ---- groups that are deleted, or that the SA does not know


def to_deleted(after, missed=()):
    """switch4.pcap: n3 pings 239.10.20.32; the SA reports the deletion of this group to n3 in
    441. missed: frames that were not captured."""
    t = fixture.tape("switch4.pcap")
    t.insert(after, ping_group(t[322], N3, 5, "239.10.20.32", 0xC00C))
    t.renumber(5, N3.qpn)
    t.drop(*missed)
    return of_real(t)


LATER = 20  # ms: order is certain after 10 (lib/model/order.h)


def asked_and_missing(*more, told=True):
    """The SA reports to A, if told, and to C that it has no such group; then A sends to it. more:
    "join": before that, C requests to create the group, and the SA's response was not captured, so A
    may send; "refusal": the SA's response, a refusal, was captured, so A may not send. Without them A
    may not send either."""
    t, group = Tape(), ib.mgid_ipv4("239.1.2.3")
    record = ib.mcmember(group, C.gid, pkey=0xFFFF, join=1)
    mask = ib.MCM["mgid"]
    t.put(mad_frame(A, SM, ib.sa_mad(ib.GET, 0x53, ib.ATTR_MC_MEMBER, record, mask), 1).ib())
    if told:
        t.sa(SM, A, ib.GET_RESP, 0x53, ib.ATTR_MC_MEMBER, record, mask, status=0x0300)
    if more or not told:
        t.sa(C, SM, ib.GET, 0x55, ib.ATTR_MC_MEMBER, record, mask)
        t.sa(SM, C, ib.GET_RESP, 0x55, ib.ATTR_MC_MEMBER, record, mask, status=0x0300)
    if "join" in more:
        t.sa(C, SM, ib.SET, 0x56, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    if "refusal" in more:
        t.sa(SM, C, ib.GET_RESP, 0x56, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=0x0200)
    udp = ib.udp(A.ip, "239.1.2.3", 9, 9, b"1234")
    t.ud(A, group, encap(0x0800, ib.ipv4(A.ip, "239.1.2.3", 17, udp, ttl=1)), mlid=0xC005)
    # A's next request (its PSN follows): A did not join before. The SA's next response: no program
    # of A did
    t.put(mad_frame(A, SM, ib.sa_mad(ib.GET, 0x57, ib.ATTR_MC_MEMBER, record, mask), 2).ib())
    t.mad(
        SM, A, ib.sa_mad(ib.GET_RESP, 0x57, ib.ATTR_MC_MEMBER, record, mask, status=0x0300), LATER
    )
    return t.erf_pcap()


# without "join", the SA has sent one packet, so its PSNs show nothing: A's request counts


def created_after_missing(*, lost):
    """The SA's first packet that was captured tells A that it has no such group. Its second one, to
    A again, is a response to a program of A, which creates the group (lost: it was not captured, as
    its request), or to a query. Then A sends to the group."""
    t, group = Tape(), ib.mgid_ipv4("239.1.2.3")
    record, mask = ib.mcmember(group, A.gid, pkey=0xFFFF, join=1), ib.MCM["mgid"]
    other = ib.mcmember(ib.mgid_ipv4("239.1.2.4"), D.gid, pkey=0xFFFF, join=1)
    t.sa(A, SM, ib.GET, 0x53, ib.ATTR_MC_MEMBER, record, mask)
    t.sa(SM, A, ib.GET_RESP, 0x53, ib.ATTR_MC_MEMBER, record, mask, status=0x0300)
    if lost:
        t.management(SM, A, ib.sa_mad(ib.GET_RESP, 0x54, ib.ATTR_MC_MEMBER, record, JOIN_MASK))
    for tid in (0x55, 0x56):
        t.sa(D, SM, ib.GET, tid, ib.ATTR_MC_MEMBER, other, mask)
        t.sa(SM, D, ib.GET_RESP, tid, ib.ATTR_MC_MEMBER, other, mask, status=0x0300)
    udp = ib.udp(A.ip, "239.1.2.3", 9, 9, b"1234")
    t.ud(A, group, encap(0x0800, ib.ipv4(A.ip, "239.1.2.3", 17, udp, ttl=1)), mlid=0xC005)
    t.sa(A, SM, ib.GET, 0x57, ib.ATTR_MC_MEMBER, other, mask)
    response = ib.sa_mad(ib.GET_RESP, 0x57, ib.ATTR_MC_MEMBER, other, mask, status=0x0300)
    t.mad(SM, A, response, LATER)
    return t.erf_pcap()


# ---- a capture that begins late, with two scopes in one partition


def record_of(scope, node, **kw):
    mgid = BROADCAST_MGID.replace("ff12", "ff1%x" % scope)
    r = dict(qkey=0x80000005, mlid=0xC005, mtu_sel=2, mtu=4, pkey=0xFFFF, scope=scope, join=1)
    r.update(kw)
    return ib.mcmember(mgid, node.gid, **r)


def two_scopes(*sent, state=None):
    """A partition with two broadcast groups. A joined that of scope 2 before the capture, and joins
    that of scope 5, which has another Q_Key, in the capture. If state is given, the capture has
    instead D's join of the broadcast group of scope 8, and the SA's response has this status.
    sent: the datagrams that follow: (source, destination, Q_Key, options)."""
    t = Tape()
    record = record_of(5, A)
    if not state:
        t.sa(A, SM, ib.SET, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.sa(SM, A, ib.GET_RESP, 0x11, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    else:
        record = record_of(8, D, join=1)
        t.sa(D, SM, ib.SET, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.sa(SM, D, ib.GET_RESP, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=state)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000002)
    for src, dst, qkey, options in sent:
        payload = ping(src, dst) if not isinstance(dst, str) else arp_request(src, D.ip)
        t.ud(src, dst, payload, qkey=qkey, **options)
    asks_next(t, D if state else A, 2)
    return t.erf_pcap()


NO_GROUP = 0x0600  # IBA 15.2.3: ERR_REQ_INSUFFICIENT_COMPONENTS


def no_broadcast_group(psn, joins=False, told=A):
    """A asks the SA for another group (PSN 1), or for the broadcast group. The SA tells a port that
    there is no broadcast group of scope 8. Then A sends on this link (frame 12 or 13), or joins
    another group of it (PSN 2). A's last request has the PSN that is given."""
    t = Tape()
    other, record = ib.mcmember(ib.mgid_ipv4("239.1.2.3"), A.gid), record_of(8, told)
    first = ib.sa_mad(ib.GET, 0x53, ib.ATTR_MC_MEMBER, other, ib.MCM["mgid"])
    join = ib.sa_mad(ib.SET, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    t.put(mad_frame(A, SM, join if told is A else first, 1).ib())
    if told is not A:
        t.mad(told, SM, join)
    t.sa(SM, told, ib.GET_RESP, 0x12, ib.ATTR_MC_MEMBER, record, JOIN_MASK, status=NO_GROUP)
    for n in range(9):
        t.ud(C, D, ping(C, D, seq=n), qkey=0x80000002)
    group = "ff18:401b:ffff::16"
    if joins:
        record = ib.mcmember(group, A.gid, qkey=0x80000005, mlid=0xC005, mtu=4, pkey=0xFFFF, join=1)
        mad = ib.sa_mad(ib.SET, 0x13, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
        t.put(mad_frame(A, SM, mad, 2).ib())
        t.sa(SM, A, ib.GET_RESP, 0x13, ib.ATTR_MC_MEMBER, record, JOIN_MASK)
    else:
        t.ud(A, group, arp_request(A, D.ip), qkey=0x80000005, mlid=0xC005)
    asks_next(t, A, psn)
    path = ib.path_record(SM.gid, A.gid)
    t.mad(SM, A, ib.sa_mad(ib.GET_RESP, 0x7E, ib.ATTR_PATH_RECORD, path, PATH_MASK), LATER)
    return t.erf_pcap()


# ---- requests of a program from its own queue pair, which the PSNs of the port's GSI do not show


class Exchanges(Tape):
    """Requests to the SA and its responses; the PSNs of each GSI are counted."""

    def __init__(self):
        super().__init__()
        self.sent = dict.fromkeys((SM.lid, A.lid, D.lid), 0)

    def gsi(self, src, dst, mad):
        self.put(mad_frame(src, dst, mad, self.sent[src.lid]).ib(), ms=20)
        self.sent[src.lid] += 1

    def exchange(self, port, method, record, mask, status=0, attribute=ib.ATTR_MC_MEMBER):
        tid = 0x900 + len(self.records)
        self.gsi(port, SM, ib.sa_mad(method, tid, attribute, record, mask))
        mad = ib.sa_mad(ib.GET_RESP, tid, attribute, record, mask, status=status)
        self.gsi(SM, port, mad)

    def path(self, port):
        query = ib.path_record(SM.gid, port.gid)
        self.exchange(port, ib.GET, query, PATH_MASK, attribute=ib.ATTR_PATH_RECORD)


def sends_as_send_only(t):
    """A joined the broadcast group without FullMember; it sends on the link."""
    t.exchange(A, ib.SET, record_of(2, A, join=4), JOIN_MASK)
    yield
    for _ in range(2):
        t.ud(A, BROADCAST_MGID, arp_request(A, D.ip), qkey=0x80000005, mlid=0xC005)


def by_program(situation, missed, others=0, ports=(A, D), copies=False):
    """missed: the PSNs of the SA's GSI show that a response of the SA is missing, as to a join of a
    program. others: responses that are missing before. ports: the ports whose packets are captured.
    copies: each third frame was captured twice."""
    t = Exchanges()
    other = ib.mcmember(ib.mgid_ipv4("239.9.9.9"), A.gid)
    t.exchange(A, ib.GET, other, ib.MCM["mgid"])  # the request has A's GID and LID
    for port in ports:
        t.path(port)
    for _ in range(others):
        t.sent[SM.lid] += 1
        t.path(A)
    before = situation(t)
    next(before)
    t.sent[SM.lid] += missed
    list(before)
    for _ in range(5):
        t.path(A)
    if copies:
        t.records = [r for i, r in enumerate(t.records) for _ in range(1 + (i % 3 == 0))]
    return t.erf_pcap()


def variant(name):
    return next(v for v in variants.VARIANTS if v.name() == name)


def by_queue_pair(name, sent, missed):
    """A variant, which violates its rule in the frame `sent`. missed: the PSNs of the SA's GSI show
    that a response around this frame is missing, as to a request of another queue pair."""
    w = variant(name).world()
    shift_psns(w, after(w, sent), [SM.lid], missed)
    return w


# The facts (lib/rules/fact_kinds.def) that rest on "no such request was made", each with a variant.
NO_REQUEST = {
    "NO_JOIN": ("rfc4391.10.join-before-send: IPv4 multicast, never joined", "C.mcast4"),
    "NO_JOIN, a query": (
        "rfc4391.10.join-before-send: Get of the record only, g4",
        "A.mcast4",
    ),
    "NO_JOIN, refused": ("rfc4391.5.full-member-join: refused, IPv4 unicast", "C.ping"),
    "NO_MEMBERSHIP": ("rfc4391.10.join-before-send: IPv4 multicast, after leaving", "C.mcast4"),
    "JOIN_STATE": ("rfc4391.5.full-member-join: NonMember, IPv4 unicast", "C.ping"),
    "SUBSCRIPTIONS": ("rfc4391.10.subscribe-traps: neither", "A.ns"),
    "SUBSCRIPTIONS, refused": ("rfc4391.10.subscribe-traps: refused", "A.ns"),
    "NO_OTHER_LINK": ("rfc4391.4.scope-consistent: IPv4 multicast", "A.mcast4"),
    "NO_OTHER_LINK, a join": (
        "rfc4391.4.scope-consistent: Set (join as FullMember)",
        "B.join.g4",
    ),
    "MEMBERSHIP": (
        "rfc4391.10.receiver-fullmember: IGMP report, SendOnlyFullMember",
        "B.igmp.again",
    ),
    "GROUP_ABSENT": ("rfc4391.10.group-before-use: Get, no records", "nine"),
    "GROUP_ABSENT, deleted": (
        "rfc4391.10.group-before-use: Report of trap 67, IPv4 multicast",
        "C.mcast4",
    ),
    "NO_BROADCAST": (
        "rfc4391.5.broadcast-group-exists: IPv4 multicast; the SA knows none",
        "A.mcast4",
    ),
    "NO_BROADCAST, a join": (
        "rfc4391.5.broadcast-group-exists: Set: another group is joined",
        "A.join.nodes.resp",
    ),
    "NEIGHBOUR": ("rfc4391.9.1.1.traffic-to-qpn: IPv4 unicast", "C.ping"),
    "UD_QPNS": ("rfc4755.3.2.ud-qpn-in-private-data: RC, REQ, another QPN", "rc.req"),
    "UD_QPNS, the peer's": ("rfc4755.3.5.service-id: RC, the QPN is another", "rc.req"),
}


# ---- copies of another capture point


def after_leave(copies):
    """A sends three datagrams to a group and leaves it. copies: that many of the datagrams, the last
    ones, are captured again after the SA's response to the leave; else A sends one more."""
    w = world.World()
    w.smps(world.A)
    w.join(world.A, "bcast", "255.255.255.255", 0xC000)
    group = "g4", world.GROUP_IPV4, 0xC007
    w.join(world.A, *group)
    send = lambda name: w.ud(
        name, world.A, w.mgid(group[1]), udp4(world.A, group[1]), mlid=group[2]
    )
    for n in range(3):
        send(f"data.{n}")
    w.leave(world.A, *group)
    for n in range(3 - copies, 3):
        w.insert(w.order[-1], f"copy.{n}", w[f"data.{n}"].copy())
    if not copies:
        send("late")
    w.now += world.GAP
    w.last_request(world.A)
    return w


# ---- the cases

case = by(Case, deviations="linux")
A2 = A.also(qpn=0x49, ip="10.2.0.1")  # another interface of A
SCOPE_5, SCOPE_8 = "ff15:401b:ffff::ffff:ffff", "ff18:401b:ffff::16"
ON_LINK = (A, SCOPE_5, 0x80000005, {"mlid": 0xC005})
JOINS = {"sends": False, "joins": True}
MEMBER = "rfc4391.5.full-member-join"

CASES = [
    # n1 and n2 never subscribe, as all Linux hosts
    *[
        Case(
            f"missed subscription responses {missed}",
            count(2),
            by(subscribed, *missed),
            of=(TRAPS,),
        )
        for missed in ((272,), (274,), (272, 274))
    ],
    Case("rejected subscription", count(3), by(subscribed, refused=True), of=(TRAPS,)),
    case("datagram at the time of its group's deletion", lacks(GROUP), by(to_deleted, 441)),
    # 448, n3's next request, shows that it did not join again
    case(
        "datagram to a group that was deleted before", includes((448, GROUP)), by(to_deleted, 447)
    ),
    case("the same after a missed request", CONFORMS, by(to_deleted, 447, [448])),
    case(
        "missed response to the join that creates a group", CONFORMS, by(asked_and_missing, "join")
    ),
    # without "join", the SA has sent one packet, so its PSNs show nothing: A's request counts
    case("group that no port created", includes((4, GROUP)), asked_and_missing),
    case(
        "group that the SA's first packet misses, later created by a program",
        CONFORMS,
        by(created_after_missing, lost=True),
    ),
    # 9: the SA's response to A's next request; it shows that nothing was missed
    case(
        "group that the SA's first packet misses, and nobody creates",
        includes((9, GROUP)),
        by(created_after_missing, lost=False),
    ),
    case(
        "group whose creation was refused",
        includes((9, GROUP)),
        by(asked_and_missing, "join", "refusal"),
    ),
    # A may have joined before the capture, and the SA may have been restarted since
    case("group that another port does not find", CONFORMS, by(asked_and_missing, told=False)),
    *[
        case(
            f"link of another scope, {what}",
            CONFORMS,
            by(two_scopes, (B, C, 0x80000002, {"grh": grh}), (A2, C, 0x80000002, {"grh": grh})),
        )
        for what, grh in (("no GRH", False), ("GRH", True))
    ],
    case(
        "other Q_Key on the link that was joined",
        exactly((14, QKEY_FROM_JOIN)),
        by(two_scopes, ON_LINK, (A, B, 0x80000002, {})),
    ),
    # a node searches the scopes from the local one outwards (RFC 4391 section 4.1)
    case(
        "scope without a broadcast group, and one that was joined before",
        CONFORMS,
        by(two_scopes, ON_LINK, (A, B, 0x80000005, {}), state=NO_GROUP),
    ),
    case(
        "port whose requests are not captured",
        CONFORMS,
        by(two_scopes, (A, SCOPE_8, 0x80000005, {"mlid": 0xC005}), state=NO_GROUP),
    ),
    *[
        row
        for what, joins in JOINS.items()
        for row in (
            case(
                f"{what}, missed join of the broadcast group",
                lacks(EXISTS),
                by(no_broadcast_group, 3 + joins, joins),
            ),
            # If the SA has sent two packets before, its next one shows that no response is missing.
            case(
                f"{what} in a scope without a broadcast group",
                includes((15 if joins else 13, EXISTS)),
                by(no_broadcast_group, 2 + joins, joins),
            ),
            case(
                f"{what}, broadcast group that another port does not find",
                lacks(EXISTS),
                by(no_broadcast_group, 2 + joins, joins, told=D),
            ),
        )
    ],
    *[
        row
        for others in (0, 1, 3, 6)
        for what, copied in (("once", False), ("copies", True))
        for row in (
            case(
                f"missed join of a program, {others} others, {what}",
                lacks(MEMBER),
                by(by_program, sends_as_send_only, 1, others, copies=copied),
            ),
            case(
                f"no join of a program, {others} others, {what}",
                has(MEMBER),
                by(by_program, sends_as_send_only, 0, others, copies=copied),
            ),
        )
    ],
    # it sees only the SA's responses to its own port: many are missing
    case("capture of a host", has(MEMBER), by(by_program, sends_as_send_only, 3, 6, ports=(A,))),
    *[
        Case(
            f"{fact}, {'missed' if missed else 'no missed'} request",
            CONFORMS if missed else SOMETHING,
            by(by_queue_pair, name, sent, missed),
            of=(name.split(":")[0],),
        )
        for fact, (name, sent) in NO_REQUEST.items()
        for missed in (1, 0)
    ],
    # the PSNs of a queue pair increase by one (IBA 9.8.2.2): it has sent the datagram before
    *[
        case(f"{n} copies of a datagram after the leave", CONFORMS, by(after_leave, n))
        for n in (1, 2)
    ],
    case("datagram after the leave", rules("rfc4391.10.join-before-send"), by(after_leave, 0)),
]

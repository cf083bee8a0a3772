/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/psn_gaps.h"

#include "model/mix.h"

/* Further queue pairs are not followed. */
enum { SEQUENCES_MAX = 1 << 14, WINDOW = 64, RECENT = 256 };
#define PSN_BITS UINT32_C(0xffffff)
/* A step of more PSNs is no gap: the queue pair was created anew. Of a connection: WINDOW. */
enum { STEP_MAX = 1 << 16 };
/* Of so many packets, one gap may be a loss. */
enum { PACKETS_PER_GAP = 8 };

struct psn_window {
    struct port_number id;         /* must be first: the key */
    uint32_t psn;                  /* the highest */
    uint64_t seen;                 /* bit n: psn - n was captured; 0: the next one starts anew */
    uint32_t packets, gaps, frame; /* frame: the first gap */
    uint32_t last_frame;
    uint64_t missing;
    struct psn_sender *sender;
    const struct capture_point *point;
    bool is_sa;
    bool is_routed, is_known; /* its port is in another subnet; known whether it is */
};

/* Where a subnet was captured. A capture point at a port sees only packets from it and to it. */
struct capture_point {
    struct port ends[2]; /* those of each packet so far that is not to a group; id 0: none */
    bool known;          /* a packet was captured */
};
enum { POINTS = 16 }; /* further subnets share these */

struct sender_entry {
    struct port_number id; /* must be first: the key; number: enum psn_class */
    struct psn_sender sender;
};

/* A queue pair by the LID that the packet has, of which a port may have several. */
struct recent_window {
    struct port_number sender;
    struct psn_window *window; /* NULL: unused */
};

/* A LID that the subnet manager gave to a port. A cache. */
enum { SET_LIDS = 1 << 10 };
struct set_lid {
    struct port port;
    uint32_t frame; /* 0: unused */
};

struct psn_gaps {
    struct set_lid set_lids[SET_LIDS];
    GHashTable *windows;                 /* a set of struct psn_window */
    GHashTable *senders;                 /* a set of struct sender_entry */
    struct recent_window recent[RECENT]; /* direct-mapped */
    struct capture_point points[POINTS];
    const struct endports *endports;
};

struct psn_gaps *psn_gaps_new(const struct endports *endports)
{
    struct psn_gaps *all = g_new0(struct psn_gaps, 1);
    all->windows = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
    all->senders = g_hash_table_new_full(port_number_hash, port_number_equal, g_free, NULL);
    all->endports = endports;
    return all;
}

void psn_gaps_free(struct psn_gaps *all)
{
    if (!all)
        return;
    g_hash_table_destroy(all->windows);
    g_hash_table_destroy(all->senders);
    g_free(all);
}

/* Is it at the port, or at a switch, where packets came by that have no end in common? */
static bool sees_all_of(const struct capture_point *c, struct port port)
{
    const struct port *one = &c->ends[0], *other = &c->ends[1];
    return c->known && (!one->id || port_same(*one, port)) &&
           (!other->id || port_same(*other, port));
}

/*
 * Does a gap of the queue pair show that the capture lost a packet? At the port of another host
 * only the packets to that host are captured, and then most are missing.
 */
static bool counts(const struct psn_window *s)
{
    bool is_sparse = s->id.number != QPN_GSI && s->gaps * PACKETS_PER_GAP <= s->packets;
    return !s->is_routed && (is_sparse || sees_all_of(s->point, s->id.port));
}

struct port port_of_route(uint16_t interface, uint32_t agent, const uint8_t *hops, unsigned n)
{
    return port_make(PORT_NONE, interface, mix_route(mix_word(agent, 1), hops, n) >> 16 | 1);
}

static bool is_connected(const struct psn_window *s)
{
    return s->id.number & PSN_TO_QP;
}

/* Did the subnet manager set the port's LID since? It may have had another, and sent from that. */
static bool may_have_moved(const struct psn_gaps *all, const struct psn_window *s)
{
    const struct set_lid *set = &all->set_lids[port_to_lid(s->id.port) % SET_LIDS];
    return port_kind(s->id.port) == PORT_LID && port_same(set->port, s->id.port) &&
           set->frame > s->last_frame;
}

void psn_gaps_lid_is_set(struct psn_gaps *all, struct port port, uint32_t frame)
{
    all->set_lids[port_to_lid(port) % SET_LIDS] = (struct set_lid){port, frame};
}

static void step(const struct psn_gaps *all, struct psn_window *s, uint32_t by, uint32_t frame)
{
    bool is_gap = by > 1 && by <= (is_connected(s) ? WINDOW : STEP_MAX);
    if (is_gap && !may_have_moved(all, s)) {
        s->frame = s->frame ? s->frame : frame;
        s->gaps++;
        s->missing += by - 1;
    }
    s->seen = by < WINDOW ? s->seen << by | 1 : 1;
    s->psn = (s->psn + by) & PSN_BITS;
    s->packets++;
    if (is_gap) {
        s->sender->any_gap_frame = frame;
        if (counts(s))
            s->sender->gap_frame = frame;
    }
}

/* An earlier PSN: a copy, a packet that was captured late, or a new start. */
static void step_back(struct psn_window *s, uint32_t by, uint32_t psn)
{
    if (by >= WINDOW) {
        s->psn = psn;
        s->seen = 1;
        if (is_connected(s)) /* what was missing may be sent again */
            s->missing = 0;
    } else if (!(s->seen >> by & 1)) {
        s->seen |= UINT64_C(1) << by;
        s->missing -= s->missing > 0;
        s->packets++;
    }
}

static enum psn_class class_of(uint32_t qpn)
{
    return qpn == QPN_SMI ? PSN_SMI : qpn == QPN_GSI ? PSN_GSI : PSN_DATA;
}

static struct psn_sender *sender_of_class(struct psn_gaps *all, struct port port,
                                          enum psn_class class)
{
    const struct port_number key = port_number(&port, class);
    struct sender_entry *e = g_hash_table_lookup(all->senders, &key);
    if (!e) {
        e = g_new0(struct sender_entry, 1);
        e->id = key;
        g_hash_table_add(all->senders, e);
    }
    return &e->sender;
}

static struct capture_point *point_of(struct psn_gaps *all, struct port port)
{
    return &all->points[port_interface(port) % POINTS];
}

static struct psn_window *window_of(struct psn_gaps *all, const struct port_number *sender,
                                    bool add)
{
    struct psn_window *s = g_hash_table_lookup(all->windows, sender);
    if (s || !add || g_hash_table_size(all->windows) >= SEQUENCES_MAX)
        return s;
    s = g_new0(struct psn_window, 1);
    s->id = *sender;
    s->sender = sender_of_class(all, sender->port, class_of(sender->number));
    s->point = point_of(all, sender->port);
    g_hash_table_add(all->windows, s);
    return s;
}

/* NULL: it is not followed. */
static struct psn_window *recent_of(struct psn_gaps *all, const struct port_number *sender,
                                    bool add)
{
    struct recent_window *recent = &all->recent[port_number_place(sender) % RECENT];
    if (!recent->window || !port_number_equal(&recent->sender, sender)) {
        const struct port base = endports_base(all->endports, sender->port);
        const struct port_number key = port_number(&base, sender->number);
        struct psn_window *s = sender->port.id ? window_of(all, &key, add) : NULL;
        if (!s)
            return NULL;
        *recent = (struct recent_window){*sender, s};
    }
    return recent->window;
}

/* Ends that this packet does not have are none of each packet. A port may have several LIDs. */
static void other_ends(const struct psn_gaps *all, struct capture_point *c, struct port from,
                       struct port to)
{
    from = endports_base(all->endports, from);
    to = endports_base(all->endports, to);
    if (!c->known)
        *c = (struct capture_point){{from, to}, true};
    for (unsigned i = 0; i < G_N_ELEMENTS(c->ends); i++) {
        const struct port end = endports_base(all->endports, c->ends[i]);
        if (!port_same(end, from) && !port_same(end, to))
            c->ends[i].id = 0;
    }
}

/* A packet of one port to another. */
static void see_ends(struct psn_gaps *all, struct port from, uint16_t dlid)
{
    struct capture_point *c = point_of(all, from);
    const struct port to = port_lid(port_interface(from), dlid);
    bool same = c->known;
    for (unsigned i = 0; i < G_N_ELEMENTS(c->ends); i++)
        same &= !c->ends[i].id || port_same(c->ends[i], from) || port_same(c->ends[i], to);
    if (!same)
        other_ends(all, c, from, to);
}

/*
 * The packet goes to another subnet or comes from one. A port of this subnet has named its GID to
 * the SA, or uses the prefix fe80::/64, which every port has too (IBA 4.1.1).
 */
static void know_subnet(const struct psn_gaps *all, struct psn_window *s,
                        const struct psn_packet *p)
{
    const struct endport *port = endports_by_gid(all->endports, port_interface(s->id.port),
                                                 p->sgid);
    bool is_far = memcmp(p->sgid, p->dgid, GID_SIZE / 2) != 0 && be64(p->sgid) != UINT64_C(0xfe80)
                                                                                      << 48;
    s->is_known = true;
    s->is_routed = is_far && (!port || !port->named_frame);
}

void psn_gaps_see(struct psn_gaps *all, const struct port_number *sender,
                  const struct psn_packet *p, enum psn_evidence evidence)
{
    struct psn_window *s = recent_of(all, sender, evidence == PSN_SURE);
    if (!s)
        return;
    if (!s->seen) {
        s->psn = p->psn;
        s->seen = 1;
    }
    uint32_t by = (p->psn - s->psn) & PSN_BITS;
    if (evidence == PSN_NEXT && by != 1)
        return;
    s->sender->last_frame = p->frame;
    s->is_sa |= p->by_sa;
    if (p->sgid && !s->is_known && p->dgid[0] != 0xff)
        know_subnet(all, s, p);
    if (p->dlid < LID_MULTICAST_FIRST && port_kind(sender->port) == PORT_LID)
        see_ends(all, sender->port, p->dlid);
    if (by > PSN_BITS / 2)
        step_back(s, PSN_BITS + 1 - by, p->psn);
    else if (by)
        step(all, s, by, p->frame);
    s->last_frame = p->frame;
}

void psn_gaps_restart(struct psn_gaps *all, const struct port_number *sender)
{
    struct psn_window *s = recent_of(all, sender, false);
    if (s)
        s->seen = 0;
}

const struct psn_sender *psn_gaps_sender(const struct psn_gaps *all, struct port port,
                                         enum psn_class class)
{
    const struct port base = endports_base(all->endports, port);
    const struct port_number key = port_number(&base, class);
    const struct sender_entry *e = g_hash_table_lookup(all->senders, &key);
    return e ? &e->sender : NULL;
}

void psn_gaps_merge(struct psn_gaps *all)
{
    GHashTableIter it;
    gpointer s;
    g_hash_table_iter_init(&it, all->windows);
    while (g_hash_table_iter_next(&it, &s, NULL))
        ((struct psn_window *)s)->seen = 0;
}

/*
 * IPoIB datagrams; packets of a GSI, but not of the SA's, which sends some to itself; and those of
 * connections, which all go to one port: what the way loses is sent again.
 */
static bool is_counted(const struct psn_window *s)
{
    return s->missing && s->id.number != QPN_SMI && !s->is_sa && (is_connected(s) || counts(s));
}

uint64_t psn_gaps_missing(const struct psn_gaps *all, uint32_t *frame)
{
    uint64_t missing = 0;
    *frame = 0;
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, all->windows);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        const struct psn_window *s = key;
        if (!is_counted(s))
            continue;
        missing += s->missing;
        *frame = *frame && *frame < s->frame ? *frame : s->frame;
    }
    return missing;
}

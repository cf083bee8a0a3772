/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/psn_gaps.h"

#include "model/mix.h"

/* Further queue pairs are not followed. */
enum { SEQUENCES_MAX = 1 << 14, WINDOW = 64, RECENT = 256 };
#define PSN_BITS UINT32_C(0xffffff)
/* A step of more PSNs is no gap: the queue pair was created anew. */
enum { STEP_MAX = 1 << 16 };
/* Of so many packets, one gap may be a loss. */
enum { PACKETS_PER_GAP = 8 };

struct psn_window {
    struct port_number id; /* must be first: the key */
    uint32_t psn;          /* the highest */
    uint64_t seen;         /* bit n: psn - n was captured; 0: the next one starts anew */
    uint32_t packets, gaps, frame;
    uint64_t missing;
    struct psn_sender *sender;
    uint16_t to;     /* LID of the last receiver, not of a group; 0: none */
    bool to_several; /* packets to several ports were captured */
    bool is_sa;
};

struct sender_entry {
    struct port_number id; /* must be first: the key; number: enum psn_class */
    struct psn_sender sender;
};

/* A queue pair by the LID that the packet has, of which a port may have several. */
struct recent_window {
    struct port_number sender;
    struct psn_window *window; /* NULL: unused */
};

struct psn_gaps {
    GHashTable *windows;                 /* a set of struct psn_window */
    GHashTable *senders;                 /* a set of struct sender_entry */
    struct recent_window recent[RECENT]; /* direct-mapped */
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

/*
 * Does a gap of the queue pair show that the capture lost a packet? At the port of another host
 * only the packets to that host are captured, and then most are missing. A capture point that sees
 * those to several ports is at the sender or at a switch.
 */
static bool counts(const struct psn_window *s)
{
    bool is_sparse = s->id.number != QPN_GSI && s->gaps * PACKETS_PER_GAP <= s->packets;
    return s->to_several || is_sparse;
}

struct port port_of_route(uint16_t interface, uint32_t agent, const uint8_t *hops, unsigned n)
{
    uint64_t h = mix_word(agent, n + UINT64_C(1));
    for (unsigned i = 0; i < n; i++)
        h = mix_word(h, hops[i]);
    return port_make(PORT_NONE, interface, h >> 16 | 1);
}

static void step(struct psn_window *s, uint32_t by, uint32_t frame)
{
    if (by > 1 && by <= STEP_MAX) {
        s->frame = s->frame ? s->frame : frame;
        s->gaps++;
        s->missing += by - 1;
    }
    s->seen = by < WINDOW ? s->seen << by | 1 : 1;
    s->psn = (s->psn + by) & PSN_BITS;
    s->packets++;
    if (by > 1 && by <= STEP_MAX) {
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

static struct psn_window *window_of(struct psn_gaps *all, const struct port_number *sender,
                                    bool add)
{
    struct psn_window *s = g_hash_table_lookup(all->windows, sender);
    if (s || !add || g_hash_table_size(all->windows) >= SEQUENCES_MAX)
        return s;
    s = g_new0(struct psn_window, 1);
    s->id = *sender;
    s->sender = sender_of_class(all, sender->port, class_of(sender->number));
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

static void receiver(const struct psn_gaps *all, struct psn_window *s, uint16_t lid)
{
    const struct port before = port_lid(port_interface(s->id.port), s->to),
                      now = port_lid(port_interface(s->id.port), lid);
    s->to_several = s->to && !port_same(endports_base(all->endports, before),
                                        endports_base(all->endports, now));
    s->to = lid;
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
    if (!s->to_several && p->dlid != s->to && p->dlid < LID_MULTICAST_FIRST)
        receiver(all, s, p->dlid);
    if (by > PSN_BITS / 2)
        step_back(s, PSN_BITS + 1 - by, p->psn);
    else if (by)
        step(s, by, p->frame);
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

/* IPoIB datagrams; and packets of a GSI, but not of the SA's, which sends some to itself. */
static bool is_counted(const struct psn_window *s)
{
    uint32_t qpn = s->id.number;
    return s->missing && qpn != QPN_SMI && !(qpn & PSN_TO_QP) && !s->is_sa && counts(s);
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

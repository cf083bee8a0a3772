/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/endport.h"

#include "model/hash.h"
#include "model/port.h"
#include "model/slab.h"
#include "model/write.h"

enum { GUID_AT = 8 }; /* in a GID */
enum { LMC_MAX = 7 }; /* LMC has 3 bits (IBA 14.2.5.6) */
/* Direct-mapped caches of recent endports; they save most hash table lookups. */
enum { RECENT = 256 };

struct recent_lid {
    const struct endport *endport; /* NULL: none has the LID */
    uint16_t interface, lid;
    bool is_known; /* false: unused */
};

struct endports {
    GHashTable *by_gid; /* a set of struct endport */
    GHashTable *by_lid; /* interface and LID -> struct endport */
    struct slab all;
    unsigned limit;
    struct undone *undone;
    bool has_ranges; /* the SM has set an LMC */
    const struct endport *recent_gid[RECENT];
    struct recent_lid recent_lid[RECENT];
};

static guint gid_hash(gconstpointer p)
{
    G_STATIC_ASSERT(offsetof(struct endport, interface) == GID_SIZE);
    return hash_bytes(p, GID_SIZE + sizeof(uint16_t));
}

static gboolean gid_equal(gconstpointer p, gconstpointer q)
{
    const struct endport *a = p, *b = q;
    return a->interface == b->interface && memcmp(a->gid, b->gid, GID_SIZE) == 0;
}

static gpointer lid_key(uint16_t interface, uint16_t lid)
{
    return GUINT_TO_POINTER((guint)interface << 16 | lid);
}

struct endports *endports_new(unsigned limit, struct undone *undone)
{
    struct endports *e = g_new0(struct endports, 1);
    e->by_gid = g_hash_table_new(gid_hash, gid_equal);
    e->by_lid = g_hash_table_new(hash_number, NULL);
    slab_init(&e->all, sizeof(struct endport));
    e->limit = limit;
    e->undone = undone;
    return e;
}

void endports_free(struct endports *e)
{
    if (!e)
        return;
    g_hash_table_destroy(e->by_gid);
    g_hash_table_destroy(e->by_lid);
    for (unsigned i = 0; i < e->all.count; i++) {
        g_free(((struct endport *)slab_at(&e->all, i))->pkeys);
        g_free(((struct endport *)slab_at(&e->all, i))->said);
    }
    slab_clear(&e->all);
    g_free(e);
}

static struct endport *add_endport(struct endports *e, uint16_t interface)
{
    if (e->all.count >= e->limit) {
        undone_refuse(e->undone, UNDONE_ENDPORTS);
        return NULL;
    }
    struct endport *p = slab_add(&e->all);
    p->interface = interface;
    return p;
}

/* Only the cache changes, so a reader may write it. */
const struct endport *endports_by_gid(const struct endports *e, uint16_t interface,
                                      const uint8_t *gid)
{
    struct endport key;
    const struct endport **recent =
        &((struct endports *)e)->recent_gid[be16(gid + GID_SIZE - 2) % RECENT];
    memcpy(key.gid, gid, GID_SIZE);
    key.interface = interface;
    if (*recent && gid_equal(*recent, &key))
        return *recent;
    const struct endport *found = g_hash_table_lookup(e->by_gid, &key);
    if (found)
        *recent = found;
    return found;
}

/* The port that was seen at this LID. Only the cache changes, so a reader may write it. */
static const struct endport *seen_at_lid(const struct endports *e, uint16_t interface, uint16_t lid)
{
    struct recent_lid *recent = &((struct endports *)e)->recent_lid[lid % RECENT];
    if (!recent->is_known || recent->lid != lid || recent->interface != interface)
        *recent = (struct recent_lid){g_hash_table_lookup(e->by_lid, lid_key(interface, lid)),
                                      interface, lid, true};
    return recent->endport;
}

/*
 * The port that has the LID by its LMC. The low LMC bits of a base LID are 0 (IBA 4.1.3). Such LIDs
 * are not in the hash table, because a PortInfo with another LID or LMC changes them all.
 */
static const struct endport *of_range(const struct endports *e, uint16_t interface, uint16_t lid)
{
    for (unsigned lmc = 1; e->has_ranges && lmc <= LMC_MAX; lmc++) {
        uint16_t base = (uint16_t)(lid & ~((1u << lmc) - 1));
        const struct endport *p = base ? seen_at_lid(e, interface, base) : NULL;
        if (p && p->lmc >= lmc && endport_has_lid(p, lid))
            return p;
    }
    return NULL;
}

const struct endport *endports_by_lid(const struct endports *e, uint16_t interface, uint16_t lid)
{
    const struct endport *p = seen_at_lid(e, interface, lid);
    const struct endport *q = p && endport_has_lid(p, lid) ? NULL : of_range(e, interface, lid);
    return q ? q : p;
}

struct port endports_base(const struct endports *e, struct port port)
{
    uint16_t lid = e->has_ranges ? port_to_lid(port) : 0, interface = port_interface(port);
    const struct endport *p = lid ? endports_by_lid(e, interface, lid) : NULL;
    return p && p->lid != lid && endport_has_lid(p, lid) ? port_lid(interface, p->lid) : port;
}

bool endports_gid_is_confirmed(const struct endports *e, const struct endport *p)
{
    return p->named_frame && p->named_frame >= p->gsi.gap_frame &&
           endports_by_lid(e, p->interface, p->lid) == p;
}

struct endport *endports_get_by_gid(struct endports *e, uint16_t interface, const uint8_t *gid,
                                    bool create)
{
    struct endport *p = (struct endport *)endports_by_gid(e, interface, gid);
    if (p || !create)
        return p;
    p = add_endport(e, interface);
    if (!p)
        return NULL;
    memcpy(p->gid, gid, GID_SIZE);
    g_hash_table_add(e->by_gid, p);
    return p;
}

/* lid: a LID of the port. A port with an LMC keeps its first one, its base LID. */
static void set_lid(struct endports *e, struct endport *p, uint16_t lid)
{
    if (!endport_has_lid(p, lid))
        p->lid = lid;
    g_hash_table_replace(e->by_lid, lid_key(p->interface, lid), p);
    e->recent_lid[lid % RECENT] = (struct recent_lid){p, p->interface, lid, true};
}

void endports_set_lmc(struct endports *e, struct endport *p, uint8_t lmc)
{
    p->lmc = lmc & 7u;
    e->has_ranges |= lmc != 0;
    for (unsigned i = 1; p->lid && i < 1u << lmc; i++) { /* without a LID it has no range */
        uint16_t lid = (uint16_t)(p->lid + i);
        g_hash_table_remove(e->by_lid, lid_key(p->interface, lid));
        e->recent_lid[lid % RECENT].is_known = false;
    }
}

static struct endport *add_at_lid(struct endports *e, uint16_t interface, uint16_t lid)
{
    struct endport *p = add_endport(e, interface);
    if (p)
        set_lid(e, p, lid);
    return p;
}

struct endport *endports_get_by_lid(struct endports *e, uint16_t interface, uint16_t lid,
                                    bool create)
{
    struct endport *p = (struct endport *)endports_by_lid(e, interface, lid);
    return p || !create ? p : add_at_lid(e, interface, lid);
}

struct endport *endports_assign_unnamed(struct endports *e, uint16_t interface, uint16_t lid)
{
    struct endport *p = (struct endport *)seen_at_lid(e, interface, lid);
    return p ? p : add_at_lid(e, interface, lid);
}

/* The records of the newer response win; a table is whole in one response. */
static void take_over_said(struct endport *p, struct endport *from)
{
    struct endport_said *a = p->said, *b = from->said;
    uint32_t own = a ? MAX(a->port_frame, a->pkeys_frame) : 0;
    if (b && (!a || MAX(b->port_frame, b->pkeys_frame) > own)) {
        p->said = b;
        from->said = a;
    }
}

/* Copy what was learnt for a LID without a GID to the endport with the GID. */
static void take_over(struct endport *p, struct endport *nameless)
{
    if (!p->initialised_frame)
        p->initialised_frame = nameless->initialised_frame;
    if (!p->new_frame)
        p->new_frame = nameless->new_frame;
    p->named_frame = MAX(p->named_frame, nameless->named_frame);
    sequence_merge(&p->gsi, &nameless->gsi);
    sequence_merge(&p->smi, &nameless->smi);
    if (nameless->neighbor_mtu)
        p->neighbor_mtu = nameless->neighbor_mtu;
    if (nameless->mtu_cap)
        p->mtu_cap = nameless->mtu_cap;
    if (nameless->node_type)
        p->node_type = nameless->node_type;
    if (nameless->lmc)
        p->lmc = nameless->lmc;
    p->subscribed |= nameless->subscribed;
    p->subscribed_before |= nameless->subscribed_before;
    p->ended = MAX(p->ended, nameless->ended);
    p->subscribed_to_one |= nameless->subscribed_to_one;
    p->unsubscribed_frame = MAX(p->unsubscribed_frame, nameless->unsubscribed_frame);
    p->subscribing |= nameless->subscribing;
    p->reregister_frame = MAX(p->reregister_frame, nameless->reregister_frame);
    p->waiting += nameless->waiting;
    if (!p->service_id)
        p->service_id = nameless->service_id;
    p->several_interfaces |= nameless->several_interfaces;
    p->moved |= nameless->moved;
    p->has_unknown_connection |= nameless->has_unknown_connection;
    if (!p->pkeys) {
        p->pkeys = nameless->pkeys;
        nameless->pkeys = NULL;
    }
    take_over_said(p, nameless);
}

/*
 * A packet shows the port at this LID, but the SMP that assigned it was not captured. So the port
 * may have been initialised again, and its LMC and what it sent from another LID are not known.
 */
static void find_moved(struct endport *p, uint16_t lid)
{
    if (!p->lid || endport_has_lid(p, lid))
        return;
    p->initialised_frame = p->new_frame = p->named_frame = 0;
    sequence_forget(&p->gsi);
    p->lmc = 0;
}

/* assigned: the subnet manager assigned the LID, so it is taken from any other port. */
static struct endport *learn(struct endports *e, uint16_t interface, uint16_t lid,
                             const uint8_t *gid, bool assigned)
{
    struct endport *by_lid = (struct endport *)(assigned ? seen_at_lid(e, interface, lid)
                                                         : endports_by_lid(e, interface, lid));
    struct endport *p = endports_get_by_gid(e, interface, gid, false);

    if (!p && by_lid && !endport_has_gid(by_lid)) { /* its GID is known now */
        memcpy(by_lid->gid, gid, GID_SIZE);
        g_hash_table_add(e->by_gid, by_lid);
        return by_lid;
    }
    if (!p)
        p = endports_get_by_gid(e, interface, gid, true);
    if (!p)
        return NULL;
    p->moved |= p->lid && !endport_has_lid(p, lid);
    if (assigned)
        p->lid = lid; /* the base LID */
    else
        find_moved(p, lid);
    if (by_lid == p && endport_has_lid(p, lid)) /* else it has a LID again that it had before */
        return p;
    if (!assigned && by_lid && endport_has_gid(by_lid) && endport_has_lid(by_lid, lid)) {
        if (memcmp(by_lid->gid + GUID_AT, p->gid + GUID_AT, GID_SIZE - GUID_AT) != 0)
            by_lid->several_interfaces = p->several_interfaces = true;
        p->lid = lid;
        return p;
    }
    if (by_lid && !endport_has_gid(by_lid)) {
        take_over(p, by_lid);
        set_lid(e, p, by_lid->lid); /* the base LID */
    }
    set_lid(e, p, lid);
    return p;
}

struct endport *endports_learn(struct endports *e, uint16_t interface, uint16_t lid,
                               const uint8_t *gid)
{
    return learn(e, interface, lid, gid, false);
}

struct endport *endports_assign(struct endports *e, uint16_t interface, uint16_t lid,
                                const uint8_t *gid)
{
    return learn(e, interface, lid, gid, true);
}

static void merge_announced(struct endport *p, const struct endport *other)
{
    for (unsigned i = 0; i < ENDPORT_UD_QPS && other->ud[i].qpn; i++)
        if (!other->ud[i].before)
            endport_announces(p, other->ud_pkey[i], other->ud[i].qpn, other->ud_frame[i]);
}

/* If two values differ, the newer one is unknown: forget both. */
static void forget_differences(struct endport *p, struct endport *q)
{
    if (p->neighbor_mtu && q->neighbor_mtu && p->neighbor_mtu != q->neighbor_mtu)
        p->neighbor_mtu = q->neighbor_mtu = 0;
    if (p->mtu_cap && q->mtu_cap && p->mtu_cap != q->mtu_cap)
        p->mtu_cap = q->mtu_cap = 0;
}

/* Merge p (other interface) into q (this interface), which has the same GID or LID. */
static void merge_endports(struct endports *e, struct endport *p, struct endport *q)
{
    forget_differences(p, q);
    take_over(q, p);
    merge_announced(q, p);
    if (p->lid && !q->lid)
        set_lid(e, q, p->lid);
    p->merged = q;
    endports_set_lmc(e, q, q->lmc);
}

static void rehome_endport(struct endports *e, struct endport *p, uint16_t to)
{
    struct endport *q = endport_has_gid(p) ? endports_get_by_gid(e, to, p->gid, false) : NULL;
    struct endport *by_lid = p->lid ? endports_get_by_lid(e, to, p->lid, false) : NULL;
    if (!q && by_lid && (!endport_has_gid(by_lid) || !endport_has_gid(p)))
        q = by_lid;
    if (q) {
        if (endport_has_gid(p) && !endport_has_gid(q)) { /* its GID is known now */
            memcpy(q->gid, p->gid, GID_SIZE);
            g_hash_table_add(e->by_gid, q);
        }
        merge_endports(e, p, q);
        return;
    }
    p->interface = to;
    if (endport_has_gid(p))
        g_hash_table_add(e->by_gid, p);
    if (p->lid && !by_lid)
        set_lid(e, p, p->lid);
    endports_set_lmc(e, p, p->lmc);
}

void endports_merge(struct endports *e, uint16_t from, uint16_t to)
{
    memset(e->recent_gid, 0, sizeof e->recent_gid);
    for (unsigned i = 0; i < e->all.count; i++) {
        struct endport *p = slab_at(&e->all, i);
        if (p->interface == from || p->interface == to)
            g_clear_pointer(&p->pkeys, g_free);
        if (p->interface != from || p->merged)
            continue;
        if (endport_has_gid(p))
            g_hash_table_remove(e->by_gid, p);
        rehome_endport(e, p, to);
    }
}

/* Are all blocks of the table empty, except the first? */
static bool other_blocks_are_empty(const struct endport_pkeys *k)
{
    unsigned blocks = (k->capacity + ENDPORT_PKEYS - 1u) / ENDPORT_PKEYS;
    if (blocks < 1 || blocks > 32)
        return false;
    uint32_t others = (uint32_t)((UINT64_C(1) << blocks) - 1) & ~1u;
    return (k->empty_blocks & others) == others;
}

/* k: the table; NULL: not seen. bits: those of the P_Key that count. */
static enum pkey_known find_pkey(const struct endport_pkeys *k, uint16_t pkey, uint16_t bits)
{
    if (!k)
        return PKEY_NOT_KNOWN;
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++)
        if (((k->entries[i] ^ pkey) & bits) == 0)
            return PKEY_IS_THERE;
    return other_blocks_are_empty(k) ? PKEY_IS_NOT_THERE : PKEY_NOT_KNOWN;
}

enum pkey_known endport_has_pkey(const struct endport *p, uint16_t pkey)
{
    return find_pkey(p->pkeys, pkey, 0x7fff);
}

enum pkey_known endport_has_pkey_by_sa(const struct endport *p, uint16_t pkey)
{
    bool known = p->said && p->said->pkeys_frame;
    return find_pkey(known ? &p->said->pkeys : NULL, pkey, 0x7fff);
}

enum pkey_known endport_has_entry(const struct endport *p, uint16_t pkey)
{
    return find_pkey(p->pkeys, pkey, 0xffff);
}

bool endport_has_alias(const struct endport *p, const uint8_t *gid)
{
    uint64_t guid = be64(gid + GUID_AT);
    for (unsigned i = 0; p->said && guid && i < ENDPORT_ALIASES; i++)
        if (p->said->aliases[i] == guid)
            return memcmp(p->gid, gid, GUID_AT) == 0;
    return false;
}

/*
 * The place of a QPN among the port's: its own, a free one, or that of a QPN which an interface of
 * the partition had before it last joined. ENDPORT_UD_QPS: none.
 */
static unsigned place_of_qpn(const struct endport *p, uint16_t pkey, uint32_t qpn)
{
    unsigned old = ENDPORT_UD_QPS;
    for (unsigned i = 0; i < ENDPORT_UD_QPS; i++) {
        bool same = p->ud_pkey[i] == (pkey & 0x7fff);
        if (p->ud[i].qpn == 0 || (same && p->ud[i].qpn == qpn))
            return i;
        if (old == ENDPORT_UD_QPS && same && p->ud[i].before)
            old = i;
    }
    return old;
}

void endport_announces(struct endport *p, uint16_t pkey, uint32_t qpn, uint32_t frame)
{
    unsigned i = place_of_qpn(p, pkey, qpn);
    if (i == ENDPORT_UD_QPS)
        return;
    p->ud[i].qpn = qpn & 0xffffff;
    p->ud_pkey[i] = pkey & 0x7fff;
    p->ud_frame[i] = frame;
    p->ud[i].before = false;
}

void endport_joins(struct endport *p, uint16_t pkey)
{
    for (unsigned i = 0; i < ENDPORT_UD_QPS; i++)
        if (p->ud_pkey[i] == (pkey & 0x7fff))
            p->ud[i].before = true;
}

enum announced endport_announced(const struct endport *p, uint16_t pkey, uint32_t qpn)
{
    enum announced answer = ANNOUNCED_UNKNOWN;
    for (unsigned i = 0; i < ENDPORT_UD_QPS && p->ud[i].qpn; i++) {
        if (p->ud_pkey[i] != (pkey & 0x7fff))
            continue;
        if (p->ud[i].qpn == qpn)
            return ANNOUNCED;
        if (!p->ud[i].before)
            answer = ANNOUNCED_ANOTHER;
    }
    bool full = p->ud[ENDPORT_UD_QPS - 1].qpn != 0;
    return full ? ANNOUNCED_UNKNOWN : answer;
}

uint32_t endport_ud_qpn(const struct endport *p, uint16_t pkey, uint32_t *frame)
{
    uint32_t qpn = 0;
    for (unsigned i = 0; i < ENDPORT_UD_QPS && p->ud[i].qpn; i++) {
        bool is_current = p->ud_pkey[i] == (pkey & 0x7fff) && !p->ud[i].before;
        if (!is_current || (qpn && p->ud_frame[i] <= *frame))
            continue;
        qpn = p->ud[i].qpn;
        *frame = p->ud_frame[i];
    }
    return qpn;
}

bool endport_has_one_interface(const struct endport *p, uint16_t pkey)
{
    unsigned announced = 0;
    for (unsigned i = 0; i < ENDPORT_UD_QPS && p->ud[i].qpn; i++)
        announced += p->ud_pkey[i] == (pkey & 0x7fff) && !p->ud[i].before;
    bool full = p->ud[ENDPORT_UD_QPS - 1].qpn != 0;
    return announced <= 1 && !full && !p->several_interfaces;
}

bool endport_knows_old_qpns(const struct endport *p, uint16_t pkey)
{
    unsigned old = 0;
    for (unsigned i = 0; i < ENDPORT_UD_QPS && p->ud[i].qpn; i++)
        old += p->ud_pkey[i] == (pkey & 0x7fff) && p->ud[i].before;
    return old >= p->ended && p->ended < ENDED_MAX;
}

void endport_interface_ended(struct endport *p)
{
    p->ended += p->ended < ENDED_MAX;
}

void endport_initialised(struct endport *p, uint32_t frame)
{
    bool missed = p->initialised_frame && p->gsi.gap_frame > p->initialised_frame;
    p->initialised_frame = frame;
    p->subscribed_before |= missed ? SUBSCRIBED_CREATED | SUBSCRIBED_DELETED
                                   : p->subscribed | p->subscribed_to_one | p->subscribing;
    p->subscribed = p->subscribed_to_one = p->subscribing = 0;
    if (p->gsi.last_frame)
        endport_interface_ended(p);
    sequence_restarts(&p->gsi);
}

void endport_started(struct endport *p, uint32_t frame)
{
    p->new_frame = frame;
    sequence_restarts(&p->gsi);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/group.h"

#include "compat/glib.h"
#include "model/hash.h"
#include "model/slab.h"
#include "model/write.h"

/* Direct-mapped caches of recent groups and members; they save most hash table lookups. */
enum { RECENT = 1024 };

/* A partition on an interface. */
struct link {
    uint32_t key; /* must be first */
    struct group *broadcast;
};

struct groups {
    GHashTable *by_mgid;       /* a set of struct group */
    GHashTable *members;       /* a set of struct member */
    GHashTable *links;         /* a set of struct link */
    const struct link *recent; /* last one found, or NULL: most packets are of one link */
    struct slab all;
    unsigned limit;
    struct undone *undone;
    struct group *recent_group[RECENT];
    struct member *recent_member[RECENT];
};

static guint group_hash(gconstpointer p)
{
    G_STATIC_ASSERT(offsetof(struct group, interface) == MGID_SIZE);
    return hash_bytes(p, MGID_SIZE + sizeof(uint16_t));
}

static gboolean group_equal(gconstpointer p, gconstpointer q)
{
    const struct group *a = p, *b = q;
    return a->interface == b->interface && memcmp(a->mgid, b->mgid, MGID_SIZE) == 0;
}

static guint member_hash(gconstpointer p)
{
    G_STATIC_ASSERT(offsetof(struct member, endport) == sizeof(struct group *));
    return hash_bytes(p, sizeof(struct group *) + sizeof(struct endport *));
}

static gboolean member_equal(gconstpointer p, gconstpointer q)
{
    const struct member *a = p, *b = q;
    return a->group == b->group && a->endport == b->endport;
}

struct groups *groups_new(unsigned limit, struct undone *undone)
{
    struct groups *g = g_new0(struct groups, 1);
    g->by_mgid = g_hash_table_new(group_hash, group_equal);
    g->members = g_hash_table_new_full(member_hash, member_equal, g_free, NULL);
    g->links = g_hash_table_new_full(hash_uint32, g_int_equal, g_free, NULL);
    slab_init(&g->all, sizeof(struct group));
    g->limit = limit;
    g->undone = undone;
    return g;
}

void groups_free(struct groups *g)
{
    if (!g)
        return;
    g_hash_table_destroy(g->by_mgid);
    g_hash_table_destroy(g->members);
    g_hash_table_destroy(g->links);
    slab_clear(&g->all);
    g_free(g);
}

static const struct link *find_link(const struct groups *g, uint16_t interface, uint16_t pkey)
{
    uint32_t key = link_key(interface, pkey);
    /* only the cache `recent` changes, so a reader may write it */
    struct groups *memory = (struct groups *)g;
    if (!g->recent || g->recent->key != key)
        memory->recent = g_hash_table_lookup(g->links, &key);
    return g->recent;
}

const struct group *groups_broadcasts(const struct groups *g, uint16_t interface, uint16_t pkey)
{
    const struct link *l = find_link(g, interface, pkey);
    return l ? l->broadcast : NULL;
}

bool group_is_broadcast(const struct group *g)
{
    return mgid_is_ipoib(g->mgid) && mgid_is_broadcast(g->mgid);
}

/* Add a broadcast group to its partition's link. */
static void add_to_link(struct groups *g, struct group *group)
{
    uint16_t pkey = be16(group->mgid + MGID_PKEY);
    struct link *l = (struct link *)find_link(g, group->interface, pkey);
    if (!l) {
        l = g_new0(struct link, 1);
        l->key = link_key(group->interface, pkey);
        g_hash_table_add(g->links, l);
    }
    group->next = l->broadcast;
    l->broadcast = group;
    /* cppcheck-suppress memleak ; the table has l */
}

/* Only the cache changes, so a reader may write it. The partition and the group ID place an MGID.
 */
static struct group *find_group(const struct groups *g, uint16_t interface, const uint8_t *mgid)
{
    struct group key;
    unsigned place = be16(mgid + MGID_PKEY) ^ be16(mgid + MGID_SIZE - 2);
    struct group **recent = &((struct groups *)g)->recent_group[place % RECENT];
    memcpy(key.mgid, mgid, MGID_SIZE);
    key.interface = interface;
    if (*recent && group_equal(*recent, &key))
        return *recent;
    struct group *found = g_hash_table_lookup(g->by_mgid, &key);
    if (found)
        *recent = found;
    return found;
}

const struct group *groups_find(const struct groups *g, uint16_t interface, const uint8_t *mgid)
{
    return find_group(g, interface, mgid);
}

/* Only the cache changes, so a reader may write it. */
static struct member *find_member(const struct groups *g, const struct member *key)
{
    if (!key->group || !key->endport)
        return NULL;
    unsigned place = be16(key->group->mgid + MGID_SIZE - 2) ^
                     be16(key->endport->gid + GID_SIZE - 2);
    struct member **recent = &((struct groups *)g)->recent_member[place % RECENT];
    if (*recent && member_equal(*recent, key))
        return *recent;
    struct member *found = g_hash_table_lookup(g->members, key);
    if (found)
        *recent = found;
    return found;
}

const struct member *groups_member(const struct groups *g, const struct group *group,
                                   const struct endport *port)
{
    struct member key = {.group = (struct group *)group, .endport = (struct endport *)port};
    const struct member *m = find_member(g, &key);
    return m && member_has_asked(m) ? m : NULL;
}

struct group *groups_get(struct groups *g, uint16_t interface, const uint8_t *mgid, bool create)
{
    struct group *group = find_group(g, interface, mgid);
    if (group || !create)
        return group;
    if (g->all.count >= g->limit) {
        undone_refuse(g->undone, UNDONE_GROUPS);
        return NULL;
    }
    group = slab_add(&g->all);
    memcpy(group->mgid, mgid, MGID_SIZE);
    group->interface = interface;
    g_hash_table_add(g->by_mgid, group);
    if (group_is_broadcast(group))
        add_to_link(g, group);
    return group;
}

struct member *groups_get_member(struct groups *g, struct group *group, struct endport *port,
                                 bool create)
{
    struct member key = {.group = group, .endport = port};
    struct member *m = find_member(g, &key);
    if (m || !create)
        return m;
    if (g_hash_table_size(g->members) >= 4 * g->limit) {
        undone_refuse(g->undone, UNDONE_MEMBERS);
        return NULL;
    }
    m = compat_memdup(&key, sizeof key);
    g_hash_table_add(g->members, m);
    return m;
}

const struct group *groups_broadcast(const struct groups *g, uint16_t interface, uint16_t pkey,
                                     uint8_t scope)
{
    for (const struct group *b = groups_broadcasts(g, interface, pkey); b; b = b->next)
        if (group_scope(b) == scope && b->state == GROUP_PRESENT)
            return b;
    return NULL;
}

const struct group *groups_only_broadcast(const struct groups *g, uint16_t interface, uint16_t pkey)
{
    const struct group *only = NULL;
    for (const struct group *b = groups_broadcasts(g, interface, pkey); b; b = b->next) {
        if (group_is_absent(b))
            continue;
        if (only)
            return NULL;
        only = b;
    }
    return only && only->state == GROUP_PRESENT ? only : NULL;
}

/* Does the record have the known parameters, except the MLID? */
static bool same_parameters(const struct group *g, const struct mc_member *r)
{
    return g->pkey == r->pkey && g->qkey == r->qkey && g->flow_label == r->flow_label &&
           g->mtu == r->mtu && g->rate == r->rate && g->life == r->life && g->tclass == r->tclass &&
           g->sl == r->sl && g->hop_limit == r->hop_limit;
}

bool groups_port_may_differ(const struct groups *g, const struct group *b,
                            const struct endport *port)
{
    const struct member *m = groups_member(g, b, port);
    bool joined = m && m->join_state && member_is_known(m) && port->gsi.first_frame <= m->frame;
    return (port->gsi.begins_late && !joined) || port->gsi.gap_frame > b->frame ||
           port->initialised_frame > b->frame || port->reregister_frame > b->frame ||
           (m && m->pending);
}

void group_informed(struct group *group, const struct mc_member *r, struct endport *to,
                    uint32_t frame)
{
    bool same = same_parameters(group, r),
         changed = group->state != GROUP_PRESENT || !same || group->mlid != r->mlid;
    if (group->records && !same)
        group->changed_frame = frame;
    if (!group->records || !same)
        group->since_frame = frame;
    if (to || !same)
        group->informed = to;
    group->mlid = r->mlid;
    group->pkey = r->pkey;
    group->qkey = r->qkey;
    group->flow_label = r->flow_label;
    group->mtu = r->mtu;
    group->rate = r->rate;
    group->life = r->life;
    group->tclass = r->tclass;
    group->sl = r->sl;
    group->hop_limit = r->hop_limit;
    group->state = GROUP_PRESENT;
    group->frame = group->record_frame = frame;
    if (changed && group->records < 255)
        group->records++;
}

const struct group *groups_at(const struct groups *g, unsigned index)
{
    return slab_at(&g->all, index);
}

unsigned groups_count(const struct groups *g)
{
    return g->all.count;
}

static bool groups_have_same_parameters(const struct group *a, const struct group *b)
{
    return a->pkey == b->pkey && a->qkey == b->qkey && a->flow_label == b->flow_label &&
           a->mtu == b->mtu && a->rate == b->rate && a->life == b->life && a->tclass == b->tclass &&
           a->sl == b->sl && a->hop_limit == b->hop_limit;
}

/* What both interfaces showed of a group. If their last records differ, the SA changed it. */
static void merge_history(struct group *into, const struct group *a, const struct group *b)
{
    bool both = a->records && b->records, same = groups_have_same_parameters(a, b);
    uint32_t since = MAX(a->since_frame, b->since_frame);
    int once = both && same && a->mlid == b->mlid; /* both showed this record */
    into->records = (uint8_t)MIN(255, a->records + b->records - once);
    into->join_request_frame = MAX(a->join_request_frame, b->join_request_frame);
    into->waits = a->waits || b->waits;
    into->first_unanswered = a->first_unanswered || b->first_unanswered;
    into->first_tid = a->first_unanswered ? a->first_tid : b->first_tid;
    into->creator_may_differ = a->creator_may_differ || b->creator_may_differ;
    into->changed_frame = MAX(a->changed_frame, b->changed_frame);
    if (both && !same)
        into->changed_frame = MAX(into->changed_frame, since);
    into->since_frame = since;
    into->deleted_frame = MAX(a->deleted_frame, b->deleted_frame);
    into->last_left_frame = MAX(a->last_left_frame, b->last_left_frame);
    into->record_frame = MAX(a->record_frame, b->record_frame);
}

/* Merge g, which is the same group, into `into`; the last message of the SA wins. */
static void merge_groups(struct group *g, struct group *into)
{
    struct group kept = *into;
    g->merged = into;
    if (g->state != GROUP_UNCONFIRMED && g->frame > kept.frame) {
        *into = *g;
        into->merged = NULL;
        into->interface = kept.interface;
        into->next = kept.next;
        into->members = kept.members;
    }
    merge_history(into, g, &kept);
}

static void rehome_group(struct groups *g, struct group *group, uint16_t to)
{
    struct group *same = groups_get(g, to, group->mgid, false);
    if (same) {
        merge_groups(group, same);
        return;
    }
    group->interface = to;
    group->next = NULL;
    g_hash_table_add(g->by_mgid, group);
    if (group_is_broadcast(group))
        add_to_link(g, group);
}

/*
 * Add a moved membership. If the membership exists, keep the one with the last message of the SA,
 * and combine the requests.
 */
static void merge_member(struct groups *g, struct member *m)
{
    struct member *same = g_hash_table_lookup(g->members, m);
    if (!same) {
        g_hash_table_add(g->members, m);
        return;
    }
    struct member *older = same->frame < m->frame ? same : m, *newer = older == m ? same : m;
    newer->pending |= older->pending && older->frame >= newer->frame;
    newer->unanswered |= older->unanswered;
    newer->queried |= older->queried;
    newer->sees_none |= older->sees_none && !newer->join_state;
    if (join_keeps_group(older->join_state) && older->frame)
        m->group->members--;
    if (newer == m)
        g_hash_table_replace(g->members, m, m);
    else
        g_free(m);
}

/*
 * The key of a member is its group and endport. Remove members whose key was merged, to add them
 * again.
 */
static gboolean take_member(gpointer key, gpointer value, gpointer user)
{
    struct member *m = key;
    (void)value;
    if (!m->group->merged && !m->endport->merged)
        return FALSE;
    g_ptr_array_add(user, compat_memdup(m, sizeof *m));
    return TRUE;
}

/* The order of the table differs between runs; the results of a merge must not. */
static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
    int group = memcmp(x->group->mgid, y->group->mgid, MGID_SIZE);
    return x->frame != y->frame ? (x->frame < y->frame ? -1 : 1)
           : group              ? group
                                : memcmp(x->endport->gid, y->endport->gid, GID_SIZE);
}

static void merge_members(struct groups *g)
{
    GPtrArray *moved = g_ptr_array_new();
    memset(g->recent_member, 0, sizeof g->recent_member);
    g_hash_table_foreach_remove(g->members, take_member, moved);
    g_ptr_array_sort(moved, by_time);
    for (unsigned i = 0; i < moved->len; i++) {
        struct member *m = g_ptr_array_index(moved, i);
        if (m->group->merged && join_keeps_group(m->join_state) && m->frame)
            group_now(m->group)->members++;
        m->group = group_now(m->group);
        m->endport = endport_now(m->endport);
        merge_member(g, m);
    }
    g_ptr_array_unref(moved);
}

static gboolean is_of(gpointer key, gpointer value, gpointer user)
{
    (void)value;
    return link_interface(((const struct link *)key)->key) == *(const uint16_t *)user;
}

void groups_merge(struct groups *g, uint16_t from, uint16_t to)
{
    g->recent = NULL;
    memset(g->recent_group, 0, sizeof g->recent_group);
    g_hash_table_foreach_remove(g->links, is_of, &from);
    for (unsigned i = 0; i < g->all.count; i++) {
        struct group *group = slab_at(&g->all, i);
        if (group->interface != from || group->merged)
            continue;
        g_hash_table_remove(g->by_mgid, group);
        rehome_group(g, group, to);
    }
    merge_members(g);
}

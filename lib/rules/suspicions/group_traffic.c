/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/group_traffic.h"

#include <string.h>

#include "model/hash.h"

/* Groups beyond this are not followed: their traffic raises no suspicion. */
enum { TRAFFIC_GROUPS_MAX = 1 << 14 };
enum { GID_PREFIX = 8 };

/* A value of the group: that of the SA's record, or of the datagrams. */
struct seen {
    uint32_t value, frame; /* frame 0: none was seen */
    uint32_t before;       /* the value that it replaced; members may still have it */
    bool of_record, was_replaced;
    bool of_two;            /* two senders used it */
    uint8_t sgid[GID_SIZE]; /* the last sender that used it, or port that the SA told it */
};

struct traffic_key {
    uint8_t mgid[GID_SIZE];
    uint16_t interface;
};

struct traffic {
    struct traffic_key key; /* must be first */
    uint32_t record_frame;  /* the SA's record that was taken last */
    struct seen seen[TRAFFIC_VALUES];
};

static guint key_hash(gconstpointer p)
{
    return hash_bytes(p, sizeof(struct traffic_key));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct traffic_key)) == 0;
}

/* NULL: there are too many groups. */
static struct traffic *traffic_of(struct suspicions *all, const struct group *g)
{
    GHashTable **table = &suspicions_traffic(all)->groups;
    struct traffic_key key = {.interface = g->interface};
    memcpy(key.mgid, g->mgid, GID_SIZE);
    if (!*table)
        *table = g_hash_table_new_full(key_hash, key_equal, NULL, g_free);
    struct traffic *t = g_hash_table_lookup(*table, &key);
    if (t || g_hash_table_size(*table) >= TRAFFIC_GROUPS_MAX)
        return t;
    t = g_new0(struct traffic, 1);
    t->key = key;
    g_hash_table_insert(*table, t, t);
    return t;
}

/* ---- values */

/* The GID of the sender; NULL: it is not known. */
static const uint8_t *sender_gid(const struct check_context *s)
{
    const struct endport *port = s->p->ib.sgid ? NULL : sending_port(s);
    return port && endport_has_gid(port) ? port->gid : s->p->ib.sgid;
}

static uint32_t packet_value(const struct ib_packet *ib, enum traffic_value which)
{
    const uint32_t values[TRAFFIC_VALUES] = {
        [TRAFFIC_MLID] = ib->dlid,     [TRAFFIC_QKEY] = ib->qkey,
        [TRAFFIC_SL] = ib->sl,         [TRAFFIC_HOP_LIMIT] = ib->hop_limit,
        [TRAFFIC_TCLASS] = ib->tclass, [TRAFFIC_FLOW_LABEL] = ib->flow_label};
    return values[which];
}

static enum rule_number rule_of(enum traffic_value which)
{
    return which == TRAFFIC_MLID   ? R_RFC4391_10_MLID_AS_DLID
           : which == TRAFFIC_QKEY ? R_RFC4391_9_1_2_QKEY_FROM_JOIN
                                   : R_RFC4391_5_JOIN_PARAMETERS_USED;
}

/*
 * An InfiniBand router decrements the HopLimit (IBA 8.3.6), and chooses the SL and TClass of the
 * next subnet. The ports of a subnet have one GID prefix (IBA 4.1.1).
 */
static bool may_be_routed(const struct check_context *s, const struct seen *v)
{
    return memcmp(sender_gid(s), v->sgid, GID_PREFIX) != 0;
}

/* The rules compare all but the MLID with the broadcast group's record, if it was captured. */
static bool is_compared(const struct check_context *s, const struct group *g,
                        enum traffic_value which)
{
    if (which != TRAFFIC_QKEY && !s->p->ib.has_lrh) /* RoCE */
        return false;
    if (which == TRAFFIC_MLID)
        return true;
    const struct group *b = groups_broadcast(s->f->groups, g->interface, s->p->ib.pkey,
                                             group_scope(g));
    bool has_record = b && b->state == GROUP_PRESENT;
    if (which == TRAFFIC_QKEY || group_is_broadcast(g))
        return !has_record;
    return true;
}

/* ---- comparison */

static void take_value(struct seen *v, uint32_t value, uint32_t frame, const uint8_t *sgid)
{
    struct seen now = {.value = value, .frame = frame};
    if (v->frame && v->value != value) {
        now.before = v->value;
        now.was_replaced = true;
    } else {
        now.before = v->before;
        now.was_replaced = v->was_replaced;
        now.of_two = v->frame && (v->of_two || memcmp(v->sgid, sgid, GID_SIZE) != 0);
    }
    memcpy(now.sgid, sgid, GID_SIZE);
    *v = now;
}

/* The SA's record of the group since the last datagram to it. */
static void take_record(const struct check_context *s, struct traffic *t, const struct group *g)
{
    if (t->record_frame == g->record_frame ||
        g->record_frame <= suspicions_traffic(s->suspicions)->since)
        return;
    static const uint8_t unknown[GID_SIZE];
    const struct endport *told = endport_of(g->informed);
    t->record_frame = g->record_frame;
    for (unsigned i = 0; i < TRAFFIC_VALUES; i++) {
        uint32_t value;
        enum traffic_value which = (enum traffic_value)i;
        if (!group_record_value(g, which, &value))
            continue;
        suspicions_see(s->suspicions, g, NULL, which, value);
        take_value(&t->seen[i], value, g->record_frame, told ? told->gid : unknown);
        t->seen[i].of_record = true;
    }
}

/* The SA reported that it deleted the group since: it may have created it again, with other values.
 */
static void drop_deleted(struct traffic *t, const struct group *g)
{
    for (unsigned i = 0; i < TRAFFIC_VALUES; i++)
        if (t->seen[i].frame < g->deleted_frame)
            t->seen[i] = (struct seen){0};
}

/* Did the SA give the sender this MLID? */
static bool is_given(const struct check_context *s, const struct group *g, uint32_t mlid)
{
    const struct member *m = s->e->sender ? groups_member(s->f->groups, g, s->e->sender) : NULL;
    return m && (m->pending || m->mlid == mlid || m->mlid_before == mlid);
}

/*
 * Does the packet's place in the capture say nothing? It may have been sent before the SA's record.
 */
static bool is_misplaced(const struct check_context *s, const struct seen *v)
{
    return order_is_reversed(&s->f->order) || s->e->sender_seen == SEEN_LATE ||
           (v->of_record && order_is_uncertain(&s->f->order, v->frame)) || packet_is_corrupt(s->p);
}

static void raise_suspicion(const struct check_context *s, const struct group *g,
                            const struct seen *v, enum traffic_value which)
{
    struct suspicion new = suspicion_of(s, rule_of(which), which, packet_value(&s->p->ib, which));
    new.expected = v->value;
    new.other_frame = v->frame;
    new.is_confirmed = new.of_record = v->of_record;
    memcpy(new.about, g->mgid, GID_SIZE);
    memcpy(new.sgid, sender_gid(s), GID_SIZE);
    suspicions_raise(s, &new, NULL);
}

/*
 * A sender that changes its own value, which no other sender had, proves nothing: the SA may have
 * told it so.
 */
static bool is_suspicious(const struct check_context *s, const struct group *g,
                          const struct seen *v, enum traffic_value which)
{
    uint32_t value = packet_value(&s->p->ib, which);
    bool other_sender = v->of_record || v->of_two || memcmp(v->sgid, sender_gid(s), GID_SIZE) != 0;
    if (!other_sender || (v->was_replaced && v->before == value))
        return false;
    if (which == TRAFFIC_MLID && is_given(s, g, value))
        return false;
    bool of_path = which != TRAFFIC_MLID && which != TRAFFIC_QKEY;
    return !(of_path && may_be_routed(s, v)) && !is_misplaced(s, v);
}

static void compare_value(const struct check_context *s, struct traffic *t, const struct group *g,
                          enum traffic_value which)
{
    const uint8_t *sgid = sender_gid(s);
    struct seen *v = &t->seen[which];
    uint32_t value = packet_value(&s->p->ib, which);
    bool changed = suspicions_see(s->suspicions, g, sgid, which, value);
    bool first = v->frame ? v->value == value && !v->of_record : !packet_is_corrupt(s->p);
    if (changed || first)
        take_value(v, value, s->p->at.frame, sgid);
    else if (v->frame && v->value != value && is_suspicious(s, g, v, which))
        raise_suspicion(s, g, v, which);
}

void suspect_group_traffic(const struct check_context *s, const struct group *g)
{
    bool there = g->state == GROUP_PRESENT || g->state == GROUP_UNCONFIRMED;
    if (!s->suspicions || !s->p->ib.has_grh || packet_is_known_corrupt(s->p))
        return;
    struct traffic *t = traffic_of(s->suspicions, g);
    if (!t)
        return;
    if (!there) { /* it may have been created again, with other values */
        memset(t->seen, 0, sizeof t->seen);
        return;
    }
    take_record(s, t, g);
    drop_deleted(t, g);
    for (unsigned i = 0; i < TRAFFIC_VALUES; i++)
        if (is_compared(s, g, (enum traffic_value)i))
            compare_value(s, t, g, (enum traffic_value)i);
}

/* The only broadcast group of the datagram's partition, if its record was not captured; or NULL. */
static const struct group *link_without_record(const struct check_context *s)
{
    const struct group *b = broadcasts_of(s, s->p->ib.pkey);
    return b && !b->next && b->state == GROUP_UNCONFIRMED ? b : NULL;
}

void suspect_link_qkey(const struct check_context *s)
{
    const struct group *b = link_without_record(s);
    if (!s->suspicions || !b || packet_is_known_corrupt(s->p) || !sender_gid(s))
        return;
    struct traffic *t = traffic_of(s->suspicions, b);
    if (t)
        compare_value(s, t, b, TRAFFIC_QKEY);
}

bool group_traffic_value(const struct check_context *s, const struct group *g, uint32_t at,
                         uint32_t *value, uint32_t *frame)
{
    const enum traffic_value which = at == MCM_QKEY              ? TRAFFIC_QKEY
                                     : at == MCM_TCLASS          ? TRAFFIC_TCLASS
                                     : at == MCM_SL_FLOW_HOP     ? TRAFFIC_SL
                                     : at == MCM_SL_FLOW_HOP + 1 ? TRAFFIC_FLOW_LABEL
                                     : at == MCM_SL_FLOW_HOP + 3 ? TRAFFIC_HOP_LIMIT
                                                                 : TRAFFIC_VALUES;
    struct traffic *t = s->suspicions && which != TRAFFIC_VALUES ? traffic_of(s->suspicions, g)
                                                                 : NULL;
    const struct seen *v = t ? &t->seen[which] : NULL;
    if (!v || !v->of_two || v->of_record || v->was_replaced)
        return false;
    *value = v->value;
    *frame = v->frame;
    return true;
}

static bool is_start_of_manager(const struct check_context *s, const struct subnet_event *e)
{
    bool asked = e->kind == SUBNET_PORT_INFO && e->endport &&
                 e->endport->reregister_frame == s->p->at.frame;
    return asked || e->kind == SUBNET_SA_MOVED || e->kind == SUBNET_SM_CONTROL;
}

void suspect_after_event(const struct check_context *s, const struct subnet_event *e)
{
    struct group_traffic *t = s->suspicions ? suspicions_traffic(s->suspicions) : NULL;
    if (!t || !is_start_of_manager(s, e))
        return;
    t->since = s->p->at.frame;
    if (t->groups)
        g_hash_table_remove_all(t->groups);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/group_traffic.h"

#include <string.h>

#include "model/hash.h"
#include "wire/put.h"

/* Groups beyond this are not followed: their traffic raises no suspicion. */
enum { TRAFFIC_GROUPS_MAX = 1 << 14 };
enum { GID_PREFIX = 8 };

/* A value of the group: that of the SA's record, or of the datagrams. */
struct seen {
    uint32_t value, frame; /* frame 0: none was seen */
    uint32_t before;       /* the value that it replaced; members may still have it */
    bool of_record, was_replaced;
    bool of_two;            /* two sources had it */
    uint8_t sgid[GID_SIZE]; /* its last source: a sender, or the port that the SA told it */
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

/* The broadcast-GID of the group's link, for IPv4. */
static void broadcast_gid_of(const uint8_t *mgid, uint8_t *of_link)
{
    static const uint8_t broadcast[MGID_SIZE - MGID_GROUP] = {[6] = 0xff, 0xff, 0xff, 0xff};
    memcpy(of_link, mgid, MGID_GROUP);
    memcpy(of_link + MGID_GROUP, broadcast, sizeof broadcast);
    put16(of_link + MGID_SIGNATURE, MGID_SIGNATURE_IPV4);
}

/* NULL: there are too many groups. */
static struct traffic *traffic_of(struct suspicions *all, uint16_t interface, const uint8_t *mgid)
{
    GHashTable **table = &suspicions_traffic(all)->groups;
    struct traffic_key key = {.interface = interface};
    memcpy(key.mgid, mgid, MGID_SIZE);
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
        [TRAFFIC_mlid] = ib->dlid,     [TRAFFIC_qkey] = ib->qkey,
        [TRAFFIC_sl] = ib->sl,         [TRAFFIC_hop_limit] = ib->hop_limit,
        [TRAFFIC_tclass] = ib->tclass, [TRAFFIC_flow_label] = ib->flow_label};
    return values[which];
}

static enum rule_number rule_of(enum traffic_value which)
{
    return which == TRAFFIC_mlid   ? R_RFC4391_10_MLID_AS_DLID
           : which == TRAFFIC_qkey ? R_RFC4391_9_1_2_QKEY_FROM_JOIN
                                   : R_RFC4391_5_JOIN_PARAMETERS_USED;
}

/*
 * An InfiniBand router decrements the HopLimit (IBA 8.3.6), and chooses the SL and TClass of the
 * next subnet. The ports of a subnet have one GID prefix (IBA 4.1.1).
 */
static bool may_be_routed(const struct seen *v, const uint8_t *source, enum traffic_value which)
{
    bool of_path = which != TRAFFIC_mlid && which != TRAFFIC_qkey;
    return of_path && memcmp(source, v->sgid, GID_PREFIX) != 0;
}

/* The rules compare all but the MLID with the broadcast group's record, if it was captured. */
static bool is_compared(const struct check_context *s, const struct group *g,
                        enum traffic_value which)
{
    if (which == TRAFFIC_qkey || !s->p->ib.has_lrh) /* compare_with_link(); RoCE */
        return false;
    if (which == TRAFFIC_mlid)
        return true;
    if (which == TRAFFIC_mtu || which == TRAFFIC_rate || which == TRAFFIC_life)
        return false;
    const struct group *b = groups_broadcast(s->f->groups, g->interface, s->p->ib.pkey,
                                             group_scope(g));
    return !group_is_broadcast(g) || !(b && b->state == GROUP_PRESENT);
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
        suspicions_see(s->suspicions, &t->key, NULL, which, value);
        take_value(&t->seen[i], value, g->record_frame, told ? told->gid : unknown);
        t->seen[i].of_record = true;
    }
}

/*
 * The SA said since that it deleted the group, or that it has no such group: it may create it
 * again, with other values.
 */
static void drop_deleted(struct traffic *t, const struct group *g)
{
    bool there = g->state == GROUP_PRESENT || g->state == GROUP_UNCONFIRMED;
    uint32_t since = there ? g->deleted_frame : g->frame;
    for (unsigned i = 0; i < TRAFFIC_VALUES; i++)
        if (t->seen[i].frame < since)
            t->seen[i] = (struct seen){0};
}

/*
 * The entry of a group's link: that of its broadcast group. All groups of a link have its Q_Key, SL
 * and HopLimit (RFC 4391 section 10). NULL: there are too many groups.
 */
static struct traffic *traffic_of_link(const struct check_context *s, const struct group *g)
{
    uint8_t of_link[MGID_SIZE];
    broadcast_gid_of(g->mgid, of_link);
    struct traffic *t = traffic_of(s->suspicions, g->interface, of_link);
    const struct group *b = groups_find(s->f->groups, g->interface, of_link);
    if (t && b) {
        take_record(s, t, b);
        drop_deleted(t, b);
    }
    return t;
}

/* Did the SA give the sender this MLID? */
static bool is_given(const struct check_context *s, const struct group *g, uint32_t mlid)
{
    const struct member *m = s->e->sender ? groups_member(s->f->groups, g, s->e->sender) : NULL;
    return m && (m->pending || m->mlid == mlid || m->mlid_before == mlid);
}

/*
 * Does the packet's place in the capture say nothing? It may have been sent before the SA's record,
 * or before the group's value changed.
 */
static bool is_misplaced(const struct check_context *s, const struct seen *v, uint32_t value)
{
    return (v->was_replaced && v->before == value) || order_is_reversed(&s->f->order) ||
           s->e->sender_seen == SEEN_LATE ||
           (v->of_record && order_is_uncertain(&s->f->order, v->frame)) || packet_is_corrupt(s->p);
}

static void raise_suspicion(const struct check_context *s, const struct traffic *t,
                            enum traffic_value which, struct suspicion new, const struct result *r)
{
    const struct seen *v = &t->seen[which];
    new.expected = v->value;
    new.other_frame = v->frame;
    new.is_confirmed = v->of_record || (r && v->of_two);
    new.of_record = v->of_record;
    suspicions_raise(s, &new, r);
}

/*
 * A sender that changes its own value for good proves nothing: the SA may have told it so. Only if
 * a packet after this one has the value from before is the suspicion reported (suspicions_see()).
 * The QPs of one port may be on different links of the partition, with different Q_Keys.
 */
static bool is_suspicious(const struct check_context *s, const struct group *g,
                          const struct seen *v, enum traffic_value which)
{
    uint32_t value = packet_value(&s->p->ib, which);
    bool of_others = v->of_record || v->of_two || memcmp(v->sgid, sender_gid(s), GID_SIZE) != 0;
    if (!of_others && !ib_is_multicast(&s->p->ib))
        return false;
    if (which == TRAFFIC_mlid && is_given(s, g, value))
        return false;
    return !may_be_routed(v, sender_gid(s), which) && !is_misplaced(s, v, value);
}

/* t: of the group, or of its link. source: whose value it is, if t takes it. */
static void compare_value(const struct check_context *s, struct traffic *t, const struct group *g,
                          enum traffic_value which, const uint8_t *source)
{
    const uint8_t *sgid = sender_gid(s);
    struct seen *v = &t->seen[which];
    uint32_t value = packet_value(&s->p->ib, which);
    bool changed = suspicions_see(s->suspicions, &t->key, sgid, which, value);
    bool first = v->frame ? v->value == value && !v->of_record : !packet_is_corrupt(s->p);
    if (changed || first)
        take_value(v, value, s->p->at.frame, source);
    else if (v->frame && v->value != value && is_suspicious(s, g, v, which)) {
        struct suspicion new = suspicion_of(s, rule_of(which), which, value);
        memcpy(new.sgid, sgid, GID_SIZE);
        memcpy(new.about, g->mgid, MGID_SIZE);
        if (memcmp(t->key.mgid, g->mgid, MGID_SIZE) != 0)
            memcpy(new.group, t->key.mgid, MGID_SIZE);
        raise_suspicion(s, t, which, new, NULL);
    }
}

/*
 * A group as the source of a value: its group ID, with the prefix of the port's GID, because values
 * of another subnet's senders are not compared. NULL: the GID is not known.
 */
static void source_of(const struct group *g, const uint8_t *gid, uint8_t *source)
{
    static const uint8_t unknown[GID_PREFIX];
    memcpy(source, g->mgid, GID_SIZE);
    memcpy(source, gid ? gid : unknown, GID_PREFIX);
    source[GID_PREFIX] ^= g->mgid[MGID_SIGNATURE];
}

/*
 * The datagrams to a group whose record was not captured show the attributes that it has. The
 * records and datagrams of other groups of the link are compared with them.
 */
static void take_for_link(const struct check_context *s, struct traffic *link,
                          const struct group *g, enum traffic_value which, const uint8_t *source)
{
    struct seen *v = &link->seen[which];
    uint32_t value = packet_value(&s->p->ib, which);
    bool has_record = g->state == GROUP_PRESENT, differs = v->frame && v->value != value;
    if (packet_is_corrupt(s->p) || (has_record && differs))
        return;
    suspicions_see(s->suspicions, &link->key, sender_gid(s), which, value);
    if (!has_record && !differs && !v->of_record)
        take_value(v, value, s->p->at.frame, source);
}

/* Is the value that of the group itself, or compared with it? own: of the datagrams before. */
static bool is_of_group(const struct check_context *s, const struct seen *own, uint32_t value)
{
    bool has_it = own->value == value || (own->was_replaced && own->before == value);
    return own->frame && (has_it || !is_misplaced(s, own, value));
}

/*
 * All groups of a link have one Q_Key, SL and HopLimit (RFC 4391 sections 9.1.2, 10), whether the
 * broadcast group was captured or not. own: what is known of the group without this packet.
 */
static void compare_with_link(const struct check_context *s, const struct group *g,
                              const struct seen *own)
{
    static const enum traffic_value compared[] = {TRAFFIC_sl, TRAFFIC_hop_limit};
    uint8_t source[GID_SIZE];
    struct traffic *link = traffic_of_link(s, g);
    if (!link)
        return;
    const struct group *b = groups_find(s->f->groups, g->interface, link->key.mgid);
    if (!b || b->state != GROUP_PRESENT) /* a rule compares it with the record */
        compare_value(s, link, g, TRAFFIC_qkey, sender_gid(s));
    if (group_is_broadcast(g) || !s->p->ib.has_lrh)
        return;
    source_of(g, sender_gid(s), source);
    for (unsigned i = 0; i < G_N_ELEMENTS(compared); i++)
        if (is_of_group(s, &own[compared[i]], packet_value(&s->p->ib, compared[i])))
            take_for_link(s, link, g, compared[i], source);
        else
            compare_value(s, link, g, compared[i], source);
    take_for_link(s, link, g, TRAFFIC_tclass, source);
    take_for_link(s, link, g, TRAFFIC_flow_label, source);
}

void suspect_group_traffic(const struct check_context *s, const struct group *g)
{
    bool there = g->state == GROUP_PRESENT || g->state == GROUP_UNCONFIRMED;
    if (!s->suspicions || !s->p->ib.has_grh || packet_is_known_corrupt(s->p))
        return;
    struct traffic *t = traffic_of(s->suspicions, g->interface, g->mgid);
    if (!t)
        return;
    if (!there) { /* it may have been created again, with other values */
        memset(t->seen, 0, sizeof t->seen);
        return;
    }
    take_record(s, t, g);
    drop_deleted(t, g);
    const struct traffic before = *t;
    for (unsigned i = 0; i < TRAFFIC_VALUES; i++)
        if (is_compared(s, g, (enum traffic_value)i))
            compare_value(s, t, g, (enum traffic_value)i, sender_gid(s));
    compare_with_link(s, g, before.seen);
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
    struct traffic *t = traffic_of(s->suspicions, b->interface, b->mgid);
    if (t)
        compare_value(s, t, b, TRAFFIC_qkey, sender_gid(s));
}

void suspect_group_record(const struct check_context *s, const struct subnet_event *e,
                          enum traffic_value which, const struct result *r)
{
    uint8_t source[GID_SIZE];
    uint32_t value = (uint32_t)r->value;
    source_of(e->group, e->endport ? e->endport->gid : NULL, source);
    struct traffic *t = s->suspicions && !packet_is_corrupt(s->p) ? traffic_of_link(s, e->group)
                                                                  : NULL;
    if (!t || (which == TRAFFIC_life && !value)) /* Linux requests none: OpenSM grants that */
        return;
    struct traffic_key own = {.interface = e->interface};
    memcpy(own.mgid, e->group->mgid, MGID_SIZE);
    suspicions_see(s->suspicions, &own, NULL, which, value); /* its members have this value */
    struct seen *v = &t->seen[which];
    bool changed = suspicions_see(s->suspicions, &t->key, source, which, value);
    if (changed || !v->frame || v->value == value) {
        take_value(v, value, s->p->at.frame, source);
    } else if (!may_be_routed(v, source, which) && !is_misplaced(s, v, value)) {
        struct suspicion new = suspicion_of(s, r->rule, which, value);
        new.of_link = true;
        memcpy(new.about, t->key.mgid, MGID_SIZE);
        new.entity = r->about;
        new.fact = r->facts[0].kind;
        new.name = r->name;
        memcpy(new.group, e->group->mgid, MGID_SIZE);
        memcpy(new.sgid, source, GID_SIZE);
        struct result texts = *r;
        texts.wanted = v->value;
        raise_suspicion(s, t, which, new, &texts);
    }
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

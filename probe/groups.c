/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups at the subnet administrator. The SA knows ports, not processes: what the host's
 * own interface is in is never left. So a port's standing is read before a join, and only what the
 * join adds is taken back, unless an interface of the host may stand on it by then (leave.h).
 */
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "probe/guard.h"
#include "probe/octets.h"
#include "cli/say.h"

enum { SELECT_EXACTLY = 2 };

/* Asks about one group; the record that came is at *record, in a. */
static enum sa_result ask_member(struct probe *p, struct sa_question *q, struct sa_answer *a,
                                 const uint8_t **record)
{
    enum sa_result result = sa_ask(p, q, a);
    *record = a->records->data;
    return result == SA_TOLD && a->records->len < MCM_SIZE ? SA_SILENT : result;
}

enum sa_result group_get(struct probe *p, const uint8_t *mgid, struct mc_group *g, uint16_t *status)
{
    struct sa_question q = mc_ask_group(mgid);
    struct sa_answer a;
    const uint8_t *record;
    enum sa_result result = ask_member(p, &q, &a, &record);
    if (result == SA_TOLD)
        *g = mc_group_read(record);
    *status = a.status;
    sa_answer_clear(&a);
    return result;
}

bool group_is_missing(enum sa_result result, uint16_t status)
{
    return result == SA_REFUSED && status == SA_STATUS_NO_RECORDS;
}

enum sa_result group_standing(struct probe *p, const uint8_t *mgid, uint8_t *join_state,
                              bool *member, bool *known)
{
    return group_standing_of(p, mgid, p->t->facts.gid, join_state, member, known);
}

enum sa_result group_standing_of(struct probe *p, const uint8_t *mgid, const uint8_t *port_gid,
                                 uint8_t *join_state, bool *member, bool *known)
{
    struct sa_question q = mc_ask_member(mgid, port_gid);
    struct sa_answer a;
    const uint8_t *record;
    q.sm_key = p->sm_key;
    *member = *known = false;
    *join_state = 0;
    enum sa_result result = ask_member(p, &q, &a, &record);
    if (result == SA_TOLD) {
        *join_state = mc_member_read(record).join_state;
        *member = true;
        *known = *join_state != 0; /* without the right SM_Key it is hidden */
    } else if (result == SA_REFUSED && a.status == SA_STATUS_NO_RECORDS) {
        *known = true;
        result = SA_TOLD;
    }
    sa_answer_clear(&a);
    return result;
}

/* Without rate and MTU the SM would take its best, and refuse the hosts that have less. */
static void put_creation(const struct mc_group *g, struct sa_question *q)
{
    q->mask |= MCM_HAS_QKEY | MCM_HAS_MTU_SELECTOR | MCM_HAS_MTU | MCM_HAS_TCLASS | MCM_HAS_PKEY |
               MCM_HAS_RATE_SELECTOR | MCM_HAS_RATE | MCM_HAS_LIFE_SELECTOR | MCM_HAS_LIFE |
               MCM_HAS_SL | MCM_HAS_FLOW_LABEL | MCM_HAS_HOP_LIMIT;
    put32(q->record + MCM_QKEY, g->qkey);
    q->record[MCM_MTU] = (uint8_t)(SELECT_EXACTLY << 6 | g->mtu);
    q->record[MCM_TCLASS] = g->tclass;
    put16(q->record + MCM_PKEY, g->pkey);
    q->record[MCM_RATE] = (uint8_t)(SELECT_EXACTLY << 6 | g->rate);
    q->record[MCM_LIFE] = (uint8_t)(SELECT_EXACTLY << 6 | g->life);
    put32(q->record + MCM_SL_FLOW_HOP, (uint32_t)g->sl << 28 | g->flow_label << 8 | g->hop_limit);
}

static void tell_guard(const struct probe *p, const struct joined *m, bool stands)
{
    struct guard_word w = {
        .stands = stands, .joined = *m, .port = p->t->facts.port, .sm_key = p->sm_key};
    if (!p->guard)
        return;
    g_strlcpy(w.device, p->t->facts.device, sizeof w.device);
    memcpy(w.gid, p->t->facts.gid, sizeof w.gid);
    /* without it what is left out is what SIGKILL leaves */
    send(p->guard->fd, &w, sizeof w, MSG_NOSIGNAL);
}

enum sa_result group_join(struct probe *p, const uint8_t *mgid, uint8_t join_state, bool create,
                          struct mc_group *g, uint16_t *status)
{
    return group_join_as(p, mgid, join_state, create ? &p->link : NULL, g, status);
}

enum sa_result group_join_as(struct probe *p, const uint8_t *mgid, uint8_t join_state,
                             const struct mc_group *made, struct mc_group *g, uint16_t *status)
{
    struct sa_question q = mc_ask_state(SA_SET, mgid, p->t->facts.gid, join_state);
    struct sa_answer a;
    const uint8_t *record;
    uint8_t have;
    bool member, known;
    *status = 0;
    enum sa_result result = group_standing(p, mgid, &have, &member, &known);
    if (result != SA_TOLD)
        return result;
    if (member && (!known || (have & join_state) == join_state))
        return group_get(p, mgid, g, status);
    struct joined m = {.added = join_state & (uint8_t)~have};
    memcpy(m.mgid, mgid, 16);
    if (made) {
        result = group_get(p, mgid, g, status);
        m.made = group_is_missing(result, *status);
        *status = 0;
        put_creation(made, &q);
    }
    /* Written down first: where the answer is lost, the membership may be there all the same. */
    g_array_append_val(p->memberships, m);
    tell_guard(p, &m, true);
    result = ask_member(p, &q, &a, &record);
    *status = a.status;
    if (result == SA_TOLD)
        *g = mc_group_read(record);
    else if (result == SA_REFUSED) {
        g_array_set_size(p->memberships, p->memberships->len - 1);
        tell_guard(p, &m, false);
    }
    sa_answer_clear(&a);
    return result;
}

bool group_attach(struct probe *p, const struct mc_group *g)
{
    if (p->t->ops->attach(p->t, g->mgid, g->mlid) != TRANSPORT_OK)
        return false;
    g_array_append_val(p->attached, *g);
    return true;
}

static enum sa_result ask_for_leaver(void *user, const struct sa_question *q, struct sa_answer *a)
{
    return sa_ask(user, q, a);
}

static void tell_leaving(const struct probe *p, const struct joined *m, enum leaving how,
                         const char *interface)
{
    char group[48];
    const struct port_facts *f = &p->t->facts;
    ip_text(true, m->mgid, group);
    if (how == LEAVE_UNCONFIRMED)
        say("the subnet administrator did not confirm that a group was left; it forgets it when the port goes down");
    else if (how == LEAVE_KEPT)
        say("%s port %u stays in group %s, which the probe joined: %s is up in this partition, and would hear nothing more of the group",
            f->device, f->port, group, interface);
    else if (how == LEAVE_REJOINED)
        say("%s port %u: group %s was joined again, for %s, which came up while the probe left the group",
            f->device, f->port, group, interface);
    else if (how == LEAVE_NOT_REJOINED)
        say("%s port %u: group %s was left while %s came up, and the subnet administrator does not confirm that the port is in it again: set %s down and up",
            f->device, f->port, group, interface, interface);
}

static bool leave(struct probe *p, const struct joined *m)
{
    const struct leaver l = {
        .port = &p->t->facts, .sm_key = p->sm_key, .ask = ask_for_leaver, .user = p};
    char *interface;
    enum leaving how = leave_group(&l, m, &interface);
    tell_leaving(p, m, how, interface);
    g_free(interface);
    return how == LEFT;
}

unsigned groups_joined(const struct probe *p)
{
    return p->memberships->len;
}

static bool leave_at(struct probe *p, guint at)
{
    struct joined m = g_array_index(p->memberships, struct joined, at);
    g_array_remove_index(p->memberships, at);
    bool left = leave(p, &m);
    tell_guard(p, &m, false);
    return left;
}

bool group_leave(struct probe *p, const uint8_t *mgid, uint8_t join_state)
{
    for (guint i = p->memberships->len; i-- > 0;) {
        const struct joined *m = &g_array_index(p->memberships, struct joined, i);
        if (m->added == join_state && memcmp(m->mgid, mgid, 16) == 0)
            return leave_at(p, i);
    }
    return false;
}

void groups_leave(struct probe *p)
{
    p->t->ending = true;
    while (p->memberships->len > 0)
        leave_at(p, p->memberships->len - 1);
}

void groups_open(struct probe *p)
{
    p->memberships = g_array_new(FALSE, TRUE, sizeof(struct joined));
    p->attached = g_array_new(FALSE, TRUE, sizeof(struct mc_group));
}

void groups_close(struct probe *p)
{
    g_array_unref(p->memberships);
    g_array_unref(p->attached);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multicast groups at the SA. The SA records ports, not processes, so the probe never leaves a
 * group that the host's own interface has joined. It reads the port's JoinState before a join and
 * removes only what the join added, unless an interface of the host may use it by then (leave.h).
 */
#include "probe/link/groups.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/say.h"
#include "hca/client.h"
#include "hca/mcgroup.h"
#include "hca/records.h"
#include "probe/link/guard.h"
#include "probe/link/leave.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/put.h"

enum { SELECT_EXACTLY = 2 };

enum sa_result group_get(struct target *t, const uint8_t *mgid, struct mc_group *g,
                         uint16_t *status)
{
    struct sa_query q = mc_query_group(mgid);
    struct sa_response a;
    enum sa_result result = sa_query_send(t, &q, &a);
    if (result == SA_SUCCESS)
        *g = mc_group_read(a.records->data);
    *status = a.status;
    sa_response_clear(&a);
    return result;
}

bool group_is_missing(enum sa_result result, uint16_t status)
{
    return result == SA_REJECTED && status == SA_STATUS_NO_RECORDS;
}

enum sa_result group_member_state(struct target *t, const uint8_t *mgid, struct member_state *m)
{
    return group_member_state_of(t, mgid, t->link->transport->facts.gid, m);
}

enum sa_result group_member_state_of(struct target *t, const uint8_t *mgid, const uint8_t *port_gid,
                                     struct member_state *m)
{
    struct sa_query q = mc_query_member(mgid, port_gid);
    struct sa_response a;
    q.sm_key = t->link->sm_key;
    *m = (struct member_state){.known = false};
    enum sa_result result = sa_query_send(t, &q, &a);
    m->status = a.status;
    if (result == SA_SUCCESS) {
        m->join_state = mc_member_read(a.records->data).join_state;
        m->member = true;
        m->known = m->join_state != 0; /* hidden without the right SM_Key */
    } else if (group_is_missing(result, a.status)) {
        m->known = true;
        result = SA_SUCCESS;
    }
    sa_response_clear(&a);
    return result;
}

/* Specifies rate and MTU: otherwise the SM would choose its maximum and reject hosts with less. */
static void put_creation(const struct mc_group *g, struct sa_query *q)
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

static void report_guard(const struct target *t, const struct joined *m, bool joined_now)
{
    struct guard_message w = {.joined_now = joined_now,
                              .joined = *m,
                              .port = t->link->transport->facts.port,
                              .sm_key = t->link->sm_key};
    if (!t->link->guard)
        return;
    g_strlcpy(w.device, t->link->transport->facts.device, sizeof w.device);
    memcpy(w.gid, t->link->transport->facts.gid, sizeof w.gid);
    /* if this fails, only the cleanup after a SIGKILL is lost */
    send(t->link->guard->fd, &w, sizeof w, MSG_NOSIGNAL);
}

int group_other_receivers(struct target *t, const uint8_t *mgid, uint8_t port_gid[GID_SIZE])
{
    static const uint8_t none[GID_SIZE];
    struct sa_query q = mc_query_group(mgid);
    struct sa_response a;
    const uint8_t *record;
    int others = 0;
    if (!t->link->sm_key)
        return -1;
    q.method = SA_GET_TABLE;
    q.sm_key = t->link->sm_key;
    bool known = sa_query_send(t, &q, &a) == SA_SUCCESS;
    for (uint32_t i = 0; known && (record = sa_record(&a, i, MCM_SIZE)) != NULL; i++) {
        const uint8_t *gid = record + MCM_PORT_GID;
        if (memcmp(gid, none, GID_SIZE) == 0) {
            known = false;
        } else if (mc_member_read(record).join_state & JOIN_FULL &&
                   memcmp(gid, t->link->transport->facts.gid, GID_SIZE) != 0) {
            memcpy(port_gid, gid, GID_SIZE);
            others++;
        }
    }
    sa_response_clear(&a);
    return known ? others : -1;
}

enum sa_result group_join(struct target *t, const uint8_t *mgid, uint8_t join_state, bool create,
                          struct mc_group *g, uint16_t *status)
{
    return group_join_as(t, mgid, join_state, create ? &t->link->group : NULL, g, status);
}

/*
 * Sends the join. The membership is recorded before the request: if the response is lost, it may
 * exist nevertheless.
 */
static enum sa_result send_join(struct target *t, const struct joined *m, struct sa_query *q,
                                struct mc_group *g, uint16_t *status)
{
    struct sa_response a;
    g_array_append_val(t->link->memberships, *m);
    report_guard(t, m, true);
    enum sa_result result = sa_query_send(t, q, &a);
    *status = a.status;
    if (result == SA_SUCCESS)
        *g = mc_group_read(a.records->data);
    else if (result == SA_REJECTED) {
        g_array_set_size(t->link->memberships, t->link->memberships->len - 1);
        report_guard(t, m, false);
    }
    sa_response_clear(&a);
    return result;
}

/* In a group that the probe made, this port has only the JoinStates that the probe added. */
static void read_own_joins(const struct probe_link *l, const uint8_t *mgid, struct member_state *m)
{
    for (guint i = 0; m->member && !m->known && i < l->memberships->len; i++) {
        const struct joined *j = &g_array_index(l->memberships, struct joined, i);
        if (j->made && memcmp(j->mgid, mgid, GID_SIZE) == 0)
            *m = (struct member_state){.member = true, .known = true, .join_state = j->added};
    }
}

/* What a join adds to this port's membership; made NULL: the group must exist. */
static enum sa_result prepare_join(struct target *t, const struct mc_group *made, struct joined *m,
                                   struct mc_group *g, uint16_t *status)
{
    if (!made)
        return SA_SUCCESS;
    enum sa_result result = group_get(t, m->mgid, g, status);
    m->made = group_is_missing(result, *status);
    return m->made ? SA_SUCCESS : result;
}

enum sa_result group_join_as(struct target *t, const uint8_t *mgid, uint8_t join_state,
                             const struct mc_group *made, struct mc_group *g, uint16_t *status)
{
    struct sa_query q = mc_query_state(SA_SET, mgid, t->link->transport->facts.gid, join_state);
    struct member_state have;
    enum sa_result result = group_member_state(t, mgid, &have);
    *status = have.status;
    if (result != SA_SUCCESS)
        return result;
    read_own_joins(t->link, mgid, &have);
    if (have.member && (!have.known || (have.join_state & join_state) == join_state))
        return group_get(t, mgid, g, status);
    struct joined m = {.added = join_state & (uint8_t)~have.join_state};
    memcpy(m.mgid, mgid, 16);
    result = prepare_join(t, made, &m, g, status);
    if (result != SA_SUCCESS)
        return result;
    if (made)
        put_creation(made, &q);
    return send_join(t, &m, &q, g, status);
}

bool group_join_is_refused(const struct target *t, enum sa_result result)
{
    return result == SA_REJECTED && t->run->sa.method == SA_SET;
}

bool group_attach(struct target *t, const struct mc_group *g)
{
    if (t->link->transport->ops->attach(t->link->transport, g->mgid, g->mlid) != TRANSPORT_OK)
        return false;
    g_array_append_val(t->link->attached, *g);
    return true;
}

static enum sa_result query_for_leaver(void *user, const struct sa_query *q, struct sa_response *a)
{
    return sa_query_send(user, q, a);
}

static void report_leaving(const struct target *t, const struct joined *m, enum leaving how,
                           const char *interface)
{
    char group[48];
    const struct port_facts *f = &t->link->transport->facts;
    text_ip(true, m->mgid, group);
    if (how == LEAVE_IN_USE)
        say("%s port %u stays in %s: %s may use it", f->device, f->port, group, interface);
    else if (how == LEAVE_REJOINED)
        say("%s port %u: group %s was joined again, for %s, which came up while the probe left the group",
            f->device, f->port, group, interface);
    else if (how == LEAVE_NOT_REJOINED)
        say("%s port %u: group %s was left while %s came up, and the SA does not confirm that the port is in it again: set %s down and up",
            f->device, f->port, group, interface, interface);
}

/* A leave, or the join again after one, that failed. */
static void note_not_left(struct target *t, const struct joined *m, enum leaving how,
                          const struct left *left)
{
    struct probe_link *l = t->link;
    char group[48];
    text_ip(true, m->mgid, group);
    l->not_left.n++;
    g_snprintf(l->not_left.text, sizeof l->not_left.text, "%s %s: %s",
               how == LEAVE_NOT_REJOINED ? "joining this host's port again to group"
                                         : "leaving group",
               group, sa_failure_text(t, left->result, left->status));
    if (how == LEAVE_FAILED)
        say("the SA did not confirm that a group was left; it removes the membership when the port goes down: %s",
            l->not_left.text);
}

static bool leave(struct target *t, const struct joined *m)
{
    const struct leaver l = {.port = &t->link->transport->facts,
                             .sm_key = t->link->sm_key,
                             .query = query_for_leaver,
                             .user = t};
    struct left left;
    bool ending = t->link->transport->ending;
    t->link->transport->ending = true; /* a signal does not interrupt it: it is confirmed, or not */
    enum leaving how = leave_group(&l, m, &left);
    t->link->transport->ending = ending;
    report_leaving(t, m, how, left.interface);
    if (how == LEAVE_FAILED || how == LEAVE_NOT_REJOINED)
        note_not_left(t, m, how, &left);
    g_free(left.interface);
    return how == LEFT;
}

char *groups_take_not_left(struct probe_link *l)
{
    unsigned n = l->not_left.n;
    l->not_left.n = 0;
    return n == 0   ? NULL
           : n == 1 ? g_strdup_printf("not done: %s", l->not_left.text)
                    : g_strdup_printf("%u leaves not done; the last: %s", n, l->not_left.text);
}

unsigned groups_joined(const struct probe_link *l)
{
    return l->memberships->len;
}

static bool leave_at(struct target *t, guint at)
{
    struct joined m = g_array_index(t->link->memberships, struct joined, at);
    g_array_remove_index(t->link->memberships, at);
    bool left = leave(t, &m);
    report_guard(t, &m, false);
    return left;
}

bool group_leave(struct target *t, const uint8_t *mgid, uint8_t join_state)
{
    for (guint i = t->link->memberships->len; i-- > 0;) {
        const struct joined *m = &g_array_index(t->link->memberships, struct joined, i);
        if (m->added == join_state && memcmp(m->mgid, mgid, 16) == 0)
            return leave_at(t, i);
    }
    return false;
}

/*
 * In the reverse order: OpenSM keeps the group of a port that joined with JoinState 0x9 and leaves
 * with 0x1 first (https://github.com/linux-rdma/opensm/pull/43).
 */
void groups_leave(struct target *t)
{
    t->link->transport->ending = true;
    while (t->link->memberships->len > 0)
        leave_at(t, t->link->memberships->len - 1);
}

void groups_open(struct probe_link *l)
{
    l->memberships = g_array_new(FALSE, TRUE, sizeof(struct joined));
    l->attached = g_array_new(FALSE, TRUE, sizeof(struct mc_group));
}

void groups_close(struct probe_link *l)
{
    g_array_unref(l->memberships);
    g_array_unref(l->attached);
}

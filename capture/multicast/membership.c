/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Membership of the keeper's groups. See membership.h. */
#include "capture/multicast/membership.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/multicast/grouplock.h"
#include "cli/say.h"
#include "hca/records.h"
#include "wire/mgid.h"
#include "wire/names.h"

enum {
    QUERY_MS = 1500,
    /* at the end: unanswered requests in a row after which the rest is skipped */
    SILENCES_MAX = 2,
    FULL_MEMBER = 1, /* JoinState bit 0 (IBA 15.2.5.17) */
    NON_MEMBER = 2,
    NO_RECORDS = SA_STATUS_NO_RECORDS,
};

struct joined_group {
    struct mc_group group;
    bool joined;   /* a join request was sent, and the membership is not known to be lost */
    bool refused;  /* the SA refused the last join, which has been reported */
    bool marked;   /* set by mark_own */
    bool reported; /* reported to the capture */
    bool present;  /* in the table of the last poll */
};

static const volatile int never;

void membership_report(const struct keep *k, enum groupevent_kind kind,
                       const struct mc_group *group, int error)
{
    struct groupevent event = {.kind = kind, .error = error};

    if (group)
        event.group = *group;
    while (send(STDIN_FILENO, &event, sizeof(event), MSG_NOSIGNAL) < 0 && errno == EAGAIN &&
           !*k->stop)
        poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLOUT}, 1, 100);
}

static enum sa_outcome query_sa(struct keep *k, const struct sa_query *q, struct sa_response *a,
                                const volatile int *until)
{
    gint64 begin = g_get_monotonic_time();
    enum sa_outcome outcome;

    a->records = g_byte_array_new();
    outcome = umad_sa_query(k->sa, q, QUERY_MS, until, a, k->error, sizeof(k->error));
    if (outcome == SA_OK) /* an SA that does not answer is not counted as busy */
        k->busy += g_get_monotonic_time() - begin;
    return outcome;
}

/* --- one group */

/* Stores the SA's record. If MLID or Q_Key changed, the group is reported again. */
static void update(struct joined_group *g, const struct mc_group *now)
{
    if (g->group.mlid != now->mlid || g->group.qkey != now->qkey)
        g->reported = false;
    g->group = *now;
}

static void join(struct keep *k, struct joined_group *g)
{
    struct sa_query q = mc_query_state(SA_SET, g->group.mgid, k->sa_port.gid, NON_MEMBER);
    struct mc_group now;
    struct sa_response a;
    char text[INET6_ADDRSTRLEN];
    enum sa_outcome outcome;

    grouplock_take(k->lock, k->device, k->port, g->group.mgid);
    outcome = query_sa(k, &q, &a, k->stop);
    g->joined = true; /* also if the response is lost: the SA may have processed the request */
    if (outcome == SA_OK && a.status == 0 && a.records->len >= MCM_SIZE &&
        mgid_equal(a.records->data, g->group.mgid)) {
        now = mc_group_read(a.records->data);
        update(g, &now);
        g->refused = false;
    } else if (outcome == SA_OK && !g->refused) {
        g->refused = true;
        say("the SA refuses this port as a member of group %s (status 0x%04x, %s): its frames come only "
            "while the host itself is a member",
            mgid_text(g->group.mgid, text), a.status, sa_status_name(a.status));
    }
    g_byte_array_unref(a.records);
}

/*
 * Leaves the group if this is the last capture on it. Skips the request if marked: the port is then
 * only FullMember. Returns false if the SA did not answer.
 */
static bool leave(struct keep *k, const struct joined_group *g)
{
    struct sa_query q = mc_query_state(SA_DELETE, g->group.mgid, k->sa_port.gid, NON_MEMBER);
    struct sa_response a;
    bool outcome = true;

    if (grouplock_is_last(k->lock, k->device, k->port, g->group.mgid) && !g->marked) {
        outcome = query_sa(k, &q, &a, &never) == SA_OK;
        g_byte_array_unref(a.records);
    }
    grouplock_end(k->lock, k->device, k->port, g->group.mgid);
    return outcome;
}

/* --- the table */

static bool is_wanted(const struct keep *k, const struct mc_group *g)
{
    struct mgid m;

    if (!mgid_is_ipoib(g->mgid))
        return false;
    m = mgid_read(g->mgid);
    return ((m.pkey ^ k->pkey) & 0x7fff) == 0 && (m.broadcast || !k->broadcast_only);
}

static void found(struct keep *k, const struct mc_group *group)
{
    struct joined_group *g = g_hash_table_lookup(k->groups, group->mgid);

    if (!g) {
        g = g_new0(struct joined_group, 1);
        g->group = *group;
        g_hash_table_insert(k->groups, g->group.mgid, g);
    }
    update(g, group);
    if (!g->reported) /* a new or changed group (also one deleted and created again) must be joined
                       */
        g->joined = false;
    g->present = true;
    if (!g->joined)
        join(k, g);
    if (!g->reported)
        membership_report(k, GROUPEVENT_JOINED, &g->group, 0);
    g->reported = true;
}

static gboolean is_gone(gpointer mgid, gpointer value, gpointer data)
{
    struct keep *k = data;
    struct joined_group *g = value;
    bool was_present = g->present;

    (void)mgid;
    g->present = false;
    if (was_present)
        return FALSE;
    grouplock_end(k->lock, k->device, k->port, g->group.mgid);
    membership_report(k, GROUPEVENT_DELETED, &g->group, 0);
    return TRUE;
}

static bool is_table(enum sa_outcome outcome, const struct sa_response *a)
{
    return outcome == SA_OK && (a->status == 0 || a->status == NO_RECORDS);
}

static void read_table(struct keep *k, const struct sa_response *a)
{
    const uint8_t *record;

    /* Broadcast groups first: frames of the other groups use their Q_Key (RFC 4391 section 4). */
    for (int others = 0; others <= 1; others++)
        for (uint32_t i = 0; (record = sa_record(a, i, MCM_SIZE)) != NULL && !*k->stop; i++) {
            struct mc_group g = mc_group_read(record);

            if (is_wanted(k, &g) && mgid_is_broadcast(g.mgid) == !others)
                found(k, &g);
        }
    if (!*k->stop)
        g_hash_table_foreach_remove(k->groups, is_gone, k);
}

static void mark_all(struct keep *k, bool marked)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, k->groups);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((struct joined_group *)value)->marked = marked;
}

/*
 * Marks the groups of which this port is a member: with any JoinState (join_state 0), or with
 * exactly JOIN_STATE. The SA compares the whole JoinState and does not reveal it in its response.
 * Returns false, and changes no mark, if the query failed.
 */
static bool mark_own(struct keep *k, uint8_t join_state, const volatile int *until)
{
    struct sa_query q = mc_query_own(k->sa_port.gid, join_state);
    struct sa_response a;
    bool reported = is_table(query_sa(k, &q, &a, until), &a);
    const uint8_t *record;

    if (reported)
        mark_all(k, false);
    for (uint32_t i = 0; reported && (record = sa_record(&a, i, MCM_SIZE)) != NULL; i++) {
        struct joined_group *g = g_hash_table_lookup(k->groups, record + MCM_MGID);

        if (g)
            g->marked = true;
    }
    g_byte_array_unref(a.records);
    return reported;
}

/*
 * Clears the joins that the SA no longer has: a group may have been deleted and created again since
 * the last poll, with the same MLID and without this port.
 */
static void doubt_joins(struct keep *k)
{
    GHashTableIter iter;
    gpointer value;

    if (g_hash_table_size(k->groups) == 0 || !mark_own(k, 0, k->stop))
        return;
    g_hash_table_iter_init(&iter, k->groups);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct joined_group *g = value;

        g->joined = g->joined && (g->marked || g->refused);
    }
}

void membership_forget(struct keep *k)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, k->groups);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((struct joined_group *)value)->joined = false;
}

/*
 * Whether the port can send requests. If its LID, SM LID or GID changed, the SM may have lost all
 * memberships, so all groups are joined again.
 */
static bool refresh_port(struct keep *k)
{
    struct sa_port now;

    if (!umad_sa_port(k->sa, &now) || !now.active || now.sm_lid == 0) {
        if (!k->down_reported)
            say("%s port %u: the port is not active; the groups are joined when it is", k->device,
                k->port);
        k->down_reported = true;
        membership_forget(k);
        return false;
    }
    k->down_reported = false;
    if (memcmp(k->sa_port.gid, now.gid, GID_SIZE) != 0 || k->sa_port.lid != now.lid ||
        k->sa_port.sm_lid != now.sm_lid)
        membership_forget(k);
    k->sa_port = now;
    return true;
}

void membership_refresh(struct keep *k)
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_MC_MEMBER_RECORD};
    struct sa_response a;
    enum sa_outcome outcome;

    if (!refresh_port(k))
        return;
    doubt_joins(k);
    outcome = query_sa(k, &q, &a, k->stop);
    if (is_table(outcome, &a)) {
        read_table(k, &a);
        k->silence_reported = false;
    } else if (outcome != SA_INTERRUPTED && !k->silence_reported) {
        k->silence_reported = true;
        if (outcome == SA_OK)
            say("the SA does not list its groups (status 0x%04x, %s)", a.status,
                sa_status_name(a.status));
        else if (outcome == SA_TOO_LARGE || outcome == SA_FAILED)
            say("the groups cannot be listed: %s", k->error);
        else
            say("the SA (LID %u) does not answer; the groups are joined when it does",
                k->sa_port.sm_lid);
    }
    g_byte_array_unref(a.records);
}

/* --- the end */

void membership_leave_all(struct keep *k)
{
    GHashTableIter iter;
    gpointer value;
    int silences = 0;

    /*
     * If the port is only FullMember, the NonMember bit was lost when the group was deleted and
     * created again.
     */
    if (g_hash_table_size(k->groups) != 0 && !mark_own(k, FULL_MEMBER, &never)) {
        mark_all(k, false);
        silences++;
    }
    g_hash_table_iter_init(&iter, k->groups);
    while (silences < SILENCES_MAX && g_hash_table_iter_next(&iter, NULL, &value))
        silences = leave(k, value) ? 0 : silences + 1;
}

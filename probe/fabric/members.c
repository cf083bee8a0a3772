/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See members.h. */
#include "probe/fabric/members.h"

#include <string.h>

#include "hca/client.h"
#include "hca/mcgroup.h"
#include "hca/records.h"
#include "model/hash.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "wire/mgid.h"

/* A subnet of some hundred groups may have leaked them; each query takes some milliseconds. */
enum { MANY_GROUPS = 64, SAMPLES = 8 };

/* Returns false if the SA discloses no members. */
static bool begin(const struct target *t, struct group_members *m)
{
    *m = (struct group_members){.why_not = "the SA discloses them only with its SM_Key"};
    return t->link->sm_key;
}

static bool has_member(const uint8_t *record)
{
    static const uint8_t none[GID_SIZE];
    return memcmp(record + MCM_PORT_GID, none, GID_SIZE) != 0;
}

void members_count(struct target *t, unsigned groups, struct group_members *m)
{
    struct sa_query q = {
        .method = SA_GET_TABLE, .attribute = SA_MC_MEMBER_RECORD, .sm_key = t->link->sm_key};
    struct sa_response a;
    const uint8_t *record;
    if (!begin(t, m))
        return;
    GHashTable *with_member = g_hash_table_new(hash_gid, mgid_equal);
    enum sa_result result = sa_query_send(t, &q, &a);
    m->known = result == SA_SUCCESS;
    g_strlcpy(m->why_not, sa_failure_text(t, result, a.status), sizeof m->why_not);
    for (uint32_t i = 0; m->known && (record = sa_record(&a, i, MCM_SIZE)); i++)
        if (has_member(record))
            g_hash_table_add(with_member, (gpointer)(record + MCM_MGID));
    guint n = g_hash_table_size(with_member);
    m->asked = groups;
    m->without = groups > n ? groups - n : 0;
    g_hash_table_destroy(with_member);
    sa_response_clear(&a);
}

/* A group of which a trusted query lists no member: is it there? */
static bool is_there(struct target *t, struct sa_query q)
{
    struct sa_response a;
    q.sm_key = 0;
    bool there = sa_query_send(t, &q, &a) == SA_SUCCESS && sa_record(&a, 0, MCM_SIZE);
    sa_response_clear(&a);
    return there;
}

/* OpenSM has no record for a group without a member. Returns false if the SA does not say it. */
static bool ask_group(struct target *t, const uint8_t *mgid, struct group_members *m)
{
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_MC_MEMBER_RECORD,
                         .mask = MCM_HAS_MGID,
                         .sm_key = t->link->sm_key};
    struct sa_response a;
    const uint8_t *record;
    bool found = false;
    memcpy(q.record + MCM_MGID, mgid, GID_SIZE);
    enum sa_result result = sa_query_send(t, &q, &a);
    for (uint32_t i = 0; result == SA_SUCCESS && !found && (record = sa_record(&a, i, MCM_SIZE));
         i++)
        found = has_member(record);
    bool none = result == SA_SUCCESS ? !sa_record(&a, 0, MCM_SIZE)
                                     : group_is_missing(result, a.status);
    bool known = none ? is_there(t, q) : result == SA_SUCCESS; /* else it has ended since */
    m->asked += known;
    m->without += known && !found;
    sa_response_clear(&a);
    return known;
}

void members_sample(struct target *t, const GPtrArray *mgids, struct group_members *m)
{
    if (!begin(t, m) || mgids->len < MANY_GROUPS)
        return;
    for (unsigned i = 0; i < SAMPLES; i++)
        if (!ask_group(t, mgids->pdata[(size_t)mgids->len * i / SAMPLES], m))
            break;
    m->sampled = m->known = m->asked > 0;
}

bool members_lack_mostly(const struct group_members *m)
{
    return m->sampled && m->asked > 1 && m->without * 2 >= m->asked;
}

char *members_text(const struct group_members *m, bool wanted)
{
    if (!wanted)
        return g_strdup("");
    if (!m->known)
        return g_strdup_printf("; their members are not known: %s", m->why_not);
    return m->sampled ? g_strdup_printf("; of %u groups that were asked for, %u have no member",
                                        m->asked, m->without)
                      : g_strdup_printf("; %u without a member", m->without);
}

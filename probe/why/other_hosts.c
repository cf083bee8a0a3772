/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes that the other hosts of the link show. */
#include <string.h>

#include "compat/glib.h"
#include "hca/records.h"
#include "probe/exchange/records.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/sa.h"
#include "probe/run/text.h"
#include "probe/why/questions.h"
#include "wire/put.h"

/* ---- other neighbours */

struct group_replies {
    unsigned by_group, by_unicast;
};

static struct group_replies count_replies(struct diagnosis *d)
{
    struct group_replies r = {0};
    questions_ask(d);
    for (unsigned i = 0; i < d->n_others; i++) {
        r.by_group += d->others[i].by_group;
        r.by_unicast += d->others[i].by_unicast;
    }
    return r;
}

bool why_group_to_nobody(struct diagnosis *d)
{
    uint16_t own = d->t->link->transport->facts.lid;
    struct group_replies r = count_replies(d);
    return questions_group_reaches_nobody(d) &&
           diagnosis_holds(
               d,
               g_strdup_printf("%u other neighbours were asked: none replies to the group, %u to "
                               "its queue pair%s: what this port sends to the group is lost",
                               d->n_others, r.by_unicast, d->by_unicast ? ", as the peer" : ""),
               advice_look_at_multicast(d->t->link, d->t->link->group.mlid,
                                        records_get_switch_lid(d->t, own), own));
}

/* One neighbour alone may be dead too. */
bool why_nobody_replies(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    struct group_replies r = count_replies(d);
    return d->n_others > 1 && !r.by_group && !r.by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("%u other neighbours were asked, and none replies: the packets of "
                               "%s port %u, or those to it, are lost",
                               d->n_others, f->device, f->port),
               g_strdup_printf("perfquery -C %s -P %u; iblinkinfo -C %s -P %u", f->device, f->port,
                               f->device, f->port));
}

/* ---- members of the group */

GHashTable *why_list_members(struct diagnosis *d)
{
    return why_list_members_of(d, d->t->link->group.mgid);
}

GHashTable *why_list_members_of(struct diagnosis *d, const uint8_t *mgid)
{
    struct sa_query q = mc_query_group(mgid);
    struct sa_response a;
    const uint8_t *record;
    GHashTable *guids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    bool known = false;
    q.method = SA_GET_TABLE;
    q.sm_key = d->t->link->sm_key;
    enum sa_result result = q.sm_key ? sa_query_send(d->t, &q, &a) : SA_REJECTED;
    for (uint32_t i = 0; result == SA_SUCCESS && (record = sa_record(&a, i, MCM_SIZE)); i++) {
        gint64 guid = (gint64)be64(record + MCM_PORT_GID + 8);
        known |= guid != 0;
        g_hash_table_add(guids, compat_memdup(&guid, sizeof guid));
    }
    if (q.sm_key)
        sa_response_clear(&a);
    if (known)
        return guids;
    g_hash_table_unref(guids);
    return NULL;
}

/* ---- limited members */

static void count_limited(struct diagnosis *d, gint64 guid, unsigned *asked, unsigned *refused)
{
    uint8_t gid[16];
    struct sa_response a;
    memcpy(gid, d->t->link->transport->facts.gid, 8);
    put64(gid + 8, (uint64_t)guid);
    if (memcmp(gid, d->t->link->transport->facts.gid, 16) == 0 || *asked >= 16)
        return;
    (*asked)++;
    *refused += records_get_path(d->t, gid, &a) == SA_REJECTED;
    sa_response_clear(&a);
}

/* The SA has no path between two limited members. */
bool why_others_limited(struct diagnosis *d)
{
    unsigned asked = 0, refused = 0;
    GHashTable *members = d->t->link->pkey & 0x8000 ? NULL : why_list_members(d);
    GHashTableIter i;
    gpointer guid;
    if (!members)
        return false;
    g_hash_table_iter_init(&i, members);
    while (g_hash_table_iter_next(&i, &guid, NULL))
        count_limited(d, *(gint64 *)guid, &asked, &refused);
    g_hash_table_unref(members);
    return refused &&
           diagnosis_holds(
               d,
               g_strdup_printf("this port has 0x%04x without the full-member bit, and to %u of %u "
                               "other members of the group the SA has no path: two limited members "
                               "cannot communicate",
                               d->t->link->pkey, refused, asked),
               g_strdup("make one of the two a full member in the SM's partitions.conf"));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes that the other hosts of the link show. */
#include <string.h>

#include "hca/records.h"
#include "probe/exchange/records.h"
#include "probe/link/advice.h"
#include "probe/link/groups.h"
#include "probe/link/port_records.h"
#include "probe/link/sa.h"
#include "probe/run/text.h"
#include "probe/why/questions.h"
#include "wire/put.h"

enum { NAMED = 3 };

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
    return d->n_others && !r.by_group && r.by_unicast &&
           diagnosis_holds(
               d,
               g_strdup_printf("%u other neighbours were asked: none replies to the group, %u to "
                               "its queue pair",
                               d->n_others, r.by_unicast),
               advice_look_at_multicast(d->t->link, records_get_switch_lid(d->t, own), own));
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

/* ---- the ports of the subnet */

struct port_list {
    unsigned others, outside;
    GString *names; /* of those outside */
};

/* The GUIDs of the broadcast group's members. NULL: the SA does not disclose them. */
static GHashTable *list_members(struct diagnosis *d)
{
    struct sa_query q = mc_query_group(d->t->link->group.mgid);
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
        g_hash_table_add(guids, g_memdup2(&guid, sizeof guid));
    }
    if (q.sm_key)
        sa_response_clear(&a);
    if (known)
        return guids;
    g_hash_table_unref(guids);
    return NULL;
}

static void add_outside(struct port_list *p, const uint8_t *record)
{
    enum { DESCRIPTION = NODE_RECORD_INFO + NODE_INFO_SIZE, DESCRIPTION_SIZE = 64 };
    if (p->outside++ >= NAMED)
        return;
    char *name = g_strndup((const char *)record + DESCRIPTION, DESCRIPTION_SIZE);
    g_string_append_printf(p->names, "%s'%s' (LID %u)", p->names->len ? ", " : "", name,
                           be16(record));
    g_free(name);
}

static void list_ports(struct diagnosis *d, struct port_list *p, GHashTable *members)
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_NODE_RECORD};
    struct sa_response a;
    const uint8_t *record;
    enum sa_result result = sa_query_send(d->t, &q, &a);
    for (uint32_t i = 0; result == SA_SUCCESS && (record = sa_record(&a, i, NODE_RECORD_SIZE));
         i++) {
        gint64 guid = (gint64)be64(record + NODE_RECORD_PORT_GUID);
        bool own = memcmp(record + NODE_RECORD_PORT_GUID, d->t->link->transport->facts.gid + 8,
                          8) == 0;
        if (own || record[NODE_RECORD_INFO + NODE_INFO_TYPE] != NODE_TYPE_CA)
            continue;
        p->others++;
        if (!g_hash_table_contains(members, &guid))
            add_outside(p, record);
    }
    sa_response_clear(&a);
}

bool why_ports_outside(struct diagnosis *d)
{
    struct port_list p = {.names = g_string_new(NULL)};
    GHashTable *members = list_members(d);
    if (members) {
        list_ports(d, &p, members);
        g_hash_table_unref(members);
    }
    bool holds = p.outside &&
                 diagnosis_holds(
                     d,
                     g_strdup_printf("of %u other ports of the subnet %u are not in the broadcast "
                                     "group of 0x%04x: %s%s. If the address is one of theirs, its "
                                     "interface is down or in another partition; else the host is "
                                     "off, or its ARP is off or filtered",
                                     p.others, p.outside, d->t->link->pkey | 0x8000, p.names->str,
                                     p.outside > NAMED ? " and more" : ""),
                     g_strdup("on that host: ipoib-probe fabric"));
    g_string_free(p.names, TRUE);
    return holds;
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
    GHashTable *members = d->t->link->pkey & 0x8000 ? NULL : list_members(d);
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

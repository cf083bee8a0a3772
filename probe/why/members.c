/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks about the other ports of the subnet. See members.h. */
#include "probe/why/members.h"

#include <string.h>

#include "compat/glib.h"
#include "hca/records.h"
#include "probe/exchange/cm_answers.h"
#include "probe/exchange/records.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/message.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/sysfs.h"
#include "probe/why/questions.h"
#include "wire/mgid.h"
#include "wire/put.h"

/* ---- ports */

static struct port_names begin_names(void)
{
    return (struct port_names){.names = g_string_new(NULL), .lids = g_string_new(NULL)};
}

static void end_names(struct port_names *p)
{
    g_string_free(p->names, TRUE);
    g_string_free(p->lids, TRUE);
}

static void add_port(struct port_names *p, const uint8_t *record)
{
    enum { DESCRIPTION = NODE_RECORD_INFO + NODE_INFO_SIZE, DESCRIPTION_SIZE = 64 };
    if (p->n >= NAMED) {
        p->n++;
        return;
    }
    p->lid[p->n] = be16(record);
    memcpy(p->guid[p->n++], record + NODE_RECORD_PORT_GUID, 8);
    char *name = g_strndup((const char *)record + DESCRIPTION, DESCRIPTION_SIZE);
    g_string_append_printf(p->names, "%s'%s' (LID %u)", p->names->len ? ", " : "", name,
                           be16(record));
    g_string_append_printf(p->lids, "%s%u", p->lids->len ? ", " : "", be16(record));
    g_free(name);
}

/* The GUIDs of the ports in this host's neighbour table, of IPv4 addresses. */
static GHashTable *list_neighbours(const struct diagnosis *d)
{
    GHashTable *guids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    GArray *all = d->interface ? hostneigh_read(d->interface) : NULL;
    for (guint i = 0; all && i < all->len; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        gint64 guid = (gint64)be64(n->lladdr + LLADDR_GID + 8);
        if (!n->ipv6)
            g_hash_table_add(guids, compat_memdup(&guid, sizeof guid));
    }
    if (all)
        g_array_unref(all);
    return guids;
}

static void sort_port(const struct diagnosis *d, struct subnet_ports *p, GHashTable *members,
                      GHashTable *neighbours, const uint8_t *record)
{
    gint64 guid = (gint64)be64(record + NODE_RECORD_PORT_GUID);
    bool own = (uint64_t)guid == be64(d->t->link->transport->facts.gid + 8);
    if (own || record[NODE_RECORD_INFO + NODE_INFO_TYPE] != NODE_TYPE_CA)
        return;
    p->others++;
    if (!g_hash_table_contains(members, &guid))
        add_port(&p->outside, record);
    else if (!d->t->ipv6 && !g_hash_table_contains(neighbours, &guid))
        add_port(&p->nameless, record);
}

static void list_ports(struct diagnosis *d, struct subnet_ports *p, GHashTable *members)
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_NODE_RECORD};
    struct sa_response a;
    const uint8_t *record;
    GHashTable *neighbours = list_neighbours(d);
    enum sa_result result = sa_query_send(d->t, &q, &a);
    for (uint32_t i = 0; result == SA_SUCCESS && (record = sa_record(&a, i, NODE_RECORD_SIZE)); i++)
        sort_port(d, p, members, neighbours, record);
    sa_response_clear(&a);
    g_hash_table_unref(neighbours);
}

/* ---- their interfaces */

/* The queue pair at the port's link-local address, which this host has just pinged: asked too. */
static void look_for_owner(struct diagnosis *d, struct subnet_ports *p, unsigned i)
{
    uint8_t ip[16], gid[GID_SIZE] = {0};
    memcpy(gid + 8, p->nameless.guid[i], 8);
    host_ping_port_address(gid, ip);
    GArray *all = hostneigh_read(d->interface);
    for (guint k = 0; all && k < all->len && !p->owner; k++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, k);
        if (n->ipv6 && memcmp(n->ip, ip, sizeof ip) == 0 && questions_replies_at(d, n->lladdr))
            p->owner = p->nameless.lid[i];
    }
    if (all)
        g_array_unref(all);
}

/*
 * Are the kernels of those ports alive? A connection manager needs no IPoIB interface, and answers
 * where IPv6 is off.
 */
static bool manager_answers(struct diagnosis *d, const uint8_t *guid)
{
    enum { WAIT_MS = 300 };
    uint8_t lladdr[LLADDR_SIZE] = {0};
    memcpy(lladdr + LLADDR_GID, d->t->link->transport->facts.gid, 8);
    memcpy(lladdr + LLADDR_GID + 8, guid, 8);
    return cm_answers(d->t, lladdr, WAIT_MS);
}

static bool are_managers_silent(struct diagnosis *d, const struct port_names *p)
{
    enum { MANAGERS = 2 };
    bool answers = false;
    for (unsigned i = 0; i < MANAGERS && !answers && !target_ended(d->t); i++)
        answers = manager_answers(d, p->guid[i]);
    return !answers;
}

/* A port with a link-local address is in its solicited-node group (RFC 4291 §2.8). */
static struct ping_request *ping_local(struct diagnosis *d, const uint8_t *gid)
{
    uint8_t ip[16], group[16], mgid[GID_SIZE];
    struct mc_group g;
    uint16_t status;
    host_ping_port_address(gid, ip);
    message_solicited_node(group, ip);
    message_ipv6_mgid(mgid, d->t->link->group.scope, d->t->link->pkey, group);
    return group_get(d->t, mgid, &g, &status) == SA_SUCCESS
               ? host_ping_send_to_port(gid, d->interface)
               : NULL;
}

/* In connected mode the reply may come over a connection, which says nothing about UD. */
static void ping_nameless(struct diagnosis *d, struct subnet_ports *p)
{
    enum { WAIT_MS = 200 };
    struct ping_request *sent[NAMED];
    struct port_replies *r = &p->replies;
    unsigned n = p->nameless.n, last = 0;
    uint8_t gid[GID_SIZE] = {0};
    if (n > NAMED || !d->interface || sysfs_is_connected(d->interface))
        return;
    for (unsigned i = 0; i < n; i++) {
        memcpy(gid + 8, p->nameless.guid[i], 8);
        sent[i] = ping_local(d, gid);
        r->asked += sent[i] != NULL;
    }
    if (r->asked)
        g_usleep((gulong)WAIT_MS * 1000);
    for (unsigned i = 0; i < n; i++)
        if (sent[i] && !host_ping_end(sent[i])) {
            r->silent++;
            r->silent_lid = p->nameless.lid[i];
            last = i;
        } else if (sent[i])
            look_for_owner(d, p, i);
    r->managers_asked = cm_can_ask(d->t);
    if (!r->managers_asked)
        return;
    if (r->asked > 1 && r->silent == r->asked)
        r->managers_silent = are_managers_silent(d, &p->nameless);
    else if (r->asked > 1 && r->silent == 1)
        r->manager_answers = manager_answers(d, p->nameless.guid[last]);
}

/* busy: the SA is. The LID of one of them to which the SA has no path in this partition; 0: none.
 */
static uint16_t find_unreachable(const struct diagnosis *d, const struct port_names *p, bool *busy)
{
    uint16_t lid = 0;
    uint8_t gid[GID_SIZE];
    bool asks = transport_can(d->t->link->transport, CAN_QUERY_SA) && d->t->link->pkey & 0x8000;
    memcpy(gid, d->t->link->transport->facts.gid, 8);
    for (unsigned i = 0; asks && i < MIN(p->n, (unsigned)NAMED) && !lid; i++) {
        struct sa_response a;
        memcpy(gid + 8, p->guid[i], 8);
        enum sa_result result = records_get_path(d->t, gid, &a);
        if (result == SA_REJECTED)
            lid = p->lid[i];
        *busy |= result == SA_BUSY;
        sa_response_clear(&a);
    }
    return lid;
}

/* ---- those that are not in the group */

/* How many of the ports that are named are in the broadcast group of that partition? */
static unsigned count_in_group_of(struct diagnosis *d, const struct port_names *p, uint16_t pkey)
{
    uint8_t mgid[GID_SIZE];
    unsigned in = 0;
    memcpy(mgid, d->t->link->group.mgid, sizeof mgid);
    put16(mgid + MGID_PKEY, pkey | 0x8000);
    GHashTable *members = why_list_members_of(d, mgid);
    for (unsigned i = 0; members && i < MIN(p->n, (unsigned)NAMED); i++) {
        gint64 guid = (gint64)be64(p->guid[i]);
        in += g_hash_table_contains(members, &guid);
    }
    if (members)
        g_hash_table_unref(members);
    return in;
}

/*
 * An interface of this host may have the wrong P_Key of two. Where it has another one, the hosts of
 * that partition are reached, and say nothing about this one: all hosts are in the default one.
 */
static void find_partition(struct diagnosis *d, struct subnet_ports *p)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    for (unsigned i = 0; i < f->n_pkeys && !p->in_other && p->outside.n; i++) {
        uint16_t pkey = f->pkeys[i];
        char *interface = host_interface_in_any_state(f, pkey);
        if (pkey & 0x7fff && (pkey ^ d->t->link->pkey) & 0x7fff && !interface) {
            p->in_other = count_in_group_of(d, &p->outside, pkey);
            p->other_pkey = pkey;
        }
        g_free(interface);
    }
}

/*
 * A port outside whose interface is up in this partition: it receives for its link-local address,
 * whose solicited-node group it joins when it comes up (RFC 4291 §2.8).
 */
static void find_lost_group(struct diagnosis *d, struct subnet_ports *p)
{
    for (unsigned i = 0; i < MIN(p->outside.n, (unsigned)NAMED) && !p->lost_group; i++) {
        uint8_t gid[GID_SIZE], ip[16], group[16], mgid[GID_SIZE];
        struct member_state m;
        memcpy(gid, d->t->link->transport->facts.gid, 8);
        memcpy(gid + 8, p->outside.guid[i], 8);
        host_ping_port_address(gid, ip);
        message_solicited_node(group, ip);
        message_ipv6_mgid(mgid, d->t->link->group.scope, d->t->link->pkey, group);
        if (group_member_state_of(d->t, mgid, gid, &m) == SA_SUCCESS && m.join_state & JOIN_FULL)
            p->lost_group = p->outside.lid[i];
    }
}

/* ---- all of it */

const struct subnet_ports *members_find(struct diagnosis *d)
{
    if (d->ports)
        return d->ports;
    struct subnet_ports *p = g_new0(struct subnet_ports, 1);
    d->ports = p;
    p->outside = begin_names();
    p->nameless = begin_names();
    GHashTable *members = transport_can(d->t->link->transport, CAN_QUERY_SA) ? why_list_members(d)
                                                                             : NULL;
    if (!members)
        return p;
    list_ports(d, p, members);
    g_hash_table_unref(members);
    find_lost_group(d, p);
    find_partition(d, p);
    if (p->nameless.n) {
        p->without_path = find_unreachable(d, &p->nameless, &p->sa_busy);
        ping_nameless(d, p);
    }
    return p;
}

void members_free(struct subnet_ports *p)
{
    if (!p)
        return;
    end_names(&p->outside);
    end_names(&p->nameless);
    g_free(p);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nobody replies for the address: which ports of the subnet may have it? */
#include <string.h>

#include "compat/glib.h"
#include "hca/records.h"
#include "probe/exchange/records.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/hostnet.h"
#include "probe/link/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/sysfs.h"
#include "probe/why/questions.h"
#include "wire/put.h"

enum { NAMED = 3 };

/* ---- ports */

struct port_names {
    unsigned n;
    GString *names, *lids; /* of the first ones: "'n2 HCA-1' (LID 4), ...", "4, ..." */
    uint16_t lid[NAMED];
    uint8_t guid[NAMED][8];
};

struct subnet_ports {
    unsigned others;            /* than this port */
    struct port_names outside;  /* those not in the broadcast group */
    struct port_names nameless; /* members of which this host knows no IPv4 address */
};

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

/* Empty if the SA does not disclose the members. */
static struct subnet_ports find_ports(struct diagnosis *d)
{
    struct subnet_ports p = {.outside = begin_names(), .nameless = begin_names()};
    GHashTable *members = transport_can(d->t->link->transport, CAN_QUERY_SA) ? why_list_members(d)
                                                                             : NULL;
    if (members) {
        list_ports(d, &p, members);
        g_hash_table_unref(members);
    }
    return p;
}

static void clear_ports(struct subnet_ports *p)
{
    end_names(&p->outside);
    end_names(&p->nameless);
}

/* ---- their interfaces */

/* Whether ports reply to this host's ping of their link-local addresses. */
struct port_replies {
    unsigned asked, silent;
    uint16_t silent_lid; /* of one that does not */
};

/* In connected mode the reply may come over a connection, which says nothing about UD. */
static struct port_replies ping_ports(const struct diagnosis *d, const struct port_names *p)
{
    enum { WAIT_MS = 200 };
    struct ping_request *sent[NAMED];
    struct port_replies r = {.asked = 0};
    uint8_t gid[GID_SIZE] = {0};
    if (p->n > NAMED || !d->interface || sysfs_is_connected(d->interface))
        return r;
    for (unsigned i = 0; i < p->n; i++) {
        memcpy(gid + 8, p->guid[i], 8);
        sent[i] = host_ping_send_to_port(gid, d->interface);
        r.asked += sent[i] != NULL;
    }
    if (r.asked)
        g_usleep((gulong)WAIT_MS * 1000);
    for (unsigned i = 0; i < p->n; i++)
        if (sent[i] && !host_ping_end(sent[i])) {
            r.silent++;
            r.silent_lid = p->lid[i];
        }
    return r;
}

/* The LID of one of them to which the SA has no path in this partition; 0: none. */
static uint16_t find_unreachable(const struct diagnosis *d, const struct port_names *p)
{
    uint16_t lid = 0;
    uint8_t gid[GID_SIZE];
    bool asks = transport_can(d->t->link->transport, CAN_QUERY_SA) && d->t->link->pkey & 0x8000;
    memcpy(gid, d->t->link->transport->facts.gid, 8);
    for (unsigned i = 0; asks && i < MIN(p->n, (unsigned)NAMED) && !lid; i++) {
        struct sa_response a;
        memcpy(gid + 8, p->guid[i], 8);
        if (records_get_path(d->t, gid, &a) == SA_REJECTED)
            lid = p->lid[i];
        sa_response_clear(&a);
    }
    return lid;
}

/* ---- texts */

/* "'n2 HCA-1' (LID 4), whose address is not known here, has it". Free with g_free(). */
static char *who_text(const struct port_names *p)
{
    return p->n == 1 ? g_strdup_printf("%s, whose address is not known here, has it", p->names->str)
           : p->n <= NAMED
               ? g_strdup_printf("one of the ports with LID %s, whose addresses are not "
                                 "known here, has it",
                                 p->lids->str)
               : g_strdup_printf("one of %u members of the group, whose addresses are "
                                 "not known here, has it",
                                 p->n);
}

/*
 * A member of the group that is silent may have the address. "": every member's address is known
 * here, or the SA does not disclose members. Free with g_free().
 */
static char *nameless_text(const struct diagnosis *d, const struct port_names *p)
{
    if (!p->n)
        return g_strdup("");
    uint16_t lid = find_unreachable(d, p);
    if (lid)
        return g_strdup_printf("LID %u has it, which is in the group's list, and to which the SA "
                               "has no path in 0x%04x: its port is no longer in the partition; or ",
                               lid, d->t->link->pkey | 0x8000);
    struct port_replies r = ping_ports(d, p);
    if (r.asked > 1 && r.silent == r.asked)
        return g_strdup_printf("what this host sends, or all replies, are lost (the link-local "
                               "addresses of LID %s are silent too); or ",
                               p->lids->str);
    if (r.asked > 1 && r.silent == 1)
        return g_strdup_printf("LID %u has it, whose link-local address is silent too: its replies "
                               "are lost, filtered or have a wrong P_Key or Q_Key; or ",
                               r.silent_lid);
    char *who = who_text(p);
    char *text = g_strdup_printf(r.asked && !r.silent
                                     ? "%s and replies to ping of its link-local address: its ARP "
                                       "is off or filtered; or "
                                     : "%s, and its replies are lost, filtered or have a wrong "
                                       "P_Key or Q_Key; or ",
                                 who);
    g_free(who);
    return text;
}

/* What could not be looked at, so that the cause may be another one. */
static const char *not_looked_at(const struct diagnosis *d)
{
    if (!transport_can(d->t->link->transport, CAN_QUERY_SA))
        return "; the SA cannot be queried through a network interface, so the peer may also be "
               "off this link";
    return d->t->link->sm_key ? "" : "; the SA does not say which ports are on this link";
}

/* " (this one has 10.0.0.2/24)", or that its prefix may be too short. Free with g_free(). */
static char *network_text(const struct diagnosis *d)
{
    char *own = d->interface ? hostnet_text_of(d->interface, d->t->ipv6) : g_strdup("");
    bool wide = d->interface && hostnet_is_wide(d->interface, d->t->ipv6, d->t->ip);
    char *text = !*own  ? g_strdup("")
                 : wide ? g_strdup_printf(", or the prefix of %s, %s, is too short: the address is "
                                          "on another link",
                                          d->interface, own)
                        : g_strdup_printf(" (this one has %s)", own);
    g_free(own);
    return text;
}

static char *command_text(const struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    GString *command = g_string_new(
        "check the address; on the host that should have it: ipoib-probe fabric");
    for (unsigned i = 0; i < f->n_pkeys; i++)
        if ((f->pkeys[i] ^ d->t->link->pkey) & 0x7fff && f->pkeys[i] & 0x7fff)
            g_string_append_printf(command, "; ipoib-probe --pkey 0x%04x %.*s", f->pkeys[i],
                                   target_word(d->t), d->t->name);
    return g_string_free(command, FALSE);
}

/* ---- causes */

bool why_ports_outside(struct diagnosis *d)
{
    struct subnet_ports p = find_ports(d);
    char *nameless = nameless_text(d, &p.nameless);
    bool holds = p.outside.n &&
                 diagnosis_holds(
                     d,
                     g_strdup_printf("of %u other ports of the subnet %u are not in the broadcast "
                                     "group of 0x%04x: %s%s. If the address is one of theirs, its "
                                     "interface is down or in another partition; else %sthe host "
                                     "is off, or its ARP is off or filtered",
                                     p.others, p.outside.n, d->t->link->pkey | 0x8000,
                                     p.outside.names->str, p.outside.n > NAMED ? " and more" : "",
                                     nameless),
                     g_strdup("on that host: ipoib-probe fabric"));
    g_free(nameless);
    clear_ports(&p);
    return holds;
}

/* Another host replied to a request to the group: the switches deliver what this port sends. */
static bool has_group_reply(const struct diagnosis *d)
{
    bool has = false;
    for (unsigned i = 0; i < d->n_others; i++)
        has |= d->others[i].by_group;
    return has;
}

bool why_no_host(struct diagnosis *d)
{
    bool delivered = has_group_reply(d);
    struct subnet_ports p = find_ports(d);
    char *network = network_text(d), *nameless = nameless_text(d, &p.nameless);
    bool holds = diagnosis_holds(
        d,
        g_strdup_printf("nothing wrong was found on this side%s: no host of this link has the "
                        "address%s; or %sits host, cable, interface or %s is off%s%s",
                        delivered ? ", and another host replies to requests to the same group" : "",
                        network, nameless, d->t->ipv6 ? "ND" : "ARP",
                        delivered ? "" : "; or the switches do not deliver the group to it",
                        not_looked_at(d)),
        command_text(d));
    g_free(network);
    g_free(nameless);
    clear_ports(&p);
    return holds;
}

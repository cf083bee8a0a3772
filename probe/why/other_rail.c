/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another interface of this host, on whose link the address may be: the cables of two ports are
 * crossed, or the two interfaces have each other's address.
 */
#include <string.h>
#include <stdlib.h>

#include "probe/link/hostports.h"
#include "probe/link/sysfs.h"
#include "probe/why/diagnosis.h"
#include "wire/ip.h"

/* An interface of a bond is no link of its own. */
static bool is_bonded(const char *name)
{
    char *state = sysfs_interface(name, "bonding_slave/state");
    bool is = *state != '\0';
    g_free(state);
    return is;
}

/* "80:00:00:48:fe:80:...": its last eight bytes are the port's GUID. */
static gint64 guid_of(const char *name)
{
    enum { LETTERS = 3 };
    char *text = sysfs_interface(name, "address"), *end = text;
    size_t n = strlen(text), size = (size_t)8 * LETTERS - 1;
    uint64_t guid = 0;
    if (n > size)
        end = text + n - size;
    for (unsigned i = 0; i < 8 && *end; i++) {
        guid = guid << 8 | strtoul(end, &end, 16);
        end += *end == ':';
    }
    g_free(text);
    return (gint64)guid;
}

/* Its port is a member of this link's broadcast group too. */
static bool is_on_this_link(const char *name, GHashTable *members)
{
    gint64 guid = guid_of(name);
    return members && g_hash_table_contains(members, &guid);
}

static bool is_rail(const struct diagnosis *d, const struct host_ipoib *i)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    bool same_port = strcmp(i->device, f->device) == 0 && i->port == f->port;
    return i->up && i->device[0] && !same_port && strcmp(i->name, d->interface) != 0 &&
           ((i->pkey ^ d->t->link->pkey) & 0x7fff) == 0 && !is_bonded(i->name);
}

char *why_other_rail(struct diagnosis *d)
{
    bool local = d->t->ipv6 && ipv6_is_link_local(d->t->ip);
    if (!d->interface || !d->t->link->opened || local)
        return NULL;
    GArray *all = host_ipoib_all();
    GHashTable *members = transport_can(d->t->link->transport, CAN_QUERY_SA) ? why_list_members(d)
                                                                             : NULL;
    char *name = NULL;
    for (guint i = 0; i < all->len && !name; i++) {
        const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, i);
        if (is_rail(d, one) && !is_on_this_link(one->name, members))
            name = g_strdup(one->name);
    }
    if (members)
        g_hash_table_unref(members);
    g_array_unref(all);
    return name;
}

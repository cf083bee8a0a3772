/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This host looks for the address on its link, and it is behind a router. */
#include <string.h>

#include "probe/link/hostneigh.h"
#include "probe/link/hostnet.h"
#include "probe/link/hostrouter.h"
#include "probe/run/text.h"
#include "probe/why/members.h"

/* The neighbour's address of the target's family; "": unknown. */
static void address_of(const struct diagnosis *d, const uint8_t *lladdr, char ip[48])
{
    GArray *all = hostneigh_read(d->interface);
    ip[0] = '\0';
    for (guint i = 0; all && i < all->len && !*ip; i++) {
        const struct host_neighbour *n = &g_array_index(all, struct host_neighbour, i);
        if ((bool)n->ipv6 == d->t->ipv6 && lladdr_same(n->lladdr, lladdr))
            text_ip(d->t->ipv6, n->ip, ip);
    }
    if (all)
        g_array_unref(all);
}

bool why_behind_router(struct diagnosis *d)
{
    enum { WAIT_MS = 400 };
    uint8_t lladdr[LLADDR_SIZE];
    char ip[48], router[48];
    if (!d->interface || !hostnet_is_wide(d->interface, d->t->ipv6, d->t->ip))
        return false;
    members_find(d); /* its pings make neighbour entries */
    if (!host_router_find(d->t->ipv6, d->t->ip, d->interface, WAIT_MS, lladdr))
        return false;
    address_of(d, lladdr, router);
    text_ip(d->t->ipv6, d->t->ip, ip);
    char *own = hostnet_text_of(d->interface, d->t->ipv6), gid[48];
    text_ip(true, lladdr + LLADDR_GID, gid);
    diagnosis_holds(
        d,
        g_strdup_printf("it replies to a packet that %s%s%s%s forwards to it: the "
                        "prefix of %s, %s, is too short, so that this host looks for "
                        "the address on the link",
                        router[0] ? router : "the port with GID ", router[0] ? " (GID " : "", gid,
                        router[0] ? ")" : "", d->interface, own),
        router[0] ? g_strdup_printf("correct the prefix of %s; until then: ip route "
                                    "add %s via %s",
                                    d->interface, ip, router)
                  : g_strdup_printf("correct the prefix: ip -br addr show %s", d->interface));
    g_free(own);
    return true;
}

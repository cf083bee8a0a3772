/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A neighbour takes packets for the address, and no address resolution finds it. */
#include <string.h>

#include "probe/exchange/records.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostnet.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/run/text.h"
#include "probe/why/members.h"
#include "probe/why/questions.h"

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

/* 0: unknown. */
static uint16_t lid_of(struct diagnosis *d, const uint8_t *lladdr)
{
    struct sa_response a;
    if (!transport_can(d->t->link->transport, CAN_QUERY_SA))
        return 0;
    uint16_t lid = records_get_path(d->t, lladdr + LLADDR_GID, &a) == SA_SUCCESS
                       ? be16(a.records->data + PATH_DLID)
                       : 0;
    sa_response_clear(&a);
    return lid;
}

/* "10.0.0.3 (GID fe80::1, LID 4)". Free with g_free(). */
static char *name_of(struct diagnosis *d, const uint8_t *lladdr, const char *ip)
{
    char gid[48];
    uint16_t lid = lid_of(d, lladdr);
    text_ip(true, lladdr + LLADDR_GID, gid);
    char *at = lid ? g_strdup_printf("%s, LID %u", gid, lid) : g_strdup(gid),
         *name = *ip ? g_strdup_printf("%s (GID %s)", ip, at)
                     : g_strdup_printf("the port with the GID %s", at);
    g_free(at);
    return name;
}

/* Asked once. The pings of other members have made neighbour entries. */
static const struct direct_reply *ask(struct diagnosis *d)
{
    enum { WAIT_MS = 150 };
    members_find(d);
    if (!d->asked_direct && d->interface)
        d->direct = host_direct_ask(d->t->ipv6, d->t->ip, d->interface, WAIT_MS);
    d->asked_direct = true;
    return &d->direct;
}

bool why_behind_router(struct diagnosis *d)
{
    char ip[48], router[48];
    if (!d->interface || !hostnet_is_wide(d->interface, d->t->ipv6, d->t->ip))
        return false;
    const struct direct_reply *r = ask(d);
    if (!r->found || !r->forwarded)
        return false;
    text_ip(d->t->ipv6, d->t->ip, ip);
    address_of(d, r->lladdr, router);
    char *own = hostnet_text_of(d->interface, d->t->ipv6), *name = name_of(d, r->lladdr, router);
    diagnosis_holds(d,
                    g_strdup_printf("it replies to a packet that %s forwards to it: the prefix of "
                                    "%s, %s, is too short, so that this host looks for the address "
                                    "on the link",
                                    name, d->interface, own),
                    *router
                        ? g_strdup_printf("correct the prefix of %s; until then: ip route add "
                                          "%s via %s",
                                          d->interface, ip, router)
                        : g_strdup_printf("correct the prefix: ip -br addr show %s", d->interface));
    g_free(name);
    g_free(own);
    return true;
}

static void tell_no_answer(struct diagnosis *d, const char *name)
{
    GString *command = g_string_new(
        d->t->ipv6 ? "on that host: ip -br addr; ip link | grep NOARP; nft list ruleset"
                   : "on that host: ip -br addr; ip link | grep NOARP; sysctl -a | grep "
                     "'\\.arp_ignore'; nft list ruleset");
    diagnosis_try_partitions(d, command);
    diagnosis_holds(
        d,
        g_strdup_printf("%s has the address: it replies to a ping that is sent to its queue pair, "
                        "and to no request for its link-layer address: its %s is off or filtered, "
                        "or the address is that of another of its interfaces or partitions",
                        name, d->t->ipv6 ? "ND" : "ARP"),
        g_string_free(command, FALSE));
}

bool why_unresolved(struct diagnosis *d)
{
    char ip[48];
    const struct direct_reply *r = ask(d);
    if (!r->found || r->forwarded)
        return false;
    address_of(d, r->lladdr, ip);
    char *name = name_of(d, r->lladdr, ip);
    if (questions_replies_at(d, r->lladdr)) {
        char *who = g_strdup_printf("%s has the address: it", name);
        diagnosis_not_delivered(d, who, lid_of(d, r->lladdr), false);
        g_free(who);
    } else
        tell_no_answer(d, name);
    g_free(name);
    return true;
}

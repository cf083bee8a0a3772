/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address is on the link of another IPoIB interface of this host. */
#include <string.h>

#include "probe/link/hostneigh.h"
#include "probe/link/hostping.h"
#include "probe/link/hostports.h"
#include "probe/run/text.h"
#include "probe/why/diagnosis.h"
#include "wire/ip.h"

enum { ASKED = 8, WAIT_MS = 200 };

struct asked {
    char name[32];
    uint16_t pkey;
    struct ping_request *ping;
};

static unsigned ask(const struct diagnosis *d, struct asked *list)
{
    GArray *all = host_ipoib_all();
    unsigned n = 0;
    for (guint i = 0; i < all->len && n < ASKED; i++) {
        const struct host_ipoib *one = &g_array_index(all, struct host_ipoib, i);
        struct asked *a = &list[n];
        if (!one->up || strcmp(one->name, d->interface) == 0)
            continue;
        *a = (struct asked){.pkey = one->pkey,
                            .ping = host_ping_send_through(d->t->ipv6, d->t->ip, one->name)};
        g_strlcpy(a->name, one->name, sizeof a->name);
        n += a->ping != NULL;
    }
    g_array_unref(all);
    return n;
}

/* "ib0 (P_Key 0xffff), ib0.8002 (P_Key 0x8002)", and the last of them: a host may answer for its
 * address on each of its interfaces, so a child is more likely the right one. NULL: none. */
static char *find(const struct diagnosis *d, const struct asked *list, unsigned n,
                  const struct asked **last)
{
    GString *names = g_string_new(NULL);
    struct host_neighbour neighbour; /* it answers address resolution there, if not the ping */
    for (unsigned i = 0; i < n; i++)
        if (host_ping_end(list[i].ping) ||
            hostneigh_find(list[i].name, d->t->ipv6, d->t->ip, &neighbour)) {
            g_string_append_printf(names, "%s%s (P_Key 0x%04x)", names->len ? ", " : "",
                                   list[i].name, list[i].pkey | 0x8000);
            *last = &list[i];
        }
    return g_string_free(names, names->len == 0);
}

/* This host's kernel asks there: with the interface named, it needs no route. */
bool why_on_other_interface(struct diagnosis *d)
{
    struct asked list[ASKED];
    bool local = d->t->ipv6 && ipv6_is_link_local(d->t->ip);
    unsigned n = d->interface && !local ? ask(d, list) : 0;
    const struct asked *last = NULL;
    char ip[48];
    text_ip(d->t->ipv6, d->t->ip, ip);
    if (n)
        g_usleep((gulong)WAIT_MS * 1000);
    char *names = find(d, list, n, &last);
    if (names)
        diagnosis_holds(d,
                        g_strdup_printf("asked for there, it replies: at %s, and not at %s", names,
                                        d->interface),
                        g_strdup_printf("ipoib-probe -d %s %s; ip route get %s  # correct the "
                                        "route, or the addresses",
                                        last->name, ip, ip));
    g_free(names);
    return last != NULL;
}

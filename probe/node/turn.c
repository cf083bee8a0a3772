/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which interface is asked about. See turn.h. */
#include "probe/node/turn.h"

static const struct node_link *link_at(const GArray *links, guint i)
{
    return &g_array_index(links, struct node_link, i);
}

static const struct node_memory *memory_of(const struct node_link *l, const struct node_state *s)
{
    return node_state_find(s, l->at.interface, l->at.device, l->at.port);
}

static bool may_ask(const GArray *links, guint first, guint i)
{
    return link_at(links, i)->answer == NODE_NOT_ASKED &&
           node_same_port(link_at(links, i), link_at(links, first));
}

static bool was_at_odds(const struct node_link *l, const struct node_state *s)
{
    const struct node_memory *m = memory_of(l, s);
    return m && m->at_odds;
}

static bool is_without_carrier(const struct node_link *l, const struct node_state *s)
{
    (void)s;
    return !l->carrier;
}

static int find(const GArray *links, guint first, const struct node_state *s,
                bool (*wanted)(const struct node_link *l, const struct node_state *s))
{
    for (guint i = first; i < links->len; i++)
        if (may_ask(links, first, i) && wanted(link_at(links, i), s))
            return (int)i;
    return -1;
}

/* The one after that of the last run. */
static int next_of(const GArray *links, guint first, const struct node_state *s)
{
    int least = -1;
    bool passed = false;
    for (guint i = first; i < links->len; i++) {
        if (!may_ask(links, first, i))
            continue;
        if (passed)
            return (int)i;
        least = least < 0 ? (int)i : least;
        const struct node_memory *m = memory_of(link_at(links, i), s);
        passed = m && m->asked;
    }
    return least;
}

int node_turn(const GArray *links, guint first, const struct node_state *s)
{
    int found = find(links, first, s, was_at_odds);
    if (found < 0)
        found = find(links, first, s, is_without_carrier);
    return found < 0 ? next_of(links, first, s) : found;
}

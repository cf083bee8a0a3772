/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of a capture have a line of their own, if there are more than the lines. Those of
 * one kind that happened to one port are one line then, the most first; and if these are still too
 * many, those of one kind.
 */
#include "report/event_lines.h"

#include "model/hash.h"

/* Events of one kind that happened to one port. Its place is that of the first one. */
struct event_group {
    const struct link_event *first;
    unsigned n;
    uint32_t last_frame;
    bool folded; /* they are one line */
};

struct event_groups {
    GPtrArray *all;              /* in the order of their first events */
    GHashTable *by_port;         /* a set */
    unsigned lines[EVENT_KINDS]; /* by kind */
    bool folded[EVENT_KINDS];    /* all events of the kind are one line */
    unsigned n_lines;
};

static guint group_hash(gconstpointer p)
{
    const struct link_event *e = ((const struct event_group *)p)->first;
    return hash_bytes(&e->who, sizeof e->who) ^ (guint)e->kind;
}

static gboolean group_equal(gconstpointer p, gconstpointer q)
{
    const struct link_event *a = ((const struct event_group *)p)->first,
                            *b = ((const struct event_group *)q)->first;
    return a->kind == b->kind && memcmp(&a->who, &b->who, sizeof a->who) == 0;
}

static struct event_group *group_of_event(const struct event_groups *g, const struct link_event *e)
{
    const struct event_group key = {.first = e};
    return g_hash_table_lookup(g->by_port, &key);
}

static void add_to_group(struct event_groups *g, const struct link_event *e)
{
    struct event_group *group = group_of_event(g, e);
    if (!group) {
        group = g_new0(struct event_group, 1);
        group->first = e;
        g_hash_table_add(g->by_port, group);
        g_ptr_array_add(g->all, group);
    }
    group->n++;
    group->last_frame = MAX(group->last_frame, e->last_frame);
    g->lines[e->kind]++;
    g->n_lines++;
}

static gint by_size(gconstpointer p, gconstpointer q)
{
    const struct event_group *a = *(struct event_group *const *)p,
                             *b = *(struct event_group *const *)q;
    if (a->n != b->n)
        return a->n < b->n ? 1 : -1;
    return (a->first->frame > b->first->frame) - (a->first->frame < b->first->frame);
}

/* The largest ones, until the lines are enough. */
static void fold_groups(struct event_groups *g)
{
    GPtrArray *sorted = g_ptr_array_sized_new(g->all->len);
    for (unsigned i = 0; i < g->all->len; i++)
        g_ptr_array_add(sorted, g->all->pdata[i]);
    g_ptr_array_sort(sorted, by_size);
    for (unsigned i = 0; i < sorted->len && g->n_lines > EVENT_LINES; i++) {
        struct event_group *group = sorted->pdata[i];
        group->folded = group->n > 1;
        g->n_lines -= group->n - 1;
        g->lines[group->first->kind] -= group->n - 1;
    }
    g_ptr_array_unref(sorted);
}

static void fold_kinds(struct event_groups *g)
{
    while (g->n_lines > EVENT_LINES) {
        unsigned most = 0;
        for (unsigned kind = 1; kind < EVENT_KINDS; kind++)
            most = g->lines[kind] > g->lines[most] ? kind : most;
        if (g->lines[most] <= 1)
            return;
        g->folded[most] = true;
        g->n_lines -= g->lines[most] - 1;
        g->lines[most] = 1;
    }
}

static void groups_init(struct event_groups *g, const struct event_table *events)
{
    *g = (struct event_groups){.all = g_ptr_array_new_with_free_func(g_free),
                               .by_port = g_hash_table_new(group_hash, group_equal)};
    for (unsigned i = 0; i < event_table_count(events); i++)
        add_to_group(g, event_table_at(events, i));
    fold_groups(g);
    fold_kinds(g);
}

static void groups_clear(struct event_groups *g)
{
    g_hash_table_destroy(g->by_port);
    g_ptr_array_unref(g->all);
}

/* ---- lines */

static struct event_line line_of_kind(const struct event_groups *g, enum event_kind kind)
{
    struct event_line line = {.events = 0};
    for (unsigned i = 0; i < g->all->len; i++) {
        const struct event_group *group = g->all->pdata[i];
        if (group->first->kind != kind)
            continue;
        line.first = line.first ? line.first : group->first;
        line.events += group->n;
        line.ports++;
        line.last_frame = MAX(line.last_frame, group->last_frame);
    }
    return line;
}

/* The line that begins with this event; events 0: it is on the line of an earlier one. */
static struct event_line line_of(const struct event_groups *g, const struct link_event *e)
{
    const struct event_group *group = group_of_event(g, e);
    if (g->folded[e->kind]) {
        struct event_line line = line_of_kind(g, e->kind);
        return line.first == e ? line : (struct event_line){.events = 0};
    }
    if (!group->folded)
        return (struct event_line){e, 1, 1, e->last_frame};
    return (struct event_line){e, group->first == e ? group->n : 0, 1, group->last_frame};
}

/* Causes come first: what follows from them is often more. */
static void add_lines(const struct event_groups *g, const struct event_table *events,
                      enum event_rank rank, GArray *out)
{
    bool seen[EVENT_KINDS] = {false}; /* of kinds that are one line */
    for (unsigned i = 0; i < event_table_count(events) && out->len < EVENT_LINES; i++) {
        const struct link_event *e = event_table_at(events, i);
        if (event_rank(e) != rank || (g->folded[e->kind] && seen[e->kind]))
            continue;
        seen[e->kind] = true;
        const struct event_line line = line_of(g, e);
        if (line.events)
            g_array_append_val(out, line);
    }
}

GArray *event_lines(const struct event_table *events)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct event_line));
    struct event_groups g;
    groups_init(&g, events);
    for (unsigned rank = 0; rank < EVENT_RANKS; rank++)
        add_lines(&g, events, (enum event_rank)rank, out);
    groups_clear(&g);
    return out;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the targets of a run by the port that each is tested through. See plan.h. */
#include "probe/plan.h"

#include "probe/choose.h"

static void free_part(gpointer part)
{
    struct plan_part *p = part;
    g_free(p->name);
    g_free(p->unused);
    g_free(p->why);
    g_free(p->advice);
}

static char *name_of(const struct target_option *t, const struct choice *c)
{
    return c->interface[0] ? g_strdup_printf("%s %s", t->name, c->interface)
                           : g_strdup_printf("%s %s port %u", t->name, c->device, c->port);
}

static void add_fabric(GArray *parts, const struct options *o, const struct target_option *t)
{
    char *unused;
    GArray *choices = choose_for_fabric(o, &unused);
    for (guint i = 0; i < choices->len; i++) {
        const struct choice *c = &g_array_index(choices, struct choice, i);
        const struct plan_part p = {.targets = t,
                                    .n = 1,
                                    .choice = *c,
                                    .name = choices->len > 1 ? name_of(t, c) : NULL,
                                    .unused = i == 0 && *unused ? g_strdup(unused) : NULL};
        g_array_append_val(parts, p);
    }
    g_array_unref(choices);
    g_free(unused);
}

/* Does the address, which follows those of the last part, use the same port? */
static bool extends_last(const GArray *parts, const struct plan_part *p)
{
    const struct plan_part *last = parts->len
                                       ? &g_array_index(parts, struct plan_part, parts->len - 1)
                                       : NULL;
    return last && !p->why && !last->why && !last->targets->fabric &&
           choose_same(&last->choice, &p->choice);
}

static void add_address(GArray *parts, const struct options *o, const struct target_option *t)
{
    struct plan_part p = {.targets = t, .n = 1};
    choose_for_address(o, t, &p.choice, &p.why, &p.advice);
    if (extends_last(parts, &p))
        g_array_index(parts, struct plan_part, parts->len - 1).n++;
    else
        g_array_append_val(parts, p);
}

GArray *plan_make(const struct options *o)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct plan_part));
    g_array_set_clear_func(parts, free_part);
    for (guint i = 0; i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        if (t->fabric)
            add_fabric(parts, o, t);
        else
            add_address(parts, o, t);
    }
    return parts;
}

bool plan_port_ends(const GArray *parts, guint i)
{
    const struct plan_part *p = &g_array_index(parts, struct plan_part, i), *next = p + 1;
    for (guint k = i + 1; k < parts->len; k++, next++)
        if (!next->why)
            return !choose_same(&next->choice, &p->choice);
    return true;
}

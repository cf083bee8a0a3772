/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target node in one line. See line.h. */
#include "probe/node/line.h"

#include "cli/plain.h"
#include "probe/node/run_node.h"

enum { SHOWN = 3, PREFIX = sizeof "node " - 1 };

static void put_good(GString *out, const struct node_run *n)
{
    for (guint i = 0; i < n->links->len; i++) {
        const struct node_link *l = &g_array_index(n->links, struct node_link, i);
        char name[80];
        node_name(l, name, sizeof name);
        g_string_append_printf(out, "%s%s", i ? ", " : "", name);
        if (l->at.interface[0])
            g_string_append_printf(out, " mtu %u%s", l->mtu, l->connected ? " connected" : "");
    }
}

/* The first stage of the target that has this result; NULL: none. */
static const struct stage *first_stage(const struct checked *j, enum node_word word)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        const struct stage *s = j->stages->pdata[i];
        if (node_word_of_outcome(s->outcome) == word)
            return s;
    }
    return NULL;
}

static void put_name(GString *out, const struct node_run *n, guint i, const struct checked *j)
{
    char name[80];
    if (i < n->links->len) {
        node_name(&g_array_index(n->links, struct node_link, i), name, sizeof name);
        g_string_append_printf(out, "%s: ", name);
    } else if (g_str_has_prefix(j->name, "node "))
        g_string_append_printf(out, "%s: ", j->name + PREFIX);
}

static void put_bad(GString *out, const struct node_run *n)
{
    unsigned found = 0;
    for (guint i = 0; i < n->checked->len; i++) {
        const struct checked *j = &g_array_index(n->checked, struct checked, i);
        const struct stage *s = first_stage(j, n->word);
        found += s != NULL;
        if (!s || found > SHOWN)
            continue;
        g_string_append(out, found > 1 ? "; also " : "");
        put_name(out, n, i, j);
        g_string_append(out, s->text);
        if (s->advice[0])
            g_string_append_printf(out, "; %s", s->advice);
    }
    if (found > SHOWN)
        g_string_append_printf(out, "; and %u more: -v", found - SHOWN);
}

GString *node_line(const struct node_run *n)
{
    static const char *const words[] = {[NODE_OK] = "ok",
                                        [NODE_DEGRADED] = "degraded",
                                        [NODE_FAULT] = "fault",
                                        [NODE_NOT_JUDGED] = "not judged"};
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%s: ", words[n->word]);
    if (n->word == NODE_OK)
        put_good(out, n);
    else
        put_bad(out, n);
    char *plain = plain_dup(out->str);
    g_string_printf(out, "%s\n", plain);
    g_free(plain);
    return out;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a sweep. See swept.h. */
#include "report/swept.h"

#include <string.h>

#include "report/wrap.h"

enum { NAMED = 8 }; /* hosts of a group, and changes of a kind, that are named */

void swept_host_clear(struct swept_host *h)
{
    g_free(h->address);
    g_free(h->gid);
    g_free(h->name);
    g_free(h->cause);
}

static void clear_host(gpointer host)
{
    swept_host_clear(host);
}

static void clear_change(gpointer change)
{
    struct swept_change *c = change;
    g_free(c->address);
    g_free(c->name);
    g_free(c->what);
    g_free(c->advice);
}

struct swept *swept_new(void)
{
    struct swept *s = g_new0(struct swept, 1);
    s->hosts = g_array_new(FALSE, FALSE, sizeof(struct swept_host));
    s->changes = g_array_new(FALSE, FALSE, sizeof(struct swept_change));
    g_array_set_clear_func(s->hosts, clear_host);
    g_array_set_clear_func(s->changes, clear_change);
    return s;
}

void swept_free(struct swept *s)
{
    if (!s)
        return;
    g_array_unref(s->hosts);
    g_array_unref(s->changes);
    g_free(s->baseline);
    g_free(s);
}

static int by_address(gconstpointer a, gconstpointer b)
{
    const struct swept_host *x = a, *y = b;
    return memcmp(x->ip, y->ip, sizeof x->ip);
}

void swept_sort(struct swept *s)
{
    g_array_sort(s->hosts, by_address);
}

const char *swept_kind_name(enum swept_kind kind)
{
    static const char *const names[] = {
        [SWEPT_NEW] = "new", [SWEPT_GONE] = "gone", [SWEPT_CHANGED] = "changed"};
    return names[kind];
}

void swept_add_change(struct swept *s, struct swept_change change)
{
    g_array_append_val(s->changes, change);
}

static const struct swept_host *host_at(const struct swept *s, guint i)
{
    return &g_array_index(s->hosts, struct swept_host, i);
}

/* ---- groups */

struct host_group {
    const struct swept_host *first;
    unsigned n;
    GString *names;
};

static const char *status_word(enum verdict_status status)
{
    return status == VERDICT_CONFORMANT ? "ok"
           : status == VERDICT_VIOLATED ? "FAULT"
                                        : "NOT JUDGED";
}

static bool is_of_group(const struct host_group *g, const struct swept_host *h)
{
    return g->first->status == h->status && g->first->switch_lid == h->switch_lid &&
           g_strcmp0(g->first->cause, h->cause) == 0;
}

static void put_host(GString *out, unsigned before, const char *address, const char *name)
{
    if (before >= NAMED)
        return;
    g_string_append_printf(out, "%s%s", before ? ", " : "", address);
    if (name)
        g_string_append_printf(out, " (%s)", name);
}

static struct host_group *group_of(GArray *groups, const struct swept_host *h)
{
    for (guint i = 0; i < groups->len; i++) {
        struct host_group *g = &g_array_index(groups, struct host_group, i);
        if (is_of_group(g, h))
            return g;
    }
    const struct host_group one = {.first = h, .names = g_string_new(NULL)};
    g_array_append_val(groups, one);
    return &g_array_index(groups, struct host_group, groups->len - 1);
}

static unsigned worth(const struct host_group *g)
{
    return g->first->status == VERDICT_VIOLATED ? 1 : 0;
}

/* The worst first, then the largest. */
static int by_weight(gconstpointer a, gconstpointer b)
{
    const struct host_group *x = a, *y = b;
    if (worth(x) != worth(y))
        return worth(x) < worth(y) ? 1 : -1;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return memcmp(x->first->ip, y->first->ip, sizeof x->first->ip);
}

/* Without wide, the line is wrapped. Frees it. */
static void put_line(GString *out, GString *line, bool wide)
{
    enum { BEGIN = 2, INDENT = 4 };
    g_string_append_printf(out, "%*s", BEGIN, "");
    if (wide)
        g_string_append_printf(out, "%s\n", line->str);
    else
        wrap_words(out, line->str, BEGIN, INDENT);
    g_string_free(line, TRUE);
}

static void put_group(GString *out, const struct host_group *g, bool wide)
{
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%s: %s: %u host%s", status_word(g->first->status),
                           g->first->cause ? g->first->cause : "no cause is known", g->n,
                           g->n == 1 ? "" : "s");
    if (g->first->switch_lid)
        g_string_append_printf(line, " at the switch with LID %u", g->first->switch_lid);
    g_string_append_printf(line, ": %s", g->names->str);
    if (g->n > NAMED)
        g_string_append_printf(line, " and %u more", g->n - NAMED);
    put_line(out, line, wide);
}

static void put_groups(GString *out, const struct swept *s, bool wide)
{
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(struct host_group));
    for (guint i = 0; i < s->hosts->len; i++) {
        const struct swept_host *h = host_at(s, i);
        if (h->status == VERDICT_CONFORMANT)
            continue;
        struct host_group *g = group_of(groups, h);
        put_host(g->names, g->n++, h->address, h->name);
    }
    g_array_sort(groups, by_weight);
    for (guint i = 0; i < groups->len; i++) {
        put_group(out, &g_array_index(groups, struct host_group, i), wide);
        g_string_free(g_array_index(groups, struct host_group, i).names, TRUE);
    }
    g_array_unref(groups);
}

/* ---- changes */

static unsigned put_changes_of(GString *out, const struct swept *s, enum swept_kind kind)
{
    unsigned n = 0;
    for (guint i = 0; i < s->changes->len; i++) {
        const struct swept_change *c = &g_array_index(s->changes, struct swept_change, i);
        if (c->kind != kind)
            continue;
        put_host(out, n, c->address, c->name);
        if (n++ < NAMED && c->what && kind != SWEPT_GONE)
            g_string_append_printf(out, ": %s", c->what);
    }
    return n;
}

/* The causes that are known have lines of their own. */
static void put_causes(GString *out, const struct swept *s)
{
    enum { BEGIN = 4, INDENT = 6, ADVICE = 9 };
    unsigned known = 0, unknown = 0;
    for (guint i = 0; i < s->changes->len; i++) {
        const struct swept_change *c = &g_array_index(s->changes, struct swept_change, i);
        if (c->kind != SWEPT_GONE)
            continue;
        known += c->what != NULL;
        unknown += !c->what;
        if (!c->what)
            continue;
        char *text = g_strdup_printf("%s: %s", c->address, c->what);
        g_string_append_printf(out, "%*s", BEGIN, "");
        wrap_words(out, text, BEGIN, INDENT);
        g_free(text);
        if (!c->advice || !c->advice[0])
            continue;
        g_string_append_printf(out, "%*s-> ", INDENT, "");
        wrap_commands(out, c->advice, ADVICE, ADVICE);
    }
    if (known && unknown)
        g_string_append_printf(out, "%*sof the others: ipoib-probe --why ADDRESS\n", BEGIN, "");
}

static void put_kind(GString *out, const struct swept *s, enum swept_kind kind, bool wide)
{
    GString *hosts = g_string_new(NULL), *line = g_string_new(NULL);
    unsigned n = put_changes_of(hosts, s, kind);
    g_string_append_printf(line, "%s since %s: %u: %s", swept_kind_name(kind), s->baseline, n,
                           hosts->str);
    if (n > NAMED)
        g_string_append_printf(line, " and %u more", n - NAMED);
    if (n)
        put_line(out, line, wide);
    else
        g_string_free(line, TRUE);
    if (kind == SWEPT_GONE)
        put_causes(out, s);
    g_string_free(hosts, TRUE);
}

static void put_changes(GString *out, const struct swept *s, bool wide)
{
    for (enum swept_kind kind = 0; s->baseline && kind < SWEPT_KINDS; kind++)
        put_kind(out, s, kind, wide);
    if (s->baseline && s->incomplete)
        g_string_append_printf(out, "  gone since %s: not known, the sweep is not complete\n",
                               s->baseline);
    else if (s->baseline && !s->changes->len)
        g_string_append_printf(out, "  as in %s\n", s->baseline);
}

/* ---- the table */

enum { COLUMNS = 5, NAME_COLUMNS = 20 };

/* The rest of a long name is in the JSON report. */
static char *short_name(const char *name)
{
    if (g_utf8_strlen(name, -1) <= NAME_COLUMNS)
        return g_strdup(name);
    char *start = g_utf8_substring(name, 0, NAME_COLUMNS - 2),
         *out = g_strconcat(start, "..", NULL);
    g_free(start);
    return out;
}

static void columns_of(const struct swept_host *h, char *out[COLUMNS])
{
    out[0] = g_strdup(h->address);
    out[1] = short_name(h->name ? h->name : "-");
    out[2] = g_strdup(h->gid);
    out[3] = h->lid ? g_strdup_printf("%u", h->lid) : g_strdup("-");
    out[4] = h->median_us ? g_strdup_printf("%.2f ms", (double)h->median_us / 1000) : g_strdup("-");
}

static void widen(size_t widths[COLUMNS], char *const columns[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++)
        widths[i] = MAX(widths[i], (size_t)g_utf8_strlen(columns[i], -1));
}

static void put_row(GString *out, const size_t widths[COLUMNS], char *const columns[COLUMNS],
                    const char *last)
{
    g_string_append(out, "  ");
    for (unsigned i = 0; i < COLUMNS; i++) {
        int padding = (int)(widths[i] - (size_t)g_utf8_strlen(columns[i], -1)) + 2;
        g_string_append_printf(out, "%s%*s", columns[i], padding, "");
    }
    g_string_append_printf(out, "%s\n", last);
}

static void free_columns(char *columns[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++)
        g_free(columns[i]);
}

static void put_table(GString *out, const struct swept *s)
{
    static char *const heads[COLUMNS] = {(char *)"address", (char *)"host", (char *)"GID",
                                         (char *)"LID", (char *)"median"};
    size_t widths[COLUMNS] = {0};
    char *columns[COLUMNS];
    widen(widths, heads);
    for (guint i = 0; i < s->hosts->len; i++) {
        columns_of(host_at(s, i), columns);
        widen(widths, columns);
        free_columns(columns);
    }
    put_row(out, widths, heads, "result");
    for (guint i = 0; i < s->hosts->len; i++) {
        columns_of(host_at(s, i), columns);
        put_row(out, widths, columns, status_word(host_at(s, i)->status));
        free_columns(columns);
    }
}

void swept_text(GString *out, const struct swept *s, bool wide)
{
    put_groups(out, s, wide);
    put_changes(out, s, wide);
    if (s->hosts->len)
        put_table(out, s);
}

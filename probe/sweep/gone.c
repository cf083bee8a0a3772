/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why hosts of the baseline do not reply any more. See parts.h. */
#include "probe/sweep/parts.h"

#include <arpa/inet.h>
#include <string.h>

#include "cli/plain.h"
#include "probe/link/wirelog.h"
#include "probe/sweep/baseline.h"
#include "probe/why/why.h"

enum { EXPLAINED = 3, NAMED = 8 };

/* As for a single target that does not reply. The cause's command is that of its only stage. */
static void explain(struct sweep *s, struct swept_change *c, const struct swept_host *before)
{
    struct checked j = {.verdict = verdict_new(&s->run->options->selection)};
    struct results results = {.checked = &j, .known = s->rest->results->known};
    struct peer peer = {.known = false};
    struct target t = *s->rest;
    uint8_t gid[GID_SIZE];
    t.results = &results;
    t.peer = &peer;
    t.ipv6 = strchr(before->address, ':') != NULL;
    memcpy(t.ip, before->ip, sizeof t.ip);
    g_strlcpy(t.name, before->address, sizeof t.name);
    bool has_gid = before->gid && inet_pton(AF_INET6, before->gid, gid) == 1;
    wirelog_begin(t.log, "gone");
    why_begin(&t);
    c->what = why_gone(&t, has_gid ? gid : NULL);
    wirelog_end(t.log, "ended");
    if (j.stages && j.stages->len)
        c->advice = g_strdup(((struct stage *)j.stages->pdata[j.stages->len - 1])->advice);
    checked_clear(&j);
}

void sweep_explain_gone(struct sweep *s, struct swept *swept)
{
    unsigned n = 0;
    for (guint i = 0; i < swept->changes->len; i++) {
        struct swept_change *c = &g_array_index(swept->changes, struct swept_change, i);
        const struct swept_host *before = sweep_baseline_host(s->run->baseline, c->address);
        if (c->kind == SWEPT_GONE && n++ < EXPLAINED && before && s->link->opened &&
            !target_ended(s->rest))
            explain(s, c, before);
    }
}

char *sweep_gone_trouble(const struct swept *swept)
{
    GString *names = g_string_new(NULL);
    unsigned n = 0;
    for (guint i = 0; i < swept->changes->len; i++) {
        const struct swept_change *c = &g_array_index(swept->changes, struct swept_change, i);
        if (c->kind == SWEPT_GONE && n++ < NAMED)
            g_string_append_printf(names, "%s%s", n > 1 ? ", " : "", c->address);
    }
    char *text = n ? g_strdup_printf("%u host%s of %s do%s not reply any more: %s%s", n,
                                     n == 1 ? "" : "s", swept->baseline, n == 1 ? "es" : "",
                                     names->str, n > NAMED ? " and more" : "")
                   : NULL;
    g_string_free(names, TRUE);
    return text;
}

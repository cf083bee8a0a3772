/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each host of a prefix as a row of the report: its name, place, times, and what is wrong. */
#include "probe/sweep/parts.h"

#include <string.h>

#include "cli/plain.h"
#include "probe/exchange/records.h"
#include "probe/link/wirelog.h"
#include "probe/run/text.h"
#include "report/swept.h"

static const char *failed_stage(const struct checked *j)
{
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        const struct stage *s = j->stages->pdata[i];
        if (s->outcome == OUTCOME_FAIL)
            return s->id;
    }
    return NULL;
}

static const char *failed_rule(const struct checked *j, bool strict)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_worst(j->verdict, (enum rule_number)i) == OUTCOME_FAIL &&
            verdict_counts((enum rule_number)i, strict))
            return rules[i].id;
    return NULL;
}

/* A stage says more about the cause than a rule. */
static const char *cause_of(const struct report *r, const struct checked *j,
                            enum verdict_status status)
{
    if (status == VERDICT_CONFORMANT)
        return NULL;
    if (status == VERDICT_UNJUDGED)
        return checked_why_not(r, j);
    const char *stage = failed_stage(j);
    return stage ? stage : failed_rule(j, r->strict);
}

/* What the SA knows; it is asked within the task of the host, so that others run meanwhile. */
static void ask_about(struct host *h, struct swept_host *row)
{
    struct target *t = &h->target;
    char name[NODE_NAME_SIZE];
    if (!t->peer->lid || !transport_can(t->link->transport, CAN_QUERY_SA) || target_ended(t))
        return;
    wirelog_begin(t->log, "sweep");
    if (records_get_node_name(t, name) && name[0])
        row->name = plain_dup(name);
    bool problem = row->status != VERDICT_CONFORMANT || h->ping == PING_SILENT ||
                   h->ping_large == PING_SILENT;
    if (problem && !target_ended(t))
        row->switch_lid = records_get_switch_lid(t, t->peer->lid);
    wirelog_end(t->log, "described");
}

static struct report report_of(const struct options *o)
{
    return (struct report){.probed = true,
                           .strict = o->strict,
                           .only = o->only ? (const char *const *)o->only->pdata : NULL};
}

void sweep_describe(struct host *h)
{
    const struct report r = report_of(h->target.run->options);
    struct swept_host *row = &h->row;
    char text[48];
    row->status = checked_summary(&r, &h->checked).status;
    memcpy(row->ip, h->target.ip, sizeof row->ip);
    text_ip(h->target.ipv6, h->target.ip, text);
    row->address = g_strdup(text);
    text_ip(true, h->peer.lladdr + LLADDR_GID, text);
    row->gid = g_strdup(text);
    row->lid = h->peer.lid;
    row->median_us = times_percentile(&h->peer.over_ud, 50);
    ask_about(h, row);
}

void sweep_describe_result(struct host *h)
{
    const struct report r = report_of(h->target.run->options);
    struct swept_host *row = &h->row;
    row->status = checked_summary(&r, &h->checked).status;
    const char *cause = cause_of(&r, &h->checked, row->status);
    row->cause = cause ? plain_dup(cause) : NULL;
}

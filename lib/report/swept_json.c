/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a sweep as JSON; doc/reports.md describes the members. */
#include "report/swept_json.h"

static const char *const statuses[] = {
    [VERDICT_CONFORMANT] = "ok", [VERDICT_VIOLATED] = "fault", [VERDICT_UNJUDGED] = "not_judged"};

bool swept_status_read(enum verdict_status *status, const char *text)
{
    for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
        *status = (enum verdict_status)i;
        if (g_strcmp0(text, statuses[i]) == 0)
            return true;
    }
    return false;
}

static json_t *json_host(const struct swept_host *h)
{
    json_t *o = json_pack("{ss ss* ss si}", "address", h->address, "name", h->name, "gid", h->gid,
                          "lid", (int)h->lid);
    json_object_set_new(o, "status", json_string(statuses[h->status]));
    if (h->cause)
        json_object_set_new(o, "cause", json_string(h->cause));
    if (h->switch_lid)
        json_object_set_new(o, "switch_lid", json_integer(h->switch_lid));
    if (h->median_us)
        json_object_set_new(o, "median_us", json_integer((json_int_t)h->median_us));
    return o;
}

json_t *swept_json_hosts(const struct swept *s)
{
    json_t *list = json_array();
    for (guint i = 0; i < s->hosts->len; i++)
        json_array_append_new(list, json_host(&g_array_index(s->hosts, struct swept_host, i)));
    return list;
}

json_t *swept_json_changes(const struct swept *s)
{
    json_t *list = json_array();
    for (guint i = 0; s->baseline && i < s->changes->len; i++) {
        const struct swept_change *c = &g_array_index(s->changes, struct swept_change, i);
        json_array_append_new(
            list, json_pack("{ss ss ss* ss* ss*}", "change", swept_kind_name(c->kind), "address",
                            c->address, "name", c->name, "what", c->what, "advice", c->advice));
    }
    return s->baseline ? json_pack("{ss sb so}", "report", s->baseline, "complete", !s->incomplete,
                                   "changes", list)
                       : (json_decref(list), NULL);
}

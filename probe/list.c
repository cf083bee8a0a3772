/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks, for --list and --dry-run. See list.h. */
#include "probe/list.h"

#include <jansson.h>
#include <stdlib.h>

#include "probe/checks.h"
#include "probe/stages.h"

static const char *need_text(unsigned needs)
{
    if (needs & NEEDS_DISRUPTIVE)
        return "with --disruptive";
    if (needs & NEEDS_SOURCE)
        return needs & NEEDS_IPV6          ? "IPv6 targets, with --source"
               : needs & NEEDS_CONNECTIONS ? "targets with connected mode, with --source"
                                           : "with --source";
    if (needs & NEEDS_CONNECTIONS)
        return needs & NEEDS_IPV4 ? "IPv4 targets with connected mode" : "targets with connected mode";
    return needs & NEEDS_IPV4 ? "IPv4 targets" : "";
}

static bool has_check(enum rule_number rule)
{
    for (unsigned i = 0; i < n_checks; i++)
        for (unsigned k = 0; k < checks[i].n_rules; k++)
            if (checks[i].rules[k] == rule)
                return true;
    return false;
}

/* What no answer to this version's questions shows, and why; of the rest an answer, or the SA's record, may tell. */
static const char *why_no_check(enum rule_number rule)
{
    static const struct {
        enum rule_number rule;
        const char *why;
    } out[] = {
        {R_RFC4391_4_1_SCOPE_SEARCH, "what a peer asks the subnet administrator is not seen"},
        {R_RFC4391_10_SENDONLY_SEMANTICS, "it takes a third port, which receives or does not"},
        {R_RFC4391_10_LEAVE, "the peer's own doing at the end of its interface"},
        {R_RFC4391_11_ROUTER_NONMEMBER_JOIN, "routers are not looked for"},
        {R_DRAFT_7_ALL_ROUTER_GROUP, "routers are not looked for"},
        {R_PARTITION_DEFAULT_PKEY, "the partitions of other ports are not looked at"},
        {R_PARTITION_LIMITED_TO_LIMITED, "the partitions of other ports are not looked at"},
        {R_PARTITION_INVALID_DROPPED, "an adapter sends with the P_Keys of its table alone"},
        {R_PARTITION_OVERLAP, "the partitions of other ports are not looked at"},
        {R_PARTITION_VALUE_FORMAT, "a matter of notation"},
        {R_SM_LMC_PATHS, "one path to a port is asked for"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(out); i++)
        if (out[i].rule == rule)
            return out[i].why;
    return rule_in_capture(&rules[rule]) ? NULL : "no check in this version";
}

static const char *other_way(enum rule_number rule)
{
    const char *why = why_no_check(rule);
    return why ? why : "judged where an answer, or the SA's record, shows it";
}

static void put_check(GString *out, const struct check *c)
{
    const char *need = need_text(c->needs);
    g_string_append_printf(out, "%s%s%s%s\n  sends    %s\n  expects  %s\n", c->name, need[0] ? "  (" : "",
                           need, need[0] ? ")" : "", c->sends, c->expects);
    for (unsigned i = 0; i < c->n_rules; i++)
        g_string_append_printf(out, "  rule     %s\n", rules[c->rules[i]].id);
}

static void put_other(GString *out, enum rule_number rule)
{
    const char *why = why_no_check(rule);
    if (why)
        g_string_append_printf(out, "  %-34s %s\n", rules[rule].id, why);
    else
        g_string_append_printf(out, "  %s\n", rules[rule].id);
}

static void put_others(GString *out, const struct options *o, bool judged)
{
    g_string_append(out, judged ? "\nJudged where an answer, or the SA's record, shows them:\n"
                                : "\nNo check, and why:\n");
    for (size_t i = 0; i < RULE_COUNT; i++) {
        enum rule_number rule = (enum rule_number)i;
        if (o->selection.rule[i] && rule_by_probe(&rules[i]) && !has_check(rule) &&
            (why_no_check(rule) == NULL) == judged)
            put_other(out, rule);
    }
}

GString *list_checks_text(const struct options *o)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < n_checks; i++)
        if (check_selected(&checks[i], &o->selection))
            put_check(out, &checks[i]);
    g_string_append(out, "\nStages of the target fabric:\n");
    for (unsigned i = 0; i < n_stages; i++)
        g_string_append_printf(out, "  %-24s %s\n", stages[i].id, stages[i].looks_at);
    put_others(out, o, true);
    put_others(out, o, false);
    return out;
}

static json_t *json_check(const struct check *c)
{
    json_t *ids = json_array();
    for (unsigned i = 0; i < c->n_rules; i++)
        json_array_append_new(ids, json_string(rules[c->rules[i]].id));
    return json_pack("{ss ss ss sb sb so}", "check", c->name, "sends", c->sends, "expects", c->expects,
                     "needs_source", (c->needs & NEEDS_SOURCE) != 0, "disruptive",
                     (c->needs & NEEDS_DISRUPTIVE) != 0, "rules", ids);
}

GString *list_checks_json(const struct options *o, const char *version)
{
    json_t *list = json_array(), *steps = json_array(), *others = json_array();
    for (unsigned i = 0; i < n_checks; i++)
        if (check_selected(&checks[i], &o->selection))
            json_array_append_new(list, json_check(&checks[i]));
    for (unsigned i = 0; i < n_stages; i++)
        json_array_append_new(steps,
                              json_pack("{ss ss}", "id", stages[i].id, "looks_at", stages[i].looks_at));
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (o->selection.rule[i] && rule_by_probe(&rules[i]) && !has_check((enum rule_number)i))
            json_array_append_new(
                others, json_pack("{ss ss}", "id", rules[i].id, "how", other_way((enum rule_number)i)));
    json_t *whole = json_pack("{ss ss so so so}", "tool", "ipoib-probe", "version", version, "checks", list,
                              "stages", steps, "other_rules", others);
    char *text = json_dumps(whole, JSON_INDENT(1));
    GString *out = g_string_new(text);
    g_string_append_c(out, '\n');
    free(text);
    json_decref(whole);
    return out;
}

/* ---- what would be sent */

static const char *left_out(const struct options *o, const struct target *t, const struct check *c)
{
    if ((c->needs & NEEDS_DISRUPTIVE) && !o->disruptive)
        return "only with --disruptive";
    if ((c->needs & NEEDS_IPV4) && t->ipv6)
        return "only of IPv4 targets";
    if ((c->needs & NEEDS_IPV6) && !t->ipv6)
        return "only of IPv6 targets";
    if ((c->needs & NEEDS_SOURCE) && !o->has_source)
        return "only with --source";
    return (c->needs & NEEDS_SOURCE) && o->source_ipv6 != t->ipv6
               ? "only with a --source of the target's family"
               : NULL;
}

static void put_peer(GString *out, const struct options *o, const struct target *t)
{
    g_string_append_printf(out, "  %-22s %s, up to 3 times\n", "resolve", checks[0].sends);
    for (unsigned i = 0; i < n_checks; i++) {
        if (!check_selected(&checks[i], &o->selection))
            continue;
        const char *why = left_out(o, t, &checks[i]);
        if (why)
            g_string_append_printf(out, "  %-22s nothing: %s\n", checks[i].name, why);
        else
            g_string_append_printf(
                out, "  %-22s %s%s\n", checks[i].name, checks[i].sends,
                checks[i].needs & NEEDS_CONNECTIONS ? " (if the peer announces connected mode)" : "");
    }
}

static void put_link(GString *out, const struct options *o)
{
    g_string_append(
        out,
        "before:\n"
        "  link               to the SA: Get MCMemberRecord of the broadcast group and of this port in it; Set (join as\n"
        "                     FullMember) only if this port is not in it, and Delete of that at the end\n");
    if (o->has_source)
        g_string_append(out, "  source             a question for the address of --source: is it unused?\n");
}

GString *list_dry_run(const struct options *o)
{
    GString *out = g_string_new("Nothing was sent. This would be:\n");
    put_link(out, o);
    for (guint i = 0; i < o->targets->len; i++) {
        const struct target *t = &g_array_index(o->targets, struct target, i);
        g_string_append_printf(out, "%s:\n", t->name);
        if (!t->fabric)
            put_peer(out, o, t);
        for (unsigned k = 0; t->fabric && k < n_stages; k++)
            g_string_append_printf(out, "  %-24s %s\n", stages[k].id, stages[k].sends);
    }
    return out;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of checks for --list, and of packets for --dry-run. See list.h. */
#include "probe/list.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/exchange/request.h"
#include "probe/fabric/stages.h"
#include "probe/node/judge.h"
#include "probe/run/options.h"
#include "report/wrap.h"

static const char *need_text(unsigned needs)
{
    if (needs & NEEDS_DISRUPTIVE)
        return "with --disruptive";
    if (needs & NEEDS_SOURCE)
        return needs & NEEDS_IPV6          ? "IPv6 targets, with --source"
               : needs & NEEDS_CONNECTIONS ? "targets with connected mode, with --source"
                                           : "with --source";
    if (needs & NEEDS_CONNECTIONS)
        return needs & NEEDS_IPV4 ? "IPv4 targets with connected mode"
                                  : "targets with connected mode";
    return needs & NEEDS_IPV4 ? "IPv4 targets" : needs & NEEDS_IPV6 ? "IPv6 targets" : "";
}

static bool has_check(enum rule_number rule)
{
    const struct check *c;
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (c = check_at(i)); i++)
        for (unsigned k = 0; k < c->n_rules; k++)
            if (c->rules[k] == rule)
                return true;
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        for (unsigned k = 0; k < s->n_rules; k++)
            if (s->rules[k] == rule)
                return true;
    return false;
}

/*
 * No check is made for this rule; responses may show it (tests/unit/test_probe.c: a capture can
 * show it too).
 */
static bool has_no_check(const struct options *o, enum rule_number rule)
{
    return o->selection.rule[rule] && rule_by_probe(&rules[rule]) && !has_check(rule);
}

static void put_check(GString *out, const struct check *c)
{
    const char *need = need_text(c->needs);
    g_string_append_printf(out, "%s%s%s%s\n  sends    %s\n  expects  %s\n", c->name,
                           need[0] ? "  (" : "", need, need[0] ? ")" : "", c->sends, c->expects);
    for (unsigned i = 0; i < c->n_rules; i++)
        g_string_append_printf(out, "  rule     %s\n", rules[c->rules[i]].id);
}

static void put_others(GString *out, const struct options *o)
{
    const char *heading = "\nRules without a check of their own, applied to replies and to records "
                          "of the SA:\n";
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (has_no_check(o, (enum rule_number)i)) {
            g_string_append_printf(out, "%s  %s\n", heading, rules[i].id);
            heading = "";
        }
}

static void list_stage(GString *out, const struct stage_of_fabric *s)
{
    g_string_append_printf(out, "  %-24s %s\n", s->id, s->looks_at);
    for (unsigned i = 0; i < s->n_rules; i++)
        g_string_append_printf(out, "  %-24s   rule %s\n", "", rules[s->rules[i]].id);
}

static void list_node(GString *out, const struct options *o)
{
    const struct node_stage *s;
    g_string_append(out, "\nStages of the target node:\n");
    for (unsigned i = 0; (s = node_stage_at(i)); i++)
        if (probe_options_select_stage(o, s->id))
            g_string_append_printf(out, "  %-24s %s\n", s->id, s->looks_at);
}

GString *list_checks_text(const struct options *o)
{
    GString *out = g_string_new(NULL);
    const struct check *c;
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (c = check_at(i)); i++)
        if (check_selected(c, o))
            put_check(out, c);
    g_string_append(out, "\nStages of the target fabric:\n");
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        if (probe_options_select_stage(o, s->id))
            list_stage(out, s);
    list_node(out, o);
    put_others(out, o);
    return out;
}

static json_t *json_rules(const enum rule_number *list, unsigned n)
{
    json_t *ids = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(ids, json_string(rules[list[i]].id));
    return ids;
}

static json_t *json_check(const struct check *c)
{
    return json_pack("{ss ss ss sb sb so}", "check", c->name, "sends", c->sends, "expects",
                     c->expects, "needs_source", (c->needs & NEEDS_SOURCE) != 0, "disruptive",
                     (c->needs & NEEDS_DISRUPTIVE) != 0, "rules", json_rules(c->rules, c->n_rules));
}

static void json_add_node(json_t *steps)
{
    const struct node_stage *s;
    for (unsigned i = 0; (s = node_stage_at(i)); i++)
        json_array_append_new(
            steps, json_pack("{ss ss s[]}", "id", s->id, "looks_at", s->looks_at, "rules"));
}

GString *list_checks_json(const struct options *o, const char *version)
{
    json_t *list = json_array(), *steps = json_array(), *others = json_array();
    const struct check *c;
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (c = check_at(i)); i++)
        if (check_selected(c, o))
            json_array_append_new(list, json_check(c));
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        json_array_append_new(steps, json_pack("{ss ss so}", "id", s->id, "looks_at", s->looks_at,
                                               "rules", json_rules(s->rules, s->n_rules)));
    json_add_node(steps);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (has_no_check(o, (enum rule_number)i))
            json_array_append_new(others,
                                  json_pack("{ss ss}", "id", rules[i].id, "how",
                                            "checked if a reply, or the SA's record, shows it"));
    json_t *whole = json_pack("{ss ss so so so}", "tool", "ipoib-probe", "version", version,
                              "checks", list, "stages", steps, "other_rules", others);
    char *text = json_dumps(whole, JSON_INDENT(1));
    GString *out = g_string_new(text);
    g_string_append_c(out, '\n');
    free(text);
    json_decref(whole);
    return out;
}

/* ---- how the probe checks a rule, for --explain */

static bool reports(const enum rule_number *list, unsigned n, const char *id)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(rules[list[i]].id, id) == 0)
            return true;
    return false;
}

static void put_how(GString *out, const char *name, const char *sends, const char *expects)
{
    char *text = g_strdup_printf("%s: sends %s; expects %s", name, sends, expects);
    g_string_append(out, "- ");
    wrap_words(out, text, 2, 2);
    g_free(text);
}

static bool is_probed(const char *id)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rules[i].id, id) == 0)
            return rule_by_probe(&rules[i]);
    return false;
}

void list_how(GString *out, const char *id)
{
    const struct check *c;
    const struct stage_of_fabric *s;
    gsize begin;
    if (!is_probed(id))
        return;
    g_string_append(out, "\nHOW THE PROBE CHECKS IT\n");
    begin = out->len;
    for (unsigned i = 0; (c = check_at(i)); i++)
        if (reports(c->rules, c->n_rules, id))
            put_how(out, c->name, c->sends, c->expects);
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        if (reports(s->rules, s->n_rules, id))
            put_how(out, s->id, s->sends, s->looks_at);
    if (out->len == begin)
        g_string_append(out, "It looks at every reply, and at the records of the SA.\n");
}

/* ---- what --dry-run would send */

static const char *left_out(const struct options *o, const struct target_option *t,
                            const struct check *c)
{
    if ((c->needs & NEEDS_DISRUPTIVE) && !o->disruptive)
        return "only with --disruptive";
    if ((c->needs & NEEDS_IPV4) && t->ipv6)
        return "IPv4 targets only";
    if ((c->needs & NEEDS_IPV6) && !t->ipv6)
        return "IPv6 targets only";
    if ((c->needs & NEEDS_SOURCE) && !o->has_source)
        return "only with --source";
    return (c->needs & NEEDS_SOURCE) && o->source_ipv6 != t->ipv6
               ? "only with a --source of the target's family"
               : NULL;
}

static void put_peer(GString *out, const struct options *o, const struct target_option *t)
{
    g_string_append_printf(out, "  %-22s %s, up to 3 times\n", "resolve", check_at(0)->sends);
    const struct check *c;
    for (unsigned i = 0; (c = check_at(i)); i++) {
        if (!check_selected(c, o))
            continue;
        const char *why = left_out(o, t, c);
        if (why)
            g_string_append_printf(out, "  %-22s not sent: %s\n", c->name, why);
        else
            g_string_append_printf(
                out, "  %-22s %s%s\n", c->name, c->sends,
                c->needs & NEEDS_CONNECTIONS ? " (if the peer announces connected mode)" : "");
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
        g_string_append(
            out,
            "  source             a request for the address of --source, to see that it is unused\n");
}

/* Several addresses are probed together. */
static void put_sweep(GString *out, const struct options *o)
{
    uint64_t n = 0;
    for (guint i = 0; i < o->targets->len; i++)
        n += g_array_index(o->targets, struct target_option, i).n;
    if (n > o->targets->len)
        g_string_append_printf(
            out,
            "all addresses (%" G_GUINT64_FORMAT "):\n"
            "  sweep              the request below for each, up to %d times within the timeout, %u packets a second;\n"
            "                     each host that replies is tested\n",
            n, TRIES, o->rate);
}

static GString *dry_run_node(void)
{
    GString *out = g_string_new("Nothing was sent. This would be:\nnode:\n");
    const struct node_stage *s;
    for (unsigned i = 0; (s = node_stage_at(i)); i++)
        g_string_append_printf(out, "  %-24s %s\n", s->id, s->sends);
    return out;
}

GString *list_dry_run(const struct options *o)
{
    if (probe_options_only_node(o))
        return dry_run_node();
    GString *out = g_string_new("Nothing was sent. This would be:\n");
    put_link(out, o);
    put_sweep(out, o);
    for (guint i = 0; i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        g_string_append_printf(out, "%s:\n", t->name);
        if (!t->fabric)
            put_peer(out, o, t);
        const struct stage_of_fabric *s;
        for (unsigned k = 0; t->fabric && (s = fabric_stage_at(k)); k++)
            g_string_append_printf(out, "  %-24s %s\n", s->id, s->sends);
    }
    return out;
}

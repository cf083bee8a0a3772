/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target node. See run_node.h. */
#include "probe/node/run_node.h"

#include <string.h>

#include "cli/plain.h"
#include "probe/link/hostports.h"
#include "probe/node/line.h"
#include "probe/node/prometheus.h"
#include "report/program.h"

void node_delay(const struct options *o, const volatile int *stop)
{
    enum { STEP_US = 100000 };
    gint64 us = o->delay ? (gint64)(g_random_double() * o->delay * G_USEC_PER_SEC) : 0;
    gint64 end = g_get_monotonic_time() + us, left;
    while (!*stop && (left = end - g_get_monotonic_time()) > 0)
        g_usleep((gulong)MIN(left, STEP_US));
}

static void clear_checked(gpointer checked)
{
    checked_clear(checked);
}

static struct node_link *link_at(const struct node_run *n, guint i)
{
    return &g_array_index(n->links, struct node_link, i);
}

static void add_link(struct node_run *n, const struct choice *c)
{
    struct node_link l;
    node_read(&l, c);
    g_array_append_val(n->links, l);
}

/* All interfaces of a device that -d names, or its ports without one. PORT 0: of all its ports. */
static void add_device(struct node_run *n, const char *device, unsigned port)
{
    GArray *interfaces = host_ipoib_all(), *ports = host_ports();
    for (guint i = 0; i < interfaces->len; i++) {
        const struct host_ipoib *one = &g_array_index(interfaces, struct host_ipoib, i);
        struct choice c = {.port = one->port, .pkey = one->pkey};
        g_strlcpy(c.interface, one->name, sizeof c.interface);
        g_strlcpy(c.device, one->device, sizeof c.device);
        if (strcmp(one->device, device) == 0 && (!port || one->port == port))
            add_link(n, &c);
    }
    for (guint i = 0; i < ports->len && !n->links->len; i++) {
        const struct host_port *one = &g_array_index(ports, struct host_port, i);
        struct choice c = {.port = one->port, .optional = true};
        g_strlcpy(c.device, one->device, sizeof c.device);
        if (strcmp(one->device, device) == 0 && (!port || one->port == port))
            add_link(n, &c);
    }
    g_array_unref(ports);
    g_array_unref(interfaces);
}

void node_run_begin(struct node_run *n, const struct options *o, const char *version,
                    const GArray *choices, const char *unused)
{
    *n = (struct node_run){.o = o,
                           .version = version,
                           .unused = unused,
                           .begin = g_get_monotonic_time(),
                           .links = g_array_new(FALSE, TRUE, sizeof(struct node_link)),
                           .checked = g_array_new(FALSE, TRUE, sizeof(struct checked))};
    g_array_set_clear_func(n->checked, clear_checked);
    for (guint i = 0; i < choices->len; i++) {
        const struct choice *c = &g_array_index(choices, struct choice, i);
        if (o->device && !c->interface[0])
            add_device(n, c->device, c->port);
        else if (c->interface[0] || c->device[0]) /* else this host has no port */
            add_link(n, c);
    }
    n->questions = node_questions_open(n->links);
}

/* ---- judging */

static struct checked new_checked(const char *name)
{
    char *whole = *name ? g_strdup_printf("node %s", name) : g_strdup("node");
    struct checked j = {.name = plain_dup(whole), .verdict = verdict_new(NULL)};
    g_free(whole);
    return j;
}

static void add_checked(struct node_run *n, struct checked *j)
{
    enum node_word word = node_word_of(j);
    n->word = node_word_is_worse(word, n->word) ? word : n->word;
    g_array_append_val(n->checked, *j);
}

static bool is_first_of_port(const struct node_run *n, guint at)
{
    for (guint i = 0; i < at; i++)
        if (node_same_port(link_at(n, i), link_at(n, at)))
            return false;
    return true;
}

static void judge_links(struct node_run *n)
{
    for (guint i = 0; i < n->links->len; i++) {
        const struct node_link *l = link_at(n, i);
        char name[80];
        node_name(l, name, sizeof name);
        struct checked j = new_checked(l->at.interface[0] ? l->at.interface : name);
        node_judge(&j, l, &n->state, is_first_of_port(n, i));
        if (i == 0)
            node_judge_state(&j, &n->state);
        n->no_means |= l->answer == NODE_NO_PRIVILEGE;
        add_checked(n, &j);
    }
}

static bool is_there(const struct node_run *n, const struct node_memory *m)
{
    for (guint i = 0; i < n->links->len; i++) {
        const struct choice *c = &link_at(n, i)->at;
        if (m->interface[0] ? strcmp(c->interface, m->interface) == 0
                            : c->port == m->port && strcmp(c->device, m->device) == 0)
            return true;
    }
    return false;
}

/* Listed, or that of an interface: another network namespace has the list. */
static bool has_port(const struct node_run *n, const GArray *ports, const struct node_memory *m)
{
    bool has = false;
    for (guint i = 0; i < ports->len; i++) {
        const struct host_port *p = &g_array_index(ports, struct host_port, i);
        has |= p->port == m->port && strcmp(p->device, m->device) == 0;
    }
    for (guint i = 0; i < n->links->len; i++) {
        const struct node_link *l = link_at(n, i);
        has |= l->has_port && l->at.port == m->port && strcmp(l->at.device, m->device) == 0;
    }
    return has;
}

/* An interface that is down on a port that is down is left out, but it is there. */
static bool is_left_out(const struct node_memory *m)
{
    struct host_ipoib i;
    return m->interface[0] && host_ipoib_find(m->interface, &i);
}

/* With -d or -p the others are not looked at. */
static bool looks_at_all(const struct node_run *n)
{
    return !n->o->device && !n->o->port && !n->o->pkey;
}

static bool judge_gone(struct node_run *n, const struct node_memory *m, bool port_is_there)
{
    struct checked j = new_checked(m->interface[0] ? m->interface : m->device);
    bool expected = node_judge_gone(&j, m, port_is_there);
    add_checked(n, &j);
    return expected;
}

/* What is gone: judged, and if it is expected again, kept for the next run. */
static void judge_memories(struct node_run *n)
{
    GArray *ports = host_ports();
    for (guint i = n->state.links->len; i-- > 0;) {
        const struct node_memory *m = &g_array_index(n->state.links, struct node_memory, i);
        bool there = has_port(n, ports, m), expected = true;
        if (is_there(n, m) || is_left_out(m) || (there && !m->interface[0]))
            expected = false;
        else if (looks_at_all(n))
            expected = judge_gone(n, m, there || !m->device[0]);
        if (!expected)
            g_array_remove_index(n->state.links, i);
    }
    g_array_unref(ports);
}

/* The host has no InfiniBand port, or not the one that -d names. */
static void judge_nothing(struct node_run *n)
{
    struct checked j = new_checked("");
    char *names = host_names(),
         *port = n->o->port ? g_strdup_printf(" port %u", n->o->port) : g_strdup(""),
         *other = g_strdup_printf("this host has no %s%s: it has %s",
                                  n->o->device ? n->o->device : "device", port,
                                  *names ? names : "no InfiniBand port");
    checked_add_stage(&j, "node.port", OUTCOME_INCONCLUSIVE,
                      n->o->device ? other
                                   : "this host has no InfiniBand port and no IPoIB interface",
                      n->o->device ? "" : "lspci | grep -i -e infiniband -e mellanox; dmesg");
    g_free(other);
    g_free(port);
    g_free(names);
    n->no_means = true;
    node_judge_state(&j, &n->state);
    add_checked(n, &j);
}

bool node_run_judge(struct node_run *n, const volatile int *stop)
{
    node_state_open(&n->state, n->o->state);
    node_questions_ask(n->questions, &n->state, stop);
    if (*stop)
        return false;
    if (n->links->len)
        judge_links(n);
    judge_memories(n);
    if (!n->checked->len)
        judge_nothing(n);
    n->seconds = (double)(g_get_monotonic_time() - n->begin) / G_USEC_PER_SEC;
    return true;
}

/* ---- the end */

static struct node_memory memory_of(const struct node_link *l)
{
    struct node_memory m = {.port = l->at.port,
                            .pkey = l->at.pkey,
                            .asked = l->answer != NODE_NOT_ASKED && l->answer != NODE_NOTHING,
                            .at_odds = node_at_odds(l),
                            .waited = l->waiting > 0,
                            .counters = l->counters};
    g_strlcpy(m.interface, l->at.interface, sizeof m.interface);
    g_strlcpy(m.device, l->at.device, sizeof m.device);
    return m;
}

bool node_run_keep(const struct node_run *n, GError **error)
{
    GArray *links = g_array_new(FALSE, FALSE, sizeof(struct node_memory));
    for (guint i = 0; i < n->links->len; i++) {
        struct node_memory m = memory_of(link_at(n, i));
        g_array_append_val(links, m);
    }
    g_array_append_vals(links, n->state.links->data, n->state.links->len);
    bool good = node_state_save(&n->state, links, error);
    g_array_unref(links);
    return good;
}

void node_run_end(struct node_run *n)
{
    if (n->state.links)
        node_state_close(&n->state);
    node_questions_close(n->questions);
    g_array_unref(n->checked);
    g_array_unref(n->links);
}

/* ---- the report */

static struct report whole_report(const struct node_run *n)
{
    static const char *const of_node[] = {"node", NULL}; /* stages, and no rules */
    return (struct report){.tool = "ipoib-probe",
                           .version = n->version,
                           .node = n->o->node,
                           .deviations = n->o->deviations,
                           .only = of_node,
                           .strict = n->o->strict,
                           .verbose = true,
                           .probed = true,
                           .captures = (struct checked *)(void *)n->checked->data,
                           .n = n->checked->len};
}

static void put_details(GString *out, const struct node_run *n, bool colours)
{
    struct report r = whole_report(n);
    if (*n->unused)
        g_string_append_printf(out, "not in use, so not looked at: %s\n", n->unused);
    for (unsigned i = 0; i < r.n; i++)
        report_text_of(out, &r, &r.captures[i], colours);
}

GString *node_report(const struct node_run *n, bool colours)
{
    struct report r = whole_report(n);
    if (n->o->format == FORMAT_PROMETHEUS)
        return node_metrics(n);
    if (n->o->format != FORMAT_TEXT)
        return report_whole(format_parts(n->o->format), &r);
    GString *out = node_line(n);
    if (n->o->verbose)
        put_details(out, n, colours);
    return out;
}

int node_exit_status(const struct node_run *n)
{
    static const int statuses[] = {[NODE_OK] = EXIT_CONFORMANT,
                                   [NODE_DEGRADED] = EXIT_CONFORMANT,
                                   [NODE_FAULT] = EXIT_VIOLATED,
                                   [NODE_NOT_JUDGED] = EXIT_UNJUDGED};
    enum { NO_MEANS = 3 };
    if (n->no_means)
        return NO_MEANS;
    return n->o->strict && n->word == NODE_DEGRADED ? EXIT_VIOLATED : statuses[n->word];
}

int node_nagios_status(const struct node_run *n)
{
    static const int statuses[] = {
        [NODE_OK] = 0, [NODE_DEGRADED] = 1, [NODE_FAULT] = 2, [NODE_NOT_JUDGED] = 3};
    return statuses[n->word];
}

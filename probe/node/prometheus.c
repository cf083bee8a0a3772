/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of the target node. See prometheus.h. Names and units are those of node_exporter. */
#include "probe/node/prometheus.h"

#include <string.h>

#include "probe/node/run_node.h"
#include "probe/run/metrics.h"
#include "wire/encap.h"

/* ---- labels of a port and of an interface */

static void put_port(GString *out, const struct node_link *l)
{
    char port[16];
    g_snprintf(port, sizeof port, "%u", l->at.port);
    metrics_put_label(out, "device", l->at.device);
    g_string_append_c(out, ',');
    metrics_put_label(out, "port", port);
}

static void put_interface(GString *out, const struct node_link *l)
{
    put_port(out, l);
    g_string_append_c(out, ',');
    metrics_put_label(out, "interface", l->at.interface);
}

/* ---- gauges */

/* What a metric is about: interfaces, or ports, each once. */
enum about { OF_INTERFACE, OF_PORT };

struct gauge {
    const char *name, *help;
    enum about about;
    /* Returns false if it is not known. */
    bool (*read)(const struct node_link *l, double *value);
};

static bool read_state(const struct node_link *l, double *value)
{
    *value = l->state;
    return l->has_port;
}

static bool read_rate(const struct node_link *l, double *value)
{
    enum { BITS = 8 };
    *value = l->bits_per_second / BITS;
    return l->bits_per_second > 0;
}

static bool read_up(const struct node_link *l, double *value)
{
    *value = l->up;
    return true;
}

static bool read_carrier(const struct node_link *l, double *value)
{
    *value = l->carrier;
    return true;
}

static bool read_mtu(const struct node_link *l, double *value)
{
    *value = l->mtu;
    return l->mtu > 0;
}

static bool read_pkey(const struct node_link *l, double *value)
{
    *value = l->pkey != NODE_PKEY_ABSENT;
    return l->pkey != NODE_PKEY_UNKNOWN;
}

static bool read_member(const struct node_link *l, double *value)
{
    *value = l->answer == NODE_MEMBER;
    return l->answer == NODE_MEMBER || l->answer == NODE_NOT_MEMBER;
}

static bool read_group_mtu(const struct node_link *l, double *value)
{
    unsigned bytes = l->answer == NODE_MEMBER ? ib_mtu_bytes(l->group.mtu) : 0;
    *value = bytes ? bytes - ENCAP_SIZE : 0;
    return bytes > 0;
}

static bool read_answered(const struct node_link *l, double *value)
{
    *value = l->answer == NODE_MEMBER || l->answer == NODE_NOT_MEMBER ||
             l->answer == NODE_REFUSED || l->answer == NODE_NO_FIT;
    return *value != 0 || l->answer == NODE_NO_RESPONSE || l->answer == NODE_BUSY ||
           l->answer == NODE_NO_SA;
}

static bool read_answer_time(const struct node_link *l, double *value)
{
    double answered;
    *value = l->answer_seconds;
    return read_answered(l, &answered) && answered != 0;
}

static bool read_joined(const struct node_link *l, double *value)
{
    *value = l->joined;
    return l->groups_known;
}

static bool read_waiting(const struct node_link *l, double *value)
{
    *value = l->waiting;
    return l->groups_known;
}

static const struct gauge gauges[] = {
    {"ipoib_node_port_state_id", "State of the port: 1 Down, 2 Initialize, 3 Armed, 4 Active.",
     OF_PORT, read_state},
    {"ipoib_node_port_rate_bytes_per_second", "Rate of the port in bytes per second.", OF_PORT,
     read_rate},
    {"ipoib_node_interface_up", "Whether the interface was set up.", OF_INTERFACE, read_up},
    {"ipoib_node_interface_carrier",
     "Whether the interface has carrier: the kernel has joined the broadcast group.", OF_INTERFACE,
     read_carrier},
    {"ipoib_node_interface_mtu_bytes", "MTU of the interface in bytes.", OF_INTERFACE, read_mtu},
    {"ipoib_node_pkey_present", "Whether the partition is in the P_Key table of the port.",
     OF_INTERFACE, read_pkey},
    {"ipoib_node_sa_answered", "Whether the SA answered about the interface.", OF_INTERFACE,
     read_answered},
    {"ipoib_node_sa_answer_duration_seconds", "Time of the answer of the SA in seconds.",
     OF_INTERFACE, read_answer_time},
    {"ipoib_node_broadcast_member",
     "Whether the SA has the port as a member of the broadcast group of the interface.",
     OF_INTERFACE, read_member},
    {"ipoib_node_broadcast_mtu_bytes", "MTU of an interface on the broadcast group in bytes.",
     OF_INTERFACE, read_group_mtu},
    {"ipoib_node_groups_joined", "Multicast groups that the interface has joined.", OF_INTERFACE,
     read_joined},
    {"ipoib_node_groups_waiting", "Multicast groups that the interface waits to join.",
     OF_INTERFACE, read_waiting},
};

static const struct node_link *link_at(const struct node_run *n, guint i)
{
    return &g_array_index(n->links, struct node_link, i);
}

static bool is_first_of_port(const struct node_run *n, guint at)
{
    for (guint i = 0; i < at; i++)
        if (node_same_port(link_at(n, i), link_at(n, at)))
            return false;
    return true;
}

static bool is_about(const struct node_run *n, guint i, enum about about)
{
    const struct choice *c = &link_at(n, i)->at;
    return about == OF_INTERFACE ? c->interface[0] : c->device[0] && is_first_of_port(n, i);
}

static void put_sample(GString *out, const char *name, const struct node_link *l, enum about about,
                       double value)
{
    g_string_append_printf(out, "%s{", name);
    if (about == OF_PORT)
        put_port(out, l);
    else
        put_interface(out, l);
    g_string_append_c(out, '}');
    metrics_put_value(out, value);
}

static void put_gauge(GString *out, const struct node_run *n, const struct gauge *g)
{
    GString *samples = g_string_new(NULL);
    double value;
    for (guint i = 0; i < n->links->len; i++)
        if (is_about(n, i, g->about) && g->read(link_at(n, i), &value))
            put_sample(samples, g->name, link_at(n, i), g->about, value);
    if (samples->len) {
        metrics_put_head(out, g->name, "gauge", g->help);
        g_string_append(out, samples->str);
    }
    g_string_free(samples, TRUE);
}

/* ---- counters */

/* node_exporter's names, after node_infiniband_. FILE: as in counters.h. */
static const struct {
    const char *file, *name, *help;
} counters[] = {
    {"link_downed", "ipoib_node_link_downed_total", "Times that the link went down."},
    {"link_error_recovery", "ipoib_node_link_error_recovery_total",
     "Times that the link recovered from an error."},
    {"port_rcv_errors", "ipoib_node_port_errors_received_total", "Packets received with an error."},
    {"local_link_integrity_errors", "ipoib_node_local_link_integrity_errors_total",
     "Times that the count of local physical errors exceeded its threshold."},
    {"excessive_buffer_overrun_errors", "ipoib_node_excessive_buffer_overrun_errors_total",
     "Times that buffers overran in several periods after each other."},
    {"port_xmit_discards", "ipoib_node_port_discards_transmitted_total",
     "Packets to be sent that the port dropped."},
    {"port_rcv_remote_physical_errors", "ipoib_node_port_receive_remote_physical_errors_total",
     "Packets received that a faulty cable farther away damaged."},
    {"port_xmit_constraint_errors", "ipoib_node_port_constraint_errors_transmitted_total",
     "Packets not sent because of their partition."},
    {"port_rcv_constraint_errors", "ipoib_node_port_constraint_errors_received_total",
     "Packets received and dropped because of their partition."},
    {"symbol_error", "ipoib_node_symbol_error_total", "Symbols received with an error."},
    {"port_xmit_wait", "ipoib_node_port_transmit_wait_total",
     "Ticks in which the port had data and no credits to send it."},
    {"", "ipoib_node_interface_carrier_changes_total", "Changes of the carrier of the interface."},
};

static void put_counter(GString *out, const struct node_run *n, unsigned at)
{
    GString *samples = g_string_new(NULL);
    enum about about = counters[at].file[0] ? OF_PORT : OF_INTERFACE;
    for (guint i = 0; i < n->links->len; i++)
        for (unsigned k = 0; k < PORT_COUNTERS; k++) {
            const struct port_counters *c = &link_at(n, i)->counters;
            if (c->known[k] && strcmp(counters_file(k), counters[at].file) == 0 &&
                is_about(n, i, about))
                put_sample(samples, counters[at].name, link_at(n, i), about, (double)c->value[k]);
        }
    if (samples->len) {
        metrics_put_head(out, counters[at].name, "counter", counters[at].help);
        g_string_append(out, samples->str);
    }
    g_string_free(samples, TRUE);
}

/* ---- of the whole run */

static void put_number(GString *out, const char *name, const char *help, double value)
{
    metrics_put_head(out, name, "gauge", help);
    g_string_append(out, name);
    metrics_put_value(out, value);
}

static void put_word(GString *out, const struct node_run *n)
{
    static const char *const words[] = {"ok", "degraded", "fault", "not_judged"};
    metrics_put_head(out, "ipoib_node_status", "gauge",
                     "The result of the run, 1 for the status it has.");
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        g_string_append_printf(out, "ipoib_node_status{status=\"%s\"} %d\n", words[i],
                               n->word == (enum node_word)i);
}

static void put_info(GString *out, const struct node_run *n)
{
    metrics_put_head(out, "ipoib_node_build_info", "gauge",
                     "The version of ipoib-probe; always 1.");
    g_string_append(out, "ipoib_node_build_info{");
    metrics_put_label(out, "version", n->version);
    g_string_append(out, "} 1\n");
}

static void put_interfaces(GString *out, const struct node_run *n)
{
    char pkey[16];
    bool first = true;
    for (guint i = 0; i < n->links->len; i++) {
        const struct node_link *l = link_at(n, i);
        if (!l->at.interface[0])
            continue;
        if (first)
            metrics_put_head(out, "ipoib_node_interface_info", "gauge",
                             "The mode and partition of the interface; always 1.");
        first = false;
        g_snprintf(pkey, sizeof pkey, "0x%04x", l->at.pkey);
        g_string_append(out, "ipoib_node_interface_info{");
        put_interface(out, l);
        g_string_append(out, l->connected ? ",mode=\"connected\"," : ",mode=\"datagram\",");
        metrics_put_label(out, "pkey", pkey);
        g_string_append(out, "} 1\n");
    }
}

/* The number of stages with each result: a label for each stage, of which there are nine. */
static void put_stages(GString *out, const struct node_run *n)
{
    const struct node_stage *s;
    metrics_put_head(
        out, "ipoib_node_stage_problems", "gauge",
        "Interfaces and ports of which the stage failed, is degraded, or had no result.");
    for (unsigned i = 0; (s = node_stage_at(i)); i++) {
        unsigned count = 0;
        for (guint k = 0; k < n->checked->len; k++) {
            const struct checked *j = &g_array_index(n->checked, struct checked, k);
            for (guint m = 0; m < j->stages->len; m++) {
                const struct stage *one = j->stages->pdata[m];
                count += strcmp(one->id, s->id) == 0 && node_word_of_outcome(one->outcome);
            }
        }
        g_string_append_printf(out, "ipoib_node_stage_problems{stage=\"%s\"} %u\n", s->id, count);
    }
}

GString *node_metrics(const struct node_run *n)
{
    GString *out = g_string_new(NULL);
    put_word(out, n);
    put_stages(out, n);
    put_info(out, n);
    put_number(out, "ipoib_node_last_run_timestamp_seconds",
               "Time of the run in seconds since 1970.",
               (double)n->state.now_wall_us / G_USEC_PER_SEC);
    put_number(out, "ipoib_node_run_duration_seconds", "Duration of the run in seconds.",
               n->seconds);
    put_number(out, "ipoib_node_state_usable", "Whether the run was compared with the last one.",
               n->state.usable);
    put_interfaces(out, n);
    for (unsigned i = 0; i < G_N_ELEMENTS(gauges); i++)
        put_gauge(out, n, &gauges[i]);
    for (unsigned i = 0; i < G_N_ELEMENTS(counters); i++)
        put_counter(out, n, i);
    return out;
}

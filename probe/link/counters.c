/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See counters.h. */
#include "probe/link/counters.h"

#include <stdlib.h>
#include <string.h>

#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"

enum judgement {
    OF_PORT,  /* an error of this port, its cable, or the port at the other end */
    OF_OTHER, /* an error whose cause is elsewhere */
    OF_LOAD,  /* no error */
};

#define CABLE "check the cable and its other end: iblinkinfo; dmesg"

/*
 * At, bits: where PortCounters has it, in bits from its begin, and its size, which gives the
 * maximum (IBA 16.1.3.5). What is of the port comes first.
 */
static const struct kind {
    const char *file; /* "": the interface's changes of carrier */
    unsigned at, bits;
    enum judgement judgement;
    const char *advice;
} kinds[PORT_COUNTERS] = {
    {"link_downed", 56, 8, OF_PORT, CABLE},
    {"link_error_recovery", 48, 8, OF_PORT, CABLE},
    {"port_rcv_errors", 64, 16, OF_PORT,
     CABLE "; if it has no symbol errors: the adapters that send to this port"},
    {"local_link_integrity_errors", 152, 4, OF_PORT, CABLE},
    {"excessive_buffer_overrun_errors", 156, 4, OF_PORT, CABLE},
    {"port_xmit_discards", 112, 16, OF_PORT,
     "packets to be sent were dropped: the link is down or congested: ibqueryerrors"},
    {"", 0, 0, OF_PORT, "see dmesg: the link, the SM or an administrator took it down"},
    {"port_rcv_remote_physical_errors", 80, 16, OF_OTHER,
     "a cable farther away is faulty: ibqueryerrors finds it"},
    {"port_xmit_constraint_errors", 128, 8, OF_OTHER,
     "packets of a partition that this port is not in: compare ipoib-probe fabric"},
    {"port_rcv_constraint_errors", 136, 8, OF_OTHER,
     "packets of a partition that this port is not in: compare ipoib-probe fabric"},
    {"symbol_error", 32, 16, OF_OTHER,
     "few are normal where the link corrects errors (FEC); many: check the cable"},
    {"port_xmit_wait", 320, 32, OF_LOAD, ""},
};

static uint64_t maximum(const struct kind *k)
{
    return k->bits ? ((uint64_t)1 << k->bits) - 1 : UINT64_MAX;
}

/* ---- reading */

static char *first_in(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name = dir ? g_dir_read_name(dir) : NULL;
    char *path = name ? g_build_filename(folder, name, NULL) : NULL;
    if (dir)
        g_dir_close(dir);
    return path;
}

/* Through a network interface, sysfs has the device at the interface. */
char *counters_folder(const struct probe_link *l)
{
    const struct transport *t = l->transport;
    const struct port_facts *f = &t->facts;
    char *at = t->interface ? g_strdup_printf("/sys/class/net/%s/device/infiniband",
                                              t->interface->name)
                            : NULL,
         *device = t->interface ? first_in(at)
                                : g_build_filename("/sys/class/infiniband", f->device, NULL);
    char *folder = device ? g_strdup_printf("%s/ports/%u/counters", device, f->port) : NULL;
    g_free(device);
    g_free(at);
    return folder;
}

/* Some kernels write words into the file of a counter that the adapter lacks. */
static bool read_number(char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    bool is = end > text && !*end;
    g_free(text);
    return is;
}

void counters_read_from(const char *folder, const char *interface, struct port_counters *c)
{
    *c = (struct port_counters){.read_at = g_get_monotonic_time()};
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        if (kinds[i].file[0] && folder)
            c->known[i] = read_number(sysfs_read(folder, kinds[i].file), &c->value[i]);
        else if (!kinds[i].file[0] && interface)
            c->known[i] = read_number(sysfs_interface(interface, "carrier_changes"), &c->value[i]);
}

static uint64_t value_in(const uint8_t *attribute, const struct kind *k)
{
    uint64_t value = 0;
    for (unsigned bit = k->at; bit < k->at + k->bits; bit++)
        value = value << 1 | (attribute[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

bool counters_ask(const struct probe_link *l, uint16_t lid, uint8_t number, struct port_counters *c)
{
    enum { ANSWER_MS = 100 };
    struct transport *t = l->transport;
    struct agent_request q = {.lid = lid, .sl = t->facts.sm_sl, .of_port = number};
    if (!t->ops->ask_agent || t->ops->ask_agent(t, &q, ANSWER_MS) != AGENT_ANSWERS)
        return false;
    c->read_at = g_get_monotonic_time();
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        if (kinds[i].bits) {
            c->known[i] = true;
            c->value[i] = value_in(q.data, &kinds[i]);
        }
    return true;
}

/* At the beginning, that of the table is not known: the same one must be read before and after. */
static uint16_t pkey_of(const struct probe_link *l)
{
    enum { DEFAULT_PKEY = 0xffff };
    return l->pkey ? l->pkey : l->choice && l->choice->pkey ? l->choice->pkey : DEFAULT_PKEY;
}

void counters_read(const struct probe_link *l, struct port_counters *c)
{
    const struct transport *t = l->transport;
    *c = (struct port_counters){.read_at = g_get_monotonic_time()};
    if (!t)
        return;
    char *folder = counters_folder(l),
         *interface = t->interface ? g_strdup(t->interface->name)
                                   : host_interface_in_any_state(&t->facts, pkey_of(l));
    counters_read_from(folder, interface, c);
    if (!t->interface && !counters_of_port_are_known(c))
        counters_ask(l, t->facts.lid, (uint8_t)t->facts.port, c);
    g_free(interface);
    g_free(folder);
}

const char *counters_file(unsigned i)
{
    return kinds[i].file;
}

bool counters_are_known(const struct port_counters *c)
{
    bool known = false;
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        known |= c->known[i];
    return known;
}

bool counters_of_port_are_known(const struct port_counters *c)
{
    bool known = false;
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        known |= c->known[i] && kinds[i].file[0];
    return known;
}

/* ---- comparing */

static const char *name_of(const struct kind *k)
{
    return k->file[0] ? k->file : "carrier_changes of the interface";
}

static void add(GString *list, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add(GString *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_string_append(list, list->len ? ", " : "");
    g_string_append_vprintf(list, format, args);
    va_end(args);
}

static void add_growth(GString *list, const struct kind *k, uint64_t before, uint64_t after)
{
    const char *least = after == maximum(k) ? "at least " : "";
    add(list, "%s grew by %s%" G_GUINT64_FORMAT " to %s%" G_GUINT64_FORMAT, name_of(k), least,
        after - before, least, after);
}

struct counter_growth counters_compare(const struct port_counters *before,
                                       const struct port_counters *after)
{
    struct counter_growth g = {.advice = ""};
    GString *errors = g_string_new(NULL), *other = g_string_new(NULL), *full = g_string_new(NULL);
    unsigned grown = 0, packets = 0, discards = 0, faults = 0;
    for (unsigned i = 0; i < PORT_COUNTERS; i++) {
        const struct kind *k = &kinds[i];
        uint64_t from = before->value[i], to = after->value[i];
        if (!before->known[i] || !after->known[i])
            continue;
        if (to > from && k->judgement != OF_LOAD) {
            g.advice = errors->len ? g.advice : k->advice;
            g.fault |= k->judgement == OF_PORT;
            grown++;
            faults += k->judgement == OF_PORT;
            packets += strcmp(k->file, "port_rcv_errors") == 0;
            discards += strcmp(k->file, "port_xmit_discards") == 0;
            add_growth(errors, k, from, to);
        } else if (to > from)
            add_growth(other, k, from, to);
        else if (to < from)
            add(other, "%s was reset", name_of(k));
        else if (to == maximum(k))
            add(full, "%s at least %" G_GUINT64_FORMAT, name_of(k), to);
    }
    g.only_packets = packets && grown == packets;
    g.only_discards = discards && faults == discards;
    g.errors = g_string_free(errors, FALSE);
    g.other = g_string_free(other, FALSE);
    g.full = g_string_free(full, FALSE);
    return g;
}

void counters_growth_clear(struct counter_growth *g)
{
    g_free(g->errors);
    g_free(g->other);
    g_free(g->full);
}

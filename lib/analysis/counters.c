/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of errors that a port reports to performance management (PortCounters, IBA 16.1.3.5).
 * They count since they were reset, so they show that errors happened, not when.
 */
#include "analysis/watch.h"

enum { CLASS_PERFORMANCE = 0x04, PORT_COUNTERS = 0x0012, GET_RESP = 0x81 };
enum { COUNTERS = 64, COUNTERS_PORT = COUNTERS + 1, COUNTERS_SIZE = 24 };

/*
 * The everyday ones are left out: a switch counts relay errors for each multicast packet. Two of
 * them share a byte: bits is 4.
 */
static const struct {
    const char *name;
    uint8_t at, bits, right; /* right: the bits to the right of it */
} counters[] = {
    {"SymbolErrorCounter", 4, 16, 0},
    {"LinkErrorRecoveryCounter", 6, 8, 0},
    {"LinkDownedCounter", 7, 8, 0},
    {"PortRcvErrors", 8, 16, 0},
    {"PortXmitDiscards", 14, 16, 0},
    {"PortXmitConstraintErrors", 16, 8, 0},
    {"PortRcvConstraintErrors", 17, 8, 0},
    {"LocalLinkIntegrityErrors", 19, 4, 4},
    {"ExcessiveBufferOverrunErrors", 19, 4, 0},
    {"VL15Dropped", 22, 16, 0},
};

static char *errors_text(const uint8_t *p)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(counters); i++) {
        const uint8_t *at = p + counters[i].at;
        unsigned n = counters[i].bits == 16 ? be16(at) : *at >> counters[i].right;
        n &= (1u << counters[i].bits) - 1;
        if (n)
            g_string_append_printf(out, "%s%s %u", out->len ? ", " : "", counters[i].name, n);
    }
    return g_string_free(out, FALSE);
}

void watch_counters(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    uint16_t lid = port_to_lid(w->p->src);
    if (m->mad.class != CLASS_PERFORMANCE || m->mad.method != GET_RESP || m->mad.status ||
        m->mad.attribute != PORT_COUNTERS || !lid ||
        view_has(m->bytes, COUNTERS, COUNTERS_SIZE) != WIRE_OK)
        return;
    char *errors = errors_text(m->bytes.p + COUNTERS);
    uint8_t port = m->bytes.p[COUNTERS_PORT];
    struct sender who = sender_of_lid(w, lid);
    const struct event_key key = event_key(w, EVENT_PORT_ERRORS, NULL, NULL,
                                           (uint64_t)lid << 8 | port);
    if (*errors)
        watch_event(w, &key, &who, 0, "its port %u has counted errors: %s", port, errors);
    g_free(errors);
}

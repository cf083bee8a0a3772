/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Error counters of a port, before and after: of this port from sysfs, or from its performance
 * management agent where the kernel does not show them; of another port from its agent. Only their
 * growth is judged. A counter stays at its maximum until it is reset: then it grew by at least what
 * can be seen.
 */
#ifndef IPOIB_PROBE_COUNTERS_H
#define IPOIB_PROBE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

enum { PORT_COUNTERS = 12 };

struct port_counters {
    bool known[PORT_COUNTERS]; /* the kernel or the agent shows it */
    uint64_t value[PORT_COUNTERS];
    gint64 read_at; /* monotonic microseconds */
};

struct probe_link;

/* The counters of the link's port, and the changes of carrier of its interface. */
void counters_read(const struct probe_link *l, struct port_counters *c);
/*
 * Those of the port with that number at that LID, from its agent: a PerformanceGet(PortCounters).
 * Returns false if it does not answer.
 */
bool counters_ask(const struct probe_link *l, uint16_t lid, uint8_t number,
                  struct port_counters *c);
/*
 * The same from a folder of sysfs, and from an interface. NULL: those counters are not known.
 */
void counters_read_from(const char *folder, const char *interface, struct port_counters *c);
/* The name of the file of counter I; "": the interface's changes of carrier. */
const char *counters_file(unsigned i);
/* The folder of these files; NULL: unknown. Free with g_free(). */
char *counters_folder(const struct probe_link *l);
/* True if any is known, or any of the port, not only changes of the interface's carrier. */
bool counters_are_known(const struct port_counters *c);
bool counters_of_port_are_known(const struct port_counters *c);

/* What has grown. Free the texts with g_free(); "": nothing. */
struct counter_growth {
    bool fault;         /* a counter of errors of this port or its cable grew */
    bool only_packets;  /* only port_rcv_errors grew, which a wrong ICRC increases too */
    bool only_discards; /* only port_xmit_discards grew, and what is no fault of the port */
    char *errors;       /* those that are errors */
    char *other;        /* that packets wait, which is a matter of load; that a counter was reset */
    char *full;         /* those at their maximum, whose growth would not show */
    const char *advice; /* of the first error; "": none */
};
struct counter_growth counters_compare(const struct port_counters *before,
                                       const struct port_counters *after);
void counters_growth_clear(struct counter_growth *g);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where packets to and from the peer are damaged or dropped: the error counters of the ports on the
 * path, before and after some requests. They are those of this host, of the peer, at the other ends
 * of their two cables, and of the switches between, by which the packets of either direction enter
 * and leave. They are asked only if packets are lost.
 */
#ifndef IPOIB_PROBE_PATH_ERRORS_H
#define IPOIB_PROBE_PATH_ERRORS_H

#include "probe/exchange/switches.h"
#include "probe/link/counters.h"
#include "probe/run/target.h"

/* A port whose counters are to be read: the arguments of perfquery. */
struct path_place {
    uint16_t lid;
    uint8_t port;
};

struct path_port {
    const char *of; /* whose port it is; NULL: that of a switch, to another switch */
    struct path_place at;
    struct path_place other; /* of a switch: the port at the other end of its cable */
    struct port_counters before;
};

enum { PATH_PORTS = 4 + 4 * SWITCHES_ON_PATH };

struct path_errors {
    unsigned n, n_silent;
    struct path_port ports[PATH_PORTS];
    uint16_t silent[PATH_PORTS]; /* LIDs whose agent does not show the counters */
    bool whole;                  /* all switches between the two ends are known */
};

/* Reads the counters of those ports whose agents answer. */
void path_errors_begin(struct target *t, uint16_t peer_lid, struct path_errors *e);
/*
 * What happened at the first port whose counters of errors have grown since: "packets are damaged
 * on the link between ...". NULL: no counter grew. Free with g_free(). *at: that port; unchanged if
 * there is none.
 */
char *path_errors_text(struct target *t, const struct path_errors *e, struct path_place *at);
/*
 * What is said if no counter grew: which counters could not be seen; else that none grew. NULL: no
 * agent was asked. Free with g_free().
 */
char *path_errors_unseen(const struct path_errors *e);
/* The port of the node with that LID that is connected; 1 if the SA does not say. */
struct path_place path_place_of(struct target *t, uint16_t lid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where packets to and from the peer are damaged: the error counters of four ports, this host's and
 * the peer's and those at the other ends of their two cables, before and after some requests. They
 * are asked only if packets are lost.
 */
#ifndef IPOIB_PROBE_PATH_ERRORS_H
#define IPOIB_PROBE_PATH_ERRORS_H

#include "probe/link/counters.h"
#include "probe/run/target.h"

struct path_port {
    const char *of; /* whose port it is */
    uint16_t lid;
    uint8_t number;
    struct port_counters before;
};

/* A port whose counters are to be read: the arguments of perfquery. */
struct path_place {
    uint16_t lid;
    uint8_t port;
};

struct path_errors {
    unsigned n;
    struct path_port ports[4];
};

/* Reads the counters of those ports whose agents answer. */
void path_errors_begin(struct target *t, uint16_t peer_lid, struct path_errors *e);
/*
 * The first port whose counters of errors have grown since, and its cable. NULL: no counter grew.
 * Free with g_free(). *at: that port; unchanged if there is none.
 */
char *path_errors_text(struct target *t, const struct path_errors *e, struct path_place *at);
/* The port of the node with that LID that is connected; 1 if the SA does not say. */
struct path_place path_place_of(struct target *t, uint16_t lid);

#endif

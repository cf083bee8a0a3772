/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where packets to and from a peer that replies are lost: more requests, and the ports on the path.
 */
#ifndef IPOIB_PROBE_PATH_LOSS_H
#define IPOIB_PROBE_PATH_LOSS_H

#include "probe/exchange/path_errors.h"
#include "probe/run/target.h"

struct path_loss {
    char *text;           /* where, or which counters could not be seen; NULL: nothing is known */
    bool fault;           /* the text names a port */
    struct path_place at; /* that port, else the peer's */
    unsigned sent, lost;  /* the requests, and those without a reply */
};

/* Sends 60 requests by unicast. Free the text with g_free(). */
struct path_loss path_loss_find(struct target *t);
/* The advice of the last stage: whose counters are to be read. */
void path_loss_advise(struct target *t, const struct path_loss *l);
/*
 * This host's ping is answered only sometimes. Adds that stage and returns true if packets of the
 * probe are lost too, or a port on the path counts errors. how: a sentence about the ping.
 */
bool path_loss_report_pings(struct target *t, const char *stage, const char *how);

#endif

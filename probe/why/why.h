/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a peer does not reply: one cause, its evidence and a command. The causes are a table that is
 * walked in order, from this host outwards (why.c); the first one that holds is reported.
 */
#ifndef IPOIB_PROBE_WHY_H
#define IPOIB_PROBE_WHY_H

#include "probe/run/target.h"

/*
 * Finds the cause and adds it as the stage peer.no-reply, which is inconclusive. link_error: why
 * the link could not be opened; NULL: it is open. Waits for a late reply unless this host's side
 * explains the silence. Returns the stage's text, to be freed with g_free(). NULL: the run ended.
 */
char *why_no_reply(struct target *t, const char *link_error);

/*
 * The same words about a peer that has replied and has just fallen silent, within about half a
 * second: asks the SA and the managers of its port, and waits for no late reply. Adds no stage.
 * NULL: nothing is known. Free with g_free().
 */
char *why_silent(struct target *t);

/* The same for a host that replied in an earlier run, from that GID; NULL: unknown. */
char *why_gone(struct target *t, const uint8_t *gid);

/* Call it before the first request: notes what the port has dropped so far. */
void why_begin(struct target *t);
enum own_side {
    OWN_SIDE_GOOD,
    OWN_SIDE_REPAIRED, /* the membership that was lost: the probe joined, so ping may work */
    OWN_SIDE_FAILS
};
/*
 * The peer replies, but would this host's kernel reach it? Not if it has no interface there, or one
 * that is down, if its route is another one, or its neighbour table has an old address. Then, and
 * if something was repaired, adds the stage peer.own-side, which has failed; if it fails, the
 * target's word is that.
 */
enum own_side why_own_side(struct target *t);

#endif

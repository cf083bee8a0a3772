/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions whose answers take time: all are asked first, and then awaited together, so that
 * several silent ports cost the wait of one.
 */
#ifndef IPOIB_PROBE_QUESTIONS_H
#define IPOIB_PROBE_QUESTIONS_H

#include "probe/exchange/path_errors.h"
#include "probe/why/diagnosis.h"

/*
 * Asks once: the SA about the known address, the peer by unicast and its communication manager,
 * and up to three other neighbours. Takes 1.3 s plus the SA's response times.
 */
void questions_ask(struct diagnosis *d);
/* The same without other neighbours and without a wait for late replies of the peer. */
void questions_ask_soon(struct diagnosis *d);
/* Asks the queue pair at that link-layer address for the target. True: it replies. Takes 0.2 s. */
bool questions_replies_at(struct diagnosis *d, const uint8_t *lladdr);
/* Sends one neighbour solicitation for that IPv6 address to its group. */
void questions_solicit(struct target *t, const uint8_t *ip, const struct mc_group *g);
/*
 * More requests, to see which port counts errors meanwhile; if none does, which do not show them.
 * NULL: no agent was asked. Free with g_free().
 */
char *questions_find_damage(struct diagnosis *d, struct path_place *at);
/* Other neighbours reply to their queue pairs, and none of them to the group. */
bool questions_group_reaches_nobody(const struct diagnosis *d);
/* The milliseconds from the first request to the group to its reply, which is late; 0: none. */
unsigned questions_late_ms(const struct diagnosis *d);

#endif

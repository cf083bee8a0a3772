/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has the peer's IP address? What another port sends in the peer's name is a finding about the
 * address and no failure of the peer; a peer that changes is found again; a proxy is named.
 */
#ifndef IPOIB_PROBE_OWNER_H
#define IPOIB_PROBE_OWNER_H

#include "probe/question.h"

/* The peer is where this answer came from. */
void owner_take(struct target *t, const struct answer *a);
/*
 * Two send with one link-layer address, and the one that was taken for the peer is not reached
 * there: takes the other. False: there is none.
 */
bool owner_swap(struct target *t);
/* By unicast the peer answered so: who else sent with its link-layer address is another. */
void owner_settle(struct target *t, const struct answer *a);

/*
 * Does it come from the peer? By LID and QPN; through a network interface, which shows neither, by
 * the link-layer address that it announces.
 */
bool is_from_peer(const struct target *t, const struct ud_from *from);
/* The same; and, as long as the peer is not found, whatever names its IP address. */
bool is_of_peer(const struct target *t, const struct ud_from *from);
/* Does it name the peer's IP address as its sender's, though its lengths may be wrong? */
bool names_peer(const struct target *t, const struct ud_from *from);

/*
 * Has another one announced the peer's IP address, or does it within a moment (ARP flux)? Then it
 * is the peer's rival.
 */
bool find_rival(struct target *t);

/* A packet came: notes who else has the address, and who answers for addresses that nobody has. */
void owner_hear(struct target *t, const struct ud_from *from);
/* The peer answered a request that went out at that time. */
void owner_answered(struct target *t, gint64 sent);

/*
 * Before the checks: findings are held until it is known whose packets they rest on; afterwards
 * those about packets of others are dropped. came: has the peer been found?
 */
void owner_sort(struct target *t, bool found);

/*
 * After a check: were the findings that it holds seen of one peer? If it may have changed, it is
 * asked for at its place, and by multicast; what was compared across a change is inconclusive.
 */
void owner_confirm(struct target *t, gint64 begin);

/* Asks for some addresses that nobody should have: who answers for them all is a proxy. */
void owner_ask_nobody(struct target *t);

/* After the checks: a second owner, and a proxy. */
void owner_tell(struct target *t);

/*
 * All 20 octets, and in the form that people use: QPN, GID and LID; also who sends, where that is
 * another queue pair than the announced one.
 */
enum { OWNER_TEXT = 256 };
void owner_text(const struct owner *w, char *out, size_t size);

#endif

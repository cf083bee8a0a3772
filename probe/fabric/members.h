/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many groups have no member. An SA tells it only to who has its SM_Key. */
#ifndef IPOIB_PROBE_MEMBERS_H
#define IPOIB_PROBE_MEMBERS_H

#include <glib.h>

#include "probe/run/target.h"

struct group_members {
    bool known, sampled;
    unsigned asked, without; /* groups; valid if known is set */
    char why_not[160];       /* otherwise */
};

/*
 * Counts those among that many groups in the table of all members. It may be large: only for a
 * subnet that has few MLIDs left.
 */
void members_count(struct target *t, unsigned groups, struct group_members *m);
/* Asks for some of the groups, if there are many (mgids: of 16 bytes each), with a query for each.
 */
void members_sample(struct target *t, const GPtrArray *mgids, struct group_members *m);
/* At least half of the groups that were asked for have no member. */
bool members_lack_mostly(const struct group_members *m);
/* For a report, to be freed; "": nothing is worth saying unless wanted is set. */
char *members_text(const struct group_members *m, bool wanted);

#endif

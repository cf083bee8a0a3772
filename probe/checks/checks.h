/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of a peer: each asks something, and reports of one or several rules what the answer
 * shows. Each file has a table of its checks; table.c lists the tables.
 */
#ifndef IPOIB_PROBE_CHECKS_H
#define IPOIB_PROBE_CHECKS_H

#include "probe/exchange/question.h"
#include "probe/run/options.h"
#include "probe/run/target.h"

enum check_needs {
    NEEDS_SOURCE = 1,      /* an address of the probe's own, of the target's family */
    NEEDS_DISRUPTIVE = 2,  /* --disruptive */
    NEEDS_IPV4 = 4,        /* a target of IPv4 */
    NEEDS_IPV6 = 8,        /* a target of IPv6 */
    NEEDS_CONNECTIONS = 16 /* a peer that announces connected mode, and a transport that has it */
};

enum { CHECK_RULES = 10 };

struct check {
    const char *name;
    unsigned needs;     /* of check_needs */
    unsigned transport; /* capabilities that it needs */
    void (*run)(struct target *t);
    const char *sends, *expects; /* in words, for --list and --dry-run */
    enum rule_number rules[CHECK_RULES];
    unsigned n_rules;
};

struct check_table {
    const struct check *checks;
    unsigned n;
};

extern const struct check_table multicast_checks, membership_checks, resolution_checks,
    solicitation_checks, path_checks, key_checks, reply_to_ud_checks, connection_checks,
    connection_resolution_checks, connection_end_checks, connection_ip_checks, echo_checks;

/* The checks of all tables, in order; NULL after the last. */
const struct check *check_at(unsigned i);
/* Is any of its rules selected? */
bool check_selected(const struct check *c, const struct selection *s);

/*
 * Runs the checks of a peer (run_peer.c). first: what it answered already; NULL: it is to be asked.
 */
void run_peer(struct target *t, const struct answer *first);

#endif

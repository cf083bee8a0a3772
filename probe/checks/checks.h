/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a peer. Each sends requests and reports what the responses show about one or several
 * rules. Each file has a table of its checks; table.c lists the tables.
 */
#ifndef IPOIB_PROBE_CHECKS_H
#define IPOIB_PROBE_CHECKS_H

#include "probe/exchange/request.h"
#include "probe/run/options.h"
#include "probe/run/target.h"

enum check_needs {
    NEEDS_SOURCE = 1,      /* the probe has its own address, of the target's family */
    NEEDS_DISRUPTIVE = 2,  /* --disruptive */
    NEEDS_IPV4 = 4,        /* an IPv4 target */
    NEEDS_IPV6 = 8,        /* an IPv6 target */
    NEEDS_CONNECTIONS = 16 /* the peer announces connected mode and the transport supports it */
};

enum { CHECK_RULES = 10 };

struct check {
    const char *name;
    unsigned needs;     /* of check_needs */
    unsigned transport; /* required capabilities of the transport */
    void (*run)(struct target *t);
    const char *sends, *expects; /* descriptions for --list and --dry-run */
    enum rule_number rules[CHECK_RULES];
    unsigned n_rules;
    bool of_deaf;      /* it runs although no unicast reaches the peer's queue pair */
    const char *stage; /* a stage that it reports too; NULL: none */
};

struct check_table {
    const struct check *checks;
    unsigned n;
};

extern const struct check_table multicast_checks, membership_checks, resolution_checks,
    solicitation_checks, path_checks, key_checks, reply_to_ud_checks, connection_checks,
    connection_resolution_checks, connection_end_checks, connection_ip_checks,
    connection_mtu_checks, echo_checks, rdma_cm_checks;

/* The checks of all tables, in order; NULL after the last one. */
const struct check *check_at(unsigned i);
/* True if any of its rules, or its stage, is selected by --only. */
bool check_selected(const struct check *c, const struct options *o);

/* What to do if the peer violates the rule (advice.c); NULL: its page says it. */
const char *check_advice(enum rule_number rule);

/*
 * Runs the checks of a peer (run_peer.c). first: a response that it has already sent; NULL: none.
 */
void checks_run_peer(struct target *t, const struct response *first);

#endif

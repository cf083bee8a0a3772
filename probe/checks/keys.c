/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that requests with wrong keys get no response: a wrong Q_Key, and the P_Key of another
 * partition (RFC 4391 §9.1, IBA 10.9).
 */
#include <stdio.h>

#include "probe/checks/checks.h"
#include "probe/checks/variant.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/*
 * The request must get no response. A plain request afterwards shows whether the peer responds at
 * all. what: the wrong key.
 */
static void assess_wrong_key(struct target *t, enum rule_number rule, const struct request *wrong,
                             const char *what)
{
    char actual[80];
    struct request q = variant_plain_request(t), sure = *wrong;
    struct exchange x = exchange_run(t, wrong, TRIES);
    sure.alone = true;
    if (x.outcome ==
        RESPONSE_RECEIVED) /* or the network duplicated the response to another request */
        x = exchange_run(t, &sure, TRIES);
    struct exchange plainly = x;
    if (x.outcome == NO_RESPONSE)
        plainly = exchange_run(t, &q, TRIES);
    bool there = x.outcome == NO_RESPONSE && plainly.outcome == RESPONSE_RECEIVED;
    results_show(t->results, x.sent, plainly.received);
    if (x.outcome == RESPONSE_RECEIVED) {
        snprintf(actual, sizeof actual, "answered with %s", what);
        results_add(t->results, rule, rules[rule].level == RULE_INFO ? OUTCOME_NOTED : OUTCOME_FAIL,
                    "no reply", actual);
    } else if (there) {
        snprintf(actual, sizeof actual, "%s is not answered", what);
        results_received(t->results,
                         "no reply to %d of them; a reply to an unchanged request after them",
                         TRIES);
        results_add(t->results, rule, OUTCOME_PASS, "", actual);
    } else
        results_add(t->results, rule, OUTCOME_INCONCLUSIVE, "no reply",
                    x.outcome == NOT_SENT ? x.received : "the peer no longer replies");
}

static void check_wrong_qkey(struct target *t)
{
    assess_wrong_key(t, R_RFC4391_9_1_QKEY_MATCH,
                     &(struct request){.grh = t->peer->needs_grh, .qkey = t->link->group.qkey ^ 1},
                     "a wrong Q_Key");
}

/* Index of another partition's P_Key in this port's table; the table's size if there is none. */
static unsigned find_other_partition(const struct target *t)
{
    const struct port_facts *f = &t->link->transport->facts;
    unsigned i = 0;
    while (i < f->n_pkeys && (!(f->pkeys[i] & 0x7fff) || !((f->pkeys[i] ^ t->link->pkey) & 0x7fff)))
        i++;
    return i;
}

/*
 * An adapter sends only with P_Keys of its own table. Any other P_Key of the table is wrong for the
 * peer's queue pair, even if the peer's port is in that partition too, because a queue pair belongs
 * to one partition (IBA 10.9).
 */
static void check_wrong_pkey(struct target *t)
{
    unsigned other = find_other_partition(t);
    if (other == t->link->transport->facts.n_pkeys)
        results_skip(
            t->results, R_PARTITION_INVALID_DROPPED,
            "this port is in only one partition, and an adapter sends only with the P_Keys of its table");
    else if (t->link->transport->ops->open_other_partition(t->link->transport, other) !=
             TRANSPORT_OK)
        results_skip(t->results, R_PARTITION_INVALID_DROPPED, t->link->transport->error);
    else
        assess_wrong_key(t, R_PARTITION_INVALID_DROPPED,
                         &(struct request){.grh = t->peer->needs_grh, .other_partition = true},
                         "the P_Key of another partition");
}

static const struct check checks[] = {
    {.name = "q-key",
     .needs = NEEDS_DISRUPTIVE,
     .transport = HAS_OWN_QP,
     .run = check_wrong_qkey,
     .sends = "ARP request (IPv6: NS from ::) by unicast, with a wrong Q_Key",
     .expects = "no reply",
     RULES(R_RFC4391_9_1_QKEY_MATCH)},
    {.name = "p-key",
     .needs = NEEDS_DISRUPTIVE,
     .transport = HAS_OWN_QP,
     .run = check_wrong_pkey,
     .sends =
         "ARP request (IPv6: NS from ::) by unicast, with the P_Key of another partition, if this port is in one",
     .expects = "no reply",
     RULES(R_PARTITION_INVALID_DROPPED)},
};
const struct check_table key_checks = {checks, G_N_ELEMENTS(checks)};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of connection teardown, and rules about connections that a program cannot observe (RFC
 * 4755 §3.3, 5.1, 6).
 */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected.h"
#include "probe/exchange/connection.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static bool goes_up(struct target *t, const struct dial *d, char came[VERDICT_TEXT])
{
    struct call *c = dial(t, d, came);
    bool up = is_up(c);
    hang_up(t, c);
    return up;
}

static void check_connection_end(struct target *t)
{
    char came[VERDICT_TEXT];
    struct dial d = plain_dial(t);
    struct call *c = dial(t, &d, came);
    bool up = is_up(c);
    if (!up) {
        add_result(t, R_RFC4755_2_RFC4391_SUPPORTED, OUTCOME_INCONCLUSIVE,
                   "a connection to be ended", came);
        hang_up(t, c);
        return;
    }
    bool answered = hang_up(t, c);
    bool there = answers_over_ud(t);
    add_result(t, R_RFC4755_2_RFC4391_SUPPORTED, there ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
               "an answer",
               there ? "it answers over UD after the connection's end"
                     : "the peer no longer answers at all");
    bool again = goes_up(t, &d, came);
    results_stage(t->results, "peer.disconnect", OUTCOME_NOTED, "",
                  "the DREQ is %s; a further REQ behind it is %s",
                  answered ? "answered by a DREP" : "not answered", again ? "accepted" : came);
}

/*
 * A stock kernel does not let a program accept IPoIB's REQs. rdma_cm interprets the first byte of a
 * REQ's private data as the version of its own header and requires 0, even if it puts no header
 * there.
 */
static void check_connection_unseen(struct target *t)
{
    static const struct {
        enum rule_number rule;
        const char *why;
    } unseen[] = {
        {R_RFC4755_3_3_SIMULTANEOUS,
         "a REQ of the peer's shows it, which this host's kernel answers itself and gives to no program"},
        {R_RFC4755_5_1_RECEIVE_MTU,
         "a REQ of the peer's shows it, which this host's kernel answers itself and gives to no program"},
        {R_RFC4755_5_1_SMALLER_MTU_ACCEPTED,
         "the peer shows it as the requester: its REQs are answered by this host's kernel"},
        {R_RFC4755_6_RESERVED_IGNORED,
         "this host's kernel writes 0 into that octet, whatever a program sends there"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(unseen); i++)
        results_skip(t->results, unseen[i].rule, unseen[i].why);
}

static const struct check checks[] = {
    {.name = "connection-end",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_end,
     .sends = "DREQ, then a question over UD and a further REQ",
     .expects = "an answer over UD; what comes of the rest is told",
     RULES(R_RFC4755_2_RFC4391_SUPPORTED)},
    {.name = "connection-unseen",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_unseen,
     .sends =
         "nothing: this host's kernel takes the peer's REQs, and writes 0 into the Reserved octet of the probe's",
     .expects = "nothing: what that hides is told as skipped",
     RULES(R_RFC4755_3_3_SIMULTANEOUS, R_RFC4755_5_1_RECEIVE_MTU,
           R_RFC4755_5_1_SMALLER_MTU_ACCEPTED, R_RFC4755_6_RESERVED_IGNORED)},
};
const struct check_table connection_end_checks = {checks, G_N_ELEMENTS(checks)};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for the checks of connections. See connected.h. */
#include "probe/checks/connected.h"

#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct dial plain_dial(const struct target *t)
{
    return (struct dial){.uc = uc_by_default(t)};
}

void add_result(struct target *t, enum rule_number rule, enum outcome outcome, const char *expected,
                const char *actual)
{
    results_add(t->results, rule, outcome, outcome == OUTCOME_PASS ? "" : expected, actual);
}

bool answers_over_ud(struct target *t)
{
    const struct question q = {.grh = t->peer->needs_grh, .alone = true};
    return exchange_run(t, &q, TRIES).outcome == CAME_ANSWER && !target_ended(t);
}

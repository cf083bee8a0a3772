/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for the checks of connections. See connected.h. */
#include "probe/checks/connected.h"

#include "probe/exchange/connection.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

struct connect_options connected_default_options(const struct target *t)
{
    return (struct connect_options){.uc = peer_default_uc(t)};
}

void connected_add_result(struct target *t, enum rule_number rule, enum outcome outcome,
                          const char *expected, const char *actual)
{
    results_add(t->results, rule, outcome, outcome == OUTCOME_PASS ? "" : expected, actual);
}

bool connected_try_ud(struct target *t)
{
    const struct request q = {.grh = t->peer->needs_grh, .alone = true};
    return exchange_run(t, &q, TRIES).outcome == RESPONSE_RECEIVED && !target_ended(t);
}

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

bool connected_is_broken(struct target *t, char why[VERDICT_TEXT])
{
    const struct peer *p = t->peer;
    char response[VERDICT_TEXT] = "";
    if (connection_obstacle(t) || peer_default_uc(t) || p->messages_acknowledged)
        return false;
    if (!p->no_connection[0] && !peer_loses_messages(p))
        connected_try_message(t, response);
    if (p->no_connection[0])
        g_strlcpy(why, p->no_connection, VERDICT_TEXT);
    else if (p->messages_lost)
        g_strlcpy(why, "messages over them are not acknowledged", VERDICT_TEXT);
    else
        g_strlcpy(why, response, VERDICT_TEXT);
    return !p->messages_acknowledged && !target_ended(t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of connection teardown (RFC 4755 §2, 3.4). */
#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/connected.h"
#include "probe/exchange/connection.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static bool opens_connection(struct target *t, const struct connect_options *d,
                             char response[VERDICT_TEXT])
{
    struct cm_connection *c = peer_connect(t, d, response);
    bool up = connection_is_up(c);
    peer_disconnect(t, c);
    return up;
}

static void check_connection_end(struct target *t)
{
    char response[VERDICT_TEXT];
    struct connect_options d = connected_default_options(t);
    struct cm_connection *c = peer_connect(t, &d, response);
    bool up = connection_is_up(c);
    if (!up) {
        connected_add_result(t, R_RFC4755_2_RFC4391_SUPPORTED, OUTCOME_INCONCLUSIVE,
                             "a connection to be ended", response);
        peer_disconnect(t, c);
        return;
    }
    bool answered = peer_disconnect(t, c);
    bool there = connected_try_ud(t);
    connected_add_result(
        t, R_RFC4755_2_RFC4391_SUPPORTED, there ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE, "a reply",
        there ? "it replies over UD after the connection's end" : "the peer no longer replies");
    bool again = opens_connection(t, &d, response);
    results_stage(t->results, "peer.disconnect", OUTCOME_NOTED, "",
                  "the DREQ is %s; a further REQ after it is %s",
                  answered ? "answered by a DREP" : "not answered", again ? "accepted" : response);
}

static const struct check checks[] = {
    {.name = "connection-end",
     .stage = "peer.disconnect",
     .needs = NEEDS_CONNECTIONS,
     .run = check_connection_end,
     .sends = "DREQ, then a request over UD and a further REQ",
     .expects = "a reply over UD; the results of the rest are reported",
     RULES(R_RFC4755_2_RFC4391_SUPPORTED)},
};
const struct check_table connection_end_checks = {checks, G_N_ELEMENTS(checks)};

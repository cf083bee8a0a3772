/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See path_loss.h. */
#include "probe/checks/path_loss.h"

#include "probe/checks/numbers.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/link/advice.h"
#include "probe/run/results.h"

static void send_requests(struct target *t, struct path_loss *l)
{
    enum { REQUESTS = 60 };
    const struct tally_form before = tally_sum(&t->peer->tally);
    exchange_burst(t, false, REQUESTS);
    const struct tally_form after = tally_sum(&t->peer->tally);
    l->sent = after.packets - before.packets;
    l->lost = l->sent - MIN(l->sent, after.responses - before.responses);
}

struct path_loss path_loss_find(struct target *t)
{
    struct path_loss l = {.at = path_place_of(t, t->peer->lid)};
    struct path_errors errors;
    if (t->yield || target_ended(t)) /* the targets of a sweep share the path */
        return l;
    path_errors_begin(t, t->peer->lid, &errors);
    send_requests(t, &l);
    l.text = path_errors_text(t, &errors, &l.at);
    l.fault = l.text != NULL;
    if (!l.fault)
        l.text = path_errors_unseen(&errors);
    return l;
}

void path_loss_advise(struct target *t, const struct path_loss *l)
{
    struct port_words w;
    if (!l->at.lid)
        return;
    advice_name_port(t->link, &w);
    results_advise(t->results, "perfquery %s %u %u; ibqueryerrors %s: errors of the links to it",
                   w.diags, l->at.lid, l->at.port, w.diags);
}

bool path_loss_report_pings(struct target *t, const char *stage, const char *how)
{
    enum { LOST_ENOUGH = 2 };
    struct path_loss l = path_loss_find(t);
    bool lost = l.fault || (l.lost >= LOST_ENOUGH && !numbers_may_be_late(t));
    if (lost) {
        results_stage(t->results, stage, l.fault ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE, "",
                      "%s, and %u of %u requests of the probe are lost too: %s%s", how, l.lost,
                      l.sent, l.fault ? "" : "packets are lost on the path; ",
                      l.text ? l.text : "the counters of its ports are not known");
        path_loss_advise(t, &l);
        t->peer->pings_lost = l.fault;
    }
    g_free(l.text);
    return lost;
}

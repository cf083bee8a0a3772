/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends packets at the requested rate. See send.h. */
#include "probe/link/send.h"

#include <string.h>

#include "hca/mcgroup.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/mgid.h"

bool send_note_result(struct target *t, enum transport_result result)
{
    if (result == TRANSPORT_STOPPED)
        t->run->stopped = true;
    if (result == TRANSPORT_ERROR)
        t->run->broken = true;
    return target_ended(t);
}

/* A delay of up to this time may be made up for, so that the average rate is right. */
enum { BURST_US = 10000 };

gint64 rate_wait(const struct run *r)
{
    gint64 left = r->next_slot - g_get_monotonic_time();
    return MAX(left, 0);
}

void rate_take(struct run *r)
{
    r->next_slot = MAX(r->next_slot, g_get_monotonic_time() - BURST_US) +
                   G_USEC_PER_SEC / r->options->rate;
}

static void keep_rate(struct run *r)
{
    gint64 wait = rate_wait(r);
    if (wait)
        g_usleep((gulong)wait);
    rate_take(r);
}

static bool send_to(struct target *t, const struct ud_to *to, const uint8_t *bytes, uint32_t n)
{
    if (target_ended(t))
        return false;
    keep_rate(t->run);
    if (*t->run->stop) {
        t->run->stopped = true;
        return false;
    }
    wirelog_ud_sent(t->log, t->link->transport, t->link->pkey, to, bytes, n);
    t->run->last_sent = g_get_monotonic_time();
    return !send_note_result(t, t->link->transport->ops->send(t->link->transport, to, bytes, n));
}

bool send_unicast(struct target *t, const struct ud_to *to, const uint8_t *bytes, uint32_t n)
{
    return send_to(t, to, bytes, n);
}

bool send_message(struct target *t, struct cm_connection *c, const uint8_t *bytes, uint32_t n)
{
    if (target_ended(t) || c->dead)
        return false;
    keep_rate(t->run);
    wirelog_message(t->log, t->link->transport, c, view_make(bytes, n, n), LOG_SENT);
    t->run->last_sent = g_get_monotonic_time();
    enum transport_result result = t->link->transport->ops->send_connected(t->link->transport, c,
                                                                           bytes, n);
    return !send_note_result(t, result) && result == TRANSPORT_OK;
}

bool send_group(struct target *t, const struct mc_group *g, const uint8_t *bytes, uint32_t n)
{
    struct ud_to to = {.lid = g->mlid,
                       .sl = g->sl,
                       .hop_limit = g->hop_limit,
                       .tclass = g->tclass,
                       .flow_label = g->flow_label,
                       .qpn = QPN_MULTICAST,
                       .qkey = t->link->group.qkey,
                       .grh = true};
    memcpy(to.gid, g->mgid, 16);
    return send_to(t, &to, bytes, n);
}

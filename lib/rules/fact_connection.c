/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about connections: a CM message can outdate them. */
#include "rules/certainty.h"

/* Was a GSI packet of either end not captured since the REP? */
struct certainty certainty_open(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    (void)s;
    for (unsigned i = 0; i < 2; i++)
        if (!c->endport[i] || c->endport[i]->gap_frame > c->rep_frame)
            return uncertain("its DREQ may not have been captured");
    return certain();
}

/*
 * Data from the responder is captured in order with its REP. Data from the requester may be
 * captured before the REP although it was sent after it.
 */
struct certainty certainty_early_data(const struct check_context *s, const struct fact *f)
{
    const struct connection *c = f->connection;
    bool by_responder = c->requester.flow.early_frame > c->req_frame;
    bool in_order = !order_is_uncertain(&s->f->order, c->responder.flow.early_frame);
    return certain_if(by_responder || in_order, "the REP may have come before the IP: they are too "
                                                "close to each other");
}

struct certainty certainty_refused(const struct check_context *s, const struct fact *f)
{
    (void)s;
    (void)f;
    return certain();
}

/* A connection has its ends by its own REQ. */
struct certainty certainty_ends(const struct check_context *s, const struct fact *f)
{
    (void)s;
    (void)f;
    return certain();
}

struct certainty certainty_receive_mtus(const struct check_context *s, const struct fact *f)
{
    (void)s;
    return certain_if(connection_mtu(f->connection) != 0, "the REQ or the REP was not captured");
}

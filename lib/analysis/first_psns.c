/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PSNs with which connections begin: the REQ names that of the responder's packets, the REP
 * that of the requester's (IBA 12.7.31). A receiver refuses a sender that begins with another one.
 */
#include "analysis/watch.h"

/* A cache, by the connection's number. */
enum { CONNECTIONS = 1 << 10 };

struct first_psns {
    struct first_psn {
        uint32_t connection, psn, frame; /* connection 0: unused */
    } all[2 * CONNECTIONS];              /* to the responder, to the requester */
};

NEW_HISTORY(first_psns, first_psns_new)

static struct first_psn *place_of(const struct watch *w, const struct connection *c,
                                  bool to_requester)
{
    return &w->first_psns->all[c->number % CONNECTIONS * 2 + to_requester];
}

void watch_first_psn(const struct watch *w, const struct cm *cm, const struct connection *c)
{
    if (!packet_is_corrupt(w->p))
        *place_of(w, c, cm->message == CM_REQ) = (struct first_psn){c->number, cm->psn,
                                                                    w->p->at.frame};
}

uint32_t first_psn_frame(const struct watch *w, bool to_requester, uint32_t psn)
{
    const struct connection *c = w->p->classification.connection;
    const struct first_psn *f = place_of(w, c, to_requester);
    return f->connection == c->number && f->psn == psn ? f->frame : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was not seen or not judged in a packet, and in the fabric (model/unseen.h). */
#include "model/fabric_state.h"

/* Why ib_decode() says that the packet is not InfiniBand's transport. */
static enum unseen_kind foreign_kind(const struct ib_packet *ib)
{
    if (ib->lver != 0 || ib->tver != 0)
        return UNSEEN_VERSION;
    return ib->has_bth ? UNSEEN_OPCODE : UNSEEN_RAW;
}

static void count_headers(struct unseen *u, const struct packet *p)
{
    if (p->result == WIRE_TRUNCATED)
        unseen_add(u, UNSEEN_TRUNCATED, 1, p->at.frame);
    else if (p->result == WIRE_MALFORMED)
        unseen_add(u, UNSEEN_MALFORMED, 1, p->at.frame);
    else if (p->result == WIRE_FOREIGN)
        unseen_add(u, foreign_kind(&p->ib), 1, p->at.frame);
}

/* Is it an IPoIB message, or management? Of other packets the contents are not judged. */
static bool is_judged(const struct packet *p)
{
    enum payload_class class = p->classification.class;
    return class == PAYLOAD_MAD || class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT;
}

static void count_contents(struct unseen *u, const struct packet *p)
{
    bool is_mad = p->classification.class == PAYLOAD_MAD;
    bool is_corrupt = packet_is_corrupt(p);
    unseen_add(u, UNSEEN_CORRUPT, is_corrupt, p->at.frame);
    if (is_mad && (p->mad.result == WIRE_MALFORMED || p->ib.payload.len < MAD_SIZE))
        unseen_add(u, UNSEEN_MALFORMED, 1, p->at.frame);
    else if (p->bytes.cap < p->bytes.len)
        unseen_add(u, UNSEEN_CONTENTS, 1, p->at.frame);
    if (!is_mad)
        unseen_add_datagram(u, is_corrupt || p->is_marked, p->at.frame);
}

void unseen_packet(struct unseen *u, const struct packet *p)
{
    unseen_add(u, UNSEEN_MARKED, p->is_marked, p->at.frame);
    if (is_judged(p))
        count_contents(u, p);
    else if (!packet_lacks_ib(p))
        count_headers(u, p);
}

/* ---- at the end of the capture */

static void count_requests(struct unseen *u, const struct connections *all)
{
    for (unsigned i = 0; i < connections_count(all); i++) {
        const struct connection *c = connections_at(all, i);
        if (connection_is_ipoib(c) && c->req_frame && !connection_has_response(c))
            unseen_add(u, UNSEEN_REQUESTS, 1, c->req_frame);
    }
}

struct unseen fabric_unseen(const struct fabric *f)
{
    struct unseen u = f->unseen;
    unseen_add(&u, UNSEEN_MESSAGES, connections_incomplete_messages(f->connections), 0);
    unseen_add(&u, UNSEEN_CRCS, sources_without_right(f->sources), 0);
    count_requests(&u, f->connections);
    return u;
}

struct unseen *fabric_count_unseen(struct fabric *f)
{
    return &f->unseen;
}

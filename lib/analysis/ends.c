/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/ends.h"

/* With the LID that the port has now. */
static struct sender known_side(const struct watch *w, const struct connection *c, bool requester)
{
    struct sender s = sender_of_endport(c->endport[requester ? 0 : 1]);
    uint16_t lid = port_to_lid((requester ? &c->requester : &c->responder)->flow.id.port);
    return s.known ? s : sender_of_lid(w, lid);
}

struct sender sender_of_side_at(const struct watch *w, const struct connection *c, bool requester,
                                uint16_t lid)
{
    struct sender s = known_side(w, c, requester);
    if (lid) {
        s.lid = lid;
        s.known |= SENDER_LID;
    }
    return s;
}

struct sender sender_of_side(const struct watch *w, const struct connection *c, bool requester)
{
    const struct packet *p = w->p;
    bool by_requester = p->classification.class == PAYLOAD_MAD
                            ? connection_is_by_requester(c, packet_cm(p), p->src)
                            : !p->classification.to_requester;
    uint16_t lid = requester == by_requester ? p->ib.slid : p->ib.dlid;
    return sender_of_side_at(w, c, requester, p->ib.has_lrh ? lid : 0);
}

struct event_key key_of_ends(const struct watch *w, enum event_kind kind,
                             const struct connection *c, uint64_t number)
{
    struct sender one = known_side(w, c, true), other = known_side(w, c, false);
    return event_key(w, kind, one.gid, other.gid,
                     number << 32 | (uint64_t)one.lid << 16 | other.lid);
}

const char *end_text(const struct watch *w, const struct connection *c, bool requester,
                     char text[SENDER_TEXT_SIZE])
{
    struct sender s = sender_of_side(w, c, requester);
    return sender_text(text, &s);
}

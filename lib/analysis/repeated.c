/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that are the same packet as an earlier one, with its PSN. A tap has one twice; a sender
 * that does not count its PSNs, as some subnet management interfaces, sends it again because it has
 * no answer. The time tells them apart (question_ask()): so such a packet is only asked again, and
 * shows nothing else.
 */
#include "analysis/smps.h"

static void watch_repeated_sa(const struct watch *w)
{
    const struct sa *sa = &w->p->mad.sa;
    if (sa->rmpp_type > RMPP_TYPE_DATA)
        return;
    if (!(sa->mad.method & MAD_RESPONSE))
        watch_sa_requests(w);
    else if (sa->rmpp_type == RMPP_TYPE_DATA)
        watch_segment(w);
}

static void watch_repeated_smp(const struct watch *w)
{
    watch_route(w);
    const struct port port = smp_port(w);
    if (port.id && !(w->p->mad.mad.method & MAD_RESPONSE))
        watch_smp_request(w, port);
}

static void watch_repeated_mad(const struct watch *w)
{
    const struct mad_payload *m = &w->p->mad;
    if (!m->has_header)
        return;
    if (m->kind == MAD_KIND_SA)
        watch_repeated_sa(w);
    else if (m->kind == MAD_KIND_CM)
        watch_connection_question(w);
    else if (m->kind == MAD_KIND_SMP)
        watch_repeated_smp(w);
    else if (m->kind == MAD_KIND_OTHER && !(m->mad.method & MAD_RESPONSE))
        watch_mad_requests(w);
}

void watch_same_again(const struct watch *w)
{
    const struct datagram *d = &w->p->datagram;
    if (w->p->classification.class == PAYLOAD_MAD)
        watch_repeated_mad(w);
    else if (w->p->classification.class == PAYLOAD_IPOIB && packet_begins_message(w->p) &&
             d->header == WIRE_OK && (d->encap.type == TYPE_ARP || d->icmpv6.p))
        watch_address_requests(w);
}

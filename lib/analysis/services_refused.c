/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services other than IPoIB that refuse a host each time: Lustre, NFS, iSER, SRP. One refusal is
 * no trouble: a program looks whether somebody listens, or what it can get, and ipoib-probe
 * connects to a service that nobody offers. A program that needs the service tries again and
 * again.
 */
#include <inttypes.h>

#include "analysis/ends.h"
#include "model/mix.h"

enum { SERVICES = 1 << 6, TIMES = 3, LASTS_MS = 1000, PAUSE_MS = 45000 };
enum { REJ_OF_REQ = 0, REASON_CM_REDIRECTION = 24, REASON_PORT_REDIRECTION = 25 };

/* A cache. times 0: unused. */
struct services {
    struct service {
        uint64_t from, to, id; /* ports of both ends; Service-ID */
        uint32_t number;       /* of the last connection that was refused */
        uint32_t times, frame; /* in a row, and the first of them */
        uint16_t reason;
        int64_t first_ms, last_ms;
    } all[SERVICES];
};

NEW_HISTORY(services, services_new)

static uint64_t hash_of(const struct connection *c)
{
    return mix_two(c->service_id, c->requester.flow.id.port.id, c->responder.flow.id.port.id);
}

static struct service *service_of(const struct watch *w, const struct connection *c)
{
    uint64_t from = c->requester.flow.id.port.id, to = c->responder.flow.id.port.id;
    struct service *s = &w->services->all[hash_of(c) >> 32 & (SERVICES - 1)];
    if (s->from != from || s->to != to || s->id != c->service_id)
        *s = (struct service){.from = from, .to = to, .id = c->service_id};
    return s;
}

/* "RDMA IP CM (TCP port space), port 988". The last two bytes are the port (IBA annex A11). */
static const char *service_text(char text[80], const struct connection *c)
{
    enum cm_service service = (enum cm_service)c->service;
    const char *name = names_find(cm_service_names, service);
    if (service >= SERVICE_RDMA_IP_TCP && service <= SERVICE_RDMA_IP_OTHER)
        g_snprintf(text, 80, "%s, port %u", name, (unsigned)(c->service_id & 0xffff));
    else
        g_strlcpy(text, name, 80);
    return text;
}

APART static void report(const struct watch *w, const struct connection *c, const struct service *s)
{
    struct sender who = sender_of_side(w, c, false);
    const char *reason = names_find(cm_reject_names, s->reason);
    char other[SENDER_TEXT_SIZE], service[80];
    const struct event_key key = event_key(w, EVENT_CONNECTION_REFUSED, who.gid, NULL,
                                           hash_of(c) + s->reason);
    watch_event(w, &key, &who, c->req_frame,
                "it refuses all %u connections of %s for the service %s, Service-ID 0x%016" PRIx64
                ", since frame %u: reason %u, %s%s",
                s->times, end_text(w, c, true, other), service_text(service, c), c->service_id,
                s->frame, s->reason, reason ? reason : "unknown",
                s->reason == CM_REJ_SERVICE_ID ? ": no program listens there" : "");
}

APART static void refused(const struct watch *w, const struct cm *cm, const struct connection *c)
{
    struct service *s = service_of(w, c);
    int64_t ms = watch_ms(w);
    if (s->times && s->number == c->number)
        return; /* again */
    if (!s->times || s->reason != cm->reason || ms - s->last_ms > PAUSE_MS) {
        s->times = 0;
        s->frame = w->p->at.frame;
        s->first_ms = ms;
    }
    s->times++;
    s->number = c->number;
    s->reason = cm->reason;
    s->last_ms = ms;
    if (s->times >= TIMES && ms - s->first_ms >= LASTS_MS)
        report(w, c, s);
}

static bool is_refusal(const struct watch *w, const struct cm *cm, const struct connection *c)
{
    return cm->message == CM_REJ && cm->which == REJ_OF_REQ &&
           cm->reason != REASON_CM_REDIRECTION && cm->reason != REASON_PORT_REDIRECTION &&
           !connection_is_by_requester(c, cm, w->p->src);
}

void watch_other_service(const struct watch *w)
{
    const struct connection *c = w->p->classification.connection;
    const struct cm *cm = packet_cm(w->p);
    if (!c || !cm || packet_is_corrupt(w->p))
        return;
    if (is_refusal(w, cm, c))
        refused(w, cm, c);
    else if (cm->message != CM_REQ && cm->message != CM_REJ && cm->message != CM_MRA)
        service_of(w, c)->times = 0; /* it was accepted */
}

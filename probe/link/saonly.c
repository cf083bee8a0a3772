/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport for hosts where libibumad, but not libibverbs, has the port. The SA can be queried, so
 * most of a fabric can be diagnosed, but no peer can be probed. See transport.h.
 */
#include "probe/link/transport.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/umad.h>

#include "hca/client.h"
#include "wire/smp.h"

struct sa_only {
    struct transport base;
    struct umad_sa *sa;
    const volatile int *stop;
};

static enum transport_result no_queue_pair(struct transport *t)
{
    snprintf(t->error, sizeof t->error, "%s has no libibverbs device: no packet can be sent",
             t->facts.device);
    return TRANSPORT_ERROR;
}

static enum transport_result sa_only_open_qp(struct transport *t, unsigned pkey_index,
                                             uint32_t qkey)
{
    (void)pkey_index;
    (void)qkey;
    return no_queue_pair(t);
}

static enum transport_result send_nothing(struct transport *t, const struct ud_to *to,
                                          const uint8_t *bytes, uint32_t n)
{
    (void)to;
    (void)bytes;
    (void)n;
    return no_queue_pair(t);
}

static enum transport_result receive_nothing(struct transport *t, int ms, struct ud_from *from)
{
    (void)ms;
    (void)from;
    return no_queue_pair(t);
}

static enum transport_result sa_only_query_sa(struct transport *t, const struct sa_query *q, int ms,
                                              struct sa_response *a)
{
    struct sa_only *s = (struct sa_only *)t;
    static const int never;
    return transport_of(
        umad_sa_query(s->sa, q, ms, t->ending ? &never : s->stop, a, t->error, sizeof t->error));
}

static enum agent_answer sa_only_ask_agent(struct transport *t, struct agent_request *q, int ms)
{
    return agent_ask(t->facts.device, t->facts.port, q, ms, ((struct sa_only *)t)->stop);
}

static enum agent_answer sa_only_ask_smp(struct transport *t, struct smp_request *q, int ms)
{
    return smp_ask(t->facts.device, t->facts.port, q, ms, ((struct sa_only *)t)->stop);
}

static enum transport_result sa_only_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)mgid;
    (void)mlid;
    return no_queue_pair(t);
}

static void sa_only_close(struct transport *t)
{
    struct sa_only *s = (struct sa_only *)t;
    umad_sa_close(s->sa);
    g_free(s);
}

static enum transport_result sa_only_watch(struct transport *t)
{
    return transport_of(umad_sa_watch(((struct sa_only *)t)->sa));
}

static enum transport_result sa_only_next_notice(struct transport *t, int ms,
                                                 uint8_t notice[NOTICE_SIZE])
{
    struct sa_only *s = (struct sa_only *)t;
    return transport_of(umad_sa_next_notice(s->sa, ms, s->stop, notice, t->error, sizeof t->error));
}

static const struct transport_ops sa_only_ops = {
    .capabilities = CAN_QUERY_SA | HAS_OWN_QP | SHOWS_SENDER,
    .lacks = "the port has no libibverbs device: no packet can be sent",
    .open_qp = sa_only_open_qp,
    .send = send_nothing,
    .receive = receive_nothing,
    .query = sa_only_query_sa,
    .ask_agent = sa_only_ask_agent,
    .ask_smp = sa_only_ask_smp,
    .attach = sa_only_attach,
    .close = sa_only_close,
    .watch = sa_only_watch,
    .next_notice = sa_only_next_notice};

static void sa_only_read_facts(struct port_facts *f, const umad_port_t *port)
{
    uint64_t gid[2] = {port->gid_prefix, port->port_guid};
    g_strlcpy(f->device, port->ca_name, sizeof f->device);
    f->port = (unsigned)port->portnum;
    memcpy(f->gid, gid, sizeof f->gid);
    f->lid = (uint16_t)port->base_lid;
    f->lmc = (uint8_t)port->lmc;
    f->sm_lid = (uint16_t)port->sm_lid;
    f->sm_sl = (uint8_t)port->sm_sl;
    f->state = (uint8_t)port->state;
    f->rate_100mbps = port->rate * 10;
    f->infiniband = strcmp(port->link_layer, "Ethernet") != 0;
    f->n_pkeys = MIN(port->pkeys_size, TRANSPORT_PKEYS);
    for (unsigned i = 0; i < f->n_pkeys; i++)
        f->pkeys[i] = port->pkeys[i];
}

enum opening sa_only_open(struct transport **t, const char *device, unsigned port,
                          const volatile int *stop)
{
    umad_port_t p;
    *t = NULL;
    umad_init();
    if (umad_get_port(device, (int)port, &p) < 0)
        return OPEN_NO_DEVICE;
    struct sa_only *s = g_new(struct sa_only, 1);
    *s = (struct sa_only){.base.ops = &sa_only_ops, .stop = stop};
    sa_only_read_facts(&s->base.facts, &p);
    umad_release_port(&p);
    if (s->base.facts.infiniband &&
        umad_sa_open(&s->sa, s->base.facts.device, s->base.facts.port) == 0) {
        *t = &s->base;
        return OPENED;
    }
    g_free(s);
    return OPEN_NO_DEVICE;
}

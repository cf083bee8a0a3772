/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport on a real port: UD queue pairs by libibverbs (verbs_queue.c, verbs_packet.c), the SA by
 * libibumad (hca/client.c), connections by librdmacm (connect.c). See transport.h.
 */
#include "probe/link/verbs.h"

#include <errno.h>
#include <string.h>

#include "cli/fail.h"
#include "hca/device.h"

/* ---- the SA */

static enum transport_result verbs_query_sa(struct transport *t, const struct sa_query *q, int ms,
                                            struct sa_response *a)
{
    struct verbs *v = (struct verbs *)t;
    static const int never;
    return transport_of(
        umad_sa_query(v->sa, q, ms, t->ending ? &never : v->stop, a, t->error, sizeof t->error));
}

static enum agent_answer verbs_ask_agent(struct transport *t, struct agent_request *q, int ms)
{
    return agent_ask(t->facts.device, t->facts.port, q, ms, ((struct verbs *)t)->stop);
}

static enum agent_answer verbs_ask_smp(struct transport *t, struct smp_request *q, int ms)
{
    return smp_ask(t->facts.device, t->facts.port, q, ms, ((struct verbs *)t)->stop);
}

static enum transport_result verbs_watch(struct transport *t)
{
    return transport_of(umad_sa_watch(((struct verbs *)t)->sa));
}

static enum transport_result verbs_next_notice(struct transport *t, int ms,
                                               uint8_t notice[NOTICE_SIZE])
{
    struct verbs *v = (struct verbs *)t;
    return transport_of(umad_sa_next_notice(v->sa, ms, v->stop, notice, t->error, sizeof t->error));
}

/* ---- connections */

static bool verbs_can_connect(struct transport *t)
{
    struct verbs *v = (struct verbs *)t;
    if (!v->connector)
        v->connector = connector_new(&t->facts, v->stop, t->no_connections,
                                     sizeof t->no_connections);
    return v->connector != NULL;
}

static enum transport_result verbs_connect(struct transport *t, const struct connect_request *q,
                                           int ms, struct cm_connection **c)
{
    return connector_connect(((struct verbs *)t)->connector, q, ms, c);
}

static enum transport_result verbs_try_rdma_cm(struct transport *t, struct cm_trial *trial, int ms)
{
    return connector_try(((struct verbs *)t)->connector, trial, ms);
}

static enum transport_result verbs_send_connected(struct transport *t, struct cm_connection *c,
                                                  const uint8_t *bytes, uint32_t n)
{
    return connector_send(((struct verbs *)t)->connector, c, bytes, n);
}

static void verbs_disconnect(struct transport *t, struct cm_connection *c, int ms, bool *answered)
{
    connector_disconnect(((struct verbs *)t)->connector, c, ms, answered);
}

static bool verbs_read_port(struct transport *t, struct port_facts *now)
{
    struct port_facts before = t->facts;
    bool good = verbs_read_facts((struct verbs *)t);
    *now = t->facts;
    t->facts = before;
    return good;
}

static void verbs_close(struct transport *t)
{
    struct verbs *v = (struct verbs *)t;
    connector_free(v->connector);
    umad_sa_close(v->sa);
    verbs_free_queues(v);
    if (v->context)
        ibv_close_device(v->context);
    g_free(v);
}

/* ---- opening */

static enum opening open_umad(struct verbs *v, GError **error)
{
    const struct port_facts *f = &v->base.facts;
    int number = umad_sa_open(&v->sa, f->device, f->port);
    if (!number)
        return OPENED;
    bool privilege = number == EACCES || number == EPERM;
    fail_with(error,
              privilege ? "%s port %u: cannot query the SA: this user may not open "
                          "/dev/infiniband/umad*: run as root"
                        : "%s port %u: cannot query the SA: /dev/infiniband/umad* "
                          "cannot be opened (modprobe ib_umad)",
              f->device, f->port);
    return privilege ? OPEN_NO_PRIVILEGE : OPEN_NO_DEVICE;
}

static enum opening open_port(struct verbs *v, struct ibv_device *device, unsigned port,
                              GError **error)
{
    const char *name = ibv_get_device_name(device);
    v->context = device_context(device, error);
    if (!v->context)
        return errno == EACCES || errno == EPERM ? OPEN_NO_PRIVILEGE : OPEN_NO_DEVICE;
    v->base.facts.port = verbs_choose_port(v->context, port);
    if (v->base.facts.port == 0 || !verbs_read_facts(v)) {
        fail_with(error, port ? "%s has no port %u" : "%s has no InfiniBand port", name, port);
        return port ? OPEN_NO_PORT : OPEN_NO_DEVICE;
    }
    if (!v->base.facts.infiniband) {
        fail_with(error,
                  "%s port %u: its link layer is Ethernet: there is no IP over InfiniBand on it",
                  name, port);
        return OPEN_NO_DEVICE;
    }
    return open_umad(v, error);
}

static const struct transport_ops verbs_ops = {.capabilities = CAN_ALL,
                                               .open_qp = verbs_open_qp,
                                               .open_other_partition = verbs_open_other_partition,
                                               .send = verbs_send,
                                               .receive = verbs_receive,
                                               .query = verbs_query_sa,
                                               .attach = verbs_attach,
                                               .close = verbs_close,
                                               .read_port = verbs_read_port,
                                               .ask_agent = verbs_ask_agent,
                                               .ask_smp = verbs_ask_smp,
                                               .watch = verbs_watch,
                                               .next_notice = verbs_next_notice,
                                               .can_connect = verbs_can_connect,
                                               .try_rdma_cm = verbs_try_rdma_cm,
                                               .connect = verbs_connect,
                                               .send_connected = verbs_send_connected,
                                               .disconnect = verbs_disconnect};

static enum opening open_verbs_port(struct transport **t, struct ibv_device *device, unsigned port,
                                    const volatile int *stop, GError **error)
{
    struct verbs *v = g_new(struct verbs, 1);
    *v = (struct verbs){.base.ops = &verbs_ops, .stop = stop, .held_slot = SLOTS};
    enum opening result = open_port(v, device, port, error);
    if (result == OPENED)
        *t = &v->base;
    else
        verbs_close(&v->base);
    return result;
}

enum opening verbs_open(struct transport **t, const char *device, unsigned port,
                        const volatile int *stop, GError **error)
{
    struct device_list list;
    struct ibv_device *named;
    enum opening result = OPEN_NO_DEVICE;
    *t = NULL;
    if (!device_list_get(&list, error))
        return OPEN_NO_DEVICE;
    if (device && (named = device_find(&list, device, error)) != NULL)
        result = open_verbs_port(t, named, port, stop, error);
    for (int i = 0; !device && i < list.count && result == OPEN_NO_DEVICE; i++) {
        g_clear_error(error); /* of the device before this one */
        result = open_verbs_port(t, list.devices[i], port, stop, error);
    }
    device_list_free(&list);
    return result;
}

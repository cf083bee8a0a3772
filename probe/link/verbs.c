/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport on a real port: a UD queue pair by libibverbs, the SA by libibumad (hca/client.c),
 * connections by librdmacm (connect.c). See transport.h.
 */
#include "probe/link/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "hca/client.h"
#include "probe/link/connect.h"

enum { SLOTS_MAIN = 256, SLOTS_ASIDE = 16, SLOTS = SLOTS_MAIN + SLOTS_ASIDE };
enum { SLOT_SIZE = GRH_SIZE + UD_SIZE, SEND_WAIT_MS = 1000, WAYS = 8 };

/* A cached address handle, for packets with the same destination. */
struct way {
    struct ibv_ah_attr attr;
    struct ibv_ah *ah;
};

struct verbs {
    struct transport base;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *received, *sent;
    struct ibv_qp *qp, *aside, *stranger; /* stranger: NULL until opened */
    uint32_t qkey;
    struct ibv_mr *mr;
    struct umad_sa *sa;
    struct caller *caller; /* NULL: no connection was requested yet */
    const volatile int *stop;
    uint8_t *memory; /* SLOTS receive buffers and one send buffer */
    struct way ways[WAYS];
    unsigned next_way; /* next entry to evict */
    /* The buffer that the caller holds; the next call posts it again. SLOTS: none. */
    unsigned taken;
};

static enum transport_result fail(struct transport *t, const char *what, int error)
{
    t->denied |= error == EPERM || error == EACCES;
    if (error == EPERM || error == EACCES)
        snprintf(t->error, sizeof t->error,
                 "%s: not permitted; it needs root, or CAP_NET_RAW for a controlled Q_Key", what);
    else
        snprintf(t->error, sizeof t->error, "%s: %s", what, strerror(error));
    return TRANSPORT_ERROR;
}

/* ---- the queue pair */

/* The first SLOTS_MAIN buffers belong to the first queue pair, the others to the second. */
static bool post_slot(struct verbs *v, unsigned slot)
{
    struct ibv_qp *qp = slot < SLOTS_MAIN ? v->qp : v->aside;
    struct ibv_sge sge = {(uintptr_t)(v->memory + (size_t)slot * SLOT_SIZE), SLOT_SIZE,
                          v->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(qp, &wr, &bad) == 0;
}

static struct ibv_qp *make_qp(struct verbs *v, unsigned slots)
{
    struct ibv_qp_init_attr init = {
        .send_cq = v->sent,
        .recv_cq = v->received,
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 8, .max_recv_wr = slots, .max_send_sge = 1, .max_recv_sge = 1}};
    return ibv_create_qp(v->pd, &init);
}

static bool make_queues(struct verbs *v)
{
    v->memory = calloc(SLOTS + 1, SLOT_SIZE);
    v->pd = ibv_alloc_pd(v->context);
    v->channel = ibv_create_comp_channel(v->context);
    if (!v->memory || !v->pd || !v->channel)
        return false;
    v->mr = ibv_reg_mr(v->pd, v->memory, (size_t)(SLOTS + 1) * SLOT_SIZE, IBV_ACCESS_LOCAL_WRITE);
    v->received = ibv_create_cq(v->context, SLOTS, NULL, v->channel, 0);
    v->sent = ibv_create_cq(v->context, 16, NULL, NULL, 0);
    if (!v->mr || !v->received || !v->sent)
        return false;
    v->qp = make_qp(v, SLOTS_MAIN);
    v->aside = make_qp(v, SLOTS_ASIDE);
    return v->qp && v->aside;
}

/* Attributes of each state: IBA 11.2.5.2, table 92. Posts the receive buffers first to end - 1. */
static int to_rts(struct verbs *v, struct ibv_qp *qp, unsigned pkey_index, unsigned first,
                  unsigned end)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .pkey_index = (uint16_t)pkey_index,
                               .port_num = (uint8_t)v->base.facts.port,
                               .qkey = v->qkey};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR}, rts = {.qp_state = IBV_QPS_RTS};
    int error = ibv_modify_qp(qp, &init,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    for (unsigned i = first; !error && i < end; i++)
        error = post_slot(v, i) ? 0 : ENOMEM;
    if (!error)
        error = ibv_modify_qp(qp, &rtr, IBV_QP_STATE);
    return error ? error : ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static enum transport_result open_qp(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    struct verbs *v = (struct verbs *)t;
    errno = 0;
    if (!make_queues(v))
        return fail(t, "no UD queue pair can be made (ulimit -l: memory that may be locked)",
                    errno ? errno : ENOMEM);
    v->qkey = qkey;
    int error = to_rts(v, v->qp, pkey_index, 0, SLOTS_MAIN);
    if (!error)
        error = to_rts(v, v->aside, pkey_index, SLOTS_MAIN, SLOTS);
    if (error)
        return fail(t, "the UD queue pair cannot be made ready", error);
    t->qpn = v->qp->qp_num;
    t->aside_qpn = v->aside->qp_num;
    ibv_req_notify_cq(v->received, 0);
    return TRANSPORT_OK;
}

/* Opened once: the hosts of a sweep share it. */
static enum transport_result open_stranger(struct transport *t, unsigned pkey_index)
{
    struct verbs *v = (struct verbs *)t;
    if (t->stranger_qpn)
        return TRANSPORT_OK;
    errno = 0;
    if (!v->stranger)
        v->stranger = make_qp(v, 1);
    if (!v->stranger)
        return fail(t, "no UD queue pair can be made in another partition", errno ? errno : ENOMEM);
    int error = to_rts(v, v->stranger, pkey_index, 0, 0);
    if (error)
        return fail(t, "the UD queue pair in another partition cannot be made ready", error);
    t->stranger_qpn = v->stranger->qp_num;
    t->stranger_pkey = t->facts.pkeys[pkey_index];
    return TRANSPORT_OK;
}

/* ---- sending */

static enum transport_result await_sent(struct verbs *v)
{
    struct ibv_wc wc;
    gint64 end = g_get_monotonic_time() + (gint64)SEND_WAIT_MS * 1000;
    int n;
    while ((n = ibv_poll_cq(v->sent, 1, &wc)) == 0)
        if (g_get_monotonic_time() > end)
            return fail(&v->base, "a packet was not sent", ETIMEDOUT);
    if (n > 0 && wc.status == IBV_WC_SUCCESS)
        return TRANSPORT_OK;
    snprintf(v->base.error, sizeof v->base.error, "a packet was not sent: %s",
             n < 0 ? "poll" : ibv_wc_status_str(wc.status));
    return TRANSPORT_ERROR;
}

static struct ibv_ah *find_way(struct verbs *v, const struct ud_to *to)
{
    struct ibv_ah_attr attr;
    memset(&attr, 0, sizeof attr); /* zero the padding: the structure is compared with memcmp */
    attr.dlid = to->lid;
    attr.sl = to->sl;
    attr.port_num = (uint8_t)v->base.facts.port;
    attr.is_global = to->grh;
    if (to->grh) {
        memcpy(attr.grh.dgid.raw, to->gid, 16);
        attr.grh.flow_label = to->flow_label;
        attr.grh.hop_limit = to->hop_limit;
        attr.grh.traffic_class = to->tclass;
    }
    for (unsigned i = 0; i < WAYS; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        if (v->ways[i].ah && memcmp(&v->ways[i].attr, &attr, sizeof attr) == 0)
            return v->ways[i].ah;
    struct way *w = &v->ways[v->next_way++ % WAYS];
    if (w->ah)
        ibv_destroy_ah(w->ah);
    w->ah = ibv_create_ah(v->pd, &attr);
    memcpy(&w->attr, &attr, sizeof attr);
    return w->ah;
}

static enum transport_result send_ud(struct transport *t, const struct ud_to *to,
                                     const uint8_t *octets, uint32_t n)
{
    struct verbs *v = (struct verbs *)t;
    struct ibv_ah *ah = find_way(v, to);
    if (!ah)
        return fail(t, "no address handle", errno);
    uint8_t *slot = v->memory + (size_t)SLOTS * SLOT_SIZE;
    memcpy(slot, octets, n);
    struct ibv_sge sge = {(uintptr_t)slot, n, v->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .wr.ud = {.ah = ah, .remote_qpn = to->qpn, .remote_qkey = to->qkey}},
                       *bad;
    int error = ibv_post_send(to->stranger ? v->stranger : to->aside ? v->aside : v->qp, &wr, &bad);
    return error ? fail(t, "a packet cannot be sent", error) : await_sent(v);
}

/* ---- receiving */

static bool take(struct verbs *v, struct ud_from *from)
{
    const struct transport *t = &v->base;
    struct ibv_wc wc;
    while (ibv_poll_cq(v->received, 1, &wc) > 0) {
        unsigned slot = (unsigned)wc.wr_id;
        if (wc.status != IBV_WC_SUCCESS || wc.byte_len < GRH_SIZE) {
            post_slot(v, slot);
            continue;
        }
        const uint8_t *p = v->memory + (size_t)slot * SLOT_SIZE;
        uint32_t n = wc.byte_len - GRH_SIZE;
        *from = (struct ud_from){.octets = view_make(p + GRH_SIZE, n, n),
                                 .grh = wc.wc_flags & IBV_WC_GRH ? p : NULL,
                                 .qpn = wc.src_qp,
                                 .to_qpn = slot < SLOTS_MAIN ? t->qpn : t->aside_qpn,
                                 .lid = wc.slid,
                                 .sl = wc.sl,
                                 .path_bits = wc.dlid_path_bits};
        v->taken = slot;
        return true;
    }
    return false;
}

static void take_event(struct verbs *v)
{
    struct ibv_cq *cq;
    void *context;
    if (ibv_get_cq_event(v->channel, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
    ibv_req_notify_cq(v->received, 0);
}

/* Waits until a packet may have arrived. Returns 0 or an errno. */
static int await_event(struct verbs *v, int ms)
{
    struct pollfd fds[1 + CALLER_FDS] = {{v->channel->fd, POLLIN, 0}};
    unsigned calls = v->caller ? caller_fds(v->caller, fds + 1) : 0;
    int n = poll(fds, 1 + calls, ms);
    if (n > 0 && fds[0].revents)
        take_event(v);
    return n < 0 && errno != EINTR ? errno : 0;
}

static enum transport_result receive(struct transport *t, int ms, struct ud_from *from)
{
    struct verbs *v = (struct verbs *)t;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    if (v->taken < SLOTS)
        post_slot(v, v->taken);
    v->taken = SLOTS;
    while (!*v->stop || t->ending) {
        if (take(v, from) || (v->caller && caller_take(v->caller, from)))
            return TRANSPORT_OK;
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return TRANSPORT_NOTHING;
        int error = await_event(v, (int)MIN(left, 100));
        if (error)
            return fail(t, "poll", error);
    }
    return TRANSPORT_STOPPED;
}

static enum transport_result attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    struct verbs *v = (struct verbs *)t;
    union ibv_gid gid;
    memcpy(gid.raw, mgid, 16);
    int error = ibv_attach_mcast(v->qp, &gid, mlid);
    return error ? fail(t, "a multicast group cannot be received", error) : TRANSPORT_OK;
}

static enum transport_result ask(struct transport *t, const struct sa_question *q, int ms,
                                 struct sa_answer *a)
{
    struct verbs *v = (struct verbs *)t;
    static const int never;
    return transport_of(
        umad_sa_ask(v->sa, q, ms, t->ending ? &never : v->stop, a, t->error, sizeof t->error));
}

static enum transport_result watch(struct transport *t)
{
    return transport_of(umad_sa_watch(((struct verbs *)t)->sa));
}

static enum transport_result next_notice(struct transport *t, int ms, uint8_t notice[NOTICE_SIZE])
{
    struct verbs *v = (struct verbs *)t;
    return transport_of(umad_sa_next_notice(v->sa, ms, v->stop, notice, t->error, sizeof t->error));
}

/* ---- connections */

static bool can_call(struct transport *t)
{
    struct verbs *v = (struct verbs *)t;
    if (!v->caller)
        v->caller = caller_new(&t->facts, v->stop, t->no_calls, sizeof t->no_calls);
    return v->caller != NULL;
}

static enum transport_result call(struct transport *t, const struct call_question *q, int ms,
                                  struct call **c)
{
    return caller_call(((struct verbs *)t)->caller, q, ms, c);
}

static enum transport_result send_call(struct transport *t, struct call *c, const uint8_t *octets,
                                       uint32_t n)
{
    return caller_send(((struct verbs *)t)->caller, c, octets, n);
}

static void hang_up(struct transport *t, struct call *c, int ms, bool *answered)
{
    caller_hang_up(((struct verbs *)t)->caller, c, ms, answered);
}

static void close_verbs(struct transport *t)
{
    struct verbs *v = (struct verbs *)t;
    caller_free(v->caller);
    umad_sa_close(v->sa);
    for (unsigned i = 0; i < WAYS; i++)
        if (v->ways[i].ah)
            ibv_destroy_ah(v->ways[i].ah);
    /* Destroying a queue pair detaches it from its groups (IBA 10.5.1). */
    if (v->qp)
        ibv_destroy_qp(v->qp);
    if (v->aside)
        ibv_destroy_qp(v->aside);
    if (v->stranger)
        ibv_destroy_qp(v->stranger);
    if (v->received)
        ibv_destroy_cq(v->received);
    if (v->sent)
        ibv_destroy_cq(v->sent);
    if (v->mr)
        ibv_dereg_mr(v->mr);
    if (v->channel)
        ibv_destroy_comp_channel(v->channel);
    if (v->pd)
        ibv_dealloc_pd(v->pd);
    if (v->context)
        ibv_close_device(v->context);
    free(v->memory);
    free(v);
}

/* ---- opening */

static void read_pkeys(struct verbs *v, unsigned n)
{
    struct port_facts *f = &v->base.facts;
    f->n_pkeys = MIN(n, TRANSPORT_PKEYS);
    for (unsigned i = 0; i < f->n_pkeys; i++) {
        __be16 pkey = 0;
        if (ibv_query_pkey(v->context, (uint8_t)f->port, (int)i, &pkey) == 0)
            f->pkeys[i] = ntohs(pkey);
    }
}

/*
 * IBA 14.2.5.6: LinkWidthActive is one bit for 1, 4, 8, 12 or (since 1.3) 2; LinkSpeedActive one
 * bit for 2.5 Gb/s and so on
 */
static uint32_t rate_100mbps(const struct ibv_port_attr *p)
{
    static const struct {
        uint8_t code;
        uint32_t value;
    } widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}},
      speeds[] = {{1, 25},   {2, 50},   {4, 100},  {8, 100},
                  {16, 140}, {32, 250}, {64, 500}, {128, 1000}};
    uint32_t width = 0, speed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(widths); i++)
        width = p->active_width == widths[i].code ? widths[i].value : width;
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++)
        speed = p->active_speed == speeds[i].code ? speeds[i].value : speed;
    return width * speed;
}

static bool read_facts(struct verbs *v)
{
    struct port_facts *f = &v->base.facts;
    struct ibv_port_attr p;
    union ibv_gid gid;
    if (ibv_query_port(v->context, (uint8_t)f->port, &p) ||
        ibv_query_gid(v->context, (uint8_t)f->port, 0, &gid))
        return false;
    g_strlcpy(f->device, ibv_get_device_name(v->context->device), sizeof f->device);
    memcpy(f->gid, gid.raw, 16);
    f->lid = p.lid;
    f->sm_lid = p.sm_lid;
    f->sm_sl = p.sm_sl;
    f->lmc = p.lmc;
    f->state = p.state; /* libibverbs uses the IBA's port states */
    f->mtu = (uint8_t)p.active_mtu;
    f->rate_100mbps = rate_100mbps(&p);
    f->infiniband = p.link_layer != IBV_LINK_LAYER_ETHERNET;
    read_pkeys(v, p.pkey_tbl_len);
    return true;
}

/*
 * The requested port; otherwise the first active one, otherwise the first with InfiniBand. 0: none.
 */
static unsigned choose_port(struct ibv_context *context, unsigned asked)
{
    struct ibv_device_attr d;
    struct ibv_port_attr p;
    unsigned found = 0;
    if (ibv_query_device(context, &d))
        return 0;
    for (unsigned i = 1; i <= d.phys_port_cnt; i++) {
        if (ibv_query_port(context, (uint8_t)i, &p) || (asked && asked != i))
            continue;
        bool usable = asked || p.link_layer != IBV_LINK_LAYER_ETHERNET;
        if (usable && (!found || (p.state == IBV_PORT_ACTIVE && !asked)))
            found = i;
        if (asked || (usable && p.state == IBV_PORT_ACTIVE))
            break;
    }
    return found;
}

static enum opening open_umad(struct verbs *v, char *why, size_t size)
{
    const struct port_facts *f = &v->base.facts;
    int error = umad_sa_open(&v->sa, f->device, f->port);
    if (!error)
        return OPENED;
    bool privilege = error == EACCES || error == EPERM;
    snprintf(
        why, size,
        privilege
            ? "%s port %u: the subnet administrator cannot be asked, for this user may not open "
              "/dev/infiniband/umad*: run as root"
            : "%s port %u: the subnet administrator cannot be asked: /dev/infiniband/umad* "
              "cannot be opened (modprobe ib_umad)",
        f->device, f->port);
    return privilege ? OPEN_NO_PRIVILEGE : OPEN_NO_DEVICE;
}

static enum opening open_port(struct verbs *v, struct ibv_device *device, unsigned port, char *why,
                              size_t size)
{
    const char *name = ibv_get_device_name(device);
    errno = 0;
    v->context = ibv_open_device(device);
    if (!v->context) {
        bool privilege = errno == EACCES || errno == EPERM;
        snprintf(why, size, "%s: cannot be opened: %s%s", name, strerror(errno ? errno : ENODEV),
                 privilege ? "; this user may not open /dev/infiniband/uverbs*"
                           : " (modprobe ib_uverbs)");
        return privilege ? OPEN_NO_PRIVILEGE : OPEN_NO_DEVICE;
    }
    v->base.facts.port = choose_port(v->context, port);
    if (v->base.facts.port == 0 || !read_facts(v)) {
        snprintf(why, size, port ? "%s has no port %u" : "%s has no InfiniBand port", name, port);
        return OPEN_NO_DEVICE;
    }
    if (!v->base.facts.infiniband) {
        snprintf(why, size,
                 "%s port %u: its link layer is Ethernet: there is no IP over InfiniBand on it",
                 name, port);
        return OPEN_NO_DEVICE;
    }
    return open_umad(v, why, size);
}

static const struct transport_ops verbs_ops = {.capabilities = CAN_ALL,
                                               .open_qp = open_qp,
                                               .open_stranger = open_stranger,
                                               .send = send_ud,
                                               .receive = receive,
                                               .ask = ask,
                                               .attach = attach,
                                               .close = close_verbs,
                                               .watch = watch,
                                               .next_notice = next_notice,
                                               .can_call = can_call,
                                               .call = call,
                                               .send_call = send_call,
                                               .hang_up = hang_up};

enum opening verbs_open(struct transport **t, const char *device, unsigned port,
                        const volatile int *stop, char *why, size_t size)
{
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    enum opening result = OPEN_NO_DEVICE;
    snprintf(why, size,
             n == 0
                 ? "no InfiniBand device: none is there, or its driver or ib_uverbs is not loaded"
                 : "no InfiniBand device of that name: see ibv_devices");
    *t = NULL;
    for (int i = 0; i < n && result != OPENED; i++) {
        if (device && strcmp(device, ibv_get_device_name(list[i])) != 0)
            continue;
        struct verbs *v = calloc(1, sizeof *v);
        if (!v)
            break;
        *v = (struct verbs){.base.ops = &verbs_ops, .stop = stop, .taken = SLOTS};
        result = open_port(v, list[i], port, why, size);
        if (result == OPENED)
            *t = &v->base;
        else
            close_verbs(&v->base);
        if (result == OPEN_NO_PRIVILEGE)
            break;
    }
    if (list)
        ibv_free_device_list(list);
    return result;
}

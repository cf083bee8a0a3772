/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections by librdmacm. See connect.h. */
#include "probe/link/connect.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "probe/link/cm_error.h"
#include "probe/link/transport.h"

enum { CALLS = CALLER_FDS - 1, SLOTS = 8, SEND_WAIT_MS = 2000, RESOLVE_MS = 1000, STEP_MS = 100 };
/* Larger than every Receive MTU: an oversized message does not end the connection. */
enum { SLOT_SIZE = 1 << 17 };
/* 67 ms (IBA 11.2.5.2: 4.096 us * 2^n). A message fails after 0.5 s. */
enum { ACK_TIMEOUT = 14 };
enum { RETRIES = 7, RNR_RETRIES = 6 }; /* RNR 7: retry forever (IBA 9.7.5.2.8) */

enum stage { BEGUN, RESOLVED, ROUTED, ANSWERED, REFUSED, SILENT, FAILED };

/* One connection. */
struct line {
    struct call call; /* first member: handed out to the user */
    struct caller *caller;
    enum stage stage;
    bool disconnecting, disconnected;
    int disconnect_status; /* 0: ended by a DREQ or DREP */
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *received, *sent;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory; /* SLOTS receive buffers and one send buffer */
};

struct caller {
    const struct port_facts *facts;
    const volatile int *stop;
    struct rdma_event_channel *events;
    struct line *lines[CALLS];
    /* The connection whose buffer the user holds; the next caller_take() posts it again. */
    struct line *taken_of;
    unsigned taken;
};

static void cannot(struct line *l, const char *what, int error)
{
    l->call.result = CALL_IMPOSSIBLE;
    snprintf(l->call.why, sizeof l->call.why, "%s: %s", what, strerror(error));
}

/* ---- events */

static void keep_private(struct line *l, const struct rdma_conn_param *p)
{
    l->call.private_size = MIN(p->private_data_len, CALL_PRIVATE);
    if (p->private_data)
        memcpy(l->call.private_data, p->private_data, l->call.private_size);
}

static void fails(struct line *l, enum cm_step step, const struct rdma_cm_event *e)
{
    l->stage = step == CM_STEP_REQ ? SILENT : FAILED;
    l->call.dead = step != CM_STEP_REQ;
    cm_error_text(step, e->status, l->caller->facts, &l->call.asked, l->call.why,
                  sizeof l->call.why);
}

static void note_event(struct line *l, const struct rdma_cm_event *e)
{
    switch (e->event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        l->stage = RESOLVED;
        break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        l->stage = ROUTED;
        break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        keep_private(l, &e->param.conn);
        l->stage = ANSWERED;
        break;
    case RDMA_CM_EVENT_REJECTED:
        keep_private(l, &e->param.conn);
        l->call.reason = (uint16_t)e->status; /* ib_cm uses the IBA's reason codes */
        l->stage = REFUSED;
        break;
    case RDMA_CM_EVENT_UNREACHABLE:
        fails(l, CM_STEP_REQ, e);
        break;
    case RDMA_CM_EVENT_DISCONNECTED:
        l->call.ended_by_peer = !l->disconnecting;
        l->disconnected = l->call.dead = true;
        l->disconnect_status = e->status;
        break;
    case RDMA_CM_EVENT_ADDR_ERROR:
        fails(l, CM_STEP_ADDRESS, e);
        break;
    case RDMA_CM_EVENT_ROUTE_ERROR:
        fails(l, CM_STEP_ROUTE, e);
        break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
        fails(l, CM_STEP_CONNECT, e);
        break;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        fails(l, CM_STEP_DEVICE, e);
        break;
    default:
        break;
    }
}

static void take_events(struct caller *c)
{
    struct rdma_cm_event *e;
    while (rdma_get_cm_event(c->events, &e) == 0) {
        if (e->id && e->id->context)
            note_event(e->id->context, e);
        rdma_ack_cm_event(e);
    }
}

/* Waits until the connection has left that stage. */
static enum transport_result await_stage(struct line *l, enum stage from, gint64 end)
{
    struct caller *c = l->caller;
    while (l->stage == from) {
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (*c->stop)
            return TRANSPORT_STOPPED;
        if (left <= 0)
            return TRANSPORT_NOTHING;
        struct pollfd fd = {c->events->fd, POLLIN, 0};
        poll(&fd, 1, (int)MIN(left, STEP_MS));
        take_events(c);
    }
    return TRANSPORT_OK;
}

/* ---- the queue pair */

static bool post_slot(struct line *l, unsigned slot)
{
    struct ibv_sge sge = {(uintptr_t)(l->memory + (size_t)slot * SLOT_SIZE), SLOT_SIZE,
                          l->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(l->qp, &wr, &bad) == 0;
}

static bool make_queues(struct line *l)
{
    struct ibv_context *context = l->id ? l->id->verbs : NULL;
    if (!context)
        return false;
    l->memory = g_malloc0((size_t)(SLOTS + 1) * SLOT_SIZE);
    l->pd = ibv_alloc_pd(context);
    l->channel = ibv_create_comp_channel(context);
    if (!l->pd || !l->channel)
        return false;
    l->mr = ibv_reg_mr(l->pd, l->memory, (size_t)(SLOTS + 1) * SLOT_SIZE, IBV_ACCESS_LOCAL_WRITE);
    l->received = ibv_create_cq(context, SLOTS, NULL, l->channel, 0);
    l->sent = ibv_create_cq(context, 4, NULL, NULL, 0);
    if (!l->mr || !l->received || !l->sent)
        return false;
    struct ibv_qp_init_attr init = {
        .send_cq = l->sent,
        .recv_cq = l->received,
        .qp_type = l->call.asked.uc ? IBV_QPT_UC : IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 2, .max_recv_wr = SLOTS, .max_send_sge = 1, .max_recv_sge = 1}};
    l->qp = ibv_create_qp(l->pd, &init);
    if (!l->qp)
        return false;
    ibv_req_notify_cq(l->received, 0);
    l->call.qpn = l->qp->qp_num;
    return true;
}

/*
 * Changes the queue pair's state with the attributes from the communication manager, but with a
 * short ACK timeout so that lost packets are retransmitted soon.
 */
static int to_state(struct line *l, enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
    int mask;
    *attr = (struct ibv_qp_attr){.qp_state = state};
    if (rdma_init_qp_attr(l->id, attr, &mask))
        return errno;
    struct ibv_qp_attr own = *attr;
    own.timeout = ACK_TIMEOUT;
    return ibv_modify_qp(l->qp, &own, mask);
}

/* The REP has arrived. */
static int make_ready(struct line *l)
{
    struct ibv_qp_attr attr;
    int error = 0;
    for (unsigned i = 0; i < SLOTS && !error; i++)
        error = post_slot(l, i) ? 0 : ENOMEM;
    if (!error)
        error = to_state(l, IBV_QPS_RTR, &attr);
    if (error)
        return error;
    l->call.peer_qpn = attr.dest_qp_num;
    l->call.peer_psn = attr.rq_psn;
    l->call.peer_lid = attr.ah_attr.dlid;
    l->call.sl = attr.ah_attr.sl;
    l->call.path_mtu = (uint8_t)attr.path_mtu;
    error = to_state(l, IBV_QPS_RTS, &attr);
    l->call.psn = attr.sq_psn;
    l->call.ack_timeout = attr.timeout;
    if (error)
        return error;
    return rdma_establish(l->id) ? errno : 0;
}

/* ---- connecting */

static void put_address(struct sockaddr_ib *a, const uint8_t *gid, uint16_t pkey)
{
    *a = (struct sockaddr_ib){.sib_family = AF_IB, .sib_pkey = htons(pkey)};
    memcpy(&a->sib_addr, gid, 16);
}

/*
 * rdma_create_id() supports AF_IB connections as RC only; rdma_create_ep() accepts the QP type.
 * With RAI_PASSIVE it only binds and does not wait for the resolution of the remote end, which this
 * file does itself.
 */
static bool make_id(struct line *l)
{
    struct sockaddr_ib own;
    put_address(&own, l->caller->facts->gid, l->call.asked.pkey);
    struct rdma_addrinfo info = {.ai_flags = RAI_PASSIVE,
                                 .ai_family = AF_IB,
                                 .ai_qp_type = l->call.asked.uc ? IBV_QPT_UC : IBV_QPT_RC,
                                 .ai_port_space = RDMA_PS_IB,
                                 .ai_src_len = sizeof own,
                                 .ai_src_addr = (struct sockaddr *)&own};
    if (rdma_create_ep(&l->id, &info, NULL, NULL)) {
        l->id = NULL;
        return false;
    }
    l->id->context = l;
    return rdma_migrate_id(l->id, l->caller->events) == 0;
}

/* Resolves the path to the Service-ID through the SA. */
static enum transport_result find_way(struct line *l)
{
    struct sockaddr_ib peer;
    const struct call_question *q = &l->call.asked;
    put_address(&peer, q->gid, q->pkey);
    peer.sib_sid = htobe64(q->service_id);
    peer.sib_sid_mask = UINT64_MAX;
    gint64 end = g_get_monotonic_time() + (gint64)2 * RESOLVE_MS * 1000;
    if (!make_id(l) || rdma_resolve_addr(l->id, NULL, (struct sockaddr *)&peer, RESOLVE_MS)) {
        l->call.result = CALL_IMPOSSIBLE;
        cm_error_text(CM_STEP_ADDRESS, errno, l->caller->facts, q, l->call.why, sizeof l->call.why);
        return TRANSPORT_NOTHING;
    }
    enum transport_result result = await_stage(l, BEGUN, end);
    if (result == TRANSPORT_OK && l->stage == RESOLVED) {
        if (rdma_resolve_route(l->id, RESOLVE_MS)) {
            cannot(l, "no path is asked for", errno);
            return TRANSPORT_NOTHING;
        }
        result = await_stage(l, RESOLVED, end);
    }
    if (result == TRANSPORT_STOPPED || l->stage == ROUTED)
        return result;
    l->call.result = CALL_IMPOSSIBLE;
    if (!l->call.why[0]) /* the kernel's query times out earlier unless it hangs */
        cm_error_text(l->stage == BEGUN ? CM_STEP_ADDRESS : CM_STEP_ROUTE, ETIMEDOUT,
                      l->caller->facts, q, l->call.why, sizeof l->call.why);
    return TRANSPORT_NOTHING;
}

static bool send_req(struct line *l)
{
    struct ibv_qp_attr attr;
    struct timespec now;
    if (!make_queues(l)) {
        cannot(l, "no queue pair can be made (ulimit -l: memory that may be locked)",
               errno ? errno : ENOMEM);
        return false;
    }
    int error = to_state(l, IBV_QPS_INIT, &attr);
    struct rdma_conn_param param = {.private_data = l->call.asked.private_data,
                                    .private_data_len = l->call.asked.private_size,
                                    .retry_count = RETRIES,
                                    .rnr_retry_count = RNR_RETRIES,
                                    .flow_control = 1,
                                    .qp_num = l->qp->qp_num};
    clock_gettime(CLOCK_REALTIME, &now);
    l->call.asked_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    l->call.retry_count = RETRIES;
    if (!error && rdma_connect(l->id, &param))
        error = errno;
    if (error)
        cannot(l, "no REQ can be sent", error);
    return !error;
}

static void judge_answer(struct line *l)
{
    int error;
    l->call.result = CALL_SILENT;
    if (l->stage == REFUSED)
        l->call.result = CALL_REFUSED;
    else if (l->stage == FAILED)
        l->call.result = CALL_IMPOSSIBLE;
    else if (l->stage == ANSWERED) {
        l->call.result = CALL_UP;
        error = make_ready(l);
        if (error)
            cannot(l, "the queue pair cannot be made ready", error);
    }
}

/* Nothing has been sent yet: returning here leaves no call open. */
static struct line *new_line(struct caller *c, const struct call_question *q)
{
    struct line *l = g_new0(struct line, 1);
    l->caller = c;
    l->call.asked = *q;
    l->call.result = CALL_IMPOSSIBLE;
    return l;
}

static bool take_place(struct line *l)
{
    struct caller *c = l->caller;
    for (unsigned i = 0; i < CALLS; i++)
        if (!c->lines[i]) {
            c->lines[i] = l;
            return true;
        }
    cannot(l, "too many connections", EMFILE);
    return false;
}

enum transport_result caller_call(struct caller *c, const struct call_question *q, int ms,
                                  struct call **call)
{
    struct line *l = new_line(c, q);
    *call = &l->call;
    errno = 0;
    if (!take_place(l))
        return TRANSPORT_OK;
    enum transport_result result = find_way(l);
    if (result == TRANSPORT_STOPPED)
        g_strlcpy(l->call.why, "interrupted", sizeof l->call.why);
    if (result == TRANSPORT_STOPPED || l->stage != ROUTED || !send_req(l))
        return result == TRANSPORT_STOPPED ? result : TRANSPORT_OK;
    result = await_stage(l, ROUTED, g_get_monotonic_time() + (gint64)ms * 1000);
    if (result == TRANSPORT_STOPPED) {
        l->call.result = CALL_SILENT;
        return result;
    }
    judge_answer(l);
    return TRANSPORT_OK;
}

/* ---- disconnecting */

static void destroy(struct line *l)
{
    struct caller *c = l->caller;
    if (c->taken_of == l)
        c->taken_of = NULL;
    for (unsigned i = 0; i < CALLS; i++)
        if (c->lines[i] == l)
            c->lines[i] = NULL;
    if (l->qp)
        ibv_destroy_qp(l->qp);
    if (l->received)
        ibv_destroy_cq(l->received);
    if (l->sent)
        ibv_destroy_cq(l->sent);
    if (l->mr)
        ibv_dereg_mr(l->mr);
    if (l->channel)
        ibv_destroy_comp_channel(l->channel);
    if (l->pd)
        ibv_dealloc_pd(l->pd);
    /*
     * The kernel withdraws a pending REQ with a REJ and ends an established connection with a DREQ.
     */
    if (l->id)
        rdma_destroy_id(l->id);
    g_free(l->memory);
    g_free(l);
}

void caller_hang_up(struct caller *c, struct call *call, int ms, bool *answered)
{
    struct line *l = (struct line *)call;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    take_events(c);
    l->disconnecting = !l->disconnected;
    bool asks = call->result == CALL_UP && l->disconnecting && rdma_disconnect(l->id) == 0;
    while (asks && !l->disconnected && !*c->stop && g_get_monotonic_time() < end) {
        struct pollfd fd = {c->events->fd, POLLIN, 0};
        poll(&fd, 1, STEP_MS);
        take_events(c);
    }
    *answered = asks && l->disconnected && l->disconnect_status == 0;
    destroy(l);
}

/* ---- messages */

enum transport_result caller_send(struct caller *c, struct call *call, const uint8_t *octets,
                                  uint32_t n)
{
    struct line *l = (struct line *)call;
    uint8_t *slot = l->memory + (size_t)SLOTS * SLOT_SIZE;
    struct ibv_wc wc;
    int done = 0;
    take_events(c);
    if (call->dead || call->result != CALL_UP)
        return TRANSPORT_NOTHING;
    memcpy(slot, octets, n);
    struct ibv_sge sge = {(uintptr_t)slot, n, l->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    int error = ibv_post_send(l->qp, &wr, &bad);
    gint64 end = g_get_monotonic_time() + (gint64)SEND_WAIT_MS * 1000;
    while (!error && (done = ibv_poll_cq(l->sent, 1, &wc)) == 0 && g_get_monotonic_time() < end)
        if (*c->stop)
            return TRANSPORT_STOPPED;
    if (done > 0 && wc.status == IBV_WC_SUCCESS)
        return TRANSPORT_OK;
    call->dead = true;
    snprintf(call->why, sizeof call->why,
             "a message of %u octets did not go over the connection: %s", n,
             error      ? strerror(error)
             : done > 0 ? ibv_wc_status_str(wc.status)
                        : "not acknowledged in time");
    return TRANSPORT_NOTHING;
}

static bool take_of(struct line *l, struct ud_from *from)
{
    struct ibv_wc wc;
    while (l->received && ibv_poll_cq(l->received, 1, &wc) > 0) {
        unsigned slot = (unsigned)wc.wr_id;
        if (wc.status != IBV_WC_SUCCESS)
            continue; /* the queue pair is in the error state and receives nothing more */
        *from = (struct ud_from){
            .octets = view_make(l->memory + (size_t)slot * SLOT_SIZE, wc.byte_len, wc.byte_len),
            .call = &l->call,
            .qpn = l->call.peer_qpn,
            .lid = l->call.peer_lid,
            .sl = l->call.sl};
        l->caller->taken_of = l;
        l->caller->taken = slot;
        return true;
    }
    return false;
}

static void take_completion_event(struct line *l)
{
    struct pollfd fd = {l->channel->fd, POLLIN, 0};
    struct ibv_cq *cq;
    void *context;
    if (poll(&fd, 1, 0) > 0 && ibv_get_cq_event(l->channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
        ibv_req_notify_cq(l->received, 0);
    }
}

bool caller_take(struct caller *c, struct ud_from *from)
{
    take_events(c);
    if (c->taken_of)
        post_slot(c->taken_of, c->taken);
    c->taken_of = NULL;
    for (unsigned i = 0; i < CALLS; i++) {
        struct line *l = c->lines[i];
        if (!l || l->call.result != CALL_UP || !l->channel)
            continue;
        take_completion_event(l);
        if (take_of(l, from))
            return true;
    }
    return false;
}

unsigned caller_fds(struct caller *c, struct pollfd fds[CALLER_FDS])
{
    unsigned n = 0;
    fds[n++] = (struct pollfd){c->events->fd, POLLIN, 0};
    for (unsigned i = 0; i < CALLS; i++)
        if (c->lines[i] && c->lines[i]->channel)
            fds[n++] = (struct pollfd){c->lines[i]->channel->fd, POLLIN, 0};
    return n;
}

/* ---- opening */

struct caller *caller_new(const struct port_facts *f, const volatile int *stop, char *why,
                          size_t size)
{
    errno = 0;
    struct rdma_event_channel *events = rdma_create_event_channel();
    if (!events) {
        bool denied = errno == EACCES || errno == EPERM;
        snprintf(why, size,
                 denied ? "this user may not open /dev/infiniband/rdma_cm"
                        : "/dev/infiniband/rdma_cm cannot be opened (modprobe rdma_ucm)");
        return NULL;
    }
    int flags = fcntl(events->fd, F_GETFL);
    fcntl(events->fd, F_SETFL, flags | O_NONBLOCK);
    struct caller *c = g_new0(struct caller, 1);
    *c = (struct caller){.facts = f, .stop = stop, .events = events};
    return c;
}

void caller_free(struct caller *c)
{
    for (unsigned i = 0; c && i < CALLS; i++)
        if (c->lines[i]) {
            if (c->lines[i]->call.result == CALL_UP)
                rdma_disconnect(c->lines[i]->id);
            destroy(c->lines[i]);
        }
    if (c)
        rdma_destroy_event_channel(c->events);
    g_free(c);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces libibverbs: the functions that ipoib-capture uses, on the simulated device of machine.c.
 * It is loaded instead of the library (LD_LIBRARY_PATH). If the program uses verbs incorrectly
 * (events not acknowledged, resources freed while in use or not freed at all, a flow on a UD queue
 * pair of a device that is named mlx5), it prints a line on stderr that begins with "replay:" and
 * aborts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "machine.h"

#undef ibv_query_port
#undef ibv_reg_mr

#define EXPORT __attribute__((visibility("default")))

struct device {
    struct ibv_device ibv;
    struct scenario scenario;
};

struct context {
    struct machine machine;
    struct verbs_context verbs; /* the program gets a pointer to its last member */
    int pds, mrs, channels, cqs, qps, flows;
    uint32_t qkey; /* of the UD queue pair */
};

struct completion_queue {
    struct ibv_cq_ex ex;
    unsigned events, acked;
    struct completion now;
};

static struct device devices[MAX_DEVICES];
static int device_count = -1;

static struct context *context_of(struct ibv_context *ibv)
{
    return (struct context *)((char *)ibv - offsetof(struct context, verbs.context));
}

static struct machine *machine_of(struct ibv_context *ibv)
{
    return &context_of(ibv)->machine;
}

static void misuse(const char *what)
{
    fprintf(stderr, "replay: misuse: %s\n", what);
    abort();
}

static int refuse(struct ibv_context *ibv, const char *verb)
{
    const struct machine *m = machine_of(ibv);
    int error = m->has_failed ? scenario_failure_later(m->scenario, verb)
                              : scenario_failure(m->scenario, verb);

    if (error)
        errno = error;
    return error;
}

/* --- devices */

static const char *scenario_path;

/* Before main(): a program with file capabilities clears its environment then. */
__attribute__((constructor)) static void find_scenario(void)
{
    scenario_path = getenv("IPOIB_REPLAY");
}

static void read_scenario(void)
{
    static struct scenario scenarios[MAX_DEVICES];

    if (device_count >= 0)
        return;
    device_count = scenario_path ? scenario_read(scenario_path, scenarios) : 0;
    for (int i = 0; i < device_count; i++) {
        struct device *d = &devices[i];

        d->scenario = scenarios[i];
        memcpy(d->ibv.name, scenarios[i].name, sizeof(d->ibv.name));
        snprintf(d->ibv.dev_name, sizeof(d->ibv.dev_name), "uverbs%d", i);
        memcpy(d->ibv.ibdev_path, scenarios[i].sysfs, sizeof(scenarios[i].sysfs));
        d->ibv.node_type = d->scenario.iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
        d->ibv.transport_type = d->scenario.iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
    }
}

EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list;

    read_scenario();
    if (device_count > 0 && scenario_failure(&devices[0].scenario, "list")) {
        errno = scenario_failure(&devices[0].scenario, "list");
        return NULL;
    }
    list = calloc((size_t)device_count + 1, sizeof(*list));
    for (int i = 0; i < device_count; i++)
        list[i] = &devices[i].ibv;
    if (count)
        *count = device_count;
    return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

/* --- flows, and what an extended context has */

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    struct context *c = context_of(qp->context);
    struct ibv_flow *flow;

    if (qp->qp_type == IBV_QPT_UD && strncmp(qp->context->device->name, "mlx5", 4) == 0)
        misuse(
            "a flow on a UD queue pair: mlx5's driver would attach it to another receive object");
    if (refuse(qp->context, "flow"))
        return NULL;
    if (attr->type != IBV_FLOW_ATTR_SNIFFER || attr->size != sizeof(*attr) ||
        attr->num_of_specs != 0 || attr->port < 1 || attr->port > c->machine.scenario->ports ||
        qp->state != IBV_QPS_RTR) {
        errno = EINVAL;
        return NULL;
    }
    flow = calloc(1, sizeof(*flow));
    flow->context = qp->context;
    c->flows++;
    pthread_mutex_lock(&c->machine.lock);
    machine_start_flow(&c->machine);
    pthread_mutex_unlock(&c->machine.lock);
    return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
    struct context *c = context_of(flow->context);

    pthread_mutex_lock(&c->machine.lock);
    c->machine.flow = false;
    pthread_mutex_unlock(&c->machine.lock);
    c->flows--;
    free(flow);
    return 0;
}

static enum ibv_mtu mtu_code(unsigned mtu)
{
    return mtu >= 4096 ? IBV_MTU_4096 : mtu >= 2048 ? IBV_MTU_2048 : IBV_MTU_1024;
}

static int query_port(struct ibv_context *ibv, uint8_t port, struct ibv_port_attr *attr, size_t len)
{
    const struct scenario *s = machine_of(ibv)->scenario;
    struct ibv_port_attr all = {
        .state = s->state,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = mtu_code(s->mtu),
        .gid_tbl_len = 1,
        .pkey_tbl_len = (uint16_t)s->pkey_count,
        .lid = s->lid,
        .lmc = s->lmc,
        .link_layer = s->link_layer,
        .port_cap_flags = s->is_sm ? 1 << 1 : 0,
    };

    if (port < 1 || port > s->ports || refuse(ibv, "query-port"))
        return errno = port < 1 || port > s->ports ? EINVAL : errno;
    memcpy(attr, &all, len < sizeof(all) ? len : sizeof(all));
    return 0;
}

static int query_device_ex(struct ibv_context *ibv, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t len)
{
    struct ibv_device_attr_ex all = {.hca_core_clock = machine_of(ibv)->scenario->clock_khz};

    (void)input;
    if (all.hca_core_clock)
        all.completion_timestamp_mask = UINT64_MAX >> 16;
    memcpy(attr, &all, len < sizeof(all) ? len : sizeof(all));
    return 0;
}

/* --- completions */

static uint64_t counter_at(const struct scenario *s, uint64_t time)
{
    uint64_t khz = s->clock_khz + (uint64_t)((int64_t)s->clock_khz * s->clock_drift / 1000000);

    return (time / 1000000 * khz + time % 1000000 * khz / 1000000) & UINT64_MAX >> 16;
}

static int query_rt_values(struct ibv_context *ibv, struct ibv_values_ex *values)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = (long)counter_at(
        machine_of(ibv)->scenario, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    return 0;
}

/*
 * Called in the program's calls: delivers the frames that are due. Not with "thread", where the
 * calls use no lock.
 */
static void enter(struct machine *m, uint32_t wanted)
{
    if (m->scenario->threaded)
        return;
    pthread_mutex_lock(&m->lock);
    machine_advance(m, wanted);
}

static void leave(struct machine *m)
{
    if (!m->scenario->threaded)
        pthread_mutex_unlock(&m->lock);
}

static bool poll_fails(const struct machine *m)
{
    return m->removed || m->poll_error || m->cq_error;
}

static int poll_cq(struct ibv_cq *cq, int room, struct ibv_wc *wc)
{
    struct machine *m = machine_of(cq->context);
    struct completion c;
    int count = 0;

    enter(m, (uint32_t)room);
    if (poll_fails(m))
        count = -1;
    while (count >= 0 && count < room && machine_take(m, &c)) {
        wc[count].wr_id = c.wr_id;
        wc[count].status = c.status;
        wc[count].vendor_err = c.status ? 0x70 + c.status : 0;
        wc[count].byte_len = c.status ? 0xdeadbeef : c.len; /* invalid after an error */
        wc[count].src_qp = c.src_qp;
        wc[count].slid = c.slid;
        wc[count].sl = c.sl;
        wc[count].dlid_path_bits = 0;
        wc[count].wc_flags = c.grh ? IBV_WC_GRH : 0;
        count++;
    }
    leave(m);
    return count;
}

static int next_poll(struct ibv_cq_ex *ex)
{
    struct completion_queue *cq = (struct completion_queue *)ex;
    struct machine *m = machine_of(ex->context);

    if (poll_fails(m))
        return EIO;
    if (!machine_take(m, &cq->now))
        return ENOENT;
    ex->wr_id = cq->now.wr_id;
    ex->status = cq->now.status;
    return 0;
}

/* The lock is held from a successful start to the end, as in a real queue. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    struct machine *m = machine_of(ex->context);
    int error;

    (void)attr;
    enter(m, 64);
    error = next_poll(ex);
    if (error)
        leave(m);
    return error;
}

static void end_poll(struct ibv_cq_ex *ex)
{
    leave(machine_of(ex->context));
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
    return ((struct completion_queue *)ex)->now.len;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
    return 0x70 + (uint32_t)ex->status;
}

static uint64_t read_wallclock(struct ibv_cq_ex *ex)
{
    return ((struct completion_queue *)ex)->now.time +
           (uint64_t)machine_of(ex->context)->scenario->clock_ahead;
}

static uint64_t read_ts(struct ibv_cq_ex *ex)
{
    return counter_at(machine_of(ex->context)->scenario, ((struct completion_queue *)ex)->now.time);
}

static int req_notify(struct ibv_cq *cq, int solicited)
{
    struct machine *m = machine_of(cq->context);

    (void)solicited;
    pthread_mutex_lock(&m->lock);
    machine_arm(m);
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static struct completion_queue *new_cq(struct ibv_context *ibv, int entries,
                                       struct ibv_comp_channel *channel)
{
    struct completion_queue *cq;

    if (refuse(ibv, "cq"))
        return NULL;
    if (entries < 1 || entries > machine_of(ibv)->scenario->max_cqe) {
        errno = EINVAL;
        return NULL;
    }
    cq = calloc(1, sizeof(*cq));
    cq->ex.context = ibv;
    cq->ex.channel = channel;
    cq->ex.cqe = entries;
    context_of(ibv)->cqs++;
    return cq;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *ibv, int entries, void *user,
                                    struct ibv_comp_channel *channel, int vector)
{
    struct completion_queue *cq = new_cq(ibv, entries, channel);

    (void)vector;
    if (cq)
        cq->ex.cq_context = user;
    return cq ? ibv_cq_ex_to_cq(&cq->ex) : NULL;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *ibv, struct ibv_cq_init_attr_ex *attr)
{
    const struct scenario *s = machine_of(ibv)->scenario;
    bool wallclock = attr->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    struct completion_queue *cq;

    if (wallclock ? !s->wallclock : !s->clock_khz) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    cq = new_cq(ibv, (int)attr->cqe, attr->channel);
    if (!cq)
        return NULL;
    cq->ex.start_poll = start_poll;
    cq->ex.next_poll = next_poll;
    cq->ex.end_poll = end_poll;
    cq->ex.read_byte_len = read_byte_len;
    cq->ex.read_vendor_err = read_vendor_err;
    cq->ex.read_completion_ts = read_ts;
    cq->ex.read_completion_wallclock_ns = read_wallclock;
    return &cq->ex;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *ibv)
{
    struct completion_queue *cq = (struct completion_queue *)ibv;

    if (context_of(ibv->context)->qps > 0)
        return EBUSY;
    if (cq->events != cq->acked)
        misuse("completion events were not acknowledged: the real library would wait for ever");
    context_of(ibv->context)->cqs--;
    free(cq);
    return 0;
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ibv)
{
    struct ibv_comp_channel *channel;

    if (refuse(ibv, "channel"))
        return NULL;
    channel = calloc(1, sizeof(*channel));
    channel->context = ibv;
    channel->fd = machine_of(ibv)->channel_fd;
    context_of(ibv)->channels++;
    return channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    if (context_of(channel->context)->cqs > 0)
        return EBUSY;
    context_of(channel->context)->channels--;
    free(channel);
    return 0;
}

static struct ibv_cq *the_cq; /* the program has only one */

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
    uint64_t one;

    if (read(channel->fd, &one, sizeof(one)) != sizeof(one))
        return -1;
    *cq = the_cq;
    *user = NULL;
    if (the_cq)
        ((struct completion_queue *)the_cq)->events++;
    return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    ((struct completion_queue *)cq)->acked += count;
}

/* --- queue pairs */

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct machine *m = machine_of(qp->context);
    int error = 0;

    enter(m, 0);
    for (; wr && !error; wr = error ? wr : wr->next) {
        if (qp->state == IBV_QPS_RESET || wr->num_sge != 1)
            error = EINVAL;
        else if (m->post_error || m->removed)
            error = ENOMEM;
        else if (!machine_post(m, wr->wr_id, (uint8_t *)(uintptr_t)wr->sg_list->addr,
                               wr->sg_list->length))
            error = ENOMEM;
    }
    if (error)
        *bad = wr;
    leave(m);
    return error;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct context *c = context_of(pd->context);
    struct ibv_qp *qp;

    if (refuse(pd->context, attr->qp_type == IBV_QPT_UD ? "qp-ud" : "qp-raw"))
        return NULL;
    if (attr->cap.max_recv_wr > (uint32_t)c->machine.scenario->max_qp_wr ||
        attr->cap.max_recv_wr > (uint32_t)attr->recv_cq->cqe) {
        errno = EINVAL;
        return NULL;
    }
    qp = calloc(1, sizeof(*qp));
    qp->context = pd->context;
    qp->qp_type = attr->qp_type;
    qp->qp_num = 0x111;
    c->qps++;
    the_cq = attr->recv_cq;
    pthread_mutex_lock(&c->machine.lock);
    machine_reset_queue(&c->machine, attr->cap.max_recv_wr, (uint32_t)attr->recv_cq->cqe);
    pthread_mutex_unlock(&c->machine.lock);
    return qp;
}

/* Required attributes of a state change (IBA 11.2.5.2; RAW_PACKET: the kernel's table). */
static int wanted_mask(const struct ibv_qp *qp, enum ibv_qp_state state)
{
    if (state == IBV_QPS_INIT && qp->qp_type == IBV_QPT_UD)
        return IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
    return state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int error = refuse(qp->context, attr->qp_state == IBV_QPS_INIT ? "init" : "rtr");

    if (error)
        return error;
    if (mask != wanted_mask(qp, attr->qp_state) ||
        (unsigned)attr->qp_state != (unsigned)qp->state + 1)
        return EINVAL;
    qp->state = attr->qp_state;
    if (mask & IBV_QP_QKEY && attr->qkey == 0x11111111)
        misuse("a Q_Key that everybody can read in ibdump's and older sources");
    if (mask & IBV_QP_QKEY)
        context_of(qp->context)->qkey = attr->qkey;
    return 0;
}

/*
 * True if the SA has the group with this MLID at any time. A group that is created again may have
 * another Q_Key.
 */
static bool is_a_group(const struct context *c, const union ibv_gid *mgid, uint16_t mlid)
{
    const struct scenario *s = c->machine.scenario;
    bool there = false;

    for (int i = 0; i < s->group_count; i++) {
        if (memcmp(s->groups[i].mgid.raw, mgid->raw, 16) != 0 || s->groups[i].mlid != mlid)
            continue;
        if (s->groups[i].qkey == c->qkey)
            return true;
        there = true;
    }
    if (there)
        misuse("a group is attached to a queue pair with another Q_Key");
    return false;
}

/*
 * The device receives a group by its MLID, and drops packets with another Q_Key than the queue
 * pair's.
 */
EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *mgid, uint16_t mlid)
{
    struct context *c = context_of(qp->context);
    int error = refuse(qp->context, "attach");

    if (error)
        return error;
    if (qp->qp_type != IBV_QPT_UD || qp->state == IBV_QPS_RESET || !is_a_group(c, mgid, mlid))
        return EINVAL;
    pthread_mutex_lock(&c->machine.lock);
    error = machine_attach(&c->machine, mgid) ? 0 : ENOMEM;
    pthread_mutex_unlock(&c->machine.lock);
    return error;
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *mgid, uint16_t mlid)
{
    struct context *c = context_of(qp->context);
    bool good;

    (void)mlid;
    pthread_mutex_lock(&c->machine.lock);
    good = machine_detach(&c->machine, mgid);
    pthread_mutex_unlock(&c->machine.lock);
    return good ? 0 : EINVAL;
}

static bool has_posted(struct machine *m)
{
    return atomic_load(&m->posted_ends.put) > 0;
}

static bool is_file(const char *path)
{
    return path[0] && access(path, F_OK) == 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct context *c = context_of(qp->context);

    if (c->flows > 0)
        misuse("a queue pair was destroyed that still has a flow");
    pthread_mutex_lock(&c->machine.lock);
    if (c->machine.began)
        bill_write(&c->machine.bill, c->machine.in_flow, c->machine.lost);
    pthread_mutex_unlock(&c->machine.lock);
    if (has_posted(&c->machine) && is_file(c->machine.scenario->firmware))
        misuse("a queue pair was destroyed to which the firmware's sniffer is attached");
    if (c->machine.attached_count > 0)
        misuse("a queue pair was destroyed that is attached to a group: the kernel refuses that");
    c->qps--;
    free(qp);
    return 0;
}

/* --- memory */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *ibv)
{
    struct ibv_pd *pd;

    if (refuse(ibv, "pd"))
        return NULL;
    pd = calloc(1, sizeof(*pd));
    pd->context = ibv;
    context_of(ibv)->pds++;
    return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    if (context_of(pd->context)->mrs > 0 || context_of(pd->context)->qps > 0)
        misuse("a protection domain was freed that is in use");
    context_of(pd->context)->pds--;
    free(pd);
    return 0;
}

static bool exceeds_limit(size_t len)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           len > limit.rlim_cur;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *memory, size_t len, int access)
{
    struct ibv_mr *mr;

    (void)access;
    if (refuse(pd->context, "mr"))
        return NULL;
    if (machine_of(pd->context)->scenario->memlock && exceeds_limit(len)) {
        errno = ENOMEM;
        return NULL;
    }
    mr = calloc(1, sizeof(*mr));
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = memory;
    mr->length = len;
    /* The real function pins the memory, so it is present from then on. */
    if (machine_of(pd->context)->scenario->bill[0])
        madvise(memory, len, MADV_POPULATE_WRITE);
    context_of(pd->context)->mrs++;
    return mr;
}

/* A program built without optimisation calls this for ibv_reg_mr. */
EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *memory, size_t len, uint64_t iova,
                                       unsigned access)
{
    (void)iova;
    return ibv_reg_mr(pd, memory, len, (int)access);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    if (context_of(mr->context)->qps > 0)
        misuse("memory was freed that a queue pair may write to");
    context_of(mr->context)->mrs--;
    free(mr);
    return 0;
}

/* --- contexts */

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ibv)
{
    struct device *d = (struct device *)ibv;
    struct context *c;

    if (scenario_failure(&d->scenario, "open")) {
        errno = scenario_failure(&d->scenario, "open");
        return NULL;
    }
    c = aligned_alloc(_Alignof(struct context), sizeof(*c));
    memset(c, 0, sizeof(*c));
    machine_create(&c->machine, &d->scenario);
    c->verbs.sz = sizeof(c->verbs);
    c->verbs.query_port = query_port;
    c->verbs.query_device_ex = query_device_ex;
    c->verbs.query_rt_values = query_rt_values;
    c->verbs.create_cq_ex = d->scenario.wallclock || d->scenario.clock_khz ? create_cq_ex : NULL;
    c->verbs.ibv_create_flow = create_flow;
    c->verbs.ibv_destroy_flow = destroy_flow;
    if (scenario_failure(&d->scenario, "flow") == ENOSYS) /* a driver without this function */
        c->verbs.ibv_create_flow = NULL;
    c->verbs.context.device = ibv;
    c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    c->verbs.context.ops.poll_cq = poll_cq;
    c->verbs.context.ops.req_notify_cq = req_notify;
    c->verbs.context.ops.post_recv = post_recv;
    c->verbs.context.cmd_fd = memfd_create("uverbs", MFD_CLOEXEC);
    c->verbs.context.async_fd = c->machine.async_fd;
    return &c->verbs.context;
}

EXPORT int ibv_close_device(struct ibv_context *ibv)
{
    struct context *c = context_of(ibv);

    if (c->pds || c->mrs || c->channels || c->cqs || c->qps || c->flows)
        misuse("a device was closed that is in use");
    machine_destroy(&c->machine);
    close(ibv->cmd_fd);
    free(c);
    return 0;
}

EXPORT int ibv_query_device(struct ibv_context *ibv, struct ibv_device_attr *attr)
{
    const struct scenario *s = machine_of(ibv)->scenario;

    if (refuse(ibv, "query-device"))
        return errno;
    memset(attr, 0, sizeof(*attr));
    attr->max_qp_wr = s->max_qp_wr;
    attr->max_cqe = s->max_cqe;
    attr->phys_port_cnt = (uint8_t)s->ports;
    return 0;
}

EXPORT int ibv_query_port(struct ibv_context *ibv, uint8_t port, struct _compat_ibv_port_attr *attr)
{
    (void)ibv;
    (void)port;
    (void)attr;
    return EOPNOTSUPP; /* programs built with these headers call the context */
}

EXPORT int ibv_query_gid(struct ibv_context *ibv, uint8_t port, int index, union ibv_gid *gid)
{
    (void)port;
    if (index != 0)
        return -1;
    *gid = machine_of(ibv)->scenario->gid;
    return 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *ibv, uint8_t port, int index, __be16 *pkey)
{
    const struct scenario *s = machine_of(ibv)->scenario;

    (void)port;
    if (index >= s->pkey_count)
        return -1;
    *pkey = (uint16_t)(s->pkeys[index] << 8 | s->pkeys[index] >> 8);
    return 0;
}

EXPORT int ibv_get_async_event(struct ibv_context *ibv, struct ibv_async_event *event)
{
    uint32_t type;

    if (read(ibv->async_fd, &type, sizeof(type)) != sizeof(type))
        return -1;
    memset(event, 0, sizeof(*event));
    event->event_type = (enum ibv_event_type)type;
    event->element.port_num = 1;
    return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}

EXPORT const char *ibv_port_state_str(enum ibv_port_state state)
{
    return state == IBV_PORT_ACTIVE ? "PORT_ACTIVE" : "PORT_DOWN";
}

EXPORT const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    static char text[32];

    snprintf(text, sizeof(text), "status %d", (int)status);
    return text;
}

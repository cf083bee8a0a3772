/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated librdmacm and libibverbs. See played_rdma.h. */
#include "played_rdma.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct played played;
struct seen seen;
volatile int stop;

static struct {
    struct rdma_event_channel channel;
    int event_pipe; /* a byte for each waiting event, as in the kernel's file */
    struct rdma_cm_event waiting[EVENTS];
    unsigned n_waiting;
    struct rdma_cm_id ids[CONNECTIONS];
    unsigned n_ids;
} cm;

static struct {
    uint8_t *slots[RECEIVES];
} hca;

static int result(int error)
{
    if (++seen.calls == played.signal_at)
        stop = 2;
    errno = error;
    return error ? -1 : 0;
}

/* Each reading of the clock takes that long, in microseconds. */
static gint64 passed;

gint64 __real_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void);
gint64 __wrap_g_get_monotonic_time(void)
{
    passed += played.tick;
    return __real_g_get_monotonic_time() + passed;
}

/* ---- librdmacm */

static void queue_event(const struct rdma_cm_event *event, struct rdma_cm_id *id)
{
    if (!event)
        return;
    assert_true(cm.n_waiting < EVENTS);
    cm.waiting[cm.n_waiting] = *event;
    cm.waiting[cm.n_waiting++].id = id;
    assert_int_equal(write(cm.event_pipe, "e", 1), 1);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
    int ends[2];
    if (result(played.fails.channel))
        return NULL;
    assert_int_equal(pipe(ends), 0);
    cm.channel.fd = ends[0];
    cm.event_pipe = ends[1];
    played_verbs.live++;
    return &cm.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *c)
{
    close(c->fd);
    close(cm.event_pipe);
    played_verbs.live--;
}

int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *info, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *attr)
{
    (void)pd;
    (void)attr;
    if (result(played.fails.create))
        return -1;
    assert_int_equal(info->ai_port_space, RDMA_PS_IB);
    seen.mode = info->ai_qp_type;
    struct rdma_cm_id *id = &cm.ids[cm.n_ids++ % CONNECTIONS];
    *id = (struct rdma_cm_id){.verbs = played.fails.no_device ? NULL : &played_verbs.context};
    *out = id;
    played_verbs.live++;
    return 0;
}

/* Of an application: by IP address. */
int rdma_create_id(struct rdma_event_channel *c, struct rdma_cm_id **out, void *context,
                   enum rdma_port_space space)
{
    assert_ptr_equal(c, &cm.channel);
    assert_int_equal(space, RDMA_PS_TCP);
    if (result(played.fails.create))
        return -1;
    struct rdma_cm_id *id = &cm.ids[cm.n_ids++ % CONNECTIONS];
    *id = (struct rdma_cm_id){
        .verbs = &played_verbs.context, .context = context, .port_num = played_port.port};
    *out = id;
    played_verbs.live++;
    return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t n)
{
    (void)id;
    (void)data;
    assert_int_equal(n, 0);
    seen.rejects++;
    return result(0);
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *c)
{
    assert_ptr_equal(c, &cm.channel);
    (void)id;
    return result(played.fails.migrate);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
    (void)from;
    assert_true(ms > 0);
    bool by_ip = to->sa_family != AF_IB; /* a struct sockaddr_storage */
    memcpy(by_ip ? (void *)&seen.to_ip : (void *)&seen.to, to,
           by_ip ? sizeof seen.to_ip : sizeof seen.to);
    if (result(played.fails.address))
        return -1;
    queue_event(played.events.address, id);
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
    assert_true(ms > 0);
    if (result(played.fails.route))
        return -1;
    queue_event(played.events.route, id);
    return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *c, struct rdma_cm_event **e)
{
    static struct rdma_cm_event event;
    uint8_t byte;
    if (read(c->fd, &byte, 1) != 1)
        return -1;
    event = cm.waiting[0];
    memmove(cm.waiting, cm.waiting + 1, --cm.n_waiting * sizeof event);
    *e = &event;
    played_verbs.live++;
    return result(0);
}

int rdma_ack_cm_event(struct rdma_cm_event *e)
{
    (void)e;
    played_verbs.live--;
    return 0;
}

/* What the CM knows of the connection (rdma_init_qp_attr(3)). */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    (void)id;
    *mask = IBV_QP_STATE;
    if (result(attr->qp_state == played.fails.at ? played.fails.attributes : 0))
        return -1;
    attr->dest_qp_num = PEER_QPN;
    attr->rq_psn = PEER_PSN;
    attr->sq_psn = PSN;
    attr->ah_attr.dlid = PEER_LID;
    attr->ah_attr.sl = 3;
    attr->path_mtu = IBV_MTU_2048;
    attr->timeout = CM_ACK_TIMEOUT;
    return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    seen.request = *param;
    if (param->private_data_len)
        memcpy(seen.request_data, param->private_data, param->private_data_len);
    if (result(played.fails.connect))
        return -1;
    seen.connects++;
    if (played.signal_at_req)
        stop = 2;
    queue_event(played.events.connect, id);
    return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
    (void)id;
    seen.established += !played.fails.establish;
    return result(played.fails.establish);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
    if (result(played.fails.disconnect))
        return -1;
    seen.disconnects++;
    queue_event(played.events.disconnect, id);
    return 0;
}

/* Like the kernel, drops the events of the ID that are not delivered yet. */
int rdma_destroy_id(struct rdma_cm_id *id)
{
    unsigned left = 0;
    uint8_t byte;
    for (unsigned i = 0; i < cm.n_waiting; i++)
        if (cm.waiting[i].id != id)
            cm.waiting[left++] = cm.waiting[i];
    for (; cm.n_waiting > left; cm.n_waiting--)
        assert_int_equal(read(cm.channel.fd, &byte, 1), 1);
    played_verbs.live--;
    return 0;
}

/* ---- libibverbs */

static int play_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    (void)n;
    result(0);
    if (cq == &played_verbs.sent) {
        *wc = (struct ibv_wc){.status = played.sent_status};
        return !played.silent_cq;
    }
    if (!played.n_coming)
        return 0;
    *wc = played.coming[0];
    memmove(played.coming, played.coming + 1, --played.n_coming * sizeof *wc);
    return 1;
}

static int play_req_notify(struct ibv_cq *cq, int solicited)
{
    assert_ptr_equal(cq, &played_verbs.received);
    assert_false(solicited);
    seen.notifies++;
    return 0;
}

static int play_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp;
    (void)bad;
    assert_true(wr->wr_id < RECEIVES);
    assert_true(wr->sg_list->length >= CONNECTED_MESSAGE_SIZE); /* every message fits */
    hca.slots[wr->wr_id] = (uint8_t *)wr->sg_list->addr; /* NOLINT(performance-no-int-to-ptr) */
    seen.posted++;
    return played.fails.post_recv;
}

static int play_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)qp;
    (void)bad;
    assert_int_equal(wr->opcode, IBV_WR_SEND);
    seen.n_sent++;
    seen.sent_size = wr->sg_list->length;
    seen.first_sent = *(uint8_t *)wr->sg_list->addr; /* NOLINT(performance-no-int-to-ptr) */
    return played.fails.post_send;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    (void)pd;
    if (result(played.fails.qp))
        return NULL;
    seen.qp = (struct ibv_qp){
        .context = &played_verbs.context, .qp_num = QPN, .qp_type = init->qp_type, .pd = pd};
    played_verbs.live++;
    return &seen.qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    (void)qp;
    assert_true(mask & IBV_QP_STATE);
    if (attr->qp_state == IBV_QPS_RTR)
        seen.posted_before_rtr = seen.posted;
    seen.states[seen.n_states++ % 4] = attr->qp_state;
    seen.timeout = attr->timeout;
    int error = attr->qp_state == played.fails.at ? played.fails.modify : 0;
    result(error);
    return error;
}

/* ---- the connection of a test */

/* Private data of a REP: 8 bytes of RFC 4755 section 6, then zeros (IBA 12.6.8: 196 bytes). */
const uint8_t rep_data[196] = {0, 0, 0, 0x48, 0, 0, 0xff, 0xf4};

EVENT(resolved, .event = RDMA_CM_EVENT_ADDR_RESOLVED);
EVENT(routed, .event = RDMA_CM_EVENT_ROUTE_RESOLVED);
EVENT(rep, .event = RDMA_CM_EVENT_CONNECT_RESPONSE,
      .param.conn = {.private_data = rep_data, .private_data_len = sizeof rep_data});
EVENT(drep, .event = RDMA_CM_EVENT_DISCONNECTED);
const struct port_facts played_port = {
    .device = "mlx5_3", .port = 2, .lid = 3, .sm_lid = 17, .gid = {0xfe, 0x80, [15] = 1}};
const struct connect_request played_request = {.gid = {0xfe, 0x80, [15] = 2},
                                               .pkey = 0x8012,
                                               .service_id = 0x01ca0000000048ULL,
                                               .private_data = {0, 0, 0, 0x49, 0, 0, 0xff, 0xf4},
                                               .private_size = 8};
struct connector *connector;
struct cm_connection *connection;
char why[160];

/* A peer that accepts the connection and responds to the DREQ. */
int played_begin(void **state)
{
    (void)state;
    memset(&played, 0, sizeof played);
    memset(&seen, 0, sizeof seen);
    memset(&cm, 0, sizeof cm);
    memset(&hca, 0, sizeof hca);
    static struct ibv_device device = {.name = "mlx5_3"};
    played_verbs = (struct played_verbs){.called = result};
    played_verbs.context.device = &device;
    played_verbs.context.ops = (struct ibv_context_ops){.poll_cq = play_poll_cq,
                                                        .req_notify_cq = play_req_notify,
                                                        .post_recv = play_post_recv,
                                                        .post_send = play_post_send};
    played.events.address = &resolved;
    played.events.route = &routed;
    played.events.connect = &rep;
    played.events.disconnect = &drep;
    stop = 0;
    connector = connector_new(&played_port, &stop, why, sizeof why);
    assert_non_null(connector);
    return 0;
}

int played_end(void **state)
{
    (void)state;
    connector_free(connector);
    assert_int_equal(played_verbs.live, 0); /* every resource is released */
    return 0;
}

enum transport_result connect_as(const struct connect_request *q)
{
    return connector_connect(connector, q, 100, &connection);
}

void connect_up(void)
{
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->result, CONNECT_ACCEPTED);
}

bool disconnect(void)
{
    bool answered;
    connector_disconnect(connector, connection, 100, &answered);
    return answered;
}

void says(const char *words)
{
    if (!strstr(connection->why, words))
        fail_msg("\"%s\" does not say \"%s\"", connection->why, words);
    assert_true(strlen(connection->why) + 1 < sizeof connection->why);
}

void played_event(const struct rdma_cm_event *event)
{
    queue_event(event, &cm.ids[(cm.n_ids - 1) % CONNECTIONS]);
}

void played_message(unsigned slot, uint32_t n, enum ibv_wc_status status)
{
    memset(hca.slots[slot], (int)slot + 1, n);
    played.coming[played.n_coming++] = (struct ibv_wc){
        .wr_id = slot, .status = status, .byte_len = n};
}

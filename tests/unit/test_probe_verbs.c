/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transport on a port (probe/link/verbs.c) without an adapter. libibverbs is simulated: it has
 * one device with an Ethernet port and an InfiniBand port, and delivers the packets of a test.
 */
#include "played_verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/link/connect.h"
#include "probe/link/transport.h"

enum { PORTS = 2, IB_PORT = 2, QPN = 0x100, SLOTS_MAX = 512, QPS = 3 };

/* Failures of the simulated library. */
static struct {
    int open, umad, modify, post, ah, attach; /* an errno each; 0: success */
    bool ethernet, silent_cq;
    int sent_status; /* completion status of the next packet */
} fails;

static struct {
    struct ibv_device device;
    struct ibv_qp qp[QPS];
    unsigned qps, ahs;
    uint8_t *slots[SLOTS_MAX]; /* posted receive buffers, by wr_id */
    struct ibv_wc coming[4];   /* completions to return */
    unsigned n_coming, n_sent;
    struct ibv_send_wr last;
    uint32_t last_qpn, last_n;
    uint8_t last_bytes[UD_SIZE];
} hca;

static volatile int stop;

/* What a subnet management agent was asked through; errors that the port has counted. */
static struct {
    char device[64];
    unsigned port;
} asked;
static uint16_t qkey_violations;

/* ---- libibverbs */

static int play_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    (void)n;
    if (cq == &played_verbs.sent) {
        if (fails.silent_cq || !hca.n_sent)
            return 0;
        hca.n_sent--;
        *wc = (struct ibv_wc){.status = (enum ibv_wc_status)fails.sent_status};
        return 1;
    }
    if (!hca.n_coming)
        return 0;
    *wc = hca.coming[0];
    memmove(hca.coming, hca.coming + 1, --hca.n_coming * sizeof *hca.coming);
    return 1;
}

static int play_req_notify(struct ibv_cq *cq, int solicited)
{
    (void)cq;
    (void)solicited;
    return 0;
}

static int play_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp;
    (void)bad;
    hca.slots[wr->wr_id] = (uint8_t *)wr->sg_list->addr; /* NOLINT(performance-no-int-to-ptr) */
    return 0;
}

static int play_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)bad;
    if (fails.post)
        return fails.post;
    hca.last = *wr;
    hca.last_qpn = qp->qp_num;
    hca.last_n = wr->sg_list->length;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    memcpy(hca.last_bytes, (const uint8_t *)wr->sg_list->addr, hca.last_n);
    hca.n_sent++;
    return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
    struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));
    strcpy(hca.device.dev_name, "uverbs0");
    list[0] = &hca.device;
    *n = 1;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    (void)device;
    return "play0";
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    errno = fails.open;
    if (fails.open)
        return NULL;
    played_verbs.context = (struct ibv_context){.device = device,
                                                .ops = {.poll_cq = play_poll_cq,
                                                        .req_notify_cq = play_req_notify,
                                                        .post_recv = play_post_recv,
                                                        .post_send = play_post_send}};
    played_verbs.live++;
    return &played_verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
    (void)context;
    played_verbs.live--;
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *d)
{
    (void)context;
    *d = (struct ibv_device_attr){.phys_port_cnt = PORTS};
    return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *out)
{
    struct ibv_port_attr *p = (struct ibv_port_attr *)out;
    (void)context;
    bool ethernet = port != IB_PORT || fails.ethernet;
    p->state = IBV_PORT_ACTIVE;
    p->active_mtu = IBV_MTU_2048;
    p->active_width = 2;
    p->active_speed = 32;
    p->lid = 3;
    p->sm_lid = 1;
    p->pkey_tbl_len = 2;
    p->qkey_viol_cntr = qkey_violations;
    p->link_layer = ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    (void)context;
    (void)port;
    (void)index;
    memset(gid, 0, sizeof *gid);
    gid->raw[0] = 0xfe;
    gid->raw[1] = 0x80;
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    (void)context;
    (void)port;
    *pkey = htons(index ? 0x8001 : 0xffff);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    assert_int_equal(init->qp_type, IBV_QPT_UD);
    struct ibv_qp *qp = &hca.qp[hca.qps];
    *qp = (struct ibv_qp){.context = pd->context, .qp_num = QPN + hca.qps++};
    played_verbs.live++;
    return qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    (void)qp;
    (void)attr;
    (void)mask;
    return fails.modify;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    static struct ibv_ah ah;
    (void)pd;
    (void)attr;
    errno = fails.ah;
    hca.ahs += !fails.ah;
    played_verbs.live += !fails.ah;
    return fails.ah ? NULL : &ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    (void)ah;
    played_verbs.live--;
    return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)gid;
    assert_int_equal(qp->qp_num, QPN);
    assert_int_equal(lid, 0xc000);
    return fails.attach;
}

/* ---- the SA and connections, which have their own tests */

int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port)
{
    assert_string_equal(device, "play0");
    assert_int_equal(port, IB_PORT);
    *sa = NULL;
    return fails.umad;
}

void umad_sa_close(struct umad_sa *sa)
{
    (void)sa;
}

enum sa_outcome umad_sa_query(struct umad_sa *sa, const struct sa_query *q, int ms,
                              const volatile int *stopped, struct sa_response *a, char *error,
                              size_t n)
{
    (void)sa;
    (void)q;
    (void)ms;
    (void)a;
    (void)error;
    (void)n;
    return *stopped ? SA_INTERRUPTED : SA_OK;
}

enum agent_answer smp_ask(const char *device, unsigned port, struct smp_request *q, int ms,
                          const volatile int *stopped)
{
    g_strlcpy(asked.device, device, sizeof asked.device);
    asked.port = port;
    (void)q;
    (void)ms;
    (void)stopped;
    return AGENT_ANSWERS;
}

enum agent_answer agent_ask(const char *device, unsigned port, struct agent_request *q, int ms,
                            const volatile int *stopped)
{
    g_strlcpy(asked.device, device, sizeof asked.device);
    asked.port = port;
    (void)q;
    (void)ms;
    (void)stopped;
    return AGENT_ANSWERS;
}

enum sa_outcome umad_sa_watch(struct umad_sa *sa)
{
    (void)sa;
    return SA_NOTHING;
}

enum sa_outcome umad_sa_next_notice(struct umad_sa *sa, int ms, const volatile int *stopped,
                                    uint8_t notice[NOTICE_SIZE], char *error, size_t n)
{
    (void)sa;
    (void)ms;
    (void)stopped;
    (void)notice;
    (void)error;
    (void)n;
    return SA_FAILED;
}

/* ---- the tests */

static struct transport *t;
static GError *why;

static enum opening try_open(const char *device, unsigned port)
{
    g_clear_error(&why);
    return verbs_open(&t, device, port, &stop, &why);
}

static int begin(void **state)
{
    (void)state;
    memset(&fails, 0, sizeof fails);
    memset(&hca, 0, sizeof hca);
    memset(&played_verbs, 0, sizeof played_verbs);
    stop = 0;
    assert_int_equal(try_open(NULL, 0), OPENED);
    return 0;
}

static int end(void **state)
{
    (void)state;
    t->ops->close(t);
    g_clear_error(&why);
    assert_int_equal(played_verbs.live, 0); /* all resources are released */
    return 0;
}

static void the_port_is_described(void **state)
{
    (void)state;
    assert_int_equal(t->facts.port, IB_PORT);
    assert_string_equal(t->facts.device, "play0");
    assert_int_equal(t->facts.lid, 3);
    assert_int_equal(t->facts.rate_100mbps, 1000); /* 4 lanes of 25 Gb/s */
    assert_int_equal(t->facts.n_pkeys, 2);
    assert_int_equal(t->facts.pkeys[1], 0x8001);
    assert_true(transport_can(t, CAN_ALL));
    assert_false(t->ops->can_connect(t));
    assert_string_equal(t->no_connections, "this ipoib-probe was built without librdmacm");
}

static void what_cannot_be_opened_says_why(void **state)
{
    struct transport *opened = t;
    (void)state;
    assert_int_equal(try_open("other0", 0), OPEN_NO_DEVICE);
    assert_string_equal(why->message, "there is no RDMA device other0; there is play0");
    assert_int_equal(try_open("play0", 3), OPEN_NO_PORT);
    assert_string_equal(why->message, "play0 has no port 3");
    assert_int_equal(try_open("play0", 1), OPEN_NO_DEVICE);
    assert_non_null(strstr(why->message, "Ethernet"));
    fails.umad = EACCES;
    assert_int_equal(try_open("play0", 0), OPEN_NO_PRIVILEGE);
    assert_non_null(strstr(why->message, "/dev/infiniband/umad"));
    fails.umad = ENOENT;
    assert_int_equal(try_open("play0", 0), OPEN_NO_DEVICE);
    fails.open = EACCES;
    assert_int_equal(try_open("play0", 0), OPEN_NO_PRIVILEGE);
    assert_non_null(strstr(why->message, "/dev/infiniband/uverbs"));
    fails.open = 0;
    fails.ethernet = true;
    assert_int_equal(try_open(NULL, 0), OPEN_NO_DEVICE);
    assert_string_equal(why->message, "play0 has no InfiniBand port");
    t = opened;
}

static void queue_pairs_that_cannot_be_made_say_why(void **state)
{
    (void)state;
    fails.modify = EPERM;
    assert_int_equal(t->ops->open_qp(t, 0, 0x80000b1b), TRANSPORT_ERROR);
    assert_true(t->denied);
    assert_non_null(strstr(t->error, "CAP_NET_RAW"));
}

static void memory_that_cannot_be_locked_is_named(void **state)
{
    (void)state;
    played_verbs.fails.mr = ENOMEM;
    assert_int_equal(t->ops->open_qp(t, 0, 0x0b1b), TRANSPORT_ERROR);
    assert_non_null(strstr(t->error, "ulimit -l"));
    assert_false(t->denied);
}

static const uint8_t bytes[] = {0x08, 0x06, 0, 0, 1, 2, 3};

static enum transport_result send_to(struct ud_to to)
{
    return t->ops->send(t, &to, bytes, sizeof bytes);
}

static void packets_go_out_by_the_right_queue_pair(void **state)
{
    (void)state;
    assert_int_equal(t->ops->open_qp(t, 0, 0x0b1b), TRANSPORT_OK);
    assert_int_equal(t->ops->open_other_partition(t, 1), TRANSPORT_OK);
    assert_int_equal(t->ops->open_other_partition(t, 1), TRANSPORT_OK); /* the same result */
    assert_int_equal(t->other_pkey, 0x8001);
    assert_int_equal(send_to((struct ud_to){.lid = 7, .qpn = 0x48, .qkey = 0x0b1b}), TRANSPORT_OK);
    assert_int_equal(hca.last_qpn, QPN);
    assert_int_equal(hca.last.wr.ud.remote_qpn, 0x48);
    assert_int_equal(hca.last_n, sizeof bytes);
    assert_memory_equal(hca.last_bytes, bytes, sizeof bytes);
    assert_int_equal(send_to((struct ud_to){.lid = 7, .second_qp = true}), TRANSPORT_OK);
    assert_int_equal(hca.last_qpn, QPN + 1);
    assert_int_equal(hca.ahs, 1); /* one path: one address handle */
    assert_int_equal(send_to((struct ud_to){.lid = 7, .other_partition = true, .grh = true}),
                     TRANSPORT_OK);
    assert_int_equal(hca.last_qpn, QPN + 2);
    assert_int_equal(hca.ahs, 2);
    for (uint16_t lid = 20; lid < 40; lid++) /* more paths than the cache holds */
        assert_int_equal(send_to((struct ud_to){.lid = lid}), TRANSPORT_OK);
    assert_int_equal(hca.ahs, 22);
}

static void packets_that_do_not_go_say_why(void **state)
{
    (void)state;
    assert_int_equal(t->ops->open_qp(t, 0, 0x0b1b), TRANSPORT_OK);
    fails.sent_status = IBV_WC_RETRY_EXC_ERR;
    assert_int_equal(send_to((struct ud_to){.lid = 7}), TRANSPORT_ERROR);
    assert_string_equal(t->error, "a packet was not sent: transport retry counter exceeded");
    fails.silent_cq = true;
    assert_int_equal(send_to((struct ud_to){.lid = 7}), TRANSPORT_ERROR);
    assert_non_null(strstr(t->error, strerror(ETIMEDOUT)));
    fails.post = ENOMEM;
    assert_int_equal(send_to((struct ud_to){.lid = 7}), TRANSPORT_ERROR);
    fails.ah = EINVAL;
    assert_int_equal(send_to((struct ud_to){.lid = 8}), TRANSPORT_ERROR);
    assert_non_null(strstr(t->error, "no address handle"));
    fails.attach = EPERM;
    assert_int_equal(t->ops->attach(t, t->facts.gid, 0xc000), TRANSPORT_ERROR);
    assert_true(t->denied);
    fails.attach = 0;
    assert_int_equal(t->ops->attach(t, t->facts.gid, 0xc000), TRANSPORT_OK);
}

/* Delivers a packet of n bytes after the space for the GRH to that slot. */
static void come(unsigned slot, uint32_t n, unsigned flags, int status)
{
    for (uint32_t i = 0; i < n; i++)
        hca.slots[slot][GRH_SIZE + i] = (uint8_t)i;
    hca.coming[hca.n_coming++] = (struct ibv_wc){.wr_id = slot,
                                                 .status = (enum ibv_wc_status)status,
                                                 .byte_len = GRH_SIZE + n,
                                                 .wc_flags = flags,
                                                 .src_qp = 0x48,
                                                 .slid = 7,
                                                 .sl = 1};
}

static void what_comes_shows_its_sender(void **state)
{
    struct ud_from from;
    (void)state;
    assert_int_equal(t->ops->open_qp(t, 0, 0x0b1b), TRANSPORT_OK);
    assert_int_equal(t->ops->receive(t, 0, &from), TRANSPORT_NOTHING);
    come(0, 9, 0, IBV_WC_GENERAL_ERR); /* a completion with an error is not a packet */
    come(1, 9, 0, IBV_WC_SUCCESS);
    come(256, 5, IBV_WC_GRH, IBV_WC_SUCCESS); /* the first slot of the second queue pair */
    assert_int_equal(t->ops->receive(t, 10, &from), TRANSPORT_OK);
    assert_int_equal(from.bytes.cap, 9);
    assert_int_equal(from.bytes.p[8], 8);
    assert_null(from.grh);
    assert_int_equal(from.qpn, 0x48);
    assert_int_equal(from.to_qpn, t->qpn);
    assert_int_equal(from.lid, 7);
    hca.slots[1] = NULL;
    assert_int_equal(t->ops->receive(t, 10, &from), TRANSPORT_OK);
    assert_non_null(hca.slots[1]); /* the previous slot is posted again */
    assert_non_null(from.grh);
    assert_int_equal(from.to_qpn, t->second_qpn);
}

static void an_event_ends_the_wait(void **state)
{
    struct ud_from from;
    (void)state;
    assert_int_equal(t->ops->open_qp(t, 0, 0x0b1b), TRANSPORT_OK);
    played_completion_event();
    assert_int_equal(t->ops->receive(t, 20, &from), TRANSPORT_NOTHING);
    assert_int_equal(played_verbs.events, 1);
    stop = 15;
    assert_int_equal(t->ops->receive(t, 20, &from), TRANSPORT_STOPPED);
    t->ending = true; /* cleanup continues although the user interrupts */
    assert_int_equal(t->ops->receive(t, 0, &from), TRANSPORT_NOTHING);
}

static void the_sa_is_asked_until_a_signal_comes(void **state)
{
    struct sa_query q = {0};
    struct sa_response a = {0};
    uint8_t notice[NOTICE_SIZE];
    (void)state;
    assert_int_equal(t->ops->query(t, &q, 10, &a), TRANSPORT_OK);
    stop = 15;
    assert_int_equal(t->ops->query(t, &q, 10, &a), TRANSPORT_STOPPED);
    t->ending = true;
    assert_int_equal(t->ops->query(t, &q, 10, &a), TRANSPORT_OK);
    assert_int_equal(t->ops->watch(t), TRANSPORT_NOTHING);
    assert_int_equal(t->ops->next_notice(t, 10, notice), TRANSPORT_ERROR);
}

static void agents_are_asked_through_this_port(void **state)
{
    struct smp_request smp = {.lid = 7};
    struct agent_request agent = {.lid = 7};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        memset(&asked, 0, sizeof asked);
        assert_int_equal(i ? t->ops->ask_smp(t, &smp, 10) : t->ops->ask_agent(t, &agent, 10),
                         AGENT_ANSWERS);
        assert_string_equal(asked.device, "play0");
        assert_int_equal(asked.port, IB_PORT);
    }
}

/* The probe compares it with what the port had counted when it was opened. */
static void a_port_that_is_read_again(void **state)
{
    struct port_facts now;
    (void)state;
    qkey_violations = 5;
    assert_true(t->ops->read_port(t, &now));
    qkey_violations = 0;
    assert_int_equal(now.qkey_violations, 5);
    assert_int_equal(now.lid, 3);
    assert_int_equal(t->facts.qkey_violations, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_port_is_described),
        TEST(what_cannot_be_opened_says_why),
        TEST(queue_pairs_that_cannot_be_made_say_why),
        TEST(memory_that_cannot_be_locked_is_named),
        TEST(packets_go_out_by_the_right_queue_pair),
        TEST(packets_that_do_not_go_say_why),
        TEST(what_comes_shows_its_sender),
        TEST(an_event_ends_the_wait),
        TEST(the_sa_is_asked_until_a_signal_comes),
        TEST(agents_are_asked_through_this_port),
        TEST(a_port_that_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

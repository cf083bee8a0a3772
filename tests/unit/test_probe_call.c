/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a connection attempt that a signal interrupts, and the error texts of one that
 * fails. librdmacm is simulated: it returns only the events of the test.
 */
#include "unit.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <unistd.h>

#include "probe/link/cm_error.h"
#include "probe/link/connect.h"
#include "probe/link/transport.h"

/* ---- librdmacm */

static struct rdma_event_channel channel;
static struct rdma_cm_id id;
static unsigned disconnected, connected;
static const struct rdma_cm_event *played; /* ends with an event of type NO_EVENT */
enum { NO_EVENT = -1 };

struct rdma_event_channel *rdma_create_event_channel(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    channel.fd = ends[0];
    return &channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *c)
{
    close(c->fd);
}

int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *info, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *attr)
{
    (void)info;
    (void)pd;
    (void)attr;
    *out = &id;
    return 0;
}

int rdma_migrate_id(struct rdma_cm_id *i, struct rdma_event_channel *c)
{
    (void)i;
    (void)c;
    return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *i, struct sockaddr *from, struct sockaddr *to, int ms)
{
    (void)i;
    (void)from;
    (void)to;
    (void)ms;
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *i, int ms)
{
    (void)i;
    (void)ms;
    return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *c, struct rdma_cm_event **e)
{
    static struct rdma_cm_event event;
    (void)c;
    if (!played || (int)played->event == NO_EVENT)
        return -1;
    event = *played++;
    event.id = &id;
    *e = &event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *e)
{
    (void)e;
    return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type type)
{
    (void)type;
    return "";
}

int rdma_init_qp_attr(struct rdma_cm_id *i, struct ibv_qp_attr *attr, int *mask)
{
    (void)i;
    (void)attr;
    (void)mask;
    return -1;
}

int rdma_connect(struct rdma_cm_id *i, struct rdma_conn_param *param)
{
    (void)i;
    (void)param;
    connected++;
    return -1;
}

int rdma_establish(struct rdma_cm_id *i)
{
    (void)i;
    return -1;
}

int rdma_disconnect(struct rdma_cm_id *i)
{
    (void)i;
    disconnected++;
    return 0;
}

int rdma_destroy_id(struct rdma_cm_id *i)
{
    (void)i;
    return 0;
}

/* ---- the test */

/* Interrupted before the REQ is sent: there is no connection, and none is closed. */
static void interrupted(void **state)
{
    static const struct port_facts facts = {.lid = 3};
    static const struct call_question q = {.pkey = 0xffff};
    volatile int stop = 0;
    char why[160];
    struct call *call;
    bool answered;
    (void)state;
    struct caller *c = caller_new(&facts, &stop, why, sizeof why);
    assert_non_null(c);
    stop = 2;
    assert_int_equal(caller_call(c, &q, 100, &call), TRANSPORT_STOPPED);
    assert_int_equal(call->result, CALL_IMPOSSIBLE);
    assert_string_equal(call->why, "interrupted");
    caller_hang_up(c, call, 100, &answered);
    assert_false(answered);
    assert_int_equal(connected + disconnected, 0);
    caller_free(c);
}

/* ---- error texts */

static struct caller *caller;
static const struct port_facts port = {.device = "mlx5_3", .port = 2, .lid = 3, .sm_lid = 17};
static const struct call_question question = {.pkey = 0x8012};

static void says(const struct call *call, const char *words)
{
    if (!strstr(call->why, words))
        fail_msg("\"%s\" does not say \"%s\"", call->why, words);
}

/* Connects with these events. The error text must contain these three strings, and fit. */
static void check_words(const struct rdma_cm_event *events, const char *what, const char *why,
                        const char *advice)
{
    static volatile int stop;
    char text[160];
    struct call *call;
    bool answered;
    caller = caller_new(&port, &stop, text, sizeof text);
    assert_non_null(caller);
    played = events;
    assert_int_equal(caller_call(caller, &question, 100, &call), TRANSPORT_OK);
    assert_int_equal(call->result, CALL_IMPOSSIBLE);
    says(call, what);
    says(call, why);
    says(call, advice);
    assert_true(strlen(call->why) + 1 < sizeof call->why);
    caller_hang_up(caller, call, 1, &answered);
    caller_free(caller);
    played = NULL;
}

#define END                                                                                        \
    {                                                                                              \
        .event = (enum rdma_cm_event_type)NO_EVENT                                                 \
    }

/*
 * ib_sa reports the result of the PathRecord query as a negative errno: ETIMEDOUT if the SA did not
 * answer, EINVAL if the MAD's status is not 0 (drivers/infiniband/core/sa_query.c).
 */
static void route_errors(void **state)
{
    static const struct rdma_cm_event silent[] = {
        {.event = RDMA_CM_EVENT_ADDR_RESOLVED},
        {.event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -ETIMEDOUT},
        END};
    static const struct rdma_cm_event refused[] = {
        {.event = RDMA_CM_EVENT_ADDR_RESOLVED},
        {.event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -EINVAL},
        END};
    static const struct rdma_cm_event flushed[] = {
        {.event = RDMA_CM_EVENT_ADDR_RESOLVED},
        {.event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -EINTR},
        END};
    static const struct rdma_cm_event unknown[] = {
        {.event = RDMA_CM_EVENT_ADDR_RESOLVED},
        {.event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -1},
        END};
    (void)state;
    check_words(silent, "SA (LID 17) did not answer", "PathRecord query", "ipoib-probe fabric");
    check_words(refused, "SA (LID 17) answered the PathRecord query", "error status",
                "partition 0x8012");
    check_words(flushed, "PathRecord query", strerror(EINTR), "mlx5_3 port 2 still active");
    check_words(unknown, "PathRecord query", "does not tell why", "ipoib-probe fabric");
}

static void address_errors(void **state)
{
    static const struct rdma_cm_event unreachable[] = {
        {.event = RDMA_CM_EVENT_ADDR_ERROR, .status = -EHOSTUNREACH}, END};
    static const struct rdma_cm_event removed[] = {{.event = RDMA_CM_EVENT_DEVICE_REMOVAL}, END};
    (void)state;
    check_words(unreachable, "GID cannot be resolved on mlx5_3 port 2", strerror(EHOSTUNREACH),
                "is the port active");
    check_words(removed, "mlx5_3 was removed", "", "");
}

/*
 * The kernel reports no event. This is rare, because the kernel's queries time out by themselves.
 */
static void no_event(void **state)
{
    static const struct rdma_cm_event nothing[] = {{.event = RDMA_CM_EVENT_ADDR_RESOLVED}, END};
    (void)state;
    check_words(nothing, "SA (LID 17) did not answer", "PathRecord query", "ipoib-probe fabric");
}

/*
 * Errors after the REQ. The simulation has no queue pair for them, so the text is tested directly.
 */
static void words_after_the_req(void **state)
{
    char text[240];
    (void)state;
    cm_error_text(CM_STEP_REQ, -ETIMEDOUT, &port, &question, text, sizeof text);
    assert_non_null(strstr(text, "no answer to the REQ (Connection timed out)"));
    assert_non_null(strstr(text, "is its interface up"));
    cm_error_text(CM_STEP_CONNECT, -EIO, &port, &question, text, sizeof text);
    assert_non_null(strstr(text, "was not finished: Input/output error"));
    assert_non_null(strstr(cm_reject_advice(8), "nothing listens at this Service-ID"));
    assert_non_null(strstr(cm_reject_advice(3), "see its kernel log"));
    assert_null(cm_reject_advice(999));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interrupted),
                                       cmocka_unit_test(route_errors),
                                       cmocka_unit_test(address_errors), cmocka_unit_test(no_event),
                                       cmocka_unit_test(words_after_the_req)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

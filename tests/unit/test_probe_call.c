/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a call that a signal interrupts; librdmacm is played, and never answers. */
#include "unit.h"

#include <rdma/rdma_cma.h>
#include <unistd.h>

#include "probe/connect.h"

/* ---- librdmacm */

static struct rdma_event_channel channel;
static struct rdma_cm_id id;
static unsigned disconnected, connected;

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
    (void)c;
    (void)e;
    return -1;
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

/* Before the REQ is sent: there is no call, and none is ended. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interrupted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

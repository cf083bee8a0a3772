/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connection attempts (probe/link/connect.c) without an adapter: requests, replies and errors. */
#include "played_rdma.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "probe/link/cm_error.h"

EVENT(resolved, .event = RDMA_CM_EVENT_ADDR_RESOLVED);
EVENT(routed, .event = RDMA_CM_EVENT_ROUTE_RESOLVED);
EVENT(removed, .event = RDMA_CM_EVENT_DEVICE_REMOVAL);
EVENT(unreachable, .event = RDMA_CM_EVENT_UNREACHABLE, .status = -ETIMEDOUT);
EVENT(connect_error, .event = RDMA_CM_EVENT_CONNECT_ERROR, .status = -EIO);

/* The attempt must end so, and say these three. */
static void check_words(enum connect_result expected, const char *what, const char *reason,
                        const char *advice)
{
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->result, expected);
    says(what);
    says(reason);
    says(advice);
    assert_false(disconnect());
}

/* ---- connecting */

static void the_request_is_as_asked(void **state)
{
    (void)state;
    connect_up();
    assert_int_equal(seen.to.sib_family, AF_IB);
    assert_int_equal(ntohs(seen.to.sib_pkey), 0x8012);
    assert_int_equal(be64toh(seen.to.sib_sid), played_request.service_id);
    assert_memory_equal(&seen.to.sib_addr, played_request.gid, 16);
    assert_int_equal(seen.mode, IBV_QPT_RC);
    assert_int_equal(seen.request.qp_num, QPN);
    assert_int_equal(seen.request.private_data_len, 8);
    assert_memory_equal(seen.request_data, played_request.private_data, 8);
    assert_int_not_equal(seen.request.rnr_retry_count, 7); /* 7: for ever (IBA 9.7.5.2.8) */
    assert_true(connection->req_ns > 0);
}

static void the_mode_is_uc_if_asked(void **state)
{
    struct connect_request uc = played_request;
    (void)state;
    uc.uc = true;
    assert_int_equal(connect_as(&uc), TRANSPORT_OK);
    assert_int_equal(seen.mode, IBV_QPT_UC);
    assert_int_equal(seen.qp.qp_type, IBV_QPT_UC);
}

static void the_reply_is_stored(void **state)
{
    (void)state;
    connect_up();
    assert_int_equal(connection->qpn, QPN);
    assert_int_equal(connection->peer_qpn, PEER_QPN);
    assert_int_equal(connection->peer_psn, PEER_PSN);
    assert_int_equal(connection->psn, PSN);
    assert_int_equal(connection->peer_lid, PEER_LID);
    assert_int_equal(connection->sl, 3);
    assert_int_equal(connection->path_mtu, IBV_MTU_2048);
    assert_int_equal(connection->ack_timeout, CM_ACK_TIMEOUT); /* as in the REQ */
    assert_int_equal(connection->private_size, sizeof rep_data);
    assert_memory_equal(connection->private_data, rep_data, sizeof rep_data);
}

/* The peer may send as soon as it has the RTU, and a lost message is sent again within a second. */
static void the_queue_pair_is_ready_before_the_rtu(void **state)
{
    (void)state;
    connect_up();
    assert_int_equal(seen.n_states, 3);
    assert_int_equal(seen.states[0], IBV_QPS_INIT);
    assert_int_equal(seen.states[1], IBV_QPS_RTR);
    assert_int_equal(seen.states[2], IBV_QPS_RTS);
    assert_int_equal(seen.posted_before_rtr, RECEIVES);
    assert_true((4096ULL << seen.timeout) * 8 < 1000000000); /* IBA 11.2.5.2, ns; 7 retries */
}

/* IBA 12.6.7: a REJ has 148 bytes of private data. */
static void a_reject_has_its_reason_and_data(void **state)
{
    static const uint8_t data[148] = {1, 2, [147] = 9};
    EVENT(rej, .event = RDMA_CM_EVENT_REJECTED, .status = 28,
          .param.conn = {.private_data = data, .private_data_len = sizeof data});
    (void)state;
    played.events.connect = &rej;
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->result, CONNECT_REJECTED);
    assert_int_equal(connection->reason, 28);
    assert_int_equal(connection->private_size, sizeof data);
    assert_memory_equal(connection->private_data, data, sizeof data);
    assert_false(disconnect());
    assert_int_equal(seen.disconnects, 0); /* there is no connection */
}

/* More than a MAD holds cannot come from the wire; a library may return it. */
static void private_data_is_limited(void **state)
{
    static const uint8_t data[255] = {7};
    EVENT(rej, .event = RDMA_CM_EVENT_REJECTED, .status = 8,
          .param.conn = {.private_data = data, .private_data_len = sizeof data});
    (void)state;
    played.events.connect = &rej;
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->private_size, REP_PRIVATE_SIZE);
}

static void a_reject_without_data(void **state)
{
    EVENT(rej, .event = RDMA_CM_EVENT_REJECTED, .status = 8);
    (void)state;
    played.events.connect = &rej;
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->result, CONNECT_REJECTED);
    assert_int_equal(connection->private_size, 0);
}

static void a_silent_peer(void **state)
{
    (void)state;
    played.events.connect = NULL;
    assert_int_equal(connect_as(&played_request), TRANSPORT_OK);
    assert_int_equal(connection->result, CONNECT_NO_RESPONSE);
    assert_string_equal(connection->why, "");
    assert_int_equal(seen.connects, 1);
}

static void a_peer_that_the_kernel_gives_up(void **state)
{
    (void)state;
    played.events.connect = &unreachable;
    check_words(CONNECT_NO_RESPONSE, "REQ", strerror(ETIMEDOUT), "ib_cm");
}

static void a_connection_that_fails_after_the_req(void **state)
{
    (void)state;
    played.events.connect = &connect_error;
    check_words(CONNECT_NOT_SENT, "connection", strerror(EIO), "try again");
}

static void a_device_that_is_removed(void **state)
{
    (void)state;
    played.events.address = &removed;
    check_words(CONNECT_NOT_SENT, "mlx5_3 was removed", "", "");
    played.events.address = &resolved;
    played.events.route = &removed;
    check_words(CONNECT_NOT_SENT, "mlx5_3 was removed", "", "");
    played.events.route = &routed;
    played.events.connect = &removed;
    check_words(CONNECT_NOT_SENT, "mlx5_3 was removed", "", "");
}

/* ---- errors of the address and the path */

/*
 * ib_sa reports the result of the PathRecord query as a negative errno: ETIMEDOUT if the SA did not
 * answer, EINVAL if the MAD's status is not 0 (drivers/infiniband/core/sa_query.c).
 */
static void route_errors(void **state)
{
    EVENT(silent, .event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -ETIMEDOUT);
    EVENT(refused, .event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -EINVAL);
    EVENT(flushed, .event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -EINTR);
    EVENT(unknown, .event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -1);
    (void)state;
    played.events.route = &silent;
    check_words(CONNECT_NOT_SENT, "SA (LID 17) did not answer", "PathRecord query",
                "ipoib-probe fabric");
    played.events.route = &refused;
    check_words(CONNECT_NOT_SENT, "SA (LID 17) answered the PathRecord query", "error status",
                "partition 0x8012");
    played.events.route = &flushed;
    check_words(CONNECT_NOT_SENT, "PathRecord query", strerror(EINTR),
                "mlx5_3 port 2 is still active");
    played.events.route = &unknown;
    check_words(CONNECT_NOT_SENT, "PathRecord query", "librdmacm", "ipoib-probe fabric");
}

static void address_errors(void **state)
{
    EVENT(no_host, .event = RDMA_CM_EVENT_ADDR_ERROR, .status = -EHOSTUNREACH);
    (void)state;
    played.events.address = &no_host;
    check_words(CONNECT_NOT_SENT, "cannot resolve the peer's GID on mlx5_3 port 2",
                strerror(EHOSTUNREACH), "check that the port is active");
}

/* The kernel reports no event. This is rare, because the kernel's queries time out by themselves.
 */
static void no_event(void **state)
{
    (void)state;
    played.tick = 500 * 1000;
    played.events.route = NULL;
    check_words(CONNECT_NOT_SENT, "SA (LID 17) did not answer", "PathRecord query",
                "ipoib-probe fabric");
    played.events.address = NULL;
    check_words(CONNECT_NOT_SENT, "cannot resolve the peer's GID", strerror(ETIMEDOUT),
                "check that the port is active");
}

static void rejects_have_advice(void **state)
{
    (void)state;
    assert_non_null(strstr(cm_reject_advice(8), "nothing listens at this Service-ID"));
    assert_non_null(strstr(cm_reject_advice(3), "see its kernel log"));
    assert_null(cm_reject_advice(999));
}

/* ---- calls that fail */

static void what_cannot_be_made_says_why(void **state)
{
    int *const steps[] = {&played_verbs.fails.pd, &played_verbs.fails.mr, &played_verbs.fails.cq,
                          &played.fails.qp};
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
        *steps[i] = ENOMEM;
        check_words(CONNECT_NOT_SENT, "queue pair", strerror(ENOMEM), "ulimit -l");
        *steps[i] = 0;
    }
    played.fails.no_device = true;
    check_words(CONNECT_NOT_SENT, "queue pair", "", "");
    assert_int_equal(seen.connects, 0);
}

static void calls_that_fail_say_why(void **state)
{
    int *const before[] = {&played.fails.create, &played.fails.migrate, &played.fails.address,
                           &played.fails.route, &played.fails.connect};
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(before); i++) {
        *before[i] = EACCES;
        check_words(CONNECT_NOT_SENT, strerror(EACCES), "", "");
        *before[i] = 0;
    }
    assert_int_equal(seen.connects, 0);
}

/* After the REP: the connection is up at the peer, and destroying the ID ends it. */
static void a_queue_pair_that_does_not_get_ready(void **state)
{
    int *const after[] = {&played.fails.attributes, &played.fails.modify};
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        for (played.fails.at = IBV_QPS_INIT; played.fails.at <= IBV_QPS_RTS; played.fails.at++) {
            *after[i] = EINVAL;
            check_words(CONNECT_NOT_SENT, strerror(EINVAL), "", "");
            *after[i] = 0;
        }
    played.fails.establish = EINVAL;
    check_words(CONNECT_NOT_SENT, "queue pair", strerror(EINVAL), "");
    played.fails.establish = 0;
    played.fails.post_recv = ENOMEM;
    check_words(CONNECT_NOT_SENT, "queue pair", strerror(ENOMEM), "");
}

static void too_many_connections(void **state)
{
    struct cm_connection *first;
    (void)state;
    connect_up();
    first = connection;
    for (unsigned i = 1; i < CONNECTIONS; i++)
        connect_up();
    check_words(CONNECT_NOT_SENT, "too many connections", "", "");
    connection = first;
    assert_true(disconnect());
    connect_up(); /* its place is free again */
}

/* ---- opening */

static void connections_that_are_impossible_say_why(void **state)
{
    (void)state;
    played.fails.channel = EACCES;
    assert_null(connector_new(&played_port, &stop, why, sizeof why));
    assert_non_null(strstr(why, "/dev/infiniband/rdma_cm"));
    assert_non_null(strstr(why, "user"));
    played.fails.channel = ENOENT;
    assert_null(connector_new(&played_port, &stop, why, sizeof why));
    assert_non_null(strstr(why, "modprobe rdma_ucm"));
    connector_free(NULL);
}

/* ---- as applications connect */

EVENT(no_neighbour, .event = RDMA_CM_EVENT_ADDR_ERROR, .status = -ETIMEDOUT);
EVENT(no_path, .event = RDMA_CM_EVENT_ROUTE_ERROR, .status = -EINVAL);
EVENT(not_there, .event = RDMA_CM_EVENT_REJECTED, .status = 8);
EVENT(no_queue_pair, .event = RDMA_CM_EVENT_REJECTED, .status = 1);

static struct cm_trial try_address(bool ipv6)
{
    struct cm_trial trial = {.ipv6 = ipv6, .ip = {10, 0, 0, 2}};
    connector_try(connector, &trial, 100);
    return trial;
}

static void check_trial(enum cm_trial_step step, int error)
{
    struct cm_trial trial = try_address(false);
    assert_int_equal(trial.step, step);
    assert_int_equal(trial.error, error);
}

static void an_application_connects_by_address(void **state)
{
    (void)state;
    played.events.connect = &not_there;
    struct cm_trial trial = try_address(false);
    const struct sockaddr_in *to = (const struct sockaddr_in *)(const void *)&seen.to_ip;
    assert_int_equal(trial.step, TRIAL_ANSWERED);
    assert_int_equal(trial.reason, 8);
    assert_false(trial.accepted);
    assert_string_equal(trial.device, "mlx5_3");
    assert_int_equal(trial.port, 2);
    assert_int_equal(to->sin_family, AF_INET);
    assert_memory_equal(&to->sin_addr, trial.ip, 4);
    assert_int_not_equal(to->sin_port, 0);
    assert_int_equal(seen.request.private_data_len, 0);
    trial = try_address(true);
    assert_int_equal(seen.to_ip.ss_family, AF_INET6);
    assert_int_equal(trial.step, TRIAL_ANSWERED);
}

static void somebody_listens_there(void **state)
{
    (void)state;
    struct cm_trial trial = try_address(false);
    assert_int_equal(trial.step, TRIAL_ANSWERED);
    assert_true(trial.accepted);
    assert_int_equal(seen.rejects, 1); /* no RTU: there is no connection */
    assert_int_equal(seen.established, 0);
}

static void each_step_may_fail(void **state)
{
    (void)state;
    played.events.connect = &no_queue_pair;
    assert_int_equal(try_address(false).reason, 1);
    played.events.connect = &unreachable;
    check_trial(TRIAL_CONNECT, ETIMEDOUT);
    played.events.connect = NULL;
    check_trial(TRIAL_CONNECT, ETIMEDOUT);
    played.fails.connect = EINVAL;
    check_trial(TRIAL_START, EINVAL);
    played.fails.connect = 0;
    played.events.route = &no_path;
    check_trial(TRIAL_ROUTE, EINVAL);
    played.fails.route = ENOMEM;
    check_trial(TRIAL_ROUTE, ENOMEM);
    played.events.address = &no_neighbour;
    check_trial(TRIAL_ADDRESS, ETIMEDOUT);
    played.fails.address = ENETUNREACH;
    check_trial(TRIAL_ADDRESS, ENETUNREACH);
    played.fails.create = EACCES;
    check_trial(TRIAL_START, EACCES);
}

static void a_signal_ends_the_attempt(void **state)
{
    struct cm_trial trial = {.ip = {10, 0, 0, 2}};
    (void)state;
    played.events.connect = NULL;
    played.signal_at_req = true;
    assert_int_equal(connector_try(connector, &trial, 100), TRANSPORT_STOPPED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, played_begin, played_end)
    const struct CMUnitTest tests[] = {
        TEST(an_application_connects_by_address),
        TEST(somebody_listens_there),
        TEST(each_step_may_fail),
        TEST(a_signal_ends_the_attempt),
        TEST(the_request_is_as_asked),
        TEST(the_mode_is_uc_if_asked),
        TEST(the_reply_is_stored),
        TEST(the_queue_pair_is_ready_before_the_rtu),
        TEST(a_reject_has_its_reason_and_data),
        TEST(private_data_is_limited),
        TEST(a_reject_without_data),
        TEST(a_silent_peer),
        TEST(a_peer_that_the_kernel_gives_up),
        TEST(a_connection_that_fails_after_the_req),
        TEST(a_device_that_is_removed),
        TEST(route_errors),
        TEST(address_errors),
        TEST(no_event),
        TEST(rejects_have_advice),
        TEST(what_cannot_be_made_says_why),
        TEST(calls_that_fail_say_why),
        TEST(a_queue_pair_that_does_not_get_ready),
        TEST(too_many_connections),
        TEST(connections_that_are_impossible_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

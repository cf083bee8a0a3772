/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections in use (probe/link/connect.c) without an adapter: messages, disconnects, signals. */
#include "played_rdma.h"

#include <errno.h>
#include <string.h>

EVENT(drep, .event = RDMA_CM_EVENT_DISCONNECTED);
EVENT(no_drep, .event = RDMA_CM_EVENT_DISCONNECTED, .status = -ETIMEDOUT);
EVENT(removed, .event = RDMA_CM_EVENT_DEVICE_REMOVAL);

/* ---- disconnecting */

static void the_peer_answers_the_dreq(void **state)
{
    (void)state;
    connect_up();
    assert_true(disconnect());
    assert_int_equal(seen.disconnects, 1);
}

static void the_peer_does_not_answer_the_dreq(void **state)
{
    (void)state;
    played.events.disconnect = &no_drep;
    connect_up();
    assert_false(disconnect());
    played.events.disconnect = NULL;
    connect_up();
    assert_false(disconnect());
    played.fails.disconnect = EINVAL;
    connect_up();
    assert_false(disconnect());
}

static void the_peer_disconnects_first(void **state)
{
    static const uint8_t message[] = {8, 0, 0, 0, 1};
    (void)state;
    connect_up();
    played_event(&drep);
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    assert_true(connection->dead);
    assert_true(connection->ended_by_peer);
    assert_int_equal(seen.n_sent, 0);
    assert_false(disconnect());
    assert_int_equal(seen.disconnects, 0);
}

static void a_device_that_is_removed_ends_the_connection(void **state)
{
    static const uint8_t message[] = {8, 0, 0, 0, 1};
    (void)state;
    connect_up();
    played_event(&removed);
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    assert_true(connection->dead);
    says("mlx5_3 was removed");
}

/* connector_free() ends what is open: the peer receives a DREQ. */
static void open_connections_are_ended(void **state)
{
    (void)state;
    connect_up();
    connect_up();
    connector_free(connector);
    assert_int_equal(seen.disconnects, 2);
    assert_int_equal(played_verbs.live, 0);
    connector = connector_new(&played_port, &stop, why, sizeof why);
}

/* ---- messages */

static void messages_go_over_the_connection(void **state)
{
    static const uint8_t message[CONNECTED_MESSAGE_SIZE] = {8};
    (void)state;
    connect_up();
    assert_int_equal(connector_send(connector, connection, message, sizeof message), TRANSPORT_OK);
    assert_int_equal(seen.sent_size, CONNECTED_MESSAGE_SIZE);
    assert_int_equal(seen.first_sent, 8);
    assert_false(connection->dead);
}

static void messages_that_are_not_acknowledged(void **state)
{
    static const uint8_t message[] = {8, 0, 0, 0, 1};
    (void)state;
    connect_up();
    played.sent_status = IBV_WC_RETRY_EXC_ERR;
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    assert_true(connection->dead);
    says("5 ");
    says("transport retry counter exceeded");
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    assert_int_equal(seen.n_sent, 1); /* a broken connection is not used again */
    disconnect();

    connect_up();
    played.silent_cq = true;
    played.tick = 500 * 1000;
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    says("not acknowledged in time");
    disconnect();

    played.tick = 0;
    connect_up();
    played.fails.post_send = ENOMEM;
    assert_int_equal(connector_send(connector, connection, message, sizeof message),
                     TRANSPORT_NOTHING);
    says(strerror(ENOMEM));
}

static void messages_show_their_connection(void **state)
{
    struct ud_from from;
    struct pollfd fds[CONNECTOR_FDS];
    (void)state;
    assert_int_equal(connector_fds(connector, fds), 1);
    connect_up();
    assert_int_equal(connector_fds(connector, fds), 2);
    assert_false(connector_receive(connector, &from));
    played_message(0, 60, IBV_WC_WR_FLUSH_ERR); /* no message: the buffer comes back */
    played_message(1, CONNECTED_MESSAGE_SIZE, IBV_WC_SUCCESS);
    played_message(2, 4, IBV_WC_SUCCESS);
    played_completion_event();
    unsigned notifies = seen.notifies;
    assert_true(connector_receive(connector, &from));
    assert_int_equal(played_verbs.events, 1); /* acknowledged, and asked for again */
    assert_int_equal(seen.notifies, notifies + 1);
    assert_ptr_equal(from.connection, connection);
    assert_int_equal(from.bytes.len, CONNECTED_MESSAGE_SIZE);
    assert_int_equal(from.bytes.p[CONNECTED_MESSAGE_SIZE - 1], 2);
    assert_int_equal(from.qpn, PEER_QPN);
    assert_int_equal(from.lid, PEER_LID);
    unsigned posted = seen.posted;
    assert_true(connector_receive(connector, &from));
    assert_int_equal(seen.posted, posted + 1); /* the buffer of the previous message */
    assert_int_equal(from.bytes.len, 4);
}

static void a_message_ends_with_its_connection(void **state)
{
    struct ud_from from;
    (void)state;
    connect_up();
    played_message(0, 60, IBV_WC_SUCCESS);
    assert_true(connector_receive(connector, &from));
    unsigned posted = seen.posted;
    disconnect();
    assert_false(connector_receive(connector, &from));
    assert_int_equal(seen.posted, posted); /* nothing is posted to a queue pair that is gone */
}

/* ---- signals */

/* Connects, sends, receives and disconnects. Returns true if a signal ended it. */
static bool use_connection(void)
{
    static const uint8_t message[] = {8, 0, 0, 0, 1};
    struct ud_from from;
    bool stopped = connect_as(&played_request) == TRANSPORT_STOPPED;
    if (stopped)
        assert_int_equal(connection->result,
                         seen.connects ? CONNECT_NO_RESPONSE : CONNECT_NOT_SENT);
    else
        stopped = connector_send(connector, connection, message, sizeof message) ==
                  TRANSPORT_STOPPED;
    connector_receive(connector, &from);
    disconnect();
    return stopped;
}

/* At whatever call a signal arrives, nothing stays open: here, or at the peer. */
static void a_signal_at_any_time(void **state)
{
    unsigned stopped = 0;
    (void)state;
    played.silent_cq = true; /* so that the signal ends the sending too */
    played.tick = 1000;
    for (unsigned at = 1; at <= seen.calls + 1; at++) {
        int before = played_verbs.live;
        stop = 0;
        seen.calls = seen.connects = seen.established = seen.disconnects = 0;
        played.signal_at = at;
        stopped += use_connection();
        assert_int_equal(played_verbs.live, before);
        assert_int_equal(seen.disconnects, seen.established);
    }
    assert_true(stopped > 3);
}

static void interrupted_before_the_req(void **state)
{
    (void)state;
    stop = 2;
    assert_int_equal(connect_as(&played_request), TRANSPORT_STOPPED);
    assert_int_equal(connection->result, CONNECT_NOT_SENT);
    assert_string_equal(connection->why, "interrupted");
    assert_false(disconnect());
    assert_int_equal(seen.connects + seen.disconnects, 0);
}

/* The kernel withdraws the REQ with a REJ when the ID is destroyed. There is nothing to end. */
static void interrupted_after_the_req(void **state)
{
    (void)state;
    played.events.connect = NULL;
    played.signal_at_req = true;
    assert_int_equal(connect_as(&played_request), TRANSPORT_STOPPED);
    assert_int_equal(connection->result, CONNECT_NO_RESPONSE);
    assert_false(disconnect());
    assert_int_equal(seen.disconnects, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, played_begin, played_end)
    const struct CMUnitTest tests[] = {
        TEST(the_peer_answers_the_dreq),
        TEST(the_peer_does_not_answer_the_dreq),
        TEST(the_peer_disconnects_first),
        TEST(a_device_that_is_removed_ends_the_connection),
        TEST(open_connections_are_ended),
        TEST(messages_go_over_the_connection),
        TEST(messages_that_are_not_acknowledged),
        TEST(messages_show_their_connection),
        TEST(a_message_ends_with_its_connection),
        TEST(a_signal_at_any_time),
        TEST(interrupted_before_the_req),
        TEST(interrupted_after_the_req),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

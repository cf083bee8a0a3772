/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the SA when receiving fails. libibumad is simulated with its real behaviour: a signal
 * ends its poll, and it returns -EIO with EINTR in errno.
 */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "hca/client.h"
#include "wire/put.h"
#include "wire/sa.h"

enum {
    HEAD = 64,
    LONG_MS = 60000, /* never passes, even while writing a table on a slow machine */
    MANY = 8,
    RECORD = 56,                            /* stride of MCMemberRecords */
    HUGE_TABLE = SA_DATA + 1200000 * RECORD /* larger than SA_LARGEST */
};

/* Results of successive umad_recv() calls; the last one is repeated. */
enum move {
    RESPONSE,
    BUSY,
    REPORT,
    TABLE,
    LATE_TABLE,
    SIGNAL,
    STOP,
    GONE,
    GONE_SILENTLY,
    LATE,
    OLD
};
static enum move moves[MANY];
static int table_size = 4 * MAD_SIZE; /* header and records */
static unsigned n_moves, received, repeated, asked;
static int waits_of_kernel, repetitions; /* of the last request */
static uint8_t first_transaction;
static uint16_t reported_status; /* status of the last response */
static volatile int stop;
static uint8_t request[MAD_SIZE];

/* ---- libibumad */

int umad_init(void)
{
    return 0;
}

int umad_open_port(const char *name, int port)
{
    (void)name;
    (void)port;
    return dup(STDERR_FILENO);
}

int umad_close_port(int fd)
{
    return close(fd);
}

int umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
    (void)fd;
    (void)class;
    (void)version;
    (void)rmpp;
    return mask ? 2 : 1;
}

int umad_unregister(int fd, int agent)
{
    (void)fd;
    (void)agent;
    return 0;
}

size_t umad_size(void)
{
    return HEAD;
}

void *umad_get_mad(void *umad)
{
    return (char *)umad + HEAD;
}

int umad_status(void *umad)
{
    (void)umad;
    return 0;
}

int umad_set_addr(void *umad, int lid, int qp, int sl, int qkey)
{
    (void)umad;
    (void)lid;
    (void)qp;
    (void)sl;
    (void)qkey;
    return 0;
}

int umad_get_port(const char *name, int number, umad_port_t *port)
{
    (void)name;
    (void)number;
    memset(port, 0, sizeof *port);
    port->state = 4;
    return 0;
}

int umad_release_port(umad_port_t *port)
{
    (void)port;
    return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout, int retries)
{
    (void)fd;
    assert_int_equal(length, MAD_SIZE);
    if (agent == 1) {
        waits_of_kernel = timeout;
        repetitions = retries;
        memcpy(request, (char *)umad + HEAD, MAD_SIZE);
        first_transaction = asked ? first_transaction : request[MAD_TID + 7];
        asked++;
    } else
        repeated++;
    return 0;
}

static int fails_with(int result, int error)
{
    errno = error;
    return result;
}

/*
 * Behaves as ib_umad_read() and umad_recv() with a buffer that is too small: they return the first
 * segment and the length of the whole response, and the kernel keeps the response.
 */
static int comes(void *umad, int *length, enum move move, uint8_t method, int bytes)
{
    uint8_t *mad = (uint8_t *)umad + HEAD;
    bool fits = *length >= bytes;
    if (*length < MAD_SIZE)
        return fails_with(-EINVAL, EINVAL);
    memcpy(mad, request, MAD_SIZE);
    mad[MAD_METHOD] = method;
    mad[MAD_TID + 7] ^= move == LATE_TABLE;
    mad[MAD_TID + 7] = move == OLD ? first_transaction : mad[MAD_TID + 7];
    put16(mad + MAD_STATUS, move == BUSY ? 0x0001 : 0);
    put16(mad + SA_ATTRIBUTE_OFFSET, RECORD / 8);
    *length = bytes;
    received += fits;
    for (int at = SA_DATA; fits && at < bytes; at++)
        mad[at] = (uint8_t)((at - SA_DATA) / RECORD);
    return fits ? 1 : fails_with(-ENOSPC, ENOSPC);
}

int umad_recv(int fd, void *umad, int *length, int timeout)
{
    enum move move = moves[MIN(received, n_moves - 1)];
    int before = errno;
    (void)fd;
    errno = 0;
    switch (move) {
    case RESPONSE:
    case OLD:
    case BUSY:
        return comes(umad, length, move, SA_GET_RESP, MAD_SIZE);
    case REPORT:
        return comes(umad, length, move, SA_REPORT, MAD_SIZE);
    case TABLE:
    case LATE_TABLE:
        return comes(umad, length, move, SA_GET_TABLE_RESP, table_size);
    default:
        break;
    }
    received++;
    switch (move) {
    case STOP:
        stop = 1;
        return fails_with(-EIO, EINTR);
    case SIGNAL:
        return fails_with(-EIO, EINTR);
    case GONE_SILENTLY:
        return fails_with(-EIO, before);
    case GONE:
        return fails_with(-EIO, EIO);
    default:
        usleep((useconds_t)timeout * 1000);
        return fails_with(-ETIMEDOUT, ETIMEDOUT);
    }
}

/* ---- */

static struct umad_sa *open_sa(const enum move *play, unsigned n)
{
    struct umad_sa *sa;
    memcpy(moves, play, n * sizeof *play);
    n_moves = n;
    received = repeated = asked = 0;
    stop = 0;
    assert_int_equal(umad_sa_open(&sa, "played", 1), 0);
    assert_int_equal(umad_sa_watch(sa), SA_OK);
    return sa;
}

#define PLAY(...)                                                                                  \
    open_sa((const enum move[]){__VA_ARGS__},                                                      \
            sizeof((const enum move[]){__VA_ARGS__}) / sizeof(enum move))

static enum sa_outcome query(struct umad_sa *sa, int ms, char error[80])
{
    struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    struct sa_response a = {.records = g_byte_array_new()};
    error[0] = '\0';
    enum sa_outcome outcome = umad_sa_query(sa, &q, ms, &stop, &a, error, 80);
    reported_status = a.status;
    g_byte_array_unref(a.records);
    umad_sa_close(sa);
    return outcome;
}

static enum sa_outcome next_notice(struct umad_sa *sa, int ms, char error[80])
{
    uint8_t notice[NOTICE_SIZE];
    error[0] = '\0';
    enum sa_outcome outcome = umad_sa_next_notice(sa, ms, &stop, notice, error, 80);
    umad_sa_close(sa);
    return outcome;
}

static void a_signal_is_no_failure(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(query(PLAY(STOP), LONG_MS, error), SA_INTERRUPTED);
    assert_string_equal(error, "");
    assert_int_equal(next_notice(PLAY(STOP), LONG_MS, error), SA_INTERRUPTED);
    /* A signal that does not stop the program: the wait continues. */
    assert_int_equal(query(PLAY(SIGNAL, SIGNAL, RESPONSE), LONG_MS, error), SA_OK);
    assert_int_equal(next_notice(PLAY(SIGNAL, REPORT), LONG_MS, error), SA_OK);
    assert_int_equal(repeated, 1);
}

static void permanent_failure_is_reported(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(query(PLAY(GONE), LONG_MS, error), SA_FAILED);
    assert_string_equal(error, "no response of the SA can be received: Input/output error");
    assert_int_equal(next_notice(PLAY(GONE), LONG_MS, error), SA_FAILED);
    assert_string_equal(error, "no response of the SA can be received: Input/output error");
    assert_int_equal(received, 1);
    errno = EINTR; /* from an earlier, unrelated call */
    assert_int_equal(query(PLAY(GONE_SILENTLY), LONG_MS, error), SA_FAILED);
    errno = EINTR;
    assert_int_equal(next_notice(PLAY(GONE_SILENTLY), LONG_MS, error), SA_FAILED);
}

static void silence_is_no_failure(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(query(PLAY(LATE), 1, error), SA_NOTHING);
    assert_int_equal(next_notice(PLAY(LATE), 1, error), SA_NOTHING);
}

/* The response to an abandoned request, a table, arrives during the wait for a Report. */
static void a_late_table_is_taken(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(next_notice(PLAY(TABLE, REPORT), LONG_MS, error), SA_OK);
    assert_int_equal(received, 2);
}

static enum sa_outcome respond_table(struct umad_sa *sa, struct sa_response *a, char error[80])
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_MC_MEMBER_RECORD};
    error[0] = '\0';
    *a = (struct sa_response){.records = g_byte_array_new()};
    return umad_sa_query(sa, &q, LONG_MS, &stop, a, error, 80);
}

/* 10,000 nodes with IPv6 in two partitions have more than 1 MiB of records. */
static void a_table_has_any_size(void **state)
{
    static const unsigned sizes[] = {0, 1, 18724, 18725, 200000};
    char error[80];
    struct sa_response a;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        struct umad_sa *sa = PLAY(TABLE);
        table_size = SA_DATA + (int)sizes[i] * RECORD;
        assert_int_equal(respond_table(sa, &a, error), SA_OK);
        assert_int_equal(a.status, 0);
        assert_int_equal(a.stride, RECORD);
        assert_int_equal(a.records->len, sizes[i] * RECORD);
        for (unsigned n = 0; n < sizes[i]; n++)
            assert_int_equal(a.records->data[n * RECORD + RECORD - 1], n & 0xff);
        g_byte_array_unref(a.records);
        umad_sa_close(sa);
    }
    table_size = 4 * MAD_SIZE;
}

/* A table above the limit is read and discarded, so that it does not block later responses. */
static void a_huge_table_is_dropped(void **state)
{
    char error[80];
    struct sa_response a;
    struct umad_sa *sa = PLAY(TABLE, TABLE, LATE_TABLE, RESPONSE);
    (void)state;
    table_size = HUGE_TABLE;
    for (unsigned i = 1; i <= 2; i++) {
        assert_int_equal(respond_table(sa, &a, error), SA_TOO_LARGE);
        assert_string_equal(error, "the SA's response is larger than 64 MiB (67200056 bytes)");
        assert_int_equal(a.records->len, 0);
        assert_int_equal(received, i);
        g_byte_array_unref(a.records);
    }
    assert_int_equal(query(sa, LONG_MS, error), SA_OK);
    assert_int_equal(received, 4);
    assert_int_equal(next_notice(PLAY(TABLE, REPORT), LONG_MS, error), SA_OK);
    assert_int_equal(received, 2);
    table_size = 4 * MAD_SIZE;
}

/* IBA 13.4.7, bit 0 (busy): the request was not processed and may be sent again. */
static void a_busy_sa_is_asked_again(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(query(PLAY(BUSY, BUSY, RESPONSE), LONG_MS, error), SA_OK);
    assert_int_equal(reported_status, 0);
    assert_int_equal(asked, 3);
    /* An SA that stays busy is not reported as silent, and the wait ends. */
    gint64 begin = g_get_monotonic_time();
    assert_int_equal(query(PLAY(BUSY), 200, error), SA_OK);
    assert_int_equal(reported_status, 0x0001);
    assert_true(asked >= 2 && asked <= 20); /* the SA is not flooded */
    assert_true(g_get_monotonic_time() - begin <= G_USEC_PER_SEC);
    assert_int_equal(query(PLAY(BUSY, LATE), 200, error), SA_OK);
    assert_int_equal(reported_status, 0x0001);
    assert_int_equal(query(PLAY(BUSY, STOP), LONG_MS, error), SA_INTERRUPTED);
}

/* The kernel drops what comes after the last repetition, so each try waits until the end. */
static void a_late_answer_to_the_first_try_counts(void **state)
{
    enum { TRIES_MS = 60, WAIT_MS = 10000 };
    struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO, .tries_ms = TRIES_MS};
    struct sa_response a = {.records = g_byte_array_new()};
    struct umad_sa *sa = PLAY(LATE, LATE, LATE, OLD);
    char error[80];
    (void)state;
    assert_int_equal(umad_sa_query(sa, &q, WAIT_MS, &stop, &a, error, 80), SA_OK);
    assert_int_equal(asked, 3); /* 0, 20 and 40 ms after the beginning */
    assert_int_equal(repetitions, 0);
    assert_true(waits_of_kernel > WAIT_MS / 2);
    assert_int_equal(a.status, 0);
    assert_int_equal(a.timed, 1);
    assert_true(a.took_us[0] >= INT64_C(40000)); /* since the first one */
    /* a later query does not take it */
    assert_int_equal(umad_sa_query(sa, &q, TRIES_MS, &stop, &a, error, 80), SA_NOTHING);
    umad_sa_close(sa);
    g_byte_array_unref(a.records);
}

/* Without an answer it is sent twice more, and the wait ends. */
static void a_silent_sa_is_listened_to(void **state)
{
    struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO, .tries_ms = 30};
    struct sa_response a = {.records = g_byte_array_new()};
    struct umad_sa *sa = PLAY(LATE);
    char error[80];
    gint64 begin = g_get_monotonic_time();
    (void)state;
    assert_int_equal(umad_sa_query(sa, &q, 300, &stop, &a, error, 80), SA_NOTHING);
    assert_int_equal(asked, 5);
    assert_int_equal(a.timed, 0);
    assert_true(g_get_monotonic_time() - begin >= 300 * G_TIME_SPAN_MILLISECOND);
    umad_sa_close(sa);
    g_byte_array_unref(a.records);
}

/* Each answer has the time from its own try, whatever the pause before the next try. */
static void answers_with_busy_have_their_times(void **state)
{
    struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    struct sa_response a = {.records = g_byte_array_new()};
    struct umad_sa *sa = PLAY(BUSY, BUSY, RESPONSE);
    char error[80];
    (void)state;
    assert_int_equal(umad_sa_query(sa, &q, LONG_MS, &stop, &a, error, 80), SA_OK);
    assert_int_equal(a.busy, 2);
    assert_int_equal(a.timed, 3);
    gint64 sum = a.took_us[0] + a.took_us[1] + a.took_us[2];
    assert_true(sum < 50 * G_TIME_SPAN_MILLISECOND); /* less than the pauses, 25 and 50 ms */
    umad_sa_close(sa);
    g_byte_array_unref(a.records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_is_no_failure),
        cmocka_unit_test(permanent_failure_is_reported),
        cmocka_unit_test(silence_is_no_failure),
        cmocka_unit_test(a_late_table_is_taken),
        cmocka_unit_test(a_busy_sa_is_asked_again),
        cmocka_unit_test(a_table_has_any_size),
        cmocka_unit_test(a_huge_table_is_dropped),
        cmocka_unit_test(a_late_answer_to_the_first_try_counts),
        cmocka_unit_test(a_silent_sa_is_listened_to),
        cmocka_unit_test(answers_with_busy_have_their_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to the subnet administrator, where receiving fails. libibumad is played here, as it is: a signal ends its poll,
 * and it returns -EIO with EINTR in errno.
 */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "sa/client.h"
#include "wire/put.h"
#include "wire/sa.h"

enum { HEAD = 64, LONG_MS = 60000, MANY = 8 };

/* What umad_recv() does, one call after the other; the last again and again. */
enum move { ANSWER, REPORT, TABLE, SIGNAL, STOP, GONE, GONE_SILENTLY, LATE };
static enum move moves[MANY];
static unsigned n_moves, received, repeated;
static volatile int stop;
static uint8_t question[MAD_SIZE];

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
    (void)timeout;
    (void)retries;
    assert_int_equal(length, MAD_SIZE);
    if (agent == 1)
        memcpy(question, (char *)umad + HEAD, MAD_SIZE);
    else
        repeated++;
    return 0;
}

static int fails_with(int result, int error)
{
    errno = error;
    return result;
}

static int comes(void *umad, int *length, uint8_t method, int octets)
{
    uint8_t *mad = (uint8_t *)umad + HEAD;
    if (*length < octets) /* the kernel keeps it */
        return fails_with(-ENOSPC, ENOSPC);
    memcpy(mad, question, MAD_SIZE);
    mad[MAD_METHOD] = method;
    *length = octets;
    return 1;
}

int umad_recv(int fd, void *umad, int *length, int timeout)
{
    enum move move = moves[MIN(received, n_moves - 1)];
    int before = errno, result;
    (void)fd;
    errno = 0;
    received++;
    switch (move) {
    case ANSWER:
        return comes(umad, length, SA_GET_RESP, MAD_SIZE);
    case REPORT:
        return comes(umad, length, SA_REPORT, MAD_SIZE);
    case TABLE:
        result = comes(umad, length, SA_GET_TABLE_RESP, 4 * MAD_SIZE);
        received -= result < 0;
        return result;
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
    received = repeated = 0;
    stop = 0;
    assert_int_equal(umad_sa_open(&sa, "played", 1), 0);
    assert_int_equal(umad_sa_watch(sa), SA_HEARD);
    return sa;
}

#define PLAY(...) open_sa((const enum move[]){__VA_ARGS__}, sizeof((const enum move[]){__VA_ARGS__}) / sizeof(enum move))

static enum sa_heard ask(struct umad_sa *sa, int ms, char error[80])
{
    struct sa_question q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    struct sa_answer a = {.records = g_byte_array_new()};
    error[0] = '\0';
    enum sa_heard heard = umad_sa_ask(sa, &q, ms, &stop, &a, error, 80);
    g_byte_array_unref(a.records);
    umad_sa_close(sa);
    return heard;
}

static enum sa_heard next_notice(struct umad_sa *sa, int ms, char error[80])
{
    uint8_t notice[NOTICE_SIZE];
    error[0] = '\0';
    enum sa_heard heard = umad_sa_next_notice(sa, ms, &stop, notice, error, 80);
    umad_sa_close(sa);
    return heard;
}

static void a_signal_is_no_failure(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(ask(PLAY(STOP), LONG_MS, error), SA_INTERRUPTED);
    assert_string_equal(error, "");
    assert_int_equal(next_notice(PLAY(STOP), LONG_MS, error), SA_INTERRUPTED);
    /* one that is to stop nothing: the answer is waited for */
    assert_int_equal(ask(PLAY(SIGNAL, SIGNAL, ANSWER), LONG_MS, error), SA_HEARD);
    assert_int_equal(next_notice(PLAY(SIGNAL, REPORT), LONG_MS, error), SA_HEARD);
    assert_int_equal(repeated, 1);
}

static void what_fails_for_good_is_told(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(ask(PLAY(GONE), LONG_MS, error), SA_FAILED);
    assert_string_equal(error, "nothing of the SA can be received: Input/output error");
    assert_int_equal(next_notice(PLAY(GONE), LONG_MS, error), SA_FAILED);
    assert_string_equal(error, "nothing of the SA can be received: Input/output error");
    assert_int_equal(received, 1);
    errno = EINTR; /* of another call, before */
    assert_int_equal(ask(PLAY(GONE_SILENTLY), LONG_MS, error), SA_FAILED);
    errno = EINTR;
    assert_int_equal(next_notice(PLAY(GONE_SILENTLY), LONG_MS, error), SA_FAILED);
}

static void silence_is_no_failure(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(ask(PLAY(LATE), 1, error), SA_NOTHING);
    assert_int_equal(next_notice(PLAY(LATE), 1, error), SA_NOTHING);
}

/* The answer to a question that was given up, a table, comes while a Report is awaited. */
static void a_late_table_is_taken(void **state)
{
    char error[80];
    (void)state;
    assert_int_equal(next_notice(PLAY(TABLE, REPORT), 2000, error), SA_HEARD);
    assert_int_equal(received, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_is_no_failure),
        cmocka_unit_test(what_fails_for_good_is_told),
        cmocka_unit_test(silence_is_no_failure),
        cmocka_unit_test(a_late_table_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

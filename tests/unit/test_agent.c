/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to a port's performance management agent (lib/hca/agent.c) and to switches
 * (lib/hca/smp_query.c), with a played libibumad.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include <glib.h>
#include <infiniband/umad.h>

#include "hca/agent.h"
#include "hca/smp_query.h"
#include "wire/mad.h"
#include "wire/put.h"

enum { HEAD = 64, FILE_NUMBER = 7, AGENT_NUMBER = 2 };
enum play { ANSWERS, REFUSES, RETURNED, NEVER, NO_FILE, NO_AGENT, NOT_SENT };

static enum play play;
static unsigned open_files, agents;
static int expected_class = 0x04; /* PerfMgt (IBA 13.4.4) */
static struct {
    int lid, qp, sl, qkey, timeout, retries;
    uint8_t mad[MAD_SIZE];
} sent;
static volatile int stop;

/* ---- libibumad */

int umad_init(void)
{
    return 0;
}

int umad_open_port(const char *name, int port)
{
    assert_string_equal(name, "hca7");
    assert_int_equal(port, 2);
    open_files += play != NO_FILE;
    return play == NO_FILE ? -EIO : FILE_NUMBER;
}

int umad_close_port(int fd)
{
    assert_int_equal(fd, FILE_NUMBER);
    open_files--;
    return 0;
}

int umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
    (void)fd;
    assert_int_equal(class, expected_class);
    assert_int_equal(version, 1);
    assert_int_equal(rmpp, 0);
    assert_null(mask);
    agents += play != NO_AGENT;
    return play == NO_AGENT ? -EPERM : AGENT_NUMBER;
}

int umad_unregister(int fd, int agent)
{
    (void)fd;
    assert_int_equal(agent, AGENT_NUMBER);
    agents--;
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
    return play == RETURNED ? ETIMEDOUT : 0; /* the kernel returns the request */
}

int umad_set_addr(void *umad, int lid, int qp, int sl, int qkey)
{
    (void)umad;
    sent.lid = lid;
    sent.qp = qp;
    sent.sl = sl;
    sent.qkey = qkey;
    return 0;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout, int retries)
{
    (void)fd;
    assert_int_equal(agent, AGENT_NUMBER);
    assert_int_equal(length, MAD_SIZE);
    sent.timeout = timeout;
    sent.retries = retries;
    memcpy(sent.mad, (char *)umad + HEAD, MAD_SIZE);
    return play == NOT_SENT ? -EINVAL : 0;
}

int umad_recv(int fd, void *umad, int *length, int timeout)
{
    uint8_t *mad = (uint8_t *)umad + HEAD;
    (void)fd;
    (void)timeout;
    assert_int_equal(*length, MAD_SIZE);
    if (play == NEVER) {
        stop = 1; /* a signal ends the wait */
        return -EINTR;
    }
    if (play == RETURNED)
        return 0;
    mad[3] = 0x81;                             /* PerformanceGetResp() */
    put16(mad + 4, play == REFUSES ? 0xc : 0); /* method and attribute not supported */
    memset(mad + 64, 0xa5, 192);
    return 0;
}

/* ---- the tests */

static enum agent_answer ask(enum play p, struct agent_request *q)
{
    play = p;
    stop = 0;
    memset(&sent, 0, sizeof sent);
    enum agent_answer answer = agent_ask("hca7", 2, q, 300, &stop);
    assert_int_equal(open_files, 0);
    assert_int_equal(agents, 0);
    return answer;
}

/* The octets of the common MAD header are those of IBA 13.4.2, of PortCounters those of 16.1.3.5.
 */
static void request_is_that_of_the_standard(void **state)
{
    struct agent_request q = {.lid = 0x1234, .sl = 3, .of_port = 5};
    (void)state;
    assert_int_equal(ask(ANSWERS, &q), AGENT_ANSWERS);
    assert_int_equal(sent.lid, 0x1234);
    assert_int_equal(sent.qp, 1);
    assert_int_equal(sent.sl, 3);
    assert_int_equal((uint32_t)sent.qkey, 0x80010000);
    assert_int_equal(sent.timeout * (sent.retries + 1), 300);
    assert_memory_equal(sent.mad, "\x01\x04\x01\x01\0\0\0\0", 8);
    assert_memory_equal(sent.mad + 16, "\0\x12", 2);
    assert_int_equal(sent.mad[65], 5);
    for (size_t i = 0; i < sizeof q.data; i++)
        assert_int_equal(q.data[i], 0xa5);
    q = (struct agent_request){.lid = 1};
    assert_int_equal(ask(ANSWERS, &q), AGENT_ANSWERS);
    assert_memory_equal(sent.mad + 16, "\0\x01", 2); /* ClassPortInfo */
    assert_int_equal(sent.mad[65], 0);
    assert_int_equal(ask(REFUSES, &q), AGENT_ANSWERS); /* whatever it says, it is alive */
}

static void every_failure_is_told_apart(void **state)
{
    static const struct {
        enum play play;
        enum agent_answer answer;
    } all[] = {{REFUSES, AGENT_SILENT},     {RETURNED, AGENT_SILENT},
               {NEVER, AGENT_NOT_ASKED},    {NO_FILE, AGENT_NOT_ASKED},
               {NO_AGENT, AGENT_NOT_ASKED}, {NOT_SENT, AGENT_NOT_ASKED}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct agent_request q = {.lid = 9, .of_port = 1};
        assert_int_equal(ask(all[i].play, &q), all[i].answer);
        for (size_t k = 0; k < sizeof q.data; k++)
            assert_int_equal(q.data[k], 0);
    }
}

/* A directed route through two switches; the octets are those of IBA 14.2.1.2. */
static void directed_route_is_that_of_the_standard(void **state)
{
    struct smp_request q = {
        .hops = 2, .path = {0, 1, 5}, .attribute = SMP_LINEAR_TABLE, .modifier = 3};
    (void)state;
    memset(&sent, 0, sizeof sent);
    play = ANSWERS;
    stop = 0;
    expected_class = 0x81;
    assert_int_equal(smp_ask("hca7", 2, &q, 300, &stop), AGENT_ANSWERS);
    assert_int_equal(sent.lid, 0xffff);
    assert_int_equal(sent.qp, 0);
    assert_memory_equal(sent.mad, "\x01\x81\x01\x01\0\0\0\x02", 8);
    assert_memory_equal(sent.mad + 16, "\0\x19\0\0\0\0\0\x03", 8);
    assert_memory_equal(sent.mad + 32, "\xff\xff\xff\xff", 4);
    assert_memory_equal(sent.mad + 128, "\0\x01\x05\0", 4);
    for (size_t i = 0; i < sizeof q.data; i++)
        assert_int_equal(q.data[i], 0xa5);
    play = REFUSES;
    assert_int_equal(smp_ask("hca7", 2, &q, 300, &stop), AGENT_SILENT);
    play = NO_AGENT;
    assert_int_equal(smp_ask("hca7", 2, &q, 300, &stop), AGENT_NOT_ASKED);
    assert_int_equal(open_files, 0);
    assert_int_equal(agents, 0);
    expected_class = 0x04;
}

/* To a LID: the class of IBA 14.2.1.1, without Q_Key and route. */
static void request_to_a_lid_is_that_of_the_standard(void **state)
{
    struct smp_request q = {.lid = 0x1234, .attribute = SMP_MULTICAST_TABLE, .modifier = 1u << 28};
    static const uint8_t nothing[MAD_SIZE - 32];
    (void)state;
    memset(&sent, 0, sizeof sent);
    play = ANSWERS;
    stop = 0;
    expected_class = 0x01;
    assert_int_equal(smp_ask("hca7", 2, &q, 300, &stop), AGENT_ANSWERS);
    assert_int_equal(sent.lid, 0x1234);
    assert_int_equal(sent.qp, 0);
    assert_int_equal(sent.qkey, 0);
    assert_memory_equal(sent.mad, "\x01\x01\x01\x01\0\0\0\0", 8);
    assert_memory_equal(sent.mad + 16, "\0\x1b\0\0\x10\0\0\0", 8);
    assert_memory_equal(sent.mad + 32, nothing, sizeof nothing);
    play = REFUSES;
    assert_int_equal(smp_ask("hca7", 2, &q, 300, &stop), AGENT_SILENT);
    expected_class = 0x04;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(request_is_that_of_the_standard),
                                       cmocka_unit_test(every_failure_is_told_apart),
                                       cmocka_unit_test(directed_route_is_that_of_the_standard),
                                       cmocka_unit_test(request_to_a_lid_is_that_of_the_standard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

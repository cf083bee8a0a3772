/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that cleans up after a killed probe does not remove the host's interface from a group
 * either. The SA and the host are simulated in memory that both processes share.
 */
#include "group_sa.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "probe/link/guard.h"
#include "probe/link/message.h"

static const uint8_t own_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96};

/* ---- libibumad */

int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port)
{
    *sa = (struct umad_sa *)group_sa;
    return strcmp(device, "fake0") == 0 && port == 1 ? 0 : 1;
}

void umad_sa_close(struct umad_sa *sa)
{
    (void)sa;
}

enum sa_outcome umad_sa_query(struct umad_sa *sa, const struct sa_query *q, int ms,
                              const volatile int *stop, struct sa_response *a, char *error,
                              size_t size)
{
    uint8_t record[SA_DATA_SIZE] = {0};
    (void)sa;
    (void)ms;
    (void)stop;
    (void)error;
    (void)size;
    a->status = group_sa_respond(q, record);
    if (a->status == 0)
        g_byte_array_append(a->records, record, sizeof record);
    return SA_OK;
}

/* The guard's end: by way of exit(), so that script/coverage counts its lines. */
_Noreturn void __wrap__exit(int status); /* NOLINT(clang-diagnostic-reserved-identifier) */
_Noreturn void __wrap__exit(int status)  /* NOLINT(clang-diagnostic-reserved-identifier) */
{
    exit(status);
}

/* ---- a probe is killed after it joined the broadcast group */

static uint8_t after_kill(struct host_of_test host)
{
    struct guard guard;
    struct guard_message w = {
        .joined_now = true, .joined = {.added = JOIN_FULL}, .device = "fake0", .port = 1};
    memset(group_sa, 0, sizeof *group_sa);
    memcpy(w.gid, own_gid, 16);
    message_broadcast_mgid(w.joined.mgid, 2, 0xffff);
    group_sa_add(w.joined.mgid, JOIN_FULL);
    group_sa->host = host;
    assert_true(guard_start(&guard));
    assert_int_equal(send(guard.fd, &w, sizeof w, 0), sizeof w);
    guard_end(&guard); /* closes the socket, as the kernel does after SIGKILL, and waits */
    return group_sa_find(w.joined.mgid)->held;
}

static void groups_without_an_interface_are_left(void **state)
{
    (void)state;
    assert_int_equal(after_kill((struct host_of_test){.port = 1, .pkey = 0xffff}), 0);
    assert_int_equal(after_kill((struct host_of_test){.up = true, .port = 1, .pkey = 0x8001}), 0);
    assert_int_equal(after_kill((struct host_of_test){.up = true, .port = 2, .pkey = 0xffff}), 0);
}

static void interface_keeps_its_group(void **state)
{
    (void)state;
    assert_int_equal(after_kill((struct host_of_test){.up = true, .port = 1, .pkey = 0xffff}),
                     JOIN_FULL);
    assert_int_equal(group_sa->deletes, 0);
    assert_int_equal(
        after_kill((struct host_of_test){.port = 1, .pkey = 0xffff, .comes_up_at_delete = true}),
        JOIN_FULL);
    assert_int_equal(group_sa->deletes, 1);
}

/* The notifications of a probe that joins both groups of fake0, and one at a port that is gone. */
static void only_what_was_not_left_is_left(void **state)
{
    static const struct {
        bool joined_now;
        uint16_t pkey;
        const char *device;
    } all[] = {{true, 0xffff, "fake0"},  {true, 0x8001, "fake0"}, {true, 0x8001, "fake0"},
               {false, 0xffff, "fake0"}, {true, 0x8002, "gone0"}, {false, 0x8003, "fake0"}};
    struct guard guard;
    (void)state;
    memset(group_sa, 0, sizeof *group_sa);
    assert_true(guard_start(&guard));
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct guard_message w = {
            .joined_now = all[i].joined_now, .joined = {.added = JOIN_FULL}, .port = 1};
        g_strlcpy(w.device, all[i].device, sizeof w.device);
        message_broadcast_mgid(w.joined.mgid, 2, all[i].pkey);
        group_sa_add(w.joined.mgid, JOIN_FULL);
        assert_int_equal(send(guard.fd, &w, sizeof w, 0), sizeof w);
    }
    guard_end(&guard);
    guard_end(&guard); /* nothing is left to end */
    assert_int_equal(group_sa->deletes, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        uint8_t mgid[16];
        message_broadcast_mgid(mgid, 2, all[i].pkey);
        assert_int_equal(group_sa_find(mgid)->held, all[i].pkey == 0x8001 ? 0 : JOIN_FULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_without_an_interface_are_left),
        cmocka_unit_test(interface_keeps_its_group),
        cmocka_unit_test(only_what_was_not_left_is_left),
    };
    group_sa = mmap(NULL, sizeof *group_sa, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0);
    if (group_sa == MAP_FAILED)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

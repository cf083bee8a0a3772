/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The growth of this port's counters (probe/link/counters.c). The simulated files are those of the
 * kernel's documentation (Documentation/ABI/stable/sysfs-class-infiniband); a counter of N bits
 * stays at 2^N - 1 (IBA 16.1.3.5).
 */
#include "unit.h"

#include <string.h>

#include "probe/link/counters.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"

static struct {
    const char *name, *text;
} files[4];

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey);
char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey)
{
    (void)port;
    (void)pkey;
    return g_strdup("ib0");
}

gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    (void)n;
    (void)error;
    *text = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(files) && files[i].name; i++) {
        bool of_interface = strcmp(files[i].name, "carrier_changes") == 0;
        char *at = g_build_filename(of_interface ? "/sys/class/net/ib0"
                                                 : "/sys/class/infiniband/hca7/ports/2/counters",
                                    files[i].name, NULL);
        if (strcmp(path, at) == 0)
            *text = g_strdup(files[i].text);
        g_free(at);
    }
    return *text != NULL;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/*
 * The agent's PortCounters (IBA 16.1.3.5): PortSelect, CounterSelect, SymbolErrorCounter,
 * LinkErrorRecoveryCounter, LinkDownedCounter, PortRcvErrors, PortRcvRemotePhysicalErrors,
 * PortRcvSwitchRelayErrors, PortXmitDiscards, the two ConstraintErrors, 8 bits, the integrity and
 * overrun errors of 4 bits, 16 bits, VL15Dropped, four counters of data, PortXmitWait.
 */
static const uint8_t port_counters[44] = {
    0,    2,    0xff, 0xff, 0x01, 0x02, 3,    4,    0x05, 0x06, 0x07, 0x08, 0xee, 0xee, 0x09,
    0x0a, 0x0b, 0x0c, 0xee, 0xde, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee,
    0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0x01, 0x02, 0x03, 0x04};
static enum agent_answer agent = AGENT_NOT_ASKED;
static unsigned questions;

static enum agent_answer ask_agent(struct transport *t, struct agent_request *q, int ms)
{
    (void)ms;
    assert_int_equal(q->lid, t->facts.lid);
    assert_int_equal(q->of_port, 2);
    questions++;
    if (agent == AGENT_ANSWERS)
        memcpy(q->data, port_counters, sizeof port_counters);
    return agent;
}

static void read_one(const char *name, const char *text, struct port_counters *c)
{
    static const struct transport_ops ops = {.ask_agent = ask_agent};
    struct transport transport = {.ops = &ops, .facts = {.device = "hca7", .port = 2, .lid = 0x99}};
    struct probe_link link = {.transport = &transport};
    files[0].name = name;
    files[0].text = text;
    counters_read(&link, c);
}

static void growth_is_judged(void **state)
{
    static const struct {
        const char *name, *before, *after;
        bool fault;
        const char *errors, *other, *full;
    } cases[] = {
        {"link_downed", "2\n", "2\n", false, "", "", ""},
        {"link_downed", "2\n", "3\n", true, "link_downed grew by 1 to 3", "", ""},
        {"link_downed", "255\n", "255\n", false, "", "", "link_downed at least 255"},
        {"link_downed", "250\n", "255\n", true, "link_downed grew by at least 5 to at least 255",
         "", ""},
        {"link_downed", "255\n", "1\n", false, "", "link_downed was reset", ""},
        {"link_downed", "300\n", "301\n", true, "link_downed grew by 1 to 301", "", ""},
        {"local_link_integrity_errors", "15\n", "15\n", false, "", "",
         "local_link_integrity_errors at least 15"},
        {"port_xmit_discards", "0\n", "65535\n", true,
         "port_xmit_discards grew by at least 65535 to at least 65535", "", ""},
        {"symbol_error", "0\n", "4\n", false, "symbol_error grew by 4 to 4", "", ""},
        {"port_rcv_remote_physical_errors", "0\n", "1\n", false,
         "port_rcv_remote_physical_errors grew by 1 to 1", "", ""},
        {"port_xmit_wait", "4294967295\n", "4294967295\n", false, "", "",
         "port_xmit_wait at least 4294967295"},
        {"port_xmit_wait", "0\n", "7\n", false, "", "port_xmit_wait grew by 7 to 7", ""},
        {"carrier_changes", "4\n", "6\n", true, "carrier_changes of the interface grew by 2 to 6",
         "", ""},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct port_counters before, after;
        read_one(cases[i].name, cases[i].before, &before);
        assert_true(counters_are_known(&before));
        read_one(cases[i].name, cases[i].after, &after);
        struct counter_growth g = counters_compare(&before, &after);
        assert_int_equal(g.fault, cases[i].fault);
        assert_string_equal(g.errors, cases[i].errors);
        assert_string_equal(g.other, cases[i].other);
        assert_string_equal(g.full, cases[i].full);
        assert_int_equal(*g.advice != '\0', *g.errors != '\0');
        counters_growth_clear(&g);
    }
}

/* Old kernels write "N/A (no PMA)". A counter that one of the readings lacks did not grow. */
static void missing_counters_are_no_growth(void **state)
{
    struct port_counters before, after;
    (void)state;
    read_one("link_downed", "N/A (no PMA)\n", &before);
    assert_false(counters_are_known(&before));
    read_one("link_downed", "3\n", &after);
    struct counter_growth g = counters_compare(&before, &after);
    assert_string_equal(g.errors, "");
    counters_growth_clear(&g);
    read_one("no such file", "", &after);
    assert_false(counters_are_known(&after));
}

/* Where the kernel shows none, the agent is asked, and only there. */
static void agent_shows_what_the_kernel_does_not(void **state)
{
    static const struct {
        const char *file;
        uint64_t value;
    } all[] = {{"symbol_error", 0x0102},
               {"link_error_recovery", 3},
               {"link_downed", 4},
               {"port_rcv_errors", 0x0506},
               {"port_rcv_remote_physical_errors", 0x0708},
               {"port_xmit_discards", 0x090a},
               {"port_xmit_constraint_errors", 0x0b},
               {"port_rcv_constraint_errors", 0x0c},
               {"local_link_integrity_errors", 0xd},
               {"excessive_buffer_overrun_errors", 0xe},
               {"port_xmit_wait", 0x01020304}};
    struct port_counters c;
    (void)state;
    questions = 0;
    agent = AGENT_ANSWERS;
    read_one("link_downed", "7\n", &c);
    assert_int_equal(questions, 0);
    read_one("carrier_changes", "2\n", &c);
    assert_int_equal(questions, 1);
    for (unsigned i = 0; i < PORT_COUNTERS; i++) {
        uint64_t expected = 2; /* changes of carrier */
        for (size_t k = 0; k < G_N_ELEMENTS(all); k++)
            expected = strcmp(all[k].file, counters_file(i)) == 0 ? all[k].value : expected;
        assert_true(c.known[i]);
        assert_int_equal(c.value[i], expected);
    }
    agent = AGENT_SILENT;
    read_one("carrier_changes", "2\n", &c);
    assert_false(counters_of_port_are_known(&c));
    agent = AGENT_NOT_ASKED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(growth_is_judged),
                                       cmocka_unit_test(agent_shows_what_the_kernel_does_not),
                                       cmocka_unit_test(missing_counters_are_no_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker sets these names */
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
/* NOLINTEND(bugprone-reserved-identifier) */

static void read_one(const char *name, const char *text, struct port_counters *c)
{
    struct transport transport = {.facts = {.device = "hca7", .port = 2}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(growth_is_judged),
                                       cmocka_unit_test(missing_counters_are_no_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

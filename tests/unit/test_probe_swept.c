/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a sweep in the report: order, groups by cause and switch, and a baseline. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "probe/sweep/baseline.h"
#include "report/swept.h"

struct row {
    uint8_t last; /* of 10.0.0.x */
    const char *name;
    unsigned lid, switch_lid;
    enum verdict_status status;
    const char *cause;
};

static void add(struct swept *s, const struct row *r)
{
    struct swept_host h = {.ip = {10, 0, 0, r->last},
                           .address = g_strdup_printf("10.0.0.%u", r->last),
                           .gid = g_strdup_printf("fe80::%u", r->last),
                           .name = g_strdup(r->name),
                           .lid = r->lid,
                           .switch_lid = r->switch_lid,
                           .median_us = 120,
                           .status = r->status,
                           .cause = g_strdup(r->cause)};
    g_array_append_val(s->hosts, h);
}

static struct swept *swept_of(const struct row *rows, unsigned n)
{
    struct swept *s = swept_new();
    for (unsigned i = 0; i < n; i++)
        add(s, &rows[i]);
    swept_sort(s);
    return s;
}

static void expect_text(const struct swept *s, const char *expected)
{
    GString *text = g_string_new(NULL);
    swept_text(text, s, true);
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
}

static void hosts_are_in_order(void **state)
{
    static const struct row rows[] = {{10, "node10", 12, 0, VERDICT_CONFORMANT, NULL},
                                      {9, NULL, 0, 0, VERDICT_CONFORMANT, NULL},
                                      {100, "n\303\266de", 3, 0, VERDICT_CONFORMANT, NULL}};
    struct swept *s = swept_of(rows, G_N_ELEMENTS(rows));
    (void)state;
    expect_text(s, "  address     host    GID        LID  median   result\n"
                   "  10.0.0.9    -       fe80::9    -    0.12 ms  ok\n"
                   "  10.0.0.10   node10  fe80::10   12   0.12 ms  ok\n"
                   "  10.0.0.100  n\303\266de    fe80::100  3    0.12 ms  ok\n");
    swept_free(s);
}

/* The worst first, then the largest; a group has one cause and one switch. */
static void problems_are_grouped(void **state)
{
    GString *text = g_string_new(NULL);
    struct swept *s = swept_new();
    (void)state;
    for (uint8_t i = 1; i <= 12; i++)
        add(s, &(struct row){i, NULL, i, 70, VERDICT_VIOLATED, "rfc4391.6.reserved-zero"});
    add(s, &(struct row){20, "node20", 20, 71, VERDICT_VIOLATED, "rfc4391.6.reserved-zero"});
    for (uint8_t i = 30; i < 50; i++)
        add(s, &(struct row){i, NULL, i, 0, VERDICT_UNJUDGED, "no reply"});
    add(s, &(struct row){60, NULL, 60, 70, VERDICT_VIOLATED, "peer.arp-flux"});
    add(s, &(struct row){61, NULL, 61, 0, VERDICT_CONFORMANT, NULL});
    swept_sort(s);
    swept_text(text, s, true);
    char **lines = g_strsplit(text->str, "\n", 6);
    assert_string_equal(
        lines[0],
        "  FAULT: rfc4391.6.reserved-zero: 12 hosts at the switch with LID 70: 10.0.0.1, "
        "10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5, 10.0.0.6, 10.0.0.7, 10.0.0.8 and 4 more");
    assert_string_equal(lines[1], "  FAULT: rfc4391.6.reserved-zero: 1 host at the switch with LID "
                                  "71: 10.0.0.20 (node20)");
    assert_string_equal(lines[2],
                        "  FAULT: peer.arp-flux: 1 host at the switch with LID 70: 10.0.0.60");
    assert_true(g_str_has_prefix(lines[3], "  NOT JUDGED: no reply: 20 hosts: 10.0.0.30, "));
    assert_true(g_str_has_prefix(lines[4], "  address "));
    g_strfreev(lines);
    g_string_free(text, TRUE);
    swept_free(s);
}

/* Without -v. */
static void lines_fit_a_terminal(void **state)
{
    GString *text = g_string_new(NULL);
    struct swept *s = swept_new();
    (void)state;
    for (uint8_t i = 1; i <= 3; i++)
        add(s, &(struct row){i, "node01 mlx5_0 HCA", i, 70, VERDICT_VIOLATED, "peer.arp-flux"});
    swept_sort(s);
    swept_text(text, s, false);
    char **lines = g_strsplit(text->str, "\n", 3);
    assert_string_equal(lines[0], "  FAULT: peer.arp-flux: 3 hosts at the switch with LID 70: "
                                  "10.0.0.1 (node01");
    assert_string_equal(lines[1], "    mlx5_0 HCA), 10.0.0.2 (node01 mlx5_0 HCA), 10.0.0.3 (node01 "
                                  "mlx5_0 HCA)");
    g_strfreev(lines);
    g_string_free(text, TRUE);
    swept_free(s);
}

/* ---- the baseline */

static const struct target_option prefix = {
    .name = (char *)"10.0.0.0/24", .ip = {10, 0, 0, 1}, .prefix = true, .n = 254};

static struct sweep_baseline *open_text(const char *text, GError **error)
{
    char path[] = "/tmp/test_probe_sweptXXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    struct sweep_baseline *b = sweep_baseline_open(path, error);
    unlink(path);
    return b;
}

static const char earlier[] =
    "{\"tool\": \"ipoib-probe\", \"results\": [], \"summary\": {\"targets\": [{\"name\": "
    "\"10.0.0.0/24\", \"hosts\": ["
    "{\"address\": \"10.0.0.1\", \"gid\": \"fe80::1\", \"lid\": 1, \"status\": \"ok\"},"
    "{\"address\": \"10.0.0.2\", \"gid\": \"fe80::99\", \"lid\": 7, \"status\": \"ok\"},"
    "{\"address\": \"10.0.0.30\", \"gid\": \"fe80::3\", \"lid\": 3, \"status\": \"ok\", "
    "\"name\": \"node30\\u001b[31m\"},"
    "{\"address\": \"10.0.0.4\", \"gid\": \"fe80::4\", \"lid\": 0, \"status\": \"ok\"},"
    "{\"address\": \"10.1.0.1\", \"gid\": \"fe80::4\", \"lid\": 0, \"status\": \"ok\"}]}]}}";

static const struct row now[] = {{1, NULL, 1, 0, VERDICT_CONFORMANT, NULL},
                                 {2, NULL, 2, 0, VERDICT_VIOLATED, "peer.arp-flux"},
                                 {4, NULL, 4, 0, VERDICT_CONFORMANT, NULL},
                                 {5, "node05", 5, 0, VERDICT_CONFORMANT, NULL}};

static struct swept *compared(bool complete)
{
    struct sweep_baseline *b = open_text(earlier, NULL);
    struct swept *s = swept_of(now, G_N_ELEMENTS(now));
    assert_non_null(b);
    sweep_baseline_compare(b, s, &prefix, complete);
    sweep_baseline_free(b);
    return s;
}

static void expect_change(const struct swept *s, guint i, enum swept_kind kind, const char *address,
                          const char *what)
{
    const struct swept_change *c = &g_array_index(s->changes, struct swept_change, i);
    assert_int_equal(c->kind, kind);
    assert_string_equal(c->address, address);
    assert_int_equal(c->what != NULL, what != NULL);
    if (what)
        assert_string_equal(c->what, what);
}

/* A LID that one side does not know is no change; addresses of another prefix are not gone. */
static void baseline_is_compared(void **state)
{
    struct swept *s = compared(true);
    GString *text = g_string_new(NULL);
    (void)state;
    assert_int_equal(s->changes->len, 3);
    expect_change(s, 0, SWEPT_CHANGED, "10.0.0.2",
                  "GID fe80::2, was fe80::99; LID 2, was 7; result peer.arp-flux, was ok");
    expect_change(s, 1, SWEPT_NEW, "10.0.0.5", NULL);
    expect_change(s, 2, SWEPT_GONE, "10.0.0.30", NULL);
    swept_text(text, s, true);
    assert_non_null(strstr(text->str, ": 1: 10.0.0.5 (node05)\n"));
    assert_non_null(strstr(text->str, ": 1: 10.0.0.30 (node30\\x1b[31m)\n"));
    g_string_free(text, TRUE);
    swept_free(s);
}

/* Who was not looked for is not gone. */
static void incomplete_sweep_loses_nobody(void **state)
{
    struct swept *s = compared(false);
    GString *text = g_string_new(NULL);
    (void)state;
    assert_int_equal(s->changes->len, 2);
    swept_text(text, s, true);
    assert_non_null(strstr(text->str, ": not known, the sweep is not complete\n"));
    g_string_free(text, TRUE);
    swept_free(s);
}

static void baselines_that_are_none(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"summary\": {\"targets\": []}}",
        "{\"summary\": {\"targets\": [{\"name\": \"10.0.0.1\"}]}}",
        "{\"summary\": {\"targets\": [{\"hosts\": [{\"address\": \"nowhere\"}]}]}}",
        "{\"summary\": {\"targets\": [{\"hosts\": [7]}]}}",
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        GError *error = NULL;
        assert_null(open_text(texts[i], &error));
        assert_true(g_str_has_prefix(error->message, "--baseline /tmp/"));
        g_error_free(error);
    }
    GError *error = NULL;
    assert_null(sweep_baseline_open("/nowhere/report.json", &error));
    assert_non_null(strstr(error->message, "No such file"));
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_in_order),
        cmocka_unit_test(problems_are_grouped),
        cmocka_unit_test(lines_fit_a_terminal),
        cmocka_unit_test(baseline_is_compared),
        cmocka_unit_test(incomplete_sweep_loses_nobody),
        cmocka_unit_test(baselines_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

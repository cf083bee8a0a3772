/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Response times in constant memory (probe/run/times.c), compared with sorted lists. */
#include "unit.h"

#include <stdlib.h>

#include "probe/run/times.h"

enum { MANY = 5000 };

static int by_size(const void *a, const void *b)
{
    const gint64 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Nearest rank: the smallest value such that at least that share does not exceed it. */
static gint64 of_sorted(const gint64 *sorted, size_t n, unsigned percent)
{
    return sorted[(n * percent + 99) / 100 - 1];
}

static void check_percentile(const struct latencies *t, gint64 expected, unsigned percent)
{
    gint64 found = times_percentile(t, percent);
    assert_true(found - expected <= expected / 64 + 1);
    assert_true(expected - found <= expected / 64 + 1);
}

static void check(gint64 *all, size_t n)
{
    struct latencies *t = g_new0(struct latencies, 1);
    for (size_t i = 0; i < n; i++)
        times_add(t, all[i]);
    qsort(all, n, sizeof *all, by_size);
    assert_int_equal(t->n, n);
    assert_int_equal(t->least, all[0]);
    assert_int_equal(t->most, all[n - 1]);
    check_percentile(t, of_sorted(all, n, 50), 50);
    check_percentile(t, of_sorted(all, n, 99), 99);
    check_percentile(t, all[n - 1], 100);
    g_free(t);
}

static void percentiles_are_right(void **state)
{
    gint64 all[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++) /* 1 us to 17 minutes, small ones more often */
        all[i] = 1 + (gint64)((i * 7919 % MANY) * (i * 7919 % MANY) * (i * 7919 % MANY) / 125);
    check(all, MANY);
    for (size_t i = 0; i < 100; i++)
        all[i] = (gint64)i;
    check(all, 100);
    for (size_t i = 0; i < 3; i++)
        check((gint64[]){100, 100, 100}, i + 1);
}

static void extremes_have_a_bucket(void **state)
{
    (void)state;
    check((gint64[]){0}, 1);
    check((gint64[]){INT64_C(1) << 35, 1}, 2);
    struct latencies t = {0};
    times_add(&t, -5); /* a clock that goes backwards */
    times_add(&t, INT64_MAX);
    assert_int_equal(t.least, 0);
    assert_int_equal(times_percentile(&t, 50), 0);
}

static void texts(void **state)
{
    struct latencies t = {0};
    (void)state;
    char *text = times_text(&t);
    assert_string_equal(text, "");
    g_free(text);
    times_add(&t, 1500);
    text = times_text(&t);
    assert_string_equal(text, "1.50/1.50/1.50 ms");
    g_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(percentiles_are_right),
                                       cmocka_unit_test(extremes_have_a_bucket),
                                       cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

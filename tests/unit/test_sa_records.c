/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a response of the SA (lib/hca/records.h), and P_Key tables (lib/hca/pkeys.h). */
#include "unit.h"

#include "hca/pkeys.h"
#include "hca/records.h"

enum { SIZE = 20 };

static struct sa_response response(uint32_t len, uint32_t stride)
{
    struct sa_response a = {.records = g_byte_array_new(), .stride = stride};

    g_byte_array_set_size(a.records, len);
    return a;
}

/* The number of records, each of which must be DISTANCE bytes after the one before it. */
static unsigned count(uint32_t len, uint32_t stride, uint32_t distance)
{
    struct sa_response a = response(len, stride);
    const uint8_t *record;
    unsigned n = 0;

    for (; (record = sa_record(&a, n, SIZE)) != NULL; n++)
        assert_ptr_equal(record, a.records->data + (size_t)n * distance);
    g_byte_array_unref(a.records);
    return n;
}

static void records_of_a_table(void **state)
{
    (void)state;
    assert_int_equal(count(0, 24, 24), 0);
    assert_int_equal(count(48, 24, 24), 2);
    assert_int_equal(count(44, 24, 24), 2); /* the last one without its padding */
    assert_int_equal(count(43, 24, 24), 1); /* a truncated record is no record */
    assert_int_equal(count(96, 32, 32), 3);
}

static void single_record_has_no_distance(void **state)
{
    (void)state;
    assert_int_equal(count(SIZE, 0, 24), 1);
    assert_int_equal(count(SIZE - 1, 0, 24), 0);
}

static void distance_that_is_too_small_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(count(48, 8, 24), 2);
}

static void the_full_members_pkey_is_preferred(void **state)
{
    static const uint16_t table[] = {0, 0x8000, 0x7fff, 0x0001, 0x8001, 0xffff};
    unsigned index = 99;

    (void)state;
    assert_true(pkeys_find(table, 6, 0, &index)); /* the first partition, its full form */
    assert_int_equal(index, 5);
    assert_true(pkeys_find(table, 5, 0, &index));
    assert_int_equal(index, 2);
    assert_true(pkeys_find(table, 6, 0x0001, &index));
    assert_int_equal(index, 4);
    assert_true(pkeys_find(table, 4, 0x8001, &index)); /* only the limited form is there */
    assert_int_equal(index, 3);
    assert_false(pkeys_find(table, 6, 0x8002, &index));
    assert_false(pkeys_find(table, 2, 0, &index));
}

static void the_table_is_listed(void **state)
{
    static const uint16_t table[] = {0xffff, 0, 0x8001};
    char *text = pkeys_text(table, 3), *none = pkeys_text(table + 1, 1);

    (void)state;
    assert_string_equal(text, " 0xffff 0x8001");
    assert_string_equal(none, ": none");
    g_free(text);
    g_free(none);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_table),
        cmocka_unit_test(single_record_has_no_distance),
        cmocka_unit_test(distance_that_is_too_small_is_not_used),
        cmocka_unit_test(the_full_members_pkey_is_preferred),
        cmocka_unit_test(the_table_is_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

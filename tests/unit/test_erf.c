/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ERF record: layout and time. The expected bytes and numbers are worked out by hand from the
 * layout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pcapio/erf.h"
#include "pcapio/translate.h"

/* 1700000000 s = 0x6553f100; half a second = 0x80000000; 8 bytes of packet, 40 on the wire. */
static const uint8_t half_second[] = {
    0x00, 0x00, 0x00, 0x80, 0x00, 0xf1, 0x53, 0x65, /* time, little-endian */
    21,   0x04, 0x00, 0x18, 0x00, 0x00, 0x00, 0x28, /* type, flags, rlen 24, lctr 0, wlen 40 */
    1,    2,    3,    4,    5,    6,    7,    8,
};

static void header_is_ibdumps(void **state)
{
    uint8_t header[ERF_HEADER_LEN];

    (void)state;
    erf_put_header(header, erf_time(1700000000, 500000000), 8, 40);
    assert_memory_equal(header, half_second, sizeof(header));
}

static void longest_record_fits_its_length_field(void **state)
{
    uint8_t header[ERF_HEADER_LEN];

    (void)state;
    erf_put_header(header, 0, 65519, 65535);
    assert_memory_equal(header + 10, "\xff\xff\0\0\xff\xff", 6);
}

static void record_is_parsed(void **state)
{
    struct erf_record rec;

    (void)state;
    assert_true(erf_parse(half_second, sizeof(half_second), &rec));
    assert_int_equal(rec.time, 0x6553f10080000000);
    assert_int_equal(rec.type, 21);
    assert_int_equal(rec.extensions, 0);
    assert_int_equal(rec.size, 24);
    assert_int_equal(rec.head, 16);
    assert_int_equal(rec.caplen, 8);
    assert_int_equal(rec.wlen, 40);
}

/* Makes a record of 16 + EXT + DATA bytes; everything that is not set is 0. */
static size_t make_record(uint8_t *rec, uint8_t type, uint16_t len, uint16_t wlen)
{
    memset(rec, 0, len);
    rec[8] = type;
    rec[10] = (uint8_t)(len >> 8);
    rec[11] = (uint8_t)len;
    rec[14] = (uint8_t)(wlen >> 8);
    rec[15] = (uint8_t)wlen;
    return len;
}

static void extension_headers_are_walked(void **state)
{
    uint8_t rec[64];
    struct erf_record out;
    size_t len = make_record(rec, 0x80 | 21, 16 + 8 + 8 + 4, 4);

    (void)state;
    rec[16] = 0x80 | 17; /* one more extension header follows */
    rec[24] = 18;
    assert_true(erf_parse(rec, len, &out));
    assert_int_equal(out.type, 21);
    assert_int_equal(out.extensions, 2);
    assert_int_equal(out.head, 32);
    assert_int_equal(out.caplen, 4);
    assert_false(erf_parse(rec, 31, &out)); /* the second extension header is truncated */
    rec[24] |= 0x80;
    assert_false(erf_parse(rec, len, &out)); /* of a third one, only 4 bytes follow */
}

static void subheader_belongs_to_the_head(void **state)
{
    uint8_t rec[64];
    struct erf_record out;

    (void)state;
    assert_true(erf_parse(rec, make_record(rec, 2, 16 + 2 + 20, 20), &out)); /* Ethernet */
    assert_int_equal(out.head, 18);
    assert_int_equal(out.caplen, 20);
    /* multi-channel HDLC */
    assert_true(erf_parse(rec, make_record(rec, 5, 16 + 4 + 20, 20), &out));
    assert_int_equal(out.head, 20);
    assert_false(erf_parse(rec, make_record(rec, 2, 17, 20), &out));
}

static void padding_is_not_part_of_the_packet(void **state)
{
    uint8_t rec[64];
    struct erf_record out;

    (void)state;
    assert_true(erf_parse(rec, make_record(rec, 21, 16 + 16, 13), &out));
    assert_int_equal(out.caplen, 13);
    assert_true(erf_parse(rec, make_record(rec, 21, 16 + 16, 0), &out)); /* a writer without wlen */
    assert_int_equal(out.caplen, 16);
    assert_int_equal(out.wlen, 16);
}

static void bytes_without_a_record_are_refused(void **state)
{
    uint8_t rec[64];
    struct erf_record out;

    (void)state;
    assert_false(erf_parse(half_second, 15, &out));
    assert_true(erf_parse(half_second, 16, &out)); /* truncated after the headers */
    assert_int_equal(out.caplen, 0);
    make_record(rec, 21, 15, 0);
    assert_false(erf_parse(rec, sizeof(rec), &out));
    make_record(rec, 0, 24, 8);
    assert_false(erf_parse(rec, sizeof(rec), &out));
    make_record(rec, 49, 24, 8);
    assert_false(erf_parse(rec, sizeof(rec), &out));
    make_record(rec, 48, 24, 8);
    assert_true(erf_parse(rec, sizeof(rec), &out));
}

/* 1 ns is 4.29 units, so 5; 999999999 ns are 4294967291.7, so 4294967292 = 2^32 - 4. */
static void nanoseconds_become_units_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(erf_time(0, 0), 0);
    assert_int_equal(erf_time(0, 1), 5);
    assert_int_equal(erf_time(7, 999999999), 0x7fffffffc);
    assert_int_equal(erf_time(UINT32_MAX, 500000000), 0xffffffff80000000);
}

static void check_nanosecond(uint32_t ns)
{
    uint64_t time = erf_time(1700000000, ns);
    int64_t sec;
    uint32_t back;

    erf_split(time, &sec, &back);
    assert_int_equal(sec, 1700000000);
    assert_int_equal(back, ns);                                   /* a reader that rounds */
    assert_int_equal((time & 0xffffffff) * 1000000000 >> 32, ns); /* a reader that truncates */
}

static void every_nanosecond_survives_conversion(void **state)
{
    (void)state;
    for (uint32_t ns = 0; ns < 1000000000; ns += 997)
        check_nanosecond(ns);
    for (uint32_t ns = 999990000; ns < 1000000000; ns++)
        check_nanosecond(ns);
    for (uint32_t ns = 0; ns < 10000; ns++)
        check_nanosecond(ns);
}

/* The last two units of a second are less than half a nanosecond before the next one. */
static void rounding_carries_into_the_seconds(void **state)
{
    int64_t sec;
    uint32_t ns;

    (void)state;
    erf_split(0x1ffffffff, &sec, &ns);
    assert_int_equal(sec, 2);
    assert_int_equal(ns, 0);
    erf_split(0x1fffffffd, &sec, &ns); /* 3 units = 0.698 ns before: rounds to 999999999 */
    assert_int_equal(sec, 1);
    assert_int_equal(ns, 999999999);
    erf_split(UINT64_MAX, &sec, &ns);
    assert_int_equal(sec, INT64_C(1) << 32);
}

/* 999993 * 4295 = 4294969935 = 2^32 + 2639: carries into the next second. */
static void ibdumps_time_overflows(void **state)
{
    (void)state;
    assert_int_equal(erf_ibdump_time(5, 999993), (UINT64_C(6) << 32) + 2639);
    assert_int_equal(erf_ibdump_time(5, 999992) >> 32, 5);
}

static void time_outside_of_32_bits_is_refused(void **state)
{
    const struct translation way = {.to = LINKTYPE_ERF};
    struct capture_record in = {.linktype = LINKTYPE_INFINIBAND,
                                .sec = UINT32_MAX,
                                .data = half_second,
                                .data_len = 24,
                                .wirelen = 24},
                          out;
    struct remarks note;

    (void)state;
    assert_int_equal(translate(&way, &in, &out, &note), CARRIED);
    in.sec++;
    assert_int_equal(translate(&way, &in, &out, &note), BAD_TIME);
    in.sec = -1;
    assert_int_equal(translate(&way, &in, &out, &note), BAD_TIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_ibdumps),
        cmocka_unit_test(longest_record_fits_its_length_field),
        cmocka_unit_test(record_is_parsed),
        cmocka_unit_test(extension_headers_are_walked),
        cmocka_unit_test(subheader_belongs_to_the_head),
        cmocka_unit_test(padding_is_not_part_of_the_packet),
        cmocka_unit_test(bytes_without_a_record_are_refused),
        cmocka_unit_test(nanoseconds_become_units_rounded_up),
        cmocka_unit_test(every_nanosecond_survives_conversion),
        cmocka_unit_test(rounding_carries_into_the_seconds),
        cmocka_unit_test(ibdumps_time_overflows),
        cmocka_unit_test(time_outside_of_32_bits_is_refused),
    };

    return cmocka_run_group_tests_name("erf", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading pcapng: interfaces, times, sections in both byte orders, frame numbers, and malformed
 * files. The bytes are written here from the format's draft.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pcapio/capfile.h"
#include "pcapio/error.h"
#include "pcapio/pcapngtime.h"
#include "wire/nanoseconds.h"

/* ---- writing a file */

struct bytes {
    uint8_t p[2048];
    size_t n, begin; /* begin: start of the open block */
    int big_endian;
};

static void put(struct bytes *o, uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        o->p[o->n++] = (uint8_t)(v >> 8 * (o->big_endian ? size - 1 - i : i));
}

static void put_text(struct bytes *o, const char *text)
{
    size_t n = strlen(text);
    memcpy(o->p + o->n, text, n);
    o->n += n;
    while (o->n % 4)
        o->p[o->n++] = 0;
}

static void open_block(struct bytes *o, uint32_t type)
{
    o->begin = o->n;
    put(o, type, 4);
    put(o, 0, 4);
}

static void close_block(struct bytes *o)
{
    size_t end = o->n + 4, len = end - o->begin;
    put(o, len, 4);
    o->n = o->begin + 4;
    put(o, len, 4);
    o->n = end;
}

static void put_section(struct bytes *o, int big_endian)
{
    o->big_endian = big_endian;
    open_block(o, 0x0a0d0d0a);
    put(o, 0x1a2b3c4d, 4);
    put(o, 1, 2);
    put(o, 0, 2);
    put(o, UINT64_MAX, 8);
    close_block(o);
}

/* Writes tsresol and offset as options, if they are set. */
static void put_interface(struct bytes *o, uint16_t linktype, uint32_t snaplen, int tsresol,
                          int64_t offset)
{
    open_block(o, 1);
    put(o, linktype, 2);
    put(o, 0, 2);
    put(o, snaplen, 4);
    if (tsresol >= 0) {
        put(o, 9, 2);
        put(o, 1, 2);
        o->p[o->n++] = (uint8_t)tsresol;
        put(o, 0, 3);
    }
    if (offset) {
        put(o, 14, 2);
        put(o, 8, 2);
        put(o, (uint64_t)offset, 8);
    }
    if (tsresol >= 0 || offset)
        put(o, 0, 4);
    close_block(o);
}

static void put_packet(struct bytes *o, uint32_t interface, uint64_t ticks, const char *packet,
                       uint32_t wirelen)
{
    open_block(o, 6);
    put(o, interface, 4);
    put(o, ticks >> 32, 4);
    put(o, ticks & UINT32_MAX, 4);
    put(o, strlen(packet), 4);
    put(o, wirelen, 4);
    put_text(o, packet);
    close_block(o);
}

static void put_obsolete(struct bytes *o, uint16_t interface, uint64_t ticks, const char *packet)
{
    open_block(o, 2);
    put(o, interface, 2);
    put(o, 7, 2); /* drops */
    put(o, ticks >> 32, 4);
    put(o, ticks & UINT32_MAX, 4);
    put(o, strlen(packet), 4);
    put(o, strlen(packet), 4);
    put_text(o, packet);
    close_block(o);
}

static void put_simple(struct bytes *o, const char *packet, uint32_t wirelen)
{
    open_block(o, 3);
    put(o, wirelen, 4);
    put_text(o, packet);
    close_block(o);
}

static void put_other(struct bytes *o, uint32_t type)
{
    open_block(o, type);
    put(o, 12345, 4);
    close_block(o);
}

/* ---- reading it */

static char path[] = "/tmp/test_capfile.XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static struct capfile *open_bytes(const uint8_t *p, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(p, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return capfile_open(path, NULL);
}

static void expect_frame(struct capfile *c, uint32_t number, uint32_t interface, int linktype,
                         int64_t ns, const char *packet, uint32_t wirelen)
{
    struct capfile_frame f;
    assert_int_equal(capfile_next(c, &f, NULL), CAPFILE_FRAME);
    assert_int_equal(f.number, number);
    assert_int_equal(f.interface, interface);
    assert_int_equal(f.linktype, linktype);
    assert_true(f.ns == ns);
    assert_int_equal(f.caplen, strlen(packet));
    assert_memory_equal(f.bytes, packet, f.caplen);
    assert_int_equal(f.wirelen, wirelen);
}

static void expect_end(struct capfile *c)
{
    struct capfile_frame f;
    assert_int_equal(capfile_next(c, &f, NULL), CAPFILE_END);
    capfile_close(c);
}

static void expect_error(struct capfile *c, enum pcapio_error code, const char *text)
{
    struct capfile_frame f;
    GError *error = NULL;
    assert_int_equal(capfile_next(c, &f, &error), CAPFILE_ERROR);
    assert_true(g_error_matches(error, PCAPIO_ERROR, (gint)code));
    assert_non_null(strstr(error->message, text));
    g_error_free(error);
    capfile_close(c);
}

static void expect_malformed(struct capfile *c, const char *text)
{
    expect_error(c, PCAPIO_ERROR_MALFORMED, text);
}

/* ---- valid files */

static void interfaces_and_times(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 0, -1, 0);         /* microseconds */
    put_interface(&o, 197, 0, 9, 0);          /* nanoseconds */
    put_interface(&o, 1, 0, 0x80 | 10, 1000); /* 2^-10 s, offset 1000 s */
    put_packet(&o, 1, 1700000000123456789, "one", 3);
    put_packet(&o, 0, 1700000000123456, "three", 100);
    put_packet(&o, 2, 5 * 1024 + 256, "four", 4);
    struct capfile *c = open_bytes(o.p, o.n);
    expect_frame(c, 1, 1, 197, 1700000000123456789, "one", 3);
    expect_frame(c, 2, 0, 247, 1700000000123456000, "three", 100);
    expect_frame(c, 3, 2, 1, 1005250000000, "four", 4);
    expect_end(c);
}

/* The second section has other interfaces than the first, and its own byte order. */
static void sections(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 1);
    put_interface(&o, 247, 0, 6, -10);
    put_interface(&o, 247, 0, 6, 0);
    put_packet(&o, 0, 12000000, "a", 1);
    put_section(&o, 0);
    put_interface(&o, 242, 0, 6, 0);
    put_packet(&o, 0, 3000000, "b", 1);
    struct capfile *c = open_bytes(o.p, o.n);
    expect_frame(c, 1, 0, 247, 2000000000, "a", 1);
    expect_frame(c, 2, 2, 242, 3000000000, "b", 1);
    expect_end(c);
}

/*
 * Simple blocks have no time and belong to the first interface; its snapshot length gives their
 * captured length.
 */
static void other_packet_blocks(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 5, -1, 0);
    put_interface(&o, 1, 0, -1, 0);
    put_simple(&o, "abcdefgh", 300); /* 5 of 300 bytes, then padding */
    put_obsolete(&o, 1, 2000000, "obsolete");
    put_simple(&o, "xyz", 3);
    struct capfile *c = open_bytes(o.p, o.n);
    expect_frame(c, 1, 0, 247, 0, "abcde", 300);
    expect_frame(c, 2, 1, 1, 2000000000, "obsolete", 8);
    expect_frame(c, 3, 0, 247, 2000000000, "xyz", 3);
    expect_end(c);
}

/*
 * Frame numbers are those of Wireshark 4.0: it counts custom blocks, journal entries and sysdig
 * events, but not name, statistics and unknown blocks.
 */
static void numbers(void **state)
{
    static const uint32_t counted[] = {0xbad, 0x40000bad, 9, 0x204},
                          uncounted[] = {4, 5, 10, 0x7777};
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 0, -1, 0);
    for (size_t i = 0; i < 4; i++) {
        put_other(&o, counted[i]);
        put_other(&o, uncounted[i]);
    }
    put_packet(&o, 0, 0, "x", 1);
    struct capfile *c = open_bytes(o.p, o.n);
    expect_frame(c, 5, 0, 247, 0, "x", 1);
    expect_end(c);
}

static void resolutions(void **state)
{
    (void)state;
    assert_true(pcapng_ns(3, 0, 0) == 3000000000);
    assert_true(pcapng_ns(1500, 3, 0) == 1500000000);
    assert_true(pcapng_ns(1500000000000, 12, 0) == 1500000000);
    assert_true(pcapng_ns(UINT64_C(10000000000000000000), 19, 0) == 1000000000);
    assert_true(pcapng_ns(UINT64_C(10000000000000000000), 20, 0) == 100000000);
    assert_true(pcapng_ns(UINT64_MAX, 127, 0) == 0);
    assert_true(pcapng_ns(UINT64_C(7) << 32 | 0x40000000, 0x80 | 32, 0) == 7250000000);
    assert_true(pcapng_ns(UINT64_C(3) << 61, 0x80 | 62, 0) == 1500000000);
    assert_true(pcapng_ns(UINT64_C(1) << 63, 0x80 | 63, 0) == 1000000000);
    assert_true(pcapng_ns(UINT64_C(1) << 63, 0x80 | 64, 0) == 500000000);
    assert_true(pcapng_ns(UINT64_MAX, 0x80 | 127, 0) == 0);
    assert_true(pcapng_ns(1500000, 6, -1) == 500000000);
    assert_true(pcapng_ns(500000, 6, -2) == -1500000000);
    /* beyond the range of 64-bit nanoseconds: the result is the largest or the smallest value */
    assert_true(pcapng_ns(UINT64_MAX, 0, 0) > INT64_C(9223372034) * 1000000000);
    assert_true(pcapng_ns(UINT64_MAX, 0, INT64_MAX) > INT64_C(9223372034) * 1000000000);
    assert_true(pcapng_ns(0, 6, INT64_MIN) < INT64_C(-9223372034) * 1000000000);
}

__extension__ typedef __int128 wide;

/* Reference result by exact arithmetic (draft-ietf-opsawg-pcapng 4.2: if_tsresol, if_tsoffset). */
static int64_t exact_ns(uint64_t ticks, uint8_t tsresol, int64_t offset)
{
    unsigned n = tsresol & 0x7f;
    wide ns = (wide)ticks * 1000000000;
    if (tsresol & 0x80)
        ns = n < 100 ? ns >> n : 0;
    else
        for (unsigned i = 0; i < n; i++)
            ns /= 10;
    ns += (wide)offset * 1000000000;
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/*
 * All resolutions, with offsets at both ends of the range: the nearest value that fits; fractions
 * of 2^-n within 1 ns.
 */
static void all_resolutions(void **state)
{
    static const int64_t offsets[] = {
        INT64_MIN,  INT64_MIN + 1, -9223372037, -9223372036,   -1,       0, 1,
        9223372035, 9223372036,    9223372037,  INT64_MAX - 1, INT64_MAX};
    static const uint64_t ticks[] = {0,          1,         999999999,      1u << 31,
                                     UINT32_MAX, INT64_MAX, 1ull << 63 | 1, UINT64_MAX};
    (void)state;
    for (unsigned r = 0; r < 256; r++)
        for (unsigned o = 0; o < 12; o++)
            for (unsigned t = 0; t < 8; t++) {
                int64_t ns = pcapng_ns(ticks[t], (uint8_t)r, offsets[o]);
                int64_t exact = exact_ns(ticks[t], (uint8_t)r, offsets[o]);
                if (ns != exact && (r < 0x80 + 32 || (wide)exact - ns != 1))
                    fail_msg("%u %u %u: %" PRId64 ", not %" PRId64, r, o, t, ns, exact);
            }
}

/* A fraction of more than a second, in a malformed file, is carried to the seconds. */
static void fractions(void **state)
{
    (void)state;
    assert_true(nanoseconds_of(1, 1500000000) == 2500000000);
    assert_true(nanoseconds_of(1, -1) == 999999999);
    assert_true(nanoseconds_of(-1, 1) == -999999999);
    assert_true(nanoseconds_of(INT64_MAX, 999999999) == INT64_MAX);
    assert_true(nanoseconds_of(INT64_MIN, 999999999) == INT64_MIN);
    assert_true(nanoseconds_of(9223372036, 854775807) == INT64_MAX);
    assert_true(nanoseconds_of(9223372036, 854775808) == INT64_MAX);
    assert_true(nanoseconds_of(-9223372037, 145224192) == INT64_MIN);
    assert_true(nanoseconds_of(-9223372037, 145224193) == INT64_MIN + 1);
    assert_true(nanoseconds_of(INT64_MIN, INT64_MIN) == INT64_MIN);
}

/* ---- malformed files */

static void wrong_interface(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 0, -1, 0);
    put_section(&o, 0); /* this section does not have the first section's interface */
    put_packet(&o, 0, 0, "x", 1);
    expect_malformed(open_bytes(o.p, o.n), "an interface that is not described");
}

static void packet_beyond_block(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 0, -1, 0);
    put_packet(&o, 0, 0, "abcd", 4);
    o.p[o.begin + 20] = 5; /* captured length */
    expect_malformed(open_bytes(o.p, o.n), "ends beyond it");
    o.p[o.begin + 20] = 0xff;
    o.p[o.begin + 23] = 0xff;
    expect_malformed(open_bytes(o.p, o.n), "ends beyond it");
}

static void two_lengths(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_other(&o, 0x7777);
    o.p[o.n - 4] ^= 4;
    expect_malformed(open_bytes(o.p, o.n), "two different lengths");
}

static void impossible_lengths(void **state)
{
    static const uint8_t lengths[] = {0, 8, 13};
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_other(&o, 0x7777);
    for (size_t i = 0; i < sizeof lengths; i++) {
        o.p[o.begin + 4] = lengths[i];
        expect_malformed(open_bytes(o.p, o.n), "impossible length");
    }
}

/*
 * A length of gigabytes allocates no memory. A block of unknown type may be long; it is skipped as
 * far as the file goes.
 */
static void long_blocks(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    put_interface(&o, 247, 0, -1, 0);
    put_packet(&o, 0, 0, "abcd", 4);
    o.p[o.begin + 7] = 0x7f;
    expect_malformed(open_bytes(o.p, o.n), "longer than 16 MiB");
    o.p[o.begin] = 0x77;
    expect_error(open_bytes(o.p, o.n), PCAPIO_ERROR_TRUNCATED, "cut short");
}

/*
 * Section 4.2: if_tsresol (9) has 1 byte and if_tsoffset (14) has 8. An if_tsoffset of 4 bytes at
 * the end of its block would be read beyond its value.
 */
static void wrong_option_sizes(void **state)
{
    static const uint16_t options[][2] = {{9, 0}, {9, 2}, {14, 4}, {14, 7}, {14, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct bytes o = {.n = 0};
        put_section(&o, 0);
        open_block(&o, 1);
        put(&o, 247, 4);
        put(&o, 65535, 4);
        put(&o, options[i][0], 2);
        put(&o, options[i][1], 2);
        for (unsigned n = 0; n < options[i][1]; n += 4)
            put(&o, 0, 4);
        close_block(&o);
        put_packet(&o, 0, 0, "x", 1);
        expect_malformed(open_bytes(o.p, o.n), "an option of the wrong size");
    }
}

static void no_section(void **state)
{
    struct bytes o = {.n = 0};
    (void)state;
    put_section(&o, 0);
    o.p[8] ^= 1; /* byte order */
    expect_malformed(open_bytes(o.p, o.n), "unknown byte order");
}

/* ---- ERF: a record has a header of 16 bytes, with its type in byte 8 and its length in 10 and 11
 */

static void put_erf_record(struct bytes *o, uint8_t type, uint8_t rlen)
{
    memset(o->p + o->n, 0, 8); /* time */
    memcpy(o->p + o->n + 8, (const uint8_t[]){type, 4, 0, rlen, 0, 0, 0, 8}, 8);
    memset(o->p + o->n + 16, 0x11, 8);
    o->n += 24;
}

/* A type of 0, or above 48 (padding), or a length without the header: none is a record. */
static void no_second_erf_record(void **state)
{
    static const uint8_t seconds[][2] = {{0, 24}, {49, 24}, {21, 15}, {21, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct bytes o = {.n = 0};
        struct capfile_frame f;
        put_erf_record(&o, 21, 24);
        put_erf_record(&o, seconds[i][0], seconds[i][1]);
        struct capfile *c = open_bytes(o.p, o.n);
        assert_int_equal(capfile_next(c, &f, NULL), CAPFILE_FRAME);
        assert_int_equal(f.caplen, 24);
        expect_malformed(c, "no ERF record at offset 24");
    }
}

/* ---- files that end or have other bytes anywhere */

/* A file with every kind of block; ends[]: where its blocks end, packets[]: packets up to there. */
static struct bytes everything(size_t ends[16], unsigned *n_ends, unsigned packets[16])
{
    struct bytes o = {.n = 0};
    unsigned n = 0;
#define ENDS(count) (ends[n] = o.n, packets[n++] = (count))
    put_section(&o, 0);
    ENDS(0);
    put_interface(&o, 197, 64, 9, 5);
    ENDS(0);
    put_packet(&o, 0, 1, "abcde", 5);
    ENDS(1);
    put_simple(&o, "abc", 3);
    ENDS(2);
    put_other(&o, 0x7777);
    ENDS(2);
    put_section(&o, 1);
    ENDS(2);
    put_interface(&o, 247, 0, 0x94, 0);
    ENDS(2);
    put_obsolete(&o, 0, 1, "abcdefg");
    ENDS(3);
#undef ENDS
    *n_ends = n;
    return o;
}

static void every_cut(void **state)
{
    size_t ends[16];
    unsigned n_ends, packets[16];
    struct bytes o = everything(ends, &n_ends, packets);
    (void)state;
    for (size_t cut = 4; cut <= o.n; cut++) {
        struct capfile *c = open_bytes(o.p, cut);
        struct capfile_frame f;
        enum capfile_result result;
        GError *error = NULL;
        unsigned got = 0, expected = 0, at_border = 0;
        for (unsigned i = 0; i < n_ends && ends[i] <= cut; i++) {
            expected = packets[i];
            at_border = ends[i] == cut;
        }
        while ((result = capfile_next(c, &f, &error)) == CAPFILE_FRAME)
            got++;
        assert_int_equal(got, expected);
        assert_int_equal(result, at_border ? CAPFILE_END : CAPFILE_ERROR);
        if (!at_border)
            assert_non_null(strstr(error->message, "is cut short"));
        g_clear_error(&error);
        capfile_close(c);
    }
}

/* Changes every byte of the file in three ways: reading ends, and no frame exceeds its memory. */
static void every_byte_wrong(void **state)
{
    size_t ends[16];
    unsigned n_ends, packets[16], sum = 0;
    struct bytes o = everything(ends, &n_ends, packets);
    (void)state;
    for (size_t at = 0; at < 3 * o.n; at++) {
        uint8_t kept = o.p[at / 3];
        o.p[at / 3] = at % 3 == 0 ? 0 : at % 3 == 1 ? 0xff : kept ^ 1;
        struct capfile *c = open_bytes(o.p, o.n);
        struct capfile_frame f;
        unsigned frames = 0;
        while (c && capfile_next(c, &f, NULL) == CAPFILE_FRAME) {
            frames++;
            assert_true(f.caplen <= o.n && f.caplen <= f.wirelen);
            for (uint32_t i = 0; i < f.caplen; i++)
                sum += f.bytes[i];
        }
        assert_true(frames <= 3);
        capfile_close(c);
        o.p[at / 3] = kept;
    }
    assert_true(sum > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interfaces_and_times),
        cmocka_unit_test(sections),
        cmocka_unit_test(other_packet_blocks),
        cmocka_unit_test(numbers),
        cmocka_unit_test(resolutions),
        cmocka_unit_test(all_resolutions),
        cmocka_unit_test(fractions),
        cmocka_unit_test(wrong_interface),
        cmocka_unit_test(packet_beyond_block),
        cmocka_unit_test(two_lengths),
        cmocka_unit_test(impossible_lengths),
        cmocka_unit_test(long_blocks),
        cmocka_unit_test(wrong_option_sizes),
        cmocka_unit_test(no_section),
        cmocka_unit_test(no_second_erf_record),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(every_byte_wrong),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}

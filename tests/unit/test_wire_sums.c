/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ICRC, VCRC and the Internet checksum of lib/wire. */
#include "tests/unit/unit.h"
#include "tests/unit/wire_bytes.h"

#include "wire/checksum.h"
#include "wire/crc.h"
#include "wire/ib.h"
#include "wire/icrc.h"
#include "wire/put.h"
#include "wire/vcrc.h"

/*
 * The CRC of this packet was computed by tests/frames/ib.py, which agrees with captures of real
 * hardware.
 */
static void invariant_crc(void **state)
{
    (void)state;
    static const uint8_t crc[ICRC_SIZE] = {0x3e, 0xfe, 0xdf, 0x06};
    uint8_t p[sizeof ud];
    struct ib_packet ib;
    memcpy(p, ud, sizeof p);
    memcpy(p + 40, crc, sizeof crc);
    assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_RIGHT);
    p[0] |= 0x30; /* switches may change the virtual lane, but not the service level */
    p[12] = 0xc0; /* they may also change FECN and BECN */
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_RIGHT);
    p[1] |= 0x10;
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_WRONG);
    assert_int_equal(icrc_check(whole(ud, sizeof ud), &ib), ICRC_WRONG);
    assert_int_equal(icrc_check(view_make(p, 43, sizeof p), &ib), ICRC_NOT_THERE);
    memset(p + 40, 0, 4);
    assert_int_equal(icrc_check(whole(p, sizeof p), &ib), ICRC_NOT_THERE);
}

/*
 * IBA 7.8.2, bit by bit: a 16-bit register, polynomial 0x100B, the least significant bit of a byte
 * first.
 */
static uint16_t vcrc_by_bits(const uint8_t *p, uint32_t n)
{
    uint16_t reg = 0xffff, out = 0;
    for (uint32_t i = 0; i < 8 * n; i++) {
        bool bit = (p[i / 8] >> i % 8 & 1) ^ (reg >> 15);
        reg = (uint16_t)(reg << 1 ^ (bit ? 0x100b : 0));
    }
    for (unsigned i = 0; i < 16; i++) /* sent as in the register, the highest bit first */
        out = (uint16_t)(out | (uint16_t)((reg >> (15 - i) & 1) << i));
    return (uint16_t)~out;
}

static void variant_crc(void **state)
{
    (void)state;
    uint8_t p[sizeof ud + VCRC_SIZE] = {0};
    struct ib_packet ib;
    memcpy(p, ud, sizeof ud);
    for (unsigned seed = 0; seed < 256; seed++) { /* each value of a byte */
        p[30] = (uint8_t)seed;
        assert_int_equal(ib_decode(whole(p, sizeof p), IB_START_LRH, &ib), WIRE_OK);
        uint32_t n = ib.length;
        uint16_t crc = vcrc_by_bits(p, n);
        p[n] = (uint8_t)crc;
        p[n + 1] = (uint8_t)(crc >> 8);
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_RIGHT);
        p[0] ^= 0x30; /* the virtual lane, which the ICRC does not protect */
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_WRONG);
        p[0] ^= 0x30;
        assert_int_equal(vcrc_check(whole(p, n), &ib), VCRC_NOT_THERE);
        assert_int_equal(vcrc_check(view_make(p, n + 1, n + VCRC_SIZE), &ib), VCRC_NOT_THERE);
        p[n] = p[n + 1] = 0;
        assert_int_equal(vcrc_check(whole(p, n + VCRC_SIZE), &ib), VCRC_NOT_THERE);
    }
}

/*
 * RFC 1071: the fast sum agrees with the one that adds byte by byte, and a checksum that is wrong
 * by one is found. at: n bytes.
 */
static void compare_checksums(uint8_t *at, uint32_t n)
{
    put16(at, 0);
    put16(at, checksum_fold(checksum_add(0, at, n)));
    bool is_zero = checksum_add(0, at, n) == 0; /* no sender has such data */
    assert_int_equal(checksum_sum_is_right(checksum_sum(at, n)), !is_zero);
    if (n == 20)
        assert_int_equal(checksum_sum_is_right(checksum_sum_20(at)), !is_zero);
    at[n / 2] ^= 1;
    assert_false(checksum_sum_is_right(checksum_sum(at, n)));
    assert_false(n == 20 && checksum_sum_is_right(checksum_sum_20(at)));
}

/* Each length at each alignment, with a carry of each word, with some, and with none. */
static void fast_checksum(void **state)
{
    (void)state;
    enum { LENGTH = 320, ALIGNMENTS = 8 };
    _Alignas(ALIGNMENTS) uint8_t p[LENGTH + ALIGNMENTS];
    for (uint32_t n = 2; n <= LENGTH; n++)
        for (unsigned kind = 0; kind < 3; kind++)
            for (unsigned offset = 0; offset < ALIGNMENTS; offset++) {
                for (uint32_t i = 0; i < sizeof p; i++)
                    p[i] = kind == 0 ? 0xff : kind == 1 ? (uint8_t)(i * i * 37 + n) : i == n - 1;
                compare_checksums(p + offset, n);
            }
    assert_int_equal(checksum_sum(p, 0), 0);
}

/* More bytes than are added at once. */
static void fast_checksum_of_many_bytes(void **state)
{
    (void)state;
    static uint8_t p[1 << 18];
    for (uint32_t i = 0; i < sizeof p; i++)
        p[i] = (uint8_t)(i % 251 | 0x80);
    for (uint32_t n = (1 << 16) - 2; n <= sizeof p; n += (1 << 15) - 2) {
        put16(p, 0);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < n; i += 1 << 12) { /* the sum of byte by byte has 32 bits */
            uint32_t part = checksum_add(0, p + i, n - i < 1 << 12 ? n - i : 1 << 12);
            sum += (uint16_t)~checksum_fold(part);
        }
        put16(p, checksum_fold(sum));
        assert_true(checksum_sum_is_right(checksum_sum(p, n)));
        p[n / 2] ^= 1;
        assert_false(checksum_sum_is_right(checksum_sum(p, n)));
        p[n / 2] ^= 1;
    }
}

/* A register without tables: one bit of the packet at a time (IBA 7.8.1, 7.8.2). */
static uint32_t crc_by_bits(uint32_t reg, uint32_t polynomial, const uint8_t *p, size_t n)
{
    for (; n; n--, p++) {
        reg ^= *p;
        for (unsigned bit = 0; bit < 8; bit++)
            reg = reg >> 1 ^ (reg & 1 ? polynomial : 0);
    }
    return reg;
}

static void assert_crc(const struct crc *kind, uint32_t reg, uint32_t polynomial, const uint8_t *p,
                       size_t n)
{
    uint32_t expected = crc_by_bits(reg, polynomial, p, n);
    assert_int_equal(crc_add(kind, reg, p, n), expected);
    assert_int_equal(crc_add_by_tables(kind, reg, p, n), expected);
}

/* At all alignments: all sizes up to several blocks of each method, and the largest packet. */
static void crcs_of_all_sizes(void **state)
{
    (void)state;
    static uint8_t p[4300];
    uint32_t x = 1;
    for (size_t i = 0; i < sizeof p; i++)
        p[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    for (size_t n = 0; n <= 320; n++)
        for (size_t at = 0; at < 17; at++) {
            assert_crc(crc_32, 0xffffffff - (uint32_t)at, 0xedb88320, p + at, n);
            assert_crc(crc_16, 0xffff - (uint32_t)at, 0xd008, p + at, n);
        }
    assert_crc(crc_32, 0xffffffff, 0xedb88320, p, sizeof p);
    assert_crc(crc_16, 0xffff, 0xd008, p, sizeof p);
}

/* The check value of CRC-32 in the catalogues: of the nine digits "123456789". */
static void crc_of_nine_digits(void **state)
{
    (void)state;
    assert_int_equal(~crc_add(crc_32, 0xffffffff, (const uint8_t *)"123456789", 9), 0xcbf43926);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(variant_crc),
        cmocka_unit_test(crcs_of_all_sizes),
        cmocka_unit_test(crc_of_nine_digits),
        cmocka_unit_test(fast_checksum),
        cmocka_unit_test(fast_checksum_of_many_bytes),
        cmocka_unit_test(invariant_crc),
    };
    return cmocka_run_group_tests_name("wire_sums", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writers of pcapng blocks and pcap headers. The bytes were laid out by hand from the format's
 * draft.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pcapio/pcapfile.h"
#include "pcapio/pcapng.h"

static void section_header(void **state)
{
    static const uint8_t expected[] = {
        0x0a,
        0x0d,
        0x0d,
        0x0a,
        44,
        0,
        0,
        0, /* type, length */
        0x4d,
        0x3c,
        0x2b,
        0x1a,
        1,
        0,
        0,
        0, /* byte order, version 1.0 */
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff,
        0xff, /* section length unknown */
        /* shb_userappl, end */
        4,
        0,
        5,
        0,
        'h',
        'e',
        'l',
        'l',
        'o',
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        44,
        0,
        0,
        0,
    };
    uint8_t out[64];

    (void)state;
    assert_int_equal(pcapng_put_shb(out, sizeof(out), "hello"), sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    assert_int_equal(pcapng_put_shb(out, sizeof(expected), "hello"), sizeof(expected));
    assert_int_equal(pcapng_put_shb(out, sizeof(expected) - 1, "hello"), 0);
}

static void interface_without_name(void **state)
{
    static const uint8_t expected[] = {
        /* type, length, link type, snaplen */
        1,  0, 0, 0, 32, 0, 0, 0, 197, 0, 0, 0, 0xff, 0xff,
        0,  0, 9, 0, 1,  0, 9, 0, 0,   0, 0, 0, 0,    0, /* if_tsresol 9, end */
        32, 0, 0, 0,
    };
    uint8_t out[64];

    (void)state;
    assert_int_equal(pcapng_put_idb(out, sizeof(out), 197, 65535, NULL), sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    assert_int_equal(pcapng_put_idb(out, sizeof(expected) - 1, 197, 65535, NULL), 0);
}

static void interface_with_name(void **state)
{
    static const uint8_t expected[] = {
        1, 0, 0, 0, 44,  0,   0,   0,   247, 0,   0, 0, 0,  0, 4, 0,
        2, 0, 6, 0, 'm', 'l', 'x', '5', '_', '0', 0, 0, /* if_name */
        9, 0, 1, 0, 9,   0,   0,   0,   0,   0,   0, 0, 44, 0, 0, 0,
    };
    uint8_t out[64];

    (void)state;
    assert_int_equal(pcapng_put_idb(out, sizeof(expected), 247, 262144, "mlx5_0"),
                     sizeof(expected));
    assert_memory_equal(out, expected, sizeof(expected));
    assert_int_equal(pcapng_put_idb(out, sizeof(expected) - 1, 247, 262144, "mlx5_0"), 0);
}

/* 5 bytes of packet, 3 of padding; the block has 28 + 8 + 4 = 40 bytes. */
static void packet_with_padding(void **state)
{
    static const uint8_t head[] = {
        6,    0,    0,    0,    40,   0,    0, 0, 1, 0, 0, 0, 0x04, 0x03,
        0x02, 0x01, 0x08, 0x07, 0x06, 0x05, 5, 0, 0, 0, 9, 0, 0,    0,
    };
    static const uint8_t tail[] = {0, 0, 0, 40, 0, 0, 0};
    struct pcapng_epb epb = {.interface = 1, .time = 0x0102030405060708, .caplen = 5, .wirelen = 9};
    uint8_t out[PCAPNG_EPB_HEAD_LEN], end[PCAPNG_EPB_TAIL_MAX];

    (void)state;
    pcapng_put_epb_head(out, &epb);
    assert_memory_equal(out, head, sizeof(head));
    memset(end, 0xee, sizeof(end));
    assert_int_equal(pcapng_put_epb_tail(end, &epb), sizeof(tail));
    assert_memory_equal(end, tail, sizeof(tail));
}

static void packet_with_drop_count(void **state)
{
    static const uint8_t tail[] = {
        4,  0, 8, 0, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* epb_dropcount 7, end */
        52, 0, 0, 0,                                        /* 28 + 4 + 16 + 4 */
    };
    struct pcapng_epb epb = {.caplen = 4, .wirelen = 4, .dropped = 7};
    uint8_t head[PCAPNG_EPB_HEAD_LEN], end[PCAPNG_EPB_TAIL_MAX];

    (void)state;
    pcapng_put_epb_head(head, &epb);
    assert_int_equal(head[4], 52);
    assert_int_equal(pcapng_put_epb_tail(end, &epb), sizeof(tail));
    assert_memory_equal(end, tail, sizeof(tail));
}

static void longest_tail_fits(void **state)
{
    struct pcapng_epb epb = {.caplen = 1, .dropped = UINT64_MAX};
    uint8_t end[PCAPNG_EPB_TAIL_MAX];

    (void)state;
    assert_int_equal(pcapng_put_epb_tail(end, &epb), 3 + 12 + 4 + 4);
}

static void pcap_headers(void **state)
{
    static const uint8_t ibdumps[] = {
        0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0xc5, 0, 0, 0,
    };
    static const uint8_t record[] = {0x00, 0xf1, 0x53, 0x65, 0x3f, 0x42, 0x0f, 0,
                                     1,    0,    0,    0,    2,    1,    0,    0};
    uint8_t file[PCAPFILE_HEADER_LEN], out[PCAPFILE_RECORD_LEN];

    (void)state;
    pcapfile_put_file_header(file, false, 197, 65535);
    assert_memory_equal(file, ibdumps, sizeof(ibdumps));
    pcapfile_put_file_header(file, true, 247, 65535);
    assert_memory_equal(file, "\x4d\x3c\xb2\xa1", 4);
    assert_int_equal(file[20], 247);
    pcapfile_put_record_header(out, 1700000000, 999999, 1, 258);
    assert_memory_equal(out, record, sizeof(record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(section_header),         cmocka_unit_test(interface_without_name),
        cmocka_unit_test(interface_with_name),    cmocka_unit_test(packet_with_padding),
        cmocka_unit_test(packet_with_drop_count), cmocka_unit_test(longest_tail_fits),
        cmocka_unit_test(pcap_headers),
    };

    return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}

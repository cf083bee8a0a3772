/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From frames to records: the bytes, laid out by hand from the formats' documents; limits of files;
 * counts.
 */
#include "tests/unit/unit.h"

#include "pcapio/pcapng.h"
#include "capture/write/recorder.h"
#include "capture/write/series.h"

#define SECOND UINT64_C(1000000000)

static const uint8_t bytes[] = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5};
static const struct recorded_frame frame = {
    .bytes = bytes, .len = 6, .wirelen = 6, .time = UINT64_C(1700000000500000999)};

struct fixture {
    struct handover *h;
    struct recorder *r;
};

static struct fixture begin(const struct recorder_plan *plan)
{
    struct fixture f = {.h = handover_create(1, false)};

    f.r = recorder_create(plan, f.h);
    return f;
}

static void finish(struct fixture *f)
{
    recorder_destroy(f->r);
    handover_destroy(f->h);
}

/* Compares with the bytes that TEXT has in hexadecimal; returns how many. */
static size_t expect_bytes(const uint8_t *found, const char *text)
{
    uint8_t expected[512];
    size_t len = from_hex(text, expected, sizeof(expected));

    assert_memory_equal(found, expected, len);
    return len;
}

/* The block that the writer gets must have these bytes. */
static void expect_block(struct fixture *f, const char *text)
{
    struct block *b = handover_next(f->h);

    assert_non_null(b);
    assert_int_equal(b->len, expect_bytes(b->data, text));
}

/*
 * 1700000000.5 s is 0x6553f100.80000000; 999 ns more are 999 * 4.294967296 = 4290.7, rounded up to
 * 4291 = 0x10c3.
 */
static void ibdumps_file(void **state)
{
    static const char expected[] =
        "d4c3b2a1 02000400 00000000 00000000 ffff0000 c5000000 "
        /* .500000 s, 6 + 16 bytes */
        "00f15365 20a10700 16000000 16000000 c3100080 00f15365 15040016 00000006 "
        "a0a1a2a3 a4a500f1 536520a1 07001600 00001600 0000 "
        /* from a mirrored frame: the mirror's headers are removed */
        "c3100080 00f15365 15050016 00000006 a0a1a2a3 a4a5 ";
    const struct recorder_plan plan = {.format = {.erf = true}};
    struct fixture f = begin(&plan);
    struct recorded_frame mirrored = frame;

    (void)state;
    mirrored.decapsulated = true;
    assert_true(recorder_put(f.r, &frame));
    assert_true(recorder_put(f.r, &mirrored));
    recorder_end(f.r, frame.time);
    expect_block(&f, expected);
    assert_null(handover_next(f.h));
    finish(&f);
}

static void ethernet_with_and_without_erf(void **state)
{
    static const char plain[] = "00f15365 20a10700 06000000 06000000 a0a1a2a3 a4a5 ";
    static const char erf[] = "00f15365 20a10700 18000000 18000000 "
                              /* type 2, offset and pad */
                              "c3100080 00f15365 02040018 00000006 0000a0a1 a2a3a4a5 ";
    const struct recorder_plan plans[] = {{.format = {.ethernet = true}},
                                          {.format = {.ethernet = true, .erf = true}}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture f = begin(&plans[i]);
        struct block *b;

        assert_true(recorder_put(f.r, &frame));
        recorder_end(f.r, frame.time);
        b = handover_next(f.h);
        assert_int_equal(b->data[20], i ? 197 : 1);
        assert_int_equal(b->len, 24 + expect_bytes(b->data + 24, i ? erf : plain));
        finish(&f);
    }
}

static void snaplen_keeps_the_wire_length(void **state)
{
    static const char expected[] =
        "14000000 16000000 c3100080 00f15365 15040014 00000006 a0a1a2a3 ";
    const struct recorder_plan plan = {.format = {.erf = true}, .snaplen = 4};
    struct fixture f = begin(&plan);
    struct block *b;

    (void)state;
    recorder_put(f.r, &frame);
    recorder_end(f.r, frame.time);
    b = handover_next(f.h);
    assert_int_equal(b->data[16], 20); /* the file's limit counts the ERF header */
    assert_int_equal(b->len, 24 + 8 + expect_bytes(b->data + 24 + 8, expected));
    assert_int_equal(b->bytes, 4);
    finish(&f);
}

/* Direction, drop count and comment of a packet, and the statistics at the end. */
static void a_pcapngs_packet_and_counts(void **state)
{
    static const char packet[] =
        "06000000 58000000 00000000 "
        /* 0x17979cfe53f768e7 */
        "fe9c9717 e768f753 16000000 16000000 c3100080 00f15365 15040016 00000006 "
        "a0a1a2a3 a4a50000 01000200 68690000 "
        /* opt_comment */
        "02000400 02000000 "
        /* epb_flags: outbound */
        "04000800 03000000 00000000 00000000 58000000 05000000 40000000 00000000 "
        "fe9c9717 e768f753 04000800 04000000 00000000 "
        /* isb_ifrecv: 1 packet and 3 dropped */
        "05000800 03000000 00000000 "
        /* isb_ifdrop: dropped by the device */
        "07000800 00000000 00000000 "
        /* isb_osdrop: dropped by this program */
        "00000000 40000000 ";
    enum { PACKET_LEN = 152 };
    const struct recorder_plan plan = {.format = {.pcapng = true, .erf = true},
                                       .interface = "mlx5_0"};
    struct fixture f = begin(&plan);
    struct recorded_frame out = frame;
    struct block *b;

    (void)state;
    out.direction = PCAPNG_OUTBOUND;
    recorder_lost(f.r, 3);
    recorder_note(f.r, "hi");
    assert_true(recorder_put(f.r, &out));
    recorder_end(f.r, frame.time);
    b = handover_next(f.h);
    assert_true(b->len > PACKET_LEN);
    assert_int_equal(expect_bytes(b->data + b->len - PACKET_LEN, packet), PACKET_LEN);
    finish(&f);
}

static void files_end_by_size_count_and_time(void **state)
{
    /*
     * A pcap header has 24 bytes and a record 38: 24 + 2 * 38 = 100. A file must have room for the
     * longest record.
     */
    const struct recorder_plan plans[] = {
        {.format = {.erf = true}, .file_packets = 2},
        {.format = {.erf = true}, .file_time = 1000},
        {.format = {.erf = true}, .file_bytes = 400},
    };
    struct host_time now = {.steady = 1};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct fixture f = begin(&plans[i]);
        struct recorded_frame next = frame;
        struct block *b;
        uint32_t packets = 0;
        int files = 0;

        for (int n = 0; n < 4; n++, next.time += 500, now.steady += 500) {
            assert_true(recorder_put(f.r, &next));
            recorder_tick(f.r, now, UINT64_MAX / 2);
        }
        recorder_end(f.r, next.time);
        for (; (b = handover_next(f.h)) != NULL; handover_return(f.h, b)) {
            files += b->new_file + (int)b->files;
            packets += b->packets;
            assert_true(i != 2 || (b->files ? b->before[0].len : b->len) <= 400);
            assert_true(!b->new_file || memcmp(b->data, "\xd4\xc3\xb2\xa1", 4) == 0);
        }
        assert_int_equal(packets, 4);
        assert_int_equal(files, 2);
        finish(&f);
    }
}

/* 200 files of 10 packets: they share the four blocks of the fixture. */
static void short_files_share_blocks(void **state)
{
    const struct recorder_plan plan = {.format = {.erf = true}, .file_packets = 10};
    struct fixture f = begin(&plan);
    uint32_t files = 0, packets = 0;
    struct block *b;

    (void)state;
    for (int n = 0; n < 2000; n++)
        assert_true(recorder_put(f.r, &frame));
    recorder_end(f.r, 0);
    for (; (b = handover_next(f.h)) != NULL; handover_return(f.h, b)) {
        files += b->new_file + b->files;
        packets += b->packets;
        for (uint32_t i = 0; i < b->files; i++) {
            assert_memory_equal(b->data + b->before[i].len, "\xd4\xc3\xb2\xa1", 4);
            assert_int_equal(b->before[i].packets % 10, 0);
            assert_int_equal(b->before[i].len, b->before[i].packets / 10 * (24 + 10 * 38));
        }
    }
    assert_int_equal(files, 200);
    assert_int_equal(packets, 2000);
    finish(&f);
}

/*
 * Takes the next block as the writer does and returns it. Result: the length of the part that is of
 * its last file, or 0 if there is none yet.
 */
static uint32_t take(struct fixture *f, bool *new_file)
{
    struct block *b = handover_is_empty(f->h) ? NULL : handover_next(f->h);
    uint32_t len = b ? b->len : 0;

    *new_file = b && (b->new_file || b->files > 0);
    if (b && b->files > 0)
        len -= b->before[b->files - 1].len;
    if (b)
        handover_return(f->h, b);
    return len;
}

/*
 * The frames' times jump back and forth, as if the clock were set. The age of a file and of the
 * writer's blocks follows the host's steady clock.
 */
static void ages_follow_the_clock_of_the_host(void **state)
{
    const struct recorder_plan plan = {.format = {.erf = true}, .file_time = 30 * SECOND};
    struct fixture f = begin(&plan);
    struct recorded_frame next = frame;
    bool new_file;

    (void)state;
    for (uint64_t n = 0; n < 60; n++) {
        const struct host_time now = {.steady = SECOND + n * SECOND / 2,
                                      .day = n % 3 * 1000 * SECOND};

        /* Every 0.5 s: the tick sees the first frame, then two more arrive. */
        recorder_tick(f.r, now, SECOND);
        assert_int_equal(take(&f, &new_file), n == 0 ? 24 : n % 3 == 0 ? 3 * 38 : 0);
        assert_int_equal(new_file, n == 0);
        next.time = frame.time + (n % 2 ? 100 : 0) * SECOND;
        assert_true(recorder_put(f.r, &next));
    }
    recorder_tick(f.r, (struct host_time){.steady = 40 * SECOND}, SECOND);
    assert_int_equal(take(&f, &new_file), 3 * 38);
    recorder_put(f.r, &frame);
    recorder_end(f.r, 0);
    assert_int_equal(take(&f, &new_file), 24 + 38);
    assert_true(new_file);
    finish(&f);
}

/*
 * With drop counts each second, and with few and many frames, a file stays below its limit of
 * bytes.
 */
static void pcapng_stays_within_its_size_limit(void **state)
{
    const struct recorder_plan plan = {.format = {.pcapng = true, .erf = true}, .file_bytes = 2048};
    struct fixture f = begin(&plan);
    uint32_t len = 0, blocks = 0;
    bool new_file;

    (void)state;
    for (uint64_t n = 0; n < 600; n++) {
        recorder_tick(f.r, (struct host_time){.steady = (n + 1) * SECOND, .day = n}, 0);
        for (uint32_t more; (more = take(&f, &new_file)) > 0; blocks++) {
            len = new_file ? more : len + more;
            assert_true(len <= plan.file_bytes);
        }
        if (n == 50 || n % 100 > 70)
            assert_true(recorder_put(f.r, &frame));
    }
    recorder_end(f.r, 0);
    for (uint32_t more; (more = take(&f, &new_file)) > 0; blocks++) {
        len = new_file ? more : len + more;
        assert_true(len <= plan.file_bytes);
    }
    assert_true(blocks > 100);
    finish(&f);
}

static void packets_without_room_are_counted(void **state)
{
    static uint8_t large[65000];
    const struct recorder_plan plan = {.format = {.pcapng = true, .erf = true}};
    struct fixture f = begin(&plan);
    const struct recorded_frame big = {
        .bytes = large, .len = sizeof(large), .wirelen = sizeof(large), .time = 1};
    struct recorder_counts counts;
    struct record_count count;
    struct block *b;

    (void)state;
    /* Four frames fit into each of the four blocks; the first block also has the header. */
    for (int i = 0; i < 20; i++)
        recorder_put(f.r, &big);
    counts = recorder_counts(f.r);
    assert_int_equal(counts.packets, 16);
    assert_int_equal(counts.own, 4);
    handover_return(f.h, handover_next(f.h));
    assert_true(recorder_put(f.r, &big));
    recorder_end(f.r, 2);
    for (int i = 0; i < 3; i++)
        handover_next(f.h);
    b = handover_next(f.h); /* its first packet has the drop count 4; the statistics follow */
    count = record_count(plan.format, b->data, b->len, false);
    assert_int_equal(count.packets, 1);
    assert_int_equal(count.bytes, 65000);
    assert_int_equal(count.len, b->len);
    assert_int_equal(b->data[28 + 16 + 65000], 4); /* epb_dropcount */
    assert_int_equal(b->data[28 + 16 + 65000 + 4], 4);
    finish(&f);
}

static void records_are_counted_up_to_a_truncation(void **state)
{
    const struct recorder_plan plan = {.format = {.erf = true}};
    struct fixture f = begin(&plan);
    struct record_count count;
    struct block *b;

    (void)state;
    recorder_put(f.r, &frame);
    recorder_put(f.r, &frame);
    recorder_end(f.r, frame.time);
    b = handover_next(f.h);
    for (uint32_t len = 0; len <= b->len; len++) {
        uint32_t whole = len < 24 ? 0 : (len - 24) / 38;

        count = record_count(plan.format, b->data, len, true);
        assert_int_equal(count.packets, whole);
        assert_int_equal(count.bytes, 6 * whole);
        assert_int_equal(count.len, len < 24 ? 0 : 24 + 38 * whole);
    }
    finish(&f);
}

static void memory_mode_ends_with_the_packet_that_crosses_the_size(void **state)
{
    /* 2 records have 76 bytes */
    const struct recorder_plan plan = {.format = {.erf = true}, .memory = 77};
    struct fixture f = begin(&plan);

    (void)state;
    recorder_put(f.r, &frame);
    recorder_put(f.r, &frame);
    assert_false(recorder_is_full(f.r));
    recorder_put(f.r, &frame);
    assert_true(recorder_is_full(f.r));
    finish(&f);
}

/* The number comes before the extension. A name that only starts with a dot has none. */
static void number_comes_before_the_extension(void **state)
{
    static const struct {
        const char *path;
        size_t stem;
    } cases[] = {{"cap.pcap", 3}, {"a.b/cap.x.pcap", 9}, {"cap", 3},
                 {"a.b/cap", 7},  {".cap", 4},           {"a.b/.cap", 8}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(series_stem(cases[i].path), cases[i].stem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ibdumps_file),
        cmocka_unit_test(ethernet_with_and_without_erf),
        cmocka_unit_test(snaplen_keeps_the_wire_length),
        cmocka_unit_test(a_pcapngs_packet_and_counts),
        cmocka_unit_test(files_end_by_size_count_and_time),
        cmocka_unit_test(short_files_share_blocks),
        cmocka_unit_test(ages_follow_the_clock_of_the_host),
        cmocka_unit_test(pcapng_stays_within_its_size_limit),
        cmocka_unit_test(packets_without_room_are_counted),
        cmocka_unit_test(records_are_counted_up_to_a_truncation),
        cmocka_unit_test(memory_mode_ends_with_the_packet_that_crosses_the_size),
        cmocka_unit_test(number_comes_before_the_extension),
    };

    return cmocka_run_group_tests_name("capture_recorder", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fuzzers' own mutations (fuzz/mutate.h): the lengths and CRCs of real frames are zeroed, and
 * the repair restores exactly what the sender wrote; a change of one frame leaves the others as
 * they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/frames.h"
#include "fuzz/mutate.h"
#include "pcapio/capfile.h"
#include "wire/erf.h"
#include "wire/ib.h"
#include "wire/icrc.h"
#include "wire/linktype.h"

enum { FRAME_MOST = 5000 };

/* A record of the capture has no padding, and wire length and captured length are the same. */
static uint32_t without_erf(const struct capfile_frame *f)
{
    return f->linktype == LINKTYPE_ERF ? ERF_HEADER_LEN : 0;
}

static bool is_repairable(const struct capfile_frame *f, struct ib_packet *ib)
{
    uint32_t head = without_erf(f);
    struct view v = view_make(f->bytes + head, f->caplen - head, f->wirelen - head);
    return f->caplen <= FRAME_MOST && f->caplen == f->wirelen &&
           ib_decode(v, IB_START_LRH, ib) == WIRE_OK && icrc_check(v, ib) == ICRC_RIGHT &&
           ib->length + VCRC_SIZE == v.cap;
}

/* Sets the lengths and CRCs of an InfiniBand packet to 0. */
static void spoil(uint8_t *frame, const struct capfile_frame *f, const struct ib_packet *ib)
{
    uint8_t *p = frame + without_erf(f);
    memcpy(frame, f->bytes, f->caplen);
    p[LRH_PKT_LEN] &= 0xf8;
    p[LRH_PKT_LEN + 1] = 0;
    if (ib->has_grh)
        memset(p + ib->grh_off + GRH_PAY_LEN, 0, 2);
    if (f->linktype == LINKTYPE_ERF)
        memset(frame + ERF_OFF_WLEN, 0, 2);
    memset(p + ib->length - ICRC_SIZE, 0, ICRC_SIZE + VCRC_SIZE);
}

static unsigned repair_frames_of(const char *path)
{
    struct capfile *file = capfile_open(path, NULL);
    struct capfile_frame f;
    unsigned n = 0;
    assert_non_null(file);
    while (capfile_next(file, &f, NULL) == CAPFILE_FRAME) {
        uint8_t frame[FRAME_MOST];
        struct ib_packet ib;
        if (!is_repairable(&f, &ib))
            continue;
        spoil(frame, &f, &ib);
        mutate_repair(f.linktype, frame, f.caplen, REPAIR_ALL);
        assert_memory_equal(frame, f.bytes, f.caplen);
        n++;
    }
    capfile_close(file);
    return n;
}

static void test_repair_restores_real_frames(void **state)
{
    (void)state;
    assert_true(repair_frames_of(TESTDATA "/datagram.pcap") > 50);
    assert_true(repair_frames_of(TESTDATA "/connected.pcap") > 50);
}

/* The number of leading bytes that the mutation removes; negative: adds. */
static int removed;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    size_t n = (size_t)((int)size - removed);
    assert_true(n <= most);
    if (removed > 0)
        memmove(data, data + removed, n);
    else
        memset(data + size, 0xaa, n - size);
    return n;
}

enum { FRAMES = 3, EACH = 40, INPUT_MOST = 1000 };

static size_t make_input(uint8_t *to)
{
    uint8_t *p = to;
    for (unsigned i = 0; i < FRAMES; i++) {
        const uint8_t head[FUZZ_FRAME_HEADER] = {2, 3, 0, EACH, 0, 0}; /* LINKTYPE_IPOIB */
        memcpy(p, head, sizeof head);
        memset(p + sizeof head, (int)i + 1, EACH);
        p += sizeof head + EACH;
    }
    return (size_t)(p - to);
}

/* Frame number which has n bytes, the others still have theirs. */
static void expect_frames(const uint8_t *data, size_t size, unsigned which, uint32_t n)
{
    struct fuzz_frame f = {0};
    for (unsigned i = 0; i < FRAMES; i++) {
        assert_true(fuzz_next_frame(&data, &size, &f));
        assert_int_equal(f.captured, i == which ? n : EACH);
        assert_int_equal(f.bytes[0], i + 1);
    }
    assert_int_equal(size, 0);
}

static void test_change_of_one_frame_leaves_the_others(void **state)
{
    static const int lengths[] = {-500, -1, 0, 1, 39};
    uint8_t data[INPUT_MOST];
    (void)state;
    for (unsigned which = 0; which < FRAMES; which++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            size_t size = make_input(data);
            removed = lengths[i];
            size = mutate_capture(data, size, sizeof data, which << 8 | 1);
            expect_frames(data, size, which, (uint32_t)(EACH - removed));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repair_restores_real_frames),
        cmocka_unit_test(test_change_of_one_frame_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

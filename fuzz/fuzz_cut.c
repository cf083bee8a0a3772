/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the checks of truncated frames: a truncated frame must not violate a rule that the whole
 * frame does not violate. Frames that are not IPoIB when they are whole are skipped. The ICRC is
 * wrong in almost all inputs, and is ignored because the source has no earlier packet with a right
 * one.
 *
 * Input: byte 0 selects the link type, bytes 1 and 2 the captured length; the rest is the frame.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/linktypes.h"
#include "fuzz/must.h"
#include "fuzz/mutate.h"
#include "rules/checker.h"
#include "wire/erf.h"
#include "wire/linktype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 3 };

static void note_broken(void *user, uint32_t frame, const struct finding *f)
{
    bool *broken = user;
    (void)frame;
    if (f->outcome == OUTCOME_FAIL)
        broken[f->rule] = true;
}

/*
 * Checks one frame without earlier ones. Returns whether it is IPoIB; sets broken[] for each
 * violated rule.
 */
static bool check_alone(int linktype, const uint8_t *bytes, size_t captured, size_t length,
                        bool broken[RULE_COUNT])
{
    /* on the heap with its exact size, so that AddressSanitizer detects an overread by one byte */
    uint8_t *own = g_malloc(captured ? captured : 1);
    struct checker *checker = checker_new(NULL, NULL, note_broken, broken);
    memcpy(own, bytes, captured);
    memset(broken, 0, RULE_COUNT * sizeof *broken);
    bool ipoib = checker_frame(
        checker, &(struct capture_frame){1, 0, linktype, 0, view_make(own, captured, length)});
    checker_free(checker);
    g_free(own);
    return ipoib;
}

/*
 * True for an ERF record with more bytes than its wire length. It contradicts itself: whether the
 * extra bytes belong to the frame depends on which length is used.
 */
static bool is_contradictory(int linktype, const uint8_t *frame, size_t length)
{
    return linktype == LINKTYPE_ERF && length > ERF_HEADER_LEN &&
           length - ERF_HEADER_LEN > be16(frame + ERF_OFF_WLEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool whole[RULE_COUNT], cut[RULE_COUNT];
    if (size <= HEAD)
        return 0;
    int linktype = linktype_of(data[0]);
    size_t length = size - HEAD, left = (size_t)(data[1] << 8 | data[2]) % length;
    if (is_contradictory(linktype, data + HEAD, length) ||
        !check_alone(linktype, data + HEAD, length, length, whole))
        return 0;
    check_alone(linktype, data + HEAD, left, length, cut);
    for (int rule = 0; rule < RULE_COUNT; rule++)
        must_say(whole[rule] || !cut[rule], rules[rule].id);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_frame(data, size, most, seed, HEAD);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture cuts off is not the sender's fault, under libFuzzer: a frame is judged whole, and
 * cut short; the latter must break no rule that the former keeps. What is not IPoIB when it is seen
 * whole says nothing. The ICRC is wrong in almost all, and means nothing: no packet came before.
 * The first octet of an input chooses the link type, the next two how much is left, the rest is the
 * frame.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/linktypes.h"
#include "fuzz/must.h"
#include "rules/judge.h"
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

/* Is it IPoIB? */
static bool judge_alone(int linktype, const uint8_t *octets, size_t captured, size_t length,
                        bool broken[RULE_COUNT])
{
    /* on the heap and of exactly its size, so that AddressSanitizer sees one octet too many */
    uint8_t *own = g_malloc(captured ? captured : 1);
    struct judge *judge = judge_new(NULL, NULL, note_broken, broken);
    memcpy(own, octets, captured);
    memset(broken, 0, RULE_COUNT * sizeof *broken);
    bool ipoib = judge_frame(
        judge, &(struct capture_frame){1, 0, linktype, 0, view_make(own, captured, length)});
    judge_free(judge);
    g_free(own);
    return ipoib;
}

/*
 * An ERF record with more octets than its wire length tells contradicts itself: what is beyond is
 * there or not, as one looks.
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
        !judge_alone(linktype, data + HEAD, length, length, whole))
        return 0;
    judge_alone(linktype, data + HEAD, left, length, cut);
    for (int rule = 0; rule < RULE_COUNT; rule++)
        must_say(whole[rule] || !cut[rule], rules[rule].id);
    return 0;
}

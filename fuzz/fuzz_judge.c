/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The judge, and with it the model of the fabric, under libFuzzer: the first octet chooses the link type, the rest is
 * the next frame of a capture that ends after a thousand frames. Every finding must lie within its frame.
 */
#include <stdlib.h>

#include "fuzz/linktypes.h"
#include "rules/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_OF_A_CAPTURE = 1000 };

static size_t frame_size;

static void note(void *user, uint32_t frame, const struct finding *f)
{
    (void)user;
    (void)frame;
    if (f->rule >= RULE_COUNT || f->offset > frame_size || f->length > frame_size || !f->expected || !f->actual)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct judge *judge;
    static unsigned frames;
    if (size < 1 || size > 1 << 16)
        return 0;
    if (!judge)
        judge = judge_new(NULL, NULL, note, NULL);
    frame_size = size - 1;
    frames++;
    judge_frame(judge, &(struct capture_frame){frames, 0, linktype_of(data[0]), (int64_t)frames * 1000000000,
                                               view_make(data + 1, (uint32_t)size - 1, (uint32_t)size - 1)});
    if (frames % FRAMES_OF_A_CAPTURE == 0) {
        judge_free(judge);
        judge = NULL;
    }
    return 0;
}

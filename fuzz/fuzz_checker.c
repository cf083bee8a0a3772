/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the checker, the fabric model and the analysis: the input is a capture (fuzz/frames.h).
 * Every finding must be inside its frame, and its texts must not be NULL.
 */
#include <stdlib.h>

#include "analysis/analysis.h"
#include "fuzz/frames.h"
#include "fuzz/linktypes.h"
#include "fuzz/mutate.h"
#include "rules/checker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t frame_size;

static void check_finding(void *user, uint32_t frame, const struct finding *f)
{
    (void)user;
    (void)frame;
    if (f->rule >= RULE_COUNT || (int)f->outcome >= OUTCOMES || f->offset > frame_size ||
        f->length > frame_size - f->offset)
        abort();
    if (!f->expected || !f->actual || !f->entity || !f->reason || rules[f->rule].level == RULE_MAY)
        abort();
    if (f->outcome == OUTCOME_NOTED && rules[f->rule].level != RULE_INFO &&
        rules[f->rule].level != RULE_DRAFT)
        abort();
}

static void analyse(void *user, const struct packet *p, const struct events *e)
{
    analysis_packet(user, p, e);
}

static void check_event(void *user, const struct link_event *e)
{
    (void)user;
    if (e->kind >= EVENT_KINDS || !e->what || !e->frame || e->cause_frame > e->frame)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fabric *fabric = fabric_new();
    struct checker *checker = checker_new(fabric, NULL, check_finding, NULL);
    struct analysis *analysis = analysis_new(fabric, check_event, NULL);
    struct fuzz_frame f;
    int64_t ns = 0;
    checker_watch_packets(checker, analyse, analysis);
    for (uint32_t n = 1; fuzz_next_frame(&data, &size, &f); n++) {
        /*
         * on the heap with its exact size, so that AddressSanitizer detects an overread by one byte
         */
        uint8_t *bytes = g_malloc(f.captured ? f.captured : 1);
        memcpy(bytes, f.bytes, f.captured);
        frame_size = f.captured;
        ns += f.milliseconds * 1000000LL;
        checker_frame(checker, &(struct capture_frame){n, f.interface, linktype_of(f.linktype), ns,
                                                       view_make(bytes, f.captured, f.length)});
        g_free(bytes);
    }
    analysis_free(analysis);
    checker_free(checker);
    fabric_free(fabric);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_capture(data, size, most, seed);
}

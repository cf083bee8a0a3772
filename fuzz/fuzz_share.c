/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes convert --share: the input is a capture (fuzz/frames.h). The shared capture must violate
 * the same rules in the same frames. doc/sharing.md lists the exceptions.
 */
#include <string.h>

#include "capture/share/share.h"
#include "fuzz/frames.h"
#include "fuzz/linktypes.h"
#include "fuzz/must.h"
#include "fuzz/mutate.h"
#include "rules/checker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rules whose findings depend on the numeric values of addresses. */
static bool depends_on_addresses(enum rule_number rule)
{
    return rule == R_RFC4755_3_3_SIMULTANEOUS || rule == R_RFC4391_9_1_1_TRAFFIC_TO_QPN ||
           rule == R_RFC4755_2_1_MULTICAST_OVER_UD;
}

static void add_violation(void *user, uint32_t frame, const struct finding *f)
{
    GString *violations = user;
    if (f->outcome == OUTCOME_FAIL && !depends_on_addresses(f->rule))
        g_string_append_printf(violations, "%u %s\n", frame, rules[f->rule].id);
}

/* A capture as a checker sees it: the violations that it finds. */
struct checked {
    GString *violations;
    struct checker *checker;
};

static struct checked checked_new(void)
{
    GString *violations = g_string_new(NULL);
    return (struct checked){violations, checker_new(NULL, NULL, add_violation, violations)};
}

static void checked_free(struct checked *c)
{
    checker_free(c->checker);
    g_string_free(c->violations, TRUE);
}

static void check_frame(const struct checked *c, const struct fuzz_frame *f, uint32_t number,
                        int64_t ns, const uint8_t *bytes)
{
    checker_frame(c->checker, &(struct capture_frame){number, 0, linktype_of(f->linktype), ns,
                                                      view_make(bytes, f->captured, f->length)});
}

static void check_both(struct share *share, const struct checked *before,
                       const struct checked *after, const struct fuzz_frame *f, uint32_t number,
                       int64_t ns)
{
    /* on the heap with its exact size, so that AddressSanitizer detects an access beyond it */
    uint8_t *bytes = g_malloc(f->captured ? f->captured : 1);
    memcpy(bytes, f->bytes, f->captured);
    if (share_frame(share, &(struct share_frame){(uint32_t)linktype_of(f->linktype), ns, bytes,
                                                 f->captured, f->length})) {
        check_frame(before, f, number, ns, f->bytes);
        check_frame(after, f, number, ns, bytes);
    }
    g_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct share *share = share_new(&(struct share_key){"fuzz_share"});
    struct checked before = checked_new(), after = checked_new();
    struct fuzz_frame f;
    int64_t ns = 0;
    for (uint32_t n = 1; fuzz_next_frame(&data, &size, &f); n++) {
        ns += f.milliseconds * 1000000LL;
        check_both(share, &before, &after, &f, n, ns);
    }
    if (strcmp(before.violations->str, after.violations->str) != 0)
        fprintf(stderr, "violations:\n%safter sharing:\n%s", before.violations->str,
                after.violations->str);
    must(strcmp(before.violations->str, after.violations->str) == 0);
    checked_free(&before);
    checked_free(&after);
    share_free(share);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_capture(data, size, most, seed);
}

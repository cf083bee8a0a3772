/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule-evidence CAPTURE...: what the findings of each rule rest on in these captures, for
 * tests/judge/test_rule_evidence.py. A finding that cites no facts is looked for again in a capture
 * of its frame only.
 *
 * Prints for each rule: identifier, and what the findings rest on in the words of
 * lib/rules/table.def.
 */
#include <stdio.h>

#include "pcapio/capfile.h"
#include "rules/checker.h"
#include "tests/judge/fact_reads.h"

static unsigned rests_on[RULE_COUNT];

static unsigned elsewhere[RULE_COUNT]; /* outcomes that no single frame shows */

/* ---- one frame */

/* Outcomes of the findings that cite no facts, as bits. */
struct frame_findings {
    unsigned outcomes[RULE_COUNT];
    bool any;
};

static void note_finding(void *user, uint32_t frame, const struct finding *f)
{
    struct frame_findings *found = user;
    (void)frame;
    if ((f->outcome != OUTCOME_FAIL && f->outcome != OUTCOME_NOTED) || fact_reads_has_result())
        return;
    found->outcomes[f->rule] |= 1u << f->outcome;
    found->any = true;
}

static void check_alone(struct frame_findings *found, const struct capture_frame *f)
{
    struct checker *checker = checker_new(NULL, NULL, note_finding, found);
    *found = (struct frame_findings){0};
    checker_frame(checker, f);
    checker_free(checker);
}

static void compare(const struct frame_findings *in_capture, const struct capture_frame *f)
{
    struct frame_findings alone;
    check_alone(&alone, f);
    for (unsigned i = 0; i < RULE_COUNT; i++) {
        if (alone.outcomes[i])
            rests_on[i] |= ON_ONE_FRAME;
        elsewhere[i] |= in_capture->outcomes[i] & ~alone.outcomes[i];
    }
}

static void check_capture(struct capfile *file)
{
    struct frame_findings found;
    struct checker *checker = checker_new(NULL, NULL, note_finding, &found);
    struct capfile_frame f;
    while (capfile_next(file, &f, NULL) == CAPFILE_FRAME) {
        struct capture_frame c = {f.number, f.interface, f.linktype, f.ns,
                                  view_make(f.bytes, f.caplen, f.wirelen)};
        found = (struct frame_findings){0};
        checker_frame(checker, &c);
        if (found.any)
            compare(&found, &c);
    }
    checker_free(checker);
}

/*
 * The same rule may be found in one frame alone and not in another, whose class only earlier frames
 * show.
 */
static void add_elsewhere(unsigned rule)
{
    if (rests_on[rule] & ON_ONE_FRAME)
        return;
    if (elsewhere[rule] & 1u << OUTCOME_FAIL)
        rests_on[rule] |= ON_EXCHANGE;
    else if (elsewhere[rule])
        rests_on[rule] |= ON_MODEL;
}

/* ---- the result */

static void print_words(unsigned set)
{
    static const char *const names[] = {
        [FACT_NONE] = "ON_ONE_FRAME",
#define FACT(name, function, tables, words) [FACT_##name] = "ON_" #name,
#include "rules/fact_kinds.def"
#undef FACT
        [FACT_KINDS] = "ON_EXCHANGE",
        [FACT_KINDS + 1] = "ON_MODEL",
    };
    const char *between = "\t";
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (set & 1u << i) {
            printf("%s%s", between, names[i]);
            between = " | ";
        }
    if (!set)
        printf("\tON_NOTHING");
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    for (int i = 1; i < argc; i++) {
        struct capfile *file = capfile_open(argv[i], &error);
        if (!file) {
            fprintf(stderr, "rule-evidence: %s: %s\n", argv[i], error->message);
            g_error_free(error);
            return 1;
        }
        check_capture(file);
        capfile_close(file);
    }
    for (unsigned i = 0; i < RULE_COUNT; i++) {
        add_elsewhere(i);
        printf("%s", rules[i].id);
        print_words(rests_on[i] | facts_cited[i]);
        printf("\n");
    }
    return 0;
}

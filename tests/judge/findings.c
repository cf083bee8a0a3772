/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings [--deviations none|linux] [--frames|--places] [--skip N] [--lose PERMILLE] [--seed N]
 * [--swap N] [--current] [--suspicions] CAPTURE: prints what the checker reports for a capture, for
 * tests.
 *
 * findings --serve: reads such arguments from the standard input, each request a line, the
 * arguments separated by tabs. Answers each in a process of its own: what it prints, then the line
 * "= STATUS" with its exit status (or 128 + signal). A start of this program costs more than most
 * captures.
 *
 * --skip drops the first N frames, --lose drops frames at random, --swap swaps frame N with the
 * next one. --current: the records of the SA are known to be current, as in a probe.
 *
 * Prints one line for each rule that was checked: identifier, passes, failures, deviations,
 * inconclusive, noted, first frame that failed, deviated or was noted. With --frames, one line for
 * each of these frames: frame, identifier, outcome, expected|actual|entity. --suspicions: also for
 * each suspicion in its frame, whether or not a later packet explains it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pcapio/capfile.h"
#include "rules/checker.h"

static struct {
    unsigned count[OUTCOMES], first;
} tally[RULE_COUNT];
static bool frames, places, current, suspicions;
static uint32_t skip, lose_permille, seed = 1, swap;

static bool is_lost(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return n <= skip || (seed >> 8) % 1000 < lose_permille;
}

static bool is_left_out(const struct finding *f)
{
    return f->outcome == OUTCOME_PASS || f->outcome == OUTCOME_INCONCLUSIVE ||
           f->outcome == OUTCOME_UNPROVED || /* it is reported as inconclusive too */
           (f->outcome == OUTCOME_SUSPECTED && (f->stands || !suspicions));
}

static void note_finding(void *user, uint32_t frame, const struct finding *f)
{
    static const char *const words[OUTCOMES] = {
        [OUTCOME_PASS] = "pass",           [OUTCOME_FAIL] = "fail",
        [OUTCOME_DEVIATION] = "deviation", [OUTCOME_INCONCLUSIVE] = "inconclusive",
        [OUTCOME_NOTED] = "noted",         [OUTCOME_SUSPECTED] = "suspected"};
    (void)user;
    tally[f->rule].count[f->outcome]++;
    if (is_left_out(f))
        return;
    if (tally[f->rule].first == 0)
        tally[f->rule].first = frame;
    if (!frames)
        return;
    printf("%u\t%s\t%s\t", frame, rules[f->rule].id, words[f->outcome]);
    if (places)
        printf("%u\t%u\t", f->offset, f->length);
    printf("%s", f->expected);
    if (f->frame && f->outcome == OUTCOME_FAIL)
        printf(" in frame %u", f->frame);
    printf("|%s|%s\n", f->actual, f->entity);
}

static void print_tally(void)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const unsigned *n = tally[i].count;
        if (n[0] + n[1] + n[2] + n[3] + n[4])
            printf("%s %u %u %u %u %u %u\n", rules[i].id, n[OUTCOME_PASS], n[OUTCOME_FAIL],
                   n[OUTCOME_DEVIATION], n[OUTCOME_INCONCLUSIVE], n[OUTCOME_NOTED], tally[i].first);
    }
}

/* The frame that is checked after the next one (--swap). */
static struct capture_frame held;
static uint8_t held_bytes[1 << 17];

static void hold(const struct capture_frame *f)
{
    held = *f;
    memcpy(held_bytes, f->bytes.p, MIN(f->bytes.cap, sizeof held_bytes));
    held.bytes.p = held_bytes;
}

/* The two swapped frames exchange their numbers; each keeps its time. */
static void check_in_order(struct checker *checker, struct capture_frame *f)
{
    if (f->number == swap) {
        hold(f);
        return;
    }
    if (f->number != swap + 1 || !held.number) {
        checker_frame(checker, f);
        return;
    }
    f->number--;
    held.number++;
    checker_frame(checker, f);
    checker_frame(checker, &held);
}

static void check_capture(struct capfile *file, const struct deviations *known)
{
    struct fabric *fabric = fabric_new();
    struct checker *checker = checker_new(fabric, known, note_finding, NULL);
    struct capfile_frame f;
    if (current)
        fabric_take_records_as_current(fabric);
    for (uint32_t n = 1; capfile_next(file, &f, NULL) == CAPFILE_FRAME; n++) {
        struct capture_frame c = {n, f.interface, f.linktype, capfile_time(file, &f),
                                  view_make(f.bytes, f.caplen, f.wirelen)};
        if (!is_lost(n))
            check_in_order(checker, &c);
    }
    checker_free(checker);
    fabric_free(fabric);
}

static int answer(int argc, char **argv)
{
    const char *list = "none", *capture = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--frames") == 0)
            frames = true;
        else if (strcmp(argv[i], "--places") == 0)
            frames = places = true;
        else if (strcmp(argv[i], "--current") == 0)
            current = true;
        else if (strcmp(argv[i], "--suspicions") == 0)
            suspicions = true;
        else if (strcmp(argv[i], "--deviations") == 0 && i + 1 < argc)
            list = argv[++i];
        else if (strcmp(argv[i], "--skip") == 0 && i + 1 < argc)
            skip = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--lose") == 0 && i + 1 < argc)
            lose_permille = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = (uint32_t)atoi(argv[++i]);
        else if (strcmp(argv[i], "--swap") == 0 && i + 1 < argc)
            swap = (uint32_t)atoi(argv[++i]);
        else
            capture = argv[i];
    }
    GError *fault = NULL;
    struct deviations *known = deviations_open(list, &fault);
    if (!known || !capture) {
        fprintf(stderr, "findings: %s\n", fault ? fault->message : "which capture?");
        return 2;
    }
    struct capfile *file = capfile_open(capture, &fault);
    if (!file) {
        fprintf(stderr, "findings: %s\n", fault->message);
        return 3; /* the capture cannot be read */
    }
    check_capture(file, known);
    if (!frames)
        print_tally();
    capfile_close(file);
    deviations_free(known);
    return 0;
}

enum { REQUEST_SIZE = 8192, ARGUMENTS_MAX = 16 };

/* In a process of its own: the options begin anew, and a crash ends only this answer. */
static int answer_line(char *line)
{
    char *argv[ARGUMENTS_MAX + 1] = {(char *)"findings"}, *rest = line;
    int argc = 1, status = 0;
    line[strcspn(line, "\n")] = 0;
    while (argc < ARGUMENTS_MAX && rest)
        argv[argc++] = strsep(&rest, "\t");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(answer(argc, argv));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    static char line[REQUEST_SIZE];
    if (argc != 2 || strcmp(argv[1], "--serve") != 0)
        return answer(argc, argv);
    while (fgets(line, sizeof line, stdin)) {
        printf("= %d\n", answer_line(line));
        fflush(stdout);
    }
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/judging.h"

#include <string.h>

#include "pcapio/capfile.h"
#include "rules/judge.h"
#include "cli/plain.h"
#include "check/progress.h"
#include "cli/say.h"

/* Destination of the findings. */
struct sink {
    struct verdict *verdict;
    const struct baseline *baseline;
    struct annotation *annotation;
};

static void add_finding(const struct sink *sink, uint32_t frame, const struct finding *f)
{
    verdict_add(sink->verdict, frame, f);
    if (sink->annotation && verdict_selected(sink->verdict, f->rule))
        annotation_finding(sink->annotation, f);
}

static void take_finding(void *user, uint32_t frame, const struct finding *f)
{
    const struct sink *sink = user;
    enum rule_level level = rules[f->rule].level;
    if (f->outcome == OUTCOME_FAIL && (level == RULE_MUST || level == RULE_SHOULD) &&
        baseline_has(sink->baseline, f)) {
        struct finding known = *f;
        known.outcome = (enum outcome)VERDICT_KNOWN;
        known.reason = "known from the baseline";
        add_finding(sink, frame, &known);
    } else {
        add_finding(sink, frame, f);
    }
}

static bool judge_one(struct judge *judge, const struct capfile_frame *f)
{
    struct capture_frame c = {f->number, f->interface, f->linktype, f->ns,
                              view_make(f->octets, f->caplen, f->wirelen)};
    return judge_frame(judge, &c);
}

/* Returns how the file ended; CAPFILE_FRAME: the run was interrupted. */
static enum capfile_result judge_all(struct judged *out, struct capfile *file, struct judge *judge,
                                     struct annotation *annotation, struct progress *progress,
                                     const volatile int *stop)
{
    struct capfile_frame frame;
    enum capfile_result result;
    while (!*stop && (result = capfile_next(file, &frame)) == CAPFILE_FRAME) {
        verdict_frame(out->verdict, judge_one(judge, &frame));
        if (annotation)
            annotation_frame(annotation, &frame);
        progress_frame(progress, frame.number);
    }
    return *stop ? CAPFILE_FRAME : result;
}

static void note_trouble(struct judged *out, const char *path, const char *why)
{
    out->trouble = plain_dup(why);
    if (verdict_frames(out->verdict))
        say("%s: %s; it is judged up to there", path, why);
    else
        say("%s: %s", path, why);
}

static void say_contradiction(const char *path, const struct contradiction *c)
{
    if (c->frame)
        say("%s: interfaces %u and %u seemed to see one subnet, and frame %u shows two: what was learnt of them up to there is not used after it; --interfaces one or each decides it",
            path, c->interface[0], c->interface[1], c->frame);
}

bool judge_capture(struct judged *out, const char *path, const struct judging *by,
                   const volatile int *stop)
{
    char error[CAPFILE_ERROR_LEN];
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    gint64 begin = g_get_monotonic_time();
    *out = (struct judged){.name = plain_dup(name), .verdict = verdict_new(by->selection)};
    struct capfile *file = capfile_open(path, error);
    if (!file) {
        if (!*stop)
            note_trouble(out, name, error);
        return !*stop;
    }
    if (by->annotation)
        annotation_begin(by->annotation, file);
    struct fabric *fabric = fabric_new();
    struct sink sink = {out->verdict, by->baseline, by->annotation};
    fabric_take_interfaces(fabric, by->interfaces);
    struct judge *judge = judge_new(fabric, by->known, take_finding, &sink);
    struct progress *progress = progress_new(name, file);
    enum capfile_result result = judge_all(out, file, judge, by->annotation, progress, stop);
    progress_free(progress);
    if (result == CAPFILE_ERROR)
        note_trouble(out, name, capfile_error(file));
    say_contradiction(name, &fabric_facts(fabric)->contradiction);
    judge_free(judge);
    fabric_free(fabric);
    capfile_close(file);
    out->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    return result != CAPFILE_FRAME;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/capture.h"

#include <string.h>

#include "analysis/analysis.h"
#include "pcapio/capfile.h"
#include "rules/checker.h"
#include "cli/fail.h"
#include "cli/plain.h"
#include "check/progress.h"
#include "cli/say.h"

/* Destination of the findings. */
struct sink {
    struct verdict *verdict;
    const struct baseline *baseline;
    struct annotation *annotation;
};

static void deliver_finding(const struct sink *sink, uint32_t frame, const struct finding *f)
{
    verdict_add(sink->verdict, frame, f);
    if (sink->annotation && verdict_selected(sink->verdict, f->rule))
        annotation_finding(sink->annotation, f);
}

__attribute__((noinline)) static void add_known(const struct sink *sink, uint32_t frame,
                                                const struct finding *f)
{
    struct finding known = *f;
    known.outcome = (enum outcome)VERDICT_KNOWN;
    known.reason = "known from the baseline";
    deliver_finding(sink, frame, &known);
}

static void take_finding(void *user, uint32_t frame, const struct finding *f)
{
    const struct sink *sink = user;
    if (f->outcome == OUTCOME_FAIL &&
        (rules[f->rule].level == RULE_MUST || rules[f->rule].level == RULE_SHOULD) &&
        baseline_has(sink->baseline, f))
        add_known(sink, frame, f);
    else
        deliver_finding(sink, frame, f);
}

static void analyse_packet(void *user, const struct packet *p, const struct events *e)
{
    analysis_packet(user, p, e);
}

static bool check_one(struct checker *checker, const struct capfile *file,
                      const struct capfile_frame *f)
{
    struct capture_frame c = {f->number, f->interface, f->linktype, capfile_time(file, f),
                              view_make(f->bytes, f->caplen, f->wirelen)};
    return checker_frame(checker, &c);
}

/* Returns false and sets ERROR if the file was not read to its end. */
static bool check_frames(struct checked *out, struct capfile *file, struct checker *checker,
                         struct annotation *annotation, struct reading_progress *progress,
                         const volatile int *stop, GError **error)
{
    struct capfile_frame frame;
    enum capfile_result result = CAPFILE_END;
    while (!*stop && (result = capfile_next(file, &frame, error)) == CAPFILE_FRAME) {
        verdict_frame(out->verdict, check_one(checker, file, &frame));
        if (annotation)
            annotation_frame(annotation, &frame);
        progress_frame(progress, frame.number);
    }
    if (*stop) { /* a signal also interrupts reading */
        g_clear_error(error);
        return fail_with(error, "interrupted");
    }
    return result == CAPFILE_END;
}

/* Keeps WHY, which it frees, in OUT, and sets ERROR to it with the file's name. */
static bool fail_capture(struct checked *out, const char *path, GError *why, GError **error)
{
    out->trouble = plain_dup(why->message);
    fail_with(error, "%s: %s%s", path, why->message,
              verdict_frames(out->verdict) ? "; it is checked up to there" : "");
    g_error_free(why);
    return false;
}

static void say_contradiction(const char *path, const struct contradiction *c)
{
    char interfaces[CONTRADICTION_TEXT];
    if (!c->frame)
        return;
    contradiction_interfaces(c, interfaces);
    say("%s: %s were taken for one subnet, but frame %u shows two: the state from earlier frames is not used any more; set --interfaces one or each",
        path, interfaces, c->frame);
}

bool check_capture(struct checked *out, const char *path, const struct check_settings *by,
                   const volatile int *stop, GError **error)
{
    GError *why = NULL;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    gint64 begin = g_get_monotonic_time();
    *out = (struct checked){.name = plain_dup(name), .verdict = verdict_new(by->selection)};
    struct capfile *file = capfile_open(path, &why);
    if (!file)
        return fail_capture(out, name, why, error);
    if (by->annotation)
        annotation_begin(by->annotation, file);
    struct fabric *fabric = fabric_new();
    struct sink sink = {out->verdict, by->baseline, by->annotation};
    fabric_take_interfaces(fabric, by->interfaces);
    struct checker *checker = checker_new(fabric, by->known, take_finding, &sink);
    struct analysis *analysis = analysis_new(fabric, NULL, NULL);
    checker_count_passes(checker, verdict_passes(out->verdict));
    checker_watch_packets(checker, analyse_packet, analysis);
    struct reading_progress *progress = progress_new(name, file);
    bool whole = check_frames(out, file, checker, by->annotation, progress, stop, &why);
    progress_free(progress);
    say_contradiction(name, &fabric_facts(fabric)->contradiction);
    verdict_set_undone(out->verdict, fabric_facts(fabric)->undone);
    out->events = analysis_take_events(analysis);
    analysis_free(analysis);
    checker_free(checker);
    fabric_free(fabric);
    capfile_close(file);
    out->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    return whole || fail_capture(out, name, why, error);
}

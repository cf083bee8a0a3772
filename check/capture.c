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
#include "wire/erf.h"

/*
 * ns. Frames of several interfaces or queues may be a little out of order in a file. A frame that
 * is earlier by more than this has another cause: a clock that was set, or files that were joined.
 */
enum { TIME_BACK = 100000000 };
/* ns. The capture was joined, the clock was set, or the link was idle: delays over it may be wrong.
 */
#define PAUSE (UINT64_C(600) * 1000000000)
/* Before 2000-01-01, no InfiniBand was captured. A packet without a time has 0. */
#define FIRST_TIME (INT64_C(946684800) * 1000000000)

/* Destination of the findings. */
struct sink {
    struct verdict *verdict;
    const struct baseline *baseline;
    struct annotation *annotation;
};

/*
 * The first report of a suspicion, or of a finding that is held, in its frame, is a comment of the
 * frame; only the second one counts, when the frame has been written.
 */
static void deliver_finding(const struct sink *sink, uint32_t frame, const struct finding *f)
{
    verdict_add(sink->verdict, frame, f);
    if (sink->annotation && !f->stands && verdict_selected(sink->verdict, f->rule))
        annotation_finding(sink->annotation, f);
}

__attribute__((noinline)) static void add_known(const struct sink *sink, uint32_t frame,
                                                const struct finding *f)
{
    struct finding known = *f;
    known.outcome = (enum outcome)VERDICT_KNOWN;
    known.reason = f->outcome == OUTCOME_SUSPECTED ? baseline_suspected : baseline_known;
    deliver_finding(sink, frame, &known);
}

static void take_finding(void *user, uint32_t frame, const struct finding *f)
{
    const struct sink *sink = user;
    bool violates = (f->outcome == OUTCOME_FAIL || f->outcome == OUTCOME_UNPROVED ||
                     (f->outcome == OUTCOME_SUSPECTED && f->stands)) &&
                    (rules[f->rule].level == RULE_MUST || rules[f->rule].level == RULE_SHOULD);
    if (violates && baseline_has(sink->baseline, f))
        add_known(sink, frame, f);
    else
        deliver_finding(sink, frame, f);
}

static bool is_earlier(int64_t ns, int64_t last)
{
    return last > INT64_MIN + TIME_BACK && ns < last - TIME_BACK;
}

static bool is_after_pause(int64_t ns, int64_t last)
{
    return last != INT64_MIN && ns > last && (uint64_t)ns - (uint64_t)last > PAUSE;
}

/* What the capture itself says that it has not, at this frame. last: the time of the one before. */
static void count_unseen(struct unseen *u, const struct capfile *file,
                         const struct capfile_frame *f, const struct capture_frame *c,
                         int64_t *last)
{
    struct capfile_lost lost = capfile_lost(file, f);
    unseen_add(u, UNSEEN_LOST_BEFORE, lost.before, f->number);
    unseen_add(u, UNSEEN_LOST_RECORDS, lost.record, f->number);
    unseen_add(u, UNSEEN_TIMES, is_earlier(c->ns, *last), f->number);
    unseen_add(u, UNSEEN_OLD_TIMES, c->ns < FIRST_TIME && c->ns != 0, f->number);
    unseen_add(u, UNSEEN_PAUSES, is_after_pause(c->ns, *last), f->number);
    unseen_add(u, UNSEEN_CUT, (capfile_erf_flags(f) & ERF_FLAG_TRUNCATED) != 0, f->number);
    unseen_add(u, UNSEEN_CARD, (capfile_erf_flags(f) & ERF_FLAG_CARD) != 0, f->number);
    *last = c->ns;
}

/* The times of the frames. */
struct times {
    int64_t last;
    /* frames with one time, one after the other: up to this frame, and the longest before */
    uint32_t equal, equal_most;
    /* frames so far, all in the first millisecond of their second, and these seconds; 0: another */
    uint32_t early, seconds;
    int64_t second, latest; /* the last second; of all, the latest time in its second */
};

enum { NS_OF_MS = 1000000, NS_OF_SECOND = 1000000000 };

__attribute__((noinline)) static void see_early(struct times *t, int64_t ns)
{
    int64_t second = ns / NS_OF_SECOND, rest = ns % NS_OF_SECOND;
    if (rest < 0 || rest >= NS_OF_MS) {
        t->early = 0;
        return;
    }
    t->early++;
    t->seconds += second != t->second;
    t->second = second;
    t->latest = MAX(t->latest, rest);
}

static void see_time(struct times *t, int64_t ns)
{
    if (t->equal && ns != t->last) {
        t->equal_most = MAX(t->equal_most, t->equal);
        t->equal = 0;
    }
    t->equal++;
    if (t->early)
        see_early(t, ns);
}

/*
 * A program has written microseconds into a file of nanoseconds. Of a clock with large steps, the
 * times are all at the start of their second, or of their millisecond.
 */
static void count_early_times(struct unseen *u, const struct times *t)
{
    enum { FRAMES = 100, SECONDS = 5 };
    if (t->early > FRAMES && t->seconds >= SECONDS && t->latest >= NS_OF_MS / 2)
        unseen_add(u, UNSEEN_TIME_UNIT, t->early - 1, 1);
}

/*
 * A program that converted the capture has lost its times, or the clock stood still from some frame
 * to the end. A few packets may have the same, and more of them if the clock has large steps.
 */
static void count_equal_times(struct unseen *u, const struct times *t, uint32_t frames)
{
    enum { FRAMES = 10, FRAMES_AT_THE_END = 50, TIMES_MORE = 4 };
    bool stood_still = t->equal >= FRAMES_AT_THE_END && t->equal / TIMES_MORE >= t->equal_most;
    if (frames == t->equal ? frames >= FRAMES : stood_still)
        unseen_add(u, UNSEEN_EQUAL_TIMES, t->equal, frames - t->equal + 1);
}

static void analyse_packet(void *user, const struct packet *p, const struct events *e)
{
    analysis_packet(user, p, e);
}

static void annotate_event(void *user, const struct link_event *e)
{
    if (!e->taken_back) /* its comment is written already */
        annotation_event(user, e);
}

static bool check_one(struct checker *checker, struct unseen *u, const struct capfile *file,
                      const struct capfile_frame *f, struct times *t)
{
    struct capture_frame c = {f->number, f->interface, f->linktype, capfile_time(file, f),
                              view_make(f->bytes, f->caplen, f->wirelen)};
    checker_mark(checker, capfile_is_marked(file, f));
    see_time(t, c.ns);
    count_unseen(u, file, f, &c, &t->last);
    return checker_frame(checker, &c);
}

/* A capture that is checked. */
struct checking {
    struct checked *out;
    struct capfile *file;
    struct fabric *fabric;
    struct checker *checker;
    struct annotation *annotation; /* NULL: none */
    struct reading_progress *progress;
};

/* Returns false and sets ERROR if the file was not read to its end. */
static bool check_frames(const struct checking *c, const volatile int *stop, GError **error)
{
    struct capfile_frame frame;
    struct unseen *unseen = fabric_count_unseen(c->fabric);
    enum capfile_result result = CAPFILE_END;
    struct times times = {.last = INT64_MIN, .early = 1};
    frame.number = 0;
    while (!*stop && (result = capfile_next(c->file, &frame, error)) == CAPFILE_FRAME) {
        verdict_frame(c->out->verdict, check_one(c->checker, unseen, c->file, &frame, &times));
        if (c->annotation)
            annotation_frame(c->annotation, &frame);
        progress_frame(c->progress, frame.number);
    }
    count_equal_times(unseen, &times, frame.number);
    count_early_times(unseen, &times);
    if (*stop) { /* a signal also interrupts reading */
        g_clear_error(error);
        return fail_with(error, "interrupted");
    }
    return result == CAPFILE_END;
}

/* At the end of the capture: what is not proved, and what was not seen or left undone. */
static void conclude_capture(const struct checking *c)
{
    struct unseen *unseen = fabric_count_unseen(c->fabric);
    struct capfile_lost lost = capfile_lost(c->file, NULL);
    unseen_add(unseen, UNSEEN_LOST_INTERFACE, lost.interface, 0);
    unseen_add(unseen, UNSEEN_LOST_SYSTEM, lost.system, 0);
    unseen_add(unseen, UNSEEN_FILTERED, lost.filtered, 0);
    unseen_add(unseen, UNSEEN_UNACCEPTED, lost.unaccepted, 0);
    unseen_add(unseen, UNSEEN_BLOCKS, lost.blocks, 0);
    unseen_add(unseen, UNSEEN_SELECTED, lost.filters, 0);
    checker_report_waiting(c->checker);
    struct unseen all = fabric_unseen(c->fabric);
    verdict_set_undone(c->out->verdict, fabric_facts(c->fabric)->undone);
    verdict_set_unseen(c->out->verdict, &all);
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
    struct analysis *analysis = analysis_new(fabric, by->annotation ? annotate_event : NULL,
                                             by->annotation);
    checker_count_passes(checker, verdict_passes(out->verdict));
    checker_hold(checker);
    checker_watch_packets(checker, analyse_packet, analysis);
    struct reading_progress *progress = progress_new(name, file);
    const struct checking c = {out, file, fabric, checker, by->annotation, progress};
    bool whole = check_frames(&c, stop, &why);
    progress_free(progress);
    say_contradiction(name, &fabric_facts(fabric)->contradiction);
    conclude_capture(&c);
    out->events = analysis_take_events(analysis);
    analysis_free(analysis);
    checker_free(checker);
    fabric_free(fabric);
    capfile_close(file);
    out->seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    return whole || fail_capture(out, name, why, error);
}

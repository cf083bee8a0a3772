/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge_restore.h"

#include <string.h>

#include "cli/plain.h"
#include "report/explain.h"
#include "report/merge_events.h"
#include "report/merge_swept.h"
#include "report/swept.h"
#include "report/words.h"

static bool number_of(uint64_t *n, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    *n = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

/* ---- a result */

static bool read_frames(struct verdict_frames *f, const json_t *list, uint64_t count)
{
    json_t *frame;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) > VERDICT_FRAMES)
        return false;
    json_array_foreach(list, i, frame)
    {
        if (!json_is_integer(frame) || json_integer_value(frame) < 1 ||
            json_integer_value(frame) > UINT32_MAX)
            return false;
        f->first[f->n++] = (uint32_t)json_integer_value(frame);
    }
    /* The report lists no more than these. Ten findings with ten frames are all. */
    f->more = f->n == VERDICT_FRAMES && count > VERDICT_FRAMES;
    return true;
}

/* Returns false if a text is absent; a report has all of them. */
static bool read_texts(struct verdict_case *c, const json_t *given)
{
    const char *const texts[] = {merge_string(given, "subject"), merge_string(given, "expected"),
                                 merge_string(given, "actual"), merge_string(given, "reason")};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (!texts[i])
            return false;
    c->entity = g_strdup(texts[0]);
    c->expected = g_strdup(texts[1]);
    c->actual = g_strdup(texts[2]);
    c->reason = g_strdup(texts[3]);
    return true;
}

/* Reports of earlier versions have no senders. */
static bool read_senders(struct verdict_senders *s, const json_t *list)
{
    json_t *sender;
    size_t i;
    if (json_array_size(list) > VERDICT_SENDERS)
        return false;
    json_array_foreach(list, i, sender)
    {
        if (!json_is_string(sender))
            return false;
        s->first[s->n++] = g_strdup(json_string_value(sender));
    }
    return true;
}

static char *evidence(const json_t *given, const char *key)
{
    const char *text = merge_string(json_object_get(given, "evidence"), key);
    return g_strdup(text ? text : "");
}

/* A report of an earlier version has no causes, or only those of numbers. */
static bool read_cause(struct verdict_case *c, const json_t *given)
{
    const char *cause = json_string_value(json_object_get(given, "cause"));
    c->has_value = json_object_get(given, "value") != NULL;
    if (!cause)
        return !json_object_get(given, "cause") && !c->has_value;
    c->cause = g_strdup(cause);
    return !c->has_value ||
           (number_of(&c->value, given, "value") && c->value <= FINDING_NUMBER_MAX);
}

static bool read_case(struct verdict_result *r, const json_t *given, bool probed)
{
    struct verdict_case *c = &r->cases[r->n_cases];
    if (!number_of(&c->count, given, "count") || !read_texts(c, given))
        return false;
    r->n_cases++;
    c->check = evidence(given, "check");
    c->sent = evidence(given, "sent");
    c->received = evidence(given, "received");
    r->count += c->count;
    c->by_flow = json_object_get(given, other_frame_key(true)) != NULL;
    c->other_frame = (uint32_t)json_integer_value(
        json_object_get(given, other_frame_key(c->by_flow)));
    c->proved_frame = (uint32_t)json_integer_value(json_object_get(given, "proved_frame"));
    return read_cause(c, given) && read_senders(&c->senders, json_object_get(given, "senders")) &&
           (probed || read_frames(&c->frames, json_object_get(given, "frames"), c->count));
}

static bool read_cases(struct verdict_result *r, const json_t *given, bool probed)
{
    json_t *list = json_object_get(given, "cases"), *one;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) > VERDICT_CASES ||
        !number_of(&r->uncased, given, "further_cases"))
        return false;
    json_array_foreach(list, i, one) if (!read_case(r, one, probed)) return false;
    r->count += r->uncased;
    return true;
}

/*
 * Checks that the counts of the listed and the further cases add up to the result's count. Passes
 * of a capture have no cases.
 */
static bool read_result(struct verdict *v, const json_t *given, enum rule_number rule,
                        enum outcome outcome, bool probed)
{
    uint64_t count;
    struct verdict_result *r = g_new0(struct verdict_result, 1);
    bool kept = probed || outcome != OUTCOME_PASS;
    bool good = number_of(&count, given, "count") && count > 0 && read_cases(r, given, probed) &&
                (!kept || r->count == count) &&
                (probed || read_frames(&r->frames, json_object_get(given, "frames"), count));
    verdict_restore(v, rule, outcome, count, r); /* the verdict frees it in either case */
    if (good && !kept)
        verdict_restore(v, rule, outcome, count, NULL);
    return good;
}

static bool read_stage(struct checked *j, const json_t *given, enum outcome outcome, GError **error)
{
    const char *text = merge_string(given, "actual"), *advice = merge_string(given, "advice");
    if (!text || !advice)
        return merge_fail(error, "is malformed: stage %s is incomplete", merge_string(given, "id"));
    checked_add_stage(j, merge_string(given, "id"), (int)outcome, text, advice);
    /* only the summary of a swept prefix has this stage (probe/sweep/report.c) */
    j->sweep = j->sweep || g_str_equal(merge_string(given, "id"), "sweep.answers");
    return true;
}

static bool restore_result(struct restored *out, const json_t *given, GError **error)
{
    const char *id = merge_string(given, "id"), *name = merge_string(given, "outcome");
    enum outcome outcome;
    if (!id || !name || !outcome_read(&outcome, name))
        return merge_fail(error, "is malformed: a result without identifier or outcome");
    if (g_strcmp0(merge_string(given, "level"), "STAGE") == 0)
        return read_stage(&out->checked, given, outcome, error);
    const struct rule *rule = rule_find(id);
    if (!rule)
        return merge_fail(error, "has rule %s, which this version does not know", id);
    return read_result(out->checked.verdict, given, (enum rule_number)(rule - rules), outcome,
                       out->report.probed) ||
           merge_fail(error, "is malformed: the numbers of %s, %s, do not agree", id, name);
}

/* ---- settings of the run */

static bool read_only(struct restored *out, json_t *list, GError **error)
{
    json_t *selector;
    size_t i;
    json_array_foreach(list, i, selector)
    {
        const char *text = json_string_value(selector);
        bool known = text && *text &&
                     (selection_add(&out->selection, text) || explain_has_stage(text));
        if (!known)
            return merge_fail(error, "was made with --only %s, which this version does not know",
                              text ? text : "without a name");
        g_ptr_array_add(out->only, g_strdup(text));
    }
    for (size_t rule = 0; json_array_size(list) == 0 && rule < RULE_COUNT; rule++)
        out->selection.rule[rule] = true;
    return true;
}

/* Only with --min-judged. */
static bool read_min_judged(struct report *r, const json_t *settings)
{
    uint64_t n;
    if (!json_object_get(settings, "min_judged"))
        return true;
    bool good = number_of(&n, settings, "min_judged") && n <= RULE_COUNT;
    r->min_judged = good ? (unsigned)n : 0;
    return good;
}

/* Only with --fail-on. */
static bool reads_fail_on(const json_t *settings)
{
    return g_strcmp0(merge_string(settings, "fail_on"), outcome_name(OUTCOME_SUSPECTED)) == 0;
}

static bool read_settings(struct restored *out, const struct merge_entry *e, const char *version,
                          GError **error)
{
    json_t *only = json_object_get(e->settings, "only"),
           *strict = json_object_get(e->settings, "strict");
    const char *deviations = merge_string(e->settings, "deviations");
    if (!json_is_array(only) || !json_is_boolean(strict) || !deviations)
        return merge_fail(error, "is malformed: the options that it was made with are missing");
    out->report = (struct report){.tool = e->tool,
                                  .version = version,
                                  .deviations = deviations,
                                  .strict = json_is_true(strict),
                                  .fail_on_suspected = reads_fail_on(e->settings),
                                  .probed = e->probed,
                                  .captures = &out->checked,
                                  .n = 1};
    if (!read_min_judged(&out->report, e->settings))
        return merge_fail(error, "is malformed: the number of rules that it requires");
    bool good = read_only(out, only, error);
    g_ptr_array_add(out->only, NULL);
    out->report.only = (const char *const *)out->only->pdata;
    return good;
}

/* ---- what was left undone */

static bool read_refusals(struct undone *u, const json_t *given)
{
    const char *name = merge_string(given, "table");
    uint64_t frame, refused;
    if (!name || undone_read(name) == UNDONE_TABLES || !number_of(&frame, given, "frame") ||
        !number_of(&refused, given, "refused") || frame < 1 || frame > UINT32_MAX || refused < 1)
        return false;
    struct refusals *r = &u->tables[undone_read(name)];
    bool first = r->refused == 0;
    *r = (struct refusals){(uint32_t)frame, (uint32_t)frame, refused};
    return first;
}

/*
 * Reports of earlier versions have no such list. A stage without a result is the entry's "error" as
 * well, which withholds its verdict.
 */
static bool read_undone(struct restored *out, const struct merge_entry *e, GError **error)
{
    struct undone u = {0};
    json_t *list = json_object_get(e->given, "undone"), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        if (!merge_string(one, "stage") && !read_refusals(&u, one))
            return merge_fail(error, "is malformed: what was left undone in %s", e->name);
    }
    verdict_set_undone(out->checked.verdict, &u);
    return true;
}

/* ---- what was not seen */

static bool read_kind(struct unseen *u, const json_t *given)
{
    const char *code = merge_string(given, "code");
    enum unseen_kind kind = code ? unseen_read(code) : UNSEEN_KINDS;
    uint64_t count, frame;
    if (kind == UNSEEN_KINDS || u->kinds[kind].count || !number_of(&count, given, "count") ||
        !number_of(&frame, given, "frame") || count < 1 || frame > UINT32_MAX)
        return false;
    unseen_add(u, kind, count, (uint32_t)frame);
    return true;
}

/* Reports of earlier versions, and of the probe, have no such list. */
static bool read_unseen(struct restored *out, const struct merge_entry *e, GError **error)
{
    struct unseen u = {0};
    json_t *list = json_object_get(e->given, "unseen"), *one;
    size_t i;
    json_array_foreach(list, i, one) if (!read_kind(&u, one)) return merge_fail(
        error, "is malformed: what was not seen in %s", e->name);
    verdict_set_unseen(out->checked.verdict, &u);
    return true;
}

/* ---- events */

/* Reports of earlier versions, and of the probe, have none. */
static bool read_events(struct restored *out, const struct merge_entry *e, GError **error)
{
    const json_t *list = json_object_get(e->given, "events");
    out->checked.events = merge_events(list);
    return !list || out->checked.events ||
           merge_fail(error, "is malformed: an event of %s, or one that this version does not know",
                      e->name);
}

/* ---- hosts */

/* Only the entry of a swept prefix has them. */
static bool read_swept(struct restored *out, const struct merge_entry *e, GError **error)
{
    if (!json_object_get(e->given, "hosts"))
        return true;
    out->checked.swept = merge_swept(e->given);
    return out->checked.swept ||
           merge_fail(error, "is malformed: a host of %s, or its baseline", e->name);
}

/* ---- the whole */

static void start_entry(struct restored *out, const char *node, const char *name)
{
    memset(out, 0, sizeof *out);
    out->only = g_ptr_array_new_with_free_func(g_free);
    out->checked.name = g_strdup_printf("%s: %s", node, name);
    out->checked.verdict = verdict_new(&out->selection);
    out->checked.brief = true;
}

static bool agrees(const struct restored *out, const struct merge_entry *e)
{
    struct verdict_summary s = checked_summary(&out->report, &out->checked);
    const json_t *written = json_object_get(e->given, "rules");
    uint64_t must, should, passed;
    return g_strcmp0(merge_string(e->given, "verdict"), status_name(s.status)) == 0 &&
           number_of(&must, written, "must_violated") &&
           number_of(&should, written, "should_violated") &&
           number_of(&passed, written, "passed") && must == s.must && should == s.should &&
           passed == s.passed;
}

bool restore_findings(struct restored *out, const struct merge_entry *e, const char *version,
                      GError **error)
{
    uint64_t frames, ipoib;
    start_entry(out, e->node, e->name);
    if (!read_settings(out, e, version, error))
        return false;
    if (!number_of(&frames, e->given, e->probed ? "packets" : "frames") ||
        !number_of(&ipoib, e->given, e->probed ? "answers" : "ipoib_frames"))
        return merge_fail(error, "is malformed: the number of frames of %s is missing", e->name);
    verdict_restore_frames(out->checked.verdict, frames, ipoib);
    out->checked.trouble = g_strdup(merge_string(e->given, "error"));
    for (guint i = 0; i < e->results->len; i++)
        if (!restore_result(out, e->results->pdata[i], error))
            return false;
    return read_undone(out, e, error) && read_unseen(out, e, error) && read_events(out, e, error) &&
           read_swept(out, e, error);
}

bool restore(struct restored *out, const struct merge_entry *e, const char *version, GError **error)
{
    if (!restore_findings(out, e, version, error))
        return false;
    return agrees(out, e) ||
           merge_fail(
               error,
               "is malformed: by the rules of this version, its findings on %s give another verdict",
               e->name);
}

void restore_nothing(struct restored *out, const char *node, const char *file, const char *version,
                     const char *why)
{
    start_entry(out, node, file);
    g_ptr_array_add(out->only, NULL);
    out->report = (struct report){.tool = "ipoib-check",
                                  .version = version,
                                  .deviations = "",
                                  .captures = &out->checked,
                                  .n = 1};
    out->checked.trouble = plain_dup(why);
}

void restored_clear(struct restored *r)
{
    checked_clear(&r->checked);
    g_ptr_array_unref(r->only);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/baseline.h"

#include <inttypes.h>

#include "cli/plain.h"
#include "model/hash.h"
#include "report/merge_restore.h"

struct baseline {
    /* sets of strings: rule, entity, and the cause, with the observed number, or the text of the
     * actual value */
    GHashTable *known, *suspected;
    bool incomplete[RULE_COUNT];
};

const char baseline_known[] = "known from the baseline";
const char baseline_suspected[] = "suspected, known from the baseline";

/* The separators are unambiguous, because plain texts contain no line end. Free with g_free(). */
static char *text_key(enum rule_number rule, const char *entity, const char *actual)
{
    return g_strdup_printf("%d\n%s\n%s", (int)rule, entity, actual);
}

static char *cause_key(enum rule_number rule, const char *entity, const char *cause)
{
    return g_strdup_printf("%d\n%s\n%s\n", (int)rule, entity, cause);
}

static char *number_key(enum rule_number rule, const char *entity, const char *cause,
                        uint64_t value)
{
    return g_strdup_printf("%d\n%s\n%s\n%" PRIu64, (int)rule, entity, cause, value);
}

/*
 * The cause decides, with the number, whatever the text is. A case without a cause is a note, or an
 * earlier version wrote its report; some causes have texts that say more, such as the client.
 */
static char *case_key(enum rule_number rule, const struct verdict_case *c)
{
    if (c->cause && c->has_value)
        return number_key(rule, c->entity, c->cause, c->value);
    return c->cause && cause_says_all(rule, c->cause) ? cause_key(rule, c->entity, c->cause)
                                                      : text_key(rule, c->entity, c->actual);
}

/* Was it a suspicion that its report's own baseline had? */
static bool is_suspicion(const struct verdict_result *r, unsigned i)
{
    return r->outcome == OUTCOME_SUSPECTED || g_str_equal(r->cases[i].reason, baseline_suspected);
}

static void add_known_result(struct baseline *b, enum rule_number rule,
                             const struct verdict_result *r)
{
    for (unsigned i = 0; r && i < r->n_cases; i++)
        g_hash_table_add(is_suspicion(r, i) ? b->suspected : b->known,
                         case_key(rule, &r->cases[i]));
    b->incomplete[rule] |= r && r->uncased > 0;
}

/* Violations that were known to that report's own baseline are still known. */
static void add_known_verdict(struct baseline *b, const struct verdict *v)
{
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        add_known_result(b, (enum rule_number)rule,
                         verdict_result(v, (enum rule_number)rule, OUTCOME_FAIL));
        add_known_result(b, (enum rule_number)rule,
                         verdict_result(v, (enum rule_number)rule, OUTCOME_SUSPECTED));
        add_known_result(b, (enum rule_number)rule,
                         verdict_result(v, (enum rule_number)rule, (enum outcome)VERDICT_KNOWN));
    }
}

static bool add_known_report(struct baseline *b, const struct merge_report *given,
                             const char *version, GError **error)
{
    bool good = true;
    unsigned captures = 0;
    for (guint i = 0; good && i < given->entries->len; i++) {
        const struct merge_entry *e = &g_array_index(given->entries, struct merge_entry, i);
        struct restored r;
        if (e->probed)
            continue;
        captures++;
        good = restore_findings(&r, e, version, error);
        if (good)
            add_known_verdict(b, r.checked.verdict);
        restored_clear(&r);
    }
    return good && (captures > 0 || merge_fail(error, "is no baseline: it has no capture"));
}

struct baseline *baseline_open(const char *path, const char *version, GError **error)
{
    struct merge_report given;
    struct baseline *b = g_new0(struct baseline, 1);
    b->known = g_hash_table_new_full(hash_string, g_str_equal, g_free, NULL);
    b->suspected = g_hash_table_new_full(hash_string, g_str_equal, g_free, NULL);
    bool good = merge_report_open(&given, path, error) &&
                add_known_report(b, &given, version, error);
    merge_report_clear(&given);
    if (good)
        return b;
    baseline_free(b);
    return NULL;
}

void baseline_free(struct baseline *b)
{
    if (!b)
        return;
    g_hash_table_unref(b->known);
    g_hash_table_unref(b->suspected);
    g_free(b);
}

/* Frees the key. */
static bool has_key(const struct baseline *b, const struct finding *f, char *key)
{
    bool has = g_hash_table_contains(b->known, key) ||
               (f->outcome == OUTCOME_SUSPECTED && g_hash_table_contains(b->suspected, key));
    g_free(key);
    return has;
}

bool baseline_has(const struct baseline *b, const struct finding *f)
{
    char entity[VERDICT_TEXT + 1], actual[VERDICT_TEXT + 1]; /* shortened as in a verdict */
    if (!b)
        return false;
    plain_text(f->entity, entity, sizeof entity);
    char room[CAUSE_TEXT];
    const char *cause = finding_cause(f, room);
    bool has = finding_has_number(f) ? has_key(b, f, number_key(f->rule, entity, cause, *f->value))
                                     : cause_says_all(f->rule, cause) &&
                                           has_key(b, f, cause_key(f->rule, entity, cause));
    return has ||
           has_key(b, f, text_key(f->rule, entity, plain_text(f->actual, actual, sizeof actual)));
}

unsigned baseline_incomplete_rules(const struct baseline *b)
{
    unsigned n = 0;
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        n += b->incomplete[rule];
    return n;
}

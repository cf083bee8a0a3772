/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a JSON report back. The input comes from another host and is not trusted: every text is
 * checked.
 */
#include "report/merge_read.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/fail.h"
#include "cli/inputs.h"
#include "cli/plain.h"
#include "model/hash.h"
#include "report/merge_members.h"
#include "rules/rules.h"

/*
 * Limits. Bytes: of a file, of a name, and of an error message, which may quote the file. Stages of
 * a report: the probe has about thirty.
 */
enum { FILE_MAX = 512 << 20, TEXT_MAX = 16384, MESSAGE_MAX = 1024, STAGES_MAX = 256 };

bool merge_fail(GError **error, const char *format, ...)
{
    char plain[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    char *all = g_strdup_vprintf(format, args);
    va_end(args);
    fail_with(error, "%s", plain_text(all, plain, sizeof plain));
    g_free(all);
    return false;
}

const char *merge_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

char *merge_node_of(const char *path)
{
    char *base = strcmp(path, "-") == 0 ? g_strdup("standard input") : g_path_get_basename(path);
    if (g_str_has_suffix(base, ".json") && strlen(base) > strlen(".json"))
        base[strlen(base) - strlen(".json")] = '\0';
    char *plain = plain_dup(base);
    g_free(base);
    return plain;
}

/* ---- the file */

static bool is_plain_text(const char *text)
{
    char *plain = plain_dup(text);
    bool same = strcmp(plain, text) == 0;
    g_free(plain);
    return same;
}

/* The tools write only plain texts. The merge copies texts, so it must not let others in. */
/* NOLINTNEXTLINE(misc-no-recursion): jansson rejects input nested deeper than 2048 */
static bool all_plain(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value))
        return is_plain_text(json_string_value(value));
    json_object_foreach(value, key,
                        member) if (!is_plain_text(key) || !all_plain(member)) return false;
    json_array_foreach(value, i, member) if (!all_plain(member)) return false;
    return true;
}

struct json_input {
    FILE *file;
    size_t left;
};

static size_t read_json(void *to, size_t n, void *source)
{
    struct json_input *s = source;
    if (ferror(s->file) || feof(s->file))
        return 0; /* also after a signal interrupted a read */
    n = n < s->left ? n : s->left;
    s->left -= n;
    return fread(to, 1, n, s->file);
}

/* jansson rejects input nested deeper than 2048 and numbers of more than 64 bits. */
static json_t *parse_report(FILE *file, GError **error)
{
    struct json_input source = {file, FILE_MAX};
    json_error_t fault;
    json_t *whole = json_load_callback(read_json, &source, JSON_REJECT_DUPLICATES, &fault);
    if (source.left == 0)
        merge_fail(error, "is larger than the limit for reports, %d MiB", FILE_MAX >> 20);
    else if (!whole)
        merge_fail(error, "is not valid JSON: %s (line %d)", fault.text, fault.line);
    if (whole && source.left == 0) {
        json_decref(whole);
        return NULL;
    }
    return whole;
}

static FILE *open_file(const char *path)
{
    int fd = inputs_open(path);
    return fd < 0 ? NULL : fdopen(fd, "r");
}

static json_t *load_report(struct merge_report *r, const char *path, GError **error)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : open_file(path);
    r->opened = file != NULL;
    if (file)
        r->readers = access_of(fileno(file));
    if (!file) {
        merge_fail(error, "%s", strerror(errno));
        return NULL;
    }
    int first = getc(file);
    if (first == EOF) {
        merge_fail(error, "%s", ferror(file) ? strerror(errno) : "is empty: no report was written");
        if (!is_stdin)
            fclose(file);
        return NULL;
    }
    ungetc(first, file);
    json_t *whole = parse_report(file, error);
    if (!is_stdin)
        fclose(file);
    return whole;
}

/* ---- entries */

/* The entry's own member, as in merged reports; otherwise that of the report. */
static const char *own_or(const json_t *entry, const char *key, const char *whole)
{
    const char *own = merge_string(entry, key);
    return own ? own : whole;
}

static void entry_clear(gpointer entry)
{
    g_ptr_array_unref(((struct merge_entry *)entry)->results);
    g_hash_table_unref(((struct merge_entry *)entry)->has);
}

static bool add_entry(struct merge_report *r, json_t *given, json_t *summary, bool probed,
                      GError **error)
{
    struct merge_entry e = {.given = given, .probed = probed, .name = merge_string(given, "name")};
    if (!e.name)
        return merge_fail(error, "is no report: a %s without a name",
                          probed ? "target" : "capture");
    if (strlen(e.name) > TEXT_MAX)
        return merge_fail(error, "is malformed: a name has more than %d bytes", TEXT_MAX);
    e.settings = json_object_get(given, "strict") ? given : summary;
    e.node = own_or(given, "node", r->node);
    e.file = own_or(given, "file", r->file);
    e.tool = own_or(given, "tool", merge_string(r->whole, "tool"));
    e.results = g_ptr_array_new();
    e.has = g_hash_table_new_full(hash_string, g_str_equal, g_free, NULL);
    g_array_append_val(r->entries, e);
    /* cppcheck-suppress memleak ; the array has e */
    return true;
}

static bool add_entries(struct merge_report *r, json_t *summary, const char *kind, bool probed,
                        GError **error)
{
    json_t *list = json_object_get(summary, kind), *given;
    size_t i;
    json_array_foreach(list, i,
                       given) if (!add_entry(r, given, summary, probed, error)) return false;
    return true;
}

/* ---- required rules */

static bool read_required(struct merge_report *r, const json_t *given)
{
    const json_t *judged = json_object_get(given, "judged");
    struct merge_required one = {merge_string(given, "selector"), own_or(given, "node", r->node),
                                 own_or(given, "file", r->file), merge_string(given, "why")};
    g_array_append_val(r->required, one);
    return one.selector && json_is_boolean(judged) && json_is_true(judged) == !one.why;
}

static bool read_all_required(struct merge_report *r, json_t *summary, GError **error)
{
    json_t *list = json_object_get(summary, "required"), *given;
    size_t i;
    json_array_foreach(list, i, given) if (!read_required(r, given)) return merge_fail(
        error, "is malformed: a required rule without selector or result");
    return true;
}

/* ---- results */

static char *entry_key(bool probed, const char *file, const char *node, const char *name)
{
    /* plain texts contain no line end */
    return g_strdup_printf("%d\n%s\n%s\n%s", probed, file, node, name);
}

/*
 * The entry that the result belongs to. A capture that was given twice has two entries of one name;
 * a result that the first of them already has belongs to the second.
 */
static struct merge_entry *owner_entry(GHashTable *entries, const struct merge_report *r,
                                       const json_t *result)
{
    bool probed = json_object_get(result, "target") != NULL;
    const char *name = merge_string(result, probed ? "target" : "capture");
    if (!name)
        return NULL;
    char *key = entry_key(probed, own_or(result, "file", r->file), own_or(result, "node", r->node),
                          name);
    GQueue *same = g_hash_table_lookup(entries, key);
    g_free(key);
    return same ? g_queue_peek_head(same) : NULL;
}

/* Key of a result; unique within an entry. Free with g_free(). */
static char *identity(const json_t *result)
{
    const char *id = merge_string(result, "id"), *outcome = merge_string(result, "outcome");
    return g_strdup_printf("%s\n%s", id ? id : "", outcome ? outcome : "");
}

static bool has_already(const struct merge_entry *e, const json_t *result)
{
    char *key = identity(result);
    bool has = g_hash_table_contains(e->has, key);
    g_free(key);
    return has;
}

static void next_of_same_name(GHashTable *entries, const struct merge_entry *e)
{
    char *key = entry_key(e->probed, e->file, e->node, e->name);
    GQueue *same = g_hash_table_lookup(entries, key);
    if (g_queue_get_length(same) > 1)
        g_queue_pop_head(same);
    g_free(key);
}

static void queue_free(gpointer queue)
{
    g_queue_free(queue);
}

static GHashTable *index_of(const struct merge_report *r)
{
    GHashTable *entries = g_hash_table_new_full(hash_string, g_str_equal, g_free, queue_free);
    for (guint i = 0; i < r->entries->len; i++) {
        struct merge_entry *e = &g_array_index(r->entries, struct merge_entry, i);
        char *key = entry_key(e->probed, e->file, e->node, e->name);
        GQueue *same = g_hash_table_lookup(entries, key);
        if (!same)
            g_hash_table_insert(entries, g_strdup(key), same = g_queue_new());
        g_queue_push_tail(same, e);
        g_free(key);
    }
    return entries;
}

/* Assigns a result to its entry. Returns false if there is none. */
static bool give(struct merge_report *r, GHashTable *entries, json_t *result)
{
    struct merge_entry *e = owner_entry(entries, r, result);
    if (e && has_already(e, result)) {
        next_of_same_name(entries, e);
        e = owner_entry(entries, r, result);
    }
    if (!e || has_already(e, result))
        return false;
    g_hash_table_add(e->has, identity(result));
    g_ptr_array_add(e->results, result);
    return true;
}

static bool share_out_results(struct merge_report *r, json_t *results, GError **error)
{
    GHashTable *entries = index_of(r);
    json_t *result;
    size_t i;
    json_array_foreach(results, i, result) if (!give(r, entries, result)) break;
    g_hash_table_unref(entries);
    return i == json_array_size(results) ||
           merge_fail(error,
                      "is malformed: result %zu belongs to no capture or target of the summary",
                      i + 1);
}

/* ---- limits of a report */

/*
 * Checked before the results are processed: each belongs to a known rule or to a stage. The number
 * of different stages is limited, because the tally keeps each of them for every node.
 */
static bool are_known(json_t *results, GError **error)
{
    GHashTable *stages = g_hash_table_new(hash_string, g_str_equal);
    json_t *result;
    const char *bad = NULL;
    size_t i;
    json_array_foreach(results, i, result)
    {
        const char *id = merge_string(result, "id");
        if (!id || (g_strcmp0(merge_string(result, "level"), "STAGE") != 0 && !rule_find(id)))
            bad = id ? id : "";
        else if (!rule_find(id))
            g_hash_table_add(stages, (gpointer)id);
        if (bad)
            break;
    }
    guint n = g_hash_table_size(stages);
    g_hash_table_unref(stages);
    if (bad && *bad)
        return merge_fail(error, "has rule %s, which this version does not know", bad);
    if (bad)
        return merge_fail(error, "is malformed: a result without identifier or outcome");
    return n <= STAGES_MAX ||
           merge_fail(error, "is malformed: it has more than %d stages", STAGES_MAX);
}

/* The settings are copied to each entry. They need at most one selector per rule. */
static bool is_short(const json_t *settings)
{
    const json_t *only = json_object_get(settings, "only");
    const char *deviations = merge_string(settings, "deviations"), *text;
    bool good = json_array_size(only) <= RULE_COUNT &&
                (!deviations || strlen(deviations) <= TEXT_MAX);
    for (size_t i = 0; good && i < json_array_size(only); i++) {
        text = json_string_value(json_array_get(only, i));
        good = !text || strlen(text) <= MERGE_NODE_MAX;
    }
    return good;
}

/* ---- the report */

static bool is_ours(const char *tool)
{
    return tool && (strcmp(tool, "ipoib-check") == 0 || strcmp(tool, "ipoib-probe") == 0);
}

static bool read_members(struct merge_report *r, GError **error)
{
    json_t *summary = json_object_get(r->whole, "summary"),
           *results = json_object_get(r->whole, "results");
    if (!is_ours(merge_string(r->whole, "tool")))
        return merge_fail(error, "is JSON, but no report of ipoib-check or ipoib-probe");
    if (json_object_get(r->whole, "rules"))
        return merge_fail(error, "is a list of rules, no report");
    bool captures = json_is_array(json_object_get(summary, "captures")),
         targets = json_is_array(json_object_get(summary, "targets"));
    if (!json_is_array(results) || (!captures && !targets))
        return merge_fail(error, "is malformed: its results or its summary is missing");
    if (!all_plain(r->whole))
        return merge_fail(error, "is malformed: it has characters that no report has");
    merge_keep_known(r->whole);
    summary = json_object_get(r->whole, "summary");
    results = json_object_get(r->whole, "results");
    if (!summary || !results)
        return merge_fail(error,
                          "is malformed: its results or its summary has members of another type");
    if (!is_short(summary))
        return merge_fail(error, "is malformed: the options that it was made with are too long");
    if (!are_known(results, error))
        return false;
    const char *node = merge_string(r->whole, "node");
    if (node) {
        g_free(r->node);
        r->node = g_strdup(node);
    }
    json_int_t reports = json_integer_value(json_object_get(summary, "reports"));
    r->reports = reports > 1 && reports < INT_MAX ? (unsigned)reports : 1;
    return add_entries(r, summary, "captures", false, error) &&
           add_entries(r, summary, "targets", true, error) &&
           (r->entries->len > 0 ||
            merge_fail(error, "is malformed: there is no capture and no target in it")) &&
           read_all_required(r, summary, error) && share_out_results(r, results, error);
}

bool merge_report_open(struct merge_report *r, const char *path, GError **error)
{
    *r = (struct merge_report){
        .node = merge_node_of(path),
        .file = plain_dup(strcmp(path, "-") == 0 ? "standard input" : path),
        .entries = g_array_new(FALSE, FALSE, sizeof(struct merge_entry)),
        .required = g_array_new(FALSE, FALSE, sizeof(struct merge_required))};
    g_array_set_clear_func(r->entries, entry_clear);
    r->whole = load_report(r, path, error);
    return r->whole && read_members(r, error);
}

void merge_report_clear(struct merge_report *r)
{
    g_array_unref(r->entries);
    g_array_unref(r->required);
    json_decref(r->whole);
    g_free(r->node);
    g_free(r->file);
}

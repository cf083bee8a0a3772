/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON report, read again. See merge_read.h. What comes from another host is not trusted: it is checked to the last text. */
#include "verdict/merge_read.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "verdict/plain.h"

bool merge_fail(char **why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *why = g_strdup_vprintf(format, args);
    va_end(args);
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

static bool is_plain(const char *text)
{
    char *plain = plain_dup(text);
    bool same = strcmp(plain, text) == 0;
    g_free(plain);
    return same;
}

/* The tools write plain texts alone; what merges them copies them, so that nothing else may come in here. */
/* NOLINTNEXTLINE(misc-no-recursion): jansson reads nothing that is nested deeper than 2048 */
static bool all_plain(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value))
        return is_plain(json_string_value(value));
    json_object_foreach (value, key, member)
        if (!is_plain(key) || !all_plain(member))
            return false;
    json_array_foreach (value, i, member)
        if (!all_plain(member))
            return false;
    return true;
}

static json_t *load(const char *path, char **why)
{
    json_error_t error;
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    if (!file) {
        merge_fail(why, "%s", strerror(errno));
        return NULL;
    }
    int first = getc(file);
    if (first == EOF) {
        merge_fail(why, "%s", ferror(file) ? strerror(errno) : "is empty: no report was written");
        if (!is_stdin)
            fclose(file);
        return NULL;
    }
    ungetc(first, file);
    json_t *whole = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    if (!whole)
        merge_fail(why, "is no JSON, or damaged: %s (line %d)", error.text, error.line);
    if (!is_stdin)
        fclose(file);
    return whole;
}

/* ---- entries */

/* The member of the entry itself, as merged reports have it, or of the whole. */
static const char *own_or(const json_t *entry, const char *key, const char *whole)
{
    const char *own = merge_string(entry, key);
    return own ? own : whole;
}

static void entry_clear(gpointer entry)
{
    g_ptr_array_unref(((struct merge_entry *)entry)->results);
}

static bool add_entry(struct merge_report *r, json_t *given, json_t *summary, bool probed, char **why)
{
    struct merge_entry e = {.given = given, .probed = probed, .name = merge_string(given, "name")};
    if (!e.name)
        return merge_fail(why, "is no report: a %s without a name", probed ? "target" : "capture");
    e.settings = json_object_get(given, "strict") ? given : summary;
    e.node = own_or(given, "node", r->node);
    e.file = own_or(given, "file", r->file);
    e.tool = own_or(given, "tool", merge_string(r->whole, "tool"));
    e.results = g_ptr_array_new();
    g_array_append_val(r->entries, e);
    /* cppcheck-suppress memleak ; the array has e */
    return true;
}

static bool add_entries(struct merge_report *r, json_t *summary, const char *kind, bool probed, char **why)
{
    json_t *list = json_object_get(summary, kind), *given;
    size_t i;
    json_array_foreach (list, i, given)
        if (!add_entry(r, given, summary, probed, why))
            return false;
    return true;
}

/* ---- results */

static char *key_of(bool probed, const char *file, const char *node, const char *name)
{
    return g_strdup_printf("%d\n%s\n%s\n%s", probed, file, node, name); /* no plain text has a line end in it */
}

/* Who has the results of that name: who was given twice has two entries, and the same rule and outcome twice. */
static struct merge_entry *owner(GHashTable *entries, const struct merge_report *r, const json_t *result)
{
    bool probed = json_object_get(result, "target") != NULL;
    const char *name = merge_string(result, probed ? "target" : "capture");
    if (!name)
        return NULL;
    char *key = key_of(probed, own_or(result, "file", r->file), own_or(result, "node", r->node), name);
    GQueue *same = g_hash_table_lookup(entries, key);
    g_free(key);
    return same ? g_queue_peek_head(same) : NULL;
}

static bool has_already(const struct merge_entry *e, const json_t *result)
{
    const char *id = merge_string(result, "id"), *outcome = merge_string(result, "outcome");
    for (guint i = 0; i < e->results->len; i++)
        if (g_strcmp0(merge_string(e->results->pdata[i], "id"), id) == 0 &&
            g_strcmp0(merge_string(e->results->pdata[i], "outcome"), outcome) == 0)
            return true;
    return false;
}

static void next_of_same_name(GHashTable *entries, const struct merge_entry *e)
{
    char *key = key_of(e->probed, e->file, e->node, e->name);
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
    GHashTable *entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, queue_free);
    for (guint i = 0; i < r->entries->len; i++) {
        struct merge_entry *e = &g_array_index(r->entries, struct merge_entry, i);
        char *key = key_of(e->probed, e->file, e->node, e->name);
        GQueue *same = g_hash_table_lookup(entries, key);
        if (!same)
            g_hash_table_insert(entries, g_strdup(key), same = g_queue_new());
        g_queue_push_tail(same, e);
        g_free(key);
    }
    return entries;
}

static bool share_out(struct merge_report *r, json_t *results, char **why)
{
    GHashTable *entries = index_of(r);
    struct merge_entry *e = NULL;
    json_t *result;
    size_t i;
    json_array_foreach (results, i, result) {
        e = owner(entries, r, result);
        if (e && has_already(e, result)) {
            next_of_same_name(entries, e);
            e = owner(entries, r, result);
        }
        if (!e || has_already(e, result))
            break;
        g_ptr_array_add(e->results, result);
    }
    g_hash_table_unref(entries);
    return i == json_array_size(results) || merge_fail(why, "is damaged: result %zu is of nothing that the summary knows", i + 1);
}

/* ---- the whole */

static bool is_ours(const char *tool)
{
    return tool && (strcmp(tool, "ipoib-check") == 0 || strcmp(tool, "ipoib-probe") == 0);
}

static bool read_all(struct merge_report *r, char **why)
{
    json_t *summary = json_object_get(r->whole, "summary"), *results = json_object_get(r->whole, "results");
    if (!is_ours(merge_string(r->whole, "tool")))
        return merge_fail(why, "is JSON, but no report of ipoib-check or ipoib-probe");
    if (json_object_get(r->whole, "rules"))
        return merge_fail(why, "is a list of rules, no report");
    bool captures = json_is_array(json_object_get(summary, "captures")), targets = json_is_array(json_object_get(summary, "targets"));
    if (!json_is_array(results) || (!captures && !targets))
        return merge_fail(why, "is damaged: its results or its summary is missing");
    if (!all_plain(r->whole))
        return merge_fail(why, "is damaged: it has characters that no report has");
    const char *node = merge_string(r->whole, "node");
    if (node) {
        g_free(r->node);
        r->node = g_strdup(node);
    }
    json_int_t reports = json_integer_value(json_object_get(summary, "reports"));
    r->reports = reports > 1 && reports < INT_MAX ? (unsigned)reports : 1;
    return add_entries(r, summary, "captures", false, why) && add_entries(r, summary, "targets", true, why) &&
           (r->entries->len > 0 || merge_fail(why, "is damaged: there is no capture and no target in it")) && share_out(r, results, why);
}

bool merge_report_open(struct merge_report *r, const char *path, char **why)
{
    *r = (struct merge_report){.node = merge_node_of(path),
                               .file = plain_dup(strcmp(path, "-") == 0 ? "standard input" : path),
                               .entries = g_array_new(FALSE, FALSE, sizeof(struct merge_entry))};
    g_array_set_clear_func(r->entries, entry_clear);
    r->whole = load(path, why);
    return r->whole && read_all(r, why);
}

void merge_report_clear(struct merge_report *r)
{
    g_array_unref(r->entries);
    json_decref(r->whole);
    g_free(r->node);
    g_free(r->file);
}

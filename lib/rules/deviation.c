/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/deviation.h"

#include "model/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The named lists, compiled in from rules/deviations/ so that the plugin needs no data files. */
extern const char deviations_linux_text[];

/* The patterns from SERVICE_ID on are of texts that may not have been captured. */
enum { CAUSE, VALUE, ACTUAL, EXPECTED, MESSAGE, SERVICE_ID, CHADDR, CLIENT_ID, PATTERNS };

struct deviation {
    enum rule_number rule;
    char *reason;
    GPatternSpec *patterns[PATTERNS]; /* NULL: any */
};

struct deviations {
    GPtrArray *all;
};

static const char *const keys[] = {[CAUSE] = "cause",
                                   [VALUE] = "value",
                                   [ACTUAL] = "actual",
                                   [EXPECTED] = "expected",
                                   [MESSAGE] = "message",
                                   [SERVICE_ID] = "service-id",
                                   [CHADDR] = "chaddr",
                                   [CLIENT_ID] = "client-identifier",
                                   "implementation",
                                   "reason",
                                   "source",
                                   NULL};
static const char named[] = "known deviation of ";

static void deviation_free(gpointer p)
{
    struct deviation *d = p;
    g_free(d->reason);
    for (size_t i = 0; i < PATTERNS; i++)
        if (d->patterns[i])
            g_pattern_spec_free(d->patterns[i]);
    g_free(d);
}

static bool known_keys(GKeyFile *file, const char *group, GError **error)
{
    char **found = g_key_file_get_keys(file, group, NULL, NULL);
    bool good = true;
    for (char **k = found; k && *k && good; k++)
        if (!g_strv_contains(keys, *k)) {
            char *all = g_strjoinv(", ", (char **)keys);
            g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                        "[%s]: unknown key '%s' (known: %s)", group, *k, all);
            g_free(all);
            good = false;
        }
    g_strfreev(found);
    return good;
}

/* Sets *value to that of the key, NULL if the group has no such key. Returns false if it is not
 * UTF-8. */
static bool get_value(GKeyFile *file, const char *group, const char *key, char **value,
                      GError **error)
{
    GError *why = NULL;
    *value = g_key_file_get_string(file, group, key, &why);
    if (g_error_matches(why, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND))
        g_clear_error(&why);
    if (!why)
        return true;
    g_propagate_prefixed_error(error, why, "[%s]: ", group);
    return false;
}

/*
 * The reason as findings show it. Returns NULL and sets error: there is no reason, or the name of
 * the implementation is empty or contains a colon.
 */
static char *reason_of(GKeyFile *file, const char *group, GError **error)
{
    char *reason = NULL, *who = NULL, *whole = NULL;
    if (!get_value(file, group, "reason", &reason, error) ||
        !get_value(file, group, "implementation", &who, error))
        whole = NULL;
    else if (!reason || !*reason)
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, "[%s]: there is no reason",
                    group);
    else if (who && (!*who || strchr(who, ':')))
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                    "[%s]: the implementation's name is empty or has a colon", group);
    else
        whole = who ? g_strdup_printf("%s%s: %s", named, who, reason) : g_strdup(reason);
    g_free(reason);
    g_free(who);
    return whole;
}

static bool add_group(struct deviations *d, GKeyFile *file, const char *group, GError **error)
{
    char *id = g_strndup(group, strcspn(group, " "));
    const struct rule *rule = rule_find(id);
    g_free(id);
    if (!rule) {
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, "[%s]: no such rule", group);
        return false;
    }
    if (!known_keys(file, group, error))
        return false;
    struct deviation *v = g_new0(struct deviation, 1);
    g_ptr_array_add(d->all, v);
    v->rule = (enum rule_number)(rule - rules);
    v->reason = reason_of(file, group, error);
    if (!v->reason)
        return false;
    for (size_t i = 0; i < PATTERNS; i++) {
        char *pattern = NULL;
        if (!get_value(file, group, keys[i], &pattern, error))
            return false;
        v->patterns[i] = pattern ? g_pattern_spec_new(pattern) : NULL;
        g_free(pattern);
    }
    return true;
}

static struct deviations *read_groups(GKeyFile *file, GError **error)
{
    struct deviations *d = g_new0(struct deviations, 1);
    d->all = g_ptr_array_new_with_free_func(deviation_free);
    char **groups = g_key_file_get_groups(file, NULL);
    bool good = true;
    for (char **g = groups; *g && good; g++)
        good = add_group(d, file, *g, error);
    g_strfreev(groups);
    if (good)
        return d;
    deviations_free(d);
    return NULL;
}

/* A GKeyFile would merge two groups of one name. */
static bool has_each_group_once(const char *text, GError **error)
{
    char **lines = g_strsplit(text, "\n", -1);
    GHashTable *groups = g_hash_table_new(hash_string, g_str_equal);
    const char *again = NULL;
    for (char **line = lines; *line && !again; line++) {
        g_strstrip(*line);
        if (**line == '[' && !g_hash_table_add(groups, *line))
            again = *line;
    }
    if (again)
        g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                    "%s appears twice: add a space and another word after the rule", again);
    g_hash_table_destroy(groups);
    g_strfreev(lines);
    return !again;
}

static bool fail_file(GError **error, int number)
{
    g_set_error_literal(error, G_FILE_ERROR, (gint)g_file_error_from_errno(number),
                        g_strerror(number));
    return false;
}

/* Appends all bytes. A signal ends the read, unlike g_io_channel_read_to_end(). */
static bool read_all(int fd, GString *text, GError **error)
{
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        g_string_append_len(text, bytes, n);
    return n == 0 || fail_file(error, errno);
}

/* Also of a pipe. The bytes end with a zero byte. */
static bool read_bytes(const char *name, char **text, size_t *size, GError **error)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_file(error, errno);
    GString *bytes = g_string_new(NULL);
    bool good = read_all(fd, bytes, error);
    close(fd);
    *size = bytes->len;
    *text = g_string_free(bytes, FALSE);
    return good;
}

static bool load_file(GKeyFile *file, const char *name, GError **error)
{
    char *text = NULL;
    size_t size = 0;
    bool good = read_bytes(name, &text, &size, error) &&
                g_key_file_load_from_data(file, text, size, G_KEY_FILE_NONE, error) &&
                has_each_group_once(text, error);
    g_free(text);
    return good;
}

static bool load_list(GKeyFile *file, const char *name, GError **error)
{
    if (strcmp(name, "none") == 0)
        return true;
    if (strcmp(name, "linux") == 0)
        return g_key_file_load_from_data(file, deviations_linux_text, G_MAXSIZE, G_KEY_FILE_NONE,
                                         error);
    if (load_file(file, name, error))
        return true;
    if (!strchr(name, '/'))
        g_prefix_error(error, "neither a list of known deviations (linux, none) nor a file: ");
    return false;
}

struct deviations *deviations_open(const char *name, GError **error)
{
    GKeyFile *file = g_key_file_new();
    struct deviations *d = load_list(file, name, error) ? read_groups(file, error) : NULL;
    g_key_file_free(file);
    if (!d)
        g_prefix_error(error, "%s: ", name);
    return d;
}

void deviations_free(struct deviations *d)
{
    if (!d)
        return;
    g_ptr_array_unref(d->all);
    g_free(d);
}

static bool fits(const GPatternSpec *pattern, const char *text)
{
    return !pattern || (text && g_pattern_match_string((GPatternSpec *)pattern, text));
}

/*
 * Does the failure of its rule match? *missing: a pattern whose text was not captured, if only that
 * can decide; else PATTERNS.
 */
static bool matches(const struct deviation *v, const struct failure *f, size_t *missing)
{
    const char *const texts[PATTERNS] = {
        [CAUSE] = f->cause,       [VALUE] = f->value,        [ACTUAL] = f->actual,
        [EXPECTED] = f->expected, [MESSAGE] = f->message,    [SERVICE_ID] = f->service_id,
        [CHADDR] = f->chaddr,     [CLIENT_ID] = f->client_id};
    *missing = PATTERNS;
    for (size_t i = 0; i < PATTERNS; i++)
        if (i >= SERVICE_ID && v->patterns[i] && !texts[i])
            *missing = i;
        else if (!fits(v->patterns[i], texts[i])) {
            *missing = PATTERNS;
            return false;
        }
    return *missing == PATTERNS;
}

const char *deviations_reason(const struct deviations *d, const struct failure *failure)
{
    size_t missing;
    for (guint i = 0; d && i < d->all->len; i++) {
        const struct deviation *v = g_ptr_array_index(d->all, i);
        if (v->rule == failure->rule && matches(v, failure, &missing))
            return v->reason;
    }
    return NULL;
}

const char *deviations_undecided(const struct deviations *d, const struct failure *failure)
{
    static const char *const texts[PATTERNS] = {
        [SERVICE_ID] = "a known deviation or a violation: the Service-ID that the sender's "
                       "connections have was not captured",
        [CHADDR] = "a known deviation or a violation: the GUID of the client's port was not "
                   "captured",
        [CLIENT_ID] = "a known deviation or a violation: the GUID of the client's port was not "
                      "captured"};
    size_t missing = PATTERNS;
    for (guint i = 0; d && i < d->all->len && missing == PATTERNS; i++) {
        const struct deviation *v = g_ptr_array_index(d->all, i);
        if (v->rule == failure->rule)
            matches(v, failure, &missing);
    }
    return missing < PATTERNS ? texts[missing] : NULL;
}

char *deviation_implementation(const char *reason)
{
    if (!g_str_has_prefix(reason, named))
        return NULL;
    reason += strlen(named);
    return g_strndup(reason, strcspn(reason, ":"));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/deviation.h"

#include <string.h>

/*
 * The named lists, compiled in from rules/deviations/ so that the plugin needs no files beside it.
 */
extern const char deviations_linux_text[];

struct deviation {
    enum rule_number rule;
    char *reason;
    GPatternSpec *actual; /* NULL: any */
};

struct deviations {
    GPtrArray *all;
};

static const char *const keys[] = {"actual", "reason", "source", NULL};

static void deviation_free(gpointer p)
{
    struct deviation *d = p;
    g_free(d->reason);
    if (d->actual)
        g_pattern_spec_free(d->actual);
    g_free(d);
}

static bool known_keys(GKeyFile *file, const char *group, GError **error)
{
    char **found = g_key_file_get_keys(file, group, NULL, NULL);
    bool good = true;
    for (char **k = found; k && *k && good; k++)
        if (!g_strv_contains(keys, *k)) {
            g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                        "[%s]: unknown key '%s' (known: actual, reason, source)", group, *k);
            good = false;
        }
    g_strfreev(found);
    return good;
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
    v->reason = g_key_file_get_string(file, group, "reason", error);
    if (!v->reason)
        return false;
    char *pattern = g_key_file_get_string(file, group, "actual", NULL);
    v->actual = pattern ? g_pattern_spec_new(pattern) : NULL;
    g_free(pattern);
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

static bool load(GKeyFile *file, const char *name, GError **error)
{
    if (strcmp(name, "none") == 0)
        return true;
    if (strcmp(name, "linux") == 0)
        return g_key_file_load_from_data(file, deviations_linux_text, G_MAXSIZE, G_KEY_FILE_NONE,
                                         error);
    if (g_key_file_load_from_file(file, name, G_KEY_FILE_NONE, error))
        return true;
    if (!strchr(name, '/'))
        g_prefix_error(error, "neither a list of known deviations (linux, none) nor a file: ");
    return false;
}

struct deviations *deviations_open(const char *name, GError **error)
{
    GKeyFile *file = g_key_file_new();
    struct deviations *d = load(file, name, error) ? read_groups(file, error) : NULL;
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

const char *deviations_reason(const struct deviations *d, enum rule_number rule, const char *actual)
{
    for (guint i = 0; d && i < d->all->len; i++) {
        const struct deviation *v = g_ptr_array_index(d->all, i);
        if (v->rule == rule && (!v->actual || g_pattern_spec_match_string(v->actual, actual)))
            return v->reason;
    }
    return NULL;
}

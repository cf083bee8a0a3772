/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of the law of degradation as text. */
#include <string.h>

#include "fuzz/law_cases.h"

static const struct {
    const char *name;
    unsigned values; /* numbers after the name */
    bool each;       /* each frame has a value */
} kinds[LAW_KINDS] = {
    [LAW_REMOVE] = {"remove", 0, false}, [LAW_CUT] = {"cut", 0, true},
    [LAW_SLICE] = {"slice", 1, false},   [LAW_DUPLICATE] = {"duplicate", 1, true},
    [LAW_SWAP] = {"swap", 1, false},     [LAW_CLOCK] = {"clock", 2, false},
    [LAW_SPLIT] = {"split", 1, false},   [LAW_CRCS] = {"CRCs", 1, false},
    [LAW_DOUBLE] = {"double", 2, false},
};
static const char *const crcs[] = {"zeros", "junk", "inverted", "no-VCRC", "none", "not-captured"};

/* ---- to text */

/* Appends "3" or "3-5", and the value of these frames. */
static void append_run(GString *text, guint first, guint last, bool each, int32_t value)
{
    g_string_append_printf(text, "%s%u", g_str_has_suffix(text->str, " ") ? "" : ",", first + 1);
    if (last > first)
        g_string_append_printf(text, "-%u", last + 1);
    if (each)
        g_string_append_printf(text, ":%d", value);
}

static void append_frames(GString *text, const int32_t *of, guint n, bool each)
{
    guint last;
    g_string_append_c(text, ' ');
    for (guint i = 0; i < n; i = last + 1) {
        last = i;
        while (last + 1 < n && of[last + 1] == of[i])
            last++;
        if (of[i] != LAW_UNCHANGED)
            append_run(text, i, last, each, of[i]);
    }
}

static void append_change(GString *text, const struct law_change *change, guint n)
{
    g_string_append(text, kinds[change->kind].name);
    if (change->kind == LAW_CRCS)
        g_string_append_printf(text, " %s", crcs[change->values[0]]);
    else
        for (unsigned i = 0; i < kinds[change->kind].values; i++)
            g_string_append_printf(text, " %" G_GINT64_FORMAT, change->values[i]);
    if (change->of)
        append_frames(text, change->of, n, kinds[change->kind].each);
}

/* Between two parts of a case. */
static void append_separator(GString *text)
{
    if (text->len)
        g_string_append(text, "; ");
}

static void append_kept(GString *text, const struct law_case *x)
{
    guint n = x->capture->frames->len;
    int32_t *kept = g_new0(int32_t, n + 1);
    bool all = true;
    for (guint i = 0; i < n; i++)
        if (x->left_out[i]) {
            kept[i] = LAW_UNCHANGED;
            all = false;
        }
    if (!all) {
        g_string_append(text, "keep");
        append_frames(text, kept, n, false);
    }
    g_free(kept);
}

char *law_case_text(const struct law_case *x)
{
    GString *text = g_string_new(NULL);
    append_kept(text, x);
    for (guint i = 0; i < x->changes->len; i++) {
        append_separator(text);
        append_change(text, g_ptr_array_index(x->changes, i), x->capture->frames->len);
    }
    if (x->file.form != LAW_NO_FILE) {
        append_separator(text);
        g_string_append_printf(text, "as %s%s", law_form_name(x->file.form),
                               x->file.gzip ? " gzip" : "");
    }
    return g_string_free(text, FALSE);
}

/* ---- from text */

static bool read_number(const char *word, int64_t *value)
{
    return word && g_ascii_string_to_signed(word, 10, INT64_MIN, INT64_MAX, value, NULL);
}

/* Reads a number of at most INT32_MAX at *p, and moves *p behind it. */
static bool take_number(const char **p, int32_t *value)
{
    char *end;
    guint64 number = g_ascii_isdigit(**p) ? g_ascii_strtoull(*p, &end, 10) : G_MAXUINT64;
    if (number > INT32_MAX)
        return false;
    *p = end;
    *value = (int32_t)number;
    return true;
}

/* After this character; without it, the value stays. */
static bool take_after(const char **p, char mark, int32_t *value)
{
    if (**p != mark)
        return true;
    ++*p;
    return take_number(p, value);
}

/* "3", "3-5", "3-5:52"; no value: 0. */
static bool read_run(const char *word, int32_t *of, guint n)
{
    int32_t first, last, value = 0;
    if (!take_number(&word, &first))
        return false;
    last = first;
    if (!take_after(&word, '-', &last) || !take_after(&word, ':', &value) || *word || first < 1 ||
        (guint)last > n)
        return false;
    for (int32_t i = first - 1; i < last; i++)
        of[i] = value;
    return true;
}

static bool read_frames(const char *word, int32_t *of, guint n)
{
    if (word && strcmp(word, "all") == 0) {
        memset(of, 0, n * sizeof(*of));
        return true;
    }
    char **runs = g_strsplit(word ? word : "none", ",", -1);
    bool ok = true;
    for (char **run = runs; *run && ok; run++)
        ok = read_run(*run, of, n);
    g_strfreev(runs);
    return ok;
}

static bool read_kept(struct law_case *x, const char *word)
{
    struct law_change *kept = law_change_new(x->capture, LAW_REMOVE);
    bool ok = read_frames(word, kept->of, x->capture->frames->len);
    for (guint i = 0; i < x->capture->frames->len; i++)
        x->left_out[i] = kept->of[i] == LAW_UNCHANGED;
    law_change_free(kept);
    return ok;
}

static bool read_crcs(const char *word, int64_t *how)
{
    for (unsigned i = 0; word && i < LAW_CRCS_WAYS; i++)
        if (strcmp(word, crcs[i]) == 0) {
            *how = i;
            return true;
        }
    return false;
}

static bool read_change(struct law_case *x, enum law_kind kind, char **words)
{
    struct law_change *change = law_change_new(x->capture, kind);
    bool ok = true;
    g_ptr_array_add(x->changes, change);
    for (unsigned i = 0; i < kinds[kind].values && ok; i++, words++)
        ok = kind == LAW_CRCS ? read_crcs(*words, &change->values[i])
                              : read_number(*words, &change->values[i]);
    return ok && (!change->of || read_frames(*words, change->of, x->capture->frames->len));
}

static bool read_step(struct law_case *x, char **words)
{
    if (!words[0] || !words[1])
        return false;
    if (strcmp(words[0], "keep") == 0)
        return read_kept(x, words[1]);
    if (strcmp(words[0], "as") == 0) {
        x->file.gzip = words[2] && strcmp(words[2], "gzip") == 0;
        return law_form_called(words[1], &x->file.form);
    }
    for (enum law_kind kind = 0; kind < LAW_KINDS; kind++)
        if (strcmp(words[0], kinds[kind].name) == 0)
            return read_change(x, kind, words + 1);
    return false;
}

bool law_case_parse(struct law_case *x, const char *text)
{
    char **steps = g_strsplit(text, ";", -1);
    bool ok = true;
    for (char **step = steps; *step && ok; step++) {
        char **words = g_strsplit(g_strstrip(*step), " ", -1);
        ok = read_step(x, words);
        g_strfreev(words);
    }
    g_strfreev(steps);
    return ok;
}

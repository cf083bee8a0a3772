/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest form of a case of the law of degradation. */
#include <string.h>

#include "fuzz/law_cases.h"

enum { MOST_TRIES = 3000 };

struct search {
    struct law_case *x;
    const char *violation;
    bool is_added; /* or hidden */
    unsigned tries;
};

static bool still_breaks(struct search *s)
{
    if (s->tries++ >= MOST_TRIES)
        return false;
    GHashTable *found = law_case_violations(s->x);
    bool breaks = g_hash_table_contains(found, s->violation) == s->is_added;
    g_hash_table_destroy(found);
    return breaks;
}

/* Returns true if a step was not needed. */
static bool fewer_steps(struct search *s)
{
    GPtrArray *changes = s->x->changes;
    for (guint i = 0; i < changes->len; i++) {
        struct law_change *one = g_ptr_array_steal_index(changes, i);
        if (still_breaks(s)) {
            law_change_free(one);
            return true;
        }
        g_ptr_array_insert(changes, (gint)i, one);
    }
    return false;
}

/* The change without the first or the second half of its frames. Returns false for less than two.
 */
static bool take_half(int32_t *of, guint n, bool second)
{
    guint all = 0, seen = 0;
    for (guint i = 0; i < n; i++)
        all += of[i] != LAW_UNCHANGED;
    for (guint i = 0; i < n && all > 1; i++)
        if (of[i] != LAW_UNCHANGED && (seen++ >= all / 2) == second)
            of[i] = LAW_UNCHANGED;
    return all > 1;
}

static bool halve(struct search *s, struct law_change *change, bool second)
{
    guint n = s->x->capture->frames->len;
    int32_t *before = g_memdup2(change->of, n * sizeof(*before));
    bool smaller = take_half(change->of, n, second) && still_breaks(s);
    if (!smaller)
        memcpy(change->of, before, n * sizeof(*before));
    g_free(before);
    return smaller;
}

/* A source has all its CRCs, or none. */
static bool smaller_steps(struct search *s)
{
    for (guint i = 0; i < s->x->changes->len; i++) {
        struct law_change *change = g_ptr_array_index(s->x->changes, i);
        if (change->of && change->kind != LAW_CRCS &&
            (halve(s, change, false) || halve(s, change, true)))
            return true;
    }
    return false;
}

static void smaller_chain(struct search *s)
{
    while (fewer_steps(s) || smaller_steps(s))
        ;
}

/* Leaves out each run of this number of frames that the violation does not need. */
static void fewer_frames(struct search *s, guint size)
{
    guint n = s->x->capture->frames->len;
    bool *left_out = s->x->left_out, *before = g_new(bool, n + 1);
    for (guint at = 0; at < n; at += size) {
        guint run = MIN(size, n - at);
        memcpy(before, left_out, n);
        memset(left_out + at, true, run);
        if (memcmp(before, left_out, n) != 0 && !still_breaks(s))
            memcpy(left_out, before, n);
    }
    g_free(before);
}

static void without_file(struct search *s)
{
    struct law_file before = s->x->file;
    s->x->file = (struct law_file){LAW_NO_FILE, false};
    if (!still_breaks(s))
        s->x->file = before;
}

void law_reduce(struct law_case *x, const char *violation)
{
    struct search s = {x, violation, strcmp(law_case_verb(x, violation), "adds") == 0, 0};
    without_file(&s);
    smaller_chain(&s);
    if (s.is_added) /* a violating capture keeps its frames */
        for (guint size = MAX(1, x->capture->frames->len / 4); size; size /= 2)
            fewer_frames(&s, size);
    smaller_chain(&s);
}

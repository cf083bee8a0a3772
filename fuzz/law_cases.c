/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases of the law of degradation: frames, and violations against the law. */
#include "fuzz/law_cases.h"

void law_case_init(struct law_case *x, const struct law_capture *c)
{
    *x = (struct law_case){.capture = c, .file = {LAW_NO_FILE, false}};
    x->left_out = g_new0(bool, c->frames->len + 1);
    x->changes = g_ptr_array_new_with_free_func((GDestroyNotify)law_change_free);
}

void law_case_free(struct law_case *x)
{
    g_free(x->left_out);
    g_ptr_array_unref(x->changes);
}

void law_case_frames(const struct law_case *x, struct law_frames *f)
{
    struct law_change *remove = law_change_new(x->capture, LAW_REMOVE);
    for (guint i = 0; i < x->capture->frames->len; i++)
        remove->of[i] = x->left_out[i] ? 0 : LAW_UNCHANGED;
    law_frames_init(f, x->capture);
    law_apply(x->capture, remove, f);
    for (guint i = 0; i < x->changes->len && f->frames->len; i++)
        law_apply(x->capture, g_ptr_array_index(x->changes, i), f);
    law_change_free(remove);
}

GHashTable *law_case_violations(const struct law_case *x)
{
    int linktype = x->capture->linktype;
    struct law_frames f;
    law_case_frames(x, &f);
    bool in_file = x->file.form != LAW_NO_FILE && f.frames->len;
    GHashTable *found = in_file ? law_violations_in_file(linktype, f.frames, x->file)
                                : law_violations(linktype, f.frames);
    law_frames_free(&f);
    return found;
}

/* Must the case add no violation? Otherwise it must not hide one. */
static bool must_add_none(const struct law_case *x)
{
    return x->removes || law_conforms(x->capture);
}

/* Nothing happens but that every frame is captured twice: the violations stay the same. */
static bool must_stay(const struct law_case *x)
{
    bool doubles = x->changes->len > 0;
    for (guint i = 0; i < x->changes->len && doubles; i++)
        doubles = ((const struct law_change *)g_ptr_array_index(x->changes, i))->kind == LAW_DOUBLE;
    return doubles;
}

const char *law_case_broken(const struct law_case *x, GHashTable *found)
{
    GHashTable *violated = x->capture->violated;
    bool add_none = must_add_none(x);
    const char *added = add_none || must_stay(x) ? law_first_missing(found, violated) : NULL;
    const char *lost = added || add_none ? NULL : law_first_missing(violated, found);
    return added ? added : lost;
}

const char *law_case_verb(const struct law_case *x, const char *violation)
{
    return g_hash_table_contains(x->capture->violated, violation) ? "loses" : "adds";
}

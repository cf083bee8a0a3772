/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * law-chains [OPTION VALUE]... CAPTURE...: chains of the law of degradation (fuzz/law.h) on the
 * captures in turn, some of them written as a capture file and read again. script/law calls it.
 *
 *   --chains N      random chains (default: 10000)
 *   --gaps N        instead: random removals of N gaps of 1 to 20 consecutive frames
 *   --longest N     instead: all removals of one gap of 1 to N frames
 *   --chain TEXT    instead: this chain on each capture (fuzz/law_cases.h)
 *   --first N       number of the first chain (default: 0)
 *   --seed S        of the random choices (default: 1)
 *   --keep FOLDER   write the files that break the law there
 *   --files FOLDER  write the file of every chain there
 *
 * Removals must not add a violation to a capture with violations either.
 *
 * Prints each chain that breaks the law, once for each capture and violation, reduced to few steps
 * and frames, and the rate per second of CPU time. Exit status: 1 a chain breaks the law, 2 usage,
 * or a file cannot be read.
 *
 * The draw of a chain depends on the seed, its number and the capture's file name:
 * --first NUMBER --chains 1 with this capture only repeats it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/law_cases.h"

enum { LONGEST_GAP = 20 };

struct options {
    uint64_t chains, gaps, longest, first, seed;
    const char *chain, *keep, *files;
};

struct capture {
    char *name;
    struct law_capture *law;
};

/* A run over chains: what it has found. */
struct run {
    const struct options *options;
    GHashTable *shown; /* capture and violation */
    uint64_t chains, broken;
};

/* ---- captures */

/* A capture without a frame is left out. Returns false if a file cannot be read. */
static bool read_captures(char **paths, int n, GArray *captures)
{
    for (int i = 0; i < n; i++) {
        GError *error = NULL;
        struct capture c = {NULL, law_read(paths[i], &error)};
        if (error) {
            fprintf(stderr, "law-chains: %s %s\n", paths[i], error->message);
            g_error_free(error);
            return false;
        }
        c.name = g_path_get_basename(paths[i]);
        if (c.law)
            g_array_append_val(captures, c);
        else
            g_free(c.name);
    }
    return captures->len > 0;
}

static void free_captures(GArray *captures)
{
    for (guint i = 0; i < captures->len; i++) {
        struct capture *c = &g_array_index(captures, struct capture, i);
        law_capture_free(c->law);
        g_free(c->name);
    }
    g_array_unref(captures);
}

/* ---- what breaks the law */

static void keep_file(const struct law_case *x, const char *folder, const char *name)
{
    struct law_frames f;
    law_case_frames(x, &f);
    GByteArray *bytes = law_file_bytes(x->capture->linktype, f.frames, x->file);
    char *path = g_build_filename(folder, name, NULL);
    GError *error = NULL;
    if (!g_file_set_contents(path, (const char *)bytes->data, bytes->len, &error)) {
        fprintf(stderr, "law-chains: %s\n", error->message);
        exit(2);
    }
    g_free(path);
    g_byte_array_unref(bytes);
    law_frames_free(&f);
}

static void show(const struct run *run, struct law_case *x, const char *name, const char *line)
{
    char *text = law_case_text(x);
    printf("%s %s\n    with %s\n", name, line, text);
    fflush(stdout);
    g_free(text);
    if (run->options->keep)
        keep_file(x, run->options->keep, name);
}

/* name: of the chain. Shows it, unless the same violation of the capture was shown. */
static void report(struct run *run, const char *capture, struct law_case *x, const char *name,
                   const char *violation)
{
    char *line = g_strdup_printf("%s %s", law_case_verb(x, violation), violation);
    run->broken++;
    if (g_hash_table_add(run->shown, g_strdup_printf("%s %s", capture, line))) {
        law_reduce(x, violation);
        show(run, x, name, line);
    }
    g_free(line);
}

/* Takes name, which names the case in the report. */
static void check_case(struct run *run, const struct capture *c, struct law_case *x, char *name)
{
    GHashTable *found = law_case_violations(x);
    const char *violation = law_case_broken(x, found);
    run->chains++;
    if (run->options->files)
        keep_file(x, run->options->files, name);
    if (violation)
        report(run, c->name, x, name, violation);
    g_hash_table_destroy(found);
    g_free(name);
}

static char *name_of(const struct capture *c, const struct options *o, uint64_t number)
{
    return g_strdup_printf("%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, c->name, o->seed, number);
}

static struct law_random random_of(const struct capture *c, const struct options *o,
                                   uint64_t number)
{
    return (struct law_random){o->seed ^ number << 32 ^ g_str_hash(c->name)};
}

/* ---- random chains */

static struct law_chain draw(const struct capture *c, struct law_random *r)
{
    /* frames are lost more often than anything else happens */
    static const enum law_kind kinds[] = {LAW_REMOVE, LAW_REMOVE,    LAW_CUT,
                                          LAW_SLICE,  LAW_DUPLICATE, LAW_SWAP,
                                          LAW_CLOCK,  LAW_SPLIT,     LAW_CRCS};
    static const enum law_kind keeping[] = {LAW_SPLIT, LAW_CRCS};
    bool conforms = law_conforms(c->law);
    struct law_chain chain = {.n = 1 + law_below(r, LAW_STEPS)};
    for (unsigned i = 0; i < chain.n; i++) {
        chain.steps[i].kind = conforms ? kinds[law_below(r, G_N_ELEMENTS(kinds))]
                                       : keeping[law_below(r, G_N_ELEMENTS(keeping))];
        chain.steps[i].seed = (uint32_t)law_next(r);
    }
    law_make_valid(c->law, &chain);
    return chain;
}

/*
 * In every fourth chain, every frame is captured twice: before all other steps, or after them.
 * Drawn apart, so that the other steps of a chain do not depend on it.
 */
static void draw_double(const struct law_capture *c, struct law_random r, struct law_chain *chain)
{
    unsigned how = law_below(&r, 8);
    struct law_step step = {LAW_DOUBLE, (uint32_t)law_next(&r)};
    if (how > 1)
        return;
    if (how == 0)
        memmove(chain->steps + 1, chain->steps, chain->n * sizeof step);
    chain->steps[how == 0 ? 0 : chain->n] = step;
    chain->n++;
    law_make_valid(c, chain);
}

static void run_chain(struct run *run, const struct capture *c, uint64_t number)
{
    struct law_random r = random_of(c, run->options, number);
    struct law_chain chain = draw(c, &r);
    draw_double(c->law, (struct law_random){~r.state}, &chain);
    struct law_case x;
    struct law_frames f;
    law_case_init(&x, c->law);
    law_frames_init(&f, c->law);
    law_apply_chain(c->law, &chain, &f, x.changes);
    x.file = law_draw_file(c->law->linktype, f.frames, &r);
    check_case(run, c, &x, name_of(c, run->options, number));
    law_frames_free(&f);
    law_case_free(&x);
}

/* ---- removals */

static void leave_out(struct law_case *x, guint first, guint count)
{
    for (guint i = first; i < first + count && i < x->capture->frames->len; i++)
        x->left_out[i] = true;
}

static void run_gaps(struct run *run, const struct capture *c, uint64_t number)
{
    struct law_random r = random_of(c, run->options, number);
    struct law_case x;
    law_case_init(&x, c->law);
    x.removes = true;
    for (uint64_t i = 0; i < run->options->gaps; i++) {
        guint first = law_below(&r, c->law->frames->len);
        leave_out(&x, first, 1 + law_below(&r, LONGEST_GAP));
    }
    check_case(run, c, &x, name_of(c, run->options, number));
    law_case_free(&x);
}

static void run_gap(struct run *run, const struct capture *c, guint first, guint count)
{
    struct law_case x;
    law_case_init(&x, c->law);
    x.removes = true;
    leave_out(&x, first, count);
    check_case(run, c, &x, g_strdup_printf("%s without %u-%u", c->name, first + 1, first + count));
    law_case_free(&x);
}

/* At least one frame remains. */
static void run_each_gap(struct run *run, const struct capture *c)
{
    guint n = c->law->frames->len;
    for (guint count = 1; count <= run->options->longest && count < n; count++)
        for (guint first = 0; first + count <= n; first++)
            run_gap(run, c, first, count);
}

/* ---- a given chain */

static void run_text(struct run *run, const struct capture *c)
{
    struct law_case x;
    law_case_init(&x, c->law);
    if (!law_case_parse(&x, run->options->chain)) {
        fprintf(stderr, "law-chains: no chain of %s: %s\n", c->name, run->options->chain);
        exit(2);
    }
    check_case(run, c, &x, g_strdup(c->name));
    law_case_free(&x);
}

/* ---- */

/* captures: at least one. */
static void run_all(struct run *run, const GArray *captures)
{
    const struct options *o = run->options;
    g_assert(captures->len);
    for (guint i = 0; i < captures->len && (o->chain || o->longest); i++) {
        const struct capture *c = &g_array_index(captures, struct capture, i);
        if (o->chain)
            run_text(run, c);
        else
            run_each_gap(run, c);
    }
    for (uint64_t n = o->first; n < o->first + o->chains && !o->chain && !o->longest; n++) {
        const struct capture *c = &g_array_index(captures, struct capture, n % captures->len);
        if (o->gaps)
            run_gaps(run, c, n);
        else
            run_chain(run, c, n);
    }
}

static bool read_option(const char *name, const char *value, struct options *o)
{
    uint64_t *number = strcmp(name, "--chains") == 0    ? &o->chains
                       : strcmp(name, "--gaps") == 0    ? &o->gaps
                       : strcmp(name, "--longest") == 0 ? &o->longest
                       : strcmp(name, "--first") == 0   ? &o->first
                       : strcmp(name, "--seed") == 0    ? &o->seed
                                                        : NULL;
    const char **text = strcmp(name, "--chain") == 0   ? &o->chain
                        : strcmp(name, "--keep") == 0  ? &o->keep
                        : strcmp(name, "--files") == 0 ? &o->files
                                                       : NULL;
    if (text)
        *text = value;
    return text || (number && g_ascii_string_to_unsigned(value, 10, 0, INT64_MAX, number, NULL));
}

/* Returns the index of the first capture's path; 0: wrong usage. */
static int read_arguments(int argc, char **argv, struct options *o)
{
    int i = 1;
    for (; i + 1 < argc && g_str_has_prefix(argv[i], "--"); i += 2)
        if (!read_option(argv[i], argv[i + 1], o))
            return 0;
    return i < argc && argv[i][0] != '-' ? i : 0;
}

static void print_figures(const struct run *run, guint captures, double seconds)
{
    printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
           " chains break the law (%u captures, seed %" G_GUINT64_FORMAT
           "), %.0f chains a second of CPU time\n",
           run->broken, run->chains, captures, run->options->seed,
           (double)run->chains / (seconds > 0 ? seconds : 1));
}

int main(int argc, char **argv)
{
    struct options o = {.chains = 10000, .seed = 1};
    int first = read_arguments(argc, argv, &o);
    GArray *captures = g_array_new(FALSE, FALSE, sizeof(struct capture));
    if (!first)
        fprintf(stderr, "law-chains [OPTION VALUE]... CAPTURE..., see fuzz/law_chains.c\n");
    if (!first || !read_captures(argv + first, argc - first, captures)) {
        free_captures(captures);
        return 2;
    }
    struct run run = {&o, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), 0, 0};
    clock_t began = clock();
    run_all(&run, captures);
    print_figures(&run, captures->len, (double)(clock() - began) / CLOCKS_PER_SEC);
    g_hash_table_destroy(run.shown);
    free_captures(captures);
    return run.broken ? 1 : 0;
}

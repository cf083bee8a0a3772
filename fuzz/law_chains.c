/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * law-chains [--random N] [--first N] [--seed S] CAPTURE...: N random chains of the law of
 * degradation (fuzz/law.h), over the captures in turn. Prints each chain that breaks the law, once
 * for each capture and violation, and the rate per second of CPU time. Exit status: 1 a chain
 * breaks the law, 2 usage.
 *
 * The draw of a chain depends on the seed, its number and the capture's file name:
 * --first NUMBER --random 1 with this capture only repeats it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz/law.h"
#include "pcapio/capfile.h"
#include "wire/link_frame.h"

struct options {
    uint64_t random, first, seed;
};

/* ---- captures */

/* An ERF record's InfiniBand packet is taken out of it; its port is the interface. */
static bool packet_of(const struct capfile_frame *f, struct law_frame *out, int *linktype)
{
    struct link_frame c;
    *linktype = f->linktype;
    *out = (struct law_frame){.interface = f->interface,
                              .cap = f->caplen,
                              .wire = f->wirelen,
                              .ns = f->ns,
                              .bytes = f->bytes};
    if (f->linktype != LINKTYPE_ERF)
        return true;
    struct view v = view_make(f->bytes, f->caplen, f->wirelen);
    if (link_frame_locate(f->linktype, v, &c) != WIRE_OK || c.start != IB_START_LRH)
        return false;
    *linktype = LINKTYPE_INFINIBAND;
    out->interface = c.port;
    out->bytes = c.inner.p;
    out->cap = c.inner.cap;
    out->wire = c.inner.len;
    return true;
}

/* The frames of the first one's link type; NULL: the file cannot be read. */
static struct law_capture *read_capture(const char *path)
{
    struct capfile *file = capfile_open(path, NULL);
    struct law_capture *c = NULL;
    struct capfile_frame f;
    struct law_frame frame;
    int linktype;
    if (!file)
        return NULL;
    while (capfile_next(file, &f, NULL) == CAPFILE_FRAME) {
        if (!packet_of(&f, &frame, &linktype))
            continue;
        if (!c)
            c = law_capture_new(linktype);
        if (linktype == c->linktype)
            law_add(c, &frame);
    }
    capfile_close(file);
    if (c)
        law_check(c);
    return c;
}

struct capture {
    char *name;
    struct law_capture *law;
};

static GArray *read_captures(char **paths, int n)
{
    GArray *captures = g_array_new(FALSE, FALSE, sizeof(struct capture));
    for (int i = 0; i < n; i++) {
        struct capture c = {g_path_get_basename(paths[i]), read_capture(paths[i])};
        if (c.law)
            g_array_append_val(captures, c);
        else
            g_free(c.name);
    }
    return captures;
}

/* ---- chains */

static struct law_chain draw(const struct capture *c, uint64_t seed, uint64_t number)
{
    /* frames are lost more often than anything else happens */
    static const enum law_kind kinds[] = {LAW_REMOVE, LAW_REMOVE,    LAW_CUT,
                                          LAW_SLICE,  LAW_DUPLICATE, LAW_SWAP,
                                          LAW_CLOCK,  LAW_SPLIT,     LAW_CRCS};
    static const enum law_kind keeping[] = {LAW_SPLIT, LAW_CRCS};
    bool conforms = g_hash_table_size(c->law->violated) == 0;
    struct law_random r = {seed ^ number << 32 ^ g_str_hash(c->name)};
    struct law_chain chain = {.n = 1 + law_below(&r, LAW_STEPS)};
    for (unsigned i = 0; i < chain.n; i++) {
        chain.steps[i].kind = conforms ? kinds[law_below(&r, G_N_ELEMENTS(kinds))]
                                       : keeping[law_below(&r, G_N_ELEMENTS(keeping))];
        chain.steps[i].seed = (uint32_t)law_next(&r);
    }
    law_make_valid(c->law, &chain);
    return chain;
}

/* Takes LINE. Returns false if the set has it already. */
static bool add_line(GHashTable *shown, char *line)
{
    return g_hash_table_add(shown, line);
}

/* Returns true if the chain breaks the law. */
static bool run_chain(const struct capture *c, const struct options *o, uint64_t number,
                      GHashTable *shown)
{
    struct law_chain chain = draw(c, o->seed, number);
    char *broken = law_broken_by(c->law, &chain);
    if (!broken)
        return false;
    char *line = g_strdup_printf("%s %s", c->name, broken);
    if (add_line(shown, line)) {
        char *text = law_text(&chain);
        printf("%s (seed %" G_GUINT64_FORMAT ", chain %" G_GUINT64_FORMAT "): %s\n", line, o->seed,
               number, text);
        fflush(stdout);
        g_free(text);
    }
    g_free(broken);
    return true;
}

static uint64_t run_chains(const GArray *captures, const struct options *o)
{
    GHashTable *shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint64_t broken = 0;
    for (uint64_t n = o->first; n < o->first + o->random; n++)
        broken += run_chain(&g_array_index(captures, struct capture, n % captures->len), o, n,
                            shown);
    g_hash_table_destroy(shown);
    return broken;
}

/* ---- */

static void free_captures(GArray *captures)
{
    for (guint i = 0; i < captures->len; i++) {
        struct capture *c = &g_array_index(captures, struct capture, i);
        law_capture_free(c->law);
        g_free(c->name);
    }
    g_array_unref(captures);
}

/* Returns the index of the first capture's path; 0: wrong usage. */
static int read_arguments(int argc, char **argv, struct options *o)
{
    int i = 1;
    for (; i + 1 < argc && g_str_has_prefix(argv[i], "--"); i += 2) {
        uint64_t *value = strcmp(argv[i], "--random") == 0  ? &o->random
                          : strcmp(argv[i], "--first") == 0 ? &o->first
                          : strcmp(argv[i], "--seed") == 0  ? &o->seed
                                                            : NULL;
        if (!value || !g_ascii_string_to_unsigned(argv[i + 1], 10, 0, INT64_MAX, value, NULL))
            return 0;
    }
    return i < argc && argv[i][0] != '-' ? i : 0;
}

int main(int argc, char **argv)
{
    struct options o = {.random = 10000, .seed = 1};
    int first = read_arguments(argc, argv, &o);
    GArray *captures = first ? read_captures(argv + first, argc - first) : NULL;
    if (!captures || !captures->len) {
        fprintf(stderr, "law-chains [--random N] [--first N] [--seed S] CAPTURE...\n");
        return 2;
    }
    clock_t began = clock();
    uint64_t broken = run_chains(captures, &o);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
           " chains break the law (%u captures, seed %" G_GUINT64_FORMAT
           "), %.0f chains a second of CPU time\n",
           broken, o.random, captures->len, o.seed, (double)o.random / (seconds ? seconds : 1));
    free_captures(captures);
    return broken ? 1 : 0;
}

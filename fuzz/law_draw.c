/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a step of the law of degradation changes: drawn from its seed. */
#include <string.h>

#include "fuzz/law.h"
#include "model/order.h"
#include "wire/linktype.h"
#include "wire/nanoseconds.h"

/*
 * A chain may duplicate frames and swap them, before or after that. So each step takes a part of
 * the window of model/order.h: together they stay within it.
 */
static const int64_t swap_ns = ORDER_MS * 1000000LL / 4, duplicate_ns = ORDER_MS * 1000000LL / 2;
enum { LATEST_COPY = ORDER_FRAMES - 2 }; /* frames between a frame and its copy */

/* ---- chosen frames */

static void choose_gaps(bool *chosen, struct law_random *r, uint32_t n)
{
    static const uint8_t gaps[] = {1, 1, 2, 5};
    for (unsigned i = gaps[law_below(r, 4)]; i > 0; i--) {
        uint32_t first = law_below(r, n), length = 1 + law_below(r, 20);
        for (uint32_t k = first; k < first + length && k < n; k++)
            chosen[k] = true;
    }
}

/* Each frame with this probability, and at least one. */
static void choose_some(bool *chosen, struct law_random *r, uint32_t n, uint32_t percent)
{
    for (uint32_t i = 0; i < n; i++)
        chosen[i] = law_below(r, 100) < percent;
    chosen[law_below(r, n)] = true;
}

/* Some frames of the whole capture: gaps, single frames, the start, the end, or nearly all. */
static bool *choose_frames(const struct law_capture *c, struct law_random *r)
{
    static const uint8_t percents[] = {1, 5, 30};
    uint32_t n = c->frames->len, from = 0, to = 0, percent = percents[law_below(r, 3)];
    bool *chosen = g_new0(bool, n);
    switch (law_below(r, 6)) {
    case 0:
        choose_some(chosen, r, n, percent);
        break;
    case 1:
        to = law_below(r, n);
        break;
    case 2:
        from = law_below(r, n);
        to = n;
        break;
    case 3:
        choose_some(chosen, r, n, 80);
        break;
    default:
        choose_gaps(chosen, r, n);
    }
    memset(chosen + from, true, to - from);
    return chosen;
}

static bool *choose_sender(const struct law_capture *c, struct law_random *r)
{
    uint64_t port = g_array_index(c->ports, uint64_t, law_below(r, c->ports->len));
    bool *chosen = g_new0(bool, c->frames->len);
    for (guint i = 0; i < c->frames->len; i++)
        chosen[i] = law_port(c, law_at(c->frames, i)) == port;
    return chosen;
}

/* ---- steps */

/* Takes chosen. */
static void change_chosen(const struct law_capture *c, struct law_change *out, bool *chosen)
{
    for (guint i = 0; i < c->frames->len; i++)
        if (chosen[i])
            out->of[i] = 0;
    g_free(chosen);
}

/* Some frames, or the frames that one port sends. */
static void draw_removed(const struct law_capture *c, struct law_random *r, struct law_change *out)
{
    bool sender = law_below(r, 10) == 0 && c->ports->len;
    change_chosen(c, out, sender ? choose_sender(c, r) : choose_frames(c, r));
}

static void draw_cut(const struct law_capture *c, struct law_random *r, const GArray *frames,
                     struct law_change *out)
{
    bool *chosen = choose_frames(c, r);
    for (guint i = 0; i < frames->len; i++)
        if (chosen[law_at(frames, i)->number])
            out->of[law_at(frames, i)->number] = (int32_t)law_below(r, 250);
    g_free(chosen);
}

static int64_t draw_snaplen(struct law_random *r)
{
    const uint32_t snaplens[] = {8 + law_below(r, 392), 64, 96, 128, 256};
    return snaplens[law_below(r, 5)];
}

static void draw_duplicates(const struct law_capture *c, struct law_random *r, const GArray *frames,
                            struct law_change *out)
{
    static const uint8_t later[] = {0, 0, 1, 3, LATEST_COPY};
    bool *chosen = choose_frames(c, r);
    for (guint i = 0; i < frames->len; i++) {
        uint8_t places = later[law_below(r, 5)];
        if (chosen[law_at(frames, i)->number])
            out->of[law_at(frames, i)->number] = places;
    }
    out->values[0] = duplicate_ns;
    g_free(chosen);
}

static void draw_clock(struct law_random *r, struct law_change *out)
{
    static const int64_t units[] = {
        1, 1000, 1000000, NANOSECONDS, 60 * NANOSECONDS, 86400 * NANOSECONDS};
    out->values[0] = law_below(r, 2);
    int64_t unit = units[law_below(r, 6)], ns = unit * (1 + law_below(r, 9));
    out->values[1] = law_below(r, 2) ? ns : -ns;
}

/* Mostly the port that sends the most frames. No port: the port 0, which sends none. */
static int64_t draw_port(const struct law_capture *c, struct law_random *r)
{
    if (!c->ports->len)
        return 0;
    guint which = law_below(r, 2) ? 0 : law_below(r, c->ports->len);
    return (int64_t)g_array_index(c->ports, uint64_t, which);
}

static void draw_double(struct law_random *r, struct law_change *out)
{
    static const int64_t later[] = {0, 2, LAW_LATER};
    out->values[0] = later[law_below(r, G_N_ELEMENTS(later))];
    out->values[1] = law_below(r, 1 + (LAW_ON_ANOTHER | LAW_WITH_ANOTHER_VL));
}

/* Of some sources, or of all. */
static GHashTable *choose_sources(const struct law_capture *c, struct law_random *r)
{
    GHashTable *chosen = g_hash_table_new(NULL, NULL);
    bool all = law_below(r, 2) || !law_conforms(c);
    uint32_t n = c->sources->len;
    for (uint32_t i = 0; i < n; i++)
        if (all || law_below(r, 2))
            g_hash_table_add(chosen, GUINT_TO_POINTER(g_array_index(c->sources, uint32_t, i)));
    return chosen;
}

static void draw_crcs(const struct law_capture *c, struct law_random *r, struct law_change *out)
{
    out->values[0] = law_below(r, LAW_CRCS_WAYS);
    GHashTable *chosen = choose_sources(c, r);
    for (guint i = 0; i < c->frames->len; i++)
        if (g_hash_table_contains(chosen, GUINT_TO_POINTER(c->source[i])))
            out->of[i] = 0;
    g_hash_table_destroy(chosen);
}

struct law_change *law_draw(const struct law_capture *c, struct law_step step, const GArray *frames)
{
    struct law_change *out = law_change_new(c, step.kind);
    struct law_random r = {step.seed};
    switch (step.kind) {
    case LAW_REMOVE:
        draw_removed(c, &r, out);
        break;
    case LAW_CUT:
        draw_cut(c, &r, frames, out);
        break;
    case LAW_SLICE:
        out->values[0] = draw_snaplen(&r);
        break;
    case LAW_DUPLICATE:
        draw_duplicates(c, &r, frames, out);
        break;
    case LAW_SWAP:
        change_chosen(c, out, choose_frames(c, &r));
        out->values[0] = swap_ns;
        break;
    case LAW_CLOCK:
        draw_clock(&r, out);
        break;
    case LAW_SPLIT:
        out->values[0] = draw_port(c, &r);
        break;
    case LAW_CRCS:
        draw_crcs(c, &r, out);
        break;
    case LAW_DOUBLE:
        draw_double(&r, out);
        break;
    case LAW_KINDS:
        break;
    }
    return out;
}

/* ---- chains */

/* A second one may undo the first, or leave the window. */
static bool is_once(enum law_kind kind)
{
    return kind == LAW_SLICE || kind == LAW_DUPLICATE || kind == LAW_SWAP || kind >= LAW_CLOCK;
}

static bool is_allowed(const struct law_capture *c, enum law_kind kind)
{
    bool keeps = kind == LAW_SPLIT || kind == LAW_CRCS || kind == LAW_DOUBLE;
    if (kind == LAW_CRCS && c->linktype != LINKTYPE_INFINIBAND)
        return false;
    return keeps || law_conforms(c);
}

/*
 * Two directions and their copies are four interfaces: nothing
 * shows at first which of two equal requests a response answers, so the interfaces are joined late,
 * and violations may be inconclusive until then.
 */
static bool excludes(const struct law_capture *c, const bool *used, enum law_kind kind)
{
    bool four = (kind == LAW_DOUBLE && used[LAW_SPLIT]) || (kind == LAW_SPLIT && used[LAW_DOUBLE]);
    return (used[kind] && is_once(kind)) || (four && !law_conforms(c));
}

void law_make_valid(const struct law_capture *c, struct law_chain *chain)
{
    struct law_chain valid = {0};
    struct law_step clock = {LAW_KINDS, 0};
    bool used[LAW_KINDS] = {false};
    for (unsigned i = 0; i < chain->n; i++) {
        struct law_step step = chain->steps[i];
        if (!is_allowed(c, step.kind) || excludes(c, used, step.kind))
            continue;
        used[step.kind] = true;
        if (step.kind == LAW_CLOCK)
            clock = step; /* the last one: it applies to the interfaces of a split */
        else
            valid.steps[valid.n++] = step;
    }
    if (clock.kind == LAW_CLOCK)
        valid.steps[valid.n++] = clock;
    *chain = valid;
}

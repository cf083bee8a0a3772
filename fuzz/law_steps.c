/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transformations of the law of degradation; each draws what it changes from its seed. */
#include <string.h>

#include "fuzz/law.h"
#include "wire/ib.h"
#include "model/order.h"
#include "wire/linktype.h"
#include "wire/nanoseconds.h"

enum { VCRC = 2, ICRC = 4, CRCS = VCRC + ICRC, SMALLEST = LAW_LRH + 12 + CRCS };
/*
 * A chain may duplicate frames and swap them, before or after that. So each step takes a part of
 * the window of model/order.h: together they stay within it.
 */
static const int64_t swap_ns = ORDER_MS * 1000000LL / 4, duplicate_ns = ORDER_MS * 1000000LL / 2;
enum { LATEST_COPY = ORDER_FRAMES - 2 }; /* frames between a frame and its copy */

static struct law_frame *at(GArray *frames, guint i)
{
    return &g_array_index(frames, struct law_frame, i);
}

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

/* ---- frames that are lost, or end early */

static bool *choose_sender(const struct law_capture *c, struct law_random *r)
{
    uint64_t port = g_array_index(c->ports, uint64_t, law_below(r, c->ports->len));
    bool *chosen = g_new0(bool, c->frames->len);
    for (guint i = 0; i < c->frames->len; i++)
        chosen[i] = law_port(c, at(c->frames, i)) == port;
    return chosen;
}

/* Some frames, or the frames that one port sends. */
static void remove_frames(const struct law_capture *c, struct law_random *r, GArray *frames)
{
    bool sender = law_below(r, 10) == 0 && c->ports->len;
    bool *chosen = sender ? choose_sender(c, r) : choose_frames(c, r);
    guint n = 0;
    for (guint i = 0; i < frames->len; i++)
        if (!chosen[at(frames, i)->number])
            *at(frames, n++) = *at(frames, i);
    g_array_set_size(frames, n);
    g_free(chosen);
}

static void cut_frames(const struct law_capture *c, struct law_random *r, GArray *frames)
{
    bool *chosen = choose_frames(c, r);
    for (guint i = 0; i < frames->len; i++)
        if (chosen[at(frames, i)->number]) {
            uint32_t most = law_below(r, 250);
            at(frames, i)->cap = MIN(at(frames, i)->cap, most);
        }
    g_free(chosen);
}

static void slice_frames(struct law_random *r, GArray *frames)
{
    const uint32_t snaplens[] = {8 + law_below(r, 392), 64, 96, 128, 256};
    uint32_t snaplen = snaplens[law_below(r, 5)];
    for (guint i = 0; i < frames->len; i++)
        at(frames, i)->cap = MIN(at(frames, i)->cap, snaplen);
}

/* ---- frames captured twice, or in another order */

struct copy {
    guint due; /* place after which it comes */
    struct law_frame frame;
};

/* Must the copy come before the next frame of the same port, or after the window? */
static bool is_due(const struct law_capture *c, const struct copy *copy,
                   const struct law_frame *next, guint last)
{
    uint64_t port = law_port(c, &copy->frame);
    return copy->due <= last || port == LAW_NO_PORT || port == law_port(c, next) ||
           next->ns - copy->frame.ns > duplicate_ns;
}

static void append_copy(GArray *out, struct law_frame copy)
{
    copy.ns = at(out, out->len - 1)->ns;
    g_array_append_val(out, copy);
}

/* next NULL: all copies are due. */
static void append_due(const struct law_capture *c, GArray *out, GArray *waiting,
                       const struct law_frame *next)
{
    guint last = out->len + waiting->len - 1, kept = 0, n = waiting->len;
    for (guint i = 0; i < n; i++) {
        struct copy copy = g_array_index(waiting, struct copy, i);
        if (!next || is_due(c, &copy, next, last))
            append_copy(out, copy.frame);
        else
            g_array_index(waiting, struct copy, kept++) = copy;
    }
    g_array_set_size(waiting, kept);
}

static void duplicate_frames(const struct law_capture *c, struct law_random *r, GArray *frames)
{
    static const uint8_t later[] = {0, 0, 1, 3, LATEST_COPY};
    bool *chosen = choose_frames(c, r);
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct law_frame)),
           *waiting = g_array_new(FALSE, FALSE, sizeof(struct copy));
    for (guint i = 0; i < frames->len; i++) {
        struct law_frame f = *at(frames, i);
        if (waiting->len)
            append_due(c, out, waiting, &f);
        g_array_append_val(out, f);
        struct copy copy = {out->len + later[law_below(r, 5)], f};
        if (chosen[f.number])
            g_array_append_val(waiting, copy);
    }
    if (waiting->len)
        append_due(c, out, waiting, NULL);
    g_array_set_size(frames, 0);
    g_array_append_vals(frames, out->data, out->len);
    g_array_unref(waiting);
    g_array_unref(out);
    g_free(chosen);
}

/* May the frame and the next one be swapped: sent by two ports, within the window? */
static bool may_swap(const struct law_capture *c, const struct law_frame *a)
{
    const struct law_frame *b = a + 1;
    int64_t apart = b->ns > a->ns ? b->ns - a->ns : a->ns - b->ns;
    uint64_t one = law_port(c, a), two = law_port(c, b);
    return apart <= swap_ns && one != LAW_NO_PORT && two != LAW_NO_PORT && one != two;
}

/* Times stay in order. */
static void swap_frames(const struct law_capture *c, struct law_random *r, GArray *frames)
{
    bool *chosen = choose_frames(c, r);
    for (guint i = 0; i + 1 < frames->len; i++) {
        struct law_frame *f = at(frames, i), first = *f;
        if (!chosen[f->number] || !may_swap(c, f))
            continue;
        f[0] = f[1];
        f[1] = first;
        f[1].ns = f[0].ns;
        f[0].ns = first.ns;
        i++;
    }
    g_free(chosen);
}

/* ---- clocks and interfaces */

/* An interface's clock differs by a constant; the frames stay in their order. */
static void shift_clock(struct law_random *r, GArray *frames)
{
    static const int64_t units[] = {
        1, 1000, 1000000, NANOSECONDS, 60 * NANOSECONDS, 86400 * NANOSECONDS};
    uint32_t interface = law_below(r, 2);
    int64_t ns = units[law_below(r, 6)] * (1 + law_below(r, 9)), earliest = INT64_MAX;
    ns = law_below(r, 2) ? ns : -ns;
    for (guint i = 0; i < frames->len; i++)
        earliest = MIN(earliest, at(frames, i)->ns);
    for (guint i = 0; i < frames->len; i++)
        if (at(frames, i)->interface == interface)
            at(frames, i)->ns += earliest + ns >= 0 ? ns : -ns;
}

/* Is it a packet of a directed route on its way back (IBA 14.2.1.2)? */
static bool comes_back(const struct law_frame *f)
{
    enum { BTH_AND_DETH = 20, GRH = 40, CLASS_DIRECTED = 0x81, CLASS = 1, STATUS = 4 };
    uint32_t mad = LAW_LRH + ((f->bytes[1] & 3) == LNH_GRH ? GRH : 0) + BTH_AND_DETH;
    return f->cap > mad + STATUS && f->bytes[mad + CLASS] == CLASS_DIRECTED &&
           f->bytes[mad + STATUS] & 0x80;
}

static bool is_from(const struct law_capture *c, const struct law_frame *f, uint64_t port)
{
    if (c->linktype != LINKTYPE_INFINIBAND)
        return law_port(c, f) == port;
    if (f->cap < LAW_LRH)
        return false;
    uint16_t dlid = (uint16_t)(f->bytes[2] << 8 | f->bytes[3]);
    if (law_slid(f) == LAW_PERMISSIVE || dlid == LAW_PERMISSIVE)
        return comes_back(f);
    return law_slid(f) == port;
}

/* Frames of a port arrive on interface 1, all others on interface 0. */
static void split_directions(const struct law_capture *c, struct law_random *r, GArray *frames)
{
    if (!c->ports->len)
        return;
    guint which = law_below(r, 2) ? 0 : law_below(r, c->ports->len);
    uint64_t port = g_array_index(c->ports, uint64_t, which);
    for (guint i = 0; i < frames->len; i++)
        at(frames, i)->interface = is_from(c, at(frames, i), port);
}

/* ---- CRCs */

enum crcs { CRCS_ZEROS, CRCS_JUNK, CRCS_INVERTED, CRCS_NO_VCRC, CRCS_NONE, CRCS_NOT_CAPTURED };

/* Of some sources, or of all. */
static GHashTable *choose_sources(const struct law_capture *c, struct law_random *r)
{
    GHashTable *chosen = g_hash_table_new(NULL, NULL);
    bool all = law_below(r, 2) || g_hash_table_size(c->violated);
    uint32_t n = c->sources->len;
    for (uint32_t i = 0; i < n; i++)
        if (all || law_below(r, 2))
            g_hash_table_add(chosen, GUINT_TO_POINTER(g_array_index(c->sources, uint32_t, i)));
    return chosen;
}

/*
 * The same bytes for the same packet: a switch's copy of a multicast packet has the same ICRC.
 */
static uint64_t junk_of(const struct law_frame *f)
{
    struct law_random r = {0};
    for (uint32_t i = 0; i + CRCS < f->cap; i++)
        r.state = (r.state ^ f->bytes[i]) * 0x100000001b3ull;
    return law_next(&r);
}

static void write_crcs(uint8_t *p, const struct law_frame *f, enum crcs how)
{
    uint64_t junk = how == CRCS_JUNK ? junk_of(f) : 0;
    for (unsigned i = 0; i < CRCS; i++)
        if (how != CRCS_INVERTED)
            p[i] = (uint8_t)(junk >> 8 * i);
        else if (i < ICRC)
            p[i] = (uint8_t)~p[i];
}

/* The new bytes are kept with the capture's until the chain ends. */
static void replace_crcs(struct law_frame *f, enum crcs how, GByteArray *arena)
{
    if (how >= CRCS_NO_VCRC) {
        f->cap -= how == CRCS_NO_VCRC ? VCRC : CRCS;
        f->wire = how == CRCS_NOT_CAPTURED ? f->wire : f->cap;
        return;
    }
    guint from = arena->len;
    g_byte_array_append(arena, f->bytes, f->cap);
    write_crcs(arena->data + from + f->cap - CRCS, f, how);
    f->bytes = arena->data + from;
}

static void change_crcs(const struct law_capture *c, struct law_random *r, GArray *frames,
                        GByteArray *arena)
{
    enum crcs how = law_below(r, CRCS_NOT_CAPTURED + 1);
    GHashTable *chosen = choose_sources(c, r);
    gsize bytes = 0;
    for (guint i = 0; i < frames->len; i++)
        bytes += at(frames, i)->cap;
    /* room for all, so that the bytes do not move */
    g_byte_array_set_size(arena, (guint)bytes);
    g_byte_array_set_size(arena, 0);
    for (guint i = 0; i < frames->len; i++) {
        struct law_frame *f = at(frames, i);
        bool whole = f->cap == f->wire && f->cap >= SMALLEST;
        if (whole && g_hash_table_contains(chosen, GUINT_TO_POINTER(c->source[f->number])))
            replace_crcs(f, how, arena);
    }
    g_hash_table_destroy(chosen);
}

/* ---- steps and chains */

void law_apply(const struct law_capture *c, struct law_step step, GArray *frames, GByteArray *arena)
{
    struct law_random r = {step.seed};
    switch (step.kind) {
    case LAW_REMOVE:
        remove_frames(c, &r, frames);
        break;
    case LAW_CUT:
        cut_frames(c, &r, frames);
        break;
    case LAW_SLICE:
        slice_frames(&r, frames);
        break;
    case LAW_DUPLICATE:
        duplicate_frames(c, &r, frames);
        break;
    case LAW_SWAP:
        swap_frames(c, &r, frames);
        break;
    case LAW_CLOCK:
        shift_clock(&r, frames);
        break;
    case LAW_SPLIT:
        split_directions(c, &r, frames);
        break;
    case LAW_CRCS:
        change_crcs(c, &r, frames, arena);
        break;
    case LAW_KINDS:
        break;
    }
}

/* A second one may undo the first, or leave the window. */
static bool is_once(enum law_kind kind)
{
    return kind == LAW_SLICE || kind == LAW_DUPLICATE || kind == LAW_SWAP || kind >= LAW_CLOCK;
}

static bool is_allowed(const struct law_capture *c, enum law_kind kind)
{
    bool keeps = kind == LAW_SPLIT || kind == LAW_CRCS;
    if (kind == LAW_CRCS && c->linktype != LINKTYPE_INFINIBAND)
        return false;
    return keeps || g_hash_table_size(c->violated) == 0;
}

void law_make_valid(const struct law_capture *c, struct law_chain *chain)
{
    struct law_chain valid = {0};
    struct law_step clock = {LAW_KINDS, 0};
    bool used[LAW_KINDS] = {false};
    for (unsigned i = 0; i < chain->n; i++) {
        struct law_step step = chain->steps[i];
        if (!is_allowed(c, step.kind) || (used[step.kind] && is_once(step.kind)))
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

char *law_text(const struct law_chain *chain)
{
    static const char *const names[] = {"remove", "cut",   "slice", "duplicate",
                                        "swap",   "clock", "split", "CRCs"};
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < chain->n; i++)
        g_string_append_printf(text, "%s%s %08x", i ? "; " : "", names[chain->steps[i].kind],
                               chain->steps[i].seed);
    return g_string_free(text, FALSE);
}

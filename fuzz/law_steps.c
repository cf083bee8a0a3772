/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transformations of the law of degradation. */
#include <string.h>

#include "fuzz/law.h"
#include "wire/ib.h"
#include "wire/linktype.h"
#include "wire/vcrc.h"

enum { VCRC = 2, ICRC = 4, CRCS = VCRC + ICRC, SMALLEST = LAW_LRH + 12 + CRCS };

bool law_has_frames(enum law_kind kind)
{
    return kind != LAW_SLICE && kind != LAW_CLOCK && kind != LAW_SPLIT && kind != LAW_DOUBLE;
}

struct law_change *law_change_new(const struct law_capture *c, enum law_kind kind)
{
    struct law_change *change = g_new0(struct law_change, 1);
    change->kind = kind;
    if (!law_has_frames(kind))
        return change;
    change->of = g_new(int32_t, c->frames->len + 1);
    for (guint i = 0; i < c->frames->len; i++)
        change->of[i] = LAW_UNCHANGED;
    return change;
}

void law_change_free(struct law_change *change)
{
    g_free(change->of);
    g_free(change);
}

void law_frames_init(struct law_frames *f, const struct law_capture *c)
{
    f->frames = g_array_sized_new(FALSE, FALSE, sizeof(struct law_frame), c->frames->len + 1);
    f->bytes = g_ptr_array_new_with_free_func(g_free);
    if (c->frames->len)
        g_array_append_vals(f->frames, c->frames->data, c->frames->len);
}

void law_frames_free(struct law_frames *f)
{
    g_array_unref(f->frames);
    g_ptr_array_unref(f->bytes);
}

static bool is_changed(const struct law_change *change, const struct law_frame *f)
{
    return change->of[f->number] != LAW_UNCHANGED;
}

/* ---- frames that are lost, or end early */

static void remove_frames(const struct law_change *change, GArray *frames)
{
    guint n = 0;
    for (guint i = 0; i < frames->len; i++)
        if (!is_changed(change, law_at(frames, i)))
            *law_at(frames, n++) = *law_at(frames, i);
    g_array_set_size(frames, n);
}

static void cut_frames(const struct law_change *change, GArray *frames)
{
    for (guint i = 0; i < frames->len; i++) {
        struct law_frame *f = law_at(frames, i);
        if (is_changed(change, f))
            f->cap = MIN(f->cap, (uint32_t)change->of[f->number]);
    }
}

static void slice_frames(const struct law_change *change, GArray *frames)
{
    for (guint i = 0; i < frames->len; i++)
        law_at(frames, i)->cap = MIN(law_at(frames, i)->cap, (uint32_t)change->values[0]);
}

/* ---- frames captured twice, or in another order */

struct copy {
    guint due;      /* place after which it comes */
    int64_t within; /* ns after the frame */
    struct law_frame frame;
};

/* Must the copy come before the next frame of the same port, or after the window? */
static bool is_due(const struct law_capture *c, const struct copy *copy,
                   const struct law_frame *next, guint last)
{
    uint64_t port = law_port(c, &copy->frame);
    return copy->due <= last || port == LAW_NO_PORT || port == law_port(c, next) ||
           next->ns - copy->frame.ns > copy->within;
}

static void append_copy(GArray *out, struct law_frame copy)
{
    copy.ns = law_at(out, out->len - 1)->ns;
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

static void duplicate_frames(const struct law_capture *c, const struct law_change *change,
                             GArray *frames)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct law_frame)),
           *waiting = g_array_new(FALSE, FALSE, sizeof(struct copy));
    for (guint i = 0; i < frames->len; i++) {
        struct law_frame f = *law_at(frames, i);
        if (waiting->len)
            append_due(c, out, waiting, &f);
        g_array_append_val(out, f);
        if (!is_changed(change, &f))
            continue;
        struct copy copy = {out->len + (guint)change->of[f.number], change->values[0], f};
        g_array_append_val(waiting, copy);
    }
    if (waiting->len)
        append_due(c, out, waiting, NULL);
    g_array_set_size(frames, 0);
    g_array_append_vals(frames, out->data, out->len);
    g_array_unref(waiting);
    g_array_unref(out);
}

/* ---- every frame captured twice */

enum { MILLISECOND = 1000000, ANOTHER_INTERFACE = 2, ANOTHER_VL = 0x10 };

/* Another VL, and the VCRC of the next link. A frame without VCRC, or with a wrong one, stays. */
static void change_vl(struct law_frames *out, struct law_frame *f)
{
    struct ib_packet ib;
    struct view v = view_make(f->bytes, f->cap, f->wire);
    if (f->cap < f->wire || ib_decode(v, IB_START_LRH, &ib) != WIRE_OK ||
        vcrc_check(v, &ib) != VCRC_RIGHT)
        return;
    uint8_t *bytes = g_memdup2(f->bytes, f->cap);
    g_ptr_array_add(out->bytes, bytes);
    f->bytes = v.p = bytes;
    bytes[LRH_VL_LVER] ^= ANOTHER_VL;
    uint16_t vcrc = vcrc_of(v, &ib);
    bytes[ib.length] = (uint8_t)vcrc;
    bytes[ib.length + 1] = (uint8_t)(vcrc >> 8);
}

static struct law_frame copy_of(const struct law_capture *c, const struct law_change *change,
                                struct law_frames *out, struct law_frame f)
{
    if (change->values[1] & LAW_ON_ANOTHER)
        f.interface += ANOTHER_INTERFACE;
    if (change->values[1] & LAW_WITH_ANOTHER_VL && c->linktype == LINKTYPE_INFINIBAND)
        change_vl(out, &f);
    return f;
}

/* Does the copy of the frame at `first` come before the frame at `next`? */
static bool is_copied_before(const struct law_change *change, const GArray *frames, guint first,
                             guint next)
{
    const struct law_frame *f = law_at(frames, first);
    if (next == frames->len)
        return true;
    return change->values[0] == LAW_LATER ? law_at(frames, next)->ns - f->ns > MILLISECOND
                                          : next - first > (guint)change->values[0];
}

static void double_frames(const struct law_capture *c, const struct law_change *change,
                          struct law_frames *f)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct law_frame));
    guint copied = 0;
    for (guint i = 0; i <= f->frames->len; i++) {
        for (; copied < i && is_copied_before(change, f->frames, copied, i); copied++) {
            struct law_frame copy = copy_of(c, change, f, *law_at(f->frames, copied));
            bool later = change->values[0] == LAW_LATER;
            int64_t last = law_at(f->frames, i - 1)->ns;
            copy.ns = later ? MAX(copy.ns + MILLISECOND, last) : last;
            g_array_append_val(out, copy);
        }
        if (i < f->frames->len)
            g_array_append_val(out, *law_at(f->frames, i));
    }
    g_array_set_size(f->frames, 0);
    g_array_append_vals(f->frames, out->data, out->len);
    g_array_unref(out);
}

/* May the frame and the next one be swapped: sent by two ports, within this time? */
static bool may_swap(const struct law_capture *c, const struct law_frame *a, int64_t within)
{
    const struct law_frame *b = a + 1;
    int64_t apart = b->ns > a->ns ? b->ns - a->ns : a->ns - b->ns;
    uint64_t one = law_port(c, a), two = law_port(c, b);
    return apart <= within && one != LAW_NO_PORT && two != LAW_NO_PORT && one != two;
}

/* Times stay in order. */
static void swap_frames(const struct law_capture *c, const struct law_change *change,
                        GArray *frames)
{
    for (guint i = 0; i + 1 < frames->len; i++) {
        struct law_frame *f = law_at(frames, i), first = *f;
        if (!is_changed(change, f) || !may_swap(c, f, change->values[0]))
            continue;
        f[0] = f[1];
        f[1] = first;
        f[1].ns = f[0].ns;
        f[0].ns = first.ns;
        i++;
    }
}

/* ---- clocks and interfaces */

/*
 * An interface's clock differs by a constant; the frames stay in their order. No time is negative.
 */
static void shift_clock(const struct law_change *change, GArray *frames)
{
    int64_t interface = change->values[0], ns = change->values[1], earliest = INT64_MAX;
    for (guint i = 0; i < frames->len; i++)
        earliest = MIN(earliest, law_at(frames, i)->ns);
    for (guint i = 0; i < frames->len; i++)
        if (law_at(frames, i)->interface == interface)
            law_at(frames, i)->ns += earliest + ns >= 0 ? ns : -ns;
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
static void split_directions(const struct law_capture *c, const struct law_change *change,
                             GArray *frames)
{
    if (!c->ports->len)
        return;
    for (guint i = 0; i < frames->len; i++)
        law_at(frames, i)->interface = is_from(c, law_at(frames, i), (uint64_t)change->values[0]);
}

/* ---- CRCs */

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

static void write_crcs(uint8_t *p, const struct law_frame *f, enum law_crcs how)
{
    uint64_t junk = how == LAW_CRCS_JUNK ? junk_of(f) : 0;
    for (unsigned i = 0; i < CRCS; i++)
        if (how != LAW_CRCS_INVERTED)
            p[i] = (uint8_t)(junk >> 8 * i);
        else if (i < ICRC)
            p[i] = (uint8_t)~p[i];
}

/* block: room for the new bytes. Returns the room behind them. */
static uint8_t *replace_crcs(struct law_frame *f, enum law_crcs how, uint8_t *block)
{
    if (how >= LAW_CRCS_NO_VCRC) {
        f->cap -= how == LAW_CRCS_NO_VCRC ? VCRC : CRCS;
        f->wire = how == LAW_CRCS_NOT_CAPTURED ? f->wire : f->cap;
        return block;
    }
    memcpy(block, f->bytes, f->cap);
    write_crcs(block + f->cap - CRCS, f, how);
    f->bytes = block;
    return block + f->cap;
}

static void change_crcs(const struct law_change *change, struct law_frames *out)
{
    gsize bytes = 0;
    for (guint i = 0; i < out->frames->len; i++)
        bytes += law_at(out->frames, i)->cap;
    uint8_t *block = g_malloc(bytes + 1);
    g_ptr_array_add(out->bytes, block);
    for (guint i = 0; i < out->frames->len; i++) {
        struct law_frame *f = law_at(out->frames, i);
        if (is_changed(change, f) && f->cap == f->wire && f->cap >= SMALLEST)
            block = replace_crcs(f, (enum law_crcs)change->values[0], block);
    }
}

/* ---- */

void law_apply(const struct law_capture *c, const struct law_change *change, struct law_frames *f)
{
    switch (change->kind) {
    case LAW_REMOVE:
        remove_frames(change, f->frames);
        break;
    case LAW_CUT:
        cut_frames(change, f->frames);
        break;
    case LAW_SLICE:
        slice_frames(change, f->frames);
        break;
    case LAW_DUPLICATE:
        duplicate_frames(c, change, f->frames);
        break;
    case LAW_SWAP:
        swap_frames(c, change, f->frames);
        break;
    case LAW_CLOCK:
        shift_clock(change, f->frames);
        break;
    case LAW_SPLIT:
        split_directions(c, change, f->frames);
        break;
    case LAW_CRCS:
        change_crcs(change, f);
        break;
    case LAW_DOUBLE:
        double_frames(c, change, f);
        break;
    case LAW_KINDS:
        break;
    }
}

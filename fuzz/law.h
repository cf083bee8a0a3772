/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The law of degradation, in one process: a capture, a chain of transformations, and the violations
 * before and after.
 *
 * A chain must not add a violation of a MUST or SHOULD to a capture that conforms: a frame that was
 * not captured is not the sender's fault. Other CRCs, an interface for each direction, and a copy
 * of every frame, must not hide a violation of a capture with violations.
 */
#ifndef IPOIB_FUZZ_LAW_H
#define IPOIB_FUZZ_LAW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* A captured frame. number: its index in the whole capture. */
struct law_frame {
    uint32_t number, interface, cap, wire;
    int64_t ns;
    const uint8_t *bytes;
};

/* A capture before any step. */
struct law_capture {
    int linktype;
    GArray *frames;       /* struct law_frame */
    GPtrArray *bytes;     /* the frames' bytes */
    GArray *ports;        /* uint64_t: the sending ports, the one with the most frames first */
    uint32_t *source;     /* of each frame: LIDs that share a GID are one source */
    GArray *sources;      /* uint32_t: all sources */
    GHashTable *violated; /* of the whole capture, as text */
};

/* Only the members linktype and frames are to be filled with law_add(); law_check() does the rest.
 */
struct law_capture *law_capture_new(int linktype);
void law_capture_free(struct law_capture *c);
/* Copies the bytes. */
void law_add(struct law_capture *c, const struct law_frame *f);
/* Checks the whole capture. Call it once, after the last frame. */
void law_check(struct law_capture *c);
bool law_conforms(const struct law_capture *c);

/* ---- chains */

enum { LAW_STEPS = 5 };

enum law_kind {
    LAW_REMOVE,
    LAW_CUT,
    LAW_SLICE,
    LAW_DUPLICATE,
    LAW_SWAP,
    LAW_CLOCK,
    LAW_SPLIT,
    LAW_CRCS,
    LAW_DOUBLE,
    LAW_KINDS,
};

/* seed: decides which frames, and how (fuzz/law_draw.c). */
struct law_chain {
    unsigned n;
    struct law_step {
        enum law_kind kind;
        uint32_t seed;
    } steps[LAW_STEPS + 1]; /* law_chains.c adds a doubling */
};

/* The steps that the law allows for the capture, each at most as often as it may occur. */
void law_make_valid(const struct law_capture *c, struct law_chain *chain);

/* ---- changes: the steps, with what was drawn for them */

enum law_crcs {
    LAW_CRCS_ZEROS,
    LAW_CRCS_JUNK,
    LAW_CRCS_INVERTED,
    LAW_CRCS_NO_VCRC,
    LAW_CRCS_NONE,
    LAW_CRCS_NOT_CAPTURED,
    LAW_CRCS_WAYS
};

enum { LAW_VALUES = 2, LAW_UNCHANGED = -1 };

/* Every frame is captured twice: a millisecond later, on a second interface, from another link. */
enum { LAW_LATER = -1, LAW_ON_ANOTHER = 1, LAW_WITH_ANOTHER_VL = 2 };

struct law_change {
    enum law_kind kind;
    /*
     * Slice: bytes. Duplicate and swap: the longest time between the frames, in ns. Clock:
     * interface, ns. Split: port. CRCs: enum law_crcs. Double: the number of frames before the
     * copy, or LAW_LATER; LAW_ON_* and LAW_WITH_*.
     */
    int64_t values[LAW_VALUES];
    /*
     * For each frame of the whole capture: LAW_UNCHANGED; or the bytes that remain of it (cut); or
     * the number of frames before its copy (duplicate); or 0. NULL: slice, clock, split and double.
     */
    int32_t *of;
};

/* Does the step change some frames, and leave others? Such a change has OF. */
bool law_has_frames(enum law_kind kind);
/* Changes no frame yet. The caller frees it. */
struct law_change *law_change_new(const struct law_capture *c, enum law_kind kind);
void law_change_free(struct law_change *change);
/* Draws a step, which is to be applied to frames. The caller frees it. */
struct law_change *law_draw(const struct law_capture *c, struct law_step step,
                            const GArray *frames);

/* Frames of a capture. The changed bytes belong to it. */
struct law_frames {
    GArray *frames; /* struct law_frame */
    GPtrArray *bytes;
};

/* All frames. */
void law_frames_init(struct law_frames *f, const struct law_capture *c);
void law_frames_free(struct law_frames *f);
void law_apply(const struct law_capture *c, const struct law_change *change, struct law_frames *f);
/* Draws the steps and applies them. changes: gets them (law_change_free()), or NULL. */
void law_apply_chain(const struct law_capture *c, const struct law_chain *chain,
                     struct law_frames *f, GPtrArray *changes);

/* ---- verdicts */

struct checker;
/* A checker that adds each violation to found, as text. */
struct checker *law_checker(GHashTable *found);
/* An empty set for law_checker(). */
GHashTable *law_violations_new(void);

/* The violations in these frames; the caller frees the set. */
GHashTable *law_violations(int linktype, const GArray *frames);
/* The first of a that is not in b; NULL: all are. */
const char *law_first_missing(GHashTable *a, GHashTable *b);

/*
 * Checks the capture after the chain. Returns the first violation that breaks the law as text,
 * which the caller frees; NULL: none does.
 */
char *law_broken_by(const struct law_capture *c, const struct law_chain *chain);

/* ---- random numbers (splitmix64) */

struct law_random {
    uint64_t state;
};

uint64_t law_next(struct law_random *r);
/* Below n; n is not 0. */
uint32_t law_below(struct law_random *r, uint32_t n);

/* Private to fuzz/law*.c. */
uint64_t law_port(const struct law_capture *c, const struct law_frame *f);
uint16_t law_slid(const struct law_frame *f);
enum { LAW_LRH = 8, LAW_PERMISSIVE = 0xffff };
#define LAW_NO_PORT UINT64_MAX
static inline struct law_frame *law_at(const GArray *frames, guint i)
{
    return &g_array_index(frames, struct law_frame, i);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The law of degradation, in one process: a capture, a chain of transformations, and the violations
 * before and after. The same law as tests/support/law.py and steps.py, without file formats.
 *
 * A chain must not add a violation of a MUST or SHOULD to a capture that conforms: a frame that was
 * not captured is not the sender's fault. Other CRCs, and an interface for each direction, must not
 * hide a violation of a capture with violations.
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
    LAW_KINDS,
};

/* seed: decides which frames, and how. */
struct law_chain {
    unsigned n;
    struct law_step {
        enum law_kind kind;
        uint32_t seed;
    } steps[LAW_STEPS];
};

/* The steps that the law allows for the capture, each at most as often as it may occur. */
void law_make_valid(const struct law_capture *c, struct law_chain *chain);

/*
 * Checks the capture after the chain. Returns the first violation that breaks the law as text,
 * which the caller frees; NULL: none does.
 */
char *law_broken_by(const struct law_capture *c, const struct law_chain *chain);

/* "remove 0x12ab34cd; split ..." The caller frees it. */
char *law_text(const struct law_chain *chain);

/* ---- random numbers (splitmix64) */

struct law_random {
    uint64_t state;
};

uint64_t law_next(struct law_random *r);
/* Below n; n is not 0. */
uint32_t law_below(struct law_random *r, uint32_t n);

/* Private to fuzz/law*.c: applies a step to frames; bytes that change are added to arena. */
void law_apply(const struct law_capture *c, struct law_step step, GArray *frames,
               GByteArray *arena);
uint64_t law_port(const struct law_capture *c, const struct law_frame *f);
uint16_t law_slid(const struct law_frame *f);
enum { LAW_LRH = 8, LAW_PERMISSIVE = 0xffff };
#define LAW_NO_PORT UINT64_MAX

#endif

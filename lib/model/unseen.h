/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was not seen or not judged in a capture: packets that it lost, that are corrupt, that were
 * not decoded; parts of exchanges that are missing. (model/undone.h: what the tables had no room
 * for.)
 */
#ifndef IPOIB_MODEL_UNSEEN_H
#define IPOIB_MODEL_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>

enum unseen_kind {
#define UNSEEN(symbol, name, noun, rest, withholds) UNSEEN_##symbol,
#include "model/unseen.def"
#undef UNSEEN
    UNSEEN_KINDS,
};

/* All zero at first. */
struct unseen {
    struct {
        uint64_t count;
        uint32_t frame; /* the first; 0: not known */
    } kinds[UNSEEN_KINDS];
    uint64_t datagrams, corrupt; /* packets of IPoIB data; corrupt ones among them */
};

/* n: not 0. frame 0: not known. */
void unseen_count(struct unseen *u, enum unseen_kind kind, uint64_t n, uint32_t frame);
/* The same; n 0: does nothing. */
static inline void unseen_add(struct unseen *u, enum unseen_kind kind, uint64_t n, uint32_t frame)
{
    if (n)
        unseen_count(u, kind, n, frame);
}
/* Counts a packet of IPoIB data. */
void unseen_add_datagram(struct unseen *u, bool corrupt, uint32_t frame);

/* Is there anything of any kind? */
bool unseen_any(const struct unseen *u);
/* Is there anything that withholds the plain word "conformant"? */
bool unseen_withholds(const struct unseen *u);

/* The columns of model/unseen.def. */
extern const struct unseen_text {
    const char *name, *noun, *rest;
    bool withholds;
} unseen_texts[UNSEEN_KINDS];
/* The kind with that name; UNSEEN_KINDS: there is none. */
enum unseen_kind unseen_read(const char *name);

#endif

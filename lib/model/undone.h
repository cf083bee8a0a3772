/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was left undone: the tables that were full and refused entries. A full table keeps what it
 * has and learns nothing more. From its first refusal on, a lookup that finds nothing proves
 * nothing: the entry may be one that was refused.
 */
#ifndef IPOIB_MODEL_UNDONE_H
#define IPOIB_MODEL_UNDONE_H

#include <stdbool.h>
#include <stdint.h>

enum undone_table {
#define UNDONE(symbol, name, words, judges, effect) UNDONE_##symbol,
#include "model/undone.def"
#undef UNDONE
    UNDONE_TABLES,
};

/* Of one table; frame 0: it refused nothing. */
struct refusals {
    uint32_t frame, last_frame; /* first and last frame with an entry that was refused */
    uint64_t refused;           /* number of such frames */
};

/* All zero at first. */
struct undone {
    uint32_t frame; /* the current one */
    struct refusals tables[UNDONE_TABLES];
};

/* The table refuses an entry of the current frame. u NULL: not counted (tests). */
void undone_refuse(struct undone *u, enum undone_table table);

/* A set of tables. */
#define UNDONE_SET(symbol) (UINT32_C(1) << UNDONE_##symbol)

/*
 * Why a lookup in these tables proves nothing: the first one of the set that refused an entry.
 * NULL: none did.
 */
const char *undone_why(const struct undone *u, uint32_t set);

/* Did any table refuse an entry? */
bool undone_any(const struct undone *u);
/* Why the verdict is not sure: the first table that it depends on and that was full; or NULL. */
const char *undone_verdict(const struct undone *u);

extern const struct undone_text {
    const char *name;   /* "queue-pairs", as reports for programs name the table */
    const char *words;  /* the same for people */
    const char *effect; /* what its refusals do if results do not depend on them; else NULL */
    const char *why, *verdict;
} undone_texts[UNDONE_TABLES];
/* The table with that name; UNDONE_TABLES: there is none. */
enum undone_table undone_read(const char *name);

#endif

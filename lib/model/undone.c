/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/undone.h"

#include <stddef.h>
#include <string.h>

const struct undone_text undone_texts[UNDONE_TABLES] = {
#define UNDONE(symbol, name, words, judges, effect)                                                \
    {name, words, effect, "the table of " words " is full: it may have refused what decides this", \
     (judges) ? "the table of " words " was full, so violations may not have been found" : NULL},
#include "model/undone.def"
#undef UNDONE
};

_Static_assert(UNDONE_TABLES <= 32, "a set of tables has 32 bits");
#define ALL ((uint32_t)((UINT64_C(1) << UNDONE_TABLES) - 1))

void undone_refuse(struct undone *u, enum undone_table table)
{
    struct refusals *r = u ? &u->tables[table] : NULL;
    if (!r || (r->frame && r->last_frame == u->frame))
        return;
    if (!r->frame)
        r->frame = u->frame;
    r->last_frame = u->frame;
    r->refused++;
}

const char *undone_why(const struct undone *u, uint32_t set)
{
    for (set &= ALL; set; set &= set - 1) {
        unsigned first = (unsigned)__builtin_ctz(set);
        if (u->tables[first].refused)
            return undone_texts[first].why;
    }
    return NULL;
}

bool undone_any(const struct undone *u)
{
    return undone_why(u, UINT32_MAX) != NULL;
}

const char *undone_verdict(const struct undone *u)
{
    for (unsigned i = 0; i < UNDONE_TABLES; i++)
        if (undone_texts[i].verdict && u->tables[i].refused)
            return undone_texts[i].verdict;
    return NULL;
}

enum undone_table undone_read(const char *name)
{
    unsigned i = 0;
    while (i < UNDONE_TABLES && strcmp(undone_texts[i].name, name) != 0)
        i++;
    return (enum undone_table)i;
}

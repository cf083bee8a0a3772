/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/undone.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *words, *effect, *why, *verdict;
} tables[UNDONE_TABLES] = {
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
            return tables[first].why;
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
        if (tables[i].verdict && u->tables[i].refused)
            return tables[i].verdict;
    return NULL;
}

const char *undone_name(enum undone_table table)
{
    return tables[table].name;
}

const char *undone_words(enum undone_table table)
{
    return tables[table].words;
}

const char *undone_effect(enum undone_table table)
{
    return tables[table].effect;
}

enum undone_table undone_read(const char *name)
{
    unsigned i = 0;
    while (i < UNDONE_TABLES && strcmp(tables[i].name, name) != 0)
        i++;
    return (enum undone_table)i;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/unseen.h"

#include <string.h>

const struct unseen_text unseen_texts[UNSEEN_KINDS] = {
#define UNSEEN(symbol, name, noun, rest, withholds) {name, noun, rest, withholds},
#include "model/unseen.def"
#undef UNSEEN
};

void unseen_count(struct unseen *u, enum unseen_kind kind, uint64_t n, uint32_t frame)
{
    uint64_t *count = &u->kinds[kind].count;
    if (*count == 0)
        u->kinds[kind].frame = frame;
    *count = n > INT64_MAX - *count ? INT64_MAX : *count + n; /* a file may give any number */
}

void unseen_add_datagram(struct unseen *u, bool corrupt, uint32_t frame)
{
    u->datagrams++;
    u->corrupt += corrupt;
    bool all = u->corrupt == u->datagrams;
    if (all)
        unseen_add(u, UNSEEN_ALL_CORRUPT, 1, frame);
    else
        u->kinds[UNSEEN_ALL_CORRUPT].count = 0;
}

bool unseen_any(const struct unseen *u)
{
    for (unsigned i = 0; i < UNSEEN_KINDS; i++)
        if (u->kinds[i].count)
            return true;
    return false;
}

bool unseen_withholds(const struct unseen *u)
{
    for (unsigned i = 0; i < UNSEEN_KINDS; i++)
        if (u->kinds[i].count && unseen_texts[i].withholds)
            return true;
    return false;
}

enum unseen_kind unseen_read(const char *name)
{
    unsigned i = 0;
    while (i < UNSEEN_KINDS && strcmp(unseen_texts[i].name, name) != 0)
        i++;
    return (enum unseen_kind)i;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the requests to a peer. See tally.h. */
#include "probe/exchange/tally.h"

void tally_begin(struct tally *t, enum tally_kind kind, uint64_t key)
{
    unsigned i = 0;
    while (i < t->n && (t->forms[i].kind != kind || t->forms[i].key != key))
        i++;
    t->pending = 0;
    t->now = i < TALLY_FORMS ? &t->forms[i] : NULL;
    if (i == t->n && t->now) {
        *t->now = (struct tally_form){.kind = kind, .key = key};
        t->n++;
    }
}

void tally_begin_uncounted(struct tally *t)
{
    t->pending = 0;
    t->now = NULL;
}

void tally_sent(struct tally *t)
{
    if (!t->now)
        return;
    t->pending++;
    t->now->packets++;
}

void tally_response(struct tally *t)
{
    if (!t->now || !t->pending) /* the network duplicates packets */
        return;
    t->pending--;
    t->now->responses++;
}

void tally_forget(struct tally *t, unsigned packets)
{
    if (!t->now)
        return;
    packets = MIN(packets, t->pending);
    t->pending -= packets;
    t->now->packets -= packets;
}

void tally_end(struct tally *t, unsigned tries, bool answered)
{
    if (!t->now || !tries)
        return;
    t->now->first_try += answered && tries == 1;
    t->now->late += answered && tries > 1;
    t->now->never += !answered;
}

unsigned tally_answered(const struct tally *t, enum tally_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->n; i++)
        n += t->forms[i].kind == kind ? t->forms[i].first_try + t->forms[i].late : 0;
    return n;
}

unsigned tally_requests(const struct tally *t, enum tally_kind kind)
{
    unsigned n = tally_answered(t, kind);
    for (unsigned i = 0; i < t->n; i++)
        n += t->forms[i].kind == kind ? t->forms[i].never : 0;
    return n;
}

bool tally_echoes_are_hopeless(const struct tally *t, unsigned tried)
{
    return tally_requests(t, TALLY_ECHO) >= tried && !tally_answered(t, TALLY_ECHO);
}

struct tally_form tally_sum(const struct tally *t)
{
    struct tally_form sum = {.packets = 0};
    for (unsigned i = 0; i < t->n; i++) {
        const struct tally_form *f = &t->forms[i];
        sum.first_try += f->first_try;
        sum.late += f->late;
        sum.never += f->never;
        sum.packets += f->responses ? f->packets : 0;
        sum.responses += f->responses;
    }
    return sum;
}

bool tally_others_lose_most(const struct tally *t)
{
    enum { LEAST = 3, PERCENT = 20 };
    unsigned packets = 0, lost = 0;
    for (unsigned i = 0; i < t->n; i++) {
        const struct tally_form *f = &t->forms[i];
        if (f == t->now || !f->responses)
            continue;
        packets += f->packets;
        lost += f->packets - f->responses;
    }
    return lost >= LEAST && lost * 100 > packets * PERCENT;
}

unsigned tally_lost(const struct tally *t)
{
    const struct tally_form sum = tally_sum(t);
    return sum.packets - sum.responses;
}

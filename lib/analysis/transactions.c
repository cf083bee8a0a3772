/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sa_requests.h"
#include "analysis/smps.h"

struct question_key transaction_key(const struct mad_transaction *t)
{
    return transaction_is_smp(t) ? smp_key_of(t)
                                 : sa_question_key(t->port, t->attribute, t->method,
                                                   t->has_record ? t->record : NULL);
}

static void note_asked(struct transactions *all, struct mad_transaction *t)
{
    if (all->n_asked < ASKED)
        all->asked[all->n_asked++] = t;
}

const struct mad_transaction *transactions_asked(const struct watch *w, unsigned *i)
{
    struct transactions *all = w->transactions;
    for (; *i < all->n_asked; all->asked[*i] = all->asked[--all->n_asked]) {
        const struct mad_transaction *t = all->asked[*i];
        if (transaction_is_open(t) && !transaction_is_smp(t)) {
            ++*i;
            return t;
        }
    }
    return NULL;
}

/* The SA's other packets may prove that it has not answered. */
static void ask(const struct watch *w, struct mad_transaction *t)
{
    const struct question_key key = transaction_key(t);
    struct question *q = question_ask_by(w, &key, &t->request);
    if (!q)
        return;
    q->tid = t->tid;
    if (transaction_is_smp(t))
        return;
    note_asked(w->transactions, t);
    q->repeated = q->asked == 1 ? t->requests : MAX(q->repeated, t->requests);
    if (w->f->subnet && subnet_sa_sequence(w->f->subnet, port_interface(t->port)))
        question_open(w, q);
}

/* The next that waits; NULL: none does. */
static struct mad_transaction *next_waiting(struct transactions *all)
{
    while (all->first != all->next) {
        struct mad_transaction *t = all->ring[all->first++ % TRANSACTIONS];
        if (t->number == all->first)
            return t;
    }
    return NULL;
}

void transactions_ask(const struct watch *w)
{
    struct mad_transaction *t;
    while ((t = next_waiting(w->transactions)) != NULL) {
        transaction_stops(w, t);
        ask(w, t);
    }
}

bool transaction_has_key(const struct mad_transaction *t, const struct question_key *key)
{
    const struct question_key own = transaction_key(t);
    return question_key_same(&own, key);
}

static void answer_others(const struct watch *w, const struct question_key *key)
{
    struct transactions *all = w->transactions;
    for (uint32_t i = all->first; i != all->next; i++) {
        struct mad_transaction *t = all->ring[i % TRANSACTIONS];
        if (t->number == i + 1 && transaction_has_key(t, key))
            transaction_stops(w, t);
    }
}

void transaction_answer_alike(const struct watch *w, const struct mad_transaction *t)
{
    const struct question_key key = transaction_key(t);
    struct question *q = question_find(w, &key);
    if (w->transactions->alike[t->alike])
        answer_others(w, &key);
    if (q)
        question_answer(w, q);
}

void transaction_give_up(const struct watch *w, struct mad_transaction *t,
                         const struct question_key *asks)
{
    bool is_known_by_key = transaction_is_smp(t) || (asks && transaction_has_key(t, asks));
    if (!is_known_by_key)
        transaction_answer(w, t);
    else if (t->number)
        transactions_ask(w);
}

bool transaction_has_copy(const struct watch *w, const struct mad_transaction *t, uint64_t last)
{
    const struct packet *p = w->p;
    if (t->request.last != last)
        return p->copy_of;
    return t->answered_frame || t->request.captured_on != p->captured_on ||
           watch_ms(w) - t->request.ns / NS_PER_MS < COPY_MS;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the SA and its answers. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_SA_REQUESTS_H
#define IPOIB_ANALYSIS_SA_REQUESTS_H

#include "analysis/transactions.h"

/* The current packet is a request of this transaction, or of another one in its place. */
APART void sa_transaction_ask(const struct watch *w, struct mad_transaction *t);

/* In the key of a QUESTION_SA, as in key.who. */
enum { SA_KEY_METHOD = 0, SA_KEY_ATTRIBUTE = 1, SA_KEY_TRAP = 3, SA_KEY_SIZE = 5 };
enum question_kind sa_question_kind(uint16_t attribute, uint8_t method);
/* What a request with this record is about; NULL: it has none, or it was not captured. */
struct question_key sa_question_key(struct port requester, uint16_t attribute, uint8_t method,
                                    const uint8_t *record);
/* The place of the GID that a record is about. size: of the part that must be captured; 0: none. */
struct sa_gid_place {
    uint8_t gid, size;
};
static inline struct sa_gid_place sa_gid_place(uint16_t attribute)
{
    switch (attribute) {
    case SA_MC_MEMBER_RECORD:
        return (struct sa_gid_place){MCM_MGID, MCM_SIZE};
    case SA_PATH_RECORD:
        return (struct sa_gid_place){PATH_DGID, PATH_SIZE};
    case SA_INFORM_INFO:
        return (struct sa_gid_place){INFORM_GID, INFORM_SIZE};
    case SA_SERVICE_RECORD:
        return (struct sa_gid_place){SERVICE_GID, SERVICE_GID + GID_SIZE};
    default:
        return (struct sa_gid_place){0, 0};
    }
}
/* Is the message about a GID, and was that captured? */
static inline bool sa_has_gid(const struct sa *sa)
{
    uint32_t size = sa_gid_place(sa->mad.attribute).size;
    return size && view_has(sa->data, 0, size) == WIRE_OK;
}

/* QP1 drops the answer, for its Q_Key (sa_answers.c). */
bool sa_answer_is_dropped(const struct watch *w);
void watch_dropped_answer(const struct watch *w, const struct mad_transaction *t);
/* Does the SA's first answer fit what was wanted (sa_answers.c)? */
APART void watch_sa_answer(const struct watch *w, const struct mad_transaction *t);

/* The SA has no record of the group that was wanted (missing_groups.c). */
void watch_missing_group(const struct watch *w, const struct mad_transaction *t);
/* The key of the question's event; who: the requester (sa_transactions.c). */
struct event_key sa_key_of_unanswered(const struct watch *w, const struct question *q,
                                      const struct sender *who);
/* The question was reported as unanswered, and the current packet answers it. */
void sa_answered_after_all(const struct watch *w, const struct question *q);
/* The current packet is the answer: if it is late, that is an event (sa_slow.c). */
APART void sa_answered_late(const struct watch *w, const struct mad_transaction *t);
/* Is it early for sure? Nearly all are: one request, and less than a second. */
static inline bool sa_is_early(const struct watch *w, const struct mad_transaction *t)
{
    return t->requests <= 1 && t->request.captured_on == w->p->captured_on &&
           (uint64_t)w->p->at.ns - (uint64_t)t->request.ns < 1000000000;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions whose answers are overdue: one event each. */
#include "analysis/transactions.h"

static question_report *const reports[QUESTION_KINDS] = {
    [QUESTION_JOIN] = sa_unanswered,         [QUESTION_LEAVE] = sa_unanswered,
    [QUESTION_PATH] = sa_unanswered,         [QUESTION_SA] = sa_unanswered,
    [QUESTION_REPORT] = report_unanswered,   [QUESTION_SMP] = smp_unanswered,
    [QUESTION_REQ] = req_unanswered,         [QUESTION_DREQ] = dreq_unanswered,
    [QUESTION_REP] = rep_unanswered,         [QUESTION_ARP] = arp_unanswered,
    [QUESTION_ND] = nd_unanswered,           [QUESTION_ECHO] = echo_unanswered,
    [QUESTION_SEGMENT] = segment_unanswered, [QUESTION_LARGE] = large_lost,
    [QUESTION_DHCP] = dhcp_unanswered,       [QUESTION_MAD] = mad_unanswered,
};

/* Later requests are a question of their own. */
static void forget(const struct watch *w, struct question *q)
{
    question_answer(w, q);
}

/* Ports answer SMPs without their hosts. */
static void is_silent(const struct watch *w, const struct question *q)
{
    question_doubt(w, q);
    if (w->sink->last && q->key.kind != QUESTION_SMP && q->key.kind != QUESTION_LARGE)
        watch_silent_host(w, q, question_answerer(w, q));
}

static void report(const struct watch *w, struct question *q, enum answer_seen seen)
{
    w->sink->last = NULL;
    reports[q->key.kind](w, q);
    if (seen == ANSWER_SILENT)
        is_silent(w, q);
    q->reported = q->asked > 0;
    question_close(w, q);
}

static void is_over(const struct watch *w, struct question *q)
{
    enum answer_seen seen = question_seen(w, q);
    if (seen == ANSWER_MAY_BE_LOST)
        forget(w, q);
    else
        report(w, q, seen);
}

/*
 * So many requests to the SA show by themselves that the requester has no answer: with one
 * transaction ID, or joins of a group that it does not leave. Others may ask again what was
 * answered.
 */
enum { REPEATED = 11 };

static bool is_repeated(const struct watch *w, const struct question *q)
{
    struct question_key leave = q->key;
    leave.kind = QUESTION_LEAVE;
    if (!question_is_of_sa(q))
        return false;
    return q->repeated >= REPEATED ||
           (q->key.kind == QUESTION_JOIN && q->asked >= REPEATED && !question_find(w, &leave));
}

/*
 * The packet itself answers nothing that is overdue. A corrupt one may have a wrong place. Without
 * packets to the requester, or to the group that gets the answer, the capture point may see only
 * one direction.
 */
void watch_due_questions(const struct watch *w)
{
    struct question *q;
    transactions_ask(w);
    while (!packet_is_corrupt(w->p) && (q = question_due(w)) != NULL)
        if (question_is_heard(w, q) || is_repeated(w, q) || question_hears_group(w, q))
            is_over(w, q);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries to the SA (subnet administration). */
#ifndef IPOIB_PROBE_SA_H
#define IPOIB_PROBE_SA_H

#include "hca/client.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * Sends a query and logs request and response. The records are in a->records; free them with
 * sa_answer_clear().
 */
enum sa_result sa_ask(struct target *t, const struct sa_question *q, struct sa_answer *a);
void sa_answer_clear(struct sa_answer *a);
/* Describes why there is no response: for SA_NO_RESPONSE, SA_BUSY and SA_ERROR. */
const char *sa_failure_text(const struct target *t, enum sa_result result);
/* Frees the responses that a sweep has cached. */
void sa_forget(struct run *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries to the SA (subnet administration). */
#ifndef IPOIB_PROBE_SA_H
#define IPOIB_PROBE_SA_H

#include "hca/client.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/*
 * Sends a query and logs request and response. The records are in a->records; free them with
 * sa_response_clear().
 */
enum sa_result sa_query_send(struct target *t, const struct sa_query *q, struct sa_response *a);
void sa_response_clear(struct sa_response *a);
/*
 * Describes a result other than SA_SUCCESS. status: that of the response, if there was one. Valid
 * until the next call.
 */
const char *sa_failure_text(const struct target *t, enum sa_result result, uint16_t status);
/*
 * That an answer of the SA came later than a query waits, for a report; "": none did. What follows
 * does not repeat it.
 */
const char *sa_slow_text(const struct target *t);
/* The median of its answers so far took more than a tenth of a second. */
bool sa_was_slow(const struct target *t);
/*
 * What the SA has answered in this run, for one that no longer does: "it answered 1 request after
 * 1203 ms, 2 had no answer". "": it has answered nothing. Free with g_free().
 */
char *sa_history(const struct target *t);
/* The SA dealt with the request: it did it, refused it, or gave an answer that does not fit. */
bool sa_has_answered(enum sa_result result);
/* What the user can do about such a result; "": nothing. */
const char *sa_failure_advice(enum sa_result result, uint16_t status);
/* True if the SA does not support the attribute, which is optional (IBA 15.2.4). */
bool sa_is_unsupported(enum sa_result result, uint16_t status);
/*
 * From now on a query waits that long at most and is not repeated, and after one without an answer
 * no other one is sent until the next call: an SA that is silent costs that time once. 0: no limit.
 */
void sa_limit(struct run *r, unsigned ms);
/* Frees the responses that a sweep has cached. */
void sa_cache_clear(struct run *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does a response of the SA fit the request? */
#ifndef IPOIB_PROBE_ANSWER_H
#define IPOIB_PROBE_ANSWER_H

#include "hca/client.h"
#include "hca/mcgroup.h"

/* Receives the reason, SIZE bytes. */
struct answer_fault {
    char *text;
    size_t size;
};

/*
 * Compares a response with status 0 with its request: method and attribute, whole records, the
 * components that the request names, and values that a record cannot have. known: the group's
 * record from an earlier query, with which the response to a join is compared if it is about the
 * same group. Returns false and the reason if the response does not fit. The records of a table
 * are there nevertheless.
 */
bool answer_fits(const struct sa_query *q, const struct sa_response *a,
                 const struct mc_group *known, struct answer_fault fault);

#endif

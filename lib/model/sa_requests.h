/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the SA that wait for a response; only for the files of model/. */
#ifndef IPOIB_MODEL_SA_REQUESTS_H
#define IPOIB_MODEL_SA_REQUESTS_H

#include "model/subnet_state.h"

/* Free with g_free(). */
struct sa_requests *sa_requests_new(void);

/* Store the request of the message. */
struct sa_request *sa_requests_add(const struct delivery *d, const struct sa *sa);
/* The request with this method that the message responds to; NULL: not seen. */
const struct sa_request *sa_requests_responded(const struct delivery *d, const struct sa *sa,
                                               uint8_t method);

void sa_requests_merge(struct sa_requests *all, uint16_t from, uint16_t to);

#endif

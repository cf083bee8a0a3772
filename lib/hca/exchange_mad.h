/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request to an agent, and its answer, through libibumad. Private to hca/. */
#ifndef IPOIB_HCA_EXCHANGE_MAD_H
#define IPOIB_HCA_EXCHANGE_MAD_H

#include "hca/agent.h"
#include "wire/mad.h"

struct mad_exchange {
    uint16_t lid;
    uint8_t qp, sl;
    uint32_t qkey;
    uint8_t mad[MAD_SIZE]; /* the request; if there is an answer: that */
};

/* Sends the request from that port, twice within ms milliseconds. The class is that of the MAD. */
enum agent_answer exchange_mad(const char *device, unsigned port, struct mad_exchange *x, int ms,
                               const volatile int *stop);

#endif

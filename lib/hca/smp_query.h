/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the subnet management agent of a node: at a LID, or at the end of a directed route, which
 * needs no LIDs (IBA 14.2.1.2).
 */
#ifndef IPOIB_HCA_SMP_QUERY_H
#define IPOIB_HCA_SMP_QUERY_H

#include "hca/agent.h"
#include "wire/smp.h"

struct smp_request {
    uint16_t lid; /* 0: by the route */
    uint8_t hops; /* 1: the node at the other end of this port's cable */
    uint8_t
        path[SMP_PATH_SIZE]; /* [1]: this port's number; [2]: the exit of the first switch ... */
    uint16_t attribute;
    uint32_t modifier;
    uint8_t data[SMP_DATA_SIZE]; /* the attribute, if it answers */
};

/*
 * SubnGet(), twice within ms milliseconds. Needs write access to the umad device. An M_Key may hide
 * the attribute.
 */
enum agent_answer smp_ask(const char *device, unsigned port, struct smp_request *q, int ms,
                          const volatile int *stop);

#endif

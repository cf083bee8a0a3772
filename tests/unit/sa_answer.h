/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every response of a simulated SA has: the head of its request, and a group's attributes. */
#ifndef IPOIB_TESTS_SA_ANSWER_H
#define IPOIB_TESTS_SA_ANSWER_H

#include <string.h>

#include "hca/client.h"
#include "wire/put.h"

enum { SIMULATED_QKEY = 0x0b1b, SIMULATED_MLID = 0xc000, SIMULATED_PKEY = 0xffff };

/* The MAD of a response with that status (IBA 13.4.2, 15.2.3). */
static inline void sa_answer_head(const struct sa_query *q, uint16_t status, struct sa_response *a)
{
    a->status = status;
    memset(a->mad, 0, MAD_SIZE);
    a->mad[MAD_BASE_VERSION] = 1;
    a->mad[MAD_CLASS] = MAD_CLASS_SA;
    a->mad[MAD_CLASS_VERSION] = 2;
    a->mad[MAD_METHOD] = q->method == SA_GET_TABLE ? SA_GET_TABLE_RESP
                         : q->method == SA_DELETE  ? SA_DELETE_RESP
                                                   : SA_GET_RESP;
    put16(a->mad + MAD_STATUS, status);
    put16(a->mad + MAD_ATTRIBUTE, q->attribute);
}

/* The attributes of a group in its MCMemberRecord (IBA 15.2.5.17). */
static inline void sa_answer_group(uint8_t *record)
{
    put32(record + MCM_QKEY, SIMULATED_QKEY);
    put16(record + MCM_MLID, SIMULATED_MLID);
    record[MCM_MTU] = 0x84; /* exactly 2048 */
    put16(record + MCM_PKEY, SIMULATED_PKEY);
    record[MCM_RATE] = 0x83;
}

#endif

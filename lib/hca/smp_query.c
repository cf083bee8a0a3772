/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See smp_query.h. */
#include "hca/smp_query.h"

#include <string.h>

#include "hca/exchange_mad.h"
#include "wire/put.h"

enum { CLASS_VERSION = 1, SMI_QP = 0, PERMISSIVE_LID = 0xffff };

static void make_request(uint8_t *mad, const struct smp_request *q)
{
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = q->lid ? MAD_CLASS_SMP : MAD_CLASS_SMP_DIRECTED;
    mad[MAD_CLASS_VERSION] = CLASS_VERSION;
    mad[MAD_METHOD] = SMP_GET;
    put32(mad + MAD_TID + 4, 1);
    put16(mad + MAD_ATTRIBUTE, q->attribute);
    put32(mad + MAD_MODIFIER, q->modifier);
    if (q->lid)
        return;
    mad[SMP_HOP_COUNT] = q->hops;
    put16(mad + SMP_DR_SLID, PERMISSIVE_LID);
    put16(mad + SMP_DR_DLID, PERMISSIVE_LID);
    memcpy(mad + SMP_INITIAL_PATH, q->path, SMP_PATH_SIZE);
}

enum agent_answer smp_ask(const char *device, unsigned port, struct smp_request *q, int ms,
                          const volatile int *stop)
{
    struct mad_exchange x = {.lid = q->lid ? q->lid : PERMISSIVE_LID, .qp = SMI_QP};
    make_request(x.mad, q);
    enum agent_answer answer = exchange_mad(device, port, &x, ms, stop);
    if (answer != AGENT_ANSWERS)
        return answer;
    if (x.mad[MAD_METHOD] != SMP_GET_RESP || be16(x.mad + MAD_STATUS) & ~SMP_STATUS_D)
        return AGENT_SILENT;
    memcpy(q->data, x.mad + SMP_DATA, sizeof q->data);
    return AGENT_ANSWERS;
}

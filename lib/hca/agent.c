/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See agent.h. */
#include "hca/agent.h"

#include <string.h>

#include "hca/exchange_mad.h"
#include "wire/put.h"

enum { CLASS_PERFORMANCE = 0x04, CLASS_VERSION = 1, GSI_QP = 1, GET = 0x01 };
enum { CLASS_PORT_INFO = 0x01, PORT_COUNTERS = 0x12, PORT_SELECT = 1 };
#define GSI_QKEY 0x80010000u /* IBA 10.2.5 */

static void make_request(uint8_t *mad, const struct agent_request *q)
{
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = CLASS_PERFORMANCE;
    mad[MAD_CLASS_VERSION] = CLASS_VERSION;
    mad[MAD_METHOD] = GET;
    put32(mad + MAD_TID + 4, 1);
    put16(mad + MAD_ATTRIBUTE, q->of_port ? PORT_COUNTERS : CLASS_PORT_INFO);
    mad[AGENT_DATA + PORT_SELECT] = q->of_port;
}

enum agent_answer agent_ask(const char *device, unsigned port, struct agent_request *q, int ms,
                            const volatile int *stop)
{
    struct mad_exchange x = {.lid = q->lid, .qp = GSI_QP, .sl = q->sl, .qkey = GSI_QKEY};
    make_request(x.mad, q);
    enum agent_answer answer = exchange_mad(device, port, &x, ms, stop);
    if (answer != AGENT_ANSWERS)
        return answer;
    if (q->of_port && be16(x.mad + MAD_STATUS))
        return AGENT_SILENT;
    memcpy(q->data, x.mad + AGENT_DATA, sizeof q->data);
    return AGENT_ANSWERS;
}

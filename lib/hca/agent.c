/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See agent.h. */
#include "hca/agent.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>
#include <infiniband/umad.h>

#include "wire/mad.h"
#include "wire/put.h"
#include "wire/smp.h"

enum { CLASS_PERFORMANCE = 0x04, CLASS_VERSION = 1, SMI_QP = 0, GSI_QP = 1, GET = 0x01 };
enum { CLASS_PORT_INFO = 0x01, PORT_COUNTERS = 0x12, PORT_SELECT = 1 };
enum { TRIES = 2, STEP_MS = 100 };
#define GSI_QKEY 0x80010000u /* IBA 10.2.5 */

static int class_of(const struct agent_request *q)
{
    return q->subnet_attribute ? MAD_CLASS_SMP : CLASS_PERFORMANCE;
}

static uint16_t attribute_of(const struct agent_request *q)
{
    return q->subnet_attribute ? q->subnet_attribute : q->of_port ? PORT_COUNTERS : CLASS_PORT_INFO;
}

static void make_request(void *umad, const struct agent_request *q)
{
    bool subnet = q->subnet_attribute;
    umad_set_addr(umad, q->lid, subnet ? SMI_QP : GSI_QP, q->sl, subnet ? 0 : (int)GSI_QKEY);
    uint8_t *mad = umad_get_mad(umad);
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = (uint8_t)class_of(q);
    mad[MAD_CLASS_VERSION] = CLASS_VERSION;
    mad[MAD_METHOD] = GET;
    put32(mad + MAD_TID + 4, 1);
    put16(mad + MAD_ATTRIBUTE, attribute_of(q));
    put32(mad + MAD_MODIFIER, q->subnet_modifier);
    mad[AGENT_DATA + PORT_SELECT] = subnet ? 0 : q->of_port;
}

/* The kernel returns the request if there is no answer in time. */
static enum agent_answer await_answer(int fd, void *umad, struct agent_request *q, int ms,
                                      const volatile int *stop)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*stop && g_get_monotonic_time() < end) {
        int length = MAD_SIZE;
        if (umad_recv(fd, umad, &length, STEP_MS) < 0)
            continue;
        const uint8_t *mad = umad_get_mad(umad);
        bool refused = (q->of_port || q->subnet_attribute) && be16(mad + MAD_STATUS);
        if (umad_status(umad) || !(mad[MAD_METHOD] & MAD_RESPONSE) || refused)
            return AGENT_SILENT;
        memcpy(q->data, mad + AGENT_DATA, sizeof q->data);
        return AGENT_ANSWERS;
    }
    return *stop ? AGENT_NOT_ASKED : AGENT_SILENT;
}

static enum agent_answer ask_through(int fd, struct agent_request *q, int ms,
                                     const volatile int *stop)
{
    enum agent_answer answer = AGENT_NOT_ASKED;
    int agent = umad_register(fd, class_of(q), CLASS_VERSION, 0, NULL);
    if (agent < 0)
        return answer;
    void *umad = g_malloc0(umad_size() + MAD_SIZE);
    make_request(umad, q);
    if (umad_send(fd, agent, umad, MAD_SIZE, ms / TRIES, TRIES - 1) >= 0)
        answer = await_answer(fd, umad, q, ms + 2 * STEP_MS, stop);
    g_free(umad);
    umad_unregister(fd, agent);
    return answer;
}

enum agent_answer agent_ask(const char *device, unsigned port, struct agent_request *q, int ms,
                            const volatile int *stop)
{
    umad_init();
    int fd = umad_open_port(device, (int)port);
    if (fd < 0)
        return AGENT_NOT_ASKED;
    enum agent_answer answer = ask_through(fd, q, ms, stop);
    umad_close_port(fd);
    return answer;
}

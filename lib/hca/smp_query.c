/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See smp_query.h. */
#include "hca/smp_query.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>
#include <infiniband/umad.h>

#include "wire/mad.h"
#include "wire/put.h"

enum { CLASS_VERSION = 1, SMI_QP = 0, TRIES = 2, STEP_MS = 50, PERMISSIVE_LID = 0xffff };

static void make_request(void *umad, const struct smp_request *q)
{
    umad_set_addr(umad, PERMISSIVE_LID, SMI_QP, 0, 0);
    uint8_t *mad = umad_get_mad(umad);
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = MAD_CLASS_SMP_DIRECTED;
    mad[MAD_CLASS_VERSION] = CLASS_VERSION;
    mad[MAD_METHOD] = SMP_GET;
    mad[SMP_HOP_COUNT] = q->hops;
    put32(mad + MAD_TID + 4, 1);
    put16(mad + MAD_ATTRIBUTE, q->attribute);
    put32(mad + MAD_MODIFIER, q->modifier);
    put16(mad + SMP_DR_SLID, PERMISSIVE_LID);
    put16(mad + SMP_DR_DLID, PERMISSIVE_LID);
    memcpy(mad + SMP_INITIAL_PATH, q->path, SMP_PATH_SIZE);
}

/* The kernel returns the request if there is no answer in time. */
static enum agent_answer await_answer(int fd, void *umad, struct smp_request *q, int ms,
                                      const volatile int *stop)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*stop && g_get_monotonic_time() < end) {
        int length = MAD_SIZE;
        if (umad_recv(fd, umad, &length, STEP_MS) < 0)
            continue;
        const uint8_t *mad = umad_get_mad(umad);
        bool refused = be16(mad + MAD_STATUS) & ~SMP_STATUS_D;
        if (umad_status(umad) || mad[MAD_METHOD] != SMP_GET_RESP || refused)
            return AGENT_SILENT;
        memcpy(q->data, mad + SMP_DATA, sizeof q->data);
        return AGENT_ANSWERS;
    }
    return *stop ? AGENT_NOT_ASKED : AGENT_SILENT;
}

static enum agent_answer ask_through(int fd, struct smp_request *q, int ms,
                                     const volatile int *stop)
{
    enum agent_answer answer = AGENT_NOT_ASKED;
    int agent = umad_register(fd, MAD_CLASS_SMP_DIRECTED, CLASS_VERSION, 0, NULL);
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

enum agent_answer smp_ask(const char *device, unsigned port, struct smp_request *q, int ms,
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

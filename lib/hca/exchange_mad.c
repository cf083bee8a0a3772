/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See exchange_mad.h. */
#include "hca/exchange_mad.h"

#include <stdbool.h>
#include <string.h>

#include <glib.h>
#include <infiniband/umad.h>

enum { TRIES = 2, STEP_MS = 100 };

/* The kernel returns the request if there is no answer in time. */
static enum agent_answer await_answer(int fd, void *umad, struct mad_exchange *x, int ms,
                                      const volatile int *stop)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*stop && g_get_monotonic_time() < end) {
        int length = MAD_SIZE;
        if (umad_recv(fd, umad, &length, STEP_MS) < 0)
            continue;
        const uint8_t *mad = umad_get_mad(umad);
        if (umad_status(umad) || !(mad[MAD_METHOD] & MAD_RESPONSE))
            return AGENT_SILENT;
        memcpy(x->mad, mad, sizeof x->mad);
        return AGENT_ANSWERS;
    }
    return *stop ? AGENT_NOT_ASKED : AGENT_SILENT;
}

static enum agent_answer ask_through(int fd, struct mad_exchange *x, int ms,
                                     const volatile int *stop)
{
    enum agent_answer answer = AGENT_NOT_ASKED;
    int agent = umad_register(fd, x->mad[MAD_CLASS], x->mad[MAD_CLASS_VERSION], 0, NULL);
    if (agent < 0)
        return answer;
    void *umad = g_malloc0(umad_size() + MAD_SIZE);
    umad_set_addr(umad, x->lid, x->qp, x->sl, (int)x->qkey);
    memcpy(umad_get_mad(umad), x->mad, sizeof x->mad);
    if (umad_send(fd, agent, umad, MAD_SIZE, ms / TRIES, TRIES - 1) >= 0)
        answer = await_answer(fd, umad, x, ms + 2 * STEP_MS, stop);
    g_free(umad);
    umad_unregister(fd, agent);
    return answer;
}

enum agent_answer exchange_mad(const char *device, unsigned port, struct mad_exchange *x, int ms,
                               const volatile int *stop)
{
    umad_init();
    int fd = umad_open_port(device, (int)port);
    if (fd < 0)
        return AGENT_NOT_ASKED;
    enum agent_answer answer = ask_through(fd, x, ms, stop);
    umad_close_port(fd);
    return answer;
}

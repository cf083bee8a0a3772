/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See way.h. */
#include "probe/link/way.h"

#include "wire/view.h"

/* Switches answer within a millisecond; each is asked four times. */
enum { MOST_SWITCHES = 16, WAIT_MS = 200, LIDS_OF_BLOCK = 64, STATE_BITS = 0xf };

static bool ask(struct transport *t, struct smp_request *q, uint16_t attribute, uint32_t modifier)
{
    q->attribute = attribute;
    q->modifier = modifier;
    return t->ops->ask_smp(t, q, WAIT_MS) == AGENT_ANSWERS;
}

static bool is_switch(struct transport *t, struct smp_request *q)
{
    return ask(t, q, SMP_NODE_INFO, 0) && q->data[NODE_INFO_TYPE] == NODE_TYPE_SWITCH;
}

/* 0: the switch itself, which answers; also if there is no entry (IBA 14.2.5.10). */
static uint8_t exit_to(struct transport *t, struct smp_request *q, uint16_t lid)
{
    enum { NO_ENTRY = 255 };
    bool answers = ask(t, q, SMP_LINEAR_TABLE, lid / LIDS_OF_BLOCK);
    uint8_t port = answers ? q->data[lid % LIDS_OF_BLOCK] : 0;
    return port == NO_ENTRY ? 0 : port;
}

static bool is_down(struct transport *t, struct smp_request *q, uint8_t port)
{
    return ask(t, q, SMP_PORT_INFO, port) &&
           (q->data[PORT_INFO_SPEED_STATE] & STATE_BITS) == PORT_DOWN;
}

/* Port 0 has the LID of the switch. */
static uint16_t lid_of_switch(struct transport *t, struct smp_request *q)
{
    return ask(t, q, SMP_PORT_INFO, 0) ? be16(q->data + PORT_INFO_LID) : 0;
}

struct way_to_lid way_follow(struct transport *t, uint16_t lid)
{
    struct way_to_lid w = {.switches = 0};
    struct smp_request q = {.hops = 1, .path = {0, (uint8_t)t->facts.port}};
    while (t->ops->ask_smp && w.switches < MOST_SWITCHES && is_switch(t, &q)) {
        w.switches++;
        w.port = exit_to(t, &q, lid);
        w.is_down = w.port && is_down(t, &q, w.port);
        if (w.is_down)
            w.switch_lid = lid_of_switch(t, &q);
        if (w.is_down || !w.port)
            break;
        q.path[++q.hops] = w.port;
    }
    return w;
}

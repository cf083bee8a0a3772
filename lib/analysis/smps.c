/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of the subnet manager that a port does not answer. A directed route has no LID, so the
 * port is the end of the route. A request is sent again with its transaction ID, or asked anew with
 * another one.
 */
#include "analysis/question.h"
#include "wire/put.h"

enum { WHO_ATTRIBUTE = 0, WHO_MODIFIER = 2, WHO_AGENT = 6 };
/* In the key: a number of hops and their ports, or a LID. */
enum { ROUTE_HOPS = GID_SIZE - 1 };

/* false: the route is too long, or was not captured. */
static bool write_route(const struct smp *s, uint16_t lid, uint8_t about[GID_SIZE])
{
    about[0] = s->directed ? s->hop_count : 0xff;
    if (!s->directed) {
        put16(about + 1, lid);
        return true;
    }
    if (!s->initial_path || s->hop_count > ROUTE_HOPS)
        return false;
    memcpy(about + 1, s->initial_path + 1, s->hop_count);
    return true;
}

/* The routes of two managers start at different ports; the upper half of the TID names the agent.
 */
static bool make_key(const struct watch *w, struct port target, struct question_key *key)
{
    const struct smp *s = &w->p->mad.smp;
    uint8_t who[GID_SIZE] = {0}, about[GID_SIZE] = {0};
    put16(who + WHO_ATTRIBUTE, s->mad.attribute);
    put32(who + WHO_MODIFIER, s->mad.modifier);
    put32(who + WHO_AGENT, (uint32_t)(s->mad.tid >> 32));
    *key = question_key(w, QUESTION_SMP, 0, who, about);
    return write_route(s, port_to_lid(target), key->about);
}

/* "route 0,1,2" or "LID 3" */
static void append_target(GString *out, const struct question *q)
{
    const uint8_t *about = q->key.about;
    if (about[0] == 0xff) {
        g_string_append_printf(out, "LID %u", be16(about + 1));
        return;
    }
    g_string_append(out, "the directed route 0");
    for (unsigned i = 0; i < about[0]; i++)
        g_string_append_printf(out, ",%u", about[1 + i]);
}

static const struct name attribute_names[] = {
    {0x0010, "NodeDescription"},
    {SMP_NODE_INFO, "NodeInfo"},
    {0x0012, "SwitchInfo"},
    {SMP_PORT_INFO, "PortInfo"},
    {SMP_PKEY_TABLE, "P_KeyTable"},
    {SMP_SM_INFO, "SMInfo"},
    {0, NULL},
};

void smp_unanswered(const struct watch *w, struct question *q)
{
    uint16_t attribute = be16(q->key.who + WHO_ATTRIBUTE);
    const char *name = names_find(attribute_names, attribute);
    bool directed = q->key.about[0] != 0xff;
    struct sender who = {.known = 0};
    if (!directed)
        who = sender_of_lid(w, be16(q->key.about + 1));
    const struct event_key key = event_key(w, EVENT_SMP_UNANSWERED, NULL, q->key.about, 0);
    GString *target = g_string_new(NULL);
    append_target(target, q);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no answer of the port at %s was captured: %u requests of its %s since frame %u",
                target->str, q->waited, name ? name : "attributes", q->first_frame);
    g_string_free(target, TRUE);
}

/* Two requests may have one PSN or one transaction ID, but not both: then it is a copy. */
static void requested(const struct watch *w)
{
    struct question_key key;
    uint64_t packet = (w->p->mad.mad.tid << 24 ^ w->p->ib.psn) + 1;
    if (make_key(w, w->p->dst, &key))
        question_ask(w, &key, packet);
}

static void responded(const struct watch *w)
{
    struct question_key key;
    struct question *q = make_key(w, w->p->src, &key) ? question_find(w, &key) : NULL;
    if (w->p->ib.dlid == LID_PERMISSIVE)
        question_hear_at(w, LID_PERMISSIVE);
    if (q && !packet_is_corrupt(w->p))
        question_answer(w, q);
}

void watch_smp_requests(const struct watch *w)
{
    uint8_t method = w->p->mad.mad.method;
    if (!w->p->ib.has_lrh || w->p->mad.result != WIRE_OK)
        return;
    if (method == SMP_GET || method == SMP_SET)
        requested(w);
    else if (method == SMP_GET_RESP)
        responded(w);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of the subnet manager that a port does not answer, or refuses. A directed route has no
 * LID, so the port is the end of the route. A request is sent again with its transaction ID, or
 * asked anew with another one. A Set and a Get of one attribute are two questions: a port answers
 * no Set with another M_Key than its own, but it may answer a Get (IBA 14.2.4.1).
 */
#include "analysis/smps.h"

#include "wire/put.h"

/* The hops of the route, or a LID. false: the route is too long, or was not captured. */
static bool write_route(const struct watch *w, uint16_t lid, uint8_t about[GID_SIZE])
{
    const uint8_t *hops = w->p->mad.smp.directed ? route_hops(w) : NULL;
    if (hops) {
        memcpy(about, hops, GID_SIZE);
        return true;
    }
    about[0] = SMP_BY_LID;
    put16(about + 1, lid);
    return !w->p->mad.smp.directed;
}

/* The routes of two managers start at different ports; the upper half of the TID names the agent.
 */
bool smp_key(const struct watch *w, struct port target, struct question_key *key)
{
    const struct smp *s = &w->p->mad.smp;
    *key = question_key(w, QUESTION_SMP, 0, NULL, NULL);
    put16(key->who + SMP_KEY_ATTRIBUTE, s->mad.attribute);
    put32(key->who + SMP_KEY_MODIFIER, s->mad.modifier);
    put32(key->who + SMP_KEY_AGENT, (uint32_t)(s->mad.tid >> 32));
    return write_route(w, port_to_lid(target), key->about);
}

void smp_append_target(GString *out, const struct question_key *key)
{
    const uint8_t *about = key->about;
    if (about[0] == SMP_BY_LID) {
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
    {0x0014, "GUIDInfo"},
    {SMP_PORT_INFO, "PortInfo"},
    {SMP_PKEY_TABLE, "P_KeyTable"},
    {SMP_SL_TO_VL, "SLtoVLMappingTable"},
    {0x0018, "VLArbitrationTable"},
    {SMP_LINEAR_TABLE, "LinearForwardingTable"},
    {SMP_MULTICAST_TABLE, "MulticastForwardingTable"},
    {SMP_SM_INFO, "SMInfo"},
    {0, NULL},
};

struct sender smp_target(const struct watch *w, const struct question_key *key)
{
    struct sender unknown = {.known = 0};
    bool directed = key->about[0] != SMP_BY_LID;
    return directed ? unknown : sender_of_lid(w, be16(key->about + 1));
}

/* The Set is asked as a question of its own. */
static struct question_key key_of_set(const struct question_key *key)
{
    struct question_key set = *key;
    set.who[SMP_KEY_METHOD] = SMP_SET;
    return set;
}

/* The frame in which the port answered a Get about the same, as the Sets began or later; 0: none.
 */
static uint32_t answered_get(const struct watch *w, const struct question *set)
{
    enum { BEFORE_MS = 2000 };
    struct question_key key = set->key;
    if (!key.who[SMP_KEY_METHOD])
        return 0;
    key.who[SMP_KEY_METHOD] = 0;
    const struct question *get = question_last(w, &key);
    return get && !get->asked && set->first_ms - get->answered_ms <= BEFORE_MS ? get->answered_frame
                                                                               : 0;
}

void smp_unanswered(const struct watch *w, struct question *q)
{
    uint16_t attribute = be16(q->key.who + SMP_KEY_ATTRIBUTE);
    const char *name = names_find(attribute_names, attribute);
    struct sender who = smp_target(w, &q->key);
    uint32_t get = answered_get(w, q);
    const struct event_key key = event_key(w, EVENT_SMP_UNANSWERED, NULL, q->key.about, get > 0);
    char but[120] = "";
    GString *target = g_string_new(NULL);
    smp_append_target(target, &q->key);
    if (get)
        g_snprintf(but, sizeof but,
                   "; it answers Get, in frame %u, but no Set: its M_Key may not be that of the "
                   "subnet manager",
                   get);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no answer of the port at %s was captured: %u requests of its %s since frame %u%s",
                target->str, q->waited, name ? name : "attributes", q->first_frame, but);
    g_string_free(target, TRUE);
}

/* A port without a subnet manager refuses SMInfo, which is no trouble. */
static const char *refused_name(uint16_t attribute)
{
    return attribute == SMP_SM_INFO ? NULL : names_find(attribute_names, attribute);
}

/* The status is that of a response. The direction bit is not in it. */
APART static void smp_refused(const struct watch *w, const struct question_key *target)
{
    const struct mad *mad = &w->p->mad.smp.mad;
    const char *name = refused_name(mad->attribute);
    if (!name || !mad->status)
        return;
    struct sender who = smp_target(w, target);
    struct event_key key = event_key(w, EVENT_SMP_REFUSED, NULL, target->about,
                                     (uint64_t)mad->attribute << 16 | mad->status);
    GString *text = g_string_new(NULL);
    smp_append_target(text, target);
    watch_event(w, &key, &who, 0,
                "the port at %s answers the subnet manager's %s with status 0x%04x, %s", text->str,
                name, mad->status, sa_status_name(mad->status));
    g_string_free(text, TRUE);
}

/* The question of a Set is beside that of the Get about the same. */
static unsigned place_of_set(unsigned place_of_get)
{
    return place_of_get ^ 1;
}

static struct question *ask_set(const struct watch *w, const struct question_key *key,
                                uint64_t last)
{
    const struct question_key set = key_of_set(key);
    return question_ask_at(w, &set, place_of_set(question_key_place(key)), last);
}

/* Two requests may have one PSN or one transaction ID, but not both: then it is a copy. */
static void requested(const struct watch *w, const struct question_key *key)
{
    const struct mad *mad = &w->p->mad.mad;
    uint64_t last = (mad->tid << 24 ^ w->p->ib.psn) + 1;
    struct question *q = mad->method == SMP_SET ? ask_set(w, key, last)
                                                : question_ask(w, key, last);
    if (q)
        q->tid = mad->tid;
}

/*
 * The request reached the port, which answers it. A directed route has no LID, but the port's
 * PortInfo names it. So packets to a port that has just come up are captured.
 */
static void hear_at_end(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    if (s->directed && s->mad.attribute == SMP_PORT_INFO && !s->mad.status &&
        view_has(s->data, 0, PORT_INFO_LID + 2) == WIRE_OK && be16(s->data.p + PORT_INFO_LID))
        question_hear_at(w, be16(s->data.p + PORT_INFO_LID));
}

/* A response answers the Set, unless it has the transaction ID of a Get only. */
APART static void answer_set(const struct watch *w, const struct question_key *key, unsigned place)
{
    const struct question_key set_key = key_of_set(key);
    struct question *set = question_find_at(w, &set_key, place_of_set(place));
    const struct question *get = question_last(w, key);
    uint64_t tid = w->p->mad.mad.tid;
    if (set && (set->tid == tid || !get || get->tid != tid)) {
        hear_at_end(w);
        question_answer_now(w, set);
    }
}

static void responded(const struct watch *w, const struct question_key *key)
{
    struct question *q;
    if (w->p->mad.smp.mad.status)
        smp_refused(w, key);
    if (w->p->ib.dlid == LID_PERMISSIVE)
        question_hear_at(w, LID_PERMISSIVE);
    if (packet_is_corrupt(w->p) || !w->questions->asked[QUESTION_SMP])
        return;
    unsigned place = question_key_place(key);
    if (question_is_asked_at(w, place_of_set(place)))
        answer_set(w, key, place);
    if ((q = question_find_at(w, key, place)) != NULL) {
        hear_at_end(w);
        question_answer_now(w, q);
    }
}

/* Writes the key, if the packet is followed. */
static bool is_followed(const struct watch *w, struct question_key *key)
{
    uint8_t method = w->p->mad.mad.method;
    bool response = method == SMP_GET_RESP;
    return (response || method == SMP_GET || method == SMP_SET) && w->p->ib.has_lrh &&
           w->p->mad.result == WIRE_OK && smp_key(w, response ? w->p->src : w->p->dst, key);
}

bool watch_smp_requests(const struct watch *w, struct question_key *key)
{
    if (!is_followed(w, key))
        return false;
    if (w->p->mad.mad.method == SMP_GET_RESP)
        responded(w, key);
    else
        requested(w, key);
    return true;
}

void watch_smp_again(const struct watch *w)
{
    struct question_key key;
    if (is_followed(w, &key))
        requested(w, &key);
}

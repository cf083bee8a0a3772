/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of the subnet manager that a port does not answer, or refuses. A directed route has no
 * LID, so the port is the end of the route. A request is sent again with its transaction ID, or
 * asked anew with another one. A Set and a Get of one attribute are two questions: a port answers
 * no Set with another M_Key than its own, but it may answer a Get (IBA 14.2.4.1).
 */
#include "analysis/smps.h"

#include "wire/put.h"

/* So long a request is only noted: as long as an answer may take (question.c). */
#define PENDING_NS INT64_C(200000000)

/* The hops of the route, or a LID. */
static void write_route(const struct watch *w, struct port port, uint8_t about[GID_SIZE])
{
    if (w->p->mad.smp.directed) {
        memcpy(about, route_hops(w), GID_SIZE);
        return;
    }
    memset(about, 0, GID_SIZE);
    about[0] = SMP_BY_LID;
    put16(about + 1, (uint16_t)port.id);
}

struct question_key smp_key(const struct watch *w, struct port port)
{
    struct question_key key = smp_key_without_route(port, &w->p->mad.mad);
    write_route(w, port, key.about);
    return key;
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

/*
 * The frame in which the port answered a Get about the same, as the Sets began or later; 0: none.
 */
static uint32_t answered_get(const struct watch *w, const struct question *set)
{
    enum { BEFORE_MS = 2000 };
    struct question_key key = set->key;
    if (!key.who[SMP_KEY_METHOD])
        return 0;
    key.who[SMP_KEY_METHOD] = 0;
    const struct question *get = question_last(w, &key);
    if (get && get->asked)
        return 0;
    uint32_t frame = get && set->first_ms - get->answered_ms <= BEFORE_MS ? get->answered_frame : 0;
    for (unsigned i = 0; i < TRANSACTIONS; i++) {
        const struct mad_transaction *t = transaction_at(w, i);
        if (transaction_is_smp(t) && t->answered_frame > frame && transaction_has_key(t, &key) &&
            set->first_ms - t->answered_ns / NS_PER_MS <= BEFORE_MS)
            frame = t->answered_frame;
    }
    return frame;
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
void watch_refused_smp(const struct watch *w, struct port port)
{
    const struct mad *mad = &w->p->mad.smp.mad;
    const char *name = refused_name(mad->attribute);
    if (!name)
        return;
    const struct question_key target = smp_key(w, port);
    struct sender who = smp_target(w, &target);
    struct event_key key = event_key(w, EVENT_SMP_REFUSED, NULL, target.about,
                                     (uint64_t)mad->attribute << 16 | mad->status);
    GString *text = g_string_new(NULL);
    smp_append_target(text, &target);
    watch_event(w, &key, &who, 0,
                "the port at %s answers the subnet manager's %s with status 0x%04x, %s", text->str,
                name, mad->status, sa_status_name(mad->status));
    g_string_free(text, TRUE);
}

static uint8_t alike_of(struct port port, const struct mad *mad)
{
    return (uint8_t)(port.id + mad->modifier);
}

static bool has_subject(const struct mad_transaction *t, const struct mad *mad)
{
    return t->attribute == mad->attribute && t->mask == mad->modifier;
}

static void note_subject(const struct watch *w, struct mad_transaction *t)
{
    const struct mad *mad = &w->p->mad.mad;
    t->followed = true;
    t->answered_frame = 0;
    t->alike = alike_of(t->port, mad);
    t->method = mad->method;
    t->attribute = mad->attribute;
    t->mask = mad->modifier;
    write_route(w, t->port, t->record);
}

/* Two requests may have one PSN or one transaction ID, but not both: then it is a copy. */
static inline uint64_t request_number(const struct packet *p)
{
    return (p->mad.mad.tid << 24 ^ p->ib.psn) + 1;
}

static inline void note(const struct watch *w, struct mad_transaction *t, struct port port)
{
    t->port = port;
    t->tid = w->p->mad.mad.tid;
    question_note_packet(w, &t->request, request_number(w->p));
    note_subject(w, t);
    transaction_waits(w, t, PENDING_NS);
}

/* In the place of one that has no answer, which may be the same request. */
APART static void requested_instead(const struct watch *w, struct mad_transaction *t,
                                    struct port port)
{
    transaction_give_up(w, t, NULL);
    note(w, t, port);
}

/* A copy, or in the place of another one. */
APART static void requested_again(const struct watch *w, struct mad_transaction *t,
                                  struct port port)
{
    const struct mad *mad = &w->p->mad.mad;
    bool known = transaction_is(t, port, mad->tid) && has_subject(t, mad) &&
                 t->method == mad->method;
    if (known ? transaction_has_copy(w, t, request_number(w->p)) : w->p->copy_of)
        return;
    if (transaction_is_open(t))
        requested_instead(w, t, port);
    else
        note(w, t, port);
}

static inline struct mad_transaction *transaction_of(const struct watch *w, struct port port)
{
    return transaction_at(w, (unsigned)(port.id + w->p->mad.mad.tid));
}

OFTEN APART static void requested(const struct watch *w, struct mad_transaction *t,
                                  struct port port)
{
    if (w->p->copy_of || transaction_is_open(t) || transaction_is(t, port, w->p->mad.mad.tid))
        requested_again(w, t, port);
    else
        note(w, t, port);
}

void watch_smp_request(const struct watch *w, struct port port)
{
    requested(w, transaction_of(w, port), port);
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
static struct question *answered_set(const struct watch *w, const struct question_key *key,
                                     bool is_of_get)
{
    const struct question_key set_key = key_of_set(key);
    struct question *set = question_find(w, &set_key);
    return set && (set->tid == w->p->mad.mad.tid || !is_of_get) ? set : NULL;
}

static bool answer_questions(const struct watch *w, const struct mad_transaction *t,
                             struct port port)
{
    const struct question_key key = smp_key(w, port);
    bool is_of_get = transaction_is(t, port, w->p->mad.mad.tid) && t->method == SMP_GET;
    struct question *get = question_find(w, &key), *set = answered_set(w, &key, is_of_get);
    if (get)
        question_answer_now(w, get);
    if (set)
        question_answer_now(w, set);
    return get || set;
}

static inline bool answer_transaction(const struct watch *w, struct mad_transaction *t,
                                      struct port port)
{
    const struct mad *mad = &w->p->mad.mad;
    if (!transaction_is(t, port, mad->tid) || !t->number || !has_subject(t, mad))
        return false;
    transaction_stops(w, t);
    t->answered_frame = w->p->at.frame;
    t->answered_ns = w->p->at.ns;
    return true;
}

/* Other requests about the same thing may be answered, too. */
APART static void answered_several(const struct watch *w, const struct mad_transaction *t,
                                   struct port port)
{
    transactions_ask(w);
    if (answer_questions(w, t, port))
        hear_at_end(w);
}

/* The model knows whether it is corrupt. */
OFTEN void watch_smp_response(const struct watch *w, struct port port)
{
    struct mad_transaction *t = transaction_of(w, port);
    if (w->p->ib.dlid == LID_PERMISSIVE)
        question_hear_at(w, LID_PERMISSIVE);
    if (packet_is_known_corrupt(w->p))
        return;
    if (answer_transaction(w, t, port))
        hear_at_end(w);
    if (w->transactions->alike[alike_of(port, &w->p->mad.mad)] || w->questions->asked[QUESTION_SMP])
        answered_several(w, t, port);
}

struct port smp_port_on_route(const struct watch *w)
{
    return (struct port){w->p->ib.has_lrh && route_hops(w) ? route_number(w) : 0};
}

/* The two managers of a port at a LID count as two ports, as if they had routes to it. */
struct port smp_port(const struct watch *w)
{
    const struct packet *p = w->p;
    uint8_t method = p->mad.mad.method;
    bool response = method == SMP_GET_RESP;
    if ((!response && method != SMP_GET && method != SMP_SET) || !p->ib.has_lrh ||
        p->mad.result != WIRE_OK)
        return (struct port){0};
    if (p->mad.smp.directed)
        return smp_port_on_route(w);
    uint64_t lid = response ? p->ib.slid : p->ib.dlid;
    return port_make(PORT_NONE, p->at.interface, p->mad.mad.tid >> 32 << 16 | lid);
}

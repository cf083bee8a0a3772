/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pings without a reply: of all sizes, or only the large ones.
 *
 * A ping that is larger than what its target answered is a question of its own. If it has no
 * answer, its size is the cause. The same holds if smaller ones are answered after it, whatever was
 * answered before.
 */
#include <stdio.h>

#include "analysis/echo.h"
#include "analysis/unanswered.h"
#include "wire/nd.h"

enum {
    ICMP = 1,
    ICMPV6 = 58,
    ECHO_REQUEST = 8,
    ECHO_REPLY = 0,
    ECHO6_REQUEST = 128,
    ECHO6_REPLY = 129,
    FRAGMENT_HEADER = 44
};
enum { IPV4_OFFSET_MASK = 0x1fff, IPV4_MORE = 0x2000 };
enum { ECHO_ID = 4, ECHO_SIZE = 8 };

/* ---- decoding */

static bool read_echo(struct view icmp, struct echo *e, uint8_t request, uint8_t reply)
{
    if (view_has(icmp, 0, ECHO_SIZE) != WIRE_OK)
        return false;
    e->icmp = icmp;
    if (icmp.p[0] != request && icmp.p[0] != reply)
        return false;
    e->request = icmp.p[0] == request;
    e->number = UINT64_C(1) << 32 | be32(icmp.p + ECHO_ID);
    return true;
}

/* The first fragment has the ICMP header. */
static bool read_echo_in_ipv4(struct view v, struct echo *e)
{
    if (view_has(v, 0, IPV4_SIZE) != WIRE_OK || v.p[IPV4_PROTOCOL] != ICMP ||
        be16(v.p + IPV4_FRAGMENT) & IPV4_OFFSET_MASK)
        return false;
    e->from = ip_read(v.p + IPV4_SOURCE, IPV4_ADDRESS_SIZE);
    e->to = ip_read(v.p + IPV4_DESTINATION, IPV4_ADDRESS_SIZE);
    e->size = be16(v.p + IPV4_FRAGMENT) & IPV4_MORE ? (uint32_t)SIZE_FRAGMENTED
                                                    : be16(v.p + IPV4_TOTAL_LENGTH);
    e->header = 4 * (v.p[0] & 0x0fu);
    e->ttl = v.p[IPV4_TTL];
    return read_echo(view_from(v, e->header), e, ECHO_REQUEST, ECHO_REPLY);
}

static bool read_echo_in_ipv6(struct view v, struct echo *e)
{
    enum { FRAGMENT_SIZE = 8, FRAGMENT_OFFSET = 2 };
    if (view_has(v, 0, IPV6_SIZE + FRAGMENT_SIZE) != WIRE_OK)
        return false;
    const uint8_t *next = v.p + IPV6_NEXT_HEADER;
    uint32_t at = IPV6_SIZE;
    e->from = ip_read(v.p + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    e->to = ip_read(v.p + IPV6_DESTINATION, IPV6_ADDRESS_SIZE);
    e->size = IPV6_SIZE + be16(v.p + IPV6_PAYLOAD_LENGTH);
    if (*next == FRAGMENT_HEADER && be16(v.p + IPV6_SIZE + FRAGMENT_OFFSET) >> 3 == 0) {
        next = v.p + IPV6_SIZE;
        at += FRAGMENT_SIZE;
        e->size = SIZE_FRAGMENTED;
    }
    e->header = at;
    e->ttl = v.p[IPV6_HOP_LIMIT];
    return *next == ICMPV6 && read_echo(view_from(v, at), e, ECHO6_REQUEST, ECHO6_REPLY);
}

static bool find_echo(const struct packet *p, struct echo *e)
{
    const struct datagram *d = &p->datagram;
    if (d->encap.type == TYPE_IPV4)
        return read_echo_in_ipv4(d->body, e);
    return d->encap.type == TYPE_IPV6 && read_echo_in_ipv6(d->body, e);
}

/* ---- sizes */

/* Replies from one address to another. A cache, as the questions are. */
enum { PAIRS = 1 << 8, ANSWERED_MS = 60000 };

struct reply {
    uint32_t size, frame; /* size 0: none */
    int64_t ms;
};

struct answered {
    struct question_key key; /* that of the pings of any size */
    struct reply largest;    /* within a minute */
    struct reply last;
    bool has_large; /* a question about large ones was asked */
};

struct echo_sizes {
    struct answered all[PAIRS];
};

NEW_HISTORY(echo_sizes, echo_sizes_new)

/* Of another pair, it is empty from now on. */
static struct answered *answered_of(const struct watch *w, const struct question_key *key,
                                    unsigned place)
{
    struct answered *a = &w->echo_sizes->all[place & (PAIRS - 1)];
    if (!question_key_same(&a->key, key))
        *a = (struct answered){.key = *key};
    return a;
}

static bool is_recent(const struct watch *w, const struct reply *r)
{
    return r->size && watch_ms(w) - r->ms <= ANSWERED_MS;
}

static void note_answered(const struct watch *w, const struct echo *e, struct answered *a)
{
    a->last = (struct reply){e->size, w->p->at.frame, watch_ms(w)};
    if (!is_recent(w, &a->largest) || a->largest.size <= e->size)
        a->largest = a->last;
}

/*
 * The reply that shows that the size is why the requests of the question have none: a smaller one
 * since the first of them, or one of the time before, if none was larger then. NULL: there is none.
 */
static const struct reply *smaller_reply(const struct answered *a, const struct question *q)
{
    const struct reply *r = a->last.frame > q->first_frame ? &a->last : &a->largest;
    return r->size && r->size < q->smallest ? r : NULL;
}

/* ---- events */

enum { SIZE_TEXT = 32 };

static const char *size_text(char text[SIZE_TEXT], uint32_t smallest)
{
    if (smallest == SIZE_FRAGMENTED)
        return "in fragments";
    snprintf(text, SIZE_TEXT, "of %u bytes or more", smallest);
    return text;
}

/* The key of the replies of a target to any requester: as if :: asked. */
static struct question_key key_of_target(const struct question_key *key)
{
    struct question_key any = *key;
    any.kind = QUESTION_ECHO;
    memset(any.who, 0, sizeof any.who);
    return any;
}

enum { MORE_TEXT = 100, LARGE = 1000 };

/* Are the requests large, and did the target reply to smaller ones of others a moment ago? */
static const char *sizes_text(const struct watch *w, const struct question *q, char text[MORE_TEXT])
{
    const struct question_key any = key_of_target(&q->key);
    const struct answered *a = answered_of(w, &any, question_key_place(&any));
    char buffer[SIZE_TEXT];
    const char *size = size_text(buffer, q->smallest);
    *text = '\0';
    if (is_recent(w, &a->last) && a->largest.size < q->smallest)
        snprintf(text, MORE_TEXT, "; all are %s, and it answers others: %u bytes in frame %u", size,
                 a->last.size, a->last.frame);
    else if (q->smallest >= LARGE)
        snprintf(text, MORE_TEXT, "; all are %s", size);
    return text;
}

void echo_unanswered(const struct watch *w, struct question *q)
{
    char text[MORE_TEXT];
    ip_unanswered(w, EVENT_ECHO_UNANSWERED, q, sizes_text(w, q, text));
}

static void report_large(const struct watch *w, const struct question *q, const struct reply *r)
{
    struct ip from = ip_of_key(q->key.who), to = ip_of_key(q->key.about);
    struct sender who = sender_at(w, q->lid, &from);
    const struct event_key key = event_key(w, EVENT_LARGE_LOST, q->key.who, q->key.about,
                                           q->key.requester);
    char target[SENDER_TEXT_SIZE], size[SIZE_TEXT];
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, q->first_frame,
                "no reply from %s was captured to %u requests %s since frame %u; one of %u bytes "
                "was answered in frame %u",
                ip_text(target, &to), q->waited, size_text(size, q->smallest), q->first_frame,
                r->size, r->frame);
}

void large_lost(const struct watch *w, struct question *q)
{
    struct question_key any = q->key;
    any.kind = QUESTION_ECHO;
    const struct reply *r = smaller_reply(answered_of(w, &any, question_key_place(&any)), q);
    if (r)
        report_large(w, q, r);
    else
        echo_unanswered(w, q);
}

/* ---- requests and replies */

/* The sender tries a smaller request: those before are a question of their own. */
static void set_large_apart(const struct watch *w, const struct echo *e, struct answered *a)
{
    struct question *q = question_find_at(w, &e->key, e->place);
    if (!q || e->size >= q->smallest)
        return;
    struct question_key large = a->key;
    large.kind = QUESTION_LARGE;
    if (question_find(w, &large))
        return;
    question_take(w, q, &large);
    a->has_large = true;
}

/* Is it larger than what was answered, or as large as those that wait since a smaller one was sent?
 */
static bool is_large(const struct watch *w, const struct answered *a, uint32_t size)
{
    if (is_recent(w, &a->largest) && a->largest.size < size)
        return true;
    if (!a->has_large)
        return false;
    struct question_key large = a->key;
    large.kind = QUESTION_LARGE;
    const struct question *q = question_find(w, &large);
    return q && q->smallest <= size;
}

APART static struct question *ask_large(const struct watch *w, const struct echo *e,
                                        struct answered *a)
{
    struct question_key large = e->key;
    large.kind = QUESTION_LARGE;
    a->has_large = true;
    return question_ask(w, &large, e->number);
}

static void watch_request(const struct watch *w, const struct echo *e)
{
    struct answered *a = answered_of(w, &e->key, e->place);
    set_large_apart(w, e, a);
    struct question *q = is_large(w, a, e->size) ? ask_large(w, e, a)
                                                 : question_ask_at(w, &e->key, e->place, e->number);
    if (!q)
        return;
    q->smallest = q->asked == 1 ? e->size : MIN(q->smallest, e->size);
}

/* Is it the reply to one of the large requests? Its size may differ if only these are fragmented.
 */
static bool is_reply_to(const struct echo *e, const struct question *q)
{
    bool same_identifier = e->number >> 16 == q->last >> 16;
    return e->size >= q->smallest ||
           (same_identifier && (uint16_t)(q->last - e->number) < q->asked);
}

static void take_back(const struct watch *w, enum event_kind kind, const struct question *q)
{
    const struct event_key key = event_key(w, kind, q->key.who, q->key.about, q->key.requester);
    const struct link_event *event = event_table_find(w->sink->events, &key);
    if (!event || event->cause_frame != q->first_frame)
        return;
    question_no_doubt(w, event);
    watch_take_back(w, event, 0);
    w->sink->last = NULL;
}

/*
 * The reply to one of the requests that were reported first: it was late, as over a connection that
 * sends lost packets again after its timeout.
 */
APART static void answered_late(const struct watch *w, const struct echo *e,
                                const struct question *q)
{
    bool same_identifier = e->number >> 16 == q->last >> 16;
    uint32_t after = (uint16_t)(q->last - e->number);
    if (!same_identifier || after >= q->asked || after + QUESTION_ASKED < q->asked ||
        packet_is_corrupt(w->p))
        return;
    take_back(w, EVENT_ECHO_UNANSWERED, q);
    take_back(w, EVENT_LARGE_LOST, q);
}

static void answer(const struct watch *w, const struct echo *e, struct question *q)
{
    if (q->reported)
        answered_late(w, e, q);
    question_answer(w, q);
}

static void watch_reply(const struct watch *w, const struct echo *e)
{
    struct question *any = question_find_at(w, &e->key, e->place);
    const struct question_key of_target = key_of_target(&e->key);
    note_answered(w, e, answered_of(w, &e->key, e->place));
    note_answered(w, e, answered_of(w, &of_target, question_key_place(&of_target)));
    if (any)
        answer(w, e, any);
    if (!w->questions->asked[QUESTION_LARGE])
        return;
    struct question_key key = e->key;
    key.kind = QUESTION_LARGE;
    struct question *large = question_find(w, &key);
    if (large && is_reply_to(e, large))
        answer(w, e, large);
}

APART static void watch_icmp_to_group(const struct watch *w)
{
    struct echo e;
    if (w->p->ib.dgid && find_echo(w->p, &e) && e.request)
        watch_group_request(w, &e);
}

/* A reply from a group's member has an address of its own, so pings of groups are no questions. */
OFTEN APART static void watch_icmp(const struct watch *w)
{
    struct echo e;
    e.icmp.p = NULL;
    if (!w->p->ib.has_lrh)
        return;
    if (ib_is_multicast(&w->p->ib)) {
        watch_icmp_to_group(w);
        return;
    }
    if (!find_echo(w->p, &e)) {
        if (e.icmp.p) {
            watch_icmp_error(w, e.icmp);
            watch_icmp_redirect(w, e.icmp);
        }
        return;
    }
    e.key = e.request ? key_of_ips(w, QUESTION_ECHO, &e.from, &e.to)
                      : key_of_ips(w, QUESTION_ECHO, &e.to, &e.from);
    e.hash = question_key_hash(&e.key);
    e.place = (unsigned)(e.hash >> 32);
    if (e.request)
        watch_request(w, &e);
    else {
        watch_reply(w, &e);
        watch_group_reply(w, &e);
    }
    watch_lossy_pings(w, &e);
    watch_echo_number(w, &e);
}

/*
 * Or a fragment, which may have ICMPv6. Messages of Neighbour Discovery, whose types are large, are
 * neither echoes nor errors (RFC 4443 section 2.1).
 */
static bool may_be_icmp(const struct datagram *d)
{
    const uint8_t *p = d->body.p;
    if (d->icmpv6.p && d->icmpv6.cap && d->icmpv6.p[0] >= ND_RS)
        return false;
    if (d->encap.type == TYPE_IPV4)
        return d->body.cap > IPV4_PROTOCOL && p[IPV4_PROTOCOL] == ICMP;
    return d->encap.type == TYPE_IPV6 && d->body.cap > IPV6_NEXT_HEADER &&
           (p[IPV6_NEXT_HEADER] == ICMPV6 || p[IPV6_NEXT_HEADER] == FRAGMENT_HEADER);
}

void watch_echo(const struct watch *w)
{
    if (may_be_icmp(&w->p->datagram))
        watch_icmp(w);
}

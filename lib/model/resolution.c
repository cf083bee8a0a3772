/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/resolution.h"

#include "model/write.h"

static guint add_bytes(guint h, const uint8_t *p, unsigned n)
{
    while (n--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static bool is_arp(const struct resolution *q)
{
    return q->target.length == 4;
}

static struct resolution *slot_of_request(struct resolutions *r, const struct resolution *q)
{
    guint h = add_bytes(q->link * 2654435761u, q->target.bytes, q->target.length);
    h = is_arp(q) ? add_bytes(h, q->requester + LLADDR_QPN, LLADDR_SIZE - LLADDR_QPN)
                  : add_bytes(h, q->requester_ip.bytes, q->requester_ip.length);
    return r->slots[(h ^ h >> 16) % RESOLUTIONS];
}

static bool same_requester(const struct resolution *a, const struct resolution *b)
{
    return a->link == b->link && ip_same(&a->target, &b->target) &&
           (is_arp(a) ? lladdr_same(a->requester, b->requester)
                      : ip_same(&a->requester_ip, &b->requester_ip));
}

static bool same_request(const struct resolution *a, const struct resolution *b)
{
    return same_requester(a, b) && lladdr_same(a->requester, b->requester) &&
           ip_same(&a->requester_ip, &b->requester_ip);
}

static void copy_last_reply(struct resolution *q, const struct resolution *earlier)
{
    q->before = earlier->before;
    if (earlier->reply_frame) {
        q->before.frame = earlier->frame;
        q->before.interface = earlier->interface;
        q->before.ns = earlier->ns;
    }
}

/* Store the request as the newest. A repeated request replaces its earlier entry. */
static void store_request(struct resolutions *r, const struct resolution *request)
{
    struct resolution *first = slot_of_request(r, request), q = *request;
    unsigned at = 0;
    if (!same_requester(first, &q))
        memset(first, 0, sizeof r->slots[0]);
    while (at < RESOLUTION_REQUESTS - 1 && !same_request(&first[at], &q))
        at++;
    if (same_request(&first[at], &q))
        copy_last_reply(&q, &first[at]);
    memmove(first + 1, first, at * sizeof *first);
    *first = q;
}

/*
 * The frame of a reply to the request that was captured a moment ago; 0: none. The request may have
 * been sent before it. A reply to an earlier request does not count.
 */
static uint32_t reply_before(const struct resolutions *r, const struct resolution *q,
                             const struct order *order)
{
    for (unsigned i = 0; i < RESOLUTION_REPLIES; i++) {
        const struct resolution *reply = &r->replies[i];
        if (!reply->replied && same_requester(reply, q) &&
            ip_same(&reply->requester_ip, &q->requester_ip) &&
            be24(reply->requester + LLADDR_QPN) == be24(q->requester + LLADDR_QPN) &&
            order_is_uncertain(order, reply->frame))
            return reply->frame;
    }
    return 0;
}

/* The replied request of which this packet is a copy, which the capture has twice; NULL: none. */
static const struct resolution *replied_copy(struct resolutions *r, const struct resolution *q)
{
    const struct resolution *first = slot_of_request(r, q);
    for (unsigned i = 0; i < RESOLUTION_REQUESTS; i++)
        if (same_request(&first[i], q) && first[i].psn == q->psn && first[i].replied)
            return &first[i];
    return NULL;
}

void resolution_requested(struct resolutions *r, const struct resolution *q,
                          const struct order *order)
{
    struct resolution request = *q;
    const struct resolution *copy = replied_copy(r, q);
    request.reply_frame = reply_before(r, q, order);
    request.replied = request.reply_frame || copy;
    if (!request.reply_frame && copy)
        request.reply_frame = copy->reply_frame;
    store_request(r, &request);
}

void resolution_replied(struct resolutions *r, const struct resolution *q)
{
    r->replies[r->next_reply++ % RESOLUTION_REPLIES] = *q;
}

const struct resolution *resolution_request(const struct resolutions *r,
                                            const struct resolution *like, unsigned of)
{
    return resolution_get((struct resolutions *)r, like, of);
}

struct resolution *resolution_get(struct resolutions *r, const struct resolution *like, unsigned of)
{
    struct resolution *q = slot_of_request(r, like) + of;
    return of < RESOLUTION_REQUESTS && q->target.length && same_requester(q, like) ? q : NULL;
}

static void move_replies(struct resolutions *r, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < RESOLUTION_REPLIES; i++)
        if (r->replies[i].link >> 16 == from)
            r->replies[i].link = (uint32_t)to << 16 | (r->replies[i].link & 0xffffu);
}

void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to)
{
    move_replies(r, from, to);
    for (unsigned i = 0; i < RESOLUTIONS; i++) {
        struct resolution requests[RESOLUTION_REQUESTS];
        if (!r->slots[i][0].target.length || r->slots[i][0].link >> 16 != from)
            continue;
        memcpy(requests, r->slots[i], sizeof requests);
        memset(r->slots[i], 0, sizeof requests);
        for (unsigned k = RESOLUTION_REQUESTS; k-- > 0;) { /* oldest first */
            requests[k].link = (uint32_t)to << 16 | (requests[k].link & 0xffffu);
            if (requests[k].target.length)
                store_request(r, &requests[k]);
        }
    }
}

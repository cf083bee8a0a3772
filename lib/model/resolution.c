/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/resolution.h"

#include "model/hash.h"
#include "model/write.h"

static bool is_arp(const struct resolution *q)
{
    return q->target.length == 4;
}

static bool same_requester(const struct resolution *a, const struct resolution *b)
{
    return a->link == b->link && ip_same(&a->target, &b->target) &&
           (is_arp(a) ? lladdr_same(a->requester, b->requester)
                      : ip_same(&a->requester_ip, &b->requester_ip));
}

/* By the fields that same_requester() compares. */
static guint requester_hash(gconstpointer key)
{
    const struct resolution *q = key;
    uint8_t bytes[sizeof q->link + sizeof q->target.bytes + LLADDR_SIZE] = {0};
    uint8_t *requester = bytes + sizeof q->link + sizeof q->target.bytes;
    memcpy(bytes, &q->link, sizeof q->link);
    memcpy(bytes + sizeof q->link, q->target.bytes, q->target.length);
    if (is_arp(q))
        memcpy(requester, q->requester + LLADDR_QPN, LLADDR_SIZE - LLADDR_QPN);
    else
        memcpy(requester, q->requester_ip.bytes, q->requester_ip.length);
    return hash_bytes(bytes, sizeof bytes);
}

static gboolean requester_equal(gconstpointer a, gconstpointer b)
{
    return same_requester(a, b);
}

struct resolutions *resolutions_new(void)
{
    struct resolutions *r = g_new0(struct resolutions, 1);
    r->places = g_hash_table_new(requester_hash, requester_equal);
    return r;
}

void resolutions_free(struct resolutions *r)
{
    if (!r)
        return;
    g_hash_table_destroy(r->places);
    g_free(r);
}

/* The requester's requests for that IP address; NULL: none. */
static struct resolution *slot_of_request(const struct resolutions *r, const struct resolution *q)
{
    return g_hash_table_lookup(r->places, q);
}

/* Makes room for the first request Q of a requester: the slot that was taken first. */
static void take_slot(struct resolutions *r, const struct resolution *q)
{
    struct resolution *first = r->slots[r->next_slot++ % RESOLUTIONS];
    if (first->target.length)
        g_hash_table_remove(r->places, first);
    memset(first, 0, sizeof r->slots[0]);
    *first = *q; /* the key */
    g_hash_table_add(r->places, first);
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
    if (!first) {
        take_slot(r, request);
        return;
    }
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
    for (unsigned i = 0; first && i < RESOLUTION_REQUESTS; i++)
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
    struct resolution *first = slot_of_request(r, like);
    return first && of < RESOLUTION_REQUESTS && first[of].target.length ? first + of : NULL;
}

static void move_replies(struct resolutions *r, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < RESOLUTION_REPLIES; i++)
        if (link_interface(r->replies[i].link) == from)
            r->replies[i].link = link_on(r->replies[i].link, to);
}

/* The requester may have requests on the other interface, too. */
static void move_slot(struct resolutions *r, struct resolution *first, uint16_t to)
{
    struct resolution requests[RESOLUTION_REQUESTS];
    g_hash_table_remove(r->places, first);
    for (unsigned k = 0; k < RESOLUTION_REQUESTS; k++)
        first[k].link = link_on(first[k].link, to);
    if (!slot_of_request(r, first)) {
        g_hash_table_add(r->places, first);
        return;
    }
    memcpy(requests, first, sizeof requests);
    memset(first, 0, sizeof requests);
    for (unsigned k = RESOLUTION_REQUESTS; k-- > 0;) /* oldest first */
        if (requests[k].target.length)
            store_request(r, &requests[k]);
}

void resolutions_merge(struct resolutions *r, uint16_t from, uint16_t to)
{
    move_replies(r, from, to);
    for (unsigned i = 0; i < RESOLUTIONS; i++)
        if (r->slots[i][0].target.length && link_interface(r->slots[i][0].link) == from)
            move_slot(r, r->slots[i], to);
}

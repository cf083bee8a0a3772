/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replies to pings that do not fit their requests (RFC 792, RFC 4443 section 4.2): with other data,
 * or with a second reply to one request.
 *
 * The checksums tell whether the data are the same, also if they were not captured. A router that
 * sends a datagram back to its link has the same reply there with a smaller TTL. Of a number that
 * several requests have, no reply is a second one.
 */
#include "analysis/echo.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"
#include "wire/checksum.h"

enum { PINGS = 1 << 10, ANSWER_MS = 1000, AGAIN_MS = 500, REQUEST_MS = 60000 };
enum { ICMP_CHECKSUM = 2 };

struct ping {
    uint64_t hash; /* of addresses and number; 0: unused */
    int64_t ms;    /* of the last request */
    uint32_t frame;
    uint32_t length; /* bytes of ICMP; 0: in fragments */
    uint16_t data;   /* sum of all but type, code and checksum */
    uint32_t requests, replies;
    bool is_ambiguous; /* several requests of different data */
    struct {
        int64_t ms;
        uint32_t frame, psn, sqpn, length;
        uint16_t data, lid;
        uint8_t ttl;
    } last; /* reply */
};

/* A cache. */
struct pings {
    struct ping all[PINGS];
};

NEW_HISTORY(pings, pings_new)

/* ---- data */

/*
 * The sum is that of one's complement, from 0 to 0xfffe. The pseudo header of ICMPv6 is the same in
 * both.
 */
static uint16_t sum_of_data(const struct echo *e)
{
    uint32_t sum = (0xffffu - be16(e->icmp.p + ICMP_CHECKSUM)) + (0xffffu - be16(e->icmp.p));
    sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff ? 0 : (uint16_t)sum;
}

/* 0: in fragments. */
static uint32_t length_of(const struct echo *e)
{
    return e->size == SIZE_FRAGMENTED || e->size < e->header ? 0 : e->size - e->header;
}

/* Is the checksum that of the data? Of a wrong one, wrong_checksum is the event. */
static bool is_checksum_right(const struct echo *e)
{
    uint32_t length = length_of(e);
    if (!length || view_has(e->icmp, 0, length) != WIRE_OK)
        return false;
    uint64_t sum = checksum_sum(e->icmp.p, length);
    if (e->from.length == IPV4_ADDRESS_SIZE)
        return checksum_sum_is_right(sum);
    sum += checksum_sum(e->from.bytes, e->from.length) + checksum_sum(e->to.bytes, e->to.length);
    enum { ICMPV6 = 58 };
    return checksum_sum_is_right(sum + GUINT16_TO_BE((uint16_t)length) +
                                 GUINT16_TO_BE((uint16_t)ICMPV6));
}

/* ---- events */

static struct event_key key_of(const struct watch *w, const struct echo *e, uint64_t number)
{
    struct event_key key = event_key(w, EVENT_ECHO_WRONG_ANSWER, NULL, NULL,
                                     number << 32 | packet_link_key(w->p));
    memcpy(key.who, e->from.bytes, e->from.length);
    memcpy(key.about, e->to.bytes, e->to.length);
    return key;
}

APART static void other_length(const struct watch *w, const struct echo *e, const struct ping *p)
{
    struct sender who = sender_of(w->f, w->p);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = key_of(w, e, 1);
    watch_event(w, &key, &who, p->frame,
                "its reply to a ping of %s has %u bytes of ICMP, the request in frame %u has %u",
                ip_text(to, &e->to), length_of(e), p->frame, p->length);
}

APART static void other_data(const struct watch *w, const struct echo *e, const struct ping *p)
{
    struct sender who = sender_of(w->f, w->p);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = key_of(w, e, 2);
    if (!is_checksum_right(e))
        return;
    watch_event(w, &key, &who, p->frame,
                "its reply to a ping of %s has other data than the request in frame %u, and the "
                "right checksum of them",
                ip_text(to, &e->to), p->frame);
}

APART static void second_reply(const struct watch *w, const struct echo *e, const struct ping *p)
{
    struct sender who = sender_of(w->f, w->p);
    char to[SENDER_TEXT_SIZE], other[40] = "";
    const struct event_key key = key_of(w, e, 3);
    if (p->last.lid != w->p->ib.slid)
        g_snprintf(other, sizeof other, ", from LID %u", p->last.lid);
    watch_event(w, &key, &who, p->last.frame,
                "a second reply to one ping of %s (another is in frame %u%s): a datagram was "
                "doubled, or two hosts answer",
                ip_text(to, &e->to), p->last.frame, other);
}

/* ---- requests and replies */

static uint64_t hash_of(const struct echo *e)
{
    return mix_two(0, e->hash, e->number) | 1;
}

static struct ping *place_of(const struct watch *w, uint64_t hash)
{
    return &w->pings->all[hash >> 32 & (PINGS - 1)];
}

static bool is_within(int64_t since, int64_t ms, int64_t limit)
{
    return ms >= since && (uint64_t)ms - (uint64_t)since <= (uint64_t)limit;
}

static void requested(const struct watch *w, const struct echo *e)
{
    uint64_t hash = hash_of(e);
    struct ping *p = place_of(w, hash);
    uint32_t length = length_of(e);
    uint16_t data = sum_of_data(e);
    if (p->hash != hash || !is_within(p->ms, watch_ms(w), REQUEST_MS))
        *p = (struct ping){.hash = hash, .length = length, .data = data};
    p->is_ambiguous |= p->length != length || p->data != data;
    p->ms = watch_ms(w);
    p->frame = w->p->at.frame;
    p->requests++;
}

/* What a request and its reply have in common. */
struct contents {
    uint32_t length;
    uint16_t data;
};

static struct contents contents_of(const struct echo *e)
{
    return (struct contents){length_of(e), sum_of_data(e)};
}

static void compare(const struct watch *w, const struct echo *e, const struct ping *p,
                    struct contents now)
{
    if (p->is_ambiguous || !is_within(p->ms, watch_ms(w), ANSWER_MS))
        return;
    if (now.length && p->length && now.length != p->length)
        other_length(w, e, p);
    else if (now.data != p->data)
        other_data(w, e, p);
}

static bool is_initial(uint8_t ttl)
{
    return ttl == 64 || ttl == 128 || ttl == 255;
}

/* The same datagram, not one that was captured twice, and not on its way through a router? */
static bool is_second(const struct watch *w, const struct echo *e, const struct ping *p)
{
    const struct ib_packet *ib = &w->p->ib;
    bool other_packet = ib->psn != p->last.psn || (ib->has_deth && ib->sqpn != p->last.sqpn);
    bool same_way = e->ttl == p->last.ttl || (is_initial(e->ttl) && is_initial(p->last.ttl));
    return p->requests == 1 && other_packet && same_way && length_of(e) == p->last.length &&
           sum_of_data(e) == p->last.data && is_within(p->last.ms, watch_ms(w), AGAIN_MS);
}

static void note_reply(const struct watch *w, const struct echo *e, struct ping *p,
                       struct contents now)
{
    p->last.ms = watch_ms(w);
    p->last.frame = w->p->at.frame;
    p->last.psn = w->p->ib.psn;
    p->last.sqpn = w->p->ib.has_deth ? w->p->ib.sqpn : 0;
    p->last.length = now.length;
    p->last.data = now.data;
    p->last.lid = w->p->ib.slid;
    p->last.ttl = e->ttl;
}

static void replied(const struct watch *w, const struct echo *e)
{
    uint64_t hash = hash_of(e);
    struct ping *p = place_of(w, hash);
    if (p->hash != hash || packet_is_corrupt(w->p))
        return;
    const struct contents now = contents_of(e);
    if (p->requests == 1 && !p->replies && is_initial(e->ttl))
        watch_reply_delay(w, e, watch_ms(w) - p->ms);
    if (p->replies++ < p->requests)
        compare(w, e, p, now);
    else if (is_second(w, e, p))
        second_reply(w, e, p);
    note_reply(w, e, p, now);
}

void watch_echo_number(const struct watch *w, const struct echo *e)
{
    if (e->request)
        requested(w, e);
    else
        replied(w, e);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams that go round between routers: the same one comes again and again on the link, with a
 * TTL that falls, and a port has sent it twice. A router that sends a datagram back to its link has
 * it twice there, and several may do so one after the other, which is no loop.
 *
 * Or they go round elsewhere: a router reports that the TTL of a datagram has ended (ICMP
 * "time exceeded"), which went through the link with a large one. Programs that trace a route begin
 * with small ones.
 */
#include "analysis/ip.h"
#include "rules/check_context.h"

enum { LOOPS = 1 << 10, ROUNDS = 3, SENDERS = 8 };
/* Programs that trace a route stop at 30; and hardly any path has more routers. */
enum { LARGE_TTL = 32 };
static const int64_t age_ns = INT64_C(10) * 1000000000;

/* A cache: a datagram that is overwritten by another counts as not seen. */
struct round_trip {
    uint64_t hash; /* 0: unused */
    int64_t ns;
    uint32_t frame; /* the first */
    uint16_t again; /* how often it came again */
    bool returned;  /* a port sent it twice */
    uint8_t senders;
    uint16_t lids[SENDERS]; /* of those who sent it */
    uint8_t ttl;            /* the last */
};

struct routing_loops {
    struct round_trip all[LOOPS];
};

NEW_HISTORY(routing_loops, routing_loops_new)

APART static uint64_t hash_of_short(const struct watch *w, const struct ip_datagram *d)
{
    uint8_t body[ROUTING_BODY] = {0};
    memcpy(body, d->body.p, d->body.cap);
    return routing_hash(w, d, body);
}

static inline uint64_t hash_of(const struct watch *w, const struct ip_datagram *d)
{
    return d->body.cap < ROUTING_BODY ? hash_of_short(w, d) : routing_hash(w, d, d->body.p);
}

APART static void report(const struct watch *w, const struct ip_datagram *d,
                         const struct round_trip *r)
{
    struct sender who = sender_of(w->f, w->p);
    struct ip source_ip = ip_sender(d), to = ip_receiver(d);
    struct sender from = sender_with_ip((struct sender){.known = 0}, &source_ip);
    char source[SENDER_TEXT_SIZE], target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_ROUTING_LOOP, NULL, to.bytes, 0);
    watch_no_copy(w, &key); /* two ports may have one PSN */
    watch_event(w, &key, &who, r->frame,
                "it forwards a datagram of %s to %s that came by before, with a larger TTL: %u "
                "times since frame %u",
                sender_text(source, &from), ip_receiver_text(target, d), r->again, r->frame);
}

static inline struct round_trip *place_of(const struct watch *w, uint64_t hash)
{
    return &w->routing_loops->all[hash >> 32 & (LOOPS - 1)];
}

bool routing_has_seen(const struct watch *w, uint64_t hash)
{
    return place_of(w, hash)->hash == hash;
}

void routing_begin(const struct watch *w, uint64_t hash, uint8_t ttl)
{
    struct round_trip *r = place_of(w, hash);
    r->hash = hash;
    r->ns = w->p->at.ns;
    r->frame = w->p->at.frame;
    r->again = 0;
    r->returned = false;
    r->senders = 1;
    r->lids[0] = w->p->ib.slid;
    r->ttl = ttl;
}

static void note_sender(struct round_trip *r, uint16_t lid)
{
    for (unsigned i = 0; i < r->senders; i++)
        r->returned |= r->lids[i] == lid;
    if (r->senders < SENDERS)
        r->lids[r->senders++] = lid;
}

/* Its hash was seen before. */
APART static void come_again(const struct watch *w, const struct ip_datagram *d,
                             struct round_trip *r)
{
    int64_t ns = w->p->at.ns;
    if (d->ttl > r->ttl || ns < r->ns || (uint64_t)ns - (uint64_t)r->ns > (uint64_t)age_ns) {
        routing_begin(w, r->hash, d->ttl);
        return;
    }
    if (d->ttl == r->ttl)
        return;
    note_sender(r, w->p->ib.slid);
    r->ttl = d->ttl;
    r->ns = ns;
    if (++r->again >= ROUNDS && r->returned)
        report(w, d, r);
}

void watch_routing_loop(const struct watch *w, const struct ip_datagram *d)
{
    uint64_t hash = hash_of(w, d);
    if (d->ttl > 1 && watch_is_alert(w, ALERT_SMALL_TTLS))
        watch_larger_ttl(w, d);
    if (routing_has_seen(w, hash))
        come_again(w, d, place_of(w, hash));
    else
        routing_begin(w, hash, d->ttl);
}

void watch_time_exceeded(const struct watch *w, const struct ip_datagram *about)
{
    uint64_t hash = hash_of(w, about);
    const struct round_trip *r = place_of(w, hash);
    int64_t ns = w->p->at.ns;
    bool is_whole = about->body.cap >= MIN(ROUTING_BODY, about->length);
    if (!is_whole || r->hash != hash || ns < r->ns ||
        (uint64_t)ns - (uint64_t)r->ns > (uint64_t)age_ns)
        return;
    if (r->ttl == 1 && !r->again)
        watch_small_ttl(w, about);
    if (r->ttl <= LARGE_TTL)
        return;
    struct sender who = sender_of(w->f, w->p);
    struct ip source_ip = ip_sender(about), to = ip_receiver(about);
    struct sender from = sender_with_ip((struct sender){.known = 0}, &source_ip);
    char source[SENDER_TEXT_SIZE], target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_ROUTING_LOOP, NULL, to.bytes, 1);
    watch_event(
        w, &key, &who, r->frame,
        "a datagram of %s to %s goes round between routers: it came by with a TTL of %u, which "
        "has ended (ICMP, time exceeded)",
        sender_text(source, &from), ip_receiver_text(target, about), r->ttl);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams that go round between routers: the same one comes again and again on the link, with a
 * TTL that falls. A router that sends a datagram back to its link has it twice there, which is no
 * loop.
 */
#include "analysis/ip.h"
#include "model/mix.h"
#include "rules/check_context.h"

enum { LOOPS = 1 << 10, ROUNDS = 3, AGE_MS = 10000, BODY = 24 };

/* A cache: a datagram that is overwritten by another counts as not seen. */
struct round_trip {
    uint64_t hash; /* 0: unused */
    int64_t ms;
    uint32_t frame; /* the first */
    uint16_t again; /* how often it came again */
    uint8_t ttl;    /* the last */
};

struct routing_loops {
    struct round_trip all[LOOPS];
};

struct routing_loops *routing_loops_new(void)
{
    return g_new0(struct routing_loops, 1);
}

static uint64_t mix_bytes(uint64_t h, const uint8_t *p, uint32_t n)
{
    uint64_t word;
    for (; n; p += MIN(n, sizeof word), n -= MIN(n, sizeof word)) {
        word = 0;
        memcpy(&word, p, MIN(n, sizeof word));
        h = mix_word(h, word);
    }
    return h;
}

/* Of what does not change on the way. */
static uint64_t hash_of(const struct watch *w, const struct ip_datagram *d)
{
    uint64_t h = packet_link_key(w->p) ^ (uint64_t)d->length << 8 ^ d->protocol;
    if (d->from.length == IPV4_ADDRESS_SIZE)
        h = mix_bytes(h, d->header.p + 4, sizeof(uint16_t)); /* Identification */
    h = mix_bytes(mix_bytes(h, d->from.bytes, d->from.length), d->to.bytes, d->to.length);
    return mix_bytes(h, d->body.p, MIN(d->body.cap, BODY)) | 1;
}

static void report(const struct watch *w, const struct ip_datagram *d, const struct round_trip *r)
{
    struct sender who = sender_of(w->f, w->p);
    struct sender from = sender_with_ip((struct sender){.known = 0}, &d->from),
                  to = sender_with_ip((struct sender){.known = 0}, &d->to);
    char source[SENDER_TEXT_SIZE], target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_ROUTING_LOOP, NULL, d->to.bytes, 0);
    watch_no_copy(w, &key); /* two ports may have one PSN */
    watch_event(w, &key, &who, r->frame,
                "it forwards a datagram of %s to %s that came by before, with a larger TTL: %u "
                "times since frame %u",
                sender_text(source, &from), sender_text(target, &to), r->again, r->frame);
}

void watch_routing_loop(const struct watch *w, const struct ip_datagram *d)
{
    uint64_t hash = hash_of(w, d);
    struct round_trip *r = &w->routing_loops->all[hash >> 32 & (LOOPS - 1)];
    int64_t ms = watch_ms(w);
    if (r->hash != hash || ms - r->ms > AGE_MS || ms < r->ms || d->ttl > r->ttl)
        *r = (struct round_trip){hash, ms, w->p->at.frame, 0, d->ttl};
    if (d->ttl == r->ttl)
        return;
    r->ttl = d->ttl;
    r->ms = ms;
    if (++r->again >= ROUNDS)
        report(w, d, r);
}

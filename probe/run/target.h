/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is probed: an IP address, or the fabric; and where its packets and findings go. */
#ifndef IPOIB_PROBE_TARGET_H
#define IPOIB_PROBE_TARGET_H

#include "probe/run/results.h"
#include "probe/run/run.h"

struct peer;       /* probe/exchange/peer.h */
struct probe_link; /* probe/link/link.h */
struct ud_from;    /* probe/link/transport.h */
struct wirelog;    /* probe/link/wirelog.h */
struct target;

/* true: this is the packet that was waited for. */
typedef bool packet_match(struct target *t, const struct ud_from *from, void *user);

/*
 * How a target waits while others go on: returns true when a packet matched within ms milliseconds.
 */
typedef bool target_yield(struct target *t, int ms, packet_match *match, void *user);

struct target {
    struct run *run;
    struct probe_link *link;
    struct wirelog *log;
    struct results *results;
    char name[300]; /* as the user named it; of a host name also its address */
    bool ipv6;
    uint8_t ip[16];      /* the first 4 bytes of IPv4 */
    struct peer *peer;   /* what is known of it */
    bool about_fabric;   /* what the SA answers is judged; else it is only learnt from */
    target_yield *yield; /* NULL: no others are probed at the same time */
    /*
     * Why a host would drop the last of the answers that came to the question, in words that follow
     * "it has"; NULL: no such answer came.
     */
    const char *unusable;
};

static inline bool target_ended(const struct target *t)
{
    return t->run->stopped || t->run->broken;
}

#endif

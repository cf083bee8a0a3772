/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A target, which is an IP address or the fabric, and where its packets and findings go. */
#ifndef IPOIB_PROBE_TARGET_H
#define IPOIB_PROBE_TARGET_H

#include <string.h>

#include "probe/run/results.h"
#include "probe/run/run.h"

struct peer;       /* probe/exchange/peer.h */
struct probe_link; /* probe/link/link.h */
struct ud_from;    /* probe/link/transport.h */
struct wirelog;    /* probe/link/wirelog.h */
struct target;

/* Returns true if this is the expected packet. */
typedef bool packet_match(struct target *t, const struct ud_from *from, void *user);

/* How a target waits while others run: returns true if a packet matched within ms milliseconds. */
typedef bool target_yield(struct target *t, int ms, packet_match *match, void *user);

struct target {
    struct run *run;
    struct probe_link *link;
    struct wirelog *log;
    struct results *results;
    char name[300]; /* as given by the user; for a host name, includes its address */
    bool ipv6;
    uint8_t ip[16];      /* for IPv4 the first 4 bytes */
    struct peer *peer;   /* what is known about it */
    bool about_fabric;   /* SA responses are checked; otherwise they only update the model */
    target_yield *yield; /* NULL: no other targets run at the same time */
    /*
     * Why a host would drop the last response to the request, as text that follows "it has"; NULL:
     * no such response arrived.
     */
    const char *unusable;
};

/* How much of the name a command takes: "n2" of "n2 (10.0.0.2)". For "%.*s" with the name. */
static inline int target_word(const struct target *t)
{
    return (int)strcspn(t->name, " ");
}

static inline bool target_ended(const struct target *t)
{
    return t->run->stopped || t->run->broken;
}

#endif

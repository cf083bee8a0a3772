/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests several addresses at once. See addresses.h. */
#include "probe/exchange/addresses.h"

#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/run/options.h"
#include "probe/run/run.h"

struct asking {
    const struct request *q;
    struct asked_address *all;
    unsigned n, waits; /* waits: have no reply yet */
};

static struct pending_request pending_of(const struct asking *k, struct asked_address *a)
{
    return (struct pending_request){.q = k->q, .ipv6 = a->ipv6, .ip = a->ip, .a = &a->reply};
}

static void find_group(struct target *t, struct asking *k, struct asked_address *a)
{
    struct pending_request x = pending_of(k, a);
    enum groups_found groups = exchange_find_groups(t, &x, &a->group, a->why);
    a->outcome = groups == GROUPS_FOUND ? NO_RESPONSE : NOT_SENT;
    a->no_group = groups == GROUP_ABSENT;
    k->waits += groups == GROUPS_FOUND;
}

static bool send_one(struct target *t, const struct asking *k, struct asked_address *a)
{
    struct pending_request x = pending_of(k, a);
    uint8_t out[UD_SIZE];
    return send_group(t, &a->group, out, request_make(t, &x, t->link->lladdr, out));
}

/* True when all have replied (packet_match; user: struct asking). */
static bool take_replies(struct target *t, const struct ud_from *from, void *user)
{
    struct asking *k = user;
    for (unsigned i = 0; i < k->n; i++) {
        struct asked_address *a = &k->all[i];
        struct pending_request x = pending_of(k, a);
        if (a->outcome != NO_RESPONSE || !request_take_response(t, from, &x))
            continue;
        a->outcome = RESPONSE_RECEIVED;
        k->waits--;
    }
    return k->waits == 0;
}

static void ask_silent(struct target *t, struct asking *k)
{
    for (unsigned i = 0; i < k->n && !target_ended(t); i++)
        if (k->all[i].outcome == NO_RESPONSE)
            send_one(t, k, &k->all[i]);
}

void addresses_ask(const struct target *of, const struct request *q, struct asked_address *all,
                   unsigned n, unsigned tries)
{
    struct peer nobody = {.known = false};
    struct target t = *of;
    struct asking k = {.q = q, .all = all, .n = n};
    t.peer = &nobody;
    for (unsigned i = 0; i < n && !target_ended(&t); i++)
        find_group(&t, &k, &all[i]);
    for (unsigned i = 0; i < tries && k.waits && !target_ended(&t); i++) {
        ask_silent(&t, &k);
        receive_await(&t, (int)t.run->options->timeout_ms, take_replies, &k);
    }
}

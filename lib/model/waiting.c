/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/waiting.h"

/* Requests at the same time; an overwritten one counts only if it has waited. */
enum { REQUESTS = 512 };
/* ns. Linux hosts wait for a second; the response of a slow SA may still come. */
#define WAITS INT64_C(3000000000)

struct waiting_entry {
    struct port requester; /* id 0: unused */
    uint64_t tid;
    int64_t ns;
    uint32_t frame;
    bool answered;
};

/* A response that was captured before its request. */
struct early_response {
    struct port requester; /* id 0: unused */
    uint64_t tid;
};

struct waiting {
    struct waiting_entry slots[REQUESTS];
    struct early_response early[REQUESTS];
    uint64_t unanswered; /* of those that were overwritten */
    uint32_t frame;      /* of the first of them */
};

struct waiting *waiting_new(void)
{
    return g_new0(struct waiting, 1);
}

static void count(uint64_t *n, uint32_t *frame, const struct waiting_entry *r, int64_t now)
{
    bool waits = now < r->ns || (uint64_t)now - (uint64_t)r->ns < (uint64_t)WAITS;
    if (!r->requester.id || r->answered || waits)
        return;
    ++*n;
    *frame = *frame && *frame < r->frame ? *frame : r->frame;
}

static bool is_of(const struct waiting_entry *r, const struct port *requester, uint64_t tid)
{
    return port_same(r->requester, *requester) && r->tid == tid;
}

void waiting_request(struct waiting *all, const struct port *requester, uint64_t tid,
                     unsigned place, uint32_t frame, int64_t ns)
{
    struct waiting_entry *r = &all->slots[place % REQUESTS];
    const struct early_response *early = &all->early[place % REQUESTS];
    if (!requester->id)
        return;
    if (!is_of(r, requester, tid)) {
        count(&all->unanswered, &all->frame, r, ns);
        *r = (struct waiting_entry){.requester = *requester, .tid = tid, .frame = frame};
        r->answered = port_same(early->requester, *requester) && early->tid == tid;
    }
    r->ns = ns;
}

void waiting_response(struct waiting *all, const struct port *requester, uint64_t tid,
                      unsigned place)
{
    struct waiting_entry *r = &all->slots[place % REQUESTS];
    if (is_of(r, requester, tid))
        r->answered = true;
    else
        all->early[place % REQUESTS] = (struct early_response){*requester, tid};
}

void waiting_merge(struct waiting *all)
{
    memset(all->slots, 0, sizeof all->slots);
    memset(all->early, 0, sizeof all->early);
}

uint64_t waiting_count(const struct waiting *all, int64_t now, uint32_t *frame)
{
    uint64_t n = all->unanswered;
    *frame = all->frame;
    for (unsigned i = 0; i < REQUESTS; i++)
        count(&n, frame, &all->slots[i], now);
    return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/claims/claim_state.h"
#include "rules/suspicions/results.h"

struct claims *claims_new(struct undone *undone)
{
    struct claims *c = g_new0(struct claims, 1);
    c->undone = undone;
    return c;
}

void claims_free(struct claims *c)
{
    if (c)
        g_free(c->all);
    g_free(c);
}

/* Copies what the entity points to: the packet is gone when the claim is decided. */
static void keep_entity(struct claim *f, const struct entity *about)
{
    f->about = *about;
    if (about->bytes) {
        memcpy(f->bytes, about->bytes, about->kind == ENTITY_ADDRESS ? LLADDR_SIZE : GID_SIZE);
        f->about.bytes = f->bytes;
    }
    if (about->group) {
        memcpy(f->group, about->group, MGID_SIZE);
        f->about.group = f->group;
    }
}

static bool is_same_claim(const struct claim *f, const struct claim *g)
{
    return f->port == g->port && f->rule == g->rule && f->value == g->value &&
           entity_same(&f->about, &g->about);
}

static bool is_waiting(const struct claims *c, const struct claim *f)
{
    for (unsigned i = 0; c->waiting && i < CLAIMS_MAX; i++)
        if (c->all[i].port && is_same_claim(&c->all[i], f))
            return true;
    return false;
}

/*
 * The free slot after the newest claim, so that the claims stay in their order as long as slots do
 * not run short. NULL: none is free.
 */
static struct claim *free_slot(struct claims *c)
{
    for (unsigned i = 0; i < CLAIMS_MAX; i++) {
        struct claim *slot = &c->all[c->next++ % CLAIMS_MAX];
        if (!slot->port)
            return slot;
    }
    return NULL;
}

static void add_claim(const struct check_context *s, const struct claim *f)
{
    struct claims *c = s->claims;
    if (!c->all)
        c->all = g_new0(struct claim, CLAIMS_MAX);
    struct claim *slot = free_slot(c);
    if (!slot && claims_end_first_held(s))
        slot = free_slot(c);
    if (!slot) {
        undone_refuse(c->undone, UNDONE_WAITING);
        return;
    }
    c->waiting++;
    *slot = *f;
    keep_entity(slot, &f->about);
}

struct claim *claims_next(struct claims *c, unsigned *at)
{
    while (c->waiting && *at < CLAIMS_MAX) {
        struct claim *f = &c->all[(c->next + (*at)++) % CLAIMS_MAX];
        if (!f->port || f->proved_frame)
            continue;
        f->port = endport_of(f->port);
        return f;
    }
    return NULL;
}

/* ---- the packet of a claim */

static uint16_t partition_of(const struct packet *p)
{
    const struct connection *c = p->classification.connection;
    return c ? c->pkey : p->ib.pkey;
}

#define NOT_PROVED       "not proved at this packet: "
#define OTHER_PARAMETERS "the SA may have sent the sender other parameters"

/* Why the result is inconclusive now. */
static const char *const doubts[] = {
    [FACT_AT_MEMBER] = NOT_PROVED OTHER_PARAMETERS,
    [FACT_AT_COPY] = NOT_PROVED "a capture point may have lost the same packet before",
    [FACT_AT_SMP] = NOT_PROVED "an SMP of the port may be missing",
    [FACT_AT_DATAGRAM] = NOT_PROVED "an ARP request of the requester may be missing",
    [FACT_AT_RESPONSE] = NOT_PROVED "a request of the port may be missing",
    [FACT_AT_SA] = NOT_PROVED "a request of the port may be missing",
    [FACT_AT_REQUEST] = NOT_PROVED "a request of the port may be missing",
};

static struct claim claim_of(const struct check_context *s, const struct result *r,
                             const struct certainty *when)
{
    const struct packet *p = s->p;
    bool at_member = when->when == FACT_AT_MEMBER, at_copy = when->when == FACT_AT_COPY;
    const struct endport *port = at_member ? endport_of(when->group->informed) : when->port;
    return (struct claim){.when = when->when,
                          .port = port,
                          .lid = port ? port->lid : 0,
                          .since = when->since,
                          .port_is_complete = at_copy || when->when == FACT_AT_SA,
                          .lacks_copy = at_copy || when->copy,
                          .group_of_member = when->group,
                          .rule = r->rule,
                          .about = r->about,
                          .value = result_value(r),
                          .has_number = s->r->value != NULL,
                          .name = s->r->name,
                          .frame = p->at.frame,
                          .fault_frame = s->r->frame ? s->r->frame : p->at.frame,
                          .ns = p->at.ns,
                          .sender = s->r->sender ? *s->r->sender : sender_of(s->f, p),
                          .to = p->dst,
                          .qpn = p->ib.dqpn,
                          .pkey = partition_of(p)};
}

/* Does the port of the claim show, as a member, what the SA sent for the group? */
static bool member_is_followed(const struct check_context *s, const struct claim *f)
{
    const struct member *m = f->port ? groups_member(s->f->groups, f->group_of_member, f->port)
                                     : NULL;
    return m && m->join_state && member_is_known(m);
}

void claims_add(const struct check_context *s, const struct result *r, const struct certainty *when,
                const char *expected, const char *actual)
{
    struct claim f = claim_of(s, r, when);
    report_inconclusive(s->r, f.rule, NULL, doubts[f.when]);
    if (f.when == FACT_AT_MEMBER && !member_is_followed(s, &f)) {
        if (!when->captured_in || !suspect_result(s, r, when->captured_in, false))
            report_unproved(s->r, f.rule, &f.about, expected, actual, OTHER_PARAMETERS);
        return;
    }
    if (f.when == FACT_AT_DATAGRAM)
        f.request = *r->facts[0].request;
    g_strlcpy(f.expected, expected, sizeof f.expected);
    g_strlcpy(f.actual, actual, sizeof f.actual);
    if (packet_is_corrupt(s->p) || is_waiting(s->claims, &f))
        return;
    f.is_suspected = when->captured_in && suspect_result(s, r, when->captured_in, true);
    add_claim(s, &f);
}

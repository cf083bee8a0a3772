/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/postpone.h"

#include <stdio.h>

#include "wire/lladdr.h"
#include "wire/mgid.h"

/* Upper limit of claims; a new one replaces the oldest, which stays inconclusive. */
enum { CLAIMS = 256 };

struct claim {
    const struct endport *port; /* its next GSI packet settles the claim; NULL: unused */
    bool by_smi;                /* its next SMI packet does instead */
    /* the group whose parameters the port is a witness of; NULL: the port is no witness */
    const struct group *witnessed;
    enum rule_number rule;
    struct subject about; /* points to octets and group below */
    uint8_t octets[LLADDR_SIZE], group[MGID_SIZE];
    uint64_t value;
    uint32_t frame;
    char expected[128], actual[96];
};

struct postponed {
    struct claim *claims; /* array of CLAIMS; NULL: not used so far */
    unsigned next, waiting;
};

struct postponed *postponed_new(void)
{
    return g_new0(struct postponed, 1);
}

void postponed_free(struct postponed *p)
{
    if (p)
        g_free(p->claims);
    g_free(p);
}

/* Copies the entity, because the claim outlives the packet. */
static void keep_subject(struct claim *c, const struct subject *about)
{
    c->about = *about;
    if (about->octets) {
        memcpy(c->octets, about->octets, about->kind == SUBJECT_ADDRESS ? LLADDR_SIZE : GID_SIZE);
        c->about.octets = c->octets;
    }
    if (about->group) {
        memcpy(c->group, about->group, MGID_SIZE);
        c->about.group = c->group;
    }
}

static bool same_octets(const uint8_t *a, const uint8_t *b)
{
    return a == b || (a && b && memcmp(a, b, GID_SIZE) == 0);
}

static bool is_same(const struct claim *c, const struct claim *d)
{
    return c->port == d->port && c->rule == d->rule && c->value == d->value &&
           c->about.other == d->about.other && same_octets(c->about.octets, d->about.octets) &&
           same_octets(c->about.group, d->about.group);
}

static bool waits(const struct postponed *p, const struct claim *c)
{
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++)
        if (p->claims[i].port && is_same(&p->claims[i], c))
            return true;
    return false;
}

static void add(struct postponed *p, const struct claim *c)
{
    if (!p->claims)
        p->claims = g_new0(struct claim, CLAIMS);
    struct claim *slot = &p->claims[p->next++ % CLAIMS];
    p->waiting += slot->port == NULL;
    *slot = *c;
    keep_subject(slot, &c->about);
}

static void keep(const struct scene *s, struct claim *c, const struct subject *about,
                 const char *expected, const char *actual)
{
    c->about = *about;
    c->frame = s->p->at.frame;
    snprintf(c->expected, sizeof c->expected, "%s in frame %u", expected, c->frame);
    snprintf(c->actual, sizeof c->actual, "%s", actual);
    if (!packet_is_corrupt(s->p) && !waits(s->postponed, c))
        add(s->postponed, c);
}

void postpone(const struct scene *s, const struct endport *port, enum rule_number rule,
              const struct subject *about, uint64_t value, const char *expected, const char *actual)
{
    struct claim c = {.port = port, .rule = rule, .value = value};
    inconclusive(s->r, rule, NULL, "the port's next request shows whether one was not captured");
    keep(s, &c, about, expected, actual);
}

void postpone_to_smi(const struct scene *s, const struct endport *port, enum rule_number rule,
                     const struct subject *about, uint64_t value, const char *expected,
                     const char *actual)
{
    struct claim c = {.port = port, .by_smi = true, .rule = rule, .value = value};
    inconclusive(s->r, rule, NULL, "the port's next SMP shows whether one was not captured");
    keep(s, &c, about, expected, actual);
}

void postpone_to_witness(const struct scene *s, const struct group *group, enum rule_number rule,
                         const struct subject *about, uint64_t value, const char *expected,
                         const char *actual)
{
    const struct endport *port = endport_of(group->told);
    const struct member *m = port ? groups_member(s->f->groups, group, port) : NULL;
    struct claim c = {.port = port, .witnessed = group, .rule = rule, .value = value};
    inconclusive(s->r, rule, NULL,
                 "the sender may have been told others; its requests are not captured");
    if (m && m->join_state && member_is_known(m))
        keep(s, &c, about, expected, actual);
}

/*
 * Result: the parameters are confirmed, the witness has a pending request, or the parameters
 * changed.
 */
enum testimony { CONFIRMS, ASKS, DENIES };

static enum testimony ask_witness(const struct scene *s, const struct claim *c)
{
    const struct group *group = group_of(c->witnessed);
    const struct member *m = groups_member(s->f->groups, group, c->port);
    if (!m || group->changed_frame > c->frame)
        return DENIES;
    return m->pending ? ASKS : CONFIRMS;
}

/*
 * Is the packet a join that may have been sent before the packet of the claim, though it was
 * captured after it? It counts if it is for the group of the claim; if the claim has no group, for
 * any broadcast group, which has the link's parameters.
 */
static bool is_join_before(const struct scene *s, const struct claim *c)
{
    const struct mad_payload *m = &s->p->mad;
    if (m->kind != MAD_KIND_SA || m->result != WIRE_OK || m->sa.mad.method != SA_SET ||
        m->sa.mad.attribute != SA_MC_MEMBER_RECORD ||
        view_has(m->sa.data, MCM_MGID, MGID_SIZE) != WIRE_OK)
        return false;
    const uint8_t *mgid = m->sa.data.p + MCM_MGID;
    bool same = c->about.group ? memcmp(mgid, c->group, MGID_SIZE) == 0 : mgid_read(mgid).broadcast;
    return same && order_is_uncertain(&s->f->order, c->frame);
}

/* Returns true if the claim is settled. */
static bool settle(const struct scene *s, struct claim *c, bool whole)
{
    /* the PSN proves nothing about the time before the port was initialised again */
    bool proved = whole && c->frame > c->port->born_frame && !is_join_before(s, c);
    enum testimony testimony = proved && c->witnessed ? ask_witness(s, c) : CONFIRMS;
    if (testimony == ASKS)
        return false;
    if (proved && testimony == CONFIRMS && is_news(s->r, c->rule, &c->about, c->value))
        fail_about(s->r, c->rule, &c->about, NULL, 0, c->expected, c->actual);
    c->port = NULL;
    return true;
}

/* Is the sender the port, or another GID of the port with that LID (a virtual function)? */
static bool is_by(const struct endport *sender, const struct endport *port, uint16_t lid)
{
    return sender == port || (sender->interface == port->interface && endport_has_lid(sender, lid));
}

static void settle_all(const struct scene *s, const struct endport *port, bool by_smi, bool whole)
{
    struct postponed *p = s->postponed;
    uint16_t lid = port_to_lid(s->p->src);
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++) {
        struct claim *c = &p->claims[(p->next + i) % CLAIMS]; /* oldest first */
        c->port = c->port ? endport_of(c->port) : NULL;
        if (!c->port || c->by_smi != by_smi || !is_by(c->port, port, lid))
            continue;
        p->waiting -= settle(s, c, whole);
    }
}

void postponed_settle(const struct scene *s, const struct endport *port, bool whole)
{
    settle_all(s, port, false, whole);
}

void postponed_settle_smi(const struct scene *s, const struct endport *port, bool whole)
{
    settle_all(s, port, true, whole);
}

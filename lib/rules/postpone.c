/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/postpone.h"

#include <stdio.h>

#include "wire/lladdr.h"
#include "wire/mgid.h"

/* As many wait at a time; an older one makes room for a newer one, and stays inconclusive. */
enum { CLAIMS = 256 };

struct claim {
    const struct endport *sender; /* NULL: unused */
    enum rule_number rule;
    struct subject about; /* its octets and its group are the two below */
    uint8_t octets[LLADDR_SIZE], group[MGID_SIZE];
    uint64_t value;
    uint32_t frame;
    char expected[64], actual[64];
};

struct postponed {
    struct claim *claims; /* CLAIMS; NULL: none has waited so far */
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

/* A copy that outlives the packet. */
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
    return c->sender == d->sender && c->rule == d->rule && c->value == d->value &&
           c->about.other == d->about.other && same_octets(c->about.octets, d->about.octets) &&
           same_octets(c->about.group, d->about.group);
}

static bool waits(const struct postponed *p, const struct claim *c)
{
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++)
        if (p->claims[i].sender && is_same(&p->claims[i], c))
            return true;
    return false;
}

static void add(struct postponed *p, const struct claim *c)
{
    if (!p->claims)
        p->claims = g_new0(struct claim, CLAIMS);
    struct claim *slot = &p->claims[p->next++ % CLAIMS];
    p->waiting += slot->sender == NULL;
    *slot = *c;
    keep_subject(slot, &c->about);
}

void postpone(const struct scene *s, const struct endport *sender, enum rule_number rule,
              const struct subject *about, uint64_t value, const char *expected, const char *actual)
{
    struct claim c = {.sender = sender, .rule = rule, .value = value, .frame = s->p->at.frame};
    c.about = *about;
    snprintf(c.expected, sizeof c.expected, "%s in frame %u", expected, c.frame);
    snprintf(c.actual, sizeof c.actual, "%s", actual);
    inconclusive(s->r, rule, NULL, "the sender's next request shows whether one was not captured");
    if (!packet_is_corrupt(s->p) && !waits(s->postponed, &c))
        add(s->postponed, &c);
}

static void settle(const struct scene *s, struct claim *c, bool whole)
{
    /* what was before the port was brought up again does not show in what its GSI sends now */
    bool proved = whole && c->frame > c->sender->born_frame;
    if (proved && is_news(s->r, c->rule, &c->about, c->value))
        fail_about(s->r, c->rule, &c->about, NULL, 0, c->expected, c->actual);
    c->sender = NULL;
}

/* Is it the port, or another GID of the port with that LID (a virtual function's)? */
static bool is_by(const struct endport *sender, const struct endport *port, uint16_t lid)
{
    return sender == port || (sender->interface == port->interface && endport_has_lid(sender, lid));
}

void postponed_settle(const struct scene *s, const struct endport *port, bool whole)
{
    struct postponed *p = s->postponed;
    uint16_t lid = port_to_lid(s->p->src);
    for (unsigned i = 0; p->waiting && i < CLAIMS; i++) {
        struct claim *c = &p->claims[(p->next + i) % CLAIMS]; /* the oldest first */
        c->sender = c->sender ? endport_of(c->sender) : NULL;
        if (!c->sender || !is_by(c->sender, port, lid))
            continue;
        settle(s, c, whole);
        p->waiting--;
    }
}

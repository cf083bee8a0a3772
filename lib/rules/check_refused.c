/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to create a group that the SA refused. A node that joins a group must create it with the
 * broadcast group's attributes (RFC 4391 §10); no record of the group shows those of the request.
 */
#include "rules/result.h"

enum { SELECTOR_EXACTLY = 2 }; /* IBA 15.2.5.17 */

/* A component of the request, and the broadcast group's value. */
struct requested_component {
    enum rule_number rule;
    const char *name;
    uint32_t at;      /* its place in a record */
    uint64_t mask;    /* the bits of the component mask that it needs */
    uint8_t selector; /* the request's selector; SELECTOR_EXACTLY if it has none */
    uint32_t wanted, requested;
};

static void describe_component(const struct check_context *s, const struct result *r,
                               char *expected, char *actual)
{
    (void)s;
    g_snprintf(expected, RESULT_TEXT, "%s 0x%x", r->name, (unsigned)r->wanted);
    g_snprintf(actual, RESULT_TEXT, "%s 0x%x, refused", r->name, (unsigned)r->value);
}

/*
 * The entity is that of a record's attribute (check_group.c): if the SA grants the same request
 * later, the violation is not reported again.
 */
static void check_component(const struct check_context *s, const struct subnet_event *e,
                            const struct requested_component *c)
{
    struct entity about = entity_group(e->group->mgid);
    about.number = c->at;
    const struct result r = {.rule = c->rule,
                             .about = about,
                             .wanted = c->wanted,
                             .value = c->requested,
                             .is_code = true, /* no group has this value */
                             .at = {s->p->mad.bytes.p + MAD_STATUS, 2},
                             .unknown_at = s->p->mad.bytes.p + MAD_STATUS,
                             .name = c->name,
                             .describe = describe_component,
                             .facts = {{FACT_CREATED_WITH, .event = e}}};
    bool named = (e->request->mask & c->mask) == c->mask && c->selector == SELECTOR_EXACTLY;
    if (named && c->wanted != c->requested)
        report_result(s, &r);
}

/* The selector of the component at this place. */
static uint8_t selector_of(const struct sa_request *q, uint32_t at)
{
    return at == MCM_MTU    ? q->mtu_selector
           : at == MCM_RATE ? q->rate_selector
           : at == MCM_LIFE ? q->life_selector
                            : SELECTOR_EXACTLY;
}

static void check_components(const struct check_context *s, const struct subnet_event *e)
{
    const struct group *b = &e->broadcast_facts;
    const struct mc_member *q = &e->request->wanted;
    const struct requested_component components[] = {
#define ATTRIBUTE(rule, name, at, n, mask, member)                                                 \
    {rule, name, at, mask, selector_of(e->request, at), b->member, q->member},
#include "rules/attributes.def"
#undef ATTRIBUTE
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(components); i++)
        check_component(s, e, &components[i]);
}

/* The response is the SA's, the violation is the requester's. */
static struct sender requester_of(const struct endport *port)
{
    struct sender sender = {.lid = port->lid, .known = port->lid ? SENDER_LID : 0};
    if (endport_has_gid(port)) {
        memcpy(sender.gid, port->gid, GID_SIZE);
        sender.known |= SENDER_GID;
    }
    return sender;
}

/* A group that exists has the attributes that its creator chose; its records are checked. */
static bool may_exist(const struct group *g)
{
    return g->state == GROUP_PRESENT || (g->record_frame && !group_is_absent(g));
}

/*
 * Only a join as FullMember creates a group (IBA 15.2.5.17). With another status, such as too few
 * resources, the SA says nothing about the request's contents.
 */
static bool would_create(const struct check_context *s, const struct subnet_event *e)
{
    bool invalid = (s->p->mad.mad.status & SA_STATUS_MASK) == SA_STATUS_REQ_INVALID;
    return invalid && e->request && e->request->join_state & JOIN_FULL && e->endport &&
           !may_exist(e->group);
}

void check_refused_join(const struct check_context *s, const struct subnet_event *e)
{
    if (!would_create(s, e) || !e->broadcast || e->broadcast_facts.state != GROUP_PRESENT)
        return;
    const struct sender requester = requester_of(e->endport);
    struct reporter r = *s->r;
    struct check_context of = *s;
    r.sender = &requester;
    of.r = &r;
    check_components(&of, e);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/explained.h"

#define CREATED      "unless a port created the group again in a packet that was not captured"
#define AS_FULL      "unless the port joined the group as FullMember in a packet that was not captured"
#define OTHERS       "unless the broadcast group had other attributes when the group was created"
#define MOVED        "unless the interface joined a link of this scope in a packet that was not captured"
#define HAS_GID      "unless the port has this GID, too, by an SMP or a join that was not captured"
#define JOINED_AGAIN "unless the port joined the group again in a packet that was not captured"

/* The kinds of fact that a suspicion may rest on. Of the QPNs, suspicions.c has the words. */
static const char *const unless[FACT_KINDS] = {
    [FACT_MEMBERSHIP] = AS_FULL,
    [FACT_JOIN_STATE] = AS_FULL,
    [FACT_NO_MEMBERSHIP] = JOINED_AGAIN,
    [FACT_GROUP_ABSENT] = CREATED,
    [FACT_NO_BROADCAST] = CREATED,
    [FACT_REQUEST] = "unless the reply answers another request, which was not captured",
    [FACT_CREATED_WITH] = OTHERS,
    [FACT_NO_OTHER_LINK] = MOVED,
    [FACT_GIDS] = HAS_GID,
};

const char *suspicion_unless(enum fact_kind kind)
{
    return unless[kind];
}

/* The group that the suspicion is about. */
static const uint8_t *mgid_of(const struct suspicion *one)
{
    return one->entity.kind == ENTITY_GROUP ? one->about : one->group;
}

/* Has the port joined or left the group since, or asked to? Then it may have joined it before. */
static bool has_joined_or_left(const struct check_context *s, const struct suspicion *one)
{
    const struct group *g = groups_find(s->f->groups, one->interface, mgid_of(one));
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    const struct member *m = g && port ? groups_member(s->f->groups, g, port) : NULL;
    return !m || m->pending || m->frame > one->other_frame;
}

/* Is the group there, or may it be? */
static bool may_exist(const struct group *g, const struct suspicion *one)
{
    return g && MAX(g->record_frame, g->join_request_frame) > one->other_frame;
}

static bool link_may_exist(const struct check_context *s, const struct suspicion *one)
{
    for (const struct group *b = groups_broadcasts(s->f->groups, one->interface, one->pkey); b;
         b = b->next)
        if (may_exist(b, one))
            return true;
    return false;
}

/* Is there a link of the scope that was found? */
static bool scope_may_exist(const struct check_context *s, const struct suspicion *one)
{
    const struct group *b = groups_broadcasts(s->f->groups, one->interface, one->pkey);
    while (b && group_scope(b) != (one->found & 0x0f))
        b = b->next;
    return b;
}

/* Has a port at the LID of the sender the GID of the address? */
static bool has_gid(const struct check_context *s, const struct suspicion *one)
{
    const struct endport *port = endports_by_gid(s->f->endports, one->interface,
                                                 one->about + LLADDR_GID);
    return port && endport_has_lid(port, one->sender.lid);
}

bool suspicion_is_explained(const struct check_context *s, const struct suspicion *one)
{
    switch (one->fact) {
    case FACT_GROUP_ABSENT:
        return may_exist(groups_find(s->f->groups, one->interface, one->about), one);
    case FACT_NO_BROADCAST:
        return link_may_exist(s, one);
    case FACT_NO_OTHER_LINK:
        return scope_may_exist(s, one);
    case FACT_GIDS:
        return has_gid(s, one);
    case FACT_CREATED_WITH:
    case FACT_REQUEST:
        return false;
    default:
        return has_joined_or_left(s, one);
    }
}

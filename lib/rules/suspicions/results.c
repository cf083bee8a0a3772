/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/results.h"

#include <string.h>

static void keep_entity(struct suspicion *one, const struct entity *about)
{
    one->entity = *about;
    if (about->bytes)
        memcpy(one->about, about->bytes, about->kind == ENTITY_ADDRESS ? LLADDR_SIZE : GID_SIZE);
    if (about->group)
        memcpy(one->group, about->group, MGID_SIZE);
}

/*
 * The group whose record is the other value, if the entity does not name it; NULL: the fact is not
 * about a record, or the entity is the group.
 */
static const struct group *group_of_fact(const struct result *r)
{
    return r->facts[0].kind == FACT_PARAMETERS && !r->about.group ? r->facts[0].group : NULL;
}

bool suspect_result(const struct check_context *s, const struct result *r, uint32_t other,
                    bool is_claim)
{
    const struct fact *fact = &r->facts[0];
    const struct group *group = group_of_fact(r);
    bool is_older = s->suspicions && other <= suspicions_traffic(s->suspicions)->since;
    if (fact->kind == FACT_NEIGHBOUR || fact->kind == FACT_UD_QPNS)
        return suspect_qpn(s, r, is_claim);
    if (!s->suspicions || packet_is_corrupt(s->p) || !suspicion_unless(fact->kind) ||
        (is_older && fact->kind != FACT_PARAMETERS))
        return false;
    struct suspicion new = suspicion_of(s, r->rule, SUSPECTED_RESULT, result_value(r));
    new.fact = fact->kind;
    new.has_number = r->describe && !r->is_code;
    new.name = r->name;
    new.other_frame = other;
    new.is_early = is_claim || is_older;
    new.record_since = is_older ? suspicions_traffic(s->suspicions)->since : 0;
    keep_entity(&new, &r->about);
    if (group)
        memcpy(new.group, group->mgid, MGID_SIZE);
    memcpy(new.sgid, fact->port ? fact->port->gid : new.sender.gid, GID_SIZE);
    return suspicions_raise(s, &new, r);
}

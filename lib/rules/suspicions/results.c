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

void suspect_result(const struct check_context *s, const struct result *r, uint32_t other)
{
    const struct fact *fact = &r->facts[0];
    if (fact->kind == FACT_NEIGHBOUR || fact->kind == FACT_UD_QPNS) {
        suspect_qpn(s, r);
        return;
    }
    if (!s->suspicions || packet_is_corrupt(s->p) || !suspicion_unless(fact->kind) ||
        other <= suspicions_traffic(s->suspicions)->since)
        return;
    struct suspicion new = suspicion_of(s, r->rule, SUSPECTED_RESULT, result_value(r));
    new.fact = fact->kind;
    new.has_number = r->describe && !r->is_code;
    new.name = r->name;
    new.other_frame = other;
    keep_entity(&new, &r->about);
    memcpy(new.sgid, fact->port ? fact->port->gid : new.sender.gid, GID_SIZE);
    suspicions_raise(s, &new, r);
}

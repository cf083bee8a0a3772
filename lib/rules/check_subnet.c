/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the fabric: partitions, paths, the subnet manager. All are informational except the MTU
 * of a path.
 */
#include "rules/check_context.h"

enum { PKEY_DEFAULT = 0xffff }; /* IBA 10.9.1.2 */

static void note_pkeys(const struct check_context *s, const struct endport *p)
{
    struct entity port = entity_port(endport_has_gid(p) ? p->gid : NULL, p->lid);
    unsigned partitions = 0;
    bool has_default = false;
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++) {
        uint16_t pkey = p->pkeys->entries[i];
        bool again = false;
        if (!is_partition(pkey))
            continue;
        has_default |= same_partition(pkey, PKEY_DEFAULT);
        for (unsigned j = 0; j < i; j++) {
            again |= same_partition(p->pkeys->entries[j], pkey);
            if ((p->pkeys->entries[j] ^ pkey) == PKEY_MEMBERSHIP)
                report_note(s->r, R_PARTITION_MEMBERSHIP_TWINS, &port, pkey, NULL, 0,
                            "both 0x%04x and 0x%04x: the same partition", pkey | PKEY_MEMBERSHIP,
                            pkey & 0x7fff);
        }
        partitions += !again;
    }
    if (!has_default)
        report_note(s->r, R_PARTITION_DEFAULT_PKEY, &port, partitions, NULL, 0,
                    "a P_Key table without the default partition");
    if (partitions > 1)
        report_note(s->r, R_PARTITION_OVERLAP, &port, partitions, NULL, 0, "in %u partitions",
                    partitions);
}

/*
 * A path with the broadcast group's MTU proves that the physical links support it (RFC 4391 §4.1).
 * A path with a smaller MTU proves nothing: the subnet manager may limit it by policy.
 */
static void check_path(const struct check_context *s, const struct subnet_event *e)
{
    const uint8_t *p = e->record;
    const struct group *b = groups_only_broadcast(s->f->groups, e->interface, be16(p + PATH_PKEY));
    struct entity port = entity_port(p + PATH_DGID, 0);
    if (!b || !e->mtu)
        return;
    if (b->mtu <= e->mtu)
        report_pass_about(s->r, R_RFC4391_4_1_GROUP_MTU, &port);
    else
        report_inconclusive(s->r, R_RFC4391_4_1_GROUP_MTU, p + PATH_MTU,
                            "a path with a smaller MTU: by policy, or by a physical link");
}

static const char *control_text(uint8_t control)
{
    static const char *const names[] = {
        "asks",     "hands the subnet over to", "acknowledges",
        "disables", "sets to standby",          "sets to discovering"};
    return names[control <= SM_DISCOVER ? control : 0];
}

void check_subnet_event(const struct check_context *s, const struct subnet_event *e)
{
    struct entity subnet = entity_subnet();
    uint16_t lid = port_to_lid(s->p->src);
    switch (e->kind) {
    case SUBNET_PATH:
        check_path(s, e);
        break;
    case SUBNET_PKEYS:
        note_pkeys(s, e->endport);
        break;
    case SUBNET_PORT_INFO:
        if (e->endport->lmc) {
            struct entity port = entity_port(endport_has_gid(e->endport) ? e->endport->gid : NULL,
                                             e->lid);
            report_note(s->r, R_SM_LMC_PATHS, &port, e->endport->lmc, NULL, 0,
                        "LMC %u: %u LIDs from %u on", e->endport->lmc, 1u << e->endport->lmc,
                        e->lid);
        }
        break;
    case SUBNET_SA_MOVED:
        report_note(s->r, R_SM_FAILOVER_REJOIN, &subnet, (uint64_t)s->p->at.frame, NULL, 0,
                    "the SA answers from LID %u, before from LID %u", lid, e->lid);
        report_note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, (uint64_t)s->p->at.frame, NULL, 0,
                    "another subnet manager took over");
        break;
    case SUBNET_SM_SECOND:
        report_note(s->r, R_SM_ONE_MASTER, &subnet, lid, NULL, 0,
                    "another subnet manager says that it is the master");
        break;
    case SUBNET_SM_CONTROL:
        report_note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, (uint64_t)s->p->at.frame << 8 | e->control,
                    NULL, 0, "a subnet manager %s another", control_text(e->control));
        break;
    case SUBNET_SUBSCRIBED: {
        static const uint8_t any[GID_SIZE];
        struct entity port = entity_port(NULL, port_to_lid(s->p->dst));
        if (memcmp(e->record + INFORM_GID, any, GID_SIZE) == 0 && e->record[INFORM_SUBSCRIBE])
            report_note(s->r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, &port,
                        be16(e->record + INFORM_TRAP), e->record, INFORM_SIZE,
                        "subscribes to the traps of all groups, as routers do");
        break;
    }
    default:
        break;
    }
}

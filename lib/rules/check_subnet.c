/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fabric is made of: partitions, paths, the subnet manager. All but the path's MTU is
 * shown, never counted.
 */
#include "rules/scene.h"

enum { PKEY_DEFAULT = 0xffff }; /* IBA 10.9.1.2 */

static void note_pkeys(const struct scene *s, const struct endport *p)
{
    struct subject port = subject_port(endport_has_gid(p) ? p->gid : NULL, p->lid);
    unsigned partitions = 0;
    bool has_default = false;
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++) {
        uint16_t pkey = p->pkeys[i];
        bool again = false;
        if (!is_partition(pkey))
            continue;
        has_default |= same_partition(pkey, PKEY_DEFAULT);
        for (unsigned j = 0; j < i; j++) {
            again |= same_partition(p->pkeys[j], pkey);
            if ((p->pkeys[j] ^ pkey) == PKEY_MEMBERSHIP)
                note(s->r, R_PARTITION_MEMBERSHIP_TWINS, &port, pkey, NULL, 0,
                     "both 0x%04x and 0x%04x: the same partition", pkey | PKEY_MEMBERSHIP,
                     pkey & 0x7fff);
        }
        partitions += !again;
    }
    if (!has_default)
        note(s->r, R_PARTITION_DEFAULT_PKEY, &port, partitions, NULL, 0,
             "a P_Key table without the default partition");
    if (partitions > 1)
        note(s->r, R_PARTITION_OVERLAP, &port, partitions, NULL, 0, "in %u partitions", partitions);
}

/*
 * What a request may name without asking for anything but the path between two ports, on the link's
 * partition.
 */
enum {
    PATH_WHICH = PATH_HAS_DGID | PATH_HAS_SGID | PATH_HAS_DLID | PATH_HAS_SLID |
                 PATH_HAS_FLOW_LABEL | PATH_HAS_HOP_LIMIT | PATH_HAS_TCLASS | PATH_HAS_REVERSIBLE |
                 PATH_HAS_NUMB | PATH_HAS_PKEY
};

/* Is it known to be on the IPoIB link? Storage, say, is in the same partition. */
static bool is_on_link(const struct scene *s, struct group *broadcast, struct endport *port)
{
    const struct member *m = port ? groups_member(s->f->groups, broadcast, port, false) : NULL;
    return (m && m->join_state & JOIN_FULL) ||
           (port && endport_is_on_link(port, be16(broadcast->mgid + MGID_PKEY)));
}

/* A path of less MTU than the broadcast group's shows a physical link of less (RFC 4391 §4.1). */
static void check_path(const struct scene *s, const struct subnet_event *e)
{
    const uint8_t *p = e->record;
    uint16_t pkey = be16(p + PATH_PKEY);
    struct group *b = groups_only_broadcast(s->f->groups, e->interface, pkey);
    struct endport *from = endports_by_gid(s->f->endports, e->interface, p + PATH_SGID, false);
    struct subject port = subject_port(p + PATH_DGID, 0);
    if (!b || !e->mtu)
        return;
    if (!e->request)
        inconclusive(s->r, R_RFC4391_4_1_GROUP_MTU, p + PATH_MTU,
                     "what the path was asked for was not seen");
    else if (e->request->mask & ~(uint64_t)PATH_WHICH)
        inconclusive(s->r, R_RFC4391_4_1_GROUP_MTU, p + PATH_MTU,
                     "more was asked for than a path of the link");
    else if (!is_on_link(s, b, e->endport) || !is_on_link(s, b, from))
        inconclusive(s->r, R_RFC4391_4_1_GROUP_MTU, p + PATH_MTU,
                     "the ports were not seen on the link");
    else
        expect_about(s->r, R_RFC4391_4_1_GROUP_MTU, &port, b->mtu <= e->mtu, p + PATH_MTU, 1,
                     "a path with the broadcast group's MTU", "a path with a smaller MTU");
}

static const char *control_text(uint8_t control)
{
    static const char *const names[] = {"asks",     "hands the subnet over to", "acknowledges",
                                        "disables", "makes stand by",           "makes discover"};
    return names[control <= SM_DISCOVER ? control : 0];
}

void check_subnet_event(const struct scene *s, const struct subnet_event *e)
{
    struct subject subnet = subject_subnet();
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
            struct subject port = subject_port(endport_has_gid(e->endport) ? e->endport->gid : NULL,
                                               e->lid);
            note(s->r, R_SM_LMC_PATHS, &port, e->endport->lmc, NULL, 0,
                 "LMC %u: %u LIDs from %u on", e->endport->lmc, 1u << e->endport->lmc, e->lid);
        }
        break;
    case SUBNET_SA_MOVED:
        note(s->r, R_SM_FAILOVER_REJOIN, &subnet, (uint64_t)s->p->at.frame, NULL, 0,
             "the SA answers from LID %u, before from LID %u", lid, e->lid);
        note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, (uint64_t)s->p->at.frame, NULL, 0,
             "another subnet manager took over");
        break;
    case SUBNET_SM_SECOND:
        note(s->r, R_SM_ONE_MASTER, &subnet, lid, NULL, 0,
             "another subnet manager says that it is the master");
        break;
    case SUBNET_SM_CONTROL:
        note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, (uint64_t)s->p->at.frame << 8 | e->control, NULL,
             0, "a subnet manager %s another", control_text(e->control));
        break;
    case SUBNET_SUBSCRIBED: {
        static const uint8_t any[GID_SIZE];
        struct subject port = subject_port(NULL, port_to_lid(s->p->dst));
        if (memcmp(e->record + INFORM_GID, any, GID_SIZE) == 0 && e->record[INFORM_SUBSCRIBE])
            note(s->r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, &port, be16(e->record + INFORM_TRAP),
                 e->record, INFORM_SIZE, "subscribes to the traps of all groups, as routers do");
        break;
    }
    default:
        break;
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the fabric: partitions, paths, the subnet manager. All are informational except the MTU
 * of a path.
 */
#include "rules/check_context.h"

enum { PKEY_DEFAULT = 0xffff }; /* IBA 10.9.1.2 */

/* A field of the packet's SMP; empty: it has another attribute, or the field was not captured. */
static struct view field_of_smp(const struct check_context *s, uint16_t attribute, uint32_t off,
                                uint32_t n)
{
    const struct smp *smp = &s->p->mad.smp;
    bool here = smp->mad.attribute == attribute && view_has(smp->data, off, n) == WIRE_OK;
    return here ? view_sub(smp->data, off, n) : (struct view){0};
}

/* The table may have arrived in an earlier packet, before the port was known. */
static void note_pkeys(const struct check_context *s, const struct endport *p)
{
    struct entity port = entity_endport(p);
    struct view table = field_of_smp(s, SMP_PKEY_TABLE, 0, 2 * PKEY_BLOCK);
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
                report_note(s->r, R_PARTITION_MEMBERSHIP_TWINS, &port, pkey, table.p, table.cap,
                            "both 0x%04x and 0x%04x: the same partition", pkey | PKEY_MEMBERSHIP,
                            pkey & 0x7fff);
        }
        partitions += !again;
    }
    if (!has_default)
        report_note(s->r, R_PARTITION_DEFAULT_PKEY, &port, partitions, table.p, table.cap,
                    "a P_Key table without the default partition");
    if (partitions > 1)
        report_note(s->r, R_PARTITION_OVERLAP, &port, partitions, table.p, table.cap,
                    "in %u partitions", partitions);
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

static void note_lmc(const struct check_context *s, const struct subnet_event *e)
{
    const struct endport *p = e->endport;
    struct entity port = entity_port(endport_has_gid(p) ? p->gid : NULL, e->lid);
    struct view lmc = field_of_smp(s, SMP_PORT_INFO, PORT_INFO_MKEY_LMC, 1);
    if (p->lmc)
        report_note(s->r, R_SM_LMC_PATHS, &port, p->lmc, lmc.p, lmc.cap,
                    "LMC %u: %u LIDs from %u on", p->lmc, 1u << p->lmc, e->lid);
}

/* The SA's LID is the SLID. */
static void note_moved_sa(const struct check_context *s, uint16_t before)
{
    struct entity subnet = entity_subnet();
    const uint8_t *slid = s->r->base + LRH_SLID;
    uint64_t frame = s->p->at.frame;
    report_note(s->r, R_SM_FAILOVER_REJOIN, &subnet, frame, slid, 2,
                "the SA answers from LID %u, before from LID %u", port_to_lid(s->p->src), before);
    report_note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, frame, slid, 2,
                "another subnet manager took over");
}

static void note_second_master(const struct check_context *s)
{
    struct entity subnet = entity_subnet();
    struct view state = field_of_smp(s, SMP_SM_INFO, SM_INFO_PRIORITY_STATE, 1);
    report_note(s->r, R_SM_ONE_MASTER, &subnet, port_to_lid(s->p->src), state.p, state.cap,
                "another subnet manager says that it is the master");
}

/* IBA 14.4.1: the attribute modifier has the action. */
static void note_control(const struct check_context *s, uint8_t control)
{
    struct entity subnet = entity_subnet();
    uint64_t value = (uint64_t)s->p->at.frame << 8 | control;
    report_note(s->r, R_SM_TAKEOVER_CAUSES, &subnet, value, s->p->mad.bytes.p + MAD_MODIFIER, 4,
                "a subnet manager %s another", control_text(control));
}

/* Does the InformInfo select the creation or the deletion of groups, of all of them (IBA 13.4.8.3)?
 */
static bool is_about_all_groups(const uint8_t *inform)
{
    static const uint8_t any[GID_SIZE];
    uint16_t trap = be16(inform + INFORM_TRAP);
    return memcmp(inform + INFORM_GID, any, GID_SIZE) == 0 && inform[INFORM_GENERIC] &&
           (trap == 0xffff || trap == TRAP_GROUP_CREATED || trap == TRAP_GROUP_DELETED);
}

static void note_subscription(const struct check_context *s, const uint8_t *inform)
{
    struct entity port = entity_port(NULL, port_to_lid(s->p->dst));
    if (inform[INFORM_SUBSCRIBE] && is_about_all_groups(inform))
        report_note(s->r, R_RFC4391_11_ROUTER_NONMEMBER_JOIN, &port, 0, inform, INFORM_SIZE,
                    "subscribes to the traps of all groups, as routers do");
}

void check_subnet_event(const struct check_context *s, const struct subnet_event *e)
{
    switch (e->kind) {
    case SUBNET_PATH:
        check_path(s, e);
        break;
    case SUBNET_PKEYS:
        note_pkeys(s, e->endport);
        break;
    case SUBNET_PORT_INFO:
        note_lmc(s, e);
        break;
    case SUBNET_SA_MOVED:
        note_moved_sa(s, e->lid);
        break;
    case SUBNET_SM_SECOND:
        note_second_master(s);
        break;
    case SUBNET_SM_CONTROL:
        note_control(s, e->control);
        break;
    case SUBNET_SUBSCRIBED:
        note_subscription(s, e->record);
        break;
    default:
        break;
    }
}

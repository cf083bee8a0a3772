/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subnet management: states of ports, traps, another subnet manager. */
#include "analysis/smps.h"

/* ---- ports */

const struct name port_state_names[] = {
    {PORT_DOWN, "Down"}, {PORT_INIT, "Initialize"}, {PORT_ARMED, "Armed"}, {PORT_ACTIVE, "Active"},
    {0, NULL},
};

/* Another port may have the LID now. */
static bool is_same_port(const struct port_activity *port, const struct subnet_event *e)
{
    return port->lid == e->lid && port->subnet == e->interface &&
           memcmp(port->gid, e->endport->gid, GID_SIZE) == 0;
}

static void begin_port(struct port_activity *port, const struct subnet_event *e)
{
    *port = (struct port_activity){.subnet = e->interface, .lid = e->lid};
    memcpy(port->gid, e->endport->gid, GID_SIZE);
}

/*
 * The port's SM is at another LID. The SA may not have answered anybody yet; if it does, it is the
 * same event.
 */
APART static void manager_moved(const struct watch *w, uint16_t before, uint16_t now)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, now);
    struct sender who = sender_of_lid(w, now);
    const struct event_key key = event_key(w, EVENT_SM_CHANGED, NULL, NULL,
                                           (uint64_t)SUBNET_SA_MOVED << 32 |
                                               (uint64_t)before << 16 | now);
    if (port && endport_has_lid(port, before))
        return;
    watch_new_manager(w, before, now);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, 0,
                "ports have it as their subnet manager now (MasterSMLID); before, it was at "
                "LID %u",
                before);
}

static void watch_manager(const struct watch *w, struct port_activity *port)
{
    const struct view *data = &w->p->mad.smp.data;
    if (view_has(*data, PORT_INFO_MASTER_SM_LID, sizeof(uint16_t)) != WIRE_OK)
        return;
    uint16_t before = port->manager, now = be16(data->p + PORT_INFO_MASTER_SM_LID);
    port->manager = now;
    if (before && now && before != now)
        manager_moved(w, before, now);
}

/* A port that was Active and is not any more. e: its PortInfo i. */
void watch_port_state(const struct watch *w, const struct subnet_event *e,
                      const struct port_info *i)
{
    struct port_activity *port = &w->questions->ports[e->lid % PORTS];
    if (w->p->mad.mad.method != SMP_GET_RESP || i->state == PORT_NO_CHANGE ||
        i->state > PORT_ACTIVE)
        return;
    if (!is_same_port(port, e))
        begin_port(port, e);
    if (smp_is_old(w, &port->order))
        return;
    watch_manager(w, port);
    uint64_t guid;
    bool was_active = port->active;
    port->active = i->state == PORT_ACTIVE;
    if (!was_active || port->active || !route_is_known(w, &guid) || route_was_down(w))
        return;
    struct sender who = sender_of_endport(e->endport);
    const struct event_key key = event_key(w, EVENT_PORT_STATE, NULL, NULL, e->lid);
    watch_event(w, &key, &who, 0, "the port was Active and is in the state %s now",
                names_find(port_state_names, i->state));
}

/* ---- traps */

/* Traps 66 and 67 are the life of groups, and no trouble. */
static bool is_everyday(uint16_t trap)
{
    return trap == TRAP_GROUP_CREATED || trap == TRAP_GROUP_DELETED;
}

static const struct name trap_names[] = {
    {TRAP_GID_IN_SERVICE, "a port is in service now"},
    {TRAP_GID_OUT_OF_SERVICE, "a port is out of service now"},
    {128, "the state of a link of a switch changed"},
    {129, "too many local link errors"},
    {130, "receive buffers overran"},
    {131, "flow control timed out"},
    {144, "its capabilities or its description changed"},
    {145, "its system image GUID changed"},
    {256, "a wrong M_Key was received"},
    {257, "a wrong P_Key was received"},
    {258, "a wrong Q_Key was received"},
    {259, "a switch dropped a packet with a wrong P_Key"},
    {0, NULL},
};

/* v: the Notice. */
static void watch_trap(const struct watch *w, struct view v)
{
    char gid[GID_TEXT];
    if (view_has(v, 0, NOTICE_DETAILS_GID + GID_SIZE) != WIRE_OK ||
        !(v.p[NOTICE_GENERIC_TYPE] & 0x80) || is_everyday(be16(v.p + NOTICE_TRAP)))
        return;
    uint16_t trap = be16(v.p + NOTICE_TRAP), issuer = be16(v.p + NOTICE_ISSUER_LID);
    const uint8_t *about = trap_has_gid(trap) ? v.p + NOTICE_DETAILS_GID : NULL;
    const char *name = names_find(trap_names, trap);
    struct sender who = issuer ? sender_of_lid(w, issuer) : (struct sender){.known = 0};
    const struct event_key key = event_key(w, EVENT_TRAP, NULL, about,
                                           (uint64_t)issuer << 16 | trap);
    watch_event(w, &key, &who, 0, "trap %u: %s%s%s", trap, name ? name : "unknown",
                about ? ": " : "", about ? text_of_gid(gid, about) : "");
}

void watch_notice(const struct watch *w)
{
    const struct sa *sa = &w->p->mad.sa;
    if (sa->mad.method == SA_REPORT && sa->mad.attribute == SA_NOTICE)
        watch_trap(w, sa->data);
}

/* By a response from its LID. */
void watch_sm_info(const struct watch *w)
{
    uint16_t lid = w->p->ib.slid;
    struct idle_manager *m = &w->questions->idle_managers[lid % IDLE_MANAGERS];
    struct sm_info i;
    if (w->p->mad.result != WIRE_OK || w->p->mad.smp.mad.method != SMP_GET_RESP ||
        !w->p->ib.has_lrh || !lid || lid >= LID_MULTICAST_FIRST || packet_is_corrupt(w->p) ||
        smp_sm_info(&w->p->mad.smp, &i) != WIRE_OK)
        return;
    *m = (struct idle_manager){w->p->at.frame, w->p->at.interface, lid, i.state};
    if (i.state >= SM_MASTER)
        m->frame = 0;
}

void watch_smp_trap(const struct watch *w)
{
    if (w->p->mad.result == WIRE_OK)
        watch_trap(w, w->p->mad.smp.data);
}

/* ---- subnet managers */

void watch_managers(const struct watch *w, const struct subnet_event *e)
{
    uint16_t lid = port_to_lid(w->p->src);
    struct sender who = lid && lid != LID_PERMISSIVE ? sender_of_lid(w, lid)
                                                     : (struct sender){.known = 0};
    const struct event_key key = event_key(w, EVENT_SM_CHANGED, NULL, NULL,
                                           (uint64_t)e->kind << 32 | (uint64_t)e->lid << 16 | lid);
    watch_new_manager(w, e->lid, lid);
    if (e->kind == SUBNET_SA_MOVED)
        watch_event(w, &key, &who, 0, "the SA answers from here; before, it was at LID %u", e->lid);
    else
        watch_event(w, &key, &who, 0, "another subnet manager than before is master");
}

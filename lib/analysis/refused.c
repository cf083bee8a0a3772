/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memberships and leaves that the SA refused. A refused join is the commonest cause of an interface
 * without carrier and of a group without packets, so the component of the request that differs from
 * the SA's record is named.
 */
#include "analysis/watch.h"

enum { SELECTOR_ABOVE = 0, SELECTOR_BELOW = 1, SELECTOR_EXACTLY = 2 }; /* IBA 15.2.5.17 */
enum unit { HEX, NUMBER, MTU, RATE };

/* A component of the request, and its value in the SA's record. */
struct requested {
    const char *name;
    enum unit unit;
    uint64_t mask; /* the bits of the component mask that it needs */
    uint8_t selector;
    uint32_t wanted, has;
};

/* MTU codes are in order of size; rate codes are not, so they are only compared as equal. */
static bool contradicts(const struct requested *c)
{
    if (c->unit == MTU && c->selector == SELECTOR_ABOVE)
        return c->has <= c->wanted;
    if (c->unit == MTU && c->selector == SELECTOR_BELOW)
        return c->has >= c->wanted;
    return c->selector == SELECTOR_EXACTLY && c->has != c->wanted;
}

static void append_value(GString *out, enum unit unit, uint32_t value)
{
    if (unit == HEX)
        g_string_append_printf(out, "0x%x", value);
    else if (unit == MTU && ib_mtu_bytes((uint8_t)value))
        g_string_append_printf(out, "%u bytes", ib_mtu_bytes((uint8_t)value));
    else if (unit == RATE && ib_rate_100mbps((uint8_t)value))
        g_string_append_printf(out, "%.1f Gb/s", ib_rate_100mbps((uint8_t)value) / 10.0);
    else
        g_string_append_printf(out, "%u", value);
}

static void append_difference(GString *out, const struct requested *c, const char *whose)
{
    static const char *const words[] = {[SELECTOR_ABOVE] = "above ", [SELECTOR_BELOW] = "below "};
    g_string_append_printf(out, ": it requests %s %s", c->name,
                           c->selector < SELECTOR_EXACTLY ? words[c->selector] : "");
    append_value(out, c->unit, c->wanted);
    g_string_append_printf(out, ", %s has ", whose);
    append_value(out, c->unit, c->has);
}

/* The first component that differs from the record has; nothing if none does. */
static void append_differences(GString *out, const struct sa_request *q, const struct group *has,
                               const char *whose)
{
    const struct mc_member *w = &q->wanted;
    const uint8_t any = SELECTOR_EXACTLY;
    const struct requested all[] = {
        {"Q_Key", HEX, MCM_HAS_QKEY, any, w->qkey, has->qkey},
        {"P_Key", HEX, MCM_HAS_PKEY, any, w->pkey & 0x7fff, has->pkey & 0x7fff},
        {"MTU", MTU, MCM_HAS_MTU | MCM_HAS_MTU_SELECTOR, q->mtu_selector, w->mtu, has->mtu},
        {"rate", RATE, MCM_HAS_RATE | MCM_HAS_RATE_SELECTOR, q->rate_selector, w->rate, has->rate},
        {"SL", NUMBER, MCM_HAS_SL, any, w->sl, has->sl},
        {"TClass", HEX, MCM_HAS_TCLASS, any, w->tclass, has->tclass},
        {"FlowLabel", HEX, MCM_HAS_FLOW_LABEL, any, w->flow_label, has->flow_label},
        {"HopLimit", NUMBER, MCM_HAS_HOP_LIMIT, any, w->hop_limit, has->hop_limit},
        {"packet life time", NUMBER, MCM_HAS_LIFE | MCM_HAS_LIFE_SELECTOR, q->life_selector,
         w->life, has->life},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
        if ((q->mask & all[i].mask) == all[i].mask && contradicts(&all[i]))
            append_difference(out, &all[i], whose);
}

/*
 * The port takes no packets as large as the group's may be, so it cannot be a member. Code 0: its
 * PortInfo was not captured.
 */
static void append_port_mtu(GString *out, const struct endport *port, const struct group *has)
{
    uint8_t now = port ? port->neighbor_mtu : 0, most = port ? port->mtu_cap : 0;
    bool is_configured = now && (!most || now <= most);
    uint8_t mtu = is_configured ? now : most;
    if (!mtu || has->state != GROUP_PRESENT || mtu >= has->mtu)
        return;
    g_string_append_printf(out, ": the MTU of its port is ");
    append_value(out, MTU, mtu);
    g_string_append_printf(out, " (%s in its PortInfo), the group has ",
                           is_configured ? "NeighborMTU" : "MTUCap");
    append_value(out, MTU, has->mtu);
}

/*
 * Without creation components, only a group that exists can be joined. With them, an IPoIB group
 * has the broadcast group's values (RFC 4391 section 10).
 */
static char *why_refused(const struct subnet_event *e, uint16_t status)
{
    GString *out = g_string_new(NULL);
    bool exists = e->group->state == GROUP_PRESENT;
    if (exists && mgid_is_ipoib(e->group->mgid))
        append_differences(out, e->request, &e->group_facts, "the group");
    else if (e->broadcast && e->broadcast != e->group && e->broadcast_facts.state == GROUP_PRESENT)
        append_differences(out, e->request, &e->broadcast_facts, "the broadcast group");
    if (!out->len && (status & SA_STATUS_MASK) == SA_STATUS_REQ_INVALID)
        append_port_mtu(out, e->endport, exists ? &e->group_facts : &e->broadcast_facts);
    if (!exists && (status & SA_STATUS_MASK) == SA_STATUS_INSUFFICIENT_COMPONENTS)
        g_string_append(out, ": the group does not exist, and the request lacks what creates it");
    return g_string_free(out, FALSE);
}

APART static void join_refused(const struct watch *w, const struct subnet_event *e)
{
    uint16_t status = w->p->mad.mad.status;
    struct sender who = e->endport ? sender_of_endport(e->endport)
                                   : sender_of_lid(w, port_to_lid(w->p->dst));
    char group[GID_TEXT], *why = why_refused(e, status);
    const struct event_key key = event_key(w, EVENT_JOIN_REFUSED, who.gid, e->group->mgid,
                                           (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, e->request->frame,
                "the SA refuses its join of the %s %s: status 0x%04x, %s%s",
                group_is_broadcast(e->group) ? "broadcast group" : "group",
                text_of_gid(group, e->group->mgid), status, sa_status_name(status), why);
    g_free(why);
}

/* A refusal may have no record: without its request, its group is not known. */
APART static void leave_refused(const struct watch *w, const struct subnet_event *e)
{
    uint16_t status = w->p->mad.mad.status;
    struct sender who = sender_of_lid(w, port_to_lid(w->p->dst));
    char group[GID_TEXT];
    if (!e->group)
        return;
    const struct event_key key = event_key(w, EVENT_LEAVE_REFUSED, who.gid, e->group->mgid,
                                           (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, e->request ? e->request->frame : 0,
                "the SA refuses to let it leave the group %s: status 0x%04x, %s",
                text_of_gid(group, e->group->mgid), status, sa_status_name(status));
}

void watch_refused_requests(const struct watch *w, const struct subnet_event *e)
{
    if (e->kind == SUBNET_JOIN_REFUSED && e->group && e->request)
        join_refused(w, e);
    else if (e->kind == SUBNET_LEAVE_REFUSED)
        leave_refused(w, e);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/subnet.h"

#include "model/hash.h"
#include "model/write.h"

/*
 * Table of requests that wait for a response; a real fabric has few at a time. An overwritten
 * request counts as not seen.
 */
enum { REQUESTS = 1024 };
/* Limit of routes by which subnet management addresses ports. */
enum { ROUTES_MAX = 1 << 17 };

/* Data from SMPs about the port at the end of a route, kept until its LID is known. */
struct route {
    uint64_t key; /* must be first */
    struct endport *endport;
    uint64_t port_guid;
    uint16_t *pkeys;
    uint32_t smi_psn; /* as in struct endport */
    uint32_t smi_seconds;
    uint8_t node_type; /* 0: not known */
    bool has_no_lid;   /* its PortInfo had LID 0, and the SM has set none since */
};

/* The subnet manager of a subnet. */
struct manager {
    uint64_t master_guid;
    uint16_t sa_lid;
};

struct subnet {
    struct groups *groups;
    struct endports *endports;
    GHashTable *routes;   /* a set of struct route */
    GHashTable *managers; /* interface -> struct manager */
    struct sa_request requests[REQUESTS];
};

/* Context of the current message. */
struct delivery {
    struct subnet *s;
    const struct port *src, *dst;
    uint32_t frame;
    uint16_t interface;
    subnet_observer *observer;
    void *user;
};

static void route_free(gpointer p)
{
    struct route *r = p;
    g_free(r->pkeys);
    g_free(r);
}

struct subnet *subnet_new(struct groups *groups, struct endports *endports)
{
    struct subnet *s = g_new0(struct subnet, 1);
    s->groups = groups;
    s->endports = endports;
    s->routes = g_hash_table_new_full(hash_uint64, g_int64_equal, route_free, NULL);
    s->managers = g_hash_table_new_full(hash_number, NULL, NULL, g_free);
    return s;
}

void subnet_free(struct subnet *s)
{
    if (!s)
        return;
    g_hash_table_destroy(s->routes);
    g_hash_table_destroy(s->managers);
    g_free(s);
}

static struct manager *manager(const struct delivery *d)
{
    gpointer key = GUINT_TO_POINTER(d->interface);
    struct manager *m = g_hash_table_lookup(d->s->managers, key);
    if (!m) {
        m = g_new0(struct manager, 1);
        g_hash_table_insert(d->s->managers, key, m);
    }
    return m;
}

uint16_t subnet_sa_lid(const struct subnet *s, uint16_t interface)
{
    const struct manager *m = g_hash_table_lookup(s->managers, GUINT_TO_POINTER(interface));
    return m ? m->sa_lid : 0;
}

static void add_facts(const struct delivery *d, struct subnet_event *e)
{
    if (!e->group || (e->kind != SUBNET_JOINED && e->kind != SUBNET_GROUP_TOLD) ||
        !mgid_is_ipoib(e->group->mgid))
        return;
    e->group_facts = *e->group;
    e->broadcast = groups_broadcast(d->s->groups, d->interface, be16(e->group->mgid + MGID_PKEY),
                                    group_scope(e->group));
    if (e->broadcast)
        e->broadcast_facts = *e->broadcast;
}

static void tell(const struct delivery *d, struct subnet_event *e)
{
    if (!d->observer)
        return;
    e->interface = d->interface;
    add_facts(d, e);
    d->observer(d->user, e);
}

/* ---- subnet administration */

static struct sa_request *slot(struct subnet *s, struct port asker, uint64_t tid)
{
    struct port_number key = port_number(&asker, (uint32_t)(tid ^ tid >> 32));
    return &s->requests[port_number_place(&key) % REQUESTS];
}

static struct sa_request *remember(const struct delivery *d, const struct sa *sa)
{
    struct sa_request *q = slot(d->s, *d->src, sa->mad.tid);
    *q = (struct sa_request){.asker = *d->src,
                             .tid = sa->mad.tid,
                             .mask = sa->component_mask,
                             .frame = d->frame,
                             .attribute = sa->mad.attribute,
                             .method = sa->mad.method};
    return q;
}

static const struct sa_request *answered(const struct delivery *d, const struct sa *sa,
                                         uint8_t method)
{
    const struct sa_request *q = slot(d->s, *d->dst, sa->mad.tid);
    bool same = q->method == method && q->tid == sa->mad.tid && port_same(q->asker, *d->dst) &&
                q->attribute == sa->mad.attribute;
    return same ? q : NULL;
}

static bool is_nobody(const uint8_t *gid)
{
    static const uint8_t zero[GID_SIZE];
    return !gid || memcmp(gid, zero, GID_SIZE) == 0;
}

/*
 * The port of a join or leave: the one with the PortGID. If its LID is not known yet, the
 * requester's LID is used, which is right if the port joins itself.
 */
static struct endport *joining_port(const struct delivery *d, const uint8_t *gid,
                                    const struct port *asker)
{
    uint16_t lid = port_to_lid(*asker);
    if (is_nobody(gid))
        return lid ? endports_get_by_lid(d->s->endports, d->interface, lid, true) : NULL;
    struct endport *by_gid = endports_get_by_gid(d->s->endports, d->interface, gid, false);
    if (by_gid && by_gid->lid)
        return by_gid;
    return lid ? endports_learn(d->s->endports, d->interface, lid, gid)
               : endports_get_by_gid(d->s->endports, d->interface, gid, true);
}

/*
 * The port that requests a record, if the record is its own or the group's. It may request the
 * record of another port for any reason.
 */
static struct endport *asking_port(const struct delivery *d, const uint8_t *gid)
{
    uint16_t lid = port_to_lid(*d->src);
    if (is_nobody(gid))
        return lid ? endports_get_by_lid(d->s->endports, d->interface, lid, true) : NULL;
    struct endport *p = endports_get_by_gid(d->s->endports, d->interface, gid, false);
    return p && (!lid || endport_has_lid(p, lid)) ? p : NULL;
}

static void note_join(const struct subnet_event *e)
{
    if (e->group && group_is_broadcast(e->group))
        endport_joins(e->endport, be16(e->group->mgid + MGID_PKEY));
}

static void member_request(const struct delivery *d, const struct sa *sa, const struct mc_member *r,
                           enum subnet_event_kind kind)
{
    struct sa_request *q = remember(d, sa);
    struct subnet_event e = {.kind = kind, .request = q, .member_record = *r, .record = sa->data.p};
    q->join_state = sa_says(sa, MCM_HAS_JOIN_STATE) ? r->join_state : 0;
    q->mtu_selector = sa_says(sa, MCM_HAS_MTU_SELECTOR) ? r->mtu_selector : 0;
    q->mtu = sa_says(sa, MCM_HAS_MTU) ? r->mtu : 0;
    if (!sa_says(sa, MCM_HAS_MGID))
        return;
    q->group = e.group = groups_get(d->s->groups, d->interface, r->mgid, true);
    const uint8_t *gid = sa_says(sa, MCM_HAS_PORT_GID) ? r->port_gid : NULL;
    q->endport = e.endport = kind == SUBNET_GROUP_ASKED ? asking_port(d, gid)
                                                        : joining_port(d, gid, d->src);
    if (kind == SUBNET_GROUP_ASKED) {
        struct member *m = e.group && e.endport
                               ? groups_get_member(d->s->groups, e.group, e.endport, true)
                               : NULL;
        if (m)
            m->asked = true;
        return;
    }
    if (e.group && kind == SUBNET_JOIN_ASKED)
        e.group->asked_frame = d->frame;
    if (e.endport && kind == SUBNET_JOIN_ASKED)
        note_join(&e);
    e.member = e.group && e.endport ? groups_get_member(d->s->groups, e.group, e.endport, true)
                                    : NULL;
    if (e.member) {
        e.join_state_before = member_is_known(e.member) ? e.member->join_state : 0;
        e.member->pending = true;
    }
    tell(d, &e);
}

static void set_member(const struct delivery *d, struct subnet_event *e, uint8_t join_state,
                       bool refused)
{
    if (!e->group || !e->endport)
        return;
    e->member = groups_get_member(d->s->groups, e->group, e->endport, true);
    if (!e->member)
        return;
    e->join_state_before = e->member->join_state;
    e->left_before = e->member->frame && e->member->join_state == 0 && !e->member->refused;
    if (!refused && join_state)
        note_join(e);
    if (!refused) {
        e->group->members += (join_state != 0) - (e->member->join_state != 0);
        e->member->join_state = join_state;
        e->member->mlid_before = e->member->mlid;
        e->member->mlid = e->group->mlid;
    }
    e->member->refused = refused;
    e->member->pending = false;
    e->member->frame = d->frame;
}

/*
 * Set the group and endport of a response. A refusal may leave out the record, so they come from
 * the request. The response to a Get may be about any port, and so may a response without a known
 * request.
 */
static void find_subject(const struct delivery *d, const struct sa *sa, const struct mc_member *r,
                         struct subnet_event *e)
{
    if (e->request && e->request->group && sa->mad.status != 0) {
        e->group = e->request->group;
        e->endport = e->request->endport;
        return;
    }
    e->group = groups_get(d->s->groups, d->interface, r->mgid, true);
    bool own = is_nobody(r->port_gid) || (e->request && e->request->method != SA_GET);
    e->endport = own ? joining_port(d, r->port_gid, d->dst)
                     : endports_get_by_gid(d->s->endports, d->interface, r->port_gid, true);
}

/* Two statuses mean that the group does not exist. */
static void missing(struct group *group, uint16_t status, uint32_t frame)
{
    if (status != SA_STATUS_NO_RECORDS && status != SA_STATUS_INSUFFICIENT_COMPONENTS)
        return;
    group->state = GROUP_MISSING;
    group->frame = frame;
}

/*
 * Did the Get ask for more than the group, such as a port's membership? Then "no records" does not
 * mean that the group does not exist.
 */
static bool asked_for_more(const struct sa_request *q)
{
    return q && q->method == SA_GET && (q->mask & ~(uint64_t)MCM_HAS_MGID);
}

/*
 * The port that received a record about itself; NULL: not known, or the record is about another
 * port.
 */
static struct endport *receiver(const struct delivery *d, const struct subnet_event *e)
{
    uint16_t lid = port_to_lid(*d->dst);
    return lid && e->endport && endport_has_lid(e->endport, lid) ? e->endport : NULL;
}

/* A GetResp answers a Set (a join) or a Get. Only the request shows which. */
static void member_get_response(const struct delivery *d, const struct sa *sa,
                                const struct mc_member *r)
{
    struct subnet_event e = {.member_record = *r, .record = sa->data.p};
    e.request = answered(d, sa, SA_SET);
    bool join = e.request != NULL;
    if (!join)
        e.request = answered(d, sa, SA_GET);
    find_subject(d, sa, r, &e);
    if (!e.group || (sa->mad.status == SA_STATUS_NO_RECORDS && asked_for_more(e.request)))
        return;
    if (sa->mad.status == 0)
        group_told(e.group, r, receiver(d, &e), d->frame);
    else if (e.request) /* without the request, it may have been for more than the group */
        missing(e.group, sa->mad.status, d->frame);
    if (sa->mad.status == 0 && (join || r->join_state)) {
        e.kind = join ? SUBNET_JOINED : SUBNET_GROUP_TOLD;
        set_member(d, &e, r->join_state, false);
    } else if (sa->mad.status == 0) {
        e.kind = SUBNET_GROUP_TOLD;
    } else if (join) {
        e.kind = SUBNET_JOIN_REFUSED;
        e.group->asked_frame = 0;
        set_member(d, &e, 0, true);
    } else {
        e.kind = SUBNET_GROUP_MISSING;
    }
    tell(d, &e);
}

static void member_delete_response(const struct delivery *d, const struct sa *sa,
                                   const struct mc_member *r)
{
    struct subnet_event e = {.kind = SUBNET_LEFT, .member_record = *r, .record = sa->data.p};
    e.request = answered(d, sa, SA_DELETE);
    find_subject(d, sa, r, &e);
    if (sa->mad.status == 0)
        set_member(d, &e, r->join_state, false);
    else
        e.kind = SUBNET_LEAVE_REFUSED;
    tell(d, &e);
}

/*
 * Read complete records of the first segment only. In later segments, records start where the
 * previous segment ended.
 */
static void member_table(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.status != 0 || sa->record_stride < MCM_SIZE || (sa->rmpp_type && sa->segment > 1))
        return;
    for (uint32_t o = 0; view_has(sa->data, o, MCM_SIZE) == WIRE_OK; o += sa->record_stride) {
        struct mc_member r = mc_member_read(sa->data.p + o);
        struct subnet_event e = {
            .kind = SUBNET_GROUP_TOLD, .member_record = r, .record = sa->data.p + o};
        e.group = groups_get(d->s->groups, d->interface, r.mgid, true);
        if (!e.group)
            return;
        group_told(e.group, &r, NULL, d->frame);
        tell(d, &e);
    }
}

static void on_member_record(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.method == SA_GET_TABLE_RESP) {
        member_table(d, sa);
        return;
    }
    if (view_has(sa->data, 0, MCM_SIZE) != WIRE_OK)
        return;
    struct mc_member r = mc_member_read(sa->data.p);
    switch (sa->mad.method) {
    case SA_SET:
        member_request(d, sa, &r, SUBNET_JOIN_ASKED);
        break;
    case SA_DELETE:
        member_request(d, sa, &r, SUBNET_LEAVE_ASKED);
        break;
    case SA_GET:
        member_request(d, sa, &r, SUBNET_GROUP_ASKED);
        break;
    case SA_GET_RESP:
        member_get_response(d, sa, &r);
        break;
    case SA_DELETE_RESP:
        member_delete_response(d, sa, &r);
        break;
    }
}

/*
 * Learn only ports of the own subnet: in a path through an InfiniBand router, the LID is the
 * router's (IBA 14.2.5.1.2).
 */
static void on_path(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.method == SA_GET)
        remember(d, sa);
    if (sa->mad.method != SA_GET_RESP || sa->mad.status != 0 ||
        view_has(sa->data, 0, PATH_SIZE) != WIRE_OK)
        return;
    const uint8_t *p = sa->data.p;
    if (memcmp(p + PATH_DGID, p + PATH_SGID, 8) != 0)
        return;
    endports_learn(d->s->endports, d->interface, be16(p + PATH_SLID), p + PATH_SGID);
    struct subnet_event e = {.kind = SUBNET_PATH,
                             .record = p,
                             .request = answered(d, sa, SA_GET),
                             .mtu = p[PATH_MTU] & 0x3f};
    e.endport = endports_learn(d->s->endports, d->interface, be16(p + PATH_DLID), p + PATH_DGID);
    tell(d, &e);
}

static uint8_t traps_of(const uint8_t *p)
{
    uint16_t trap = be16(p + INFORM_TRAP);
    uint8_t both = SUBSCRIBED_CREATED | SUBSCRIBED_DELETED;
    if (!p[INFORM_GENERIC])
        return 0;
    return trap == 0xffff               ? both
           : trap == TRAP_GROUP_CREATED ? SUBSCRIBED_CREATED
           : trap == TRAP_GROUP_DELETED ? SUBSCRIBED_DELETED
                                        : 0;
}

static struct endport *subscriber(const struct delivery *d, const struct port *p)
{
    uint16_t lid = port_to_lid(*p);
    return lid ? endports_get_by_lid(d->s->endports, d->interface, lid, true) : NULL;
}

static void inform_request(const struct delivery *d, const struct sa *sa)
{
    struct sa_request *q = remember(d, sa);
    struct endport *p = subscriber(d, d->src);
    if (!sa->data.p[INFORM_SUBSCRIBE])
        return;
    q->traps = traps_of(sa->data.p);
    if (p)
        p->subscribing |= q->traps;
}

static void inform_response(const struct delivery *d, const struct sa *sa)
{
    struct subnet_event e = {.kind = SUBNET_SUBSCRIBED, .record = sa->data.p};
    e.request = answered(d, sa, SA_SET);
    e.endport = subscriber(d, d->dst);
    if (e.endport && e.request)
        e.endport->subscribing &= (uint8_t)~e.request->traps;
    if (sa->mad.status != 0)
        return;
    if (e.endport) {
        if (sa->data.p[INFORM_SUBSCRIBE])
            e.endport->subscribed |= traps_of(sa->data.p);
        else
            e.endport->subscribed &= (uint8_t)~traps_of(sa->data.p);
    }
    tell(d, &e);
}

static void on_inform(const struct delivery *d, const struct sa *sa)
{
    if (view_has(sa->data, 0, INFORM_SIZE) != WIRE_OK)
        return;
    if (sa->mad.method == SA_SET)
        inform_request(d, sa);
    else if (sa->mad.method == SA_GET_RESP)
        inform_response(d, sa);
}

static void on_report(const struct delivery *d, const struct sa *sa)
{
    if (sa->mad.method != SA_REPORT || view_has(sa->data, 0, NOTICE_SIZE) != WIRE_OK ||
        !(sa->data.p[NOTICE_GENERIC_TYPE] & 0x80))
        return;
    uint16_t trap = be16(sa->data.p + NOTICE_TRAP);
    if (trap != TRAP_GROUP_CREATED && trap != TRAP_GROUP_DELETED)
        return;
    struct subnet_event e = {.kind = trap == TRAP_GROUP_CREATED ? SUBNET_GROUP_CREATED
                                                                : SUBNET_GROUP_DELETED};
    e.group = groups_get(d->s->groups, d->interface, sa->data.p + NOTICE_DETAILS_GID, true);
    if (e.group) {
        e.group->state = trap == TRAP_GROUP_DELETED      ? GROUP_GONE
                         : e.group->state == GROUP_THERE ? GROUP_THERE
                                                         : GROUP_HEARD_OF;
        e.group->frame = d->frame;
        if (trap == TRAP_GROUP_DELETED)
            e.group->gone_frame = d->frame;
    }
    tell(d, &e);
}

static void watch_manager(const struct delivery *d, const struct sa *sa)
{
    struct manager *m = manager(d);
    uint16_t lid = port_to_lid(*d->src);
    if (!(sa->mad.method & MAD_RESPONSE) || sa->mad.method == SA_REPORT_RESP || lid == 0)
        return;
    uint16_t before = m->sa_lid;
    m->sa_lid = lid;
    if (before && before != lid)
        tell(d, &(struct subnet_event){.kind = SUBNET_SA_MOVED, .lid = before});
}

static void on_sa(const struct delivery *d, const struct sa *sa)
{
    watch_manager(d, sa);
    switch (sa->mad.attribute) {
    case SA_MC_MEMBER_RECORD:
        on_member_record(d, sa);
        break;
    case SA_PATH_RECORD:
        on_path(d, sa);
        break;
    case SA_INFORM_INFO:
        on_inform(d, sa);
        break;
    case SA_NOTICE:
        on_report(d, sa);
        break;
    }
}

/* ---- subnet management */

/*
 * Key of the path to a port: its LID; or the directed route and the agent that sends it, which is
 * the upper half of the transaction ID. The routes of two managers start at different ports.
 */
static uint64_t route_key(const struct delivery *d, const struct smp *smp)
{
    uint64_t h = 0xcbf29ce484222325ull ^ d->interface;
    uint32_t agent = (uint32_t)(smp->mad.tid >> 32);
    if (!smp->directed) {
        const struct port *port = smp->mad.method & MAD_RESPONSE ? d->src : d->dst;
        return (h ^ port->id) * 0x100000001b3ull;
    }
    h = (h ^ agent) * 0x100000001b3ull;
    for (unsigned i = 1; i <= smp->hop_count; i++)
        h = (h ^ smp->initial_path[i]) * 0x100000001b3ull;
    return h ^ (uint64_t)smp->hop_count << 56;
}

static struct route *route_of(const struct delivery *d, const struct smp *smp)
{
    if (smp->directed && !smp->initial_path)
        return NULL;
    uint64_t key = route_key(d, smp);
    struct route *r = g_hash_table_lookup(d->s->routes, &key);
    if (r || g_hash_table_size(d->s->routes) >= ROUTES_MAX)
        return r;
    r = g_new0(struct route, 1);
    r->key = key;
    g_hash_table_add(d->s->routes, r);
    return r;
}

static void forget_pkeys(uint16_t **pkeys)
{
    g_free(*pkeys);
    *pkeys = NULL;
}

/* Is another node at the end of the route now? */
static bool is_another(const struct route *r, const struct node_info *n)
{
    return r->port_guid && r->port_guid != n->port_guid;
}

static void on_node_info(struct route *r, const struct smp *smp)
{
    struct node_info n;
    if (smp_node_info(smp, &n) != WIRE_OK)
        return;
    if (is_another(r, &n)) {
        r->endport = NULL;
        forget_pkeys(&r->pkeys);
    }
    r->node_type = n.type;
    r->port_guid = n.port_guid;
}

/* The port's GID is the subnet prefix and the port GUID (IBA 4.1.1). */
static struct endport *name_port(const struct delivery *d, const struct route *r,
                                 const struct port_info *p)
{
    uint8_t gid[GID_SIZE];
    if (!r->port_guid || !p->gid_prefix)
        return endports_get_by_lid(d->s->endports, d->interface, p->lid, true);
    for (unsigned i = 0; i < 8; i++) {
        gid[i] = (uint8_t)(p->gid_prefix >> (56 - 8 * i));
        gid[8 + i] = (uint8_t)(r->port_guid >> (56 - 8 * i));
    }
    return endports_assign(d->s->endports, d->interface, p->lid, gid);
}

static void tell_pkeys(const struct delivery *d, struct route *r)
{
    if (!r->pkeys || !r->endport)
        return;
    bool same = r->endport->pkeys &&
                memcmp(r->endport->pkeys, r->pkeys, ENDPORT_PKEYS * sizeof *r->pkeys) == 0;
    if (same)
        return;
    g_free(r->endport->pkeys);
    r->endport->pkeys = g_memdup2(r->pkeys, ENDPORT_PKEYS * sizeof *r->pkeys);
    tell(d, &(struct subnet_event){
                .kind = SUBNET_PKEYS, .endport = r->endport, .lid = r->endport->lid});
}

static void on_port_info(const struct delivery *d, struct route *r, const struct smp *smp)
{
    struct port_info p;
    if (smp_port_info(smp, &p) != WIRE_OK || p.lid >= LID_MULTICAST_FIRST)
        return;
    bool had_no_lid = r->has_no_lid;
    r->has_no_lid = smp->mad.method == SMP_GET_RESP && p.lid == 0;
    if (p.lid == 0)
        return;
    if (r->node_type == 0 || (r->node_type == NODE_TYPE_SWITCH && p.port != 0))
        return; /* external ports of a switch have no LID; the field means nothing */
    struct endport *before = r->endport;
    r->endport = name_port(d, r, &p);
    if (!r->endport)
        return;
    if (r->endport != before) {
        r->endport->smi_psn = r->smi_psn;
        r->endport->smi_seconds = r->smi_seconds;
    }
    struct subnet_event e = {.kind = SUBNET_PORT_INFO, .endport = r->endport, .lid = p.lid};
    bool born = smp->mad.method == SMP_SET && (p.state == PORT_ARMED || p.state == PORT_ACTIVE);
    r->endport->lmc = p.lmc;
    r->endport->neighbor_mtu = p.neighbor_mtu;
    if (smp->mad.method == SMP_GET_RESP)
        r->endport->mtu_cap = p.mtu_cap;
    if (smp->mad.method == SMP_SET && p.reregister)
        r->endport->reregister_frame = d->frame;
    if (smp->mad.method == SMP_SET && had_no_lid)
        endport_started(r->endport, d->frame);
    tell(d, &e);
    if (born) {
        endport_born(r->endport, d->frame);
        e.kind = SUBNET_PORT_BORN;
        tell(d, &e);
    }
    tell_pkeys(d, r);
}

static void on_pkeys(const struct delivery *d, struct route *r, const struct smp *smp)
{
    struct pkey_table t;
    if (smp_pkey_table(smp, &t) != WIRE_OK || t.block != 0 ||
        (t.port != 0 && r->node_type != NODE_TYPE_CA))
        return;
    if (!r->pkeys)
        r->pkeys = g_new(uint16_t, ENDPORT_PKEYS);
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++)
        r->pkeys[i] = pkey_table_entry(&t, i);
    tell_pkeys(d, r);
}

static void on_sm_info(const struct delivery *d, const struct smp *smp)
{
    struct sm_info i;
    struct manager *m = manager(d);
    if (smp_sm_info(smp, &i) != WIRE_OK)
        return;
    struct subnet_event e = {.kind = SUBNET_SM_SEEN, .control = i.control};
    if (smp->mad.method == SMP_SET) {
        e.kind = SUBNET_SM_CONTROL;
    } else if (i.state != SM_MASTER) {
        return;
    } else if (m->master_guid && m->master_guid != i.guid) {
        e.kind = SUBNET_SM_SECOND;
    }
    if (i.state == SM_MASTER && smp->mad.method != SMP_SET)
        m->master_guid = i.guid;
    tell(d, &e);
}

/* The port whose SMI sent an SMP; NULL: not known. r: the route of a response; NULL: a request. */
static struct endport *sender_of(const struct delivery *d, const struct route *r,
                                 const struct smp *smp)
{
    uint16_t lid = port_to_lid(*d->src);
    struct node_info n;
    bool info = r && smp->mad.attribute == SMP_NODE_INFO && smp_node_info(smp, &n) == WIRE_OK;
    if (r)
        return info && is_another(r, &n) ? NULL : r->endport;
    return lid ? endports_get_by_lid(d->s->endports, d->interface, lid, false) : NULL;
}

struct endport *subnet_smi_sent(struct subnet *s, const struct mad_payload *m,
                                const struct port *src, uint32_t psn, int64_t ns, bool *whole)
{
    struct delivery d = {.s = s, .src = src, .interface = port_interface(*src)};
    if (m->kind != MAD_KIND_SMP || m->result != WIRE_OK)
        return NULL;
    struct route *r = m->smp.mad.method & MAD_RESPONSE ? route_of(&d, &m->smp) : NULL;
    struct endport *port = sender_of(&d, r, &m->smp);
    uint32_t *last = port ? &port->smi_psn : r ? &r->smi_psn : NULL;
    if (!last)
        return NULL;
    enum smi_sent sent = endport_smi_sent(last, psn);
    *(port ? &port->smi_seconds : &r->smi_seconds) = (uint32_t)(ns / 1000000000);
    *whole = sent == SMI_NEXT;
    if (sent == SMI_MISSING && r)
        forget_pkeys(&r->pkeys);
    if (sent == SMI_MISSING && port)
        forget_pkeys(&port->pkeys);
    return port;
}

static void on_smp(const struct delivery *d, const struct smp *smp)
{
    if (!smp_says(smp))
        return;
    if (smp->mad.attribute == SMP_SM_INFO) {
        on_sm_info(d, smp);
        return;
    }
    struct route *r = route_of(d, smp);
    if (!r)
        return;
    switch (smp->mad.attribute) {
    case SMP_NODE_INFO:
        on_node_info(r, smp);
        break;
    case SMP_PORT_INFO:
        on_port_info(d, r, smp);
        break;
    case SMP_PKEY_TABLE:
        on_pkeys(d, r, smp);
        break;
    }
}

void subnet_mad(struct subnet *s, uint32_t frame, const struct mad_payload *m,
                const struct port *src, const struct port *dst, subnet_observer *observer,
                void *user)
{
    struct delivery d = {s, src, dst, frame, port_interface(*src), observer, user};
    if (m->result != WIRE_OK)
        return;
    if (m->kind == MAD_KIND_SA)
        on_sa(&d, &m->sa);
    else if (m->kind == MAD_KIND_SMP)
        on_smp(&d, &m->smp);
}

/* ---- two interfaces that see one subnet */

static void merge_managers(struct subnet *s, uint16_t from, uint16_t to)
{
    struct manager *m = g_hash_table_lookup(s->managers, GUINT_TO_POINTER(from)),
                   *same = g_hash_table_lookup(s->managers, GUINT_TO_POINTER(to));
    if (!m)
        return;
    g_hash_table_steal(s->managers, GUINT_TO_POINTER(from));
    if (!same) {
        g_hash_table_insert(s->managers, GUINT_TO_POINTER(to), m);
        return;
    }
    if (!same->master_guid)
        same->master_guid = m->master_guid;
    if (!same->sa_lid)
        same->sa_lid = m->sa_lid;
    g_free(m);
}

/* Move requests to the slots of their requesters' new keys. */
static void merge_requests(struct subnet *s, uint16_t from, uint16_t to)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct sa_request q = s->requests[i];
        q.group = s->requests[i].group = group_now(q.group);
        q.endport = s->requests[i].endport = endport_now(q.endport);
        if (!q.method || port_interface(q.asker) != from)
            continue;
        memset(&s->requests[i], 0, sizeof q);
        q.asker = port_on(q.asker, to);
        *slot(s, q.asker, q.tid) = q;
    }
}

/*
 * Routes keep the port to which they led. Those with keys of the other interface are not found any
 * more. P_Key tables: see endports_merge().
 */
static void merge_route(gpointer key, gpointer value, gpointer user)
{
    struct route *r = key;
    (void)value;
    (void)user;
    r->endport = endport_now(r->endport);
    g_clear_pointer(&r->pkeys, g_free);
}

void subnet_merge(struct subnet *s, uint16_t from, uint16_t to)
{
    merge_managers(s, from, to);
    merge_requests(s, from, to);
    g_hash_table_foreach(s->routes, merge_route, NULL);
}

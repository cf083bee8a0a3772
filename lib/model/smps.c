/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/smps.h"

#include "model/hash.h"
#include "model/mix.h"
#include "wire/pkey.h"

enum { REQUESTS_MAX = 4 };

/* Data from SMPs about the port at the end of a route, kept until its LID is known. */
struct route {
    uint64_t key; /* must be first */
    struct endport *endport;
    uint64_t port_guid;
    struct endport_pkeys *pkeys; /* its table while endport is NULL */
    struct sequence smi;         /* as in struct endport */
    uint16_t partition_cap;      /* by NodeInfo; 0: not known */
    uint8_t node_type;           /* 0: not known */
    bool asked;                  /* for its NodeInfo, without an answer since */
    bool has_requests;
    uint8_t next;                    /* in the ring of requests */
    uint16_t requests[REQUESTS_MAX]; /* the ends of their transaction IDs */
    /* frame in which its PortInfo had LID 0, and the SM has set none since; 0: none */
    uint32_t no_lid_frame;
    uint32_t inactive_frame; /* last frame that showed its PortState below Active; 0: none */
};

struct routes {
    GHashTable *by_key; /* a set of struct route */
    unsigned limit;
    struct undone *undone;
};

static void route_free(gpointer p)
{
    struct route *r = p;
    g_free(r->pkeys);
    g_free(r);
}

struct routes *routes_new(unsigned limit, struct undone *undone)
{
    struct routes *all = g_new0(struct routes, 1);
    all->limit = limit;
    all->undone = undone;
    all->by_key = g_hash_table_new_full(hash_uint64, g_int64_equal, route_free, NULL);
    return all;
}

void routes_free(struct routes *all)
{
    if (!all)
        return;
    g_hash_table_destroy(all->by_key);
    g_free(all);
}

/* The port that a LID-routed SMP is about. */
static const struct port *port_of_smp(const struct delivery *d, const struct smp *smp)
{
    return smp->mad.method & MAD_RESPONSE ? d->src : d->dst;
}

/*
 * Key of the path to a port: its LID; or the directed route and the agent that sends it, which is
 * the upper half of the transaction ID. The routes of two managers start at different ports.
 */
static uint64_t route_key(const struct delivery *d, const struct smp *smp)
{
    if (!smp->directed)
        return mix_word(d->interface, port_of_smp(d, smp)->id);
    return mix_route(mix_word(d->interface, smp->mad.tid >> 32), smp->initial_path + 1,
                     smp->hop_count);
}

/*
 * A LID-routed SMP (IBA 14.2.1.1) is about the port with that LID, if an earlier directed-route SMP
 * showed which one this is: ports of virtual functions share the LID.
 */
static void name_by_lid(const struct delivery *d, struct route *r, const struct smp *smp)
{
    uint16_t lid = port_to_lid(*port_of_smp(d, smp));
    struct endport *p = lid ? endports_get_by_lid(d->s->endports, d->interface, lid, false) : NULL;
    r->endport = p && p->node_type ? p : NULL;
    r->node_type = r->endport ? p->node_type : 0;
    r->port_guid = r->endport && endport_has_gid(p) ? be64(p->gid + GID_SIZE / 2) : 0;
}

static struct route *get_route(const struct delivery *d, const struct smp *smp)
{
    if (smp->directed && !smp->initial_path)
        return NULL;
    uint64_t key = route_key(d, smp);
    struct route *r = g_hash_table_lookup(d->s->routes->by_key, &key);
    if (!r) {
        if (g_hash_table_size(d->s->routes->by_key) >= d->s->routes->limit) {
            undone_refuse(d->s->routes->undone, UNDONE_ROUTES);
            return NULL;
        }
        r = g_new0(struct route, 1);
        r->key = key;
        g_hash_table_add(d->s->routes->by_key, r);
    }
    if (!smp->directed)
        name_by_lid(d, r, smp);
    return r;
}

static void forget_pkeys(struct endport_pkeys **pkeys)
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
    r->asked = false;
    r->node_type = n.type;
    r->partition_cap = n.partition_cap;
    r->port_guid = n.port_guid;
}

static void note_request(struct route *r, const struct smp *smp)
{
    r->requests[r->next++ % REQUESTS_MAX] = (uint16_t)smp->mad.tid;
    r->has_requests = true;
    r->asked |= smp->mad.method == SMP_GET && smp->mad.attribute == SMP_NODE_INFO;
}

static bool is_requested(const struct route *r, const struct smp *smp)
{
    for (unsigned i = 0; i < REQUESTS_MAX; i++)
        if (r->requests[i] == (uint16_t)smp->mad.tid)
            return true;
    return !r->has_requests;
}

/*
 * Has the port another LID now; or is another port at the end of the route, whose NodeInfo was not
 * captured? The request of its NodeInfo, or of this response, shows that something is missing.
 */
static bool may_be_another(const struct delivery *d, const struct route *r, const struct smp *smp,
                           uint16_t lid)
{
    return smp->directed && r->endport && r->endport->lid && r->endport->lid != lid &&
           endport_has_gid(r->endport) && (r->asked || !is_requested(r, smp)) &&
           endports_get_by_lid(d->s->endports, d->interface, lid, false) != r->endport;
}

/* The port's GID is the subnet prefix and the port GUID (IBA 4.1.1). */
static struct endport *name_port(const struct delivery *d, const struct route *r,
                                 const struct port_info *p)
{
    uint8_t gid[GID_SIZE];
    if (!r->port_guid || !p->gid_prefix)
        return endports_assign_unnamed(d->s->endports, d->interface, p->lid);
    for (unsigned i = 0; i < 8; i++) {
        gid[i] = (uint8_t)(p->gid_prefix >> (56 - 8 * i));
        gid[8 + i] = (uint8_t)(r->port_guid >> (56 - 8 * i));
    }
    return endports_assign(d->s->endports, d->interface, p->lid, gid);
}

static void pkeys_changed(const struct delivery *d, struct endport *p)
{
    delivery_event(d, &(struct subnet_event){.kind = SUBNET_PKEYS, .endport = p, .lid = p->lid});
}

static bool has_entries(const struct endport_pkeys *k, const uint16_t *entries)
{
    return k && memcmp(k->entries, entries, sizeof k->entries) == 0;
}

/* Hands the table over to the port, once that is known. */
static void hand_over_pkeys(const struct delivery *d, struct route *r)
{
    if (!r->pkeys || !r->endport)
        return;
    bool same = has_entries(r->endport->pkeys, r->pkeys->entries);
    g_free(r->endport->pkeys);
    r->endport->pkeys = g_steal_pointer(&r->pkeys);
    if (!same)
        pkeys_changed(d, r->endport);
}

/*
 * Does the SM bring the port up? A Set of Active does not if the port is Active already: only then
 * can its GSI have sent a packet.
 */
static bool brings_up(const struct route *r, const struct smp *smp, uint8_t state)
{
    if (smp->mad.method != SMP_SET || (state != PORT_ARMED && state != PORT_ACTIVE))
        return false;
    uint32_t sent = r->endport->gsi.last_frame;
    return state == PORT_ARMED || !sent || sent < r->inactive_frame;
}

static void on_port_info(const struct delivery *d, struct route *r, const struct smp *smp)
{
    struct port_info p;
    if (smp_port_info(smp, &p) != WIRE_OK || p.lid >= LID_MULTICAST_FIRST)
        return;
    uint32_t no_lid_frame = r->no_lid_frame;
    r->no_lid_frame = smp->mad.method == SMP_GET_RESP && p.lid == 0 ? d->frame : 0;
    if (p.state > PORT_NO_CHANGE && p.state < PORT_ACTIVE)
        r->inactive_frame = d->frame;
    if (p.lid == 0)
        return;
    if (r->node_type == 0 || (r->node_type == NODE_TYPE_SWITCH && p.port != 0))
        return; /* external ports of a switch have no LID; the field means nothing */
    if (may_be_another(d, r, smp, p.lid))
        return;
    struct endport *before = r->endport;
    r->endport = name_port(d, r, &p);
    if (!r->endport)
        return;
    if (r->endport != before)
        r->endport->smi = r->smi;
    r->endport->node_type = r->node_type;
    struct subnet_event e = {.kind = SUBNET_PORT_INFO, .endport = r->endport, .lid = p.lid};
    bool initialised = brings_up(r, smp, p.state);
    endports_set_lmc(d->s->endports, r->endport, p.lmc);
    r->endport->neighbor_mtu = p.neighbor_mtu;
    if (smp->mad.method == SMP_GET_RESP)
        r->endport->mtu_cap = p.mtu_cap;
    if (smp->mad.method == SMP_SET && p.reregister)
        r->endport->reregister_frame = d->frame;
    if (smp->mad.method == SMP_SET && no_lid_frame && r->endport->gsi.last_frame < no_lid_frame)
        endport_started(r->endport, d->frame); /* else the Set that gave it the LID was lost */
    delivery_event(d, &e);
    if (initialised) {
        endport_initialised(r->endport, d->frame);
        e.kind = SUBNET_PORT_INITIALISED;
        delivery_event(d, &e);
    }
    hand_over_pkeys(d, r);
}

static void on_first_block(const struct delivery *d, const struct route *r,
                           struct endport_pkeys **pkeys, const struct pkey_table *t)
{
    uint16_t entries[ENDPORT_PKEYS];
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++)
        entries[i] = pkey_table_entry(t, i);
    if (has_entries(*pkeys, entries))
        return;
    if (!*pkeys)
        *pkeys = g_new0(struct endport_pkeys, 1);
    memcpy((*pkeys)->entries, entries, sizeof entries);
    (*pkeys)->frame = d->frame;
    if (r->endport)
        pkeys_changed(d, r->endport);
}

static void on_other_block(struct endport_pkeys *pkeys, const struct pkey_table *t)
{
    if (t->block >= 32)
        return;
    pkeys->empty_blocks |= UINT32_C(1) << t->block;
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++)
        if (is_partition(pkey_table_entry(t, i)))
            pkeys->empty_blocks &= ~(UINT32_C(1) << t->block);
}

static void on_pkeys(const struct delivery *d, struct route *r, const struct smp *smp)
{
    struct endport_pkeys **pkeys = r->endport ? &r->endport->pkeys : &r->pkeys;
    struct pkey_table t;
    if (smp_pkey_table(smp, &t) != WIRE_OK || (t.port != 0 && r->node_type != NODE_TYPE_CA))
        return;
    if (t.block == 0)
        on_first_block(d, r, pkeys, &t);
    else if (*pkeys)
        on_other_block(*pkeys, &t);
    if (*pkeys && r->partition_cap)
        (*pkeys)->capacity = r->partition_cap;
}

static void on_sm_info(const struct delivery *d, const struct smp *smp)
{
    struct sm_info i;
    struct manager *m = managers_get(d->s->managers, d->interface);
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
    delivery_event(d, &e);
}

/* The port whose SMI sent an SMP; NULL: not known. r: the route of a response; NULL: a request. */
static struct endport *smp_sender(const struct delivery *d, const struct route *r,
                                  const struct smp *smp)
{
    uint16_t lid = port_to_lid(*d->src);
    struct node_info n;
    bool info = r && smp->mad.attribute == SMP_NODE_INFO && smp_node_info(smp, &n) == WIRE_OK;
    if (r)
        return info && is_another(r, &n) ? NULL : r->endport;
    return lid && lid < LID_MULTICAST_FIRST
               ? endports_get_by_lid(d->s->endports, d->interface, lid, true)
               : NULL;
}

/* Does it report a PortInfo or P_Key table that was truncated? It may have new values. */
static bool is_truncated(const struct smp *smp)
{
    struct port_info p;
    struct pkey_table t;
    return smp_says(smp) && smp->mad.method == SMP_GET_RESP &&
           (smp_port_info(smp, &p) == WIRE_TRUNCATED || smp_pkey_table(smp, &t) == WIRE_TRUNCATED);
}

struct endport *subnet_smi_sent(struct subnet *s, const struct mad_payload *m,
                                const struct port *src, uint32_t psn, uint32_t frame, bool *whole)
{
    struct delivery d = {.s = s, .src = src, .interface = port_interface(*src)};
    if (m->kind != MAD_KIND_SMP || m->result != WIRE_OK)
        return NULL;
    struct route *r = m->smp.mad.method & MAD_RESPONSE ? get_route(&d, &m->smp) : NULL;
    struct endport *port = smp_sender(&d, r, &m->smp);
    struct sequence *smi = port ? &port->smi : r ? &r->smi : NULL;
    if (!smi)
        return NULL;
    bool counts = !smi->known || smi->psn != psn; /* an SMI may not count PSNs */
    enum sequence_seen seen = sequence_saw(smi, psn, frame);
    bool missing = (counts && (seen == SEEN_GAP || seen == SEEN_LATE)) || is_truncated(&m->smp);
    *whole = seen == SEEN_NEXT && !missing;
    if (missing && r)
        forget_pkeys(&r->pkeys);
    if (missing && port) {
        forget_pkeys(&port->pkeys);
        port->neighbor_mtu = 0;
    }
    return port;
}

void learn_smp(const struct delivery *d, const struct smp *smp)
{
    bool is_request = !(smp->mad.method & MAD_RESPONSE) && smp->directed;
    struct route *asked = is_request ? get_route(d, smp) : NULL;
    if (asked)
        note_request(asked, smp);
    if (!smp_says(smp))
        return;
    if (smp->mad.attribute == SMP_SM_INFO) {
        on_sm_info(d, smp);
        return;
    }
    struct route *r = get_route(d, smp);
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

void routes_merge(struct routes *all)
{
    g_hash_table_foreach(all->by_key, merge_route, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/suspicions.h"

#include <string.h>

#include "wire/nanoseconds.h"

/* Most suspicions that wait for the end of the capture. */
enum { SUSPICIONS_MAX = 256 };

#define CREATED      "unless a port created the group again in a packet that was not captured"
#define AS_FULL      "unless the port joined the group as FullMember in a packet that was not captured"
#define OTHERS       "unless the broadcast group had other attributes when the group was created"
#define MOVED        "unless the interface joined a link of this scope in a packet that was not captured"
#define HAS_GID      "unless the port has this GID, too, by an SMP or a join that was not captured"
#define JOINED_ONCE  "unless the port joined the group in a packet that was not captured"
#define JOINED_AGAIN "unless the port joined the group again in a packet that was not captured"

/* The kinds of fact that a suspicion may rest on. Of the QPNs, `words` has them. */
#define OTHER_MTU                                                                                  \
    "unless a restart of the port, or an SMP, changed the MTU of its link in a missing packet"
#define GAVE_PKEY "unless the SM gave the port the P_Key in SMPs that were not captured"

#define OTHER_PARAMETERS                                                                           \
    "unless the SA gave the sender other parameters in a response that was not captured"

#define QPN_AGAIN                                                                                  \
    "unless the address had its previous QPN again, by an announcement that was not captured"

#define SAME_IP                                                                                    \
    "unless another interface of the port has the same IP address, in a packet that was not captured"

static const char *const unless_fact[FACT_KINDS] = {
    [FACT_MEMBERSHIP] = AS_FULL,
    [FACT_JOIN_STATE] = AS_FULL,
    [FACT_NO_MEMBERSHIP] = JOINED_AGAIN,
    [FACT_NO_JOIN] = JOINED_ONCE,
    [FACT_GROUP_ABSENT] = CREATED,
    [FACT_NO_BROADCAST] = CREATED,
    [FACT_REQUEST] = "unless the reply answers another request, which was not captured",
    [FACT_CREATED_WITH] = OTHERS,
    [FACT_PARAMETERS] = OTHER_PARAMETERS,
    [FACT_NO_OTHER_LINK] = MOVED,
    [FACT_SUBSCRIPTIONS] = "unless the port has another subscription, which was not captured",
    [FACT_GIDS] = HAS_GID,
    [FACT_PORT_MTU] = OTHER_MTU,
    [FACT_PKEYS] = GAVE_PKEY,
    [FACT_CROSSING] = "unless the responder had another reason, of which a packet was not captured",
    [FACT_NEW_ADDRESS] = QPN_AGAIN,
};

const char *suspicion_unless(enum fact_kind kind)
{
    return unless_fact[kind];
}

struct suspicions {
    struct suspicion *all; /* array of SUSPICIONS_MAX; NULL: not used so far */
    unsigned waiting[SUSPECTED_KINDS];
    unsigned n;
    struct group_traffic traffic;
};

static const struct {
    const char *format, *unless_record, *unless_traffic;
    const char *name; /* if its rule has several numbers */
} words[SUSPECTED_RESULT] = {
#define UNLESS(name)                                                                               \
    "unless the SA gave the sender another " name " in a response that was not captured",          \
        "unless a response of the SA that was not captured changed the group's " name              \
        ", or the other packet is the wrong one"
    [TRAFFIC_mlid] = {"MLID 0x%04x", UNLESS("MLID"), NULL},
    [TRAFFIC_qkey] = {"Q_Key 0x%08x", UNLESS("Q_Key"), NULL},
    [TRAFFIC_sl] = {"SL %u", UNLESS("SL"), "SL"},
    [TRAFFIC_hop_limit] = {"HopLimit %u", UNLESS("HopLimit"), "HopLimit"},
    [TRAFFIC_tclass] = {"TClass 0x%02x", UNLESS("TClass"), "TClass"},
    [TRAFFIC_flow_label] = {"FlowLabel 0x%05x", UNLESS("FlowLabel"), "FlowLabel"},
#undef UNLESS
    [SUSPECTED_QPN] = {"QPN 0x%06x", NULL,
                       "unless another interface of the port, or the same one before or after a "
                       "restart, announced this QPN in a packet that was not captured",
                       NULL},
};

bool group_record_value(const struct group *g, enum traffic_value which, uint32_t *value)
{
    const uint32_t values[TRAFFIC_VALUES] = {
        [TRAFFIC_mlid] = g->mlid,
#define ATTRIBUTE(rule, name, at, n, mask, member) [TRAFFIC_##member] = g->member,
#include "rules/attributes.def"
#undef ATTRIBUTE
    };
    *value = values[which];
    return g->state == GROUP_PRESENT && (which != TRAFFIC_mlid || g->mlid);
}

struct suspicions *suspicions_new(void)
{
    return g_new0(struct suspicions, 1);
}

void suspicions_free(struct suspicions *all)
{
    if (!all)
        return;
    if (all->traffic.groups)
        g_hash_table_unref(all->traffic.groups);
    g_free(all->all);
    g_free(all);
}

struct group_traffic *suspicions_traffic(struct suspicions *all)
{
    return &all->traffic;
}

static bool same_case(const struct suspicion *a, const struct suspicion *b)
{
    return a->rule == b->rule && a->which == b->which && a->found == b->found &&
           a->interface == b->interface && memcmp(a->about, b->about, LLADDR_SIZE) == 0 &&
           memcmp(a->sgid, b->sgid, GID_SIZE) == 0 && a->entity.number == b->entity.number &&
           memcmp(a->group, b->group, MGID_SIZE) == 0;
}

static bool is_waiting(const struct suspicions *all, const struct suspicion *new)
{
    for (unsigned i = 0; i < all->n; i++)
        if (same_case(&all->all[i], new))
            return true;
    return false;
}

static struct entity entity_of(const struct suspicion *one)
{
    struct entity about = one->entity;
    if (one->of_link)
        return (struct entity){about.kind, one->group, about.number, 0, NULL};
    if (one->which != SUSPECTED_RESULT)
        return one->which == SUSPECTED_QPN ? entity_port(one->about, 0) : entity_group(one->about);
    about.bytes = about.bytes ? one->about : NULL;
    about.group = about.group ? one->group : NULL;
    return about;
}

static const char *unless(const struct suspicion *one)
{
    if (one->fact)
        return suspicion_unless(one->fact);
    if (one->of_source)
        return SAME_IP;
    return one->of_record ? words[one->which].unless_record : words[one->which].unless_traffic;
}

/* Without the texts. */
static struct finding finding_of(const struct suspicion *one, bool stands)
{
    return (struct finding){.rule = one->rule,
                            .reason = unless(one),
                            .sender = &one->sender,
                            .frame = stands ? one->frame : 0,
                            .other_frame = one->other_frame,
                            .value = one->has_number ? &one->found : NULL,
                            .name = one->fact ? one->name : words[one->which].name,
                            .stands = stands};
}

struct suspicion suspicion_of(const struct check_context *s, enum rule_number rule, unsigned which,
                              uint64_t found)
{
    return (struct suspicion){.rule = rule,
                              .which = which,
                              .interface = s->p->at.interface,
                              .pkey = s->p->ib.pkey,
                              .found = found,
                              .has_number = true,
                              .frame = s->p->at.frame,
                              .is_confirmed = true,
                              .sender = sender_of(s->f, s->p)};
}

static void write_texts(const struct check_context *s, const struct result *r,
                        struct suspicion *one)
{
    char *expected = one->texts[0], *found = one->texts[1];
    if (!r) {
        g_snprintf(expected, RESULT_TEXT, words[one->which].format, one->expected);
        g_snprintf(found, RESULT_TEXT, words[one->which].format, (uint32_t)one->found);
    } else if (r->describe) {
        r->describe(s, r, expected, found);
    } else {
        g_strlcpy(expected, r->expected, RESULT_TEXT);
        g_strlcpy(found, r->actual, RESULT_TEXT);
    }
}

static bool report_one(const struct check_context *s, const struct suspicion *one, bool stands)
{
    const struct entity about = entity_of(one);
    struct finding f = finding_of(one, stands);
    f.expected = one->texts[0];
    f.actual = one->texts[1];
    return report_suspected(s->r, &about, &f);
}

bool suspicions_raise(const struct check_context *s, struct suspicion *new, const struct result *r)
{
    struct suspicions *all = s->suspicions;
    const struct finding unwritten = finding_of(new, false);
    bool is_early = new->is_early || (new->which == SUSPECTED_QPN && !new->is_confirmed);
    if (is_waiting(all, new))
        return true;
    if (!report_counts(s->r, &unwritten))
        return false;
    write_texts(s, r, new);
    if (!is_early && !report_one(s, new, false))
        return false;
    if (!all->all)
        all->all = g_new0(struct suspicion, SUSPICIONS_MAX);
    if (all->n < SUSPICIONS_MAX) {
        all->all[all->n++] = *new;
        all->waiting[new->which]++;
        return true;
    }
    if (!is_early)
        report_one(s, new, true);
    return false;
}

void suspicions_answered(struct suspicions *all, const struct connection *c, const struct cm *cm)
{
    bool refused = cm->message == CM_REJ && cm->reason == CM_REJ_SERVICE_ID;
    for (unsigned i = 0; all && i < all->n; i++) {
        struct suspicion *one = &all->all[i];
        if (one->which == SUSPECTED_QPN && one->connection == c->number)
            one->is_confirmed |= refused ? one->is_resolved : one->expected == c->responder.ud_qpn;
    }
}

static bool is_about(const struct suspicion *one, const struct traffic_key *key,
                     enum traffic_value which)
{
    bool of_link = !one->of_link && memcmp(one->group, key->mgid, MGID_SIZE) == 0;
    return one->which == which && one->interface == key->interface &&
           (of_link || memcmp(one->about, key->mgid, MGID_SIZE) == 0);
}

static void remove_at(struct suspicions *all, unsigned i)
{
    all->waiting[all->all[i].which]--;
    memmove(&all->all[i], &all->all[i + 1], (all->n - i - 1) * sizeof *all->all);
    all->n--;
}

bool suspicions_see(struct suspicions *all, const struct traffic_key *key, const uint8_t *source,
                    enum traffic_value which, uint32_t value)
{
    bool explains = false;
    for (unsigned i = 0; all->waiting[which] && i < all->n;) {
        struct suspicion *one = &all->all[i];
        bool about = is_about(one, key, which);
        bool other = !source || memcmp(one->sgid, source, GID_SIZE) != 0;
        if (about && value == one->found && other) {
            explains = true;
            remove_at(all, i);
            continue;
        }
        one->is_confirmed |= about && value == one->expected;
        i++;
    }
    return explains;
}

/* Is the finding about the group, the port, the connection or the sender of the suspicion? */
static bool is_about_entity(const struct suspicion *one, const struct entity *about)
{
    const struct entity its = entity_of(one);
    if (one->fact)
        return entity_same(&its, about);
    switch (about->kind) {
    case ENTITY_GROUP:
        return memcmp(about->bytes, one->about, GID_SIZE) == 0 && about->other == one->sender.lid;
    case ENTITY_PORT:
        return about->bytes && memcmp(about->bytes, one->sgid, GID_SIZE) == 0;
    case ENTITY_QP:
        return about->number == one->sender.lid;
    case ENTITY_ADDRESS:
        return memcmp(about->bytes + LLADDR_GID, one->about, GID_SIZE) == 0;
    case ENTITY_CONNECTION:
        return about->number == one->connection;
    default:
        return false;
    }
}

void suspicions_drop(const struct check_context *s, enum rule_number rule,
                     const struct entity *about)
{
    struct suspicions *all = s->suspicions;
    for (unsigned i = 0; all && i < all->n;)
        if (all->all[i].rule == rule && is_about_entity(&all->all[i], about))
            remove_at(all, i);
        else
            i++;
}

/*
 * Does the model explain it now? The SA's record of the group has the value, the SA reported that
 * it deleted the group since, or the sender has joined it since: it may have had the other value.
 */
static bool is_explained_by(const struct check_context *s, const struct suspicion *one,
                            const uint8_t *mgid)
{
    uint32_t value;
    const struct group *g = groups_find(s->f->groups, one->interface, mgid);
    const struct endport *sender = endports_by_gid(s->f->endports, one->interface, one->sgid);
    const struct member *m = g && sender ? groups_member(s->f->groups, g, sender) : NULL;
    bool joined_since = m && (m->pending || (m->join_state && m->frame > one->frame));
    bool deleted = g && g->deleted_frame > one->other_frame;
    return joined_since || deleted ||
           (g && group_record_value(g, (enum traffic_value)one->which, &value) &&
            value == one->found);
}

static bool is_explained_by_group(const struct check_context *s, const struct suspicion *one)
{
    return is_explained_by(s, one, one->about) ||
           (!one->of_link && is_explained_by(s, one, one->group));
}

bool port_has_qpn(const struct check_context *s, const struct endport *port, uint16_t pkey,
                  uint32_t qpn)
{
    const struct qp *qp = qp_of_port(s, port, qpn);
    return port->several_interfaces || endport_announced(port, pkey, qpn) == ANNOUNCED ||
           (qp && same_partition(qp->pkey, pkey));
}

/*
 * Both QPs sent from one IP address, and the first one goes on: it was not restarted meanwhile, so
 * the capture has all that it sent. Another interface sends from an address of its own, too.
 */
static bool has_own_source(const struct check_context *s, const struct endport *port,
                           const struct suspicion *one, const struct qp *first)
{
    const struct qp *second = qp_of_port(s, port, (uint32_t)one->found);
    return !sequence_is_whole_since(&first->sequence, one->other_frame) || !second ||
           second->source != first->source;
}

/*
 * The port sent from a second QPN. Another interface announces it, and one that was restarted does
 * not use the first one again.
 */
static bool may_be_other_interface(const struct check_context *s, const struct endport *port,
                                   const struct suspicion *one)
{
    const struct qp *first = qp_of_port(s, port, one->expected);
    if (!first || first->sequence.last_frame < one->frame || port->several_interfaces)
        return true;
    return one->of_source ? has_own_source(s, port, one, first)
                          : endport_announced(port, one->pkey, (uint32_t)one->found) == ANNOUNCED;
}

static bool is_explained_by_port(const struct check_context *s, const struct suspicion *one)
{
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->about);
    if (port && one->rule == R_RFC4755_2_2_ONE_UD_QP)
        return may_be_other_interface(s, port, one);
    return !port || port_has_qpn(s, port, one->pkey, (uint32_t)one->found);
}

/* The group that the suspicion is about. */
static const uint8_t *mgid_of(const struct suspicion *one)
{
    return one->entity.kind == ENTITY_GROUP ? one->about : one->group;
}

/*
 * Has the port joined or left the group since, or asked to? Then it may have joined it before. A
 * join that the SA refused shows nothing.
 */
static bool has_joined_or_left(const struct check_context *s, const struct suspicion *one)
{
    const struct group *g = groups_find(s->f->groups, one->interface, mgid_of(one));
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    const struct member *m = g && port ? groups_member(s->f->groups, g, port) : NULL;
    return !m || m->pending || (m->frame > one->other_frame && (!m->refused || m->join_state));
}

/* A listener: does it listen no more, or has it not had its time to join as FullMember? */
static bool may_still_join(const struct check_context *s, const struct suspicion *one)
{
    const struct group *g = groups_find(s->f->groups, one->interface, mgid_of(one));
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    const struct member *m = g && port ? groups_member(s->f->groups, g, port) : NULL;
    return one->rule == R_RFC4391_10_RECEIVER_FULLMEMBER &&
           (!m || !m->reported_ns || m->stopped_frame ||
            clocks_at_least(&s->f->order.clocks, m->reported_on, m->reported_ns) <
                LISTENER_JOIN_SECONDS * NANOSECONDS);
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

/* Does the sender still use the scope that was found? Then its interface moved to that link. */
static bool has_moved(const struct check_context *s, const struct suspicion *one)
{
    uint32_t frame;
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    uint32_t qpn = port ? endport_ud_qpn(port, one->pkey, &frame) : 0;
    const struct qp *qp = qpn ? qp_of_port(s, port, qpn) : NULL;
    return !qp || qp->scope == (one->found & 0x0f);
}

/* Is there a link of the scope that was found? One datagram to its broadcast group shows none. */
static bool scope_may_exist(const struct check_context *s, const struct suspicion *one)
{
    const struct group *b = groups_broadcasts(s->f->groups, one->interface,
                                              be16(one->about + MGID_PKEY));
    while (b && group_scope(b) != (one->found & 0x0f))
        b = b->next;
    return b && (!mgid_is_broadcast(one->about) || group_was_mentioned(b) || has_moved(s, one));
}

/* Has a port at the LID of the sender the GID of the address? */
static bool has_gid(const struct check_context *s, const struct suspicion *one)
{
    const struct endport *port = endports_by_gid(s->f->endports, one->interface,
                                                 one->about + LLADDR_GID);
    return port && endport_has_lid(port, one->sender.lid);
}

/* Does the port have the MTU or the P_Key, as SMPs since or the SA's last records say? */
static bool port_has(const struct check_context *s, const struct suspicion *one)
{
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    if (!port || one->fact == FACT_PORT_MTU)
        return !port || endport_link_mtu(port) >= one->found;
    uint16_t pkey = (uint16_t)one->found;
    bool is_later = port->pkeys && port->pkeys->frame > one->other_frame;
    return (is_later && endport_has_pkey(port, pkey) == PKEY_IS_THERE) ||
           endport_has_pkey_by_sa(port, pkey) == PKEY_IS_THERE;
}

/* Has the interface its previous QPN, which was found, again? */
static bool has_qpn_again(const struct check_context *s, const struct suspicion *one)
{
    uint32_t frame, found = (uint32_t)one->found;
    const struct endport *port = endports_by_gid(s->f->endports, one->interface,
                                                 one->about + LLADDR_GID);
    const struct qp *qp = port ? qp_of_port(s, port, found) : NULL;
    return !port || endport_ud_qpn(port, one->pkey, &frame) == found ||
           (qp && qp->sequence.last_frame > one->other_frame);
}

/* Had the group other parameters since, or may it have had? */
static bool has_other_parameters(const struct check_context *s, const struct suspicion *one)
{
    const struct group *g = groups_find(s->f->groups, one->interface, one->group);
    bool deleted = g && g->deleted_frame > one->other_frame && g->deleted_frame < one->frame;
    return !g || deleted || g->changed_frame > one->other_frame ||
           g->record_frame < one->record_since;
}

/* Has the port of the fact subscribed since? */
static bool has_subscribed(const struct check_context *s, const struct suspicion *one)
{
    const struct endport *port = endports_by_gid(s->f->endports, one->interface, one->sgid);
    return !port || !port->unsubscribed_frame || port->unsubscribed_frame > one->frame;
}

static bool is_result_explained(const struct check_context *s, const struct suspicion *one)
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
    case FACT_PORT_MTU:
    case FACT_PKEYS:
        return port_has(s, one);
    case FACT_NEW_ADDRESS:
        return has_qpn_again(s, one);
    case FACT_PARAMETERS:
        return has_other_parameters(s, one);
    case FACT_SUBSCRIPTIONS:
        return has_subscribed(s, one);
    case FACT_CREATED_WITH:
    case FACT_REQUEST:
    case FACT_CROSSING:
        return false;
    case FACT_MEMBERSHIP:
    case FACT_NO_MEMBERSHIP:
        return has_joined_or_left(s, one) || may_still_join(s, one);
    default:
        return has_joined_or_left(s, one);
    }
}

static bool is_explained(const struct check_context *s, const struct suspicion *one)
{
    if (one->which == SUSPECTED_RESULT)
        return is_result_explained(s, one);
    return (one->which == SUSPECTED_QPN ? is_explained_by_port : is_explained_by_group)(s, one);
}

void suspicions_report(const struct check_context *s)
{
    struct suspicions *all = s->suspicions;
    for (unsigned i = 0; i < all->n; i++) {
        struct suspicion *one = &all->all[i];
        if (one->is_reported || !one->is_confirmed || is_explained(s, one))
            continue;
        report_one(s, one, true);
        one->is_reported = true;
    }
}

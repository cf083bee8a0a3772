/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/judge/fact_reads.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/address.h"
#include "model/observe.h"
#include "rules/check_context.h"
#include "rules/claims/claim.h"

unsigned facts_cited[RULE_COUNT];
/*
 * READ_*: what the current check, and the ones that called it, have read. A result of one rule does
 * not end a check: the check may report on another rule with what it read before.
 */
static unsigned reads;
static bool has_result;

void fact_reads_clear(void)
{
    reads = 0;
}

bool fact_reads_has_result(void)
{
    return has_result;
}

/* What a result with a fact of this kind has taken into account. */
static const unsigned covered[FACT_KINDS] = {
    [FACT_MEMBERSHIP] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_NO_MEMBERSHIP] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_JOINED_BEFORE] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_NO_JOIN] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_JOIN_STATE] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_NO_OTHER_LINK] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_SUBSCRIPTIONS] = READ_PORT,
    [FACT_PARAMETERS] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_MLID] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_GROUP_ABSENT] = READ_GROUP,
    [FACT_NO_BROADCAST] = READ_PORT | READ_GROUP,
    [FACT_CREATED_WITH] = READ_GROUP | READ_MEMBER,
    [FACT_GROUP_MTU] = READ_GROUP,
    [FACT_PORT_MTU] = READ_PORT | READ_GROUP | READ_MEMBER,
    [FACT_PKEYS] = READ_PORT | READ_PKEYS,
    [FACT_GIDS] = READ_PORT | READ_GIDS,
    [FACT_INTERFACE] = READ_PORT | READ_UD_QPNS | READ_QP,
    [FACT_NEIGHBOUR] = READ_PORT | READ_NEIGHBOUR,
    [FACT_NEW_ADDRESS] = READ_NEIGHBOUR,
    [FACT_UD_QPNS] = READ_PORT | READ_UD_QPNS,
    [FACT_REQUEST] = READ_REQUEST,
    [FACT_SOLICITATION] = READ_REQUEST,
};

/* ---- lookups: WRAP(what is read, type of the result, function, parameters, arguments) */

#define WRAP(read, type, name, parameters, arguments)                                              \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        unsigned before = reads;                                                                   \
        type result = __real_##name arguments;                                                     \
        reads = before | (read);                                                                   \
        return result;                                                                             \
    }

WRAP(READ_PORT, const struct endport *, endports_by_gid,
     (const struct endports *e, uint16_t i, const uint8_t *gid), (e, i, gid))
WRAP(READ_PORT, const struct endport *, endports_by_lid,
     (const struct endports *e, uint16_t i, uint16_t lid), (e, i, lid))
WRAP(READ_PKEYS, enum pkey_known, endport_has_pkey, (const struct endport *p, uint16_t pkey),
     (p, pkey))
WRAP(READ_UD_QPNS, enum announced, endport_announced,
     (const struct endport *p, uint16_t pkey, uint32_t qpn), (p, pkey, qpn))
WRAP(READ_GROUP, const struct group *, groups_find,
     (const struct groups *g, uint16_t i, const uint8_t *mgid), (g, i, mgid))
WRAP(READ_GROUP, const struct group *, groups_broadcast,
     (const struct groups *g, uint16_t i, uint16_t pkey, uint8_t scope), (g, i, pkey, scope))
WRAP(READ_GROUP, const struct group *, groups_only_broadcast,
     (const struct groups *g, uint16_t i, uint16_t pkey), (g, i, pkey))
WRAP(READ_GROUP, const struct group *, groups_broadcasts,
     (const struct groups *g, uint16_t i, uint16_t pkey), (g, i, pkey))
WRAP(READ_MEMBER, const struct member *, groups_member,
     (const struct groups *g, const struct group *group, const struct endport *port),
     (g, group, port))
WRAP(READ_NEIGHBOUR, const struct neighbour *, neighbours_of_ip,
     (const struct neighbours *n, uint32_t link, const struct ip *ip), (n, link, ip))
WRAP(READ_QP, const struct qp *, qpns_find,
     (const struct qpns *s, const struct port *port, uint32_t qpn), (s, port, qpn))
WRAP(READ_REQUEST, const struct resolution *, resolution_request,
     (const struct resolutions *r, const struct resolution *like, unsigned of), (r, like, of))
WRAP(READ_GIDS, enum whose, fabric_whose_gid,
     (const struct fabric_facts *f, const struct packet *p, const uint8_t *gid), (f, p, gid))
/* the name of a failure's sender is not what the check read */
WRAP(0, struct sender, sender_of, (const struct fabric_facts *f, const struct packet *p), (f, p))
/* what the decision itself reads is no read of the check */
WRAP(0, struct certainty, fact_certainty, (const struct check_context *s, const struct fact *f),
     (s, f))

/* ---- a check starts with what its caller has read; what it reads itself ends with it */

#define WRAP_SCOPE(name, parameters, arguments)                                                    \
    void __real_##name parameters;                                                                 \
    void __wrap_##name parameters;                                                                 \
    void __wrap_##name parameters                                                                  \
    {                                                                                              \
        unsigned before = reads;                                                                   \
        __real_##name arguments;                                                                   \
        reads = before;                                                                            \
    }

/* no reads of a check: the model's own, and those of claims */
WRAP_SCOPE(fabric_observe, (struct fabric * f, struct packet *p, struct events *e), (f, p, e))

void __real_claims_decide_port(const struct check_context *s, const struct endport *port,
                               bool whole);
void __wrap_claims_decide_port(const struct check_context *s, const struct endport *port,
                               bool whole);
void __wrap_claims_decide_port(const struct check_context *s, const struct endport *port,
                               bool whole)
{
    unsigned before = reads;
    has_result = true;
    __real_claims_decide_port(s, port, whole);
    has_result = false;
    reads = before;
}

void __real_claims_decide_sa(const struct check_context *s);
void __wrap_claims_decide_sa(const struct check_context *s);
void __wrap_claims_decide_sa(const struct check_context *s)
{
    unsigned before = reads;
    has_result = true;
    __real_claims_decide_sa(s);
    has_result = false;
    reads = before;
}

#define WRAP_CHECK(name) WRAP_SCOPE(name, (const struct check_context *s), (s))
WRAP_CHECK(check_transmission)
WRAP_CHECK(check_multicast)
WRAP(0, bool, check_other_group, (const struct check_context *s), (s))
WRAP_CHECK(check_unicast)
WRAP_CHECK(check_pkey_of_sender)
WRAP_CHECK(check_ip_to_group)
WRAP_CHECK(check_source_qp)
WRAP_CHECK(check_sending_interface)
WRAP_CHECK(check_connection_message)
WRAP_CHECK(check_connection_data)
WRAP_SCOPE(check_other_service, (const struct check_context *s, const struct cm *cm), (s, cm))
WRAP_SCOPE(check_interface_joined,
           (const struct check_context *s, const struct endport *port, uint8_t scope),
           (s, port, scope))
WRAP_SCOPE(check_teardown, (const struct check_context *s, const struct connection *c), (s, c))
WRAP_SCOPE(check_group_event, (const struct check_context *s, const struct subnet_event *e), (s, e))
WRAP_SCOPE(check_subnet_event, (const struct check_context *s, const struct subnet_event *e),
           (s, e))
WRAP_SCOPE(check_arp_in_fabric, (const struct check_context *s, const struct datagram *d), (s, d))
WRAP_SCOPE(check_nd_in_fabric, (const struct check_context *s, const struct datagram *d), (s, d))

bool __real_check_scope(const struct check_context *s, const uint8_t *mgid,
                        const struct endport *port);
bool __wrap_check_scope(const struct check_context *s, const uint8_t *mgid,
                        const struct endport *port);
bool __wrap_check_scope(const struct check_context *s, const uint8_t *mgid,
                        const struct endport *port)
{
    unsigned before = reads;
    bool result = __real_check_scope(s, mgid, port);
    reads = before;
    return result;
}

/* ---- results */

static unsigned cited(const struct result *r)
{
    unsigned known = r->dropped;
    for (unsigned i = 0; i < RESULT_FACTS && r->facts[i].kind != FACT_NONE; i++) {
        known |= covered[r->facts[i].kind];
        facts_cited[r->rule] |= 1u << r->facts[i].kind;
    }
    return known;
}

bool __real_report_result(const struct check_context *s, const struct result *r);
bool __wrap_report_result(const struct check_context *s, const struct result *r);
bool __wrap_report_result(const struct check_context *s, const struct result *r)
{
    unsigned forgotten = reads & ~cited(r);
    if (forgotten) {
        fprintf(stderr, "%s: the check read facts that its result does not cite: 0x%x (READ_*)\n",
                rules[r->rule].id, forgotten);
        abort();
    }
    unsigned before = reads;
    has_result = true;
    bool result = __real_report_result(s, r);
    has_result = false;
    reads = before;
    return result;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which groups exist, and their attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/client.h"
#include "hca/mcgroup.h"
#include "hca/records.h"
#include "model/hash.h"
#include "probe/fabric/members.h"
#include "probe/fabric/stages.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "rules/check.h"
#include "wire/mgid.h"

#define REQUEST "SA GetTable MCMemberRecord"
enum { MLID_LIMIT_PERCENT = 80, LEAK_PERCENT = 25, MLIDS_OF_IBA = 0xfffe - 0xc000 + 1 };

/* The kinds of groups, of all partitions. */
enum group_kind { KIND_IPV4, KIND_SOLICITED, KIND_IPV6, KIND_FOREIGN, KINDS };

struct census {
    unsigned groups, ipoib, other_partition;
    unsigned kinds[KINDS];
    GPtrArray *mgids; /* of the groups, in the SA's order */
    unsigned mlids;
    bool broadcast;   /* the link's broadcast group */
    bool all_routers; /* 224.0.0.2 or ff02::2 */
    uint64_t mlid_seen[(0x10000 - 0xc000) / 64];
};

static void count_mlid(struct census *c, uint16_t mlid)
{
    if (mlid < LID_MULTICAST_FIRST)
        return;
    unsigned n = mlid - LID_MULTICAST_FIRST;
    uint64_t bit = (uint64_t)1 << n % 64;
    c->mlids += !(c->mlid_seen[n / 64] & bit);
    c->mlid_seen[n / 64] |= bit;
}

/* ---- attributes (RFC 4391 §10) */

static void differ(struct target *t, enum rule_number rule, const struct mc_member *m,
                   const char *name, uint32_t expected, uint32_t actual)
{
    char mgid[48], wanted[60], found[60];
    text_ip(true, m->mgid, mgid);
    snprintf(wanted, sizeof wanted, "%s 0x%x, as the broadcast group", name, expected);
    snprintf(found, sizeof found, "%s 0x%x", name, actual);
    results_received(t->results, "the record of %s", mgid);
    results_add_number(t->results, rule, wanted, found, name, actual);
}

struct compared_attribute {
    const char *name;
    uint32_t expected, actual;
};

static bool compare(struct target *t, enum rule_number rule, const struct mc_member *m,
                    const struct compared_attribute *list, unsigned n)
{
    bool same = true;
    for (unsigned i = 0; i < n; i++)
        if (list[i].expected != list[i].actual) {
            differ(t, rule, m, list[i].name, list[i].expected, list[i].actual);
            same = false;
        }
    return same;
}

static void pass_group(struct target *t, enum rule_number rule, const char *mgid)
{
    results_received(t->results, "the record of %s", mgid);
    results_add(t->results, rule, OUTCOME_PASS, "", "as the broadcast group's");
}

static void assess_attributes(struct target *t, const struct mc_member *m)
{
    const struct mc_group *g = &t->link->group;
    const struct compared_attribute must[] = {{"P_Key", g->pkey & 0x7fff, m->pkey & 0x7fff},
                                              {"Q_Key", g->qkey, m->qkey},
                                              {"SL", g->sl, m->sl},
                                              {"MTU code", g->mtu, m->mtu},
                                              {"hop limit", g->hop_limit, m->hop_limit}};
    const struct compared_attribute should[] = {{"TClass", g->tclass, m->tclass},
                                                {"flow label", g->flow_label, m->flow_label},
                                                {"rate code", g->rate, m->rate},
                                                {"packet life time", g->life, m->life}};
    char mgid[48];
    text_ip(true, m->mgid, mgid);
    results_sent(t->results, REQUEST ": the group %s", mgid);
    if (compare(t, R_RFC4391_10_GROUP_ATTRIBUTES, m, must, G_N_ELEMENTS(must)))
        pass_group(t, R_RFC4391_10_GROUP_ATTRIBUTES, mgid);
    if (compare(t, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, m, should, G_N_ELEMENTS(should)))
        pass_group(t, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, mgid);
}

static void take_finding(void *user, const struct finding *f)
{
    results_checked(user, 0, f);
}

static void assess_mgid(struct target *t, const uint8_t *mgid)
{
    const struct reporter r = {.report = take_finding, .user = t->results, .base = mgid};
    char text[48];
    text_ip(true, mgid, text);
    results_received(t->results, "the group %s", text);
    check_mgid(&r, mgid, t->link->pkey | 0x8000);
}

/* ---- the groups */

/* RFC 4291 §2.7.1, in the MGID of RFC 4391 §4. */
static bool is_solicited_node(const uint8_t *mgid)
{
    static const uint8_t between[5];
    return memcmp(mgid + MGID_GROUP, between, sizeof between) == 0 && mgid[11] == 1 &&
           mgid[12] == 0xff;
}

static enum group_kind kind_of(const uint8_t *mgid)
{
    if (!mgid_is_ipoib(mgid))
        return KIND_FOREIGN;
    if (be16(mgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV4)
        return KIND_IPV4;
    return is_solicited_node(mgid) ? KIND_SOLICITED : KIND_IPV6;
}

static void assess_group(struct target *t, struct census *c, const uint8_t *record)
{
    struct mc_member m = mc_member_read(record);
    c->groups++;
    g_ptr_array_add(c->mgids, (gpointer)(record + MCM_MGID));
    c->kinds[kind_of(m.mgid)]++;
    count_mlid(c, m.mlid);
    if (!mgid_is_ipoib(m.mgid))
        return;
    c->ipoib++;
    if ((m.pkey ^ t->link->pkey) & 0x7fff) {
        c->other_partition++;
        return;
    }
    c->broadcast |= mgid_equal(m.mgid, t->link->group.mgid);
    c->all_routers |= mgid_is_all_routers(m.mgid);
    assess_mgid(t, m.mgid);
    assess_attributes(t, &m);
}

/*
 * The switches' multicast forwarding tables. smallest: the capacity in MLIDs; 0: no switch reports
 * it. SA_REJECTED with NO_RECORDS: there is no switch.
 */
struct switches {
    enum sa_result result;
    uint16_t status;
    unsigned smallest;
};

static struct switches query_switches(struct target *t)
{
    struct sa_query q = {
        .method = SA_GET_TABLE, .attribute = SA_SWITCH_INFO_RECORD, .sm_key = t->link->sm_key};
    struct sa_response a;
    const uint8_t *record;
    struct switches s = {.result = sa_query_send(t, &q, &a)};
    s.status = a.status;
    bool disclosed = s.result == SA_SUCCESS;
    for (uint32_t i = 0; disclosed && (record = sa_record(&a, i, SWITCH_RECORD_SIZE)); i++) {
        unsigned cap = be16(record + SWITCH_MULTICAST_CAP);
        s.smallest = cap && (!s.smallest || cap < s.smallest) ? cap : s.smallest;
    }
    sa_response_clear(&a);
    if (s.result == SA_REJECTED && s.status == SA_STATUS_NO_RECORDS)
        s.result = SA_SUCCESS;
    return s;
}

#define MEMBERLESS_ADVICE                                                                          \
    "the partition configuration has them, or the SM keeps them, as OpenSM does if a port joins "  \
    "in two ways and leaves in one: remove them there, or restart or update the SM"

/* What to do if MLIDs run out: it depends on the groups that take most of them. */
static const char *mlid_advice(const struct census *c, const struct group_members *m)
{
    static const char *const of_kind[KINDS] = {
        [KIND_IPV4] =
            "IPv4 groups take most: see which hosts join them (saquery -m), and end what is not used",
        [KIND_SOLICITED] =
            "solicited-node groups take most: disable IPv6 where it is not used, or let the SM share MLIDs (OpenSM: ipv6_nsm, consolidate_ipv6_snm_req)",
        [KIND_IPV6] =
            "IPv6 multicast groups take most: see which hosts join them (saquery -m), and end what is not used",
        [KIND_FOREIGN] =
            "groups of other protocols than IPoIB take most: see which hosts join them (saquery -m)",
    };
    enum group_kind most = KIND_IPV4;
    for (unsigned i = 0; i < KINDS; i++)
        most = c->kinds[i] > c->kinds[most] ? (enum group_kind)i : most;
    if (m->known && m->without > c->kinds[most] / 2)
        return "groups without a member take most: " MEMBERLESS_ADVICE;
    return of_kind[most];
}

static char *switches_text(const struct target *t, const struct switches *s)
{
    return s->result != SA_SUCCESS ? g_strdup_printf(" (the switches cannot be listed: %s)",
                                                     sa_failure_text(t, s->result, s->status))
           : s->smallest           ? g_strdup("")
                                   : g_strdup(" (no switch reports the size of its table)");
}

static bool takes(unsigned mlids, unsigned limit, unsigned percent)
{
    return (uint64_t)mlids * 100 >= (uint64_t)limit * percent;
}

/* Groups of a sample that mostly have no member: do all such groups take a quarter of the MLIDs? */
static bool is_leak(struct target *t, const struct census *c, unsigned limit,
                    struct group_members *m)
{
    struct group_members all;
    if (!takes(c->mlids, limit, LEAK_PERCENT))
        return false;
    members_count(t, c->groups, &all);
    bool is = all.known && takes(all.without, limit, LEAK_PERCENT);
    if (is)
        *m = all;
    return is;
}

/* The table of switches is optional (IBA 15.2.4). */
static int census_outcome(const struct switches *s, bool fault, bool memberless)
{
    return fault                                     ? OUTCOME_FAIL
           : s->result == SA_SUCCESS                 ? memberless ? OUTCOME_NOTED : OUTCOME_PASS
           : sa_is_unsupported(s->result, s->status) ? OUTCOME_NOTED
                                                     : OUTCOME_INCONCLUSIVE;
}

static void report_routers(struct target *t, const struct census *c)
{
    results_received(t->results, "%u groups of IPoIB", c->ipoib);
    results_add(
        t->results, R_DRAFT_7_ALL_ROUTER_GROUP, c->all_routers ? OUTCOME_PASS : OUTCOME_NOTED, "",
        c->all_routers
            ? "the all-router group exists: a router, or a host that has asked for one, made it"
            : "there is no all-router group");
}

static void report_census(struct target *t, const char *id, struct census *c)
{
    report_routers(t, c);
    struct switches s = query_switches(t);
    unsigned limit = s.smallest ? s.smallest : MLIDS_OF_IBA;
    bool full = takes(c->mlids, limit, MLID_LIMIT_PERCENT);
    struct group_members m;
    if (full)
        members_count(t, c->groups, &m);
    else
        members_sample(t, c->mgids, &m);
    bool memberless = !full && members_lack_mostly(&m),
         leak = memberless && is_leak(t, c, limit, &m);
    char *members = members_text(&m, full || memberless), *switches = switches_text(t, &s);
    t->link->memberless = (full || leak) && m.known ? m.without : 0;
    results_stage(
        t->results, id, census_outcome(&s, full || leak, memberless),
        full         ? mlid_advice(c, &m)
        : memberless ? "leaked groups: " MEMBERLESS_ADVICE
                     : sa_failure_advice(s.result, s.status),
        "%u groups, %u of IPoIB (%u of other partitions), %u MLIDs of %u%s; %u for IPv4, %u solicited-node, %u other IPv6, %u not of IPoIB%s",
        c->groups, c->ipoib, c->other_partition, c->mlids, limit, switches, c->kinds[KIND_IPV4],
        c->kinds[KIND_SOLICITED], c->kinds[KIND_IPV6], c->kinds[KIND_FOREIGN], members);
    g_free(switches);
    g_free(members);
}

/*
 * If the SA discloses members, it returns a record for each member of a group; each group is
 * processed once.
 */
static void check_group_records(struct target *t, struct census *c, const struct sa_response *a)
{
    GHashTable *seen = g_hash_table_new(hash_gid, mgid_equal);
    const uint8_t *record;
    for (uint32_t i = 0; (record = sa_record(a, i, MCM_SIZE)) != NULL; i++)
        if (g_hash_table_add(seen, (gpointer)(record + MCM_MGID)))
            assess_group(t, c, record);
    g_hash_table_destroy(seen);
    results_sent(t->results, REQUEST);
}

/* What makes the list of groups doubtful. why: of a result other than SA_SUCCESS */
static void withhold_census(struct target *t, const struct census *c, enum sa_result result,
                            const char *why)
{
    if (result != SA_SUCCESS)
        results_withhold_stage(t->results, "%s", why);
    if (!c->broadcast)
        results_withhold_stage(
            t->results,
            "the list lacks the broadcast group, which the SA has (fabric.broadcast-group)");
}

/* A fault in one place of the table does not hide what the other records show. */
static bool has_groups(enum sa_result result, const struct sa_response *a)
{
    return result == SA_SUCCESS ||
           (result == SA_MALFORMED && sa_record(a, 0, MCM_SIZE) && a->stride >= MCM_SIZE);
}

static bool stage_census(struct target *t, const char *id)
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_MC_MEMBER_RECORD};
    struct sa_response a;
    struct census c = {.mgids = g_ptr_array_new()};
    results_sent(t->results, REQUEST);
    enum sa_result result = sa_query_send(t, &q, &a);
    char *why = g_strdup(sa_failure_text(t, result, a.status)); /* report_census() queries too */
    if (has_groups(result, &a)) {
        check_group_records(t, &c, &a);
        report_census(t, id, &c);
        withhold_census(t, &c, result, why);
    } else
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(result, a.status),
                      "the groups cannot be listed: %s", why);
    g_free(why);
    g_ptr_array_unref(c.mgids);
    sa_response_clear(&a);
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.census",
     .looks_at = "the groups have the broadcast group's attributes, and MLIDs are left",
     .sends = "SA GetTable MCMemberRecord and SwitchInfoRecord",
     .run = stage_census,
     .of_subnet = true,
     .transport = CAN_QUERY_SA,
     RULES(R_RFC4391_10_GROUP_ATTRIBUTES, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES,
           R_DRAFT_7_ALL_ROUTER_GROUP)},
};
const struct stage_table census_stages = {stages, G_N_ELEMENTS(stages)};

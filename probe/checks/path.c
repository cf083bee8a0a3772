/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the peer's addresses with the SA's records of its port. */
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "hca/records.h"
#include "probe/checks/checks.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/records.h"
#include "probe/link/link.h"
#include "probe/link/message.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/put.h"

enum { PATH_CODE = 0x3f }; /* MTU and rate without selector */

static void no_path(struct target *t, enum sa_result result, uint16_t status)
{
    struct results *r = t->results;
    char actual[160];
    /*
     * No record for the GID: the SA does not know such a port in the partition, although the peer
     * has responded; or it has no paths.
     */
    bool none = result == SA_REJECTED && status == SA_STATUS_NO_RECORDS,
         unknown = none && !records_is_port_at_lid(t);
    if (none)
        snprintf(actual, sizeof actual, "no path: the SA says 0x%04x, %s", status,
                 sa_status_name(status));
    else
        snprintf(actual, sizeof actual, "%s", sa_failure_text(t, result, status));
    results_received(r, "%s", actual);
    t->peer->not_at_gid = none;
    results_add(r, R_RFC4391_9_1_1_GID_OF_PORT, unknown ? OUTCOME_FAIL : OUTCOME_INCONCLUSIVE,
                "a GID that the SA knows", actual);
    results_add(r, R_RFC4391_4_1_GROUP_MTU, OUTCOME_INCONCLUSIVE, "a path", actual);
    results_add(r, R_RFC4391_9_1_PKEY_COMPATIBLE, OUTCOME_INCONCLUSIVE, "a path", actual);
}

/*
 * The LMC low bits select one of the port's LIDs. The peer's LMC is not known, but LIDs of
 * different paths differ only in these bits.
 */
static void assess_lid(struct target *t, uint16_t dlid)
{
    char expected[40], actual[80];
    bool same = dlid == t->peer->lid ||
                (t->link->transport->facts.lmc &&
                 (dlid ^ t->peer->lid) >> t->link->transport->facts.lmc == 0);
    /* then the GID is right, and the SA's path is wrong (peer.own-side) */
    bool path_is_wrong = !same && records_is_port_at_lid(t);
    t->peer->not_at_gid = !same;
    snprintf(expected, sizeof expected, "the port with LID %u", t->peer->lid);
    snprintf(actual, sizeof actual, "the GID's path leads to LID %u%s", dlid,
             path_is_wrong ? ", and the SA's node there has it" : "");
    results_add(t->results, R_RFC4391_9_1_1_GID_OF_PORT,
                same            ? OUTCOME_PASS
                : path_is_wrong ? OUTCOME_INCONCLUSIVE
                                : OUTCOME_FAIL,
                expected, actual);
}

static void assess_mtu(struct target *t, uint8_t code)
{
    char expected[60], actual[60];
    snprintf(expected, sizeof expected, "at least the group's MTU, %u bytes",
             ib_mtu_bytes(t->link->group.mtu));
    snprintf(actual, sizeof actual, "the path's MTU is %u bytes", ib_mtu_bytes(code));
    /* otherwise the code is not one of the IBA's */
    bool known = ib_mtu_bytes(t->link->group.mtu) && ib_mtu_bytes(code);
    results_add(t->results, R_RFC4391_4_1_GROUP_MTU,
                !known                       ? OUTCOME_INCONCLUSIVE
                : code >= t->link->group.mtu ? OUTCOME_PASS
                                             : OUTCOME_FAIL,
                expected, actual);
}

static void assess_pkey(struct target *t, uint16_t pkey)
{
    char expected[40], actual[60];
    snprintf(expected, sizeof expected, "partition 0x%04x", t->link->pkey & 0x7fff);
    snprintf(actual, sizeof actual, "the path's P_Key is 0x%04x", pkey);
    results_add(t->results, R_RFC4391_9_1_PKEY_COMPATIBLE,
                ((pkey ^ t->link->pkey) & 0x7fff) == 0 ? OUTCOME_PASS : OUTCOME_FAIL, expected,
                actual);
}

static void check_path_record(struct target *t)
{
    struct sa_response a;
    enum sa_result result = records_get_path(t, t->peer->lladdr + LLADDR_GID, &a);
    if (result != SA_SUCCESS)
        no_path(t, result, a.status);
    else {
        const uint8_t *record = a.records->data;
        results_received(t->results, "DLID %u, P_Key 0x%04x, MTU %u bytes",
                         be16(record + PATH_DLID), be16(record + PATH_PKEY),
                         ib_mtu_bytes(record[PATH_MTU] & PATH_CODE));
        assess_lid(t, be16(record + PATH_DLID));
        assess_mtu(t, record[PATH_MTU] & PATH_CODE);
        assess_pkey(t, be16(record + PATH_PKEY));
    }
    sa_response_clear(&a);
}

static void check_port_guid(struct target *t)
{
    uint8_t gid[16];
    char expected[48], actual[48];
    memcpy(gid, t->link->transport->facts.gid,
           8); /* the subnet prefix is the same: the peer is in this subnet */
    const char *why = records_get_port_guid(t, gid + 8);
    if (why) {
        results_add(t->results, R_RFC4391_9_1_1_GID_FROM_PORT_GUID, OUTCOME_INCONCLUSIVE,
                    "a NodeRecord", why);
        return;
    }
    text_ip(true, gid, expected);
    text_ip(true, t->peer->lladdr + LLADDR_GID, actual);
    results_received(t->results, "port GUID %016" G_GINT64_MODIFIER "x", be64(gid + 8));
    results_add(t->results, R_RFC4391_9_1_1_GID_FROM_PORT_GUID,
                memcmp(gid, t->peer->lladdr + LLADDR_GID, 16) == 0 ? OUTCOME_PASS : OUTCOME_FAIL,
                expected, actual);
}

static void report_link_local(struct target *t, enum outcome outcome, const char *text)
{
    static const enum rule_number reported[] = {R_RFC4391_8_1_LINK_LOCAL_FORM, R_RFC4391_8_U_BIT};
    for (size_t i = 0; i < G_N_ELEMENTS(reported); i++)
        results_add(t->results, reported[i], outcome,
                    outcome == OUTCOME_PASS ? "" : "an NA from the link-local address of its GUID",
                    text);
}

/*
 * No response proves nothing: the peer may have no IPv6, or another form of link-local address,
 * which is allowed. The NS goes to the known queue pair.
 */
static void check_link_local(struct target *t)
{
    char text[120], ip[48];
    uint8_t address[16];
    struct request q = {.grh = t->peer->needs_grh, .ip = address, .ip_version = 6};
    message_link_local(address, t->peer->lladdr + LLADDR_GID + 8);
    text_ip(true, address, ip);
    struct exchange x = exchange_run(t, &q, TRIES);
    if (x.outcome == RESPONSE_RECEIVED) {
        snprintf(text, sizeof text, "it has %s", ip);
        report_link_local(t, OUTCOME_PASS, text);
    } else {
        snprintf(text, sizeof text, "nothing from %s: no IPv6 there, or another address", ip);
        report_link_local(t, OUTCOME_INCONCLUSIVE, x.outcome == NOT_SENT ? x.received : text);
    }
}

struct partitions {
    bool full, limited; /* membership types in the link's partition */
    unsigned n;         /* number of partitions */
};

static void count_partitions(struct target *t, const struct sa_response *a, struct partitions *out)
{
    const uint8_t *record;
    for (uint32_t n = 0; (record = sa_record(a, n, PKEY_RECORD_SIZE)) != NULL; n++)
        for (unsigned i = 0; i < PKEY_BLOCK; i++) {
            uint16_t pkey = be16(record + PKEY_RECORD_BLOCK + (size_t)2 * i);
            out->n += (pkey & 0x7fff) != 0;
            if ((pkey ^ t->link->pkey) & 0x7fff)
                continue;
            out->full |= pkey >> 15;
            out->limited |= !(pkey >> 15);
        }
}

static void assess_partitions(struct target *target, const struct partitions *t)
{
    const char *member = t->full && t->limited ? "full and limited member"
                         : t->full             ? "full member"
                                               : "limited member";
    bool limited = !t->full && !(target->link->pkey >> 15);
    char text[80];
    results_received(target->results, "%s of the partition, %u P_Keys in all", member, t->n);
    snprintf(text, sizeof text, "the peer is %s, this port %s", member,
             target->link->pkey >> 15 ? "full" : "limited");
    results_add(target->results, R_PARTITION_LIMITED_TO_LIMITED,
                limited ? OUTCOME_NOTED : OUTCOME_PASS, limited ? "one full member of the two" : "",
                text);
    results_add(target->results, R_PARTITION_MEMBERSHIP_TWINS,
                t->full && t->limited ? OUTCOME_NOTED : OUTCOME_PASS, "", text);
    results_add(target->results, R_PARTITION_OVERLAP, t->n > 1 ? OUTCOME_NOTED : OUTCOME_PASS, "",
                t->n > 1 ? "the peer is in several partitions" : "the peer is in one partition");
}

static char *why_no_partitions(const struct target *t, enum sa_result result, uint16_t status)
{
    return result == SA_SUCCESS
               ? g_strdup("the SA lists none of the peer's P_Keys")
               : g_strdup_printf("the peer's P_Keys: %s%s", sa_failure_text(t, result, status),
                                 t->link->sm_key ? "" : "; it discloses them only with its SM_Key");
}

/* OpenSM discloses the table only to requesters with its SM_Key: others get status 0x0200. */
static void check_partitions(struct target *target)
{
    static const enum rule_number reported[] = {R_PARTITION_LIMITED_TO_LIMITED,
                                                R_PARTITION_MEMBERSHIP_TWINS, R_PARTITION_OVERLAP};
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_PKEY_TABLE_RECORD,
                         .mask = PORT_RECORD_HAS_LID,
                         .sm_key = target->link->sm_key};
    struct sa_response a;
    struct partitions t = {0};
    put16(q.record, target->peer->lid);
    results_sent(target->results, "SA GetTable P_KeyTableRecord of LID %u", target->peer->lid);
    enum sa_result result = sa_query_send(target, &q, &a);
    if (result == SA_SUCCESS)
        count_partitions(target, &a, &t);
    if (t.full || t.limited)
        assess_partitions(target, &t);
    char *why = why_no_partitions(target, result, a.status);
    for (size_t i = 0; !t.full && !t.limited && i < G_N_ELEMENTS(reported); i++)
        results_skip(target->results, reported[i], why);
    g_free(why);
    sa_response_clear(&a);
}

static const struct check checks[] = {
    {.name = "path",
     .transport = CAN_QUERY_SA,
     .run = check_path_record,
     .sends = "to the SA: PathRecord from this port to the peer's GID",
     .expects =
         "a path, to the LID that the peer's answers come from, with the partition's P_Key and at least the group's MTU",
     RULES(R_RFC4391_9_1_1_GID_OF_PORT, R_RFC4391_4_1_GROUP_MTU, R_RFC4391_9_1_PKEY_COMPATIBLE)},
    {.name = "port-guid",
     .transport = CAN_QUERY_SA,
     .run = check_port_guid,
     .sends = "to the SA: NodeRecord of the peer's LID",
     .expects = "the peer's GID is the subnet prefix and the port's GUID",
     RULES(R_RFC4391_9_1_1_GID_FROM_PORT_GUID)},
    {.name = "partitions",
     .transport = CAN_QUERY_SA,
     .run = check_partitions,
     .sends = "to the SA: P_KeyTableRecord of the peer's LID",
     .expects = "the peer or this port is full member of the partition",
     RULES(R_PARTITION_LIMITED_TO_LIMITED, R_PARTITION_MEMBERSHIP_TWINS, R_PARTITION_OVERLAP)},
    {.name = "link-local",
     .run = check_link_local,
     .sends = "NS from :: for the link-local address that the peer's GUID makes, to the peer's QPN",
     .expects = "an NA: it has that address",
     RULES(R_RFC4391_8_1_LINK_LOCAL_FORM, R_RFC4391_8_U_BIT)},
};
const struct check_table path_checks = {checks, G_N_ELEMENTS(checks)};

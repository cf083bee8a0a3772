/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage fabric.sm: does the SA answer, and is there one master SM? See stages.h. */
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "hca/records.h"
#include "probe/fabric/stages.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/put.h"

/* The port with the SM's LID has ended its SM, or this port's SM LID is old. */
static void report_absent_sa(struct target *t, const char *id, uint16_t status)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    results_stage(t->results, id, OUTCOME_FAIL, "", "%s", sa_failure_text(t, SA_ABSENT, status));
    results_advise(t->results,
                   "smpquery %s nodedesc %u: start the subnet manager there; or if another one "
                   "runs, restart that: its sweep corrects this port's SM LID",
                   w.diags, t->link->transport->facts.sm_lid);
}

static void report_silent_sa(struct target *t, const char *id)
{
    char *words, *command, *history = sa_history(t);
    advice_on_silent_sa(t->link, sa_was_slow(t), history, &words, &command);
    g_free(history);
    results_stage(t->results, id, OUTCOME_FAIL, command, "the SA at LID %u does not answer; %s",
                  t->link->transport->facts.sm_lid, words);
    g_free(words);
    g_free(command);
}

static void report_slow_sa(struct target *t, const char *id)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "%s", sa_slow_text(t));
    results_advise(t->results,
                   "test again; perfquery %s: lost packets; smpquery %s nodedesc %u names the host "
                   "whose load to check",
                   w.diags, w.diags, t->link->transport->facts.sm_lid);
}

/* Nothing that depends on the SA can work. */
static void report_no_sa(struct target *t, const char *id, enum sa_result result, uint16_t status)
{
    unsigned lid = t->link->transport->facts.sm_lid;
    if (result == SA_ERROR)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "", "cannot query the SA: %s",
                      sa_failure_text(t, result, status));
    else if (result == SA_BUSY)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, sa_failure_advice(result, status),
                      "the SA at LID %u is busy", lid);
    else if (result == SA_NO_RESPONSE && t->run->sa.slow[0])
        report_slow_sa(t, id);
    else if (result == SA_NO_RESPONSE)
        report_silent_sa(t, id);
    else
        report_absent_sa(t, id, status);
}

static const char *sm_state_name(uint8_t state)
{
    /* IBA 14.2.5.13 */
    static const char *const names[] = {"not active", "discovering", "standby", "master"};
    return state < G_N_ELEMENTS(names) ? names[state] : "in an unknown state";
}

static void add_sm(GString *out, const uint8_t *record)
{
    const uint8_t *info = record + SM_RECORD_INFO;
    uint8_t state = info[SM_INFO_PRIORITY_STATE] & 0xf;
    g_string_append_printf(out, "%s%016" G_GINT64_MODIFIER "x at LID %u: %s, priority %u",
                           out->len ? "; " : "", be64(info + SM_INFO_GUID), be16(record),
                           sm_state_name(state), info[SM_INFO_PRIORITY_STATE] >> 4);
}

/* Counts the master SMs and describes all SMs. */
static unsigned count_masters(struct target *t, const struct sa_response *a, GString *words)
{
    unsigned masters = 0;
    const uint8_t *record;
    for (uint32_t i = 0; (record = sa_record(a, i, SM_RECORD_SIZE)) != NULL; i++) {
        if ((record[SM_RECORD_INFO + SM_INFO_PRIORITY_STATE] & 0xf) == SM_MASTER) {
            masters++;
            t->link->sm_guid = be64(record + SM_RECORD_INFO + SM_INFO_GUID);
        }
        add_sm(words, record);
    }
    return masters;
}

static void report_masters(struct target *t, const char *id, unsigned masters, const char *words)
{
    unsigned lid = t->link->transport->facts.sm_lid;
    if (masters > 1)
        results_stage(
            t->results, id, OUTCOME_FAIL,
            "two masters: the subnet was split, or two subnets were joined; end one of them",
            "the SA at LID %u answers; subnet managers: %s", lid, words);
    else
        results_stage(t->results, id, masters ? OUTCOME_PASS : OUTCOME_INCONCLUSIVE,
                      masters ? "" : "see the SM's log: its list does not have the SM itself",
                      "the SA at LID %u answers; subnet managers: %s%s", lid,
                      masters ? "" : "no master is listed; ", words);
}

static void report_sms(struct target *t, const char *id, const struct sa_response *a)
{
    char text[40];
    GString *words = g_string_new(NULL);
    unsigned masters = count_masters(t, a, words);
    if (!words->len)
        g_string_assign(words, "none listed");
    snprintf(text, sizeof text, "%u master%s", masters, masters == 1 ? "" : "s");
    results_received(t->results, "%s", words->str);
    report_masters(t, id, masters, words->str);
    results_add(t->results, R_SM_ONE_MASTER, masters == 1 ? OUTCOME_PASS : OUTCOME_FAIL,
                "one master", text);
    g_string_free(words, TRUE);
}

/* ---- a subnet manager that the master does not know */

static bool is_listed(const struct sa_response *sms, uint16_t lid)
{
    const uint8_t *record;
    for (uint32_t i = 0; (record = sa_record(sms, i, SM_RECORD_SIZE)) != NULL; i++)
        if (be16(record) == lid)
            return true;
    return false;
}

static bool is_of_sm(const uint8_t *record)
{
    uint32_t capabilities = be32(record + PORT_RECORD_CAPABILITY_MASK);
    return (capabilities & PORT_CAP_IS_SM) && !(capabilities & PORT_CAP_SM_DISABLED);
}

/* The LID of a port that says that an SM runs on it, and that the table of SMs lacks; 0: none. */
static uint16_t find_unlisted(struct target *t, const struct sa_response *sms)
{
    struct sa_query q = {.method = SA_GET_TABLE,
                         .attribute = SA_PORT_INFO_RECORD,
                         .modifier = PORT_RECORD_MATCH_BITS,
                         .mask = PORT_RECORD_HAS_CAPABILITY_MASK};
    struct sa_response a;
    const uint8_t *record;
    uint16_t found = 0;
    put32(q.record + PORT_RECORD_CAPABILITY_MASK, PORT_CAP_IS_SM);
    if (sa_query_send(t, &q, &a) == SA_SUCCESS) /* another SA need not have the table */
        for (uint32_t i = 0; !found && (record = sa_record(&a, i, PORT_RECORD_SIZE)) != NULL; i++)
            found = is_of_sm(record) && !is_listed(sms, be16(record)) ? be16(record) : 0;
    sa_response_clear(&a);
    return found;
}

static void report_unlisted(struct target *t, uint16_t lid)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    results_withhold_stage(
        t->results,
        "the port with LID %u says that a subnet manager runs on it too, and the "
        "SM of LID %u does not list it: two masters that do not reach each other, "
        "or one that hangs",
        lid, t->link->transport->facts.sm_lid);
    results_advise(t->results,
                   "smpquery %s nodedesc %u; sminfo %s %u; see the logs of both; end one of them",
                   w.diags, lid, w.diags, lid);
}

/* OpenSM lists the SMs to every requester; but an SA need not have the table (IBA 15.2.4). */
static void report_no_list(struct target *t, const char *id, enum sa_result result, uint16_t status)
{
    bool optional = sa_is_unsupported(result, status);
    const char *why = sa_failure_text(t, result, status);
    results_received(t->results, "%s", why);
    results_stage(t->results, id, optional ? OUTCOME_NOTED : OUTCOME_INCONCLUSIVE,
                  optional ? "this table is optional: look for a second master with sminfo"
                           : sa_failure_advice(result, status),
                  "the SA at LID %u answers; the subnet managers cannot be listed: %s",
                  t->link->transport->facts.sm_lid, why);
    results_add(t->results, R_SM_ONE_MASTER, OUTCOME_INCONCLUSIVE, "one master", why);
}

static void report_lmc(struct target *t)
{
    char text[60];
    unsigned lmc = t->link->transport->facts.lmc;
    snprintf(text, sizeof text, "LMC %u: %u LID%s, each with a path of its own", lmc, 1u << lmc,
             lmc ? "s" : "");
    results_received(t->results, "%s", text);
    results_add(t->results, R_SM_LMC_PATHS, lmc ? OUTCOME_NOTED : OUTCOME_PASS, "", text);
}

static void list_sms(struct target *t, const char *id)
{
    struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_SM_INFO_RECORD};
    struct sa_response a;
    results_sent(t->results, "SA GetTable SMInfoRecord");
    enum sa_result result = sa_query_send(t, &q, &a);
    uint16_t unlisted = result == SA_SUCCESS ? find_unlisted(t, &a) : 0;
    if (result == SA_SUCCESS)
        report_sms(t, id, &a);
    else
        report_no_list(t, id, result, a.status);
    if (unlisted)
        report_unlisted(t, unlisted);
    report_lmc(t);
    sa_response_clear(&a);
}

bool stage_sm_run(struct target *t, const char *id)
{
    struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    struct sa_response a;
    enum sa_result result = sa_query_send(t, &q, &a);
    bool answered = sa_has_answered(result);
    char *why = g_strdup(sa_failure_text(t, result, a.status)); /* list_sms() queries too */
    bool slow = answered && t->run->sa.slow_ms;
    if (slow)
        report_slow_sa(t, id);
    else if (answered)
        list_sms(t, id);
    else
        report_no_sa(t, id, result, a.status);
    if (answered && !slow && result != SA_SUCCESS)
        results_withhold_stage(t->results, "ClassPortInfo, which every SA has: %s", why);
    g_free(why);
    sa_response_clear(&a);
    return answered && !slow && !t->run->stopped;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See why_run.h. */
#include "why_run.h"

#include <arpa/inet.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/exchange/peer.h"
#include "sa_answer.h"
#include "wire/mgid.h"
#include "wire/port_records.h"
#include "wire/put.h"

struct why_run run;

/* ---- the SA's tables */

static enum transport_result (*ask_fake)(struct transport *t, const struct sa_query *q, int ms,
                                         struct sa_response *a);

static void put_gid(const struct listed_port *p, uint8_t *gid)
{
    memcpy(gid, run.fake.base.facts.gid, GID_SIZE);
    gid[GID_SIZE - 1] = p->gid;
}

/* The groups by their MGIDs: broadcast groups, and solicited-node groups (RFC 4291 §2.7.1). */
static bool is_in(const struct listed_port *p, const uint8_t *mgid)
{
    static const uint8_t of_guids[2] = {0x00, 0x18};
    if (be16(mgid + MGID_SIGNATURE) == MGID_SIGNATURE_IPV4)
        return be16(mgid + MGID_PKEY) == OTHER_PKEY ? p->other_member : p->member;
    return memcmp(mgid + 13, of_guids, 2) == 0 ? p->local && p->gid == mgid[15] : p->target;
}

static void put_member(const struct listed_port *p, const uint8_t *mgid, uint8_t *record)
{
    sa_answer_group(record);
    memcpy(record + MCM_MGID, mgid, GID_SIZE);
    put_gid(p, record + MCM_PORT_GID);
    record[MCM_SCOPE_JOIN] = 0x21;
}

static void put_node(const struct listed_port *p, uint8_t *record)
{
    put16(record, p->lid);
    record[NODE_RECORD_INFO + NODE_INFO_TYPE] = p->is_switch ? NODE_TYPE_SWITCH : NODE_TYPE_CA;
    memcpy(record + NODE_RECORD_PORT_GUID, run.fake.base.facts.gid + 8, 8);
    record[NODE_RECORD_PORT_GUID + 7] = p->gid;
    g_strlcpy((char *)record + NODE_RECORD_DESCRIPTION, p->name, 64);
}

static void put_path(const struct listed_port *p, uint8_t *record)
{
    put_gid(p, record + PATH_DGID);
    put16(record + PATH_DLID, p->lid);
    put16(record + PATH_PKEY, run.t->link->pkey);
}

static bool concerns(const struct sa_query *q, const struct listed_port *p)
{
    uint8_t gid[GID_SIZE];
    put_gid(p, gid);
    if (q->attribute == SA_NODE_RECORD)
        return q->method == SA_GET_TABLE || be16(q->record) == p->lid;
    if (q->attribute == SA_PATH_RECORD)
        return memcmp(q->record + PATH_DGID, gid, GID_SIZE) == 0;
    return is_in(p, q->record + MCM_MGID) &&
           (!(q->mask & MCM_HAS_PORT_GID) || memcmp(q->record + MCM_PORT_GID, gid, GID_SIZE) == 0);
}

static void answer(const struct sa_query *q, struct sa_response *a)
{
    uint16_t status = q->method == SA_GET_TABLE ? 0 : SA_STATUS_NO_RECORDS;
    a->stride = q->attribute == SA_NODE_RECORD ? 112 : 56; /* multiples of 8 */
    g_byte_array_set_size(a->records, 0);
    for (unsigned i = 0; i < run.n_ports; i++) {
        const struct listed_port *p = &run.ports[i];
        uint8_t record[SA_DATA_SIZE] = {0};
        if (!concerns(q, p))
            continue;
        if (q->attribute == SA_NODE_RECORD)
            put_node(p, record);
        else if (q->attribute == SA_PATH_RECORD)
            put_path(p, record);
        else
            put_member(p, q->record + MCM_MGID, record);
        status = q->attribute == SA_PATH_RECORD ? p->path_status : 0;
        if (q->method == SA_GET && a->records->len)
            continue;
        g_byte_array_append(a->records, record, q->method == SA_GET ? SA_DATA_SIZE : a->stride);
    }
    if (q->method == SA_GET)
        a->stride = 0;
    a->busy = status == MAD_STATUS_BUSY;
    sa_answer_head(q, status, a);
    if (status)
        g_byte_array_set_size(a->records, 0);
}

/* This port's own groups are the fake's. */
static bool is_about_others(const struct sa_query *q)
{
    bool reads = q->method == SA_GET || q->method == SA_GET_TABLE,
         of_own = q->mask & MCM_HAS_PORT_GID &&
                  memcmp(q->record + MCM_PORT_GID, run.fake.base.facts.gid, GID_SIZE) == 0,
         of_link = q->method == SA_GET && !(q->mask & MCM_HAS_PORT_GID) &&
                   memcmp(q->record + MCM_MGID, run.t->link->group.mgid, GID_SIZE) == 0;
    return reads && (q->attribute == SA_NODE_RECORD || q->attribute == SA_PATH_RECORD ||
                     (q->attribute == SA_MC_MEMBER_RECORD && !of_own && !of_link));
}

static enum transport_result query(struct transport *t, const struct sa_query *q, int ms,
                                   struct sa_response *a)
{
    if (run.sa_refuses && run.sa_refuses(q)) {
        sa_answer_head(q, 0x0200, a); /* ERR_REQ_INVALID (IBA 15.2.1.3) */
        return TRANSPORT_OK;
    }
    enum transport_result result = ask_fake(t, q, ms, a);
    if (result == TRANSPORT_OK && run.n_ports && is_about_others(q))
        answer(q, a);
    if (q->method == SA_SET && q->mask & MCM_HAS_MTU && a->records->len) {
        a->records->data[MCM_MTU] = q->record[MCM_MTU]; /* as the group was made */
        a->records->data[MCM_RATE] = q->record[MCM_RATE];
    }
    return result;
}

void why_run_list(struct listed_port p)
{
    run.ports[run.n_ports++] = p;
}

/* ---- connection managers */

static bool can_connect(struct transport *t)
{
    (void)t;
    return run.cm;
}

static enum transport_result connect_to(struct transport *t, const struct connect_request *q,
                                        int ms, struct cm_connection **c)
{
    (void)t;
    (void)ms;
    run.cm_asked++;
    *c = g_new0(struct cm_connection, 1);
    (*c)->req = *q;
    (*c)->result = run.cm_answers ? CONNECT_REJECTED : CONNECT_NO_RESPONSE;
    return TRANSPORT_OK;
}

static void disconnect(struct transport *t, struct cm_connection *c, int ms, bool *answered)
{
    (void)t;
    (void)ms;
    *answered = false;
    g_free(c);
}

/* ---- a run */

void why_run_begin(const char *ipv6)
{
    memset(&run, 0, sizeof run);
    host_clear();
    run.options = (struct options){.rate = 100000, .timeout_ms = 1};
    run.checked = (struct checked){.name = (char *)"n2", .verdict = verdict_new(NULL)};
    run.results.checked = &run.checked;
    run.t = probe_fixture_make(&run.fixture, &run.options, &run.results);
    fake_begin(&run.fake, run.t, NO_FAULT, true);
    run.ops = *run.fake.base.ops;
    run.fake.base.ops = &run.ops;
    ask_fake = run.ops.query;
    run.ops.query = query;
    run.ops.capabilities |= HAS_CONNECTIONS;
    run.ops.can_connect = can_connect;
    run.ops.connect = connect_to;
    run.ops.disconnect = disconnect;
    g_strlcpy(run.choice.interface, "ib0", sizeof run.choice.interface);
    run.t->link->choice = &run.choice;
    run.t->ipv6 = ipv6 != NULL;
    assert_int_equal(inet_pton(ipv6 ? AF_INET6 : AF_INET, ipv6 ? ipv6 : "10.0.0.2", run.t->ip), 1);
    g_strlcpy(run.t->name, ipv6 ? ipv6 : "n2 (10.0.0.2)", sizeof run.t->name);
}

void why_run_set_pkey(uint16_t pkey)
{
    run.t->link->pkey = run.fake.base.facts.pkeys[0] = pkey;
}

void why_run_know_peer(void)
{
    const uint8_t lladdr[LLADDR_SIZE] = {0,    0,    0,    PEER_QPN, 0xfe, 0x80, [12] = 0x00,
                                         0x02, 0xc9, 0x03, 0,        0,    0x18, 0x95};
    struct peer *p = run.t->peer;
    p->known = true;
    p->lid = PEER_LID;
    p->qpn = PEER_QPN;
    memcpy(p->lladdr, lladdr, LLADDR_SIZE);
}

static void end(const char *id, int outcome, const char *text, const char *advice)
{
    run.fake.sa_silent = run.fake.sa_busy = false;
    fake_end(run.t);
    assert_int_equal(run.checked.stages ? run.checked.stages->len : 0, text != NULL);
    const struct stage *s = text ? run.checked.stages->pdata[0] : NULL;
    if (s && (s->outcome != outcome || strcmp(s->id, id) != 0 || !strstr(s->text, text) ||
              !strstr(s->advice, advice)))
        fail_msg("%s %d: \"%s\", \"%s\"; expected \"%s\", \"%s\"", s->id, s->outcome, s->text,
                 s->advice, text, advice);
    probe_fixture_forget(&run.checked);
}

void why_run_finds(const char *text, const char *advice)
{
    char *said = why_no_reply(run.t, run.link_error);
    assert_non_null(said);
    if (!strstr(said, text))
        fail_msg("\"%s\"; expected \"%s\"", said, text);
    g_free(said);
    end("peer.no-reply", OUTCOME_INCONCLUSIVE, text, advice);
}

void why_run_finds_own(enum own_side side, const char *text, const char *advice)
{
    assert_int_equal(why_own_side(run.t), side);
    end("peer.own-side", OUTCOME_FAIL, text, advice);
}

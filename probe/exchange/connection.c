/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections to the peer, for the checks. See connection.h. */
#include "probe/exchange/connection.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/receive.h"
#include "probe/link/cm_error.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/encap.h"
#include "wire/put.h"

/* The kernel retransmits a lost REQ after 4.3 s; the probe sends a new one earlier. */
enum { CONNECT_WAIT_MS = 2000, DISCONNECT_WAIT_MS = 1000 };

/* ---- supported modes */

bool peer_announces(const struct target *t, bool uc)
{
    return t->peer->lladdr[LLADDR_FLAGS] & (uc ? LLADDR_FLAG_UC : LLADDR_FLAG_RC);
}

bool peer_default_uc(const struct target *t)
{
    return !peer_announces(t, false);
}

const char *connection_obstacle(const struct target *t)
{
    if (!peer_announces(t, false) && !peer_announces(t, true))
        return "the peer announces no connected mode: the flags of its address are 0";
    if (!transport_can(t->link->transport, HAS_CONNECTIONS))
        return "this transport makes no connections";
    if (t->peer->not_at_gid)
        return "the SA's path to its GID does not lead to it";
    return t->link->transport->ops->can_connect(t->link->transport)
               ? NULL
               : t->link->transport->no_connections;
}

/* ---- private data and Service-ID (RFC 4755 §6, 3.5) */

uint64_t peer_service_id(const struct target *t, enum service_form form)
{
    uint64_t prefix = form == FORM_LINUX ? 0x10 : 0x01;
    return prefix << 56 | lladdr_read(t->peer->lladdr).qpn;
}

static bool private_of(const struct cm_connection *c, struct cm_private *d)
{
    const uint8_t *p = c->private_data;
    *d = (struct cm_private){0};
    if (c->private_size < CM_PRIVATE_SIZE)
        return false;
    *d = (struct cm_private){p[CM_PRIVATE_RESERVED], be24(p + CM_PRIVATE_UD_QPN),
                             be32(p + CM_PRIVATE_RECV_MTU)};
    return d->ud_qpn || d->recv_mtu;
}

/* The Receive MTU from the peer's private data; 0: none. */
static uint32_t receive_mtu_of(const struct cm_connection *c)
{
    struct cm_private d;
    private_of(c, &d);
    return d.recv_mtu;
}

uint32_t connection_ip_mtu(const struct cm_connection *c)
{
    uint32_t own = be32(c->req.private_data + CM_PRIVATE_RECV_MTU), peer = receive_mtu_of(c);
    uint32_t mtu = peer > ENCAP_SIZE ? cm_connection_mtu(own, peer) : 0;
    return MIN(mtu, CONNECTED_MESSAGE_SIZE - ENCAP_SIZE);
}

/* ---- texts */

static void report_req(struct target *t, const struct connect_request *q)
{
    results_sent(
        t->results, "REQ, %s, Service-ID 0x%016llx, private data: UD QPN 0x%06x, Receive MTU %u",
        q->uc ? "UC" : "RC", (unsigned long long)q->service_id,
        be24(q->private_data + CM_PRIVATE_UD_QPN), be32(q->private_data + CM_PRIVATE_RECV_MTU));
}

/* "REP, ..." or "REJ, reason ..." */
static void connect_result_text(const struct cm_connection *c, char *out, size_t size)
{
    struct cm_private d;
    bool has = private_of(c, &d);
    const char *name = names_find(cm_reject_names, c->reason), *why = c->why,
               *advice = cm_reject_advice(c->reason);
    int n = 0;
    if (c->result == CONNECT_ACCEPTED)
        n = snprintf(out, size, "REP");
    else if (c->result == CONNECT_REJECTED)
        n = snprintf(out, size, "REJ, reason %u (%s)%s%s", c->reason, name ? name : "unknown",
                     advice ? ": " : "", advice ? advice : "");
    else
        n = snprintf(out, size, "%s", why[0] ? why : "no response to the REQ");
    if (c->result != CONNECT_ACCEPTED && c->result != CONNECT_REJECTED)
        return;
    if (!has)
        snprintf(out + n, size - (size_t)n, ", no private data");
    else
        snprintf(out + n, size - (size_t)n,
                 ", private data: Reserved 0x%02x, UD QPN 0x%06x, Receive MTU %u", d.reserved,
                 d.ud_qpn, d.recv_mtu);
}

/* ---- requesting */

static struct connect_request make_connect_request(const struct target *t,
                                                   const struct connect_options *d,
                                                   enum service_form form)
{
    struct connect_request q = {.pkey = t->link->pkey,
                                .service_id = peer_service_id(t, form),
                                .uc = d->uc,
                                .private_size = CM_PRIVATE_SIZE};
    memcpy(q.gid, t->peer->lladdr + LLADDR_GID, 16);
    put24(q.private_data + CM_PRIVATE_UD_QPN, t->link->transport->qpn);
    put32(q.private_data + CM_PRIVATE_RECV_MTU, d->receive_mtu ? d->receive_mtu : RECEIVE_LARGE);
    return q;
}

/*
 * The packet checks report the format of the private data. They can check the QPN only if they have
 * seen the port come up, so the comparison with the announced QPN is made here.
 */
static void assess_qpn(struct target *t, const struct cm_connection *c, uint64_t failed_before)
{
    const enum rule_number rule = R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA;
    struct cm_private d;
    char expected[48], actual[24];
    uint32_t announced = lladdr_read(t->peer->lladdr).qpn;
    if (!private_of(c, &d) || !d.ud_qpn ||
        results_count(t->results, rule, OUTCOME_FAIL) > failed_before)
        return;
    snprintf(expected, sizeof expected, "QPN 0x%06x, as announced", announced);
    snprintf(actual, sizeof actual, "QPN 0x%06x", d.ud_qpn);
    results_add(t->results, rule, d.ud_qpn == announced ? OUTCOME_PASS : OUTCOME_FAIL, expected,
                actual);
}

/* Failures of the rule about the UD QPN, with those that are known deviations. */
static uint64_t failures_of_qpn(const struct target *t)
{
    const enum rule_number rule = R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA;
    return results_count(t->results, rule, OUTCOME_FAIL) +
           results_count(t->results, rule, OUTCOME_DEVIATION);
}

static void note_connect_result(struct target *t, struct cm_connection *c, char *response)
{
    uint64_t failed = results_count(t->results, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, OUTCOME_FAIL);
    connect_result_text(c, response, VERDICT_TEXT);
    results_received(t->results, "%s", response);
    wirelog_connect(t->log, t->link->transport, c, t->peer->lid);
    if (c->result == CONNECT_ACCEPTED || c->result == CONNECT_REJECTED) {
        verdict_frame(t->results->checked->verdict, true);
        assess_qpn(t, c, failed);
    }
}

/* Sends one REQ and waits for its response. *c: NULL without a REP or REJ, or if the run ended. */
static enum connect_result try_connect(struct target *t, const struct connect_request *q,
                                       struct cm_connection **c, char *response)
{
    int wait = MAX(CONNECT_WAIT_MS, (int)t->run->options->timeout_ms);
    tally_begin(&t->peer->tally, TALLY_CONNECTION, 0);
    if (t->link->transport->ops->connect(t->link->transport, q, wait, c) == TRANSPORT_STOPPED)
        t->run->stopped = true;
    note_connect_result(t, *c, response);
    enum connect_result result = (*c)->result;
    bool answered = result == CONNECT_ACCEPTED || result == CONNECT_REJECTED; /* a REJ says why */
    tally_end(&t->peer->tally, 1, answered);
    g_strlcpy(t->peer->no_connection, answered ? "" : response, sizeof t->peer->no_connection);
    if (t->run->stopped || result == CONNECT_NO_RESPONSE || result == CONNECT_NOT_SENT) {
        peer_disconnect(t, *c);
        *c = NULL;
    }
    return result;
}

static struct cm_connection *connect_with_form(struct target *t, const struct connect_options *d,
                                               enum service_form form, char *response)
{
    struct connect_request q = make_connect_request(t, d, form);
    report_req(t, &q);
    enum connect_result result = CONNECT_NO_RESPONSE;
    for (unsigned i = 0; i < TRIES && result == CONNECT_NO_RESPONSE && !target_ended(t); i++) {
        struct cm_connection *c;
        result = try_connect(t, &q, &c, response);
        if (c)
            return c;
    }
    /*
     * CONNECT_NOT_SENT says nothing about the peer. No response in another mode than the default
     * may mean that the peer does not support that mode.
     */
    if (result == CONNECT_NO_RESPONSE)
        t->peer->cm_unanswered = d->uc == peer_default_uc(t);
    return NULL;
}

static bool is_unknown_to_peer(const struct cm_connection *c)
{
    return c && c->result == CONNECT_REJECTED && c->reason == CM_REJ_SERVICE_ID;
}

/* A copy of what was sent and received, to report a finding about it after later exchanges. */
struct exchanged {
    char sent[VERDICT_TEXT], received[VERDICT_TEXT];
};

static struct exchanged exchanged_now(const struct target *t)
{
    struct exchanged e;
    g_strlcpy(e.sent, t->results->sent, sizeof e.sent);
    g_strlcpy(e.received, t->results->received, sizeof e.received);
    return e;
}

/*
 * The packet checks report the REJ of the RFC's Service-ID when it arrives, unless it may be a
 * known deviation: that depends on the Service-ID that the peer accepts, which is known only now.
 */
static void assess_unreported_rej(struct target *t, const struct exchanged *rej)
{
    struct exchanged now = exchanged_now(t);
    char id[24];
    if (t->peer->form != FORM_LINUX)
        return;
    snprintf(id, sizeof id, "0x%016llx", (unsigned long long)peer_service_id(t, FORM_LINUX));
    results_show(t->results, rej->sent, rej->received);
    results_add_connection(t->results, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, OUTCOME_FAIL,
                           "the sender's UD QPN", "no private data in the REJ", id);
    results_show(t->results, now.sent, now.received);
}

/*
 * Finds the Service-ID that the peer accepts. Returns the connection (or rejection) that decided
 * it.
 */
static struct cm_connection *find_form(struct target *t, const struct connect_options *d,
                                       char *response)
{
    struct cm_private private;
    uint64_t reported = failures_of_qpn(t);
    struct cm_connection *c = connect_with_form(t, d, FORM_RFC, response);
    if (!c)
        return NULL;
    if (!is_unknown_to_peer(c)) {
        t->peer->form = FORM_RFC;
        return c;
    }
    bool unreported = !private_of(c, &private) && failures_of_qpn(t) == reported;
    const struct exchanged rej = exchanged_now(t);
    peer_disconnect(t, c);
    c = connect_with_form(t, d, FORM_LINUX, response);
    if (c)
        t->peer->form = is_unknown_to_peer(c) ? FORM_NONE : FORM_LINUX;
    if (unreported)
        assess_unreported_rej(t, &rej);
    return c;
}

struct cm_connection *peer_connect(struct target *t, const struct connect_options *d,
                                   char response[VERDICT_TEXT])
{
    const struct connect_options plain = {.uc = peer_default_uc(t)};
    bool is_plain = d->uc == plain.uc && !d->receive_mtu;
    g_strlcpy(response, "not sent: the run ended", VERDICT_TEXT);
    if (t->peer->cm_unanswered) {
        g_strlcpy(response, "not sent: earlier REQs were not answered", VERDICT_TEXT);
        results_received(t->results, "%s", response);
        return NULL;
    }
    if (t->peer->form == FORM_UNKNOWN) {
        struct cm_connection *c = find_form(t, &plain, response);
        if (!c || is_plain)
            return c;
        peer_disconnect(t, c);
    }
    return connect_with_form(t, d, t->peer->form == FORM_LINUX ? FORM_LINUX : FORM_RFC, response);
}

bool connection_is_up(const struct cm_connection *c)
{
    return c && c->result == CONNECT_ACCEPTED && !c->dead;
}

bool peer_disconnect(struct target *t, struct cm_connection *c)
{
    bool answered = false;
    if (!c)
        return false;
    struct cm_connection last = *c;
    t->link->transport->ops->disconnect(t->link->transport, c, DISCONNECT_WAIT_MS, &answered);
    if (last.result == CONNECT_ACCEPTED)
        wirelog_disconnect(t->log, t->link->transport, &last, last.ended_by_peer,
                           last.ended_by_peer || answered);
    return answered;
}

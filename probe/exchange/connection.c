/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections to the peer, for the checks. See connection.h. */
#include "probe/exchange/connection.h"

#include <stdio.h>
#include <string.h>

#include "probe/exchange/peer.h"
#include "probe/exchange/question.h"
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
enum { CALL_WAIT_MS = 2000, HANG_UP_WAIT_MS = 1000, REASON_NO_SERVICE = 8 };

/* ---- supported modes */

bool announces(const struct target *t, bool uc)
{
    return t->peer->lladdr[LLADDR_FLAGS] & (uc ? LLADDR_FLAG_UC : LLADDR_FLAG_RC);
}

bool uc_by_default(const struct target *t)
{
    return !announces(t, false);
}

const char *connections_none(const struct target *t)
{
    if (!announces(t, false) && !announces(t, true))
        return "the peer announces no connected mode: the flags of its address are 0";
    if (!transport_can(t->link->transport, HAS_CONNECTIONS))
        return "this transport makes no connections";
    return t->link->transport->ops->can_call(t->link->transport) ? NULL
                                                                 : t->link->transport->no_calls;
}

/* ---- private data and Service-ID (RFC 4755 §6, 3.5) */

uint64_t service_id(const struct target *t, enum service_form form)
{
    uint64_t prefix = form == FORM_LINUX ? 0x10 : 0x01;
    return prefix << 56 | lladdr_read(t->peer->lladdr).qpn;
}

static bool private_of(const struct call *c, struct cm_private *d)
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
static uint32_t receive_mtu_of(const struct call *c)
{
    struct cm_private d;
    private_of(c, &d);
    return d.recv_mtu;
}

uint32_t mtu_of(const struct call *c)
{
    uint32_t own = be32(c->asked.private_data + CM_PRIVATE_RECV_MTU), peer = receive_mtu_of(c);
    uint32_t mtu = peer > ENCAP_SIZE ? cm_connection_mtu(own, peer) : 0;
    return MIN(mtu, CALL_MESSAGE - ENCAP_SIZE);
}

/* ---- texts */

static void tell_asked(struct target *t, const struct call_question *q)
{
    results_sent(
        t->results, "REQ, %s, Service-ID 0x%016llx, private data: UD QPN 0x%06x, Receive MTU %u",
        q->uc ? "UC" : "RC", (unsigned long long)q->service_id,
        be24(q->private_data + CM_PRIVATE_UD_QPN), be32(q->private_data + CM_PRIVATE_RECV_MTU));
}

/* "REP, ..." or "REJ, reason ..." */
static void call_text(const struct call *c, char *out, size_t size)
{
    struct cm_private d;
    bool has = private_of(c, &d);
    const char *name = name_of(cm_reject_names, c->reason), *why = c->why,
               *advice = cm_reject_advice(c->reason);
    int n = 0;
    if (c->result == CALL_UP)
        n = snprintf(out, size, "REP");
    else if (c->result == CALL_REFUSED)
        n = snprintf(out, size, "REJ, reason %u (%s)%s%s", c->reason, name ? name : "unknown",
                     advice ? ": " : "", advice ? advice : "");
    else
        n = snprintf(out, size, "%s", why[0] ? why : "no answer to the REQ");
    if (c->result != CALL_UP && c->result != CALL_REFUSED)
        return;
    if (!has)
        snprintf(out + n, size - (size_t)n, ", no private data");
    else
        snprintf(out + n, size - (size_t)n,
                 ", private data: Reserved 0x%02x, UD QPN 0x%06x, Receive MTU %u", d.reserved,
                 d.ud_qpn, d.recv_mtu);
}

/* ---- requesting */

static struct call_question question_of(const struct target *t, const struct dial *d,
                                        enum service_form form)
{
    struct call_question q = {.pkey = t->link->pkey,
                              .service_id = service_id(t, form),
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
static void judge_qpn(struct target *t, const struct call *c, uint64_t failed_before)
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

static void note_answer(struct target *t, struct call *c, char *came)
{
    uint64_t failed = results_count(t->results, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, OUTCOME_FAIL);
    call_text(c, came, VERDICT_TEXT);
    results_came(t->results, "%s", came);
    wirelog_call(t->log, t->link->transport, c, t->peer->lid);
    if (c->result == CALL_UP || c->result == CALL_REFUSED) {
        verdict_frame(t->results->judged->verdict, true);
        judge_qpn(t, c, failed);
    }
}

/* *c: NULL if the connection cannot be used. */
static enum call_result try_call(struct target *t, const struct call_question *q, struct call **c,
                                 char *came)
{
    int wait = MAX(CALL_WAIT_MS, (int)t->run->options->timeout_ms);
    if (t->link->transport->ops->call(t->link->transport, q, wait, c) == TRANSPORT_STOPPED)
        t->run->stopped = true;
    note_answer(t, *c, came);
    enum call_result result = (*c)->result;
    if (t->run->stopped || result == CALL_SILENT || result == CALL_IMPOSSIBLE) {
        hang_up(t, *c);
        *c = NULL;
    }
    return result;
}

static struct call *call_form(struct target *t, const struct dial *d, enum service_form form,
                              char *came)
{
    struct call_question q = question_of(t, d, form);
    tell_asked(t, &q);
    enum call_result result = CALL_SILENT;
    for (unsigned i = 0; i < TRIES && result == CALL_SILENT && !target_ended(t); i++) {
        struct call *c;
        result = try_call(t, &q, &c, came);
        if (c)
            return c;
    }
    /*
     * CALL_IMPOSSIBLE says nothing about the peer. No response in another mode than the default may
     * mean that the peer does not support that mode.
     */
    if (result == CALL_SILENT)
        t->peer->cm_silent = d->uc == uc_by_default(t);
    return NULL;
}

static bool is_unknown_there(const struct call *c)
{
    return c && c->result == CALL_REFUSED && c->reason == REASON_NO_SERVICE;
}

/*
 * Finds the Service-ID that the peer accepts. Returns the connection (or rejection) that decided
 * it.
 */
static struct call *find_form(struct target *t, const struct dial *d, char *came)
{
    struct call *c = call_form(t, d, FORM_RFC, came);
    if (!c)
        return NULL;
    if (!is_unknown_there(c)) {
        t->peer->form = FORM_RFC;
        return c;
    }
    hang_up(t, c);
    c = call_form(t, d, FORM_LINUX, came);
    if (c)
        t->peer->form = is_unknown_there(c) ? FORM_NONE : FORM_LINUX;
    return c;
}

struct call *dial(struct target *t, const struct dial *d, char came[VERDICT_TEXT])
{
    const struct dial plain = {.uc = uc_by_default(t)};
    bool is_plain = d->uc == plain.uc && !d->receive_mtu;
    g_strlcpy(came, "not asked: the run ended", VERDICT_TEXT);
    if (t->peer->cm_silent) {
        g_strlcpy(came, "not asked: earlier REQs were not answered", VERDICT_TEXT);
        results_came(t->results, "%s", came);
        return NULL;
    }
    if (t->peer->form == FORM_UNKNOWN) {
        struct call *c = find_form(t, &plain, came);
        if (!c || is_plain)
            return c;
        hang_up(t, c);
    }
    return call_form(t, d, t->peer->form == FORM_LINUX ? FORM_LINUX : FORM_RFC, came);
}

bool is_up(const struct call *c)
{
    return c && c->result == CALL_UP && !c->dead;
}

bool hang_up(struct target *t, struct call *c)
{
    bool answered = false;
    if (!c)
        return false;
    struct call last = *c;
    t->link->transport->ops->hang_up(t->link->transport, c, HANG_UP_WAIT_MS, &answered);
    if (last.result == CALL_UP)
        wirelog_hung_up(t->log, t->link->transport, &last, last.ended_by_peer,
                        last.ended_by_peer || answered);
    return answered;
}

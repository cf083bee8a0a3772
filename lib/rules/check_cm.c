/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of a CM message of an IPoIB connection (RFC 4755 §3.2, 3.5, 5, 6, 7.1). */
#include "rules/report.h"

enum { MESSAGE_MAX = 0x80000000u };            /* RFC 4755 §5: 2^31 octets */
enum { IPV4_MTU_MIN = 68, ENCAPSULATION = 4 }; /* RFC 791 */
enum { DEFAULT_RECV_MTU = 2048 };
/*
 * TIMEOUT_UNIT_NS: the IBA's unit of 4.096 us; LONG_MS: TCP's initial retransmission time-out (RFC
 * 6298 §2)
 */
enum { TIMEOUT_UNIT_NS = 4096, LONG_MS = 1000 };

struct reported_message {
    const struct reporter *r;
    const struct cm *cm;
    struct entity entity;
    const uint8_t *private; /* NULL: not captured */
};

static void check_service_id(const struct reported_message *t, const uint8_t *mad)
{
    /* any QPN passes here; check_connection.c compares it with the link-layer address */
    uint64_t wanted = 0x0100000000000000u | cm_service_qpn(t->cm->service_id);
    expect_same(t->r, R_RFC4755_3_5_SERVICE_ID, &t->entity, mad + REQ_SERVICE_ID, 8, wanted,
                t->cm->service_id);
}

static const char *lacking(const struct cm_private *d, enum cm_message m)
{
    if (d->ud_qpn == 0 && d->recv_mtu == 0)
        return m == CM_RTU   ? "no private data in the RTU"
               : m == CM_REJ ? "no private data in the REJ"
                             : "no private data";
    return d->ud_qpn == 0 ? "no UD QPN" : "no Receive MTU";
}

/* RFC 4755 §5: at most 2^31 octets; 68 octets of IPv4 and the encapsulation header (RFC 791). */
static bool is_receive_mtu(uint32_t mtu)
{
    return mtu <= MESSAGE_MAX && mtu >= IPV4_MTU_MIN + ENCAPSULATION;
}

static void check_receive_mtu(const struct reported_message *t, uint32_t mtu)
{
    const uint8_t *p = t->private + CM_PRIVATE_RECV_MTU;
    expect_about(t->r, R_RFC4755_5_MESSAGE_SIZE, &t->entity, mtu <= MESSAGE_MAX, p, 4,
                 "at most 2^31 bytes", "a larger Receive MTU");
    expect_about(t->r, R_RFC4755_5_MINIMUM_MTU, &t->entity, mtu >= IPV4_MTU_MIN + ENCAPSULATION, p,
                 4, "at least 68 bytes of IPv4", "a Receive MTU of less than 72 bytes");
}

/*
 * Messages that set up a connection, and every REJ, carry the sender's UD QPN; all but the REJ also
 * carry the Receive MTU. One fault gives one finding, of the rule that covers it: a missing UD QPN,
 * and a missing Receive MTU of a REQ, violate their own rules (RFC 4755 §3.2, 5.1). No private data
 * at all, or another missing Receive MTU, violates the rule of the format (§6, which names both
 * values). §6 does not apply to a REJ: without private data it violates the rule of the UD QPN.
 */
static void check_private(const struct reported_message *t, const struct cm_private *d)
{
    enum cm_message m = t->cm->message;
    bool nothing = d->ud_qpn == 0 && d->recv_mtu == 0, form = true;
    const uint8_t *p = t->private;
    if (!nothing || m == CM_REJ)
        expect_about(t->r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, &t->entity, d->ud_qpn,
                     p + CM_PRIVATE_UD_QPN, 3, "the sender's UD QPN", lacking(d, m));
    if (m == CM_REQ && !nothing)
        expect_about(t->r, R_RFC4755_5_1_RECEIVE_MTU, &t->entity, d->recv_mtu,
                     p + CM_PRIVATE_RECV_MTU, 4, "the Receive MTU", "0");
    else
        form = d->recv_mtu;
    if (m != CM_REJ)
        expect_about(t->r, R_RFC4755_6_PRIVATE_DATA, &t->entity, form, p, CM_PRIVATE_SIZE,
                     "UD QPN and Receive MTU", lacking(d, m));
    if (!nothing)
        expect_same(t->r, R_RFC4755_6_RESERVED_ZERO, &t->entity, p + CM_PRIVATE_RESERVED, 1, 0,
                    d->reserved);
}

/*
 * "Every CM message exchanged in setting up the IB connection", and every REJ (RFC 4755 §3.2). An
 * MRA to a REQ or REP is one of them; an MRA to a LAP belongs to a connection that is set up
 * (IBA 12.6.6).
 */
static bool has_private_data(const struct cm *cm)
{
    switch (cm->message) {
    case CM_REQ:
    case CM_REP:
    case CM_RTU:
    case CM_REJ:
        return true;
    case CM_MRA:
        return cm->which == CM_MRA_REQ || cm->which == CM_MRA_REP;
    default:
        return false;
    }
}

void check_cm(const struct reporter *r, const struct mad_payload *m, uint32_t number)
{
    struct view v = m->bytes;
    const struct cm *cm = &m->cm;
    struct reported_message t = {r, cm, entity_connection(number), NULL};
    t.entity.other = cm->message;
    if (cm->message == CM_REQ && view_has(v, REQ_SERVICE_ID, 8) == WIRE_OK)
        check_service_id(&t, v.p);
    if (!has_private_data(cm))
        return;
    if (m->private_result != WIRE_OK) {
        report_inconclusive(r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, v.p, truncated_by_capture);
        return;
    }
    t.private = v.p + cm->private_off;
    check_private(&t, &m->private);
    if (cm->message != CM_REJ && m->private.recv_mtu) /* §6 does not apply to a REJ */
        check_receive_mtu(&t, m->private.recv_mtu);
}

/* ---- notes about the link: every Linux host gives cause for them with every connection */

/* Each value is an entity of its own, so hosts with different values do not alternate. */
static struct entity link_with(uint16_t pkey, uint32_t value)
{
    struct entity link = entity_link(pkey);
    link.other = value;
    return link;
}

static void note_timers(const struct reporter *r, const struct mad_payload *m, uint16_t pkey)
{
    const struct cm *cm = &m->cm;
    unsigned ms = (unsigned)((((uint64_t)TIMEOUT_UNIT_NS << cm->local_ack_timeout) *
                              (cm->retry_count + 1u)) /
                             1000000);
    struct entity link = link_with(pkey, ms);
    if (cm->transport == CM_TRANSPORT_RC && cm->local_ack_timeout && ms > LONG_MS)
        report_note(r, R_RFC4755_7_1_RC_TIMERS, &link, ms, m->bytes.p + REQ_PRIMARY_ACK_TIMEOUT, 1,
                    "a lost packet ends the connection after %u ms, with %u retries", ms,
                    cm->retry_count);
}

static void note_mtu(const struct reporter *r, const struct mad_payload *m, uint16_t pkey)
{
    uint32_t mtu = m->private.recv_mtu;
    struct entity link = link_with(pkey, mtu);
    if (is_receive_mtu(mtu) && mtu != DEFAULT_RECV_MTU) /* else check_receive_mtu() reports it */
        report_note(r, R_RFC4755_5_DEFAULT_MTU, &link, mtu,
                    m->bytes.p + m->cm.private_off + CM_PRIVATE_RECV_MTU, 4,
                    "Receive MTU %u; the default is 2048 (MTU 2044)", mtu);
}

void check_cm_link(const struct reporter *r, const struct mad_payload *m, uint16_t pkey)
{
    enum cm_message message = m->cm.message;
    if (message == CM_REQ && view_has(m->bytes, REQ_SERVICE_ID, 8) == WIRE_OK)
        note_timers(r, m, pkey);
    if ((message == CM_REQ || message == CM_REP) && m->private_result == WIRE_OK)
        note_mtu(r, m, pkey);
}

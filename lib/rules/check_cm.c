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

struct told_message {
    const struct reporter *r;
    const struct cm *cm;
    struct subject subject;
    const uint8_t *private; /* NULL: not captured */
};

static void check_service_id(const struct told_message *t, const uint8_t *mad)
{
    /* any QPN passes here; check_connection.c compares it with the link-layer address */
    uint64_t wanted = 0x0100000000000000u | cm_service_qpn(t->cm->service_id);
    expect_same(t->r, R_RFC4755_3_5_SERVICE_ID, &t->subject, mad + REQ_SERVICE_ID, 8, wanted,
                t->cm->service_id);
}

static void note_timers(const struct told_message *t, const uint8_t *mad)
{
    uint64_t ms = (((uint64_t)TIMEOUT_UNIT_NS << t->cm->local_ack_timeout) *
                   (t->cm->retry_count + 1u)) /
                  1000000;
    if (t->cm->transport == CM_TRANSPORT_RC && t->cm->local_ack_timeout && ms > LONG_MS)
        note(t->r, R_RFC4755_7_1_RC_TIMERS, &t->subject, ms, mad + REQ_PRIMARY_ACK_TIMEOUT, 1,
             "a lost packet ends the connection after %u ms, with %u retries", (unsigned)ms,
             t->cm->retry_count);
}

static const char *lacking(const struct cm_private *d, enum cm_message m)
{
    if (d->ud_qpn == 0 && d->recv_mtu == 0)
        return m == CM_RTU   ? "no private data in the RTU"
               : m == CM_REJ ? "no private data in the REJ"
                             : "no private data";
    return d->ud_qpn == 0 ? "no UD QPN" : "no Receive MTU";
}

static void check_mtu(const struct told_message *t, uint32_t mtu)
{
    const uint8_t *p = t->private + CM_PRIVATE_RECV_MTU;
    expect_about(t->r, R_RFC4755_5_MESSAGE_SIZE, &t->subject, mtu <= MESSAGE_MAX, p, 4,
                 "at most 2^31 octets", "a larger Receive MTU");
    expect_about(t->r, R_RFC4755_5_MINIMUM_MTU, &t->subject, mtu >= IPV4_MTU_MIN + ENCAPSULATION, p,
                 4, "at least 68 octets of IPv4", "a Receive MTU of less than 72 octets");
    if (mtu != DEFAULT_RECV_MTU)
        note(t->r, R_RFC4755_5_DEFAULT_MTU, &t->subject, mtu, p, 4,
             "Receive MTU %u; the default is 2048", mtu);
}

/*
 * Messages that set up a connection, and every REJ, carry the sender's UD QPN; all but the REJ also
 * carry the Receive MTU. One error gives one finding: a missing UD QPN, and a missing Receive MTU
 * of a REQ, violate their own rules; no private data at all, or another missing Receive MTU,
 * violates the rule of the format. Exceptions are an RTU without private data, which violates both,
 * and a REJ without private data, which violates the rule of the UD QPN.
 */
static void check_private(const struct told_message *t, const struct cm_private *d)
{
    enum cm_message m = t->cm->message;
    bool nothing = d->ud_qpn == 0 && d->recv_mtu == 0, form = true;
    const uint8_t *p = t->private;
    if (!nothing || m == CM_RTU || m == CM_REJ)
        expect_about(t->r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, &t->subject, d->ud_qpn,
                     p + CM_PRIVATE_UD_QPN, 3, "the sender's UD QPN", lacking(d, m));
    if (m == CM_REQ && !nothing)
        expect_about(t->r, R_RFC4755_5_1_RECEIVE_MTU, &t->subject, d->recv_mtu,
                     p + CM_PRIVATE_RECV_MTU, 4, "the Receive MTU", "0");
    else
        form = d->recv_mtu;
    if (m != CM_REJ)
        expect_about(t->r, R_RFC4755_6_PRIVATE_DATA, &t->subject, form, p, CM_PRIVATE_SIZE,
                     "UD QPN and Receive MTU", lacking(d, m));
    if (!nothing)
        expect_same(t->r, R_RFC4755_6_RESERVED_ZERO, &t->subject, p + CM_PRIVATE_RESERVED, 1, 0,
                    d->reserved);
}

void check_cm(const struct reporter *r, const struct mad_payload *m, uint32_t number)
{
    struct view v = m->octets;
    const struct cm *cm = &m->cm;
    struct told_message t = {r, cm, subject_connection(number), NULL};
    bool judged = cm->message == CM_REQ || cm->message == CM_REP || cm->message == CM_RTU ||
                  cm->message == CM_REJ;
    t.subject.other = cm->message;
    if (cm->message == CM_REQ && view_has(v, REQ_SERVICE_ID, 8) == WIRE_OK) {
        check_service_id(&t, v.p);
        note_timers(&t, v.p);
    }
    if (!judged)
        return;
    if (m->private_result != WIRE_OK) {
        inconclusive(r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, v.p, "not captured");
        return;
    }
    t.private = v.p + cm->private_off;
    check_private(&t, &m->private);
    if ((cm->message == CM_REQ || cm->message == CM_REP) && m->private.recv_mtu)
        check_mtu(&t, m->private.recv_mtu);
}

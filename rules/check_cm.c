/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/report.h"

static void check_service_id(const struct reporter *r, struct view v, const struct cm *cm)
{
    /* the QPN is compared with the one of address resolution elsewhere: here it is whatever it is */
    expect_value(r, R_RFC4755_3_5_SERVICE_ID, v.p + REQ_SERVICE_ID, 8, 0x0100000000000000u | cm_service_qpn(cm->service_id));
}

/* Messages that set a connection up, and every REJ, carry the sender's UD QPN; a message of zeros carries nothing. */
static void check_private(const struct reporter *r, struct view v, const struct cm *cm)
{
    const uint8_t *p = v.p + cm->private_off;
    struct cm_private d;
    enum wire_result result = cm_private_decode(v, cm, &d);
    bool set_up = cm->message == CM_REQ || cm->message == CM_REP || cm->message == CM_RTU;
    if (!set_up && cm->message != CM_REJ)
        return;
    if (result != WIRE_OK) {
        inconclusive(r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, v.p, "not captured");
        return;
    }
    expect_that(r, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, d.ud_qpn != 0, p + CM_PRIVATE_UD_QPN, 3, "the sender's UD QPN",
                d.ud_qpn ? "a QPN" : "0");
    if (set_up)
        expect_that(r, R_RFC4755_6_PRIVATE_DATA, d.ud_qpn != 0 && d.recv_mtu != 0, p, CM_PRIVATE_SIZE, "UD QPN and Receive MTU",
                    d.ud_qpn == 0 ? "no UD QPN" : d.recv_mtu == 0 ? "no Receive MTU" : "both");
    if (d.ud_qpn || d.recv_mtu)
        expect_value(r, R_RFC4755_6_RESERVED_ZERO, p + CM_PRIVATE_RESERVED, 1, 0);
    if (cm->message == CM_REQ)
        expect_that(r, R_RFC4755_5_1_RECEIVE_MTU, d.recv_mtu != 0, p + CM_PRIVATE_RECV_MTU, 4, "the Receive MTU",
                    d.recv_mtu ? "it is there" : "0");
}

void check_cm(const struct reporter *r, struct view v, const struct cm *cm)
{
    if (cm->message == CM_REQ && view_has(v, REQ_SERVICE_ID, 8) == WIRE_OK)
        check_service_id(r, v, cm);
    check_private(r, v, cm);
}

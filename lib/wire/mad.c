/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/mad.h"
#include "wire/encap.h"

enum wire_result mad_decode(struct view v, struct mad *m)
{
    enum wire_result r = view_has(v, 0, MAD_DATA);
    if (r != WIRE_OK)
        return r;
    *m = (struct mad){
        .class = v.p[MAD_CLASS],
        .class_version = v.p[MAD_CLASS_VERSION],
        .method = v.p[MAD_METHOD],
        .status = be16(v.p + MAD_STATUS),
        .attribute = be16(v.p + MAD_ATTRIBUTE),
        .tid = be64(v.p + MAD_TID),
        .modifier = be32(v.p + MAD_MODIFIER),
    };
    return WIRE_OK;
}

bool ib_is_mad(const struct ib_packet *ib)
{
    bool to_management = ib->dqpn <= 1, from_management = ib->sqpn <= 1;
    if (!ib->has_deth || ib->transport != IB_UD || !(to_management || from_management))
        return false;
    return from_management || ib->payload.len >= MAD_SIZE || !encap_agrees(ib->payload);
}

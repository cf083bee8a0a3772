/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/mad.h"

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

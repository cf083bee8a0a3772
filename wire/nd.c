/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/nd.h"

/* Octets before the options (RFC 4861 §4.1 to 4.5), 0: not an ND message. */
static uint32_t options_offset(uint8_t type)
{
    switch (type) {
    case ND_RS:
        return 8;
    case ND_RA:
        return 16;
    case ND_NS:
    case ND_NA:
        return 24;
    case ND_REDIRECT:
        return 40;
    default:
        return 0;
    }
}

bool nd_options(struct view v, struct nd_iter *it)
{
    *it = (struct nd_iter){.v = v, .end = WIRE_OK};
    if (v.cap < 1)
        return false;
    it->next = options_offset(v.p[0]);
    return it->next != 0;
}

bool nd_next(struct nd_iter *it, struct nd_option *o)
{
    if (it->next >= it->v.len)
        return false;
    it->end = view_has(it->v, it->next, 2);
    if (it->end != WIRE_OK)
        return false;
    const uint8_t *p = it->v.p + it->next;
    uint32_t size = p[ND_OPT_LENGTH] * 8u;
    if (size == 0 || size > it->v.len - it->next) {
        it->end = WIRE_MALFORMED;
        return false;
    }
    *o = (struct nd_option){.type = p[ND_OPT_TYPE], .off = it->next, .size = size};
    it->next += size;
    return true;
}

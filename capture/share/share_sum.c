/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internet checksums. See share_sum.h. */
#include "capture/share/share_sum.h"

#include "wire/checksum.h"
#include "wire/put.h"
#include "wire/view.h"

/* BYTES, ADDRESSES: as captured, or the new ones */
static uint16_t sum_of(const struct sum *s, const uint8_t *bytes, const uint8_t *addresses)
{
    uint32_t pseudo = 0;

    if (s->addresses.cap)
        pseudo = checksum_add(s->protocol + (s->length >> 16) + (s->length & 0xffff), addresses,
                              s->addresses.cap);
    return checksum_fold(checksum_add(pseudo, bytes, s->length));
}

void sum_share(const struct sum *s)
{
    enum { SPOIL = 0x5555 };
    bool none = !part_has(s->p, s->at, 2) || s->p.cap < s->length ||
                (s->zero_is_none && be16(s->p.from + s->at) == 0);
    uint16_t sum;

    if (none)
        return;
    sum = sum_of(s, s->p.to, s->addresses.to);
    if (sum_of(s, s->p.from, s->addresses.from) != 0)
        sum ^= SPOIL;
    put16(s->p.to + s->at, sum == 0 && s->zero_is_none ? 0xffff : sum);
}

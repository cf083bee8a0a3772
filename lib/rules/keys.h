/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several checks ask of P_Keys, Q_Keys and groups; for the files of rules/ alone. */
#ifndef IPOIB_RULES_KEYS_H
#define IPOIB_RULES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/mgid.h"
#include "wire/pkey.h"
#include "wire/view.h"

/* The high-order bit: only privileged software may set such a Q_Key (IBA 10.2.4). */
static inline bool is_controlled(uint32_t qkey)
{
    return qkey >> 31;
}

/* Is the MGID that of 224.0.0.2 or ff02::2? */
static inline bool is_all_routers(const uint8_t *mgid)
{
    static const uint8_t high[MGID_GROUP_IPV4 - MGID_GROUP];
    return be32(mgid + MGID_GROUP_IPV4) == 2 && memcmp(mgid + MGID_GROUP, high, sizeof high) == 0;
}

#endif

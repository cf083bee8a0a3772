/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of Q_Keys and groups that several checks use. Private to rules/. */
#ifndef IPOIB_RULES_KEYS_H
#define IPOIB_RULES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/mgid.h"
#include "wire/pkey.h"
#include "wire/view.h"

/*
 * Is it a controlled Q_Key (high-order bit 1)? Only privileged software may set such a Q_Key (IBA
 * 10.2.4).
 */
static inline bool is_controlled(uint32_t qkey)
{
    return qkey >> 31;
}

/* Is it the MGID of 224.0.0.2 or ff02::2? */
static inline bool is_all_routers(const uint8_t *mgid)
{
    static const uint8_t high[MGID_GROUP_IPV4 - MGID_GROUP];
    return be32(mgid + MGID_GROUP_IPV4) == 2 && memcmp(mgid + MGID_GROUP, high, sizeof high) == 0;
}

#endif
